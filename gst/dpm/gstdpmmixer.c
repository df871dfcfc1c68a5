/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-dpmmixer
 * @title: dpmmixer
 *
 * Hosts a meeting behind one UDP port: #dpmclient and other mixers come and go,
 * and each hears all others, as many apart as the path to it has room for beside
 * TCP, the rest as one mix.  All of it is encrypted; who may come in is who knows
 * #GstDpmMixer:secret.
 *
 * With #GstDpmMixer:parent it joins another mixer, so that mixers make a tree:
 * one bundle of streams up and down serves all who are below.  With the pads
 * `sink` and `src` somebody can talk and listen where the mixer is.
 *
 * ## Example
 * |[
 * gst-launch-1.0 -m dpmmixer port=5004 secret="four words that nobody guesses"
 * ]|
 *
 * ## Messages
 *
 * `dpm-neighbour` {`event`: `joined`, `left` or `refused`, `neighbour`, `name`,
 * `address`, `mixer`, `reason`}; `dpm-talk` {`talks`, `name`, `ssrc`, `neighbour`};
 * `dpm-session`, of the parent, as in #dpmclient; `dpm-topology` {`event`: `asked`,
 * `mixes`, `moved`, `released` or `failed`, `neighbour`, `mixer`}, with
 * #GstDpmMixer:self-organise.
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmmixer.h"

#include <string.h>

#include "gstdpmcoupler.h"
#include "gstdpmcrypto.h"
#include "gstdpmhall.h"
#include "gstdpmorganiser.h"
#include "common/gstfairmixfields.h"

#define DEFAULT_MAX_CLIENTS 64
#define DEFAULT_PARENT NULL
#define DEFAULT_DISPLAY_NAME NULL
#define DEFAULT_MAX_BITRATE 0
#define DEFAULT_SELF_ORGANISE FALSE

#define MAX_MAX_CLIENTS 1000

enum
{
  PROP_0,
  PROP_MAX_CLIENTS,
  PROP_PARENT,
  PROP_DISPLAY_NAME,
  PROP_MAX_BITRATE,
  PROP_SELF_ORGANISE,
  PROP_WEIGHTS,
  N_PROPERTIES
};

enum
{
  SIGNAL_KICK,
  SIGNAL_ASK_TO_MIX,
  SIGNAL_MOVE,
  N_SIGNALS
};

struct _GstDpmMixer
{
  GstDpmNode parent_node;

  /* Properties, with the object lock */
  guint max_clients;
  gchar *parent;
  gchar *display_name;
  gboolean self_organise;
  GstStructure *weights;

  guint64 node;                 /* who we are among mixers */
  GstDpmPeer *parent_peer;      /* (nullable): set in state changes */
  GstDpmHall hall;
  GstDpmOrganiser *organiser;
};

static GParamSpec *properties[N_PROPERTIES];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GstDpmMixer, gst_dpm_mixer, GST_TYPE_DPM_NODE);
GST_ELEMENT_REGISTER_DEFINE (dpmmixer, "dpmmixer", GST_RANK_NONE,
    GST_TYPE_DPM_MIXER);

/* --- neighbours ---------------------------------------------------------- */

static void
gst_dpm_mixer_joined (GstDpmNode * node, GstDpmPeer * peer)
{
  gst_dpm_hall_joined (&GST_DPM_MIXER (node)->hall, peer);
}

static void
gst_dpm_mixer_left (GstDpmNode * node, GstDpmPeer * peer, FmxJoinReason reason)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);

  gst_dpm_organiser_left (self->organiser, peer, reason);
  gst_dpm_hall_left (&self->hall, peer, reason);
}

static void
gst_dpm_mixer_names (GstDpmNode * node, gboolean news)
{
  gst_dpm_hall_names (&GST_DPM_MIXER (node)->hall, news);
}

static void
gst_dpm_mixer_mixes (GstDpmNode * node, GstDpmPeer * peer,
    const FmxJoinMixing * mixing)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);

  gst_dpm_organiser_mixes (self->organiser, peer, mixing);
  if (!mixing->mixes)
    gst_dpm_hall_expect_return (&self->hall, peer);
}

