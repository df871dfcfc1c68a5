/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RATE_PARAMS_H__
#define __GST_RATE_PARAMS_H__

#include <gst/gst.h>

#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/rate/fmx-rate-sender.h"

G_BEGIN_DECLS

/* The choices that FmxRateSenderParams offers, as GObject properties: their
 * defaults come from the library.  An element installs them from some ID on
 * and hands these IDs to the other two functions. */
typedef enum
{
  GST_RATE_PARAM_ALGORITHM,
  GST_RATE_PARAM_SEGMENT_SIZE,
  GST_RATE_PARAM_DECISION_INTERVAL,
  GST_RATE_PARAM_MIN_BITRATE,
  GST_RATE_PARAM_MAX_BITRATE,
  GST_RATE_PARAM_INITIAL_BITRATE,
  GST_RATE_PARAM_LOSS_LIMIT,
  GST_RATE_PARAM_RTO_MIN,
  GST_RATE_PARAM_ALPHA,
  GST_RATE_PARAM_BETA,
  GST_RATE_PARAM_CIRCUIT_BREAKER,
  GST_RATE_PARAM_SKIP_INTERVAL,
  GST_RATE_PARAM_MAX_HOLD,
  GST_RATE_N_PARAMS
} GstRateParam;

void gst_rate_params_install (GObjectClass * klass, guint first_id);

/* The library's defaults, but with algorithm=shortq. */
void gst_rate_params_default (FmxRateSenderParams * params);

/* @id: the property's ID less the first one */
void gst_rate_params_set (FmxRateSenderParams * params, GstRateParam id,
    const GValue * value);
void gst_rate_params_get (const FmxRateSenderParams * params, GstRateParam id,
    GValue * value);

/* Makes the bitrates consistent: the bounds win over the initial rate, the
 * upper one over the lower one. */
void gst_rate_params_normalize (FmxRateSenderParams * params);

/* Returns: the value of the enumeration that stands for @klass */
gint gst_rate_params_policy_index (const FmxAdaptPolicyClass * klass);

/* Made of fmx_rate_classes and fmx_adapt_policy_classes: a value is an index. */
#define GST_TYPE_TFRC_RATE_ALGORITHM (gst_tfrc_rate_algorithm_get_type ())
GType gst_tfrc_rate_algorithm_get_type (void);
#define GST_TYPE_TFRC_RATE_POLICY (gst_tfrc_rate_policy_get_type ())
GType gst_tfrc_rate_policy_get_type (void);

G_END_DECLS

#endif /* __GST_RATE_PARAMS_H__ */
