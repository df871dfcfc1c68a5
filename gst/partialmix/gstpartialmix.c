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
 * number of streams that it can take, from #GstPartialMixSrcPad:max-streams or a
 * `fairmix-max-streams` event {max-streams: uint}, its own selection and its own
 * mixes.
 *
 * Whom everybody or one listener hears, how loud and from where, is said in the
 * key file of #GstPartialMix:database-location or with the action signal
 * #GstPartialMix::set-stream.
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
 * `mix-bitrate`, `mix-encoding`, and the arrays of SSRCs `separate`, `mixed`,
 * `held`.
 * `fairmix-blocked` when what is behind a src pad is found to block, and when it
 * has not for long: `pad`, `neighbour`, `blocked`, `n-dropped`.
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
#include "gstpartialmixdebug.h"

#include "gst/common/gstfairmixpads.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* The pipeline has read its clock some time before we do. */
#define MAY_GO_BACK GST_SECOND

enum
{
  PROP_DATABASE_LOCATION = GST_PARTIAL_MIX_N_SETTINGS,
  PROP_RTPBIN,
  PROP_STATS,
  PROP_STREAM_STATS
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

G_DEFINE_TYPE_WITH_CODE (GstPartialMix, gst_partial_mix, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY,
        gst_fairmix_pads_child_proxy_init));
GST_ELEMENT_REGISTER_DEFINE (partialmix, "partialmix", GST_RANK_NONE,
    GST_TYPE_PARTIAL_MIX);

/* ------------------------------------------------------------------ time -- */

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

/* Returns: %NULL if there is one with that number, of which GStreamer does not know
 * before it is too late: sink_05 is sink_5, and two threads may ask for one name */
static GstPad *
make_pad (GstPartialMix * self, GType type, GstPadTemplate * templ,
    const gchar * prefix, guint index)
{
  gchar *name = g_strdup_printf ("%s%u", prefix, index);
  gboolean is_new;

  GST_PARTIAL_MIX_LOCK (self);
  is_new = !g_hash_table_contains (self->pad_names, name);
  if (is_new)
    g_hash_table_add (self->pad_names, name);
  GST_PARTIAL_MIX_UNLOCK (self);
  if (!is_new) {
    GST_WARNING_OBJECT (self, "there is a pad %s", name);
    g_free (name);
    return NULL;
  }
  return g_object_new (type, "name", name, "direction",
      GST_PAD_TEMPLATE_DIRECTION (templ), "template", templ, NULL);
}

static void
add_sink_pad (GstPartialMix * self, GstPad * pad)
{
  GST_PARTIAL_MIX_LOCK (self);
  self->sink_pads = g_list_append (self->sink_pads, pad);
  self->eos_mix_pos = G_MAXINT64;
  self->ended = FALSE;
  GST_PARTIAL_MIX_UNLOCK (self);
}

static GstPad *
new_sink_pad (GstPartialMix * self, GstPadTemplate * templ,
    const gchar * req_name)
{
  guint index = pad_number (self, req_name, "sink_", &self->next_sink);
  GstPad *pad = make_pad (self, GST_TYPE_PARTIAL_MIX_SINK_PAD, templ, "sink_",
      index);

  if (pad == NULL)
    return NULL;
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
  pad = make_pad (self, GST_TYPE_PARTIAL_MIX_SINK_PAD, templ, "rtcp_sink_",
      index);
  if (pad == NULL)
    return NULL;
  GST_PARTIAL_MIX_SINK_PAD (pad)->index = index;
  gst_pad_set_chain_function (pad, gst_partial_mix_rtcp_chain);
  gst_pad_set_event_function (pad, gst_partial_mix_rtcp_event);
  gst_pad_set_query_function (pad, gst_partial_mix_sink_query);
  add_sink_pad (self, pad);
  return pad;
}

static gpointer
hold (gconstpointer pad, gpointer user_data)
{
  return gst_object_ref ((gpointer) pad);
}

/* With the lock.  Returns: what was there before, to be given up without it */
static GPtrArray *
add_src_pad (GstPartialMix * self, GstPad * pad)
{
  GPtrArray *before = self->src_pads;

  self->src_pads = g_ptr_array_copy (before, hold, NULL);
  g_ptr_array_add (self->src_pads, gst_object_ref (pad));
  return before;
}