static void
gst_dpm_mixer_tick (GstDpmNode * node, FmxTime now)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  GstStructure *weights = NULL;
  gboolean self_organise;

  gst_dpm_hall_tick (&self->hall);
  gst_dpm_organiser_tell_mixing (self->organiser);
  GST_OBJECT_LOCK (self);
  self_organise = self->self_organise;
  if (self_organise && self->weights != NULL)
    weights = gst_structure_copy (self->weights);
  GST_OBJECT_UNLOCK (self);
  if (self_organise)
    gst_dpm_organiser_tick (self->organiser, weights, now);
  g_clear_pointer (&weights, gst_structure_free);
}

static void
gst_dpm_mixer_uplink (GstDpmNode * node, FmxJoinClientEvent event,
    FmxJoinReason reason, gboolean last)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);

  if (event == FMX_JOIN_CLIENT_REFUSED)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_AUTHORIZED,
        ("The parent does not let us in: %s.", fmx_join_reason_name (reason)),
        (NULL));
  else
    gst_dpm_hall_uplink (&self->hall, event, self->parent_peer);
}

/* --- states -------------------------------------------------------------- */

static gboolean
check_weight (GQuark field, const GValue * value, gpointer self)
{
  if (!gst_dpm_coupler_is_weight (value))
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("The weight of \"%s\" is no number.", g_quark_to_string (field)),
        ("property weights: as in weights,alice=2"));
  return TRUE;
}

/* Nobody would be told that all have the same. */
static void
check_weights (GstDpmMixer * self)
{
  GstStructure *weights = NULL;

  GST_OBJECT_LOCK (self);
  if (self->weights != NULL)
    weights = gst_structure_copy (self->weights);
  GST_OBJECT_UNLOCK (self);
  if (weights != NULL)
    gst_structure_foreach (weights, check_weight, self);
  g_clear_pointer (&weights, gst_structure_free);
}

static gboolean
connect_parent (GstDpmMixer * self, GstDpmPort * port, const gchar * parent,
    const FmxJoinSecret * secret)
{
  FmxJoinClientParams params;
  GError *error = NULL;

  fmx_join_client_params_default (&params);
  params.node = self->node;
  params.flags |= FMX_JOIN_IS_MIXER
      | gst_dpm_node_get_join_flags (GST_DPM_NODE (self));
  GST_OBJECT_LOCK (self);
  fmx_join_name_copy (params.name,
      self->display_name != NULL ? self->display_name : g_get_host_name ());
  GST_OBJECT_UNLOCK (self);
  self->parent_peer = gst_dpm_port_connect (port, parent, &params, secret,
      &error);
  if (self->parent_peer == NULL)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("The parent \"%s\" cannot be read: %s.", parent, error->message),
        (NULL));
  g_clear_error (&error);
  return self->parent_peer != NULL;
}

static gboolean
gst_dpm_mixer_setup (GstDpmNode * node, GstDpmPort * port)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  FmxJoinMixerParams params;
  FmxJoinSecret secret;
  gboolean good;
  gchar *parent, *name;

  self->node = gst_dpm_crypto_random_number ();
  self->hall.ssrc = g_random_int ();
  self->parent_peer = NULL;
  gst_dpm_node_set_ends (node, FALSE);  /* it may have ended before */
  fmx_join_mixer_params_default (&params);
  params.node = self->node;
  GST_OBJECT_LOCK (self);
  params.max_clients = self->max_clients;
  parent = g_strdup (self->parent);
  name = g_strdup (self->display_name);
  GST_OBJECT_UNLOCK (self);
  gst_dpm_hall_name_voice (&self->hall, name);  /* it may have another one now */
  g_free (name);
  check_weights (self);
  gst_dpm_node_get_secret (node, &secret);
  good = gst_dpm_port_serve (port, &params, &secret);
  if (!good)
    GST_ELEMENT_ERROR (self, LIBRARY, INIT, ("No X25519 in this OpenSSL."),
        (NULL));
  good = good && (parent == NULL
      || connect_parent (self, port, parent, &secret));
  gst_dpm_crypto_wipe (&secret, sizeof secret);
  g_free (parent);
  return good;
}

