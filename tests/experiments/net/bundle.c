/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bundle recv PORT
 * bundle send ADDRESS PORT TABLE SECONDS WORD=VALUE...
 *
 * A bundle of talkers behind a partial mixer, by libfairmix alone over UDP
 * sockets: packets of the right size at the right time, without their sound.
 * Cheap enough to try a controller hundreds of times against the kernel's TCP.
 * TABLE is a senders.csv; the words are those of the plan (lab/ns3.py). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fairmix/adapt/fmx-adapt-mix.h"
#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/wire/fmx-ccfb-collector.h"

#define MAX_STREAMS 64u
#define OVERHEAD_BYTES (FMX_IP_UDP_BYTES + FMX_RTP_HEADER_BYTES)
#define PROBE_BYTES (OVERHEAD_BYTES + 4)
#define FIRST_SSRC 0x1000u
#define MAX_STEPS 32
#define PACED_BYTES 200u

typedef struct
{
  const char *name, *strategy;
  unsigned n_streams;
  double stream_bps, packet_s;
  bool ignore_feedback, paced;
  int n_steps;
  double step_s[MAX_STEPS], step_on[MAX_STEPS];

  int fd;
  FILE *table;
  double epoch_s;
  FmxTime start, stop;
  FmxRateSender rate;
  bool has_rate;
  FmxEventSink sink;
  uint64_t target_bps;
  FmxAdaptMix mix;
  FmxAdaptParams adapt;
  FmxAdaptPlan plan;
  FmxSelectStream streams[MAX_STREAMS];
  uint32_t order[MAX_STREAMS];
  int32_t assignment[MAX_STREAMS];
  uint16_t seq[MAX_STREAMS + FMX_ADAPT_MAX_MIXES + 1];
  FmxTime due[MAX_STREAMS + FMX_ADAPT_MAX_MIXES];     /* without jitter */
  FmxTime next[MAX_STREAMS + FMX_ADAPT_MAX_MIXES];
  FmxRng rng;
  double jitter_s;
  FmxTime next_line;
  FmxTime now;
} sender;

static FmxTime
now_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (FmxTime) t.tv_sec * 1000000000u + (FmxTime) t.tv_nsec;
}

static uint32_t
mid32 (FmxTime t)
{
  return (uint32_t) (t / 1000000000u << 16)
      + (uint32_t) ((t % 1000000000u << 16) / 1000000000u);
}

/* Returns: whether something can be read.  System calls are what a run costs:
 * the clock is read once for each wake-up. */
static bool
wait_for (int fd, FmxTime when, FmxTime now)
{
  FmxTime left = when > now ? when - now : 0;
  struct timespec t = { (time_t) (left / 1000000000u),
    (long) (left % 1000000000u)
  };
  struct pollfd p = { fd, POLLIN, 0 };

  return ppoll (&p, 1, &t, NULL) > 0;
}

static void
die (const char *what)
{
  perror (what);
  exit (1);
}

/* A socket whose packets take marks, and tell them, where the run has that. */
static int
open_socket (void)
{
  int fd = socket (AF_INET, SOCK_DGRAM, 0), one = 1, ect_0 = 2;

  if (getenv ("FMX_ECN") != NULL) {
    setsockopt (fd, IPPROTO_IP, IP_TOS, &ect_0, sizeof ect_0);
    setsockopt (fd, IPPROTO_IP, IP_RECVTOS, &one, sizeof one);
  }
  return fd;
}

/* ---- receiver ---- */

/* As recvfrom(), with the packet's ECN bits. */
static ssize_t
receive_packet (int fd, uint8_t *data, size_t size, struct sockaddr_in *from,
    uint8_t *ecn)
{
  union
  {
    struct cmsghdr header;
    char room[CMSG_SPACE (sizeof (int))];
  } control;
  struct iovec part = { data, size };
  struct msghdr message = {.msg_name = from,.msg_namelen = sizeof *from,
    .msg_iov = &part,.msg_iovlen = 1,
    .msg_control = &control,.msg_controllen = sizeof control
  };
  ssize_t n = recvmsg (fd, &message, MSG_DONTWAIT);
  const struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR (&message);

  *ecn = c != NULL && c->cmsg_type == IP_TOS ? *CMSG_DATA (c) & 3 : 0;
  return n;
}

