/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstcbtqueueitems.h"

void
gst_cbt_queue_item_free (GstCbtQueueItem * item)
{
  gst_clear_mini_object (&item->object);
  gst_object_unref (item->pad);
  g_free (item);
}

static void
take_out (GQueue * items, GList * link)
{
  GstCbtQueueItem *item = link->data;

  item->pad->n_items--;
  gst_cbt_queue_item_free (item);
  g_queue_delete_link (items, link);
}

/* Packets, gaps and ends need those before them; and a flush takes them away. */
static gboolean
is_said_once (GstMiniObject * object)
{
  return GST_IS_EVENT (object) && GST_EVENT_IS_STICKY (object)
      && GST_EVENT_TYPE (object) != GST_EVENT_EOS;
}

/* Whether nobody needs @earlier who hears @event */
static gboolean
supersedes (GstEvent * event, GstEvent * earlier)
{
  const GstStructure *s = gst_event_get_structure (event);

  return GST_EVENT_TYPE (event) == GST_EVENT_TYPE (earlier)
      && (s == NULL
      || gst_event_has_name (earlier, gst_structure_get_name (s)));
}

static void
take_out_superseded (GQueue * items, GstCbtQueuePad * pad, GstEvent * event)
{
  for (GList * l = items->tail; l != NULL; l = l->prev) {
    GstCbtQueueItem *item = l->data;

    if (item->pad != pad)
      continue;
    if (!is_said_once (item->object))
      return;
    if (supersedes (event, GST_EVENT (item->object))) {
      take_out (items, l);
      return;
    }
  }
}

void
gst_cbt_queue_items_append (GQueue * items, GstCbtQueuePad * pad,
    gpointer object, const FmxQueuePacket * packet, FmxTime now)
{
  GstCbtQueueItem *item = g_new0 (GstCbtQueueItem, 1);

  if (packet != NULL)
    item->packet = *packet;
  else if (is_said_once (object))
    take_out_superseded (items, pad, object);
  item->object = object;
  item->pad = gst_object_ref (pad);
  item->arrival = now;
  g_queue_push_tail (items, item);
  pad->n_items++;
}

void
gst_cbt_queue_items_clear (GQueue * items, FmxClassQueue * queue,
    GstCbtQueuePad * only, FmxTime now)
{
  GList *next;

  for (GList * l = items->head; l != NULL; l = next) {
    GstCbtQueueItem *item = l->data;

    next = l->next;
    if (only != NULL && (item->pad != only || (!only->inactive
                && is_said_once (item->object)
                && GST_EVENT_TYPE (item->object) != GST_EVENT_SEGMENT)))
      continue;
    if (fmx_queue_class_get_length (&item->pad->queue_class) > 0)
      fmx_class_queue_clear (queue, &item->pad->queue_class, now);
    take_out (items, l);
  }
}

void
gst_cbt_queue_items_clear_packets (GQueue * items, FmxClassQueue * queue,
    FmxTime now)
{
  GList *next;

  for (GList * l = items->head; l != NULL; l = next) {
    GstCbtQueueItem *item = l->data;

    next = l->next;
    if (GST_IS_EVENT (item->object))
      continue;
    fmx_class_queue_clear (queue, &item->pad->queue_class, now);
    take_out (items, l);
  }
}

gboolean
gst_cbt_queue_event_begins (GstEvent * event)
{
  return GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT;
}

gboolean
gst_cbt_queue_items_skip (GQueue * items, FmxClassQueue * queue, FmxTime now)
{
  GList *next;

  for (GList * l = items->head; l != NULL; l = next) {
    GstCbtQueueItem *item = l->data;

    next = l->next;
    if (!GST_IS_EVENT (item->object)) {
      fmx_class_queue_on_departure (queue, &item->pad->queue_class,
          &item->packet, now);
      take_out (items, l);
    } else if (gst_cbt_queue_event_begins (GST_EVENT (item->object))) {
      return TRUE;
    }
  }
  return FALSE;
}
