/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What applications do with the pads of dpmmixer and dpmclient. */
#include "dpmcheck.h"

/* Waits until @mixer has made so many more mixes. */
static void
wait_for_mixes (Person * mixer, guint64 n)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  guint64 first = mixer_stat_of (mixer, "n-encoded");

  while (mixer_stat_of (mixer, "n-encoded") < first + n) {
    fail_if (patient_clock_now_us () > end, "no mixes any more");
    g_usleep (LOOK_US);
  }
}

/* An application holds back what is played where the mixer is, for longer than is kept for
 * it: the others go on hearing each other in their mix, and it goes on afterwards. */
GST_START_TEST (test_ears_that_block_silence_nobody_else)
{
  Person *mixer = person_start (person_new ("dpmmixer name=dpm "
          "address=127.0.0.1 port=0 max-bitrate=48000" EARS));
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Person *carol = client_new (mixer, "carol", 990, "");
  GstPad *src = gst_element_get_static_pad (mixer->dpm, "src");
  gulong probe;

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (mixer, 660, TRUE);
  probe = gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, NULL,
      NULL, NULL);
  wait_for_mixes (mixer, 1000); /* three for each 20 ms at the most */
  person_free (bob);
  wait_for_tone (alice, 660, FALSE);
  wait_for_tone (alice, 990, TRUE);
  gst_pad_remove_probe (src, probe);
  wait_for_tone (mixer, 660, FALSE);
  wait_for_tone (mixer, 990, TRUE);
  check_no_errors (mixer);
  gst_object_unref (src);
  person_free (alice);
  person_free (carol);
  person_free (mixer);
}

GST_END_TEST;

/* Returns: (transfer full): the first element of that kind inside */
static GstElement *
part_of (GstElement * dpm, const gchar * factory)
{
  GstIterator *all = gst_bin_iterate_all_by_element_factory_name (GST_BIN (dpm),
      factory);
  GValue value = G_VALUE_INIT;
  GstElement *part;

  fail_unless_equals_int (gst_iterator_next (all, &value), GST_ITERATOR_OK);
  part = g_value_dup_object (&value);
  g_value_unset (&value);
  gst_iterator_free (all);
  return part;
}

static gint
number_of (GstElement * dpm, const gchar * factory, const gchar * property)
{
  GstElement *part = part_of (dpm, factory);
  gint number;

  g_object_get (part, property, &number, NULL);
  gst_object_unref (part);
  return number;
}

/* Whoever makes a pipeline links first, and sets up then; and before each start. */
GST_START_TEST (test_a_bitrate_that_is_set_after_the_pad_counts)
{
  static const gchar *const lines[] = { "dpmmixer name=dpm port=0",
    "dpmclient name=dpm server=127.0.0.1:9 may-mix=true"
  };
  Person *person = person_new (lines[__i__]);

  gst_object_unref (gst_element_request_pad_simple (person->dpm, "sink"));
  for (gint bitrate = 64000; bitrate >= 16000; bitrate /= 2) {
    g_object_set (person->dpm, "bitrate", bitrate, NULL);
    person_start (person);
    fail_unless_equals_int (number_of (person->dpm, "opusenc", "bitrate"),
        bitrate);
    gst_element_set_state (person->pipeline, GST_STATE_READY);
  }
  person_free (person);
}

GST_END_TEST;

GST_START_TEST (test_a_latency_that_is_set_after_a_talkers_place_counts)
{
  Person *alice = person_new ("dpmclient name=dpm server=127.0.0.1:9");

  gst_object_unref (gst_element_request_pad_simple (alice->dpm, "src_%u"));
  g_object_set (alice->dpm, "latency", 100 * GST_MSECOND, NULL);
  person_start (alice);
  fail_unless_equals_int (number_of (alice->dpm, "rtpjitterbuffer", "latency"),
      100);
  person_free (alice);
}

GST_END_TEST;

static GstStateChangeReturn (*set_volume_state) (GstElement *, GstState);
static GstElement *stands_still;        /* (nullable): a pipeline that is to go on */

/* As a thread that stands still when it has seen in which state its element is to be,
 * while another one goes on */
