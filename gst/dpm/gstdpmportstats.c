/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmportstats.h"

void
gst_dpm_stats_add_mixer (GstStructure * s, const FmxJoinMixerStats * stats)
{
  gst_structure_set (s,
      "n-neighbours", G_TYPE_UINT, stats->n_sessions,
      "n-pending", G_TYPE_UINT, stats->n_pending,
      "n-joined", G_TYPE_UINT64, stats->n_joined,
      "n-left", G_TYPE_UINT64, stats->n_left,
      "n-timeouts", G_TYPE_UINT64, stats->n_timeouts,
      "n-moved", G_TYPE_UINT64, stats->n_moved,
      "n-hellos", G_TYPE_UINT64, stats->n_hellos,
      "n-limited", G_TYPE_UINT64, stats->n_limited,
      "n-bad-cookies", G_TYPE_UINT64, stats->n_bad_cookies,
      "n-wrong-secret", G_TYPE_UINT64, stats->n_wrong_secret,
      "n-refused", G_TYPE_UINT64, stats->n_refused,
      "n-repeated-joins", G_TYPE_UINT64, stats->n_repeated,
      "n-unknown-sessions", G_TYPE_UINT64, stats->n_unknown,
      "n-forged-control", G_TYPE_UINT64, stats->n_forged,
      "n-replayed-control", G_TYPE_UINT64, stats->n_replayed,
      "n-invalid-control", G_TYPE_UINT64,
      stats->n_invalid + stats->n_unexpected, NULL);
}

void
gst_dpm_stats_add_client (GstStructure * s, const FmxJoinClientStats * stats)
{
  gst_structure_set (s,
      "rtt", G_TYPE_INT64, (gint64) stats->rtt,
      "n-attempts", G_TYPE_UINT64, stats->n_attempts,
      "n-sessions", G_TYPE_UINT64, stats->n_joined,
      "n-lost", G_TYPE_UINT64, stats->n_lost,
      "n-forged-answers", G_TYPE_UINT64, stats->n_forged,
      "n-stale-answers", G_TYPE_UINT64, stats->n_stale + stats->n_invalid,
      "n-replayed-answers", G_TYPE_UINT64, stats->n_replayed, NULL);
}

GstStructure *
gst_dpm_peer_to_structure (GstDpmPeer * peer)
{
  FmxJoinAddress address;
  GstDpmPeerStats stats;
  GstStructure *s;
  gchar *text;

  gst_dpm_peer_get_stats (peer, &stats);
  gst_dpm_peer_get_address (peer, &address);
  text = gst_dpm_address_to_string (&address);
  s = gst_structure_new ("application/x-fairmix-dpm-neighbour-stats",
      "neighbour", G_TYPE_UINT, gst_dpm_peer_get_number (peer),
      "name", G_TYPE_STRING, gst_dpm_peer_get_name (peer),
      "address", G_TYPE_STRING, text,
      "mixer", G_TYPE_BOOLEAN,
      (gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER) != 0,
      "max-streams", G_TYPE_UINT, gst_dpm_peer_get_max_streams (peer),
      "n-received", G_TYPE_UINT64, stats.n_received,
      "n-forged", G_TYPE_UINT64, stats.n_forged,
      "n-replayed", G_TYPE_UINT64, stats.n_replayed,
      "n-malformed", G_TYPE_UINT64, stats.n_malformed,
      "n-early", G_TYPE_UINT64, stats.n_early,
      "n-sent", G_TYPE_UINT64, stats.n_sent,
      "n-unsent", G_TYPE_UINT64, stats.n_unsent,
      "n-protect-failed", G_TYPE_UINT64, stats.n_protect_failed, NULL);
  g_free (text);
  return s;
}
