/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/als/fmx-als-sender.h"
#include "fairmix/base/fmx-rng.h"

static FmxAlsSenderStats
sender_stats (const FmxAlsSender *object)
{
  FmxAlsSenderStats stats;

  fmx_als_sender_get_stats (object, &stats);
  return stats;
}

#define PLACES 64
#define INTERVAL (5 * FMX_SECOND)

static FmxAgingSlot slots[PLACES];
static FmxAlsSenderReceiver receivers[PLACES];

static void
begin (FmxAlsSender *sender, unsigned n_layers)
{
  FmxAlsSenderParams params;

  fmx_als_sender_params_default (&params);
  params.n_layers = n_layers;
  fmx_als_sender_init (sender, &params, slots, receivers, PLACES, 1, 0);
}

static void
report (FmxAlsSender *sender, uint32_t ssrc, uint32_t share_bps, double u,
    double loss, FmxTime now)
{
  FmxAlsReport r = { ssrc, share_bps, u, loss, true, 0 };

  fmx_als_sender_on_report (sender, &r, now);
}

/* ALS 3.3, by hand: AIR from 5 kbit/s, U and loss as in each row */
static void
test_a_receiver_s_rate_follows_the_paper_s_rule (void **state)
{
  const struct
  {
    double u, loss, increase_bps, rate_bps;
  } table[] = {
    {0.5, 0.0, 7500.0, 107500.0},       /* 5000 + 5000 (1 - 0.5) */
    {0.5, 0.0, 11250.0, 111250.0},
    {0.0, 0.0, 22500.0, 122500.0},
    {1.0, 0.0, 22500.0, 122500.0},      /* a full link: no further */
    {0.5, 0.1, 5000.0, 90000.0},        /* loss: R_d (1 - l), AIR anew */
    {0.5, 0.0, 7500.0, 107500.0},
    {1.5, 0.0, 3750.0, 103750.0},       /* more than full: back */
    {0.5, 1.0, 5000.0, 8000.0}, /* everything lost: the least rate */
  };
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 1);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    const FmxAlsSenderReceiver *r;

    report (&sender, 7, 100000, table[i].u, table[i].loss, i);
    r = fmx_als_sender_get_receiver (&sender, 7);
    assert_true (fabs (r->increase_bps - table[i].increase_bps) < 1e-6);
    assert_true (fabs (r->rate_bps - table[i].rate_bps) < 1e-6);
  }
}

static void
test_the_rate_is_the_least_of_the_last_interval_s_reports (void **state)
{
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 1);
  report (&sender, 1, 300000, 1.0, 0.0, FMX_SECOND);
  report (&sender, 2, 100000, 1.0, 0.0, FMX_SECOND);
  report (&sender, 3, 200000, 1.0, 0.0, FMX_SECOND);
  assert_false (fmx_als_sender_on_timeout (&sender, INTERVAL - 1));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 64000);
  assert_true (fmx_als_sender_on_timeout (&sender, INTERVAL));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 105000);
  assert_int_equal (fmx_als_sender_get_limiting_ssrc (&sender), 2);

  /* the slowest leaves: its old report does not hold the others back */
  fmx_als_sender_on_bye (&sender, 2);
  report (&sender, 1, 300000, 1.0, 0.0, INTERVAL + FMX_SECOND);
  report (&sender, 3, 200000, 1.0, 0.0, INTERVAL + FMX_SECOND);
  assert_true (fmx_als_sender_on_timeout (&sender, 2 * INTERVAL));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 205000);
  assert_true (fmx_als_sender_get_receiver (&sender, 2) == NULL);
}

/* ALS 3.4: three layers; the sizes come from the shares and not from the rates,
 * so that the one with the largest share may hold them all. */
