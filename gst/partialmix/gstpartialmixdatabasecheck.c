/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What in the Database's file says nothing, line by line: GKeyFile takes any
 * section and any key. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixdatabase.h"

#include <math.h>
#include <string.h>

#define LISTENER_PREFIX "neighbour "
#define MAX_COMPLAINTS 20

typedef enum
{
  VALUE_INTEGER,
  VALUE_BOOLEAN,
  VALUE_NUMBER,
  VALUE_TEXT
} ValueType;

static const struct
{
  const gchar *name;
  ValueType type;
  gdouble min, max;
} keys[] = {
  {"priority", VALUE_INTEGER, G_MININT, G_MAXINT},
  {"group", VALUE_TEXT, 0, 0},
  {"never-mix", VALUE_BOOLEAN, 0, 0},
  {"mute", VALUE_BOOLEAN, 0, 0},
  {"gain-db", VALUE_NUMBER, -60.0, 18.0},
  {"pan", VALUE_NUMBER, -1.0, 1.0},
};

gboolean
gst_partial_mix_database_parse_listener (const gchar * section,
    gint * listener, const gchar ** rest)
{
  const gchar *number = section + strlen (LISTENER_PREFIX);
  gchar *end;
  guint64 value;

  if (!g_str_has_prefix (section, LISTENER_PREFIX)
      || !g_ascii_isdigit (*number))
    return FALSE;
  value = g_ascii_strtoull (number, &end, 10);
  if (value > G_MAXINT || *end != '/')
    return FALSE;
  *listener = (gint) value;
  *rest = end + 1;
  return TRUE;
}

static gboolean
is_section (const gchar * section)
{
  const gchar *rest = section;
  gint listener;
  gchar *end;

  gst_partial_mix_database_parse_listener (section, &listener, &rest);
  if (g_str_equal (rest, "default"))
    return TRUE;
  if (g_str_has_prefix (rest, "cname:"))
    return rest[strlen ("cname:")] != '\0';
  if (!g_str_has_prefix (rest, "ssrc:"))
    return FALSE;
  rest += strlen ("ssrc:");
  return g_ascii_isdigit (*rest)
      && g_ascii_strtoull (rest, &end, 0) <= G_MAXUINT32 && *end == '\0';
}

static gboolean
is_number (const gchar * value, gdouble min, gdouble max)
{
  gchar *end;
  gdouble number = g_ascii_strtod (value, &end);

  return end != value && *end == '\0' && isfinite (number) && number >= min
      && number <= max;
}

static gboolean
is_value (guint key, const gchar * value)
{
  gint64 integer;

  switch (keys[key].type) {
    case VALUE_INTEGER:
      return g_ascii_string_to_signed (value, 10, (gint64) keys[key].min,
          (gint64) keys[key].max, &integer, NULL);
    case VALUE_BOOLEAN:
      return g_str_equal (value, "true") || g_str_equal (value, "false")
          || g_str_equal (value, "1") || g_str_equal (value, "0");
    case VALUE_NUMBER:
      return is_number (value, keys[key].min, keys[key].max);
    default:
      return TRUE;
  }
}

/* Returns: (transfer full): what is wrong with key=value, or NULL */
static gchar *
check_key (const gchar * line)
{
  const gchar *equals = strchr (line, '=');
  gchar *name = g_strstrip (g_strndup (line, (gsize) (equals - line)));
  gchar *value = g_strstrip (g_strdup (equals + 1));
  gchar *complaint = NULL;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    if (g_str_equal (name, keys[i].name))
      break;
  if (i == G_N_ELEMENTS (keys))
    complaint = g_strdup_printf ("unknown key \"%s\"", name);
  else if (!is_value (i, value))
    complaint = g_strdup_printf ("\"%s\" is no value of %s", value, name);
  g_free (name);
  g_free (value);
  return complaint;
}

/* Returns: (transfer full): what is wrong with @line, or NULL */
static gchar *
check_line (gchar * line)
{
  gchar *end;

  if (*line == '[') {
    end = strrchr (line, ']');
    if (end != NULL)
      *end = '\0';
    return is_section (line + 1) ? NULL
        : g_strdup_printf ("unknown section [%s]", line + 1);
  }
  return *line == '#' || strchr (line, '=') == NULL ? NULL : check_key (line);
}

gchar *
gst_partial_mix_database_check (const gchar * text, const gchar * name)
{
  gchar **lines = g_strsplit (text, "\n", -1);
  GString *complaints = g_string_new (NULL);
  guint n = 0;
  guint i;

  for (i = 0; lines[i] != NULL && n < MAX_COMPLAINTS; i++) {
    gchar *complaint = check_line (g_strstrip (lines[i]));

    if (complaint != NULL)
      g_string_append_printf (complaints, "%s%s:%u: %s", n++ > 0 ? "\n" : "",
          name, i + 1, complaint);
    g_free (complaint);
  }
  g_strfreev (lines);
  return g_string_free (complaints, n == 0);
}

/* --- what an application says --------------------------------------------- */

static GType
type_of (const gchar * name)
{
  static const GType types[] = { G_TYPE_INT, G_TYPE_BOOLEAN, G_TYPE_DOUBLE,
    G_TYPE_STRING
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (keys); i++)
    if (g_str_equal (name, keys[i].name))
      return types[keys[i].type];
  return g_str_equal (name, "neighbour") ? G_TYPE_INT : G_TYPE_INVALID;
}

typedef struct
{
  GstStructure *said;
  GString *complaints;
} Reading;

static gboolean
read_field (GQuark field, const GValue * value, gpointer user_data)
{
  const gchar *name = g_quark_to_string (field);
  GType type = type_of (name);
  Reading *reading = user_data;
  GValue known = G_VALUE_INIT;

  if (type == G_TYPE_INVALID) {
    g_string_append_printf (reading->complaints, "%sset-stream: unknown field "
        "\"%s\"", reading->complaints->len > 0 ? "\n" : "", name);
    return TRUE;
  }
  g_value_init (&known, type);
  if (g_value_transform (value, &known)) {
    gst_structure_take_value (reading->said, name, &known);
    return TRUE;
  }
  g_value_unset (&known);
  g_string_append_printf (reading->complaints,
      "%sset-stream: %s cannot be a %s",
      reading->complaints->len > 0 ? "\n" : "", name,
      G_VALUE_TYPE_NAME (value));
  return TRUE;
}

GstStructure *
gst_partial_mix_database_read (const GstStructure * values, gchar ** complaints)
{
  Reading reading;
  gboolean is_for_one;

  if (values == NULL) {
    *complaints = g_strdup ("set-stream: no structure says what of the stream");
    return NULL;
  }
  reading.said = gst_structure_new_empty ("said");
  reading.complaints = g_string_new (NULL);
  is_for_one = gst_structure_has_field (values, "neighbour");
  gst_structure_foreach (values, read_field, &reading);
  *complaints = g_string_free (reading.complaints,
      reading.complaints->len == 0);
  if (is_for_one && !gst_structure_has_field (reading.said, "neighbour"))
    g_clear_pointer (&reading.said, gst_structure_free);
  return reading.said;
}
