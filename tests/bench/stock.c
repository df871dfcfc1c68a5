/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stock.h"

#include "bench.h"
#include "speech.h"

static GstElement *
make (GstBin * bin, const gchar * factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (element == NULL)
    g_error ("no element %s", factory);
  gst_bin_add (bin, element);
  return element;
}

/* Returns: (transfer none): a tee with the decoded voice; *@source feeds it */
static GstElement *
make_talker (GstBin * bin, GstElement ** source)
{
  GstElement *appsrc = make (bin, "appsrc");
  GstElement *depay = make (bin, "rtpopusdepay");
  GstElement *decoder = make (bin, "opusdec");
  GstElement *convert = make (bin, "audioconvert");
  GstElement *filter = make (bin, "capsfilter");
  GstElement *tee = make (bin, "tee");
  GstCaps *rtp = gst_caps_from_string (SPEECH_CAPS);
  GstCaps *raw = gst_caps_from_string ("audio/x-raw,format=S16LE,"
      "rate=48000,channels=1");

  g_object_set (appsrc, "caps", rtp, "format", GST_FORMAT_TIME,
      "max-bytes", G_GUINT64_CONSTANT (0), NULL);
  g_object_set (filter, "caps", raw, NULL);
  gst_caps_unref (rtp);
  gst_caps_unref (raw);
  g_assert_true (gst_element_link_many (appsrc, depay, decoder, convert,
          filter, tee, NULL));
  *source = appsrc;
  return tee;
}

static void
make_listener (GstBin * bin, GstElement ** tees, guint n, guint self)
{
  GstElement *mixer = make (bin, "audiomixer");
  GstElement *encoder = make (bin, "opusenc");
  GstElement *pay = make (bin, "rtpopuspay");
  GstElement *sink = make (bin, "fakesink");

  g_object_set (encoder, "bitrate", SPEECH_BITRATE, "complexity", 5, NULL);
  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  g_assert_true (gst_element_link_many (mixer, encoder, pay, sink, NULL));
  for (guint i = 0; i < n; i++)
    if (i != self)
      g_assert_true (gst_element_link_pads (tees[i], "src_%u", mixer,
              "sink_%u"));
}

static void
feed (GstElement * source, guint talker, guint n_frames)
{
  GstFlowReturn flow;

  for (guint f = 0; f < n_frames; f++) {
    GstBuffer *buffer = speech_buffer (talker, f, FALSE);

    g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
    gst_buffer_unref (buffer);
  }
  g_signal_emit_by_name (source, "end-of-stream", &flow);
}

gdouble
stock_run (guint n, guint n_frames, gdouble * set_up_s)
{
  gint64 begun_us = g_get_monotonic_time ();
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement **tees = g_newa (GstElement *, n);
  GstElement **sources = g_newa (GstElement *, n);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *end;
  gdouble taken;

  for (guint i = 0; i < n; i++)
    tees[i] = make_talker (GST_BIN (pipeline), &sources[i]);
  for (guint i = 0; i < n; i++)
    make_listener (GST_BIN (pipeline), tees, n, i);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_element_get_state (pipeline, NULL, NULL, 60 * GST_SECOND);
  *set_up_s = (gdouble) (g_get_monotonic_time () - begun_us) / 1e6;

  taken = bench_cpu_s ();
  for (guint i = 0; i < n; i++)
    feed (sources[i], i, n_frames);
  end = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  taken = bench_cpu_s () - taken;
  if (GST_MESSAGE_TYPE (end) == GST_MESSAGE_ERROR)
    g_error ("the graph of stock elements failed");
  gst_message_unref (end);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return taken;
}
