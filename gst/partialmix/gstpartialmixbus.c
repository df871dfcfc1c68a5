/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mixes: planned for every listener, made once for all that need the same.
 *
 * A mix is known by a key: the random keys of its contributors, XORed.  Each
 * tick every listener's mix gets its key; a bus is a mix that exists, with
 * limiter and encoder.  While listeners of one bus want the same, they share
 * it.  Those whose wish changes fork: they take a copy of limiter and encoder
 * with them, so that their decoders go on without noticing.  Buses that have
 * wanted the same for some ticks join. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include <string.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/mix/fmx-mix-kernels.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

#define MAX_PAYLOAD_BYTES 4000
#define LIMITER_LOOK_AHEAD_US 2500
#define LIMITER_RELEASE_MS 80.0f

/* ---------------------------------------------------------------- buses -- */

static void
limiter_setup (GstPartialMix * self, FmxLimiter * limiter, guint channels)
{
  FmxLimiterParams params;

  fmx_limiter_params_default (&params, self->rate_hz, channels);
  fmx_limiter_init (limiter, &params);
}

static guint
limiter_delay (GstPartialMix * self)
{
  FmxLimiterParams params;

  fmx_limiter_params_default (&params, self->rate_hz, 1);
  return params.look_ahead_frames;
}

static GstPartialMixBus *
bus_new (GstPartialMix * self, const GstPartialMixFormat * format)
{
  GstPartialMixBus *bus = g_new0 (GstPartialMixBus, 1);

  bus->format = *format;
  bus->contributions = g_array_new (FALSE, FALSE,
      sizeof (GstPartialMixContribution));
  limiter_setup (self, &bus->limiter, 1);
  bus->encoder = gst_partial_mix_encoder_new (format, self->rate_hz,
      self->complexity);
  bus->failed = bus->encoder == NULL;
  g_ptr_array_add (self->buses, bus);
  return bus;
}

static GstPartialMixBus *
bus_fork (GstPartialMix * self, GstPartialMixBus * parent)
{
  GstPartialMixBus *bus = g_new0 (GstPartialMixBus, 1);

  bus->format = parent->format;
  bus->contributions = g_array_new (FALSE, FALSE,
      sizeof (GstPartialMixContribution));
  bus->limiter = parent->limiter;
  bus->encoder = parent->encoder != NULL
      ? gst_partial_mix_encoder_copy (parent->encoder) : NULL;
  bus->failed = parent->failed;
  memcpy (bus->history, parent->history, sizeof bus->history);
  g_ptr_array_add (self->buses, bus);
  return bus;
}

static void
drop_contributions (GstPartialMixBus * bus)
{
  g_array_set_size (bus->contributions, 0);
  g_clear_pointer (&bus->payload, gst_memory_unref);
}

void
gst_partial_mix_bus_free (GstPartialMixBus * bus)
{
  drop_contributions (bus);
  g_array_unref (bus->contributions);
  if (bus->encoder != NULL)
    gst_partial_mix_encoder_free (bus->encoder);
  g_free (bus);
}

void
gst_partial_mix_buses_clear (GstPartialMix * self)
{
  g_hash_table_remove_all (self->bus_by_key);
  g_ptr_array_set_size (self->buses, 0);
}

