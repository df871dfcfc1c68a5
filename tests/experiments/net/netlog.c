/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* netlog -o FOLDER -t SECONDS [-i INTERVAL_MS] [-e EPOCH_NS] SPEC...
 *
 * Watches interfaces in network namespaces and writes the two tables of
 * flowlog.h.  SPECs:
 *
 *   flow:NAME:udp|tcp|rtp:FIRST_PORT-LAST_PORT by destination port; rtp: UDP whose
 *                                              packets a relay sends on
 *   group:NAME:FIRST_PORT-LAST_PORT            UDP to multicast groups: what is sent
 *   member:NAME:PORT:NETNS:FROM_S-TO_S         of that, what a host gets while it listens
 *   sent:NETNS:DEV                             a host's uplink, outgoing
 *   received:NETNS:DEV                         a host's uplink, incoming
 *   router:NETNS                               packets that wait here ...
 *   link:NAME:NETNS:DEV                        ... and leave by this link
 *
 * Sleeps between looks (50 ms): the kernel's time stamps are exact. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "flowlog.h"

#define MAX_TAPS 128
#define SNAP_BYTES 96u
#define BATCH 64

typedef enum { TAP_SENT, TAP_ROUTER, TAP_LINK, TAP_RECEIVED } tap_kind;

typedef struct tap
{
  tap_kind kind;
  int fd;
  int link;
  const char *netns;
} tap;

typedef struct
{
  int64_t t;
  tap_kind kind;                /* also the order in which they are met */
  int link;
  flowlog_packet packet;
} event;

typedef struct
{
  int protocol;
  bool relayed, grouped;
  unsigned first_port, last_port;
  const char *netns;            /* of a member; else NULL */
  double from_s, to_s;
} classifier;

static tap taps[MAX_TAPS];
static int n_taps;
static classifier classifiers[FLOWLOG_MAX_FLOWS];
static int n_classifiers;
static event *events;
static size_t n_events, max_events;
static volatile sig_atomic_t stopped;

static void
on_signal (int signal_number)
{
  (void) signal_number;
  stopped = 1;
}

static void
die (const char *what)
{
  perror (what);
  exit (1);
}

static int64_t
realtime_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_REALTIME, &t);
  return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A packet socket in a network namespace (a name under /run/netns). */
