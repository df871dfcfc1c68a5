/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Silence is the time to change the delay. */

#include "qmjitterbuffercheck.h"

GST_START_TEST (test_silence_is_no_reason_to_grow_and_one_to_shrink)
{
  GstHarness *h = harness_new ("qmjitterbuffer memory-time=0");
  GstClockTimeDiff delay = 0;

  /* talkspurts of 12 packets with a second of silence between them */
  for (guint spurt = 0, n = 0; spurt < 4; spurt++) {
    for (guint i = 0; i < 12; i++, n++) {
      GstBuffer *buffer = make_packet (n);
      GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
      guint slot = n + 50 * spurt;

      gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_marker (&rtp, i == 0);
      gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + slot * UNITS);
      gst_rtp_buffer_unmap (&rtp);
      push_late (h, buffer, slot, n == 8 ? 95 * MS : 0);
      buffer = gst_harness_pull (h);
      delay = GST_CLOCK_DIFF (sent (slot), GST_BUFFER_PTS (buffer));
      gst_buffer_unref (buffer);
      fail_unless (spurt != 1 || delay >= 60 * MS);
    }
  }
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 1);
  fail_unless (stat_of (h, "qm-silence-jumps") > 0);
  fail_unless (delay <= 30 * MS);
  harness_free (h);
}

GST_END_TEST;

static GstBuffer *
make_packet_with_level (guint n, guint8 level)
{
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_add_extension_onebyte_header (&rtp, 3, &level, 1);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static guint
packets_until_shrunk (guint8 level, const gchar * extmap)
{
  gchar *caps = g_strdup_printf (CAPS ", %s=(string)" LEVEL_URI, extmap);
  GstHarness *h = harness_new ("qmjitterbuffer memory-time=0");
  guint n;

  gst_harness_set_src_caps_str (h, caps);
  g_free (caps);
  pass (h, 0, 0);
  pass (h, 1, 55 * MS);
  for (n = 2; n < 300 && stat_of (h, "qm-shrunk") == 0; n++) {
    push_late (h, make_packet_with_level (n, level), n, 0);
    wait_decided (h, n + 1);
  }
  harness_free (h);
  return n;
}

GST_START_TEST (test_quiet_packets_go_first)
{
  guint loud = packets_until_shrunk (20, "extmap-3");
  guint quiet = packets_until_shrunk (70, "extmap-3");

  fail_unless (loud > 60 && loud < 100, "%u", loud);
  fail_unless (quiet > 10 && quiet < 30, "%u", quiet);
}

GST_END_TEST;

/* The caps name an id that no header of short ids can have. */
GST_START_TEST (test_a_long_id_is_not_looked_for_among_short_ones)
{
  fail_unless (packets_until_shrunk (70, "extmap-20") > 60);
}

GST_END_TEST;

/* Opus tells of silence with next to nothing in the packet. */
GST_START_TEST (test_packets_of_dtx_go_first)
{
  GstHarness *h = harness_new ("qmjitterbuffer memory-time=0");
  guint n;

  pass (h, 0, 0);
  pass (h, 1, 55 * MS);
  for (n = 2; n < 300 && stat_of (h, "qm-shrunk") == 0; n++) {
    GstBuffer *buffer = make_packet (n);

    gst_buffer_resize (buffer, 0, 12 + 1);
    push_late (h, buffer, n, 0);
    wait_decided (h, n + 1);
  }
  fail_unless (n > 10 && n < 30, "%u", n);
  harness_free (h);
}

GST_END_TEST;

static GstCaps *
answer_g711 (GstElement * element G_GNUC_UNUSED, guint pt,
    gpointer user G_GNUC_UNUSED)
{
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, 8000, "encoding-name", G_TYPE_STRING,
      pt == COMFORT_NOISE_PT ? "CN" : "PCMU", NULL);
}

static GstBuffer *
make_g711 (guint n, guint slot, guint pt)
{
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  if (pt == COMFORT_NOISE_PT)
    gst_buffer_resize (buffer, 0, 12 + 10);     /* level and reflections */
  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, pt);
  gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + slot * 160);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

/* A second of speech, two with an update of the noise each 200 ms, and so on:
 * the same stream goes on, and what the noise skips is neither late nor lost. */
