/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/mix/fmx-voice-level.h"

#define FRAME (20 * FMX_MSECOND)
#define FRAMES_PER_S 50

static FmxVoiceLevel level;
static uint32_t random_state;

static int
setup (void **state)
{
  FmxVoiceLevelParams params;

  (void) state;
  fmx_voice_level_params_default (&params);
  fmx_voice_level_init (&level, &params);
  random_state = 1;
  return 0;
}

/* 0 ... 1 */
static double
drawn (void)
{
  random_state = random_state * 1664525u + 1013904223u;
  return (double) (random_state >> 8) / 16777216.0;
}

/* Frame @i of somebody who speaks at @dbov, with @noise_dbov between the words:
 * syllables of 200 ms that go over 20 dB, a pause of a second after three. */
static double
speech (unsigned i, double dbov, double noise_dbov)
{
  double syllable = 20.0 * fabs (sin (3.14159265358979 * i / 10.0)) - 15.5;
  double at = i % 200 < 150 ? dbov + syllable : noise_dbov;

  return fmax (at, noise_dbov) + drawn () - 0.5;
}

/* Of what speech() makes: P.56 measures the frames within 15.9 dB of their mean. */
static double
active_level (double dbov)
{
  double sum = 0.0;
  unsigned n = 0;

  for (unsigned i = 0; i < 150; i++)
    if (speech (i, dbov, -96.0) > dbov - 15.9) {
      sum += pow (10.0, speech (i, dbov, -96.0) / 10.0);
      n++;
    }
  return 10.0 * log10 (sum / n);
}

/* @seconds of it; returns the largest step of the gain between two frames */
static double
talk (unsigned seconds, double dbov, double noise_dbov)
{
  double largest = 0.0;

  for (unsigned i = 0; i < seconds * FRAMES_PER_S; i++) {
    double before = fmx_voice_level_gain_db (&level);

    largest = fmax (largest, fabs (fmx_voice_level_on_frame (&level,
                speech (i, dbov, noise_dbov), FRAME) - before));
  }
  return largest;
}

static void
hum (unsigned seconds, double dbov)
{
  for (unsigned i = 0; i < seconds * FRAMES_PER_S; i++)
    fmx_voice_level_on_frame (&level, dbov + 3.0 * (drawn () - 0.5), FRAME);
}

static void
assert_at_target (double dbov)
{
  double out = active_level (dbov) + fmx_voice_level_gain_db (&level);

  if (fabs (out + 26.0) > 1.5)
    fail_msg ("%.1f dBov came out at %.2f", dbov, out);
}

/* From silent to loud, in eight seconds of sound, six of them speech */
static void
test_all_voices_come_out_at_the_target (void **state)
{
  for (double dbov = -50.0; dbov <= -15.0; dbov += 5.0) {
    setup (state);
    assert_true (talk (8, dbov, -80.0) <= 0.81);
    assert_at_target (dbov);
    assert_true (fabs (fmx_voice_level_speech_dbov (&level)
            - active_level (dbov)) < 1.0);
    /* and stay there */
    assert_true (talk (60, dbov, -80.0) <= 0.81);
    assert_at_target (dbov);
  }
}

/* Whatever the noise: also one that begins, and one behind silence (DTX). */
static void
test_noise_is_not_raised (void **state)
{
  for (double dbov = -75.0; dbov <= -35.0; dbov += 10.0) {
    setup (state);
    hum (10, -80.0);
    /* in the middle of what is judged at a time */
    for (unsigned i = 0; i < FRAMES_PER_S / 2; i++)
      fmx_voice_level_on_frame (&level, -80.0, FRAME);
    hum (20, dbov);
    hum (10, -127.0);
    hum (20, dbov);
    assert_true (isnan (fmx_voice_level_speech_dbov (&level)));
    assert_true (fmx_voice_level_gain_db (&level) == 0.0);
  }
}

/* A voice that is only 15 dB above its noise cannot be made louder than that. */
static void
test_noise_between_words_stays_below_its_limit (void **state)
{
  (void) state;
  talk (40, -50.0, -65.0);
  assert_true (fmx_voice_level_gain_db (&level) >= 18.0);
  assert_true (fmx_voice_level_gain_db (&level) <= 21.0);
  setup (state);
  talk (40, -50.0, -60.0);
  assert_true (fmx_voice_level_gain_db (&level) <= 16.0);
}

