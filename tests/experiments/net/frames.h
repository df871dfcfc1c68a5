/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef NET_FRAMES_H
#define NET_FRAMES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Ethernet frames of devices, whole, with what the kernel has to be told about
 * checksums in front of each: what comes in at one end of a wire and goes out at
 * the other. */

/** FRAMES_BEFORE_IP: bytes of a frame before its IP header */
#define FRAMES_BEFORE_IP 24u

/** frames_open: a socket of the device @name; exits where there is none */
int frames_open (const char *name);

/** frames_receive: Returns: the size of a frame, into @data; 0 if there is none */
size_t frames_receive (int fd, uint8_t *data, size_t size);

/** frames_send: a frame as it was received, with no more delay */
void frames_send (int fd, const uint8_t *data, size_t size);

/** frames_ip: Returns: a frame's IPv4 header, @bytes with what follows; NULL if it has
 * none (ARP) */
uint8_t *frames_ip (uint8_t *data, size_t size, size_t *bytes);

/** frames_now: Returns: the monotonic clock, in ns */
uint64_t frames_now (void);

#endif /* NET_FRAMES_H */
