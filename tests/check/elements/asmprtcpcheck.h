/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __ASMP_RTCP_CHECK_H__
#define __ASMP_RTCP_CHECK_H__

/* A sender's rtpbin and its receivers' rtpsessions, each with an asmprtcp, on a
 * network where everybody hears everybody's RTCP, also its own, in virtual time */

#include "../gstfairmixcheck.h"

#include "padcheck.h"
#include "srtpcheck.h"

#include "common/gstfairmixrtcp.h"
#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-asmp-app.h"

#define MAX_NODES 5
#define IP_UDP_BYTES 28
#define HEADER_BYTES (IP_UDP_BYTES + 12)
#define MTU 1400

/* One host: its session, its asmprtcp, what it sends, and the way to it. */
typedef struct
{
  GstElement *bin, *session, *asmp;
  GstPad *rtp_in, *rtcp_in, *rtp_out, *rtcp_out;
  gboolean joined;
  gboolean awake;               /* has had a packet: its thread sends RTCP */
  GMutex lock;
  GQueue sent_rtp, sent_rtcp;   /* with the lock */
  GstClockTime delay;           /* one way from the sender, and back */
  gdouble loss;
  gdouble capacity_bps;         /* 0 = any */
  gdouble tokens;
  guint64 rtcp_bytes;
} Node;

typedef struct
{
  GstClockTime time;
  GstPad *pad;
  GstBuffer *buffer;
} Delivery;

typedef struct
{
  GstTestClock *clock;
  Node nodes[MAX_NODES];        /* the first one sends */
  guint n_nodes;
  GList *deliveries;            /* in order of time */
  FmxRng rng;
  guint16 seq;
  guint32 ts;
  GstClockTime packet_time;
  gboolean srtp;                /* of those who are added from now on */
  guint64 media_bytes;
  guint32 ssrc;                 /* of what it sends; checked */
  guint32 second_ssrc;          /* 0 = it sends one stream */
  guint16 second_seq;
} Net;

static inline GstFlowReturn
take_packet (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Node *node = gst_pad_get_element_private (pad);

  g_mutex_lock (&node->lock);
  g_queue_push_tail (pad == node->rtp_out ? &node->sent_rtp : &node->sent_rtcp,
      buffer);
  g_mutex_unlock (&node->lock);
  return GST_FLOW_OK;
}

static inline GstPad *
pad_to (GstElement * element, const gchar * name, const gchar * caps_string)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstPad *peer = gst_element_get_static_pad (element, name);
  GstCaps *caps = gst_caps_from_string (caps_string);
  GstSegment segment;

  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (pad, peer), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start (name));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

static inline GstPad *
pad_from (Node * node, GstElement * element, const gchar * name)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);
  GstPad *peer = gst_element_get_static_pad (element, name);

  if (peer == NULL)
    peer = gst_element_request_pad_simple (element, name);
  gst_pad_set_element_private (pad, node);
  gst_pad_set_chain_function (pad, take_packet);
  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (peer, pad), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  return pad;
}

/* rtpbin for the sender, rtpsession for receivers: their pads' names */
static const gchar *const sender_pads[] = {
  "send_rtp_sink_0", "send_rtp_src_0", "recv_rtcp_sink_0", "send_rtcp_src_0"
};

static const gchar *const receiver_pads[] = {
  "recv_rtp_sink", "recv_rtp_src", "recv_rtcp_sink", "send_rtcp_src"
};

/* --- SRTP between a node and the network --- */

/* Returns: where @name of the session comes out, encrypted */
static inline GstPad *
pad_from_srtp (Node * node, const gchar * name, const gchar * sink,
    const gchar * src)
{
  GstElement *enc = gst_bin_get_by_name (GST_BIN (node->bin), "enc");
  GstPad *pad;

  gst_object_unref (gst_element_request_pad_simple (enc, sink));
  fail_unless (gst_element_link_pads (node->session, name, enc, sink));
  pad = pad_from (node, enc, src);
  gst_object_unref (enc);
  return pad;
}

