/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What qmstretch does where the delay is adjusted. */

#include "qmstretchcheck.h"

static gfloat
largest_step (GArray * x)
{
  gfloat largest = 0.0f;

  for (guint i = 1; i < x->len; i++)
    largest = MAX (largest, ABS (g_array_index (x, gfloat, i)
            - g_array_index (x, gfloat, i - 1)));
  return largest;
}

static gint64
to_frames (Rig * rig, GstClockTimeDiff time)
{
  return time * rig->info.rate / (gint64) GST_SECOND;
}

GST_START_TEST (test_without_an_adjustment_buffers_pass)
{
  Rig rig;

  rig_init (&rig);
  for (gint i = 0; i < 50; i++)
    fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

static guint
n_hellos (Rig * rig)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_upstream_event (rig->h)) != NULL) {
    n += gst_event_has_name (event, "fairmix-playout-stretcher");
    gst_event_unref (event);
  }
  return n;
}

/* Who is behind a jitter buffer says so: before the first audio, once; and again whenever
 * it has something to do, for it is forgotten when something is linked. */
GST_START_TEST (test_it_says_that_it_is_there)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 1);
  fail_unless (n_hellos (&rig) > 0);
  push (&rig, 10);
  fail_unless_equals_int (n_hellos (&rig), 0);
  adjust (&rig, -PACKET);
  fail_unless_equals_int (n_hellos (&rig), 1);
  rig_clear (&rig);
}

GST_END_TEST;

static const struct
{
  GstAudioFormat format;
  gint rate, channels;
} formats[] = {
  {GST_AUDIO_FORMAT_S16, 8000, 1},
  {GST_AUDIO_FORMAT_S16, 48000, 2},
  {GST_AUDIO_FORMAT_F32, 44100, 1},
  {GST_AUDIO_FORMAT_F32, 16000, 6},
};

GST_START_TEST (test_each_adjustment_is_worked_off_exactly)
{
  static const gint adjustments_ms[] = { -20, 20, -60, 10, -1, 1, -300 };
  Rig rig;
  gint64 sum = 0;

  rig_init_launch (&rig, LAUNCH, formats[__i__].format,
      formats[__i__].rate, formats[__i__].channels);
  push (&rig, 10);
  for (guint i = 0; i < G_N_ELEMENTS (adjustments_ms); i++) {
    adjust (&rig, adjustments_ms[i] * MS);
    sum += adjustments_ms[i];
    push (&rig, 1);
    fail_unless (debt (&rig) != 0 || ABS (adjustments_ms[i]) == 1);
    push_until_done (&rig);
    fail_unless_equals_int64 (rig.out->len,
        (gint64) rig.n_in + to_frames (&rig, sum * MS));
    fail_unless (passes_untouched (&rig));
    g_array_set_size (rig.out, rig.out->len + rig.info.rate / 50);
  }
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_no_adjustment_is_a_click)
{
  Rig rig;
  gfloat usual;

  rig_init_launch (&rig, LAUNCH, formats[__i__].format,
      formats[__i__].rate, formats[__i__].channels);
  push (&rig, 200);
  usual = largest_step (rig.out);
  for (gint i = 0; i < 20; i++) {
    adjust (&rig, i % 2 ? 20 * MS : -40 * MS);
    push_until_done (&rig);
    push (&rig, 3);
  }
  fail_unless (largest_step (rig.out) <= 1.05f * usual);
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_growth_beyond_the_latency_leaves_a_gap)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, 50 * MS);
  push (&rig, 1);
  fail_unless_equals_int (rig.n_gaps, 1);
  fail_unless_equals_int64 (debt (&rig), 0);
  fail_unless (passes_untouched (&rig));

  /* two that are too much together */
  adjust (&rig, 15 * MS);
  push (&rig, 1);
  fail_unless_equals_int64 (debt (&rig), 15 * MS);
  adjust (&rig, 10 * MS);
  push (&rig, 1);
  fail_unless_equals_int (rig.n_gaps, 2);
  fail_unless_equals_int64 (debt (&rig), 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_latency_is_reported_and_limits_growth)
{
  Rig rig;

  rig_init_launch (&rig, "qmstretch latency=50000000", GST_AUDIO_FORMAT_F32,
      48000, 1);
  fail_unless_equals_int64 (rig.latency, 50 * MS);
  push (&rig, 10);
  adjust (&rig, 30 * MS);
  push (&rig, 1);
  adjust (&rig, 10 * MS);
  push_until_done (&rig);
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);

  rig_init_launch (&rig, "qmstretch", GST_AUDIO_FORMAT_F32, 48000, 1);
  fail_unless_equals_int64 (rig.latency, 0);
  push (&rig, 10);
  adjust (&rig, 10 * MS);
  push (&rig, 10);
  fail_unless_equals_int (rig.n_gaps, 1);
  adjust (&rig, -30 * MS);
  push_until_done (&rig);
  fail_unless_equals_int (rig.n_gaps, 1);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
qmstretch_suite (void)
{
  Suite *suite = suite_create ("qmstretch");
  TCase *tc;

  tc = tcase_create ("adjustments");
  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_it_says_that_it_is_there);
  tcase_add_test (tc, test_without_an_adjustment_buffers_pass);
  tcase_add_loop_test (tc, test_each_adjustment_is_worked_off_exactly, 0,
      G_N_ELEMENTS (formats));
  tcase_add_loop_test (tc, test_no_adjustment_is_a_click, 0,
      G_N_ELEMENTS (formats));
  tcase_add_test (tc, test_growth_beyond_the_latency_leaves_a_gap);
  tcase_add_test (tc, test_latency_is_reported_and_limits_growth);
  return suite;
}

GST_CHECK_MAIN (qmstretch);