static void
receive (uint16_t port)
{
  static FmxCcfbStream memory[MAX_STREAMS * 2];
  struct sockaddr_in own = {.sin_family = AF_INET }, from;
  FmxCcfbCollectorParams params;
  FmxCcfbCollector collector;
  int fd = open_socket ();

  own.sin_port = htons (port);
  if (bind (fd, (struct sockaddr *) &own, sizeof own) != 0)
    die ("bind");
  fmx_ccfb_collector_params_default (&params);
  fmx_ccfb_collector_init (&collector, &params, memory,
      sizeof memory / sizeof memory[0]);
  for (FmxTime now = now_ns ();;) {
    FmxTime due = fmx_ccfb_collector_next_timeout (&collector);
    uint8_t data[1500];
    bool readable = wait_for (fd, due == FMX_TIME_NONE ? now + FMX_SECOND
        : due, now);
    size_t size;

    now = now_ns ();
    if (readable) {
      FmxCcfbArrival a = { 0 };
      ssize_t n = receive_packet (fd, data, sizeof data, &from, &a.ecn);

      if (n < (ssize_t) FMX_RTP_HEADER_BYTES)
        continue;
      a.seq = (uint16_t) (data[2] << 8 | data[3]);
      a.ssrc = (uint32_t) data[8] << 24 | (uint32_t) data[9] << 16
          | (uint32_t) data[10] << 8 | data[11];
      a.wire_bytes = (uint32_t) n + FMX_IP_UDP_BYTES;
      fmx_ccfb_collector_on_packet (&collector, &a, now);
    }
    if (now < fmx_ccfb_collector_next_timeout (&collector))
      continue;
    while ((size = fmx_ccfb_collector_write (&collector, data, 1400,
                mid32 (now), now)) > 0)
      sendto (fd, data, size, 0, (struct sockaddr *) &from, sizeof from);
  }
}

/* ---- sender ---- */

static void
tell (sender *s, const char *event)
{
  FmxRateSenderStats stats = { 0 };
  struct timespec wall;

  if (s->has_rate)
    fmx_rate_sender_get_stats (&s->rate, &stats, s->now);
  clock_gettime (CLOCK_REALTIME, &wall);
  fprintf (s->table, "%.3f,%s,%s,%lu,%.3f,%.6g,%.6g,%.0f,%u,%u\n",
      (double) wall.tv_sec + (double) wall.tv_nsec / 1e9 - s->epoch_s,
      s->name, event, (unsigned long) s->target_bps,
      fmx_time_to_s (stats.rtt) * 1e3, stats.loss_event_rate,
      stats.loss_fraction, stats.sent_bps, s->plan.n_separate,
      s->plan.n_mixes);
}

static void
on_event (void *user, const FmxEvent *event)
{
  if (event->reason != NULL)
    tell (user, event->reason);
}

static void
make_plan (sender *s, uint64_t target_bps)
{
  fmx_adapt_plan_streams (&s->adapt, target_bps, s->streams, s->order,
      s->assignment, s->n_streams, &s->plan);
  for (unsigned i = 0; i < s->n_streams; i++) {
    s->streams[i].separate = s->assignment[i] == FMX_ADAPT_SEPARATE;
    s->streams[i].mix = s->assignment[i] >= 0 ? (uint32_t) s->assignment[i]
        : 0;
  }
  tell (s, "plan");
}

/* Who does not listen is stopped by the circuit breaker alone. */
static bool
may_send (const sender *s)
{
  FmxRateSenderStats stats;

  if (!s->has_rate || !s->ignore_feedback)
    return !s->has_rate || fmx_rate_sender_may_send (&s->rate);
  fmx_rate_sender_get_stats (&s->rate, &stats, s->now);
  return stats.state != FMX_RATE_SENDER_STOPPED;
}

static void
send_rtp (sender *s, unsigned index, uint32_t wire_bytes)
{
  uint8_t data[1500] = { 0x80 };
  uint32_t ssrc = FIRST_SSRC + index;
  uint16_t seq = s->seq[index];

  if (wire_bytes != PROBE_BYTES && !may_send (s))
    return;
  s->seq[index]++;
  data[2] = (uint8_t) (seq >> 8);
  data[3] = (uint8_t) seq;
  for (int k = 0; k < 4; k++)
    data[8 + k] = (uint8_t) (ssrc >> (24 - 8 * k));
  (void) !send (s->fd, data, wire_bytes - FMX_IP_UDP_BYTES, 0);
  if (s->has_rate)
    fmx_rate_sender_on_sent (&s->rate, ssrc, seq, wire_bytes, s->now);
}

static bool
speaking (const sender *s)
{
  double t = fmx_time_to_s (fmx_time_diff (s->now, s->start));
  bool on = true;

  for (int i = 0; i < s->n_steps; i++)
    if (s->step_s[i] <= t)
      on = s->step_on[i] > 0;
  return on;
}

