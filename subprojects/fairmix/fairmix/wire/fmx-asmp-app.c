/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/wire/fmx-asmp-app.h"

#include <assert.h>

#include "fairmix/wire/fmx-bytes-private.h"

#define RTT_HZ 65536
#define LOSS_SCALE 4294967296.0 /* 2^32 */

#define FLAG_MEASURED 0x80u
#define FLAG_CONGESTED 0x40u
#define FLAG_SMALL_PACKETS 0x20u

static uint32_t
rtt_to_wire (FmxDuration rtt)
{
  const FmxDuration most = (FmxDuration) UINT32_MAX / RTT_HZ * FMX_SECOND;

  if (rtt <= 0)
    return 0;
  if (rtt > most)
    rtt = most;
  rtt = rtt / FMX_SECOND * RTT_HZ
      + (rtt % FMX_SECOND * RTT_HZ + FMX_SECOND / 2) / FMX_SECOND;
  return rtt == 0 ? 1 : (uint32_t) rtt; /* known, and short */
}

static FmxDuration
rtt_from_wire (uint32_t rtt)
{
  return ((FmxDuration) rtt * FMX_SECOND + RTT_HZ / 2) / RTT_HZ;
}

static uint32_t
loss_to_wire (double loss)
{
  double scaled = loss * LOSS_SCALE + 0.5;

  if (!(scaled > 0.0))
    return 0;
  return scaled >= LOSS_SCALE ? UINT32_MAX : (uint32_t) scaled;
}

size_t
fmx_asmp_rate_write (const FmxAsmpRate *rate, uint8_t *data, size_t size)
{
  uint32_t flags = 0;

  if (size < FMX_ASMP_RATE_BYTES)
    return 0;
  flags |= rate->measured ? FLAG_MEASURED : 0;
  flags |= rate->congested ? FLAG_CONGESTED : 0;
  flags |= rate->small_packets ? FLAG_SMALL_PACKETS : 0;
  fmx_write_u32 (data, FMX_ASMP_APP_VERSION << 24 | flags << 16);
  fmx_write_u32 (data + 4, rate->media_ssrc);
  fmx_write_u32 (data + 8, rate->rate_bps);
  fmx_write_u32 (data + 12, rtt_to_wire (rate->rtt));
  fmx_write_u32 (data + 16, loss_to_wire (rate->loss));
  fmx_write_u32 (data + 20, rate->received_bps);
  return FMX_ASMP_RATE_BYTES;
}

bool
fmx_asmp_rate_read (FmxAsmpRate *rate, const uint8_t *data, size_t size)
{
  if (size < FMX_ASMP_RATE_BYTES || data[0] != FMX_ASMP_APP_VERSION)
    return false;
  rate->measured = (data[1] & FLAG_MEASURED) != 0;
  rate->congested = (data[1] & FLAG_CONGESTED) != 0;
  rate->small_packets = (data[1] & FLAG_SMALL_PACKETS) != 0;
  rate->media_ssrc = fmx_read_u32 (data + 4);
  rate->rate_bps = fmx_read_u32 (data + 8);
  rate->rtt = rtt_from_wire (fmx_read_u32 (data + 12));
  rate->loss = fmx_read_u32 (data + 16) / LOSS_SCALE;
  rate->received_bps = fmx_read_u32 (data + 20);
  return true;
}

size_t
fmx_asmp_here_write (uint8_t *data, size_t size)
{
  if (size < FMX_ASMP_HERE_BYTES)
    return 0;
  fmx_write_u32 (data, FMX_ASMP_APP_VERSION << 24);
  return FMX_ASMP_HERE_BYTES;
}

bool
fmx_asmp_here_read (const uint8_t *data, size_t size)
{
  return size >= FMX_ASMP_HERE_BYTES && data[0] == FMX_ASMP_APP_VERSION;
}

size_t
fmx_asmp_rtt_write (const FmxAsmpRttHeader *header, const FmxAsmpRtt *rtts,
    uint8_t *data, size_t size)
{
  assert (header->n_rtts <= FMX_ASMP_MAX_RTTS);
  if (size < FMX_ASMP_RTT_BYTES (header->n_rtts))
    return 0;
  fmx_write_u32 (data, FMX_ASMP_APP_VERSION << 24 | header->n_rtts << 16);
  fmx_write_u32 (data + 4, header->limiting_ssrc);
  fmx_write_u32 (data + 8, header->rate_bps);
  for (unsigned i = 0; i < header->n_rtts; i++) {
    fmx_write_u32 (data + FMX_ASMP_RTT_BYTES (i), rtts[i].ssrc);
    fmx_write_u32 (data + FMX_ASMP_RTT_BYTES (i) + 4,
        rtt_to_wire (rtts[i].rtt));
  }
  return FMX_ASMP_RTT_BYTES (header->n_rtts);
}

bool
fmx_asmp_rtt_read (FmxAsmpRttHeader *header, const uint8_t *data, size_t size)
{
  if (size < FMX_ASMP_RTT_BYTES (0) || data[0] != FMX_ASMP_APP_VERSION
      || size < FMX_ASMP_RTT_BYTES (data[1]))
    return false;
  header->n_rtts = data[1];
  header->limiting_ssrc = fmx_read_u32 (data + 4);
  header->rate_bps = fmx_read_u32 (data + 8);
  return true;
}

FmxAsmpRtt
fmx_asmp_rtt_get (const uint8_t *data, unsigned i)
{
  FmxAsmpRtt rtt;

  rtt.ssrc = fmx_read_u32 (data + FMX_ASMP_RTT_BYTES (i));
  rtt.rtt = rtt_from_wire (fmx_read_u32 (data + FMX_ASMP_RTT_BYTES (i) + 4));
  return rtt;
}
