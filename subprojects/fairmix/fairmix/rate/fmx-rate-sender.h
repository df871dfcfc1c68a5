/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_RATE_SENDER_H
#define FMX_RATE_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fairmix/base/fmx-event.h"
#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/base/fmx-rng.h"
#include "fairmix/base/fmx-serial.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/loss/fmx-loss-fraction.h"
#include "fairmix/loss/fmx-loss-intervals.h"
#include "fairmix/loss/fmx-sent-history.h"
#include "fairmix/rate/fmx-bottleneck-rate.h"
#include "fairmix/rate/fmx-circuit-breaker.h"
#include "fairmix/rate/fmx-delay-slope.h"
#include "fairmix/rate/fmx-feedback-source.h"
#include "fairmix/rate/fmx-rate-controller.h"
#include "fairmix/rate/fmx-rate-fill.h"
#include "fairmix/rate/fmx-rate-lasting.h"
#include "fairmix/rate/fmx-rate-train.h"
#include "fairmix/rate/fmx-sender-stall.h"
#include "fairmix/rate/fmx-stream-table.h"
#include "fairmix/rtt/fmx-rtt.h"
#include "fairmix/topology/fmx-delay-shape.h"
#include "fairmix/wire/fmx-ccfb.h"
#include "fairmix/wire/fmx-rtcp.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _FmxRateSender FmxRateSender;
typedef struct _FmxRateSenderParams FmxRateSenderParams;
typedef struct _FmxRateSenderStats FmxRateSenderStats;

/**
 * FmxRateSenderFeedback:
 * @FMX_RATE_SENDER_FEEDBACK_NONE: nothing heard yet
 * @FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS: receiver reports only: RTT from
 *     LSR and DLSR, loss events estimated from the loss between two reports
 * @FMX_RATE_SENDER_FEEDBACK_PER_PACKET: RFC 8888; report blocks are the breaker's then
 *
 * The best kind of feedback that the receiver sends.
 */
typedef enum
{
  FMX_RATE_SENDER_FEEDBACK_NONE,
  FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS,
  FMX_RATE_SENDER_FEEDBACK_PER_PACKET
} FmxRateSenderFeedback;

/**
 * FmxRateSenderState:
 * @FMX_RATE_SENDER_STARTING: sending at the initial rate, nothing heard yet
 * @FMX_RATE_SENDER_SENDING: the controller sets the rate
 * @FMX_RATE_SENDER_PROBING: no media; a dummy packet now and then
 * @FMX_RATE_SENDER_STOPPED: nothing is sent until the circuit breaker closes again
 */
typedef enum
{
  FMX_RATE_SENDER_STARTING,
  FMX_RATE_SENDER_SENDING,
  FMX_RATE_SENDER_PROBING,
  FMX_RATE_SENDER_STOPPED
} FmxRateSenderState;

/**
 * FmxRateSenderParams:
 * @klass: the algorithm, e.g. fmx_rate_class_find ("dpm")
 * @segment_bytes: the segment size s of the TCP equation, in bytes of payload;
 *     1460 with the header correction of [RFC4828 4.2]; 0 = the bundle's true
 *     mean packet size, as [RFC5348 3.1] and the DPM paper have it
 * @decision_interval_rtts: dpm: between two increases, 1 ... 100; the paper: 6 to 8
 * @min_bps: the least that makes sense, in bits/s on the wire; below it the sender probes
 * @max_bps: the most, in bits/s on the wire
 * @initial_bps: until the first feedback, in bits/s on the wire
 * @loss_limit: share of lost packets, in [0, 1], above which the sender goes
 *     to probing; 0 = automatic: 0.2 for a smallest stream of 64 kbit/s up
 *     to 0.4 for one of 4.75 kbit/s ([RFC3714 5], DPM section 5.4)
 * @rto_min: floor of what the retransmission timeout adds to the round-trip
 *     time, as Linux has it; [RFC6298 2.4] has 1 s as the floor of the sum,
 *     but a packet of voice is not sent again
 * @alpha: gaimd: segments more a round-trip time; 0 = 3 (1 - beta) / (1 + beta), fair to TCP
 * @beta: gaimd: in (0, 1), what remains of the rate on a loss event
 * @circuit_breaker: stop for good reasons only ([RFC8083])
 * @max_hold: shortq: nothing leaves until the queue of a path that became narrow has gone,
 *     for so long at most; 0 = never
 * @skip_packets: a sequence number is left out each so many packets, in the
 *     mean, to catch receivers that acknowledge what they never got; 0 = none
 * @seed: where; nobody else must be able to guess it
 * @sink: hears each decision; may be NULL; must outlive the sender
 *
 * What the user chose; never written by the library.
 */
