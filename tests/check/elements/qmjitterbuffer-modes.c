/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mode buffer begins and ends while packets come. */

#include "qmjitterbuffercheck.h"

#define LATENCY_MS 100u
#define N_FEW 3                 /* fill it to less than a half */
#define N_WATCHED 20
#define MODE_NONE 0
#define MODE_SLAVE 1
#define MODE_BUFFER 2
#define MODE_SYNCED 4

static const gint other_modes[] = { MODE_NONE, MODE_SLAVE, MODE_SYNCED };

static GstHarness *
mode_harness_new (gint mode, gboolean adaptation)
{
  GstHarness *h = gst_harness_new ("qmjitterbuffer");
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  g_object_set (h->element, "mode", mode, "latency", LATENCY_MS, "adaptation",
      adaptation, NULL);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

/* Takes packet @n, until which time passes if it has to */
static void
play (GstHarness * h, guint n)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  gint64 end_us = g_get_monotonic_time () + PULL_US;
  GstBuffer *buffer;
  GstClockID id;

  while ((buffer = gst_harness_try_pull (h)) == NULL) {
    if (gst_test_clock_peek_next_pending_id (clock, &id)) {
      gst_test_clock_set_time (clock, MAX (gst_clock_id_get_time (id),
              gst_clock_get_time (GST_CLOCK (clock))));
      gst_clock_id_unref (id);
      id = gst_test_clock_process_next_clock_id (clock);
      g_clear_pointer (&id, gst_clock_id_unref);
    }
    fail_if (g_get_monotonic_time () > end_us, "packet %u does not come", n);
    g_thread_yield ();
  }
  gst_object_unref (clock);
  fail_unless_equals_int (number_of (buffer), n);
  gst_buffer_unref (buffer);
}

static void
set_mode (GstHarness * h, gint mode)
{
  g_object_set (h->element, "mode", mode, NULL);
}

/* Returns: how full it last said it is */
static gint
last_percent (GstHarness * h)
{
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;
  gint percent = -1;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_BUFFERING))) {
    fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (h->element));
    gst_message_parse_buffering (message, &percent);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return percent;
}

/* Waits until it says that nobody need wait. */
static void
wait_until_full (GstHarness * h)
{
  gint64 end_us = g_get_monotonic_time () + PULL_US;

  while (last_percent (h) != 100) {
    fail_if (g_get_monotonic_time () > end_us);
    g_thread_yield ();
  }
}

/* @n more, which are held back */
static void
buffer_a_few (GstHarness * h, guint from)
{
  gint percent;

  for (guint n = from; n < from + N_FEW; n++)
    push (h, n, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  percent = last_percent (h);
  fail_unless (percent >= 0 && percent < 50, "%d percent", percent);
}

/* They come through, whatever was before. */
static void
let_flow (GstHarness * h, guint from)
{
  for (guint n = from; n < from + N_WATCHED; n++) {
    push (h, n, 0);
    play (h, n);
  }
}

/* Whoever leaves mode buffer wants what is in it to be played. */
GST_START_TEST (test_what_is_buffered_is_played_in_another_mode)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, __i__ % 2 == 0);

  buffer_a_few (h, 0);
  set_mode (h, other_modes[__i__ / 2]);
  for (guint n = 0; n < N_FEW; n++)
    play (h, n);
  wait_until_full (h);
  let_flow (h, N_FEW);
  fail_unless_equals_int (last_percent (h), -1);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_it_buffers_once_more)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, TRUE);
  guint n = 0;

  for (guint round = 0; round < 3; round++) {
    set_mode (h, MODE_BUFFER);
    buffer_a_few (h, n);
    set_mode (h, MODE_SLAVE);
    for (guint i = 0; i < N_FEW; i++)
      play (h, n++);
    wait_until_full (h);
    let_flow (h, n);
    n += N_WATCHED;
  }
  harness_free (h);
}

GST_END_TEST;

/* Nothing gets through to the inner one that could end its buffering. */
static void
stop (GstHarness * h)
{
  gst_element_set_state (h->element, GST_STATE_READY);
}

static void
start (GstHarness * h)
{
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (h, CAPS);
}

static void
begin_flush (GstHarness * h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
}

static void
end_flush (GstHarness * h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_flush_stop (FALSE));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static const struct
{
  void (*begin) (GstHarness * h);
  void (*end) (GstHarness * h);
} pauses[] = { {stop, start}, {begin_flush, end_flush} };

