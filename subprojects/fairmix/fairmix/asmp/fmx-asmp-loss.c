/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/asmp/fmx-asmp-loss.h"

#include <assert.h>
#include <string.h>

/* [ASMP (3)] */
static const double weights[FMX_ASMP_LOSS_N] = {
  1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2
};

void
fmx_asmp_loss_init (FmxAsmpLoss *loss)
{
  memset (loss, 0, sizeof *loss);
}

void
fmx_asmp_loss_on_packet (FmxAsmpLoss *loss, uint16_t seq)
{
  uint64_t number = fmx_serial_extend16 (&loss->seq, seq);

  if (!loss->started) {
    loss->started = true;
    loss->highest = number;
    loss->expected_before = number - 1;
  }
  loss->received++;
  if (number > loss->highest)
    loss->highest = number;
}

void
fmx_asmp_loss_restart (FmxAsmpLoss *loss)
{
  memset (&loss->seq, 0, sizeof loss->seq);
  loss->started = false;
  loss->received = 0;
}

double
fmx_asmp_loss_fraction (const FmxAsmpLoss *loss)
{
  uint64_t expected = loss->started ? loss->highest - loss->expected_before : 0;

  return loss->received >= expected ? 0.0
      : (double) (expected - loss->received) / (double) expected;
}

bool
fmx_asmp_loss_report (FmxAsmpLoss *loss, double *fraction)
{
  if (!loss->started || loss->highest == loss->expected_before)
    return false;
  *fraction = fmx_asmp_loss_fraction (loss);
  loss->expected_before = loss->highest;
  loss->received = 0;

  memmove (loss->fractions + 1, loss->fractions,
      (FMX_ASMP_LOSS_N - 1) * sizeof loss->fractions[0]);
  loss->fractions[0] = *fraction;
  if (loss->n < FMX_ASMP_LOSS_N)
    loss->n++;
  return true;
}

double
fmx_asmp_loss_rate (const FmxAsmpLoss *loss)
{
  return fmx_asmp_loss_smooth (loss->fractions, loss->n);
}

double
fmx_asmp_loss_smooth (const double *fractions, unsigned n)
{
  double sum = 0.0, weight = 0.0;

  assert (n <= FMX_ASMP_LOSS_N);
  for (unsigned k = 0; k < n; k++) {
    sum += weights[k] * fractions[k];
    weight += weights[k];
  }
  return n == 0 ? 0.0 : sum / weight;
}
