/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-feedback-source.h"

#include <string.h>

void
fmx_feedback_source_init (FmxFeedbackSource *source)
{
  memset (source, 0, sizeof *source);
}

static bool
is_void (const FmxFeedbackSource *source, uint64_t id)
{
  for (unsigned i = 0; i < FMX_FEEDBACK_SOURCE_VOIDS && i < source->n_voids;
      i++)
    if (source->voids[i] == id)
      return true;
  return false;
}

FmxFeedbackVerdict
fmx_feedback_source_hear (FmxFeedbackSource *source, uint64_t id,
    FmxDuration patience, FmxTime now)
{
  if (is_void (source, id))
    return FMX_FEEDBACK_VOID;
  if (source->is_known && source->id != id
      && fmx_time_diff (now, source->heard) <= patience)
    return FMX_FEEDBACK_OTHER;
  if (!source->is_known || source->id != id)
    source->n_proofs = 0;
  source->is_known = true;
  source->id = id;
  source->heard = now;
  return FMX_FEEDBACK_HEARD;
}

bool
fmx_feedback_source_catch (FmxFeedbackSource *source, uint64_t proof,
    FmxTime now)
{
  bool again = source->n_proofs > 0 && source->proof == proof;

  if (source->n_proofs > 0 && fmx_time_diff (now, source->proof_time)
      > FMX_FEEDBACK_SOURCE_MEMORY)
    source->n_proofs = 0;
  source->proof = proof;
  source->proof_time = now;
  if (!again || source->n_proofs == 0)
    source->n_proofs++;
  if (source->n_proofs < FMX_FEEDBACK_SOURCE_PROOFS)
    return false;
  fmx_feedback_source_void (source);
  return true;
}

void
fmx_feedback_source_void (FmxFeedbackSource *source)
{
  if (!source->is_known)
    return;
  source->voids[source->n_voids++ % FMX_FEEDBACK_SOURCE_VOIDS] = source->id;
  source->is_known = false;
  source->n_proofs = 0;
}

bool
fmx_feedback_source_is (const FmxFeedbackSource *source, uint64_t id)
{
  return source->is_known && source->id == id;
}
