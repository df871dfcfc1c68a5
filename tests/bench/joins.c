/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What it takes when very many streams join at once.
 *
 *   joins [--csv] [N...]
 *
 * N streams join on one pad of a partialmix that plays, with a neighbour who
 * gets all of them and one who gets a mix.  Real time, of the whole and of the
 * longest push: as long as one push takes, nothing else that comes in goes on.
 */
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <stdlib.h>
#include <string.h>

#define PCMU_CAPS "application/x-rtp,media=audio,payload=0,clock-rate=8000," \
  "encoding-name=PCMU"
#define PAYLOAD_BYTES 160

static GstBuffer *
make_packet (guint32 ssrc)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (PAYLOAD_BYTES, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 0);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  memset (gst_rtp_buffer_get_payload (&rtp), 0xff, PAYLOAD_BYTES);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static GstFlowReturn
drop (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  (void) pad;
  (void) parent;
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstPad *
add_listener (GstElement * mix, const gchar * name, guint target_bps)
{
  GstPad *from = gst_element_request_pad_simple (mix, name);
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);

  gst_pad_set_chain_function (pad, drop);
  gst_pad_set_active (pad, TRUE);
  g_object_set (from, "target-bitrate", target_bps, NULL);
  gst_pad_link (from, pad);
  gst_object_unref (from);
  return pad;
}

static GstPad *
add_talker (GstElement * mix)
{
  GstPad *to = gst_element_request_pad_simple (mix, "sink_9");
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *caps = gst_caps_from_string (PCMU_CAPS);
  GstSegment segment;

  gst_pad_set_active (pad, TRUE);
  gst_pad_link (pad, to);
  gst_object_unref (to);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("joins"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
  return pad;
}

static void
measure (guint n_streams, gboolean csv)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *mix = gst_element_factory_make ("partialmix", NULL);
  gint64 longest_us = 0;
  GstPad *all, *mixed, *talker;
  gint64 start_us, us;
  guint i;

  g_object_set (mix, "max-streams", 65535, NULL);
  gst_bin_add (GST_BIN (pipeline), mix);
  all = add_listener (mix, "src_0", 0);
  mixed = add_listener (mix, "src_1", 100000);
  talker = add_talker (mix);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);

  start_us = g_get_monotonic_time ();
  for (i = 0; i < n_streams; i++) {
    gint64 before_us = g_get_monotonic_time ();

    gst_pad_push (talker, make_packet (1000 + i));
    longest_us = MAX (longest_us, g_get_monotonic_time () - before_us);
  }
  us = g_get_monotonic_time () - start_us;

  if (csv)
    g_print ("%u,%.1f,%.2f,%.1f\n", n_streams, us / 1e3,
        (gdouble) us / n_streams, longest_us / 1e3);
  else
    g_print ("%7u %10.1f %14.2f %16.1f\n", n_streams, us / 1e3,
        (gdouble) us / n_streams, longest_us / 1e3);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (talker);
  gst_object_unref (all);
  gst_object_unref (mixed);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gboolean csv = argc > 1 && strcmp (argv[1], "--csv") == 0;
  gint i = csv ? 2 : 1;

  gst_init (NULL, NULL);
  if (csv)
    g_print ("streams,all_ms,each_us,longest_push_ms\n");
  else
    g_print ("streams     all ms        each us   longest push ms\n");
  if (i == argc) {
    measure (1000, csv);
    measure (5000, csv);
  }
  for (; i < argc; i++)
    measure ((guint) strtoul (argv[i], NULL, 10), csv);
  return 0;
}
