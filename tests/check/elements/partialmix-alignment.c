/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A voice that moves between separate and mixed: where it stands for who listens, and
 * whether anything of it is missing, heard twice, or of another loudness. */

#include <math.h>

#include "fairmix/wire/fmx-contributor-time.h"

#include "voicechain.h"

#define MS (RIG_RATE / 1000)
#define FURTHEST (300 * MS)
#define QUIET 250.0             /* RMS of 5 ms of a pause */
#define SECOND 50               /* frames */

#define L16 "mix-encoding=l16"
/* enough for the waveform: below 64 kbit/s a mix is coded as speech */
#define OPUS "max-mix-bitrate=96000"

/* What was heard in one run */
typedef struct
{
  VoiceChain *chain;
  gdouble *heard;
  guint n;
} Ear;

static void
ear_listen (Ear * ear, VoiceChain * chain)
{
  ear->chain = chain;
  ear->heard = voice_chain_hear (chain, &ear->n);
}

static void
ear_clear (Ear * ear)
{
  g_free (ear->heard);
  voice_chain_free (ear->chain);
}

/* Whether nothing is said in the @n samples from @at on, or it begins or ends there */
static gboolean
is_pause (const gdouble * samples, guint at, guint n)
{
  for (guint end = at + n; at < end; at += 5 * MS) {
    gdouble energy = 0.0;

    for (guint i = 0; i < 5 * MS; i++)
      energy += samples[at + i] * samples[at + i];
    if (energy < 5 * MS * QUIET * QUIET)
      return TRUE;
  }
  return FALSE;
}

/* How alike heard[at ...] and said[at - lag ...] are, 0 ... 1, of each @step-th sample, and
 * @db: how much louder the former */
static void
compare (const Ear * ear, guint at, guint n, guint step, guint lag,
    gdouble * likeness, gdouble * db)
{
  gdouble xy = 0.0, xx = 1.0, yy = 1.0;

  for (guint i = at; i < at + n; i += step) {
    gdouble x = ear->heard[i], y = ear->chain->said[i - lag];

    xy += x * y;
    xx += x * x;
    yy += y * y;
  }
  *likeness = xy / sqrt (xx * yy);
  *db = 10.0 * log10 (xx / yy);
}

/* Returns: how much later the voice is heard than said at @frame, in ms */
static gdouble
find_lag (const Ear * ear, guint frame)
{
  gdouble best = 0.0, likeness, db;
  guint found = 0;

  while (is_pause (ear->heard, frame * RIG_FRAME, 2 * RIG_FRAME))
    frame++;
  for (guint lag = 0; lag < FURTHEST; lag += 4) {
    compare (ear, frame * RIG_FRAME, 2 * RIG_FRAME, 8, lag, &likeness, &db);
    if (likeness > best) {
      best = likeness;
      found = lag;
    }
  }
  fail_unless (best > 0.9, "nothing of the voice at frame %u: %g", frame, best);
  return (gdouble) found / MS;
}

/* In each 20 ms between these frames it is there, where it was, as loud as it was. */
static void
check_in_place (const Ear * ear, guint from, guint to, gdouble lag_ms)
{
  const guint lag = (guint) (lag_ms * MS);
  const gdouble *said = ear->chain->said;
  gdouble likeness, db;

  for (guint at = from * RIG_FRAME; at < to * RIG_FRAME; at += 5 * MS)
    if (!is_pause (said, at - lag - RIG_FRAME / 2, 2 * RIG_FRAME)) {
      compare (ear, at, RIG_FRAME, 1, lag, &likeness, &db);
      fail_unless (likeness > 0.85 && fabs (db) < 1.0,
          "at %u ms: likeness %g, %+.2f dB", at / MS, likeness, db);
    }
}

/* The voice, separate for @first frames, then mixed and separate for two seconds each */
static VoiceChain *
move_about (VoiceChain * chain, guint first, guint n_changes)
{
  voice_chain_play (chain);
  voice_chain_run (chain, first);
  for (guint k = 0; k < n_changes; k++) {
    voice_chain_mix (chain, k % 2 == 0);
    voice_chain_run (chain, 2 * SECOND);
  }
  return chain;
}

static void
hear (Ear * ear, const gchar * mixer, const gchar * hearing,
    RigEncoding encoding, gboolean wants, guint n_changes)
{
  ear_listen (ear, move_about (voice_chain_new (mixer, hearing, encoding,
              wants), 3 * SECOND, n_changes));
}

#define CHANGE(k) ((3 + 2 * (k)) * SECOND)

