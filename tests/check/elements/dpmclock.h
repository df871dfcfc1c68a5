/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_CLOCK_H__
#define __DPM_CLOCK_H__

/* A clock that goes as real time does, or PATIENT_SPEED times as fast, but stands still
 * while anybody here has been left behind.  A meeting of many threads, over real
 * sockets, then goes the same way on an idle machine and on one that has no time.
 * PATIENT_WAITS: also who waits does so by it, which a speed needs. */

#define _GNU_SOURCE             /* gettid() */
#include <unistd.h>

#include <gst/gst.h>
#include <string.h>

#ifndef PATIENT_SPEED
#define PATIENT_SPEED 1         /* times real time, where nobody is left behind */
#endif
#ifndef PATIENT_LEAD_US
#define PATIENT_LEAD_US 20000   /* how far it goes on after all were done */
#endif
/* how often we look whether they are */
#define PATIENT_LOOK_US (PATIENT_LEAD_US / 2 / PATIENT_SPEED)

typedef struct
{
  GstSystemClock parent;
  GThread *thread;
  gint ends;

  /* with the lock */
  GMutex lock;
  GCond goes_on;
  gint64 speed;                 /* times real time */
  gint64 now_us, end_us;        /* it goes on from there, and to there */
  gint64 real_us;               /* when it was @now_us */
#ifdef PATIENT_WAITS
  GThread *caller;
  GList *asked;                 /* entries, the earliest first */
#endif
} PatientClock;

typedef GstSystemClockClass PatientClockClass;

static GType patient_clock_get_type (void);
G_DEFINE_TYPE (PatientClock, patient_clock, GST_TYPE_SYSTEM_CLOCK);

/* with the lock */
static void
patient_clock_update (PatientClock * self)
{
  gint64 real_us = g_get_monotonic_time ();

  self->now_us = MIN (self->now_us + self->speed * (real_us - self->real_us),
      self->end_us);
  self->real_us = real_us;
}

static GstClockTime
patient_clock_get_internal_time (GstClock * clock)
{
  PatientClock *self = (PatientClock *) clock;
  gint64 now_us;

  g_mutex_lock (&self->lock);
  patient_clock_update (self);
  now_us = self->now_us;
  g_mutex_unlock (&self->lock);
  return (GstClockTime) now_us *GST_USECOND;
}

#ifdef PATIENT_WAITS
/* Not earlier: who is called too early asks again, for as long as the clock stands still. */
static gint64
patient_clock_until_us (const GstClockEntry * entry)
{
  return (gint64) (GST_CLOCK_ENTRY_TIME (entry) / GST_USECOND)
      + (GST_CLOCK_ENTRY_TIME (entry) % GST_USECOND > 0);
}

/* Who waits for a time shortly after the one at which the clock stands still would
 * else look at it again and again, and so never be found waiting. */
static GstClockReturn
patient_clock_wait (GstClock * clock, GstClockEntry * entry,
    GstClockTimeDiff * jitter)
{
  PatientClock *self = (PatientClock *) clock;
  gint64 until_us = patient_clock_until_us (entry);
  GstClockReturn ret;

  g_mutex_lock (&self->lock);
  patient_clock_update (self);
  if (jitter != NULL)
    *jitter = (self->now_us - until_us) * (gint64) GST_USECOND;
  if (GST_CLOCK_ENTRY_STATUS (entry) != GST_CLOCK_UNSCHEDULED)
    GST_CLOCK_ENTRY_STATUS (entry) = self->now_us < until_us ?
        GST_CLOCK_BUSY : GST_CLOCK_EARLY;
  while (GST_CLOCK_ENTRY_STATUS (entry) == GST_CLOCK_BUSY) {
    if (self->end_us < until_us)
      g_cond_wait (&self->goes_on, &self->lock);
    else
      g_cond_wait_until (&self->goes_on, &self->lock,
          self->real_us + (until_us - self->now_us) / self->speed + 1);
    patient_clock_update (self);
    if (GST_CLOCK_ENTRY_STATUS (entry) == GST_CLOCK_BUSY
        && self->now_us >= until_us)
      GST_CLOCK_ENTRY_STATUS (entry) = GST_CLOCK_OK;
  }
  ret = GST_CLOCK_ENTRY_STATUS (entry);
  g_mutex_unlock (&self->lock);
  return ret;
}

/* Calls all who asked for it, as the system clock's thread does; that one would look
 * again and again, too. */
static gpointer
patient_clock_call_all (gpointer data)
{
  PatientClock *self = data;

  g_mutex_lock (&self->lock);
  for (;;) {
    GstClockEntry *entry = self->asked != NULL ? self->asked->data : NULL;
    gint64 until_us = entry != NULL ? patient_clock_until_us (entry) :
        G_MAXINT64;

    patient_clock_update (self);
    if (self->now_us >= until_us) {
      self->asked = g_list_delete_link (self->asked, self->asked);
      GST_CLOCK_ENTRY_STATUS (entry) = GST_CLOCK_OK;
      g_mutex_unlock (&self->lock);
      entry->func (GST_CLOCK (self), GST_CLOCK_ENTRY_TIME (entry), entry,
          entry->user_data);
      gst_clock_id_unref (entry);
      g_mutex_lock (&self->lock);
    } else if (self->end_us < until_us) {
      g_cond_wait (&self->goes_on, &self->lock);
    } else {
      g_cond_wait_until (&self->goes_on, &self->lock,
          self->real_us + (until_us - self->now_us) / self->speed + 1);
    }
  }
  return NULL;
}

