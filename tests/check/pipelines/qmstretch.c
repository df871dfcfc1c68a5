/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qmjitterbuffer and qmstretch with a depayloader and a decoder in between */
#include <math.h>

#include <gst/audio/audio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

#define MS GST_MSECOND
#define PACKET (20 * MS)
#define SAMPLES 960             /* of 48 kHz in a packet */
#define FIRST_SENT (10 * GST_SECOND)
#define N_PACKETS 800
#define LOOK (10 * MS)          /* real time between two looks */
#define PATIENCE_US (100 * G_USEC_PER_SEC)      /* nothing here takes so long */
#define ENCODE "opusenc ! rtpopuspay pt=96 ssrc=24 seqnum-offset=65500 " \
    "timestamp-offset=4294900000"
#define DECODE "rtpopusdepay ! opusdec plc=true name=decoder ! " \
    "qmstretch name=stretch latency=20000000 ! fakesink name=sink signal-handoffs=true " \
    "sync=false async=false"

/* Each packet that is late by more than all before makes the delay grow; then
 * there is a long calm in which it shrinks. */
static const struct
{
  guint n;
  GstClockTime late;
} late_packets[] = {
  {60, 12 * MS},
  {130, 28 * MS},
  {200, 45 * MS},
  {201, 26 * MS},
  {270, 61 * MS},
  {271, 42 * MS},
  {272, 23 * MS},
};

/* What happened */
typedef struct
{
  GstClockTimeDiff adjusted;    /* by qmjitterbuffer, all together */
  guint n_grown, n_shrunk;
  GstClockTime decoded_until, played_until;
  guint n_buffers, n_gaps;
  gint64 stretched;             /* frames */
  GstClockTimeDiff debt;
} Outcome;

/* Eight harmonics around 120 Hz, a pause of 60 ms each 400 ms */
static GstBuffer *
speak (guint packet)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2 * SAMPLES, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint i = 0; i < SAMPLES; i++) {
    gdouble t = (packet * SAMPLES + i) / 48000.0, s = fmod (t, 0.4), y = 0.0;

    for (gint k = 1; k <= 8 && s < 0.34; k++)
      y += sin (k * 2.0 * G_PI * (120.0 * t + 5.0 * sin (4.0 * t))) / k;
    ((gint16 *) map.data)[i] = (gint16) (6000.0 * y * sin (G_PI * s / 0.34));
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = packet * PACKET;
  GST_BUFFER_DURATION (buffer) = PACKET;
  return buffer;
}

static GstClockTime
arrival (guint packet)
{
  GstClockTime late = 0;

  for (guint i = 0; i < G_N_ELEMENTS (late_packets); i++)
    if (late_packets[i].n == packet)
      late = late_packets[i].late;
  return FIRST_SENT + packet * PACKET + late;
}

static GPtrArray *
packets_new (GstCaps ** caps)
{
  GstHarness *h = gst_harness_new_parse (ENCODE);
  GPtrArray *packets = g_ptr_array_new ();

  gst_harness_set_src_caps_str (h, "audio/x-raw, format=" GST_AUDIO_NE (S16)
      ", rate=48000, channels=1, layout=interleaved");
  gst_harness_push (h, speak (0));      /* counts for less than it lasts */
  gst_buffer_unref (gst_harness_pull (h));
  for (guint i = 0; i < N_PACKETS; i++) {
    GstBuffer *packet;

    gst_harness_push (h, speak (i + 1));
    packet = gst_buffer_make_writable (gst_harness_pull (h));
    GST_BUFFER_PTS (packet) = arrival (i);
    GST_BUFFER_DTS (packet) = arrival (i);
    GST_BUFFER_FLAG_UNSET (packet, GST_BUFFER_FLAG_DISCONT);
    g_ptr_array_add (packets, packet);
  }
  *caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_teardown (h);
  return packets;
}

static void
on_played (GstElement * sink, GstBuffer * buffer, GstPad * pad,
    Outcome * outcome)
{
  GstClockTimeDiff step = GST_CLOCK_DIFF (outcome->played_until,
      GST_BUFFER_PTS (buffer));

  if (outcome->n_buffers++ > 0 && (ABS (step) > 1
          || GST_BUFFER_IS_DISCONT (buffer)))
    outcome->n_gaps++;
  outcome->played_until = GST_BUFFER_PTS (buffer)
      + GST_BUFFER_DURATION (buffer);
}

static GstPadProbeReturn
on_decoded (GstPad * pad, GstPadProbeInfo * info, gpointer user)
{
  Outcome *outcome = user;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  outcome->decoded_until = GST_BUFFER_PTS (buffer)
      + GST_BUFFER_DURATION (buffer);
  return GST_PAD_PROBE_OK;
}

static void
on_pad_added (GstElement * rtpbin, GstPad * pad, GstElement * pipeline)
{
  GstElement *decode;
  GstPad *sink;

  if (!g_str_has_prefix (GST_PAD_NAME (pad), "recv_rtp_src"))
    return;
  decode = gst_bin_get_by_name (GST_BIN (pipeline), "decode");
  sink = gst_element_get_static_pad (decode, "sink");
  fail_unless_equals_int (gst_pad_link (pad, sink), GST_PAD_LINK_OK);
  gst_object_unref (sink);
  gst_object_unref (decode);
}

