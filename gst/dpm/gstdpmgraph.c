/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmgraph.h"

#include <gst/audio/audio.h>

#include "common/gstfairmixextmap.h"

/* Of how many streams of a client packets are acknowledged; each costs rtpccfb
 * 2.7 kB, and it has one or two. */
#define CLIENT_SSRCS 16

#define PLAYER_QUEUE (5 * GST_SECOND)   /* what is older than that is lost */

struct _GstDpmNeighbour
{
  GstDpmGraph *graph;
  GstDpmPeer *peer;
  gchar *cname;
  gboolean alone;
  GPtrArray *elements;
  GPtrArray *mixer_pads;
  GstPad *sink;                 /* (nullable): of these, where its voices come in */
  GstElement *rate;
};

GstElement *
gst_dpm_graph_make (GstDpmGraph * graph, const gchar * factory,
    GPtrArray * made)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  if (element == NULL) {
    GST_ELEMENT_ERROR (graph->bin, CORE, MISSING_PLUGIN,
        ("The element \"%s\" is missing.", factory), (NULL));
    return NULL;
  }
  g_ptr_array_add (made, gst_object_ref_sink (element));
  gst_bin_add (graph->bin, element);
  return element;
}

gboolean
gst_dpm_graph_init (GstDpmGraph * graph, GstBin * bin)
{
  graph->bin = bin;
  graph->mixer = gst_element_factory_make ("partialmix", "mix");
  if (graph->mixer == NULL)
    return FALSE;
  gst_object_ref_sink (graph->mixer);
  graph->source = gst_object_ref_sink (g_object_new (GST_TYPE_DPM_SOURCE,
          "name", "source", NULL));
  graph->sink = gst_object_ref_sink (g_object_new (GST_TYPE_DPM_SINK,
          "name", "sink", NULL));
  /* the sink never blocks, nor does a player: no thread need stand between */
  g_object_set (graph->mixer, "csrc-audio-level-id", GST_DPM_MIX_LEVEL_ID,
      "push-timeout", G_MAXUINT64, NULL);
  gst_bin_add_many (bin, GST_ELEMENT (graph->source), graph->mixer,
      GST_ELEMENT (graph->sink), NULL);
  return TRUE;
}

void
gst_dpm_graph_clear (GstDpmGraph * graph)
{
  gst_clear_object (&graph->mixer);
  gst_clear_object (&graph->source);
  gst_clear_object (&graph->sink);
}

static GstState
get_state (GstObject * bin, GstState * pending)
{
  GstState state;

  GST_OBJECT_LOCK (bin);
  state = GST_STATE (bin);
  *pending = GST_STATE_PENDING (bin);
  GST_OBJECT_UNLOCK (bin);
  return state;
}

/* GStreamer looks at the state of the bin and then sets that of the element.  If the bin
 * is brought into another one, with the element, in between, the element would be back
 * in the one before, and stay there. */
static void
start (GstElement * element)
{
  GstObject *bin = gst_object_get_parent (GST_OBJECT (element));
  GstState before, after, pending_before, pending_after;

  if (bin == NULL)
    return;
  do {
    before = get_state (bin, &pending_before);
    gst_element_sync_state_with_parent (element);
    after = get_state (bin, &pending_after);
  } while (before != after || pending_before != pending_after);
  gst_object_unref (bin);
}

void
gst_dpm_graph_start (GPtrArray * elements)
{
  for (guint i = 0; i < elements->len; i++)
    start (g_ptr_array_index (elements, i));
}

void
gst_dpm_graph_remove (GstDpmGraph * graph, GPtrArray * elements)
{
  for (guint i = 0; i < elements->len; i++) {
    GstElement *element = g_ptr_array_index (elements, i);

    gst_element_set_locked_state (element, TRUE);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_bin_remove (graph->bin, element);
  }
  g_ptr_array_unref (elements);
}

