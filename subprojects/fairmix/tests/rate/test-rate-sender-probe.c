/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a sender that has next to nothing to send learns of its path */
#include "fmx-test-rate.h"

#include "sim/fmx-sim-bundle.h"

#define WANTED_BPS 400e3

static FmxSimWorld world;
static FmxSimBundle bundle;

/* A mix of people who are nearly silent: 52 bytes now and then, where there is room for
 * @rate_bps, with a queue of 300 ms, and so much is lost all the same. */
static void
begin_lossy (const FmxRateClass *klass, double rate_bps, double loss)
{
  FmxSimLinkParams link = { rate_bps, (uint32_t) (0.3 * rate_bps / 8.0), 0,
    20 * MS, loss
  };
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = klass;
  params.n_streams = 1;
  params.wire_bytes = 52;
  params.packet_interval = 100 * MS;
  params.back.delay = 20 * MS;
  fmx_sim_world_init (&world, &link, &bundle, 1, 1);
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, 1);
}

static void
begin (const FmxRateClass *klass, double rate_bps)
{
  begin_lossy (klass, rate_bps, 0.0);
}

static uint64_t
target_after (unsigned s)
{
  fmx_sim_world_run (&world, world.now + s * (FmxTime) S);
  return fmx_rate_sender_target_bps (&bundle.sender);
}

static void
want (double bps)
{
  fmx_rate_sender_set_wanted (&bundle.sender, bps, world.now);
}

/* Seconds with padding, of the next @s */
static unsigned
seconds_filled (unsigned s)
{
  unsigned n = 0;

  for (unsigned i = 0; i < s; i++) {
    uint64_t before = bundle.sender.stats.n_padding;

    (void) target_after (1);
    n += bundle.sender.stats.n_padding > before;
  }
  return n;
}

static void
test_room_is_found_although_next_to_nothing_is_sent (void **state)
{
  static const FmxRateClass *const classes[] = { &fmx_rate_shortq,
    &fmx_rate_dpm, &fmx_rate_gaimd
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (classes); i++) {
    begin (classes[i], 1e6);
    assert_true (target_after (30) < 200000);
    assert_int_equal (bundle.sender.stats.n_padding, 0);
    want (WANTED_BPS);
    assert_true (target_after (15) >= (uint64_t) WANTED_BPS);
  }
}

static void
test_nothing_is_filled_up_once_there_is_room_enough (void **state)
{
  (void) state;
  begin (&fmx_rate_shortq, 1e6);
  want (WANTED_BPS);
  (void) target_after (15);
  assert_int_equal (seconds_filled (60), 0);
  want (1.5 * (double) fmx_rate_sender_target_bps (&bundle.sender));
  assert_true (seconds_filled (2) > 0);
  want (0.0);
  assert_int_equal (seconds_filled (60), 0);
}

/* Rounds of a few seconds, and pauses of 10, 20, 40, 40 ... s */
static void
test_where_there_is_no_room_it_is_looked_for_now_and_then (void **state)
{
  unsigned n;

  (void) state;
  begin (&fmx_rate_shortq, 120e3);
  want (WANTED_BPS);
  (void) target_after (60);
  fmx_sim_bundle_restart_counters (&bundle, world.now);
  n = seconds_filled (240);
  assert_in_range (n, 10, 60);
  assert_true (fmx_sim_bundle_loss (&bundle) < 0.001);
  assert_true (8.0 * (double) bundle.sent_bytes / 240.0 < 0.2 * 120e3);
}

/* Of 20 Mbit/s a TCP has 1.9 where 1 % is lost: it is looked for without a pause. */
static void
test_where_packets_are_lost_room_is_looked_for_all_the_time (void **state)
{
  (void) state;
  begin_lossy (&fmx_rate_shortq, 20e6, 0.01);
  want (20e6);
  assert_true (target_after (15) > 1000000);
  assert_int_equal (seconds_filled (30), 30);
}

static void
test_who_sends_all_that_is_allowed_needs_no_padding (void **state)
{
  (void) state;
  begin (&fmx_rate_shortq, 1e6);
  bundle.params.packet_interval = 5 * MS;       /* 83 kbit/s */
  bundle.params.sender.max_bps = 80000;
  fmx_rate_sender_set_params (&bundle.sender, &bundle.params.sender, 0);
  want (WANTED_BPS);
  (void) target_after (20);
  assert_int_equal (bundle.sender.stats.n_padding, 0);
}

/* They say nothing of the size of media's packets, which the equation needs. */
static void
test_padding_is_no_media (void **state)
{
  double bytes;

  (void) state;
  begin (&fmx_rate_shortq, 1e6);
  (void) target_after (5);
  bytes = bundle.sender.packet_bytes;
  want (WANTED_BPS);
  (void) target_after (10);
  assert_true (bundle.sender.stats.n_padding > 100);
  assert_float_equal (bundle.sender.packet_bytes, bytes, 0.01);
}

/* A rate that swings below @bps and above, and a pacing buffer, so that the media have
 * that much at all times */
static void
test_what_a_policy_keeps_up_lasts (void **state)
{
  uint64_t least = UINT64_MAX, most = 0;

  (void) state;
  begin (&fmx_rate_gaimd, 300e3);
  bundle.params.behaviour = FMX_SIM_PACED;
  bundle.params.packet_interval = MS / 10;
  (void) target_after (20);
  for (unsigned i = 0; i < 300; i++) {
    uint64_t target = fmx_rate_sender_target_bps (&bundle.sender);

    least = target < least ? target : least;
    most = target > most ? target : most;
    fmx_rate_sender_set_media_bps (&bundle.sender, 250000);
    fmx_sim_world_run (&world, world.now + 100 * MS);
  }
  assert_true (least < 220000 && most > 280000);
  assert_int_equal (fmx_rate_sender_lasting_bps (&bundle.sender), 250000);
}

