/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SENDER_PRIVATE_H
#define FMX_RATE_SENDER_PRIVATE_H

#include "fairmix/rate/fmx-rate-sender.h"

/* The path as the equation sees it; R is a guess until it is known. */
FmxDuration fmx_rate_sender_rtt (const FmxRateSender * sender);
double fmx_rate_sender_equation_bps (const FmxRateSender * sender);
double fmx_rate_sender_loss_limit (const FmxRateSender * sender);
double fmx_rate_sender_loss_fraction (const FmxRateSender * sender);

FmxRateSenderState fmx_rate_sender_state (const FmxRateSender * sender);

/* Returns: whether there is a rate for media, though nothing may leave for a moment */
bool fmx_rate_sender_has_media (const FmxRateSender * sender);

/* Of whoever has @share times an equal part */
FmxRateParams fmx_rate_sender_controller_params (const FmxRateSenderParams *
    params, double share);

/* A pause that was meant is no standstill of the computer. */
void fmx_rate_sender_excuse_hold (FmxRateSender * sender, FmxTime now);

/* Packets that carry nothing become due. */
FmxDuration fmx_rate_sender_probe_interval (const FmxRateSender * sender);
void fmx_rate_sender_schedule_probe (FmxRateSender * sender, FmxTime now);

/* The target may be another one: what lasts of it, and what padding makes up */
void fmx_rate_sender_fill_up (FmxRateSender * sender, FmxTime now);

/* Longest time between two feedbacks of late. */
FmxDuration fmx_rate_sender_interval (const FmxRateSender * sender);

/* ... or as long as it may be where that is not known. */
FmxDuration fmx_rate_sender_patience (const FmxRateSender * sender);

/* Something came from the receiver, that it held back for @held. */
void fmx_rate_sender_heard (FmxRateSender * sender, FmxDuration held,
    FmxTime now);

/* One packet's fate. */
void fmx_rate_sender_received (FmxRateSender * sender,
    const FmxSentPacket * packet, bool marked);
void fmx_rate_sender_take_back (FmxRateSender * sender,
    const FmxSentPacket * packet);
/* Returns: whether there were losses */
bool fmx_rate_sender_drain_losses (FmxRateSender * sender, FmxTime now);
/* Returns: whether a loss event began */
bool fmx_rate_sender_lost (FmxRateSender * sender, FmxLossRecord packet);

/* All is known that one feedback, or a timeout, can tell: the controller
 * decides. */
void fmx_rate_sender_digest (FmxRateSender * sender, bool heard, FmxTime now);

/* What the circuit breaker is told. */
void fmx_rate_sender_report_to_breaker (FmxRateSender * sender,
    double fraction_lost, bool received, FmxTime now);

/* Report blocks that came together are taken together. */
void fmx_rate_sender_digest_report_blocks (FmxRateSender * sender,
    FmxTime now);

/* What is heard is checked against what was sent. */

/* Returns: whether per-packet feedback counts now */
bool fmx_rate_sender_believes_ccfb (FmxRateSender * sender, FmxTime now);
/* Returns: whether @metric may be true; otherwise its source was caught */
bool fmx_rate_sender_may_be_true (FmxRateSender * sender,
    const FmxCcfbMetric * metric, FmxTime now);
/* Returns: whether per-packet feedback must first agree with report blocks */
bool fmx_rate_sender_is_on_trial (FmxRateSender * sender, FmxTime now);
/* Returns: whether per-packet feedback, which comes now, comes so rarely that report
 * blocks tell of more */
bool fmx_rate_sender_is_rare (FmxRateSender * sender, FmxTime now);
/* Returns: whether it is not known how often the receiver tells of packets */
bool fmx_rate_sender_is_unsteady (const FmxRateSender * sender);
/* Returns: whether report blocks count beside per-packet feedback: @block tells of what
 * that should have told of before */
bool fmx_rate_sender_takes_block (FmxRateSender * sender,
    const FmxStream * stream, const FmxReportBlock * block, FmxTime now);
/* Returns: whether @block, about @stream, counts */
bool fmx_rate_sender_believes_block (FmxRateSender * sender,
    const FmxStream * stream, const FmxReportBlock * block, FmxTime now);
/* A block adds to what the one before said: @lost, as it says, of @expected
 * numbers, @left_out of which were left out. */
void fmx_rate_sender_weigh_block (FmxRateSender * sender, FmxStream * stream,
    uint32_t expected, int64_t lost, uint32_t left_out, FmxTime now);

/* An event that says @reason. */
void fmx_rate_sender_say (FmxRateSender * sender, const char *reason,
    FmxTime now);

/* An event if the state or the target changed. */
void fmx_rate_sender_tell (FmxRateSender * sender, FmxTime now);

#endif /* FMX_RATE_SENDER_PRIVATE_H */
