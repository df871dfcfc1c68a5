/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One incoming stream: what arrives, when it is played, and its samples. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixstream.h"
#include "gstpartialmixdebug.h"

#include <math.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/select/fmx-select.h"
#include "fairmix/wire/fmx-audio-level.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

#define N_WARM 3                /* where nobody brings what came before: all are kept */

GstPartialMixStream *
gst_partial_mix_stream_new (guint32 ssrc, GstPad * pad,
    const GstPartialMixFormat * format, guint rate_hz)
{
  GstPartialMixStream *stream = g_new0 (GstPartialMixStream, 1);

  stream->refcount = 1;
  stream->ssrc = stream->out_ssrc = ssrc;
  stream->pad = gst_object_ref (pad);
  stream->key = ((guint64) g_random_int () << 32) | g_random_int ();
  stream->format = *format;
  stream->rate_hz = rate_hz;
  stream->level = FMX_LEVEL_SILENCE;
  stream->n_recent = N_WARM;
  stream->told_level = -1;
  fmx_select_activity_init (&stream->activity);
  fmx_alignment_init (&stream->alignment);
  stream->foretold.told_at = GST_CLOCK_TIME_NONE;
  stream->info.gain = 1.0f;
  stream->info.pan = NAN;
  stream->next_pos = stream->leaves_at = FMX_POSITION_UNKNOWN;
  gst_partial_mix_voice_init (&stream->voice, ssrc, format, rate_hz);
  g_queue_init (&stream->queue);
  fmx_stream_cost_init (&stream->cost);
  return stream;
}

static void
forget_latest (GstPartialMixStream * stream)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (stream->latest); i++)
    gst_clear_buffer (&stream->latest[i].buffer);
}

GstPartialMixStream *
gst_partial_mix_stream_ref (GstPartialMixStream * stream)
{
  g_atomic_int_inc (&stream->refcount);
  return stream;
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

  g_queue_clear_full (&stream->queue,
      (GDestroyNotify) gst_partial_mix_packet_free);
  g_free (stream->playout);
  g_free (stream->foretells);
  g_clear_pointer (&stream->path, gst_partial_mix_path_unref);
  clear_buffers (stream->recent);
  forget_latest (stream);
  gst_partial_mix_voice_clear (&stream->voice);
  g_clear_object (&stream->source);
  g_clear_object (&stream->former_source);
  gst_object_unref (stream->pad);
  gst_partial_mix_identity_clear (&stream->identity);
  g_free (stream);
}

/* -------------------------------------------------------------- arrival -- */

/* Where the buffers do not tell from where they come, a sender that begins anew
 * looks like a second source that has taken its SSRC; it is the same one when the
 * first has been silent for as long. */
#define RESTART_SILENCE (100 * GST_MSECOND)

FmxRestartVerdict
gst_partial_mix_stream_check (GstPartialMixStream * stream, GstRTPBuffer * rtp,
    GstClockTime now)
{
  return fmx_restart_on_packet (&stream->restart, gst_rtp_buffer_get_seq (rtp),
      gst_rtp_buffer_get_timestamp (rtp), stream->format.clock_rate,
      stream->source != NULL ? 0 : (FmxDuration) RESTART_SILENCE, now);
}

static FmxStreamCostPacket
cost_of (const GstPartialMixStream * stream, guint wire_bytes,
    guint32 duration_ts, gboolean silent)
{
  return (FmxStreamCostPacket) {
  .wire_bytes = wire_bytes,.duration =
        (FmxDuration) gst_util_uint64_scale_int (duration_ts, GST_SECOND,
        (gint) stream->format.clock_rate),.silent = silent,};
}

static guint
wire_bytes_of (GstBuffer * buffer)
{
  return (guint) gst_buffer_get_size (buffer) + FMX_IP_UDP_BYTES;
}

static void
note_cost (GstPartialMixStream * stream, GstPartialMixArrival * arrival,
    GstClockTime now)
{
  const FmxStreamCostPacket packet = cost_of (stream, arrival->wire_bytes,
      arrival->duration_ts, arrival->silent);

  fmx_stream_cost_add (&stream->cost, &packet, now);
  stream->last_arrival = now;
}

