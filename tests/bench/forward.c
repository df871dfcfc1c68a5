/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What forwarding costs: 64 streams to 1, 8 and 32 neighbours through
 * partialmix, as buffers and as buffer lists, beside rtpfunnel with a tee, in
 * one run.  What it takes to make the packets and to throw them away is
 * measured by itself and taken off.
 *
 *   forward [--csv]
 *   forward once partialmix|arriving|rtpfunnel|nothing buffers|lists M TICKS
 *
 * `arriving` is partialmix without the thread that pushes (push-timeout).
 * A tick is 20 ms: a packet of each stream.  `once` measures nothing: for
 * callgrind.  Times are CPU time of all threads.
 */
#include <gst/rtp/rtp.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "mixbench.h"

#define N_STREAMS 64
#define PAYLOAD_BYTES 80
#define TICK (20 * GST_MSECOND)
#define TICKS 150
#define ROUNDS 5
#define CAPS "application/x-rtp,media=audio,payload=96,clock-rate=48000," \
  "encoding-name=OPUS"

/* What the packets go through: pads to push into, one or one for each
 * stream, and a clock to move, if any. */
typedef struct
{
  GstPad *in[N_STREAMS];
  guint n_in;
  MixBench *mix;
  GstElement *funnel;           /* a bin */
  GPtrArray *out;
  guint64 n_taken;
  guint tick;
} Path;

/* --------------------------------------------------------------- packets -- */

static GstBuffer *
make_packet (guint stream, guint tick)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (PAYLOAD_BYTES, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *payload;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  gst_rtp_buffer_set_ssrc (&rtp, 1 + stream);
  gst_rtp_buffer_set_seq (&rtp, (guint16) tick);
  gst_rtp_buffer_set_timestamp (&rtp, tick * 960);
  payload = gst_rtp_buffer_get_payload (&rtp);
  memset (payload, 0x55, PAYLOAD_BYTES);
  payload[0] = 0x78;            /* Opus: hybrid, 20 ms, mono, one frame */
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = tick * TICK;
  return buffer;
}

static GstFlowReturn
take_buffer (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Path *path = gst_pad_get_element_private (pad);

  path->n_taken++;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstFlowReturn
take_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  Path *path = gst_pad_get_element_private (pad);

  path->n_taken += gst_buffer_list_length (list);
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

static GstPad *
new_sink (Path * path)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);

  gst_pad_set_element_private (pad, path);
  gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_chain_list_function (pad, take_list);
  gst_pad_set_active (pad, TRUE);
  return pad;
}

static GstPad *
new_source (guint number, guint32 ssrc)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);

  gst_pad_set_active (pad, TRUE);
  g_object_set_data (G_OBJECT (pad), "ssrc", GUINT_TO_POINTER (ssrc));
  return pad;
}

static void
start_source (GstPad * pad)
{
  guint32 ssrc = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (pad),
          "ssrc"));
  gchar *id = g_strdup_printf ("stream-%u", ssrc);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;

  if (ssrc != 0)
    gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, ssrc, NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start (id));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  g_free (id);
}

/* ----------------------------------------------------------------- paths -- */

static void
use_nothing (Path * path, guint n_neighbours)
{
  GstPad *sink = new_sink (path);

  path->in[0] = new_source (0, 0);
  path->n_in = 1;
  g_ptr_array_add (path->out, sink);
  g_assert_true (gst_pad_link (path->in[0], sink) == GST_PAD_LINK_OK);
  start_source (path->in[0]);
}

/* All streams come from one socket, so they come on one pad. */
static void
use_mix (Path * path, guint n_neighbours, const gchar * properties)
{
  path->mix = mix_bench_new (properties);
  for (guint i = 1; i <= n_neighbours; i++)
    mix_bench_listener (path->mix, i, 0);
  path->in[0] = mix_bench_talker (path->mix, 0, CAPS);
  path->n_in = 1;
  mix_bench_play (path->mix);
}

static void
use_partialmix (Path * path, guint n_neighbours)
{
  use_mix (path, n_neighbours, MIX_BENCH_DEFAULT);
}

static void
use_arriving (Path * path, guint n_neighbours)
{
  use_mix (path, n_neighbours, NULL);
}

/* rtpfunnel wants a pad for each stream, and has one way out. */
static void
use_rtpfunnel (Path * path, guint n_neighbours)
{
  GstElement *funnel = gst_element_factory_make ("rtpfunnel", NULL);
  GstElement *tee = gst_element_factory_make ("tee", NULL);

  path->funnel = gst_object_ref_sink (gst_bin_new (NULL));
  gst_bin_add_many (GST_BIN (path->funnel), funnel, tee, NULL);
  g_assert_true (gst_element_link (funnel, tee));
  for (guint i = 0; i < n_neighbours; i++) {
    GstPad *peer = gst_element_request_pad_simple (tee, "src_%u");

    g_ptr_array_add (path->out, new_sink (path));
    g_assert_true (gst_pad_link (peer, g_ptr_array_index (path->out, i))
        == GST_PAD_LINK_OK);
    gst_object_unref (peer);
  }
  gst_element_set_state (path->funnel, GST_STATE_PLAYING);
  for (path->n_in = 0; path->n_in < N_STREAMS; path->n_in++) {
    GstPad *peer = gst_element_request_pad_simple (funnel, "sink_%u");

    path->in[path->n_in] = new_source (path->n_in, path->n_in + 1);
    g_assert_true (gst_pad_link (path->in[path->n_in], peer)
        == GST_PAD_LINK_OK);
    start_source (path->in[path->n_in]);
    gst_object_unref (peer);
  }
}

