/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-partialmix
 * @title: partialmix
 *
 * Forwards every audio stream untouched while the path to a neighbour has room,
 * and mixes exactly as many of them as it must when it has not: distributed
 * partial mixing.
 *
 * RTP comes in on `sink_%u` pads (OPUS, PCMU, PCMA, L16; one or many SSRCs on a
 * pad) and leaves on `src_%u` pads, one for each neighbour.  Pads of the same
 * neighbour belong together: a neighbour never hears itself.  Each src pad has
 * its own target bitrate, from the pad property #GstPartialMixSrcPad:target-bitrate
 * or from a `fairmix-target-bitrate` event from downstream (see tfrcrate), its own
 * selection and its own mixes.
 *
 * Streams that stay separate are neither decoded nor delayed.  Streams that are
 * mixed are decoded once for all neighbours, and neighbours that need the same
 * mix share its encoding.  A mix names its contributors (CSRC) and their levels
 * (RFC 6465).
 *
 * A src pad whose peer takes audio/x-raw is a renderer: it plays all streams,
 * each at its place between left and right.
 *
 * ## Messages
 *
 * `fairmix-selection` whenever the selection for a neighbour changes: `pad`,
 * `neighbour`, `reason`, `target-bitrate`, `n-separate`, `n-mixed`, `n-mixes`,
 * `mix-bitrate`, and the arrays of SSRCs `separate`, `mixed`, `held`.
 * `fairmix-stream` when a stream comes or goes: `event` (added, removed),
 * `reason`, `ssrc`, `out-ssrc`, `neighbour`, `encoding-name`, `cname`.
 *
 * ## Example launch line
 *
 * |[
 * gst-launch-1.0 partialmix name=mix mix.src_0 ! audioconvert ! autoaudiosink \
 *   audiotestsrc is-live=true freq=330 ! audioconvert ! opusenc ! rtpopuspay ! mix.sink_1 \
 *   audiotestsrc is-live=true freq=440 ! audioconvert ! opusenc ! rtpopuspay ! mix.sink_2
 * ]| Two tones, one on the left, one on the right.
 *
 * Since: 0.1
 */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

GST_DEBUG_CATEGORY (gst_partial_mix_debug);
#define GST_CAT_DEFAULT gst_partial_mix_debug

#define DEFAULT_RATE 48000
#define DEFAULT_FRAME_DURATION (20 * GST_MSECOND)
#define DEFAULT_LATENCY (20 * GST_MSECOND)
#define DEFAULT_RAMP_DURATION (2500 * GST_USECOND)
#define DEFAULT_STREAM_TIMEOUT (30 * GST_SECOND)
#define DEFAULT_MAX_STREAMS 1024
#define DEFAULT_MIX_PT 128
#define DEFAULT_MAX_MIX_BITRATE 32000
#define DEFAULT_MIN_MIX_BITRATE 12000
#define DEFAULT_COMPLEXITY 5
#define DEFAULT_SILENCE_LEVEL 80
#define DEFAULT_CSRC_LEVEL_EXT_ID 2
#define DEFAULT_HEADROOM 0.05

enum
{
  PROP_0,
  PROP_RATE,
  PROP_FRAME_DURATION,
  PROP_LATENCY,
  PROP_RAMP_DURATION,
  PROP_STREAM_TIMEOUT,
  PROP_MAX_STREAMS,
  PROP_MIX_ENCODING,
  PROP_MIX_PT,
  PROP_MAX_MIX_BITRATE,
  PROP_MIN_MIX_BITRATE,
  PROP_COMPLEXITY,
  PROP_SILENCE_LEVEL,
  PROP_CSRC_LEVEL_EXT_ID,
  PROP_HEADROOM,
  PROP_THREADS,
  PROP_DATABASE_LOCATION,
  PROP_RTPBIN,
  PROP_STATS
};

enum
{
  SIGNAL_SET_STREAM,
  SIGNAL_REMOVE_STREAM,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static GstStaticPadTemplate rtcp_template =
GST_STATIC_PAD_TEMPLATE ("rtcp_sink_%u", GST_PAD_SINK, GST_PAD_REQUEST,
    GST_STATIC_CAPS ("application/x-rtcp"));

#define RTP_CAPS "application/x-rtp, media=(string)audio"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS (RTP_CAPS "; "
        "audio/x-raw, format=(string)" GST_AUDIO_NE (S16)
        ", layout=(string)interleaved, rate=(int)[8000, 48000], "
        "channels=(int)[1, 2]"));

