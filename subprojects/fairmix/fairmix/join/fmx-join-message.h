/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_JOIN_MESSAGE_H
#define FMX_JOIN_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_JOIN_VERSION: of the protocol that this code speaks */
#define FMX_JOIN_VERSION 1u

/** FMX_JOIN_MAX_BYTES: no message is longer */
#define FMX_JOIN_MAX_BYTES 236u

#define FMX_JOIN_NONCE_BYTES 32u
#define FMX_JOIN_COOKIE_BYTES 32u
#define FMX_JOIN_PUBLIC_BYTES 32u
#define FMX_JOIN_MAC_BYTES 32u
#define FMX_JOIN_TAG_BYTES 16u

/** FMX_JOIN_NAME_BYTES: the longest display name, in bytes of UTF-8 */
#define FMX_JOIN_NAME_BYTES 63u

/**
 * FmxJoinType:
 * @FMX_JOIN_HELLO: client to mixer: are you there?
 * @FMX_JOIN_COOKIE: mixer to client: show that you receive at your address
 * @FMX_JOIN_JOIN: client to mixer: who I am, what I can, that I know the secret
 * @FMX_JOIN_ACCEPT: mixer to client: you are in, and I know the secret, too
 * @FMX_JOIN_REFUSE: mixer to client: you are not, and why
 * @FMX_JOIN_PING: client to mixer: I am there; the first one confirms the join
 * @FMX_JOIN_PONG: mixer to client: so am I
 * @FMX_JOIN_BYE: either to the other: I leave
 * @FMX_JOIN_ASK: mixer to client: mix for those near you, or do not any more
 * @FMX_JOIN_MIXES: client to mixer: I do, at these places, for so many; or I do not
 * @FMX_JOIN_MOVE: mixer to client: you are served better at one of these places
 *
 * The values on the wire.
 */
typedef enum
{
  FMX_JOIN_HELLO = 1,
  FMX_JOIN_COOKIE = 2,
  FMX_JOIN_JOIN = 3,
  FMX_JOIN_ACCEPT = 4,
  FMX_JOIN_REFUSE = 5,
  FMX_JOIN_PING = 6,
  FMX_JOIN_PONG = 7,
  FMX_JOIN_BYE = 8,
  FMX_JOIN_ASK = 9,
  FMX_JOIN_MIXES = 10,
  FMX_JOIN_MOVE = 11
} FmxJoinType;

/**
 * FmxJoinReason:
 * @FMX_JOIN_REASON_NONE: none
 * @FMX_JOIN_REASON_VERSION: the mixer speaks another version
 * @FMX_JOIN_REASON_SECRET: the two do not have the same secret
 * @FMX_JOIN_REASON_FULL: the mixer has as many neighbours as it may
 * @FMX_JOIN_REASON_LOOP: a mixer that is below the one that it asks
 * @FMX_JOIN_REASON_BUSY: too many join at once, now for three seconds; it is tried again
 * @FMX_JOIN_REASON_LEAVE: the one who says so leaves
 * @FMX_JOIN_REASON_TIMEOUT: nothing was heard for too long
 * @FMX_JOIN_REASON_REPLACED: the same neighbour joined anew
 * @FMX_JOIN_REASON_CLOSED: the mixer removed the neighbour
 * @FMX_JOIN_REASON_MOVED: the neighbour is where it was told to go
 *
 * Why somebody is not, or no more, in.  The values on the wire.
 */
typedef enum
{
  FMX_JOIN_REASON_NONE = 0,
  FMX_JOIN_REASON_VERSION = 1,
  FMX_JOIN_REASON_SECRET = 2,
  FMX_JOIN_REASON_FULL = 3,
  FMX_JOIN_REASON_LOOP = 4,
  FMX_JOIN_REASON_BUSY = 5,
  FMX_JOIN_REASON_LEAVE = 6,
  FMX_JOIN_REASON_TIMEOUT = 7,
  FMX_JOIN_REASON_REPLACED = 8,
  FMX_JOIN_REASON_CLOSED = 9,
  FMX_JOIN_REASON_MOVED = 10
} FmxJoinReason;

