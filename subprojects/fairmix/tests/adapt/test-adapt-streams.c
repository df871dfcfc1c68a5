/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <stdbool.h>
#include <string.h>

#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/base/fmx-rng.h"

#define STREAM_BPS 78400u       /* the paper's: 8 kHz mu-law in 20 ms packets */
#define MIX_BPS 40000u
#define N_STREAMS 24

#define SEPARATE FMX_ADAPT_SEPARATE
#define HELD FMX_ADAPT_HELD

static const FmxAdaptParams exact = {
  .mix_min_bps = MIX_BPS,
  .mix_max_bps = 3 * MIX_BPS,
  .headroom = 0.0,
};

typedef struct
{
  FmxSelectStream streams[N_STREAMS];
  uint32_t order[N_STREAMS];
  int32_t assignment[N_STREAMS];
  size_t n;
  FmxAdaptPlan plan;
} Scene;

static void
scene_init (Scene *scene, size_t n)
{
  memset (scene, 0, sizeof *scene);
  scene->n = n;
  for (size_t i = 0; i < n; i++)
    scene->streams[i].wire_bps = STREAM_BPS;
}

static void
scene_plan (Scene *scene, const FmxAdaptParams *params, uint64_t target_bps)
{
  FmxSelectParams select;

  fmx_select_params_default (&select);
  fmx_select_rank (&select, scene->streams, scene->order, scene->n,
      100 * (FmxTime) FMX_SECOND);
  fmx_adapt_plan_streams (params, target_bps, scene->streams, scene->order,
      scene->assignment, scene->n, &scene->plan);
}

/* Carries the plan out.  Returns: how many streams it changes */
static unsigned
scene_apply (Scene *scene)
{
  unsigned n_changed = 0;

  for (size_t i = 0; i < scene->n; i++) {
    FmxSelectStream *s = &scene->streams[i];
    bool separate = scene->assignment[i] == SEPARATE;
    uint32_t mix = scene->assignment[i] < 0 ? 0
        : (uint32_t) scene->assignment[i];

    n_changed += s->separate != separate || s->mix != mix;
    s->separate = separate;
    s->mix = mix;
  }
  return n_changed;
}

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

/* Properties on random scenes */

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
    cmocka_unit_test (test_an_exchange_needs_no_headroom),
    cmocka_unit_test (test_a_plan_keeps_the_target_or_holds_all_but_never_mix),
    cmocka_unit_test (test_a_plan_holds_only_what_the_least_plan_cannot_carry),
    cmocka_unit_test (test_a_plan_mixes_no_more_than_it_must),
    cmocka_unit_test (test_a_target_that_rises_takes_no_place_away),
    cmocka_unit_test (test_planning_again_changes_nothing),
    cmocka_unit_test
        (test_a_target_that_wanders_within_the_headroom_changes_nothing),
    cmocka_unit_test (test_a_small_step_of_the_target_changes_one_stream),
  };

  return cmocka_run_group_tests_name ("adapt/streams", tests, NULL, NULL);
}
