/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Padding that tells how much of a path is free */
#include "fairmix/rate/fmx-rate-train.h"
#include "fmx-test-rate.h"

#define RTT (80 * MS)

/* A link of which others take a constant part; its queue, in seconds, is what our packets
 * and theirs make of it. */
typedef struct
{
  FmxRateTrain train;
  FmxTime now;
  double link_bps, others_bps;
  FmxDuration jitter;           /* a packet is late by that much, in turns */
  double queue_s;
  FmxTime queue_at;
  unsigned n, n_trains;         /* packets left, trains that are over */
  FmxTime last_sent;
} Path;

static Path
begin (double link_bps, double others_bps)
{
  Path path = { .link_bps = link_bps, .others_bps = others_bps };

  fmx_rate_train_init (&path.train, 0);
  path.now = path.queue_at = S;
  return path;
}

/* Returns: when a packet that leaves now arrives, by a clock of 1/1024 s */
static FmxTime
pass (Path *path, uint32_t bytes)
{
  const FmxTime tick = S / 1024;
  double since = fmx_time_to_s (fmx_time_diff (path->now, path->queue_at));
  FmxTime arrival;

  path->queue_s -= since * (1.0 - path->others_bps / path->link_bps);
  path->queue_s = fmax (path->queue_s, 0.0) + 8.0 * bytes / path->link_bps;
  path->queue_at = path->now;
  arrival = path->now + (FmxTime) fmx_time_from_s (path->queue_s);
  if (path->n % 2 > 0)
    arrival += (FmxTime) path->jitter;
  return arrival / tick * tick;
}

/* Each millisecond what is ready leaves; a packet of media goes before each fourth.
 * Returns: what passed, when a train is over; 0 until then, -1 = it was stopped */
static double
run (Path *path, double bps, uint32_t media_bytes, bool lose)
{
  unsigned n_trains = path->n_trains;
  uint32_t bytes;

  fmx_rate_train_try (&path->train, bps, RTT, path->now);
  if (path->now >= fmx_rate_train_next (&path->train))
    fmx_rate_train_announce (&path->train, path->now);
  while ((bytes = fmx_rate_train_take (&path->train, path->now)) > 0) {
    FmxTime arrival = pass (path, bytes);

    path->last_sent = path->now;
    path->n++;
    assert_true (fmx_rate_train_has (&path->train, path->now));
    if (!lose || path->n % 3 > 0)
      fmx_rate_train_came (&path->train, arrival);
    if (media_bytes > 0 && path->n % 4 == 0) {
      (void) pass (path, media_bytes);
      fmx_rate_train_on_media (&path->train, media_bytes);
    }
  }
  if (path->train.under_way && path->train.left == 0) {
    path->now += (FmxTime) RTT;
    fmx_rate_train_end (&path->train, path->last_sent + 1);
    path->n_trains++;
  }
  path->now += (FmxTime) MS;
  if (path->n_trains == n_trains)
    return 0.0;
  bps = fmx_rate_train_take_passed (&path->train);
  return bps > 0.0 ? bps : -1.0;
}

/* Returns: what the next train tells */
static double
try (Path *path, double bps, uint32_t media_bytes, bool lose)
{
  double passed_bps = 0.0;

  while (passed_bps <= 0.0 && passed_bps >= 0.0)
    passed_bps = run (path, bps, media_bytes, lose);
  return passed_bps;
}

/* Alone, and beside others who leave half, or a tenth. */
static void
test_a_train_passes_where_its_rate_is_free (void **state)
{
  static const double links[] = { 200e3, 1e6, 8e6 };
  static const double parts[] = { 0.0, 0.5, 0.9 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (links); i++)
    for (size_t j = 0; j < N_ELEMENTS (parts); j++) {
      double free_bps = (1.0 - parts[j]) * links[i];
      Path path = begin (links[i], parts[j] * links[i]);
      double passed_bps = try (&path, 0.8 * free_bps, 0, false);

      assert_true (passed_bps > 0.6 * free_bps);
      assert_true (passed_bps < 0.9 * free_bps);
      assert_true (fmx_rate_train_take_passed (&path.train) <= 0.0);
    }
}

/* What is twice the link, or twice what others leave of it */
static void
test_a_train_is_stopped_where_its_rate_is_not_free (void **state)
{
  static const double links[] = { 200e3, 1e6, 4e6 };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (links); i++) {
    Path alone = begin (links[i], 0.0), beside = begin (links[i],
        links[i] / 2.0);

    assert_true (try (&alone, 2.0 * links[i], 0, false) < 0.0);
    assert_true (try (&beside, links[i], 0, false) < 0.0);
  }
}