GST_START_TEST (test_a_mode_that_ended_before_the_start_holds_up_none)
{
  GstHarness *h = mode_harness_new (MODE_SLAVE, TRUE);

  let_flow (h, 0);
  set_mode (h, MODE_BUFFER);
  buffer_a_few (h, N_WATCHED);
  pauses[__i__].begin (h);
  set_mode (h, MODE_SLAVE);
  pauses[__i__].end (h);
  let_flow (h, N_WATCHED + N_FEW);
  wait_until_full (h);
  harness_free (h);
}

GST_END_TEST;

/* It stood still when the mode became another one, and forgets what it had. */
GST_START_TEST (test_a_mode_that_ended_before_the_stop_holds_up_none)
{
  GstHarness *h = mode_harness_new (MODE_SLAVE, TRUE);

  let_flow (h, 0);
  set_mode (h, MODE_BUFFER);
  buffer_a_few (h, N_WATCHED);
  gst_element_set_state (h->element, GST_STATE_PAUSED);
  set_mode (h, MODE_SLAVE);
  pauses[__i__].begin (h);
  pauses[__i__].end (h);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  let_flow (h, N_WATCHED + N_FEW);
  wait_until_full (h);
  harness_free (h);
}

GST_END_TEST;

/* As rtpbin does, for the sake of its other streams.
 * Returns: where it is */
static guint64
set_active (GstHarness * h, gboolean active)
{
  guint64 last;

  g_signal_emit_by_name (h->element, "set-active", active, (guint64) 0, &last);
  return last;
}

GST_START_TEST (test_whoever_is_paused_goes_on_in_any_mode)
{
  GstHarness *h = mode_harness_new (other_modes[__i__], TRUE);

  let_flow (h, 0);
  set_active (h, FALSE);
  push (h, N_WATCHED, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  set_active (h, TRUE);
  play (h, N_WATCHED);
  let_flow (h, N_WATCHED + 1);
  harness_free (h);
}

GST_END_TEST;

/* rtpbin had paused it until it is full. */
GST_START_TEST (test_whoever_is_paused_to_buffer_goes_on_in_another_mode)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, TRUE);

  buffer_a_few (h, 0);
  set_active (h, FALSE);
  set_mode (h, MODE_SLAVE);
  for (guint n = 0; n < N_FEW; n++)
    play (h, n);
  wait_until_full (h);
  let_flow (h, N_FEW);
  harness_free (h);
}

GST_END_TEST;

/* --- what comes just then --------------------------------------------- */

static struct
{
  GstHarness *h;                /* NULL: nothing any more */
  guint n_pushed;
  void (*set_property) (GObject * object, guint id, const GValue * value,
      GParamSpec * pspec);
} just_then;

static void
set_and_fill_up_to_latency (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  just_then.set_property (object, id, value, pspec);
  if (just_then.h != NULL && g_str_equal (pspec->name, "mode"))
    gst_harness_push_upstream_event (g_steal_pointer (&just_then.h),
        gst_event_new_latency (LATENCY_MS * MS));
}

GST_START_TEST (test_the_pipelines_latency_may_come_just_then)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, FALSE);
  GObjectClass *klass =
      G_OBJECT_GET_CLASS (GST_BIN (h->element)->children->data);

  buffer_a_few (h, 0);
  just_then.h = h;
  just_then.set_property = klass->set_property;
  klass->set_property = set_and_fill_up_to_latency;
  set_mode (h, MODE_SLAVE);
  klass->set_property = just_then.set_property;
  fail_unless (just_then.h == NULL);
  for (guint n = 0; n < N_FEW; n++)
    play (h, n);
  let_flow (h, N_FEW);
  harness_free (h);
}

GST_END_TEST;

/* The mode becomes another one just when it is said how full it is. */
static GstBusSyncReply
end_buffering (GstBus * bus, GstMessage * message, gpointer user_data)
{
  GstHarness *h = just_then.h;

  (void) bus;
  (void) user_data;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_BUFFERING || h == NULL)
    return GST_BUS_PASS;
  just_then.h = NULL;
  set_mode (h, MODE_SLAVE);
  for (guint n = 0; n < just_then.n_pushed; n++)
    play (h, n);
  let_flow (h, just_then.n_pushed);
  return GST_BUS_PASS;
}

