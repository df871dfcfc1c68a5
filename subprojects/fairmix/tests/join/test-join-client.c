/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

static Room room;
static Guest guest;

static void
test_joins_in_two_round_trips_and_both_have_the_same_keys (void **state)
{
  const FmxJoinSession *session;
  uint32_t index;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  index = join (&room, &guest, START);
  session = fmx_join_mixer_session (&room.mixer, index);
  assert_int_equal (guest.n_sent, 3);   /* HELLO, JOIN, PING */
  assert_string_equal (session->join.name, "alice");
  assert_int_equal (session->join.max_streams, 7);
  assert_memory_equal (&session->keys, fmx_join_client_keys (&guest.client),
      sizeof session->keys);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_JOINED);
}

static void
test_stays_in_as_long_as_both_are_there (void **state)
{
  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  run (&room, &guest, START + 600 * FMX_SECOND);
  assert_int_equal (room.n_events, 1);
  assert_int_equal (client_stats (&guest.client).n_attempts, 1);
  assert_int_equal (mixer_stats (&room.mixer).n_sessions, 1);
  assert_in_range (guest.n_sent, 1200, 1205);
}

static void
test_a_wrong_secret_is_refused_for_good (void **state)
{
  static const char *const words[] = { "sesam", "", "sesame ", "Sesame" };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (words); i++) {
    room_open (&room, "sesame", 1);
    guest_init (&guest, "mallory", words[i], 1, START);
    run (&room, &guest, START + 60 * FMX_SECOND);
    assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_REFUSED);
    assert_int_equal (guest.last.reason, FMX_JOIN_REASON_SECRET);
    assert_int_equal (guest.n_sent, 2);
    assert_true (fmx_join_client_next_timeout (&guest.client) == FMX_TIME_NONE);
    assert_int_equal (mixer_stats (&room.mixer).n_wrong_secret, 1);
    assert_int_equal (mixer_stats (&room.mixer).n_pending, 0);
  }
}

/* ... and a client with a secret does not take an open room for its own. */
static void
test_an_open_room_is_not_a_room_with_a_secret (void **state)
{
  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  run (&room, &guest, START + FMX_SECOND);
  assert_int_equal (guest.last.reason, FMX_JOIN_REASON_SECRET);
  assert_null (fmx_join_client_keys (&guest.client));
}

static void
test_says_when_nobody_answers_and_goes_on_trying (void **state)
{
  (void) state;
  guest_init (&guest, "alice", "", 1, START);
  run_alone (&guest, START + 2 * FMX_SECOND);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_NOTHING);
  assert_in_range (guest.n_sent, 5, 8);
  run_alone (&guest, START + 60 * FMX_SECOND);
  assert_int_equal (guest.last.event, FMX_JOIN_CLIENT_SILENT);
  assert_true (guest.n_sent < 4 * 60);
  room_open (&room, "", 1);
  join (&room, &guest, START + 61 * FMX_SECOND);
}

static void
test_is_back_two_seconds_after_a_mixer_crashed (void **state)
{
  FmxTime now;

  (void) state;
  for (unsigned ms = 0; ms < 500; ms += 7) {
    room_open (&room, "", 1);
    guest_init (&guest, "alice", "", 1, START);
    join (&room, &guest, START);
    now = run (&room, &guest, START + 10 * FMX_SECOND + ms * FMX_MSECOND);
    room_open (&room, "", 2);   /* another one, that knows nobody */
    run (&room, &guest, now + 2 * FMX_SECOND);
    assert_int_equal (room.last.event, FMX_JOIN_MIXER_JOINED);
    assert_int_equal (client_stats (&guest.client).n_joined, 2);
  }
}

static void
test_a_mixer_that_is_back_late_is_found (void **state)
{
  FmxTime now;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  now = run_alone (&guest, START + 30 * FMX_SECOND);
  assert_null (fmx_join_client_keys (&guest.client));
  assert_int_equal (client_stats (&guest.client).n_lost, 1);
  room_open (&room, "", 2);
  run (&room, &guest, now + FMX_SECOND);
  assert_non_null (fmx_join_client_keys (&guest.client));
}

