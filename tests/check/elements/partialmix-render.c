/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a renderer makes of a mixer's frames (gst/partialmix/gstpartialmixrender.h). */
#include <math.h>

#include "partialmixmixercheck.h"

#include "partialmix/gstpartialmixrender.h"

static void
set_channels (guint channels)
{
  gst_clear_caps (&listeners[0].raw_caps);
  listeners[0].raw = TRUE;
  listeners[0].raw_channels = channels;
  listeners[0].raw_caps = gst_caps_new_simple ("audio/x-raw", "channels",
      G_TYPE_INT, (gint) channels, NULL);
}

/* What was planned; the last sample of each channel is in @heard. */
static GstBuffer *
finish_render (GstPartialMixRenderPlan * plan, gint heard[2])
{
  GstBuffer *buffer = gst_partial_mix_render_make (&listeners[0], plan, &frame,
      RATE, DELAY);
  GstMapInfo map;

  gst_partial_mix_mixer_finish (&mixer);
  frame.pos += N;
  if (buffer != NULL) {
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless_equals_int (map.size, 2 * N * plan->channels);
    heard[0] = ((gint16 *) map.data)[(N - 1) * plan->channels];
    heard[1] = ((gint16 *) map.data)[N * plan->channels - 1];
    gst_buffer_unmap (buffer, &map);
  }
  gst_partial_mix_render_plan_free (plan);
  return buffer;
}

/* A tick for a renderer; @then: what he takes meanwhile. */
static GstBuffer *
render (guint then, gint heard[2])
{
  GstPartialMixRenderPlan *plan;

  decode ();
  plan = gst_partial_mix_render_plan (&listeners[0], &table, &frame);
  set_channels (then);
  return finish_render (plan, heard);
}

static void
render_for (guint n, gint heard[2])
{
  set_channels (2);
  while (n-- > 0) {
    GstBuffer *buffer = render (2, heard);

    gst_clear_buffer (&buffer);
  }
}

/* Streams 1 and 2 are heard, from left and right. */
GST_START_TEST (test_voices_stand_left_and_right)
{
  gint heard[2];

  render_for (8, heard);
  fail_unless (heard[0] > heard[1] + 800, "%d, %d", heard[0], heard[1]);
  /* each with a place of its own */
  streams[1]->info.pan = 1.0f;
  streams[2]->info.pan = -1.0f;
  render_for (4, heard);
  fail_unless (heard[0] > 1900 && heard[0] <= 2000);
  fail_unless (heard[1] > 3900 && heard[1] <= 4000);
}

GST_END_TEST;

GST_START_TEST (test_who_leaves_is_heard_to_his_end_where_he_stood)
{
  gint heard[2];

  render_for (8, heard);
  /* in the middle of the next frame but two */
  streams[1]->next_pos = frame.pos + 2 * N + N / 2;
  streams[1]->n_mixed = 1;
  gst_partial_mix_link_change (link_of (0, 1), streams[1], FMX_HANDOVER_NONE,
      0, frame.pos, 0);
  render_for (2, heard);
  fail_unless (heard[0] > heard[1] + 800, "%d, %d", heard[0], heard[1]);
  render_for (4, heard);
  /* who is left stays on the right */
  fail_unless (ABS (heard[1] - 1782) < 10 && ABS (heard[0] - 908) < 10,
      "%d, %d", heard[0], heard[1]);
}

GST_END_TEST;

/* @n frames in which stream 2 is a mix, of those with the SSRCs 101, 102 and 7, who are
 * so loud, in -dBov; @first < 0: it does not tell. */
static void
render_mix (guint n, gint first, gint second, gint unknown, gint heard[2])
{
  const gint levels[] = { first, second, unknown };
  const guint32 ssrcs[] = { 101, 102, 7 };
  guint i;

  while (n-- > 0) {
    GstPartialMixNames *names = &streams[2]->voice.names;
    GstBuffer *buffer;

    decode ();
    names->n = 3;
    names->has_levels = first >= 0;
    for (i = 0; i < 3; i++) {
      names->ssrcs[i] = ssrcs[i];
      names->levels[i] = (guint8) MAX (levels[i], 0);
    }
    buffer = finish_render (gst_partial_mix_render_plan (&listeners[0], &table,
            &frame), heard);
    gst_clear_buffer (&buffer);
  }
}

static gdouble
side_of (const gint heard[2])
{
  return (gdouble) heard[0] / heard[1];
}

