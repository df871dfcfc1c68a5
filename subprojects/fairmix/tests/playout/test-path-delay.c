/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#include "fairmix/playout/fmx-path-delay.h"

static const char one, other;   /* streams */

static void
init (FmxPathDelay *path)
{
  FmxDelayMemoryParams params;

  fmx_delay_memory_params_default (&params);
  fmx_path_delay_init (path, &params);
}

static void
tell (FmxPathDelay *path, const char *stream, FmxDuration delay,
    FmxDuration need, FmxDuration after)
{
  fmx_path_delay_tell (path, stream, delay, need, PACKET,
      START + (FmxTime) after);
}

static void
test_nobody_knows_anything_at_first (void **state)
{
  FmxDuration time;
  FmxPathDelay path;

  (void) state;
  init (&path);
  assert_false (fmx_path_delay_of_others (&path, NULL, &time));
  assert_false (fmx_path_delay_waited (&path, START, &time));
}

static void
test_a_stream_is_told_of_others_only (void **state)
{
  FmxDuration delay;
  FmxPathDelay path;

  (void) state;
  init (&path);
  tell (&path, &one, 50 * MS, 0, 0);
  assert_false (fmx_path_delay_of_others (&path, &one, &delay));
  assert_true (fmx_path_delay_of_others (&path, &other, &delay));
  assert_int_equal (delay, 50 * MS);
}

static void
test_the_one_with_the_least_delay_tells_until_he_is_silent (void **state)
{
  FmxDuration delay;
  FmxPathDelay path;

  (void) state;
  init (&path);
  tell (&path, &one, 50 * MS, 0, 0);
  tell (&path, &other, 80 * MS, 30 * MS, FMX_SECOND);
  assert_true (fmx_path_delay_of_others (&path, NULL, &delay));
  assert_int_equal (delay, 50 * MS);
  tell (&path, &other, 80 * MS, 30 * MS, FMX_SECOND + 1);
  assert_true (fmx_path_delay_of_others (&path, NULL, &delay));
  assert_int_equal (delay, 80 * MS);
  /* his own may grow */
  tell (&path, &other, 90 * MS, 30 * MS, FMX_SECOND + 2);
  assert_true (fmx_path_delay_of_others (&path, NULL, &delay));
  assert_int_equal (delay, 90 * MS);
}

static void
test_what_is_not_told_is_not_remembered (void **state)
{
  FmxPathDelay path;
  double before;

  (void) state;
  init (&path);
  tell (&path, &one, 50 * MS, 0, 0);
  before = fmx_delay_memory_cost (fmx_path_delay_get_memory (&path), 50 * MS);
  for (int i = 0; i < 20; i++)
    tell (&path, &other, 80 * MS, 80 * MS, i * PACKET);
  assert_true (fmx_delay_memory_cost (fmx_path_delay_get_memory (&path),
          50 * MS) <= before);
  for (int i = 0; i < 20; i++)
    tell (&path, &one, 50 * MS, 80 * MS, i * PACKET);
  assert_true (fmx_delay_memory_cost (fmx_path_delay_get_memory (&path),
          50 * MS) > before + 1.0);
}

static void
test_a_queue_is_another_one_after_a_tenth_of_a_second (void **state)
{
  FmxDuration waited;
  FmxPathDelay path;

  (void) state;
  init (&path);
  tell (&path, &one, 50 * MS, 30 * MS, 0);
  assert_true (fmx_path_delay_waited (&path, START + 100 * MS, &waited));
  assert_int_equal (waited, 30 * MS);
  assert_false (fmx_path_delay_waited (&path, START + 101 * MS, &waited));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nobody_knows_anything_at_first),
    cmocka_unit_test (test_a_stream_is_told_of_others_only),
    cmocka_unit_test
        (test_the_one_with_the_least_delay_tells_until_he_is_silent),
    cmocka_unit_test (test_what_is_not_told_is_not_remembered),
    cmocka_unit_test (test_a_queue_is_another_one_after_a_tenth_of_a_second),
  };

  return cmocka_run_group_tests_name ("playout/path-delay", tests, NULL, NULL);
}
