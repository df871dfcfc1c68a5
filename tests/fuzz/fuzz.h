/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* What every target defines; libFuzzer or replay.c calls it. */
int LLVMFuzzerTestOneInput (const uint8_t * data, size_t size);

/* CHECK: a claim that holds for every input; there is no NDEBUG for it. */
#define CHECK(claim) \
  do { \
    if (!(claim)) { \
      fprintf (stderr, "%s:%d: %s\n", __FILE__, __LINE__, #claim); \
      abort (); \
    } \
  } while (0)

/**
 * Fuzz:
 *
 * The input as a row of numbers; zeros when it is used up.
 */
typedef struct
{
  const uint8_t *data;
  size_t size;
  size_t offset;
} Fuzz;

static inline uint32_t
fuzz_u8 (Fuzz *fuzz)
{
  return fuzz->offset < fuzz->size ? fuzz->data[fuzz->offset++] : 0;
}

static inline uint32_t
fuzz_u16 (Fuzz *fuzz)
{
  uint32_t high = fuzz_u8 (fuzz);

  return high << 8 | fuzz_u8 (fuzz);
}

static inline uint32_t
fuzz_u32 (Fuzz *fuzz)
{
  uint32_t high = fuzz_u16 (fuzz);

  return high << 16 | fuzz_u16 (fuzz);
}

/* Returns: whether there is more */
static inline int
fuzz_more (const Fuzz *fuzz)
{
  return fuzz->offset < fuzz->size;
}

#endif /* FUZZ_H */