#define GST_TYPE_PARTIAL_MIX_ENCODING (gst_partial_mix_encoding_get_type ())
static GType
gst_partial_mix_encoding_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    {-1, "What the streams come in, as far as the neighbour takes it", "auto"},
    {GST_PARTIAL_MIX_ENCODING_OPUS, "Opus (RFC 7587)", "opus"},
    {GST_PARTIAL_MIX_ENCODING_PCMU, "G.711 mu-law (RFC 3551)", "pcmu"},
    {GST_PARTIAL_MIX_ENCODING_PCMA, "G.711 A-law (RFC 3551)", "pcma"},
    {GST_PARTIAL_MIX_ENCODING_L16, "16-bit linear (RFC 3551)", "l16"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type)) {
    GType t = g_enum_register_static ("GstPartialMixEncoding", values);

    g_once_init_leave (&type, t);
  }
  return (GType) type;
}

static void gst_partial_mix_child_proxy_init (gpointer iface, gpointer data);

G_DEFINE_TYPE_WITH_CODE (GstPartialMix, gst_partial_mix, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY,
        gst_partial_mix_child_proxy_init));
GST_ELEMENT_REGISTER_DEFINE (partialmix, "partialmix", GST_RANK_NONE,
    GST_TYPE_PARTIAL_MIX);

/* ------------------------------------------------------------------ time -- */

guint
gst_partial_mix_frame_samples (GstPartialMix * self)
{
  return (guint) gst_util_uint64_scale_int (self->frame_duration,
      (gint) self->rate_hz, GST_SECOND);
}

GstClockTime
gst_partial_mix_samples_to_time (GstPartialMix * self, guint64 samples)
{
  return gst_util_uint64_scale_int (samples, GST_SECOND, (gint) self->rate_hz);
}

GstClockTime
gst_partial_mix_running_time (GstPartialMix * self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT (self));
  GstClockTime now;

  if (clock == NULL)
    return GST_CLOCK_TIME_NONE;
  now = gst_clock_get_time (clock);
  gst_object_unref (clock);
  return now > base ? now - base : 0;
}

/* A tick mixes the samples that start at its own time; a packet that arrives
 * while it runs waits for the next. */
GstClockTime
gst_partial_mix_playout_delay (GstPartialMix * self)
{
  return self->frame_duration + self->latency;
}

void
gst_partial_mix_post_messages (GstPartialMix * self)
{
  gst_fairmix_lock_assert_none ();
  gst_fairmix_outbox_post (self->outbox, GST_ELEMENT (self));
}

/* ------------------------------------------------------------------ pads -- */

/* Whether a request names a number, not just the kind of pad ("sink_%u"). */
static gboolean
has_number (const gchar * name, const gchar * prefix)
{
  return name != NULL && g_str_has_prefix (name, prefix)
      && g_ascii_isdigit (name[strlen (prefix)]);
}

static guint
pad_number (GstPartialMix * self, const gchar * name, const gchar * prefix,
    guint * next)
{
  guint number;

  GST_PARTIAL_MIX_LOCK (self);
  if (has_number (name, prefix))
    number = (guint) g_ascii_strtoull (name + strlen (prefix), NULL, 10);
  else
    number = *next;
  *next = MAX (*next, number + 1);
  GST_PARTIAL_MIX_UNLOCK (self);
  return number;
}

static GstPad *
make_pad (GType type, GstPadTemplate * templ, const gchar * prefix, guint index)
{
  gchar *name = g_strdup_printf ("%s%u", prefix, index);
  GstPad *pad = g_object_new (type, "name", name, "direction",
      GST_PAD_TEMPLATE_DIRECTION (templ), "template", templ, NULL);

  g_free (name);
  return pad;
}

static void
add_sink_pad (GstPartialMix * self, GstPad * pad)
{
  GST_PARTIAL_MIX_LOCK (self);
  self->sink_pads = g_list_append (self->sink_pads, pad);
  self->eos_line = G_MAXINT64;
  GST_PARTIAL_MIX_UNLOCK (self);
}

static GstPad *
new_sink_pad (GstPartialMix * self, GstPadTemplate * templ,
    const gchar * req_name)
{
  guint index = pad_number (self, req_name, "sink_", &self->next_sink);
  GstPad *pad = make_pad (GST_TYPE_PARTIAL_MIX_SINK_PAD, templ, "sink_",
      index);

  GST_PARTIAL_MIX_SINK_PAD (pad)->index = index;
  gst_pad_set_chain_function (pad, gst_partial_mix_chain);
  gst_pad_set_chain_list_function (pad, gst_partial_mix_chain_list);
  gst_pad_set_event_function (pad, gst_partial_mix_sink_event);
  gst_pad_set_query_function (pad, gst_partial_mix_sink_query);
  gst_pad_set_link_function (pad, gst_partial_mix_sink_linked);
  gst_pad_set_unlink_function (pad, gst_partial_mix_sink_unlinked);
  add_sink_pad (self, pad);
  return pad;
}

