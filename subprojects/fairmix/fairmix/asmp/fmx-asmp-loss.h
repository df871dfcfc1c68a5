/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_LOSS_H
#define FMX_ASMP_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-serial.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ASMP_LOSS_N: m, the reports that count (ASMP 3.3) */
#define FMX_ASMP_LOSS_N 8u

/**
 * FmxAsmpLoss:
 *
 * The share of lost packets of each report, smoothed over eight of them:
 *
 * |[
 *   l_k = lost / expected between two reports ([RFC3550 A.3])
 *   l   = sum w_k l_k / sum w_k,  w = 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2
 * ]|
 *
 * newest first.  With less than eight reports, the sums are over those.
 * Source: ASMP (2), (3).
 */
typedef struct
{
  /*< private >*/
  FmxSerial seq;
  bool started;
  uint64_t highest;
  uint64_t expected_before;     /* the highest that a report has told of */
  uint64_t received;            /* since the last report */
  unsigned n;
  double fractions[FMX_ASMP_LOSS_N];    /* newest first */
} FmxAsmpLoss;

/** fmx_asmp_loss_init: no packet, no report yet */
void fmx_asmp_loss_init (FmxAsmpLoss * loss);

/** fmx_asmp_loss_on_packet: a packet with this sequence number has come */
void fmx_asmp_loss_on_packet (FmxAsmpLoss * loss, uint16_t seq);

/** fmx_asmp_loss_restart: numbers begin anew with the next packet; what was
 * lost before still counts */
void fmx_asmp_loss_restart (FmxAsmpLoss * loss);

/** fmx_asmp_loss_fraction: Returns: l_k so far, in [0, 1] */
double fmx_asmp_loss_fraction (const FmxAsmpLoss * loss);

/**
 * fmx_asmp_loss_report:
 * @fraction: (out): l_k, in [0, 1]; more packets than were sent count as none
 *     lost
 *
 * Ends the interval of a report.
 * Returns: false if nothing was to be expected in it: then it does not count
 */
bool fmx_asmp_loss_report (FmxAsmpLoss * loss, double *fraction);

/** fmx_asmp_loss_rate: Returns: l, in [0, 1]; 0 before the first report */
double fmx_asmp_loss_rate (const FmxAsmpLoss * loss);

/**
 * fmx_asmp_loss_smooth:
 * @fractions: (array length=n): newest first
 * @n: at most %FMX_ASMP_LOSS_N
 *
 * Returns: the weighted mean (2); 0 for n = 0
 */
double fmx_asmp_loss_smooth (const double *fractions, unsigned n);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_LOSS_H */
