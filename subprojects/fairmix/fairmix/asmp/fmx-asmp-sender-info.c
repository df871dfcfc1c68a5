/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an FmxAsmpSender tells of its receivers */

#include "fairmix/asmp/fmx-asmp-sender.h"

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
