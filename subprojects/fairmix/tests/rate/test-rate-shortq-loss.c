/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What fairmix does about loss, silence and a path that carries nothing */
#include "fmx-test-rate-shortq.h"

/* Far below any rate of the equation. */
#define HEAVY_LOSS 0.3

/* As a TCP: by no more than a half in a round trip, of what arrives. */
static void
test_falls_by_half_of_what_arrives_once_a_round_trip (void **state)
{
  static const struct
  {
    double sent_share, link_bps, receive_bps, expected_bps;
  } cases[] = {
    {1.0, HUGE_VAL, 0.0, 200e3},
    {1.0, 340e3, 0.0, 170e3},
    {1.0, 0.0, 0.0, 200e3},     /* not known yet */
    {0.6, HUGE_VAL, 0.0, 200e3},        /* what was not sent ... */
    {0.2, HUGE_VAL, 0.0, 200e3},
    {0.75, HUGE_VAL, 0.0, 150e3},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_calm (400e3);

    t.fb.loss_event_rate = HEAVY_LOSS;
    t.sent_share = cases[i].sent_share;
    t.link_bps = cases[i].link_bps;
    t.now = S;
    told_for (&t, STEP, 0);
    assert_bps (&t, cases[i].expected_bps);
    t.link_bps = HUGE_VAL;
    t.sent_share = 1.0;
    told_for (&t, 2 * STEP, 0);
    assert_bps (&t, cases[i].expected_bps);
    told_for (&t, STEP, 0);
    assert_bps (&t, cases[i].expected_bps / 2.0);
  }
}

/* After a cut what was sent before it still arrives. */
static void
test_what_arrives_beyond_the_rate_does_not_count (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.fb.loss_event_rate = HEAVY_LOSS;
  t.fb.sent_bps = t.fb.receive_bps = 600e3;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, S);
  assert_bps (&t, 200e3);
}

static void
test_losses_end_a_start_and_put_off_the_next_step (void **state)
{
  Told t = told_begin (400e3);

  (void) state;
  t.now = S;
  t.fb.loss_event_rate = HEAVY_LOSS;
  told_for (&t, STEP, 0);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_CALM);
  t.fb.loss_event_rate = 0.0;
  told_for (&t, 600 * MS, 0);
  t.fb.loss_event_rate = HEAVY_LOSS;
  told_for (&t, STEP, 0);
  assert_bps (&t, 100e3);
  t.fb.loss_event_rate = 0.0;
  told_for (&t, 650 * MS, 0);
  assert_bps (&t, 100e3);
  told_for (&t, STEP, 0);
  assert_true (t.rc.rate_bps > 100e3);
}

static void
test_losses_count_while_a_queue_drains (void **state)
{
  Told t = told_calm (400e3);
  double before;

  (void) state;
  told_until (&t, FMX_RATE_SHORTQ_DRAINING, 60 * MS);
  before = t.rc.rate_bps;
  t.fb.loss_event_rate = HEAVY_LOSS;
  told_for (&t, STEP, 60 * MS);
  assert_bps (&t, before / 2.0);
}

/* A queue that was full once says nothing of a loss later on. */
static void
test_losses_while_the_queue_is_short_are_random (void **state)
{
  Told t = told_calm (400e3);
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  told_for (&t, 200 * MS, 100 * MS);
  told_for (&t, 5 * S, 0);
  t.fb.new_loss_event = true;
  t.fb.loss_event_rate = 0.2;
  told_for (&t, 5 * S, 0);
  assert_bps (&t, fmx_tcp_equation_bps (&path, 0.2));
}

/* Of some losses of both kinds only a part is of a full queue. */
static void
test_the_share_of_full_queues_is_a_mean (void **state)
{
  Told t = told_calm (400e3);
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);

  (void) state;
  told_for (&t, 100 * MS, 60 * MS);
  t.fb.new_loss_event = true;
  told_for (&t, 100 * MS, 60 * MS);
  told_for (&t, 5 * S, 0);
  t.fb.new_loss_event = true;
  t.fb.loss_event_rate = 0.4;
  told_for (&t, 20 * S, 0);
  assert_bps (&t, fmx_tcp_equation_bps (&path, 0.25 * 0.4));
}

/* One cut for one burst: what comes back within two round trips left before
 * it. */