GstPad *
gst_dpm_graph_expose (GstElement * element, const gchar * pad,
    GstPadTemplate * template, const gchar * name)
{
  GstPad *target = gst_element_get_static_pad (element, pad);
  GstPad *ghost = gst_ghost_pad_new_from_template (name, target, template);

  gst_object_unref (target);
  gst_pad_set_active (ghost, TRUE);
  return ghost;
}

/* --- a neighbour --------------------------------------------------------- */

static GstElement *
neighbour_make (GstDpmNeighbour * self, const gchar * factory)
{
  return gst_dpm_graph_make (self->graph, factory, self->elements);
}

/* Returns: (transfer none): a pad of the mixer, released at the end */
static GstPad *
neighbour_request (GstDpmNeighbour * self, const gchar * kind)
{
  gchar *name = g_strdup_printf ("%s_%u", kind,
      gst_dpm_peer_get_number (self->peer));
  GstPad *pad = gst_element_request_pad_simple (self->graph->mixer, name);

  if (pad != NULL)
    g_ptr_array_add (self->mixer_pads, pad);
  g_free (name);
  return pad;
}

static void
link_to (GstElement * from, const gchar * pad, GstPad * to)
{
  GstPad *src = gst_element_get_static_pad (from, pad);

  gst_pad_link_full (src, to, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (src);
}

static GstPad *
end_pad (gpointer end, const gchar * kind, GstDpmPeer * peer)
{
  gchar *name = g_strdup_printf ("%s_%u", kind, gst_dpm_peer_get_number (peer));
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (end), name);

  g_free (name);
  return pad;
}