static void
gst_dpm_mixer_teardown (GstDpmNode * node)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);

  gst_dpm_hall_empty (&self->hall);
  gst_dpm_organiser_reset (self->organiser);
  self->parent_peer = NULL;
}

/* Somebody talks where the mixer is: one more neighbour, without a network. */
static gboolean
gst_dpm_mixer_voice (GstDpmNode * node, const GstDpmVoice * voice)
{
  gchar *cname;

  GST_OBJECT_LOCK (node);
  cname = g_strdup (GST_DPM_MIXER (node)->display_name);
  GST_OBJECT_UNLOCK (node);
  gst_dpm_hall_set_voice (&GST_DPM_MIXER (node)->hall, voice, cname);
  g_free (cname);
  return TRUE;
}

/* --- properties ---------------------------------------------------------- */

static void
gst_dpm_mixer_add_stats (GstDpmNode * node, GstStructure * stats)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);

  gst_dpm_hall_add_stats (&self->hall, stats);
  gst_dpm_organiser_add_stats (self->organiser, stats);
}

static void
gst_dpm_mixer_kick (GstDpmMixer * self, guint neighbour)
{
  gst_dpm_node_kick (GST_DPM_NODE (self), neighbour);
}

static void
gst_dpm_mixer_ask_to_mix (GstDpmMixer * self, guint neighbour, gboolean begin)
{
  gst_dpm_node_ask (GST_DPM_NODE (self), neighbour, begin);
}

static void
gst_dpm_mixer_move (GstDpmMixer * self, guint neighbour, guint mixer)
{
  gst_dpm_hall_expect_move (&self->hall, neighbour, mixer);
  gst_dpm_node_move (GST_DPM_NODE (self), neighbour, mixer);
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_MAX_CLIENTS, GstDpmMixer, max_clients),
  GST_FAIRMIX_FIELD (PROP_PARENT, GstDpmMixer, parent),
  GST_FAIRMIX_FIELD (PROP_DISPLAY_NAME, GstDpmMixer, display_name),
  GST_FAIRMIX_FIELD (PROP_MAX_BITRATE, GstDpmMixer, hall.max_bitrate),
  GST_FAIRMIX_FIELD (PROP_SELF_ORGANISE, GstDpmMixer, self_organise),
  GST_FAIRMIX_FIELD (PROP_WEIGHTS, GstDpmMixer, weights),
};

static void
gst_dpm_mixer_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
  if (id == PROP_WEIGHTS && GST_STATE (object) > GST_STATE_READY)
    check_weights (GST_DPM_MIXER (object));
}

static void
gst_dpm_mixer_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_get_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static void
gst_dpm_mixer_finalize (GObject * object)
{
  GstDpmMixer *self = GST_DPM_MIXER (object);

  gst_dpm_organiser_free (self->organiser);
  gst_dpm_hall_clear (&self->hall);
  g_free (self->parent);
  g_free (self->display_name);
  g_clear_pointer (&self->weights, gst_structure_free);
  G_OBJECT_CLASS (gst_dpm_mixer_parent_class)->finalize (object);
}

