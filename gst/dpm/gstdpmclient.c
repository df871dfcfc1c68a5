/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dpmclient
 * @title: dpmclient
 *
 * Takes part in a meeting: joins a #dpmmixer, sends it what comes in on `sink` and
 * plays on `src` all that the others say, each at a place of its own.  Encrypted,
 * through one UDP port, at a rate that is fair to TCP.
 *
 * With `src_%u` an application gets who talks apart, to place them itself; the message
 * `fairmix-slot` says whose SSRC is where.
 *
 * Who only listens leaves `sink` alone, who only talks `src`.  When the mixer
 * cannot be reached any more it tries until it can.
 *
 * ## Example
 * |[
 * gst-launch-1.0 autoaudiosrc ! dpmclient server=example.org display-name=alice ! autoaudiosink
 * ]|
 *
 * ## Messages
 *
 * `dpm-session` {`event`: `joined`, `refused`, `left` or `no-answer`, `reason`,
 * `open`: whether anybody may join}; `dpm-talk` {`talks`, `name`, `ssrc`}; with
 * #GstDpmClient:may-mix also `dpm-neighbour`, as in #dpmmixer.
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmclient.h"

#include "gstdpmcrypto.h"
#include "gstdpmhall.h"
#include "gstdpmtalkers.h"
#include "common/gstfairmixfields.h"

#define DEFAULT_SERVER NULL
#define DEFAULT_DISPLAY_NAME NULL
#define DEFAULT_MAX_STREAMS 0
#define DEFAULT_MAY_MIX FALSE

#define LEAST_TICKS 5           /* between two looks: a second */

/* Whom one who is asked to mix takes in at most */
#define MOST_BELOW 32

/* 50 packets a second, each with IP, UDP, RTP and its header extension */
#define HEADERS_BITRATE (50 * 8 * (20 + 8 + 12 + 8))

enum
{
  PROP_0,
  PROP_SERVER,
  PROP_DISPLAY_NAME,
  PROP_MAX_STREAMS,
  PROP_MAY_MIX,
  N_PROPERTIES
};

struct _GstDpmClient
{
  GstDpmNode parent;

  /* Properties, with the object lock */
  gchar *server;
  gchar *display_name;
  guint max_streams;
  gboolean may_mix;

  GstDpmTalkers *talkers;
  gint joined;

  /* with the lock, changed in state changes: who asks for statistics may do so at any
   * moment */
  GstFairmixLock lock;
  GstDpmNeighbour *neighbour;   /* (nullable): the server, of who does not mix */

  /* changed in state changes, is_mixer with the object lock */
  GstDpmPeer *server_peer;
  gboolean is_mixer;            /* may be asked to mix for others */
  GstDpmHall hall;              /* of who may */
  guint n_ticks;                /* of the telling thread */
};

static GstStaticPadTemplate talker_template =
GST_STATIC_PAD_TEMPLATE ("src_%u", GST_PAD_SRC, GST_PAD_REQUEST,
    GST_STATIC_CAPS ("audio/x-raw"));

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE (GstDpmClient, gst_dpm_client, GST_TYPE_DPM_NODE);
GST_ELEMENT_REGISTER_DEFINE (dpmclient, "dpmclient", GST_RANK_NONE,
    GST_TYPE_DPM_CLIENT);

/* As long as nobody hears it, nothing is sent, and tfrcrate does not wonder why
 * nobody answers. */
static GstPadProbeReturn
hold_back (GstPad * pad, GstPadProbeInfo * info, gpointer self)
{
  return g_atomic_int_get (&GST_DPM_CLIENT (self)->joined)
      || GST_DPM_CLIENT (self)->is_mixer ? GST_PAD_PROBE_OK :
      GST_PAD_PROBE_DROP;
}

/* Our voice has been given up, and its encoder goes: the rate drives nobody. */
static void
forget_encoder (GstDpmClient * self)
{
  GstElement *rate = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->neighbour != NULL)
    rate = gst_dpm_neighbour_get_rate (self->neighbour);
  gst_fairmix_lock_release (&self->lock);
  if (rate != NULL)
    g_object_set (rate, "encoder", NULL, NULL);
  gst_clear_object (&rate);
}

