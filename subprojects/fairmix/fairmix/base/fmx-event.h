/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_EVENT_H
#define FMX_EVENT_H

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_EVENT_MAX_FIELDS: an event carries at most so many numbers. */
#define FMX_EVENT_MAX_FIELDS 8u

/**
 * FmxEventField:
 * @name: dashed, with its unit, e.g. "rtt-ms"; static storage
 * @value: the number
 */
typedef struct
{
  const char *name;
  double value;
} FmxEventField;

/**
 * FmxEvent:
 * @name: what happened, e.g. "loss-event"; static storage
 * @reason: why, one of a few words, or NULL; static storage
 * @time: when
 * @n_fields: how many of @fields are set
 * @fields: the numbers that go with it
 *
 * Something that a person might want to see.  The library does not log: it
 * tells its #FmxEventSink; the elements make log lines and bus messages of it,
 * the simulators CSV, the tests assertions.
 */
typedef struct
{
  const char *name;
  const char *reason;
  FmxTime time;
  unsigned n_fields;
  FmxEventField fields[FMX_EVENT_MAX_FIELDS];
} FmxEvent;

/**
 * FmxEventSink:
 * @emit: called for each event, in the thread that made it, with whatever
 *     lock its caller holds: note it down and return
 * @user: handed to @emit
 */
typedef struct
{
  void (*emit) (void *user, const FmxEvent * event);
  void *user;
} FmxEventSink;

/** fmx_event_emit: tells @sink, which may be NULL */
static inline void
fmx_event_emit (const FmxEventSink *sink, const FmxEvent *event)
{
  if (sink != 0 && sink->emit != 0)
    sink->emit (sink->user, event);
}

#ifdef __cplusplus
}
#endif

#endif /* FMX_EVENT_H */
