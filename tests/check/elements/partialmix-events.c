/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a src pad says of its packets before they follow, whoever activates it. */

#define GST_USE_UNSTABLE_API    /* GstTracer */

#include <string.h>

#include <gst/gst.h>
#include <gst/gsttracer.h>

#include "../gstfairmixgate.h"
#include "common/gstfairmixevents.h"
#include "mixrig.h"

/* What an inactive pad is given is lost; what describes the stream is not. */
GST_START_TEST (test_a_pad_that_was_inactive_says_again_what_it_carries)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  guint i;

  fail_unless (gst_pad_set_active (listener->peer, FALSE));
  rig_play (rig);
  fail_unless (gst_pad_set_active (listener->peer, FALSE));
  for (i = 0; i < 2; i++) {
    GstCaps *caps;

    gst_pad_push (talker->pad, rig_packet (rig, talker));
    fail_unless_equals_int (listener->buffers->len, i);
    fail_unless (gst_pad_set_active (listener->peer, TRUE));
    gst_pad_push (talker->pad, rig_packet (rig, talker));
    fail_unless_equals_int (listener->buffers->len, i + 1);
    caps = gst_pad_get_current_caps (listener->peer);
    fail_if (caps == NULL, "no caps the %u. time", i + 1);
    gst_caps_unref (caps);
    fail_unless (gst_pad_set_active (listener->peer, FALSE));
  }
  rig_free (rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  RigListener *listener;
} Arrival;

static gpointer
arrive (gpointer data)
{
  Arrival *arrival = data;

  arrival->listener = rig_listener (arrival->rig, "src_0", NULL);
  return NULL;
}

/* Holds whoever is about to activate src_0: GStreamer says so, if asked. */
static void
hold_activation (GstDebugCategory * category, GstDebugLevel level,
    const gchar * file, const gchar * function, gint line, GObject * object,
    GstDebugMessage * message, gpointer gate)
{
  if (GST_IS_PAD (object) && g_str_equal (function, "gst_pad_set_active")
      && g_str_equal (GST_PAD_NAME (object), "src_0")
      && strstr (gst_debug_message_get (message), "activating") != NULL)
    gate_pass (gate);
}

/* What describes the packets would be lost on a pad that is not active, and who is
 * linked would never know what they are. */
GST_START_TEST (test_nothing_is_pushed_on_a_pad_before_it_is_active)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  Arrival arrival = { rig, NULL };
  GstCaps *caps;
  Runner runner;
  Gate gate;

  gate_init (&gate);
  rig_play (rig);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (hold_activation, &gate, NULL);
  gst_debug_set_threshold_for_name ("GST_PADS", GST_LEVEL_DEBUG);
  runner_start (&runner, "arrives", arrive, &arrival);
  gate_wait (&gate);
  rig_send (rig, talker);
  gate_open (&gate);
  runner_join (&runner);
  gst_debug_unset_threshold_for_name ("GST_PADS");
  gst_debug_remove_log_function (hold_activation);

  rig_run (rig, 3);
  fail_unless (arrival.listener->buffers->len > 0);
  caps = gst_pad_get_current_caps (arrival.listener->pad);
  fail_unless (caps != NULL);
  gst_caps_unref (caps);
  rig_free (rig);
  gate_clear (&gate);
}

GST_END_TEST;

static GstPad *late_pad;

/* Activates the pad as soon as it has refused an event. */
static void
activate_late (GObject * tracer, GstClockTime ts, GstPad * pad, gboolean ok)
{
  if (!ok && pad == late_pad)
    gst_pad_set_active (pad, TRUE);
}

typedef GstTracer Late;
typedef GstTracerClass LateClass;
GType late_get_type (void);

G_DEFINE_TYPE (Late, late, GST_TYPE_TRACER);

static void
late_class_init (LateClass * klass)
{
}

static void
late_init (Late * self)
{
  gst_tracing_register_hook (self, "pad-push-event-post",
      G_CALLBACK (activate_late));
}

/* What describes a packet is refused, and the pad is active before the packet
 * follows. */
GST_START_TEST (test_nothing_follows_events_that_were_refused)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  GstTracer *tracer;

  rig_play (rig);
  fail_unless (gst_pad_set_active (listener->peer, FALSE));
  tracer = g_object_new (late_get_type (), NULL);
  late_pad = listener->peer;
  gst_pad_push (talker->pad, rig_packet (rig, talker));
  late_pad = NULL;
  fail_unless (GST_PAD_IS_ACTIVE (listener->peer));
  fail_unless_equals_int (listener->buffers->len, 0);
  rig_send (rig, talker);
  fail_unless_equals_int (listener->buffers->len, 1);
  rig_free (rig);
  gst_object_unref (tracer);
}

