/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp among those who mean no good */
#include "asmprtcpalone.h"
#include "floodcheck.h"

/* What one receiver can do to the others, at worst. */
GST_START_TEST (test_hostile_reports_neither_raise_nor_stop_the_rate)
{
  guint n_below = 0;
  Fixture f;

  setup (&f, "sender");
  send_packets (&f, 50);
  push_rate (&f, LISTENER, 300000, 0.02);
  push_rate (&f, OTHER, G_MAXUINT32, 0.0);
  fail_unless_equals_int (target (&f), 300000);
  push_rate (&f, OTHER, 1000, 0.0);     /* without a reason */
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-implausible"), 1);
  for (guint i = 0; i < 40; i++) {
    push_rate (&f, OTHER, 1000, 0.9);
    push_rate (&f, LISTENER, 300000, 0.02);
    n_below += target (&f) < 300000;
    fail_unless (target (&f) >= 16000);
    send_packets (&f, 250);
  }
  fail_unless (n_below >= 20 && n_below <= 25);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-ignored"), 1);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_flood_of_receivers_costs_bounded_memory)
{
  Fixture f;

  setup (&f, "sender");
  gst_element_set_state (f.element, GST_STATE_READY);
  g_object_set (f.element, "max-receivers", 100, NULL);
  gst_element_set_state (f.element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (f.rtcp, "application/x-rtcp");
  gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU);
  send_packets (&f, 50);
  push_rate (&f, LISTENER, 300000, 0.02);
  for (guint i = 0; i < 3000; i++)
    push_rate (&f, i, 400000, 0.01);
  fail_unless_equals_int (target (&f), 300000);
  fail_unless_equals_int (element_stat (f.element, "n-receivers"), 100);
  fail_unless (element_stat (f.element, "n-refused") > 2800);
  teardown (&f);
}

GST_END_TEST;

/* Somebody without rates comes and goes. */
static void
come_and_go (gpointer user_data, guint i G_GNUC_UNUSED)
{
  Fixture *f = user_data;

  gst_harness_push (f->rtcp, report_new (f, LISTENER, 64, NULL));
  gst_harness_push (f->rtcp, report_new (f, LISTENER, 64, NULL));
  gst_harness_push (f->rtcp, bye_new (LISTENER));
}

GST_START_TEST (test_messages_that_nobody_hears_are_bounded_and_counted)
{
  Fixture f;
  Flood flood = {.say = come_and_go,.user_data = &f };

  setup (&f, "sender");
  send_packets (&f, 50);
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
  FmxAsmpRate rate = { SSRC, 20000, FMX_SECOND / 10, 0.1, 20000, TRUE, FALSE,
    TRUE
  };
  GRand *rand = g_rand_new_with_seed (1);
  const gchar *roles[] = { "sender", "receiver" };
  guint n_passed;
  Fixture f;

  for (guint k = 0; k < G_N_ELEMENTS (roles); k++) {
    setup (&f, roles[k]);
    send_packets (&f, 50);
    n_passed = 0;
    fail_unless (!push_any (&f, gst_buffer_new ()));
    for (guint i = 0; i < 2000; i++) {
      GstBuffer *buffer = report_new (&f, LISTENER, 0, &rate);
      GstMapInfo map;

      gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
      for (guint n = g_rand_int_range (rand, 1, 5); n > 0; n--)
        map.data[g_rand_int_range (rand, 0, map.size)] =
            g_rand_int_range (rand, 0, 256);
      gst_buffer_unmap (buffer, &map);
      gst_buffer_set_size (buffer, g_rand_int_range (rand, 0,
              gst_buffer_get_size (buffer) + 1));
      n_passed += push_any (&f, buffer);
    }
    fail_unless_equals_int (element_stat (f.element, "n-rtcp"), 2001);
    fail_unless (n_passed > 0 && n_passed < 1500);
    fail_unless_equals_int (element_stat (f.element, "n-malformed-rtcp"),
        2001 - n_passed);
    teardown (&f);
  }
  g_rand_free (rand);
}

GST_END_TEST;

static gpointer
set_all_the_time (gpointer user_data)
{
  Fixture *f = user_data;

  for (guint i = 0; i < 300; i++) {
    GstStructure *stats;

    g_object_set (f->element, "max-bitrate", 100000 + i, "min-bitrate",
        2000 + i, "encoder", i % 2 ? "nobody" : NULL, "rtpbin",
        i % 3 ? "nobody" : NULL, "session", i % 4, "initial-bitrate", 10000,
        "algorithm", i % 2, NULL);
    g_object_get (f->element, "stats", &stats, NULL);
    gst_structure_free (stats);
  }
  return NULL;
}

GST_START_TEST (test_properties_may_be_set_at_any_time)
{
  GThread *thread;
  Fixture f;

  setup (&f, "sender");
  thread = g_thread_new ("settings", set_all_the_time, &f);
  for (guint i = 0; i < 50; i++) {
    send_packets (&f, 5);
    push_rate (&f, LISTENER + i % 3, 200000 + 1000 * i, 0.02);
  }
  g_thread_join (thread);
  teardown (&f);
}

GST_END_TEST;

static Suite *
asmprtcp_hostile_suite (void)
{
  Suite *s = suite_create ("asmprtcp-hostile");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_hostile_reports_neither_raise_nor_stop_the_rate);
  tcase_add_test (tc, test_a_flood_of_receivers_costs_bounded_memory);
  tcase_add_test (tc, test_messages_that_nobody_hears_are_bounded_and_counted);
  tcase_add_test (tc, test_malformed_rtcp_is_counted_and_dropped);
  tcase_add_test (tc, test_properties_may_be_set_at_any_time);
  return s;
}

GST_CHECK_MAIN (asmprtcp_hostile);