/* The same. */
static GPtrArray *
remove_src_pad (GstPartialMix * self, gpointer pad)
{
  GPtrArray *before = self->src_pads;

  self->src_pads = g_ptr_array_copy (before, hold, NULL);
  g_ptr_array_remove (self->src_pads, pad);
  return before;
}

static GstPad *
new_src_pad (GstPartialMix * self, GstPadTemplate * templ,
    const gchar * req_name)
{
  guint index = pad_number (self, req_name, "src_", &self->next_src);
  GstPad *pad = make_pad (self, GST_TYPE_PARTIAL_MIX_SRC_PAD, templ, "src_",
      index);
  GstPartialMixListener *listener;
  GPtrArray *before;

  if (pad == NULL)
    return NULL;
  listener = &GST_PARTIAL_MIX_SRC_PAD (pad)->listener;
  listener->index = index;
  gst_pad_set_event_function (pad, gst_partial_mix_src_event);
  gst_pad_set_query_function (pad, gst_partial_mix_src_query);
  gst_pad_set_link_function (pad, gst_partial_mix_src_linked);
  /* before anybody can push on it */
  gst_pad_set_active (pad, TRUE);

  GST_PARTIAL_MIX_LOCK (self);
  gst_partial_mix_src_pad_start (GST_PARTIAL_MIX_SRC_PAD (pad),
      &self->settings);
  before = add_src_pad (self, pad);
  g_ptr_array_add (self->listeners, listener);
  gst_partial_mix_look_up_listener (self, listener);
  g_atomic_int_set (&self->unasked, TRUE);
  GST_PARTIAL_MIX_UNLOCK (self);
  g_ptr_array_unref (before);
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
  if (GST_PAD_IS_SINK (pad))
    gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (element, pad);
  gst_child_proxy_child_added (GST_CHILD_PROXY (self), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  return pad;
}

/* with the lock; returns what remove_src_pad() does */
static GPtrArray *
forget_src_pad (GstPartialMix * self, GstPartialMixSrcPad * pad)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream == NULL)
      continue;
    stream->unsettled = TRUE;
    if (gst_partial_mix_listener_get_link (&pad->listener, stream)->handover.way
        == FMX_HANDOVER_MIXED)
      stream->n_mixed--;
  }
  g_ptr_array_remove (self->listeners, &pad->listener);
  pad->listener.gone = TRUE;
  /* the mixing thread may be using its mixes: it gives them up itself */
  if (self->started)
    g_ptr_array_add (self->released, gst_object_ref (pad));
  return remove_src_pad (self, pad);
}

/* with the lock: what was said by who had that pad, and has no other one, is over */
static void
forget_claims_of (GstPartialMix * self, GstPartialMixSinkPad * pad)
{
  gint neighbour = gst_partial_mix_sink_pad_get_neighbour (pad);
  GList *l;

  for (l = self->sink_pads; l != NULL; l = l->next)
    if (gst_partial_mix_sink_pad_get_neighbour (l->data) == neighbour)
      return;
  gst_partial_mix_claims_forget (self->claims, neighbour);
}

