/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_JOIN_H
#define FMX_TEST_JOIN_H

#include "fmx-test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/join/fmx-join-client.h"
#include "fairmix/join/fmx-join-mixer.h"

/* A toy in place of cryptography: whoever does not know the key gets another
 * result, and that is all that the protocol asks for.  Not for secrets. */
typedef struct
{
  FmxRng rng;
  uint64_t private_key;
  unsigned n_agreed;
  FmxJoinCrypto crypto;
} Toy;

static inline uint64_t
toy_hash (uint64_t seed, const uint8_t *data, size_t size)
{
  uint64_t h = seed ^ 0xcbf29ce484222325u;

  for (size_t i = 0; i < size; i++) {
    h = (h ^ data[i]) * 0x100000001b3u;
    h ^= h >> 29;
  }
  h = (h ^ size) * 0xbf58476d1ce4e5b9u;
  return h ^ h >> 31;
}

static inline void
toy_put (uint8_t *to, uint64_t h)
{
  memcpy (to, &h, sizeof h);
}

static inline void
toy_random (void *user, uint8_t *data, size_t size)
{
  Toy *toy = user;

  for (size_t i = 0; i < size; i++)
    data[i] = (uint8_t) fmx_rng_next (&toy->rng);
}

static inline void
toy_mac (void *user, const uint8_t *key, const uint8_t *data, size_t size,
    uint8_t *mac)
{
  uint64_t h = toy_hash (toy_hash (1, key, 32), data, size);

  (void) user;
  for (unsigned i = 0; i < 4; i++)
    toy_put (mac + 8 * i, toy_hash (h + i, key, 32));
}

static inline void
toy_derive (void *user, const uint8_t *ikm, size_t ikm_size,
    const uint8_t *salt, size_t salt_size, const uint8_t *info,
    size_t info_size, uint8_t *out, size_t out_size)
{
  uint64_t h = toy_hash (toy_hash (toy_hash (2, ikm, ikm_size), salt,
          salt_size), info, info_size);

  (void) user;
  for (size_t i = 0; i < out_size; i++)
    out[i] = (uint8_t) toy_hash (h + i, out, 0);
}

/* (g a) b = (g b) a, modulo 2^64 */
static inline uint64_t
toy_power (const uint8_t *key, uint64_t private_key)
{
  uint64_t g;

  memcpy (&g, key, sizeof g);
  return g * private_key;
}

static inline void
toy_pair (Toy *toy, uint64_t *private_key, uint8_t *key)
{
  const uint64_t g = 0x9e3779b97f4a7c15u;
  uint8_t base[8];

  toy_put (base, g);
  toy_random (toy, (uint8_t *) private_key, sizeof *private_key);
  *private_key |= 1;
  memset (key, 0, FMX_JOIN_PUBLIC_BYTES);
  toy_put (key, toy_power (base, *private_key));
}

static inline bool
toy_generate (void *user, uint8_t *key)
{
  Toy *toy = user;

  toy_pair (toy, &toy->private_key, key);
  return true;
}

static inline bool
toy_shared (uint64_t private_key, const uint8_t *their_key, uint8_t *shared)
{
  uint64_t s = toy_power (their_key, private_key);

  memset (shared, 0, FMX_JOIN_PUBLIC_BYTES);
  toy_put (shared, s);
  return s != 0;
}

static inline bool
toy_agree (void *user, const uint8_t *their_key, uint8_t *shared)
{
  Toy *toy = user;

  toy->n_agreed++;
  return toy_shared (toy->private_key, their_key, shared);
}

static inline bool
toy_encapsulate (void *user, const uint8_t *their_key, uint8_t *key,
    uint8_t *shared)
{
  uint64_t private_key;

  toy_pair (user, &private_key, key);
  return toy_shared (private_key, their_key, shared);
}

static inline const FmxJoinCrypto *
toy_init (Toy *toy, uint64_t seed)
{
  const FmxJoinCrypto crypto = {
    toy, toy_random, toy_mac, toy_derive, toy_generate, toy_agree,
    toy_encapsulate
  };

  memset (toy, 0, sizeof *toy);
  fmx_rng_init (&toy->rng, seed);
  toy->crypto = crypto;
  return &toy->crypto;
}

static inline FmxJoinAddress
address (unsigned host, unsigned port)
{
  FmxJoinAddress a = { {[10] = 0xff,[11] = 0xff,[12] = 10}, (uint16_t) port, 0 };

  a.ip[13] = (uint8_t) (host >> 16);
  a.ip[14] = (uint8_t) (host >> 8);
  a.ip[15] = (uint8_t) host;
  return a;
}

/* --- a room: a mixer and some clients ------------------------------------- */

#define START (100 * FMX_SECOND)
#define MAX_CLIENTS 3
#define SESSIONS (MAX_CLIENTS + 4)

typedef struct
{
  Toy toy;
  FmxJoinMixer mixer;
  FmxJoinSession sessions[SESSIONS];
  FmxJoinMixerResult last;      /* that had an event */
  unsigned n_events;
} Room;

