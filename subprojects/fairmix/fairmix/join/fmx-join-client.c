/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-client.h"

#include <string.h>

/* After a refusal that may pass */
#define REFUSED_PAUSE (1 * FMX_SECOND)

void
fmx_join_client_params_default (FmxJoinClientParams *params)
{
  memset (params, 0, sizeof *params);
  params->first_retry = 100 * FMX_MSECOND;
  params->max_retry = 500 * FMX_MSECOND;
  params->hello_timeout = 3 * FMX_SECOND;
  params->join_timeout = 1 * FMX_SECOND;
  params->ping_interval = 500 * FMX_MSECOND;
  params->suspect_after = 1200 * FMX_MSECOND;
  params->timeout = 5 * FMX_SECOND;
  params->flags = FMX_JOIN_MAY_SEND | FMX_JOIN_MAY_RECEIVE;
}

void
fmx_join_client_init (FmxJoinClient *client, const FmxJoinClientParams *params,
    const FmxJoinCrypto *crypto, const FmxJoinSecret *secret, FmxTime now)
{
  memset (client, 0, sizeof *client);
  client->params = *params;
  client->crypto = crypto;
  client->secret = *secret;
  client->phase = FMX_JOIN_PHASE_WAIT;
  client->next_send = now;
}

/* --- the attempt --------------------------------------------------------- */

static void
attempt_later (FmxJoinClient *client, FmxDuration pause, FmxTime now)
{
  client->phase = FMX_JOIN_PHASE_WAIT;
  client->next_send = now + (FmxTime) pause;
}

static void
attempt_begin (FmxJoinClient *client, FmxTime now)
{
  client->stats.n_attempts++;
  client->attempt_begin = client->next_send = now;
  client->retry = client->params.first_retry;
  client->crypto->random (client->crypto->user, client->nonce,
      sizeof client->nonce);
  if (client->crypto->generate (client->crypto->user, client->key))
    client->phase = FMX_JOIN_PHASE_HELLO;
  else
    attempt_later (client, client->params.max_retry, now);
}

static void
attempt_send (FmxJoinClient *client, FmxJoinClientResult *result, FmxTime now)
{
  FmxJoinMessage message = { 0 };

  if (client->phase == FMX_JOIN_PHASE_HELLO) {
    message.type = FMX_JOIN_HELLO;
    memcpy (message.u.hello.nonce, client->nonce, sizeof client->nonce);
  } else {
    message.type = FMX_JOIN_JOIN;
    message.u.join = client->join;
  }
  result->size = fmx_join_message_write (&message, result->data);
  client->next_send = now + (FmxTime) client->retry;
  client->retry *= 2;
  if (client->retry > client->params.max_retry)
    client->retry = client->params.max_retry;
}

static void
on_cookie (FmxJoinClient *client, const FmxJoinCookie *cookie,
    FmxJoinClientResult *result, FmxTime now)
{
  const FmxJoinCrypto *crypto = client->crypto;
  FmxJoinJoin *join = &client->join;

  if (client->phase != FMX_JOIN_PHASE_HELLO
      || !fmx_join_same (cookie->nonce, client->nonce, sizeof client->nonce)) {
    client->stats.n_stale++;
    return;
  }
  if (!crypto->agree (crypto->user, cookie->key, client->shared)) {
    client->stats.n_forged++;
    return;
  }
  memcpy (client->mixer_key, cookie->key, sizeof client->mixer_key);
  memset (join, 0, sizeof *join);
  memcpy (join->nonce, client->nonce, sizeof join->nonce);
  memcpy (join->cookie, cookie->cookie, sizeof join->cookie);
  memcpy (join->key, client->key, sizeof join->key);
  join->node = client->params.node;
  join->max_streams = client->params.max_streams;
  join->flags = client->params.flags;
  memcpy (join->name, client->params.name, sizeof join->name);
  if (client->joined) {
    join->previous = client->session;
    fmx_join_resume_tag (crypto, client->keys.control_to_mixer, join,
        join->resume);
  }
  fmx_join_proof_of_join (crypto, &client->secret, client->shared,
      client->mixer_key, join, join->proof);
  client->phase = FMX_JOIN_PHASE_JOIN;
  client->attempt_begin = now;
  client->retry = client->params.first_retry;
  attempt_send (client, result, now);
}

/* --- the session --------------------------------------------------------- */

