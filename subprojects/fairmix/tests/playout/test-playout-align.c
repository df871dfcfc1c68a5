/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

/* A stream that is to be played with others, who are later */

#define MINIMUM (40 * MS)
#define PLACE (95 * MS)

typedef struct
{
  FmxPlayout playout;
  FmxPathDelay path;
  uint64_t n;
} Stream;

static void
stream_init (Stream *s)
{
  FmxDelayMemoryParams memory;
  FmxPlayoutParams params;

  fmx_playout_params_default (&params);
  params.min_delay = MINIMUM;
  fmx_playout_init (&s->playout, &params);
  fmx_delay_memory_params_default (&memory);
  fmx_path_delay_init (&s->path, &memory);
  fmx_playout_share (&s->playout, &s->path);
  s->n = 0;
}

static FmxPlayoutDecision
send (Stream *s, bool talkspurt, bool pause, FmxDuration transit)
{
  FmxTime sent = START + s->n * (uint64_t) PACKET;
  FmxPlayoutPacket packet = {
    .ext_seq = 65536 + s->n++,
    .media = sent,
    .duration = PACKET,
    .talkspurt = talkspurt,
    .pause = pause,
  };

  return fmx_playout_on_packet (&s->playout, &packet, sent + (FmxTime) transit);
}

static FmxPlayoutDecision
send_many (Stream *s, unsigned n, FmxDuration transit)
{
  FmxPlayoutDecision d = { 0 };

  while (n-- > 0)
    d = send (s, false, false, transit);
  return d;
}

/* Of jitter up to 5 ms */
static void
talk (Stream *s, unsigned n)
{
  for (unsigned k = 0; k < n; k++)
    send (s, false, false, (FmxDuration) (k * 3 % 6) * MS);
}

static void
test_it_moves_where_nobody_hears_it_and_exactly (void **state)
{
  const FmxDuration place = PLACE + 123;
  Stream s;

  (void) state;
  stream_init (&s);
  talk (&s, 100);
  fmx_playout_align (&s.playout, place);
  assert_int_equal (send_many (&s, 100, 0).delay, MINIMUM);
  assert_int_equal (send (&s, true, false, 0).delay, place);
  assert_int_equal (send_many (&s, 100, 0).delay, place);
}

static void
test_a_pause_is_enough_but_not_for_less_than_a_millisecond (void **state)
{
  Stream s;

  (void) state;
  stream_init (&s);
  send (&s, false, false, 0);
  send_many (&s, 200, 30 * MS);
  assert_true (s.playout.rests);
  fmx_playout_align (&s.playout, PLACE);
  assert_int_equal (send (&s, false, true, 30 * MS).delay, PLACE);
  fmx_playout_align (&s.playout, PLACE + MS / 2);
  assert_int_equal (send (&s, false, true, 0).delay, PLACE);
  assert_int_equal (send (&s, true, false, 0).delay, PLACE + MS / 2);
}

static void
test_no_rule_cuts_what_it_waits_for_others (void **state)
{
  Stream s;

  (void) state;
  stream_init (&s);
  fmx_playout_align (&s.playout, PLACE);
  send (&s, true, false, 0);
  talk (&s, 3000);
  assert_int_equal (send_many (&s, 1, 0).delay, PLACE);
  /* nor does silence */
  assert_int_equal (send (&s, true, false, 0).delay, PLACE);
  assert_int_equal (playout_stats (&s.playout).n_dropped, 0);
}

static void
test_it_has_its_own_delay_again_when_nobody_tells (void **state)
{
  Stream s;

  (void) state;
  stream_init (&s);
  send_many (&s, 100, 0);
  fmx_playout_align (&s.playout, PLACE);
  send (&s, true, false, 0);
  send_many (&s, 200, 0);
  fmx_playout_align_no_more (&s.playout);
  assert_int_equal (send_many (&s, 1, 0).delay, PLACE);
  s.n += 10;                    /* silence */
  assert_int_equal (send (&s, true, false, 0).delay, MINIMUM);
  assert_int_equal (send_many (&s, 100, 0).delay, MINIMUM);
}

