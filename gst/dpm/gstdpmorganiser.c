/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmorganiser.h"

#include "gstdpmcoupler.h"

#include <string.h>

#include "fairmix/topology/fmx-mixer-election.h"
#include "fairmix/topology/fmx-shared-bottleneck.h"

#define MAX_SEATS 128
#define UPDATE_TICKS 2          /* 400 ms: not more often than intervals end */

/* What is seen of a neighbour in a tick. */
typedef struct
{
  guint number;
  gboolean has_shape;
  FmxDelayShapeStats shape;
  FmxElectionNeighbour about;
  gdouble sent_bps;
  guint64 n_drains;
  GstElement *rate;             /* its tfrcrate */
  gchar *name;
} Sight;

struct _GstDpmOrganiser
{
  GstDpmHall *hall;
  guint n_ticks;
  FmxTime now;                  /* of the last tick */
  GstDpmCoupler *coupler;
  gint n_coupled;               /* atomic */

  /* with the lock */
  GstFairmixLock lock;
  gboolean begun;
  guint numbers[MAX_SEATS];     /* of the neighbours; 0: nobody */
  GHashTable *mixing;           /* numbers of those who said that they mix ... */
  GHashTable *told_mixing;      /* ... and of whom that was told */
  gint told[MAX_SEATS];         /* the last thing of which we told; -1: nothing */
  FmxSharedBottleneck bottleneck;
  FmxSharedFlow *flows;
  FmxSharedPair *pairs;
  FmxMixerElection election;
  FmxElectionSeat seats[MAX_SEATS];
};

GstDpmOrganiser *
gst_dpm_organiser_new (GstDpmHall * hall)
{
  GstDpmOrganiser *self = g_new0 (GstDpmOrganiser, 1);

  self->hall = hall;
  self->coupler = gst_dpm_coupler_new (MAX_SEATS);
  self->mixing = g_hash_table_new (NULL, NULL);
  self->told_mixing = g_hash_table_new (NULL, NULL);
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  return self;
}

void
gst_dpm_organiser_reset (GstDpmOrganiser * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->begun = FALSE;
  memset (self->numbers, 0, sizeof self->numbers);
  g_hash_table_remove_all (self->mixing);
  g_hash_table_remove_all (self->told_mixing);
  for (guint i = 0; i < MAX_SEATS; i++)
    gst_dpm_coupler_forget (self->coupler, i);
  g_atomic_int_set (&self->n_coupled, 0);
  g_clear_pointer (&self->flows, g_free);
  g_clear_pointer (&self->pairs, g_free);
  gst_fairmix_lock_release (&self->lock);
}

void
gst_dpm_organiser_free (GstDpmOrganiser * self)
{
  gst_dpm_organiser_reset (self);
  gst_dpm_coupler_free (self->coupler);
  g_hash_table_unref (self->mixing);
  g_hash_table_unref (self->told_mixing);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self);
}

/* with the lock */
static void
begin (GstDpmOrganiser * self)
{
  FmxSharedBottleneckParams shared;
  FmxElectionParams election;

  self->begun = TRUE;
  self->flows = g_new (FmxSharedFlow, MAX_SEATS);
  self->pairs = g_new (FmxSharedPair, FMX_SHARED_BOTTLENECK_PAIRS (MAX_SEATS));
  fmx_shared_bottleneck_params_default (&shared);
  fmx_shared_bottleneck_init (&self->bottleneck, &shared, self->flows,
      self->pairs, MAX_SEATS);
  fmx_election_params_default (&election);
  fmx_mixer_election_init (&self->election, &election, self->seats, MAX_SEATS);
}

/* --- what there is to see ------------------------------------------------ */

