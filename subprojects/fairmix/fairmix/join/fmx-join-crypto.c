/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-crypto.h"

#include <assert.h>
#include <string.h>

bool
fmx_join_secret_set (FmxJoinSecret *secret, const void *bytes, size_t size)
{
  if (size > FMX_JOIN_MAX_SECRET_BYTES)
    return false;
  memset (secret, 0, sizeof *secret);
  if (size > 0)
    memcpy (secret->bytes, bytes, size);
  secret->size = size;
  return true;
}

bool
fmx_join_same (const uint8_t *a, const uint8_t *b, size_t size)
{
  volatile uint8_t difference = 0;

  for (size_t i = 0; i < size; i++)
    difference = (uint8_t) (difference | (a[i] ^ b[i]));
  return difference == 0;
}

void
fmx_join_wipe (void *data, size_t size)
{
  volatile uint8_t *bytes = data;

  for (size_t i = 0; i < size; i++)
    bytes[i] = 0;
}

/* What is hashed together: pieces in a row, of lengths that are fixed. */
typedef struct
{
  size_t size;
  uint8_t bytes[640];
} Pieces;

static void
pieces_add (Pieces *pieces, const void *bytes, size_t size)
{
  assert (pieces->size + size <= sizeof pieces->bytes);
  memcpy (pieces->bytes + pieces->size, bytes, size);
  pieces->size += size;
}

static void
pieces_add_message (Pieces *pieces, const FmxJoinMessage *message, size_t left)
{
  uint8_t data[FMX_JOIN_MAX_BYTES];
  size_t size = fmx_join_message_write (message, data);

  pieces_add (pieces, data, size - left);
}

static void
pieces_add_join (Pieces *pieces, const FmxJoinJoin *join, size_t left)
{
  FmxJoinMessage message = {.type = FMX_JOIN_JOIN };

  message.u.join = *join;
  pieces_add_message (pieces, &message, left);
}

void
fmx_join_proof_of_join (const FmxJoinCrypto *crypto,
    const FmxJoinSecret *secret, const uint8_t *shared,
    const uint8_t *mixer_key, const FmxJoinJoin *join, uint8_t *proof)
{
  static const char label[] = "dpm join 1 proof";
  Pieces ikm = { 0 }, info = { 0 }, said = { 0 };
  uint8_t key[FMX_JOIN_MAC_BYTES];

  pieces_add (&ikm, shared, FMX_JOIN_PUBLIC_BYTES);
  pieces_add (&ikm, secret->bytes, secret->size);
  pieces_add (&info, label, sizeof label - 1);
  pieces_add (&info, join->key, sizeof join->key);
  pieces_add (&info, mixer_key, FMX_JOIN_PUBLIC_BYTES);
  crypto->derive (crypto->user, ikm.bytes, ikm.size, join->nonce,
      sizeof join->nonce, info.bytes, info.size, key, sizeof key);
  pieces_add_join (&said, join, sizeof join->proof);
  crypto->mac (crypto->user, key, said.bytes, said.size, proof);
  fmx_join_wipe (&ikm, sizeof ikm);
  fmx_join_wipe (key, sizeof key);
}

bool
fmx_join_join_is_genuine (const FmxJoinCrypto *crypto,
    const FmxJoinSecret *secret, const uint8_t *shared,
    const uint8_t *mixer_key, const FmxJoinJoin *join)
{
  uint8_t proof[FMX_JOIN_MAC_BYTES];

  fmx_join_proof_of_join (crypto, secret, shared, mixer_key, join, proof);
  return fmx_join_same (proof, join->proof, sizeof proof);
}

