/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_SIM_VOICES_H
#define FMX_SIM_VOICES_H

#include "fairmix/adapt/fmx-adapt-mix.h"
#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/base/fmx-rng.h"

/* What the element partialmix makes of a target, by the library's own selection:
 * some voices are sent as they are, the others in a mix of Opus.  All of them talk. */

#define FMX_SIM_VOICES_MAX 60u  /* more need more than one packet of feedback */
#define FMX_SIM_VOICES_BPS 48000u       /* Opus at 32 kbit/s, with its headers */
#define FMX_SIM_VOICES_INTERVAL (20 * FMX_MSECOND)
#define FMX_SIM_VOICES_ACTIVITY 0.43    /* part of the time in which somebody talks */
#define FMX_SIM_VOICES_LATE (60 * FMX_SECOND)   /* the last one comes no later */

typedef struct
{
  unsigned n;
  uint32_t wire_bytes;          /* of a voice's packet */
  FmxAdaptMix mix;
  FmxAdaptParams params;
  FmxSelectStream streams[FMX_SIM_VOICES_MAX];
  uint32_t order[FMX_SIM_VOICES_MAX];
  int32_t assignment[FMX_SIM_VOICES_MAX];
  FmxAdaptPlan plan;
  uint64_t target_bps, lasting_bps;     /* that it was made for */
  FmxTime planned;              /* and when */
  uint32_t mix_wire_bytes;      /* 0 = there is no mix */
  /* who pauses sends nothing */
  bool pauses;
  FmxRng rng;
  FmxTime turns[FMX_SIM_VOICES_MAX];    /* begins to talk, or ends */
  /* counters, for whoever watches */
  uint64_t n_changes;           /* plans that send anybody another way, for the rate ... */
  uint64_t n_turns;             /* ... and for who talks */
} FmxSimVoices;

/** fmx_sim_voices_init: @n talk, each in packets of @wire_bytes, and nobody is sent
 * yet */
void fmx_sim_voices_init (FmxSimVoices * voices, unsigned n,
    uint32_t wire_bytes, FmxTime now);

/** fmx_sim_voices_pause: from now on all are silent; each comes some time within
 * FMX_SIM_VOICES_LATE, and talks and pauses (ITU-T P.59: 1.0 and 1.35 s in the mean) */
void fmx_sim_voices_pause (FmxSimVoices * voices, uint64_t seed, FmxTime now);

/** fmx_sim_voices_talks: Returns: whether @voice talks now; time does not go back */
bool fmx_sim_voices_talks (FmxSimVoices * voices, unsigned voice, FmxTime now);

/** fmx_sim_voices_follow: plans anew if @target_bps, or what lasts of it, is another, and
 * each second */
void fmx_sim_voices_follow (FmxSimVoices * voices, uint64_t target_bps,
    uint64_t lasting_bps, FmxTime now);

#endif /* FMX_SIM_VOICES_H */
