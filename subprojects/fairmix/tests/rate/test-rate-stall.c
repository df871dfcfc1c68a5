/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A busy computer is no congestion: something stands still for a moment, what does
 * not fit into a socket's buffer meanwhile is lost, and then all comes at once. */
#include "fmx-test-rate.h"

#include "sim/fmx-sim-bundle.h"

#define RATE_BPS 920e3
#define PIECE 24u               /* packets that the receiver reads at a time ... */
#define PIECE_TIME (10 * MS)
#define BUFFER 48u              /* ... and that fit into its socket meanwhile */
#define REPORT (100 * MS)

typedef enum
{
  SENDER,
  RECEIVER,
  FEEDBACK
} Place;

/* Who sends, who hears, and how long the way is. */
typedef struct
{
  FmxSimLink forward;
  FmxSimBundle bundle;
  FmxTime now;
  FmxSimPacket waiting[BUFFER];
  unsigned n_waiting;
  FmxTime read_at;              /* NONE = as they come */
  FmxTime asleep_until;         /* the sender */
  unsigned n_cuts, n_held;
  FmxEventSink sink;
} Path;

static Path path;

/* Any fall counts: to be told it has to be of 5 %. */
static void
on_event (void *user, const FmxEvent *event)
{
  Path *self = user;

  self->n_cuts += strncmp (event->reason, "down-", 5) == 0;
  self->n_held += event->fields[0].value == 0.0;
}

static void
path_begin (FmxDuration rtt, FmxDuration report_interval)
{
  FmxSimLinkParams link = { 20e6, 40000, 0, rtt / 2, 0.0 };
  FmxSimBundleParams params;

  memset (&path, 0, sizeof path);
  memset (&params, 0, sizeof params);
  path.sink = (FmxEventSink) { on_event, &path };
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = &fmx_rate_shortq;
  params.sender.max_bps = (uint64_t) RATE_BPS;
  params.sender.sink = &path.sink;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = 200;
  params.packet_interval = MS;
  params.report_interval = report_interval;
  params.feedback_fraction = 0.2;
  params.back.delay = rtt / 2;
  fmx_sim_link_init (&path.forward, &link, 1);
  fmx_sim_bundle_init (&path.bundle, &params, &path.forward, 0, 1);
  path.read_at = FMX_TIME_NONE;
}

/* The receiver reads a piece each 10 ms after it has slept. */
static void
receive (void)
{
  FmxSimPacket packet;

  while (fmx_sim_link_receive (&path.forward, &packet, path.now))
    if (path.read_at == FMX_TIME_NONE)
      fmx_sim_bundle_on_arrival (&path.bundle, &packet, path.now);
    else if (path.n_waiting < BUFFER)
      path.waiting[path.n_waiting++] = packet;
  if (path.now < path.read_at)
    return;
  for (unsigned i = 0; i < PIECE && i < path.n_waiting; i++)
    fmx_sim_bundle_on_arrival (&path.bundle, &path.waiting[i], path.now);
  path.read_at = path.n_waiting > PIECE ? path.now + (FmxTime) PIECE_TIME
      : FMX_TIME_NONE;
  path.n_waiting = path.n_waiting > PIECE ? path.n_waiting - PIECE : 0;
  memmove (path.waiting, path.waiting + PIECE,
      path.n_waiting * sizeof path.waiting[0]);
}

static void
run_until (FmxTime end)
{
  for (;;) {
    FmxTime next = fmx_sim_bundle_next (&path.bundle);

    if (next < path.asleep_until)
      next = path.asleep_until;
    next = fmx_time_min (next, fmx_sim_link_next (&path.forward));
    next = fmx_time_min (next, path.read_at);
    if (next >= end)
      break;
    path.now = next > path.now ? next : path.now;
    receive ();
    if (path.now >= path.asleep_until
        && fmx_sim_bundle_next (&path.bundle) <= path.now)
      fmx_sim_bundle_run (&path.bundle, path.now);
  }
  path.now = end;
}

static void
stall (Place place, FmxDuration time)
{
  FmxTime until = path.now + (FmxTime) time;

  if (place == SENDER)
    path.asleep_until = until;
  else if (place == RECEIVER)
    path.read_at = until;
  path.bundle.back.stalled_until = until;
  if (place != SENDER)
    path.bundle.back.params.queue_packets = 4;
  run_until (until);
}

