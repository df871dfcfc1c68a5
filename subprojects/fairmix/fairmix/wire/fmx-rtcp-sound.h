/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTCP_SOUND_H
#define FMX_RTCP_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * fmx_rtcp_is_sound:
 * @data: a datagram of RTCP
 * @size: its length, in bytes
 *
 * For who hands it on to others, which may trust the lengths in it.  Sound is what
 * #FmxRtcpReader accepts, and where each packet holds all that it announces: a report
 * its blocks, a description its chunks and their items (the prefix of a private one,
 * too), a BYE its sources and its reason, feedback its two SSRCs, transport-wide and
 * congestion control feedback all that they tell, an extended report its blocks.  Behind
 * the last chunk, and in what pads it, are zeros only: who reads on finds nothing.
 *
 * Returns: false for anything else; a datagram of unknown packet types is sound
 */
bool fmx_rtcp_is_sound (const uint8_t * data, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RTCP_SOUND_H */
