/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tcpflow recv PORT
 * tcpflow send ADDRESS PORT SECONDS CC [LEAST_BYTES MOST_BYTES IDLE_S SEED]
 *
 * A TCP transfer with the kernel's congestion control CC, as much as goes; or
 * files of a size between LEAST and MOST, one connection after another, with
 * exponential pauses of mean IDLE_S.  Blocks and never spins, so that virtual
 * time passes. */
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

static char buffer[65536];

static double
now_s (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

static void
sleep_s (double s)
{
  struct timespec t = { (time_t) s, (long) ((s - (double) (time_t) s) * 1e9) };

  nanosleep (&t, NULL);
}

static int
receive (struct sockaddr_in *address)
{
  int one = 1, fd = socket (AF_INET, SOCK_STREAM, 0);

  setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind (fd, (struct sockaddr *) address, sizeof *address) != 0
      || listen (fd, 5) != 0) {
    perror ("tcpflow: listen");
    return 1;
  }
  for (;;) {
    int c = accept (fd, NULL, NULL);

    if (c < 0)
      return 1;
    while (recv (c, buffer, sizeof buffer, 0) > 0);
    close (c);
  }
}

static int
connect_to (const struct sockaddr_in *address, const char *cc)
{
  for (int tries = 0; tries < 50; tries++) {
    int low_water = 16384, fd = socket (AF_INET, SOCK_STREAM, 0);

    if (setsockopt (fd, IPPROTO_TCP, TCP_CONGESTION, cc,
            (socklen_t) strlen (cc)) != 0) {
      perror (cc);
      return -1;
    }
    /* little that is unsent, so that the end is prompt */
    setsockopt (fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low_water,
        sizeof low_water);
    if (connect (fd, (const struct sockaddr *) address, sizeof *address) == 0)
      return fd;
    close (fd);
    if (errno != ECONNREFUSED)
      break;
    sleep_s (0.1);
  }
  perror ("tcpflow: connect");
  return -1;
}

/* At most so many bytes, until a time. */
static void
send_bytes (int fd, double bytes, double end_s)
{
  while (bytes >= 1 && now_s () < end_s) {
    double left = end_s - now_s ();
    struct timespec wait = { (time_t) left,
      (long) ((left - (double) (time_t) left) * 1e9)
    };
    struct pollfd p = { fd, POLLOUT, 0 };
    size_t size = bytes < 16384 ? (size_t) bytes : 16384;
    ssize_t n;

    if (left <= 0 || ppoll (&p, 1, &wait, NULL) <= 0)
      return;
    n = send (fd, buffer, size, MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN)
      return;
    if (n > 0)
      bytes -= (double) n;
  }
}

int
main (int argc, char **argv)
{
  struct sockaddr_in address = {.sin_family = AF_INET };
  struct linger abort_it = { 1, 0 };
  unsigned short seed[3] = { 1, 2, 3 };
  double end_s;
  bool files = argc == 10;

  signal (SIGPIPE, SIG_IGN);
  if (argc == 3 && strcmp (argv[1], "recv") == 0) {
    address.sin_port = htons ((uint16_t) atoi (argv[2]));
    return receive (&address);
  }
  if ((argc != 6 && !files) || strcmp (argv[1], "send") != 0
      || inet_aton (argv[2], &address.sin_addr) == 0) {
    fprintf (stderr, "usage: tcpflow recv PORT | tcpflow send ADDRESS PORT "
        "SECONDS CC [LEAST_BYTES MOST_BYTES IDLE_S SEED]\n");
    return 2;
  }
  address.sin_port = htons ((uint16_t) atoi (argv[3]));
  end_s = now_s () + atof (argv[4]);
  if (!files) {
    int fd = connect_to (&address, argv[5]);

    if (fd < 0)
      return 1;
    send_bytes (fd, INFINITY, end_s);
    setsockopt (fd, SOL_SOCKET, SO_LINGER, &abort_it, sizeof abort_it);
    close (fd);
    return 0;
  }
  seed[0] = (unsigned short) atoi (argv[9]);
  while (now_s () < end_s) {
    int fd = connect_to (&address, argv[5]);
    double least = atof (argv[6]), most = atof (argv[7]);

    if (fd < 0)
      return 1;
    send_bytes (fd, least + (most - least) * erand48 (seed), end_s);
    shutdown (fd, SHUT_WR);
    close (fd);
    sleep_s (-atof (argv[8]) * log (1 - erand48 (seed)));
  }
  return 0;
}
