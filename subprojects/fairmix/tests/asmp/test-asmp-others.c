/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-asmp-path.h"

#include "fairmix/asmp/fmx-asmp-others.h"

#define SEGMENT 1500u
#define NOBODY_BPS 1.0

/* A link with a queue, and what sends to it. */
typedef struct
{
  double bps;
  double others_bps;            /* that do not adapt; 0 = one that keeps a queue */
  double queue_s;               /* so long: at least */
  double t_s, free_s, others_s; /* now; when it has sent all; the next of others */
  FmxRng rng;
} Link;

typedef struct
{
  double bps;
  unsigned bytes;
  double interval_s;
} Stream;

static const Stream voice = { 128e3, 160, 0.02 };
static const Stream bundle = { 500e3, 1000, 0.032 };

static void
link_init (Link *link, double bps)
{
  *link = (Link) {.bps = bps,.queue_s = 0.2,.t_s = 1000.0 };
  fmx_rng_init (&link->rng, 1);
}

static void
link_send (Link *link, unsigned bytes)
{
  link->free_s = fmax (link->free_s, link->t_s) + 8.0 * bytes / link->bps;
}

static void
link_others (Link *link)
{
  if (link->others_bps == 0.0 && link->free_s < link->t_s + link->queue_s)
    for (unsigned i = 0; i < 2; i++)
      link_send (link, SEGMENT);
  link->others_s = fmax (link->others_s, link->t_s - 1.0);
  for (; link->others_bps > 0.0 && link->others_s < link->t_s;
      link->others_s += 8.0 * SEGMENT / link->others_bps)
    link_send (link, SEGMENT);
}

/* A packet of @bytes, @interval_s after the last.
 * Returns: when it arrives; @waited: in the queue */
static FmxTime
link_packet (Link *link, unsigned bytes, double interval_s, FmxDuration *waited)
{
  link->t_s += interval_s * (0.9 + 0.2 * fmx_rng_next_unit (&link->rng));
  link_others (link);
  *waited = fmx_time_from_s (fmax (link->free_s - link->t_s, 0.0));
  link_send (link, bytes);
  return (FmxTime) fmx_time_from_s (link->free_s);
}

static void
run (Link *link, FmxAsmpOthers *others, Stream stream, double seconds)
{
  for (unsigned i = 0; i < seconds / stream.interval_s; i++) {
    FmxDuration waited;
    FmxTime now = link_packet (link, stream.bytes, stream.interval_s, &waited);

    fmx_asmp_others_on_packet (others, stream.bytes, waited, now);
  }
}

static double
bps_of (Stream stream)
{
  return 8.0 * stream.bytes / stream.interval_s;
}

static void
start (Link *link, FmxAsmpOthers *others, Stream stream)
{
  link_init (link, stream.bps);
  fmx_asmp_others_init (others);
  run (link, others, stream, 60.0);
}

static void
start_alone (Link *link, FmxAsmpOthers *others, Stream stream)
{
  link_init (link, stream.bps);
  link->others_bps = NOBODY_BPS;
  fmx_asmp_others_init (others);
  run (link, others, stream, 20.0);
}

static void
test_packets_in_a_row_tell_what_the_link_carries (void **state)
{
  const Stream streams[] = { voice, bundle, {1e6, 1000, 0.02} };

  (void) state;
  for (unsigned i = 0; i < 3; i++) {
    FmxAsmpOthers others;
    Link link;

    start (&link, &others, streams[i]);
    assert_near (fmx_asmp_others_link_bps (&others), streams[i].bps, 0.02);
    assert_near (fmx_asmp_others_bps (&others),
        streams[i].bps - bps_of (streams[i]), 0.05);
  }
}

static void
test_a_path_without_a_queue_tells_nothing (void **state)
{
  FmxAsmpOthers others;
  Link link;

  (void) state;
  link_init (&link, 100e6);
  link.others_bps = 10e6;
  fmx_asmp_others_init (&others);
  run (&link, &others, voice, 60.0);
  assert_near (fmx_asmp_others_link_bps (&others), 0.0, 0.0);
  assert_near (fmx_asmp_others_bps (&others), 0.0, 0.0);
  assert_near (fmx_asmp_others_fair_bps (&others, 64e3, 0.0), 64e3, 1e-9);
}