static gboolean
read_shape (const GstStructure * s, FmxDelayShapeStats * shape)
{
  gboolean has_mean, congested;

  if (!gst_structure_get (s, "n-intervals", G_TYPE_UINT64, &shape->n_intervals,
          "interval", G_TYPE_UINT64, &shape->interval,
          "has-mean", G_TYPE_BOOLEAN, &has_mean,
          "mean-delay", G_TYPE_DOUBLE, &shape->mean_s,
          "congested", G_TYPE_BOOLEAN, &congested,
          "skewness", G_TYPE_DOUBLE, &shape->skewness,
          "variability", G_TYPE_DOUBLE, &shape->variability_s,
          "frequency", G_TYPE_DOUBLE, &shape->frequency,
          "loss", G_TYPE_DOUBLE, &shape->loss, NULL))
    return FALSE;
  shape->has_mean = has_mean;
  shape->congested = congested;
  return shape->n_intervals > 0;
}

static void
sight_clear (gpointer data)
{
  Sight *sight = data;

  gst_clear_object (&sight->rate);
  g_free (sight->name);
}

static void
look_at (GstDpmNeighbour * neighbour, gpointer user)
{
  GArray *sights = user;
  GstDpmPeer *peer = gst_dpm_neighbour_get_peer (neighbour);
  guint flags = gst_dpm_peer_get_flags (peer);
  GstStructure *s = gst_structure_new_empty ("neighbour"), *rate = NULL;
  GstStructure *shape = NULL;
  Sight sight = {.number = gst_dpm_peer_get_number (peer) };
  guint64 target_bps = 0;
  gint64 rtt = 0;

  if (flags & (FMX_JOIN_MAY_MIX | FMX_JOIN_MAY_MOVE))
    gst_dpm_neighbour_add_stats (neighbour, s);
  if (gst_structure_get (s, "rate", GST_TYPE_STRUCTURE, &rate, NULL)) {
    gst_structure_get (rate, "target-bps", G_TYPE_UINT64, &target_bps,
        "rtt", G_TYPE_INT64, &rtt, "sent-bps", G_TYPE_DOUBLE, &sight.sent_bps,
        "n-drains", G_TYPE_UINT64, &sight.n_drains, NULL);
    gst_structure_get (rate, "delay-shape", GST_TYPE_STRUCTURE, &shape, NULL);
    sight.has_shape = shape != NULL && read_shape (shape, &sight.shape);
    sight.about.may_mix = (flags & FMX_JOIN_MAY_MIX) != 0;
    sight.about.rtt = rtt;
    sight.about.target_bps = (gdouble) target_bps;
    sight.rate = gst_dpm_neighbour_get_rate (neighbour);
    sight.name = g_strdup (gst_dpm_peer_get_name (peer));
    g_array_append_val (sights, sight);
  }
  g_clear_pointer (&shape, gst_structure_free);
  g_clear_pointer (&rate, gst_structure_free);
  gst_structure_free (s);
}

/* with the lock.  Returns: where @number sits; MAX_SEATS: nowhere */
static guint
seat_of (GstDpmOrganiser * self, guint number)
{
  guint i = 0;

  while (i < MAX_SEATS && self->numbers[i] != number)
    i++;
  return i;
}

/* with the lock */
static void
note (GstDpmOrganiser * self, const Sight * sight)
{
  guint seat = seat_of (self, sight->number);

  if (seat == MAX_SEATS)
    seat = seat_of (self, 0);
  if (seat == MAX_SEATS)
    return;
  if (self->numbers[seat] == 0)
    self->told[seat] = -1;
  self->numbers[seat] = sight->number;
  fmx_mixer_election_set (&self->election, seat, &sight->about);
  if (sight->has_shape)
    fmx_shared_bottleneck_set (&self->bottleneck, seat, &sight->shape);
}

/* --- what follows -------------------------------------------------------- */

static void
tell (GstDpmOrganiser * self, const gchar * event, guint neighbour, guint mixer)
{
  gst_dpm_node_tell (self->hall->node, gst_structure_new ("dpm-topology",
          "event", G_TYPE_STRING, event, "neighbour", G_TYPE_UINT, neighbour,
          "mixer", G_TYPE_UINT, mixer, NULL));
}

