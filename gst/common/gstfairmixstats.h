/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_STATS_H__
#define __GST_FAIRMIX_STATS_H__

#include <gst/gst.h>

#include "fairmix/base/fmx-event.h"

G_BEGIN_DECLS

/**
 * gst_fairmix_event_to_structure:
 * @name: of the structure, e.g. "fairmix-rate-decision"
 *
 * Returns: (transfer full): a structure with the fields of @event as doubles,
 *     and `event`, `reason` (strings)
 */
GstStructure *gst_fairmix_event_to_structure (const gchar * name,
    const FmxEvent * event);

/**
 * gst_fairmix_stats_append:
 * @list: of type %GST_TYPE_ARRAY
 * @s: (transfer full): becomes its last item
 */
void gst_fairmix_stats_append (GValue * list, GstStructure * s);

/**
 * gst_fairmix_enum_register:
 * @type_name: of the new type
 * @nicks: (array length=n): names of the library's table
 * @blurbs: (array length=n): what each is, one line
 *
 * Makes the type of a property out of a table of the library, so that there
 * is no second list.  Value = index into the table.  To be called once.
 */
GType gst_fairmix_enum_register (const gchar * type_name,
    const gchar * const *nicks, const gchar * const *blurbs, guint n);

G_END_DECLS

#endif /* __GST_FAIRMIX_STATS_H__ */
