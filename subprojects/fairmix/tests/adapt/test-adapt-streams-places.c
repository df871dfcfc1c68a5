/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A neighbour that can take so many streams and no more */
#include "fmx-test-adapt.h"

#include "fairmix/base/fmx-rng.h"

static FmxAdaptParams
places (uint32_t max_streams)
{
  FmxAdaptParams params = exact;

  params.max_streams = max_streams;
  return params;
}

static void
test_no_more_streams_leave_than_there_are_places (void **state)
{
  static const struct
  {
    size_t n;
    uint32_t max_streams;
    uint64_t target_bps;
    uint32_t n_separate, n_mixes;
    const char *why;
  } rows[] = {
    {6, 0, FMX_TARGET_UNLIMITED, 6, 0, "any number"},
    {6, 6, FMX_TARGET_UNLIMITED, 6, 0, "a place for everybody"},
    {6, 4, FMX_TARGET_UNLIMITED, 3, 1, "three, and a mix of three"},
    {5, 4, FMX_TARGET_UNLIMITED, 3, 1, "three, and a mix of two"},
    {4, 4, FMX_TARGET_UNLIMITED, 4, 0, "everybody again"},
    {6, 1, FMX_TARGET_UNLIMITED, 0, 1, "a mix of all"},
    {1, 1, FMX_TARGET_UNLIMITED, 1, 0, "the only one"},
    {6, 4, 2 * STREAM_BPS, 1, 1, "the target is tighter"},
    {6, 4, MIX_BPS - 1, 0, 0, "held"},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    FmxAdaptParams params = places (rows[i].max_streams);
    Scene scene;

    scene_init (&scene, rows[i].n);
    scene_plan (&scene, &params, rows[i].target_bps);
    if (scene.plan.n_separate != rows[i].n_separate
        || scene.plan.n_mixes != rows[i].n_mixes)
      fail_msg ("%s: %u separate, %u mixes", rows[i].why,
          scene.plan.n_separate, scene.plan.n_mixes);
  }
}

/* Who is silent now may speak next, and there is no time to make room then. */
static void
test_silent_streams_take_places_as_well (void **state)
{
  FmxAdaptParams params = places (4);
  Scene scene;

  (void) state;
  scene_init (&scene, 20);
  for (size_t i = 2; i < 20; i++) {
    scene.streams[i].wire_bps = 0;
    scene.streams[i].level = 127;
  }
  scene_plan (&scene, &params, FMX_TARGET_UNLIMITED);
  assert_int_equal (scene.plan.n_separate, 3);
  assert_int_equal (scene.plan.n_mixes, 1);
  assert_int_equal (scene.assignment[0], SEPARATE);
  assert_int_equal (scene.assignment[1], SEPARATE);
}

static void
test_groups_share_a_mix_where_places_are_few (void **state)
{
  static const uint32_t mixes[] = { 0, 1, 2, 3, 3 };

  (void) state;
  for (uint32_t n = 1; n < N_ELEMENTS (mixes); n++) {
    FmxAdaptParams params = places (n);
    Scene scene;

    scene_init (&scene, 9);
    for (size_t i = 0; i < 9; i++) {
      scene.streams[i].group = 1 + i % 3;
      scene.streams[i].must_mix = true;
    }
    scene_plan (&scene, &params, FMX_TARGET_UNLIMITED);
    assert_int_equal (scene.plan.n_mixes, mixes[n]);
    assert_int_equal (scene.plan.n_separate, 0);
  }
}

/* One place stays for all the others; of never-mix streams the least important
 * must give way. */
static void
test_never_mix_does_not_make_places (void **state)
{
  FmxAdaptParams params = places (3);
  Scene scene;

  (void) state;
  scene_init (&scene, 6);
  for (size_t i = 0; i < 4; i++) {
    scene.streams[i].never_mix = true;
    scene.streams[i].priority = (int32_t) i;
  }
  scene_plan (&scene, &params, FMX_TARGET_UNLIMITED);
  assert_int_equal (scene.plan.n_separate, 2);
  assert_int_equal (scene.plan.n_mixes, 1);
  assert_int_equal (scene.assignment[3], SEPARATE);
  assert_int_equal (scene.assignment[2], SEPARATE);
  assert_int_equal (scene.assignment[1], 0);
}

static void
scene_random (Scene * scene, FmxRng *rng)
{
  scene_init (scene, fmx_rng_next (rng) % (N_STREAMS + 1));
  for (size_t i = 0; i < scene->n; i++) {
    FmxSelectStream *s = &scene->streams[i];
    uint32_t bits = fmx_rng_next (rng);

    s->priority = (int32_t) (bits % 3);
    s->group = (bits >> 4) % 4;
    s->never_mix = (bits >> 12) % 8 == 0;
    s->must_mix = (bits >> 16) % 8 == 0;
    s->separate = (bits >> 20) % 2 && !s->must_mix;
    s->level = (uint8_t) (fmx_rng_next (rng) % 128);
    s->mix = s->separate ? 0 : fmx_rng_next (rng) % 3;
    s->wire_bps = fmx_rng_next (rng) % 120000;
  }
}

/* On random scenes: the limit is kept, nobody is held for its sake, and a plan
 * that was carried out is found again. */
static void
test_every_plan_keeps_to_the_places_and_stays (void **state)
{
  FmxRng rng;
  unsigned n_full = 0;

  (void) state;
  fmx_rng_init (&rng, 21);
  for (int round = 0; round < 50000; round++) {
    FmxAdaptParams params = places (1 + fmx_rng_next (&rng) % 8);
    uint64_t target = round % 3 == 0 ? FMX_TARGET_UNLIMITED
        : fmx_rng_next (&rng) % (N_STREAMS * 80000u);
    Scene scene;
    uint32_t n_out;

    params.headroom = round % 2 ? 0.3 * fmx_rng_next_unit (&rng) : 0.0;
    scene_random (&scene, &rng);
    scene_plan (&scene, &params, target);
    n_out = scene.plan.n_separate + scene.plan.n_mixes;
    assert_true (n_out <= params.max_streams || scene.n <= params.max_streams);
    n_full += n_out == params.max_streams;
    for (size_t i = 0; i < scene.n && target == FMX_TARGET_UNLIMITED; i++)
      assert_int_not_equal (scene.assignment[i], HELD);
    scene_apply (&scene);
    scene_plan (&scene, &params, target);
    if (scene_apply (&scene) != 0)
      fail_msg ("round %d: the next plan is another", round);
  }
  assert_true (n_full > 10000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_no_more_streams_leave_than_there_are_places),
    cmocka_unit_test (test_silent_streams_take_places_as_well),
    cmocka_unit_test (test_groups_share_a_mix_where_places_are_few),
    cmocka_unit_test (test_never_mix_does_not_make_places),
    cmocka_unit_test (test_every_plan_keeps_to_the_places_and_stays),
  };

  return cmocka_run_group_tests_name ("adapt/streams-places", tests, NULL,
      NULL);
}
