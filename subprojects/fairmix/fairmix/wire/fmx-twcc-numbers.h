/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_TWCC_NUMBERS_H
#define FMX_TWCC_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-ccfb.h"
#include "fairmix/wire/fmx-twcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_TWCC_NUMBERS_SPAN: so many numbers are remembered, the latest: 8 s of a
 * thousand packets a second */
#define FMX_TWCC_NUMBERS_SPAN 8192u

/** What a number was given to. */
typedef struct
{
  /*< private >*/
  uint32_t ssrc;
  uint16_t seq;
} FmxTwccSent;

/**
 * FmxTwccNumbers:
 *
 * Transport-wide sequence numbers as a sender gives them, across all its
 * streams, and what it gave them to.  Tells the feedback about them as RFC 8888
 * tells it: by SSRC and sequence number.
 *
 * Fixed size, O(1) for each packet.
 *
 * Source: draft-holmer-rmcat-transport-wide-cc-extensions-01
 */
typedef struct
{
  /*< private >*/
  uint16_t next;
  uint32_t n_given;             /* stays at FMX_TWCC_NUMBERS_SPAN */
  bool has_arrival;
  FmxDuration arrival;          /* the last one that was told of, as it was */
  uint64_t their_time;          /* the same without wraps, in ns */
  FmxTwccSent sent[FMX_TWCC_NUMBERS_SPAN];
} FmxTwccNumbers;

/**
 * fmx_twcc_numbers_init:
 * @first: the first number to be given; a random one, so that feedback for
 *     somebody else's numbers is not taken for ours
 */
void fmx_twcc_numbers_init (FmxTwccNumbers * numbers, uint16_t first);

/**
 * fmx_twcc_numbers_give:
 *
 * Returns: the number of packet @seq of @ssrc, which is sent now; or is left
 *     out, on purpose: nobody can have received what bears that number
 */
uint16_t fmx_twcc_numbers_give (FmxTwccNumbers * numbers, uint32_t ssrc,
    uint16_t seq);

/**
 * FmxTwccFeedback:
 *
 * Walks over what one feedback packet says of numbers that are remembered.
 */
typedef struct
{
  /*< private >*/
  FmxTwccReader reader;
  FmxDuration last_arrival;
} FmxTwccFeedback;

/**
 * fmx_twcc_numbers_read:
 * @packet: one RTCP packet, from its first byte on; it must stay where it is
 *     while @feedback is used
 * @size: bytes that may be read
 * @report_mid32: (out): when the last packet that it tells of arrived: the
 *     middle 32 bits of a time of the receiver's; only differences between
 *     packets of feedback mean anything
 *
 * Returns: false if it is malformed, or claims that something arrived that has
 *     not been sent yet; nothing may be read then, and nothing has changed
 */
bool fmx_twcc_numbers_read (FmxTwccNumbers * numbers,
    FmxTwccFeedback * feedback, const uint8_t * packet, size_t size,
    uint32_t * report_mid32);

/**
 * fmx_twcc_numbers_next:
 * @metric: (out): as from a feedback that was made when the last packet that it
 *     tells of arrived: how long it was held back is not known
 *
 * In the order of the numbers, so that the packets of each SSRC come as they
 * were sent.  Numbers that are too old, or not ours, are left out.
 *
 * Returns: false at the end
 */
bool fmx_twcc_numbers_next (const FmxTwccNumbers * numbers,
    FmxTwccFeedback * feedback, FmxCcfbMetric * metric);

#ifdef __cplusplus
}
#endif

#endif /* FMX_TWCC_NUMBERS_H */
