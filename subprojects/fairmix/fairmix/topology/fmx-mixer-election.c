/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/topology/fmx-mixer-election.h"

#include <assert.h>
#include <string.h>

/* Round trips closer than this are alike. */
#define ALIKE (5 * FMX_MSECOND)

#define MOST_BACK_OFFS 5u

#define SHARE_ROOM 1.25

void
fmx_election_params_default (FmxElectionParams *params)
{
  params->voice_bps = 45000.0;
  params->mix_bps = 20000.0;
  params->hop_delay = 5 * FMX_MSECOND;
  params->most_delay = 40 * FMX_MSECOND;
  params->least_voices = 1.0;
  params->least_saved = 0.5;
  params->hold_on = 10 * FMX_SECOND;
  params->hold_off = 30 * FMX_SECOND;
  params->answer_time = 6 * FMX_SECOND;
  params->repeat = 500 * FMX_MSECOND;
  params->back_off = 60 * FMX_SECOND;
  params->settle = 20 * FMX_SECOND;
  params->least_worse = 1.0;
  params->hold_worse = 15 * FMX_SECOND;
}

void
fmx_mixer_election_init (FmxMixerElection *election,
    const FmxElectionParams *params, FmxElectionSeat *seats, uint32_t n)
{
  assert (n <= FMX_MIXER_ELECTION_MAX && params->voice_bps > 0.0);
  memset (election, 0, sizeof *election);
  memset (seats, 0, n * sizeof *seats);
  election->params = *params;
  election->seats = seats;
  election->n = n;
}

double
fmx_election_share (double sent_bps, uint32_t n)
{
  assert (n > 0 && sent_bps >= 0.0);
  return SHARE_ROOM * sent_bps * (n + 1) / n;
}

/* --- whether it pays ----------------------------------------------------- */

uint32_t
fmx_election_voices (const FmxElectionParams *params, double bps,
    uint32_t n_voices, double *used_bps)
{
  double all_bps = n_voices * params->voice_bps;
  uint32_t apart = 0;

  if (all_bps <= bps) {
    *used_bps = all_bps;
    return n_voices;
  }
  if (bps > params->mix_bps)
    apart = (uint32_t) ((bps - params->mix_bps) / params->voice_bps);
  *used_bps = bps;              /* the mix takes what is left */
  return apart < n_voices ? apart : n_voices;
}

void
fmx_election_gain (const FmxElectionParams *params, uint32_t n_members,
    double bps, uint32_t n_voices, FmxElectionGain *gain)
{
  uint32_t near = n_members < n_voices ? n_members : n_voices;
  uint32_t others = n_voices > 0 ? n_voices - 1 : 0;

  gain->voices_before = fmx_election_voices (params, bps / n_members, others,
      &gain->before_bps);
  gain->before_bps *= n_members;
  /* those near each other hear each other without the bottleneck */
  gain->voices_after = fmx_election_voices (params, bps, n_voices - near,
      &gain->after_bps);
  gain->voices_after += near > 0 ? near - 1 : 0;
}

static bool
pays (const FmxElectionParams *params, const FmxElectionGain *gain)
{
  return gain->voices_after >= gain->voices_before + params->least_voices
      || gain->before_bps - gain->after_bps
      > params->least_saved * gain->before_bps;
}

/* --- who is there -------------------------------------------------------- */

static void
set_phase (FmxElectionSeat *seat, FmxElectionPhase phase, FmxTime now)
{
  seat->phase = phase;
  seat->phase_since = now;
  seat->say_at = now;
  seat->pays_since = FMX_TIME_NONE;
  seat->idle_since = FMX_TIME_NONE;
  seat->grown_at = now;
  seat->worse_since = FMX_TIME_NONE;
}

void
fmx_mixer_election_set (FmxMixerElection *election, uint32_t neighbour,
    const FmxElectionNeighbour *about)
{
  FmxElectionSeat *seat = &election->seats[neighbour];

  assert (neighbour < election->n);
  if (!seat->present) {
    memset (seat, 0, sizeof *seat);
    set_phase (seat, FMX_ELECTION_FREE, 0);
  }
  seat->present = true;
  seat->about = *about;
}