/* The pads of a node on its way to the network */
static inline void
node_secure (Node * node, gboolean sends, const gchar * const *pads)
{
  GstElement *dec = gst_bin_get_by_name (GST_BIN (node->bin), "dec");

  g_signal_connect (dec, "request-key", G_CALLBACK (srtp_key_caps), NULL);
  node->rtp_out = sends ? pad_from_srtp (node, pads[1], "rtp_sink_0",
      "rtp_src_0") : pad_from (node, node->session, pads[1]);
  node->rtcp_out = pad_from_srtp (node, pads[3], "rtcp_sink_0", "rtcp_src_0");
  fail_unless (gst_element_link_pads (dec, "rtcp_src", node->asmp,
          "rtcp_sink"));
  if (!sends)
    fail_unless (gst_element_link_pads (dec, "rtp_src", node->asmp, "sink"));
  gst_object_unref (dec);
}

static inline void
node_open (Node * node, gboolean sends, gboolean srtp)
{
  GstElement *in = gst_bin_get_by_name (GST_BIN (node->bin), srtp ? "dec"
      : "cc");

  node->rtp_in = srtp && !sends
      ? pad_to (in, "rtp_sink", "application/x-srtp, media=audio, "
      "clock-rate=8000, encoding-name=PCMU, payload=0")
      : pad_to (node->asmp, "sink", RTP_CAPS_PCMU);
  node->rtcp_in =
      pad_to (in, "rtcp_sink",
      srtp ? "application/x-srtcp" : "application/x-rtcp");
  gst_object_unref (in);
}

