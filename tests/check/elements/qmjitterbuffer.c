/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rtpbin, webrtcbin and applications find, as in rtpjitterbuffer; what is
 * ours is in qmjitterbuffer-*.c. */

#include "qmjitterbuffercheck.h"

/* --- interface ----------------------------------------------------------- */

GST_START_TEST (test_has_the_properties_of_rtpjitterbuffer)
{
  GstElement *stock = gst_element_factory_make ("rtpjitterbuffer", NULL);
  GstElement *ours = gst_element_factory_make ("qmjitterbuffer", NULL);
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (stock), &n);

  for (guint i = 0; i < n; i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (ours),
        specs[i]->name);

    fail_unless (spec != NULL, "%s is missing", specs[i]->name);
    fail_unless_equals_int (G_TYPE_FUNDAMENTAL (spec->value_type),
        G_TYPE_FUNDAMENTAL (specs[i]->value_type));
    fail_unless_equals_int (spec->flags & G_PARAM_READWRITE,
        specs[i]->flags & G_PARAM_READWRITE);
    if (specs[i]->owner_type == G_OBJECT_TYPE (stock)
        && !G_IS_PARAM_SPEC_BOXED (spec) && !G_IS_PARAM_SPEC_ENUM (spec))
      fail_unless (g_param_values_cmp (spec,
              g_param_spec_get_default_value (spec),
              g_param_spec_get_default_value (specs[i])) == 0,
          "%s has another default", specs[i]->name);
  }
  g_free (specs);
  gst_object_unref (stock);
  gst_object_unref (ours);
}

GST_END_TEST;

GST_START_TEST (test_keeps_what_is_set)
{
  GstElement *e = gst_element_factory_make ("qmjitterbuffer", NULL);
  guint latency, retry, dropout;
  gboolean drop, rtx;
  gint mode;
  gint64 offset;

  g_object_set (e, "latency", 120u, "drop-on-latency", TRUE, "mode", 4,
      "do-retransmission", TRUE, "ts-offset", (gint64) - 5,
      "max-dropout-time", 1234u, "rtx-min-delay", 7u, NULL);
  g_object_get (e, "latency", &latency, "drop-on-latency", &drop, "mode",
      &mode, "do-retransmission", &rtx, "ts-offset", &offset,
      "max-dropout-time", &dropout, "rtx-min-delay", &retry, NULL);
  fail_unless_equals_int (latency, 120);
  fail_unless (drop && rtx);
  fail_unless_equals_int (mode, 4);
  fail_unless_equals_int64 (offset, -5);
  fail_unless_equals_int (dropout, 1234);
  fail_unless_equals_int (retry, 7);
  gst_object_unref (e);
}

GST_END_TEST;

static GstCaps *
answer_pt_map (GstElement * element G_GNUC_UNUSED, guint pt, guint * asked)
{
  *asked = pt;
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, CLOCK_RATE, NULL);
}

GST_START_TEST (test_asks_for_the_clock_rate)
{
  GstHarness *h = gst_harness_new_parse ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  guint asked = 0;

  g_signal_connect (e, "request-pt-map", G_CALLBACK (answer_pt_map), &asked);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  pass (h, 0, 0);
  fail_unless_equals_int (asked, PT);
  fail_unless (pass (h, 1, 15 * MS) > 0);       /* and adapts with the answer */
  g_signal_emit_by_name (e, "clear-pt-map");
  gst_object_unref (e);
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstBuffer *
make_sender_report (guint32 rtptime)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  GstBuffer *buffer = gst_rtcp_buffer_new (1000);

  fail_unless (gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp));
  fail_unless (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_SR, &packet));
  gst_rtcp_packet_sr_set_sender_info (&packet, SSRC,
      G_GUINT64_CONSTANT (0xdeadbeef00000000), rtptime, 1, 1);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

static void
count_sync (GstElement * element G_GNUC_UNUSED, GstStructure * s,
    guint * n_syncs)
{
  fail_unless (gst_structure_has_field (s, "sr-ext-rtptime"));
  fail_unless (gst_structure_has_field (s, "base-rtptime"));
  (*n_syncs)++;
}

GST_START_TEST (test_hands_sender_reports_on)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstPad *sink = gst_element_request_pad_simple (e, "sink_rtcp");
  GstHarness *rtcp;
  guint n_syncs = 0;

  fail_unless (sink != NULL);
  fail_unless_equals_string (GST_PAD_NAME (sink), "sink_rtcp");
  fail_unless (gst_element_request_pad (e,
          gst_pad_get_pad_template (sink), NULL, NULL) == NULL);
  gst_object_unref (sink);
  rtcp = gst_harness_new_with_element (e, "sink_rtcp", NULL);
  gst_harness_set_src_caps_str (rtcp, "application/x-rtcp");
  g_signal_connect (e, "handle-sync", G_CALLBACK (count_sync), &n_syncs);
  pass (h, 0, 0);
  fail_unless_equals_int (gst_harness_push (rtcp,
          make_sender_report (4294960000u)), GST_FLOW_OK);
  pass (h, 1, 0);
  fail_unless (n_syncs > 0);
  gst_harness_teardown (rtcp);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

