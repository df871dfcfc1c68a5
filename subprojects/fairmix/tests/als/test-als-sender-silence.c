/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/als/fmx-als-sender.h"

#define PLACES 64
#define INTERVAL FMX_SECOND

static FmxAgingSlot slots[PLACES];
static FmxAlsSenderReceiver receivers[PLACES];
static FmxAlsSender sender;

static void
report (FmxTime now)
{
  FmxAlsReport r = { 1, 400000, 1.0, 0.0, true, 0 };

  fmx_als_sender_on_report (&sender, &r, now);
}

/* Adapts until @end.  Returns: the least rate on the way */
static uint32_t
least_until (FmxTime end)
{
  uint32_t least_bps = UINT32_MAX;
  FmxTime next;

  while ((next = fmx_als_sender_next_timeout (&sender)) < end) {
    fmx_als_sender_on_timeout (&sender, next);
    if (fmx_als_sender_get_total_bps (&sender) < least_bps)
      least_bps = fmx_als_sender_get_total_bps (&sender);
  }
  return least_bps;
}

/* Of one receiver, whose RTCP interval is 2.5 to 7.5 s ([RFC3550 6.3.1]); it is silence all
 * the same when he says nothing for three times as long. */
static void
test_intervals_that_are_shorter_than_rtcp_s_are_no_silence (void **state)
{
  FmxAlsSenderParams params;
  FmxTime now = 0;

  (void) state;
  fmx_als_sender_params_default (&params);
  params.interval = INTERVAL;
  params.memory = 15 * FMX_SECOND;
  params.n_layers = 1;
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  report (now);
  least_until (now += 5 * FMX_SECOND);
  for (unsigned i = 0; i < 20; i++) {
    report (now);
    now += (i % 2 == 0 ? 2500 : 7500) * FMX_MSECOND;
    assert_true (least_until (now) >= 400000);
  }
  report (now);
  assert_true (least_until (now + 12 * FMX_SECOND) >= 400000);
  assert_true (least_until (now + 24 * FMX_SECOND) < 50000);
  /* nor has an hour without him made it usual */
  for (unsigned i = 0; i < 2; i++)
    report (now + 3600 * FMX_SECOND + i * 5 * FMX_SECOND);
  least_until (now + 3606 * FMX_SECOND);
  assert_true (least_until (now + 3640 * FMX_SECOND) < 50000);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test
        (test_intervals_that_are_shorter_than_rtcp_s_are_no_silence),
  };

  return cmocka_run_group_tests_name ("als/sender-silence", tests, NULL, NULL);
}
