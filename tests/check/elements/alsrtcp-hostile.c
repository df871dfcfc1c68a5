/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* alsrtcp among those who mean no good, or do not know what they do */
#include "alsrtcpcheck.h"
#include "floodcheck.h"

/* R_d = 0, R_d without end, a stream that is not ours: within the limits */
GST_START_TEST (test_absurd_returns_stay_within_the_limits)
{
  Fixture f;

  setup (&f, "sender", "min-bitrate=20000 max-bitrate=500000");
  send_from (&f, SSRC);
  push_return (&f, LISTENER, 0, 1.99, 255);
  push_return (&f, OTHER, G_MAXUINT32, 0.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 20000, 240000, 240000);
  g_object_set (f.element, "max-bitrate", 200000, NULL);
  assert_targets (&f, -1, 180000, 0);
  send_from (&f, SSRC);
  teardown (&f);
}

GST_END_TEST;

/* A sender that starts anew, or whose SSRC collided, has no time for a BYE: what
 * its listeners hold they keep, and follow it when the old SSRC is silent. */
GST_START_TEST (test_a_sender_may_change_its_ssrc_without_goodbye)
{
  FmxAlsLayer layers[3] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006), layer_at (90000, 2, 2, 5008)
  };
  Fixture f;

  setup (&f, "receiver", "sources=l1,l2  identity name=l1  identity name=l2");
  push_announcement (&f, SSRC, 180000, layers, 3);
  settle (&f);
  for (guint i = 0; i < 5; i++) {
    fail_unless_equals_int (held (&f), 2);
    fail_unless_equals_int (state_of (&f, "l1"), GST_STATE_PLAYING);
    run (&f, 5 * GST_SECOND);
    push_announcement (&f, OTHER, 270000, layers, 3);
  }
  fail_unless_equals_int (held (&f), 3);
  fail_unless_equals_int (element_stat (f.element, "n-strangers"), 4);
  fail_unless_equals_int (element_stat (f.element, "sender-ssrc"), OTHER);
  teardown (&f);
  /* and a sender whose stream has another SSRC takes reports about both */
  setup (&f, "sender", "");
  send_from (&f, SSRC);
  send_from (&f, OTHER);
  push_return (&f, LISTENER, 90000, 1.0, 0);
  run (&f, INTERVAL);
  assert_targets (&f, 95000, 0, 0);
  teardown (&f);
}

GST_END_TEST;

/* Somebody else's group, somebody else's stream, no group at all */
GST_START_TEST (test_forged_announcements_change_nothing)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  FmxAlsLayer forged[2] = { layer_at (1, 9, 0, 5004), layer_at (1, 9, 1, 5006)
  };
  GstStructure *message;
  Fixture f;

  setup (&f, "receiver", "sources=l1  identity name=l1");
  push_announcement (&f, SSRC, 100000, layers, 2);
  fail_unless_equals_int (held (&f), 1);
  gst_structure_free (pop_message (&f, "fairmix-layers"));
  push_announcement (&f, SSRC, 100000, forged, 2);
  message = pop_message (&f, "fairmix-layers");
  fail_unless_equals_string (gst_structure_get_string (message, "reason"),
      "refused");
  gst_structure_free (message);
  forged[0] = layers[0];
  forged[1] = layer_at (1, 2, 1, 5006);
  forged[1].address[12] = 10;   /* a host */
  push_announcement (&f, SSRC, 100000, forged, 2);
  fail_unless (pop_message (&f, "fairmix-layers") == NULL);     /* told once */
  fail_unless_equals_int (element_stat (f.element, "n-refused"), 2);
  push_announcement (&f, OTHER, 1000000, layers, 2);
  fail_unless_equals_int (element_stat (f.element, "n-strangers"), 1);
  fail_unless_equals_int (held (&f), 1);
  /* but when the first has left, the other one is heard */
  push_bye (&f, SSRC);
  push_announcement (&f, OTHER, 1000000, layers, 2);
  fail_unless_equals_int (held (&f), 2);
  teardown (&f);
}

