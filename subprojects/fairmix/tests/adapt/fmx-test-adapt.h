/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_ADAPT_H
#define FMX_TEST_ADAPT_H

#include "fmx-test.h"

#include <stdbool.h>
#include <string.h>

#include "fairmix/adapt/fmx-adapt-streams.h"

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

static inline void
scene_init (Scene *scene, size_t n)
{
  memset (scene, 0, sizeof *scene);
  scene->n = n;
  for (size_t i = 0; i < n; i++)
    scene->streams[i].wire_bps = STREAM_BPS;
}

static inline void
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
static inline unsigned
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

#endif /* FMX_TEST_ADAPT_H */
