/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paper's chain of five routers (ALS 4.2, figures 5 and 6, table 1), as a fluid:
 * seven connections over four links of 1 Mbit/s. */
#include "fmx-test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/base/fmx-rng.h"

#define N_LINKS 4
#define N 7
#define PLACES 32
#define CAPACITY_BPS 1000000.0
#define STEP (50 * FMX_MSECOND)
#define FALLBACK_BPS 400000     /* what a sender finds without routers */
#define LENGTH (300 * FMX_SECOND)
#define QUEUE_BITS (50 * 1000 * 8.0)    /* 50 packets of 1,000 bytes */

/* which connections cross which link */
static const bool crosses[N_LINKS][N] = {
  {true, true, true, false, false, false, false},
  {true, true, false, true, true, false, false},
  {true, false, false, false, true, true, false},
  {true, false, false, false, false, false, true},
};

static const double max_min_bps[N] = {
  250e3, 250e3, 500e3, 250e3, 250e3, 500e3, 750e3
};

static const double equal[N] = { 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0 };

typedef struct
{
  FmxAlsRouter router;
  FmxAgingSlot slots[PLACES];
  FmxAlsConnection connections[PLACES];
  double queue_bits;
} Link;

typedef struct
{
  FmxAlsSender sender;
  FmxAgingSlot slots[PLACES];
  FmxAlsSenderReceiver receivers[PLACES];
  FmxAlsReceiver receiver;
  FmxTime next_sr, next_rr;
  double sent, received;        /* since the last receiver report */
} Connection;

typedef struct
{
  FmxDuration report_interval;
  FmxDuration adaptation_interval;
  FmxAlsRouterRule rule;
  double target_utilisation;
  uint32_t increase_bps;
  bool deaf[N_LINKS];           /* a router that knows nothing of ALS */
  uint32_t seed;
  const FmxAlsWeight *weights;
  uint32_t n_weights;
} Setup;

typedef struct
{
  double settled_s;             /* all within the tolerance from here on */
  double mean_bps[N];           /* of the last 60 s */
  double loss;                  /* of the same, the worst */
} Result;

/* Max-min by its definition: all who are not stopped rise together, in proportion to
 * their weights, until a link is full, which stops those who cross it. */
static void
fill (const double *weights, double *bps)
{
  bool stopped[N] = { false };

  memset (bps, 0, N * sizeof bps[0]);
  for (int round = 0; round < N_LINKS; round++) {
    double rise[N_LINKS], least = INFINITY;

    for (int i = 0; i < N_LINKS; i++) {
      double left = CAPACITY_BPS, weight = 0.0;

      for (int k = 0; k < N; k++)
        if (crosses[i][k]) {
          left -= bps[k];
          weight += stopped[k] ? 0.0 : weights[k];
        }
      rise[i] = weight > 0.0 ? left / weight : INFINITY;
      least = fmin (least, rise[i]);
    }
    for (int k = 0; k < N && isfinite (least); k++)
      bps[k] += stopped[k] ? 0.0 : least * weights[k];
    for (int i = 0; i < N_LINKS; i++)
      for (int k = 0; k < N; k++)
        stopped[k] = stopped[k] || (crosses[i][k] && rise[i] <= least * 1.001);
  }
}

static Link links[N_LINKS];
static Connection connections[N];

static void
begin (const Setup *setup, FmxRng *rng)
{
  FmxAlsRouterParams router;
  FmxAlsSenderParams sender;

  fmx_als_router_params_default (&router);
  router.bandwidth_bps = (uint64_t) CAPACITY_BPS;
  router.rule = setup->rule;
  router.target_utilisation = setup->target_utilisation;
  for (int i = 0; i < N_LINKS; i++) {
    fmx_als_router_init (&links[i].router, &router, links[i].slots,
        links[i].connections, PLACES, fmx_rng_next (rng), 0);
    fmx_als_router_set_weights (&links[i].router, setup->weights,
        setup->n_weights);
  }

  fmx_als_sender_params_default (&sender);
  sender.n_layers = 1;
  sender.interval = setup->adaptation_interval;
  sender.increase_bps = setup->increase_bps;
  for (int i = 0; i < N; i++) {
    Connection *c = &connections[i];

    memset (c, 0, sizeof *c);
    fmx_als_sender_init (&c->sender, &sender, c->slots, c->receivers, PLACES,
        fmx_rng_next (rng), fmx_rng_next (rng) % sender.interval);
    fmx_als_receiver_init (&c->receiver);
    c->next_sr = fmx_rng_next (rng) % setup->report_interval;
    c->next_rr = fmx_rng_next (rng) % setup->report_interval;
  }
}

