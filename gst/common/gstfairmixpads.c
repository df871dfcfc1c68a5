/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixpads.h"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate rtcp_sink_template =
GST_STATIC_PAD_TEMPLATE ("rtcp_sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-rtcp"));
static GstStaticPadTemplate rtcp_src_template =
GST_STATIC_PAD_TEMPLATE ("rtcp_src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-rtcp"));

static GstIterator *
iterate_links (GstPad * pad, GstObject * parent)
{
  GValue value = G_VALUE_INIT;
  GstIterator *it;

  g_value_init (&value, GST_TYPE_PAD);
  g_value_set_object (&value, gst_pad_get_element_private (pad));
  it = gst_iterator_new_single (GST_TYPE_PAD, &value);
  g_value_unset (&value);
  return it;
}

static void
add (GstElement * element, GstPad * pad, GstPad * other)
{
  GST_PAD_SET_PROXY_CAPS (pad);
  gst_pad_set_element_private (pad, other);
  gst_pad_set_iterate_internal_links_function (pad, iterate_links);
  gst_element_add_pad (element, pad);
}

void
gst_fairmix_pads_add_pair (GstElement * element, GstPad * sink, GstPad * src)
{
  add (element, sink, src);
  add (element, src, sink);
}

void
gst_fairmix_pads_install_rtp (GstElementClass * klass)
{
  gst_element_class_add_static_pad_template (klass, &sink_template);
  gst_element_class_add_static_pad_template (klass, &src_template);
}

void
gst_fairmix_pads_install_rtcp (GstElementClass * klass)
{
  gst_element_class_add_static_pad_template (klass, &rtcp_sink_template);
  gst_element_class_add_static_pad_template (klass, &rtcp_src_template);
}

GstPad *
gst_fairmix_pads_add_rtp (GstElement * element, GstPadChainFunction chain,
    GstPadChainListFunction chain_list, GstPadEventFunction event,
    GstPad ** src)
{
  GstPad *sink = gst_pad_new_from_static_template (&sink_template, "sink");

  gst_pad_set_chain_function (sink, chain);
  gst_pad_set_chain_list_function (sink, chain_list);
  gst_pad_set_event_function (sink, event);
  GST_PAD_SET_PROXY_ALLOCATION (sink);
  *src = gst_pad_new_from_static_template (&src_template, "src");
  gst_fairmix_pads_add_pair (element, sink, *src);
  return sink;
}

GstPad *
gst_fairmix_pads_add_rtcp (GstElement * element, GstPadChainFunction chain,
    GstPad ** src)
{
  GstPad *sink =
      gst_pad_new_from_static_template (&rtcp_sink_template, "rtcp_sink");

  gst_pad_set_chain_function (sink, chain);
  *src = gst_pad_new_from_static_template (&rtcp_src_template, "rtcp_src");
  gst_fairmix_pads_add_pair (element, sink, *src);
  return sink;
}

static gboolean
is_asked_for (GstPad * pad)
{
  GstPadTemplate *template = GST_PAD_PAD_TEMPLATE (pad);

  return template != NULL
      && GST_PAD_TEMPLATE_PRESENCE (template) == GST_PAD_REQUEST;
}

static GObject *
get_child (GstChildProxy * proxy, guint index)
{
  GObject *child = NULL;

  GST_OBJECT_LOCK (proxy);
  for (GList * l = GST_ELEMENT (proxy)->pads; l != NULL && child == NULL;
      l = l->next)
    if (is_asked_for (l->data) && index-- == 0)
      child = g_object_ref (l->data);
  GST_OBJECT_UNLOCK (proxy);
  return child;
}

static guint
get_children_count (GstChildProxy * proxy)
{
  guint n = 0;

  GST_OBJECT_LOCK (proxy);
  for (GList * l = GST_ELEMENT (proxy)->pads; l != NULL; l = l->next)
    n += is_asked_for (l->data);
  GST_OBJECT_UNLOCK (proxy);
  return n;
}

void
gst_fairmix_pads_child_proxy_init (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_child_by_index = get_child;
  proxy->get_children_count = get_children_count;
}

gboolean
gst_fairmix_element_set_flag (GstElement * element, guint flag, gboolean set)
{
  gboolean was;

  GST_OBJECT_LOCK (element);
  was = GST_OBJECT_FLAG_IS_SET (element, flag) != 0;
  if (set)
    GST_OBJECT_FLAG_SET (element, flag);
  else
    GST_OBJECT_FLAG_UNSET (element, flag);
  GST_OBJECT_UNLOCK (element);
  return was != !!set;
}

GstFlowReturn
gst_fairmix_pads_push_rtcp (GstPad * src, GstBuffer * buffer)
{
  GstFlowReturn ret = gst_pad_push (src, buffer);

  return ret == GST_FLOW_NOT_LINKED ? GST_FLOW_OK : ret;
}

GstElement *
gst_fairmix_find_element (GstElement * owner, const gchar * name)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT (owner));
  GstElement *found = NULL;

  if (parent != NULL && GST_IS_BIN (parent))
    found = gst_bin_get_by_name_recurse_up (GST_BIN (parent), name);
  gst_clear_object (&parent);
  return found;
}

/* Returns: (transfer full): what nothing has in it */
static GstObject *
top_of (GstObject * object)
{
  GstObject *top = gst_object_ref (object), *parent;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  return top;
}

gboolean
gst_fairmix_is_beside (GstObject * a, GstObject * b)
{
  GstObject *top_a = top_of (a), *top_b = top_of (b);
  gboolean same = top_a == top_b;

  gst_object_unref (top_a);
  gst_object_unref (top_b);
  return same;
}