/* Small packets at the target's rate, as the simulator's bundles send. */
static void
send_paced (sender *s)
{
  double period_s = s->packet_s;

  if (s->target_bps > 0) {
    period_s = 8.0 * PACED_BYTES / (double) s->target_bps;
    send_rtp (s, 0, PACED_BYTES);
  }
  s->due[0] += (FmxTime) fmx_time_from_s (period_s);
  s->next[0] = s->due[0]
      + (FmxTime) (fmx_rng_next_unit (&s->rng) * s->jitter_s * 1e9);
}

static void
on_tick (sender *s, unsigned index)
{
  unsigned mix = index - MAX_STREAMS;
  double period_s = index < MAX_STREAMS ? s->packet_s
      : fmx_time_to_s (s->mix.packet_time);

  if (s->paced) {
    send_paced (s);
    return;
  }

  s->due[index] += (FmxTime) fmx_time_from_s (period_s);
  s->next[index] = s->due[index];
  if (index < MAX_STREAMS)
    s->next[index] +=
        (FmxTime) (fmx_rng_next_unit (&s->rng) * s->jitter_s * 1e9);
  if (!speaking (s))
    return;
  if (index < MAX_STREAMS) {
    if (s->assignment[index] == FMX_ADAPT_SEPARATE)
      send_rtp (s, index, (uint32_t) (s->stream_bps * period_s / 8 + 0.5));
  } else if (mix < s->plan.n_mixes && strcmp (s->strategy, "top-3") != 0) {
    send_rtp (s, index, (uint32_t) (s->plan.mix_bps * period_s / 8 + 0.5));
  }
}

static void
update (sender *s)
{
  FmxTime now = s->now;
  uint64_t target;

  if (!s->has_rate)
    return;
  if (now >= fmx_rate_sender_next_timeout (&s->rate))
    fmx_rate_sender_on_timeout (&s->rate, now);
  target = s->ignore_feedback ? (uint64_t) (s->n_streams * s->stream_bps)
      : fmx_rate_sender_target_bps (&s->rate);
  if (target != s->target_bps) {
    s->target_bps = target;
    make_plan (s, target);
  }
  while (fmx_rate_sender_take_probe (&s->rate, now))
    send_rtp (s, MAX_STREAMS + FMX_ADAPT_MAX_MIXES, PROBE_BYTES);
}

static FmxTime
next_event (const sender *s)
{
  FmxTime next = s->has_rate ? fmx_rate_sender_next_timeout (&s->rate)
      : FMX_TIME_NONE;

  for (unsigned i = 0; i < MAX_STREAMS + FMX_ADAPT_MAX_MIXES; i++)
    next = fmx_time_min (next, s->next[i]);
  return fmx_time_min (next, s->next_line);
}

static void
run (sender *s)
{
  while (s->now < s->stop) {
    bool readable = wait_for (s->fd, next_event (s), s->now);

    s->now = now_ns ();
    if (readable) {
      uint8_t data[1500];
      ssize_t n = recv (s->fd, data, sizeof data, MSG_DONTWAIT);

      if (s->has_rate && n > 8)
        fmx_rate_sender_on_ccfb (&s->rate, data + 8, (size_t) n - 8, s->now);
      update (s);
    }
    for (unsigned i = 0; i < MAX_STREAMS + FMX_ADAPT_MAX_MIXES; i++)
      if (s->next[i] <= s->now)
        on_tick (s, i);
    if (s->next_line <= s->now) {
      s->next_line += FMX_SECOND;
      tell (s, "");
    }
    update (s);
  }
}

static const char *
word (char **words, int n, const char *name)
{
  size_t length = strlen (name);

  for (int i = 0; i < n; i++)
    if (strncmp (words[i], name, length) == 0 && words[i][length] == '=')
      return words[i] + length + 1;
  fprintf (stderr, "bundle: no %s\n", name);
  exit (2);
}

static void
set_up_rate (sender *s, char **words, int n)
{
  FmxRateSenderParams p;

  fmx_rate_sender_params_default (&p);
  p.klass = fmx_rate_class_find (word (words, n, "controller"));
  if (p.klass == NULL) {
    fprintf (stderr, "bundle: no controller of that name\n");
    exit (2);
  }
  p.segment_bytes = (uint32_t) atoi (word (words, n, "segment_bytes"));
  if (!s->paced) {
    p.min_bps = strtoull (word (words, n, "min_bps"), NULL, 10);
    p.max_bps = (uint64_t) (s->n_streams * s->stream_bps * 1.1);
    p.initial_bps = p.min_bps;
  }
  s->sink = (FmxEventSink) { on_event, s };
  p.sink = &s->sink;
  fmx_rate_sender_init (&s->rate, &p, s->now);
  s->has_rate = true;
  update (s);
}

