/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/select/fmx-stream-cost.h"

#define PACKET (20 * FMX_MSECOND)

static const FmxStreamCostPacket speech = { 200, PACKET, false };
static const FmxStreamCostPacket silence = { 42, PACKET, true };

static void
test_a_speaker_costs_the_same_whatever_the_jitter (void **state)
{
  FmxStreamCost cost;
  FmxTime sent = 0, now = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  fmx_stream_cost_init (&cost);
  for (int i = 0; i < 2000; i++) {
    FmxTime arrival = sent + fmx_rng_next (&rng) % (60 * FMX_MSECOND);

    now = arrival > now ? arrival : now;
    fmx_stream_cost_add (&cost, &speech, now);
    assert_int_equal (fmx_stream_cost_bps (&cost, now), 80000);
    sent += PACKET;
  }
}

static void
test_a_variable_rate_is_a_mean_over_the_latest_packets (void **state)
{
  FmxStreamCost cost;
  FmxStreamCostPacket packet = speech;
  FmxTime now = 0;

  (void) state;
  fmx_stream_cost_init (&cost);
  for (int i = 0; i < 600; i++, now += PACKET) {
    packet.wire_bytes = i % 2 == 0 ? 150 : 250;
    fmx_stream_cost_add (&cost, &packet, now);
  }
  assert_in_range (fmx_stream_cost_bps (&cost, now), 79000, 81000);
}

static void
test_who_begins_to_speak_costs_at_once_what_he_cost_before (void **state)
{
  FmxStreamCost cost;
  FmxTime now = 0;

  (void) state;
  fmx_stream_cost_init (&cost);
  for (int i = 0; i < 100; i++, now += PACKET)
    fmx_stream_cost_add (&cost, &speech, now);
  for (int i = 0; i < 200; i++, now += PACKET)
    fmx_stream_cost_add (&cost, &silence, now);
  assert_false (fmx_stream_cost_speaks (&cost, now));
  assert_in_range (fmx_stream_cost_bps (&cost, now), 16000, 17000);
  fmx_stream_cost_add (&cost, &speech, now);
  assert_int_equal (fmx_stream_cost_bps (&cost, now), 80000);
}

/* A sample in a packet that is all header: 25 Gbit/s, if it were speech. */
static void
test_what_costs_more_than_can_be_said_is_not_cheap (void **state)
{
  const FmxStreamCostPacket packet = { 65535, FMX_SECOND / 48000, false };
  FmxStreamCost cost;

  (void) state;
  fmx_stream_cost_init (&cost);
  fmx_stream_cost_add (&cost, &packet, 0);
  assert_int_equal (fmx_stream_cost_bps (&cost, 0), UINT32_MAX);
}

/* Each says that it is 20 ms of speech, and they come each 2 ms. */
static void
test_who_sends_faster_than_he_says_costs_what_he_sends (void **state)
{
  FmxStreamCost cost;
  FmxTime now = 0;

  (void) state;
  fmx_stream_cost_init (&cost);
  for (int i = 0; i < 1500; i++, now += PACKET / 10)
    fmx_stream_cost_add (&cost, &speech, now);
  assert_in_range (fmx_stream_cost_bps (&cost, now), 780000, 820000);
  for (int i = 0; i < 100; i++, now += PACKET)
    fmx_stream_cost_add (&cost, &speech, now);
  assert_int_equal (fmx_stream_cost_bps (&cost, now), 80000);
}

static void
test_what_a_path_held_back_for_a_second_costs_no_more (void **state)
{
  FmxStreamCost cost;
  FmxTime now = 0;

  (void) state;
  fmx_stream_cost_init (&cost);
  for (int i = 0; i < 500; i++, now += PACKET) {
    if (i >= 200 && i < 250)
      continue;
    for (int held = 0; i == 250 && held < 50; held++)
      fmx_stream_cost_add (&cost, &speech, now);
    fmx_stream_cost_add (&cost, &speech, now);
    assert_int_equal (fmx_stream_cost_bps (&cost, now), 80000);
  }
}

static void
test_who_sends_nothing_costs_nothing_after_a_second (void **state)
{
  FmxStreamCost cost;
  FmxTime now = 0;

  (void) state;
  fmx_stream_cost_init (&cost);
  assert_int_equal (fmx_stream_cost_bps (&cost, 0), 0);
  for (int i = 0; i < 100; i++, now += PACKET)
    fmx_stream_cost_add (&cost, &speech, now);
  now -= PACKET;
  assert_true (fmx_stream_cost_speaks (&cost, now + 199 * FMX_MSECOND));
  assert_false (fmx_stream_cost_speaks (&cost, now + 200 * FMX_MSECOND));
  assert_int_equal (fmx_stream_cost_bps (&cost, now + 1200 * FMX_MSECOND), 0);
}

static void
test_news_is_three_percent_or_three_decibels (void **state)
{
  const struct
  {
    uint32_t bps;
    uint8_t level;
    bool news;
  } table[] = {
    {80000, 30, true},          /* nothing was known */
    {82500, 32, false},         /* 3.1 % is 2,500 of 80,000 */
    {82501, 32, true},
    {82501, 34, false},
    {82501, 35, true},
    {82501, 32, true},
    {0, 32, true},
    {1, 32, true},              /* of nothing, anything is news */
    {1, 32, false},
  };
  FmxStreamNews news = { 0 };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    assert_true (fmx_stream_news_update (&news, table[i].bps, table[i].level)
        == table[i].news);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_speaker_costs_the_same_whatever_the_jitter),
    cmocka_unit_test (test_a_variable_rate_is_a_mean_over_the_latest_packets),
    cmocka_unit_test
        (test_who_begins_to_speak_costs_at_once_what_he_cost_before),
    cmocka_unit_test (test_what_costs_more_than_can_be_said_is_not_cheap),
    cmocka_unit_test (test_who_sends_faster_than_he_says_costs_what_he_sends),
    cmocka_unit_test (test_what_a_path_held_back_for_a_second_costs_no_more),
    cmocka_unit_test (test_who_sends_nothing_costs_nothing_after_a_second),
    cmocka_unit_test (test_news_is_three_percent_or_three_decibels),
  };

  return cmocka_run_group_tests_name ("select/stream-cost", tests, NULL, NULL);
}
