/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/rtp/rtp.h>

#define MS GST_MSECOND
#define PACKET (20 * MS)
#define CLOCK_RATE 48000
#define UNITS 960               /* of the clock rate in a packet */
#define PT 96
#define SSRC 0xfa12d1e5
#define SEQ 65530               /* wraps soon */
#define FIRST_SENT (10 * GST_SECOND)
#define COMFORT_NOISE_PT 13     /* [RFC3389 5] */
#define LEVEL_URI "urn:ietf:params:rtp-hdrext:ssrc-audio-level"

#define CAPS "application/x-rtp, media=(string)audio, clock-rate=(int)48000, " \
    "encoding-name=(string)OPUS, payload=(int)96"

/* --- a stream --- */

static GstBuffer *
make_packet (guint n)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (40, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, PT);
  gst_rtp_buffer_set_ssrc (&rtp, SSRC);
  gst_rtp_buffer_set_seq (&rtp, (guint16) (SEQ + n));
  gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + n * UNITS);
  memset (gst_rtp_buffer_get_payload (&rtp), 0x55, 40);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static GstClockTime
sent (guint n)
{
  return FIRST_SENT + n * PACKET;
}

/* @buffer arrives @delay after packet @n was sent */
static void
push_late (GstHarness * h, GstBuffer * buffer, guint n, GstClockTimeDiff delay)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstClockTime arrival = sent (n) + delay;

  if (arrival > gst_clock_get_time (GST_CLOCK (clock)))
    gst_harness_set_time (h, arrival);
  gst_object_unref (clock);
  GST_BUFFER_PTS (buffer) = arrival;
  GST_BUFFER_DTS (buffer) = arrival;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static void
push (GstHarness * h, guint n, GstClockTimeDiff delay)
{
  push_late (h, make_packet (n), n, delay);
}

static guint
number_of (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint n;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  n = (guint16) (gst_rtp_buffer_get_seq (&rtp) - SEQ);
  gst_rtp_buffer_unmap (&rtp);
  return n;
}

/* Takes packet @n; returns how much later than sent it is to be played */
static GstClockTimeDiff
pull (GstHarness * h, guint n)
{
  GstBuffer *buffer = gst_harness_pull (h);
  GstClockTime pts;

  fail_unless (buffer != NULL);
  fail_unless_equals_int (number_of (buffer), n & 0xffff);
  pts = GST_BUFFER_PTS (buffer);
  gst_buffer_unref (buffer);
  return GST_CLOCK_DIFF (sent (n), pts);
}

static GstClockTimeDiff
pass (GstHarness * h, guint n, GstClockTimeDiff delay)
{
  push (h, n, delay);
  return pull (h, n);
}

static GstHarness *
harness_new (const gchar * launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static void
harness_free (GstHarness * h)
{
  GstBus *bus = gst_element_get_bus (h->element);

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static GstMessage *
pop_message (GstHarness * h, const gchar * name)
{
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;

  while ((message = gst_bus_pop (bus)) != NULL) {
    if (gst_message_has_name (message, name))
      break;
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return message;
}

static guint64
stat_of (GstHarness * h, const gchar * field)
{
  GstElement *element =
      g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), "stats") ?
      gst_object_ref (h->element) :
      gst_harness_find_element (h, "qmjitterbuffer");
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &value), field);
  gst_structure_free (stats);
  gst_object_unref (element);
  return value;
}

/* Waits until it is decided what becomes of the first @n packets. */
static void
wait_decided (GstHarness * h, guint n)
{
  while (stat_of (h, "qm-played") + stat_of (h, "qm-dropped")
      + stat_of (h, "qm-late") < n)
    g_thread_yield ();
}

/* The same where packets are missing: the timers that wait for them run out. */
static void
wait_decided_by_timers (GstHarness * h, guint n)
{
  GstTestClock *clock = gst_harness_get_testclock (h);

  while (stat_of (h, "qm-played") + stat_of (h, "qm-dropped")
      + stat_of (h, "qm-late") < n) {
    GstClockID id = NULL;

    if (gst_test_clock_peek_next_pending_id (clock, &id)
        && gst_clock_id_get_time (id) <= gst_clock_get_time (GST_CLOCK (clock)))
      gst_clock_id_unref (gst_test_clock_process_next_clock_id (clock));
    g_clear_pointer (&id, gst_clock_id_unref);
    g_thread_yield ();
  }
  gst_object_unref (clock);
}

/* Takes the next packet; returns how much later than sent it is to be played */
static GstClockTimeDiff
pull_any (GstHarness * h, guint * n)
{
  GstBuffer *buffer = gst_harness_pull (h);
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  *n = number_of (buffer);
  gst_buffer_unref (buffer);
  return GST_CLOCK_DIFF (sent (*n), pts);
}

/* --- what rtpbin, webrtcbin and applications look for --- */

