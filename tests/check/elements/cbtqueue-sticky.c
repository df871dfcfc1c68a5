/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What cbtqueue keeps of what is said once: for as long as somebody needs it. */
#include "queuecheck.h"

#define N_EVENTS 5000

static GstEvent *
caps_event (const gchar * name)
{
  GstCaps *caps = gst_caps_new_empty_simple (name);
  GstEvent *event = gst_event_new_caps (caps);

  gst_caps_unref (caps);
  return event;
}

static guint16
rtp_packet_take_seq (GstHarness * h)
{
  GstBuffer *buffer = gst_harness_pull (h);
  guint16 seq = rtp_packet_seq (buffer);

  gst_buffer_unref (buffer);
  return seq;
}

static gboolean
has_caps (GstPad * pad, const gchar * name)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  gboolean same = caps != NULL
      && gst_structure_has_name (gst_caps_get_structure (caps, 0), name);

  gst_clear_caps (&caps);
  return same;
}

/* Who changes its caps and seeks at once does not tell them again. */
GST_START_TEST (test_caps_that_wait_outlive_a_flush)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstTestClock *clock = queue_use_slow_link (h);
  GstSegment segment;

  gst_harness_set_src_caps_str (h, "application/x-a");
  queue_push_on_link (h, clock, rtp_packet_new (1, 0, 100));
  gst_harness_push_event (h, caps_event ("application/x-b"));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, rtp_packet_new (1, 1, 100));
  queue_let_pass (clock);
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (has_caps (h->sinkpad, "application/x-b"));
  gst_object_unref (clock);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
count_gone (gpointer n_gone, GstMiniObject * object)
{
  g_atomic_int_inc ((gint *) n_gone);
}

/* What is said of a stream while nobody is linked is heard by who is then, and costs no
 * more memory the more often it is said. */
GST_START_TEST (test_the_last_word_waits_for_who_is_linked)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstPad *src = gst_pad_get_peer (h->sinkpad);
  gint n_gone = 0;

  gst_harness_set_src_caps_str (h, "application/x-a");
  gst_harness_push (h, rtp_packet_new (1, 0, 100));
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (gst_pad_unlink (src, h->sinkpad));
  queue_push_until (h, rtp_packet_new (1, 1, 100), GST_FLOW_NOT_LINKED);
  for (guint i = 0; i < N_EVENTS; i++) {
    GstEvent *caps =
        caps_event (i % 2 != 0 ? "application/x-b" : "application/x-c");
    GstEvent *tags =
        gst_event_new_tag (gst_tag_list_new (GST_TAG_BITRATE, i + 1,
            NULL));

    gst_mini_object_weak_ref (GST_MINI_OBJECT (caps), count_gone, &n_gone);
    gst_mini_object_weak_ref (GST_MINI_OBJECT (tags), count_gone, &n_gone);
    gst_harness_push_event (h, caps);
    gst_harness_push_event (h, tags);
  }
  fail_unless (g_atomic_int_get (&n_gone) >= 2 * N_EVENTS - 20, "%d are left",
      2 * N_EVENTS - g_atomic_int_get (&n_gone));
  fail_unless_equals_int (gst_pad_link (src, h->sinkpad), GST_PAD_LINK_OK);
  fail_unless_equals_int (gst_harness_push (h, rtp_packet_new (1, 2, 100)),
      GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (h));
  fail_unless (has_caps (h->sinkpad, "application/x-b"));
  gst_object_unref (src);
  gst_harness_teardown (h);
  fail_unless_equals_int (g_atomic_int_get (&n_gone), 2 * N_EVENTS);
}

GST_END_TEST;

/* A new stream begins with a tag.  @type: what of the one before must not be told with it */
static void
expect_tag_without (GstHarness * h, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (h, gst_event_new_stream_start ("another"));
  gst_harness_push_event (h,
      gst_event_new_tag (gst_tag_list_new (GST_TAG_BITRATE, 1, NULL)));
  while (GST_EVENT_TYPE (event = gst_harness_pull_event (h)) != GST_EVENT_TAG) {
    fail_unless (GST_EVENT_TYPE (event) != type);
    gst_event_unref (event);
  }
  gst_event_unref (event);
}

/* Nor does what was said before a stop or a flush belong to what comes after it. */
GST_START_TEST (test_what_was_said_ends_with_a_stop_or_a_flush)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");

  gst_harness_set_src_caps_str (h, "application/x-a");
  gst_harness_push (h, rtp_packet_new (1, 0, 100));
  gst_buffer_unref (gst_harness_pull (h));
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  expect_tag_without (h, GST_EVENT_SEGMENT);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_pad_set_active (h->srcpad, FALSE);        /* all are stopped */
  gst_pad_set_active (h->srcpad, TRUE);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  expect_tag_without (h, GST_EVENT_CAPS);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Somebody who seeks was linked meanwhile: whoever takes what the others send has heard
 * nothing of that, and must not forget what they said.  GStreamer warns of packets
 * without a segment. */
