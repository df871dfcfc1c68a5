/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rtpslotsrig.h"

#include "common/gstfairmixevents.h"

GST_START_TEST (test_each_talker_has_a_slot_that_names_him)
{
  guint32 out_ssrcs[N_SLOTS];
  Heard heard;
  Rig rig;
  guint i, k;

  rig_init (&rig);
  for (k = 0; k < 10; k++) {
    for (i = 0; i < N_SLOTS; i++)
      say (&rig, 100 + i, (guint16) (k + 7), 0);
    wait_ms (&rig, 20);
    for (i = 0; i < N_SLOTS; i++) {
      fail_unless (hear (&rig, i, &heard));
      fail_unless_equals_int (heard.n_csrcs, 1);
      fail_unless_equals_int (heard.csrc, 100 + i);
      fail_unless_equals_int (heard.level, 30);
      fail_unless_equals_int (heard.payload, (guint8) (100 + i));
      fail_unless_equals_int (heard.marker, k == 0);
      if (k == 0)
        out_ssrcs[i] = heard.ssrc;
      fail_unless_equals_int (heard.ssrc, out_ssrcs[i]);
    }
  }
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_slot_goes_on_when_another_talker_takes_it)
{
  Heard before, after;
  Rig rig;
  guint k;

  rig_init (&rig);
  for (k = 0; k < 3; k++) {
    say (&rig, 100, (guint16) (60000 + k), 0);
    say (&rig, 101, (guint16) k, 0);
    say (&rig, 102, (guint16) k, 0);
    fail_unless (hear (&rig, 0, &before));
    wait_ms (&rig, 20);
  }
  wait_ms (&rig, 80);
  say (&rig, 101, 3, 0);
  say (&rig, 102, 3, 0);
  say (&rig, 200, 5, 0);
  fail_unless (hear (&rig, 0, &after));
  fail_unless_equals_int (after.ssrc, before.ssrc);
  fail_unless_equals_int (after.csrc, 200);
  fail_unless_equals_int (after.seq, (guint16) (before.seq + 1));
  fail_unless_equals_int (after.ts, before.ts + 100 * 48);
  fail_unless (after.marker);
  say (&rig, 200, 6, 0);
  fail_unless (hear (&rig, 0, &after));
  fail_unless_equals_int (after.seq, (guint16) (before.seq + 2));
  fail_unless_equals_int (after.ts, before.ts + 100 * 48 + TICKS);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_mix_keeps_its_contributors)
{
  Heard heard;
  Rig rig;

  rig_init (&rig);
  say (&rig, 100, 0, 4);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.n_csrcs, 4);
  fail_unless_equals_int (heard.csrc, 1000);
  fail_unless_equals_int (heard.level, 30);
  rig_clear (&rig);
}

GST_END_TEST;

/* ... and names nobody while nobody speaks: itself least of all.  Who comes after it is
 * a talker again. */
GST_START_TEST (test_a_mix_never_names_itself)
{
  Heard heard;
  Rig rig;

  rig_init (&rig);
  say (&rig, 100, 0, 4);
  fail_unless (hear (&rig, 0, &heard));
  say (&rig, 100, 1, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.n_csrcs, 0);
  fail_unless_equals_int (heard.level, 30);
  wait_ms (&rig, 1000);
  for (guint i = 1; i <= N_SLOTS; i++)
    say (&rig, 200 + i, 0, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.csrc, 200 + N_SLOTS);
  rig_clear (&rig);
}

GST_END_TEST;

