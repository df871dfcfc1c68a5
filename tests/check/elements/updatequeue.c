/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "queuecheck.h"

/* A harness whose consumer is slow: it takes one buffer and then nothing until
 * it is let go on */
typedef struct
{
  GstHarness *h;
  GstPad *src;
  gulong probe;
  GMutex lock;
  GCond cond;
  gboolean holding;
} Rig;

static GstPadProbeReturn
hold (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user)
{
  Rig *rig = user;

  g_mutex_lock (&rig->lock);
  rig->holding = TRUE;
  g_cond_signal (&rig->cond);
  g_mutex_unlock (&rig->lock);
  return GST_PAD_PROBE_OK;
}

static GstBuffer *
make_buffer (const gchar * text)
{
  return gst_buffer_new_memdup (text, strlen (text) + 1);
}

static void
push (Rig * rig, const gchar * text)
{
  fail_unless_equals_int (gst_harness_push (rig->h, make_buffer (text)),
      GST_FLOW_OK);
}

/* The consumer takes @buffer, and then nothing. */
static void
hold_with (Rig * rig, GstBuffer * buffer)
{
  rig->holding = FALSE;
  rig->probe = gst_pad_add_probe (rig->src,
      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, hold, rig, NULL);
  gst_harness_push (rig->h, buffer);
  g_mutex_lock (&rig->lock);
  while (!rig->holding)
    g_cond_wait (&rig->cond, &rig->lock);
  g_mutex_unlock (&rig->lock);
}

static void
rig_init (Rig * rig, const gchar * launch)
{
  rig->h = gst_harness_new_parse (launch);
  g_mutex_init (&rig->lock);
  g_cond_init (&rig->cond);
  gst_harness_set_src_caps_str (rig->h, "application/x-test");
  rig->src = gst_pad_get_peer (rig->h->sinkpad);
  hold_with (rig, make_buffer ("-0"));
}

/* The consumer goes on, and is idle. */
static void
let_go (Rig * rig)
{
  gst_pad_remove_probe (rig->src, rig->probe);
  gst_buffer_unref (gst_harness_pull (rig->h));
}

/* Lets the consumer go on; returns what it then gets, all in one string */
static gchar *
rig_finish (Rig * rig, guint n_buffers)
{
  GString *served = g_string_new (NULL);

  gst_pad_remove_probe (rig->src, rig->probe);
  for (guint i = 0; i < n_buffers + 1; i++) {
    GstBuffer *buffer = gst_harness_pull (rig->h);
    GstMapInfo map;

    fail_unless (buffer != NULL);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    if (i > 0)
      g_string_append_printf (served, "%s%s", i > 1 ? " " : "",
          (const gchar *) map.data);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_object_unref (rig->src);
  gst_harness_push_event (rig->h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig->h), 0);
  gst_harness_teardown (rig->h);
  g_mutex_clear (&rig->lock);
  g_cond_clear (&rig->cond);
  return g_string_free (served, FALSE);
}

static void
expect_served (const gchar * launch, const gchar * pushed,
    const gchar * expected)
{
  gchar **texts = g_strsplit (pushed, " ", -1);
  gchar **served = g_strsplit (expected, " ", -1), *got;
  Rig rig;

  rig_init (&rig, launch);
  for (guint i = 0; texts[i] != NULL; i++)
    push (&rig, texts[i]);
  got = rig_finish (&rig, g_strv_length (served));
  fail_unless_equals_string (got, expected);
  g_free (got);
  g_strfreev (texts);
  g_strfreev (served);
}

GST_START_TEST (test_newer_buffers_replace_older_ones)
{
  expect_served ("updatequeue", "a1 b1 c1", "a1 b1 c1");
  expect_served ("updatequeue", "a1 b1 c1 a2 b2 b3", "c1 a2 b3");
  expect_served ("updatequeue mode=in-place", "a1 b1 c1 a2 b2 b3", "a2 b3 c1");
}

GST_END_TEST;

GST_START_TEST (test_the_key_is_where_it_is_said_to_be)
{
  expect_served ("updatequeue key-offset=1 key-size=2", "1xy 2xz 3xy",
      "2xz 3xy");
  expect_served ("updatequeue key-size=0", "a b c d", "d");
  /* too short for a key: never replaced, never lost */
  expect_served ("updatequeue key-offset=2 key-size=2", "1 1 123 223",
      "1 1 223");
}

GST_END_TEST;

static GstBuffer *
make_rtp (guint pt, const gchar * payload, gboolean csrc)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer =
      gst_rtp_buffer_new_allocate (strlen (payload), 0, csrc ? 1 : 0);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, pt);
  memcpy (gst_rtp_buffer_get_payload (&rtp), payload, strlen (payload));
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static guint64
stat_of (GstHarness * h, const gchar * field)
{
  GstElement *e = gst_harness_find_element (h, "updatequeue");
  guint64 value = (guint64) element_stat (e, field);

  gst_object_unref (e);
  return value;
}

