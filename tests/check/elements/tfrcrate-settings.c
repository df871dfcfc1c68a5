/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Algorithms, policies, bounds and constants do what their names say. */

#include "../gstfairmixslow.h"
#include "tfrcratecheck.h"

#include "fairmix/adapt/fmx-adapt-policy.h"

GST_START_TEST (test_every_algorithm_and_policy_works_and_can_be_changed)
{
  guint n_algorithms, n_policies;
  GEnumClass *classes[2];
  Path path;
  gint algorithm;

  path_setup (&path, 2);
  g_object_get (path.f.element, "algorithm", &algorithm, NULL);
  classes[0] = g_type_class_ref (g_type_from_name ("GstTfrcRateAlgorithm"));
  classes[1] = g_type_class_ref (g_type_from_name ("GstTfrcRatePolicy"));
  n_algorithms = classes[0]->n_values;
  n_policies = classes[1]->n_values;
  fail_unless (n_algorithms >= 3);
  fail_unless_equals_string (g_enum_get_value (classes[0],
          algorithm)->value_nick, "shortq");
  fail_unless_equals_int (n_policies, 4);
  for (guint i = 0; i < n_algorithms * n_policies; i++) {
    g_object_set (path.f.element, "algorithm", i % n_algorithms,
        "policy", i / n_algorithms, NULL);
    path_run (&path, 4 * GST_SECOND);
    fail_unless (target (&path.f) >= 2 * STREAM_BPS, "%s, %s: %u",
        classes[0]->values[i % n_algorithms].value_nick,
        classes[1]->values[i / n_algorithms].value_nick, target (&path.f));
  }
  g_type_class_unref (classes[0]);
  g_type_class_unref (classes[1]);
  path_teardown (&path);
}

GST_END_TEST;

static gboolean
drop_one_of_thirty (Path * path, GstBuffer * packet)
{
  return path->n_packets % 30 == 0;
}

/* gaimd goes up and down all the time */
GST_START_TEST (test_no_policy_lets_packets_leave_faster_than_the_algorithm)
{
  guint n_below = 0;
  Path path;

  path_setup (&path, 8);
  path.drops = drop_one_of_thirty;
  g_object_set (path.f.element, "algorithm", 2 /* gaimd */ , NULL);
  for (guint policy = 0; policy < 4; policy++) {
    g_object_set (path.f.element, "policy", policy, NULL);
    for (guint k = 0; k < 80; k++) {
      gdouble allowed;

      path_run (&path, 100 * GST_MSECOND);
      allowed = element_stat (path.f.element, "target-bps");
      fail_unless (target (&path.f) <= allowed, "policy %u: %u > %g", policy,
          target (&path.f), allowed);
      n_below += target (&path.f) < allowed;
    }
  }
  fail_unless (n_below > 50);
  path_teardown (&path);
}

GST_END_TEST;

typedef struct
{
  GstPad *pad;
  GstBuffer *packet;
} Push;

static gpointer
push_packet (gpointer data)
{
  Push *push = data;

  gst_pad_push (push->pad, push->packet);
  return NULL;
}

static gpointer
set_older (gpointer element)
{
  g_object_set (element, "loss-limit", 0.1, NULL);
  return NULL;
}

static gpointer
change_path (gpointer element)
{
  g_signal_emit_by_name (element, "change-path");
  return NULL;
}

static GstPadProbeReturn
set_newer (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer element)
{
  g_object_set (element, "loss-limit", 0.5, NULL);
  return GST_PAD_PROBE_REMOVE;
}

static gdouble
get_loss_limit (GstElement * element)
{
  gdouble limit;

  g_object_get (element, "loss-limit", &limit, NULL);
  return limit;
}