static void
test_layers_span_the_slowest_and_the_fastest (void **state)
{
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 3);
  report (&sender, 1, 90000, 1.0, 0.0, 1);
  report (&sender, 2, 170000, 1.0, 0.0, 1);
  report (&sender, 3, 230001, 1.0, 0.0, 1);
  assert_true (fmx_als_sender_on_timeout (&sender, INTERVAL));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 95000);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 1), 70000);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 2), 70000);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 235000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 0), 90000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 1), 70000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 2), 70000);
}

/* What an audio layer can use: mono speech, the side signal, what is above 8 kHz */
static void
test_layers_have_what_their_content_can_use (void **state)
{
  const struct
  {
    uint32_t least, most;       /* shares */
    unsigned n_sent;
    uint32_t sizes[3];
  } table[] = {
    {40000, 40000, 1, {40000, 0, 0}},
    {40000, 59999, 1, {40000, 0, 0}},   /* less than 20 for the side */
    {40000, 60000, 2, {40000, 20000, 0}},
    {40000, 69999, 2, {40000, 29999, 0}},       /* too little for two */
    {40000, 90000, 3, {40000, 25000, 25000}},
    {40000, 110000, 3, {40000, 40000, 30000}},  /* the third has enough */
    {40000, 900000, 3, {40000, 48000, 30000}},
    {900000, 900000, 3, {64000, 48000, 30000}}, /* all are alike, and rich */
    {64000, 84000, 2, {64000, 20000, 0}},
    {70000, 90000, 2, {64000, 26000, 0}},
  };
  FmxAlsSenderParams params;
  FmxAlsSender sender;

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    fmx_als_sender_params_default (&params);
    params.increase_bps = 0;
    params.layers[0].most_bps = 64000;
    params.layers[1] = (FmxAlsLayerLimits) { 20000, 48000 };
    params.layers[2] = (FmxAlsLayerLimits) { 20000, 30000 };
    fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
    assert_int_equal (fmx_als_sender_get_n_sent (&sender), 1);
    report (&sender, 1, table[i].least, 1.0, 0.0, 1);
    report (&sender, 2, table[i].most, 1.0, 0.0, 1);
    fmx_als_sender_on_timeout (&sender, INTERVAL);
    assert_int_equal (fmx_als_sender_get_n_sent (&sender), table[i].n_sent);
    for (unsigned k = 0; k < 3; k++) {
      assert_int_equal (fmx_als_sender_get_size_bps (&sender, k),
          table[i].sizes[k]);
      assert_int_equal (fmx_als_sender_get_rate_bps (&sender, k),
          table[i].sizes[k]);
    }
  }
}

/* It holds the base and nothing else, so it must not size the others. */
static void
test_who_has_no_answer_has_no_say_in_upper_layers (void **state)
{
  FmxAlsReport r = { 3, 0, 0.0, 0.0, false, 500000 };
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 3);
  report (&sender, 1, 90000, 1.0, 0.0, 1);
  report (&sender, 2, 170000, 1.0, 0.0, 1);
  fmx_als_sender_on_report (&sender, &r, 1);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 95000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 1), 40000);
  r.fallback_bps = 50000;
  report (&sender, 2, 170000, 1.0, 0.0, INTERVAL + 1);
  fmx_als_sender_on_report (&sender, &r, INTERVAL + 1);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 50000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 1), 60000);
}

static void
test_without_a_router_the_fallback_counts (void **state)
{
  FmxAlsReport r = { 1, 1000000, 0.0, 0.0, false, 123000 };
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 1);
  fmx_als_sender_on_report (&sender, &r, 1);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 123000);
  assert_int_equal (sender_stats (&sender).n_unanswered, 1);
}

/* tfrcrate behind alsrtcp, for one: whoever has no router's answer has its rate, as soon
 * as that is known; who has one does not. */
