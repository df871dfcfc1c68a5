/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmp/fmx-test-asmp-sender.h"

/* [ASMP (1)] */
static void
test_the_least_rate_is_the_senders (void **state)
{
  Rig rig;

  (void) state;
  for (FmxAsmpAlgorithm a = FMX_ASMP_PAPER; a <= FMX_ASMP_FAIR; a++) {
    rig_init (&rig, a, N_MAX);
    assert_true (target (&rig) == 500000.0);    /* nobody has spoken */
    rig_rate (&rig, 1, 400000);
    assert_true (target (&rig) == 400000.0);
    rig_rate (&rig, 2, 900000);
    assert_true (target (&rig) == 400000.0);
    rig_rate (&rig, 3, 300000);
    assert_true (target (&rig) == 300000.0 && limiting (&rig) == 3);
    rig_rate (&rig, 3, 1000000);
    assert_true (target (&rig) == 400000.0 && limiting (&rig) == 1);
    rig_rate (&rig, 1, 200);
    assert_true (target (&rig) == 16000.0);     /* the floor */
    rig_rate (&rig, 1, 2000000);
    rig_rate (&rig, 2, UINT32_MAX);
    rig_rate (&rig, 3, UINT32_MAX);
    rig_rate (&rig, 1, UINT32_MAX);
    assert_true (target (&rig) == 10000000.0);  /* the ceiling */
    rig_clear (&rig);
  }
}

static void
test_who_says_goodbye_limits_nobody (void **state)
{
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 400000);
  rig_rate (&rig, 2, 100000);
  fmx_asmp_sender_on_bye (&rig.sender, 7, rig.now);
  assert_true (target (&rig) == 100000.0);
  fmx_asmp_sender_on_bye (&rig.sender, 2, rig.now);
  assert_true (target (&rig) == 400000.0 && limiting (&rig) == 1);
  fmx_asmp_sender_on_bye (&rig.sender, 1, rig.now);
  assert_true (target (&rig) == 400000.0 && limiting (&rig) == 0);
  assert_true (fmx_asmp_sender_next_timeout (&rig.sender) == FMX_TIME_NONE);
  rig_clear (&rig);
}

static void
test_who_falls_silent_limits_nobody_after_its_lifetime (void **state)
{
  FmxTime silent_since;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_PAPER, N_MAX);
  rig_rate (&rig, 1, 400000);
  rig_rate (&rig, 2, 100000);
  silent_since = rig.now;
  for (unsigned i = 0; i < 5; i++) {
    rig.now += 5 * FMX_SECOND - 1;
    rig_rate (&rig, 1, 400000);
    fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
    assert_true (target (&rig) == 100000.0);
  }
  assert_true (fmx_asmp_sender_next_timeout (&rig.sender)
      == silent_since + 25 * FMX_SECOND);
  rig.now = silent_since + 25 * FMX_SECOND;
  fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
  assert_true (target (&rig) == 400000.0);
  assert_true (fmx_asmp_sender_next_timeout (&rig.sender) > rig.now);
  rig_clear (&rig);
}

static void
test_of_two_that_report_each_second_a_silent_one_limits_for_five (void **state)
{
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 60; i++) {
    rig.now += FMX_SECOND;
    rig_rate (&rig, 1, 400000);
    if (i < 50)
      rig_rate (&rig, 2, 100000);
    fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
    assert_true (target (&rig) == (i < 54 ? 100000.0 : 400000.0));
  }
  /* it is known, and counts again as soon as it is heard */
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_receivers, 2);
  rig_rate (&rig, 2, 100000);
  assert_true (target (&rig) == 100000.0);
  rig_clear (&rig);
}

/* In large sessions reports are minutes apart. */
static void
test_a_lifetime_is_five_of_the_receivers_own_intervals (void **state)
{
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MANY);
  for (unsigned round = 0; round < 3; round++)
    for (uint32_t i = 1; i <= 1000; i++) {
      rig.now += 100 * FMX_MSECOND;     /* each one after 100 s */
      rig_rate (&rig, i, 400000);
      fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
    }
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_receivers, 1000);
  assert_int_equal (stats.n_timed_out, 0);
  rig.now += 390 * FMX_SECOND;
  fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_receivers, 1000);   /* the first, for 490 s */
  rig.now += 120 * FMX_SECOND;
  fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_receivers, 0);
  rig_clear (&rig);
}