static void
listen_to (GstElement * pipeline, Outcome * outcome)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstElement *decoder = gst_bin_get_by_name (GST_BIN (pipeline), "decoder");
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "rtpbin");
  GstPad *pad = gst_element_get_static_pad (decoder, "src");

  g_signal_connect (sink, "handoff", G_CALLBACK (on_played), outcome);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_decoded, outcome, NULL);
  gst_object_unref (pad);
  gst_object_unref (decoder);
  gst_object_unref (sink);
  if (rtpbin != NULL) {
    g_signal_connect (rtpbin, "pad-added", G_CALLBACK (on_pad_added), pipeline);
    gst_object_unref (rtpbin);
  }
}

static void
note_adaptation (Outcome * outcome, const GstStructure * s)
{
  guint64 before, after;

  fail_unless (gst_structure_get_uint64 (s, "before", &before));
  fail_unless (gst_structure_get_uint64 (s, "after", &after));
  outcome->adjusted += GST_CLOCK_DIFF (before, after);
  outcome->n_grown += after > before;
  outcome->n_shrunk += after < before;
}

/* Lets all go who wait for a time that is over, which moving @clock on does not. */
static void
let_go (GstTestClock * clock)
{
  GstClockID id;

  while ((id = gst_test_clock_process_next_clock_id (clock)) != NULL)
    gst_clock_id_unref (id);
}

static void
wait_for_eos (GstElement * pipeline, GstTestClock * clock, Outcome * outcome)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  gint64 end_us = g_get_monotonic_time () + PATIENCE_US;
  gboolean eos = FALSE;

  while (!eos) {
    GstMessage *message = gst_bus_timed_pop_filtered (bus, LOOK,
        GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);

    if (message == NULL) {
      /* who has looked at the clock before, and waits only now */
      let_go (clock);
      fail_if (g_get_monotonic_time () > end_us, "it does not end");
      continue;
    }
    fail_if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR);
    eos = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
    if (gst_message_has_name (message, "fairmix-playout-adaptation"))
      note_adaptation (outcome, gst_message_get_structure (message));
    gst_message_unref (message);
  }
  gst_object_unref (bus);
}

static void
read_stats (GstElement * pipeline, Outcome * outcome)
{
  GstElement *stretch = gst_bin_get_by_name (GST_BIN (pipeline), "stretch");
  GstStructure *stats;
  guint64 inserted, removed;

  g_object_get (stretch, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "inserted", G_TYPE_UINT64, &inserted,
          "removed", G_TYPE_UINT64, &removed, "debt", G_TYPE_INT64,
          &outcome->debt, NULL));
  outcome->stretched = (gint64) (inserted - removed);
  gst_structure_free (stats);
  gst_object_unref (stretch);
}

static void
play (const gchar * receive, Outcome * outcome)
{
  gchar *launch = g_strdup_printf ("appsrc name=in is-live=true format=time "
      "max-bytes=0 %s " DECODE, receive);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstElement *in = gst_bin_get_by_name (GST_BIN (pipeline), "in");
  GstClock *clock = gst_test_clock_new ();
  GstFlowReturn flow;
  GstCaps *caps;
  GPtrArray *packets = packets_new (&caps);
  guint64 level;

  memset (outcome, 0, sizeof *outcome);
  gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  listen_to (pipeline, outcome);
  g_object_set (in, "caps", caps, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < packets->len; i++) {
    g_signal_emit_by_name (in, "push-buffer", packets->pdata[i], &flow);
    fail_unless_equals_int (flow, GST_FLOW_OK);
    gst_buffer_unref (packets->pdata[i]);
  }
  /* before the clock passes the times of arrival that they are stamped with */
  do
    g_object_get (in, "current-level-bytes", &level, NULL);
  while (level > 0);
  gst_test_clock_set_time (GST_TEST_CLOCK (clock), FIRST_SENT
      + (N_PACKETS + 50) * PACKET);
  let_go (GST_TEST_CLOCK (clock));
  g_signal_emit_by_name (in, "end-of-stream", &flow);
  wait_for_eos (pipeline, GST_TEST_CLOCK (clock), outcome);
  read_stats (pipeline, outcome);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  g_ptr_array_unref (packets);
  gst_caps_unref (caps);
  gst_object_unref (in);
  gst_object_unref (clock);
  gst_object_unref (pipeline);
  g_free (launch);
}

static const gchar *const receivers[] = {
  "! qmjitterbuffer memory-time=0 ! ",
  "! rtpbin.recv_rtp_sink_0 rtpbin name=rtpbin qmrtpbin rtpbin=rtpbin "
      "jitterbuffer=\"props,memory-time=(uint)0\" " "identity name=decode ! ",
};

/* The adjustments come through depayloader, decoder and rtpbin; that somebody
 * stretches goes the other way, so no packet is dropped to shrink.  All that the
 * jitter buffer did is heard as one voice without a break. */
GST_START_TEST (test_what_is_heard_is_continuous)
{
  Outcome o;

  play (receivers[__i__], &o);
  fail_unless_equals_int (o.n_gaps, 0);
  fail_unless_equals_int (o.n_grown, 4);
  fail_unless (o.n_shrunk >= 2);
  fail_unless_equals_int64 (o.debt, 0);
  fail_unless_equals_int64 (o.stretched * GST_SECOND / 48000, o.adjusted);
  fail_unless_equals_uint64 (o.played_until, o.decoded_until);
}

GST_END_TEST;

static Suite *
qmstretch_suite (void)
{
  Suite *s = suite_create ("pipeline-qmstretch");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_loop_test (tc, test_what_is_heard_is_continuous, 0,
      G_N_ELEMENTS (receivers));
  return s;
}

GST_CHECK_MAIN (qmstretch);
