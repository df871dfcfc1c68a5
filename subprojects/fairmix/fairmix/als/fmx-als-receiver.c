/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/als/fmx-als-receiver.h"

#include <assert.h>
#include <string.h>

/* Bytes of an address that all layers of a stream share: of 16, where an IPv4
 * address is the last four, all but the last; of IPv6, all but the last two. */
#define SAME_BYTES_IPV4 15
#define SAME_BYTES_IPV6 14

void
fmx_als_receiver_init (FmxAlsReceiver *receiver)
{
  memset (receiver, 0, sizeof *receiver);
  receiver->share_time = receiver->layers_time = FMX_TIME_NONE;
  receiver->loss_since = receiver->retry_at = FMX_TIME_NONE;
  receiver->retry = FMX_ALS_RECEIVER_RETRY;
}

void
fmx_als_receiver_set_base (FmxAlsReceiver *receiver, const FmxAlsLayer *base)
{
  receiver->has_base = base != NULL;
  if (base != NULL)
    receiver->base = *base;
}

static bool
is_fresh (FmxTime time, FmxTime now)
{
  return time != FMX_TIME_NONE && now < time + (FmxTime) FMX_ALS_RECEIVER_STALE;
}

/* How many layers @share_bps carries */
static unsigned
n_carried (const FmxAlsReceiver *receiver, double share_bps)
{
  double sum = 0.0;
  unsigned n = 0;

  while (n < receiver->n_layers) {
    sum += receiver->layers[n].size_bps;
    if (sum > share_bps)
      break;
    n++;
  }
  return n;
}

/* How many of them it may hold, were all else well */
static unsigned
n_allowed (const FmxAlsReceiver *receiver, FmxTime now)
{
  if (!is_fresh (receiver->share_time, now) || !receiver->share.answered
      || !is_fresh (receiver->layers_time, now) || receiver->n_holding == 0)
    return 1;
  return receiver->n_holding;
}

/* Layers that the share carried, but could not be held, are not to be kept. */
static void
forget_what_was_not_held (FmxAlsReceiver *receiver, FmxTime now)
{
  receiver->n_holding = n_allowed (receiver, now);
}

/* Joins what the share carries, and keeps what it nearly does */
static void
choose_layers (FmxAlsReceiver *receiver)
{
  unsigned join = n_carried (receiver, receiver->share.share_bps);
  unsigned keep = n_carried (receiver, receiver->share.share_bps
      / FMX_ALS_RECEIVER_KEEP);

  if (receiver->n_holding > keep)
    receiver->n_holding = keep;
  if (receiver->n_holding < join)
    receiver->n_holding = join;
}

void
fmx_als_receiver_on_request (FmxAlsReceiver *receiver,
    const FmxAlsShare *request, uint32_t media_ssrc, FmxTime now)
{
  receiver->is_urgent = receiver->share_time != FMX_TIME_NONE
      && (request->share_bps < FMX_ALS_RECEIVER_URGENT
      * receiver->share.share_bps
      || receiver->share.share_bps < FMX_ALS_RECEIVER_URGENT
      * request->share_bps);
  forget_what_was_not_held (receiver, now);
  receiver->share = *request;
  receiver->share.rate_bps = 0;
  receiver->share.media_ssrc = media_ssrc;
  receiver->share_time = now;
  choose_layers (receiver);
}

bool
fmx_als_receiver_take_urgent (FmxAlsReceiver *receiver)
{
  bool is_urgent = receiver->is_urgent;

  receiver->is_urgent = false;
  return is_urgent;
}

static bool
is_same_group (const FmxAlsLayer *a, const FmxAlsLayer *b)
{
  return a->port == b->port
      && memcmp (a->address, b->address, sizeof a->address) == 0;
}

/* [RFC3550 11] the port behind it is that of the layer's RTCP */
static bool
has_place_for_rtcp (const FmxAlsLayer *layer)
{
  return layer->port < UINT16_MAX;
}

static bool
is_credible (const FmxAlsLayer *layers, unsigned n)
{
  bool ipv6 = layers[0].address[0] == 0xff;
  size_t same = ipv6 ? SAME_BYTES_IPV6 : SAME_BYTES_IPV4;

  for (unsigned i = 0; i < n; i++) {
    if (!fmx_als_layer_is_multicast (&layers[i])
        || !has_place_for_rtcp (&layers[i])
        || memcmp (layers[i].address, layers[0].address, same) != 0)
      return false;
    for (unsigned k = 0; k < i; k++)
      if (is_same_group (&layers[i], &layers[k]))
        return false;
  }
  return true;
}

