/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* haptic [profile LATENCY_MS]: what a hand feels of a surface that is measured far
 * away, with planes as they come and with planes warped to the hand's movement.
 *
 * CSV: the mean error of the force over latencies from 0 to 200 ms; or the
 * heights that are felt on one way over the surface.  A hand moves to and fro
 * over three rods, pressed 2 mm into what it feels; a scene that measures 10 to
 * 60 times a second answers its positions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-warped-plane.h"

#define TICK_S 0.001
#define STIFFNESS_N_PER_MM 0.5
#define MAX_SLOPE 2.0
#define REACH_MM 45.0
#define SWEEPS_PER_S 0.25
#define N_ANSWERS 64

typedef struct
{
  double at_s;                  /* it arrives */
  double sent_s;                /* the position that it is about */
  FmxVector point;
} answer;

typedef struct
{
  FmxRng rng;
  double round_trip_s;
  double idle_s;                /* the scene can take a position again */
  answer answers[N_ANSWERS];
  unsigned n_made, n_taken;
  FmxVector previous;
  FmxPlane plain, warped;
  double latency_s;             /* measured with the last answer */
} session;

static double
surface_mm (double x)
{
  static const double rods[] = { -25.0, 2.0, 30.0 };
  double height = 0.0;

  for (unsigned i = 0; i < 3; i++)
    height += 8.0 * exp (-pow ((x - rods[i]) / 6.0, 4.0));
  return height;
}

static FmxVector
hand_at (double t)
{
  FmxVector hand = { 0.0, 0.0, 0.0 };

  hand.x = REACH_MM * sin (2.0 * M_PI * SWEEPS_PER_S * t);
  return hand;
}

/* The scene takes the newest position that has reached it, and measures there. */
static void
measure (session * s, double t)
{
  answer *a = &s->answers[s->n_made % N_ANSWERS];
  double sent = t - s->round_trip_s / 2.0;

  if (t < s->idle_s)
    return;
  s->idle_s = t + 1.0 / (10.0 + 50.0 * fmx_rng_next_unit (&s->rng));
  a->sent_s = sent;
  a->point = hand_at (sent);
  a->point.z = surface_mm (a->point.x);
  a->at_s = s->idle_s + s->round_trip_s / 2.0;
  s->n_made++;
}

static void
take_answers (session * s, double t)
{
  while (s->n_taken < s->n_made && s->answers[s->n_taken % N_ANSWERS].at_s <= t) {
    const answer *a = &s->answers[s->n_taken++ % N_ANSWERS];
    FmxVector then = hand_at (a->sent_s), now = hand_at (t), displacement;

    displacement.x = now.x - then.x;
    displacement.y = now.y - then.y;
    displacement.z = 0.0;
    s->plain = fmx_plane_from_points (s->previous, a->point, MAX_SLOPE);
    s->warped = fmx_plane_warp (&s->plain, displacement);
    s->previous = a->point;
    s->latency_s = t - a->sent_s;
  }
}

static void
start (session * s, double round_trip_s)
{
  memset (s, 0, sizeof *s);
  fmx_rng_init (&s->rng, 1);
  s->round_trip_s = round_trip_s;
}

/* Mean errors of the force in a minute, in N */
static void
errors (double latency_ms)
{
  double plain = 0.0, warped = 0.0, plain_shape = 0.0, warped_shape = 0.0;
  unsigned n = 0;
  session s;

  start (&s, latency_ms / 1e3);
  for (double t = 0.0; t < 60.0; t += TICK_S) {
    FmxVector hand = hand_at (t);
    double here = surface_mm (hand.x), felt_plain, felt_warped, late;

    measure (&s, t);
    take_answers (&s, t);
    if (t < 2.0)
      continue;
    late = surface_mm (hand_at (t - s.latency_s).x);
    felt_plain = fmx_plane_height (&s.plain, hand);
    felt_warped = fmx_plane_height (&s.warped, hand);
    plain += fabs (felt_plain - here);
    warped += fabs (felt_warped - here);
    plain_shape += fabs (felt_plain - late);
    warped_shape += fabs (felt_warped - late);
    n++;
  }
  printf ("%g,%.4f,%.4f,%.4f,%.4f\n", latency_ms,
      plain / n * STIFFNESS_N_PER_MM, warped / n * STIFFNESS_N_PER_MM,
      plain_shape / n * STIFFNESS_N_PER_MM,
      warped_shape / n * STIFFNESS_N_PER_MM);
}

static void
profile (double latency_ms)
{
  const double period_s = 1.0 / SWEEPS_PER_S;
  session s;

  printf ("x_mm,surface_mm,plain_mm,warped_mm\n");
  start (&s, latency_ms / 1e3);
  for (double t = 0.0; t < 2.25 * period_s; t += TICK_S) {
    FmxVector hand = hand_at (t);

    measure (&s, t);
    take_answers (&s, t);
    /* once from left to right */
    if (t >= 1.75 * period_s)
      printf ("%.3f,%.3f,%.3f,%.3f\n", hand.x, surface_mm (hand.x),
          fmx_plane_height (&s.plain, hand),
          fmx_plane_height (&s.warped, hand));
  }
}

int
main (int argc, char **argv)
{
  if (argc == 3 && strcmp (argv[1], "profile") == 0) {
    profile (atof (argv[2]));
    return 0;
  }
  printf ("latency_ms,plain_n,warped_n,plain_shape_n,warped_shape_n\n");
  for (double latency_ms = 0.0; latency_ms <= 200.0; latency_ms += 10.0)
    errors (latency_ms);
  return 0;
}
