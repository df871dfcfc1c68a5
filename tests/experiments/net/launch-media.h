/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LAUNCH_MEDIA_H
#define LAUNCH_MEDIA_H

/* Media whose rate follows what it is told, and what happens in a graph in its time. */

#include <gst/gst.h>

/* Each appsrc media0, media1, ... sends RTP packets that take blocksize bytes on the
 * wire (IP, UDP and RTP headers included), evenly but for a tenth, at the rate of the
 * last fairmix-target-bitrate event. */
void launch_media_prepare (GstElement *pipeline);
/* In the end, while it still plays. */
void launch_media_stop (void);

/* What came to the sinks got0, got1, ... since the last call, on the wire. */
void launch_media_count (GstElement *pipeline);
gdouble launch_media_take_bps (void);

/* "T_S,ELEMENT,PROPERTY,VALUE;...": sets properties in time. */
void launch_media_schedule (GstElement *pipeline, const gchar *settings,
    gint64 epoch_us);

#endif
