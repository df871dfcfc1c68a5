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
 * `dpm-session`, of the parent, as in #dpmclient.
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmmixer.h"

#include <string.h>

#include "gstdpmcrypto.h"
#include "common/gstfairmixfields.h"
#include "common/gstfairmixlock.h"

#define DEFAULT_MAX_CLIENTS 64
#define DEFAULT_PARENT NULL
#define DEFAULT_DISPLAY_NAME NULL
#define DEFAULT_MAX_BITRATE 0

#define MAX_MAX_CLIENTS 1000

enum
{
  PROP_0,
  PROP_MAX_CLIENTS,
  PROP_PARENT,
  PROP_DISPLAY_NAME,
  PROP_MAX_BITRATE,
  N_PROPERTIES
};

enum
{
  SIGNAL_KICK,
  N_SIGNALS
};

struct _GstDpmMixer
{
  GstDpmNode parent_node;

  /* Properties, with the object lock */
  guint max_clients;
  gchar *parent;
  gchar *display_name;
  guint max_bitrate;

  guint64 node;                 /* who we are among mixers */
  guint32 ssrc;                 /* in RTCP */
  GstDpmPeer *parent_peer;      /* (nullable): set in state changes */
  guint page;                   /* of names */

  /* with the lock */
  GstFairmixLock lock;
  GPtrArray *neighbours;        /* of GstDpmNeighbour */
};

static GParamSpec *properties[N_PROPERTIES];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (GstDpmMixer, gst_dpm_mixer, GST_TYPE_DPM_NODE);
GST_ELEMENT_REGISTER_DEFINE (dpmmixer, "dpmmixer", GST_RANK_NONE,
    GST_TYPE_DPM_MIXER);

/* --- neighbours ---------------------------------------------------------- */

/* with the lock */
static gboolean
name_is_used (GstDpmMixer * self, const gchar * name)
{
  for (guint i = 0; i < self->neighbours->len; i++)
    if (g_strcmp0 (gst_dpm_neighbour_get_cname (g_ptr_array_index
                (self->neighbours, i)), name) == 0)
      return TRUE;
  return FALSE;
}

/* Returns: (transfer full): @name, or that with a number behind it */
static gchar *
name_of_its_own (GstDpmMixer * self, const gchar * name)
{
  gchar *own = g_strdup (*name != 0 ? name : "somebody");

  gst_fairmix_lock_acquire (&self->lock);
  for (guint n = 2; name_is_used (self, own); n++) {
    g_free (own);
    own = g_strdup_printf ("%s (%u)", *name != 0 ? name : "somebody", n);
  }
  gst_fairmix_lock_release (&self->lock);
  return own;
}

static void
tell (GstDpmMixer * self, const gchar * event, GstDpmPeer * peer,
    const gchar * name, FmxJoinReason reason)
{
  FmxJoinAddress address;
  gchar *text;

  gst_dpm_peer_get_address (peer, &address);
  text = gst_dpm_address_to_string (&address);
  gst_dpm_node_tell (GST_DPM_NODE (self), gst_structure_new ("dpm-neighbour",
          "event", G_TYPE_STRING, event,
          "neighbour", G_TYPE_UINT, gst_dpm_peer_get_number (peer),
          "name", G_TYPE_STRING, name != NULL ? name : "",
          "address", G_TYPE_STRING, text,
          "mixer", G_TYPE_BOOLEAN,
          (gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER) != 0,
          "reason", G_TYPE_STRING, fmx_join_reason_name (reason), NULL));
  g_free (text);
}

static void
add_neighbour (GstDpmMixer * self, GstDpmPeer * peer, const gchar * cname)
{
  GstDpmNeighbourParams params = {.cname = cname };
  GstDpmNeighbour *neighbour;

  GST_OBJECT_LOCK (self);
  params.max_bitrate = self->max_bitrate;
  GST_OBJECT_UNLOCK (self);
  neighbour = gst_dpm_neighbour_new (gst_dpm_node_get_graph
      (GST_DPM_NODE (self)), peer, &params);
  gst_fairmix_lock_acquire (&self->lock);
  g_ptr_array_add (self->neighbours, neighbour);
  gst_fairmix_lock_release (&self->lock);
}

