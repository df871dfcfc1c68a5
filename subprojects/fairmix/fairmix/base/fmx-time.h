/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TIME_H
#define FMX_TIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxTime:
 *
 * A point in time, in nanoseconds since an epoch that the caller chooses and
 * keeps.  The library never reads a clock: every function that needs the time
 * takes it as its last argument, @now, which never goes backwards.
 */
typedef uint64_t FmxTime;

/**
 * FmxDuration:
 *
 * A difference of two #FmxTime, in nanoseconds; negative where that makes
 * sense.
 */
typedef int64_t FmxDuration;

/** FMX_TIME_NONE: no time at all: "not yet", "never". */
#define FMX_TIME_NONE UINT64_MAX

#define FMX_USECOND INT64_C (1000)
#define FMX_MSECOND INT64_C (1000000)
#define FMX_SECOND INT64_C (1000000000)

/**
 * fmx_time_diff:
 *
 * Returns: @a - @b, in nanoseconds; neither may be %FMX_TIME_NONE
 */
static inline FmxDuration
fmx_time_diff (FmxTime a, FmxTime b)
{
  return (FmxDuration) (a - b);
}

/**
 * fmx_time_min:
 *
 * Returns: the earlier of the two; %FMX_TIME_NONE is later than everything
 */
static inline FmxTime
fmx_time_min (FmxTime a, FmxTime b)
{
  return a < b ? a : b;
}

/** fmx_time_max: Returns: the later of the two */
static inline FmxTime
fmx_time_max (FmxTime a, FmxTime b)
{
  return a > b ? a : b;
}

/**
 * fmx_time_to_s:
 *
 * Returns: @d in seconds
 */
static inline double
fmx_time_to_s (FmxDuration d)
{
  return (double) d / (double) FMX_SECOND;
}

/**
 * fmx_time_from_s:
 *
 * Returns: @s seconds, in nanoseconds, cut at +-100 years
 */
static inline FmxDuration
fmx_time_from_s (double s)
{
  const double limit_s = 3.15e9;

  if (s > limit_s)
    s = limit_s;
  if (s < -limit_s)
    s = -limit_s;
  return (FmxDuration) (s * (double) FMX_SECOND);
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_TIME_H */
