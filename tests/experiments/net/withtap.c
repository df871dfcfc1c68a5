/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* withtap DEV COMMAND...: runs COMMAND with file descriptor 3 a packet socket: each
 * read gives the head of one TCP packet over IPv4 that DEV sends. */
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TAP_FD 3

int
main (int argc, char **argv)
{
  struct sock_filter tcp_out[] = {
    BPF_STMT (BPF_LD | BPF_B | BPF_ABS, SKF_AD_OFF + SKF_AD_PKTTYPE),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 0, 5),
    BPF_STMT (BPF_LD | BPF_H | BPF_ABS, SKF_AD_OFF + SKF_AD_PROTOCOL),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, ETH_P_IP, 0, 3),
    BPF_STMT (BPF_LD | BPF_B | BPF_ABS, 9),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, 65535),
    BPF_STMT (BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = { sizeof tcp_out / sizeof tcp_out[0], tcp_out };
  struct sockaddr_ll address = {.sll_family = AF_PACKET,
    .sll_protocol = htons (ETH_P_ALL)   /* only these see what goes out */
  };
  int fd;

  if (argc < 3) {
    fprintf (stderr, "usage: withtap DEV COMMAND...\n");
    return 2;
  }
  fd = socket (AF_PACKET, SOCK_DGRAM, 0);
  address.sll_ifindex = (int) if_nametoindex (argv[1]);
  if (fd < 0 || address.sll_ifindex == 0
      || setsockopt (fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
          sizeof program) != 0
      || bind (fd, (struct sockaddr *) &address, sizeof address) != 0
      || dup2 (fd, TAP_FD) < 0) {
    perror (argv[1]);
    return 1;
  }
  if (fd != TAP_FD)
    close (fd);
  execvp (argv[2], argv + 2);
  perror (argv[2]);
  return 1;
}
