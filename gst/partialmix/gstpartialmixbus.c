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

/* ---------------------------------------------------------------- casts -- */

void
gst_partial_mix_cast_init (GstPartialMixCast * cast)
{
  cast->key = 0;
  cast->n_members = 0;
  cast->members = gst_partial_mix_set_new ();
  cast->ramped = g_array_new (FALSE, FALSE, sizeof (GstPartialMixContribution));
}

void
gst_partial_mix_cast_clear (GstPartialMixCast * cast)
{
  g_array_unref (cast->members);
  g_array_unref (cast->ramped);
}

static void
cast_empty (GstPartialMixCast * cast)
{
  cast->key = 0;
  cast->n_members = 0;
  gst_partial_mix_set_clear (cast->members);
  g_array_set_size (cast->ramped, 0);
}

static void
cast_copy (GstPartialMixCast * cast, const GstPartialMixCast * from)
{
  cast_empty (cast);
  cast->key = from->key;
  cast->n_members = from->n_members;
  gst_partial_mix_set_copy (cast->members, from->members);
  g_array_append_vals (cast->ramped, from->ramped->data, from->ramped->len);
}

static void
cast_add (GstPartialMixCast * cast, GstPartialMixStream * stream)
{
  gst_partial_mix_set_add (cast->members, stream->slot);
  cast->n_members++;
  cast->key = fmx_mix_key_toggle (cast->key, stream->key);
}

static void
cast_remove (GstPartialMixCast * cast, GstPartialMixStream * stream)
{
  gst_partial_mix_set_remove (cast->members, stream->slot);
  cast->n_members--;
  cast->key = fmx_mix_key_toggle (cast->key, stream->key);
}

/* @stream fades in or out, or both, in the frame that begins at @pos, or has
 * another gain than in the total. */
static void
cast_add_shaped (GstPartialMixCast * cast, GstPartialMixStream * stream,
    const FmxMixEnvelope * envelope, gfloat gain, gint64 pos, guint n)
{
  GstPartialMixContribution c = { stream, *envelope, gain };
  FmxMixKey key = fmx_mix_key_of_gain (stream->key, gain);

  if (!fmx_mix_envelope_is_full (envelope, pos, n))
    key = fmx_mix_key_of_ramped (key, envelope, pos);
  gst_partial_mix_set_add (cast->members, stream->slot);
  cast->n_members++;
  cast->key = fmx_mix_key_toggle (cast->key, key);
  g_array_append_val (cast->ramped, c);
}

/* ---------------------------------------------------------------- buses -- */

static void
limiter_setup (GstPartialMix * self, FmxLimiter * limiter, guint channels)
{
  FmxLimiterParams params;

  fmx_limiter_params_default (&params, self->settings.rate_hz, channels);
  fmx_limiter_init (limiter, &params);
}

static guint
limiter_delay (GstPartialMix * self)
{
  FmxLimiterParams params;

  fmx_limiter_params_default (&params, self->settings.rate_hz, 1);
  return params.look_ahead_frames;
}

static GstPartialMixBus *
bus_new (GstPartialMix * self, const GstPartialMixFormat * format)
{
  GstPartialMixBus *bus = g_new0 (GstPartialMixBus, 1);

  bus->format = *format;
  gst_partial_mix_cast_init (&bus->cast);
  limiter_setup (self, &bus->limiter, 1);
  bus->unmade = self->any_unmade = TRUE;
  gst_partial_mix_check_rate (self, format->encoding);
  g_ptr_array_add (self->buses, bus);
  return bus;
}

static GstPartialMixBus *
bus_fork (GstPartialMix * self, GstPartialMixBus * parent)
{
  GstPartialMixBus *bus = g_new0 (GstPartialMixBus, 1);

  bus->format = parent->format;
  gst_partial_mix_cast_init (&bus->cast);
  bus->limiter = parent->limiter;
  bus->unmade = self->any_unmade = TRUE;
  bus->parent = parent;
  bus->failed = parent->failed;
  bus->history = parent->history;
  g_ptr_array_add (self->buses, bus);
  return bus;
}

/* Without the lock.  A parent has a listener of its own in this tick, and has
 * not encoded anything in it yet. */
