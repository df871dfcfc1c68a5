/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Twelve who talk, four behind each of three links: what changes if one of each four
 * mixes for the others.
 *
 *   organise [--held-out] [--seeds N]
 *
 * The rate sender, the grouping and the election are the library's, in virtual time.
 * Six clients are willing, two behind each link; who is asked answers, who is told goes,
 * after 200 ms.  A table for docs/algorithms/topology.md, of the last minute of four. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/topology/fmx-mixer-election.h"
#include "fmx-test-topology.h"

#define END (240 * FMX_SECOND)
#define STEADY (180 * FMX_SECOND)
#define ANSWER (200 * FMX_MSECOND)
#define VOICES CLIENTS

static const Net nets[] = {
  {"alone", 3, 300000, 0, 2 * FMX_MSECOND, 0, false, 0.0},
  {"a TCP on each, 600 kbit/s", 3, 600000, 1, 2 * FMX_MSECOND, 0, false, 0.0},
};

static FmxElectionSeat seats[CLIENTS];

/* Where each is */
typedef struct
{
  unsigned mixer[CLIENTS];      /* CLIENTS: the one outside */
  unsigned to[CLIENTS];         /* is on its way there */
  FmxTime at[CLIENTS];          /* ... or answers, then; NONE: nothing */
  unsigned below[CLIENTS];
  unsigned n_wrong;
  double last_move_s;
} Places;

typedef struct
{
  double voices, bps, moved_s;
  unsigned n, n_wrong, n_moved;
} Outcome;

static void
act (FmxMixerElection *election, Places *places, FmxTime now)
{
  FmxElectionAction action;

  while (fmx_mixer_election_next_action (election, &action, now)) {
    if (places->at[action.neighbour] != FMX_TIME_NONE)
      continue;
    places->at[action.neighbour] = now + (FmxTime) ANSWER;
    places->to[action.neighbour] = action.kind == FMX_ELECTION_MOVE ?
        action.mixer : CLIENTS;
  }
}

/* What was said has been heard. */
static void
arrive (const Net * net, FmxMixerElection *election, FmxSharedBottleneck *sb,
    Places *places, FmxTime now)
{
  for (unsigned i = 0; i < CLIENTS; i++) {
    unsigned to = places->to[i];

    if (places->at[i] > now)
      continue;
    places->at[i] = FMX_TIME_NONE;
    if (to == CLIENTS) {
      FmxElectionAnswer answer = { true, places->below[i], 0.0 };

      fmx_mixer_election_answered (election, i, &answer, now);
      continue;
    }
    places->mixer[i] = to;
    places->below[to]++;
    places->n_wrong += road_of (net, i) != road_of (net, to);
    places->last_move_s = fmx_time_to_s ((FmxDuration) now);
    bundles[i].mute = true;
    fmx_mixer_election_remove (election, i, true);
    fmx_shared_bottleneck_forget (sb, i);
  }
}

static void
organise (FmxMixerElection *election, const FmxSharedBottleneck *sb,
    Places *places, FmxTime now)
{
  uint32_t groups[CLIENTS];

  for (unsigned i = 0; i < CLIENTS; i++) {
    FmxRateSenderStats stats;
    FmxElectionNeighbour about;

    groups[i] = fmx_shared_bottleneck_group (sb, i);
    if (places->mixer[i] < CLIENTS)
      continue;
    fmx_rate_sender_get_stats (&bundles[i].sender, &stats, now);
    about.may_mix = i >= 6;
    about.rtt = stats.rtt;
    about.target_bps = (double) stats.target_bps;
    about.up_bps = 0.0;
    fmx_mixer_election_set (election, i, &about);
  }
  fmx_mixer_election_update (election, groups, VOICES, now);
  act (election, places, now);
}

/* Returns: how many voices a client hears apart, in the mean */
static double
count_voices (const Places *places)
{
  FmxElectionParams params;
  double n = 0.0;

  fmx_election_params_default (&params);
  for (unsigned i = 0; i < CLIENTS; i++) {
    unsigned mixer = places->mixer[i] < CLIENTS ? places->mixer[i] : i;
    unsigned near = places->below[mixer];
    double used, bps = (double) fmx_rate_sender_target_bps
        (&bundles[mixer].sender);

    n += near + fmx_election_voices (&params, bps, VOICES - 1 - near, &used);
  }
  return n / CLIENTS;
}

static void
run (const Net * net, uint64_t seed, bool organised, Outcome *out)
{
  FmxSharedBottleneckParams shared;
  FmxElectionParams params;
  FmxSharedBottleneck sb;
  FmxMixerElection election;
  FmxDelayShapeParams shape;
  FmxTime now = 0;
  double voices = 0.0, looks = 0.0;
  uint64_t bytes = 0;
  bool counting = false;
  Places places = { 0 };

  for (unsigned i = 0; i < CLIENTS; i++) {
    places.mixer[i] = places.to[i] = CLIENTS;
    places.at[i] = FMX_TIME_NONE;
  }
  fmx_shared_bottleneck_params_default (&shared);
  fmx_shared_bottleneck_init (&sb, &shared, flows, pairs, CLIENTS);
  fmx_election_params_default (&params);
  fmx_mixer_election_init (&election, &params, seats, CLIENTS);
  fmx_delay_shape_params_default (&shape);
  begin (net, seed, 3 * FMX_MSECOND);
  while (now < (FmxTime) END) {
    now = run_until (net, fmx_time_min (now + (FmxTime) shape.interval, END),
        now);
    if (now == END)             /* in the midst of an interval */
      break;
    take_shapes (&sb);
    arrive (net, &election, &sb, &places, now);
    if (organised)
      organise (&election, &sb, &places, now);
    if (now >= (FmxTime) STEADY && !counting) {
      counting = true;
      for (unsigned i = 0; i < CLIENTS; i++)
        fmx_sim_bundle_restart_counters (&bundles[i], now);
    }
    if (counting) {
      voices += count_voices (&places);
      looks++;
    }
  }
  for (unsigned i = 0; i < CLIENTS; i++) {
    bytes += bundles[i].received_bytes;
    out->n_moved += places.mixer[i] < CLIENTS;
  }
  out->voices += voices / looks;
  out->bps += 8.0 * (double) bytes / fmx_time_to_s (END - STEADY)
      / net->n_links;
  out->n_wrong += places.n_wrong;
  out->moved_s += places.last_move_s;
  out->n++;
}

int
main (int argc, char **argv)
{
  bool held_out = false;
  unsigned n_seeds = 4;

  for (int i = 1; i < argc; i++) {
    held_out |= strcmp (argv[i], "--held-out") == 0;
    if (strcmp (argv[i], "--seeds") == 0 && i + 1 < argc)
      n_seeds = (unsigned) atoi (argv[++i]);
  }
  printf
      ("| three links | | voices apart at each | kbit/s of voices on each link | "
      "moved, of 9 | wrongly | after |\n|---|---|--:|--:|--:|--:|--:|\n");
  for (unsigned k = 0; k < sizeof nets / sizeof nets[0]; k++)
    for (unsigned organised = 0; organised < 2; organised++) {
      Outcome out = { 0 };

      for (unsigned s = 0; s < n_seeds; s++)
        run (&nets[k], 2 * s + 1 + held_out, organised, &out);
      printf ("| %s | %s | %.1f | %.0f | %.1f | %u | %.0f s |\n", nets[k].name,
          organised ? "one of each four mixes" : "all from outside",
          out.voices / out.n, out.bps / 1e3 / out.n,
          (double) out.n_moved / out.n, out.n_wrong, out.moved_s / out.n);
      fflush (stdout);
    }
  return 0;
}
