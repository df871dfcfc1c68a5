/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One incoming stream: what arrives, when it is played, and its samples. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixstream.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/mix/fmx-level.h"
#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-kernels.h"
#include "fairmix/select/fmx-select.h"
#include "fairmix/wire/fmx-audio-level.h"

GST_DEBUG_CATEGORY_EXTERN (gst_partial_mix_debug);
#define GST_CAT_DEFAULT gst_partial_mix_debug

/* a hole that is shorter than this is rounding, not loss */
#define SNAP_MS 1
#define MAX_CONCEAL_MS 120
#define SPLICE_MS 5
#define PCM_CAPACITY (2 * GST_PARTIAL_MIX_MAX_PACKET_SAMPLES + 9600)

GstPartialMixStream *
gst_partial_mix_stream_new (guint32 ssrc, GstPad * pad,
    const GstPartialMixFormat * format, guint rate_hz, guint frame_samples)
{
  GstPartialMixStream *stream = g_new0 (GstPartialMixStream, 1);

  stream->refcount = 1;
  stream->ssrc = stream->out_ssrc = ssrc;
  stream->pad = gst_object_ref (pad);
  stream->key = ((guint64) g_random_int () << 32) | g_random_int ();
  stream->format = *format;
  stream->rate_hz = rate_hz;
  stream->level = FMX_LEVEL_SILENCE;
  fmx_select_activity_init (&stream->activity);
  stream->info.gain = 1.0f;
  stream->info.pan = NAN;
  stream->next_pos = FMX_POSITION_UNKNOWN;
  stream->pcm_pos = FMX_POSITION_UNKNOWN;
  stream->decoder_cold = TRUE;
  stream->frame = g_new0 (gint16, frame_samples);
  g_queue_init (&stream->queue);
  g_queue_init (&stream->due);
  fmx_stream_cost_init (&stream->cost);
  return stream;
}

GstPartialMixStream *
gst_partial_mix_stream_ref (GstPartialMixStream * stream)
{
  g_atomic_int_inc (&stream->refcount);
  return stream;
}

static void
packet_free (GstPartialMixPacket * packet)
{
  gst_buffer_unref (packet->buffer);
  g_free (packet);
}

static void
clear_buffers (GstBuffer ** buffers)
{
  guint i;

  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++)
    gst_clear_buffer (&buffers[i]);
}

void
gst_partial_mix_stream_unref (GstPartialMixStream * stream)
{
  if (!g_atomic_int_dec_and_test (&stream->refcount))
    return;

  g_queue_clear_full (&stream->queue, (GDestroyNotify) packet_free);
  g_queue_clear_full (&stream->due, (GDestroyNotify) packet_free);
  clear_buffers (stream->recent);
  clear_buffers (stream->warm);
  if (stream->decoder != NULL)
    gst_partial_mix_decoder_free (stream->decoder);
  gst_object_unref (stream->pad);
  g_free (stream->cname);
  g_free (stream->pcm);
  g_free (stream->tail);
  g_free (stream->frame);
  g_free (stream);
}

/* -------------------------------------------------------------- arrival -- */

static void
note_cost (GstPartialMixStream * stream, GstPartialMixArrival * arrival,
    GstClockTime now)
{
  const FmxStreamCostPacket packet = {
    .wire_bytes = arrival->wire_bytes,
    .duration = (FmxDuration) gst_util_uint64_scale_int (arrival->duration_ts,
        GST_SECOND, (gint) stream->format.clock_rate),
    .silent = arrival->silent,
  };

  fmx_stream_cost_add (&stream->cost, &packet, now);
  stream->last_arrival = now;
}

static void
note_level (GstPartialMixStream * stream, gint level, GstClockTime now)
{
  if (level < 0)
    return;
  stream->has_level = TRUE;
  fmx_select_activity_add (&stream->activity, (guint8) level, now);
}

