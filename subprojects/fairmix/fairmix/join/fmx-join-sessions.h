/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_SESSIONS_H
#define FMX_JOIN_SESSIONS_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/join/fmx-join-crypto.h"
#include "fairmix/join/fmx-join-guard.h"
#include "fairmix/join/fmx-join-message.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_JOIN_NO_SESSION: no index of a session */
#define FMX_JOIN_NO_SESSION UINT32_MAX

/**
 * FmxJoinSessionState:
 * @FMX_JOIN_FREE: nobody is here
 * @FMX_JOIN_PENDING: somebody who knows the secret asked, and got an answer
 * @FMX_JOIN_JOINED: a neighbour
 */
typedef enum
{
  FMX_JOIN_FREE,
  FMX_JOIN_PENDING,
  FMX_JOIN_JOINED
} FmxJoinSessionState;

/**
 * FmxJoinSession:
 * @state: whether the rest means anything
 * @address: where it is
 * @join: what it said of itself
 * @keys: what it and we have in common
 *
 * A place in a mixer's table of neighbours; to be read only.
 */
typedef struct
{
  FmxJoinSessionState state;
  FmxJoinAddress address;
  FmxJoinJoin join;
  FmxJoinKeys keys;
  /*< private >*/
  uint64_t id;
  uint64_t counter_out;
  uint64_t counter_in;
  FmxTime last_heard;
  FmxJoinAccept accept;
  unsigned host;                /* its group: fmx_join_guard_host() */
} FmxJoinSession;

/** FmxJoinSessions: the table; it owns nothing. */
typedef struct
{
  /*< private >*/
  const FmxJoinCrypto *crypto;
  FmxJoinSession *sessions;
  uint32_t n;
} FmxJoinSessions;

/** fmx_join_sessions_init: @sessions: (array length=n): the caller's memory */
void fmx_join_sessions_init (FmxJoinSessions * table,
    const FmxJoinCrypto * crypto, FmxJoinSession * sessions, uint32_t n);

/* Each: O(n).  Returns: (transfer none) (nullable): the place */
FmxJoinSession *fmx_join_sessions_find_free (FmxJoinSessions * table);
FmxJoinSession *fmx_join_sessions_find_nonce (FmxJoinSessions * table,
    const uint8_t * nonce);
FmxJoinSession *fmx_join_sessions_find_id (FmxJoinSessions * table,
    uint64_t id);

/** fmx_join_sessions_find_crowded: Returns: (nullable): where no place is free, the one
 * that @host may have: of the group of hosts of which most joins are pending, the oldest.
 * %NULL: of no group are there two more than of @host.  O(n) */
FmxJoinSession *fmx_join_sessions_find_crowded (FmxJoinSessions * table,
    unsigned host);

/** fmx_join_sessions_index: Returns: of a @session of @table */
static inline uint32_t
fmx_join_sessions_index (const FmxJoinSessions * table,
    const FmxJoinSession * session)
{
  return (uint32_t) (session - table->sessions);
}

/** fmx_join_sessions_new_id: Returns: a random one, not 0, that no session has */
uint64_t fmx_join_sessions_new_id (FmxJoinSessions * table);

/** fmx_join_session_deadline: Returns: when nothing was heard of @session for
 * @confirm_timeout since its join, or, once it is in, for @timeout;
 * %FMX_TIME_NONE: nobody is here */
FmxTime fmx_join_session_deadline (const FmxJoinSession * session,
    FmxDuration confirm_timeout, FmxDuration timeout);

/** fmx_join_sessions_next_deadline: Returns: the first of all; O(n) */
FmxTime fmx_join_sessions_next_deadline (const FmxJoinSessions * table,
    FmxDuration confirm_timeout, FmxDuration timeout);

/** fmx_join_sessions_find_replaced: Returns: (nullable): the neighbour in whose
 * place @session comes: the one that it says and proves to go on from, else
 * the one at its address */
FmxJoinSession *fmx_join_sessions_find_replaced (FmxJoinSessions * table,
    const FmxJoinSession * session);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_SESSIONS_H */
