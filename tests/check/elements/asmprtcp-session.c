/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp with sessions */
#include "asmprtcpcheck.h"

GST_START_TEST (test_round_trips_are_measured_and_told)
{
  Node *near_node, *far_node;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  near_node = node_add (&net, "receiver", NULL);
  far_node = node_add (&net, "receiver", NULL);
  far_node->delay = 100 * GST_MSECOND;
  net_run (&net, 40);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 2);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-plain"), 0);
  /* each report waits for up to a packet time before it is carried */
  assert_between (first_of (near_node, "streams", "rtt"), 80e6, 125e6);
  assert_between (first_of (far_node, "streams", "rtt"), 200e6, 245e6);
  fail_unless (first_of (far_node, "streams", "loss") == 0.0);
  /* and without any loss all that is allowed is used */
  fail_unless_equals_int (target (&net), 400000);
  net_clear (&net);
}

GST_END_TEST;

/* Multicast brings everybody's reports back to it. */
GST_START_TEST (test_reports_that_come_back_are_no_collision)
{
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  net_run (&net, 40);           /* which checks the sender's SSRC */
  for (guint i = 0; i < 2; i++) {
    fail_unless (element_stat (net.nodes[i].asmp, "n-looped-rtcp") >= 4);
    fail_unless (element_stat (net.nodes[i].asmp, "n-rtcp") >= 4);
  }
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
  net_clear (&net);
}

GST_END_TEST;

GST_START_TEST (test_the_slowest_receiver_is_followed_until_it_is_gone)
{
  guint lowest = G_MAXUINT, sum = 0;
  Node *slow;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  net_run (&net, 40);
  fail_unless_equals_int (target (&net), 400000);
  slow = node_add (&net, "receiver", NULL);
  slow->capacity_bps = 150000.0;
  net_run (&net, 30);
  for (guint i = 0; i < 60; i++) {
    net_run (&net, 1);
    /* two reports soon after each other may let it grow twice */
    fail_unless (target (&net) < 300000, "%u", target (&net));
    sum += target (&net);
    lowest = MIN (lowest, target (&net));
  }
  fail_unless (sum / 60 < 190000, "%u", sum / 60);
  /* a TCP of few packets halves, and waits for a time-out now and then */
  fail_unless (lowest >= 60000, "%u", lowest);
  node_stop (&net, slow);
  net_run (&net, 60);
  fail_unless_equals_int (target (&net), 400000);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-timed-out"), 1);
  net_clear (&net);
}

GST_END_TEST;

/* [RFC4585]: not when the session would report next, 2.5 to 7.5 s later */
GST_START_TEST (test_with_avpf_a_link_that_becomes_narrow_is_told_at_once)
{
  Node *node;
  Net net;

  net_init (&net);
  node_add (&net, "sender", "rtp-profile=avpf");
  node = node_add (&net, "receiver", "rtp-profile=avpf");
  for (guint round = 0; round < 5; round++) {
    node->capacity_bps = 0.0;
    net_run (&net, 60);
    fail_unless (target (&net) > 300000, "%u", target (&net));
    node->capacity_bps = 100000.0;
    net_run (&net, 2);
    fail_unless (target (&net) < 300000, "%u", target (&net));
  }
  net_clear (&net);
}

GST_END_TEST;

/* With gst-launch-1.0 -e, for one: what comes ends, and the listener is forgotten before
 * it would be by its silence. */
GST_START_TEST (test_who_hears_the_end_says_bye)
{
  Node *slow;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  slow = node_add (&net, "receiver", NULL);
  net_run (&net, 20);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 2);
  gst_pad_push_event (slow->rtp_in, gst_event_new_eos ());
  carry (&net);
  node_stop (&net, slow);
  net_run (&net, 1);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-left"), 1);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
  net_clear (&net);
}

GST_END_TEST;

/* [RFC3550 6.2]: all reports together, of an hour */
GST_START_TEST (test_reports_take_no_more_than_five_per_cent_in_an_hour)
{
  guint64 rtcp_bytes = 0;
  gdouble share;
  Net net;

  net_init (&net);
  net.packet_time = GST_SECOND / 4;
  node_add (&net, "sender", "rtpsession0::bandwidth=64000");
  g_object_set (net.nodes[0].asmp, "min-bitrate", 64000, "max-bitrate", 64000,
      NULL);
  for (guint i = 0; i < 3; i++)
    node_add (&net, "receiver", "bandwidth=64000");
  net_run (&net, 3600);
  assert_between (net.media_bytes, 3600 * 7900, 3600 * 8100);
  for (guint i = 0; i < 4; i++)
    rtcp_bytes += net.nodes[i].rtcp_bytes;
  share = 100.0 * rtcp_bytes / net.media_bytes;
  fail_unless (share > 0.5 && share <= 5.0, "%g %%", share);
  fail_unless (element_stat (net.nodes[0].asmp, "n-rates") > 1000);
  GST_INFO ("%g %%", share);
  net_clear (&net);
}

GST_END_TEST;

/* SRTP lies outside, between the session and the network. */
GST_START_TEST (test_under_srtp_the_slowest_is_followed_and_strangers_are_not)
{
  Node *slow;
  Net net;

  net_init (&net);
  net.srtp = TRUE;
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  net_run (&net, 40);
  fail_unless_equals_int (target (&net), 400000);
  assert_between (first_of (&net.nodes[1], "streams", "rtt"), 80e6, 125e6);
  /* whoever has no key is not heard */
  for (guint i = 0; i < 5; i++) {
    hear_from (&net, &net.nodes[1], 1000, 20000);
    net_run (&net, 1);
  }
  fail_unless_equals_int (target (&net), 400000);
  slow = node_add (&net, "receiver", NULL);
  slow->capacity_bps = 150000.0;
  net_run (&net, 40);
  assert_between (target (&net), 75000, 210000);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 2);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-plain"), 0);
  for (guint i = 0; i < 3; i++)
    fail_unless (element_stat (net.nodes[i].asmp, "n-looped-rtcp") >= 4);
  net_clear (&net);
}

