/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-tfrc.h"

#include <math.h>

#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-controller.h"

#define T_MBI_S 64.0            /* [RFC5348 4.3] */
#define W_INIT_BYTES 4380.0     /* [RFC5348 4.2] */

static double
floor_bps (const FmxRateController *rc)
{
  return 8.0 * rc->packet_bytes / T_MBI_S;      /* s / t_mbi */
}

/* [RFC5348 4.2] W_init = min(4*MSS, max(2*MSS, 4380)) */
static double
initial_rate_bps (const FmxRateController *rc)
{
  double mss = rc->params.segment_bytes > 0
      ? (double) rc->params.segment_bytes : rc->packet_bytes;
  double w = 2.0 * mss > W_INIT_BYTES ? 2.0 * mss : W_INIT_BYTES;

  if (w > 4.0 * mss)
    w = 4.0 * mss;
  return fmx_rate_bps (w, rc->rtt);
}

static double
recv_max (const FmxRateTfrcState *tfrc)
{
  double most = 0.0;

  if (tfrc->n_recv == 0)
    return HUGE_VAL;
  for (unsigned i = 0; i < tfrc->n_recv; i++)
    if (tfrc->recv_bps[i] > most)
      most = tfrc->recv_bps[i];
  return most;
}

static void
replace_recv_set (FmxRateTfrcState *tfrc, double bps, FmxTime now)
{
  tfrc->n_recv = 1;
  tfrc->recv_bps[0] = bps;
  tfrc->recv_time[0] = now;
}

/* [RFC5348 4.3] Maximize X_recv_set(): the largest alone stays, as of now. */
static void
maximize_recv_set (FmxRateTfrcState *tfrc, double bps, FmxTime now)
{
  double most = tfrc->n_recv > 0 ? recv_max (tfrc) : 0.0;

  replace_recv_set (tfrc, bps > most ? bps : most, now);
}

/* [RFC5348 4.3, 8.2.2] Update X_recv_set(): two round-trip times, three
 * values at most.  Infinity counts as one that goes after two RTTs. */
static void
update_recv_set (FmxRateController *rc, double bps, FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;
  unsigned n = 0;

  if (tfrc->n_recv == 0
      && fmx_time_diff (now, tfrc->recv_time[0]) <= 2 * rc->rtt)
    return;
  for (unsigned i = 0; i < tfrc->n_recv; i++) {
    if (fmx_time_diff (now, tfrc->recv_time[i]) > 2 * rc->rtt)
      continue;
    tfrc->recv_bps[n] = tfrc->recv_bps[i];
    tfrc->recv_time[n++] = tfrc->recv_time[i];
  }
  if (n == FMX_RATE_TFRC_RECV_SET) {
    for (unsigned i = 1; i < n; i++) {
      tfrc->recv_bps[i - 1] = tfrc->recv_bps[i];
      tfrc->recv_time[i - 1] = tfrc->recv_time[i];
    }
    n--;
  }
  tfrc->recv_bps[n] = bps;
  tfrc->recv_time[n] = now;
  tfrc->n_recv = n + 1;
}

/* [RFC5348 4.3] step 4, first half */
static double
recv_limit_bps (FmxRateController *rc, const FmxRateFeedback *fb, FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;

  if (!rc->data_limited) {      /* typical behavior */
    update_recv_set (rc, fb->receive_bps, now);
    return 2.0 * recv_max (tfrc);
  }
  if (fb->new_loss_event || fb->loss_event_rate > tfrc->last_p) {
    for (unsigned i = 0; i < tfrc->n_recv; i++)
      tfrc->recv_bps[i] /= 2.0;
    maximize_recv_set (tfrc, 0.85 * fb->receive_bps, now);
    return recv_max (tfrc);
  }
  maximize_recv_set (tfrc, fb->receive_bps, now);
  return 2.0 * recv_max (tfrc);
}

/* [RFC5348 4.3] step 4, second half */
static const char *
set_allowed_rate (FmxRateController *rc, double recv_limit, FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;
  const char *why = FMX_RATE_DOWN_LOSS;
  double x = tfrc->equation_bps;

  if (tfrc->equation_bps == HUGE_VAL) { /* initial slow-start */
    if (fmx_time_diff (now, tfrc->doubled) < rc->rtt)
      return tfrc->x_bps > recv_limit ? FMX_RATE_DOWN_LIMIT : FMX_RATE_UP;
    tfrc->doubled = now;
    x = 2.0 * tfrc->x_bps;
  }
  if (x > recv_limit) {
    x = recv_limit;
    why = FMX_RATE_DOWN_LIMIT;
  }
  if (tfrc->equation_bps == HUGE_VAL && x < initial_rate_bps (rc))
    x = initial_rate_bps (rc);
  if (x < floor_bps (rc))
    x = floor_bps (rc);
  if (x > rc->params.max_bps)
    x = rc->params.max_bps;
  tfrc->x_bps = x;
  return why;
}

