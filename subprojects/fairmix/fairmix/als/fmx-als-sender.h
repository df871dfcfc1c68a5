/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FMX_ALS_SENDER_H
#define FMX_ALS_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "fairmix/base/fmx-aging-table.h"
#include "fairmix/base/fmx-event.h"
#include "fairmix/base/fmx-time.h"
#include "fairmix/wire/fmx-als-app.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why the rates were decided anew: the reason of event "als-rates".  The
 * element's page has a table made of these lines (check-reasons.py --write). */

/* receivers have reported */
#define FMX_ALS_REASON_REPORTS "reports"
/* nobody has reported for three intervals, and three times as long as usual */
#define FMX_ALS_REASON_SILENCE "silence"
/* limits or the number of layers were set anew */
#define FMX_ALS_REASON_SETTINGS "settings"
/* another controller, where no router answers */
#define FMX_ALS_REASON_FALLBACK "fallback"

/**
 * FmxAlsLayerLimits:
 * @least_bps: with less the layer is not worth sending; of the base that is min_bps
 * @most_bps: it cannot use more, and the others have the rest; 0 = it can
 *
 * What a layer's content is like, in bits per second on the wire.
 */
typedef struct
{
  uint32_t least_bps;
  uint32_t most_bps;
} FmxAlsLayerLimits;

/**
 * FmxAlsSenderParams:
 * @wish_bps: R_d of the requests: what the sender could use; the rate of the
 *     output link if that is not known (ALS 3.3)
 * @initial_bps: rate before the first adaptation point
 * @min_bps: it never falls below this
 * @increase_bps: the first additive increase AIR, and that after a loss; the
 *     paper's is 5 kbit/s
 * @interval: between two adaptation points; the paper's is 5 s
 * @memory: a receiver's last report counts for so long; the paper's is the same as
 *     @interval.  RTCP's intervals vary by half of themselves ([RFC3550 6.3.1]), so
 *     that in a shorter time than one and a half of them the slowest receiver may
 *     just not have spoken.  If it is longer than @interval, it grows to twice the
 *     mean time between two reports of a receiver, which in large groups is minutes;
 *     and a report that calls for a base smaller by a twentieth or more counts at
 *     once; and with an @interval of a second at most the rate begins at @initial_bps
 *     and doubles within 0.2 s at most, from the first router's answer on
 * @n_layers: 1 ... %FMX_ALS_MAX_LAYERS; the paper's is 3, for one receiver 1
 * @layers: of each; the paper has no limits
 * @sink: hears each decision; may be NULL; must outlive the sender
 *
 * All rates in bits per second on the wire.
 */
typedef struct
{
  uint32_t wish_bps;
  uint32_t initial_bps;
  uint32_t min_bps;
  uint32_t increase_bps;
  FmxDuration interval;
  FmxDuration memory;
  unsigned n_layers;
  FmxAlsLayerLimits layers[FMX_ALS_MAX_LAYERS];
  const FmxEventSink *sink;
} FmxAlsSenderParams;

/** FMX_ALS_SENDER_MOST_MEMORY: to which a memory grows */
#define FMX_ALS_SENDER_MOST_MEMORY (600 * FMX_SECOND)

/** fmx_als_sender_params_default: the paper's, three layers */
void fmx_als_sender_params_default (FmxAlsSenderParams * params);

/**
 * FmxAlsReport:
 * @ssrc: the receiver
 * @share_bps: R_d as it came back
 * @utilisation: U as it came back
 * @loss: the fraction that it lost of late, in [0, 1]
 * @answered: whether a router cut the request; if none did, @fallback_bps is the
 *     receiver's rate
 * @fallback_bps: what a controller without routers' help finds for it
 */
typedef struct
{
  uint32_t ssrc;
  uint32_t share_bps;
  double utilisation;
  double loss;
  bool answered;
  uint32_t fallback_bps;
} FmxAlsReport;

/**
 * FmxAlsSenderReceiver:
 * @increase_bps: AIR_i
 * @rate_bps: r_i
 * @report: its latest
 *
 * What the sender keeps of a receiver.
 */
typedef struct
{
  double increase_bps;
  double rate_bps;
  FmxAlsReport report;
} FmxAlsSenderReceiver;

/**
 * FmxAlsSenderStats:
 * @n_reports: that counted
 * @n_unanswered: of them without a router's answer
 * @n_adaptations: adaptation points with a report
 * @n_silent: and without
 */
typedef struct
{
  uint64_t n_reports;
  uint64_t n_unanswered;
  uint64_t n_adaptations;
  uint64_t n_silent;
} FmxAlsSenderStats;

/**
 * FmxAlsSender:
 *
 * The sender of the Adaptive Load Service (ALS 3.3, 3.4).  On each report
 *
 * |[
 *   no loss:  AIR_i = AIR_i + AIR_i (1 - U_i),   r_i = R_d,i + AIR_i
 *   loss l:   AIR_i = increase_bps,              r_i = R_d,i (1 - l)
 * ]|
 *
 * and at adaptation points, from the reports of the interval that ends,
 *
 * |[
 *   one layer:   rate = min r_i
 *   n layers:    base = min r_i,   each other = (max r_i - min r_i) / (n - 1)
 *   announced:   base = min R_d,i, each other = (max R_d,i - min R_d,i) / (n - 1)
 * ]|
 *
 * Where layers have limits, n is the largest number for which each has what it is
 * worth sending with, and what one cannot use the others above the base have.  Only
 * those n are sent and announced: layers without a bit in them are not.
 *
 * Events: "als-rates" at each adaptation point that changes a rate, with a reason
 * (FMX_ALS_REASON_...) and the fields "target-bps" (of all layers),
 * "base-bps", "before-bps", "limiting-ssrc", "reports", "layers".
 *
 * A report costs O(1), and an adaptation point O(layers), whatever the number of
 * receivers, since of an interval only the extremes are kept; with a longer memory
 * it costs O(places in the table).  Who leaves does not count in the next interval.
 */
