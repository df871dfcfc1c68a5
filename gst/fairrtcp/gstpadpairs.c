/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpadpairs.h"

#include <string.h>

#define MADE_NOW "fairmix-pads-made-now"
#define MEMBER "fairmix-pads-member"

/* What is known of a pad: its element_private */
typedef struct
{
  guint index;
  gint is_new;                  /* atomic: a src pad, and nothing has come since */
} Member;

guint
gst_pad_pairs_index (GstPad * pad)
{
  const Member *member = gst_pad_get_element_private (pad);

  return member->index;
}

static void
make_member (GstPad * pad, guint index)
{
  Member *member = g_new (Member, 1);

  member->index = index;
  member->is_new = TRUE;
  gst_pad_set_element_private (pad, member);
  g_object_set_data_full (G_OBJECT (pad), MEMBER, member, g_free);
}

/* Returns: (transfer full) (nullable): that of the same number */
static GstPad *
get_other (GstPad * pad, GstObject * parent)
{
  gchar *name = g_strdup_printf (GST_PAD_IS_SRC (pad) ? "sink_%u" : "src_%u",
      gst_pad_pairs_index (pad));
  GstPad *other = gst_element_get_static_pad (GST_ELEMENT (parent), name);

  g_free (name);
  return other;
}

GstIterator *
gst_pad_pairs_iterate_links (GstPad * pad, GstObject * parent)
{
  GstPad *other = get_other (pad, parent);
  GstIterator *it = NULL;
  GValue value = G_VALUE_INIT;

  if (other != NULL) {
    g_value_init (&value, GST_TYPE_PAD);
    g_value_take_object (&value, other);
    it = gst_iterator_new_single (GST_TYPE_PAD, &value);
    g_value_unset (&value);
  }
  return it;
}

/* Names of pads that are being made, so that two who ask at a time do not get the same.
 * With the object lock. */
static GHashTable *
names_of (GstElement * element)
{
  GHashTable *names = g_object_get_data (G_OBJECT (element), MADE_NOW);

  if (names == NULL) {
    names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
    g_object_set_data_full (G_OBJECT (element), MADE_NOW, names,
        (GDestroyNotify) g_hash_table_unref);
  }
  return names;
}

/* The pad is there, or there is to be none. */
static void
end_making (GstElement * element, const gchar * name)
{
  GST_OBJECT_LOCK (element);
  g_hash_table_remove (names_of (element), name);
  GST_OBJECT_UNLOCK (element);
}

/* Returns: whether a pad of that name may be made, by who asks */
static gboolean
begin_making (GstElement * element, const gchar * name)
{
  GstPad *existing;
  gboolean mine;

  GST_OBJECT_LOCK (element);
  mine = g_hash_table_add (names_of (element), g_strdup (name));
  GST_OBJECT_UNLOCK (element);
  existing = mine ? gst_element_get_static_pad (element, name) : NULL;
  if (existing == NULL)
    return mine;
  gst_object_unref (existing);
  end_making (element, name);
  return FALSE;
}

/* Returns: the number in @name, or the first that is free, for who asks alone until
 * end_making(); @n_max if there is none */
static guint
take_index (GstElement * element, const gchar * prefix, const gchar * name,
    guint n_max)
{
  gboolean is_named = name != NULL && g_str_has_prefix (name, prefix)
      && g_ascii_isdigit (name[strlen (prefix)]);
  guint64 index = 0;
  gboolean mine = FALSE;

  if (is_named && !g_ascii_string_to_unsigned (name + strlen (prefix), 10, 0,
          n_max - 1, &index, NULL))
    return n_max;
  for (; index < n_max; index++) {
    gchar *candidate = g_strdup_printf ("%s%u", prefix, (guint) index);

    mine = begin_making (element, candidate);
    g_free (candidate);
    if (mine || is_named)
      break;
  }
  return mine ? (guint) index : n_max;
}

static gboolean
copy_sticky (GstPad * sink, GstEvent ** event, gpointer src)
{
  gst_pad_store_sticky_event (src, *event);
  return TRUE;
}

/* What came before the src pad was there is told now. */
static void
tell_what_came (GstElement * element, GstPad * src)
{
  GstPad *sink = get_other (src, GST_OBJECT (element));

  if (sink != NULL)
    gst_pad_sticky_events_foreach (sink, copy_sticky, src);
  gst_clear_object (&sink);
}

void
gst_pad_pairs_catch_up (GstPad * sink, GstPad * src)
{
  Member *member = src != NULL ? gst_pad_get_element_private (src) : NULL;

  if (member != NULL && g_atomic_int_get (&member->is_new)
      && g_atomic_int_compare_and_exchange (&member->is_new, TRUE, FALSE))
    gst_pad_sticky_events_foreach (sink, copy_sticky, src);
}

void
gst_pad_pairs_on_event (GstPad * sink, GstObject * parent, GstEvent * event)
{
  GstPad *src = GST_EVENT_IS_SERIALIZED (event) ? get_other (sink, parent)
      : NULL;

  gst_pad_pairs_catch_up (sink, src);
  gst_clear_object (&src);
}

static gboolean
is_linked (GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);
  gboolean linked = gst_pad_is_linked (pad);

  gst_object_unref (pad);
  return linked;
}

void
gst_pad_pairs_complain_of_rtcp (GstElement * element, guint index,
    gint * complained)
{
  if (is_linked (element, "rtcp_src") && !is_linked (element, "rtcp_sink")
      && g_atomic_int_compare_and_exchange (complained, FALSE, TRUE))
    GST_ELEMENT_ERROR (element, CORE, PAD,
        ("RTP comes to %s, and what follows is linked to its pad for RTCP.",
            GST_OBJECT_NAME (element)),
        ("name the pad: name=als als.src_%u ! ...", index));
}

GstPad *
gst_pad_pairs_request (GstElement * element, GstPadTemplate * templ,
    const gchar * name, guint n_max, GstPadPairsFunc setup)
{
  const gchar *pattern = GST_PAD_TEMPLATE_NAME_TEMPLATE (templ);
  gchar *prefix = g_strndup (pattern, strlen (pattern) - strlen ("%u"));
  guint index = take_index (element, prefix, name, n_max);
  gchar *pad_name = g_strdup_printf ("%s%u", prefix, index);
  GstPad *pad = NULL;

  if (index < n_max) {
    pad = gst_pad_new_from_template (templ, pad_name);
    make_member (pad, index);
    setup (element, pad, templ, index);
    gst_pad_set_active (pad, TRUE);
    if (GST_PAD_IS_SRC (pad))
      tell_what_came (element, pad);
    gst_element_add_pad (element, pad);
    end_making (element, pad_name);
  } else {
    GST_INFO_OBJECT (element, "there is no %s to be had",
        name != NULL ? name : pattern);
  }
  g_free (pad_name);
  g_free (prefix);
  return pad;
}