static void
link_end (GstPad * end, GstElement * element, const gchar * pad)
{
  GstPad *other = gst_element_get_static_pad (element, pad);

  if (gst_pad_get_direction (end) == GST_PAD_SRC)
    gst_pad_link_full (end, other, GST_PAD_LINK_CHECK_NOTHING);
  else
    gst_pad_link_full (other, end, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (other);
}

/* Where the neighbour's packets go: RTP through @feedback to the mixer, RTCP to
 * the mixer, which learns names, and to @rate, which learns what arrived. */
static void
build_in (GstDpmNeighbour * self, GstElement * feedback, GstElement * tee)
{
  GstPad *rtp = end_pad (self->graph->source, "rtp", self->peer);
  GstPad *rtcp = end_pad (self->graph->source, "rtcp", self->peer);
  GstPad *said = end_pad (self->graph->sink, "rtcp", self->peer);
  GstPad *pad;

  if (gst_dpm_peer_get_flags (self->peer) & FMX_JOIN_MAY_SEND) {
    self->sink = pad = neighbour_request (self, "sink");
    g_object_set (pad, "cname", self->cname, NULL);
    link_to (feedback, "src", pad);
    pad = neighbour_request (self, "rtcp_sink");
    if (pad != NULL) {
      GstPad *copy = gst_element_request_pad_simple (tee, "src_%u");

      gst_pad_link_full (copy, pad, GST_PAD_LINK_CHECK_NOTHING);
      gst_object_unref (copy);
    }
  }
  link_end (rtp, feedback, "sink");
  link_end (rtcp, tee, "sink");
  link_end (said, feedback, "rtcp_src");
  gst_object_unref (rtp);
  gst_object_unref (rtcp);
  gst_object_unref (said);
}

static GstPad *
mixer_src (GstDpmNeighbour * self)
{
  guint max_streams = gst_dpm_peer_get_max_streams (self->peer);
  GstPad *pad;

  if (!(gst_dpm_peer_get_flags (self->peer) & FMX_JOIN_MAY_RECEIVE))
    return NULL;
  pad = neighbour_request (self, "src");
  if (max_streams > 0
      && g_object_class_find_property (G_OBJECT_GET_CLASS (pad),
          "max-streams") != NULL)
    g_object_set (pad, "max-streams", max_streams, NULL);
  return gst_object_ref (pad);
}

/* What the neighbour gets; linked to its origin last, when all of it runs. */
static void
build_out (GstDpmNeighbour * self, GstElement * tee, GstElement * voice)
{
  GstPad *rtp = end_pad (self->graph->sink, "rtp", self->peer);
  GstPad *heard = gst_element_request_pad_simple (tee, "src_%u");
  GstPad *rtcp = gst_element_get_static_pad (self->rate, "rtcp_sink");
  GstPad *sink = gst_element_get_static_pad (self->rate, "sink");
  GstPad *origin = voice != NULL ?
      gst_element_get_static_pad (voice, "src") : NULL;

  gst_pad_link_full (heard, rtcp, GST_PAD_LINK_CHECK_NOTHING);
  link_end (rtp, self->rate, "src");
  gst_dpm_graph_start (self->elements);
  if (origin == NULL && !self->alone)
    origin = mixer_src (self);
  if (origin != NULL)
    gst_pad_link_full (origin, sink, GST_PAD_LINK_CHECK_NOTHING);
  gst_clear_object (&origin);
  gst_object_unref (sink);
  gst_object_unref (rtp);
  gst_object_unref (heard);
  gst_object_unref (rtcp);
}

GstDpmNeighbour *
gst_dpm_neighbour_new (GstDpmGraph * graph, GstDpmPeer * peer,
    const GstDpmNeighbourParams * params)
{
  GstDpmNeighbour *self = g_new0 (GstDpmNeighbour, 1);
  GstElement *feedback, *tee;
  GstPad *rtp, *rtcp;

  self->graph = graph;
  self->peer = gst_dpm_peer_ref (peer);
  self->cname = g_strdup (params->cname);
  self->alone = params->alone;
  self->elements = g_ptr_array_new_with_free_func (gst_object_unref);
  self->mixer_pads = g_ptr_array_new_with_free_func (gst_object_unref);
  feedback = neighbour_make (self, "rtpccfb");
  tee = neighbour_make (self, "tee");
  self->rate = neighbour_make (self, "tfrcrate");
  if (feedback == NULL || tee == NULL || self->rate == NULL)
    return self;
  g_object_set (tee, "allow-not-linked", TRUE, NULL);
  if (!(gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER))
    g_object_set (feedback, "max-ssrcs", CLIENT_SSRCS, NULL);
  /* what they push is sent or dropped, never held up */
  g_object_set (feedback, "share-thread", TRUE, NULL);
  /* our delays: nobody sets the clock of a pipeline, as the wall clock is set */
  gst_util_set_object_arg (G_OBJECT (feedback), "ntp-time-source",
      "clock-time");
  g_object_set (self->rate, "share-thread", TRUE,
      "max-bitrate", params->max_bitrate, "encoder", params->encoder,
      "encoder-fec", TRUE, NULL);
  if (params->initial_bitrate > 0)
    g_object_set (self->rate, "initial-bitrate", params->initial_bitrate, NULL);
  gst_dpm_source_add (graph->source, peer);
  gst_dpm_sink_add (graph->sink, peer, !params->alone
      && (gst_dpm_peer_get_flags (peer) & FMX_JOIN_ALIGNS) != 0);
  build_in (self, feedback, tee);
  build_out (self, tee, params->voice);
  rtp = end_pad (graph->source, "rtp", peer);
  rtcp = end_pad (graph->source, "rtcp", peer);
  gst_dpm_source_begin (graph->source, rtp, rtcp);
  gst_dpm_peer_set_pads (peer, rtp, rtcp);
  gst_object_unref (rtp);
  gst_object_unref (rtcp);
  return self;
}

void
gst_dpm_neighbour_free (GstDpmNeighbour * self)
{
  /* First nobody pushes any more: neither the network nor the mixer. */
  gst_dpm_source_remove (self->graph->source, self->peer);
  for (guint i = self->mixer_pads->len; i > 0; i--)
    gst_element_release_request_pad (self->graph->mixer,
        g_ptr_array_index (self->mixer_pads, i - 1));
  gst_dpm_graph_remove (self->graph, self->elements);
  gst_dpm_sink_remove (self->graph->sink, self->peer);
  g_ptr_array_unref (self->mixer_pads);
  gst_dpm_peer_unref (self->peer);
  g_free (self->cname);
  g_free (self);
}

GstDpmPeer *
gst_dpm_neighbour_get_peer (GstDpmNeighbour * self)
{
  return self->peer;
}

const gchar *
gst_dpm_neighbour_get_cname (GstDpmNeighbour * self)
{
  return self->cname;
}

GstElement *
gst_dpm_neighbour_get_rate (GstDpmNeighbour * self)
{
  return self->rate != NULL ? gst_object_ref (self->rate) : NULL;
}

GstPad *
gst_dpm_neighbour_get_sink (GstDpmNeighbour * self)
{
  return self->sink != NULL ? gst_object_ref (self->sink) : NULL;
}

guint64
gst_dpm_neighbour_get_target_bps (GstDpmNeighbour * self, gdouble * sent_bps)
{
  GstStructure *rate = NULL;
  guint64 target_bps = 0;
  gdouble bps = 0;

  if (self->rate != NULL)
    g_object_get (self->rate, "stats", &rate, NULL);
  if (rate != NULL) {
    gst_structure_get (rate, "target-bps", G_TYPE_UINT64, &target_bps,
        "sent-bps", G_TYPE_DOUBLE, &bps, NULL);
    gst_structure_free (rate);
  }
  if (sent_bps != NULL)
    *sent_bps = bps;
  return target_bps;
}

void
gst_dpm_neighbour_raise (GstDpmNeighbour * self, guint64 bps)
{
  if (self->rate != NULL && bps > gst_dpm_neighbour_get_target_bps (self, NULL))
    g_signal_emit_by_name (self->rate, "set-rate", (guint) MIN (bps,
            G_MAXUINT));
}

void
gst_dpm_neighbour_change_path (GstDpmNeighbour * self)
{
  if (self->rate != NULL)
    g_signal_emit_by_name (self->rate, "change-path");
}

void
gst_dpm_neighbour_add_stats (GstDpmNeighbour * self, GstStructure * stats)
{
  GstStructure *rate = NULL;

  if (self->rate != NULL)
    g_object_get (self->rate, "stats", &rate, NULL);
  if (rate != NULL) {
    gst_structure_set (stats, "rate", GST_TYPE_STRUCTURE, rate, NULL);
    gst_structure_free (rate);
  }
}

/* --- voices -------------------------------------------------------------- */

/* Stock elements take for granted that timestamps are times, and that something came before
 * it ends: level divides by a rate that nobody has told it. */
static GstPadProbeReturn
gst_dpm_voice_check_event (GstPad * pad, GstPadProbeInfo * info,
    gpointer user_data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  const GstSegment *segment;
  GstSegment any;

  (void) user_data;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return gst_pad_has_current_caps (pad) ? GST_PAD_PROBE_OK :
        GST_PAD_PROBE_DROP;
  if (GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
    return GST_PAD_PROBE_OK;
  gst_event_parse_segment (event, &segment);
  if (segment->format == GST_FORMAT_TIME)
    return GST_PAD_PROBE_OK;
  gst_segment_init (&any, GST_FORMAT_TIME);
  GST_PAD_PROBE_INFO_DATA (info) = gst_event_new_segment (&any);
  gst_event_unref (event);
  return GST_PAD_PROBE_OK;
}

/* Returns: how many frames of @format @buffer has; 0: what it has is no sound */
static gsize
count_frames (GstBuffer * buffer, const GstAudioInfo * format)
{
  const GstAudioMeta *meta = gst_buffer_get_audio_meta (buffer);
  gsize n = gst_buffer_get_size (buffer) / (gsize) format->bpf;

  if (meta == NULL)
    return format->layout == GST_AUDIO_LAYOUT_INTERLEAVED ? n : 0;
  return meta->info.layout == format->layout && meta->info.bpf == format->bpf
      && meta->samples <= n ? meta->samples : 0;
}

/* The voice's bin says so, once; @warned is its probe's. */
static void
gst_dpm_voice_warn (GstPad * pad, gboolean * warned)
{
  GstObject *element = gst_object_get_parent (GST_OBJECT (pad));
  GstObject *bin = element != NULL ? gst_object_get_parent (element) : NULL;

  if (bin != NULL && !*warned)
    GST_ELEMENT_WARNING (bin, STREAM, FORMAT,
        ("Some of the sound was left out."),
        ("a buffer is no whole number of frames of its caps"));
  *warned = TRUE;
  gst_clear_object (&bin);
  gst_clear_object (&element);
}

/* They also take for granted that a buffer has whole frames, and lasts as long as these:
 * audioconvert cuts off what its segment leaves out by times. */
static GstPadProbeReturn
gst_dpm_voice_check_buffer (GstPad * pad, GstPadProbeInfo * info,
    gpointer warned)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCaps *caps = gst_pad_get_current_caps (pad);
  GstAudioInfo format;
  gboolean known = caps != NULL && gst_audio_info_from_caps (&format, caps);
  gsize size = gst_buffer_get_size (buffer), n;
  GstClockTime duration = 0;

  gst_clear_caps (&caps);
  if (!known)
    return GST_PAD_PROBE_OK;
  n = count_frames (buffer, &format);
  if (n * (gsize) format.bpf != size)
    gst_dpm_voice_warn (pad, warned);
  if (n == 0)
    return GST_PAD_PROBE_DROP;
  duration = gst_util_uint64_scale_ceil (n, GST_SECOND, (guint64) format.rate);
  if (n * (gsize) format.bpf == size && (!GST_BUFFER_DURATION_IS_VALID (buffer)
          || GST_BUFFER_DURATION (buffer) <= duration))
    return GST_PAD_PROBE_OK;
  buffer = gst_buffer_make_writable (buffer);
  if (gst_buffer_get_audio_meta (buffer) == NULL)
    gst_buffer_set_size (buffer, (gssize) (n * (gsize) format.bpf));
  GST_BUFFER_DURATION (buffer) = duration;
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* A packet has the levels of all buffers that it is made of, and the first is told: a mixer
 * would take the beginning of a word for the silence before it, and leave it out. */
static GstPadProbeReturn
gst_dpm_voice_tell_loudest (GstPad * pad, GstPadProbeInfo * info,
    gpointer user_data)
{
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER
      (info));
  GstAudioLevelMeta *told = gst_buffer_get_audio_level_meta (buffer);
  gpointer state = NULL;
  GstMeta *meta;

  (void) pad;
  (void) user_data;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_AUDIO_LEVEL_META_API_TYPE)) != NULL)
    told->level = MIN (told->level, ((GstAudioLevelMeta *) meta)->level);
  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* @data is the probe's */
