/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-g711.h"

#define SIGN_BIT 0x80u
#define SEGMENT_SHIFT 4
#define STEP_MASK 0x0fu
#define ALAW_TOGGLE 0x55u       /* [G.711 table 1a note 2] even bits inverted */
#define ULAW_BIAS 132           /* 33 in G.711's 14 bits, 132 in our 16 */
#define ULAW_CLIP 32635         /* above it only the highest code is left */
#define ULAW_FIRST_SEGMENT 7    /* the lowest segment ends below 1 << 8 */
#define ALAW_FIRST_SEGMENT 7

/* How many times @magnitude must be halved to lie below 1 << (@bits + 1). */
static unsigned
segment_of (unsigned magnitude, unsigned bits)
{
  unsigned segment = 0;

  while (magnitude >> (bits + 1) != 0) {
    magnitude >>= 1;
    segment++;
  }
  return segment;
}

static int16_t
ulaw_decode (uint8_t code)
{
  unsigned bits = (uint8_t) ~code;
  int magnitude;

  /* [G.711 table 2a] (2 step + 33) 2^segment - 33, in 14 bits */
  magnitude = (int) (bits & STEP_MASK) << 3;
  magnitude = ((magnitude + ULAW_BIAS) << ((bits >> SEGMENT_SHIFT) & 7))
      - ULAW_BIAS;
  return (int16_t) ((bits & SIGN_BIT) != 0 ? -magnitude : magnitude);
}

static uint8_t
ulaw_encode (int16_t sample)
{
  unsigned sign = sample < 0 ? SIGN_BIT : 0;
  int magnitude = sample < 0 ? -(int) sample : sample;
  unsigned biased, segment;

  if (magnitude > ULAW_CLIP)
    magnitude = ULAW_CLIP;
  biased = (unsigned) (magnitude + ULAW_BIAS);
  segment = segment_of (biased, ULAW_FIRST_SEGMENT);
  return (uint8_t) ~(sign | segment << SEGMENT_SHIFT
      | ((biased >> (segment + 3)) & STEP_MASK));
}

static int16_t
alaw_decode (uint8_t code)
{
  unsigned bits = code ^ ALAW_TOGGLE;
  unsigned segment = (bits >> SEGMENT_SHIFT) & 7;
  int magnitude = (int) (bits & STEP_MASK) << 4;

  /* [G.711 table 1a] the middle of the interval; segment 0 is linear */
  magnitude += segment > 0 ? 0x108 : 8;
  if (segment > 1)
    magnitude <<= segment - 1;
  return (int16_t) ((bits & SIGN_BIT) != 0 ? magnitude : -magnitude);
}

static uint8_t
alaw_encode (int16_t sample)
{
  /* One's complement: the interval of -1 is that of 0, mirrored. */
  unsigned sign = sample < 0 ? 0 : SIGN_BIT;
  unsigned magnitude = (unsigned) (sample < 0 ? ~sample : sample);
  unsigned segment = segment_of (magnitude, ALAW_FIRST_SEGMENT);
  unsigned shift = segment > 1 ? segment + 3 : 4;

  return (uint8_t) ((sign | segment << SEGMENT_SHIFT
          | ((magnitude >> shift) & STEP_MASK)) ^ ALAW_TOGGLE);
}

void
fmx_g711_ulaw_decode (int16_t *out, const uint8_t *in, size_t n)
{
  for (size_t i = 0; i < n; i++)
    out[i] = ulaw_decode (in[i]);
}

void
fmx_g711_ulaw_encode (uint8_t *out, const int16_t *in, size_t n)
{
  for (size_t i = 0; i < n; i++)
    out[i] = ulaw_encode (in[i]);
}

void
fmx_g711_alaw_decode (int16_t *out, const uint8_t *in, size_t n)
{
  for (size_t i = 0; i < n; i++)
    out[i] = alaw_decode (in[i]);
}

void
fmx_g711_alaw_encode (uint8_t *out, const int16_t *in, size_t n)
{
  for (size_t i = 0; i < n; i++)
    out[i] = alaw_encode (in[i]);
}
