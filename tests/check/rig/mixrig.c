/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mixrig.h"

#include <math.h>
#include <string.h>

#include <opus.h>

#include "fairmix/mix/fmx-g711.h"
#include "fairmix/wire/fmx-audio-level.h"

#define FRAME_TIME (20 * GST_MSECOND)
#define OPUS_BITRATE 64000

/* ------------------------------------------------------------------- rig -- */

Rig *
rig_new (const gchar * properties)
{
  Rig *rig = g_new0 (Rig, 1);
  /* one thread does it all, in the order in which the test says it */
  gchar *line = g_strdup_printf ("partialmix push-timeout=%" G_GUINT64_FORMAT
      " %s", GST_CLOCK_TIME_NONE, properties != NULL ? properties : "");
  GError *error = NULL;

  rig->mix = gst_parse_launch (line, &error);
  g_assert_no_error (error);
  g_free (line);
  gst_object_ref_sink (rig->mix);
  rig->clock = GST_TEST_CLOCK (gst_test_clock_new ());
  gst_element_set_clock (rig->mix, GST_CLOCK (rig->clock));
  gst_element_set_base_time (rig->mix, 0);
  rig->bus = gst_bus_new ();
  gst_element_set_bus (rig->mix, rig->bus);
  rig->talkers = g_ptr_array_new ();
  rig->listeners = g_ptr_array_new ();
  return rig;
}

void
rig_play (Rig * rig)
{
  fail_unless (gst_element_set_state (rig->mix, GST_STATE_PLAYING)
      != GST_STATE_CHANGE_FAILURE);
}

static void
start_pad (GstPad * pad, GstCaps * caps)
{
  GstSegment segment;
  gchar *id = g_strdup_printf ("talker-%p", (gpointer) pad);

  gst_pad_set_active (pad, TRUE);
  gst_pad_push_event (pad, gst_event_new_stream_start (id));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  g_free (id);
}

static GstCaps *
talker_caps (RigEncoding encoding)
{
  static const gchar *const caps[] = {
    "application/x-rtp,media=audio,payload=97,clock-rate=48000,"
        "encoding-name=L16,channels=1",
    "application/x-rtp,media=audio,payload=0,clock-rate=8000,"
        "encoding-name=PCMU",
    "application/x-rtp,media=audio,payload=96,clock-rate=48000,"
        "encoding-name=OPUS"
  };
  GstCaps *c = gst_caps_from_string (caps[encoding]);

  gst_caps_set_simple (c, "extmap-1", G_TYPE_STRING,
      "urn:ietf:params:rtp-hdrext:ssrc-audio-level", NULL);
  return c;
}

static RigTalker *
new_talker (Rig * rig, guint32 ssrc, RigEncoding encoding, gdouble frequency,
    gdouble amplitude)
{
  RigTalker *talker = g_new0 (RigTalker, 1);

  talker->encoding = encoding;
  talker->ssrc = ssrc;
  talker->seq = (guint16) (ssrc * 7919);
  talker->ts_base = ssrc * 2654435761u;
  talker->frequency = frequency;
  talker->amplitude = amplitude;
  talker->level = -1;
  if (encoding == RIG_OPUS) {
    talker->encoder = opus_encoder_create (RIG_RATE, 1, OPUS_APPLICATION_AUDIO,
        NULL);
    opus_encoder_ctl (talker->encoder, OPUS_SET_BITRATE (OPUS_BITRATE));
  }
  g_ptr_array_add (rig->talkers, talker);
  return talker;
}

RigTalker *
rig_talker (Rig * rig, const gchar * pad_name, guint32 ssrc,
    RigEncoding encoding, gdouble frequency, gdouble amplitude)
{
  RigTalker *talker = new_talker (rig, ssrc, encoding, frequency, amplitude);
  GstCaps *caps = talker_caps (encoding);

  talker->pad = gst_pad_new (NULL, GST_PAD_SRC);
  talker->peer = gst_element_request_pad_simple (rig->mix, pad_name);
  fail_unless (talker->peer != NULL);
  fail_unless_equals_int (gst_pad_link (talker->pad, talker->peer),
      GST_PAD_LINK_OK);
  start_pad (talker->pad, caps);
  gst_caps_unref (caps);
  return talker;
}

RigTalker *
rig_talker_beside (Rig * rig, RigTalker * other, guint32 ssrc,
    gdouble frequency, gdouble amplitude)
{
  RigTalker *talker = new_talker (rig, ssrc, other->encoding, frequency,
      amplitude);

  talker->shares_pad = TRUE;
  talker->pad = gst_object_ref (other->pad);
  talker->peer = gst_object_ref (other->peer);
  return talker;
}

void
rig_talkers (Rig * rig, guint first, guint n, RigEncoding encoding)
{
  guint i;

  for (i = first; i < first + n; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    rig_talker (rig, name, 100 + i, encoding, 200 + 50 * (i % 40), 1000);
    g_free (name);
  }
}

