/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_CONTROLLER_H
#define FMX_RATE_CONTROLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-time.h"
#include "fairmix/rate/fmx-rate-dpm.h"
#include "fairmix/rate/fmx-rate-shortq.h"
#include "fairmix/rate/fmx-rate-gaimd.h"
#include "fairmix/rate/fmx-rate-hold.h"
#include "fairmix/rate/fmx-rate-tfrc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _FmxRateController FmxRateController;
typedef struct _FmxRateClass FmxRateClass;

/* Why a rate is what it is: the reason of the last change.  The
 * element's page has a table made of these lines (check-reasons.py --write). */

/* nothing was heard yet */
#define FMX_RATE_START "start"
/* there is room for more */
#define FMX_RATE_UP "up"
/* a loss event, or the TCP equation */
#define FMX_RATE_DOWN_LOSS "down-loss"
/* much less arrives than is sent */
#define FMX_RATE_DOWN_LIMIT "down-limit"
/* the queue grows */
#define FMX_RATE_DOWN_DELAY "down-delay"
/* the receiver was silent */
#define FMX_RATE_DOWN_NO_FEEDBACK "down-no-feedback"
/* nothing was sent for five minutes: the initial rate again */
#define FMX_RATE_DOWN_IDLE "down-idle"
/* too much is lost, or nobody answers: no media, a dummy packet each second */
#define FMX_RATE_PROBE "probe"
/* media again */
#define FMX_RATE_RESUME "resume"
/* its share of what several flows over one bottleneck have together */
#define FMX_RATE_COUPLED "coupled"
/* the circuit breaker tripped: nothing is sent */
#define FMX_RATE_BREAKER "breaker"
/* it closed again, and the path is probed */
#define FMX_RATE_BREAKER_CLOSED "breaker-closed"
/* the receiver claimed what cannot be: it does not count any more */
#define FMX_RATE_FEEDBACK_VOID "feedback-void"

/** FMX_RATE_MOST_BPS: no bound is higher */
#define FMX_RATE_MOST_BPS 1e12

/**
 * FmxRateParams:
 * @min_bps: the least that makes sense, in bits/s on the wire, > 0: below it
 *     the sender probes
 * @max_bps: upper clamp, in bits/s on the wire, >= @min_bps
 * @initial_bps: before the first feedback, in bits/s on the wire
 * @segment_bytes: segment size s of the TCP equation; 0 = true packet size
 * @decision_interval_rtts: dpm: time between two increases, in RTTs
 * @alpha: gaimd: increase, in segments per RTT; 0 = fair to TCP
 * @beta: gaimd: in (0, 1), what remains of the rate on a loss event
 * @max_hold: shortq: nothing leaves until the queue of a path that became narrow has gone,
 *     for so long at most; 0 = never
 *
 * What the user chose; never written by the library.
 */
typedef struct
{
  double min_bps;
  double max_bps;
  double initial_bps;
  uint32_t segment_bytes;
  double decision_interval_rtts;
  double alpha;
  double beta;
  FmxDuration max_hold;
} FmxRateParams;