/* A radio that holds packets back: gaps of any length */
static void
test_gaps_of_any_length_tell_nothing (void **state)
{
  FmxAsmpOthers others;
  double t_s = 1000.0;
  FmxRng rng;

  (void) state;
  fmx_asmp_others_init (&others);
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 2000; i++) {
    t_s += 0.005 + 0.03 * fmx_rng_next_unit (&rng);
    fmx_asmp_others_on_packet (&others, 200, FMX_SECOND,
        (FmxTime) fmx_time_from_s (t_s));
  }
  assert_near (fmx_asmp_others_link_bps (&others), 0.0, 0.0);
}

/* Of what is lost as much more is sent, but no more than a tenth. */
static void
test_beside_one_tcp_half_is_fair (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double bps;

  (void) state;
  start (&link, &others, voice);
  bps = fmx_asmp_others_bps (&others);
  for (double n = 0.5; n < 1.11; n += 0.1) {
    assert_near (fmx_asmp_others_are_one (&others, bps / n), 1.0, 1e-3);
    assert_near (fmx_asmp_others_fair_bps (&others, bps / n, 0.0), 64e3, 0.02);
  }
  assert_near (fmx_asmp_others_fair_bps (&others, bps, 0.06), 68.1e3, 0.02);
  assert_near (fmx_asmp_others_fair_bps (&others, bps, 0.5), 71.1e3, 0.02);
}

static void
test_beside_more_the_equation_says (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double bps;

  (void) state;
  start (&link, &others, voice);
  bps = fmx_asmp_others_bps (&others);
  for (double n = 2.5; n < 10.0; n += 0.5)
    assert_near (fmx_asmp_others_fair_bps (&others, bps / n, 0.0), bps / n,
        1e-3);
  assert_near (fmx_asmp_others_fair_bps (&others, bps / 1.5, 0.0), bps / 1.5,
      1e-3);
}

static void
test_beside_two_tcps_a_third_is_fair (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double bps;

  (void) state;
  start (&link, &others, voice);
  bps = fmx_asmp_others_bps (&others);
  for (double n = 1.76; n < 2.25; n += 0.08)
    assert_near (fmx_asmp_others_fair_bps (&others, bps / n, 0.0), 42.7e3,
        0.02);
}

static void
test_one_to_three_are_few (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double bps;

  (void) state;
  start (&link, &others, voice);
  bps = fmx_asmp_others_bps (&others);
  for (double n = 1.0; n < 3.1; n += 1.0)
    assert_true (fmx_asmp_others_are_few (&others, bps / n));
  assert_false (fmx_asmp_others_are_few (&others, bps / 0.3));
  assert_false (fmx_asmp_others_are_few (&others, bps / 4.0));
  link.others_bps = 20e3;
  run (&link, &others, voice, 25.0);
  assert_false (fmx_asmp_others_are_few (&others, 20e3));
}

/* Beside a TCP and small packets most gaps are a little longer than the shortest. */
static void
test_a_link_stays_known_behind_small_packets (void **state)
{
  FmxAsmpOthers others, newcomer;
  FmxTime now;
  Link link;

  (void) state;
  start (&link, &others, bundle);
  now = others.last;
  fmx_asmp_others_init (&newcomer);
  for (unsigned i = 0; i < 4000; i++) {
    now += (i % 8 == 0 ? 16 : 24) * FMX_MSECOND;
    fmx_asmp_others_on_packet (&others, bundle.bytes, FMX_SECOND, now);
    fmx_asmp_others_on_packet (&newcomer, bundle.bytes, FMX_SECOND, now);
  }
  assert_near (fmx_asmp_others_link_bps (&others), 500e3, 0.02);
  assert_near (fmx_asmp_others_link_bps (&newcomer), 0.0, 0.0);
}

/* Who gets a tenth of what a TCP would get is hardly a TCP. */
static void
test_beside_next_to_nobody_the_equation_says (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double bps;

  (void) state;
  start (&link, &others, voice);
  bps = fmx_asmp_others_bps (&others);
  assert_near (fmx_asmp_others_are_one (&others, bps / 0.25), 0.5, 0.01);
  assert_near (fmx_asmp_others_are_one (&others, bps / 0.01), 0.02, 0.01);
}

