/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-restart.h"

#include <assert.h>

#include "fairmix/base/fmx-serial.h"

void
fmx_restart_init (FmxRestart *restart)
{
  *restart = (FmxRestart) { .started = false };
}

static void
remember (FmxRestart *restart, uint16_t seq, uint32_t ts, FmxTime now)
{
  restart->started = true;
  restart->last_seq = seq;
  restart->last_ts = ts;
  restart->last_time = now;
}

static bool
goes_on (const FmxRestart *restart, uint16_t seq, uint32_t ts,
    uint32_t clock_rate_hz, FmxTime now)
{
  int32_t newer = fmx_serial_diff16 (seq, restart->last_seq);
  FmxDuration ahead = fmx_serial_diff32 (ts, restart->last_ts) * FMX_SECOND
      / (FmxDuration) clock_rate_hz;
  FmxDuration waited = fmx_time_diff (now, restart->last_time);

  if (newer <= 0)
    return newer >= -FMX_RESTART_MAX_MISORDER && ahead <= FMX_RESTART_MAX_BACK
        && ahead >= -FMX_RESTART_MAX_AHEAD;
  return newer <= FMX_RESTART_MAX_DROPOUT && ahead >= -FMX_RESTART_MAX_BACK
      && ahead <= waited + FMX_RESTART_MAX_AHEAD;
}

FmxRestartVerdict
fmx_restart_on_packet (FmxRestart *restart, uint16_t seq, uint32_t ts,
    uint32_t clock_rate_hz, FmxDuration silence, FmxTime now)
{
  bool first = !restart->started;

  assert (clock_rate_hz > 0);

  if (first || goes_on (restart, seq, ts, clock_rate_hz, now)) {
    if (first || fmx_serial_diff16 (seq, restart->last_seq) > 0)
      remember (restart, seq, ts, now);
    restart->last_heard = now;
    restart->doubtful = false;
    return FMX_RESTART_NO;
  }
  if (restart->doubtful && seq == restart->next_doubtful_seq
      && fmx_time_diff (now, restart->last_heard) >= silence) {
    remember (restart, seq, ts, now);
    restart->last_heard = now;
    restart->doubtful = false;
    return FMX_RESTART_YES;
  }
  restart->doubtful = true;
  restart->next_doubtful_seq = (uint16_t) (seq + 1);
  return FMX_RESTART_DOUBTFUL;
}

void
fmx_restart_on_padding (FmxRestart *restart, uint16_t seq)
{
  if (restart->doubtful && seq == restart->next_doubtful_seq)
    restart->next_doubtful_seq++;
}