static void
add_neighbour (GstDpmClient * self, GstDpmPeer * peer)
{
  GstDpmNode *node = GST_DPM_NODE (self);
  GstDpmNeighbourParams params = {.alone = TRUE };
  GstDpmNeighbour *neighbour;
  GstDpmVoice voice;
  gboolean talks = gst_dpm_node_get_voice (node, &voice);

  params.max_bitrate = gst_dpm_node_get_bitrate (node) + HEADERS_BITRATE;
  params.initial_bitrate = params.max_bitrate;
  if (talks) {
    params.voice = voice.last;
    params.encoder = GST_OBJECT_NAME (voice.encoder);
  }
  neighbour = gst_dpm_neighbour_new (gst_dpm_node_get_graph (node), peer,
      &params);
  if (talks)
    gst_dpm_voice_unref (&voice);
  gst_fairmix_lock_acquire (&self->lock);
  self->neighbour = neighbour;
  gst_fairmix_lock_release (&self->lock);
  if (!gst_dpm_node_has (node, GST_PAD_SINK))   /* it may have gone meanwhile */
    forget_encoder (self);
}

/* The others may come through us one day: what we send goes through the mixer, too. */
static gboolean
prepare_to_mix (GstDpmClient * self, GstDpmPort * port, guint64 node,
    const FmxJoinSecret * secret)
{
  FmxJoinMixerParams params;
  GstDpmVoice voice;

  fmx_join_mixer_params_default (&params);
  params.node = node;
  params.max_clients = MOST_BELOW;
  if (!gst_dpm_port_serve (port, &params, secret)) {
    GST_ELEMENT_ERROR (self, LIBRARY, INIT, ("No X25519 in this OpenSSL."),
        (NULL));
    return FALSE;
  }
  gst_dpm_port_serve_when_asked (port);
  self->hall.ssrc = g_random_int ();
  self->hall.is_near = TRUE;
  if (gst_dpm_node_get_voice (GST_DPM_NODE (self), &voice)) {
    gchar *cname;

    GST_OBJECT_LOCK (self);
    cname = g_strdup (self->display_name);
    GST_OBJECT_UNLOCK (self);
    gst_dpm_hall_set_voice (&self->hall, &voice, cname);
    g_free (cname);
    gst_dpm_voice_unref (&voice);
  }
  return TRUE;
}

/* Who only talks is a sink, and ends a pipeline with its voice, if it does not mix for
 * others.  It is one before it starts, too: a bin starts sinks first, and what is not linked
 * yet may send as soon as it has started. */
static void
count_pads (GstElement * element)
{
  GST_OBJECT_LOCK (element);
  if (element->numsinkpads > 0 && element->numsrcpads == 0
      && !GST_DPM_CLIENT (element)->may_mix)
    GST_OBJECT_FLAG_SET (element, GST_ELEMENT_FLAG_SINK);
  else
    GST_OBJECT_FLAG_UNSET (element, GST_ELEMENT_FLAG_SINK);
  GST_OBJECT_UNLOCK (element);
}

static gboolean
gst_dpm_client_setup (GstDpmNode * node, GstDpmPort * port)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);
  FmxJoinClientParams params;
  FmxJoinSecret secret;
  GError *error = NULL;
  gboolean good;
  gchar *server;
  GstDpmPeer *peer;

  fmx_join_client_params_default (&params);
  GST_OBJECT_LOCK (self);
  self->is_mixer = self->may_mix;
  server = g_strdup (self->server);
  params.max_streams = (uint16_t) self->max_streams;
  fmx_join_name_copy (params.name,
      self->display_name != NULL ? self->display_name : g_get_user_name ());
  GST_OBJECT_UNLOCK (self);
  params.flags = (gst_dpm_node_has (node, GST_PAD_SINK) ? FMX_JOIN_MAY_SEND : 0)
      | (gst_dpm_node_has (node, GST_PAD_SRC)
      || gst_dpm_talkers_get_n (self->talkers) > 0 ? FMX_JOIN_MAY_RECEIVE : 0)
      | gst_dpm_node_get_join_flags (node);
  if (self->is_mixer) {
    params.flags |= FMX_JOIN_MAY_SEND | FMX_JOIN_MAY_RECEIVE | FMX_JOIN_IS_MIXER
        | FMX_JOIN_MAY_MIX;
    params.node = gst_dpm_crypto_random_number ();
  }
  if (server == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("The property \"server\" is not set."), (NULL));
    return FALSE;
  }
  gst_dpm_node_get_secret (node, &secret);
  peer = gst_dpm_port_connect (port, server, &params, &secret, &error);
  good = peer != NULL && (!self->is_mixer
      || prepare_to_mix (self, port, params.node, &secret));
  gst_dpm_crypto_wipe (&secret, sizeof secret);
  if (peer == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("The server \"%s\" cannot be read: %s.", server, error->message),
        (NULL));
  g_clear_error (&error);
  g_free (server);
  if (!good)
    return FALSE;
  self->server_peer = peer;
  g_atomic_int_set (&self->joined, FALSE);
  gst_dpm_node_set_ends (node, (params.flags & FMX_JOIN_MAY_SEND) != 0);
  count_pads (GST_ELEMENT (self));
  if (!self->is_mixer)
    add_neighbour (self, peer);
  return TRUE;
}

