/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/join/fmx-join-message.h"

#include <assert.h>
#include <string.h>

#define HEADER_BYTES 8u

static const uint8_t magic[3] = { 'd', 'p', 'm' };

/* A place in a datagram whose length has been checked. */
typedef struct
{
  uint8_t *to;
  const uint8_t *from;
} Place;

/* Both directions with one description of each message: a Place that writes
 * has @to, one that reads @from. */
static void
field_bytes (Place *place, uint8_t *value, size_t size)
{
  if (place->to != NULL) {
    memcpy (place->to, value, size);
    place->to += size;
  } else {
    memcpy (value, place->from, size);
    place->from += size;
  }
}

static void
field_u64 (Place *place, uint64_t *value)
{
  uint8_t bytes[8];

  for (unsigned i = 0; i < 8; i++)
    bytes[i] = (uint8_t) (*value >> (56 - 8 * i));
  field_bytes (place, bytes, sizeof bytes);
  *value = 0;
  for (unsigned i = 0; i < 8; i++)
    *value = *value << 8 | bytes[i];
}

static void
field_u16 (Place *place, uint16_t *value)
{
  uint8_t bytes[2] = { (uint8_t) (*value >> 8), (uint8_t) *value };

  field_bytes (place, bytes, sizeof bytes);
  *value = (uint16_t) (bytes[0] << 8 | bytes[1]);
}

static void
field_nothing (Place *place, size_t size)
{
  if (place->to != NULL) {
    memset (place->to, 0, size);
    place->to += size;
  } else {
    place->from += size;
  }
}

static void
fields_join (Place *place, FmxJoinJoin *m)
{
  field_bytes (place, m->nonce, sizeof m->nonce);
  field_bytes (place, m->cookie, sizeof m->cookie);
  field_bytes (place, m->key, sizeof m->key);
  field_u64 (place, &m->node);
  field_u64 (place, &m->previous);
  field_bytes (place, m->resume, sizeof m->resume);
  field_u16 (place, &m->max_streams);
  field_u16 (place, &m->flags);
  field_bytes (place, (uint8_t *) m->name, sizeof m->name);
  field_bytes (place, m->proof, sizeof m->proof);
}

static void
fields_accept (Place *place, FmxJoinAccept *m)
{
  field_bytes (place, m->nonce, sizeof m->nonce);
  field_bytes (place, m->mixer_nonce, sizeof m->mixer_nonce);
  field_bytes (place, m->key, sizeof m->key);
  field_u64 (place, &m->session);
  field_u64 (place, &m->root);
  field_u16 (place, &m->depth);
  field_u16 (place, &m->reserved);
  field_bytes (place, m->proof, sizeof m->proof);
}

static void
fields_control_untagged (Place *place, FmxJoinControl *m)
{
  field_u64 (place, &m->session);
  field_u64 (place, &m->counter);
  field_u64 (place, &m->echo);
  field_u64 (place, &m->path);
  field_u64 (place, &m->root);
  field_u16 (place, &m->depth);
  field_u16 (place, &m->reason);
}

static void
fields_control (Place *place, FmxJoinControl *m)
{
  fields_control_untagged (place, m);
  field_bytes (place, m->tag, sizeof m->tag);
}

static void
fields_places (Place *place, FmxJoinPlaces *m)
{
  fields_control_untagged (place, &m->control);
  field_u16 (place, &m->n);
  field_u16 (place, &m->n_below);
  for (unsigned i = 0; i < FMX_JOIN_PLACES; i++) {
    field_bytes (place, m->places[i].ip, sizeof m->places[i].ip);
    field_u16 (place, &m->places[i].port);
  }
  field_bytes (place, m->control.tag, sizeof m->control.tag);
}