gboolean
gst_partial_mix_stream_arrive (GstPartialMixStream * stream,
    GstPartialMixArrival * arrival, GstRTPBuffer * rtp, GstClockTime now)
{
  guint8 *payload = gst_rtp_buffer_get_payload (rtp);

  arrival->payload_size = gst_rtp_buffer_get_payload_len (rtp);
  arrival->seq = gst_rtp_buffer_get_seq (rtp);
  arrival->marker = gst_rtp_buffer_get_marker (rtp);
  arrival->wire_bytes = (guint) gst_buffer_get_size (arrival->buffer)
      + FMX_IP_UDP_BYTES;
  arrival->duration_ts = gst_partial_mix_format_duration (&stream->format,
      payload, arrival->payload_size);
  if (arrival->duration_ts == 0)
    return FALSE;

  arrival->silent = arrival->silent
      || gst_partial_mix_format_is_dtx (&stream->format, arrival->payload_size);
  arrival->ext_seq = fmx_serial_extend16 (&stream->seq_serial, arrival->seq);
  arrival->ext_ts = fmx_serial_extend32 (&stream->ts_serial,
      gst_rtp_buffer_get_timestamp (rtp));

  if (!stream->started || arrival->ext_seq >= stream->next_seq) {
    stream->started = TRUE;
    stream->next_seq = arrival->ext_seq + 1;
    stream->next_ts = arrival->ext_ts + arrival->duration_ts;
  }
  stream->n_packets++;
  stream->n_names = gst_rtp_buffer_get_csrc_count (rtp);
  note_cost (stream, arrival, now);
  note_level (stream, arrival->level, now);
  return TRUE;
}

void
gst_partial_mix_stream_weigh (GstPartialMixStream * stream, GstClockTime now)
{
  if (stream->weighed_at == now && stream->wire_bps > 0)
    return;
  stream->wire_bps = fmx_stream_cost_bps (&stream->cost, now);
  /* What is forwarded is not decoded: without levels in its packets it keeps
   * what was heard of it last, or it would lose its place as if silent. */
  if (stream->has_level || stream->n_mixed > 0
      || !fmx_stream_cost_speaks (&stream->cost, now))
    stream->level = fmx_select_activity_level (&stream->activity, now);
  stream->weighed_at = now;
}

gboolean
gst_partial_mix_stream_is_news (GstPartialMixStream * stream, GstClockTime now)
{
  gst_partial_mix_stream_weigh (stream, now);
  return fmx_stream_news_update (&stream->news, stream->wire_bps,
      stream->level);
}

void
gst_partial_mix_stream_keep_recent (GstPartialMixStream * stream,
    GstBuffer * buffer)
{
  gst_buffer_replace (&stream->recent[stream->recent_next], buffer);
  stream->recent_next = (stream->recent_next + 1) % GST_PARTIAL_MIX_N_RECENT;
}

/* -------------------------------------------------------------- playout -- */

static gint
compare_packets (gconstpointer a, gconstpointer b, gpointer user_data)
{
  const GstPartialMixPacket *pa = a, *pb = b;

  if (pa->pos != pb->pos)
    return pa->pos < pb->pos ? -1 : 1;
  return pa->ext_seq < pb->ext_seq ? -1 : pa->ext_seq > pb->ext_seq;
}

static void
insert_packet (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival, gint64 pos, gboolean cut)
{
  GstPartialMixPacket *packet = g_new (GstPartialMixPacket, 1);
  GstPartialMixPacket *last = g_queue_peek_tail (&stream->queue);

  packet->buffer = gst_buffer_ref (arrival->buffer);
  packet->ext_seq = arrival->ext_seq;
  packet->pos = pos;
  packet->silent = arrival->silent;
  packet->cut = cut;

  if (stream->queue.length >= GST_PARTIAL_MIX_MAX_QUEUE)
    packet_free (g_queue_pop_head (&stream->queue));
  if (last == NULL || last->pos < pos)
    g_queue_push_tail (&stream->queue, packet);
  else
    g_queue_insert_sorted (&stream->queue, packet, compare_packets, NULL);
}

