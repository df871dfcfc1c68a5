/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ASMP_SETTINGS_H__
#define __GST_ASMP_SETTINGS_H__

#include <gst/gst.h>

#include "gstgroup.h"
#include "common/gstfairmixtime.h"
#include "fairmix/asmp/fmx-asmp-receiver.h"

G_BEGIN_DECLS

/* The properties of asmprtcp that are mere values */
enum
{
  GST_ASMP_ROLE,
  GST_ASMP_ALGORITHM,
  GST_ASMP_MIN_BITRATE,
  GST_ASMP_MAX_BITRATE,
  GST_ASMP_INITIAL_BITRATE,
  GST_ASMP_MAX_RECEIVERS,
  GST_ASMP_NTP_TIME_SOURCE,
  GST_ASMP_N_SETTINGS
};

typedef struct
{
  GstGroupRole role;
  FmxAsmpAlgorithm algorithm;
  guint min_bitrate, max_bitrate, initial_bitrate;
  guint max_receivers;
  GstFairmixNtpSource ntp_time_source;
} GstAsmpSettings;

#define GST_TYPE_ASMP_ALGORITHM (gst_asmp_algorithm_get_type ())
GType gst_asmp_algorithm_get_type (void);

void gst_asmp_settings_default (GstAsmpSettings * settings);
void gst_asmp_settings_install (GObjectClass * gobject_class, guint first_id);
void gst_asmp_settings_set (GstAsmpSettings * settings, guint i,
    const GValue * value);
void gst_asmp_settings_get (const GstAsmpSettings * settings, guint i,
    GValue * value);

G_END_DECLS

#endif /* __GST_ASMP_SETTINGS_H__ */
