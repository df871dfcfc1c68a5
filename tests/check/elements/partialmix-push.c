/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How data leave a src pad, after the events that describe them
 * (gst/partialmix/gstpartialmixpush.h); no element. */
#include "../gstfairmixcheck.h"

#include "partialmix/gstpartialmixdebug.h"
#include "partialmix/gstpartialmixpush.h"

static GstStaticPadTemplate anything = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GstPad *src, *sink;
static GstPartialMixFlow flow;
static GString *seen;           /* a letter for all that came */
static GstFlowReturn answer;

static gboolean
take_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  (void) pad;
  (void) parent;
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      g_string_append_c (seen, 's');
      break;
    case GST_EVENT_CAPS:
      g_string_append_c (seen, 'c');
      break;
    case GST_EVENT_SEGMENT:
      g_string_append_c (seen, 'g');
      break;
    default:
      g_string_append_c (seen, 'e');
      break;
  }
  gst_event_unref (event);
  return TRUE;
}

static GstFlowReturn
take_buffer (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  (void) pad;
  (void) parent;
  g_string_append_c (seen, 'B');
  gst_buffer_unref (buffer);
  return answer;
}

static GstFlowReturn
take_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  (void) pad;
  (void) parent;
  g_string_append_c (seen, 'L');
  gst_buffer_list_unref (list);
  return answer;
}

static void
setup (void)
{
  src = gst_object_ref_sink (gst_pad_new ("src_3", GST_PAD_SRC));
  sink = gst_object_ref_sink (gst_pad_new_from_static_template (&anything,
          "sink"));
  gst_pad_set_event_function (sink, take_event);
  gst_pad_set_chain_function (sink, take_buffer);
  gst_pad_set_chain_list_function (sink, take_list);
  gst_pad_set_active (sink, TRUE);
  gst_pad_set_active (src, TRUE);
  gst_pad_link (src, sink);
  gst_partial_mix_flow_init (&flow);
  seen = g_string_new (NULL);
  answer = GST_FLOW_OK;
}

static void
teardown (void)
{
  gst_partial_mix_flow_forget (&flow);
  gst_pad_set_active (src, FALSE);
  gst_pad_set_active (sink, FALSE);
  gst_object_unref (src);
  gst_object_unref (sink);
  g_string_free (seen, TRUE);
}

static GstCaps *
payload_caps (gint pt)
{
  return gst_caps_new_simple ("application/x-rtp", "payload", G_TYPE_INT, pt,
      NULL);
}

static GstFlowReturn
push_buffer (GstCaps * caps)
{
  return gst_partial_mix_push (src, &flow, caps,
      GST_MINI_OBJECT (gst_buffer_new ()));
}

GST_START_TEST (test_what_describes_it_comes_first_and_once)
{
  GstCaps *caps = payload_caps (96), *same = payload_caps (96);
  GstCaps *other = payload_caps (97);

  push_buffer (caps);
  push_buffer (caps);
  push_buffer (same);           /* as long as it says the same */
  push_buffer (NULL);
  push_buffer (other);
  push_buffer (caps);
  fail_unless_equals_string (seen->str, "scgBBBBcBcB");
  gst_caps_unref (caps);
  gst_caps_unref (same);
  gst_caps_unref (other);
}

GST_END_TEST;

GST_START_TEST (test_lists_and_events_go_the_same_way)
{
  GstCaps *caps = payload_caps (96);

  gst_partial_mix_push (src, &flow, caps,
      GST_MINI_OBJECT (gst_buffer_list_new ()));
  gst_partial_mix_push (src, &flow, caps,
      GST_MINI_OBJECT (gst_event_new_eos ()));
  fail_unless_equals_string (seen->str, "scgLe");
  gst_caps_unref (caps);
}

GST_END_TEST;

/* What is said of a stream waits until it was described; the end does not. */
GST_START_TEST (test_nothing_is_said_of_what_was_not_described)
{
  GstCaps *caps = payload_caps (96);
  guint i;

  for (i = 0; i < 2; i++) {
    fail_unless_equals_int (gst_partial_mix_push (src, &flow, NULL,
            GST_MINI_OBJECT (gst_event_new_custom
                (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty ("x")))),
        GST_FLOW_OK);
    push_buffer (caps);
  }
  fail_unless_equals_string (seen->str, "scgBeB");
  gst_caps_unref (caps);
}

GST_END_TEST;

/* Caps that come after the segment of a stream before would be out of order. */
GST_START_TEST (test_after_an_end_of_nothing_comes_what_is_described)
{
  GstCaps *caps = payload_caps (96);

  gst_partial_mix_push (src, &flow, NULL,
      GST_MINI_OBJECT (gst_event_new_eos ()));
  fail_unless_equals_string (seen->str, "se");
  push_buffer (caps);
  fail_unless_equals_string (seen->str, "sescgB");
  gst_caps_unref (caps);
}

GST_END_TEST;

GST_START_TEST (test_the_latest_flow_is_remembered_and_events_keep_it)
{
  GstCaps *caps = payload_caps (96);

  fail_unless_equals_int (push_buffer (caps), GST_FLOW_OK);
  answer = GST_FLOW_ERROR;
  fail_unless_equals_int (push_buffer (caps), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_partial_mix_flow_last (&flow), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_partial_mix_push (src, &flow, caps,
          GST_MINI_OBJECT (gst_event_new_eos ())), GST_FLOW_ERROR);
  fail_unless_equals_int (gst_partial_mix_flow_last (&flow), GST_FLOW_ERROR);
  gst_caps_unref (caps);
}

GST_END_TEST;

/* An inactive pad takes nothing and keeps nothing, so that it was not said. */
GST_START_TEST (test_a_pad_that_was_inactive_says_all_again)
{
  GstCaps *caps = payload_caps (96);

  gst_pad_set_active (src, FALSE);
  fail_unless_equals_int (push_buffer (caps), GST_FLOW_FLUSHING);
  gst_pad_set_active (src, TRUE);
  push_buffer (caps);
  fail_unless_equals_string (seen->str, "scgB");
  gst_partial_mix_flow_forget (&flow);
  g_string_truncate (seen, 0);
  push_buffer (caps);
  fail_unless_equals_string (seen->str, "scgB");
  gst_caps_unref (caps);
}

GST_END_TEST;

static Suite *
partialmix_push_suite (void)
{
  Suite *suite = suite_create ("partialmix-push");
  TCase *tc = tcase_create ("push");

  GST_DEBUG_CATEGORY_INIT (gst_partial_mix_debug, "partialmix", 0, "");
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_what_describes_it_comes_first_and_once);
  tcase_add_test (tc, test_lists_and_events_go_the_same_way);
  tcase_add_test (tc, test_nothing_is_said_of_what_was_not_described);
  tcase_add_test (tc, test_after_an_end_of_nothing_comes_what_is_described);
  tcase_add_test (tc, test_the_latest_flow_is_remembered_and_events_keep_it);
  tcase_add_test (tc, test_a_pad_that_was_inactive_says_all_again);
  return suite;
}

GST_CHECK_MAIN (partialmix_push);