GST_END_TEST;

static gint n_asked, n_asked_here;      /* atomic: and by the thread that brings packets */
static GThread *here;
static GstPadQueryFunction answer;

static gboolean
count_asked (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    g_atomic_int_inc (&n_asked);
    if (g_thread_self () == here)
      g_atomic_int_inc (&n_asked_here);
  }
  return answer (pad, parent, query);
}

/* Who says that it takes something else now may hold a lock that its answer needs. */
GST_START_TEST (test_who_reconfigures_is_asked_later)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);

  rig_play (rig);
  rig_run (rig, 1);
  answer = GST_PAD_QUERYFUNC (listener->pad);
  gst_pad_set_query_function (listener->pad, count_asked);
  fail_unless (gst_pad_push_event (listener->pad,
          gst_event_new_reconfigure ()));
  fail_unless_equals_int (g_atomic_int_get (&n_asked), 0);
  rig_run (rig, 1);
  fail_unless (g_atomic_int_get (&n_asked) > 0);
  rig_free (rig);
}

GST_END_TEST;

/* However slowly he answers, packets go on to the others. */
GST_START_TEST (test_who_joins_is_not_asked_by_who_brings_packets)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_9", 1, RIG_PCMU, 440, 8000);
  RigListener *listener, *joiner;

  listener = rig_listener (rig, "src_0", NULL);
  rig_play (rig);
  rig_run (rig, 3);
  here = g_thread_self ();
  joiner = rig_listener (rig, "src_1", NULL);
  answer = GST_PAD_QUERYFUNC (joiner->pad);
  gst_pad_set_query_function (joiner->pad, count_asked);
  rig_run (rig, 5);
  fail_unless (g_atomic_int_get (&n_asked) > 0);
  fail_unless_equals_int (g_atomic_int_get (&n_asked_here), 0);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc), 8);
  fail_unless (rig_count_packets (joiner, talker->ssrc) >= 4);
  rig_free (rig);
}

GST_END_TEST;

static guint last_wish;

static GstPadProbeReturn
note_wish (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  gst_fairmix_wanted_bitrate_event_parse (GST_PAD_PROBE_INFO_EVENT (info),
      &last_wish);
  return GST_PAD_PROBE_OK;
}

static guint
n_separate_at (Rig * rig, RigListener * listener, guint bps)
{
  gst_pad_push_event (listener->pad,
      gst_fairmix_target_bitrate_event_new (bps));
  rig_run (rig, 100);
  return rig_pad_stat (listener, "n-separate");
}

/* ... for who makes targets, and must know when it is worth while to look for more. */
GST_START_TEST (test_a_src_pad_says_at_which_target_one_more_would_be_separate)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint n;

  rig_talkers (rig, 1, 8, RIG_L16);
  gst_pad_add_probe (listener->peer, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      note_wish, NULL, NULL);
  last_wish = 0;
  rig_play (rig);
  rig_run (rig, 100);
  fail_unless_equals_int (last_wish, 0);        /* nobody makes targets */

  fail_unless_equals_int (n_separate_at (rig, listener, RIG_L16_MIX_BPS), 0);
  for (n = 0; n < 7; n++) {
    guint wish = last_wish;

    fail_unless_equals_int (n_separate_at (rig, listener, wish - 4000), n);
    fail_unless (last_wish == wish, "%u, not %u", last_wish, wish);
    fail_unless (n_separate_at (rig, listener, wish + 4000) > n);
    n = rig_pad_stat (listener, "n-separate") - 1;
  }
  fail_unless_equals_int (n_separate_at (rig, listener, G_MAXINT), 8);
  fail_unless_equals_int (last_wish, 0);
  rig_free (rig);
}

GST_END_TEST;

/* Who was linked before had a narrow path, or one decoder; who is now has said nothing.
 * Those who have such things say so to whom they are linked; who is linked again, to the
 * same one, does not. */
GST_START_TEST (test_what_was_said_downstream_goes_with_who_said_it)
{
  const gboolean again = __i__ % 2;
  const guint n_talkers = 3;
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigListener *other = rig_listener (rig, "src_9", NULL);
  GstPad *pad = again ? listener->pad : other->pad;

  rig_talkers (rig, 1, n_talkers, RIG_L16);
  rig_play (rig);
  rig_run (rig, 10);
  gst_pad_push_event (listener->pad, __i__ / 2 == 0
      ? gst_fairmix_target_bitrate_event_new (RIG_L16_MIX_BPS)
      : gst_fairmix_max_streams_event_new (1));
  rig_run (rig, 50);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 0);
  fail_unless (gst_pad_unlink (other->peer, other->pad));
  fail_unless (gst_pad_unlink (listener->peer, listener->pad));
  rig_run (rig, 5);
  fail_unless_equals_int (gst_pad_link (listener->peer, pad), GST_PAD_LINK_OK);
  rig_run (rig, 50);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"),
      again ? 0 : n_talkers);
  gst_pad_unlink (listener->peer, pad);
  rig_free (rig);
}

