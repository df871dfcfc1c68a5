/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-playout.h"

/* Two streams that come over one path: what it does to packets, for both */
typedef struct
{
  FmxPathDelay path;
  FmxPlayout streams[2];
} Pair;

#define MINIMUM (40 * MS)
/* the clock that a stream's sender has begins anywhere */
#define ANYWHERE (3600 * FMX_SECOND)

static void
pair_init (Pair *pair, bool together)
{
  FmxDelayMemoryParams memory;
  FmxPlayoutParams params;

  fmx_delay_memory_params_default (&memory);
  fmx_path_delay_init (&pair->path, &memory);
  fmx_playout_params_default (&params);
  params.min_delay = MINIMUM;
  for (unsigned i = 0; i < 2; i++) {
    fmx_playout_init (&pair->streams[i], &params);
    if (together)
      fmx_playout_share (&pair->streams[i], &pair->path);
  }
}

/* The @n-th packet time: stream @i sends a packet, which waits for @queue */
static FmxPlayoutDecision
send (Pair *pair, unsigned i, uint64_t seq, uint64_t n, FmxDuration queue)
{
  FmxTime sent = START + n * (uint64_t) PACKET;
  FmxPlayoutPacket packet = {
    .ext_seq = 65536 + seq,
    .media = i == 0 ? sent : sent + (FmxTime) ANYWHERE,
    .duration = PACKET,
  };

  return fmx_playout_on_packet (&pair->streams[i], &packet,
      sent + (FmxTime) queue);
}

/* A queue that comes for a second each ten, as beside a controller that looks for
 * more: it grows to 100 ms within 200, and shrinks as slowly */
static FmxDuration
swing (uint64_t n)
{
  FmxDuration at = (FmxDuration) (n % 500) * PACKET - 8 * FMX_SECOND;

  if (at < 0 || at > FMX_SECOND)
    return 0;
  if (at < 200 * MS)
    return at / 2;
  return at > 800 * MS ? (FMX_SECOND - at) / 2 : 100 * MS;
}

/* Returns: how many packets of the second stream were not heard in time, if it comes
 * after the first was there for @before packets */
static unsigned
count_missed (bool together, uint64_t before)
{
  unsigned missed = 0;
  Pair pair;

  pair_init (&pair, together);
  for (uint64_t n = 0; n < before; n++)
    send (&pair, 0, n, n, swing (n));
  for (uint64_t n = before; n < before + 1000; n++) {
    FmxPlayoutDecision d = send (&pair, 1, n - before, n, swing (n));

    missed += d.action == FMX_PLAYOUT_MISSED || d.reason == FMX_PLAYOUT_LATE;
    send (&pair, 0, n, n, swing (n));
  }
  return missed;
}

static void
test_a_stream_that_begins_knows_what_others_have_learnt (void **state)
{
  (void) state;
  assert_true (count_missed (false, 6000) > 3);
  assert_int_equal (count_missed (true, 6000), 0);
}

static void
test_a_stream_that_comes_back_has_the_delay_of_the_others (void **state)
{
  FmxPlayoutDecision d;
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 50; n++) {
    send (&pair, 0, n, n, 0);
    send (&pair, 1, n, n, 0);
  }
  assert_int_equal (fmx_playout_get_delay (&pair.streams[1]), MINIMUM);
  /* the path becomes slower while it is in a mix */
  for (; n < 1000; n++)
    send (&pair, 0, n, n, n > 60 && n < 500 ? 120 * MS : 0);
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 100 * MS);
  d = send (&pair, 1, 50, n, 0);
  assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
  assert_int_equal (fmx_playout_get_delay (&pair.streams[1]),
      fmx_playout_get_delay (&pair.streams[0]));
}

/* A queue came as it went into a mix, and was over long before it came back: it was played
 * 0.4 s later than all others. */
