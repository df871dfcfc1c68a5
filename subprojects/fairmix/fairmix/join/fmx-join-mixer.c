/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-mixer.h"

#include <assert.h>
#include <string.h>

void
fmx_join_mixer_params_default (FmxJoinMixerParams *params)
{
  memset (params, 0, sizeof *params);
  params->max_clients = 64;
  params->timeout = 5 * FMX_SECOND;
  params->confirm_timeout = 2 * FMX_SECOND;
  params->cookie_life = 10 * FMX_SECOND;
  params->max_hellos_per_s = 5000;
  params->max_joins_per_s = 400;
  params->max_joins_per_host_per_s = 100;
}

bool
fmx_join_mixer_init (FmxJoinMixer *mixer, const FmxJoinMixerParams *params,
    const FmxJoinCrypto *crypto, FmxJoinSession *sessions, uint32_t n_sessions)
{
  assert (params->node != 0 && params->cookie_life > 0);
  assert (n_sessions > params->max_clients);
  memset (mixer, 0, sizeof *mixer);
  mixer->params = *params;
  mixer->crypto = crypto;
  fmx_join_sessions_init (&mixer->table, crypto, sessions, n_sessions);
  mixer->root = params->node;
  fmx_join_guard_init (&mixer->guard, crypto, params->cookie_life);
  return crypto->generate (crypto->user, mixer->key);
}

void
fmx_join_mixer_set_secret (FmxJoinMixer *mixer, const FmxJoinSecret *secret)
{
  mixer->secret = *secret;
}

void
fmx_join_mixer_set_max_clients (FmxJoinMixer *mixer, uint32_t max_clients)
{
  mixer->params.max_clients =
      max_clients < mixer->table.n ? max_clients : mixer->table.n - 1;
}

void
fmx_join_mixer_set_root (FmxJoinMixer *mixer, uint64_t root, uint16_t depth)
{
  mixer->root = root;
  mixer->depth = depth;
}

/* --- HELLO, JOIN --------------------------------------------------------- */

static void
reply (FmxJoinMixerResult *result, const FmxJoinMessage *message)
{
  result->size = fmx_join_message_write (message, result->data);
}

static void
refuse (FmxJoinMixerResult *result, const uint8_t *nonce, FmxJoinReason reason)
{
  FmxJoinMessage message = {.type = FMX_JOIN_REFUSE };

  memcpy (message.u.refuse.nonce, nonce, FMX_JOIN_NONCE_BYTES);
  message.u.refuse.reason = (uint16_t) reason;
  message.u.refuse.version = FMX_JOIN_VERSION;
  reply (result, &message);
  if (reason != FMX_JOIN_REASON_VERSION && reason != FMX_JOIN_REASON_BUSY) {
    result->event = FMX_JOIN_MIXER_REFUSED;
    result->reason = reason;
  }
}

static void
on_hello (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const FmxJoinHello *hello, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinMessage message = {.type = FMX_JOIN_COOKIE };

  mixer->stats.n_hellos++;
  memcpy (message.u.cookie.nonce, hello->nonce, sizeof hello->nonce);
  fmx_join_guard_cookie (&mixer->guard, from, hello->nonce,
      message.u.cookie.cookie, now);
  memcpy (message.u.cookie.key, mixer->key, sizeof mixer->key);
  reply (result, &message);
}

static bool
is_full (FmxJoinMixer *mixer, const FmxJoinSession *session)
{
  return mixer->stats.n_sessions >= mixer->params.max_clients
      && fmx_join_sessions_find_replaced (&mixer->table, session) == NULL;
}