/* Both go on to @until, but HELLOs get lost.  Returns: @until */
static FmxTime
run_deaf (Room * r, Guest * g, FmxTime until)
{
  FmxJoinClientResult mine;
  FmxTime now;

  while ((now = fmx_join_client_next_timeout (&g->client)) <= until)
    while (fmx_join_client_on_timeout (&g->client, &mine, now))
      if (mine.data[4] != FMX_JOIN_HELLO)
        talk (r, g, &mine, now);
  return until;
}

/* A path that was dead for three seconds: the same session, or one that takes
 * its place; never two. */
static void
test_after_an_outage_there_is_one_session (void **state)
{
  FmxTime now = START;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  for (unsigned i = 1; i < 20; i++) {
    now = run_alone (&guest, now + i * 200 * FMX_MSECOND);
    now = run (&room, &guest, now + 2 * FMX_SECOND);
    assert_non_null (fmx_join_client_keys (&guest.client));
    assert_int_equal (mixer_stats (&room.mixer).n_sessions, 1);
    assert_int_equal (mixer_stats (&room.mixer).n_pending, 0);
  }
}

/* Other keys, while the session that there was goes on until they are there; answers to
 * its PINGs do not end the attempt. */
static void
test_a_session_is_renewed_while_it_goes_on (void **state)
{
  FmxJoinKeys before;
  FmxTime now = START;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  fmx_join_client_renew (&guest.client, START); /* of what is not there */
  join (&room, &guest, START);
  for (unsigned i = 1; i < 20; i++) {
    before = *fmx_join_client_keys (&guest.client);
    now = run (&room, &guest, now + 10 * FMX_SECOND + i * 37 * FMX_MSECOND);
    fmx_join_client_renew (&guest.client, now);
    if (i % 2)                  /* nobody answers a HELLO for a while */
      now = run_deaf (&room, &guest, now + i * 100 * FMX_MSECOND);
    assert_memory_equal (&before, fmx_join_client_keys (&guest.client),
        i % 2 ? sizeof before : 0);
    now = run (&room, &guest, now + 4 * FMX_SECOND);
    assert_non_null (fmx_join_client_keys (&guest.client));
    assert_memory_not_equal (&before, fmx_join_client_keys (&guest.client),
        sizeof before);
    assert_int_equal (mixer_stats (&room.mixer).n_sessions, 1);
    assert_int_equal (mixer_stats (&room.mixer).n_pending, 0);
    assert_int_equal (client_stats (&guest.client).n_joined, 1 + i);
  }
  assert_int_equal (client_stats (&guest.client).n_lost, 0);
  assert_int_equal (mixer_stats (&room.mixer).n_timeouts, 0);
}

static void
test_leaves_and_is_gone (void **state)
{
  FmxJoinClientResult bye;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  fmx_join_client_leave (&guest.client, &bye);
  room_hear (&room, &guest.address, bye.data, bye.size, START);
  assert_int_equal (room.last.event, FMX_JOIN_MIXER_LEFT);
  assert_int_equal (room.last.reason, FMX_JOIN_REASON_LEAVE);
  assert_true (fmx_join_client_next_timeout (&guest.client) == FMX_TIME_NONE);
  fmx_join_client_leave (&guest.client, &bye);
  assert_int_equal (bye.size, 0);
}

static void
test_is_sent_away_and_says_why (void **state)
{
  FmxJoinMixerResult bye;
  FmxJoinClientResult result;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  fmx_join_mixer_remove (&room.mixer, join (&room, &guest, START),
      FMX_JOIN_REASON_CLOSED, &bye);
  fmx_join_client_on_datagram (&guest.client, bye.data, bye.size, &result,
      START);
  assert_int_equal (result.event, FMX_JOIN_CLIENT_LEFT);
  assert_int_equal (result.reason, FMX_JOIN_REASON_CLOSED);
  assert_null (fmx_join_client_keys (&guest.client));
}

