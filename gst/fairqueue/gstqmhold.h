/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_HOLD_H__
#define __GST_QM_HOLD_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstQmHold:
 *
 * The mode of the inner jitter buffer, and whether it holds its packets back.  A stock
 * rtpjitterbuffer that buffers (mode `buffer`) when its mode becomes another one does so
 * for good: nothing that comes after ends it, no flush and no stop.  Nor does it answer a
 * query that waits in its queue when it begins to buffer, and whoever asks brings no
 * more packets.  So here buffering ends with its mode, and does not begin while
 * a query is under way.
 *
 * Whoever has it takes turns (gst_qm_hold_take_turn()) with a lock, and carries them
 * out without, one at a time.
 */
typedef enum
{
  GST_QM_HOLD_NO,
  GST_QM_HOLD_MAY_BE,           /* it buffers or may begin to */
  GST_QM_HOLD_ENDS              /* the mark has not come out yet */
} GstQmHoldState;

typedef struct
{
  gint wanted, mode;            /* the latter it is, or is being set to */
  gboolean active;              /* what set-active said last */
  guint64 offset;
  gboolean asked;               /* a query is under way */
  GstQmHoldState state;
} GstQmHold;

/**
 * GstQmTurn:
 * @changes: there is anything to do
 * @mode: the inner one is set to that
 * @ends: and holds nothing back any more
 * @active: and is active, with @offset, if it ends
 */
typedef struct
{
  gboolean changes;
  gint mode;
  gboolean ends, active;
  guint64 offset;
} GstQmTurn;

void gst_qm_hold_init (GstQmHold * self);

/* Returns: whether it buffers, and is to go on with that: nobody says how full it is else */
gboolean gst_qm_hold_buffers (const GstQmHold * self);

/* Returns: whether a turn would change anything */
gboolean gst_qm_hold_is_due (const GstQmHold * self);

void gst_qm_hold_take_turn (GstQmHold * self, GstQmTurn * turn);

/* set-active of the inner one was or is about to be called; if @active, it may be due */
void gst_qm_hold_set_active (GstQmHold * self, gboolean active, guint64 offset);

/* What was in the queue is gone, and the mark with it. */
void gst_qm_hold_flush (GstQmHold * self);

/* The mark came out.
 * Returns: whether buffering has ended with that */
gboolean gst_qm_hold_end (GstQmHold * self);

/* Returns: whether a query may go to the inner one */
gboolean gst_qm_hold_ask (GstQmHold * self);

/* It is back. */
void gst_qm_hold_note_answer (GstQmHold * self);

/**
 * gst_qm_turn_begin:
 *
 * Sets the mode of @inner.  If the turn ends buffering @inner is left inactive, without
 * latency, and a mark is on its way through it.
 *
 * Returns: %FALSE if @inner took no mark, being flushed or stopped: then it may hold back
 * what comes later
 */
gboolean gst_qm_turn_begin (const GstQmTurn * turn, GstElement * inner,
    GstPad * inner_sink);

/* Makes @inner active after its latency was set. */
void gst_qm_turn_finish (const GstQmTurn * turn, GstElement * inner);

/* Returns: whether it is the mark of gst_qm_turn_begin() */
gboolean gst_qm_turn_is_mark (GstEvent * event);

G_END_DECLS

#endif /* __GST_QM_HOLD_H__ */
