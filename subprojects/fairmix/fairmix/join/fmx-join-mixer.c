/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "fairmix/join/fmx-join-mixer-private.h"

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

void
fmx_join_mixer_clear (FmxJoinMixerResult *result)
{
  memset (result, 0, sizeof *result);
  result->session = FMX_JOIN_NO_SESSION;
  result->replaced = FMX_JOIN_NO_SESSION;
}

void
fmx_join_mixer_on_datagram (FmxJoinMixer *mixer, const FmxJoinAddress *from,
    const uint8_t *data, size_t size, FmxJoinMixerResult *result, FmxTime now)
{
  FmxJoinMessage message;
  FmxJoinVerdict verdict = fmx_join_message_parse (&message, data, size);

  fmx_join_mixer_clear (result);
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
        fmx_join_mixer_refuse (result, message.u.hello.nonce,
            FMX_JOIN_REASON_VERSION);
      else
        fmx_join_mixer_on_hello (mixer, from, &message.u.hello, result, now);
      break;
    case FMX_JOIN_JOIN:
      fmx_join_mixer_on_join (mixer, from, &message.u.join, result, now);
      break;
    case FMX_JOIN_PING:
    case FMX_JOIN_BYE:
    case FMX_JOIN_MIXES:
      fmx_join_mixer_on_control (mixer, from, &message, result, now);
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
  fmx_join_mixer_clear (result);
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
    fmx_join_mixer_free (mixer, session);
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