/* @message: what is in it beyond what all have is set */
static void
session_write (FmxJoinClient *client, FmxJoinMessage *message,
    FmxJoinClientResult *result)
{
  FmxJoinControl *control = &message->u.control;

  control->session = client->session;
  control->counter = ++client->counter_out;
  control->echo = client->counter_in;
  control->path = client->path;
  result->size = fmx_join_control_write (client->crypto,
      client->keys.control_to_mixer, message, result->data);
}

static void
session_send (FmxJoinClient *client, FmxJoinType type, FmxJoinReason reason,
    FmxJoinClientResult *result)
{
  FmxJoinMessage message = {.type = type };

  message.u.control.reason = (uint16_t) reason;
  session_write (client, &message, result);
}

static void
ping (FmxJoinClient *client, FmxJoinClientResult *result, FmxTime now)
{
  session_send (client, FMX_JOIN_PING, FMX_JOIN_REASON_NONE, result);
  client->pinged = now;
  /* until the first answer, which may be lost, as the first PING may */
  client->next_ping = now + (FmxTime) (client->path == 0 ?
      client->params.first_retry : client->params.ping_interval);
}

static void
session_end (FmxJoinClient *client)
{
  client->joined = false;
  memset (&client->keys, 0, sizeof client->keys);
  client->session = 0;
}

static void
session_begin (FmxJoinClient *client, const FmxJoinAccept *accept, FmxTime now)
{
  client->joined = true;
  client->renews = false;
  client->busy_until = 0;
  client->phase = FMX_JOIN_PHASE_NONE;
  client->session = accept->session;
  client->counter_out = client->counter_in = client->path = 0;
  client->root = accept->root;
  client->depth = accept->depth;
  client->last_heard = now;
  client->stats.n_joined++;
}

static void
on_accept (FmxJoinClient *client, const FmxJoinAccept *accept,
    FmxJoinClientResult *result, FmxTime now)
{
  const FmxJoinCrypto *crypto = client->crypto;
  uint8_t proof[FMX_JOIN_MAC_BYTES];
  FmxJoinAgreed agreed;
  FmxJoinKeys keys;

  if (client->phase != FMX_JOIN_PHASE_JOIN
      || !fmx_join_same (accept->nonce, client->nonce, sizeof client->nonce)) {
    client->stats.n_stale++;
    return;
  }
  memcpy (agreed.shared, client->shared, sizeof agreed.shared);
  memcpy (agreed.mixer_key, client->mixer_key, sizeof agreed.mixer_key);
  if (accept->session == 0
      || !crypto->agree (crypto->user, accept->key, agreed.fresh)) {
    client->stats.n_forged++;
    return;
  }
  fmx_join_session_keys (crypto, &client->secret, &agreed, &client->join,
      accept, &keys);
  fmx_join_proof_of_accept (crypto, &keys, &client->join, accept, proof);
  if (!fmx_join_same (proof, accept->proof, sizeof proof)) {
    client->stats.n_forged++;
    return;
  }
  client->keys = keys;
  session_begin (client, accept, now);
  ping (client, result, now);
  result->event = FMX_JOIN_CLIENT_JOINED;
}

/* Returns: whether it is news that we are refused; who is busy may soon have time */
static bool
is_news (FmxJoinClient *client, unsigned reason, FmxTime now)
{
  if (reason == FMX_JOIN_REASON_BUSY && client->busy_until == 0)
    client->busy_until = now + (FmxTime) client->params.hello_timeout;
  if (reason != FMX_JOIN_REASON_BUSY || now >= client->busy_until)
    client->busy_until = 0;
  return client->busy_until == 0;
}

static void
on_refuse (FmxJoinClient *client, const FmxJoinRefuse *refuse,
    FmxJoinClientResult *result, FmxTime now)
{
  if ((client->phase != FMX_JOIN_PHASE_HELLO
          && client->phase != FMX_JOIN_PHASE_JOIN)
      || !fmx_join_same (refuse->nonce, client->nonce, sizeof client->nonce)) {
    client->stats.n_stale++;
    return;
  }
  result->reason = (FmxJoinReason) refuse->reason;
  /* Anybody on the way can say this: while we are in, it is no news. */
  if (!client->joined && is_news (client, refuse->reason, now))
    result->event = FMX_JOIN_CLIENT_REFUSED;
  if (!client->joined && (refuse->reason == FMX_JOIN_REASON_VERSION
          || refuse->reason == FMX_JOIN_REASON_SECRET))
    client->phase = FMX_JOIN_PHASE_CLOSED;
  else
    attempt_later (client, REFUSED_PAUSE, now);
}

