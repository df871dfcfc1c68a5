/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The caps of a src pad describe the packet that follows. */

#include <string.h>

#include "mixrig.h"

#define L16_CAPS "application/x-rtp,media=audio,encoding-name=L16,channels=1"

/* The caps that were in force for each packet that came to a listener. */
typedef struct
{
  GPtrArray *caps;              /* of GstCaps, one for each packet */
  guint n_events;
} Watch;

static GstPadProbeReturn
watch_pad (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Watch *watch = user_data;

  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_ptr_array_add (watch->caps, gst_pad_get_current_caps (pad));
  else if (GST_EVENT_TYPE (info->data) == GST_EVENT_CAPS)
    watch->n_events++;
  return GST_PAD_PROBE_OK;
}

static void
watch_start (Watch * watch, RigListener * listener)
{
  watch->caps = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_caps_unref);
  watch->n_events = 0;
  gst_pad_add_probe (listener->pad, GST_PAD_PROBE_TYPE_BUFFER |
      GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, watch_pad, watch, NULL);
}

static guint8
payload_type (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 pt;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  pt = gst_rtp_buffer_get_payload_type (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return pt;
}

static guint32
ssrc_of (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint32 ssrc;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return ssrc;
}

static const GstStructure *
caps_of (Watch * watch, guint i)
{
  return gst_caps_get_structure (g_ptr_array_index (watch->caps, i), 0);
}

/* All packets of @ssrc (0: of all) from @from on leave under payload type @pt
 * (-1: any) and are described as @encoding at @clock_rate. */
static guint
assert_described (Watch * watch, RigListener * listener, guint from,
    guint32 ssrc, gint pt, const gchar * encoding, gint clock_rate)
{
  guint n = 0;
  guint i;

  for (i = from; i < listener->buffers->len; i++) {
    const GstStructure *s = caps_of (watch, i);
    gint payload, rate;

    fail_unless (gst_structure_get_int (s, "payload", &payload));
    fail_unless (gst_structure_get_int (s, "clock-rate", &rate));
    fail_unless_equals_int (payload, payload_type (rig_nth (listener, i)));
    if (ssrc != 0 && ssrc_of (rig_nth (listener, i)) != ssrc)
      continue;
    fail_unless_equals_string (gst_structure_get_string (s, "encoding-name"),
        encoding);
    fail_unless_equals_int (rate, clock_rate);
    if (pt >= 0)
      fail_unless_equals_int (payload, pt);
    n++;
  }
  return n;
}

static void
watch_stop (Watch * watch)
{
  g_ptr_array_unref (watch->caps);
}

/* Says that what @talker sends under @pt is @caps, and sends @n packets. */
static void
say_caps (RigTalker * talker, const gchar * caps)
{
  GstCaps *c = gst_caps_from_string (caps);

  gst_pad_push_event (talker->pad, gst_event_new_caps (c));
  gst_caps_unref (c);
}

static void
send_as (Rig * rig, RigTalker * talker, guint8 pt, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    GstBuffer *buffer;
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    rig_advance (rig, rig->frame * 20 * GST_MSECOND);
    buffer = gst_buffer_make_writable (rig_packet (rig, talker));
    fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
    gst_rtp_buffer_set_payload_type (&rtp, pt);
    gst_rtp_buffer_unmap (&rtp);
    fail_unless_equals_int (gst_pad_push (talker->pad, buffer), GST_FLOW_OK);
    rig->frame++;
  }
}