typedef struct
{
  const gchar *name;
  void (*use) (Path * path, guint n_neighbours);
} PathClass;

static const PathClass path_classes[] = {
  {"nothing", use_nothing},
  {"partialmix", use_partialmix},
  {"arriving", use_arriving},
  {"rtpfunnel", use_rtpfunnel},
};

static Path *
path_new (const gchar * name, guint n_neighbours)
{
  Path *path = g_new0 (Path, 1);

  path->out = g_ptr_array_new_with_free_func (gst_object_unref);
  for (guint i = 0; i < G_N_ELEMENTS (path_classes); i++)
    if (strcmp (path_classes[i].name, name) == 0)
      path_classes[i].use (path, n_neighbours);
  g_assert_cmpuint (path->n_in, >, 0);
  return path;
}

static void
path_free (Path * path)
{
  if (path->mix != NULL) {
    mix_bench_free (path->mix);
  } else {
    for (guint i = 0; i < path->n_in; i++)
      gst_object_unref (path->in[i]);
  }
  if (path->funnel != NULL) {
    gst_element_set_state (path->funnel, GST_STATE_NULL);
    gst_object_unref (path->funnel);
  }
  g_ptr_array_unref (path->out);
  g_free (path);
}

static guint64
path_taken (Path * path)
{
  return path->mix != NULL
      ? (gsize) g_atomic_pointer_get (&path->mix->n_packets) : path->n_taken;
}

/* ----------------------------------------------------------------- going -- */

static void
send_tick (Path * path, gboolean lists)
{
  GstBufferList *list = lists ? gst_buffer_list_new_sized (N_STREAMS) : NULL;

  for (guint i = 0; i < N_STREAMS; i++) {
    GstBuffer *packet = make_packet (i, path->tick);

    if (list != NULL)
      gst_buffer_list_insert (list, -1, packet);
    else
      gst_pad_push (path->in[i % path->n_in], packet);
  }
  if (list != NULL)
    gst_pad_push_list (path->in[0], list);
}

static void
run_ticks (Path * path, gboolean lists, guint n_ticks)
{
  for (guint t = 0; t < n_ticks; t++, path->tick++) {
    if (path->mix != NULL)
      mix_bench_advance (path->mix, path->tick * TICK);
    send_tick (path, lists);
  }
}

/* Nanoseconds of CPU time for one packet that comes in. */
static gdouble
round_ns (Path * path, gboolean lists)
{
  gdouble begun = bench_cpu_s ();

  run_ticks (path, lists, TICKS);
  return (bench_cpu_s () - begun) * 1e9 / (TICKS * N_STREAMS);
}

/* The last ones may still be on their way. */
static void
wait_taken (Path * path, guint64 n)
{
  while (path_taken (path) < n)
    g_usleep (100);
}

static void
measure (const gchar * name, gboolean lists, guint n_neighbours)
{
  Path *bare = path_new ("nothing", 1);
  Path *path = path_new (name, n_neighbours);
  gdouble ns[ROUNDS];
  gchar *scene = g_strdup_printf ("64 streams to %u, %s", n_neighbours,
      lists ? "lists" : "buffers");
  const gchar *what =
      strcmp (name, "arriving") == 0 ? "push-timeout=never" : name;
  guint64 per_round = (guint64) TICKS * N_STREAMS * n_neighbours;
  guint64 taken;

  round_ns (bare, lists);
  round_ns (path, lists);
  wait_taken (path, per_round);
  taken = path_taken (path);
  for (guint r = 0; r < ROUNDS; r++) {
    gdouble feeding = round_ns (bare, lists);

    ns[r] = (round_ns (path, lists) - feeding) / n_neighbours;
  }
  wait_taken (path, taken + ROUNDS * per_round);
  g_assert_cmpuint (path_taken (path) - taken, ==, ROUNDS * per_round);
  bench_row_target ("forward", scene, what, bench_median (ns, ROUNDS) / 1e3,
      "us", path->mix != NULL ? BENCH_AT_MOST : BENCH_NO_TARGET, 1.0);
  path_free (path);
  path_free (bare);
  g_free (scene);
}

/* All of it: what still waits when the element stops would not be counted. */
static void
once (const gchar * name, gboolean lists, guint n_neighbours, guint n_ticks)
{
  Path *path = path_new (name, n_neighbours);

  run_ticks (path, lists, n_ticks);
  wait_taken (path, (guint64) n_ticks * N_STREAMS * n_neighbours);
  path_free (path);
}

int
main (int argc, char **argv)
{
  static const guint sizes[] = { 1, 8, 32 };

  gst_init (&argc, &argv);
  if (argc == 6 && strcmp (argv[1], "once") == 0) {
    once (argv[2], strcmp (argv[3], "lists") == 0, (guint) atoi (argv[4]),
        (guint) atoi (argv[5]));
    return EXIT_SUCCESS;
  }
  bench_init (&argc, argv);
  bench_stay_on_one_processor ();
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    measure ("partialmix", FALSE, sizes[i]);
    measure ("partialmix", TRUE, sizes[i]);
    measure ("arriving", FALSE, sizes[i]);
    measure ("arriving", TRUE, sizes[i]);
    measure ("rtpfunnel", FALSE, sizes[i]);
  }
  return EXIT_SUCCESS;
}
