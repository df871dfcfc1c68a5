/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <stdbool.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/select/fmx-select.h"

#define NOW (100 * (FmxTime) FMX_SECOND)
#define LONG_AGO 0
#define JUST_NOW (NOW - FMX_SECOND)

#define MAX_STREAMS 40

static FmxSelectParams
default_params (void)
{
  FmxSelectParams params;

  fmx_select_params_default (&params);
  return params;
}

static void
assert_order (const FmxSelectParams *params, const FmxSelectStream *streams,
    const uint32_t *expected, size_t n)
{
  uint32_t order[MAX_STREAMS];

  fmx_select_rank (params, streams, order, n, NOW);
  for (size_t i = 0; i < n; i++)
    assert_int_equal (order[i], expected[i]);
}

static void
test_priority_outranks_level_and_never_mix_outranks_both (void **state)
{
  const FmxSelectStream streams[] = {
    {.priority = 0,.level = 10},
    {.priority = 5,.level = 50},
    {.priority = -1,.level = 127,.never_mix = true},
    {.priority = 5,.level = 20},
    {.priority = 9,.level = 0,.must_mix = true},
  };
  const uint32_t expected[] = { 2, 3, 1, 0, 4 };
  FmxSelectParams params = default_params ();

  (void) state;
  assert_order (&params, streams, expected, N_ELEMENTS (streams));
}

static void
test_what_cannot_be_forwarded_is_last_even_if_never_mix (void **state)
{
  const FmxSelectStream streams[] = {
    {.never_mix = true,.must_mix = true,.priority = 9},
    {.level = 127,.priority = -9},
  };
  const uint32_t expected[] = { 1, 0 };
  FmxSelectParams params = default_params ();

  (void) state;
  assert_order (&params, streams, expected, N_ELEMENTS (streams));
}

/* One separate stream at 30 -dBov, one mixed: who is first? */
static void
test_a_place_is_taken_only_by_much_louder_and_after_the_stay (void **state)
{
  static const struct
  {
    uint8_t mixed_level;
    FmxTime since;
    bool taken;
    const char *why;
  } rows[] = {
    {20, LONG_AGO, true, "10 dB louder, stayed long enough"},
    {21, LONG_AGO, false, "9 dB louder only"},
    {0, JUST_NOW, false, "30 dB louder, but it has just come"},
    {20, NOW - 2 * FMX_SECOND, true, "exactly as long as it must stay"},
    {20, NOW - 2 * FMX_SECOND + 1, false, "a nanosecond too early"},
    {40, LONG_AGO, false, "quieter"},
  };
  FmxSelectParams params = default_params ();

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    const FmxSelectStream streams[] = {
      {.separate = true,.level = 30,.since = rows[i].since},
      {.separate = false,.level = rows[i].mixed_level},
    };
    uint32_t order[2];

    fmx_select_rank (&params, streams, order, 2, NOW);
    if (order[0] != (rows[i].taken ? 1 : 0))
      fail_msg ("wrong rank when the mixed one is: %s", rows[i].why);
  }
}

static void
test_the_place_of_the_quietest_is_taken (void **state)
{
  const FmxSelectStream streams[] = {
    {.separate = true,.level = 50},
    {.separate = true,.level = 30},
    {.level = 20},
    {.separate = true,.level = 40},
  };
  const uint32_t expected[] = { 2, 1, 3, 0 };
  const uint32_t when_it_is_less_loud[] = { 1, 2, 3, 0 };
  FmxSelectStream louder[4];
  FmxSelectParams params = default_params ();

  (void) state;
  assert_order (&params, streams, expected, 4);
  memcpy (louder, streams, sizeof louder);
  louder[2].level = 25;
  assert_order (&params, louder, when_it_is_less_loud, 4);
}

/* The quiet one may still stay: nobody goes before the loud one either, or
 * the loud one would pay for the quiet one's protection. */
static void
test_protection_of_the_quietest_covers_the_louder_ones (void **state)
{
  const FmxSelectStream streams[] = {
    {.separate = true,.level = 20,.since = LONG_AGO},
    {.separate = true,.level = 40,.since = JUST_NOW},
    {.level = 5},
  };
  const uint32_t expected[] = { 0, 1, 2 };
  FmxSelectParams params = default_params ();

  (void) state;
  assert_order (&params, streams, expected, 3);
}

static void
test_background_noise_gains_no_place (void **state)
{
  const FmxSelectStream streams[] = {
    {.separate = true,.level = 127},
    {.level = 56},
  };
  const uint32_t stays[] = { 0, 1 }, goes[] = { 1, 0 };
  FmxSelectParams params = default_params ();

  (void) state;
  assert_order (&params, streams, stays, 2);
  params.silence_level = 0;
  assert_order (&params, streams, goes, 2);
}

static void
test_equals_never_change_places_even_without_hysteresis (void **state)
{
  const FmxSelectParams none = { 0 };
  const FmxSelectStream streams[] = {
    {.level = 30},
    {.level = 30,.separate = true},
    {.level = 30},
    {.level = 30,.separate = true},
  };
  const uint32_t expected[] = { 1, 3, 0, 2 };

  (void) state;
  assert_order (&none, streams, expected, 4);
}

