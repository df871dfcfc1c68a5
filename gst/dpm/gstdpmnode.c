/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmnode.h"

#include <string.h>

#include "gstdpmcrypto.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixpads.h"

GST_DEBUG_CATEGORY_STATIC (gst_dpm_node_debug);
#define GST_CAT_DEFAULT gst_dpm_node_debug

#define DEFAULT_ADDRESS NULL
#define DEFAULT_PORT 0
#define DEFAULT_SECRET NULL
#define DEFAULT_BITRATE 32000
#define DEFAULT_MUTE FALSE
#define DEFAULT_LATENCY (20 * GST_MSECOND)
#define DEFAULT_DATABASE_LOCATION NULL
#define DEFAULT_VOICE_LEVEL 0
#define DEFAULT_ALIGN FALSE
#define DEFAULT_ECN FALSE

#define NAMES_TICKS 10          /* names are said again every two seconds */

enum
{
  PROP_0,
  PROP_ADDRESS,
  PROP_PORT,
  PROP_SECRET,
  PROP_BITRATE,
  PROP_MUTE,
  PROP_LATENCY,
  PROP_DATABASE_LOCATION,
  PROP_VOICE_LEVEL,
  PROP_ALIGN,
  PROP_ECN,
  PROP_STATS,
  N_PROPERTIES
};

typedef struct
{
  /* with the object lock */
  gchar *address;
  guint port_number;
  FmxJoinSecret secret;
  gboolean secret_is_too_long;
  guint bitrate;
  gboolean mute;
  gboolean ecn;

  /* from init to the end */
  GstDpmGraph graph;
  gboolean complete;

  /* with the lock; changed in state changes only */
  GstFairmixLock lock;
  GstDpmPort *port;
  GstDpmRoster *roster;
  guint n_ticks;
  gboolean knows_uplink;        /* something was told of it since the start */

  /* with the object lock: our own voice and ears */
  gboolean has_voice, has_ears; /* or is getting them, or giving them up */
  GstPad *voice_pad, *ears_pad, *ears_mixer_pad;
  GstDpmVoice voice;
  GPtrArray *voice_elements, *ears_elements;
} GstDpmNodePrivate;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("audio/x-raw"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS ("audio/x-raw"));

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_ABSTRACT_TYPE_WITH_CODE (GstDpmNode, gst_dpm_node, GST_TYPE_BIN,
    G_ADD_PRIVATE (GstDpmNode);
    GST_DEBUG_CATEGORY_INIT (gst_dpm_node_debug, "dpm", 0,
        "what dpmclient and dpmmixer have in common"));

#define PRIVATE(self) ((GstDpmNodePrivate *) \
    gst_dpm_node_get_instance_private (GST_DPM_NODE (self)))

GstDpmGraph *
gst_dpm_node_get_graph (GstDpmNode * self)
{
  return &PRIVATE (self)->graph;
}

GstDpmPort *
gst_dpm_node_get_port (GstDpmNode * self)
{
  return PRIVATE (self)->port;
}

GstDpmRoster *
gst_dpm_node_get_roster (GstDpmNode * self)
{
  return PRIVATE (self)->roster;
}

gboolean
gst_dpm_node_get_voice (GstDpmNode * self, GstDpmVoice * voice)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = priv->voice_pad != NULL;
  if (has)
    gst_dpm_voice_ref (&priv->voice, voice);
  GST_OBJECT_UNLOCK (self);
  return has;
}

gboolean
gst_dpm_node_has (GstDpmNode * self, GstPadDirection direction)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = (direction == GST_PAD_SINK ? priv->voice_pad : priv->ears_pad) != NULL;
  GST_OBJECT_UNLOCK (self);
  return has;
}

guint
gst_dpm_node_get_bitrate (GstDpmNode * self)
{
  guint bitrate;

  GST_OBJECT_LOCK (self);
  bitrate = PRIVATE (self)->bitrate;
  GST_OBJECT_UNLOCK (self);
  return bitrate;
}