void
gst_partial_mix_stream_weigh_first (GstPartialMixStream * stream,
    GstBuffer * buffer, GstRTPBuffer * rtp, GstClockTime now)
{
  guint size = gst_rtp_buffer_get_payload_len (rtp);
  FmxStreamCostPacket packet = cost_of (stream, wire_bytes_of (buffer),
      gst_partial_mix_format_duration (&stream->format,
          gst_rtp_buffer_get_payload (rtp), size),
      gst_partial_mix_format_is_dtx (&stream->format, size));
  FmxStreamCost cost = stream->cost;

  if (packet.duration == 0)
    return;
  fmx_stream_cost_add (&cost, &packet, now);
  stream->wire_bps = fmx_stream_cost_bps (&cost, now);
  stream->weighed_at = now;
}

static void
note_level (GstPartialMixStream * stream, gint level, GstClockTime now)
{
  if (level < 0)
    return;
  stream->has_level = TRUE;
  fmx_select_activity_add (&stream->activity, (guint8) level, now);
}

/* A stream that comes out of a mix begins with what a decoder should have heard before;
 * the marker is in the first packet that is to be heard. */
static void
note_return (GstPartialMixStream * stream, GstPartialMixArrival * arrival)
{
  if (stream->leaves_at == FMX_POSITION_UNKNOWN)
    return;
  arrival->unheard = !arrival->marker
      && stream->n_unheard++ < GST_PARTIAL_MIX_N_RECENT;
  if (arrival->unheard && stream->n_recent < GST_PARTIAL_MIX_N_RECENT) {
    clear_buffers (stream->recent);
    stream->n_recent = GST_PARTIAL_MIX_N_RECENT;
    stream->recent_next = 0;
  }
  if (!arrival->unheard)
    stream->leaves_at = FMX_POSITION_UNKNOWN;
}

static gboolean
is_foretold (const GstPartialMixStream * stream)
{
  return GST_CLOCK_TIME_IS_VALID (stream->foretold.told_at);
}

