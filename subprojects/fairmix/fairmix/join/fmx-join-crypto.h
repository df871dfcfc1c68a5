/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_CRYPTO_H
#define FMX_JOIN_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/join/fmx-join-message.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_JOIN_MAX_SECRET_BYTES: the longest shared secret */
#define FMX_JOIN_MAX_SECRET_BYTES 256u

/** FMX_JOIN_SRTP_KEY_BYTES: master key and salt of AEAD_AES_256_GCM, as
 * [RFC7714 12] has them */
#define FMX_JOIN_SRTP_KEY_BYTES 44u

/**
 * FmxJoinCrypto:
 * @user: handed to each function
 * @random: fills @data with @size bytes that nobody can guess
 * @mac: HMAC-SHA-256 of @data with @key (32 bytes), into @mac (32 bytes)
 * @derive: HKDF-SHA-256 [RFC5869] of @ikm with @salt and @info, into @out, at
 *     most 255 * 32 bytes
 * @generate: makes a key pair of X25519 [RFC7748], keeps the private one for
 *     @agree, and gives the public one (32 bytes); %false if it cannot
 * @agree: X25519 of the private key that is kept and @their_key, into @shared
 *     (32 bytes); %false if that is zero or cannot be made
 * @encapsulate: makes a key pair, gives its public key and X25519 with
 *     @their_key, and forgets it
 *
 * What the library does not do itself, for want of being a cryptographic
 * library.  The caller takes one (OpenSSL, GnuTLS); tests may take toys.
 */
typedef struct
{
  void *user;
  void (*random) (void *user, uint8_t * data, size_t size);
  void (*mac) (void *user, const uint8_t * key, const uint8_t * data,
      size_t size, uint8_t * mac);
  void (*derive) (void *user, const uint8_t * ikm, size_t ikm_size,
      const uint8_t * salt, size_t salt_size, const uint8_t * info,
      size_t info_size, uint8_t * out, size_t out_size);
  bool (*generate) (void *user, uint8_t * key);
  bool (*agree) (void *user, const uint8_t * their_key, uint8_t * shared);
  bool (*encapsulate) (void *user, const uint8_t * their_key, uint8_t * key,
      uint8_t * shared);
} FmxJoinCrypto;

/**
 * FmxJoinSecret:
 * @size: in bytes; 0: an open room
 * @bytes: what all who may join know
 */
typedef struct
{
  size_t size;
  uint8_t bytes[FMX_JOIN_MAX_SECRET_BYTES];
} FmxJoinSecret;

/**
 * FmxJoinKeys:
 * @srtp_to_mixer: SRTP master key and salt of what the client sends
 * @srtp_to_client: ... of what the mixer sends
 * @control_to_mixer: authenticates the client's PING and BYE
 * @control_to_client: authenticates the mixer's PONG and BYE
 * @accept: authenticates ACCEPT
 *
 * The keys of one session, in the order in which HKDF gives them.
 */
typedef struct
{
  uint8_t srtp_to_mixer[FMX_JOIN_SRTP_KEY_BYTES];
  uint8_t srtp_to_client[FMX_JOIN_SRTP_KEY_BYTES];
  uint8_t control_to_mixer[FMX_JOIN_MAC_BYTES];
  uint8_t control_to_client[FMX_JOIN_MAC_BYTES];
  uint8_t accept[FMX_JOIN_MAC_BYTES];
} FmxJoinKeys;

/** fmx_join_secret_set: @size above %FMX_JOIN_MAX_SECRET_BYTES is refused.
 * Returns: whether it was taken */
bool fmx_join_secret_set (FmxJoinSecret * secret, const void *bytes,
    size_t size);

/** fmx_join_same: compares in a time that does not tell where they differ */
bool fmx_join_same (const uint8_t * a, const uint8_t * b, size_t size);

/** fmx_join_wipe: no compiler leaves it out, though nobody reads @data again */
void fmx_join_wipe (void *data, size_t size);

/**
 * fmx_join_proof_of_join:
 * @shared: X25519 of the client's key and the mixer's long-lived one
 * @mixer_key: the mixer's long-lived public key
 * @join: all but its proof is used
 * @proof: (out): %FMX_JOIN_MAC_BYTES
 *
 * What shows that the sender of @join knows the secret.  The key of the MAC
 * contains @shared, so that who only listens cannot try secrets against it.
 */
void fmx_join_proof_of_join (const FmxJoinCrypto * crypto,
    const FmxJoinSecret * secret, const uint8_t * shared,
    const uint8_t * mixer_key, const FmxJoinJoin * join, uint8_t * proof);

/** fmx_join_join_is_genuine: whether @join has that proof */
bool fmx_join_join_is_genuine (const FmxJoinCrypto * crypto,
    const FmxJoinSecret * secret, const uint8_t * shared,
    const uint8_t * mixer_key, const FmxJoinJoin * join);

/**
 * FmxJoinAgreed:
 * @shared: X25519 of the client's key and the mixer's long-lived one
 * @fresh: X25519 of the client's key and the mixer's fresh one
 * @mixer_key: the mixer's long-lived public key
 *
 * What only the two ends of a session have.
 */
typedef struct
{
  uint8_t shared[FMX_JOIN_PUBLIC_BYTES];
  uint8_t fresh[FMX_JOIN_PUBLIC_BYTES];
  uint8_t mixer_key[FMX_JOIN_PUBLIC_BYTES];
} FmxJoinAgreed;

/** fmx_join_session_keys: the keys of the session that @join and @accept (all
 * but its proof is used) make */
void fmx_join_session_keys (const FmxJoinCrypto * crypto,
    const FmxJoinSecret * secret, const FmxJoinAgreed * agreed,
    const FmxJoinJoin * join, const FmxJoinAccept * accept, FmxJoinKeys * keys);

/** fmx_join_proof_of_accept: over all of @join and all of @accept but its
 * proof */
void fmx_join_proof_of_accept (const FmxJoinCrypto * crypto,
    const FmxJoinKeys * keys, const FmxJoinJoin * join,
    const FmxJoinAccept * accept, uint8_t * proof);

/**
 * fmx_join_accept_make:
 * @agreed: (inout): its fresh part is made here
 * @accept: (inout): session, root and depth are the caller's; the rest is made here
 * @keys: (out): of the session
 *
 * What a mixer answers to a @join that it lets in.
 *
 * Returns: %false if there are no keys, because the client's is none
 */
bool fmx_join_accept_make (const FmxJoinCrypto * crypto,
    const FmxJoinSecret * secret, FmxJoinAgreed * agreed,
    const FmxJoinJoin * join, FmxJoinAccept * accept, FmxJoinKeys * keys);

/** fmx_join_resume_tag: shows in @join that its sender had @key, the
 * control_to_mixer of the session that it names as previous */
void fmx_join_resume_tag (const FmxJoinCrypto * crypto, const uint8_t * key,
    const FmxJoinJoin * join, uint8_t * tag);

/** fmx_join_control_write: tags @message (PING, PONG or BYE) with @key and
 * writes it.  Returns: its size in bytes */
size_t fmx_join_control_write (const FmxJoinCrypto * crypto,
    const uint8_t * key, FmxJoinMessage * message, uint8_t * data);

/** fmx_join_control_is_genuine: whether @message was tagged with @key */
bool fmx_join_control_is_genuine (const FmxJoinCrypto * crypto,
    const uint8_t * key, const FmxJoinMessage * message);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_CRYPTO_H */