static void
make_properties (void)
{
  properties[PROP_MAX_CLIENTS] =
      g_param_spec_uint ("max-clients", "Maximum clients",
      "So many neighbours at a time, clients and mixers; others are refused",
      1, MAX_MAX_CLIENTS, DEFAULT_MAX_CLIENTS, G_PARAM_READWRITE |
      G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_PARENT] = g_param_spec_string ("parent", "Parent",
      "The mixer above this one, or several with commas between them, of which "
      "one is joined: as dpmclient's server; they must have the same secret "
      "(NULL = none)", DEFAULT_PARENT,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  properties[PROP_DISPLAY_NAME] =
      g_param_spec_string ("display-name", "Display name",
      "What the parent sees, and the name of who talks where the mixer is, up to "
      "63 bytes (NULL = the name of the host, of the user)",
      DEFAULT_DISPLAY_NAME, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_READY);
  properties[PROP_MAX_BITRATE] =
      g_param_spec_uint ("max-bitrate", "Maximum bitrate",
      "The most that is sent to a neighbour who joins from now on, in bits per "
      "second on the wire (0 = what its path has room for)", 0, G_MAXUINT,
      DEFAULT_MAX_BITRATE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_PLAYING);
  properties[PROP_SELF_ORGANISE] =
      g_param_spec_boolean ("self-organise", "Self-organise",
      "Asks one of several clients behind the same bottleneck to mix for the others "
      "if that pays; see dpmclient's may-mix", DEFAULT_SELF_ORGANISE,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  properties[PROP_WEIGHTS] = g_param_spec_boxed ("weights", "Weights",
      "What each has of a bottleneck that several share, with self-organise: a "
      "number by name, 0.01 to 100, as in weights,alice=2 (who is not named: 1)",
      GST_TYPE_STRUCTURE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
      GST_PARAM_MUTABLE_PLAYING);
}

static void
gst_dpm_mixer_class_init (GstDpmMixerClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstDpmNodeClass *node_class = GST_DPM_NODE_CLASS (klass);

  object_class->set_property = gst_dpm_mixer_set_property;
  object_class->get_property = gst_dpm_mixer_get_property;
  object_class->finalize = gst_dpm_mixer_finalize;
  make_properties ();
  g_object_class_install_properties (object_class, N_PROPERTIES, properties);

  /**
   * GstDpmMixer::kick:
   * @neighbour: its number, as in the messages
   *
   * Sends a neighbour away.  It may join again.
   */
  signals[SIGNAL_KICK] = g_signal_new_class_handler ("kick",
      G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_dpm_mixer_kick), NULL, NULL, NULL, G_TYPE_NONE, 1,
      G_TYPE_UINT);

  /**
   * GstDpmMixer::ask-to-mix:
   * @neighbour: that has may-mix
   * @begin: or not to mix any more
   *
   * As #GstDpmMixer:self-organise does.  It answers with a message `dpm-topology`.
   */
  signals[SIGNAL_ASK_TO_MIX] = g_signal_new_class_handler ("ask-to-mix",
      G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_dpm_mixer_ask_to_mix), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_UINT, G_TYPE_BOOLEAN);
  /**
   * GstDpmMixer::move:
   * @neighbour: who is to go
   * @mixer: to this neighbour, which mixes
   *
   * As #GstDpmMixer:self-organise does.
   */
  signals[SIGNAL_MOVE] = g_signal_new_class_handler ("move",
      G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_dpm_mixer_move), NULL, NULL, NULL, G_TYPE_NONE, 2,
      G_TYPE_UINT, G_TYPE_UINT);

  node_class->setup = gst_dpm_mixer_setup;
  node_class->teardown = gst_dpm_mixer_teardown;
  node_class->joined = gst_dpm_mixer_joined;
  node_class->left = gst_dpm_mixer_left;
  node_class->uplink = gst_dpm_mixer_uplink;
  node_class->mixes = gst_dpm_mixer_mixes;
  node_class->tick = gst_dpm_mixer_tick;
  node_class->names = gst_dpm_mixer_names;
  node_class->voice = gst_dpm_mixer_voice;
  node_class->add_stats = gst_dpm_mixer_add_stats;
  gst_element_class_set_static_metadata (GST_ELEMENT_CLASS (klass),
      "Meeting mixer", "Generic/Network/Audio",
      "Hosts a meeting behind one UDP port: forwards voices while a path has "
      "room, mixes the rest; encrypted", "gst-fairmix");
}

static void
gst_dpm_mixer_init (GstDpmMixer * self)
{
  gst_dpm_hall_init (&self->hall, GST_DPM_NODE (self));
  self->organiser = gst_dpm_organiser_new (&self->hall);
  self->max_clients = DEFAULT_MAX_CLIENTS;
  g_object_set (self, "port", GST_DPM_DEFAULT_PORT, NULL);
}
