/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp with two sources in a session, one that ends, and many own reports */
#include "asmprtcpcheck.h"
#include "statscheck.h"

#define SECOND_SSRC 0x7777u
#define N_SENT 256
#define SILENCE_S 15

/* Returns: @field of the stream @ssrc that @node hears */
static gdouble
stream_stat (Node * node, guint32 ssrc, const gchar * field)
{
  gdouble number = -1.0;

  stats_look_up (stats_of (node), "streams", ssrc, field, &number);
  return number;
}

static GstPadProbeReturn
lose_some (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  return rtp_packet_ssrc (buffer) == SECOND_SSRC
      && rtp_packet_seq (buffer) % 5 == 0 ? GST_PAD_PROBE_DROP
      : GST_PAD_PROBE_OK;
}

/* They are one sender: its listeners have one round trip and one rate, and none of its
 * sources is a listener of the other. */
GST_START_TEST (test_two_sources_of_a_session_share_one_rate)
{
  Node *node;
  Net net;

  net_init (&net);
  net.second_ssrc = SECOND_SSRC;
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver", NULL);
  net_run (&net, 40);
  fail_unless_equals_int (target (&net), 400000);
  assert_between (stream_stat (node, net.ssrc, "rtt"), 80e6, 125e6);
  assert_between (stream_stat (node, SECOND_SSRC, "rtt"), 80e6, 125e6);
  assert_between (stream_stat (node, SECOND_SSRC, "received-bitrate"), 390000,
      410000);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-plain"), 0);
  /* both report, and both reports come back */
  fail_unless (element_stat (net.nodes[0].asmp, "n-looped-rtcp") >= 8);
  /* what one of them loses is lost of both */
  gst_pad_add_probe (node->rtp_in, GST_PAD_PROBE_TYPE_BUFFER, lose_some, NULL,
      NULL);
  net_run (&net, 60);
  fail_unless (target (&net) < 200000, "%u", target (&net));
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 1);
  net_clear (&net);
}

GST_END_TEST;