static bool
mixes (const FmxElectionSeat *seat)
{
  return seat->phase == FMX_ELECTION_MIXES
      || seat->phase == FMX_ELECTION_RELEASED;
}

/* Nobody is to go to @mixer any more. */
static void
call_back (FmxMixerElection *election, const FmxElectionSeat *mixer,
    FmxTime now)
{
  for (uint32_t i = 0; i < election->n; i++)
    if (election->seats[i].phase == FMX_ELECTION_TOLD
        && &election->seats[election->seats[i].mixer] == mixer)
      set_phase (&election->seats[i], FMX_ELECTION_FREE, now);
}

void
fmx_mixer_election_remove (FmxMixerElection *election, uint32_t neighbour,
    bool moved)
{
  FmxElectionSeat *seat = &election->seats[neighbour];

  assert (neighbour < election->n);
  if (seat->phase == FMX_ELECTION_TOLD && moved) {
    election->stats.n_moved++;
    election->seats[seat->mixer].n_below++;
    election->seats[seat->mixer].grown_at = FMX_TIME_NONE;
  }
  election->stats.n_mixing -= mixes (seat);
  call_back (election, seat, 0);
  memset (seat, 0, sizeof *seat);
}

static void
leave_alone (FmxMixerElection *election, FmxElectionSeat *seat, FmxTime now)
{
  unsigned n = seat->n_failures < MOST_BACK_OFFS ? seat->n_failures :
      MOST_BACK_OFFS;

  seat->left_alone = now + ((FmxTime) election->params.back_off << n);
  seat->n_failures++;
}

static void
fail (FmxMixerElection *election, FmxElectionSeat *seat, FmxTime now)
{
  election->stats.n_failed++;
  leave_alone (election, seat, now);
  set_phase (seat, FMX_ELECTION_FREE, now);
}

void
fmx_mixer_election_answered (FmxMixerElection *election, uint32_t neighbour,
    const FmxElectionAnswer *answer, FmxTime now)
{
  FmxElectionSeat *seat = &election->seats[neighbour];

  assert (neighbour < election->n);
  if (seat->phase == FMX_ELECTION_ASKED && answer->serves) {
    set_phase (seat, FMX_ELECTION_MIXES, now);
    election->stats.n_elected++;
    election->stats.n_mixing++;
  } else if (seat->phase == FMX_ELECTION_ASKED) {
    fail (election, seat, now);
  } else if (mixes (seat) && !answer->serves) {
    election->stats.n_mixing--;
    if (!seat->made_it_worse)
      seat->left_alone = now + (FmxTime) election->params.back_off;
    set_phase (seat, FMX_ELECTION_FREE, now);
    call_back (election, seat, now);
  }
  if (!mixes (seat))
    return;
  if (answer->n_below > seat->n_below)
    seat->grown_at = now;
  seat->n_below = answer->n_below;
  seat->least_bps = answer->least_bps;
}

/* --- what follows -------------------------------------------------------- */

/* Returns: whether @a suits better than @b, which may be none */
static bool
suits_better (const FmxElectionSeat *a, const FmxElectionSeat *b)
{
  FmxDuration of_a = a->about.rtt / ALIKE;

  if (b == NULL)
    return true;
  if (of_a != b->about.rtt / ALIKE)
    return of_a < b->about.rtt / ALIKE;
  return a->about.up_bps > b->about.up_bps;
}

/* What is known of one group. */
typedef struct
{
  uint32_t n;
  double bps;
  FmxDuration nearest;          /* the shortest round trip */
  FmxElectionSeat *best;        /* that may be asked */
  FmxElectionSeat *mixer;       /* that mixes */
  bool busy;                    /* somebody is asked already */
} Group;

static Group
group_of (FmxMixerElection *election, const uint32_t *groups, uint32_t group,
    FmxTime now)
{
  Group g = {.nearest = INT64_MAX };

  for (uint32_t i = 0; i < election->n; i++) {
    FmxElectionSeat *seat = &election->seats[i];

    if (!seat->present || groups[i] != group)
      continue;
    g.n++;
    g.bps += seat->about.target_bps;
    if (seat->about.rtt < g.nearest)
      g.nearest = seat->about.rtt;
    g.busy |= seat->phase == FMX_ELECTION_ASKED
        || seat->phase == FMX_ELECTION_RELEASED;
    g.busy |= seat->made_it_worse && now < seat->left_alone;
    if (seat->phase == FMX_ELECTION_MIXES)
      g.mixer = seat;
    if (seat->about.may_mix && seat->phase == FMX_ELECTION_FREE
        && now >= seat->left_alone && suits_better (seat, g.best))
      g.best = seat;
  }
  return g;
}

