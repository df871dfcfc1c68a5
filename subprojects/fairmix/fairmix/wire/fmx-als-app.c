/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-als-app.h"

#include <assert.h>
#include <string.h>

#include "fairmix/wire/fmx-bytes-private.h"
#include "fairmix/wire/fmx-rtcp-app.h"
#include "fairmix/wire/fmx-rtcp.h"

#define FLAG_ANSWERED 0x80u
#define UTILISATION_SCALE 32768.0

static uint32_t
utilisation_to_wire (double utilisation)
{
  double scaled = utilisation * UTILISATION_SCALE + 0.5;

  if (!(scaled > 0.0))
    return 0;
  return scaled >= UINT16_MAX ? UINT16_MAX : (uint32_t) scaled;
}

static uint32_t
bps_to_wire (double bps)
{
  if (!(bps > 0.0))
    return 0;
  return bps >= UINT32_MAX ? UINT32_MAX : (uint32_t) bps;
}

size_t
fmx_als_share_write (const FmxAlsShare *share, uint8_t *data, size_t size)
{
  if (size < FMX_ALS_SHARE_BYTES)
    return 0;
  fmx_write_u32 (data, FMX_ALS_APP_VERSION << 24
      | (share->answered ? FLAG_ANSWERED : 0) << 16
      | utilisation_to_wire (share->utilisation));
  fmx_write_u32 (data + 4, share->share_bps);
  fmx_write_u32 (data + 8, share->rate_bps);
  fmx_write_u32 (data + 12, share->media_ssrc);
  return FMX_ALS_SHARE_BYTES;
}

bool
fmx_als_share_read (FmxAlsShare *share, const uint8_t *data, size_t size)
{
  if (size < FMX_ALS_SHARE_BYTES || data[0] != FMX_ALS_APP_VERSION)
    return false;
  share->answered = (data[1] & FLAG_ANSWERED) != 0;
  share->utilisation = fmx_read_u16 (data + 2) / UTILISATION_SCALE;
  share->share_bps = fmx_read_u32 (data + 4);
  share->rate_bps = fmx_read_u32 (data + 8);
  share->media_ssrc = fmx_read_u32 (data + 12);
  return true;
}

bool
fmx_als_request_cut (uint8_t *data, size_t size, double fair_bps,
    double utilisation)
{
  FmxAlsShare share;

  if (!fmx_als_share_read (&share, data, size))
    return false;
  data[1] |= FLAG_ANSWERED;
  if (share.share_bps < fair_bps)
    return false;
  fmx_write_u16 (data + 2, utilisation_to_wire (utilisation));
  fmx_write_u32 (data + 4, bps_to_wire (fair_bps));
  return true;
}

/* What SRTCP that is neither encrypted nor authenticated has behind it ([RFC3711
 * 3.4]): E and its index */
#define SRTCP_INDEX_BYTES 4u

/* Reads nothing of what is authenticated: rewritten it would be thrown away. */
static void
begin_to_read (FmxRtcpReader *reader, const uint8_t *datagram, size_t size)
{
  fmx_rtcp_reader_init_prefix (reader, datagram, size);
  if (size - reader->left > SRTCP_INDEX_BYTES)
    reader->left = 0;
}

/* The next request of the datagram; its data are those of the APP packet. */
static bool
next_request (FmxRtcpReader *reader, FmxRtcpApp *app)
{
  FmxRtcpPacket packet;

  while (fmx_rtcp_reader_next (reader, &packet))
    if (fmx_rtcp_app_read (app, packet.data, packet.bytes)
        && fmx_rtcp_app_is (app, FMX_ALS_APP_NAME)
        && app->subtype == FMX_ALS_APP_REQUEST)
      return true;
  return false;
}

unsigned
fmx_als_rtcp_count (const uint8_t *datagram, size_t size)
{
  FmxRtcpReader reader;
  FmxRtcpApp app;
  unsigned n = 0;

  begin_to_read (&reader, datagram, size);
  while (next_request (&reader, &app))
    n++;
  return n;
}

unsigned
fmx_als_rtcp_cut (uint8_t *datagram, size_t size, double fair_bps,
    double utilisation)
{
  FmxRtcpReader reader;
  unsigned n_cut = 0;
  FmxRtcpApp app;

  begin_to_read (&reader, datagram, size);
  while (next_request (&reader, &app))
    n_cut += fmx_als_request_cut (datagram + (app.data - datagram), app.size,
        fair_bps, utilisation);
  return n_cut;
}

bool
fmx_als_layer_is_multicast (const FmxAlsLayer *layer)
{
  static const uint8_t mapped[12] = {[10] = 0xff,[11] = 0xff };

  if (layer->port == 0)
    return false;
  if (memcmp (layer->address, mapped, sizeof mapped) == 0)
    return layer->address[12] >> 4 == 0xe;      /* 224.0.0.0/4 */
  return layer->address[0] == 0xff;     /* ff00::/8 */
}

size_t
fmx_als_layers_write (const FmxAlsLayer *layers, unsigned n, uint8_t *data,
    size_t size)
{
  assert (n >= 1 && n <= FMX_ALS_MAX_LAYERS);

  if (size < FMX_ALS_LAYERS_BYTES (n))
    return 0;
  fmx_write_u32 (data, FMX_ALS_APP_VERSION << 24 | n << 16);
  for (unsigned i = 0; i < n; i++) {
    uint8_t *at = data + FMX_ALS_LAYERS_BYTES (i);

    fmx_write_u32 (at, layers[i].size_bps);
    memcpy (at + 4, layers[i].address, sizeof layers[i].address);
    fmx_write_u32 (at + 20, (uint32_t) layers[i].port << 16);
  }
  return FMX_ALS_LAYERS_BYTES (n);
}

unsigned
fmx_als_layers_read (FmxAlsLayer *layers, const uint8_t *data, size_t size)
{
  unsigned n;

  if (size < FMX_ALS_LAYERS_BYTES (0) || data[0] != FMX_ALS_APP_VERSION)
    return 0;
  n = data[1];
  if (n > FMX_ALS_MAX_LAYERS || size < FMX_ALS_LAYERS_BYTES (n))
    return 0;
  for (unsigned i = 0; i < n; i++) {
    const uint8_t *at = data + FMX_ALS_LAYERS_BYTES (i);

    layers[i].size_bps = fmx_read_u32 (at);
    memcpy (layers[i].address, at + 4, sizeof layers[i].address);
    layers[i].port = fmx_read_u16 (at + 20);
  }
  return n;
}