static void
on_pong (FmxJoinClient *client, const FmxJoinControl *control,
    FmxJoinClientResult *result, FmxTime now)
{
  client->last_heard = now;
  if (control->echo == client->counter_out)
    client->stats.rtt = fmx_time_diff (now, client->pinged);
  if (!client->renews)          /* it was only late: no need to join anew */
    client->phase = FMX_JOIN_PHASE_NONE;
  if (control->root != client->root || control->depth != client->depth) {
    client->root = control->root;
    client->depth = control->depth;
    result->event = FMX_JOIN_CLIENT_ROOT;
  }
  if (control->path != client->path) {
    bool moved = client->path != 0;

    client->path = control->path;
    if (moved)
      ping (client, result, now);       /* the mixer waits to hear it from here */
  }
}

static void
on_wish (FmxJoinClient *client, const FmxJoinMessage *message,
    FmxJoinClientResult *result, FmxTime now)
{
  bool move = message->type == FMX_JOIN_MOVE;
  unsigned flag = move ? FMX_JOIN_MAY_MOVE : FMX_JOIN_MAY_MIX;

  client->last_heard = now;
  if ((client->params.flags & flag) == 0)
    return;
  result->event = move ? FMX_JOIN_CLIENT_MOVE : FMX_JOIN_CLIENT_ASKED;
  result->begin = !move && message->u.control.reason != 0;
  if (move) {
    result->n_places = message->u.places.n;
    memcpy (result->places, message->u.places.places, sizeof result->places);
  }
}

static void
on_control (FmxJoinClient *client, const FmxJoinMessage *message,
    FmxJoinClientResult *result, FmxTime now)
{
  const FmxJoinControl *control = &message->u.control;

  if (!client->joined || control->session != client->session) {
    client->stats.n_stale++;
    return;
  }
  if (!fmx_join_control_is_genuine (client->crypto,
          client->keys.control_to_client, message)) {
    client->stats.n_forged++;
    return;
  }
  if (control->counter <= client->counter_in) {
    client->stats.n_replayed++;
    return;
  }
  client->counter_in = control->counter;
  if (message->type != FMX_JOIN_BYE) {
    if (message->type == FMX_JOIN_PONG)
      on_pong (client, control, result, now);
    else
      on_wish (client, message, result, now);
    return;
  }
  session_end (client);
  result->event = FMX_JOIN_CLIENT_LEFT;
  result->reason = (FmxJoinReason) control->reason;
  attempt_later (client, control->reason == FMX_JOIN_REASON_LEAVE ?
      client->params.first_retry : REFUSED_PAUSE, now);
}

/* --- the outside --------------------------------------------------------- */

void
fmx_join_client_on_datagram (FmxJoinClient *client, const uint8_t *data,
    size_t size, FmxJoinClientResult *result, FmxTime now)
{
  FmxJoinMessage message;

  memset (result, 0, sizeof *result);
  if (fmx_join_message_parse (&message, data, size) != FMX_JOIN_VALID) {
    client->stats.n_invalid++;
    return;
  }
  switch (message.type) {
    case FMX_JOIN_COOKIE:
      on_cookie (client, &message.u.cookie, result, now);
      break;
    case FMX_JOIN_ACCEPT:
      on_accept (client, &message.u.accept, result, now);
      break;
    case FMX_JOIN_REFUSE:
      on_refuse (client, &message.u.refuse, result, now);
      break;
    case FMX_JOIN_PONG:
    case FMX_JOIN_BYE:
    case FMX_JOIN_ASK:
    case FMX_JOIN_MOVE:
      on_control (client, &message, result, now);
      break;
    default:
      client->stats.n_invalid++;
      break;
  }
}

FmxTime
fmx_join_client_next_timeout (const FmxJoinClient *client)
{
  FmxTime next = FMX_TIME_NONE;

  if (client->phase != FMX_JOIN_PHASE_NONE
      && client->phase != FMX_JOIN_PHASE_CLOSED)
    next = client->next_send;
  if (!client->joined)
    return next;
  next = fmx_time_min (next, client->next_ping);
  if (client->phase == FMX_JOIN_PHASE_NONE)
    next = fmx_time_min (next,
        client->last_heard + (FmxTime) client->params.suspect_after);
  return fmx_time_min (next,
      client->last_heard + (FmxTime) client->params.timeout);
}

