/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __ALS_RTCP_NET_H__
#define __ALS_RTCP_NET_H__

/* alsrtcp with sessions: a sender's rtpbin, and receivers' rtpsessions that each
 * have an alsrouter in front of their branch, in virtual time */

#include "alsrtcppads.h"

#define MAX_RECEIVERS 3
#define N_LAYERS 3
#define N_TCP 9
#define STEP (100 * GST_MSECOND)
#define IP_UDP_BYTES 28
#define HEADER_BYTES (IP_UDP_BYTES + 12)

/* One receiver behind its branch */
typedef struct
{
  GstElement *bin, *als, *router, *sources[N_LAYERS];
  GstPad *layers_in[N_LAYERS], *rtcp_in, *tap, *rtcp_out;
  Outlet rtcp;
  gboolean joined;
  gboolean awake;               /* its session had a packet */
  guint64 bandwidth_bps;        /* as the router has it */
  guint64 carries_bps;          /* in truth; 0 = all that comes */
  gdouble credit_bytes;
} Receiver;

typedef struct
{
  GstTestClock *clock;
  gboolean srtcp;
  GstElement *bin, *als;
  GstPad *layers_in[N_LAYERS], *layers_out[N_LAYERS], *rtcp_in, *rtcp_out;
  Outlet layers[N_LAYERS], rtcp;
  Receiver receivers[MAX_RECEIVERS];
  guint n_receivers;
  gboolean awake;               /* the sender's session had a packet */
  guint16 seq;
  guint32 ssrc;                 /* of what it sends */
} Net;