/* [RFC3550 6.3.1] half to one and a half of the interval */
static FmxTime
next_report (FmxTime now, FmxDuration interval, FmxRng *rng)
{
  return now + (FmxTime) interval / 2 + fmx_rng_next (rng) % (FmxTime) interval;
}

static void
send_request (const Setup *setup, Connection *c, FmxTime now)
{
  int number = (int) (c - connections);
  uint8_t data[FMX_ALS_SHARE_BYTES];
  FmxAlsShare request;

  fmx_als_sender_get_request (&c->sender, &request);
  fmx_als_share_write (&request, data, sizeof data);
  for (int i = 0; i < N_LINKS; i++)
    if (crosses[i][number] && !setup->deaf[i]) {
      fmx_als_router_on_request (&links[i].router, (uint64_t) number, now);
      fmx_als_request_cut (data, sizeof data,
          fmx_als_router_get_share_of_bps (&links[i].router, (uint64_t) number,
              now), fmx_als_router_get_utilisation (&links[i].router, now));
    }
  assert_true (fmx_als_share_read (&request, data, sizeof data));
  fmx_als_receiver_on_request (&c->receiver, &request, 1, now);
}

static void
send_return (Connection *c, FmxTime now)
{
  FmxAlsShare share;
  FmxAlsReport report = {.ssrc = 9 };

  if (!fmx_als_receiver_get_return (&c->receiver, &share, now))
    return;
  report.share_bps = share.share_bps;
  report.utilisation = share.utilisation;
  report.answered = share.answered;
  report.fallback_bps = FALLBACK_BPS;
  report.loss = c->sent > 0.0 ? 1.0 - c->received / c->sent : 0.0;
  if (report.loss < 1e-6)
    report.loss = 0.0;
  fmx_als_sender_on_report (&c->sender, &report, now);
  c->sent = c->received = 0.0;
}

/* What of each connection's fluid gets through in this step */
static void
flow (double *passed, FmxTime now)
{
  for (int k = 0; k < N; k++) {
    passed[k] = fmx_als_sender_get_rate_bps (&connections[k].sender, 0);
    connections[k].sent += passed[k];
  }
  for (int i = 0; i < N_LINKS; i++) {
    double sum = 0.0, over;

    for (int k = 0; k < N; k++)
      if (crosses[i][k]) {
        sum += passed[k];
        fmx_als_router_on_packet (&links[i].router, (uint64_t) k,
            (uint32_t) (passed[k] * fmx_time_to_s (STEP) / 8.0), now);
      }
    links[i].queue_bits += (sum - CAPACITY_BPS) * fmx_time_to_s (STEP);
    links[i].queue_bits = fmax (links[i].queue_bits, 0.0);
    over = fmax (links[i].queue_bits - QUEUE_BITS, 0.0);
    links[i].queue_bits -= over;
    for (int k = 0; k < N; k++)
      if (crosses[i][k] && over > 0.0)
        passed[k] *= 1.0 - over / (sum * fmx_time_to_s (STEP));
  }
  for (int k = 0; k < N; k++)
    connections[k].received += passed[k];
}

static Result
run_to (const Setup *setup, const double *goal_bps, double tolerance)
{
  Result result = { 0 };
  double sent[N] = { 0 };
  int n_last = 0;
  FmxRng rng;

  fmx_rng_init (&rng, setup->seed);
  begin (setup, &rng);
  for (FmxTime now = 0; now < LENGTH; now += STEP) {
    double passed[N];

    flow (passed, now);
    for (int k = 0; k < N; k++) {
      Connection *c = &connections[k];

      if (now >= c->next_sr) {
        send_request (setup, c, now);
        c->next_sr = next_report (now, setup->report_interval, &rng);
      }
      if (now >= c->next_rr) {
        send_return (c, now);
        c->next_rr = next_report (now, setup->report_interval, &rng);
      }
      if (now >= fmx_als_sender_next_timeout (&c->sender))
        fmx_als_sender_on_timeout (&c->sender, now);
      if (fabs (passed[k] / goal_bps[k] - 1.0) > tolerance)
        result.settled_s = fmx_time_to_s ((FmxDuration) now);
      if (now >= LENGTH - 60 * FMX_SECOND) {
        result.mean_bps[k] += passed[k];
        sent[k] += fmx_als_sender_get_rate_bps (&c->sender, 0);
      }
    }
    n_last += now >= LENGTH - 60 * FMX_SECOND;
  }
  for (int k = 0; k < N; k++) {
    double loss = 1.0 - result.mean_bps[k] / sent[k];

    result.loss = loss > result.loss ? loss : result.loss;
    result.mean_bps[k] /= n_last;
  }
  return result;
}

static Result
run (const Setup *setup, double tolerance)
{
  return run_to (setup, max_min_bps, tolerance);
}

