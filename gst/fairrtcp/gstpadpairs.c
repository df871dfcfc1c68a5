/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpadpairs.h"

#include <string.h>

guint
gst_pad_pairs_index (GstPad * pad)
{
  return GPOINTER_TO_UINT (gst_pad_get_element_private (pad));
}

GstIterator *
gst_pad_pairs_iterate_links (GstPad * pad, GstObject * parent)
{
  gboolean is_src = GST_PAD_IS_SRC (pad);
  gchar *name = g_strdup_printf (is_src ? "sink_%u" : "src_%u",
      gst_pad_pairs_index (pad));
  GstPad *other = gst_element_get_static_pad (GST_ELEMENT (parent), name);
  GstIterator *it = NULL;
  GValue value = G_VALUE_INIT;

  g_free (name);
  if (other != NULL) {
    g_value_init (&value, GST_TYPE_PAD);
    g_value_take_object (&value, other);
    it = gst_iterator_new_single (GST_TYPE_PAD, &value);
    g_value_unset (&value);
  }
  return it;
}

/* The number in @name, or the first that is free; @n_max if there is none */
static guint
choose_index (GstElement * element, const gchar * prefix, const gchar * name,
    guint n_max)
{
  guint64 index = 0;

  if (name != NULL && g_str_has_prefix (name, prefix)
      && g_ascii_isdigit (name[strlen (prefix)]))
    return g_ascii_string_to_unsigned (name + strlen (prefix), 10, 0,
        n_max - 1, &index, NULL) ? (guint) index : n_max;
  for (index = 0; index < n_max; index++) {
    gchar *candidate = g_strdup_printf ("%s%u", prefix, (guint) index);
    GstPad *pad = gst_element_get_static_pad (element, candidate);

    g_free (candidate);
    if (pad == NULL)
      break;
    gst_object_unref (pad);
  }
  return (guint) index;
}

static gboolean
copy_sticky (GstPad * sink, GstEvent ** event, gpointer src)
{
  gst_pad_store_sticky_event (src, *event);
  return TRUE;
}

/* What came before the src pad was there is told now. */
static void
tell_what_came (GstElement * element, GstPad * src, guint index)
{
  gchar *name = g_strdup_printf ("sink_%u", index);
  GstPad *sink = gst_element_get_static_pad (element, name);

  if (sink != NULL)
    gst_pad_sticky_events_foreach (sink, copy_sticky, src);
  g_clear_pointer (&sink, gst_object_unref);
  g_free (name);
}

GstPad *
gst_pad_pairs_request (GstElement * element, GstPadTemplate * templ,
    const gchar * name, guint n_max, GstPadPairsFunc setup)
{
  const gchar *pattern = GST_PAD_TEMPLATE_NAME_TEMPLATE (templ);
  gchar *prefix = g_strndup (pattern, strlen (pattern) - strlen ("%u"));
  guint index = choose_index (element, prefix, name, n_max);
  gchar *pad_name = g_strdup_printf ("%s%u", prefix, index);
  GstPad *existing = gst_element_get_static_pad (element, pad_name);
  GstPad *pad = NULL;

  if (existing == NULL && index < n_max) {
    pad = gst_pad_new_from_template (templ, pad_name);
    gst_pad_set_element_private (pad, GUINT_TO_POINTER (index));
    setup (element, pad, templ, index);
    gst_pad_set_active (pad, TRUE);
    if (GST_PAD_IS_SRC (pad))
      tell_what_came (element, pad, index);
    gst_element_add_pad (element, pad);
  } else {
    GST_INFO_OBJECT (element, "there is no %s to be had", pad_name);
  }
  g_clear_pointer (&existing, gst_object_unref);
  g_free (pad_name);
  g_free (prefix);
  return pad;
}
