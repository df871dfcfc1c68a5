/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_TRAIN_H
#define FMX_RATE_TRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_RATE_TRAIN_PACKETS: a train has no more: 12 ms at 10 Mbit/s */
#define FMX_RATE_TRAIN_PACKETS 52u

/** FMX_RATE_TRAIN_LEAST, FMX_RATE_TRAIN_MOST: a packet's bytes on the wire; one byte
 * counts the padding ([RFC3550 5.1]) */
#define FMX_RATE_TRAIN_LEAST 68u
#define FMX_RATE_TRAIN_MOST 295u

/** FMX_RATE_TRAIN_LASTS_S: seconds that one takes at the rate it is made for: long beside
 * the 1/1024 s in which arrivals are told */
#define FMX_RATE_TRAIN_LASTS_S 0.012

/** FMX_RATE_TRAIN_BUCKET_BYTES: what a small token bucket lets pass at once: a packet of
 * 1500 bytes and its headers */
#define FMX_RATE_TRAIN_BUCKET_BYTES 1600.0

/** FMX_RATE_TRAIN_KNOWN: so many trains tell what the path carries */
#define FMX_RATE_TRAIN_KNOWN 5u

/** FMX_RATE_TRAIN_KEPT: so many are remembered: the last ones, and those that tell what the
 * path was like before */
#define FMX_RATE_TRAIN_KEPT 8u

/** FMX_RATE_TRAIN_LOOKS: so many together tell what a path carries that others fill */
#define FMX_RATE_TRAIN_LOOKS 8u

/**
 * FmxRateTrain:
 *
 * Packets of padding that leave at once, now and then.  What passes between the arrivals of
 * the first and the last is the time that the narrowest link takes for them, whatever else
 * it carries (Keshav, SIGCOMM 1991).  So a path that has become wider is known before
 * more is sent than it carried.  What counts is the change: some links let a burst pass.
 *
 * Where others fill the queue there is no burst that a link would let pass, and what the
 * path carries is what counts: all bits by all the time that several trains took.  Of ten
 * packets at 10 Mbit/s that is two steps of the clock each; the mean of eight is right to a
 * tenth, as each begins anywhere between two steps.  Where nobody fills it after all, a
 * shaper lets the first packets pass at once: if as many as a small bucket holds come far
 * sooner than the rest, the rest alone counts.
 *
 * Who starts asks for something else: how much is free.  Their train is spread out, to a
 * rate.  If it takes no longer to come than it took to leave, the path had room for that
 * rate beside what others send (Jain and Dovrolis, SIGCOMM 2002); if it does, it had not.
 */
typedef struct
{
  /*< private >*/
  FmxTime begun;                /* the last one */
  FmxTime due;                  /* it is to be sent; NONE = somebody was told */
  unsigned left;                /* packets that are still to be sent */
  uint32_t packet_bytes;
  bool under_way;
  bool is_long;                 /* the last one that asked whether the path has widened */
  unsigned n, n_came;
  FmxTime sent[FMX_RATE_TRAIN_PACKETS];
  FmxTime last_sent, first_came, last_came;
  FmxTime head_came;            /* the last of those that a small bucket may have let pass ... */
  unsigned n_head;              /* ... so many of those that came */
  double bps[FMX_RATE_TRAIN_KEPT];     /* the latest first */
  unsigned n_known;
  double widened;               /* 1 = it has not */
  FmxTime told;                 /* that it has, the last time; NONE = never */
  FmxTime burst;                /* one took no time, the last time; NONE = never */
  /* where others fill the queue */
  bool looks;                   /* that is what the last one is for */
  double look_bits[FMX_RATE_TRAIN_LOOKS];       /* the latest first */
  double look_s[FMX_RATE_TRAIN_LOOKS];
  double tail_bits[FMX_RATE_TRAIN_LOOKS];       /* of these, what came after those */
  double tail_s[FMX_RATE_TRAIN_LOOKS];
  unsigned n_looks;
  FmxTime look_begun;           /* the last one */
  FmxTime looked;               /* the last that told something was sent */
  unsigned n_vain;              /* lost something, in a row */
  double guess_bps;             /* what the next is made for; 0 = nothing is known */
  /* who starts */
  FmxDuration spacing;          /* from one packet to the next; 0 = they leave at once */
  unsigned ready;               /* of those left: their time has come */
  uint64_t media_bytes;         /* left between them */
  double passed_bps;            /* had room; 0 = that had not, or it has been taken */
  unsigned n_stopped;           /* had not, in a row */
} FmxRateTrain;

