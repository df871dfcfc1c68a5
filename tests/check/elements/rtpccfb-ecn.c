/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rtpccfbcheck.h"
#include "common/gstfairmixtos.h"

#include "fairmix/wire/fmx-ccfb.h"

/* [RFC8888 3.1] the two bits of each packet; a packet that does not say: 0 */
GST_START_TEST (test_reports_say_which_packets_were_marked)
{
  static const guint8 tos[] = { 0xba, 0xbb, 0xb8, 0x01, 0x03 };
  const guint n = G_N_ELEMENTS (tos);
  FmxCcfbReader reader;
  FmxCcfbMetric metric;
  GstBuffer *report;
  guint32 sender;
  GstMapInfo map;
  Fixture f;

  setup (&f, TRUE);
  for (guint i = 0; i <= n; i++) {
    GstBuffer *packet = rtp_packet_new (SSRC, 100 + i, 160);

    if (i < n)
      gst_fairmix_tos_attach (packet, tos[i]);
    fail_unless_equals_int (gst_harness_push (f.rtp, packet), GST_FLOW_OK);
  }
  while (gst_harness_buffers_in_queue (f.rtcp) == 0)
    clock_step (f.clock, 1);
  report = gst_harness_pull (f.rtcp);
  gst_buffer_map (report, &map, GST_MAP_READ);
  fail_unless (fmx_ccfb_reader_init_packet (&reader, map.data, map.size,
          &sender));
  for (guint i = 0; i <= n; i++) {
    fail_unless (fmx_ccfb_reader_next (&reader, &metric));
    fail_unless_equals_int (metric.seq, 100 + i);
    fail_unless_equals_int (metric.ecn, i < n ? tos[i] & 3 : 0);
  }
  gst_buffer_unmap (report, &map);
  gst_buffer_unref (report);
  teardown (&f);
}

GST_END_TEST;

static Suite *
rtpccfb_ecn_suite (void)
{
  Suite *s = suite_create ("rtpccfb-ecn");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_reports_say_which_packets_were_marked);
  return s;
}

GST_CHECK_MAIN (rtpccfb_ecn);
