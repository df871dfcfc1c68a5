/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policies.h"

#include <string.h>

#ifdef HAVE_SPEEXDSP
#include <speex/speex_jitter.h>
#endif

static void
forget (const Trace * trace, Playout * playouts)
{
  for (size_t i = 0; i < trace->n_packets; i++) {
    playouts[i].due = FMX_TIME_NONE;
    playouts[i].pushed = trace->packets[i].arrival;
  }
}

void
policy_lib (const Trace * trace, const FmxPlayoutParams * params,
    Playout * playouts)
{
  FmxPlayout playout;

  forget (trace, playouts);
  fmx_playout_init (&playout, params);
  for (size_t i = 0; i < trace->n_packets; i++) {
    FmxPlayoutPacket packet = {
      .ext_seq = i,
      .media = trace->packets[i].send,
      .duration = trace->interval,
    };
    FmxPlayoutDecision decision;

    if (trace->packets[i].arrival == FMX_TIME_NONE)
      continue;
    decision =
        fmx_playout_on_packet (&playout, &packet, trace->packets[i].arrival);
    if (decision.action == FMX_PLAYOUT_PLAY)
      playouts[i].due = decision.playout;
  }
}

/* Shows at each tick what came since the last one, the newest of it. */
void
policy_none (const Trace * trace, Playout * playouts)
{
  FmxTime tick = trace->packets[0].arrival;
  size_t next = 0;

  forget (trace, playouts);
  for (; next < trace->n_packets; tick += (FmxTime) trace->interval) {
    size_t newest = trace->n_packets;

    for (; next < trace->n_packets
        && (trace->packets[next].arrival == FMX_TIME_NONE
            || trace->packets[next].arrival <= tick); next++)
      if (trace->packets[next].arrival != FMX_TIME_NONE)
        newest = next;
    if (newest < trace->n_packets)
      playouts[newest].due = tick;
  }
}

static void
play_constant (const Trace * trace, size_t from, size_t to,
    FmxDuration delay, Playout * playouts)
{
  for (size_t i = from; i < to; i++) {
    FmxTime due = trace->packets[i].send + (FmxTime) delay;

    playouts[i].pushed = trace->packets[i].arrival;
    playouts[i].due = trace->packets[i].arrival != FMX_TIME_NONE
        && trace->packets[i].arrival <= due ? due : FMX_TIME_NONE;
  }
}

#define N_DELAYS 501            /* 0 ... 1000 ms */
#define DELAY_STEP (2 * FMX_MSECOND)
#define N_SECONDS 10

/* For one window: which packets of each second are too late for each delay */
typedef struct
{
  size_t first[N_SECONDS + 1];  /* packet */
  size_t n_seconds;
  size_t n_missing[N_SECONDS][N_DELAYS];
} Choices;

static void
count_choices (const Trace * trace, size_t from, Choices * choices)
{
  FmxTime start = trace->packets[from].send / FMX_SECOND * FMX_SECOND;
  size_t i = from;

  memset (choices, 0, sizeof *choices);
  while (choices->n_seconds < N_SECONDS && i < trace->n_packets) {
    size_t second = choices->n_seconds++;

    choices->first[second] = i;
    start += FMX_SECOND;
    for (; i < trace->n_packets && trace->packets[i].send < start; i++) {
      FmxTime arrival = trace->packets[i].arrival;
      size_t in_time = arrival == FMX_TIME_NONE ? N_DELAYS :
          (size_t) ((arrival - trace->packets[i].send + DELAY_STEP - 1)
          / DELAY_STEP);

      for (size_t d = 0; d < in_time && d < N_DELAYS; d++)
        choices->n_missing[second][d]++;
    }
    choices->first[second + 1] = i;
  }
}

/* The delays that are best if one packet is worth @price steps of delay */
static double
choose (const Choices * choices, double price, size_t *delays)
{
  double missing = 0.0, delay = 0.0;
  double n = (double) (choices->first[choices->n_seconds] - choices->first[0]);

  for (size_t second = 0; second < choices->n_seconds; second++) {
    const size_t *n_missing = choices->n_missing[second];
    size_t length = choices->first[second + 1] - choices->first[second];
    size_t best = 0;

    for (size_t d = 1; d < N_DELAYS; d++)
      if (price * (double) n_missing[d] + (double) d
          < price * (double) n_missing[best] + (double) best)
        best = d;
    delays[second] = best;
    missing += (double) n_missing[best];
    delay += (double) (best * length);
  }
  return score_r (delay / n * (double) DELAY_STEP / 1e6, missing / n, 1.0);
}

bool
policy_clairvoyant (const Trace * trace, Playout * playouts)
{
  static Choices choices;

  for (size_t from = 0; from < trace->n_packets;
      from = choices.first[choices.n_seconds]) {
    size_t best[N_SECONDS], delays[N_SECONDS];
    double best_r = -1.0;

    count_choices (trace, from, &choices);
    for (double price = 0.5; price < 2000.0; price *= 1.2) {
      double r = choose (&choices, price, delays);

      if (r > best_r) {
        best_r = r;
        memcpy (best, delays, sizeof best);
      }
    }
    for (size_t second = 0; second < choices.n_seconds; second++)
      play_constant (trace, choices.first[second], choices.first[second + 1],
          (FmxDuration) best[second] * DELAY_STEP, playouts);
  }
  return true;
}

#ifdef HAVE_SPEEXDSP

/* Time stamps of speexdsp, to a packet: samples of 20 ms at 8 kHz.  Its timings
 * are kept in 16 bits: more units, and stalls that it cannot count. */
#define UNITS 160

bool
policy_speex (const Trace * trace, Playout * playouts)
{
  JitterBuffer *buffer = jitter_buffer_init (UNITS);
  spx_int32_t margin = UNITS;
  FmxTime now = trace->packets[0].arrival;
  size_t next = 0;

  forget (trace, playouts);
  jitter_buffer_ctl (buffer, JITTER_BUFFER_SET_MARGIN, &margin);
  while (next < trace->n_packets
      || now < trace->packets[trace->n_packets - 1].send + 5 * FMX_SECOND) {
    char data[8];
    JitterBufferPacket packet;
    spx_int32_t offset;

    for (; next < trace->n_packets && (trace->packets[next].arrival <= now
            || trace->packets[next].arrival == FMX_TIME_NONE); next++) {
      if (trace->packets[next].arrival == FMX_TIME_NONE)
        continue;
      memset (&packet, 0, sizeof packet);
      packet.data = data;
      packet.len = sizeof data;
      packet.timestamp = (spx_uint32_t) next *UNITS;
      packet.span = UNITS;
      packet.sequence = (spx_uint16_t) next;
      jitter_buffer_put (buffer, &packet);
    }
    packet.data = data;
    packet.len = sizeof data;
    if (jitter_buffer_get (buffer, &packet, UNITS, &offset)
        == JITTER_BUFFER_OK) {
      size_t i = packet.timestamp / UNITS;

      if (i < trace->n_packets)
        playouts[i].due = now + (FmxTime) (offset * trace->interval / UNITS);
    }
    jitter_buffer_tick (buffer);
    now += (FmxTime) trace->interval;
  }
  jitter_buffer_destroy (buffer);
  return true;
}

#else

bool
policy_speex (const Trace * trace, Playout * playouts)
{
  (void) trace;
  (void) playouts;
  return false;
}

#endif
