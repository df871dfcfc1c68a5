/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RTCP_APP_H
#define FMX_RTCP_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RTCP_APP_HEADER_BYTES: what stands before the data of an APP packet */
#define FMX_RTCP_APP_HEADER_BYTES 12u

/** FMX_RTCP_APP_MAX_SUBTYPE: five bits */
#define FMX_RTCP_APP_MAX_SUBTYPE 31u

/**
 * FmxRtcpApp:
 * @subtype: 0 ... 31, what the name's owner makes of it
 * @ssrc: who sent it
 * @name: four ASCII characters, without a terminator
 * @data: what the name's owner makes of it; points into the packet
 * @size: of @data, in bytes, a multiple of four
 *
 * An application-defined RTCP packet, in 32-bit words ([RFC3550 6.7]):
 *
 * |[
 *   V=2 P subtype (5) | PT=204 | length
 *   SSRC
 *   name, four ASCII characters
 *   data
 * ]|
 */
typedef struct
{
  uint8_t subtype;
  uint32_t ssrc;
  char name[4];
  const uint8_t *data;
  size_t size;
} FmxRtcpApp;

/**
 * fmx_rtcp_app_read:
 * @packet: one RTCP packet, from its first byte on; more may follow it
 * @size: bytes that may be read
 *
 * Checks version, type, length and padding.
 * Returns: false if it is not a well-formed APP packet; nothing is set then
 */
bool fmx_rtcp_app_read (FmxRtcpApp * app, const uint8_t * packet, size_t size);

/** fmx_rtcp_app_is: Returns: whether it has this @name, four characters */
bool fmx_rtcp_app_is (const FmxRtcpApp * app, const char *name);

/**
 * fmx_rtcp_app_write:
 * @app: @data a multiple of four bytes; may stand at its place in @packet
 *     already, %FMX_RTCP_APP_HEADER_BYTES after its beginning
 * @packet: where to write
 * @size: bytes that may be written
 *
 * Returns: the packet's length in bytes, 0 if it does not fit
 */
size_t fmx_rtcp_app_write (const FmxRtcpApp * app, uint8_t * packet,
    size_t size);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RTCP_APP_H */