/* All slots are taken by those whom the mix contains from now on. */
GST_START_TEST (test_a_mix_takes_over_from_those_in_it)
{
  Heard heard;
  Rig rig;
  guint i;

  rig_init (&rig);
  for (i = 0; i < N_SLOTS; i++) {
    say (&rig, 1000 + i, 0, 0);
    fail_unless (hear (&rig, i, &heard));
  }
  wait_ms (&rig, 20);
  say (&rig, 7, 0, N_SLOTS);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.csrc, 1000);
  fail_unless_equals_int ((gint) element_stat (rig.in->element, "refused"), 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_one_talker_too_many_harms_nobody)
{
  Heard heard;
  Rig rig;
  guint i, k;

  rig_init (&rig);
  for (k = 0; k < 50; k++) {
    for (i = 0; i <= N_SLOTS; i++)
      say (&rig, 100 + i, (guint16) k, 0);
    wait_ms (&rig, 20);
    for (i = 0; i < N_SLOTS; i++) {
      fail_unless (hear (&rig, i, &heard));
      fail_unless_equals_int (heard.csrc, 100 + i);
      fail_if (hear (&rig, i, &heard));
    }
  }
  fail_unless_equals_int ((gint) element_stat (rig.in->element, "refused"), 50);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_caps_name_the_slot_and_follow_the_stream)
{
  GstCaps *caps;
  GstStructure *s;
  Heard heard;
  guint ssrc;
  gint pt;
  Rig rig;

  rig_init (&rig);
  say (&rig, 100, 0, 0);
  fail_unless (hear (&rig, 0, &heard));
  gst_harness_set_src_caps_str (rig.in, "application/x-rtp,media=audio,"
      "payload=97,clock-rate=48000,encoding-name=OPUS");
  say (&rig, 100, 1, 0);
  fail_unless (hear (&rig, 0, &heard));
  caps = gst_pad_get_current_caps (rig.out[0]->sinkpad);
  s = gst_caps_get_structure (caps, 0);
  fail_unless (gst_structure_get_uint (s, "ssrc", &ssrc));
  fail_unless_equals_int (ssrc, heard.ssrc);
  fail_unless (gst_structure_get_int (s, "payload", &pt));
  fail_unless_equals_int (pt, 97);
  gst_caps_unref (caps);
  rig_clear (&rig);
}

GST_END_TEST;

typedef struct
{
  GMutex lock;
  GCond changed;
  gboolean blocked, go_on;
} Gate;

static GstPadProbeReturn
block (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Gate *gate = user_data;

  g_mutex_lock (&gate->lock);
  gate->blocked = TRUE;
  g_cond_broadcast (&gate->changed);
  while (!gate->go_on)
    g_cond_wait (&gate->changed, &gate->lock);
  g_mutex_unlock (&gate->lock);
  return GST_PAD_PROBE_DROP;
}

static gpointer
say_one (gpointer rig)
{
  say (rig, 100, 0, 0);
  return NULL;
}

/* The application takes a pad away while a packet is under way in it. */
GST_START_TEST (test_a_pad_may_be_released_while_it_is_pushed_on)
{
  GstElement *element;
  Gate gate = { 0, };
  GThread *thread;
  GstPad *pad, *other;
  Heard heard;
  Rig rig;

  g_mutex_init (&gate.lock);
  g_cond_init (&gate.changed);
  rig_init (&rig);
  element = rig.in->element;
  pad = gst_element_get_static_pad (element, "src_0");
  other = gst_element_get_static_pad (element, "src_1");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, block, &gate, NULL);
  thread = g_thread_new ("talker", say_one, &rig);
  g_mutex_lock (&gate.lock);
  while (!gate.blocked)
    g_cond_wait (&gate.changed, &gate.lock);
  g_mutex_unlock (&gate.lock);

  /* nobody waits for the packet that is blocked elsewhere */
  gst_element_release_request_pad (element, other);
  g_mutex_lock (&gate.lock);
  gate.go_on = TRUE;
  g_cond_broadcast (&gate.changed);
  g_mutex_unlock (&gate.lock);
  gst_element_release_request_pad (element, pad);
  g_thread_join (thread);

  wait_ms (&rig, 20);
  say (&rig, 100, 1, 0);
  fail_unless (hear (&rig, 2, &heard));
  gst_object_unref (pad);
  gst_object_unref (other);
  rig_clear (&rig);
  g_mutex_clear (&gate.lock);
  g_cond_clear (&gate.changed);
}

GST_END_TEST;

GST_START_TEST (test_what_is_no_rtp_is_counted_and_dropped)
{
  Heard heard;
  Rig rig;

  rig_init (&rig);
  fail_unless_equals_int (gst_harness_push (rig.in,
          gst_buffer_new_allocate (NULL, 5, NULL)), GST_FLOW_OK);
  fail_if (hear (&rig, 0, &heard));
  fail_unless_equals_int ((gint) element_stat (rig.in->element, "malformed"),
      1);
  rig_clear (&rig);
}

GST_END_TEST;