/* Returns: (transfer full) (nullable): no more in the table */
static GstDpmNeighbour *
take_neighbour (GstDpmMixer * self, GstDpmPeer * peer)
{
  GstDpmNeighbour *neighbour = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len && neighbour == NULL; i++)
    if (gst_dpm_neighbour_get_peer (g_ptr_array_index (self->neighbours,
                i)) == peer)
      neighbour = g_ptr_array_remove_index (self->neighbours, i);
  gst_fairmix_lock_release (&self->lock);
  return neighbour;
}

/* Tells @peer the names on @page, or on all of them.  Returns: the page after that;
 * 0: there is none of that number */
static guint
say_names (GstDpmMixer * self, GstDpmPeer * peer, gboolean all, guint page)
{
  GstDpmNode *node = GST_DPM_NODE (self);
  GstDpmRoster *roster = gst_dpm_node_get_roster (node);
  gint number = (gint) gst_dpm_peer_get_number (peer);
  guint n_pages = 0;
  GstBuffer *buffer;

  while ((buffer = gst_dpm_roster_write_sdes (roster, number, self->ssrc,
              page++)) != NULL) {
    gst_dpm_port_send (gst_dpm_node_get_port (node), peer, buffer, TRUE);
    gst_buffer_unref (buffer);
    n_pages = page;
    if (!all)
      break;
  }
  return n_pages;
}

static void
gst_dpm_mixer_names (GstDpmNode * node, gboolean all)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  guint n_pages = 0;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++)
    n_pages = MAX (n_pages, say_names (self, gst_dpm_neighbour_get_peer
            (g_ptr_array_index (self->neighbours, i)), all,
            all ? 0 : self->page));
  gst_fairmix_lock_release (&self->lock);
  self->page = n_pages > self->page ? self->page + 1 : 0;
}

static void
gst_dpm_mixer_joined (GstDpmNode * node, GstDpmPeer * peer)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  gboolean is_mixer = gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER;
  gchar *name = name_of_its_own (self, gst_dpm_peer_get_name (peer));

  /* What comes from a mixer are the voices of others; it says whose. */
  add_neighbour (self, peer, is_mixer ? NULL : name);
  tell (self, "joined", peer, name, FMX_JOIN_REASON_NONE);
  say_names (self, peer, TRUE, 0);      /* the others know them */
  g_free (name);
}

static void
gst_dpm_mixer_left (GstDpmNode * node, GstDpmPeer * peer, FmxJoinReason reason)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  GstDpmNeighbour *neighbour = take_neighbour (self, peer);
  const gchar *name;

  if (neighbour == NULL)
    return;
  name = gst_dpm_neighbour_get_cname (neighbour);
  tell (self, "left", peer, name != NULL ? name : gst_dpm_peer_get_name (peer),
      reason);
  gst_dpm_neighbour_free (neighbour);
}

static gboolean
is_neighbour (GstDpmMixer * self, GstDpmPeer * peer)
{
  gboolean found = FALSE;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++)
    found |= gst_dpm_neighbour_get_peer (g_ptr_array_index (self->neighbours,
            i)) == peer;
  gst_fairmix_lock_release (&self->lock);
  return found;
}

static void
gst_dpm_mixer_uplink (GstDpmNode * node, FmxJoinClientEvent event,
    FmxJoinReason reason, gboolean last)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  GstDpmNeighbour *neighbour;

  if (event == FMX_JOIN_CLIENT_JOINED
      && !is_neighbour (self, self->parent_peer)) {
    add_neighbour (self, self->parent_peer, NULL);
    say_names (self, self->parent_peer, TRUE, 0);
  } else if (event == FMX_JOIN_CLIENT_LEFT) {
    neighbour = take_neighbour (self, self->parent_peer);
    if (neighbour != NULL)
      gst_dpm_neighbour_free (neighbour);
  } else if (event == FMX_JOIN_CLIENT_REFUSED) {
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_AUTHORIZED,
        ("The parent does not let us in: %s.", fmx_join_reason_name (reason)),
        (NULL));
  }
}

/* --- states -------------------------------------------------------------- */

