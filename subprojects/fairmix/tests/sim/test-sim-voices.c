/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "sim/fmx-sim-draw.h"
#include "sim/fmx-sim-voices.h"

#define S FMX_SECOND
#define WIRE_BYTES (FMX_SIM_VOICES_BPS / 50 / 8)

static FmxSimVoices voices;

/* In bits/s: what leaves, of voices and of the mix. */
static double
sent_bps (void)
{
  return voices.plan.n_separate * (double) FMX_SIM_VOICES_BPS
      + voices.mix_wire_bytes * 8.0 * 50.0;
}

static void
test_what_leaves_is_no_more_than_the_target_and_not_much_less (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 20, WIRE_BYTES, 0);
  for (uint64_t bps = 30000; bps < 1200000; bps += 7000) {
    fmx_sim_voices_follow (&voices, bps, bps, (FmxTime) bps);
    assert_true (sent_bps () <= (double) bps);
    /* the headroom, and what a mix cannot use: a ladder, few names of few */
    assert_true (sent_bps () >= 0.95 * (double) bps - 40e3
        || voices.plan.n_separate == 20);
  }
  assert_int_equal (voices.plan.n_separate, 20);
  assert_int_equal (voices.mix_wire_bytes, 0);
}

static void
test_changes_are_plans_that_send_somebody_another_way (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 8, WIRE_BYTES, 0);
  fmx_sim_voices_follow (&voices, 200000, 200000, 0);
  assert_int_equal (voices.plan.n_separate, 3);
  assert_int_equal (voices.n_changes, 1);
  for (unsigned i = 1; i < 10; i++)
    fmx_sim_voices_follow (&voices, 200000 + i % 2 * 4000, 204000,
        i * (FmxTime) S);
  assert_int_equal (voices.n_changes, 1);
  fmx_sim_voices_follow (&voices, 100000, 100000, 10 * (FmxTime) S);
  assert_int_equal (voices.plan.n_separate, 1);
  assert_int_equal (voices.n_changes, 2);
  assert_int_equal (voices.n_turns, 0);
}

static void
test_more_is_separate_when_the_rate_has_lasted (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 8, WIRE_BYTES, 0);
  fmx_sim_voices_follow (&voices, 100000, 100000, 0);
  fmx_sim_voices_follow (&voices, 200000, 100000, S);
  assert_int_equal (voices.plan.n_separate, 1);
  fmx_sim_voices_follow (&voices, 200000, 200000, 2 * (FmxTime) S);
  assert_int_equal (voices.plan.n_separate, 3);
}

/* At the same rate a change can only be of who talks. */
static void
test_changes_for_who_talks_are_counted_apart (void **state)
{
  (void) state;
  fmx_sim_voices_init (&voices, 20, WIRE_BYTES, 0);
  fmx_sim_voices_pause (&voices, 1, 0);
  for (FmxTime now = 0; now < 60 * (FmxTime) S; now += (FmxTime) (100 * FMX_MSECOND)) {
    for (unsigned i = 0; i < 20; i++)
      (void) fmx_sim_voices_talks (&voices, i, now);
    fmx_sim_voices_follow (&voices, 300000, 300000, now);
  }
  assert_int_equal (voices.n_changes, 1);
  assert_true (voices.n_turns > 10);
}

/* Who sends what the selection makes of the target has what a stream of packets at
 * that rate has, within what whole voices leave. */
static void
test_voices_use_a_link_as_paced_packets_do (void **state)
{
  FmxSimDraw draw = fmx_sim_draw (FMX_SIM_ALONE, 24);
  FmxSimSubject subject = { &fmx_rate_shortq, true, 0, 0 };
  double paced = fmx_sim_draw_run (&draw, &subject).used, used;

  (void) state;
  subject.paced = false;
  used = fmx_sim_draw_run (&draw, &subject).used;
  assert_true (used > 0.9 && paced > 0.9);
}

/* Nobody before he has come, everybody 0.43 of the time then. */
static void
test_who_comes_late_talks_and_pauses (void **state)
{
  unsigned n_talks = 0, n = 0;

  (void) state;
  fmx_sim_voices_init (&voices, 20, WIRE_BYTES, 0);
  fmx_sim_voices_pause (&voices, 1, S);
  for (unsigned i = 0; i < 20; i++)
    assert_false (fmx_sim_voices_talks (&voices, i, S));
  for (FmxTime now = 61 * (FmxTime) S; now < 161 * (FmxTime) S; now += S / 10)
    for (unsigned i = 0; i < 20; i++, n++)
      n_talks += fmx_sim_voices_talks (&voices, i, now);
  assert_true (n_talks > 0.4 * n && n_talks < 0.46 * n);
  fmx_sim_voices_follow (&voices, 300000, 300000, 161 * (FmxTime) S);
  for (unsigned i = 0; i < 20; i++)
    if (voices.streams[i].separate)
      assert_true (fmx_sim_voices_talks (&voices, i, 161 * (FmxTime) S));
}

/* The computer of a bundle stands still for 300 ms each two seconds or so: nothing of
 * it leaves meanwhile, and then all. */
static void
test_a_computer_that_stands_still_sends_nothing (void **state)
{
  static FmxSimBundle bundle;
  static FmxSimLink link;
  FmxSimBundleParams params = { .behaviour = FMX_SIM_DEAF, .n_streams = 1,
    .wire_bytes = 200, .packet_interval = 20 * FMX_MSECOND,
    .stall = 400 * FMX_MSECOND, .stall_interval = 2 * S
  };
  FmxSimLinkParams path = { .rate_bps = 1e6 };
  FmxDuration longest = 0;
  FmxTime last = 0, now = 0;

  (void) state;
  fmx_rate_sender_params_default (&params.sender);
  fmx_sim_link_init (&link, &path, 1);
  fmx_sim_bundle_init (&bundle, &params, &link, 1, 1);
  for (; now < 60 * (FmxTime) S; now += FMX_MSECOND) {
    FmxSimPacket packet;

    if (fmx_sim_bundle_next (&bundle) <= now)
      fmx_sim_bundle_run (&bundle, now);
    for (; fmx_sim_link_receive (&link, &packet, now); last = now)
      if (fmx_time_diff (now, last) > longest)
        longest = fmx_time_diff (now, last);
  }
  assert_true (longest > 250 * FMX_MSECOND && longest < 450 * FMX_MSECOND);
  assert_true (bundle.n_sent > 2950);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_what_leaves_is_no_more_than_the_target_and_not_much_less),
    cmocka_unit_test (test_changes_are_plans_that_send_somebody_another_way),
    cmocka_unit_test (test_more_is_separate_when_the_rate_has_lasted),
    cmocka_unit_test (test_changes_for_who_talks_are_counted_apart),
    cmocka_unit_test (test_voices_use_a_link_as_paced_packets_do),
    cmocka_unit_test (test_who_comes_late_talks_and_pauses),
    cmocka_unit_test (test_a_computer_that_stands_still_sends_nothing),
  };

  return cmocka_run_group_tests_name ("sim/sim-voices", tests, NULL, NULL);
}
