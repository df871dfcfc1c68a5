/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What partialmix adds to a voice's way in time, and takes in memory.
 *
 *   state [--csv] [memory]
 *
 * With `memory` that alone; it fails if it is more than its target.
 *
 * Latency is virtual time, from the arrival of a packet with a click to the
 * departure of the packet that holds it, over all phases between the packets
 * and the mixer's ticks; forwarding, which takes no virtual time, is measured
 * in real time.  Memory is what malloc() has given out.
 */
#include <gst/rtp/rtp.h>
#include <opus.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "mixbench.h"
#include "speech.h"

#define L16_CAPS "application/x-rtp,media=audio,payload=97," \
  "clock-rate=48000,encoding-name=L16,channels=1"
#define OPUS_CAPS "application/x-rtp,media=audio,payload=96," \
  "clock-rate=48000,encoding-name=OPUS"
#define N_STREAMS 256
#define MAX_STREAMS 128
#define CLICK 20000

static GstBuffer *
make_packet (guint8 pt, guint32 ssrc, guint frame, guint payload_bytes)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (payload_bytes, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, pt);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, (guint16) frame);
  gst_rtp_buffer_set_timestamp (&rtp, frame * SPEECH_FRAME);
  memset (gst_rtp_buffer_get_payload (&rtp), 0, payload_bytes);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = frame * SPEECH_FRAME_TIME;
  return buffer;
}

/* --------------------------------------------------------------- latency -- */

/* When packet @click_frame came, and when its click went out. */
typedef struct
{
  GstClock *clock;
  GstClockTime came, went;
} Click;

static void
look_for_click (GstPad * pad, GstBuffer * buffer, gpointer data)
{
  Click *click = data;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  const guint8 *payload;
  guint n;

  if (click->went != GST_CLOCK_TIME_NONE)
    return;
  gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp);
  payload = gst_rtp_buffer_get_payload (&rtp);
  n = gst_rtp_buffer_get_payload_len (&rtp) / 2;
  for (guint i = 0; i < n; i++)
    if (GST_READ_UINT16_BE (payload + 2 * i) == CLICK)
      click->went = gst_clock_get_time (click->clock);
  gst_rtp_buffer_unmap (&rtp);
}