/* Returns: what went upstream last, and clears it; -1 = nothing did */
static gint
told_max_streams (Rig * rig)
{
  GstEvent *event;
  gint last = -1;

  while ((event = gst_harness_try_pull_upstream_event (rig->in)) != NULL) {
    guint max_streams;

    if (gst_fairmix_max_streams_event_parse (event, &max_streams))
      last = (gint) max_streams;
    gst_event_unref (event);
  }
  return last;
}

GST_START_TEST (test_whoever_sends_hears_how_many_slots_there_are)
{
  GstPad *pad;
  Rig rig;

  rig_init (&rig);
  fail_unless_equals_int (told_max_streams (&rig), N_SLOTS);

  pad = gst_element_request_pad_simple (rig.in->element, "src_%u");
  fail_unless_equals_int (told_max_streams (&rig), N_SLOTS + 1);
  gst_element_release_request_pad (rig.in->element, pad);
  gst_object_unref (pad);
  fail_unless_equals_int (told_max_streams (&rig), N_SLOTS);

  say (&rig, 100, 0, 0);
  fail_unless_equals_int (told_max_streams (&rig), -1);
  rig_clear (&rig);
}

GST_END_TEST;

/* A new mixer, or one that was linked late, has not heard it. */
GST_START_TEST (test_a_new_stream_is_told_again)
{
  Rig rig;

  rig_init (&rig);
  told_max_streams (&rig);
  fail_unless (gst_harness_push_event (rig.in,
          gst_event_new_stream_start ("another")));
  fail_unless_equals_int (told_max_streams (&rig), N_SLOTS);
  rig_clear (&rig);
}

GST_END_TEST;

/* Also where nothing came, and what comes after the end begins anew. */
GST_START_TEST (test_what_is_of_all_comes_in_order_and_the_end_is_no_end)
{
  static const GstEventType expected[] = { GST_EVENT_STREAM_START,
    GST_EVENT_CAPS, GST_EVENT_SEGMENT, GST_EVENT_TAG, GST_EVENT_EOS,
    GST_EVENT_STREAM_START, GST_EVENT_CAPS, GST_EVENT_SEGMENT
  };
  Heard heard;
  Rig rig;
  guint i;

  rig_init (&rig);
  gst_harness_push_event (rig.in, gst_event_new_tag (gst_tag_list_new
          (GST_TAG_TITLE, "a title", NULL)));
  gst_harness_push_event (rig.in, gst_event_new_eos ());
  gst_harness_push_event (rig.in, gst_event_new_stream_start ("another"));
  gst_harness_set_src_caps_str (rig.in, CAPS);
  say (&rig, 100, 0, 0);
  fail_unless (hear (&rig, 0, &heard));
  for (i = 0; i < G_N_ELEMENTS (expected); i++) {
    GstEvent *event = gst_harness_try_pull_event (rig.out[0]);

    fail_unless (event != NULL);
    fail_unless_equals_string (GST_EVENT_TYPE_NAME (event),
        gst_event_type_get_name (expected[i]));
    gst_event_unref (event);
  }
  rig_clear (&rig);
}

GST_END_TEST;

static GstPadProbeReturn
ask_for_another (GstPad * pad, GstPadProbeInfo * info, gpointer element)
{
  GstPad *another = gst_element_request_pad_simple (element, "src_%u");

  fail_unless (another != NULL);
  gst_object_unref (another);
  return GST_PAD_PROBE_REMOVE;
}

/* As from another thread: its number is not free yet. */
GST_START_TEST (test_a_pad_may_be_asked_for_while_another_one_is_released)
{
  GstPad *pad;
  Rig rig;

  rig_init (&rig);
  pad = gst_element_request_pad_simple (rig.in->element, "src_%u");
  gst_pad_add_probe (rig.in->srcpad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      ask_for_another, rig.in->element, NULL);
  gst_element_release_request_pad (rig.in->element, pad);
  gst_object_unref (pad);
  fail_unless_equals_int (rig.in->element->numsrcpads, N_SLOTS + 1);
  fail_unless_equals_int (told_max_streams (&rig), N_SLOTS + 1);
  rig_clear (&rig);
}

GST_END_TEST;

/* Who asks for a place that there is not gets no other one. */
GST_START_TEST (test_a_number_beyond_all_slots_is_none)
{
  GstElement *element = gst_element_factory_make ("rtpslots", NULL);
  GstPad *pad = gst_element_request_pad_simple (element, "src_7");

  fail_unless (gst_element_request_pad_simple (element, "src_9999") == NULL);
  fail_unless_equals_string (GST_PAD_NAME (pad), "src_7");
  gst_object_unref (pad);
  gst_object_unref (element);
}

