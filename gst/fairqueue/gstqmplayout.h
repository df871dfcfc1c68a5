/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_PLAYOUT_H__
#define __GST_QM_PLAYOUT_H__

#include <gst/gst.h>

#include "fairmix/playout/fmx-interarrival.h"
#include "fairmix/playout/fmx-playout.h"
#include "fairmix/playout/fmx-tick-queue.h"
#include "gstqmarrival.h"
#include "gstqmstream.h"

G_BEGIN_DECLS

/**
 * GstQmTiming:
 * @GST_QM_TIMING_RTP: RTP timestamps are sampling times
 * @GST_QM_TIMING_ARRIVAL: they are not: play at the mean inter-arrival time
 * @GST_QM_TIMING_TICK: they do not matter: a FIFO that is served once a packet
 *     time, as in the nanoManipulator paper
 */
typedef enum
{
  GST_QM_TIMING_RTP,
  GST_QM_TIMING_ARRIVAL,
  GST_QM_TIMING_TICK
} GstQmTiming;

/**
 * GstQmShrink:
 * @GST_QM_SHRINK_AUTO: as with @GST_QM_SHRINK_SHIFT, if a time stretcher behind
 *     the decoder has said that it is there; else as with @GST_QM_SHRINK_DROP
 * @GST_QM_SHRINK_DROP: a packet is dropped
 * @GST_QM_SHRINK_SHIFT: none is: the next ones come earlier, and a time
 *     stretcher behind the decoder makes room for them
 */
typedef enum
{
  GST_QM_SHRINK_AUTO,
  GST_QM_SHRINK_DROP,
  GST_QM_SHRINK_SHIFT
} GstQmShrink;

/**
 * GstQmPlayoutSettings:
 * @playout: the library's parameters
 * @active: FALSE: everything passes as the inner jitter buffer made it
 * @timing: where media times come from
 * @shrink: how the delay becomes shorter
 * @fixed_delay: delay of streams that are not audio, and of all while
 *     retransmission is on the least
 * @retransmission: whether lost packets are asked for again
 * @ts_offset: what lip-sync wants added to all timestamps
 * @max_ts_offset_adjustment: how much it may change per frame; 0 = any
 */
typedef struct
{
  FmxPlayoutParams playout;
  gboolean active;
  GstQmTiming timing;
  GstQmShrink shrink;
  GstClockTime fixed_delay;
  gboolean retransmission;
  GstClockTimeDiff ts_offset;
  GstClockTime max_ts_offset_adjustment;
} GstQmPlayoutSettings;

/**
 * GstQmPlayoutOffsets:
 * @offset: how much later than the inner jitter buffer's timestamps this
 *     stream is played now
 * @need: how much of that it needs on its own account
 */
typedef struct
{
  GstClockTimeDiff offset;
  GstClockTimeDiff need;
} GstQmPlayoutOffsets;

/* What was done with the packets so far */
typedef struct
{
  FmxTime last_changed;
  GstClockTimeDiff offset;      /* our timestamps - the inner ones */
  GstClockTimeDiff ts_offset;   /* the part of lip-sync that is in them */
  GstClockTimeDiff moved;       /* the last one, by so much, steering and all */
  gboolean discont;
  gboolean resync;
} GstQmOutput;

/**
 * GstQmSteering:
 *
 * How the inner jitter buffer is steered: it takes a packet that is later than
 * its latency for a new time line, so that is large (@cover); and it waits for
 * a missing packet for latency + ts-offset, which is our delay (@wait).
 */
typedef struct
{
  GstClockTime cover;
  GstClockTime wait;
} GstQmSteering;

static inline GstClockTimeDiff
gst_qm_steering_ts_offset (const GstQmSteering * steering)
{
  return GST_CLOCK_DIFF (steering->cover, steering->wait);
}

/* One packet: what came in, and what is to be done with it */
typedef struct
{
  FmxPlayoutPacket packet;
  gboolean play;
  FmxTime playout;
  FmxTime inner_pts;            /* running time */
  GstEvent *event;
  GstMessage *message;
  gboolean inner_moved;         /* the inner one's settings are to follow */
  gboolean changed;
} GstQmPassage;

/**
 * GstQmPlayout:
 * @owner: the bin, whose messages and clock these are
 * @stretched: somebody downstream stretches time
 *
 * When each packet is played, and what the inner jitter buffer is to be set to for
 * that: it knows no pads and has no lock.
 */
typedef struct
{
  GstElement *owner;

  /* Properties */
  GstQmPlayoutSettings settings;
  GstClockTimeDiff offset_floor;

  /* State */
  GstQmLine line;
  GstQmFormat format;
  FmxPlayout playout;
  FmxInterarrival interarrival;
  FmxTickQueue tick_queue;
  GstQmStream stream;
  GstQmOutput output;
  GstQmSteering steering;
  guint64 n_shrunk;
  gboolean stretched;
} GstQmPlayout;

void gst_qm_playout_init (GstQmPlayout * playout, GstElement * owner);

/* What comes next is another stream. */
void gst_qm_playout_forget (GstQmPlayout * playout);

void gst_qm_playout_set_settings (GstQmPlayout * playout,
    const GstQmPlayoutSettings * settings);

/**
 * gst_qm_playout_pass:
 * @buffer: a packet, in order; it is writable
 * @passage: (out): what is to be done with it
 */
void gst_qm_playout_pass (GstQmPlayout * playout, GstBuffer * buffer,
    GstQmPassage * passage);

/* What packets that were lost have to be moved by to where they would have been played */
GstClockTimeDiff gst_qm_playout_get_shift (const GstQmPlayout * playout);

void gst_qm_playout_get_offsets (const GstQmPlayout * playout,
    GstQmPlayoutOffsets * offsets);

/* Returns: current delay beyond the fastest packets */
GstClockTime gst_qm_playout_get_delay (const GstQmPlayout * playout);

void gst_qm_playout_add_stats (const GstQmPlayout * playout,
    GstStructure * stats);

G_END_DECLS
#endif /* __GST_QM_PLAYOUT_H__ */
