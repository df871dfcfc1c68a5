/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmhold.h"
#include "gstqminner.h"
#include "gstqmtypes.h"

#define MARK "fairmix-playout-mark"

void
gst_qm_hold_init (GstQmHold * self)
{
  *self = (GstQmHold) {
  .wanted = GST_QM_MODE_SLAVE,.mode = GST_QM_MODE_SLAVE,.active = TRUE};
}

gboolean
gst_qm_hold_buffers (const GstQmHold * self)
{
  return self->wanted == GST_QM_MODE_BUFFER && self->mode == GST_QM_MODE_BUFFER;
}

static gint
get_next_mode (const GstQmHold * self)
{
  return self->asked
      && self->wanted == GST_QM_MODE_BUFFER ? self->mode : self->wanted;
}

gboolean
gst_qm_hold_is_due (const GstQmHold * self)
{
  return get_next_mode (self) != self->mode
      || (self->state == GST_QM_HOLD_MAY_BE
      && self->mode != GST_QM_MODE_BUFFER);
}

void
gst_qm_hold_take_turn (GstQmHold * self, GstQmTurn * turn)
{
  gint mode = get_next_mode (self);

  /* who paused it until it is full waits for nothing now */
  if (self->mode == GST_QM_MODE_BUFFER && mode != GST_QM_MODE_BUFFER) {
    self->active = TRUE;
    self->offset = 0;
  }
  turn->changes = gst_qm_hold_is_due (self);
  self->mode = turn->mode = mode;
  turn->active = self->active;
  turn->offset = self->offset;
  turn->ends = FALSE;
  if (mode == GST_QM_MODE_BUFFER) {
    self->state = GST_QM_HOLD_MAY_BE;
  } else if (self->state == GST_QM_HOLD_MAY_BE) {
    turn->ends = TRUE;
    self->state = GST_QM_HOLD_ENDS;
  }
}

void
gst_qm_hold_set_active (GstQmHold * self, gboolean active, guint64 offset)
{
  if (active != self->active)
    self->offset = offset;
  self->active = active;
  self->state = GST_QM_HOLD_MAY_BE;
}

void
gst_qm_hold_flush (GstQmHold * self)
{
  if (self->state == GST_QM_HOLD_ENDS)
    self->state = GST_QM_HOLD_MAY_BE;
}

gboolean
gst_qm_hold_end (GstQmHold * self)
{
  gboolean ends = self->state == GST_QM_HOLD_ENDS;

  if (ends)
    self->state = GST_QM_HOLD_NO;
  return ends;
}

gboolean
gst_qm_hold_ask (GstQmHold * self)
{
  if (self->wanted == GST_QM_MODE_BUFFER || self->mode == GST_QM_MODE_BUFFER)
    return FALSE;
  self->asked = TRUE;
  return TRUE;
}

void
gst_qm_hold_note_answer (GstQmHold * self)
{
  self->asked = FALSE;
}

/* --- what is done to the inner one --- */

static void
set_active (GstElement * inner, gboolean active, guint64 offset)
{
  guint64 last;

  g_signal_emit_by_name (inner, "set-active", active, offset, &last);
}

/* It looks whether it is full with whatever comes in, in mode buffer only, and without a
 * latency it always is.  The mark does not wait for whoever is in the pad. */
gboolean
gst_qm_turn_begin (const GstQmTurn * turn, GstElement * inner,
    GstPad * inner_sink)
{
  const GstQmInnerDelay none = { 0, 0, 0 };
  gboolean marked = TRUE;

  if (turn->ends) {
    set_active (inner, FALSE, turn->offset);
    gst_qm_inner_set_delay (inner, &none, TRUE);
    g_object_set (inner, "mode", GST_QM_MODE_BUFFER, NULL);
    marked = GST_PAD_EVENTFUNC (inner_sink) (inner_sink,
        GST_OBJECT_CAST (inner), gst_event_new_custom
        (GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty (MARK)));
  }
  if (turn->changes)
    g_object_set (inner, "mode", turn->mode, NULL);
  return marked;
}

/* That also wakes it. */
void
gst_qm_turn_finish (const GstQmTurn * turn, GstElement * inner)
{
  if (turn->ends && turn->active)
    set_active (inner, TRUE, turn->offset);
}

gboolean
gst_qm_turn_is_mark (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_CUSTOM_DOWNSTREAM
      && gst_event_has_name (event, MARK);
}
