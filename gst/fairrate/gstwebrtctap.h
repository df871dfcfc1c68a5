/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_WEBRTC_TAP_H__
#define __GST_WEBRTC_TAP_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* @buffer: RTCP, decrypted; called from webrtcbin's thread
 * Returns: whether webrtcbin is to have it, too */
typedef gboolean (*GstWebrtcTapFunc) (GstElement * owner, GstBuffer * buffer);

/**
 * GstWebrtcTap:
 *
 * Hears the RTCP that comes to a webrtcbin of the same pipeline, known by its
 * name: that has no pad for it.  Only of its first transport: streams that are
 * bundled all use that one.
 *
 * It keeps neither its owner nor the webrtcbin alive, and may be connected,
 * disconnected and asked from any thread.
 */
typedef struct _GstWebrtcTap GstWebrtcTap;

GstWebrtcTap *gst_webrtc_tap_new (GstElement * owner, GstWebrtcTapFunc func);

/* Disconnects and frees. */
void gst_webrtc_tap_free (GstWebrtcTap * tap);

/* @name: (nullable): of a webrtcbin; %NULL or empty = none.  What is connected
 * is disconnected. */
void gst_webrtc_tap_set_name (GstWebrtcTap * tap, const gchar * name);

/* Returns: (transfer full) (nullable) */
gchar *gst_webrtc_tap_dup_name (GstWebrtcTap * tap);

/**
 * GstWebrtcTapResult:
 * @GST_WEBRTC_TAP_NONE: no name was set
 * @GST_WEBRTC_TAP_CONNECTED: it hears what comes
 * @GST_WEBRTC_TAP_WAITING: the webrtcbin is there, but has no transport yet (it
 *     makes one when a description is set): try again
 * @GST_WEBRTC_TAP_NOT_FOUND: no element of this name above or beside the owner
 * @GST_WEBRTC_TAP_NO_WEBRTCBIN: that element has no rtpbin inside
 */
typedef enum
{
  GST_WEBRTC_TAP_NONE,
  GST_WEBRTC_TAP_CONNECTED,
  GST_WEBRTC_TAP_WAITING,
  GST_WEBRTC_TAP_NOT_FOUND,
  GST_WEBRTC_TAP_NO_WEBRTCBIN
} GstWebrtcTapResult;

/* Finds the webrtcbin's RTCP, if that has not been done. */
GstWebrtcTapResult gst_webrtc_tap_connect (GstWebrtcTap * tap);

/* Cheap.  Returns: whether gst_webrtc_tap_connect() has something to do */
gboolean gst_webrtc_tap_wants (GstWebrtcTap * tap);

/* Gives up a webrtcbin that was taken out of the pipeline: another one of that name may
 * be there, or come. */
void gst_webrtc_tap_check (GstWebrtcTap * tap);

/* No call begins after it; one that is under way ends when it does. */
void gst_webrtc_tap_disconnect (GstWebrtcTap * tap);

/* Returns: (transfer full) (nullable): why nothing is heard; %NULL = no name was
 * set, or nothing is wrong here */
gchar *gst_webrtc_tap_why_not (GstWebrtcTap * tap);

G_END_DECLS

#endif /* __GST_WEBRTC_TAP_H__ */
