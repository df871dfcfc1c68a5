/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_SETTINGS_H__
#define __GST_ALS_SETTINGS_H__

#include <gst/gst.h>

#include "gstgroup.h"
#include "common/gstfairmixtime.h"
#include "fairmix/als/fmx-als-sender.h"

G_BEGIN_DECLS

/* The properties of alsrtcp: those that are mere values */
enum
{
  GST_ALS_ROLE,
  GST_ALS_MIN_BITRATE,
  GST_ALS_MAX_BITRATE,
  GST_ALS_INITIAL_BITRATE,
  GST_ALS_INCREASE,
  GST_ALS_ADAPTATION_INTERVAL,
  GST_ALS_MEMORY,
  GST_ALS_MAX_RECEIVERS,
  GST_ALS_ADDRESS,
  GST_ALS_PORT,
  GST_ALS_NTP_TIME_SOURCE,
  GST_ALS_LAYER_LIMITS,
  GST_ALS_RELAY,
  GST_ALS_N_SETTINGS,
  /* and the others */
  GST_ALS_RTPBIN = GST_ALS_N_SETTINGS,
  GST_ALS_SESSION,
  GST_ALS_ENCODERS,
  GST_ALS_SOURCES,
  GST_ALS_ALERT_SINK,
  GST_ALS_TARGET_BITRATE,
  GST_ALS_LAYERS,
  GST_ALS_STATS
};

typedef struct
{
  GstGroupRole role;
  guint min_bitrate, max_bitrate, initial_bitrate, increase;
  guint64 adaptation_interval, memory;
  guint max_receivers;
  gchar *address;               /* NULL = not told */
  guint port;
  gchar *layer_limits;          /* NULL = none */
  gboolean relay;
  GstFairmixNtpSource ntp_time_source;
} GstAlsSettings;

void gst_als_settings_default (GstAlsSettings * settings);
void gst_als_settings_clear (GstAlsSettings * settings);
/* Installs all properties. */
void gst_als_settings_install (GObjectClass * gobject_class, guint first_id);
void gst_als_settings_set (GstAlsSettings * settings, guint i,
    const GValue * value);
void gst_als_settings_get (const GstAlsSettings * settings, guint i,
    GValue * value);

/* Makes @copy own what it holds. */
void gst_als_settings_copy (const GstAlsSettings * settings,
    GstAlsSettings * copy);

/* @limits: (nullable) (array fixed-size=8) (out): of the layers that @text names.
 *
 * Returns: FALSE if @text is not of the form LEAST-MOST,LEAST-MOST,... */
gboolean gst_als_settings_parse_limits (const gchar * text,
    FmxAlsLayerLimits * limits);

/* Complains as @element where they cannot be. */
gboolean gst_als_settings_check (const GstAlsSettings * settings,
    guint n_layers, GstElement * element);

/* @n_layers: how many there are; @sink stays the caller's */
void gst_als_settings_to_params (const GstAlsSettings * settings,
    guint n_layers, const FmxEventSink * sink, FmxAlsSenderParams * params);

G_END_DECLS

#endif /* __GST_ALS_SETTINGS_H__ */
