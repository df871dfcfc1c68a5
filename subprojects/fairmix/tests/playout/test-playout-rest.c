/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

#include "fairmix/base/fmx-rng.h"

/* One stream in two playouts, of which one never goes the short way */
typedef struct
{
  FmxPlayout ours, plain;
  FmxPathDelay path, plain_path;        /* what they tell others */
  FmxRng rng;
  FmxTime busy_until;           /* a stall */
  unsigned n_rested;
} Pair;

static void
pair_init (Pair *pair, uint64_t seed)
{
  FmxPlayoutParams params;
  FmxDelayMemoryParams memory;

  fmx_playout_params_default (&params);
  fmx_playout_init (&pair->ours, &params);
  fmx_playout_init (&pair->plain, &params);
  fmx_delay_memory_params_default (&memory);
  fmx_path_delay_init (&pair->path, &memory);
  fmx_path_delay_init (&pair->plain_path, &memory);
  fmx_playout_share (&pair->ours, &pair->path);
  fmx_playout_share (&pair->plain, &pair->plain_path);
  pair->plain.never_rests = true;
  fmx_rng_init (&pair->rng, seed);
  pair->busy_until = 0;
  pair->n_rested = 0;
}

static void
pair_on_packet (Pair *pair, const FmxPlayoutPacket *packet, FmxTime now)
{
  FmxPlayoutDecision a = fmx_playout_on_packet (&pair->ours, packet, now);
  FmxPlayoutDecision b = fmx_playout_on_packet (&pair->plain, packet, now);
  FmxPlayoutStats s = playout_stats (&pair->ours);
  FmxPlayoutStats t = playout_stats (&pair->plain);
  FmxDuration told = 0, plainly = 0;

  fmx_path_delay_of_others (&pair->path, NULL, &told);
  fmx_path_delay_of_others (&pair->plain_path, NULL, &plainly);
  assert_int_equal (told, plainly);
  assert_int_equal (a.action, b.action);
  assert_int_equal (a.playout, b.playout);
  assert_int_equal (a.delay, b.delay);
  assert_int_equal (a.adjusted, b.adjusted);
  assert_int_equal (a.reason, b.reason);
  assert_int_equal (fmx_playout_get_delay (&pair->ours),
      fmx_playout_get_delay (&pair->plain));
  assert_int_equal (fmx_playout_get_need (&pair->ours),
      fmx_playout_get_need (&pair->plain));
  assert_memory_equal (&s, &t, sizeof s);
  pair->n_rested += pair->ours.n_rested > 0;
}

static bool
happens (Pair *pair, double share)
{
  return fmx_rng_next_unit (&pair->rng) < share;
}

/* A queue that swings by 250 ms within 3 s, for 30 of 60 s: where the other rule is
 * better */
static FmxDuration
swing (unsigned i)
{
  int t = (int) (i % 150) - 75;

  return i / 1500 % 2 == 1 ? (t < 0 ? -t : t) * 250 * MS / 75 : 0;
}

/* Jitter of up to 15 ms, @trouble: the share of packets at which a stall, a loss, a
 * burst, a pause, a slower path, another minimum or a new beginning happens */
static void
run (Pair *pair, unsigned n_packets, double trouble, bool swings)
{
  FmxDuration route = 0;
  FmxPlayoutPacket packet = {.ext_seq = 65536,.media = START,
    .duration = PACKET
  };

  for (unsigned i = 0; i < n_packets; i++) {
    FmxTime now = packet.media + (FmxTime) (route + (swings ? swing (i) : 0)
        + (FmxDuration) (fmx_rng_next_unit (&pair->rng) * 15.0 * MS));

    if (happens (pair, trouble))
      pair->busy_until = now + (FmxTime) (fmx_rng_next_unit (&pair->rng)
          * 300.0 * MS);
    if (happens (pair, trouble / 10.0))
      route = (FmxDuration) (fmx_rng_next_unit (&pair->rng) * 60.0 * MS);
    if (happens (pair, trouble / 10.0)) {
      FmxDuration least = (FmxDuration) (fmx_rng_next_unit (&pair->rng)
          * 50.0 * MS);

      fmx_playout_set_min_delay (&pair->ours, least);
      fmx_playout_set_min_delay (&pair->plain, least);
    }
    packet.quiet = happens (pair, 0.1);
    packet.talkspurt = happens (pair, trouble / 5.0);
    if (now < pair->busy_until)
      now = pair->busy_until;
    if (!happens (pair, trouble))
      pair_on_packet (pair, &packet, now);
    if (happens (pair, trouble / 5.0))
      pair_on_packet (pair, &packet, now);      /* once more */
    packet.ext_seq++;
    packet.media += (FmxTime) packet.duration;
    if (happens (pair, trouble / 20.0))
      packet.duration = happens (pair, 0.5) ? PACKET : PACKET / 2;
    if (happens (pair, trouble / 5.0))
      packet.media += FMX_SECOND;
    if (happens (pair, trouble / 100.0))
      packet.media += 100 * FMX_SECOND;
  }
}

static void
test_the_short_way_decides_as_the_long_one (void **state)
{
  unsigned n_rested = 0, n_changes = 0;

  (void) state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    Pair pair;

    pair_init (&pair, seed);
    run (&pair, 5000, 0.0005 * (double) (seed % 10), seed % 4 == 0);
    n_rested += pair.n_rested;
    n_changes += (unsigned) playout_stats (&pair.ours).n_rule_changes;
  }
  assert_true (n_rested > 20000);
  assert_true (n_changes > 3);
}

static void
test_a_steady_stream_goes_the_short_way (void **state)
{
  Pair pair;

  (void) state;
  pair_init (&pair, 1);
  run (&pair, 10000, 0.0, false);
  assert_true (pair.n_rested > 9500);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_short_way_decides_as_the_long_one),
    cmocka_unit_test (test_a_steady_stream_goes_the_short_way),
  };

  return cmocka_run_group_tests_name ("playout/playout-rest", tests, NULL,
      NULL);
}