GST_START_TEST (test_a_flush_that_began_elsewhere_ends_for_its_pad_only)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GstSegment segment;
  GstEvent *event;

  gst_harness_set_src_caps_str (a, "application/x-a");
  gst_harness_set_src_caps_str (b, "application/x-a");
  gst_harness_push (a, rtp_packet_new (1, 0, 100));
  fail_unless_equals_int (rtp_packet_take_seq (a), 0);
  while ((event = gst_harness_try_pull_event (a)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (b, gst_event_new_flush_stop (TRUE));
  gst_harness_push (a, rtp_packet_new (1, 1, 100));
  fail_unless_equals_int (rtp_packet_take_seq (a), 1);
  fail_unless (gst_harness_try_pull_event (a) == NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (b, gst_event_new_segment (&segment));
  gst_harness_push (b, rtp_packet_new (2, 2, 100));
  fail_unless_equals_int (rtp_packet_take_seq (a), 2);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

/* Nor does what a pad said that is no more come of another one. */
GST_START_TEST (test_what_a_pad_said_goes_with_it)
{
  GstHarness *a = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstHarness *b = gst_harness_new_with_element (a->element, "sink_1", NULL);
  GstPad *pad = gst_element_get_static_pad (a->element, "sink_1");
  GstTestClock *clock = queue_use_slow_link (a);
  GstEvent *event;

  gst_harness_set_src_caps_str (a, "application/x-a");
  queue_push_on_link (a, clock, rtp_packet_new (1, 0, 100));
  gst_harness_set_src_caps_str (b, "application/x-b");
  gst_harness_push_event (b, gst_event_new_tag (gst_tag_list_new
          (GST_TAG_TITLE, "b", NULL)));
  gst_element_release_request_pad (a->element, pad);
  gst_object_unref (pad);
  gst_test_clock_crank (clock);
  gst_buffer_unref (gst_harness_pull (a));
  gst_harness_push (a, rtp_packet_new (1, 1, 100));
  queue_let_pass (clock);
  gst_buffer_unref (gst_harness_pull (a));
  while ((event = gst_harness_try_pull_event (a)) != NULL) {
    fail_if (GST_EVENT_TYPE (event) == GST_EVENT_TAG);
    gst_event_unref (event);
  }
  gst_object_unref (clock);
  gst_harness_teardown (b);
  gst_harness_teardown (a);
}

GST_END_TEST;

/* Whoever had enough of a segment is there for the next one, and for another stream. */
GST_START_TEST (test_after_an_end_downstream_there_may_be_another_beginning)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  const gchar *caps = __i__ == 0 ? "application/x-b" : NULL;

  gst_harness_set_src_caps_str (h, "application/x-a");
  queue_end_and_begin (h, rtp_packet_new (1, 0, 100), caps);
  fail_unless_equals_int (gst_harness_push (h, rtp_packet_new (1, 1, 100)),
      GST_FLOW_OK);
  while (rtp_packet_take_seq (h) != 1);
  fail_unless (has_caps (h->sinkpad, caps != NULL ? caps : "application/x-a"));
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstPadChainFunction take_again;

static GstFlowReturn
end_and_take (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  gst_pad_set_chain_function (pad, take_again);
  gst_buffer_unref (buffer);
  return GST_FLOW_EOS;
}

/* ... which may wait already: no packet from before comes into it. */
GST_START_TEST (test_what_waits_of_a_segment_ends_with_it)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  GstTestClock *clock = queue_use_slow_link (h);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  gst_harness_set_src_caps_str (h, "application/x-a");
  queue_push_on_link (h, clock, rtp_packet_new (1, 0, 100));
  gst_harness_push (h, rtp_packet_new (1, 1, 100));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_harness_push (h, rtp_packet_new (1, 2, 100));
  take_again = GST_PAD_CHAINFUNC (h->sinkpad);
  gst_pad_set_chain_function (h->sinkpad, end_and_take);
  gst_test_clock_crank (clock);
  queue_let_pass (clock);
  fail_unless_equals_int (rtp_packet_take_seq (h), 2);
  gst_object_unref (clock);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Who had enough waits for the end all the same, as a sink behind the end of a segment. */
GST_START_TEST (test_the_end_is_told_to_who_had_enough)
{
  GstHarness *h = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");

  gst_harness_set_src_caps_str (h, "application/x-a");
  gst_pad_set_chain_function (h->sinkpad, queue_end);
  queue_push_until (h, rtp_packet_new (1, 0, 100), GST_FLOW_EOS);
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_event_unref (queue_pull_event (h, GST_EVENT_EOS));
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
cbtqueue_sticky_suite (void)
{
  Suite *s = suite_create ("cbtqueue-sticky");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_caps_that_wait_outlive_a_flush);
  tcase_add_test (tc, test_what_a_pad_said_goes_with_it);
  tcase_add_test (tc, test_what_was_said_ends_with_a_stop_or_a_flush);
  tcase_add_test (tc, test_a_flush_that_began_elsewhere_ends_for_its_pad_only);
  tcase_add_loop_test (tc,
      test_after_an_end_downstream_there_may_be_another_beginning, 0, 2);
  tcase_add_test (tc, test_what_waits_of_a_segment_ends_with_it);
  tcase_add_test (tc, test_the_end_is_told_to_who_had_enough);
  tcase_add_test (tc, test_the_last_word_waits_for_who_is_linked);
  return s;
}

GST_CHECK_MAIN (cbtqueue_sticky);
