/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_TIMER_H__
#define __GST_FAIRMIX_TIMER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstFairmixTimerFunc:
 * @user_data: what was given to gst_fairmix_timer_new()
 * @now: the time on the element's clock, in nanoseconds
 *
 * Runs in the timer's own thread, or in the clock's, with no lock held: it may
 * push.
 *
 * Returns: when to call it next, on the same clock; %GST_CLOCK_TIME_NONE to
 *     sleep until gst_fairmix_timer_reschedule()
 */
typedef GstClockTime (*GstFairmixTimerFunc) (gpointer user_data, GstClockTime now);

/**
 * GstFairmixTimer:
 *
 * Waits for deadlines on the element's #GstClock, so that a #GstTestClock drives
 * it: in a thread of its own, or in the one that the clock has for all who ask it
 * to be called.  The library modules' next_timeout () and on_timeout () fit into
 * it.
 */
typedef struct _GstFairmixTimer GstFairmixTimer;

GstFairmixTimer *gst_fairmix_timer_new (const gchar * name,
    GstFairmixTimerFunc func, gpointer user_data);
void gst_fairmix_timer_free (GstFairmixTimer * timer);

/* Starts it, or lets it go on after a pause, which may have changed the clock;
 * first call of the function at @first.  @shared: there is no thread but the
 * clock's: whoever the function pushes to must not block. */
void gst_fairmix_timer_start (GstFairmixTimer * timer, GstClock * clock,
    GstClockTime first, gboolean shared);

/* No more calls until the next start; does not wait for one that is under
 * way, so that it is safe in PLAYING to PAUSED, when a sink may hold a push
 * of the function back until PLAYING or READY. */
void gst_fairmix_timer_pause (GstFairmixTimer * timer);

/* The element got another clock: a timer that runs goes on with it, and is
 * called at once; without one (%NULL) it waits for the next one. */
void gst_fairmix_timer_set_clock (GstFairmixTimer * timer, GstClock * clock);

/* Pauses, waits for the function to return and ends the thread: to be used
 * after the pads are deactivated if the function pushes. */
void gst_fairmix_timer_stop (GstFairmixTimer * timer);

/* From any thread, also from the function itself: be called at @deadline
 * if that is earlier than what is planned. */
void gst_fairmix_timer_reschedule (GstFairmixTimer * timer, GstClockTime deadline);

G_END_DECLS

#endif /* __GST_FAIRMIX_TIMER_H__ */
