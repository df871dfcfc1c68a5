/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mixbench.h"

#include "speech.h"

MixBench *
mix_bench_new (const gchar * properties)
{
  MixBench *bench = g_new0 (MixBench, 1);
  gchar *line = g_strdup_printf ("partialmix push-timeout=%" G_GUINT64_FORMAT
      " %s", GST_CLOCK_TIME_NONE, properties != NULL ? properties : "");
  GError *error = NULL;

  bench->mix = gst_parse_launch (line, &error);
  if (error != NULL)
    g_error ("%s: %s (run me in meson devenv)", line, error->message);
  g_free (line);
  gst_object_ref_sink (bench->mix);
  bench->clock = GST_TEST_CLOCK (gst_test_clock_new ());
  gst_element_set_clock (bench->mix, GST_CLOCK (bench->clock));
  gst_element_set_base_time (bench->mix, 0);
  bench->in = g_ptr_array_new ();
  bench->out = g_ptr_array_new ();
  return bench;
}

void
mix_bench_play (MixBench * bench)
{
  g_assert_true (gst_element_set_state (bench->mix, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE);
}

/* The element holds its request pads, each linked to one of ours. */
static void
drop_pad (MixBench * bench, GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  gst_pad_set_active (pad, FALSE);
  gst_element_release_request_pad (bench->mix, peer);
  gst_object_unref (peer);
  gst_object_unref (pad);
}

void
mix_bench_free (MixBench * bench)
{
  gst_element_set_state (bench->mix, GST_STATE_NULL);
  for (guint i = 0; i < bench->in->len; i++)
    drop_pad (bench, g_ptr_array_index (bench->in, i));
  for (guint i = 0; i < bench->out->len; i++)
    drop_pad (bench, g_ptr_array_index (bench->out, i));
  g_ptr_array_unref (bench->in);
  g_ptr_array_unref (bench->out);
  gst_object_unref (bench->clock);
  gst_object_unref (bench->mix);
  g_free (bench);
}

/* ------------------------------------------------------------------ pads -- */

static GstPad *
request (MixBench * bench, const gchar * template, guint number)
{
  gchar *name = g_strdup_printf (template, number);
  GstPad *pad = gst_element_request_pad_simple (bench->mix, name);

  g_assert_nonnull (pad);
  g_free (name);
  return pad;
}

GstPad *
mix_bench_talker (MixBench * bench, guint number, const gchar * caps)
{
  GstPad *peer = request (bench, "sink_%u", number);
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstCaps *parsed = gst_caps_from_string (caps);
  gchar *id = g_strdup_printf ("talker-%u", number);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  g_assert_true (gst_pad_link (pad, peer) == GST_PAD_LINK_OK);
  gst_pad_set_active (pad, TRUE);
  gst_pad_push_event (pad, gst_event_new_stream_start (id));
  gst_pad_push_event (pad, gst_event_new_caps (parsed));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (parsed);
  gst_object_unref (peer);
  g_free (id);
  g_ptr_array_add (bench->in, pad);
  return pad;
}

static GstFlowReturn
take_buffer (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  MixBench *bench = gst_pad_get_element_private (pad);

  g_atomic_pointer_add (&bench->n_packets, 1);
  if (bench->on_packet != NULL)
    bench->on_packet (pad, buffer, bench->data);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstFlowReturn
take_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  MixBench *bench = gst_pad_get_element_private (pad);

  g_atomic_pointer_add (&bench->n_packets, gst_buffer_list_length (list));
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

GstPad *
mix_bench_listener (MixBench * bench, guint number, guint target_bitrate)
{
  GstPad *peer = request (bench, "src_%u", number);
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);

  g_object_set (peer, "target-bitrate", target_bitrate, NULL);
  gst_pad_set_element_private (pad, bench);
  gst_pad_set_chain_function (pad, take_buffer);
  gst_pad_set_chain_list_function (pad, take_list);
  gst_pad_set_active (pad, TRUE);
  g_assert_true (gst_pad_link (peer, pad) == GST_PAD_LINK_OK);
  gst_object_unref (peer);
  g_ptr_array_add (bench->out, pad);
  return pad;
}

/* ------------------------------------------------------------------ time -- */

void
mix_bench_advance (MixBench * bench, GstClockTime time)
{
  for (;;) {
    GstClockID id;
    GstClockTime due;

    gst_test_clock_wait_for_next_pending_id (bench->clock, &id);
    due = gst_clock_id_get_time (id);
    gst_clock_id_unref (id);
    if (due > time)
      break;
    gst_test_clock_set_time (bench->clock, MAX (due,
            gst_clock_get_time (GST_CLOCK (bench->clock))));
    id = gst_test_clock_process_next_clock_id (bench->clock);
    gst_clock_id_unref (id);
  }
  gst_test_clock_set_time (bench->clock, time);
}

void
mix_bench_talk (MixBench * bench, guint n_talkers, guint n_frames,
    gboolean with_levels)
{
  for (guint k = 0; k < n_frames; k++) {
    mix_bench_advance (bench, bench->frame * SPEECH_FRAME_TIME);
    for (guint i = 0; i < n_talkers; i++)
      gst_pad_push (g_ptr_array_index (bench->in, i),
          speech_buffer (i, bench->frame, with_levels));
    bench->frame++;
  }
  mix_bench_advance (bench, bench->frame * SPEECH_FRAME_TIME);
}

/* ----------------------------------------------------------------- stats -- */

guint64
mix_bench_stat (MixBench * bench, const gchar * field)
{
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (bench->mix, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, field, &value);
  gst_structure_free (stats);
  return value;
}

guint
mix_bench_pad_stat (MixBench * bench, guint listener, const gchar * field)
{
  GstPad *peer = gst_pad_get_peer (g_ptr_array_index (bench->out, listener));
  GstStructure *stats;
  guint value = 0;

  g_object_get (peer, "stats", &stats, NULL);
  gst_structure_get_uint (stats, field, &value);
  gst_structure_free (stats);
  gst_object_unref (peer);
  return value;
}
