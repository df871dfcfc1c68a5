/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct
{
  double missing;               /* packets, or parts of them, not heard */
  double concealed;             /* packet times without fresh media */
  double heard;                 /* packet times of either, where it is heard */
  double delay_ms;              /* sum over packets heard */
  size_t n_packets, n_heard;
  size_t n_missing, n_runs;     /* of whole packets */
} Window;

double
score_r (double delay_ms, double loss, double burst_r)
{
  double ta = delay_ms + SCORE_OUTSIDE_MS;
  double idd = 0.0;
  double ppl = 100.0 * loss;

  /* [G.107 7.4] */
  if (ta > 100.0) {
    double x = log2 (ta / 100.0);

    idd = 25.0 * (pow (1.0 + pow (x, 6.0), 1.0 / 6.0)
        - 3.0 * pow (1.0 + pow (x / 3.0, 6.0), 1.0 / 6.0) + 2.0);
  }
  /* [G.107 7.5] */
  return fmax (0.0, 93.2 - idd - 95.0 * ppl / (ppl / burst_r + 25.1));
}

static double
window_r (const Window * w, double impaired)
{
  double n = (double) w->n_packets;
  double loss = fmin (1.0, impaired / n);
  double p = (double) w->n_missing / n;
  double burst_r = w->n_runs ?
      (double) w->n_missing / (double) w->n_runs * (1.0 - p) : 1.0;

  return score_r (w->n_heard ? w->delay_ms / (double) w->n_heard : 0.0, loss,
      fmax (1.0, burst_r));
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
percentile (double *values, size_t n, double p)
{
  if (n == 0)
    return 0.0;
  qsort (values, n, sizeof *values, compare_doubles);
  return values[(size_t) (p * (double) (n - 1) + 0.5)];
}

static void
sum_up (const Window * windows, size_t n_windows, Score * out)
{
  double *r = calloc (n_windows, sizeof (double));
  size_t n = 0;

  for (size_t i = 0; i < n_windows; i++) {
    if (windows[i].n_packets < 2)
      continue;
    r[n] = window_r (&windows[i], windows[i].heard);
    out->r += r[n++];
    out->r_larger += window_r (&windows[i],
        fmax (windows[i].missing, windows[i].concealed));
  }
  out->r /= (double) n;
  out->r_larger /= (double) n;
  out->r_p5 = percentile (r, n, 0.05);
  free (r);
}

/* One packet as the sink plays it */
typedef struct
{
  double heard;                 /* how much of it, in [0, 1] */
  double gap;                   /* packet times of nothing before it */
  double delay_ms;
} Heard;

static Heard
play_elastic (const Trace * trace, size_t i, const Playout * playout)
{
  Heard out = { 0.0, 1.0, NAN };

  if (playout->due != FMX_TIME_NONE && playout->pushed <= playout->due) {
    out.heard = 1.0;
    out.gap = 0.0;
    out.delay_ms = (double) fmx_time_diff (playout->due,
        trace->packets[i].send) / 1e6;
  }
  return out;
}

/* @cursor: until when something has been played */
static Heard
play_exact (const Trace * trace, size_t i, const Playout * playout,
    FmxTime * cursor)
{
  double interval = (double) trace->interval;
  Heard out = { 0.0, 0.0, NAN };
  FmxTime start = playout->due, end;

  if (start == FMX_TIME_NONE)
    return out;
  end = start + (FmxTime) trace->interval;
  if (playout->pushed > start)
    start = playout->pushed;
  if (*cursor != FMX_TIME_NONE && *cursor > start)
    start = *cursor;
  if (start >= end)
    return out;
  out.heard = (double) (end - start) / interval;
  if (*cursor != FMX_TIME_NONE)
    out.gap = (double) (start - *cursor) / interval;
  out.delay_ms = (double) fmx_time_diff (playout->due,
      trace->packets[i].send) / 1e6;
  *cursor = end;
  return out;
}

static Heard
play (const Trace * trace, size_t i, const Playout * playout, Sink sink,
    FmxTime * cursor)
{
  return sink == SINK_EXACT ? play_exact (trace, i, playout, cursor) :
      play_elastic (trace, i, playout);
}

/* What goes over from packet to packet */
typedef struct
{
  bool was_missing;
  double missing;               /* since the last packet that was heard */
} Between;

static void
add_to_window (Window * w, const Heard * heard, Between * between)
{
  bool missing = heard->heard < 0.5;

  between->missing += 1.0 - heard->heard;

  w->n_packets++;
  w->missing += 1.0 - heard->heard;
  w->concealed += heard->gap;
  w->n_missing += missing;
  w->n_runs += missing && !between->was_missing;
  between->was_missing = missing;
  if (heard->heard > 0.0) {
    w->heard += fmax (between->missing, heard->gap);
    between->missing = 0.0;
    w->delay_ms += heard->delay_ms;
    w->n_heard++;
  }
}

void
score (const Trace * trace, const Playout * playouts, Sink sink, Score * out)
{
  double length_s = fmx_time_to_s (trace->interval) * (double) trace->n_packets;
  size_t n_windows = trace->packets[trace->n_packets - 1].send / SCORE_WINDOW
      + 1;
  Window *windows = calloc (n_windows, sizeof (Window));
  double *delays = calloc (trace->n_packets, sizeof (double));
  double last_delay = NAN;
  FmxTime cursor = FMX_TIME_NONE;
  Between between = { 0 };
  size_t n = 0;

  memset (out, 0, sizeof *out);
  for (size_t i = 0; i < trace->n_packets; i++) {
    Heard heard = play (trace, i, &playouts[i], sink, &cursor);

    add_to_window (&windows[trace->packets[i].send / SCORE_WINDOW], &heard,
        &between);
    out->gaps_per_s += heard.gap / length_s;
    if (trace->packets[i].arrival != FMX_TIME_NONE) {
      out->skips_per_s += (1.0 - heard.heard) / length_s;
      out->drops_per_s += heard.heard < 0.5 ? 1.0 / length_s : 0.0;
    }
    if (heard.heard > 0.0) {
      out->adaptations_per_min +=
          fabs (heard.delay_ms - last_delay) >= 1.0 ? 60.0 / length_s : 0.0;
      last_delay = heard.delay_ms;
      delays[n++] = heard.delay_ms;
    }
  }
  for (size_t i = 0; i < n; i++)
    out->delay_ms += delays[i] / (double) n;
  out->delay_p95_ms = percentile (delays, n, 0.95);
  sum_up (windows, n_windows, out);
  free (windows);
  free (delays);
}

ScoreSecond *
score_seconds (const Trace * trace, const Playout * playouts, Sink sink,
    size_t *n_seconds)
{
  FmxTime cursor = FMX_TIME_NONE;
  ScoreSecond *seconds;
  double *n_heard;

  *n_seconds = trace->packets[trace->n_packets - 1].send / FMX_SECOND + 1;
  seconds = calloc (*n_seconds, sizeof (ScoreSecond));
  n_heard = calloc (*n_seconds, sizeof (double));
  for (size_t i = 0; i < trace->n_packets; i++) {
    size_t at = trace->packets[i].send / FMX_SECOND;
    Heard heard = play (trace, i, &playouts[i], sink, &cursor);

    seconds[at].gaps += heard.gap;
    if (heard.heard > 0.0) {
      seconds[at].delay_ms += heard.delay_ms;
      n_heard[at] += 1.0;
    }
  }
  for (size_t i = 0; i < *n_seconds; i++)
    seconds[i].delay_ms /= n_heard[i];  /* NaN without any */
  free (n_heard);
  return seconds;
}
