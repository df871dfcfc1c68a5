/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A path that suddenly becomes narrow: nothing leaves tfrcrate until its queue has gone. */

#include "tfrcratecheck.h"

#define STREAMS 6
#define WIDE_BPS 600000
#define NARROW_BPS 150000
#define QUEUE (500 * GST_MSECOND)
#define WAY (40 * GST_MSECOND)

static guint link_bps;
static GstClockTime link_free;  /* has sent all by then */

/* Path.drops: what finds no room; the others come behind what waits there */
static gboolean
pass_link (Path * path, GstBuffer * packet)
{
  GstClockTime time = now (&path->f), free = MAX (link_free, time);

  if (free > time + QUEUE)
    return TRUE;
  link_free = free + gst_util_uint64_scale (8
      * (gst_buffer_get_size (packet) + 28), GST_SECOND, link_bps);
  path->forward = link_free - time + WAY;
  return FALSE;
}

/* Six voices, which all pass; then the path falls. */
static void
begin (Path * path, guint64 max_hold)
{
  memset (path, 0, sizeof *path);
  setup_element (&path->f);
  g_object_set (path->f.element, "initial-bitrate", STREAMS * STREAM_BPS,
      "max-bitrate", STREAMS * STREAM_BPS, "max-hold", max_hold, NULL);
  setup_harness (&path->f);
  path_setup_receiver (path, STREAMS);
  link_bps = WIDE_BPS;
  link_free = 0;
  path->drops = pass_link;
  path_run (path, 8 * GST_SECOND);
  fail_unless_equals_int (path->n_dropped, 0);
  fail_unless_equals_int (target (&path->f), STREAMS * STREAM_BPS);
  link_bps = NARROW_BPS;
}

/* Whoever hears the target sends no more than that.  Returns: the longest time without a
 * packet; @least: (out): the target in it */
static GstClockTime
run_into_gap (Path * path, guint * least)
{
  GstClockTime last = now (&path->f), longest = 0;

  for (guint i = 0; i < 2000; i++) {
    guint n_packets = path->n_packets;

    path_step (path, now (&path->f) + GST_MSECOND);
    if (target (&path->f) < NARROW_BPS)
      path->n_streams = 1;
    if (path->n_packets == n_packets)
      continue;
    if (now (&path->f) - last > longest) {
      longest = now (&path->f) - last;
      *least = target (&path->f);
    }
    last = now (&path->f);
  }
  return longest;
}