static double
target_bps (void)
{
  return (double) fmx_rate_sender_target_bps (&path.bundle.sender);
}

/* One for silence, and one for what was lost; then back. */
static void
check_stall (FmxDuration rtt, FmxDuration report_interval, Place place,
    FmxDuration time)
{
  path_begin (rtt, report_interval);
  run_until (20 * (FmxTime) S);
  assert_true (target_bps () == RATE_BPS);
  path.n_cuts = 0;
  stall (place, time);
  run_until (23 * (FmxTime) S);
  if (path.n_cuts > 2 || path.n_held > 0 || target_bps () < 0.8 * RATE_BPS)
    fail_msg ("round trip %d ms, reports %d ms, place %d, %d ms: %u cuts, held "
        "%u times, then %.0f kbit/s", (int) (rtt / MS),
        (int) (report_interval / MS), place, (int) (time / MS), path.n_cuts,
        path.n_held, target_bps () / 1e3);
}

static void
test_a_moment_of_standstill_is_over_in_three_seconds (void **state)
{
  (void) state;
  for (int place = SENDER; place <= FEEDBACK; place++)
    for (FmxDuration time = 100 * MS; time <= 300 * MS; time += 100 * MS) {
      check_stall (15 * MS, 0, (Place) place, time);
      check_stall (15 * MS, REPORT, (Place) place, time);
      check_stall (100 * MS, 0, (Place) place, time);
      check_stall (100 * MS, REPORT, (Place) place, time);
    }
}

static void
test_a_sender_that_slept_reads_before_it_judges (void **state)
{
  (void) state;
  path_begin (15 * MS, 0);
  run_until (20 * (FmxTime) S);
  path.n_cuts = 0;
  stall (SENDER, 300 * MS);
  run_until (21 * (FmxTime) S);
  assert_int_equal (path.n_cuts, 0);
}

/* Packets of 200 bytes at 920 kbit/s; both ways take 7.5 ms. */
#define GAP (1739 * FMX_USECOND)
#define WAY (7500 * FMX_USECOND)
#define EACH 29u                /* packets to a report */
#define PIECES 6u
#define IN_PIECE 6u

static FmxRateSender sender;

static FmxTime
at (unsigned n)
{
  return (FmxTime) S + n * (FmxTime) GAP;
}

static uint32_t
mid32 (FmxTime t)
{
  return (uint32_t) (t * 65536 / (FmxTime) S);
}

static void
leave (unsigned n)
{
  while (fmx_rate_sender_next_timeout (&sender) <= at (n))
    fmx_rate_sender_on_timeout (&sender, at (n));
  fmx_rate_sender_on_sent (&sender, 1, (uint16_t) n, 200, at (n));
}

/* [@from, @until) but for the last @lost of them, heard at @now; blocks: of all that
 * came so far @lost_before are missing. */
static void
hear (bool blocks, unsigned from, unsigned until, unsigned lost,
    unsigned lost_before, FmxTime now)
{
  FmxTime made = now - (FmxTime) WAY;
  FmxCcfbMetric metrics[64];
  FmxReportBlock block = {.ssrc = 1 };
  size_t n = 0;

  for (unsigned i = from; i < until; i++)
    metrics[n++] = (FmxCcfbMetric) { 1, (uint16_t) i, i + lost < until, 0,
    fmx_time_diff (made, at (i) + (FmxTime) WAY)
    };
  block.ext_highest_seq = until - 1;
  block.cumulative_lost = (int32_t) (lost_before + lost);
  block.lsr = mid32 (at (until - 1));
  block.dlsr = mid32 (made) - mid32 (at (until - 1) + (FmxTime) WAY);
  if (blocks)
    fmx_rate_sender_on_report_block (&sender, &block, mid32 (now), now);
  else
    fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (made), now);
}

/* What came back 10 ms apart, of a moment in which half was lost, halved the rate each
 * time: from 920 kbit/s to the least in 60 ms. */