gboolean
gst_partial_mix_stream_arrive (GstPartialMixStream * stream,
    GstPartialMixArrival * arrival, GstRTPBuffer * rtp, GstClockTime now)
{
  guint8 *payload = gst_rtp_buffer_get_payload (rtp);

  arrival->payload_size = gst_rtp_buffer_get_payload_len (rtp);
  arrival->seq = fmx_media_seq_pass (&stream->media_seq,
      gst_rtp_buffer_get_seq (rtp));
  arrival->renumbered = arrival->seq != gst_rtp_buffer_get_seq (rtp);
  arrival->marker = gst_rtp_buffer_get_marker (rtp);
  arrival->wire_bytes = wire_bytes_of (arrival->buffer);
  arrival->duration_ts = gst_partial_mix_format_duration (&stream->format,
      payload, arrival->payload_size);
  if (arrival->duration_ts == 0)
    return FALSE;

  /* what GStreamer tells of a packet is the level of its beginning alone */
  arrival->silent = gst_partial_mix_format_is_dtx (&stream->format,
      arrival->payload_size) || (arrival->silent
      && !gst_partial_mix_format_has_voice (&stream->format, payload,
          arrival->payload_size));
  arrival->ext_seq = fmx_serial_extend16 (&stream->seq_serial, arrival->seq);
  arrival->ext_ts = fmx_serial_extend32 (&stream->ts_serial,
      gst_rtp_buffer_get_timestamp (rtp));

  if (!stream->started && is_foretold (stream) && stream->foretold.time.mixed)
    stream->leaves_at = gst_util_uint64_scale_int ((guint64)
        stream->foretold.at, (gint) stream->rate_hz, GST_SECOND);
  if (!stream->started || arrival->ext_seq >= stream->next_seq) {
    stream->started = TRUE;
    stream->next_seq = arrival->ext_seq + 1;
    stream->next_ts = arrival->ext_ts + arrival->duration_ts;
    stream->next_at = now + gst_util_uint64_scale_int (arrival->duration_ts,
        GST_SECOND, (gint) stream->format.clock_rate);
  }
  note_return (stream, arrival);
  stream->n_packets++;
  stream->n_names = gst_rtp_buffer_get_csrc_count (rtp);
  note_cost (stream, arrival, now);
  note_level (stream, arrival->level, now);
  stream->told_level = stream->n_names > 0 ? -1 : arrival->level;
  stream->told_duration = gst_util_uint64_scale_int (arrival->duration_ts,
      GST_SECOND, (gint) stream->format.clock_rate);
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
gst_partial_mix_stream_keep_latest (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival)
{
  guint i = arrival->ext_seq % G_N_ELEMENTS (stream->latest);

  stream->n_recent = GST_PARTIAL_MIX_N_RECENT;  /* they are kept in any case */
  stream->latest[i].ext_seq = arrival->ext_seq;
  gst_buffer_replace (&stream->latest[i].buffer, arrival->buffer);
}

void
gst_partial_mix_stream_keep_recent (GstPartialMixStream * stream,
    GstBuffer * buffer)
{
  gst_buffer_replace (&stream->recent[stream->recent_next], buffer);
  stream->recent_next = (stream->recent_next + 1) % stream->n_recent;
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
  packet->duration = (gint64) gst_util_uint64_scale_int (arrival->duration_ts,
      (gint) stream->rate_hz, (gint) stream->format.clock_rate);
  packet->silent = arrival->silent;
  packet->paused = gst_partial_mix_format_is_dtx (&stream->format,
      arrival->payload_size);
  packet->cut = cut;

  if (stream->queue.length >= GST_PARTIAL_MIX_MAX_QUEUE)
    gst_partial_mix_packet_free (g_queue_pop_head (&stream->queue));
  if (last == NULL || last->pos < pos)
    g_queue_push_tail (&stream->queue, packet);
  else
    g_queue_insert_sorted (&stream->queue, packet, compare_packets, NULL);
}

/* What is known of its path's delay is known of the stream's. */
static void
share_delay (GstPartialMixStream * stream)
{
  FmxDelayMemoryParams memory;
  FmxPlayoutParams params;

  fmx_playout_params_default (&params);
  fmx_delay_memory_params_default (&memory);
  memory.half_life = params.memory;
  fmx_playout_share (stream->playout, gst_partial_mix_path_delay (stream->path,
          &memory));
}

/* Most streams are only forwarded: a playout is made for one that is mixed for the
 * first time, and stays, as its decoder does. */
static void
begin_playout (GstPartialMixStream * stream, guint64 ext_ts, GstClockTime media)
{
  FmxPlayoutParams params;

  stream->anchored = TRUE;
  stream->anchor_ts = ext_ts;
  stream->anchor_media = media;
  fmx_alignment_init (&stream->alignment);
  if (stream->playout != NULL) {
    fmx_playout_reset (stream->playout);
    return;
  }
  stream->playout = g_new (FmxPlayout, 1);
  fmx_playout_params_default (&params);
  params.min_delay = stream->min_delay;
  params.max_delay = MAX (params.max_delay, params.min_delay);
  params.keeps_needed = true;   /* the queue of the rate control comes and goes */
  fmx_playout_init (stream->playout, &params);
  share_delay (stream);
}

void
gst_partial_mix_stream_set_path (GstPartialMixStream * stream,
    GstPartialMixPath * path)
{
  stream->path = path;
  if (stream->playout != NULL)
    share_delay (stream);
}

/* On the time line of the anchor */
static GstClockTimeDiff
media_of (const GstPartialMixStream * stream, guint64 ext_ts)
{
  guint64 apart = ext_ts >= stream->anchor_ts ? ext_ts - stream->anchor_ts
      : stream->anchor_ts - ext_ts;
  GstClockTime time = gst_util_uint64_scale_int (apart, GST_SECOND,
      (gint) stream->format.clock_rate);

  return (GstClockTimeDiff) (ext_ts >= stream->anchor_ts
      ? stream->anchor_media + time : stream->anchor_media - time);
}

/* For longer the clocks of a talker and the mixer are not to be trusted. */
#define PLACE_HOLDS (30 * GST_SECOND)

gboolean
gst_partial_mix_stream_keeps_place (const GstPartialMixStream * stream)
{
  return stream->anchored
      && stream->last_arrival <= stream->placed_at + PLACE_HOLDS;
}

gboolean
gst_partial_mix_stream_get_place (const GstPartialMixStream * stream,
    guint64 * next_ts, gint64 * next_pos)
{
  *next_ts = stream->next_ts;
  *next_pos = stream->next_pos;
  if (stream->n_mixed == 0) {
    GstClockTime at = gst_partial_mix_stream_keeps_place (stream)
        ? (GstClockTime) (media_of (stream, stream->next_ts) + stream->delay)
        : stream->next_at + (GstClockTime) stream->min_delay;

    *next_pos = (gint64) gst_util_uint64_scale_int_round (at,
        (gint) stream->rate_hz, GST_SECOND);
  }
  return stream->started && *next_pos != FMX_POSITION_UNKNOWN;
}

static GstClockTimeDiff
time_at (const GstPartialMixStream * stream, gint64 pos)
{
  return (GstClockTimeDiff) gst_util_uint64_scale_int ((guint64) pos,
      GST_SECOND, (gint) stream->rate_hz);
}

static void
tell_alignment (GstPartialMixStream * stream,
    const GstPartialMixForetold * told)
{
  gint32 ahead = (gint32) (told->time.timestamp - (guint32) stream->next_ts);

  fmx_alignment_tell (&stream->alignment, told->at
      - media_of (stream, stream->next_ts + (guint64) (gint64) ahead),
      told->time.mixed, told->told_at);
}

void
gst_partial_mix_stream_align (GstPartialMixStream * stream,
    GstPartialMixStream * mix, const FmxContributorTime * time, gint64 pos,
    GstClockTime now)
{
  const GstPartialMixForetold told = { *time, time_at (stream, pos), now };
  gint32 ahead = (gint32) (time->timestamp - (guint32) stream->next_ts);

  /* not if that was told before it came out of the mix */
  if (time->mixed && stream->leaves_at == FMX_POSITION_UNKNOWN
      && now >= stream->last_arrival + stream->told_duration) {
    stream->n_unheard = 0;
    stream->leaves_at = fmx_media_position (stream->next_ts,
        stream->next_ts + (guint64) (gint64) ahead, pos,
        stream->format.clock_rate, stream->rate_hz);
  }
  stream->told_at = now;
  stream->told_by = mix->key;
  mix->tells = TRUE;
  if (stream->anchored)
    tell_alignment (stream, &told);
}

void
gst_partial_mix_stream_foretell (GstPartialMixStream * mix,
    const FmxContributorTime * time, gint64 pos, GstClockTime now)
{
  const GstPartialMixForetold told = { *time, time_at (mix, pos), now };

  if (mix->foretells == NULL)
    mix->foretells = g_new0 (GstPartialMixForetellings, 1);
  mix->tells = TRUE;
  gst_partial_mix_foretold_note (mix->foretells, &told);
}

void
gst_partial_mix_stream_come_out (GstPartialMixStream * stream,
    GstPartialMixStream * mix, GstClockTime now)
{
  GstPartialMixForetold told;

  if (mix->foretells == NULL || mix->neighbour != stream->neighbour
      || !gst_partial_mix_foretold_take (mix->foretells, stream->ssrc, &told)
      || now > told.told_at + FMX_ALIGNMENT_HOLDS)
    return;
  stream->foretold = told;
  stream->told_at = told.told_at;
  stream->told_by = mix->key;
}

/* Its playout has just begun. */
static void
recall (GstPartialMixStream * stream)
{
  if (!is_foretold (stream))
    return;
  tell_alignment (stream, &stream->foretold);
  stream->foretold.told_at = GST_CLOCK_TIME_NONE;
}

void
gst_partial_mix_stream_move_with (GstPartialMixStream * stream,
    const GstPartialMixStream * mix)
{
  if (stream->told_by == mix->key && stream->neighbour == mix->neighbour)
    fmx_alignment_move (&stream->alignment, mix->moved);
}

/* Nobody speaks at such a level, in -dBov. */
#define PAUSE_LEVEL 50

/* What is known of the stream's place among others goes to its playout. */
static void
take_place (GstPartialMixStream * stream, GstClockTime now)
{
  FmxDuration delay;

  if (fmx_alignment_get (&stream->alignment, now, &delay))
    fmx_playout_align (stream->playout, delay);
  else
    fmx_playout_align_no_more (stream->playout);
}

gboolean
gst_partial_mix_stream_enqueue (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival, GstClockTime media, gint64 mix_pos,
    gint64 * pos)
{
  guint rate = stream->rate_hz;
  FmxTime now = gst_util_uint64_scale_int ((guint64) mix_pos, GST_SECOND,
      (gint) rate);
  FmxPlayoutPacket packet = {.ext_seq = arrival->ext_seq,
    .talkspurt = arrival->marker,.quiet = arrival->silent,.pause =
        arrival->level >= PAUSE_LEVEL
  };
  FmxPlayoutDecision decision;

  if (!stream->anchored) {
    begin_playout (stream, arrival->ext_ts, media);
    recall (stream);
  }
  packet.media = (FmxTime) MAX (0, media_of (stream, arrival->ext_ts));
  take_place (stream, stream->last_arrival);
  packet.duration = (FmxDuration) gst_util_uint64_scale_int
      (arrival->duration_ts, GST_SECOND, (gint) stream->format.clock_rate);

  decision = fmx_playout_on_packet (stream->playout, &packet, now);
  stream->delay = decision.delay;
  stream->moved = decision.adjusted;
  stream->placed_at = stream->last_arrival;
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
gst_partial_mix_stream_warm_up (GstPartialMixStream * stream)
{
  stream->fresh = TRUE;
  stream->taken_seq = 0;        /* nothing is missing before what comes next */
}

/* Or the one before it is, and did not come: what @packet has of that (in-band FEC)
 * is wanted now. */
static gboolean
is_due (const GstPartialMixStream * stream, const GstPartialMixPacket * packet,
    gint64 end)
{
  return packet->pos < end || (stream->taken_seq != 0
      && packet->ext_seq != stream->taken_seq + 1 && !packet->silent
      && packet->pos - packet->duration < end);
}

void
gst_partial_mix_stream_take_due (GstPartialMixStream * stream, gint64 end)
{
  GstBuffer *before[GST_PARTIAL_MIX_N_RECENT];
  GstPartialMixPacket *packet = g_queue_peek_head (&stream->queue);
  guint i;

  if (stream->fresh && packet != NULL && packet->pos < end) {
    stream->fresh = FALSE;
    gst_partial_mix_voice_restart (&stream->voice);
    stream->voice.leads_in = stream->leads_in;
    stream->leads_in = FALSE;
  }
  for (; packet != NULL && is_due (stream, packet, end);
      packet = g_queue_peek_head (&stream->queue)) {
    stream->taken_seq = packet->ext_seq;
    gst_partial_mix_voice_push (&stream->voice,
        g_queue_pop_head (&stream->queue));
  }

  stream->voice.wanted = stream->n_mixed > 0;
  stream->voice.leaves_at = stream->leaves_at;
  stream->voice.gain = stream->info.gain;
  if (!gst_partial_mix_voice_is_cold (&stream->voice))
    return;
  for (i = 0; i < GST_PARTIAL_MIX_N_RECENT; i++)
    before[i] = i < stream->n_recent
        ? g_steal_pointer (&stream->recent[(stream->recent_next + i)
            % stream->n_recent]) : NULL;
  gst_partial_mix_voice_warm_up (&stream->voice, before);
}

void
gst_partial_mix_stream_note_told (GstPartialMixStream * stream,
    guint voice_level)
{
  stream->voice.voice_level = voice_level;
  if (stream->told_level >= 0 && stream->n_mixed == 0)
    gst_partial_mix_voice_note_level (&stream->voice,
        (guint8) stream->told_level, stream->told_duration);
  stream->told_level = -1;
  stream->raise_db = gst_partial_mix_voice_get_raise (&stream->voice);
}

void
gst_partial_mix_stream_flush (GstPartialMixStream * stream)
{
  g_queue_clear_full (&stream->queue,
      (GDestroyNotify) gst_partial_mix_packet_free);
  clear_buffers (stream->recent);
  forget_latest (stream);
  stream->leaves_at = FMX_POSITION_UNKNOWN;
  stream->foretold.told_at = GST_CLOCK_TIME_NONE;
  stream->anchored = FALSE;
  stream->fresh = TRUE;
  stream->started = FALSE;
  fmx_media_seq_init (&stream->media_seq);
  stream->seq_serial.valid = FALSE;
  stream->ts_serial.valid = FALSE;
  fmx_restart_init (&stream->restart);
  stream->unsettled = TRUE;
  stream->next_pos = FMX_POSITION_UNKNOWN;
  stream->taken_seq = 0;
}

void
gst_partial_mix_stream_note_frame (GstPartialMixStream * stream,
    GstClockTime now)
{
  if (!stream->has_level)
    fmx_select_activity_add (&stream->activity, stream->voice.frame_level, now);
}
