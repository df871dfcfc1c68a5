/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixtimed.h"

void
gst_fairmix_timed_init (GstFairmixTimed * timed,
    const GstFairmixTimedFuncs * funcs, GstElement * element,
    GstFairmixLock * lock)
{
  timed->funcs = funcs;
  timed->element = element;
  timed->lock = lock;
  timed->timer = gst_fairmix_timer_new (funcs->name, funcs->on_timeout,
      element);
}

/* after the timer's last call */
static void
gst_fairmix_timed_end (GstFairmixTimed * timed)
{
  gst_fairmix_lock_acquire (timed->lock);
  timed->started = FALSE;
  timed->funcs->stop (timed->element);
  gst_fairmix_lock_release (timed->lock);
}

GParamSpec *
gst_fairmix_timed_share_thread_param_spec (void)
{
  return g_param_spec_boolean ("share-thread", "Share Thread",
      "The thread of the clock meets deadlines, for all who share it, instead of "
      "one of its own: only where nothing downstream blocks", FALSE,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}

void
gst_fairmix_timed_clear (GstFairmixTimed * timed)
{
  g_clear_pointer (&timed->timer, gst_fairmix_timer_free);
  gst_fairmix_timed_end (timed);
  gst_fairmix_time_set_clock (&timed->time, NULL);
}

/* What a network does is told by the system's clock.  That of a sound device (which can
 * be made the slave of another) starts late, goes in steps, and is wrong by some parts in
 * a thousand, all of which would pass for queues.
 *
 * Returns: (transfer full): the clock to be used where the pipeline has @clock */
static GstClock *
gst_fairmix_timed_clock_for (GstClock * clock)
{
  if (clock != NULL
      && GST_OBJECT_FLAG_IS_SET (clock, GST_CLOCK_FLAG_CAN_SET_MASTER))
    return gst_system_clock_obtain ();
  return clock != NULL ? gst_object_ref (clock) : NULL;
}

static gboolean
gst_fairmix_timed_play (GstFairmixTimed * timed)
{
  GstClock *theirs = gst_element_get_clock (timed->element);
  GstClock *clock = gst_fairmix_timed_clock_for (theirs);
  gboolean shared;

  gst_clear_object (&theirs);
  if (clock == NULL) {
    GST_ELEMENT_ERROR (timed->element, CORE, CLOCK,
        ("%s needs a clock: %s.", timed->funcs->name, timed->funcs->needs),
        ("the pipeline has no clock, or was told to use none"));
    return FALSE;
  }
  gst_fairmix_lock_acquire (timed->lock);
  if (!timed->started) {
    gst_fairmix_time_reset (&timed->time);
    timed->funcs->start (timed->element);
    timed->started = TRUE;
  }
  gst_fairmix_lock_release (timed->lock);
  GST_OBJECT_LOCK (timed->element);
  shared = timed->shares_thread;
  GST_OBJECT_UNLOCK (timed->element);
  gst_fairmix_timer_start (timed->timer, clock, gst_clock_get_time (clock),
      shared);
  gst_object_unref (clock);
  return TRUE;
}

/* The pads have been deactivated: the timer's function cannot be held back by a
 * push. */
static void
gst_fairmix_timed_stop (GstFairmixTimed * timed)
{
  if (timed->funcs->disconnect != NULL)
    timed->funcs->disconnect (timed->element);
  gst_fairmix_timer_stop (timed->timer);
  gst_fairmix_timed_end (timed);
}

GstStateChangeReturn
gst_fairmix_timed_change_state (GstFairmixTimed * timed,
    GstStateChange transition, gpointer parent)
{
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (timed->funcs->prepare != NULL
          && !timed->funcs->prepare (timed->element))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      if (!gst_fairmix_timed_play (timed))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_fairmix_timer_pause (timed->timer);
      break;
    default:
      break;
  }

  ret = GST_ELEMENT_CLASS (parent)->change_state (timed->element, transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_fairmix_timed_stop (timed);
  return ret;
}

gboolean
gst_fairmix_timed_set_clock (GstFairmixTimed * timed, GstClock * clock,
    gpointer parent)
{
  GstClock *ours = gst_fairmix_timed_clock_for (clock);

  gst_fairmix_lock_acquire (timed->lock);
  gst_fairmix_time_set_clock (&timed->time, ours);
  gst_fairmix_lock_release (timed->lock);
  gst_fairmix_timer_set_clock (timed->timer, ours);
  gst_clear_object (&ours);
  return GST_ELEMENT_CLASS (parent)->set_clock (timed->element, clock);
}

FmxTime
gst_fairmix_timed_now (GstFairmixTimed * timed)
{
  return gst_fairmix_time_now (&timed->time);
}

GstClockTime
gst_fairmix_timed_to_clock (const GstFairmixTimed * timed, FmxTime t)
{
  return gst_fairmix_time_to_clock (&timed->time, t);
}

GstClockID
gst_fairmix_timed_new_wait (const GstFairmixTimed * timed, FmxTime t)
{
  GstClockTime time = gst_fairmix_time_to_clock (&timed->time, t);

  if (timed->time.clock == NULL || time == GST_CLOCK_TIME_NONE)
    return NULL;
  return gst_clock_new_single_shot_id (timed->time.clock, time);
}

void
gst_fairmix_timed_reschedule (GstFairmixTimed * timed, GstClockTime deadline)
{
  gst_fairmix_timer_reschedule (timed->timer, deadline);
}