static void
make_encoders (GstPartialMix * self)
{
  guint i;

  for (i = 0; i < self->buses->len; i++) {
    GstPartialMixBus *bus = g_ptr_array_index (self->buses, i);

    if (!bus->unmade)
      continue;
    if (bus->parent == NULL)
      bus->encoder =
          gst_partial_mix_encoder_new (&bus->format, self->settings.rate_hz,
          self->settings.complexity);
    else if (bus->parent->encoder != NULL)
      bus->encoder = gst_partial_mix_encoder_copy (bus->parent->encoder);
    bus->failed = bus->encoder == NULL;
    bus->parent = NULL;
    bus->unmade = FALSE;
  }
  self->any_unmade = FALSE;
}

void
gst_partial_mix_bus_free (GstPartialMixBus * bus)
{
  gst_partial_mix_cast_clear (&bus->cast);
  g_clear_pointer (&bus->payload, gst_memory_unref);
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

/* ------------------------------------------------------------- planning -- */

typedef struct
{
  FmxMixKey key;                /* of all that follows */
  const GstPartialMixCast *cast;
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
  fmx_mix_history_add (&bus->history, wish->key);
  /* the streams are held by self->frames as long as the tick lasts */
  cast_copy (&bus->cast, wish->cast);
  if (g_hash_table_lookup (self->bus_by_key, &bus->key) == NULL)
    g_hash_table_insert (self->bus_by_key, &bus->key, bus);
}

/* Whether @bus, with @wish, has now wanted the same as @other for long. */
static gboolean
may_join (GstPartialMix * self, const GstPartialMixBus * bus,
    const Wish * wish, const GstPartialMixBus * other)
{
  return other != NULL && other != bus && other->tick == self->tick
      && fmx_mix_history_same (&bus->history, bus->tick == self->tick,
      &other->history);
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
        && fmx_mix_history_forked (&other->history,
        &bus->history) ? other : bus_fork (self, bus);
    bus->n_users++;
  } else if (may_join (self, bus, wish, other)) {
    bus->n_users--;
    bus = other;
    bus->n_users++;
  }
  bus_take (self, bus, wish);
  output->bus = bus;
}

static GstPartialMixCast *
cast_of_mix (GstPartialMix * self, GstPartialMixListener * listener, guint mix)
{
  while (listener->n_outputs <= mix)
    cast_empty (&self->casts[listener->n_outputs++]);
  return &self->casts[mix];
}

/* Adds what @listener hears of @stream in this tick to its mixes. */
static void
gather_link (GstPartialMix * self, GstPartialMixListener * listener,
    GstPartialMixStream * stream, gint64 pos, guint n)
{
  guint ramp = (guint) gst_util_uint64_scale_int (self->settings.ramp_duration,
      (gint) self->settings.rate_hz, GST_SECOND);
  GstPartialMixLink *link =
      gst_partial_mix_listener_get_link (listener, stream);
  guint mixes[] = { link->handover.mix, link->handover.old_mix };
  gfloat gain = gst_partial_mix_listener_get_gain (listener, stream);
  guint k;

  for (k = 0; k < (mixes[0] != mixes[1] ? 2 : 1); k++) {
    GstPartialMixCast *cast = cast_of_mix (self, listener, mixes[k]);
    FmxMixEnvelope envelope = {.ramp = ramp };

    if (!fmx_handover_contributes (&link->handover, mixes[k], pos, n,
            &envelope))
      continue;
    if (gain == 1.0f && fmx_mix_envelope_is_full (&envelope, pos, n))
      cast_add (cast, stream);
    else
      cast_add_shaped (cast, stream, &envelope, gain, pos, n);
  }
  if (gain == 1.0f && fmx_handover_is_steady (&link->handover, pos, ramp))
    gst_partial_mix_set_add (listener->steady, stream->slot);
}

/* Sorts what one listener hears mixed in this tick into its mixes.  In a crowd
 * that is everybody, in the first one, but for a few. */
static void
gather (GstPartialMix * self, GstPartialMixListener * listener, gint64 pos,
    guint n)
{
  GstPartialMixCast *first = cast_of_mix (self, listener, 0);
  guint mix, w;

  for (mix = 0; mix < listener->n_outputs; mix++)
    cast_empty (&self->casts[mix]);

  cast_copy (first, &self->everybody);
  for (w = 0; w < self->everybody.members->len; w++) {
    guint64 others = gst_partial_mix_set_word (first->members, w)
        & ~gst_partial_mix_set_word (listener->steady, w);

    while (others != 0) {
      GstPartialMixStream *stream = g_ptr_array_index (self->heard_at,
          gst_partial_mix_set_take (&others, w));

      cast_remove (first, stream);
      gather_link (self, listener, stream, pos, n);
    }
  }
}

