/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstasmpsettings.h"

#include "common/gstfairmixfields.h"
#include "common/gstfairmixstats.h"

#define DEFAULT_ROLE GST_GROUP_ROLE_SENDER
#define DEFAULT_ALGORITHM FMX_ASMP_FAIR
#define DEFAULT_MIN_BITRATE 16000
#define DEFAULT_MAX_BITRATE 10000000
#define DEFAULT_INITIAL_BITRATE 64000
#define DEFAULT_MAX_RECEIVERS 4096
#define DEFAULT_NTP_TIME_SOURCE GST_FAIRMIX_NTP_NTP

GType
gst_asmp_algorithm_get_type (void)
{
  static gsize type = 0;
  static const gchar *const blurbs[FMX_ASMP_N_ALGORITHMS] = {
    "The Adaptive Smooth Multicast Protocol as published",
    "Rates of a TCP with full segments, from loss events; whoever joins "
        "measures before it counts"
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstAsmpAlgorithm",
            fmx_asmp_algorithm_names, blurbs, FMX_ASMP_N_ALGORITHMS));
  return type;
}

void
gst_asmp_settings_default (GstAsmpSettings * settings)
{
  settings->role = DEFAULT_ROLE;
  settings->algorithm = DEFAULT_ALGORITHM;
  settings->min_bitrate = DEFAULT_MIN_BITRATE;
  settings->max_bitrate = DEFAULT_MAX_BITRATE;
  settings->initial_bitrate = DEFAULT_INITIAL_BITRATE;
  settings->max_receivers = DEFAULT_MAX_RECEIVERS;
  settings->ntp_time_source = DEFAULT_NTP_TIME_SOURCE;
}

void
gst_asmp_settings_install (GObjectClass * gobject_class, guint first_id)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (gobject_class, first_id + GST_ASMP_ROLE,
      gst_group_role_param_spec ());
  g_object_class_install_property (gobject_class, first_id + GST_ASMP_ALGORITHM,
      g_param_spec_enum ("algorithm", "Algorithm",
          "How a rate is found; both speak the same packets",
          GST_TYPE_ASMP_ALGORITHM, DEFAULT_ALGORITHM,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ASMP_MIN_BITRATE, g_param_spec_uint ("min-bitrate",
          "Minimum Bitrate",
          "Sender: no receiver makes it send less, in bits/s on the wire, IP and "
          "UDP headers included", 1000, G_MAXUINT, DEFAULT_MIN_BITRATE,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (gobject_class,
      first_id + GST_ASMP_MAX_BITRATE, g_param_spec_uint ("max-bitrate",
          "Maximum Bitrate",
          "Sender: it never sends more, in bits/s on the wire; a minimum above "
          "it counts", 1000, G_MAXUINT, DEFAULT_MAX_BITRATE,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (gobject_class,
      first_id + GST_ASMP_INITIAL_BITRATE, g_param_spec_uint ("initial-bitrate",
          "Initial Bitrate",
          "Sender: target until a receiver has spoken, in bits/s on the wire",
          1000, G_MAXUINT, DEFAULT_INITIAL_BITRATE,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ASMP_MAX_RECEIVERS, g_param_spec_uint ("max-receivers",
          "Maximum Receivers",
          "Sender: receivers remembered at a time, 80 bytes each; when there are "
          "more, those that want least", 1, 1000000, DEFAULT_MAX_RECEIVERS,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ASMP_NTP_TIME_SOURCE,
      gst_fairmix_ntp_source_param_spec ());
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (GST_ASMP_ROLE, GstAsmpSettings, role),
  GST_FAIRMIX_FIELD (GST_ASMP_ALGORITHM, GstAsmpSettings, algorithm),
  GST_FAIRMIX_FIELD (GST_ASMP_MIN_BITRATE, GstAsmpSettings, min_bitrate),
  GST_FAIRMIX_FIELD (GST_ASMP_MAX_BITRATE, GstAsmpSettings, max_bitrate),
  GST_FAIRMIX_FIELD (GST_ASMP_INITIAL_BITRATE, GstAsmpSettings,
      initial_bitrate),
  GST_FAIRMIX_FIELD (GST_ASMP_MAX_RECEIVERS, GstAsmpSettings, max_receivers),
  GST_FAIRMIX_FIELD (GST_ASMP_NTP_TIME_SOURCE, GstAsmpSettings,
      ntp_time_source),
};

void
gst_asmp_settings_set (GstAsmpSettings * settings, guint i,
    const GValue * value)
{
  gst_fairmix_fields_set (fields, G_N_ELEMENTS (fields), settings, i, value);
}

void
gst_asmp_settings_get (const GstAsmpSettings * settings, guint i,
    GValue * value)
{
  gst_fairmix_fields_get (fields, G_N_ELEMENTS (fields), settings, i, value);
}
