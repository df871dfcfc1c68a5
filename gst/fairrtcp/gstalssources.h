/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_SOURCES_H__
#define __GST_ALS_SOURCES_H__

#include <gst/gst.h>

#include "fairmix/als/fmx-als-receiver.h"
#include "common/gstfairmixlock.h"

G_BEGIN_DECLS

/**
 * GstAlsSources:
 *
 * Joins and leaves layers: starts and stops the elements of the pipeline that
 * receive them, known by their names.  A udpsrc that is stopped (NULL, its state
 * locked) has left its group.  Thread-safe, but for gst_als_sources_hold(), which
 * one thread calls.
 */
typedef struct
{
  /*< private >*/
  GstFairmixLock lock;
  gchar *names;
  gboolean complained;
} GstAlsSources;

void gst_als_sources_init (GstAlsSources * sources);
void gst_als_sources_clear (GstAlsSources * sources);

/* @names: (nullable): of layers 1, 2, ... with commas in between; after a plus
 * sign that of the layer's RTCP: "video1+video1-rtcp,video2" */
void gst_als_sources_set_names (GstAlsSources * sources, const gchar * names);
gchar *gst_als_sources_dup_names (GstAlsSources * sources);

/**
 * gst_als_sources_hold:
 * @owner: whose pipeline to search; posts a warning, once, if one is not there
 * @n_layers: hold so many, the base included, and leave the others
 * @layers: (array length=n_places): where they are; those without a place here
 *     are where the user typed
 *
 * To be called without locks: it changes states of elements.
 */
void gst_als_sources_hold (GstAlsSources * sources, GstElement * owner,
    guint n_layers, const FmxAlsLayer * layers, guint n_places);

G_END_DECLS

#endif /* __GST_ALS_SOURCES_H__ */