static gboolean
same_clock (const GstPartialMixFormat * a, const GstPartialMixFormat * b)
{
  return a->encoding == b->encoding && a->clock_rate == b->clock_rate;
}

/* A mix in another encoding is another stream: its timestamps count in another
 * clock rate [RFC7160 4.1].  The SSRC before is known for one more, should its
 * packets come back to us. */
static void
forget_ssrc (GstPartialMix * self, GstPartialMixOutput * output)
{
  if (output->ssrc == 0)
    return;
  if (output->former_ssrc != 0)
    g_hash_table_remove (self->mix_ssrcs,
        GUINT_TO_POINTER (output->former_ssrc));
  output->former_ssrc = output->ssrc;
  output->ssrc = 0;
  output->talking = FALSE;
}

static void
plan_listener (GstPartialMix * self, GstPartialMixListener * listener,
    gint64 pos, guint n)
{
  guint mix;

  listener->planned = self->tick;
  gather (self, listener, pos, n);

  for (mix = 0; mix < listener->n_outputs; mix++) {
    GstPartialMixOutput *output = &listener->outputs[mix];
    Wish wish = { 0, &self->casts[mix], &listener->mix_format,
      listener->mix_bitrate_bps
    };

    /* one tick more, for what limiter and encoder still hold */
    output->silent = wish.cast->n_members == 0 && !output->pending;
    output->pending = wish.cast->n_members > 0;
    if (output->silent)
      continue;
    if (!same_clock (&output->format, &listener->mix_format))
      forget_ssrc (self, output);
    output->format = listener->mix_format;
    output->format.pt = gst_partial_mix_listener_mix_pt (listener);
    gst_caps_replace (&output->caps, gst_partial_mix_payloads_caps
        (&listener->payloads, output->format.pt));
    output->n_names = listener->n_names;
    wish.key = fmx_mix_key_of_encoding (wish.cast->key, wish.bitrate_bps,
        wish.format->encoding);
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

/* Somebody who is heard: a stream or, if that is a mix that came in, somebody
 * in it [RFC3550 7.3]. */
typedef struct
{
  guint32 ssrc;
  guint slot;                   /* of the stream */
  guint8 level;                 /* -dBov */
} Contributor;

GArray *
gst_partial_mix_contributors_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Contributor));
}

static gint
compare_levels (gconstpointer a, gconstpointer b)
{
  return (gint) ((const Contributor *) a)->level
      - (gint) ((const Contributor *) b)->level;
}

static void
note_contributors (GstPartialMix * self, GstPartialMixStream * stream)
{
  const GstPartialMixNames *names = &stream->voice.names;
  Contributor c = { stream->out_ssrc, stream->slot, stream->voice.frame_level };
  guint i;

  if (names->n == 0)
    g_array_append_val (self->contributors, c);
  for (i = 0; i < names->n; i++) {
    c.ssrc = names->ssrcs[i];
    if (names->has_levels)
      c.level = names->levels[i];
    g_array_append_val (self->contributors, c);
  }
}

/* Who has something to say in this tick. */
static void
note_heard (GstPartialMix * self)
{
  guint i;

  g_ptr_array_set_size (self->heard, 0);
  g_ptr_array_set_size (self->heard_at, (gint) self->streams->len);
  g_array_set_size (self->contributors, 0);
  self->n_inputs = 0;
  cast_empty (&self->everybody);
  for (i = 0; i < self->frames->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->frames, i);

    if (stream->removed || !stream->voice.frame_active)
      continue;
    g_ptr_array_add (self->heard, stream);
    g_ptr_array_index (self->heard_at, stream->slot) = stream;
    cast_add (&self->everybody, stream);
    self->n_inputs += stream->voice.weight;
    note_contributors (self, stream);
  }
  g_array_sort (self->contributors, compare_levels);
}

