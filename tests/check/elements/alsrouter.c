/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../gstfairmixcheck.h"

#include <gst/net/net.h>
#include <string.h>

#include "fairmix/wire/fmx-als-app.h"

#define REPORT_BYTES 28
#define APP_BYTES (12 + FMX_ALS_SHARE_BYTES)

typedef struct
{
  GstHarness *rtp, *rtcp, *tap;
  GstElement *element;
  GstTestClock *clock;
} Rig;

static void
rig_init (Rig * rig, guint64 bandwidth)
{
  rig->element = gst_element_factory_make ("alsrouter", NULL);
  g_object_set (rig->element, "bandwidth", bandwidth, NULL);
  rig->rtp = gst_harness_new_with_element (rig->element, "sink_0", "src_0");
  rig->rtcp = gst_harness_new_with_element (rig->element, "sink_1", "src_1");
  rig->tap = gst_harness_new_with_element (rig->element, "tap_0", NULL);
  rig->clock = gst_harness_get_testclock (rig->rtp);
  gst_harness_set_src_caps_str (rig->rtp, "application/x-rtp");
  gst_harness_set_src_caps_str (rig->rtcp, "application/x-rtcp");
  gst_harness_set_src_caps_str (rig->tap, "application/octet-stream");
}

static void
rig_clear (Rig * rig)
{
  gst_harness_teardown (rig->tap);
  gst_harness_teardown (rig->rtcp);
  gst_harness_teardown (rig->rtp);
  gst_object_unref (rig->clock);
  gst_object_unref (rig->element);
}

static GstBuffer *
from_host (GstBuffer * buffer, guint host)
{
  gchar *text = g_strdup_printf ("10.0.0.%u", host);
  GInetAddress *address = g_inet_address_new_from_string (text);
  GSocketAddress *socket = g_inet_socket_address_new (address, 5004);

  gst_buffer_add_net_address_meta (buffer, socket);
  g_object_unref (socket);
  g_object_unref (address);
  g_free (text);
  return buffer;
}

/* @n hosts send @n_packets of 172 bytes each in this second, and it passes */
static void
second_of_rtp (Rig * rig, guint n, guint n_packets)
{
  guint i, k;

  for (k = 0; k < n_packets; k++)
    for (i = 0; i < n; i++) {
      GstBuffer *sent = from_host (rtp_packet_new (i, (guint16) k, 160), i);
      GstBuffer *got;

      fail_unless_equals_int (gst_harness_push (rig->rtp,
              gst_buffer_ref (sent)), GST_FLOW_OK);
      got = gst_harness_pull (rig->rtp);
      fail_unless (got == sent);        /* the very same */
      gst_buffer_unref (got);
      gst_buffer_unref (sent);
    }
  gst_test_clock_advance_time (rig->clock, GST_SECOND);
}

/* A sender report and a request */
static GstBuffer *
request_new (guint32 share_bps)
{
  static const guint8 app[] =
      { 0x81, 204, 0, 6, 0, 0, 0, 7, 'A', 'L', 'S', ' ' };
  guint8 *data = g_malloc0 (REPORT_BYTES + APP_BYTES);
  FmxAlsShare share = {.share_bps = share_bps,.rate_bps = 64000 };

  data[0] = 0x80;
  data[1] = 200;
  data[3] = REPORT_BYTES / 4 - 1;
  data[7] = 7;
  memcpy (data + REPORT_BYTES, app, sizeof app);
  fmx_als_share_write (&share, data + REPORT_BYTES + 12, FMX_ALS_SHARE_BYTES);
  return gst_buffer_new_wrapped (data, REPORT_BYTES + APP_BYTES);
}

static FmxAlsShare
ask (Rig * rig, guint32 share_bps)
{
  FmxAlsShare share;
  GstBuffer *buffer;
  GstMapInfo map;

  fail_unless_equals_int (gst_harness_push (rig->rtcp,
          from_host (request_new (share_bps), 0)), GST_FLOW_OK);
  buffer = gst_harness_pull (rig->rtcp);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size == REPORT_BYTES + APP_BYTES);
  fail_unless (fmx_als_share_read (&share, map.data + REPORT_BYTES + 12,
          FMX_ALS_SHARE_BYTES));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return share;
}

