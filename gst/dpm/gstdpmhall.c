/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmhall.h"

#include "gstdpmportstats.h"

void
gst_dpm_hall_init (GstDpmHall * self, GstDpmNode * node)
{
  self->node = node;
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->neighbours = g_ptr_array_new ();
}

void
gst_dpm_hall_clear (GstDpmHall * self)
{
  g_ptr_array_unref (self->neighbours);
  gst_fairmix_lock_clear (&self->lock);
}

/* --- neighbours ---------------------------------------------------------- */

/* with the lock */
static gboolean
name_is_used (GstDpmHall * self, const gchar * name)
{
  for (guint i = 0; i < self->neighbours->len; i++)
    if (g_strcmp0 (gst_dpm_neighbour_get_cname (g_ptr_array_index
                (self->neighbours, i)), name) == 0)
      return TRUE;
  return FALSE;
}

/* Returns: (transfer full): @name, or that with a number behind it */
static gchar *
name_of_its_own (GstDpmHall * self, const gchar * name)
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
tell (GstDpmHall * self, const gchar * event, GstDpmPeer * peer,
    const gchar * name, FmxJoinReason reason)
{
  FmxJoinAddress address;
  gchar *text;

  gst_dpm_peer_get_address (peer, &address);
  text = gst_dpm_address_to_string (&address);
  gst_dpm_node_tell (self->node, gst_structure_new ("dpm-neighbour",
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
add_neighbour (GstDpmHall * self, GstDpmPeer * peer, const gchar * cname)
{
  GstDpmNeighbourParams params = {.cname = cname };
  GstDpmNeighbour *neighbour;

  GST_OBJECT_LOCK (self->node);
  params.max_bitrate = self->max_bitrate;
  GST_OBJECT_UNLOCK (self->node);
  neighbour = gst_dpm_neighbour_new (gst_dpm_node_get_graph
      (self->node), peer, &params);
  gst_fairmix_lock_acquire (&self->lock);
  g_ptr_array_add (self->neighbours, neighbour);
  gst_fairmix_lock_release (&self->lock);
}

/* Returns: (transfer full) (nullable): no more in the table */
static GstDpmNeighbour *
take_neighbour (GstDpmHall * self, GstDpmPeer * peer)
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
say_names (GstDpmHall * self, GstDpmPeer * peer, gboolean all, guint page)
{
  GstDpmRoster *roster = gst_dpm_node_get_roster (self->node);
  gint number = (gint) gst_dpm_peer_get_number (peer);
  guint n_pages = 0;
  GstBuffer *buffer;

  while ((buffer = gst_dpm_roster_write_sdes (roster, number, self->ssrc,
              page++)) != NULL) {
    gst_dpm_port_send (gst_dpm_node_get_port (self->node), peer, buffer, TRUE);
    gst_buffer_unref (buffer);
    n_pages = page;
    if (!all)
      break;
  }
  return n_pages;
}

void
gst_dpm_hall_names (GstDpmHall * self, gboolean all)
{
  guint n_pages = 0;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++)
    n_pages = MAX (n_pages, say_names (self, gst_dpm_neighbour_get_peer
            (g_ptr_array_index (self->neighbours, i)), all,
            all ? 0 : self->page));
  gst_fairmix_lock_release (&self->lock);
  self->page = n_pages > self->page ? self->page + 1 : 0;
}

void
gst_dpm_hall_joined (GstDpmHall * self, GstDpmPeer * peer)
{
  gboolean is_mixer = gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER;
  gchar *name = name_of_its_own (self, gst_dpm_peer_get_name (peer));

  /* What comes from a mixer are the voices of others; it says whose. */
  add_neighbour (self, peer, is_mixer ? NULL : name);
  tell (self, "joined", peer, name, FMX_JOIN_REASON_NONE);
  say_names (self, peer, TRUE, 0);      /* the others know them */
  g_free (name);
}

void
gst_dpm_hall_left (GstDpmHall * self, GstDpmPeer * peer, FmxJoinReason reason)
{
  GstDpmNeighbour *neighbour = take_neighbour (self, peer);
  const gchar *name;

  if (neighbour == NULL)
    return;
  name = gst_dpm_neighbour_get_cname (neighbour);
  tell (self, "left", peer, name != NULL ? name : gst_dpm_peer_get_name (peer),
      reason);
  gst_dpm_neighbour_free (neighbour);
}

/* Returns: (transfer none) (nullable): the thread that asks is the one that removes it */
static GstDpmNeighbour *
find_neighbour (GstDpmHall * self, GstDpmPeer * peer)
{
  GstDpmNeighbour *found = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++)
    if (gst_dpm_neighbour_get_peer (g_ptr_array_index (self->neighbours,
                i)) == peer)
      found = g_ptr_array_index (self->neighbours, i);
  gst_fairmix_lock_release (&self->lock);
  return found;
}

void
gst_dpm_hall_uplink (GstDpmHall * self, FmxJoinClientEvent event,
    GstDpmPeer * peer)
{
  GstDpmNeighbour *neighbour = find_neighbour (self, peer);

  if (event == FMX_JOIN_CLIENT_JOINED && neighbour != NULL) {
    gst_dpm_neighbour_change_path (neighbour);
  } else if (event == FMX_JOIN_CLIENT_JOINED) {
    add_neighbour (self, peer, NULL);
    say_names (self, peer, TRUE, 0);
  } else if (event == FMX_JOIN_CLIENT_LEFT && neighbour != NULL) {
    gst_dpm_neighbour_free (take_neighbour (self, peer));
  }
}

void
gst_dpm_hall_empty (GstDpmHall * self)
{
  GPtrArray *neighbours;

  gst_fairmix_lock_acquire (&self->lock);
  neighbours = self->neighbours;
  self->neighbours = g_ptr_array_new ();
  gst_fairmix_lock_release (&self->lock);
  for (guint i = 0; i < neighbours->len; i++)
    gst_dpm_neighbour_free (g_ptr_array_index (neighbours, i));
  g_ptr_array_unref (neighbours);
}

/* Somebody talks where the mixer is: one more neighbour, without a network. */
void
gst_dpm_hall_set_voice (GstDpmHall * self, const GstDpmVoice * voice,
    const gchar * cname)
{
  GstElement *mixer = gst_dpm_node_get_graph (self->node)->mixer;
  const gchar *name = "sink_" G_STRINGIFY (GST_DPM_LOCAL);
  GstPad *pad, *src;

  if (voice == NULL) {
    pad = gst_element_get_static_pad (mixer, name);
    if (pad != NULL)
      gst_element_release_request_pad (mixer, pad);
    gst_clear_object (&pad);
    return;
  }
  pad = gst_element_request_pad_simple (mixer, name);
  g_object_set (pad, "cname", cname != NULL ? cname : g_get_user_name (), NULL);
  src = gst_element_get_static_pad (voice->last, "src");
  gst_pad_link (src, pad);
  gst_object_unref (src);
  gst_object_unref (pad);
}

void
gst_dpm_hall_add_stats (GstDpmHall * self, GstStructure * stats)
{
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

void
gst_dpm_hall_foreach (GstDpmHall * self, GstDpmHallFunc func, gpointer user)
{
  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++)
    func (g_ptr_array_index (self->neighbours, i), user);
  gst_fairmix_lock_release (&self->lock);
}

typedef struct
{
  GstDpmPeer *above;
  guint64 bps;
} Least;

static void
look_for_least (GstDpmNeighbour * neighbour, gpointer user)
{
  GstStructure *s = gst_structure_new_empty ("neighbour"), *rate = NULL;
  Least *least = user;
  guint64 bps = 0;

  if (gst_dpm_neighbour_get_peer (neighbour) != least->above)
    gst_dpm_neighbour_add_stats (neighbour, s);
  if (gst_structure_get (s, "rate", GST_TYPE_STRUCTURE, &rate, NULL)) {
    gst_structure_get_uint64 (rate, "target-bps", &bps);
    gst_structure_free (rate);
  }
  if (bps > 0 && (least->bps == 0 || bps < least->bps))
    least->bps = bps;
  gst_structure_free (s);
}

guint64
gst_dpm_hall_get_least_bps (GstDpmHall * self, GstDpmPeer * above)
{
  Least least = { above, 0 };

  gst_dpm_hall_foreach (self, look_for_least, &least);
  return least.bps;
}
