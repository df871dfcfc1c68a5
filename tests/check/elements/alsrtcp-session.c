/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alsrtcp with sessions, in virtual time.  alsrtcp alone: alsrtcp.c */
#include "alsrtcpnet.h"

#include <gio/gio.h>
#include <netinet/in.h>
#include <sys/socket.h>

/* ALS 4.3, figure 8: shares of 270 and 180 kbit/s, and then of 90 as well */
GST_START_TEST (test_unequal_receivers_hold_what_their_branches_carry)
{
  Receiver *wide, *middle, *narrow;
  Net net;

  net_init (&net, "");
  wide = net_join (&net, 3000000);
  middle = net_join (&net, 2000000);
  net_run (&net, 40);
  assert_between (layer_bps (&net, 0), 180e3, 195e3);
  fail_unless_equals_int (held (wide), 3);
  fail_unless_equals_int (held (middle), 1);
  fail_unless (GST_STATE (wide->sources[2]) == GST_STATE_PLAYING);
  fail_unless (GST_STATE (middle->sources[1]) == GST_STATE_NULL);
  narrow = net_join (&net, 1000000);
  net_run (&net, 40);
  assert_between (layer_bps (&net, 0), 90e3, 125e3);
  assert_between (layer_bps (&net, 1), 75e3, 100e3);
  fail_unless_equals_int (held (wide), 3);
  fail_unless_equals_int (held (middle), 2);
  fail_unless_equals_int (held (narrow), 1);
  fail_unless (GST_STATE (middle->sources[1]) == GST_STATE_PLAYING);
  fail_unless (GST_STATE (middle->sources[2]) == GST_STATE_NULL);
  fail_unless_equals_int (element_stat (net.als, "n-receivers"), 3);
  fail_unless_equals_int (element_stat (net.als, "n-unanswered"), 0);
  fail_unless (element_stat (net.als, "n-looped-rtcp") > 5);
  net_clear (&net);
}

GST_END_TEST;

/* A router between srtpdec and srtpenc answers, one without the key cannot. */
GST_START_TEST (test_under_srtcp_routers_with_the_key_answer)
{
  Receiver *wide, *deaf;
  Net net;

  net_init_full (&net, "", TRUE);
  wide = net_join (&net, 3000000);
  net_run (&net, 40);
  assert_between (element_stat (wide->als, "share"), 265e3, 275e3);
  assert_between (layer_bps (&net, 0), 265e3, 300e3);
  fail_unless_equals_int (element_stat (net.als, "n-unanswered"), 0);
  deaf = net_join (&net, 0);
  net_run (&net, 40);
  fail_unless_equals_int (held (deaf), 1);
  fail_unless (element_stat (net.als, "n-unanswered") > 0);
  fail_unless_equals_int (element_stat (net.als, "n-receivers"), 2);
  fail_unless (element_stat (net.als, "n-looped-rtcp") > 5);
  fail_unless_equals_int (element_stat (net.als, "n-malformed-rtcp"), 0);
  net_clear (&net);
}

GST_END_TEST;

/* The options of the socket that udpsink `out` sends with, 0 if there is none */
static guint
options_of (Net * net, guint8 * options, gint * no_checksum)
{
  GstElement *out = element_of (net->bin, "out");
  socklen_t size = 4, int_size = sizeof *no_checksum;
  GSocket *socket;

  g_object_get (out, "used-socket", &socket, NULL);
  fail_unless (socket != NULL);
  fail_unless (getsockopt (g_socket_get_fd (socket), IPPROTO_IP, IP_OPTIONS,
          options, &size) == 0);
  fail_unless (getsockopt (g_socket_get_fd (socket), SOL_SOCKET, SO_NO_CHECK,
          no_checksum, &int_size) == 0);
  g_object_unref (socket);
  gst_object_unref (out);
  return size;
}

