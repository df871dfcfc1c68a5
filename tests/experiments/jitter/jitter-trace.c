/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prints a made-up trace as CSV, or says which there are.
 *
 *   jitter-trace [NAME[:SEED]] */
#include <stdio.h>

#include "synth.h"

static void
print_names (void)
{
  for (size_t i = 0; synth_name (i) != NULL; i++)
    printf ("%-14s  %s\n", synth_name (i), synth_about (i));
}

int
main (int argc, char **argv)
{
  Trace trace;

  if (argc < 2) {
    print_names ();
    return 0;
  }
  if (!synth_make (&trace, argv[1])) {
    fprintf (stderr, "%s: no such trace; there are\n", argv[1]);
    print_names ();
    return 2;
  }
  printf ("seq,send_ms,arrival_ms\n");
  for (size_t i = 0; i < trace.n_packets; i++) {
    printf ("%zu,%.3f,", i, (double) trace.packets[i].send / 1e6);
    if (trace.packets[i].arrival != FMX_TIME_NONE)
      printf ("%.3f", (double) trace.packets[i].arrival / 1e6);
    printf ("\n");
  }
  trace_free (&trace);
  return 0;
}
