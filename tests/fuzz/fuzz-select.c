/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exercises fmx-select.c and fmx-adapt-streams.c: streams of any kind come,
 * go and change while the target does; every plan is checked and carried
 * out. */
#include <stdbool.h>
#include <string.h>

#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/select/fmx-select.h"

#include "fuzz.h"

#define MAX_STREAMS 64u

typedef struct
{
  FmxSelectParams select;
  FmxAdaptParams adapt;
  FmxSelectStream streams[MAX_STREAMS];
  uint32_t order[MAX_STREAMS];
  int32_t assignment[MAX_STREAMS];
  uint32_t n;
  uint64_t target_bps;
  FmxAdaptPlan plan;
  FmxTime now;
} Room;

static void
settle (Room * room, Fuzz * fuzz)
{
  memset (room, 0, sizeof *room);
  room->select.level_hysteresis_db = (uint8_t) fuzz_u8 (fuzz);
  room->select.min_stay = fuzz_u8 (fuzz) * (FMX_SECOND / 16);
  room->select.silence_level = (uint8_t) fuzz_u8 (fuzz);
  room->adapt.mix_min_bps = fuzz_u16 (fuzz) * 4;
  room->adapt.mix_max_bps = room->adapt.mix_min_bps + fuzz_u16 (fuzz) * 16;
  room->adapt.headroom = fuzz_u8 (fuzz) / 256.0;
  if (room->adapt.mix_min_bps % 3 == 0)
    room->adapt.max_streams = room->adapt.mix_max_bps % 8;
}

static FmxSelectStream
any_stream (Fuzz * fuzz, FmxTime now)
{
  uint32_t kind = fuzz_u8 (fuzz);
  FmxSelectStream s = {
    .priority = (int32_t) (kind & 3) - 1,
    .never_mix = (kind & 0x0c) == 0x0c,
    .must_mix = (kind & 0x30) == 0x30,
    .separate = (kind & 0x40) != 0,
    .group = fuzz_u8 (fuzz) % 24,
    .level = (uint8_t) fuzz_u8 (fuzz),
    .wire_bps = fuzz_u16 (fuzz) * 4,
    .mix = kind & 0x80 ? fuzz_u32 (fuzz) : 0,
    .since = now,
  };

  if (s.wire_bps == 0xffff * 4)
    s.wire_bps = UINT32_MAX;
  return s;
}

static void
happen (Room * room, Fuzz * fuzz)
{
  uint32_t op = fuzz_u8 (fuzz);
  uint32_t which = room->n > 0 ? fuzz_u8 (fuzz) % room->n : 0;

  switch (op % 5) {
    case 0:
      if (room->n < MAX_STREAMS)
        room->streams[room->n++] = any_stream (fuzz, room->now);
      break;
    case 1:
      if (room->n > 0)
        room->streams[which] = room->streams[--room->n];
      break;
    case 2:
      if (room->n > 0)
        room->streams[which].level = (uint8_t) fuzz_u8 (fuzz);
      break;
    case 3:
      room->now += fuzz_u8 (fuzz) * (FmxTime) (FMX_SECOND / 16);
      break;
    default:
      room->target_bps = fuzz_u16 (fuzz) * 32;
      if (op > 250)
        room->target_bps = FMX_TARGET_UNLIMITED;
  }
}

static unsigned
loudness (const Room * room, const FmxSelectStream * s)
{
  bool silent = room->select.silence_level != 0
      && s->level >= room->select.silence_level;

  return silent || s->level > 127 ? 127 : s->level;
}

/* Whether @before may stand before @after. */
static bool
in_order (const Room * room, const FmxSelectStream * before,
    const FmxSelectStream * after)
{
  int louder = (int) loudness (room, after) - (int) loudness (room, before);

  if (before->must_mix != after->must_mix)
    return after->must_mix;
  if (!before->must_mix && before->never_mix != after->never_mix)
    return before->never_mix;
  if (before->priority != after->priority)
    return before->priority > after->priority;
  if (before->separate == after->separate)
    return louder >= 0;
  if (before->separate)
    return true;
  return louder > 0 && louder >= room->select.level_hysteresis_db
      && room->now - after->since >= (FmxTime) room->select.min_stay;
}

