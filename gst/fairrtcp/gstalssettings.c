/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalssettings.h"

#include "gstalspeers.h"
#include "gstrtcphook.h"
#include "common/gstfairmixfields.h"

#define DEFAULT_ROLE GST_GROUP_ROLE_SENDER
#define DEFAULT_MIN_BITRATE 16000
#define DEFAULT_MAX_BITRATE 10000000
#define DEFAULT_INITIAL_BITRATE 64000
#define DEFAULT_INCREASE 0
#define DEFAULT_ADAPTATION_INTERVAL (5 * GST_SECOND)
#define DEFAULT_MEMORY (15 * GST_SECOND)
#define DEFAULT_MAX_RECEIVERS 4096
#define DEFAULT_PORT 5004
#define DEFAULT_NTP_TIME_SOURCE GST_FAIRMIX_NTP_NTP

void
gst_als_settings_default (GstAlsSettings * settings)
{
  settings->role = DEFAULT_ROLE;
  settings->min_bitrate = DEFAULT_MIN_BITRATE;
  settings->max_bitrate = DEFAULT_MAX_BITRATE;
  settings->initial_bitrate = DEFAULT_INITIAL_BITRATE;
  settings->increase = DEFAULT_INCREASE;
  settings->adaptation_interval = DEFAULT_ADAPTATION_INTERVAL;
  settings->memory = DEFAULT_MEMORY;
  settings->max_receivers = DEFAULT_MAX_RECEIVERS;
  settings->address = NULL;
  settings->port = DEFAULT_PORT;
  settings->layer_limits = NULL;
  settings->relay = FALSE;
  settings->ntp_time_source = DEFAULT_NTP_TIME_SOURCE;
}

void
gst_als_settings_clear (GstAlsSettings * settings)
{
  g_clear_pointer (&settings->address, g_free);
  g_clear_pointer (&settings->layer_limits, g_free);
}

void
gst_als_settings_copy (const GstAlsSettings * settings, GstAlsSettings * copy)
{
  *copy = *settings;
  copy->address = g_strdup (settings->address);
  copy->layer_limits = g_strdup (settings->layer_limits);
}

/* LEAST-MOST; nothing: no limits */
static gboolean
parse_one_limit (const gchar * text, FmxAlsLayerLimits * limits)
{
  gchar **ends = g_strsplit (text, "-", 2);
  guint64 least = 0, most = 0;
  gboolean ok = text[0] == '\0';

  if (!ok && g_strv_length (ends) == 2)
    ok = g_ascii_string_to_unsigned (ends[0], 10, 0, G_MAXUINT32, &least, NULL)
        && g_ascii_string_to_unsigned (ends[1], 10, MAX (least, 1), G_MAXUINT32,
        &most, NULL);
  *limits = (FmxAlsLayerLimits) {
  (uint32_t) least, (uint32_t) most};
  g_strfreev (ends);
  return ok;
}

gboolean
gst_als_settings_parse_limits (const gchar * text, FmxAlsLayerLimits * limits)
{
  gchar **layers = g_strsplit (text != NULL ? text : "", ",", -1);
  guint n = g_strv_length (layers);
  gboolean ok = n <= FMX_ALS_MAX_LAYERS;

  for (guint i = 0; ok && i < n; i++)
    ok = parse_one_limit (layers[i], &limits[i]);
  g_strfreev (layers);
  return ok;
}

