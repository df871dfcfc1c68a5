/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixlock.h"
#include "gstfairmixtimer.h"

/* Without a deadline the thread still waits on the clock, so that whoever
 * drives a GstTestClock can see that it is idle: for so long from now, as clocks
 * may count from anywhere (a GstNtpClock from 1900). */
#define FOREVER (G_GUINT64_CONSTANT (100) * 365 * 24 * 3600 * GST_SECOND)

struct _GstFairmixTimer
{
  gint ref_count;               /* the owner's, and one for each wait */
  gchar *name;
  GstFairmixTimerFunc func;
  gpointer user_data;

  GstFairmixLock lock;
  GCond cond;
  gboolean shared;              /* the clock's thread calls */
  gboolean calling;             /* ... right now */
  GThread *thread;
  gboolean running;
  GstClock *clock;              /* NULL: none while running, or not running */
  guint run;                    /* counts starts: each may have its own clock */
  GstClockID wait_id;           /* while the thread waits on the clock */
  GstClockTime deadline;        /* the earliest that anybody asked for */
  gboolean stopping;
};

GstFairmixTimer *
gst_fairmix_timer_new (const gchar * name, GstFairmixTimerFunc func,
    gpointer user_data)
{
  GstFairmixTimer *timer = g_new0 (GstFairmixTimer, 1);

  timer->ref_count = 1;
  timer->name = g_strdup (name);
  timer->func = func;
  timer->user_data = user_data;
  timer->deadline = GST_CLOCK_TIME_NONE;
  gst_fairmix_lock_init (&timer->lock, GST_FAIRMIX_RANK_TIMER);
  g_cond_init (&timer->cond);
  return timer;
}

static void
gst_fairmix_timer_unref (gpointer data)
{
  GstFairmixTimer *timer = data;

  if (!g_atomic_int_dec_and_test (&timer->ref_count))
    return;
  gst_fairmix_lock_clear (&timer->lock);
  g_cond_clear (&timer->cond);
  g_free (timer->name);
  g_free (timer);
}

void
gst_fairmix_timer_free (GstFairmixTimer * timer)
{
  gst_fairmix_timer_stop (timer);
  gst_fairmix_timer_unref (timer);
}

/* with the lock; there is a clock, which shows @now */
static GstClockID
gst_fairmix_timer_new_wait (const GstFairmixTimer * timer, GstClockTime now)
{
  return gst_clock_new_single_shot_id (timer->clock, MIN (timer->deadline,
          now + FOREVER));
}

/* --- a thread of its own -------------------------------------------------- */

/* with the lock; returns whether the deadline was reached */
static gboolean
gst_fairmix_timer_wait (GstFairmixTimer * timer)
{
  GstClockReturn ret;
  GstClockTime now;
  GstClockID id;

  if (timer->clock == NULL) {
    gst_fairmix_lock_wait (&timer->lock, &timer->cond);
    return FALSE;
  }
  now = gst_clock_get_time (timer->clock);
  if (timer->deadline <= now)
    return TRUE;

  id = timer->wait_id = gst_fairmix_timer_new_wait (timer, now);
  gst_fairmix_lock_release (&timer->lock);
  ret = gst_clock_id_wait (id, NULL);
  gst_fairmix_lock_acquire (&timer->lock);
  timer->wait_id = NULL;
  gst_clock_id_unref (id);
  return ret == GST_CLOCK_OK || ret == GST_CLOCK_EARLY;
}

static gpointer
gst_fairmix_timer_loop (gpointer data)
{
  GstFairmixTimer *timer = data;

  gst_fairmix_lock_acquire (&timer->lock);
  while (!timer->stopping) {
    GstClockTime next;
    GstClock *clock;
    guint run;

    if (!gst_fairmix_timer_wait (timer) || timer->stopping
        || timer->clock == NULL)
      continue;
    run = timer->run;
    clock = gst_object_ref (timer->clock);
    timer->deadline = GST_CLOCK_TIME_NONE;
    gst_fairmix_lock_release (&timer->lock);
    next = timer->func (timer->user_data, gst_clock_get_time (clock));
    gst_object_unref (clock);
    gst_fairmix_lock_acquire (&timer->lock);
    if (run == timer->run)
      timer->deadline = MIN (timer->deadline, next);
  }
  gst_fairmix_lock_release (&timer->lock);
  return NULL;
}

/* --- the clock's thread ---------------------------------------------------- */

static gboolean gst_fairmix_timer_on_clock (GstClock * clock, GstClockTime time,
    GstClockID id, gpointer data);

