/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-table.h"
#include "fairmix/base/fmx-rng.h"

#define N 64u
#define N_SSRCS 100u            /* more than fit */
#define N_STEPS 100000

/* The same without heap, list and hash. */
typedef struct
{
  bool there, counts;
  uint32_t rate_bps;
  FmxTime heard;
} Plain;

static FmxAsmpEntry memory[N * FMX_ASMP_BYTES_PER_RECEIVER
    / sizeof (FmxAsmpEntry) + 1];

static void
check_least (const FmxAsmpTable *table, const Plain *plain)
{
  uint32_t least = fmx_asmp_table_least (table);
  uint32_t rate_bps = UINT32_MAX;
  bool any = false;

  for (unsigned i = 0; i < N_SSRCS; i++)
    if (plain[i].there && plain[i].counts) {
      any = true;
      rate_bps = plain[i].rate_bps < rate_bps ? plain[i].rate_bps : rate_bps;
    }
  assert_true (any == (least != FMX_ASMP_NOBODY));
  if (any)
    assert_int_equal (table->entries[least].rate_bps, rate_bps);
}

static void
check_order (const FmxAsmpTable *table, const Plain *plain)
{
  FmxTime before = 0;
  unsigned n = 0, n_there = 0;

  for (uint32_t at = fmx_asmp_table_oldest (table); at != FMX_ASMP_NOBODY;
      at = fmx_asmp_table_next_oldest (table, at)) {
    assert_true (table->entries[at].heard >= before);
    before = table->entries[at].heard;
    n++;
  }
  for (unsigned i = 0; i < N_SSRCS; i++)
    n_there += plain[i].there;
  assert_int_equal (n, n_there);
}

static void
step (FmxAsmpTable *table, Plain *plain, FmxRng *rng, FmxTime now)
{
  unsigned i = fmx_rng_next (rng) % N_SSRCS;
  uint32_t ssrc = i * 0x01000000u;      /* alike in their low bits */
  uint32_t at = fmx_asmp_table_find (table, ssrc);

  assert_true (plain[i].there == (at != FMX_ASMP_NOBODY));
  if (at == FMX_ASMP_NOBODY) {
    at = fmx_asmp_table_add (table, ssrc, now);
    if (at != FMX_ASMP_NOBODY)
      plain[i] = (Plain) { true, false, 0, now };
    return;
  }
  switch (fmx_rng_next (rng) % 4) {
    case 0:
      fmx_asmp_table_remove (table, at);
      plain[i].there = false;
      break;
    case 1:
      fmx_asmp_table_touch (table, at, now);
      plain[i].heard = now;
      break;
    default:
      plain[i].rate_bps = fmx_rng_next (rng) % 1000;
      plain[i].counts = fmx_rng_next (rng) % 8 != 0;
      fmx_asmp_table_rate (table, at, plain[i].rate_bps, plain[i].counts);
      break;
  }
}

static void
test_it_agrees_with_a_search_through_all (void **state)
{
  static Plain plain[N_SSRCS];
  FmxAsmpTable table;
  FmxRng rng;

  (void) state;
  assert_true (sizeof memory >= N * FMX_ASMP_BYTES_PER_RECEIVER);
  fmx_asmp_table_init (&table, memory, N, 12345);
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < N_STEPS; i++) {
    step (&table, plain, &rng, i);
    check_least (&table, plain);
    if (i % 16 == 0)
      check_order (&table, plain);
  }
}

static void
test_a_full_table_takes_nobody_more_and_forgets_nobody (void **state)
{
  FmxAsmpTable table;

  (void) state;
  fmx_asmp_table_init (&table, memory, N, 1);
  for (uint32_t i = 0; i < N; i++)
    assert_true (fmx_asmp_table_add (&table, i, i) != FMX_ASMP_NOBODY);
  assert_true (fmx_asmp_table_add (&table, N, N) == FMX_ASMP_NOBODY);
  for (uint32_t i = 0; i < N; i++)
    assert_true (fmx_asmp_table_find (&table, i) != FMX_ASMP_NOBODY);
  assert_true (fmx_asmp_table_find (&table, N) == FMX_ASMP_NOBODY);
}

static void
test_a_high_rate_is_one_of_the_higher_half (void **state)
{
  FmxAsmpTable table;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  fmx_asmp_table_init (&table, memory, N, 1);
  for (uint32_t i = 0; i < N; i++)
    fmx_asmp_table_rate (&table, fmx_asmp_table_add (&table, i, i),
        1000 + fmx_rng_next (&rng) % 1000, true);
  assert_true (fmx_asmp_table_high (&table) != fmx_asmp_table_least (&table));
  assert_true (table.entries[fmx_asmp_table_high (&table)].rate_bps
      > table.entries[fmx_asmp_table_least (&table)].rate_bps);
}

/* what docs/algorithms/asmp.md says */
static void
test_a_receiver_takes_80_bytes (void **state)
{
  (void) state;
  assert_int_equal (FMX_ASMP_BYTES_PER_RECEIVER, 80);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_it_agrees_with_a_search_through_all),
    cmocka_unit_test (test_a_full_table_takes_nobody_more_and_forgets_nobody),
    cmocka_unit_test (test_a_high_rate_is_one_of_the_higher_half),
    cmocka_unit_test (test_a_receiver_takes_80_bytes),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
