/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

static FmxJoinMessage
message_of (FmxJoinType type, FmxRng *rng)
{
  FmxJoinMessage m;
  uint8_t *bytes = (uint8_t *) &m.u;

  memset (&m, 0, sizeof m);
  m.type = type;
  for (size_t i = 0; i < sizeof m.u; i++)
    bytes[i] = (uint8_t) fmx_rng_next (rng);
  if (type == FMX_JOIN_JOIN)
    fmx_join_name_copy (m.u.join.name, "J\xc3\xb6rg \xf0\x9f\x8e\xa7");
  if (type == FMX_JOIN_MIXES || type == FMX_JOIN_MOVE) {
    m.u.places.n = fmx_rng_next (rng) % (FMX_JOIN_PLACES + 1);
    for (unsigned i = 0; i < FMX_JOIN_PLACES; i++)
      if (i < m.u.places.n)
        m.u.places.places[i].port |= 1;
      else
        memset (&m.u.places.places[i], 0, sizeof m.u.places.places[i]);
  }
  return m;
}

static void
test_each_message_says_the_same_after_its_way (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 1);
  for (unsigned round = 0; round < 200; round++)
    for (FmxJoinType type = FMX_JOIN_HELLO; type <= FMX_JOIN_MOVE; type++) {
      FmxJoinMessage m = message_of (type, &rng), again;
      uint8_t a[FMX_JOIN_MAX_BYTES], b[FMX_JOIN_MAX_BYTES];
      size_t size = fmx_join_message_write (&m, a);

      assert_int_equal (size, fmx_join_message_bytes (type));
      assert_true (size <= FMX_JOIN_MAX_BYTES);
      assert_true (fmx_join_message_is (a, size));
      assert_int_equal (fmx_join_message_parse (&again, a, size),
          FMX_JOIN_VALID);
      assert_int_equal (again.type, type);
      assert_int_equal (fmx_join_message_write (&again, b), size);
      assert_memory_equal (a, b, size);
    }
}

/* The table of docs/algorithms/join.md, by hand */
static void
test_a_ping_is_where_the_page_says (void **state)
{
  FmxJoinMessage m = {.type = FMX_JOIN_PING };
  uint8_t data[FMX_JOIN_MAX_BYTES];
  const uint8_t expected[68] = { 'd', 'p', 'm', 1, 6, 0, 0, 68,
    0, 0, 0, 0, 0, 0, 0, 0x11, 0x22, 0, 0, 0, 0, 0, 0, 0x22,
    0, 0, 0, 0, 0, 0, 0, 0x33, 0, 0, 0, 0, 0, 0, 0, 0x44,
    0, 0, 0, 0, 0, 0, 0, 0x55, 0, 3, 0, 6,
    9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
  };

  (void) state;
  m.u.control.session = 0x11;
  m.u.control.counter = 0x2200000000000022;
  m.u.control.echo = 0x33;
  m.u.control.path = 0x44;
  m.u.control.root = 0x55;
  m.u.control.depth = 3;
  m.u.control.reason = 6;
  m.u.control.tag[0] = 9;
  assert_int_equal (fmx_join_message_write (&m, data), sizeof expected);
  assert_memory_equal (data, expected, sizeof expected);
}

/* Likewise */
static void
test_a_place_is_where_the_page_says (void **state)
{
  FmxJoinMessage m = {.type = FMX_JOIN_MOVE };
  FmxJoinAddress places[6] = { address (1, 0), address (2, 0x1234),
    {{0xfe, 0x80,[15] = 3}, 5000, 7}
  };
  uint8_t data[FMX_JOIN_MAX_BYTES];
  const uint8_t ip[16] = {[10] = 0xff,[11] = 0xff, 10, 0, 0, 2 };

  (void) state;
  /* not those without a port, or of a link that only we know */
  fmx_join_places_set (&m.u.places, places, 6);
  m.u.places.control.tag[0] = 9;
  m.u.places.n_below = 7;
  assert_int_equal (fmx_join_message_write (&m, data), 144);
  assert_int_equal (data[4], 11);
  assert_int_equal (data[52] << 8 | data[53], 1);
  assert_int_equal (data[54] << 8 | data[55], 7);
  assert_memory_equal (data + 56, ip, sizeof ip);
  assert_int_equal (data[72] << 8 | data[73], 0x1234);
  assert_int_equal (data[128], 9);
  for (unsigned i = 0; i < 6; i++)
    places[i] = address (i, 5000 + i);
  fmx_join_places_set (&m.u.places, places, 6);
  assert_int_equal (m.u.places.n, FMX_JOIN_PLACES);
}

