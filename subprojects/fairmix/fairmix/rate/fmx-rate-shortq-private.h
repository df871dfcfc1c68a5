/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SHORTQ_PRIVATE_H
#define FMX_RATE_SHORTQ_PRIVATE_H

#include "fairmix/rate/fmx-rate-controller.h"

/* What more than one of the states needs; docs/algorithms/rate.md has where the
 * constants come from. */
#define HALF 0.5
#define STEP_MAX_BPS 100000.0   /* G.711 in packets of 10 ms has 96 kbit/s; halved and
                                 * doubled: alone 79: 71, 71, steps 62: 46, 62
                                 * (tests/sim/constants.py) */
#define CUT_OWN 0.85            /* of what the receiver got */
#define NEAR_CEILING 0.95
#define SAME_CEILING 0.1
#define HOLD_MIN (2 * FMX_SECOND)
#define HOLD_MAX (4 * HOLD_MIN)
#define MARGIN 1.1              /* over the least rate: room for a cut */
#define PAUSE_PART 0.9          /* of the path, to who is there while others pause */
#define OVERRUN 0.8             /* less of what is sent comes through */
#define DRAINS_WITHIN_S 0.8     /* of 1, 0.6 and 0.4 alone 79: 73, 83, 77, its changes a
                                 * minute 13.1: 13.0, 15.9, 15.4 */

/* The higher the rate the shorter the queue that is too long: of two who share
 * a path the greater gives way first, until they are equal. */
FmxDuration fmx_shortq_queue_limit (const FmxRateController *rc,
    const FmxRateFeedback *fb);

/* The TCP equation's rate, which is another where packets are only marked. */
double fmx_shortq_tcp_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb);

double fmx_shortq_left_bps (const FmxRateFeedback * fb);

double fmx_shortq_got_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb);

/* What is allowed and not used cannot be what fills the queue: a cut of it alone would
 * change nothing ([RFC7661 4.4.1]: after congestion a window is of what was used). */
double fmx_shortq_used_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb);

/* Never below the least rate: a burst of losses is no reason to say nothing at
 * all ([RFC3714 5] speaks of persistent loss). */
void fmx_shortq_lower (FmxRateController *rc, double bps, const char *reason);

/* Returns: whether packets are lost, of late, for no full queue, and most of what the path
 * carries is not ours */
