/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How often reports come, and how large they are. */

#include "rtpccfbcheck.h"

/* one stream of 80 kbit/s for ten seconds */
GST_START_TEST (test_reports_come_as_often_as_the_properties_say)
{
  static const struct
  {
    gdouble rate_fraction;
    GstClockTime min_interval, max_interval;
    guint64 least, most;
  } rows[] = {
    {1, 20 * GST_MSECOND, GST_SECOND, 490, 501},
    {1, 100 * GST_MSECOND, GST_SECOND, 80, 101},
    {0.001, 20 * GST_MSECOND, 200 * GST_MSECOND, 45, 51},
    {0.001, 20 * GST_MSECOND, GST_SECOND, 9, 11},
    /* 1 kB pays for six, each for 80 packets */
    {0.01, 20 * GST_MSECOND, 10 * GST_SECOND, 5, 8},
  };

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++) {
    guint64 n;
    Fixture f;

    setup_with (&f, TRUE, "rate-fraction", rows[r].rate_fraction,
        "min-interval", rows[r].min_interval, "max-interval",
        rows[r].max_interval, NULL);
    for (guint i = 0; i < 500; i++)
      push_at (&f, GST_SECOND + i * FRAME, SSRC, i);
    n = element_stat (f.element, "n-reports");
    fail_unless (n >= rows[r].least && n <= rows[r].most,
        "row %u: %" G_GUINT64_FORMAT " reports", r, n);
    teardown (&f);
  }
}

GST_END_TEST;

GST_START_TEST (test_no_report_is_larger_than_the_mtu)
{
  GstBuffer *report;
  guint n = 0;
  Fixture f;

  setup_with (&f, TRUE, "mtu", 60, NULL);
  for (guint i = 0; i < 50; i++)
    for (guint s = 0; s < 8; s++)
      push_at (&f, GST_SECOND + i * FRAME, SSRC + s, i);
  while ((report = gst_harness_try_pull (f.rtcp)) != NULL) {
    fail_unless (gst_buffer_get_size (report) <= 60);
    gst_buffer_unref (report);
    n++;
  }
  /* 20 bytes are the packet's own, and each stream takes 8 and more */
  fail_unless (n >= 2 * element_stat (f.element, "n-streams"));
  teardown (&f);
}

GST_END_TEST;

static Suite *
rtpccfb_properties_suite (void)
{
  Suite *suite = suite_create ("rtpccfb properties");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_reports_come_as_often_as_the_properties_say);
  tcase_add_test (tc, test_no_report_is_larger_than_the_mtu);
  return suite;
}

GST_CHECK_MAIN (rtpccfb_properties);
