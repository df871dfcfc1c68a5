/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one tick makes (gst/partialmix/gstpartialmixmixer.h), and what a renderer
 * makes of the same frames (gst/partialmix/gstpartialmixrender.h); no element, no
 * clock.  Each stream is a constant, so that a mix tells who is in it. */
#include "../gstfairmixcheck.h"

#include <math.h>

#include "partialmix/gstpartialmixmixer.h"
#include "partialmix/gstpartialmixrender.h"

#define RATE 48000
#define N 960                   /* 20 ms, of a packet and of a frame */
#define N_STREAMS 3
#define N_LISTENERS 3
#define SETTLED 3               /* frames after which a limiter shows the sum */
#define DELAY (40 * GST_MSECOND)
#define SILENCE 80

static const GstPartialMixFormat l16 = {
  GST_PARTIAL_MIX_ENCODING_L16, RATE, 1, 96
};

static const gint16 values[N_STREAMS] = { 1000, 4000, 2000 };

static GstPartialMixMixer mixer;
static GstPartialMixTable table;
static GstPartialMixSettings settings;
static GstPartialMixStream *streams[N_STREAMS];
static GstPartialMixListener listeners[N_LISTENERS];
static GPtrArray *all;
static GstPad *pad;
static GstPartialMixFrame frame;
static gboolean speaks[N_STREAMS];

static GstPartialMixLink *
link_of (guint listener, guint stream)
{
  return gst_partial_mix_listener_get_link (&listeners[listener],
      streams[stream]);
}

/* Listener i is the neighbour of stream i, and hears the others mixed. */
static void
setup (void)
{
  guint i, k;

  frame = (GstPartialMixFrame) {
  .n = N};
  pad = gst_object_ref_sink (gst_pad_new ("sink_0", GST_PAD_SINK));
  gst_partial_mix_settings_init (&settings);
  settings.n_threads = 1;
  gst_partial_mix_table_init (&table);
  gst_partial_mix_mixer_init (&mixer);
  gst_partial_mix_mixer_start (&mixer, &settings, DELAY);
  all = g_ptr_array_new ();
  for (i = 0; i < N_STREAMS; i++) {
    streams[i] = gst_partial_mix_stream_new (100 + i, pad, &l16, RATE);
    streams[i]->neighbour = (gint) i;
    gst_partial_mix_table_add (&table, streams[i]);
    speaks[i] = TRUE;
  }
  for (k = 0; k < N_LISTENERS; k++) {
    gst_partial_mix_listener_init (&listeners[k]);
    gst_partial_mix_listener_start (&listeners[k], &settings);
    listeners[k].index = k;
    listeners[k].negotiated = TRUE;
    listeners[k].mix_format = l16;
    listeners[k].n_names = FMX_CSRC_MAX;
    for (i = 0; i < N_STREAMS; i++) {
      gst_partial_mix_link_init (link_of (k, i),
          i == k ? FMX_HANDOVER_NONE : FMX_HANDOVER_MIXED, 0, 0);
      gst_partial_mix_link_placed (link_of (k, i), streams[i], 0, 0);
    }
  }
}

static void
teardown (void)
{
  guint k;

  for (k = 0; k < N_LISTENERS; k++)
    gst_partial_mix_listener_clear (&listeners[k]);
  gst_partial_mix_mixer_stop (&mixer);
  gst_partial_mix_mixer_clear (&mixer);
  gst_partial_mix_table_clear (&table);
  g_ptr_array_unref (all);
  gst_object_unref (pad);
}

static void
listen (guint n)
{
  guint k;

  for (k = 0; k < n; k++)
    g_ptr_array_add (all, &listeners[k]);
}

static void
say (GstPartialMixStream * stream, gint16 value)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (2 * N, 0, 0);
  GstPartialMixPacket *packet = g_new0 (GstPartialMixPacket, 1);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint i;

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  for (i = 0; i < N; i++)
    GST_WRITE_UINT16_BE ((guint8 *) gst_rtp_buffer_get_payload (&rtp) + 2 * i,
        (guint16) value);
  gst_rtp_buffer_unmap (&rtp);
  packet->buffer = buffer;
  packet->ext_seq = (guint64) frame.pos / N;
  packet->pos = frame.pos;
  gst_partial_mix_voice_push (&stream->voice, packet);
}

