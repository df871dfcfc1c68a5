/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrateparams.h"

#include "common/gstfairmixstats.h"

#define MAX_CLASSES 32
#define DEFAULT_LIMIT 0         /* max-bitrate */
#define DEFAULT_SKIP_PACKETS 1000       /* skip-interval */
#define RTO_MIN_MAX (3 * GST_SECOND)
#define MAX_HOLD_MAX (10 * GST_SECOND)

/* Both tables of the library are arrays of pointers to structures that begin
 * with a name and a description and end with NULL. */
#define REGISTER(type_name, classes) G_STMT_START {                         \
  static GType type = 0;                                                    \
                                                                            \
  if (g_once_init_enter (&type)) {                                          \
    const gchar *names[MAX_CLASSES], *descriptions[MAX_CLASSES];            \
    guint n;                                                                \
                                                                            \
    for (n = 0; n < MAX_CLASSES && (classes)[n] != NULL; n++) {             \
      names[n] = (classes)[n]->name;                                        \
      descriptions[n] = (classes)[n]->description;                          \
    }                                                                       \
    g_once_init_leave (&type,                                               \
        gst_fairmix_enum_register (type_name, names, descriptions, n));     \
  }                                                                         \
  return type;                                                              \
} G_STMT_END

/* After the names come other names of the same. */
GType
gst_tfrc_rate_algorithm_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type)) {
    const gchar *names[MAX_CLASSES], *descriptions[MAX_CLASSES];
    guint n = 0;

    for (guint i = 0; n < MAX_CLASSES && fmx_rate_classes[i] != NULL; i++) {
      names[n] = fmx_rate_classes[i]->name;
      descriptions[n++] = fmx_rate_classes[i]->description;
    }
    for (guint i = 0; n < MAX_CLASSES && fmx_rate_classes[i] != NULL; i++)
      if (fmx_rate_classes[i]->alias != NULL) {
        names[n] = fmx_rate_classes[i]->alias;
        descriptions[n++] = fmx_rate_classes[i]->name;
      }
    g_once_init_leave (&type,
        gst_fairmix_enum_register ("GstTfrcRateAlgorithm", names,
            descriptions, n));
  }
  return type;
}

static const FmxRateClass *
gst_rate_params_class (gint value)
{
  GEnumClass *klass = g_type_class_ref (GST_TYPE_TFRC_RATE_ALGORITHM);
  const FmxRateClass *found =
      fmx_rate_class_find (g_enum_get_value (klass, value)->value_nick);

  g_type_class_unref (klass);
  return found;
}

GType
gst_tfrc_rate_policy_get_type (void)
{
  REGISTER ("GstTfrcRatePolicy", fmx_adapt_policy_classes);
}

static gint
gst_rate_params_class_index (const FmxRateClass * klass)
{
  gint i = 0;

  while (fmx_rate_classes[i] != NULL && fmx_rate_classes[i] != klass)
    i++;
  return i;
}

gint
gst_rate_params_policy_index (const FmxAdaptPolicyClass * klass)
{
  gint i = 0;

  while (fmx_adapt_policy_classes[i] != NULL
      && fmx_adapt_policy_classes[i] != klass)
    i++;
  return i;
}

static guint
gst_rate_params_bitrate (guint64 bps)
{
  return bps > G_MAXUINT ? DEFAULT_LIMIT : (guint) bps;
}

void
gst_rate_params_default (FmxRateSenderParams * params)
{
  fmx_rate_sender_params_default (params);
  params->klass = &fmx_rate_shortq;
  params->skip_packets = DEFAULT_SKIP_PACKETS;
}

