/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmp/fmx-test-asmp-sender.h"

/* --- receivers that lie --- */

static void
test_a_low_rate_without_a_reason_is_not_believed (void **state)
{
  FmxAsmpRate rate = { MEDIA, 1000, FMX_SECOND / 10, 0.0, 400000, true, false,
    true
  };
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 400000);
  rig_report (&rig, 2, 0);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  rate.loss = 0.001;            /* that would be 4.4 Mbit/s */
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  /* a round trip of its own invention does not help: ours counts */
  rate.rtt = 30 * FMX_SECOND;
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_implausible, 3);
  rig_clear (&rig);
}

/* Behind a link of a quarter of what is sent, before its loss events tell. */
static void
test_a_low_rate_is_believed_where_reports_tell_of_losses (void **state)
{
  FmxAsmpRate rate = { MEDIA, 300000, FMX_SECOND / 10, 0.001, 270000, true,
    false, true
  };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 1200000);
  rig_report (&rig, 2, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 300000.0);
  rig_clear (&rig);
}

/* A second ago less was sent, and most of its report is about that. */
static void
test_a_joiner_is_believed_while_the_rate_rises (void **state)
{
  FmxAsmpRate rate = { MEDIA, 180000, 0, 0.05, 260000, true, false, true };
  FmxReportBlock block = { MEDIA, 180, 0, 0, 0, 0, 0 };
  Rig rig;

  (void) state;
  for (unsigned late = 0; late < 2; late++) {
    rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
    rig_rate (&rig, 1, 760000);
    rig_rate (&rig, 1, 1000000);
    rig_rate (&rig, 1, 1230000);
    rig.now += (late ? 5 : 2) * FMX_SECOND;
    fmx_asmp_sender_on_report (&rig.sender, 2, &block, 0, rig.now);
    fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
    assert_true (target (&rig) == (late ? 1230000.0 : 180000.0));
    rig_clear (&rig);
  }
}

static void
test_who_wants_next_to_nothing_for_two_minutes_is_not_waited_for (void **state)
{
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 25; i++) {
    rig_rate (&rig, 1, 400000);
    rig_rate (&rig, 2, 200);
    assert_true (target (&rig) == (i < 24 ? 16000.0 : 400000.0));
    rig.now += 5 * FMX_SECOND;
  }
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_ignored, 1);
  /* until it can be served */
  rig_rate (&rig, 2, 50000);
  assert_true (target (&rig) == 50000.0);
  rig_clear (&rig);
}

static void
test_a_flood_of_strangers_costs_no_memory_and_hides_nobody (void **state)
{
  FmxAsmpSenderStats stats;
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_rate (&rig, 1, 100000);
  for (uint32_t i = 0; i < 100000; i++)
    rig_rate (&rig, 1000 + i, 200000 + i);
  assert_true (target (&rig) == 100000.0 && limiting (&rig) == 1);
  fmx_asmp_sender_get_stats (&rig.sender, &stats);
  assert_int_equal (stats.n_receivers, N_MAX);
  assert_true (stats.n_refused > 90000);
  /* and who needs less still finds a place */
  rig_rate (&rig, 2, 90000);
  assert_true (target (&rig) == 90000.0 && limiting (&rig) == 2);
  rig_clear (&rig);
}

/* What does not count takes nobody's place: else the next least would be the least. */
static void
test_a_flood_of_lies_hides_nobody (void **state)
{
  FmxAsmpRate lie = { MEDIA, 1, 0, 0.0, 100000, true, false, true };
  Rig rig;

  (void) state;
  for (unsigned measured = 0; measured < 2; measured++) {
    lie.measured = measured != 0;
    rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
    rig_rate (&rig, 1, 100000);
    for (uint32_t i = 0; i < 1000; i++)
      fmx_asmp_sender_on_rate (&rig.sender, 1000 + i, &lie, rig.now);
    rig_rate (&rig, 2, 400000);
    assert_true (target (&rig) == 100000.0 && limiting (&rig) == 1);
    rig_clear (&rig);
  }
}

