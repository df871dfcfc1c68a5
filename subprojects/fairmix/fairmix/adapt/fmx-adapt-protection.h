/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ADAPT_PROTECTION_H
#define FMX_ADAPT_PROTECTION_H

#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ADAPT_PROTECTION_MEMORY: over how much time the loss is smoothed */
#define FMX_ADAPT_PROTECTION_MEMORY (10 * FMX_SECOND)

/**
 * FmxAdaptProtection:
 *
 * For how much loss an encoder is to provide with forward error correction, which
 * costs it bitrate: for none below 1 %, for the smoothed loss, rounded up, from
 * there on, and for none again below 0.5 %.
 *
 * |[
 *   loss += (share - loss) * (1 - exp (-dt / 10 s))
 * ]|
 */
typedef struct
{
  /*< private >*/
  double loss;
  uint32_t percent;
  FmxTime last;
} FmxAdaptProtection;

/** fmx_adapt_protection_init: no loss, no protection */
void fmx_adapt_protection_init (FmxAdaptProtection * protection);

/**
 * fmx_adapt_protection_on_loss:
 * @share: of the packets of late that were lost, in [0, 1]
 *
 * Returns: the loss to provide for, in percent, at most 20; 0 is none.  It moves
 *     by 2 at least.
 */
uint32_t fmx_adapt_protection_on_loss (FmxAdaptProtection * protection,
    double share, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_PROTECTION_H */