static void
session_on_timeout (FmxJoinClient *client, FmxJoinClientResult *result,
    FmxTime now)
{
  FmxDuration silence = fmx_time_diff (now, client->last_heard);

  if (silence >= client->params.timeout) {
    session_end (client);
    client->stats.n_lost++;
    result->event = FMX_JOIN_CLIENT_LEFT;
    result->reason = FMX_JOIN_REASON_TIMEOUT;
    if (client->phase == FMX_JOIN_PHASE_NONE)
      attempt_later (client, 0, now);
  } else if (now >= client->next_ping) {
    ping (client, result, now);
  } else if (client->phase == FMX_JOIN_PHASE_NONE
      && silence >= client->params.suspect_after) {
    attempt_later (client, 0, now);
  }
}

static void
attempt_on_timeout (FmxJoinClient *client, FmxJoinClientResult *result,
    FmxTime now)
{
  FmxDuration patience = client->phase == FMX_JOIN_PHASE_JOIN ?
      client->params.join_timeout : client->params.hello_timeout;

  if (client->phase == FMX_JOIN_PHASE_WAIT) {
    attempt_begin (client, now);
  } else if (fmx_time_diff (now, client->attempt_begin) >= patience) {
    if (!client->joined && result->event == FMX_JOIN_CLIENT_NOTHING)
      result->event = FMX_JOIN_CLIENT_SILENT;
    attempt_begin (client, now);
  }
  if (client->phase == FMX_JOIN_PHASE_HELLO
      || client->phase == FMX_JOIN_PHASE_JOIN)
    attempt_send (client, result, now);
}

bool
fmx_join_client_on_timeout (FmxJoinClient *client, FmxJoinClientResult *result,
    FmxTime now)
{
  memset (result, 0, sizeof *result);
  if (client->joined)
    session_on_timeout (client, result, now);
  if (result->size == 0 && client->phase != FMX_JOIN_PHASE_NONE
      && client->phase != FMX_JOIN_PHASE_CLOSED && now >= client->next_send)
    attempt_on_timeout (client, result, now);
  return result->size > 0 || result->event != FMX_JOIN_CLIENT_NOTHING;
}

static void
leave (FmxJoinClient *client, FmxJoinReason reason, FmxJoinClientResult *result)
{
  memset (result, 0, sizeof *result);
  if (client->joined) {
    session_send (client, FMX_JOIN_BYE, reason, result);
    result->event = FMX_JOIN_CLIENT_LEFT;
    result->reason = reason;
  }
  session_end (client);
  client->phase = FMX_JOIN_PHASE_CLOSED;
}

void
fmx_join_client_leave (FmxJoinClient *client, FmxJoinClientResult *result)
{
  leave (client, FMX_JOIN_REASON_LEAVE, result);
}

void
fmx_join_client_part (FmxJoinClient *client, FmxJoinClientResult *result)
{
  leave (client, FMX_JOIN_REASON_MOVED, result);
}

void
fmx_join_client_answer (FmxJoinClient *client, const FmxJoinMixing *mixing,
    const FmxJoinAddress *places, unsigned n, FmxJoinClientResult *result)
{
  FmxJoinMessage message = {.type = FMX_JOIN_MIXES };

  memset (result, 0, sizeof *result);
  if (!client->joined)
    return;
  message.u.control.reason = mixing->mixes;
  message.u.control.root = mixing->least_bps;
  message.u.places.n_below = (uint16_t) mixing->n_below;
  fmx_join_places_set (&message.u.places, places, n);
  session_write (client, &message, result);
}

void
fmx_join_client_quit (FmxJoinClient *client, FmxJoinReason reason,
    FmxDuration pause, FmxJoinClientResult *result, FmxTime now)
{
  fmx_join_client_leave (client, result);
  result->reason = reason;
  attempt_later (client, pause, now);
}

void
fmx_join_client_renew (FmxJoinClient *client, FmxTime now)
{
  if (!client->joined || client->renews)
    return;
  client->renews = true;
  if (client->phase == FMX_JOIN_PHASE_NONE)
    attempt_later (client, 0, now);
}

const FmxJoinKeys *
fmx_join_client_keys (const FmxJoinClient *client)
{
  return client->joined ? &client->keys : NULL;
}

uint64_t
fmx_join_client_root (const FmxJoinClient *client, uint16_t *depth)
{
  *depth = client->depth;
  return client->root;
}

void
fmx_join_client_get_stats (const FmxJoinClient *client,
    FmxJoinClientStats *stats)
{
  *stats = client->stats;
}