/* --- who lies on the way -------------------------------------------------- */

static void
test_bytes_that_were_changed_on_the_way_do_nothing (void **state)
{
  FmxJoinClientResult mine;
  FmxJoinMixerResult theirs;

  (void) state;
  for (unsigned step = 0; step < 2; step++)     /* COOKIE, ACCEPT */
    for (unsigned i = 8; i < 100; i += 3) {
      room_open (&room, "sesame", 1);
      guest_init (&guest, "alice", "sesame", 1, START);
      fmx_join_client_on_timeout (&guest.client, &mine, START);
      theirs = *room_hear (&room, &guest.address, mine.data, mine.size, START);
      if (step == 1) {
        fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
            &mine, START);
        theirs = *room_hear (&room, &guest.address, mine.data, mine.size,
            START);
      }
      theirs.data[i] ^= 0x40;
      fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
          &mine, START);
      if (mine.size > 0)        /* another cookie or key: the mixer sees it */
        theirs = *room_hear (&room, &guest.address, mine.data, mine.size,
            START);
      assert_null (fmx_join_client_keys (&guest.client));
      assert_int_equal (mixer_stats (&room.mixer).n_sessions, 0);
    }
}

/* Whoever has not seen the nonce cannot refuse; who is in cannot be thrown out
 * by a refusal at all. */
static void
test_a_refusal_out_of_nowhere_is_not_heard (void **state)
{
  FmxJoinMessage m = {.type = FMX_JOIN_REFUSE };
  FmxJoinClientResult result;
  uint8_t data[FMX_JOIN_MAX_BYTES];
  size_t size;

  (void) state;
  guest_init (&guest, "alice", "", 1, START);
  fmx_join_client_on_timeout (&guest.client, &result, START);
  m.u.refuse.reason = FMX_JOIN_REASON_SECRET;
  size = fmx_join_message_write (&m, data);
  fmx_join_client_on_datagram (&guest.client, data, size, &result, START);
  assert_int_equal (result.event, FMX_JOIN_CLIENT_NOTHING);
  assert_int_equal (client_stats (&guest.client).n_stale, 1);

  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  run_alone (&guest, START + 1500 * FMX_MSECOND);       /* tries anew */
  memcpy (m.u.refuse.nonce, guest.client.nonce, FMX_JOIN_NONCE_BYTES);
  size = fmx_join_message_write (&m, data);
  fmx_join_client_on_datagram (&guest.client, data, size, &result,
      START + 1500 * FMX_MSECOND);
  assert_int_equal (result.event, FMX_JOIN_CLIENT_NOTHING);
  assert_non_null (fmx_join_client_keys (&guest.client));
  assert_true (fmx_join_client_next_timeout (&guest.client) != FMX_TIME_NONE);
}

/* Whatever the guest sends, the mixer has no time.  Returns: how often that is news */
static unsigned
be_busy (Guest * g, FmxTime end)
{
  FmxJoinMessage m = {.type = FMX_JOIN_REFUSE };
  FmxJoinClientResult result;
  uint8_t data[FMX_JOIN_MAX_BYTES];
  unsigned n = 0;
  FmxTime now;

  m.u.refuse.reason = FMX_JOIN_REASON_BUSY;
  while ((now = fmx_join_client_next_timeout (&g->client)) < end)
    if (fmx_join_client_on_timeout (&g->client, &result, now)) {
      memcpy (m.u.refuse.nonce, g->client.nonce, FMX_JOIN_NONCE_BYTES);
      fmx_join_client_on_datagram (&g->client, data,
          fmx_join_message_write (&m, data), &result, now);
      n += result.event == FMX_JOIN_CLIENT_REFUSED
          && result.reason == FMX_JOIN_REASON_BUSY;
    }
  return n;
}

