/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* asmprtcp where there are more than one report has room for */
#include "asmprtcpcheck.h"

#include "fairmix/wire/fmx-rtcp-app.h"
#include "fairmix/wire/fmx-rtcp.h"

#define FIRST_SSRC 1000
#define N_LISTENERS 100
#define MOST_IN_A_REPORT 32
#define MOST_BYTES 400

/* What a sender's reports tell */
typedef struct
{
  GMutex lock;
  GHashTable *told;             /* with the lock: whose round-trip times */
  guint most, most_bytes;       /* ... in one report */
} Told;

/* Returns: how many are in it */
static guint
note_rtts (Told * told, const FmxRtcpApp * app)
{
  FmxAsmpRttHeader header;

  fail_unless (fmx_asmp_rtt_read (&header, app->data, app->size));
  for (guint i = 0; i < header.n_rtts; i++) {
    FmxAsmpRtt rtt = fmx_asmp_rtt_get (app->data, i);

    if (rtt.ssrc >= FIRST_SSRC && rtt.ssrc < FIRST_SSRC + N_LISTENERS)
      g_hash_table_add (told->told, GUINT_TO_POINTER (rtt.ssrc));
  }
  return header.n_rtts;
}

static GstPadProbeReturn
note_report (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  Told *told = data;
  GstMapInfo map;
  FmxRtcpApp app;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_mutex_lock (&told->lock);
  fail_unless (fmx_rtcp_reader_init (&reader, map.data, map.size));
  while (fmx_rtcp_reader_next (&reader, &packet))
    if (fmx_rtcp_app_read (&app, packet.data, packet.bytes)
        && app.subtype == FMX_ASMP_APP_RTT)
      told->most = MAX (told->most, note_rtts (told, &app));
  told->most_bytes = MAX (told->most_bytes, map.size);
  g_mutex_unlock (&told->lock);
  gst_buffer_unmap (buffer, &map);
  return GST_PAD_PROBE_OK;
}

/* One of many listeners reports, a tenth of a second after the sender spoke. */
static void
report_from (Net * net, guint32 ssrc)
{
  guint32 mid32 = gst_util_uint64_scale (now (net), 65536, GST_SECOND);
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  gst_rtcp_packet_add_rb (&packet, net->ssrc, 0, 0, net->seq, 0,
      mid32 - 6554, 0);
  add_rate (net, &rtcp, ssrc, 300000);
  gst_rtcp_buffer_unmap (&rtcp);
  deliver_later (net, net->nodes[0].rtcp_in, buffer, 0);
  gst_buffer_unref (buffer);
}

/* Of who reports at once; all have their turn when they report again, after others. */
GST_START_TEST (test_a_report_tells_32_round_trips_at_most)
{
  static Told told;
  Net net;

  g_mutex_init (&told.lock);
  told.told = g_hash_table_new (NULL, NULL);
  net_init (&net);
  node_add (&net, "sender", NULL);
  node_add (&net, "receiver", NULL);
  net_run (&net, 10);
  gst_pad_add_probe (net.nodes[0].rtcp_out, GST_PAD_PROBE_TYPE_BUFFER,
      note_report, &told, NULL);
  for (guint i = 0; i < N_LISTENERS; i++)
    report_from (&net, FIRST_SSRC + i);
  net_run (&net, 15);
  for (guint i = 0; i < N_LISTENERS; i++) {
    report_from (&net, FIRST_SSRC + i);
    if (i % 10 == 9)
      net_run (&net, 15);
  }
  net_clear (&net);
  fail_unless_equals_int (told.most, MOST_IN_A_REPORT);
  fail_unless (told.most_bytes < MOST_BYTES, "%u bytes", told.most_bytes);
  fail_unless_equals_int (g_hash_table_size (told.told), N_LISTENERS);
  g_hash_table_unref (told.told);
  g_mutex_clear (&told.lock);
}

GST_END_TEST;

/* Returns: whether there is a BYE in what @node has sent, which is taken from it */
static gboolean
says_bye (Node * node)
{
  gboolean bye = FALSE;
  GstBuffer *buffer;

  while ((buffer = pop_sent (node, &node->sent_rtcp)) != NULL) {
    GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
    GstRTCPPacket packet;

    gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp);
    if (gst_rtcp_buffer_get_first_packet (&rtcp, &packet))
      do
        bye |= gst_rtcp_packet_get_type (&packet) == GST_RTCP_TYPE_BYE;
      while (gst_rtcp_packet_move_to_next (&packet));
    gst_rtcp_buffer_unmap (&rtcp);
    gst_buffer_unref (buffer);
  }
  return bye;
}

/* Among more than fifty members a BYE would have to wait for its turn ([RFC3550 6.3.7]), and
 * who stops waits for nothing. */
GST_START_TEST (test_of_more_than_fifty_nobody_says_bye)
{
  for (guint many = 0; many < 2; many++) {
    Node *node;
    Net net;

    net_init (&net);
    node_add (&net, "sender", NULL);
    node = node_add (&net, "receiver", NULL);
    net_run (&net, 20);
    for (guint i = 0; i < (many ? 60 : 40); i++)
      hear_from (&net, node, FIRST_SSRC + i, 0);
    net_run (&net, 1);
    says_bye (node);
    gst_pad_push_event (node->rtp_in, gst_event_new_eos ());
    fail_unless (says_bye (node) == !many);
    net_clear (&net);
  }
}

GST_END_TEST;

static Suite *
asmprtcp_crowd_suite (void)
{
  Suite *s = suite_create ("asmprtcp-crowd");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_report_tells_32_round_trips_at_most);
  tcase_add_test (tc, test_of_more_than_fifty_nobody_says_bye);
  return s;
}

GST_CHECK_MAIN (asmprtcp_crowd);