/* Returns: how many voices each of the group hears apart, in the mean */
static double
voices_of (const FmxMixerElection *election, const uint32_t *groups,
    uint32_t group, uint32_t n_voices)
{
  uint32_t others = n_voices > 0 ? n_voices - 1 : 0, sum = 0, n = 0;
  double used_bps;

  for (uint32_t i = 0; i < election->n; i++)
    if (election->seats[i].present && groups[i] == group) {
      sum += fmx_election_voices (&election->params,
          election->seats[i].about.target_bps, others, &used_bps);
      n++;
    }
  return n > 0 ? (double) sum / n : 0.0;
}

/* Nobody mixes for the group yet.  Returns: who is asked; %NULL: nobody */
static FmxElectionSeat *
consider (FmxMixerElection *election, const Group *group,
    FmxElectionSeat *first, uint32_t n_voices, FmxTime now)
{
  const FmxElectionParams *params = &election->params;
  FmxElectionGain gain;
  FmxDuration added;

  fmx_election_gain (params, group->n, group->bps, n_voices, &gain);
  added = group->best == NULL ? 0 :
      (group->best->about.rtt - group->nearest) / 2 + params->hop_delay;
  if (group->best == NULL || added > params->most_delay
      || !pays (params, &gain)) {
    first->pays_since = FMX_TIME_NONE;
    return NULL;
  }
  if (first->pays_since == FMX_TIME_NONE)
    first->pays_since = now;
  if (fmx_time_diff (now, first->pays_since) < params->hold_on)
    return NULL;
  first->pays_since = FMX_TIME_NONE;
  set_phase (group->best, FMX_ELECTION_ASKED, now);
  group->best->made_it_worse = false;
  election->stats.n_asked++;
  return group->best;
}

static void
send_there (FmxMixerElection *election, const uint32_t *groups, uint32_t group,
    const FmxElectionSeat *mixer, FmxTime now)
{
  for (uint32_t i = 0; i < election->n; i++) {
    FmxElectionSeat *seat = &election->seats[i];

    if (!seat->present || groups[i] != group || seat == mixer
        || seat->phase != FMX_ELECTION_FREE || now < seat->left_alone)
      continue;
    set_phase (seat, FMX_ELECTION_TOLD, now);
    seat->mixer = (uint32_t) (mixer - election->seats);
  }
}

/* Returns: whether those whom @seat serves, and itself, hear less apart than before
 * they went there, and have for a while */
static bool
is_worse (const FmxMixerElection *election, FmxElectionSeat *seat,
    uint32_t n_voices, FmxTime now)
{
  const FmxElectionParams *params = &election->params;
  uint32_t beyond = n_voices > seat->n_below + 1 ?
      n_voices - seat->n_below - 1 : 0;
  double used_bps, own, below;

  if (seat->grown_at == FMX_TIME_NONE)
    seat->grown_at = now;
  own = seat->n_below + fmx_election_voices (params, seat->about.target_bps,
      beyond, &used_bps);
  below = own;
  if (seat->least_bps > 0.0 && n_voices > 0)
    below = fmx_election_voices (params, seat->least_bps, n_voices - 1,
        &used_bps);
  if (below > own)
    below = own;
  if (seat->n_below == 0
      || fmx_time_diff (now, seat->grown_at) < params->settle
      || (own + seat->n_below * below) / (seat->n_below + 1)
      > seat->voices_before - params->least_worse) {
    seat->worse_since = FMX_TIME_NONE;
    return false;
  }
  if (seat->worse_since == FMX_TIME_NONE)
    seat->worse_since = now;
  return fmx_time_diff (now, seat->worse_since) >= params->hold_worse;
}