GST_START_TEST (test_a_voice_moves_where_nobody_aligns_it)
{
  gdouble separate, mixed;
  Ear ear;

  hear (&ear, L16, NULL, RIG_L16, FALSE, 2);
  fail_unless_equals_int (ear.chain->n_told, 0);
  separate = find_lag (&ear, CHANGE (0) - 10);
  mixed = find_lag (&ear, CHANGE (0) + 20);
  fail_unless (fabs (mixed - separate - 42.5) < 0.5, "by %g ms",
      mixed - separate);
  fail_unless (fabs (find_lag (&ear, CHANGE (1) + 30) - separate) < 2.5);
  ear_clear (&ear);

  hear (&ear, L16, "align=true", RIG_L16, FALSE, 2);
  fail_unless (fabs (find_lag (&ear, CHANGE (0) - 10) - separate) < 0.5);
  ear_clear (&ear);
}

GST_END_TEST;

GST_START_TEST (test_an_aligned_voice_stays_where_it_is)
{
  gdouble lag;
  Ear ear;

  hear (&ear, L16, "align=true", RIG_L16, TRUE, 8);
  lag = find_lag (&ear, CHANGE (0) - 10);
  check_in_place (&ear, CHANGE (0) - 30, CHANGE (8) - 5, lag);
  ear_clear (&ear);
}

GST_END_TEST;

GST_START_TEST (test_an_aligned_voice_stays_where_it_is_through_opus)
{
  gdouble lag;
  Ear ear;

  hear (&ear, OPUS, "align=true", RIG_OPUS, TRUE, 8);
  lag = find_lag (&ear, CHANGE (0) - 10);
  for (guint k = 0; k < 8; k++)
    check_in_place (&ear, CHANGE (k) - 10, CHANGE (k) + 9, lag);
  ear_clear (&ear);
}

GST_END_TEST;

/* A voice, and @early: one that has been in the mix all the time */
static void
hear_entry (Ear * ear, gboolean early)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_OPUS, TRUE);

  voice_chain_mix (chain, early);
  voice_chain_play (chain);
  voice_chain_run (chain, 3 * SECOND);
  voice_chain_mix (chain, TRUE);
  voice_chain_run (chain, SECOND);
  ear_listen (ear, chain);
}

/* A decoder that knows nothing of what was before makes something else of a packet. */
GST_START_TEST (test_who_goes_into_a_mix_sounds_as_if_he_had_been_there)
{
  const guint from = CHANGE (0) * RIG_FRAME + 70 * MS;  /* with the lag, and 2.5 ms */
  Ear entered, early;

  hear_entry (&entered, FALSE);
  hear_entry (&early, TRUE);
  for (guint at = from; at < from + 10 * RIG_FRAME; at += 10 * MS) {
    gdouble energy = 1.0, error = 0.0;

    for (guint i = at; i < at + 10 * MS; i++) {
      energy += early.heard[i] * early.heard[i];
      error += pow (entered.heard[i] - early.heard[i], 2.0);
    }
    fail_unless (error < pow (10.0, -2.8) * energy, "at %u ms: %.1f dB",
        at / MS, 10.0 * log10 (error / energy));
  }
  ear_clear (&entered);
  ear_clear (&early);
}

GST_END_TEST;

/* What comes first out of a mix is for the decoder: it is sent, and not heard. */
GST_START_TEST (test_who_comes_out_of_a_mix_brings_what_was_before)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  guint before;

  move_about (chain, 3 * SECOND, 1);
  before = chain->n_voice;
  voice_chain_mix (chain, FALSE);
  voice_chain_run (chain, SECOND);
  fail_unless_equals_int (chain->n_voice - before, SECOND + 5);
  fail_unless_equals_int (chain->n_markers, 1);
  voice_chain_free (chain);
}

GST_END_TEST;

/* ... nor does somebody hear it twice whom the listener, a mixer as well, has behind it, and
 * who does not align. */
GST_START_TEST (test_what_was_before_goes_no_further_than_to_who_asked)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  RigListener *other = rig_listener (chain->hearing, "src_2", NULL);
  const guint arrived = SECOND - 1;     /* one is still on its way */
  guint before;

  move_about (chain, 3 * SECOND, 1);
  before = rig_count_packets (other, VOICE_SSRC);
  voice_chain_mix (chain, FALSE);
  voice_chain_run (chain, SECOND);
  fail_unless_equals_int (rig_count_packets (other, VOICE_SSRC) - before,
      arrived);
  fail_unless_equals_int (rig_count_whole (other, VOICE_SSRC, 0),
      before + arrived);
  voice_chain_free (chain);
}

GST_END_TEST;

