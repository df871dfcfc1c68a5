/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_GROUP_H__
#define __GST_GROUP_H__

#include <gst/gst.h>

#include "common/gstfairmixoutbox.h"
#include "common/gstfairmixrtcp.h"
#include "fairmix/base/fmx-time.h"

G_BEGIN_DECLS

/* What the elements of a multicast group have in common: which end one is, and
 * how a sender reads its receivers' reports. */

/**
 * GstGroupRole:
 * @GST_GROUP_ROLE_SENDER: sends to the group, and finds what its paths carry
 * @GST_GROUP_ROLE_RECEIVER: listens, and tells what its path carries
 */
typedef enum
{
  GST_GROUP_ROLE_SENDER,
  GST_GROUP_ROLE_RECEIVER
} GstGroupRole;

#define GST_TYPE_GROUP_ROLE (gst_group_role_get_type ())
GType gst_group_role_get_type (void);

/* Returns: (transfer floating): the property `role` */
GParamSpec *gst_group_role_param_spec (void);

/* What came to one end, and what was wrong with it: the first fields of `stats` */
typedef struct
{
  guint64 n_rtcp, n_malformed, n_looped, n_not_rtp;
} GstGroupCounts;

void gst_group_counts_rtcp (GstGroupCounts * counts, gboolean ok);
GstStructure *gst_group_stats_new (const gchar * name, GstGroupRole role,
    guint target_bps, const GstGroupCounts * counts,
    GstFairmixOutbox * outbox);

/**
 * GstGroupReportsFuncs:
 * @said: all that @reporter had to say in one compound: @block (nullable) is that
 *     of the own stream that loses most; its ext_highest_seq is the sum of all own
 *     streams', which stands still where none comes
 * @app: an application-defined packet; calls gst_group_reports_set_reporter() if
 *     it is part of what somebody says
 * @bye: @ssrc leaves; what it said came before
 */
typedef struct
{
  void (*said) (gpointer user_data, guint32 reporter,
      const FmxReportBlock * block);
  void (*app) (gpointer user_data, const FmxRtcpApp * app);
  void (*bye) (gpointer user_data, guint32 ssrc);
} GstGroupReportsFuncs;

/**
 * GstGroupReports:
 * @ntp_mid32: while a packet is read: as given
 * @now: this, too
 *
 * The receivers' reports on the own streams, one receiver after the other.
 */
typedef struct
{
  guint32 ntp_mid32;
  FmxTime now;

  /*< private >*/
  const GstGroupReportsFuncs *funcs;
  gpointer user_data;
  GHashTable *own, *own_before; /* SSRCs, as sets */
  guint32 reporter;
  gboolean is_saying, has_block;
  FmxReportBlock block;
} GstGroupReports;

void gst_group_reports_init (GstGroupReports * reports,
    const GstGroupReportsFuncs * funcs, gpointer user_data);
void gst_group_reports_clear (GstGroupReports * reports);

/* A packet of ours was sent.  At most 256 SSRCs are remembered, and of those that go on
 * sending 128 at least. */
void gst_group_reports_on_sent (GstGroupReports * reports, guint32 ssrc);
gboolean gst_group_reports_is_own (GstGroupReports * reports, guint32 ssrc);

/* From @app: what follows is said by @ssrc */
void gst_group_reports_set_reporter (GstGroupReports * reports, guint32 ssrc);

/**
 * gst_group_reports_read:
 * @buffer: RTCP as it came from the network
 * @ntp_mid32: the middle 32 bits of the NTP time now
 *
 * Returns: whether it was well-formed
 */
gboolean gst_group_reports_read (GstGroupReports * reports,
    GstBuffer * buffer, guint32 ntp_mid32, FmxTime now);

G_END_DECLS

#endif /* __GST_GROUP_H__ */
