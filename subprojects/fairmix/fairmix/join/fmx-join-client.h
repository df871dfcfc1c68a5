/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_CLIENT_H
#define FMX_JOIN_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/join/fmx-join-crypto.h"
#include "fairmix/join/fmx-join-message.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxJoinClientParams:
 * @first_retry: the first HELLO is repeated after this, later ones after twice
 *     as much each time; 100 ms
 * @max_retry: but at least so often; 500 ms
 * @hello_timeout: an attempt that nobody answers begins anew after this; 3 s
 * @join_timeout: ... and one that got a cookie, but no more; 1 s
 * @ping_interval: how often we say that we are there; 500 ms
 * @suspect_after: nothing heard for so long: try to join anew, beside the
 *     session; 1.2 s
 * @timeout: nothing heard for so long: the session is over; 5 s
 * @node: a mixer among mixers: random, not 0; 0 for all others
 * @max_streams: how many streams can be decoded at a time; 0: any number
 * @flags: %FMX_JOIN_MAY_SEND and so on
 * @name: what the others see; fmx_join_name_copy() makes one
 */
typedef struct
{
  FmxDuration first_retry;
  FmxDuration max_retry;
  FmxDuration hello_timeout;
  FmxDuration join_timeout;
  FmxDuration ping_interval;
  FmxDuration suspect_after;
  FmxDuration timeout;
  uint64_t node;
  uint16_t max_streams;
  uint16_t flags;
  char name[FMX_JOIN_NAME_BYTES + 1];
} FmxJoinClientParams;

/**
 * FmxJoinClientStats:
 * @n_attempts: how often joining was begun
 * @n_joined: how often it worked
 * @n_lost: how often the mixer fell silent
 * @n_invalid: datagrams that are no message, or none that a mixer sends
 * @n_stale: messages that answer nothing that we wait for
 * @n_forged: messages that are not genuine
 * @n_replayed: genuine ones that had been heard before, or came too late
 * @rtt: of the last PING that was answered; 0: none yet
 */
typedef struct
{
  uint64_t n_attempts;
  uint64_t n_joined;
  uint64_t n_lost;
  uint64_t n_invalid;
  uint64_t n_stale;
  uint64_t n_forged;
  uint64_t n_replayed;
  FmxDuration rtt;
} FmxJoinClientStats;

/**
 * FmxJoinClientEvent:
 * @FMX_JOIN_CLIENT_NOTHING: nothing
 * @FMX_JOIN_CLIENT_JOINED: we are in, with new keys, perhaps in place of a
 *     session that was there
 * @FMX_JOIN_CLIENT_REFUSED: the mixer does not want us; final if @reason is
 *     VERSION or SECRET, otherwise we go on trying; if BUSY, it has been so for
 *     @hello_timeout
 * @FMX_JOIN_CLIENT_LEFT: we are out, and go on trying
 * @FMX_JOIN_CLIENT_SILENT: nobody has answered an attempt; we go on trying
 * @FMX_JOIN_CLIENT_ROOT: the root of the mixer's tree, or its depth, changed
 * @FMX_JOIN_CLIENT_ASKED: we are to mix for those near us, or not any more: @begin;
 *     to be answered with fmx_join_client_answer()
 * @FMX_JOIN_CLIENT_MOVE: we are to go to one of @places
 */
typedef enum
{
  FMX_JOIN_CLIENT_NOTHING,
  FMX_JOIN_CLIENT_JOINED,
  FMX_JOIN_CLIENT_REFUSED,
  FMX_JOIN_CLIENT_LEFT,
  FMX_JOIN_CLIENT_SILENT,
  FMX_JOIN_CLIENT_ROOT,
  FMX_JOIN_CLIENT_ASKED,
  FMX_JOIN_CLIENT_MOVE
} FmxJoinClientEvent;

/**
 * FmxJoinClientResult:
 * @event: what happened
 * @reason: of REFUSED and LEFT
 * @begin: of ASKED
 * @n_places, @places: of MOVE
 * @size: of @data in bytes; 0: nothing is to be sent
 * @data: a datagram for the mixer
 */
typedef struct
{
  FmxJoinClientEvent event;
  FmxJoinReason reason;
  bool begin;
  unsigned n_places;
  FmxJoinAddress places[FMX_JOIN_PLACES];
  size_t size;
  uint8_t data[FMX_JOIN_MAX_BYTES];
} FmxJoinClientResult;

/** FmxJoinClientPhase: of an attempt to join */
typedef enum
{
  FMX_JOIN_PHASE_NONE,
  FMX_JOIN_PHASE_WAIT,
  FMX_JOIN_PHASE_HELLO,
  FMX_JOIN_PHASE_JOIN,
  FMX_JOIN_PHASE_CLOSED
} FmxJoinClientPhase;

