/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* igmprelay UP DOWN...: a multicast router of a tree (RFC 4605), in its network namespace.
 *
 * UP is the interface towards the tree's root, "-" at the root itself; DOWN are the
 * others.  A group goes to each DOWN where somebody has joined it (IGMPv3), and is joined
 * at UP while somebody has; what comes from below goes up, too.  Nobody is asked whether
 * he is still there: a cable has one host, and who leaves says so. */
#include <netinet/in.h>
#include <linux/mroute.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define MAX_GROUPS 16
#define MAX_ROUTES 256
#define UP 0                    /* among the interfaces */
#define IGMP_V3_REPORT 0x22
#define ALL_V3_ROUTERS 0xe0000016u      /* 224.0.0.22 */
#define RECORD_BYTES 8

/* of a group record [RFC3376 4.2.12] */
enum { IS_EXCLUDE = 2, TO_INCLUDE = 3, TO_EXCLUDE = 4 };

typedef struct
{
  struct in_addr address;
  bool members[MAXVIFS];
} group;

static group groups[MAX_GROUPS];
static struct mfcctl routes[MAX_ROUTES];
static unsigned n_groups, n_routes;
static int interfaces[MAXVIFS]; /* 0: there is none */
static int n_interfaces;
static int router, joining;     /* sockets */

static void
die (const char *what)
{
  perror (what);
  exit (1);
}

static void
set (int option, const void *value, size_t size, const char *what)
{
  if (setsockopt (router, IPPROTO_IP, option, value, (socklen_t) size) != 0)
    die (what);
}

static group *
group_of (struct in_addr address)
{
  for (unsigned i = 0; i < n_groups; i++)
    if (groups[i].address.s_addr == address.s_addr)
      return &groups[i];
  if (n_groups == MAX_GROUPS)
    return NULL;
  groups[n_groups] = (group) {.address = address };
  return &groups[n_groups++];
}

static void
apply (struct mfcctl *route)
{
  const group *g = group_of (route->mfcc_mcastgrp);

  for (int i = 0; i < n_interfaces; i++) {
    bool wanted = i == UP ? interfaces[UP] != 0 : g != NULL && g->members[i];

    route->mfcc_ttls[i] = wanted && i != route->mfcc_parent;
  }
  set (MRT_ADD_MFC, route, sizeof *route, "MRT_ADD_MFC");
}

static void
join (struct in_addr address, int interface, bool joins)
{
  struct ip_mreqn request = {.imr_multiaddr = address,.imr_ifindex = interface };

  if (setsockopt (joining, IPPROTO_IP, joins ? IP_ADD_MEMBERSHIP
          : IP_DROP_MEMBERSHIP, &request, sizeof request) != 0)
    die ("membership");
}

static bool
has_members (const group *g)
{
  for (int i = 0; i < MAXVIFS; i++)
    if (g->members[i])
      return true;
  return false;
}

static void
set_member (struct in_addr address, int at, bool joins)
{
  group *g = group_of (address);
  bool had;

  if (g == NULL || g->members[at] == joins)
    return;
  had = has_members (g);
  g->members[at] = joins;
  if (interfaces[UP] != 0 && had != has_members (g))
    join (address, interfaces[UP], !had);
  for (unsigned i = 0; i < n_routes; i++)
    if (routes[i].mfcc_mcastgrp.s_addr == address.s_addr)
      apply (&routes[i]);
}

/* The kernel has a packet for which it knows no way. */
static void
on_unknown (const struct igmpmsg *m)
{
  if (m->im_msgtype != IGMPMSG_NOCACHE || n_routes == MAX_ROUTES)
    return;
  routes[n_routes] = (struct mfcctl) {
    .mfcc_origin = m->im_src,.mfcc_mcastgrp = m->im_dst,
    .mfcc_parent = m->im_vif
  };
  apply (&routes[n_routes++]);
}

/* IGMPv3 [RFC3376 4.2]: a group at a time that somebody at an interface joins or leaves */
static void
on_report (const uint8_t *data, size_t size, int at)
{
  unsigned n = size >= RECORD_BYTES ? (unsigned) data[6] << 8 | data[7] : 0;
  const uint8_t *record = data + RECORD_BYTES;

  while (n-- > 0 && record + RECORD_BYTES <= data + size) {
    unsigned n_sources = (unsigned) record[2] << 8 | record[3];
    struct in_addr address;

    memcpy (&address, record + 4, sizeof address);
    if (record[0] == IS_EXCLUDE || record[0] == TO_EXCLUDE)
      set_member (address, at, true);
    else if (record[0] == TO_INCLUDE && n_sources == 0)
      set_member (address, at, false);
    record += RECORD_BYTES + 4 * n_sources + 4u * record[1];
  }
}

static int
interface_of (struct msghdr *m)
{
  for (struct cmsghdr * c = CMSG_FIRSTHDR (m); c != NULL;
      c = CMSG_NXTHDR (m, c)) {
    struct in_pktinfo info;

    if (c->cmsg_level != IPPROTO_IP || c->cmsg_type != IP_PKTINFO)
      continue;
    memcpy (&info, CMSG_DATA (c), sizeof info);
    for (int i = 0; i < n_interfaces; i++)
      if (interfaces[i] == info.ipi_ifindex)
        return i;
  }
  return UP;
}

static void
add_interface (const char *name)
{
  struct vifctl vif = {.vifc_vifi = (vifi_t) n_interfaces,.vifc_threshold = 1,
    .vifc_flags = VIFF_USE_IFINDEX
  };
  int number = n_interfaces++;

  if (strcmp (name, "-") == 0)
    return;
  vif.vifc_lcl_ifindex = interfaces[number] = (int) if_nametoindex (name);
  if (interfaces[number] == 0)
    die (name);
  set (MRT_ADD_VIF, &vif, sizeof vif, name);
  if (number != UP)
    join ((struct in_addr) { htonl (ALL_V3_ROUTERS) }, interfaces[number],
        true);
}

static void
receive (void)
{
  static uint8_t data[2048];
  char control[128];
  struct iovec iov = { data, sizeof data };
  struct msghdr m = {.msg_iov = &iov,.msg_iovlen = 1,.msg_control = control,
    .msg_controllen = sizeof control
  };
  ssize_t size = recvmsg (router, &m, 0);
  size_t header = (data[0] & 15u) * 4u;
  struct igmpmsg upcall;
  int at;

  if (size < (ssize_t) sizeof upcall)
    return;
  memcpy (&upcall, data, sizeof upcall);
  if (upcall.im_mbz == 0) {     /* where an IP header has its protocol */
    on_unknown (&upcall);
    return;
  }
  at = interface_of (&m);
  if (at != UP && header < (size_t) size && data[header] == IGMP_V3_REPORT)
    on_report (data + header, (size_t) size - header, at);
}

int
main (int argc, char **argv)
{
  int one = 1;

  if (argc < 2 || argc > MAXVIFS) {
    fprintf (stderr, "usage: igmprelay UP DOWN...\n");
    return 2;
  }
  router = socket (AF_INET, SOCK_RAW, IPPROTO_IGMP);
  joining = socket (AF_INET, SOCK_DGRAM, 0);
  if (router < 0 || joining < 0)
    die ("socket");
  set (MRT_INIT, &one, sizeof one, "MRT_INIT");
  set (IP_PKTINFO, &one, sizeof one, "IP_PKTINFO");
  for (int i = 1; i < argc; i++)
    add_interface (argv[i]);
  for (;;)
    receive ();
}
