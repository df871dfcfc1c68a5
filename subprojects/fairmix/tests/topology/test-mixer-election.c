/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <stdbool.h>

#include "fairmix/topology/fmx-mixer-election.h"

#define N 8u
#define S ((FmxTime) FMX_SECOND)
#define NOBODY FMX_NO_NEIGHBOUR

typedef struct
{
  FmxMixerElection election;
  FmxElectionSeat seats[N];
  uint32_t groups[N];
  FmxTime now;
} World;

/* Neighbours 0 to 3 behind a link of 300 kbit/s, 4 to 7 with room for all; 2 and 3
 * are willing, and 3 is nearer. */
static void
begin (World *w)
{
  FmxElectionParams params;

  fmx_election_params_default (&params);
  fmx_mixer_election_init (&w->election, &params, w->seats, N);
  w->now = 100 * S;
  for (uint32_t i = 0; i < N; i++) {
    FmxElectionNeighbour about = { i == 2 || i == 3,
      i == 3 ? 20 * FMX_MSECOND : 40 * FMX_MSECOND,
      i < 4 ? 75000.0 : 2000000.0, 0.0
    };

    w->groups[i] = i < 4 ? 0 : NOBODY;
    fmx_mixer_election_set (&w->election, i, &about);
  }
}

/* Half a second.  Returns: how many actions; the last one in @action */
static unsigned
step (World *w, FmxElectionAction *action)
{
  unsigned n = 0;

  w->now += S / 2;
  fmx_mixer_election_update (&w->election, w->groups, 8, w->now);
  while (fmx_mixer_election_next_action (&w->election, action, w->now))
    n++;
  return n;
}

/* Returns: after how many seconds there is something to do, at most 120 */
static double
wait_for_action (World *w, FmxElectionAction *action)
{
  FmxTime begin = w->now;

  while (w->now < begin + 120 * S)
    if (step (w, action) > 0)
      break;
  return fmx_time_to_s (fmx_time_diff (w->now, begin));
}

static void
answer (World *w, uint32_t neighbour, bool serves, uint32_t n_below,
    double least_bps)
{
  FmxElectionAnswer said = { serves, n_below, least_bps };

  fmx_mixer_election_answered (&w->election, neighbour, &said, w->now);
}

static FmxElectionPhase
phase (World *w, uint32_t neighbour)
{
  return fmx_mixer_election_phase (&w->election, neighbour);
}

/* Counted one by one. */
/* Nobody who comes and goes can bring more than one share beyond what is sent. */
static void
test_who_comes_brings_a_share (void **state)
{
  (void) state;
  assert_true (fmx_election_share (0.0, 1) == 0.0);
  for (uint32_t n = 1; n < 40; n++) {
    double of_each = 45e3, before = n * of_each;
    double after = fmx_election_share (before, n);

    assert_true (after >= (n + 1) * of_each);
    assert_true (after <= 1.25 * (n + 1) * of_each + 1e-6);
  }
}

static void
test_the_gain_is_that_of_counting_voices (void **state)
{
  FmxElectionParams params;

  (void) state;
  fmx_election_params_default (&params);
  for (uint32_t members = 2; members < 12; members++)
    for (uint32_t voices = 0; voices < 20; voices++)
      for (double bps = 30e3; bps < 1.5e6; bps *= 1.7) {
        uint32_t near = members < voices ? members : voices, before, after;
        uint32_t others = voices > 0 ? voices - 1 : 0, beyond = voices - near;
        FmxElectionGain gain;

        fmx_election_gain (&params, members, bps, voices, &gain);
        for (before = others; before > 0 && before * params.voice_bps
            + (before < others ? params.mix_bps : 0) > bps / members;)
          before--;
        for (after = beyond; after > 0 && after * params.voice_bps
            + (after < beyond ? params.mix_bps : 0) > bps;)
          after--;
        assert_int_equal (gain.voices_before, before);
        assert_int_equal (gain.voices_after, after + (near > 0 ? near - 1 : 0));
        assert_true (gain.before_bps <= bps * (1 + 1e-9));
        assert_true (gain.after_bps <= bps * (1 + 1e-9));
      }
}

