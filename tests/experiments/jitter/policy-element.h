/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef JITTER_POLICY_ELEMENT_H
#define JITTER_POLICY_ELEMENT_H

#include <gst/gst.h>

#include "score.h"

/**
 * PolicyElementOutput:
 * @buffer: what came out of the pipeline; not ours
 * @due: when it is to be heard: its timestamp plus the latency reported
 * @pushed: when it came out
 * @near: a packet that is not far from this one
 */
typedef struct
{
  GstBuffer *buffer;
  FmxTime due;
  FmxTime pushed;
  size_t near;
} PolicyElementOutput;

/**
 * PolicyElementTap:
 * @description: as in a gst-launch line, with a rtpjitterbuffer in it somewhere
 * @sink_caps: what is to come out of it; NULL = anything
 * @payload: (optional): of packet @i, (transfer full)
 * @on_output: for each buffer, in the thread that pushes it
 */
typedef struct
{
  const char *description;
  const char *sink_caps;
  GstBuffer *(*payload) (size_t i, void *user_data);
  void (*on_output) (const PolicyElementOutput * output, void *user_data);
  void *user_data;
} PolicyElementTap;

/**
 * policy_element_run:
 *
 * Feeds the trace to a pipeline in virtual time: a GstTestClock stands still
 * until everything that can come out has come out.
 */
void policy_element_run (const Trace * trace, const PolicyElementTap * tap);

/**
 * policy_element:
 * @description: as in a gst-launch line: "rtpjitterbuffer latency=60"
 * @playouts: one for each packet of @trace
 *
 * Runs a jitter buffer and notes when each packet is due.
 */
void policy_element (const Trace * trace, const char *description,
    Playout * playouts);

/**
 * policy_element_feed:
 * @description: of an element or "( a bin )"; "" for none
 * @with_probe: whether a probe on its source pad looks at every packet
 *
 * Feeds @trace, of which every packet must come out, one by one, and notes
 * nothing: to count what that costs.  The second one has to come a second or
 * more after the first.
 */
void policy_element_feed (const Trace * trace, const char *description,
    bool with_probe);

#endif /* JITTER_POLICY_ELEMENT_H */
