/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One thread stops it, or hands it packets, while another one is in it. */

#include "qmjitterbuffercheck.h"

typedef struct
{
  GMutex lock;
  GCond cond;
  gboolean blocked;
} Block;

static GstPadProbeReturn
note_block (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user_data)
{
  Block *block = user_data;

  g_mutex_lock (&block->lock);
  block->blocked = TRUE;
  g_cond_signal (&block->cond);
  g_mutex_unlock (&block->lock);
  return GST_PAD_PROBE_OK;
}

/* A packet is on its way out and does not get on. */
GST_START_TEST (test_a_blocked_pad_does_not_hold_up_the_stop)
{
  GstHarness *h = gst_harness_new ("qmjitterbuffer");
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  Block block = { 0 };

  g_mutex_init (&block.lock);
  g_cond_init (&block.cond);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
      note_block, &block, NULL);
  for (guint n = 0; n < 20; n++)
    push (h, n, 0);
  g_mutex_lock (&block.lock);
  while (!block.blocked)
    g_cond_wait (&block.cond, &block.lock);
  g_mutex_unlock (&block.lock);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (src);
  gst_harness_teardown (h);
  g_mutex_clear (&block.lock);
  g_cond_clear (&block.cond);
}

GST_END_TEST;

/* A flush ends, and on its way finds the element being stopped.  What is started
 * from here on waits. */
static GstPadProbeReturn
wait_for_the_stop (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  GstObject *inner = gst_pad_get_parent (pad);
  GstElement *element = GST_ELEMENT (gst_object_get_parent (inner));
  GstPad *sink = gst_element_get_static_pad (element, "sink");

  if (GST_EVENT_TYPE (info->data) == GST_EVENT_FLUSH_STOP) {
    note_block (pad, info, user_data);
    while (gst_pad_is_active (sink))
      g_thread_yield ();
    GST_PAD_STREAM_LOCK (pad);
  }
  gst_object_unref (sink);
  gst_object_unref (element);
  gst_object_unref (inner);
  return GST_PAD_PROBE_OK;
}

/* Whoever stops waits for the sink pad, and not yet for the inner one's thread, until it
 * is known.  Returns: whether that thread runs after the flush */
static gpointer
flush (gpointer user_data)
{
  GstHarness *h = user_data;
  GstElement *inner = GST_BIN (h->element)->children->data;
  GstPad *pad = gst_element_get_static_pad (inner, "src");
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  gboolean started;

  gst_harness_push_event (h, gst_event_new_flush_start ());
  GST_PAD_STREAM_LOCK (sink);
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  started = gst_pad_get_task_state (pad) == GST_TASK_STARTED;
  gst_pad_pause_task (pad);     /* or the stop would not end */
  GST_PAD_STREAM_UNLOCK (pad);
  GST_PAD_STREAM_UNLOCK (sink);
  gst_object_unref (sink);
  gst_object_unref (pad);
  return GINT_TO_POINTER (started);
}

/* Whoever stops would wait for it. */
GST_START_TEST (test_a_flush_starts_nothing_in_what_stops)
{
  GstHarness *h = gst_harness_new ("qmjitterbuffer");
  GstElement *inner = GST_BIN (h->element)->children->data;
  GstPad *inner_src = gst_element_get_static_pad (inner, "src");
  Block block = { 0 };
  GThread *thread;

  g_mutex_init (&block.lock);
  g_cond_init (&block.cond);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_pad_add_probe (inner_src, GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      wait_for_the_stop, &block, NULL);
  thread = g_thread_new ("talker", flush, h);
  g_mutex_lock (&block.lock);
  while (!block.blocked)
    g_cond_wait (&block.cond, &block.lock);
  g_mutex_unlock (&block.lock);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_READY),
      GST_STATE_CHANGE_SUCCESS);
  fail_if (GPOINTER_TO_INT (g_thread_join (thread)));
  /* nor is it left to whoever drops the element last, which may be its own thread */
  fail_unless (GST_PAD_TASK (inner_src) == NULL);
  gst_object_unref (inner_src);
  gst_harness_teardown (h);
  g_mutex_clear (&block.lock);
  g_cond_clear (&block.cond);
}

GST_END_TEST;

static gpointer
push_until_refused (gpointer user_data)
{
  GstHarness *h = user_data;
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint n = 0; flow == GST_FLOW_OK; n++)
    flow = gst_harness_push (h, make_packet (n));
  return GINT_TO_POINTER (flow);
}

