/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SELECT_ACTIVITY_H
#define FMX_SELECT_ACTIVITY_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SELECT_ACTIVITY_ATTACK: how fast a louder level counts */
#define FMX_SELECT_ACTIVITY_ATTACK (300 * FMX_MSECOND)
/** FMX_SELECT_ACTIVITY_RELEASE: how slowly a quieter one does */
#define FMX_SELECT_ACTIVITY_RELEASE (5 * FMX_SECOND)
/** FMX_SELECT_ACTIVITY_GAP: without a level for longer than this: silence */
#define FMX_SELECT_ACTIVITY_GAP (100 * FMX_MSECOND)

/**
 * FmxSelectActivity:
 *
 * How much somebody speaks, from the levels of his packets: quick to notice
 * that he begins, slow to conclude that he has finished, since speech is full
 * of pauses.  Between two levels, dt apart,
 *
 * |[
 *   activity += (level - activity) * (1 - exp (-dt / tau))    [dBov]
 * ]|
 *
 * with tau the attack when the level is louder, else the release.  Time
 * without levels (DTX, loss) beyond the gap is silence.
 */
typedef struct
{
  /*< private >*/
  double level_db;
  FmxTime last;
} FmxSelectActivity;

/** fmx_select_activity_init: begins with silence */
void fmx_select_activity_init (FmxSelectActivity * activity);

/**
 * fmx_select_activity_add:
 * @level: of the audio since the level before, in -dBov, 0 loudest ... 127
 */
void fmx_select_activity_add (FmxSelectActivity * activity, uint8_t level,
    FmxTime now);

/** Returns: the activity, in -dBov, 0 loudest ... 127 silence */
uint8_t fmx_select_activity_level (const FmxSelectActivity * activity,
    FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SELECT_ACTIVITY_H */
