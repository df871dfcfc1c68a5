/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is to go to the network: RTP and RTCP for each neighbour on pads of their
 * own.  It never blocks: what the system does not take is lost, as on the way. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmends.h"

#include "common/gstfairmixpads.h"
#include "fairmix/wire/fmx-contributor-time.h"

#define RTP_CAPS "application/x-rtp, media=audio, encoding-name=OPUS, " \
    "clock-rate=48000, payload=" G_STRINGIFY (GST_DPM_PAYLOAD_TYPE)

struct _GstDpmSink
{
  GstElement parent;

  GstDpmPort *port;             /* atomic: pads come while others send */
  gboolean ends;                /* with the object lock */
};

static GstStaticPadTemplate rtp_template = GST_STATIC_PAD_TEMPLATE ("rtp_%u",
    GST_PAD_SINK, GST_PAD_SOMETIMES,
    GST_STATIC_CAPS (RTP_CAPS));
/* the same for who is told */
static GstStaticPadTemplate telling_template =
GST_STATIC_PAD_TEMPLATE ("rtp_%u", GST_PAD_SINK, GST_PAD_SOMETIMES,
    GST_STATIC_CAPS (RTP_CAPS ", extmap-" G_STRINGIFY (GST_DPM_TIME_ID)
        "=(string)" FMX_CONTRIBUTOR_TIME_URN));
static GstStaticPadTemplate rtcp_template = GST_STATIC_PAD_TEMPLATE ("rtcp_%u",
    GST_PAD_SINK, GST_PAD_SOMETIMES, GST_STATIC_CAPS ("application/x-rtcp"));

G_DEFINE_FINAL_TYPE (GstDpmSink, gst_dpm_sink, GST_TYPE_ELEMENT);

static GstFlowReturn
send (GstPad * pad, GstObject * parent, GstBuffer * buffer, gboolean rtcp)
{
  GstDpmPeer *peer = gst_pad_get_element_private (pad);
  GstDpmPort *port = g_atomic_pointer_get (&GST_DPM_SINK (parent)->port);

  if (port != NULL)
    gst_dpm_port_send (port, peer, buffer, rtcp);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstFlowReturn
rtp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  return send (pad, parent, buffer, FALSE);
}

static GstFlowReturn
rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  return send (pad, parent, buffer, TRUE);
}

static gboolean
pad_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstDpmSink *self = GST_DPM_SINK (parent);
  gboolean ends;

  GST_OBJECT_LOCK (self);
  ends = self->ends && GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  GST_OBJECT_UNLOCK (self);
  if (ends) {
    GstMessage *message = gst_message_new_eos (parent);

    gst_message_set_seqnum (message, gst_event_get_seqnum (event));
    gst_element_post_message (GST_ELEMENT (self), message);
  }
  gst_event_unref (event);
  return TRUE;
}

static gboolean
pad_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_pad_peer_query (pad, query);
  return gst_pad_query_default (pad, parent, query);
}

static void
pad_add (GstDpmSink * self, GstStaticPadTemplate * template,
    const gchar * kind, GstDpmPeer * peer, GstPadChainFunction chain)
{
  gchar *name = g_strdup_printf ("%s_%u", kind,
      gst_dpm_peer_get_number (peer));
  GstPad *pad = gst_pad_new_from_static_template (template, name);

  g_object_set_data_full (G_OBJECT (pad), "peer", gst_dpm_peer_ref (peer),
      (GDestroyNotify) gst_dpm_peer_unref);
  gst_pad_set_element_private (pad, peer);
  gst_pad_set_chain_function (pad, chain);
  gst_pad_set_event_function (pad, pad_event);
  gst_pad_set_query_function (pad, pad_query);
  /* it is asked by those who send, in a hurry */
  GST_PAD_SET_ACCEPT_TEMPLATE (pad);
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (GST_ELEMENT (self), pad);
  g_free (name);
}

void
gst_dpm_sink_add (GstDpmSink * self, GstDpmPeer * peer, gboolean tells)
{
  pad_add (self, tells ? &telling_template : &rtp_template, "rtp", peer,
      rtp_chain);
  pad_add (self, &rtcp_template, "rtcp", peer, rtcp_chain);
}

void
gst_dpm_sink_remove (GstDpmSink * self, GstDpmPeer * peer)
{
  gst_dpm_peer_remove_pads (peer, GST_ELEMENT (self));
}

void
gst_dpm_sink_set_port (GstDpmSink * self, GstDpmPort * port)
{
  g_atomic_pointer_set (&self->port, port);
}

void
gst_dpm_sink_set_ends (GstDpmSink * self, gboolean ends)
{
  GST_OBJECT_LOCK (self);
  self->ends = ends;
  GST_OBJECT_UNLOCK (self);
  gst_fairmix_element_set_flag (GST_ELEMENT (self), GST_ELEMENT_FLAG_SINK,
      ends);
}

static void
gst_dpm_sink_class_init (GstDpmSinkClass * klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_add_static_pad_template (element_class, &rtp_template);
  gst_element_class_add_static_pad_template (element_class, &rtcp_template);
  gst_element_class_set_static_metadata (element_class, "DPM sink",
      "Sink/Network/RTP", "What goes out through one UDP port, by neighbour",
      "gst-fairmix");
}

static void
gst_dpm_sink_init (GstDpmSink * self)
{
}
