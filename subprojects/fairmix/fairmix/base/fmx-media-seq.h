/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MEDIA_SEQ_H
#define FMX_MEDIA_SEQ_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_MEDIA_SEQ_AHEAD: what has no media and comes so far ahead is not believed */
#define FMX_MEDIA_SEQ_AHEAD 100
/** FMX_MEDIA_SEQ_AGE: for so many numbers it is known what was left out before */
#define FMX_MEDIA_SEQ_AGE 16384

/**
 * FmxMediaSeq:
 *
 * Numbers the packets of one stream that hold media, as if those that hold padding alone had
 * never been sent: a probe is for the hop that it came over, and is no loss for anybody
 * behind.  What media are lost on the way leave the gap that they left, also right before a
 * probe; what comes late gets the number that it would have had.  Sequence numbers wrap.
 * All zero is the beginning.
 */
typedef struct
{
  /*< private >*/
  bool started;
  bool knows_late;
  uint16_t highest;             /* as they come in */
  uint16_t offset;              /* out = in - offset ... */
  uint16_t since;               /* ... from here on, in; if any was left out */
  uint16_t late_offset;         /* before that ... */
  uint16_t late_since;          /* ... from here on */
} FmxMediaSeq;

/** fmx_media_seq_init: no packet has come */
void fmx_media_seq_init (FmxMediaSeq * numbers);

/** fmx_media_seq_pass: Returns: the number of media that came as @seq */
uint16_t fmx_media_seq_pass (FmxMediaSeq * numbers, uint16_t seq);

/** fmx_media_seq_peek: Returns: what fmx_media_seq_pass() would */
uint16_t fmx_media_seq_peek (const FmxMediaSeq * numbers, uint16_t seq);

/** fmx_media_seq_leave_out: @seq holds no media */
void fmx_media_seq_leave_out (FmxMediaSeq * numbers, uint16_t seq);

#ifdef __cplusplus
}
#endif

#endif /* FMX_MEDIA_SEQ_H */