gboolean
gst_partial_mix_stream_enqueue (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival, GstClockTime media, gint64 line,
    gint64 * pos)
{
  guint rate = stream->rate_hz;
  FmxTime now = gst_util_uint64_scale_int ((guint64) line, GST_SECOND,
      (gint) rate);
  FmxPlayoutPacket packet = {.ext_seq = arrival->ext_seq,
    .talkspurt = arrival->marker,.quiet = arrival->silent
  };
  FmxPlayoutDecision decision;
  guint64 behind;

  if (!stream->anchored) {
    stream->anchored = TRUE;
    stream->anchor_ts = arrival->ext_ts;
    stream->anchor_media = media;
    fmx_playout_reset (&stream->playout);
  }
  if (arrival->ext_ts >= stream->anchor_ts) {
    packet.media = stream->anchor_media
        + gst_util_uint64_scale_int (arrival->ext_ts - stream->anchor_ts,
        GST_SECOND, (gint) stream->format.clock_rate);
  } else {
    behind = gst_util_uint64_scale_int (stream->anchor_ts - arrival->ext_ts,
        GST_SECOND, (gint) stream->format.clock_rate);
    packet.media = stream->anchor_media > behind
        ? stream->anchor_media - behind : 0;
  }
  packet.duration = (FmxDuration) gst_util_uint64_scale_int
      (arrival->duration_ts, GST_SECOND, (gint) stream->format.clock_rate);

  decision = fmx_playout_on_packet (&stream->playout, &packet, now);
  stream->delay = decision.delay;
  if (decision.adjusted != 0 || decision.action != FMX_PLAYOUT_PLAY)
    GST_DEBUG_OBJECT (stream->pad, "ssrc %08x seq %" G_GUINT64_FORMAT
        ": action %d, playout delay %+" G_GINT64_FORMAT " to %"
        G_GINT64_FORMAT " us", stream->ssrc, arrival->ext_seq,
        decision.action, decision.adjusted / 1000, decision.delay / 1000);
  if (decision.action == FMX_PLAYOUT_DROP_MONITOR) {
    stream->n_shortened++;
    if (stream->next_pos != FMX_POSITION_UNKNOWN)
      insert_packet (stream, arrival, stream->next_pos, TRUE);
    return FALSE;
  }
  if (decision.action != FMX_PLAYOUT_PLAY) {
    stream->n_late++;
    return FALSE;
  }

  *pos = (gint64) gst_util_uint64_scale_int_round (decision.playout,
      (gint) rate, GST_SECOND);
  insert_packet (stream, arrival, *pos, FALSE);
  if (arrival->ext_seq + 1 == stream->next_seq)
    stream->next_pos = fmx_media_position (stream->next_ts, arrival->ext_ts,
        *pos, stream->format.clock_rate, rate);
  return TRUE;
}

void
gst_partial_mix_stream_take_due (GstPartialMixStream * stream, gint64 end)
{
  GstPartialMixPacket *packet;
  guint i;

  while ((packet = g_queue_peek_head (&stream->queue)) != NULL
      && packet->pos < end)
    g_queue_push_tail (&stream->due, g_queue_pop_head (&stream->queue));

  stream->wanted = stream->n_mixed > 0;
  if (stream->fresh && stream->due.length > 0) {
    stream->fresh = FALSE;
    stream->decoder_cold = TRUE;
    stream->pcm_pos = FMX_POSITION_UNKNOWN;
  }
  stream->gain = stream->info.gain;
  if (stream->due.length == 0 || !stream->decoder_cold)
    return;
  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++) {
    guint from = (stream->recent_next + i) % GST_PARTIAL_MIX_N_RECENT;

    gst_clear_buffer (&stream->warm[i]);
    stream->warm[i] = g_steal_pointer (&stream->recent[from]);
  }
}