static void
test_places_that_are_none_are_refused (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 4);
  for (unsigned round = 0; round < 100; round++)
    for (unsigned wrong = 0; wrong < 3; wrong++) {
      FmxJoinMessage m = message_of (FMX_JOIN_MOVE, &rng), got;
      unsigned n = m.u.places.n;
      uint8_t data[FMX_JOIN_MAX_BYTES];

      if (wrong == 0)
        m.u.places.n = (uint16_t) (FMX_JOIN_PLACES + 1 + round);
      else if (wrong == 1 && n > 0)
        m.u.places.places[n - 1].port = 0;
      else if (wrong == 2 && n < FMX_JOIN_PLACES)
        m.u.places.places[n].ip[round % 16] = 1;
      else
        continue;
      assert_int_equal (fmx_join_message_parse (&got, data,
              fmx_join_message_write (&m, data)), FMX_JOIN_INVALID);
    }
}

/* Nobody can make a mixer send more than was sent to it. */
static void
test_no_answer_is_longer_than_its_question (void **state)
{
  (void) state;
  assert_true (fmx_join_message_bytes (FMX_JOIN_COOKIE)
      <= fmx_join_message_bytes (FMX_JOIN_HELLO));
  assert_true (fmx_join_message_bytes (FMX_JOIN_REFUSE)
      <= fmx_join_message_bytes (FMX_JOIN_HELLO));
  assert_true (fmx_join_message_bytes (FMX_JOIN_ACCEPT)
      <= fmx_join_message_bytes (FMX_JOIN_JOIN));
  assert_true (fmx_join_message_bytes (FMX_JOIN_PONG)
      <= fmx_join_message_bytes (FMX_JOIN_PING));
}

static void
test_other_lengths_types_and_flags_are_refused (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES + 8] = { 0 };
  FmxJoinMessage m;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 2);
  for (FmxJoinType type = FMX_JOIN_HELLO; type <= FMX_JOIN_MOVE; type++) {
    FmxJoinMessage from = message_of (type, &rng);
    size_t size = fmx_join_message_write (&from, data);

    for (size_t n = 0; n < size + 8; n++)
      if (n != size)
        assert_int_equal (fmx_join_message_parse (&m, data, n),
            FMX_JOIN_INVALID);
    data[7] ^= 1;
    assert_int_equal (fmx_join_message_parse (&m, data, size),
        FMX_JOIN_INVALID);
    data[7] ^= 1;
    data[5] = 1;
    assert_int_equal (fmx_join_message_parse (&m, data, size),
        FMX_JOIN_INVALID);
    data[5] = 0;
    for (unsigned t = 0; t < 256; t++)
      if (fmx_join_message_bytes ((FmxJoinType) t) != size) {
        data[4] = (uint8_t) t;
        assert_int_equal (fmx_join_message_parse (&m, data, size),
            FMX_JOIN_INVALID);
      }
  }
}

/* [RFC7983 7] */
static void
test_rtp_stun_and_dtls_are_none_of_ours (void **state)
{
  uint8_t data[FMX_JOIN_MAX_BYTES] = { 0, 'p', 'm', 1 };

  (void) state;
  for (unsigned first = 0; first < 256; first++) {
    data[0] = (uint8_t) first;
    assert_int_equal (fmx_join_message_is (data, sizeof data), first == 'd');
  }
}

static void
test_of_another_version_only_a_hello_is_understood (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  for (FmxJoinType type = FMX_JOIN_HELLO; type <= FMX_JOIN_MOVE; type++) {
    FmxJoinMessage m = message_of (type, &rng), got;
    uint8_t data[FMX_JOIN_MAX_BYTES + 100] = { 0 };
    size_t size = fmx_join_message_write (&m, data);

    data[3] = FMX_JOIN_VERSION + 1;
    assert_int_equal (fmx_join_message_parse (&got, data, size),
        type == FMX_JOIN_HELLO ? FMX_JOIN_OTHER_VERSION : FMX_JOIN_INVALID);
    if (type == FMX_JOIN_HELLO)
      assert_memory_equal (got.u.hello.nonce, m.u.hello.nonce,
          FMX_JOIN_NONCE_BYTES);
  }
}

