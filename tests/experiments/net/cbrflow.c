/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* cbrflow ADDRESS PORT BYTES[xBURST] JITTER SEED T_S:BPS... : UDP that listens
 * to nobody.
 *
 * Sends packets of BYTES on the wire (IP and UDP headers included), or BURST of
 * them at a time, as a frame of video, at each rate from its time on; a rate of 0 pauses, the last time only ends.  Each packet is
 * late by an evenly random part of JITTER intervals (at most 1). */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define IP_UDP_BYTES 28
#define MAX_STEPS 128

int
main (int argc, char **argv)
{
  static uint8_t payload[65536];
  double t_s[MAX_STEPS], bps[MAX_STEPS];
  int n = 0, fd = socket (AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to = {.sin_family = AF_INET };
  struct timespec start;
  uint32_t seq = 0;
  unsigned short seed[3] = { 1, 2, 3 };
  double jitter;
  size_t bytes;
  int burst = 1;

  if (argc < 8) {
    fprintf (stderr,
        "usage: cbrflow ADDRESS PORT BYTES JITTER SEED T_S:BPS... T_S:0\n");
    return 2;
  }
  if (sscanf (argv[3], "%zux%d", &bytes, &burst) < 1 || burst < 1)
    return 2;
  jitter = atof (argv[4]);
  seed[0] = (unsigned short) atoi (argv[5]);
  to.sin_port = htons ((uint16_t) atoi (argv[2]));
  if (fd < 0 || bytes < IP_UDP_BYTES + 12 || bytes > sizeof payload
      || inet_aton (argv[1], &to.sin_addr) == 0
      || connect (fd, (struct sockaddr *) &to, sizeof to) != 0) {
    perror ("cbrflow");
    return 1;
  }
  for (int i = 6; i < argc && n < MAX_STEPS; i++, n++)
    if (sscanf (argv[i], "%lf:%lf", &t_s[n], &bps[n]) != 2)
      return 2;
  clock_gettime (CLOCK_MONOTONIC, &start);
  for (int i = 0; i + 1 < n; i++) {
    double step = bps[i] > 0 ? (double) bytes * 8 * burst / bps[i] : 0;

    for (double t = t_s[i]; step > 0 && t < t_s[i + 1]; t += step) {
      struct timespec at = start;
      double late = jitter * step * erand48 (seed);
      uint64_t ns = (uint64_t) at.tv_nsec + (uint64_t) ((t + late) * 1e9);

      at.tv_sec += (time_t) (ns / 1000000000);
      at.tv_nsec = (long) (ns % 1000000000);
      while (clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0);
      for (int k = 0; k < burst; k++) {
        uint32_t be = htonl (seq++);

        memcpy (payload + 4, &be, sizeof be);
        if (send (fd, payload, bytes - IP_UDP_BYTES, 0) < 0)
          continue;             /* a full queue is a lost packet */
      }
    }
  }
  return 0;
}
