/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_DROP_WATCH_H
#define FMX_DROP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxDropWatchParams:
 * @window: over which drops are counted, > 0
 * @n_windows: so many windows in a row make it sustained, > 0
 * @share: of the packets of a window that must have been dropped, in (0, 1]
 */
typedef struct
{
  FmxDuration window;
  uint32_t n_windows;
  double share;
} FmxDropWatchParams;

/**
 * FmxDropWatchChange:
 * @FMX_DROP_WATCH_NONE: as before
 * @FMX_DROP_WATCH_BEGAN: losses are sustained from here on
 * @FMX_DROP_WATCH_ENDED: no longer
 */
typedef enum
{
  FMX_DROP_WATCH_NONE,
  FMX_DROP_WATCH_BEGAN,
  FMX_DROP_WATCH_ENDED
} FmxDropWatchChange;

/**
 * FmxDropWatch:
 *
 * Tells losses that last from those that any queue has now and then.
 */
typedef struct
{
  /*< private >*/
  FmxTime begin;
  uint64_t n_packets, n_dropped;
  uint32_t n_bad;               /* windows in a row */
  bool sustained;
  double share;                 /* of the last window */
} FmxDropWatch;

/** fmx_drop_watch_params_default: 5 % in each of three seconds */
void fmx_drop_watch_params_default (FmxDropWatchParams * params);

void fmx_drop_watch_init (FmxDropWatch * watch);

/**
 * fmx_drop_watch_on_packet:
 * @dropped: whether it was
 *
 * A window ends with the first packet after it; seconds without packets are
 * neither good nor bad, but more than a window of them begins anew.
 */
FmxDropWatchChange fmx_drop_watch_on_packet (FmxDropWatch * watch,
    const FmxDropWatchParams * params, bool dropped, FmxTime now);

/** Returns: the share dropped in the last complete window, in [0, 1] */
double fmx_drop_watch_get_share (const FmxDropWatch * watch);

#ifdef __cplusplus
}
#endif

#endif /* FMX_DROP_WATCH_H */
