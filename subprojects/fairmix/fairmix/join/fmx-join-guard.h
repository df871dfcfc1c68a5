/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_GUARD_H
#define FMX_JOIN_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/join/fmx-join-crypto.h"
#include "fairmix/join/fmx-join-message.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_JOIN_HOSTS: so many groups of hosts are told apart */
#define FMX_JOIN_HOSTS 64u

bool fmx_join_address_same (const FmxJoinAddress * a, const FmxJoinAddress * b);

/** FmxJoinBucket: so many a second, and a second's worth at once */
typedef struct
{
  /*< private >*/
  double tokens;
  FmxTime last;
  bool started;
} FmxJoinBucket;

/** fmx_join_bucket_take: Returns: whether one more is within @per_s */
bool fmx_join_bucket_take (FmxJoinBucket * bucket, uint32_t per_s, FmxTime now);

/**
 * FmxJoinGuard:
 *
 * What a mixer has against those who are not at the address that they send
 * from, and against too many at once: tags that it recognises without having
 * remembered anything, and limits.  Of constant size.
 */
typedef struct
{
  /*< private >*/
  const FmxJoinCrypto *crypto;
  uint64_t cookie_life;
  uint8_t key[FMX_JOIN_MAC_BYTES];
  FmxJoinBucket hellos, joins;
  FmxJoinBucket hosts[FMX_JOIN_HOSTS];
} FmxJoinGuard;

/** fmx_join_guard_init: @cookie_life: > 0 */
void fmx_join_guard_init (FmxJoinGuard * guard, const FmxJoinCrypto * crypto,
    FmxDuration cookie_life);

/** fmx_join_guard_cookie: what only somebody who receives at @from can bring
 * back; %FMX_JOIN_COOKIE_BYTES */
void fmx_join_guard_cookie (const FmxJoinGuard * guard,
    const FmxJoinAddress * from, const uint8_t * nonce, uint8_t * cookie,
    FmxTime now);

/** fmx_join_guard_cookie_is_good: whether @join has the cookie that @from got
 * within the last @cookie_life, or twice that at most */
bool fmx_join_guard_cookie_is_good (const FmxJoinGuard * guard,
    const FmxJoinAddress * from, const FmxJoinJoin * join, FmxTime now);

/** fmx_join_guard_path: the same for a session: not 0 */
uint64_t fmx_join_guard_path (const FmxJoinGuard * guard,
    const FmxJoinAddress * from, uint64_t session);

/** fmx_join_guard_take_hello: whether one more may be answered */
bool fmx_join_guard_take_hello (FmxJoinGuard * guard, uint32_t per_s,
    FmxTime now);

/** fmx_join_guard_host: Returns: the group, below %FMX_JOIN_HOSTS, of the host (an
 * IPv4 address, an IPv6 /64 network) at @from.  Some hosts share one, by chance and in
 * a way that they cannot know. */
unsigned fmx_join_guard_host (const FmxJoinGuard * guard,
    const FmxJoinAddress * from);

/** fmx_join_guard_take_join: whether one more may be looked at, of this group of
 * hosts and of all */
bool fmx_join_guard_take_join (FmxJoinGuard * guard,
    const FmxJoinAddress * from, uint32_t per_host_per_s, uint32_t per_s,
    FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_GUARD_H */