void
gst_rate_params_set (FmxRateSenderParams * params, GstRateParam id,
    const GValue * value)
{
  FmxRateSenderParams defaults;

  switch (id) {
    case GST_RATE_PARAM_ALGORITHM:
      params->klass = gst_rate_params_class (g_value_get_enum (value));
      break;
    case GST_RATE_PARAM_SEGMENT_SIZE:
      params->segment_bytes = g_value_get_uint (value);
      break;
    case GST_RATE_PARAM_DECISION_INTERVAL:
      params->decision_interval_rtts = g_value_get_double (value);
      break;
    case GST_RATE_PARAM_MIN_BITRATE:
      params->min_bps = g_value_get_uint (value);
      break;
    case GST_RATE_PARAM_MAX_BITRATE:
      fmx_rate_sender_params_default (&defaults);
      params->max_bps = g_value_get_uint (value) != DEFAULT_LIMIT ?
          g_value_get_uint (value) : defaults.max_bps;
      break;
    case GST_RATE_PARAM_INITIAL_BITRATE:
      params->initial_bps = g_value_get_uint (value);
      break;
    case GST_RATE_PARAM_LOSS_LIMIT:
      params->loss_limit = g_value_get_double (value);
      break;
    case GST_RATE_PARAM_RTO_MIN:
      params->rto_min = (FmxDuration) g_value_get_uint64 (value);
      break;
    case GST_RATE_PARAM_ALPHA:
      params->alpha = g_value_get_double (value);
      break;
    case GST_RATE_PARAM_BETA:
      params->beta = g_value_get_double (value);
      break;
    case GST_RATE_PARAM_CIRCUIT_BREAKER:
      params->circuit_breaker = g_value_get_boolean (value);
      break;
    case GST_RATE_PARAM_SKIP_INTERVAL:
      params->skip_packets = g_value_get_uint (value);
      break;
    case GST_RATE_PARAM_MAX_HOLD:
      params->max_hold = (FmxDuration) g_value_get_uint64 (value);
      break;
    default:
      g_assert_not_reached ();
  }
}

void
gst_rate_params_get (const FmxRateSenderParams * params, GstRateParam id,
    GValue * value)
{
  switch (id) {
    case GST_RATE_PARAM_ALGORITHM:
      g_value_set_enum (value, gst_rate_params_class_index (params->klass));
      break;
    case GST_RATE_PARAM_SEGMENT_SIZE:
      g_value_set_uint (value, params->segment_bytes);
      break;
    case GST_RATE_PARAM_DECISION_INTERVAL:
      g_value_set_double (value, params->decision_interval_rtts);
      break;
    case GST_RATE_PARAM_MIN_BITRATE:
      g_value_set_uint (value, gst_rate_params_bitrate (params->min_bps));
      break;
    case GST_RATE_PARAM_MAX_BITRATE:
      g_value_set_uint (value, gst_rate_params_bitrate (params->max_bps));
      break;
    case GST_RATE_PARAM_INITIAL_BITRATE:
      g_value_set_uint (value, gst_rate_params_bitrate (params->initial_bps));
      break;
    case GST_RATE_PARAM_LOSS_LIMIT:
      g_value_set_double (value, params->loss_limit);
      break;
    case GST_RATE_PARAM_RTO_MIN:
      g_value_set_uint64 (value, (guint64) params->rto_min);
      break;
    case GST_RATE_PARAM_ALPHA:
      g_value_set_double (value, params->alpha);
      break;
    case GST_RATE_PARAM_BETA:
      g_value_set_double (value, params->beta);
      break;
    case GST_RATE_PARAM_CIRCUIT_BREAKER:
      g_value_set_boolean (value, params->circuit_breaker);
      break;
    case GST_RATE_PARAM_SKIP_INTERVAL:
      g_value_set_uint (value, params->skip_packets);
      break;
    case GST_RATE_PARAM_MAX_HOLD:
      g_value_set_uint64 (value, (guint64) params->max_hold);
      break;
    default:
      g_assert_not_reached ();
  }
}

void
gst_rate_params_normalize (FmxRateSenderParams * params)
{
  params->min_bps = MIN (params->min_bps, params->max_bps);
  params->initial_bps =
      CLAMP (params->initial_bps, params->min_bps, params->max_bps);
}

