/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

typedef struct
{
  Toy toy;
  FmxJoinSecret secret;
  FmxJoinAgreed agreed;
  FmxJoinJoin join;
  FmxJoinAccept accept;
} Session;

static Session
session_new (void)
{
  Session s;
  uint8_t *bytes = (uint8_t *) &s.agreed;

  memset (&s, 0, sizeof s);
  toy_init (&s.toy, 5);
  s.secret = secret ("open sesame");
  for (size_t i = 0; i < sizeof s.agreed; i++)
    bytes[i] = (uint8_t) (i * 7);
  toy_random (&s.toy, s.join.nonce, sizeof s.join.nonce);
  toy_random (&s.toy, s.join.key, sizeof s.join.key);
  toy_random (&s.toy, s.accept.key, sizeof s.accept.key);
  toy_random (&s.toy, s.accept.mixer_nonce, sizeof s.accept.mixer_nonce);
  return s;
}

static FmxJoinKeys
keys_of (Session *s)
{
  FmxJoinKeys keys;

  fmx_join_session_keys (toy_init (&s->toy, 5), &s->secret, &s->agreed,
      &s->join, &s->accept, &keys);
  return keys;
}

/* Two directions, two purposes, two neighbours, two attempts: never one key. */
static void
test_no_two_keys_are_the_same (void **state)
{
  Session s = session_new ();
  FmxJoinKeys first = keys_of (&s), k;
  uint8_t *changed[] = { s.agreed.shared, s.agreed.fresh, s.agreed.mixer_key,
    s.secret.bytes, s.join.nonce, s.join.key, s.accept.mixer_nonce,
    s.accept.key
  };

  (void) state;
  k = keys_of (&s);
  assert_memory_equal (&first, &k, sizeof k);
  assert_memory_not_equal (k.srtp_to_mixer, k.srtp_to_client,
      sizeof k.srtp_to_mixer);
  assert_memory_not_equal (k.control_to_mixer, k.control_to_client,
      sizeof k.control_to_mixer);
  assert_memory_not_equal (k.control_to_mixer, k.accept, sizeof k.accept);
  for (size_t i = 0; i < N_ELEMENTS (changed); i++) {
    changed[i][3] ^= 1;
    k = keys_of (&s);
    assert_memory_not_equal (k.srtp_to_mixer, first.srtp_to_mixer,
        sizeof k.srtp_to_mixer);
    assert_memory_not_equal (k.srtp_to_client, first.srtp_to_client,
        sizeof k.srtp_to_client);
    changed[i][3] ^= 1;
  }
  s.secret = secret ("");
  k = keys_of (&s);
  assert_memory_not_equal (k.srtp_to_mixer, first.srtp_to_mixer,
      sizeof k.srtp_to_mixer);
}

static void
test_a_proof_covers_all_that_is_said (void **state)
{
  Session s = session_new ();
  const FmxJoinCrypto *crypto = toy_init (&s.toy, 1);
  uint8_t first[FMX_JOIN_MAC_BYTES], proof[FMX_JOIN_MAC_BYTES];
  FmxJoinKeys keys = keys_of (&s);

  (void) state;
  fmx_join_proof_of_join (crypto, &s.secret, s.agreed.shared,
      s.agreed.mixer_key, &s.join, first);
#define CHANGES(what) \
  what ^= 1; \
  fmx_join_proof_of_join (crypto, &s.secret, s.agreed.shared, \
      s.agreed.mixer_key, &s.join, proof); \
  assert_memory_not_equal (first, proof, sizeof proof); \
  what ^= 1
  CHANGES (s.join.nonce[0]);
  CHANGES (s.join.cookie[31]);
  CHANGES (s.join.key[0]);
  CHANGES (s.join.node);
  CHANGES (s.join.previous);
  CHANGES (s.join.resume[15]);
  CHANGES (s.join.max_streams);
  CHANGES (s.join.flags);
  CHANGES (s.join.name[0]);
  CHANGES (s.secret.bytes[0]);
  CHANGES (s.agreed.shared[0]);
  CHANGES (s.agreed.mixer_key[0]);
#undef CHANGES
  fmx_join_proof_of_accept (crypto, &keys, &s.join, &s.accept, first);
#define CHANGES(what) \
  what ^= 1; \
  fmx_join_proof_of_accept (crypto, &keys, &s.join, &s.accept, proof); \
  assert_memory_not_equal (first, proof, sizeof proof); \
  what ^= 1
  CHANGES (s.join.name[0]);
  CHANGES (s.join.proof[0]);
  CHANGES (s.accept.nonce[0]);
  CHANGES (s.accept.mixer_nonce[0]);
  CHANGES (s.accept.key[0]);
  CHANGES (s.accept.session);
  CHANGES (s.accept.root);
  CHANGES (s.accept.depth);
  CHANGES (keys.accept[0]);
#undef CHANGES
}

