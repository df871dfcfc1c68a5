/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Mixes: planned for every listener, made once for all that need the same.
 *
 * A mix is known by a key, made of the random keys of its members.  Each tick
 * every listener's mix gets its key; a shared mix is one that exists, with
 * limiter and encoder.  While its listeners want the same, they share it.  Those
 * whose wish changes fork: they take a copy of limiter and encoder with them, so
 * that their decoders go on without noticing.  Shared mixes that have been the
 * same for some ticks join. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixmixer.h"

#include <gst/rtp/rtp.h>
#include <string.h>

#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-kernels.h"
#include "fairmix/mix/fmx-mix-key.h"
#include "fairmix/wire/fmx-audio-level.h"

#include "gstpartialmixcodec.h"

#define MAX_PAYLOAD_BYTES 5760  /* 60 ms of L16 at 48 kHz */
/* Who spoke is heard for so long after he fell silent: while he says every 400 ms how
 * loud that is (DTX), the mix of his noise does not end. */
#define HANGOVER (300 * GST_MSECOND)

struct _GstPartialMixSharedMix
{
  GstPartialMixFormat format;
  guint bitrate_bps;
  guint loss_percent;           /* for which it provides */
  FmxMixKey key;                /* of its members in this tick */
  FmxMixHistory history;
  guint64 tick;                 /* in which @key was set */
  guint n_users;
  GstPartialMixEncoder *encoder;
  FmxLimiter limiter;
  gboolean failed;
  gboolean unmade;              /* its encoder is still to be made ... */
  GstPartialMixSharedMix *parent;       /* ... like this one's, if any */

  GstPartialMixMembers members;
  GstMemory *payload;           /* what came of it in this tick */
  guint n_csrcs;
  guint32 csrcs[FMX_CSRC_MAX];
  guint8 levels[FMX_CSRC_MAX];
};

static GstPartialMixSharedMix *
shared_new (GstPartialMixMixer * mixer, const GstPartialMixFormat * format)
{
  GstPartialMixSharedMix *shared = g_new0 (GstPartialMixSharedMix, 1);
  FmxLimiterParams params;

  shared->format = *format;
  gst_partial_mix_members_init (&shared->members);
  fmx_limiter_params_default (&params, mixer->rate_hz, 1);
  fmx_limiter_init (&shared->limiter, &params);
  shared->unmade = mixer->any_unmade = TRUE;
  g_ptr_array_add (mixer->shared, shared);
  return shared;
}

static GstPartialMixSharedMix *
shared_fork (GstPartialMixMixer * mixer, GstPartialMixSharedMix * parent)
{
  GstPartialMixSharedMix *shared = g_new0 (GstPartialMixSharedMix, 1);

  shared->format = parent->format;
  gst_partial_mix_members_init (&shared->members);
  shared->limiter = parent->limiter;
  shared->unmade = mixer->any_unmade = TRUE;
  shared->parent = parent;
  shared->failed = parent->failed;
  shared->history = parent->history;
  g_ptr_array_add (mixer->shared, shared);
  return shared;
}

/* Without the lock.  A parent has a listener of its own in this tick, and has
 * not encoded anything in it yet. */
static void
make_encoders (GstPartialMixMixer * mixer)
{
  guint i;

  for (i = 0; i < mixer->shared->len; i++) {
    GstPartialMixSharedMix *shared = g_ptr_array_index (mixer->shared, i);

    if (!shared->unmade)
      continue;
    if (shared->parent == NULL)
      shared->encoder =
          gst_partial_mix_encoder_new (&shared->format, mixer->rate_hz,
          mixer->complexity, mixer->music);
    else if (shared->parent->encoder != NULL)
      shared->encoder = gst_partial_mix_encoder_copy (shared->parent->encoder);
    shared->failed = shared->encoder == NULL;
    shared->parent = NULL;
    shared->unmade = FALSE;
  }
  mixer->any_unmade = FALSE;
}

