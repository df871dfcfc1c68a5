/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_TFRC_RATE_PASS_H__
#define __GST_TFRC_RATE_PASS_H__

/* The RTP that passes tfrcrate: is numbered, counted, and waits where it is more
 * than may be sent; dropped while the path is probed. */

#include "gsttfrcratetell.h"

G_BEGIN_DECLS

GstFlowReturn gst_tfrc_rate_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer);
GstFlowReturn gst_tfrc_rate_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list);
gboolean gst_tfrc_rate_sink_event (GstPad * pad, GstObject * parent,
    GstEvent * event);

gboolean gst_tfrc_rate_sink_query (GstPad * pad, GstObject * parent,
    GstQuery * query);

/* While it flushes no query waits for what is paced. */
void gst_tfrc_rate_set_flushing (GstTfrcRate * self, gboolean flushing);

/* For the timer, without any lock: pushes what has waited long enough, and a probe
 * if one is due.  The stream lock of the sink pad, which they take, keeps that
 * between two packets that come in, and away from a flush. */
void gst_tfrc_rate_push_waiting (GstTfrcRate * self);
void gst_tfrc_rate_push_probe (GstTfrcRate * self);

/* webrtcbin has no RTCP to be heard before it has a connection. */
void gst_tfrc_rate_find_webrtcbin (GstTfrcRate * self);

G_END_DECLS

#endif /* __GST_TFRC_RATE_PASS_H__ */
