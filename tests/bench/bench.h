/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BENCH_H
#define BENCH_H

/* What the benchmarks of elements share: CPU time, rows, ratios of one run. */

#include <glib.h>

G_BEGIN_DECLS

/**
 * BenchAim:
 *
 * What a measured value is held against: nothing, or a target that it must
 * not exceed, or must reach.
 */
typedef enum
{
  BENCH_NO_TARGET,
  BENCH_AT_MOST,
  BENCH_AT_LEAST
} BenchAim;

/* Takes --csv out of the arguments and prints the head of the table. */
void bench_init (int *argc, char **argv);

/* One line of the table: @benchmark and @scene say what was measured. */
void bench_row (const gchar * benchmark, const gchar * scene,
    const gchar * measure, gdouble value, const gchar * unit);
void bench_row_target (const gchar * benchmark, const gchar * scene,
    const gchar * measure, gdouble value, const gchar * unit, BenchAim aim,
    gdouble target);

/* How many of the rows so far missed their target. */
guint bench_missed (void);

/* CPU time of the process, all threads, in seconds. */
gdouble bench_cpu_s (void);
gdouble bench_thread_cpu_s (void);
/* Keeps the process on the processor that it is on: threads that take turns
 * on several find cold caches there, which counts as CPU time. */
void bench_stay_on_one_processor (void);
/* What malloc() has given out, in bytes; 0 where it does not tell. */
gdouble bench_heap_bytes (void);

/* The middle one of @n values, which it sorts. */
gdouble bench_median (gdouble * values, guint n);

G_END_DECLS

#endif /* BENCH_H */