static bool
fits (Session *s, const char *word, const uint8_t *shared,
    const uint8_t *recorded)
{
  FmxJoinSecret guess = secret (word);
  uint8_t proof[FMX_JOIN_MAC_BYTES];

  fmx_join_proof_of_join (toy_init (&s->toy, 1), &guess, shared,
      s->agreed.mixer_key, &s->join, proof);
  return fmx_join_same (proof, recorded, sizeof proof);
}

/* Who recorded a JOIN has all of it but what the two ends agreed on: no word fits, the
 * right one neither, whatever he takes for that.  Who was one of the ends can try. */
static void
test_words_can_be_tried_by_an_end_and_by_nobody_else (void **state)
{
  static const uint8_t nothing[FMX_JOIN_PUBLIC_BYTES];
  Session s = session_new ();
  const uint8_t *public[] = { nothing, s.join.key, s.agreed.mixer_key,
    s.accept.key, s.join.nonce
  };
  uint8_t recorded[FMX_JOIN_MAC_BYTES];

  (void) state;
  fmx_join_proof_of_join (toy_init (&s.toy, 1), &s.secret, s.agreed.shared,
      s.agreed.mixer_key, &s.join, recorded);
  for (size_t i = 0; i < N_ELEMENTS (public); i++)
    assert_false (fits (&s, "open sesame", public[i], recorded));
  assert_false (fits (&s, "open barley", s.agreed.shared, recorded));
  assert_true (fits (&s, "open sesame", s.agreed.shared, recorded));
}

static void
test_a_control_message_that_was_touched_is_not_genuine (void **state)
{
  Toy toy;
  const FmxJoinCrypto *crypto = toy_init (&toy, 1);
  FmxJoinMessage m = {.type = FMX_JOIN_BYE }, got;
  uint8_t data[FMX_JOIN_MAX_BYTES], key[FMX_JOIN_MAC_BYTES] = { 1 };
  uint8_t other[FMX_JOIN_MAC_BYTES] = { 2 };
  size_t size;

  (void) state;
  m.u.control.session = 7;
  size = fmx_join_control_write (crypto, key, &m, data);
  assert_int_equal (fmx_join_message_parse (&got, data, size), FMX_JOIN_VALID);
  assert_true (fmx_join_control_is_genuine (crypto, key, &got));
  assert_false (fmx_join_control_is_genuine (crypto, other, &got));
  for (size_t i = 8; i < size; i++) {
    data[i] ^= 1;
    fmx_join_message_parse (&got, data, size);
    assert_false (fmx_join_control_is_genuine (crypto, key, &got));
    data[i] ^= 1;
  }
  data[4] = FMX_JOIN_PING;      /* nor does a PING become a BYE */
  fmx_join_message_parse (&got, data, size);
  assert_false (fmx_join_control_is_genuine (crypto, key, &got));
}

static void
test_a_secret_has_its_limits (void **state)
{
  FmxJoinSecret s;
  char text[FMX_JOIN_MAX_SECRET_BYTES + 1] = { 0 };

  (void) state;
  assert_true (fmx_join_secret_set (&s, text, FMX_JOIN_MAX_SECRET_BYTES));
  assert_false (fmx_join_secret_set (&s, text, sizeof text));
  assert_true (fmx_join_secret_set (&s, NULL, 0));
  assert_int_equal (s.size, 0);
}

static void
test_same_means_every_byte (void **state)
{
  uint8_t a[40] = { 0 }, b[40] = { 0 };

  (void) state;
  assert_true (fmx_join_same (a, b, sizeof a));
  for (size_t i = 0; i < sizeof a; i++) {
    b[i] = 0x80;
    assert_false (fmx_join_same (a, b, sizeof a));
    b[i] = 0;
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_two_keys_are_the_same),
    cmocka_unit_test (test_a_proof_covers_all_that_is_said),
    cmocka_unit_test (test_words_can_be_tried_by_an_end_and_by_nobody_else),
    cmocka_unit_test (test_a_control_message_that_was_touched_is_not_genuine),
    cmocka_unit_test (test_a_secret_has_its_limits),
    cmocka_unit_test (test_same_means_every_byte),
  };

  return cmocka_run_group_tests_name ("join/crypto", tests, NULL, NULL);
}
