/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RESTART_H
#define FMX_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RESTART_MAX_MISORDER, FMX_RESTART_MAX_DROPOUT: packets that come so much
 * later or earlier than in order still belong to it [RFC3550 A.1] */
#define FMX_RESTART_MAX_MISORDER 100
#define FMX_RESTART_MAX_DROPOUT 3000

/** FMX_RESTART_MAX_BACK, FMX_RESTART_MAX_AHEAD: the RTP time of a newer packet
 * is not older by more, nor ahead of the clock by more: a path may hold packets
 * back, or as many of 120 ms as may be out of order. */
#define FMX_RESTART_MAX_BACK (1 * FMX_SECOND)
#define FMX_RESTART_MAX_AHEAD (15 * FMX_SECOND)

/**
 * FmxRestartVerdict:
 * @FMX_RESTART_NO: the packet goes on with what came before
 * @FMX_RESTART_DOUBTFUL: it does not, alone: not to be used
 * @FMX_RESTART_YES: it is the second or later in a row that does not, and of
 *     what came before there has been nothing for as long as was asked; from here
 *     on all numbers are others
 */
typedef enum
{
  FMX_RESTART_NO,
  FMX_RESTART_DOUBTFUL,
  FMX_RESTART_YES
} FmxRestartVerdict;

/**
 * FmxRestart:
 *
 * Sees when the sender behind an SSRC began anew, with other sequence numbers or
 * other RTP times, without saying so.  One packet alone, from elsewhere or out of
 * the past, is no beginning.
 */
typedef struct
{
  /*< private >*/
  bool started;
  bool doubtful;
  uint16_t last_seq;            /* the highest */
  uint32_t last_ts;             /* its RTP time */
  FmxTime last_time;            /* when it came */
  FmxTime last_heard;           /* when any that goes on came */
  uint16_t next_doubtful_seq;
} FmxRestart;

/** fmx_restart_init: the next packet is the first */
void fmx_restart_init (FmxRestart * restart);

/**
 * fmx_restart_on_packet:
 * @seq: its sequence number
 * @ts: its RTP time
 * @clock_rate_hz: of @ts, > 0
 * @silence: nothing of the old numbers must have come for so long, so that a
 *     second source cannot push the first one out while that one goes on; 0
 *     where it is known that there is but one
 * @now: when it came
 *
 * Source: RFC 3550, appendix A.1, and the same for RTP times
 */
FmxRestartVerdict fmx_restart_on_packet (FmxRestart * restart, uint16_t seq,
    uint32_t ts, uint32_t clock_rate_hz, FmxDuration silence, FmxTime now);

/** fmx_restart_on_padding: @seq holds nothing that could be used: what comes behind it is
 * as much in a row as if it had not been sent */
void fmx_restart_on_padding (FmxRestart * restart, uint16_t seq);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RESTART_H */
