/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __STATS_CHECK_H__
#define __STATS_CHECK_H__

#include <gst/gst.h>

/* Returns: how many structures the list @list of @stats has, which is freed; @number is
 * @field of the one of @ssrc, if that is there */
static inline guint
stats_look_up (GstStructure * stats, const gchar * list, guint32 ssrc,
    const gchar * field, gdouble * number)
{
  const GValue *items = gst_structure_get_value (stats, list);
  guint n = gst_value_array_get_size (items);

  for (guint i = 0; i < n; i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (items, i));
    GValue value = G_VALUE_INIT;
    guint found;

    if (!gst_structure_get_uint (s, "ssrc", &found) || found != ssrc)
      continue;
    g_value_init (&value, G_TYPE_DOUBLE);
    g_value_transform (gst_structure_get_value (s, field), &value);
    *number = g_value_get_double (&value);
  }
  gst_structure_free (stats);
  return n;
}

#endif /* __STATS_CHECK_H__ */