/* @settings: of the session, as in a launch line; nullable */
static inline Node *
node_add (Net * net, const gchar * role, const gchar * settings)
{
  gboolean sends = net->n_nodes == 0;
  const gchar *const *pads = sends ? sender_pads : receiver_pads;
  Node *node = &net->nodes[net->n_nodes++];
  gchar *line = g_strdup_printf ("%s name=rtp ntp-time-source=clock-time %s "
      "asmprtcp name=cc role=%s rtpbin=rtp ntp-time-source=clock-time "
      "initial-bitrate=100000 max-bitrate=400000 %s",
      sends ? "rtpbin" : "rtpsession", settings != NULL ? settings : "", role,
      net->srtp ? "srtpenc name=enc key=" SRTP_KEY " srtpdec name=dec" : "");

  g_mutex_init (&node->lock);
  g_queue_init (&node->sent_rtp);
  g_queue_init (&node->sent_rtcp);
  node->delay = 40 * GST_MSECOND;
  node->joined = TRUE;
  node->bin = gst_object_ref_sink (gst_parse_launch (line, NULL));
  g_free (line);
  node->session = gst_bin_get_by_name (GST_BIN (node->bin), "rtp");
  node->asmp = gst_bin_get_by_name (GST_BIN (node->bin), "cc");
  fail_unless (gst_element_link_pads (node->asmp, "src", node->session,
          pads[0]));
  if (!net->srtp)
    node->rtp_out = pad_from (node, node->session, pads[1]);
  fail_unless (gst_element_link_pads (node->asmp, "rtcp_src", node->session,
          pads[2]));
  if (net->srtp)
    node_secure (node, sends, pads);
  else
    node->rtcp_out = pad_from (node, node->session, pads[3]);
  gst_pipeline_use_clock (GST_PIPELINE (node->bin), GST_CLOCK (net->clock));
  gst_element_set_start_time (node->bin, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time (node->bin, 0);
  fail_unless_equals_int (gst_element_set_state (node->bin,
          GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  node_open (node, sends, net->srtp);
  return node;
}

static inline void
node_stop (Net * net, Node * node)
{
  node->joined = FALSE;
  gst_element_set_state (node->bin, GST_STATE_NULL);
}

static inline void
net_init (Net * net)
{
  memset (net, 0, sizeof *net);
  net->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (1000 * GST_SECOND));
  clock_use_for_sessions (net->clock);
  net->packet_time = FRAME;
  fmx_rng_init (&net->rng, 1);
}

static inline void
net_clear (Net * net)
{
  for (guint i = 0; i < net->n_nodes; i++) {
    Node *node = &net->nodes[i];

    gst_element_set_state (node->bin, GST_STATE_NULL);
    free_pad (node->rtp_in);
    free_pad (node->rtcp_in);
    free_pad (node->rtp_out);
    free_pad (node->rtcp_out);
    gst_object_unref (node->session);
    gst_object_unref (node->asmp);
    gst_object_unref (node->bin);
    g_queue_clear_full (&node->sent_rtp, (GDestroyNotify) gst_buffer_unref);
    g_queue_clear_full (&node->sent_rtcp, (GDestroyNotify) gst_buffer_unref);
    g_mutex_clear (&node->lock);
  }
  for (GList * l = net->deliveries; l != NULL; l = l->next) {
    gst_buffer_unref (((Delivery *) l->data)->buffer);
    g_free (l->data);
  }
  g_list_free (net->deliveries);
  gst_system_clock_set_default (NULL);
  gst_object_unref (net->clock);
}

static inline GstClockTime
now (Net * net)
{
  return gst_clock_get_time (GST_CLOCK (net->clock));
}

/* never alike: what is inserted later comes later */
static inline gint
by_time (gconstpointer a, gconstpointer b)
{
  GstClockTime x = ((const Delivery *) a)->time;
  GstClockTime y = ((const Delivery *) b)->time;

  return x < y ? -1 : 1;
}

static inline void
deliver_later (Net * net, GstPad * pad, GstBuffer * buffer, GstClockTime delay)
{
  Delivery *delivery = g_new (Delivery, 1);

  delivery->time = now (net) + delay;
  delivery->pad = pad;
  /* a copy: what is on its way is nobody's any more */
  delivery->buffer = gst_buffer_copy_deep (buffer);
  net->deliveries = g_list_insert_sorted (net->deliveries, delivery, by_time);
}

static inline gboolean
is_lost (Net * net, Node * node, gsize wire_bytes)
{
  if (fmx_rng_next_unit (&net->rng) < node->loss)
    return TRUE;
  if (node->capacity_bps == 0.0)
    return FALSE;
  if (node->tokens < wire_bytes)
    return TRUE;
  node->tokens -= wire_bytes;
  return FALSE;
}

static inline GstBuffer *
pop_sent (Node * node, GQueue * queue)
{
  GstBuffer *buffer;

  g_mutex_lock (&node->lock);
  buffer = g_queue_pop_head (queue);
  g_mutex_unlock (&node->lock);
  return buffer;
}

/* RTP goes to all receivers, RTCP to all, whoever it is from. */
static inline void
carry (Net * net)
{
  Node *sender = &net->nodes[0];
  GstBuffer *buffer;

  while ((buffer = pop_sent (sender, &sender->sent_rtp)) != NULL) {
    gsize wire_bytes = gst_buffer_get_size (buffer) + IP_UDP_BYTES;

    if (net->ssrc == 0)
      net->ssrc = rtp_packet_ssrc (buffer);
    if (rtp_packet_ssrc (buffer) != net->second_ssrc)
      fail_unless_equals_int (rtp_packet_ssrc (buffer), net->ssrc);
    net->media_bytes += wire_bytes;
    for (guint i = 1; i < net->n_nodes; i++)
      if (net->nodes[i].joined && !is_lost (net, &net->nodes[i], wire_bytes))
        deliver_later (net, net->nodes[i].rtp_in, buffer, net->nodes[i].delay);
    gst_buffer_unref (buffer);
  }
  for (guint from = 0; from < net->n_nodes; from++)
    while ((buffer = pop_sent (&net->nodes[from], &net->nodes[from].sent_rtcp))
        != NULL) {
      net->nodes[from].rtcp_bytes += gst_buffer_get_size (buffer)
          + IP_UDP_BYTES;
      for (guint to = 0; to < net->n_nodes; to++)
        if (net->nodes[to].joined)
          deliver_later (net, net->nodes[to].rtcp_in, buffer,
              from == to ? 0 : net->nodes[MAX (from, to)].delay);
      gst_buffer_unref (buffer);
    }
  for (guint i = 1; i < net->n_nodes; i++)
    while ((buffer = pop_sent (&net->nodes[i], &net->nodes[i].sent_rtp))
        != NULL)
      gst_buffer_unref (buffer);
}

static inline void
deliver (Net * net)
{
  while (net->deliveries != NULL) {
    Delivery *delivery = net->deliveries->data;

    if (delivery->time > now (net))
      return;
    net->deliveries = g_list_delete_link (net->deliveries, net->deliveries);
    gst_pad_push (delivery->pad, delivery->buffer);
    for (guint i = 0; i < net->n_nodes; i++)
      net->nodes[i].awake |= delivery->pad == net->nodes[i].rtp_in;
    g_free (delivery);
  }
}

static inline guint
target (Net * net)
{
  guint bitrate;

  g_object_get (net->nodes[0].asmp, "target-bitrate", &bitrate, NULL);
  return bitrate;
}

static inline void
send_of (Net * net, guint32 ssrc, guint16 seq, gint bytes)
{
  GstBuffer *buffer = rtp_packet_new (ssrc, seq, MAX (bytes - HEADER_BYTES, 1));
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_timestamp (&rtp, net->ts);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = now (net);
  fail_unless_equals_int (gst_pad_push (net->nodes[0].rtp_in, buffer),
      GST_FLOW_OK);
}

/* A packet of the size that the target gives, or one of each stream */
static inline void
send_packet (Net * net)
{
  gint bytes = target (net) / 8.0 * net->packet_time / GST_SECOND;
  gboolean two = net->second_ssrc != 0;

  send_of (net, 0x5555, net->seq++, two ? bytes / 2 : bytes);
  if (two)
    send_of (net, net->second_ssrc, net->second_seq++, bytes / 2);
  net->ts += gst_util_uint64_scale (net->packet_time, 8000, GST_SECOND);
}

/* Returns: how many threads wait on the clock when all is done that was due: for
 * each node the element's timer and, once there was a packet, the session's */
static inline guint
n_waiters (Net * net)
{
  guint n = 0;

  for (guint i = 0; i < net->n_nodes; i++)
    n += net->nodes[i].joined ? 1 + net->nodes[i].awake : 0;
  return n;
}

static inline void
net_run (Net * net, guint seconds)
{
  GstClockTime end = now (net) + seconds * GST_SECOND;

  while (now (net) < end) {
    for (guint i = 0; i < net->n_nodes; i++) {
      Node *node = &net->nodes[i];

      node->tokens = MIN (node->tokens + node->capacity_bps / 8.0
          * net->packet_time / GST_SECOND, node->capacity_bps / 40.0);
    }
    send_packet (net);
    net->nodes[0].awake = TRUE;
    carry (net);
    deliver (net);
    clock_advance_to (net->clock, n_waiters (net), now (net)
        + net->packet_time);
  }
}

static inline void
add_rate (Net * net, GstRTCPBuffer * rtcp, guint32 ssrc, guint bps)
{
  FmxAsmpRate rate = { net->ssrc, bps, FMX_SECOND / 10, 0.0, bps, TRUE, FALSE,
    TRUE
  };
  guint8 data[FMX_ASMP_RATE_BYTES];
  FmxRtcpApp app = { FMX_ASMP_APP_RATE, ssrc, {'A', 'S', 'M', 'P'}, data,
  fmx_asmp_rate_write (&rate, data, sizeof data)
  };

  fail_unless (gst_fairmix_rtcp_add_app (rtcp, &app, MTU));
}

/* A stranger's report: it counts as a member, and perhaps tells a rate. */
static inline void
hear_from (Net * net, Node * node, guint32 ssrc, guint bps)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_SDES, &packet);
  gst_rtcp_packet_sdes_add_item (&packet, ssrc);
  gst_rtcp_packet_sdes_add_entry (&packet, GST_RTCP_SDES_CNAME, sizeof ssrc,
      (const guint8 *) "ears");
  if (bps > 0)
    add_rate (net, &rtcp, ssrc, bps);
  gst_rtcp_buffer_unmap (&rtcp);
  deliver_later (net, node->rtcp_in, buffer, 0);
  deliver_later (net, net->nodes[0].rtcp_in, buffer, 0);
  gst_buffer_unref (buffer);
}

static inline GstStructure *
stats_of (Node * node)
{
  GstStructure *stats;

  g_object_get (node->asmp, "stats", &stats, NULL);
  return stats;
}

/* A field of the first item of the list @list in the statistics */
static inline gdouble
first_of (Node * node, const gchar * list, const gchar * field)
{
  GstStructure *stats = stats_of (node);
  const GValue *items = gst_structure_get_value (stats, list);
  GValue value = G_VALUE_INIT;
  gdouble number;

  fail_unless (items != NULL && gst_value_array_get_size (items) > 0);
  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_transform (gst_structure_get_value (g_value_get_boxed
          (gst_value_array_get_value (items, 0)), field), &value);
  number = g_value_get_double (&value);
  gst_structure_free (stats);
  return number;
}

static inline void
assert_between (gdouble value, gdouble least, gdouble most)
{
  fail_unless (value >= least && value <= most, "%g is not in %g ... %g",
      value, least, most);
}

#endif /* __ASMP_RTCP_CHECK_H__ */
