/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#include "fairmix/base/fmx-rng.h"

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
test_a_delay_that_was_needed_lately_is_kept_where_that_is_asked (void **state)
{
  FmxPlayoutParams params;
  FmxPlayoutDecision d;
  Fixture f;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  fmx_playout_params_default (&params);
  params.memory = 0;
  params.keeps_needed = true;
  fmx_playout_init (&f.playout, &params);
  arrive (&f, 0, 0);
  arrive (&f, 1, 55 * MS);
  for (n = 3; n < 2000; n++) {
    d = arrive (&f, n, 0);
    if (d.action != FMX_PLAYOUT_PLAY)
      break;
  }
  /* 10 to 20 s */
  assert_in_range (n, 500, 1000);
  assert_int_equal (d.action, FMX_PLAYOUT_DROP_MONITOR);
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

/* Thresholds in packets, on a queue that needs none of them */
static void
test_a_threshold_in_packets_counts_packets (void **state)
{
  FmxPlayoutParams params;
  Fixture f;
  uint64_t n;

  (void) state;
  fixture_init (&f);
  fmx_playout_params_default (&params);
  params.threshold = 30;
  params.threshold_time = 0;
  params.decay = 1.0;
  params.reserve = PACKET;
  params.growth_step = PACKET;
  params.memory = 0;
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
  FmxPlayoutPacket packet = {.duration = PACKET };
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
  assert_int_equal (playout_stats (&f.playout).n_jumps, 1);

  /* a quiet packet goes after a quarter of the time */
  arrive (&f, n++, 55 * MS);
  for (uint64_t i = 0; i < 22; i++)
    assert_int_equal (arrive (&f, 3 + n++, 0).action, FMX_PLAYOUT_PLAY);
  packet.ext_seq = f.seq + 3 + n;
  packet.media = f.media + (3 + n) * PACKET;
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
  assert_int_equal (playout_stats (&f.playout).n_grown, 2);
  assert_int_equal (playout_stats (&f.playout).n_jumps, 0);
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

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_first_packet_is_due_at_once),
    cmocka_unit_test (test_the_first_packet_keeps_the_minimum_delay),
    cmocka_unit_test (test_a_late_packet_makes_the_delay_grow_to_fit_it),
    cmocka_unit_test (test_a_standing_queue_is_shortened_by_one_packet),
    cmocka_unit_test
        (test_a_delay_that_was_needed_lately_is_kept_where_that_is_asked),
    cmocka_unit_test (test_loss_is_not_taken_for_lateness),
    cmocka_unit_test (test_reordered_packets_keep_their_slot),
    cmocka_unit_test (test_a_threshold_in_packets_counts_packets),
    cmocka_unit_test (test_silence_is_where_it_shortens),
    cmocka_unit_test (test_silence_alone_shortens_nothing),
    cmocka_unit_test (test_the_delay_keeps_its_limits),
    cmocka_unit_test (test_a_raised_minimum_is_met_and_a_lowered_one_is_left),
    cmocka_unit_test (test_packets_of_one_frame_share_its_slot),
  };

  return cmocka_run_group_tests_name ("playout/playout", tests, NULL, NULL);
}
