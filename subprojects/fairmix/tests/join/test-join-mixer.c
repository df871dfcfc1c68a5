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

static void
test_joins_that_nobody_confirms_are_forgotten (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES];
  FmxJoinMixerResult result;
  unsigned n_busy = 0;

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < 50; i++) {
    guest_init (&guest, "alice", "", i, START);
    size_t size = get_join (data, START);

    n_busy += room_hear (&room, &guest.address, data, size,
        START)->data[4] == FMX_JOIN_REFUSE;
  }
  assert_int_equal (stats ().n_pending, SESSIONS);
  assert_int_equal (n_busy, 50 - SESSIONS);
  assert_true (fmx_join_mixer_next_timeout (&room.mixer) ==
      START + 2 * FMX_SECOND);
  assert_false (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 2 * FMX_SECOND));
  assert_int_equal (stats ().n_pending, 0);
  assert_int_equal (room.n_events, 0);
}

static void
test_no_more_than_max_clients_get_in (void **state)
{
  static Guest guests[MAX_CLIENTS + 1];

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < MAX_CLIENTS; i++) {
    guest_init (&guests[i], "x", "", i, START);
    join (&room, &guests[i], START);
  }
  guest_init (&guest, "late", "", 99, START);
  run (&room, &guest, START);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_REFUSED);
  assert_int_equal (guest.last.reason, FMX_JOIN_REASON_FULL);
  assert_int_equal (stats ().n_sessions, MAX_CLIENTS);
  /* It tries again, and gets in when somebody has left (here: died). */
  run (&room, &guest, START + 10 * FMX_SECOND);
  assert_non_null (fmx_join_client_keys (&guest.client));
  assert_int_equal (stats ().n_timeouts, MAX_CLIENTS);
}

/* Somebody who is in and begins anew is not one more. */
static void
test_who_is_in_comes_back_into_a_full_room (void **state)
{
  static Guest guests[MAX_CLIENTS];
  uint32_t old;

  (void) state;
  room_open (&room, "", 1);
  for (unsigned i = 0; i < MAX_CLIENTS; i++) {
    guest_init (&guests[i], "x", "", i, START);
    old = join (&room, &guests[i], START);
  }
  guest_init (&guest, "x", "", MAX_CLIENTS - 1, START);
  fmx_rng_init (&guest.toy.rng, 77);
  join (&room, &guest, START);
  assert_int_equal (room.last.replaced, old);
  assert_int_equal (stats ().n_sessions, MAX_CLIENTS);
}

static void
test_who_falls_silent_is_out_after_the_timeout (void **state)
{
  FmxJoinMixerResult result;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  assert_false (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 5 * FMX_SECOND - 1));
  assert_true (fmx_join_mixer_on_timeout (&room.mixer, &result,
          START + 5 * FMX_SECOND));
  assert_int_equal (result.event, FMX_JOIN_MIXER_LEFT);
  assert_int_equal (result.reason, FMX_JOIN_REASON_TIMEOUT);
  assert_true (fmx_join_address_same (&result.to, &guest.address));
  assert_true (fmx_join_mixer_next_timeout (&room.mixer) == FMX_TIME_NONE);
}

static void
test_a_forged_or_repeated_bye_is_not_believed (void **state)
{
  FmxJoinClientResult bye;
  Guest copy;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  copy = guest;
  fmx_join_client_leave (&copy.client, &bye);
  for (size_t i = 16; i < bye.size; i++) {      /* all but the session */
    bye.data[i] ^= 1;
    room_hear (&room, &guest.address, bye.data, bye.size, START);
    bye.data[i] ^= 1;
  }
  assert_int_equal (stats ().n_forged, bye.size - 16);
  bye.data[8] ^= 1;
  room_hear (&room, &guest.address, bye.data, bye.size, START);
  bye.data[8] ^= 1;
  assert_int_equal (stats ().n_unknown, 1);
  /* genuine, but of a time before: the guest has gone on */
  run (&room, &guest, START + 3 * FMX_SECOND);
  room_hear (&room, &guest.address, bye.data, bye.size, START);
  assert_int_equal (stats ().n_replayed, 1);
  assert_int_equal (stats ().n_sessions, 1);
}

/* An address moves when somebody who has the keys has shown to be there. */
static void
test_a_new_address_counts_when_it_has_answered (void **state)
{
  uint32_t index;
  FmxTime now = START;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  index = join (&room, &guest, START);
  now = run (&room, &guest, START + 2 * FMX_SECOND);
  guest.address = address (1, 6000);    /* a NAT gave it another port */
  run (&room, &guest, now + FMX_SECOND);
  assert_int_equal (room.last.event, FMX_JOIN_MIXER_MOVED);
  assert_int_equal (room.last.session, index);
  assert_int_equal (stats ().n_moved, 1);
  assert_true (fmx_join_address_same (&fmx_join_mixer_session (&room.mixer,
              index)->address, &guest.address));
  assert_int_equal (client_stats (&guest.client).n_attempts, 1);
}

