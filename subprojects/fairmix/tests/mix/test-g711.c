/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "fmx-test.h"

#include "fairmix/mix/fmx-g711.h"

/* [G.711 tables 2a, 2b] the highest code of each segment, positive: decoder
 * output y = (2 step + 33) 2^segment - 33, times 4 for 16 bits */
static void
test_ulaw_segments_end_where_the_table_says (void **state)
{
  const struct
  {
    uint8_t code;
    int16_t value;
  } table[] = {
    {0x80, 8031 * 4}, {0x8f, 4191 * 4}, {0x9f, 2079 * 4}, {0xaf, 1023 * 4},
    {0xbf, 495 * 4}, {0xcf, 231 * 4}, {0xdf, 99 * 4}, {0xef, 33 * 4},
    {0xfe, 2 * 4}, {0xff, 0},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    uint8_t negative_code = table[i].code & 0x7f;
    int16_t value;

    fmx_g711_ulaw_decode (&value, &table[i].code, 1);
    assert_int_equal (value, table[i].value);
    fmx_g711_ulaw_decode (&value, &negative_code, 1);
    assert_int_equal (value, -table[i].value);
  }
}

/* [G.711 table 1a] decoder output of the first code of each segment, times 8
 * for 16 bits; even bits inverted */
static void
test_alaw_segments_begin_where_the_table_says (void **state)
{
  const struct
  {
    uint8_t code;
    int16_t value;
  } table[] = {
    {0x80, 1 * 8}, {0x90, 33 * 8}, {0xa0, 66 * 8}, {0xb0, 132 * 8},
    {0xc0, 264 * 8}, {0xd0, 528 * 8}, {0xe0, 1056 * 8}, {0xf0, 2112 * 8},
    {0xff, 4032 * 8},
  };

  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (table); i++) {
    uint8_t code = table[i].code ^ 0x55;
    uint8_t negative_code = (table[i].code & 0x7f) ^ 0x55;
    int16_t value;

    fmx_g711_alaw_decode (&value, &code, 1);
    assert_int_equal (value, table[i].value);
    fmx_g711_alaw_decode (&value, &negative_code, 1);
    assert_int_equal (value, -table[i].value);
  }
}

static void
test_all_codes_survive_a_round_trip (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 256; i++) {
    uint8_t code = (uint8_t) i, again;
    int16_t value;

    fmx_g711_alaw_decode (&value, &code, 1);
    fmx_g711_alaw_encode (&again, &value, 1);
    assert_int_equal (again, code);
    fmx_g711_ulaw_decode (&value, &code, 1);
    fmx_g711_ulaw_encode (&again, &value, 1);
    /* mu-law has two zeros; linear samples have one. */
    assert_int_equal (again, code == 0x7f ? 0xff : code);
  }
}

/* [G.711 tables, note: y = (x_n + x_n+1) / 2] each code stands for an interval
 * of samples; what it decodes to is the middle. */
static void
check_intervals (void (*encode) (uint8_t *, const int16_t *, size_t),
    void (*decode) (int16_t *, const uint8_t *, size_t), uint8_t toggle)
{
  int lowest[256], highest[256];
  int16_t previous = INT16_MIN;

  for (unsigned i = 0; i < 256; i++) {
    lowest[i] = INT16_MAX;
    highest[i] = INT16_MIN;
  }
  for (int x = INT16_MIN; x <= INT16_MAX; x++) {
    int16_t sample = (int16_t) x, value;
    uint8_t code;

    encode (&code, &sample, 1);
    decode (&value, &code, 1);
    assert_true (value >= previous);
    previous = value;
    if (x < lowest[code])
      lowest[code] = x;
    highest[code] = x;
  }
  for (unsigned i = 0; i < 256; i++) {
    uint8_t code = (uint8_t) i;
    unsigned bits = (code ^ toggle) & 0x7f;
    int16_t value;

    if (toggle == 0xff && bits == 0)
      continue;                 /* mu-law: zero has half an interval a side */
    decode (&value, &code, 1);
    if (bits == 0x7f)           /* and the last one goes on for ever */
      assert_in_range (abs (value), 1, value < 0 ? -lowest[i] : highest[i]);
    else if (abs (lowest[i] + highest[i] - 2 * value) > 1)
      fail_msg ("code %u: %d ... %d became %d", i, lowest[i], highest[i],
          value);
  }
}

static void
test_ulaw_decodes_to_the_middle_of_what_it_encodes (void **state)
{
  const int16_t decisions[] = { 3, 4, -3, -4 };
  uint8_t codes[4];

  (void) state;
  check_intervals (fmx_g711_ulaw_encode, fmx_g711_ulaw_decode, 0xff);
  /* [G.711 table 2a] the first decision value is 1, times 4 for 16 bits */
  fmx_g711_ulaw_encode (codes, decisions, 4);
  assert_int_equal (codes[0], 0xff);
  assert_int_equal (codes[1], 0xfe);
  assert_int_equal (codes[2], 0x7f);
  assert_int_equal (codes[3], 0x7e);
}

static void
test_alaw_decodes_to_the_middle_of_what_it_encodes (void **state)
{
  (void) state;
  check_intervals (fmx_g711_alaw_encode, fmx_g711_alaw_decode, 0x55);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_ulaw_segments_end_where_the_table_says),
    cmocka_unit_test (test_alaw_segments_begin_where_the_table_says),
    cmocka_unit_test (test_all_codes_survive_a_round_trip),
    cmocka_unit_test (test_ulaw_decodes_to_the_middle_of_what_it_encodes),
    cmocka_unit_test (test_alaw_decodes_to_the_middle_of_what_it_encodes),
  };

  return cmocka_run_group_tests_name ("mix/g711", tests, NULL, NULL);
}
