/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_MIXER_ELECTION_H
#define FMX_MIXER_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"

#ifdef __cplusplus
extern "C"
{
#endif

/** FMX_MIXER_ELECTION_MAX: the most neighbours */
#define FMX_MIXER_ELECTION_MAX 256u

/** FMX_NO_NEIGHBOUR: no index of a neighbour */
#define FMX_NO_NEIGHBOUR UINT32_MAX

/**
 * FmxElectionParams:
 * @voice_bps: what a voice takes on the wire; 45,000
 * @mix_bps: what the least mix takes; 20,000
 * @hop_delay: what one more mixer adds; 5 ms
 * @most_delay: more than this is not to be added; 40 ms
 * @least_voices: it pays from so many voices more, apart, at each of a group; 1
 * @least_saved: ... or from this share of the group's bytes, 0 ... 1; 0.5
 * @hold_on: it must pay for so long before somebody is asked; 10 s
 * @hold_off: it must not pay for so long before the group is given up; 30 s
 * @answer_time: who has not answered, or not gone, by then has failed; 6 s
 * @repeat: what was said is said again after this; 500 ms
 * @back_off: who failed is left alone for so long, then for twice as long each
 *     time; 60 s
 * @settle: only so long after somebody went it is judged whether that helped; 20 s
 * @least_worse: it did not if each of the group hears so many voices less apart than
 *     before, in the mean ...; 1
 * @hold_worse: ... for so long; 15 s
 */
  typedef struct
  {
    double voice_bps;
    double mix_bps;
    FmxDuration hop_delay;
    FmxDuration most_delay;
    double least_voices;
    double least_saved;
    FmxDuration hold_on;
    FmxDuration hold_off;
    FmxDuration answer_time;
    FmxDuration repeat;
    FmxDuration back_off;
    FmxDuration settle;
    double least_worse;
    FmxDuration hold_worse;
  } FmxElectionParams;

/**
 * FmxElectionGain:
 * @before_bps, @after_bps: through the bottleneck, with each of the group served from
 *     outside, and with one of them serving the others
 * @voices_before, @voices_after: that each of them hears apart
 *
 * What a mixer behind a bottleneck would change.
 */
  typedef struct
  {
    double before_bps;
    double after_bps;
    uint32_t voices_before;
    uint32_t voices_after;
  } FmxElectionGain;

/**
 * FmxElectionNeighbour:
 * @may_mix: whether it is willing
 * @rtt: the round-trip time to it
 * @target_bps: what the path to it carries, as it seems
 * @up_bps: what came from it at most, or 0
 *
 * What is known of a neighbour.
 */
  typedef struct
  {
    bool may_mix;
    FmxDuration rtt;
    double target_bps;
    double up_bps;
  } FmxElectionNeighbour;

/**
 * FmxElectionPhase:
 * @FMX_ELECTION_FREE: served like anybody
 * @FMX_ELECTION_ASKED: asked to mix, has not answered
 * @FMX_ELECTION_MIXES: mixes for others
 * @FMX_ELECTION_TOLD: told to go to one that mixes, has not gone
 * @FMX_ELECTION_RELEASED: told to mix no more, still mixes
 */
  typedef enum
  {
    FMX_ELECTION_FREE,
    FMX_ELECTION_ASKED,
    FMX_ELECTION_MIXES,
    FMX_ELECTION_TOLD,
    FMX_ELECTION_RELEASED
  } FmxElectionPhase;

/** FmxElectionSeat: a neighbour's place. */
  typedef struct
  {
    /*< private > */
    bool present;
    FmxElectionNeighbour about;
    FmxElectionPhase phase;
    uint32_t mixer;             /* of TOLD */
    uint32_t n_below;           /* of MIXES: whom it serves beside itself */
    double least_bps;           /* of MIXES: that any of these has; 0: not known */
    double voices_before;       /* apart, at each of the group, in the mean */
    bool made_it_worse;         /* its group is left alone, too */
    FmxTime phase_since;
    FmxTime say_at;
    FmxTime left_alone;         /* until then */
    unsigned n_failures;
    FmxTime pays_since, idle_since;     /* NONE: it does not, it is not */
    FmxTime grown_at;           /* somebody went there; NONE: just now */
    FmxTime worse_since;        /* NONE: it is not */
  } FmxElectionSeat;

/**
 * FmxElectionActionKind:
 * @FMX_ELECTION_ASK: ask @neighbour to mix
 * @FMX_ELECTION_MOVE: tell @neighbour to go to @mixer
 * @FMX_ELECTION_RELEASE: tell @neighbour to mix no more
 */
  typedef enum
  {
    FMX_ELECTION_ASK,
    FMX_ELECTION_MOVE,
    FMX_ELECTION_RELEASE
  } FmxElectionActionKind;

  typedef struct
  {
    FmxElectionActionKind kind;
    uint32_t neighbour;
    uint32_t mixer;
  } FmxElectionAction;

/**
 * FmxElectionStats:
 * @n_asked: that were asked to mix
 * @n_elected: that did
 * @n_moved: that went to one of these
 * @n_released: that were told to mix no more
 * @n_failed: that did not answer, or did not go
 * @n_worse: of the released, because the group heard less than before
 * @n_mixing: that mix now
 */
  typedef struct
  {
    uint64_t n_asked;
    uint64_t n_elected;
    uint64_t n_moved;
    uint64_t n_released;
    uint64_t n_failed;
    uint64_t n_worse;
    uint32_t n_mixing;
  } FmxElectionStats;

/**
 * FmxMixerElection:
 *
 * Who of a group that shares a bottleneck mixes for the others.  A mixer that serves
 * a group tells it who is there (..._set(), ..._update()), does what
 * ..._next_action() says, and tells what came of it.
 *
 * One who mixes for a group stays the one: nobody is moved for a better one.  If
 * the group hears less than before, it is given up and left alone for a while.
 *
 * O(n^2) an update.  Source: the idea of DPM section 3.2, self-organised; the rules
 * are ours.
 */
  typedef struct
  {
    /*< private > */
    FmxElectionParams params;
    FmxElectionStats stats;
    FmxElectionSeat *seats;
    uint32_t n;
  } FmxMixerElection;

  void fmx_election_params_default (FmxElectionParams *params);

/** fmx_mixer_election_init: @seats: (array length=n): the caller's memory, to live
 * as long; @n: up to %FMX_MIXER_ELECTION_MAX */
  void fmx_mixer_election_init (FmxMixerElection *election,
      const FmxElectionParams *params, FmxElectionSeat *seats, uint32_t n);

/** fmx_mixer_election_set: @neighbour is there, and like that */
  void fmx_mixer_election_set (FmxMixerElection *election, uint32_t neighbour,
      const FmxElectionNeighbour *about);

/** fmx_mixer_election_remove: @neighbour is not there any more; @moved: because it
 * went where it was told */
  void fmx_mixer_election_remove (FmxMixerElection *election,
      uint32_t neighbour, bool moved);

/**
 * FmxElectionAnswer:
 * @serves: whether it mixes; %false: it does not, or no more
 * @n_below: for so many others
 * @least_bps: the least rate that one of them has; 0: not known
 *
 * What one who was asked says of itself.
 */
  typedef struct
  {
    bool serves;
    uint32_t n_below;
    double least_bps;
  } FmxElectionAnswer;

/** fmx_mixer_election_answered: @neighbour says so; not asked, it is not believed */
  void fmx_mixer_election_answered (FmxMixerElection *election,
      uint32_t neighbour, const FmxElectionAnswer *answer, FmxTime now);

/**
 * fmx_mixer_election_update:
 * @groups: (array length=n): of each neighbour, its group or %FMX_NO_NEIGHBOUR
 * @n_voices: that talk, in all
 *
 * Once in a while, half a second or so.
 */
  void fmx_mixer_election_update (FmxMixerElection *election,
      const uint32_t *groups, uint32_t n_voices, FmxTime now);

/** fmx_mixer_election_next_action: Returns: whether there is something to be done;
 * to be called until there is not */
  bool fmx_mixer_election_next_action (FmxMixerElection *election,
      FmxElectionAction *action, FmxTime now);

  FmxElectionPhase fmx_mixer_election_phase (const FmxMixerElection *election,
      uint32_t neighbour);

  void fmx_mixer_election_get_stats (const FmxMixerElection *election,
      FmxElectionStats *stats);

/** fmx_election_share: Returns: bit/s that one who mixes may send upwards at least, as soon
 * as another one came to it from behind the same link, which sends nothing there any more:
 * as if that had as much as each of the @n > 0 who have @sent_bps together, and a quarter
 * beyond what they had of late */
  double fmx_election_share (double sent_bps, uint32_t n);

/** fmx_election_voices: Returns: how many of @n_voices are apart on a path of
 * @bps, the rest in one mix; @used_bps: (out): what they take */
  uint32_t fmx_election_voices (const FmxElectionParams *params, double bps,
      uint32_t n_voices, double *used_bps);

/**
 * fmx_election_gain:
 * @n_members: of the group
 * @bps: what its bottleneck carries for all of them
 * @n_voices: that talk, in all; each member may be one of them
 */
  void fmx_election_gain (const FmxElectionParams *params, uint32_t n_members,
      double bps, uint32_t n_voices, FmxElectionGain *gain);

#ifdef __cplusplus
}
#endif

#endif                          /* FMX_MIXER_ELECTION_H */