static void
test_the_nearest_who_is_willing_is_asked_and_the_others_follow (void **state)
{
  FmxElectionAction action;
  FmxElectionStats stats;
  World w;

  (void) state;
  begin (&w);
  assert_true (wait_for_action (&w, &action) >= 10.0);
  assert_int_equal (action.kind, FMX_ELECTION_ASK);
  assert_int_equal (action.neighbour, 3);
  answer (&w, 3, true, 0, 0.0);
  assert_int_equal (phase (&w, 3), FMX_ELECTION_MIXES);
  assert_int_equal (step (&w, &action), 3);
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal (phase (&w, i), i == 3 ? FMX_ELECTION_MIXES :
        i < 3 ? FMX_ELECTION_TOLD : FMX_ELECTION_FREE);
  assert_int_equal (action.kind, FMX_ELECTION_MOVE);
  assert_int_equal (action.mixer, 3);
  for (uint32_t i = 0; i < 3; i++)
    fmx_mixer_election_remove (&w.election, i, true);
  fmx_mixer_election_get_stats (&w.election, &stats);
  assert_int_equal (stats.n_moved, 3);
  assert_int_equal (stats.n_mixing, 1);
  assert_true (wait_for_action (&w, &action) >= 120.0); /* and so it stays */
}

static void
test_nobody_is_asked_where_it_does_not_pay (void **state)
{
  FmxElectionAction action;
  World w;

  (void) state;
  for (int reason = 0; reason < 4; reason++) {
    begin (&w);
    for (uint32_t i = 0; i < 4; i++) {
      FmxElectionNeighbour about = { i == 3, 40 * FMX_MSECOND, 75000.0, 0.0 };

      if (reason == 0)          /* there is room for all */
        about.target_bps = 2000000.0;
      if (reason == 1)          /* nobody is willing */
        about.may_mix = false;
      if (reason == 2 && i == 3)        /* the only one is far away */
        about.rtt = 200 * FMX_MSECOND;
      if (reason == 3)          /* nobody is together */
        w.groups[i] = NOBODY;
      fmx_mixer_election_set (&w.election, i, &about);
    }
    if (reason == 0)            /* and bytes are no reason here */
      w.election.params.least_saved = 2.0;
    assert_true (wait_for_action (&w, &action) >= 120.0);
  }
}

static void
test_it_must_pay_for_a_while (void **state)
{
  FmxElectionAction action;
  World w;

  (void) state;
  begin (&w);
  for (int i = 0; i < 200; i++) {
    w.groups[0] = w.groups[1] = w.groups[2] = w.groups[3] =
        i % 19 == 18 ? NOBODY : 0;
    assert_int_equal (step (&w, &action), 0);
  }
}

static void
test_who_does_not_answer_is_left_alone_longer_each_time (void **state)
{
  FmxElectionAction action;
  FmxTime asked[4];
  World w;
  unsigned n = 0;

  (void) state;
  begin (&w);
  w.seats[2].about.may_mix = false;
  while (n < 4) {
    bool before = phase (&w, 3) == FMX_ELECTION_ASKED;

    (void) step (&w, &action);
    w.groups[0] = 0;
    if (!before && phase (&w, 3) == FMX_ELECTION_ASKED)
      asked[n++] = w.now;
  }
  assert_true (asked[1] - asked[0] >= 60 * S && asked[1] - asked[0] < 90 * S);
  assert_true (asked[2] - asked[1] >= 120 * S);
  assert_true (asked[3] - asked[2] >= 240 * S);
}

static void
test_who_cannot_reach_the_mixer_stays_where_it_is (void **state)
{
  FmxElectionAction action;
  FmxElectionStats stats;
  World w;

  (void) state;
  begin (&w);
  (void) wait_for_action (&w, &action);
  answer (&w, 3, true, 0, 0.0);
  (void) step (&w, &action);
  fmx_mixer_election_remove (&w.election, 0, true);
  for (int i = 0; i < 13; i++)
    (void) step (&w, &action);
  assert_int_equal (phase (&w, 1), FMX_ELECTION_FREE);
  assert_int_equal (step (&w, &action), 0);
  fmx_mixer_election_get_stats (&w.election, &stats);
  assert_int_equal (stats.n_failed, 2);
}