static void
decode (void)
{
  guint i;

  for (i = 0; i < N_STREAMS; i++) {
    if (speaks[i])
      say (streams[i], values[i]);
    gst_partial_mix_mixer_take (&mixer, streams[i]);
  }
  gst_partial_mix_mixer_decode (&mixer, &frame, SILENCE);
}

/* One tick; @packets: what each listener gets of his first mix.  Returns: how many
 * mixes were encoded */
static guint
tick (GstBuffer * packets[N_LISTENERS])
{
  guint k, n;

  decode ();
  gst_partial_mix_mixer_plan (&mixer, &frame, &table, all);
  gst_partial_mix_mixer_run (&mixer, &frame);
  for (k = 0; k < N_LISTENERS; k++)
    packets[k] = listeners[k].n_outputs > 0
        && gst_partial_mix_mixer_serves (&mixer, &listeners[k])
        ? gst_partial_mix_mixer_make_packet (&mixer, &frame,
        &listeners[k].outputs[0]) : NULL;
  n = gst_partial_mix_mixer_finish (&mixer);
  frame.pos += N;
  return n;
}

static void
drop (GstBuffer * packets[N_LISTENERS])
{
  guint k;

  for (k = 0; k < N_LISTENERS; k++)
    gst_clear_buffer (&packets[k]);
}

static guint
ticks (guint n)
{
  GstBuffer *packets[N_LISTENERS];
  guint n_encoded = 0;

  while (n-- > 0) {
    n_encoded = tick (packets);
    drop (packets);
  }
  return n_encoded;
}

/* The last sample of a packet's payload */
static gint
last_sample (GstBuffer * packet)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *payload;
  gint value;

  fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
  payload = gst_rtp_buffer_get_payload (&rtp);
  value = (gint16) GST_READ_UINT16_BE (payload + 2 * (N - 1));
  gst_rtp_buffer_unmap (&rtp);
  return value;
}

GST_START_TEST (test_each_listener_gets_the_sum_of_all_others)
{
  GstBuffer *packets[N_LISTENERS];
  guint k;

  listen (N_LISTENERS);
  ticks (SETTLED);
  fail_unless_equals_int (tick (packets), N_LISTENERS);
  fail_unless_equals_int (mixer.n_mixes, N_LISTENERS);
  for (k = 0; k < N_LISTENERS; k++)
    fail_unless_equals_int (last_sample (packets[k]), 7000 - values[k]);
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_who_is_raised_for_one_is_not_for_the_others)
{
  GstBuffer *packets[N_LISTENERS];

  listen (N_LISTENERS);
  listeners[0].has_infos = TRUE;
  g_array_set_size (listeners[0].infos, N_STREAMS);
  for (guint i = 0; i < N_STREAMS; i++)
    g_array_index (listeners[0].infos, GstPartialMixStreamInfo, i).gain =
        i == 2 ? 0.5f : 1.0f;
  ticks (SETTLED);
  tick (packets);
  fail_unless_equals_int (last_sample (packets[0]), 5000);
  fail_unless_equals_int (last_sample (packets[1]), 3000);
  drop (packets);
}

GST_END_TEST;

/* Two who are nobody's neighbours want the same. */
GST_START_TEST (test_the_same_is_made_once_and_sent_to_each)
{
  GstBuffer *packets[N_LISTENERS];
  guint k, i;

  listen (2);
  for (k = 0; k < 2; k++)
    for (i = 0; i < N_STREAMS; i++) {
      gst_partial_mix_link_init (link_of (k, i), FMX_HANDOVER_MIXED, 0, 0);
      gst_partial_mix_link_placed (link_of (k, i), streams[i], 0, 0);
    }
  ticks (SETTLED);
  fail_unless_equals_int (tick (packets), 1);
  fail_unless_equals_int (last_sample (packets[0]), 7000);
  fail_unless_equals_int (last_sample (packets[1]), 7000);
  fail_if (rtp_packet_ssrc (packets[0]) == rtp_packet_ssrc (packets[1]));
  drop (packets);

  /* one of them wants another bitrate: they part, and come together again */
  listeners[1].mix_bitrate_bps = 1;
  fail_unless_equals_int (ticks (1), 2);
  listeners[1].mix_bitrate_bps = 0;
  fail_unless_equals_int (ticks (20), 1);
}