struct _FmxRateSenderParams
{
  const FmxRateClass *klass;
  uint32_t segment_bytes;
  double decision_interval_rtts;
  uint64_t min_bps;
  uint64_t max_bps;
  uint64_t initial_bps;
  double loss_limit;
  FmxDuration rto_min;
  double alpha;
  double beta;
  bool circuit_breaker;
  FmxDuration max_hold;
  uint32_t skip_packets;
  uint64_t seed;
  const FmxEventSink *sink;
};

/**
 * FmxRateSenderStats:
 * @state: what the sender does
 * @feedback: what it hears
 * @target_bps: what it may send, in bits/s on the wire
 * @sent_bps: what it sent during the last second
 * @receive_bps: what the receiver got, per the feedback
 * @equation_bps: the TCP equation's rate; 0 = no loss event or no RTT yet
 * @rtt: smoothed round-trip time; 0 = unknown
 * @rtt_min: the least of the last 10 s or more: the path without its queue
 * @rto: retransmission timeout
 * @loss_event_rate: p of the TCP equation, in [0, 1]
 * @loss_fraction: share of lost packets during the last three seconds, in
 *     [0, 1]
 * @loss_limit: where @loss_fraction stops the sender
 * @last_feedback: %FMX_TIME_NONE = never
 * @n_streams: SSRCs that are active
 * @stream_bps: their mean rate
 * @smallest_stream_bps: the least of their rates
 * @n_sent: packets
 * @n_acked: packets that the receiver got
 * @n_lost: packets given up as lost, less those that were acknowledged late
 * @n_late: losses that were taken back
 * @n_loss_events: loss events
 * @n_feedback: feedback packets and report blocks understood, from the first that is for us
 * @n_malformed: feedback packets refused
 * @n_impossible: feedback packets and report blocks refused because they claim
 *     what was never sent
 * @n_refused: those of a source that does not count, or not any more
 * @n_void: sources that are not believed any more
 * @n_skipped: sequence numbers left out
 * @n_unknown: acknowledgements for packets that nobody sent, or too long ago
 * @n_forgotten: packets that fell out of the history, or into a gap of the
 *     feedback, before they were decided
 * @n_up: increases
 * @n_down: decreases
 * @n_probes: dummy packets, while no media may pass
 * @n_padding: those beside media, see #FmxRateFill
 * @n_drains: cuts that are to tell whether a queue is one's own
 * @n_holds: times that nothing left until a queue had gone
 * @n_no_feedback: expiries of the no-feedback timer although something was sent
 * @n_breaker: times that the circuit breaker tripped
 */
struct _FmxRateSenderStats
{
  FmxRateSenderState state;
  FmxRateSenderFeedback feedback;
  uint64_t target_bps;
  double sent_bps;
  double receive_bps;
  double equation_bps;
  FmxDuration rtt;
  FmxDuration rtt_min;
  FmxDuration rto;
  double loss_event_rate;
  double loss_fraction;
  double loss_limit;
  FmxTime last_feedback;
  uint32_t n_streams;
  double stream_bps;
  double smallest_stream_bps;
  uint64_t n_sent;
  uint64_t n_acked;
  uint64_t n_lost;
  uint64_t n_late;
  uint64_t n_loss_events;
  uint64_t n_feedback;
  uint64_t n_malformed;
  uint64_t n_impossible;
  uint64_t n_refused;
  uint64_t n_void;
  uint64_t n_skipped;
  uint64_t n_unknown;
  uint64_t n_forgotten;
  uint64_t n_up;
  uint64_t n_down;
  uint64_t n_probes;
  uint64_t n_padding;
  uint64_t n_drains;
  uint64_t n_holds;
  uint64_t n_no_feedback;
  uint64_t n_breaker;
};

/** What the receiver got between two feedbacks, a round-trip time apart. */
typedef struct
{
  /*< private >*/
  uint64_t bytes;
  FmxTime start;                /* on our clock */
  uint32_t start_mid32;         /* on the receiver's */
  FmxSentPacket first;          /* the newest that had come when it began */
  double bps, left_bps;         /* of the last: what came, and how fast it left; 0 = not known */
  double most_bps;              /* of all rounds */
} FmxReceiveRound;