GST_END_TEST;

/* A sender that cannot decide how many layers there are */
static void
announce_another_number (gpointer user_data, guint i)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };

  Fixture *f = user_data;

  gst_harness_push (f->rtcp, announcement_new (f, SSRC, 180000, layers,
          1 + i % 2));
}

GST_START_TEST (test_messages_that_nobody_hears_are_bounded_and_counted)
{
  Fixture f;
  Flood flood = {.say = announce_another_number,.user_data = &f };

  setup (&f, "receiver", "sources=l1,l2  identity name=l1  identity name=l2");
  gst_harness_set_drop_buffers (f.rtcp, TRUE);
  assert_flood_is_bounded_and_counted (f.element, f.bus, &flood);
  teardown (&f);
}

GST_END_TEST;

/* Returns: whether it went on */
static gboolean
push_any (Fixture * f, GstBuffer * buffer)
{
  GstBuffer *out;
  gboolean passed;

  fail_unless_equals_int (gst_harness_push (f->rtcp, buffer), GST_FLOW_OK);
  out = gst_harness_try_pull (f->rtcp);
  passed = out != NULL;
  gst_clear_buffer (&out);
  return passed;
}

GST_START_TEST (test_malformed_rtcp_is_counted_and_dropped)
{
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  const gchar *roles[] = { "sender", "receiver" };
  GRand *rand = g_rand_new_with_seed (1);
  guint8 data[FMX_ALS_LAYERS_BYTES (2)];
  guint n_passed;
  Fixture f;

  fmx_als_layers_write (layers, 2, data, sizeof data);
  for (guint k = 0; k < G_N_ELEMENTS (roles); k++) {
    setup (&f, roles[k], "");
    send_from (&f, SSRC);
    n_passed = 0;
    for (guint i = 0; i < 2000; i++) {
      GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
      GstBuffer *buffer = compound_new (&f, &rtcp, LISTENER, 3);

      add_app (&rtcp, 1 + i % 3, LISTENER, data, i % 2 ? sizeof data
          : FMX_ALS_SHARE_BYTES);
      for (guint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
        rtcp.map.data[g_rand_int_range (rand, 0, rtcp.map.size)] =
            g_rand_int_range (rand, 0, 256);
      gst_rtcp_buffer_unmap (&rtcp);
      gst_buffer_set_size (buffer, g_rand_int_range (rand, 0,
              gst_buffer_get_size (buffer) + 1));
      n_passed += push_any (&f, buffer);
    }
    fail_unless_equals_int (element_stat (f.element, "n-rtcp"), 2000);
    fail_unless (n_passed > 0 && n_passed < 1500);
    fail_unless_equals_int (element_stat (f.element, "n-malformed-rtcp"),
        2000 - n_passed);
    teardown (&f);
  }
  g_rand_free (rand);
}

GST_END_TEST;

static gpointer
set_all_the_time (gpointer user_data)
{
  Fixture *f = user_data;

  for (guint i = 0; i < 200; i++) {
    GstPad *pad = gst_element_request_pad_simple (f->element, "sink_5");
    GstStructure *stats;

    g_object_set (f->element, "max-bitrate", 100000 + i, "min-bitrate",
        2000 + i, "encoders", i % 2 ? "nobody,none" : NULL, "rtpbin",
        i % 3 ? "nobody" : NULL, "session", i % 4, "address",
        i % 2 ? "::1" : NULL, "sources", i % 2 ? "x,y" : NULL, NULL);
    g_object_get (f->element, "stats", &stats, NULL);
    gst_structure_free (stats);
    gst_element_release_request_pad (f->element, pad);
    gst_object_unref (pad);
  }
  return NULL;
}

GST_START_TEST (test_properties_and_pads_may_change_at_any_time)
{
  const gchar *roles[] = { "sender", "receiver" };
  FmxAlsLayer layers[2] = { layer_at (90000, 2, 0, 5004),
    layer_at (90000, 2, 1, 5006)
  };
  GThread *thread;
  Fixture f;

  for (guint k = 0; k < G_N_ELEMENTS (roles); k++) {
    setup (&f, roles[k], "");
    thread = g_thread_new ("settings", set_all_the_time, &f);
    for (guint i = 0; i < 50; i++) {
      send_from (&f, SSRC);
      push_return (&f, LISTENER + i % 3, 200000 + 1000 * i, 0.9, 0);
      push_announcement (&f, SSRC, i % 2 * 200000, layers, 2);
      run (&f, GST_SECOND);
    }
    g_thread_join (thread);
    teardown (&f);
  }
}

GST_END_TEST;

static void
assert_does_not_start (const gchar * properties)
{
  gchar *line = g_strdup_printf ("alsrtcp %s", properties);
  GstElement *element = gst_object_ref_sink (gst_parse_launch (line, NULL));

  fail_unless (gst_element_set_state (element,
          GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE, "%s", line);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  g_free (line);
}

GST_START_TEST (test_what_cannot_be_is_refused_at_once)
{
  check_without_a_clock ("alsrtcp");
  assert_does_not_start ("address=10.0.0.1");
  assert_does_not_start ("address=nonsense");
  assert_does_not_start ("role=receiver address=10.0.0.1");
  assert_does_not_start ("layer-limits=nonsense");
  assert_does_not_start ("layer-limits=0-64000,5-4");
  assert_does_not_start ("layer-limits=0-0");
  assert_does_not_start ("layer-limits=0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1");
}

GST_END_TEST;

/* Returns: how many errors of the element's own a packet at sink_0 makes in @line */
static guint
errors_of (const gchar * line)
{
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstElement *als = gst_bin_get_by_name (GST_BIN (pipeline), "als");
  GstPad *pad = gst_element_request_pad_simple (als, "sink_0");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstCaps *caps = gst_caps_from_string (RTP_CAPS_PCMU);
  GstMessage *message;
  GstSegment segment;
  guint n = 0;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_pad_send_event (pad, gst_event_new_stream_start ("rtp"));
  gst_pad_send_event (pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  for (guint16 seq = 0; seq < 3; seq++)
    fail_unless_equals_int (gst_pad_chain (pad, rtp_packet_new (SSRC, seq,
                160)), GST_FLOW_NOT_LINKED);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR)) != NULL) {
    GError *error;

    gst_message_parse_error (message, &error, NULL);
    fail_unless (g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_PAD));
    fail_unless (strstr (error->message, "RTCP") != NULL);
    g_error_free (error);
    gst_message_unref (message);
    n++;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (als);
  gst_object_unref (pipeline);
  return n;
}