GST_START_TEST (test_has_the_properties_of_rtpjitterbuffer)
{
  GstElement *stock = gst_element_factory_make ("rtpjitterbuffer", NULL);
  GstElement *ours = gst_element_factory_make ("qmjitterbuffer", NULL);
  guint n;
  GParamSpec **specs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (stock), &n);

  for (guint i = 0; i < n; i++) {
    GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (ours),
        specs[i]->name);

    fail_unless (spec != NULL, "%s is missing", specs[i]->name);
    fail_unless_equals_int (G_TYPE_FUNDAMENTAL (spec->value_type),
        G_TYPE_FUNDAMENTAL (specs[i]->value_type));
    fail_unless_equals_int (spec->flags & G_PARAM_READWRITE,
        specs[i]->flags & G_PARAM_READWRITE);
    if (specs[i]->owner_type == G_OBJECT_TYPE (stock)
        && !G_IS_PARAM_SPEC_BOXED (spec) && !G_IS_PARAM_SPEC_ENUM (spec))
      fail_unless (g_param_values_cmp (spec,
              g_param_spec_get_default_value (spec),
              g_param_spec_get_default_value (specs[i])) == 0,
          "%s has another default", specs[i]->name);
  }
  g_free (specs);
  gst_object_unref (stock);
  gst_object_unref (ours);
}

GST_END_TEST;

GST_START_TEST (test_keeps_what_is_set)
{
  GstElement *e = gst_element_factory_make ("qmjitterbuffer", NULL);
  guint latency, retry, dropout;
  gboolean drop, rtx;
  gint mode;
  gint64 offset;

  g_object_set (e, "latency", 120u, "drop-on-latency", TRUE, "mode", 4,
      "do-retransmission", TRUE, "ts-offset", (gint64) - 5,
      "max-dropout-time", 1234u, "rtx-min-delay", 7u, NULL);
  g_object_get (e, "latency", &latency, "drop-on-latency", &drop, "mode",
      &mode, "do-retransmission", &rtx, "ts-offset", &offset,
      "max-dropout-time", &dropout, "rtx-min-delay", &retry, NULL);
  fail_unless_equals_int (latency, 120);
  fail_unless (drop && rtx);
  fail_unless_equals_int (mode, 4);
  fail_unless_equals_int64 (offset, -5);
  fail_unless_equals_int (dropout, 1234);
  fail_unless_equals_int (retry, 7);
  gst_object_unref (e);
}

GST_END_TEST;

static GstCaps *
answer_pt_map (GstElement * element G_GNUC_UNUSED, guint pt, guint * asked)
{
  *asked = pt;
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, CLOCK_RATE, NULL);
}

GST_START_TEST (test_asks_for_the_clock_rate)
{
  GstHarness *h = gst_harness_new_parse ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  guint asked = 0;

  g_signal_connect (e, "request-pt-map", G_CALLBACK (answer_pt_map), &asked);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  pass (h, 0, 0);
  fail_unless_equals_int (asked, PT);
  fail_unless (pass (h, 1, 15 * MS) > 0);       /* and adapts with the answer */
  g_signal_emit_by_name (e, "clear-pt-map");
  gst_object_unref (e);
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstBuffer *
make_sender_report (guint32 rtptime)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  GstBuffer *buffer = gst_rtcp_buffer_new (1000);

  fail_unless (gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp));
  fail_unless (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_SR, &packet));
  gst_rtcp_packet_sr_set_sender_info (&packet, SSRC,
      G_GUINT64_CONSTANT (0xdeadbeef00000000), rtptime, 1, 1);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

static void
count_sync (GstElement * element G_GNUC_UNUSED, GstStructure * s,
    guint * n_syncs)
{
  fail_unless (gst_structure_has_field (s, "sr-ext-rtptime"));
  fail_unless (gst_structure_has_field (s, "base-rtptime"));
  (*n_syncs)++;
}

GST_START_TEST (test_hands_sender_reports_on)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstPad *sink = gst_element_request_pad_simple (e, "sink_rtcp");
  GstHarness *rtcp;
  guint n_syncs = 0;

  fail_unless (sink != NULL);
  fail_unless_equals_string (GST_PAD_NAME (sink), "sink_rtcp");
  gst_object_unref (sink);
  rtcp = gst_harness_new_with_element (e, "sink_rtcp", NULL);
  gst_harness_set_src_caps_str (rtcp, "application/x-rtcp");
  g_signal_connect (e, "handle-sync", G_CALLBACK (count_sync), &n_syncs);
  pass (h, 0, 0);
  fail_unless_equals_int (gst_harness_push (rtcp,
          make_sender_report (4294960000u)), GST_FLOW_OK);
  pass (h, 1, 0);
  fail_unless (n_syncs > 0);
  gst_harness_teardown (rtcp);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_reports_buffering_as_its_own)
{
  GstHarness *h = harness_new ("qmjitterbuffer mode=buffer latency=100");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;

  /* as a pipeline does; the stock element fills up to that */
  gst_harness_push_upstream_event (h, gst_event_new_latency (100 * MS));
  for (guint n = 0; n < 10; n++)
    push (h, n, 0);
  gst_harness_set_time (h, sent (60));
  /* it runs low, and fills up again */
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_BUFFERING);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (e));
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

/* --- playout --- */