/* Fills @session from what was checked.  Returns: whether there are keys */
static bool
session_make (FmxJoinMixer *mixer, FmxJoinSession *session,
    const uint8_t *shared, FmxJoinMessage *message)
{
  FmxJoinAccept *accept = &message->u.accept;
  FmxJoinAgreed agreed;

  message->type = FMX_JOIN_ACCEPT;
  accept->session = fmx_join_sessions_new_id (&mixer->table);
  accept->root = mixer->root;
  accept->depth = mixer->depth;
  memcpy (agreed.shared, shared, sizeof agreed.shared);
  memcpy (agreed.mixer_key, mixer->key, sizeof agreed.mixer_key);
  if (!fmx_join_accept_make (mixer->crypto, &mixer->secret, &agreed,
          &session->join, accept, &session->keys))
    return false;
  session->id = accept->session;
  session->accept = *accept;
  return true;
}

/* Returns: why @join is not to be let in; NONE: it is */
static FmxJoinReason
judge (FmxJoinMixer *mixer, const FmxJoinSession *candidate,
    const uint8_t *shared)
{
  const FmxJoinJoin *join = &candidate->join;

  if (!fmx_join_join_is_genuine (mixer->crypto, &mixer->secret, shared,
          mixer->key, join))
    return FMX_JOIN_REASON_SECRET;
  if ((join->flags & FMX_JOIN_IS_MIXER) != 0
      && (join->node == mixer->params.node || join->node == mixer->root
          || mixer->depth >= FMX_JOIN_MAX_DEPTH))
    return FMX_JOIN_REASON_LOOP;
  return is_full (mixer, candidate) ? FMX_JOIN_REASON_FULL :
      FMX_JOIN_REASON_NONE;
}

static void
on_new_join (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const FmxJoinJoin *join, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinSession *session =
      fmx_join_sessions_find_free (&mixer->table), candidate = { 0 };
  FmxJoinMessage message = { 0 };
  uint8_t shared[FMX_JOIN_PUBLIC_BYTES];
  FmxJoinReason reason;

  if (session == NULL
      || !fmx_join_guard_take_join (&mixer->guard, from,
          mixer->params.max_joins_per_host_per_s,
          mixer->params.max_joins_per_s, now)) {
    mixer->stats.n_limited++;
    refuse (result, join->nonce, FMX_JOIN_REASON_BUSY);
    return;
  }
  candidate.address = *from;
  candidate.join = *join;
  candidate.last_heard = now;
  if (!mixer->crypto->agree (mixer->crypto->user, join->key, shared)) {
    mixer->stats.n_forged++;
    return;
  }
  reason = judge (mixer, &candidate, shared);
  if (reason != FMX_JOIN_REASON_NONE) {
    if (reason == FMX_JOIN_REASON_SECRET)
      mixer->stats.n_wrong_secret++;
    else
      mixer->stats.n_refused++;
    refuse (result, join->nonce, reason);
    return;
  }
  if (!session_make (mixer, &candidate, shared, &message)) {
    mixer->stats.n_forged++;
    return;
  }
  candidate.state = FMX_JOIN_PENDING;
  *session = candidate;
  mixer->stats.n_pending++;
  reply (result, &message);
}

static void
on_join (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const FmxJoinJoin *join, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinMessage message = {.type = FMX_JOIN_ACCEPT };
  FmxJoinSession *session;

  if (!fmx_join_guard_cookie_is_good (&mixer->guard, from, join, now)) {
    mixer->stats.n_bad_cookies++;
    return;
  }
  session = fmx_join_sessions_find_nonce (&mixer->table, join->nonce);
  if (session == NULL) {
    on_new_join (mixer, from, join, result, now);
    return;
  }
  /* Again: our answer was lost, or somebody plays it back.  The same answer
   * makes no new keys. */
  if (!fmx_join_same (join->proof, session->join.proof, sizeof join->proof)) {
    mixer->stats.n_forged++;
    return;
  }
  mixer->stats.n_repeated++;
  message.u.accept = session->accept;
  reply (result, &message);
}

/* --- PING, BYE ----------------------------------------------------------- */

static void
session_free (FmxJoinMixer *mixer, FmxJoinSession *session)
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

static void
clear (FmxJoinMixerResult *result)
{
  memset (result, 0, sizeof *result);
  result->session = FMX_JOIN_NO_SESSION;
  result->replaced = FMX_JOIN_NO_SESSION;
}