void
fmx_join_session_keys (const FmxJoinCrypto *crypto,
    const FmxJoinSecret *secret, const FmxJoinAgreed *agreed,
    const FmxJoinJoin *join, const FmxJoinAccept *accept, FmxJoinKeys *keys)
{
  static const char label[] = "dpm join 1 session";
  Pieces ikm = { 0 }, salt = { 0 }, info = { 0 }, out = { 0 };
  const uint8_t *from = out.bytes;

  pieces_add (&ikm, agreed->shared, sizeof agreed->shared);
  pieces_add (&ikm, agreed->fresh, sizeof agreed->fresh);
  pieces_add (&ikm, secret->bytes, secret->size);
  pieces_add (&salt, join->nonce, sizeof join->nonce);
  pieces_add (&salt, accept->mixer_nonce, sizeof accept->mixer_nonce);
  pieces_add (&info, label, sizeof label - 1);
  pieces_add (&info, join->key, sizeof join->key);
  pieces_add (&info, agreed->mixer_key, sizeof agreed->mixer_key);
  pieces_add (&info, accept->key, sizeof accept->key);
  crypto->derive (crypto->user, ikm.bytes, ikm.size, salt.bytes, salt.size,
      info.bytes, info.size, out.bytes,
      2 * FMX_JOIN_SRTP_KEY_BYTES + 3 * FMX_JOIN_MAC_BYTES);
  memcpy (keys->srtp_to_mixer, from, sizeof keys->srtp_to_mixer);
  from += sizeof keys->srtp_to_mixer;
  memcpy (keys->srtp_to_client, from, sizeof keys->srtp_to_client);
  from += sizeof keys->srtp_to_client;
  memcpy (keys->control_to_mixer, from, sizeof keys->control_to_mixer);
  from += sizeof keys->control_to_mixer;
  memcpy (keys->control_to_client, from, sizeof keys->control_to_client);
  from += sizeof keys->control_to_client;
  memcpy (keys->accept, from, sizeof keys->accept);
  fmx_join_wipe (&ikm, sizeof ikm);
  fmx_join_wipe (&out, sizeof out);
}

void
fmx_join_proof_of_accept (const FmxJoinCrypto *crypto, const FmxJoinKeys *keys,
    const FmxJoinJoin *join, const FmxJoinAccept *accept, uint8_t *proof)
{
  FmxJoinMessage message = {.type = FMX_JOIN_ACCEPT };
  Pieces said = { 0 };

  pieces_add_join (&said, join, 0);
  message.u.accept = *accept;
  pieces_add_message (&said, &message, sizeof accept->proof);
  crypto->mac (crypto->user, keys->accept, said.bytes, said.size, proof);
}

bool
fmx_join_accept_make (const FmxJoinCrypto *crypto, const FmxJoinSecret *secret,
    FmxJoinAgreed *agreed, const FmxJoinJoin *join, FmxJoinAccept *accept,
    FmxJoinKeys *keys)
{
  memcpy (accept->nonce, join->nonce, sizeof accept->nonce);
  crypto->random (crypto->user, accept->mixer_nonce,
      sizeof accept->mixer_nonce);
  if (!crypto->encapsulate (crypto->user, join->key, accept->key,
          agreed->fresh))
    return false;
  fmx_join_session_keys (crypto, secret, agreed, join, accept, keys);
  fmx_join_proof_of_accept (crypto, keys, join, accept, accept->proof);
  return true;
}

void
fmx_join_resume_tag (const FmxJoinCrypto *crypto, const uint8_t *key,
    const FmxJoinJoin *join, uint8_t *tag)
{
  static const char label[] = "dpm join 1 resume";
  uint8_t mac[FMX_JOIN_MAC_BYTES];
  Pieces said = { 0 };

  pieces_add (&said, label, sizeof label - 1);
  pieces_add (&said, join->nonce, sizeof join->nonce);
  pieces_add (&said, join->key, sizeof join->key);
  crypto->mac (crypto->user, key, said.bytes, said.size, mac);
  memcpy (tag, mac, FMX_JOIN_TAG_BYTES);
}

static void
control_tag (const FmxJoinCrypto *crypto, const uint8_t *key,
    const FmxJoinMessage *message, uint8_t *tag)
{
  uint8_t mac[FMX_JOIN_MAC_BYTES];
  Pieces said = { 0 };

  pieces_add_message (&said, message, FMX_JOIN_TAG_BYTES);
  crypto->mac (crypto->user, key, said.bytes, said.size, mac);
  memcpy (tag, mac, FMX_JOIN_TAG_BYTES);
}

size_t
fmx_join_control_write (const FmxJoinCrypto *crypto, const uint8_t *key,
    FmxJoinMessage *message, uint8_t *data)
{
  control_tag (crypto, key, message, message->u.control.tag);
  return fmx_join_message_write (message, data);
}

bool
fmx_join_control_is_genuine (const FmxJoinCrypto *crypto, const uint8_t *key,
    const FmxJoinMessage *message)
{
  uint8_t tag[FMX_JOIN_TAG_BYTES];

  control_tag (crypto, key, message, tag);
  return fmx_join_same (tag, message->u.control.tag, sizeof tag);
}