static void
test_another_controller_counts_where_no_router_answers (void **state)
{
  FmxAlsReport plain = {.ssrc = 7,.fallback_bps = 150000 };
  FmxAlsSender sender;

  (void) state;
  begin (&sender, 1);
  fmx_als_sender_set_fallback (&sender, 90000, 1);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 64000);
  fmx_als_sender_on_report (&sender, &plain, FMX_SECOND);
  fmx_als_sender_set_fallback (&sender, 80000, 2 * FMX_SECOND);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 80000);
  fmx_als_sender_set_fallback (&sender, 200000, 3 * FMX_SECOND);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 200000);
  assert_int_equal (fmx_als_sender_get_size_bps (&sender, 0), 200000);
  report (&sender, 8, 120000, 1.0, 0.0, 4 * FMX_SECOND);
  fmx_als_sender_set_fallback (&sender, 300000, 4 * FMX_SECOND);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 125000);
  assert_true (fmx_als_sender_on_timeout (&sender, INTERVAL));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 125000);
  fmx_als_sender_set_fallback (&sender, 0, INTERVAL);
  fmx_als_sender_on_report (&sender, &plain, INTERVAL + 1);
  fmx_als_sender_on_bye (&sender, 8);
  assert_true (fmx_als_sender_on_timeout (&sender, 2 * INTERVAL));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 150000);
}

static void
test_without_reports_the_rate_stays_and_then_falls (void **state)
{
  const uint32_t expected[] = { 105000, 105000, 105000, 52500, 26250, 13125,
    8000, 8000
  };
  FmxAlsSender sender;
  FmxTime now = INTERVAL;

  (void) state;
  begin (&sender, 1);
  report (&sender, 1, 100000, 1.0, 0.0, 1);
  fmx_als_sender_on_timeout (&sender, now);
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    now = fmx_als_sender_next_timeout (&sender);
    assert_false (fmx_als_sender_on_timeout (&sender, now));
    assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), expected[i]);
  }
}

/* Whatever receivers say, the rate stays between the least and the wish, and a
 * single one cannot raise what another one limits. */
static void
test_no_report_leads_out_of_the_limits (void **state)
{
  FmxAlsSender sender;
  FmxTime now = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  begin (&sender, 3);
  for (int i = 0; i < 20000; i++) {
    const double odd[] = { NAN, INFINITY, -INFINITY, -1.0, 0.0, 0.5, 1.0, 1e9 };
    FmxAlsReport r = {
      fmx_rng_next (&rng) % 1000, fmx_rng_next (&rng),
      odd[fmx_rng_next (&rng) % 8], odd[fmx_rng_next (&rng) % 8],
      fmx_rng_next (&rng) % 4 > 0, fmx_rng_next (&rng)
    };

    now += fmx_rng_next (&rng) % FMX_SECOND;
    fmx_als_sender_on_report (&sender, &r, now);
    r = (FmxAlsReport) { 5000, 50000, 1.0, 0.0, true, 0 };
    fmx_als_sender_on_report (&sender, &r, now);
    if (fmx_als_sender_on_timeout (&sender, now)) {
      uint32_t rate = fmx_als_sender_get_rate_bps (&sender, 0);

      assert_in_range (rate, 8000, 55000);
      assert_in_range (fmx_als_sender_get_total_bps (&sender), rate, 1000000);
    }
  }
}

/* Who did not speak in the last interval, but in the one before. */
static void
test_with_a_memory_the_last_report_of_each_counts (void **state)
{
  FmxAlsSenderParams params;
  FmxAlsSender sender;

  (void) state;
  fmx_als_sender_params_default (&params);
  params.n_layers = 1;
  params.memory = 2 * INTERVAL;
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  report (&sender, 1, 100000, 1.0, 0.0, FMX_SECOND);
  report (&sender, 2, 300000, 1.0, 0.0, FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 105000);
  report (&sender, 2, 300000, 1.0, 0.0, INTERVAL + FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 105000);
  assert_int_equal (fmx_als_sender_get_limiting_ssrc (&sender), 1);
  report (&sender, 2, 300000, 1.0, 0.0, 2 * INTERVAL + FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, 3 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 305000);
  /* and who has left does not */
  report (&sender, 1, 100000, 1.0, 0.0, 3 * INTERVAL + FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, 4 * INTERVAL);
  fmx_als_sender_on_bye (&sender, 1);
  report (&sender, 2, 300000, 1.0, 0.0, 4 * INTERVAL + FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, 5 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 305000);
}