/* A TCP leaves no link idle. */
static void
test_an_idle_link_has_no_tcp (void **state)
{
  FmxAsmpOthers others;
  Link link;

  (void) state;
  start (&link, &others, voice);
  link.others_bps = 20e3;
  run (&link, &others, voice, 25.0);
  assert_near (fmx_asmp_others_link_bps (&others), 128e3, 0.02);
  assert_near (fmx_asmp_others_are_one (&others, 40e3), 0.0, 0.0);
}

static void
test_what_is_ours_is_no_others (void **state)
{
  FmxAsmpOthers others;
  Link link;
  double before;

  (void) state;
  start (&link, &others, bundle);
  before = fmx_asmp_others_bps (&others);
  for (unsigned i = 0; i < 250; i++) {
    run (&link, &others, bundle, 0.032);
    fmx_asmp_others_on_companion (&others, 200);
  }
  assert_near (fmx_asmp_others_bps (&others), before - 0.63 * 50e3, 0.05);
}

static void
test_another_link_is_known_within_a_minute (void **state)
{
  FmxAsmpOthers others;
  Link link;

  (void) state;
  start (&link, &others, bundle);
  link.bps = 800e3;
  run (&link, &others, bundle, 5.0);
  assert_near (fmx_asmp_others_link_bps (&others), 800e3, 0.02);
  link.bps = 400e3;
  run (&link, &others, bundle, 65.0);
  assert_near (fmx_asmp_others_link_bps (&others), 400e3, 0.02);
}

/* Nor does a report that lost much lower who has no more than half. */
static void
test_a_receiver_beside_one_tcp_tells_half (void **state)
{
  Link link;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  link_init (&link, 500e3);
  for (unsigned k = 0; k < 40; k++) {
    unsigned loses_two_each = k % 2 == 0 ? 80 : 16;

    for (unsigned i = 0; i < 150; i++) {
      FmxDuration waited;
      FmxTime sent, now = link_packet (&link, 1000, 0.033, &waited);

      sent = (FmxTime) fmx_time_from_s (link.t_s);
      path.now = now - (FmxTime) path.one_way;
      if (i % loses_two_each > 1)
        fmx_asmp_receiver_on_packet (&path.receiver, path.seq,
            (uint32_t) (sent / (FMX_SECOND / CLOCK_RATE)), 1000, now);
      path.seq++;
    }
    path_tell (&path, 100 * FMX_MSECOND, 250000, OWN);
    if (k < 20)
      path_report (&path);
    else
      assert_in_range (path_report (&path).rate_bps, 250000, 290000);
  }
  assert_true (path.receiver.events.few_others);
}

#define QUEUE_S 0.2

/* Five seconds of packets, at this rate.  Returns: how many of them were lost */
static unsigned
path_on_link (Path * path, Link *link, double bps)
{
  double until_s = link->t_s + 5.0;
  unsigned n_lost = 0;

  while (link->t_s < until_s) {
    Link before = *link;
    FmxDuration waited;
    FmxTime now = link_packet (link, 1000, 8000.0 / bps, &waited);

    path->now = now - (FmxTime) path->one_way;
    if (waited < fmx_time_from_s (QUEUE_S)) {
      fmx_asmp_receiver_on_packet (&path->receiver, path->seq, (uint32_t)
          (fmx_time_from_s (link->t_s) / (FMX_SECOND / CLOCK_RATE)), 1000, now);
    } else {
      link->free_s = before.free_s;
      n_lost++;
    }
    path->seq++;
  }
  return n_lost;
}

/* The sender obeys.  Returns: the share of packets lost after four reports */
static double
share_lost (Path * path, Link *link, double *bps, unsigned n_reports)
{
  double n_lost = 0.0, n = 0.0;

  for (unsigned k = 0; k < n_reports; k++) {
    unsigned lost = path_on_link (path, link, *bps);

    n_lost += k < 4 ? 0 : lost;
    n += k < 4 ? 0.0 : *bps * 5.0 / 8000.0;
    path_tell (path, 100 * FMX_MSECOND, (uint32_t) *bps, OWN);
    *bps = path_report (path).rate_bps;
  }
  return n_lost / n;
}