static void
gst_partial_mix_release_pad (GstElement * element, GstPad * pad)
{
  GstPartialMix *self = GST_PARTIAL_MIX (element);
  GPtrArray *before = NULL;
  GstPartialMixSinkPad *sink;
  gchar *name;

  gst_pad_set_active (pad, FALSE);
  GST_PARTIAL_MIX_LOCK (self);
  if (GST_PAD_IS_SINK (pad)) {
    sink = GST_PARTIAL_MIX_SINK_PAD (pad);
    gst_partial_mix_remove_pad_streams (self, pad, GST_PARTIAL_MIX_STREAM_PAD);
    self->sink_pads = g_list_remove (self->sink_pads, pad);
    forget_claims_of (self, sink);
    self->n_malformed_gone += sink->n_malformed;
    self->n_unknown_gone += sink->n_unknown;
    /* the others may have ended before.  Who gets the end may block, as long as it does
     * not play: that must not hold up the application */
    if (self->started && !sink->eos)
      gst_partial_mix_note_end (self);
  } else {
    before = forget_src_pad (self, GST_PARTIAL_MIX_SRC_PAD (pad));
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  g_clear_pointer (&before, g_ptr_array_unref);
  gst_partial_mix_post_messages (self);

  gst_child_proxy_child_removed (GST_CHILD_PROXY (self), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  name = gst_pad_get_name (pad);
  gst_element_remove_pad (element, pad);
  GST_PARTIAL_MIX_LOCK (self);
  g_hash_table_remove (self->pad_names, name);
  GST_PARTIAL_MIX_UNLOCK (self);
  g_free (name);
}

/* --------------------------------------------------------------- actions -- */

/* GstPartialMixIsThereFunc, with the lock */
static gboolean
is_there (gint listener, guint32 ssrc, gpointer user_data)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (user_data);
  gboolean listens = listener < 0;
  guint i;

  for (i = 0; !listens && i < self->listeners->len; i++)
    listens = gst_partial_mix_listener_get_neighbour (g_ptr_array_index
        (self->listeners, i)) == listener;
  return listens && gst_partial_mix_table_is_ssrc_used (&self->table, ssrc);
}

static void
gst_partial_mix_set_stream (GstPartialMix * self, guint ssrc,
    GstStructure * values)
{
  gchar *complaints;
  gboolean taken = TRUE;
  GstStructure *said = gst_partial_mix_database_read (values, &complaints);

  if (said != NULL) {
    GST_PARTIAL_MIX_LOCK (self);
    taken = gst_partial_mix_database_set (self->database, ssrc, said, is_there,
        self);
    gst_partial_mix_apply_database (self);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_structure_free (said);
  }
  if (!taken && complaints == NULL)
    complaints = g_strdup ("set-stream: of so many streams nothing is kept");
  gst_partial_mix_tell_complaints (self, complaints);
  gst_partial_mix_post_messages (self);
}

static void
gst_partial_mix_remove_ssrc (GstPartialMix * self, guint ssrc)
{
  guint i;

  GST_PARTIAL_MIX_LOCK (self);
  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream != NULL && stream->ssrc == ssrc)
      gst_partial_mix_remove_stream (self, stream,
          GST_PARTIAL_MIX_STREAM_ACTION);
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_post_messages (self);
}

/* ---------------------------------------------------------------- states -- */

/* with the lock */
static void
remove_all_streams (GstPartialMix * self, const gchar * reason)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++)
    if (gst_partial_mix_table_at (&self->table, i) != NULL)
      gst_partial_mix_remove_stream (self,
          gst_partial_mix_table_at (&self->table, i), reason);
}

/* with the lock: running time is less than it was, as after a flushing seek.  All that is
 * known has times that are still to come; and a mix that went on would go back. */
static void
begin_anew (GstPartialMix * self)
{
  guint i;

  remove_all_streams (self, GST_PARTIAL_MIX_STREAM_STARTED);
  for (i = 0; i < self->src_pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->src_pads, i);

    gst_partial_mix_listener_forget_rate (&pad->listener);
    g_ptr_array_add (self->released, gst_object_ref (pad));
  }
}

/* with the lock: what came while time stood still came @now, where that has moved on */
static void
note_arrivals (GstPartialMix * self, GstClockTime now)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (&self->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (&self->table, i);

    if (stream == NULL || stream->last_arrival < self->paused_at)
      continue;
    stream->last_arrival = MAX (stream->last_arrival, now);
    if (stream->identity.leaving)
      stream->identity.bye_at = MAX (stream->identity.bye_at, now);
  }
}

static void
start_mixing (GstPartialMix * self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT (self));
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT (self));
  GstClockTime now, first;
  guint n = gst_partial_mix_frame_samples (self);

  if (clock == NULL) {
    GST_ELEMENT_ERROR (self, CORE, CLOCK, (NULL),
        ("mixing needs the pipeline's clock"));
    return;
  }
  now = gst_partial_mix_running_time (self);

  GST_PARTIAL_MIX_LOCK (self);
  if (now + MAY_GO_BACK < self->paused_at)
    begin_anew (self);
  note_arrivals (self, now);
  self->base_time = base;
  self->mix_pos =
      (gint64) gst_util_uint64_scale_int (now, (gint) self->settings.rate_hz,
      GST_SECOND) / n * n + n;
  /* a tick from before a pause may still be at work, and move mix_pos */
  first =
      base + gst_partial_mix_samples_to_time (self, (guint64) self->mix_pos);
  self->running = TRUE;
  self->selections_left = GST_PARTIAL_MIX_SELECTIONS_PER_TICK;
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_fairmix_timer_start (self->timer, clock, first, FALSE);
  gst_object_unref (clock);
}

static void
pause_mixing (GstPartialMix * self)
{
  GstClockTime now;

  gst_fairmix_timer_pause (self->timer);
  now = gst_partial_mix_lock_now (self);
  self->paused_at = now;
  self->running = FALSE;
  GST_PARTIAL_MIX_UNLOCK (self);
}

