/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_PARTIAL_MIX_REASONS_H
#define GST_PARTIAL_MIX_REASONS_H

/* The reasons of the messages fairmix-selection and fairmix-stream.  partialmix's
 * page has tables made of these lines (tests/meta/check-reasons.py --write). */

/* the target changed */
#define GST_PARTIAL_MIX_RESELECT_TARGET "target"
/* the src pad serves another neighbour */
#define GST_PARTIAL_MIX_RESELECT_NEIGHBOUR "neighbour"
/* the limit `max-streams` changed */
#define GST_PARTIAL_MIX_RESELECT_MAX_STREAMS "max-streams"
/* the src pad has caps */
#define GST_PARTIAL_MIX_RESELECT_NEGOTIATED "negotiated"
/* a stream came */
#define GST_PARTIAL_MIX_RESELECT_STREAM "stream"
/* streams came, went, or changed in cost or level */
#define GST_PARTIAL_MIX_RESELECT_STREAMS "streams"

/* its first packet came */
#define GST_PARTIAL_MIX_STREAM_ARRIVED "arrived"
/* its first packet came, but its SSRC was taken: it leaves as `out-ssrc` */
#define GST_PARTIAL_MIX_STREAM_COLLISION "collision"
/* its sender said BYE, or its pad's stream ended */
#define GST_PARTIAL_MIX_STREAM_BYE "bye"
/* no packet came for `stream-timeout` */
#define GST_PARTIAL_MIX_STREAM_TIMEOUT "timeout"
/* it was silent, and another source sends on its SSRC */
#define GST_PARTIAL_MIX_STREAM_SOURCE "source"
/* its payload type, or what that means, changed */
#define GST_PARTIAL_MIX_STREAM_PAYLOAD_TYPE "payload-type"
/* there were `max-streams`, and its neighbour had more than its share */
#define GST_PARTIAL_MIX_STREAM_SHARE "share"
/* the application removed it */
#define GST_PARTIAL_MIX_STREAM_ACTION "action"
/* it goes on at another sink pad, as `successor` says */
#define GST_PARTIAL_MIX_STREAM_MOVED "other-pad"
/* its sink pad was released */
#define GST_PARTIAL_MIX_STREAM_PAD "pad"
/* its sink pad was unlinked */
#define GST_PARTIAL_MIX_STREAM_UNLINKED "unlinked"
/* the element starts, and it came before */
#define GST_PARTIAL_MIX_STREAM_STARTED "started"
/* the element stops */
#define GST_PARTIAL_MIX_STREAM_STOPPED "stopped"

#endif /* GST_PARTIAL_MIX_REASONS_H */