static GstPad *
new_rtcp_pad (GstPartialMix * self, GstPadTemplate * templ,
    const gchar * req_name)
{
  GstPad *pad;
  guint index;

  /* RTCP tells of one neighbour.  Who links just any two pads that fit must not
   * bring what an rtpbin sends. */
  if (!has_number (req_name, "rtcp_sink_")) {
    GST_INFO_OBJECT (self, "RTCP of which neighbour? rtcp_sink_0, ...");
    return NULL;
  }
  index = (guint) g_ascii_strtoull (req_name + strlen ("rtcp_sink_"), NULL, 10);
  pad = make_pad (GST_TYPE_PARTIAL_MIX_SINK_PAD, templ, "rtcp_sink_", index);

  GST_PARTIAL_MIX_SINK_PAD (pad)->index = index;
  gst_pad_set_chain_function (pad, gst_partial_mix_rtcp_chain);
  gst_pad_set_event_function (pad, gst_partial_mix_rtcp_event);
  add_sink_pad (self, pad);
  return pad;
}

static GstPad *
new_src_pad (GstPartialMix * self, GstPadTemplate * templ,
    const gchar * req_name)
{
  guint index = pad_number (self, req_name, "src_", &self->next_src);
  GstPad *pad = make_pad (GST_TYPE_PARTIAL_MIX_SRC_PAD, templ, "src_",
      index);

  GST_PARTIAL_MIX_SRC_PAD (pad)->index = index;
  gst_pad_set_event_function (pad, gst_partial_mix_src_event);
  gst_pad_set_query_function (pad, gst_partial_mix_src_query);
  gst_pad_use_fixed_caps (pad);

  GST_PARTIAL_MIX_LOCK (self);
  self->src_pads = g_list_append (self->src_pads, pad);
  g_atomic_int_set (&self->unasked, TRUE);
  GST_PARTIAL_MIX_UNLOCK (self);
  return pad;
}

