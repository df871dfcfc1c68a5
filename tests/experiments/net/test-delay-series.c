/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A way whose delay wanders: packets keep their order, and each is as late as the
 * trace says. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "delay-series.h"

#define MS ((FmxTime) FMX_MSECOND)
#define PER_S 1000u

static DelaySeries series;

/* @rows of send_ms,arrival_ms; from its beginning, whatever the seed */
static void
open_rows (const char *rows)
{
  char path[] = "/tmp/delay-series-XXXXXX";
  int fd = mkstemp (path);

  assert (fd >= 0);
  assert (write (fd, rows, strlen (rows)) == (ssize_t) strlen (rows));
  close (fd);
  assert (delay_series_open (&series, path, 1));
  unlink (path);
  series.begin = 0;
}

static FmxTime
arrival_ms (unsigned sent_ms)
{
  return delay_series_arrival (&series, sent_ms * MS) / MS;
}

static void
test_a_packet_of_the_trace_has_its_delay (void)
{
  open_rows ("0,0,5\n1,20,25\n2,40,52\n3,60,65\n");     /* the least one becomes 0 */
  assert (arrival_ms (0) == 0);
  assert (arrival_ms (20) == 20);
  assert (arrival_ms (40) == 47);
  assert (arrival_ms (60) == 60);
  delay_series_close (&series);
}

static void
test_a_stall_holds_what_is_sent_in_it_and_ends_for_all_at_once (void)
{
  open_rows ("0,0,0\n1,20,100\n2,40,100\n3,60,100\n4,80,100\n5,100,100\n");
  assert (arrival_ms (10) == 10);       /* before it */
  for (unsigned t = 20; t < 100; t += 7)
    assert (arrival_ms (t) == 100);
  assert (arrival_ms (101) == 101);
  delay_series_close (&series);
}

static void
test_what_is_lost_in_a_trace_is_not_lost_here (void)
{
  open_rows ("0,0,\n1,20,20\n2,40,\n3,60,65\n");
  assert (arrival_ms (0) == 0); /* the first that arrived */
  assert (arrival_ms (30) == 30);
  assert (arrival_ms (40) == 45);
  delay_series_close (&series);
}

static void
test_a_trace_goes_on_from_its_beginning (void)
{
  open_rows ("0,0,0\n1,20,29\n2,40,40\n");
  for (unsigned round = 0; round < 5; round++)
    for (unsigned t = 0; t < 60; t += 20)
      assert (arrival_ms (60 * round + t) == 60 * round + t
          + (t == 20 ? 9 : 0));
  /* whoever was silent for long finds the same place */
  assert (arrival_ms (600 + 20) == 600 + 29);
  delay_series_close (&series);
}

static void
test_evenly_random_is_between_none_and_the_most (void)
{
  FmxTime most = 0;

  assert (delay_series_open (&series, "even:30", 1));
  for (unsigned i = 0; i < 1000; i++) {
    FmxTime now = i * 100 * MS, late =
        delay_series_arrival (&series, now) - now;

    assert (late < 30 * MS);
    if (late > most)
      most = late;
  }
  assert (most > 29 * MS);
  delay_series_close (&series);
}

static void
test_bursts_come_at_multiples (void)
{
  assert (delay_series_open (&series, "bursts:40", 1));
  assert (arrival_ms (0) == 0);
  assert (arrival_ms (1) == 40);
  assert (arrival_ms (40) == 40);
  assert (arrival_ms (41) == 80);
  assert (arrival_ms (81) == 120);
  delay_series_close (&series);
}

static void
test_packets_keep_their_order (void)
{
  static const char *const names[] = { "even:30", "bursts:20", "syn_wifi",
    "syn_wifi_busy", "syn_lte", "syn_spikes"
  };

  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    FmxTime last = 0;

    assert (delay_series_open (&series, names[k], 3));
    for (uint64_t i = 0; i < 320 * PER_S; i++) {        /* longer than a made-up one */
      FmxTime now = i * (FmxTime) FMX_SECOND / PER_S;
      FmxTime arrival = delay_series_arrival (&series, now);

      assert (arrival >= now && arrival >= last);
      last = arrival;
    }
    delay_series_close (&series);
  }
}

static int
compare (const void *a, const void *b)
{
  double left = *(const double *) a, right = *(const double *) b;

  return (left > right) - (left < right);
}

/* Those that ../jitter/synth.c is made after */
static void
test_a_busy_cell_has_the_percentiles_of_the_campus (void)
{
  static double late_ms[300 * PER_S];
  const size_t n = sizeof late_ms / sizeof late_ms[0];

  assert (delay_series_open (&series, "syn_wifi_busy", 7));
  for (size_t i = 0; i < n; i++) {
    FmxTime now = i * (FmxTime) FMX_SECOND / PER_S;

    late_ms[i] = (double) (delay_series_arrival (&series, now) - now) / 1e6;
  }
  delay_series_close (&series);
  qsort (late_ms, n, sizeof late_ms[0], compare);
  printf ("50 %%: %.1f ms, 90 %%: %.1f ms, 99 %%: %.1f ms\n", late_ms[n / 2],
      late_ms[n * 9 / 10], late_ms[n * 99 / 100]);
  assert (late_ms[n / 2] > 1.0 && late_ms[n / 2] < 5.0);
  assert (late_ms[n * 9 / 10] > 10.0 && late_ms[n * 9 / 10] < 40.0);
  assert (late_ms[n * 99 / 100] > 120.0 && late_ms[n * 99 / 100] < 400.0);
}

static void
test_a_seed_is_the_same_again_and_another_is_another (void)
{
  DelaySeries other;
  unsigned same = 0, n = 1000;

  for (uint64_t seed = 5; seed < 7; seed++) {
    same = 0;
    assert (delay_series_open (&series, "syn_wifi_busy", 5));
    assert (delay_series_open (&other, "syn_wifi_busy", seed));
    for (unsigned i = 0; i < n; i++)
      same += delay_series_arrival (&series, i * 20 * MS)
          == delay_series_arrival (&other, i * 20 * MS);
    delay_series_close (&series);
    delay_series_close (&other);
    assert (seed == 5 ? same == n : same < n / 2);
  }
}

static void
test_what_there_is_not_is_refused (void)
{
  assert (!delay_series_open (&series, "syn_nobody", 1));
  assert (!delay_series_open (&series, "/nowhere.csv.gz", 1));
  assert (!delay_series_open (&series, "even:0", 1));
}

int
main (void)
{
  test_a_packet_of_the_trace_has_its_delay ();
  test_a_stall_holds_what_is_sent_in_it_and_ends_for_all_at_once ();
  test_what_is_lost_in_a_trace_is_not_lost_here ();
  test_a_trace_goes_on_from_its_beginning ();
  test_evenly_random_is_between_none_and_the_most ();
  test_bursts_come_at_multiples ();
  test_packets_keep_their_order ();
  test_a_busy_cell_has_the_percentiles_of_the_campus ();
  test_a_seed_is_the_same_again_and_another_is_another ();
  test_what_there_is_not_is_refused ();
  return 0;
}