static void
check_pieces (bool blocks)
{
  FmxRateSenderParams params;
  unsigned n = 0, first, k = 0;

  fmx_rate_sender_params_default (&params);
  params.klass = &fmx_rate_shortq;
  params.max_bps = (uint64_t) RATE_BPS;
  fmx_rate_sender_init (&sender, &params, at (0));
  for (; n < 400 * EACH; n++) {
    leave (n);
    if (n >= 2 * EACH && n % EACH == 10)
      hear (blocks, n - EACH - 9, n - 9, 0, 0, at (n) + 1);
  }
  assert_int_equal (fmx_rate_sender_target_bps (&sender), RATE_BPS);
  first = n - EACH + 1;         /* not told of yet */
  for (unsigned end = n + PIECES * IN_PIECE; n < end; n++) {
    leave (n);
    if ((n - first) % IN_PIECE == 0 && k < PIECES) {
      hear (blocks, first + k * IN_PIECE, first + (k + 1) * IN_PIECE,
          IN_PIECE / 2, k * IN_PIECE / 2, at (n) + (FmxTime) WAY);
      k++;
    }
  }
  assert_int_equal (k, PIECES);
  assert_true (fmx_rate_sender_target_bps (&sender) >= 0.49 * RATE_BPS);
  assert_true (fmx_rate_sender_target_bps (&sender) < RATE_BPS);
}

static void
test_feedback_in_pieces_is_one_cut (void **state)
{
  (void) state;
  check_pieces (false);
  check_pieces (true);
}

static FmxSimWorld world;
static FmxSimBundle bundle;

/* A voice whose rate follows the target, on 1 Mbit/s; nothing comes through in one
 * direction for @away, and then @held packets come all at once.  Returns: how long after
 * that it takes until @share of the rate before is allowed */
static FmxDuration
back_after (FmxDuration rtt, uint64_t min_bps, FmxDuration away, bool held,
    double share)
{
  FmxSimBundleParams params;
  FmxSimLinkParams link = { 1e6, 37500, 0, rtt / 2, 0.0 };
  FmxSimLink *cut = held ? &bundle.back : &world.forward;
  FmxTime back;

  memset (&params, 0, sizeof params);
  fmx_rate_sender_params_default (&params.sender);
  params.sender.klass = &fmx_rate_shortq;
  params.sender.min_bps = params.sender.initial_bps = min_bps;
  params.behaviour = FMX_SIM_PACED;
  params.n_streams = 1;
  params.wire_bytes = 196;
  params.packet_interval = 2 * MS;
  params.back.delay = rtt / 2;
  fmx_sim_world_init (&world, &link, &bundle, 1, 1);
  fmx_sim_bundle_init (&bundle, &params, &world.forward, 0, 1);
  fmx_sim_world_run (&world, 60 * (FmxTime) S);
  assert_true (fmx_rate_sender_target_bps (&bundle.sender) >= 784000);
  back = world.now + (FmxTime) away;
  if (held)
    cut->stalled_until = back;
  else
    cut->params.loss = 1.0;
  fmx_sim_world_run (&world, back);
  cut->params.loss = 0.0;
  while ((double) fmx_rate_sender_target_bps (&bundle.sender)
      < share * 784000.0 && world.now - back < 20 * (FmxTime) S)
    fmx_sim_world_run (&world, world.now + 5 * (FmxTime) MS);
  return fmx_time_diff (world.now, back);
}

static void
test_an_outage_is_one_loss_event (void **state)
{
  static const FmxDuration rtts[] = { MS / 2, 20 * MS, 100 * MS };
  static const FmxDuration aways[] = { S, 2 * S, 5 * (FmxDuration) S };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rtts); i++)
    for (size_t j = 0; j < N_ELEMENTS (aways); j++) {
      assert_true (back_after (rtts[i], 20000, aways[j], false, 0.1) < S);
      assert_true (back_after (rtts[i], 20000, aways[j], false, 0.8) < 3 * S);
    }
}

static void
test_how_long_a_path_was_away_is_no_round_trip_time (void **state)
{
  static const FmxDuration rtts[] = { MS / 2, 20 * MS, 100 * MS, 300 * MS };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rtts); i++)
    assert_true (back_after (rtts[i], 500000, 5 * (FmxDuration) S, true, 0.8)
        < 3 * S);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_moment_of_standstill_is_over_in_three_seconds),
    cmocka_unit_test (test_a_sender_that_slept_reads_before_it_judges),
    cmocka_unit_test (test_feedback_in_pieces_is_one_cut),
    cmocka_unit_test (test_an_outage_is_one_loss_event),
    cmocka_unit_test (test_how_long_a_path_was_away_is_no_round_trip_time),
  };

  return cmocka_run_group_tests_name ("rate/stall", tests, NULL, NULL);
}
