/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmhall.h"

#include <string.h>

#include "gstdpmportstats.h"

#include "fairmix/topology/fmx-mixer-election.h"

/* Who is sent to us is near, and has had a mixer that sent it more than one voice: as
 * much as comes in over the link that we share, for a round trip.  A TCP begins with
 * 10 segments in one [RFC6928], which is more if that takes up to 0.4 s. */
#define NEAR_BITRATE 300000

#define MOVE_TICKS 30           /* who has not gone after 6 s stays */
#define NOBODY (-1)
#define NAMESAKE (-2)           /* whoever has the stream's name */
#define GOING_TICKS 3           /* what somebody said is heard to its end */

/* Somebody whose streams are about to come from another neighbour */
typedef struct
{
  GstDpmNeighbour *neighbour;
  gint successor;               /* where its streams go on, as of partialmix' pads */
  guint n_ticks;                /* after so many it is forgotten, or removed */
  gboolean is_gone;             /* and in no other table any more */
} Move;

void
gst_dpm_hall_init (GstDpmHall * self, GstDpmNode * node)
{
  self->node = node;
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->neighbours = g_ptr_array_new ();
  self->moves = g_array_new (FALSE, FALSE, sizeof (Move));
}

void
gst_dpm_hall_clear (GstDpmHall * self)
{
  g_ptr_array_unref (self->neighbours);
  g_array_unref (self->moves);
  g_free (self->voice_name);
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
  return g_strcmp0 (self->voice_name, name) == 0;
}

/* Returns: (transfer full): @name, from the second on with its number behind it, in as
 * many bytes as others are told */
static gchar *
name_with_number (const gchar * name, guint n)
{
  gchar head[FMX_JOIN_NAME_BYTES + 1];
  gchar *tail = n > 1 ? g_strdup_printf (" (%u)", n) : g_strdup ("");
  gchar *own;
  gsize size;

  fmx_join_name_copy (head, *name != 0 ? name : "somebody");
  size = MIN (strlen (head), FMX_JOIN_NAME_BYTES - strlen (tail));
  while (((guchar) head[size] & 0xc0) == 0x80)  /* in a character of UTF-8 */
    size--;
  head[size] = 0;
  own = g_strconcat (head, tail, NULL);
  g_free (tail);
  return own;
}

