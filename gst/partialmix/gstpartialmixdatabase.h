/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_DATABASE_H__
#define __GST_PARTIAL_MIX_DATABASE_H__

#include <gst/gst.h>

#include "gst/common/gstfairmixlock.h"

#include "gstpartialmixstream.h"

G_BEGIN_DECLS

/**
 * GstPartialMixDatabase:
 *
 * What is known of the talkers: a key file, and what the application said.
 *
 * |[
 * [default]                 # everybody
 * priority=0
 * [cname:chair@example.org] # by RTCP canonical name
 * priority=10
 * [ssrc:305419896]          # or by SSRC (decimal or 0x...)
 * group=red
 * gain-db=-3
 * [neighbour 3/cname:chair@example.org] # what neighbour 3 hears of the chair
 * gain-db=6
 * ]|
 *
 * Keys: `priority` (integer), `group` (string), `never-mix`, `mute` (boolean),
 * `gain-db` (dB, -60 ... 18), `pan` (-1 ... 1).  More specific sections win:
 * what the application said, a neighbour's own sections, ssrc, cname, default.
 */
typedef struct _GstPartialMixDatabase GstPartialMixDatabase;

GstPartialMixDatabase *gst_partial_mix_database_new (void);
void gst_partial_mix_database_free (GstPartialMixDatabase * database);

/* Takes another file; NULL is none.  Read by the next reload. */
void gst_partial_mix_database_set_location (GstPartialMixDatabase * database,
    const gchar * location);
const gchar *gst_partial_mix_database_get_location (GstPartialMixDatabase *
    database);

/* Reads the file if it changed.  @error is set if it cannot be used: what was
 * read before stays.  @complaints: (out): a line for each line of the file that
 * says nothing, with its number, or NULL.  @lock is what guards the database; it must not be held,
 * and is not while the file is read.  Returns: whether anything is different
 * now */
gboolean gst_partial_mix_database_reload (GstPartialMixDatabase * database,
    GstFairmixLock * lock, gchar ** complaints, GError ** error);

/* Whether there is a stream of that SSRC, and @listener, if it is not negative */
typedef gboolean (*GstPartialMixIsThereFunc) (gint listener, guint32 ssrc,
    gpointer user_data);

/* @values: fields named as the keys; what is not there is not changed.  With a
 * field `neighbour` (int) it is for that listener alone.  @is_there: (nullable): where so
 * much was said that there is no room, what was said of those who are not there goes.
 * Returns: whether there is room for it */
gboolean gst_partial_mix_database_set (GstPartialMixDatabase * database,
    guint32 ssrc, const GstStructure * values,
    GstPartialMixIsThereFunc is_there, gpointer user_data);

/* What is for everybody. */
void gst_partial_mix_database_lookup (GstPartialMixDatabase * database,
    const gchar * cname, guint32 ssrc, GstPartialMixStreamInfo * info);

/* Whether anything is for @listener, a neighbour's number, alone. */
gboolean gst_partial_mix_database_has_listener (GstPartialMixDatabase *
    database, gint listener);

/* What it hears. */
void gst_partial_mix_database_lookup_for (GstPartialMixDatabase * database,
    gint listener, const gchar * cname, guint32 ssrc,
    GstPartialMixStreamInfo * info);

/* gstpartialmixdatabasecheck.c */
/* Whether @section is one of a neighbour's own; then @rest is what follows. */
gboolean gst_partial_mix_database_parse_listener (const gchar * section,
    gint * listener, const gchar ** rest);

/* Returns: (transfer full): a line for each line of @text that says nothing,
 * "@name:NUMBER: why"; NULL if all do */
gchar *gst_partial_mix_database_check (const gchar * text, const gchar * name);

/* What an application says, each value of its key's type: an int of C may be a uint or a
 * double somewhere else.  @values: (nullable): NULL where it forgot them.  @complaints:
 * (out) (transfer full) (nullable): a line for each that says nothing.
 * Returns: (transfer full) (nullable): NULL if it does not say for whom */
GstStructure *gst_partial_mix_database_read (const GstStructure * values,
    gchar ** complaints);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_DATABASE_H__ */
