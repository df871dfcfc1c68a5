/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* alsrtcp as a sender: returns and reports of its receivers */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalspeers.h"

#include <gio/gio.h>
#include <string.h>

#include "gstgroup.h"
#include "common/gstfairmixstats.h"
#include "fairmix/asmp/fmx-asmp-sender.h"

#define MAX_RECEIVERS_TOLD 64   /* in the statistics */
#define SILENCE (15 * FMX_SECOND)       /* three intervals of reports */
#define PLACES_PER_RECEIVER 4   /* as fmx_als_sender_init() has it */

struct _GstAlsReceivers
{
  FmxAlsSender sender;
  FmxAgingSlot *slots;
  FmxAlsSenderReceiver *receivers;

  /* what a receiver's plain reports say, where no router answers */
  FmxAsmpSenderParams plain_params;
  FmxAsmpSender plain;
  gpointer plain_memory;
  gboolean has_fallback;        /* another controller's */

  GstGroupReports reports;
  guint32 voice;                /* the one that asks */
  FmxTime voice_heard;
  guint n_places;               /* of layers, from the base on */
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS];

  /* while a compound packet is read: of one who reports */
  gboolean has_share;
  FmxAlsShare share;
};

/* --- places of layers --- */

gboolean
gst_als_layers_place (FmxAlsLayer * layers, guint n_layers,
    const gchar * address, guint port)
{
  GInetAddress *inet = g_inet_address_new_from_string (address);
  gsize n_bytes = inet != NULL ? g_inet_address_get_native_size (inet) : 0;
  guint8 base[16] = {[10] = 0xff,[11] = 0xff };
  guint bits = n_bytes == sizeof base ? 16 : 8, last = 0;
  gboolean ok;

  if (inet != NULL)
    memcpy (base + sizeof base - n_bytes, g_inet_address_to_bytes (inet),
        n_bytes);
  /* the RTCP of the last one is behind it */
  ok = inet != NULL && g_inet_address_get_is_multicast (inet) && port > 0
      && port + 2 * (n_layers - 1) < G_MAXUINT16;
  g_clear_object (&inet);
  last = bits == 16 ? base[14] << 8 | base[15] : base[15];
  if (!ok || last + n_layers > 1u << bits)
    return FALSE;
  for (guint i = 0; i < n_layers; i++, last++) {
    memcpy (layers[i].address, base, sizeof base);
    layers[i].address[15] = last & 0xff;
    if (bits == 16)
      layers[i].address[14] = last >> 8;
    layers[i].port = port + 2 * i;
  }
  return TRUE;
}

gchar *
gst_als_layer_address (const FmxAlsLayer * layer)
{
  static const guint8 mapped[12] = {[10] = 0xff,[11] = 0xff };
  gboolean ipv4 = memcmp (layer->address, mapped, sizeof mapped) == 0;
  GInetAddress *inet =
      g_inet_address_new_from_bytes (layer->address + (ipv4 ? 12 : 0),
      ipv4 ? G_SOCKET_FAMILY_IPV4 : G_SOCKET_FAMILY_IPV6);
  gchar *text = g_inet_address_to_string (inet);

  g_object_unref (inet);
  return text;
}

/* --- what is said --- */

static void
on_said (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  GstAlsReceivers *receivers = user_data;
  GstGroupReports *reports = &receivers->reports;
  FmxAlsReport report = {.ssrc = reporter };
  gboolean known = receivers->has_share && receivers->share.answered;

  if (block != NULL) {
    fmx_asmp_sender_on_report (&receivers->plain, reporter, block,
        reports->ntp_mid32, reports->now);
    report.loss = block->fraction_lost / 256.0;
  }
  if (known) {
    report.answered = TRUE;
    report.share_bps = receivers->share.share_bps;
    report.utilisation = receivers->share.utilisation;
  } else if (block != NULL) {
    report.fallback_bps =
        fmx_asmp_sender_get_rate_bps (&receivers->plain, reporter);
    known = report.fallback_bps > 0 || receivers->has_fallback;
  }
  if (known)
    fmx_als_sender_on_report (&receivers->sender, &report, reports->now);
  receivers->has_share = FALSE;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  GstAlsReceivers *receivers = user_data;
  FmxAlsShare share;

  if (!fmx_rtcp_app_is (app, FMX_ALS_APP_NAME)
      || app->subtype != FMX_ALS_APP_RETURN
      || !fmx_als_share_read (&share, app->data, app->size)
      || !gst_group_reports_is_own (&receivers->reports, share.media_ssrc))
    return;
  gst_group_reports_set_reporter (&receivers->reports, app->ssrc);
  receivers->share = share;
  receivers->has_share = TRUE;
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  GstAlsReceivers *receivers = user_data;

  fmx_asmp_sender_on_bye (&receivers->plain, ssrc, receivers->reports.now);
  fmx_als_sender_on_bye (&receivers->sender, ssrc);
}

static const GstGroupReportsFuncs report_funcs = { on_said, on_app, on_bye };

/* --- life --- */

static guint
power_of_two (guint n)
{
  guint power = 1;

  while (power < n)
    power *= 2;
  return power;
}

