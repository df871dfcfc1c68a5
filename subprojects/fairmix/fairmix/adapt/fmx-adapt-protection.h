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

/** FMX_ADAPT_PROTECTION_PERCENT: of loss to provide for, whatever the loss: libopus adds
 * FEC to all bandwidths above 5 % only, and the more it is told, the worse it sounds
 * (docs/algorithms/adapt.md) */
#define FMX_ADAPT_PROTECTION_PERCENT 6

/** FMX_ADAPT_PROTECTION_FROM_BPS: libopus adds no FEC to a lower bitrate, but sounds worse
 * if it is asked to */
#define FMX_ADAPT_PROTECTION_FROM_BPS 20000

/** FMX_ADAPT_PROTECTION_RICH_BPS: from this bitrate on the copies are worth their bits at
 * less loss */
#define FMX_ADAPT_PROTECTION_RICH_BPS 32000

/**
 * FmxAdaptProtection:
 *
 * Whether encoders are to provide for loss with forward error correction, which
 * costs them bitrate: by a smoothed loss, and by their bitrate.
 *
 * |[
 *   loss += (share - loss) * (1 - exp (-dt / 10 s))
 * ]|
 *
 * | bitrate | begins at a loss of | ends below |
 * |---|---|---|
 * | 32 kbit/s or more | 1 % | 0.5 % |
 * | 20 to 32 kbit/s | 2 % | 1 % |
 * | less | never | |
 *
 * That is where a mix with FEC sounds better than one without, by PESQ
 * (docs/algorithms/adapt.md, "Heard"): with 32 kbit/s at 0.9 to 1.3 %, with 24 at 1.3 to
 * 1.9, with 16 nowhere by more than 0.05 points.
 */
typedef struct
{
  /*< private >*/
  double loss;
  uint32_t from_bps;
  FmxTime last;
} FmxAdaptProtection;

/** fmx_adapt_protection_init: no loss, no protection */
void fmx_adapt_protection_init (FmxAdaptProtection * protection);

/**
 * fmx_adapt_protection_on_loss:
 * @share: of the packets of late that were lost, in [0, 1]
 *
 * Returns: from which bitrate on encoders are to provide for loss, in bits/s; 0 = none is
 */
uint32_t fmx_adapt_protection_on_loss (FmxAdaptProtection * protection,
    double share, FmxTime now);

/**
 * fmx_adapt_protection_percent:
 * @from_bps: of fmx_adapt_protection_on_loss()
 * @bitrate_bps: the encoder's
 *
 * Returns: the loss that it is to provide for: #FMX_ADAPT_PROTECTION_PERCENT or 0
 */
uint32_t fmx_adapt_protection_percent (uint32_t from_bps, uint64_t bitrate_bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ADAPT_PROTECTION_H */
