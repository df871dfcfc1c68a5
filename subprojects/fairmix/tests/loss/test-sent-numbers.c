/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/loss/fmx-sent-numbers.h"

#define LATER (60 * (FmxTime) FMX_SECOND)

static FmxSentNumbers numbers;

static void
send (unsigned from, unsigned until)
{
  for (unsigned seq = from; seq < until; seq++)
    (void) fmx_sent_numbers_add (&numbers, (uint16_t) seq, 0);
}

static FmxSentNumber
check (unsigned seq)
{
  return fmx_sent_numbers_check (&numbers, (uint16_t) seq, LATER);
}

static void
test_what_was_not_sent_was_never_sent (void **state)
{
  (void) state;
  fmx_sent_numbers_init (&numbers);
  assert_int_equal (check (7), FMX_SENT_NUMBER_UNKNOWN);
  send (65530, 65536 + 10);
  assert_int_equal (check (65529), FMX_SENT_NUMBER_UNKNOWN);
  assert_int_equal (check (65530), FMX_SENT_NUMBER_SENT);
  assert_int_equal (check (9), FMX_SENT_NUMBER_SENT);
  assert_int_equal (check (10), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (20000), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (fmx_sent_numbers_next (&numbers), 10);
  assert_int_equal (fmx_sent_numbers_extend (&numbers, 9)
      - fmx_sent_numbers_extend (&numbers, 65530), 15);
}

static void
test_a_gap_was_never_sent_until_it_is_filled (void **state)
{
  (void) state;
  fmx_sent_numbers_init (&numbers);
  send (0, 100);
  send (105, 200);
  assert_int_equal (check (99), FMX_SENT_NUMBER_SENT);
  assert_int_equal (check (100), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (104), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (105), FMX_SENT_NUMBER_SENT);
  assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 200), 5);
  assert_int_equal (fmx_sent_numbers_left_out (&numbers, 103, 10), 2);
  send (102, 103);              /* late: only reordered */
  assert_int_equal (check (102), FMX_SENT_NUMBER_SENT);
  assert_int_equal (check (101), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (103), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 200), 4);
}

static void
test_a_new_numbering_gets_time_to_be_heard_of (void **state)
{
  (void) state;
  fmx_sent_numbers_init (&numbers);
  send (5000, 5100);
  assert_true (fmx_sent_numbers_add (&numbers, 100, LATER));
  assert_int_equal (check (5099), FMX_SENT_NUMBER_UNKNOWN);
  assert_int_equal (fmx_sent_numbers_check (&numbers, 5099,
          LATER + (FmxTime) FMX_SENT_NUMBERS_GRACE), FMX_SENT_NUMBER_NEVER);
}

/* A packet that comes too late to be of this numbering begins another one, and with the
 * next one there is a gap, of what was sent before. */
static void
test_a_gap_after_a_new_numbering_may_have_been_sent_before (void **state)
{
  (void) state;
  fmx_sent_numbers_init (&numbers);
  send (0, 200);
  assert_true (fmx_sent_numbers_add (&numbers, 50, LATER));
  assert_false (fmx_sent_numbers_add (&numbers, 200, LATER));
  assert_int_equal (check (50), FMX_SENT_NUMBER_SENT);
  assert_int_equal (check (199), FMX_SENT_NUMBER_UNKNOWN);
  assert_int_equal (check (200), FMX_SENT_NUMBER_SENT);
  assert_int_equal (fmx_sent_numbers_check (&numbers, 199,
          LATER + (FmxTime) FMX_SENT_NUMBERS_GRACE), FMX_SENT_NUMBER_NEVER);
}

