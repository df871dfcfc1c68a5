/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmcrypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/rand.h>

static void
crypto_random (void *user, uint8_t * data, size_t size)
{
  /* Without random numbers there is no security to go on with. */
  if (RAND_bytes (data, (int) size) != 1)
    g_error ("no random numbers");
}

static void
crypto_mac (void *user, const uint8_t * key, const uint8_t * data, size_t size,
    uint8_t * mac)
{
  unsigned int length = FMX_JOIN_MAC_BYTES;

  if (HMAC (EVP_sha256 (), key, FMX_JOIN_MAC_BYTES, data, size, mac,
          &length) == NULL)
    g_error ("no HMAC-SHA-256");
}

static void
crypto_derive (void *user, const uint8_t * ikm, size_t ikm_size,
    const uint8_t * salt, size_t salt_size, const uint8_t * info,
    size_t info_size, uint8_t * out, size_t out_size)
{
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id (EVP_PKEY_HKDF, NULL);

  if (context == NULL || EVP_PKEY_derive_init (context) != 1
      || EVP_PKEY_CTX_set_hkdf_md (context, EVP_sha256 ()) != 1
      || EVP_PKEY_CTX_set1_hkdf_salt (context, salt, (int) salt_size) != 1
      || EVP_PKEY_CTX_set1_hkdf_key (context, ikm, (int) ikm_size) != 1
      || EVP_PKEY_CTX_add1_hkdf_info (context, info, (int) info_size) != 1
      || EVP_PKEY_derive (context, out, &out_size) != 1)
    g_error ("no HKDF-SHA-256");
  EVP_PKEY_CTX_free (context);
}

static EVP_PKEY *
pair_new (uint8_t * key)
{
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id (EVP_PKEY_X25519, NULL);
  size_t size = FMX_JOIN_PUBLIC_BYTES;
  EVP_PKEY *pair = NULL;

  if (context == NULL || EVP_PKEY_keygen_init (context) != 1
      || EVP_PKEY_keygen (context, &pair) != 1
      || EVP_PKEY_get_raw_public_key (pair, key, &size) != 1)
    g_clear_pointer (&pair, EVP_PKEY_free);
  EVP_PKEY_CTX_free (context);
  return pair;
}

static bool
pair_agree (EVP_PKEY * pair, const uint8_t * their_key, uint8_t * shared)
{
  EVP_PKEY *theirs = EVP_PKEY_new_raw_public_key (EVP_PKEY_X25519, NULL,
      their_key, FMX_JOIN_PUBLIC_BYTES);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new (pair, NULL);
  size_t size = FMX_JOIN_PUBLIC_BYTES;
  /* fails where the result would be zero, too [RFC7748 6.1] */
  bool good = theirs != NULL && context != NULL
      && EVP_PKEY_derive_init (context) == 1
      && EVP_PKEY_derive_set_peer (context, theirs) == 1
      && EVP_PKEY_derive (context, shared, &size) == 1
      && size == FMX_JOIN_PUBLIC_BYTES;

  EVP_PKEY_CTX_free (context);
  EVP_PKEY_free (theirs);
  return good;
}

static bool
crypto_generate (void *user, uint8_t * key)
{
  GstDpmCrypto *crypto = user;

  g_clear_pointer ((EVP_PKEY **) & crypto->pair, EVP_PKEY_free);
  crypto->pair = pair_new (key);
  return crypto->pair != NULL;
}

static bool
crypto_agree (void *user, const uint8_t * their_key, uint8_t * shared)
{
  GstDpmCrypto *crypto = user;

  return crypto->pair != NULL && pair_agree (crypto->pair, their_key, shared);
}

static bool
crypto_encapsulate (void *user, const uint8_t * their_key, uint8_t * key,
    uint8_t * shared)
{
  EVP_PKEY *pair = pair_new (key);
  bool good = pair != NULL && pair_agree (pair, their_key, shared);

  EVP_PKEY_free (pair);
  return good;
}

/* A program may end while our threads still use OpenSSL, which would tidy up before that. */
static void
outlive_exit (void)
{
  static gsize done = 0;

  if (g_once_init_enter (&done)) {
    OPENSSL_init_crypto (OPENSSL_INIT_NO_ATEXIT, NULL);
    g_once_init_leave (&done, 1);
  }
}

void
gst_dpm_crypto_init (GstDpmCrypto * crypto)
{
  outlive_exit ();
  crypto->join.user = crypto;
  crypto->join.random = crypto_random;
  crypto->join.mac = crypto_mac;
  crypto->join.derive = crypto_derive;
  crypto->join.generate = crypto_generate;
  crypto->join.agree = crypto_agree;
  crypto->join.encapsulate = crypto_encapsulate;
  crypto->pair = NULL;
}

void
gst_dpm_crypto_clear (GstDpmCrypto * crypto)
{
  g_clear_pointer ((EVP_PKEY **) & crypto->pair, EVP_PKEY_free);
}

void
gst_dpm_crypto_wipe (gpointer data, gsize size)
{
  OPENSSL_cleanse (data, size);
}

guint64
gst_dpm_crypto_random_number (void)
{
  guint64 number = 0;

  outlive_exit ();
  while (number == 0)
    crypto_random (NULL, (uint8_t *) & number, sizeof number);
  return number;
}
