/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PACING_H__
#define __GST_PACING_H__

#include "common/gstfairmixrtp.h"
#include "fairmix/playout/fmx-needed-buffer.h"
#include "fairmix/rate/fmx-pacer.h"

G_BEGIN_DECLS

/**
 * GstPacing:
 *
 * What a sender's media rate has above its transmission rate: a bounded queue of
 * packets, and of the serialized events between them, that nothing leaves faster
 * than allowed; and how much delay that asks of a receiver, in the header extension
 * playout-delay.  Not thread-safe.
 */
typedef struct
{
  /*< private >*/
  FmxDuration max_delay;        /* 0 = off */
  guint8 chosen_id;             /* of the extension; 0 = that of the caps */
  guint8 caps_id;               /* 0 = none there */
  GQueue items;
  guint n_queued;               /* of these that are packets */
  FmxPacer pacer;
  FmxNeededBuffer needed;
  FmxDuration told;             /* to the receivers */
  FmxTime told_since;           /* NONE = nothing yet */
  guint64 n_late;               /* dropped: they would have waited too long */
  GstFlowReturn flow;           /* an error that nobody was told yet */
} GstPacing;

void gst_pacing_init (GstPacing * self);

/* From now on; nothing is known, what waits is thrown away. */
void gst_pacing_start (GstPacing * self, FmxTime now);

/* The packets that wait are thrown away.  What is said between them stays, as nobody
 * would say it again: caps, tags, the end. */
void gst_pacing_drop (GstPacing * self);

/* The rate has had no saw-teeth yet: receivers need nothing in store. */
void gst_pacing_forget (GstPacing * self);

/* Whether packets go through the queue, or are still in it */
gboolean gst_pacing_is_on (const GstPacing * self);

/* @caps: of the packets that follow: their extmap may name the extension */
void gst_pacing_read_caps (GstPacing * self, GstCaps * caps);

/**
 * gst_pacing_on_rate:
 * @bps: that may leave from now on, in bits/s on the wire
 * @rtt: round-trip time, 0 = unknown
 * @n_backoffs: in a row that the media play through
 */
void gst_pacing_on_rate (GstPacing * self, guint64 bps, FmxDuration rtt,
    guint n_backoffs, FmxTime now);

/* @buffer: (transfer full): a packet */
void gst_pacing_queue (GstPacing * self, GstBuffer * buffer);

/* Returns: (transfer full) (nullable): the oldest packet that waits, as long as the
 * newest one would have to wait longer than is allowed */
GstBuffer *gst_pacing_take_late (GstPacing * self, FmxTime now);

/* @event: (transfer full): a serialized one.  Returns: %FALSE if nothing waits,
 * so that it need not wait, either; it is still the caller's then */
gboolean gst_pacing_queue_event (GstPacing * self, GstEvent * event);

/* Returns: (transfer full) (nullable): the buffer or event that may leave now */
GstMiniObject *gst_pacing_pop (GstPacing * self, FmxTime now);

/* @wire_bytes: of a packet that leaves */
void gst_pacing_on_sent (GstPacing * self, guint32 wire_bytes, FmxTime now);

/* Returns: when something may leave; %FMX_TIME_NONE if nothing waits */
FmxTime gst_pacing_due (const GstPacing * self);

/* What became of a push; after an error no packet waits any more */
void gst_pacing_set_flow (GstPacing * self, GstFlowReturn flow);

/* Returns: the last error, said once, to whoever pushes in */
GstFlowReturn gst_pacing_take_flow (GstPacing * self);

/**
 * gst_pacing_tell:
 * @buffer: (transfer full): a packet that is about to be sent
 * @header: (inout): what it says; the length may grow
 *
 * Returns: (transfer full): it, with the delay that receivers shall have at least,
 *     for a fifth of the time: they keep it
 */
GstBuffer *gst_pacing_tell (GstPacing * self, GstBuffer * buffer,
    GstFairmixRtpHeader * header, FmxTime now);

void gst_pacing_add_stats (const GstPacing * self, GstStructure * stats,
    FmxTime now);

/* Properties max-pacing-delay and playout-delay-ext-id, the first of which has
 * @first_id */
#define GST_PACING_N_PARAMS 2
void gst_pacing_install (GObjectClass * klass, guint first_id);
void gst_pacing_set (GstPacing * self, guint param, const GValue * value);
void gst_pacing_get (const GstPacing * self, guint param, GValue * value);

G_END_DECLS

#endif /* __GST_PACING_H__ */
