/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE             /* sched_getcpu() */
#include "bench.h"

#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static gboolean csv;
static guint n_missed;

void
bench_stay_on_one_processor (void)
{
  cpu_set_t here;

  CPU_ZERO (&here);
  CPU_SET ((gsize) sched_getcpu (), &here);
  if (sched_setaffinity (0, sizeof here, &here) < 0)
    g_error ("sched_setaffinity failed");
}

void
bench_init (int *argc, char **argv)
{
  int n = 1;

  for (int i = 1; i < *argc; i++) {
    if (strcmp (argv[i], "--csv") == 0)
      csv = TRUE;
    else
      argv[n++] = argv[i];
  }
  *argc = n;
  argv[n] = NULL;
  setvbuf (stdout, NULL, _IOLBF, 0);
  if (csv)
    printf ("benchmark,scene,measure,value,unit,aim,target\n");
}

void
bench_row_target (const gchar * benchmark, const gchar * scene,
    const gchar * measure, gdouble value, const gchar * unit, BenchAim aim,
    gdouble target)
{
  static const gchar *const signs[] = { "", "<=", ">=" };
  gboolean met = aim == BENCH_AT_MOST ? value <= target : value >= target;

  if (aim != BENCH_NO_TARGET && !met)
    n_missed++;
  if (csv) {
    printf ("%s,\"%s\",\"%s\",%.6g,%s,%s,", benchmark, scene, measure, value,
        unit, signs[aim]);
    if (aim != BENCH_NO_TARGET)
      printf ("%g", target);
    printf ("\n");
    return;
  }
  printf ("%-13s %-30s %-34s %10.4g %-6s", benchmark, scene, measure, value,
      unit);
  if (aim != BENCH_NO_TARGET)
    printf (" %s %g%s", signs[aim], target, met ? "" : "  MISSED");
  printf ("\n");
}

guint
bench_missed (void)
{
  return n_missed;
}

void
bench_row (const gchar * benchmark, const gchar * scene, const gchar * measure,
    gdouble value, const gchar * unit)
{
  bench_row_target (benchmark, scene, measure, value, unit, BENCH_NO_TARGET,
      0.0);
}

static gdouble
clock_s (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (gdouble) now.tv_sec + (gdouble) now.tv_nsec / 1e9;
}

gdouble
bench_cpu_s (void)
{
  return clock_s (CLOCK_PROCESS_CPUTIME_ID);
}

gdouble
bench_thread_cpu_s (void)
{
  return clock_s (CLOCK_THREAD_CPUTIME_ID);
}

gdouble
bench_heap_bytes (void)
{
#if defined (__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 info = mallinfo2 ();

  return (gdouble) info.uordblks + (gdouble) info.hblkhd;
#else
  return 0.0;
#endif
}

static int
compare (const void *a, const void *b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

gdouble
bench_median (gdouble * values, guint n)
{
  qsort (values, n, sizeof *values, compare);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}