static gboolean
connect_parent (GstDpmMixer * self, GstDpmPort * port, const gchar * parent,
    const FmxJoinSecret * secret)
{
  FmxJoinClientParams params;
  GError *error = NULL;

  fmx_join_client_params_default (&params);
  params.node = self->node;
  params.flags |= FMX_JOIN_IS_MIXER;
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
  gchar *parent;

  self->node = gst_dpm_crypto_random_number ();
  self->ssrc = g_random_int ();
  self->parent_peer = NULL;
  fmx_join_mixer_params_default (&params);
  params.node = self->node;
  GST_OBJECT_LOCK (self);
  params.max_clients = self->max_clients;
  parent = g_strdup (self->parent);
  GST_OBJECT_UNLOCK (self);
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
  GPtrArray *neighbours;

  gst_fairmix_lock_acquire (&self->lock);
  neighbours = self->neighbours;
  self->neighbours = g_ptr_array_new ();
  gst_fairmix_lock_release (&self->lock);
  for (guint i = 0; i < neighbours->len; i++)
    gst_dpm_neighbour_free (g_ptr_array_index (neighbours, i));
  g_ptr_array_unref (neighbours);
  self->parent_peer = NULL;
}

/* Somebody talks where the mixer is: one more neighbour, without a network. */
static gboolean
gst_dpm_mixer_voice (GstDpmNode * node, const GstDpmVoice * voice)
{
  GstElement *mixer = gst_dpm_node_get_graph (node)->mixer;
  const gchar *name = "sink_" G_STRINGIFY (GST_DPM_LOCAL);
  GstPad *pad, *src;
  gchar *cname;

  if (voice == NULL) {
    pad = gst_element_get_static_pad (mixer, name);
    if (pad != NULL)
      gst_element_release_request_pad (mixer, pad);
    gst_clear_object (&pad);
    return TRUE;
  }
  pad = gst_element_request_pad_simple (mixer, name);
  GST_OBJECT_LOCK (node);
  cname = g_strdup (GST_DPM_MIXER (node)->display_name);
  GST_OBJECT_UNLOCK (node);
  g_object_set (pad, "cname", cname != NULL ? cname : g_get_user_name (), NULL);
  g_free (cname);
  src = gst_element_get_static_pad (voice->last, "src");
  gst_pad_link (src, pad);
  gst_object_unref (src);
  gst_object_unref (pad);
  return TRUE;
}

/* --- properties ---------------------------------------------------------- */

static void
gst_dpm_mixer_add_stats (GstDpmNode * node, GstStructure * stats)
{
  GstDpmMixer *self = GST_DPM_MIXER (node);
  GValue rates = G_VALUE_INIT, value = G_VALUE_INIT;

  g_value_init (&rates, GST_TYPE_ARRAY);
  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++) {
    GstDpmNeighbour *neighbour = g_ptr_array_index (self->neighbours, i);
    GstStructure *s =
        gst_dpm_peer_to_structure (gst_dpm_neighbour_get_peer (neighbour));

    if (gst_dpm_neighbour_get_cname (neighbour) != NULL)
      gst_structure_set (s, "name", G_TYPE_STRING,
          gst_dpm_neighbour_get_cname (neighbour), NULL);
    gst_dpm_neighbour_add_stats (neighbour, s);
    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, s);
    gst_value_array_append_and_take_value (&rates, &value);
  }
  gst_fairmix_lock_release (&self->lock);
  gst_structure_take_value (stats, "neighbours", &rates);
}

static void
gst_dpm_mixer_kick (GstDpmMixer * self, guint neighbour)
{
  gst_dpm_node_kick (GST_DPM_NODE (self), neighbour);
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_MAX_CLIENTS, GstDpmMixer, max_clients),
  GST_FAIRMIX_FIELD (PROP_PARENT, GstDpmMixer, parent),
  GST_FAIRMIX_FIELD (PROP_DISPLAY_NAME, GstDpmMixer, display_name),
  GST_FAIRMIX_FIELD (PROP_MAX_BITRATE, GstDpmMixer, max_bitrate),
};

static void
gst_dpm_mixer_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
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

  g_ptr_array_unref (self->neighbours);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self->parent);
  g_free (self->display_name);
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

  node_class->setup = gst_dpm_mixer_setup;
  node_class->teardown = gst_dpm_mixer_teardown;
  node_class->joined = gst_dpm_mixer_joined;
  node_class->left = gst_dpm_mixer_left;
  node_class->uplink = gst_dpm_mixer_uplink;
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
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->neighbours = g_ptr_array_new ();
  self->max_clients = DEFAULT_MAX_CLIENTS;
  g_object_set (self, "port", GST_DPM_DEFAULT_PORT, NULL);
}
