/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The arriving thread: notes each packet, gives it to the playout queue of its
 * stream where somebody hears it mixed, and has it pushed to every neighbour
 * that hears it separately.  Nothing is decoded or delayed here. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include "fairmix/base/fmx-units.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* packets after which it is looked where a stream comes from: it may move */
#define HOST_INTERVAL 64
/* To post a message takes as long as to send several packets: what a new voice means
 * to many listeners is told by the mixing thread. */
#define MAX_MESSAGES 8

/* One packet of a batch, found and noted. */
typedef struct
{
  GstPartialMixArrival arrival;
  GstPartialMixStream *stream;
  gint64 pos;
  gboolean placed;
  FmxContributorTime times[GST_PARTIAL_MIX_MAX_TIMES];  /* if it is of a mix */
  guint n_times;
} Packet;

/* -------------------------------------------------------------- reading -- */

static void
read_level (GstPartialMixSinkPad * pad, GstPartialMix * self,
    GstRTPBuffer * rtp, GstPartialMixArrival * arrival)
{
  gpointer data;
  guint size;
  guint8 level;
  bool voice;

  arrival->level = -1;
  arrival->silent = FALSE;
  if (pad->level_ext_id == 0)
    return;
  if (!gst_rtp_buffer_get_extension_onebyte_header (rtp,
          (guint8) pad->level_ext_id, 0, &data, &size)
      || !fmx_audio_level_parse (data, size, &level, &voice))
    return;
  arrival->level = level;
  arrival->silent = level >= self->settings.silence_level;
}

static GstClockTime
media_time (GstPartialMixSinkPad * pad, GstBuffer * buffer, GstClockTime now)
{
  GstClockTime media = GST_CLOCK_TIME_NONE;

  if (GST_BUFFER_PTS_IS_VALID (buffer) && pad->segment.format
      == GST_FORMAT_TIME)
    media = gst_segment_to_running_time (&pad->segment, GST_FORMAT_TIME,
        GST_BUFFER_PTS (buffer));
  return GST_CLOCK_TIME_IS_VALID (media) ? media : now;
}

static void
queue_for_mix (GstPartialMix * self, GstPartialMixSinkPad * pad,
    Packet * packet, GstClockTime now)
{
  GstPartialMixStream *stream = packet->stream;

  if (self->tells_times)
    gst_partial_mix_stream_keep_latest (stream, &packet->arrival);
  if (stream->n_mixed == 0 || !self->running || packet->arrival.unheard) {
    gst_partial_mix_stream_keep_recent (stream, packet->arrival.buffer);
    if (packet->arrival.unheard) {
      gst_partial_mix_stream_warm_up (stream);
      stream->leads_in = TRUE;
    }
    return;
  }
  if (packet->arrival.silent)
    gst_partial_mix_stream_keep_recent (stream, packet->arrival.buffer);
  packet->placed = gst_partial_mix_stream_enqueue (stream, &packet->arrival,
      media_time (pad, packet->arrival.buffer, now), self->mix_pos,
      &packet->pos);
}

/* Those who are not told again, since they are in it no more, would stay behind, and a voice
 * that comes out of it now would jump. */
static void
move_told (GstPartialMix * self, GstPartialMixStream * mix)
{
  guint i;

  if (mix->foretells != NULL)
    gst_partial_mix_foretold_move (mix->foretells, mix->moved);
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL)
      gst_partial_mix_stream_move_with (stream, mix);
  }
}

/* A mix tells where the streams are in it that come beside it, from the same mixer. */
static void
align_streams (GstPartialMix * self, const Packet * packet, GstClockTime now)
{
  guint i;

  if (packet->stream->tells && packet->stream->moved != 0)
    move_told (self, packet->stream);
  packet->stream->moved = 0;
  for (i = 0; packet->placed && i < packet->n_times; i++) {
    GstPartialMixStream *stream = gst_partial_mix_find_stream (self,
        packet->stream->neighbour, packet->times[i].ssrc);

    if (stream == NULL)
      gst_partial_mix_stream_foretell (packet->stream, &packet->times[i],
          packet->pos, now);
    else if (stream != packet->stream)
      gst_partial_mix_stream_align (stream, packet->stream, &packet->times[i],
          packet->pos, now);
  }
}

/* Whether a mix that comes in has one of ours in it: around a circle of mixers
 * everybody would hear himself, again and again [RFC3550 8.2]. */
