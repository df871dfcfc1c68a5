/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_FIELDS_H__
#define __GST_FAIRMIX_FIELDS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstFairmixField:
 * @id: of a property
 * @offset: where its value stands in a struct
 * @size: of the value there, in bytes
 *
 * A property that is a mere value: a number, a boolean, an enumeration, a string
 * or a #GstStructure.
 */
typedef struct
{
  guint id;
  gsize offset;
  gsize size;
} GstFairmixField;

#define GST_FAIRMIX_FIELD(id, type, member) \
    { (id), G_STRUCT_OFFSET (type, member), sizeof (((type *) NULL)->member) }

/* Sets what stands in @data, a struct that @fields describe; a string or structure
 * that it replaces is freed.  Returns: FALSE if there is none with @id. */
gboolean gst_fairmix_fields_set (const GstFairmixField * fields, guint n,
    gpointer data, guint id, const GValue * value);

gboolean gst_fairmix_fields_get (const GstFairmixField * fields, guint n,
    gconstpointer data, guint id, GValue * value);

/* The same for an object whose own struct they describe, with its object lock:
 * set_property () and get_property () */
void gst_fairmix_fields_set_property (const GstFairmixField * fields, guint n,
    GObject * object, guint id, const GValue * value, GParamSpec * pspec);
void gst_fairmix_fields_get_property (const GstFairmixField * fields, guint n,
    GObject * object, guint id, GValue * value, GParamSpec * pspec);

G_END_DECLS

#endif /* __GST_FAIRMIX_FIELDS_H__ */
