/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_MIXER_H__
#define __GST_PARTIAL_MIX_MIXER_H__

#include <gst/gst.h>

#include "fairmix/adapt/fmx-adapt-streams.h"
#include "gst/common/gstfairmixpool.h"

#include "gstpartialmixlistener.h"
#include "gstpartialmixmembers.h"
#include "gstpartialmixsettings.h"
#include "gstpartialmixstream.h"
#include "gstpartialmixtable.h"

G_BEGIN_DECLS

/**
 * GstPartialMixFrame:
 * @pos: mix position of its first sample
 * @n: samples
 * @ramp: samples in which a stream fades in or out
 *
 * What one tick makes.
 */
typedef struct
{
  gint64 pos;
  guint n;
  guint ramp;
} GstPartialMixFrame;

/**
 * GstPartialMixMixer:
 *
 * Makes the mixes of all listeners, in the mixing thread and the threads that
 * help it.  It knows streams, listeners and their outputs; neither the element
 * nor its pads.  In each tick:
 *
 * |[
 *   take                 each stream that may be heard
 *   decode               all of them: one frame each
 *   plan                 which mixes there are, and who gets which
 *   run                  sum, limit, encode: each mix once
 *   make_packet          for each listener's output
 *   finish
 * ]|
 */
typedef struct
{
  guint n_mixes;                /* that are made in this tick */

  /*< private >*/
  guint rate_hz;
  gint complexity;
  gboolean music;
  GstClockTime frame_duration;
  GstClockTime playout_delay;
  GstFairmixPool pool;

  guint64 tick;
  GPtrArray *streams;           /* that may be heard in this tick */
  GPtrArray *heard;             /* those that are */
  GPtrArray *heard_at;          /* the same by slot */
  guint n_inputs;               /* their frames, each by its weight */
  GstPartialMixMembers everybody;       /* the same as a mix */
  gint32 *total;                /* their samples together */
  GArray *contributors;         /* of all of them, the loudest first */
  GPtrArray *shared;            /* of GstPartialMixSharedMix */
  GHashTable *shared_by_key;
  gboolean any_unmade;          /* of their encoders */
  GstPartialMixMembers members[FMX_ADAPT_MAX_MIXES];    /* of one listener */
} GstPartialMixMixer;

void gst_partial_mix_mixer_init (GstPartialMixMixer * mixer);
void gst_partial_mix_mixer_clear (GstPartialMixMixer * mixer);

/* @playout_delay: by how much the media time of a mixed sample lags its place */
void gst_partial_mix_mixer_start (GstPartialMixMixer * mixer,
    const GstPartialMixSettings * settings, GstClockTime playout_delay);
void gst_partial_mix_mixer_stop (GstPartialMixMixer * mixer);

/* By how much the media time of a mix lags its place when it leaves, encoded. */
GstClockTime gst_partial_mix_mixer_delay (guint rate_hz,
    GstClockTime playout_delay);

/* @stream may be heard in this tick: it gave what is due to its voice. */
void gst_partial_mix_mixer_take (GstPartialMixMixer * mixer,
    GstPartialMixStream * stream);

/* The streams that were taken */
const GPtrArray *gst_partial_mix_mixer_get_streams (const GstPartialMixMixer *
    mixer);

/* Without any lock.  Below @silence_level, in -dBov, nobody speaks. */
void gst_partial_mix_mixer_decode (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, guint8 silence_level);

/* With the lock that guards @table and the listeners, of
 * #GstPartialMixListener. */
void gst_partial_mix_mixer_plan (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, GstPartialMixTable * table,
    const GPtrArray * listeners);

/* He listens no more: gives up his mixes.  Mixing thread, or when it does not
 * run. */
void gst_partial_mix_mixer_release (GstPartialMixMixer * mixer,
    GstPartialMixListener * listener, GstPartialMixTable * table);

/* Without any lock. */
void gst_partial_mix_mixer_run (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame);

/* Whether @listener was planned for in this tick: with the plan's lock, or in
 * the mixing thread. */
gboolean gst_partial_mix_mixer_serves (const GstPartialMixMixer * mixer,
    const GstPartialMixListener * listener);

/* Returns: (transfer full) (nullable): the RTP packet of this tick; %NULL if
 * nobody in it speaks */
GstBuffer *gst_partial_mix_mixer_make_packet (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, GstPartialMixOutput * output);

/* The tick is over: gives up the streams.  Returns: how many mixes were
 * encoded */
guint gst_partial_mix_mixer_finish (GstPartialMixMixer * mixer);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_MIXER_H__ */
