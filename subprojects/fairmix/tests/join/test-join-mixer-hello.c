/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

static Room room;
static Guest guest;

static FmxJoinMixerStats
stats (void)
{
  return mixer_stats (&room.mixer);
}

static size_t
hello (uint8_t *data, FmxRng *rng)
{
  FmxJoinMessage m = {.type = FMX_JOIN_HELLO };

  for (size_t i = 0; i < sizeof m.u.hello.nonce; i++)
    m.u.hello.nonce[i] = (uint8_t) fmx_rng_next (rng);
  return fmx_join_message_write (&m, data);
}

/* A million hellos from everywhere: nothing is remembered, no key is made, and
 * no more is sent than came. */
static void
test_hellos_from_random_addresses_cost_no_memory (void **state)
{
  FmxJoinMixer before;
  size_t n_in = 0, n_out = 0;
  FmxRng rng;

  (void) state;
  room_open (&room, "sesame", 1);
  fmx_rng_init (&rng, 1);
  before = room.mixer;
  for (unsigned i = 0; i < 100000; i++) {
    FmxJoinAddress from = address (fmx_rng_next (&rng) & 0xffffff,
        fmx_rng_next (&rng) & 0xffff);
    uint8_t data[FMX_JOIN_MAX_BYTES];
    size_t size = hello (data, &rng);

    n_in += size;
    n_out += room_hear (&room, &from, data, size,
        START + i * 10 * FMX_USECOND)->size;
  }
  assert_true (n_out <= n_in / 5);      /* 100,000 in a second, 5000 + burst */
  assert_int_equal (stats ().n_pending, 0);
  assert_int_equal (stats ().n_hellos + stats ().n_limited, 100000);
  assert_in_range (stats ().n_hellos, 9900, 10100);
  assert_int_equal (room.toy.n_agreed, 0);
  assert_memory_equal (before.key, room.mixer.key, sizeof before.key);
  /* and who really wants to come gets in, once it is over */
  guest_init (&guest, "alice", "sesame", 1, START + 2 * FMX_SECOND);
  join (&room, &guest, START + 2 * FMX_SECOND);
}

/* Who does not receive at its address cannot even make us compute. */
static void
test_a_join_without_its_cookie_is_not_looked_at (void **state)
{
  FmxJoinMessage m = {.type = FMX_JOIN_JOIN };
  uint8_t data[FMX_JOIN_MAX_BYTES];
  FmxRng rng;

  (void) state;
  room_open (&room, "", 1);
  fmx_rng_init (&rng, 1);
  for (unsigned i = 0; i < 10000; i++) {
    FmxJoinAddress from = address (i, 5000);
    uint8_t *bytes = (uint8_t *) &m.u.join;

    for (size_t j = 0; j < 96; j++)
      bytes[j] = (uint8_t) fmx_rng_next (&rng);
    assert_int_equal (room_hear (&room, &from, data,
            fmx_join_message_write (&m, data), START)->size, 0);
  }
  assert_int_equal (stats ().n_bad_cookies, 10000);
  assert_int_equal (room.toy.n_agreed, 0);
}

/* Plays the guest's part up to its JOIN.  Returns: its size */
static size_t
get_join (uint8_t *data, FmxTime now)
{
  FmxJoinClientResult mine;
  FmxJoinMixerResult theirs;

  fmx_join_client_on_timeout (&guest.client, &mine, now);
  theirs = *room_hear (&room, &guest.address, mine.data, mine.size, now);
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      now);
  memcpy (data, mine.data, mine.size);
  return mine.size;
}

/* A JOIN that is heard twice gets the same answer: no second session, and
 * above all no second use of the same keys. */
static void
test_a_join_that_is_played_back_makes_no_new_keys (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES];
  FmxJoinMixerResult first, again;
  size_t size;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  size = get_join (data, START);
  first = *room_hear (&room, &guest.address, data, size, START);
  for (unsigned i = 0; i < 100; i++) {
    again = *room_hear (&room, &guest.address, data, size, START);
    assert_memory_equal (first.data, again.data, first.size);
  }
  assert_int_equal (stats ().n_pending, 1);
  assert_int_equal (stats ().n_repeated, 100);
  assert_int_equal (room.toy.n_agreed, 1);
  /* from elsewhere: no cookie */
  guest.address.port++;
  assert_int_equal (room_hear (&room, &guest.address, data, size,
          START)->size, 0);
  guest.address.port--;
  /* After the end of the session: other keys, and nobody who confirms them. */
  again = *room_hear (&room, &guest.address, data, size,
      START + 3 * FMX_SECOND);
  while (fmx_join_mixer_on_timeout (&room.mixer, &again,
          START + 3 * FMX_SECOND));
  assert_int_equal (stats ().n_pending, 0);
  again = *room_hear (&room, &guest.address, data, size,
      START + 3 * FMX_SECOND);
  assert_memory_not_equal (first.data, again.data, first.size);
  assert_int_equal (stats ().n_sessions, 0);
  /* and later still: nothing */
  while (fmx_join_mixer_on_timeout (&room.mixer, &again,
          START + 30 * FMX_SECOND));
  assert_int_equal (room_hear (&room, &guest.address, data, size,
          START + 30 * FMX_SECOND)->size, 0);
}