void
gst_partial_mix_stream_flush (GstPartialMixStream * stream)
{
  g_queue_clear_full (&stream->queue, (GDestroyNotify) packet_free);
  clear_buffers (stream->recent);
  stream->anchored = FALSE;
  stream->fresh = TRUE;
  stream->started = FALSE;
  stream->seq_serial.valid = FALSE;
  stream->ts_serial.valid = FALSE;
  fmx_restart_init (&stream->restart);
  stream->unsettled = TRUE;
  stream->next_pos = FMX_POSITION_UNKNOWN;
}

/* -------------------------------------------------- samples of one tick -- */

static gboolean
map_payload (GstBuffer * buffer, GstRTPBuffer * rtp)
{
  return gst_rtp_buffer_map (buffer, GST_MAP_READ, rtp);
}

/* Decodes the packets before this one for nothing but the decoder's state, so
 * that a stream that enters a mix does not have to fade in. */
static void
warm_up (GstPartialMixStream * stream)
{
  gint16 scratch[GST_PARTIAL_MIX_MAX_PACKET_SAMPLES];
  guint i;

  gst_partial_mix_decoder_reset (stream->decoder);
  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++) {
    GstBuffer *buffer = g_steal_pointer (&stream->warm[i]);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (buffer != NULL && map_payload (buffer, &rtp)) {
      gst_partial_mix_decoder_decode (stream->decoder,
          gst_rtp_buffer_get_payload (&rtp),
          gst_rtp_buffer_get_payload_len (&rtp), scratch);
      gst_rtp_buffer_unmap (&rtp);
    }
    gst_clear_buffer (&buffer);
  }
}

static void
append_silence (GstPartialMixStream * stream, guint n)
{
  n = MIN (n, PCM_CAPACITY - stream->pcm_len);
  memset (stream->pcm + stream->pcm_len, 0, n * sizeof (gint16));
  stream->pcm_len += n;
}

/* What comes after a concealment does not join it by itself. */
static void
continue_tail (GstPartialMixStream * stream)
{
  stream->n_tail = gst_partial_mix_decoder_go_on (stream->decoder,
      stream->tail, SPLICE_MS * stream->rate_hz / 1000);
}

static void
append_concealment (GstPartialMixStream * stream, guint n, GstRTPBuffer * next)
{
  guint limit = MAX_CONCEAL_MS * stream->rate_hz / 1000;
  guint made = stream->concealed < limit ? MIN (n, limit - stream->concealed)
      : 0;

  made = MIN (made, GST_PARTIAL_MIX_MAX_PACKET_SAMPLES);
  made = MIN (made, PCM_CAPACITY - stream->pcm_len);
  if (made > 0 && stream->decoder != NULL && !stream->decoder_cold) {
    gst_partial_mix_decoder_conceal (stream->decoder,
        next != NULL && made == n ? gst_rtp_buffer_get_payload (next) : NULL,
        next != NULL ? gst_rtp_buffer_get_payload_len (next) : 0,
        stream->pcm + stream->pcm_len, made);
    stream->pcm_len += made;
    stream->concealed += made;
    continue_tail (stream);
    stream->n_new_concealed++;
    n -= made;
  }
  append_silence (stream, n);
}

static gboolean
prepare_decoder (GstPartialMixStream * stream)
{
  if (stream->decoder == NULL && !stream->failed) {
    stream->decoder = gst_partial_mix_decoder_new (&stream->format,
        stream->rate_hz);
    stream->failed = stream->decoder == NULL;
  }
  if (stream->decoder != NULL && stream->decoder_cold) {
    warm_up (stream);
    stream->decoder_cold = FALSE;
  }
  return stream->decoder != NULL;
}