/* Under suppression a receiver goes on with plain reports: its last rate must
 * not count for ever. */
static void
test_a_rate_that_others_speak_for_goes_stale (void **state)
{
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 100000);
  for (unsigned i = 0; i < 6; i++) {
    rig.now += 5 * FMX_SECOND;
    rig_rate (&rig, 2, 101000);
    rig_report (&rig, 1, 0);
    assert_true (target (&rig) == (i < 5 ? 100000.0 : 101000.0));
  }
  rig_clear (&rig);
}

/* [ASMP (9)] */
static void
test_round_trips_are_told_once_the_limiting_ones_first (void **state)
{
  FmxAsmpRttHeader header;
  FmxAsmpRtt rtts[8];
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 100000);
  for (uint32_t i = 2; i < 20; i++) {
    rig.now += FMX_MSECOND;
    rig_rate (&rig, i, 400000);
  }
  fmx_asmp_sender_take_rtts (&rig.sender, &header, rtts, 8, rig.now);
  assert_int_equal (header.limiting_ssrc, 1);
  assert_int_equal (header.rate_bps, 100000);
  assert_int_equal (header.n_rtts, 8);
  assert_int_equal (rtts[0].ssrc, 1);
  assert_int_equal (rtts[1].ssrc, 19);
  assert_near ((double) rtts[1].rtt, 0.1 * FMX_SECOND, 1e-3);
  rig.now += FMX_SECOND;
  rig_rate (&rig, 5, 400000);
  fmx_asmp_sender_take_rtts (&rig.sender, &header, rtts, 8, rig.now);
  assert_int_equal (header.n_rtts, 1);
  assert_int_equal (rtts[0].ssrc, 5);
  fmx_asmp_sender_take_rtts (&rig.sender, &header, rtts, 0, rig.now);
  assert_int_equal (header.n_rtts, 0);
  rig_clear (&rig);
}

/* In a large session few tell rates: there is room for them. */
static void
test_round_trips_go_to_those_that_tell_rates_first (void **state)
{
  FmxAsmpRttHeader header;
  FmxAsmpRtt rtts[8];
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 100000);
  rig_rate (&rig, 2, 200000);
  for (uint32_t ssrc = 10; ssrc < 30; ssrc++) {
    rig.now += FMX_MSECOND;
    rig_report (&rig, ssrc, 0);
  }
  fmx_asmp_sender_take_rtts (&rig.sender, &header, rtts, 8, rig.now);
  assert_int_equal (header.n_rtts, 8);
  assert_int_equal (rtts[0].ssrc, 1);
  assert_int_equal (rtts[1].ssrc, 2);
  assert_int_equal (rtts[2].ssrc, 29);
  rig_clear (&rig);
}

static void
test_round_trips_that_cannot_be_are_not_told (void **state)
{
  const struct
  {
    uint32_t lsr, dlsr;
  } rows[] = { {0x10000, 0x20000}, {0x10000, 0x80000000u}, {0x10000, 0x18000},
  {0, 0x27000},                 /* no sender report has come */
  };
  FmxAsmpRttHeader header;
  FmxAsmpRtt rtt;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    FmxReportBlock block = { MEDIA, 0, 0, 1, 0, rows[i].lsr, rows[i].dlsr };

    fmx_asmp_sender_on_report (&rig.sender, 1, &block, 0x28000, rig.now);
    fmx_asmp_sender_take_rtts (&rig.sender, &header, &rtt, 1, rig.now);
    assert_int_equal (header.n_rtts, 0);
  }
  rig_clear (&rig);
}

/* Its rate has risen since: else a large session waits for each that was once the
 * slowest. */