bool
fmx_als_receiver_on_layers (FmxAlsReceiver *receiver,
    const FmxAlsLayer *layers, unsigned n, FmxTime now)
{
  if (n == 0 || n > FMX_ALS_MAX_LAYERS || !is_credible (layers, n)
      || (receiver->has_base && !is_same_group (&layers[0], &receiver->base))) {
    receiver->n_refused++;
    return false;
  }
  forget_what_was_not_held (receiver, now);
  memcpy (receiver->layers, layers, n * sizeof layers[0]);
  receiver->n_layers = n;
  receiver->layers_time = now;
  choose_layers (receiver);
  return true;
}

bool
fmx_als_receiver_get_return (const FmxAlsReceiver *receiver,
    FmxAlsShare *share, FmxTime now)
{
  *share = receiver->share;
  return is_fresh (receiver->share_time, now);
}

const FmxAlsLayer *
fmx_als_receiver_get_layer (const FmxAlsReceiver *receiver, unsigned layer)
{
  return layer < receiver->n_layers ? &receiver->layers[layer] : NULL;
}

unsigned
fmx_als_receiver_get_n_layers (const FmxAlsReceiver *receiver, FmxTime now)
{
  unsigned n = n_allowed (receiver, now);
  unsigned n_most = receiver->n_most;

  if (n_most > 0 && now >= receiver->retry_at)
    n_most++;
  return n_most > 0 && n_most < n ? n_most : n;
}

static FmxDuration
twice_as_long (FmxDuration retry)
{
  return 2 * retry < FMX_ALS_RECEIVER_RETRY_MOST ? 2 * retry
      : FMX_ALS_RECEIVER_RETRY_MOST;
}

/* The top layer goes, or the one that was tried; each after longer. */
static void
leave_layer (FmxAlsReceiver *receiver, FmxTime now)
{
  unsigned n = fmx_als_receiver_get_n_layers (receiver, now);

  if (n <= 1)
    return;
  receiver->n_most = n - 1;
  receiver->retry_at = now + (FmxTime) receiver->retry;
  receiver->retry = twice_as_long (receiver->retry);
  receiver->n_left++;
}

/* One more was tried, and nothing was lost for as long as it takes to see. */
static void
keep_layer (FmxAlsReceiver *receiver, FmxTime now)
{
  if (receiver->n_most == 0
      || now < receiver->retry_at + (FmxTime) FMX_ALS_RECEIVER_LASTING)
    return;
  receiver->retry = FMX_ALS_RECEIVER_RETRY;
  receiver->retry_at = now + (FmxTime) receiver->retry;
  if (++receiver->n_most >= n_allowed (receiver, now))
    receiver->n_most = 0;
}

void
fmx_als_receiver_on_loss (FmxAlsReceiver *receiver, double loss, FmxTime now)
{
  if (!(loss > FMX_ALS_RECEIVER_LOSS)) {
    receiver->loss_since = FMX_TIME_NONE;
    keep_layer (receiver, now);
  } else if (receiver->loss_since == FMX_TIME_NONE) {
    receiver->loss_since = now;
  } else if (now >= receiver->loss_since + (FmxTime) FMX_ALS_RECEIVER_LASTING) {
    leave_layer (receiver, now);
    receiver->loss_since = FMX_TIME_NONE;
  }
}

uint64_t
fmx_als_receiver_get_n_left (const FmxAlsReceiver *receiver)
{
  return receiver->n_left;
}

FmxTime
fmx_als_receiver_next_timeout (const FmxAlsReceiver *receiver, FmxTime now)
{
  FmxTime next = FMX_TIME_NONE;

  if (is_fresh (receiver->share_time, now))
    next = receiver->share_time + (FmxTime) FMX_ALS_RECEIVER_STALE;
  if (is_fresh (receiver->layers_time, now))
    next = fmx_time_min (next, receiver->layers_time
        + (FmxTime) FMX_ALS_RECEIVER_STALE);
  if (receiver->n_most > 0 && receiver->retry_at > now)
    next = fmx_time_min (next, receiver->retry_at);
  return next;
}

uint64_t
fmx_als_receiver_get_n_refused (const FmxAlsReceiver *receiver)
{
  return receiver->n_refused;
}
