/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalssources.h"

#include "common/gstfairmixlock.h"
#include "common/gstfairmixpads.h"

#include "gstalspeers.h"

void
gst_als_sources_init (GstAlsSources * sources)
{
  gst_fairmix_lock_init (&sources->lock, GST_FAIRMIX_RANK_HELPER);
  sources->names = NULL;
  sources->complained = FALSE;
}

void
gst_als_sources_clear (GstAlsSources * sources)
{
  g_free (sources->names);
  gst_fairmix_lock_clear (&sources->lock);
}

void
gst_als_sources_set_names (GstAlsSources * sources, const gchar * names)
{
  gst_fairmix_lock_acquire (&sources->lock);
  g_free (sources->names);
  sources->names = names != NULL && names[0] != '\0' ? g_strdup (names) : NULL;
  sources->complained = FALSE;
  gst_fairmix_lock_release (&sources->lock);
}

gchar *
gst_als_sources_dup_names (GstAlsSources * sources)
{
  gchar *names;

  gst_fairmix_lock_acquire (&sources->lock);
  names = g_strdup (sources->names);
  gst_fairmix_lock_release (&sources->lock);
  return names;
}

/* Returns: (transfer full) (nullable).  None that has @owner in it, or is it: @owner's own
 * thread would stop @owner, and wait for itself. */
static GstElement *
find (GstAlsSources * sources, GstElement * owner, const gchar * name)
{
  GstElement *source = gst_fairmix_find_element (owner, name);
  gboolean again = TRUE;

  if (source != NULL && gst_object_has_as_ancestor (GST_OBJECT (owner),
          GST_OBJECT (source)))
    gst_clear_object (&source);
  if (source == NULL) {
    gst_fairmix_lock_acquire (&sources->lock);
    again = sources->complained;
    sources->complained = TRUE;
    gst_fairmix_lock_release (&sources->lock);
  }
  if (!again)
    GST_ELEMENT_WARNING (owner, RESOURCE, NOT_FOUND,
        ("There is no element named \"%s\" that could receive a layer.", name),
        ("property sources: give the udpsrc that name (name=%s)", name));
  return source;
}

static gboolean
has_property (GstElement * source, const gchar * name, GType type)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (source), name);

  return pspec != NULL && pspec->value_type == type;
}

/* Returns: whether it is set to receive that already */
static gboolean
is_there (GstElement * source, const gchar * address, guint port)
{
  gchar *old_address;
  gboolean same;
  gint old_port;

  g_object_get (source, "address", &old_address, "port", &old_port, NULL);
  same = g_strcmp0 (old_address, address) == 0 && old_port == (gint) port;
  g_free (old_address);
  return same;
}

/* Who is no source for the moment must not be told by the bin to end: a udpsrc that
 * was never opened complains. */
static void
leave (GstElement * source)
{
  gst_fairmix_element_set_flag (source, GST_ELEMENT_FLAG_SOURCE, FALSE);
  gst_element_set_locked_state (source, TRUE);
  gst_element_set_state (source, GST_STATE_NULL);
}

/* The bin does not tell an element with a locked state when it began. */
static void
join (GstElement * source, GstElement * owner)
{
  gst_element_set_base_time (source, gst_element_get_base_time (owner));
  gst_element_set_start_time (source, gst_element_get_start_time (owner));
  gst_element_set_locked_state (source, FALSE);
  if (source->numsinkpads == 0)
    gst_fairmix_element_set_flag (source, GST_ELEMENT_FLAG_SOURCE, TRUE);
  if (!gst_element_sync_state_with_parent (source))
    GST_ELEMENT_WARNING (owner, RESOURCE, OPEN_READ,
        ("The element \"%s\" did not start.", GST_OBJECT_NAME (source)),
        ("it is to receive a layer"));
  /* left by another thread, before it took the state that it was told here */
  if (gst_element_is_locked_state (source))
    gst_element_set_state (source, GST_STATE_NULL);
}

/* The bin that goes down may have found it unlocked, and tell it a state after it has
 * been left: then it is locked, and runs. */
static gboolean
is_left (GstElement * source)
{
  return gst_element_is_locked_state (source)
      && GST_STATE (source) == GST_STATE_NULL
      && GST_STATE_PENDING (source) == GST_STATE_VOID_PENDING;
}

/* @layer: (nullable): where it is; @offset: of the port */
static void
hold (GstElement * source, GstElement * owner, gboolean held,
    const FmxAlsLayer * layer, guint offset)
{
  gboolean places = layer != NULL
      && has_property (source, "address", G_TYPE_STRING)
      && has_property (source, "port", G_TYPE_INT);
  gchar *address = places ? gst_als_layer_address (layer) : NULL;
  gboolean moved = places && held
      && !is_there (source, address, layer->port + offset);

  if (held ? moved && !gst_element_is_locked_state (source) : !is_left (source))
    leave (source);
  if (moved)
    g_object_set (source, "address", address, "port",
        (gint) layer->port + offset, NULL);
  if (held && gst_element_is_locked_state (source))
    join (source, owner);
  g_free (address);
}

void
gst_als_sources_hold (GstAlsSources * sources, GstElement * owner,
    guint n_layers, const FmxAlsLayer * layers, guint n_places)
{
  gchar *names = gst_als_sources_dup_names (sources);
  gchar **of_layers = g_strsplit (names != NULL ? names : "", ",", -1);

  for (guint i = 0; of_layers[i] != NULL; i++) {
    gchar **of_one = g_strsplit (of_layers[i], "+", 2);
    guint layer = i + 1;

    for (guint k = 0; of_one[k] != NULL; k++) {
      GstElement *source = find (sources, owner, of_one[k]);

      if (source != NULL)
        hold (source, owner, layer < n_layers,
            layer < n_places ? &layers[layer] : NULL, k);
      gst_clear_object (&source);
    }
    g_strfreev (of_one);
  }
  g_strfreev (of_layers);
  g_free (names);
}
