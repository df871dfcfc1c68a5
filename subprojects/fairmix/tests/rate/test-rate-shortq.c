/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The controller, told what the queue is */
#include "fmx-test-rate-shortq.h"

static void
test_grows_until_the_queue_shows_then_lets_it_drain (void **state)
{
  Told t = told_begin (80000.0);
  double before;

  (void) state;
  t.now = S;
  told_for (&t, 3 * S, 0);
  before = t.rc.rate_bps;
  assert_true (before > 400e3);
  told_for (&t, 200 * MS, 60 * MS);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_DRAINING);
  assert_string_equal (fmx_rate_controller_reason (&t.rc), "down-delay");
  assert_true (t.rc.rate_bps <= 0.86 * before);
  told_for (&t, 300 * MS, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
}

/* [RFC8836 2] "within a second"; here within a round trip */
static void
test_gives_way_at_once_when_somebody_else_comes (void **state)
{
  Told t = told_calm (400000.0);
  double before;

  (void) state;
  told_held (&t);
  before = t.rc.rate_bps;
  assert_bps (&t, 400e3);
  told_for (&t, 3 * STEP + 1, 60 * MS);
  assert_bps (&t, 0.8 * before);
}

static void
test_a_ceiling_is_tried_again_after_ever_longer_times_up_to_ten_seconds (void
    **state)
{
  Told t = told_begin (400000.0);
  FmxTime last = 0;
  FmxDuration first_gap = 0, gap = 0;

  (void) state;
  t.link_bps = 500e3;
  for (unsigned n = 0; n < 8;) {
    assert_true (t.now < 100 * (FmxTime) S);
    told_for (&t, STEP, t.rc.rate_bps > 500e3 ? 40 * MS : 0);
    if (told_mode (&t) != FMX_RATE_SHORTQ_DRAINING)
      continue;
    told_drain (&t, 40 * MS);
    told_for (&t, 2 * S, 0);
    if (n > 0)
      gap = fmx_time_diff (t.now, last);
    if (n == 1)
      first_gap = gap;
    last = t.now;
    n++;
  }
  assert_true (gap > 2 * first_gap);
  assert_true (gap < 10 * S);
  assert_true (t.rc.rate_bps > 0.9 * 500e3);
}

static void
test_competes_where_the_queue_does_not_drain (void **state)
{
  Told t = told_competing (400000.0);

  (void) state;
  assert_true (t.rc.rate_bps < 0.75 * 400e3);
  assert_true (t.rc.rate_bps > 0.4 * 400e3);
}

/* Who gets little of a wide path with large packets takes no queue of TCPs for three packets
 * of its own. */
static void
test_no_queue_is_short_because_packets_are_rare (void **state)
{
  Told t = told_begin (120000.0);

  (void) state;
  t.fb.packet_bytes = 1000.0;
  told_for (&t, MS, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 110 * MS);
  assert_true (t.now < 10 * (FmxTime) S);
}

/* A TCP's queue may pass for the path, but for its saw-tooth, and what is lost at its top. */
static void
test_does_not_wait_for_ever_while_a_little_stands (void **state)
{
  Told t = told_begin (400000.0);

  (void) state;
  told_lose (&t);
  told_for (&t, MS, 0);
  told_until (&t, FMX_RATE_SHORTQ_COMPETING, 20 * MS);
  assert_true (t.now < 10 * (FmxTime) S);
}

/* Whatever the cuts left, and TCP's start. */
static void
test_who_was_alone_begins_at_half_of_that (void **state)
{
  (void) state;
  for (unsigned alone = 0; alone < 2; alone++) {
    Told t = told_calm (400000.0);
    double x;

    told_limit (&t, 400e3);
    told_for (&t, (alone ? 15 : 5) * S, 0);
    t.link_bps = 90e3;
    told_until (&t, FMX_RATE_SHORTQ_COMPETING, 200 * MS);
    assert_true (t.now < 30 * (FmxTime) S);
    assert_true (t.rc.rate_bps < 60e3);
    x = fmx_full_queue_bps (&t.rc.state.shortq.full, 400e3, 0.0, t.now);
    assert_true (fabs (x - (alone ? 200e3 : t.rc.rate_bps)) < 0.1 * x);
  }
}

