/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-adapt.h"

static void
assert_assignment (const Scene *scene, const int32_t *expected)
{
  for (size_t i = 0; i < scene->n; i++)
    if (scene->assignment[i] != expected[i])
      fail_msg ("stream %zu: %d, not %d", i, scene->assignment[i], expected[i]);
}

static void
test_eight_streams_of_the_paper_at_every_target (void **state)
{
  static const struct
  {
    uint64_t target_bps;
    uint32_t n_separate, n_mixes, mix_bps;
    const char *why;
  } rows[] = {
    {FMX_TARGET_UNLIMITED, 8, 0, 0, "no limit"},
    {8 * STREAM_BPS, 8, 0, 0, "all eight fit exactly"},
    {8 * STREAM_BPS - 1, 7, 1, 78399, "a bit less: the eighth is recoded"},
    {7 * STREAM_BPS + MIX_BPS, 7, 1, MIX_BPS, "seven and the least mix"},
    {7 * STREAM_BPS + MIX_BPS - 1, 6, 1, 118399, "six; the mix has the rest"},
    {2 * STREAM_BPS, 1, 1, STREAM_BPS, "one, and a mix of seven"},
    {STREAM_BPS + MIX_BPS, 1, 1, MIX_BPS, "one still fits"},
    {STREAM_BPS + MIX_BPS - 1, 0, 1, 118399, "full mixing"},
    {MIX_BPS, 0, 1, MIX_BPS, "the least mix and nothing else"},
    {MIX_BPS - 1, 0, 0, 0, "not even a mix: held"},
    {1, 0, 0, 0, "next to nothing"},
    {0, 0, 0, 0, "nothing"},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    Scene scene;

    scene_init (&scene, 8);
    scene_plan (&scene, &exact, rows[i].target_bps);
    if (scene.plan.n_separate != rows[i].n_separate
        || scene.plan.n_mixes != rows[i].n_mixes
        || scene.plan.mix_bps != rows[i].mix_bps)
      fail_msg ("%s: %u separate, %u mixes of %u bit/s", rows[i].why,
          scene.plan.n_separate, scene.plan.n_mixes, scene.plan.mix_bps);
    assert_int_equal (scene.plan.used_bps, rows[i].n_separate * STREAM_BPS
        + rows[i].n_mixes * (uint64_t) rows[i].mix_bps);
    for (size_t k = 0; k < 8; k++)
      if (rows[i].n_separate + rows[i].n_mixes == 0)
        assert_int_equal (scene.assignment[k], HELD);
  }
}

static void
test_a_mix_never_uses_more_than_its_most (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, 8);
  for (size_t i = 0; i < 4; i++)
    scene.streams[i].must_mix = true;
  scene_plan (&scene, &exact, FMX_TARGET_UNLIMITED);
  assert_int_equal (scene.plan.n_separate, 4);
  assert_int_equal (scene.plan.n_mixes, 1);
  assert_int_equal (scene.plan.mix_bps, exact.mix_max_bps);
}

