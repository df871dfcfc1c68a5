/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an FmxAsmpSender tells of its receivers */

#include "fairmix/asmp/fmx-asmp-sender.h"

#include <math.h>

double
fmx_asmp_sender_target_bps (const FmxAsmpSender *sender)
{
  return sender->target_bps;
}

static void
fill_info (const FmxAsmpSender *sender, uint32_t at, FmxAsmpReceiverInfo *info,
    FmxTime now)
{
  const FmxAsmpEntry *entry = &sender->table.entries[at];

  info->ssrc = entry->ssrc;
  info->rate_bps = entry->rate_bps;
  info->rtt = fmx_asmp_entry_rtt (entry);
  info->silence = fmx_time_diff (now, entry->heard);
  info->has_asmp = entry->has_asmp;
  info->counts = entry->heap_at != FMX_ASMP_NOBODY;
}

unsigned
fmx_asmp_sender_get_receivers (const FmxAsmpSender *sender,
    FmxAsmpReceiverInfo *infos, unsigned n, FmxTime now)
{
  const FmxAsmpTable *table = &sender->table;
  uint32_t least = fmx_asmp_table_least (table);
  unsigned n_infos = 0;

  if (least != FMX_ASMP_NOBODY && n > 0)
    fill_info (sender, least, &infos[n_infos++], now);
  for (uint32_t at = table->oldest; at != FMX_ASMP_NOBODY && n_infos < n;
      at = table->entries[at].newer)
    if (at != least)
      fill_info (sender, at, &infos[n_infos++], now);
  return n_infos;
}

void
fmx_asmp_sender_get_stats (const FmxAsmpSender *sender,
    FmxAsmpSenderStats *stats)
{
  const FmxAsmpTable *table = &sender->table;
  uint32_t least = fmx_asmp_table_least (table);

  *stats = sender->stats;
  stats->target_bps = sender->target_bps;
  stats->limiting_ssrc = sender->limiting_ssrc;
  stats->limiting_rtt = least == FMX_ASMP_NOBODY ? 0
      : fmx_asmp_entry_rtt (&table->entries[least]);
  stats->n_receivers = table->n;
  stats->n_plain = sender->n_plain;
  stats->n_ignored = sender->n_ignored;
}

/* since round trips were told last */
static bool
has_told_rate (const FmxAsmpSender *sender, const FmxAsmpEntry *entry)
{
  return entry->has_asmp && entry->rated >= sender->told;
}

static bool
take_rtt (FmxAsmpSender *sender, uint32_t at, FmxAsmpRtt *rtt)
{
  FmxAsmpEntry *entry;

  if (at == FMX_ASMP_NOBODY)
    return false;
  entry = &sender->table.entries[at];
  if (!entry->rtt_waits)
    return false;
  entry->rtt_waits = false;
  rtt->ssrc = entry->ssrc;
  rtt->rtt = fmx_asmp_entry_rtt (entry);
  return true;
}

void
fmx_asmp_sender_take_rtts (FmxAsmpSender *sender, FmxAsmpRttHeader *header,
    FmxAsmpRtt *rtts, unsigned n, FmxTime now)
{
  const FmxAsmpTable *table = &sender->table;

  header->limiting_ssrc = sender->limiting_ssrc;
  header->rate_bps = (uint32_t) fmin (sender->target_bps, UINT32_MAX);
  header->n_rtts = n > 0
      && take_rtt (sender, fmx_asmp_table_least (table), &rtts[0]);
  /* who has told a rate first; the newest, back to when they were told last */
  for (unsigned pass = 0; pass < 2; pass++)
    for (uint32_t at = table->newest; at != FMX_ASMP_NOBODY
        && table->entries[at].heard >= sender->told && header->n_rtts < n;
        at = table->entries[at].older)
      if (pass == 1 || has_told_rate (sender, &table->entries[at]))
        header->n_rtts += take_rtt (sender, at, &rtts[header->n_rtts]);
  sender->told = now;
}