/** What the report blocks of one compound said, taken together. */
typedef struct
{
  /*< private >*/
  FmxTime start;                /* of the time that they cover; NONE = none */
  FmxTime first_block, last_block;      /* came */
  FmxTime due;                  /* to be digested then; NONE = nothing new */
  FmxTime newest_sent;          /* when the newest packet reported was sent */
  uint64_t number;              /* of the next packet, as the receiver counts */
  uint64_t start_bytes;         /* what the bundle had sent then */
  uint64_t last_bytes;          /* ... and when the last block came */
  uint32_t expected;
  uint32_t lost;
  bool is_baseline;             /* a stream was reported for the first time */
} FmxReportRound;

/** What the circuit breaker is told of per-packet feedback, each 5 s. */
typedef struct
{
  /*< private >*/
  FmxTime start;
  uint32_t acked;
  uint32_t lost;
} FmxBreakerRound;

/** Which packet of a report this is: several have one timestamp ([RFC8888 3.1]) */
typedef struct
{
  /*< private >*/
  uint32_t mid32;
  unsigned n;                   /* with that timestamp so far */
  unsigned expected;            /* as many as the report before had */
  bool was_short, was_large;    /* the one before; the packet before */
  double size;                  /* metrics in a packet, mean of the last few */
} FmxReportParts;

/** Who is believed. */
typedef struct
{
  /*< private >*/
  uint64_t id;                  /* of what comes now */
  FmxFeedbackSource per_packet, blocks;
  bool per_packet_counts;       /* its source has passed the trial */
  FmxTime trial_since;          /* NONE = no trial */
  FmxTime block_time;           /* the last block came */
  uint32_t expected;            /* by blocks since it began ... */
  uint32_t received;
  uint32_t claimed;             /* ... and by who is on trial, of those */
  unsigned n_unmissed;          /* numbers left out that no block missed */
  FmxTime row_begin, row_end;   /* per-packet feedback without a pause ... */
  unsigned n_row;               /* ... and how often it came */
  bool is_steady;               /* how often it comes is known */
  bool is_rare;                 /* report blocks tell of more */
} FmxRateTrust;

/**
 * FmxRateSender:
 *
 * All that a sender of a bundle of RTP streams over one path needs to know how
 * much it may send: the history of sent packets, the round-trip time, loss
 * events, a rate controller, probing, and the circuit breaker beside it.
 * The element tfrcrate, the simulators and the fuzzer run this very code.
 *
 * One caller at a time.  Tell it each packet that left (..._on_sent()), each
 * feedback that came (..._on_ccfb(), ..._on_report_block()), call
 * ..._on_timeout() at ..._next_timeout(), which may change after each of these
 * calls; after each of them read ..._target_bps() and ask ..._take_probe().
 *
 * Events through the #FmxEventSink, one for each decision: "target" with a
 * reason (FMX_RATE_... of fmx-rate-controller.h) and fields "target-bps", "rtt-ms",
 * "loss-event-rate", "loss-fraction", "equation-bps", "receive-bps",
 * "sent-bps", "streams".
 *
 * Source: DPM section 5; [RFC5348], [RFC4828], [RFC6298], [RFC8083],
 * [RFC8888].
 */
