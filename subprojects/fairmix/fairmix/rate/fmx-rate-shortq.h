/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SHORTQ_H
#define FMX_RATE_SHORTQ_H

#include <stdbool.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/rate/fmx-bbr-sense.h"
#include "fairmix/rate/fmx-full-queue.h"
#include "fairmix/rate/fmx-queue-sense.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * FmxRateShortqMode:
 * @FMX_RATE_SHORTQ_STARTING: the rate grows until the queue shows
 * @FMX_RATE_SHORTQ_CALM: the queue is short
 * @FMX_RATE_SHORTQ_DRAINING: it was not: the rate was cut, does it drain?
 * @FMX_RATE_SHORTQ_COMPETING: it did not: somebody else fills it
 */
typedef enum
{
  FMX_RATE_SHORTQ_STARTING,
  FMX_RATE_SHORTQ_CALM,
  FMX_RATE_SHORTQ_DRAINING,
  FMX_RATE_SHORTQ_COMPETING
} FmxRateShortqMode;

/**
 * FmxRateShortqState:
 *
 * A rate adapter that keeps queues short while it is among its like, and takes
 * what a TCP takes where one fills them.
 *
 * |[
 *             queue shows            does not drain
 *   starting -----------> draining ------------------> competing
 *                          |    ^                         |
 *                  drained |    | queue shows             | short for long
 *                          v    |                         |
 *                          calm <-------------------------+
 * ]|
 *
 * Calm: the rate climbs, in growing steps, while the queue is short.  When
 * it shows, all who share it cut: by a little who has just climbed, by more who
 * has not, for somebody else has come.  The rate at which one's own step
 * made it show is a ceiling that is not tried again for a time, which doubles
 * while the ceiling stays where it is.
 *
 * Competing: the rate follows X of FmxFullQueue; who had the path alone before
 * takes no more than half of it.
 *
 * In any mode it stays below the TCP equation's rate for losses that are not
 * those of a full queue, and what does not arrive is not sent twice.
 */
typedef struct
{
  /*< private >*/
  FmxRateShortqMode mode;
  FmxTime heard;                /* the receiver was, for the first time */
  FmxQueueSense queue;
  FmxTime decided;              /* last step up, or decision against it */
  FmxTime raised;
  FmxTime obeyed;               /* last fall to X */
  FmxTime halved;               /* last fall for losses, or for silence ... */
  bool halved_seen;             /* ... and a packet came back that left after */
  bool answered;                /* all that was lost asks for no more than that */
  double passed_bps;            /* starting: the path had room for it; 0 = not known */
  double room_found_bps;        /* ... the last time that it had any ... */
  FmxTime room_found;           /* ... then */
  double recover_bps;           /* back to it soon; 0 = there is no hurry */
  unsigned n_steps;             /* up, without a queue */
  unsigned n_near;              /* of them at the ceiling */
  double step_share;            /* of the rate: the last step up */
  /* the queue is full */
  FmxFullQueue full;
  FmxBbrSense bbr;
  FmxDuration overflow_queue;   /* stood at the last such loss; 0 = it has fallen since */
  bool crest_noted;             /* it lost something: its dip is not another */
  double most_bps;              /* half of what was ours alone, ... */
  FmxTime most_until;           /* ... until then */
  double alone_bps;             /* came through while the queue was short ... */
  FmxTime alone_time;           /* ... for long; the last time */
  double full_share;            /* of the loss events */
  bool full_known;
  FmxTime short_since;          /* the queue */
  FmxTime long_since;
  FmxDuration least_queue, most_queue;  /* of what stood since it grew, and since it sank */
  FmxTime grew_time, sank_time; /* the last time, by more than noise */
  FmxTime met_time;             /* a packet met half of too long a queue, the last time */
  /* draining */
  bool drain_own;               /* our own step made it show */
  bool has_bucket;              /* a train had passed at once, when our own queue showed last */
  bool drain_others;            /* others have a part in it, as the first of these cuts knew */
  bool drain_starts;            /* who started made it show */
  bool drain_found_room;        /* ... and there had just been room for far more */
  bool drain_seen;              /* a packet came back that left after the cut */
  FmxTime constant_time;        /* many cuts drained it slowly, the last time */
  unsigned n_drains;            /* in a row, in vain */
  FmxTime drain_start;
  FmxTime drain_time;
  FmxDuration drain_queue;      /* what stood when the cut showed */
  double drain_expected_s;      /* what must have gone if we are alone */
  double drain_from_bps;        /* the rate before the first cut */
  double drain_bps;             /* what the receiver got then, of what was allowed */
  double drain_most_bps;        /* ... in all, if the path had become narrow */
  double narrow_s;              /* so long a queue will that have made */
  unsigned n_foreign;           /* drains that were not ours, of late */
  FmxTime foreign_time;         /* the last */
  unsigned n_foreign_queues;    /* stood although the path carries far more */
  FmxTime foreign_queue_time;   /* the last */
  FmxTime own_time;             /* the last one that was ours */
  FmxTime others_time;          /* a queue showed again without our step */
  FmxTime others_last;          /* it did */
  /* somebody else keeps the queue */
  unsigned n_poor;              /* loss events at a rate far below X */
  FmxTime poor_since, poor_time;        /* the first, the last */
  FmxTime poor_sent;            /* when the last was sent */
  double floor_bps, floor_got_bps;      /* before the last step to the floor */
  FmxTime floor_time;           /* when that was */
  unsigned n_in_vain;           /* steps that brought nothing, in a row */
  FmxTime cut_time;             /* last one for delay or an overrun, ... */
  double cut_bps;               /* ... when so much came through */
  bool overrun;                 /* the path has become narrow, or somebody has filled the
                                 * queue: it has not gone since */
  double choked_from_bps;       /* the rate before a path seemed narrow; 0 = it is */
  /* a queue that passes: somebody's burst */
  unsigned n_bursts;            /* less those that were ours, of late ... */
  FmxTime burst_time;           /* ... the last */
  FmxDuration crest_queue;      /* the longest since the cut, ... */
  FmxTime crest_time;           /* ... then */
  double fall_bps;              /* the most that has come through since */
  /* ceiling */
  double ceiling_bps;
  double widest_bps;            /* that came through since it was found */
  double room_bps;              /* there is so much, and little of it is used; 0 = none */
  double room_from_bps;         /* the ceiling before trains told of that */
  FmxDuration doubt;            /* they were wrong, and are not believed for so long ... */
  FmxTime doubt_until;          /* ... until then */
  double excess_s;              /* of queue, that our rate beyond it has made ... */
  FmxTime excess_time;          /* ... until then */
  double beyond_s;              /* likewise, however much */
  double hidden_s;              /* so much of that did not show: a shaper's bucket */
  FmxDuration hold;
  FmxTime hold_until;           /* while trains tell of the link, ... */
  FmxTime hold_unknown_until;   /* ... and where they do not */
  /* too much loss */
  FmxTime loss_event;           /* the last ... */
  FmxTime random_loss;          /* ... that was for no full queue */
  FmxTime shed;                 /* last fall for too much loss */
  FmxTime resumed;
  double return_bps;            /* probing: half of what came through before silence */
  unsigned n_again;
} FmxRateShortqState;

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_SHORTQ_H */