static void
test_an_overrun_is_cut_once (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.now = S;
  t.link_bps = 200e3;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_bps (&t, 0.85 * 200e3);
  t.link_bps = 100e3;
  t.fb.loss_event_rate = HEAVY_LOSS;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_bps (&t, 0.85 * 200e3);
  t.fb.loss_event_rate = 0.0;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_bps (&t, 0.85 * 200e3);
  told_for (&t, STEP, 0);
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_bps (&t, 0.85 * 100e3);
}

static void
test_what_was_sent_before_a_cut_is_no_overrun (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.fb.new_loss_event = true;
  t.fb.sent_bps = 600e3;
  t.fb.receive_bps = 450e3;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, 300 * MS);
  assert_bps (&t, 400e3);
  t.fb.heard = false;           /* nor is what nobody has reported */
  t.fb.receive_bps = 100e3;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, 300 * MS);
  assert_bps (&t, 400e3);
}

/* [RFC3714 5] */
static void
test_no_burst_stops_the_media (void **state)
{
  Told t = told_calm (24e3);

  (void) state;
  t.now = S;
  t.link_bps = 10e3;
  t.fb.new_loss_event = true;
  told_for (&t, STEP, 0);
  assert_bps (&t, 20e3);
  assert_false (fmx_rate_controller_is_probing (&t.rc));
}

/* A round trip and an interval of feedback are 150 ms. */
static void
test_too_much_loss_halves_what_arrives_each_time_it_is_known (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.now = S;
  t.link_bps = 340e3;
  t.fb.loss_fraction = 0.5;
  told_for (&t, STEP, 0);
  assert_bps (&t, 170e3);
  assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_STARTING);
  told_for (&t, 3 * STEP, 0);
  assert_bps (&t, 170e3);
  told_for (&t, STEP, 0);
  assert_bps (&t, 85e3);
  told_for (&t, S, 0);
  assert_bps (&t, 1.1 * 20e3);
}

/* However it came there, and whatever was lost on the way. */
static void
test_too_much_loss_stops_media_after_five_seconds_at_the_least_rate (void
    **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.now = 10 * (FmxTime) S;
  t.fb.loss_event_rate = 1.0;
  told_for (&t, S, 0);
  assert_bps (&t, 20e3);
  t.fb.loss_fraction = 0.5;
  told_for (&t, 4 * S, 0);
  assert_false (fmx_rate_controller_is_probing (&t.rc));
  told_for (&t, S + STEP, 0);
  assert_true (fmx_rate_controller_is_probing (&t.rc));
}

/* Too much is lost until media stop. */
static void
stop (Told * t)
{
  FmxTime end = t->now + 20 * (FmxTime) S;

  t->fb.loss_fraction = 0.5;
  for (; !fmx_rate_controller_is_probing (&t->rc); told_for (t, STEP, 0))
    assert_true (t->now < end);
  t->fb.loss_fraction = 0.0;
}

/* Returns: how long until media passed again */
static FmxDuration
resume (Told * t)
{
  FmxTime began = t->now - STEP;        /* the last feedback stopped them */

  t->fb.answered = true;
  for (; fmx_rate_controller_is_probing (&t->rc); told_for (t, STEP, 0))
    assert_true (t->now < began + 60 * (FmxTime) S);
  t->fb.answered = false;
  return fmx_time_diff (t->now - STEP, began);
}

/* DPM section 5.4, and each that fails makes the next rarer. */
static void
test_attempts_that_fail_are_made_more_rarely (void **state)
{
  static const FmxDuration expected[] = { 700 * MS, 1400 * MS, 2800 * MS,
    5600 * MS, 11200 * MS, 11200 * MS
  };
  Told t = told_calm (400e3);

  (void) state;
  t.now = S;
  for (size_t i = 0; i < N_ELEMENTS (expected); i++) {
    stop (&t);
    assert_int_equal (resume (&t), expected[i]);
  }
  /* one that lasts is no failure */
  told_for (&t, FMX_RATE_DPM_LASTING, 0);
  stop (&t);
  assert_int_equal (resume (&t), 700 * MS);
}

