/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tfrcrate and rtpccfb among GStreamer's own RTP elements */
#include "../gstfairmixcheck.h"

#define SSRC 0x1234u
#define TALK 25                 /* packets before and after the probes */
#define N_PROBES 4

#define SINK "fakesink signal-handoffs=true sync=false async=false name="

/* --- what nobody should complain about ---------------------------------- */

static gint n_complaints;

static void
count_complaints (GstDebugCategory * category, GstDebugLevel level,
    const gchar * file, const gchar * function, gint line, GObject * object,
    GstDebugMessage * message, gpointer user)
{
  if (level > GST_LEVEL_WARNING)
    return;
  g_atomic_int_inc (&n_complaints);
  g_printerr ("%s: %s\n", gst_debug_category_get_name (category),
      gst_debug_message_get (message));
}

static void
watch_complaints (void)
{
  g_atomic_int_set (&n_complaints, 0);
  gst_debug_set_default_threshold (GST_LEVEL_WARNING);
  gst_debug_set_active (TRUE);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (count_complaints, NULL, NULL);
}

static gint
stop_watching_complaints (void)
{
  gst_debug_remove_log_function (count_complaints);
  return g_atomic_int_get (&n_complaints);
}

/* --- probes -------------------------------------------------------------- */

static GstBuffer *
probe_new (guint8 payload_type, guint16 seq, guint32 timestamp)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (0, 4, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, SSRC);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, timestamp);
  gst_rtp_buffer_set_payload_type (&rtp, payload_type);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

/* What a talker sends who has to be silent for a while in the middle, in
 * which it sends probes, or nothing. */
static GPtrArray *
packets_new (const gchar * encode, gboolean with_probes, GstCaps ** caps)
{
  gchar *launch = g_strdup_printf ("audiotestsrc num-buffers=%u "
      "samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=1 ! "
      "audioconvert ! audioresample ! %s ssrc=%u seqnum-offset=100 "
      "timestamp-offset=0 perfect-rtptime=true", 2 * TALK + N_PROBES, encode,
      SSRC);
  GstHarness *h = gst_harness_new_parse (launch);
  GPtrArray *packets = g_ptr_array_new ();
  guint16 seq = 100;

  gst_harness_play (h);
  for (guint i = 0; i < 2 * TALK + N_PROBES; i++) {
    GstBuffer *packet = gst_harness_pull (h);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    if (i >= TALK && i < TALK + N_PROBES) {
      if (with_probes) {
        GstBuffer *probe;

        fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
        probe = probe_new (gst_rtp_buffer_get_payload_type (&rtp), seq++,
            gst_rtp_buffer_get_timestamp (&rtp));
        gst_rtp_buffer_unmap (&rtp);
        GST_BUFFER_PTS (probe) = GST_BUFFER_PTS (packet);
        g_ptr_array_add (packets, probe);
      }
      gst_buffer_unref (packet);
      continue;
    }
    packet = gst_buffer_make_writable (packet);
    fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READWRITE, &rtp));
    gst_rtp_buffer_set_seq (&rtp, seq++);
    gst_rtp_buffer_unmap (&rtp);
    g_ptr_array_add (packets, packet);
  }
  *caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_teardown (h);
  g_free (launch);
  return packets;
}

static void
on_pad_added (GstElement * rtpbin, GstPad * pad, GstElement * decode)
{
  GstPad *sink;

  if (!g_str_has_prefix (GST_PAD_NAME (pad), "recv_rtp_src"))
    return;
  sink = gst_element_get_static_pad (decode, "sink");
  fail_unless_equals_int (gst_pad_link (pad, sink), GST_PAD_LINK_OK);
  gst_object_unref (sink);
}

static void
collect (GstElement * sink, GstBuffer * buffer, GstPad * pad,
    GByteArray * audio)
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_byte_array_append (audio, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
}

/* Plays @packets through a receiver's rtpbin and @decode. */
static GByteArray *
hear (GPtrArray * packets, GstCaps * caps, const gchar * decode)
{
  GByteArray *audio = g_byte_array_new ();
  GstElement *pipeline = gst_parse_launch ("appsrc name=src format=time ! "
      "rtpbin.recv_rtp_sink_0 rtpbin name=rtpbin latency=0", NULL);
  GstElement *bin = gst_parse_bin_from_description (decode, TRUE, NULL);
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), "src");
  GstElement *rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "rtpbin");
  GstElement *sink;
  GstBus *bus = gst_element_get_bus (pipeline);
  GstFlowReturn flow;
  GstMessage *message;

  gst_bin_add (GST_BIN (pipeline), bin);
  sink = gst_bin_get_by_name (GST_BIN (bin), "sink");
  g_signal_connect (sink, "handoff", G_CALLBACK (collect), audio);
  g_signal_connect (rtpbin, "pad-added", G_CALLBACK (on_pad_added), bin);
  g_object_set (src, "caps", caps, NULL);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  watch_complaints ();
  for (guint i = 0; i < packets->len; i++)
    g_signal_emit_by_name (src, "push-buffer", packets->pdata[i], &flow);
  g_signal_emit_by_name (src, "end-of-stream", &flow);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  stop_watching_complaints ();

  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (rtpbin);
  gst_object_unref (src);
  gst_object_unref (pipeline);
  return audio;
}