static gpointer
ask_again_and_again (gpointer user_data)
{
  GstElement *element = user_data;
  GstPadTemplate *templ = gst_element_get_pad_template (element, "sink_rtcp");

  for (guint i = 0; i < 20000; i++) {
    GstPad *pad = gst_element_request_pad (element, templ, NULL, NULL);

    if (pad != NULL) {
      gst_element_release_request_pad (element, pad);
      gst_object_unref (pad);
    }
  }
  return NULL;
}

/* The inner one has a single such pad. */
GST_START_TEST (test_two_may_ask_at_a_time_where_reports_go)
{
  GstElement *element = gst_element_factory_make ("qmjitterbuffer", NULL);
  GThread *threads[2];
  GstPad *pad;

  gst_object_ref_sink (element);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("asker", ask_again_and_again, element);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  pad = gst_element_request_pad_simple (element, "sink_rtcp");
  fail_unless (pad != NULL);
  gst_element_release_request_pad (element, pad);
  gst_object_unref (pad);
  gst_object_unref (element);
}

GST_END_TEST;

GST_START_TEST (test_reports_buffering_as_its_own)
{
  GstHarness *h = harness_new ("qmjitterbuffer mode=buffer latency=100");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;

  /* as a pipeline does; the stock element fills up to that */
  gst_harness_push_upstream_event (h, gst_event_new_latency (100 * MS));
  for (guint n = 0; n < 10; n++)
    push (h, n, 0);
  gst_harness_set_time (h, sent (60));
  /* it runs low, and fills up again */
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_BUFFERING);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (e));
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_the_reported_latency_stays)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=150");
  GstBus *bus = gst_element_get_bus (h->element);

  gst_harness_set_upstream_latency (h, 7 * MS);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 7 * MS);
  for (guint n = 0; n < 600; n++) {
    push (h, n, n % 100 == 50 ? 80 * MS : 0);
    wait_decided (h, n + 1);
    while (gst_harness_buffers_in_queue (h) > 0)
      gst_buffer_unref (gst_harness_pull (h));
  }
  fail_unless (stat_of (h, "qm-grown") > 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 7 * MS);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  gst_object_unref (bus);
  harness_free (h);
}

GST_END_TEST;