static GstPad *
gst_partial_mix_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * req_name, const GstCaps * caps)
{
  GstPartialMix *self = GST_PARTIAL_MIX (element);
  GstPad *pad;

  if (g_str_has_prefix (GST_PAD_TEMPLATE_NAME_TEMPLATE (templ), "rtcp"))
    pad = new_rtcp_pad (self, templ, req_name);
  else if (GST_PAD_TEMPLATE_DIRECTION (templ) == GST_PAD_SINK)
    pad = new_sink_pad (self, templ, req_name);
  else
    pad = new_src_pad (self, templ, req_name);
  if (pad == NULL)
    return NULL;
  gst_pad_set_active (pad, TRUE);
  if (!gst_element_add_pad (element, pad)) {
    GST_PARTIAL_MIX_LOCK (self);
    self->sink_pads = g_list_remove (self->sink_pads, pad);
    self->src_pads = g_list_remove (self->src_pads, pad);
    GST_PARTIAL_MIX_UNLOCK (self);
    return NULL;
  }
  gst_child_proxy_child_added (GST_CHILD_PROXY (self), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  return pad;
}

/* with the lock */
static void
forget_src_pad (GstPartialMix * self, GstPartialMixSrcPad * pad)
{
  guint i;

  for (i = 0; i < self->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

    if (stream == NULL)
      continue;
    stream->unsettled = TRUE;
    if (gst_partial_mix_src_pad_get_link (pad, stream)->handover.way
        == FMX_HANDOVER_MIXED)
      stream->n_mixed--;
  }
  self->src_pads = g_list_remove (self->src_pads, pad);
  /* the mixing thread may be using its buses: it gives them up itself */
  g_ptr_array_add (self->released, gst_object_ref (pad));
}

static void
gst_partial_mix_release_pad (GstElement * element, GstPad * pad)
{
  GstPartialMix *self = GST_PARTIAL_MIX (element);
  GstPartialMixSinkPad *sink;

  gst_pad_set_active (pad, FALSE);
  GST_PARTIAL_MIX_LOCK (self);
  if (GST_PAD_IS_SINK (pad)) {
    sink = GST_PARTIAL_MIX_SINK_PAD (pad);
    gst_partial_mix_remove_pad_streams (self, pad, "pad");
    self->sink_pads = g_list_remove (self->sink_pads, pad);
    self->n_malformed_gone += sink->n_malformed;
    self->n_unknown_gone += sink->n_unknown;
  } else {
    forget_src_pad (self, GST_PARTIAL_MIX_SRC_PAD (pad));
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);

  gst_child_proxy_child_removed (GST_CHILD_PROXY (self), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  gst_element_remove_pad (element, pad);
}

static GObject *
gst_partial_mix_get_child (GstChildProxy * proxy, guint index)
{
  GstElement *self = GST_ELEMENT (proxy);
  GObject *child;

  GST_OBJECT_LOCK (self);
  child = g_list_nth_data (self->pads, index);
  if (child != NULL)
    g_object_ref (child);
  GST_OBJECT_UNLOCK (self);
  return child;
}

static guint
gst_partial_mix_get_children_count (GstChildProxy * proxy)
{
  guint n;

  GST_OBJECT_LOCK (proxy);
  n = GST_ELEMENT (proxy)->numpads;
  GST_OBJECT_UNLOCK (proxy);
  return n;
}

static void
gst_partial_mix_child_proxy_init (gpointer iface, gpointer data)
{
  GstChildProxyInterface *proxy = iface;

  proxy->get_child_by_index = gst_partial_mix_get_child;
  proxy->get_children_count = gst_partial_mix_get_children_count;
}

/* --------------------------------------------------------------- actions -- */

static void
gst_partial_mix_set_stream (GstPartialMix * self, guint ssrc,
    GstStructure * values)
{
  GST_PARTIAL_MIX_LOCK (self);
  gst_partial_mix_database_set (self->database, ssrc, values);
  gst_partial_mix_apply_database (self);
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
gst_partial_mix_remove_ssrc (GstPartialMix * self, guint ssrc)
{
  guint i;

  GST_PARTIAL_MIX_LOCK (self);
  for (i = 0; i < self->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

    if (stream != NULL && stream->ssrc == ssrc)
      gst_partial_mix_remove_stream (self, stream, "action");
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
}

/* ---------------------------------------------------------------- states -- */

static void
start_mixing (GstPartialMix * self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT (self));
  GstClockTime now;
  guint n = gst_partial_mix_frame_samples (self);

  if (clock == NULL) {
    GST_ELEMENT_ERROR (self, CORE, CLOCK, (NULL),
        ("mixing needs the pipeline's clock"));
    return;
  }
  now = gst_partial_mix_running_time (self);

  GST_PARTIAL_MIX_LOCK (self);
  self->base_time = base;
  self->line = (gint64) gst_util_uint64_scale_int (now, (gint) self->rate_hz,
      GST_SECOND) / n * n + n;
  if (self->total == NULL)
    self->total = g_new0 (gint32, n);
  self->running = TRUE;
  self->selections_left = GST_PARTIAL_MIX_SELECTIONS_PER_TICK;
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_fairmix_timer_start (self->timer, clock, base
      + gst_partial_mix_samples_to_time (self, (guint64) self->line));
  gst_object_unref (clock);
}

static void
open_pool (GstPartialMix * self)
{
  guint n = self->n_threads > 0 ? self->n_threads : g_get_num_processors ();

  self->n_helpers = n - 1;
  if (self->n_helpers == 0)
    return;
  self->pool = gst_shared_task_pool_new ();
  gst_shared_task_pool_set_max_threads (GST_SHARED_TASK_POOL (self->pool),
      self->n_helpers);
  gst_task_pool_prepare (self->pool, NULL);
}

static void
close_all (GstPartialMix * self)
{
  GPtrArray *released;
  GList *l;
  guint i;

  gst_fairmix_timer_stop (self->timer);
  GST_PARTIAL_MIX_LOCK (self);
  for (i = 0; i < self->streams->len; i++)
    if (g_ptr_array_index (self->streams, i) != NULL)
      gst_partial_mix_remove_stream (self, g_ptr_array_index (self->streams,
              i), "stopped");
  g_ptr_array_set_size (self->streams, 0);
  for (l = self->src_pads; l != NULL; l = l->next) {
    GstPartialMixSrcPad *pad = l->data;

    gst_partial_mix_release_outputs (self, pad);
    pad->asked = pad->negotiated = pad->have_mix_format = FALSE;
    pad->events_sent = pad->raw_announced = FALSE;
    pad->limiter_channels = 0;
    pad->event_seen = FALSE;
    pad->announced[0] = pad->announced[1] = 0;
  }
  for (l = self->sink_pads; l != NULL; l = l->next)
    GST_PARTIAL_MIX_SINK_PAD (l->data)->eos = FALSE;
  released = g_steal_pointer (&self->released);
  self->released = g_ptr_array_new_with_free_func (gst_object_unref);
  gst_partial_mix_buses_clear (self);
  g_hash_table_remove_all (self->mix_ssrcs);
  g_hash_table_remove_all (self->cnames);
  self->eos_line = G_MAXINT64;
  self->tick = 0;
  g_atomic_int_set (&self->unasked, TRUE);
  g_clear_pointer (&self->total, g_free);
  gst_fairmix_outbox_clear (self->outbox);
  GST_PARTIAL_MIX_UNLOCK (self);
  g_ptr_array_unref (released);

  if (self->pool != NULL) {
    gst_task_pool_cleanup (self->pool);
    gst_clear_object (&self->pool);
  }
}

static gboolean
check_settings (GstPartialMix * self)
{
  GError *error = NULL;

  gst_partial_mix_database_reload (self->database, &self->lock, &error);
  if (error == NULL)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
      ("The Database cannot be read."), ("%s", error->message));
  g_error_free (error);
  return FALSE;
}

static GstStateChangeReturn
gst_partial_mix_change_state (GstElement * element, GstStateChange transition)
{
  GstPartialMix *self = GST_PARTIAL_MIX (element);
  GstStateChangeReturn ret;

  switch (transition) {
    case GST_STATE_CHANGE_NULL_TO_READY:
      if (!gst_partial_mix_rtpbin_connect (self))
        return GST_STATE_CHANGE_FAILURE;
      break;
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      if (!check_settings (self))
        return GST_STATE_CHANGE_FAILURE;
      open_pool (self);
      break;
    case GST_STATE_CHANGE_PAUSED_TO_PLAYING:
      start_mixing (self);
      break;
    default:
      break;
  }

  ret = GST_ELEMENT_CLASS (gst_partial_mix_parent_class)->change_state
      (element, transition);

  switch (transition) {
    case GST_STATE_CHANGE_READY_TO_PAUSED:
      /* mixes come by the clock */
      if (ret != GST_STATE_CHANGE_FAILURE)
        ret = GST_STATE_CHANGE_NO_PREROLL;
      break;
    case GST_STATE_CHANGE_PLAYING_TO_PAUSED:
      gst_fairmix_timer_pause (self->timer);
      GST_PARTIAL_MIX_LOCK (self);
      self->running = FALSE;
      GST_PARTIAL_MIX_UNLOCK (self);
      if (ret != GST_STATE_CHANGE_FAILURE)
        ret = GST_STATE_CHANGE_NO_PREROLL;
      break;
    case GST_STATE_CHANGE_PAUSED_TO_READY:
      close_all (self);
      break;
    case GST_STATE_CHANGE_READY_TO_NULL:
      gst_partial_mix_rtpbin_disconnect (self);
      break;
    default:
      break;
  }
  return ret;
}

/* ------------------------------------------------------------ properties -- */

static void
gst_partial_mix_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);

  GST_PARTIAL_MIX_LOCK (self);
  switch (id) {
    case PROP_RATE:
      self->rate_hz = (guint) g_value_get_int (value);
      self->warned_of_rate = FALSE;
      break;
    case PROP_FRAME_DURATION:
      self->frame_duration =
          gst_partial_mix_frame_duration (g_value_get_uint64 (value));
      break;
    case PROP_LATENCY:
      self->latency = g_value_get_uint64 (value);
      break;
    case PROP_RAMP_DURATION:
      self->ramp_duration = g_value_get_uint64 (value);
      break;
    case PROP_STREAM_TIMEOUT:
      self->stream_timeout = g_value_get_uint64 (value);
      break;
    case PROP_MAX_STREAMS:
      self->max_streams = g_value_get_uint (value);
      break;
    case PROP_MIX_ENCODING:
      self->mix_encoding = g_value_get_enum (value);
      break;
    case PROP_MIX_PT:
      self->mix_pt = g_value_get_uint (value);
      break;
    case PROP_MAX_MIX_BITRATE:
      self->max_mix_bitrate = g_value_get_uint (value);
      break;
    case PROP_MIN_MIX_BITRATE:
      self->min_mix_bitrate = g_value_get_uint (value);
      break;
    case PROP_COMPLEXITY:
      self->complexity = g_value_get_int (value);
      break;
    case PROP_SILENCE_LEVEL:
      self->silence_level = g_value_get_uint (value);
      break;
    case PROP_CSRC_LEVEL_EXT_ID:
      self->csrc_level_ext_id = g_value_get_uint (value);
      break;
    case PROP_HEADROOM:
      self->headroom = g_value_get_double (value);
      break;
    case PROP_THREADS:
      self->n_threads = g_value_get_uint (value);
      break;
    case PROP_DATABASE_LOCATION:
      gst_partial_mix_database_set_location (self->database,
          g_value_get_string (value));
      break;
    case PROP_RTPBIN:
      g_free (self->rtpbin_name);
      self->rtpbin_name = g_value_dup_string (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
gst_partial_mix_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_partial_mix_get_stats (self));
    return;
  }

  GST_PARTIAL_MIX_LOCK (self);
  switch (id) {
    case PROP_RATE:
      g_value_set_int (value, (gint) self->rate_hz);
      break;
    case PROP_FRAME_DURATION:
      g_value_set_uint64 (value, self->frame_duration);
      break;
    case PROP_LATENCY:
      g_value_set_uint64 (value, self->latency);
      break;
    case PROP_RAMP_DURATION:
      g_value_set_uint64 (value, self->ramp_duration);
      break;
    case PROP_STREAM_TIMEOUT:
      g_value_set_uint64 (value, self->stream_timeout);
      break;
    case PROP_MAX_STREAMS:
      g_value_set_uint (value, self->max_streams);
      break;
    case PROP_MIX_ENCODING:
      g_value_set_enum (value, self->mix_encoding);
      break;
    case PROP_MIX_PT:
      g_value_set_uint (value, self->mix_pt);
      break;
    case PROP_MAX_MIX_BITRATE:
      g_value_set_uint (value, self->max_mix_bitrate);
      break;
    case PROP_MIN_MIX_BITRATE:
      g_value_set_uint (value, self->min_mix_bitrate);
      break;
    case PROP_COMPLEXITY:
      g_value_set_int (value, self->complexity);
      break;
    case PROP_SILENCE_LEVEL:
      g_value_set_uint (value, self->silence_level);
      break;
    case PROP_CSRC_LEVEL_EXT_ID:
      g_value_set_uint (value, self->csrc_level_ext_id);
      break;
    case PROP_HEADROOM:
      g_value_set_double (value, self->headroom);
      break;
    case PROP_THREADS:
      g_value_set_uint (value, self->n_threads);
      break;
    case PROP_DATABASE_LOCATION:
      g_value_set_string (value,
          gst_partial_mix_database_get_location (self->database));
      break;
    case PROP_RTPBIN:
      g_value_set_string (value, self->rtpbin_name);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
gst_partial_mix_finalize (GObject * object)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);
  guint i;

  gst_fairmix_timer_free (self->timer);
  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    gst_partial_mix_cast_clear (&self->casts[i]);
  gst_partial_mix_cast_clear (&self->everybody);
  g_ptr_array_unref (self->heard);
  g_ptr_array_unref (self->heard_at);
  g_array_unref (self->contributors);
  g_hash_table_unref (self->bus_by_key);
  g_ptr_array_unref (self->buses);
  g_ptr_array_unref (self->frames);
  g_ptr_array_unref (self->released);
  g_ptr_array_unref (self->given_up);
  g_ptr_array_unref (self->streams);
  gst_fairmix_outbox_free (self->outbox);
  g_hash_table_unref (self->mix_ssrcs);
  g_hash_table_unref (self->cnames);
  g_list_free (self->sink_pads);
  g_list_free (self->src_pads);
  g_free (self->rtpbin_name);
  gst_partial_mix_database_free (self->database);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_partial_mix_parent_class)->finalize (object);
}

