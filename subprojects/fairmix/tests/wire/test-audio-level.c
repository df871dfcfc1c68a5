/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fmx-test.h"

#include "fairmix/wire/fmx-audio-level.h"

static void
test_level_and_voice_survive_a_round_trip (void **state)
{
  (void) state;
  for (unsigned i = 0; i < 256; i++) {
    uint8_t byte = 0xee, level = 0xee;
    bool voice = false;

    assert_int_equal (fmx_audio_level_write (&byte, 1, (uint8_t) (i & 127),
            i >= 128), 1);
    assert_int_equal (byte, i);
    assert_true (fmx_audio_level_parse (&byte, 1, &level, &voice));
    assert_int_equal (level, i & 127);
    assert_int_equal (voice, i >= 128);
  }
}

/* [RFC6464 3] V in the highest bit, -dBov in the other seven */
static void
test_bytes_are_those_of_the_rfc (void **state)
{
  uint8_t byte;

  (void) state;
  fmx_audio_level_write (&byte, 1, 0, true);
  assert_int_equal (byte, 0x80);
  fmx_audio_level_write (&byte, 1, 127, false);
  assert_int_equal (byte, 0x7f);
}

static void
test_levels_beyond_silence_are_written_as_silence (void **state)
{
  const uint8_t levels[2] = { 200, 128 };
  uint8_t data[2];

  (void) state;
  fmx_audio_level_write (data, 1, 255, false);
  assert_int_equal (data[0], 127);
  assert_int_equal (fmx_csrc_audio_levels_write (data, 2, levels, 2), 2);
  assert_int_equal (data[0], 127);
  assert_int_equal (data[1], 127);
}

static void
test_other_sizes_are_not_a_level (void **state)
{
  const uint8_t data[4] = { 1, 2, 3, 4 };
  uint8_t level = 99, none;
  bool voice;

  (void) state;
  assert_false (fmx_audio_level_parse (data, 0, &level, &voice));
  for (size_t size = 2; size <= 4; size++)
    assert_false (fmx_audio_level_parse (data, size, &level, &voice));
  assert_int_equal (level, 99);
  assert_int_equal (fmx_audio_level_write (&none, 0, 1, false), 0);
}

static void
test_csrc_levels_survive_a_round_trip (void **state)
{
  uint8_t in[FMX_CSRC_MAX], out[FMX_CSRC_MAX], data[FMX_CSRC_MAX];

  (void) state;
  for (size_t n = 1; n <= FMX_CSRC_MAX; n++) {
    for (size_t i = 0; i < n; i++)
      in[i] = (uint8_t) ((i * 37 + n) % 128);
    assert_int_equal (fmx_csrc_audio_levels_write (data, n, in, n), n);
    assert_int_equal (fmx_csrc_audio_levels_write (data, n - 1, in, n), 0);
    memset (out, 0xee, sizeof out);
    assert_int_equal (fmx_csrc_audio_levels_parse (data, n, out, n), n);
    assert_memory_equal (in, out, n);
    assert_int_equal (fmx_csrc_audio_levels_parse (data, n, out, n - 1), 0);
  }
}

static void
test_no_csrc_and_sixteen_csrcs_are_refused (void **state)
{
  uint8_t data[32] = { 0 }, levels[32] = { 0 };

  (void) state;
  assert_int_equal (fmx_csrc_audio_levels_write (data, 32, levels, 0), 0);
  assert_int_equal (fmx_csrc_audio_levels_write (data, 32, levels, 16), 0);
  assert_int_equal (fmx_csrc_audio_levels_parse (data, 0, levels, 32), 0);
  assert_int_equal (fmx_csrc_audio_levels_parse (data, 16, levels, 32), 0);
}

/* [RFC6465 3] the first bit is reserved */
static void
test_the_reserved_bit_is_ignored (void **state)
{
  const uint8_t data[2] = { 0x80 | 5, 0xff };
  uint8_t levels[2];

  (void) state;
  assert_int_equal (fmx_csrc_audio_levels_parse (data, 2, levels, 2), 2);
  assert_int_equal (levels[0], 5);
  assert_int_equal (levels[1], 127);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_level_and_voice_survive_a_round_trip),
    cmocka_unit_test (test_bytes_are_those_of_the_rfc),
    cmocka_unit_test (test_levels_beyond_silence_are_written_as_silence),
    cmocka_unit_test (test_other_sizes_are_not_a_level),
    cmocka_unit_test (test_csrc_levels_survive_a_round_trip),
    cmocka_unit_test (test_no_csrc_and_sixteen_csrcs_are_refused),
    cmocka_unit_test (test_the_reserved_bit_is_ignored),
  };

  return cmocka_run_group_tests_name ("wire/audio-level", tests, NULL, NULL);
}
