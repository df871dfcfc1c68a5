/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqminner.h"

#define STEP_MS 5
#define MOST_STEPS 1000

guint
gst_qm_inner_get_latency (GstElement * inner)
{
  guint latency_ms;

  g_object_get (inner, "latency", &latency_ms, NULL);
  return latency_ms;
}

/* Of latency and offset the one that makes the sum greater goes first. */
static void
step (GstElement * inner, gint64 latency_ms, GstClockTimeDiff ts_offset,
    gboolean up)
{
  if (up)
    g_object_set (inner, "latency", (guint) latency_ms, NULL);
  g_object_set (inner, "ts-offset", ts_offset, NULL);
  if (!up)
    g_object_set (inner, "latency", (guint) latency_ms, NULL);
}

/* It comes to @latency_ms, and its offset goes the other way as far. */
static void
walk (GstElement * inner, gint64 latency_ms)
{
  gint64 at_ms = gst_qm_inner_get_latency (inner);
  gint64 way_ms = latency_ms - at_ms;
  gint64 step_ms = MAX (STEP_MS, ABS (way_ms) / MOST_STEPS);
  GstClockTimeDiff ts_offset;

  g_object_get (inner, "ts-offset", &ts_offset, NULL);
  while (at_ms != latency_ms) {
    gint64 by_ms = CLAMP (latency_ms - at_ms, -step_ms, step_ms);

    at_ms += by_ms;
    ts_offset -= by_ms * GST_MSECOND;
    step (inner, at_ms, ts_offset, way_ms > 0);
  }
}

void
gst_qm_inner_set_delay (GstElement * inner, const GstQmInnerDelay * delay,
    gboolean at_once)
{
  g_object_set (inner, "max-ts-offset-adjustment",
      at_once ? (guint64) 0 : delay->step, NULL);
  if (at_once)
    walk (inner, delay->latency_ms);
  else
    g_object_set (inner, "latency", delay->latency_ms, NULL);
  /* also if it is that already: only then it looks at what it waits for */
  g_object_set (inner, "ts-offset", delay->ts_offset, NULL);
  if (at_once && delay->step > 0)
    g_object_set (inner, "max-ts-offset-adjustment", delay->step, NULL);
}