void
gst_dpm_node_set_ends (GstDpmNode * self, gboolean ends)
{
  gst_dpm_sink_set_ends (PRIVATE (self)->graph.sink, ends);
  /* a bin takes that from its elements when they are added, and not later */
  gst_fairmix_element_set_flag (GST_ELEMENT (self), GST_ELEMENT_FLAG_SINK,
      FALSE);
}

guint
gst_dpm_node_get_join_flags (GstDpmNode * self)
{
  gboolean aligns = FALSE;

  if (PRIVATE (self)->complete)
    g_object_get (PRIVATE (self)->graph.mixer, "align", &aligns, NULL);
  return FMX_JOIN_MAY_MOVE | (aligns ? FMX_JOIN_ALIGNS : 0);
}

void
gst_dpm_node_get_secret (GstDpmNode * self, FmxJoinSecret * secret)
{
  GST_OBJECT_LOCK (self);
  *secret = PRIVATE (self)->secret;
  GST_OBJECT_UNLOCK (self);
}

void
gst_dpm_node_tell (GstDpmNode * self, GstStructure * structure)
{
  GST_INFO_OBJECT (self, "%" GST_PTR_FORMAT, structure);
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self), structure));
}

void
gst_dpm_node_kick (GstDpmNode * self, guint neighbour)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  gst_fairmix_lock_acquire (&priv->lock);
  if (priv->port != NULL)
    gst_dpm_port_kick (priv->port, neighbour);
  gst_fairmix_lock_release (&priv->lock);
}

void
gst_dpm_node_ask (GstDpmNode * self, guint neighbour, gboolean begin)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  gst_fairmix_lock_acquire (&priv->lock);
  if (priv->port != NULL)
    gst_dpm_port_ask (priv->port, neighbour, begin);
  gst_fairmix_lock_release (&priv->lock);
}

void
gst_dpm_node_move (GstDpmNode * self, guint neighbour, guint mixer)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  gst_fairmix_lock_acquire (&priv->lock);
  if (priv->port != NULL)
    gst_dpm_port_move (priv->port, neighbour, mixer);
  gst_fairmix_lock_release (&priv->lock);
}

/* --- what the port tells ------------------------------------------------- */

static void
on_joined (gpointer user, GstDpmPeer * peer)
{
  GST_DPM_NODE_GET_CLASS (user)->joined (user, peer);
}

static void
on_left (gpointer user, GstDpmPeer * peer, FmxJoinReason reason)
{
  GST_DPM_NODE_GET_CLASS (user)->left (user, peer, reason);
}

static void
on_refused (gpointer user, const gchar * address, FmxJoinReason reason)
{
  gst_dpm_node_tell (user, gst_structure_new ("dpm-neighbour",
          "event", G_TYPE_STRING, "refused",
          "reason", G_TYPE_STRING, fmx_join_reason_name (reason),
          "address", G_TYPE_STRING, address, NULL));
}

/* Once, for who mistypes a name and reads no element messages */
static void
warn_of_silence (GstDpmNode * self, FmxJoinClientEvent event)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  if (event == FMX_JOIN_CLIENT_SILENT && !priv->knows_uplink)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND,
        ("No mixer answers there; it is tried until one does."),
        ("Is it up, is its UDP port let through, is its name right?"));
  priv->knows_uplink = TRUE;
}

static void
on_uplink (gpointer user, FmxJoinClientEvent event, FmxJoinReason reason,
    gboolean last)
{
  static const gchar *const names[] = { "nothing", "joined", "refused", "left",
    "no-answer", "root"
  };
  FmxJoinSecret secret;

  gst_dpm_node_get_secret (user, &secret);
  gst_dpm_node_tell (user, gst_structure_new ("dpm-session",
          "event", G_TYPE_STRING, names[event],
          "reason", G_TYPE_STRING, fmx_join_reason_name (reason),
          "open", G_TYPE_BOOLEAN, secret.size == 0, NULL));
  gst_dpm_crypto_wipe (&secret, sizeof secret);
  warn_of_silence (user, event);
  GST_DPM_NODE_GET_CLASS (user)->uplink (user, event, reason, last);
}

static void
on_mixes (gpointer user, GstDpmPeer * peer, const FmxJoinMixing * mixing)
{
  if (GST_DPM_NODE_GET_CLASS (user)->mixes != NULL)
    GST_DPM_NODE_GET_CLASS (user)->mixes (user, peer, mixing);
}

