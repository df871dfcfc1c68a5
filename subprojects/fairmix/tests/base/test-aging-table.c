/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-aging-table.h"
#include "fairmix/base/fmx-rng.h"

#define N 4096

static FmxAgingSlot slots[N];

static uint64_t
random_key (FmxRng *rng)
{
  return (uint64_t) fmx_rng_next (rng) << 32 | fmx_rng_next (rng);
}

static void
test_what_was_put_is_found_at_its_place (void **state)
{
  static uint64_t keys[N / 4];
  FmxAgingTable table;
  FmxTime previous;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 2);
  fmx_aging_table_init (&table, slots, N, random_key (&rng));
  for (uint32_t i = 0; i < N / 4; i++) {
    uint64_t who;
    uint32_t index;

    keys[i] = random_key (&rng);
    index = fmx_aging_table_touch (&table, keys[i], i, &previous, i);
    assert_true (previous == FMX_TIME_NONE);
    assert_true (fmx_aging_table_get (&table, index, &who) == i);
    assert_true (who == keys[i]);
  }
  for (uint32_t i = 0; i < N / 4; i++) {
    uint32_t index = fmx_aging_table_find (&table, keys[i]);

    assert_true (fmx_aging_table_touch (&table, keys[i], N + i,
        &previous, N + i)
        == index);
    assert_true (previous == i);
  }
  assert_true (fmx_aging_table_remove (&table, keys[3]));
  assert_false (fmx_aging_table_remove (&table, keys[3]));
  assert_true (fmx_aging_table_find (&table, keys[3])
      == FMX_AGING_TABLE_NONE);
}

/* Half full with the living, and a flood of keys that never return: what share
 * of the living is forgotten between two signs of life? */
static uint32_t
forgotten (uint32_t n_living, uint32_t flood)
{
  FmxAgingTable table;
  FmxTime previous, now = 0;
  uint32_t n = 0;
  FmxRng rng;

  fmx_rng_init (&rng, 5);
  fmx_aging_table_init (&table, slots, N, random_key (&rng));
  for (int round = 0; round < 20; round++) {
    for (uint32_t i = 0; i < n_living; i++) {
      now++;
      fmx_aging_table_touch (&table, i, now, &previous, now);
      n += round > 0 && previous == FMX_TIME_NONE;
    }
    for (uint32_t i = 0; i < flood; i++) {
      now++;
      fmx_aging_table_touch (&table, random_key (&rng), now, &previous, now);
    }
  }
  return n;
}

static void
test_a_table_a_quarter_full_forgets_next_to_nobody (void **state)
{
  (void) state;
  assert_in_range (forgotten (N / 8, 0), 0, 0);
  assert_in_range (forgotten (N / 4, 0), 0, 19 * (N / 4) * 2 / 100);
  assert_in_range (forgotten (N / 2, 0), 0, 19 * (N / 2) * 8 / 100);
  /* a flood takes the places that are stalest: those of the flood before */
  assert_in_range (forgotten (N / 8, N / 8), 0, 19 * (N / 8) * 2 / 100);
}

static void
test_who_is_alive_is_not_forgotten_where_that_is_asked (void **state)
{
  FmxAgingTable table;
  FmxTime previous;
  uint32_t refused = 0;

  (void) state;
  fmx_aging_table_init (&table, slots, N, 1);
  for (uint64_t i = 0; i < 2 * N; i++)
    refused += fmx_aging_table_touch (&table, i, 100, &previous, 100 + i)
        == FMX_AGING_TABLE_NONE;
  assert_in_range (refused, N, N + N / 50);
  /* half of those who came are stale now */
  refused = 0;
  for (uint64_t i = 2 * N; i < 3 * N; i++)
    refused += fmx_aging_table_touch (&table, i, 100 + N / 2, &previous,
        100 + i) == FMX_AGING_TABLE_NONE;
  assert_in_range (refused, N / 4, 3 * N / 4);
}

static void
test_chosen_keys_do_not_meet (void **state)
{
  FmxAgingTable table;
  FmxTime previous;
  uint32_t n = 0;

  (void) state;
  /* keys that differ in their upper bits only: of a bad hash, one bucket */
  fmx_aging_table_init (&table, slots, N, UINT64_C (0x5eed));
  for (uint64_t i = 0; i < N / 4; i++)
    fmx_aging_table_touch (&table, i << 40, 0, &previous, 0);
  for (uint64_t i = 0; i < N / 4; i++)
    n += fmx_aging_table_find (&table, i << 40) != FMX_AGING_TABLE_NONE;
  assert_in_range (n, N / 4 * 99 / 100, N / 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_was_put_is_found_at_its_place),
    cmocka_unit_test (test_a_table_a_quarter_full_forgets_next_to_nobody),
    cmocka_unit_test (test_who_is_alive_is_not_forgotten_where_that_is_asked),
    cmocka_unit_test (test_chosen_keys_do_not_meet),
  };

  return cmocka_run_group_tests_name ("base/aging-table", tests, NULL, NULL);
}
