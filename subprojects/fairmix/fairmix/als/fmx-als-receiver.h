/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALS_RECEIVER_H
#define FMX_ALS_RECEIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-als-app.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ALS_RECEIVER_STALE: a share or an announcement that was not renewed for
 * so long is void: ten of RTCP's least intervals */
#define FMX_ALS_RECEIVER_STALE (50 * FMX_SECOND)

/** FMX_ALS_RECEIVER_URGENT: a share that has become less than this part of the one
 * before is returned early, where the session may: until the sender knows, too much
 * is sent.  So is one that has become more by as much: TCP takes what is free within a
 * second, and gives it back by losses */
#define FMX_ALS_RECEIVER_URGENT 0.95

/** FMX_ALS_RECEIVER_KEEP: a layer that is held is kept while the share is as much of
 * the sum (ours).  The fastest receiver's share is the sum that is announced to it, so
 * that each newcomer at its router would cost it a layer until the next announcement */
#define FMX_ALS_RECEIVER_KEEP 0.9

/** FMX_ALS_RECEIVER_LOSS: a layer that costs more than this fraction of the packets
 * is not worth holding (ours).  TCP has some five segments per round trip there */
#define FMX_ALS_RECEIVER_LOSS 0.05

/** FMX_ALS_RECEIVER_LASTING: if it lasts so long: more than one of RTCP's least
 * intervals, so that two reports agree, and what the sender does at the next
 * adaptation point has been waited for */
#define FMX_ALS_RECEIVER_LASTING (10 * FMX_SECOND)

/** FMX_ALS_RECEIVER_RETRY: a layer that was left for loss is tried again after this,
 * and after twice as long as before whenever that fails, up to
 * %FMX_ALS_RECEIVER_RETRY_MOST */
#define FMX_ALS_RECEIVER_RETRY (30 * FMX_SECOND)
#define FMX_ALS_RECEIVER_RETRY_MOST (480 * FMX_SECOND)

/**
 * FmxAlsReceiver:
 *
 * The receiver of the Adaptive Load Service (ALS 3.2, 3.4): returns what came
 * with the sender's reports, and says how many layers it may hold,
 *
 * |[
 *   the most n with  R_d >= size_0 + ... + size_n-1,  but at least the base
 * ]|
 *
 * and keeps what it holds until R_d is less than nine tenths of their sum (ours).
 *
 * A share that no router has answered is only the sender's wish: then the base it
 * is, which the sender makes as large as the slowest receiver's path.
 *
 * A share may be wrong: the narrowest link has no router, or one that was told
 * another bandwidth.  So where loss lasts, the top layer is left, and tried again
 * later and later (ours; the paper trusts the routers).
 */
typedef struct
{
  /*< private >*/
  FmxAlsShare share;
  FmxTime share_time;
  bool is_urgent;
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS];
  unsigned n_layers;
  unsigned n_holding;           /* by the share alone; 0 = not known */
  FmxTime layers_time;
  bool has_base;
  FmxAlsLayer base;
  uint64_t n_refused;

  /* for loss */
  FmxTime loss_since;           /* none: the last report was good */
  unsigned n_most;              /* layers to hold; 0 = as many as there are */
  FmxTime retry_at;             /* and then one more */
  FmxDuration retry;
  uint64_t n_left;
} FmxAlsReceiver;

void fmx_als_receiver_init (FmxAlsReceiver * receiver);

/**
 * fmx_als_receiver_set_base:
 * @base: (nullable): the group that this receiver listens in; its size is not
 *     looked at
 *
 * From now on an announcement with another base is refused: whoever may send to
 * this group leads nobody into a group of somebody else.
 */
void fmx_als_receiver_set_base (FmxAlsReceiver * receiver,
    const FmxAlsLayer * base);

/** fmx_als_receiver_on_request: a sender report came with this beside it, cut by
 * the routers on its way */
void fmx_als_receiver_on_request (FmxAlsReceiver * receiver,
    const FmxAlsShare * request, uint32_t media_ssrc, FmxTime now);

/** fmx_als_receiver_take_urgent: Returns: whether the share should be returned
 * before the next report's time ([RFC4585 3.5]); asked once for each */
bool fmx_als_receiver_take_urgent (FmxAlsReceiver * receiver);

/**
 * fmx_als_receiver_on_layers:
 * @layers: (array length=n): the base first
 *
 * Takes an announcement over as a whole, or refuses it: a layer without a group's
 * address, two layers in one group, or layers in another network than the base,
 * would make receivers join what is not the sender's.  IPv4 groups must agree in
 * their upper 24 bits, IPv6 groups in their upper 112.  Behind each layer's port there
 * is one for its RTCP.
 *
 * Returns: whether it was taken
 */
bool fmx_als_receiver_on_layers (FmxAlsReceiver * receiver,
    const FmxAlsLayer * layers, unsigned n, FmxTime now);

/**
 * fmx_als_receiver_get_return:
 * @share: (out): what goes beside the next receiver report
 *
 * Returns: false if there is nothing to return
 */
bool fmx_als_receiver_get_return (const FmxAlsReceiver * receiver,
    FmxAlsShare * share, FmxTime now);

/** fmx_als_receiver_get_layer: Returns: the layer, or NULL if so many were not
 * announced */
const FmxAlsLayer *fmx_als_receiver_get_layer (const FmxAlsReceiver *
    receiver, unsigned layer);

/** Returns: how many layers to hold, the base included; 1 as long as nothing
 * else is known */
unsigned fmx_als_receiver_get_n_layers (const FmxAlsReceiver * receiver,
    FmxTime now);

/**
 * fmx_als_receiver_on_loss:
 * @loss: the fraction of the packets since the last report that did not come, in
 *     [0, 1]; layers share their path, so the base's will do
 *
 * At each of its own reports.
 */
void fmx_als_receiver_on_loss (FmxAlsReceiver * receiver, double loss,
    FmxTime now);

/** Returns: how often a layer was left for loss */
uint64_t fmx_als_receiver_get_n_left (const FmxAlsReceiver * receiver);

/** Returns: when what is known now becomes void, or a layer is tried again;
 * %FMX_TIME_NONE = neither */
FmxTime fmx_als_receiver_next_timeout (const FmxAlsReceiver * receiver,
    FmxTime now);

/** Returns: announcements that were refused */
uint64_t fmx_als_receiver_get_n_refused (const FmxAlsReceiver * receiver);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALS_RECEIVER_H */
