/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_APP_H
#define FMX_ASMP_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ASMP_APP_NAME: of the APP packets that ASMP's ends exchange */
#define FMX_ASMP_APP_NAME "ASMP"

/** FMX_ASMP_APP_VERSION: the first byte of their data */
#define FMX_ASMP_APP_VERSION 1u

/** FMX_ASMP_APP_RATE: subtype: a receiver tells its rate */
#define FMX_ASMP_APP_RATE 1u

/** FMX_ASMP_APP_RTT: subtype: a sender tells round-trip times */
#define FMX_ASMP_APP_RTT 2u

/** FMX_ASMP_APP_HERE: subtype: a receiver that has rounds */
#define FMX_ASMP_APP_HERE 3u

/** FMX_ASMP_HERE_BYTES: the data of that */
#define FMX_ASMP_HERE_BYTES 4u

/** FMX_ASMP_RATE_BYTES: the data of a rate packet */
#define FMX_ASMP_RATE_BYTES 24u

/** FMX_ASMP_RTT_BYTES: the data of an RTT packet about @n receivers */
#define FMX_ASMP_RTT_BYTES(n) (12u + 8u * (n))

/** FMX_ASMP_MAX_RTTS: receivers that one RTT packet tells of */
#define FMX_ASMP_MAX_RTTS 255u

/**
 * FmxAsmpRate:
 * @media_ssrc: the stream that it is about
 * @rate_bps: what the receiver finds fair, in bits per second on the wire;
 *     UINT32_MAX stands for that and all above
 * @rtt: the round-trip time that it reckons with; 0 = none known yet;
 *     told in steps of 1/65536 s
 * @loss: the loss rate that it reckons with, in [0, 1), told in steps of 2^-32
 * @received_bps: what came of late, in bits per second on the wire
 * @measured: whether the rate comes from a measurement; false while a receiver
 *     that has just joined has no round-trip time, or too short a history
 * @congested: what its congestion indicator says (ASMP (18))
 * @small_packets: whether the rate is that of a TCP with full segments
 *     ([RFC4828]) and from loss events; false: ASMP's own equation
 *
 * What a receiver tells the sender and, where feedback is multicast, all other
 * receivers.  The packet's SSRC is the receiver.
 *
 * The data, in 32-bit words, network byte order:
 *
 * |[
 *   version (8) = 1 | M C S 0 0 0 0 0 | reserved (16) = 0
 *   media SSRC
 *   rate, bits per second
 *   round-trip time, 1/65536 s; 0 = unknown
 *   loss rate, 1/2^32
 *   received rate, bits per second
 * ]|
 *
 * M, C and S are @measured, @congested and @small_packets.  A reader ignores
 * reserved bits and what follows these words; another version it ignores as a
 * whole.
 */
typedef struct
{
  uint32_t media_ssrc;
  uint32_t rate_bps;
  FmxDuration rtt;
  double loss;
  uint32_t received_bps;
  bool measured;
  bool congested;
  bool small_packets;
} FmxAsmpRate;

/**
 * fmx_asmp_rate_write:
 *
 * Values out of range are cut.
 * Returns: %FMX_ASMP_RATE_BYTES, or 0 if @size is less
 */
size_t fmx_asmp_rate_write (const FmxAsmpRate * rate, uint8_t * data,
    size_t size);

/**
 * fmx_asmp_rate_read:
 * @data: of an APP packet with the subtype %FMX_ASMP_APP_RATE
 *
 * Returns: false if it is too short or of another version
 */
bool fmx_asmp_rate_read (FmxAsmpRate * rate, const uint8_t * data, size_t size);

/**
 * fmx_asmp_here_write:
 *
 * In the first report of a receiver, and in each without a rate: it tells a rate in
 * each round of a large session in which it wants less than the sender sends.  Else
 * the sender would take it for one that knows nothing of ASMP, and reckon a rate
 * from its report.  The data:
 *
 * |[
 *   version (8) = 1 | reserved (24) = 0
 * ]|
 *
 * Returns: %FMX_ASMP_HERE_BYTES, or 0 if @size is less
 */
size_t fmx_asmp_here_write (uint8_t * data, size_t size);

/** fmx_asmp_here_read: @data: of an APP packet with the subtype
 * %FMX_ASMP_APP_HERE; Returns: false if it is too short or of another version */
bool fmx_asmp_here_read (const uint8_t * data, size_t size);

/**
 * FmxAsmpRtt:
 * @ssrc: a receiver
 * @rtt: its round-trip time, > 0; told in steps of 1/65536 s
 */
typedef struct
{
  uint32_t ssrc;
  FmxDuration rtt;
} FmxAsmpRtt;

/**
 * FmxAsmpRttHeader:
 * @limiting_ssrc: the receiver whose rate the sender follows; 0 = none
 * @rate_bps: the rate that the sender keeps to, in bits per second on the wire
 * @n_rtts: how many round-trip times follow
 *
 * What a sender tells its receivers beside a sender report.  The packet's SSRC
 * is the stream.
 *
 * The data, in 32-bit words, network byte order:
 *
 * |[
 *   version (8) = 1 | n (8) | reserved (16) = 0
 *   the limiting receiver's SSRC; 0 = none
 *   rate, bits per second
 *   n x { receiver's SSRC
 *         its round-trip time, 1/65536 s }
 * ]|
 */
typedef struct
{
  uint32_t limiting_ssrc;
  uint32_t rate_bps;
  unsigned n_rtts;
} FmxAsmpRttHeader;

/**
 * fmx_asmp_rtt_write:
 * @rtts: (array length=header.n_rtts): at most %FMX_ASMP_MAX_RTTS
 *
 * Returns: FMX_ASMP_RTT_BYTES (n_rtts), or 0 if @size is less
 */
size_t fmx_asmp_rtt_write (const FmxAsmpRttHeader * header,
    const FmxAsmpRtt * rtts, uint8_t * data, size_t size);

/**
 * fmx_asmp_rtt_read:
 * @data: of an APP packet with the subtype %FMX_ASMP_APP_RTT
 *
 * Returns: false if it is too short for what it says, or of another version
 */
bool fmx_asmp_rtt_read (FmxAsmpRttHeader * header, const uint8_t * data,
    size_t size);

/**
 * fmx_asmp_rtt_get:
 * @data: what fmx_asmp_rtt_read() has read
 * @i: less than the number in that header
 *
 * Returns: that round-trip time
 */
FmxAsmpRtt fmx_asmp_rtt_get (const uint8_t * data, unsigned i);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_APP_H */
