/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include <gst/audio/audio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#define MS ((GstClockTimeDiff) GST_MSECOND)
#define PACKET (20 * MS)
#define START (10 * GST_SECOND)
#define ADJUST "fairmix-playout-adjust"
#define LAUNCH "qmstretch latency=20000000"

/* A talker, what was made of him, and when */
typedef struct
{
  GstHarness *h;
  GstAudioInfo info;
  guint64 n_in;                 /* frames */
  GstClockTime stamp;           /* of the next one */
  GArray *out;                  /* first channel, full scale is 1 */
  GstClockTime position;        /* end of what came out */
  GstClockTimeDiff latency;
  guint n_gaps, n_same;         /* in the output; buffers left as they were */
} Rig;

static void
rig_set_caps (Rig * rig, GstAudioFormat format, gint rate, gint channels)
{
  gst_audio_info_set_format (&rig->info, format, rate, channels, NULL);
  gst_harness_set_src_caps (rig->h, gst_audio_info_to_caps (&rig->info));
}

static void
rig_init_launch (Rig * rig, const gchar * launch, GstAudioFormat format,
    gint rate, gint channels)
{
  memset (rig, 0, sizeof *rig);
  rig->h = gst_harness_new_parse (launch);
  rig->stamp = START;
  rig->position = START;
  rig->out = g_array_new (FALSE, FALSE, sizeof (gfloat));
  rig_set_caps (rig, format, rate, channels);
  rig->latency = gst_harness_query_latency (rig->h);
}

static void
rig_init (Rig * rig)
{
  rig_init_launch (rig, LAUNCH, GST_AUDIO_FORMAT_S16, 48000, 1);
}

static void
rig_clear (Rig * rig)
{
  gst_harness_teardown (rig->h);
  g_array_unref (rig->out);
}

/* A voice of eight harmonics, its pitch gliding around 130 Hz, with a pause of
 * 60 ms each 400 ms */
static gfloat
voice (guint64 i, gint rate)
{
  gdouble t = (gdouble) i / rate, s = fmod (t, 0.4), y = 0.0;

  if (s >= 0.34)
    return 0.0f;
  for (gint k = 1; k <= 8; k++)
    y += sin (k * 2.0 * G_PI * (130.0 * t + 6.0 * sin (5.0 * t))) / k;
  return (gfloat) (0.25 * y * sin (G_PI * s / 0.34));
}

static GstBuffer *
make_buffer (Rig * rig)
{
  gint rate = rig->info.rate, channels = rig->info.channels;
  gsize n = rate / 50;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, n * rig->info.bpf, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < n * channels; i++) {
    gfloat x = voice (rig->n_in + i / channels, rate);

    if (rig->info.finfo->format == GST_AUDIO_FORMAT_S16)
      ((gint16 *) map.data)[i] = (gint16) lrintf (x * 32768.0f);
    else
      ((gfloat *) map.data)[i] = x;
  }
  gst_buffer_unmap (buffer, &map);
  rig->n_in += n;
  GST_BUFFER_PTS (buffer) = rig->stamp;
  GST_BUFFER_DURATION (buffer) = PACKET;
  rig->stamp += PACKET;
  return buffer;
}

/* Notes what came out; it follows on to the nanosecond, or to the rounding of
 * a frame's time. */
static void
collect (Rig * rig)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (rig->h)) != NULL) {
    GstClockTimeDiff step = GST_CLOCK_DIFF (rig->position,
        GST_BUFFER_PTS (buffer));
    gsize n = gst_buffer_get_size (buffer) / rig->info.bpf;
    GstMapInfo map;

    if (ABS (step) > (GstClockTimeDiff) GST_SECOND / rig->info.rate) {
      rig->n_gaps++;
      fail_unless (GST_BUFFER_IS_DISCONT (buffer));
    } else {
      fail_if (rig->out->len > 0 && GST_BUFFER_IS_DISCONT (buffer));
    }
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    for (gsize i = 0; i < n * rig->info.channels; i += rig->info.channels) {
      gfloat x = rig->info.finfo->format == GST_AUDIO_FORMAT_S16 ?
          ((gint16 *) map.data)[i] / 32768.0f : ((gfloat *) map.data)[i];

      g_array_append_val (rig->out, x);
    }
    gst_buffer_unmap (buffer, &map);
    fail_unless (ABS (GST_CLOCK_DIFF (GST_BUFFER_DURATION (buffer),
                gst_util_uint64_scale_round (n, GST_SECOND,
                    rig->info.rate))) <= 1);
    rig->position = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    gst_buffer_unref (buffer);
  }
}

static void
push_buffer (Rig * rig, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_harness_push (rig->h, buffer), GST_FLOW_OK);
  collect (rig);
}

/* The next packet comes no later than at rig->stamp: until then what came out
 * must last, played with the latency that was promised. */
