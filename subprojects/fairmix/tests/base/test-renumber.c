/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-renumber.h"
#include "fairmix/base/fmx-rng.h"

#define DROPPED (-1)

static FmxRenumber renumber;

static int
pass (unsigned seq)
{
  uint16_t out = (uint16_t) seq;

  return fmx_renumber_pass (&renumber, &out) ? out : DROPPED;
}

static void
test_untouched_numbers_stay (void **state)
{
  (void) state;
  fmx_renumber_init (&renumber);
  assert_int_equal (pass (5), 5);
  assert_int_equal (pass (9), 9);
  assert_int_equal (pass (7), 7);
  assert_int_equal (pass (7), 7);
  assert_int_equal (pass (60000), 60000);
  assert_false (fmx_renumber_is_changed (&renumber));
}

static void
test_drops_leave_no_gap_and_inserts_no_duplicate (void **state)
{
  (void) state;
  fmx_renumber_init (&renumber);
  assert_int_equal (pass (65534), 65534);
  fmx_renumber_drop (&renumber, 65535);
  fmx_renumber_drop (&renumber, 0);
  assert_true (fmx_renumber_is_next (&renumber, 1));
  assert_int_equal (pass (1), 65535);
  assert_int_equal (fmx_renumber_insert (&renumber), 0);
  assert_int_equal (fmx_renumber_insert (&renumber), 1);
  assert_int_equal (pass (2), 2);
  assert_int_equal (pass (4), 4);       /* a gap that came in */
  assert_int_equal (pass (3), 3);       /* was reordering */
  assert_int_equal (pass (0), DROPPED); /* its number was given away */
}

/* A number that is left out is an insert that is not sent. */
static void
test_an_insert_that_is_not_sent_is_a_gap (void **state)
{
  (void) state;
  fmx_renumber_init (&renumber);
  assert_int_equal (pass (10), 10);
  (void) fmx_renumber_insert (&renumber);
  assert_int_equal (pass (11), 12);
}

static void
test_a_new_numbering_goes_on (void **state)
{
  (void) state;
  fmx_renumber_init (&renumber);
  assert_int_equal (pass (5000), 5000);
  fmx_renumber_drop (&renumber, 5001);
  assert_int_equal (pass (100), 99);
  assert_int_equal (pass (101), 100);
}

static void
test_a_stream_that_comes_back_shows_no_loss (void **state)
{
  (void) state;
  fmx_renumber_init (&renumber);
  fmx_renumber_rejoin (&renumber, 7);   /* it was never here */
  assert_int_equal (pass (7), 7);
  assert_int_equal (pass (8), 8);
  fmx_renumber_rejoin (&renumber, 40000);
  assert_int_equal (pass (40000), 9);
  assert_int_equal (pass (40002), 11);
  assert_int_equal (pass (39999), DROPPED);
}

/* Away for any number of packets, which are not seen here, and back with some out of
 * order: no number is given twice, and each stay goes on where the last one ended. */
static void
test_no_number_is_given_twice_however_often_it_leaves (void **state)
{
  FmxRng rng;
  uint16_t in = 60000, highest;

  (void) state;
  fmx_rng_init (&rng, 5);
  fmx_renumber_init (&renumber);
  highest = (uint16_t) (pass (in++));
  for (unsigned i = 0; i < 20000; i++) {
    bool first_two_swapped = fmx_rng_next (&rng) % 4 == 0;

    in = (uint16_t) (in + fmx_rng_next (&rng) % 40000);
    if (first_two_swapped) {
      fmx_renumber_rejoin (&renumber, (uint16_t) (in + 1));
      assert_int_equal (pass ((uint16_t) (in + 1)), ++highest);
      assert_int_equal (pass (in), DROPPED);
      in = (uint16_t) (in + 2);
    } else {
      fmx_renumber_rejoin (&renumber, in);
    }
    for (uint32_t n = fmx_rng_next (&rng) % 5 + 1; n > 0; n--)
      assert_int_equal (pass (in++), ++highest);
  }
}

/* In order, whatever is dropped and added: what goes out counts by one. */
static void
test_what_goes_out_in_order_has_no_gap (void **state)
{
  FmxRng rng;
  uint16_t next = 65000, in = 65000;

  (void) state;
  fmx_rng_init (&rng, 3);
  fmx_renumber_init (&renumber);
  assert_int_equal (pass (in++), next++);
  for (unsigned i = 0; i < 200000; i++) {
    uint32_t what = fmx_rng_next (&rng) % 10;

    if (what == 0) {
      assert_int_equal (fmx_renumber_insert (&renumber), next++);
    } else if (what <= 3) {
      fmx_renumber_drop (&renumber, in++);
    } else {
      assert_int_equal (pass (in++), next++);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_untouched_numbers_stay),
    cmocka_unit_test (test_drops_leave_no_gap_and_inserts_no_duplicate),
    cmocka_unit_test (test_an_insert_that_is_not_sent_is_a_gap),
    cmocka_unit_test (test_a_new_numbering_goes_on),
    cmocka_unit_test (test_a_stream_that_comes_back_shows_no_loss),
    cmocka_unit_test (test_no_number_is_given_twice_however_often_it_leaves),
    cmocka_unit_test (test_what_goes_out_in_order_has_no_gap),
  };

  return cmocka_run_group_tests_name ("base/renumber", tests, NULL, NULL);
}
