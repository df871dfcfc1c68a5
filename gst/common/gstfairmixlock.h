/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_LOCK_H__
#define __GST_FAIRMIX_LOCK_H__

#ifdef HAVE_CONFIG_H
#include "config.h"             /* GST_FAIRMIX_LOCK_CHECKS */
#endif

#include <glib.h>

G_BEGIN_DECLS

/**
 * GstFairmixRank:
 *
 * All our locks, in the order in which a thread may take them: while it holds one,
 * it may take those that stand below it here, of whatever element.  An element lets
 * go of all before it pushes, posts, or calls the application
 * (gst_fairmix_lock_assert_none()).
 *
 * GStreamer's own come first: a pad's stream lock, then an object lock.  Under ours
 * nothing is called that takes one of another element or pad.
 */
typedef enum
{
  GST_FAIRMIX_RANK_ELEMENT = 10,        /* what an element is about */
  GST_FAIRMIX_RANK_NAME = 20,   /* the name of a sink pad of partialmix */
  GST_FAIRMIX_RANK_COURIERS = 30,       /* who pushes where, in partialmix */
  GST_FAIRMIX_RANK_NODE = 40,   /* the port of a dpmmixer or dpmclient */
  GST_FAIRMIX_RANK_PORT = 50,   /* who is where, behind that port */
  GST_FAIRMIX_RANK_PEER = 60,   /* one of them */
  GST_FAIRMIX_RANK_DIRECTION = 70,      /* its keys, one way */
  GST_FAIRMIX_RANK_HELPER = 80, /* a part that knows nothing of the element */
  GST_FAIRMIX_RANK_TIMER = 90,
  GST_FAIRMIX_RANK_OUTBOX = 100 /* messages to post */
} GstFairmixRank;

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