/* Who knocks has cost a MAC or two; it may wait, and knock again meanwhile. */
static void
test_who_knocks_may_wait (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES];
  FmxJoinMixerResult result, first;
  size_t size;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  size = get_join (data, START);
  for (unsigned i = 0; i < 3; i++) {
    fmx_join_mixer_on_datagram (&room.mixer, &guest.address, data, size,
        &result, START);
    assert_int_equal (result.event, FMX_JOIN_MIXER_KNOCKED);
    assert_int_equal (result.size, 0);
  }
  assert_int_equal (room.toy.n_agreed, 0);
  assert_int_equal (stats ().n_pending, 0);
  fmx_join_mixer_admit (&room.mixer, &guest.address, data, size, &first,
      START + FMX_SECOND);
  assert_int_equal (stats ().n_pending, 1);
  fmx_join_mixer_admit (&room.mixer, &guest.address, data, size, &result,
      START + FMX_SECOND);
  assert_int_equal (stats ().n_pending, 1);
  assert_int_equal (room.toy.n_agreed, 1);
  assert_int_equal (result.size, first.size);
  assert_memory_equal (first.data, result.data, first.size);
}

/* One more of @host asks, and gets an answer that it need not confirm.
 * Returns: what @guest is told */
static FmxJoinType
knock (unsigned host, FmxTime now)
{
  static unsigned n;
  uint8_t data[FMX_JOIN_MAX_BYTES];
  size_t size;

  guest_init (&guest, "alice", "", ++n, START);
  guest.address = address (host, n);
  size = get_join (data, now);
  return room_hear (&room, &guest.address, data, size, now)->data[4];
}

static void
test_joins_that_nobody_confirms_are_forgotten (void **state)
{
  FmxJoinMixerResult result;
  unsigned n_busy = 0;

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < 50; i++)
    n_busy += knock (1, START) == FMX_JOIN_REFUSE;
  assert_int_equal (stats ().n_pending, SESSIONS);
  assert_int_equal (n_busy, 50 - SESSIONS);
  assert_true (fmx_join_mixer_next_timeout (&room.mixer) ==
      START + 2 * FMX_SECOND);
  assert_false (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 2 * FMX_SECOND));
  assert_int_equal (stats ().n_pending, 0);
  assert_int_equal (room.n_events, 0);
}

/* Of those of the host that has most of them the oldest goes for one of another host, as
 * long as that has less. */
static void
test_one_host_does_not_hold_all_pending_joins (void **state)
{
  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < SESSIONS; i++)
    assert_int_equal (knock (1, START + i), FMX_JOIN_ACCEPT);
  for (unsigned i = 0; i < SESSIONS / 2; i++)
    assert_int_equal (knock (2, START + SESSIONS), FMX_JOIN_ACCEPT);
  assert_int_equal (knock (2, START + SESSIONS), FMX_JOIN_REFUSE);
  assert_int_equal (stats ().n_pending, SESSIONS);
  assert_int_equal (stats ().n_limited, SESSIONS / 2 + 1);
  guest_init (&guest, "bob", "", 0, START + SESSIONS);
  guest.address = address (3, 5000);
  join (&room, &guest, START + SESSIONS);
}

static void
test_another_version_is_told_ours (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES];
  FmxJoinMixerResult theirs;
  FmxJoinMessage m;
  FmxRng rng;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  fmx_rng_init (&rng, 1);
  hello (data, &rng);
  data[3] = 9;
  theirs = *room_hear (&room, &guest.address, data,
      fmx_join_message_bytes (FMX_JOIN_HELLO), START);
  assert_int_equal (fmx_join_message_parse (&m, theirs.data, theirs.size),
      FMX_JOIN_VALID);
  assert_int_equal (m.u.refuse.reason, FMX_JOIN_REASON_VERSION);
  assert_int_equal (m.u.refuse.version, FMX_JOIN_VERSION);
  assert_memory_equal (m.u.refuse.nonce, data + 8, FMX_JOIN_NONCE_BYTES);
}

static void
test_a_mixer_below_itself_is_a_loop (void **state)
{
  (void) state;
  room_open (&room, "", 7);
  for (unsigned i = 0; i < 3; i++) {
    const uint64_t nodes[] = { 7, 8, 9 };       /* itself, its root, another */

    fmx_join_mixer_set_root (&room.mixer, 8, 1);
    guest_init (&guest, "branch", "", 1 + i, START);
    guest.client.params.flags |= FMX_JOIN_IS_MIXER;
    guest.client.params.node = nodes[i];
    run (&room, &guest, START);
    if (i < 2)
      assert_int_equal (guest.last.reason, FMX_JOIN_REASON_LOOP);
    else
      assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_JOINED);
  }
  fmx_join_mixer_set_root (&room.mixer, 10, FMX_JOIN_MAX_DEPTH);
  guest_init (&guest, "deep", "", 9, START);
  guest.client.params.flags |= FMX_JOIN_IS_MIXER;
  guest.client.params.node = 11;
  run (&room, &guest, START);
  assert_int_equal (guest.last.reason, FMX_JOIN_REASON_LOOP);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_hellos_from_random_addresses_cost_no_memory),
    cmocka_unit_test (test_a_join_without_its_cookie_is_not_looked_at),
    cmocka_unit_test (test_a_join_that_is_played_back_makes_no_new_keys),
    cmocka_unit_test (test_who_knocks_may_wait),
    cmocka_unit_test (test_joins_that_nobody_confirms_are_forgotten),
    cmocka_unit_test (test_one_host_does_not_hold_all_pending_joins),
    cmocka_unit_test (test_another_version_is_told_ours),
    cmocka_unit_test (test_a_mixer_below_itself_is_a_loop),
  };

  return cmocka_run_group_tests_name ("join/mixer-hello", tests, NULL, NULL);
}
