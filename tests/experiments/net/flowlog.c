/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flowlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SSRCS 64
#define TABLE_SIZE (1u << 16)   /* packets under way, at most half of it */

typedef struct
{
  uint64_t sent_packets, sent_bytes;
  uint64_t received_packets, received_bytes;
  uint64_t lost_packets;
  double delay_s;
  uint32_t ssrcs[MAX_SSRCS];
  int n_ssrcs;
} flow_cell;

typedef struct
{
  uint64_t packets, bytes;
  double queue_s, queue_max_s;
} link_cell;

typedef struct
{
  uint64_t key;
  int64_t sent, entered;
  int flow;
  bool used;
} under_way;

/* The cells of the intervals that may still change, as a ring. */
struct flowlog
{
  FILE *flows_csv, *links_csv;
  int64_t interval;
  int64_t first;                /* the oldest interval that is not written */
  int64_t batch;                /* so many are written at a time */
  int n_cells;
  flow_cell *flow_cells;
  link_cell *link_cells;
  const char *flows[FLOWLOG_MAX_FLOWS];
  const char *links[FLOWLOG_MAX_LINKS];
  int n_flows, n_links;
  under_way *table;
  uint32_t n_under_way;
};

static FILE *
open_csv (const char *folder, const char *name, const char *head)
{
  char path[4096];
  FILE *f;

  snprintf (path, sizeof path, "%s/%s", folder, name);
  f = fopen (path, "w");
  if (f != NULL)
    fprintf (f, "%s\n", head);
  else
    perror (path);
  return f;
}

flowlog *
flowlog_open (const char *folder, int64_t interval_ns)
{
  flowlog *log = calloc (1, sizeof *log);

  if (log == NULL)
    return NULL;
  log->interval = interval_ns;
  log->batch = 1 + INT64_C (1000000000) / interval_ns;
  log->n_cells = (int) (2 * FLOWLOG_LOST_AFTER / interval_ns) + 4;
  log->flow_cells = calloc ((size_t) log->n_cells * FLOWLOG_MAX_FLOWS,
      sizeof *log->flow_cells);
  log->link_cells = calloc ((size_t) log->n_cells * FLOWLOG_MAX_LINKS,
      sizeof *log->link_cells);
  log->table = calloc (TABLE_SIZE, sizeof *log->table);
  log->flows_csv = open_csv (folder, "flows.csv",
      "t_s,flow,sent_bps,received_bps,sent_packets,received_packets,"
      "lost_packets,delay_ms,ssrcs");
  log->links_csv = open_csv (folder, "links.csv",
      "t_s,link,passed_bps,queue_ms,queue_max_ms");
  if (log->flow_cells == NULL || log->link_cells == NULL || log->table == NULL
      || log->flows_csv == NULL || log->links_csv == NULL) {
    flowlog_close (log, 0);
    return NULL;
  }
  return log;
}

int
flowlog_add_flow (flowlog *log, const char *name)
{
  if (log->n_flows == FLOWLOG_MAX_FLOWS)
    return -1;
  log->flows[log->n_flows] = name;
  return log->n_flows++;
}

int
flowlog_add_link (flowlog *log, const char *name)
{
  if (log->n_links == FLOWLOG_MAX_LINKS)
    return -1;
  log->links[log->n_links] = name;
  return log->n_links++;
}

static flow_cell *
flow_at (flowlog *log, int64_t interval, int flow)
{
  return &log->flow_cells[(size_t) (interval % log->n_cells)
      * FLOWLOG_MAX_FLOWS + (size_t) flow];
}

static link_cell *
link_at (flowlog *log, int64_t interval, int link)
{
  return &log->link_cells[(size_t) (interval % log->n_cells)
      * FLOWLOG_MAX_LINKS + (size_t) link];
}

/* The interval of a time, moved to where cells are. */
static int64_t
interval_of (flowlog *log, int64_t t)
{
  int64_t i = t < 0 ? 0 : t / log->interval;

  if (i >= log->first + log->n_cells)
    flowlog_advance (log, t);
  return i < log->first ? log->first : i;
}

static void
write_interval (flowlog *log, int64_t i)
{
  double s = (double) log->interval / 1e9, t = (double) (i + 1) * s;

  for (int f = 0; f < log->n_flows; f++) {
    flow_cell *c = flow_at (log, i, f);

    fprintf (log->flows_csv, "%.3f,%s,%.0f,%.0f,%lu,%lu,%lu,", t,
        log->flows[f], (double) c->sent_bytes * 8 / s,
        (double) c->received_bytes * 8 / s, (unsigned long) c->sent_packets,
        (unsigned long) c->received_packets, (unsigned long) c->lost_packets);
    if (c->received_packets > 0)
      fprintf (log->flows_csv, "%.3f",
          c->delay_s * 1e3 / (double) c->received_packets);
    fprintf (log->flows_csv, ",%d\n", c->n_ssrcs);
    memset (c, 0, sizeof *c);
  }
  for (int l = 0; l < log->n_links; l++) {
    link_cell *c = link_at (log, i, l);

    fprintf (log->links_csv, "%.3f,%s,%.0f,", t, log->links[l],
        (double) c->bytes * 8 / s);
    if (c->packets > 0)
      fprintf (log->links_csv, "%.3f,%.3f\n",
          c->queue_s * 1e3 / (double) c->packets, c->queue_max_s * 1e3);
    else
      fprintf (log->links_csv, ",\n");
    memset (c, 0, sizeof *c);
  }
}

/* ---- the packets under way: a hash table with linear probing ---- */