#define RW (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)
#define RW_READY (RW | GST_PARAM_MUTABLE_READY)
#define RW_PLAYING (RW | GST_PARAM_MUTABLE_PLAYING)

static void
install_time_properties (GObjectClass * klass)
{
  g_object_class_install_property (klass, PROP_RATE,
      g_param_spec_int ("rate", "Rate",
          "Sample rate of the mixing, in Hz: 8000, 12000, 16000, 24000 or "
          "48000 where Opus comes in or goes out; 8000 is cheapest for G.711",
          8000, 48000, DEFAULT_RATE, RW_READY));
  g_object_class_install_property (klass, PROP_FRAME_DURATION,
      g_param_spec_uint64 ("frame-duration", "Frame duration",
          "How much audio a packet of a mix holds, in nanoseconds "
          "(10, 20, 40 or 60 ms; what is between is cut)", 10 * GST_MSECOND,
          60 * GST_MSECOND, DEFAULT_FRAME_DURATION, RW_READY));
  g_object_class_install_property (klass, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "Latency",
          "How long a packet that is to be mixed may be late before the playout "
          "delay of its stream grows, in nanoseconds; forwarded packets never "
          "wait", 0, GST_SECOND, DEFAULT_LATENCY, RW_READY));
  g_object_class_install_property (klass, PROP_RAMP_DURATION,
      g_param_spec_uint64 ("ramp-duration", "Ramp duration",
          "In how much time a stream fades into and out of a mix, in "
          "nanoseconds; 0 splices sample to sample", 0, 10 * GST_MSECOND,
          DEFAULT_RAMP_DURATION, RW_READY));
  g_object_class_install_property (klass, PROP_STREAM_TIMEOUT,
      g_param_spec_uint64 ("stream-timeout", "Stream timeout",
          "A stream of which nothing came for so long has left, in nanoseconds "
          "(0 = never)", 0, G_MAXUINT64, DEFAULT_STREAM_TIMEOUT, RW_PLAYING));
  g_object_class_install_property (klass, PROP_MAX_STREAMS,
      g_param_spec_uint ("max-streams", "Maximum streams",
          "How many streams (SSRCs) may be there at a time; packets of further "
          "ones are refused, so that a flood of SSRCs finds bounded memory", 1,
          65535, DEFAULT_MAX_STREAMS, RW_PLAYING));
  g_object_class_install_property (klass, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
          "Threads that decode and encode (0 = one for each processor)", 0, 256,
          0, RW_READY));
}

