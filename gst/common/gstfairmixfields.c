/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixfields.h"

static const GstFairmixField *
find (const GstFairmixField * fields, guint n, guint id)
{
  for (guint i = 0; i < n; i++)
    if (fields[i].id == id)
      return &fields[i];
  return NULL;
}

/* A field of another size than @size would be a wrong table. */
static gpointer
at (gconstpointer data, const GstFairmixField * field, gsize size)
{
  g_assert (field->size == size);
  return (guint8 *) data + field->offset;
}

#define AT(data, field, type) ((type *) at (data, field, sizeof (type)))

static void
set_boxed (gpointer * place, const GValue * value)
{
  if (*place != NULL)
    g_boxed_free (G_VALUE_TYPE (value), *place);
  *place = g_value_dup_boxed (value);
}

gboolean
gst_fairmix_fields_set (const GstFairmixField * fields, guint n,
    gpointer data, guint id, const GValue * value)
{
  const GstFairmixField *field = find (fields, n, id);

  if (field == NULL)
    return FALSE;
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      *AT (data, field, gboolean) = g_value_get_boolean (value);
      break;
    case G_TYPE_ENUM:
      *AT (data, field, gint) = g_value_get_enum (value);
      break;
    case G_TYPE_INT:
      *AT (data, field, gint) = g_value_get_int (value);
      break;
    case G_TYPE_UINT:
      *AT (data, field, guint) = g_value_get_uint (value);
      break;
    case G_TYPE_UINT64:
      *AT (data, field, guint64) = g_value_get_uint64 (value);
      break;
    case G_TYPE_DOUBLE:
      *AT (data, field, gdouble) = g_value_get_double (value);
      break;
    case G_TYPE_STRING:
      g_free (*AT (data, field, gchar *));
      *AT (data, field, gchar *) = g_value_dup_string (value);
      break;
    case G_TYPE_BOXED:
      set_boxed (AT (data, field, gpointer), value);
      break;
    default:
      g_assert_not_reached ();
  }
  return TRUE;
}

gboolean
gst_fairmix_fields_get (const GstFairmixField * fields, guint n,
    gconstpointer data, guint id, GValue * value)
{
  const GstFairmixField *field = find (fields, n, id);

  if (field == NULL)
    return FALSE;
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, *AT (data, field, gboolean));
      break;
    case G_TYPE_ENUM:
      g_value_set_enum (value, *AT (data, field, gint));
      break;
    case G_TYPE_INT:
      g_value_set_int (value, *AT (data, field, gint));
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, *AT (data, field, guint));
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, *AT (data, field, guint64));
      break;
    case G_TYPE_DOUBLE:
      g_value_set_double (value, *AT (data, field, gdouble));
      break;
    case G_TYPE_STRING:
      g_value_set_string (value, *AT (data, field, gchar *));
      break;
    case G_TYPE_BOXED:
      g_value_set_boxed (value, *AT (data, field, gpointer));
      break;
    default:
      g_assert_not_reached ();
  }
  return TRUE;
}

void
gst_fairmix_fields_set_property (const GstFairmixField * fields, guint n,
    GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  gboolean known;

  GST_OBJECT_LOCK (object);
  known = gst_fairmix_fields_set (fields, n, object, id, value);
  GST_OBJECT_UNLOCK (object);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

void
gst_fairmix_fields_get_property (const GstFairmixField * fields, guint n,
    GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  gboolean known;

  GST_OBJECT_LOCK (object);
  known = gst_fairmix_fields_get (fields, n, object, id, value);
  GST_OBJECT_UNLOCK (object);
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}