/* Nor that of a plain receiver, who has no rate before its second report. */
static void
test_a_lie_takes_no_plain_receivers_place (void **state)
{
  FmxAsmpRate lie = { MEDIA, 1, 0, 0.0, 100000, true, false, true };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  rig_report (&rig, 2, 0);
  for (uint32_t i = 1; i < N_MAX; i++)
    rig_rate (&rig, 1000 + i, 400000);
  fmx_asmp_sender_on_rate (&rig.sender, 3, &lie, rig.now);
  rig_report (&rig, 2, 250);
  assert_true (target (&rig) < 400000.0 && limiting (&rig) == 2);
  rig_clear (&rig);
}

/* Where all places are taken its report must not be lost on the way to its rate. */
static void
test_among_too_many_who_loses_packets_is_believed_at_once (void **state)
{
  FmxAsmpRate rate = { MEDIA, 60000, FMX_SECOND / 10, 0.001, 60000, true,
    false, true
  };
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (uint32_t i = 0; i < N_MAX; i++)
    rig_rate (&rig, 1000 + i, 400000 + i);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  rig_report (&rig, 3, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 400000.0);
  rig_report (&rig, 2, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now + FMX_SECOND);
  assert_true (target (&rig) == 400000.0);      /* that one came alone */
  rig_report (&rig, 2, 200);
  fmx_asmp_sender_on_rate (&rig.sender, 2, &rate, rig.now);
  assert_true (target (&rig) == 60000.0 && limiting (&rig) == 2);
  rig_clear (&rig);
}

/* Else a rate would be stale before its receiver may speak again. */
static void
test_who_reports_all_the_time_makes_no_rate_stale_sooner (void **state)
{
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 6000; i++) {
    rig.now += 10 * FMX_MSECOND;
    if (i % 600 == 0)
      rig_rate (&rig, 1, 100000);
    rig_rate (&rig, 2, 400000);
    fmx_asmp_sender_on_timeout (&rig.sender, rig.now);
    assert_true (target (&rig) == 100000.0);
  }
  rig_clear (&rig);
}

/* Nothing tells the sender that it was another one, until that speaks again. */
static void
test_what_is_said_in_anothers_name_lasts_until_that_one_speaks (void **state)
{
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (unsigned i = 0; i < 10; i++) {
    rig_rate (&rig, 1, 100000);
    rig_rate (&rig, 2, 400000);
    assert_true (target (&rig) == 100000.0);
    rig.now += FMX_SECOND;
    if (i % 2 == 0)
      fmx_asmp_sender_on_bye (&rig.sender, 1, rig.now);
    else
      rig_rate (&rig, 1, 10000000);
    assert_true (target (&rig) == 400000.0);
    rig.now += FMX_SECOND;
  }
  rig_clear (&rig);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_low_rate_without_a_reason_is_not_believed),
    cmocka_unit_test (test_a_low_rate_is_believed_where_reports_tell_of_losses),
    cmocka_unit_test (test_a_joiner_is_believed_while_the_rate_rises),
    cmocka_unit_test
        (test_who_wants_next_to_nothing_for_two_minutes_is_not_waited_for),
    cmocka_unit_test
        (test_a_flood_of_strangers_costs_no_memory_and_hides_nobody),
    cmocka_unit_test (test_a_lie_takes_no_plain_receivers_place),
    cmocka_unit_test (test_a_flood_of_lies_hides_nobody),
    cmocka_unit_test
        (test_among_too_many_who_loses_packets_is_believed_at_once),
    cmocka_unit_test (test_who_reports_all_the_time_makes_no_rate_stale_sooner),
    cmocka_unit_test
        (test_what_is_said_in_anothers_name_lasts_until_that_one_speaks),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
