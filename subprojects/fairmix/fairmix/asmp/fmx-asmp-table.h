/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ASMP_TABLE_H
#define FMX_ASMP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C" {
#endif

/** FMX_ASMP_NOBODY: no receiver's place */
#define FMX_ASMP_NOBODY UINT32_MAX

/** FMX_ASMP_FRACTIONS: loss fractions kept for each receiver */
#define FMX_ASMP_FRACTIONS 8u

/**
 * FmxAsmpEntry:
 * @ssrc: who
 * @rate_bps: the rate that counts for it
 * @rtt: its round-trip time, in 1/65536 s; 0 = not known
 * @below_since: in seconds: since when it wants less than the least rate
 * @interval: between two times that it was heard, in the mean, in 1/100 s; 0 = not known
 * @heard: when it was heard last
 * @rated: when it told a rate last
 * @highest_seq: that came there, with its cycles
 * @n_sent: packets sent when it told that; wraps
 * @n_fractions: plain reports so far, at most %FMX_ASMP_FRACTIONS count
 * @fractions: what they said, in 1/256, newest first
 * @is_below, @has_asmp, @has_rate, @has_rounds, @is_ignored, @is_plain, @rtt_waits: flags
 *
 * What a sender remembers of one receiver.
 */
typedef struct
{
  FmxTime heard;
  FmxTime rated;
  uint32_t ssrc;
  uint32_t rate_bps;
  uint32_t rtt;
  uint32_t below_since;
  uint32_t highest_seq;
  uint32_t n_sent;
  uint8_t fractions[FMX_ASMP_FRACTIONS];
  uint8_t n_fractions;
  bool is_below:1;
  bool has_asmp:1;
  bool has_rate:1;
  bool has_rounds:1;
  bool is_ignored:1;
  bool is_plain:1;
  bool rtt_waits:1;
  uint16_t interval;
  /*< private >*/
  uint32_t heap_at;             /* FMX_ASMP_NOBODY = its rate does not count */
  uint32_t older, newer;        /* by @heard */
  uint32_t next;                /* of the same bucket, or free */
} FmxAsmpEntry;

/** FMX_ASMP_RTT_HZ: an #FmxAsmpEntry's @rtt is in this part of a second */
#define FMX_ASMP_RTT_HZ 65536

/** fmx_asmp_entry_rtt: Returns: 0 = not known */
static inline FmxDuration
fmx_asmp_entry_rtt (const FmxAsmpEntry *entry)
{
  return (FmxDuration) entry->rtt * FMX_SECOND / FMX_ASMP_RTT_HZ;
}

/** FMX_ASMP_INTERVAL_HZ: an #FmxAsmpEntry's @interval is in this part of a second */
#define FMX_ASMP_INTERVAL_HZ 100

/** fmx_asmp_entry_intervals: Returns: how long @n of its intervals are; 0 = not known */
static inline FmxDuration
fmx_asmp_entry_intervals (const FmxAsmpEntry *entry, double n)
{
  return fmx_time_from_s (n * entry->interval / FMX_ASMP_INTERVAL_HZ);
}

/** FMX_ASMP_BYTES_PER_RECEIVER: what the caller provides for each: an entry, a
 * place in the heap and a bucket */
#define FMX_ASMP_BYTES_PER_RECEIVER \
  (sizeof (FmxAsmpEntry) + 2u * sizeof (uint32_t))

/**
 * FmxAsmpTable:
 *
 * Receivers by their SSRCs, by their rates, and by how long they have been
 * silent: a hash table, a heap and a list over one array that the caller
 * provides.  Finding costs O(1), a new rate O(log n), the least rate and the
 * longest silence O(1).
 *
 * Not an #FmxAgingTable: that one may refuse a key when its few places are taken,
 * and knows no order.  A sender must know who has the least rate, and when there
 * are too many it forgets one who has a high one.
 */
typedef struct
{
  /*< private >*/
  FmxAsmpEntry *entries;
  uint32_t *heap;
  uint32_t *buckets;
  uint32_t n_max;
  uint32_t n;
  uint32_t n_heap;
  uint32_t free;
  uint32_t oldest, newest;
  uint32_t seed;
} FmxAsmpTable;

/**
 * fmx_asmp_table_init:
 * @memory: %FMX_ASMP_BYTES_PER_RECEIVER * @n_max bytes, aligned as for
 *     #FmxAsmpEntry
 * @n_max: receivers that it can hold, 1 ... 2^31
 * @seed: random, so that nobody can choose SSRCs that meet in one bucket
 */
void fmx_asmp_table_init (FmxAsmpTable * table, void *memory, uint32_t n_max,
    uint32_t seed);

/** Returns: its place, or %FMX_ASMP_NOBODY */
uint32_t fmx_asmp_table_find (const FmxAsmpTable * table, uint32_t ssrc);

/** fmx_asmp_table_add: Returns: the place of the new receiver, who is not in it
 * yet; %FMX_ASMP_NOBODY if it is full */
uint32_t fmx_asmp_table_add (FmxAsmpTable * table, uint32_t ssrc, FmxTime now);

void fmx_asmp_table_remove (FmxAsmpTable * table, uint32_t at);

/** fmx_asmp_table_touch: it was heard at @now */
void fmx_asmp_table_touch (FmxAsmpTable * table, uint32_t at, FmxTime now);

/** fmx_asmp_table_rate: its rate is @rate_bps, and counts if @counts */
void fmx_asmp_table_rate (FmxAsmpTable * table, uint32_t at,
    uint32_t rate_bps, bool counts);

/** Returns: who has the least rate that counts, or %FMX_ASMP_NOBODY */
uint32_t fmx_asmp_table_least (const FmxAsmpTable * table);

/** Returns: one of those with the higher rates, if there are rates that count */
uint32_t fmx_asmp_table_high (const FmxAsmpTable * table);

/** Returns: who has been silent longest, or %FMX_ASMP_NOBODY */
uint32_t fmx_asmp_table_oldest (const FmxAsmpTable * table);

/** Returns: who has been silent for longest but for @at, or %FMX_ASMP_NOBODY */
uint32_t fmx_asmp_table_next_oldest (const FmxAsmpTable * table, uint32_t at);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ASMP_TABLE_H */
