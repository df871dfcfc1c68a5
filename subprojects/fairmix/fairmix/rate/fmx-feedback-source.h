/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_FEEDBACK_SOURCE_H
#define FMX_FEEDBACK_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_FEEDBACK_SOURCE_ANYONE: feedback of which nothing tells where it comes
 * from. */
#define FMX_FEEDBACK_SOURCE_ANYONE UINT64_C (0)

/** FMX_FEEDBACK_SOURCE_VOIDS: so many sources are remembered as void, the
 * latest. */
#define FMX_FEEDBACK_SOURCE_VOIDS 16u

/** FMX_FEEDBACK_SOURCE_PROOFS: so many claims that cannot be true, of different
 * packets, make a source void: one may have been forged in its name, or be of
 * another numbering. */
#define FMX_FEEDBACK_SOURCE_PROOFS 2u

/** FMX_FEEDBACK_SOURCE_MEMORY: claims that are further apart do not add up. */
#define FMX_FEEDBACK_SOURCE_MEMORY (300 * FMX_SECOND)

/**
 * FmxFeedbackVerdict:
 * @FMX_FEEDBACK_HEARD: it is the one whose feedback counts
 * @FMX_FEEDBACK_OTHER: another one is, and has been heard of late
 * @FMX_FEEDBACK_VOID: it has claimed what cannot be
 */
typedef enum
{
  FMX_FEEDBACK_HEARD,
  FMX_FEEDBACK_OTHER,
  FMX_FEEDBACK_VOID
} FmxFeedbackVerdict;

/**
 * FmxFeedbackSource:
 *
 * Whose feedback counts.  The first one who speaks is believed until it has been
 * silent for a time, so that a second one, who may be forging, cannot join in:
 * one path has one receiver.  Who claims to have received what was never sent
 * is not believed any more.
 *
 * Source: [RFC4340 12.3] and [RFC3540] on receivers that conceal loss; Savage et
 * al., TCP Congestion Control with a Misbehaving Receiver, 1999
 */
typedef struct
{
  /*< private >*/
  bool is_known;
  uint64_t id;
  FmxTime heard;                /* last */
  unsigned n_proofs;
  uint64_t proof;               /* the last one */
  FmxTime proof_time;
  unsigned n_voids;             /* so far */
  uint64_t voids[FMX_FEEDBACK_SOURCE_VOIDS];
} FmxFeedbackSource;

/** fmx_feedback_source_init: nobody has spoken */
void fmx_feedback_source_init (FmxFeedbackSource * source);

/**
 * fmx_feedback_source_hear:
 * @id: who speaks, e.g. a hash of its address
 * @patience: another one may take over when the present one has been silent for
 *     longer
 *
 * Returns: what its words are worth
 */
FmxFeedbackVerdict fmx_feedback_source_hear (FmxFeedbackSource * source,
    uint64_t id, FmxDuration patience, FmxTime now);

/**
 * fmx_feedback_source_catch:
 * @proof: names the packet that it cannot have, so that the same claim made
 *     twice is one
 *
 * The present source has claimed what cannot be.
 *
 * Returns: whether that made it void
 */
bool fmx_feedback_source_catch (FmxFeedbackSource * source, uint64_t proof,
    FmxTime now);

/** fmx_feedback_source_void: the present source is not believed any more */
void fmx_feedback_source_void (FmxFeedbackSource * source);

/** fmx_feedback_source_is: Returns: whether @id is the present source */
bool fmx_feedback_source_is (const FmxFeedbackSource * source, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif /* FMX_FEEDBACK_SOURCE_H */