/* [RFC2113], ALS 3.2 */
GST_START_TEST (test_routers_are_alerted_where_the_socket_allows_it)
{
  static const guint8 router_alert[] = { 0x94, 4, 0, 0 };
  const gchar *const sinks[] = { "out", "nobody", "rtp" };

  for (guint i = 0; i < G_N_ELEMENTS (sinks); i++) {
    gchar *settings = g_strdup_printf ("alert-sink=%s udpsink name=out "
        "host=127.0.0.1 port=9 sync=false async=false", sinks[i]);
    guint8 options[4] = { 0 };
    gint no_checksum;
    GstMessage *warning;
    GstBus *bus;
    Net net;

    net_init (&net, settings);
    net_join (&net, 3000000);
    bus = gst_element_get_bus (net.bin);
    for (guint again = 0; again < 2; again++) {
      net_run (&net, 15);
      warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
      fail_unless_equals_int (warning != NULL, i > 0 && again == 0);
      gst_clear_message (&warning);
    }
    fail_unless_equals_int (options_of (&net, options, &no_checksum),
        i == 0 ? 4 : 0);
    fail_unless_equals_int (no_checksum, i == 0);
    fail_unless (i > 0 || memcmp (options, router_alert, 4) == 0);
    gst_object_unref (bus);
    net_clear (&net);
    g_free (settings);
  }
}

GST_END_TEST;

/* Where a router on the way drops packets that have the option, it may be taken back. */
GST_START_TEST (test_an_alert_ends_with_its_setting)
{
  guint8 options[4] = { 0 };
  gint no_checksum;
  Net net;

  net_init (&net, "alert-sink=out udpsink name=out host=127.0.0.1 port=9 "
      "sync=false async=false");
  net_join (&net, 3000000);
  net_run (&net, 15);
  fail_unless_equals_int (options_of (&net, options, &no_checksum), 4);
  g_object_set (net.als, "alert-sink", NULL, NULL);
  net_run (&net, 15);
  fail_unless_equals_int (options_of (&net, options, &no_checksum), 0);
  fail_unless_equals_int (no_checksum, 0);
  net_clear (&net);
}

GST_END_TEST;

/* The element's own thread starts and stops it. */
static void
wait_for_state (GstElement * element, GstState state)
{
  while (GST_STATE (element) != state)
    g_usleep (1000);
}

/* @seconds: the most that it may take; when reports are sent is random */
static void
assert_comes_to (Net * net, Receiver * receiver, guint layers, guint seconds)
{
  for (guint i = 0; i < seconds && held (receiver) != layers; i++)
    net_run (net, 1);
  fail_unless_equals_int (held (receiver), layers);
}

/* The link behind this router carries less than the router was told: shares of 90,
 * 180 and 270 kbit/s make two layers, of which it loses a third. */
GST_START_TEST (test_who_loses_for_long_leaves_the_top_layer)
{
  Receiver *wrong;
  Net net;

  net_init (&net, "");
  net_join (&net, 3000000);
  wrong = net_join (&net, 2000000);
  net_join (&net, 1000000);
  net_run (&net, 20);
  assert_comes_to (&net, wrong, 2, 20);
  wrong->carries_bps = 120000;
  assert_comes_to (&net, wrong, 1, 40);
  fail_unless_equals_int (element_stat (wrong->als, "n-left"), 1);
  wait_for_state (wrong->sources[1], GST_STATE_NULL);
  /* and tries again when the link may have been mended */
  wrong->carries_bps = 0;
  assert_comes_to (&net, wrong, 2, 60);
  wait_for_state (wrong->sources[1], GST_STATE_PLAYING);
  net_clear (&net);
}

GST_END_TEST;

/* This one's router knows nothing of ALS: the other two keep what they have, and it
 * hears the base. */