/* ALS 3.1: 0.9 * 1 Mbit/s over ten hosts */
GST_START_TEST (test_a_request_is_cut_to_the_fair_share)
{
  FmxAlsShare share;
  Rig rig;

  rig_init (&rig, 1000000);
  second_of_rtp (&rig, 10, 25);
  share = ask (&rig, 500000);
  fail_unless_equals_int (share.share_bps, 90000);
  fail_unless (share.answered);
  fail_unless_equals_int (share.rate_bps, 64000);
  /* 10 x 25 x 200 bytes on the wire = 0.4 of the link */
  fail_unless (ABS (share.utilisation - 0.4) < 0.001);
  /* who wishes less has that, and knows that a router has room for it */
  share = ask (&rig, 89999);
  fail_unless_equals_int (share.share_bps, 89999);
  fail_unless (share.answered && share.utilisation == 0.0);
  fail_unless_equals_int ((gint) element_stat (rig.element, "requests"), 2);
  fail_unless_equals_int ((gint) element_stat (rig.element, "cut"), 1);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_tcp_that_is_shown_has_its_share)
{
  FmxAlsShare share;
  Rig rig;
  guint i;

  rig_init (&rig, 1000000);
  for (i = 0; i < 9; i++) {
    guint8 *ip = g_malloc0 (1500);

    ip[0] = 0x45;
    ip[15] = (guint8) (i + 1);  /* source 0.0.0.i */
    ip[19] = 99;
    fail_unless_equals_int (gst_harness_push (rig.tap,
            gst_buffer_new_wrapped (ip, 1500)), GST_FLOW_OK);
  }
  second_of_rtp (&rig, 1, 10);
  share = ask (&rig, 500000);
  fail_unless_equals_int (share.share_bps, 90000);
  fail_unless_equals_int ((gint) element_stat (rig.element, "tapped"), 9);
  rig_clear (&rig);
}

GST_END_TEST;

/* Three TCPs take what one who asks leaves, and he gives up a twentieth for loss: the
 * share is corrected, so that all four send as much. */
GST_START_TEST (test_who_asks_sends_as_much_as_tcp)
{
  gdouble asking = 0.0, tcp = 0.0;
  Rig rig;

  rig_init (&rig, 1000000);
  for (guint s = 0; s < 200; s++) {
    asking = 0.95 * ask (&rig, 1000000).share_bps;
    tcp = (1e6 - asking) / 3;
    fail_unless_equals_int (gst_harness_push (rig.rtp,
            from_host (rtp_packet_new (0, (guint16) s, asking / 8 - 40), 0)),
        GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (rig.rtp));
    for (guint i = 1; i <= 3; i++) {
      guint8 *ip = g_malloc0 ((gsize) (tcp / 8));

      ip[0] = 0x45;
      ip[15] = (guint8) i;      /* source 0.0.0.i */
      fail_unless_equals_int (gst_harness_push (rig.tap,
              gst_buffer_new_wrapped (ip, (gsize) (tcp / 8))), GST_FLOW_OK);
    }
    gst_test_clock_advance_time (rig.clock, GST_SECOND);
  }
  fail_unless (ABS (asking / tcp - 1.0) < 0.05, "%g of %g", asking, tcp);
  rig_clear (&rig);
}

GST_END_TEST;

/* A hundred listeners of a group report each second, some of them with what came
 * back of a request.  The sender is the one connection. */
GST_START_TEST (test_listeners_that_report_are_no_connections)
{
  Rig rig;

  rig_init (&rig, 1000000);
  for (guint i = 1; i <= 100; i++) {
    GstBuffer *report = request_new (70000);
    GstMapInfo map;

    fail_unless (gst_buffer_map (report, &map, GST_MAP_READWRITE));
    map.data[1] = 201;
    map.data[REPORT_BYTES] = 0x80 | FMX_ALS_APP_RETURN;
    gst_buffer_unmap (report, &map);
    fail_unless_equals_int (gst_harness_push (rig.rtcp, from_host (report, i)),
        GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (rig.rtcp));
  }
  second_of_rtp (&rig, 1, 10);
  fail_unless_equals_int ((gint) element_stat (rig.element, "connections"), 1);
  fail_unless_equals_int (ask (&rig, 2000000).share_bps, 900000);
  fail_unless_equals_int ((gint) element_stat (rig.element, "requests"), 1);
  rig_clear (&rig);
}

GST_END_TEST;

