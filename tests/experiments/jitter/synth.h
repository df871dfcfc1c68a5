/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_SYNTH_H
#define JITTER_SYNTH_H

#include "trace.h"

/** SYNTH_SEED: of a trace that is named without one */
#define SYNTH_SEED 7u

/**
 * synth_make:
 * @name: "syn_wifi", or "syn_wifi:8" for the seed 8
 *
 * Makes a trace of a network that there is not: the same one each time.
 *
 * Returns: %FALSE if there is no such
 */
bool synth_make (Trace * trace, const char *name);

/** synth_make_every: likewise, a packet each @interval; 0 = the trace's own */
bool synth_make_every (Trace * trace, const char *name, FmxDuration interval);

/** trace_open: the made-up trace of that name, or the file there */
bool trace_open (Trace * trace, const char *name);

/** synth_name: of the @i-th; NULL after the last one */
const char *synth_name (size_t i);

/** synth_about: what the @i-th is */
const char *synth_about (size_t i);

#endif /* JITTER_SYNTH_H */
