/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_COURIERS_H__
#define __GST_PARTIAL_MIX_COURIERS_H__

#include <gst/gst.h>

#include "gst/common/gstfairmixlock.h"

#include "gstpartialmixbatch.h"

G_BEGIN_DECLS

/* deliveries that wait for a neighbour that blocks: a second of 100 packets/s */
#define GST_PARTIAL_MIX_MAX_WAITING 100

/**
 * GstPartialMixDoor:
 * @owner: whose door it is, and who is held while anybody is at it
 *
 * What waits in front of one src pad.
 */
struct _GstPartialMixDoor
{
  GstObject *owner;
  /*< private >*/
  gint detour;                  /* atomic: slow, or there is a holder */
  /* under the couriers' lock */
  GQueue waiting;               /* of GstPartialMixDelivery */
  gpointer holder;              /* who is inside, or comes to it */
  gboolean slow;                /* it has held somebody up */
  guint n_quick;                /* pushes in a row that did not, since */
  guint64 n_dropped;
};

void gst_partial_mix_door_init (GstPartialMixDoor * door, GstObject * owner);

/**
 * GstPartialMixCouriers:
 *
 * Threads that push, so that a neighbour that blocks holds up nobody else: not
 * the packets of other neighbours, and not the thread that brings them.
 * docs/decisions/partialmix-0008-a-neighbour-that-blocks.md
 */
typedef struct _GstPartialMixCouriers GstPartialMixCouriers;

/* Pushes @data, which it takes, behind @door; without any lock. */
typedef void (*GstPartialMixPushFunc) (GstPartialMixDoor * door,
    GstCaps * caps, GstMiniObject * data);
/* Called, with the couriers' lock, when a pad is found to block, and when it has
 * not for long. */
typedef void (*GstPartialMixSlowFunc) (gpointer user_data,
    GstPartialMixDoor * door, gboolean slow, guint64 n_dropped);

GstPartialMixCouriers *gst_partial_mix_couriers_new (GstPartialMixPushFunc
    push, GstPartialMixSlowFunc slow, gpointer user_data);
void gst_partial_mix_couriers_free (GstPartialMixCouriers * couriers);

/* @patience: for how long a neighbour may hold up the others; NONE: for ever,
 * and the caller pushes itself */
void gst_partial_mix_couriers_start (GstPartialMixCouriers * couriers,
    GstClockTime patience);
/* Waits for all that are under way: pads that block must not be active. */
void gst_partial_mix_couriers_stop (GstPartialMixCouriers * couriers);

/* Takes @batch.  @alone: there is no other neighbour who could be held up, so that
 * it is pushed at once */
void gst_partial_mix_couriers_deliver (GstPartialMixCouriers * couriers,
    GstPartialMixBatch * batch, gboolean alone);

void gst_partial_mix_couriers_get_stats (GstPartialMixCouriers * couriers,
    GstPartialMixDoor * door, gboolean * slow, guint64 * n_dropped);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_COURIERS_H__ */
