/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The queue of linkemu, without devices: what RED marks and what it drops. */
#define main linkemu_main
#include "linkemu.c"
#undef main

#define SIZE 500

static int failed;

static void
expect (const char *claim, bool holds)
{
  printf ("%s %s\n", holds ? "ok" : "NOT OK", claim);
  failed |= !holds;
}

/* [RFC1071] of a header of 20 bytes: 0 if its checksum is right */
static uint32_t
checksum (const uint8_t *ip)
{
  uint32_t sum = 0;

  for (int i = 0; i < 20; i += 2)
    sum += (uint32_t) ip[i] << 8 | ip[i + 1];
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

static packet *
packet_new (uint8_t ecn)
{
  packet *p = calloc (1, sizeof *p + SIZE);
  uint32_t sum;

  p->size = SIZE;
  p->data[0] = 0x45;
  p->data[ECN_DSCP] = (uint8_t) (0xb8 | ecn);   /* EF: stays */
  p->data[8] = 64;
  sum = checksum (p->data);
  p->data[ECN_CHECKSUM] = (uint8_t) (sum >> 8);
  p->data[ECN_CHECKSUM + 1] = (uint8_t) sum;
  return p;
}

typedef struct
{
  uint32_t n_queued, n_marked, n_wrong;
} outcome;

/* 200 packets at a link that is too slow for any of them, with the queue that RED
 * has seen of late */
static outcome
queue_up (bool link_marks, uint8_t ecn, double average)
{
  pipe_dir *l = &pipes[0];
  outcome out = { 0 };

  memset (l, 0, sizeof *l);
  l->rate_bps = (staircase) { 1, {0}, {1} };
  l->limit_packets = 1000;
  l->red = true;
  l->ecn = link_marks;
  l->red_min = 5000;
  l->red_max = 15000;
  l->red_probability = 0.1;
  l->red_average = average;
  l->red_count = -1;
  l->tail = &l->head;
  random_state = 1;
  for (int i = 0; i < 200; i++) {
    enqueue (0, packet_new (ecn), 0);
    l->queued_bytes = (uint32_t) average;       /* it stays as long */
  }
  out.n_queued = l->queued_packets;
  while (l->head != NULL) {
    packet *p = l->head;

    l->head = p->next;
    out.n_marked += p->data[ECN_DSCP] == (0xb8 | ECN_MASK);
    out.n_wrong += checksum (p->data) != 0 || p->data[ECN_DSCP] >> 2 != 0xb8 >> 2;
    free (p);
  }
  n_events = 0;
  return out;
}

int
main (void)
{
  outcome takes = queue_up (true, 2, 10000), other = queue_up (true, 1, 10000);
  outcome not = queue_up (true, 0, 10000), plain = queue_up (false, 2, 10000);
  outcome full = queue_up (true, 2, 30100), gentle = queue_up (true, 2, 29000);
  outcome rare = queue_up (true, 2, 4000);

  expect ("what takes marks is not dropped", takes.n_queued == 200);
  expect ("a tenth of it is marked at half of RED's probability of a tenth, "
      "spread evenly", takes.n_marked >= 10 && takes.n_marked <= 30);
  expect ("ECT(1) as ECT(0)", other.n_queued == 200
      && other.n_marked == takes.n_marked);
  expect ("what does not is dropped as often", 200 - not.n_queued
      == takes.n_marked && not.n_marked == 0);
  expect ("as is all on a link that does not mark", plain.n_marked == 0
      && 200 - plain.n_queued == takes.n_marked);
  expect ("below twice the upper threshold nearly all is marked",
      gentle.n_queued == 200 && gentle.n_marked > 160);
  expect ("beyond it dropped", full.n_queued == 0);
  expect ("below the lower one nothing happens", rare.n_queued == 200
      && rare.n_marked == 0);
  expect ("headers' checksums are right, other bits as they were",
      takes.n_wrong + other.n_wrong + not.n_wrong + gentle.n_wrong == 0);
  return failed;
}
