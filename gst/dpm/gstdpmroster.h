/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_ROSTER_H__
#define __GST_DPM_ROSTER_H__

#include <gst/gst.h>

G_BEGIN_DECLS
/**
 * GstDpmRoster:
 *
 * Who is heard under which SSRC, and who talks now, from the statistics of a
 * partialmix.  One thread at a time may use it.
 */
typedef struct _GstDpmRoster GstDpmRoster;

/* @owner: (transfer none): posts the messages */
GstDpmRoster *gst_dpm_roster_new (GstElement * owner);
void gst_dpm_roster_free (GstDpmRoster * roster);

/**
 * gst_dpm_roster_update:
 * @stats: of the partialmix
 *
 * Posts a message `dpm-talk` for each who begins or ends to talk, and again
 * when the name becomes known only then.
 *
 * Returns: whether there are other names than before
 */
gboolean gst_dpm_roster_update (GstDpmRoster * roster,
    const GstStructure * stats, gint64 now_us);

/**
 * gst_dpm_roster_write_sdes:
 * @neighbour: whose own streams are left out
 * @ssrc: who says so
 * @news: those that the last update changed; else all
 * @page: the first packet is 0
 *
 * Returns: (transfer full) (nullable): an RTCP packet with the names of the
 *     streams; %NULL: there is no such page
 */
GstBuffer *gst_dpm_roster_write_sdes (GstDpmRoster * roster, gint neighbour,
    guint32 ssrc, gboolean news, guint page);

/* Returns: how many streams there are */
guint gst_dpm_roster_count (GstDpmRoster * roster);

G_END_DECLS
#endif /* __GST_DPM_ROSTER_H__ */