/* who asks before it sends, or in a pause, counts himself */
GST_START_TEST (test_who_asks_is_a_connection)
{
  Rig rig;

  rig_init (&rig, 1000000);
  second_of_rtp (&rig, 10, 1);
  fail_unless_equals_int (ask (&rig, 500000).share_bps, 90000);
  fail_unless_equals_int (gst_harness_push (rig.rtcp,
          from_host (request_new (500000), 99)), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (rig.rtcp));
  for (guint i = 1; i < 10; i++) {
    fail_unless_equals_int (gst_harness_push (rig.rtp,
            from_host (rtp_packet_new (i, 9, 160), i)), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (rig.rtp));
  }
  /* hosts 0 and 99 asked, 1 to 9 sent */
  fail_unless_equals_int (ask (&rig, 500000).share_bps, 81818);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_another_bandwidth_counts_at_once)
{
  Rig rig;

  rig_init (&rig, 1000000);
  second_of_rtp (&rig, 2, 10);
  fail_unless_equals_int (ask (&rig, 1000000).share_bps, 450000);
  g_object_set (rig.element, "bandwidth", (guint64) 100000, NULL);
  fail_unless_equals_int (ask (&rig, 1000000).share_bps, 45000);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_what_is_no_request_passes_as_it_is)
{
  static const guint8 odd[][8] = {
    {0x81, 204, 0xff, 0xff, 0, 0, 0, 7},        /* longer than the datagram */
    {0x00, 204, 0, 1, 0, 0, 0, 7},
    {0x81, 204, 0, 1, 'A', 'L', 'S', ' '},
    {0x80, 201, 0, 0, 0x81, 204, 0, 9},
  };
  Rig rig;
  guint i;

  rig_init (&rig, 1000);
  for (i = 0; i < G_N_ELEMENTS (odd); i++) {
    GstBuffer *buffer;
    gsize size;

    for (size = 0; size <= 8; size++) {
      fail_unless_equals_int (gst_harness_push (rig.rtcp,
              size == 0 ? gst_buffer_new ()
              : gst_buffer_new_memdup (odd[i], size)), GST_FLOW_OK);
      buffer = gst_harness_pull (rig.rtcp);
      fail_unless (gst_buffer_get_size (buffer) == size);
      fail_unless (size == 0 || gst_buffer_memcmp (buffer, 0, odd[i],
              size) == 0);
      gst_buffer_unref (buffer);
    }
  }
  fail_unless_equals_int ((gint) element_stat (rig.element, "requests"), 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_lists_pass_as_lists)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstBuffer *buffer;
  Rig rig;
  guint i;

  rig_init (&rig, 1000000);
  for (i = 0; i < 5; i++)
    gst_buffer_list_add (list, rtp_packet_new (1, (guint16) i, 160));
  fail_unless_equals_int (gst_pad_push_list (rig.rtp->srcpad, list),
      GST_FLOW_OK);
  for (i = 0; i < 5; i++) {
    buffer = gst_harness_pull (rig.rtp);
    fail_unless_equals_int (rtp_packet_seq (buffer), i);
    gst_buffer_unref (buffer);
  }
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_pads_come_and_go_while_it_runs)
{
  GstSegment segment;
  GstPad *src, *sink;
  Rig rig;

  rig_init (&rig, 1000000);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  src = gst_element_request_pad_simple (rig.element, "src_5");
  fail_unless (src != NULL);
  sink = gst_element_request_pad_simple (rig.element, "sink_5");
  gst_element_release_request_pad (rig.element, src);
  gst_pad_send_event (sink, gst_event_new_stream_start ("five"));
  gst_pad_send_event (sink, gst_event_new_segment (&segment));
  fail_unless_equals_int (gst_pad_chain (sink, rtp_packet_new (1, 0, 10)),
      GST_FLOW_NOT_LINKED);
  gst_element_release_request_pad (rig.element, sink);
  gst_object_unref (src);
  gst_object_unref (sink);
  second_of_rtp (&rig, 1, 1);
  rig_clear (&rig);
}

GST_END_TEST;

/* A pipeline starts it before it has a clock, and that clock may show any time. */
GST_START_TEST (test_it_measures_on_the_clock_that_the_pipeline_gets)
{
  GstElement *element = gst_element_factory_make ("alsrouter", NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink_0", "src_0");
  GstTestClock *clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));

  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_clock (element, NULL);
  gst_element_set_state (element, GST_STATE_PAUSED);
  gst_element_set_clock (element, GST_CLOCK (clock));
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  g_object_set (element, "bandwidth", (guint64) 16000, NULL);
  for (guint i = 0; i < 50; i++) {
    gst_harness_push (h, rtp_packet_new (1, (guint16) i, 160));
    gst_buffer_unref (gst_harness_pull (h));
    gst_test_clock_advance_time (clock, 100 * GST_MSECOND);
  }
  /* 200 bytes ten times a second */
  fail_unless_equals_float (element_stat (element, "utilisation"), 1.0);
  gst_harness_teardown (h);
  gst_object_unref (clock);
  gst_object_unref (element);
}

GST_END_TEST;

/* --- SRTP --- */

#define KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"

static GstCaps *
give_key (GstElement * dec, guint ssrc, const gchar * auth_and_cipher)
{
  gchar *text = g_strdup_printf ("application/x-srtcp, srtp-key=(buffer)" KEY
      ", srtp-cipher=(string)aes-128-icm, srtp-auth=(string)hmac-sha1-80, %s",
      auth_and_cipher);
  GstCaps *caps = gst_caps_from_string (text);

  g_free (text);
  return caps;
}

/* A request through srtpenc, a router that cuts to 90 kbit/s, and srtpdec.
 * Returns: what arrives, 0 if nothing does */
