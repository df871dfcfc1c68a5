/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/mix/fmx-handover.h"

#define RAMP 40
#define UNKNOWN FMX_POSITION_UNKNOWN

/* 20 ms packets of a 48 kHz clock on a 48 kHz line; packet k has the timestamp
 * 960 k and is played at 5000 + 960 k. */
#define LENGTH 960
#define OFFSET 5000

static FmxHandoverPoint
point_after (int n_packets, bool playing, int64_t mix_pos)
{
  return (FmxHandoverPoint) {
    .next_ts = (uint64_t) n_packets * LENGTH,
    .next_pos = playing ? OFFSET + (int64_t) n_packets * LENGTH : UNKNOWN,
    .mix_pos = mix_pos,
  };
}

static void
arrive (FmxHandover *handover, int packet)
{
  uint64_t ts = (uint64_t) packet * LENGTH;

  if (fmx_handover_waits_for (handover, ts))
    fmx_handover_place (handover, ts, OFFSET + (int64_t) ts, 48000, 48000);
}

static void
test_a_stream_goes_into_a_mix_at_a_timestamp (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (10, false, 100);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_SEPARATE, 0, 0);
  assert_true (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point,
          7));
  assert_true (handover.since == 7);

  /* one that was late still goes the old way, the next ones do not */
  assert_true (fmx_handover_forwards (&handover, 9 * LENGTH));
  assert_false (fmx_handover_forwards (&handover, 10 * LENGTH));
  assert_false (fmx_handover_waits_for (&handover, 9 * LENGTH));

  /* the mix begins with the boundary, though the packet there was lost */
  arrive (&handover, 11);
  assert_true (handover.from == OFFSET + 10 * LENGTH);
  assert_false (fmx_handover_waits_for (&handover, 12 * LENGTH));
}

static void
test_a_stream_that_is_mixed_for_others_enters_where_it_stands (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (10, true, 100);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_SEPARATE, 0, 0);
  assert_true (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point,
          0));
  assert_true (handover.from == OFFSET + 10 * LENGTH);
}

static void
test_a_stay_that_is_still_played_must_end_before_the_next (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (10, true, 100);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_MIXED, 0, 0);
  arrive (&handover, 3);
  assert_true (fmx_handover_change (&handover, FMX_HANDOVER_SEPARATE, 0,
          &point, 0));
  assert_true (handover.until == OFFSET + 10 * LENGTH);

  point.mix_pos = handover.until - 1;
  assert_false (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point,
          0));
  assert_true (handover.way == FMX_HANDOVER_SEPARATE);
  point.mix_pos = handover.until;
  assert_true (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point,
          0));
}

static void
test_an_entry_that_no_packet_followed_never_was (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (10, false, 100);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_SEPARATE, 0, 0);
  fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point, 0);
  fmx_handover_change (&handover, FMX_HANDOVER_SEPARATE, 0, &point, 0);
  for (uint64_t k = 0; k < 20; k++)
    assert_true (fmx_handover_forwards (&handover, k * LENGTH));
}

static void
test_a_restart_keeps_the_way_and_forgets_the_timestamps (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (10, false, 100);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_MIXED, 0, 0);
  arrive (&handover, 0);
  fmx_handover_change (&handover, FMX_HANDOVER_SEPARATE, 0, &point, 0);
  assert_false (fmx_handover_forwards (&handover, 0));
  fmx_handover_restart (&handover);
  assert_true (fmx_handover_forwards (&handover, 0));
}

static double
gain (const FmxHandover *handover, uint32_t mix, int64_t x)
{
  FmxMixEnvelope envelope = {.ramp = RAMP };
  int32_t total = 0;
  int16_t in = 10000;

  if (!fmx_handover_contributes (handover, mix, x, 1, &envelope))
    return 0.0;
  fmx_mix_add_envelope (&total, &in, 1, &envelope, x);
  return total / 10000.0;
}

static void
test_crossing_from_mix_to_mix_keeps_the_loudness (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (100, true, OFFSET + 2000);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_MIXED, 2, 0);
  arrive (&handover, 0);
  assert_true (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 1, &point,
          0));
  assert_false (fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 0, &point,
          0));
  for (int64_t x = point.mix_pos; x < point.mix_pos + 3 * RAMP; x++) {
    double sum = gain (&handover, 1, x) + gain (&handover, 2, x);

    assert_true (sum > 0.999 && sum < 1.001);
    assert_true (gain (&handover, 0, x) == 0.0);
  }
  assert_true (gain (&handover, 2, point.mix_pos + RAMP) == 0.0);
  assert_true (gain (&handover, 1, point.mix_pos + RAMP) == 1.0);
}