static void
expect_replaced (const gchar * launch, guint n_replaced)
{
  Rig rig;

  rig_init (&rig, launch);
  let_go (&rig);
  gst_harness_set_src_caps_str (rig.h, "application/x-rtp");
  hold_with (&rig, make_rtp (96, "zz", FALSE));
  gst_harness_push (rig.h, make_rtp (96, "a1", FALSE));
  gst_harness_push (rig.h, make_rtp (96, "a2", TRUE));
  gst_harness_push (rig.h, make_rtp (97, "a3", FALSE));
  gst_harness_push (rig.h, make_rtp (97, "b1", FALSE));
  gst_harness_push (rig.h, make_rtp (97, "c1", FALSE));
  push (&rig, "no RTP");
  push (&rig, "no RTP");
  fail_unless_equals_uint64 (stat_of (rig.h, "replaced"), n_replaced);
  g_free (rig_finish (&rig, 7 - n_replaced));
}

GST_START_TEST (test_it_holds_no_more_than_its_size)
{
  Rig rig;

  rig_init (&rig, "updatequeue max-size=2");
  push (&rig, "a1");
  push (&rig, "b1");
  push (&rig, "c1");
  push (&rig, "c2");
  fail_unless_equals_uint64 (stat_of (rig.h, "overflowed"), 1);
  fail_unless_equals_uint64 (stat_of (rig.h, "replaced"), 1);
  g_free (rig_finish (&rig, 2));
  expect_served ("updatequeue max-size=2", "a1 b1 c1 c2", "b1 c2");
}

GST_END_TEST;

GST_START_TEST (test_keys_of_rtp_are_in_the_payload_or_its_type)
{
  expect_replaced ("updatequeue", 2);
  expect_replaced ("updatequeue key=payload-type", 3);
  expect_replaced ("updatequeue key-size=2", 0);
}

GST_END_TEST;