static void
gst_rate_params_install_bitrates (GObjectClass * klass, guint first_id,
    const FmxRateSenderParams * defaults)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_MIN_BITRATE,
      g_param_spec_uint ("min-bitrate", "Minimum Bitrate",
          "The least that makes sense (one stream, or the leanest mix), in "
          "bits/s on the wire; below it media stops and the path is probed",
          1, G_MAXUINT, gst_rate_params_bitrate (defaults->min_bps), flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_MAX_BITRATE,
      g_param_spec_uint ("max-bitrate", "Maximum Bitrate",
          "The most to send, in bits/s on the wire (0 = 1 Gbit/s)",
          0, G_MAXUINT, gst_rate_params_bitrate (defaults->max_bps), flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_INITIAL_BITRATE,
      g_param_spec_uint ("initial-bitrate", "Initial Bitrate",
          "Target until the first feedback, in bits/s on the wire",
          1, G_MAXUINT, gst_rate_params_bitrate (defaults->initial_bps),
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_READY));
}

void
gst_rate_params_install (GObjectClass * klass, guint first_id)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;
  FmxRateSenderParams defaults;

  gst_rate_params_default (&defaults);
  g_object_class_install_property (klass, first_id + GST_RATE_PARAM_ALGORITHM,
      g_param_spec_enum ("algorithm", "Algorithm",
          "What turns round-trip time and loss events into a rate",
          GST_TYPE_TFRC_RATE_ALGORITHM,
          gst_rate_params_class_index (defaults.klass), flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_SEGMENT_SIZE,
      g_param_spec_uint ("segment-size", "Segment Size",
          "Segment size of the TCP that the rate is fair to, in bytes; with "
          "the header correction of RFC 4828 (0 = the size of the packets "
          "sent, as RFC 5348: small packets then get very little)",
          0, 65535, defaults.segment_bytes, flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_DECISION_INTERVAL,
      g_param_spec_double ("decision-interval", "Decision Interval",
          "dpm, dpm-literal: time between two increases, in round-trip times",
          1.0, 100.0, defaults.decision_interval_rtts, flags));
  gst_rate_params_install_bitrates (klass, first_id, &defaults);
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_LOSS_LIMIT,
      g_param_spec_double ("loss-limit", "Loss Limit",
          "Share of lost packets above which media stops and the path is "
          "probed (0 = automatic: 0.2 where the smallest stream has 64 "
          "kbit/s, up to 0.4 for 4.75 kbit/s)",
          0.0, 1.0, defaults.loss_limit, flags));
  g_object_class_install_property (klass, first_id + GST_RATE_PARAM_RTO_MIN,
      g_param_spec_uint64 ("rto-min", "Minimum RTO",
          "Least time beyond the round-trip time after which a packet that "
          "nobody acknowledged is lost, in nanoseconds",
          GST_MSECOND, RTO_MIN_MAX, (guint64) defaults.rto_min, flags));
  g_object_class_install_property (klass, first_id + GST_RATE_PARAM_ALPHA,
      g_param_spec_double ("alpha", "Alpha",
          "gaimd: increase, in segments per round-trip time (0 = "
          "3 (1 - beta) / (1 + beta), which is fair to TCP)",
          0.0, 100.0, defaults.alpha, flags));
  g_object_class_install_property (klass, first_id + GST_RATE_PARAM_BETA,
      g_param_spec_double ("beta", "Beta",
          "gaimd: what remains of the rate after a loss event, as a share",
          0.01, 0.99, defaults.beta, flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_CIRCUIT_BREAKER,
      g_param_spec_boolean ("circuit-breaker", "Circuit Breaker",
          "Stop sending for a while when the conditions of RFC 8083 are met",
          defaults.circuit_breaker, flags));
  g_object_class_install_property (klass,
      first_id + GST_RATE_PARAM_SKIP_INTERVAL,
      g_param_spec_uint ("skip-interval", "Skip Interval",
          "A sequence number is left out each so many packets, in the mean, so "
          "that a receiver that acknowledges what it never got is found out "
          "(0 = never)", 0, G_MAXINT, defaults.skip_packets, flags));
  g_object_class_install_property (klass, first_id + GST_RATE_PARAM_MAX_HOLD,
      g_param_spec_uint64 ("max-hold", "Maximum Hold",
          "shortq: where the path suddenly became narrow nothing leaves until "
          "the queue has gone, for so long at most, in nanoseconds, as all "
          "behind it would come too late (0 = never)",
          0, MAX_HOLD_MAX, (guint64) defaults.max_hold, flags));
}
