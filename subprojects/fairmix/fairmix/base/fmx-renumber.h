/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RENUMBER_H
#define FMX_RENUMBER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RENUMBER_MAX_AGE: how long the start of a numbering is remembered, in
 * packets: less than half of the number space, more than any reordering. */
#define FMX_RENUMBER_MAX_AGE 16384

/**
 * FmxRenumber:
 *
 * Numbers the packets of one stream anew, so that what is dropped and what is
 * added on the way leaves neither a gap nor a duplicate, while gaps, reordering
 * and duplicates that come in stay what they are.  Sequence numbers wrap; those
 * that go back by more than %FMX_RESTART_MAX_MISORDER begin a new numbering.
 * All zero is the beginning.
 */
typedef struct
{
  /*< private >*/
  bool started;
  bool changed;
  uint16_t highest;             /* as they come in */
  uint16_t offset;              /* out = in + offset */
  uint16_t since;               /* first one in to which the offset applies */
} FmxRenumber;

/** fmx_renumber_init: no packet has come */
void fmx_renumber_init (FmxRenumber * renumber);

/* Whatever comes but the next one */
bool fmx_renumber_pass_any (FmxRenumber * renumber, uint16_t * seq);

/**
 * fmx_renumber_pass:
 * @seq: (inout): of a packet that is to be passed on; gets its new number
 *
 * Returns: false if it must be dropped: it comes so late that its number was given
 *     away
 */
static inline bool
fmx_renumber_pass (FmxRenumber *renumber, uint16_t *seq)
{
  if (!renumber->started || *seq != (uint16_t) (renumber->highest + 1)
      || (uint16_t) (*seq - renumber->since) > FMX_RENUMBER_MAX_AGE)
    return fmx_renumber_pass_any (renumber, seq);
  renumber->highest = *seq;
  *seq = (uint16_t) (*seq + renumber->offset);
  return true;
}

/** fmx_renumber_drop: packet @seq is not passed on */
void fmx_renumber_drop (FmxRenumber * renumber, uint16_t seq);

/** fmx_renumber_insert: Returns: the number of a packet to add after all that
 * came so far; one must have come */
uint16_t fmx_renumber_insert (FmxRenumber * renumber);

/** fmx_renumber_rejoin: the stream goes on with @seq after a time in which its
 * packets did not come this way: whatever that is, it gets the next number */
void fmx_renumber_rejoin (FmxRenumber * renumber, uint16_t seq);

/** fmx_renumber_is_next: Returns: whether @seq follows all that came so far */
bool fmx_renumber_is_next (const FmxRenumber * renumber, uint16_t seq);

/** fmx_renumber_is_changed: Returns: whether numbers that go out may be others
 * than those that come in */
bool fmx_renumber_is_changed (const FmxRenumber * renumber);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RENUMBER_H */