/**
 * FmxRateFeedback:
 * @heard: the receiver said something; false: packets timed out
 * @rtt: smoothed round-trip time R, > 0
 * @rtt_median: of the last five samples
 * @rtt_sample_min: the least of the packets that this feedback tells of, outliers
 *     and all: what came in between passed on
 * @delay_spread: by how much their delays differ
 * @reverse_delay: how long the feedback took, give or take a constant; 0 =
 *     unknown
 * @own_queue: what our own late packets make of the queue, at most
 * @rtt_min: the least of late: the path without its queue
 * @damping: R_sqmean / sqrt (R_sample) ([RFC5348 4.5])
 * @rto: retransmission timeout, without back-off: each halving of a silence waits as long
 *     as the first ([RFC5348 4.4])
 * @rto_backed_off: the same with it, for who sends little: the path may have become longer
 * @interval: longest time between two feedbacks of late
 * @interval_mean: of the last eight or so
 * @patience: how long a next one may take, if that is longer than @interval
 * @acked_sent: when the newest acknowledged packet was sent
 * @loss_event_rate: p, in [0, 1]
 * @new_loss_event: whether a loss event began since the last feedback
 * @loss_event_sent: when its first packet was sent
 * @loss_is_late: it left in a burst, after our own computer had stood still
 * @only_marks: no packet was lost in the loss events that count: all are marks
 * @loss_fraction: share of lost packets of late, in [0, 1], of those sent since
 *     fmx_rate_controller_losses_since()
 * @loss_limit: above this share there shall be no media
 * @equation_bps: the TCP equation's rate on the wire; HUGE_VAL for p = 0
 * @receive_bps: what the receiver got, in bits/s on the wire
 * @left_bps: what @receive_bps is of, with what was lost of it, left so fast; 0 = not
 *     known
 * @latest_bps: what the receiver got since the last packet that the feedback before told
 *     of, on the wire; 0 = not known
 * @bottleneck_bps: what the path carries, ours and what is of others, on the wire;
 *     0 = not known
 * @train_bps: of the fastest packets in a row of late, on the wire
 * @row_bps: the fastest that four packets came one after the other, of those that this
 *     feedback tells of and that had to wait; HUGE_VAL = not known
 * @tail_bps: the last packets that this feedback tells of came so fast, evenly, one behind the
 *     other in a queue; 0 = not known
 * @tail_left_bps: ... and left so fast
 * @widened: how many times as much the path carries as it did, by trains of padding
 *     (FmxRateTrain); 1 = no more
 * @link_bps: what the narrowest link carries, by the same; 0 = not known
 * @passes_bursts: whether a token bucket let such a train pass at once, in the last 20 s: it
 *     hides a queue
 * @path_bps: what the path carries whose queue others fill, by trains that were to tell
 *     just that; 0 = not known
 * @passed_bps: the path had room for so much, by a train that was to tell just that; 0 = no
 *     such train has told of it since the feedback before
 * @breaker_bps: more would trip the circuit breaker, by its last reports; 0 = they
 *     tell nothing
 * @has_teeth: whether the queue is that of a TCP: it falls steeply, and rises slowly
 * @sent_bps: what was sent during the last second, in bits/s on the wire
 * @packet_bytes: mean packet size on the wire, > 0
 * @stream_bps: mean rate of the active streams; 0 = none
 * @answered: probing: enough dummy packets in a row came through
 * @returned: the first since nothing at all was acknowledged for a timeout or more
 * @silent_from_bps: with @returned: what the receiver got before; 0 = too long ago
 *
 * All that is known of the path when feedback has been digested, or when
 * packets have timed out.  The one-way queueing delay is estimated by
 * @rtt_median - @rtt_min.
 */
typedef struct
{
  bool heard;
  FmxDuration rtt;
  FmxDuration rtt_median;
  FmxDuration rtt_sample_min;
  FmxDuration delay_spread;
  FmxDuration reverse_delay;
  FmxDuration own_queue;
  FmxDuration rtt_min;
  double damping;
  FmxDuration rto, rto_backed_off;
  FmxDuration interval;
  FmxDuration interval_mean;
  FmxDuration patience;
  FmxTime acked_sent;
  double loss_event_rate;
  bool new_loss_event;
  FmxTime loss_event_sent;
  bool loss_is_late;
  bool only_marks;
  double loss_fraction;
  double loss_limit;
  double equation_bps;
  double receive_bps;
  double left_bps;
  double latest_bps;
  double bottleneck_bps;
  double train_bps;
  double row_bps;
  double tail_bps, tail_left_bps;
  double widened;
  double link_bps;
  bool passes_bursts;
  double path_bps;
  double passed_bps;
  double breaker_bps;
  bool has_teeth;
  double sent_bps;
  double packet_bytes;
  double stream_bps;
  bool answered;
  bool returned;
  double silent_from_bps;
} FmxRateFeedback;

/**
 * FmxRateStats:
 * @n_feedback: feedbacks digested
 * @n_up: increases
 * @n_down: decreases
 * @n_no_feedback: expiries of the no-feedback timer although something was
 *     sent
 * @n_probing: times that probing began
 * @n_drains: cuts that are to tell whether a queue is one's own
 * @n_holds: times that nothing left until a queue had gone
 */
typedef struct
{
  uint64_t n_feedback;
  uint64_t n_up;
  uint64_t n_down;
  uint64_t n_no_feedback;
  uint64_t n_probing;
  uint64_t n_drains;
  uint64_t n_holds;
} FmxRateStats;

