/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/topology/fmx-shared-bottleneck.h"

#define N 12u

typedef struct
{
  FmxSharedBottleneck sb;
  FmxSharedFlow flows[FMX_SHARED_BOTTLENECK_MAX];
  FmxSharedPair *pairs;
  FmxDelayShapeStats shapes[FMX_SHARED_BOTTLENECK_MAX];
} World;

static World w;

static void
begin (uint32_t n, bool by_shape)
{
  FmxSharedBottleneckParams params;

  fmx_shared_bottleneck_params_default (&params);
  params.by_shape = by_shape;
  if (by_shape)
    params.least_correlation = -1.0;
  free (w.pairs);
  w.pairs = malloc (FMX_SHARED_BOTTLENECK_PAIRS (n) * sizeof *w.pairs);
  fmx_shared_bottleneck_init (&w.sb, &params, w.flows, w.pairs, n);
  for (uint32_t i = 0; i < n; i++)
    w.shapes[i] = (FmxDelayShapeStats) {
    .congested = true,.has_mean = true,.variability_s = 0.01
    };
}

static void
end (void)
{
  free (w.pairs);
  w.pairs = NULL;
}

static void
step (uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    w.shapes[i].interval++;
    w.shapes[i].n_intervals++;
    fmx_shared_bottleneck_set (&w.sb, i, &w.shapes[i]);
  }
  fmx_shared_bottleneck_update (&w.sb);
}

static uint32_t
group (uint32_t flow)
{
  return fmx_shared_bottleneck_group (&w.sb, flow);
}

/* [RFC8382 3.3.1] "diff(var_est) < (p_mad * var_est)" and so on: chains hold
 * together, gaps divide, whatever the order of the flows. */
static void
test_the_shapes_divide_as_the_rfc_has_it (void **state)
{
  static const struct
  {
    double frequency, variability_s, skewness, loss;
    bool congested;
    uint32_t group;
  } flows[] = {
    {0.30, 0.0100, 0.0, 0.0, true, 0},
    {0.60, 0.0100, 0.0, 0.0, true, FMX_NO_GROUP},       /* frequency */
    {0.38, 0.0095, 0.1, 0.0, true, 0},  /* a chain with 0 and 4 */
    {0.30, 0.0050, 0.0, 0.0, true, 3},  /* variability */
    {0.46, 0.0100, -0.1, 0.0, true, 0},
    {0.31, 0.0051, 0.1, 0.0, true, 3},
    {0.30, 0.0050, 0.9, 0.0, true, FMX_NO_GROUP},       /* skewness */
    {0.30, 0.0100, 0.0, 0.0, false, FMX_NO_GROUP},      /* no bottleneck */
    {0.10, 0.0100, 0.0, 0.30, true, 8}, /* loss */
    {0.10, 0.0100, 0.0, 0.29, true, 8},
    {0.10, 0.0100, 0.0, 0.20, true, 10},
    {0.10, 0.0100, 0.0, 0.19, true, 10},
  };

  (void) state;
  begin (N, true);
  for (uint32_t i = 0; i < N; i++) {
    w.shapes[i].frequency = flows[i].frequency;
    w.shapes[i].variability_s = flows[i].variability_s;
    w.shapes[i].skewness = flows[i].skewness;
    w.shapes[i].loss = flows[i].loss;
    w.shapes[i].congested = flows[i].congested;
  }
  for (int i = 0; i < 59; i++) {        /* [RFC8382 3.3.2] not before 2 M */
    step (N);
    for (uint32_t j = 0; j < N; j++)
      assert_int_equal (group (j), FMX_NO_GROUP);
  }
  for (int i = 0; i < 200; i++)
    step (N);
  for (uint32_t i = 0; i < N; i++)
    assert_int_equal (group (i), flows[i].group);
  end ();
}

/* Each of @n_queues goes up and down on its own; flow i sees queue i % n_queues. */
static void
run_queues (uint32_t n, uint32_t n_queues, int n_steps, double noise_s,
    uint64_t seed)
{
  double queues[FMX_SHARED_BOTTLENECK_MAX] = { 0 };
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  for (int t = 0; t < n_steps; t++) {
    for (uint32_t q = 0; q < n_queues; q++)
      queues[q] = 0.8 * queues[q] + 0.02 * (fmx_rng_next_unit (&rng) - 0.5);
    for (uint32_t i = 0; i < n; i++)
      w.shapes[i].mean_s = 3.0 * i + queues[i % n_queues]
          + noise_s * (fmx_rng_next_unit (&rng) - 0.5);
    step (n);
  }
}

static void
test_flows_are_together_whose_delays_rise_and_fall_together (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    begin (N, false);
    run_queues (N, 3, 250, 0.002, seed);
    for (uint32_t i = 0; i < N; i++)
      assert_int_equal (group (i), i % 3);
    end ();
  }
}

