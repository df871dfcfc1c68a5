/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_FILL_H
#define FMX_RATE_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_FILL_BYTES: a packet of padding on the wire, about: one byte counts the
 * padding ([RFC3550 5.1]) */
#define FMX_RATE_FILL_BYTES 295u

/**
 * FmxRateFill:
 *
 * Who sends less than the rate allows never learns that there is room for more
 * ([RFC5348 4.3]: no more than twice what arrives).  That is a defect where more is
 * waiting: what is mixed for want of room, and is nearly silent, so that the mix takes
 * next to nothing.  Padding then makes up what media does not take:
 *
 * |[
 *   fill = rate                         while rate < wanted
 * ]|
 *
 * until the rate has not grown for 4 s, or has fallen: then there is none for 10 s, 20
 * s, at most 40 s, or until the rate has grown without.  Where streams wait because the
 * rate has not lasted yet, and media takes half of what has, padding makes up the gap all
 * the time, up to four times what lasts or is wanted.  Where packets are lost for no queue
 * of ours a fall begins the 4 s anew.  Where others have nearly all of the path padding
 * makes up whatever media does not take, all the time.
 */
typedef struct
{
  /*< private >*/
  double wanted_bps, rate_bps;
  double lasting_bps;           /* streams wait until more lasts; 0 = they do not */
  bool others;                  /* have what is not sent */
  bool loses;                   /* packets, and not for a queue of its own */
  double media_bps;             /* that was sent of late */
  double owed_bytes;            /* that may still be sent */
  double best_bps;              /* of the rate, in this round or before the pause */
  FmxTime last;                 /* @owed_bytes was counted */
  FmxTime grown;                /* the rate has, or the round began */
  FmxTime until;                /* of the pause; 0 = none */
  FmxDuration pause;            /* the last one's */
} FmxRateFill;

/** fmx_rate_fill_init: nothing is wanted */
void fmx_rate_fill_init (FmxRateFill * fill, FmxTime now);

/** fmx_rate_fill_set_wanted: more than is sent would be, if the rate were @bps; 0 =
 * nothing waits */
void fmx_rate_fill_set_wanted (FmxRateFill * fill, double bps, FmxTime now);

/** fmx_rate_fill_on_rate: @bps is allowed now; 0 = nothing, or nobody says what arrives */
void fmx_rate_fill_on_rate (FmxRateFill * fill, double bps, FmxTime now);

/** fmx_rate_fill_go_on: others fill the queue, and have what is not sent: there is no pause */
void fmx_rate_fill_go_on (FmxRateFill * fill, FmxTime now);

/** fmx_rate_fill_set_others: whether others have nearly all of the path, and what is not sent:
 * padding makes up all of it */
void fmx_rate_fill_set_others (FmxRateFill * fill, bool others);

/** fmx_rate_fill_set_loses: whether packets are lost that fill no queue of ours.  Then a fall
 * says nothing of the room that there is, and no pause comes of it; and streams that wait until
 * enough for them lasts need not have used what has. */
void fmx_rate_fill_set_loses (FmxRateFill * fill, bool loses);

/** fmx_rate_fill_set_gap: streams wait until more than @bps lasts; 0 = they do not */
void fmx_rate_fill_set_gap (FmxRateFill * fill, double bps, FmxTime now);

/** fmx_rate_fill_on_sent: media */
void fmx_rate_fill_on_sent (FmxRateFill * fill, uint32_t wire_bytes, FmxTime now);

/** fmx_rate_fill_on_padding: a packet of it */
void fmx_rate_fill_on_padding (FmxRateFill * fill, FmxTime now);

/** fmx_rate_fill_next: Returns: when a packet of padding is due, %FMX_TIME_NONE = none */
FmxTime fmx_rate_fill_next (const FmxRateFill * fill);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_FILL_H */