/**
 * FmxRateClass:
 * @name: the one name used in properties, traces and plots, e.g. "tfrc"
 * @alias: optional; another name that finds it
 * @description: half a sentence for people who choose
 * @init: optional; the state is zero, the rate is @initial_bps
 * @on_feedback: required; sets the rate, and whether to probe
 * @on_no_feedback: required; the no-feedback timer expired
 * @slows_when_idle: @on_no_feedback is wanted as well when nothing was sent
 *     meanwhile ([RFC5348 4.4]); otherwise silence keeps the rate, for
 *     %FMX_RATE_IDLE ([RFC7661]): people pause
 * @timeouts_only: the path is measured as DPM sections 5.1 to 5.3 have it: packets
 *     are lost when their timeout expires and not before, whatever was
 *     acknowledged meanwhile; t_RTO of the equation is that timeout; loss
 *     intervals are without the corrections of [RFC4828 3]
 * @next_timeout: optional; pure query: a timer of its own
 * @on_timeout: present if and only if @next_timeout is
 * @probe_interval: optional; time between two dummy packets; one second
 *
 * A rate control algorithm.  @now is always the last argument and never goes
 * backwards.  It calls fmx_rate_controller_set() and
 * fmx_rate_controller_probe(); clamping, the no-feedback timer and the
 * bookkeeping of data-limited intervals are done once, around it.
 */
struct _FmxRateClass
{
  const char *name;
  const char *alias;
  const char *description;
  void (*init) (FmxRateController * rc, FmxTime now);
  void (*on_feedback) (FmxRateController * rc, const FmxRateFeedback * fb,
      FmxTime now);
  void (*on_no_feedback) (FmxRateController * rc, FmxTime now);
  bool slows_when_idle;
  bool timeouts_only;
  FmxTime (*next_timeout) (const FmxRateController * rc);
  void (*on_timeout) (FmxRateController * rc, FmxTime now);
  FmxDuration (*probe_interval) (const FmxRateController * rc);
};

/** FMX_RATE_IDLE: a sender that was silent for longer begins at the initial
 * rate again; the non-validated period of [RFC7661 4.4]. */
#define FMX_RATE_IDLE (300 * FMX_SECOND)

/** FMX_RATE_NOT_LIMITED: so many times at which the sender was not data-limited
 * are remembered, a quarter of a round-trip time apart or more. */
#define FMX_RATE_NOT_LIMITED 16u

/**
 * FmxRateController:
 *
 * One running controller.  Lives wherever the caller wants it; holds no
 * pointer to memory that it owns, so it may be copied and needs no destructor.
 */
struct _FmxRateController
{
  /*< private >*/
  const FmxRateClass *klass;
  FmxRateParams params;
  FmxRateStats stats;
  double rate_bps;
  bool probing;
  bool drains_too;              /* others over the same bottleneck just gave way */
  FmxTime coupled;              /* when it was last said to be one of several */
  const char *reason;
  /* the last that was said of the path */
  FmxDuration rtt;              /* 0 = nothing yet */
  FmxDuration rto, rto_backed_off;
  FmxDuration interval, patience;
  double packet_bytes;
  FmxTime losses_since;
  double media_bps;             /* what the media may use, if it was less */
  /* no-feedback timer, [RFC5348 4.3, 4.4] */
  FmxTime first_heard;
  FmxTime no_feedback_at;
  bool idle;                    /* nothing sent since it was set */
  FmxTime last_sent;
  /* data-limited intervals, [RFC5348 8.2.1] */
  double credit_bytes;
  FmxTime credit_time;
  FmxTime not_limited[FMX_RATE_NOT_LIMITED];
  unsigned n_not_limited;
  FmxTime t_new;
  bool data_limited;
  bool has_widened;             /* the path has, and all of that is used now */
  bool has_narrowed;            /* far less arrives than was sent ... */
  bool is_narrow;               /* ... and that was the link, as its queue has told */
  double tried_from_bps;        /* all of a path, and a bit more is tried; 0 = no */
  double look_bps;              /* about so much, and others fill its queue: how much is
                                 * it? 0 = they do not */
  double check_bps;             /* likewise, though nobody may be there; 0 = never mind */
  bool loses;                   /* packets, of late, and not for a queue of its own */
  bool has_little;              /* of what a path carries: less than one of many, or of some */
  double try_bps;               /* is so much more free at once? 0 = never mind */
  FmxRateHold hold;
  double ask_bps;               /* does the path carry more than that? 0 = never mind */
  union
  {
    FmxRateDpmState dpm;
    FmxRateTfrcState tfrc;
    FmxRateGaimdState gaimd;
    FmxRateShortqState shortq;
  } state;
};

