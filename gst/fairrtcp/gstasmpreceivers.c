/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* asmprtcp as a sender: reports of its receivers, one after the other */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstasmppeers.h"

#include <string.h>

#define MAX_OWN_SSRCS 256       /* streams on the pad */
#define MAX_RTTS_PER_REPORT 32u /* so that a report stays below 400 bytes */
#define MAX_RECEIVERS_TOLD 64   /* in the statistics */

struct _GstAsmpReceivers
{
  FmxAsmpSender sender;
  gpointer memory;
  GHashTable *own;              /* SSRCs of ours, as a set */

  /* while a compound packet is read: of one who reports */
  guint32 reporter;
  gboolean has_block, has_rate;
  FmxReportBlock block;         /* that of the stream that loses most */
  FmxAsmpRate rate;             /* the least */
  guint32 ntp_mid32;
  FmxTime now;
};

GstAsmpReceivers *
gst_asmp_receivers_new (const FmxAsmpSenderParams * params,
    guint max_receivers, guint32 seed)
{
  GstAsmpReceivers *receivers = g_new0 (GstAsmpReceivers, 1);

  receivers->memory = g_malloc_n (max_receivers, FMX_ASMP_BYTES_PER_RECEIVER);
  receivers->own = g_hash_table_new (NULL, NULL);
  fmx_asmp_sender_init (&receivers->sender, params, receivers->memory,
      max_receivers, seed);
  return receivers;
}

void
gst_asmp_receivers_free (GstAsmpReceivers * receivers)
{
  g_hash_table_unref (receivers->own);
  g_free (receivers->memory);
  g_free (receivers);
}

FmxAsmpSender *
gst_asmp_receivers_get_sender (GstAsmpReceivers * receivers)
{
  return &receivers->sender;
}

static gboolean
is_own (GstAsmpReceivers * receivers, guint32 ssrc)
{
  return g_hash_table_contains (receivers->own, GUINT_TO_POINTER (ssrc));
}

void
gst_asmp_receivers_on_sent (GstAsmpReceivers * receivers, guint32 ssrc,
    guint32 wire_bytes, FmxTime now)
{
  if (!is_own (receivers, ssrc)) {
    if (g_hash_table_size (receivers->own) >= MAX_OWN_SSRCS)
      g_hash_table_remove_all (receivers->own);
    g_hash_table_add (receivers->own, GUINT_TO_POINTER (ssrc));
  }
  fmx_asmp_sender_on_sent (&receivers->sender, wire_bytes, now);
}

/* All that one receiver says in one compound counts at once: the report before
 * the rate, and of several streams the worst. */
static void
flush (GstAsmpReceivers * receivers)
{
  if (receivers->has_block)
    fmx_asmp_sender_on_report (&receivers->sender, receivers->reporter,
        &receivers->block, receivers->ntp_mid32, receivers->now);
  if (receivers->has_rate)
    fmx_asmp_sender_on_rate (&receivers->sender, receivers->reporter,
        &receivers->rate, receivers->now);
  receivers->has_block = receivers->has_rate = FALSE;
}

static void
set_reporter (GstAsmpReceivers * receivers, guint32 ssrc)
{
  if (ssrc != receivers->reporter)
    flush (receivers);
  receivers->reporter = ssrc;
}

static void
on_report (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  GstAsmpReceivers *receivers = user_data;

  if (!is_own (receivers, block->ssrc))
    return;
  set_reporter (receivers, reporter);
  if (receivers->has_block
      && block->fraction_lost < receivers->block.fraction_lost)
    return;
  receivers->block = *block;
  receivers->has_block = TRUE;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstAsmpReceivers *receivers = user_data;
  FmxAsmpRate rate;

  if (!fmx_rtcp_app_is (app, FMX_ASMP_APP_NAME)
      || app->subtype != FMX_ASMP_APP_RATE
      || !fmx_asmp_rate_read (&rate, app->data, app->size)
      || !is_own (receivers, rate.media_ssrc))
    return;
  set_reporter (receivers, app->ssrc);
  if (receivers->has_rate && rate.rate_bps > receivers->rate.rate_bps)
    return;
  receivers->rate = rate;
  receivers->has_rate = TRUE;
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  GstAsmpReceivers *receivers = user_data;

  flush (receivers);
  fmx_asmp_sender_on_bye (&receivers->sender, ssrc, receivers->now);
}

gboolean
gst_asmp_receivers_on_rtcp (GstAsmpReceivers * receivers, GstBuffer * buffer,
    guint32 ntp_mid32, FmxTime now)
{
  static const GstFairmixRtcpFuncs funcs = {
    NULL, on_report, on_bye, on_app
  };
  gboolean ok;

  receivers->ntp_mid32 = ntp_mid32;
  receivers->now = now;
  ok = gst_fairmix_rtcp_read (buffer, &funcs, receivers);
  flush (receivers);
  return ok;
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

  if (!is_own (receivers, ssrc) || taken + FMX_ASMP_RTT_BYTES (0) > mtu)
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
  for (guint i = 0; i < n; i++) {
    GValue item = G_VALUE_INIT;

    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item, info_to_structure (&infos[i]));
    gst_value_array_append_and_take_value (&list, &item);
  }
  gst_structure_take_value (s, "receivers", &list);
}