/* The definition, the slow way: lists by insertion, merged from the back. */

static unsigned
naive_level (const FmxSelectParams *params, const FmxSelectStream *s)
{
  bool silent = params->silence_level != 0 && s->level >= params->silence_level;

  return silent || s->level > 127 ? 127 : s->level;
}

static bool
naive_takes_place (const FmxSelectParams *params, const FmxSelectStream *mixed,
    const FmxSelectStream *separate)
{
  int louder = (int) naive_level (params, separate)
      - (int) naive_level (params, mixed);

  return louder > 0 && louder >= params->level_hysteresis_db
      && NOW - separate->since >= (FmxTime) params->min_stay;
}

static size_t
naive_collect (const FmxSelectParams *params, const FmxSelectStream *streams,
    size_t n, const FmxSelectStream *place, bool separate, uint32_t *list)
{
  size_t n_list = 0;

  for (size_t i = 0; i < n; i++) {
    const FmxSelectStream *s = &streams[i];
    size_t k = n_list;

    if (s->must_mix != place->must_mix || s->separate != separate
        || s->priority != place->priority
        || (!s->must_mix && s->never_mix != place->never_mix))
      continue;
    while (k > 0
        && naive_level (params, &streams[list[k - 1]]) > naive_level (params,
            s)) {
      list[k] = list[k - 1];
      k--;
    }
    list[k] = (uint32_t) i;
    n_list++;
  }
  return n_list;
}

static size_t
naive_place (const FmxSelectParams *params, const FmxSelectStream *streams,
    size_t n, const FmxSelectStream *place, uint32_t *order)
{
  uint32_t separate[MAX_STREAMS], mixed[MAX_STREAMS];
  size_t n_separate, n_mixed, total;

  n_separate = naive_collect (params, streams, n, place, true, separate);
  n_mixed = naive_collect (params, streams, n, place, false, mixed);
  total = n_separate + n_mixed;
  for (size_t i = total; i-- > 0;) {
    bool mixed_is_last = n_separate == 0 || (n_mixed > 0
        && !naive_takes_place (params, &streams[mixed[n_mixed - 1]],
            &streams[separate[n_separate - 1]]));

    order[i] = mixed_is_last ? mixed[--n_mixed] : separate[--n_separate];
  }
  return total;
}

static void
naive_rank (const FmxSelectParams *params, const FmxSelectStream *streams,
    uint32_t *order, size_t n)
{
  size_t done = 0;

  for (int klass = 0; klass < 3; klass++)
    for (int32_t priority = 2; priority >= -2; priority--) {
      FmxSelectStream place = {.priority = priority };

      place.never_mix = klass == 0;
      place.must_mix = klass == 2;
      done += naive_place (params, streams, n, &place, order + done);
    }
  assert_int_equal (done, n);
}

static void
test_random_streams_are_ranked_as_the_definition_says (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 7);
  for (int round = 0; round < 20000; round++) {
    size_t n = fmx_rng_next (&rng) % (MAX_STREAMS + 1);
    FmxSelectStream streams[MAX_STREAMS];
    uint32_t order[MAX_STREAMS], expected[MAX_STREAMS];
    FmxSelectParams params = default_params ();

    params.level_hysteresis_db = (uint8_t) (fmx_rng_next (&rng) % 20);
    params.silence_level = (uint8_t) (fmx_rng_next (&rng) % 128);
    memset (streams, 0, sizeof streams);
    for (size_t i = 0; i < n; i++) {
      uint32_t bits = fmx_rng_next (&rng);

      streams[i].priority = (int32_t) (bits % 5) - 2;
      streams[i].never_mix = (bits >> 4) % 8 == 0;
      streams[i].must_mix = (bits >> 8) % 8 == 0;
      streams[i].separate = (bits >> 12) % 2;
      streams[i].level = (uint8_t) (fmx_rng_next (&rng) % 256);
      streams[i].since = NOW - (bits >> 16) % 4 * (FmxTime) FMX_SECOND;
    }
    fmx_select_rank (&params, streams, order, n, NOW);
    naive_rank (&params, streams, expected, n);
    for (size_t i = 0; i < n; i++)
      if (order[i] != expected[i])
        fail_msg ("round %d: place %zu has stream %u, not %u", round, i,
            order[i], expected[i]);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_priority_outranks_level_and_never_mix_outranks_both),
    cmocka_unit_test (test_what_cannot_be_forwarded_is_last_even_if_never_mix),
    cmocka_unit_test
        (test_a_place_is_taken_only_by_much_louder_and_after_the_stay),
    cmocka_unit_test (test_the_place_of_the_quietest_is_taken),
    cmocka_unit_test (test_protection_of_the_quietest_covers_the_louder_ones),
    cmocka_unit_test (test_background_noise_gains_no_place),
    cmocka_unit_test (test_equals_never_change_places_even_without_hysteresis),
    cmocka_unit_test (test_random_streams_are_ranked_as_the_definition_says),
  };

  return cmocka_run_group_tests_name ("select", tests, NULL, NULL);
}