static int
open_socket (const char *netns, const char *dev)
{
  static int own = -1;
  struct sock_filter keep[] = { BPF_STMT (BPF_RET | BPF_K, SNAP_BYTES) };
  struct sock_fprog program = { 1, keep };
  struct sockaddr_ll address = { .sll_family = AF_PACKET,
    .sll_protocol = htons (ETH_P_ALL)   /* only these see what goes out */
  };
  char path[300];
  int one = 1, size = 8 << 20, ns, fd;

  if (own < 0)
    own = open ("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  snprintf (path, sizeof path, "/run/netns/%s", netns);
  ns = open (path, O_RDONLY | O_CLOEXEC);
  if (ns < 0 || setns (ns, CLONE_NEWNET) != 0)
    die (path);
  close (ns);
  /* no protocol yet: nothing may arrive before the filter stands */
  fd = socket (AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0
      || setsockopt (fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
          sizeof program) != 0
      || setsockopt (fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one) != 0)
    die ("packet socket");
  if (setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
    setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  if (dev != NULL) {
    address.sll_ifindex = (int) if_nametoindex (dev);
    if (address.sll_ifindex == 0)
      die (dev);
  }
  if (bind (fd, (struct sockaddr *) &address, sizeof address) != 0)
    die ("bind");
  if (setns (own, CLONE_NEWNET) != 0)
    die ("setns");
  return fd;
}

/* false: it is no flow */
static bool
add_flow (flowlog *log, char **word, int n)
{
  classifier *c = &classifiers[n_classifiers];
  bool ok = false;

  if (n_classifiers == FLOWLOG_MAX_FLOWS)
    return false;
  *c = (classifier) {.protocol = IPPROTO_UDP };
  if (n == 4 && strcmp (word[0], "flow") == 0) {
    c->protocol = strcmp (word[2], "tcp") == 0 ? IPPROTO_TCP : IPPROTO_UDP;
    c->relayed = strcmp (word[2], "rtp") == 0;
    ok = sscanf (word[3], "%u-%u", &c->first_port, &c->last_port) == 2;
  } else if (n == 3 && strcmp (word[0], "group") == 0) {
    c->grouped = true;
    ok = sscanf (word[2], "%u-%u", &c->first_port, &c->last_port) == 2;
  } else if (n == 5 && strcmp (word[0], "member") == 0) {
    c->first_port = c->last_port = (unsigned) atoi (word[2]);
    c->netns = word[3];
    ok = sscanf (word[4], "%lf-%lf", &c->from_s, &c->to_s) == 2;
  }
  if (!ok)
    return false;
  n_classifiers++;
  flowlog_add_flow (log, word[1]);
  return true;
}

static void
add_spec (flowlog *log, char *spec)
{
  char *word[6], *save = NULL;
  int n = 0;
  tap *t = &taps[n_taps];

  for (char *w = strtok_r (spec, ":", &save); w != NULL && n < 6;
      w = strtok_r (NULL, ":", &save))
    word[n++] = w;
  if (add_flow (log, word, n))
    return;
  if (n_taps < MAX_TAPS) {
    n_taps++;
    if (n == 3 && strcmp (word[0], "sent") == 0) {
      *t = (tap) { TAP_SENT, open_socket (word[1], word[2]), 0, word[1] };
      return;
    }
    if (n == 3 && strcmp (word[0], "received") == 0) {
      *t = (tap) { TAP_RECEIVED, open_socket (word[1], word[2]), 0, word[1] };
      return;
    }
    if (n == 2 && strcmp (word[0], "router") == 0) {
      *t = (tap) { TAP_ROUTER, open_socket (word[1], NULL), 0, word[1] };
      return;
    }
    if (n == 4 && strcmp (word[0], "link") == 0) {
      *t = (tap) { TAP_LINK, open_socket (word[2], word[3]),
        flowlog_add_link (log, word[1]), word[2]
      };
      return;
    }
  }
  fprintf (stderr, "netlog: bad %s:...\n", word[0]);
  exit (2);
}

/* Of a packet whose IP header changes on the way: what its flow's RTP header is */
static uint64_t
key_of_rtp (int flow, const uint8_t *rtp)
{
  uint64_t h = UINT64_C (0xcbf29ce484222325) + (uint64_t) flow;

  for (int i = 0; i < 12; i++)
    h = (h ^ rtp[i]) * UINT64_C (0x100000001b3);
  return h;
}

/* false: no flow of ours */
static bool
read_packet (const uint8_t *ip, uint32_t size, flowlog_packet *packet)
{
  uint32_t header = (ip[0] & 15u) * 4u;
  unsigned port;

  if (size < 20 || ip[0] >> 4 != 4 || size < header + 20)
    return false;
  port = (unsigned) ip[header + 2] << 8 | ip[header + 3];
  for (int f = 0; f < n_classifiers; f++) {
    const classifier *c = &classifiers[f];
    const uint8_t *rtp = ip + header + 8;

    if (c->netns != NULL || c->protocol != ip[9] || port < c->first_port
        || port > c->last_port)
      continue;
    packet->flow = f;
    packet->bytes = (uint32_t) ip[2] << 8 | ip[3];
    packet->key = c->relayed ? key_of_rtp (f, rtp) : flowlog_key (ip, size);
    packet->ssrc = 0;
    if (ip[9] == IPPROTO_UDP && rtp[0] >> 6 == 2)
      packet->ssrc = (uint32_t) rtp[8] << 24 | (uint32_t) rtp[9] << 16
          | (uint32_t) rtp[10] << 8 | rtp[11];
    return true;
  }
  return false;
}

static void
note (const tap *tap, const flowlog_packet *packet, int64_t t)
{
  if (n_events == max_events) {
    max_events = max_events * 2 + 1024;
    events = realloc (events, max_events * sizeof *events);
    if (events == NULL)
      die ("memory");
  }
  events[n_events++] = (event) { t, tap->kind, tap->link, *packet };
}

/* As ns-3's recorder has it: what a sender sends has come, and each member has a packet
 * of its own. */
static void
note_grouped (const tap *tap, const flowlog_packet *packet, int64_t t)
{
  const classifier *sent = &classifiers[packet->flow];
  flowlog_packet own = *packet;
  double t_s = (double) t / 1e9;

  if (tap->kind != TAP_RECEIVED)
    note (tap, packet, t);
  if (tap->kind == TAP_SENT)
    note (&(struct tap) {.kind = TAP_RECEIVED }, packet, t);
  for (int f = 0; f < n_classifiers; f++) {
    const classifier *c = &classifiers[f];
    bool here = tap->kind == TAP_SENT || (tap->kind == TAP_RECEIVED
        && c->netns != NULL && strcmp (c->netns, tap->netns) == 0);

    if (c->netns == NULL || c->first_port != sent->first_port || !here
        || t_s < c->from_s || t_s > c->to_s)
      continue;
    own.flow = f;
    own.key = packet->key + (uint64_t) f;
    note (tap, &own, t);
  }
}

static int
by_time (const void *pa, const void *pb)
{
  const event *a = pa, *b = pb;

  if (a->t != b->t)
    return a->t < b->t ? -1 : 1;
  return (int) a->kind - (int) b->kind;
}

static void
tell (flowlog *log)
{
  qsort (events, n_events, sizeof *events, by_time);
  for (size_t i = 0; i < n_events; i++) {
    const event *e = &events[i];

    if (e->kind == TAP_SENT)
      flowlog_sent (log, &e->packet, e->t);
    else if (e->kind == TAP_ROUTER)
      flowlog_entered (log, e->packet.key, e->t);
    else if (e->kind == TAP_LINK)
      flowlog_passed (log, e->link, &e->packet, e->t);
    else
      flowlog_received (log, &e->packet, e->t);
  }
  n_events = 0;
}

static void
drain (const tap *tap, int64_t epoch)
{
  static uint8_t data[BATCH][SNAP_BYTES];
  static char control[BATCH][64];
  static struct sockaddr_ll from[BATCH];
  static struct iovec iov[BATCH];
  static struct mmsghdr m[BATCH];
  int n;

  do {
    for (int i = 0; i < BATCH; i++) {
      iov[i] = (struct iovec) { data[i], SNAP_BYTES };
      m[i].msg_hdr = (struct msghdr) { &from[i], sizeof from[i], &iov[i], 1,
        control[i], sizeof control[i], 0
      };
    }
    n = recvmmsg (tap->fd, m, BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
      struct cmsghdr *c = CMSG_FIRSTHDR (&m[i].msg_hdr);
      struct timespec stamp;
      bool outgoing = from[i].sll_pkttype == PACKET_OUTGOING;
      flowlog_packet packet;
      int64_t t;

      if (from[i].sll_protocol != htons (ETH_P_IP)
          || outgoing != (tap->kind == TAP_SENT || tap->kind == TAP_LINK))
        continue;
      if (c == NULL || c->cmsg_type != SCM_TIMESTAMPNS
          || !read_packet (data[i], m[i].msg_len, &packet))
        continue;
      memcpy (&stamp, CMSG_DATA (c), sizeof stamp);
      t = (int64_t) stamp.tv_sec * 1000000000 + stamp.tv_nsec - epoch;
      if (classifiers[packet.flow].grouped)
        note_grouped (tap, &packet, t);
      else
        note (tap, &packet, t);
    }
  } while (n == BATCH);
}

int
main (int argc, char **argv)
{
  const char *folder = ".";
  double seconds = 60, interval_ms = 100;
  int64_t epoch = 0, end;
  flowlog *log;
  int c;

  while ((c = getopt (argc, argv, "o:t:i:e:")) != -1)
    switch (c) {
      case 'o': folder = optarg; break;
      case 't': seconds = atof (optarg); break;
      case 'i': interval_ms = atof (optarg); break;
      case 'e': epoch = atoll (optarg); break;
      default: return 2;
    }
  log = flowlog_open (folder, (int64_t) (interval_ms * 1e6));
  if (log == NULL)
    return 1;
  for (int i = optind; i < argc; i++)
    add_spec (log, argv[i]);
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  if (epoch == 0)
    epoch = realtime_ns ();
  end = (int64_t) (seconds * 1e9);
  while (!stopped && realtime_ns () - epoch < end) {
    struct timespec nap = { 0, 50000000 };

    nanosleep (&nap, NULL);
    for (int i = 0; i < n_taps; i++)
      drain (&taps[i], epoch);
    tell (log);
    flowlog_advance (log, realtime_ns () - epoch);
  }
  flowlog_close (log, realtime_ns () - epoch < end
      ? realtime_ns () - epoch : end);
  return 0;
}