/* with the lock */
static void
gst_fairmix_timer_forget (GstFairmixTimer * timer)
{
  GstClockID id = timer->wait_id;

  timer->wait_id = NULL;
  if (id != NULL) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

/* with the lock: asks the clock to call at the deadline */
static void
gst_fairmix_timer_ask (GstFairmixTimer * timer)
{
  gst_fairmix_timer_forget (timer);
  if (timer->calling || timer->stopping || timer->clock == NULL
      || timer->deadline == GST_CLOCK_TIME_NONE)
    return;
  timer->wait_id = gst_fairmix_timer_new_wait (timer,
      gst_clock_get_time (timer->clock));
  g_atomic_int_inc (&timer->ref_count);
  gst_clock_id_wait_async (timer->wait_id, gst_fairmix_timer_on_clock, timer,
      gst_fairmix_timer_unref);
}

static gboolean
gst_fairmix_timer_on_clock (GstClock * clock, GstClockTime time, GstClockID id,
    gpointer data)
{
  GstFairmixTimer *timer = data;
  GstClockTime next;
  guint run;

  gst_fairmix_lock_acquire (&timer->lock);
  if (timer->wait_id == id && timer->clock != NULL && !timer->stopping) {
    gst_fairmix_timer_forget (timer);
    run = timer->run;
    timer->deadline = GST_CLOCK_TIME_NONE;
    timer->calling = TRUE;
    gst_fairmix_lock_release (&timer->lock);
    next = timer->func (timer->user_data, gst_clock_get_time (clock));
    gst_fairmix_lock_acquire (&timer->lock);
    timer->calling = FALSE;
    if (run == timer->run)
      timer->deadline = MIN (timer->deadline, next);
    gst_fairmix_timer_ask (timer);
    g_cond_signal (&timer->cond);
  }
  gst_fairmix_lock_release (&timer->lock);
  return TRUE;
}

/* --- both ------------------------------------------------------------------ */

/* with the lock */
static void
gst_fairmix_timer_wake (GstFairmixTimer * timer)
{
  if (timer->shared) {
    gst_fairmix_timer_ask (timer);
    return;
  }
  if (timer->wait_id != NULL)
    gst_clock_id_unschedule (timer->wait_id);
  g_cond_signal (&timer->cond);
}

void
gst_fairmix_timer_start (GstFairmixTimer * timer, GstClock * clock,
    GstClockTime first, gboolean shared)
{
  gst_fairmix_lock_acquire (&timer->lock);
  timer->running = TRUE;
  if (timer->thread == NULL && !timer->calling)
    timer->shared = shared;
  gst_object_replace ((GstObject **) & timer->clock, GST_OBJECT (clock));
  timer->run++;
  timer->deadline = first;
  timer->stopping = FALSE;
  if (timer->thread == NULL && !timer->shared)
    timer->thread = g_thread_new (timer->name, gst_fairmix_timer_loop, timer);
  gst_fairmix_timer_wake (timer);
  gst_fairmix_lock_release (&timer->lock);
}

void
gst_fairmix_timer_pause (GstFairmixTimer * timer)
{
  gst_fairmix_lock_acquire (&timer->lock);
  timer->running = FALSE;
  gst_clear_object (&timer->clock);
  gst_fairmix_timer_wake (timer);
  gst_fairmix_lock_release (&timer->lock);
}

void
gst_fairmix_timer_set_clock (GstFairmixTimer * timer, GstClock * clock)
{
  gst_fairmix_lock_acquire (&timer->lock);
  if (timer->running && timer->clock != clock) {
    gst_object_replace ((GstObject **) & timer->clock, GST_OBJECT (clock));
    timer->run++;
    timer->deadline = 0;
    gst_fairmix_timer_wake (timer);
  }
  gst_fairmix_lock_release (&timer->lock);
}

void
gst_fairmix_timer_stop (GstFairmixTimer * timer)
{
  GThread *thread;

  gst_fairmix_timer_pause (timer);
  gst_fairmix_lock_acquire (&timer->lock);
  timer->stopping = TRUE;
  gst_fairmix_timer_wake (timer);
  while (timer->calling)
    gst_fairmix_lock_wait (&timer->lock, &timer->cond);
  thread = g_steal_pointer (&timer->thread);
  gst_fairmix_lock_release (&timer->lock);

  if (thread != NULL)
    g_thread_join (thread);
}

void
gst_fairmix_timer_reschedule (GstFairmixTimer * timer, GstClockTime deadline)
{
  gst_fairmix_lock_acquire (&timer->lock);
  if (deadline < timer->deadline) {
    timer->deadline = deadline;
    gst_fairmix_timer_wake (timer);
  }
  gst_fairmix_lock_release (&timer->lock);
}
