/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Streams whose segments are no times or run backwards, and that end before
 * they began: applications make them.  Stock elements in ours are no better than ours. */

#include "../gstfairmixcheck.h"

#define VOICE_CAPS "audio/x-raw,format=S16LE,layout=interleaved,rate=48000,channels=1"
#define STEREO_CAPS(layout) "audio/x-raw,format=S16LE,layout=" layout ",rate=48000,channels=2"
#define LOW_CAPS "audio/x-raw,format=S16LE,layout=interleaved,rate=8000,channels=1"
#define VOICE_BYTES (2 * 960)
#define N_VOICES 2              /* the last lines: they encode */
#define SSRC 7
#define N_BUFFERS 10

typedef struct
{
  const gchar *graph;
  const gchar *sink;
  const gchar *caps;
} Line;

static const Line lines[] = {
  {"tfrcrate name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"rtpccfb name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"qmjitterbuffer name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"updatequeue name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"cbtqueue name=e ! fakesink async=false", "sink_%u", RTP_CAPS_PCMU},
  {"asmprtcp name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"alslayers name=e ! fakesink async=false", "sink_%u", RTP_CAPS_PCMU},
  {"alsrouter name=e ! fakesink async=false", "sink_%u", RTP_CAPS_PCMU},
  {"alsrtcp name=e", "sink_%u", RTP_CAPS_PCMU},
  {"rtpslots name=e ! fakesink async=false", "sink", RTP_CAPS_PCMU},
  {"partialmix name=e ! fakesink async=false", "sink_%u", RTP_CAPS_PCMU},
  {"partialmix name=e ! audio/x-raw ! fakesink async=false", "sink_%u",
      RTP_CAPS_PCMU},
  {"qmstretch name=e ! fakesink async=false", "sink", VOICE_CAPS},
  {"dpmmixer name=e port=0", "sink", VOICE_CAPS},
  {"dpmclient name=e server=127.0.0.1:9", "sink", VOICE_CAPS},
};

static const struct
{
  GstFormat format;
  gdouble rate;
  GstClockTime start, stop;
} segments[] = {
  {GST_FORMAT_TIME, 1, 0, GST_CLOCK_TIME_NONE},
  {GST_FORMAT_BYTES, 1, 0, GST_CLOCK_TIME_NONE},
  {GST_FORMAT_DEFAULT, 1, 0, GST_CLOCK_TIME_NONE},
  {GST_FORMAT_TIME, -2, 0, 3 * FRAME},
  {GST_FORMAT_TIME, 0.5, 5 * FRAME, 9 * FRAME},
};

/* Returns: (transfer full): what @i, of @caps, gets */
static GstBuffer *
make_buffer (const Line * line, guint16 i)
{
  GstBuffer *buffer;

  if (g_str_equal (line->caps, RTP_CAPS_PCMU))
    return rtp_packet_new (SSRC, i, FRAME_SAMPLES);
  buffer = gst_buffer_new_allocate (NULL, VOICE_BYTES, NULL);
  gst_buffer_memset (buffer, 0, 0, VOICE_BYTES);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

static void
stream_once (const Line * line, GstPad * pad, guint n)
{
  GstCaps *caps = gst_caps_from_string (line->caps);
  GstSegment segment;

  gst_segment_init (&segment, segments[n].format);
  segment.rate = segments[n].rate;
  segment.start = segments[n].start;
  segment.stop = segments[n].stop;
  gst_pad_send_event (pad, gst_event_new_stream_start ("odd"));
  gst_pad_send_event (pad, gst_event_new_caps (caps));
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  for (guint16 i = 0; i < N_BUFFERS; i++)
    fail_unless (gst_pad_chain (pad, make_buffer (line, i)) >= GST_FLOW_EOS,
        "%s does not take segment %u", line->graph, n);
  gst_pad_send_event (pad, gst_event_new_eos ());
  gst_caps_unref (caps);
}

static void
with_pad (const Line * line, void (*use) (const Line *, GstPad *, guint),
    guint n)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *bin = gst_parse_bin_from_description (line->graph, FALSE, NULL);
  GstElement *element = gst_bin_get_by_name (GST_BIN (bin), "e");
  GstPad *pad = gst_element_get_static_pad (element, line->sink);

  gst_bin_add (GST_BIN (pipeline), bin);
  if (pad == NULL)
    pad = gst_element_request_pad_simple (element, line->sink);
  fail_unless (pad != NULL);
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE);
  use (line, pad, n);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (element);
  gst_object_unref (pipeline);
}

