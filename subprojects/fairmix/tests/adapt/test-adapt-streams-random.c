/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What holds of every plan, on random scenes */
#include "fmx-test-adapt.h"

#include "fairmix/base/fmx-rng.h"

static void
scene_random (Scene *scene, FmxRng *rng, uint32_t n_groups, bool same_size)
{
  scene_init (scene, fmx_rng_next (rng) % (N_STREAMS + 1));
  for (size_t i = 0; i < scene->n; i++) {
    FmxSelectStream *s = &scene->streams[i];
    uint32_t bits = fmx_rng_next (rng);

    s->priority = (int32_t) (bits % 3);
    s->group = (bits >> 4) % (n_groups + 1);
    s->never_mix = (bits >> 12) % 16 == 0;
    s->must_mix = (bits >> 16) % 8 == 0;
    s->separate = (bits >> 20) % 2 && !s->must_mix;
    s->level = (uint8_t) (fmx_rng_next (rng) % 128);
    s->mix = s->separate ? 0 : fmx_rng_next (rng) % 3;
    if (!same_size)
      s->wire_bps = 8000 + fmx_rng_next (rng) % 120000;
  }
}

static uint64_t
random_target (FmxRng *rng)
{
  return fmx_rng_next (rng) % (N_STREAMS * 80000u);
}

/* What the plan costs at its least, counted afresh. */
static uint64_t
least_cost (const Scene *scene, const FmxAdaptParams *params)
{
  uint64_t cost = 0;
  bool seen[FMX_ADAPT_MAX_MIXES] = { false };

  for (size_t i = 0; i < scene->n; i++) {
    int32_t a = scene->assignment[i];

    if (a == SEPARATE)
      cost += scene->streams[i].wire_bps;
    else if (a >= 0 && !seen[a]) {
      seen[a] = true;
      cost += params->mix_min_bps;
    }
  }
  return cost;
}

static void
check_sums (const Scene *scene, const FmxAdaptParams *params)
{
  const FmxAdaptPlan *plan = &scene->plan;
  uint32_t n_separate = 0, n_mixes = 0;

  for (size_t i = 0; i < scene->n; i++) {
    int32_t a = scene->assignment[i];

    n_separate += a == SEPARATE;
    if (a >= (int32_t) n_mixes)
      n_mixes = (uint32_t) a + 1;
    assert_true (a >= HELD && a < (int32_t) FMX_ADAPT_MAX_MIXES);
    assert_false (a == SEPARATE && scene->streams[i].must_mix);
  }
  assert_int_equal (plan->n_separate, n_separate);
  assert_int_equal (plan->n_mixes, n_mixes);
  if (n_mixes > 0) {
    assert_true (plan->mix_bps >= params->mix_min_bps);
    assert_true (plan->mix_bps <= params->mix_max_bps);
  }
  assert_int_equal (plan->used_bps, least_cost (scene, params)
      + n_mixes * (uint64_t) (plan->mix_bps - (n_mixes ? params->mix_min_bps
              : 0)));
}

/* Returns: whether anything but never-mix streams is held back */
static bool
is_held (const Scene *scene)
{
  for (size_t i = 0; i < scene->n; i++)
    if (scene->assignment[i] == HELD)
      return true;
  return false;
}

static bool
only_never_mix (const Scene *scene)
{
  for (size_t i = 0; i < scene->n; i++)
    if (!scene->streams[i].never_mix || scene->streams[i].must_mix)
      return false;
  return true;
}

