/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-controller.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* [RFC5348 4.2] asks for 2 s before the first feedback.  A receiver that sends
 * no more than RTCP reports may need up to 5 s for its first ([RFC3550 6.2]),
 * and media must not stop and start again for that. */
#define FIRST_FEEDBACK_TIMEOUT (5 * FMX_SECOND)

/* How long a receiver holds back its reports is known after a second of them;
 * after a long first one (many streams begin) it may be so long. */
#define NEW_RECEIVER FMX_SECOND
#define HELD_BACK (500 * FMX_MSECOND)

/* Between two packets of who talks there is less. */
#define SILENCE (100 * FMX_MSECOND)

/* Who leaves more than this share unused is data-limited. */
#define LIMITED_SHARE 0.1
#define LIMITED_TIME (100 * FMX_MSECOND)
#define LIMITED_PACKETS 4.0

#define PROBE_INTERVAL FMX_SECOND       /* DPM section 5.4 */
#define DEFAULT_PACKET_BYTES 200.0      /* 20 ms of G.711 */

const FmxRateClass *const fmx_rate_classes[] = {
  &fmx_rate_dpm,
  &fmx_rate_tfrc,
  &fmx_rate_gaimd,
  &fmx_rate_shortq,
  &fmx_rate_dpm_literal,
  NULL
};

const FmxRateClass *
fmx_rate_class_find (const char *name)
{
  for (size_t i = 0; fmx_rate_classes[i] != NULL; i++)
    if (strcmp (fmx_rate_classes[i]->name, name) == 0
        || (fmx_rate_classes[i]->alias != NULL
            && strcmp (fmx_rate_classes[i]->alias, name) == 0))
      return fmx_rate_classes[i];
  return NULL;
}

bool
fmx_rate_class_is_valid (const FmxRateClass *klass)
{
  return klass != NULL && klass->name != NULL && klass->name[0] != '\0'
      && klass->description != NULL && klass->on_feedback != NULL
      && klass->on_no_feedback != NULL
      && (klass->next_timeout != NULL) == (klass->on_timeout != NULL);
}

bool
fmx_rate_params_are_valid (const FmxRateParams *params)
{
  return params->min_bps > 0.0 && params->max_bps >= params->min_bps
      && params->max_bps <= FMX_RATE_MOST_BPS && params->initial_bps > 0.0
      && params->initial_bps <= FMX_RATE_MOST_BPS
      && params->segment_bytes <= 65535
      && params->decision_interval_rtts >= 1.0
      && params->decision_interval_rtts <= 100.0
      && params->alpha >= 0.0 && params->alpha <= 1000.0
      && params->beta > 0.0 && params->beta < 1.0 && params->max_hold >= 0;
}

void
fmx_rate_controller_init (FmxRateController *rc, const FmxRateClass *klass,
    const FmxRateParams *params, FmxTime now)
{
  assert (fmx_rate_class_is_valid (klass));
  assert (fmx_rate_params_are_valid (params));

  memset (rc, 0, sizeof *rc);
  rc->klass = klass;
  rc->params = *params;
  rc->rate_bps = params->initial_bps;
  if (rc->rate_bps > params->max_bps)
    rc->rate_bps = params->max_bps;
  if (rc->rate_bps < params->min_bps)
    rc->rate_bps = params->min_bps;
  rc->reason = FMX_RATE_START;
  rc->packet_bytes = DEFAULT_PACKET_BYTES;
  rc->no_feedback_at = FMX_TIME_NONE;
  rc->idle = true;
  rc->last_sent = now;
  rc->coupled = FMX_TIME_NONE;
  rc->credit_time = now;
  rc->media_bps = HUGE_VAL;
  if (klass->init != NULL)
    klass->init (rc, now);
}

void
fmx_rate_controller_set_params (FmxRateController *rc,
    const FmxRateParams *params)
{
  bool was_probing = fmx_rate_controller_is_probing (rc);

  assert (fmx_rate_params_are_valid (params));

  rc->params = *params;
  if (rc->rate_bps > params->max_bps)
    rc->rate_bps = params->max_bps;
  if (!was_probing && rc->rate_bps < params->min_bps)
    rc->rate_bps = params->min_bps;
  if (params->max_hold == 0)
    fmx_rate_hold_init (&rc->hold);
  else
    fmx_rate_hold_set_most (&rc->hold, params->max_hold);
}

/* [RFC5348 8.2.1] keeps two times, for one feedback per round-trip time, and
 * says that more are better. */
static void
note_not_limited (FmxRateController *rc, FmxTime now)
{
  unsigned last = (rc->n_not_limited - 1) % FMX_RATE_NOT_LIMITED;
  FmxDuration spacing = (rc->rtt > rc->interval ? rc->rtt : rc->interval) / 4;

  if (rc->n_not_limited > 0
      && fmx_time_diff (now, rc->not_limited[last]) < spacing)
    return;
  rc->not_limited[rc->n_not_limited % FMX_RATE_NOT_LIMITED] = now;
  rc->n_not_limited++;
}