/* Packets come on while it stops. */
GST_START_TEST (test_a_stop_under_load_refuses_what_comes)
{
  for (guint round = 0; round < 100; round++) {
    GstHarness *h = gst_harness_new ("qmjitterbuffer");
    GThread *thread;

    gst_harness_set_src_caps_str (h, CAPS);
    thread = g_thread_new ("talker", push_until_refused, h);
    gst_buffer_unref (gst_harness_pull (h));
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
        GST_FLOW_FLUSHING);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Called where the inner jitter buffer says that its latency is another: packets come
 * just then, and one of them is missing. */
static void
lose_one (GstDebugCategory * category, GstDebugLevel level,
    const gchar * file, const gchar * function, gint line, GObject * object,
    GstDebugMessage * message, gpointer user_data)
{
  GstHarness **to_push = user_data;
  GstHarness *h = g_atomic_pointer_get (to_push);
  GstTestClock *clock;

  if (h == NULL
      || g_strcmp0 (gst_debug_category_get_name (category), "GST_BUS") != 0
      || strstr (gst_debug_message_get (message), "latency") == NULL)
    return;
  g_atomic_pointer_set (to_push, NULL);
  push (h, 1, 0);
  push (h, 3, 0);
  clock = gst_harness_get_testclock (h);
  while (gst_test_clock_peek_id_count (clock) == 0
      && stat_of (h, "num-lost") == 0)
    g_thread_yield ();          /* until it is waited for, or given up */
  gst_object_unref (clock);
}

/* The first packet out makes the inner one's latency a second, and takes as much from its
 * timestamps.  These are two steps. */
GST_START_TEST (test_what_is_lost_at_the_start_holds_up_none)
{
  static GstHarness *to_push;
  GstHarness *h = harness_new ("qmjitterbuffer");

  g_atomic_pointer_set (&to_push, h);
  gst_debug_add_log_function (lose_one, &to_push, NULL);
  gst_debug_set_threshold_for_name ("GST_BUS", GST_LEVEL_DEBUG);
  push (h, 0, 0);
  pull_due (h, 0);
  pull_due (h, 1);
  pull_due (h, 3);
  gst_debug_unset_threshold_for_name ("GST_BUS");
  gst_debug_remove_log_function (lose_one);
  fail_unless (g_atomic_pointer_get (&to_push) == NULL);
  fail_unless_equals_uint64 (stat_of (h, "num-lost"), 1);
  harness_free (h);
}

GST_END_TEST;

/* What another thread sets just when the inner jitter buffer is about to be told what this
 * one has set */
static struct
{
  GstElement *element;          /* NULL: nothing any more */
  void (*set) (GstElement * element);
  void (*set_property) (GObject * object, guint id, const GValue * value,
      GParamSpec * pspec);
} other;

static void
set_before (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstElement *element = g_steal_pointer (&other.element);

  if (element != NULL)
    other.set (element);
  other.set_property (object, id, value, pspec);
}

static void
set_both (GstElement * element, void (*first) (GstElement * element),
    void (*last) (GstElement * element))
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (GST_BIN (element)->children->data);

  other.element = element;
  other.set = last;
  other.set_property = klass->set_property;
  klass->set_property = set_before;
  first (element);
  klass->set_property = other.set_property;
  fail_unless (other.element == NULL);
}

static void
be_of_no_mode (GstElement * element)
{
  g_object_set (element, "mode", 0, NULL);
}

static void
be_synced (GstElement * element)
{
  g_object_set (element, "mode", 4, NULL);
}

static void
follow_no_clock (GstElement * element)
{
  g_object_set (element, "rfc7273-sync", FALSE, NULL);
}

static void
follow_clock (GstElement * element)
{
  g_object_set (element, "rfc7273-sync", TRUE, NULL);
}

/* What it says that it is set to it is. */
GST_START_TEST (test_of_two_modes_at_a_time_the_last_one_holds)
{
  GstElement *element = gst_element_factory_make ("qmjitterbuffer", NULL);
  gint mode;
  gboolean sync;

  set_both (element, be_of_no_mode, be_synced);
  g_object_get (GST_BIN (element)->children->data, "mode", &mode, NULL);
  fail_unless_equals_int (mode, 4);
  set_both (element, follow_no_clock, follow_clock);
  g_object_get (GST_BIN (element)->children->data, "rfc7273-sync", &sync, NULL);
  fail_unless (sync);
  gst_object_unref (element);
}

GST_END_TEST;

static void
be_alone (GstElement * element)
{
  g_object_set (element, "sync-group", NULL, NULL);
}

static void
be_in_a_call (GstElement * element)
{
  g_object_set (element, "sync-group", "call", NULL);
}

GST_START_TEST (test_who_leaves_and_joins_at_a_time_is_in_the_group)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *elements[2];
  GstHarness *h[2];
  guint n;

  for (guint i = 0; i < 2; i++) {
    elements[i] = gst_element_factory_make ("qmjitterbuffer", NULL);
    gst_bin_add (GST_BIN (bin), elements[i]);
    g_object_set (elements[i], "memory-time", 0, "max-offset",
        (guint64) 10 * MS, NULL);
    set_both (elements[i], be_alone, be_in_a_call);
    h[i] = gst_harness_new_with_element (elements[i], "sink", "src");
    gst_harness_set_src_caps_str (h[i], CAPS);
  }
  for (n = 0; n < 40; n++) {
    pass (h[0], n, n == 20 ? 90 * MS : 0);
    pass (h[1], n, 0);
  }
  fail_unless (pass (h[1], n, 0) >= 70 * MS);
  gst_harness_teardown (h[0]);
  gst_harness_teardown (h[1]);
  gst_object_unref (bin);
}

