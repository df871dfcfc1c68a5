/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Large sessions in which each receiver has a turn in each round */
#include "fmx-test-asmp-path.h"
#include "fmx-test-asmp-sender.h"

#define LARGE 1000u
#define ROUND (5 * FMX_SECOND)

static void
tell_large (Path *path, uint32_t sender_bps, uint32_t limiting)
{
  path_tell (path, 0, sender_bps, limiting);
  fmx_asmp_receiver_schedule (&path->receiver, 60 * FMX_SECOND, LARGE, 0.5,
      path->now);
}

/* One of twenty packets is lost. */
static void
run_lossy (Path *path, double seconds)
{
  for (unsigned i = 0; i < seconds / 0.4; i++) {
    path_run (path, 0.38);
    path->now += FRAME;
    path->seq++;
    path->ts += 160;
  }
}

/* 95 of 100 kbit/s come: with the growth after a loss it wants about 120 kbit/s,
 * and says so with its first report. */
static double
member_init (Path *path, bool has_rtt)
{
  FmxAsmpRate rate;

  path_init (path, FMX_ASMP_FAIR);
  path->receiver.params.rounds = true;
  path_tell (path, has_rtt ? 100 * FMX_MSECOND : 0, 1000000, 1);
  run_lossy (path, 10.0);
  tell_large (path, 1000000, 1);
  assert_true (fmx_asmp_receiver_report (&path->receiver, &rate, path->now));
  assert_true (rate.measured == has_rtt);
  return rate.rate_bps;
}

static void
hear (Path *path, double bps, bool measured)
{
  FmxAsmpRate rate = { 0 };

  rate.media_ssrc = MEDIA;
  rate.rate_bps = (uint32_t) bps;
  rate.measured = measured;
  fmx_asmp_receiver_on_peer (&path->receiver, &rate, path->now);
}

static bool
tells (Path *path)
{
  run_lossy (path, 5.2);
  return fmx_asmp_receiver_on_timeout (&path->receiver, path->now);
}

static void
test_who_wants_no_less_than_is_sent_is_silent (void **state)
{
  const struct
  {
    double sender;              /* of its own rate */
    uint32_t limiting;
    bool tells;
  } cases[] = {
    {0.8, 1, false}, {1.0, 1, false}, {1.04, 1, false}, {1.07, 1, true},
    {3.0, 1, true},
    {0.8, OWN, true},           /* the limiting one has its turn, too */
    {0.8, 0, true},             /* nobody limits */
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Path path;
    double own = member_init (&path, true);

    tell_large (&path, (uint32_t) (cases[i].sender * own), cases[i].limiting);
    assert_int_equal (tells (&path), cases[i].tells);
  }
}

/* A liar silences nobody but whom it could be like. */
static void
test_a_rate_below_half_speaks_for_others_below_half (void **state)
{
  const struct
  {
    double sender, peer;        /* of its own rate */
    bool tells;
  } cases[] = {
    {1.5, 0.7, true}, {1.5, 0.8, false}, {4.0, 0.5, false}, {4.0, 1.04, false},
    {4.0, 1.07, true},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Path path;
    double own = member_init (&path, true);

    tell_large (&path, (uint32_t) (cases[i].sender * own), 1);
    hear (&path, cases[i].peer * own, true);
    assert_int_equal (tells (&path), cases[i].tells);
  }
}