static void
test_flows_on_their_own_are_not_grouped (void **state)
{
  (void) state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    begin (N, false);
    run_queues (N, N, 400, 0.0, seed);
    for (uint32_t i = 0; i < N; i++)
      assert_int_equal (group (i), FMX_NO_GROUP);
    end ();
  }
}

/* Two queues whose TCPs make saw-teeth: of @periods intervals, @heights in seconds, and the
 * second one @late intervals after the first; two flows see the first.  Returns: in how
 * many of 400 intervals the flow of the second was in their group */
static unsigned
run_teeth (const double periods[2], const double heights[2], double late)
{
  unsigned n_wrong = 0;

  begin (3, false);
  for (int t = 0; t < 650; t++) {
    double x = fmod (t / periods[0], 1.0);
    double y = fmod ((t + 100.0 - late) / periods[1], 1.0);

    w.shapes[0].mean_s = heights[0] * x;
    w.shapes[1].mean_s = 7.0 + heights[0] * x;
    w.shapes[2].mean_s = heights[1] * y;
    step (3);
    if (t >= 250) {
      assert_int_equal (group (0), 0);
      assert_int_equal (group (1), 0);
      n_wrong += group (2) != FMX_NO_GROUP;
    }
  }
  end ();
  return n_wrong;
}

/* Each of these differs in one thing alone. */
static void
test_two_queues_in_step_are_two (void **state)
{
  const double same[2] = { 20.0, 20.0 }, near[2] = { 20.0, 20.5 };
  const double equal[2] = { 0.2, 0.2 }, other[2] = { 0.2, 0.3 };

  (void) state;
  assert_int_equal (run_teeth (same, other, 0.0), 0);   /* how high they are */
  assert_int_equal (run_teeth (same, equal, 1.0), 0);   /* when they fall, by 350 ms */
  assert_int_equal (run_teeth (near, equal, 0.0), 0);   /* how long one takes, by 2.5 % */
  /* and where nothing at all differs nothing can be told */
  assert_int_equal (run_teeth (same, equal, 0.0), 400);
}

/* Computed in two passes, as the textbook has it. */
static void
test_the_correlation_is_that_of_the_changes (void **state)
{
  double x[60], y[60], mx = 0, my = 0, xx = 0, yy = 0, xy = 0;

  (void) state;
  begin (2, false);
  run_queues (2, 1, 40, 0.01, 7);
  for (uint64_t i = 2; i <= 40; i++) {  /* from the floats that are kept */
    x[i] = (double) w.flows[0].mean_s[i] - (double) w.flows[0].mean_s[i - 1];
    y[i] = (double) w.flows[1].mean_s[i] - (double) w.flows[1].mean_s[i - 1];
    mx += x[i] / 39;
    my += y[i] / 39;
  }
  for (int i = 2; i <= 40; i++) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  assert_float_equal (fmx_shared_bottleneck_correlation (&w.sb, 0, 1),
      2 * xy / (xx + yy), 1e-6);
  end ();
}

/* One that comes to share a queue, and one whose number is used again. */
static void
test_what_was_is_forgotten (void **state)
{
  (void) state;
  begin (4, false);
  run_queues (4, 1, 250, 0.0, 1);
  assert_int_equal (group (3), 0);
  fmx_shared_bottleneck_forget (&w.sb, 3);
  assert_int_equal (group (3), FMX_NO_GROUP);
  w.shapes[3].n_intervals = 0;  /* the next one */
  run_queues (4, 4, 250, 0.0, 2);       /* and all are elsewhere now */
  for (uint32_t i = 0; i < 4; i++)
    assert_int_equal (group (i), FMX_NO_GROUP);
  end ();
}

static void
test_as_many_as_there_may_be (void **state)
{
  (void) state;
  begin (FMX_SHARED_BOTTLENECK_MAX, false);
  run_queues (FMX_SHARED_BOTTLENECK_MAX, 64, 160, 0.0, 1);
  for (uint32_t i = 0; i < FMX_SHARED_BOTTLENECK_MAX; i++)
    assert_int_equal (group (i), i % 64);
  end ();
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_shapes_divide_as_the_rfc_has_it),
    cmocka_unit_test
        (test_flows_are_together_whose_delays_rise_and_fall_together),
    cmocka_unit_test (test_flows_on_their_own_are_not_grouped),
    cmocka_unit_test (test_two_queues_in_step_are_two),
    cmocka_unit_test (test_the_correlation_is_that_of_the_changes),
    cmocka_unit_test (test_what_was_is_forgotten),
    cmocka_unit_test (test_as_many_as_there_may_be),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