static void
shared_free (GstPartialMixSharedMix * shared)
{
  gst_partial_mix_members_clear (&shared->members);
  g_clear_pointer (&shared->payload, gst_memory_unref);
  if (shared->encoder != NULL)
    gst_partial_mix_encoder_free (shared->encoder);
  g_free (shared);
}

/* ------------------------------------------------------------- planning -- */

typedef struct
{
  FmxMixKey key;                /* of all that follows */
  const GstPartialMixMembers *members;
  const GstPartialMixFormat *format;
  guint bitrate_bps;
  guint loss_percent;
} Wish;

static void
shared_take (GstPartialMixMixer * mixer, GstPartialMixSharedMix * shared,
    const Wish * wish)
{
  if (shared->tick == mixer->tick)
    return;
  shared->tick = mixer->tick;
  shared->key = wish->key;
  shared->bitrate_bps = wish->bitrate_bps;
  shared->loss_percent = wish->loss_percent;
  fmx_mix_history_add (&shared->history, wish->key);
  /* the streams are held by mixer->streams as long as the tick lasts */
  gst_partial_mix_members_copy (&shared->members, wish->members);
  if (g_hash_table_lookup (mixer->shared_by_key, &shared->key) == NULL)
    g_hash_table_insert (mixer->shared_by_key, &shared->key, shared);
}

/* Whether @shared, with @wish, has now wanted the same as @other for long. */
static gboolean
may_join (GstPartialMixMixer * mixer, const GstPartialMixSharedMix * shared,
    const Wish * wish, const GstPartialMixSharedMix * other)
{
  return other != NULL && other != shared && other->tick == mixer->tick
      && fmx_mix_history_same (&shared->history, shared->tick == mixer->tick,
      &other->history);
}

static gboolean
fits (const GstPartialMixSharedMix * shared, const Wish * wish)
{
  return shared->format.encoding == wish->format->encoding
      && shared->format.clock_rate == wish->format->clock_rate;
}

/* Gives @output the shared that makes what it wishes for in this tick. */
static void
assign (GstPartialMixMixer * mixer, GstPartialMixOutput * output,
    const Wish * wish)
{
  GstPartialMixSharedMix *shared = output->shared;
  GstPartialMixSharedMix *other = g_hash_table_lookup (mixer->shared_by_key,
      &wish->key);

  if (shared != NULL && !fits (shared, wish)) {
    shared->n_users--;
    shared = output->shared = NULL;
  }
  if (shared == NULL) {
    shared = other != NULL ? other : shared_new (mixer, wish->format);
    shared->n_users++;
  } else if (shared->tick == mixer->tick && shared->key != wish->key) {
    shared->n_users--;
    shared = other != NULL && other->tick == mixer->tick
        && fmx_mix_history_forked (&other->history,
        &shared->history) ? other : shared_fork (mixer, shared);
    shared->n_users++;
  } else if (may_join (mixer, shared, wish, other)) {
    shared->n_users--;
    shared = other;
    shared->n_users++;
  }
  shared_take (mixer, shared, wish);
  output->shared = shared;
}

static GstPartialMixMembers *
members_of_mix (GstPartialMixMixer * mixer, GstPartialMixListener * listener,
    guint mix)
{
  while (listener->n_outputs <= mix)
    gst_partial_mix_members_empty (&mixer->members[listener->n_outputs++]);
  return &mixer->members[mix];
}

static gboolean
is_in (const GstPartialMixFrame * frame, gint64 pos)
{
  return pos >= frame->pos && pos < frame->pos + (gint64) frame->n;
}

static gboolean
enters (const FmxHandover * handover, guint mix,
    const GstPartialMixFrame * frame)
{
  return handover->mix == mix && (is_in (frame, handover->from)
      || is_in (frame, handover->switch_pos));
}

/* Adds what @listener hears of @stream in this tick to its mixes. */
static GstPartialMixTimes *
times_of (GstPartialMixOutput * output)
{
  if (output->times == NULL)
    output->times = g_new0 (GstPartialMixTimes, 1);
  return output->times;
}

