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
  assert_int_equal (n, 3 + 80); /* 1.6 s */
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

/* 200 ppm either way: the delay neither grows nor does the stream starve */
static void
test_a_day_of_clock_skew_is_followed (void **state)
{
  static const double skews[] = { 200e-6, -200e-6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (skews); i++) {
    Fixture f;
    FmxRng rng;
    const uint64_t n_packets = 24 * 3600 * 50;
    const FmxPlayoutStats *stats;
    FmxDuration highest = 0;

    fmx_rng_init (&rng, 3);
    fixture_init (&f);
    for (uint64_t n = 0; n < n_packets; n++) {
      double drift = (double) n * skews[i] * (double) PACKET;
      FmxPlayoutDecision d = arrive (&f, n, (FmxDuration) (drift
              + fmx_rng_next_unit (&rng) * 8.0 * MS));

      assert_true (d.action != FMX_PLAYOUT_DROP_LATE);
      if (fmx_playout_get_delay (&f.playout) > highest)
        highest = fmx_playout_get_delay (&f.playout);
    }
    stats = fmx_playout_get_stats (&f.playout);
    assert_true (highest < 80 * MS);
    assert_int_equal (stats->n_restarts, 0);
    /* 17.28 s of drift, in packets of 20 ms or steps of 10 ms */
    assert_true (stats->n_dropped + stats->n_grown < 2 * 1728);
    assert_true (skews[i] > 0.0 || stats->n_dropped >= 864 - 10);
    assert_true (skews[i] < 0.0 || stats->n_grown >= 864 - 10);
  }
}

/* [nanoManipulator 3.2]: (T, L) on a queue that needs no packet */
static void
test_the_papers_rule_drops_after_its_threshold (void **state)
{
  FmxPlayoutParams params;
  Fixture f;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  fmx_playout_params_paper (&params, 30, 2);
  fmx_playout_init (&f.playout, &params);
  arrive (&f, 0, 0);
  arrive (&f, 1, 2 * PACKET + MS);      /* three packets: two are waiting */
  for (n = 4; n < 1000; n++)
    if (arrive (&f, n, 0).action == FMX_PLAYOUT_DROP_MONITOR)
      break;
  assert_int_equal (n, 4 + 30);
  for (n++; n < 1000; n++)
    assert_int_equal (arrive (&f, n, 0).action, FMX_PLAYOUT_PLAY);
  assert_int_equal (fmx_playout_get_delay (&f.playout), 2 * PACKET);
}

static void
test_silence_is_where_it_shortens (void **state)
{
  Fixture f;
  FmxPlayoutPacket packet;
  FmxPlayoutDecision d;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  for (n = 0; n < 12; n++)
    arrive (&f, n, n == 11 ? 180 * MS : 0);
  /* the first talkspurt needed it, the second one does not */
  f.media += 2 * FMX_SECOND;
  for (; n < 24; n++)
    arrive (&f, n, 0);
  assert_true (fmx_playout_get_delay (&f.playout) >= 80 * MS);
  /* two seconds of silence: no packets, one sequence number */
  f.media += 2 * FMX_SECOND;
  d = arrive (&f, n++, 0);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (d.adjusted <= -60 * MS);
  assert_int_equal (fmx_playout_get_delay (&f.playout), 20 * MS);
  assert_int_equal (fmx_playout_get_stats (&f.playout)->n_jumps, 1);

  /* a quiet packet goes after a quarter of the time */
  arrive (&f, n++, 55 * MS);
  for (uint64_t i = 0; i < 22; i++)
    assert_int_equal (arrive (&f, 3 + n++, 0).action, FMX_PLAYOUT_PLAY);
  packet.ext_seq = f.seq + 3 + n;
  packet.media = f.media + (3 + n) * PACKET;
  packet.duration = PACKET;
  packet.talkspurt = false;
  packet.quiet = true;
  d = fmx_playout_on_packet (&f.playout, &packet, packet.media);
  assert_int_equal (d.action, FMX_PLAYOUT_DROP_MONITOR);
}

static void
test_silence_alone_shortens_nothing (void **state)
{
  Fixture f;
  FmxRng rng;
  FmxDuration delay;

  (void) state;
  fmx_rng_init (&rng, 5);
  fixture_init (&f);
  /* talkspurts of 15 packets that need 60 ms each */
  for (uint64_t n = 0; n < 600; n++) {
    if (n % 15 == 0)
      f.media += FMX_SECOND;
    arrive (&f, n, n % 15 == 7 ? 60 * MS :
        (FmxDuration) (fmx_rng_next_unit (&rng) * 10.0 * MS));
    delay = fmx_playout_get_delay (&f.playout);
    assert_true (n < 7 || delay >= 60 * MS);
  }
  assert_int_equal (fmx_playout_get_stats (&f.playout)->n_grown, 2);
  assert_int_equal (fmx_playout_get_stats (&f.playout)->n_jumps, 0);
}

