/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_CRYPTO_H__
#define __GST_DPM_CRYPTO_H__

#include <glib.h>

#include "fairmix/join/fmx-join-crypto.h"

G_BEGIN_DECLS

/**
 * GstDpmCrypto:
 *
 * OpenSSL's HMAC, HKDF, X25519 and random numbers, as the library's join module
 * wants them.  Keeps one private key; to be used by one thread at a time.
 */
typedef struct
{
  FmxJoinCrypto join;
  /*< private >*/
  gpointer pair;                /* EVP_PKEY */
} GstDpmCrypto;

void gst_dpm_crypto_init (GstDpmCrypto * crypto);
void gst_dpm_crypto_clear (GstDpmCrypto * crypto);

/* Makes compilers not skip it: for keys that are not needed any more. */
void gst_dpm_crypto_wipe (gpointer data, gsize size);

/* Returns: random, not 0 */
guint64 gst_dpm_crypto_random_number (void);

G_END_DECLS

#endif /* __GST_DPM_CRYPTO_H__ */