/* Who has no time for a moment is nothing to be told of; who has none for long is. */
static void
test_a_mixer_that_stays_busy_is_told_of (void **state)
{
  (void) state;
  guest_init (&guest, "alice", "", 1, START);
  assert_int_equal (be_busy (&guest, START + 2500 * FMX_MSECOND), 0);
  assert_int_equal (be_busy (&guest, START + 3500 * FMX_MSECOND), 1);
  assert_int_equal (be_busy (&guest, START + 41 * FMX_SECOND), 9);
  guest_init (&guest, "alice", "", 1, START);
  be_busy (&guest, START + 2500 * FMX_MSECOND);
  room_open (&room, "", 1);
  join (&room, &guest, START + 3 * FMX_SECOND);
}

static void
test_its_own_messages_sent_back_do_nothing (void **state)
{
  FmxJoinClientResult mine, answer;
  FmxTime now = START;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  fmx_join_client_on_timeout (&guest.client, &mine, now);
  for (unsigned i = 0; i < 2; i++) {    /* HELLO, JOIN */
    FmxJoinMixerResult theirs;

    fmx_join_client_on_datagram (&guest.client, mine.data, mine.size, &answer,
        now);
    assert_int_equal (answer.size, 0);
    theirs = *room_hear (&room, &guest.address, mine.data, mine.size, now);
    fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
        &mine, now);
  }
  /* a PING, made into a PONG */
  mine.data[4] = FMX_JOIN_PONG;
  fmx_join_client_on_datagram (&guest.client, mine.data, mine.size, &answer,
      now);
  assert_int_equal (client_stats (&guest.client).n_forged, 1);
}

static void
test_a_pong_counts_once (void **state)
{
  FmxJoinClientResult mine, answer;
  FmxJoinMixerResult theirs;
  FmxTime now = START + 600 * FMX_MSECOND;

  (void) state;
  room_open (&room, "", 1);
  guest_init (&guest, "alice", "", 1, START);
  join (&room, &guest, START);
  assert_true (fmx_join_client_on_timeout (&guest.client, &mine, now));
  theirs = *room_hear (&room, &guest.address, mine.data, mine.size, now);
  now += 30 * FMX_MSECOND;
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
      &answer, now);
  assert_true (client_stats (&guest.client).rtt == 30 * FMX_MSECOND);
  for (unsigned i = 0; i < 5; i++)
    fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size,
        &answer, now + FMX_SECOND);
  assert_int_equal (client_stats (&guest.client).n_replayed, 5);
  /* they do not keep a dead session alive */
  assert_true (fmx_join_client_next_timeout (&guest.client) <=
      now + 1200 * FMX_MSECOND);
}

/* Asked, it says where; told, it hears where to; forged or played back, nothing. */
static void
test_wishes_of_its_own_mixer_are_heard_once (void **state)
{
  FmxJoinAddress places[2] = { address (77, 7000), address (78, 7001) };
  FmxJoinClientResult mine;
  FmxJoinMixing mixing = { true, 3, 64000 };
  FmxJoinMixerResult theirs;
  uint32_t session;
  Room room;
  Guest guest;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  guest.client.params.flags |= FMX_JOIN_MAY_MIX | FMX_JOIN_MAY_MOVE;
  session = join (&room, &guest, START);
  fmx_join_mixer_ask (&room.mixer, session, true, &theirs);
  theirs.data[51] ^= 1;
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_NOTHING);
  theirs.data[51] ^= 1;
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_ASKED);
  assert_true (mine.begin);
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_NOTHING);
  assert_int_equal (client_stats (&guest.client).n_forged, 1);
  assert_int_equal (client_stats (&guest.client).n_replayed, 1);

  fmx_join_client_answer (&guest.client, &mixing, places, 2, &mine);
  fmx_join_mixer_on_datagram (&room.mixer, &guest.address, mine.data, mine.size,
      &theirs, START);
  assert_int_equal (theirs.event, FMX_JOIN_MIXER_MIXES);
  assert_true (theirs.mixes);
  assert_int_equal (theirs.n_below, 3);
  assert_int_equal (theirs.least_bps, 64000);
  assert_int_equal (theirs.n_places, 3);
  assert_true (fmx_join_address_same (&theirs.places[1], &places[1]));
  assert_true (fmx_join_address_same (&theirs.places[2], &guest.address));

  fmx_join_mixer_move (&room.mixer, session, places, 2, &theirs);
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_MOVE);
  assert_int_equal (mine.n_places, 2);
  assert_true (fmx_join_address_same (&mine.places[0], &places[0]));
  fmx_join_client_part (&guest.client, &mine);
  fmx_join_mixer_on_datagram (&room.mixer, &guest.address, mine.data, mine.size,
      &theirs, START);
  assert_int_equal (theirs.event, FMX_JOIN_MIXER_LEFT);
  assert_int_equal (theirs.reason, FMX_JOIN_REASON_MOVED);
}

