/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-sessions.h"

#include <string.h>

void
fmx_join_sessions_init (FmxJoinSessions *table, const FmxJoinCrypto *crypto,
    FmxJoinSession *sessions, uint32_t n)
{
  table->crypto = crypto;
  table->sessions = sessions;
  table->n = n;
  memset (sessions, 0, n * sizeof *sessions);
}

FmxJoinSession *
fmx_join_sessions_find_free (FmxJoinSessions *table)
{
  for (uint32_t i = 0; i < table->n; i++)
    if (table->sessions[i].state == FMX_JOIN_FREE)
      return &table->sessions[i];
  return NULL;
}

FmxJoinSession *
fmx_join_sessions_find_crowded (FmxJoinSessions *table, unsigned host)
{
  uint32_t n_pending[FMX_JOIN_HOSTS] = { 0 };
  FmxJoinSession *oldest = NULL;
  unsigned most = host;

  for (uint32_t i = 0; i < table->n; i++) {
    const FmxJoinSession *session = &table->sessions[i];

    if (session->state == FMX_JOIN_PENDING
        && ++n_pending[session->host] > n_pending[most])
      most = session->host;
  }
  if (n_pending[most] < n_pending[host] + 2)
    return NULL;
  for (uint32_t i = 0; i < table->n; i++) {
    FmxJoinSession *session = &table->sessions[i];

    if (session->state == FMX_JOIN_PENDING && session->host == most
        && (oldest == NULL || session->last_heard < oldest->last_heard))
      oldest = session;
  }
  return oldest;
}

FmxJoinSession *
fmx_join_sessions_find_nonce (FmxJoinSessions *table, const uint8_t *nonce)
{
  for (uint32_t i = 0; i < table->n; i++)
    if (table->sessions[i].state != FMX_JOIN_FREE
        && memcmp (table->sessions[i].join.nonce, nonce,
            FMX_JOIN_NONCE_BYTES) == 0)
      return &table->sessions[i];
  return NULL;
}

FmxJoinSession *
fmx_join_sessions_find_id (FmxJoinSessions *table, uint64_t id)
{
  for (uint32_t i = 0; i < table->n; i++)
    if (table->sessions[i].state != FMX_JOIN_FREE
        && table->sessions[i].id == id)
      return &table->sessions[i];
  return NULL;
}

uint64_t
fmx_join_sessions_new_id (FmxJoinSessions *table)
{
  uint64_t id;

  do
    table->crypto->random (table->crypto->user, (uint8_t *) &id, sizeof id);
  while (id == 0 || fmx_join_sessions_find_id (table, id) != NULL);
  return id;
}

FmxTime
fmx_join_session_deadline (const FmxJoinSession *session,
    FmxDuration confirm_timeout, FmxDuration timeout)
{
  switch (session->state) {
    case FMX_JOIN_PENDING:
      return session->last_heard + (FmxTime) confirm_timeout;
    case FMX_JOIN_JOINED:
      return session->last_heard + (FmxTime) timeout;
    default:
      return FMX_TIME_NONE;
  }
}

FmxTime
fmx_join_sessions_next_deadline (const FmxJoinSessions *table,
    FmxDuration confirm_timeout, FmxDuration timeout)
{
  FmxTime next = FMX_TIME_NONE;

  for (uint32_t i = 0; i < table->n; i++)
    next = fmx_time_min (next, fmx_join_session_deadline (&table->sessions[i],
            confirm_timeout, timeout));
  return next;
}

FmxJoinSession *
fmx_join_sessions_find_replaced (FmxJoinSessions *table,
    const FmxJoinSession *session)
{
  FmxJoinSession *other = NULL;
  uint8_t tag[FMX_JOIN_TAG_BYTES];

  if (session->join.previous != 0)
    other = fmx_join_sessions_find_id (table, session->join.previous);
  if (other != NULL && other != session && other->state == FMX_JOIN_JOINED) {
    fmx_join_resume_tag (table->crypto, other->keys.control_to_mixer,
        &session->join, tag);
    if (fmx_join_same (tag, session->join.resume, sizeof tag))
      return other;
  }
  for (uint32_t i = 0; i < table->n; i++) {
    other = &table->sessions[i];
    if (other != session && other->state == FMX_JOIN_JOINED
        && fmx_join_address_same (&other->address, &session->address))
      return other;
  }
  return NULL;
}
