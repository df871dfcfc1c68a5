/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_CBT_QUEUE_ITEMS_H__
#define __GST_CBT_QUEUE_ITEMS_H__

#include <gst/gst.h>

#include "gstcbtqueuepad.h"

G_BEGIN_DECLS

/**
 * GstCbtQueueItem:
 *
 * What waits in a cbtqueue: a packet or a serialized event, and where it came in.
 */
typedef struct
{
  GstMiniObject *object;
  GstCbtQueuePad *pad;
  FmxQueuePacket packet;        /* bytes 0: an event */
  FmxTime arrival;
} GstCbtQueueItem;

void gst_cbt_queue_item_free (GstCbtQueueItem * item);

/**
 * gst_cbt_queue_items_append:
 * @object: (transfer full): takes the place of what nobody needs any more who hears it:
 *     who sends may say the same again and again while nobody takes it
 * @packet: (nullable): what it is to the class's queue; NULL: an event
 */
void gst_cbt_queue_items_append (GQueue * items, GstCbtQueuePad * pad,
    gpointer object, const FmxQueuePacket * packet, FmxTime now);

/**
 * gst_cbt_queue_items_clear:
 * @queue: which packets leave
 * @only: of this pad; NULL: of all.  While it is active it flushes: what is said once,
 *     and not again after a flush, stays
 */
void gst_cbt_queue_items_clear (GQueue * items, FmxClassQueue * queue,
    GstCbtQueuePad * only, FmxTime now);

/* Throws away the packets that wait, of all pads; events stay. */
void gst_cbt_queue_items_clear_packets (GQueue * items, FmxClassQueue * queue,
    FmxTime now);

/* Whether a new stream, or a new part of one, comes after @event */
gboolean gst_cbt_queue_event_begins (GstEvent * event);

/**
 * gst_cbt_queue_items_skip:
 * @queue: which packets leave
 *
 * Takes out the packets that wait before a new stream or segment.
 *
 * Returns: whether one waits
 */
gboolean gst_cbt_queue_items_skip (GQueue * items, FmxClassQueue * queue,
    FmxTime now);

G_END_DECLS
#endif /* __GST_CBT_QUEUE_ITEMS_H__ */