static bool
name_parses (const char *name, size_t size)
{
  FmxJoinMessage m = {.type = FMX_JOIN_JOIN }, got;
  uint8_t data[FMX_JOIN_MAX_BYTES];

  memcpy (m.u.join.name, name, size);
  return fmx_join_message_parse (&got, data, fmx_join_message_write (&m,
          data)) == FMX_JOIN_VALID;
}

static void
test_names_are_utf8_without_control_characters (void **state)
{
  static const struct
  {
    const char *name;
    bool good;
  } rows[] = {
    {"", true}, {"alice", true}, {"J\xc3\xb6rg", true}, {"\xe2\x82\xac", true},
    {"\xf0\x9f\x8e\xa7", true}, {"a\nb", false}, {"\x1b[2J", false},
    {"\x7f", false}, {"\xc2\x85", false}, {"\xc0\xaf", false},
    {"\xc3", false}, {"\xed\xa0\x80", false}, {"\xe0\x80\xaf", false},
    {"\xf4\x90\x80\x80", false}, {"\xff", false}, {"\x80", false},
  };
  char full[FMX_JOIN_NAME_BYTES + 1], copy[FMX_JOIN_NAME_BYTES + 1];

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (rows); i++) {
    assert_int_equal (name_parses (rows[i].name, strlen (rows[i].name)),
        rows[i].good);
    fmx_join_name_copy (copy, rows[i].name);
    assert_true (name_parses (copy, sizeof copy));
    if (rows[i].good)
      assert_string_equal (copy, rows[i].name);
  }
  memset (full, 'x', sizeof full);
  assert_false (name_parses (full, sizeof full));
  full[FMX_JOIN_NAME_BYTES] = 0;
  assert_true (name_parses (full, sizeof full));
  full[10] = 0;                 /* something behind the end */
  assert_false (name_parses (full, sizeof full));
  fmx_join_name_copy (copy, NULL);
  assert_string_equal (copy, "");
}

static void
test_a_name_that_is_too_long_loses_whole_characters (void **state)
{
  char copy[FMX_JOIN_NAME_BYTES + 1], many[200] = "";

  (void) state;
  for (unsigned i = 0; i < 40; i++)
    strcat (many, "\xe2\x82\xac");
  fmx_join_name_copy (copy, many);
  assert_int_equal (strlen (copy), 63);
  assert_true (name_parses (copy, sizeof copy));
  many[0] = 'x';                /* and the rest of that character is nothing */
  fmx_join_name_copy (copy, many);
  assert_int_equal (strlen (copy), 61);
  assert_true (name_parses (copy, sizeof copy));
}

static void
test_reasons_have_names (void **state)
{
  (void) state;
  assert_string_equal (fmx_join_reason_name (FMX_JOIN_REASON_SECRET), "secret");
  assert_string_equal (fmx_join_reason_name (FMX_JOIN_REASON_CLOSED), "closed");
  assert_string_equal (fmx_join_reason_name (65535), "unknown");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_each_message_says_the_same_after_its_way),
    cmocka_unit_test (test_a_ping_is_where_the_page_says),
    cmocka_unit_test (test_a_place_is_where_the_page_says),
    cmocka_unit_test (test_places_that_are_none_are_refused),
    cmocka_unit_test (test_no_answer_is_longer_than_its_question),
    cmocka_unit_test (test_other_lengths_types_and_flags_are_refused),
    cmocka_unit_test (test_rtp_stun_and_dtls_are_none_of_ours),
    cmocka_unit_test (test_of_another_version_only_a_hello_is_understood),
    cmocka_unit_test (test_names_are_utf8_without_control_characters),
    cmocka_unit_test (test_a_name_that_is_too_long_loses_whole_characters),
    cmocka_unit_test (test_reasons_have_names),
  };

  return cmocka_run_group_tests_name ("join/message", tests, NULL, NULL);
}
