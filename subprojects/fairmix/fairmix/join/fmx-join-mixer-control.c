/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "fairmix/join/fmx-join-mixer-private.h"

void
fmx_join_mixer_free (FmxJoinMixer *mixer, FmxJoinSession *session)
{
  if (session->state == FMX_JOIN_PENDING) {
    mixer->stats.n_pending--;
  } else {
    mixer->stats.n_sessions--;
    mixer->stats.n_left++;
  }
  memset (session, 0, sizeof *session);
}

static void
write_control (FmxJoinMixer *mixer, FmxJoinSession *session,
    FmxJoinMessage *message, FmxJoinMixerResult *result)
{
  FmxJoinControl *control = &message->u.control;

  control->session = session->id;
  control->counter = ++session->counter_out;
  control->echo = session->counter_in;
  control->path = fmx_join_guard_path (&mixer->guard, &result->to, session->id);
  control->root = mixer->root;
  control->depth = mixer->depth;
  result->size = fmx_join_control_write (mixer->crypto,
      session->keys.control_to_client, message, result->data);
}

static void
pong (FmxJoinMixer *mixer, FmxJoinSession *session, FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_PONG };

  write_control (mixer, session, &message, result);
}

void
fmx_join_mixer_remove (FmxJoinMixer *mixer, uint32_t index,
    FmxJoinReason reason, FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_BYE };
  FmxJoinSession *session = &mixer->table.sessions[index];

  assert (index < mixer->table.n && session->state != FMX_JOIN_FREE);
  fmx_join_mixer_clear (result);
  result->event = session->state == FMX_JOIN_JOINED ?
      FMX_JOIN_MIXER_LEFT : FMX_JOIN_MIXER_NOTHING;
  result->reason = reason;
  result->session = index;
  result->to = session->address;
  message.u.control.reason = (uint16_t) reason;
  write_control (mixer, session, &message, result);
  fmx_join_mixer_free (mixer, session);
}

static void
tell (FmxJoinMixer *mixer, uint32_t index, FmxJoinMessage *message,
    FmxJoinMixerResult *result)
{
  FmxJoinSession *session = &mixer->table.sessions[index];

  assert (index < mixer->table.n && session->state == FMX_JOIN_JOINED);
  fmx_join_mixer_clear (result);
  result->session = index;
  result->to = session->address;
  write_control (mixer, session, message, result);
}

void
fmx_join_mixer_ask (FmxJoinMixer *mixer, uint32_t index, bool begin,
    FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_ASK };

  message.u.control.reason = begin;
  tell (mixer, index, &message, result);
}

void
fmx_join_mixer_move (FmxJoinMixer *mixer, uint32_t index,
    const FmxJoinAddress *places, unsigned n, FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_MOVE };

  fmx_join_places_set (&message.u.places, places, n);
  tell (mixer, index, &message, result);
}

static void
replace (FmxJoinMixer *mixer, FmxJoinSession *old, FmxJoinMixerResult *result)
{
  if (old == NULL)
    return;
  result->replaced = fmx_join_sessions_index (&mixer->table, old);
  fmx_join_mixer_free (mixer, old);
}

/* The first PING of a join */
static void
confirm (FmxJoinMixer *mixer, FmxJoinSession *session,
    FmxJoinMixerResult *result)
{
  if (fmx_join_mixer_is_full (mixer, session)) {
    mixer->stats.n_refused++;
    fmx_join_mixer_remove (mixer, fmx_join_sessions_index (&mixer->table,
            session), FMX_JOIN_REASON_FULL, result);
    return;
  }
  replace (mixer, fmx_join_sessions_find_replaced (&mixer->table, session),
      result);
  session->state = FMX_JOIN_JOINED;
  mixer->stats.n_pending--;
  mixer->stats.n_sessions++;
  mixer->stats.n_joined++;
  result->event = FMX_JOIN_MIXER_JOINED;
  pong (mixer, session, result);
}

static void
on_ping (FmxJoinMixer *mixer, FmxJoinSession *session,
    const FmxJoinAddress *from, const FmxJoinControl *control,
    FmxJoinMixerResult *result)
{
  bool same = fmx_join_address_same (from, &session->address);

  if (session->state == FMX_JOIN_PENDING) {
    if (same)
      confirm (mixer, session, result);
    else
      mixer->stats.n_forged++;
    return;
  }
  if (!same && control->path == fmx_join_guard_path (&mixer->guard,
          from, session->id)) {
    session->address = *from;
    mixer->stats.n_moved++;
    result->event = FMX_JOIN_MIXER_MOVED;
    replace (mixer, fmx_join_sessions_find_replaced (&mixer->table, session),
        result);
  }
  pong (mixer, session, result);
}

/* Where we see it comes last: it need not be where its neighbours do. */
static void
on_mixes (FmxJoinSession *session, const FmxJoinPlaces *places,
    FmxJoinMixerResult *result)
{
  if (session->state != FMX_JOIN_JOINED
      || (session->join.flags & FMX_JOIN_MAY_MIX) == 0)
    return;
  result->event = FMX_JOIN_MIXER_MIXES;
  result->mixes = places->control.reason != 0;
  result->n_below = places->n_below;
  result->least_bps = places->control.root;
  result->n_places = places->n < FMX_JOIN_PLACES ? places->n :
      FMX_JOIN_PLACES - 1;
  memcpy (result->places, places->places, sizeof result->places);
  result->places[result->n_places++] = session->address;
}

void
fmx_join_mixer_on_control (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const FmxJoinMessage *message, FmxJoinMixerResult *result, FmxTime now)
{
  const FmxJoinControl *control = &message->u.control;
  FmxJoinSession *session =
      fmx_join_sessions_find_id (&mixer->table, control->session);

  if (session == NULL) {
    mixer->stats.n_unknown++;
    return;
  }
  if (!fmx_join_control_is_genuine (mixer->crypto,
          session->keys.control_to_mixer, message)) {
    mixer->stats.n_forged++;
    return;
  }
  if (control->counter <= session->counter_in) {
    mixer->stats.n_replayed++;
    return;
  }
  session->counter_in = control->counter;
  session->last_heard = now;
  result->session = fmx_join_sessions_index (&mixer->table, session);
  if (message->type == FMX_JOIN_PING) {
    on_ping (mixer, session, from, control, result);
  } else if (message->type == FMX_JOIN_MIXES) {
    on_mixes (session, &message->u.places, result);
  } else {
    if (session->state == FMX_JOIN_JOINED) {
      result->event = FMX_JOIN_MIXER_LEFT;
      result->reason = control->reason == FMX_JOIN_REASON_MOVED ?
          FMX_JOIN_REASON_MOVED : FMX_JOIN_REASON_LEAVE;
    }
    fmx_join_mixer_free (mixer, session);
  }
}