static GstClockReturn
patient_clock_wait_async (GstClock * clock, GstClockEntry * entry)
{
  PatientClock *self = (PatientClock *) clock;

  g_assert (GST_CLOCK_ENTRY_TYPE (entry) == GST_CLOCK_ENTRY_SINGLE);
  g_mutex_lock (&self->lock);
  if (self->caller == NULL)
    self->caller = g_thread_new ("clock-calls", patient_clock_call_all, self);
  GST_CLOCK_ENTRY_STATUS (entry) = GST_CLOCK_BUSY;
  self->asked = g_list_insert_sorted (self->asked, gst_clock_id_ref (entry),
      gst_clock_id_compare_func);
  g_cond_broadcast (&self->goes_on);
  g_mutex_unlock (&self->lock);
  return GST_CLOCK_OK;
}

static void
patient_clock_unschedule (GstClock * clock, GstClockEntry * entry)
{
  PatientClock *self = (PatientClock *) clock;
  GList *link;

  g_mutex_lock (&self->lock);
  GST_CLOCK_ENTRY_STATUS (entry) = GST_CLOCK_UNSCHEDULED;
  link = g_list_find (self->asked, entry);
  if (link != NULL) {
    self->asked = g_list_delete_link (self->asked, link);
    gst_clock_id_unref (entry);
  }
  g_cond_broadcast (&self->goes_on);
  g_mutex_unlock (&self->lock);
}
#endif

static void
patient_clock_class_init (PatientClockClass * klass)
{
  GST_CLOCK_CLASS (klass)->get_internal_time = patient_clock_get_internal_time;
#ifdef PATIENT_WAITS
  GST_CLOCK_CLASS (klass)->wait = patient_clock_wait;
  GST_CLOCK_CLASS (klass)->wait_async = patient_clock_wait_async;
  GST_CLOCK_CLASS (klass)->unschedule = patient_clock_unschedule;
#endif
}

static void
patient_clock_init (PatientClock * self)
{
  g_mutex_init (&self->lock);
  g_cond_init (&self->goes_on);
  self->speed = PATIENT_SPEED;
  self->now_us = self->end_us = G_USEC_PER_SEC;
  self->real_us = g_get_monotonic_time ();
  GST_OBJECT_FLAG_SET (self, GST_OBJECT_FLAG_MAY_BE_LEAKED);
}

/* @thread: a number in /proc/self/task.  Returns: whether it waits for something */
static gboolean
patient_clock_waits (const gchar * thread)
{
  gchar *path = g_strdup_printf ("/proc/self/task/%s/stat", thread);
  gchar *text = NULL;
  const gchar *end;
  gboolean waits = TRUE;

  /* a thread that has ended meanwhile has nothing to do */
  if (g_file_get_contents (path, &text, NULL, NULL)
      && (end = strrchr (text, ')')) != NULL)
    waits = strchr ("RD", end[2]) == NULL;
  g_free (text);
  g_free (path);
  return waits;
}

static gboolean
patient_clock_look (void)
{
  gchar *own = g_strdup_printf ("%d", (gint) gettid ());
  GDir *threads = g_dir_open ("/proc/self/task", 0, NULL);
  gboolean all = TRUE;
  const gchar *thread;

  g_assert (threads != NULL);
  while (all && (thread = g_dir_read_name (threads)) != NULL)
    all = strcmp (thread, own) == 0 || patient_clock_waits (thread);
  g_dir_close (threads);
  g_free (own);
  return all;
}

/* Returns: whether nobody but the calling thread has anything to do, not even
 * what somebody left to one at whom we had looked already */
static gboolean
patient_clock_all_wait (void)
{
  return patient_clock_look () && patient_clock_look ();
}

static gpointer
patient_clock_run (gpointer data)
{
  PatientClock *self = data;

  while (!g_atomic_int_get (&self->ends)) {
    if (patient_clock_all_wait ()) {
      g_mutex_lock (&self->lock);
      patient_clock_update (self);
      self->end_us = self->now_us + PATIENT_LEAD_US;
      g_cond_broadcast (&self->goes_on);
      g_mutex_unlock (&self->lock);
    }
    g_usleep (PATIENT_LOOK_US);
  }
  return NULL;
}

static PatientClock *the_clock;

/* Until the next test: where real time is compared with it */
static inline void
patient_clock_set_speed (gint64 speed)
{
  g_mutex_lock (&the_clock->lock);
  patient_clock_update (the_clock);
  the_clock->speed = speed;
  g_mutex_unlock (&the_clock->lock);
}

/* From now on it is the clock of all pipelines. */
static inline void
patient_clock_start (void)
{
  if (the_clock == NULL) {
    the_clock = g_object_new (patient_clock_get_type (), NULL);
    gst_system_clock_set_default (GST_CLOCK (the_clock));
  }
  patient_clock_set_speed (PATIENT_SPEED);
  g_atomic_int_set (&the_clock->ends, FALSE);
  the_clock->thread = g_thread_new ("clock", patient_clock_run, the_clock);
}

/* It stands still soon. */
static inline void
patient_clock_stop (void)
{
  g_atomic_int_set (&the_clock->ends, TRUE);
  g_thread_join (the_clock->thread);
}

static inline gint64
patient_clock_now_us (void)
{
  return (gint64) (gst_clock_get_time (GST_CLOCK (the_clock)) / 1000);
}

#endif /* __DPM_CLOCK_H__ */