/* Somebody on the way takes PINGs and sends them from elsewhere. */
static void
test_a_ping_from_a_foreign_address_moves_nothing (void **state)
{
  FmxJoinAddress victim = address (66, 6666);
  FmxTime now = START;
  uint32_t index;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  index = join (&room, &guest, START);
  for (unsigned i = 0; i < 20; i++) {
    FmxJoinClientResult mine;
    FmxJoinMixerResult theirs;

    now = fmx_join_client_next_timeout (&guest.client);
    fmx_join_client_on_timeout (&guest.client, &mine, now);
    theirs = *room_hear (&room, &victim, mine.data, mine.size, now);
    assert_true (theirs.size <= mine.size);
  }
  assert_int_equal (stats ().n_moved, 0);
  assert_true (fmx_join_address_same (&fmx_join_mixer_session (&room.mixer,
              index)->address, &guest.address));
}

static void
test_answers_of_a_mixer_sent_to_a_mixer_do_nothing (void **state)
{
  FmxJoinMessage m = { 0 };
  uint8_t data[FMX_JOIN_MAX_BYTES];

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  for (m.type = FMX_JOIN_HELLO; m.type <= FMX_JOIN_BYE; m.type++)
    if (m.type == FMX_JOIN_COOKIE || m.type == FMX_JOIN_ACCEPT
        || m.type == FMX_JOIN_REFUSE || m.type == FMX_JOIN_PONG)
      assert_int_equal (room_hear (&room, &guest.address, data,
              fmx_join_message_write (&m, data), START)->size, 0);
  assert_int_equal (stats ().n_unexpected, 4);
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

static void
test_a_new_root_is_told_with_the_next_pong (void **state)
{
  uint16_t depth;

  (void) state;
  room_open (&room, "", 7);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  assert_int_equal (fmx_join_client_root (&guest.client, &depth), 7);
  assert_int_equal (depth, 0);
  fmx_join_mixer_set_root (&room.mixer, 99, 4);
  run (&room, &guest, START + FMX_SECOND);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_ROOT);
  assert_int_equal (fmx_join_client_root (&guest.client, &depth), 99);
  assert_int_equal (depth, 4);
}

/* Packets are lost both ways, one in three: it still works. */
static void
test_joins_over_a_path_that_loses_a_third (void **state)
{
  unsigned n_joined = 0;

  (void) state;
  for (unsigned seed = 0; seed < 200; seed++) {
    FmxTime now = START;
    FmxRng rng;

    fmx_rng_init (&rng, seed);
    room_open (&room, "sesame", 1);
    guest_init (&guest, "alice", "sesame", seed, START);
    while ((now = fmx_join_client_next_timeout (&guest.client))
        < START + 5 * FMX_SECOND) {
      FmxJoinClientResult mine;
      FmxJoinMixerResult theirs;

      fmx_join_client_on_timeout (&guest.client, &mine, now);
      while (mine.size > 0 && fmx_rng_next_unit (&rng) > 0.33) {
        theirs = *room_hear (&room, &guest.address, mine.data, mine.size, now);
        if (theirs.size == 0 || fmx_rng_next_unit (&rng) < 0.33)
          break;
        fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
            &mine, now);
      }
    }
    n_joined += stats ().n_sessions == 1;
  }
  assert_in_range (n_joined, 198, 200);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_hellos_from_random_addresses_cost_no_memory),
    cmocka_unit_test (test_a_join_without_its_cookie_is_not_looked_at),
    cmocka_unit_test (test_a_join_that_is_played_back_makes_no_new_keys),
    cmocka_unit_test (test_joins_that_nobody_confirms_are_forgotten),
    cmocka_unit_test (test_no_more_than_max_clients_get_in),
    cmocka_unit_test (test_who_is_in_comes_back_into_a_full_room),
    cmocka_unit_test (test_who_falls_silent_is_out_after_the_timeout),
    cmocka_unit_test (test_a_forged_or_repeated_bye_is_not_believed),
    cmocka_unit_test (test_a_new_address_counts_when_it_has_answered),
    cmocka_unit_test (test_a_ping_from_a_foreign_address_moves_nothing),
    cmocka_unit_test (test_answers_of_a_mixer_sent_to_a_mixer_do_nothing),
    cmocka_unit_test (test_another_version_is_told_ours),
    cmocka_unit_test (test_a_mixer_below_itself_is_a_loop),
    cmocka_unit_test (test_a_new_root_is_told_with_the_next_pong),
    cmocka_unit_test (test_joins_over_a_path_that_loses_a_third),
  };

  return cmocka_run_group_tests_name ("join/mixer", tests, NULL, NULL);
}
