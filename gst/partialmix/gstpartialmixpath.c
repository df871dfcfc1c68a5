/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* On which ways streams come, so that those that come together are played alike. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixpath.h"

struct _GstPartialMixPath
{
  gint refcount;                /* atomic: streams are let go without the lock */
  guint n_streams;
  gchar *name;
  FmxPathDelay *delay;          /* NULL: nothing has been played */
};

GHashTable *
gst_partial_mix_paths_new (void)
{
  return g_hash_table_new (g_str_hash, g_str_equal);
}

static gchar *
name_of (gint neighbour, GSocketAddress * source, GstPad * pad)
{
  gchar *from, *name;

  if (source == NULL)
    return g_strdup_printf ("%d %p", neighbour, (gpointer) pad);
  from = g_socket_connectable_to_string (G_SOCKET_CONNECTABLE (source));
  name = g_strdup_printf ("%d %s", neighbour, from);
  g_free (from);
  return name;
}

GstPartialMixPath *
gst_partial_mix_paths_join (GHashTable * paths, gint neighbour,
    GSocketAddress * source, GstPad * pad)
{
  gchar *name = name_of (neighbour, source, pad);
  GstPartialMixPath *path = g_hash_table_lookup (paths, name);

  if (path == NULL) {
    path = g_new0 (GstPartialMixPath, 1);
    path->name = g_steal_pointer (&name);
    g_hash_table_insert (paths, path->name, path);
  }
  g_free (name);
  path->n_streams++;
  g_atomic_int_inc (&path->refcount);
  return path;
}

void
gst_partial_mix_paths_leave (GHashTable * paths, GstPartialMixPath * path)
{
  if (--path->n_streams == 0)
    g_hash_table_remove (paths, path->name);
}

FmxPathDelay *
gst_partial_mix_path_delay (GstPartialMixPath * path,
    const FmxDelayMemoryParams * params)
{
  if (path->delay == NULL) {
    path->delay = g_new (FmxPathDelay, 1);
    fmx_path_delay_init (path->delay, params);
  }
  return path->delay;
}

void
gst_partial_mix_path_unref (GstPartialMixPath * path)
{
  if (!g_atomic_int_dec_and_test (&path->refcount))
    return;
  g_free (path->name);
  g_free (path->delay);
  g_free (path);
}