/* The algorithms, one .c file each, and the NULL-terminated table of all. */
extern const FmxRateClass fmx_rate_dpm, fmx_rate_tfrc, fmx_rate_gaimd,
    fmx_rate_shortq, fmx_rate_dpm_literal;
extern const FmxRateClass *const fmx_rate_classes[];

/** fmx_rate_class_find: Returns: the class of that name or alias, or NULL */
const FmxRateClass *fmx_rate_class_find (const char *name);

/** fmx_rate_class_is_valid: Returns: whether it keeps the rules above */
bool fmx_rate_class_is_valid (const FmxRateClass * klass);

/** fmx_rate_params_are_valid: Returns: whether all are in range */
bool fmx_rate_params_are_valid (const FmxRateParams * params);

/** fmx_rate_controller_init: @klass and @params are valid; @params is copied */
void fmx_rate_controller_init (FmxRateController * rc,
    const FmxRateClass * klass, const FmxRateParams * params, FmxTime now);

/** fmx_rate_controller_set_params: new bounds while running, which the rate
 * keeps at once; valid, copied */
void fmx_rate_controller_set_params (FmxRateController * rc,
    const FmxRateParams * params);

/** fmx_rate_controller_on_sent: @wire_bytes left */
void fmx_rate_controller_on_sent (FmxRateController * rc, uint32_t wire_bytes,
    FmxTime now);

void fmx_rate_controller_on_feedback (FmxRateController * rc,
    const FmxRateFeedback * fb, FmxTime now);

/** fmx_rate_controller_set_media_bps: of the rate, the media may use @bps and no more
 * from now on; all of it unless this is called */
void fmx_rate_controller_set_media_bps (FmxRateController * rc, double bps);

/** fmx_rate_controller_next_timeout: Returns: when to call
 * fmx_rate_controller_on_timeout() */
FmxTime fmx_rate_controller_next_timeout (const FmxRateController * rc);

void fmx_rate_controller_on_timeout (FmxRateController * rc, FmxTime now);

/** fmx_rate_controller_drain_too: as fmx_rate_sender_drain_too() */
void fmx_rate_controller_drain_too (FmxRateController * rc);

/** fmx_rate_controller_set_coupled: as fmx_rate_sender_set_share() */
void fmx_rate_controller_set_coupled (FmxRateController * rc, FmxTime now);

/** fmx_rate_controller_postpone: no feedback is no news before @until */
void fmx_rate_controller_postpone (FmxRateController * rc, FmxTime until);

/** fmx_rate_controller_bps: Returns: what may be sent, in bits/s on the wire,
 * in [min_bps, max_bps]; 0 while probing */
double fmx_rate_controller_bps (const FmxRateController * rc);

/** fmx_rate_controller_is_probing: Returns: whether no media may pass */
bool fmx_rate_controller_is_probing (const FmxRateController * rc);

/** fmx_rate_controller_is_holding: Returns: whether nothing may leave until the next timeout,
 * though not probing */
static inline bool
fmx_rate_controller_is_holding (const FmxRateController *rc)
{
  return fmx_rate_hold_is_on (&rc->hold);
}

/** fmx_rate_controller_probe_interval: Returns: time between dummy packets */
FmxDuration fmx_rate_controller_probe_interval (const FmxRateController * rc);

/** fmx_rate_controller_reason: Returns: why the rate changed last */
const char *fmx_rate_controller_reason (const FmxRateController * rc);

void fmx_rate_controller_get_stats (const FmxRateController * rc,
    FmxRateStats * stats);

/** fmx_rate_controller_losses_since: Returns: packets sent before do not count
 * in @loss_fraction: their losses have been answered */
FmxTime fmx_rate_controller_losses_since (const FmxRateController * rc);

/* For the classes. */

/** fmx_rate_controller_set: the rate is @bps from now on (clamped at max_bps);
 * a change is counted, and @reason kept */
void fmx_rate_controller_set (FmxRateController * rc, double bps,
    const char *reason);

/** fmx_rate_controller_probe: no media from now on */
void fmx_rate_controller_probe (FmxRateController * rc);

/** fmx_rate_controller_resume: media again, at @bps */
void fmx_rate_controller_resume (FmxRateController * rc, double bps);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_CONTROLLER_H */
