/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* linkemu PLAN FOLDER PREFIX: a scenario's links in real time.
 *
 * Opens a TUN device e0 in the network namespace of every host (PREFIX and
 * its name; they must exist), carries packets between them over routers and
 * links that exist only in here, and writes flows.csv and links.csv into
 * FOLDER.  Prints "ready" when packets can pass; ends after the plan's time.
 *
 * Every event carries the exact time at which it is due: a late wake-up shows
 * where a packet leaves, but never adds up and never changes a link's rate.
 * PLAN is what lab/ns3.py writes for the ns-3 runner, too. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/route.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ecn.h"
#include "flowlog.h"

#define MAX_HOSTS (2 * FLOWLOG_MAX_FLOWS)
#define MAX_PIPES (2 * FLOWLOG_MAX_LINKS)
#define MAX_ROUTERS 32
#define MAX_STEPS 64
#define FIRST_PORT 5000
#define RED_WEIGHT 0.002
#define NS_PER_S INT64_C (1000000000)

typedef struct
{
  int n;
  double t_s[MAX_STEPS], value[MAX_STEPS];
} staircase;

typedef struct packet
{
  struct packet *next;
  int source, sink;             /* hosts */
  uint32_t size;
  bool ours;                    /* of a flow: what follows is set */
  flowlog_packet log;
  uint8_t data[];
} packet;

/* One direction of a link: a queue, a rate, a delay. */
typedef struct
{
  int from, to;                 /* routers */
  int log;
  staircase rate_bps, delay_ms, loss;
  uint32_t limit_bytes, limit_packets;
  bool red, ecn;
  double red_min, red_max, red_probability, red_average;
  int red_count;
  packet *head, **tail;
  uint32_t queued_bytes, queued_packets;
  bool busy;
} pipe_dir;

typedef struct
{
  char name[64];
  int router;
  int64_t delay_ns;             /* on the cable to its router */
  int fd;
} host;

typedef enum { EVENT_ROUTER, EVENT_HOST, EVENT_SENT } event_kind;

typedef struct
{
  int64_t t;
  uint64_t order;
  event_kind kind;
  int where;                    /* router, host, pipe */
  packet *packet;
} event;

static host hosts[MAX_HOSTS];
static int n_hosts;
static pipe_dir pipes[MAX_PIPES];
static int n_pipes;
static char routers[MAX_ROUTERS][64];
static int n_routers;
static int next_pipe[MAX_ROUTERS][MAX_ROUTERS];
static bool flow_is_tcp[FLOWLOG_MAX_FLOWS];
static char names[FLOWLOG_MAX_FLOWS + MAX_PIPES][64];
static int n_flows, n_names;
static flowlog *record;
static event *heap;
static size_t n_events, max_events;
static uint64_t n_pushed;
static int64_t epoch, end;
static uint64_t random_state = 1;
static volatile sig_atomic_t stopped;

static void
die (const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  fprintf (stderr, "linkemu: ");
  vfprintf (stderr, format, arguments);
  fprintf (stderr, errno ? ": %s\n" : "\n", strerror (errno));
  va_end (arguments);
  exit (1);
}

static int64_t
now_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t) t.tv_sec * NS_PER_S + t.tv_nsec - epoch;
}

