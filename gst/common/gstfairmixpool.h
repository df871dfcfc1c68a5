/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_POOL_H__
#define __GST_FAIRMIX_POOL_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstFairmixPool:
 *
 * Threads that share out the independent parts of a piece of work.  One thread
 * hands work out at a time and works along.
 */
typedef struct
{
  /*< private >*/
  GstTaskPool *pool;            /* NULL: nobody helps */
  guint n_helpers;
} GstFairmixPool;

/**
 * gst_fairmix_pool_open:
 * @n_threads: that work at once, the one that asks included; 0 = one for each
 *     processor
 */
void gst_fairmix_pool_open (GstFairmixPool * pool, guint n_threads);
void gst_fairmix_pool_close (GstFairmixPool * pool);

/**
 * GstFairmixPoolFunc:
 * @part: 0 ... number of parts - 1
 */
typedef void (*GstFairmixPoolFunc) (gpointer user_data, guint part);

/**
 * gst_fairmix_pool_run:
 *
 * Calls @func once for each of @n_parts, in any order and at the same time, and
 * returns when all is done.
 */
void gst_fairmix_pool_run (GstFairmixPool * pool, guint n_parts,
    GstFairmixPoolFunc func, gpointer user_data);

G_END_DECLS

#endif /* __GST_FAIRMIX_POOL_H__ */