static GstFlowReturn
on_received (gpointer user, GstPad * pad, GstBuffer * buffer)
{
  return gst_dpm_source_push (PRIVATE (user)->graph.source, pad, buffer);
}

static void
on_tick (gpointer user, FmxTime now)
{
  GstDpmNodePrivate *priv = PRIVATE (user);
  GstStructure *stats;
  gboolean news, again;

  g_object_get (priv->graph.mixer, "stream-stats", &stats, NULL);
  news = gst_dpm_roster_update (priv->roster, stats, (gint64) (now / 1000));
  gst_structure_free (stats);
  again = ++priv->n_ticks % NAMES_TICKS == 0;
  if (GST_DPM_NODE_GET_CLASS (user)->names != NULL && news)
    GST_DPM_NODE_GET_CLASS (user)->names (user, TRUE);
  if (GST_DPM_NODE_GET_CLASS (user)->names != NULL && again)
    GST_DPM_NODE_GET_CLASS (user)->names (user, FALSE);
  if (GST_DPM_NODE_GET_CLASS (user)->tick != NULL)
    GST_DPM_NODE_GET_CLASS (user)->tick (user, now);
}

static const GstDpmPortCallbacks callbacks = {
  on_joined, on_left, on_refused, on_uplink, on_mixes, on_received, on_tick
};

/* --- states -------------------------------------------------------------- */

/* The encoder was made when the pad was asked for, and has had a rate of its path since. */
static void
apply_bitrate (GstDpmNode * self)
{
  GstDpmVoice voice;

  if (!gst_dpm_node_get_voice (self, &voice))
    return;
  g_object_set (voice.encoder, "bitrate",
      (gint) gst_dpm_node_get_bitrate (self), NULL);
  gst_dpm_voice_unref (&voice);
}

static gboolean
start (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GstDpmPort *port = gst_dpm_port_new (&callbacks, self);
  GError *error = NULL;
  gboolean opened, too_long;

  GST_OBJECT_LOCK (self);
  too_long = priv->secret_is_too_long;
  GST_OBJECT_UNLOCK (self);
  if (too_long)                 /* and without one it would be an open room */
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("The secret is longer than %u bytes.", FMX_JOIN_MAX_SECRET_BYTES),
        (NULL));
  apply_bitrate (self);
  if (too_long || !GST_DPM_NODE_GET_CLASS (self)->setup (self, port)) {
    gst_dpm_port_free (port);
    return FALSE;
  }
  GST_OBJECT_LOCK (self);
  opened = gst_dpm_port_open (port, priv->address, priv->port_number, &error);
  if (opened && priv->ecn && !gst_dpm_port_set_ect (port))
    GST_WARNING_OBJECT (self, "this system sends no ECN");
  GST_OBJECT_UNLOCK (self);
  if (!opened) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_READ,
        ("The UDP port cannot be opened: %s.", error->message), (NULL));
    g_error_free (error);
    GST_DPM_NODE_GET_CLASS (self)->teardown (self);
    gst_dpm_port_free (port);
    return FALSE;
  }
  gst_fairmix_lock_acquire (&priv->lock);
  priv->port = port;
  priv->knows_uplink = FALSE;
  priv->roster = gst_dpm_roster_new (GST_ELEMENT (self));
  gst_fairmix_lock_release (&priv->lock);
  gst_dpm_sink_set_port (priv->graph.sink, port);
  return TRUE;
}

static void
stop (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GstDpmRoster *roster;
  GstDpmPort *port;

  /* from here on nobody reads its statistics */
  gst_fairmix_lock_acquire (&priv->lock);
  port = priv->port;
  roster = priv->roster;
  priv->port = NULL;
  priv->roster = NULL;
  gst_fairmix_lock_release (&priv->lock);
  gst_dpm_port_stop (port);
  GST_DPM_NODE_GET_CLASS (self)->teardown (self);
  gst_dpm_sink_set_port (priv->graph.sink, NULL);
  gst_dpm_port_free (port);
  gst_dpm_roster_free (roster);
}

