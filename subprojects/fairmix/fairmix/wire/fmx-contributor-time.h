/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_CONTRIBUTOR_TIME_H
#define FMX_CONTRIBUTOR_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_CONTRIBUTOR_TIME_URN: names the header extension in SDP and caps */
#define FMX_CONTRIBUTOR_TIME_URN "urn:x-fairmix:rtp-hdrext:contributor-time"
/** FMX_CONTRIBUTOR_TIME_BYTES: length of the header extension element */
#define FMX_CONTRIBUTOR_TIME_BYTES 9u

/**
 * FmxContributorTime:
 * @ssrc: of a stream whose voice is in the mix, or may enter it
 * @timestamp: what it says at this RTP timestamp of its own, the mix says at that of the
 *     packet
 * @mixed: it is in the mix; else it is where it would be
 *
 * Where a mix stands against one of the streams that it is made of.
 */
typedef struct
{
  uint32_t ssrc;
  uint32_t timestamp;
  bool mixed;
} FmxContributorTime;

/** fmx_contributor_time_write: Returns: bytes written, 0 if @size is too small */
size_t fmx_contributor_time_write (uint8_t * data, size_t size,
    const FmxContributorTime * time);

/** fmx_contributor_time_parse: Returns: false if it is not one */
bool fmx_contributor_time_parse (const uint8_t * data, size_t size,
    FmxContributorTime * time);

#ifdef __cplusplus
}
#endif

#endif /* FMX_CONTRIBUTOR_TIME_H */