/* splitmix64, as a number in [0, 1) */
static double
random_unit (void)
{
  uint64_t z = (random_state += UINT64_C (0x9e3779b97f4a7c15));

  z = (z ^ (z >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C (0x94d049bb133111eb);
  return (double) ((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static double
at (const staircase *s, int64_t t)
{
  double value = s->value[0];

  for (int i = 1; i < s->n && s->t_s[i] * 1e9 <= (double) t; i++)
    value = s->value[i];
  return value;
}

/* ---- events, a binary heap ---- */

static bool
before (const event *a, const event *b)
{
  return a->t < b->t || (a->t == b->t && a->order < b->order);
}

static void
push (int64_t t, event_kind kind, int where, packet *p)
{
  event e = { t, n_pushed++, kind, where, p };
  size_t i = n_events++;

  if (n_events > max_events) {
    max_events = max_events * 2 + 1024;
    heap = realloc (heap, max_events * sizeof *heap);
    if (heap == NULL)
      die ("memory");
  }
  for (; i > 0 && before (&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
    heap[i] = heap[(i - 1) / 2];
  heap[i] = e;
}

static event
pop (void)
{
  event first = heap[0], last = heap[--n_events];
  size_t i = 0, child;

  while ((child = 2 * i + 1) < n_events) {
    if (child + 1 < n_events && before (&heap[child + 1], &heap[child]))
      child++;
    if (!before (&heap[child], &last))
      break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return first;
}

/* ---- links ---- */

static void
transmit (int number, int64_t t)
{
  pipe_dir *l = &pipes[number];
  double bps = at (&l->rate_bps, t);

  l->busy = l->head != NULL;
  if (l->busy)
    push (t + (int64_t) (l->head->size * 8e9 / bps + 0.5), EVENT_SENT, number,
        NULL);
}

/* Kernel's and ns-3's default: gentle, marks by packets. */
static bool
red_drops (pipe_dir *l)
{
  double p = 0;

  l->red_average += RED_WEIGHT * (l->queued_bytes - l->red_average);
  if (l->red_average >= 2 * l->red_max)
    p = 1;
  else if (l->red_average >= l->red_max)
    p = l->red_probability + (1 - l->red_probability)
        * (l->red_average - l->red_max) / l->red_max;
  else if (l->red_average >= l->red_min)
    p = l->red_probability * (l->red_average - l->red_min)
        / (l->red_max - l->red_min);
  if (p <= 0) {
    l->red_count = -1;
    return false;
  }
  l->red_count++;
  if (l->red_count * p < 1)
    p = p / (1 - l->red_count * p);
  if (random_unit () >= p)
    return false;
  l->red_count = 0;
  return true;
}

/* Marked instead, where the transport takes that [RFC3168 5] */
static bool
marks (const pipe_dir *l, packet *p)
{
  return l->ecn && l->red_average < 2 * l->red_max && ecn_mark (p->data);
}

static void
enqueue (int number, packet *p, int64_t t)
{
  pipe_dir *l = &pipes[number];

  if ((l->red && red_drops (l) && !marks (l, p))
      || (l->limit_bytes > 0 && l->queued_bytes + p->size > l->limit_bytes)
      || (l->limit_packets > 0 && l->queued_packets >= l->limit_packets)) {
    free (p);
    return;
  }
  p->next = NULL;
  *l->tail = p;
  l->tail = &p->next;
  l->queued_bytes += p->size;
  l->queued_packets++;
  if (!l->busy)
    transmit (number, t);
}

static void
on_sent (int number, int64_t t)
{
  pipe_dir *l = &pipes[number];
  packet *p = l->head;

  l->head = p->next;
  if (l->head == NULL)
    l->tail = &l->head;
  l->queued_bytes -= p->size;
  l->queued_packets--;
  if (p->ours)
    flowlog_passed (record, l->log, &p->log, t);
  if (random_unit () < at (&l->loss, t))
    free (p);
  else
    push (t + (int64_t) (at (&l->delay_ms, t) * 1e6), EVENT_ROUTER, l->to, p);
  transmit (number, t);
}

static void
on_router (int router, packet *p, int64_t t)
{
  host *sink = &hosts[p->sink];

  if (p->ours)
    flowlog_entered (record, p->log.key, t);
  if (sink->router == router)
    push (t + sink->delay_ns, EVENT_HOST, p->sink, p);
  else
    enqueue (next_pipe[router][sink->router], p, t);
}

static void
on_host (packet *p, int64_t t)
{
  if (p->ours)
    flowlog_received (record, &p->log, t);
  if (write (hosts[p->sink].fd, p->data, p->size) < 0 && errno != EAGAIN
      && errno != EIO && errno != ENOBUFS)
    die ("write to %s", hosts[p->sink].name);
  free (p);
}

static void
run_until (int64_t t)
{
  while (n_events > 0 && heap[0].t <= t) {
    event e = pop ();

    if (e.kind == EVENT_SENT)
      on_sent (e.where, e.t);
    else if (e.kind == EVENT_ROUTER)
      on_router (e.where, e.packet, e.t);
    else
      on_host (e.packet, e.t);
  }
}

/* ---- hosts ---- */

/* Host h has 10.1.h.2. */
static int
host_of (const uint8_t *address)
{
  if (address[0] == 10 && address[1] == 1 && address[3] == 2
      && address[2] < n_hosts)
    return address[2];
  return -1;
}

static void
classify (packet *p)
{
  const uint8_t *ip = p->data;
  uint32_t header = (ip[0] & 15u) * 4u;
  int flow;

  p->ours = false;
  if (p->size < header + 8)
    return;
  flow = (((int) ip[header + 2] << 8 | ip[header + 3]) - FIRST_PORT) / 10;
  if (flow < 0 || flow >= n_flows || p->sink != 2 * flow + 1
      || ((ip[header + 2] << 8 | ip[header + 3]) - FIRST_PORT) % 10 != 0
      || ip[9] != (flow_is_tcp[flow] ? IPPROTO_TCP : IPPROTO_UDP))
    return;
  p->ours = true;
  p->log.flow = flow;
  p->log.bytes = p->size;
  p->log.key = flowlog_key (ip, p->size);
  p->log.ssrc = 0;
  if (!flow_is_tcp[flow] && p->size >= header + 20 && ip[header + 8] >> 6 == 2)
    p->log.ssrc = (uint32_t) ip[header + 16] << 24
        | (uint32_t) ip[header + 17] << 16 | (uint32_t) ip[header + 18] << 8
        | ip[header + 19];
}

static void
read_host (int number, int64_t t)
{
  static uint8_t data[65536];
  ssize_t size;

  while ((size = read (hosts[number].fd, data, sizeof data)) > 0) {
    packet *p;

    if (size < 20 || data[0] >> 4 != 4 || host_of (data + 16) < 0)
      continue;
    p = malloc (sizeof *p + (size_t) size);
    if (p == NULL)
      die ("memory");
    p->source = number;
    p->sink = host_of (data + 16);
    p->size = (uint32_t) size;
    memcpy (p->data, data, (size_t) size);
    classify (p);
    if (p->ours)
      flowlog_sent (record, &p->log, t);
    push (t + hosts[number].delay_ns, EVENT_ROUTER, hosts[number].router, p);
  }
}

static void
set_address (int s, struct ifreq *r, unsigned long request, uint32_t address)
{
  struct sockaddr_in *in = (struct sockaddr_in *) &r->ifr_addr;

  memset (in, 0, sizeof *in);
  in->sin_family = AF_INET;
  in->sin_addr.s_addr = htonl (address);
  if (ioctl (s, request, r) != 0)
    die ("%s: address", r->ifr_name);
}

static void
up (int s, const char *dev)
{
  struct ifreq r = { 0 };

  snprintf (r.ifr_name, sizeof r.ifr_name, "%s", dev);
  r.ifr_flags = IFF_UP | IFF_RUNNING;
  if (ioctl (s, SIOCSIFFLAGS, &r) != 0)
    die ("%s: up", dev);
}

/* A TUN device in the host's namespace, with address and default route. */
static void
open_host (int number, const char *prefix, int own)
{
  host *h = &hosts[number];
  struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI };
  struct rtentry route = { 0 };
  char path[300], dev[] = "e0";
  int ns, s;

  snprintf (path, sizeof path, "/run/netns/%.64s%.63s", prefix, h->name);
  ns = open (path, O_RDONLY | O_CLOEXEC);
  if (ns < 0 || setns (ns, CLONE_NEWNET) != 0)
    die ("%s", path);
  close (ns);
  h->fd = open ("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  strcpy (r.ifr_name, dev);
  if (h->fd < 0 || ioctl (h->fd, TUNSETIFF, &r) != 0)
    die ("/dev/net/tun");
  s = socket (AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  set_address (s, &r, SIOCSIFADDR, 0x0a010002u + ((uint32_t) number << 8));
  set_address (s, &r, SIOCSIFNETMASK, 0xffffff00u);
  r.ifr_qlen = 10000;
  ioctl (s, SIOCSIFTXQLEN, &r);
  up (s, dev);
  up (s, "lo");
  route.rt_dst.sa_family = route.rt_genmask.sa_family = AF_INET;
  route.rt_flags = RTF_UP;
  route.rt_dev = dev;
  if (ioctl (s, SIOCADDRT, &route) != 0 && errno != EEXIST)
    die ("%s: route", path);
  close (s);
  if (setns (own, CLONE_NEWNET) != 0)
    die ("setns");
}

/* ---- the plan ---- */

static const char *
word (char *const *words, int n, const char *name)
{
  size_t length = strlen (name);

  for (int i = 1; i < n; i++)
    if (strncmp (words[i], name, length) == 0 && words[i][length] == '=')
      return words[i] + length + 1;
  errno = 0;
  die ("plan: %s lacks %s", words[0], name);
  return NULL;
}

static void
steps (staircase *s, const char *text)
{
  int used;

  for (s->n = 0; s->n < MAX_STEPS && sscanf (text, "%lf:%lf%n",
          &s->t_s[s->n], &s->value[s->n], &used) == 2; s->n++)
    text += used + (text[used] == ',');
  if (s->n == 0)
    die ("plan: steps %s", text);
}

static int
router_of (const char *name)
{
  for (int i = 0; i < n_routers; i++)
    if (strcmp (routers[i], name) == 0)
      return i;
  if (n_routers == MAX_ROUTERS)
    die ("too many routers");
  snprintf (routers[n_routers], sizeof routers[0], "%s", name);
  return n_routers++;
}

static void
add_pipe (char *const *words, int n, bool back)
{
  pipe_dir *l = &pipes[n_pipes];
  char *name = names[n_names++];

  if (n_pipes == MAX_PIPES)
    die ("too many links");
  n_pipes++;
  snprintf (name, sizeof names[0], "%s%s", word (words, n, "name"),
      back ? "-back" : "");
  l->log = flowlog_add_link (record, name);
  l->from = router_of (word (words, n, back ? "to" : "from"));
  l->to = router_of (word (words, n, back ? "from" : "to"));
  steps (&l->rate_bps, word (words, n, back ? "back_rate_bps" : "rate_bps"));
  steps (&l->delay_ms, word (words, n, "delay_ms"));
  steps (&l->loss, word (words, n, back ? "back_loss" : "loss"));
  l->limit_bytes = (uint32_t) atoi (word (words, n, "queue_bytes"));
  l->limit_packets = (uint32_t) atoi (word (words, n, "queue_packets"));
  l->red = strcmp (word (words, n, "queue"), "red") == 0;
  l->red_min = atof (word (words, n, "red_min_bytes"));
  l->red_max = atof (word (words, n, "red_max_bytes"));
  l->red_probability = atof (word (words, n, "red_probability"));
  l->ecn = atoi (word (words, n, "ecn")) != 0;
  l->red_count = -1;
  l->tail = &l->head;
}

static void
add_flow (char *const *words, int n)
{
  char *name = names[n_names++];
  int64_t delay = (int64_t) (atof (word (words, n, "access_delay_ms")) * 1e6);

  snprintf (name, sizeof names[0], "%s", word (words, n, "name"));
  if (flowlog_add_flow (record, name) < 0)
    die ("too many flows");
  flow_is_tcp[n_flows++] = strcmp (words[0], "tcp") == 0;
  for (int k = 0; k < 2; k++) {
    host *h = &hosts[n_hosts++];

    snprintf (h->name, sizeof h->name, "%.60s-%s", name, k == 0 ? "s" : "d");
    h->router = router_of (word (words, n, k == 0 ? "from" : "to"));
    h->delay_ns = delay / 2;
  }
}

static void
read_plan (const char *path)
{
  FILE *f = fopen (path, "r");
  static char line[65536];

  if (f == NULL)
    die ("%s", path);
  while (fgets (line, sizeof line, f) != NULL) {
    char *words[64], *save = NULL;
    int n = 0;

    for (char *w = strtok_r (line, " \n", &save); w != NULL && n < 64;
        w = strtok_r (NULL, " \n", &save))
      words[n++] = w;
    if (n == 0 || words[0][0] == '#')
      continue;
    if (strcmp (words[0], "run") == 0) {
      end = (int64_t) (atof (word (words, n, "duration_s")) * 1e9);
      random_state = strtoull (word (words, n, "seed"), NULL, 10);
    } else if (strcmp (words[0], "link") == 0) {
      add_pipe (words, n, false);
      add_pipe (words, n, true);
    } else
      add_flow (words, n);
  }
  fclose (f);
}

/* Breadth first from every router. */
static void
find_routes (void)
{
  for (int to = 0; to < n_routers; to++) {
    int queue[MAX_ROUTERS], head = 0, n = 1;
    bool seen[MAX_ROUTERS] = { false };

    queue[0] = to;
    seen[to] = true;
    for (; head < n; head++)
      for (int l = 0; l < n_pipes; l++)
        if (pipes[l].to == queue[head] && !seen[pipes[l].from]) {
          seen[pipes[l].from] = true;
          next_pipe[pipes[l].from][to] = l;
          queue[n++] = pipes[l].from;
        }
    if (n != n_routers)
      die ("not every router can be reached");
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
  struct pollfd polls[MAX_HOSTS];
  int own = open ("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  int64_t worst = 0, due;

  if (argc != 4) {
    fprintf (stderr, "usage: linkemu PLAN FOLDER PREFIX\n");
    return 2;
  }
  record = flowlog_open (argv[2], NS_PER_S / 10);
  if (record == NULL)
    return 1;
  read_plan (argv[1]);
  find_routes ();
  for (int i = 0; i < n_hosts; i++) {
    open_host (i, argv[3], own);
    polls[i] = (struct pollfd) { hosts[i].fd, POLLIN, 0 };
  }
  signal (SIGINT, on_signal);
  signal (SIGTERM, on_signal);
  prctl (PR_SET_TIMERSLACK, 1);
  epoch = now_ns ();
  printf ("ready\n");
  fflush (stdout);
  due = NS_PER_S;
  while (!stopped && now_ns () < end) {
    int64_t t = now_ns (), wait;
    struct timespec nap;

    if (n_events > 0 && t - heap[0].t > worst)
      worst = t - heap[0].t;
    run_until (t);
    if (t >= due) {
      flowlog_advance (record, t);
      due = t + NS_PER_S;
    }
    wait = (n_events > 0 && heap[0].t < due ? heap[0].t : due) - now_ns ();
    nap.tv_sec = wait > 0 ? wait / NS_PER_S : 0;
    nap.tv_nsec = wait > 0 ? wait % NS_PER_S : 0;
    if (ppoll (polls, (nfds_t) n_hosts, &nap, NULL) <= 0)
      continue;
    t = now_ns ();
    run_until (t);              /* what was due before comes first */
    for (int i = 0; i < n_hosts; i++)
      if (polls[i].revents & POLLIN)
        read_host (i, t);
  }
  flowlog_close (record, now_ns ());
  printf ("latest event %.1f ms late\n", (double) worst / 1e6);
  return 0;
}