GST_END_TEST;

/* However often they may report: the session says how many there are. */
GST_START_TEST (test_among_more_than_twenty_one_speaks_for_others)
{
  gdouble n_suppressed[2];
  Node *node;
  Net net;

  for (guint many = 0; many < 2; many++) {
    net_init (&net);
    node_add (&net, "sender", NULL);
    node = node_add (&net, "receiver", "bandwidth=10000000");
    net_run (&net, 30);
    for (guint round = 0; round < 10; round++) {
      for (guint i = 0; i < (many ? 30 : 10); i++)
        hear_from (&net, node, 1000 + i, i == 0 ? 250000 : 0);
      net_run (&net, 5);
    }
    n_suppressed[many] = first_of (node, "streams", "n-suppressed");
    net_clear (&net);
  }
  fail_unless (n_suppressed[0] == 0.0, "%g", n_suppressed[0]);
  fail_unless (n_suppressed[1] >= 3.0, "%g", n_suppressed[1]);
}

GST_END_TEST;

GST_START_TEST (test_in_a_large_session_one_speaks_for_others)
{
  gdouble n_reports = 0.0, n_suppressed;
  Node *node;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver", "bandwidth=64000");
  /* rtpsession draws its times: six in 30 s, seldom three */
  for (guint i = 0; i < 12 && n_reports < 4.0; i++) {
    net_run (&net, 5);
    n_reports = first_of (node, "streams", "n-reports");
  }
  fail_unless (n_reports >= 4.0, "%g", n_reports);
  fail_unless (first_of (node, "streams", "n-suppressed") == 0.0);
  for (guint round = 0; round < 60; round++) {
    for (guint i = 0; i < 200; i++)
      hear_from (&net, node, 1000 + i, i == 0 ? 250000 : 0);
    net_run (&net, 5);
  }
  n_suppressed = first_of (node, "streams", "n-suppressed");
  fail_unless (n_suppressed >= 3.0, "%g", n_suppressed);
  fail_unless (first_of (node, "streams", "n-reports") <= n_reports + 1.0);
  fail_unless (element_stat (node->asmp, "report-interval") > 15e9);
  net_clear (&net);
}

GST_END_TEST;

/* Though the session lets it report once in half a minute. */
GST_START_TEST (test_who_limits_a_large_session_has_a_turn_in_each_round)
{
  gdouble n_reports = 0.0;
  Node *node;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver", "bandwidth=64000");
  net_run (&net, 30);
  for (guint round = 0; round < 40; round++) {
    if (round == 15) {
      n_reports = first_of (node, "streams", "n-reports");
      node->capacity_bps = 100000.0;
    }
    for (guint i = 0; i < 200; i++)
      hear_from (&net, node, 1000 + i, 0);
    net_run (&net, 5);
  }
  n_reports = first_of (node, "streams", "n-reports") - n_reports;
  assert_between (n_reports, 20.0, 60.0);
  fail_unless (element_stat (node->asmp, "report-interval") > 15e9);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "limiting-ssrc"),
      element_stat (node->asmp, "own-ssrc"));
  assert_between (target (&net), 40000, 160000);
  /* its own come back to it, as the session's do */
  fail_unless (element_stat (node->asmp, "n-looped-rtcp") >= n_reports);
  net_clear (&net);
}

GST_END_TEST;

GST_START_TEST (test_both_ends_may_stop_and_start_again)
{
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  for (guint i = 0; i < 3; i++) {
    const GstState states[] = { GST_STATE_PAUSED, GST_STATE_READY,
      GST_STATE_NULL
    };

    net_run (&net, 20);
    fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
    for (guint k = 0; k < 2; k++) {
      gst_element_set_state (net.nodes[k].asmp, states[i]);
      fail_unless (gst_element_sync_state_with_parent (net.nodes[k].asmp));
    }
  }
  net_run (&net, 20);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
  net_clear (&net);
}

GST_END_TEST;

static Suite *
asmprtcp_session_suite (void)
{
  Suite *s = suite_create ("asmprtcp-session");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_round_trips_are_measured_and_told);
  tcase_add_test (tc, test_reports_that_come_back_are_no_collision);
  tcase_add_test (tc, test_the_slowest_receiver_is_followed_until_it_is_gone);
  tcase_add_test (tc,
      test_with_avpf_a_link_that_becomes_narrow_is_told_at_once);
  tcase_add_test (tc, test_who_hears_the_end_says_bye);
  tcase_add_test (tc, test_reports_take_no_more_than_five_per_cent_in_an_hour);
  tcase_add_test (tc, test_among_more_than_twenty_one_speaks_for_others);
  tcase_add_test (tc, test_in_a_large_session_one_speaks_for_others);
  tcase_add_test (tc,
      test_who_limits_a_large_session_has_a_turn_in_each_round);
  tcase_add_test (tc, test_both_ends_may_stop_and_start_again);
  /* of gst-plugins-bad, which need not be there */
  if (gst_registry_check_feature_version (gst_registry_get (), "srtpenc", 1, 22,
          0))
    tcase_add_test (tc,
        test_under_srtp_the_slowest_is_followed_and_strangers_are_not);
  return s;
}

GST_CHECK_MAIN (asmprtcp_session);