static void
test_what_leaves_between_counts (void **state)
{
  Path path = begin (4e6, 0.0);
  double without_bps = try (&path, 500e3, 0, false);
  double with_bps = try (&path, 500e3, 200, false);

  (void) state;
  assert_true (without_bps > 450e3 && without_bps < 550e3);
  assert_true (with_bps > without_bps + 100e3);
  /* and it may be what there is no room for */
  path = begin (600e3, 0.0);
  assert_true (try (&path, 500e3, 0, false) > 0.0);
  assert_true (try (&path, 500e3, 400, false) < 0.0);
}

static void
test_a_train_that_lost_a_packet_did_not_pass (void **state)
{
  Path path = begin (4e6, 0.0);

  (void) state;
  assert_true (try (&path, 500e3, 0, true) < 0.0);
  assert_true (try (&path, 500e3, 0, false) > 0.0);
}

/* A link of radio makes each second packet late: that is a matter of luck, not of room. */
static void
test_a_train_whose_packets_are_late_did_not_pass (void **state)
{
  Path path = begin (4e6, 0.0);

  (void) state;
  path.jitter = 20 * MS;
  assert_true (try (&path, 500e3, 0, false) < 0.0);
}

/* 0.5 s after the first, then twice as long each time, 16 at most: each that does not pass
 * makes whoever is there wait. */
static void
test_who_is_stopped_asks_less_often (void **state)
{
  Path path = begin (200e3, 0.0);
  FmxTime last = 0;

  (void) state;
  for (unsigned i = 0; i < 9; i++) {
    FmxTime begun;

    assert_true (try (&path, 400e3, 0, false) < 0.0);
    begun = path.train.begun;
    if (i > 0)
      assert_in_range (fmx_time_diff (begun, last), (500 * MS) << (i < 6 ? i - 1
              : 5), ((500 * MS) << (i < 6 ? i - 1 : 5)) + 5 * MS);
    last = begun;
  }
  path.link_bps = 4e6;
  assert_true (try (&path, 400e3, 0, false) > 0.0);
  last = path.train.begun;
  assert_true (try (&path, 400e3, 0, false) > 0.0);
  assert_true (fmx_time_diff (path.train.begun, last) < 2 * RTT + 50 * MS);
}

/* A thread that is late by three packets hands them out together, and no more than that. */
static void
test_packets_are_ready_when_their_time_has_come (void **state)
{
  FmxRateTrain train;
  FmxTime now = 10 * (FmxTime) S, spacing;
  unsigned n = 0;

  (void) state;
  fmx_rate_train_init (&train, 0);
  fmx_rate_train_try (&train, 400e3, RTT, now);
  assert_false (fmx_rate_train_is_due (&train));
  assert_int_equal (fmx_rate_train_take (&train, now), 0);
  assert_int_equal (fmx_rate_train_next (&train), now);
  fmx_rate_train_announce (&train, now);
  assert_true (fmx_rate_train_take (&train, now) > 0);
  assert_int_equal (fmx_rate_train_take (&train, now), 0);
  spacing = fmx_rate_train_next (&train) - now;
  assert_in_range (spacing, MS, 2 * MS);
  now += 3 * spacing;
  fmx_rate_train_announce (&train, now);
  while (fmx_rate_train_take (&train, now) > 0)
    n++;
  assert_int_equal (n, 3);
  now += 100 * spacing;
  fmx_rate_train_announce (&train, now);
  assert_int_equal (fmx_rate_train_next (&train), FMX_TIME_NONE);
  while (fmx_rate_train_take (&train, now) > 0)
    n++;
  assert_in_range (n, 4, FMX_RATE_TRAIN_PACKETS - 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_train_passes_where_its_rate_is_free),
    cmocka_unit_test (test_a_train_is_stopped_where_its_rate_is_not_free),
    cmocka_unit_test (test_what_leaves_between_counts),
    cmocka_unit_test (test_a_train_that_lost_a_packet_did_not_pass),
    cmocka_unit_test (test_a_train_whose_packets_are_late_did_not_pass),
    cmocka_unit_test (test_who_is_stopped_asks_less_often),
    cmocka_unit_test (test_packets_are_ready_when_their_time_has_come),
  };

  return cmocka_run_group_tests_name ("rate/rate-train-try", tests, NULL, NULL);
}