/* [RFC5348 8.2.1] "Sender has sent all it is allowed to send": here, nine
 * tenths of it over the last round-trip time or so.  What was allowed and not
 * used is forgotten with the time constant tau, so a sender that uses the share
 * f of X has (1 - f) X tau of credit, whatever it did before. */
static void
spend (FmxRateController *rc, uint32_t wire_bytes, FmxTime now)
{
  double rate_Bps = rc->rate_bps / 8.0;
  double tau_s = fmx_time_to_s (rc->rtt > LIMITED_TIME ? rc->rtt
      : LIMITED_TIME);
  double kept;

  if (tau_s < LIMITED_PACKETS * rc->packet_bytes / rate_Bps)
    tau_s = LIMITED_PACKETS * rc->packet_bytes / rate_Bps;
  kept = exp (-fmx_time_to_s (fmx_time_diff (now, rc->credit_time)) / tau_s);
  rc->credit_bytes = kept * rc->credit_bytes + (1.0 - kept) * rate_Bps * tau_s
      - wire_bytes;
  rc->credit_time = now;
  if (rc->credit_bytes > LIMITED_SHARE * rate_Bps * tau_s + rc->packet_bytes)
    return;
  note_not_limited (rc, now);
}

/* [RFC5348 4.3] RTO = max(4*R, 2*s/X); but a receiver that reports less often
 * than that is not silent, nor is one on a busy machine.  Where X is less than two
 * segments in that time a TCP would wait twice as long each time ([RFC6298 5.5]), and
 * so do we: a voice is back at once after some seconds without a path. */
static FmxDuration
no_feedback_timeout (const FmxRateController *rc)
{
  double segment_bytes = rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : rc->packet_bytes;
  FmxDuration backed_off = rc->rto_backed_off + rc->patience;
  FmxDuration wait = 4 * rc->rtt;
  FmxDuration others[] = {
    fmx_time_from_s (2.0 * 8.0 * rc->packet_bytes / rc->rate_bps),
    2 * rc->interval,
    rc->rto + rc->patience,
    fmx_rate_controller_is_probing (rc)
        ? 2 * fmx_rate_controller_probe_interval (rc) : 0
  };

  if (rc->rtt == 0)
    return FIRST_FEEDBACK_TIMEOUT;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (wait < others[i])
      wait = others[i];
  if (wait < fmx_time_from_s (2.0 * 8.0 * segment_bytes / rc->rate_bps)
      && wait < backed_off)
    wait = backed_off;
  return wait;
}

static void
restart_no_feedback_timer (FmxRateController *rc, FmxTime now)
{
  FmxDuration wait = no_feedback_timeout (rc);

  if (rc->rtt > 0 && fmx_time_diff (now, rc->first_heard) < NEW_RECEIVER
      && wait < rc->rto + HELD_BACK)
    wait = rc->rto + HELD_BACK;
  rc->no_feedback_at = now + (FmxTime) wait;
  rc->idle = true;
}

void
fmx_rate_controller_on_sent (FmxRateController *rc, uint32_t wire_bytes,
    FmxTime now)
{
  bool was_silent = rc->idle && rc->rtt > 0
      && fmx_time_diff (now, rc->last_sent) > SILENCE;

  if (fmx_time_diff (now, rc->last_sent) > FMX_RATE_IDLE
      && rc->rate_bps > rc->params.initial_bps)
    fmx_rate_controller_set (rc, rc->params.initial_bps, FMX_RATE_DOWN_IDLE);
  rc->last_sent = now;
  spend (rc, wire_bytes, now);
  if (rc->no_feedback_at == FMX_TIME_NONE)
    restart_no_feedback_timer (rc, now);
  if (was_silent)               /* what is young has no answer yet */
    fmx_rate_controller_postpone (rc, now + (FmxTime) (rc->rto_backed_off
            + rc->patience));
  rc->idle = false;
}

/* [RFC5348 8.2.1] When a feedback packet is received.  The interval covered is
 * a round-trip time, or since the last feedback if that is longer. */
static bool
was_data_limited (FmxRateController *rc, const FmxRateFeedback *fb)
{
  FmxTime t_old = fb->acked_sent > (FmxTime) fb->rtt
      ? fb->acked_sent - (FmxTime) fb->rtt : 0;
  bool limited = true;

  if (t_old > rc->t_new)
    t_old = rc->t_new;
  rc->t_new = fb->acked_sent;
  for (unsigned i = 0; i < FMX_RATE_NOT_LIMITED && i < rc->n_not_limited; i++)
    if (t_old < rc->not_limited[i] && rc->not_limited[i] <= rc->t_new)
      limited = false;
  return limited;
}