/* Returns: whether the thread with that name waits for something */
static gboolean
is_asleep (const gchar * name)
{
  gchar *asleep = g_strdup_printf ("(%s) S ", name);
  GDir *dir = g_dir_open ("/proc/self/task", 0, NULL);
  gboolean found = FALSE;
  const gchar *thread;

  fail_unless (dir != NULL);
  while (!found && (thread = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_strdup_printf ("/proc/self/task/%s/stat", thread);
    gchar *stat = NULL;

    found = g_file_get_contents (path, &stat, NULL, NULL)
        && strstr (stat, asleep) != NULL;
    g_free (stat);
    g_free (path);
  }
  g_dir_close (dir);
  g_free (asleep);
  return found;
}

/* Who sets the older value, or begins with it on another path, waits for a packet; who
 * brought that sets the newer one before the other wakes up.  What is read from the property
 * is what holds. */
GST_START_TEST (test_settings_of_two_threads_at_once_leave_one_of_them)
{
  Fixture f;

  setup (&f);
  for (guint16 round = 0; round < 5; round++) {
    GstPad *src = gst_element_get_static_pad (f.element, "src");
    Push push = { f.rtp->srcpad, NULL };
    Runner packet, older;
    Gate gate;

    gate_init (&gate);
    g_object_set (f.element, "loss-limit", 0.3, NULL);
    gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, set_newer, f.element,
        NULL);
    push.packet = slow_packet (rtp_packet_new (SSRC, round, PAYLOAD), &gate);
    runner_start (&packet, "packet", push_packet, &push);
    gate_wait (&gate);
    runner_start (&older, "older", __i__ == 0 ? set_older : change_path,
        f.element);
    while (__i__ == 0 && get_loss_limit (f.element) != 0.1)
      g_thread_yield ();
    while (!is_asleep ("older"))        /* it reaches the lock */
      g_thread_yield ();
    gate_open (&gate);
    runner_join (&packet);
    runner_join (&older);
    fail_unless_equals_float (element_stat (f.element, "loss-limit"),
        get_loss_limit (f.element));
    gst_object_unref (src);
    gate_clear (&gate);
  }
  teardown (&f);
}

GST_END_TEST;

static gboolean
drop_every_tenth (Path * path, GstBuffer * packet)
{
  return path->n_packets % 10 == 0;
}

GST_START_TEST (test_every_policy_begins_anew_on_another_path)
{
  for (gint policy = 0; fmx_adapt_policy_classes[policy] != NULL; policy++) {
    Path path = { 0 };

    setup_element (&path.f);
    g_object_set (path.f.element, "policy", policy, "initial-bitrate", 500000,
        "max-bitrate", 1000000, NULL);
    setup_harness (&path.f);
    path_setup_receiver (&path, 1);
    path.drops = drop_every_tenth;
    path_run (&path, 10 * GST_SECOND);
    fail_unless (target (&path.f) < 200000, "%u", target (&path.f));
    g_signal_emit_by_name (path.f.element, "change-path");
    fail_unless_equals_int (target (&path.f), 500000);
    path_teardown (&path);
  }
}

GST_END_TEST;

GST_START_TEST (test_the_first_name_of_the_default_still_finds_it)
{
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  gint before, after;

  g_object_get (element, "algorithm", &before, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "algorithm", "dpm");
  gst_util_set_object_arg (G_OBJECT (element), "algorithm", "fairmix");
  g_object_get (element, "algorithm", &after, NULL);
  fail_unless_equals_int (before, after);
  gst_object_unref (element);
}

GST_END_TEST;

/* Target 0 says that nothing may be sent: no policy says so of its own. */
GST_START_TEST (test_no_policy_goes_below_the_minimum)
{
  Path path;

  path_setup (&path, 1);
  for (guint policy = 0; policy < 4; policy++) {
    g_object_set (path.f.element, "max-bitrate", 1, "min-bitrate", 1,
        "policy", policy, NULL);
    for (guint k = 0; k < 110; k++) {
      path_run (&path, 100 * GST_MSECOND);
      fail_unless_equals_int (target (&path.f), 1);
    }
  }
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_a_minimum_that_rises_stops_nothing)
{
  Path path;

  path_setup (&path, 1);
  g_object_set (path.f.element, "max-bitrate", 1, "min-bitrate", 1, NULL);
  path_run (&path, GST_SECOND);
  fail_unless_equals_int (target (&path.f), 1);
  g_object_set (path.f.element, "max-bitrate", 0, "min-bitrate", 60000, NULL);
  fail_unless_equals_int (target (&path.f), 60000);
  path_run (&path, GST_SECOND);
  fail_unless (target (&path.f) >= 60000);
  path_teardown (&path);
}