/* A thousand that speak each 100 s: the one with the least share counts between its
 * reports, too.  With the paper's memory it does not. */
/* With a memory, which is ours: not at the next adaptation point, and the others'
 * reports still count. */
static void
test_with_a_memory_a_smaller_base_does_not_wait (void **state)
{
  FmxAlsSenderParams params;
  FmxAlsSender sender;

  (void) state;
  fmx_als_sender_params_default (&params);
  params.memory = 3 * INTERVAL;
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  report (&sender, 1, 100000, 1.0, 0.0, 1);
  report (&sender, 2, 300000, 1.0, 0.0, 2);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 105000);
  report (&sender, 1, 96000, 1.0, 0.0, INTERVAL + 1);
  assert_int_equal (fmx_als_sender_next_timeout (&sender), 2 * INTERVAL);
  report (&sender, 1, 90000, 1.0, 0.0, INTERVAL + 2);
  assert_int_equal (fmx_als_sender_next_timeout (&sender), INTERVAL + 2);
  assert_true (fmx_als_sender_on_timeout (&sender, INTERVAL + 2));
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 95000);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 305000);
  assert_int_equal (fmx_als_sender_next_timeout (&sender), 2 * INTERVAL + 2);
  /* who spoke before the early point, and not since, is not forgotten */
  report (&sender, 2, 300000, 1.0, 0.0, INTERVAL + 3);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL + 2);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 95000);
}

/* Only who limits: what the others can take changes nothing. */
static void
test_with_a_memory_more_for_who_limits_does_not_wait (void **state)
{
  FmxAlsSenderParams params;
  FmxAlsSender sender;

  (void) state;
  fmx_als_sender_params_default (&params);
  params.memory = 3 * INTERVAL;
  params.increase_bps = 0;
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  report (&sender, 2, 300000, 1.0, 0.0, 1);
  report (&sender, 1, 100000, 1.0, 0.0, 2);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  report (&sender, 2, 600000, 1.0, 0.0, INTERVAL + 1);
  report (&sender, 1, 104000, 1.0, 0.0, INTERVAL + 2);
  assert_int_equal (fmx_als_sender_next_timeout (&sender), 2 * INTERVAL);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL);
  report (&sender, 1, 200000, 1.0, 0.0, 2 * INTERVAL + 1);
  assert_int_equal (fmx_als_sender_next_timeout (&sender), 2 * INTERVAL + 1);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL + 1);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), 200000);
}

/* From 64 kbit/s to 1 Mbit/s are four doublings, of 0.2 s; as in the paper it is one step. */
static void
test_who_begins_doubles_as_a_tcp_does (void **state)
{
  (void) state;
  for (unsigned paper = 0; paper < 2; paper++) {
    const FmxDuration step = 200 * FMX_MSECOND;
    FmxAlsSenderParams params;
    FmxAlsSender sender;
    FmxTime now = 0;

    fmx_als_sender_params_default (&params);
    params.n_layers = 1;
    params.increase_bps = 0;
    params.interval = step;
    params.memory = paper ? step : 3 * step;
    fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, now);
    for (unsigned i = 0; i < 6; i++) {
      report (&sender, 1, 900000, 0.5, 0.0, now);
      now += (FmxTime) step;
      fmx_als_sender_on_timeout (&sender, now);
      assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 0), paper || i > 2
          ? 900000 : 128000u << i);
    }
  }
}