static void
fields (Place *place, FmxJoinMessage *m)
{
  switch (m->type) {
    case FMX_JOIN_HELLO:
      field_bytes (place, m->u.hello.nonce, sizeof m->u.hello.nonce);
      /* as long as the answer, so that nobody gains by making us answer */
      field_nothing (place, FMX_JOIN_COOKIE_BYTES + FMX_JOIN_PUBLIC_BYTES);
      break;
    case FMX_JOIN_COOKIE:
      field_bytes (place, m->u.cookie.nonce, sizeof m->u.cookie.nonce);
      field_bytes (place, m->u.cookie.cookie, sizeof m->u.cookie.cookie);
      field_bytes (place, m->u.cookie.key, sizeof m->u.cookie.key);
      break;
    case FMX_JOIN_JOIN:
      fields_join (place, &m->u.join);
      break;
    case FMX_JOIN_ACCEPT:
      fields_accept (place, &m->u.accept);
      break;
    case FMX_JOIN_REFUSE:
      field_bytes (place, m->u.refuse.nonce, sizeof m->u.refuse.nonce);
      field_u16 (place, &m->u.refuse.reason);
      field_u16 (place, &m->u.refuse.version);
      break;
    case FMX_JOIN_PING:
    case FMX_JOIN_PONG:
    case FMX_JOIN_BYE:
    case FMX_JOIN_ASK:
      fields_control (place, &m->u.control);
      break;
    case FMX_JOIN_MIXES:
    case FMX_JOIN_MOVE:
      fields_places (place, &m->u.places);
      break;
    default:
      assert (0);
  }
}

size_t
fmx_join_message_bytes (FmxJoinType type)
{
  switch (type) {
    case FMX_JOIN_HELLO:
    case FMX_JOIN_COOKIE:
      return HEADER_BYTES + FMX_JOIN_NONCE_BYTES + FMX_JOIN_COOKIE_BYTES
          + FMX_JOIN_PUBLIC_BYTES;
    case FMX_JOIN_JOIN:
      return FMX_JOIN_MAX_BYTES;
    case FMX_JOIN_ACCEPT:
      return HEADER_BYTES + 2 * FMX_JOIN_NONCE_BYTES + FMX_JOIN_PUBLIC_BYTES
          + 20 + FMX_JOIN_MAC_BYTES;
    case FMX_JOIN_REFUSE:
      return HEADER_BYTES + FMX_JOIN_NONCE_BYTES + 4;
    case FMX_JOIN_PING:
    case FMX_JOIN_PONG:
    case FMX_JOIN_BYE:
    case FMX_JOIN_ASK:
      return HEADER_BYTES + 44 + FMX_JOIN_TAG_BYTES;
    case FMX_JOIN_MIXES:
    case FMX_JOIN_MOVE:
      return HEADER_BYTES + 44 + 4 + 18 * FMX_JOIN_PLACES + FMX_JOIN_TAG_BYTES;
    default:
      return 0;
  }
}

/* Returns: the bytes of the well-formed character at @text, 0 if there is
 * none.  No control characters; no surrogates, no overlong forms [RFC3629 4]. */
