/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/loss/fmx-loss-fraction.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define N_SLOTS FMX_LOSS_FRACTION_SLOTS

void
fmx_loss_fraction_init (FmxLossFraction *fraction, FmxDuration window)
{
  assert (window >= (FmxDuration) N_SLOTS);

  memset (fraction, 0, sizeof *fraction);
  fraction->slot = window / N_SLOTS;
}

static bool
is_too_old (const FmxLossFraction *fraction, uint64_t number)
{
  return number + N_SLOTS <= fraction->newest;
}

void
fmx_loss_fraction_add (FmxLossFraction *fraction, uint32_t n_received,
    uint32_t n_lost, FmxTime sent)
{
  uint64_t number = sent / (uint64_t) fraction->slot;

  if (number >= fraction->newest + N_SLOTS) {
    memset (fraction->total, 0, sizeof fraction->total);
    memset (fraction->lost, 0, sizeof fraction->lost);
    fraction->newest = number;
  }
  while (fraction->newest < number) {
    fraction->newest++;
    fraction->total[fraction->newest % N_SLOTS] = 0;
    fraction->lost[fraction->newest % N_SLOTS] = 0;
  }
  if (is_too_old (fraction, number))
    return;
  fraction->total[number % N_SLOTS] += n_received + n_lost;
  fraction->lost[number % N_SLOTS] += n_lost;
}

void
fmx_loss_fraction_take_back (FmxLossFraction *fraction, FmxTime sent)
{
  uint64_t number = sent / (uint64_t) fraction->slot;

  if (number <= fraction->newest && !is_too_old (fraction, number)
      && fraction->lost[number % N_SLOTS] > 0)
    fraction->lost[number % N_SLOTS]--;
}

uint32_t
fmx_loss_fraction_count (const FmxLossFraction *fraction)
{
  uint32_t total = 0;

  for (unsigned i = 0; i < N_SLOTS; i++)
    total += fraction->total[i];
  return total;
}

double
fmx_loss_fraction_get (const FmxLossFraction *fraction)
{
  return fmx_loss_fraction_get_since (fraction, 0, 1);
}

double
fmx_loss_fraction_get_since (const FmxLossFraction *fraction, FmxTime since,
    uint32_t least)
{
  uint64_t slot = (uint64_t) fraction->slot;
  uint64_t first = since / slot + (since % slot > 0);   /* begins after it */
  uint32_t total = 0, lost = 0;

  if (fraction->newest + 1 >= N_SLOTS && first < fraction->newest + 1 - N_SLOTS)
    first = fraction->newest + 1 - N_SLOTS;
  for (uint64_t i = first; i <= fraction->newest; i++) {
    total += fraction->total[i % N_SLOTS];
    lost += fraction->lost[i % N_SLOTS];
  }
  return total == 0 || total < least ? 0.0 : (double) lost / total;
}
