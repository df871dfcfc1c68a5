/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixpassage.h"

#include "common/gstfairmixfields.h"

enum
{
  PROP_0,
  PROP_LATENCY
};

struct _GstPartialMixPassage
{
  GstElement parent;

  GstPad *src;
  guint latency_ms;             /* rtpbin sets it, nothing depends on it */
};

G_DEFINE_TYPE (GstPartialMixPassage, gst_partial_mix_passage, GST_TYPE_ELEMENT);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

/* The one who pushes brings all streams of the session. */
static GstFlowReturn
for_the_session (GstFlowReturn ret)
{
  return ret == GST_FLOW_NOT_LINKED || ret == GST_FLOW_FLUSHING
      || ret == GST_FLOW_EOS ? GST_FLOW_OK : ret;
}

static GstFlowReturn
gst_partial_mix_passage_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer)
{
  GstPartialMixPassage *self = GST_PARTIAL_MIX_PASSAGE (parent);

  return for_the_session (gst_pad_push (self->src, buffer));
}

static GstFlowReturn
gst_partial_mix_passage_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstPartialMixPassage *self = GST_PARTIAL_MIX_PASSAGE (parent);

  return for_the_session (gst_pad_push_list (self->src, list));
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_LATENCY, GstPartialMixPassage, latency_ms),
};

static void
gst_partial_mix_passage_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static void
gst_partial_mix_passage_get_property (GObject * object, guint id,
    GValue * value, GParamSpec * pspec)
{
  gst_fairmix_fields_get_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static void
gst_partial_mix_passage_class_init (GstPartialMixPassageClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_partial_mix_passage_set_property;
  object_class->get_property = gst_partial_mix_passage_get_property;
  g_object_class_install_property (object_class, PROP_LATENCY,
      g_param_spec_uint ("latency", "latency",
          "What rtpbin asks of its jitter buffers, in ms; nothing waits here",
          0, G_MAXUINT, 0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS));
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Way from an rtpbin to partialmix", "Generic/Network/RTP",
      "Hands on RTP as it comes, in the place of a jitter buffer",
      "The gst-fairmix developers");
}

static void
gst_partial_mix_passage_init (GstPartialMixPassage * self)
{
  GstPad *sink = gst_pad_new_from_static_template (&sink_template, "sink");

  gst_pad_set_chain_function (sink, gst_partial_mix_passage_chain);
  gst_pad_set_chain_list_function (sink, gst_partial_mix_passage_chain_list);
  GST_PAD_SET_PROXY_CAPS (sink);
  gst_element_add_pad (GST_ELEMENT (self), sink);
  self->src = gst_pad_new_from_static_template (&src_template, "src");
  gst_element_add_pad (GST_ELEMENT (self), self->src);
}