static void
install_mix_properties (GObjectClass * klass)
{
  g_object_class_install_property (klass, PROP_MIX_ENCODING,
      g_param_spec_enum ("mix-encoding", "Mix encoding",
          "What mixes are sent as, where the neighbour takes it",
          GST_TYPE_PARTIAL_MIX_ENCODING, -1, RW_READY));
  g_object_class_install_property (klass, PROP_MIX_PT,
      g_param_spec_uint ("mix-pt", "Mix payload type",
          "RTP payload type of mixes (128 = that of the streams of the same "
          "encoding)", 0, 128, DEFAULT_MIX_PT, RW_READY));
  g_object_class_install_property (klass, PROP_MAX_MIX_BITRATE,
      g_param_spec_uint ("max-mix-bitrate", "Maximum mix bitrate",
          "Bitrate of the encoder of a mix where the target leaves room, in "
          "bits per second, without headers (Opus only)", 6000, 510000,
          DEFAULT_MAX_MIX_BITRATE, RW_PLAYING));
  g_object_class_install_property (klass, PROP_MIN_MIX_BITRATE,
      g_param_spec_uint ("min-mix-bitrate", "Minimum mix bitrate",
          "Bitrate of the encoder of a mix where the target leaves no room, in "
          "bits per second, without headers (Opus only)", 6000,
          510000, DEFAULT_MIN_MIX_BITRATE, RW_PLAYING));
  g_object_class_install_property (klass, PROP_COMPLEXITY,
      g_param_spec_int ("complexity", "Complexity",
          "Complexity of the Opus encoder: 0 cheap ... 10 best", 0, 10,
          DEFAULT_COMPLEXITY, RW_READY));
  g_object_class_install_property (klass, PROP_SILENCE_LEVEL,
      g_param_spec_uint ("silence-level", "Silence level",
          "From this level on a stream is silent: neither mixed nor encoded, nor "
          "decoded when its packets tell their level (RFC 6464); in -dBov, 0 "
          "loudest ... 127 digital silence", 1, 127, DEFAULT_SILENCE_LEVEL,
          RW_PLAYING));
  g_object_class_install_property (klass, PROP_CSRC_LEVEL_EXT_ID,
      g_param_spec_uint ("csrc-audio-level-id", "CSRC audio level id",
          "ID of the header extension with the contributors' levels (RFC 6465) "
          "in mixes (0 = none)", 0, 14, DEFAULT_CSRC_LEVEL_EXT_ID, RW_READY));
  g_object_class_install_property (klass, PROP_HEADROOM,
      g_param_spec_double ("headroom", "Headroom",
          "Share of the target that must stay free for one more stream to "
          "become separate, so that the selection does not flap", 0.0, 0.9,
          DEFAULT_HEADROOM, RW_PLAYING));
  g_object_class_install_property (klass, PROP_DATABASE_LOCATION,
      g_param_spec_string ("database-location", "Database location",
          "Key file with priority, group, never-mix, mute, gain-db and pan of "
          "the talkers, in sections [default], [cname:NAME], [ssrc:NUMBER]; "
          "read again when it changes", NULL, RW_PLAYING));
  g_object_class_install_property (klass, PROP_RTPBIN,
      g_param_spec_string ("rtpbin", "rtpbin",
          "Name of an rtpbin in the same pipeline: every stream that it shows "
          "comes in here, each linked before its first packet", NULL,
          RW_READY));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counters, streams and pads (application/x-fairmix-partialmix-stats)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_signals (GObjectClass * klass)
{
  /**
   * GstPartialMix::set-stream:
   * @ssrc: the stream
   * @values: fields `priority` (int), `group` (string), `never-mix`, `mute`
   *     (boolean), `gain-db`, `pan` (double); others stay as they are
   *
   * Says what the Database does not, or something else.
   */
  signals[SIGNAL_SET_STREAM] =
      g_signal_new_class_handler ("set-stream", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_partial_mix_set_stream), NULL, NULL, NULL, G_TYPE_NONE,
      2, G_TYPE_UINT, GST_TYPE_STRUCTURE);

  /**
   * GstPartialMix::remove-stream:
   * @ssrc: the stream
   *
   * The stream has left (BYE).
   */
  signals[SIGNAL_REMOVE_STREAM] =
      g_signal_new_class_handler ("remove-stream", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_partial_mix_remove_ssrc), NULL, NULL, NULL, G_TYPE_NONE,
      1, G_TYPE_UINT);
}

