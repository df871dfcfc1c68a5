/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linkqueue IN OUT KEY=VALUE... : the library's queue in front of a link.
 *
 * Takes the Ethernet frames that arrive at device IN and sends them from OUT at
 * a rate, through fmx-class-queue: TCP, "marked" and all other packets are its
 * classes; marked is UDP to a port of the list.  A delay may wait behind OUT.
 *
 *   rate_bps            of the link; IP packets count, frames do not
 *   discipline          fifo, red, cbt
 *   limit_packets       of the queue
 *   red_min, red_max, red_p, weight   RED's, for all or for TCP
 *   marked, other       thresholds, in packets
 *   threshold_weight    of the classes' averages
 *   ports               5010,5020,... of what is marked
 *   seed
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "ecn.h"
#include "fairmix/queue/fmx-class-queue.h"
#include "frames.h"

#define MAX_PORTS 64
#define TYPICAL_BYTES 1000

enum
{
  TCP, MARKED, OTHER, N_CLASSES
};

/* A frame, behind what the kernel tells and wants to be told about checksums */
typedef struct frame
{
  struct frame *next;
  int klass;
  FmxQueuePacket packet;
  size_t size;
  uint8_t data[];
} frame;

static FmxClassQueue queue;
static FmxQueueClass classes[N_CLASSES];
static FmxRng rng;
static frame *head, **tail = &head;
static uint16_t ports[MAX_PORTS];
static int n_ports;
static double rate_bps;
static volatile sig_atomic_t stopped;

static void
die (const char *what)
{
  perror (what);
  exit (1);
}

static int
class_of (const uint8_t * ip, size_t size)
{
  size_t header = (ip[0] & 15u) * 4u;

  if (ip[9] == IPPROTO_TCP)
    return TCP;
  if (ip[9] == IPPROTO_UDP && size >= header + 4)
    for (int i = 0; i < n_ports; i++)
      if (ports[i] == (ip[header + 2] << 8 | ip[header + 3]))
        return MARKED;
  return OTHER;
}

static void
read_frames (int in, int out, FmxTime now)
{
  static uint8_t data[65536 + 256];
  size_t size, bytes;

  while ((size = frames_receive (in, data, sizeof data)) > 0) {
    FmxQueueVerdict verdict;
    uint8_t *ip = frames_ip (data, size, &bytes);
    frame *f;

    if (ip == NULL) {           /* ARP */
      frames_send (out, data, size);
      continue;
    }
    f = malloc (sizeof *f + size);
    if (f == NULL)
      die ("memory");
    f->next = NULL;
    f->size = size;
    f->klass = class_of (ip, bytes);
    f->packet.bytes = (uint32_t) bytes;
    f->packet.can_mark = ecn_can_mark (ip);
    verdict = fmx_class_queue_on_arrival (&queue, &classes[f->klass],
        &f->packet, &rng, now);
    if (verdict == FMX_QUEUE_DROP) {
      free (f);
      continue;
    }
    if (verdict == FMX_QUEUE_MARK)
      ecn_mark (ip);
    memcpy (f->data, data, size);
    *tail = f;
    tail = &f->next;
  }
}

/* ---- settings ---- */

static const char *
word (char **words, const char *name)
{
  size_t length = strlen (name);

  for (; *words != NULL; words++)
    if (strncmp (*words, name, length) == 0 && (*words)[length] == '=')
      return *words + length + 1;
  fprintf (stderr, "linkqueue: %s= is missing\n", name);
  exit (2);
}

static double
value (char **words, const char *name)
{
  return atof (word (words, name));
}

static void
read_settings (char **words)
{
  FmxClassQueueParams params;
  FmxClassParams tcp, marked;
  char *list = strdup (word (words, "ports")), *save = NULL;

  rate_bps = value (words, "rate_bps");
  fmx_class_queue_params_default (&params);
  for (unsigned i = 0; i < FMX_N_DISCIPLINES; i++)
    if (strcmp (fmx_discipline_names[i], word (words, "discipline")) == 0)
      params.discipline = (FmxDiscipline) i;
  params.limit_packets = (uint32_t) value (words, "limit_packets");
  params.red.min_packets = value (words, "red_min");
  params.red.max_packets = value (words, "red_max");
  params.red.max_p = value (words, "red_p");
  params.average.weight = value (words, "weight");
  params.average.packet_time = fmx_time_from_s (8 * TYPICAL_BYTES / rate_bps);
  fmx_class_queue_init (&queue, &params);
  fmx_class_params_default (&tcp, FMX_CLASS_RED);
  tcp.red = params.red;
  tcp.average = params.average;
  fmx_queue_class_init (&classes[TCP], &tcp);
  fmx_class_params_default (&marked, FMX_CLASS_THRESHOLD);
  marked.average.weight = value (words, "threshold_weight");
  marked.average.packet_time = params.average.packet_time;
  marked.threshold_packets = value (words, "marked");
  fmx_queue_class_init (&classes[MARKED], &marked);
  marked.threshold_packets = value (words, "other");
  fmx_queue_class_init (&classes[OTHER], &marked);
  fmx_rng_init (&rng, (uint64_t) value (words, "seed"));
  for (char *p = strtok_r (list, ",", &save); p != NULL && n_ports < MAX_PORTS;
      p = strtok_r (NULL, ",", &save))
    ports[n_ports++] = (uint16_t) atoi (p);
  free (list);
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
  FmxTime due = FMX_TIME_NONE;  /* the frame that is being sent has been */
  frame *sending = NULL;
  int in, out;

  if (argc < 4) {
    fprintf (stderr, "usage: linkqueue IN OUT KEY=VALUE...\n");
    return 2;
  }
  read_settings (argv + 3);
  in = frames_open (argv[1]);
  out = frames_open (argv[2]);
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  prctl (PR_SET_TIMERSLACK, 1);
  while (!stopped) {
    struct pollfd p = { in, POLLIN, 0 };
    FmxTime now = frames_now ();
    struct timespec nap;

    if (sending != NULL && due <= now) {
      frames_send (out, sending->data, sending->size);
      free (sending);
      sending = NULL;
    }
    if (sending == NULL && head != NULL) {
      sending = head;
      head = head->next;
      if (head == NULL)
        tail = &head;
      fmx_class_queue_on_departure (&queue, &classes[sending->klass],
          &sending->packet, now);
      due = now + (FmxTime) fmx_time_from_s (8.0 * sending->packet.bytes
          / rate_bps);
      continue;
    }
    nap.tv_sec = sending != NULL ? (time_t) ((due - now) / FMX_SECOND) : 3600;
    nap.tv_nsec = sending != NULL ? (long) ((due - now) % FMX_SECOND) : 0;
    if (ppoll (&p, 1, &nap, NULL) > 0)
      read_frames (in, out, frames_now ());
  }
  return 0;
}