GST_START_TEST (test_nothing_leaves_until_the_queue_has_gone)
{
  guint least = 0;
  GstClockTime gap;
  Path path;

  begin (&path, GST_SECOND);
  gap = run_into_gap (&path, &least);
  fail_unless (gap >= 250 * GST_MSECOND && gap <= 700 * GST_MSECOND,
      "for %" GST_TIME_FORMAT, GST_TIME_ARGS (gap));
  fail_unless_equals_int ((gint) element_stat (path.f.element, "n-holds"), 1);
  fail_unless (element_stat (path.f.element, "n-dropped") > 0);
  /* who is told to send nothing would begin anew */
  fail_unless (least > NARROW_BPS / 2, "%u bit/s", least);
  assert_stat_string (path.f.element, "state", "sending");
  fail_unless_equals_int (path.n_gaps, 0);
  /* the queue has gone */
  fail_unless (link_free <= now (&path.f) + 40 * GST_MSECOND);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_a_hold_ends_when_it_has_lasted_as_long_as_it_may)
{
  guint least = 0;
  GstClockTime gap;
  Path path;

  begin (&path, 100 * GST_MSECOND);
  gap = run_into_gap (&path, &least);
  fail_unless (gap >= 80 * GST_MSECOND && gap <= 140 * GST_MSECOND,
      "for %" GST_TIME_FORMAT, GST_TIME_ARGS (gap));
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_without_holds_media_plays_on)
{
  guint least = 0;
  GstClockTime gap;
  Path path;

  begin (&path, 0);
  gap = run_into_gap (&path, &least);
  fail_unless (gap <= 40 * GST_MSECOND, "for %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gap));
  fail_unless_equals_int ((gint) element_stat (path.f.element, "n-holds"), 0);
  path_teardown (&path);
}

GST_END_TEST;

/* What waits in a hold is not kept: it would come too late. */
GST_START_TEST (test_paced_packets_go_in_a_hold)
{
  guint least = 0;
  GstClockTime gap;
  Path path;

  memset (&path, 0, sizeof path);
  begin (&path, GST_SECOND);
  g_object_set (path.f.element, "max-pacing-delay", 200, NULL);
  gap = run_into_gap (&path, &least);
  fail_unless (gap >= 250 * GST_MSECOND, "for %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gap));
  fail_unless (element_stat (path.f.element, "n-dropped") > 0);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_the_longest_hold_is_a_property)
{
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  guint64 max_hold;

  g_object_get (element, "max-hold", &max_hold, NULL);
  fail_unless_equals_uint64 (max_hold, GST_SECOND);
  g_object_set (element, "max-hold", 0, NULL);
  g_object_get (element, "max-hold", &max_hold, NULL);
  fail_unless_equals_uint64 (max_hold, 0);
  gst_object_unref (element);
}

GST_END_TEST;

/* Until nothing leaves any more */
static void
run_into_hold (Path * path)
{
  for (guint i = 0; element_stat (path->f.element, "n-holds") == 0; i++) {
    fail_unless (i < 1000, "it holds nothing");
    path_step (path, now (&path->f) + GST_MSECOND);
  }
}

static guint
push_one (Path * path)
{
  fail_unless_equals_int (push (&path->f, SSRC, path->next_seq[0]++),
      GST_FLOW_OK);
  return gst_harness_buffers_in_queue (path->f.rtp);
}

static void
set_max_hold (Path * path, guint64 max_hold)
{
  g_object_set (path->f.element, "max-hold", max_hold, NULL);
}

/* Whoever sets it may be any thread: no time passes. */
GST_START_TEST (test_a_hold_ends_when_nothing_may_be_held_any_more)
{
  Path path;

  begin (&path, GST_SECOND);
  run_into_hold (&path);
  fail_unless_equals_int (push_one (&path), 0);
  set_max_hold (&path, 0);
  fail_unless_equals_int (push_one (&path), 1);
  set_max_hold (&path, 10 * GST_SECOND);
  fail_unless_equals_int (push_one (&path), 2);
  path_run (&path, GST_SECOND);
  fail_unless_equals_int (path.n_gaps, 0);
  assert_stat_string (path.f.element, "state", "sending");
  path_teardown (&path);
}

GST_END_TEST;

/* --- what else may come in a hold ---------------------------------------- */

static void
begin_stream (Path * path)
{
  GstSegment segment;

  gst_harness_set_src_caps_str (path->f.rtp, RTP_CAPS_PCMU);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (path->f.rtp,
          gst_event_new_segment (&segment)));
}

static void
hold_for_ever (Path * path)
{
  set_max_hold (path, 10 * GST_SECOND);
}

static void
hold_for_a_moment (Path * path)
{
  set_max_hold (path, 1);
}

static void
flush (Path * path)
{
  fail_unless (gst_harness_push_event (path->f.rtp,
          gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (path->f.rtp,
          gst_event_new_flush_stop (TRUE)));
  begin_stream (path);
}

static void
end_and_begin (Path * path)
{
  fail_unless (gst_harness_push_event (path->f.rtp, gst_event_new_eos ()));
  path_run (path, 0);
  fail_unless (gst_harness_push_event (path->f.rtp,
          gst_event_new_stream_start ("anew")));
  begin_stream (path);
}

static void
stop_and_start (Path * path)
{
  gst_element_set_state (path->f.element, GST_STATE_NULL);
  gst_element_set_state (path->f.element, GST_STATE_PLAYING);
  begin_stream (path);
  path->last_seq[0] = -1;       /* it may number as it likes */
}

static void
go_elsewhere (Path * path)
{
  g_signal_emit_by_name (path->f.element, "change-path");
}

static void
have_another_rate (Path * path)
{
  g_signal_emit_by_name (path->f.element, "set-rate", 2 * STREAM_BPS);
}

static void
let_packets_wait (Path * path)
{
  g_object_set (path->f.element, "max-pacing-delay", 200, NULL);
}

static void
follow_another_algorithm (Path * path)
{
  gst_util_set_object_arg (G_OBJECT (path->f.element), "algorithm", "tfrc");
}

static const struct
{
  const gchar *name;
  void (*happens) (Path * path);
  gboolean ends;
} turns[] = {
  {"the greatest max-hold", hold_for_ever, FALSE},
  {"the least", hold_for_a_moment, TRUE},
  {"a flush", flush, FALSE},
  {"EOS", end_and_begin, FALSE},
  {"a stop", stop_and_start, TRUE},
  {"another path", go_elsewhere, TRUE},
  {"another rate", have_another_rate, FALSE},
  {"pacing", let_packets_wait, FALSE},
  {"another algorithm", follow_another_algorithm, TRUE},
};

/* And padding, which is wanted, is held with the rest. */
GST_START_TEST (test_whatever_comes_in_a_hold_media_goes_on)
{
  guint n_packets;
  Path path;

  begin (&path, GST_SECOND);
  run_into_hold (&path);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_fairmix_wanted_bitrate_event_new (10 * STREAM_BPS)));
  turns[__i__].happens (&path);
  path.n_streams = 1;
  n_packets = path.n_packets;
  path_step (&path, (now (&path.f) / FRAME + 1) * FRAME);
  fail_unless (turns[__i__].ends == (path.n_packets > n_packets), "%s",
      turns[__i__].name);
  path_run (&path, GST_SECOND);
  n_packets = path.n_packets;
  path_run (&path, GST_SECOND);
  fail_unless (path.n_packets >= n_packets + 45, "%s: %u packets",
      turns[__i__].name, path.n_packets - n_packets);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

static Suite *
tfrcrate_hold_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-hold");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_nothing_leaves_until_the_queue_has_gone);
  tcase_add_test (tcase, test_a_hold_ends_when_it_has_lasted_as_long_as_it_may);
  tcase_add_test (tcase, test_without_holds_media_plays_on);
  tcase_add_test (tcase, test_paced_packets_go_in_a_hold);
  tcase_add_test (tcase, test_the_longest_hold_is_a_property);
  tcase_add_test (tcase, test_a_hold_ends_when_nothing_may_be_held_any_more);
  tcase_add_loop_test (tcase, test_whatever_comes_in_a_hold_media_goes_on, 0,
      G_N_ELEMENTS (turns));
  return suite;
}

GST_CHECK_MAIN (tfrcrate_hold);
