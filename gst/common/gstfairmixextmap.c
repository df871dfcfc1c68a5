/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixextmap.h"

#include <string.h>

#define EXTMAP "extmap-"
#define MAX_ID 255

/* The extension's name, alone or between direction and attributes */
static const gchar *
extmap_uri (const GValue * value)
{
  if (GST_VALUE_HOLDS_ARRAY (value) && gst_value_array_get_size (value) > 1)
    value = gst_value_array_get_value (value, 1);
  return G_VALUE_HOLDS_STRING (value) ? g_value_get_string (value) : NULL;
}

const gchar *
gst_fairmix_extmap_find (GstCaps * caps, const gchar * uri, guint8 * id)
{
  const GstStructure *s;

  *id = 0;
  if (gst_caps_get_size (caps) == 0)
    return NULL;
  s = gst_caps_get_structure (caps, 0);
  for (gint i = 0; i < gst_structure_n_fields (s); i++) {
    const gchar *name = gst_structure_nth_field_name (s, (guint) i);
    guint64 number;

    if (g_str_has_prefix (name, EXTMAP)
        && g_ascii_string_to_unsigned (name + strlen (EXTMAP), 10, 1, MAX_ID,
            &number, NULL)
        && g_strcmp0 (extmap_uri (gst_structure_get_value (s, name)), uri) == 0) {
      *id = (guint8) number;
      return name;
    }
  }
  return NULL;
}
