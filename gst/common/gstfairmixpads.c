/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixpads.h"

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