GST_END_TEST;

GST_START_TEST (test_packets_follow_each_other)
{
  GstBuffer *before[N_LISTENERS], *packets[N_LISTENERS];
  GstRTPBuffer a = GST_RTP_BUFFER_INIT, b = GST_RTP_BUFFER_INIT;

  listen (1);
  frame.pos = 100 * N;
  tick (before);
  tick (packets);
  gst_rtp_buffer_map (before[0], GST_MAP_READ, &a);
  gst_rtp_buffer_map (packets[0], GST_MAP_READ, &b);
  fail_unless (gst_rtp_buffer_get_marker (&a));
  fail_if (gst_rtp_buffer_get_marker (&b));
  fail_unless_equals_int ((guint16) (gst_rtp_buffer_get_seq (&b)
          - gst_rtp_buffer_get_seq (&a)), 1);
  fail_unless_equals_int (gst_rtp_buffer_get_timestamp (&b)
      - gst_rtp_buffer_get_timestamp (&a), N);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (packets[0])
      - GST_BUFFER_PTS (before[0]), 20 * GST_MSECOND);
  /* the loudest is named first */
  fail_unless_equals_int (gst_rtp_buffer_get_csrc_count (&b), 2);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&b, 0), 101);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&b, 1), 102);
  gst_rtp_buffer_unmap (&a);
  gst_rtp_buffer_unmap (&b);
  drop (before);
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_when_nobody_speaks_nothing_is_sent)
{
  GstBuffer *packets[N_LISTENERS];
  guint i;

  listen (1);
  ticks (SETTLED);
  for (i = 0; i < N_STREAMS; i++)
    speaks[i] = i == 0;         /* to himself */
  /* what is concealed and what is hung on to is over by then */
  ticks (20);
  fail_unless_equals_int (tick (packets), 0);
  fail_unless (packets[0] == NULL);
  speaks[1] = TRUE;
  tick (packets);
  fail_unless (GST_BUFFER_FLAG_IS_SET (packets[0], GST_BUFFER_FLAG_MARKER));
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_who_listens_no_more_gives_up_his_mix)
{
  guint32 ssrc;

  listen (1);
  ticks (2);
  ssrc = listeners[0].outputs[0].ssrc;
  fail_unless (gst_partial_mix_table_is_mix (&table, ssrc));
  g_ptr_array_set_size (all, 0);
  gst_partial_mix_mixer_release (&mixer, &listeners[0], &table);
  fail_if (gst_partial_mix_table_is_mix (&table, ssrc));
  fail_unless_equals_int (ticks (1), 0);
  fail_unless_equals_int (mixer.n_mixes, 0);
  fail_if (gst_partial_mix_mixer_serves (&mixer, &listeners[0]));
}

GST_END_TEST;

/* Its timestamps count in another clock; the one before may still come back. */
GST_START_TEST (test_a_mix_in_another_encoding_is_another_stream)
{
  guint32 ssrc;

  listen (1);
  ticks (2);
  ssrc = listeners[0].outputs[0].ssrc;
  gst_partial_mix_format_for_mix (&listeners[0].mix_format,
      GST_PARTIAL_MIX_ENCODING_PCMU, RATE, 0);
  fail_unless_equals_int (ticks (1), 1);
  fail_if (listeners[0].outputs[0].ssrc == ssrc);
  fail_unless (gst_partial_mix_table_is_mix (&table, ssrc));
}

GST_END_TEST;

/* ------------------------------------------------------------- renderer -- */

static void
set_channels (guint channels)
{
  gst_clear_caps (&listeners[0].raw_caps);
  listeners[0].raw = TRUE;
  listeners[0].raw_channels = channels;
  listeners[0].raw_caps = gst_caps_new_simple ("audio/x-raw", "channels",
      G_TYPE_INT, (gint) channels, NULL);
}

/* A tick for a renderer; @then: what he takes meanwhile.  The last sample of each
 * channel is in @heard. */