static void
test_who_leaves_its_rate_out_limits_nobody (void **state)
{
  Rig rig;

  (void) state;
  for (FmxAsmpAlgorithm a = FMX_ASMP_PAPER; a <= FMX_ASMP_FAIR; a++) {
    rig_init (&rig, a, N_MAX);
    rig_rate (&rig, 1, 300000);
    rig_rate (&rig, 2, 310000);
    rig_report (&rig, 2, 0);
    fmx_asmp_sender_on_no_rate (&rig.sender, 2);
    rig_report (&rig, 1, 0);
    fmx_asmp_sender_on_no_rate (&rig.sender, 1);
    assert_true (target (&rig) == 300000.0);    /* who limits, still does */
    rig_rate (&rig, 1, 500000);
    assert_true (target (&rig) == (a == FMX_ASMP_FAIR ? 500000.0 : 310000.0));
    fmx_asmp_sender_on_no_rate (&rig.sender, 3);        /* a stranger */
    rig_clear (&rig);
  }
}

/* Any RTP receiver may listen in. */
static void
test_a_plain_receiver_gets_a_rate_from_its_reports (void **state)
{
  double step = fmx_asmp_step_bps (FMX_TCP_SEGMENT_BYTES, FMX_SECOND / 10);
  FmxAsmpSenderStats stats;
  double before;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_report (&rig, 1, 0);
  assert_true (target (&rig) == 500000.0);      /* it may have ASMP */
  rig_report (&rig, 1, 0);
  assert_near (target (&rig), 500000.0 + step / 2.0, 0.01);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_plain, 1);
  assert_int_equal (stats.n_receivers, 1);
  /* 12.5 % lost */
  for (unsigned i = 0; i < 30; i++)
    rig_report (&rig, 1, 32);
  assert_near (target (&rig), fmx_asmp_equation_bps (FMX_TCP_SEGMENT_BYTES,
          FMX_SECOND / 10, 0.125), 0.02);
  before = target (&rig);
  for (unsigned i = 0; i < 5; i++)
    rig_report (&rig, 1, 0);
  assert_true (target (&rig) > before);
  rig_clear (&rig);
}

/* Losses in one report of four: the more often a receiver reports, the more of its
 * reports have none. */
static void
test_a_plain_report_without_loss_is_held_against_those_before (void **state)
{
  double fair = fmx_asmp_equation_bps (FMX_TCP_SEGMENT_BYTES, FMX_SECOND / 10,
      0.125);
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 80; i++) {
    rig_report (&rig, 1, i % 4 == 0 ? 128 : 0);
    assert_true (i < 16 || target (&rig) >= 0.8 * fair);
    assert_true (i < 16 || target (&rig) <= 1.5 * fair);
  }
  rig_clear (&rig);
}

static void
test_after_a_loss_a_plain_receivers_rate_grows_by_a_quarter (void **state)
{
  double before;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 30; i++)
    rig_report (&rig, 1, 128);
  rig_report (&rig, 1, 1);
  for (unsigned i = 0; i < 7; i++) {
    before = target (&rig);
    rig_report (&rig, 1, 0);
    assert_true (target (&rig) <= 1.2501 * before);
  }
  assert_true (target (&rig) > before);
  rig_clear (&rig);
}

/* In a millisecond's round trip (13) has no end. */
static void
test_without_loss_a_plain_receivers_rate_doubles_at_most (void **state)
{
  FmxReportBlock block = { MEDIA, 0, 0, 1, 0, 0x10000, 0x8000 };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 3; i++)
    fmx_asmp_sender_on_report (&rig.sender, 1, &block, 0x18000 + 66, rig.now);
  assert_true (target (&rig) == 2000000.0);
  rig_clear (&rig);
}

static void
send_packets (Rig * rig, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    rig->now += 20 * FMX_MSECOND;
    fmx_asmp_sender_on_sent (&rig->sender, 250, rig->now);
  }
}

/* Who gets nothing misses nothing, as its reports have it. */
static void
test_a_plain_receiver_that_nothing_reaches_lowers_the_rate (void **state)
{
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 12; i++) {
    send_packets (&rig, 250);
    rig_report (&rig, 1, 0);    /* the highest number stays what it was */
  }
  assert_true (target (&rig) <= 20000.0);
  rig_clear (&rig);
}

