/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the element knows, as GstStructures. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"
#include "common/gstfairmixstats.h"

static const gchar *const mode_names[] = {
  "none", "separate", "mixed", "held"
};

static GstStructure *
stream_stats (GstPartialMixStream * stream, GstClockTime now)
{
  GstStructure *s = gst_structure_new ("application/x-fairmix-stream-stats",
      "ssrc", G_TYPE_UINT, stream->ssrc,
      "out-ssrc", G_TYPE_UINT, stream->out_ssrc,
      "neighbour", G_TYPE_INT, stream->neighbour,
      "encoding-name", G_TYPE_STRING,
      gst_partial_mix_encoding_name (stream->format.encoding),
      "level", G_TYPE_UINT, (guint) stream->level,
      "priority", G_TYPE_INT, stream->info.priority,
      "mute", G_TYPE_BOOLEAN, stream->info.mute,
      "bitrate", G_TYPE_UINT,
      (guint) fmx_stream_cost_metered_bps (&stream->cost,
          now),
      "state", G_TYPE_STRING, stream->n_mixed > 0 ? "decoded" : "forwarded",
      "playout-delay", G_TYPE_INT64, stream->delay,
      "raise-db", G_TYPE_DOUBLE, stream->raise_db,
      "n-packets", G_TYPE_UINT64, stream->n_packets,
      "n-decoded", G_TYPE_UINT64, stream->n_decoded,
      "n-concealed", G_TYPE_UINT64, stream->n_concealed,
      "n-late", G_TYPE_UINT64, stream->n_late,
      "n-shortened", G_TYPE_UINT64, stream->n_shortened, NULL);

  if (stream->identity.cname != NULL)
    gst_structure_set (s, "cname", G_TYPE_STRING, stream->identity.cname, NULL);
  if (stream->info.group != NULL)
    gst_structure_set (s, "group", G_TYPE_STRING, stream->info.group, NULL);
  return s;
}

/* with the lock */
static GstStructure *
pad_stats (GstPartialMix * self, GstPartialMixSrcPad * pad, GstClockTime now)
{
  GstPartialMixListener *listener = &pad->listener;
  guint64 target = gst_partial_mix_listener_get_target (listener);
  GValue streams = G_VALUE_INIT;
  guint64 mix_packets = 0;
  guint64 n_dropped;
  gboolean blocked;
  guint bitrate_in = 0;
  GstStructure *s;
  guint i;

  g_value_init (&streams, GST_TYPE_ARRAY);
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);
    GstPartialMixLink *link;

    if (stream == NULL)
      continue;
    link = gst_partial_mix_listener_get_link (listener, stream);
    if (link->handover.way != FMX_HANDOVER_NONE)
      bitrate_in += (guint) fmx_stream_cost_metered_bps (&stream->cost, now);
    gst_fairmix_stats_append (&streams, gst_structure_new ("stream",
            "ssrc", G_TYPE_UINT, stream->out_ssrc,
            "state", G_TYPE_STRING, mode_names[link->handover.way],
            "mix", G_TYPE_UINT, (guint) link->handover.mix, NULL));
  }
  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    mix_packets += listener->outputs[i].n_packets;

  gst_partial_mix_couriers_get_stats (self->couriers, &pad->door, &blocked,
      &n_dropped);
  s = gst_structure_new ("application/x-fairmix-partialmix-pad-stats",
      "pad", G_TYPE_STRING, GST_PAD_NAME (pad),
      "neighbour", G_TYPE_INT,
      gst_partial_mix_listener_get_neighbour (listener), "max-streams",
      G_TYPE_UINT, gst_partial_mix_listener_get_max_streams (listener),
      "target-bitrate", G_TYPE_UINT64,
      target == FMX_TARGET_UNLIMITED ? (guint64) 0 : target, "limited",
      G_TYPE_BOOLEAN, target != FMX_TARGET_UNLIMITED, "bitrate-in", G_TYPE_UINT,
      bitrate_in, "bitrate-out", G_TYPE_UINT,
      (guint) fmx_rate_meter_bps (&listener->meter_out, now), "n-separate",
      G_TYPE_UINT, listener->plan.n_separate, "n-mixed", G_TYPE_UINT,
      listener->n_mixed, "n-mixes", G_TYPE_UINT, listener->plan.n_mixes,
      "mix-bitrate", G_TYPE_UINT, listener->mix_bitrate_bps,
      "mix-loss-percentage", G_TYPE_UINT, listener->mix_loss,
      "n-forwarded-packets", G_TYPE_UINT64, listener->n_forwarded_packets,
      "n-mix-packets", G_TYPE_UINT64, mix_packets, "n-selections",
      G_TYPE_UINT64, listener->n_selections, "blocked", G_TYPE_BOOLEAN, blocked,
      "n-dropped", G_TYPE_UINT64, n_dropped, "flow", G_TYPE_STRING,
      gst_flow_get_name (gst_partial_mix_flow_last (&pad->flow)), NULL);
  gst_structure_take_value (s, "streams", &streams);
  return s;
}

