/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tells ThreadSanitizer what the locks of an uninstrumented GLib and GStreamer
 * order.  GLib's locks are futexes, which ThreadSanitizer cannot see; without
 * this file every access under a GMutex looks like a race.
 *
 * Linked into the test programs of a -Db_sanitize=thread build, whose own
 * symbols win over those of the libraries. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include <gst/gst.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

#define UNCHECKED __attribute__ ((no_sanitize ("thread")))

/* @known keeps what was found: the search goes through all libraries, and a lock
 * is taken millions of times. */
UNCHECKED static void *
find_real (void **known, const char *name)
{
  void *real = __atomic_load_n (known, __ATOMIC_RELAXED);

  if (real == NULL) {
    real = dlsym (RTLD_NEXT, name);
    __atomic_store_n (known, real, __ATOMIC_RELAXED);
  }
  return real;
}

#define REAL(name) __extension__ ({                             \
      static void *known;                                       \
                                                                \
      (__typeof__ (&name)) find_real (&known, #name);           \
    })

/* Whoever takes @what later has seen everything until now. */
#define RELEASING(type, name)                   \
UNCHECKED void                                  \
name (type *what)                               \
{                                               \
  __tsan_release (what);                        \
  REAL (name) (what);                           \
}

#define ACQUIRING(type, name)                   \
UNCHECKED void                                  \
name (type *what)                               \
{                                               \
  REAL (name) (what);                           \
  __tsan_acquire (what);                        \
}

#define TRYING(type, name)                      \
UNCHECKED gboolean                              \
name (type *what)                               \
{                                               \
  gboolean taken = REAL (name) (what);          \
                                                \
  if (taken)                                    \
    __tsan_acquire (what);                      \
  return taken;                                 \
}

/* *INDENT-OFF* */
ACQUIRING (GMutex, g_mutex_lock)
TRYING (GMutex, g_mutex_trylock)
RELEASING (GMutex, g_mutex_unlock)
ACQUIRING (GRecMutex, g_rec_mutex_lock)
TRYING (GRecMutex, g_rec_mutex_trylock)
RELEASING (GRecMutex, g_rec_mutex_unlock)
ACQUIRING (GRWLock, g_rw_lock_writer_lock)
RELEASING (GRWLock, g_rw_lock_writer_unlock)
ACQUIRING (GRWLock, g_rw_lock_reader_lock)
RELEASING (GRWLock, g_rw_lock_reader_unlock)
/* *INDENT-ON* */

UNCHECKED void
g_cond_wait (GCond * cond, GMutex * mutex)
{
  __tsan_release (mutex);
  REAL (g_cond_wait) (cond, mutex);
  __tsan_acquire (mutex);
}

UNCHECKED gboolean
g_cond_wait_until (GCond * cond, GMutex * mutex, gint64 end_time)
{
  gboolean signalled;

  __tsan_release (mutex);
  signalled = REAL (g_cond_wait_until) (cond, mutex, end_time);
  __tsan_acquire (mutex);
  return signalled;
}

UNCHECKED void
g_async_queue_push (GAsyncQueue * queue, gpointer data)
{
  __tsan_release (queue);
  REAL (g_async_queue_push) (queue, data);
}

UNCHECKED gpointer
g_async_queue_pop (GAsyncQueue * queue)
{
  gpointer data = REAL (g_async_queue_pop) (queue);

  __tsan_acquire (queue);
  return data;
}

UNCHECKED gpointer
g_async_queue_try_pop (GAsyncQueue * queue)
{
  gpointer data = REAL (g_async_queue_try_pop) (queue);

  __tsan_acquire (queue);
  return data;
}

UNCHECKED gpointer
g_async_queue_timeout_pop (GAsyncQueue * queue, guint64 timeout)
{
  gpointer data = REAL (g_async_queue_timeout_pop) (queue, timeout);

  __tsan_acquire (queue);
  return data;
}

UNCHECKED gpointer
g_thread_join (GThread * thread)
{
  gpointer ret = REAL (g_thread_join) (thread);

  __tsan_acquire (thread);
  return ret;
}

/* The thread that drops the last reference has seen what the others did. */
UNCHECKED void
gst_mini_object_unref (GstMiniObject * object)
{
  __tsan_release (object);
  __tsan_acquire (object);
  REAL (gst_mini_object_unref) (object);
}

UNCHECKED void
gst_object_unref (gpointer object)
{
  __tsan_release (object);
  __tsan_acquire (object);
  REAL (gst_object_unref) (object);
}

UNCHECKED void
g_object_unref (gpointer object)
{
  __tsan_release (object);
  __tsan_acquire (object);
  REAL (g_object_unref) (object);
}

/* A pool's threads get their work through queues inside GLib. */
typedef struct
{
  GstTaskPool *pool;
  GstTaskPoolFunction func;
  gpointer data;
} Job;

UNCHECKED static void
run_job (gpointer data)
{
  Job job = *(Job *) data;

  __tsan_acquire (data);
  g_free (data);
  job.func (job.data);
  __tsan_release (job.pool);
}

UNCHECKED gpointer
gst_task_pool_push (GstTaskPool * pool, GstTaskPoolFunction func,
    gpointer data, GError ** error)
{
  Job *job = g_new (Job, 1);

  job->pool = pool;
  job->func = func;
  job->data = data;
  __tsan_release (job);
  return REAL (gst_task_pool_push) (pool, run_job, job, error);
}

UNCHECKED void
gst_task_pool_join (GstTaskPool * pool, gpointer id)
{
  REAL (gst_task_pool_join) (pool, id);
  __tsan_acquire (pool);
}
