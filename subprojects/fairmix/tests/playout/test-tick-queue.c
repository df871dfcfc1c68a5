/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-tick-queue.h"

static FmxTickQueueStats
tick_queue_stats (const FmxTickQueue *object)
{
  FmxTickQueueStats stats;

  fmx_tick_queue_get_stats (object, &stats);
  return stats;
}

#define MS FMX_MSECOND
#define TICK (36 * MS)

/* --- the paper's FIFO, written from its section 3.2, tick by tick --- */

#define FIFO_POSITIONS 1000

typedef struct
{
  unsigned threshold, length;   /* of positions >= length */
  unsigned count[FIFO_POSITIONS + 1];
  size_t queue[FIFO_POSITIONS]; /* packets; the oldest first */
  unsigned n;
} Fifo;

/* Returns: whether the packet is queued */
static bool
fifo_arrival (Fifo *fifo, size_t packet)
{
  bool exceeded = false;

  for (unsigned k = 1; k <= FIFO_POSITIONS; k++) {
    /* "the most recent duration (in units of packet interarrival times) that
     * the queue continuously contained at least k elements" */
    fifo->count[k] = k <= fifo->n ? fifo->count[k] + 1 : 0;
    exceeded |= k >= fifo->length && fifo->count[k] > fifo->threshold;
  }
  if (exceeded)
    return false;
  assert_true (fifo->n < FIFO_POSITIONS);
  fifo->queue[fifo->n++] = packet;
  return true;
}

/* Returns: the packet that is shown, SIZE_MAX for a gap */
static size_t
fifo_tick (Fifo *fifo)
{
  size_t packet = fifo->queue[0];

  if (fifo->n == 0)
    return SIZE_MAX;
  fifo->n--;
  memmove (fifo->queue, fifo->queue + 1, fifo->n * sizeof fifo->queue[0]);
  return packet;
}

/* --- both side by side --- */

#define N_PACKETS 20000

typedef struct
{
  FmxTime arrival[N_PACKETS];   /* FMX_TIME_NONE: lost */
  FmxTime shown[N_PACKETS];     /* FMX_TIME_NONE: never */
} Run;

/* Exponential delays, heavier with @jitter, in the order of sending */
static void
make_arrivals (Run *run, uint64_t seed, FmxDuration jitter, double loss)
{
  FmxRng rng;
  FmxTime last = 0;

  fmx_rng_init (&rng, seed);
  for (size_t i = 0; i < N_PACKETS; i++) {
    double u = fmx_rng_next_unit (&rng);
    FmxDuration delay = (FmxDuration) (u * u * u * u * 8.0 * (double) jitter);
    FmxTime arrival = (FmxTime) ((FmxDuration) i * TICK + delay);

    run->shown[i] = FMX_TIME_NONE;
    last = arrival > last ? arrival : last;
    run->arrival[i] = fmx_rng_next_unit (&rng) < loss ? FMX_TIME_NONE : last;
  }
}

static void
show_by_fifo (Run *run, unsigned threshold, unsigned length)
{
  static Fifo fifo;
  size_t next = 0;

  memset (&fifo, 0, sizeof fifo);
  fifo.threshold = threshold;
  fifo.length = length;
  while (run->arrival[next] == FMX_TIME_NONE)
    next++;
  /* the display starts with the first packet, and never stops */
  for (FmxTime now = run->arrival[next]; next < N_PACKETS || fifo.n > 0;
      now += (FmxTime) TICK) {
    size_t packet;

    for (; next < N_PACKETS && (run->arrival[next] == FMX_TIME_NONE
            || run->arrival[next] <= now); next++)
      if (run->arrival[next] != FMX_TIME_NONE)
        fifo_arrival (&fifo, next);
    packet = fifo_tick (&fifo);
    if (packet != SIZE_MAX)
      run->shown[packet] = now;
  }
}

