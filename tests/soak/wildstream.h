/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __WILD_STREAM_H__
#define __WILD_STREAM_H__

/* What a peer or an application may send through a pad: little of it makes sense. */

#include <gst/gst.h>

/** wild_caps_new: Returns: (transfer full): those of a stream of any kind */
GstCaps *wild_caps_new (GRand * rand);

/** wild_segment_init: any format, any rate, any start */
void wild_segment_init (GstSegment * segment, GRand * rand);

/** wild_buffer_new: Returns: (transfer full): RTP, RTCP, sound or noise, whole or not,
 * at any time */
GstBuffer *wild_buffer_new (GRand * rand);

/** wild_event_new: Returns: (transfer full): one that goes downstream */
GstEvent *wild_event_new (GRand * rand);

/** wild_upstream_event_new: Returns: (transfer full): one that goes upstream */
GstEvent *wild_upstream_event_new (GRand * rand);

/** wild_query_new: @downstream: one that may only go there, too; Returns: (transfer
 * full) */
GstQuery *wild_query_new (GRand * rand, gboolean downstream);

#endif /* __WILD_STREAM_H__ */
