/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_TRANSPORT_WIDE_H__
#define __GST_TRANSPORT_WIDE_H__

#include "common/gstfairmixrtp.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/wire/fmx-twcc-numbers.h"

G_BEGIN_DECLS

/**
 * GstTransportWide:
 *
 * Writes a transport-wide sequence number into each RTP packet, and reads the
 * feedback about these numbers.  Zeroed memory is one that does neither.  Not
 * thread-safe.
 */
typedef struct
{
  /*< private >*/
  guint8 chosen_id;             /* 0 = that of the caps */
  guint8 caps_id;               /* 0 = none there */
  guint64 n_not_numbered;
  guint64 n_impossible;
  FmxTwccNumbers *numbers;
} GstTransportWide;

/* Forgets which numbers it gave; @id stays. */
void gst_transport_wide_clear (GstTransportWide * self);

/* @id: of the header extension, 1 ... 255, 0 = what the caps say */
void gst_transport_wide_set_id (GstTransportWide * self, guint id);

/* Returns: the id in use, 0 = packets are not numbered */
guint gst_transport_wide_get_id (const GstTransportWide * self);

/* Returns: packets that have a header extension of another kind than [RFC8285],
 * and so could not be numbered */
guint64 gst_transport_wide_n_not_numbered (const GstTransportWide * self);

/* Returns: feedback that was refused, because it claims what was not sent yet */
guint64 gst_transport_wide_n_impossible (const GstTransportWide * self);

/**
 * gst_transport_wide_take_caps:
 * @caps: of the packets that follow: their extmap may name the extension
 *
 * Returns: (transfer full): the same without that extmap, or a session that
 *     comes later would number the packets once more
 */
GstCaps *gst_transport_wide_take_caps (GstTransportWide * self,
    GstCaps * caps);

/**
 * gst_transport_wide_number:
 * @buffer: (transfer full): a packet that is about to be sent
 * @header: (inout): what it says; the length may grow
 *
 * Returns: (transfer full): it, with the next number; metas, flags and times stay
 */
GstBuffer *gst_transport_wide_number (GstTransportWide * self,
    GstBuffer * buffer, GstFairmixRtpHeader * header);

/* Leaves a number out as well where @seq of @ssrc is left out, so that whoever
 * claims to have it is caught. */
void gst_transport_wide_skip (GstTransportWide * self, guint32 ssrc,
    guint16 seq);

/**
 * gst_transport_wide_read:
 * @packet: one RTCP packet of transport-wide feedback, well-formed
 * @sender: gets what it says of its streams, unless it claims what was not sent yet
 */
void gst_transport_wide_read (GstTransportWide * self,
    const guint8 * packet, gsize size, FmxRateSender * sender, FmxTime now);

G_END_DECLS

#endif /* __GST_TRANSPORT_WIDE_H__ */