/* What is set from here on, and is not for PLAYING, waits for the next time. */
static void
start (GstPartialMix * self)
{
  guint i;

  GST_PARTIAL_MIX_LOCK (self);
  /* what was pushed on pads of an element that does not run yet has the sizes
   * of then */
  remove_all_streams (self, GST_PARTIAL_MIX_STREAM_STARTED);
  self->settings = self->wanted;
  self->warned_of_rate = FALSE;
  self->started = TRUE;
  self->paused_at = 0;
  self->mix_pos = 0;
  for (i = 0; i < self->src_pads->len; i++)
    gst_partial_mix_src_pad_start (g_ptr_array_index (self->src_pads, i),
        &self->settings);
  g_atomic_int_set (&self->unasked, TRUE);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_couriers_start (self->couriers, self->settings.push_timeout);
  gst_partial_mix_mixer_start (&self->mixer, &self->settings,
      gst_partial_mix_playout_delay (self));
}

static void
close_all (GstPartialMix * self)
{
  GPtrArray *released;
  GList *l;
  guint i;

  gst_fairmix_timer_stop (self->timer);
  gst_partial_mix_couriers_stop (self->couriers);
  GST_PARTIAL_MIX_LOCK (self);
  remove_all_streams (self, GST_PARTIAL_MIX_STREAM_STOPPED);
  for (i = 0; i < self->src_pads->len; i++) {
    GstPartialMixSrcPad *pad = g_ptr_array_index (self->src_pads, i);

    gst_partial_mix_mixer_release (&self->mixer, &pad->listener, &self->table);
    gst_partial_mix_listener_forget (&pad->listener);
    gst_partial_mix_src_pad_start (pad, &self->wanted);
  }
  for (l = self->sink_pads; l != NULL; l = l->next)
    GST_PARTIAL_MIX_SINK_PAD (l->data)->eos = FALSE;
  released = g_steal_pointer (&self->released);
  self->released = g_ptr_array_new_with_free_func (gst_object_unref);
  gst_partial_mix_table_restart (&self->table);
  gst_partial_mix_claims_clear (self->claims);
  self->settings = self->wanted;
  self->started = FALSE;
  self->eos_mix_pos = G_MAXINT64;
  self->ended = FALSE;
  self->tick = 0;
  self->seconds_to_itself = 0;
  g_atomic_int_set (&self->unasked, TRUE);
  gst_fairmix_outbox_clear (self->outbox);
  GST_PARTIAL_MIX_UNLOCK (self);
  gst_partial_mix_mixer_stop (&self->mixer);
  g_ptr_array_unref (released);
}

static gboolean
check_settings (GstPartialMix * self)
{
  gchar *complaints;
  GError *error = NULL;

  gst_partial_mix_database_reload (self->database, &self->lock, &complaints,
      &error);
  gst_partial_mix_tell_complaints (self, complaints);
  gst_partial_mix_post_messages (self);
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
      start (self);
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
      pause_mixing (self);
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

/* What is made by a setting as long as the element runs keeps its size: the
 * others wait for the next start. */
static void
gst_partial_mix_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);

  GST_PARTIAL_MIX_LOCK (self);
  if (gst_partial_mix_settings_set (&self->wanted, id, value)) {
    if (!self->started || (pspec->flags & GST_PARAM_MUTABLE_PLAYING))
      gst_partial_mix_settings_set (&self->settings, id, value);
  } else if (id == PROP_DATABASE_LOCATION) {
    gst_partial_mix_database_set_location (self->database,
        g_value_get_string (value));
  } else if (id == PROP_RTPBIN) {
    g_free (self->rtpbin_name);
    self->rtpbin_name = g_value_dup_string (value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
gst_partial_mix_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_partial_mix_create_stats (self));
    return;
  }
  if (id == PROP_STREAM_STATS) {
    g_value_take_boxed (value, gst_partial_mix_create_stream_stats (self));
    return;
  }
  GST_PARTIAL_MIX_LOCK (self);
  if (id == PROP_DATABASE_LOCATION)
    g_value_set_string (value,
        gst_partial_mix_database_get_location (self->database));
  else if (id == PROP_RTPBIN)
    g_value_set_string (value, self->rtpbin_name);
  else if (!gst_partial_mix_settings_get (&self->wanted, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_PARTIAL_MIX_UNLOCK (self);
}

static void
gst_partial_mix_finalize (GObject * object)
{
  GstPartialMix *self = GST_PARTIAL_MIX (object);

  gst_fairmix_timer_free (self->timer);
  gst_partial_mix_couriers_free (self->couriers);
  gst_partial_mix_mixer_clear (&self->mixer);
  g_ptr_array_unref (self->released);
  g_ptr_array_unref (self->given_up);
  gst_partial_mix_table_clear (&self->table);
  gst_fairmix_outbox_free (self->outbox);
  gst_partial_mix_claims_free (self->claims);
  g_hash_table_unref (self->pad_names);
  g_list_free (self->sink_pads);
  g_ptr_array_unref (self->src_pads);
  g_ptr_array_unref (self->listeners);
  g_free (self->rtpbin_name);
  gst_partial_mix_database_free (self->database);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_partial_mix_parent_class)->finalize (object);
}