static void
test_what_is_learnt_stays_in_noise_and_silence (void **state)
{
  double gain;

  (void) state;
  talk (20, -40.0, -80.0);
  gain = fmx_voice_level_gain_db (&level);
  hum (60, -127.0);
  assert_true (fmx_voice_level_gain_db (&level) == gain);
  hum (60, -78.0);
  assert_true (fabs (fmx_voice_level_gain_db (&level) - gain) < 0.5);
}

/* Far too loud after all: at once; and another one at the same microphone. */
static void
test_a_shout_is_brought_down_at_once (void **state)
{
  (void) state;
  talk (20, -50.0, -90.0);
  assert_true (fmx_voice_level_gain_db (&level) > 20.0);
  talk (1, -15.0, -90.0);
  assert_true (fmx_voice_level_gain_db (&level) < 2.0);
}

static void
test_another_one_at_the_microphone_is_met_in_ten_seconds (void **state)
{
  (void) state;
  talk (60, -20.0, -80.0);
  talk (12, -45.0, -80.0);
  assert_at_target (-45.0);
}

static void
test_the_bounds_hold (void **state)
{
  (void) state;
  talk (60, -60.0, -94.0);
  assert_true (fmx_voice_level_gain_db (&level) == 24.0);
  setup (state);
  talk (60, -4.0, -80.0);
  assert_true (fmx_voice_level_gain_db (&level) >= -24.0);
  assert_true (fmx_voice_level_gain_db (&level) <= -17.0);
}

static void
test_frames_of_no_length_are_ignored (void **state)
{
  (void) state;
  assert_true (fmx_voice_level_on_frame (&level, -20.0, 0) == 0.0);
  assert_true (fmx_voice_level_on_frame (&level, -20.0, 2 * FMX_SECOND) == 0.0);
  assert_true (fmx_voice_level_on_frame (&level, 3.0, FRAME) == 0.0 ||
      fmx_voice_level_gain_db (&level) < 0.0);
}

static void
test_a_level_is_that_of_its_energy (void **state)
{
  (void) state;
  assert_true (fmx_voice_level_of_energy (0, 960) == -127.0);
  assert_true (fmx_voice_level_of_energy (1, 0) == -127.0);
  assert_true (fabs (fmx_voice_level_of_energy (UINT64_C (32768) * 32768 / 100,
              1) + 20.0) < 1e-6);
}

/* What is raised beyond 16 bits is as loud when it is added so often. */
static void
test_raised_samples_fit (void **state)
{
  const int16_t in[] = { 100, -100, 20000, -32767, 1, 0, 0, 32767 };
  int16_t out[8];
  uint32_t weight;

  (void) state;
  memcpy (out, in, sizeof out);
  assert_int_equal (fmx_voice_level_scale (out, 8, 0.0, 0.0, 8), 1);
  assert_memory_equal (out, in, sizeof out);

  weight = fmx_voice_level_scale (out, 8, 20.0, 20.0, 16);
  assert_int_equal (weight, 16);
  for (int i = 0; i < 8; i++)
    assert_true (abs ((int) weight * out[i] - 10 * in[i]) <= (int) weight);

  memcpy (out, in, sizeof out);
  assert_int_equal (fmx_voice_level_scale (out, 2, 20.0, 20.0, 16), 1);
  assert_int_equal (out[0], 1000);
  memcpy (out, in, sizeof out);
  assert_int_equal (fmx_voice_level_scale (out, 8, 0.0, -6.0206, 8), 1);
  assert_int_equal (out[2], 17500);
  memcpy (out, in, sizeof out);
  assert_int_equal (fmx_voice_level_scale (out, 8, 20.0, 20.0, 2), 2);
  assert_int_equal (out[2], INT16_MAX);
  assert_int_equal (out[3], INT16_MIN);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup (test_all_voices_come_out_at_the_target, setup),
    cmocka_unit_test_setup (test_noise_is_not_raised, setup),
    cmocka_unit_test_setup (test_noise_between_words_stays_below_its_limit,
        setup),
    cmocka_unit_test_setup (test_what_is_learnt_stays_in_noise_and_silence,
        setup),
    cmocka_unit_test_setup (test_a_shout_is_brought_down_at_once, setup),
    cmocka_unit_test_setup
        (test_another_one_at_the_microphone_is_met_in_ten_seconds, setup),
    cmocka_unit_test_setup (test_the_bounds_hold, setup),
    cmocka_unit_test_setup (test_frames_of_no_length_are_ignored, setup),
    cmocka_unit_test (test_a_level_is_that_of_its_energy),
    cmocka_unit_test (test_raised_samples_fit),
  };

  return cmocka_run_group_tests_name ("mix/voice-level", tests, NULL, NULL);
}