static void
install_rates (GObjectClass * gobject_class, guint first_id)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (gobject_class, first_id + GST_ALS_ROLE,
      gst_group_role_param_spec ());
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_MIN_BITRATE, g_param_spec_uint ("min-bitrate",
          "Minimum Bitrate",
          "Sender: the base layer never has less, in bits/s on the wire, IP and "
          "UDP headers included", 1000, G_MAXUINT, DEFAULT_MIN_BITRATE,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_MAX_BITRATE, g_param_spec_uint ("max-bitrate",
          "Maximum Bitrate",
          "Sender: what it asks the routers for, and the most that all layers "
          "have together, in bits/s on the wire; a minimum above it counts",
          1000, G_MAXUINT, DEFAULT_MAX_BITRATE,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_INITIAL_BITRATE, g_param_spec_uint ("initial-bitrate",
          "Initial Bitrate",
          "Sender: of the base layer until a receiver has spoken, in bits/s on "
          "the wire; the other layers have nothing", 1000, G_MAXUINT,
          DEFAULT_INITIAL_BITRATE, rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_INCREASE,
      g_param_spec_uint ("increase", "Increase",
          "Sender: by how much it first tries to send more than routers said, "
          "in bits/s; the paper's is 5000, for routers with rule=equal", 0,
          G_MAXUINT, DEFAULT_INCREASE, rw | GST_PARAM_MUTABLE_READY));
}

static void
install_names (GObjectClass * gobject_class, guint first_id)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  gst_rtcp_hook_install_properties (gobject_class, first_id + GST_ALS_RTPBIN,
      first_id + GST_ALS_SESSION,
      "Which session of the rtpbin is the base layer's");
  g_object_class_install_property (gobject_class, first_id + GST_ALS_ENCODERS,
      g_param_spec_string ("encoders", "Encoders",
          "Sender: names of encoders in the same pipeline, of layers 0, 1, ..., "
          "with commas in between, whose property bitrate (in bits/s) follows "
          "the layer's target, headers taken off", NULL,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_SOURCES,
      g_param_spec_string ("sources", "Sources",
          "Receiver: names of the udpsrc elements in the same pipeline of layers "
          "1, 2, ..., with commas in between; after a plus sign that of the "
          "layer's RTCP.  They run while their layer is held", NULL,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_ALERT_SINK,
      g_param_spec_string ("alert-sink", "Alert Sink",
          "Name of the udpsink in the same pipeline that sends the base's RTCP: "
          "its packets get IP's router-alert option, and no UDP checksum. IPv4",
          NULL, rw | GST_PARAM_MUTABLE_PLAYING));
}

static void
install_results (GObjectClass * gobject_class, guint first_id)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_TARGET_BITRATE, g_param_spec_uint ("target-bitrate",
          "Target Bitrate", "Sender: what may be sent, all layers together, in "
          "bits/s on the wire, IP and UDP headers included; notifies, from any "
          "thread", 0, G_MAXUINT, 0, readable));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_LAYERS,
      g_param_spec_uint ("layers", "Layers",
          "Receiver: how many layers the path carries, the base included; "
          "notifies, from any thread", 0, FMX_ALS_MAX_LAYERS, 0, readable));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Sender: target, counters, the layers, and a table of up to 64 "
          "receivers.  Receiver: share, utilisation, the layers.  Rates in "
          "bits/s on the wire, times in nanoseconds", GST_TYPE_STRUCTURE,
          readable));
}