static void
release (FmxMixerElection *election, FmxElectionSeat *seat, FmxTime now)
{
  set_phase (seat, FMX_ELECTION_RELEASED, now);
  call_back (election, seat, now);
  election->stats.n_released++;
}

/* One who mixes: does it still pay, for those that it serves? */
static void
reconsider (FmxMixerElection *election, FmxElectionSeat *seat,
    uint32_t n_voices, FmxTime now)
{
  const FmxElectionParams *params = &election->params;
  FmxElectionGain gain;
  bool good = seat->n_below > 0;

  if (is_worse (election, seat, n_voices, now)) {
    leave_alone (election, seat, now);
    seat->made_it_worse = true;
    release (election, seat, now);
    election->stats.n_worse++;
    return;
  }
  if (good) {
    fmx_election_gain (params, seat->n_below + 1, seat->about.target_bps,
        n_voices, &gain);
    good = pays (params, &gain);
  }
  if (good) {
    seat->idle_since = FMX_TIME_NONE;
    return;
  }
  if (seat->idle_since == FMX_TIME_NONE)
    seat->idle_since = now;
  if (fmx_time_diff (now, seat->idle_since) < params->hold_off)
    return;
  release (election, seat, now);
}

static void
check_patience (FmxMixerElection *election, FmxElectionSeat *seat, FmxTime now)
{
  if (fmx_time_diff (now, seat->phase_since) < election->params.answer_time)
    return;
  if (seat->phase == FMX_ELECTION_RELEASED)
    election->stats.n_mixing--;
  if (seat->phase == FMX_ELECTION_ASKED || seat->phase == FMX_ELECTION_TOLD
      || seat->phase == FMX_ELECTION_RELEASED)
    fail (election, seat, now);
}

void
fmx_mixer_election_update (FmxMixerElection *election, const uint32_t *groups,
    uint32_t n_voices, FmxTime now)
{
  for (uint32_t i = 0; i < election->n; i++) {
    FmxElectionSeat *seat = &election->seats[i];
    bool is_first = groups[i] != FMX_NO_NEIGHBOUR;

    if (!seat->present)
      continue;
    check_patience (election, seat, now);
    if (seat->phase == FMX_ELECTION_MIXES)
      reconsider (election, seat, n_voices, now);
    for (uint32_t j = 0; j < i && is_first; j++)
      is_first = !election->seats[j].present || groups[j] != groups[i];
    if (is_first) {
      Group group = group_of (election, groups, groups[i], now);
      FmxElectionSeat *asked = NULL;

      if (group.mixer != NULL)
        send_there (election, groups, groups[i], group.mixer, now);
      else if (group.n > 1 && !group.busy)
        asked = consider (election, &group, seat, n_voices, now);
      if (asked != NULL)
        asked->voices_before = voices_of (election, groups, groups[i],
            n_voices);
    } else if (seat->phase == FMX_ELECTION_FREE) {
      seat->pays_since = FMX_TIME_NONE;
    }
  }
}

bool
fmx_mixer_election_next_action (FmxMixerElection *election,
    FmxElectionAction *action, FmxTime now)
{
  for (uint32_t i = 0; i < election->n; i++) {
    FmxElectionSeat *seat = &election->seats[i];

    if (!seat->present || now < seat->say_at)
      continue;
    if (seat->phase == FMX_ELECTION_ASKED)
      action->kind = FMX_ELECTION_ASK;
    else if (seat->phase == FMX_ELECTION_TOLD)
      action->kind = FMX_ELECTION_MOVE;
    else if (seat->phase == FMX_ELECTION_RELEASED)
      action->kind = FMX_ELECTION_RELEASE;
    else
      continue;
    action->neighbour = i;
    action->mixer = seat->phase == FMX_ELECTION_TOLD ? seat->mixer :
        FMX_NO_NEIGHBOUR;
    seat->say_at = now + (FmxTime) election->params.repeat;
    return true;
  }
  return false;
}

FmxElectionPhase
fmx_mixer_election_phase (const FmxMixerElection *election, uint32_t neighbour)
{
  assert (neighbour < election->n);
  return election->seats[neighbour].phase;
}

void
fmx_mixer_election_get_stats (const FmxMixerElection *election,
    FmxElectionStats *stats)
{
  *stats = election->stats;
}
