/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What has come from the network and is genuine: RTP and RTCP of each neighbour
 * on pads of their own. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmends.h"

#include "common/gstfairmixextmap.h"

#include "fairmix/wire/fmx-contributor-time.h"

struct _GstDpmSource
{
  GstElement parent;
  gint ended;
};

static GstStaticPadTemplate rtp_template = GST_STATIC_PAD_TEMPLATE ("rtp_%u",
    GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate rtcp_template = GST_STATIC_PAD_TEMPLATE ("rtcp_%u",
    GST_PAD_SRC, GST_PAD_SOMETIMES, GST_STATIC_CAPS ("application/x-rtcp"));

G_DEFINE_FINAL_TYPE (GstDpmSource, gst_dpm_source, GST_TYPE_ELEMENT);

static GstCaps *
rtp_caps_new (void)
{
  GstCaps *caps = gst_caps_new_simple ("application/x-rtp",
      "media", G_TYPE_STRING, "audio", "encoding-name", G_TYPE_STRING, "OPUS",
      "clock-rate", G_TYPE_INT, 48000,
      "payload", G_TYPE_INT, GST_DPM_PAYLOAD_TYPE, NULL);

  gst_caps_set_simple (caps,
      "extmap-" G_STRINGIFY (GST_DPM_LEVEL_ID), G_TYPE_STRING,
      GST_FAIRMIX_LEVEL_URN,
      "extmap-" G_STRINGIFY (GST_DPM_MIX_LEVEL_ID), G_TYPE_STRING,
      GST_FAIRMIX_CSRC_LEVEL_URN,
      "extmap-" G_STRINGIFY (GST_DPM_TIME_ID), G_TYPE_STRING,
      FMX_CONTRIBUTOR_TIME_URN, NULL);
  return caps;
}

static gboolean
pad_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    gst_query_set_latency (query, TRUE, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

static gboolean
pad_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  gst_event_unref (event);
  return TRUE;
}

static void
pad_add (GstDpmSource * self, GstStaticPadTemplate * template,
    const gchar * kind, guint number)
{
  gchar *name = g_strdup_printf ("%s_%u", kind, number);
  GstPad *pad = gst_pad_new_from_static_template (template, name);

  gst_pad_set_query_function (pad, pad_query);
  gst_pad_set_event_function (pad, pad_event);
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (GST_ELEMENT (self), pad);
  g_free (name);
}

void
gst_dpm_source_add (GstDpmSource * self, GstDpmPeer * peer)
{
  guint number = gst_dpm_peer_get_number (peer);

  pad_add (self, &rtp_template, "rtp", number);
  pad_add (self, &rtcp_template, "rtcp", number);
}

/* takes @caps */
static void
pad_begin (GstPad * pad, GstCaps * caps)
{
  gchar *id = g_strdup_printf ("dpm-%08x/%s", g_random_int (),
      GST_PAD_NAME (pad));
  GstSegment segment;

  gst_pad_push_event (pad, gst_event_new_stream_start (id));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  g_free (id);
}

void
gst_dpm_source_begin (GstDpmSource * self, GstPad * rtp, GstPad * rtcp)
{
  pad_begin (rtp, rtp_caps_new ());
  pad_begin (rtcp, gst_caps_new_empty_simple ("application/x-rtcp"));
}

void
gst_dpm_source_remove (GstDpmSource * self, GstDpmPeer * peer)
{
  gst_dpm_peer_set_pads (peer, NULL, NULL);
  gst_dpm_peer_remove_pads (peer, GST_ELEMENT (self));
}

GstFlowReturn
gst_dpm_source_push (GstDpmSource * self, GstPad * pad, GstBuffer * buffer)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));

  if (!GST_CLOCK_TIME_IS_VALID (now) || g_atomic_int_get (&self->ended)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_FLUSHING;
  }
  GST_BUFFER_PTS (buffer) = now;
  GST_BUFFER_DTS (buffer) = now;
  return gst_pad_push (pad, buffer);
}

static gpointer
ref_pad (gconstpointer pad, gpointer nothing)
{
  return gst_object_ref ((gpointer) pad);
}

/* EOS, as gst-launch-1.0 -e has it */
static gboolean
gst_dpm_source_send_event (GstElement * element, GstEvent * event)
{
  GstDpmSource *self = GST_DPM_SOURCE (element);
  gboolean is_eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  GList *pads;

  if (!is_eos)
    return GST_ELEMENT_CLASS (gst_dpm_source_parent_class)->send_event (element,
        event);
  g_atomic_int_set (&self->ended, TRUE);
  GST_OBJECT_LOCK (self);
  pads = g_list_copy_deep (element->srcpads, ref_pad, NULL);
  GST_OBJECT_UNLOCK (self);
  for (GList * l = pads; l != NULL; l = l->next)
    gst_pad_push_event (l->data, gst_event_ref (event));
  g_list_free_full (pads, gst_object_unref);
  gst_event_unref (event);
  return TRUE;
}

static GstStateChangeReturn
gst_dpm_source_change_state (GstElement * element, GstStateChange transition)
{
  GstStateChangeReturn ret =
      GST_ELEMENT_CLASS (gst_dpm_source_parent_class)->change_state (element,
      transition);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    g_atomic_int_set (&GST_DPM_SOURCE (element)->ended, FALSE);
  if (ret == GST_STATE_CHANGE_SUCCESS
      && (transition == GST_STATE_CHANGE_READY_TO_PAUSED
          || transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED))
    ret = GST_STATE_CHANGE_NO_PREROLL;
  return ret;
}

static void
gst_dpm_source_class_init (GstDpmSourceClass * klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  element_class->change_state = gst_dpm_source_change_state;
  element_class->send_event = gst_dpm_source_send_event;
  gst_element_class_add_static_pad_template (element_class, &rtp_template);
  gst_element_class_add_static_pad_template (element_class, &rtcp_template);
  gst_element_class_set_static_metadata (element_class, "DPM source",
      "Source/Network/RTP", "What came through one UDP port, by neighbour",
      "gst-fairmix");
}

static void
gst_dpm_source_init (GstDpmSource * self)
{
  GST_OBJECT_FLAG_SET (self, GST_ELEMENT_FLAG_SOURCE);
}