struct _FmxRateSender
{
  /*< private >*/
  FmxRateSenderParams params;
  FmxRateSenderStats stats;     /* the counters; the rest on demand */
  FmxRateController controller;
  double share;                 /* times what the controller says */
  double media_bps;             /* that a policy has for the media; 0 = all of the rate */
  FmxRtt rtt;
  FmxLossIntervals intervals;
  FmxLossFraction fraction;
  FmxCircuitBreaker breaker;
  FmxRateMeter sent_meter;
  FmxBottleneckRate bottleneck;
  FmxDelayShape shape;
  FmxDelaySlope slope;
  FmxSenderStall stall;
  FmxReceiveRound receive;
  FmxSentPacket newest;         /* that came, as per-packet feedback has it */
  double latest_bps;            /* between the last arrivals of two feedbacks */
  FmxTime last_arrival;         /* on the receiver's clock; 0 = none */
  FmxReportRound report;
  uint64_t sent_bytes;
  FmxRateTrust trust;
  FmxRng rng;
  FmxBreakerRound breaker_round;
  FmxReportParts parts;
  FmxSerial reported;           /* by the receiver's clock, in 1/65536 s */
  FmxStreamTotals totals;
  double packet_bytes;          /* mean, on the wire */
  FmxTime last_ack;
  bool excused;                 /* it came late to a timeout, and waits once */
  FmxDuration delay_spread;     /* of the last feedback's packets */
  FmxDuration rtt_sample_min;   /* of the last feedback's packets; 0 = unknown */
  FmxDuration reverse_delay;    /* of the last feedback, less the first's */
  uint32_t first_back_mid32;
  FmxTime acked_sent;           /* when the newest one acknowledged was sent */
  FmxDuration gap_now, gap_before;      /* longest between feedbacks */
  FmxTime gap_start;
  FmxDuration gap_mean;
  bool new_loss_event;
  FmxTime loss_event_sent;      /* the first packet of the newest */
  unsigned n_marked;            /* loss events in a row without a loss */
  FmxTime probing_since, probe_at;
  bool probe_due, padding_due;  /* to be taken */
  bool probe_taken;             /* the next packet is a dummy */
  FmxRateFill fill;
  FmxRateTrain train;
  FmxRateLasting lasting;
  uint32_t padding_bytes;       /* on the wire, of what was taken last */
  bool outage;                  /* probing because nothing came through */
  bool stale_intervals;         /* loss intervals are of before probing */
  double probe_from_bps;        /* what the receiver got when it began */
  FmxTime silent_since;         /* last acknowledgement before silence, or NONE, ... */
  FmxTime silent_sent;          /* ... when what it was of had left ... */
  double silent_from_bps;       /* ... and what the receiver got then */
  FmxTime returned;             /* when one came again */
  FmxTime one_event_until;      /* what left before is one loss event */
  bool just_returned;
  unsigned n_answered;          /* dummy packets in a row */
  FmxRateSenderState told_state;
  uint64_t told_bps;
  FmxStreamTable streams;
  FmxSentHistory history;
};

/** fmx_rate_sender_params_default: dpm, 1460 bytes, 7 RTTs, 20 kbit/s to no
 * limit, from 80 kbit/s, automatic loss limit, floor of 200 ms, breaker on */
void fmx_rate_sender_params_default (FmxRateSenderParams * params);

/** fmx_rate_sender_params_are_valid: Returns: whether all are in range */
bool fmx_rate_sender_params_are_valid (const FmxRateSenderParams * params);

/** fmx_rate_sender_init: @params: valid; copied */
void fmx_rate_sender_init (FmxRateSender * sender,
    const FmxRateSenderParams * params, FmxTime now);

/** fmx_rate_sender_set_params: changes bounds, limits and constants while running, to
 * @params: valid; copied; a change of @klass starts that controller at the present target */
void fmx_rate_sender_set_params (FmxRateSender * sender,
    const FmxRateSenderParams * params, FmxTime now);

/**
 * fmx_rate_sender_on_sent:
 * @wire_bytes: with IP and UDP
 *
 * An RTP packet of the bundle left (a probe, too).  O(1).
 */
void fmx_rate_sender_on_sent (FmxRateSender * sender, uint32_t ssrc,
    uint16_t seq, uint32_t wire_bytes, FmxTime now);

/** fmx_rate_sender_take_skip: to be asked once before each media packet.  Returns: true if
 * it shall have the number after the one that it would have: the receiver must not claim
 * to have the one that is left out */
bool fmx_rate_sender_take_skip (FmxRateSender * sender);

/**
 * fmx_rate_sender_set_source:
 * @id: names who sent the feedback that follows, e.g. a hash of its address;
 *     %FMX_FEEDBACK_SOURCE_ANYONE = not known
 *
 * One source counts for each kind of feedback, see #FmxFeedbackSource.  A source
 * of per-packet feedback that comes when report blocks have told what the
 * receiver gets must agree with them, for a report or two, before it counts,
 * unless it is the source of the blocks.
 */
void fmx_rate_sender_set_source (FmxRateSender * sender, uint64_t id);

/** fmx_rate_sender_on_ccfb: @data is the FCI of an RFC 8888 packet (see
 * fmx_ccfb_reader_init()).  Returns: false if it is malformed: nothing changed then but a
 * counter */
bool fmx_rate_sender_on_ccfb (FmxRateSender * sender, const uint8_t * data,
    size_t size, FmxTime now);

/**
 * fmx_rate_sender_on_metrics:
 * @metrics: (array length=n): all that one feedback packet said, each SSRC's
 *     in the order of its sequence numbers
 * @report_mid32: middle 32 bits of the NTP time, at the receiver, of the report
 *
 * The same as fmx_rate_sender_on_ccfb() for feedback already decoded.
 */