GST_START_TEST (test_one_number_for_two_codecs_becomes_two)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *opus = rig_talker (rig, "sink_1", 11, RIG_OPUS, 440, 8000);
  RigTalker *l16 = rig_talker (rig, "sink_2", 22, RIG_L16, 880, 8000);
  Watch watch;
  guint i;

  watch_start (&watch, listener);
  rig_play (rig);
  say_caps (l16, L16_CAPS ",payload=96,clock-rate=48000");
  for (i = 0; i < 5; i++) {
    send_as (rig, opus, 96, 1);
    send_as (rig, l16, 96, 1);
  }
  fail_unless_equals_int (assert_described (&watch, listener, 0, 11, 96, "OPUS",
          48000), 5);
  /* the first number from 96 on that means nothing yet */
  fail_unless_equals_int (assert_described (&watch, listener, 0, 22, 97, "L16",
          48000), 5);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_two_who_mean_the_same_share_a_number)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *one = rig_talker (rig, "sink_1", 11, RIG_OPUS, 440, 8000);
  RigTalker *two = rig_talker (rig, "sink_2", 22, RIG_OPUS, 880, 8000);
  Watch watch;

  watch_start (&watch, listener);
  rig_play (rig);
  send_as (rig, one, 96, 3);
  send_as (rig, two, 96, 3);
  send_as (rig, one, 96, 3);
  fail_unless_equals_int (assert_described (&watch, listener, 0, 0, 96, "OPUS",
          48000), 9);
  fail_unless_equals_int (watch.n_events, 1);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_a_number_may_come_to_mean_something_else)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_L16, 440, 8000);
  Watch watch;

  watch_start (&watch, listener);
  rig_play (rig);
  send_as (rig, talker, 97, 4);
  fail_unless_equals_int (assert_described (&watch, listener, 0, 11, 97, "L16",
          48000), 4);
  say_caps (talker, L16_CAPS ",payload=97,clock-rate=16000");
  send_as (rig, talker, 97, 4);
  fail_unless_equals_int (assert_described (&watch, listener, 4, 11, 97, "L16",
          16000), 4);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_static_numbers_mean_what_rfc_3551_says)
{
  Rig *rig = rig_new (NULL);
  RigListener *forwarded = rig_listener (rig, "src_0", NULL);
  RigListener *mixed = rig_listener (rig, "src_3",
      "application/x-rtp,media=audio,encoding-name=L16");
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_L16, 440, 8000);
  RigTalker *other = rig_talker (rig, "sink_2", 22, RIG_L16, 880, 8000);
  Watch watch, mixes;
  guint i;

  watch_start (&watch, forwarded);
  watch_start (&mixes, mixed);
  rig_set_target (mixed, RIG_L16_MIX_BPS);
  rig_play (rig);
  for (i = 0; i < 10; i++) {
    send_as (rig, talker, 10, 1);
    rig->frame--;
    send_as (rig, other, 11, 1);
  }
  /* 10 is stereo, 11 is mono, both at 44.1 kHz */
  fail_unless_equals_int (assert_described (&watch, forwarded, 0, 11, 10,
          "L16", 44100), 10);
  fail_unless_equals_int (assert_described (&watch, forwarded, 0, 22, 11,
          "L16", 44100), 10);
  for (i = 0; i < forwarded->buffers->len; i++) {
    gint channels;

    fail_unless (gst_structure_get_int (caps_of (&watch, i), "channels",
            &channels));
    fail_unless_equals_int (channels, payload_type (rig_nth (forwarded,
                i)) == 10 ? 2 : 1);
  }
  /* a mix is mono at 48 kHz, and says so, under a number of its own */
  fail_unless (mixed->buffers->len > 3);
  for (i = 0; i < mixed->buffers->len; i++)
    if (payload_type (rig_nth (mixed, i)) > 11)
      break;
  fail_unless (i < mixed->buffers->len);
  assert_described (&mixes, mixed, i, ssrc_of (rig_nth (mixed, i)),
      payload_type (rig_nth (mixed, i)), "L16", 48000);
  watch_stop (&mixes);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

/* The caps may leave out what the number says. */
GST_START_TEST (test_caps_need_not_say_what_a_static_number_says)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_L16, 440, 8000);
  Watch watch;

  watch_start (&watch, listener);
  rig_play (rig);
  say_caps (talker, "application/x-rtp,media=audio,payload=10,"
      "encoding-name=L16");
  send_as (rig, talker, 10, 2);
  fail_unless_equals_int (assert_described (&watch, listener, 0, 11, 10, "L16",
          44100), 2);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_the_number_of_the_mixes_is_theirs)
{
  Rig *rig = rig_new ("mix-pt=97 mix-encoding=opus");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_L16, 440, 8000);
  Watch watch;

  watch_start (&watch, listener);
  rig_play (rig);
  send_as (rig, talker, 97, 5);
  fail_unless_equals_int (assert_described (&watch, listener, 0, 11, 96, "L16",
          48000), 5);
  rig_set_target (listener, 50000);
  rig_run (rig, 20);
  fail_unless_equals_int (payload_type (rig_nth (listener,
              listener->buffers->len - 1)), 97);
  fail_unless_equals_string (gst_structure_get_string (caps_of (&watch,
              listener->buffers->len - 1), "encoding-name"), "OPUS");
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

/* A peer that takes one number only takes nothing else: streams and mixes leave
 * under it, whatever the number of the mixes is. */