static const struct
{
  const gchar *encode;
  const gchar *decode;
  guint complaints;             /* for each probe */
} codecs[] = {
  {"opusenc ! rtpopuspay pt=96",
      "rtpopusdepay ! opusdec ! " SINK "sink", 0},
  {"opusenc inband-fec=true packet-loss-percentage=20 ! rtpopuspay pt=96",
      "rtpopusdepay ! opusdec use-inband-fec=true plc=true ! " SINK "sink", 0},
  {"mulawenc ! rtppcmupay min-ptime=20000000 max-ptime=20000000",
      "rtppcmudepay ! mulawdec ! " SINK "sink", 0},
  /* posts a warning for each ("Empty Payload") */
  {"rtpL16pay pt=96 min-ptime=5000000 max-ptime=5000000",
      "rtpL16depay ! " SINK "sink", 1},
};

GST_START_TEST (test_a_receiver_hears_nothing_of_probes)
{
  GByteArray *audio[2];
  gint complaints[2];

  for (gint probes = 0; probes < 2; probes++) {
    GstCaps *caps;
    GPtrArray *packets = packets_new (codecs[__i__].encode, probes, &caps);

    audio[probes] = hear (packets, caps, codecs[__i__].decode);
    complaints[probes] = g_atomic_int_get (&n_complaints);
    g_ptr_array_set_free_func (packets, (GDestroyNotify) gst_buffer_unref);
    g_ptr_array_unref (packets);
    gst_caps_unref (caps);
  }
  fail_unless (audio[0]->len > 0);
  fail_unless_equals_int (audio[0]->len, audio[1]->len);
  fail_unless (memcmp (audio[0]->data, audio[1]->data, audio[0]->len) == 0);
  fail_unless_equals_int (complaints[1] - complaints[0],
      N_PROBES * codecs[__i__].complaints);
  g_byte_array_unref (audio[0]);
  g_byte_array_unref (audio[1]);
}

GST_END_TEST;

/* --- the whole loop ------------------------------------------------------ */

static void
carry (GstElement * sink, GstBuffer * buffer, GstPad * pad, GstElement * src)
{
  GstBuffer *copy = gst_buffer_copy (buffer);
  GstFlowReturn flow;

  /* as from the network: without times */
  GST_BUFFER_PTS (copy) = GST_BUFFER_DTS (copy) = GST_CLOCK_TIME_NONE;
  g_signal_emit_by_name (src, "push-buffer", copy, &flow);
  gst_buffer_unref (copy);
}

/* A wire from a fakesink of one pipeline to an appsrc of another. */
static void
wire (GstElement * from, const gchar * sink, GstElement * to, const gchar * src)
{
  GstElement *a = gst_bin_get_by_name (GST_BIN (from), sink);
  GstElement *b = gst_bin_get_by_name (GST_BIN (to), src);

  g_signal_connect_object (a, "handoff", G_CALLBACK (carry), b, 0);
  gst_object_unref (a);
  gst_object_unref (b);
}

/* What the source of that name was given has gone on from there. */
static void
wait_until_taken (GstElement * pipeline, const gchar * name)
{
  GstElement *src = gst_bin_get_by_name (GST_BIN (pipeline), name);
  guint64 level;

  do {
    g_thread_yield ();
    g_object_get (src, "current-level-buffers", &level, NULL);
  } while (level > 0);
  gst_object_unref (src);
}

#define SRC "appsrc is-live=true do-timestamp=true format=time name="
#define RTPBIN "rtpbin name=rtp ntp-time-source=clock-time "

static gdouble
stat (GstElement * pipeline, const gchar * element, const gchar * field)
{
  GstElement *e = gst_bin_get_by_name (GST_BIN (pipeline), element);
  GValue as_double = G_VALUE_INIT;
  GstStructure *stats;
  gdouble n;

  g_object_get (e, "stats", &stats, NULL);
  g_value_init (&as_double, G_TYPE_DOUBLE);
  g_value_transform (gst_structure_get_value (stats, field), &as_double);
  n = g_value_get_double (&as_double);
  gst_structure_free (stats);
  gst_object_unref (e);
  return n;
}