void fmx_rate_sender_on_metrics (FmxRateSender * sender,
    const FmxCcfbMetric * metrics, size_t n, uint32_t report_mid32,
    FmxTime now);

/**
 * fmx_rate_sender_on_report_block:
 * @ntp_now_mid32: middle 32 bits of the NTP time now, on the clock that wrote
 *     the SRs, for LSR and DLSR
 *
 * Blocks about other SSRCs than those of the bundle are ignored.
 */
void fmx_rate_sender_on_report_block (FmxRateSender * sender,
    const FmxReportBlock * block, uint32_t ntp_now_mid32, FmxTime now);

/** fmx_rate_sender_next_timeout: Returns: when to call
 * fmx_rate_sender_on_timeout(), %FMX_TIME_NONE = not before something else
 * happens; may lie in the past */
FmxTime fmx_rate_sender_next_timeout (const FmxRateSender * sender);

/** fmx_rate_sender_on_timeout: does what is due; harmless when nothing is */
void fmx_rate_sender_on_timeout (FmxRateSender * sender, FmxTime now);

/** fmx_rate_sender_target_bps: Returns: the target, in bits/s on the wire, in
 * [min_bps, max_bps]; 0 while probing or after the breaker tripped */
uint64_t fmx_rate_sender_target_bps (const FmxRateSender * sender);

/** fmx_rate_sender_lasting_bps: Returns: whole streams should not grow beyond that */
uint64_t fmx_rate_sender_lasting_bps (const FmxRateSender * sender);

/** fmx_rate_sender_set_media_bps: the media may use @bps and no more from now on, as a
 * policy wants it (see #FmxAdaptPolicy), beyond the target only where packets wait before
 * they leave; all of the target unless called.  What lasts is of that rate. */
void fmx_rate_sender_set_media_bps (FmxRateSender * sender, uint64_t bps);

/** fmx_rate_sender_set_bps: goes on from @bps > 0, within its bounds: what it has of
 * several that are coupled (see #FmxRateCoupling); nothing while no media may pass */
void fmx_rate_sender_set_bps (FmxRateSender * sender, double bps,
    FmxTime now);

/** fmx_rate_sender_set_share: of several that are coupled this one has so many times an
 * equal part, > 0.  Its controller goes on as if it had an equal one: whatever the priority,
 * it asks for more, or for less, as the others do.  The rate stays what it is.  Said each
 * second or so: who has not heard it for 10 s is on its own. */
void fmx_rate_sender_set_share (FmxRateSender * sender, double share,
    FmxTime now);

/** fmx_rate_sender_drain_too: one that is coupled with it cuts its rate to see whether the
 * queue is its own, which it is if all of them do */
void fmx_rate_sender_drain_too (FmxRateSender * sender);

/** fmx_rate_sender_may_send: Returns: whether media may pass now: not where the target is 0,
 * nor until the queue has gone of a path that became narrow, which then keeps its target */
bool fmx_rate_sender_may_send (const FmxRateSender * sender);

/**
 * fmx_rate_sender_take_probe:
 *
 * Returns: true if a dummy packet is due now: the caller sends one and reports
 * it with fmx_rate_sender_on_sent(); while media may pass, one of
 * %FMX_RATE_FILL_BYTES
 */
bool fmx_rate_sender_take_probe (FmxRateSender * sender, FmxTime now);

/** fmx_rate_sender_padding_bytes: Returns: of padding that was taken, on the wire */
uint32_t fmx_rate_sender_padding_bytes (const FmxRateSender * sender);

/** fmx_rate_sender_has_probe: Returns: whether fmx_rate_sender_take_probe() has been due
 * since the last timeout */
bool fmx_rate_sender_has_probe (const FmxRateSender * sender);

/** fmx_rate_sender_set_wanted: more media than is sent would be, if the rate were @bps; 0
 * = nothing waits, as at first.  See #FmxRateFill. */
void fmx_rate_sender_set_wanted (FmxRateSender * sender, double bps,
    FmxTime now);

/** fmx_rate_sender_get_delay_shape: what the delays on the way there look like, by
 * per-packet feedback; nothing without */
void fmx_rate_sender_get_delay_shape (const FmxRateSender * sender,
    FmxDelayShapeStats * stats);

/** fmx_rate_sender_get_stats: a snapshot */
void fmx_rate_sender_get_stats (const FmxRateSender * sender,
    FmxRateSenderStats * stats, FmxTime now);

#ifdef __cplusplus
}
#endif

#endif /* FMX_RATE_SENDER_H */