static void
push (Rig * rig, guint n_packets)
{
  for (guint i = 0; i < n_packets; i++) {
    push_buffer (rig, make_buffer (rig));
    fail_unless (GST_CLOCK_DIFF (rig->position, rig->stamp)
        <= rig->latency + (GstClockTimeDiff) GST_SECOND / rig->info.rate);
  }
}

static void
push_event (Rig * rig, GstClockTimeDiff adjustment)
{
  fail_unless (gst_harness_push_event (rig->h,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new (ADJUST, "adjustment", G_TYPE_INT64, adjustment,
                  "delay", G_TYPE_UINT64, G_GUINT64_CONSTANT (0), NULL))));
}

/* From here on all is played @adjustment later. */
static void
adjust (Rig * rig, GstClockTimeDiff adjustment)
{
  push_event (rig, adjustment);
  rig->stamp += adjustment;
}

static gint64
debt (Rig * rig)
{
  GstElement *e = gst_harness_find_element (rig->h, "qmstretch");
  GstStructure *stats;
  gint64 debt;

  g_object_get (e, "stats", &stats, NULL);
  fail_unless (gst_structure_get_int64 (stats, "debt", &debt));
  gst_structure_free (stats);
  gst_object_unref (e);
  return debt;
}

static void
push_until_done (Rig * rig)
{
  for (guint i = 0; debt (rig) != 0; i++) {
    fail_unless (i < 500);
    push (rig, 1);
  }
  push (rig, 1);
}

/* Returns: whether the next packet leaves as the very buffer it was */
static gboolean
passes_untouched (Rig * rig)
{
  GstBuffer *in = make_buffer (rig);
  GstClockTime pts = GST_BUFFER_PTS (in);
  GstMemory *memory = gst_buffer_peek_memory (in, 0);
  GstBuffer *out;
  gboolean same;

  fail_unless_equals_int (gst_harness_push (rig->h, in), GST_FLOW_OK);
  out = gst_harness_try_pull (rig->h);
  same = out != NULL && gst_buffer_peek_memory (out, 0) == memory
      && GST_BUFFER_PTS (out) == pts;
  if (out != NULL) {
    rig->position = GST_BUFFER_PTS (out) + GST_BUFFER_DURATION (out);
    gst_buffer_unref (out);
  }
  return same;
}

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

/* --- claims --- */

