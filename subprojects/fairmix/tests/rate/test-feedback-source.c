/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/rate/fmx-feedback-source.h"

#define S FMX_SECOND
#define PATIENCE (2 * S)

static FmxFeedbackSource source;

static FmxFeedbackVerdict
hear (uint64_t id, FmxTime now)
{
  return fmx_feedback_source_hear (&source, id, PATIENCE, now);
}

static void
test_the_first_one_counts_until_it_is_silent (void **state)
{
  (void) state;
  fmx_feedback_source_init (&source);
  assert_int_equal (hear (7, 0), FMX_FEEDBACK_HEARD);
  for (FmxTime now = 0; now < 60 * (FmxTime) S; now += S / 2) {
    assert_int_equal (hear (8, now), FMX_FEEDBACK_OTHER);
    assert_int_equal (hear (7, now), FMX_FEEDBACK_HEARD);
  }
  assert_int_equal (hear (8, 61 * (FmxTime) S), FMX_FEEDBACK_OTHER);
  assert_int_equal (hear (8, 62 * (FmxTime) S), FMX_FEEDBACK_HEARD);
  assert_int_equal (hear (7, 62 * (FmxTime) S), FMX_FEEDBACK_OTHER);
  assert_true (fmx_feedback_source_is (&source, 8));
}

static void
test_one_claim_is_not_enough_whatever_often_it_is_made (void **state)
{
  (void) state;
  fmx_feedback_source_init (&source);
  (void) hear (7, 0);
  for (unsigned i = 0; i < 5; i++)
    assert_false (fmx_feedback_source_catch (&source, 1000, i * (FmxTime) S));
  assert_true (fmx_feedback_source_catch (&source, 1001, 5 * S));
  assert_int_equal (hear (7, 6 * S), FMX_FEEDBACK_VOID);
  assert_int_equal (hear (8, 6 * S), FMX_FEEDBACK_HEARD);
  assert_int_equal (hear (7, 3600 * (FmxTime) S), FMX_FEEDBACK_VOID);
}

static void
test_claims_of_long_ago_do_not_add_up (void **state)
{
  FmxTime now = 0;

  (void) state;
  fmx_feedback_source_init (&source);
  for (unsigned i = 0; i < 10; i++) {
    (void) hear (7, now);
    assert_false (fmx_feedback_source_catch (&source, i, now));
    now += (FmxTime) FMX_FEEDBACK_SOURCE_MEMORY + 1;
  }
}

static void
test_a_new_source_does_not_pay_for_the_one_before (void **state)
{
  (void) state;
  fmx_feedback_source_init (&source);
  (void) hear (7, 0);
  assert_false (fmx_feedback_source_catch (&source, 1, 0));
  (void) hear (8, 3 * S);
  assert_false (fmx_feedback_source_catch (&source, 2, 3 * S));
  assert_int_equal (hear (8, 4 * S), FMX_FEEDBACK_HEARD);
}

static void
test_thousands_of_liars_take_bounded_memory (void **state)
{
  (void) state;
  fmx_feedback_source_init (&source);
  for (uint64_t id = 1; id < 5000; id++) {
    assert_int_equal (hear (id, 0), FMX_FEEDBACK_HEARD);
    fmx_feedback_source_void (&source);
    assert_int_equal (hear (id, 0), FMX_FEEDBACK_VOID);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_first_one_counts_until_it_is_silent),
    cmocka_unit_test (test_one_claim_is_not_enough_whatever_often_it_is_made),
    cmocka_unit_test (test_claims_of_long_ago_do_not_add_up),
    cmocka_unit_test (test_a_new_source_does_not_pay_for_the_one_before),
    cmocka_unit_test (test_thousands_of_liars_take_bounded_memory),
  };

  return cmocka_run_group_tests_name ("rate/feedback-source", tests, NULL, NULL);
}