/** FMX_JOIN_MAY_SEND, FMX_JOIN_MAY_RECEIVE, FMX_JOIN_IS_MIXER, FMX_JOIN_MAY_MIX,
 * FMX_JOIN_MAY_MOVE, FMX_JOIN_ALIGNS: flags of JOIN; the last three: understands ASK, MOVE,
 * and what mixes tell of where streams stand in them */
#define FMX_JOIN_MAY_SEND 1u
#define FMX_JOIN_MAY_RECEIVE 2u
#define FMX_JOIN_IS_MIXER 4u
#define FMX_JOIN_MAY_MIX 8u
#define FMX_JOIN_MAY_MOVE 16u
#define FMX_JOIN_ALIGNS 32u

/** FMX_JOIN_PLACES: so many places fit into a message */
#define FMX_JOIN_PLACES 4u

/**
 * FmxJoinAddress:
 * @ip: an IPv6 address; an IPv4 one as ::ffff:a.b.c.d
 * @port: the UDP port
 * @zone: of a link-local address the link, as this host counts its links [RFC4007]; it means
 *     nothing to others, and is in no message; 0: of all other addresses
 */
typedef struct
{
  uint8_t ip[16];
  uint16_t port;
  uint32_t zone;
} FmxJoinAddress;

/**
 * FmxJoinHello:
 * @nonce: the client's, fresh for each attempt to join
 */
typedef struct
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
} FmxJoinHello;

/**
 * FmxJoinCookie:
 * @nonce: the client's, echoed
 * @cookie: to be brought back in JOIN
 * @key: the mixer's long-lived public key
 */
typedef struct
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
  uint8_t cookie[FMX_JOIN_COOKIE_BYTES];
  uint8_t key[FMX_JOIN_PUBLIC_BYTES];
} FmxJoinCookie;

/**
 * FmxJoinJoin:
 * @nonce: the client's
 * @cookie: as it was in COOKIE
 * @key: the client's public key, fresh for each attempt
 * @node: who the client is among mixers, random; 0 unless it is a mixer
 * @previous: the session that this one goes on from; 0: none
 * @resume: proof that it was ours
 * @max_streams: how many streams the client can decode at a time; 0: any number
 * @flags: %FMX_JOIN_MAY_SEND and so on
 * @name: what the others see, UTF-8, ends with 0; bytes after it are 0
 * @proof: that the client knows the secret
 */
typedef struct
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
  uint8_t cookie[FMX_JOIN_COOKIE_BYTES];
  uint8_t key[FMX_JOIN_PUBLIC_BYTES];
  uint64_t node;
  uint64_t previous;
  uint8_t resume[FMX_JOIN_TAG_BYTES];
  uint16_t max_streams;
  uint16_t flags;
  char name[FMX_JOIN_NAME_BYTES + 1];
  uint8_t proof[FMX_JOIN_MAC_BYTES];
} FmxJoinJoin;

/**
 * FmxJoinAccept:
 * @nonce: the client's, echoed
 * @mixer_nonce: the mixer's, fresh for each session
 * @key: the mixer's second public key, fresh for each session
 * @session: names the session in PING, PONG and BYE
 * @root: the mixer at the top of the tree
 * @depth: how many mixers are above this one
 * @reserved: 0
 * @proof: that the mixer knows the secret and is the one that sent COOKIE
 */
typedef struct
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
  uint8_t mixer_nonce[FMX_JOIN_NONCE_BYTES];
  uint8_t key[FMX_JOIN_PUBLIC_BYTES];
  uint64_t session;
  uint64_t root;
  uint16_t depth;
  uint16_t reserved;
  uint8_t proof[FMX_JOIN_MAC_BYTES];
} FmxJoinAccept;

/**
 * FmxJoinRefuse:
 * @nonce: the client's, echoed
 * @reason: why
 * @version: the newest one that the mixer speaks
 */
typedef struct
{
  uint8_t nonce[FMX_JOIN_NONCE_BYTES];
  uint16_t reason;
  uint16_t version;
} FmxJoinRefuse;

