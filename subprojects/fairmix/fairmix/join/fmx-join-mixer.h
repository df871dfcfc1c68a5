/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_MIXER_H
#define FMX_JOIN_MIXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/join/fmx-join-crypto.h"
#include "fairmix/join/fmx-join-guard.h"
#include "fairmix/join/fmx-join-message.h"
#include "fairmix/join/fmx-join-sessions.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_JOIN_MAX_DEPTH: a tree of mixers with more below each other is taken
 * for a loop */
#define FMX_JOIN_MAX_DEPTH 32u

/**
 * FmxJoinMixerParams:
 * @max_clients: so many neighbours at a time; 64
 * @timeout: a neighbour of whom nothing was heard for so long has left; 5 s
 * @confirm_timeout: so long a join may stay without its first PING; 2 s
 * @cookie_life: a cookie is good for so long at least, twice that at most; 10 s
 * @max_hellos_per_s: answered by all; 5000
 * @max_joins_per_s: looked at by all: each costs two X25519; 400
 * @max_joins_per_host_per_s: of one IPv4 address or IPv6 /64 network; 100
 * @node: this mixer among mixers: random, not 0
 */
typedef struct
{
  uint32_t max_clients;
  FmxDuration timeout;
  FmxDuration confirm_timeout;
  FmxDuration cookie_life;
  uint32_t max_hellos_per_s;
  uint32_t max_joins_per_s;
  uint32_t max_joins_per_host_per_s;
  uint64_t node;
} FmxJoinMixerParams;

/**
 * FmxJoinMixerStats:
 * @n_invalid: datagrams that are no message
 * @n_unexpected: messages that only a mixer sends: reflected ones, mostly
 * @n_hellos: HELLOs that were answered
 * @n_limited: HELLOs and JOINs that were not looked at, because there were too
 *     many, and pending ones that went for one of another host
 * @n_bad_cookies: JOINs from an address that did not get their cookie, or too
 *     long ago
 * @n_wrong_secret: JOINs that did not prove to know the secret
 * @n_refused: JOINs refused for another reason
 * @n_repeated: JOINs that had been answered before
 * @n_unknown: PINGs and BYEs of sessions that are not there
 * @n_forged: PINGs and BYEs that are not genuine, JOINs that contradict an
 *     earlier one
 * @n_replayed: genuine ones that had been heard before, or came too late
 * @n_joined: neighbours that came
 * @n_left: those that left, for whatever reason
 * @n_timeouts: of those, because nothing was heard of them
 * @n_moved: neighbours that went on at another address
 * @n_pending: joins that wait for their first PING now
 * @n_sessions: neighbours now
 */
typedef struct
{
  uint64_t n_invalid;
  uint64_t n_unexpected;
  uint64_t n_hellos;
  uint64_t n_limited;
  uint64_t n_bad_cookies;
  uint64_t n_wrong_secret;
  uint64_t n_refused;
  uint64_t n_repeated;
  uint64_t n_unknown;
  uint64_t n_forged;
  uint64_t n_replayed;
  uint64_t n_joined;
  uint64_t n_left;
  uint64_t n_timeouts;
  uint64_t n_moved;
  uint32_t n_pending;
  uint32_t n_sessions;
} FmxJoinMixerStats;

/**
 * FmxJoinMixerEvent:
 * @FMX_JOIN_MIXER_NOTHING: nothing that anybody needs to know
 * @FMX_JOIN_MIXER_JOINED: a neighbour is in: its elements may be built
 * @FMX_JOIN_MIXER_LEFT: a neighbour is out, and its place free
 * @FMX_JOIN_MIXER_MOVED: a neighbour has another address
 * @FMX_JOIN_MIXER_REFUSED: somebody with an address of its own was refused
 * @FMX_JOIN_MIXER_MIXES: a neighbour mixes for others, or not: @mixes
 * @FMX_JOIN_MIXER_KNOCKED: somebody with an address of its own wants in: to be given to
 *     fmx_join_mixer_admit(), at once or when there is time, or forgotten
 */
typedef enum
{
  FMX_JOIN_MIXER_NOTHING,
  FMX_JOIN_MIXER_JOINED,
  FMX_JOIN_MIXER_LEFT,
  FMX_JOIN_MIXER_MOVED,
  FMX_JOIN_MIXER_REFUSED,
  FMX_JOIN_MIXER_MIXES,
  FMX_JOIN_MIXER_KNOCKED
} FmxJoinMixerEvent;

/**
 * FmxJoinMixerResult:
 * @event: what happened
 * @reason: of LEFT and REFUSED
 * @session: index of the session that it happened to
 * @replaced: index of the session in whose place it came, which is free now;
 *     %FMX_JOIN_NO_SESSION
 * @mixes, @n_below, @least_bps: of MIXES: whether, for how many, and the least rate that
 *     one of these has, 0: not known
 * @n_places, @places: of MIXES: where it can be joined, as it says, and where we see
 *     it
 * @to: where @data goes
 * @size: of @data in bytes; 0: nothing is to be sent
 * @data: a datagram
 */