/* Events keep their place: nothing is replaced across them. */
GST_START_TEST (test_events_wait_for_the_buffers_before_them)
{
  GstHarness *h = gst_harness_new_parse ("updatequeue");
  GstEvent *event;

  gst_harness_set_src_caps_str (h, "application/x-test");
  for (guint i = 0; i < 100; i++) {
    gst_harness_push (h, make_buffer ("a"));
    gst_harness_push_event (h, gst_event_new_custom
        (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("mark")));
    /* when the event is through, so is the buffer */
    fail_unless_equals_int (gst_harness_buffers_received (h), i + 1);
  }
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_flush_empties_and_goes_on)
{
  Rig rig;
  GstSegment segment;

  rig_init (&rig, "updatequeue");
  push (&rig, "a1");
  push (&rig, "b1");
  fail_unless (gst_harness_push_event (rig.h, gst_event_new_flush_start ()));
  gst_pad_remove_probe (rig.src, rig.probe);
  fail_unless (gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  while (gst_harness_buffers_in_queue (rig.h) > 0)
    gst_buffer_unref (gst_harness_pull (rig.h));
  push (&rig, "c1");
  gst_buffer_unref (gst_harness_pull (rig.h));
  gst_object_unref (rig.src);
  gst_harness_teardown (rig.h);
  g_mutex_clear (&rig.lock);
  g_cond_clear (&rig.cond);
}

GST_END_TEST;

GST_START_TEST (test_shutting_down_frees_what_waits)
{
  Rig rig;

  rig_init (&rig, "updatequeue");
  push (&rig, "a1");
  push (&rig, "b1");
  gst_object_unref (rig.src);
  gst_harness_teardown (rig.h);
  g_mutex_clear (&rig.lock);
  g_cond_clear (&rig.cond);
}

GST_END_TEST;

static void
note_gone (gpointer gone, GstMiniObject * object)
{
  *(gboolean *) gone = TRUE;
}

GST_START_TEST (test_another_size_frees_what_waits)
{
  GstBuffer *buffer = make_buffer ("a1");
  gboolean gone = FALSE;
  Rig rig;

  rig_init (&rig, "updatequeue");
  gst_mini_object_weak_ref (GST_MINI_OBJECT (buffer), note_gone, &gone);
  gst_harness_push (rig.h, buffer);
  gst_harness_set (rig.h, "updatequeue", "max-size", 2, NULL);
  fail_unless (gone);
  g_free (rig_finish (&rig, 0));
}

GST_END_TEST;

/* else a sink warns that it needs a queue */
GST_START_TEST (test_it_can_hold_back_what_is_live_for_any_time)
{
  GstHarness *h = gst_harness_new ("updatequeue");

  queue_be_live (h);
  queue_expect_latency (h, 10 * GST_MSECOND, GST_CLOCK_TIME_NONE);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* As with a queue: what comes when there is somebody again is theirs. */
GST_START_TEST (test_it_goes_on_when_it_is_linked_again)
{
  GstHarness *h = gst_harness_new ("updatequeue");
  GstPad *src = gst_pad_get_peer (h->sinkpad);

  gst_harness_set_src_caps_str (h, "application/x-test");
  gst_harness_push (h, make_buffer ("a1"));
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (gst_pad_unlink (src, h->sinkpad));
  queue_push_until (h, make_buffer ("a2"), GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (src, h->sinkpad), GST_PAD_LINK_OK);
  fail_unless_equals_int (gst_harness_push (h, make_buffer ("a3")),
      GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  gst_object_unref (src);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_that_ends_late_starts_nothing)
{
  GstElement *element = gst_element_factory_make ("updatequeue", NULL);

  queue_end_flush_late (element, gst_element_get_static_pad (element, "sink"));
}

GST_END_TEST;

/* Whoever closes the sink pad alone may open it again. */
GST_START_TEST (test_it_goes_on_when_its_sink_pad_is_opened_again)
{
  GstHarness *h = gst_harness_new ("updatequeue");
  GstPad *sink = gst_pad_get_peer (h->srcpad);

  gst_harness_set_src_caps_str (h, "application/x-test");
  gst_pad_set_active (sink, FALSE);
  gst_pad_set_active (sink, TRUE);
  gst_harness_push_event (h, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps_str (h, "application/x-test");
  fail_unless_equals_int (gst_harness_push (h, make_buffer ("a1")),
      GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  gst_object_unref (sink);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* RTP of before does not tell what comes now, which has no caps. */
GST_START_TEST (test_what_comes_without_caps_is_no_rtp)
{
  GstSegment segment;
  Rig rig;

  rig_init (&rig, "updatequeue");
  let_go (&rig);
  gst_harness_set_src_caps_str (rig.h, "application/x-rtp");
  gst_pad_set_active (rig.h->srcpad, FALSE);
  gst_element_set_state (rig.h->element, GST_STATE_READY);
  gst_element_set_state (rig.h->element, GST_STATE_PLAYING);
  gst_pad_set_active (rig.h->srcpad, TRUE);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_stream_start ("again"));
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  hold_with (&rig, make_buffer ("-1"));
  push (&rig, "a1");
  push (&rig, "a2");
  fail_unless_equals_uint64 (stat_of (rig.h, "replaced"), 1);
  g_free (rig_finish (&rig, 1));
}

GST_END_TEST;

/* Whoever had enough of a segment is there for the next one, and for another stream. */
GST_START_TEST (test_after_an_end_downstream_there_may_be_another_beginning)
{
  GstHarness *h = gst_harness_new ("updatequeue");

  gst_harness_set_src_caps_str (h, "application/x-test");
  queue_end_and_begin (h, make_buffer ("a1"),
      __i__ == 0 ? "application/x-test" : NULL);
  fail_unless_equals_int (gst_harness_push (h, make_buffer ("a1")),
      GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstBusSyncReply
ask_for_level (GstBus * bus G_GNUC_UNUSED, GstMessage * message, gpointer user)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_STREAM_STATUS) {
    GstElement *element = GST_ELEMENT (GST_MESSAGE_SRC (message)->parent);

    fail_unless_equals_int ((gint) element_stat (element, "level"), 0);
    g_atomic_int_inc ((gint *) user);
  }
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* As applications do that give threads a priority. */
GST_START_TEST (test_who_hears_of_its_thread_may_ask_it)
{
  GstElement *element = gst_element_factory_make ("updatequeue", NULL);
  GstBus *bus = gst_bus_new ();
  guint n_asked = 0;

  gst_element_set_bus (element, bus);
  gst_bus_set_sync_handler (bus, ask_for_level, &n_asked, NULL);
  for (guint i = 0; i < 2; i++) {
    gst_element_set_state (element, GST_STATE_PLAYING);
    gst_element_set_state (element, GST_STATE_NULL);
  }
  fail_unless (n_asked >= 2);
  gst_object_unref (element);
  gst_object_unref (bus);
}

GST_END_TEST;

static Suite *
updatequeue_suite (void)
{
  Suite *s = suite_create ("updatequeue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_newer_buffers_replace_older_ones);
  tcase_add_test (tc, test_the_key_is_where_it_is_said_to_be);
  tcase_add_test (tc, test_it_holds_no_more_than_its_size);
  tcase_add_test (tc, test_keys_of_rtp_are_in_the_payload_or_its_type);
  tcase_add_test (tc, test_events_wait_for_the_buffers_before_them);
  tcase_add_test (tc, test_flush_empties_and_goes_on);
  tcase_add_test (tc, test_shutting_down_frees_what_waits);
  tcase_add_test (tc, test_another_size_frees_what_waits);
  tcase_add_test (tc, test_it_can_hold_back_what_is_live_for_any_time);
  tcase_add_test (tc, test_it_goes_on_when_it_is_linked_again);
  tcase_add_test (tc, test_a_flush_that_ends_late_starts_nothing);
  tcase_add_test (tc, test_it_goes_on_when_its_sink_pad_is_opened_again);
  tcase_add_test (tc, test_who_hears_of_its_thread_may_ask_it);
  tcase_add_test (tc, test_what_comes_without_caps_is_no_rtp);
  tcase_add_loop_test (tc,
      test_after_an_end_downstream_there_may_be_another_beginning, 0, 2);
  return s;
}

GST_CHECK_MAIN (updatequeue);