static void
gather_link (GstPartialMixMixer * mixer, GstPartialMixListener * listener,
    GstPartialMixStream * stream, const GstPartialMixFrame * frame)
{
  GstPartialMixLink *link =
      gst_partial_mix_listener_get_link (listener, stream);
  guint mixes[] = { link->handover.mix, link->handover.old_mix };
  gfloat gain = gst_partial_mix_listener_get_gain (listener, stream);
  guint k;

  for (k = 0; k < (mixes[0] != mixes[1] ? 2 : 1); k++) {
    GstPartialMixMembers *members = members_of_mix (mixer, listener, mixes[k]);
    GstPartialMixShape shape = { stream, {.ramp = frame->ramp}, gain };

    if (!fmx_handover_contributes (&link->handover, mixes[k], frame->pos,
            frame->n, &shape.envelope))
      continue;
    if (listener->payloads.time_id != 0
        && enters (&link->handover, mixes[k], frame))
      gst_partial_mix_times_enter (times_of (&listener->outputs[mixes[k]]),
          stream->slot);
    if (gain == 1.0f && fmx_mix_envelope_is_full (&shape.envelope, frame->pos,
            frame->n))
      gst_partial_mix_members_add (members, stream);
    else
      gst_partial_mix_members_add_shape (members, &shape, frame->pos, frame->n);
  }
  if (gain == 1.0f && fmx_handover_is_steady (&link->handover, frame->pos,
          frame->ramp))
    gst_partial_mix_set_add (listener->steady, stream->slot);
}

/* Sorts what one listener hears mixed in this tick into its mixes.  In a crowd
 * that is everybody, in the first one, but for a few. */
