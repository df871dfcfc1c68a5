/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linkdelay IN OUT WHAT SEED: a link whose delay wanders (delay-series.h).
 *
 * Takes the Ethernet frames that arrive at device IN and sends them from OUT when
 * they have arrived.  How fast the link is, and a delay that stays, is said in front
 * of IN and behind OUT. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "delay-series.h"
#include "frames.h"

typedef struct frame
{
  struct frame *next;
  FmxTime due;
  size_t size;
  uint8_t data[];
} frame;

static DelaySeries series;
static FmxTime epoch;
static frame *head, **tail = &head;
static volatile sig_atomic_t stopped;

static void
read_frames (int in, int out, FmxTime now)
{
  static uint8_t data[65536 + 256];
  size_t size, bytes;

  while ((size = frames_receive (in, data, sizeof data)) > 0) {
    frame *f;

    if (frames_ip (data, size, &bytes) == NULL) {       /* ARP */
      frames_send (out, data, size);
      continue;
    }
    f = malloc (sizeof *f + size);
    if (f == NULL) {
      perror ("linkdelay");
      exit (1);
    }
    f->next = NULL;
    f->due = epoch + delay_series_arrival (&series, now - epoch);
    f->size = size;
    memcpy (f->data, data, size);
    *tail = f;
    tail = &f->next;
  }
}

static void
send_due (int out, FmxTime now)
{
  while (head != NULL && head->due <= now) {
    frame *f = head;

    head = f->next;
    if (head == NULL)
      tail = &head;
    frames_send (out, f->data, f->size);
    free (f);
  }
}

static void
on_signal (int number)
{
  (void) number;
  stopped = 1;
}

int
main (int argc, char **argv)
{
  int in, out;

  if (argc != 5) {
    fprintf (stderr, "usage: linkdelay IN OUT WHAT SEED\n");
    return 2;
  }
  if (!delay_series_open (&series, argv[3], strtoull (argv[4], NULL, 10))) {
    fprintf (stderr, "linkdelay: there is no %s\n", argv[3]);
    return 1;
  }
  in = frames_open (argv[1]);
  out = frames_open (argv[2]);
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  prctl (PR_SET_TIMERSLACK, 1);
  epoch = frames_now ();
  while (!stopped) {
    struct pollfd p = { in, POLLIN, 0 };
    FmxTime now = frames_now (), wait = 3600 * (FmxTime) FMX_SECOND;
    struct timespec nap;

    send_due (out, now);
    if (head != NULL)
      wait = head->due - now;
    nap.tv_sec = (time_t) (wait / (FmxTime) FMX_SECOND);
    nap.tv_nsec = (long) (wait % (FmxTime) FMX_SECOND);
    if (ppoll (&p, 1, &nap, NULL) > 0)
      read_frames (in, out, frames_now ());
  }
  delay_series_close (&series);
  return 0;
}
