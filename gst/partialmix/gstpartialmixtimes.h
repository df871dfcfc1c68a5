/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_TIMES_H__
#define __GST_PARTIAL_MIX_TIMES_H__

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

#include "fairmix/wire/fmx-contributor-time.h"

G_BEGIN_DECLS

/* in one packet */
#define GST_PARTIAL_MIX_MAX_TIMES 4
/* streams of which it is still to be told that they entered */
#define GST_PARTIAL_MIX_MAX_ENTERED 32

/**
 * GstPartialMixTime:
 * @next_ts: extended RTP timestamp of a stream ...
 * @next_pos: ... and the mix position that goes with it
 * @mixed: it is in the mix
 */
typedef struct
{
  guint32 ssrc;
  guint clock_rate;
  guint64 next_ts;
  gint64 next_pos;
  gboolean mixed;
} GstPartialMixTime;

/* Who entered a mix, and how often that is still to be told */
typedef struct
{
  guint slot;
  guint left;
} GstPartialMixEntry;

/**
 * GstPartialMixTimes:
 *
 * Where one mix stands against the streams that one listener hears: who enters it is told
 * of at once and some times, all others in turn.
 */
typedef struct
{
  /*< private >*/
  GstPartialMixTime told[GST_PARTIAL_MIX_MAX_TIMES];    /* in this packet */
  guint n_told;
  GstPartialMixEntry entered[GST_PARTIAL_MIX_MAX_ENTERED];      /* the next first */
  guint n_entered;
  guint turn;                   /* slot of whose it is */
  gint64 turn_due;              /* mix position */
  gint64 round_began;
} GstPartialMixTimes;

/* The stream in @slot enters the mix. */
void gst_partial_mix_times_enter (GstPartialMixTimes * times, guint slot);

/* Returns: whether the listener may hear the stream in @slot in the mix; @time: (out) */
typedef gboolean (*GstPartialMixTimeFunc) (gpointer data, guint slot,
    GstPartialMixTime * time);

/* Chooses who the packet at mix position @pos tells of. */
void gst_partial_mix_times_plan (GstPartialMixTimes * times, guint n_slots,
    gint64 pos, guint rate_hz, GstPartialMixTimeFunc look_up, gpointer data);

/* Adds the elements to @rtp, whose first sample has mix position @pos. */
void gst_partial_mix_times_write (const GstPartialMixTimes * times,
    GstRTPBuffer * rtp, guint8 id, gint64 pos, guint rate_hz);

/* Returns: how many @rtp has, at most %GST_PARTIAL_MIX_MAX_TIMES */
guint gst_partial_mix_times_read (GstRTPBuffer * rtp, guint8 id,
    FmxContributorTime * times);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_TIMES_H__ */
