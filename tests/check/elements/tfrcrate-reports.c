/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sender reports of many streams take turns on a narrow path. */

#include "tfrcratecheck.h"

#define N_STREAMS 24
#define FRAME (20 * GST_MSECOND)
#define FRAMES 95               /* until silence says something of the path */
#define N_WAITERS 2             /* tfrcrate's timer, the session's */
#define NARROW_BPS 150000
#define WIDE_BPS 5000000
#define TURN_S 0.020            /* so long the reports of one round may take */

typedef struct
{
  Fixture f;
  GstElement *session;
  GstHarness *out, *reports;
  guint16 seq;
  guint n[N_STREAMS];           /* reports of each */
  guint n_rounds;
  gsize most_bytes, round_bytes;        /* of the rounds after the first, on the wire */
  GstClockTime round_at;
} Sender;

static GstCaps *
answer_pt_map (GstElement * session, guint pt, gpointer user)
{
  return gst_caps_from_string (RTP_CAPS_PCMU);
}

static void
sender_setup (Sender * s, guint bitrate)
{
  memset (s, 0, sizeof *s);
  s->round_at = GST_CLOCK_TIME_NONE;
  setup_element (&s->f);
  clock_use_for_sessions (s->f.clock);
  g_object_set (s->f.element, "initial-bitrate", bitrate, "max-bitrate",
      bitrate, NULL);
  s->session = gst_element_factory_make ("rtpsession", NULL);
  gst_object_ref_sink (s->session);
  g_object_set (s->session, "bandwidth", 1e8, "rtcp-min-interval",
      100 * GST_MSECOND, NULL);
  g_signal_connect (s->session, "request-pt-map", G_CALLBACK (answer_pt_map),
      NULL);
  s->reports = gst_harness_new_with_element (s->session, NULL, "send_rtcp_src");
  s->out = gst_harness_new_with_element (s->session, "send_rtp_sink",
      "send_rtp_src");
  gst_pad_unlink (s->out->srcpad, GST_PAD_PEER (s->out->srcpad));
  setup_harness (&s->f);
  gst_pad_unlink (GST_PAD_PEER (s->f.rtp->sinkpad), s->f.rtp->sinkpad);
  fail_unless (gst_element_link_pads (s->f.element, "src", s->session,
          "send_rtp_sink"));
  gst_element_set_clock (s->session, GST_CLOCK (s->f.clock));
  fail_unless_equals_int (gst_element_set_state (s->session,
          GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  /* 1.26 reports nothing of packets whose running time it does not know: it asks for this */
  gst_harness_push_upstream_event (s->out, gst_event_new_latency (0));
}

static void
sender_teardown (Sender * s)
{
  gst_element_set_state (s->f.element, GST_STATE_NULL);
  gst_element_set_state (s->session, GST_STATE_NULL);
  gst_element_unlink (s->f.element, s->session);
  gst_harness_teardown (s->out);
  gst_harness_teardown (s->reports);
  gst_object_unref (s->session);
  gst_system_clock_set_default (NULL);
  teardown (&s->f);
}

static void
note_report (Sender * s, GstBuffer * buffer)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstClockTime at = now (&s->f);
  GstRTCPPacket packet;
  guint32 ssrc;

  gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp);
  fail_unless (gst_rtcp_buffer_get_first_packet (&rtcp, &packet));
  fail_unless_equals_int (gst_rtcp_packet_get_type (&packet), GST_RTCP_TYPE_SR);
  gst_rtcp_packet_sr_get_sender_info (&packet, &ssrc, NULL, NULL, NULL, NULL);
  s->n[ssrc - SSRC]++;
  gst_rtcp_buffer_unmap (&rtcp);
  if (at != s->round_at) {
    s->n_rounds++;
    s->round_bytes = 0;
    s->round_at = at;
  }
  s->round_bytes += gst_buffer_get_size (buffer) + 28;
  if (s->n_rounds > 1)
    s->most_bytes = MAX (s->most_bytes, s->round_bytes);
}

static void
note_reports (Sender * s)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (s->reports)) != NULL) {
    note_report (s, buffer);
    gst_buffer_unref (buffer);
  }
  drain (s->out);
}