static void
gather (GstPartialMixMixer * mixer, GstPartialMixListener * listener,
    const GstPartialMixFrame * frame)
{
  GstPartialMixMembers *first = members_of_mix (mixer, listener, 0);
  guint mix, w;

  for (mix = 0; mix < listener->n_outputs; mix++)
    gst_partial_mix_members_empty (&mixer->members[mix]);

  gst_partial_mix_members_copy (first, &mixer->everybody);
  for (w = 0; w < mixer->everybody.slots->len; w++) {
    guint64 others = gst_partial_mix_set_word (first->slots, w)
        & ~gst_partial_mix_set_word (listener->steady, w);

    while (others != 0) {
      GstPartialMixStream *stream = g_ptr_array_index (mixer->heard_at,
          gst_partial_mix_set_take (&others, w));

      gst_partial_mix_members_remove (first, stream);
      gather_link (mixer, listener, stream, frame);
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
forget_ssrc (GstPartialMixTable * table, GstPartialMixOutput * output)
{
  if (output->ssrc == 0)
    return;
  gst_partial_mix_table_remove_mix (table, output->former_ssrc);
  output->former_ssrc = output->ssrc;
  output->ssrc = 0;
  output->talking = FALSE;
}

/* One mix of one listener, and all streams */
typedef struct
{
  GstPartialMixListener *listener;
  guint mix;
  GstPartialMixTable *table;
} Telling;

/* Whether the listener hears the stream in the mix, or may: then he is told where it is
 * in that.  What waits for the mix is known to the sample; else it is reckoned from when
 * its latest packet came. */
static gboolean
look_up_time (gpointer data, guint slot, GstPartialMixTime * time)
{
  Telling *telling = data;
  GstPartialMixStream *stream = gst_partial_mix_table_at (telling->table, slot);
  GstPartialMixLink *link;

  if (stream == NULL)
    return FALSE;
  link = gst_partial_mix_listener_get_link (telling->listener, stream);
  time->mixed = link->handover.way == FMX_HANDOVER_MIXED;
  if (time->mixed ? link->handover.mix != telling->mix
      || link->handover.from == FMX_POSITION_UNKNOWN
      : link->handover.way != FMX_HANDOVER_SEPARATE || telling->mix != 0)
    return FALSE;
  time->ssrc = stream->out_ssrc;
  time->clock_rate = stream->format.clock_rate;
  return gst_partial_mix_stream_get_place (stream, &time->next_ts,
      &time->next_pos);
}

static void
plan_times (GstPartialMixMixer * mixer, GstPartialMixListener * listener,
    guint mix, GstPartialMixTable * table, gint64 pos)
{
  GstPartialMixOutput *output = &listener->outputs[mix];
  Telling telling = { listener, mix, table };

  output->time_id = listener->payloads.time_id;
  output->level_id = gst_partial_mix_payloads_level_id (&listener->payloads);
  if (output->time_id != 0)
    gst_partial_mix_times_plan (times_of (output),
        gst_partial_mix_table_n_slots (table), pos, mixer->rate_hz,
        look_up_time, &telling);
}

static void
plan_listener (GstPartialMixMixer * mixer, GstPartialMixListener * listener,
    GstPartialMixTable * table, const GstPartialMixFrame * frame)
{
  guint mix;

  listener->planned = mixer->tick;
  gather (mixer, listener, frame);

  for (mix = 0; mix < listener->n_outputs; mix++) {
    GstPartialMixOutput *output = &listener->outputs[mix];
    Wish wish = { 0, &mixer->members[mix], &listener->mix_format,
      listener->mix_bitrate_bps, listener->mix_loss
    };

    /* one tick more, for what limiter and encoder still hold */
    output->silent = wish.members->n == 0 && !output->pending;
    output->pending = wish.members->n > 0;
    if (output->silent)
      continue;
    if (!same_clock (&output->format, &listener->mix_format))
      forget_ssrc (table, output);
    output->format = listener->mix_format;
    output->format.pt = gst_partial_mix_listener_mix_pt (listener);
    gst_caps_replace (&output->caps, gst_partial_mix_payloads_caps
        (&listener->payloads, output->format.pt));
    output->n_names = listener->n_names;
    plan_times (mixer, listener, mix, table, frame->pos);
    wish.key = fmx_mix_key_of_encoding (wish.members->key, wish.bitrate_bps,
        wish.format->encoding +
        GST_PARTIAL_MIX_N_ENCODINGS * wish.loss_percent);
    assign (mixer, output, &wish);
    if (output->ssrc == 0) {
      output->ssrc = gst_partial_mix_table_free_ssrc (table);
      output->seq = (guint16) g_random_int ();
      output->ts_base = g_random_int ();
      gst_partial_mix_table_add_mix (table, output->ssrc);
    }
  }
}

static void
forget_idle (GstPartialMixMixer * mixer)
{
  guint i = 0;

  while (i < mixer->shared->len) {
    GstPartialMixSharedMix *shared = g_ptr_array_index (mixer->shared, i);

    if (shared->n_users == 0)
      g_ptr_array_remove_index_fast (mixer->shared, i);
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

static gint
compare_levels (gconstpointer a, gconstpointer b)
{
  return (gint) ((const Contributor *) a)->level
      - (gint) ((const Contributor *) b)->level;
}

static void
note_contributors (GstPartialMixMixer * mixer, GstPartialMixStream * stream)
{
  const GstPartialMixNames *names = &stream->voice.names;
  Contributor c = { stream->out_ssrc, stream->slot, stream->voice.frame_level };
  guint i;

  if (names->n == 0)
    g_array_append_val (mixer->contributors, c);
  for (i = 0; i < names->n; i++) {
    c.ssrc = names->ssrcs[i];
    if (names->has_levels)
      c.level = names->levels[i];
    g_array_append_val (mixer->contributors, c);
  }
}

/* Who has something to say in this tick. */
static void
note_heard (GstPartialMixMixer * mixer, guint n_slots)
{
  guint i;

  g_ptr_array_set_size (mixer->heard, 0);
  g_ptr_array_set_size (mixer->heard_at, (gint) n_slots);
  g_array_set_size (mixer->contributors, 0);
  mixer->n_inputs = 0;
  gst_partial_mix_members_empty (&mixer->everybody);
  for (i = 0; i < mixer->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (mixer->streams, i);

    if (stream->removed || !stream->voice.frame_active)
      continue;
    g_ptr_array_add (mixer->heard, stream);
    g_ptr_array_index (mixer->heard_at, stream->slot) = stream;
    gst_partial_mix_members_add (&mixer->everybody, stream);
    mixer->n_inputs += stream->voice.weight;
    note_contributors (mixer, stream);
  }
  g_array_sort (mixer->contributors, compare_levels);
}

void
gst_partial_mix_mixer_plan (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, GstPartialMixTable * table,
    const GPtrArray * listeners)
{
  guint i;

  mixer->tick++;
  note_heard (mixer, gst_partial_mix_table_n_slots (table));
  g_hash_table_remove_all (mixer->shared_by_key);
  for (i = 0; i < listeners->len; i++) {
    GstPartialMixListener *listener = g_ptr_array_index (listeners, i);

    if (listener->negotiated && !listener->raw)
      plan_listener (mixer, listener, table, frame);
  }
  g_hash_table_remove_all (mixer->shared_by_key);
  forget_idle (mixer);
  mixer->n_mixes = mixer->shared->len;
}

gboolean
gst_partial_mix_mixer_serves (const GstPartialMixMixer * mixer,
    const GstPartialMixListener * listener)
{
  return listener->planned == mixer->tick;
}

void
gst_partial_mix_mixer_release (GstPartialMixMixer * mixer,
    GstPartialMixListener * listener, GstPartialMixTable * table)
{
  guint mix;

  for (mix = 0; mix < listener->n_outputs; mix++) {
    GstPartialMixOutput *output = &listener->outputs[mix];

    if (output->shared != NULL)
      output->shared->n_users--;
    output->shared = NULL;
    gst_partial_mix_table_remove_mix (table, output->ssrc);
    gst_partial_mix_table_remove_mix (table, output->former_ssrc);
    output->ssrc = output->former_ssrc = 0;
    gst_clear_caps (&output->caps);
    g_clear_pointer (&output->times, g_free);
    output->talking = output->pending = FALSE;
    output->silent = TRUE;
  }
}

/* --------------------------------------------------------------- mixing -- */

typedef struct
{
  GstPartialMixMixer *mixer;
  const GstPartialMixFrame *frame;
  guint8 silence_level;
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
add_at_gain (gint32 * sum, const GstPartialMixShape * shape, gint64 pos,
    guint n)
{
  gfloat gain = shape->gain * (gfloat) shape->stream->voice.weight;
  gint32 *shaped = g_newa0 (gint32, n);
  gint16 *narrow = g_newa (gint16, n);
  guint i;

  fmx_mix_add_envelope (shaped, shape->stream->voice.frame, n,
      &shape->envelope, pos);
  for (i = 0; i < n; i++)
    narrow[i] = (gint16) shaped[i];
  fmx_mix_add_ramp (sum, narrow, n, gain, gain);
}

/* It is in @sum at full gain, and to be there in its shape. */
static void
reshape (gint32 * sum, const GstPartialMixShape * shape,
    const GstPartialMixFrame * frame)
{
  const GstPartialMixVoice *voice = &shape->stream->voice;
  guint k;

  for (k = 0; k < voice->weight; k++) {
    fmx_mix_kernels_best ()->subtract (sum, voice->frame, frame->n);
    if (shape->gain == 1.0f)
      fmx_mix_add_envelope (sum, voice->frame, frame->n, &shape->envelope,
          frame->pos);
  }
  if (shape->gain != 1.0f)
    add_at_gain (sum, shape, frame->pos, frame->n);
}

/* The sum of all that is heard is there: what is not in the mix is taken away,
 * unless adding up what is in it is less work. */
static void
sum_members (const GstPartialMixMixer * mixer,
    const GstPartialMixMembers * members, gint32 * sum,
    const GstPartialMixFrame * frame)
{
  const FmxMixKernels *kernels = fmx_mix_kernels_best ();
  guint n_full = members->n - members->shapes->len;
  gboolean subtract = n_full > mixer->heard->len - n_full;
  const gint16 **inputs = g_newa (const gint16 *, mixer->n_inputs + 1);
  guint n_inputs = 0;
  guint i, w;

  for (w = 0; w < mixer->everybody.slots->len; w++) {
    guint64 in = gst_partial_mix_set_word (members->slots, w);
    guint64 chosen = subtract
        ? gst_partial_mix_set_word (mixer->everybody.slots, w) & ~in : in;

    while (chosen != 0)
      n_inputs = add_inputs (inputs, n_inputs, g_ptr_array_index
          (mixer->heard_at, gst_partial_mix_set_take (&chosen, w)));
  }
  if (subtract) {
    memcpy (sum, mixer->total, frame->n * sizeof (gint32));
    for (i = 0; i < n_inputs; i++)
      kernels->subtract (sum, inputs[i], frame->n);
  } else {
    kernels->sum (sum, inputs, n_inputs, frame->n);
  }
  for (i = 0; i < members->shapes->len; i++)
    reshape (sum, &g_array_index (members->shapes, GstPartialMixShape, i),
        frame);
}

/* One who is in two of the mixes that came in is named once. */
static gboolean
is_listed (const GstPartialMixSharedMix * shared, guint32 ssrc)
{
  guint i;

  for (i = 0; i < shared->n_csrcs; i++)
    if (shared->csrcs[i] == ssrc)
      return TRUE;
  return FALSE;
}

/* The loudest. */
static void
list_contributors (const GstPartialMixMixer * mixer,
    GstPartialMixSharedMix * shared)
{
  guint i;

  shared->n_csrcs = 0;
  for (i = 0; i < mixer->contributors->len && shared->n_csrcs < FMX_CSRC_MAX;
      i++) {
    const Contributor *c = &g_array_index (mixer->contributors, Contributor, i);

    if (!gst_partial_mix_set_contains (shared->members.slots, c->slot)
        || is_listed (shared, c->ssrc))
      continue;
    shared->csrcs[shared->n_csrcs] = c->ssrc;
    shared->levels[shared->n_csrcs] = c->level;
    shared->n_csrcs++;
  }
}

static void
make_mix (gpointer data, guint index)
{
  Work *work = data;
  GstPartialMixMixer *mixer = work->mixer;
  GstPartialMixSharedMix *shared = g_ptr_array_index (mixer->shared, index);
  guint n = work->frame->n;
  gint32 *sum;
  gint16 *limited;
  guint8 *payload;
  gsize size;

  if (shared->tick != mixer->tick || shared->failed)
    return;

  sum = g_newa (gint32, n);
  limited = g_newa (gint16, n);
  payload = g_malloc (MAX_PAYLOAD_BYTES);
  sum_members (mixer, &shared->members, sum, work->frame);
  fmx_limiter_process (&shared->limiter, limited, sum, n);
  gst_partial_mix_encoder_set_bitrate (shared->encoder, shared->bitrate_bps);
  gst_partial_mix_encoder_set_loss (shared->encoder, shared->loss_percent);
  size = gst_partial_mix_encoder_encode (shared->encoder, limited, n, payload,
      MAX_PAYLOAD_BYTES);
  if (size > 0)
    shared->payload = gst_memory_new_wrapped (0, payload, MAX_PAYLOAD_BYTES, 0,
        size, payload, g_free);
  else
    g_free (payload);
  list_contributors (mixer, shared);
}

static void
sum_all (GstPartialMixMixer * mixer, guint n)
{
  const gint16 **inputs = g_newa (const gint16 *, mixer->n_inputs + 1);
  guint n_inputs = 0;
  guint i;

  for (i = 0; i < mixer->heard->len; i++)
    n_inputs = add_inputs (inputs, n_inputs, g_ptr_array_index (mixer->heard,
            i));
  fmx_mix_kernels_best ()->sum (mixer->total, inputs, n_inputs, n);
}

void
gst_partial_mix_mixer_run (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame)
{
  Work work = { mixer, frame, 0 };

  if (mixer->shared->len == 0)
    return;
  if (mixer->any_unmade)
    make_encoders (mixer);
  sum_all (mixer, frame->n);
  gst_fairmix_pool_run (&mixer->pool, mixer->shared->len, make_mix, &work);
}

/* -------------------------------------------------------------- packets -- */

static guint
limiter_delay (guint rate_hz)
{
  FmxLimiterParams params;

  fmx_limiter_params_default (&params, rate_hz, 1);
  return params.look_ahead_frames;
}

static GstClockTime
time_of (guint rate_hz, guint64 samples)
{
  return gst_util_uint64_scale_int (samples, GST_SECOND, (gint) rate_hz);
}

GstClockTime
gst_partial_mix_mixer_delay (guint rate_hz, GstClockTime playout_delay)
{
  /* Opus' own look-ahead, the largest of the encoders' */
  const GstClockTime encoder = 6500 * GST_USECOND;

  return playout_delay + encoder + time_of (rate_hz, limiter_delay (rate_hz));
}

static void
add_levels (guint8 id, GstRTPBuffer * rtp,
    const GstPartialMixSharedMix * shared, guint n_csrcs)
{
  guint8 levels[FMX_CSRC_MAX];
  gsize n_levels;

  if (id == 0 || n_csrcs == 0)
    return;
  n_levels = fmx_csrc_audio_levels_write (levels, sizeof levels,
      shared->levels, n_csrcs);
  if (n_levels > 0)
    gst_rtp_buffer_add_extension_onebyte_header (rtp, id, levels,
        (guint) n_levels);
}

/* By how many samples what a decoder makes of a packet lies before what went in */
static gint64
content_delay (const GstPartialMixMixer * mixer,
    const GstPartialMixSharedMix * shared)
{
  return limiter_delay (mixer->rate_hz)
      + gst_partial_mix_encoder_lookahead (shared->encoder);
}

static GstBuffer *
write_packet (const GstPartialMixMixer * mixer, GstPartialMixOutput * output,
    gint64 pos)
{
  GstPartialMixSharedMix *shared = output->shared;
  guint n_csrcs = MIN (output->n_names, shared->n_csrcs);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (0, 0, (guint8) n_csrcs);
  guint i;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, output->format.pt);
  gst_rtp_buffer_set_ssrc (&rtp, output->ssrc);
  gst_rtp_buffer_set_seq (&rtp, output->seq++);
  gst_rtp_buffer_set_timestamp (&rtp, output->ts_base
      + (guint32) gst_util_uint64_scale_int ((guint64) pos,
          (gint) output->format.clock_rate, (gint) mixer->rate_hz));
  gst_rtp_buffer_set_marker (&rtp, !output->talking);
  for (i = 0; i < n_csrcs; i++)
    gst_rtp_buffer_set_csrc (&rtp, (guint8) i, shared->csrcs[i]);
  add_levels (output->level_id, &rtp, shared, n_csrcs);
  if (output->time_id != 0)
    gst_partial_mix_times_write (output->times, &rtp, output->time_id,
        pos - content_delay (mixer, shared), mixer->rate_hz);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_append_memory (buffer, gst_memory_ref (shared->payload));
  return buffer;
}

/* What a decoder makes of the packet lies before the samples that went in by
 * the delays of limiter and encoder, and all of it before its mix position by
 * the playout delay: its PTS is the media time, as that of a forwarded packet. */
static void
stamp_packet (const GstPartialMixMixer * mixer,
    const GstPartialMixOutput * output, GstBuffer * buffer, gint64 pos)
{
  GstClockTime delay = mixer->playout_delay + time_of (mixer->rate_hz,
      (guint64) content_delay (mixer, output->shared));
  GstClockTime pts = time_of (mixer->rate_hz, (guint64) pos);

  GST_BUFFER_PTS (buffer) = pts > delay ? pts - delay : 0;
  GST_BUFFER_DURATION (buffer) = mixer->frame_duration;
  if (!output->talking)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT |
        GST_BUFFER_FLAG_MARKER);
}

GstBuffer *
gst_partial_mix_mixer_make_packet (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, GstPartialMixOutput * output)
{
  GstBuffer *buffer;

  if (output->silent || output->shared == NULL
      || output->shared->payload == NULL) {
    output->talking = FALSE;
    return NULL;
  }
  buffer = write_packet (mixer, output, frame->pos);
  stamp_packet (mixer, output, buffer, frame->pos);
  output->talking = TRUE;
  return buffer;
}

guint
gst_partial_mix_mixer_finish (GstPartialMixMixer * mixer)
{
  guint n_encoded = 0;
  guint i;

  for (i = 0; i < mixer->shared->len; i++) {
    GstPartialMixSharedMix *shared = g_ptr_array_index (mixer->shared, i);

    n_encoded += shared->payload != NULL;
    g_clear_pointer (&shared->payload, gst_memory_unref);
  }
  g_ptr_array_set_size (mixer->streams, 0);
  return n_encoded;
}

/* ------------------------------------------------------------- decoding -- */

void
gst_partial_mix_mixer_take (GstPartialMixMixer * mixer,
    GstPartialMixStream * stream)
{
  g_ptr_array_add (mixer->streams, gst_partial_mix_stream_ref (stream));
}

const GPtrArray *
gst_partial_mix_mixer_get_streams (const GstPartialMixMixer * mixer)
{
  return mixer->streams;
}

static void
decode_frame (gpointer data, guint index)
{
  Work *work = data;
  GstPartialMixStream *stream = g_ptr_array_index (work->mixer->streams, index);

  gst_partial_mix_voice_render (&stream->voice, work->frame->pos,
      work->frame->n, work->silence_level,
      (guint) (HANGOVER / work->mixer->frame_duration));
}

void
gst_partial_mix_mixer_decode (GstPartialMixMixer * mixer,
    const GstPartialMixFrame * frame, guint8 silence_level)
{
  Work work = { mixer, frame, silence_level };

  gst_fairmix_pool_run (&mixer->pool, mixer->streams->len, decode_frame, &work);
}

/* ------------------------------------------------------------ beginning -- */

void
gst_partial_mix_mixer_init (GstPartialMixMixer * mixer)
{
  guint i;

  memset (mixer, 0, sizeof *mixer);
  mixer->streams = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_partial_mix_stream_unref);
  mixer->heard = g_ptr_array_new ();
  mixer->heard_at = g_ptr_array_new ();
  mixer->contributors = g_array_new (FALSE, FALSE, sizeof (Contributor));
  mixer->shared = g_ptr_array_new_with_free_func ((GDestroyNotify)
      shared_free);
  mixer->shared_by_key = g_hash_table_new (g_int64_hash, g_int64_equal);
  gst_partial_mix_members_init (&mixer->everybody);
  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    gst_partial_mix_members_init (&mixer->members[i]);
}

void
gst_partial_mix_mixer_clear (GstPartialMixMixer * mixer)
{
  guint i;

  g_ptr_array_unref (mixer->streams);
  g_ptr_array_unref (mixer->heard);
  g_ptr_array_unref (mixer->heard_at);
  g_array_unref (mixer->contributors);
  g_hash_table_unref (mixer->shared_by_key);
  g_ptr_array_unref (mixer->shared);
  gst_partial_mix_members_clear (&mixer->everybody);
  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    gst_partial_mix_members_clear (&mixer->members[i]);
  g_free (mixer->total);
}

void
gst_partial_mix_mixer_start (GstPartialMixMixer * mixer,
    const GstPartialMixSettings * settings, GstClockTime playout_delay)
{
  guint n = (guint) gst_util_uint64_scale_int (settings->frame_duration,
      (gint) settings->rate_hz, GST_SECOND);

  mixer->rate_hz = settings->rate_hz;
  mixer->complexity = settings->complexity;
  mixer->music = settings->mix_music;
  mixer->frame_duration = settings->frame_duration;
  mixer->playout_delay = playout_delay;
  g_free (mixer->total);
  mixer->total = g_new0 (gint32, n);
  gst_fairmix_pool_open (&mixer->pool, settings->n_threads);
}

void
gst_partial_mix_mixer_stop (GstPartialMixMixer * mixer)
{
  g_hash_table_remove_all (mixer->shared_by_key);
  g_ptr_array_set_size (mixer->shared, 0);
  gst_fairmix_pool_close (&mixer->pool);
}
