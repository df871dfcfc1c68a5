/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_CBT_QUEUE_PAD_H__
#define __GST_CBT_QUEUE_PAD_H__

#include <gst/gst.h>

#include "fairmix/queue/fmx-class-queue.h"
#include "fairmix/queue/fmx-drop-watch.h"

G_BEGIN_DECLS

#define GST_TYPE_CBT_QUEUE_PAD (gst_cbt_queue_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstCbtQueuePad, gst_cbt_queue_pad, GST, CBT_QUEUE_PAD,
    GstPad)

/**
 * GstCbtQueueRed:
 *
 * RED as properties: four of an object's, from @first_id on.
 */
typedef struct
{
  gdouble min, max, probability, weight;
} GstCbtQueueRed;

enum
{
  GST_CBT_QUEUE_RED_MIN,
  GST_CBT_QUEUE_RED_MAX,
  GST_CBT_QUEUE_RED_PROBABILITY,
  GST_CBT_QUEUE_RED_WEIGHT
};

void gst_cbt_queue_red_install (GObjectClass * klass, guint first_id,
    const gchar * of_what, gdouble weight);
void gst_cbt_queue_red_init (GstCbtQueueRed * red, gdouble weight);
/* Returns: the number of property @i */
gdouble *gst_cbt_queue_red_field (GstCbtQueueRed * red, guint i);
void gst_cbt_queue_red_params (const GstCbtQueueRed * red,
    FmxRedParams * params);

/* A pad of a cbtqueue and the class of its packets. */
struct _GstCbtQueuePad
{
  GstPad parent;

  /* Properties; the object lock */
  gint klass;
  gint rule;
  gdouble threshold;
  GstCbtQueueRed red;

  /* State; the element's lock */
  FmxQueueClass queue_class;
  FmxDropWatch watch;
  GstEvent *stream_start, *caps, *segment;      /* of what leaves the queue */
  gboolean eos;                 /* left the queue */
  gboolean inactive;
  gboolean flushing;
  guint n_items;                /* packets and events in the queue */
};

/**
 * GstCbtQueueKnown:
 *
 * What downstream knows of stream, caps and segment.
 */
typedef struct
{
  gboolean stream_start;
  GstCaps *caps;
  GstEvent *segment;
} GstCbtQueueKnown;

#define GST_CBT_QUEUE_MAX_STICKY 3

void gst_cbt_queue_known_clear (GstCbtQueueKnown * known);

/* Returns: the number of @events (transfer full) that make downstream know what
 * it has to know of @pad, where that differs from what it knows */
guint gst_cbt_queue_known_update (GstCbtQueueKnown * known,
    GstCbtQueuePad * pad, GstEvent ** events);

/* What was said of stream, caps and segment is over. */
void gst_cbt_queue_pad_forget (GstCbtQueuePad * pad);

/* Brings the class's parameters up to date: with the element's lock. */
void gst_cbt_queue_pad_update (GstCbtQueuePad * pad, FmxDuration packet_time);

const gchar *gst_cbt_queue_pad_get_class_nick (GstCbtQueuePad * pad);

/* Returns: (transfer full): the class's counts, with the element's lock */
GstStructure *gst_cbt_queue_pad_create_stats (GstCbtQueuePad * pad,
    const gchar * name);

/* Tells the bus of @element that losses began or ended to last; no lock. */
void gst_cbt_queue_pad_post_drops (GstCbtQueuePad * pad, GstElement * element,
    FmxDropWatchChange change, gdouble share);

GType gst_cbt_queue_class_get_type (void);
GType gst_cbt_queue_rule_get_type (void);
GType gst_cbt_queue_discipline_get_type (void);

G_END_DECLS

#endif /* __GST_CBT_QUEUE_PAD_H__ */