void
gst_als_settings_install (GObjectClass * gobject_class, guint first_id)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  install_rates (gobject_class, first_id);
  install_names (gobject_class, first_id);
  install_results (gobject_class, first_id);
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_ADAPTATION_INTERVAL,
      g_param_spec_uint64 ("adaptation-interval", "Adaptation Interval",
          "Sender: time between two changes of the rates, in ns", 100000000,
          G_GUINT64_CONSTANT (3600) * GST_SECOND, DEFAULT_ADAPTATION_INTERVAL,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_MEMORY,
      g_param_spec_uint64 ("memory", "Memory",
          "Sender: a receiver's last report counts for so long, in ns, and for "
          "twice the time between two of them; the paper's is the adaptation "
          "interval, and stays", 0,
          G_GUINT64_CONSTANT (3600) * GST_SECOND, DEFAULT_MEMORY,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_MAX_RECEIVERS, g_param_spec_uint ("max-receivers",
          "Maximum Receivers",
          "Sender: receivers remembered at a time, some 500 bytes each", 1,
          100000, DEFAULT_MAX_RECEIVERS, rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_ADDRESS,
      g_param_spec_string ("address", "Address",
          "Group of the base layer.  Sender: the other layers have the addresses "
          "that follow, and are announced.  Receiver: announcements with another "
          "base are refused; without it announced addresses are not used", NULL,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_PORT,
      g_param_spec_uint ("port", "Port",
          "RTP port of the base layer; the other layers have the even ports that "
          "follow", 1, G_MAXUINT16, DEFAULT_PORT,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_LAYER_LIMITS, g_param_spec_string ("layer-limits",
          "Layer Limits",
          "Sender: of layers 0, 1, ..., with commas in between: LEAST-MOST, in "
          "bits/s on the wire.  With less a layer is not sent, more it cannot use. "
          "The base's least is min-bitrate.  E.g. 0-64000,20000-48000", NULL,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class, first_id + GST_ALS_RELAY,
      g_param_spec_boolean ("relay", "Relay",
          "Receiver: hold layers for those behind a router, and report nothing; "
          "rtpbin is not needed", FALSE, rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (gobject_class,
      first_id + GST_ALS_NTP_TIME_SOURCE, gst_fairmix_ntp_source_param_spec ());
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (GST_ALS_ROLE, GstAlsSettings, role),
  GST_FAIRMIX_FIELD (GST_ALS_MIN_BITRATE, GstAlsSettings, min_bitrate),
  GST_FAIRMIX_FIELD (GST_ALS_MAX_BITRATE, GstAlsSettings, max_bitrate),
  GST_FAIRMIX_FIELD (GST_ALS_INITIAL_BITRATE, GstAlsSettings, initial_bitrate),
  GST_FAIRMIX_FIELD (GST_ALS_INCREASE, GstAlsSettings, increase),
  GST_FAIRMIX_FIELD (GST_ALS_ADAPTATION_INTERVAL, GstAlsSettings,
      adaptation_interval),
  GST_FAIRMIX_FIELD (GST_ALS_MEMORY, GstAlsSettings, memory),
  GST_FAIRMIX_FIELD (GST_ALS_MAX_RECEIVERS, GstAlsSettings, max_receivers),
  GST_FAIRMIX_FIELD (GST_ALS_ADDRESS, GstAlsSettings, address),
  GST_FAIRMIX_FIELD (GST_ALS_PORT, GstAlsSettings, port),
  GST_FAIRMIX_FIELD (GST_ALS_NTP_TIME_SOURCE, GstAlsSettings, ntp_time_source),
  GST_FAIRMIX_FIELD (GST_ALS_LAYER_LIMITS, GstAlsSettings, layer_limits),
  GST_FAIRMIX_FIELD (GST_ALS_RELAY, GstAlsSettings, relay),
};

void
gst_als_settings_set (GstAlsSettings * settings, guint i, const GValue * value)
{
  gst_fairmix_fields_set (fields, G_N_ELEMENTS (fields), settings, i, value);
}

void
gst_als_settings_get (const GstAlsSettings * settings, guint i, GValue * value)
{
  gst_fairmix_fields_get (fields, G_N_ELEMENTS (fields), settings, i, value);
}

gboolean
gst_als_settings_check (const GstAlsSettings * settings, guint n_layers,
    GstElement * element)
{
  gboolean sends = settings->role == GST_GROUP_ROLE_SENDER;
  FmxAlsLayerLimits limits[FMX_ALS_MAX_LAYERS];
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS];

  if (sends && n_layers > 1 && settings->address == NULL)
    GST_ELEMENT_WARNING (element, RESOURCE, SETTINGS,
        ("alsrtcp cannot announce its layers: nobody told where they are."),
        ("property address: the group of the base layer"));
  if (settings->address != NULL && !gst_als_layers_place (layers,
          sends ? n_layers : 1, settings->address, settings->port)) {
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("Layers cannot begin at \"%s\", port %u.", settings->address,
            settings->port),
        ("properties address, port: a multicast group, and "
            "in the same network one more for each further layer"));
    return FALSE;
  }
  if (!gst_als_settings_parse_limits (settings->layer_limits, limits)) {
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS,
        ("\"%s\" does not say what layers can use.", settings->layer_limits),
        ("property layer-limits: LEAST-MOST,LEAST-MOST,..."));
    return FALSE;
  }
  return TRUE;
}

void
gst_als_settings_to_params (const GstAlsSettings * settings, guint n_layers,
    const FmxEventSink * sink, FmxAlsSenderParams * params)
{
  fmx_als_sender_params_default (params);
  params->min_bps = settings->min_bitrate;
  params->wish_bps = MAX (settings->max_bitrate, settings->min_bitrate);
  params->initial_bps = CLAMP (settings->initial_bitrate, params->min_bps,
      params->wish_bps);
  params->increase_bps = settings->increase;
  params->interval = (FmxDuration) settings->adaptation_interval;
  params->memory = (FmxDuration) settings->memory;
  params->n_layers = n_layers;
  gst_als_settings_parse_limits (settings->layer_limits, params->layers);
  params->sink = sink;
}
