/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_AUDIO_LEVEL_H
#define FMX_AUDIO_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_CSRC_MAX: an RTP header carries at most so many CSRCs. */
#define FMX_CSRC_MAX 15u

/**
 * fmx_audio_level_parse:
 * @data: the payload of the one- or two-byte header extension element
 * @size: its length, in bytes
 * @level: (out): in -dBov, 0 loudest ... 127 silence
 * @voice: (out): the V bit
 *
 * Client-to-mixer audio level ([RFC6464 3]).
 * Returns: false if it is not one
 */
bool fmx_audio_level_parse (const uint8_t * data, size_t size, uint8_t * level,
    bool * voice);

/** fmx_audio_level_write: Returns: bytes written (1), 0 if @size is too small */
size_t fmx_audio_level_write (uint8_t * data, size_t size, uint8_t level,
    bool voice);

/**
 * fmx_csrc_audio_levels_write:
 * @levels: (array length=n): one for each CSRC, in their order, in -dBov
 *
 * Mixer-to-client audio levels ([RFC6465 3]).
 * Returns: bytes written (@n), 0 if they do not fit or @n is not 1 ... 15
 */
size_t fmx_csrc_audio_levels_write (uint8_t * data, size_t size,
    const uint8_t * levels, size_t n);

/**
 * fmx_csrc_audio_levels_parse:
 * @data: the payload of the header extension element
 * @size: its length, in bytes: one for each CSRC
 * @levels: (out) (array length=max): in the order of the CSRCs, in -dBov
 * @max: how many fit; %FMX_CSRC_MAX always do
 *
 * Returns: how many were there, 0 if it is malformed or they do not fit
 */
size_t fmx_csrc_audio_levels_parse (const uint8_t * data, size_t size,
    uint8_t * levels, size_t max);

#ifdef __cplusplus
}
#endif

#endif /* FMX_AUDIO_LEVEL_H */