static guint64
scramble (guint64 x)
{
  /* the finalizer of splitmix64 */
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* ------------------------------------------------------------- planning -- */

typedef struct
{
  guint64 key;
  GArray *contributions;        /* NULL: silent */
  const GstPartialMixFormat *format;
  guint bitrate_bps;
} Wish;

static void
bus_take (GstPartialMix * self, GstPartialMixBus * bus, const Wish * wish)
{
  if (bus->tick == self->tick)
    return;
  bus->tick = self->tick;
  bus->key = wish->key;
  bus->bitrate_bps = wish->bitrate_bps;
  memmove (bus->history + 1, bus->history,
      (GST_PARTIAL_MIX_BUS_HISTORY - 1) * sizeof bus->history[0]);
  bus->history[0] = wish->key;
  drop_contributions (bus);
  /* the streams are held by self->frames as long as the tick lasts */
  g_array_append_vals (bus->contributions, wish->contributions->data,
      wish->contributions->len);
  if (g_hash_table_lookup (self->bus_by_key, &bus->key) == NULL)
    g_hash_table_insert (self->bus_by_key, &bus->key, bus);
}

/* Whether @bus, with @wish, has now wanted the same as @other for long. */
static gboolean
may_join (GstPartialMix * self, const GstPartialMixBus * bus,
    const Wish * wish, const GstPartialMixBus * other)
{
  guint before = bus->tick == self->tick ? 1 : 0;

  return other != NULL && other != bus && other->tick == self->tick
      && memcmp (bus->history + before, other->history + 1,
      (GST_PARTIAL_MIX_BUS_HISTORY - 1) * sizeof bus->history[0]) == 0;
}

static gboolean
fits (const GstPartialMixBus * bus, const Wish * wish)
{
  return bus->format.encoding == wish->format->encoding
      && bus->format.clock_rate == wish->format->clock_rate;
}

/* Gives @output the bus that makes what it wishes for in this tick. */
static void
assign_bus (GstPartialMix * self, GstPartialMixOutput * output,
    const Wish * wish)
{
  GstPartialMixBus *bus = output->bus;
  GstPartialMixBus *other = g_hash_table_lookup (self->bus_by_key,
      &wish->key);

  if (bus != NULL && !fits (bus, wish)) {
    bus->n_users--;
    bus = output->bus = NULL;
  }
  if (bus == NULL) {
    bus = other != NULL ? other : bus_new (self, wish->format);
    bus->n_users++;
  } else if (bus->tick == self->tick && bus->key != wish->key) {
    bus->n_users--;
    bus = other != NULL && other->tick == self->tick
        && other->history[1] == bus->history[1] ? other : bus_fork (self, bus);
    bus->n_users++;
  } else if (may_join (self, bus, wish, other)) {
    bus->n_users--;
    bus = other;
    bus->n_users++;
  }
  bus_take (self, bus, wish);
  output->bus = bus;
}

static guint64
contribution_key (const GstPartialMixContribution * c, gint64 pos)
{
  guint64 key = c->stream->key;

  if (c->full)
    return key;
  key ^= scramble ((guint64) (c->envelope.from - pos) * 31 + 1);
  return scramble (key + scramble ((guint64) (c->envelope.until - pos)));
}

/* There is always room for one more. */
static GstPartialMixContribution *
next_contribution (GstPartialMix * self, guint mix, guint n)
{
  GArray *scratch = self->scratch[mix];

  if (scratch->len <= n)
    g_array_set_size (scratch, MAX (2 * n, 64));
  return &g_array_index (scratch, GstPartialMixContribution, n);
}

/* Sorts what one listener hears mixed in this tick into its mixes. */
static void
gather (GstPartialMix * self, GstPartialMixSrcPad * pad, gint64 pos, guint n)
{
  guint ramp = (guint) gst_util_uint64_scale_int (self->ramp_duration,
      (gint) self->rate_hz, GST_SECOND);
  guint n_in[FMX_ADAPT_MAX_MIXES];
  guint i, mix;

  for (mix = 0; mix < FMX_ADAPT_MAX_MIXES; mix++)
    n_in[mix] = 0;

  for (i = 0; i < self->frames->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->frames, i);
    GstPartialMixLink *link;
    guint mixes[2];
    guint k;

    if (stream->removed || !stream->frame_active)
      continue;
    link = gst_partial_mix_src_pad_get_link (pad, stream);
    mixes[0] = link->mix;
    mixes[1] = link->old_mix;
    for (k = 0; k < (link->mix != link->old_mix ? 2 : 1); k++) {
      GstPartialMixContribution *c = next_contribution (self, mixes[k],
          n_in[mixes[k]]);

      if (!gst_partial_mix_link_contributes (link, mixes[k], pos, n, ramp,
              &c->envelope))
        continue;
      c->stream = stream;
      c->full = fmx_mix_envelope_is_full (&c->envelope, pos, n);
      n_in[mixes[k]]++;
    }
  }
  for (mix = 0; mix < FMX_ADAPT_MAX_MIXES; mix++)
    g_array_set_size (self->scratch[mix], n_in[mix]);
}

