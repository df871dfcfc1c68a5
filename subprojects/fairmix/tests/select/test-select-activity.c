/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/select/fmx-select-activity.h"
#include "fairmix/select/fmx-select.h"

#define PACKET (20 * FMX_MSECOND)

static FmxTime
speak (FmxSelectActivity *activity, uint8_t level, FmxDuration duration,
    FmxTime now)
{
  for (FmxDuration t = 0; t < duration; t += PACKET) {
    now += PACKET;
    fmx_select_activity_add (activity, level, now);
  }
  return now;
}

static void
test_nobody_speaks_at_first (void **state)
{
  FmxSelectActivity activity;

  (void) state;
  fmx_select_activity_init (&activity);
  assert_int_equal (fmx_select_activity_level (&activity, 0),
      FMX_LEVEL_SILENCE);
  fmx_select_activity_add (&activity, 0, 5);
  assert_int_equal (fmx_select_activity_level (&activity, 5),
      FMX_LEVEL_SILENCE);
}

static void
test_follows_the_exponentials_it_promises (void **state)
{
  static const struct
  {
    uint8_t from, to;
    double tau_s;
  } rows[] = {
    {127, 30, 0.3},
    {30, 127, 5.0},
    {60, 40, 0.3},
    {40, 60, 5.0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    FmxSelectActivity activity;
    FmxTime now, begun;

    fmx_select_activity_init (&activity);
    begun = speak (&activity, rows[i].from, 100 * FMX_SECOND, 0);
    for (now = begun; now < begun + 2 * FMX_SECOND;) {
      double s = fmx_time_to_s ((FmxDuration) (now - begun));
      double expected = rows[i].to + (rows[i].from - rows[i].to)
          * exp (-s / rows[i].tau_s);

      assert_true (fabs (fmx_select_activity_level (&activity, now)
              - expected) <= 1.0);
      now = speak (&activity, rows[i].to, PACKET, now);
    }
  }
}

/* A second's pause is no reason to lose a place, which 10 dB decide; the
 * room is not silent (-60 dBov). */
static void
test_a_pause_between_sentences_costs_less_than_the_hysteresis (void **state)
{
  FmxSelectActivity activity;
  FmxTime now;

  (void) state;
  fmx_select_activity_init (&activity);
  now = speak (&activity, 26, 10 * FMX_SECOND, 0);
  now = speak (&activity, 60, FMX_SECOND, now);
  assert_in_range (fmx_select_activity_level (&activity, now), 27, 35);
}

/* Of two who are equally loud the one who goes on is 10 dB ahead soon after
 * the other has stopped. */
static void
test_a_new_talker_is_ahead_within_two_seconds (void **state)
{
  FmxSelectActivity stops, begins;
  FmxTime now;

  (void) state;
  fmx_select_activity_init (&stops);
  fmx_select_activity_init (&begins);
  now = speak (&stops, 26, 10 * FMX_SECOND, 0);
  speak (&begins, 60, 10 * FMX_SECOND, 0);
  speak (&stops, 60, 2 * FMX_SECOND, now);
  now = speak (&begins, 26, 2 * FMX_SECOND, now);
  assert_true (fmx_select_activity_level (&stops, now)
      >= fmx_select_activity_level (&begins, now) + 10);
}

static void
test_no_packets_are_silence (void **state)
{
  FmxSelectActivity activity, told;
  FmxTime now;

  (void) state;
  fmx_select_activity_init (&activity);
  now = speak (&activity, 26, 10 * FMX_SECOND, 0);
  told = activity;
  assert_int_equal (fmx_select_activity_level (&activity,
          now + FMX_SELECT_ACTIVITY_GAP), 26);
  for (int s = 1; s <= 60; s++) {
    FmxTime then = now + s * (FmxTime) FMX_SECOND;

    speak (&told, 127, FMX_SECOND, then - FMX_SECOND);
    assert_true (abs (fmx_select_activity_level (&activity, then)
            - fmx_select_activity_level (&told, then)) <= 3);
  }
  assert_int_equal (fmx_select_activity_level (&activity,
          now + 60 * (FmxTime) FMX_SECOND), FMX_LEVEL_SILENCE);
  /* the packet that ends the pause does not undo it */
  fmx_select_activity_add (&activity, 26, now + 60 * (FmxTime) FMX_SECOND);
  assert_in_range (fmx_select_activity_level (&activity,
          now + 60 * (FmxTime) FMX_SECOND), 90, 127);
}

/* Packets in one buffer list, clocks that stand still. */
static void
test_many_levels_at_once_count_as_one (void **state)
{
  FmxSelectActivity once, often;
  FmxTime now;

  (void) state;
  fmx_select_activity_init (&once);
  now = speak (&once, 60, FMX_SECOND, 0);
  often = once;
  fmx_select_activity_add (&once, 0, now + PACKET);
  for (int i = 0; i < 1000; i++)
    fmx_select_activity_add (&often, 0, now + PACKET);
  assert_int_equal (fmx_select_activity_level (&once, now + PACKET),
      fmx_select_activity_level (&often, now + PACKET));
}

/* Phrases of half a second to three, with pauses up to 0.8 s; syllables of
 * 20 ms at -20 to -40 dBov, pauses at -70. */
typedef struct
{
  FmxSelectActivity activity;
  bool in_phrase;
  FmxTime until;
} Talker;

static void
talk (Talker *talker, FmxRng *rng, FmxTime now)
{
  double u = fmx_rng_next_unit (rng);
  uint8_t level = 70;

  if (now >= talker->until) {
    talker->in_phrase = !talker->in_phrase;
    talker->until = now + (FmxTime) fmx_time_from_s (talker->in_phrase
        ? 0.5 + 2.5 * u : 0.1 + 0.7 * u);
  }
  if (talker->in_phrase)
    level = (uint8_t) (20 + fmx_rng_next (rng) % 20);
  fmx_select_activity_add (&talker->activity, level, now);
}

static unsigned
rank_and_count_changes (const Talker *talkers, FmxSelectStream *streams,
    size_t n, FmxTime now)
{
  FmxSelectParams params;
  uint32_t order[8];
  unsigned n_changes = 0;

  fmx_select_params_default (&params);
  for (size_t i = 0; i < n; i++)
    streams[i].level = fmx_select_activity_level (&talkers[i].activity, now);
  fmx_select_rank (&params, streams, order, n, now);
  for (size_t i = 0; i < n; i++) {
    bool separate = i < 3;

    if (streams[order[i]].separate != separate) {
      streams[order[i]].separate = separate;
      streams[order[i]].since = now;
      n_changes += separate;
    }
  }
  return n_changes;
}

/* Eight people talk at once for an hour, room for three, decided ten times a
 * second: fewer than two changes a minute. */
static void
test_a_crowd_of_equals_keeps_its_places (void **state)
{
  Talker talkers[8] = { 0 };
  FmxSelectStream streams[8] = { 0 };
  unsigned n_changes = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (int i = 0; i < 8; i++)
    fmx_select_activity_init (&talkers[i].activity);
  for (FmxTime now = 0; now < 3600 * (FmxTime) FMX_SECOND; now += PACKET) {
    for (int i = 0; i < 8; i++)
      talk (&talkers[i], &rng, now);
    if (now % (100 * FMX_MSECOND) == 0)
      n_changes += rank_and_count_changes (talkers, streams, 8, now);
  }
  assert_in_range (n_changes, 3, 120);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nobody_speaks_at_first),
    cmocka_unit_test (test_follows_the_exponentials_it_promises),
    cmocka_unit_test
        (test_a_pause_between_sentences_costs_less_than_the_hysteresis),
    cmocka_unit_test (test_a_new_talker_is_ahead_within_two_seconds),
    cmocka_unit_test (test_no_packets_are_silence),
    cmocka_unit_test (test_many_levels_at_once_count_as_one),
    cmocka_unit_test (test_a_crowd_of_equals_keeps_its_places),
  };

  return cmocka_run_group_tests_name ("select/activity", tests, NULL, NULL);
}
