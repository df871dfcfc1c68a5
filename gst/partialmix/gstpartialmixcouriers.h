/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_COURIERS_H__
#define __GST_PARTIAL_MIX_COURIERS_H__

#include <gst/gst.h>

#include "gst/common/gstfairmixlock.h"

G_BEGIN_DECLS

/* deliveries that wait for a neighbour that blocks: a second of 100 packets/s */
#define GST_PARTIAL_MIX_MAX_WAITING 100

typedef struct _GstPartialMixSrcPad GstPartialMixSrcPad;

/**
 * GstPartialMixDelivery:
 * @caps: (nullable): what describes @data
 * @data: a buffer, a list or an event
 *
 * Something for one src pad.  All three are owned.
 */
typedef struct
{
  GstPartialMixSrcPad *pad;
  GstCaps *caps;
  GstMiniObject *data;
} GstPartialMixDelivery;

GArray *gst_partial_mix_deliveries_new (void);
/* takes @data */
void gst_partial_mix_deliveries_add (GArray * deliveries,
    GstPartialMixSrcPad * pad, GstCaps * caps, GstMiniObject * data);

/**
 * GstPartialMixDoor:
 *
 * What waits in front of one src pad.  Under the couriers' lock.
 */
typedef struct
{
  /*< private >*/
  GQueue waiting;               /* of GstPartialMixDelivery */
  gpointer holder;              /* who is inside, or comes to it */
  gboolean slow;                /* it has held somebody up */
  guint n_quick;                /* pushes in a row that did not, since */
  guint64 n_dropped;
} GstPartialMixDoor;

/**
 * GstPartialMixCouriers:
 *
 * Threads that push, so that a neighbour that blocks holds up nobody else: not
 * the packets of other neighbours, and not the thread that brings them.
 * docs/decisions/partialmix-0008-a-neighbour-that-blocks.md
 */
typedef struct _GstPartialMixCouriers GstPartialMixCouriers;

/* @slow: called, with the couriers' lock, when a pad is found to block, and
 * when it has not for long */
GstPartialMixCouriers *gst_partial_mix_couriers_new (void (*slow) (gpointer
        user_data, GstPartialMixSrcPad * pad, gboolean slow,
        guint64 n_dropped), gpointer user_data);
void gst_partial_mix_couriers_free (GstPartialMixCouriers * couriers);

/* @patience: for how long a neighbour may hold up the others; NONE: for ever,
 * and the caller pushes itself */
void gst_partial_mix_couriers_start (GstPartialMixCouriers * couriers,
    GstClockTime patience);
/* Waits for all that are under way: pads that block must not be active. */
void gst_partial_mix_couriers_stop (GstPartialMixCouriers * couriers);

/* Takes all of @deliveries.  @alone: there is no other neighbour who could be
 * held up, so that they are pushed at once */
void gst_partial_mix_couriers_deliver (GstPartialMixCouriers * couriers,
    GArray * deliveries, gboolean alone);

void gst_partial_mix_door_clear (GstPartialMixDoor * door);
void gst_partial_mix_couriers_get_stats (GstPartialMixCouriers * couriers,
    GstPartialMixDoor * door, gboolean * slow, guint64 * n_dropped);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_COURIERS_H__ */
