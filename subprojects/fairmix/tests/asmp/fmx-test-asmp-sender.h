/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TEST_ASMP_SENDER_H
#define FMX_TEST_ASMP_SENDER_H

/* A sender, and reports that a test makes up. */

#include <stdbool.h>
#include <stdlib.h>

#include "fmx-test-asmp.h"

#include "fairmix/asmp/fmx-asmp-equation.h"
#include "fairmix/asmp/fmx-asmp-sender.h"
#include "fairmix/base/fmx-rng.h"
#include "fairmix/rate/fmx-tcp-equation.h"

#define MEDIA 0xcafeu
#define N_MAX 64u
#define N_MANY 10000u
#define RTT_MID32 6554u         /* 0.1 s */

typedef struct
{
  FmxAsmpSender sender;
  FmxTime now;
  uint32_t highest_seq;
  void *memory;
} Rig;

static inline void
rig_init (Rig *rig, FmxAsmpAlgorithm algorithm, uint32_t n_max)
{
  FmxAsmpSenderParams params;

  fmx_asmp_sender_params_default (&params);
  params.algorithm = algorithm;
  params.initial_bps = 500000;
  rig->memory = malloc (n_max * FMX_ASMP_BYTES_PER_RECEIVER);
  rig->now = 1000 * FMX_SECOND;
  rig->highest_seq = 1000;
  fmx_asmp_sender_init (&rig->sender, &params, rig->memory, n_max, 1);
}

#define rig_clear(rig) free ((rig)->memory)

static inline double
target (const Rig *rig)
{
  return fmx_asmp_sender_target_bps (&rig->sender);
}

static inline uint32_t
limiting (const Rig *rig)
{
  FmxAsmpSenderStats stats;

  fmx_asmp_sender_get_stats (&rig->sender, &stats);
  return stats.limiting_ssrc;
}

static inline void
rig_report (Rig *rig, uint32_t ssrc, uint8_t fraction)
{
  FmxReportBlock block = { MEDIA, fraction, 0, rig->highest_seq, 0, 0x10000,
    0x8000
  };

  fmx_asmp_sender_on_report (&rig->sender, ssrc, &block,
      0x10000 + 0x8000 + RTT_MID32, rig->now);
}

/* A report with a rate that agrees with itself */
static inline void
rig_rate (Rig *rig, uint32_t ssrc, uint32_t bps)
{
  FmxTcpPath path = fmx_tcp_path (FMX_TCP_SEGMENT_BYTES, FMX_SECOND / 10);
  FmxAsmpRate rate = { MEDIA, bps, FMX_SECOND / 10, 0.0, bps, true, false,
    true
  };

  if (bps > 0)
    rate.loss = fmx_tcp_equation_inverse (&path, bps);
  rig_report (rig, ssrc, 0);
  fmx_asmp_sender_on_rate (&rig->sender, ssrc, &rate, rig->now);
}

#endif /* FMX_TEST_ASMP_SENDER_H */