static void
test_alone_no_more_is_told_than_the_link_carries (void **state)
{
  double bps = 600e3;
  Link link;
  Path path;

  (void) state;
  path_init (&path, FMX_ASMP_FAIR);
  link_init (&link, 400e3);
  link.others_bps = NOBODY_BPS;
  assert_true (share_lost (&path, &link, &bps, 40) < 0.02);
  assert_in_range ((unsigned) bps, 370000, 430000);
  link.bps = 800e3;             /* another one took half of it */
  share_lost (&path, &link, &bps, 12);
  assert_in_range ((unsigned) bps, 700000, 850000);
}

/* A little less as long as it is full, then a little more: if that comes, C is no limit. */
static void
test_a_link_is_a_limit_until_more_comes (void **state)
{
  const Stream stream = { 500e3, 1000, 0.015 };
  FmxAsmpOthers others;
  Link link;

  (void) state;
  start_alone (&link, &others, stream);
  assert_near (fmx_asmp_others_most_bps (&others, 500e3, others.last), 450e3,
      0.02);
  assert_near (fmx_asmp_others_most_bps (&others, 500e3,
          others.last + 11 * FMX_SECOND), 525e3, 0.02);
  assert_true (isinf (fmx_asmp_others_most_bps (&others, 520e3, others.last)));
}

/* Packets of @bytes each 20 ms behind somebody else's queue */
static void
even_packets (FmxAsmpOthers *others, double shake_s, double seconds)
{
  double t_s = 2000.0;
  FmxRng rng;

  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < seconds / 0.02; i++) {
    double late_s = shake_s * fmx_rng_next_unit (&rng);

    t_s += 0.02;
    fmx_asmp_others_on_packet (others, 1000, fmx_time_from_s (1.0 + late_s),
        (FmxTime) fmx_time_from_s (t_s + late_s));
  }
}

/* They tell what was sent.  Whoever took that for the link would go down and down. */
static void
test_packets_as_even_as_they_were_sent_are_no_limit (void **state)
{
  const Stream stream = { 800e3, 1000, 0.009 };
  FmxAsmpOthers others;
  Link link;

  (void) state;
  start_alone (&link, &others, stream);
  even_packets (&others, 0.0, 70.0);
  assert_near (fmx_asmp_others_link_bps (&others), 400e3, 0.01);
  assert_true (isinf (fmx_asmp_others_most_bps (&others, 400e3, others.last)));
  for (double shake_s = 0.0005; shake_s < 0.01; shake_s += 0.0005) {
    fmx_asmp_others_init (&others);
    even_packets (&others, shake_s, 70.0);
    assert_true (fmx_asmp_others_most_bps (&others, 400e3, others.last)
        >= 400e3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_packets_in_a_row_tell_what_the_link_carries),
    cmocka_unit_test (test_a_path_without_a_queue_tells_nothing),
    cmocka_unit_test (test_gaps_of_any_length_tell_nothing),
    cmocka_unit_test (test_beside_one_tcp_half_is_fair),
    cmocka_unit_test (test_beside_more_the_equation_says),
    cmocka_unit_test (test_beside_two_tcps_a_third_is_fair),
    cmocka_unit_test (test_one_to_three_are_few),
    cmocka_unit_test (test_a_link_stays_known_behind_small_packets),
    cmocka_unit_test (test_beside_next_to_nobody_the_equation_says),
    cmocka_unit_test (test_an_idle_link_has_no_tcp),
    cmocka_unit_test (test_what_is_ours_is_no_others),
    cmocka_unit_test (test_another_link_is_known_within_a_minute),
    cmocka_unit_test (test_a_receiver_beside_one_tcp_tells_half),
    cmocka_unit_test (test_alone_no_more_is_told_than_the_link_carries),
    cmocka_unit_test (test_a_link_is_a_limit_until_more_comes),
    cmocka_unit_test (test_packets_as_even_as_they_were_sent_are_no_limit),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
