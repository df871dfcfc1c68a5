/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* partialmix before an rtpsession: the sender reports of all that it sends */
#include <stdlib.h>

#include "../gstfairmixcheck.h"
#include "mixrig.h"

#define N_TALKERS 64
#define PCMU_RATE 8000
#define FRAMES_PER_SECOND 50
#define SECONDS 10
#define LATENCY (60 * GST_MSECOND)      /* of the pipeline */

/* What is known of a stream that leaves. */
typedef struct
{
  guint32 rtp;                  /* at ... */
  GstClockTime pts;             /* ... this time of the media */
  guint n_packets, n_bytes;
  guint n_reports;
} Sent;

typedef struct
{
  Rig *rig;
  GstElement *session;
  GstPad *from;                 /* of the mixer */
  GstHarness *rtp, *rtcp;
  GHashTable *sent;             /* SSRC: Sent */
} Sender;

static GstCaps *
answer_pt_map (GstElement * session, guint pt, gpointer user)
{
  return gst_caps_new_simple ("application/x-rtp", "media", G_TYPE_STRING,
      "audio", "clock-rate", G_TYPE_INT, PCMU_RATE, NULL);
}

static void
sender_init (Sender * s)
{
  s->rig = rig_new ("mix-encoding=pcmu");
  /* rtpsession sends its RTCP by the system's clock */
  clock_use_for_sessions (s->rig->clock);
  s->sent = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  s->session = gst_element_factory_make ("rtpsession", NULL);
  gst_object_ref_sink (s->session);
  g_object_set (s->session, "ntp-time-source", 2 /* running-time */ ,
      "bandwidth", 80000.0 * N_TALKERS, "rtcp-min-interval", GST_SECOND, NULL);
  g_signal_connect (s->session, "request-pt-map", G_CALLBACK (answer_pt_map),
      NULL);
  s->rtcp = gst_harness_new_with_element (s->session, NULL, "send_rtcp_src");
  s->rtp =
      gst_harness_new_with_element (s->session, "send_rtp_sink",
      "send_rtp_src");
  gst_pad_unlink (s->rtp->srcpad, GST_PAD_PEER (s->rtp->srcpad));
  s->from = gst_element_request_pad_simple (s->rig->mix, "src_0");
  fail_unless (gst_element_link_pads (s->rig->mix, "src_0", s->session,
          "send_rtp_sink"));
  gst_element_set_clock (s->session, GST_CLOCK (s->rig->clock));
  gst_element_set_base_time (s->session, 0);
  rig_play (s->rig);
  fail_unless_equals_int (gst_element_set_state (s->session,
          GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  /* as a pipeline does */
  fail_unless (gst_harness_push_upstream_event (s->rtp,
          gst_event_new_latency (LATENCY)));
  /* what was made before 0 has no time: codecs hold back a little */
  s->rig->frame = FRAMES_PER_SECOND;
  rig_advance (s->rig, s->rig->frame * FRAME);
}

static void
sender_clear (Sender * s)
{
  gst_element_set_state (s->rig->mix, GST_STATE_NULL);
  gst_element_set_state (s->session, GST_STATE_NULL);
  gst_element_unlink (s->rig->mix, s->session);
  gst_element_release_request_pad (s->rig->mix, s->from);
  gst_object_unref (s->from);
  gst_harness_teardown (s->rtp);
  gst_harness_teardown (s->rtcp);
  gst_object_unref (s->session);
  gst_system_clock_set_default (NULL);
  rig_free (s->rig);
  g_hash_table_unref (s->sent);
}

/* A talker's time line is what it began with, that of a mix begins with its
 * first packet. */
static Sent *
sent_new (Sender * s, guint32 ssrc, guint32 rtp, GstClockTime pts)
{
  Sent *sent = g_new0 (Sent, 1);

  sent->rtp = rtp;
  sent->pts = pts;
  g_hash_table_insert (s->sent, GUINT_TO_POINTER (ssrc), sent);
  return sent;
}

/* Where the segment of talker @i starts: some have a time of their own. */
static GstClockTime
segment_start (guint i)
{
  return i % 4 == 1 ? 5 * GST_SECOND : 0;
}

static void
add_talkers (Sender * s)
{
  rig_talkers (s->rig, 1, N_TALKERS, RIG_PCMU);
  for (guint i = 0; i < N_TALKERS; i++) {
    RigTalker *talker = g_ptr_array_index (s->rig->talkers, i);
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    segment.start = segment_start (i);
    gst_pad_push_event (talker->pad, gst_event_new_segment (&segment));
    sent_new (s, talker->ssrc, talker->ts_base, 0);
  }
}

static void
send_all (Sender * s)
{
  for (guint i = 0; i < N_TALKERS; i++) {
    RigTalker *talker = g_ptr_array_index (s->rig->talkers, i);

    if (!talker->silent) {
      GstBuffer *packet = rig_packet (s->rig, talker);

      GST_BUFFER_PTS (packet) += segment_start (i);
      fail_unless_equals_int (gst_pad_push (talker->pad, packet), GST_FLOW_OK);
    }
  }
}

static void
note_packets (Sender * s)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (s->rtp)) != NULL) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    guint32 ssrc;
    Sent *sent;

    fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
    ssrc = gst_rtp_buffer_get_ssrc (&rtp);
    sent = g_hash_table_lookup (s->sent, GUINT_TO_POINTER (ssrc));
    if (sent == NULL)
      sent = sent_new (s, ssrc, gst_rtp_buffer_get_timestamp (&rtp),
          GST_BUFFER_PTS (buffer));
    sent->n_packets++;
    sent->n_bytes += gst_rtp_buffer_get_payload_len (&rtp);
    gst_rtp_buffer_unmap (&rtp);
    gst_buffer_unref (buffer);
  }
}