/* Who did not say that it is willing is not believed, and does not listen. */
static void
test_who_is_not_willing_neither_mixes_nor_moves (void **state)
{
  FmxJoinAddress place = address (77, 7000);
  FmxJoinClientResult mine;
  FmxJoinMixing mixing = { true, 0, 0 };
  FmxJoinMixerResult theirs;
  uint32_t session;
  Room room;
  Guest guest;

  (void) state;
  room_open (&room, "sesame", 1);
  guest_init (&guest, "alice", "sesame", 1, START);
  session = join (&room, &guest, START);
  fmx_join_mixer_ask (&room.mixer, session, true, &theirs);
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_NOTHING);
  fmx_join_mixer_move (&room.mixer, session, &place, 1, &theirs);
  fmx_join_client_on_datagram (&guest.client, theirs.data, theirs.size, &mine,
      START);
  assert_int_equal (mine.event, FMX_JOIN_CLIENT_NOTHING);
  fmx_join_client_answer (&guest.client, &mixing, &place, 1, &mine);
  fmx_join_mixer_on_datagram (&room.mixer, &guest.address, mine.data, mine.size,
      &theirs, START);
  assert_int_equal (theirs.event, FMX_JOIN_MIXER_NOTHING);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_joins_in_two_round_trips_and_both_have_the_same_keys),
    cmocka_unit_test (test_stays_in_as_long_as_both_are_there),
    cmocka_unit_test (test_a_wrong_secret_is_refused_for_good),
    cmocka_unit_test (test_an_open_room_is_not_a_room_with_a_secret),
    cmocka_unit_test (test_says_when_nobody_answers_and_goes_on_trying),
    cmocka_unit_test (test_is_back_two_seconds_after_a_mixer_crashed),
    cmocka_unit_test (test_a_mixer_that_is_back_late_is_found),
    cmocka_unit_test (test_after_an_outage_there_is_one_session),
    cmocka_unit_test (test_a_session_is_renewed_while_it_goes_on),
    cmocka_unit_test (test_leaves_and_is_gone),
    cmocka_unit_test (test_is_sent_away_and_says_why),
    cmocka_unit_test (test_bytes_that_were_changed_on_the_way_do_nothing),
    cmocka_unit_test (test_a_refusal_out_of_nowhere_is_not_heard),
    cmocka_unit_test (test_a_mixer_that_stays_busy_is_told_of),
    cmocka_unit_test (test_its_own_messages_sent_back_do_nothing),
    cmocka_unit_test (test_a_pong_counts_once),
    cmocka_unit_test (test_wishes_of_its_own_mixer_are_heard_once),
    cmocka_unit_test (test_who_is_not_willing_neither_mixes_nor_moves),
  };

  return cmocka_run_group_tests_name ("join/client", tests, NULL, NULL);
}
