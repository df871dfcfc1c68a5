/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_BBR_SENSE_H
#define FMX_BBR_SENSE_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_BBR_SENSE_INTERVAL: BBR sends next to nothing so long after it last saw a path
 * without a queue ("RTpropFilterLen" of draft-cardwell-iccrg-bbr-congestion-control-00,
 * section 4.3.4.1) */
#define FMX_BBR_SENSE_INTERVAL (10 * FMX_SECOND)

/** FMX_BBR_SENSE_PAUSE: ... for so long, or a round trip ("ProbeRTTDuration") */
#define FMX_BBR_SENSE_PAUSE (200 * FMX_MSECOND)

/** FMX_BBR_SENSE_TIMES: so many pauses, each in time, are no chance. */
#define FMX_BBR_SENSE_TIMES 3u

/**
 * FmxBbrSense:
 *
 * Whether those who fill a queue are BBRs, of which all of a path pause at a time: the queue
 * is short for a moment each ten seconds, and at once as long as before.  Of a window that
 * was halved and grows again it would be short for much longer.
 */
  typedef struct
  {
    /*< private > */
    bool is_short;
    FmxTime short_from;         /* the queue is, or was the last time */
    FmxTime last;               /* pause began; 0 = there was none */
    unsigned n_in_time;         /* in a row, with the first */
    FmxTime known;              /* there were enough, the last time; 0 = never */
  } FmxBbrSense;

/**
 * fmx_bbr_sense_add:
 * @queue: what stands in the queue
 * @peak: the highest of the last half a minute
 * @rtt: the round trip with it
 */
  void fmx_bbr_sense_add (FmxBbrSense *sense, FmxDuration queue,
      FmxDuration peak, FmxDuration rtt, FmxTime now);

/** FMX_BBR_SENSE_HOLDS: so long it is known: some pauses are not to be seen. */
#define FMX_BBR_SENSE_HOLDS (40 * FMX_SECOND)

/** Returns: whether BBRs fill the queue: there were %FMX_BBR_SENSE_TIMES pauses, each in
 * time, within %FMX_BBR_SENSE_HOLDS */
  bool fmx_bbr_sense_is_there (const FmxBbrSense *sense, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_BBR_SENSE_H */