static void
test_a_mixer_that_is_not_needed_any_more_is_released (void **state)
{
  FmxElectionNeighbour wide = { true, 20 * FMX_MSECOND, 5000000.0, 0.0 };
  FmxElectionAction action;
  FmxElectionStats stats;
  World w;

  (void) state;
  begin (&w);
  (void) wait_for_action (&w, &action);
  answer (&w, 3, true, 0, 0.0);
  (void) step (&w, &action);
  for (uint32_t i = 0; i < 3; i++)
    fmx_mixer_election_remove (&w.election, i, true);
  w.election.params.least_saved = 2.0;
  fmx_mixer_election_set (&w.election, 3, &wide);
  assert_true (wait_for_action (&w, &action) >= 30.0);
  assert_int_equal (action.kind, FMX_ELECTION_RELEASE);
  answer (&w, 3, false, 0, 0.0);
  fmx_mixer_election_get_stats (&w.election, &stats);
  assert_int_equal (stats.n_mixing, 0);
  assert_int_equal (phase (&w, 3), FMX_ELECTION_FREE);
}

static void
test_when_the_mixer_leaves_nobody_is_sent_there_any_more (void **state)
{
  FmxElectionAction action;
  World w;

  (void) state;
  begin (&w);
  (void) wait_for_action (&w, &action);
  answer (&w, 2, true, 0, 0.0); /* not asked */
  assert_int_equal (phase (&w, 2), FMX_ELECTION_FREE);
  answer (&w, 3, true, 0, 0.0);
  (void) step (&w, &action);
  fmx_mixer_election_remove (&w.election, 3, false);
  w.groups[3] = NOBODY;
  assert_int_equal (phase (&w, 0), FMX_ELECTION_FREE);
  assert_int_equal (step (&w, &action), 0);
  (void) wait_for_action (&w, &action);
  assert_int_equal (action.neighbour, 2);
}

/* 3 mixes, and 0 to 2 were told to go there. */
static void
begin_told (World *w)
{
  FmxElectionAction action;

  begin (w);
  (void) wait_for_action (w, &action);
  answer (w, 3, true, 0, 0.0);
  assert_int_equal (step (w, &action), 3);
}

static void
test_nobody_is_sent_to_one_that_mixes_no_more (void **state)
{
  FmxElectionAction action;
  FmxElectionStats stats;
  World w;

  (void) state;
  begin_told (&w);
  answer (&w, 3, false, 0, 0.0);
  assert_int_equal (phase (&w, 0), FMX_ELECTION_FREE);
  for (int i = 0; i < 16; i++)
    assert_int_equal (step (&w, &action), 0);
  fmx_mixer_election_get_stats (&w.election, &stats);
  assert_int_equal (stats.n_failed, 0);
  /* and the next one is asked as soon as it has paid for a while */
  assert_true (wait_for_action (&w, &action) < 10.0);
  assert_int_equal (action.kind, FMX_ELECTION_ASK);
  assert_int_equal (action.neighbour, 2);
}

static void
test_nobody_is_sent_to_one_that_is_released (void **state)
{
  FmxElectionAction action;
  World w;

  (void) state;
  begin_told (&w);
  w.election.params.hold_off = 2 * FMX_SECOND;
  for (int i = 0; i < 6 && phase (&w, 3) == FMX_ELECTION_MIXES; i++)
    (void) step (&w, &action);
  assert_int_equal (phase (&w, 3), FMX_ELECTION_RELEASED);
  for (uint32_t i = 0; i < 3; i++)
    assert_int_equal (phase (&w, i), FMX_ELECTION_FREE);
}

/* Three go to 3; then it gets @bps, and each of them @least_bps from there.  Returns:
 * after how many seconds there is something to do, at most 120 */
static double
move_three (World *w, double bps, double least_bps, FmxElectionAction *action)
{
  FmxElectionNeighbour about = { true, 20 * FMX_MSECOND, bps, 0.0 };

  (void) wait_for_action (w, action);
  answer (w, 3, true, 0, 0.0);
  (void) step (w, action);
  for (uint32_t i = 0; i < 3; i++)
    fmx_mixer_election_remove (&w->election, i, true);
  answer (w, 3, true, 3, least_bps);
  fmx_mixer_election_set (&w->election, 3, &about);
  return wait_for_action (w, action);
}