static void
test_so_does_one_with_asmp (void **state)
{
  FmxAsmpRate rate = { MEDIA, 500000, FMX_SECOND / 10, 0.0, 0, true, false,
    true
  };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_report (&rig, 1, 0);
  fmx_asmp_sender_on_rate (&rig.sender, 1, &rate, rig.now);
  assert_true (target (&rig) == 500000.0);      /* nothing was sent */
  send_packets (&rig, 250);
  fmx_asmp_sender_on_rate (&rig.sender, 1, &rate, rig.now);
  assert_true (target (&rig) == 500000.0);      /* its report does not say so */
  rig_report (&rig, 1, 0);
  fmx_asmp_sender_on_rate (&rig.sender, 1, &rate, rig.now);
  assert_true (target (&rig) == 16000.0);
  rig_clear (&rig);
}

/* A fifth of what is sent is not next to nothing. */
static void
test_who_gets_a_little_is_believed_as_it_says (void **state)
{
  FmxAsmpRate rate = { MEDIA, 90000, FMX_SECOND / 10, 0.1, 20000, true, false,
    true
  };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  send_packets (&rig, 250);
  rig_report (&rig, 1, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 1, &rate, rig.now);
  assert_true (target (&rig) == 90000.0);
  rate.received_bps = 2000;     /* but twice of that may be sent, to find out */
  rig_report (&rig, 1, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 1, &rate, rig.now);
  assert_true (target (&rig) == 16000.0);
  rig_clear (&rig);
}

static void
test_a_joiner_that_has_not_measured_has_no_say (void **state)
{
  FmxAsmpRate rate = { MEDIA, 20000, 0, 0.0, 20000, false, false, true };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 400000);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  rate.measured = true;
  rate.loss = 0.3;
  rig_report (&rig, 2, 76);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 20000.0);
  rig_clear (&rig);
}

/* against a search through all */
static void
test_ten_thousand_receivers_come_speak_and_go (void **state)
{
  static uint32_t rates[N_MANY];
  FmxRng rng;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_PAPER, N_MANY);
  fmx_rng_init (&rng, 1);
  for (unsigned step = 0; step < 20 * N_MANY; step++) {
    uint32_t i = fmx_rng_next (&rng) % N_MANY;

    if (rates[i] != 0 && fmx_rng_next (&rng) % 4 == 0) {
      fmx_asmp_sender_on_bye (&rig.sender, i + 1, rig.now);
      rates[i] = 0;
    } else {
      rates[i] = 100000 + fmx_rng_next (&rng) % 1000000;
      rig_rate (&rig, i + 1, rates[i]);
    }
    if (step % 1000 == 999) {
      uint32_t least = UINT32_MAX;

      for (unsigned k = 0; k < N_MANY; k++)
        least = rates[k] != 0 && rates[k] < least ? rates[k] : least;
      assert_true (target (&rig) == least);
    }
  }
  rig_clear (&rig);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_least_rate_is_the_senders),
    cmocka_unit_test (test_who_says_goodbye_limits_nobody),
    cmocka_unit_test (test_who_falls_silent_limits_nobody_after_its_lifetime),
    cmocka_unit_test
        (test_of_two_that_report_each_second_a_silent_one_limits_for_five),
    cmocka_unit_test (test_a_lifetime_is_five_of_the_receivers_own_intervals),
    cmocka_unit_test (test_a_rate_that_others_speak_for_goes_stale),
    cmocka_unit_test (test_round_trips_are_told_once_the_limiting_ones_first),
    cmocka_unit_test (test_round_trips_go_to_those_that_tell_rates_first),
    cmocka_unit_test (test_round_trips_that_cannot_be_are_not_told),
    cmocka_unit_test (test_who_leaves_its_rate_out_limits_nobody),
    cmocka_unit_test (test_a_plain_receiver_gets_a_rate_from_its_reports),
    cmocka_unit_test
        (test_a_plain_report_without_loss_is_held_against_those_before),
    cmocka_unit_test
        (test_after_a_loss_a_plain_receivers_rate_grows_by_a_quarter),
    cmocka_unit_test
        (test_a_plain_receiver_that_nothing_reaches_lowers_the_rate),
    cmocka_unit_test (test_without_loss_a_plain_receivers_rate_doubles_at_most),
    cmocka_unit_test (test_so_does_one_with_asmp),
    cmocka_unit_test (test_who_gets_a_little_is_believed_as_it_says),
    cmocka_unit_test (test_a_joiner_that_has_not_measured_has_no_say),
    cmocka_unit_test (test_ten_thousand_receivers_come_speak_and_go),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
