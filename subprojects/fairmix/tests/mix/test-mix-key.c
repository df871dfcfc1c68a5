/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-mix-key.h"

static FmxMixKey
random_key (FmxRng *rng)
{
  return (uint64_t) fmx_rng_next (rng) << 32 | fmx_rng_next (rng);
}

static void
test_the_order_of_coming_and_going_does_not_matter (void **state)
{
  FmxMixKey a, b, c, key = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 5);
  a = random_key (&rng);
  b = random_key (&rng);
  c = random_key (&rng);
  key = fmx_mix_key_toggle (key, a);
  key = fmx_mix_key_toggle (key, b);
  key = fmx_mix_key_toggle (key, c);
  key = fmx_mix_key_toggle (key, b);
  assert_true (key == fmx_mix_key_toggle (fmx_mix_key_toggle (0, c), a));
  assert_true (fmx_mix_key_toggle (fmx_mix_key_toggle (key, a), c) == 0);
}

static void
test_a_fade_is_known_by_its_shape_and_not_by_its_place (void **state)
{
  const FmxMixKey stream = UINT64_C (0x123456789abcdef1);
  FmxMixEnvelope a = { 1000, 5000, 40 }, b = { 2000, 6000, 40 };
  FmxMixEnvelope longer = { 1000, 5001, 40 }, later = { 1001, 5000, 40 };
  FmxMixKey key = fmx_mix_key_of_ramped (stream, &a, 990);

  (void) state;
  assert_true (key == fmx_mix_key_of_ramped (stream, &b, 1990));
  assert_true (key != stream);
  assert_true (key != fmx_mix_key_of_ramped (stream, &longer, 990));
  assert_true (key != fmx_mix_key_of_ramped (stream, &later, 990));
  assert_true (key != fmx_mix_key_of_ramped (stream + 1, &a, 990));
}

static void
test_another_encoding_of_the_same_is_another_mix (void **state)
{
  FmxMixKey key = fmx_mix_key_of_encoding (77, 24000, 1);

  (void) state;
  assert_true (key == fmx_mix_key_of_encoding (77, 24000, 1));
  assert_true (key != fmx_mix_key_of_encoding (78, 24000, 1));
  assert_true (key != fmx_mix_key_of_encoding (77, 32000, 1));
  assert_true (key != fmx_mix_key_of_encoding (77, 24000, 2));
}

/* Listeners who want a stream at the same gain hear the same. */
static void
test_a_stream_at_another_gain_is_another_member (void **state)
{
  (void) state;
  assert_true (fmx_mix_key_of_gain (77, 1.0f) == 77);
  assert_true (fmx_mix_key_of_gain (77, 2.0f) == fmx_mix_key_of_gain (77,
          2.0f));
  assert_true (fmx_mix_key_of_gain (77, 2.0f) != 77);
  assert_true (fmx_mix_key_of_gain (77, 2.0f) != fmx_mix_key_of_gain (77,
          0.5f));
  assert_true (fmx_mix_key_of_gain (77, 2.0f) != fmx_mix_key_of_gain (78,
          2.0f));
}

static void
test_encoders_are_the_same_after_the_same_for_ten_frames (void **state)
{
  FmxMixHistory a = { {0} }, b = { {0} };

  (void) state;
  fmx_mix_history_add (&a, 1);
  fmx_mix_history_add (&b, 2);
  assert_true (fmx_mix_history_forked (&a, &b));
  for (int i = 1; i < FMX_MIX_HISTORY_FRAMES; i++) {
    fmx_mix_history_add (&a, 3);
    fmx_mix_history_add (&b, 3);
    assert_false (fmx_mix_history_same (&a, true, &b));
  }
  assert_true (fmx_mix_history_forked (&a, &b));
  fmx_mix_history_add (&b, 3);
  assert_true (fmx_mix_history_same (&a, false, &b));
  fmx_mix_history_add (&a, 4);
  assert_true (fmx_mix_history_same (&a, true, &b));
  fmx_mix_history_add (&b, 3);
  assert_false (fmx_mix_history_same (&a, false, &b));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_order_of_coming_and_going_does_not_matter),
    cmocka_unit_test (test_a_fade_is_known_by_its_shape_and_not_by_its_place),
    cmocka_unit_test (test_another_encoding_of_the_same_is_another_mix),
    cmocka_unit_test (test_a_stream_at_another_gain_is_another_member),
    cmocka_unit_test (test_encoders_are_the_same_after_the_same_for_ten_frames),
  };

  return cmocka_run_group_tests_name ("mix/key", tests, NULL, NULL);
}
