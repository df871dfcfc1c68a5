/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How speech is made shorter: each cut is heard, however short it is. */

#include <string.h>

#include "fmx-test-playout.h"

/* Of cuts, of packets in a row */
typedef struct
{
  unsigned n, shortest, n_packets;
  unsigned n_trims;             /* of less than a packet */
} Cuts;

typedef struct
{
  Fixture f;
  Cuts cuts;
  unsigned row;                 /* packets, of the cut under way */
  uint64_t n;
} Listener;

static void
begin (Listener *listener, bool keeps_needed)
{
  FmxPlayoutParams params;

  memset (listener, 0, sizeof *listener);
  fixture_init (&listener->f);
  fmx_playout_params_default (&params);
  params.keeps_needed = keeps_needed;
  fmx_playout_init (&listener->f.playout, &params);
  listener->cuts.shortest = UINT32_MAX;
}

static void
hear (Listener *listener, FmxDuration transit)
{
  FmxPlayoutDecision d = arrive (&listener->f, listener->n++, transit);
  Cuts *cuts = &listener->cuts;

  if (d.action == FMX_PLAYOUT_DROP_MONITOR) {
    listener->row++;
    return;
  }
  cuts->n_trims += d.adjusted < 0;
  if (listener->row == 0)
    return;
  cuts->n++;
  cuts->n_packets += listener->row;
  if (listener->row < cuts->shortest)
    cuts->shortest = listener->row;
  listener->row = 0;
}

/* A queue of @most comes, stands for @stands packets, and comes in at twice the pace; then
 * nothing happens for two minutes. */
static Cuts
after_a_queue (bool keeps_needed, FmxDuration most, unsigned stands)
{
  Listener listener;
  FmxDuration transit = 0;

  begin (&listener, keeps_needed);
  for (unsigned i = 0; i < 500; i++)
    hear (&listener, (FmxDuration) (i % 3) * MS);
  for (; transit < most; transit += 15 * MS)
    hear (&listener, transit);
  for (unsigned i = 0; i < stands; i++)
    hear (&listener, most + (FmxDuration) (i % 3) * MS);
  for (; transit > 0; transit -= 10 * MS)
    hear (&listener, transit);
  for (unsigned i = 0; i < 6000; i++)
    hear (&listener, (FmxDuration) (i % 3) * MS);
  return listener.cuts;
}

/* A shorter delay is worth a little, and less than what a cut costs. */
static void
test_nothing_is_cut_for_less_than_two_packets (void **state)
{
  Cuts cuts = after_a_queue (true, 200 * MS, 5);
  Cuts trimmed = after_a_queue (false, 200 * MS, 5);

  (void) state;
  assert_true (cuts.n > 0);
  assert_true (cuts.shortest >= 2);
  assert_int_equal (cuts.n_trims, 0);
  assert_true (trimmed.n_trims >= 3);
  assert_true (trimmed.n + trimmed.n_trims > 2 * cuts.n);
}

/* Returns: in how many pieces a rule that follows cuts @most that come in at twice the
 * pace; @spares: but for one packet in four all are spared; @n_packets: (out): how many in
 * all */
static unsigned
pieces_of (bool cuts_at_once, bool spares, FmxDuration most,
    unsigned *n_packets)
{
  static const FmxQueueMonitorParams monitor = { 1600 * MS, 2, 2.0,
    FMX_QUEUE_MONITOR_SHIFT
  };
  const FmxPlayoutRuleParams params = {
    .reserve = 20 * MS,
    .growth_step = 2 * MS,
    .cuts_at_once = cuts_at_once,
    .half_life = 15 * FMX_SECOND,
  };
  FmxPlayoutRule rule;
  bool was_cut = false;
  unsigned n_pieces = 0;

  *n_packets = 0;
  fmx_playout_rule_init (&rule, &params, &monitor, false);
  fmx_playout_rule_start (&rule, most + 10 * MS);
  for (unsigned n = 0; n < 400; n++) {
    FmxPlayoutRulePacket packet = {
      .media = n * PACKET,
      .duration = PACKET,
      .transit = n < 100 ? most : most > (n - 100) * 10 * MS
          ? most - (n - 100) * 10 * MS : 0,
      .highest = FMX_SECOND,
      .cut_cost = 1.0,
      .spared = spares && n % 4 != 0,
    };
    bool cut = fmx_playout_rule_on_packet (&rule, NULL, &packet, START
        + (FmxTime) (packet.media + packet.transit)) == FMX_PLAYOUT_RULE_CUT;

    n_pieces += cut && !was_cut;
    *n_packets += cut;
    was_cut = cut;
  }
  return n_pieces;
}

static void
test_a_queue_that_has_gone_is_cut_in_one_piece (void **state)
{
  unsigned n_packets, n_before;

  (void) state;
  assert_int_equal (pieces_of (true, false, 300 * MS, &n_packets), 1);
  assert_true (pieces_of (false, false, 300 * MS, &n_before) > 4);
  assert_true (n_packets >= n_before);
}

/* Who catches up with a burst at the start begins no cut with most packets, but goes on
 * with a short one: two cuts are heard twice. */
static void
test_a_short_cut_goes_on_with_packets_that_are_spared (void **state)
{
  unsigned n_packets, n_spared;

  (void) state;
  assert_int_equal (pieces_of (true, false, 80 * MS, &n_packets), 1);
  assert_int_equal (pieces_of (true, true, 80 * MS, &n_spared), 1);
  assert_int_equal (n_spared, n_packets);
  /* what is longer is heard, faster */
  assert_true (pieces_of (true, true, 300 * MS, &n_spared) > 2);
}

/* Returns: how much longer than @least and the fastest packets of late a stream is delayed
 * whose first packet waited for @waited, and those behind it as well until then */
static FmxDuration
excess_of (FmxDuration least, FmxDuration waited, Cuts *cuts)
{
  Listener listener;

  begin (&listener, true);
  fmx_playout_set_min_delay (&listener.f.playout, least);
  for (unsigned i = 0; i < 300; i++)
    hear (&listener, waited > (FmxDuration) i * PACKET
        ? -(FmxDuration) i * PACKET : -waited);
  *cuts = listener.cuts;
  return fmx_playout_get_delay (&listener.f.playout) - least;
}

/* An RTP session keeps the first packet until the second one comes, or a queue did.  Until it
 * is due nobody hears that the others are played sooner; then it is to be worth a cut. */
static void
test_what_the_first_packet_waited_is_no_delay_of_the_others (void **state)
{
  Cuts cuts;

  (void) state;
  assert_int_equal (excess_of (100 * MS, 50 * MS, &cuts), 0);
  assert_int_equal (cuts.n + cuts.n_trims, 2);
  assert_int_equal (excess_of (0, 50 * MS, &cuts), 50 * MS);
  assert_int_equal (cuts.n + cuts.n_trims, 0);
  /* a burst is worth hearing */
  excess_of (100 * MS, 500 * MS, &cuts);
  assert_true (cuts.n > 4);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_nothing_is_cut_for_less_than_two_packets),
    cmocka_unit_test (test_a_queue_that_has_gone_is_cut_in_one_piece),
    cmocka_unit_test (test_a_short_cut_goes_on_with_packets_that_are_spared),
    cmocka_unit_test
        (test_what_the_first_packet_waited_is_no_delay_of_the_others),
  };

  return cmocka_run_group_tests_name ("playout/playout-cuts", tests, NULL,
      NULL);
}