GST_START_TEST (test_a_steady_stream_is_played_as_it_was_sent)
{
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint n = 0; n < 500; n++)
    fail_unless_equals_int64 (pass (h, n, 3 * MS), 3 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-shrunk"), 0);
  fail_unless_equals_uint64 (stat_of (h, "num-pushed"), 500);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_the_delay_grows_for_a_late_packet)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstBuffer *buffer;
  GstMessage *message;
  const GstStructure *s;
  guint64 before, after;
  guint ssrc;
  gint64 adjustment = 0;
  GstEvent *event;

  pass (h, 0, 0);
  pass (h, 1, 0);
  fail_unless (pop_message (h, "fairmix-playout-adaptation") == NULL);
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);
  push (h, 2, 45 * MS);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (2) + 50 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT));
  gst_buffer_unref (buffer);

  message = pop_message (h, "fairmix-playout-adaptation");
  fail_unless (message != NULL);
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_get (s, "ssrc", G_TYPE_UINT, &ssrc, "before",
          G_TYPE_UINT64, &before, "after", G_TYPE_UINT64, &after, NULL));
  fail_unless_equals_int (ssrc, SSRC);
  fail_unless_equals_uint64 (before, 0);
  fail_unless_equals_uint64 (after, 50 * MS);
  fail_unless_equals_string (gst_structure_get_string (s, "reason"), "late");
  gst_message_unref (message);

  event = gst_harness_pull_event (h);
  fail_unless (gst_event_has_name (event, "fairmix-playout-adjust"));
  fail_unless (gst_structure_get_int64 (gst_event_get_structure (event),
          "adjustment", &adjustment));
  fail_unless_equals_int64 (adjustment, 50 * MS);
  gst_event_unref (event);

  push (h, 3, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (3) + 50 * MS);
  fail_if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_standing_queue_loses_a_packet_and_no_time)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstClockTimeDiff delay;
  GstBuffer *buffer;
  GstMessage *message;
  guint n;

  pass (h, 0, 0);
  delay = pass (h, 1, 55 * MS);
  fail_unless_equals_int64 (delay, 60 * MS);
  for (n = 2; n < 200; n++) {
    push (h, n, 0);
    wait_decided (h, n + 1);
    if (stat_of (h, "qm-shrunk") > 0)
      break;
    fail_unless_equals_int64 (pull (h, n), 60 * MS);
  }
  fail_unless (n < 200);
  /* packet n has gone; n + 1 takes its slot */
  push (h, n + 1, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_int (number_of (buffer), n + 1);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (n) + 60 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  message = pop_message (h, "fairmix-playout-adaptation");      /* late */
  gst_message_unref (message);
  message = pop_message (h, "fairmix-playout-adaptation");
  fail_unless_equals_string (gst_structure_get_string
      (gst_message_get_structure (message), "reason"), "standing-queue");
  gst_message_unref (message);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_shrink_shift_plays_every_packet)
{
  GstHarness *h = harness_new ("qmjitterbuffer shrink=shift");

  GstClockTimeDiff delay;
  guint64 n_shrunk = 0;

  pass (h, 0, 0);
  delay = pass (h, 1, 55 * MS);
  for (guint n = 2; n < 1000; n++) {
    GstClockTimeDiff now = pass (h, n, 0);

    /* the packet that would have been dropped is the first to come earlier */
    fail_unless_equals_int64 (delay - now,
        (stat_of (h, "qm-shrunk") - n_shrunk) * PACKET);
    n_shrunk = stat_of (h, "qm-shrunk");
    delay = now;
  }
  fail_unless (n_shrunk > 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-dropped"), 0);
  fail_unless (stat_of (h, "qm-delay") <= 40 * MS);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_the_reported_latency_stays)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=150");
  GstBus *bus = gst_element_get_bus (h->element);

  gst_harness_set_upstream_latency (h, 7 * MS);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 7 * MS);
  for (guint n = 0; n < 600; n++) {
    push (h, n, n % 100 == 50 ? 80 * MS : 0);
    wait_decided (h, n + 1);
    while (gst_harness_buffers_in_queue (h) > 0)
      gst_buffer_unref (gst_harness_pull (h));
  }
  fail_unless (stat_of (h, "qm-grown") > 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 7 * MS);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  gst_object_unref (bus);
  harness_free (h);
}

GST_END_TEST;