static void
test_a_plan_keeps_the_target_or_holds_all_but_never_mix (void **state)
{
  FmxRng rng;
  unsigned n_held = 0;

  (void) state;
  fmx_rng_init (&rng, 11);
  for (int round = 0; round < 50000; round++) {
    FmxAdaptParams params = exact;
    uint64_t target = random_target (&rng) >> fmx_rng_next (&rng) % 5;
    Scene scene;

    params.headroom = 0.3 * fmx_rng_next_unit (&rng);
    scene_random (&scene, &rng, 4, false);
    scene_plan (&scene, &params, target);
    check_sums (&scene, &params);
    for (size_t i = 0; i < scene.n; i++) {
      const FmxSelectStream *s = &scene.streams[i];

      if (s->never_mix && !s->must_mix && target > 0)
        assert_int_equal (scene.assignment[i], SEPARATE);
      else if (is_held (&scene))
        assert_int_equal (scene.assignment[i], HELD);
    }
    if (!only_never_mix (&scene) && !is_held (&scene))
      assert_true (scene.plan.used_bps <= target);
    n_held += is_held (&scene);
  }
  assert_in_range (n_held, 500, 25000);
}

/* Held only if full mixing, all in one mix, exceeds the target - and so does
 * sending everything as it is, which can be cheaper. */
static void
test_a_plan_holds_only_what_the_least_plan_cannot_carry (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 12);
  for (int round = 0; round < 50000; round++) {
    uint64_t target = random_target (&rng) >> fmx_rng_next (&rng) % 5;
    uint64_t never = 0, all = 0;
    bool must_mix = false;
    Scene scene;

    scene_random (&scene, &rng, 4, false);
    scene_plan (&scene, &exact, target);
    for (size_t i = 0; i < scene.n; i++) {
      const FmxSelectStream *s = &scene.streams[i];

      must_mix = must_mix || s->must_mix;
      never += s->never_mix && !s->must_mix ? s->wire_bps : 0;
      all += s->wire_bps;
    }
    if (is_held (&scene)) {
      assert_true (never + MIX_BPS > target || target == 0);
      assert_true (must_mix || all > target || target == 0);
      assert_true ((scene.plan.next_bps > 0) == (target > 0));
      if (target > 0)
        scene_plan (&scene, &exact, scene.plan.next_bps);
      assert_true (target == 0 || !is_held (&scene));
    }
  }
}

/* No stream of the most important priority that is mixed fits beside the
 * others, and nobody less important is separate but those that would be alone
 * in a mix that costs no less. */
static void
test_a_plan_mixes_no_more_than_it_must (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 13);
  for (int round = 0; round < 50000; round++) {
    uint64_t target = random_target (&rng), cost;
    int32_t top = INT32_MIN;
    Scene scene;

    scene_random (&scene, &rng, round % 4, false);
    scene_plan (&scene, &exact, target);
    if (is_held (&scene) || only_never_mix (&scene))
      continue;
    cost = least_cost (&scene, &exact);
    for (size_t i = 0; i < scene.n; i++) {
      const FmxSelectStream *s = &scene.streams[i];

      if (scene.assignment[i] >= 0 && !s->must_mix && s->priority > top)
        top = s->priority;
    }
    for (size_t i = 0; i < scene.n; i++) {
      const FmxSelectStream *s = &scene.streams[i];

      if (scene.assignment[i] >= 0 && !s->must_mix && s->priority == top) {
        int32_t was = scene.assignment[i];

        scene.assignment[i] = SEPARATE;
        assert_true (least_cost (&scene, &exact) > target);
        scene.assignment[i] = was;
      }
      if (scene.assignment[i] == SEPARATE && !s->never_mix && s->priority < top)
        assert_true (s->wire_bps <= MIX_BPS);
    }
    assert_true (cost <= target);
  }
}

/* The target climbs, every plan is carried out, and nobody is so much louder
 * than another that he takes that one's place.  Only a group that gets a mix
 * of its own may. */
static void
test_a_target_that_rises_takes_no_place_away (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 14);
  for (int round = 0; round < 2000; round++) {
    uint32_t n_flows = 0, n_mixes = 0;
    Scene scene;

    scene_random (&scene, &rng, round % 4, true);
    for (size_t i = 0; i < scene.n; i++) {
      scene.streams[i].separate = false;
      scene.streams[i].level = 20 + scene.streams[i].level % 10;
    }
    for (uint64_t target = 0; target < N_STREAMS * 80000u; target += 9973) {
      scene_plan (&scene, &exact, target);
      assert_true (scene.plan.n_separate + scene.plan.n_mixes >= n_flows);
      for (size_t i = 0; i < scene.n; i++)
        assert_true (scene.assignment[i] == SEPARATE
            || !scene.streams[i].separate || scene.plan.n_mixes > n_mixes);
      scene_apply (&scene);
      n_mixes = scene.plan.n_mixes;
      n_flows = scene.plan.n_separate + n_mixes;
    }
    assert_true (scene.n == 0 || n_flows > 0);
  }
}