static GstStateChangeReturn
set_volume_state_late (GstElement * element, GstState state)
{
  GstElement *pipeline = g_steal_pointer (&stands_still);

  if (pipeline != NULL)
    gst_element_set_state (pipeline, state == GST_STATE_PAUSED ?
        GST_STATE_PLAYING : GST_STATE_PAUSED);
  return set_volume_state (element, state);
}

/* Somebody joins, or asks for a pad: what that needs goes with the others. */
GST_START_TEST (test_what_is_made_while_the_state_changes_is_in_the_right_one)
{
  GstState states[] = { GST_STATE_PAUSED, GST_STATE_PLAYING };
  Person *mixer = person_new ("dpmmixer name=dpm port=0");
  GstElementFactory *factory = gst_element_factory_find ("volume");
  GstElement *volume = gst_element_factory_create (factory, NULL);
  GstElementClass *klass = g_type_class_ref (G_OBJECT_TYPE (volume));

  gst_object_unref (gst_object_ref_sink (volume));
  set_volume_state = klass->set_state;
  klass->set_state = set_volume_state_late;
  gst_element_set_state (mixer->pipeline, states[__i__]);
  stands_still = mixer->pipeline;
  gst_object_unref (gst_element_request_pad_simple (mixer->dpm, "sink"));
  volume = part_of (mixer->dpm, "volume");
  fail_unless_equals_int (GST_STATE (mixer->dpm), states[1 - __i__]);
  fail_unless_equals_int (GST_STATE (volume), states[1 - __i__]);
  klass->set_state = set_volume_state;
  g_type_class_unref (klass);
  gst_object_unref (volume);
  gst_object_unref (factory);
  person_free (mixer);
}

GST_END_TEST;

/* A file is played to the others, and ends: so does the pipeline. */
GST_START_TEST (test_a_client_that_only_talks_ends_with_its_voice)
{
  Person *alice = person_start (person_new ("audiotestsrc num-buffers=20 "
          "! dpmclient name=dpm server=127.0.0.1:9"));

  gst_message_unref (wait_for_complaint (alice, GST_MESSAGE_EOS));
  check_no_errors (alice);
  person_free (alice);
}

GST_END_TEST;

static gboolean
is_sink (GstElement * element)
{
  return GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SINK);
}

/* A decoder that is linked when it knows its file sends as soon as it has started: who only
 * talks has to have started by then, as sinks have. */
GST_START_TEST (test_a_client_that_only_talks_starts_as_sinks_do)
{
  GstElement *client = gst_element_factory_make ("dpmclient", NULL);
  GstPad *sink, *src;

  gst_object_ref_sink (client);
  fail_if (is_sink (client));
  sink = gst_element_request_pad_simple (client, "sink");
  fail_unless (is_sink (client));
  src = gst_element_request_pad_simple (client, "src_%u");
  fail_if (is_sink (client));
  gst_element_release_request_pad (client, src);
  fail_unless (is_sink (client));
  gst_element_release_request_pad (client, sink);
  fail_if (is_sink (client));
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (client);
}

GST_END_TEST;

/* ... and when its voice has been given up, a pipeline does not wait for it. */
GST_START_TEST (test_nobody_waits_for_a_voice_that_was_given_up)
{
  Person *alice = person_new ("appsrc name=other ! fakesink "
      "dpmclient name=dpm server=127.0.0.1:9");
  GstElement *other = gst_bin_get_by_name (GST_BIN (alice->pipeline), "other");
  GstPad *sink = gst_element_request_pad_simple (alice->dpm, "sink");
  GstFlowReturn ret;

  person_start (alice);
  gst_element_release_request_pad (alice->dpm, sink);
  g_signal_emit_by_name (other, "end-of-stream", &ret);
  gst_message_unref (wait_for_complaint (alice, GST_MESSAGE_EOS));
  gst_object_unref (sink);
  gst_object_unref (other);
  person_free (alice);
}

GST_END_TEST;

