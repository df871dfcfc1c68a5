/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_PROTECTION_H
#define FMX_ADAPT_PROTECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ADAPT_PROTECTION_MEMORY: over how much time the loss is smoothed */
#define FMX_ADAPT_PROTECTION_MEMORY (10 * FMX_SECOND)

/** FMX_ADAPT_PROTECTION_PERCENT: of loss to provide for, whatever the loss: libopus adds
 * FEC to all bandwidths above 5 % only, and the more it is told, the worse it sounds
 * (docs/algorithms/adapt.md) */
#define FMX_ADAPT_PROTECTION_PERCENT 6

/** FMX_ADAPT_PROTECTION_FROM_BPS: libopus adds no FEC to a lower bitrate, but sounds worse
 * if it is asked to */
#define FMX_ADAPT_PROTECTION_FROM_BPS 20000

/**
 * FmxAdaptProtection:
 *
 * Whether an encoder is to provide for loss with forward error correction, which
 * costs it bitrate: from a smoothed loss of 1 % on, and no more below 0.5 %.
 *
 * |[
 *   loss += (share - loss) * (1 - exp (-dt / 10 s))
 * ]|
 */
typedef struct
{
  /*< private >*/
  double loss;
  bool on;
  FmxTime last;
} FmxAdaptProtection;

/** fmx_adapt_protection_init: no loss, no protection */
void fmx_adapt_protection_init (FmxAdaptProtection * protection);

/**
 * fmx_adapt_protection_on_loss:
 * @share: of the packets of late that were lost, in [0, 1]
 *
 * Returns: the loss to provide for, in percent: #FMX_ADAPT_PROTECTION_PERCENT or 0
 */
uint32_t fmx_adapt_protection_on_loss (FmxAdaptProtection * protection,
    double share, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_PROTECTION_H */