/* It may be a lie, or got lost on its way to the sender alone. */
static void
test_a_low_rate_that_is_not_followed_does_not_silence_for_ever (void **state)
{
  const struct
  {
    uint32_t n;
    double u;
    unsigned rounds;            /* 20 of n speak up after 2, then 40 ... */
  } cases[] = {
    {30, 0.5, 2}, {1000, 0.5, 7}, {1000, 0.01, 2}, {10000, 0.999, 11},
    {0, 0.5, 7},                /* nobody knows how many */
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Path path;
    double own = member_init (&path, true);

    for (unsigned round = 0; round < 5; round++) {      /* nobody is low but it */
      tell_large (&path, (uint32_t) (4.0 * own), 1);
      hear (&path, (round % 2 ? 1.2 : 3.0) * own, true);
      assert_true (tells (&path));
    }
    for (unsigned round = 0; round <= cases[i].rounds; round++) {
      path_tell (&path, 0, (uint32_t) (4.0 * own), 1);
      fmx_asmp_receiver_schedule (&path.receiver, 60 * FMX_SECOND, cases[i].n,
          cases[i].u, path.now);
      hear (&path, 0.0, true);
      assert_int_equal (tells (&path), round == cases[i].rounds);
    }
    /* as soon as it is, others speak as before */
    path_tell (&path, 0, (uint32_t) (1.5 * own), 1);
    fmx_asmp_receiver_schedule (&path.receiver, 60 * FMX_SECOND, cases[i].n,
        cases[i].u, path.now);
    hear (&path, 0.8 * own, true);
    assert_false (tells (&path));
  }
}

/* The sender counts no rate without a round trip, so it speaks for no other that
 * counts. */
static void
test_joiners_speak_for_joiners_only (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 4; i++) {
    bool measured = i & 1, lower = i & 2;
    Path path;
    double own = member_init (&path, measured);

    tell_large (&path, (uint32_t) (1.5 * own), 1);
    hear (&path, own * (lower ? 0.9 : 1.2), false);
    assert_int_equal (tells (&path), measured || !lower);
  }
}

/* FMX_ASMP_APP_HERE says that there will be rates. */
static void
test_before_it_has_measured_only_a_low_rate_is_told (void **state)
{
  const struct
  {
    uint32_t n, sender_bps;
    bool tells;
  } cases[] = {
    {20, 100000, false}, {20, 400000, false}, {LARGE, 100000, false},
    {LARGE, 400000, true},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    FmxAsmpRate rate;
    Path path;

    path_init (&path, FMX_ASMP_FAIR);
    path.receiver.params.rounds = true;
    path_tell (&path, 0, cases[i].sender_bps, 1);
    path_run (&path, 5.0);
    fmx_asmp_receiver_schedule (&path.receiver, 0, cases[i].n, 0.5, path.now);
    assert_int_equal (fmx_asmp_receiver_report (&path.receiver, &rate,
            path.now), cases[i].tells);
    assert_false (cases[i].tells && rate.measured);
  }
}

static void
test_a_turn_in_silence_ends_the_interval (void **state)
{
  Path path;
  double own = member_init (&path, true);

  (void) state;
  tell_large (&path, (uint32_t) own, 1);
  path.wire_bytes = 25;
  path_run (&path, 5.0);
  tell_large (&path, 10000, OWN);
  path.wire_bytes = 250;
  path_run (&path, 5.0);
  /* what came in this round, not the mean of both */
  assert_in_range (path_report (&path).rate_bps, 1.2 * 100000, 1.3 * 100000);
}

static void
rate_of (Rig * rig, uint32_t ssrc, uint32_t bps, bool rounds)
{
  FmxTcpPath path = fmx_tcp_path (FMX_TCP_SEGMENT_BYTES, FMX_SECOND / 10);
  FmxAsmpRate rate = { MEDIA, bps, FMX_SECOND / 10, 0.0, bps, true, false,
    true
  };

  rate.loss = fmx_tcp_equation_inverse (&path, bps);
  rig_report (rig, ssrc, 0);
  if (rounds)
    fmx_asmp_sender_on_here (&rig->sender, ssrc, rig->now);
  fmx_asmp_sender_on_rate (&rig->sender, ssrc, &rate, rig->now);
}

/* Rates of two rounds ago count no more; but who limits, and who has no rounds,
 * is believed for longer. */