static uint32_t
slot_of (uint64_t key)
{
  key ^= key >> 29;
  key *= UINT64_C (0xbf58476d1ce4e5b9);
  return (uint32_t) (key >> 32) & (TABLE_SIZE - 1);
}

static under_way *
find (flowlog *log, uint64_t key)
{
  uint32_t i = slot_of (key);

  for (; log->table[i].used; i = (i + 1) & (TABLE_SIZE - 1))
    if (log->table[i].key == key)
      return &log->table[i];
  return NULL;
}

static void
insert (flowlog *log, const under_way *w)
{
  uint32_t i = slot_of (w->key);

  while (log->table[i].used)
    i = (i + 1) & (TABLE_SIZE - 1);
  log->table[i] = *w;
  log->n_under_way++;
}

static void
take_out (flowlog *log, under_way *w)
{
  uint32_t hole = (uint32_t) (w - log->table), i = hole;

  log->n_under_way--;
  log->table[hole].used = false;
  for (;;) {
    uint32_t home;

    i = (i + 1) & (TABLE_SIZE - 1);
    if (!log->table[i].used)
      return;
    home = slot_of (log->table[i].key);
    if (((i - home) & (TABLE_SIZE - 1)) >= ((i - hole) & (TABLE_SIZE - 1))) {
      log->table[hole] = log->table[i];
      log->table[i].used = false;
      hole = i;
    }
  }
}

static void
expire (flowlog *log, int64_t t)
{
  for (uint32_t i = 0; i < TABLE_SIZE; i++) {
    under_way *w = &log->table[i];

    while (w->used && t - w->sent > FLOWLOG_LOST_AFTER) {
      flow_at (log, interval_of (log, w->sent), w->flow)->lost_packets++;
      take_out (log, w);        /* may move another one here */
    }
  }
}

/* ---- events ---- */

void
flowlog_sent (flowlog *log, const flowlog_packet *packet, int64_t t)
{
  flow_cell *c = flow_at (log, interval_of (log, t), packet->flow);
  under_way w = { packet->key, t, t, packet->flow, true };

  c->sent_packets++;
  c->sent_bytes += packet->bytes;
  if (log->n_under_way >= TABLE_SIZE / 2 || find (log, packet->key) != NULL)
    return;                     /* counted, not followed */
  insert (log, &w);
}

void
flowlog_received (flowlog *log, const flowlog_packet *packet, int64_t t)
{
  under_way *w = find (log, packet->key);
  flow_cell *c;
  int k = 0;

  if (w == NULL)
    return;                     /* a duplicate, or one that was given up */
  c = flow_at (log, interval_of (log, t), packet->flow);
  c->received_packets++;
  c->received_bytes += packet->bytes;
  c->delay_s += (double) (t - w->sent) / 1e9;
  take_out (log, w);
  if (packet->ssrc == 0)
    return;
  while (k < c->n_ssrcs && c->ssrcs[k] != packet->ssrc)
    k++;
  if (k == c->n_ssrcs && k < MAX_SSRCS)
    c->ssrcs[c->n_ssrcs++] = packet->ssrc;
}

void
flowlog_entered (flowlog *log, uint64_t key, int64_t t)
{
  under_way *w = find (log, key);

  if (w != NULL)
    w->entered = t;
}

void
flowlog_passed (flowlog *log, int link, const flowlog_packet *packet,
    int64_t t)
{
  under_way *w = find (log, packet->key);
  link_cell *c = link_at (log, interval_of (log, t), link);
  double s;

  c->bytes += packet->bytes;
  if (w == NULL)
    return;
  c->packets++;
  s = (double) (t - w->entered) / 1e9;
  c->queue_s += s;
  if (s > c->queue_max_s)
    c->queue_max_s = s;
}

void
flowlog_advance (flowlog *log, int64_t t)
{
  int64_t end = (t - FLOWLOG_LOST_AFTER) / log->interval - 1;

  if (end - log->first < log->batch)
    return;                     /* a look at all packets is dear */
  expire (log, t);
  for (; log->first < end; log->first++)
    write_interval (log, log->first);
  fflush (log->flows_csv);
  fflush (log->links_csv);
}

void
flowlog_close (flowlog *log, int64_t t)
{
  if (log->flows_csv != NULL && log->links_csv != NULL) {
    int64_t end = t / log->interval;

    expire (log, t);
    for (; log->first < end; log->first++)
      write_interval (log, log->first);
  }
  if (log->flows_csv != NULL)
    fclose (log->flows_csv);
  if (log->links_csv != NULL)
    fclose (log->links_csv);
  free (log->flow_cells);
  free (log->link_cells);
  free (log->table);
  free (log);
}

uint64_t
flowlog_key (const uint8_t *ip, uint32_t size)
{
  uint64_t h = UINT64_C (0xcbf29ce484222325);
  uint32_t header = size > 0 ? (ip[0] & 15u) * 4u : 0;
  uint32_t end = header + 32 < size ? header + 32 : size;

  /* length, identification, addresses; not TTL and checksum: they change */
  for (uint32_t i = 2; i < 6 && i < size; i++)
    h = (h ^ ip[i]) * UINT64_C (0x100000001b3);
  for (uint32_t i = 12; i < end; i++) {
    bool checksum = i >= header && ((ip[9] == 17 && i >= header + 6
            && i < header + 8) || (ip[9] == 6 && i >= header + 16
            && i < header + 18));

    if (!checksum)
      h = (h ^ ip[i]) * UINT64_C (0x100000001b3);
  }
  return h;
}