/* Media pass again when the other end hears, and answers. */
static void
test_resumes_when_heard_and_answered (void **state)
{
  Told t = told_calm (400e3);

  (void) state;
  t.now = S;
  stop (&t);
  told_for (&t, 2 * S, 0);
  t.fb.answered = true;
  t.fb.heard = false;
  told_for (&t, 2 * S, 0);
  assert_true (fmx_rate_controller_is_probing (&t.rc));
  t.fb.heard = true;
  told_for (&t, STEP, 0);
  assert_false (fmx_rate_controller_is_probing (&t.rc));
}

static void
test_resumes_with_one_stream (void **state)
{
  FmxTcpPath path = fmx_tcp_path (1460.0, 100 * MS);
  const struct
  {
    double stream_bps, loss_event_rate, expected_bps;
  } cases[] = {
    {80e3, 0.0, 80e3},
    {200e3, 0.0, 100e3},
    {8e3, 0.0, 20e3},           /* the least rate */
    {80e3, 0.2, fmx_tcp_equation_bps (&path, 0.2)},
    {80e3, 1.0, 20e3},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (cases); i++) {
    Told t = told_calm (400e3);

    t.now = S;
    stop (&t);
    t.fb.stream_bps = cases[i].stream_bps;
    t.fb.loss_event_rate = cases[i].loss_event_rate;
    resume (&t);
    assert_bps (&t, cases[i].expected_bps);
    assert_int_equal (told_mode (&t), FMX_RATE_SHORTQ_STARTING);
  }
}

/* Something was sent, and nobody answers. */
static void
pass_in_silence (Told * t)
{
  fmx_rate_controller_on_sent (&t->rc, 200, t->now);
  fmx_rate_shortq.on_no_feedback (&t->rc, t->now);
}

static void
test_silence_while_probing_is_no_failure (void **state)
{
  Told t = told_calm (400e3);
  FmxTime began;

  (void) state;
  t.now = S;
  stop (&t);
  began = t.now - STEP;
  pass_in_silence (&t);
  resume (&t);
  assert_int_equal (fmx_time_diff (t.now - STEP, began), 700 * MS);
}

/* [RFC5348 4.4] */
static void
test_after_silence_the_rate_stays_for_two_and_a_half_round_trips (void **state)
{
  Told t = told_begin (400e3);

  (void) state;
  told_for (&t, STEP, 0);
  t.now = S;
  pass_in_silence (&t);
  assert_bps (&t, 200e3);
  told_for (&t, 250 * MS, 0);
  assert_bps (&t, 200e3);
  told_for (&t, STEP, 0);
  assert_bps (&t, 250e3);
}

/* Nothing is heard any more, and a packet that timed out has just halved the rate when
 * the timer expires: of what left since nothing could be heard yet.  It expires one
 * retransmission timeout after the cut, and no later. */
static void
test_silence_since_before_a_cut_is_no_second_cut (void **state)
{
  Told t = told_calm (400e3);
  FmxTime expires;

  (void) state;
  told_for (&t, 600 * MS, 0);
  fmx_rate_controller_on_sent (&t.rc, 200, t.now);
  expires = fmx_rate_controller_next_timeout (&t.rc);
  t.now = expires - 15 * MS;
  t.fb.heard = false;
  t.fb.loss_event_rate = 1.0;
  t.fb.loss_event_sent = t.now;
  fmx_rate_controller_on_feedback (&t.rc, &t.fb, t.now);
  assert_bps (&t, 200e3);
  fmx_rate_controller_on_timeout (&t.rc, expires);
  assert_bps (&t, 200e3);
  expires = t.now + (FmxTime) t.fb.rto;
  assert_int_equal (fmx_rate_controller_next_timeout (&t.rc), expires);
  fmx_rate_controller_on_timeout (&t.rc, expires);
  assert_bps (&t, 100e3);
}

/* A TCP behind active queue management: some packets are dropped, and the equation
 * allows eight times as much. */
static void
test_delay_does_not_keep_it_far_below_the_equation (void **state)
{
  Told t = told_calm (100e3);

  (void) state;
  told_for (&t, STEP, 0);       /* the path without a queue */
  t.fb.loss_event_rate = 0.02;
  t.fb.equation_bps = 800e3;
  for (unsigned i = 0; i < 40; i++) {
    t.fb.new_loss_event = true;
    t.fb.loss_event_sent = t.now - 100 * MS;
    told_for (&t, 500 * MS, i < 6 ? 30 * MS : 18 * MS);
  }
  assert_true (t.rc.rate_bps > 0.5 * 800e3);
  assert_true (t.rc.rate_bps < 800e3);
}