/* @is_voice: of our own voice.  Returns: (transfer full): what nobody else has */
static gchar *
name_of_its_own (GstDpmHall * self, const gchar * name, gboolean is_voice)
{
  gchar *own = name_with_number (name, 1);

  gst_fairmix_lock_acquire (&self->lock);
  if (is_voice)
    g_clear_pointer (&self->voice_name, g_free);
  for (guint n = 2; name_is_used (self, own); n++) {
    g_free (own);
    own = name_with_number (name, n);
  }
  if (is_voice)
    self->voice_name = g_strdup (own);
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
add_neighbour (GstDpmHall * self, GstDpmPeer * peer, const gchar * cname,
    guint initial_bps)
{
  GstDpmNeighbourParams params = {.cname = cname };
  GstDpmNeighbour *neighbour;

  GST_OBJECT_LOCK (self->node);
  params.max_bitrate = self->max_bitrate;
  params.initial_bitrate = initial_bps;
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

/* Tells @peer the names on @page.  Returns: whether there is one of that number */
static gboolean
say_names (GstDpmHall * self, GstDpmPeer * peer, gboolean news, guint page)
{
  GstBuffer *buffer = gst_dpm_roster_write_sdes (gst_dpm_node_get_roster
      (self->node), (gint) gst_dpm_peer_get_number (peer), self->ssrc, news,
      page);

  if (buffer == NULL)
    return FALSE;
  gst_dpm_port_send (gst_dpm_node_get_port (self->node), peer, buffer, TRUE);
  gst_buffer_unref (buffer);
  return TRUE;
}

/* ... all of them, or all that are new */
static void
say_all_names (GstDpmHall * self, GstDpmPeer * peer, gboolean news)
{
  guint page = 0;

  while (say_names (self, peer, news, page))
    page++;
}

/* Who comes and goes all the time must not fill the paths of all others with the names of
 * all others. */
void
gst_dpm_hall_names (GstDpmHall * self, gboolean news)
{
  gboolean any = FALSE;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->neighbours->len; i++) {
    GstDpmPeer *peer = gst_dpm_neighbour_get_peer (g_ptr_array_index
        (self->neighbours, i));

    if (news)
      say_all_names (self, peer, TRUE);
    else
      any |= say_names (self, peer, FALSE, self->page);
  }
  gst_fairmix_lock_release (&self->lock);
  if (!news)
    self->page = any ? self->page + 1 : 0;
}

void
gst_dpm_hall_joined (GstDpmHall * self, GstDpmPeer * peer)
{
  gboolean is_mixer = gst_dpm_peer_get_flags (peer) & FMX_JOIN_IS_MIXER;
  gchar *name = name_of_its_own (self, gst_dpm_peer_get_name (peer), FALSE);

  /* What comes from a mixer are the voices of others; it says whose. */
  add_neighbour (self, peer, is_mixer ? NULL : name,
      self->is_near ? NEAR_BITRATE : 0);
  tell (self, "joined", peer, name, FMX_JOIN_REASON_NONE);
  say_all_names (self, peer, FALSE);    /* the others know them */
  g_free (name);
}

/* --- who goes to another one --------------------------------------------- */

/* with the lock.  Returns: (nullable): who has that number */
static GstDpmNeighbour *
find_number (GstDpmHall * self, guint number)
{
  for (guint i = 0; i < self->neighbours->len; i++) {
    GstDpmNeighbour *neighbour = g_ptr_array_index (self->neighbours, i);

    if (gst_dpm_peer_get_number (gst_dpm_neighbour_get_peer (neighbour)) ==
        number)
      return neighbour;
  }
  return NULL;
}

/* with the lock.  Returns: (nullable): valid until the next call */
static Move *
find_move (GstDpmHall * self, const GstDpmNeighbour * neighbour)
{
  for (guint i = 0; i < self->moves->len; i++) {
    Move *move = &g_array_index (self->moves, Move, i);

    if (move->neighbour == neighbour)
      return move;
  }
  return NULL;
}

static void
set_successor (GstPad * pad, gint successor)
{
  if (pad != NULL)
    g_object_set (pad, "successor", successor, NULL);
  gst_clear_object (&pad);
}

/* with the lock.  Returns: (transfer full) (nullable): the pad to be told */
static GstPad *
note_move (GstDpmHall * self, GstDpmNeighbour * neighbour, gint successor)
{
  Move move = { neighbour, successor, MOVE_TICKS, FALSE };
  Move *known = find_move (self, neighbour);

  if (known != NULL)
    *known = move;
  else
    g_array_append_val (self->moves, move);
  return gst_dpm_neighbour_get_sink (neighbour);
}

void
gst_dpm_hall_expect_move (GstDpmHall * self, guint number, guint mixer)
{
  GstDpmNeighbour *neighbour;
  GstPad *sink = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  neighbour = find_number (self, number);
  if (neighbour != NULL && number != mixer && find_number (self, mixer) != NULL)
    sink = note_move (self, neighbour, (gint) mixer);
  gst_fairmix_lock_release (&self->lock);
  set_successor (sink, (gint) mixer);
}

void
gst_dpm_hall_expect_return (GstDpmHall * self, GstDpmPeer * mixer)
{
  GstDpmNeighbour *neighbour;
  GstPad *sink = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  neighbour = find_number (self, gst_dpm_peer_get_number (mixer));
  if (neighbour != NULL)
    sink = note_move (self, neighbour, NAMESAKE);
  gst_fairmix_lock_release (&self->lock);
  set_successor (sink, NAMESAKE);
}

/* What was sent to @neighbour and to its mixer went over the same link.  Returns: whether
 * it was sent there, and is removed later: its streams go on from there. */
static gboolean
hand_over (GstDpmHall * self, GstDpmNeighbour * neighbour)
{
  GstDpmNeighbour *mixer = NULL;
  Move *move;

  gst_fairmix_lock_acquire (&self->lock);
  move = find_move (self, neighbour);
  if (move != NULL) {
    move->is_gone = TRUE;
    move->n_ticks = GOING_TICKS;
    if (move->successor >= 0)
      mixer = find_number (self, (guint) move->successor);
  }
  gst_fairmix_lock_release (&self->lock);
  if (mixer != NULL)            /* who asks is who removes it */
    gst_dpm_neighbour_raise (mixer, gst_dpm_neighbour_get_target_bps (mixer,
            NULL) + gst_dpm_neighbour_get_target_bps (neighbour, NULL));
  return move != NULL;
}

/* Gives up @neighbour, which is in no table any more but may be about to move. */
static void
forget_neighbour (GstDpmHall * self, GstDpmNeighbour * neighbour)
{
  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = self->moves->len; i > 0; i--)
    if (g_array_index (self->moves, Move, i - 1).neighbour == neighbour)
      g_array_remove_index_fast (self->moves, i - 1);
  gst_fairmix_lock_release (&self->lock);
  gst_dpm_neighbour_free (neighbour);
}

/* with the lock: those whose time is over.  @gone: gets who has gone, @staying: the sink
 * pads of the others; both (transfer full) */
static void
take_moves (GstDpmHall * self, gboolean all, GPtrArray * gone,
    GPtrArray * staying)
{
  for (guint i = self->moves->len; i > 0; i--) {
    Move *move = &g_array_index (self->moves, Move, i - 1);
    GstPad *sink = gst_dpm_neighbour_get_sink (move->neighbour);

    if (--move->n_ticks > 0 && !all) {
      gst_clear_object (&sink);
      continue;
    }
    if (move->is_gone)
      g_ptr_array_add (gone, move->neighbour);
    if (sink != NULL)
      g_ptr_array_add (staying, sink);
    g_array_remove_index_fast (self->moves, i - 1);
  }
}

