/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is to be delivered, and to whom. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixbatch.h"

#include <string.h>

GstPartialMixBatch *
gst_partial_mix_batch_new (GPtrArray * pads, guint room)
{
  GstPartialMixBatch *batch = g_malloc (sizeof *batch
      + room * sizeof batch->first[0]);

  batch->next = NULL;
  batch->n = 0;
  batch->pads = g_ptr_array_ref (pads);
  batch->room = room;
  batch->items = batch->first;
  return batch;
}

void
gst_partial_mix_delivery_clear (GstPartialMixDelivery * delivery)
{
  if (delivery->data != NULL)
    gst_mini_object_unref (delivery->data);
  gst_clear_caps (&delivery->caps);
}

void
gst_partial_mix_batch_free (GstPartialMixBatch * batch)
{
  guint i;

  for (i = 0; i < batch->n; i++)
    gst_partial_mix_delivery_clear (&batch->items[i]);
  if (batch->items != batch->first)
    g_free (batch->items);
  g_ptr_array_unref (batch->pads);
  g_free (batch);
}

static void
grow (GstPartialMixBatch * batch)
{
  GstPartialMixDelivery *inside =
      batch->items == batch->first ? batch->first : NULL;

  batch->room = 2 * batch->room + 4;
  batch->items = g_renew (GstPartialMixDelivery,
      inside != NULL ? NULL : batch->items, batch->room);
  if (inside != NULL && batch->n > 0)
    memcpy (batch->items, inside, batch->n * sizeof *inside);
}

void
gst_partial_mix_batch_add (GstPartialMixBatch * batch,
    GstPartialMixDoor * door, GstCaps * caps, GstMiniObject * data)
{
  GstPartialMixDelivery *delivery;

  if (batch->n == batch->room)
    grow (batch);
  delivery = &batch->items[batch->n++];
  delivery->door = door;
  delivery->caps = caps != NULL ? gst_caps_ref (caps) : NULL;
  delivery->data = data;
}

GstPartialMixBatch *
gst_partial_mix_batch_take_rest (GstPartialMixBatch * batch, guint from)
{
  guint n = batch->n - from;
  GstPartialMixBatch *rest;

  if (n == 0)
    return NULL;
  rest = gst_partial_mix_batch_new (batch->pads, n);
  memcpy (rest->items, &batch->items[from], n * sizeof *rest->items);
  rest->n = n;
  return rest;
}