GST_START_TEST (test_behind_a_deaf_router_the_base_is_held)
{
  Receiver *wide, *middle, *deaf;
  guint base_bps;
  Net net;

  net_init (&net, "");
  wide = net_join (&net, 3000000);
  middle = net_join (&net, 1000000);
  net_run (&net, 30);
  base_bps = layer_bps (&net, 0);
  fail_unless_equals_int (held (wide), 3);
  deaf = net_join (&net, 0);
  net_run (&net, 60);
  fail_unless_equals_int (held (wide), 3);
  fail_unless_equals_int (held (middle), 1);
  fail_unless_equals_int (held (deaf), 1);
  assert_between (layer_bps (&net, 0), 0.9 * base_bps, 1.1 * base_bps);
  fail_unless (element_stat (net.als, "n-unanswered") > 5);
  net_clear (&net);
}

GST_END_TEST;

/* It has forgotten who passes, and counts anew.  A sender that asks in its first
 * second hears that the link is empty, and with each report that repeats it tries for twice
 * the increase [ALS 3.3]: less than twice its rate.  Only a full link takes that back, and
 * TCP here leaves room. */
GST_START_TEST (test_a_router_may_start_again)
{
  Receiver *wide, *narrow;
  Net net;

  net_init (&net, "");
  wide = net_join (&net, 3000000);
  narrow = net_join (&net, 1000000);
  net_run (&net, 30);
  for (guint i = 0; i < 3; i++) {
    guint before_bps = layer_bps (&net, 0);

    gst_element_set_state (narrow->router, GST_STATE_READY);
    gst_element_set_state (narrow->router, GST_STATE_PLAYING);
    begin_again (narrow);
    for (guint k = 0; k < 12; k++) {
      net_run (&net, 1);
      assert_between (layer_bps (&net, 0), 85e3, 2.0 * before_bps);
      fail_unless_equals_int (held (wide), 3);
    }
    fail_unless_equals_int (held (narrow), 1);
  }
  net_clear (&net);
}

GST_END_TEST;

/* The link becomes half as wide: once the receiver has heard that from the router, the
 * sender knows within half a second, and does not wait for its adaptation point. */
GST_START_TEST (test_under_avpf_a_share_that_falls_is_heard_of_at_once)
{
  Receiver *receiver;
  GstElement *session;
  gdouble share;
  guint before_bps;
  Net net;

  net_init (&net, "");
  receiver = net_join (&net, 2000000);
  session = element_of (receiver->bin, "rtp");
  gst_util_set_object_arg (G_OBJECT (session), "rtp-profile", "avpf");
  gst_object_unref (session);
  net_run (&net, 30);
  before_bps = layer_bps (&net, 0);
  share = element_stat (receiver->als, "share");
  receiver->bandwidth_bps = 1000000;
  g_object_set (receiver->router, "bandwidth", receiver->bandwidth_bps, NULL);
  /* RTCP comes at least each 7.5 s [RFC3550 6.2, 6.3.1] */
  for (guint i = 0; i < 80; i++)
    if (element_stat (receiver->als, "share") >= share)
      net_step (&net);
  fail_unless (element_stat (receiver->als, "share") < share);
  for (guint i = 0; i < 5; i++)
    net_step (&net);
  assert_between (layer_bps (&net, 0), 0.4 * before_bps, 0.7 * before_bps);
  net_clear (&net);
}

GST_END_TEST;

static Suite *
alsrtcp_session_suite (void)
{
  Suite *s = suite_create ("alsrtcp-session");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_unequal_receivers_hold_what_their_branches_carry);
  tcase_add_test (tc, test_who_loses_for_long_leaves_the_top_layer);
  tcase_add_test (tc, test_behind_a_deaf_router_the_base_is_held);
  tcase_add_test (tc, test_a_router_may_start_again);
  tcase_add_test (tc, test_under_avpf_a_share_that_falls_is_heard_of_at_once);
  tcase_add_test (tc, test_routers_are_alerted_where_the_socket_allows_it);
  tcase_add_test (tc, test_an_alert_ends_with_its_setting);
  /* of gst-plugins-bad, which need not be there */
  if (gst_registry_check_feature_version (gst_registry_get (), "srtpenc", 1, 22,
          0))
    tcase_add_test (tc, test_under_srtcp_routers_with_the_key_answer);
  return s;
}

GST_CHECK_MAIN (alsrtcp_session);