/* [RFC5348 4.5] X_inst = X * R_sqmean / sqrt(R_sample) */
static void
set_instantaneous_rate (FmxRateController *rc, double damping,
    const char *why)
{
  double x = rc->state.tfrc.x_bps * damping;

  if (x < floor_bps (rc))
    x = floor_bps (rc);
  if (x > rc->rate_bps)
    why = FMX_RATE_UP;
  else if (damping < 1.0 && rc->state.tfrc.x_bps > rc->rate_bps)
    why = FMX_RATE_DOWN_DELAY;
  fmx_rate_controller_set (rc, x, why);
}

static void
tfrc_init (FmxRateController *rc, FmxTime now)
{
  rc->state.tfrc.x_bps = rc->rate_bps;
  rc->state.tfrc.equation_bps = HUGE_VAL;
  rc->state.tfrc.recv_time[0] = now;
}

static void
tfrc_on_feedback (FmxRateController *rc, const FmxRateFeedback *fb,
    FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;
  const char *why = FMX_RATE_DOWN_LOSS;

  tfrc->equation_bps = fb->equation_bps;
  if (rc->probing) {            /* the circuit breaker has just closed */
    if (!fb->heard || !fb->answered)
      return;
    fmx_rate_controller_resume (rc, rc->params.min_bps);
    tfrc->x_bps = rc->rate_bps;
    replace_recv_set (tfrc, tfrc->x_bps / 2.0, now);
  } else if (!fb->heard) {
    /* Timeouts say what feedback would have said of p, and nothing else. */
    if (tfrc->x_bps > fb->equation_bps)
      tfrc->x_bps = fb->equation_bps > floor_bps (rc)
          ? fb->equation_bps : floor_bps (rc);
  } else if (!tfrc->started) {
    /* [RFC5348 4.2] "this replaces step (4)" */
    tfrc->started = true;
    tfrc->doubled = now;
    tfrc->recv_time[0] = now;
    tfrc->x_bps = initial_rate_bps (rc);
    if (tfrc->x_bps > fb->equation_bps)
      tfrc->x_bps = fb->equation_bps;
    if (tfrc->x_bps < floor_bps (rc))
      tfrc->x_bps = floor_bps (rc);
  } else {
    why = set_allowed_rate (rc, recv_limit_bps (rc, fb, now), now);
  }
  tfrc->last_p = fb->loss_event_rate;
  set_instantaneous_rate (rc, fb->damping, why);
}

/* [RFC5348 4.4] Update_Limits(timer_limit) */
static void
update_limits (FmxRateController *rc, double timer_limit, FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;

  if (timer_limit < floor_bps (rc))
    timer_limit = floor_bps (rc);
  replace_recv_set (tfrc, timer_limit / 2.0, now);
  set_allowed_rate (rc, timer_limit, now);
}

/* [RFC5348 4.4] */
static void
tfrc_on_no_feedback (FmxRateController *rc, FmxTime now)
{
  FmxRateTfrcState *tfrc = &rc->state.tfrc;
  bool has_loss = tfrc->equation_bps < HUGE_VAL;
  double recv = recv_max (tfrc);
  double recover = rc->rtt > 0 ? initial_rate_bps (rc) : 0.0;

  if (rc->idle && ((has_loss && recv < recover)
          || (!has_loss && tfrc->x_bps < 2.0 * recover)))
    return;                     /* Don't halve the allowed sending rate. */
  if (!has_loss) {              /* We do not have X_Bps yet. */
    tfrc->x_bps /= 2.0;
    if (tfrc->x_bps < floor_bps (rc))
      tfrc->x_bps = floor_bps (rc);
  } else if (tfrc->equation_bps > 2.0 * recv) {
    update_limits (rc, recv, now);      /* 2*X_recv was the limit */
  } else {
    update_limits (rc, tfrc->equation_bps / 2.0, now);
  }
  fmx_rate_controller_set (rc, tfrc->x_bps, FMX_RATE_DOWN_NO_FEEDBACK);
}

/* Below the least useful rate there are dummy packets, at the allowed rate:
 * they let it grow. */
static FmxDuration
tfrc_probe_interval (const FmxRateController *rc)
{
  FmxDuration interval = fmx_time_from_s (8.0 * rc->packet_bytes
      / rc->rate_bps);

  if (rc->probing)
    return FMX_SECOND;
  return interval > rc->rtt ? interval : rc->rtt;
}

const FmxRateClass fmx_rate_tfrc = {
  .name = "tfrc",
  .description = "TCP Friendly Rate Control (RFC 5348, 4828)",
  .init = tfrc_init,
  .on_feedback = tfrc_on_feedback,
  .on_no_feedback = tfrc_on_no_feedback,
  .slows_when_idle = true,      /* down to recover_rate */
  .probe_interval = tfrc_probe_interval,
};