/* Jitter on the way to the mixer moves who goes into the mix for the first time. */
GST_START_TEST (test_jitter_moves_nobody_but_the_first_time)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble lag;
  Ear ear;

  chain->jitter_in = chain->jitter_out = 15;
  ear_listen (&ear, move_about (chain, 3 * SECOND, 8));
  lag = find_lag (&ear, CHANGE (1) - 15);
  fail_unless (fabs (find_lag (&ear, CHANGE (0) - 10) - lag) < 15.0);
  for (guint k = 1; k < 8; k++) {
    fail_unless (fabs (find_lag (&ear, CHANGE (k) - 10) - lag) < 1.0);
    fail_unless (fabs (find_lag (&ear, CHANGE (k) + 20) - lag) < 1.0);
  }
  ear_clear (&ear);
}

GST_END_TEST;

/* Who listens has heard nothing of its own of it before, and is not told again soon. */
GST_START_TEST (test_who_was_in_a_mix_from_the_first_stays_where_it_is)
{
  for (guint later = 0; later < SECOND; later += 7) {
    VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
    const guint leaves = 3 * SECOND + later;
    gdouble lag;
    Ear ear;

    voice_chain_mix (chain, TRUE);
    voice_chain_play (chain);
    chain->deaf = TRUE;         /* to its first packet, before there were others */
    voice_chain_run (chain, 10);
    chain->deaf = FALSE;
    voice_chain_run (chain, leaves - 10);
    voice_chain_mix (chain, FALSE);
    voice_chain_run (chain, 2 * SECOND);
    ear_listen (&ear, chain);
    lag = find_lag (&ear, leaves - 20);
    check_in_place (&ear, leaves - 30, leaves + 2 * SECOND - 5, lag);
    ear_clear (&ear);
  }
}

GST_END_TEST;

/* Where a voice is in a mix is told once a second.  When that comes later from now on, and
 * is played later, it has moved before it is told again. */
GST_START_TEST (test_a_voice_leaves_a_mix_that_has_moved_where_that_is)
{
  const guint moved = 3 * SECOND + SECOND / 2;
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble before, mixed;
  Ear ear;

  voice_chain_mix (chain, TRUE);
  voice_chain_play (chain);
  voice_chain_run (chain, moved);
  chain->more_out = 90;
  voice_chain_run (chain, 15);
  voice_chain_mix (chain, FALSE);
  voice_chain_run (chain, 2 * SECOND);
  ear_listen (&ear, chain);
  before = find_lag (&ear, moved - 20);
  mixed = find_lag (&ear, moved + 12);
  fail_unless (mixed > before + 30.0, "%g, %g ms", before, mixed);
  fail_unless (fabs (find_lag (&ear, moved + SECOND) - mixed) < 2.5,
      "%g, %g ms", mixed, find_lag (&ear, moved + SECOND));
  ear_clear (&ear);
}

GST_END_TEST;

/* Nothing that he missed is needed. */
GST_START_TEST (test_a_listener_who_comes_late_aligns)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble lag;
  Ear ear;

  chain->deaf = TRUE;
  move_about (chain, 3 * SECOND, 2);
  chain->deaf = FALSE;
  voice_chain_run (chain, 4 * SECOND);
  voice_chain_mix (chain, TRUE);
  voice_chain_run (chain, SECOND);
  ear_listen (&ear, chain);
  lag = find_lag (&ear, 11 * SECOND - 10);
  check_in_place (&ear, 11 * SECOND - 30, 12 * SECOND - 5, lag);
  ear_clear (&ear);
}

GST_END_TEST;

/* A third of what tells is lost. */
GST_START_TEST (test_what_tells_may_be_lost)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble lag;
  Ear ear;

  chain->forgets = 3;
  ear_listen (&ear, move_about (chain, 3 * SECOND, 6));
  lag = find_lag (&ear, CHANGE (0) - 10);
  check_in_place (&ear, CHANGE (0) - 30, CHANGE (6) - 5, lag);
  ear_clear (&ear);
}

GST_END_TEST;

/* It costs nobody more than a quarter of a second, and mostly nothing. */
GST_START_TEST (test_a_mixer_that_lies_is_believed_so_far)
{
  static const gint lies_ms[] = { 100, -100, 400, -400, 60000, -60000 };
  gdouble told = 0.0, alone = 0.0;
  Ear ear;

  for (guint i = 0; i < G_N_ELEMENTS (lies_ms); i++) {
    VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16,
        TRUE);
    gdouble lag;

    chain->lie = lies_ms[i] * MS;
    ear_listen (&ear, move_about (chain, 4 * SECOND, 0));
    lag = find_lag (&ear, 4 * SECOND - 20);
    if (i == 0)
      alone = lag;
    else if (i == 1)
      told = lag;
    else
      fail_unless (fabs (lag - alone) < 0.5, "%d: %g ms", lies_ms[i], lag);
    ear_clear (&ear);
  }
  fail_unless (fabs (told - alone - 142.5) < 0.5, "%g ms", told - alone);
}

