/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_PAUSE_H__
#define __GST_FAIRMIX_PAUSE_H__

#include <gst/gst.h>

#include "gstfairmixrtp.h"

G_BEGIN_DECLS

/**
 * GstFairmixPause:
 *
 * rtpjitterbuffer takes a pause, over which the sequence numbers go on, for the time from
 * packet to packet: if one of the next packets is lost, it waits for it for up to three
 * quarters of the pause, and holds all that come meanwhile.  A packet that is old resets what
 * it reckons that time from (GStreamer 1.22, gstrtpjitterbuffer.c, "old packet
 * received").  So before the first packet after a pause it gets the header of the last one
 * once more, which it counts as late or as a duplicate and drops.
 *
 * Of the thread that brings the packets; zeroed to begin with.
 */
typedef struct
{
  /*< private >*/
  gboolean known;               /* there was a packet */
  GstFairmixRtpHeader last;
  GstClockTime pts, dts;        /* its */
  guint32 step;                 /* from packet to packet, of the clock rate; 0: not known */
  guint32 paused;               /* the pause before the last packet; 0: none */
} GstFairmixPause;

/**
 * gst_fairmix_pause_note:
 * @buffer: a packet that the jitter buffer is about to get
 *
 * Returns: (transfer full) (nullable): what it is to get before that
 */
GstBuffer *gst_fairmix_pause_note (GstFairmixPause * self, GstBuffer * buffer);

/* The same of all but the first of @list, before which nothing can be put. */
void gst_fairmix_pause_note_rest (GstFairmixPause * self, GstBufferList * list);

/* @event: that the jitter buffer gets; it forgets its packets with some */
void gst_fairmix_pause_event (GstFairmixPause * self, GstEvent * event);

/**
 * gst_fairmix_pause_watch:
 * @jitterbuffer: an rtpjitterbuffer
 *
 * Does all that with each packet that comes in, from now on.
 */
void gst_fairmix_pause_watch (GstElement * jitterbuffer);

G_END_DECLS

#endif /* __GST_FAIRMIX_PAUSE_H__ */