static void
test_a_lone_stream_is_forwarded_where_that_costs_no_more (void **state)
{
  static const struct
  {
    uint32_t wire_bps;
    bool must_mix;
    int32_t expected;
  } rows[] = {
    {MIX_BPS, false, SEPARATE},
    {MIX_BPS + 1, false, 0},
    {MIX_BPS, true, 0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    Scene scene;

    scene_init (&scene, 1);
    scene.streams[0].wire_bps = rows[i].wire_bps;
    scene.streams[0].must_mix = rows[i].must_mix;
    scene_plan (&scene, &exact, MIX_BPS);
    assert_int_equal (scene.assignment[0], rows[i].expected);
  }
}

static void
test_never_mix_is_separate_unless_nothing_may_be_sent (void **state)
{
  const int32_t both[] = { 0, SEPARATE, 0 };
  const int32_t it_alone[] = { HELD, SEPARATE, HELD };
  const int32_t nothing[] = { HELD, HELD, HELD };
  Scene scene;

  (void) state;
  scene_init (&scene, 3);
  scene.streams[1].never_mix = true;
  scene.streams[1].priority = -1;

  scene_plan (&scene, &exact, STREAM_BPS + MIX_BPS);
  assert_assignment (&scene, both);
  scene_plan (&scene, &exact, STREAM_BPS + MIX_BPS - 1);
  assert_assignment (&scene, it_alone);
  scene_plan (&scene, &exact, 1);
  assert_assignment (&scene, it_alone);
  assert_int_equal (scene.plan.used_bps, STREAM_BPS);
  scene_plan (&scene, &exact, 0);
  assert_assignment (&scene, nothing);
  assert_int_equal (scene.plan.used_bps, 0);
}

static void
test_groups_have_their_own_mixes_before_they_share_one (void **state)
{
  /* Two of each team and two of none. */
  static const uint32_t groups[] = { 1, 2, 3, 0, 1, 2, 3, 0 };
  static const struct
  {
    uint32_t n_mixes;
    int32_t expected[8];
    bool collapsed;
  } rows[] = {
    {4, {0, 1, 2, 3, 0, 1, 2, 3}, false},
    {3, {0, 1, 2, 2, 0, 1, 2, 2}, false},
    {2, {0, 1, 1, 1, 0, 1, 1, 1}, false},
    {1, {0, 0, 0, 0, 0, 0, 0, 0}, true},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    Scene scene;

    scene_init (&scene, N_ELEMENTS (groups));
    for (size_t k = 0; k < N_ELEMENTS (groups); k++)
      scene.streams[k].group = groups[k];
    scene_plan (&scene, &exact, rows[i].n_mixes * MIX_BPS + MIX_BPS - 1);
    assert_assignment (&scene, rows[i].expected);
    assert_int_equal (scene.plan.collapsed, rows[i].collapsed);
  }
}

static void
test_separate_streams_are_mixed_before_groups_share_a_mix (void **state)
{
  const int32_t expected[] = { SEPARATE, 1, 0, 1, 0, 1 };
  Scene scene;

  (void) state;
  scene_init (&scene, 6);
  for (size_t i = 0; i < 6; i++)
    scene.streams[i].group = 1 + i % 2;
  scene.streams[0].priority = 1;
  scene_plan (&scene, &exact, STREAM_BPS + 2 * MIX_BPS);
  assert_assignment (&scene, expected);
  scene_plan (&scene, &exact, STREAM_BPS + 2 * MIX_BPS - 1);
  assert_int_equal (scene.plan.n_separate, 0);
  assert_int_equal (scene.plan.n_mixes, 2);
  scene_plan (&scene, &exact, 2 * MIX_BPS - 1);
  assert_int_equal (scene.plan.n_mixes, 1);
  assert_true (scene.plan.collapsed);
}

static void
test_more_groups_than_mixes_still_make_sixteen (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, N_STREAMS);
  for (size_t i = 0; i < N_STREAMS; i++) {
    scene.streams[i].group = (uint32_t) (1000 - i);
    scene.streams[i].must_mix = true;
  }
  scene_plan (&scene, &exact, FMX_TARGET_UNLIMITED);
  assert_int_equal (scene.plan.n_mixes, FMX_ADAPT_MAX_MIXES);
  for (size_t i = 0; i < N_STREAMS; i++) {
    int32_t by_number = (int32_t) (N_STREAMS - 1 - i);

    assert_int_equal (scene.assignment[i], by_number < 15 ? by_number : 15);
  }
}

static void
test_a_big_group_leaves_room_for_the_others (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, N_STREAMS);
  for (size_t i = 0; i < N_STREAMS; i++) {
    scene.streams[i].group = i < 20 ? 1 : (uint32_t) i;
    scene.streams[i].must_mix = true;
  }
  scene_plan (&scene, &exact, FMX_TARGET_UNLIMITED);
  assert_int_equal (scene.plan.n_mixes, 5);
}

static void
test_target_0_holds_even_what_costs_nothing (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, 1);
  scene.streams[0].wire_bps = 0;
  scene_plan (&scene, &exact, 1);
  assert_int_equal (scene.assignment[0], SEPARATE);
  scene_plan (&scene, &exact, 0);
  assert_int_equal (scene.assignment[0], HELD);
}

static void
test_a_small_stream_passes_a_big_one_of_its_priority_only (void **state)
{
  const int32_t passed[] = { 0, SEPARATE, 0 };
  const int32_t blocked[] = { 0, 0, 0 };
  Scene scene;

  (void) state;
  scene_init (&scene, 3);
  scene.streams[0].wire_bps = 1500000;
  scene.streams[2].wire_bps = 1500000;
  scene_plan (&scene, &exact, 200000);
  assert_assignment (&scene, passed);
  scene.streams[0].priority = 1;
  scene_plan (&scene, &exact, 200000);
  assert_assignment (&scene, blocked);
}

/* Narrow-band talkers cost less than a mix, so three of four do not fit where
 * all four do. */
static void
test_streams_cheaper_than_a_mix_are_not_mixed_in_vain (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, 4);
  for (size_t i = 0; i < 4; i++)
    scene.streams[i].wire_bps = 16000;
  scene_plan (&scene, &exact, 4 * 16000);
  assert_int_equal (scene.plan.n_separate, 4);
}