GST_END_TEST;

/* --- how long the inner one waits for what is missing --- */

#define STEP (5 * (GstClockTimeDiff) MS)
#define N_GAPS 8

static struct
{
  GstHarness *h;
  guint n, n_gaps;              /* packets pushed; of those behind a gap, still to come */
  GstClockTimeDiff least, most;
  void (*set_property) (GObject * object, guint id, const GValue * value,
      GParamSpec * pspec);
} waits;

static GstClockTimeDiff
get_wait (GObject * inner)
{
  guint latency_ms;
  gint64 ts_offset;

  g_object_get (inner, "latency", &latency_ms, "ts-offset", &ts_offset, NULL);
  return latency_ms * (GstClockTimeDiff) MS + ts_offset;
}

/* Each time it is told another time, a packet comes behind one that is missing. */
static void
set_and_lose_one (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstClockTimeDiff wait;

  waits.set_property (object, id, value, pspec);
  if (!g_str_equal (pspec->name, "latency")
      && !g_str_equal (pspec->name, "ts-offset"))
    return;
  wait = get_wait (object);
  waits.least = MIN (waits.least, wait);
  waits.most = MAX (waits.most, wait);
  if (waits.n_gaps > 0) {
    waits.n_gaps--;
    waits.n += 2;
    push (waits.h, waits.n, 0);
  }
}

static void
watch_waits (GstHarness * h, GObject * inner)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (inner);

  waits.h = h;
  waits.least = waits.most = get_wait (inner);
  waits.set_property = klass->set_property;
  klass->set_property = set_and_lose_one;
}

static void
check_waits (GObject * inner, GstClockTimeDiff before)
{
  G_OBJECT_GET_CLASS (inner)->set_property = waits.set_property;
  fail_unless (waits.least >= 0);
  fail_unless (waits.most <= MAX (before, get_wait (inner)) + STEP);
}

static void
stop_and_start_adapting (GstElement * element)
{
  g_object_set (element, "adaptation", FALSE, NULL);
  g_object_set (element, "adaptation", TRUE, NULL);
}

static void
buffer_for_a_moment (GstElement * element)
{
  g_object_set (element, "mode", 2, NULL);
  g_object_set (element, "mode", 1, NULL);
}

static void
pause_for_a_moment (GstElement * element)
{
  guint64 last;

  g_signal_emit_by_name (element, "set-active", FALSE, (guint64) 0, &last);
  g_signal_emit_by_name (element, "set-active", TRUE, (guint64) 0, &last);
}

/* Below nothing it would take what comes for lost; and what is behind a gap is not to wait
 * for the latency of the whole. */
GST_START_TEST (test_its_wait_changes_without_a_moment_of_another)
{
  static void (*const change[]) (GstElement * element) = {
    stop_and_start_adapting, buffer_for_a_moment, pause_for_a_moment
  };
  GstHarness *h = harness_new ("qmjitterbuffer latency=150");
  GstElement *element = gst_harness_find_element (h, "qmjitterbuffer");
  GObject *inner = GST_BIN (element)->children->data;
  GstClockTimeDiff before;

  waits.n = 0;
  waits.n_gaps = N_GAPS;
  watch_waits (h, inner);
  push (h, 0, 0);
  for (guint i = 0; i <= N_GAPS; i++)
    pull_due (h, 2 * i);
  check_waits (inner, 0);
  fail_unless_equals_int (waits.n_gaps, 0);
  fail_unless_equals_uint64 (stat_of (h, "num-lost"), N_GAPS);

  before = MAX (get_wait (inner), 150 * (GstClockTimeDiff) MS);
  watch_waits (h, inner);
  change[__i__] (element);
  push (h, waits.n + 1, 0);
  pull_due (h, waits.n + 1);
  check_waits (inner, before);
  gst_object_unref (element);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_threads_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-threads");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_blocked_pad_does_not_hold_up_the_stop);
  tcase_add_test (tc, test_a_flush_starts_nothing_in_what_stops);
  tcase_add_test (tc, test_a_stop_under_load_refuses_what_comes);
  tcase_add_test (tc, test_what_is_lost_at_the_start_holds_up_none);
  tcase_add_test (tc, test_of_two_modes_at_a_time_the_last_one_holds);
  tcase_add_test (tc, test_who_leaves_and_joins_at_a_time_is_in_the_group);

  tc = tcase_create ("how long the inner one waits for what is missing");
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_its_wait_changes_without_a_moment_of_another,
      0, 3);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_threads);