/* Who has stretched so far need not be behind what is linked now. */
GST_START_TEST (test_who_is_linked_anew_need_not_stretch)
{
  GstHarness *h = harness_new ("qmjitterbuffer memory-time=0");
  GstPad *src = gst_pad_get_peer (h->sinkpad);
  GstMessage *message;
  gboolean dropped;

  pass (h, 0, 0);
  fail_unless (gst_harness_push_upstream_event (h,
          gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
              gst_structure_new_empty ("fairmix-playout-stretcher"))));
  pass (h, 1, 55 * MS);
  fail_unless (gst_pad_unlink (src, h->sinkpad));
  fail_unless_equals_int (gst_pad_link (src, h->sinkpad), GST_PAD_LINK_OK);
  for (guint n = 2; n < 200; n++) {
    push (h, n, 0);
    while (stat_of (h, "qm-played") + stat_of (h, "qm-shrunk") <= n)
      g_thread_yield ();
  }
  gst_message_unref (pop_message (h, "fairmix-playout-adaptation"));    /* late */
  message = pop_message (h, "fairmix-playout-adaptation");
  fail_unless (gst_structure_get_boolean (gst_message_get_structure (message),
          "dropped", &dropped) && dropped);
  gst_message_unref (message);
  gst_object_unref (src);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_the_position_is_where_it_is_played)
{
  GstHarness *h = harness_new ("qmjitterbuffer min-delay=30");
  gint64 position;

  for (guint n = 0; n < 60; n++) {
    GstClockTimeDiff delay = pass (h, n, n == 30 ? 50 * MS : 0);

    fail_unless (gst_pad_peer_query_position (h->sinkpad, GST_FORMAT_TIME,
            &position));
    fail_unless_equals_int64 (position, sent (n) + delay);
  }
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_ts_offset_moves_timestamps)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstBuffer *buffer;
  guint n;

  for (n = 0; n < 10; n++)
    pass (h, n, 0);
  g_object_set (e, "ts-offset", (gint64) 30 * MS, NULL);
  push (h, n, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (n++) + 30 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  g_object_set (e, "max-ts-offset-adjustment", (guint64) 1 * MS,
      "ts-offset", (gint64) - 30 * MS, NULL);
  for (guint i = 1; i <= 60; i++, n++)
    fail_unless_equals_int64 (pass (h, n, 0), (30 - (gint) i) * MS);
  fail_unless_equals_int64 (pass (h, n, 0), -30 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

/* --- where it does not adapt --------------------------------------------- */

GST_START_TEST (test_without_adaptation_it_is_the_stock_element)
{
  GstHarness *ours = harness_new ("qmjitterbuffer adaptation=false latency=90");
  GstHarness *stock = harness_new ("rtpjitterbuffer latency=90");

  fail_unless_equals_uint64 (gst_harness_query_latency (ours), 90 * MS);
  for (guint n = 0; n < 300; n++) {
    GstClockTimeDiff delay = n % 50 == 30 ? 120 * MS : (n * 7 % 13) * MS;

    push (ours, n, delay);
    push (stock, n, delay);
    if (n == 0) {               /* they hold the first one */
      gst_harness_crank_single_clock_wait (ours);
      gst_harness_crank_single_clock_wait (stock);
    }
    fail_unless_equals_int64 (pull (ours, n), pull (stock, n));
  }
  harness_free (ours);
  harness_free (stock);
}

GST_END_TEST;

GST_START_TEST (test_other_modes_do_not_adapt)
{
  static const gchar *const launches[] = {
    "qmjitterbuffer mode=none latency=40",
    "qmjitterbuffer mode=synced latency=40",
    "qmjitterbuffer rfc7273-sync=true latency=40",
  };

  for (guint i = 0; i < G_N_ELEMENTS (launches); i++) {
    GstHarness *h = harness_new (launches[i]);

    fail_unless_equals_uint64 (gst_harness_query_latency (h), 40 * MS);
    harness_free (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_adaptation_can_be_switched_while_playing)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=40");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  g_object_set (e, "adaptation", FALSE, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 40 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-delay"), 40 * MS);
  for (; n < 100; n++)
    pass (h, n, 0);
  g_object_set (e, "adaptation", TRUE, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 0);
  for (; n < 150; n++)
    pass (h, n, 0);
  fail_unless_equals_int64 (pass (h, n, 0), 0);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

/* What steered the inner one does not go in the steps of lip-sync. */
GST_START_TEST (test_a_fixed_delay_holds_at_once)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=40 ts-offset=5000000 "
      "max-ts-offset-adjustment=1000000");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  guint n;

  for (n = 0; n < 50; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 5 * MS);
  g_object_set (e, "adaptation", FALSE, NULL);
  for (; n < 60; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 5 * MS);
  g_object_set (e, "ts-offset", (gint64) 8 * MS, NULL);
  for (guint i = 6; i <= 8; i++, n++)
    fail_unless_equals_int64 (pass (h, n, 0), i * MS);
  fail_unless_equals_int64 (pass (h, n, 0), 8 * MS);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_video_keeps_a_fixed_delay_and_all_packets)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=70");

  gst_harness_set_src_caps_str (h, "application/x-rtp, media=(string)video, "
      "clock-rate=(int)48000, encoding-name=(string)VP8, payload=(int)96");
  for (guint n = 0; n < 400; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 70 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-delay"), 70 * MS);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_retransmission_keeps_its_time)
{
  GstHarness *h =
      harness_new ("qmjitterbuffer do-retransmission=true latency=100");
  GstClockTimeDiff delay = 0;

  for (guint n = 0; n < 400; n++)
    delay = pass (h, n, 0);
  fail_unless_equals_int64 (delay, 100 * MS);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer");
  TCase *tc;

  tc = tcase_create ("interface");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_has_the_properties_of_rtpjitterbuffer);
  tcase_add_test (tc, test_keeps_what_is_set);
  tcase_add_test (tc, test_asks_for_the_clock_rate);
  tcase_add_test (tc, test_hands_sender_reports_on);
  tcase_add_test (tc, test_two_may_ask_at_a_time_where_reports_go);
  tcase_add_test (tc, test_reports_buffering_as_its_own);
  tcase_add_test (tc, test_the_reported_latency_stays);
  tcase_add_test (tc, test_who_is_linked_anew_need_not_stretch);
  tcase_add_test (tc, test_the_position_is_where_it_is_played);
  tcase_add_test (tc, test_ts_offset_moves_timestamps);

  tc = tcase_create ("where it does not adapt");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_without_adaptation_it_is_the_stock_element);
  tcase_add_test (tc, test_other_modes_do_not_adapt);
  tcase_add_test (tc, test_adaptation_can_be_switched_while_playing);
  tcase_add_test (tc, test_a_fixed_delay_holds_at_once);
  tcase_add_test (tc, test_video_keeps_a_fixed_delay_and_all_packets);
  tcase_add_test (tc, test_retransmission_keeps_its_time);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer);
