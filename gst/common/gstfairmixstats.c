/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixstats.h"

GstStructure *
gst_fairmix_event_to_structure (const gchar * name, const FmxEvent * event)
{
  GstStructure *s = gst_structure_new (name,
      "event", G_TYPE_STRING, event->name,
      "reason", G_TYPE_STRING, event->reason != NULL ? event->reason : "",
      NULL);

  for (guint i = 0; i < event->n_fields; i++)
    gst_structure_set (s, event->fields[i].name, G_TYPE_DOUBLE,
        event->fields[i].value, NULL);
  return s;
}

void
gst_fairmix_stats_append (GValue * list, GstStructure * s)
{
  GValue item = G_VALUE_INIT;

  g_value_init (&item, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&item, s);
  gst_value_array_append_and_take_value (list, &item);
}

GType
gst_fairmix_enum_register (const gchar * type_name,
    const gchar * const *nicks, const gchar * const *blurbs, guint n)
{
  GEnumValue *values = g_new0 (GEnumValue, n + 1);      /* kept by the type */

  for (guint i = 0; i < n; i++) {
    values[i].value = (gint) i;
    values[i].value_name = g_intern_string (blurbs[i]);
    values[i].value_nick = g_intern_string (nicks[i]);
  }
  return g_enum_register_static (type_name, values);
}