GST_START_TEST (test_a_peer_that_takes_one_number_gets_all_under_it)
{
  static const guint mix_pts[] = { 0, 96, 97, 128 };
  gchar *properties = g_strdup_printf ("mix-pt=%u", mix_pts[__i__ % 4]);
  gboolean pcmu = __i__ < 4;
  Rig *rig = rig_new (properties);
  RigListener *listener = rig_listener (rig, "src_0", pcmu ?
      "application/x-rtp,encoding-name=PCMU,payload=0" :
      "application/x-rtp,encoding-name=OPUS,payload=96");
  guint i;

  for (i = 1; i <= 3; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    rig_talker (rig, name, 10 + i, pcmu ? RIG_PCMU : RIG_OPUS, 440, 8000);
    g_free (name);
  }
  rig_play (rig);
  rig_run (rig, 10);
  rig_set_target (listener, 120000);
  rig_run (rig, 30);
  fail_unless (rig_count_packets (listener, 11) >= 8);
  fail_unless (listener->buffers->len > 50);
  for (i = 0; i < listener->buffers->len; i++)
    fail_unless_equals_int (payload_type (rig_nth (listener, i)),
        pcmu ? 0 : 96);
  rig_free (rig);
  g_free (properties);
}

GST_END_TEST;

/* What the pad says while nobody takes it is no promise.  @talker's own number
 * is 96, the mix's would be that as well. */
GST_START_TEST (test_who_is_linked_later_gets_the_numbers_he_asks_for)
{
  Rig *rig = rig_new ("mix-encoding=opus");
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_OPUS, 440, 8000);
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,media=audio,encoding-name=OPUS,payload=111");
  Watch watch;
  guint n;

  watch_start (&watch, listener);
  gst_pad_unlink (listener->peer, listener->pad);
  if (__i__ == 1)
    rig_set_target (listener, 50000);
  rig_play (rig);
  rig_run (rig, 20);
  fail_unless_equals_int (gst_pad_link (listener->peer, listener->pad),
      GST_PAD_LINK_OK);
  rig_run (rig, 20);
  n = assert_described (&watch, listener, 0, __i__ == 1 ? 0 : talker->ssrc,
      111, "OPUS", 48000);
  fail_unless (n >= 18, "%u packets", n);
  watch_stop (&watch);
  rig_free (rig);
}

GST_END_TEST;

GST_START_TEST (test_two_peers_get_one_stream_under_the_number_of_each)
{
  Rig *rig = rig_new (NULL);
  RigTalker *talker = rig_talker (rig, "sink_1", 11, RIG_OPUS, 440, 8000);
  RigListener *listeners[2];
  Watch watches[2];
  guint i;

  for (i = 0; i < 2; i++) {
    gchar *caps = g_strdup_printf ("application/x-rtp,encoding-name=OPUS,"
        "payload=%u;application/x-rtp,encoding-name=L16", 111 + i);
    gchar *name = g_strdup_printf ("src_%u", i + 2);

    listeners[i] = rig_listener (rig, name, caps);
    watch_start (&watches[i], listeners[i]);
    g_free (name);
    g_free (caps);
  }
  rig_play (rig);
  send_as (rig, talker, 96, 5);
  for (i = 0; i < 2; i++) {
    fail_unless_equals_int (assert_described (&watches[i], listeners[i], 0, 11,
            111 + i, "OPUS", 48000), 5);
    watch_stop (&watches[i]);
  }
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_payloads_suite (void)
{
  Suite *suite = suite_create ("partialmix-payloads");
  TCase *tc = tcase_create ("payload types");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_one_number_for_two_codecs_becomes_two);
  tcase_add_test (tc, test_two_who_mean_the_same_share_a_number);
  tcase_add_test (tc, test_a_number_may_come_to_mean_something_else);
  tcase_add_test (tc, test_static_numbers_mean_what_rfc_3551_says);
  tcase_add_test (tc, test_caps_need_not_say_what_a_static_number_says);
  tcase_add_test (tc, test_the_number_of_the_mixes_is_theirs);
  tcase_add_loop_test (tc,
      test_a_peer_that_takes_one_number_gets_all_under_it, 0, 8);
  tcase_add_loop_test (tc,
      test_who_is_linked_later_gets_the_numbers_he_asks_for, 0, 2);
  tcase_add_test (tc, test_two_peers_get_one_stream_under_the_number_of_each);
  return suite;
}

GST_CHECK_MAIN (partialmix_payloads);
