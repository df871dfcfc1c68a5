/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-rtcp-app.h"

#include <assert.h>
#include <string.h>

#include "fairmix/wire/fmx-bytes-private.h"

#define RTCP_VERSION 2u
#define RTCP_APP 204u
#define RTCP_PADDING 0x20u
#define RTCP_MAX_BYTES (4u * 65536u)

bool
fmx_rtcp_app_read (FmxRtcpApp *app, const uint8_t *packet, size_t size)
{
  size_t length;

  if (size < FMX_RTCP_APP_HEADER_BYTES || packet[0] >> 6 != RTCP_VERSION
      || packet[1] != RTCP_APP)
    return false;
  length = ((size_t) fmx_read_u16 (packet + 2) + 1) * 4;
  if (length < FMX_RTCP_APP_HEADER_BYTES || length > size)
    return false;
  if ((packet[0] & RTCP_PADDING) != 0) {
    uint32_t padding = packet[length - 1];

    /* [RFC3550 6.4.1] a multiple of four that counts itself */
    if (padding == 0 || padding % 4 != 0
        || padding > length - FMX_RTCP_APP_HEADER_BYTES)
      return false;
    length -= padding;
  }
  app->subtype = packet[0] & FMX_RTCP_APP_MAX_SUBTYPE;
  app->ssrc = fmx_read_u32 (packet + 4);
  memcpy (app->name, packet + 8, sizeof app->name);
  app->data = packet + FMX_RTCP_APP_HEADER_BYTES;
  app->size = length - FMX_RTCP_APP_HEADER_BYTES;
  return true;
}

bool
fmx_rtcp_app_is (const FmxRtcpApp *app, const char *name)
{
  return memcmp (app->name, name, sizeof app->name) == 0;
}

size_t
fmx_rtcp_app_write (const FmxRtcpApp *app, uint8_t *packet, size_t size)
{
  size_t length = FMX_RTCP_APP_HEADER_BYTES + app->size;

  assert (app->subtype <= FMX_RTCP_APP_MAX_SUBTYPE && app->size % 4 == 0);
  if (length > size || length > RTCP_MAX_BYTES)
    return 0;
  packet[0] = (uint8_t) (RTCP_VERSION << 6 | app->subtype);
  packet[1] = (uint8_t) RTCP_APP;
  fmx_write_u16 (packet + 2, (uint32_t) (length / 4 - 1));
  fmx_write_u32 (packet + 4, app->ssrc);
  memcpy (packet + 8, app->name, sizeof app->name);
  if (app->size > 0)
    memmove (packet + FMX_RTCP_APP_HEADER_BYTES, app->data, app->size);
  return length;
}
