/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PLAYOUT_DELAY_H
#define FMX_PLAYOUT_DELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_PLAYOUT_DELAY_BYTES: length of the header extension element */
#define FMX_PLAYOUT_DELAY_BYTES 3u
/** FMX_PLAYOUT_DELAY_STEP: unit of both delays, and FMX_PLAYOUT_DELAY_MOST what
 * can be said with it */
#define FMX_PLAYOUT_DELAY_STEP (10 * FMX_MSECOND)
#define FMX_PLAYOUT_DELAY_MOST (4095 * FMX_PLAYOUT_DELAY_STEP)

/**
 * fmx_playout_delay_parse:
 * @data: the payload of the header extension element
 * @size: its length, in bytes
 * @least, @most: (out): what a receiver is asked to delay playout by, in
 *     [0, %FMX_PLAYOUT_DELAY_MOST]
 *
 * What a sender knows that the receiver's network does not show, such as what
 * its own congestion control asks for:
 * http://www.webrtc.org/experiments/rtp-hdrext/playout-delay
 *
 * Returns: false if it is not one, or asks for less at most than at least
 */
bool fmx_playout_delay_parse (const uint8_t * data, size_t size,
    FmxDuration * least, FmxDuration * most);

/**
 * fmx_playout_delay_write:
 * @least, @most: >= 0, @most >= @least: are rounded up, and cut to what can be
 *     said
 *
 * Returns: bytes written, 0 if @size is too small
 */
size_t fmx_playout_delay_write (uint8_t * data, size_t size,
    FmxDuration least, FmxDuration most);

#ifdef __cplusplus
}
#endif

#endif /* FMX_PLAYOUT_DELAY_H */