/* The same, until the queue is too long: somebody keeps it there.  Where the path is
 * known to carry no more than arrives, it is our own. */
static void
test_a_queue_that_stands_below_the_equation_is_of_others (void **state)
{
  (void) state;
  for (unsigned known = 0; known < 2; known++) {
    Told t = told_calm (100e3);

    told_for (&t, STEP, 0);
    t.fb.loss_event_rate = 0.02;
    t.fb.equation_bps = 800e3;
    for (unsigned i = 0; i < 10; i++) {
      t.fb.new_loss_event = true;
      told_for (&t, 500 * MS, 30 * MS);
    }
    assert_int_not_equal (told_mode (&t), FMX_RATE_SHORTQ_COMPETING);
    t.fb.bottleneck_bps = known * 1.1 * t.rc.rate_bps;
    told_for (&t, 8 * STEP, 60 * MS);
    assert_true ((told_mode (&t) == FMX_RATE_SHORTQ_COMPETING) == !known);
  }
}

/* Losses of who has most of what the path carries are its own, and no floor. */
static void
test_who_has_most_of_the_path_has_no_floor (void **state)
{
  (void) state;
  for (double part = 0.6; part < 0.85; part += 0.2) {
    Told t = told_calm (100e3);

    told_for (&t, STEP, 0);
    told_for (&t, 3 * S, 30 * MS);
    t.fb.equation_bps = 8.0 * t.rc.rate_bps;
    t.fb.bottleneck_bps = t.rc.rate_bps / part;
    t.fb.new_loss_event = true;
    told_for (&t, STEP, 30 * MS);
    assert_true (!t.rc.state.shortq.n_poor == (part > 0.7));
  }
}

/* But what is sent more does not arrive: nobody is there. */
static void
test_where_no_more_arrives_the_equation_is_no_floor (void **state)
{
  Told t = told_calm (100e3);

  (void) state;
  told_for (&t, STEP, 0);
  t.fb.loss_event_rate = 0.02;
  t.fb.equation_bps = 800e3;
  t.link_bps = 110e3;
  for (unsigned i = 0; i < 40; i++) {
    t.fb.new_loss_event = true;
    t.fb.loss_event_sent = t.now - 100 * MS;
    told_for (&t, 500 * MS, 30 * MS);
    assert_true (t.rc.rate_bps < 2.0 * 110e3);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_falls_by_half_of_what_arrives_once_a_round_trip),
    cmocka_unit_test (test_what_arrives_beyond_the_rate_does_not_count),
    cmocka_unit_test (test_losses_end_a_start_and_put_off_the_next_step),
    cmocka_unit_test (test_losses_count_while_a_queue_drains),
    cmocka_unit_test (test_losses_while_the_queue_is_short_are_random),
    cmocka_unit_test (test_the_share_of_full_queues_is_a_mean),
    cmocka_unit_test (test_an_overrun_is_cut_once),
    cmocka_unit_test (test_what_was_sent_before_a_cut_is_no_overrun),
    cmocka_unit_test (test_no_burst_stops_the_media),
    cmocka_unit_test
        (test_too_much_loss_halves_what_arrives_each_time_it_is_known),
    cmocka_unit_test
        (test_too_much_loss_stops_media_after_five_seconds_at_the_least_rate),
    cmocka_unit_test (test_attempts_that_fail_are_made_more_rarely),
    cmocka_unit_test (test_resumes_when_heard_and_answered),
    cmocka_unit_test (test_resumes_with_one_stream),
    cmocka_unit_test (test_silence_while_probing_is_no_failure),
    cmocka_unit_test
        (test_after_silence_the_rate_stays_for_two_and_a_half_round_trips),
    cmocka_unit_test (test_silence_since_before_a_cut_is_no_second_cut),
    cmocka_unit_test (test_delay_does_not_keep_it_far_below_the_equation),
    cmocka_unit_test (test_a_queue_that_stands_below_the_equation_is_of_others),
    cmocka_unit_test (test_who_has_most_of_the_path_has_no_floor),
    cmocka_unit_test (test_where_no_more_arrives_the_equation_is_no_floor),
  };

  return cmocka_run_group_tests_name ("rate/rate-shortq-loss", tests, NULL,
      NULL);
}