static void
test_in_a_large_group_the_memory_is_longer (void **state)
{
  static FmxAgingSlot many_slots[8192];
  static FmxAlsSenderReceiver many[8192];

  (void) state;
  for (int paper = 0; paper < 2; paper++) {
    FmxAlsSenderParams params;
    FmxAlsSender sender;
    unsigned n_low = 0, n = 0;

    fmx_als_sender_params_default (&params);
    params.increase_bps = 0;
    params.memory = paper ? INTERVAL : 3 * INTERVAL;
    fmx_als_sender_init (&sender, &params, many_slots, many, 8192, 1, 0);
    for (uint32_t i = 0; i < 5000; i++) {
      FmxTime now = i * 100 * (FmxTime) FMX_MSECOND;

      report (&sender, i % 1000 + 1, i % 1000 == 0 ? 90000 : 270000, 1.0, 0.0,
          now);
      if (now < fmx_als_sender_next_timeout (&sender))
        continue;
      fmx_als_sender_on_timeout (&sender, now);
      if (i > 2500) {
        n++;
        n_low += fmx_als_sender_get_rate_bps (&sender, 0) == 90000;
      }
    }
    assert_true (paper ? n_low * 10 < n : n_low == n);
  }
}

static void
note_event (void *user, const FmxEvent *event)
{
  *(FmxEvent *) user = *event;
}

static void
test_layers_limits_and_rates_change_and_are_told (void **state)
{
  FmxAlsSenderParams params;
  FmxAlsSender sender;
  FmxEvent event = { 0 };
  FmxEventSink sink = { note_event, &event };

  (void) state;
  fmx_als_sender_params_default (&params);
  params.n_layers = 2;
  params.sink = &sink;
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  report (&sender, 1, 100000, 1.0, 0.0, FMX_SECOND);
  report (&sender, 2, 300000, 1.0, 0.0, FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, INTERVAL);
  assert_string_equal (event.name, "als-rates");
  assert_string_equal (event.reason, "reports");
  assert_true (event.fields[0].value == 305000.0);
  assert_true (event.fields[1].value == 105000.0);
  fmx_als_sender_set_n_layers (&sender, 1, INTERVAL);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 105000);
  assert_string_equal (event.reason, "settings");
  fmx_als_sender_set_n_layers (&sender, 3, INTERVAL);
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 105000);
  report (&sender, 1, 100000, 1.0, 0.0, INTERVAL + FMX_SECOND);
  report (&sender, 2, 300000, 1.0, 0.0, INTERVAL + FMX_SECOND);
  fmx_als_sender_on_timeout (&sender, 2 * INTERVAL);
  assert_int_equal (fmx_als_sender_get_rate_bps (&sender, 2), 100000);
  fmx_als_sender_set_limits (&sender, 150000, 8000, 2 * INTERVAL);
  assert_string_equal (event.reason, "settings");
  assert_int_equal (fmx_als_sender_get_total_bps (&sender), 150000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_receiver_s_rate_follows_the_paper_s_rule),
    cmocka_unit_test
        (test_the_rate_is_the_least_of_the_last_interval_s_reports),
    cmocka_unit_test (test_layers_span_the_slowest_and_the_fastest),
    cmocka_unit_test (test_layers_have_what_their_content_can_use),
    cmocka_unit_test (test_who_has_no_answer_has_no_say_in_upper_layers),
    cmocka_unit_test (test_without_a_router_the_fallback_counts),
    cmocka_unit_test (test_another_controller_counts_where_no_router_answers),
    cmocka_unit_test (test_without_reports_the_rate_stays_and_then_falls),
    cmocka_unit_test (test_no_report_leads_out_of_the_limits),
    cmocka_unit_test (test_with_a_memory_the_last_report_of_each_counts),
    cmocka_unit_test (test_with_a_memory_a_smaller_base_does_not_wait),
    cmocka_unit_test (test_with_a_memory_more_for_who_limits_does_not_wait),
    cmocka_unit_test (test_who_begins_doubles_as_a_tcp_does),
    cmocka_unit_test (test_in_a_large_group_the_memory_is_longer),
    cmocka_unit_test (test_layers_limits_and_rates_change_and_are_told),
  };

  return cmocka_run_group_tests_name ("als/sender", tests, NULL, NULL);
}