/* A packet is missing: those behind it wait for its slot and no longer. */
GST_START_TEST (test_a_gap_is_held_until_its_slot)
{
  GstHarness *h = harness_new ("qmjitterbuffer do-lost=true");
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstEvent *event;
  GstClockID id;
  guint64 timestamp = 0;
  guint n;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  pass (h, n++, 75 * MS);       /* the delay is 80 ms now */
  for (; n < 110; n++)
    pass (h, n, 0);
  while ((event = gst_harness_try_pull_event (h)))
    gst_event_unref (event);

  push (h, 111, 0);             /* 110 is missing */
  gst_test_clock_wait_for_next_pending_id (clock, &id);
  fail_unless (ABS (GST_CLOCK_DIFF (gst_clock_id_get_time (id),
              sent (110) + 80 * MS)) <= 5 * MS);
  gst_clock_id_unref (id);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fail_unless (gst_harness_crank_single_clock_wait (h));
  fail_unless_equals_int64 (pull (h, 111), 80 * MS);

  event = gst_harness_pull_event (h);
  fail_unless (gst_event_has_name (event, "GstRTPPacketLost"));
  fail_unless (gst_structure_get_uint64 (gst_event_get_structure (event),
          "timestamp", &timestamp));
  fail_unless (ABS (GST_CLOCK_DIFF (timestamp,
              sent (110) + 80 * MS)) <= 1 * MS);
  gst_event_unref (event);
  gst_object_unref (clock);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_reordered_packets_come_out_in_order)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  pass (h, n++, 75 * MS);
  for (; n < 110; n++)
    pass (h, n, 0);
  push (h, 111, 0);
  push (h, 110, 25 * MS);
  fail_unless_equals_int64 (pull (h, 110), 80 * MS);
  fail_unless_equals_int64 (pull (h, 111), 80 * MS);
  harness_free (h);
}

GST_END_TEST;

static GstPadProbeReturn
keep_blocked (GstPad * pad G_GNUC_UNUSED,
    GstPadProbeInfo * info G_GNUC_UNUSED, gpointer user G_GNUC_UNUSED)
{
  return GST_PAD_PROBE_OK;
}

/* A sink with a full buffer holds the streaming thread: no packet is late. */
GST_START_TEST (test_back_pressure_is_not_lateness)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstPad *src = gst_element_get_static_pad (e, "src");
  gulong probe;
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, 0);
  probe = gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK
      | GST_PAD_PROBE_TYPE_BUFFER, keep_blocked, NULL, NULL);
  for (n = 50; n < 80; n++)
    push (h, n, 0);
  gst_pad_remove_probe (src, probe);
  for (n = 50; n < 80; n++)
    fail_unless_equals_int64 (pull (h, n), 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (src);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_ts_offset_moves_timestamps)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  GstBuffer *buffer;
  guint n;

  for (n = 0; n < 10; n++)
    pass (h, n, 0);
  g_object_set (e, "ts-offset", (gint64) 30 * MS, NULL);
  push (h, n, 0);
  buffer = gst_harness_pull (h);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), sent (n++) + 30 * MS);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_RESYNC));
  gst_buffer_unref (buffer);
  g_object_set (e, "max-ts-offset-adjustment", (guint64) 1 * MS,
      "ts-offset", (gint64) - 30 * MS, NULL);
  for (guint i = 1; i <= 60; i++, n++)
    fail_unless_equals_int64 (pass (h, n, 0), (30 - (gint) i) * MS);
  fail_unless_equals_int64 (pass (h, n, 0), -30 * MS);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_without_adaptation_it_is_the_stock_element)
{
  GstHarness *ours = harness_new ("qmjitterbuffer adaptation=false latency=90");
  GstHarness *stock = harness_new ("rtpjitterbuffer latency=90");

  fail_unless_equals_uint64 (gst_harness_query_latency (ours), 90 * MS);
  for (guint n = 0; n < 300; n++) {
    GstClockTimeDiff delay = n % 50 == 30 ? 120 * MS : (n * 7 % 13) * MS;

    push (ours, n, delay);
    push (stock, n, delay);
    if (n == 0) {               /* they hold the first one */
      gst_harness_crank_single_clock_wait (ours);
      gst_harness_crank_single_clock_wait (stock);
    }
    fail_unless_equals_int64 (pull (ours, n), pull (stock, n));
  }
  harness_free (ours);
  harness_free (stock);
}

GST_END_TEST;