static void
set_up_mix (sender *s, char **words, int n)
{
  s->mix.min_bitrate_bps =
      (uint32_t) atoi (word (words, n, "mix_min_bitrate_bps"));
  s->mix.max_bitrate_bps =
      (uint32_t) atoi (word (words, n, "mix_max_bitrate_bps"));
  s->mix.packet_time =
      fmx_time_from_s (atof (word (words, n, "mix_packet_s")));
  s->mix.n_contributors = s->n_streams;
  s->mix.levels = atoi (word (words, n, "mix_levels")) != 0;
  s->adapt.mix_min_bps = fmx_adapt_mix_wire_bps (&s->mix,
      s->mix.min_bitrate_bps);
  s->adapt.mix_max_bps = fmx_adapt_mix_wire_bps (&s->mix,
      s->mix.max_bitrate_bps);
  s->adapt.headroom = atof (word (words, n, "headroom"));
}

static void
set_up (sender *s, char **words, int n)
{
  const char *steps = word (words, n, "speaking");
  int used;

  s->name = word (words, n, "name");
  s->strategy = word (words, n, "strategy");
  s->paced = strcmp (s->strategy, "paced") == 0;
  s->n_streams = (unsigned) atoi (word (words, n, "streams"));
  s->stream_bps = atof (word (words, n, "stream_bps"));
  s->packet_s = atof (word (words, n, "packet_s"));
  s->ignore_feedback = atoi (word (words, n, "ignore_feedback")) != 0;
  if (s->n_streams > MAX_STREAMS)
    exit (2);
  for (s->n_steps = 0; s->n_steps < MAX_STEPS && sscanf (steps, "%lf:%lf%n",
          &s->step_s[s->n_steps], &s->step_on[s->n_steps], &used) == 2;
      s->n_steps++)
    steps += used + (steps[used] == ',');
  s->jitter_s = atof (word (words, n, "jitter_s"));
  fmx_rng_init (&s->rng, strtoull (word (words, n, "seed"), NULL, 10));
  for (unsigned i = 0; i < MAX_STREAMS + FMX_ADAPT_MAX_MIXES; i++)
    /* no groups, so one mix at most */
    s->due[i] = s->next[i] = i >= s->n_streams
        && (i != MAX_STREAMS || s->paced) ?
        FMX_TIME_NONE : s->start
        + (FmxTime) (fmx_rng_next_unit (&s->rng) * s->packet_s * 1e9);
  for (unsigned i = 0; i < s->n_streams; i++) {
    s->streams[i].wire_bps = (uint32_t) s->stream_bps;
    s->order[i] = i;
    s->assignment[i] = FMX_ADAPT_HELD;
  }
  s->next_line = s->start + FMX_SECOND;
  set_up_mix (s, words, n);
  if (s->paced || strcmp (s->strategy, "dpm") == 0)
    set_up_rate (s, words, n);
  else
    make_plan (s, strcmp (s->strategy, "forward-all") == 0
        ? FMX_TARGET_UNLIMITED : strcmp (s->strategy, "mix-all") == 0
        ? s->adapt.mix_max_bps
        : (uint64_t) (3 * s->stream_bps + s->adapt.mix_max_bps));
}

int
main (int argc, char **argv)
{
  static sender s;
  struct sockaddr_in to = {.sin_family = AF_INET };
  const char *epoch = getenv ("FMX_EPOCH_NS");

  if (argc == 3 && strcmp (argv[1], "recv") == 0)
    receive ((uint16_t) atoi (argv[2]));
  if (argc < 7 || strcmp (argv[1], "send") != 0
      || inet_aton (argv[2], &to.sin_addr) == 0) {
    fprintf (stderr, "usage: bundle recv PORT | bundle send ADDRESS PORT TABLE"
        " SECONDS WORD=VALUE...\n");
    return 2;
  }
  to.sin_port = htons ((uint16_t) atoi (argv[3]));
  s.fd = open_socket ();
  s.table = fopen (argv[4], "w");
  if (s.table == NULL
      || connect (s.fd, (struct sockaddr *) &to, sizeof to) != 0)
    die (argv[4]);
  fprintf (s.table, "t_s,flow,event,target_bps,rtt_ms,loss_event_rate,"
      "loss_fraction,sent_bps,separate,mixes\n");
  s.epoch_s = epoch != NULL ? strtod (epoch, NULL) / 1e9
      : (double) time (NULL);
  s.now = s.start = now_ns ();
  s.stop = s.start + (FmxTime) (atof (argv[5]) * 1e9);
  set_up (&s, argv + 6, argc - 6);
  run (&s);
  fclose (s.table);
  return 0;
}
