/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_REPORT_TURNS_H
#define FMX_REPORT_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_REPORT_TURNS_STREAMS: SSRCs that take turns; those beyond report each time */
#define FMX_REPORT_TURNS_STREAMS 256u

/** FMX_REPORT_TURNS_TIME: so long the reports of one round may take on the path */
#define FMX_REPORT_TURNS_TIME (20 * FMX_MSECOND)

/** FmxReportTurn: private to #FmxReportTurns */
typedef struct
{
  /*< private >*/
  uint32_t ssrc;
  uint32_t seen;                /* the last round in which it wanted to report ... */
  uint32_t sent;                /* ... and in which it did */
  uint32_t before;              /* likewise, when this round began */
} FmxReportTurn;

/**
 * FmxReportTurns:
 *
 * Which of a session's SSRCs report now, where the session asks all of them at once: one
 * after the other, in rounds, each SSRC once in a round.  Reports of all in one burst are a
 * queue on a narrow path, and all media behind it is late.  An SSRC of a session with many
 * has an interval of its own [RFC8108 5.1], and rarer reports than it allows are no harm.
 *
 * The first of a round always reports, so that the session does; so does an SSRC the first
 * time, which tells its name.  The others take turns: who waited longest is next.
 */
typedef struct
{
  /*< private >*/
  uint32_t round;
  uint32_t first;               /* SSRC, of this round */
  unsigned n;
  FmxReportTurn turns[FMX_REPORT_TURNS_STREAMS];
} FmxReportTurns;

void fmx_report_turns_init (FmxReportTurns * turns);

/**
 * fmx_report_turns_take:
 * @ssrc: whose report it is
 * @wire_bytes: of the report
 * @bps: that the path has room for
 *
 * O(streams).
 *
 * Returns: whether it reports in this round
 */
bool fmx_report_turns_take (FmxReportTurns * turns, uint32_t ssrc,
    uint32_t wire_bytes, uint64_t bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_REPORT_TURNS_H */