static void
plan_pad (GstPartialMix * self, GstPartialMixSrcPad * pad, gint64 pos, guint n)
{
  guint mix, i;

  gather (self, pad, pos, n);

  for (mix = 0; mix < FMX_ADAPT_MAX_MIXES; mix++) {
    GstPartialMixOutput *output = &pad->outputs[mix];
    Wish wish = { 0, self->scratch[mix], &pad->mix_format,
      pad->mix_bitrate_bps
    };

    /* one tick more, for what limiter and encoder still hold */
    output->silent = wish.contributions->len == 0 && !output->pending;
    output->pending = wish.contributions->len > 0;
    if (output->silent)
      continue;
    output->format = pad->mix_format;
    output->lean = pad->lean;
    for (i = 0; i < wish.contributions->len; i++)
      wish.key ^= contribution_key (&g_array_index (wish.contributions,
              GstPartialMixContribution, i), pos);
    wish.key = scramble (wish.key ^ scramble (wish.bitrate_bps)
        ^ scramble (1000 + (guint) wish.format->encoding));
    assign_bus (self, output, &wish);
    if (output->ssrc == 0) {
      output->ssrc = gst_partial_mix_free_ssrc (self);
      output->seq = (guint16) g_random_int ();
      output->ts_base = g_random_int ();
      g_hash_table_add (self->mix_ssrcs, GUINT_TO_POINTER (output->ssrc));
    }
  }
}

static void
forget_idle_buses (GstPartialMix * self)
{
  guint i = 0;

  while (i < self->buses->len) {
    GstPartialMixBus *bus = g_ptr_array_index (self->buses, i);

    if (bus->n_users == 0)
      g_ptr_array_remove_index_fast (self->buses, i);
    else
      i++;
  }
}

void
gst_partial_mix_buses_plan (GstPartialMix * self, gint64 pos, guint n)
{
  GList *l;
  guint i;

  for (i = 0; i < self->released->len; i++)
    gst_partial_mix_release_outputs (self, g_ptr_array_index (self->released,
            i));
  g_ptr_array_set_size (self->released, 0);

  g_hash_table_remove_all (self->bus_by_key);
  for (l = self->src_pads; l != NULL; l = l->next) {
    GstPartialMixSrcPad *pad = l->data;

    if (pad->negotiated && !pad->raw)
      plan_pad (self, pad, pos, n);
  }
  g_hash_table_remove_all (self->bus_by_key);
  forget_idle_buses (self);
  self->n_buses = self->buses->len;
}

void
gst_partial_mix_release_outputs (GstPartialMix * self,
    GstPartialMixSrcPad * pad)
{
  guint mix;

  for (mix = 0; mix < FMX_ADAPT_MAX_MIXES; mix++) {
    GstPartialMixOutput *output = &pad->outputs[mix];

    if (output->bus != NULL)
      output->bus->n_users--;
    output->bus = NULL;
    if (output->ssrc != 0)
      g_hash_table_remove (self->mix_ssrcs, GUINT_TO_POINTER (output->ssrc));
    output->ssrc = 0;
    output->talking = output->pending = FALSE;
    output->silent = TRUE;
  }
}

/* --------------------------------------------------------------- mixing -- */

typedef struct
{
  GstPartialMix *self;
  gint64 pos;
  guint n;
} Work;

/* @total of all frames is there: what is not in the mix is taken away, unless
 * adding up what is in it is less work. */