/* Whoever waits until it is full is not told to wait by a message from before. */
GST_START_TEST (test_the_last_word_is_that_nobody_need_wait)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, TRUE);
  GstBus *bus = gst_element_get_bus (h->element);

  just_then.h = h;
  gst_bus_set_sync_handler (bus, end_buffering, NULL, NULL);
  just_then.n_pushed = 0;
  while (just_then.h != NULL && just_then.n_pushed < N_FEW)
    push (h, just_then.n_pushed++, 0);
  fail_unless (just_then.h == NULL);
  fail_unless_equals_int (last_percent (h), 100);
  gst_object_unref (bus);
  harness_free (h);
}

GST_END_TEST;

/* Whoever listens to latencies hears of none that lasts for a moment. */
GST_START_TEST (test_the_latency_stays)
{
  GstHarness *h = mode_harness_new (MODE_BUFFER, FALSE);
  GstBus *bus = gst_element_get_bus (h->element);

  buffer_a_few (h, 0);
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
  set_mode (h, MODE_NONE);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), LATENCY_MS * MS);
  gst_object_unref (bus);
  harness_free (h);
}

GST_END_TEST;

/* A query is in the inner one's queue, or about to be. */
static void
note_query (GstDebugCategory * category G_GNUC_UNUSED,
    GstDebugLevel level G_GNUC_UNUSED, const gchar * file G_GNUC_UNUSED,
    const gchar * function G_GNUC_UNUSED, gint line G_GNUC_UNUSED,
    GObject * object G_GNUC_UNUSED, GstDebugMessage * message,
    gpointer user_data)
{
  if (strstr (gst_debug_message_get (message), "serialized query") != NULL)
    g_atomic_int_set ((gint *) user_data, TRUE);
}

static gpointer
ask (gpointer user_data)
{
  GstHarness *h = user_data;
  GstQuery *query = gst_query_new_drain ();

  gst_pad_peer_query (h->srcpad, query);
  gst_query_unref (query);
  return NULL;
}

/* Whoever asks waits for what was before, and that for whoever asks to bring more. */
GST_START_TEST (test_a_query_is_answered_before_it_buffers)
{
  static gint asked;
  GstHarness *h = mode_harness_new (MODE_SLAVE, FALSE);
  GstElement *inner = GST_BIN (h->element)->children->data;
  GThread *thread;
  gint mode;

  let_flow (h, 0);
  push (h, N_WATCHED + 1, 0);   /* the one before is missing */
  gst_debug_add_log_function (note_query, &asked, NULL);
  gst_debug_set_threshold_for_name ("rtpjitterbuffer", GST_LEVEL_DEBUG);
  thread = g_thread_new ("asker", ask, h);
  while (!g_atomic_int_get (&asked))
    g_thread_yield ();
  set_mode (h, MODE_BUFFER);
  gst_debug_unset_threshold_for_name ("rtpjitterbuffer");
  gst_debug_remove_log_function (note_query);
  play (h, N_WATCHED + 1);
  g_thread_join (thread);
  g_object_get (inner, "mode", &mode, NULL);
  fail_unless_equals_int (mode, MODE_BUFFER);
  buffer_a_few (h, N_WATCHED + 2);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_modes_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-modes");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_what_is_buffered_is_played_in_another_mode, 0,
      2 * G_N_ELEMENTS (other_modes));
  tcase_add_test (tc, test_it_buffers_once_more);
  tcase_add_loop_test (tc,
      test_a_mode_that_ended_before_the_start_holds_up_none, 0,
      G_N_ELEMENTS (pauses));
  tcase_add_loop_test (tc,
      test_a_mode_that_ended_before_the_stop_holds_up_none, 0,
      G_N_ELEMENTS (pauses));
  tcase_add_loop_test (tc, test_whoever_is_paused_goes_on_in_any_mode, 0,
      G_N_ELEMENTS (other_modes));
  tcase_add_test (tc, test_whoever_is_paused_to_buffer_goes_on_in_another_mode);
  tcase_add_test (tc, test_the_pipelines_latency_may_come_just_then);
  tcase_add_test (tc, test_the_last_word_is_that_nobody_need_wait);
  tcase_add_test (tc, test_the_latency_stays);
  tcase_add_test (tc, test_a_query_is_answered_before_it_buffers);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_modes);
