/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "fmx-test.h"

#include "fairmix/mix/fmx-places.h"

#define S FMX_SECOND

static void
test_everybody_stands_apart_and_nobody_in_the_middle (void **state)
{
  FmxPlaces places;
  float pans[FMX_PLACES_MAX];

  (void) state;
  fmx_places_init (&places);
  for (unsigned i = 0; i < FMX_PLACES_MAX; i++) {
    pans[i] = fmx_places_pan (fmx_places_take (&places, 100 + i, 0));
    assert_true (fabsf (pans[i]) > 0.05f && fabsf (pans[i]) <= 0.8f);
    for (unsigned k = 0; k < i; k++)
      assert_true (fabsf (pans[i] - pans[k]) > 0.05f);
  }
  /* two by two they balance */
  for (unsigned i = 0; i < FMX_PLACES_MAX; i += 2)
    assert_true (pans[i] == -pans[i + 1]);
}

static void
test_who_comes_back_stands_where_he_stood (void **state)
{
  FmxPlaces places;
  uint32_t first, found;

  (void) state;
  fmx_places_init (&places);
  first = fmx_places_take (&places, 1, 0);
  fmx_places_take (&places, 2, 0);
  fmx_places_leave (&places, first, 10 * S);
  assert_true (fmx_places_find (&places, 1, &found) && found == first);
  assert_false (fmx_places_find (&places, 3, &found));
  assert_int_not_equal (fmx_places_take (&places, 3, 11 * S), first);
  assert_int_equal (fmx_places_take (&places, 1, 69 * S), first);
}

static void
test_a_place_that_is_free_for_a_minute_is_the_next_ones (void **state)
{
  FmxPlaces places;
  uint32_t first, found;

  (void) state;
  fmx_places_init (&places);
  first = fmx_places_take (&places, 1, 0);
  fmx_places_leave (&places, first, 10 * S);
  assert_int_equal (fmx_places_take (&places, 2, 70 * S), first);
  assert_false (fmx_places_find (&places, 1, &found));
  assert_int_not_equal (fmx_places_take (&places, 1, 71 * S), first);
}

static void
test_a_place_that_is_given_up_is_free_at_once (void **state)
{
  FmxPlaces places;
  uint32_t first, found;

  (void) state;
  fmx_places_init (&places);
  first = fmx_places_take (&places, 1, 0);
  fmx_places_give_up (&places, first);
  assert_false (fmx_places_find (&places, 1, &found));
  assert_int_equal (fmx_places_take (&places, 2, 0), first);
}

static void
test_where_none_was_never_taken_the_oldest_is (void **state)
{
  FmxPlaces places;

  (void) state;
  fmx_places_init (&places);
  for (unsigned i = 0; i < FMX_PLACES_MAX; i++)
    fmx_places_take (&places, 100 + i, 0);
  fmx_places_leave (&places, 9, 3 * S);
  fmx_places_leave (&places, 5, 2 * S);
  fmx_places_leave (&places, 2, 4 * S);
  assert_int_equal (fmx_places_take (&places, 1, 5 * S), 5);
  assert_int_equal (fmx_places_take (&places, 2, 5 * S), 9);
  assert_int_equal (fmx_places_take (&places, 3, 5 * S), 2);
}

/* However many there are, and whoever goes first */
static void
test_a_crowd_shares_the_places_evenly (void **state)
{
  FmxPlaces places;
  unsigned n_here[FMX_PLACES_MAX] = { 0 };
  uint32_t taken[3 * FMX_PLACES_MAX];

  (void) state;
  fmx_places_init (&places);
  for (unsigned round = 0; round < 3; round++) {
    for (unsigned i = 0; i < N_ELEMENTS (taken); i++) {
      taken[i] = fmx_places_take (&places, i % 40, round * S);
      n_here[taken[i]]++;
    }
    for (unsigned i = 0; i < FMX_PLACES_MAX; i++)
      assert_int_equal (n_here[i], 3);
    for (unsigned i = 0; i < N_ELEMENTS (taken); i++) {
      fmx_places_leave (&places, taken[i], round * S);
      n_here[taken[i]]--;
    }
  }
}

static void
test_a_mix_goes_where_the_loudest_stood (void **state)
{
  const uint32_t ssrcs[] = { 1, 2, 3 };
  const uint8_t second[] = { 60, 20, 59 }, stranger[] = { 30, 40, 0 };
  const uint8_t nobody[] = { 60, 127, 60 };
  FmxPlaces places;
  uint32_t first, left;
  float pan;

  (void) state;
  fmx_places_init (&places);
  first = fmx_places_take (&places, 1, 0);
  left = fmx_places_take (&places, 2, 0);
  fmx_places_leave (&places, left, S);
  assert_true (fmx_places_goal (&places, ssrcs, second, 3, &pan)
      && pan == fmx_places_pan (left));
  assert_true (fmx_places_goal (&places, ssrcs, stranger, 2, &pan)
      && pan == fmx_places_pan (first));
  /* in the middle is who has no place, and everybody if nothing tells who is loudest */
  assert_true (fmx_places_goal (&places, ssrcs, stranger, 3, &pan)
      && pan == 0.0f);
  assert_true (fmx_places_goal (&places, ssrcs, NULL, 3, &pan) && pan == 0.0f);
  assert_false (fmx_places_goal (&places, ssrcs, nobody, 3, &pan));
  assert_false (fmx_places_goal (&places, ssrcs, NULL, 0, &pan));
}

static void
test_a_mix_moves_slowly_and_arrives_exactly (void **state)
{
  float pan = 0.0f;

  (void) state;
  for (unsigned i = 0; i < 100; i++) {
    float before = pan;

    pan = fmx_places_toward (pan, 0.8f, 20 * FMX_MSECOND);
    assert_true (pan > before && pan - before < 0.009f);
  }
  assert_true (pan > 0.79f);
  assert_true (fmx_places_toward (pan, 0.8f, 50 * FMX_MSECOND) == 0.8f);
  assert_true (fmx_places_toward (0.3f, 0.3f, S) == 0.3f);
  assert_true (fabsf (fmx_places_toward (0.3f, -0.8f, S) + 0.1f) < 1e-6f);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_everybody_stands_apart_and_nobody_in_the_middle),
    cmocka_unit_test (test_who_comes_back_stands_where_he_stood),
    cmocka_unit_test (test_a_place_that_is_free_for_a_minute_is_the_next_ones),
    cmocka_unit_test (test_a_place_that_is_given_up_is_free_at_once),
    cmocka_unit_test (test_where_none_was_never_taken_the_oldest_is),
    cmocka_unit_test (test_a_crowd_shares_the_places_evenly),
    cmocka_unit_test (test_a_mix_goes_where_the_loudest_stood),
    cmocka_unit_test (test_a_mix_moves_slowly_and_arrives_exactly),
  };

  return cmocka_run_group_tests_name ("mix/places", tests, NULL, NULL);
}