GST_END_TEST;

/* how often the target rises in 8 s on a path that carries everything */
static guint64
ups_with_decision_interval (gdouble rtts)
{
  guint64 n;
  Path path;

  path_setup (&path, 8);
  g_object_set (path.f.element, "algorithm", 0 /* dpm */ ,
      "decision-interval", rtts, NULL);
  path_run (&path, 8 * GST_SECOND);
  n = element_stat (path.f.element, "n-up");
  path_teardown (&path);
  return n;
}

GST_START_TEST (test_dpm_goes_up_once_in_a_decision_interval)
{
  /* R is 70 ms, and feedback comes some 20 ms later */
  guint64 often = ups_with_decision_interval (10);
  guint64 seldom = ups_with_decision_interval (50);

  fail_unless (often >= 8 && often <= 12, "%" G_GUINT64_FORMAT, often);
  fail_unless (seldom >= 1 && seldom <= 3, "%" G_GUINT64_FORMAT, seldom);
}

GST_END_TEST;

static gboolean
drop_two_of_three (Path * path, GstBuffer * packet)
{
  return path->n_packets % 3 != 0;
}

/* a sender that goes on sending whatever the target is */
static guint64
trips_of_a_deaf_sender (gboolean circuit_breaker)
{
  guint64 n;
  Path path;

  path_setup (&path, 8);
  g_object_set (path.f.element, "circuit-breaker", circuit_breaker,
      "loss-limit", 1.0, "min-bitrate", 1, NULL);
  path.drops = drop_two_of_three;
  path.forward = path.backward = 250 * GST_MSECOND;     /* a TCP sends little */
  path_run (&path, 30 * GST_SECOND);    /* four reports of 5 s, and to spare */
  n = element_stat (path.f.element, "n-breaker");
  path_teardown (&path);
  return n;
}

GST_START_TEST (test_the_circuit_breaker_stops_a_deaf_sender_unless_it_is_off)
{
  fail_unless (trips_of_a_deaf_sender (TRUE) > 0);
  fail_unless_equals_uint64 (trips_of_a_deaf_sender (FALSE), 0);
}

GST_END_TEST;

static gboolean
drop_next (Path * path, GstBuffer * packet)
{
  path->drops = drop_nothing;
  return TRUE;
}

/* what remains of the target right after a packet was lost */
static gdouble
remainder_with_beta (gdouble beta)
{
  gdouble before;
  Path path;

  path_setup (&path, 4);
  g_object_set (path.f.element, "algorithm", 2 /* gaimd */ , "beta", beta,
      "alpha", 0.1, NULL);
  path_run (&path, 5 * GST_SECOND);
  before = target (&path.f);
  path.drops = drop_next;
  path_run (&path, 300 * GST_MSECOND);
  before = target (&path.f) / before;
  path_teardown (&path);
  return before;
}

GST_START_TEST (test_beta_is_what_remains_of_gaimds_rate)
{
  for (gdouble beta = 0.25; beta < 1; beta += 0.25) {
    gdouble remainder = remainder_with_beta (beta);

    /* and what was added since */
    fail_unless (remainder >= beta && remainder < beta + 0.1, "%g", remainder);
  }
}

GST_END_TEST;

GST_START_TEST (test_the_target_begins_at_the_initial_bitrate)
{
  Fixture f;

  setup_element (&f);
  g_object_set (f.element, "initial-bitrate", 123456, NULL);
  setup_harness (&f);
  push (&f, SSRC, 0);
  fail_unless_equals_int (target (&f), 123456);
  teardown (&f);
}

GST_END_TEST;

static gboolean
drop_one_of_twenty (Path * path, GstBuffer * packet)
{
  return path->n_packets % 20 == 0;
}