static void
end_moves (GstDpmHall * self, gboolean all)
{
  GPtrArray *gone = g_ptr_array_new_with_free_func ((GDestroyNotify)
      gst_dpm_neighbour_free);
  GPtrArray *staying = g_ptr_array_new ();

  gst_fairmix_lock_acquire (&self->lock);
  take_moves (self, all, gone, staying);
  gst_fairmix_lock_release (&self->lock);
  for (guint i = 0; i < staying->len; i++)
    set_successor (g_ptr_array_index (staying, i), NOBODY);
  g_ptr_array_unref (staying);
  g_ptr_array_unref (gone);
}

void
gst_dpm_hall_take_share (GstDpmHall * self, GstDpmPeer * above)
{
  GstDpmNeighbour *neighbour = find_neighbour (self, above);
  gdouble sent_bps;
  guint n_others;

  gst_fairmix_lock_acquire (&self->lock);
  n_others = self->neighbours->len - 1; /* we are as many as before who came last */
  gst_fairmix_lock_release (&self->lock);
  if (neighbour == NULL || n_others == 0)
    return;
  gst_dpm_neighbour_get_target_bps (neighbour, &sent_bps);
  gst_dpm_neighbour_raise (neighbour, (guint64) fmx_election_share (sent_bps,
          n_others));
}

void
gst_dpm_hall_tick (GstDpmHall * self)
{
  end_moves (self, FALSE);
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
  if (reason == FMX_JOIN_REASON_MOVED && hand_over (self, neighbour))
    return;
  forget_neighbour (self, neighbour);
}

void
gst_dpm_hall_uplink (GstDpmHall * self, FmxJoinClientEvent event,
    GstDpmPeer * peer)
{
  GstDpmNeighbour *neighbour = find_neighbour (self, peer);

  if (event == FMX_JOIN_CLIENT_JOINED && neighbour != NULL) {
    gst_dpm_neighbour_change_path (neighbour);
  } else if (event == FMX_JOIN_CLIENT_JOINED) {
    add_neighbour (self, peer, NULL, 0);
    if (self->is_near)          /* whom we heard from above may come to us */
      set_successor (gst_dpm_neighbour_get_sink (find_neighbour (self, peer)),
          NAMESAKE);
    say_all_names (self, peer, FALSE);
  } else if (event == FMX_JOIN_CLIENT_LEFT && neighbour != NULL) {
    forget_neighbour (self, take_neighbour (self, peer));
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
  end_moves (self, TRUE);       /* nobody can be told to go any more */
  for (guint i = 0; i < neighbours->len; i++)
    gst_dpm_neighbour_free (g_ptr_array_index (neighbours, i));
  g_ptr_array_unref (neighbours);
}

#define VOICE_PAD "sink_" G_STRINGIFY (GST_DPM_LOCAL)

void
gst_dpm_hall_name_voice (GstDpmHall * self, const gchar * cname)
{
  GstPad *pad = gst_element_get_static_pad (gst_dpm_node_get_graph
      (self->node)->mixer, VOICE_PAD);
  gchar *own;

  if (pad == NULL)
    return;
  own = name_of_its_own (self, cname != NULL ? cname : g_get_user_name (),
      TRUE);
  g_object_set (pad, "cname", own, NULL);
  g_free (own);
  gst_object_unref (pad);
}

static void
remove_voice (GstDpmHall * self, GstElement * mixer)
{
  GstPad *pad = gst_element_get_static_pad (mixer, VOICE_PAD);

  if (pad != NULL)
    gst_element_release_request_pad (mixer, pad);
  gst_clear_object (&pad);
  gst_fairmix_lock_acquire (&self->lock);
  g_clear_pointer (&self->voice_name, g_free);
  gst_fairmix_lock_release (&self->lock);
}

/* Somebody talks where the mixer is: one more neighbour, without a network. */
void
gst_dpm_hall_set_voice (GstDpmHall * self, const GstDpmVoice * voice,
    const gchar * cname)
{
  GstElement *mixer = gst_dpm_node_get_graph (self->node)->mixer;
  GstPad *pad, *src;

  if (voice == NULL) {
    remove_voice (self, mixer);
    return;
  }
  pad = gst_element_request_pad_simple (mixer, VOICE_PAD);
  gst_dpm_hall_name_voice (self, cname);
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
  Least *least = user;
  guint64 bps = 0;

  if (gst_dpm_neighbour_get_peer (neighbour) != least->above)
    bps = gst_dpm_neighbour_get_target_bps (neighbour, NULL);
  if (bps > 0 && (least->bps == 0 || bps < least->bps))
    least->bps = bps;
}

guint64
gst_dpm_hall_get_least_bps (GstDpmHall * self, GstDpmPeer * above)
{
  Least least = { above, 0 };

  gst_dpm_hall_foreach (self, look_for_least, &least);
  return least.bps;
}
