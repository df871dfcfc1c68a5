/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reports that take more than one packet */
#include "fmx-test-rate-sender.h"

#define TICK (20 * MS)
#define PACKETS 600u            /* of eight streams in 1.5 s */

/* A part of a report: of each of @n streams from @ssrc on the five packets from @first on
 * arrived, a tick apart. */
static void
tell_five (unsigned ssrc, unsigned n, unsigned first, FmxTime now)
{
  FmxCcfbMetric metrics[5 * 60];

  for (unsigned i = 0; i < 5 * n; i++)
    metrics[i] = (FmxCcfbMetric) { ssrc + i / 5, (uint16_t) (first + i % 5),
    true, 0, (4 - i % 5) * TICK
    };
  fmx_rate_sender_on_metrics (&sender, metrics, 5 * n, mid32 (now),
      now + 5 * MS);
}

/* Each of 120 streams sends a packet each 20 ms, and each 100 ms two packets of feedback
 * tell of all that arrived: of 60 streams each. */
static void
test_a_report_of_two_packets_loses_nothing (void **state)
{
  FmxRateSenderStats stats;
  FmxTime now = S;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 100; seq++, now += (FmxTime) TICK) {
    for (unsigned ssrc = 1; ssrc <= 120; ssrc++)
      fmx_rate_sender_on_sent (&sender, ssrc, (uint16_t) seq, 200, now);
    for (unsigned part = 0; part < 2 && seq % 5 == 4; part++)
      tell_five (1 + part * 60, 60, seq - 4, now);
  }
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.n_acked, 120 * 100);
  assert_int_equal (stats.n_late, 0);
  assert_int_equal (stats.n_loss_events, 0);
}

/* A part of a report: of @n packets of @ssrc from @first on all arrived but the first @n_lost. */
static void
tell (unsigned ssrc, unsigned first, unsigned n, unsigned n_lost,
    FmxTime reported, FmxTime now)
{
  FmxCcfbMetric metrics[PACKETS];

  for (unsigned i = 0; i < n; i++)
    metrics[i] =
        (FmxCcfbMetric) { ssrc, (uint16_t) (first + i), i >= n_lost, 0, MS };
  fmx_rate_sender_on_metrics (&sender, metrics, n, mid32 (reported), now);
}

/* Two streams, and each 100 ms a packet of feedback tells of both.  The receiver stands still
 * for a second, and what it reports then takes two packets, the second a moment later: nothing
 * was lost, and nothing falls. */
static void
test_a_report_that_becomes_two_packets_loses_nothing (void **state)
{
  FmxRateSenderStats stats;
  unsigned first = 0;
  FmxTime now = S;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 200; seq++, now += (FmxTime) TICK) {
    bool stands = seq >= 100 && seq < 149;

    for (unsigned ssrc = 1; ssrc <= 2; ssrc++)
      fmx_rate_sender_on_sent (&sender, ssrc, (uint16_t) seq, 200, now);
    if (seq % 5 != 4 || stands)
      continue;
    if (seq == 149) {
      tell (1, first, seq + 1 - first, 0, now, now + 5 * MS);
      tell (2, first, seq + 1 - first, 0, now, now + 7 * MS);
    } else {
      tell_five (1, 2, first, now);
    }
    first = seq + 1;
  }
  fmx_rate_sender_get_stats (&sender, &stats, now);
  assert_int_equal (stats.n_acked, 2 * 200);
  assert_int_equal (stats.n_late, 0);
  assert_int_equal (stats.n_loss_events, 0);
}

/* What a large one does not tell of is lost if the next one does not tell of it, either. */
static void
test_what_a_large_report_leaves_out_is_lost (void **state)
{
  FmxRateSenderStats stats;
  unsigned first = 0;
  FmxTime now = S;

  (void) state;
  start ();
  for (unsigned seq = 0; seq < 160; seq++, now += (FmxTime) TICK) {
    fmx_rate_sender_on_sent (&sender, 1, (uint16_t) seq, 200, now);
    if (seq % 5 != 4 || (seq >= 100 && seq < 149))
      continue;
    tell (1, first, seq + 1 - first, seq == 149 ? 5 : 0, now, now + 5 * MS);
    first = seq + 1;
    fmx_rate_sender_get_stats (&sender, &stats, now + 5 * MS);
    if (seq == 149)
      assert_int_equal (stats.n_loss_events, 0);
    else if (seq == 154)
      assert_true (stats.n_loss_events > 0);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_report_of_two_packets_loses_nothing),
    cmocka_unit_test (test_a_report_that_becomes_two_packets_loses_nothing),
    cmocka_unit_test (test_what_a_large_report_leaves_out_is_lost),
  };

  return cmocka_run_group_tests_name ("rate/rate-report-parts", tests, NULL,
      NULL);
}