typedef struct
{
  /*< private >*/
  FmxAlsSenderParams params;
  FmxAlsSenderStats stats;
  FmxAgingTable table;
  FmxAlsSenderReceiver *receivers;
  uint32_t n_places;
  FmxTime begun;                /* the interval */
  FmxTime next_adaptation;
  uint32_t fallback_bps;        /* 0 = the reports' own */
  FmxTime answered;             /* for the first time */
  double gap_s;                 /* between two reports of a receiver, in the mean */
  double next_s;                /* ... and between two of anybody */
  FmxTime reported;             /* the last time */
  unsigned n_reports;           /* in this interval */
  unsigned n_extremes;          /* reports that the extremes are of */
  uint32_t limiting_ssrc;
  double rate_min_bps, rate_max_bps;
  double share_min_bps, share_max_bps;
  unsigned n_silent;            /* intervals in a row */
  unsigned n_sent;
  uint32_t rates_bps[FMX_ALS_MAX_LAYERS];
  uint32_t sizes_bps[FMX_ALS_MAX_LAYERS];
} FmxAlsSender;

/**
 * fmx_als_sender_init:
 * @slots: as fmx_aging_table_init() has them
 * @receivers: @n_receivers, kept by the caller
 * @n_receivers: a power of two, at least four times as many as are expected
 * @seed: random
 */
void fmx_als_sender_init (FmxAlsSender * sender,
    const FmxAlsSenderParams * params, FmxAgingSlot * slots,
    FmxAlsSenderReceiver * receivers, uint32_t n_receivers, uint64_t seed,
    FmxTime now);

/** fmx_als_sender_set_limits: another wish, another least rate, while it runs */
void fmx_als_sender_set_limits (FmxAlsSender * sender, uint32_t wish_bps,
    uint32_t min_bps, FmxTime now);

/** fmx_als_sender_set_n_layers: more layers, or fewer, while it runs: new ones
 * get their share at the next adaptation point */
void fmx_als_sender_set_n_layers (FmxAlsSender * sender, unsigned n_layers,
    FmxTime now);

/**
 * fmx_als_sender_set_fallback:
 * @bps: on the wire; 0 = what each report has
 *
 * What another controller finds for the whole stream is from now on, and at once, the
 * rate of each receiver without a router's answer.  O(places in the table)
 */
void fmx_als_sender_set_fallback (FmxAlsSender * sender, uint32_t bps,
    FmxTime now);

/** fmx_als_sender_on_report: a receiver's return and its report block came */
void fmx_als_sender_on_report (FmxAlsSender * sender,
    const FmxAlsReport * report, FmxTime now);

/** fmx_als_sender_on_bye: the receiver leaves; its reports of this interval
 * still count */
void fmx_als_sender_on_bye (FmxAlsSender * sender, uint32_t ssrc);

/** fmx_als_sender_next_timeout: Returns: the next adaptation point */
FmxTime fmx_als_sender_next_timeout (const FmxAlsSender * sender);

/**
 * fmx_als_sender_on_timeout:
 *
 * At an adaptation point.  Without a report the rates stay; after three
 * intervals without one, and three times as long as it mostly takes until somebody
 * reports, they halve each interval: nobody may be there, or the way back is cut (the
 * paper says nothing of this).
 *
 * Returns: whether there was a report, so that the rates are new
 */
bool fmx_als_sender_on_timeout (FmxAlsSender * sender, FmxTime now);

/** Returns: the rate of @layer, 0 the base, in bits per second on the wire */
uint32_t fmx_als_sender_get_rate_bps (const FmxAlsSender * sender,
    unsigned layer);

/** fmx_als_sender_get_n_sent: Returns: how many layers are worth sending, the base
 * included; the others have no rate, and are not to be announced */
unsigned fmx_als_sender_get_n_sent (const FmxAlsSender * sender);

/** Returns: the rate of all layers together, in bits per second on the wire */
uint32_t fmx_als_sender_get_total_bps (const FmxAlsSender * sender);

/** Returns: the size of @layer that is announced to receivers */
uint32_t fmx_als_sender_get_size_bps (const FmxAlsSender * sender,
    unsigned layer);

/** fmx_als_sender_get_request: what goes beside the next sender report */
void fmx_als_sender_get_request (const FmxAlsSender * sender,
    FmxAlsShare * request);

/** Returns: the receiver that made the base layer what it is; 0 = none yet */
uint32_t fmx_als_sender_get_limiting_ssrc (const FmxAlsSender * sender);

/** Returns: what is known of a receiver, NULL if nothing is */
const FmxAlsSenderReceiver *fmx_als_sender_get_receiver (const FmxAlsSender *
    sender, uint32_t ssrc);

void fmx_als_sender_get_stats (const FmxAlsSender * sender,
    FmxAlsSenderStats * stats);

#ifdef __cplusplus
}
#endif

#endif /* FMX_ALS_SENDER_H */
