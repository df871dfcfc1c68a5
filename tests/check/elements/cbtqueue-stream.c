/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cbtqueue as an element among others: events, flushes, pads that come and go,
 * latency, messages. */
#include "queuecheck.h"

static GstBuffer *
numbered (guint64 number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 97, NULL);

  GST_BUFFER_OFFSET (buffer) = number;
  return buffer;
}

static guint64
pull_number (GstHarness * h)
{
  GstBuffer *buffer = gst_harness_pull (h);
  guint64 number;

  fail_unless (buffer != NULL);
  number = GST_BUFFER_OFFSET (buffer);
  gst_buffer_unref (buffer);
  return number;
}

GST_START_TEST (test_each_packet_comes_after_its_caps)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-b");
  for (guint i = 0; i < 20; i++) {
    GstHarness *from = i % 4 < 2 ? a : b;
    GstCaps *caps;

    gst_harness_push (from, numbered (i));
    fail_unless_equals_uint64 (pull_number (a), i);
    caps = gst_pad_get_current_caps (a->sinkpad);
    fail_unless_equals_string (gst_structure_get_name (gst_caps_get_structure
            (caps, 0)), from == a ? "application/x-a" : "application/x-b");
    gst_caps_unref (caps);
  }
  /* one stream, and caps only where they change */
  fail_unless_equals_int (gst_harness_events_received (a), 1 + 10 + 1);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

GST_START_TEST (test_it_ends_when_all_pads_have)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-a");
  gst_harness_push_event (a, gst_event_new_eos ());
  gst_harness_push (b, numbered (7));
  fail_unless_equals_uint64 (pull_number (a), 7);
  gst_harness_push_event (b, gst_event_new_eos ());
  gst_event_unref (queue_pull_event (a, GST_EVENT_EOS));
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

GST_START_TEST (test_a_pad_that_goes_is_not_waited_for)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GstPad *pad = gst_element_get_static_pad (a->element, "sink_1");

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-a");
  gst_harness_push (a, numbered (7));
  fail_unless_equals_uint64 (pull_number (a), 7);
  gst_harness_push_event (a, gst_event_new_eos ());
  /* what waits of a pad goes with it: once that has come, so has the end */
  gst_harness_push (b, numbered (8));
  fail_unless_equals_uint64 (pull_number (a), 8);
  gst_element_release_request_pad (a->element, pad);
  gst_event_unref (queue_pull_event (a, GST_EVENT_EOS));
  gst_object_unref (pad);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

/* Who comes, or begins anew, after the end of all is heard. */
GST_START_TEST (test_after_the_end_there_may_be_another_beginning)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b;
  GstPad *pad;

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_push (a, numbered (1));
  fail_unless_equals_uint64 (pull_number (a), 1);
  gst_harness_push_event (a, gst_event_new_eos ());
  gst_event_unref (queue_pull_event (a, GST_EVENT_EOS));
  gst_harness_push_event (a, gst_event_new_stream_start ("another"));
  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_push (a, numbered (2));
  fail_unless_equals_uint64 (pull_number (a), 2);

  pad = gst_element_get_static_pad (a->element, "sink_0");
  gst_element_release_request_pad (a->element, pad);
  gst_object_unref (pad);
  b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  gst_harness_set_src_caps_str (b, "application/x-a");
  gst_harness_push (b, numbered (3));
  fail_unless_equals_uint64 (pull_number (a), 3);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

/* As with a queue: who sends is told that nobody is there, and that is no error of the
 * pipeline's; when there is somebody again it goes on. */
GST_START_TEST (test_it_goes_on_when_it_is_linked_again)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstPad *src = gst_pad_get_peer (h->sinkpad);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "application/x-a");
  gst_harness_push (h, numbered (1));
  fail_unless_equals_uint64 (pull_number (h), 1);
  fail_unless (gst_pad_unlink (src, h->sinkpad));
  queue_push_until (h, numbered (2), GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (src, h->sinkpad), GST_PAD_LINK_OK);
  fail_unless_equals_int (gst_harness_push (h, numbered (3)), GST_FLOW_OK);
  while (pull_number (h) != 3);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_object_unref (src);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* What waited when nobody took it is of no use later. */