static void
read_names (GstPartialMixStream * stream, GstRTPBuffer * rtp)
{
  GstPartialMixNames *names = &stream->names;
  gpointer data;
  guint size, i;

  names->n = gst_rtp_buffer_get_csrc_count (rtp);
  for (i = 0; i < names->n; i++)
    names->ssrcs[i] = gst_rtp_buffer_get_csrc (rtp, (guint8) i);
  names->has_levels = names->n > 0 && stream->csrc_level_ext_id != 0
      && gst_rtp_buffer_get_extension_onebyte_header (rtp,
      (guint8) stream->csrc_level_ext_id, 0, &data, &size)
      && fmx_csrc_audio_levels_parse (data, size, names->levels, FMX_CSRC_MAX)
      == names->n;
}

static guint
decode_packet (GstPartialMixStream * stream, GstRTPBuffer * rtp, gint16 * out)
{
  guint n = gst_partial_mix_decoder_decode (stream->decoder,
      gst_rtp_buffer_get_payload (rtp), gst_rtp_buffer_get_payload_len (rtp),
      out);

  read_names (stream, rtp);
  stream->n_new_decoded++;
  stream->concealed = 0;
  return n;
}

static void
keep_tail (GstPartialMixStream * stream, const gint16 * samples, guint n)
{
  stream->n_tail = MIN (n, SPLICE_MS * stream->rate_hz / 1000);
  memcpy (stream->tail, samples, stream->n_tail * sizeof (gint16));
}

static void
append_packet (GstPartialMixStream * stream, GstPartialMixPacket * packet,
    GstRTPBuffer * rtp)
{
  gint64 end = stream->pcm_pos + stream->pcm_len;
  gint64 hole = packet->pos - end;
  gint64 snap = SNAP_MS * stream->rate_hz / 1000;
  gint64 skip = 0;
  gint16 *out;
  guint n;

  if (hole > snap || hole < -snap)
    GST_DEBUG_OBJECT (stream->pad, "ssrc %08x seq %" G_GUINT64_FORMAT
        ": hole of %" G_GINT64_FORMAT " samples", stream->ssrc,
        packet->ext_seq, hole);
  if (hole > snap) {
    /* the next packet tells of one that was lost, not of one that is late */
    gboolean lost = packet->ext_seq != stream->decoded_seq + 1;

    append_concealment (stream, (guint) MIN (hole, G_MAXINT32),
        lost ? rtp : NULL);
    if (hole > PCM_CAPACITY) {
      stream->pcm_pos = packet->pos;
      stream->pcm_len = 0;
    }
  } else if (hole < -snap) {
    skip = -hole;
  }
  if (stream->pcm_len + GST_PARTIAL_MIX_MAX_PACKET_SAMPLES > PCM_CAPACITY)
    return;

  out = stream->pcm + stream->pcm_len;
  n = decode_packet (stream, rtp, out);
  stream->decoded_seq = packet->ext_seq;
  /* of several that are cut, the first is what would have come */
  if ((packet->cut || skip > 0) && stream->n_tail == 0)
    keep_tail (stream, out, n);
  if (packet->cut)
    return;
  skip = MIN (skip, n);
  n -= (guint) skip;
  if (skip > 0)
    memmove (out, out + skip, n * sizeof (gint16));
  if (stream->n_tail > 0)
    fmx_mix_cross_fade (out, stream->tail, MIN (stream->n_tail, n));
  stream->n_tail = 0;
  stream->pcm_len += n;
}

static void
decode_due (GstPartialMixStream * stream)
{
  GstPartialMixPacket *packet;

  while ((packet = g_queue_pop_head (&stream->due)) != NULL) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (packet->silent) {
      /* neither decoded nor concealed; the decoder starts afresh after it */
      stream->decoder_cold = TRUE;
    } else if (prepare_decoder (stream) && map_payload (packet->buffer, &rtp)) {
      if (stream->pcm_pos == FMX_POSITION_UNKNOWN) {
        stream->pcm_pos = packet->pos;
        stream->pcm_len = 0;
      }
      append_packet (stream, packet, &rtp);
      gst_rtp_buffer_unmap (&rtp);
    }
    packet_free (packet);
  }
}