typedef struct
{
  Toy toy;
  FmxJoinClient client;
  FmxJoinAddress address;
  FmxJoinClientResult last;     /* that had an event */
  unsigned n_sent;
} Guest;

static inline FmxJoinSecret
secret (const char *text)
{
  FmxJoinSecret s;

  assert_true (fmx_join_secret_set (&s, text, strlen (text)));
  return s;
}

static inline void
room_open (Room *room, const char *word, uint64_t seed)
{
  FmxJoinMixerParams params;
  FmxJoinSecret s = secret (word);

  memset (room, 0, sizeof *room);
  fmx_join_mixer_params_default (&params);
  params.max_clients = MAX_CLIENTS;
  params.node = seed;
  assert_true (fmx_join_mixer_init (&room->mixer, &params,
          toy_init (&room->toy, seed), room->sessions, SESSIONS));
  fmx_join_mixer_set_secret (&room->mixer, &s);
}

static inline void
guest_init (Guest *guest, const char *name, const char *word, unsigned host,
    FmxTime now)
{
  FmxJoinClientParams params;
  FmxJoinSecret s = secret (word);

  memset (guest, 0, sizeof *guest);
  guest->address = address (host, 5000);
  fmx_join_client_params_default (&params);
  fmx_join_name_copy (params.name, name);
  params.max_streams = 7;
  fmx_join_client_init (&guest->client, &params, toy_init (&guest->toy,
          1000 + host), &s, now);
}

/* Returns: what the mixer says to it */
static inline const FmxJoinMixerResult *
room_hear (Room *room, const FmxJoinAddress *from, const uint8_t *data,
    size_t size, FmxTime now)
{
  static FmxJoinMixerResult result;

  fmx_join_mixer_on_datagram (&room->mixer, from, data, size, &result, now);
  if (result.event == FMX_JOIN_MIXER_KNOCKED)
    fmx_join_mixer_admit (&room->mixer, from, data, size, &result, now);
  if (result.event != FMX_JOIN_MIXER_NOTHING) {
    room->last = result;
    room->n_events++;
  }
  return &result;
}

static inline void
guest_note (Guest *guest, const FmxJoinClientResult *result)
{
  guest->n_sent += result->size > 0;
  if (result->event != FMX_JOIN_CLIENT_NOTHING)
    guest->last = *result;
}

/* The two talk to each other, at once and without loss, until both are
 * silent.  @said: what the guest says first */
static inline void
talk (Room *room, Guest *guest, const FmxJoinClientResult *said, FmxTime now)
{
  FmxJoinClientResult mine = *said;
  unsigned n = 0;

  guest_note (guest, &mine);
  while (mine.size > 0 && n++ < 20) {
    FmxJoinMixerResult theirs = *room_hear (room, &guest->address, mine.data,
        mine.size, now);

    if (theirs.size == 0)
      return;
    fmx_join_client_on_datagram (&guest->client, theirs.data, theirs.size,
        &mine, now);
    guest_note (guest, &mine);
  }
  assert_true (n < 20);
}

/* Moves both on to @until.  Returns: @until */
static inline FmxTime
run (Room *room, Guest *guest, FmxTime until)
{
  FmxJoinClientResult mine;
  FmxJoinMixerResult theirs;
  FmxTime now;

  for (;;) {
    now = fmx_time_min (fmx_join_client_next_timeout (&guest->client),
        fmx_join_mixer_next_timeout (&room->mixer));
    if (now > until)
      return until;
    while (fmx_join_client_on_timeout (&guest->client, &mine, now))
      talk (room, guest, &mine, now);
    while (fmx_join_mixer_on_timeout (&room->mixer, &theirs, now)) {
      room->last = theirs;
      room->n_events++;
    }
  }
}

/* The guest alone, whom nobody answers.  Returns: @until */
static inline FmxTime
run_alone (Guest *guest, FmxTime until)
{
  FmxJoinClientResult mine;

  while (fmx_join_client_next_timeout (&guest->client) <= until) {
    FmxTime now = fmx_join_client_next_timeout (&guest->client);

    while (fmx_join_client_on_timeout (&guest->client, &mine, now))
      guest_note (guest, &mine);
  }
  return until;
}

/* ... joins it, or fails.  Returns: the index of the session */
static inline uint32_t
join (Room *room, Guest *guest, FmxTime now)
{
  run (room, guest, now);
  assert_non_null (fmx_join_client_keys (&guest->client));
  assert_int_equal (room->last.event, FMX_JOIN_MIXER_JOINED);
  return room->last.session;
}

static inline FmxJoinClientStats
client_stats (const FmxJoinClient *object)
{
  FmxJoinClientStats stats;

  fmx_join_client_get_stats (object, &stats);
  return stats;
}

static inline FmxJoinMixerStats
mixer_stats (const FmxJoinMixer *object)
{
  FmxJoinMixerStats stats;

  fmx_join_mixer_get_stats (object, &stats);
  return stats;
}

#endif /* FMX_TEST_JOIN_H */