GST_START_TEST (test_other_modes_do_not_adapt)
{
  static const gchar *const launches[] = {
    "qmjitterbuffer mode=none latency=40",
    "qmjitterbuffer mode=synced latency=40",
    "qmjitterbuffer rfc7273-sync=true latency=40",
  };

  for (guint i = 0; i < G_N_ELEMENTS (launches); i++) {
    GstHarness *h = harness_new (launches[i]);

    fail_unless_equals_uint64 (gst_harness_query_latency (h), 40 * MS);
    harness_free (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_adaptation_can_be_switched_while_playing)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=40");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  g_object_set (e, "adaptation", FALSE, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 40 * MS);
  for (; n < 100; n++)
    pass (h, n, 0);
  g_object_set (e, "adaptation", TRUE, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 0);
  for (; n < 150; n++)
    pass (h, n, 0);
  fail_unless_equals_int64 (pass (h, n, 0), 0);
  gst_object_unref (e);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_video_keeps_a_fixed_delay_and_all_packets)
{
  GstHarness *h = harness_new ("qmjitterbuffer latency=70");

  gst_harness_set_src_caps_str (h, "application/x-rtp, media=(string)video, "
      "clock-rate=(int)48000, encoding-name=(string)VP8, payload=(int)96");
  for (guint n = 0; n < 400; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 70 * MS);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_retransmission_keeps_its_time)
{
  GstHarness *h =
      harness_new ("qmjitterbuffer do-retransmission=true latency=100");
  GstClockTimeDiff delay = 0;

  for (guint n = 0; n < 400; n++)
    delay = pass (h, n, 0);
  fail_unless_equals_int64 (delay, 100 * MS);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_arrival_timing_plays_at_the_mean_interval)
{
  GstHarness *h = harness_new ("qmjitterbuffer timing=arrival");
  GstClockTime last = 0;

  for (guint n = 0; n < 300; n++) {
    GstBuffer *buffer = make_packet (n), *out;
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    /* timestamps that say nothing */
    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_timestamp (&rtp, n);
    gst_rtp_buffer_unmap (&rtp);
    push_late (h, buffer, n, (n * 7 % 5) * 3 * MS);
    out = gst_harness_pull (h);
    if (n > 100)
      fail_unless (ABS (GST_CLOCK_DIFF (last + PACKET,
                  GST_BUFFER_PTS (out))) < 6 * MS);
    last = GST_BUFFER_PTS (out);
    gst_buffer_unref (out);
  }
  fail_unless (ABS (GST_CLOCK_DIFF (PACKET,
              stat_of (h, "qm-mean-interarrival"))) < 2 * MS);
  harness_free (h);
}

GST_END_TEST;

/* --- silence --- */

GST_START_TEST (test_silence_is_no_reason_to_grow_and_one_to_shrink)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
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
packets_until_shrunk (guint8 level)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n;

  gst_harness_set_src_caps_str (h, CAPS ", extmap-3=(string)" LEVEL_URI);
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
  guint loud = packets_until_shrunk (20), quiet = packets_until_shrunk (70);

  fail_unless (loud > 60 && loud < 100, "%u", loud);
  fail_unless (quiet > 10 && quiet < 30, "%u", quiet);
}

GST_END_TEST;

/* Opus tells of silence with next to nothing in the packet. */
GST_START_TEST (test_packets_of_dtx_go_first)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
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
  GstHarness *h = harness_new ("qmjitterbuffer");
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
      fail_unless_equals_int64 (delay, slot < late_slot ? 0 : 40 * MS);
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

/* --- groups --- */

GST_START_TEST (test_a_sync_group_plays_with_the_largest_delay)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *a = gst_element_factory_make ("qmjitterbuffer", "a");
  GstElement *b = gst_element_factory_make ("qmjitterbuffer", "b");
  GstHarness *ha, *hb;
  GstClockTimeDiff delay = 0;
  guint n;

  gst_bin_add_many (GST_BIN (bin), a, b, NULL);
  g_object_set (a, "sync-group", "call", "max-offset", (guint64) 10 * MS, NULL);
  g_object_set (b, "sync-group", "call", "max-offset", (guint64) 10 * MS, NULL);
  ha = gst_harness_new_with_element (a, "sink", "src");
  hb = gst_harness_new_with_element (b, "sink", "src");
  gst_harness_set_src_caps_str (ha, CAPS);
  gst_harness_set_src_caps_str (hb, CAPS);
  for (n = 0; n < 200; n++) {
    pass (ha, n, n == 20 ? 90 * MS : 0);
    push (hb, n, 0);
    delay = pull (hb, n);
    if (n > 100)
      break;
  }
  fail_unless (delay >= 70 * MS && delay <= 100 * MS, "%" G_GINT64_FORMAT,
      delay);
  /* released again when nobody asks */
  g_object_set (b, "sync-group", NULL, NULL);
  for (n++; n < 800; n++) {
    push (hb, n, 0);
    wait_decided (hb, n + 1);
  }
  while (gst_harness_buffers_in_queue (hb) > 0) {
    GstBuffer *buffer = gst_harness_pull (hb);

    delay = GST_CLOCK_DIFF (sent (number_of (buffer)), GST_BUFFER_PTS (buffer));
    gst_buffer_unref (buffer);
  }
  fail_unless (delay <= 40 * MS);
  gst_harness_teardown (ha);
  gst_harness_teardown (hb);
  gst_object_unref (bin);
}

GST_END_TEST;

/* What audio asks for, video waits for, and the other way round. */
static void
check_audio_and_video (guint video_latency_ms, GstClockTimeDiff audio_jitter,
    GstClockTimeDiff least)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new (NULL));
  GstElement *audio = gst_element_factory_make ("qmjitterbuffer", "audio");
  GstElement *video = gst_element_factory_make ("qmjitterbuffer", "video");
  GstClockTimeDiff audio_delay = 0, video_delay = 0;
  GstHarness *ha, *hv;

  gst_bin_add_many (GST_BIN (bin), audio, video, NULL);
  g_object_set (audio, "sync-group", "call", "max-offset", (guint64) 10 * MS,
      NULL);
  g_object_set (video, "sync-group", "call", "max-offset", (guint64) 10 * MS,
      "latency", video_latency_ms, NULL);
  ha = gst_harness_new_with_element (audio, "sink", "src");
  hv = gst_harness_new_with_element (video, "sink", "src");
  gst_harness_set_src_caps_str (ha, CAPS);
  gst_harness_set_src_caps_str (hv, "application/x-rtp, media=(string)video, "
      "clock-rate=(int)48000, encoding-name=(string)VP8, payload=(int)96");
  for (guint n = 0; n < 150; n++) {
    audio_delay = pass (ha, n, n == 20 ? audio_jitter : 0);
    video_delay = pass (hv, n, 0);
    if (n > 100) {
      fail_unless (audio_delay >= least && video_delay >= least);
      fail_unless (ABS (audio_delay - video_delay) <= 10 * MS,
          "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, audio_delay, video_delay);
    }
  }
  gst_harness_teardown (ha);
  gst_harness_teardown (hv);
  gst_object_unref (bin);
}