static void
free_talker (Rig * rig, RigTalker * talker)
{
  if (!talker->shares_pad) {
    gst_pad_set_active (talker->pad, FALSE);
    gst_pad_unlink (talker->pad, talker->peer);
    gst_element_release_request_pad (rig->mix, talker->peer);
  }
  gst_object_unref (talker->peer);
  gst_object_unref (talker->pad);
  if (talker->encoder != NULL)
    opus_encoder_destroy (talker->encoder);
  g_free (talker);
}

void
rig_remove_talker (Rig * rig, RigTalker * talker)
{
  g_ptr_array_remove (rig->talkers, talker);
  free_talker (rig, talker);
}

/* -------------------------------------------------------------- listener -- */

static GstFlowReturn
listener_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  RigListener *listener = gst_pad_get_element_private (pad);

  g_mutex_lock (&listener->lock);
  g_ptr_array_add (listener->buffers, buffer);
  g_mutex_unlock (&listener->lock);
  return GST_FLOW_OK;
}

static gboolean
take_from_list (GstBuffer ** buffer, guint idx, gpointer user_data)
{
  g_ptr_array_add (user_data, gst_buffer_ref (*buffer));
  return TRUE;
}

static GstFlowReturn
listener_chain_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  RigListener *listener = gst_pad_get_element_private (pad);

  g_mutex_lock (&listener->lock);
  listener->n_lists++;
  gst_buffer_list_foreach (list, take_from_list, listener->buffers);
  g_mutex_unlock (&listener->lock);
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

static gboolean
listener_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  RigListener *listener = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    g_atomic_int_set (&listener->eos, TRUE);
  gst_event_unref (event);
  return TRUE;
}

/* A pad without a template takes what it has and nothing else: here anything
 * may follow anything. */
static gboolean
accept_caps (GstQuery * query, GstCaps * accepted)
{
  GstCaps *caps;

  gst_query_parse_accept_caps (query, &caps);
  gst_query_set_accept_caps_result (query, accepted == NULL
      || gst_caps_is_subset (caps, accepted));
  gst_clear_caps (&accepted);
  return TRUE;
}

static gboolean
listener_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  RigListener *listener = gst_pad_get_element_private (pad);
  GstCaps *accepted = NULL, *filter, *caps;

  g_mutex_lock (&listener->lock);
  if (listener->caps != NULL)
    accepted = gst_caps_ref (listener->caps);
  g_mutex_unlock (&listener->lock);
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return accept_caps (query, accepted);
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    gst_clear_caps (&accepted);
  if (accepted == NULL)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_caps (query, &filter);
  caps = filter != NULL ? gst_caps_intersect (accepted, filter)
      : gst_caps_ref (accepted);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  gst_caps_unref (accepted);
  return TRUE;
}

/* With its pad, which a thread may still ask after it was unlinked. */
static void
listener_done (gpointer user_data)
{
  RigListener *listener = user_data;

  g_mutex_lock (&listener->lock);
  g_ptr_array_unref (listener->buffers);
  gst_clear_caps (&listener->caps);
  g_mutex_unlock (&listener->lock);
  g_mutex_clear (&listener->lock);
  g_free (listener);
}

RigListener *
rig_listener (Rig * rig, const gchar * pad_name, const gchar * caps)
{
  RigListener *listener = g_new0 (RigListener, 1);

  g_mutex_init (&listener->lock);
  listener->buffers = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_buffer_unref);
  listener->caps = gst_caps_from_string (caps != NULL ? caps : "ANY");
  listener->pad = gst_pad_new (NULL, GST_PAD_SINK);
  gst_pad_set_element_private (listener->pad, listener);
  g_object_set_data_full (G_OBJECT (listener->pad), "listener", listener,
      listener_done);
  gst_pad_set_chain_function (listener->pad, listener_chain);
  gst_pad_set_chain_list_function (listener->pad, listener_chain_list);
  gst_pad_set_event_function (listener->pad, listener_event);
  gst_pad_set_query_function (listener->pad, listener_query);
  gst_pad_set_active (listener->pad, TRUE);
  listener->peer = gst_element_request_pad_simple (rig->mix, pad_name);
  fail_unless (listener->peer != NULL);
  fail_unless_equals_int (gst_pad_link (listener->peer, listener->pad),
      GST_PAD_LINK_OK);
  g_ptr_array_add (rig->listeners, listener);
  return listener;
}

static void
free_listener (Rig * rig, RigListener * listener)
{
  gst_pad_set_active (listener->pad, FALSE);
  gst_pad_unlink (listener->peer, listener->pad);
  gst_element_release_request_pad (rig->mix, listener->peer);
  gst_object_unref (listener->peer);
  gst_object_unref (listener->pad);
}

void
rig_set_target (RigListener * listener, guint bps)
{
  g_object_set (listener->peer, "target-bitrate", bps, NULL);
}

