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
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "ecn.h"
#include "fairmix/queue/fmx-class-queue.h"

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

static FmxTime
now_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (FmxTime) t.tv_sec * (FmxTime) FMX_SECOND + (FmxTime) t.tv_nsec;
}

static int
open_device (const char *name)
{
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = htons (ETH_P_ALL),
    .sll_ifindex = (int) if_nametoindex (name)
  };
  int one = 1, room = 1 << 24;
  int fd = socket (AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, 0);

  if (fd < 0 || address.sll_ifindex == 0
      || setsockopt (fd, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) != 0
      || setsockopt (fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one)
      != 0 || bind (fd, (struct sockaddr *) &address, sizeof address) != 0)
    die (name);
  setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt (fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  return fd;
}

static void
send_frame (int out, const frame * f)
{
  if (send (out, f->data, f->size, 0) < 0 && errno != ENOBUFS
      && errno != EAGAIN)
    die ("linkqueue: send");
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
  const size_t before = sizeof (struct virtio_net_hdr) + ETH_HLEN;
  static uint8_t data[65536 + 256];
  ssize_t size;

  while ((size = recv (in, data, sizeof data, 0)) > 0) {
    frame *f = malloc (sizeof *f + (size_t) size);
    FmxQueueVerdict verdict;
    uint8_t *ip;

    if (f == NULL)
      die ("memory");
    f->next = NULL;
    f->size = (size_t) size;
    memcpy (f->data, data, f->size);
    ip = f->data + before;
    if (f->size < before + 20 || ip[0] >> 4 != 4) {     /* ARP */
      send_frame (out, f);
      free (f);
      continue;
    }
    f->klass = class_of (ip, f->size - before);
    f->packet.bytes = (uint32_t) (f->size - before);
    f->packet.can_mark = ecn_can_mark (ip);
    verdict = fmx_class_queue_on_arrival (&queue, &classes[f->klass],
        &f->packet, &rng, now);
    if (verdict == FMX_QUEUE_DROP) {
      free (f);
      continue;
    }
    if (verdict == FMX_QUEUE_MARK)
      ecn_mark (ip);
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
  in = open_device (argv[1]);
  out = open_device (argv[2]);
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  prctl (PR_SET_TIMERSLACK, 1);
  while (!stopped) {
    struct pollfd p = { in, POLLIN, 0 };
    FmxTime now = now_ns ();
    struct timespec nap;

    if (sending != NULL && due <= now) {
      send_frame (out, sending);
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
      read_frames (in, out, now_ns ());
  }
  return 0;
}
