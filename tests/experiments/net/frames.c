/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "frames.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

_Static_assert (FRAMES_BEFORE_IP == sizeof (struct virtio_net_hdr) + ETH_HLEN,
    "what a packet socket puts in front of an IP packet");

#define IP_BYTES 20u

int
frames_open (const char *name)
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
      != 0 || bind (fd, (struct sockaddr *) &address, sizeof address) != 0) {
    perror (name);
    exit (1);
  }
  setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
  setsockopt (fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
  return fd;
}

size_t
frames_receive (int fd, uint8_t * data, size_t size)
{
  ssize_t n = recv (fd, data, size, 0);

  return n > 0 ? (size_t) n : 0;
}

void
frames_send (int fd, const uint8_t * data, size_t size)
{
  if (send (fd, data, size, 0) >= 0 || errno == ENOBUFS || errno == EAGAIN)
    return;
  perror ("send");
  exit (1);
}

uint8_t *
frames_ip (uint8_t * data, size_t size, size_t *bytes)
{
  uint8_t *ip = data + FRAMES_BEFORE_IP;

  if (size < FRAMES_BEFORE_IP + IP_BYTES || ip[0] >> 4 != 4)
    return NULL;
  *bytes = size - FRAMES_BEFORE_IP;
  return ip;
}

uint64_t
frames_now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * UINT64_C (1000000000) + (uint64_t) t.tv_nsec;
}
