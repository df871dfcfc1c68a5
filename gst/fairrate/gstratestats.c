/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstratestats.h"

static const gchar *const state_nicks[] = {
  [FMX_RATE_SENDER_STARTING] = "starting",
  [FMX_RATE_SENDER_SENDING] = "sending",
  [FMX_RATE_SENDER_PROBING] = "probing",
  [FMX_RATE_SENDER_STOPPED] = "stopped",
};

static const gchar *const feedback_nicks[] = {
  [FMX_RATE_SENDER_FEEDBACK_NONE] = "none",
  [FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS] = "report-blocks",
  [FMX_RATE_SENDER_FEEDBACK_PER_PACKET] = "per-packet",
};

GstStructure *
gst_rate_stats_to_structure (const gchar * name,
    const FmxRateSenderStats * stats)
{
  return gst_structure_new (name,
      "state", G_TYPE_STRING, state_nicks[stats->state],
      "feedback", G_TYPE_STRING, feedback_nicks[stats->feedback],
      "target-bps", G_TYPE_UINT64, stats->target_bps,
      "sent-bps", G_TYPE_DOUBLE, stats->sent_bps,
      "receive-bps", G_TYPE_DOUBLE, stats->receive_bps,
      "equation-bps", G_TYPE_DOUBLE, stats->equation_bps,
      "rtt", G_TYPE_INT64, (gint64) stats->rtt,
      "rtt-min", G_TYPE_INT64, (gint64) stats->rtt_min,
      "rto", G_TYPE_INT64, (gint64) stats->rto,
      "loss-event-rate", G_TYPE_DOUBLE, stats->loss_event_rate,
      "loss-fraction", G_TYPE_DOUBLE, stats->loss_fraction,
      "loss-limit", G_TYPE_DOUBLE, stats->loss_limit,
      "n-streams", G_TYPE_UINT, stats->n_streams,
      "stream-bps", G_TYPE_DOUBLE, stats->stream_bps,
      "smallest-stream-bps", G_TYPE_DOUBLE, stats->smallest_stream_bps,
      "n-sent", G_TYPE_UINT64, stats->n_sent,
      "n-acked", G_TYPE_UINT64, stats->n_acked,
      "n-lost", G_TYPE_UINT64, stats->n_lost,
      "n-late", G_TYPE_UINT64, stats->n_late,
      "n-loss-events", G_TYPE_UINT64, stats->n_loss_events,
      "n-feedback", G_TYPE_UINT64, stats->n_feedback,
      "n-malformed", G_TYPE_UINT64, stats->n_malformed,
      "n-impossible", G_TYPE_UINT64, stats->n_impossible,
      "n-refused", G_TYPE_UINT64, stats->n_refused,
      "n-void", G_TYPE_UINT64, stats->n_void,
      "n-skipped", G_TYPE_UINT64, stats->n_skipped,
      "n-unknown", G_TYPE_UINT64, stats->n_unknown,
      "n-forgotten", G_TYPE_UINT64, stats->n_forgotten,
      "n-up", G_TYPE_UINT64, stats->n_up,
      "n-down", G_TYPE_UINT64, stats->n_down,
      "n-probes", G_TYPE_UINT64, stats->n_probes,
      "n-padding", G_TYPE_UINT64, stats->n_padding,
      "n-drains", G_TYPE_UINT64, stats->n_drains,
      "n-holds", G_TYPE_UINT64, stats->n_holds,
      "n-no-feedback", G_TYPE_UINT64, stats->n_no_feedback,
      "n-breaker", G_TYPE_UINT64, stats->n_breaker, NULL);
}

void
gst_rate_stats_add_shape (GstStructure * stats,
    const FmxDelayShapeStats * shape)
{
  GstStructure *s = gst_structure_new ("application/x-fairmix-delay-shape",
      "n-intervals", G_TYPE_UINT64, shape->n_intervals,
      "interval", G_TYPE_UINT64, shape->interval,
      "has-mean", G_TYPE_BOOLEAN, shape->has_mean,
      "mean-delay", G_TYPE_DOUBLE, shape->mean_s,
      "congested", G_TYPE_BOOLEAN, shape->congested,
      "skewness", G_TYPE_DOUBLE, shape->skewness,
      "variability", G_TYPE_DOUBLE, shape->variability_s,
      "frequency", G_TYPE_DOUBLE, shape->frequency,
      "loss", G_TYPE_DOUBLE, shape->loss, NULL);

  gst_structure_set (stats, "delay-shape", GST_TYPE_STRUCTURE, s, NULL);
  gst_structure_free (s);
}
