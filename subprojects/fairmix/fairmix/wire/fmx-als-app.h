/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALS_APP_H
#define FMX_ALS_APP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ALS_APP_NAME: of the APP packets of the Adaptive Load Service */
#define FMX_ALS_APP_NAME "ALS "

/** FMX_ALS_APP_VERSION: the first byte of their data */
#define FMX_ALS_APP_VERSION 1u

/** FMX_ALS_APP_REQUEST: subtype: a sender asks, routers answer in place */
#define FMX_ALS_APP_REQUEST 1u

/** FMX_ALS_APP_RETURN: subtype: a receiver returns what arrived */
#define FMX_ALS_APP_RETURN 2u

/** FMX_ALS_APP_LAYERS: subtype: a sender announces its layers */
#define FMX_ALS_APP_LAYERS 3u

/** FMX_ALS_SHARE_BYTES: the data of a request and of a return */
#define FMX_ALS_SHARE_BYTES 16u

/** FMX_ALS_LAYERS_BYTES: the data of an announcement of @n layers */
#define FMX_ALS_LAYERS_BYTES(n) (4u + 24u * (n))

/** FMX_ALS_MAX_LAYERS: layers of one announcement */
#define FMX_ALS_MAX_LAYERS 8u

/**
 * FmxAlsShare:
 * @share_bps: R_d: in a request the rate that the sender wishes, cut by each
 *     router to what is fair; in a return what arrived of it; in bits per second
 *     on the wire.  UINT32_MAX stands for that and all above
 * @utilisation: U: of the router that cut it last, of its link's bandwidth; 0 as
 *     it leaves the sender; told in steps of 1/32768, up to 1.99
 * @answered: whether any router read it, so that @share_bps is the path's word and
 *     not the sender's wish
 * @rate_bps: a request: what the sender sends now; a return: 0
 * @media_ssrc: a return: the stream that it is about; a request: 0
 *
 * What a sender asks for in the packet beside its sender report, and what a
 * receiver returns beside its report about that sender (ALS 3.1-3.3).
 *
 * The data, in 32-bit words, network byte order:
 *
 * |[
 *   version (8) = 1 | A 0 0 0 0 0 0 0 | utilisation (16), 1/32768
 *   share, bits per second
 *   rate, bits per second
 *   media SSRC
 * ]|
 *
 * A is @answered.  A reader ignores the other bits and what follows these words;
 * another version it ignores as a whole.  Every field has its place, so that a
 * router rewrites it in flight.
 */
typedef struct
{
  uint32_t share_bps;
  double utilisation;
  bool answered;
  uint32_t rate_bps;
  uint32_t media_ssrc;
} FmxAlsShare;

/** fmx_als_share_write: Returns: %FMX_ALS_SHARE_BYTES, or 0 if @size is less;
 * values out of range are cut */
size_t fmx_als_share_write (const FmxAlsShare * share, uint8_t * data,
    size_t size);

/** fmx_als_share_read: Returns: false if it is too short or of another
 * version */
bool fmx_als_share_read (FmxAlsShare * share, const uint8_t * data,
    size_t size);

/**
 * fmx_als_request_cut:
 * @data: of a request, in the packet that passes
 * @fair_bps: R_f: what is fair here
 * @utilisation: of this router's link
 *
 * What a router does (ALS 3.1): where R_d >= R_f, R_d becomes R_f and U this
 * router's.  It is answered in any case.  The length does not change.
 *
 * Returns: whether it was cut here
 */
bool fmx_als_request_cut (uint8_t * data, size_t size, double fair_bps,
    double utilisation);

/**
 * fmx_als_rtcp_count:
 * @datagram: compound RTCP that passes
 *
 * Behind it may be the index of SRTCP that is neither encrypted nor authenticated
 * ([RFC3711 3.4]), four bytes.  If more is, it is encrypted, malformed or
 * authenticated, and left alone: what is rewritten fails authentication.
 *
 * Returns: how many requests are in it
 */
unsigned fmx_als_rtcp_count (const uint8_t * datagram, size_t size);

/**
 * fmx_als_rtcp_cut:
 * @datagram: compound RTCP that passes
 *
 * fmx_als_request_cut() for each request in a datagram; all else stays as it is, and
 * so does the length.
 *
 * Returns: how many were cut
 */
unsigned fmx_als_rtcp_cut (uint8_t * datagram, size_t size, double fair_bps,
    double utilisation);

/**
 * FmxAlsLayer:
 * @size_bps: what the layer needs of a receiver's share, in bits per second on
 *     the wire
 * @address: of its group, IPv6, or IPv4 as ::ffff:a.b.c.d
 * @port: of its RTP
 *
 * One layer as it is announced on the base layer (ALS 3.4).
 */
typedef struct
{
  uint32_t size_bps;
  uint8_t address[16];
  uint16_t port;
} FmxAlsLayer;

/**
 * fmx_als_layer_is_multicast:
 *
 * Returns: whether it has the address of a group, and a port
 */
bool fmx_als_layer_is_multicast (const FmxAlsLayer * layer);

/**
 * fmx_als_layers_write:
 * @layers: (array length=n): the base first
 * @n: 1 ... %FMX_ALS_MAX_LAYERS
 *
 * The data, in 32-bit words:
 *
 * |[
 *   version (8) = 1 | n (8) | reserved (16) = 0
 *   n x { size, bits per second
 *         address, 128 bits
 *         port (16) | reserved (16) = 0 }
 * ]|
 *
 * Returns: FMX_ALS_LAYERS_BYTES (n), or 0 if @size is less
 */
size_t fmx_als_layers_write (const FmxAlsLayer * layers, unsigned n,
    uint8_t * data, size_t size);

/**
 * fmx_als_layers_read:
 * @layers: (out) (array fixed-size=8)
 *
 * Returns: how many; 0 if it is malformed: too short for what it says, of another
 *     version, with more layers than %FMX_ALS_MAX_LAYERS
 */
unsigned fmx_als_layers_read (FmxAlsLayer * layers, const uint8_t * data,
    size_t size);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALS_APP_H */