GST_START_TEST (test_who_is_linked_again_gets_what_comes_then)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstPad *src = gst_pad_get_peer (h->sinkpad);
  GstTestClock *clock = queue_use_slow_link (h);

  gst_harness_set_src_caps_str (h, "application/x-a");
  queue_push_on_link (h, clock, numbered (0));
  for (guint i = 1; i < 5; i++)
    gst_harness_push (h, numbered (i));
  fail_unless (gst_pad_unlink (src, h->sinkpad));
  queue_let_pass (clock);
  queue_push_until (h, numbered (5), GST_FLOW_NOT_LINKED);
  fail_unless_equals_int (gst_pad_link (src, h->sinkpad), GST_PAD_LINK_OK);
  fail_unless_equals_int (gst_harness_push (h, numbered (6)), GST_FLOW_OK);
  queue_let_pass (clock);
  fail_unless_equals_uint64 (pull_number (h), 6);
  gst_object_unref (clock);
  gst_object_unref (src);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_empties_its_pad_only)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GstTestClock *clock = queue_use_slow_link (a);
  GstSegment segment;

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-a");
  queue_push_on_link (a, clock, numbered (0));
  gst_harness_push (a, numbered (1));
  gst_harness_push (b, numbered (100));
  gst_harness_push_event (a, gst_event_new_flush_start ());
  fail_unless_equals_int (gst_harness_push (b, numbered (101)), GST_FLOW_OK);
  gst_harness_push_event (a, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (a, gst_event_new_segment (&segment));
  gst_harness_push (a, numbered (2));
  for (guint i = 0; i < 3; i++) {
    static const guint64 expected[] = { 100, 101, 2 };

    queue_let_pass (clock);
    fail_unless_equals_uint64 (pull_number (a), expected[i]);
  }
  gst_object_unref (clock);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

GST_START_TEST (test_a_pad_released_while_it_flushes_blocks_nobody)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GstPad *pad = gst_element_get_static_pad (a->element, "sink_1");

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-a");
  gst_harness_push_event (b, gst_event_new_flush_start ());
  gst_element_release_request_pad (a->element, pad);
  gst_object_unref (pad);
  fail_unless_equals_int (gst_harness_push (a, numbered (3)), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_number (a), 3);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

/* Each packet of a list is a packet. */
GST_START_TEST (test_lists_are_taken_apart)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstBufferList *list = gst_buffer_list_new ();
  GstTestClock *clock = queue_use_slow_link (h);

  gst_harness_set_src_caps_str (h, "application/x-a");
  for (guint i = 0; i < 3; i++)
    gst_buffer_list_add (list, numbered (i));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  for (guint i = 0; i < 3; i++) {
    queue_let_pass (clock);
    fail_unless_equals_uint64 (pull_number (h), i);
    fail_unless_equals_uint64 (gst_clock_get_time (GST_CLOCK (clock)),
        (i + 1) * 10 * GST_MSECOND);
  }
  gst_object_unref (clock);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* 1500 bytes are 12 ms at 1 Mbit/s: one packet that is being sent, and what may
 * wait in front of it */
GST_START_TEST (test_latency_is_what_a_full_queue_takes)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");

  queue_be_live (h);
  queue_expect_latency (h, 10 * GST_MSECOND, GST_CLOCK_TIME_NONE);
  g_object_set (h->element, "bitrate", 1000000, NULL);
  queue_expect_latency (h, (10 + 121 * 12) * GST_MSECOND,
      (20 + 121 * 12) * GST_MSECOND);
  g_object_set (h->element, "max-size-bytes", 15000, NULL);
  queue_expect_latency (h, (10 + 11 * 12) * GST_MSECOND,
      (20 + 11 * 12) * GST_MSECOND);
  g_object_set (h->element, "max-size-time", 24 * GST_MSECOND, NULL);
  queue_expect_latency (h, (10 + 36) * GST_MSECOND, (20 + 36) * GST_MSECOND);
  g_object_set (h->element, "max-size-buffers", 0, NULL);
  queue_expect_latency (h, (10 + 36) * GST_MSECOND, (20 + 36) * GST_MSECOND);
  g_object_set (h->element, "max-size-bytes", 0, "max-size-time",
      G_GUINT64_CONSTANT (0), NULL);
  queue_expect_latency (h, 10 * GST_MSECOND, GST_CLOCK_TIME_NONE);
  gst_harness_teardown (h);
}

GST_END_TEST;

static guint64
level_bytes (GstHarness * h)
{
  GstStructure *stats;
  guint64 level = G_MAXUINT64;

  g_object_get (h->element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "level-bytes", &level);
  gst_structure_free (stats);
  return level;
}

GST_START_TEST (test_downstreams_refusal_reaches_upstream)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstFlowReturn flow = GST_FLOW_OK;

  gst_harness_set_src_caps_str (h, "application/x-a");
  gst_pad_set_active (h->sinkpad, FALSE);
  for (guint i = 0; flow == GST_FLOW_OK; i++) {
    flow = gst_harness_push (h, numbered (i));
    g_thread_yield ();
  }
  fail_unless_equals_int (flow, GST_FLOW_FLUSHING);
  fail_unless_equals_uint64 (level_bytes (h), 0);       /* nor does it wait */
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_that_ends_late_starts_nothing)
{
  GstElement *element = gst_element_factory_make ("cbtqueue", NULL);

  queue_end_flush_late (element,
      gst_element_request_pad_simple (element, "sink_0"));
}

GST_END_TEST;

