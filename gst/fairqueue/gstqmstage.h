/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_STAGE_H__
#define __GST_QM_STAGE_H__

#include <gst/gst.h>

#include "gstqmplayout.h"

G_BEGIN_DECLS

/**
 * GstQmStage:
 *
 * The part of qmjitterbuffer that decides when a packet is played.  It sits in
 * the bin's two pads: on the way in it notes when a packet came, because
 * the inner jitter buffer forgets it and what is downstream may hold its
 * thread back; on the way out it sees the packets in order.
 */
typedef struct _GstQmStage GstQmStage;

/**
 * gst_qm_stage_new:
 * @owner: the bin
 * @inner: the jitter buffer in it, whose `latency` and `ts-offset` follow the
 *     playout delay
 * @sinkpad: ghost pad of @inner's sink
 * @srcpad: takes what comes from @inner's src
 */
GstQmStage *gst_qm_stage_new (GstElement * owner, GstElement * inner,
    GstPad * sinkpad, GstPad * srcpad);
void gst_qm_stage_free (GstQmStage * stage);

/* Whether running time passes, and may be compared with packets' timestamps */
void gst_qm_stage_set_playing (GstQmStage * stage, gboolean playing);

/* What the inner one has under the same name */
void gst_qm_stage_set_inner_property (GstQmStage * stage,
    const GValue * value, GParamSpec * pspec);

/* Its mode.  Where it buffers it does so until the mode is another one, no longer. */
void gst_qm_stage_set_mode (GstQmStage * stage, gint mode);

/* The signal set-active
 * Returns: where the inner one is */
guint64 gst_qm_stage_set_active (GstQmStage * stage, gboolean active,
    guint64 offset);

/* The inner one posted how full it is: so does the owner, with @message (transfer full), if
 * it buffers.  It may be posted by another thread that posts one. */
void gst_qm_stage_say_percent (GstQmStage * stage, GstMessage * message);

/* Returns: whether the inner one's latency is being changed, and is another in a moment */
gboolean gst_qm_stage_is_turning (GstQmStage * stage);

/* Before the pads are made active, and after that */
void gst_qm_stage_open (GstQmStage * stage);
void gst_qm_stage_start (GstQmStage * stage);

/* Closes the pads; before the inner one is stopped. */
void gst_qm_stage_close (GstQmStage * stage);

/* Forgets the stream; after the pads were closed. */
void gst_qm_stage_stop (GstQmStage * stage);

void gst_qm_stage_get_settings (GstQmStage * stage,
    GstQmPlayoutSettings * settings);
/* Also sets `latency` and `ts-offset` of the inner one, now or, if another thread
 * is about to, by that thread. */
void gst_qm_stage_set_settings (GstQmStage * stage,
    const GstQmPlayoutSettings * settings);

/* The inner one starts anew: no latency, no ts-offset. */
void gst_qm_stage_release_inner (GstQmStage * stage);

/* What request-pt-map answered: packets of @pt count in @clock_rate. */
void gst_qm_stage_set_clock_rate (GstQmStage * stage, guint pt,
    gint clock_rate);

/* Called, without a lock, when the playout offset or the need has changed. */
void gst_qm_stage_set_changed_callback (GstQmStage * stage,
    void (*changed) (gpointer user_data), gpointer user_data);

void gst_qm_stage_get_offsets (GstQmStage * stage,
    GstQmPlayoutOffsets * offsets);

/* Others of its group are played with @floor: so is this one, at least. */
void gst_qm_stage_set_offset_floor (GstQmStage * stage,
    GstClockTimeDiff floor);

/* Adds our fields to the inner jitter buffer's statistics. */
void gst_qm_stage_add_stats (GstQmStage * stage, GstStructure * stats);

/* Returns: current delay beyond the fastest packets */
GstClockTime gst_qm_stage_get_delay (GstQmStage * stage);

G_END_DECLS

#endif /* __GST_QM_STAGE_H__ */