static void
gst_dpm_client_teardown (GstDpmNode * node)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);
  GstDpmNeighbour *neighbour;

  gst_fairmix_lock_acquire (&self->lock);
  neighbour = g_steal_pointer (&self->neighbour);
  gst_fairmix_lock_release (&self->lock);
  if (neighbour != NULL)
    gst_dpm_neighbour_free (neighbour);
  gst_dpm_hall_empty (&self->hall);
  if (self->is_mixer)
    gst_dpm_hall_set_voice (&self->hall, NULL, NULL);
  self->server_peer = NULL;
}

static void
gst_dpm_client_joined (GstDpmNode * node, GstDpmPeer * peer)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);

  gst_dpm_hall_joined (&self->hall, peer);
  gst_dpm_hall_take_share (&self->hall, self->server_peer);
}

static void
gst_dpm_client_left (GstDpmNode * node, GstDpmPeer * peer, FmxJoinReason reason)
{
  gst_dpm_hall_left (&GST_DPM_CLIENT (node)->hall, peer, reason);
}

static void
gst_dpm_client_names (GstDpmNode * node, gboolean news)
{
  if (GST_DPM_CLIENT (node)->is_mixer)
    gst_dpm_hall_names (&GST_DPM_CLIENT (node)->hall, news);
}

/* How those fare for whom we mix is for who asked us to say. */
static void
gst_dpm_client_tick (GstDpmNode * node, FmxTime now)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);

  if (self->is_mixer && ++self->n_ticks % LEAST_TICKS == 0)
    gst_dpm_port_set_least_bps (gst_dpm_node_get_port (node),
        gst_dpm_hall_get_least_bps (&self->hall, self->server_peer));
}

/* Returns: (nullable): what no time will mend */
static const gchar *
lasting_reason (FmxJoinReason reason)
{
  switch (reason) {
    case FMX_JOIN_REASON_SECRET:
      return "The mixer has another secret.";
    case FMX_JOIN_REASON_VERSION:
      return "The mixer speaks another version of the protocol.";
    default:
      return NULL;
  }
}

static void
gst_dpm_client_uplink (GstDpmNode * node, FmxJoinClientEvent event,
    FmxJoinReason reason, gboolean last)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);
  const gchar *text = lasting_reason (reason);

  if (event == FMX_JOIN_CLIENT_JOINED)
    g_atomic_int_set (&self->joined, TRUE);
  if (event == FMX_JOIN_CLIENT_LEFT)
    g_atomic_int_set (&self->joined, FALSE);
  if (self->is_mixer)
    gst_dpm_hall_uplink (&self->hall, event, self->server_peer);
  else if (event == FMX_JOIN_CLIENT_JOINED)
    gst_dpm_neighbour_change_path (self->neighbour);
  if (event != FMX_JOIN_CLIENT_REFUSED || text == NULL)
    return;
  if (last)
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_AUTHORIZED, ("%s", text), (NULL));
  else
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_AUTHORIZED, ("%s", text),
        ("There are others on the list: the next one is tried."));
}

/* The pads are part of what the server is told when we join. */
static gboolean
gst_dpm_client_voice (GstDpmNode * node, const GstDpmVoice * voice)
{
  GstPad *pad;

  if (voice == NULL) {
    forget_encoder (GST_DPM_CLIENT (node));
    gst_dpm_hall_set_voice (&GST_DPM_CLIENT (node)->hall, NULL, NULL);
    return TRUE;
  }
  if (GST_DPM_CLIENT (node)->server_peer != NULL)
    return FALSE;
  pad = gst_element_get_static_pad (voice->last, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BUFFER_LIST, hold_back, node, NULL);
  gst_object_unref (pad);
  return TRUE;
}

static void
gst_dpm_client_add_stats (GstDpmNode * node, GstStructure * stats)
{
  GstDpmClient *self = GST_DPM_CLIENT (node);
  gboolean is_mixer;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->neighbour != NULL)
    gst_dpm_neighbour_add_stats (self->neighbour, stats);
  gst_fairmix_lock_release (&self->lock);
  GST_OBJECT_LOCK (self);
  is_mixer = self->is_mixer;
  GST_OBJECT_UNLOCK (self);
  if (is_mixer)
    gst_dpm_hall_add_stats (&self->hall, stats);
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_SERVER, GstDpmClient, server),
  GST_FAIRMIX_FIELD (PROP_DISPLAY_NAME, GstDpmClient, display_name),
  GST_FAIRMIX_FIELD (PROP_MAX_STREAMS, GstDpmClient, max_streams),
  GST_FAIRMIX_FIELD (PROP_MAY_MIX, GstDpmClient, may_mix),
};