/* Copies [pos, pos + n) to the frame and drops what lies before its end. */
static void
cut_frame (GstPartialMixStream * stream, gint64 pos, guint n)
{
  gint64 offset = pos - stream->pcm_pos;
  guint from = 0;
  guint have;

  memset (stream->frame, 0, n * sizeof (gint16));
  if (stream->pcm_pos == FMX_POSITION_UNKNOWN)
    return;
  if (offset < 0) {
    from = (guint) MIN (-offset, n);
    offset = 0;
  }
  if (offset < stream->pcm_len) {
    have = MIN ((guint) (stream->pcm_len - offset), n - from);
    memcpy (stream->frame + from, stream->pcm + offset, have * sizeof (gint16));
  }

  offset = CLAMP (pos + n - stream->pcm_pos, 0, (gint64) stream->pcm_len);
  stream->pcm_len -= (guint) offset;
  memmove (stream->pcm, stream->pcm + offset,
      stream->pcm_len * sizeof (gint16));
  stream->pcm_pos += offset;
  if (stream->pcm_len == 0 && stream->pcm_pos < pos + n)
    stream->pcm_pos = FMX_POSITION_UNKNOWN;
}

/* What has not come by now, up to @end; some of the stream has. */
static void
conceal_end (GstPartialMixStream * stream, gint64 end)
{
  gint64 have = stream->pcm_pos + stream->pcm_len;

  if (have < end && stream->wanted && !stream->decoder_cold
      && stream->concealed < MAX_CONCEAL_MS * stream->rate_hz / 1000)
    append_concealment (stream, (guint) (end - have), NULL);
}

/* More than full scale does not fit into a frame, but into the sum: a voice that
 * is raised is added several times. */
static void
apply_gain (GstPartialMixStream * stream, guint n)
{
  gfloat gain = stream->gain;

  stream->weight = 1;
  while (gain > 1.0f) {
    stream->weight *= 2;
    gain /= 2.0f;
  }
  fmx_mix_scale (stream->frame, n, gain);
}

/* Nothing came and nothing is left: how a silent stream looks. */
static gboolean
is_idle (GstPartialMixStream * stream)
{
  return stream->due.length == 0 && stream->hangover == 0
      && stream->pcm_pos == FMX_POSITION_UNKNOWN;
}

void
gst_partial_mix_stream_render (GstPartialMixStream * stream, gint64 pos,
    guint n, guint8 silence_level, guint hangover_ticks)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();

  stream->frame_active = FALSE;
  stream->frame_level = FMX_LEVEL_SILENCE;
  if (is_idle (stream))
    return;
  if (stream->pcm == NULL)
    stream->pcm = g_new (gint16, PCM_CAPACITY);
  if (stream->tail == NULL)
    stream->tail = g_new (gint16, SPLICE_MS * stream->rate_hz / 1000);

  decode_due (stream);
  if (stream->pcm_pos != FMX_POSITION_UNKNOWN)
    conceal_end (stream, pos + n);
  cut_frame (stream, pos, n);
  apply_gain (stream, n);

  stream->frame_level = fmx_level_from_energy (kernels->energy (stream->frame,
          n) * stream->weight * stream->weight, n);
  if (stream->frame_level < silence_level)
    stream->hangover = hangover_ticks;
  else if (stream->hangover > 0)
    stream->hangover--;
  stream->frame_active = stream->hangover > 0;
}

void
gst_partial_mix_stream_note_frame (GstPartialMixStream * stream,
    GstClockTime now)
{
  if (!stream->has_level)
    fmx_select_activity_add (&stream->activity, stream->frame_level, now);
}
