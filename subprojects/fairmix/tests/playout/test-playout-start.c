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

/* Who captures for 20 ms before he sends, and has a minimum of 20 ms: all are in time */
static uint64_t
speak_for_25_s (Fixture *f)
{
  FmxPlayoutParams params;
  uint64_t n;

  init (f);
  fmx_playout_params_default (&params);
  params.keeps_needed = true;
  params.min_delay = 20 * MS;
  fmx_playout_init (&f->playout, &params);
  for (n = 0; n < 25 * FMX_SECOND / PACKET; n++) {
    FmxPlayoutDecision d = arrive (f, n, PACKET);

    assert_int_equal (d.adjusted, 0);
    assert_int_equal (d.delay, PACKET);
  }
  return n;
}

static void
test_what_the_start_did_not_know_delays_nobody_who_speaks (void **state)
{
  FmxPlayoutDecision d;
  Fixture f;
  uint64_t n;

  (void) state;
  n = speak_for_25_s (&f);
  pause (&f);
  d = arrive (&f, n, PACKET);
  assert_int_equal (d.delay, 2 * PACKET);
}

static void
test_where_it_is_quiet_the_minimum_is_met (void **state)
{
  FmxPlayoutPacket packet = {.duration = PACKET };
  Fixture f;

  (void) state;
  for (int quiet = 0; quiet <= 1; quiet++) {
    packet.ext_seq = speak_for_25_s (&f);
    packet.media = f.media + packet.ext_seq * (FmxTime) PACKET;
    packet.ext_seq += f.seq;
    packet.quiet = quiet;
    packet.pause = !quiet;
    assert_int_equal (fmx_playout_on_packet (&f.playout, &packet,
            packet.media + PACKET).delay, 2 * PACKET);
  }
}

/* As one who is to be played with others */
static void
test_a_minimum_that_is_raised_is_met_as_a_whole (void **state)
{
  Fixture f;
  uint64_t n;

  (void) state;
  n = speak_for_25_s (&f);
  fmx_playout_set_min_delay (&f.playout, 100 * MS);
  assert_int_equal (arrive (&f, n, PACKET).delay, 120 * MS);
}

/* Of clocks that drift apart, or another route */
static void
test_a_path_that_becomes_slower_is_followed_all_the_same (void **state)
{
  Fixture f;
  uint64_t n;

  (void) state;
  n = speak_for_25_s (&f);
  fmx_playout_set_min_delay (&f.playout, 60 * MS);
  for (uint64_t end = n + 21 * FMX_SECOND / PACKET; n < end; n++)
    arrive (&f, n, PACKET + 10 * MS);
  assert_in_range (fmx_playout_get_delay (&f.playout), 59 * MS, 60 * MS);
}

/* The last packet before the pause comes late beyond all measure, or one that is long past
 * comes once more: no new route, but one packet */
static void
test_one_late_packet_before_a_pause_is_no_new_path (void **state)
{
  (void) state;
  for (int old = 0; old <= 1; old++) {
    Fixture f;
    uint64_t n;

    init (&f);
    for (n = 0; n < 100; n++)
      arrive (&f, n, n % 2 * 60 * MS);
    if (old)
      assert_int_equal (arrive (&f, 10, 90 * PACKET).action,
          FMX_PLAYOUT_DROP_LATE);
    else
      assert_int_equal (arrive (&f, n++, 1400 * MS).action,
          FMX_PLAYOUT_DROP_LATE);
    f.media += 4 * PAUSE * (FmxTime) PACKET;
    assert_int_equal (arrive (&f, n, 0).action, FMX_PLAYOUT_PLAY);
    assert_int_equal (playout_stats (&f.playout).n_restarts, 0);
    assert_in_range (fmx_playout_get_need (&f.playout), 60 * MS, 1400 * MS);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_what_the_first_packet_waited_for_delays_none_after_a_pause),
    cmocka_unit_test (test_what_is_known_outlasts_a_pause),
    cmocka_unit_test (test_what_the_start_did_not_know_delays_nobody_who_speaks),
    cmocka_unit_test (test_where_it_is_quiet_the_minimum_is_met),
    cmocka_unit_test (test_a_minimum_that_is_raised_is_met_as_a_whole),
    cmocka_unit_test (test_a_path_that_becomes_slower_is_followed_all_the_same),
    cmocka_unit_test (test_one_late_packet_before_a_pause_is_no_new_path),
  };

  return cmocka_run_group_tests_name ("playout/playout-start", tests, NULL,
      NULL);
}