static guint32
ask_in_srtcp (const gchar * cipher, const gchar * auth, gboolean * same)
{
  gchar *keys = g_strdup_printf ("srtcp-cipher=(string)%s, "
      "srtcp-auth=(string)%s", cipher, auth);
  GstElement *enc = gst_element_factory_make ("srtpenc", NULL);
  GstElement *dec = gst_element_factory_make ("srtpdec", NULL);
  GstCaps *key = give_key (NULL, 0, keys);
  GstHarness *from, *to;
  GstBuffer *sent, *arrived;
  FmxAlsShare share = { 0 };
  GstMapInfo map;
  Rig rig;

  gst_util_set_object_arg (G_OBJECT (enc), "rtcp-cipher", cipher);
  gst_util_set_object_arg (G_OBJECT (enc), "rtcp-auth", auth);
  g_object_set (enc, "key", gst_value_get_buffer (gst_structure_get_value
          (gst_caps_get_structure (key, 0), "srtp-key")), NULL);
  gst_caps_unref (key);
  g_signal_connect (dec, "request-key", G_CALLBACK (give_key), keys);
  gst_object_unref (gst_element_request_pad_simple (enc, "rtcp_sink_0"));
  from = gst_harness_new_with_element (enc, "rtcp_sink_0", "rtcp_src_0");
  gst_harness_set_src_caps_str (from, "application/x-rtcp");
  to = gst_harness_new_with_element (dec, "rtcp_sink", "rtcp_src");
  gst_harness_set_src_caps_str (to, "application/x-srtcp");
  rig_init (&rig, 1000000);
  second_of_rtp (&rig, 10, 1);
  sent = gst_harness_push_and_pull (from, request_new (500000));
  arrived = gst_harness_push_and_pull (rig.rtcp, from_host (gst_buffer_copy_deep
          (sent), 0));
  fail_unless (gst_buffer_map (sent, &map, GST_MAP_READ));
  *same = gst_buffer_get_size (arrived) == map.size
      && gst_buffer_memcmp (arrived, 0, map.data, map.size) == 0;
  gst_buffer_unmap (sent, &map);
  gst_harness_push (to, arrived);
  arrived = gst_harness_try_pull (to);
  if (arrived != NULL && gst_buffer_map (arrived, &map, GST_MAP_READ)) {
    fail_unless (fmx_als_share_read (&share, map.data + REPORT_BYTES + 12,
            FMX_ALS_SHARE_BYTES));
    gst_buffer_unmap (arrived, &map);
  }
  gst_clear_buffer (&arrived);
  gst_buffer_unref (sent);
  rig_clear (&rig);
  gst_harness_teardown (to);
  gst_harness_teardown (from);
  gst_object_unref (dec);
  gst_object_unref (enc);
  g_free (keys);
  return share.share_bps;
}

/* What a router without the key cannot read, or could not rewrite without the other end
 * throwing it away, passes as it is. */
GST_START_TEST (test_srtcp_is_cut_where_nobody_would_notice)
{
  const struct
  {
    const gchar *cipher, *auth;
    guint32 share_bps;
    gboolean same;
  } table[] = {
    {"aes-128-icm", "hmac-sha1-80", 500000, TRUE},
    {"null", "null", 90000, FALSE},
    {"null", "hmac-sha1-80", 500000, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {
    gboolean same;

    fail_unless_equals_int (ask_in_srtcp (table[i].cipher, table[i].auth,
            &same), table[i].share_bps);
    fail_unless_equals_int (same, table[i].same);
  }
}

GST_END_TEST;

static Suite *
alsrouter_suite (void)
{
  Suite *s = suite_create ("alsrouter");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  /* of gst-plugins-bad, which need not be there */
  if (gst_registry_check_feature_version (gst_registry_get (), "srtpenc", 1, 22,
          0))
    tcase_add_test (tc, test_srtcp_is_cut_where_nobody_would_notice);
  tcase_add_test (tc, test_a_request_is_cut_to_the_fair_share);
  tcase_add_test (tc, test_tcp_that_is_shown_has_its_share);
  tcase_add_test (tc, test_who_asks_sends_as_much_as_tcp);
  tcase_add_test (tc, test_listeners_that_report_are_no_connections);
  tcase_add_test (tc, test_who_asks_is_a_connection);
  tcase_add_test (tc, test_another_bandwidth_counts_at_once);
  tcase_add_test (tc, test_what_is_no_request_passes_as_it_is);
  tcase_add_test (tc, test_lists_pass_as_lists);
  tcase_add_test (tc, test_pads_come_and_go_while_it_runs);
  tcase_add_test (tc, test_it_measures_on_the_clock_that_the_pipeline_gets);
  return s;
}

GST_CHECK_MAIN (alsrouter);
