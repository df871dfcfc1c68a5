/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the join protocol asks OpenSSL for is what the RFCs say. */
#include <gst/check/check.h>
#include <stdlib.h>
#include <string.h>

#include "gstdpmcrypto.h"

static gsize
from_hex (const gchar * hex, guint8 * data)
{
  gsize n = strlen (hex) / 2;

  for (gsize i = 0; i < n; i++)
    data[i] = (guint8) (g_ascii_xdigit_value (hex[2 * i]) << 4
        | g_ascii_xdigit_value (hex[2 * i + 1]));
  return n;
}

static void
check_hex (const guint8 * data, const gchar * hex)
{
  guint8 expected[256];
  gsize n = from_hex (hex, expected);

  fail_unless (memcmp (data, expected, n) == 0);
}

/* [RFC4231 4.3] with its key filled up with zeros, as HMAC does it itself */
GST_START_TEST (test_mac_is_hmac_sha_256)
{
  const gchar *said = "what do ya want for nothing?";
  GstDpmCrypto crypto;
  guint8 key[FMX_JOIN_MAC_BYTES] = "Jefe", mac[FMX_JOIN_MAC_BYTES];

  gst_dpm_crypto_init (&crypto);
  crypto.join.mac (crypto.join.user, key, (const guint8 *) said,
      strlen (said), mac);
  check_hex (mac,
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  gst_dpm_crypto_clear (&crypto);
}

GST_END_TEST;

/* [RFC5869 A.1] */
GST_START_TEST (test_derive_is_hkdf_sha_256)
{
  guint8 ikm[22], salt[13], info[10], out[42];
  GstDpmCrypto crypto;

  memset (ikm, 0x0b, sizeof ikm);
  for (guint i = 0; i < sizeof salt; i++)
    salt[i] = (guint8) i;
  for (guint i = 0; i < sizeof info; i++)
    info[i] = (guint8) (0xf0 + i);
  gst_dpm_crypto_init (&crypto);
  crypto.join.derive (crypto.join.user, ikm, sizeof ikm, salt, sizeof salt,
      info, sizeof info, out, sizeof out);
  check_hex (out,
      "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
      "34007208d5b887185865");
  gst_dpm_crypto_clear (&crypto);
}

GST_END_TEST;

GST_START_TEST (test_two_agree_and_others_do_not)
{
  GstDpmCrypto a, b, c;
  guint8 key_a[32], key_b[32], key_c[32], fresh[32];
  guint8 ab[32], ba[32], cb[32], encapsulated[32], opened[32];

  gst_dpm_crypto_init (&a);
  gst_dpm_crypto_init (&b);
  gst_dpm_crypto_init (&c);
  fail_unless (a.join.generate (&a, key_a) && b.join.generate (&b, key_b)
      && c.join.generate (&c, key_c));
  fail_unless (a.join.agree (&a, key_b, ab) && b.join.agree (&b, key_a, ba)
      && c.join.agree (&c, key_b, cb));
  fail_unless (memcmp (ab, ba, 32) == 0);
  fail_if (memcmp (ab, cb, 32) == 0);
  fail_unless (a.join.encapsulate (&a, key_b, fresh, encapsulated));
  fail_unless (b.join.agree (&b, fresh, opened));
  fail_unless (memcmp (encapsulated, opened, 32) == 0);
  fail_if (memcmp (fresh, key_a, 32) == 0);
  gst_dpm_crypto_clear (&a);
  gst_dpm_crypto_clear (&b);
  gst_dpm_crypto_clear (&c);
}

GST_END_TEST;

/* [RFC7748 6.1] keys of small order: whoever sends one would know the result */
GST_START_TEST (test_a_key_that_forces_the_result_is_refused)
{
  static const gchar *const keys[] = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  };
  guint8 key[32], shared[32], fresh[32];
  GstDpmCrypto crypto;

  gst_dpm_crypto_init (&crypto);
  fail_if (crypto.join.agree (&crypto, key, shared));   /* no key pair yet */
  fail_unless (crypto.join.generate (&crypto, key));
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    from_hex (keys[i], key);
    fail_if (crypto.join.agree (&crypto, key, shared));
    fail_if (crypto.join.encapsulate (&crypto, key, fresh, shared));
  }
  gst_dpm_crypto_clear (&crypto);
}

GST_END_TEST;

GST_START_TEST (test_random_numbers_differ)
{
  fail_if (gst_dpm_crypto_random_number () == gst_dpm_crypto_random_number ());
}

GST_END_TEST;

#define ENDS "DPM_CRYPTO_ENDS"
#define N_THREADS 4
#define N_PROGRAMS 10

static gint n_drawn;

static gpointer
draw_on (gpointer nothing)
{
  while (gst_dpm_crypto_random_number () != 0)
    g_atomic_int_inc (&n_drawn);
  return NULL;
}

/* As an application does that returns from main() while it plays */
static void
end_while_it_draws (void)
{
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_unref (g_thread_new ("draws", draw_on, NULL));
  while (g_atomic_int_get (&n_drawn) < 100)
    g_usleep (100);
  exit (0);
}

GST_START_TEST (test_a_program_may_end_at_any_moment)
{
  gchar *arguments[] = { g_file_read_link ("/proc/self/exe", NULL), NULL };
  gchar **env = g_environ_setenv (g_get_environ (), ENDS, "yes", TRUE);

  for (guint i = 0; i < N_PROGRAMS; i++) {
    gint status = -1;

    fail_unless (g_spawn_sync (NULL, arguments, env, G_SPAWN_DEFAULT, NULL,
            NULL, NULL, NULL, &status, NULL));
    fail_unless_equals_int (status, 0);
  }
  g_strfreev (env);
  g_free (arguments[0]);
}

GST_END_TEST;

static Suite *
dpmcrypto_suite (void)
{
  Suite *s = suite_create ("dpmcrypto");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_mac_is_hmac_sha_256);
  tcase_add_test (tc, test_derive_is_hkdf_sha_256);
  tcase_add_test (tc, test_two_agree_and_others_do_not);
  tcase_add_test (tc, test_a_key_that_forces_the_result_is_refused);
  tcase_add_test (tc, test_random_numbers_differ);
  tcase_add_test (tc, test_a_program_may_end_at_any_moment);
  return s;
}

int
main (int argc, char **argv)
{
  if (g_getenv (ENDS) != NULL)
    end_while_it_draws ();
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (dpmcrypto_suite (), "dpmcrypto", __FILE__);
}
