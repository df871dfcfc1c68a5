/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-warped-plane.h"

#define STEEP 100.0

static void
assert_near (double a, double b)
{
  assert_true (fabs (a - b) < 1e-9 * (1.0 + fabs (b)));
}

/* From (1, 1, 0) to (4, 5, 10): 10 up on a way of 5, so 2, in the direction
 * (0.6, 0.8). */
static void
test_the_plane_goes_through_both_measurements (void **state)
{
  const FmxVector previous = { 1, 1, 0 }, latest = { 4, 5, 10 };
  FmxPlane plane = fmx_plane_from_points (previous, latest, STEEP);
  FmxVector across = { 4 - 4, 5 + 3, -1 };

  (void) state;
  assert_near (plane.slope_x, 1.2);
  assert_near (plane.slope_y, 1.6);
  assert_near (fmx_plane_height (&plane, previous), 0);
  assert_near (fmx_plane_height (&plane, latest), 10);
  assert_near (fmx_plane_height (&plane, across), 10);  /* level */
}

static void
test_a_step_is_no_steeper_than_allowed_and_a_place_is_level (void **state)
{
  const FmxVector low = { 0, 0, 0 }, high = { 0.001, 0, 1 }, up = { 0, 0, 7 };
  FmxPlane step = fmx_plane_from_points (low, high, 3.0);
  FmxPlane place = fmx_plane_from_points (low, up, 3.0);

  (void) state;
  assert_near (step.slope_x, 3.0);
  assert_near (fmx_plane_height (&step, high), 1);
  assert_near (place.slope_x, 0.0);
  assert_near (place.slope_y, 0.0);
  assert_near (fmx_plane_height (&place, high), 7);
}

/* By hand: the plane z = x / 0.75 (a 3-4-5 triangle), the hand 1 below it */
static void
test_the_force_is_normal_to_the_plane (void **state)
{
  const FmxVector low = { 0, 0, 0 }, high = { 3, 0, 4 };
  const FmxVector inside = { 0, 5, -1 }, outside = { 0, 5, 0.01 };
  FmxPlane plane = fmx_plane_from_points (low, high, STEEP);
  FmxVector force = fmx_plane_force (&plane, inside, 10.0);

  (void) state;
  /* 1 below is 0.6 inside: 6, of which 0.8 to the left and 0.6 up */
  assert_near (force.x, -4.8);
  assert_near (force.y, 0);
  assert_near (force.z, 3.6);
  force = fmx_plane_force (&plane, outside, 10.0);
  assert_near (force.x, 0);
  assert_near (force.z, 0);
}

/* [nanoManipulator 3.1] Whatever the plane, wherever the hand went: it feels
 * under itself the height that it would have felt where it was. */
static void
test_a_warped_plane_is_the_one_of_before_under_the_hand_of_now (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (int i = 0; i < 1000; i++) {
    double v[9];
    FmxVector before, now, moved;
    FmxPlane plane, warped;

    for (size_t k = 0; k < N_ELEMENTS (v); k++)
      v[k] = 20.0 * fmx_rng_next_unit (&rng) - 10.0;
    before = (FmxVector) { v[0], v[1], v[2] };
    now = (FmxVector) { v[3], v[4], v[5] };
    moved = (FmxVector) { now.x - before.x, now.y - before.y,
      now.z - before.z
    };
    plane = fmx_plane_from_points (before, (FmxVector) { v[6], v[7], v[8] },
        STEEP);
    warped = fmx_plane_warp (&plane, moved);
    assert_near (fmx_plane_height (&warped, now),
        fmx_plane_height (&plane, before));
  }
}

/* A hand that moves steadily over a wavy surface whose measurements come 100 ms
 * late: warped, it feels the surface as it was 100 ms ago, to within what a
 * plane can be off from one measurement to the next; unwarped it feels heights
 * that are nowhere. */
static void
test_a_late_surface_keeps_its_shape (void **state)
{
  const double speed = 100.0, latency = 0.1, wave = 20.0, height = 5.0;
  const double period = 1.0 / 30.0;
  double worst_warped = 0.0, highest_plain = 0.0;
  FmxVector previous = { 0, 0, 0 };

  (void) state;
  for (int n = 1; n < 300; n++) {
    double x = speed * period * n;
    FmxVector latest = { x, 0, height * sin (x / wave) };
    FmxPlane plane = fmx_plane_from_points (previous, latest, STEEP);
    FmxVector displacement = { speed * latency, 0, 0 };
    FmxPlane warped = fmx_plane_warp (&plane, displacement);

    for (int k = 0; k < 33; k++) {
      FmxVector hand = { x + speed * (latency + k * 1e-3), 0, 0 };
      double late = height * sin ((hand.x - displacement.x) / wave);

      worst_warped = fmax (worst_warped,
          fabs (fmx_plane_height (&warped, hand) - late));
      highest_plain = fmax (highest_plain, fmx_plane_height (&plane, hand));
    }
    previous = latest;
  }
  assert_true (worst_warped < 0.15 * height);
  assert_true (highest_plain > 1.15 * height);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_plane_goes_through_both_measurements),
    cmocka_unit_test
        (test_a_step_is_no_steeper_than_allowed_and_a_place_is_level),
    cmocka_unit_test (test_the_force_is_normal_to_the_plane),
    cmocka_unit_test
        (test_a_warped_plane_is_the_one_of_before_under_the_hand_of_now),
    cmocka_unit_test (test_a_late_surface_keeps_its_shape),
  };

  return cmocka_run_group_tests_name ("playout/warped-plane", tests, NULL,
      NULL);
}
