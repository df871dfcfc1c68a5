/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SENDER_PRIVATE_H
#define FMX_RATE_SENDER_PRIVATE_H

#include "fairmix/rate/fmx-rate-sender.h"

/* The path as the equation sees it; R is a guess until it is known. */
FmxDuration fmx_rate_sender_rtt (const FmxRateSender * sender);
double fmx_rate_sender_equation_bps (const FmxRateSender * sender);
double fmx_rate_sender_loss_limit (const FmxRateSender * sender);
double fmx_rate_sender_loss_fraction (const FmxRateSender * sender);

/* Longest time between two feedbacks of late. */
FmxDuration fmx_rate_sender_interval (const FmxRateSender * sender);

/* Something came from the receiver. */
void fmx_rate_sender_heard (FmxRateSender * sender, FmxTime now);

/* One packet's fate. */
void fmx_rate_sender_received (FmxRateSender * sender,
    const FmxSentPacket * packet, bool marked);
void fmx_rate_sender_take_back (FmxRateSender * sender,
    const FmxSentPacket * packet);
/* Returns: whether there were losses */
bool fmx_rate_sender_drain_losses (FmxRateSender * sender, FmxTime now);
void fmx_rate_sender_lost (FmxRateSender * sender, FmxLossRecord packet);

/* All is known that one feedback, or a timeout, can tell: the controller
 * decides. */
void fmx_rate_sender_digest (FmxRateSender * sender, bool heard, FmxTime now);

/* What the circuit breaker is told. */
void fmx_rate_sender_report_to_breaker (FmxRateSender * sender,
    double fraction_lost, bool received, FmxTime now);

/* Report blocks that came together are taken together. */
void fmx_rate_sender_digest_report_blocks (FmxRateSender * sender,
    FmxTime now);

/* Something came back: dummy packets may be as frequent as they can. */
void fmx_rate_sender_hasten_probe (FmxRateSender * sender, FmxTime now);

/* An event if the state or the target changed. */
void fmx_rate_sender_tell (FmxRateSender * sender, FmxTime now);

#endif /* FMX_RATE_SENDER_PRIVATE_H */