typedef struct
{
  FmxJoinMixerEvent event;
  FmxJoinReason reason;
  uint32_t session;
  uint32_t replaced;
  bool mixes;
  unsigned n_below;
  uint64_t least_bps;
  unsigned n_places;
  FmxJoinAddress places[FMX_JOIN_PLACES];
  FmxJoinAddress to;
  size_t size;
  uint8_t data[FMX_JOIN_MAX_BYTES];
} FmxJoinMixerResult;

/**
 * FmxJoinMixer:
 *
 * The mixer's end of the join protocol.  It keeps nothing of anybody who has
 * not shown that it receives at its address and knows the secret.
 *
 * |[
 *   on a datagram:     fmx_join_mixer_on_datagram (&m, &from, data, size, &r, now);
 *                      if (r.event == FMX_JOIN_MIXER_KNOCKED)
 *                        fmx_join_mixer_admit (&m, &from, data, size, &r, now);
 *                      send r.data to r.to, act on r.event
 *   at next_timeout(): while (fmx_join_mixer_on_timeout (&m, &r, now))
 *                        send, act
 * ]|
 */
typedef struct
{
  /*< private >*/
  FmxJoinMixerParams params;
  FmxJoinMixerStats stats;
  const FmxJoinCrypto *crypto;
  FmxJoinSecret secret;
  FmxJoinSessions table;
  uint64_t root;
  uint16_t depth;
  uint8_t key[FMX_JOIN_PUBLIC_BYTES];
  FmxJoinGuard guard;
} FmxJoinMixer;

void fmx_join_mixer_params_default (FmxJoinMixerParams * params);

/**
 * fmx_join_mixer_init:
 * @crypto: to live as long as the mixer; its key pair is made here
 * @sessions: (array length=n_sessions): the caller's memory, to live as long
 * @n_sessions: more than @max_clients: what is above is for joins that are not
 *     confirmed yet
 *
 * Returns: %false if there is no key pair
 */
bool fmx_join_mixer_init (FmxJoinMixer * mixer,
    const FmxJoinMixerParams * params, const FmxJoinCrypto * crypto,
    FmxJoinSession * sessions, uint32_t n_sessions);

/** fmx_join_mixer_set_secret: for all who join from now on */
void fmx_join_mixer_set_secret (FmxJoinMixer * mixer,
    const FmxJoinSecret * secret);

/** fmx_join_mixer_set_max_clients: nobody who is in has to leave */
void fmx_join_mixer_set_max_clients (FmxJoinMixer * mixer, uint32_t max_clients);

/** fmx_join_mixer_set_root: what is above this mixer; @depth 0: nothing, then
 * @root is the mixer's own node */
void fmx_join_mixer_set_root (FmxJoinMixer * mixer, uint64_t root,
    uint16_t depth);

/**
 * fmx_join_mixer_on_datagram:
 * @from: who sent it, as it seems
 * @result: (out): what follows
 *
 * O(sessions), and a few MACs: no key is made or used.
 */
void fmx_join_mixer_on_datagram (FmxJoinMixer * mixer,
    const FmxJoinAddress * from, const uint8_t * data, size_t size,
    FmxJoinMixerResult * result, FmxTime now);

/**
 * fmx_join_mixer_admit:
 * @from, @data, @size: as they were when KNOCKED was the event
 * @result: (out): the answer
 *
 * Looks at the proof, which takes a hundred times as long as any other message: two
 * X25519.
 */
void fmx_join_mixer_admit (FmxJoinMixer * mixer, const FmxJoinAddress * from,
    const uint8_t * data, size_t size, FmxJoinMixerResult * result,
    FmxTime now);

/** fmx_join_mixer_next_timeout: Returns: when fmx_join_mixer_on_timeout() has
 * something to do at the latest, %FMX_TIME_NONE: never */
FmxTime fmx_join_mixer_next_timeout (const FmxJoinMixer * mixer);

/** fmx_join_mixer_on_timeout: to be called until it returns %false, which
 * means that @result is empty */
bool fmx_join_mixer_on_timeout (FmxJoinMixer * mixer,
    FmxJoinMixerResult * result, FmxTime now);

/** fmx_join_mixer_remove: sends a session away; @result has its BYE */
void fmx_join_mixer_remove (FmxJoinMixer * mixer, uint32_t session,
    FmxJoinReason reason, FmxJoinMixerResult * result);

/** fmx_join_mixer_ask: @result has what asks a neighbour to mix for others, or not to
 * any more */
void fmx_join_mixer_ask (FmxJoinMixer * mixer, uint32_t session, bool begin,
    FmxJoinMixerResult * result);

/** fmx_join_mixer_move: @result has what tells a neighbour to go to one of @places */
void fmx_join_mixer_move (FmxJoinMixer * mixer, uint32_t session,
    const FmxJoinAddress * places, unsigned n, FmxJoinMixerResult * result);

/** fmx_join_mixer_session: Returns: (transfer none): the one with that index */
const FmxJoinSession *fmx_join_mixer_session (const FmxJoinMixer * mixer,
    uint32_t session);

void fmx_join_mixer_get_stats (const FmxJoinMixer * mixer,
    FmxJoinMixerStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_MIXER_H */