/* A ceiling that stood is what we had alone; one of a moment is not. */
static void
test_takes_half_of_what_it_had_alone (void **state)
{
  (void) state;
  for (unsigned stood = 0; stood < 2; stood++) {
    Told t = told_ceiling (420e3, stood ? 4 : 1);

    told_for (&t, 60 * S, 200 * MS);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
    if (stood)
      assert_true (t.rc.rate_bps < 0.61 * 420e3);       /* a tenth more is as good */
    else
      assert_true (t.rc.rate_bps > 420e3);
  }
}

static void
test_stops_competing_when_the_queue_stays_short (void **state)
{
  Told t = told_competing (400000.0);

  (void) state;
  told_for (&t, 2 * S, 0);      /* the foot of a saw-tooth */
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
  told_for (&t, 3 * S, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
}

/* A saw-tooth of 2 s between 200 and 300 ms: R = 0.35 s. */
static void
test_takes_what_a_tcp_takes_of_a_saw_tooth (void **state)
{
  Told t = told_competing (400000.0);
  double x = 1.15 * 1.5 * (2.0 - 0.35) / 0.35 * 12000.0 / 0.35;

  (void) state;
  for (unsigned i = 0; i < 40 * 30; i++)
    told_for (&t, STEP, 200 * MS + 100 * MS * (i % 40) / 40);
  assert_true (fabs (t.rc.rate_bps - x) < 0.15 * x);
}

/* Where queues count bytes our small packets are lost at other times. */
static void
test_losses_of_a_full_queue_count_once_in_an_epoch (void **state)
{
  Told a = told_competing (400000.0), b = told_competing (400000.0);

  (void) state;
  b.fb.loss_event_rate = 0.1;
  for (unsigned i = 0; i < 40 * 30; i++) {
    FmxDuration queue = 200 * MS + 100 * MS * (i % 40) / 40;

    b.fb.new_loss_event = i % 40 == 39;
    told_for (&a, STEP, queue);
    told_for (&b, STEP, queue);
  }
  assert_true (fabs (a.rc.rate_bps - b.rc.rate_bps) < 0.15 * a.rc.rate_bps);
}

/* TCP hears of it a round trip after us, and then the queue has to fall. */
static void
test_a_crest_that_loses_and_then_dips_ends_one_epoch (void **state)
{
  Told a = told_competing (400000.0), b = told_competing (400000.0);

  (void) state;
  for (unsigned i = 0; i < 40 * 30; i++) {
    unsigned k = i % 40;
    FmxDuration queue = 200 * MS + (k < 20 ? 5 * k : 100) * MS;

    b.fb.new_loss_event = k == 28;
    told_for (&a, STEP, queue);
    told_for (&b, STEP, queue);
  }
  assert_true (fabs (a.rc.rate_bps - b.rc.rate_bps) < 0.15 * a.rc.rate_bps);
}

static void
test_random_losses_count_as_in_the_equation (void **state)
{
  Told t = told_begin (80000.0);
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);
  double x = fmx_tcp_equation_bps (&path, 0.03);

  (void) state;
  t.fb.loss_event_rate = 0.03;
  t.fb.new_loss_event = true;
  told_for (&t, 20 * S, 0);
  assert_true (fabs (t.rc.rate_bps - x) < 0.01 * x);
  /* and at once when there are more, but not below half in a round trip */
  t.fb.loss_event_rate = 0.3;
  told_for (&t, STEP, 0);
  assert_true (fabs (t.rc.rate_bps - 0.5 * x) < 0.01 * x);
}