#define RW (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)

static void
install_properties (GObjectClass * klass)
{
  gst_partial_mix_settings_install (klass);
  g_object_class_install_property (klass, PROP_DATABASE_LOCATION,
      g_param_spec_string ("database-location", "Database location",
          "Key file with priority, group, never-mix, mute, gain-db and pan of "
          "the talkers, in sections [default], [cname:NAME], [ssrc:NUMBER], and "
          "[neighbour NUMBER/...] of each for what one neighbour hears; "
          "read again when it changes; lines that say nothing are warned of",
          NULL, RW | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_RTPBIN,
      g_param_spec_string ("rtpbin", "rtpbin",
          "Name of an rtpbin in the same pipeline: every stream that it shows "
          "comes in here, each linked before its first packet", NULL,
          RW | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Counters, streams and pads (application/x-fairmix-partialmix-stats)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  g_object_class_install_property (klass, PROP_STREAM_STATS,
      g_param_spec_boxed ("stream-stats", "Stream statistics",
          "The streams of the statistics alone, which costs little however many "
          "listen (application/x-fairmix-partialmix-streams)",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_signals (GObjectClass * klass)
{
  /**
   * GstPartialMix::set-stream:
   * @ssrc: the stream
   * @values: fields `priority` (int), `group` (string), `never-mix`, `mute`
   *     (boolean), `gain-db`, `pan` (double); others stay as they are.  With
   *     `neighbour` (int), for that listener alone
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
push (GstPartialMixDoor * door, GstCaps * caps, GstMiniObject * data)
{
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD_CAST (door->owner);

  gst_partial_mix_push (GST_PAD_CAST (pad), &pad->flow, caps, data);
}

/* with the couriers' lock */
static void
tell_slow (gpointer data, GstPartialMixDoor * door, gboolean slow,
    guint64 n_dropped)
{
  GstPartialMix *self = data;
  GstPartialMixSrcPad *pad = GST_PARTIAL_MIX_SRC_PAD_CAST (door->owner);

  gst_fairmix_outbox_add (self->outbox, gst_message_new_element (GST_OBJECT
          (self), gst_structure_new ("fairmix-blocked",
              "pad", G_TYPE_STRING, GST_PAD_NAME (pad),
              "neighbour", G_TYPE_INT,
              gst_partial_mix_listener_get_neighbour (&pad->listener),
              "blocked", G_TYPE_BOOLEAN, slow,
              "n-dropped", G_TYPE_UINT64, n_dropped, NULL)));
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
  install_properties (object_class);
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
}

static void
gst_partial_mix_init (GstPartialMix * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  gst_partial_mix_settings_init (&self->wanted);
  self->settings = self->wanted;

  self->pad_names =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  self->src_pads = g_ptr_array_new_with_free_func (gst_object_unref);
  self->listeners = g_ptr_array_new ();
  gst_partial_mix_table_init (&self->table);
  gst_partial_mix_mixer_init (&self->mixer);
  self->claims = gst_partial_mix_claims_new ();
  self->outbox = gst_fairmix_outbox_new ();
  self->database = gst_partial_mix_database_new ();
  self->released = g_ptr_array_new_with_free_func (gst_object_unref);
  self->given_up = g_ptr_array_new_with_free_func (gst_object_unref);
  self->eos_mix_pos = G_MAXINT64;
  self->couriers = gst_partial_mix_couriers_new (push, tell_slow, self);
  self->timer = gst_fairmix_timer_new ("partialmix", gst_partial_mix_tick,
      self);
}
