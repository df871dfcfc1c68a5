/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* webflow recv PORT
 * webflow send ADDRESS PORT SECONDS CC USERS LEAST_BYTES MOST_BYTES SHAPE IDLE_S
 *     SEED
 *
 * USERS who each fetch one file after another, over a TCP connection of its own,
 * and think in between: sizes are Pareto of SHAPE between LEAST and MOST, pauses
 * exponential with mean IDLE_S.  The files go from `send` to `recv`.  Waits and
 * never spins, so that virtual time passes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_USERS 512
#define MAX_CONNECTIONS 4096

typedef struct
{
  double least, most, shape, idle_s;
  const char *cc;
  struct sockaddr_in address;
  unsigned short seed[3];
} settings;

typedef struct
{
  int fd;                       /* -1: thinks */
  double bytes;                 /* left of the file */
  double next_s;                /* when the next one begins */
} user;

static char buffer[65536];

static double
now_s (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static int
receive (const struct sockaddr_in *address)
{
  static struct pollfd polls[MAX_CONNECTIONS];
  int one = 1, fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  nfds_t n = 1;

  setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind (fd, (const struct sockaddr *) address, sizeof *address) != 0
      || listen (fd, 1024) != 0) {
    perror ("webflow: listen");
    return 1;
  }
  polls[0] = (struct pollfd) { fd, POLLIN, 0 };
  while (poll (polls, n, -1) >= 0) {
    for (nfds_t i = n; i-- > 1;) {
      ssize_t size = 1;

      while (polls[i].revents != 0
          && (size = recv (polls[i].fd, buffer, sizeof buffer, 0)) > 0);
      if (size == 0 || (size < 0 && errno != EAGAIN)) {
        close (polls[i].fd);
        polls[i] = polls[--n];
      }
    }
    if (polls[0].revents & POLLIN) {
      int c = accept4 (fd, NULL, NULL, SOCK_NONBLOCK);

      if (c >= 0 && n < MAX_CONNECTIONS)
        polls[n++] = (struct pollfd) { c, POLLIN, 0 };
      else
    if (c >= 0)
      close (c);
    }
  }
  return 1;
}

/* Pareto, cut at both ends */
static double
file_bytes (settings * s)
{
  double u = erand48 (s->seed);
  double tail = 1 - pow (s->least / s->most, s->shape);

  return s->least / pow (1 - u * tail, 1 / s->shape);
}

static void
think (user * u, settings * s, double t)
{
  if (u->fd >= 0)
    close (u->fd);
  u->fd = -1;
  u->next_s = t - s->idle_s * log (1 - erand48 (s->seed));
}

static void
fetch (user * u, settings * s, double t)
{
  u->fd = socket (AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  u->bytes = file_bytes (s);
  if (u->fd < 0 || setsockopt (u->fd, SOL_TCP, TCP_CONGESTION, s->cc,
          (socklen_t) strlen (s->cc)) != 0
      || (connect (u->fd, (const struct sockaddr *) &s->address,
              sizeof s->address) != 0 && errno != EINPROGRESS))
    think (u, s, t);
}

/* The socket takes more, or is broken. */
static void
go_on (user * u, settings * s, double t)
{
  while (u->bytes >= 1) {
    size_t size = u->bytes < sizeof buffer ? (size_t) u->bytes : sizeof buffer;
    ssize_t n = send (u->fd, buffer, size, 0);

    if (n < 0 && errno == EAGAIN)
      return;
    if (n < 0)
      break;
    u->bytes -= (double) n;
  }
  think (u, s, t);              /* the kernel sends what it has */
}

static void
run (user * users, int n_users, settings * s, double end_s)
{
  struct pollfd polls[MAX_USERS];
  int who[MAX_USERS];
  double t;

  while ((t = now_s ()) < end_s) {
    struct timespec wait;
    double next = end_s;
    nfds_t n = 0;

    for (int i = 0; i < n_users; i++) {
      if (users[i].fd < 0 && users[i].next_s <= t)
        fetch (&users[i], s, t);
      if (users[i].fd < 0) {
        next = fmin (next, users[i].next_s);
        continue;
      }
      who[n] = i;
      polls[n++] = (struct pollfd) { users[i].fd, POLLOUT, 0 };
    }
    next = fmax (next - t, 1e-6);
    wait.tv_sec = (time_t) next;
    wait.tv_nsec = (long) ((next - (double) wait.tv_sec) * 1e9);
    if (ppoll (polls, n, &wait, NULL) <= 0)
      continue;
    t = now_s ();
    for (nfds_t i = 0; i < n; i++)
      if (polls[i].revents != 0)
        go_on (&users[who[i]], s, t);
  }
}

int
main (int argc, char **argv)
{
  static user users[MAX_USERS];
  settings s = {.address = {.sin_family = AF_INET},.seed = {1, 2, 3} };
  int n_users;
  double t;

  signal (SIGPIPE, SIG_IGN);
  if (argc == 3 && strcmp (argv[1], "recv") == 0) {
    s.address.sin_port = htons ((uint16_t) atoi (argv[2]));
    return receive (&s.address);
  }
  if (argc != 12 || strcmp (argv[1], "send") != 0
      || inet_aton (argv[2], &s.address.sin_addr) == 0) {
    fprintf (stderr, "usage: webflow recv PORT | webflow send ADDRESS PORT "
        "SECONDS CC USERS LEAST_BYTES MOST_BYTES SHAPE IDLE_S SEED\n");
    return 2;
  }
  s.address.sin_port = htons ((uint16_t) atoi (argv[3]));
  s.cc = argv[5];
  n_users = atoi (argv[6]);
  s.least = atof (argv[7]);
  s.most = atof (argv[8]);
  s.shape = atof (argv[9]);
  s.idle_s = atof (argv[10]);
  s.seed[0] = (unsigned short) atoi (argv[11]);
  if (n_users < 1 || n_users > MAX_USERS || s.least < 1 || s.most <= s.least
      || s.shape <= 0)
    return 2;
  t = now_s ();
  for (int i = 0; i < n_users; i++) {
    users[i].fd = -1;
    think (&users[i], &s, t);
  }
  run (users, n_users, &s, t + atof (argv[4]));
  return 0;
}