GST_START_TEST (test_comfort_noise_is_no_other_stream)
{
  GstHarness *h = harness_new ("qmjitterbuffer memory-time=0");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  const guint late_slot = 30;
  GstClockTimeDiff last_delay = 0;

  g_signal_connect (e, "request-pt-map", G_CALLBACK (answer_g711), NULL);
  gst_object_unref (e);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  for (guint slot = 0, n = 0; slot < 20 * 150; slot++) {
    gboolean noise = slot % 150 >= 50;
    GstBuffer *buffer;
    GstClockTimeDiff delay;

    if (noise && slot % 10 != 0)
      continue;
    buffer = make_g711 (n, slot, noise ? COMFORT_NOISE_PT : 0);
    push_late (h, buffer, slot, slot == late_slot ? 35 * MS : 0);
    buffer = gst_harness_pull (h);
    fail_unless_equals_int (number_of (buffer), n);
    delay = GST_CLOCK_DIFF (sent (slot), GST_BUFFER_PTS (buffer));
    gst_buffer_unref (buffer);
    if (slot < 150)
      fail_unless_equals_int64 (delay, slot < late_slot ? 0 : 36 * MS);
    fail_unless (slot < 150 || delay == last_delay
        || (noise && delay < last_delay));
    last_delay = delay;
    n++;
  }
  fail_unless (last_delay <= 20 * (GstClockTimeDiff) MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 1);
  fail_unless_equals_uint64 (stat_of (h, "qm-dropped"), 0);
  harness_free (h);
}

GST_END_TEST;

/* Packet @n, which was sent in @slot */
static void
push_in_slot (GstHarness * h, guint n, guint slot)
{
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + slot * UNITS);
  gst_rtp_buffer_unmap (&rtp);
  push_late (h, buffer, slot, 0);
}

static guint64
inner_counts (GstHarness * h)
{
  return stat_of (h, "num-late") + stat_of (h, "num-duplicates");
}

/* In a talkspurt after @pause packets' time of silence that one is lost: a tenth of a
 * second later those behind it are out. */
static void
lose_after_a_pause (guint n_before, guint pause, guint lost)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n, end = n_before + lost + 6;

  push_in_slot (h, 0, 0);
  pull_due (h, 0);              /* before the clock moves on */
  for (n = 1; n < n_before; n++)
    push_in_slot (h, n, n);
  for (; n < end; n++)
    if (n != n_before + lost)
      push_in_slot (h, n, n + pause);
  for (n = 1; n < end; n++)
    if (n != n_before + lost)
      pull_due (h, n);
  fail_unless_equals_uint64 (stat_of (h, "num-lost"), 1);
  fail_unless_equals_uint64 (inner_counts (h), 0);
  harness_free (h);
}

GST_START_TEST (test_a_packet_lost_after_a_pause_holds_up_none)
{
  static const guint before[] = { 1, 2, 100 };

  for (guint lost = 1; lost < 8; lost++)
    lose_after_a_pause (before[__i__], 200, lost);
}

GST_END_TEST;

/* It is told of pauses by what it drops: that is nobody's loss. */
GST_START_TEST (test_pauses_are_no_drops)
{
  GstHarness *h = harness_new ("qmjitterbuffer post-drop-messages=true");
  GstMessage *message;
  guint seq;

  for (guint n = 0; n < 100; n++) {
    push_in_slot (h, n, n + n / 20 * n);
    pull_due (h, n);
  }
  fail_unless (pop_message (h, "drop-msg") == NULL);
  push_in_slot (h, 98, 98 + 4 * 98);    /* a second time: too late */
  message = pop_message (h, "drop-msg");
  fail_unless (gst_structure_get_uint (gst_message_get_structure (message),
          "seqnum", &seq));
  fail_unless_equals_int (seq, (guint16) (SEQ + 98));
  gst_message_unref (message);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_silence_suite (void)
{
  Suite *suite = suite_create ("qmjitterbuffer-silence");
  TCase *tc;

  tc = tcase_create ("silence");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_silence_is_no_reason_to_grow_and_one_to_shrink);
  tcase_add_test (tc, test_quiet_packets_go_first);
  tcase_add_test (tc, test_a_long_id_is_not_looked_for_among_short_ones);
  tcase_add_test (tc, test_packets_of_dtx_go_first);
  tcase_add_test (tc, test_comfort_noise_is_no_other_stream);
  tcase_add_loop_test (tc, test_a_packet_lost_after_a_pause_holds_up_none, 0,
      3);
  tcase_add_test (tc, test_pauses_are_no_drops);
  return suite;
}

GST_CHECK_MAIN (qmjitterbuffer_silence);
