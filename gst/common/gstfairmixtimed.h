/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_TIMED_H__
#define __GST_FAIRMIX_TIMED_H__

#include <gst/gst.h>

#include "gstfairmixlock.h"
#include "gstfairmixtime.h"
#include "gstfairmixtimer.h"

G_BEGIN_DECLS

/**
 * GstFairmixTimedFuncs:
 * @name: of the element, and of its thread
 * @needs: what it takes from the clock, as the end of a sentence
 * @prepare: (nullable): READY to PAUSED, no lock held.  Returns: whether the
 *     element may start
 * @start: the first time in PLAYING, with the lock: the time has begun
 * @disconnect: (nullable): PAUSED to READY, no lock held, while the timer may still
 *     call: nothing must come from outside any more
 * @stop: after that, with the lock: nothing else calls the element
 * @on_timeout: the timer's function; no lock is held; gets the element
 *
 * What a timed element does at which moment of its life.
 */
typedef struct
{
  const gchar *name;
  const gchar *needs;
  gboolean (*prepare) (GstElement * element);
  void (*start) (GstElement * element);
  void (*disconnect) (GstElement * element);
  void (*stop) (GstElement * element);
  GstFairmixTimerFunc on_timeout;
} GstFairmixTimedFuncs;

/**
 * GstFairmixTimed:
 * @started: with the lock: between @start and @stop
 * @shares_thread: with the object lock, from its next start on: the timer's function
 *     is called by the clock's thread, not by one of its own
 *
 * The life of an element that asks the library for deadlines and wakes up at
 * them.  It starts when it has a clock, in PLAYING; pauses and goes on, with another
 * clock if there is one; stops in READY.
 *
 * A part of an element rather than a base class: several plugins have a copy of
 * this code, and a type may be registered only once.
 */
typedef struct
{
  gboolean started;
  gboolean shares_thread;

  /*< private >*/
  const GstFairmixTimedFuncs *funcs;
  GstElement *element;          /* which has this one */
  GstFairmixLock *lock;
  GstFairmixTime time;
  GstFairmixTimer *timer;
} GstFairmixTimed;

/* @lock: the element's own; it is taken before the object lock */
void gst_fairmix_timed_init (GstFairmixTimed * timed,
    const GstFairmixTimedFuncs * funcs, GstElement * element, GstFairmixLock * lock);

/* Returns: (transfer floating): the property `share-thread` */
GParamSpec *gst_fairmix_timed_share_thread_param_spec (void);

/* In finalize (), before anything that the functions use is freed: stops */
void gst_fairmix_timed_clear (GstFairmixTimed * timed);

/* The element's change_state () and set_clock (); @parent is its parent class's */
GstStateChangeReturn gst_fairmix_timed_change_state (GstFairmixTimed * timed,
    GstStateChange transition, gpointer parent);
gboolean gst_fairmix_timed_set_clock (GstFairmixTimed * timed,
    GstClock * clock, gpointer parent);

/* with the lock: the one place where the element asks for the time */
FmxTime gst_fairmix_timed_now (GstFairmixTimed * timed);

/* with the lock.  Returns: when the clock shows @t; none for %FMX_TIME_NONE */
GstClockTime gst_fairmix_timed_to_clock (const GstFairmixTimed * timed,
    FmxTime t);

/* with the lock.  Returns: (transfer full) (nullable): to wait until @t without it, %NULL
 * where no clock runs */
GstClockID gst_fairmix_timed_new_wait (const GstFairmixTimed * timed,
    FmxTime t);

/* without the lock: wake up at @deadline, on the clock, if that is earlier */
void gst_fairmix_timed_reschedule (GstFairmixTimed * timed,
    GstClockTime deadline);

G_END_DECLS

#endif /* __GST_FAIRMIX_TIMED_H__ */