static void
test_who_was_away_for_long_has_no_queue_of_before (void **state)
{
  for (unsigned away_s = 2; away_s <= 30; away_s += 28) {
    FmxDelayMemoryParams memory;
    FmxPlayoutDecision d;
    uint64_t n, back;
    Pair pair;

    (void) state;
    pair_init (&pair, true);
    for (n = 0; n < 100; n++)
      for (unsigned i = 0; i < 2; i++)
        send (&pair, i, n, n, n < 50 ? 0 : 400 * MS);
    assert_true (fmx_playout_get_delay (&pair.streams[1]) >= 380 * MS);
    fmx_playout_reset (&pair.streams[0]);       /* it is short for who came later */
    fmx_delay_memory_params_default (&memory);
    fmx_path_delay_init (&pair.path, &memory);
    for (back = n + away_s * 50; n < back; n++)
      send (&pair, 0, n, n, 0);
    d = send (&pair, 1, 100, n, 0);
    assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    if (away_s > 10)
      assert_int_equal (fmx_playout_get_delay (&pair.streams[1]),
          fmx_playout_get_delay (&pair.streams[0]));
    else
      assert_true (fmx_playout_get_delay (&pair.streams[1]) >= 380 * MS);
    for (uint64_t k = 101; away_s > 10 && k < 200; k++) {
      d = send (&pair, 1, k, ++n, 0);
      assert_int_equal (d.action, FMX_PLAYOUT_PLAY);
    }
  }
}

static void
test_a_stream_that_goes_on_keeps_its_delay (void **state)
{
  FmxPlayoutDecision d;
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 50; n++) {
    send (&pair, 0, n, n, 0);
    send (&pair, 1, n, n, 0);
  }
  for (uint64_t k = n; k < n + 20; k++)
    send (&pair, 0, k, k, 150 * MS);
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 100 * MS);
  d = send (&pair, 1, n, n, 0);
  assert_int_equal (d.adjusted, 0);
}

static void
test_a_stream_that_begins_in_a_queue_is_not_the_fastest (void **state)
{
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 500; n++)
    send (&pair, 0, n, n, 0);
  send (&pair, 0, n, n, 30 * MS);
  send (&pair, 1, 0, n, 30 * MS);
  assert_int_equal (fmx_playout_get_need (&pair.streams[1]), 30 * MS);
  assert_int_equal (fmx_playout_get_delay (&pair.streams[1]), MINIMUM);
}

static void
test_a_queue_of_long_ago_says_nothing_of_now (void **state)
{
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 500; n++)
    send (&pair, 0, n, n, n == 499 ? 30 * MS : 0);
  send (&pair, 1, 0, n + 100, 30 * MS);
  assert_int_equal (fmx_playout_get_need (&pair.streams[1]), 0);
}

static void
test_a_stream_that_begins_anew_forgets_itself_but_not_the_path (void **state)
{
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 6000; n++)
    send (&pair, 0, n, n, swing (n));
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 90 * MS);
  fmx_playout_reset (&pair.streams[0]);
  send (&pair, 0, 0, n, 0);
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 90 * MS);
}

/* The talker's own network: those who come the same way but for that are spared. */
static void
test_who_is_troubled_before_the_path_does_not_tell (void **state)
{
  uint64_t n;
  Pair pair;

  (void) state;
  pair_init (&pair, true);
  for (n = 0; n < 1000; n++) {
    send (&pair, 0, n, n, n % 50 < 40 ? 0 : 120 * MS);
    send (&pair, 1, n, n, 0);
  }
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 100 * MS);
  send (&pair, 0, n, n + 40, 0);
  send (&pair, 1, n, n + 40, 0);
  assert_int_equal (fmx_playout_get_delay (&pair.streams[1]), MINIMUM);
  /* nor does he forget it */
  assert_true (fmx_playout_get_delay (&pair.streams[0]) >= 100 * MS);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_stream_that_begins_knows_what_others_have_learnt),
    cmocka_unit_test
        (test_a_stream_that_comes_back_has_the_delay_of_the_others),
    cmocka_unit_test (test_who_was_away_for_long_has_no_queue_of_before),
    cmocka_unit_test (test_a_stream_that_goes_on_keeps_its_delay),
    cmocka_unit_test (test_a_stream_that_begins_in_a_queue_is_not_the_fastest),
    cmocka_unit_test (test_a_queue_of_long_ago_says_nothing_of_now),
    cmocka_unit_test
        (test_a_stream_that_begins_anew_forgets_itself_but_not_the_path),
    cmocka_unit_test (test_who_is_troubled_before_the_path_does_not_tell),
  };

  return cmocka_run_group_tests_name ("playout/playout-others", tests, NULL,
      NULL);
}