GST_START_TEST (test_without_an_adjustment_buffers_pass)
{
  Rig rig;

  rig_init (&rig);
  for (gint i = 0; i < 50; i++)
    fail_unless (passes_untouched (&rig));
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

  rig_init (&rig);
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

/* Only what was announced is stretched. */
GST_START_TEST (test_other_jumps_pass_as_they_are)
{
  static const GstClockTimeDiff jumps[] = { 20 * MS, -20 * MS, 3, 700 * MS };
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  for (guint i = 0; i < G_N_ELEMENTS (jumps); i++) {
    rig.stamp += jumps[i];
    fail_unless (passes_untouched (&rig));
  }
  rig_clear (&rig);
}

GST_END_TEST;

/* A dropped packet leaves nothing to be done: what it leaves is announced, and
 * not there.  Long after that an announcement is no longer believed. */
GST_START_TEST (test_announcements_without_a_jump_do_nothing)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  push_event (&rig, -20 * MS);
  for (gint i = 0; i < 20; i++)
    fail_unless (passes_untouched (&rig));
  rig.stamp -= 20 * MS;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

/* Decoders that wait for another packet to come hand on events too early. */
GST_START_TEST (test_an_announcement_may_be_early)
{
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  push_event (&rig, -20 * MS);
  push (&rig, 2);
  rig.stamp -= 20 * MS;
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  push_until_done (&rig);
  fail_unless_equals_int (rig.n_gaps, 0);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_gap_takes_up_what_is_to_be_done)
{
  Rig rig;
  GstEvent *event;
  GstClockTime pts, duration;

  /* 60 ms too many, and 100 ms in which nothing comes */
  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  while ((event = gst_harness_try_pull_event (rig.h)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (rig.h, gst_event_new_gap (rig.stamp, 100 * MS));
  collect (&rig);
  event = gst_harness_pull_event (rig.h);
  fail_unless_equals_int (GST_EVENT_TYPE (event), GST_EVENT_GAP);
  gst_event_parse_gap (event, &pts, &duration);
  fail_unless_equals_uint64 (pts, rig.position);
  rig.stamp += 100 * MS;
  fail_unless_equals_uint64 (pts + duration, rig.stamp);
  gst_event_unref (event);
  fail_unless_equals_int64 (debt (&rig), 0);
  rig.position = rig.stamp;
  fail_unless (passes_untouched (&rig));

  /* the same without an event, and too short */
  adjust (&rig, -60 * MS);
  push (&rig, 1);
  rig.stamp += 10 * MS;
  push (&rig, 1);
  fail_unless (debt (&rig) < 0);
  fail_unless_equals_int (rig.n_gaps, 0);

  /* an empty stretch of time is not announced */
  while ((event = gst_harness_try_pull_event (rig.h)) != NULL)
    gst_event_unref (event);
  gst_harness_push_event (rig.h, gst_event_new_gap (rig.stamp, 1 * MS));
  fail_unless (gst_harness_try_pull_event (rig.h) == NULL);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_eos_drains)
{
  Rig rig;
  guint len;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  len = rig.out->len;
  fail_unless (gst_harness_push_event (rig.h, gst_event_new_eos ()));
  collect (&rig);
  fail_unless (rig.out->len > len);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_flush_forgets)
{
  Rig rig;
  GstSegment segment;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  push_event (&rig, -100 * MS);
  gst_harness_push_event (rig.h, gst_event_new_flush_start ());
  gst_harness_push_event (rig.h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (rig.h, gst_event_new_segment (&segment));
  fail_unless_equals_int64 (debt (&rig), 0);
  rig.stamp = 0;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_new_format_drains_the_old_one)
{
  Rig rig;
  guint len;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -100 * MS);
  push (&rig, 1);
  len = rig.out->len;
  gst_harness_set_src_caps_str (rig.h, "audio/x-raw, format=" GST_AUDIO_NE (F32)
      ", rate=16000, channels=2, layout=interleaved");
  collect (&rig);
  fail_unless (rig.out->len > len);
  fail_unless_equals_int64 (debt (&rig), 0);
  gst_audio_info_set_format (&rig.info, GST_AUDIO_FORMAT_F32, 16000, 2, NULL);
  fail_unless (passes_untouched (&rig));
  adjust (&rig, -20 * MS);
  push_until_done (&rig);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_the_same_format_changes_nothing)
{
  Rig rig;
  gint64 before;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -400 * MS);
  push (&rig, 1);
  before = debt (&rig);
  gst_harness_set_src_caps (rig.h, gst_audio_info_to_caps (&rig.info));
  fail_unless_equals_int64 (debt (&rig), before);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_minute_too_much_is_cut)
{
  Rig rig;

  rig_init (&rig);
  rig.stamp += 60 * GST_SECOND;
  rig.position = rig.stamp;
  push (&rig, 10);
  for (gint i = 0; i < 6; i++)
    adjust (&rig, -10 * (GstClockTimeDiff) GST_SECOND);
  for (gint i = 0; i < 620; i++)
    push_buffer (&rig, make_buffer (&rig));
  push_until_done (&rig);
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_absurd_events_do_nothing)
{
  static const gint64 absurd[] = { G_MININT64, G_MAXINT64, 0 };
  Rig rig;

  rig_init (&rig);
  push (&rig, 10);
  for (guint i = 0; i < G_N_ELEMENTS (absurd); i++) {
    push_event (&rig, absurd[i]);
    fail_unless (passes_untouched (&rig));
  }
  gst_harness_push_event (rig.h,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new (ADJUST, "adjustment", G_TYPE_STRING, "x", NULL)));
  gst_harness_push_event (rig.h,
      gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
          gst_structure_new_empty (ADJUST)));
  rig.stamp -= 20 * MS;
  fail_unless (passes_untouched (&rig));
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_buffers_without_time_follow_on)
{
  Rig rig;
  GstBuffer *buffer;

  rig_init (&rig);
  push (&rig, 10);
  adjust (&rig, -20 * MS);
  push (&rig, 1);
  for (gint i = 0; i < 100; i++) {
    buffer = make_buffer (&rig);
    GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
    push_buffer (&rig, buffer);
    if (debt (&rig) == 0)
      break;
  }
  fail_unless_equals_int64 (debt (&rig), 0);
  fail_unless_equals_int (rig.n_gaps, 0);
  fail_unless_equals_int (gst_harness_push (rig.h, gst_buffer_new ()),
      GST_FLOW_OK);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
qmstretch_suite (void)
{
  Suite *s = suite_create ("qmstretch");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_without_an_adjustment_buffers_pass);
  tcase_add_loop_test (tc, test_each_adjustment_is_worked_off_exactly, 0,
      G_N_ELEMENTS (formats));
  tcase_add_test (tc, test_no_adjustment_is_a_click);
  tcase_add_test (tc, test_growth_beyond_the_latency_leaves_a_gap);
  tcase_add_test (tc, test_latency_is_reported_and_limits_growth);
  tcase_add_test (tc, test_other_jumps_pass_as_they_are);
  tcase_add_test (tc, test_announcements_without_a_jump_do_nothing);
  tcase_add_test (tc, test_an_announcement_may_be_early);
  tcase_add_test (tc, test_a_gap_takes_up_what_is_to_be_done);
  tcase_add_test (tc, test_eos_drains);
  tcase_add_test (tc, test_flush_forgets);
  tcase_add_test (tc, test_a_new_format_drains_the_old_one);
  tcase_add_test (tc, test_the_same_format_changes_nothing);
  tcase_add_test (tc, test_a_minute_too_much_is_cut);
  tcase_add_test (tc, test_absurd_events_do_nothing);
  tcase_add_test (tc, test_buffers_without_time_follow_on);
  return s;
}

GST_CHECK_MAIN (qmstretch);