static GstStateChangeReturn
gst_dpm_node_change_state (GstElement * element, GstStateChange transition)
{
  GstDpmNode *self = GST_DPM_NODE (element);
  GstDpmNodePrivate *priv = PRIVATE (self);
  GstStateChangeReturn ret;

  if (!priv->complete) {
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN,
        ("The element \"partialmix\" is missing."), (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start (self))
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY && priv->port != NULL) {
    gst_dpm_port_drain (priv->port);
    gst_dpm_port_stop_telling (priv->port);
  }

  ret = GST_ELEMENT_CLASS (gst_dpm_node_parent_class)->change_state (element,
      transition);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    if (ret == GST_STATE_CHANGE_FAILURE)
      stop (self);
    else
      gst_dpm_port_start (priv->port);
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY && priv->port != NULL)
    stop (self);
  return ret;
}

/* That somebody is alone, and so hears nobody, is no trouble in a meeting. */
static gboolean
is_of_one_alone (GstDpmNode * self, GstMessage * message)
{
  GError *error = NULL;
  gboolean alone;

  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING
      || GST_MESSAGE_SRC (message) != GST_OBJECT (PRIVATE (self)->graph.mixer))
    return FALSE;
  gst_message_parse_warning (message, &error, NULL);
  alone = g_error_matches (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED);
  GST_INFO_OBJECT (self, "%s", error->message);
  g_error_free (error);
  return alone;
}

static void
gst_dpm_node_handle_message (GstBin * bin, GstMessage * message)
{
  if (is_of_one_alone (GST_DPM_NODE (bin), message))
    gst_message_unref (message);
  else
    GST_BIN_CLASS (gst_dpm_node_parent_class)->handle_message (bin, message);
}

/* --- our own voice and ears ---------------------------------------------- */

static GstPad *
ghost_new (GstElement * element, const gchar * pad,
    GstStaticPadTemplate * static_template)
{
  GstPadTemplate *template = gst_static_pad_template_get (static_template);
  GstPad *ghost = gst_dpm_graph_expose (element, pad, template,
      template->name_template);

  gst_object_unref (template);
  return ghost;
}

/* Whatever several threads do at a time, what was said last is done last. */
static void
apply_mute (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GstElement *volume;
  gboolean mute = FALSE, again = FALSE, done = FALSE;

  while (!done) {
    GST_OBJECT_LOCK (self);
    done = priv->voice.volume == NULL || (again && mute == priv->mute);
    mute = priv->mute;
    volume = done ? NULL : gst_object_ref (priv->voice.volume);
    GST_OBJECT_UNLOCK (self);
    if (volume != NULL)
      g_object_set (volume, "mute", mute, NULL);
    gst_clear_object (&volume);
    again = TRUE;
  }
}

static GstPad *
request_voice (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstDpmVoice voice;
  gboolean good = gst_dpm_voice_init (&voice, &priv->graph,
      gst_dpm_node_get_bitrate (self), elements)
      && GST_DPM_NODE_GET_CLASS (self)->voice (self, &voice);
  GstPad *pad;

  if (!good) {
    gst_dpm_graph_remove (&priv->graph, elements);
    return NULL;
  }
  pad = ghost_new (voice.first, "sink", &sink_template);
  GST_OBJECT_LOCK (self);
  priv->voice = voice;
  priv->voice_pad = pad;
  priv->voice_elements = elements;
  GST_OBJECT_UNLOCK (self);
  apply_mute (self);
  gst_dpm_graph_start (elements);
  return pad;
}

static GstPad *
request_ears (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstElement *last = NULL;
  GstElement *first = gst_dpm_graph_make_player (&priv->graph, &last, elements);
  GstPad *pad, *sink, *mixer_pad;

  if (first == NULL) {
    gst_dpm_graph_remove (&priv->graph, elements);
    return NULL;
  }
  pad = ghost_new (last, "src", &src_template);
  gst_dpm_graph_start (elements);
  mixer_pad = gst_element_request_pad_simple (priv->graph.mixer,
      "src_" G_STRINGIFY (GST_DPM_LOCAL));
  sink = gst_element_get_static_pad (first, "sink");
  gst_pad_link (mixer_pad, sink);
  gst_object_unref (sink);
  GST_OBJECT_LOCK (self);
  priv->ears_pad = pad;
  priv->ears_elements = elements;
  priv->ears_mixer_pad = mixer_pad;
  GST_OBJECT_UNLOCK (self);
  return pad;
}

