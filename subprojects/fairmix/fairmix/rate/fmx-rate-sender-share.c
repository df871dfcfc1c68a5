/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Several senders that are coupled share one rate. */

#include <assert.h>
#include <math.h>

#include "fairmix/rate/fmx-rate-sender-private.h"

/* Of the weights that anybody may choose, 0.01 to 100, no share is further from 1. */
#define MOST_SHARE 1e4

void
fmx_rate_sender_set_bps (FmxRateSender *sender, double bps, FmxTime now)
{
  assert (bps > 0.0);
  if (!fmx_rate_sender_has_media (sender))
    return;
  fmx_rate_controller_set (&sender->controller,
      fmax (bps, (double) sender->params.min_bps) / sender->share,
      FMX_RATE_COUPLED);
  fmx_rate_sender_tell (sender, now);
}

void
fmx_rate_sender_set_share (FmxRateSender *sender, double share, FmxTime now)
{
  double bps = (double) fmx_rate_sender_target_bps (sender);
  FmxRateParams rate;

  assert (share > 0.0);
  share = fmax (fmin (share, MOST_SHARE), 1.0 / MOST_SHARE);
  rate = fmx_rate_sender_controller_params (&sender->params, share);
  fmx_rate_controller_set_coupled (&sender->controller, now);
  if (share == sender->share)
    return;
  sender->share = share;
  fmx_rate_controller_set_params (&sender->controller, &rate);
  if (bps > 0.0)
    fmx_rate_sender_set_bps (sender, bps, now);
}

void
fmx_rate_sender_drain_too (FmxRateSender *sender)
{
  fmx_rate_controller_drain_too (&sender->controller);
}