void
fmx_join_mixer_remove (FmxJoinMixer *mixer, uint32_t index,
    FmxJoinReason reason, FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_BYE };
  FmxJoinSession *session = &mixer->table.sessions[index];

  assert (index < mixer->table.n && session->state != FMX_JOIN_FREE);
  clear (result);
  result->event = session->state == FMX_JOIN_JOINED ?
      FMX_JOIN_MIXER_LEFT : FMX_JOIN_MIXER_NOTHING;
  result->reason = reason;
  result->session = index;
  result->to = session->address;
  message.u.control.reason = (uint16_t) reason;
  write_control (mixer, session, &message, result);
  session_free (mixer, session);
}

static void
tell (FmxJoinMixer *mixer, uint32_t index, FmxJoinMessage *message,
    FmxJoinMixerResult *result)
{
  FmxJoinSession *session = &mixer->table.sessions[index];

  assert (index < mixer->table.n && session->state == FMX_JOIN_JOINED);
  clear (result);
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
  session_free (mixer, old);
}

/* The first PING of a join */
static void
confirm (FmxJoinMixer *mixer, FmxJoinSession *session,
    FmxJoinMixerResult *result)
{
  if (is_full (mixer, session)) {
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

static void
on_control (FmxJoinMixer *mixer, const FmxJoinAddress *from,
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
    session_free (mixer, session);
  }
}

/* --- the outside --------------------------------------------------------- */

void
fmx_join_mixer_on_datagram (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const uint8_t *data, size_t size, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinMessage message;
  FmxJoinVerdict verdict = fmx_join_message_parse (&message, data, size);

  clear (result);
  result->to = *from;
  if (verdict == FMX_JOIN_INVALID) {
    mixer->stats.n_invalid++;
    return;
  }
  if (message.type == FMX_JOIN_HELLO
      && !fmx_join_guard_take_hello (&mixer->guard,
          mixer->params.max_hellos_per_s, now)) {
    mixer->stats.n_limited++;
    return;
  }
  switch (message.type) {
    case FMX_JOIN_HELLO:
      if (verdict == FMX_JOIN_OTHER_VERSION)
        refuse (result, message.u.hello.nonce, FMX_JOIN_REASON_VERSION);
      else
        on_hello (mixer, from, &message.u.hello, result, now);
      break;
    case FMX_JOIN_JOIN:
      on_join (mixer, from, &message.u.join, result, now);
      break;
    case FMX_JOIN_PING:
    case FMX_JOIN_BYE:
    case FMX_JOIN_MIXES:
      on_control (mixer, from, &message, result, now);
      break;
    default:
      mixer->stats.n_unexpected++;
      break;
  }
}

FmxTime
fmx_join_mixer_next_timeout (const FmxJoinMixer *mixer)
{
  return fmx_join_sessions_next_deadline (&mixer->table,
      mixer->params.confirm_timeout, mixer->params.timeout);
}

bool
fmx_join_mixer_on_timeout (FmxJoinMixer *mixer, FmxJoinMixerResult *result,
    FmxTime now)
{
  clear (result);
  for (uint32_t i = 0; i < mixer->table.n; i++) {
    FmxJoinSession *session = &mixer->table.sessions[i];

    if (fmx_join_session_deadline (session, mixer->params.confirm_timeout,
            mixer->params.timeout) > now)
      continue;
    if (session->state == FMX_JOIN_JOINED) {
      mixer->stats.n_timeouts++;
      fmx_join_mixer_remove (mixer, i, FMX_JOIN_REASON_TIMEOUT, result);
      return true;
    }
    session_free (mixer, session);
  }
  return false;
}

const FmxJoinSession *
fmx_join_mixer_session (const FmxJoinMixer *mixer, uint32_t session)
{
  assert (session < mixer->table.n);
  return &mixer->table.sessions[session];
}

void
fmx_join_mixer_get_stats (const FmxJoinMixer *mixer, FmxJoinMixerStats *stats)
{
  *stats = mixer->stats;
}