static void
take_limits (GstAlsReceivers * receivers, guint min_bps, guint max_bps)
{
  receivers->plain_params.min_bps = min_bps;
  receivers->plain_params.max_bps = max_bps;
}

GstAlsReceivers *
gst_als_receivers_new (const FmxAlsSenderParams * params,
    guint max_receivers, guint64 seed, FmxTime now)
{
  GstAlsReceivers *receivers = g_new0 (GstAlsReceivers, 1);
  guint n_places = power_of_two (MAX (max_receivers * PLACES_PER_RECEIVER,
          FMX_AGING_TABLE_WAYS));

  receivers->slots = g_new (FmxAgingSlot, n_places);
  receivers->receivers = g_new (FmxAlsSenderReceiver, n_places);
  fmx_als_sender_init (&receivers->sender, params, receivers->slots,
      receivers->receivers, n_places, seed, now);

  fmx_asmp_sender_params_default (&receivers->plain_params);
  receivers->plain_params.initial_bps = params->initial_bps;
  take_limits (receivers, params->min_bps, params->wish_bps);
  receivers->plain_memory = g_malloc_n (max_receivers,
      FMX_ASMP_BYTES_PER_RECEIVER);
  fmx_asmp_sender_init (&receivers->plain, &receivers->plain_params,
      receivers->plain_memory, max_receivers, (guint32) seed);
  gst_group_reports_init (&receivers->reports, &report_funcs, receivers);
  return receivers;
}

void
gst_als_receivers_free (GstAlsReceivers * receivers)
{
  gst_group_reports_clear (&receivers->reports);
  g_free (receivers->plain_memory);
  g_free (receivers->receivers);
  g_free (receivers->slots);
  g_free (receivers);
}

FmxAlsSender *
gst_als_receivers_get_sender (GstAlsReceivers * receivers)
{
  return &receivers->sender;
}

gboolean
gst_als_receivers_is_sent (GstAlsReceivers * receivers, guint layer)
{
  return layer < fmx_als_sender_get_n_sent (&receivers->sender)
      && fmx_als_sender_get_rate_bps (&receivers->sender, layer) > 0;
}

void
gst_als_receivers_set_places (GstAlsReceivers * receivers,
    const FmxAlsLayer * layers)
{
  receivers->n_places = 0;
  if (layers == NULL)
    return;
  memcpy (receivers->layers, layers, sizeof receivers->layers);
  while (receivers->n_places < FMX_ALS_MAX_LAYERS
      && layers[receivers->n_places].port > 0)
    receivers->n_places++;
}

void
gst_als_receivers_set_n_layers (GstAlsReceivers * receivers, guint n_layers,
    FmxTime now)
{
  fmx_als_sender_set_n_layers (&receivers->sender, n_layers, now);
}

void
gst_als_receivers_set_limits (GstAlsReceivers * receivers, guint min_bps,
    guint max_bps, FmxTime now)
{
  take_limits (receivers, min_bps, max_bps);
  fmx_asmp_sender_set_params (&receivers->plain, &receivers->plain_params, now);
  fmx_als_sender_set_limits (&receivers->sender, max_bps, min_bps, now);
}

/* --- what comes --- */

void
gst_als_receivers_on_sent (GstAlsReceivers * receivers, guint32 ssrc,
    guint32 wire_bytes, FmxTime now)
{
  gst_group_reports_on_sent (&receivers->reports, ssrc);
  if (!gst_group_reports_is_own (&receivers->reports, receivers->voice)
      || fmx_time_diff (now, receivers->voice_heard) >= SILENCE)
    receivers->voice = ssrc;
  if (ssrc == receivers->voice)
    receivers->voice_heard = now;
  fmx_asmp_sender_on_sent (&receivers->plain, wire_bytes, now);
}

gboolean
gst_als_receivers_on_rtcp (GstAlsReceivers * receivers, GstBuffer * buffer,
    guint32 ntp_mid32, FmxTime now)
{
  return gst_group_reports_read (&receivers->reports, buffer, ntp_mid32, now);
}

FmxTime
gst_als_receivers_next_timeout (GstAlsReceivers * receivers)
{
  return fmx_time_min (fmx_als_sender_next_timeout (&receivers->sender),
      fmx_asmp_sender_next_timeout (&receivers->plain));
}

void
gst_als_receivers_on_timeout (GstAlsReceivers * receivers, FmxTime now)
{
  fmx_asmp_sender_on_timeout (&receivers->plain, now);
  fmx_als_sender_on_timeout (&receivers->sender, now);
}

void
gst_als_receivers_set_fallback (GstAlsReceivers * receivers, guint bps,
    FmxTime now)
{
  receivers->has_fallback = bps > 0;
  fmx_als_sender_set_fallback (&receivers->sender, bps, now);
}

/* --- what goes --- */

static void
write_app (GstRTCPBuffer * rtcp, guint32 ssrc, guint8 subtype,
    const guint8 * data, gsize size, gsize mtu)
{
  FmxRtcpApp app = { subtype, ssrc, {0}, data, size };

  memcpy (app.name, FMX_ALS_APP_NAME, sizeof app.name);
  gst_fairmix_rtcp_add_app (rtcp, &app, mtu);
}