static void
gst_dpm_voice_watch (GstElement * element, const gchar * name,
    GstPadProbeType type, GstPadProbeCallback check, gpointer data)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, type, check, data, data != NULL ? g_free : NULL);
  gst_object_unref (pad);
}

gboolean
gst_dpm_voice_init (GstDpmVoice * voice, GstDpmGraph * graph, guint bitrate,
    GPtrArray * elements)
{
  static const gchar *const factories[] = { "audioconvert", "audioresample",
    "capsfilter", "volume", "level", "opusenc", "rtpopuspay", "capsfilter"
  };
  GstElement *made[G_N_ELEMENTS (factories)];
  GstCaps *caps;

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++) {
    made[i] = gst_dpm_graph_make (graph, factories[i], elements);
    if (made[i] == NULL || (i > 0 && !gst_element_link (made[i - 1], made[i])))
      return FALSE;
  }
  caps = gst_caps_from_string ("audio/x-raw,rate=48000,channels=1");
  g_object_set (made[2], "caps", caps, NULL);
  gst_caps_unref (caps);
  /* Who speaks is in each packet (RFC 6464); silence is not sent. */
  g_object_set (made[4], "audio-level-meta", TRUE, "post-messages", FALSE,
      NULL);
  g_object_set (made[5], "bitrate", (gint) bitrate, "dtx", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (made[5]), "audio-type", "voice");
  g_object_set (made[6], "pt", GST_DPM_PAYLOAD_TYPE, NULL);
  caps = gst_caps_from_string ("application/x-rtp,extmap-"
      G_STRINGIFY (GST_DPM_LEVEL_ID) "=(string)<\"\","
      GST_FAIRMIX_LEVEL_URN ",\"vad=off\">");
  g_object_set (made[7], "caps", caps, NULL);
  gst_caps_unref (caps);
  gst_dpm_voice_watch (made[0], "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      gst_dpm_voice_check_event, NULL);
  gst_dpm_voice_watch (made[0], "sink", GST_PAD_PROBE_TYPE_BUFFER,
      gst_dpm_voice_check_buffer, g_new0 (gboolean, 1));
  /* caps that came in may have ended before */
  gst_dpm_voice_watch (made[4], "sink", GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      gst_dpm_voice_check_event, NULL);
  gst_dpm_voice_watch (made[5], "src", GST_PAD_PROBE_TYPE_BUFFER,
      gst_dpm_voice_tell_loudest, NULL);
  voice->first = made[0];
  voice->volume = made[3];
  voice->encoder = made[5];
  voice->last = made[7];
  return TRUE;
}

