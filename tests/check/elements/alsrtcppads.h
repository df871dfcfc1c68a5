/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __ALS_RTCP_PADS_H__
#define __ALS_RTCP_PADS_H__

/* Pads to and from members of a session, with SRTCP between them or without */

#include "../gstfairmixcheck.h"

#include "padcheck.h"
#include "srtpcheck.h"

typedef struct
{
  GMutex lock;
  GQueue buffers;               /* with the lock */
} Outlet;

static inline GstFlowReturn
take_packet (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Outlet *outlet = gst_pad_get_element_private (pad);

  g_mutex_lock (&outlet->lock);
  g_queue_push_tail (&outlet->buffers, buffer);
  g_mutex_unlock (&outlet->lock);
  return GST_FLOW_OK;
}

static inline GstBuffer *
pop_packet (Outlet * outlet)
{
  GstBuffer *buffer;

  g_mutex_lock (&outlet->lock);
  buffer = g_queue_pop_head (&outlet->buffers);
  g_mutex_unlock (&outlet->lock);
  return buffer;
}

static inline GstPad *
any_pad (GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  if (pad == NULL)
    pad = gst_element_request_pad_simple (element, name);
  fail_unless (pad != NULL, "no pad %s", name);
  return pad;
}

static inline void
begin_stream (GstPad * pad, const gchar * caps_string)
{
  GstCaps *caps = gst_caps_from_string (caps_string);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start (GST_PAD_NAME (pad)));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

static inline GstPad *
pad_to (GstElement * element, const gchar * name, const gchar * caps_string)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstPad *peer = any_pad (element, name);

  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (pad, peer), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  begin_stream (pad, caps_string);
  return pad;
}

static inline GstPad *
pad_from (GstElement * element, const gchar * name, Outlet * outlet)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);
  GstPad *peer = any_pad (element, name);

  g_mutex_init (&outlet->lock);
  g_queue_init (&outlet->buffers);
  gst_pad_set_element_private (pad, outlet);
  gst_pad_set_chain_function (pad, take_packet);
  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (peer, pad), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  return pad;
}

static inline GstElement *
element_of (GstElement * bin, const gchar * name)
{
  return gst_bin_get_by_name (GST_BIN (bin), name);
}

static inline void
outlet_clear (Outlet * outlet)
{
  g_queue_clear_full (&outlet->buffers, (GDestroyNotify) gst_buffer_unref);
  g_mutex_clear (&outlet->lock);
}

/* --- SRTCP: what is between a session and the network --- */

#define SRTPENC(name) " srtpenc name=" name " key=" SRTP_KEY " "

/* NULL if there is none of this name.  Returns: (transfer full) */
static inline GstElement *
dec_of (GstElement * bin, const gchar * name)
{
  GstElement *dec = element_of (bin, name);

  if (dec != NULL)
    g_signal_connect (dec, "request-key", G_CALLBACK (srtp_key_caps), NULL);
  return dec;
}

/* The sender's, or a receiver's: from @session, by way of @bin's `enc` */
static inline GstPad *
rtcp_from (GstElement * bin, GstElement * session, const gchar * name,
    Outlet * outlet)
{
  GstElement *enc = element_of (bin, "enc");
  GstPad *pad;

  if (enc == NULL)
    return pad_from (session, name, outlet);
  gst_object_unref (any_pad (enc, "rtcp_sink_0"));
  fail_unless (gst_element_link_pads (session, name, enc, "rtcp_sink_0"));
  pad = pad_from (enc, "rtcp_src_0", outlet);
  gst_object_unref (enc);
  return pad;
}

/* What RTCP passes between the network and alsrtcp */
static inline const gchar *
way_of_rtcp (gboolean srtcp, gboolean answers)
{
  if (!srtcp)
    return answers ? "r.src_7" : "identity name=wire";
  return answers ? SRTPENC ("enc") SRTPENC ("again")
      "srtpdec name=dec srtpdec name=way dec.rtcp_src ! r.sink_7 "
      "r.src_7 ! again.rtcp_sink_0 again.rtcp_src_0 ! way.rtcp_sink way.rtcp_src"
      : SRTPENC ("enc")
      "srtpdec name=dec  r.src_7 ! dec.rtcp_sink dec.rtcp_src";
}

#endif /* __ALS_RTCP_PADS_H__ */
