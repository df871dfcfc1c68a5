/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_LOSS_FRACTION_H
#define FMX_LOSS_FRACTION_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_LOSS_FRACTION_SLOTS: the window is cut into so many slots. */
#define FMX_LOSS_FRACTION_SLOTS 30u

/**
 * FmxLossFraction:
 *
 * The share of lost packets among those sent during a window, which ends with
 * the last packet whose fate is known.  Where p counts loss events, this counts
 * packets: what the listener hears.
 */
typedef struct
{
  /*< private >*/
  FmxDuration slot;
  uint64_t newest;              /* number of the newest slot */
  uint32_t total[FMX_LOSS_FRACTION_SLOTS];
  uint32_t lost[FMX_LOSS_FRACTION_SLOTS];
} FmxLossFraction;

/**
 * fmx_loss_fraction_init:
 * @window: how far back to look, > 0; [RFC3714 5.3] calls five seconds
 *     persistent
 */
void fmx_loss_fraction_init (FmxLossFraction * fraction, FmxDuration window);

/**
 * fmx_loss_fraction_add:
 * @n_received: packets sent around @sent that arrived
 * @n_lost: packets sent around @sent that were lost
 */
void fmx_loss_fraction_add (FmxLossFraction * fraction, uint32_t n_received,
    uint32_t n_lost, FmxTime sent);

/** fmx_loss_fraction_take_back: one packet sent at @sent that was counted as
 * lost arrived after all */
void fmx_loss_fraction_take_back (FmxLossFraction * fraction, FmxTime sent);

/** fmx_loss_fraction_count: Returns: packets in the window */
uint32_t fmx_loss_fraction_count (const FmxLossFraction * fraction);

/** fmx_loss_fraction_get: Returns: lost / all, in [0, 1]; 0 if there are none */
double fmx_loss_fraction_get (const FmxLossFraction * fraction);

/**
 * fmx_loss_fraction_get_since:
 * @since: packets sent before do not count, give or take a slot
 * @least: that few are no statistics
 *
 * Returns: lost / all, in [0, 1]; 0 if there are fewer than @least
 */
double fmx_loss_fraction_get_since (const FmxLossFraction * fraction,
    FmxTime since, uint32_t least);

#ifdef __cplusplus
}
#endif

#endif /* FMX_LOSS_FRACTION_H */