void
gst_dpm_voice_ref (const GstDpmVoice * voice, GstDpmVoice * copy)
{
  *copy = *voice;
  gst_object_ref (copy->first);
  gst_object_ref (copy->volume);
  gst_object_ref (copy->encoder);
  gst_object_ref (copy->last);
}

void
gst_dpm_voice_unref (GstDpmVoice * copy)
{
  gst_object_unref (copy->first);
  gst_object_unref (copy->volume);
  gst_object_unref (copy->encoder);
  gst_object_unref (copy->last);
}

/* What plays may block, for as long as an application likes, and the mixer mixes for
 * others, too.  What is behind may also ask for a latency, which is kept here. */
static GstElement *
make_queue (GstDpmGraph * graph, GPtrArray * made)
{
  GstElement *queue = gst_dpm_graph_make (graph, "queue", made);

  if (queue == NULL)
    return NULL;
  g_object_set (queue, "max-size-buffers", 0, "max-size-bytes", 0,
      "max-size-time", (guint64) PLAYER_QUEUE, "silent", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (queue), "leaky", "downstream");
  return queue;
}

GstElement *
gst_dpm_graph_make_player (GstDpmGraph * graph, GstElement ** last,
    GPtrArray * made)
{
  GstElement *queue = make_queue (graph, made);
  GstElement *filter = gst_dpm_graph_make (graph, "capsfilter", made);
  GstElement *convert = gst_dpm_graph_make (graph, "audioconvert", made);
  GstElement *resample = gst_dpm_graph_make (graph, "audioresample", made);
  GstCaps *caps;

  if (queue == NULL || filter == NULL || convert == NULL || resample == NULL)
    return NULL;
  caps = gst_caps_from_string ("audio/x-raw,rate=48000,channels=2");
  g_object_set (filter, "caps", caps, NULL);
  gst_caps_unref (caps);
  gst_element_link_many (queue, filter, convert, resample, NULL);
  *last = resample;
  return queue;
}