/* Returns: (transfer full) (nullable): what the rate of @person drives */
static gchar *
driven_by (Person * person)
{
  GstIterator *it = gst_bin_iterate_all_by_element_factory_name
      (GST_BIN (person->dpm), "tfrcrate");
  GValue rate = G_VALUE_INIT;
  gchar *encoder;

  fail_unless_equals_int (gst_iterator_next (it, &rate), GST_ITERATOR_OK);
  g_object_get (g_value_get_object (&rate), "encoder", &encoder, NULL);
  g_value_unset (&rate);
  gst_iterator_free (it);
  return encoder;
}

/* ... and the rate does not warn that it cannot find the encoder any more. */
GST_START_TEST (test_nobody_misses_the_encoder_of_a_voice_that_was_given_up)
{
  Person *alice = person_new ("appsrc ! fakesink "
      "dpmclient name=dpm server=127.0.0.1:9");
  GstPad *sink = gst_element_request_pad_simple (alice->dpm, "sink");
  gchar *encoder;

  person_start (alice);
  encoder = driven_by (alice);
  fail_unless (encoder != NULL);
  g_free (encoder);
  gst_element_release_request_pad (alice->dpm, sink);
  fail_unless (driven_by (alice) == NULL);
  gst_object_unref (sink);
  person_free (alice);
}

GST_END_TEST;

/* gst-launch-1.0 -e, in a room in which nobody is; it may begin again */
GST_START_TEST (test_a_mixer_without_clients_ends_when_it_is_told_to)
{
  Person *mixer = person_start (person_new ("dpmmixer name=dpm "
          "address=127.0.0.1 port=0" EARS));
  Person *alice;

  gst_element_send_event (mixer->pipeline, gst_event_new_eos ());
  gst_message_unref (wait_for_complaint (mixer, GST_MESSAGE_EOS));
  gst_element_set_state (mixer->pipeline, GST_STATE_READY);
  person_start (mixer);
  alice = client_new (mixer, "alice", 440, "");
  wait_for_tone (mixer, 440, TRUE);
  check_no_errors (mixer);
  person_free (alice);
  person_free (mixer);
}

GST_END_TEST;

/* ... and where nobody listens, and perhaps somebody talks, where the mixer is */
GST_START_TEST (test_a_mixer_that_nobody_hears_there_ends_when_it_is_told_to)
{
  static const gchar *const lines[] = {
    "dpmmixer name=dpm address=127.0.0.1 port=0",
    "audiotestsrc is-live=true ! dpmmixer name=dpm address=127.0.0.1 port=0"
  };
  Person *mixer = person_start (person_new (lines[__i__]));

  for (guint i = 0; i < 2; i++) {
    fail_if (is_sink (mixer->dpm));     /* it goes on when others have ended */
    gst_element_send_event (mixer->pipeline, gst_event_new_eos ());
    gst_message_unref (wait_for_complaint (mixer, GST_MESSAGE_EOS));
    gst_element_set_state (mixer->pipeline, GST_STATE_READY);
    person_start (mixer);
  }
  check_no_errors (mixer);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmpads_suite (void)
{
  Suite *s = suite_create ("dpmpads");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_ears_that_block_silence_nobody_else);
  tcase_add_loop_test (tc,
      test_what_is_made_while_the_state_changes_is_in_the_right_one, 0, 2);
  tcase_add_test (tc, test_a_client_that_only_talks_ends_with_its_voice);
  tcase_add_test (tc, test_a_client_that_only_talks_starts_as_sinks_do);
  tcase_add_test (tc, test_nobody_waits_for_a_voice_that_was_given_up);
  tcase_add_test (tc,
      test_nobody_misses_the_encoder_of_a_voice_that_was_given_up);
  tcase_add_test (tc, test_a_mixer_without_clients_ends_when_it_is_told_to);
  tcase_add_loop_test (tc,
      test_a_mixer_that_nobody_hears_there_ends_when_it_is_told_to, 0, 2);
  tcase_add_test (tc, test_a_latency_that_is_set_after_a_talkers_place_counts);
  tcase_add_loop_test (tc, test_a_bitrate_that_is_set_after_the_pad_counts, 0,
      2);
  return s;
}

GST_CHECK_MAIN (dpmpads);