/**
 * FmxJoinClient:
 *
 * The other end of #FmxJoinMixer: joins, keeps the session alive, joins anew
 * when the mixer falls silent, until it is refused for good.
 *
 * |[
 *   at next_timeout(): while (fmx_join_client_on_timeout (&c, &r, now))
 *                        send r.data, act on r.event
 *   on a datagram from the mixer's address:
 *                      fmx_join_client_on_datagram (&c, data, size, &r, now);
 *                      send, act
 * ]|
 */
typedef struct
{
  /*< private >*/
  FmxJoinClientParams params;
  FmxJoinClientStats stats;
  const FmxJoinCrypto *crypto;
  FmxJoinSecret secret;
  /* the attempt */
  FmxJoinClientPhase phase;
  FmxTime attempt_begin, next_send;
  FmxDuration retry;
  FmxTime busy_until;           /* then it is news; 0: the mixer is not busy */
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
  uint8_t key[FMX_JOIN_PUBLIC_BYTES];
  uint8_t mixer_key[FMX_JOIN_PUBLIC_BYTES];
  uint8_t shared[FMX_JOIN_PUBLIC_BYTES];
  FmxJoinJoin join;
  /* the session */
  bool joined;
  bool renews;
  FmxJoinKeys keys;
  uint64_t session;
  uint64_t counter_out, counter_in;
  uint64_t path;
  uint64_t root;
  uint16_t depth;
  FmxTime last_heard, next_ping;
  FmxTime pinged;
} FmxJoinClient;

void fmx_join_client_params_default (FmxJoinClientParams * params);

/** fmx_join_client_init: @crypto, to live as long as the client, keeps its key
 * pair: one for each client.  The first HELLO is due at @now. */
void fmx_join_client_init (FmxJoinClient * client,
    const FmxJoinClientParams * params, const FmxJoinCrypto * crypto,
    const FmxJoinSecret * secret, FmxTime now);

/** fmx_join_client_on_datagram: @data comes from the mixer's address, as it
 * seems */
void fmx_join_client_on_datagram (FmxJoinClient * client,
    const uint8_t * data, size_t size, FmxJoinClientResult * result,
    FmxTime now);

/** fmx_join_client_next_timeout: Returns: when fmx_join_client_on_timeout() has
 * something to do; %FMX_TIME_NONE: we were refused for good */
FmxTime fmx_join_client_next_timeout (const FmxJoinClient * client);

/** fmx_join_client_on_timeout: to be called until it returns %false, which
 * means that @result is empty */
bool fmx_join_client_on_timeout (FmxJoinClient * client,
    FmxJoinClientResult * result, FmxTime now);

/** fmx_join_client_leave: @result has the BYE of a session; nothing more is
 * sent or expected */
void fmx_join_client_leave (FmxJoinClient * client,
    FmxJoinClientResult * result);

/** fmx_join_client_quit: leaves for @reason and tries again after @pause */
void fmx_join_client_quit (FmxJoinClient * client, FmxJoinReason reason,
    FmxDuration pause, FmxJoinClientResult * result, FmxTime now);

/** fmx_join_client_renew: joins anew beside the session, which goes on until there is
 * one with other keys in its place */
void fmx_join_client_renew (FmxJoinClient * client, FmxTime now);

/** fmx_join_client_part: as fmx_join_client_leave(), because we are elsewhere now */
void fmx_join_client_part (FmxJoinClient * client,
    FmxJoinClientResult * result);

/**
 * FmxJoinMixing:
 * @mixes: whether we mix for others
 * @n_below: for how many
 * @least_bps: the least rate that one of them has; 0: not known
 */
typedef struct
{
  bool mixes;
  unsigned n_below;
  uint64_t least_bps;
} FmxJoinMixing;

/** fmx_join_client_answer: whether we mix, at @places, the first @n of them; nothing
 * is said unless we are in */
void fmx_join_client_answer (FmxJoinClient * client,
    const FmxJoinMixing * mixing, const FmxJoinAddress * places, unsigned n,
    FmxJoinClientResult * result);

/** fmx_join_client_keys: Returns: (transfer none): of the session; %NULL if
 * there is none */
const FmxJoinKeys *fmx_join_client_keys (const FmxJoinClient * client);

/** fmx_join_client_root: Returns: the node at the top of the mixer's tree, and
 * in @depth how many are above the mixer */
uint64_t fmx_join_client_root (const FmxJoinClient * client, uint16_t * depth);

void fmx_join_client_get_stats (const FmxJoinClient * client,
    FmxJoinClientStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_CLIENT_H */