static void
sum_bus (GstPartialMix * self, GstPartialMixBus * bus, gint32 * sum,
    gint64 pos, guint n)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();
  const gint16 **inputs = g_newa (const gint16 *, self->frames->len + 1);
  guint n_full = 0;
  guint i;

  for (i = 0; i < bus->contributions->len; i++) {
    GstPartialMixContribution *c = &g_array_index (bus->contributions,
        GstPartialMixContribution, i);

    if (c->full)
      inputs[n_full++] = c->stream->frame;
  }

  if (n_full > self->n_total - n_full) {
    guint k = 0;

    memcpy (sum, self->total, n * sizeof (gint32));
    for (i = 0; i < self->frames->len; i++) {
      GstPartialMixStream *stream = g_ptr_array_index (self->frames, i);

      if (k < n_full && inputs[k] == stream->frame)
        k++;
      else if (stream->frame_active)
        kernels->subtract (sum, stream->frame, n);
    }
  } else {
    kernels->sum (sum, inputs, n_full, n);
  }

  for (i = 0; i < bus->contributions->len; i++) {
    GstPartialMixContribution *c = &g_array_index (bus->contributions,
        GstPartialMixContribution, i);

    if (!c->full)
      fmx_mix_add_envelope (sum, c->stream->frame, n, &c->envelope, pos);
  }
}

static void
list_contributors (GstPartialMixBus * bus)
{
  guint i, k;

  bus->n_csrcs = 0;
  for (i = 0; i < bus->contributions->len; i++) {
    GstPartialMixStream *stream = g_array_index (bus->contributions,
        GstPartialMixContribution, i).stream;
    guint8 level = stream->frame_level;

    /* the loudest, by insertion */
    for (k = bus->n_csrcs; k > 0 && bus->levels[k - 1] > level; k--) {
      if (k < FMX_CSRC_MAX) {
        bus->csrcs[k] = bus->csrcs[k - 1];
        bus->levels[k] = bus->levels[k - 1];
      }
    }
    if (k < FMX_CSRC_MAX) {
      bus->csrcs[k] = stream->out_ssrc;
      bus->levels[k] = level;
      bus->n_csrcs = MIN (bus->n_csrcs + 1, FMX_CSRC_MAX);
    }
  }
}

static void
run_bus (gpointer data, guint index)
{
  Work *work = data;
  GstPartialMix *self = work->self;
  GstPartialMixBus *bus = g_ptr_array_index (self->buses, index);
  gint32 *sum;
  gint16 *limited;
  guint8 *payload;
  gsize size;

  if (bus->tick != self->tick || bus->failed)
    return;

  sum = g_newa (gint32, work->n);
  limited = g_newa (gint16, work->n);
  payload = g_malloc (MAX_PAYLOAD_BYTES);
  sum_bus (self, bus, sum, work->pos, work->n);
  fmx_limiter_process (&bus->limiter, limited, sum, work->n);
  gst_partial_mix_encoder_set_bitrate (bus->encoder, bus->bitrate_bps);
  size = gst_partial_mix_encoder_encode (bus->encoder, limited, work->n,
      payload, MAX_PAYLOAD_BYTES);
  if (size > 0)
    bus->payload = gst_memory_new_wrapped (0, payload, MAX_PAYLOAD_BYTES, 0,
        size, payload, g_free);
  else
    g_free (payload);
  list_contributors (bus);
}

static void
sum_all (GstPartialMix * self, guint n)
{
  const gint16 **inputs = g_newa (const gint16 *, self->frames->len + 1);
  guint i;

  self->n_total = 0;
  for (i = 0; i < self->frames->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->frames, i);

    if (stream->frame_active)
      inputs[self->n_total++] = stream->frame;
  }
  fmx_mix_kernels_best ()->sum (self->total, inputs, self->n_total, n);
}

void
gst_partial_mix_buses_run (GstPartialMix * self, gint64 pos, guint n)
{
  Work work = { self, pos, n };

  if (self->buses->len == 0)
    return;
  sum_all (self, n);
  gst_partial_mix_run_jobs (self, self->buses->len, run_bus, &work);
}

/* -------------------------------------------------------------- packets -- */

