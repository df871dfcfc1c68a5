/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Packets that carry nothing: while no media may pass, and beside media. */

#include <math.h>

#include "fairmix/rate/fmx-rate-sender-private.h"

/* [RFC8085 3.1.3] not more than one per RTT.  It would have one in three seconds
 * where nothing ever comes back; DPM section 5.4 says why that is too slow. */
FmxDuration
fmx_rate_sender_probe_interval (const FmxRateSender *sender)
{
  FmxDuration interval =
      fmx_rate_controller_probe_interval (&sender->controller);
  FmxDuration rtt = fmx_rate_sender_rtt (sender);

  return interval > rtt ? interval : rtt;
}

void
fmx_rate_sender_excuse_hold (FmxRateSender *sender, FmxTime now)
{
  if (fmx_rate_controller_is_holding (&sender->controller))
    fmx_sender_stall_excuse (&sender->stall, now);
}

/* The timers go on whether the caller takes what is due or not. */
void
fmx_rate_sender_schedule_probe (FmxRateSender *sender, FmxTime now)
{
  if (now >= sender->probe_at) {        /* NONE unless probing */
    sender->probe_due = true;
    sender->probe_at = now + (FmxTime) fmx_rate_sender_probe_interval (sender);
  }
  if (now >= fmx_rate_fill_next (&sender->fill)) {
    sender->padding_due = true;
    fmx_rate_fill_on_padding (&sender->fill, now);
  }
  if (fmx_rate_controller_is_holding (&sender->controller))
    sender->padding_due = false;
  if (now >= fmx_rate_train_next (&sender->train))
    fmx_rate_train_announce (&sender->train, now);
}

void
fmx_rate_sender_set_media_bps (FmxRateSender *sender, uint64_t bps)
{
  bool follows = bps == fmx_rate_sender_target_bps (sender);

  sender->media_bps = follows ? 0.0 : (double) bps;
  fmx_rate_controller_set_media_bps (&sender->controller,
      (double) bps / sender->share);
}

/* What a policy has for the media, which may be more than the target where packets wait:
 * a target that swings around it makes it no less lasting. */
static double
media_bps (const FmxRateSender *sender, double target_bps)
{
  return target_bps > 0.0 && sender->media_bps > 0.0 ? sender->media_bps
      : target_bps;
}

uint64_t
fmx_rate_sender_lasting_bps (const FmxRateSender *sender)
{
  double lasting = media_bps (sender,
      (double) fmx_rate_sender_target_bps (sender));

  lasting = fmin (lasting, fmx_rate_lasting_bps (&sender->lasting));
  if (sender->controller.tried_from_bps > 0.0)
    lasting = fmin (lasting, sender->share
        * sender->controller.tried_from_bps);
  return (uint64_t) lasting;
}

/* Streams wait for a rate that lasts, and the controller must know whether it does; not
 * beyond what a policy has for them. */
void
fmx_rate_sender_fill_up (FmxRateSender *sender, FmxTime now)
{
  double target = fmx_rate_sender_state (sender) == FMX_RATE_SENDER_SENDING
      ? (double) fmx_rate_sender_target_bps (sender) : 0.0;
  double media = media_bps (sender, target), bps = fmin (media, target);
  double lasting_bps;

  if (sender->controller.has_widened)
    fmx_rate_lasting_on_wider (&sender->lasting, now);
  sender->controller.has_widened = false;
  fmx_rate_lasting_on_rate (&sender->lasting, media, now);
  fmx_rate_fill_set_others (&sender->fill, sender->controller.has_little);
  fmx_rate_fill_set_loses (&sender->fill, sender->controller.loses);
  if (sender->controller.look_bps > 0.0 || sender->controller.has_little)
    fmx_rate_fill_go_on (&sender->fill, now);
  fmx_rate_fill_on_rate (&sender->fill, bps, now);
  lasting_bps = (double) fmx_rate_sender_lasting_bps (sender);
  fmx_rate_fill_set_gap (&sender->fill, lasting_bps < bps ? lasting_bps : 0.0,
      now);
}

uint32_t
fmx_rate_sender_padding_bytes (const FmxRateSender *sender)
{
  return sender->padding_bytes;
}

bool
fmx_rate_sender_has_probe (const FmxRateSender *sender)
{
  if (fmx_rate_sender_state (sender) == FMX_RATE_SENDER_PROBING)
    return sender->probe_due;
  return !fmx_rate_controller_is_holding (&sender->controller)
      && (sender->padding_due || fmx_rate_train_is_due (&sender->train));
}

bool
fmx_rate_sender_take_probe (FmxRateSender *sender, FmxTime now)
{
  fmx_rate_sender_schedule_probe (sender, now);
  if (!fmx_rate_sender_has_probe (sender))
    return false;
  sender->probe_taken = true;
  if (fmx_rate_sender_state (sender) == FMX_RATE_SENDER_PROBING) {
    sender->probe_due = sender->padding_due = false;
    sender->stats.n_probes++;
    return true;
  }
  sender->stats.n_padding++;
  sender->padding_bytes = fmx_rate_train_take (&sender->train, now);
  if (sender->padding_bytes == 0) {
    sender->probe_due = sender->padding_due = false;
    sender->padding_bytes = FMX_RATE_FILL_BYTES;
  }
  return true;
}

void
fmx_rate_sender_set_wanted (FmxRateSender *sender, double bps, FmxTime now)
{
  fmx_rate_fill_set_wanted (&sender->fill, bps, now);
}

void
fmx_rate_sender_get_delay_shape (const FmxRateSender *sender,
    FmxDelayShapeStats *stats)
{
  fmx_delay_shape_get_stats (&sender->shape, stats);
}