static inline void
play (Net * net, GstElement * bin)
{
  gst_pipeline_use_clock (GST_PIPELINE (bin), GST_CLOCK (net->clock));
  gst_element_set_start_time (bin, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time (bin, 0);
  fail_unless_equals_int (gst_element_set_state (bin, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
}

/* @srtcp: of the members; routers have the key that read RTCP */
static inline void
net_init_full (Net * net, const gchar * settings, gboolean srtcp)
{
  gchar *line = g_strdup_printf ("rtpbin name=rtp ntp-time-source=clock-time "
      "alsrtcp name=als rtpbin=rtp address=239.1.2.0 port=5004 "
      "ntp-time-source=clock-time max-bitrate=3000000 increase=5000 %s %s",
      settings, srtcp ? SRTPENC ("enc") "srtpdec name=dec dec.rtcp_src "
      "! als.rtcp_sink" : "");
  GstElement *session, *dec;

  memset (net, 0, sizeof *net);
  net->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (1000 * GST_SECOND));
  clock_use_for_sessions (net->clock);
  net->ssrc = 0x5555;
  net->srtcp = srtcp;
  net->bin = gst_object_ref_sink (gst_parse_launch (line, NULL));
  g_free (line);
  net->als = element_of (net->bin, "als");
  session = element_of (net->bin, "rtp");
  gst_object_unref (any_pad (net->als, "sink_0"));
  gst_object_unref (any_pad (net->als, "src_0"));
  fail_unless (gst_element_link_pads (net->als, "src_0", session,
          "send_rtp_sink_0"));
  fail_unless (gst_element_link_pads (net->als, "rtcp_src", session,
          "recv_rtcp_sink_0"));
  net->layers_out[0] = pad_from (session, "send_rtp_src_0", &net->layers[0]);
  net->rtcp_out = rtcp_from (net->bin, session, "send_rtcp_src_0", &net->rtcp);
  gst_object_unref (session);
  for (guint i = 1; i < N_LAYERS; i++) {
    gchar *name = g_strdup_printf ("src_%u", i);

    net->layers_out[i] = pad_from (net->als, name, &net->layers[i]);
    g_free (name);
  }
  for (guint i = 0; i < N_LAYERS; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    net->layers_in[i] = pad_to (net->als, name, RTP_CAPS_PCMU);
    g_free (name);
  }
  play (net, net->bin);
  dec = dec_of (net->bin, "dec");
  net->rtcp_in = dec != NULL ? pad_to (dec, "rtcp_sink", "application/x-srtcp")
      : pad_to (net->als, "rtcp_sink", "application/x-rtcp");
  gst_clear_object (&dec);
}

static inline void
net_init (Net * net, const gchar * settings)
{
  net_init_full (net, settings, FALSE);
}

static inline GstPad *
rtcp_to (Net * net, Receiver * receiver, gboolean answers)
{
  const gchar *caps = net->srtcp ? "application/x-srtcp" : "application/x-rtcp";
  GstElement *dec = dec_of (receiver->bin, "dec");
  GstElement *way = dec_of (receiver->bin, "way");
  GstElement *wire = element_of (receiver->bin, "wire");
  GstPad *pad;

  if (wire != NULL)
    pad = pad_to (wire, "sink", caps);
  else if (net->srtcp && answers)
    pad = pad_to (dec, "rtcp_sink", caps);
  else
    pad = pad_to (receiver->router, "sink_7", caps);
  gst_clear_object (&dec);
  gst_clear_object (&way);
  gst_clear_object (&wire);
  return pad;
}

/* The paper's rule.  @bandwidth_bps: 0 = RTCP does not pass the router, or, of SRTCP,
 * without the key: it answers nobody */
static inline Receiver *
net_join (Net * net, guint64 bandwidth_bps)
{
  Receiver *receiver = &net->receivers[net->n_receivers++];
  gchar *line = g_strdup_printf ("rtpsession name=rtp "
      "ntp-time-source=clock-time alsrtcp name=als role=receiver rtpbin=rtp "
      "address=239.1.2.0 port=5004 ntp-time-source=clock-time sources=l1,l2 "
      "identity name=l1  identity name=l2  alsrouter name=r rule=equal bandwidth=%"
      G_GUINT64_FORMAT "  r.src_0 ! als.sink_0 als.src_0 ! rtp.recv_rtp_sink "
      "rtp.recv_rtp_src ! fakesink async=false sync=false "
      "r.src_1 ! fakesink async=false sync=false "
      "r.src_2 ! fakesink async=false sync=false "
      "%s ! als.rtcp_sink als.rtcp_src ! rtp.recv_rtcp_sink",
      MAX (bandwidth_bps, 1), way_of_rtcp (net->srtcp, bandwidth_bps > 0));
  GstElement *session;

  receiver->bandwidth_bps = bandwidth_bps;
  receiver->joined = TRUE;
  receiver->bin = gst_object_ref_sink (gst_parse_launch (line, NULL));
  g_free (line);
  receiver->als = element_of (receiver->bin, "als");
  receiver->router = element_of (receiver->bin, "r");
  receiver->sources[1] = element_of (receiver->bin, "l1");
  receiver->sources[2] = element_of (receiver->bin, "l2");
  session = element_of (receiver->bin, "rtp");
  receiver->rtcp_out = rtcp_from (receiver->bin, session, "send_rtcp_src",
      &receiver->rtcp);
  gst_object_unref (session);
  play (net, receiver->bin);
  for (guint i = 0; i < N_LAYERS; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    receiver->layers_in[i] = pad_to (receiver->router, name, RTP_CAPS_PCMU);
    g_free (name);
  }
  receiver->rtcp_in = rtcp_to (net, receiver, bandwidth_bps > 0);
  receiver->tap = pad_to (receiver->router, "tap_0",
      "application/octet-stream");
  return receiver;
}

/* Its router was stopped and started. */
static inline void
begin_again (Receiver * receiver)
{
  for (guint i = 0; i < N_LAYERS; i++)
    begin_stream (receiver->layers_in[i], RTP_CAPS_PCMU);
  begin_stream (receiver->rtcp_in, "application/x-rtcp");
  begin_stream (receiver->tap, "application/octet-stream");
}

static inline guint
held (Receiver * receiver)
{
  guint n;

  g_object_get (receiver->als, "layers", &n, NULL);
  return n;
}

static inline guint
layer_bps (Net * net, guint layer)
{
  const GValue *layers;
  GstStructure *stats;
  guint bps;

  g_object_get (net->als, "stats", &stats, NULL);
  layers = gst_structure_get_value (stats, "layers");
  fail_unless (gst_structure_get_uint (g_value_get_boxed
          (gst_value_array_get_value (layers, layer)), "target-bitrate", &bps));
  gst_structure_free (stats);
  return bps;
}

static inline void
push_copy (GstPad * pad, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_pad_push (pad, gst_buffer_copy_deep (buffer)),
      GST_FLOW_OK);
}

/* Whether a packet gets through, where all that comes is more than is carried */
static inline gboolean
gets_through (Receiver * receiver, guint bytes, guint offered_bytes)
{
  gdouble room = receiver->carries_bps / 8.0 * STEP / GST_SECOND;

  if (receiver->carries_bps == 0 || offered_bytes <= room)
    return TRUE;
  receiver->credit_bytes += bytes * room / offered_bytes;
  if (receiver->credit_bytes < bytes)
    return FALSE;
  receiver->credit_bytes -= bytes;
  return TRUE;
}

/* What nine TCPs make of the rest of a branch */
static inline void
push_tcp (Receiver * receiver, guint als_bytes)
{
  gdouble room = 0.98 * receiver->bandwidth_bps / 8.0 * STEP / GST_SECOND
      - als_bytes;

  for (guint i = 0; i < N_TCP && room > N_TCP * 20.0; i++) {
    gsize size = room / N_TCP;
    guint8 *data = g_malloc0 (size);

    data[0] = 0x45;
    data[15] = i + 1;
    fail_unless_equals_int (gst_pad_push (receiver->tap,
            gst_buffer_new_wrapped (data, size)), GST_FLOW_OK);
  }
}

static inline guint
bytes_held (Receiver * receiver, const guint * sent_bytes)
{
  guint bytes = 0;

  for (guint i = 0; i < held (receiver); i++)
    bytes += sent_bytes[i];
  return bytes;
}

static inline void
to_session (Receiver * receiver, GstPad * pad, GstBuffer * buffer)
{
  push_copy (pad, buffer);
  receiver->awake = TRUE;
}

static inline void
receive (Receiver * receiver, guint layer, GstBuffer * buffer,
    const guint * sent_bytes)
{
  if (buffer != NULL && receiver->joined && layer < held (receiver)
      && gets_through (receiver, sent_bytes[layer], bytes_held (receiver,
              sent_bytes))) {
    if (layer == 0)
      to_session (receiver, receiver->layers_in[0], buffer);
    else
      push_copy (receiver->layers_in[layer], buffer);
  }
}

static inline void
send_layers (Net * net)
{
  guint sent_bytes[N_LAYERS] = { 0 };
  GstBuffer *buffers[N_LAYERS] = { NULL };

  net->seq++;
  for (guint i = 0; i < N_LAYERS; i++) {
    gint bytes = layer_bps (net, i) / 8.0 * STEP / GST_SECOND;

    if (bytes < HEADER_BYTES)
      continue;
    fail_unless_equals_int (gst_pad_push (net->layers_in[i],
            rtp_packet_new (net->ssrc, net->seq, bytes - HEADER_BYTES)),
        GST_FLOW_OK);
    net->awake = TRUE;
    buffers[i] = pop_packet (&net->layers[i]);
    fail_unless (buffers[i] != NULL);
    sent_bytes[i] = bytes;
  }
  for (guint k = 0; k < net->n_receivers; k++) {
    for (guint i = 0; i < N_LAYERS; i++)
      receive (&net->receivers[k], i, buffers[i], sent_bytes);
    if (net->receivers[k].joined)
      push_tcp (&net->receivers[k], bytes_held (&net->receivers[k],
              sent_bytes));
  }
  for (guint i = 0; i < N_LAYERS; i++)
    g_clear_pointer (&buffers[i], gst_buffer_unref);
}

/* The sender's RTCP goes to all, also back to it, since it is multicast; that of
 * receivers to the sender. */
static inline void
carry_rtcp (Net * net)
{
  GstBuffer *buffer;

  while ((buffer = pop_packet (&net->rtcp)) != NULL) {
    push_copy (net->rtcp_in, buffer);
    for (guint to = 0; to < net->n_receivers; to++)
      if (net->receivers[to].joined)
        to_session (&net->receivers[to], net->receivers[to].rtcp_in, buffer);
    gst_buffer_unref (buffer);
  }
  for (guint from = 0; from < net->n_receivers; from++)
    while ((buffer = pop_packet (&net->receivers[from].rtcp)) != NULL) {
      push_copy (net->rtcp_in, buffer);
      gst_buffer_unref (buffer);
    }
}

/* How many threads wait for the clock when all is done that was due: for each member
 * the element's timer and, once there was a packet, the session's, which must not
 * walk its table while a packet is pushed that adds to it */
static inline guint
n_waiters (Net * net)
{
  guint n = 1 + net->awake;

  for (guint i = 0; i < net->n_receivers; i++)
    n += net->receivers[i].joined ? 1 + net->receivers[i].awake : 0;
  return n;
}

static inline void
net_step (Net * net)
{
  GstClockTime now = gst_clock_get_time (GST_CLOCK (net->clock));

  send_layers (net);
  carry_rtcp (net);
  clock_advance_to (net->clock, n_waiters (net), now + STEP);
}

static inline void
net_run (Net * net, guint seconds)
{
  for (guint i = 0; i < seconds * (GST_SECOND / STEP); i++)
    net_step (net);
}

static inline void
receiver_clear (Receiver * receiver)
{
  gst_element_set_state (receiver->bin, GST_STATE_NULL);
  for (guint i = 0; i < N_LAYERS; i++)
    free_pad (receiver->layers_in[i]);
  free_pad (receiver->rtcp_in);
  free_pad (receiver->tap);
  free_pad (receiver->rtcp_out);
  outlet_clear (&receiver->rtcp);
  gst_object_unref (receiver->sources[1]);
  gst_object_unref (receiver->sources[2]);
  gst_object_unref (receiver->router);
  gst_object_unref (receiver->als);
  gst_object_unref (receiver->bin);
}

static inline void
net_clear (Net * net)
{
  for (guint i = 0; i < net->n_receivers; i++)
    receiver_clear (&net->receivers[i]);
  gst_element_set_state (net->bin, GST_STATE_NULL);
  for (guint i = 0; i < N_LAYERS; i++) {
    free_pad (net->layers_in[i]);
    free_pad (net->layers_out[i]);
    outlet_clear (&net->layers[i]);
  }
  free_pad (net->rtcp_in);
  free_pad (net->rtcp_out);
  outlet_clear (&net->rtcp);
  gst_object_unref (net->als);
  gst_object_unref (net->bin);
  gst_system_clock_set_default (NULL);
  gst_object_unref (net->clock);
}

static inline void
assert_between (gdouble value, gdouble least, gdouble most)
{
  fail_unless (value >= least && value <= most, "%g is not in %g ... %g",
      value, least, most);
}

#endif /* __ALS_RTCP_NET_H__ */