/* [RFC3550 6.4.1] RTP and NTP time are of one moment; a packet is sent when its
 * latency has passed. */
static void
check_report (Sender * s, GstRTCPPacket * packet)
{
  guint32 ssrc, rtp, expected, n_packets, n_bytes;
  guint64 ntp;
  GstClockTime time;
  Sent *sent;

  gst_rtcp_packet_sr_get_sender_info (packet, &ssrc, &ntp, &rtp, &n_packets,
      &n_bytes);
  sent = g_hash_table_lookup (s->sent, GUINT_TO_POINTER (ssrc));
  fail_unless (sent != NULL, "a report of %u, which sends nothing", ssrc);
  time = gst_util_uint64_scale (ntp, GST_SECOND, G_GUINT64_CONSTANT (1) << 32);
  expected = sent->rtp + (guint32) (GST_CLOCK_DIFF (sent->pts + LATENCY,
          time) * PCMU_RATE / (gint64) GST_SECOND);
  fail_unless (abs ((gint32) (rtp - expected)) <= 1, "%u is off by %d", ssrc,
      (gint32) (rtp - expected));
  fail_unless_equals_int (n_packets, sent->n_packets);
  fail_unless_equals_int (n_bytes, sent->n_bytes);
  sent->n_reports++;
}

static void
check_reports (Sender * s)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (s->rtcp)) != NULL) {
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstRTCPPacket packet;
    gboolean more;

    fail_unless (gst_rtcp_buffer_validate (buffer));
    gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp);
    for (more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet); more;
        more = gst_rtcp_packet_move_to_next (&packet))
      if (gst_rtcp_packet_get_type (&packet) == GST_RTCP_TYPE_SR)
        check_report (s, &packet);
    gst_rtcp_buffer_unmap (&rtcp);
    gst_buffer_unref (buffer);
  }
}

/* The mixer's thread waits for its ticks, the session's for its reports: what
 * each of them sends is looked at before the next. */
static void
run (Sender * s, guint n_frames)
{
  for (guint k = 0; k < n_frames; k++) {
    send_all (s);
    s->rig->frame++;
    note_packets (s);
    while (clock_wait_idle (s->rig->clock, 2) <= s->rig->frame * FRAME) {
      clock_step (s->rig->clock, 2);
      note_packets (s);
      check_reports (s);
    }
    gst_test_clock_set_time (s->rig->clock, s->rig->frame * FRAME);
  }
}

/* Every other one pauses every other second. */
GST_START_TEST (test_each_of_many_forwarded_streams_has_exact_reports)
{
  Sender s;

  sender_init (&s);
  add_talkers (&s);
  for (guint second = 0; second < SECONDS; second++) {
    for (guint i = 0; i < N_TALKERS; i += 2)
      ((RigTalker *) g_ptr_array_index (s.rig->talkers, i))->silent =
          second % 2 == 1;
    run (&s, FRAMES_PER_SECOND);
  }
  fail_unless_equals_int (g_hash_table_size (s.sent), N_TALKERS);
  for (guint i = 0; i < N_TALKERS; i++) {
    RigTalker *talker = g_ptr_array_index (s.rig->talkers, i);
    Sent *sent = g_hash_table_lookup (s.sent, GUINT_TO_POINTER (talker->ssrc));

    fail_unless_equals_int (sent->n_packets,
        (i % 2 == 0 ? SECONDS / 2 : SECONDS) * FRAMES_PER_SECOND);
    fail_unless (sent->n_reports >= 2, "%u of %u", sent->n_reports,
        talker->ssrc);
  }
  sender_clear (&s);
}

GST_END_TEST;

GST_START_TEST (test_a_mix_of_many_has_exact_reports_beside_the_forwarded)
{
  guint n_mixes = 0, n_forwarded = 0;
  GHashTableIter iter;
  gpointer ssrc, value;
  Sender s;

  sender_init (&s);
  g_object_set (s.from, "target-bitrate", 1000000, NULL);
  add_talkers (&s);
  run (&s, SECONDS * FRAMES_PER_SECOND);
  g_hash_table_iter_init (&iter, s.sent);
  while (g_hash_table_iter_next (&iter, &ssrc, &value)) {
    gboolean is_mix = GPOINTER_TO_UINT (ssrc) <= 100
        || GPOINTER_TO_UINT (ssrc) > 100 + N_TALKERS;
    Sent *sent = value;

    n_mixes += is_mix && sent->n_reports >= 2;
    n_forwarded += !is_mix && sent->n_reports >= 2;
  }
  fail_unless_equals_int (n_mixes, 1);
  fail_unless (n_forwarded >= 5 && n_forwarded < N_TALKERS / 2, "%u",
      n_forwarded);
  sender_clear (&s);
}

GST_END_TEST;

static Suite *
sender_reports_suite (void)
{
  Suite *suite = suite_create ("sender-reports");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_each_of_many_forwarded_streams_has_exact_reports);
  tcase_add_test (tc,
      test_a_mix_of_many_has_exact_reports_beside_the_forwarded);
  return suite;
}

GST_CHECK_MAIN (sender_reports);
