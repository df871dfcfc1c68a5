/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_PARTIAL_MIX_REASONS_H
#define GST_PARTIAL_MIX_REASONS_H

/* The reasons of the messages fairmix-selection and fairmix-stream.  partialmix's
 * page has tables made of these lines (tests/meta/check-reasons.py --write). */

/* the target is another one */
#define GST_PARTIAL_MIX_RESELECT_TARGET "target"
/* the listener is another neighbour */
#define GST_PARTIAL_MIX_RESELECT_NEIGHBOUR "neighbour"
/* the listener takes another number of streams */
#define GST_PARTIAL_MIX_RESELECT_MAX_STREAMS "max-streams"
/* the src pad has caps */
#define GST_PARTIAL_MIX_RESELECT_NEGOTIATED "negotiated"
/* a stream came */
#define GST_PARTIAL_MIX_RESELECT_STREAM "stream"
/* streams came, went, or changed in cost or level */
#define GST_PARTIAL_MIX_RESELECT_STREAMS "streams"

/* its first packet came */
#define GST_PARTIAL_MIX_STREAM_ARRIVED "arrived"
/* its first packet came, and its SSRC was taken: it is sent on as `out-ssrc` */
#define GST_PARTIAL_MIX_STREAM_COLLISION "collision"
/* its sender said BYE, or its pad's stream ended */
#define GST_PARTIAL_MIX_STREAM_BYE "bye"
/* no packet came for `stream-timeout` */
#define GST_PARTIAL_MIX_STREAM_TIMEOUT "timeout"
/* another source sends on its SSRC, and it had fallen silent */
#define GST_PARTIAL_MIX_STREAM_SOURCE "source"
/* its payload type became another one, or means something else */
#define GST_PARTIAL_MIX_STREAM_PAYLOAD_TYPE "payload-type"
/* there are `max-streams`, and its neighbour had more than its share */
#define GST_PARTIAL_MIX_STREAM_SHARE "share"
/* the application removed it */
#define GST_PARTIAL_MIX_STREAM_ACTION "action"
/* its sink pad was released */
#define GST_PARTIAL_MIX_STREAM_PAD "pad"
/* its sink pad was unlinked */
#define GST_PARTIAL_MIX_STREAM_UNLINKED "unlinked"
/* the element starts: it is of the time before */
#define GST_PARTIAL_MIX_STREAM_STARTED "started"
/* the element stops */
#define GST_PARTIAL_MIX_STREAM_STOPPED "stopped"

#endif /* GST_PARTIAL_MIX_REASONS_H */