static void
test_a_rate_of_two_rounds_ago_is_out_of_date (void **state)
{
  const struct
  {
    uint32_t n;
    bool rounds;
    FmxDuration age;
    bool counts;
  } cases[] = {
    {21, true, 11 * FMX_SECOND, true}, {21, true, 13 * FMX_SECOND, false},
    {20, true, 13 * FMX_SECOND, true}, {21, false, 13 * FMX_SECOND, true},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Rig rig;

    rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
    for (uint32_t ssrc = 3; ssrc <= cases[i].n; ssrc++)
      rate_of (&rig, ssrc, 400000, cases[i].rounds);
    rate_of (&rig, 1, 100000, cases[i].rounds);
    rate_of (&rig, 2, 200000, cases[i].rounds);
    rig.now += (FmxTime) cases[i].age;
    rate_of (&rig, 1, 110000, cases[i].rounds);
    assert_int_equal (limiting (&rig), 1);      /* though 2 was no lower */
    rate_of (&rig, 1, 300000, cases[i].rounds);
    assert_int_equal (limiting (&rig), cases[i].counts ? 2 : 1);
    rig_clear (&rig);
  }
}

/* Four rounds, and not four of the intervals in which thousands report */
static void
test_who_limits_and_falls_silent_is_missed_after_four_rounds (void **state)
{
  (void) state;
  for (unsigned rounds = 0; rounds < 2; rounds++) {
    FmxTime start;
    Rig rig;

    rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
    rate_of (&rig, 1, 100000, rounds);
    start = rig.now;
    for (uint32_t i = 0; i < 39; i++) {
      rig.now += FMX_SECOND / 2;
      fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
      rate_of (&rig, 100 + i, 300000, rounds);
    }
    assert_int_equal (limiting (&rig), 1);
    rig.now += FMX_SECOND / 2;
    assert_true (rig.now - start == 4 * ROUND);
    fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
    assert_int_equal (limiting (&rig) == 1, !rounds);
    rig_clear (&rig);
  }
}

static void
test_who_is_there_without_a_rate_is_no_plain_receiver (void **state)
{
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned here = 0; here < 2; here++) {
    for (unsigned i = 0; i < 4; i++) {
      rig.now += ROUND;
      rig_report (&rig, 10 + here, 20);
      fmx_asmp_sender_get_stats (&rig.sender, &stats);
      assert_true (stats.n_plain <= 1);
      if (here)
        fmx_asmp_sender_on_here (&rig.sender, 10 + here, rig.now);
    }
    fmx_asmp_sender_get_stats (&rig.sender, &stats);
    assert_int_equal (stats.n_plain, 1);
    assert_int_equal (limiting (&rig), 10);
  }
  /* a report of the session's, and a rate before it */
  fmx_asmp_sender_on_here (&rig.sender, 10, rig.now);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_plain, 0);
  assert_int_equal (limiting (&rig), 0);
  rate_of (&rig, 10, 200000, true);
  rate_of (&rig, 11, 100000, true);
  fmx_asmp_sender_on_here (&rig.sender, 10, rig.now);
  fmx_asmp_sender_on_bye (&rig.sender, 11, rig.now);
  assert_int_equal (limiting (&rig), 0);
  rig_clear (&rig);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_who_wants_no_less_than_is_sent_is_silent),
    cmocka_unit_test (test_a_rate_below_half_speaks_for_others_below_half),
    cmocka_unit_test
        (test_a_low_rate_that_is_not_followed_does_not_silence_for_ever),
    cmocka_unit_test (test_joiners_speak_for_joiners_only),
    cmocka_unit_test (test_before_it_has_measured_only_a_low_rate_is_told),
    cmocka_unit_test (test_a_turn_in_silence_ends_the_interval),
    cmocka_unit_test (test_a_rate_of_two_rounds_ago_is_out_of_date),
    cmocka_unit_test
        (test_who_limits_and_falls_silent_is_missed_after_four_rounds),
    cmocka_unit_test (test_who_is_there_without_a_rate_is_no_plain_receiver),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