static void
gst_partial_mix_class_init (GstPartialMixClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_partial_mix_debug, "partialmix", 0,
      "partial mixer");

  object_class->set_property = gst_partial_mix_set_property;
  object_class->get_property = gst_partial_mix_get_property;
  object_class->finalize = gst_partial_mix_finalize;
  install_time_properties (object_class);
  install_mix_properties (object_class);
  install_signals (object_class);

  element_class->request_new_pad = gst_partial_mix_request_new_pad;
  element_class->release_pad = gst_partial_mix_release_pad;
  element_class->change_state = gst_partial_mix_change_state;
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &sink_template, GST_TYPE_PARTIAL_MIX_SINK_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &rtcp_template, GST_TYPE_PARTIAL_MIX_SINK_PAD);
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &src_template, GST_TYPE_PARTIAL_MIX_SRC_PAD);
  gst_element_class_set_static_metadata (element_class, "Partial mixer",
      "Filter/Network/RTP/Audio",
      "Forwards audio streams while the path has room, mixes as many as it must "
      "when it has not", "The gst-fairmix developers");

  gst_type_mark_as_plugin_api (GST_TYPE_PARTIAL_MIX_SINK_PAD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PARTIAL_MIX_SRC_PAD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_PARTIAL_MIX_ENCODING, 0);
}

