/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#include "fairmix/playout/fmx-alignment.h"

static FmxTime
at (FmxDuration seconds)
{
  return START + (FmxTime) (seconds * FMX_SECOND);
}

static FmxDuration
delay_of (const FmxAlignment *alignment, FmxTime now)
{
  FmxDuration delay;

  assert_true (fmx_alignment_get (alignment, now, &delay));
  return delay;
}

static void
test_nothing_is_known_at_first_nor_after_a_minute (void **state)
{
  FmxAlignment alignment;
  FmxDuration delay;

  (void) state;
  fmx_alignment_init (&alignment);
  assert_false (fmx_alignment_get (&alignment, at (0), &delay));
  fmx_alignment_tell (&alignment, 70 * MS, true, at (0));
  assert_int_equal (delay_of (&alignment, at (60)), 70 * MS);
  assert_false (fmx_alignment_get (&alignment, at (61), &delay));
}

static void
test_what_is_exact_holds_against_what_is_not (void **state)
{
  FmxAlignment alignment;

  (void) state;
  fmx_alignment_init (&alignment);
  fmx_alignment_tell (&alignment, 50 * MS, false, at (0));
  fmx_alignment_tell (&alignment, 70 * MS, true, at (1));
  fmx_alignment_tell (&alignment, 40 * MS, false, at (2));
  assert_int_equal (delay_of (&alignment, at (2)), 70 * MS);
  fmx_alignment_tell (&alignment, 75 * MS, true, at (3));
  assert_int_equal (delay_of (&alignment, at (3)), 75 * MS);
  /* but not for ever */
  fmx_alignment_tell (&alignment, 74 * MS, false, at (50));
  fmx_alignment_tell (&alignment, 74 * MS, false, at (64));
  assert_int_equal (delay_of (&alignment, at (64)), 74 * MS);
}

/* Whatever was told, and whatever is told by and by */
static void
test_it_moves_with_who_told (void **state)
{
  FmxAlignment alignment;

  (void) state;
  fmx_alignment_init (&alignment);
  fmx_alignment_tell (&alignment, 70 * MS, true, at (0));
  fmx_alignment_move (&alignment, 20 * MS);
  assert_int_equal (delay_of (&alignment, at (1)), 90 * MS);
  fmx_alignment_move (&alignment, -60 * MS);
  fmx_alignment_tell (&alignment, 50 * MS, false, at (2));
  assert_int_equal (delay_of (&alignment, at (2)), 30 * MS);
}

/* Each is as much too long as the packet was late that it was reckoned from. */
static void
test_of_what_is_not_exact_the_least_counts (void **state)
{
  static const FmxDuration late[] = { 9, 30, 12, 0, 25, 3 };
  FmxAlignment alignment;

  (void) state;
  fmx_alignment_init (&alignment);
  for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
    fmx_alignment_tell (&alignment, (70 + late[i]) * MS, false,
        at ((FmxDuration) i));
  assert_in_range (delay_of (&alignment, at (6)), 70 * MS, 72 * MS);
}

static void
test_it_follows_a_clock_that_drifts (void **state)
{
  FmxAlignment alignment;
  FmxDuration second;

  (void) state;
  fmx_alignment_init (&alignment);
  /* 100 ppm for an hour, either way */
  for (second = 0; second < 3600; second++)
    fmx_alignment_tell (&alignment, 70 * MS + second * MS / 10, false,
        at (second));
  assert_in_range (delay_of (&alignment, at (second)), 425 * MS, 430 * MS);
  for (; second < 7200; second++)
    fmx_alignment_tell (&alignment, 790 * MS - second * MS / 10, false,
        at (second));
  assert_in_range (delay_of (&alignment, at (second)), 70 * MS, 71 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nothing_is_known_at_first_nor_after_a_minute),
    cmocka_unit_test (test_what_is_exact_holds_against_what_is_not),
    cmocka_unit_test (test_it_moves_with_who_told),
    cmocka_unit_test (test_of_what_is_not_exact_the_least_counts),
    cmocka_unit_test (test_it_follows_a_clock_that_drifts),
  };

  return cmocka_run_group_tests_name ("playout/alignment", tests, NULL, NULL);
}
