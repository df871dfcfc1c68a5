/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixlock.h"

void
gst_fairmix_lock_init (GstFairmixLock * lock, guint rank)
{
  g_mutex_init (&lock->mutex);
  lock->rank = rank;
}

void
gst_fairmix_lock_clear (GstFairmixLock * lock)
{
  g_mutex_clear (&lock->mutex);
}

gboolean
gst_fairmix_lock_wait_until (GstFairmixLock * lock, GCond * cond,
    gint64 end_time_us)
{
  return g_cond_wait_until (cond, &lock->mutex, end_time_us);
}

void
gst_fairmix_lock_wait (GstFairmixLock * lock, GCond * cond)
{
  g_cond_wait (cond, &lock->mutex);
}

#ifdef GST_FAIRMIX_LOCK_CHECKS

#define MAX_HELD 8

/* what this thread holds, in the order in which it took it */
static _Thread_local GstFairmixLock *held[MAX_HELD];
static _Thread_local guint n_held;

gboolean
gst_fairmix_lock_is_next (const GstFairmixLock * lock)
{
  return n_held == 0 || held[n_held - 1]->rank < lock->rank;
}

void
gst_fairmix_lock_acquire (GstFairmixLock * lock)
{
  if (!gst_fairmix_lock_is_next (lock))
    g_error ("lock of rank %u taken while one of rank %u is held", lock->rank,
        held[n_held - 1]->rank);
  g_assert (n_held < MAX_HELD);
  g_mutex_lock (&lock->mutex);
  held[n_held++] = lock;
}

void
gst_fairmix_lock_release (GstFairmixLock * lock)
{
  if (n_held == 0 || held[n_held - 1] != lock)
    g_error ("lock of rank %u given back, which is not the last one taken",
        lock->rank);
  n_held--;
  g_mutex_unlock (&lock->mutex);
}

void
gst_fairmix_lock_assert_none (void)
{
  if (n_held > 0)
    g_error ("a lock of rank %u is held where none may be",
        held[n_held - 1]->rank);
}

#else

gboolean
gst_fairmix_lock_is_next (const GstFairmixLock * lock)
{
  return TRUE;
}

#endif
