/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_BATCH_H__
#define __GST_PARTIAL_MIX_BATCH_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What stands in front of one src pad: gstpartialmixcouriers.h */
typedef struct _GstPartialMixDoor GstPartialMixDoor;

/**
 * GstPartialMixDelivery:
 * @caps: (nullable): what describes @data; owned
 * @data: a buffer, a list or an event; owned
 *
 * Something for one src pad.
 */
typedef struct
{
  GstPartialMixDoor *door;
  GstCaps *caps;
  GstMiniObject *data;
} GstPartialMixDelivery;

/**
 * GstPartialMixBatch:
 *
 * What one packet, one list of packets or one tick has to be delivered, in order.
 * It holds the pads all at once, so that a delivery need not hold its own.
 */
typedef struct _GstPartialMixBatch GstPartialMixBatch;

struct _GstPartialMixBatch
{
  GstPartialMixBatch *next;     /* of those that wait */
  guint n;
  /*< private >*/
  GPtrArray *pads;
  guint room;
  GstPartialMixDelivery *items;
  GstPartialMixDelivery first[];        /* @items, while they fit */
};

/* @pads: those that deliveries may be for; never changed */
/* @room: as many deliveries as are expected */
GstPartialMixBatch *gst_partial_mix_batch_new (GPtrArray * pads, guint room);
/* With all that is in it and was not taken. */
void gst_partial_mix_batch_free (GstPartialMixBatch * batch);

/* Takes @data. */
void gst_partial_mix_batch_add (GstPartialMixBatch * batch,
    GstPartialMixDoor * door, GstCaps * caps, GstMiniObject * data);

static inline GstPartialMixDelivery *
gst_partial_mix_batch_at (GstPartialMixBatch * batch, guint i)
{
  return &batch->items[i];
}

/* Returns: (nullable): all from the @from-th on, which are no longer in @batch's
 * care; its count stays as it is */
GstPartialMixBatch *gst_partial_mix_batch_take_rest (GstPartialMixBatch *
    batch, guint from);

void gst_partial_mix_delivery_clear (GstPartialMixDelivery * delivery);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_BATCH_H__ */