static void
test_a_stall_of_two_seconds_is_over_when_it_is_over (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  FmxTime back;
  uint64_t n, n_late = 0;

  (void) state;
  fixture_init (&f);
  for (n = 0; n < 500; n++)
    arrive (&f, n, 0);
  back = f.media + n * PACKET + 2 * FMX_SECOND;
  for (; n < 600; n++) {        /* all at once */
    d = arrive (&f, n, fmx_time_diff (back, f.media + n * PACKET));
    n_late += d.action == FMX_PLAYOUT_DROP_LATE;
    assert_true (d.action != FMX_PLAYOUT_PLAY
        || fmx_time_diff (d.playout, back) <= FMX_SECOND);
  }
  assert_true (n_late >= 49 && n_late <= 51);   /* max_delay is 1 s */
  for (; n < 1000; n++)
    d = arrive (&f, n, 0);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (fmx_playout_get_delay (&f.playout) <= 60 * MS);
}

static void
test_a_slower_route_beyond_the_limit_is_accepted_within_a_second (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  uint64_t n, first = 0;

  (void) state;
  fixture_init (&f);
  for (n = 0; n < 500; n++)
    arrive (&f, n, 0);
  for (; n < 700; n++) {
    d = arrive (&f, n, 3 * FMX_SECOND);
    if (d.action == FMX_PLAYOUT_PLAY && first == 0)
      first = n;
  }
  assert_in_range (first, 501, 552);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_true (fmx_playout_get_delay (&f.playout) <= 40 * MS);
}

static void
test_the_delay_keeps_its_limits (void **state)
{
  FmxPlayoutParams params;
  Fixture f;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 9);
  fixture_init (&f);
  fmx_playout_params_default (&params);
  params.min_delay = 50 * MS;
  params.max_delay = 150 * MS;
  fmx_playout_init (&f.playout, &params);
  for (uint64_t n = 0; n < 20000; n++) {
    double u = fmx_rng_next_unit (&rng);

    arrive (&f, n, u < 0.002 ? 400 * MS : u < 0.01 ? 140 * MS : 0);
    assert_true (fmx_playout_get_delay (&f.playout) >= 50 * MS);
    assert_true (fmx_playout_get_delay (&f.playout) <= 150 * MS);
  }
}

static void
test_a_raised_minimum_is_met_and_a_lowered_one_is_left (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  for (n = 0; n < 100; n++)
    arrive (&f, n, (FmxDuration) (n % 3) * 4 * MS);
  assert_true (fmx_playout_get_delay (&f.playout) < 20 * MS);
  assert_int_equal (fmx_playout_get_need (&f.playout), 8 * MS);
  fmx_playout_set_min_delay (&f.playout, 105 * MS);
  d = arrive (&f, n++, 0);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_in_range (fmx_playout_get_delay (&f.playout), 95 * MS, 115 * MS);
  for (; n < 1000; n++)
    assert_int_equal (arrive (&f, n, 0).action, FMX_PLAYOUT_PLAY);
  fmx_playout_set_min_delay (&f.playout, 0);
  for (; n < 2000; n++)
    arrive (&f, n, 0);
  assert_true (fmx_playout_get_delay (&f.playout) <= 40 * MS);
}

/* the same SSRC with numbers that start lower and the old time line */
static void
test_a_sender_that_counts_anew_is_heard_within_a_second (void **state)
{
  Fixture f;
  FmxPlayoutDecision d;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  for (n = 0; n < 500; n++)
    arrive (&f, n, 0);
  f.seq -= 10000;
  for (; n < 555; n++)
    d = arrive (&f, n, 0);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (fmx_playout_get_stats (&f.playout)->n_restarts, 1);
}

static void
test_packets_of_one_frame_share_its_slot (void **state)
{
  Fixture f;
  FmxPlayoutPacket packet = {.duration = PACKET };

  (void) state;
  fixture_init (&f);
  for (uint64_t n = 0; n < 300; n++) {
    FmxPlayoutDecision d;

    packet.ext_seq = f.seq + n;
    packet.media = f.media + n / 3 * PACKET;
    d = fmx_playout_on_packet (&f.playout, &packet, packet.media + n % 3 * MS);
    assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    assert_int_equal (d.adjusted, n == 1 ? 10 * MS : 0);
  }
}

static void
test_half_the_packets_lost_is_not_late (void **state)
{
  Fixture f;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 17);
  fixture_init (&f);
  for (uint64_t n = 0; n < 20000; n++)
    if (fmx_rng_next_unit (&rng) < 0.5)
      assert_int_equal (arrive (&f, n, (FmxDuration) (n % 5) * MS).action,
          FMX_PLAYOUT_PLAY);
  assert_true (fmx_playout_get_stats (&f.playout)->n_grown <= 1);
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
    cmocka_unit_test (test_a_day_of_clock_skew_is_followed),
    cmocka_unit_test (test_the_papers_rule_drops_after_its_threshold),
    cmocka_unit_test (test_silence_is_where_it_shortens),
    cmocka_unit_test (test_silence_alone_shortens_nothing),
    cmocka_unit_test (test_a_stall_of_two_seconds_is_over_when_it_is_over),
    cmocka_unit_test
        (test_a_slower_route_beyond_the_limit_is_accepted_within_a_second),
    cmocka_unit_test (test_the_delay_keeps_its_limits),
    cmocka_unit_test (test_a_raised_minimum_is_met_and_a_lowered_one_is_left),
    cmocka_unit_test (test_a_sender_that_counts_anew_is_heard_within_a_second),
    cmocka_unit_test (test_packets_of_one_frame_share_its_slot),
    cmocka_unit_test (test_half_the_packets_lost_is_not_late),
    cmocka_unit_test (test_slots_never_overlap),
  };

  return cmocka_run_group_tests_name ("playout/playout", tests, NULL, NULL);
}
