/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The pads: whose neighbour they are, what their peers take, how data leaves. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"
#include "common/gstfairmixextmap.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

enum
{
  PROP_0,
  PROP_NEIGHBOUR,
  PROP_CNAME,
  PROP_SUCCESSOR,
  PROP_TARGET_BITRATE,
  PROP_MAX_STREAMS,
  PROP_STATS
};

/* ------------------------------------------------------------- sink pad -- */

G_DEFINE_TYPE (GstPartialMixSinkPad, gst_partial_mix_sink_pad, GST_TYPE_PAD);

/* What is set holds for streams that have come as well. */
static void
gst_partial_mix_sink_pad_apply (GstPartialMixSinkPad * pad)
{
  GstPartialMix *self =
      GST_PARTIAL_MIX_CAST (gst_pad_get_parent_element (GST_PAD (pad)));
  GstClockTime now;

  if (self == NULL)
    return;
  now = gst_partial_mix_lock_now (self);
  gst_partial_mix_readdress_streams (self, pad, now);
  gst_partial_mix_rename_streams (self, pad);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
  gst_object_unref (self);
}

static void
gst_partial_mix_sink_pad_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD (object);

  switch (id) {
    case PROP_NEIGHBOUR:
      g_atomic_int_set (&pad->neighbour, g_value_get_int (value));
      break;
    case PROP_CNAME:
      gst_fairmix_lock_acquire (&pad->name_lock);
      g_free (pad->cname);
      pad->cname = g_value_dup_string (value);
      gst_fairmix_lock_release (&pad->name_lock);
      break;
    case PROP_SUCCESSOR:
      g_atomic_int_set (&pad->successor, g_value_get_int (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  gst_partial_mix_sink_pad_apply (pad);
}

static void
gst_partial_mix_sink_pad_get_property (GObject * object, guint id,
    GValue * value, GParamSpec * pspec)
{
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD (object);

  switch (id) {
    case PROP_NEIGHBOUR:
      g_value_set_int (value, g_atomic_int_get (&pad->neighbour));
      break;
    case PROP_CNAME:
      gst_fairmix_lock_acquire (&pad->name_lock);
      g_value_set_string (value, pad->cname);
      gst_fairmix_lock_release (&pad->name_lock);
      break;
    case PROP_SUCCESSOR:
      g_value_set_int (value, g_atomic_int_get (&pad->successor));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_partial_mix_sink_pad_finalize (GObject * object)
{
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD (object);

  g_free (pad->cname);
  gst_fairmix_lock_clear (&pad->name_lock);
  g_hash_table_unref (pad->formats);
  g_hash_table_unref (pad->streams);
  g_hash_table_unref (pad->cnames);
  G_OBJECT_CLASS (gst_partial_mix_sink_pad_parent_class)->finalize (object);
}

static void
gst_partial_mix_sink_pad_class_init (GstPartialMixSinkPadClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_partial_mix_sink_pad_set_property;
  object_class->get_property = gst_partial_mix_sink_pad_get_property;
  object_class->finalize = gst_partial_mix_sink_pad_finalize;

  g_object_class_install_property (object_class, PROP_NEIGHBOUR,
      g_param_spec_int ("neighbour", "Neighbour",
          "Whose streams come in here; src pads of the same neighbour do not "
          "carry them (-1 = the session number of the rtpbin pad that it is "
          "linked to, else the number of the pad)",
          GST_PARTIAL_MIX_NEIGHBOUR_AUTO, G_MAXINT,
          GST_PARTIAL_MIX_NEIGHBOUR_AUTO,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_CNAME,
      g_param_spec_string ("cname", "CNAME",
          "RTCP canonical name of the streams that come in here, for the "
          "Database, where their caps do not tell; RTCP does not change it",
          NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_SUCCESSOR,
      g_param_spec_int ("successor", "Successor",
          "The neighbour at whose sink pads streams of this one may go on: a "
          "packet there of an SSRC that is in use here, and whose number "
          "follows, is the stream's and no collision, so that nobody misses "
          "anything (-1 = nobody's, -2 = those with the stream's cname)",
          GST_PARTIAL_MIX_NAMESAKE, G_MAXINT, GST_PARTIAL_MIX_NO_SUCCESSOR,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
}

static void
gst_partial_mix_sink_pad_init (GstPartialMixSinkPad * pad)
{
  pad->neighbour = GST_PARTIAL_MIX_NEIGHBOUR_AUTO;
  pad->successor = GST_PARTIAL_MIX_NO_SUCCESSOR;
  pad->session = -1;
  gst_fairmix_lock_init (&pad->name_lock, GST_FAIRMIX_RANK_NAME);
  gst_partial_mix_sink_pad_set_segment (pad, NULL);
  pad->formats = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  pad->streams = g_hash_table_new (NULL, NULL);
  pad->cnames = g_hash_table_new_full (NULL, NULL, NULL, g_free);
}

/* @segment: NULL where there is none, as before the first and after a flush: then, and
 * where it is no time or runs backwards, timestamps are taken for running time */
void
gst_partial_mix_sink_pad_set_segment (GstPartialMixSinkPad * pad,
    const GstSegment * segment)
{
  GstSegment *s = &pad->segment;

  if (segment != NULL && segment->rate > 0.0)
    gst_segment_copy_into (segment, s);
  else
    gst_segment_init (s, GST_FORMAT_UNDEFINED);
  pad->segment_is_running_time = s->format != GST_FORMAT_TIME
      || (s->start == 0 && s->base == 0 && s->offset == 0 && s->rate == 1.0);
}

/* Returns: the number of an extension that may have the short header; what is not
 * named is what it was, @before */
static gint
find_extension (GstCaps * caps, const gchar * urn, gint before)
{
  guint8 id;

  gst_fairmix_extmap_find (caps, urn, &id);
  return id >= 1 && id <= GST_PARTIAL_MIX_MAX_EXT_ID ? id : before;
}

/* GStreamer's convention for SDP's source attributes: ssrc-1234-cname=... */
static gboolean
find_cname (GQuark field, const GValue * value, gpointer user_data)
{
  GstPartialMixSinkPad *pad = user_data;
  const gchar *name = g_quark_to_string (field);
  gchar *end;
  guint64 ssrc;

  if (!g_str_has_prefix (name, "ssrc-") || !G_VALUE_HOLDS_STRING (value))
    return TRUE;
  ssrc = g_ascii_strtoull (name + strlen ("ssrc-"), &end, 10);
  if (ssrc <= G_MAXUINT32 && g_strcmp0 (end, "-cname") == 0)
    g_hash_table_insert (pad->cnames, GUINT_TO_POINTER ((guint) ssrc),
        g_value_dup_string (value));
  return TRUE;
}

/* Returns: whether it meant something else before */
static gboolean
note_format (GstPartialMixSinkPad * pad, const GstPartialMixFormat * format)
{
  GstPartialMixFormat *known = g_hash_table_lookup (pad->formats,
      GUINT_TO_POINTER (format->pt));
  GstPartialMixFormat fixed;
  gboolean changes;

  if (known == NULL && gst_partial_mix_format_from_pt (&fixed, format->pt))
    known = &fixed;
  changes = known != NULL && !gst_partial_mix_format_is_equal (known, format);
  g_hash_table_insert (pad->formats, GUINT_TO_POINTER (format->pt),
      g_memdup2 (format, sizeof *format));
  return changes;
}

/* Who is linked again, and has the same caps, does not send them once more: so they hold
 * until others come. */
static void
forget_stale (GstPartialMixSinkPad * pad)
{
  if (!pad->stale)
    return;
  pad->stale = FALSE;
  g_hash_table_remove_all (pad->formats);
  g_hash_table_remove_all (pad->cnames);
  pad->level_ext_id = pad->csrc_level_ext_id = pad->contributor_time_id = 0;
}

gint
gst_partial_mix_sink_pad_set_caps (GstPartialMixSinkPad * pad, GstCaps * caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  GstPartialMixFormat format;
  gint changed = -1;

  forget_stale (pad);
  if (gst_partial_mix_format_from_structure (&format, s)
      && note_format (pad, &format))
    changed = format.pt;
  pad->level_ext_id = find_extension (caps, GST_FAIRMIX_LEVEL_URN,
      pad->level_ext_id);
  pad->csrc_level_ext_id = find_extension (caps, GST_FAIRMIX_CSRC_LEVEL_URN,
      pad->csrc_level_ext_id);
  pad->contributor_time_id = find_extension (caps, FMX_CONTRIBUTOR_TIME_URN,
      pad->contributor_time_id);
  gst_structure_foreach (s, find_cname, pad);
  return changed;
}

/* -------------------------------------------------------------- src pad -- */

G_DEFINE_TYPE (GstPartialMixSrcPad, gst_partial_mix_src_pad, GST_TYPE_PAD);

static void
gst_partial_mix_src_pad_reselect (GstPartialMixSrcPad * pad,
    const gchar * reason)
{
  GstPartialMix *self =
      GST_PARTIAL_MIX_CAST (gst_pad_get_parent_element (GST_PAD (pad)));
  GstClockTime now;

  if (self == NULL)
    return;
  now = gst_partial_mix_lock_now (self);
  gst_partial_mix_look_up_listener (self, &pad->listener);
  gst_partial_mix_reselect (self, &pad->listener, reason, now);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
  gst_object_unref (self);
}

static void
gst_partial_mix_src_pad_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD (object);
  const gchar *reason = GST_PARTIAL_MIX_RESELECT_NEIGHBOUR;

  switch (id) {
    case PROP_NEIGHBOUR:
      g_atomic_int_set (&pad->listener.neighbour, g_value_get_int (value));
      break;
    case PROP_TARGET_BITRATE:
      g_atomic_int_set (&pad->listener.target_bitrate,
          g_value_get_uint (value));
      reason = GST_PARTIAL_MIX_RESELECT_TARGET;
      break;
    case PROP_MAX_STREAMS:
      g_atomic_int_set (&pad->listener.max_streams, g_value_get_uint (value));
      reason = GST_PARTIAL_MIX_RESELECT_MAX_STREAMS;
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  gst_partial_mix_src_pad_reselect (pad, reason);
}

static void
gst_partial_mix_src_pad_get_property (GObject * object, guint id,
    GValue * value, GParamSpec * pspec)
{
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD (object);
  GstElement *self;

  switch (id) {
    case PROP_NEIGHBOUR:
      g_value_set_int (value, g_atomic_int_get (&pad->listener.neighbour));
      break;
    case PROP_TARGET_BITRATE:
      g_value_set_uint (value,
          (guint) g_atomic_int_get (&pad->listener.target_bitrate));
      break;
    case PROP_MAX_STREAMS:
      g_value_set_uint (value,
          (guint) g_atomic_int_get (&pad->listener.max_streams));
      break;
    case PROP_STATS:
      self = gst_pad_get_parent_element (GST_PAD (pad));
      if (self != NULL) {
        g_value_take_boxed (value, gst_partial_mix_src_pad_create_stats (pad,
                GST_PARTIAL_MIX_CAST (self)));
        gst_object_unref (self);
      }
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_partial_mix_src_pad_finalize (GObject * object)
{
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD (object);

  /* GLib's count of references orders threads, but race detectors do not see it */
  GST_PAD_STREAM_LOCK (pad);
  gst_partial_mix_flow_forget (&pad->flow);
  GST_PAD_STREAM_UNLOCK (pad);
  gst_partial_mix_listener_clear (&pad->listener);
  g_weak_ref_clear (&pad->peer);
  G_OBJECT_CLASS (gst_partial_mix_src_pad_parent_class)->finalize (object);
}

static void
gst_partial_mix_src_pad_class_init (GstPartialMixSrcPadClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_partial_mix_src_pad_set_property;
  object_class->get_property = gst_partial_mix_src_pad_get_property;
  object_class->finalize = gst_partial_mix_src_pad_finalize;

  g_object_class_install_property (object_class, PROP_NEIGHBOUR,
      g_param_spec_int ("neighbour", "Neighbour",
          "Who listens here: streams of sink pads of the same neighbour do not "
          "come out (-1 = the number of the pad)",
          GST_PARTIAL_MIX_NEIGHBOUR_AUTO, G_MAXINT,
          GST_PARTIAL_MIX_NEIGHBOUR_AUTO,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_TARGET_BITRATE,
      g_param_spec_uint ("target-bitrate", "Target bitrate",
          "What may be sent to this neighbour, in bits per second on the wire, "
          "IP and UDP headers included (0 = unlimited); a lower target that "
          "comes from downstream in a " GST_FAIRMIX_TARGET_BITRATE_EVENT
          " event wins", 0, G_MAXUINT, 0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_MAX_STREAMS,
      g_param_spec_uint ("max-streams", "Maximum streams",
          "How many RTP streams this neighbour can take, mixes included: as many "
          "as it has decoders, or places in a browser (0 = any number); a lower "
          "number that comes from downstream in a "
          GST_FAIRMIX_MAX_STREAMS_EVENT
          " event wins.  A renderer (audio/x-raw) has no limit", 0, G_MAXUINT,
          0,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
          GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "What this neighbour gets (application/x-fairmix-partialmix-pad-"
          "stats: neighbour, target-bitrate, max-streams, bitrate-in, bitrate-out, "
          "n-separate, n-mixed, n-mixes, mix-bitrate, streams)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

/* With its activity a pad loses the events that it has sent.  Who pushes knows
 * which these are, so only the stream lock guards that: an application may activate
 * a pad of an element that does not run. */
static gboolean
src_pad_activate_mode (GstPad * pad, GstObject * parent, GstPadMode mode,
    gboolean active)
{
  GstPartialMixSrcPad *self = GST_PARTIAL_MIX_SRC_PAD (pad);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (!active) {
    GST_PAD_STREAM_LOCK (pad);
    gst_partial_mix_flow_forget (&self->flow);
    GST_PAD_STREAM_UNLOCK (pad);
  }
  return TRUE;
}

static void
gst_partial_mix_src_pad_init (GstPartialMixSrcPad * pad)
{
  gst_pad_set_activatemode_function (GST_PAD (pad), src_pad_activate_mode);
  gst_partial_mix_listener_init (&pad->listener);
  g_weak_ref_init (&pad->peer, NULL);
  gst_partial_mix_flow_init (&pad->flow);
  gst_partial_mix_door_init (&pad->door, GST_OBJECT (pad));
}

void
gst_partial_mix_src_pad_start (GstPartialMixSrcPad * pad,
    const GstPartialMixSettings * settings)
{
  pad->asked = FALSE;
  gst_partial_mix_listener_start (&pad->listener, settings);
}

/* ---------------------------------------------------------- negotiation -- */

static void
accept_structure (GstPartialMixSrcPad * pad, const GstStructure * s,
    gint * asked)
{
  const GValue *names = gst_structure_get_value (s, "encoding-name");
  gint pt = -1;
  guint i;

  if (names == NULL || !gst_structure_get_int (s, "payload", &pt) || pt > 127)
    pt = -1;

  for (i = 0; i < GST_PARTIAL_MIX_N_ENCODINGS; i++) {
    GValue name = G_VALUE_INIT;

    g_value_init (&name, G_TYPE_STRING);
    g_value_set_static_string (&name, gst_partial_mix_encoding_name (i));
    if (names == NULL || gst_value_intersect (NULL, names, &name)) {
      if (!pad->listener.accepts[i])
        asked[i] = pt;
      pad->listener.accepts[i] = TRUE;
    }
    g_value_unset (&name);
  }
}

static void
accept_caps (GstPartialMixSrcPad * pad, GstPartialMix * self, GstCaps * caps)
{
  gboolean anything = gst_caps_is_any (caps) || gst_caps_is_empty (caps);
  gint asked[GST_PARTIAL_MIX_N_ENCODINGS];
  guint8 time_id = 0;
  guint i;

  pad->listener.raw = FALSE;
  for (i = 0; i < GST_PARTIAL_MIX_N_ENCODINGS; i++) {
    pad->listener.accepts[i] = anything;
    asked[i] = -1;
  }
  for (i = 0; !anything && i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);

    if (gst_structure_has_name (s, "application/x-rtp"))
      accept_structure (pad, s, asked);
    else if (i == 0)
      pad->listener.raw = TRUE;
  }
  if (!anything)
    gst_fairmix_extmap_find (caps, FMX_CONTRIBUTOR_TIME_URN, &time_id);
  if (time_id > GST_PARTIAL_MIX_MAX_EXT_ID)
    time_id = 0;
  self->tells_times |= time_id != 0;
  gst_partial_mix_listener_ask (&pad->listener, asked, time_id);
}

static GstCaps *
raw_caps (GstPartialMix * self)
{
  GstCaps *caps = gst_caps_from_string
      ("audio/x-raw,format=(string)" GST_AUDIO_NE (S16)
      ",layout=(string)interleaved,channels=(int)[1,2]");

  gst_caps_set_simple (caps, "rate", G_TYPE_INT, (gint) self->settings.rate_hz,
      NULL);
  return caps;
}

/* with the lock: settles what a renderer sends; FALSE if @caps have none of it */
static gboolean
settle_raw_caps (GstPartialMixSrcPad * pad, GstPartialMix * self,
    GstCaps * caps)
{
  GstCaps *ours = raw_caps (self);
  GstCaps *common = gst_caps_intersect (caps, ours);
  gint channels = 2;
  GstStructure *s;

  gst_caps_unref (ours);
  if (gst_caps_is_empty (common)) {
    gst_caps_unref (common);
    return FALSE;
  }
  common = gst_caps_truncate (gst_caps_make_writable (common));
  s = gst_caps_get_structure (common, 0);
  gst_structure_fixate_field_nearest_int (s, "channels", 2);
  gst_structure_get_int (s, "channels", &channels);
  gst_clear_caps (&pad->listener.raw_caps);
  pad->listener.raw_caps = gst_caps_fixate (common);
  pad->listener.raw_channels = channels == 1 ? 1 : 2;
  return TRUE;
}

/* with the lock; Returns: what is wrong, NULL if nothing is */
static const gchar *
find_trouble (GstPartialMixSrcPad * pad, GstPartialMix * self, GstCaps * caps)
{
  guint i;

  if (pad->listener.raw)
    return settle_raw_caps (pad, self, caps) ? NULL :
        "It wants raw audio of another rate: set the property rate, or put "
        "audioresample behind the pad.";
  for (i = 0; i < GST_PARTIAL_MIX_N_ENCODINGS; i++)
    if (pad->listener.accepts[i])
      return NULL;
  return "It takes none of OPUS, PCMU, PCMA, L16 as application/x-rtp, nor "
      "audio/x-raw.";
}

static void
warn_of (GstPartialMix * self, GstPartialMixSrcPad * pad,
    const gchar * trouble, GstCaps * caps)
{
  gchar *text = gst_caps_to_string (caps);
  GError *error = g_error_new (GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
      "The peer of %s cannot be served. %s", GST_PAD_NAME (pad), trouble);

  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_warning (GST_OBJECT (self), error, text));
  g_error_free (error);
  g_free (text);
}

/* without the lock: asks the peer */
void
gst_partial_mix_src_pad_negotiate (GstPartialMixSrcPad * pad,
    GstPartialMix * self)
{
  GstCaps *template = gst_pad_get_pad_template_caps (GST_PAD (pad));
  GstCaps *caps = gst_pad_peer_query_caps (GST_PAD (pad), template);
  const gchar *trouble;
  GstClockTime now;

  GST_DEBUG_OBJECT (pad, "peer takes %" GST_PTR_FORMAT, caps);
  now = gst_partial_mix_lock_now (self);
  accept_caps (pad, self, caps);
  trouble = find_trouble (pad, self, caps);
  if (trouble != NULL)
    warn_of (self, pad, trouble, caps);
  pad->listener.negotiated = trouble == NULL;
  pad->listener.have_mix_format = FALSE;
  gst_partial_mix_reselect (self, &pad->listener,
      GST_PARTIAL_MIX_RESELECT_NEGOTIATED, now);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);

  gst_caps_unref (caps);
  gst_caps_unref (template);
}

/* with the lock; Returns: whether somebody is served already, and the mixing thread
 * will ask the others */
static gboolean
is_serving (GstPartialMix * self)
{
  guint i;

  for (i = 0; self->running && i < self->listeners->len; i++) {
    const GstPartialMixListener *listener =
        g_ptr_array_index (self->listeners, i);

    if (listener->negotiated)
      return TRUE;
  }
  return FALSE;
}

void
gst_partial_mix_negotiate_first (GstPartialMix * self)
{
  gboolean serving;

  GST_PARTIAL_MIX_LOCK (self);
  serving = is_serving (self);
  GST_PARTIAL_MIX_UNLOCK (self);
  if (!serving)
    gst_partial_mix_negotiate (self);
}

void
gst_partial_mix_negotiate (GstPartialMix * self)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);
  guint i;

  g_atomic_int_set (&self->unasked, FALSE);
  GST_PARTIAL_MIX_LOCK (self);
  for (i = 0; i < self->src_pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->src_pads, i);

    if (pad->asked && !GST_PAD_NEEDS_RECONFIGURE (pad))
      continue;
    pad->asked = TRUE;          /* by this thread and no other */
    g_ptr_array_add (pads, gst_object_ref (pad));
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  for (i = 0; i < pads->len; i++) {
    gst_pad_check_reconfigure (g_ptr_array_index (pads, i));
    gst_partial_mix_src_pad_negotiate (g_ptr_array_index (pads, i), self);
  }
  g_ptr_array_unref (pads);
}