static gboolean
names_our_mix (GstPartialMix * self, GstRTPBuffer * rtp)
{
  guint n = gst_rtp_buffer_get_csrc_count (rtp);
  guint i;

  for (i = 0; i < n; i++)
    if (gst_partial_mix_table_is_mix (&self->table,
            gst_rtp_buffer_get_csrc (rtp, (guint8) i))) {
      self->counters.n_loops++;
      return TRUE;
    }
  return FALSE;
}

/* Whether the packet is one of the stream's, or of a new beginning of it. */
static gboolean
belongs (GstPartialMix * self, GstPartialMixStream * stream,
    GstRTPBuffer * rtp, GstClockTime now)
{
  switch (gst_partial_mix_stream_check (stream, rtp, now)) {
    case FMX_RESTART_DOUBTFUL:
      stream->n_late++;
      return FALSE;
    case FMX_RESTART_YES:
      GST_INFO_OBJECT (stream->pad, "ssrc %08x begins anew", stream->ssrc);
      gst_partial_mix_restart_stream (self, stream);
      gst_partial_mix_stream_check (stream, rtp, now);
      return TRUE;
    default:
      return TRUE;
  }
}

/* Padding only: a probe, or keep-alive, for the hop that it came over.  Its number is none of
 * a stream's that goes further. */
static void
leave_out (GstPartialMixSinkPad * pad, GstBuffer * buffer, GstRTPBuffer * rtp)
{
  GstPartialMixStream *stream = g_hash_table_lookup (pad->streams,
      GUINT_TO_POINTER (gst_rtp_buffer_get_ssrc (rtp)));

  if (stream != NULL && !gst_fairmix_origin_is_other (&stream->source, buffer)) {
    fmx_restart_on_padding (&stream->restart, gst_rtp_buffer_get_seq (rtp));
    fmx_media_seq_leave_out (&stream->media_seq, gst_rtp_buffer_get_seq (rtp));
  }
}

/* with the lock */
static gboolean
note_packet (GstPartialMix * self, GstPartialMixSinkPad * pad, Packet * packet,
    GstClockTime now)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gboolean good;

  if (!gst_rtp_buffer_map (packet->arrival.buffer, GST_MAP_READ, &rtp)) {
    pad->n_malformed++;
    return FALSE;
  }
  good = gst_rtp_buffer_get_payload_len (&rtp) > 0
      && !names_our_mix (self, &rtp);
  if (gst_rtp_buffer_get_payload_len (&rtp) == 0)
    leave_out (pad, packet->arrival.buffer, &rtp);
  if (good) {
    packet->stream = gst_partial_mix_lookup (self, pad,
        packet->arrival.buffer, &rtp, now);
    good = packet->stream != NULL;
    if (good)
      gst_partial_mix_stream_ref (packet->stream);
  }
  good = good && belongs (self, packet->stream, &rtp, now);
  if (good && packet->stream->n_packets % HOST_INTERVAL == 0)
    gst_partial_mix_identity_set_host (&packet->stream->identity,
        gst_partial_mix_buffer_host (packet->arrival.buffer));
  if (good) {
    read_level (pad, self, &rtp, &packet->arrival);
    good = gst_partial_mix_stream_arrive (packet->stream, &packet->arrival,
        &rtp, now);
    if (!good)
      pad->n_malformed++;
    if (self->settings.align && pad->contributor_time_id != 0)
      packet->n_times = gst_partial_mix_times_read (&rtp,
          (guint8) pad->contributor_time_id, packet->times);
  }
  gst_rtp_buffer_unmap (&rtp);
  if (good) {
    queue_for_mix (self, pad, packet, now);
    align_streams (self, packet, now);
  }
  return good;
}

/* Whether any src pad is to see the packet: most of a crowd's are for the mix
 * alone, and not to be offered to every neighbour. */
static gboolean
concerns_links (GstPartialMix * self, const Packet * packet)
{
  GstPartialMixStream *stream = packet->stream;
  guint i;

  if (stream->unsettled) {
    stream->unsettled = FALSE;
    stream->settled_ts = 0;
    for (i = 0; i < self->listeners->len; i++)
      stream->settled_ts = MAX (stream->settled_ts,
          fmx_handover_settled_ts (&gst_partial_mix_listener_get_link
              (g_ptr_array_index (self->listeners, i), stream)->handover));
  }
  return packet->arrival.ext_ts < stream->settled_ts;
}

/* ----------------------------------------------------------- forwarding -- */

