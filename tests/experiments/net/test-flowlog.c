/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flowlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S INT64_C (1000000000)

static int failed;

static void
expect (const char *what, const char *line, const char *want)
{
  if (strncmp (line, want, strlen (want)) != 0) {
    printf ("NOT OK %s: got %s", what, line);
    failed = 1;
  } else
    printf ("ok %s\n", what);
}

static void
line_of (const char *folder, const char *name, int number, char *line)
{
  char path[4096];
  FILE *f;

  snprintf (path, sizeof path, "%s/%s", folder, name);
  f = fopen (path, "r");
  line[0] = '\0';
  for (int i = 0; f != NULL && i <= number; i++)
    if (fgets (line, 200, f) == NULL)
      line[0] = '\0';
  if (f != NULL)
    fclose (f);
}

/* Ten packets of 100 bytes a second for three seconds, 250 ms on their way, of
 * which 50 in the queue; every fifth is lost. */
int
main (void)
{
  char folder[] = "/tmp/flowlog-XXXXXX", line[200], path[4096];
  flowlog *log = mkdtemp (folder) ? flowlog_open (folder, S) : NULL;
  uint8_t udp[64] = { 0x45, 0, 0, 64 };
  uint64_t key;

  if (log == NULL)
    return 1;
  flowlog_add_flow (log, "a");
  flowlog_add_flow (log, "b");
  flowlog_add_link (log, "wan");
  for (int i = 0; i < 30; i++) {
    flowlog_packet p = { 1000u + (uint64_t) i, 0, 100, i % 2 ? 7 : 8 };
    int64_t t = i * S / 10;

    flowlog_sent (log, &p, t);
    flowlog_entered (log, p.key, t);
    if (i % 5 == 4)
      continue;
    flowlog_passed (log, 0, &p, t + S / 20);
    flowlog_received (log, &p, t + S / 4);
    flowlog_received (log, &p, t + S / 4);      /* a duplicate */
  }
  flowlog_close (log, 12 * S);
  line_of (folder, "flows.csv", 1, line);
  expect ("loss goes to the second of sending", line,
      "1.000,a,8000,5600,10,7,2,250.000,2");
  line_of (folder, "flows.csv", 2, line);
  expect ("a silent flow has a row", line, "1.000,b,0,0,0,0,0,,0");
  line_of (folder, "flows.csv", 3, line);
  expect ("arrivals go to the second of arrival", line,
      "2.000,a,8000,6400,10,8,2,250.000,2");
  line_of (folder, "flows.csv", 7, line);
  expect ("and after the last packet", line, "4.000,a,0,800,0,1,0,250.000,1");
  line_of (folder, "links.csv", 1, line);
  expect ("the queue is what a packet waited", line,
      "1.000,wan,6400,50.000,50.000");
  line_of (folder, "flows.csv", 24, line);
  expect ("every second of the run is there", line, "12.000,b,");

  udp[9] = 17;
  key = flowlog_key (udp, sizeof udp);
  udp[8] = 3;                   /* TTL */
  udp[26] = 1;                  /* UDP checksum */
  if (flowlog_key (udp, sizeof udp) != key)
    failed = 1 + printf ("NOT OK a router may not change a packet's key\n");
  udp[30] = 1;                  /* sequence number */
  if (flowlog_key (udp, sizeof udp) == key)
    failed = 1 + printf ("NOT OK the next packet has another key\n");

  snprintf (path, sizeof path, "%s/flows.csv", folder);
  remove (path);
  snprintf (path, sizeof path, "%s/links.csv", folder);
  remove (path);
  remove (folder);
  return failed != 0;
}
