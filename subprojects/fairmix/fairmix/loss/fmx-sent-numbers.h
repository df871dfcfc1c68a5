/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SENT_NUMBERS_H
#define FMX_SENT_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_SENT_NUMBERS_GAPS: so many gaps are remembered for each stream, the
 * latest: one each 16 packets would have to be left out before one counts that
 * is younger than the round trip of a busy stream. */
#define FMX_SENT_NUMBERS_GAPS 16u

/** FMX_SENT_NUMBERS_SPAN: numbers that are further behind may be of the next
 * cycle: nothing is said of them. */
#define FMX_SENT_NUMBERS_SPAN 16384

/** FMX_SENT_NUMBERS_GRACE: after a stream has begun, or begun anew, feedback may
 * still speak of the numbers that it had before, also of those that seem left out now. */
#define FMX_SENT_NUMBERS_GRACE (10 * FMX_SECOND)

/**
 * FmxSentNumber:
 * @FMX_SENT_NUMBER_SENT: it was sent, as far as is known
 * @FMX_SENT_NUMBER_NEVER: nobody can have received it
 * @FMX_SENT_NUMBER_UNKNOWN: too old, or the stream is too young, to say
 */
typedef enum
{
  FMX_SENT_NUMBER_SENT,
  FMX_SENT_NUMBER_NEVER,
  FMX_SENT_NUMBER_UNKNOWN
} FmxSentNumber;

/** Numbers @first, ... @first + @n - 1 that were left out. */
typedef struct
{
  /*< private >*/
  uint16_t first;
  uint16_t n;
} FmxSentGap;

/**
 * FmxSentNumbers:
 *
 * Which sequence numbers one stream has used: all up to the highest but for
 * the gaps.  A number that was left out, on purpose or because somebody upstream
 * lost the packet, is no loss of the path, and who acknowledges it lies.
 *
 * O(gaps) for each operation; fixed size.
 */
typedef struct
{
  /*< private >*/
  bool started;
  bool anew;                    /* there was a numbering before this one */
  uint16_t first;               /* of this numbering, or the oldest to judge */
  uint16_t next;                /* after the highest */
  uint64_t ext_next;            /* all that was used or left out, counted */
  FmxTime since;                /* this numbering */
  unsigned n_gaps;
  FmxSentGap gaps[FMX_SENT_NUMBERS_GAPS];       /* the latest last */
} FmxSentNumbers;

/** fmx_sent_numbers_init: nothing was sent yet; so is zeroed memory */
void fmx_sent_numbers_init (FmxSentNumbers *numbers);

/**
 * fmx_sent_numbers_add:
 *
 * @seq is sent.  Returns: whether the numbering begins anew with it: it is the
 * first, or nowhere near the others ([RFC3550 A.1])
 */
bool fmx_sent_numbers_add (FmxSentNumbers *numbers, uint16_t seq,
    FmxTime now);

/** fmx_sent_numbers_check: Returns: what is known of @seq */
FmxSentNumber fmx_sent_numbers_check (const FmxSentNumbers *numbers,
    uint16_t seq, FmxTime now);

/** fmx_sent_numbers_next: Returns: the number after the highest that was sent */
uint16_t fmx_sent_numbers_next (const FmxSentNumbers *numbers);

/** fmx_sent_numbers_extend: Returns: @seq, which is not ahead of the highest
 * that was sent, without the wrap */
uint64_t fmx_sent_numbers_extend (const FmxSentNumbers * numbers, uint16_t seq);

/** fmx_sent_numbers_left_out: Returns: how many of the @n numbers from @first on
 * were left out */
uint32_t fmx_sent_numbers_left_out (const FmxSentNumbers *numbers,
    uint16_t first, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* FMX_SENT_NUMBERS_H */