static void
gst_dpm_client_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static void
gst_dpm_client_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_get_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static GstPad *
gst_dpm_client_request_new_pad (GstElement * element,
    GstPadTemplate * template, const gchar * name, const GstCaps * caps)
{
  GstPad *pad;

  if (g_strcmp0 (template->name_template, talker_template.name_template) != 0)
    return GST_ELEMENT_CLASS (gst_dpm_client_parent_class)->request_new_pad
        (element, template, name, caps);
  if (gst_dpm_node_get_graph (GST_DPM_NODE (element))->mixer == NULL)
    return NULL;
  pad = gst_dpm_talkers_request (GST_DPM_CLIENT (element)->talkers, template,
      name);
  if (pad != NULL)
    gst_element_add_pad (element, pad);
  return pad;
}

static void
gst_dpm_client_release_pad (GstElement * element, GstPad * pad)
{
  if (!gst_dpm_talkers_release (GST_DPM_CLIENT (element)->talkers, pad))
    GST_ELEMENT_CLASS (gst_dpm_client_parent_class)->release_pad (element, pad);
}

static void
gst_dpm_client_finalize (GObject * object)
{
  GstDpmClient *self = GST_DPM_CLIENT (object);

  gst_dpm_talkers_free (self->talkers);
  gst_dpm_hall_clear (&self->hall);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self->server);
  g_free (self->display_name);
  G_OBJECT_CLASS (gst_dpm_client_parent_class)->finalize (object);
}

static void
gst_dpm_client_pads_changed (GstElement * element, GstPad * pad G_GNUC_UNUSED)
{
  count_pads (element);
}

static void
gst_dpm_client_class_init (GstDpmClientClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstDpmNodeClass *node_class = GST_DPM_NODE_CLASS (klass);

  object_class->set_property = gst_dpm_client_set_property;
  object_class->get_property = gst_dpm_client_get_property;
  object_class->finalize = gst_dpm_client_finalize;
  properties[PROP_SERVER] = g_param_spec_string ("server", "Server",
      "The mixer: HOST, HOST:PORT or [IPv6]:PORT, several with commas between "
      "them; without a port a service (DNS SRV, _dpm._udp), or port 5004",
      DEFAULT_SERVER,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_DISPLAY_NAME] =
      g_param_spec_string ("display-name", "Display name",
      "What the others see, up to 63 bytes (NULL = the name of the user)",
      DEFAULT_DISPLAY_NAME,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_MAX_STREAMS] =
      g_param_spec_uint ("max-streams", "Maximum streams",
      "How many streams can be decoded here at a time; the mixer is told "
      "(0 = any number)", 0, 65535, DEFAULT_MAX_STREAMS,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_MAY_MIX] = g_param_spec_boolean ("may-mix", "May mix",
      "The server may ask us to mix for others who are near us, if it knows that we "
      "share a narrow link with them", DEFAULT_MAY_MIX,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);

  element_class->request_new_pad = gst_dpm_client_request_new_pad;
  element_class->release_pad = gst_dpm_client_release_pad;
  element_class->pad_added = gst_dpm_client_pads_changed;
  element_class->pad_removed = gst_dpm_client_pads_changed;
  gst_element_class_add_static_pad_template (element_class, &talker_template);
  node_class->setup = gst_dpm_client_setup;
  node_class->teardown = gst_dpm_client_teardown;
  node_class->joined = gst_dpm_client_joined;
  node_class->left = gst_dpm_client_left;
  node_class->names = gst_dpm_client_names;
  node_class->uplink = gst_dpm_client_uplink;
  node_class->tick = gst_dpm_client_tick;
  node_class->voice = gst_dpm_client_voice;
  node_class->add_stats = gst_dpm_client_add_stats;
  gst_element_class_set_static_metadata (element_class,
      "Meeting client", "Generic/Network/Audio",
      "Joins a meeting: sends a voice to a dpmmixer and plays all others, "
      "encrypted, at a rate that is fair to TCP", "gst-fairmix");
}

static void
gst_dpm_client_init (GstDpmClient * self)
{
  self->talkers =
      gst_dpm_talkers_new (gst_dpm_node_get_graph (GST_DPM_NODE (self)));
  gst_dpm_hall_init (&self->hall, GST_DPM_NODE (self));
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
}