/* Each heard three apart.  The one who mixes has room for all, but not on the way to
 * those below. */
static void
test_who_makes_it_worse_is_released_and_its_group_left_alone (void **state)
{
  FmxElectionNeighbour about = { false, 40 * FMX_MSECOND, 170000.0, 0.0 };
  FmxElectionAction action;
  FmxElectionStats stats;
  double after_s;
  World w;

  (void) state;
  begin (&w);
  for (uint32_t i = 0; i < 4; i++) {
    about.may_mix = i >= 2;
    about.rtt = i == 3 ? 20 * FMX_MSECOND : 40 * FMX_MSECOND;
    fmx_mixer_election_set (&w.election, i, &about);
  }
  after_s = move_three (&w, 700000.0, 25000.0, &action);
  assert_int_equal (action.kind, FMX_ELECTION_RELEASE);
  assert_true (after_s >= 34.0 && after_s < 37.0);
  answer (&w, 3, false, 0, 0.0);
  for (uint32_t i = 0; i < 4; i++) {
    about.may_mix = i >= 2;
    fmx_mixer_election_set (&w.election, i, &about);
  }
  assert_true (wait_for_action (&w, &action) >= 58.0);
  fmx_mixer_election_get_stats (&w.election, &stats);
  assert_int_equal (stats.n_worse, 1);
}

/* Each heard three apart.  Two went there a minute ago, and hear all; of the third the
 * last report said no good. */
static void
test_each_who_goes_there_gets_time_to_settle (void **state)
{
  FmxElectionNeighbour about = { false, 20 * FMX_MSECOND, 170000.0, 0.0 };
  FmxElectionAction action;
  World w;

  (void) state;
  begin (&w);
  w.groups[2] = NOBODY;
  for (uint32_t i = 0; i < 4; i++) {
    about.may_mix = i == 3;
    fmx_mixer_election_set (&w.election, i, &about);
  }
  (void) wait_for_action (&w, &action);
  answer (&w, 3, true, 0, 0.0);
  (void) step (&w, &action);
  for (uint32_t i = 0; i < 2; i++)
    fmx_mixer_election_remove (&w.election, i, true);
  about.target_bps = 700000.0;
  fmx_mixer_election_set (&w.election, 3, &about);
  answer (&w, 3, true, 2, 400000.0);
  for (int i = 0; i < 120; i++)
    assert_int_equal (step (&w, &action), 0);

  w.groups[2] = 0;
  assert_int_equal (step (&w, &action), 1);
  assert_int_equal (action.kind, FMX_ELECTION_MOVE);
  fmx_mixer_election_remove (&w.election, 2, true);
  answer (&w, 3, true, 3, 25000.0);
  assert_true (wait_for_action (&w, &action) >= 34.0);
  assert_int_equal (action.kind, FMX_ELECTION_RELEASE);
}

static void
test_who_helps_goes_on (void **state)
{
  FmxElectionAction action;
  World w;

  (void) state;
  begin (&w);
  assert_true (move_three (&w, 300000.0, 400000.0, &action) >= 120.0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_who_comes_brings_a_share),
    cmocka_unit_test (test_the_gain_is_that_of_counting_voices),
    cmocka_unit_test
        (test_the_nearest_who_is_willing_is_asked_and_the_others_follow),
    cmocka_unit_test (test_nobody_is_asked_where_it_does_not_pay),
    cmocka_unit_test (test_it_must_pay_for_a_while),
    cmocka_unit_test (test_who_does_not_answer_is_left_alone_longer_each_time),
    cmocka_unit_test (test_who_cannot_reach_the_mixer_stays_where_it_is),
    cmocka_unit_test (test_a_mixer_that_is_not_needed_any_more_is_released),
    cmocka_unit_test
        (test_who_makes_it_worse_is_released_and_its_group_left_alone),
    cmocka_unit_test (test_each_who_goes_there_gets_time_to_settle),
    cmocka_unit_test (test_nobody_is_sent_to_one_that_mixes_no_more),
    cmocka_unit_test (test_nobody_is_sent_to_one_that_is_released),
    cmocka_unit_test (test_who_helps_goes_on),
    cmocka_unit_test (test_when_the_mixer_leaves_nobody_is_sent_there_any_more),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