void
fmx_rate_controller_on_feedback (FmxRateController *rc,
    const FmxRateFeedback *fb, FmxTime now)
{
  assert (fb->rtt > 0 && fb->packet_bytes > 0.0);
  assert (fb->loss_event_rate >= 0.0 && fb->loss_event_rate <= 1.0);

  rc->rtt = fb->rtt;
  rc->rto = fb->rto;
  rc->rto_backed_off = fb->rto_backed_off;
  rc->interval = fb->interval;
  rc->patience = fb->patience > fb->interval ? fb->patience : fb->interval;
  rc->packet_bytes = fb->packet_bytes;
  if (fb->heard) {
    rc->data_limited = was_data_limited (rc, fb);
    if (rc->stats.n_feedback++ == 0 || fb->returned)
      rc->first_heard = now;
  }
  rc->klass->on_feedback (rc, fb, now);
  if (fb->heard)
    restart_no_feedback_timer (rc, now);
}

void
fmx_rate_controller_set_media_bps (FmxRateController *rc, double bps)
{
  /* who follows the rate, in whole bits, is not held back when it has grown since */
  rc->media_bps = bps < floor (rc->rate_bps) ? bps : HUGE_VAL;
}

FmxTime
fmx_rate_controller_next_timeout (const FmxRateController *rc)
{
  FmxTime next = fmx_time_min (rc->no_feedback_at,
      fmx_rate_hold_next (&rc->hold));

  if (rc->klass->next_timeout != NULL)
    next = fmx_time_min (next, rc->klass->next_timeout (rc));
  return next;
}

void
fmx_rate_controller_on_timeout (FmxRateController *rc, FmxTime now)
{
  double before = rc->rate_bps;
  bool idle = rc->idle;

  if (now >= fmx_rate_hold_next (&rc->hold))
    fmx_rate_hold_end (&rc->hold, now);
  if (rc->klass->on_timeout != NULL && now >= rc->klass->next_timeout (rc))
    rc->klass->on_timeout (rc, now);
  if (now < rc->no_feedback_at)
    return;
  rc->stats.n_no_feedback += !idle;
  if (!idle || rc->klass->slows_when_idle)
    rc->klass->on_no_feedback (rc, now);
  restart_no_feedback_timer (rc, now);
  if (idle && rc->rate_bps == before)
    rc->no_feedback_at = FMX_TIME_NONE; /* until something is sent */
}

void
fmx_rate_controller_drain_too (FmxRateController *rc)
{
  rc->drains_too = true;
}

void
fmx_rate_controller_set_coupled (FmxRateController *rc, FmxTime now)
{
  rc->coupled = now;
}

void
fmx_rate_controller_postpone (FmxRateController *rc, FmxTime until)
{
  if (rc->no_feedback_at < until)
    rc->no_feedback_at = until;
}

double
fmx_rate_controller_bps (const FmxRateController *rc)
{
  return fmx_rate_controller_is_probing (rc) ? 0.0 : rc->rate_bps;
}

bool
fmx_rate_controller_is_probing (const FmxRateController *rc)
{
  return rc->probing || rc->rate_bps < rc->params.min_bps;
}

FmxDuration
fmx_rate_controller_probe_interval (const FmxRateController *rc)
{
  if (rc->klass->probe_interval != NULL)
    return rc->klass->probe_interval (rc);
  return PROBE_INTERVAL;
}

const char *
fmx_rate_controller_reason (const FmxRateController *rc)
{
  return rc->reason;
}

FmxTime
fmx_rate_controller_losses_since (const FmxRateController *rc)
{
  return rc->losses_since;
}

void
fmx_rate_controller_get_stats (const FmxRateController *rc,
    FmxRateStats *stats)
{
  *stats = rc->stats;
}

void
fmx_rate_controller_set (FmxRateController *rc, double bps,
    const char *reason)
{
  bool was_probing = fmx_rate_controller_is_probing (rc);

  assert (bps > 0.0);
  if (bps > rc->params.max_bps)
    bps = rc->params.max_bps;
  if (bps == rc->rate_bps)
    return;
  if (bps > rc->rate_bps)
    rc->stats.n_up++;
  else
    rc->stats.n_down++;
  rc->rate_bps = bps;
  rc->reason = reason;
  if (rc->probing || was_probing == fmx_rate_controller_is_probing (rc))
    return;
  rc->reason = was_probing ? FMX_RATE_RESUME : FMX_RATE_PROBE;
  rc->stats.n_probing += !was_probing;
}

void
fmx_rate_controller_probe (FmxRateController *rc)
{
  if (rc->probing)
    return;
  if (!fmx_rate_controller_is_probing (rc))
    rc->stats.n_probing++;
  rc->probing = true;
  rc->reason = FMX_RATE_PROBE;
}

void
fmx_rate_controller_resume (FmxRateController *rc, double bps)
{
  rc->probing = false;
  rc->rate_bps = bps < rc->params.max_bps ? bps : rc->params.max_bps;
  rc->reason = FMX_RATE_RESUME;
  rc->stats.n_up++;
}