static void
test_increase_needs_headroom_and_decrease_none (void **state)
{
  const FmxAdaptParams params = {
    .mix_min_bps = STREAM_BPS,
    .mix_max_bps = STREAM_BPS,
    .headroom = 0.1,
  };
  Scene scene;

  (void) state;
  scene_init (&scene, 8);
  scene_plan (&scene, &params, 4 * STREAM_BPS * 100 / 89);
  assert_int_equal (scene.plan.n_separate, 3);
  scene_apply (&scene);

  scene_plan (&scene, &params, 4 * STREAM_BPS);
  assert_int_equal (scene.plan.n_separate, 3);
  scene_plan (&scene, &params, 4 * STREAM_BPS - 1);
  assert_int_equal (scene.plan.n_separate, 2);
  scene_plan (&scene, &params, 5 * STREAM_BPS * 100 / 91);
  assert_int_equal (scene.plan.n_separate, 3);
  scene_plan (&scene, &params, 5 * STREAM_BPS * 100 / 89);
  assert_int_equal (scene.plan.n_separate, 4);
}

/* What is tried is for the mix; what was carried before stays. */
static void
test_no_more_is_separate_than_lasts (void **state)
{
  FmxAdaptParams params = exact;
  Scene scene;

  (void) state;
  params.lasting_bps = 3 * STREAM_BPS + MIX_BPS;
  scene_init (&scene, 8);
  scene_plan (&scene, &params, 4 * STREAM_BPS + MIX_BPS);
  assert_int_equal (scene.plan.n_separate, 3);
  assert_int_equal (scene.plan.mix_bps, STREAM_BPS + MIX_BPS);
  scene_apply (&scene);
  params.lasting_bps = 2 * STREAM_BPS + MIX_BPS;
  scene_plan (&scene, &params, 3 * STREAM_BPS + MIX_BPS);
  assert_int_equal (scene.plan.n_separate, 3);
  scene_plan (&scene, &params, 3 * STREAM_BPS + MIX_BPS - 1);
  assert_int_equal (scene.plan.n_separate, 2);
}

/* What does not keep all keeps no more than lasts, or the next fall takes one more. */
static void
test_who_must_shrink_shrinks_to_what_lasts (void **state)
{
  FmxAdaptParams params = exact;
  Scene scene;

  (void) state;
  scene_init (&scene, 8);
  scene_plan (&scene, &params, 6 * STREAM_BPS + MIX_BPS);
  scene_apply (&scene);
  assert_int_equal (scene.plan.n_separate, 6);
  params.lasting_bps = 3 * STREAM_BPS + MIX_BPS;
  scene_plan (&scene, &params, 6 * STREAM_BPS + MIX_BPS);
  assert_int_equal (scene.plan.n_separate, 6);
  scene_plan (&scene, &params, 5 * STREAM_BPS + MIX_BPS);
  assert_int_equal (scene.plan.n_separate, 3);
  scene_apply (&scene);
  scene_plan (&scene, &params, 5 * STREAM_BPS + MIX_BPS);
  assert_int_equal (scene.plan.n_separate, 3);
}

/* The talker changes while the target is full to the brim. */
static void
test_an_exchange_needs_no_headroom (void **state)
{
  const int32_t expected[] = { 0, SEPARATE, 0 };
  FmxAdaptParams params = exact;
  Scene scene;

  (void) state;
  params.headroom = 0.2;
  scene_init (&scene, 3);
  scene.streams[0].separate = true;
  scene.streams[0].level = 60;
  scene.streams[1].level = 20;
  scene.streams[2].level = 60;
  scene_plan (&scene, &params, STREAM_BPS + MIX_BPS);
  assert_assignment (&scene, expected);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_eight_streams_of_the_paper_at_every_target),
    cmocka_unit_test (test_a_mix_never_uses_more_than_its_most),
    cmocka_unit_test (test_a_lone_stream_is_forwarded_where_that_costs_no_more),
    cmocka_unit_test (test_never_mix_is_separate_unless_nothing_may_be_sent),
    cmocka_unit_test (test_groups_have_their_own_mixes_before_they_share_one),
    cmocka_unit_test
        (test_separate_streams_are_mixed_before_groups_share_a_mix),
    cmocka_unit_test (test_more_groups_than_mixes_still_make_sixteen),
    cmocka_unit_test (test_a_big_group_leaves_room_for_the_others),
    cmocka_unit_test (test_target_0_holds_even_what_costs_nothing),
    cmocka_unit_test
        (test_a_small_stream_passes_a_big_one_of_its_priority_only),
    cmocka_unit_test (test_streams_cheaper_than_a_mix_are_not_mixed_in_vain),
    cmocka_unit_test (test_increase_needs_headroom_and_decrease_none),
    cmocka_unit_test (test_no_more_is_separate_than_lasts),
    cmocka_unit_test (test_who_must_shrink_shrinks_to_what_lasts),
    cmocka_unit_test (test_an_exchange_needs_no_headroom),
  };

  return cmocka_run_group_tests_name ("adapt/streams", tests, NULL, NULL);
}