GST_START_TEST (test_any_segment_is_borne)
{
  for (guint n = 0; n < G_N_ELEMENTS (segments); n++)
    with_pad (&lines[__i__], stream_once, n);
}

GST_END_TEST;

static void
end_at_once (const Line * line, GstPad * pad, guint n)
{
  (void) n;
  gst_pad_send_event (pad, gst_event_new_stream_start ("odd"));
  fail_unless (gst_pad_send_event (pad, gst_event_new_eos ()), "%s",
      line->graph);
}

GST_START_TEST (test_nothing_may_end)
{
  with_pad (&lines[__i__], end_at_once, 0);
}

GST_END_TEST;

/* Buffers that are no whole number of frames, or say that they last for longer, in a segment
 * that leaves some of that out */
static const struct
{
  const gchar *caps;
  gsize size;
  GstClockTime duration;
  gboolean warns;
} sounds[] = {
  {VOICE_CAPS, VOICE_BYTES, 5 * FRAME, FALSE},
  {VOICE_CAPS, VOICE_BYTES, G_MAXINT64, FALSE},
  {VOICE_CAPS, VOICE_BYTES, GST_CLOCK_TIME_NONE, FALSE},
  {VOICE_CAPS, VOICE_BYTES + 1, FRAME, TRUE},
  {VOICE_CAPS, 1, FRAME, TRUE},
  {VOICE_CAPS, 0, FRAME, FALSE},
  {STEREO_CAPS ("interleaved"), VOICE_BYTES + 2, 5 * FRAME, TRUE},
  {STEREO_CAPS ("non-interleaved"), VOICE_BYTES, FRAME, TRUE},
  {LOW_CAPS, VOICE_BYTES / 6 + 1, 5 * FRAME, TRUE},
};

static GstBuffer *
make_sound (guint n, guint16 i)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, sounds[n].size, NULL);

  gst_buffer_memset (buffer, 0, 0, sounds[n].size);
  GST_BUFFER_PTS (buffer) = i * FRAME;
  GST_BUFFER_DURATION (buffer) = sounds[n].duration;
  return buffer;
}

static void
sound_once (const Line * line, GstPad * pad, guint n)
{
  GstElement *element = gst_pad_get_parent_element (pad);
  GstObject *bin = GST_OBJECT_PARENT (element);
  GstBus *bus = gst_element_get_bus (GST_ELEMENT (GST_OBJECT_PARENT (bin)));
  GstCaps *caps = gst_caps_from_string (sounds[n].caps);
  GstSegment segment;
  GstMessage *message;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = FRAME - 1;
  segment.stop = N_BUFFERS * FRAME + 1;
  gst_pad_send_event (pad, gst_event_new_stream_start ("odd"));
  gst_pad_send_event (pad, gst_event_new_caps (caps));
  gst_pad_send_event (pad, gst_event_new_segment (&segment));
  for (guint16 i = 0; i < N_BUFFERS; i++)
    fail_unless_equals_int (gst_pad_chain (pad, make_sound (n, i)),
        GST_FLOW_OK);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless ((message != NULL) == sounds[n].warns, "%s, sound %u",
      line->graph, n);
  fail_unless (message == NULL || GST_MESSAGE_SRC (message)
      == GST_OBJECT (element));
  g_clear_pointer (&message, gst_message_unref);
  /* nor does it say more */
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING
          | GST_MESSAGE_ERROR) == NULL);
  gst_caps_unref (caps);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_START_TEST (test_any_sound_is_borne)
{
  const Line *line = &lines[G_N_ELEMENTS (lines) - N_VOICES + (guint) __i__];

  for (guint n = 0; n < G_N_ELEMENTS (sounds); n++)
    with_pad (line, sound_once, n);
}

GST_END_TEST;

static Suite *
odd_streams_suite (void)
{
  Suite *s = suite_create ("odd-streams");
  TCase *tc = tcase_create ("odd-streams");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_any_segment_is_borne, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_nothing_may_end, 0, G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc, test_any_sound_is_borne, 0, N_VOICES);
  return s;
}

GST_CHECK_MAIN (odd_streams);