GstStructure *
gst_partial_mix_src_pad_create_stats (GstPartialMixSrcPad * pad,
    GstPartialMix * self)
{
  GstClockTime now = gst_partial_mix_lock_now (self);
  GstStructure *s = pad_stats (self, pad, now);

  GST_PARTIAL_MIX_UNLOCK (self);
  return s;
}

static void
count_bad_packets (GstPartialMix * self, guint64 * n_malformed,
    guint64 * n_unknown)
{
  GList *l;

  *n_malformed = self->n_malformed_gone + self->n_malformed_rtcp;
  *n_unknown = self->n_unknown_gone;
  for (l = self->sink_pads; l != NULL; l = l->next) {
    *n_malformed += GST_PARTIAL_MIX_SINK_PAD_CAST (l->data)->n_malformed;
    *n_unknown += GST_PARTIAL_MIX_SINK_PAD_CAST (l->data)->n_unknown;
  }
}

/* with the lock; adds "streams" */
static void
add_streams (GstPartialMix * self, GstStructure * s, GstClockTime now)
{
  GValue streams = G_VALUE_INIT;
  guint i;

  g_value_init (&streams, GST_TYPE_ARRAY);
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL)
      gst_fairmix_stats_append (&streams, stream_stats (stream, now));
  }
  gst_structure_take_value (s, "streams", &streams);
}

/* without the lock, which is taken for one pad after the other: whoever brings a
 * packet meanwhile waits for one of them at most */
static void
add_pads (GstPartialMix * self, GstStructure * s, GPtrArray * src_pads,
    GstClockTime now)
{
  GValue pads = G_VALUE_INIT;
  guint i;

  g_value_init (&pads, GST_TYPE_ARRAY);
  for (i = 0; i < src_pads->len; i++) {
    GstStructure *pad;

    GST_PARTIAL_MIX_LOCK (self);
    pad = pad_stats (self, g_ptr_array_index (src_pads, i), now);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_fairmix_stats_append (&pads, pad);
  }
  gst_structure_take_value (s, "pads", &pads);
}

GstStructure *
gst_partial_mix_create_stream_stats (GstPartialMix * self)
{
  GstStructure *s =
      gst_structure_new_empty ("application/x-fairmix-partialmix-streams");
  GstClockTime now = gst_partial_mix_lock_now (self);

  add_streams (self, s, now);
  GST_PARTIAL_MIX_UNLOCK (self);
  return s;
}

GstStructure *
gst_partial_mix_create_stats (GstPartialMix * self)
{
  GstClockTime now = gst_partial_mix_lock_now (self);
  guint64 n_malformed, n_unknown;
  GPtrArray *src_pads;
  GstStructure *s;

  count_bad_packets (self, &n_malformed, &n_unknown);
  s = gst_structure_new ("application/x-fairmix-partialmix-stats",
      "n-streams", G_TYPE_UINT, gst_partial_mix_table_n_streams (&self->table),
      "n-shared-mixes", G_TYPE_UINT, self->n_mixes,
      "n-decoded", G_TYPE_UINT64, self->counters.n_decoded,
      "n-encoded", G_TYPE_UINT64, self->counters.n_encoded,
      "n-forwarded", G_TYPE_UINT64, self->counters.n_forwarded,
      "n-refused", G_TYPE_UINT64, self->counters.n_refused,
      "n-collisions", G_TYPE_UINT64, self->counters.n_collisions,
      "n-displaced", G_TYPE_UINT64, self->counters.n_displaced,
      "n-intruders", G_TYPE_UINT64, self->counters.n_intruders,
      "n-loops", G_TYPE_UINT64, self->counters.n_loops,
      "n-disbelieved", G_TYPE_UINT64, self->counters.n_disbelieved,
      "n-malformed", G_TYPE_UINT64, n_malformed,
      "n-unknown-format", G_TYPE_UINT64, n_unknown,
      "n-messages-dropped", G_TYPE_UINT64,
      gst_fairmix_outbox_get_n_dropped (self->outbox), NULL);
  add_streams (self, s, now);
  src_pads = g_ptr_array_ref (self->src_pads);
  GST_PARTIAL_MIX_UNLOCK (self);

  add_pads (self, s, src_pads, now);
  g_ptr_array_unref (src_pads);
  return s;
}