static void
act (GstDpmOrganiser * self, const FmxElectionAction * action, guint number,
    guint mixer, gboolean again)
{
  static const gchar *const names[] = { "asked", "told", "released" };
  GstDpmPort *port = gst_dpm_node_get_port (self->hall->node);

  if (action->kind == FMX_ELECTION_MOVE) {
    gst_dpm_hall_expect_move (self->hall, number, mixer);
    gst_dpm_port_move (port, number, mixer);
  } else {
    gst_dpm_port_ask (port, number, action->kind == FMX_ELECTION_ASK);
  }
  if (!again)
    tell (self, names[action->kind], number, mixer);
}

static void
do_all (GstDpmOrganiser * self, FmxTime now)
{
  FmxElectionAction action;
  gboolean any = TRUE;

  while (any) {
    guint number = 0, mixer = 0;
    gboolean again = TRUE;

    gst_fairmix_lock_acquire (&self->lock);
    any = fmx_mixer_election_next_action (&self->election, &action, now);
    if (any) {
      number = self->numbers[action.neighbour];
      mixer = action.mixer != FMX_NO_NEIGHBOUR ?
          self->numbers[action.mixer] : 0;
      again = self->told[action.neighbour] == (gint) action.kind;
      self->told[action.neighbour] = (gint) action.kind;
    }
    gst_fairmix_lock_release (&self->lock);
    if (any)
      act (self, &action, number, mixer, again);
  }
}

/* with the lock.  Who is told to go has no share any more that matters. */
static void
prepare_coupling (GstDpmOrganiser * self, const GArray * sights,
    const GstStructure * weights, GstDpmCoupled * coupled)
{
  memset (coupled, 0, MAX_SEATS * sizeof *coupled);
  for (guint i = 0; i < sights->len; i++) {
    const Sight *sight = &g_array_index (sights, Sight, i);
    guint seat = seat_of (self, sight->number);

    if (seat < MAX_SEATS)
      coupled[seat] = (GstDpmCoupled) {
      sight->rate, fmx_shared_bottleneck_group (&self->bottleneck, seat),
          gst_dpm_coupler_weight (weights, sight->name),
          sight->about.target_bps, sight->sent_bps, sight->n_drains};
  }
}

void
gst_dpm_organiser_tick (GstDpmOrganiser * self, const GstStructure * weights,
    FmxTime now)
{
  GArray *sights = g_array_new (FALSE, FALSE, sizeof (Sight));
  GstDpmRoster *roster = gst_dpm_node_get_roster (self->hall->node);
  gboolean updates = ++self->n_ticks % UPDATE_TICKS == 0;
  GstDpmCoupled coupled[MAX_SEATS];
  guint32 groups[MAX_SEATS];

  self->now = now;
  g_array_set_clear_func (sights, sight_clear);
  gst_dpm_hall_foreach (self->hall, look_at, sights);
  gst_fairmix_lock_acquire (&self->lock);
  if (!self->begun)
    begin (self);
  for (guint i = 0; i < sights->len; i++)
    note (self, &g_array_index (sights, Sight, i));
  if (updates) {
    fmx_shared_bottleneck_update (&self->bottleneck);
    for (guint i = 0; i < MAX_SEATS; i++)
      groups[i] = fmx_shared_bottleneck_group (&self->bottleneck, i);
    fmx_mixer_election_update (&self->election, groups,
        gst_dpm_roster_count (roster), now);
    prepare_coupling (self, sights, weights, coupled);
  }
  gst_fairmix_lock_release (&self->lock);
  if (updates)
    g_atomic_int_set (&self->n_coupled,
        (gint) gst_dpm_coupler_share_out (self->coupler, coupled));
  g_array_unref (sights);
  do_all (self, now);
}

void
gst_dpm_organiser_left (GstDpmOrganiser * self, GstDpmPeer * peer,
    FmxJoinReason reason)
{
  guint number = gst_dpm_peer_get_number (peer), seat;
  gboolean moved = reason == FMX_JOIN_REASON_MOVED;

  gst_fairmix_lock_acquire (&self->lock);
  g_hash_table_remove (self->mixing, GUINT_TO_POINTER (number));
  g_hash_table_remove (self->told_mixing, GUINT_TO_POINTER (number));
  seat = self->begun ? seat_of (self, number) : MAX_SEATS;
  if (seat < MAX_SEATS) {
    fmx_shared_bottleneck_forget (&self->bottleneck, seat);
    fmx_mixer_election_remove (&self->election, seat, moved);
    self->numbers[seat] = 0;
    gst_dpm_coupler_forget (self->coupler, seat);
  }
  gst_fairmix_lock_release (&self->lock);
  if (moved)
    tell (self, "moved", number, 0);
}