/* @field after 10 s on a path that loses 5 % */
static gdouble
stat_of_a_lossy_path (const gchar * property, guint64 value,
    const gchar * field)
{
  gchar *text = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
  GstStructure *stats;
  GValue number = G_VALUE_INIT;
  gdouble result;
  Path path;

  path_setup (&path, 4);
  g_object_set (path.f.element, "algorithm", 1 /* tfrc */ , NULL);
  gst_util_set_object_arg (G_OBJECT (path.f.element), property, text);
  path.drops = drop_one_of_twenty;
  path_run (&path, 10 * GST_SECOND);
  g_object_get (path.f.element, "stats", &stats, NULL);
  g_value_init (&number, G_TYPE_DOUBLE);
  g_value_transform (gst_structure_get_value (stats, field), &number);
  result = g_value_get_double (&number);
  gst_structure_free (stats);
  path_teardown (&path);
  g_free (text);
  return result;
}

/* [RFC5348 3.1] X is proportional to s; with RFC 4828's intervals, too, as long
 * as these are not short */
GST_START_TEST (test_a_segment_half_as_large_has_half_the_rate)
{
  gdouble ratio = stat_of_a_lossy_path ("segment-size", 1460, "equation-bps")
      / stat_of_a_lossy_path ("segment-size", 730, "equation-bps");

  fail_unless (ratio > 1.9 && ratio < 2.1, "%g", ratio);
}

GST_END_TEST;

GST_START_TEST (test_no_timeout_is_shorter_than_rto_min)
{
  fail_unless (stat_of_a_lossy_path ("rto-min", 200 * GST_MSECOND, "rto")
      < 500 * GST_MSECOND);
  fail_unless (stat_of_a_lossy_path ("rto-min", GST_SECOND, "rto")
      >= GST_SECOND);
}

GST_END_TEST;

GST_START_TEST (test_absurd_settings_do_no_harm)
{
  static const guint bitrates[] = { 1, 0, 80000, G_MAXUINT };
  Path path;

  path_setup (&path, 1);
  for (guint min = 0; min < G_N_ELEMENTS (bitrates); min++)
    for (guint max = 0; max < G_N_ELEMENTS (bitrates); max++) {
      g_object_set (path.f.element, "min-bitrate", MAX (bitrates[min], 1),
          "max-bitrate", bitrates[max], "loss-limit", 0.0,
          "rto-min", GST_MSECOND, "alpha", 0.0, "segment-size", 0, NULL);
      path_run (&path, 100 * GST_MSECOND);
      fail_unless (bitrates[max] == 0 || target (&path.f) <= bitrates[max]);
    }
  gst_element_set_state (path.f.element, GST_STATE_READY);
  g_object_set (path.f.element, "min-bitrate", 1000, "max-bitrate", 500,
      "initial-bitrate", 2000, NULL);
  gst_element_set_state (path.f.element, GST_STATE_PLAYING);
  clock_wait_idle (path.f.clock, 2);
  fail_unless_equals_int (target (&path.f), 500);
  path_teardown (&path);
}

GST_END_TEST;

static Suite *
tfrcrate_settings_suite (void)
{
  Suite *suite = suite_create ("tfrcrate settings");
  TCase *tc = tcase_create ("settings");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_every_algorithm_and_policy_works_and_can_be_changed);
  tcase_add_test (tc,
      test_no_policy_lets_packets_leave_faster_than_the_algorithm);
  tcase_add_loop_test (tc,
      test_settings_of_two_threads_at_once_leave_one_of_them, 0, 2);
  tcase_add_test (tc, test_every_policy_begins_anew_on_another_path);
  tcase_add_test (tc, test_the_first_name_of_the_default_still_finds_it);
  tcase_add_test (tc, test_no_policy_goes_below_the_minimum);
  tcase_add_test (tc, test_a_minimum_that_rises_stops_nothing);
  tcase_add_test (tc, test_dpm_goes_up_once_in_a_decision_interval);
  tcase_add_test (tc,
      test_the_circuit_breaker_stops_a_deaf_sender_unless_it_is_off);
  tcase_add_test (tc, test_beta_is_what_remains_of_gaimds_rate);
  tcase_add_test (tc, test_the_target_begins_at_the_initial_bitrate);
  tcase_add_test (tc, test_a_segment_half_as_large_has_half_the_rate);
  tcase_add_test (tc, test_no_timeout_is_shorter_than_rto_min);
  tcase_add_test (tc, test_absurd_settings_do_no_harm);
  return suite;
}

GST_CHECK_MAIN (tfrcrate_settings);
