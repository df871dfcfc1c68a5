/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_SENDER_PRIVATE_H
#define FMX_ASMP_SENDER_PRIVATE_H

#include "fairmix/asmp/fmx-asmp-sender.h"

/* Whether more may be sent than a while ago, at low_bps */
bool fmx_asmp_sender_has_risen (const FmxAsmpSender *sender, FmxTime now);

/* Where next to nothing arrives, nothing tells of losses either: whether rate
 * and report agree that it is so. */
bool fmx_asmp_sender_is_cut_off (const FmxAsmpSender *sender,
    const FmxAsmpEntry *entry, const FmxAsmpRate *rate, FmxTime now);

/* Whether @rate counts: measured, and no lower than what is known of who tells it
 * explains */
bool fmx_asmp_sender_counts (const FmxAsmpSender *sender,
    const FmxAsmpEntry *entry, const FmxAsmpRate *rate, FmxTime now);

/* "asmp-fair": who wants less than there is for too long is not waited for */
bool fmx_asmp_sender_is_out_of_patience (FmxAsmpSender *sender,
    FmxAsmpEntry *entry, uint32_t rate_bps, FmxTime now);

#endif /* FMX_ASMP_SENDER_PRIVATE_H */