void
gst_als_receivers_write (GstAlsReceivers * receivers, GstRTCPBuffer * rtcp,
    guint32 ssrc, gsize mtu, FmxTime now)
{
  guint8 data[FMX_ALS_LAYERS_BYTES (FMX_ALS_MAX_LAYERS)];
  guint n_layers = MIN (fmx_als_sender_get_n_sent (&receivers->sender),
      receivers->n_places);
  FmxAlsShare request;

  if (ssrc != receivers->voice
      || !gst_group_reports_is_own (&receivers->reports, ssrc))
    return;
  fmx_als_sender_get_request (&receivers->sender, &request);
  write_app (rtcp, ssrc, FMX_ALS_APP_REQUEST, data,
      fmx_als_share_write (&request, data, sizeof data), mtu);
  if (n_layers == 0)
    return;
  for (guint i = 0; i < n_layers; i++)
    receivers->layers[i].size_bps =
        fmx_als_sender_get_size_bps (&receivers->sender, i);
  write_app (rtcp, ssrc, FMX_ALS_APP_LAYERS, data,
      fmx_als_layers_write (receivers->layers, n_layers, data, sizeof data),
      mtu);
}

/* --- what is told --- */

static GstStructure *
receiver_to_structure (GstAlsReceivers * receivers,
    const FmxAsmpReceiverInfo * info)
{
  const FmxAlsSenderReceiver *receiver =
      fmx_als_sender_get_receiver (&receivers->sender, info->ssrc);
  GstStructure *s = gst_structure_new ("receiver",
      "ssrc", G_TYPE_UINT, info->ssrc,
      "plain-rate", G_TYPE_UINT, info->rate_bps,
      "rtt", G_TYPE_UINT64, (guint64) info->rtt,
      "silence", G_TYPE_UINT64, (guint64) MAX (info->silence, 0), NULL);

  if (receiver != NULL)
    gst_structure_set (s, "rate", G_TYPE_UINT, (guint) receiver->rate_bps,
        "answered", G_TYPE_BOOLEAN, receiver->report.answered,
        "share", G_TYPE_UINT, receiver->report.share_bps,
        "utilisation", G_TYPE_DOUBLE, receiver->report.utilisation,
        "loss", G_TYPE_DOUBLE, receiver->report.loss, NULL);
  return s;
}

static GstStructure *
layer_to_structure (GstAlsReceivers * receivers, guint i)
{
  GstStructure *s = gst_structure_new ("layer",
      "target-bitrate", G_TYPE_UINT,
      fmx_als_sender_get_rate_bps (&receivers->sender, i),
      "size", G_TYPE_UINT,
      fmx_als_sender_get_size_bps (&receivers->sender, i), NULL);

  if (i < receivers->n_places) {
    gchar *address = gst_als_layer_address (&receivers->layers[i]);

    gst_structure_set (s, "address", G_TYPE_STRING, address,
        "port", G_TYPE_UINT, receivers->layers[i].port, NULL);
    g_free (address);
  }
  return s;
}

void
gst_als_receivers_add_stats (GstAlsReceivers * receivers, GstStructure * s,
    guint n_layers, FmxTime now)
{
  FmxAsmpReceiverInfo infos[MAX_RECEIVERS_TOLD];
  guint n = fmx_asmp_sender_get_receivers (&receivers->plain, infos,
      MAX_RECEIVERS_TOLD, now);
  FmxAlsSenderStats stats;
  FmxAsmpSenderStats plain;
  GValue table = G_VALUE_INIT, layers = G_VALUE_INIT;

  fmx_als_sender_get_stats (&receivers->sender, &stats);
  fmx_asmp_sender_get_stats (&receivers->plain, &plain);
  gst_structure_set (s, "limiting-ssrc", G_TYPE_UINT,
      fmx_als_sender_get_limiting_ssrc (&receivers->sender),
      "n-receivers", G_TYPE_UINT, plain.n_receivers,
      "n-reports", G_TYPE_UINT64, stats.n_reports,
      "n-unanswered", G_TYPE_UINT64, stats.n_unanswered,
      "n-adaptations", G_TYPE_UINT64, stats.n_adaptations,
      "n-silent", G_TYPE_UINT64, stats.n_silent,
      "n-left", G_TYPE_UINT64, plain.n_left,
      "n-timed-out", G_TYPE_UINT64, plain.n_timed_out,
      "n-refused", G_TYPE_UINT64, plain.n_refused, NULL);
  g_value_init (&layers, GST_TYPE_ARRAY);
  for (guint i = 0; i < n_layers; i++)
    gst_fairmix_stats_append (&layers, layer_to_structure (receivers, i));
  gst_structure_take_value (s, "layers", &layers);
  g_value_init (&table, GST_TYPE_ARRAY);
  for (guint i = 0; i < n; i++)
    gst_fairmix_stats_append (&table, receiver_to_structure (receivers,
            &infos[i]));
  gst_structure_take_value (s, "receivers", &table);
}