/* @returns: it is the first to be heard of a stream that comes out of a mix */
static GstBuffer *
make_outgoing (GstPartialMixSinkPad * pad, const Packet * packet, guint16 seq,
    guint8 pt, gboolean returns)
{
  GstPartialMixStream *stream = packet->stream;
  GstBuffer *buffer = gst_buffer_ref (packet->arrival.buffer);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  if (seq != packet->arrival.seq || packet->arrival.renumbered
      || stream->out_ssrc != stream->ssrc
      || pt != stream->format.pt || returns) {
    buffer = gst_buffer_make_writable (buffer);
    if (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp)) {
      gst_rtp_buffer_set_seq (&rtp, seq);
      gst_rtp_buffer_set_ssrc (&rtp, stream->out_ssrc);
      gst_rtp_buffer_set_payload_type (&rtp, pt);
      if (returns)
        gst_rtp_buffer_set_marker (&rtp, TRUE);
      gst_rtp_buffer_unmap (&rtp);
    }
  }
  if (!pad->segment_is_running_time && GST_BUFFER_PTS_IS_VALID (buffer)) {
    GstClockTime running = gst_segment_to_running_time (&pad->segment,
        GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));

    buffer = gst_buffer_make_writable (buffer);
    GST_BUFFER_PTS (buffer) = running;
    GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  }
  return buffer;
}

static void
deliver (GstPartialMixBatch * batch, GstPartialMixSrcPad * src, GstCaps * caps,
    GstBuffer * buffer, gboolean list)
{
  GstPartialMixDelivery *last = batch->n > 0
      ? gst_partial_mix_batch_at (batch, batch->n - 1) : NULL;
  GstBufferList *buffers;

  if (!list) {
    gst_partial_mix_batch_add (batch, &src->door, caps,
        GST_MINI_OBJECT (buffer));
  } else if (last != NULL && last->door == &src->door && last->caps == caps) {
    gst_buffer_list_add (GST_BUFFER_LIST (last->data), buffer);
  } else {
    buffers = gst_buffer_list_new ();
    gst_buffer_list_add (buffers, buffer);
    gst_partial_mix_batch_add (batch, &src->door, caps,
        GST_MINI_OBJECT (buffers));
  }
}

/* Where packets go in one go */
typedef struct
{
  GstPartialMix *self;
  GstPartialMixBatch *batch;
  gboolean list;
  GstClockTime now;
} Errand;

static void
forward (const Errand * errand, GstPartialMixSinkPad * pad,
    GstPartialMixSrcPad * src, const Packet * packet, gboolean returns)
{
  GstPartialMixListener *listener = &src->listener;
  GstPartialMixLink *link = gst_partial_mix_listener_get_link (listener,
      packet->stream);
  guint16 seq = packet->arrival.seq;
  guint8 pt;

  if (!gst_partial_mix_link_number (link, &seq))
    return;
  pt = gst_partial_mix_listener_pt (listener, link, &packet->stream->format);
  deliver (errand->batch, src, gst_partial_mix_payloads_caps
      (&listener->payloads, pt), make_outgoing (pad, packet, seq, pt, returns),
      errand->list);
  listener->n_forwarded_packets++;
  listener->n_forwarded_bytes += packet->arrival.wire_bytes;
  fmx_rate_meter_add (&listener->meter_out, packet->arrival.wire_bytes,
      errand->now);
  errand->self->counters.n_forwarded++;
}

/* A stream comes out of a mix, to who knows: what his decoder should have heard before
 * comes first. */
static void
forward_before (const Errand * errand, GstPartialMixSinkPad * pad,
    GstPartialMixSrcPad * src, const Packet * first)
{
  GstPartialMixStream *stream = first->stream;
  guint i;

  for (i = GST_PARTIAL_MIX_N_RECENT; i > 0; i--) {
    guint64 ext_seq = first->arrival.ext_seq - i;
    guint k = ext_seq % G_N_ELEMENTS (stream->latest);
    Packet before = {.stream = stream };

    if (stream->latest[k].buffer == NULL
        || stream->latest[k].ext_seq != ext_seq)
      continue;
    before.arrival.buffer = stream->latest[k].buffer;
    before.arrival.seq = (guint16) ext_seq;
    before.arrival.renumbered = TRUE;
    before.arrival.wire_bytes = (guint) gst_buffer_get_size
        (before.arrival.buffer) + FMX_IP_UDP_BYTES;
    forward (errand, pad, src, &before, FALSE);
  }
}