void
gst_partial_mix_buses_plan (GstPartialMix * self, gint64 pos, guint n)
{
  guint i;

  for (i = 0; i < self->released->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->released, i);

    gst_partial_mix_release_outputs (self, &pad->listener);
    /* the last one who holds a pad must not hold the lock as well */
    g_ptr_array_add (self->given_up, gst_object_ref (pad));
  }
  g_ptr_array_set_size (self->released, 0);

  note_heard (self);
  g_hash_table_remove_all (self->bus_by_key);
  for (i = 0; i < self->listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (self->listeners, i);

    if (listener->negotiated && !listener->raw)
      plan_listener (self, listener, pos, n);
  }
  g_hash_table_remove_all (self->bus_by_key);
  forget_idle_buses (self);
  self->n_buses = self->buses->len;
}

void
gst_partial_mix_release_outputs (GstPartialMix * self,
    GstPartialMixListener * listener)
{
  guint mix;

  for (mix = 0; mix < listener->n_outputs; mix++) {
    GstPartialMixOutput *output = &listener->outputs[mix];

    if (output->bus != NULL)
      output->bus->n_users--;
    output->bus = NULL;
    if (output->ssrc != 0)
      g_hash_table_remove (self->mix_ssrcs, GUINT_TO_POINTER (output->ssrc));
    if (output->former_ssrc != 0)
      g_hash_table_remove (self->mix_ssrcs,
          GUINT_TO_POINTER (output->former_ssrc));
    output->ssrc = output->former_ssrc = 0;
    gst_clear_caps (&output->caps);
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

static guint
add_inputs (const gint16 ** inputs, guint n, const GstPartialMixStream * stream)
{
  guint k;

  for (k = 0; k < stream->voice.weight; k++)
    inputs[n++] = stream->voice.frame;
  return n;
}

static void
add_at_gain (gint32 * sum, const GstPartialMixContribution * c, gint64 pos,
    guint n)
{
  gfloat gain = c->gain * (gfloat) c->stream->voice.weight;
  gint32 *shaped = g_newa0 (gint32, n);
  gint16 *frame = g_newa (gint16, n);
  guint i;

  fmx_mix_add_envelope (shaped, c->stream->voice.frame, n, &c->envelope, pos);
  for (i = 0; i < n; i++)
    frame[i] = (gint16) shaped[i];
  fmx_mix_add_ramp (sum, frame, n, gain, gain);
}

/* The sum of all that is heard is there: what is not in the mix is taken away,
 * unless adding up what is in it is less work. */
static void
sum_bus (GstPartialMix * self, const GstPartialMixCast * cast, gint32 * sum,
    gint64 pos, guint n)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();
  guint n_full = cast->n_members - cast->ramped->len;
  gboolean subtract = n_full > self->heard->len - n_full;
  const gint16 **inputs = g_newa (const gint16 *, self->n_inputs + 1);
  guint n_inputs = 0;
  guint i, k, w;

  for (w = 0; w < self->everybody.members->len; w++) {
    guint64 members = gst_partial_mix_set_word (cast->members, w);
    guint64 chosen = subtract
        ? gst_partial_mix_set_word (self->everybody.members, w) & ~members
        : members;

    while (chosen != 0)
      n_inputs = add_inputs (inputs, n_inputs, g_ptr_array_index
          (self->heard_at, gst_partial_mix_set_take (&chosen, w)));
  }
  if (subtract) {
    memcpy (sum, self->total, n * sizeof (gint32));
    for (i = 0; i < n_inputs; i++)
      kernels->subtract (sum, inputs[i], n);
  } else {
    kernels->sum (sum, inputs, n_inputs, n);
  }

  /* these are members, and so far at full gain */
  for (i = 0; i < cast->ramped->len; i++) {
    GstPartialMixContribution *c = &g_array_index (cast->ramped,
        GstPartialMixContribution, i);

    for (k = 0; k < c->stream->voice.weight; k++) {
      kernels->subtract (sum, c->stream->voice.frame, n);
      if (c->gain == 1.0f)
        fmx_mix_add_envelope (sum, c->stream->voice.frame, n, &c->envelope,
            pos);
    }
    if (c->gain != 1.0f)
      add_at_gain (sum, c, pos, n);
  }
}

/* One who is in two of the mixes that came in is named once. */
static gboolean
is_listed (const GstPartialMixBus * bus, guint32 ssrc)
{
  guint i;

  for (i = 0; i < bus->n_csrcs; i++)
    if (bus->csrcs[i] == ssrc)
      return TRUE;
  return FALSE;
}

/* The loudest. */
static void
list_contributors (GstPartialMix * self, GstPartialMixBus * bus)
{
  guint i;

  bus->n_csrcs = 0;
  for (i = 0; i < self->contributors->len && bus->n_csrcs < FMX_CSRC_MAX; i++) {
    const Contributor *c = &g_array_index (self->contributors, Contributor, i);

    if (!gst_partial_mix_set_contains (bus->cast.members, c->slot)
        || is_listed (bus, c->ssrc))
      continue;
    bus->csrcs[bus->n_csrcs] = c->ssrc;
    bus->levels[bus->n_csrcs] = c->level;
    bus->n_csrcs++;
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
  sum_bus (self, &bus->cast, sum, work->pos, work->n);
  fmx_limiter_process (&bus->limiter, limited, sum, work->n);
  gst_partial_mix_encoder_set_bitrate (bus->encoder, bus->bitrate_bps);
  size = gst_partial_mix_encoder_encode (bus->encoder, limited, work->n,
      payload, MAX_PAYLOAD_BYTES);
  if (size > 0)
    bus->payload = gst_memory_new_wrapped (0, payload, MAX_PAYLOAD_BYTES, 0,
        size, payload, g_free);
  else
    g_free (payload);
  list_contributors (self, bus);
}

static void
sum_all (GstPartialMix * self, guint n)
{
  const gint16 **inputs = g_newa (const gint16 *, self->n_inputs + 1);
  guint n_inputs = 0;
  guint i;

  for (i = 0; i < self->heard->len; i++)
    n_inputs = add_inputs (inputs, n_inputs, g_ptr_array_index (self->heard,
            i));
  fmx_mix_kernels_best ()->sum (self->total, inputs, n_inputs, n);
}

void
gst_partial_mix_buses_run (GstPartialMix * self, gint64 pos, guint n)
{
  Work work = { self, pos, n };

  if (self->buses->len == 0)
    return;
  if (self->any_unmade)
    make_encoders (self);
  sum_all (self, n);
  gst_partial_mix_run_jobs (self, self->buses->len, run_bus, &work);
}

/* -------------------------------------------------------------- packets -- */

static GstBuffer *
make_packet (GstPartialMix * self, GstPartialMixOutput * output, gint64 pos)
{
  GstPartialMixBus *bus = output->bus;
  guint n_csrcs = MIN (output->n_names, bus->n_csrcs);
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
          (gint) output->format.clock_rate, (gint) self->settings.rate_hz));
  gst_rtp_buffer_set_marker (&rtp, !output->talking);
  for (i = 0; i < n_csrcs; i++)
    gst_rtp_buffer_set_csrc (&rtp, (guint8) i, bus->csrcs[i]);
  if (self->settings.csrc_level_ext_id != 0 && n_csrcs > 0) {
    n_levels = fmx_csrc_audio_levels_write (levels, sizeof levels, bus->levels,
        n_csrcs);
    if (n_levels > 0)
      gst_rtp_buffer_add_extension_onebyte_header (&rtp,
          (guint8) self->settings.csrc_level_ext_id, levels, (guint) n_levels);
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
  GST_BUFFER_DURATION (buffer) = self->settings.frame_duration;
  if (!output->talking)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT |
        GST_BUFFER_FLAG_MARKER);
}