GST_END_TEST;

GST_START_TEST (test_another_mixer_is_not_asked)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble lag;
  Ear ear;

  chain->stranger = TRUE;
  ear_listen (&ear, move_about (chain, 3 * SECOND, 4));
  lag = find_lag (&ear, CHANGE (0) - 10);
  check_in_place (&ear, CHANGE (0) - 30, CHANGE (4) - 5, lag);
  ear_clear (&ear);
}

GST_END_TEST;

GST_START_TEST (test_a_mixer_that_begins_anew_is_believed_anew)
{
  VoiceChain *chain = voice_chain_new (L16, "align=true", RIG_L16, TRUE);
  gdouble lag;
  Ear ear;

  move_about (chain, 3 * SECOND, 2);
  voice_chain_restart_mixer (chain);
  voice_chain_run (chain, 4 * SECOND);
  voice_chain_mix (chain, TRUE);
  voice_chain_run (chain, SECOND);
  ear_listen (&ear, chain);
  lag = find_lag (&ear, 11 * SECOND - 10);
  check_in_place (&ear, 11 * SECOND - 30, 12 * SECOND - 5, lag);
  ear_clear (&ear);
}

GST_END_TEST;

/* Each stream once a second, and some more after a change: 10 bytes each */
GST_START_TEST (test_it_costs_little)
{
  VoiceChain *chain = voice_chain_new (OPUS, NULL, RIG_OPUS, TRUE);

  move_about (chain, 30 * SECOND, 0);
  fail_unless (chain->n_told >= 3 * 29 && chain->n_told <= 3 * 30 + 10, "%u",
      chain->n_told);
  fail_unless_equals_int (chain->n_told_bytes,
      chain->n_told * (1 + FMX_CONTRIBUTOR_TIME_BYTES));
  voice_chain_free (chain);
}

GST_END_TEST;

/* The positions of mixes begin anew, and so does whose turn it is to be told of. */
GST_START_TEST (test_a_mixer_that_was_stopped_tells_as_before)
{
  VoiceChain *chain = voice_chain_new (L16, NULL, RIG_L16, TRUE);
  guint told;

  move_about (chain, 10 * SECOND, 0);
  gst_element_set_base_time (chain->mixer->mix,
      gst_clock_get_time (GST_CLOCK (chain->mixer->clock)));
  voice_chain_restart_mixer (chain);
  voice_chain_run (chain, SECOND);
  told = chain->n_told;
  voice_chain_run (chain, 5 * SECOND);
  fail_unless (chain->n_told >= told + 3 * 4, "%u", chain->n_told - told);
  voice_chain_free (chain);
}

GST_END_TEST;

/* By default that number is the levels'. */
static Suite *
partialmix_alignment_suite (void)
{
  Suite *suite = suite_create ("partialmix-alignment");
  TCase *tc = tcase_create ("alignment");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_voice_moves_where_nobody_aligns_it);
  tcase_add_test (tc, test_an_aligned_voice_stays_where_it_is);
  tcase_add_test (tc, test_an_aligned_voice_stays_where_it_is_through_opus);
  tcase_add_test (tc, test_who_goes_into_a_mix_sounds_as_if_he_had_been_there);
  tcase_add_test (tc, test_who_comes_out_of_a_mix_brings_what_was_before);
  tcase_add_test (tc, test_what_was_before_goes_no_further_than_to_who_asked);
  tcase_add_test (tc, test_jitter_moves_nobody_but_the_first_time);
  tcase_add_test (tc, test_who_was_in_a_mix_from_the_first_stays_where_it_is);
  tcase_add_test (tc, test_a_voice_leaves_a_mix_that_has_moved_where_that_is);
  tcase_add_test (tc, test_a_listener_who_comes_late_aligns);
  tcase_add_test (tc, test_what_tells_may_be_lost);
  tcase_add_test (tc, test_a_mixer_that_lies_is_believed_so_far);
  tcase_add_test (tc, test_another_mixer_is_not_asked);
  tcase_add_test (tc, test_a_mixer_that_begins_anew_is_believed_anew);
  tcase_add_test (tc, test_a_mixer_that_was_stopped_tells_as_before);
  tcase_add_test (tc, test_it_costs_little);
  return suite;
}

GST_CHECK_MAIN (partialmix_alignment);