static size_t
character_bytes (const char *text, size_t size)
{
  const uint8_t *s = (const uint8_t *) text;
  size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
  uint32_t c;

  if (n == 1)
    return s[0] >= 0x20 && s[0] != 0x7f ? 1 : 0;
  if (s[0] < 0xc2 || s[0] > 0xf4 || n > size)
    return 0;
  c = s[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
    c = c << 6 | (s[i] & 0x3fu);
  }
  if ((n == 2 && c < 0xa0) || (n == 3 && c < 0x800) || (n == 4 && c < 0x10000)
      || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
    return 0;
  return n;
}

/* 0 at the end, and nothing but 0 behind it */
static bool
name_is_valid (const char *name)
{
  size_t i = 0;

  while (i <= FMX_JOIN_NAME_BYTES && name[i] != 0) {
    size_t n = character_bytes (name + i, FMX_JOIN_NAME_BYTES - i);

    if (n == 0 || i + n > FMX_JOIN_NAME_BYTES)
      return false;
    i += n;
  }
  while (i <= FMX_JOIN_NAME_BYTES)
    if (name[i++] != 0)
      return false;
  return true;
}

void
fmx_join_name_copy (char *to, const char *from)
{
  size_t length = 0, left = from != NULL ? strlen (from) : 0;

  memset (to, 0, FMX_JOIN_NAME_BYTES + 1);
  while (left > 0) {
    size_t n = character_bytes (from, left);
    size_t step = n > 0 ? n : 1;

    if (length + n > FMX_JOIN_NAME_BYTES)
      break;
    memcpy (to + length, from, n);
    length += n;
    from += step;
    left -= step;
  }
}

/* As many as it says, each with a port; nothing behind them */
static bool
places_are_valid (const FmxJoinPlaces *m)
{
  static const FmxJoinAddress none;

  for (unsigned i = 0; i < FMX_JOIN_PLACES; i++)
    if (i < m->n ? m->places[i].port == 0 : m->places[i].port != 0
        || memcmp (m->places[i].ip, none.ip, sizeof none.ip) != 0)
      return false;
  return m->n <= FMX_JOIN_PLACES;
}

void
fmx_join_places_set (FmxJoinPlaces *message, const FmxJoinAddress *places,
    unsigned n)
{
  message->n = 0;
  for (unsigned i = 0; i < n && message->n < FMX_JOIN_PLACES; i++)
    if (places[i].port != 0 && places[i].zone == 0)
      message->places[message->n++] = places[i];
}

bool
fmx_join_message_is (const uint8_t *data, size_t size)
{
  return size >= HEADER_BYTES && memcmp (data, magic, sizeof magic) == 0;
}

FmxJoinVerdict
fmx_join_message_parse (FmxJoinMessage *message, const uint8_t *data,
    size_t size)
{
  Place place = { NULL, data + HEADER_BYTES };
  FmxJoinType type;

  memset (message, 0, sizeof *message);
  if (!fmx_join_message_is (data, size)
      || (size_t) (data[6] << 8 | data[7]) != size)
    return FMX_JOIN_INVALID;
  type = (FmxJoinType) data[4];
  if (data[3] != FMX_JOIN_VERSION) {
    /* In every version a HELLO begins so and is not shorter. */
    if (type != FMX_JOIN_HELLO || size < fmx_join_message_bytes (type))
      return FMX_JOIN_INVALID;
    message->type = type;
    memcpy (message->u.hello.nonce, place.from, sizeof message->u.hello.nonce);
    return FMX_JOIN_OTHER_VERSION;
  }
  if (data[5] != 0 || fmx_join_message_bytes (type) != size)
    return FMX_JOIN_INVALID;
  message->type = type;
  fields (&place, message);
  if (type == FMX_JOIN_JOIN && !name_is_valid (message->u.join.name))
    return FMX_JOIN_INVALID;
  if ((type == FMX_JOIN_MIXES || type == FMX_JOIN_MOVE)
      && !places_are_valid (&message->u.places))
    return FMX_JOIN_INVALID;
  return FMX_JOIN_VALID;
}

size_t
fmx_join_message_write (const FmxJoinMessage *message, uint8_t *data)
{
  FmxJoinMessage copy = *message;
  size_t size = fmx_join_message_bytes (message->type);
  Place place = { data + HEADER_BYTES, NULL };

  assert (size > 0);
  memcpy (data, magic, sizeof magic);
  data[3] = FMX_JOIN_VERSION;
  data[4] = (uint8_t) message->type;
  data[5] = 0;
  data[6] = (uint8_t) (size >> 8);
  data[7] = (uint8_t) size;
  fields (&place, &copy);
  return size;
}

const char *
fmx_join_reason_name (unsigned reason)
{
  static const char *const names[] = { "none", "version", "secret", "full",
    "loop", "busy", "leave", "timeout", "replaced", "closed",
    "moved"
  };

  return reason < sizeof names / sizeof names[0] ? names[reason] : "unknown";
}