/* A policy goes up and down below a rate that has room: streams wait at the lower one. */
static void
test_padding_makes_up_no_more_than_a_policy_has_for_the_media (void **state)
{
  double bps;

  (void) state;
  begin (&fmx_rate_gaimd, 1e6);
  bundle.params.packet_interval = 6 * MS;       /* 69 kbit/s */
  want (WANTED_BPS);
  (void) target_after (20);
  want (80e3);                  /* only what lasts is less than there is */
  for (unsigned i = 0; i < 60; i++) {
    if (i == 10)
      fmx_sim_bundle_restart_counters (&bundle, world.now);
    assert_true (target_after (1) > 300000);
    fmx_rate_sender_set_media_bps (&bundle.sender, i % 2 ? 200000 : 100000);
  }
  bps = 8.0 * (double) bundle.sent_bytes / 50.0;
  assert_in_range ((uint64_t) bps, 110000, 135000);     /* of 69000 */
}

/* 416 kbit/s, and then 42: for a second the mean of what was sent says more than came. */
static void
test_what_comes_is_known_by_what_left_with_it (void **state)
{
  double most = 0.0;

  (void) state;
  begin (&fmx_rate_shortq, 1e6);
  bundle.params.behaviour = FMX_SIM_DEAF;
  bundle.params.packet_interval = MS;
  (void) target_after (20);
  assert_float_equal (bundle.sender.receive.bps, 416e3, 10e3);
  bundle.params.packet_interval = 10 * MS;
  for (unsigned i = 0; i < 200; i++) {
    const FmxReceiveRound *round = &bundle.sender.receive;

    fmx_sim_world_run (&world, world.now + 10 * MS);
    assert_float_equal (round->left_bps, round->bps, 0.25 * round->bps);
    most = fmax (most, fmx_rate_meter_bps (&bundle.sender.sent_meter,
            world.now) / round->bps);
  }
  assert_true (most > 1.25);    /* less than 0.8 of that comes, it seems */
}

typedef struct
{
  double wide_bps, narrow_bps;
  unsigned n_voices;
} Widening;

/* Voices of 48 kbit/s, which all go on the wide link of @w */
static void
begin_wide (const Widening *w, uint64_t seed)
{
  FmxSimLinkParams link = { w->wide_bps, (uint32_t) (0.3 * w->wide_bps / 8.0), 0,
    5 * MS, 0.0
  };
  FmxSimBundleParams params;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.behaviour = FMX_SIM_SELECTED;
  params.n_streams = w->n_voices;
  params.wire_bytes = 120;
  params.jitter = 2 * MS;
  params.back.delay = 5 * MS;
  params.sender.klass = &fmx_rate_shortq;
  fmx_sim_world_init (&world, &link, &bundle, 1, seed);
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, seed);
}

/* Now and then the link is narrow for some seconds: examples/web.sh --demo.  Beyond the old
 * ceiling no train tells of the new one, and where nobody fills a wide link no queue
 * does, either; nor is it filled with padding to see one. */
static void
test_voices_are_apart_soon_each_time_a_link_widens (void **state)
{
  static const Widening cases[] = { {900e3, 160e3, 8}, {4000e3, 60e3, 3} };

  (void) state;
  for (unsigned i = 0; i < 8 * 4; i++) {
    const Widening *w = &cases[i / 16];

    if (i % 4 == 0) {
      begin_wide (w, 1 + i / 4);
      (void) target_after (18);
    }
    fmx_sim_link_set_rate (&world.forward, w->narrow_bps);
    (void) target_after (15);
    assert_true ((double) fmx_rate_sender_lasting_bps (&bundle.sender)
        < w->narrow_bps);
    fmx_sim_link_set_rate (&world.forward, w->wide_bps);
    fmx_sim_bundle_restart_counters (&bundle, world.now);
    (void) target_after (20);
    assert_true (fmx_rate_sender_lasting_bps (&bundle.sender)
        > w->n_voices * 48000);
    assert_true (8.0 * (double) bundle.padding_bytes / 20.0 < 400e3);
    (void) target_after (45);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_room_is_found_although_next_to_nothing_is_sent),
    cmocka_unit_test (test_nothing_is_filled_up_once_there_is_room_enough),
    cmocka_unit_test (test_where_there_is_no_room_it_is_looked_for_now_and_then),
    cmocka_unit_test
        (test_where_packets_are_lost_room_is_looked_for_all_the_time),
    cmocka_unit_test (test_who_sends_all_that_is_allowed_needs_no_padding),
    cmocka_unit_test (test_padding_is_no_media),
    cmocka_unit_test (test_what_a_policy_keeps_up_lasts),
    cmocka_unit_test (test_what_comes_is_known_by_what_left_with_it),
    cmocka_unit_test
        (test_padding_makes_up_no_more_than_a_policy_has_for_the_media),
    cmocka_unit_test (test_voices_are_apart_soon_each_time_a_link_widens),
  };

  return cmocka_run_group_tests_name ("rate/rate-sender-probe", tests, NULL,
      NULL);
}
