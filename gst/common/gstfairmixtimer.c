/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixtimer.h"

struct _GstFairmixTimer
{
  gchar *name;
  GstFairmixTimerFunc func;
  gpointer user_data;

  GMutex lock;
  GCond cond;
  GThread *thread;
  GstClock *clock;
  GstClockID wait_id;           /* while the thread waits on the clock */
  GstClockTime deadline;        /* the earliest that anybody asked for */
  gboolean stopping;
};

GstFairmixTimer *
gst_fairmix_timer_new (const gchar * name, GstFairmixTimerFunc func,
    gpointer user_data)
{
  GstFairmixTimer *timer = g_new0 (GstFairmixTimer, 1);

  timer->name = g_strdup (name);
  timer->func = func;
  timer->user_data = user_data;
  timer->deadline = GST_CLOCK_TIME_NONE;
  g_mutex_init (&timer->lock);
  g_cond_init (&timer->cond);
  return timer;
}

void
gst_fairmix_timer_free (GstFairmixTimer * timer)
{
  gst_fairmix_timer_stop (timer);
  g_mutex_clear (&timer->lock);
  g_cond_clear (&timer->cond);
  g_free (timer->name);
  g_free (timer);
}

/* with the lock; returns whether the deadline was reached */
static gboolean
gst_fairmix_timer_wait (GstFairmixTimer * timer)
{
  GstClockID id;
  GstClockReturn ret;

  if (timer->deadline == GST_CLOCK_TIME_NONE) {
    g_cond_wait (&timer->cond, &timer->lock);
    return FALSE;
  }

  id = timer->wait_id = gst_clock_new_single_shot_id (timer->clock,
      timer->deadline);
  g_mutex_unlock (&timer->lock);
  ret = gst_clock_id_wait (id, NULL);
  g_mutex_lock (&timer->lock);
  timer->wait_id = NULL;
  gst_clock_id_unref (id);
  return ret == GST_CLOCK_OK || ret == GST_CLOCK_EARLY;
}

static gpointer
gst_fairmix_timer_loop (gpointer data)
{
  GstFairmixTimer *timer = data;

  g_mutex_lock (&timer->lock);
  while (!timer->stopping) {
    GstClockTime next;

    if (!gst_fairmix_timer_wait (timer) || timer->stopping)
      continue;
    timer->deadline = GST_CLOCK_TIME_NONE;
    g_mutex_unlock (&timer->lock);
    next = timer->func (timer->user_data, gst_clock_get_time (timer->clock));
    g_mutex_lock (&timer->lock);
    timer->deadline = MIN (timer->deadline, next);
  }
  g_mutex_unlock (&timer->lock);
  return NULL;
}

void
gst_fairmix_timer_start (GstFairmixTimer * timer, GstClock * clock,
    GstClockTime first)
{
  g_return_if_fail (timer->thread == NULL);

  timer->clock = gst_object_ref (clock);
  timer->deadline = first;
  timer->stopping = FALSE;
  timer->thread = g_thread_new (timer->name, gst_fairmix_timer_loop, timer);
}

void
gst_fairmix_timer_stop (GstFairmixTimer * timer)
{
  if (timer->thread == NULL)
    return;

  g_mutex_lock (&timer->lock);
  timer->stopping = TRUE;
  if (timer->wait_id != NULL)
    gst_clock_id_unschedule (timer->wait_id);
  g_cond_signal (&timer->cond);
  g_mutex_unlock (&timer->lock);

  g_thread_join (timer->thread);
  timer->thread = NULL;
  gst_clear_object (&timer->clock);
}

void
gst_fairmix_timer_reschedule (GstFairmixTimer * timer, GstClockTime deadline)
{
  g_mutex_lock (&timer->lock);
  if (deadline < timer->deadline) {
    timer->deadline = deadline;
    if (timer->wait_id != NULL)
      gst_clock_id_unschedule (timer->wait_id);
    g_cond_signal (&timer->cond);
  }
  g_mutex_unlock (&timer->lock);
}
