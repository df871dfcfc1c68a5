/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_PATH_DELAY_H
#define FMX_PATH_DELAY_H

#include <stdbool.h>
#include <stddef.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/playout/fmx-delay-memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxPathDelay:
 *
 * What streams that come over one path know of it together: the delays that packets
 * needed, how long the last one waited in the queues of the path, and how late they are
 * played.  One that begins, or comes back after it was in a mix, begins with that, and
 * needs not lose its first packets to learn it.
 *
 * What comes before the path, as a talker's own Wi-Fi, troubles some of them only: so
 * it is told by the stream that is played with the least delay.  They have different
 * clocks, so that all delays are beyond each stream's own fastest packets.
 */
typedef struct
{
  /*< private >*/
  FmxDelayMemory memory;
  const void *teller;           /* who told last; NULL: nobody has */
  FmxDuration delay;
  FmxDuration need;
  FmxTime told;
} FmxPathDelay;

/** fmx_path_delay_init: nothing is known but the prior of @params */
void fmx_path_delay_init (FmxPathDelay * path,
    const FmxDelayMemoryParams * params);

/**
 * fmx_path_delay_tell:
 * @teller: the stream
 * @delay: that its packets are played with
 * @need: the delay that would have been enough for its latest packet, >= 0
 * @duration: of that, > 0
 * @now: when it came
 */
void fmx_path_delay_tell (FmxPathDelay * path, const void *teller,
    FmxDuration delay, FmxDuration need, FmxDuration duration, FmxTime now);

/**
 * fmx_path_delay_of_others:
 * @stream: who asks; NULL: whoever told is another one
 * @delay: (out): that packets of another stream were last played with
 *
 * Returns: false if there was none
 */
static inline bool
fmx_path_delay_of_others (const FmxPathDelay *path, const void *stream,
    FmxDuration *delay)
{
  if (path->teller == NULL || path->teller == stream)
    return false;
  *delay = path->delay;
  return true;
}

/**
 * fmx_path_delay_waited:
 * @waited: (out): for how long a packet that comes @now was in the queues of the path
 *
 * Returns: false where nobody has just found out
 */
bool fmx_path_delay_waited (const FmxPathDelay * path, FmxTime now,
    FmxDuration * waited);

/** Returns: what recent stalls of the path say */
static inline const FmxDelayMemory *
fmx_path_delay_get_memory (const FmxPathDelay *path)
{
  return &path->memory;
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_PATH_DELAY_H */
