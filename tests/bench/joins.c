/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What it takes when very many streams join at once.
 *
 *   joins [--csv]
 *
 * N streams join on one pad of a partialmix that plays, with a neighbour who
 * gets all of them and one who gets a mix.  CPU time of the thread that receives,
 * without making packets: what all who join cost, and the dearest push, since
 * nothing else that comes in goes on as long as that takes.  Three sizes in turns,
 * medians; the ratio says whether a join costs more where many are in.
 */
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <string.h>

#include "bench.h"

#define PCMU_CAPS "application/x-rtp,media=audio,payload=0,clock-rate=8000," \
  "encoding-name=PCMU"
#define PAYLOAD_BYTES 160
#define N_TURNS 11
#define N_SIZES 3

static const guint sizes[N_SIZES] = { 100, 1000, 5000 };

static GstBuffer *
make_packet (guint32 ssrc)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (PAYLOAD_BYTES, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 0);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  memset (gst_rtp_buffer_get_payload (&rtp), 0xff, PAYLOAD_BYTES);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static GstFlowReturn
drop (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  (void) pad;
  (void) parent;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstPad *
add_listener (GstElement * mix, const gchar * name, guint target_bps)
{
  GstPad *from = gst_element_request_pad_simple (mix, name);
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);

  gst_pad_set_chain_function (pad, drop);
  gst_pad_set_active (pad, TRUE);
  g_object_set (from, "target-bitrate", target_bps, NULL);
  gst_pad_link (from, pad);
  gst_object_unref (from);
  return pad;
}

static GstPad *
add_talker (GstElement * mix)
{
  GstPad *to = gst_element_request_pad_simple (mix, "sink_9");
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *caps = gst_caps_from_string (PCMU_CAPS);
  GstSegment segment;

  gst_pad_set_active (pad, TRUE);
  gst_pad_link (pad, to);
  gst_object_unref (to);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("joins"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

typedef struct
{
  gdouble join_s, longest_s;
} Turn;

static Turn
join (GstPad * talker, guint n_streams)
{
  Turn turn = { 0, 0 };
  guint i;

  for (i = 0; i < n_streams; i++) {
    GstBuffer *packet = make_packet (1000 + i);
    gdouble s = -bench_thread_cpu_s ();

    gst_pad_push (talker, packet);
    s += bench_thread_cpu_s ();
    turn.join_s += s / n_streams;
    turn.longest_s = MAX (turn.longest_s, s);
  }
  return turn;
}

static Turn
measure (guint n_streams)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  GstPad *all, *mixed, *talker;
  Turn turn;

  g_object_set (mix, "max-streams", 65535, NULL);
  gst_bin_add (GST_BIN (pipeline), mix);
  all = add_listener (mix, "src_0", 0);
  mixed = add_listener (mix, "src_1", 100000);
  talker = add_talker (mix);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  turn = join (talker, n_streams);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (talker);
  gst_object_unref (all);
  gst_object_unref (mixed);
  gst_object_unref (pipeline);
  return turn;
}

int
main (int argc, char **argv)
{
  gdouble join_s[N_SIZES][N_TURNS], longest_s[N_SIZES][N_TURNS];
  gdouble ratio[N_TURNS];
  guint i, k;

  bench_init (&argc, argv);
  gst_init (&argc, &argv);
  measure (sizes[0]);
  for (i = 0; i < N_TURNS; i++) {
    for (k = 0; k < N_SIZES; k++) {
      Turn turn = measure (sizes[k]);

      join_s[k][i] = turn.join_s;
      longest_s[k][i] = turn.longest_s;
    }
    ratio[i] = join_s[N_SIZES - 1][i] / join_s[0][i];
  }
  for (k = 0; k < N_SIZES; k++) {
    gchar *scene = g_strdup_printf ("%u join at once", sizes[k]);

    bench_row ("joins", scene, "a join", bench_median (join_s[k],
            N_TURNS) * 1e6, "us");
    bench_row ("joins", scene, "the dearest push", bench_median (longest_s[k],
            N_TURNS) * 1e3, "ms");
    g_free (scene);
  }
  bench_row_target ("joins", "5000 beside 100", "a join / a join",
      bench_median (ratio, N_TURNS), "", BENCH_AT_MOST, 2);
  return 0;
}