static void
push_pad (GstPartialMix * self, GstPartialMixSrcPad * pad,
    GArray * deliveries, gint64 pos)
{
  GstClockTime now = gst_partial_mix_samples_to_time (self, (guint64) pos);
  guint mix;

  for (mix = 0; mix < pad->listener.n_outputs; mix++) {
    GstPartialMixOutput *output = &pad->listener.outputs[mix];
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
    fmx_rate_meter_add (&pad->listener.meter_out, wire_bytes, now);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_partial_mix_deliveries_add (deliveries, pad, output->caps,
        GST_MINI_OBJECT (buffer));
    gst_clear_caps (&output->caps);
  }
}

/* without the lock; @pads: what was there when the tick was planned */
void
gst_partial_mix_buses_push (GstPartialMix * self, GPtrArray * pads,
    GArray * deliveries, gint64 pos)
{
  guint64 n_encoded = 0;
  guint i;

  for (i = 0; i < pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (pads, i);

    if (pad->listener.planned == self->tick)
      push_pad (self, pad, deliveries, pos);
  }
  for (i = 0; i < self->buses->len; i++) {
    GstPartialMixBus *bus = g_ptr_array_index (self->buses, i);

    n_encoded += bus->payload != NULL;
    g_clear_pointer (&bus->payload, gst_memory_unref);
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
