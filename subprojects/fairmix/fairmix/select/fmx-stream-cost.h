/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_STREAM_COST_H
#define FMX_STREAM_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_STREAM_COST_SPEAKING: a stream without packets for so long is not
 * speaking any more */
#define FMX_STREAM_COST_SPEAKING (200 * FMX_MSECOND)
/** FMX_STREAM_COST_PACKETS: a speaker's rate is a mean over about so many */
#define FMX_STREAM_COST_PACKETS 32u

/** FMX_STREAM_COST_BURST: so many times what a speaker's packets say may come in a second,
 * after a path stood still; what is more costs what it is */
#define FMX_STREAM_COST_BURST 3.0

/**
 * FmxStreamCostPacket:
 * @wire_bytes: with all headers, in bytes
 * @duration: of its audio, as it says, > 0
 * @silent: a packet of comfort noise, or one whose level says silence
 */
typedef struct
{
  uint32_t wire_bytes;
  FmxDuration duration;
  bool silent;
} FmxStreamCostPacket;

/**
 * FmxStreamCost:
 *
 * What it costs to forward a stream, in bits/s on the wire, as a selection
 * needs it: at rest while somebody speaks, whatever the jitter, and right at
 * once when he begins to.
 *
 * |[
 *   speaking:  mean over packets of  8 wire_bytes / duration, unless more than three
 *              times as much came in the last second
 *   else:      8 wire_bytes of the last second / 1 s
 * ]|
 */
typedef struct
{
  /*< private >*/
  FmxRateMeter meter;
  FmxTime first;
  FmxTime last;
  double active_bps;
  bool speaking;
} FmxStreamCost;

void fmx_stream_cost_init (FmxStreamCost * cost);

/** fmx_stream_cost_add: @packet arrived at @now */
void fmx_stream_cost_add (FmxStreamCost * cost,
    const FmxStreamCostPacket * packet, FmxTime now);

/** Returns: whether the latest packets were speech */
bool fmx_stream_cost_speaks (const FmxStreamCost * cost, FmxTime now);

/** Returns: what it costs now, in bits/s on the wire; %UINT32_MAX: that or more */
uint32_t fmx_stream_cost_bps (const FmxStreamCost * cost, FmxTime now);

/** Returns: what came in the last second, in bits/s on the wire */
double fmx_stream_cost_metered_bps (const FmxStreamCost * cost, FmxTime now);

/** FMX_STREAM_NEWS_SHARE: a cost that moved by more than one part in so many (3
 * %) is worth a new selection ... */
#define FMX_STREAM_NEWS_SHARE 32u
/** FMX_STREAM_NEWS_DB: ... and so is a level that moved by so much */
#define FMX_STREAM_NEWS_DB 3

/**
 * FmxStreamNews:
 *
 * What a selection knew of a stream.  Begin with zeros.
 */
typedef struct
{
  /*< private >*/
  uint32_t bps;
  uint8_t level;
} FmxStreamNews;

/**
 * fmx_stream_news_update:
 * @bps: what the stream costs now
 * @level: its activity now, in -dBov
 *
 * Returns: whether either moved noticeably since this was last so
 */
bool fmx_stream_news_update (FmxStreamNews * news, uint32_t bps,
    uint8_t level);

#ifdef __cplusplus
}
#endif

#endif /* FMX_STREAM_COST_H */
