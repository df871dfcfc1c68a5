/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-playout.h"

#define MS FMX_MSECOND
#define PACKET (20 * MS)
#define START (1000 * FMX_SECOND)

typedef struct
{
  FmxPlayout playout;
  uint64_t seq;
  FmxTime media;
} Fixture;

static void
fixture_init (Fixture *f)
{
  FmxPlayoutParams params;

  fmx_playout_params_default (&params);
  fmx_playout_init (&f->playout, &params);
  f->seq = 65536;
  f->media = START;
}

/* The packet @n of the stream arrives @transit after it was sent */
static FmxPlayoutDecision
arrive (Fixture *f, uint64_t n, FmxDuration transit)
{
  FmxPlayoutPacket packet = {
    .ext_seq = f->seq + n,
    .media = f->media + n * (uint64_t) PACKET,
    .duration = PACKET,
  };

  return fmx_playout_on_packet (&f->playout, &packet,
      packet.media + (uint64_t) transit);
}

static void
test_the_first_packet_is_due_at_once (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  d = arrive (&f, 0, 7 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (d.playout, START + 7 * MS);
  assert_int_equal (d.delay, 7 * MS);
}

static void
test_the_first_packet_keeps_the_minimum_delay (void **state)
{
  FmxPlayoutParams params;
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  fmx_playout_params_default (&params);
  params.min_delay = 40 * MS;
  fmx_playout_init (&f.playout, &params);
  d = arrive (&f, 0, 7 * MS);
  assert_int_equal (d.playout, START + 40 * MS);
}

static void
test_a_late_packet_makes_the_delay_grow_to_fit_it (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  arrive (&f, 0, 0);
  d = arrive (&f, 1, 15 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (d.adjusted, PACKET);
  assert_true (d.playout >= START + PACKET + 15 * MS);
  d = arrive (&f, 2, 0);
  assert_int_equal (d.adjusted, 0);
}

static void
test_a_standing_queue_is_shortened_by_one_packet (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  uint64_t n;
  FmxTime end;

  (void) state;
  fixture_init (&f);
  arrive (&f, 0, 0);
  d = arrive (&f, 1, 55 * MS);
  for (n = 3; n < 200; n++) {
    end = d.playout + PACKET;
    d = arrive (&f, n, 0);
    if (d.action != FMX_PLAYOUT_PLAY)
      break;
  }
  assert_int_equal (n, 3 + 120);
  assert_int_equal (d.action, FMX_PLAYOUT_DROP_MONITOR);
  assert_int_equal (d.adjusted, -PACKET);
  /* the next one takes its slot */
  d = arrive (&f, n + 1, 0);
  assert_int_equal (d.playout, end);
}

static void
test_loss_is_not_taken_for_lateness (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  for (uint64_t n = 0; n < 1000; n++) {
    if (n % 10 < 7) {
      d = arrive (&f, n, 0);
      assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
      assert_int_equal (d.adjusted, 0);
    }
  }
}

static void
test_reordered_packets_keep_their_slot (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;

  (void) state;
  fixture_init (&f);
  arrive (&f, 0, 0);
  arrive (&f, 1, 55 * MS);      /* the delay is 60 ms now */
  arrive (&f, 4, 0);
  d = arrive (&f, 3, 30 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (d.playout, START + 3 * PACKET + 60 * MS);
  assert_int_equal (d.adjusted, 0);
  d = arrive (&f, 3, 31 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_DROP_DUPLICATE);
  d = arrive (&f, 2, 90 * MS);
  assert_int_equal (d.action, FMX_PLAYOUT_DROP_LATE);
  assert_int_equal (d.adjusted, 0);
  d = arrive (&f, 5, 0);
  assert_int_equal (d.playout, START + 5 * PACKET + 60 * MS);
}

static void
test_absurd_time_stamps_start_again_and_never_stall (void **state)
{
  static const int64_t steps_s[] = { 3600, -3600, 6, -6, 100000000 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (steps_s); i++) {
    Fixture f;
    FmxPlayoutDecision d;
    FmxTime now, end;

    fixture_init (&f);
    f.media += UINT64_C (1) << 60;
    for (uint64_t n = 0; n < 100; n++)
      d = arrive (&f, n, 0);
    end = d.playout + PACKET;
    now = f.media + 100 * PACKET;
    f.media += (uint64_t) (steps_s[i] * FMX_SECOND);
    d = arrive (&f, 100, fmx_time_diff (now, f.media + 100 * PACKET));
    assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    assert_true (d.playout >= end && d.playout >= now);
    assert_true (d.playout <= now + FMX_SECOND);
    assert_int_equal (fmx_playout_get_stats (&f.playout)->n_restarts, 1);
  }
}

/* Whatever arrives: slots in order never overlap, nothing is due before it is
 * there, and the delay stays within its limits. */
static void
test_slots_never_overlap (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    FmxRng rng;
    Fixture f;
    FmxTime end = 0, last = 0;
    FmxDuration transit = 0;

    fmx_rng_init (&rng, seed);
    fixture_init (&f);
    for (uint64_t n = 0; n < 5000; n++) {
      FmxPlayoutDecision d;
      FmxTime arrival;

      if (fmx_rng_next_unit (&rng) < 0.01)
        transit = (FmxDuration) (fmx_rng_next_unit (&rng) * 2000 * MS);
      else if (transit > 0)
        transit -= (FmxDuration) (fmx_rng_next_unit (&rng) * 40 * MS);
      if (transit < 0)
        transit = 0;
      if (fmx_rng_next_unit (&rng) < 0.05)
        continue;
      arrival = f.media + n * PACKET + (uint64_t) transit;
      if (arrival < last)
        transit += fmx_time_diff (last, arrival);
      d = arrive (&f, n, transit);
      last = f.media + n * PACKET + (uint64_t) transit;
      if (d.action != FMX_PLAYOUT_PLAY)
        continue;
      assert_true (d.playout >= last);
      assert_true (d.playout >= end);
      assert_true (fmx_playout_get_delay (&f.playout) >= 0);
      assert_true (d.playout <= last + 3 * FMX_SECOND);
      end = d.playout + PACKET;
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_first_packet_is_due_at_once),
    cmocka_unit_test (test_the_first_packet_keeps_the_minimum_delay),
    cmocka_unit_test (test_a_late_packet_makes_the_delay_grow_to_fit_it),
    cmocka_unit_test (test_a_standing_queue_is_shortened_by_one_packet),
    cmocka_unit_test (test_loss_is_not_taken_for_lateness),
    cmocka_unit_test (test_reordered_packets_keep_their_slot),
    cmocka_unit_test (test_absurd_time_stamps_start_again_and_never_stall),
    cmocka_unit_test (test_slots_never_overlap),
  };

  return cmocka_run_group_tests_name ("playout/playout", tests, NULL, NULL);
}