bool fmx_shortq_loses (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Losses, or silence, ask for less.  What left before tells no more: a loss event is
 * answered once, as NewReno does it ([RFC6582 3.2], [RFC9002 7.3.2]). */
void fmx_shortq_halve (FmxRateController *rc, double bps, const char *reason,
    FmxTime now);

/* Returns: whether packets are known that left after the last time */
bool fmx_shortq_may_halve (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

void fmx_shortq_enter (FmxRateController *rc, FmxRateShortqMode mode,
    FmxTime now);

void fmx_shortq_begin_to_probe (FmxRateController *rc, FmxTime now);

/* Returns: whether a queue showed again and again without a step of ours, of late */
bool fmx_shortq_is_shared (const FmxRateController *rc, FmxTime now);

bool fmx_shortq_is_due (const FmxRateController *rc,
    const FmxRateFeedback *fb, double intervals, FmxTime now);

void fmx_shortq_raise (FmxRateController *rc, const FmxRateFeedback *fb,
    double bps, FmxTime now);

/* ... to what is known to have room, however little came through until now */
void fmx_shortq_raise_to (FmxRateController *rc, double bps, FmxTime now);

/* A loss while the queue is near its highest is one of a full queue; TCP hears
 * of it a round trip later, and then comes the dip. */
void fmx_shortq_note_loss (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* The rate is above X: down to it, but as a TCP not below half of what the
 * receiver gets within a round trip. */
void fmx_shortq_obey (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

/* More than the loss limit is lost: the path became narrow.  First the rate
 * gives way, as a TCP's would; media stop only when at the least rate that
 * does not help. */
void fmx_shortq_shed (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now);

/* Returns: below what rate losses that others make are no reason to go; 0 if they make none */
double fmx_shortq_loss_floor_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: whether something was lost of late */
bool fmx_shortq_has_lost (const FmxRateShortqState *s, FmxTime now);

/* Much less comes through than is sent, and not by chance: the path carries no
 * more.  To a part of what it does carry, at once, whoever else is there
 * ([RFC5348 4.3]: X_recv * 0.85 after a loss). */
bool fmx_shortq_overrun (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now);

/* Nobody else can have filled the queue: there was no such one of late, and none of our
 * packets came faster, one after the other, than all of them do. */
bool fmx_shortq_is_alone (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Who starts, alone, and sends more than comes through has a queue of their own, of which
 * all that is known is what the last packets met: what stands is known a round trip later. */
bool fmx_shortq_starts_alone (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: how long that queue is, in parts of what is borne: above 1 = too long, 0 = there is
 * none of that kind */
double fmx_shortq_own_queue (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Who starts asks whether far more is free, and takes a part of what is.  Returns: whether
 * the rate has grown by that */
bool fmx_shortq_take_free (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

/* Who begins loses something: bundles of our kind leave no queue that is full, and whoever
 * fills this one gives no way; what delay tells is not known yet, for the least that was seen
 * is that of their queue.  Returns: whether there is one, and so the rate competes */
bool fmx_shortq_meets_full_queue (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* It was no path that became narrow: before the cut can have shown, the queue is gone. */
void fmx_shortq_take_back_choked (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* A queue passed that was somebody's burst. */
void fmx_shortq_note_burst (FmxRateController *rc, FmxTime now);

/* Returns: no less than that for one that will pass; 0 = none is expected */
double fmx_shortq_burst_bps (const FmxRateController *rc, FmxTime now);

/* From a cut on: how long the queue becomes, and what comes when it falls */
void fmx_shortq_begin_crest (FmxRateController *rc, FmxTime now);
void fmx_shortq_follow_crest (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now);

/* Returns: whether the queue that has gone was somebody's burst */
bool fmx_shortq_was_a_burst (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* The queue was gone before our own cut can have shown: it passed, as a burst does or the
 * queue of somebody who gave way sooner, and says nothing of our rate. */
void fmx_shortq_take_back (FmxRateController *rc, FmxTime now);

/* Between two bursts the path is ours.  Returns: whether the rate grows faster than by steps */
bool fmx_shortq_take_pause (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

/* How much of a queue our own rate makes, where it is beyond the ceiling */
void fmx_shortq_note_excess (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

void fmx_shortq_begin_to_drain (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* The rate has just been cut from @from_bps since no more than @came_bps comes through and
 * nobody else is there: the queue that the cut drains, @queue_s until it shows, is our own. */
void fmx_shortq_drain_narrowed (FmxRateController *rc, double from_bps,
    double came_bps, double queue_s, FmxTime now);

/* Nothing leaves until the queue has gone that @from_bps made where no more than @came_bps
 * comes through: what left behind it would come too late. */
void fmx_shortq_hold (FmxRateController *rc, const FmxRateFeedback *fb,
    double from_bps, double came_bps, FmxTime now);

/* Returns: no more than that for a time: what came out of it, and a bit more each second */
double fmx_shortq_held_bps (const FmxRateController *rc, FmxTime now);

/* What comes out of it meanwhile is what the path carries. */
void fmx_shortq_follow_hold (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now);

void fmx_shortq_drain (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

void fmx_shortq_climb_or_drain (FmxRateController *rc,
    const FmxRateFeedback *fb, double allowed, FmxTime now);

/* Returns: how long after the last step it shows, if it was too much */
FmxDuration fmx_shortq_shows_after (const FmxRateController *rc,
    const FmxRateFeedback *fb);

#define START_GROWTH 1.25

/* Up to @growth times the rate, as soon as the last step would have shown */
void fmx_shortq_grow (FmxRateController *rc, const FmxRateFeedback *fb,
    double most_bps, double growth, FmxTime now);

/* The path may have become wider, in any mode. */
void fmx_shortq_note_room (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: whether who shares the path keeps a rate, of late */
bool fmx_shortq_is_beside_constant (const FmxRateController *rc, FmxTime now);

/* Returns: what one of many would have of a path that is known: whatever delay says, to
 * have less is to starve; 0 = it is not known, or who has the rest keeps it */
double fmx_shortq_least_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: whether about so much comes through, or less */
bool fmx_shortq_has_little (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: whether a queue has stood for so long, or loses so much, that whoever fills it
 * does not mind: they are not of our kind */
bool fmx_shortq_is_kept (const FmxRateController *rc, FmxTime now);

/* Whether the queue grows or sinks, from the last cut on */
void fmx_shortq_note_growth (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now);

/* Returns: whether who can give no way, for the rate is the least, has to compete: until
 * then whoever has more may be of our kind, and give way */
bool fmx_shortq_has_to_compete (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* A queue is too long.  Returns: whether it is for somebody who has more to answer first;
 * who has little gives way a little meanwhile */
bool fmx_shortq_lets_others_go_first (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* What of the rate streams should be for */
void fmx_shortq_note_lasting (FmxRateController *rc,
    const FmxRateFeedback *fb);

/* A queue shows: there is no room any more, or trains were wrong. */
void fmx_shortq_note_no_room (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: whether the rate is so far beyond the ceiling, and for so long, that it is
 * none any more, even if a token bucket hides the queue */
bool fmx_shortq_is_past_ceiling (const FmxRateController * rc);

/* Returns: whether the rate is beyond the ceiling of a slow link, and a token bucket may
 * hide the queue still */
bool fmx_shortq_may_be_hidden (const FmxRateController * rc);

/* The queue was our own: how much was hidden before it showed? */
void fmx_shortq_note_hidden (FmxRateController *rc);

/* Returns: whether @bps are all that the narrowest link carries, by trains of late */
bool fmx_shortq_has_link (const FmxRateFeedback * fb, double bps);

/* Returns: whether it has, and the rate follows */
bool fmx_shortq_take_room (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

void fmx_shortq_begin_to_compete (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: X beside BBRs, which mind neither losses nor a queue: a part of the path or, where
 * nobody knows what that carries, what losses leave to a TCP; 0 = there are none, or neither
 * is known */
double fmx_shortq_beside_bbr_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

/* Returns: how much may be sent while those with whom we compete pause, as who fetches
 * something now and then does; 0 = they do not, or nobody knows what the path carries */
double fmx_shortq_pause_bps (const FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now);

void fmx_shortq_compete (FmxRateController *rc, const FmxRateFeedback *fb,
    double allowed, FmxTime now);

/* What a TCP would have on this path, losses of a full queue and all, less a
 * margin, where losses have gone on for some time at a rate far below that: then
 * delay is no reason to have less.  Returns: 0 where they have not */
double fmx_shortq_floor_bps (const FmxRateController * rc,
    const FmxRateFeedback * fb, FmxTime now);

#endif /* FMX_RATE_SHORTQ_PRIVATE_H */