void
rig_remove_listener (Rig * rig, RigListener * listener)
{
  g_ptr_array_remove (rig->listeners, listener);
  free_listener (rig, listener);
}

/* With a test clock the mixer's thread waits for a time that never comes. */
void
rig_free (Rig * rig)
{
  guint i;

  gst_element_set_state (rig->mix, GST_STATE_NULL);
  for (i = 0; i < rig->talkers->len; i++)
    free_talker (rig, g_ptr_array_index (rig->talkers, i));
  for (i = 0; i < rig->listeners->len; i++)
    free_listener (rig, g_ptr_array_index (rig->listeners, i));
  g_ptr_array_unref (rig->talkers);
  g_ptr_array_unref (rig->listeners);
  gst_element_set_bus (rig->mix, NULL);
  gst_bus_set_flushing (rig->bus, TRUE);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->mix);
  gst_object_unref (rig->clock);
  g_free (rig);
}

/* --------------------------------------------------------------- sending -- */

static void
make_tone (RigTalker * talker, guint64 first, guint rate, guint n, gint16 * out)
{
  guint i;

  for (i = 0; i < n && talker->voice != NULL; i++)
    out[i] = (gint16) talker->voice[(first + i) % talker->n_voice];
  for (i = 0; i < n && talker->voice == NULL; i++)
    out[i] = (gint16) lrint (talker->amplitude * sin (2.0 * G_PI
            * talker->frequency * (gdouble) (first + i) / rate));
}

static gsize
encode_tone (Rig * rig, RigTalker * talker, guint8 * out, gsize max,
    guint * ticks)
{
  gint16 samples[RIG_FRAME];
  gint16 narrow[RIG_FRAME / 6];
  guint i;

  *ticks = talker->encoding == RIG_PCMU ? RIG_FRAME / 6 : RIG_FRAME;
  if (talker->encoding == RIG_PCMU) {
    make_tone (talker, (guint64) rig->frame * *ticks, 8000, *ticks, narrow);
    fmx_g711_ulaw_encode (out, narrow, *ticks);
    return *ticks;
  }
  make_tone (talker, (guint64) rig->frame * *ticks, RIG_RATE, *ticks, samples);
  if (talker->encoding == RIG_OPUS)
    return (gsize) opus_encode (talker->encoder, samples, RIG_FRAME, out,
        (opus_int32) max);
  for (i = 0; i < RIG_FRAME; i++)
    GST_WRITE_UINT16_BE (out + 2 * i, (guint16) samples[i]);
  return 2 * RIG_FRAME;
}

GstBuffer *
rig_packet (Rig * rig, RigTalker * talker)
{
  static const guint8 pts[] = { 97, 0, 96 };
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 payload[4000];
  guint8 level;
  guint ticks;
  gsize size = encode_tone (rig, talker, payload, sizeof payload, &ticks);
  GstBuffer *buffer = gst_rtp_buffer_new_allocate ((guint) size, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, pts[talker->encoding]);
  gst_rtp_buffer_set_ssrc (&rtp, talker->ssrc);
  gst_rtp_buffer_set_seq (&rtp, talker->seq++);
  gst_rtp_buffer_set_timestamp (&rtp, talker->ts_base + rig->frame * ticks);
  memcpy (gst_rtp_buffer_get_payload (&rtp), payload, size);
  if (talker->level >= 0) {
    fmx_audio_level_write (&level, 1, (guint8) talker->level, TRUE);
    gst_rtp_buffer_add_extension_onebyte_header (&rtp, 1, &level, 1);
  }
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = rig->frame * FRAME_TIME;
  return buffer;
}

void
rig_send (Rig * rig, RigTalker * talker)
{
  if (!talker->silent)
    fail_unless_equals_int (gst_pad_push (talker->pad, rig_packet (rig,
                talker)), GST_FLOW_OK);
}

void
rig_advance (Rig * rig, GstClockTime time)
{
  for (;;) {
    GstClockID id;
    GstClockTime due;

    gst_test_clock_wait_for_next_pending_id (rig->clock, &id);
    due = gst_clock_id_get_time (id);
    gst_clock_id_unref (id);
    if (due > time)
      break;
    gst_test_clock_set_time (rig->clock, MAX (due, gst_clock_get_time
            (GST_CLOCK (rig->clock))));
    id = gst_test_clock_process_next_clock_id (rig->clock);
    gst_clock_id_unref (id);
  }
  gst_test_clock_set_time (rig->clock, time);
}

void
rig_run (Rig * rig, guint n_frames)
{
  guint i, k;

  for (k = 0; k < n_frames; k++) {
    /* packets come a little before the tick that could take them */
    rig_advance (rig, rig->frame * FRAME_TIME);
    for (i = 0; i < rig->talkers->len; i++)
      rig_send (rig, g_ptr_array_index (rig->talkers, i));
    rig->frame++;
  }
  rig_advance (rig, rig->frame * FRAME_TIME);
}
