/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_LOCK_H__
#define __GST_FAIRMIX_LOCK_H__

#ifdef HAVE_CONFIG_H
#include "config.h"             /* GST_FAIRMIX_LOCK_CHECKS */
#endif

#include <glib.h>

G_BEGIN_DECLS

/**
 * GstFairmixLock:
 *
 * A mutex with a rank: a thread takes locks in the order of their ranks only,
 * so that no two threads can wait for each other.  With the build option
 * `lock-checks` who does otherwise is aborted at once, in any test that comes
 * by, and not only in the one run in a million in which it matters; without it
 * the ranks cost nothing.
 */
typedef struct
{
  /*< private >*/
  GMutex mutex;
  guint rank;
} GstFairmixLock;

void gst_fairmix_lock_init (GstFairmixLock * lock, guint rank);
void gst_fairmix_lock_clear (GstFairmixLock * lock);

/* Whether this thread may take @lock now: TRUE where nobody checks. */
gboolean gst_fairmix_lock_is_next (const GstFairmixLock * lock);

#ifdef GST_FAIRMIX_LOCK_CHECKS
void gst_fairmix_lock_acquire (GstFairmixLock * lock);
void gst_fairmix_lock_release (GstFairmixLock * lock);
/* Aborts if this thread holds any of our locks: to be said before GStreamer
 * is asked for what may take its own, or may call the application. */
void gst_fairmix_lock_assert_none (void);
#else
#define gst_fairmix_lock_acquire(lock) g_mutex_lock (&(lock)->mutex)
#define gst_fairmix_lock_release(lock) g_mutex_unlock (&(lock)->mutex)
#define gst_fairmix_lock_assert_none() G_STMT_START { } G_STMT_END
#endif

/* As g_cond_wait_until() and g_cond_wait(); @lock is the only one held. */
gboolean gst_fairmix_lock_wait_until (GstFairmixLock * lock, GCond * cond,
    gint64 end_time_us);
void gst_fairmix_lock_wait (GstFairmixLock * lock, GCond * cond);

G_END_DECLS

#endif /* __GST_FAIRMIX_LOCK_H__ */
