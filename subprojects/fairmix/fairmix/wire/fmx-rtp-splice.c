/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-rtp-splice.h"

#include <assert.h>

#include "fairmix/base/fmx-restart.h"
#include "fairmix/base/fmx-serial.h"

void
fmx_rtp_splice_init (FmxRtpSplice *splice, uint16_t seq, uint32_t ts)
{
  *splice = (FmxRtpSplice) {.last_seq = seq,.last_ts = ts };
}

void
fmx_rtp_splice_begin (FmxRtpSplice *splice, uint16_t seq, uint32_t ts,
    uint32_t elapsed_ts)
{
  splice->seq_delta = (uint16_t) (splice->last_seq + 1 - seq);
  splice->ts_delta = splice->last_ts + elapsed_ts - ts;
}

bool
fmx_rtp_splice_fits (const FmxRtpSplice *splice, uint16_t seq, uint32_t ts,
    uint32_t clock_rate_hz, FmxDuration waited)
{
  bool newer = fmx_serial_diff16 ((uint16_t) (seq + splice->seq_delta),
      splice->last_seq) > 0;
  FmxDuration ahead;

  assert (clock_rate_hz > 0);
  ahead = fmx_serial_diff32 (ts + splice->ts_delta, splice->last_ts)
      * FMX_SECOND / (FmxDuration) clock_rate_hz;
  if (!newer)
    return ahead >= -FMX_RESTART_MAX_AHEAD && ahead <= FMX_RESTART_MAX_BACK;
  return ahead >= -FMX_RESTART_MAX_BACK
      && ahead <= waited + FMX_RESTART_MAX_AHEAD;
}

void
fmx_rtp_splice_map (FmxRtpSplice *splice, uint16_t *seq, uint32_t *ts)
{
  *seq = (uint16_t) (*seq + splice->seq_delta);
  *ts += splice->ts_delta;
  if ((int16_t) (*seq - splice->last_seq) > 0)
    splice->last_seq = *seq;
  if ((int32_t) (*ts - splice->last_ts) > 0)
    splice->last_ts = *ts;
}
