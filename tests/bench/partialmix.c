/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What mixing many voices costs: partialmix beside bare libopus, which decodes
 * and encodes just as often, and beside the graph of stock elements that does
 * the same; all with the same recorded voices, in one run.
 *
 *   partialmix [--csv] [crowd [N...]] [lean [N...]] [speech [N...]] [conversation [N...]]
 *       [stock [N...]]
 *
 *   partialmix once ours|bare N FRAMES
 *
 * Without arguments: crowd 8 32 64 128, lean and speech 8 32 128, conversation 64 1000,
 * stock 8 32.  A crowd's mixes are CELT (mix-music), those of `lean` and `speech`
 * are coded as speech, with 16 and 32 kbit/s.
 * `once` does one of the crowd's two sides and measures nothing: for callgrind.
 * Times are CPU time of all threads, on one processor, of which there is one
 * that mixes: threads that share caches slow each other down, which would count
 * as CPU time.
 */
#include <gst/rtp/rtp.h>
#include <opus.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/adapt/fmx-adapt-mix.h"
#include "fairmix/mix/fmx-mix-kernels.h"

#include "bench.h"
#include "mixbench.h"
#include "speech.h"
#include "stock.h"

#define SECONDS_OF_SPEECH 20
#define ROUNDS 51
#define ROUND_FRAMES 10         /* short: both sides meet the same other load */
#define WARM_UP_FRAMES 100
#define COMPLEXITY 5
#define LEAN_BITRATE 16000      /* SILK: below 20 kbit/s mixes are wideband */
#define TALKERS 8               /* in a conversation */

#define TARGET_THREE_SEPARATE 215000    /* and a mix of 32 kbit/s */

/* ---------------------------------------------------------- bare libopus -- */

/* N decoders, N encoders and nothing else: what cannot be saved. */
typedef struct
{
  guint n;
  OpusDecoder **decoders;
  OpusEncoder **encoders;
  gint16 *frames;
  guint frame;
} Bare;

static Bare
bare_new (guint n, guint bitrate, gboolean music)
{
  Bare bare = {.n = n };

  bare.decoders = g_new (OpusDecoder *, n);
  bare.encoders = g_new (OpusEncoder *, n);
  bare.frames = g_new (gint16, (gsize) n * SPEECH_FRAME);
  for (guint i = 0; i < n; i++) {
    bare.decoders[i] = opus_decoder_create (SPEECH_RATE, 1, NULL);
    bare.encoders[i] = opus_encoder_create (SPEECH_RATE, 1,
        OPUS_APPLICATION_AUDIO, NULL);
    opus_encoder_ctl (bare.encoders[i],
        OPUS_SET_BITRATE ((opus_int32) bitrate));
    opus_encoder_ctl (bare.encoders[i], OPUS_SET_COMPLEXITY (COMPLEXITY));
    if (!music)
      opus_encoder_ctl (bare.encoders[i], OPUS_SET_SIGNAL (OPUS_SIGNAL_VOICE));
  }
  return bare;
}

static void
bare_free (Bare * bare)
{
  for (guint i = 0; i < bare->n; i++) {
    opus_decoder_destroy (bare->decoders[i]);
    opus_encoder_destroy (bare->encoders[i]);
  }
  g_free (bare->decoders);
  g_free (bare->encoders);
  g_free (bare->frames);
}

/* Everybody's frame becomes the mix of the others; not counted. */
static void
bare_mix (Bare * bare)
{
  const gint16 **inputs = g_newa (const gint16 *, bare->n);
  gint32 total[SPEECH_FRAME];

  for (guint i = 0; i < bare->n; i++)
    inputs[i] = bare->frames + (gsize) i *SPEECH_FRAME;
  fmx_mix_kernels_best ()->sum (total, inputs, bare->n, SPEECH_FRAME);
  for (guint i = 0; i < bare->n; i++) {
    gint16 *frame = bare->frames + (gsize) i * SPEECH_FRAME;

    for (guint k = 0; k < SPEECH_FRAME; k++)
      frame[k] = (gint16) CLAMP (total[k] - frame[k], -32767, 32767);
  }
}