/* [RFC5348 4.3] */
static void
test_sends_no_more_than_arrives (void **state)
{
  Told t = told_begin (400000.0);

  (void) state;
  t.now = S;
  told_for (&t, S, 0);
  t.fb.receive_bps = 0.5 * t.fb.sent_bps;
  t.fb.new_loss_event = true;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
  assert_true (fabs (t.rc.rate_bps - 0.85 * t.fb.receive_bps) < 1.0);
  assert_string_equal (fmx_rate_controller_reason (&t.rc), "down-limit");
}

/* A queue that counts packets, or RED, takes some of ours with each burst. */
static void
test_competes_on_where_bursts_are_lost (void **state)
{
  Told t = told_competing (400000.0);
  double before = t.rc.rate_bps;

  (void) state;
  t.fb.receive_bps = 0.5 * before;
  t.fb.new_loss_event = true;
  t.fb.loss_fraction = 0.09;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
  assert_true (t.rc.rate_bps > 0.85 * t.fb.receive_bps + 1.0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
  /* where that lasts: no more than arrives, and all from the beginning */
  t.now += S;
  t.fb.receive_bps = 0.5 * t.rc.rate_bps;
  t.fb.sent_bps = t.rc.rate_bps;
  t.fb.new_loss_event = true;
  t.fb.loss_fraction = 0.11;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
  assert_true (fabs (t.rc.rate_bps - 0.85 * t.fb.receive_bps) < 1.0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
}

/* [RFC5348 4.3] max (4R, 2s/X), R = 100 ms; s/X = 4 ms */
static void
test_without_feedback_the_rate_is_halved_down_to_probing (void **state)
{
  Told t = told_begin (400000.0);
  FmxTime next;
  double bps;

  (void) state;
  told_for (&t, S + STEP, 0);   /* the receiver is known */
  bps = t.rc.rate_bps;
  for (unsigned i = 0; !fmx_rate_controller_is_probing (&t.rc); i++) {
    next = fmx_rate_controller_next_timeout (&t.rc);
    assert_true (fmx_time_diff (next, t.now) <= 400 * MS + STEP);
    fmx_test_send (&t.rc, t.now, next);
    t.now = next;
    fmx_rate_controller_on_timeout (&t.rc, t.now);
    bps /= 2.0;
    if (!fmx_rate_controller_is_probing (&t.rc))
      assert_true (t.rc.rate_bps == bps);
    assert_true (i < 8);
  }
  assert_true (bps < 20000.0);
}

/* [RFC3714 5] */
static void
test_too_much_loss_halves_and_stops_media_at_the_least_rate_only (void **state)
{
  Told t = told_begin (400000.0);

  (void) state;
  t.now = S;
  t.fb.loss_fraction = 0.5;
  told_for (&t, STEP, 0);
  assert_true (t.rc.rate_bps == 200000.0);
  told_for (&t, 3 * S, 0);
  assert_false (fmx_rate_controller_is_probing (&t.rc));
  assert_true (t.rc.rate_bps < 23000.0);
  told_for (&t, 6 * S, 0);
  assert_true (fmx_rate_controller_is_probing (&t.rc));
  t.fb.loss_fraction = 0.0;
  t.fb.answered = true;
  told_for (&t, S, 0);
  assert_false (fmx_rate_controller_is_probing (&t.rc));
}

/* In the last second it sent less than it may now, but that is not for want of something to
 * send: what arrived of it is what arrives. */
static void
test_who_is_held_back_by_the_rate_has_what_arrives (void **state)
{
  (void) state;
  for (unsigned held_back = 0; held_back <= 1; held_back++) {
    Told t = told_calm (400e3);

    t.now = S;
    t.fb.loss_event_rate = 1.0;
    t.sent_share = 0.5;
    for (unsigned i = 0; held_back && i < 100; i++)
      fmx_rate_controller_on_sent (&t.rc, 200, t.now - (FmxTime) t.fb.rtt);
    told_for (&t, STEP, 0);
    assert_bps (&t, held_back ? 100e3 : 200e3);
  }
}

/* Padding has ended: 80 kbit/s come where 400 left in the last second.  One packet of those
 * before is lost. */
static void
test_what_left_slowly_comes_slowly (void **state)
{
  static const struct
  {
    double left_bps, expected_bps;
  } cases[] = {
    {0.0, 0.85 * 80e3},         /* not known */
    {400e3, 0.85 * 80e3},
    {90e3, 400e3},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_calm (400e3);

    t.now = S;
    t.link_bps = 80e3;
    t.fb.left_bps = cases[i].left_bps;
    told_lose (&t);
    told_for (&t, STEP, 0);
    assert_bps (&t, cases[i].expected_bps);
  }
}

/* ... nor does what was not sent halve the rate: of heavy losses half is left of what may be
 * sent, where no more left. */
static void
test_who_left_slowly_has_what_he_may_send (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.now = S;
  t.fb.loss_event_rate = 1.0;
  t.link_bps = 80e3;
  t.fb.left_bps = 80e3;
  told_for (&t, STEP, 0);
  assert_bps (&t, 200e3);
}

/* What was allowed and not used fills no queue, and less of it drains none. */
static void
test_a_queue_is_cut_of_what_is_sent (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.sent_share = 0.3;
  told_held (&t);
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  assert_bps (&t, 0.8 * 0.3 * 400e3);
}

/* After marks a TCP waits for no timeout. */
static void
test_marks_leave_more_than_losses (void **state)
{
  (void) state;
  for (unsigned only_marks = 0; only_marks <= 1; only_marks++) {
    Told t = told_calm (300e3);

    t.now = S;
    t.fb.loss_event_rate = 0.1;
    t.fb.only_marks = only_marks;
    told_for (&t, 2 * S, 0);
    if (only_marks)
      assert_true (fmx_rate_controller_bps (&t.rc) >= 300e3);
    else
      assert_true (fmx_rate_controller_bps (&t.rc) < 250e3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_grows_until_the_queue_shows_then_lets_it_drain),
    cmocka_unit_test (test_gives_way_at_once_when_somebody_else_comes),
    cmocka_unit_test
        (test_a_ceiling_is_tried_again_after_ever_longer_times_up_to_ten_seconds),
    cmocka_unit_test (test_competes_where_the_queue_does_not_drain),
    cmocka_unit_test (test_no_queue_is_short_because_packets_are_rare),
    cmocka_unit_test (test_does_not_wait_for_ever_while_a_little_stands),
    cmocka_unit_test (test_who_was_alone_begins_at_half_of_that),
    cmocka_unit_test (test_takes_half_of_what_it_had_alone),
    cmocka_unit_test (test_stops_competing_when_the_queue_stays_short),
    cmocka_unit_test (test_takes_what_a_tcp_takes_of_a_saw_tooth),
    cmocka_unit_test (test_losses_of_a_full_queue_count_once_in_an_epoch),
    cmocka_unit_test (test_a_crest_that_loses_and_then_dips_ends_one_epoch),
    cmocka_unit_test (test_random_losses_count_as_in_the_equation),
    cmocka_unit_test (test_sends_no_more_than_arrives),
    cmocka_unit_test (test_competes_on_where_bursts_are_lost),
    cmocka_unit_test (test_without_feedback_the_rate_is_halved_down_to_probing),
    cmocka_unit_test
        (test_too_much_loss_halves_and_stops_media_at_the_least_rate_only),
    cmocka_unit_test (test_who_is_held_back_by_the_rate_has_what_arrives),
    cmocka_unit_test (test_what_left_slowly_comes_slowly),
    cmocka_unit_test (test_who_left_slowly_has_what_he_may_send),
    cmocka_unit_test (test_a_queue_is_cut_of_what_is_sent),
    cmocka_unit_test (test_marks_leave_more_than_losses),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq", tests, NULL, NULL);
}