/* Returns: whether it was @before, and is the other thing now */
static gboolean
change_from (GstDpmNode * self, gboolean * what, gboolean before)
{
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = *what == before;
  *what = !before;
  GST_OBJECT_UNLOCK (self);
  return changed;
}

static GstPad *
gst_dpm_node_request_new_pad (GstElement * element, GstPadTemplate * template,
    const gchar * name, const GstCaps * caps)
{
  GstDpmNode *self = GST_DPM_NODE (element);
  GstDpmNodePrivate *priv = PRIVATE (self);
  gboolean is_voice = GST_PAD_TEMPLATE_DIRECTION (template) == GST_PAD_SINK;
  gboolean *has = is_voice ? &priv->has_voice : &priv->has_ears;
  GstPad *pad;

  if (!priv->complete || !change_from (self, has, FALSE))
    return NULL;
  pad = is_voice ? request_voice (self) : request_ears (self);
  if (pad != NULL)
    gst_element_add_pad (element, pad);
  else
    change_from (self, has, TRUE);
  return pad;
}

static void
gst_dpm_node_release_pad (GstElement * element, GstPad * pad)
{
  GstDpmNode *self = GST_DPM_NODE (element);
  GstDpmNodePrivate *priv = PRIVATE (self);
  gboolean is_voice = GST_PAD_IS_SINK (pad);
  GPtrArray *elements = NULL;
  GstPad *mixer_pad = NULL;

  gst_pad_set_active (pad, FALSE);
  GST_OBJECT_LOCK (self);
  if (pad == priv->voice_pad) {
    elements = g_steal_pointer (&priv->voice_elements);
    memset (&priv->voice, 0, sizeof priv->voice);
    priv->voice_pad = NULL;
  } else if (pad == priv->ears_pad) {
    elements = g_steal_pointer (&priv->ears_elements);
    mixer_pad = g_steal_pointer (&priv->ears_mixer_pad);
    priv->ears_pad = NULL;
  }
  GST_OBJECT_UNLOCK (self);
  if (elements != NULL && is_voice)
    GST_DPM_NODE_GET_CLASS (self)->voice (self, NULL);
  if (mixer_pad != NULL)
    gst_element_release_request_pad (priv->graph.mixer, mixer_pad);
  gst_clear_object (&mixer_pad);
  gst_element_remove_pad (element, pad);
  if (elements == NULL)
    return;
  gst_dpm_graph_remove (&priv->graph, elements);
  change_from (self, is_voice ? &priv->has_voice : &priv->has_ears, TRUE);
}

/* What is mixed ends with all who talk.  Where there is nobody, or somebody comes
 * afterwards, it would not, and who hears it would wait. */
static void
end_ears (GstDpmNode * self, GstEvent * event)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  GstPad *pad = NULL;

  GST_OBJECT_LOCK (self);
  if (priv->ears_mixer_pad != NULL)
    pad = gst_object_ref (priv->ears_mixer_pad);
  GST_OBJECT_UNLOCK (self);
  if (pad != NULL)
    gst_pad_push_event (pad, gst_event_ref (event));
  gst_clear_object (&pad);
}

/* Who has no pads here that the end could pass ends as a sink does, or a pipeline of a
 * mixer alone would wait for ever. */
static void
end_without_ears (GstDpmNode * self, GstEvent * event)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  gboolean runs;

  gst_fairmix_lock_acquire (&priv->lock);
  runs = priv->port != NULL;
  gst_fairmix_lock_release (&priv->lock);
  if (runs && !gst_dpm_node_has (self, GST_PAD_SRC)
      && gst_fairmix_element_set_flag (GST_ELEMENT (self),
          GST_ELEMENT_FLAG_SINK, TRUE)) {
    GstMessage *message = gst_message_new_eos (GST_OBJECT (self));

    gst_message_set_seqnum (message, gst_event_get_seqnum (event));
    gst_element_post_message (GST_ELEMENT (self), message);
  }
}

