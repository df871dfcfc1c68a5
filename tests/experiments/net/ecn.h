/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ECN of an IPv4 packet [RFC3168 5], for the queues of the laboratory. */
#ifndef ECN_H
#define ECN_H

#include <stdbool.h>
#include <stdint.h>

#define ECN_MASK 3u
#define ECN_DSCP 1              /* offsets in an IPv4 header */
#define ECN_CHECKSUM 10

static inline bool
ecn_can_mark (const uint8_t *ip)
{
  return (ip[ECN_DSCP] & ECN_MASK) != 0;
}

/* "Congestion experienced", and the header's checksum with it [RFC1624 3].
 * Returns: whether the packet takes marks */
static inline bool
ecn_mark (uint8_t *ip)
{
  uint32_t before = (uint32_t) ip[0] << 8 | ip[ECN_DSCP];
  uint32_t after = before | ECN_MASK;
  uint32_t sum = (uint32_t) ip[ECN_CHECKSUM] << 8 | ip[ECN_CHECKSUM + 1];

  if (!ecn_can_mark (ip))
    return false;
  sum = (~sum & 0xffff) + (~before & 0xffff) + after;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  ip[ECN_DSCP] = (uint8_t) after;
  ip[ECN_CHECKSUM] = (uint8_t) (~sum >> 8);
  ip[ECN_CHECKSUM + 1] = (uint8_t) ~sum;
  return true;
}

#endif