static void
test_steady_is_full_gain_in_the_first_mix_only (void **state)
{
  FmxHandover handover;
  FmxHandoverPoint point = point_after (100, true, OFFSET + 2000);

  (void) state;
  fmx_handover_init (&handover, FMX_HANDOVER_MIXED, 0, 0);
  assert_false (fmx_handover_is_steady (&handover, OFFSET + RAMP, RAMP));
  arrive (&handover, 0);
  assert_false (fmx_handover_is_steady (&handover, OFFSET + RAMP - 1, RAMP));
  assert_true (fmx_handover_is_steady (&handover, OFFSET + RAMP, RAMP));
  fmx_handover_change (&handover, FMX_HANDOVER_MIXED, 1, &point, 0);
  assert_false (fmx_handover_is_steady (&handover, OFFSET + 9000, RAMP));
}

/* For any sequence of changes, each packet's audio is heard once: forwarded, or
 * in a mix, or, where the listener is to have neither, not at all. */
static void
test_every_sample_is_heard_once_whatever_changes (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 11);
  for (int round = 0; round < 500; round++) {
    FmxHandover handover;
    bool mixed = false;

    fmx_handover_init (&handover, FMX_HANDOVER_SEPARATE, 0, 0);
    for (int packet = 0; packet < 200; packet++) {
      uint64_t ts = (uint64_t) packet * LENGTH;
      int64_t pos = OFFSET + (int64_t) ts;
      int64_t mix_pos = (int64_t) ts + 2000;    /* plays 3000 samples behind */
      FmxMixEnvelope envelope = {.ramp = 0 };
      bool heard, forwarded;

      if (fmx_rng_next (&rng) % 4 == 0) {
        FmxHandoverWay way = fmx_rng_next (&rng) % 2 == 0
            ? FMX_HANDOVER_SEPARATE : FMX_HANDOVER_MIXED;
        FmxHandoverPoint point = point_after (packet, mixed, mix_pos);

        fmx_handover_change (&handover, way, 0, &point, 0);
        mixed = handover.way == FMX_HANDOVER_MIXED;
      }
      arrive (&handover, packet);
      forwarded = fmx_handover_forwards (&handover, ts);
      heard = fmx_handover_contributes (&handover, 0, pos, LENGTH, &envelope);
      assert_true (heard != forwarded);
      assert_true (!heard || (envelope.from <= pos
              && envelope.until >= pos + LENGTH));
      assert_true (!forwarded || ts < fmx_handover_settled_ts (&handover));
    }
  }
}

static void
test_positions_do_not_overflow_and_round_to_the_nearest (void **state)
{
  const struct
  {
    uint64_t ts, ref;
    int64_t pos;
    uint32_t clock, rate;
    int64_t expected;
  } table[] = {
    {960, 0, 100, 48000, 48000, 1060},
    {0, 960, 100, 48000, 48000, -860},
    {160, 0, 0, 8000, 48000, 960},
    {441, 0, 0, 44100, 48000, 480},
    {1, 0, 0, 90000, 48000, 1},         /* 0.53 of a sample */
    {1, 0, 0, 192000, 48000, 0},        /* 0.25 */
    {UINT64_C (1) << 50, 0, 0, 8000, 192000, (INT64_C (1) << 50) * 24},
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    assert_true (fmx_media_position (table[i].ts, table[i].ref, table[i].pos,
            table[i].clock, table[i].rate) == table[i].expected);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_stream_goes_into_a_mix_at_a_timestamp),
    cmocka_unit_test
        (test_a_stream_that_is_mixed_for_others_enters_where_it_stands),
    cmocka_unit_test (test_a_stay_that_is_still_played_must_end_before_the_next),
    cmocka_unit_test (test_an_entry_that_no_packet_followed_never_was),
    cmocka_unit_test (test_a_restart_keeps_the_way_and_forgets_the_timestamps),
    cmocka_unit_test (test_crossing_from_mix_to_mix_keeps_the_loudness),
    cmocka_unit_test (test_steady_is_full_gain_in_the_first_mix_only),
    cmocka_unit_test (test_every_sample_is_heard_once_whatever_changes),
    cmocka_unit_test (test_positions_do_not_overflow_and_round_to_the_nearest),
  };

  return cmocka_run_group_tests_name ("mix/handover", tests, NULL, NULL);
}
