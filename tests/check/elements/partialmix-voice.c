/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sound of one stream in partialmix (gst/partialmix/gstpartialmixvoice.h) */
#include "../gstfairmixcheck.h"

#include <gst/rtp/rtp.h>

#include "partialmix/gstpartialmixdebug.h"
#include "partialmix/gstpartialmixvoice.h"

#define RATE 48000
#define N 960                   /* 20 ms, of a packet and of a frame */
#define SILENCE 127
#define SPLICE (5 * RATE / 1000)
#define CONCEALED_FRAMES 6      /* 120 ms */

static const GstPartialMixFormat l16 = {
  GST_PARTIAL_MIX_ENCODING_L16, RATE, 1, 96
};

static GstPartialMixVoice voice;
static guint64 next_seq;
static guint8 n_csrcs;          /* of packets to be pushed */
static gint divisor;            /* their samples are so much quieter */

static void
setup (void)
{
  gst_partial_mix_voice_init (&voice, 7, &l16, RATE);
  voice.wanted = TRUE;
  next_seq = 100;
  n_csrcs = 0;
  divisor = 1;
}

static void
teardown (void)
{
  gst_partial_mix_voice_clear (&voice);
}

/* Sample @i of packet @seq */
static gint16
sample (guint64 seq, guint i)
{
  return (gint16) (1000 + (seq % 7) * 500 + i % 400);
}

static void
push_long (gint64 pos, guint n, gboolean cut, gboolean silent)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (2 * n, 0, n_csrcs);
  GstPartialMixPacket *packet = g_new0 (GstPartialMixPacket, 1);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *payload;
  guint i;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp));
  payload = gst_rtp_buffer_get_payload (&rtp);
  for (i = 0; i < n; i++)
    GST_WRITE_UINT16_BE (payload + 2 * i, (guint16) (sample (next_seq, i)
            / divisor));
  gst_rtp_buffer_unmap (&rtp);
  packet->buffer = buffer;
  packet->ext_seq = next_seq++;
  packet->pos = pos;
  packet->cut = cut;
  packet->silent = silent;
  gst_partial_mix_voice_push (&voice, packet);
}

static void
push (gint64 pos, gboolean cut, gboolean silent)
{
  push_long (pos, N, cut, silent);
}

static void
render (gint64 pos)
{
  gst_partial_mix_voice_render (&voice, pos, N, SILENCE, 2);
}

/* Frame samples [@from, @until) are those of packet @seq from @first on. */
static void
check_heard (guint from, guint until, guint64 seq, guint first)
{
  guint i;

  for (i = from; i < until; i++)
    fail_unless (voice.frame[i] == sample (seq, first + i - from),
        "sample %u is %d", i, voice.frame[i]);
}

static void
check_silent (guint from, guint until)
{
  guint i;

  for (i = from; i < until; i++)
    fail_unless_equals_int (voice.frame[i], 0);
}

GST_START_TEST (test_packets_in_a_row_are_played_to_the_sample)
{
  guint i;

  push (0, FALSE, FALSE);
  push (N, FALSE, FALSE);
  for (i = 0; i < 2; i++) {
    render (i * N);
    fail_unless (voice.frame_active);
    fail_unless_equals_int (voice.weight, 1);
    check_heard (0, N, 100 + i, 0);
  }
  fail_unless_equals_int (voice.n_new_decoded, 2);
}

GST_END_TEST;

GST_START_TEST (test_a_packet_may_lie_across_two_frames)
{
  push (100, FALSE, FALSE);
  push (100 + N, FALSE, FALSE);
  render (0);
  check_silent (0, 100);
  check_heard (100, N, 100, 0);
  render (N);
  check_heard (0, 100, 100, N - 100);
  check_heard (100, N, 101, 0);
}

GST_END_TEST;

GST_START_TEST (test_what_is_missing_fades_within_120_ms)
{
  guint8 before;
  guint i;

  push (0, FALSE, FALSE);
  render (0);
  for (i = 1; i <= CONCEALED_FRAMES; i++) {
    before = voice.frame_level;
    render (i * N);
    fail_unless (voice.frame_level > before || before == SILENCE);
  }
  fail_unless (voice.n_new_concealed > 0);
  render (i * N);
  check_silent (0, N);
}

GST_END_TEST;

GST_START_TEST (test_what_nobody_wants_is_played_out_and_not_concealed)
{
  push (0, FALSE, FALSE);
  voice.wanted = FALSE;
  render (0);
  check_heard (0, N, 100, 0);
  render (N);
  check_silent (0, N);
  fail_unless_equals_int (voice.n_new_concealed, 0);
}

GST_END_TEST;

/* The delay is made shorter by a packet: its beginning goes over into the one
 * that is played in its place. */
GST_START_TEST (test_a_cut_packet_is_heard_only_in_the_splice)
{
  push (0, FALSE, FALSE);
  push (N, TRUE, FALSE);
  push (N, FALSE, FALSE);
  render (0);
  check_heard (0, N, 100, 0);
  render (N);
  check_heard (SPLICE, N, 102, SPLICE);
  /* the first sample is nearly the one of the packet that was cut */
  fail_unless (ABS (voice.frame[0] - sample (101, 0)) < 8);
}