static GstFlowReturn
drop (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* Its session reports once for each: the second one tells no rate, and yet is no receiver
 * without asmprtcp. */
GST_START_TEST (test_a_receiver_that_sends_two_streams_is_no_plain_one)
{
  GstPad *in, *out;
  Node *node;
  Net net;

  net_init (&net);
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver", NULL);
  gst_object_unref (gst_element_request_pad_simple (node->session,
          "send_rtp_sink"));
  out = pad_from (node, node->session, "send_rtp_src");
  gst_pad_set_chain_function (out, drop);
  in = pad_to (node->session, "send_rtp_sink", RTP_CAPS_PCMU);
  /* as a pipeline does; without it GStreamer 1.26 makes no report for who sends */
  gst_pad_push_event (out, gst_event_new_latency (0));
  for (guint i = 0; i < 60; i++) {
    gst_pad_push (in, rtp_packet_new (SECOND_SSRC, i, 160));
    gst_pad_push (in, rtp_packet_new (SECOND_SSRC + 1, i, 160));
    net_run (&net, 1);
  }
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-receivers"), 2);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "n-plain"), 0);
  fail_unless_equals_int (element_stat (net.nodes[0].asmp, "limiting-ssrc"),
      element_stat (node->asmp, "own-ssrc"));
  free_pad (in);
  free_pad (out);
  net_clear (&net);
}

GST_END_TEST;

/* Of two streams one loses packets, and limits the rate until it has ended. */
GST_START_TEST (test_a_stream_that_ends_without_a_word_limits_nobody)
{
  gdouble n_reports, n_ended;
  Node *node;
  Net net;

  net_init (&net);
  net.second_ssrc = SECOND_SSRC;
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver", NULL);
  gst_pad_add_probe (node->rtp_in, GST_PAD_PROBE_TYPE_BUFFER, lose_some, NULL,
      NULL);
  net_run (&net, 60);
  fail_unless (target (&net) < 200000, "%u", target (&net));
  n_reports = stream_stat (node, SECOND_SSRC, "n-reports");
  net.second_ssrc = 0;
  net_run (&net, SILENCE_S - 1);
  /* a pause, for all that is known: a session reports within 7.5 s */
  n_ended = stream_stat (node, SECOND_SSRC, "n-reports");
  fail_unless (n_ended > n_reports);
  net_run (&net, 2);
  n_ended = stream_stat (node, SECOND_SSRC, "n-reports");
  n_reports = stream_stat (node, net.ssrc, "n-reports");
  net_run (&net, 60);
  fail_unless_equals_float (stream_stat (node, SECOND_SSRC, "n-reports"),
      n_ended);
  fail_unless (stream_stat (node, net.ssrc, "n-reports") >= n_reports + 7.0);
  fail_unless_equals_int (target (&net), 400000);
  net_clear (&net);
}

GST_END_TEST;

typedef struct
{
  GMutex lock;
  GPtrArray *reports;           /* with the lock */
} Sent;

static GstPadProbeReturn
note_sent (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  Sent *sent = data;

  g_mutex_lock (&sent->lock);
  g_ptr_array_add (sent->reports,
      gst_buffer_copy_deep (GST_PAD_PROBE_INFO_BUFFER (info)));
  g_mutex_unlock (&sent->lock);
  return GST_PAD_PROBE_OK;
}

/* Returns: whether it is dropped when it comes once more */
static gboolean
is_dropped (Node * node, GstBuffer * report)
{
  gdouble n_looped = element_stat (node->asmp, "n-looped-rtcp");
  gdouble n_rtcp = element_stat (node->asmp, "n-rtcp");

  fail_unless_equals_int (gst_pad_push (node->rtcp_in,
          gst_buffer_ref (report)), GST_FLOW_OK);
  n_looped = element_stat (node->asmp, "n-looped-rtcp") - n_looped;
  n_rtcp = element_stat (node->asmp, "n-rtcp") - n_rtcp;
  fail_unless_equals_float (n_looped + n_rtcp, 1.0);
  return n_looped > 0.0;
}

/* What comes later than any network brings it is a stranger's. */
GST_START_TEST (test_of_its_own_reports_the_last_256_are_known)
{
  Sent sent = { 0 };
  Node *node;
  Net net;
  guint n;

  g_mutex_init (&sent.lock);
  sent.reports =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  net_init (&net);
  node_add (&net, "sender", NULL);
  node = node_add (&net, "receiver",
      "bandwidth=10000000 rtcp-min-interval=50000000");
  gst_pad_add_probe (node->rtcp_out, GST_PAD_PROBE_TYPE_BUFFER, note_sent,
      &sent, NULL);
  for (guint i = 0; i < 60 && sent.reports->len < 3 * N_SENT; i++)
    net_run (&net, 1);
  n = sent.reports->len;
  fail_unless (n >= 3 * N_SENT, "%u", n);
  for (guint i = n - N_SENT; i < n; i++)
    fail_unless (is_dropped (node, g_ptr_array_index (sent.reports, i)),
        "%u of %u", i, n);
  for (guint i = 0; i < n - N_SENT; i++)
    fail_if (is_dropped (node, g_ptr_array_index (sent.reports, i)),
        "%u of %u", i, n);
  net_clear (&net);
  g_ptr_array_unref (sent.reports);
  g_mutex_clear (&sent.lock);
}

GST_END_TEST;

static Suite *
asmprtcp_sources_suite (void)
{
  Suite *s = suite_create ("asmprtcp-sources");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_two_sources_of_a_session_share_one_rate);
  tcase_add_test (tc, test_a_receiver_that_sends_two_streams_is_no_plain_one);
  tcase_add_test (tc, test_a_stream_that_ends_without_a_word_limits_nobody);
  tcase_add_test (tc, test_of_its_own_reports_the_last_256_are_known);
  return s;
}

GST_CHECK_MAIN (asmprtcp_sources);