/* CPU seconds that libopus takes for @n_frames of everybody. */
static gdouble
bare_run (Bare * bare, guint n_frames)
{
  guint8 packet[1500];
  gdouble taken = 0.0, begun;

  for (guint f = 0; f < n_frames; f++, bare->frame++) {
    begun = bench_thread_cpu_s ();
    for (guint i = 0; i < bare->n; i++) {
      const SpeechPacket *in = speech_packet (i, bare->frame);

      g_assert_cmpint (opus_decode (bare->decoders[i], in->data,
              (opus_int32) in->size, bare->frames + (gsize) i * SPEECH_FRAME,
              SPEECH_FRAME, 0), ==, SPEECH_FRAME);
    }
    taken += bench_thread_cpu_s () - begun;
    bare_mix (bare);
    begun = bench_thread_cpu_s ();
    for (guint i = 0; i < bare->n; i++)
      g_assert_cmpint (opus_encode (bare->encoders[i], bare->frames
              + (gsize) i * SPEECH_FRAME, SPEECH_FRAME, packet, sizeof packet),
          >, 0);
    taken += bench_thread_cpu_s () - begun;
  }
  return taken;
}

/* ----------------------------------------------------------------- crowd -- */

/* Exactly a mix of @bitrate with the names of its contributors: too little for
 * a stream beside the leanest mix. */
static guint
all_mixed_target (guint n, guint bitrate)
{
  const FmxAdaptMix mix = {
    .min_bitrate_bps = bitrate,
    .max_bitrate_bps = bitrate,
    .packet_time = 20 * FMX_MSECOND,
    .n_contributors = n - 1,
    .levels = true,
  };

  return fmx_adapt_mix_wire_bps (&mix, bitrate);
}

static MixBench *
make_party (guint n, guint target_bitrate, guint mix_bitrate, gboolean music)
{
  gchar *properties = g_strdup_printf ("threads=1 mix-music=%u "
      "min-mix-bitrate=%u max-mix-bitrate=%u", music, mix_bitrate,
      mix_bitrate);
  MixBench *bench = mix_bench_new (properties);

  g_free (properties);
  for (guint i = 0; i < n; i++) {
    mix_bench_listener (bench, i, target_bitrate);
    mix_bench_talker (bench, i, SPEECH_CAPS);
  }
  mix_bench_play (bench);
  return bench;
}

static gdouble
per_participant_ms (gdouble cpu_s, guint n, guint n_frames)
{
  return cpu_s * 1e3 / n / (n_frames * 0.02);
}

/* One crowd: what its mixes are, and what a participant may cost. */
typedef struct
{
  const gchar *scene;
  guint bitrate;
  gboolean music;
  guint first_config, last_config;      /* [RFC6716 3.1] */
  gdouble target_ms;
} Crowd;

typedef struct
{
  const Crowd *crowd;
  guint n_packets, n_in_mode;
} Modes;