/* [nanoManipulator 3.2] */
static void
test_packets_are_shown_when_a_fifo_served_tick_by_tick_shows_them (void **state)
{
  static const struct
  {
    uint32_t threshold, length;
    FmxDuration jitter;
    double loss;
  } table[] = {
    {30, 2, 20 * MS, 0.1},
    {150, 2, 20 * MS, 0.1},
    {3600, 2, 20 * MS, 0.1},
    {30, 2, 100 * MS, 0.0},     /* stalls of many ticks */
    {5, 1, 60 * MS, 0.02},
    {1, 1, 10 * MS, 0.3},
    {30, 3, 200 * MS, 0.01},
  };
  static Run run;

  (void) state;
  for (size_t row = 0; row < N_ELEMENTS (table); row++) {
    FmxTickQueueParams params;
    FmxTickQueue queue;
    size_t n_dropped = 0;

    fmx_tick_queue_params_paper (&params, table[row].threshold,
        table[row].length);
    fmx_tick_queue_init (&queue, &params);
    make_arrivals (&run, row + 1, table[row].jitter, table[row].loss);
    show_by_fifo (&run, table[row].threshold, table[row].length);
    for (size_t i = 0; i < N_PACKETS; i++) {
      FmxTickQueueDecision decision;

      if (run.arrival[i] == FMX_TIME_NONE)
        continue;
      decision = fmx_tick_queue_on_packet (&queue, i, TICK, run.arrival[i]);
      if (decision.action == FMX_TICK_QUEUE_PLAY) {
        assert_int_equal (decision.tick, run.shown[i]);
      } else {
        assert_int_equal (decision.action, FMX_TICK_QUEUE_DROP_MONITOR);
        assert_int_equal (run.shown[i], FMX_TIME_NONE);
        n_dropped++;
      }
    }
    assert_int_equal (tick_queue_stats (&queue).n_dropped, n_dropped);
  }
}

/* --- one thing at a time --- */

static FmxTickQueue
queue_of (uint32_t threshold, uint32_t length)
{
  FmxTickQueueParams params;
  FmxTickQueue queue;

  fmx_tick_queue_params_paper (&params, threshold, length);
  fmx_tick_queue_init (&queue, &params);
  return queue;
}

/* What a lost packet leaves is taken by the next one: it comes a tick earlier
 * after its sending, and the queue is one shorter. */
static void
test_a_lost_packet_does_not_keep_its_place (void **state)
{
  FmxTickQueue queue = queue_of (30, 2);
  const FmxTime burst = (FmxTime) (3 * TICK);   /* packets 1 to 3 at once */
  FmxTickQueueDecision d = { 0 };

  (void) state;
  fmx_tick_queue_on_packet (&queue, 0, TICK, 0);
  for (uint64_t i = 1; i <= 3; i++)
    d = fmx_tick_queue_on_packet (&queue, i, TICK, burst);
  assert_int_equal (d.tick, 5 * TICK);
  assert_int_equal (d.n_queued, 2);
  /* 4 is lost */
  d = fmx_tick_queue_on_packet (&queue, 5, TICK, 5 * (FmxTime) TICK);
  assert_int_equal (d.tick, 6 * TICK);
  assert_int_equal (d.n_queued, 1);
}

static void
test_ticks_without_a_packet_are_counted (void **state)
{
  FmxTickQueue queue = queue_of (30, 2);
  FmxTickQueueDecision d;

  (void) state;
  fmx_tick_queue_on_packet (&queue, 0, TICK, 0);
  d = fmx_tick_queue_on_packet (&queue, 1, TICK, (FmxTime) (3 * TICK + 1));
  assert_int_equal (d.tick, 4 * TICK);
  assert_true (d.after_gap);
  assert_int_equal (tick_queue_stats (&queue).n_gaps, 3);
}

static void
test_what_is_older_than_the_last_one_is_dropped (void **state)
{
  FmxTickQueue queue = queue_of (30, 2);

  (void) state;
  fmx_tick_queue_on_packet (&queue, 7, TICK, 0);
  assert_int_equal (fmx_tick_queue_on_packet (&queue, 7, TICK, 1).action,
      FMX_TICK_QUEUE_DROP_OLD);
  assert_int_equal (fmx_tick_queue_on_packet (&queue, 6, TICK, 2).action,
      FMX_TICK_QUEUE_DROP_OLD);
  fmx_tick_queue_reset (&queue);
  assert_int_equal (fmx_tick_queue_on_packet (&queue, 6, TICK, 3).action,
      FMX_TICK_QUEUE_PLAY);
}

static void
test_the_queue_has_an_end (void **state)
{
  FmxTickQueue queue = queue_of (1000, 2);
  FmxTickQueueDecision d = { 0 };

  (void) state;
  queue.params.max_delay = 10 * TICK;
  for (uint64_t i = 0; i < 100; i++)
    d = fmx_tick_queue_on_packet (&queue, i, TICK, 5);
  assert_int_equal (d.action, FMX_TICK_QUEUE_DROP_FULL);
  assert_int_equal (tick_queue_stats (&queue).n_played, 11);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_packets_are_shown_when_a_fifo_served_tick_by_tick_shows_them),
    cmocka_unit_test (test_a_lost_packet_does_not_keep_its_place),
    cmocka_unit_test (test_ticks_without_a_packet_are_counted),
    cmocka_unit_test (test_what_is_older_than_the_last_one_is_dropped),
    cmocka_unit_test (test_the_queue_has_an_end),
  };

  return cmocka_run_group_tests_name ("playout/tick-queue", tests, NULL, NULL);
}