/* As `... ! alsrtcp ! fakesink` is linked */
GST_START_TEST (test_who_takes_rtcp_for_rtp_is_told_so)
{
  fail_unless_equals_int (errors_of ("alsrtcp name=als ! fakesink"), 1);
  /* that may be on purpose */
  fail_unless_equals_int (errors_of
      ("alsrtcp name=als  als.rtcp_src ! fakesink  "
          "fakesrc num-buffers=0 ! als.rtcp_sink"), 0);
}

GST_END_TEST;

static Suite *
alsrtcp_hostile_suite (void)
{
  Suite *s = suite_create ("alsrtcp-hostile");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_absurd_returns_stay_within_the_limits);
  tcase_add_test (tc, test_a_sender_may_change_its_ssrc_without_goodbye);
  tcase_add_test (tc, test_forged_announcements_change_nothing);
  tcase_add_test (tc, test_messages_that_nobody_hears_are_bounded_and_counted);
  tcase_add_test (tc, test_malformed_rtcp_is_counted_and_dropped);
  tcase_add_test (tc, test_properties_and_pads_may_change_at_any_time);
  tcase_add_test (tc, test_what_cannot_be_is_refused_at_once);
  tcase_add_test (tc, test_who_takes_rtcp_for_rtp_is_told_so);
  return s;
}

GST_CHECK_MAIN (alsrtcp_hostile);