GST_START_TEST (test_a_sync_group_keeps_audio_and_video_together)
{
  check_audio_and_video (20, 90 * MS, 70 * MS);
  check_audio_and_video (200, 0, 190 * MS);
}

GST_END_TEST;

/* --- whatever comes --- */

GST_START_TEST (test_half_of_the_packets_may_be_lost)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GRand *random = g_rand_new_with_seed (7);
  guint n_arrived = 0, n = 0, last = 0;

  for (guint i = 0; i < 1000; i++) {
    if (i == 0 || g_rand_boolean (random)) {
      push (h, i, 0);
      n_arrived++;
      n = i;
    }
  }
  gst_harness_set_time (h, sent (1100));
  wait_decided_by_timers (h, n_arrived);
  for (guint i = 0; i < n_arrived; i++) {
    guint number;

    fail_unless_equals_int64 (pull_any (h, &number), 0);
    fail_unless (i == 0 || number > last);
    last = number;
  }
  fail_unless_equals_int (last, n);
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  g_rand_free (random);
  harness_free (h);
}

GST_END_TEST;

/* Two seconds arrive at once: what is later than max-delay goes, and soon the
 * delay is what it was. */
GST_START_TEST (test_a_stall_is_forgotten)
{
  GstHarness *h = harness_new ("qmjitterbuffer max-delay=1000");
  GstClockTimeDiff delay = 0, most = 0;
  guint n, n_out = 0, number = 0;

  for (n = 0; n < 100; n++)
    pass (h, n, 0);
  for (; n < 1700; n++) {
    push (h, n, n < 200 ? (200 - n) * PACKET : 0);
    wait_decided (h, n + 1);
  }
  for (; number < n - 1; n_out++) {
    delay = pull_any (h, &number);
    most = MAX (most, delay);
  }
  fail_unless (most > 900 * (GstClockTimeDiff) MS);
  fail_unless (most <= 1020 * (GstClockTimeDiff) MS);
  fail_unless (delay <= 40 * MS);
  /* 50 of the stall came too late; each of the others cost its slot at most */
  fail_unless (stat_of (h, "qm-late") <= 51);
  fail_unless (n_out >= 1600 - 51 - 50, "%u", n_out);
  harness_free (h);
}

GST_END_TEST;

/* A call whose first second came at once, after a long handshake: the backlog
 * goes, packet by packet, and each message says so. */
GST_START_TEST (test_a_backlog_at_the_start_is_shed)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstMessage *message;
  guint n, n_shed = 0;

  for (n = 0; n < 150; n++) {
    push (h, n, n < 50 ? (50 - n) * PACKET : 0);
    wait_decided (h, n + 1);
  }
  while ((message = pop_message (h, "fairmix-playout-adaptation"))) {
    const GstStructure *s = gst_message_get_structure (message);
    guint64 before, after;
    gboolean dropped;

    fail_unless (gst_structure_get (s, "before", G_TYPE_UINT64, &before,
            "after", G_TYPE_UINT64, &after, "dropped", G_TYPE_BOOLEAN,
            &dropped, NULL));
    if (dropped)
      fail_unless_equals_uint64 (before - after, PACKET);
    n_shed += dropped;
    gst_message_unref (message);
  }
  fail_unless (n_shed >= 45, "%u", n_shed);
  fail_unless (stat_of (h, "qm-delay") <= 60 * MS);
  harness_free (h);
}

GST_END_TEST;

static GstCaps *
answer_two_pts (GstElement * element G_GNUC_UNUSED, guint pt,
    gpointer user G_GNUC_UNUSED)
{
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, pt == PT ? CLOCK_RATE : 8000, NULL);
}