GST_END_TEST;

/* 0 would mean that any number can be taken. */
GST_START_TEST (test_no_slot_is_not_any_number)
{
  GstHarness *in = gst_harness_new_with_padnames ("rtpslots", "sink", NULL);
  Rig rig = { in, {NULL}, NULL };
  GstPad *pad;

  gst_harness_set_src_caps_str (in, CAPS);
  fail_unless_equals_int (told_max_streams (&rig), 1);
  pad = gst_element_request_pad_simple (in->element, "src_%u");
  fail_unless_equals_int (told_max_streams (&rig), 1);
  gst_element_release_request_pad (in->element, pad);
  gst_object_unref (pad);
  fail_unless_equals_int (told_max_streams (&rig), 1);
  gst_harness_teardown (in);
}

GST_END_TEST;

/* An offer to a browser names it. */
GST_START_TEST (test_a_slots_ssrc_is_known_before_anything_came)
{
  guint ssrc = 0, others = 0, i;
  Heard heard;
  Rig rig;

  rig_init (&rig);
  for (i = 0; i < N_SLOTS; i++) {
    GstCaps *caps = gst_pad_peer_query_caps (rig.out[i]->sinkpad, NULL);

    fail_unless (gst_structure_get_uint (gst_caps_get_structure (caps, 0),
            "ssrc", i == 0 ? &ssrc : &others));
    fail_if (i > 0 && others == ssrc);
    gst_caps_unref (caps);
  }
  say (&rig, 100, 0, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.ssrc, ssrc);
  rig_clear (&rig);
}

GST_END_TEST;

/* As webrtcbin's pads do once they are negotiated. */
GST_START_TEST (test_what_is_of_one_slot_alone_keeps_no_format_out)
{
  GstCaps *caps;
  Rig rig;
  guint i;

  rig_init (&rig);
  for (i = 0; i < N_SLOTS; i++) {
    gchar *wanted = g_strdup_printf (CAPS ",ssrc=(uint)%u,a-mid=(string)m%u,"
        "ssrc-%u-cname=(string)x", 100 + i, i, 100 + i);

    gst_harness_set_sink_caps_str (rig.out[i], wanted);
    g_free (wanted);
  }
  caps = gst_pad_peer_query_caps (rig.in->srcpad, NULL);
  fail_if (gst_caps_is_empty (caps));
  fail_unless (gst_structure_has_field (gst_caps_get_structure (caps, 0),
          "encoding-name"));
  gst_caps_unref (caps);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
rtpslots_suite (void)
{
  Suite *s = suite_create ("rtpslots");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_each_talker_has_a_slot_that_names_him);
  tcase_add_test (tc, test_a_slot_goes_on_when_another_talker_takes_it);
  tcase_add_test (tc, test_a_mix_keeps_its_contributors);
  tcase_add_test (tc, test_a_mix_never_names_itself);
  tcase_add_test (tc, test_a_mix_takes_over_from_those_in_it);
  tcase_add_test (tc, test_one_talker_too_many_harms_nobody);
  tcase_add_test (tc, test_caps_name_the_slot_and_follow_the_stream);
  tcase_add_test (tc, test_a_pad_may_be_released_while_it_is_pushed_on);
  tcase_add_test (tc, test_whoever_sends_hears_how_many_slots_there_are);
  tcase_add_test (tc, test_a_new_stream_is_told_again);
  tcase_add_test (tc, test_what_is_of_all_comes_in_order_and_the_end_is_no_end);
  tcase_add_test (tc,
      test_a_pad_may_be_asked_for_while_another_one_is_released);
  tcase_add_test (tc, test_a_number_beyond_all_slots_is_none);
  tcase_add_test (tc, test_no_slot_is_not_any_number);
  tcase_add_test (tc, test_a_slots_ssrc_is_known_before_anything_came);
  tcase_add_test (tc, test_what_is_of_one_slot_alone_keeps_no_format_out);
  tcase_add_test (tc, test_what_is_no_rtp_is_counted_and_dropped);
  return s;
}

GST_CHECK_MAIN (rtpslots);