/* A constant hum, so that nobody takes it for silence, with a click in it. */
static GstBuffer *
make_hum (guint frame, gboolean click)
{
  GstBuffer *buffer = make_packet (97, 1, frame, 2 * SPEECH_FRAME);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *payload;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  payload = gst_rtp_buffer_get_payload (&rtp);
  for (guint i = 0; i < SPEECH_FRAME; i++)
    GST_WRITE_UINT16_BE (payload + 2 * i, i % 96 < 48 ? 500 : 65036);
  if (click)
    GST_WRITE_UINT16_BE (payload, CLICK);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

/* Packets come @phase after the tick.  Returns: the latency of the mix */
static GstClockTime
mix_latency (GstClockTime phase, GstClockTime latency)
{
  const guint n_frames = 40, click_frame = 25;
  gchar *properties = g_strdup_printf ("mix-encoding=l16 latency=%"
      G_GUINT64_FORMAT, latency);
  MixBench *bench = mix_bench_new (properties);
  Click click = { GST_CLOCK (bench->clock), 0, GST_CLOCK_TIME_NONE };

  bench->on_packet = look_for_click;
  bench->data = &click;
  /* room for a mix in L16 (803 kbit/s), not for two streams (784 each) */
  mix_bench_listener (bench, 1, 900000);
  mix_bench_talker (bench, 0, L16_CAPS);
  mix_bench_talker (bench, 2, L16_CAPS);
  mix_bench_play (bench);
  for (guint f = 0; f < n_frames; f++) {
    GstBuffer *other = make_packet (97, 2, f, 2 * SPEECH_FRAME);

    mix_bench_advance (bench, f * SPEECH_FRAME_TIME + phase);
    if (f == click_frame)
      click.came = gst_clock_get_time (click.clock);
    gst_pad_push (g_ptr_array_index (bench->in, 0), make_hum (f,
            f == click_frame));
    gst_pad_push (g_ptr_array_index (bench->in, 1), other);
  }
  mix_bench_advance (bench, n_frames * SPEECH_FRAME_TIME + phase);
  mix_bench_free (bench);
  g_free (properties);
  if (click.went == GST_CLOCK_TIME_NONE)
    g_error ("the click was lost");
  return click.went - click.came;
}

static void
measure_mix_latency (GstClockTime latency)
{
  GstClockTime most = 0, least = GST_CLOCK_TIME_NONE;
  gchar *scene = g_strdup_printf ("mixed, latency=%u ms",
      (guint) (latency / GST_MSECOND));

  for (GstClockTime phase = GST_MSECOND / 2; phase < SPEECH_FRAME_TIME;
      phase += GST_MSECOND) {
    GstClockTime taken = mix_latency (phase, latency);

    most = MAX (most, taken);
    least = MIN (least, taken);
  }
  bench_row ("latency", scene, "at least", (gdouble) least / 1e6, "ms");
  bench_row_target ("latency", scene, "at most", (gdouble) most / 1e6, "ms",
      BENCH_AT_MOST, 20.0 + (gdouble) latency / 1e6);
  g_free (scene);
}

static gsize arrived_us;        /* atomic */

static void
note_arrival (GstPad * pad, GstBuffer * buffer, gpointer data)
{
  g_atomic_pointer_set (&arrived_us, (gsize) g_get_monotonic_time ());
}

/* The last of 32 neighbours. */
static void
measure_forward_latency (const gchar * scene, const gchar * properties)
{
  enum
  { N = 400, NEIGHBOURS = 32 };
  MixBench *bench = mix_bench_new (properties);
  gdouble us[N];

  bench->on_packet = note_arrival;
  for (guint i = 1; i <= NEIGHBOURS; i++)
    mix_bench_listener (bench, i, 0);
  mix_bench_talker (bench, 0, OPUS_CAPS);
  mix_bench_play (bench);
  for (guint f = 0; f < N; f++) {
    GstBuffer *packet = make_packet (96, 1, f, 80);
    gint64 begun;

    mix_bench_advance (bench, f * SPEECH_FRAME_TIME);
    begun = g_get_monotonic_time ();
    gst_pad_push (g_ptr_array_index (bench->in, 0), packet);
    while ((gsize) g_atomic_pointer_get (&bench->n_packets)
        < (gsize) (f + 1) * NEIGHBOURS)
      g_thread_yield ();
    g_usleep (100);             /* the one who pushes goes to sleep */
    us[f] = (gdouble) ((gint64) (gsize) g_atomic_pointer_get (&arrived_us)
        - begun);
  }
  bench_row_target ("latency", scene, "median",
      bench_median (us, N) / 1e3, "ms", BENCH_AT_MOST, 1.0);
  mix_bench_free (bench);
}

/* ---------------------------------------------------------------- memory -- */

static void
send_streams (MixBench * bench, guint first, guint n, guint n_frames)
{
  for (guint f = 0; f < n_frames; f++, bench->frame++) {
    mix_bench_advance (bench, bench->frame * SPEECH_FRAME_TIME);
    for (guint i = first; i < first + n; i++)
      gst_pad_push (g_ptr_array_index (bench->in, 0), make_packet (96, i + 1,
              bench->frame, 80));
  }
}

/* Bytes for each of the second 128 streams. */
static void
measure_memory (const gchar * scene, guint target_bitrate, gdouble most_kib)
{
  MixBench *bench = mix_bench_new (NULL);
  gdouble heap;

  mix_bench_listener (bench, 1, target_bitrate);
  mix_bench_talker (bench, 0, OPUS_CAPS);
  mix_bench_play (bench);
  send_streams (bench, 0, N_STREAMS / 2, 20);
  heap = bench_heap_bytes ();
  send_streams (bench, 0, N_STREAMS, 20);
  bench_row_target ("memory", scene, "for each stream",
      (bench_heap_bytes () - heap) / (N_STREAMS / 2) / 1024, "KiB",
      BENCH_AT_MOST, most_kib);
  mix_bench_free (bench);
}

static void
measure_neighbour_memory (void)
{
  MixBench *bench = mix_bench_new (NULL);
  gdouble heap;

  mix_bench_talker (bench, 0, OPUS_CAPS);
  mix_bench_play (bench);
  send_streams (bench, 0, 64, 10);
  heap = bench_heap_bytes ();
  for (guint i = 1; i <= 64; i++)
    mix_bench_listener (bench, i, 0);
  send_streams (bench, 0, 64, 10);
  bench_row_target ("memory", "64 streams, forwarded", "for each neighbour",
      (bench_heap_bytes () - heap) / 64 / 1024, "KiB", BENCH_AT_MOST, 12.0);
  mix_bench_free (bench);
}

/* A flood of SSRCs beyond max-streams. */
static void
measure_flood (void)
{
  gchar *properties = g_strdup_printf ("max-streams=%u", MAX_STREAMS);
  MixBench *bench = mix_bench_new (properties);
  gdouble heap;

  mix_bench_listener (bench, 1, 60000);
  mix_bench_talker (bench, 0, OPUS_CAPS);
  mix_bench_play (bench);
  send_streams (bench, 0, MAX_STREAMS, 20);
  heap = bench_heap_bytes ();
  send_streams (bench, 0, 100 * MAX_STREAMS, 2);
  send_streams (bench, 0, MAX_STREAMS, 20);
  bench_row_target ("memory", "a flood of 12672 SSRCs too many", "in all",
      (bench_heap_bytes () - heap) / 1024, "KiB", BENCH_AT_MOST, 256.0);
  mix_bench_free (bench);
  g_free (properties);
}

/* The targets leave room for other versions of libc and GStreamer.  A decoder of
 * libopus takes 18 KiB; from 1.5 on, with its deep networks, 138. */
static void
measure_all_memory (void)
{
  gdouble decoder_kib = opus_decoder_get_size (1) / 1024.0;

  measure_memory ("forwarded", 0, 4.5);
  measure_memory ("mixed", 60000, 50.0 + decoder_kib);
  measure_neighbour_memory ();
  measure_flood ();
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  bench_init (&argc, argv);
  if (g_strcmp0 (argv[1], "memory") == 0) {
    measure_all_memory ();
    return bench_missed () == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  measure_forward_latency ("forwarded, the last of 32", MIX_BENCH_DEFAULT);
  measure_forward_latency ("forwarded, the last of 32, push-timeout=never",
      NULL);
  measure_mix_latency (0);
  measure_mix_latency (20 * GST_MSECOND);
  measure_all_memory ();
  return EXIT_SUCCESS;
}