/* with the lock */
static void
distribute (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GArray * packets, const Errand * errand)
{
  guint i, k;

  for (k = 0; k < self->src_pads->len; k++) {
    GstPartialMixSrcPad *src = g_ptr_array_index (self->src_pads, k);
    GstPartialMixListener *listener = &src->listener;

    for (i = 0; i < packets->len; i++) {
      Packet *packet = &g_array_index (packets, Packet, i);
      GstPartialMixLink *link;
      gboolean returns;

      if (packet->stream->removed)
        continue;
      link = gst_partial_mix_listener_get_link (listener, packet->stream);
      if (packet->placed)
        gst_partial_mix_link_placed (link, packet->stream,
            packet->arrival.ext_ts, packet->pos);
      if (!fmx_handover_forwards (&link->handover, packet->arrival.ext_ts))
        continue;
      if (packet->arrival.unheard && listener->payloads.time_id == 0) {
        fmx_renumber_drop (&link->renumber, packet->arrival.seq);
        continue;
      }
      returns = listener->payloads.time_id != 0
          && gst_partial_mix_link_returns (link);
      if (returns && link->renumber.started)
        forward_before (errand, pad, src, packet);
      forward (errand, pad, src, packet, returns);
    }
  }
}

/* ---------------------------------------------------------------- chain -- */

static void
packet_clear (gpointer data)
{
  Packet *packet = data;

  if (packet->stream != NULL)
    gst_partial_mix_stream_unref (packet->stream);
}

static GArray *
packets_new (guint n)
{
  GArray *packets = g_array_sized_new (FALSE, FALSE, sizeof (Packet), n);

  g_array_set_clear_func (packets, packet_clear);
  return packets;
}

static gboolean
collect (GstBuffer ** buffer, guint idx, gpointer user_data)
{
  GArray *packets = user_data;
  Packet packet = {.arrival = {.buffer = *buffer} };

  g_array_append_val (packets, packet);
  return TRUE;
}

/* A neighbour that cannot be reached is nobody else's trouble: whatever the
 * src pads say, the others go on. */
static GstFlowReturn
process (GstPartialMix * self, GstPartialMixSinkPad * pad, GArray * packets,
    gboolean list)
{
  Errand errand = {.self = self,.list = list };
  GstClockTime now;
  gboolean alone, mixes;
  guint n_concern = 0;
  guint i;

  if (g_atomic_int_get (&self->unasked))
    gst_partial_mix_negotiate_first (self);
  now = errand.now = gst_partial_mix_lock_now (self);
  for (i = 0; i < packets->len; i++) {
    Packet *packet = &g_array_index (packets, Packet, i);
    Packet *kept = &g_array_index (packets, Packet, n_concern);
    Packet note;

    if (!note_packet (self, pad, packet, now)
        || packet->stream->pad != GST_PAD (pad) /* who hears it moved on */
        || !concerns_links (self, packet))
      continue;
    note = *packet;
    *packet = *kept;
    *kept = note;
    n_concern++;
  }
  g_array_set_size (packets, n_concern);
  errand.batch = gst_partial_mix_batch_new (self->src_pads,
      self->src_pads->len);
  distribute (self, pad, packets, &errand);
  alone = self->src_pads->len == 1;
  mixes = self->running;
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_partial_mix_couriers_deliver (self->couriers, errand.batch, alone);
  if (!mixes || gst_fairmix_outbox_get_n (self->outbox) <= MAX_MESSAGES)
    gst_partial_mix_post_messages (self);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_partial_mix_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GArray *packets = packets_new (1);
  GstFlowReturn ret;

  collect (&buffer, 0, packets);
  ret =
      process (GST_PARTIAL_MIX_CAST (parent),
      GST_PARTIAL_MIX_SINK_PAD_CAST (pad), packets, FALSE);
  g_array_unref (packets);
  gst_buffer_unref (buffer);
  return ret;
}

GstFlowReturn
gst_partial_mix_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GArray *packets = packets_new (gst_buffer_list_length (list));
  GstFlowReturn ret;

  gst_buffer_list_foreach (list, collect, packets);
  ret =
      process (GST_PARTIAL_MIX_CAST (parent),
      GST_PARTIAL_MIX_SINK_PAD_CAST (pad), packets, TRUE);
  g_array_unref (packets);
  gst_buffer_list_unref (list);
  return ret;
}