static gboolean
gst_dpm_node_send_event (GstElement * element, GstEvent * event)
{
  gboolean done;

  gst_event_ref (event);
  done = GST_ELEMENT_CLASS (gst_dpm_node_parent_class)->send_event (element,
      event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    end_ears (GST_DPM_NODE (element), event);
    end_without_ears (GST_DPM_NODE (element), event);
  }
  gst_event_unref (event);
  return done;
}

/* --- properties ---------------------------------------------------------- */

static void
set_secret (GstDpmNode * self, const gchar * text)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  priv->secret_is_too_long = !fmx_join_secret_set (&priv->secret, text,
      text != NULL ? strlen (text) : 0);
}

/* Whether the partialmix inside has the same. */
static gboolean
is_mixers (guint id)
{
  return id == PROP_LATENCY || id == PROP_DATABASE_LOCATION
      || id == PROP_VOICE_LEVEL || id == PROP_ALIGN;
}

static void
gst_dpm_node_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstDpmNodePrivate *priv = PRIVATE (object);

  if (is_mixers (id)) {
    if (priv->complete)
      g_object_set_property (G_OBJECT (priv->graph.mixer), pspec->name, value);
    return;
  }
  GST_OBJECT_LOCK (object);
  switch (id) {
    case PROP_ADDRESS:
      g_free (priv->address);
      priv->address = g_value_dup_string (value);
      break;
    case PROP_PORT:
      priv->port_number = g_value_get_uint (value);
      break;
    case PROP_SECRET:
      set_secret (GST_DPM_NODE (object), g_value_get_string (value));
      break;
    case PROP_BITRATE:
      priv->bitrate = g_value_get_uint (value);
      break;
    case PROP_MUTE:
      priv->mute = g_value_get_boolean (value);
      break;
    case PROP_ECN:
      priv->ecn = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (object);
  if (id == PROP_MUTE)
    apply_mute (GST_DPM_NODE (object));
}

static GstStructure *
stats_new (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);
  gchar *name = g_strdup_printf ("application/x-fairmix-%s-stats",
      GST_OBJECT_NAME (gst_element_get_factory (GST_ELEMENT (self))));
  GstStructure *stats = gst_structure_new_empty (name);
  GstStructure *mixer = NULL;

  g_free (name);
  gst_fairmix_lock_acquire (&priv->lock);
  if (priv->port != NULL) {
    gst_structure_set (stats, "port", G_TYPE_UINT,
        gst_dpm_port_get_number (priv->port), NULL);
    gst_dpm_port_add_stats (priv->port, stats);
  }
  gst_fairmix_lock_release (&priv->lock);
  if (GST_DPM_NODE_GET_CLASS (self)->add_stats != NULL)
    GST_DPM_NODE_GET_CLASS (self)->add_stats (self, stats);
  if (priv->complete)
    g_object_get (priv->graph.mixer, "stats", &mixer, NULL);
  if (mixer != NULL) {
    gst_structure_set (stats, "mixer", GST_TYPE_STRUCTURE, mixer, NULL);
    gst_structure_free (mixer);
  }
  return stats;
}

static void
gst_dpm_node_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstDpmNodePrivate *priv = PRIVATE (object);

  if (is_mixers (id)) {
    if (priv->complete)
      g_object_get_property (G_OBJECT (priv->graph.mixer), pspec->name, value);
    return;
  }
  if (id == PROP_STATS) {
    g_value_take_boxed (value, stats_new (GST_DPM_NODE (object)));
    return;
  }
  GST_OBJECT_LOCK (object);
  switch (id) {
    case PROP_ADDRESS:
      g_value_set_string (value, priv->address);
      break;
    case PROP_PORT:
      g_value_set_uint (value, priv->port_number);
      break;
    case PROP_BITRATE:
      g_value_set_uint (value, priv->bitrate);
      break;
    case PROP_MUTE:
      g_value_set_boolean (value, priv->mute);
      break;
    case PROP_ECN:
      g_value_set_boolean (value, priv->ecn);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (object);
}

