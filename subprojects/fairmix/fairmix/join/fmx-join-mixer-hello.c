/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "fairmix/join/fmx-join-mixer-private.h"

static void
reply (FmxJoinMixerResult *result, const FmxJoinMessage *message)
{
  result->size = fmx_join_message_write (message, result->data);
}

void
fmx_join_mixer_refuse (FmxJoinMixerResult *result, const uint8_t *nonce,
    FmxJoinReason reason)
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

void
fmx_join_mixer_on_hello (FmxJoinMixer *mixer, const FmxJoinAddress *from,
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

bool
fmx_join_mixer_is_full (FmxJoinMixer *mixer, const FmxJoinSession *session)
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
  bool good;

  message->type = FMX_JOIN_ACCEPT;
  accept->session = fmx_join_sessions_new_id (&mixer->table);
  accept->root = mixer->root;
  accept->depth = mixer->depth;
  memcpy (agreed.shared, shared, sizeof agreed.shared);
  memcpy (agreed.mixer_key, mixer->key, sizeof agreed.mixer_key);
  good = fmx_join_accept_make (mixer->crypto, &mixer->secret, &agreed,
      &session->join, accept, &session->keys);
  fmx_join_wipe (&agreed, sizeof agreed);
  session->id = accept->session;
  session->accept = *accept;
  return good;
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
  return fmx_join_mixer_is_full (mixer, candidate) ? FMX_JOIN_REASON_FULL :
      FMX_JOIN_REASON_NONE;
}

static void
again (FmxJoinMixer *mixer, const FmxJoinSession *session,
    const FmxJoinJoin *join, FmxJoinMixerResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_ACCEPT };

  /* Our answer was lost, or somebody plays it back.  The same answer makes no new
   * keys. */
  if (!fmx_join_same (join->proof, session->join.proof, sizeof join->proof)) {
    mixer->stats.n_forged++;
    return;
  }
  mixer->stats.n_repeated++;
  message.u.accept = session->accept;
  reply (result, &message);
}

void
fmx_join_mixer_on_join (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const FmxJoinJoin *join, FmxJoinMixerResult *result, FmxTime now)
{
  const FmxJoinSession *session;

  if (!fmx_join_guard_cookie_is_good (&mixer->guard, from, join, now)) {
    mixer->stats.n_bad_cookies++;
    return;
  }
  session = fmx_join_sessions_find_nonce (&mixer->table, join->nonce);
  if (session != NULL) {
    again (mixer, session, join, result);
  } else if (fmx_join_guard_take_join (&mixer->guard, from,
          mixer->params.max_joins_per_host_per_s,
          mixer->params.max_joins_per_s, now)) {
    result->event = FMX_JOIN_MIXER_KNOCKED;
  } else {
    mixer->stats.n_limited++;
    fmx_join_mixer_refuse (result, join->nonce, FMX_JOIN_REASON_BUSY);
  }
}

/* One host may have all places for joins while nobody else wants one.
 * Returns: (nullable): a free place, or that of somebody who has to go */
static FmxJoinSession *
find_place (FmxJoinMixer *mixer, unsigned host)
{
  FmxJoinSession *session = fmx_join_sessions_find_free (&mixer->table);

  return session != NULL ? session :
      fmx_join_sessions_find_crowded (&mixer->table, host);
}

static void
let_in (FmxJoinMixer *mixer, FmxJoinSession *candidate, uint8_t *shared,
    FmxJoinMixerResult *result)
{
  const FmxJoinJoin *join = &candidate->join;
  FmxJoinSession *session = find_place (mixer, candidate->host);
  FmxJoinMessage message = { 0 };
  FmxJoinReason reason;

  if (session == NULL) {
    mixer->stats.n_limited++;
    fmx_join_mixer_refuse (result, join->nonce, FMX_JOIN_REASON_BUSY);
    return;
  }
  if (!mixer->crypto->agree (mixer->crypto->user, join->key, shared)) {
    mixer->stats.n_forged++;
    return;
  }
  reason = judge (mixer, candidate, shared);
  if (reason != FMX_JOIN_REASON_NONE) {
    if (reason == FMX_JOIN_REASON_SECRET)
      mixer->stats.n_wrong_secret++;
    else
      mixer->stats.n_refused++;
    fmx_join_mixer_refuse (result, join->nonce, reason);
    return;
  }
  if (!session_make (mixer, candidate, shared, &message)) {
    mixer->stats.n_forged++;
    return;
  }
  if (session->state == FMX_JOIN_PENDING) {
    mixer->stats.n_limited++;
    fmx_join_mixer_free (mixer, session);
  }
  candidate->state = FMX_JOIN_PENDING;
  *session = *candidate;
  mixer->stats.n_pending++;
  reply (result, &message);
}

void
fmx_join_mixer_admit (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const uint8_t *data, size_t size, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinSession candidate = { 0 }, *session;
  FmxJoinMessage message;
  FmxJoinVerdict verdict = fmx_join_message_parse (&message, data, size);
  uint8_t shared[FMX_JOIN_PUBLIC_BYTES];

  assert (verdict == FMX_JOIN_VALID && message.type == FMX_JOIN_JOIN);
  (void) verdict;
  fmx_join_mixer_clear (result);
  result->to = *from;
  session = fmx_join_sessions_find_nonce (&mixer->table, message.u.join.nonce);
  if (session != NULL) {        /* it knocked twice */
    again (mixer, session, &message.u.join, result);
    return;
  }
  candidate.address = *from;
  candidate.join = message.u.join;
  candidate.last_heard = now;
  candidate.host = fmx_join_guard_host (&mixer->guard, from);
  let_in (mixer, &candidate, shared, result);
  fmx_join_wipe (&candidate, sizeof candidate);
  fmx_join_wipe (shared, sizeof shared);
}
