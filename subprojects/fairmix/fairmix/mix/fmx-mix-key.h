/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MIX_KEY_H
#define FMX_MIX_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/mix/fmx-mix-envelope.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxMixKey:
 *
 * What identifies a mix: listeners with equal keys hear the very same and share
 * one encoder.  0 is the mix of nobody.
 *
 * Every stream has a random key; a mix's key is the exclusive or of its
 * members', so that adding or taking away a member costs one operation,
 * whatever the number of members.  With 64 random bits two of a million
 * different mixes are taken for the same with a probability of 3e-8.
 */
typedef uint64_t FmxMixKey;

/** fmx_mix_key_toggle: Returns: @key with the member @stream added, or, if it is
 * one, taken away */
static inline FmxMixKey
fmx_mix_key_toggle (FmxMixKey key, FmxMixKey stream)
{
  return key ^ stream;
}

/**
 * fmx_mix_key_of_ramped:
 * @stream: the key of a stream
 * @envelope: how it fades in or out ...
 * @pos: ... in the frame that begins here
 *
 * Returns: the key of the stream with that fade: another one for another fade,
 *     the same for the same fade in a frame elsewhere
 */
FmxMixKey fmx_mix_key_of_ramped (FmxMixKey stream,
    const FmxMixEnvelope * envelope, int64_t pos);

/**
 * fmx_mix_key_of_gain:
 * @stream: the key of a stream
 * @gain: linear, relative to what others hear of it
 *
 * Returns: the key of the stream at that gain: @stream at 1, another one for any
 *     other gain
 */
FmxMixKey fmx_mix_key_of_gain (FmxMixKey stream, float gain);

/**
 * fmx_mix_key_of_encoding:
 * @key: of the members
 * @bitrate_bps: of the encoder
 * @encoding: the caller's number for the encoding
 *
 * Returns: the key of the mix when it is encoded like that
 */
FmxMixKey fmx_mix_key_of_encoding (FmxMixKey key, uint32_t bitrate_bps,
    uint32_t encoding);

/** FMX_MIX_HISTORY_FRAMES: encoders that have been given the same for so many
 * frames in a row sound the same (0.2 s of 20 ms frames) */
#define FMX_MIX_HISTORY_FRAMES 10

/**
 * FmxMixHistory:
 *
 * The keys of what an encoder was given, the latest first.
 */
typedef struct
{
  /*< private >*/
  FmxMixKey keys[FMX_MIX_HISTORY_FRAMES];
} FmxMixHistory;

/** fmx_mix_history_add: the encoder is given @key in this frame */
void fmx_mix_history_add (FmxMixHistory * history, FmxMixKey key);

/**
 * fmx_mix_history_same:
 * @a: of one encoder
 * @a_added: whether this frame's key has been added to @a already
 * @b: of another one, to which it has
 *
 * Returns: whether both were given the same in all the frames before this one
 *     that both remember: then who listens to one may go over to the other
 */
bool fmx_mix_history_same (const FmxMixHistory * a, bool a_added,
    const FmxMixHistory * b);

/** fmx_mix_history_forked: Returns: whether both were given the same in the
 * frame before this one, which has been added to both */
bool fmx_mix_history_forked (const FmxMixHistory * a,
    const FmxMixHistory * b);

#ifdef __cplusplus
}
#endif

#endif /* FMX_MIX_KEY_H */