/* Runs the talker's next packet, when all that was sent has arrived; feedback
 * may be some reports behind. */
static void
step (GstTestClock * clock, GstElement * sender, GstElement * receiver)
{
  clock_wait_due_within (clock, FRAME);
  wait_until_taken (sender, "rtcp_in");
  wait_until_taken (receiver, "rtp_in");
  wait_until_taken (receiver, "rtcp_in");
  while (stat (sender, "cc", "n-sent") > stat (sender, "cc", "n-acked") + 20)
    g_thread_yield ();
  fail_unless (gst_test_clock_crank (clock));
  fail_unless (gst_clock_get_time (GST_CLOCK (clock)) < 60 * GST_SECOND,
      "no decision");
}

static gboolean
has_gone_up (GstBus * bus)
{
  GstMessage *message;
  gboolean up = FALSE;

  while (!up && (message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT
              | GST_MESSAGE_ERROR | GST_MESSAGE_WARNING)) != NULL) {
    const GstStructure *s = gst_message_get_structure (message);

    fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_ELEMENT);
    up = gst_structure_has_name (s, "fairmix-rate-decision")
        && g_strcmp0 (gst_structure_get_string (s, "reason"), "up") == 0;
    gst_message_unref (message);
  }
  return up;
}

/* Runs until the sender decides to go up with per-packet feedback: two
 * rtpbins, each with its own RTCP beside ours, and nobody complains. */
GST_START_TEST (test_two_rtpbins_and_a_funnel_close_the_loop)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstElement *sender, *receiver;
  GstBus *bus;

  /* rtpsession sends its RTCP by the system's clock */
  clock_use_for_sessions (clock);
  sender = gst_parse_launch (RTPBIN
      "audiotestsrc is-live=true samplesperbuffer=160 ! "
      "audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay ! "
      "tfrcrate name=cc skip-interval=0 ! rtp.send_rtp_sink_0 "
      "rtp.send_rtp_src_0 ! " SINK "rtp_out "
      "rtp.send_rtcp_src_0 ! " SINK "rtcp_out "
      SRC "rtcp_in caps=application/x-rtcp ! cc.rtcp_sink "
      "cc.rtcp_src ! rtp.recv_rtcp_sink_0", NULL);
  receiver = gst_parse_launch (RTPBIN "latency=20 "
      SRC "rtp_in caps=" RTP_CAPS_PCMU " ! rtpccfb name=fb "
      "ntp-time-source=clock-time ! "
      "rtp.recv_rtp_sink_0 rtp. ! rtppcmudepay ! mulawdec ! "
      "fakesink async=false "
      SRC "rtcp_in caps=application/x-rtcp ! rtp.recv_rtcp_sink_0 "
      "funnel name=rtcp ! " SINK "rtcp_out "
      "fb.rtcp_src ! rtcp. rtp.send_rtcp_src_0 ! rtcp.", NULL);
  fail_unless (sender != NULL && receiver != NULL);
  bus = gst_element_get_bus (sender);
  wire (sender, "rtp_out", receiver, "rtp_in");
  wire (sender, "rtcp_out", receiver, "rtcp_in");
  wire (receiver, "rtcp_out", sender, "rtcp_in");
  gst_element_set_state (receiver, GST_STATE_PLAYING);
  watch_complaints ();
  gst_element_set_state (sender, GST_STATE_PLAYING);

  while (!has_gone_up (bus))
    step (clock, sender, receiver);
  fail_unless (stat (sender, "cc", "n-acked") > 0);
  fail_unless_equals_int (stat (sender, "cc", "n-malformed-rtcp"), 0);
  fail_unless (stat (receiver, "fb", "n-reports") > 0);
  fail_unless_equals_int (stop_watching_complaints (), 0);

  gst_element_set_state (sender, GST_STATE_NULL);
  gst_element_set_state (receiver, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (sender);
  gst_object_unref (receiver);
  gst_system_clock_set_default (NULL);
  gst_object_unref (clock);
}

GST_END_TEST;

static Suite *
fairrate_suite (void)
{
  Suite *suite = suite_create ("fairrate");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_a_receiver_hears_nothing_of_probes, 0,
      G_N_ELEMENTS (codecs));
  tcase_add_test (tc, test_two_rtpbins_and_a_funnel_close_the_loop);
  return suite;
}

GST_CHECK_MAIN (fairrate);
