/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_RECEIVER_PRIVATE_H
#define FMX_ASMP_RECEIVER_PRIVATE_H

#include "fairmix/asmp/fmx-asmp-receiver.h"

/* Returns: whether its rate counts.  Where much is lost what arrives is a measurement,
 * too: it may take long until a report of the sender comes through. */
bool fmx_asmp_receiver_is_measured (const FmxAsmpReceiver * receiver,
    FmxTime now);

/* Whether a joiner has lost so much that its first report, too, need not wait */
bool fmx_asmp_receiver_overruns (const FmxAsmpReceiver * receiver,
    FmxTime now);

/* "asmp-fair": the rate of now */
double fmx_asmp_receiver_fair_bps (const FmxAsmpReceiver * receiver,
    FmxTime now);

/* What was since the last report, or the last turn, counts now. */
void fmx_asmp_receiver_end_interval (FmxAsmpReceiver * receiver, FmxTime now);

/* Whether @bps is worth telling */
bool fmx_asmp_receiver_may_tell (const FmxAsmpReceiver * receiver, double bps,
    FmxTime now);

#endif /* FMX_ASMP_RECEIVER_PRIVATE_H */
