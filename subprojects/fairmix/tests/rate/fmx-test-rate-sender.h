/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_RATE_SENDER_H
#define FMX_TEST_RATE_SENDER_H

#include "fmx-test.h"

#include "fairmix/rate/fmx-rate-sender.h"

#define MS FMX_MSECOND
#define S FMX_SECOND
#define OWD (50 * MS)           /* one way; the round trip is 100 ms */

static FmxRateSender sender;

static inline void
start (void)
{
  FmxRateSenderParams params;

  fmx_rate_sender_params_default (&params);
  fmx_rate_sender_init (&sender, &params, 0);
}

static inline uint32_t
mid32 (FmxTime t)
{
  return (uint32_t) (t * 65536 / (FmxTime) S);
}

static inline FmxRateSenderStats
stats_at (FmxTime now)
{
  FmxRateSenderStats stats;

  fmx_rate_sender_get_stats (&sender, &stats, now);
  return stats;
}

/* Packet @seq is sent at @seq * 20 ms, by stream 1. */
static inline FmxTime
at (unsigned seq)
{
  return seq * (FmxTime) (20 * MS);
}

/* Stream 1 sends packet @seq of 200 bytes; what is due before, happens. */
static inline void
leave_at (uint16_t seq, FmxTime now)
{
  while (fmx_rate_sender_next_timeout (&sender) <= now)
    fmx_rate_sender_on_timeout (&sender, now);
  fmx_rate_sender_on_sent (&sender, 1, seq, 200, now);
}

static inline void
leave (unsigned from, unsigned until)
{
  for (unsigned seq = from; seq < until; seq++)
    leave_at ((uint16_t) seq, at (seq));
}

/* Feedback about [@from, @until), made as the last of them arrived; those with
 * @lost (seq) are missing. */
static inline void
report (unsigned from, unsigned until, bool (*lost) (unsigned seq))
{
  FmxCcfbMetric metrics[512];
  FmxTime made = at (until - 1) + OWD;
  size_t n = 0;

  assert_true (until - from <= N_ELEMENTS (metrics));
  for (unsigned seq = from; seq < until; seq++)
    metrics[n++] = (FmxCcfbMetric) { 1, (uint16_t) seq,
      lost == NULL || !lost (seq), 0, (FmxDuration) (made - at (seq) - OWD)
    };
  fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (made), made + OWD);
}

/* Reports of three packets each over [@from, @until), as they are sent. */
static inline void
run (unsigned from, unsigned until, bool (*lost) (unsigned seq))
{
  for (unsigned seq = from; seq < until; seq += 3) {
    leave (seq, seq + 3);
    if (seq >= from + 6)
      report (seq - 6, seq - 3, lost);
  }
  report (until - 6, until - 3, lost);
  report (until - 3, until, lost);
}

#endif /* FMX_TEST_RATE_SENDER_H */
