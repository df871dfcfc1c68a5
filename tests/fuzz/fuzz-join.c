/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The join protocol: what the network sends to a mixer and to a client.  Any
 * bytes are refused or read; what was read is written again as it was; no
 * answer is longer than its question; nobody gets in without the keys. */
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/join/fmx-join-client.h"
#include "fairmix/join/fmx-join-mixer.h"
#include "fuzz.h"

static FmxJoinMixerStats
mixer_stats (const FmxJoinMixer * object)
{
  FmxJoinMixerStats stats;

  fmx_join_mixer_get_stats (object, &stats);
  return stats;
}

#define N_SESSIONS 4

/* In place of cryptography: keys that nobody guesses by chance. */
static void
toy_random (void *user, uint8_t * data, size_t size)
{
  for (size_t i = 0; i < size; i++)
    data[i] = (uint8_t) fmx_rng_next (user);
}

static void
toy_mac (void *user, const uint8_t * key, const uint8_t * data, size_t size,
    uint8_t * mac)
{
  uint64_t h = 14695981039346656037u;

  (void) user;
  for (size_t i = 0; i < 32; i++)
    h = (h ^ key[i]) * 1099511628211u;
  for (size_t i = 0; i < size; i++)
    h = (h ^ data[i]) * 1099511628211u;
  for (size_t i = 0; i < FMX_JOIN_MAC_BYTES; i++)
    mac[i] = (uint8_t) ((h = h * 6364136223846793005u + i) >> 32);
}

static void
toy_derive (void *user, const uint8_t * ikm, size_t ikm_size,
    const uint8_t * salt, size_t salt_size, const uint8_t * info,
    size_t info_size, uint8_t * out, size_t out_size)
{
  uint8_t mac[FMX_JOIN_MAC_BYTES];

  (void) info_size;
  (void) salt_size;
  toy_mac (user, salt, ikm, ikm_size, mac);
  for (size_t i = 0; i < out_size; i++)
    out[i] = (uint8_t) (mac[i % sizeof mac] + info[5] + i);
}

static bool
toy_generate (void *user, uint8_t * key)
{
  toy_random (user, key, FMX_JOIN_PUBLIC_BYTES);
  return true;
}

static bool
toy_agree (void *user, const uint8_t * their_key, uint8_t * shared)
{
  (void) user;
  memcpy (shared, their_key, FMX_JOIN_PUBLIC_BYTES);
  return shared[0] != 0;
}

static bool
toy_encapsulate (void *user, const uint8_t * their_key, uint8_t * key,
    uint8_t * shared)
{
  return toy_generate (user, key) && toy_agree (user, their_key, shared);
}

static void
check_message (const uint8_t * data, size_t size)
{
  uint8_t written[FMX_JOIN_MAX_BYTES];
  FmxJoinMessage message;
  FmxJoinVerdict verdict = fmx_join_message_parse (&message, data, size);

  if (verdict != FMX_JOIN_INVALID)
    CHECK (fmx_join_message_is (data, size));
  if (verdict != FMX_JOIN_VALID || message.type == FMX_JOIN_HELLO)
    return;
  CHECK (fmx_join_message_write (&message, written) == size);
  CHECK (memcmp (written, data, size) == 0);
}

static void
check_mixer (FmxJoinMixer * mixer, Fuzz * fuzz, const uint8_t * data,
    size_t size, FmxTime * now)
{
  FmxJoinAddress from = { {0}, (uint16_t) (fuzz_u8 (fuzz) & 3), 0 };
  FmxJoinMixerResult result;

  *now += fuzz_u16 (fuzz) * (FmxTime) FMX_MSECOND;
  fmx_join_mixer_on_datagram (mixer, &from, data, size, &result, *now);
  if (result.event == FMX_JOIN_MIXER_KNOCKED)
    fmx_join_mixer_admit (mixer, &from, data, size, &result, *now);
  CHECK (result.size <= size);
  CHECK (result.event != FMX_JOIN_MIXER_JOINED);
  while (fmx_join_mixer_on_timeout (mixer, &result, *now));
  CHECK (fmx_join_mixer_next_timeout (mixer) > *now);
  CHECK (mixer_stats (mixer).n_sessions == 0);
}

static void
check_client (FmxJoinClient * client, const uint8_t * data, size_t size,
    FmxTime now)
{
  FmxJoinClientResult result;

  fmx_join_client_on_datagram (client, data, size, &result, now);
  CHECK (result.event != FMX_JOIN_CLIENT_JOINED);
  for (unsigned n = 0; fmx_join_client_on_timeout (client, &result, now); n++)
    CHECK (n < 4);
  CHECK (fmx_join_client_keys (client) == NULL);
}

/* The input is a row of datagrams: a size, the bytes.  An empty one stands for
 * a HELLO of the client's. */
int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  FmxJoinSession sessions[N_SESSIONS];
  FmxJoinMixerParams mixer_params;
  FmxJoinClientParams client_params;
  FmxJoinSecret secret = { 6, "sesame" };
  FmxJoinClientResult mine;
  FmxJoinMixer mixer;
  FmxJoinClient client;
  FmxRng rng;
  FmxJoinCrypto crypto = { &rng, toy_random, toy_mac, toy_derive,
    toy_generate, toy_agree, toy_encapsulate
  };
  Fuzz fuzz = { data, size, 0 };
  FmxTime now = 1000 * FMX_SECOND;

  fmx_rng_init (&rng, 1);
  fmx_join_mixer_params_default (&mixer_params);
  mixer_params.max_clients = N_SESSIONS - 1;
  mixer_params.node = 1;
  CHECK (fmx_join_mixer_init (&mixer, &mixer_params, &crypto, sessions,
          N_SESSIONS));
  fmx_join_mixer_set_secret (&mixer, &secret);
  fmx_join_client_params_default (&client_params);
  fmx_join_client_init (&client, &client_params, &crypto, &secret, now);
  fmx_join_client_on_timeout (&client, &mine, now);
  check_message (data, size);
  while (fuzz_more (&fuzz)) {
    size_t n = fuzz_u8 (&fuzz);

    if (n > fuzz.size - fuzz.offset)
      n = fuzz.size - fuzz.offset;
    check_message (data + fuzz.offset, n);
    check_client (&client, data + fuzz.offset, n, now);
    fuzz.offset += n;
    check_mixer (&mixer, &fuzz, data + fuzz.offset - n, n, &now);
  }
  return 0;
}
