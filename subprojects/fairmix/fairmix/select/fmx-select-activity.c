/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/select/fmx-select-activity.h"

#include <math.h>

#include "fairmix/select/fmx-select.h"

void
fmx_select_activity_init (FmxSelectActivity *activity)
{
  activity->level_db = FMX_LEVEL_SILENCE;
  activity->last = FMX_TIME_NONE;
}

static double
follow (double level_db, double target_db, FmxDuration duration)
{
  FmxDuration tau = target_db < level_db ? FMX_SELECT_ACTIVITY_ATTACK
      : FMX_SELECT_ACTIVITY_RELEASE;
  double share = 1.0 - exp (-fmx_time_to_s (duration) / fmx_time_to_s (tau));

  return level_db + share * (target_db - level_db);
}

/* What is left when nothing was heard for @duration. */
static double
fade (double level_db, FmxDuration duration)
{
  if (duration <= FMX_SELECT_ACTIVITY_GAP)
    return level_db;
  return follow (level_db, FMX_LEVEL_SILENCE,
      duration - FMX_SELECT_ACTIVITY_GAP);
}

void
fmx_select_activity_add (FmxSelectActivity *activity, uint8_t level,
    FmxTime now)
{
  double target_db = level < FMX_LEVEL_SILENCE ? level : FMX_LEVEL_SILENCE;

  if (activity->last != FMX_TIME_NONE && now > activity->last) {
    FmxDuration duration = fmx_time_diff (now, activity->last);

    activity->level_db = fade (activity->level_db, duration);
    if (duration > FMX_SELECT_ACTIVITY_GAP)
      duration = FMX_SELECT_ACTIVITY_GAP;
    activity->level_db = follow (activity->level_db, target_db, duration);
  }
  activity->last = now;
}

uint8_t
fmx_select_activity_level (const FmxSelectActivity *activity, FmxTime now)
{
  if (activity->last == FMX_TIME_NONE || now <= activity->last)
    return (uint8_t) lround (activity->level_db);
  return (uint8_t) lround (fade (activity->level_db,
          fmx_time_diff (now, activity->last)));
}