static GstBuffer *
render (guint then, gint heard[2])
{
  GstPartialMixRenderPlan *plan;
  GstBuffer *buffer;
  GstMapInfo map;

  decode ();
  plan = gst_partial_mix_render_plan (&listeners[0], &table, &frame);
  set_channels (then);
  buffer = gst_partial_mix_render_make (&listeners[0], plan, &frame, RATE,
      DELAY);
  gst_partial_mix_mixer_finish (&mixer);
  frame.pos += N;
  if (buffer != NULL) {
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless_equals_int (map.size, 2 * N * plan->channels);
    heard[0] = ((gint16 *) map.data)[(N - 1) * plan->channels];
    heard[1] = ((gint16 *) map.data)[N * plan->channels - 1];
    gst_buffer_unmap (buffer, &map);
  }
  gst_partial_mix_render_plan_free (plan);
  return buffer;
}

static void
render_for (guint n, gint heard[2])
{
  set_channels (2);
  while (n-- > 0) {
    GstBuffer *buffer = render (2, heard);

    gst_clear_buffer (&buffer);
  }
}

/* Streams 1 and 2 are heard, from left and right. */
GST_START_TEST (test_voices_stand_from_left_to_right)
{
  gint heard[2];

  render_for (8, heard);
  fail_unless (heard[0] > heard[1] + 1000, "%d, %d", heard[0], heard[1]);
  /* each with a place of its own */
  streams[1]->info.pan = 1.0f;
  streams[2]->info.pan = -1.0f;
  render_for (4, heard);
  fail_unless (heard[0] > 1900 && heard[0] <= 2000);
  fail_unless (heard[1] > 3900 && heard[1] <= 4000);
}

GST_END_TEST;

GST_START_TEST (test_who_leaves_is_heard_to_his_end_where_he_stood)
{
  gint heard[2];

  render_for (8, heard);
  /* in the middle of the next frame but two */
  streams[1]->next_pos = frame.pos + 2 * N + N / 2;
  streams[1]->n_mixed = 1;
  gst_partial_mix_link_change (link_of (0, 1), streams[1], FMX_HANDOVER_NONE,
      0, frame.pos, 0);
  render_for (2, heard);
  fail_unless (heard[0] > heard[1] + 1000, "%d, %d", heard[0], heard[1]);
  render_for (4, heard);
  /* who is left has the middle */
  fail_unless (ABS (heard[0] - heard[1]) < 10 && heard[0] > 1000);
}

GST_END_TEST;

GST_START_TEST (test_a_frame_has_the_channels_that_were_planned)
{
  gint heard[2];
  guint i;

  frame.pos = 100 * N;
  set_channels (2);
  for (i = 0; i < 6; i++) {
    GstBuffer *buffer = render (1 + i % 2, heard);      /* checks its size */

    fail_unless (buffer != NULL);
    gst_buffer_unref (buffer);
  }
  set_channels (1);
  gst_buffer_unref (render (2, heard));
  fail_unless_equals_int (heard[0], heard[1]);
}

GST_END_TEST;

GST_START_TEST (test_silence_is_a_gap_and_nothing_comes_before_the_beginning)
{
  gint heard[2];
  GstBuffer *buffer;

  speaks[0] = speaks[1] = speaks[2] = FALSE;
  set_channels (2);
  fail_unless (render (2, heard) == NULL);
  render_for (5, heard);
  buffer = render (2, heard);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  gst_buffer_unref (buffer);
  speaks[1] = TRUE;
  buffer = render (2, heard);
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

static Suite *
partialmix_mixer_suite (void)
{
  Suite *suite = suite_create ("partialmix-mixer");
  TCase *tc;

  tc = tcase_create ("mixes");
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_each_listener_gets_the_sum_of_all_others);
  tcase_add_test (tc, test_who_is_raised_for_one_is_not_for_the_others);
  tcase_add_test (tc, test_the_same_is_made_once_and_sent_to_each);
  tcase_add_test (tc, test_packets_follow_each_other);
  tcase_add_test (tc, test_when_nobody_speaks_nothing_is_sent);
  tcase_add_test (tc, test_who_listens_no_more_gives_up_his_mix);
  tcase_add_test (tc, test_a_mix_in_another_encoding_is_another_stream);

  tc = tcase_create ("renderer");
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_voices_stand_from_left_to_right);
  tcase_add_test (tc, test_who_leaves_is_heard_to_his_end_where_he_stood);
  tcase_add_test (tc, test_a_frame_has_the_channels_that_were_planned);
  tcase_add_test (tc,
      test_silence_is_a_gap_and_nothing_comes_before_the_beginning);
  return suite;
}

GST_CHECK_MAIN (partialmix_mixer);