GST_START_TEST (test_another_payload_type_has_another_clock_rate)
{
  GstHarness *h = gst_harness_new_parse ("qmjitterbuffer");
  GstElement *e = gst_harness_find_element (h, "qmjitterbuffer");

  g_signal_connect (e, "request-pt-map", G_CALLBACK (answer_two_pts), NULL);
  gst_harness_set_src_caps_str (h, "application/x-rtp");
  for (guint n = 0; n < 300; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (n >= 100 && n < 200) {
      gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_payload_type (&rtp, 0);
      gst_rtp_buffer_set_timestamp (&rtp, 77 + n * 160);
      gst_rtp_buffer_unmap (&rtp);
    }
    push_late (h, buffer, n, 0);
    fail_unless_equals_int64 (pull (h, n), 0);
  }
  fail_unless_equals_uint64 (stat_of (h, "qm-grown"), 0);
  gst_object_unref (e);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_a_leap_of_the_numbers_is_followed)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n_out = 0, number = 0;

  for (guint n = 0; n < 200; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (n >= 100) {             /* a sender that starts again */
      gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
      gst_rtp_buffer_set_seq (&rtp, (guint16) (SEQ + 20000 + n));
      gst_rtp_buffer_set_timestamp (&rtp, 1234567890u + n * UNITS);
      gst_rtp_buffer_unmap (&rtp);
    }
    push_late (h, buffer, n, 0);
    if (n == 99)
      wait_decided (h, 100);
  }
  for (; number != 20000 + 199; n_out++) {
    GstBuffer *buffer = gst_harness_pull (h);
    GstClockTimeDiff delay;

    number = number_of (buffer);
    delay = GST_CLOCK_DIFF (sent (number % 20000), GST_BUFFER_PTS (buffer));
    fail_unless (delay >= 0 && delay <= 100 * MS, "%" G_GINT64_FORMAT, delay);
    gst_buffer_unref (buffer);
  }
  fail_unless (n_out >= 195, "%u", n_out);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_flush_and_restart_forget_the_stream)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstSegment segment;
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  for (; n < 100; n++)
    fail_unless_equals_int64 (pass (h, n, 0), 0);
  fail_unless_equals_uint64 (stat_of (h, "qm-delay"), 0);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_an_end_of_stream_drains)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstEvent *event;
  guint n;

  for (n = 0; n < 30; n++)
    push (h, n, n == 10 ? 70 * MS : 0);
  push (h, 31, 0);              /* behind a gap */
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  while ((event = gst_harness_pull_event (h)) != NULL) {
    gboolean eos = GST_EVENT_TYPE (event) == GST_EVENT_EOS;

    gst_event_unref (event);
    if (eos)
      break;
  }
  fail_unless (event != NULL);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 31);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_absurd_timestamps_neither_stall_nor_pile_up)
{
  static const guint32 jumps[] = { 0x7fffffff, 0x80000001, 48000 * 60, 5 };
  guint n_pulled = 0;
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint n = 0; n < 1000; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_timestamp (&rtp,
        gst_rtp_buffer_get_timestamp (&rtp) + jumps[n / 100 % 4]);
    gst_rtp_buffer_unmap (&rtp);
    push_late (h, buffer, n, 0);
    wait_decided (h, n + 1);
  }
  for (guint number = 0; number < 999; n_pulled++) {
    GstBuffer *out = gst_harness_pull (h);

    number = number_of (out);
    fail_unless (GST_CLOCK_DIFF (sent (number), GST_BUFFER_PTS (out)) <=
        2000 * (GstClockTimeDiff) MS);
    gst_buffer_unref (out);
  }
  fail_unless (n_pulled > 600, "%u", n_pulled);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_new_source_starts_anew)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  guint n;

  for (n = 0; n < 50; n++)
    pass (h, n, n == 20 ? 60 * MS : 0);
  for (; n < 100; n++) {
    GstBuffer *buffer = make_packet (n);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_ssrc (&rtp, SSRC + 1);
    gst_rtp_buffer_unmap (&rtp);
    push_late (h, buffer, n, 0);
    fail_unless_equals_int64 (pull (h, n), 0);
  }
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_a_malformed_packet_is_no_trouble)
{
  GstHarness *h = harness_new ("qmjitterbuffer");
  GstBuffer *buffer;

  pass (h, 0, 0);
  for (guint size = 0; size < 14; size++) {
    buffer = gst_buffer_new_allocate (NULL, size, NULL);
    gst_buffer_memset (buffer, 0, 0x80, size);
    gst_harness_push (h, buffer);
  }
  for (guint n = 1; n < 10; n++)
    pass (h, n, 0);
  harness_free (h);
}

GST_END_TEST;

GST_START_TEST (test_states_up_and_down)
{
  GstHarness *h = harness_new ("qmjitterbuffer");

  for (guint round = 0; round < 3; round++) {
    for (guint n = 0; n < 20; n++)
      fail_unless (pass (h, 100 * round + n, n == 10 ? 30 * MS : 0) <=
          40 * (GstClockTimeDiff) MS);
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    gst_harness_set_src_caps_str (h, CAPS);
    {
      GstSegment segment;
      GstCaps *caps = gst_caps_from_string (CAPS);

      gst_segment_init (&segment, GST_FORMAT_TIME);
      gst_harness_push_event (h, gst_event_new_stream_start ("x"));
      gst_harness_push_event (h, gst_event_new_caps (caps));
      gst_caps_unref (caps);
      gst_harness_push_event (h, gst_event_new_segment (&segment));
    }
  }
  harness_free (h);
}

GST_END_TEST;

typedef struct
{
  GMutex lock;
  GCond cond;
  gboolean blocked;
} Block;

static GstPadProbeReturn
note_block (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user_data)
{
  Block *block = user_data;

  g_mutex_lock (&block->lock);
  block->blocked = TRUE;
  g_cond_signal (&block->cond);
  g_mutex_unlock (&block->lock);
  return GST_PAD_PROBE_OK;
}