static void
test_planning_again_changes_nothing (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 15);
  for (int round = 0; round < 100000; round++) {
    FmxAdaptParams params = exact;
    uint64_t target = random_target (&rng);
    Scene scene;
    unsigned n_changed;

    params.headroom = round % 2 ? 0.3 * fmx_rng_next_unit (&rng) : 0.0;
    scene_random (&scene, &rng, round % 20, false);
    scene_plan (&scene, &params, target);
    scene_apply (&scene);
    scene_plan (&scene, &params, target);
    n_changed = scene_apply (&scene);
    if (n_changed != 0)
      fail_msg ("round %d: %u streams change again", round, n_changed);
  }
}

/* The target wanders within the headroom: after it has been at its highest
 * and at its lowest once, all is quiet. */
static void
test_a_target_that_wanders_within_the_headroom_changes_nothing (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 16);
  for (int round = 0; round < 2000; round++) {
    FmxAdaptParams params = exact;
    uint64_t most = MIX_BPS + random_target (&rng);
    unsigned n_changed = 0;
    Scene scene;

    params.headroom = 0.1;
    scene_random (&scene, &rng, round % 4, false);
    scene_plan (&scene, &params, most);
    scene_apply (&scene);
    scene_plan (&scene, &params, most * 91 / 100);
    scene_apply (&scene);
    for (int step = 0; step < 50; step++) {
      double share = 0.91 + 0.09 * fmx_rng_next_unit (&rng);

      scene_plan (&scene, &params, (uint64_t) (share * (double) most));
      n_changed += scene_apply (&scene);
    }
    if (n_changed != 0)
      fail_msg ("round %d: %u changes", round, n_changed);
  }
}

/* Half a stream's worth more or less moves one stream; two where the mix itself
 * comes or goes. */
static void
test_a_small_step_of_the_target_changes_one_stream (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 17);
  for (int round = 0; round < 5000; round++) {
    uint64_t target = MIX_BPS + random_target (&rng);
    Scene scene;

    scene_random (&scene, &rng, 0, true);
    for (size_t i = 0; i < scene.n; i++)
      scene.streams[i].never_mix = scene.streams[i].must_mix = false;
    scene_plan (&scene, &exact, target);
    scene_apply (&scene);
    for (int step = 0; step < 20; step++) {
      uint32_t n_mixes;
      bool mixing_starts_or_ends;
      int64_t by = (int64_t) (fmx_rng_next (&rng) % (2 * MIX_BPS)) - MIX_BPS;

      if ((int64_t) target + by >= MIX_BPS)
        target += (uint64_t) by;
      n_mixes = scene.plan.n_mixes;
      scene_plan (&scene, &exact, target);
      mixing_starts_or_ends = scene.plan.n_mixes != n_mixes;
      assert_true (scene_apply (&scene) <= 1u + mixing_starts_or_ends);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_plan_keeps_the_target_or_holds_all_but_never_mix),
    cmocka_unit_test (test_a_plan_holds_only_what_the_least_plan_cannot_carry),
    cmocka_unit_test (test_a_plan_mixes_no_more_than_it_must),
    cmocka_unit_test (test_a_target_that_rises_takes_no_place_away),
    cmocka_unit_test (test_planning_again_changes_nothing),
    cmocka_unit_test
        (test_a_target_that_wanders_within_the_headroom_changes_nothing),
    cmocka_unit_test (test_a_small_step_of_the_target_changes_one_stream),
  };

  return cmocka_run_group_tests_name ("adapt/streams-random", tests, NULL, NULL);
}
