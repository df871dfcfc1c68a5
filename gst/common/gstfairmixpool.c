/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixpool.h"

typedef struct
{
  GstFairmixPoolFunc func;
  gpointer user_data;
  guint n_parts;
  gint next;                    /* atomic */
} Work;

void
gst_fairmix_pool_open (GstFairmixPool * pool, guint n_threads)
{
  if (n_threads == 0)
    n_threads = g_get_num_processors ();
  pool->n_helpers = n_threads - 1;
  if (pool->n_helpers == 0)
    return;
  pool->pool = gst_shared_task_pool_new ();
  gst_shared_task_pool_set_max_threads (GST_SHARED_TASK_POOL (pool->pool),
      pool->n_helpers);
  gst_task_pool_prepare (pool->pool, NULL);
}

void
gst_fairmix_pool_close (GstFairmixPool * pool)
{
  if (pool->pool != NULL)
    gst_task_pool_cleanup (pool->pool);
  gst_clear_object (&pool->pool);
  pool->n_helpers = 0;
}

static void
work_off (gpointer data)
{
  Work *work = data;
  guint part;

  while ((part = (guint) g_atomic_int_add (&work->next, 1)) < work->n_parts)
    work->func (work->user_data, part);
}

void
gst_fairmix_pool_run (GstFairmixPool * pool, guint n_parts,
    GstFairmixPoolFunc func, gpointer user_data)
{
  Work work = { func, user_data, n_parts, 0 };
  guint n_helpers = MIN (pool->n_helpers, n_parts > 0 ? n_parts - 1 : 0);
  gpointer *handles = g_newa (gpointer, n_helpers + 1);
  guint i;

  for (i = 0; i < n_helpers; i++)
    handles[i] = gst_task_pool_push (pool->pool, work_off, &work, NULL);
  work_off (&work);
  for (i = 0; i < n_helpers; i++)
    if (handles[i] != NULL)
      gst_task_pool_join (pool->pool, handles[i]);
}