/* Against a list of all that was sent, with gaps and reordering. */
static void
test_agrees_with_a_list_of_all_numbers (void **state)
{
  static bool sent[1u << 16];
  FmxRng rng;
  unsigned next = 60000, gaps = 0;

  (void) state;
  fmx_rng_init (&rng, 17);
  fmx_sent_numbers_init (&numbers);
  memset (sent, 0, sizeof sent);
  (void) fmx_sent_numbers_add (&numbers, (uint16_t) next, 0);
  sent[next++] = true;
  for (unsigned i = 0; i < 2000; i++) {
    uint32_t r = (uint32_t) (fmx_rng_next_unit (&rng) * 300);

    if (r == 0 && gaps < FMX_SENT_NUMBERS_GAPS - 2) {
      next += 1 + i % 3;
      gaps++;
    }
    if (r == 1 && !sent[(uint16_t) (next - 3)] && gaps < 12) {
      sent[(uint16_t) (next - 3)] = true;
      (void) fmx_sent_numbers_add (&numbers, (uint16_t) (next - 3), 0);
    }
    sent[(uint16_t) next] = true;
    (void) fmx_sent_numbers_add (&numbers, (uint16_t) next++, 0);
  }
  assert_true (gaps > 3);
  for (unsigned seq = 60000; seq < next; seq++)
    assert_int_equal (check (seq), sent[(uint16_t) seq]
        ? FMX_SENT_NUMBER_SENT : FMX_SENT_NUMBER_NEVER);
}

static void
test_old_numbers_and_many_gaps_are_forgotten (void **state)
{
  (void) state;
  fmx_sent_numbers_init (&numbers);
  for (unsigned seq = 0; seq < 200; seq += 2)
    send (seq, seq + 1);
  assert_int_equal (check (1), FMX_SENT_NUMBER_SENT);   /* forgotten */
  assert_int_equal (check (197), FMX_SENT_NUMBER_NEVER);
  send (199, 199 + FMX_SENT_NUMBERS_SPAN);
  assert_int_equal (check (197), FMX_SENT_NUMBER_UNKNOWN);
  assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 200), 0);
}

/* Late packets take no more away of a gap than themselves, also where there is no
 * room for one gap more. */
static void
test_late_packets_shrink_a_gap_of_a_full_table (void **state)
{
  (void) state;
  for (unsigned gap = 0; gap < FMX_SENT_NUMBERS_GAPS; gap++) {
    unsigned first = 5 * gap + 2;

    fmx_sent_numbers_init (&numbers);
    for (unsigned seq = 0; seq <= 5 * FMX_SENT_NUMBERS_GAPS; seq += 5)
      send (seq, seq + 2);
    send (first, first + 1);
    assert_int_equal (check (first), FMX_SENT_NUMBER_SENT);
    assert_int_equal (check (first + 1), FMX_SENT_NUMBER_NEVER);
    assert_int_equal (check (first + 2), FMX_SENT_NUMBER_NEVER);
    assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 200),
        3 * FMX_SENT_NUMBERS_GAPS - 1);
    send (first + 1, first + 3);
    assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 200),
        3 * FMX_SENT_NUMBERS_GAPS - 3);
  }
}

static void
test_what_is_young_of_an_old_gap_still_counts (void **state)
{
  unsigned next = 150 + FMX_SENT_NUMBERS_SPAN;

  (void) state;
  fmx_sent_numbers_init (&numbers);
  send (0, 100);
  send (200, next);
  assert_int_equal (check (149), FMX_SENT_NUMBER_UNKNOWN);
  assert_int_equal (check (150), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (199), FMX_SENT_NUMBER_NEVER);
  assert_int_equal (check (200), FMX_SENT_NUMBER_SENT);
  send (next, next + 50);
  assert_int_equal (fmx_sent_numbers_left_out (&numbers, 0, 300), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_was_not_sent_was_never_sent),
    cmocka_unit_test (test_a_gap_was_never_sent_until_it_is_filled),
    cmocka_unit_test (test_a_new_numbering_gets_time_to_be_heard_of),
    cmocka_unit_test
        (test_a_gap_after_a_new_numbering_may_have_been_sent_before),
    cmocka_unit_test (test_agrees_with_a_list_of_all_numbers),
    cmocka_unit_test (test_old_numbers_and_many_gaps_are_forgotten),
    cmocka_unit_test (test_late_packets_shrink_a_gap_of_a_full_table),
    cmocka_unit_test (test_what_is_young_of_an_old_gap_still_counts),
  };

  return cmocka_run_group_tests_name ("loss/sent-numbers", tests, NULL, NULL);
}