GST_END_TEST;

/* Who is linked again says nothing that he has said. */
GST_START_TEST (test_who_is_linked_again_is_known)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_L16, 440, 8000);

  rig_play (rig);
  rig_run (rig, 10);
  gst_pad_unlink (talker->pad, talker->peer);
  fail_unless_equals_int (gst_pad_link (talker->pad, talker->peer),
      GST_PAD_LINK_OK);
  rig_run (rig, 10);
  fail_unless_equals_int (rig_count_packets (listener, talker->ssrc), 20);
  rig_free (rig);
}

GST_END_TEST;

/* Another sender, who says nothing of levels, has something else under that number. */
GST_START_TEST (test_what_caps_said_goes_with_who_was_linked)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  GstCaps *caps = gst_pad_get_current_caps (talker->peer);

  rig_listener (rig, "src_0", "audio/x-raw,channels=2");
  talker->level = 127;
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_uint64 (rig_stat (rig, "n-decoded"), 0);
  gst_pad_unlink (talker->pad, talker->peer);
  caps = gst_caps_make_writable (caps);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), "extmap-1");
  gst_pad_push_event (talker->pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  fail_unless_equals_int (gst_pad_link (talker->pad, talker->peer),
      GST_PAD_LINK_OK);
  rig_run (rig, 20);
  fail_unless (rig_stat (rig, "n-decoded") > 10);
  rig_free (rig);
}

GST_END_TEST;

/* A segment that runs backwards from nowhere has no running time; the voice goes on. */
GST_START_TEST (test_a_voice_that_runs_backwards_is_heard)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = -1.0;
  rig_play (rig);
  gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
  gst_pad_push (talker->pad, rig_packet (rig, talker));
  fail_unless_equals_int (listener->buffers->len, 1);
  rig_free (rig);
}

GST_END_TEST;

static gboolean
count_drains (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    g_atomic_int_inc (&n_asked);
  return answer (pad, parent, query);
}

/* ... for that may take as long as it pleases, and the others are to be heard meanwhile. */
GST_START_TEST (test_nobody_is_asked_whether_a_talker_is_through)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 7, RIG_PCMU, 440, 8000);
  GstPad *rtcp = gst_element_request_pad_simple (rig->mix, "rtcp_sink_2");
  GstPad *asked = __i__ == 0 ? talker->peer : rtcp;
  GstQuery *query = gst_query_new_drain ();

  rig_play (rig);
  rig_run (rig, 5);
  g_atomic_int_set (&n_asked, 0);       /* of tests before, where none forks */
  answer = GST_PAD_QUERYFUNC (listener->pad);
  gst_pad_set_query_function (listener->pad, count_drains);
  fail_if (gst_pad_query (asked, query));
  fail_unless_equals_int (g_atomic_int_get (&n_asked), 0);
  gst_query_unref (query);
  gst_element_release_request_pad (rig->mix, rtcp);
  gst_object_unref (rtcp);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_events_suite (void)
{
  Suite *suite = suite_create ("partialmix-events");
  TCase *tc = tcase_create ("events");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_what_was_said_downstream_goes_with_who_said_it,
      0, 4);
  tcase_add_test (tc, test_who_is_linked_again_is_known);
  tcase_add_test (tc, test_what_caps_said_goes_with_who_was_linked);
  tcase_add_test (tc, test_a_voice_that_runs_backwards_is_heard);
  tcase_add_test (tc, test_a_pad_that_was_inactive_says_again_what_it_carries);
  tcase_add_test (tc, test_nothing_is_pushed_on_a_pad_before_it_is_active);
  tcase_add_test (tc, test_nothing_follows_events_that_were_refused);
  tcase_add_test (tc, test_who_reconfigures_is_asked_later);
  tcase_add_test (tc, test_who_joins_is_not_asked_by_who_brings_packets);
  tcase_add_loop_test (tc, test_nobody_is_asked_whether_a_talker_is_through, 0,
      2);
  tcase_add_test (tc,
      test_a_src_pad_says_at_which_target_one_more_would_be_separate);
  return suite;
}

GST_CHECK_MAIN (partialmix_events);
