/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* asmprtcp as a sender: reports of its receivers, one after the other */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstasmppeers.h"

#include <string.h>

#include "gstgroup.h"
#include "common/gstfairmixstats.h"

#define MAX_RTTS_PER_REPORT 32u /* so that a report stays below 400 bytes */
#define MAX_RECEIVERS_TOLD 64   /* in the statistics */

struct _GstAsmpReceivers
{
  FmxAsmpSender sender;
  gpointer memory;
  GstGroupReports reports;

  /* while a compound packet is read: of one who reports */
  gboolean has_rate, is_here;
  FmxAsmpRate rate;             /* the least */
};

/* The report before the rate, and of several streams the worst. */
static void
on_said (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  GstAsmpReceivers *receivers = user_data;
  GstGroupReports *reports = &receivers->reports;

  if (block != NULL)
    fmx_asmp_sender_on_report (&receivers->sender, reporter, block,
        reports->ntp_mid32, reports->now);
  if (receivers->is_here)
    fmx_asmp_sender_on_here (&receivers->sender, reporter, reports->now);
  if (receivers->has_rate)
    fmx_asmp_sender_on_rate (&receivers->sender, reporter, &receivers->rate,
        reports->now);
  else if (block != NULL)
    fmx_asmp_sender_on_no_rate (&receivers->sender, reporter);
  receivers->has_rate = receivers->is_here = FALSE;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstAsmpReceivers *receivers = user_data;
  FmxAsmpRate rate;

  if (!fmx_rtcp_app_is (app, FMX_ASMP_APP_NAME))
    return;
  if (app->subtype == FMX_ASMP_APP_HERE
      && fmx_asmp_here_read (app->data, app->size)
      && receivers->reports.is_saying
      && app->ssrc == receivers->reports.reporter)
    receivers->is_here = TRUE;
  if (app->subtype != FMX_ASMP_APP_RATE
      || !fmx_asmp_rate_read (&rate, app->data, app->size)
      || !gst_group_reports_is_own (&receivers->reports, rate.media_ssrc))
    return;
  gst_group_reports_set_reporter (&receivers->reports, app->ssrc);
  if (receivers->has_rate && rate.rate_bps > receivers->rate.rate_bps)
    return;
  receivers->rate = rate;
  receivers->has_rate = TRUE;
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  GstAsmpReceivers *receivers = user_data;

  fmx_asmp_sender_on_bye (&receivers->sender, ssrc, receivers->reports.now);
}

static const GstGroupReportsFuncs report_funcs = { on_said, on_app, on_bye };

GstAsmpReceivers *
gst_asmp_receivers_new (const FmxAsmpSenderParams * params,
    guint max_receivers, guint32 seed)
{
  GstAsmpReceivers *receivers = g_new0 (GstAsmpReceivers, 1);

  receivers->memory = g_malloc_n (max_receivers, FMX_ASMP_BYTES_PER_RECEIVER);
  gst_group_reports_init (&receivers->reports, &report_funcs, receivers);
  fmx_asmp_sender_init (&receivers->sender, params, receivers->memory,
      max_receivers, seed);
  return receivers;
}

void
gst_asmp_receivers_free (GstAsmpReceivers * receivers)
{
  gst_group_reports_clear (&receivers->reports);
  g_free (receivers->memory);
  g_free (receivers);
}

FmxAsmpSender *
gst_asmp_receivers_get_sender (GstAsmpReceivers * receivers)
{
  return &receivers->sender;
}

void
gst_asmp_receivers_on_sent (GstAsmpReceivers * receivers, guint32 ssrc,
    guint32 wire_bytes, FmxTime now)
{
  gst_group_reports_on_sent (&receivers->reports, ssrc);
  fmx_asmp_sender_on_sent (&receivers->sender, wire_bytes, now);
}

gboolean
gst_asmp_receivers_on_rtcp (GstAsmpReceivers * receivers, GstBuffer * buffer,
    guint32 ntp_mid32, FmxTime now)
{
  return gst_group_reports_read (&receivers->reports, buffer, ntp_mid32, now);
}

void
gst_asmp_receivers_write (GstAsmpReceivers * receivers, GstRTCPBuffer * rtcp,
    guint32 ssrc, gsize mtu, FmxTime now)
{
  FmxRtcpApp app = { FMX_ASMP_APP_RTT, ssrc, {0}, NULL, 0 };
  guint8 data[FMX_ASMP_RTT_BYTES (MAX_RTTS_PER_REPORT)];
  FmxAsmpRtt rtts[MAX_RTTS_PER_REPORT];
  gsize taken = rtcp->map.size + FMX_RTCP_APP_HEADER_BYTES;
  FmxAsmpRttHeader header;
  guint n;

  if (!gst_group_reports_is_own (&receivers->reports, ssrc)
      || taken + FMX_ASMP_RTT_BYTES (0) > mtu)
    return;
  n = (mtu - taken - FMX_ASMP_RTT_BYTES (0)) / sizeof (guint64);
  fmx_asmp_sender_take_rtts (&receivers->sender, &header, rtts,
      MIN (n, MAX_RTTS_PER_REPORT), now);
  memcpy (app.name, FMX_ASMP_APP_NAME, sizeof app.name);
  app.data = data;
  app.size = fmx_asmp_rtt_write (&header, rtts, data, sizeof data);
  gst_fairmix_rtcp_add_app (rtcp, &app, mtu);
}

static GstStructure *
info_to_structure (const FmxAsmpReceiverInfo * info)
{
  return gst_structure_new ("receiver",
      "ssrc", G_TYPE_UINT, info->ssrc,
      "rate", G_TYPE_UINT, info->rate_bps,
      "rtt", G_TYPE_UINT64, (guint64) info->rtt,
      "silence", G_TYPE_UINT64, (guint64) MAX (info->silence, 0),
      "asmp", G_TYPE_BOOLEAN, info->has_asmp,
      "counts", G_TYPE_BOOLEAN, info->counts, NULL);
}

void
gst_asmp_receivers_add_stats (GstAsmpReceivers * receivers, GstStructure * s,
    FmxTime now)
{
  FmxAsmpReceiverInfo infos[MAX_RECEIVERS_TOLD];
  guint n = fmx_asmp_sender_get_receivers (&receivers->sender, infos,
      MAX_RECEIVERS_TOLD, now);
  FmxAsmpSenderStats stats;
  GValue list = G_VALUE_INIT;

  fmx_asmp_sender_get_stats (&receivers->sender, &stats);
  gst_structure_set (s,
      "limiting-ssrc", G_TYPE_UINT, stats.limiting_ssrc,
      "limiting-rtt", G_TYPE_UINT64, (guint64) stats.limiting_rtt,
      "n-receivers", G_TYPE_UINT, stats.n_receivers,
      "n-plain", G_TYPE_UINT, stats.n_plain,
      "n-ignored", G_TYPE_UINT, stats.n_ignored,
      "n-rates", G_TYPE_UINT64, stats.n_rates,
      "n-implausible", G_TYPE_UINT64, stats.n_implausible,
      "n-left", G_TYPE_UINT64, stats.n_left,
      "n-timed-out", G_TYPE_UINT64, stats.n_timed_out,
      "n-refused", G_TYPE_UINT64, stats.n_refused, NULL);
  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++)
    gst_fairmix_stats_append (&list, info_to_structure (&infos[i]));
  gst_structure_take_value (s, "receivers", &list);
}