GST_END_TEST;

/* Frames of 60 ms, a packet of 120 ms that begins as late as one may be due, and
 * another of 120 ms behind it. */
GST_START_TEST (test_the_longest_packets_are_all_played)
{
  const guint frame = 3 * N, longest = GST_PARTIAL_MIX_MAX_PACKET_SAMPLES;
  const guint first = frame + SPLICE;

  push_long (0, first, FALSE, FALSE);
  push_long (first, longest, FALSE, FALSE);
  push_long (first, longest, TRUE, FALSE);
  gst_partial_mix_voice_render (&voice, 0, frame, SILENCE, 2);
  fail_unless_equals_int (voice.n_new_decoded, 3);
  check_heard (0, frame, 100, 0);
  gst_partial_mix_voice_render (&voice, frame, frame, SILENCE, 2);
  check_heard (0, SPLICE, 100, frame);
  check_heard (SPLICE, frame, 101, 0);
}

GST_END_TEST;

GST_START_TEST (test_a_raised_voice_counts_several_times)
{
  voice.gain = 4.0f;
  push (0, FALSE, FALSE);
  render (0);
  fail_unless_equals_int (voice.weight, 4);
  check_heard (0, N, 100, 0);
}

GST_END_TEST;

GST_START_TEST (test_silent_packets_are_neither_decoded_nor_concealed)
{
  guint i;

  for (i = 0; i < 5; i++) {
    push (i * N, FALSE, TRUE);
    render (i * N);
    fail_if (voice.frame_active);
  }
  fail_unless_equals_int (voice.n_new_decoded, 0);
  fail_unless_equals_int (voice.n_new_concealed, 0);
}

GST_END_TEST;

GST_START_TEST (test_after_a_restart_nothing_of_before_goes_on)
{
  push (0, FALSE, FALSE);
  render (0);
  gst_partial_mix_voice_restart (&voice);
  push (3 * N, FALSE, FALSE);
  fail_unless (gst_partial_mix_voice_is_cold (&voice));
  render (N);
  check_silent (0, N);
  render (2 * N);
  check_silent (0, N);
  render (3 * N);
  check_heard (0, N, 101, 0);
}

GST_END_TEST;

/* There is an end to what is left of it, and no place that this end is at. */
GST_START_TEST (test_what_a_restart_leaves_has_no_end)
{
  push (100, FALSE, FALSE);
  render (0);
  gst_partial_mix_voice_restart (&voice);
  render (N);
  check_silent (0, N);
  fail_unless_equals_int (voice.n_new_concealed, 0);
}

GST_END_TEST;

/* @seconds of words with pauses; returns what they are raised by then */
static gdouble
speak (guint seconds)
{
  guint i;

  for (i = 0; i < 50 * seconds; i++) {
    divisor = i % 25 < 15 ? 10 : 1000;
    push (i * N, FALSE, FALSE);
    render (i * N);
  }
  return gst_partial_mix_voice_get_raise (&voice);
}

/* Who made it may have done the same, and who is in it differs. */
GST_START_TEST (test_a_mix_that_comes_in_is_not_brought_to_a_level)
{
  voice.voice_level = 20;
  n_csrcs = 1;
  fail_unless (speak (10) == 0.0);
  teardown ();
  setup ();
  voice.voice_level = 20;
  fail_unless (speak (10) > 6.0);
}

GST_END_TEST;

/* More than full scale is added several times, a Database's gain included. */
GST_START_TEST (test_what_is_raised_beyond_16_bits_is_added_more_often)
{
  voice.voice_level = 20;
  voice.gain = 7.5f;
  speak (10);
  divisor = 1;
  push (500 * N, FALSE, FALSE);
  render (500 * N);
  fail_unless_equals_int (voice.weight, 8);
}

GST_END_TEST;

static Suite *
partialmix_voice_suite (void)
{
  Suite *s = suite_create ("partialmix-voice");
  TCase *tc = tcase_create ("general");

  GST_DEBUG_CATEGORY_INIT (gst_partial_mix_debug, "partialmix", 0, "");
  tcase_add_checked_fixture (tc, setup, teardown);
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_packets_in_a_row_are_played_to_the_sample);
  tcase_add_test (tc, test_a_packet_may_lie_across_two_frames);
  tcase_add_test (tc, test_what_is_missing_fades_within_120_ms);
  tcase_add_test (tc, test_what_nobody_wants_is_played_out_and_not_concealed);
  tcase_add_test (tc, test_a_cut_packet_is_heard_only_in_the_splice);
  tcase_add_test (tc, test_the_longest_packets_are_all_played);
  tcase_add_test (tc, test_a_raised_voice_counts_several_times);
  tcase_add_test (tc, test_silent_packets_are_neither_decoded_nor_concealed);
  tcase_add_test (tc, test_after_a_restart_nothing_of_before_goes_on);
  tcase_add_test (tc, test_what_a_restart_leaves_has_no_end);
  tcase_add_test (tc, test_a_mix_that_comes_in_is_not_brought_to_a_level);
  tcase_add_test (tc, test_what_is_raised_beyond_16_bits_is_added_more_often);
  return s;
}

GST_CHECK_MAIN (partialmix_voice);