void fmx_rate_train_init (FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_ask: @bps are sent, all that the path was known to carry; 0 = nobody
 * wants to know whether it carries more now */
void fmx_rate_train_ask (FmxRateTrain * train, double bps, FmxDuration rtt,
    FmxTime now);

/** fmx_rate_train_look: a queue stands that others fill: what does the path carry?
 * @guess_bps: about, if nothing else is known; @rate_bps: may be sent, > 0 */
void fmx_rate_train_look (FmxRateTrain * train, double guess_bps,
    double rate_bps, FmxDuration rtt, FmxTime now);

/** fmx_rate_train_try: who starts: are @bps more than is sent free? > 0 */
void fmx_rate_train_try (FmxRateTrain * train, double bps, FmxDuration rtt,
    FmxTime now);

/** fmx_rate_train_on_media: a packet that is not of the train leaves, @wire_bytes long */
void fmx_rate_train_on_media (FmxRateTrain * train, uint32_t wire_bytes);

/** fmx_rate_train_take_passed: Returns: the rate that had room, with what else left
 * meanwhile, in bits/s on the wire; 0 = it had none, or that has been taken before */
double fmx_rate_train_take_passed (FmxRateTrain * train);

/** fmx_rate_train_may_check: Returns: whether none has looked for so long that one may,
 * where others are asked for all the time */
bool fmx_rate_train_may_check (const FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_forget_path: it may carry less than it did */
void fmx_rate_train_forget_path (FmxRateTrain * train);

/** fmx_rate_train_path_bps: Returns: what a path carries whose queue others fill; 0 = it
 * is not known, or was too long ago */
double fmx_rate_train_path_bps (const FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_next: Returns: when to call fmx_rate_train_announce(), or %FMX_TIME_NONE */
FmxTime fmx_rate_train_next (const FmxRateTrain * train);

/** fmx_rate_train_announce: somebody is told that it is due, or those of its packets whose
 * time has come, and may take them or not */
void fmx_rate_train_announce (FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_is_due: Returns: whether there is a packet to take */
bool fmx_rate_train_is_due (const FmxRateTrain * train);

/** fmx_rate_train_take: Returns: how many bytes leave now; 0 = none */
uint32_t fmx_rate_train_take (FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_has: Returns: whether what left at @sent is of the last one */
bool fmx_rate_train_has (const FmxRateTrain * train, FmxTime sent);

/** fmx_rate_train_came: a packet of it has, at @time on the receiver's clock */
void fmx_rate_train_came (FmxRateTrain * train, FmxTime time);

/** fmx_rate_train_end: what left at @acked has arrived */
void fmx_rate_train_end (FmxRateTrain * train, FmxTime acked);

/** fmx_rate_train_take_widened: Returns: how many times as much the path carries, by the
 * last two trains, as it did before them; 1 = no more, or that has been taken before */
double fmx_rate_train_take_widened (FmxRateTrain * train);

/** fmx_rate_train_passes_bursts: Returns: whether a token bucket let one pass at once in
 * the last 20 s: it hides a queue */
bool fmx_rate_train_passes_bursts (const FmxRateTrain * train, FmxTime now);

/** fmx_rate_train_bps: Returns: what the narrowest link carries, by the last trains; 0 =
 * there were too few */
double fmx_rate_train_bps (const FmxRateTrain * train);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_TRAIN_H */
