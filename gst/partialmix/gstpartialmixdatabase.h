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
 * ]|
 *
 * Keys: `priority` (integer), `group` (string), `never-mix`, `mute` (boolean),
 * `gain-db` (dB, -60 ... 18), `pan` (-1 ... 1).  More specific sections win:
 * what the application said, ssrc, cname, default.
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
 * read before stays.  @lock is what guards the database; it must not be held,
 * and is not while the file is read.  Returns: whether anything is different
 * now */
gboolean gst_partial_mix_database_reload (GstPartialMixDatabase * database,
    GstFairmixLock * lock, GError ** error);

/* @values: fields named as the keys; what is not there is not changed */
void gst_partial_mix_database_set (GstPartialMixDatabase * database,
    guint32 ssrc, const GstStructure * values);

void gst_partial_mix_database_lookup (GstPartialMixDatabase * database,
    const gchar * cname, guint32 ssrc, GstPartialMixStreamInfo * info);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_DATABASE_H__ */