static void
gst_partial_mix_init (GstPartialMix * self)
{
  guint i;

  gst_fairmix_lock_init (&self->lock, GST_PARTIAL_MIX_RANK_ELEMENT);
  self->rate_hz = DEFAULT_RATE;
  self->frame_duration = DEFAULT_FRAME_DURATION;
  self->latency = DEFAULT_LATENCY;
  self->ramp_duration = DEFAULT_RAMP_DURATION;
  self->stream_timeout = DEFAULT_STREAM_TIMEOUT;
  self->max_streams = DEFAULT_MAX_STREAMS;
  self->mix_encoding = -1;
  self->mix_pt = DEFAULT_MIX_PT;
  self->max_mix_bitrate = DEFAULT_MAX_MIX_BITRATE;
  self->min_mix_bitrate = DEFAULT_MIN_MIX_BITRATE;
  self->complexity = DEFAULT_COMPLEXITY;
  self->silence_level = DEFAULT_SILENCE_LEVEL;
  self->csrc_level_ext_id = DEFAULT_CSRC_LEVEL_EXT_ID;
  self->headroom = DEFAULT_HEADROOM;

  self->streams = g_ptr_array_new ();
  self->mix_ssrcs = g_hash_table_new (NULL, NULL);
  self->cnames = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->outbox = gst_fairmix_outbox_new ();
  self->database = gst_partial_mix_database_new ();
  self->released = g_ptr_array_new_with_free_func (gst_object_unref);
  self->given_up = g_ptr_array_new_with_free_func (gst_object_unref);
  self->eos_line = G_MAXINT64;

  self->frames = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_partial_mix_stream_unref);
  self->buses = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_partial_mix_bus_free);
  self->bus_by_key = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++)
    gst_partial_mix_cast_init (&self->casts[i]);
  gst_partial_mix_cast_init (&self->everybody);
  self->heard = g_ptr_array_new ();
  self->heard_at = g_ptr_array_new ();
  self->contributors = gst_partial_mix_contributors_new ();
  self->timer = gst_fairmix_timer_new ("partialmix", gst_partial_mix_tick,
      self);
}