static void
gst_dpm_node_finalize (GObject * object)
{
  GstDpmNodePrivate *priv = PRIVATE (object);

  gst_dpm_crypto_wipe (&priv->secret, sizeof priv->secret);
  g_clear_pointer (&priv->voice_elements, g_ptr_array_unref);
  g_clear_pointer (&priv->ears_elements, g_ptr_array_unref);
  gst_clear_object (&priv->ears_mixer_pad);
  gst_dpm_graph_clear (&priv->graph);
  g_free (priv->address);
  gst_fairmix_lock_clear (&priv->lock);
  G_OBJECT_CLASS (gst_dpm_node_parent_class)->finalize (object);
}

static void
make_properties (void)
{
  properties[PROP_ADDRESS] = g_param_spec_string ("address", "Address",
      "The address of this host to use (NULL = all, IPv4 and IPv6)",
      DEFAULT_ADDRESS, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY);
  properties[PROP_PORT] = g_param_spec_uint ("port", "Port",
      "The UDP port of this host to use (0 = any)", 0, 65535, DEFAULT_PORT,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_SECRET] = g_param_spec_string ("secret", "Secret",
      "What all who talk with each other know, up to 256 bytes (NULL = an open "
      "room: encrypted, but anybody may join)", DEFAULT_SECRET,
      G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_BITRATE] = g_param_spec_uint ("bitrate", "Bitrate",
      "The most that Opus may take of our own voice, in bits per second", 6000,
      510000, DEFAULT_BITRATE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY);
  properties[PROP_MUTE] = g_param_spec_boolean ("mute", "Mute",
      "Nobody hears what comes in on the sink pad", DEFAULT_MUTE,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  properties[PROP_LATENCY] = g_param_spec_uint64 ("latency", "Latency",
      "How late a packet may be that is decoded here, in nanoseconds; it grows "
      "by itself where that is not enough", 0, GST_SECOND, DEFAULT_LATENCY,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_DATABASE_LOCATION] =
      g_param_spec_string ("database-location", "Database location",
      "A key file that says how streams are treated, by name (see partialmix); "
      "read again when it changes", DEFAULT_DATABASE_LOCATION,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  properties[PROP_VOICE_LEVEL] = g_param_spec_uint ("voice-level",
      "Voice level",
      "Level that each talker's speech is brought to where it is "
      "mixed or played here, in -dBov; 26 is usual, 0 = as loud as it comes", 0,
      60, DEFAULT_VOICE_LEVEL,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_ALIGN] = g_param_spec_boolean ("align", "Align",
      "A voice stays at its place in time when it goes into a mix or comes out of "
      "one: it is as late as in the mix, and who mixes is asked to tell where it is",
      DEFAULT_ALIGN,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_ECN] = g_param_spec_boolean ("ecn", "ECN",
      "Routers may mark the RTP that we send instead of dropping it (ECT(0)); marks on "
      "what comes in are always reported and answered", DEFAULT_ECN,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_STATS] =
      g_param_spec_boxed ("stats", "Statistics",
      "Sessions, what was refused and why, each neighbour, the mixer",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
}

static void
gst_dpm_node_class_init (GstDpmNodeClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_dpm_node_set_property;
  object_class->get_property = gst_dpm_node_get_property;
  object_class->finalize = gst_dpm_node_finalize;
  make_properties ();
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);

  element_class->change_state = gst_dpm_node_change_state;
  element_class->request_new_pad = gst_dpm_node_request_new_pad;
  element_class->release_pad = gst_dpm_node_release_pad;
  element_class->send_event = gst_dpm_node_send_event;
  GST_BIN_CLASS (klass)->handle_message = gst_dpm_node_handle_message;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_type_mark_as_plugin_api (GST_TYPE_DPM_NODE, 0);
}

static void
gst_dpm_node_init (GstDpmNode * self)
{
  GstDpmNodePrivate *priv = PRIVATE (self);

  gst_fairmix_lock_init (&priv->lock, GST_FAIRMIX_RANK_NODE);
  priv->bitrate = DEFAULT_BITRATE;
  priv->complete = gst_dpm_graph_init (&priv->graph, GST_BIN (self));
  if (priv->complete)
    g_object_set (priv->graph.mixer, "latency", DEFAULT_LATENCY, NULL);
}