/* A packet is on its way out and does not get on. */
GST_START_TEST (test_a_blocked_pad_does_not_hold_up_the_stop)
{
  GstHarness *h = gst_harness_new ("qmjitterbuffer");
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  Block block = { 0 };

  g_mutex_init (&block.lock);
  g_cond_init (&block.cond);
  gst_harness_set_src_caps_str (h, CAPS);
  gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER,
      note_block, &block, NULL);
  for (guint n = 0; n < 20; n++)
    push (h, n, 0);
  g_mutex_lock (&block.lock);
  while (!block.blocked)
    g_cond_wait (&block.cond, &block.lock);
  g_mutex_unlock (&block.lock);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
      GST_STATE_CHANGE_SUCCESS);
  gst_object_unref (src);
  gst_harness_teardown (h);
  g_mutex_clear (&block.lock);
  g_cond_clear (&block.cond);
}

GST_END_TEST;

static gpointer
push_until_refused (gpointer user_data)
{
  GstHarness *h = user_data;
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint n = 0; flow == GST_FLOW_OK; n++)
    flow = gst_harness_push (h, make_packet (n));
  return GINT_TO_POINTER (flow);
}

/* Packets come on while it stops. */
GST_START_TEST (test_a_stop_under_load_refuses_what_comes)
{
  for (guint round = 0; round < 100; round++) {
    GstHarness *h = gst_harness_new ("qmjitterbuffer");
    GThread *thread;

    gst_harness_set_src_caps_str (h, CAPS);
    thread = g_thread_new ("talker", push_until_refused, h);
    gst_buffer_unref (gst_harness_pull (h));
    fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_NULL),
        GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)),
        GST_FLOW_FLUSHING);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static Suite *
qmjitterbuffer_suite (void)
{
  Suite *s = suite_create ("qmjitterbuffer");
  TCase *tc = tcase_create ("interface");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_has_the_properties_of_rtpjitterbuffer);
  tcase_add_test (tc, test_keeps_what_is_set);
  tcase_add_test (tc, test_asks_for_the_clock_rate);
  tcase_add_test (tc, test_hands_sender_reports_on);
  tcase_add_test (tc, test_reports_buffering_as_its_own);

  tc = tcase_create ("playout");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_steady_stream_is_played_as_it_was_sent);
  tcase_add_test (tc, test_the_delay_grows_for_a_late_packet);
  tcase_add_test (tc, test_a_standing_queue_loses_a_packet_and_no_time);
  tcase_add_test (tc, test_shrink_shift_plays_every_packet);
  tcase_add_test (tc, test_the_reported_latency_stays);
  tcase_add_test (tc, test_a_gap_is_held_until_its_slot);
  tcase_add_test (tc, test_reordered_packets_come_out_in_order);
  tcase_add_test (tc, test_back_pressure_is_not_lateness);
  tcase_add_test (tc, test_ts_offset_moves_timestamps);
  tcase_add_test (tc, test_without_adaptation_it_is_the_stock_element);
  tcase_add_test (tc, test_other_modes_do_not_adapt);
  tcase_add_test (tc, test_adaptation_can_be_switched_while_playing);
  tcase_add_test (tc, test_video_keeps_a_fixed_delay_and_all_packets);
  tcase_add_test (tc, test_retransmission_keeps_its_time);
  tcase_add_test (tc, test_arrival_timing_plays_at_the_mean_interval);

  tc = tcase_create ("silence and groups");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_silence_is_no_reason_to_grow_and_one_to_shrink);
  tcase_add_test (tc, test_quiet_packets_go_first);
  tcase_add_test (tc, test_packets_of_dtx_go_first);
  tcase_add_test (tc, test_comfort_noise_is_no_other_stream);
  tcase_add_test (tc, test_a_sync_group_plays_with_the_largest_delay);
  tcase_add_test (tc, test_a_sync_group_keeps_audio_and_video_together);

  tc = tcase_create ("whatever comes");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_half_of_the_packets_may_be_lost);
  tcase_add_test (tc, test_a_stall_is_forgotten);
  tcase_add_test (tc, test_a_backlog_at_the_start_is_shed);
  tcase_add_test (tc, test_another_payload_type_has_another_clock_rate);
  tcase_add_test (tc, test_a_leap_of_the_numbers_is_followed);
  tcase_add_test (tc, test_flush_and_restart_forget_the_stream);
  tcase_add_test (tc, test_an_end_of_stream_drains);
  tcase_add_test (tc, test_absurd_timestamps_neither_stall_nor_pile_up);
  tcase_add_test (tc, test_a_new_source_starts_anew);
  tcase_add_test (tc, test_a_malformed_packet_is_no_trouble);
  tcase_add_test (tc, test_states_up_and_down);
  tcase_add_test (tc, test_a_blocked_pad_does_not_hold_up_the_stop);
  tcase_add_test (tc, test_a_stop_under_load_refuses_what_comes);
  return s;
}

GST_CHECK_MAIN (qmjitterbuffer);