/* A lie costs no more. */
static void
test_what_nobody_needs_does_not_count (void **state)
{
  static const FmxDuration lies[] = {
    0, MINIMUM - 1, MINIMUM + FMX_PLAYOUT_ALIGN_MOST + 1, FMX_SECOND,
    -10 * FMX_SECOND, INT64_MAX, INT64_MIN
  };
  Stream s;

  (void) state;
  stream_init (&s);
  send_many (&s, 100, 0);
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    fmx_playout_align (&s.playout, lies[i]);
    assert_int_equal (send (&s, true, false, 0).delay, MINIMUM);
    assert_int_equal (send_many (&s, 50, 0).delay, MINIMUM);
  }
}

/* It is late where its packets are. */
static void
test_a_place_that_is_too_early_is_left (void **state)
{
  Stream s;

  (void) state;
  stream_init (&s);
  send_many (&s, 100, 0);
  fmx_playout_align (&s.playout, PLACE);
  send (&s, true, false, PLACE + 30 * MS);
  assert_false (s.playout.waits);
}

/* A shorter delay begins where what was said before has been played. */
static void
test_it_is_not_played_into_what_came_before (void **state)
{
  FmxPlayoutDecision before, d;
  Stream s;

  (void) state;
  stream_init (&s);
  fmx_playout_align (&s.playout, 2 * PLACE);
  send (&s, true, false, 0);
  before = send_many (&s, 50, 0);
  fmx_playout_align (&s.playout, PLACE);
  s.n += 2;                     /* a pause of 40 ms */
  d = send (&s, true, false, 0);
  assert_int_equal (d.playout, before.playout + (FmxTime) PACKET);
  assert_int_equal (d.delay, 2 * PLACE - 40 * MS);
  s.n += 10;
  assert_int_equal (send (&s, true, false, 0).delay, PLACE);
}

/* Or all would wait for each other, longer and longer. */
static void
test_who_waits_for_others_does_not_make_others_wait (void **state)
{
  FmxDuration delay;
  Stream s;

  (void) state;
  stream_init (&s);
  send_many (&s, 100, 0);
  fmx_playout_align (&s.playout, PLACE);
  send (&s, true, false, 0);
  talk (&s, 500);
  assert_true (fmx_path_delay_of_others (&s.path, NULL, &delay));
  assert_int_equal (delay, MINIMUM);
}

static void
test_who_begins_anew_does_so_in_its_place (void **state)
{
  Stream s;

  (void) state;
  stream_init (&s);
  send_many (&s, 100, 0);
  fmx_playout_align (&s.playout, PLACE);
  s.n += 100 * 60;
  send (&s, false, false, 10 * FMX_SECOND);     /* another time line */
  assert_int_equal (playout_stats (&s.playout).n_restarts, 1);
  s.n += 1000;
  assert_int_equal (send (&s, false, false, 0).delay, PLACE);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_it_moves_where_nobody_hears_it_and_exactly),
    cmocka_unit_test
        (test_a_pause_is_enough_but_not_for_less_than_a_millisecond),
    cmocka_unit_test (test_no_rule_cuts_what_it_waits_for_others),
    cmocka_unit_test (test_it_has_its_own_delay_again_when_nobody_tells),
    cmocka_unit_test (test_what_nobody_needs_does_not_count),
    cmocka_unit_test (test_a_place_that_is_too_early_is_left),
    cmocka_unit_test (test_it_is_not_played_into_what_came_before),
    cmocka_unit_test (test_who_waits_for_others_does_not_make_others_wait),
    cmocka_unit_test (test_who_begins_anew_does_so_in_its_place),
  };

  return cmocka_run_group_tests_name ("playout/playout-align", tests, NULL,
      NULL);
}