/**
 * FmxJoinControl:
 * @session: as in ACCEPT
 * @counter: higher in each message of this sender in this session
 * @echo: the highest counter heard from the other
 * @path: what the mixer last gave for the client's address; 0: nothing yet
 * @root: from a mixer: the mixer at the top of its tree; in MIXES: the least rate that
 *     one of those below has, in bits per second, 0: not known
 * @depth: from a mixer: how many mixers are above it
 * @reason: in BYE; in ASK and MIXES whether to mix, 1 or 0
 * @tag: that it is genuine
 *
 * PING, PONG, BYE and ASK; MIXES and MOVE begin so.
 */
typedef struct
{
  uint64_t session;
  uint64_t counter;
  uint64_t echo;
  uint64_t path;
  uint64_t root;
  uint16_t depth;
  uint16_t reason;
  uint8_t tag[FMX_JOIN_TAG_BYTES];
} FmxJoinControl;

/**
 * FmxJoinPlaces:
 * @n: how many @places there are
 * @n_below: in MIXES: how many are served there
 * @places: where, the likeliest first; the rest is 0
 *
 * MIXES and MOVE.
 */
typedef struct
{
  FmxJoinControl control;
  uint16_t n;
  uint16_t n_below;
  FmxJoinAddress places[FMX_JOIN_PLACES];
} FmxJoinPlaces;

/**
 * FmxJoinMessage:
 * @type: which of the structs is set
 *
 * One datagram of the join protocol, in host order.
 */
typedef struct
{
  FmxJoinType type;
  union
  {
    FmxJoinHello hello;
    FmxJoinCookie cookie;
    FmxJoinJoin join;
    FmxJoinAccept accept;
    FmxJoinRefuse refuse;
    FmxJoinControl control;
    FmxJoinPlaces places;
  } u;
} FmxJoinMessage;

/**
 * FmxJoinVerdict:
 * @FMX_JOIN_VALID: a message of our version
 * @FMX_JOIN_OTHER_VERSION: a HELLO of another version; only its nonce is set
 * @FMX_JOIN_INVALID: anything else
 */
typedef enum
{
  FMX_JOIN_VALID,
  FMX_JOIN_OTHER_VERSION,
  FMX_JOIN_INVALID
} FmxJoinVerdict;

/**
 * fmx_join_message_is:
 *
 * Whether a datagram belongs to the join protocol, and not to RTP or RTCP
 * (first byte 128 ... 191) or to STUN and DTLS (0 ... 63) [RFC7983 7].
 */
bool fmx_join_message_is (const uint8_t * data, size_t size);

/**
 * fmx_join_message_parse:
 * @data: (array length=size): a datagram
 *
 * Nothing is believed but the form: lengths, zeros where zeros must be, a name
 * without control characters that is well-formed UTF-8.
 */
FmxJoinVerdict fmx_join_message_parse (FmxJoinMessage * message,
    const uint8_t * data, size_t size);

/**
 * fmx_join_message_write:
 * @data: at least %FMX_JOIN_MAX_BYTES
 *
 * Returns: the size in bytes
 */
size_t fmx_join_message_write (const FmxJoinMessage * message, uint8_t * data);

/** fmx_join_places_set: of the first @n of @places those that have a port and no zone, as many
 * as fit */
void fmx_join_places_set (FmxJoinPlaces * message,
    const FmxJoinAddress * places, unsigned n);

/** fmx_join_message_bytes: Returns: the size of a message of @type; 0: no such
 * type */
size_t fmx_join_message_bytes (FmxJoinType type);

/**
 * fmx_join_name_copy:
 * @to: %FMX_JOIN_NAME_BYTES + 1 bytes
 * @from: any string, UTF-8 or not; %NULL is ""
 *
 * Makes a display name that parses: whole characters that fit, no control
 * characters.
 */
void fmx_join_name_copy (char *to, const char *from);

/** fmx_join_reason_name: Returns: e.g. "secret"; "unknown" for other numbers */
const char *fmx_join_reason_name (unsigned reason);

#ifdef __cplusplus
}
#endif

#endif /* FMX_JOIN_MESSAGE_H */
