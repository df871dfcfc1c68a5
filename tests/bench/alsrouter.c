/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What alsrouter costs: nanoseconds of CPU per RTP packet beyond a pad that hands
 * the packet on at once, with few and with many hosts that send. */
#include <gst/gst.h>
#include <gst/net/gstnetaddressmeta.h>

#include "bench.h"

#define PACKET_BYTES 172
#define N_PACKETS 1000000
#define N_ROUNDS 5
#define MOST_NS 1000            /* beyond udpsrc ! udpsink */

static GstFlowReturn
drop (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstBuffer *
packet_from (guint host)
{
  guint8 *data = g_malloc0 (PACKET_BYTES);
  gchar *text = g_strdup_printf ("10.%u.%u.%u", host >> 16, host >> 8 & 255,
      host & 255);
  GSocketAddress *address = g_inet_socket_address_new_from_string (text, 5004);
  GstBuffer *buffer = gst_buffer_new_wrapped (data, PACKET_BYTES);

  data[0] = 0x80;
  gst_buffer_add_net_address_meta (buffer, address);
  g_object_unref (address);
  g_free (text);
  return buffer;
}

/* Returns: ns per packet, the best of some rounds */
static gdouble
measure (GstPad * pad, GstBuffer ** packets, guint n_hosts)
{
  gdouble best_s = G_MAXDOUBLE;

  for (guint round = 0; round < N_ROUNDS; round++) {
    gdouble begin_s = bench_thread_cpu_s ();

    for (guint i = 0; i < N_PACKETS; i++)
      gst_pad_push (pad, gst_buffer_ref (packets[i % n_hosts]));
    best_s = MIN (best_s, bench_thread_cpu_s () - begin_s);
  }
  return best_s * 1e9 / N_PACKETS;
}

static void
begin_stream (GstPad * pad)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("bench"));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

static GstPad *
new_pad (GstPadDirection direction)
{
  GstPad *pad = gst_pad_new (NULL, direction);

  if (direction == GST_PAD_SINK)
    gst_pad_set_chain_function (pad, drop);
  gst_pad_set_active (pad, TRUE);
  return pad;
}

static guint
connections_of (GstElement * router)
{
  GstStructure *stats;
  guint n;

  g_object_get (router, "stats", &stats, NULL);
  gst_structure_get_uint (stats, "connections", &n);
  gst_structure_free (stats);
  return n;
}

static void
bench (guint n_hosts, const gchar * rule)
{
  GstElement *router = gst_element_factory_make ("alsrouter", NULL);
  GstPad *src = new_pad (GST_PAD_SRC), *sink = new_pad (GST_PAD_SINK);
  GstPad *in = gst_element_request_pad_simple (router, "sink_0");
  GstPad *out = gst_element_request_pad_simple (router, "src_0");
  GstBuffer **packets = g_new (GstBuffer *, n_hosts);
  GstClock *clock = gst_system_clock_obtain ();
  gchar *scene = g_strdup_printf ("%u host%s, %s", n_hosts,
      n_hosts == 1 ? "" : "s", rule);
  gdouble bare, routed;

  for (guint i = 0; i < n_hosts; i++)
    packets[i] = packet_from (i + 1);
  gst_util_set_object_arg (G_OBJECT (router), "rule", rule);
  gst_element_set_clock (router, clock);
  gst_element_set_state (router, GST_STATE_PLAYING);

  gst_pad_link (src, sink);
  begin_stream (src);
  bare = measure (src, packets, n_hosts);
  gst_pad_unlink (src, sink);
  gst_pad_link (src, in);
  gst_pad_link (out, sink);
  begin_stream (src);
  routed = measure (src, packets, n_hosts);
  bench_row ("alsrouter", scene, "connections counted",
      connections_of (router), "");
  bench_row ("alsrouter", scene, "a packet from pad to pad", bare, "ns");
  bench_row_target ("alsrouter", scene, "more through the element",
      routed - bare, "ns", BENCH_AT_MOST, MOST_NS);

  gst_element_set_state (router, GST_STATE_NULL);
  for (guint i = 0; i < n_hosts; i++)
    gst_buffer_unref (packets[i]);
  g_free (packets);
  g_free (scene);
  gst_object_unref (clock);
  gst_pad_unlink (src, in);
  gst_pad_unlink (out, sink);
  gst_object_unref (in);
  gst_object_unref (out);
  gst_object_unref (src);
  gst_object_unref (sink);
  gst_object_unref (router);
}

int
main (int argc, char **argv)
{
  static const guint n_hosts[] = { 1, 100, 10000, 30000 };

  gst_init (&argc, &argv);
  if (!gst_registry_check_feature_version (gst_registry_get (), "alsrouter", 0,
          0, 0)) {
    g_printerr ("%s: no element alsrouter: run it as meson devenv -C BUILD %s\n",
        argv[0], argv[0]);
    return 1;
  }
  bench_init (&argc, argv);
  bench_stay_on_one_processor ();
  for (guint i = 0; i < G_N_ELEMENTS (n_hosts); i++)
    bench (n_hosts[i], "max-min");
  bench (30000, "equal");
  return 0;
}
