/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-guard.h"

#include <assert.h>
#include <string.h>

bool
fmx_join_address_same (const FmxJoinAddress *a, const FmxJoinAddress *b)
{
  return memcmp (a->ip, b->ip, sizeof a->ip) == 0 && a->port == b->port
      && a->zone == b->zone;
}

void
fmx_join_guard_init (FmxJoinGuard *guard, const FmxJoinCrypto *crypto,
    FmxDuration cookie_life)
{
  assert (cookie_life > 0);
  memset (guard, 0, sizeof *guard);
  guard->crypto = crypto;
  guard->cookie_life = (uint64_t) cookie_life;
  crypto->random (crypto->user, guard->key, sizeof guard->key);
}

/* --- limits -------------------------------------------------------------- */

bool
fmx_join_bucket_take (FmxJoinBucket *bucket, uint32_t per_s, FmxTime now)
{
  if (!bucket->started) {
    bucket->started = true;
    bucket->tokens = per_s;
    bucket->last = now;
  } else if (now > bucket->last) {
    bucket->tokens += fmx_time_to_s (fmx_time_diff (now, bucket->last)) * per_s;
    bucket->last = now;
  }
  if (bucket->tokens > per_s)
    bucket->tokens = per_s;
  if (bucket->tokens < 1.0)
    return false;
  bucket->tokens -= 1.0;
  return true;
}

bool
fmx_join_guard_take_hello (FmxJoinGuard *guard, uint32_t per_s, FmxTime now)
{
  return fmx_join_bucket_take (&guard->hellos, per_s, now);
}

unsigned
fmx_join_guard_host (const FmxJoinGuard *guard, const FmxJoinAddress *from)
{
  static const uint8_t v4[12] = {[10] = 0xff,[11] = 0xff };
  bool is_v4 = memcmp (from->ip, v4, sizeof v4) == 0;
  uint8_t mac[FMX_JOIN_MAC_BYTES];

  guard->crypto->mac (guard->crypto->user, guard->key, from->ip,
      is_v4 ? 16 : 8, mac);
  return mac[0] % FMX_JOIN_HOSTS;
}

bool
fmx_join_guard_take_join (FmxJoinGuard *guard, const FmxJoinAddress *from,
    uint32_t per_host_per_s, uint32_t per_s, FmxTime now)
{
  return fmx_join_bucket_take (&guard->hosts[fmx_join_guard_host (guard, from)],
      per_host_per_s, now) && fmx_join_bucket_take (&guard->joins, per_s, now);
}

/* --- tags ---------------------------------------------------------------- */

/* @label: 6 letters; @nonce: may be NULL */
static void
tag (const FmxJoinGuard *guard, const char *label, uint64_t number,
    const FmxJoinAddress *from, const uint8_t *nonce, uint8_t *mac)
{
  uint8_t said[6 + 8 + 22 + FMX_JOIN_NONCE_BYTES] = { 0 };

  memcpy (said, label, 6);
  for (unsigned i = 0; i < 8; i++)
    said[6 + i] = (uint8_t) (number >> (56 - 8 * i));
  memcpy (said + 14, from->ip, 16);
  said[30] = (uint8_t) (from->port >> 8);
  said[31] = (uint8_t) from->port;
  for (unsigned i = 0; i < 4; i++)
    said[32 + i] = (uint8_t) (from->zone >> (24 - 8 * i));
  if (nonce != NULL)
    memcpy (said + 36, nonce, FMX_JOIN_NONCE_BYTES);
  guard->crypto->mac (guard->crypto->user, guard->key, said, sizeof said, mac);
}

void
fmx_join_guard_cookie (const FmxJoinGuard *guard, const FmxJoinAddress *from,
    const uint8_t *nonce, uint8_t *cookie, FmxTime now)
{
  tag (guard, "cookie", now / guard->cookie_life, from, nonce, cookie);
}

bool
fmx_join_guard_cookie_is_good (const FmxJoinGuard *guard,
    const FmxJoinAddress *from, const FmxJoinJoin *join, FmxTime now)
{
  uint8_t cookie[FMX_JOIN_COOKIE_BYTES];

  fmx_join_guard_cookie (guard, from, join->nonce, cookie, now);
  if (fmx_join_same (cookie, join->cookie, sizeof cookie))
    return true;
  if (now < guard->cookie_life)
    return false;
  fmx_join_guard_cookie (guard, from, join->nonce, cookie,
      now - guard->cookie_life);
  return fmx_join_same (cookie, join->cookie, sizeof cookie);
}

uint64_t
fmx_join_guard_path (const FmxJoinGuard *guard, const FmxJoinAddress *from,
    uint64_t session)
{
  uint8_t mac[FMX_JOIN_MAC_BYTES];
  uint64_t path = 0;

  tag (guard, "path..", session, from, NULL, mac);
  for (unsigned i = 0; i < 8; i++)
    path = path << 8 | mac[i];
  return path != 0 ? path : 1;
}