static gchar *
next_drop_message (GstBus * bus)
{
  gchar *text = NULL;
  GstMessage *message;

  while (text == NULL
      && (message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);

    if (gst_structure_has_name (s, "fairmix-queue-drops"))
      text = g_strdup_printf ("%s %s %s",
          gst_structure_get_string (s, "event"),
          gst_structure_get_string (s, "pad"),
          gst_structure_get_string (s, "class"));
    gst_message_unref (message);
  }
  return text;
}

/* Half a packet too many, each 10 ms, for five seconds */
GST_START_TEST (test_losses_that_last_are_told_once)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstBus *bus = gst_bus_new ();
  GstTestClock *clock = queue_use_slow_link (h);
  gchar *text;

  gst_element_set_bus (h->element, bus);
  g_object_set (h->element, "max-size-buffers", 5, NULL);
  gst_util_set_object_arg (G_OBJECT (h->element), "discipline", "fifo");
  gst_harness_set_src_caps_str (h, "application/x-a");
  for (guint i = 0; i < 1000; i++) {
    gst_harness_push (h, numbered (i));
    if (i < 500 && i % 2 == 0)
      gst_harness_push (h, numbered (i));
    queue_let_pass (clock);
    pull_number (h);
  }
  text = next_drop_message (bus);
  fail_unless_equals_string (text, "began sink_0 other");
  g_free (text);
  text = next_drop_message (bus);
  fail_unless_equals_string (text, "ended sink_0 other");
  g_free (text);
  fail_unless (next_drop_message (bus) == NULL);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_object_unref (clock);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- everything at once, from everywhere --- */

static GstBuffer *
any_packet (void)
{
  return gst_buffer_new_allocate (NULL, 97, NULL);
}

static gpointer
push_many (gpointer user)
{
  GstHarness *h = user;

  for (guint i = 0; i < 3000; i++)
    gst_harness_push (h, any_packet ());
  return NULL;
}

static gpointer
set_anything (gpointer user)
{
  static const gchar *const disciplines[] = { "fifo", "red", "cbt" };
  GObject *queue = user;

  for (guint i = 0; i < 600; i++) {
    GstStructure *stats;

    gst_util_set_object_arg (queue, "discipline", disciplines[i % 3]);
    g_object_set (queue, "bitrate", i % 5 == 0 ? 0 : 1000000000,
        "max-size-buffers", i % 7, "max-size-time", (guint64) i * i,
        "red-min", 1.0 + i, "red-max", 2.0, NULL);
    g_object_get (queue, "stats", &stats, NULL);
    gst_structure_free (stats);
  }
  return NULL;
}

static gpointer
come_and_go (gpointer user)
{
  GstElement *queue = user;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  for (guint i = 0; i < 200; i++) {
    GstPad *pad = gst_element_request_pad_simple (queue, "sink_%u");

    gst_util_set_object_arg (G_OBJECT (pad), "class", "tcp");
    gst_pad_send_event (pad, gst_event_new_stream_start ("x"));
    gst_pad_send_event (pad, gst_event_new_segment (&segment));
    if (i % 3 == 0)
      gst_pad_send_event (pad, gst_event_new_flush_start ());
    else
      gst_pad_chain (pad, any_packet ());
    gst_element_release_request_pad (queue, pad);
    gst_object_unref (pad);
  }
  return NULL;
}

GST_START_TEST (test_anything_may_happen_at_any_time)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GThread *threads[4];

  gst_harness_set_drop_buffers (a, TRUE);
  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-b");
  threads[0] = g_thread_new ("a", push_many, a);
  threads[1] = g_thread_new ("b", push_many, b);
  threads[2] = g_thread_new ("set", set_anything, a->element);
  threads[3] = g_thread_new ("pads", come_and_go, a->element);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  fail_unless_equals_int (a->element->numsinkpads, 2);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

static Suite *
cbtqueue_stream_suite (void)
{
  Suite *s = suite_create ("cbtqueue-stream");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_each_packet_comes_after_its_caps);
  tcase_add_test (tc, test_it_ends_when_all_pads_have);
  tcase_add_test (tc, test_a_pad_that_goes_is_not_waited_for);
  tcase_add_test (tc, test_after_the_end_there_may_be_another_beginning);
  tcase_add_test (tc, test_it_goes_on_when_it_is_linked_again);
  tcase_add_test (tc, test_who_is_linked_again_gets_what_comes_then);
  tcase_add_test (tc, test_a_flush_empties_its_pad_only);
  tcase_add_test (tc, test_a_pad_released_while_it_flushes_blocks_nobody);
  tcase_add_test (tc, test_lists_are_taken_apart);
  tcase_add_test (tc, test_latency_is_what_a_full_queue_takes);
  tcase_add_test (tc, test_downstreams_refusal_reaches_upstream);
  tcase_add_test (tc, test_a_flush_that_ends_late_starts_nothing);
  tcase_add_test (tc, test_losses_that_last_are_told_once);
  tcase_add_test (tc, test_anything_may_happen_at_any_time);
  return s;
}

GST_CHECK_MAIN (cbtqueue_stream);