static GstBuffer *
make_packet (GstPartialMix * self, GstPartialMixOutput * output, gint64 pos)
{
  GstPartialMixBus *bus = output->bus;
  guint n_csrcs = output->lean ? 0 : bus->n_csrcs;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (0, 0, (guint8) n_csrcs);
  guint8 levels[FMX_CSRC_MAX];
  gsize n_levels;
  guint i;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, output->format.pt);
  gst_rtp_buffer_set_ssrc (&rtp, output->ssrc);
  gst_rtp_buffer_set_seq (&rtp, output->seq++);
  gst_rtp_buffer_set_timestamp (&rtp, output->ts_base
      + (guint32) gst_util_uint64_scale_int ((guint64) pos,
          (gint) output->format.clock_rate, (gint) self->rate_hz));
  gst_rtp_buffer_set_marker (&rtp, !output->talking);
  for (i = 0; i < n_csrcs; i++)
    gst_rtp_buffer_set_csrc (&rtp, (guint8) i, bus->csrcs[i]);
  if (self->csrc_level_ext_id != 0 && n_csrcs > 0) {
    n_levels = fmx_csrc_audio_levels_write (levels, sizeof levels, bus->levels,
        n_csrcs);
    if (n_levels > 0)
      gst_rtp_buffer_add_extension_onebyte_header (&rtp,
          (guint8) self->csrc_level_ext_id, levels, (guint) n_levels);
  }
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_append_memory (buffer, gst_memory_ref (bus->payload));
  return buffer;
}

/* What a decoder makes of the packet lies before the samples that went in by
 * the delays of limiter and encoder, and all of it before the line by the
 * playout delay: its PTS is the media time, as that of a forwarded packet. */
static void
stamp_packet (GstPartialMix * self, GstPartialMixOutput * output,
    GstBuffer * buffer, gint64 pos)
{
  GstClockTime delay = gst_partial_mix_playout_delay (self)
      + gst_partial_mix_samples_to_time (self, limiter_delay (self)
      + gst_partial_mix_encoder_lookahead (output->bus->encoder));
  GstClockTime pts = gst_partial_mix_samples_to_time (self, (guint64) pos);

  GST_BUFFER_PTS (buffer) = pts > delay ? pts - delay : 0;
  GST_BUFFER_DURATION (buffer) = self->frame_duration;
  if (!output->talking)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT |
        GST_BUFFER_FLAG_MARKER);
}

static void
push_pad (GstPartialMix * self, GstPartialMixSrcPad * pad, gint64 pos)
{
  GstClockTime now = gst_partial_mix_samples_to_time (self, (guint64) pos);
  guint mix;

  for (mix = 0; mix < FMX_ADAPT_MAX_MIXES; mix++) {
    GstPartialMixOutput *output = &pad->outputs[mix];
    GstBuffer *buffer;
    guint wire_bytes;

    if (output->silent || output->bus == NULL || output->bus->payload == NULL) {
      output->talking = FALSE;
      continue;
    }
    buffer = make_packet (self, output, pos);
    stamp_packet (self, output, buffer, pos);
    wire_bytes = (guint) gst_buffer_get_size (buffer) + FMX_IP_UDP_BYTES;

    GST_PARTIAL_MIX_LOCK (self);
    output->talking = TRUE;
    output->n_packets++;
    output->n_bytes += wire_bytes;
    fmx_rate_meter_add (&pad->meter_out, wire_bytes, now);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_partial_mix_src_pad_push (pad, &output->format, GST_MINI_OBJECT (buffer));
  }
}

/* without the lock; @pads: what was there when the tick was planned */
void
gst_partial_mix_buses_push (GstPartialMix * self, GPtrArray * pads, gint64 pos)
{
  guint64 n_encoded = 0;
  guint i;

  for (i = 0; i < pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (pads, i);

    if (!pad->raw)
      push_pad (self, pad, pos);
  }
  for (i = 0; i < self->buses->len; i++) {
    GstPartialMixBus *bus = g_ptr_array_index (self->buses, i);

    n_encoded += bus->payload != NULL;
    drop_contributions (bus);
  }

  GST_PARTIAL_MIX_LOCK (self);
  self->counters.n_encoded += n_encoded;
  GST_PARTIAL_MIX_UNLOCK (self);
}

/* --------------------------------------------------- delays, for queries -- */

GstClockTime
gst_partial_mix_mix_delay (GstPartialMix * self)
{
  /* Opus' own look-ahead, the largest of the encoders' */
  const GstClockTime encoder = 6500 * GST_USECOND;

  return gst_partial_mix_playout_delay (self) + encoder
      + gst_partial_mix_samples_to_time (self, limiter_delay (self));
}