static void
run (Sender * s)
{
  for (guint frame = 0; frame < FRAMES; frame++) {
    GstClockTime end = now (&s->f) + FRAME;

    for (guint i = 0; i < N_STREAMS; i++)
      push (&s->f, SSRC + i, s->seq);
    s->seq++;
    while (clock_wait_idle (s->f.clock, N_WAITERS) <= end) {
      clock_step (s->f.clock, N_WAITERS);
      note_reports (s);
    }
    gst_test_clock_set_time (s->f.clock, end);
  }
}

/* The first report of each, which names it, comes at once. */
GST_START_TEST (test_reports_of_many_streams_are_no_burst_on_a_narrow_path)
{
  Sender s;

  sender_setup (&s, NARROW_BPS);
  run (&s);
  fail_unless (s.n_rounds > 13, "%u", s.n_rounds);
  fail_unless (8.0 * s.most_bytes / NARROW_BPS <= TURN_S,
      "%" G_GSIZE_FORMAT, s.most_bytes);
  /* one of them each time, and the others in twelve rounds */
  for (guint i = 0; i < N_STREAMS; i++)
    fail_unless (s.n[i] >= 2, "%u of stream %u in %u rounds", s.n[i], i,
        s.n_rounds);
  sender_teardown (&s);
}

GST_END_TEST;

GST_START_TEST (test_all_report_at_once_where_there_is_room)
{
  Sender s;

  sender_setup (&s, WIDE_BPS);
  run (&s);
  fail_unless (s.n_rounds > 5, "%u", s.n_rounds);
  for (guint i = 0; i < N_STREAMS; i++)
    fail_unless_equals_int (s.n[i], s.n_rounds);
  sender_teardown (&s);
}

GST_END_TEST;

/* Returns: of a round in which each stream reports, how many reports are sent.  @extra: what
 * else is in them, 0: nothing */
static guint
count_sent (Sender * s, GstRTCPType extra, gboolean early)
{
  GObject *session;
  guint n = 0;

  g_object_get (s->session, "internal-session", &session, NULL);
  for (guint i = 0; i < N_STREAMS; i++) {
    GstBuffer *buffer = gst_rtcp_buffer_new (1400);
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    gboolean at_once = TRUE;
    GstRTCPPacket packet;

    gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
    gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_SR, &packet);
    gst_rtcp_packet_sr_set_sender_info (&packet, SSRC + i, 0, 0, 0, 0);
    if (extra != 0)
      gst_rtcp_buffer_add_packet (&rtcp, extra, &packet);
    gst_rtcp_buffer_unmap (&rtcp);
    g_signal_emit_by_name (session, "on-sending-rtcp", buffer, early, &at_once);
    fail_if (at_once);
    n += gst_buffer_get_size (buffer) > 0;
    gst_buffer_unref (buffer);
  }
  g_object_unref (session);
  return n;
}

/* Who leaves says so at once, and who misses a packet. */
GST_START_TEST (test_what_is_more_than_a_report_does_not_wait)
{
  Sender s;

  sender_setup (&s, NARROW_BPS);
  fail_unless_equals_int (count_sent (&s, 0, FALSE), N_STREAMS);
  fail_unless (count_sent (&s, 0, FALSE) < N_STREAMS);
  fail_unless_equals_int (count_sent (&s, GST_RTCP_TYPE_BYE, FALSE), N_STREAMS);
  fail_unless_equals_int (count_sent (&s, GST_RTCP_TYPE_RTPFB, FALSE),
      N_STREAMS);
  fail_unless_equals_int (count_sent (&s, 0, TRUE), N_STREAMS);
  sender_teardown (&s);
}

GST_END_TEST;

/* The session is somebody else's then. */
GST_START_TEST (test_all_report_who_are_not_linked_any_more)
{
  Sender s;

  sender_setup (&s, NARROW_BPS);
  fail_unless_equals_int (count_sent (&s, 0, FALSE), N_STREAMS);
  gst_element_unlink (s.f.element, s.session);
  fail_unless_equals_int (count_sent (&s, 0, FALSE), N_STREAMS);
  sender_teardown (&s);
}

GST_END_TEST;

static Suite *
tfrcrate_reports_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-reports");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc,
      test_reports_of_many_streams_are_no_burst_on_a_narrow_path);
  tcase_add_test (tc, test_all_report_at_once_where_there_is_room);
  tcase_add_test (tc, test_what_is_more_than_a_report_does_not_wait);
  tcase_add_test (tc, test_all_report_who_are_not_linked_any_more);
  return suite;
}

GST_CHECK_MAIN (tfrcrate_reports);