static void
check_order (const Room * room)
{
  bool seen[MAX_STREAMS] = { false };

  for (uint32_t i = 0; i < room->n; i++) {
    CHECK (room->order[i] < room->n);
    CHECK (!seen[room->order[i]]);
    seen[room->order[i]] = true;
    for (uint32_t k = 0; k < i; k++)
      CHECK (in_order (room, &room->streams[room->order[k]],
              &room->streams[room->order[i]]));
  }
}

static bool
is_crowded (const Room * room)
{
  return room->adapt.max_streams > 0 && room->n > room->adapt.max_streams;
}

static void
check_plan (const Room * room)
{
  uint64_t used = (uint64_t) room->plan.n_mixes * room->plan.mix_bps;
  uint32_t n_separate = 0, members[FMX_ADAPT_MAX_MIXES] = { 0 };
  bool only_never_mix = true;

  CHECK (room->plan.n_mixes <= FMX_ADAPT_MAX_MIXES);
  for (uint32_t i = 0; i < room->n; i++) {
    const FmxSelectStream *s = &room->streams[i];
    int32_t a = room->assignment[i];
    bool never = s->never_mix && !s->must_mix;

    CHECK (a >= FMX_ADAPT_HELD && a < (int32_t) room->plan.n_mixes);
    CHECK (!(a == FMX_ADAPT_SEPARATE && s->must_mix));
    CHECK (!never || a == FMX_ADAPT_SEPARATE || room->target_bps == 0
        || is_crowded (room));
    if (a >= 0)
      members[a]++;
    else if (a == FMX_ADAPT_SEPARATE) {
      n_separate++;
      used += s->wire_bps;
    }
    only_never_mix = only_never_mix && (never || a == FMX_ADAPT_HELD);
  }
  for (uint32_t m = 0; m < room->plan.n_mixes; m++)
    CHECK (members[m] > 0);
  CHECK (n_separate == room->plan.n_separate);
  CHECK (!is_crowded (room)
      || n_separate + room->plan.n_mixes <= room->adapt.max_streams);
  CHECK (used == room->plan.used_bps);
  /* what is mixed for want of places counts as if it were not */
  CHECK (used <= room->target_bps || only_never_mix || is_crowded (room));
}

static void
decide (Room * room)
{
  fmx_select_rank (&room->select, room->streams, room->order, room->n,
      room->now);
  fmx_adapt_plan_streams (&room->adapt, room->target_bps, room->streams,
      room->order, room->assignment, room->n, &room->plan);
}

/* Returns: how many streams the plan changed; *@freed is whether one lost its
 * place that could not have lost it to a louder one yet */
static unsigned
carry_out (Room * room, bool *freed)
{
  unsigned n_changed = 0;

  *freed = false;
  for (uint32_t i = 0; i < room->n; i++) {
    FmxSelectStream *s = &room->streams[i];
    bool separate = room->assignment[i] == FMX_ADAPT_SEPARATE;
    uint32_t mix = room->assignment[i] > 0 ? (uint32_t) room->assignment[i]
        : 0;

    if (s->separate && !separate
        && room->now - s->since < (FmxTime) room->select.min_stay)
      *freed = true;
    if (s->separate != separate)
      s->since = room->now;
    n_changed += s->separate != separate || s->mix != mix;
    s->separate = separate;
    s->mix = mix;
  }
  return n_changed;
}

/* A plan that was carried out is found again, unless a stream lost its place
 * that protected louder ones; each of those may lose its own, once. */
static void
check_stable (Room * room)
{
  bool freed;
  uint32_t n_rounds = 0;

  carry_out (room, &freed);
  for (;;) {
    unsigned n_changed;
    bool again;

    decide (room);
    check_order (room);
    check_plan (room);
    n_changed = carry_out (room, &again);
    if (n_changed == 0)
      break;
    CHECK (freed);
    CHECK (n_rounds++ < room->n);
    freed = freed || again;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Fuzz fuzz = {.data = data,.size = size };
  Room room;

  settle (&room, &fuzz);
  while (fuzz_more (&fuzz)) {
    happen (&room, &fuzz);
    decide (&room);
    check_order (&room);
    check_plan (&room);
    check_stable (&room);
  }
  return 0;
}
