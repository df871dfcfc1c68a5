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

/* What this thread holds, in the order in which it took it; each access to it is
 * a call, so that there is one in each function.  Not in the initial-exec model, which
 * needs no call: the plugins would take 360 of the 512 bytes that glibc keeps for that
 * in a process, and an application's own may need them. */
typedef struct
{
  guint n;
  GstFairmixLock *locks[MAX_HELD];
} Held;

static _Thread_local Held held;

static gboolean
is_next (const Held * mine, const GstFairmixLock * lock)
{
  return mine->n == 0 || mine->locks[mine->n - 1]->rank < lock->rank;
}

gboolean
gst_fairmix_lock_is_next (const GstFairmixLock * lock)
{
  return is_next (&held, lock);
}

void
gst_fairmix_lock_acquire (GstFairmixLock * lock)
{
  Held *mine = &held;

  if (!is_next (mine, lock))
    g_error ("lock of rank %u taken while one of rank %u is held", lock->rank,
        mine->locks[mine->n - 1]->rank);
  g_assert (mine->n < MAX_HELD);
  g_mutex_lock (&lock->mutex);
  mine->locks[mine->n++] = lock;
}

void
gst_fairmix_lock_release (GstFairmixLock * lock)
{
  Held *mine = &held;

  if (mine->n == 0 || mine->locks[mine->n - 1] != lock)
    g_error ("lock of rank %u given back, which is not the last one taken",
        lock->rank);
  mine->n--;
  g_mutex_unlock (&lock->mutex);
}

void
gst_fairmix_lock_assert_none (void)
{
  if (held.n > 0)
    g_error ("a lock of rank %u is held where none may be",
        held.locks[held.n - 1]->rank);
}

#else

gboolean
gst_fairmix_lock_is_next (const GstFairmixLock * lock)
{
  return TRUE;
}

#endif
