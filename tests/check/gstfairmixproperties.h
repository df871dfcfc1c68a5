/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_PROPERTIES_H__
#define __GST_FAIRMIX_PROPERTIES_H__

/* Sets every property of an object to whatever it takes. */

#include <gst/gst.h>

/* What happens after each one is set. */
typedef void (*PropertyFlow) (gpointer user_data);

static inline void
set_double (GParamSpec * pspec, GValue * value, gdouble share)
{
  if (G_IS_PARAM_SPEC_DOUBLE (pspec)) {
    GParamSpecDouble *p = G_PARAM_SPEC_DOUBLE (pspec);

    g_value_set_double (value, p->minimum * (1 - share) + p->maximum * share);
  } else {
    GParamSpecFloat *p = G_PARAM_SPEC_FLOAT (pspec);

    g_value_set_float (value, (gfloat) (p->minimum * (1 - share)
            + p->maximum * share));
  }
}

static inline guint64
between (guint64 min, guint64 max, gdouble share)
{
  if (share >= 1)
    return max;
  return min + (guint64) ((gdouble) (max - min) * share);
}

/* @share: 0 the least value ... 1 the largest */
static inline gboolean
set_share (GParamSpec * p, GValue * value, gdouble share)
{
  static const gchar *const texts[] = { NULL, "", "/dev/null/nothing" };
  GType type = G_VALUE_TYPE (value);

  if (type == G_TYPE_BOOLEAN)
    g_value_set_boolean (value, share > 0.5);
  else if (type == G_TYPE_INT)
    g_value_set_int (value, (gint) (G_PARAM_SPEC_INT (p)->minimum + (gint64)
            between (0, (guint64) ((gint64) G_PARAM_SPEC_INT (p)->maximum
                    - G_PARAM_SPEC_INT (p)->minimum), share)));
  else if (type == G_TYPE_UINT)
    g_value_set_uint (value, (guint) between (G_PARAM_SPEC_UINT (p)->minimum,
            G_PARAM_SPEC_UINT (p)->maximum, share));
  else if (type == G_TYPE_UINT64)
    g_value_set_uint64 (value, between (G_PARAM_SPEC_UINT64 (p)->minimum,
            G_PARAM_SPEC_UINT64 (p)->maximum, share));
  else if (type == G_TYPE_INT64)
    g_value_set_int64 (value, share < 0.5 ? G_PARAM_SPEC_INT64 (p)->minimum
        : G_PARAM_SPEC_INT64 (p)->maximum);
  else if (type == G_TYPE_DOUBLE || type == G_TYPE_FLOAT)
    set_double (p, value, share);
  else if (G_TYPE_IS_ENUM (type))
    g_value_set_enum (value, G_PARAM_SPEC_ENUM (p)->enum_class->values[(guint)
            (share * (G_PARAM_SPEC_ENUM (p)->enum_class->n_values
                    - 1))].value);
  else if (G_TYPE_IS_FLAGS (type))
    g_value_set_flags (value, share > 0.5
        ? G_PARAM_SPEC_FLAGS (p)->flags_class->mask : 0);
  else if (type == G_TYPE_STRING)
    g_value_set_static_string (value, texts[(guint) (share * 2)]);
  else
    return FALSE;
  return TRUE;
}

static inline void
walk_property (GObject * object, GParamSpec * pspec, GRand * rand,
    PropertyFlow flow, gpointer user_data)
{
  const gdouble shares[] = { 0, 1, g_rand_double (rand), g_rand_double (rand) };
  GValue before = G_VALUE_INIT;
  guint i;

  g_value_init (&before, pspec->value_type);
  g_object_get_property (object, pspec->name, &before);
  for (i = 0; i < G_N_ELEMENTS (shares); i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, pspec->value_type);
    if (set_share (pspec, &value, shares[i])) {
      g_object_set_property (object, pspec->name, &value);
      flow (user_data);
      g_object_get_property (object, pspec->name, &value);
    }
    g_value_unset (&value);
  }
  g_object_set_property (object, pspec->name, &before);
  flow (user_data);
  g_value_unset (&before);
}

/* Returns: how many values there are whose neighbour on one side is none: least, largest,
 * default; of an enumeration all */
static inline guint
count_extremes (GParamSpec * pspec)
{
  return G_IS_PARAM_SPEC_ENUM (pspec) ?
      G_PARAM_SPEC_ENUM (pspec)->enum_class->n_values : 3;
}

static inline gboolean
set_extreme (GParamSpec * pspec, GValue * value, guint i)
{
  if (G_IS_PARAM_SPEC_ENUM (pspec))
    g_value_set_enum (value,
        G_PARAM_SPEC_ENUM (pspec)->enum_class->values[i].value);
  else if (i == 2)
    g_param_value_set_default (pspec, value);
  else
    return set_share (pspec, value, i);
  return TRUE;
}

/* @flow after each extreme; the last value is the one that it was before */
static inline void
walk_extremes (GObject * object, GParamSpec * pspec, PropertyFlow flow,
    gpointer user_data)
{
  GValue before = G_VALUE_INIT;

  g_value_init (&before, pspec->value_type);
  g_object_get_property (object, pspec->name, &before);
  for (guint i = 0; i < count_extremes (pspec); i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, pspec->value_type);
    if (set_extreme (pspec, &value, i)) {
      g_object_set_property (object, pspec->name, &value);
      flow (user_data);
      g_object_get_property (object, pspec->name, &value);
    }
    g_value_unset (&value);
  }
  g_object_set_property (object, pspec->name, &before);
  g_value_unset (&before);
}

static inline gboolean
is_walked (GParamSpec * pspec)
{
  return (pspec->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE
      && !(pspec->flags & G_PARAM_CONSTRUCT_ONLY)
      && pspec->owner_type != GST_TYPE_OBJECT
      && pspec->owner_type != GST_TYPE_PAD;
}

/* All properties of @object that are its own, not GstObject's: the least, the
 * largest, two others and what it was. */
static inline guint
walk_properties (GObject * object, GRand * rand, PropertyFlow flow,
    gpointer user_data)
{
  guint n, i, n_walked = 0;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (i = 0; i < n; i++) {
    if (!is_walked (all[i]))
      continue;
    walk_property (object, all[i], rand, flow, user_data);
    n_walked++;
  }
  g_free (all);
  return n_walked;
}

#endif /* __GST_FAIRMIX_PROPERTIES_H__ */
