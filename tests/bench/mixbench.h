/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef MIXBENCH_H
#define MIXBENCH_H

/* A partialmix among talkers and listeners, driven by a test clock: what it
 * costs does not depend on how long anybody waits. */

#include <gst/check/gsttestclock.h>
#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  GstElement *mix;
  GstTestClock *clock;
  GPtrArray *in;                /* GstPads that feed it */
  GPtrArray *out;               /* GstPads that take */
  guint frame;                  /* frames sent so far */
  gsize n_packets;              /* that came out; atomic */
  void (*on_packet) (GstPad * pad, GstBuffer * buffer, gpointer data);
  gpointer data;
} MixBench;

/* partialmix as it is by default, but for the timeout itself: a machine that is
 * busy, or valgrind, is not to be taken for a neighbour that blocks.  Else one
 * thread does all, so that whatever was caused has happened when a push returns,
 * or the clock was moved */
#define MIX_BENCH_DEFAULT "push-timeout=10000000000"

/* @properties: as in gst-launch, or NULL */
MixBench *mix_bench_new (const gchar * properties);
void mix_bench_free (MixBench * bench);
void mix_bench_play (MixBench * bench);

/* A pad of ours, linked to a new sink_@number, that sends @caps. */
GstPad *mix_bench_talker (MixBench * bench, guint number, const gchar * caps);
/* A pad of ours, linked to a new src_@number with that target, 0 = unlimited. */
GstPad *mix_bench_listener (MixBench * bench, guint number,
    guint target_bitrate);

/* Runs the mixer's ticks until @time. */
void mix_bench_advance (MixBench * bench, GstClockTime time);
/* @n_talkers of the talkers send @n_frames of speech. */
void mix_bench_talk (MixBench * bench, guint n_talkers, guint n_frames,
    gboolean with_levels);

guint64 mix_bench_stat (MixBench * bench, const gchar * field);
guint mix_bench_pad_stat (MixBench * bench, guint listener,
    const gchar * field);

G_END_DECLS

#endif /* MIXBENCH_H */