static void
print (const char *title, const Result *result)
{
  printf ("# %s: settled after %.0f s;", title, result->settled_s);
  for (int k = 0; k < N; k++)
    printf (" %.0f", result->mean_bps[k] / 1000.0);
  printf (" kbit/s, loss %.2f %%\n", 100.0 * result->loss);
}

/* Table 1: paper 248 249 497 245 246 499 742 of 250 250 500 250 250 500 750, in
 * less than 100 s */
static void
test_the_paper_s_rule_comes_to_the_max_min_shares (void **state)
{
  (void) state;
  for (uint32_t seed = 1; seed <= 5; seed++) {
    Setup setup = { 5 * FMX_SECOND, 5 * FMX_SECOND, FMX_ALS_ROUTER_EQUAL, 0.9,
      5000, {false}, seed, NULL, 0
    };
    Result result = run (&setup, 0.05), loosely = run (&setup, 0.1);

    print ("equal, 5 s", &result);
    print ("equal, 5 s, to 10 %", &loosely);
    assert_true (loosely.settled_s < 101.0);
    for (int k = 0; k < N; k++)
      assert_true (fabs (result.mean_bps[k] / max_min_bps[k] - 1.0) < 0.05);
    assert_true (result.settled_s < 120.0);
    assert_true (result.loss < 0.02);
  }
}

/* Ours: the routers find who is limited elsewhere, so that senders need not feel
 * their way, and report each second as RTP/AVPF lets them. */
static void
test_a_router_that_knows_who_is_limited_elsewhere_is_exact (void **state)
{
  (void) state;
  for (uint32_t seed = 1; seed <= 5; seed++) {
    Setup setup = { FMX_SECOND, FMX_SECOND, FMX_ALS_ROUTER_MAX_MIN, 0.995, 0,
      {false}, seed, NULL, 0
    };
    Result result = run (&setup, 0.01);

    print ("max-min, 1 s", &result);
    for (int k = 0; k < N; k++)
      assert_true (fabs (result.mean_bps[k] / max_min_bps[k] - 1.0) < 0.01);
    assert_true (result.settled_s < 30.0);
    assert_true (result.loss < 0.001);
  }
}

/* The long connection counts for two on each link, one of the others for half. */
static void
test_who_counts_for_more_has_as_many_shares_on_each_link (void **state)
{
  static const FmxAlsWeight weights[] = { {0, 2.0}, {3, 0.5} };
  const double of[N] = { 2.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0 };
  double goal_bps[N];

  (void) state;
  fill (equal, goal_bps);
  for (int k = 0; k < N; k++)
    assert_true (fabs (goal_bps[k] / max_min_bps[k] - 1.0) < 1e-9);
  fill (of, goal_bps);
  for (uint32_t seed = 1; seed <= 5; seed++) {
    Setup setup = { FMX_SECOND, FMX_SECOND, FMX_ALS_ROUTER_MAX_MIN, 0.995, 0,
      {false}, seed, weights, 2
    };
    Result result = run_to (&setup, goal_bps, 0.01);

    print ("max-min, 1 s, C0 weighs 2, C3 1/2", &result);
    for (int k = 0; k < N; k++)
      assert_true (fabs (result.mean_bps[k] / goal_bps[k] - 1.0) < 0.01);
    assert_true (result.settled_s < 30.0);
    assert_true (result.loss < 0.001);
  }
}

/* One router that knows nothing: who passes no other one falls back on himself,
 * and the others keep their shares. */
static void
test_one_deaf_router_does_not_harm_who_asks_others (void **state)
{
  (void) state;
  for (uint32_t seed = 1; seed <= 5; seed++) {
    Setup setup = { 5 * FMX_SECOND, 5 * FMX_SECOND, FMX_ALS_ROUTER_EQUAL, 0.9,
      5000, {false, false, true, false}, seed, NULL, 0
    };
    Result result = run (&setup, 0.05);

    print ("equal, 5 s, one deaf", &result);
    assert_true (fabs (result.mean_bps[5] / FALLBACK_BPS - 1.0) < 0.05);
    for (int k = 0; k < N; k++)
      assert_true (k == 5 || fabs (result.mean_bps[k] / max_min_bps[k] - 1.0)
          < 0.05);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_paper_s_rule_comes_to_the_max_min_shares),
    cmocka_unit_test
        (test_a_router_that_knows_who_is_limited_elsewhere_is_exact),
    cmocka_unit_test (test_who_counts_for_more_has_as_many_shares_on_each_link),
    cmocka_unit_test (test_one_deaf_router_does_not_harm_who_asks_others),
  };

  return cmocka_run_group_tests_name ("als/chain", tests, NULL, NULL);
}