void
gst_dpm_organiser_mixes (GstDpmOrganiser * self, GstDpmPeer * peer,
    const FmxJoinMixing * mixing)
{
  FmxElectionAnswer answer = { mixing->mixes, mixing->n_below,
    (gdouble) mixing->least_bps
  };
  guint number = gst_dpm_peer_get_number (peer), seat;
  gpointer who = GUINT_TO_POINTER (number);

  gst_fairmix_lock_acquire (&self->lock);
  seat = self->begun ? seat_of (self, number) : MAX_SEATS;
  if (seat < MAX_SEATS)
    fmx_mixer_election_answered (&self->election, seat, &answer, self->now);
  if (mixing->mixes)            /* it says so again and again */
    g_hash_table_add (self->mixing, who);
  else
    g_hash_table_remove (self->mixing, who);
  gst_fairmix_lock_release (&self->lock);
}

/* with the lock: those who are in @now but not in @told, or the other way */
static void
add_those_beyond (GHashTable * now, GHashTable * told, GArray * numbers)
{
  GHashTableIter iter;
  gpointer who;

  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &who, NULL)) {
    guint number = GPOINTER_TO_UINT (who);

    if (!g_hash_table_contains (told, who))
      g_array_append_val (numbers, number);
  }
}

void
gst_dpm_organiser_tell_mixing (GstDpmOrganiser * self)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n_begun, i;

  gst_fairmix_lock_acquire (&self->lock);
  add_those_beyond (self->mixing, self->told_mixing, numbers);
  n_begun = numbers->len;
  add_those_beyond (self->told_mixing, self->mixing, numbers);
  for (i = 0; i < numbers->len; i++) {
    gpointer who = GUINT_TO_POINTER (g_array_index (numbers, guint, i));

    if (i < n_begun)
      g_hash_table_add (self->told_mixing, who);
    else
      g_hash_table_remove (self->told_mixing, who);
  }
  gst_fairmix_lock_release (&self->lock);
  for (i = 0; i < numbers->len; i++)
    tell (self, i < n_begun ? "mixes" : "mixes-no-more",
        g_array_index (numbers, guint, i), 0);
  g_array_unref (numbers);
}

void
gst_dpm_organiser_add_stats (GstDpmOrganiser * self, GstStructure * stats)
{
  FmxElectionStats s = { 0 };
  guint n_grouped = 0;
  GstStructure *topology;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->begun) {
    fmx_mixer_election_get_stats (&self->election, &s);
    for (guint i = 0; i < MAX_SEATS; i++)
      n_grouped += fmx_shared_bottleneck_group (&self->bottleneck, i)
          != FMX_NO_GROUP;
  }
  gst_fairmix_lock_release (&self->lock);
  topology = gst_structure_new ("application/x-fairmix-topology-stats",
      "n-grouped", G_TYPE_UINT, n_grouped,
      "n-coupled", G_TYPE_UINT, (guint) g_atomic_int_get (&self->n_coupled),
      "n-asked", G_TYPE_UINT64, s.n_asked,
      "n-elected", G_TYPE_UINT64, s.n_elected,
      "n-moved", G_TYPE_UINT64, s.n_moved,
      "n-released", G_TYPE_UINT64, s.n_released,
      "n-failed", G_TYPE_UINT64, s.n_failed,
      "n-worse", G_TYPE_UINT64, s.n_worse,
      "n-mixing", G_TYPE_UINT, s.n_mixing, NULL);
  gst_structure_set (stats, "topology", GST_TYPE_STRUCTURE, topology, NULL);
  gst_structure_free (topology);
}