static void
note_mode (GstPad * pad, GstBuffer * buffer, gpointer data)
{
  Modes *modes = data;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint config;

  g_assert_true (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  config = *(const guint8 *) gst_rtp_buffer_get_payload (&rtp) >> 3;
  gst_rtp_buffer_unmap (&rtp);
  modes->n_packets++;
  modes->n_in_mode += config >= modes->crowd->first_config
      && config <= modes->crowd->last_config;
}

/* All talk, all are mixed, everybody hears everybody but himself. */
static void
run_one_crowd (const Crowd * crowd, guint n)
{
  gint64 begun_us = g_get_monotonic_time ();
  gchar *scene = g_strdup_printf (crowd->scene, n);
  MixBench *bench = make_party (n, all_mixed_target (n, crowd->bitrate),
      crowd->bitrate, crowd->music);
  gdouble set_up_s, ours[ROUNDS], theirs[ROUNDS], ratio[ROUNDS];
  guint64 encoded, decoded;
  Bare bare = bare_new (n, crowd->bitrate, crowd->music);
  Modes modes = { crowd, 0, 0 };

  mix_bench_talk (bench, n, 1, FALSE);
  set_up_s = (gdouble) (g_get_monotonic_time () - begun_us) / 1e6;
  mix_bench_talk (bench, n, WARM_UP_FRAMES, FALSE);
  bench->data = &modes;
  bench->on_packet = note_mode;
  mix_bench_talk (bench, n, ROUND_FRAMES, FALSE);
  bench->on_packet = NULL;
  bare_run (&bare, WARM_UP_FRAMES / 4);
  encoded = mix_bench_stat (bench, "n-encoded");
  decoded = mix_bench_stat (bench, "n-decoded");

  for (guint r = 0; r < ROUNDS; r++) {
    gdouble begun = bench_cpu_s ();

    mix_bench_talk (bench, n, ROUND_FRAMES, FALSE);
    ours[r] = bench_cpu_s () - begun;
    theirs[r] = bare_run (&bare, ROUND_FRAMES);
    ratio[r] = ours[r] / theirs[r];
  }
  encoded = mix_bench_stat (bench, "n-encoded") - encoded;
  decoded = mix_bench_stat (bench, "n-decoded") - decoded;

  bench_row_target ("crowd", scene, "partialmix", per_participant_ms
      (bench_median (ours, ROUNDS), n, ROUND_FRAMES), "ms/s", BENCH_AT_MOST,
      crowd->target_ms);
  bench_row_target ("crowd", scene, "bitrate of a mix", mix_bench_pad_stat
      (bench, 0, "mix-bitrate") / 1e3, "kbit/s", BENCH_AT_LEAST,
      crowd->bitrate / 1e3);
  bench_row_target ("crowd", scene, "mixes in that mode",
      100.0 * modes.n_in_mode / modes.n_packets, "%", BENCH_AT_LEAST, 100.0);
  bench_row ("crowd", scene, "separate streams", mix_bench_pad_stat (bench, 0,
          "n-separate"), "");
  bench_row ("crowd", scene, "bare libopus", per_participant_ms (bench_median
          (theirs, ROUNDS), n, ROUND_FRAMES), "ms/s");
  bench_row_target ("crowd", scene, "partialmix / bare libopus",
      bench_median (ratio, ROUNDS), "", BENCH_AT_MOST, 1.15);
  bench_row_target ("crowd", scene, "decodes for each frame of one talker",
      (gdouble) decoded / ROUNDS / ROUND_FRAMES / n, "", BENCH_AT_MOST, 1.0);
  bench_row_target ("crowd", scene, "encodes for each frame of one listener",
      (gdouble) encoded / ROUNDS / ROUND_FRAMES / n, "", BENCH_AT_MOST, 1.0);
  bench_row_target ("crowd", scene, "set-up, first packets included",
      set_up_s, "s", BENCH_AT_MOST, 1.0);
  bare_free (&bare);
  mix_bench_free (bench);
  g_free (scene);
}

static void
run_crowd (guint n)
{
  static const Crowd celt = {
    "N = %u, all talk, CELT mixes", SPEECH_BITRATE, TRUE, 16, 31, 4.0
  };

  run_one_crowd (&celt, n);
}

static void
run_lean (guint n)
{
  static const Crowd lean = {
    "N = %u, all talk, lean mixes", LEAN_BITRATE, FALSE, 8, 11, 7.5
  };

  run_one_crowd (&lean, n);
}

/* As mixes are by default */
static void
run_speech (guint n)
{
  static const Crowd speech = {
    "N = %u, all talk, mixes of speech", SPEECH_BITRATE, FALSE, 12, 15, 10.0
  };

  run_one_crowd (&speech, n);
}

/* ---------------------------------------------------------- conversation -- */

/* Returns: how often the streams that are separate for listener @n - 1 changed
 * since the last call */
static guint
count_changes (GstBus * bus, guint n)
{
  GstMessage *message;
  guint changes = 0;

  while ((message = gst_bus_pop (bus)) != NULL) {
    const GstStructure *s = gst_message_get_structure (message);
    gint neighbour;

    changes += gst_message_has_name (message, "fairmix-selection")
        && gst_structure_get_int (s, "neighbour", &neighbour)
        && neighbour == (gint) n - 1;
    gst_message_unref (message);
  }
  return changes;
}

static void
run_conversation (guint n)
{
  GstBus *bus = gst_bus_new ();
  gchar *scene = g_strdup_printf ("N = %u, 8 talk, 3 separate", n);
  MixBench *bench = make_party (n, TARGET_THREE_SEPARATE, SPEECH_BITRATE,
      FALSE);
  gdouble taken[ROUNDS];
  guint64 encoded, decoded, packets;
  guint n_frames = ROUNDS * ROUND_FRAMES;

  gst_element_set_bus (bench->mix, bus);
  mix_bench_talk (bench, TALKERS, 3 * WARM_UP_FRAMES, TRUE);
  count_changes (bus, n);
  encoded = mix_bench_stat (bench, "n-encoded");
  decoded = mix_bench_stat (bench, "n-decoded");
  packets = bench->n_packets;
  for (guint r = 0; r < ROUNDS; r++) {
    gdouble begun = bench_cpu_s ();

    mix_bench_talk (bench, TALKERS, ROUND_FRAMES, TRUE);
    taken[r] = bench_cpu_s () - begun;
  }
  encoded = mix_bench_stat (bench, "n-encoded") - encoded;
  decoded = mix_bench_stat (bench, "n-decoded") - decoded;
  packets = bench->n_packets - packets;

  bench_row_target ("conversation", scene, "partialmix", per_participant_ms
      (bench_median (taken, ROUNDS), n, ROUND_FRAMES), "ms/s", BENCH_AT_MOST,
      1.0);
  bench_row ("conversation", scene, "separate streams of a listener",
      mix_bench_pad_stat (bench, n - 1, "n-separate"), "");
  bench_row_target ("conversation", scene, "decodes in a frame",
      (gdouble) decoded / n_frames, "", BENCH_AT_MOST, 5.0);
  bench_row_target ("conversation", scene, "encodes in a frame",
      (gdouble) encoded / n_frames, "", BENCH_AT_MOST, 6.0);
  bench_row_target ("conversation", scene, "changes for a listener in a minute",
      count_changes (bus, n) * 60.0 / (n_frames * 0.02), "", BENCH_AT_MOST,
      2.0);
  bench_row ("conversation", scene, "packets out for each participant",
      (gdouble) packets / n / (n_frames * 0.02), "1/s");
  gst_element_set_bus (bench->mix, NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  mix_bench_free (bench);
  g_free (scene);
}

/* ----------------------------------------------------------------- stock -- */

/* One round of ours first: the ratio is of one run. */
static void
run_stock (guint n)
{
  const guint n_frames = 150;
  gchar *scene = g_strdup_printf ("N = %u, all talk, CELT mixes", n);
  MixBench *bench = make_party (n, all_mixed_target (n, SPEECH_BITRATE),
      SPEECH_BITRATE, TRUE);
  gdouble ours, set_up_s, stock;

  mix_bench_talk (bench, n, 50, FALSE);
  ours = bench_cpu_s ();
  mix_bench_talk (bench, n, n_frames, FALSE);
  ours = bench_cpu_s () - ours;
  mix_bench_free (bench);
  stock = stock_run (n, n_frames, &set_up_s);

  bench_row ("stock", scene, "audiomixer graph", per_participant_ms (stock, n,
          n_frames), "ms/s");
  bench_row ("stock", scene, "its set-up", set_up_s, "s");
  bench_row_target ("stock", scene, "audiomixer graph / partialmix",
      stock / ours, "", n >= 128 ? BENCH_AT_LEAST : BENCH_NO_TARGET, 17.0);
  g_free (scene);
}

/* ------------------------------------------------------------------ main -- */

typedef struct
{
  const char *name;
  void (*run) (guint n);
  const char *sizes;            /* by default */
} Part;

static const Part parts[] = {
  {"crowd", run_crowd, "8 32 64 128"},
  {"lean", run_lean, "8 32 128"},
  {"speech", run_speech, "8 32 128"},
  {"conversation", run_conversation, "64 1000"},
  {"stock", run_stock, "8 32"},
};

static const Part *
find_part (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    if (strcmp (parts[i].name, name) == 0)
      return &parts[i];
  return NULL;
}

static void
run_part (const Part * part, gchar ** sizes)
{
  for (; *sizes != NULL && find_part (*sizes) == NULL; sizes++)
    part->run ((guint) strtoul (*sizes, NULL, 10));
}

/* Returns: the exit status */
static int
run_once (const gchar * side, guint n, guint n_frames)
{
  speech_load (2);
  if (strcmp (side, "ours") == 0) {
    MixBench *bench = make_party (n, all_mixed_target (n, SPEECH_BITRATE),
        SPEECH_BITRATE, TRUE);

    mix_bench_talk (bench, n, n_frames, FALSE);
    mix_bench_free (bench);
  } else {
    Bare bare = bare_new (n, SPEECH_BITRATE, TRUE);

    bare_run (&bare, n_frames);
    bare_free (&bare);
  }
  return EXIT_SUCCESS;
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  if (argc == 5 && strcmp (argv[1], "once") == 0)
    return run_once (argv[2], (guint) atoi (argv[3]), (guint) atoi (argv[4]));
  bench_init (&argc, argv);
  bench_stay_on_one_processor ();
  speech_load (SECONDS_OF_SPEECH);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    gchar **sizes = g_strsplit (parts[i].sizes, " ", -1);
    gboolean chosen = argc == 1;

    for (gint k = 1; k < argc; k++)
      if (find_part (argv[k]) == &parts[i]) {
        chosen = TRUE;
        if (argv[k + 1] != NULL && find_part (argv[k + 1]) == NULL) {
          g_strfreev (sizes);
          sizes = g_strdupv (argv + k + 1);
        }
        break;
      }
    if (chosen)
      run_part (&parts[i], sizes);
    g_strfreev (sizes);
  }
  return EXIT_SUCCESS;
}
