/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#define PAUSE 80                /* packets that were not sent, and have no numbers */

static void
init (Fixture *f)
{
  FmxPlayoutParams params;

  fixture_init (f);
  fmx_playout_params_default (&params);
  params.keeps_needed = true;
  fmx_playout_init (&f->playout, &params);
}

static void
pause (Fixture *f)
{
  f->media += PAUSE * (FmxTime) PACKET;
}

/* The first packet comes @held late, with the second one, which was sent after a
 * pause; the others come as they should. */
static void
play_after_one_that_waited (FmxDuration held)
{
  Fixture f;

  init (&f);
  assert_int_equal (arrive (&f, 0, held).action, FMX_PLAYOUT_PLAY);
  pause (&f);
  for (uint64_t n = 1; n < 60; n++) {
    assert_int_equal (arrive (&f, n, n % 2 * 4 * MS).action, FMX_PLAYOUT_PLAY);
    assert_in_range (fmx_playout_get_delay (&f.playout), 0, 40 * MS);
  }
}

static void
test_what_the_first_packet_waited_for_delays_none_after_a_pause (void **state)
{
  (void) state;
  for (FmxDuration held = 0; held <= (PAUSE + 1) * PACKET; held += 60 * MS)
    play_after_one_that_waited (held);
}

/* Before the pause as many packets as say something of the path */
static void
test_what_is_known_outlasts_a_pause (void **state)
{
  Fixture f;
  uint64_t n;

  (void) state;
  init (&f);
  for (n = 0; n < 20; n++)
    arrive (&f, n, n % 2 * 60 * MS);
  assert_in_range (fmx_playout_get_need (&f.playout), 60 * MS, 60 * MS);
  pause (&f);
  arrive (&f, n, 0);
  assert_in_range (fmx_playout_get_need (&f.playout), 60 * MS, 60 * MS);
  assert_int_equal (playout_stats (&f.playout).n_restarts, 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_what_the_first_packet_waited_for_delays_none_after_a_pause),
    cmocka_unit_test (test_what_is_known_outlasts_a_pause),
  };

  return cmocka_run_group_tests_name ("playout/playout-start", tests, NULL,
      NULL);
}
