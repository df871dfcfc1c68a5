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
/** FMX_MEDIA_SEQ_LATE: of so many numbers, the latest, it is known which were left out */
#define FMX_MEDIA_SEQ_LATE 64

/**
 * FmxMediaSeq:
 *
 * Numbers the packets of one stream that hold media, as if those that hold padding alone had
 * never been sent: a probe is for the hop that it came over, and is no loss for anybody
 * behind.  What media are lost on the way leave the gap that they left, also right before a
 * probe; what comes less than %FMX_MEDIA_SEQ_LATE places late gets the number that it would
 * have had.  Sequence numbers wrap.  All zero is the beginning.
 */
typedef struct
{
  /*< private >*/
  bool started;
  uint16_t highest;             /* as they come in */
  uint16_t offset;              /* so many were left out */
  uint64_t left_out;            /* bit i: highest - i was */
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