/* Stream 1 stands on the left; then it is heard in the mix. */
GST_START_TEST (test_a_mix_goes_where_the_loudest_stood)
{
  gint heard[2];
  gdouble left;

  speaks[2] = FALSE;
  render_for (20, heard);
  left = side_of (heard);
  fail_unless (left > 1.9, "%g", left);
  speaks[1] = FALSE;
  speaks[2] = TRUE;
  /* in the middle where the loudest is not known */
  render_mix (20, 50, 50, 20, heard);
  fail_unless (fabs (side_of (heard) - 1.0) < 0.01, "%g", side_of (heard));
  /* slowly: it takes a second */
  render_mix (25, 20, 50, 50, heard);
  fail_unless (side_of (heard) > 1.1 && side_of (heard) < 0.8 * left,
      "%g", side_of (heard));
  render_mix (30, 20, 50, 50, heard);
  fail_unless (fabs (side_of (heard) - left) < 0.01, "%g", side_of (heard));
  /* it stays while nobody speaks */
  render_mix (100, 70, 80, 127, heard);
  fail_unless (fabs (side_of (heard) - left) < 0.01, "%g", side_of (heard));
  render_mix (60, -1, -1, -1, heard);
  fail_unless (fabs (side_of (heard) - 1.0) < 0.01, "%g", side_of (heard));
}

GST_END_TEST;

/* Before it names anybody it is taken for a voice. */
GST_START_TEST (test_a_mix_keeps_no_place)
{
  gint heard[2];

  speaks[1] = FALSE;
  render_for (20, heard);
  fail_unless (side_of (heard) > 1.9, "%g", side_of (heard));
  render_mix (60, 50, 50, 20, heard);
  fail_unless (fabs (side_of (heard) - 1.0) < 0.01, "%g", side_of (heard));
  /* nor is it a voice again when it names nobody */
  render_for (60, heard);
  fail_unless (fabs (side_of (heard) - 1.0) < 0.01, "%g", side_of (heard));
  speaks[1] = TRUE;
  speaks[2] = FALSE;
  render_for (40, heard);
  fail_unless (side_of (heard) > 1.9, "%g", side_of (heard));
}

GST_END_TEST;

/* A minute of silence is a minute. */
GST_START_TEST (test_a_place_is_free_after_a_minute_in_which_nobody_speaks)
{
  gint heard[2];
  gdouble left;

  speaks[2] = FALSE;
  render_for (20, heard);
  left = side_of (heard);
  fail_unless (left > 1.9, "%g", left);
  speaks[1] = FALSE;
  render_for (20, heard);
  gst_partial_mix_listener_init_link (&listeners[0], streams[1], 0);
  frame.pos += 61 * RATE;
  speaks[2] = TRUE;
  render_for (20, heard);
  fail_unless (fabs (side_of (heard) - left) < 0.01, "%g", side_of (heard));
}

GST_END_TEST;

GST_START_TEST (test_a_frame_has_the_channels_that_were_planned)
{
  gint heard[2];
  guint i;

  frame.pos = 100 * N;
  set_channels (2);
  for (i = 0; i < 6; i++) {
    GstBuffer *buffer = render (1 + i % 2, heard);      /* checks its size */

    fail_unless (buffer != NULL);
    gst_buffer_unref (buffer);
  }
  set_channels (1);
  gst_buffer_unref (render (2, heard));
  fail_unless_equals_int (heard[0], heard[1]);
}

GST_END_TEST;

GST_START_TEST (test_silence_is_a_gap_and_nothing_comes_before_the_beginning)
{
  gint heard[2];
  GstBuffer *buffer;

  speaks[0] = speaks[1] = speaks[2] = FALSE;
  set_channels (2);
  fail_unless (render (2, heard) == NULL);
  render_for (5, heard);
  buffer = render (2, heard);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  gst_buffer_unref (buffer);
  speaks[1] = TRUE;
  buffer = render (2, heard);
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

static Suite *
partialmix_render_suite (void)
{
  Suite *suite = suite_create ("partialmix-render");
  TCase *tc;

  tc = tcase_create ("renderer");
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_voices_stand_left_and_right);
  tcase_add_test (tc, test_who_leaves_is_heard_to_his_end_where_he_stood);
  tcase_add_test (tc, test_a_mix_goes_where_the_loudest_stood);
  tcase_add_test (tc, test_a_mix_keeps_no_place);
  tcase_add_test (tc,
      test_a_place_is_free_after_a_minute_in_which_nobody_speaks);
  tcase_add_test (tc, test_a_frame_has_the_channels_that_were_planned);
  tcase_add_test (tc,
      test_silence_is_a_gap_and_nothing_comes_before_the_beginning);
  return suite;
}

GST_CHECK_MAIN (partialmix_render);
