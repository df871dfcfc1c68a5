/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-handover.h"

#include <assert.h>

#define UNKNOWN FMX_POSITION_UNKNOWN

void
fmx_handover_init (FmxHandover *handover, FmxHandoverWay way, uint32_t mix,
    FmxTime now)
{
  *handover = (FmxHandover) {
    .way = (uint8_t) way,
    .before = (uint8_t) way,
    .mix = (uint8_t) mix,
    .old_mix = (uint8_t) mix,
    .from = UNKNOWN,
    .until = UNKNOWN,
    .switch_pos = UNKNOWN,
    .since = now,
  };
}

void
fmx_handover_restart (FmxHandover *handover)
{
  handover->before = handover->way;
  handover->boundary_ts = 0;
}

/* FALSE: it is still crossing into the mix that it is in. */
static bool
change_mix (FmxHandover *handover, uint32_t mix, int64_t mix_pos)
{
  if (mix == handover->mix)
    return true;
  if (handover->switch_pos != UNKNOWN && handover->switch_pos >= mix_pos)
    return false;
  handover->old_mix = handover->mix;
  handover->mix = (uint8_t) mix;
  handover->switch_pos = mix_pos;
  return true;
}

static void
leave_mix (FmxHandover *handover, const FmxHandoverPoint *point)
{
  bool entered = handover->from != UNKNOWN;

  handover->until = point->next_pos != UNKNOWN ? point->next_pos
      : point->mix_pos;
  /* It was to enter a mix but no packet has come since: as if nothing had been;
   * packets before the boundary keep their way. */
  if (!entered)
    return;
  handover->before = handover->way;
  handover->boundary_ts = point->next_ts;
}

bool
fmx_handover_change (FmxHandover *handover, FmxHandoverWay way, uint32_t mix,
    const FmxHandoverPoint *point, FmxTime now)
{
  if (way == handover->way)
    return way != FMX_HANDOVER_MIXED
        || change_mix (handover, mix, point->mix_pos);

  if (handover->way == FMX_HANDOVER_MIXED) {
    leave_mix (handover, point);
  } else {
    /* its last stay in a mix is still being played */
    if (way == FMX_HANDOVER_MIXED && handover->from != UNKNOWN
        && handover->until > point->mix_pos)
      return false;
    handover->before = handover->way;
    handover->boundary_ts = point->next_ts;
  }
  if (way == FMX_HANDOVER_MIXED) {
    handover->mix = handover->old_mix = (uint8_t) mix;
    handover->from = point->next_pos;
    handover->until = UNKNOWN;
    handover->switch_pos = UNKNOWN;
  }
  handover->way = (uint8_t) way;
  handover->since = now;
  return true;
}

bool
fmx_handover_waits_for (const FmxHandover *handover, uint64_t ext_ts)
{
  return handover->way == FMX_HANDOVER_MIXED && handover->from == UNKNOWN
      && ext_ts >= handover->boundary_ts;
}

void
fmx_handover_place (FmxHandover *handover, uint64_t ext_ts, int64_t pos,
    uint32_t clock_rate, uint32_t rate_hz)
{
  /* a stream that was not heard here before begins with this packet */
  uint64_t start = handover->boundary_ts > 0 ? handover->boundary_ts : ext_ts;

  handover->from = fmx_media_position (start, ext_ts, pos, clock_rate,
      rate_hz);
}

uint64_t
fmx_handover_settled_ts (const FmxHandover *handover)
{
  if (handover->way == FMX_HANDOVER_SEPARATE)
    return UINT64_MAX;
  if (handover->way == FMX_HANDOVER_MIXED && handover->from == UNKNOWN)
    return UINT64_MAX;
  return handover->before == FMX_HANDOVER_SEPARATE ? handover->boundary_ts : 0;
}

static int64_t
min64 (int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static int64_t
max64 (int64_t a, int64_t b)
{
  return a > b ? a : b;
}

bool
fmx_handover_contributes (const FmxHandover *handover, uint32_t mix,
    int64_t pos, uint32_t n_samples, FmxMixEnvelope *envelope)
{
  int64_t ramp = (int64_t) envelope->ramp;

  if (handover->from == UNKNOWN)
    return false;
  envelope->from = handover->from;
  envelope->until = handover->until;

  if (handover->switch_pos != UNKNOWN && pos < handover->switch_pos + ramp) {
    /* from one mix to another: they cross over in the first ramp */
    if (mix == handover->mix)
      envelope->from = max64 (envelope->from, handover->switch_pos);
    else if (mix == handover->old_mix)
      envelope->until = min64 (envelope->until, handover->switch_pos + ramp);
    else
      return false;
  } else if (mix != handover->mix) {
    return false;
  }
  return envelope->from < pos + (int64_t) n_samples && envelope->until > pos;
}

bool
fmx_handover_is_steady (const FmxHandover *handover, int64_t pos,
    uint32_t ramp)
{
  int64_t fade = (int64_t) ramp;

  return handover->way == FMX_HANDOVER_MIXED && handover->mix == 0
      && handover->from != UNKNOWN && pos >= handover->from + fade
      && handover->until == UNKNOWN && (handover->switch_pos == UNKNOWN
      || pos >= handover->switch_pos + fade);
}

int64_t
fmx_media_position (uint64_t ext_ts, uint64_t ref_ts, int64_t ref_pos,
    uint32_t clock_rate, uint32_t rate_hz)
{
  uint64_t apart = ext_ts > ref_ts ? ext_ts - ref_ts : ref_ts - ext_ts;
  uint64_t rest;
  int64_t samples;

  assert (clock_rate > 0);
  /* in two parts, so that no product overflows */
  rest = apart % clock_rate;
  samples = (int64_t) (apart / clock_rate * rate_hz
      + (rest * rate_hz + clock_rate / 2) / clock_rate);
  return ext_ts > ref_ts ? ref_pos + samples : ref_pos - samples;
}
