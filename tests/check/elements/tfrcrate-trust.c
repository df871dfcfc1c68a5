/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whose feedback tfrcrate believes. */

#include "tfrcratecheck.h"

#include <gst/net/gstnetaddressmeta.h>

/* A packet of RFC 8888: the @n packets of SSRC from @begin on have arrived. */
static GstBuffer *
acknowledgements_new (guint16 begin, guint n)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtcp_buffer_new (1400);
  GstRTCPPacket packet;
  guint8 *fci;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  fail_unless (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RTPFB,
          &packet));
  gst_rtcp_packet_fb_set_type (&packet, 11);
  gst_rtcp_packet_fb_set_sender_ssrc (&packet, 0x33333333);
  gst_rtcp_packet_fb_set_media_ssrc (&packet, SSRC);
  fail_unless (gst_rtcp_packet_fb_set_fci_length (&packet, 2 + (n + 1) / 2));
  fci = gst_rtcp_packet_fb_get_fci (&packet);
  /* the FCI begins where the SSRC of the first block stands */
  GST_WRITE_UINT16_BE (fci, begin);
  GST_WRITE_UINT16_BE (fci + 2, n);
  for (guint i = 0; i < (n + 1) / 2 * 2; i++)
    GST_WRITE_UINT16_BE (fci + 4 + 2 * i, i < n ? 0x8000 : 0);
  GST_WRITE_UINT32_BE (fci + 4 + (n + 1) / 2 * 4, 0);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

static void
receive_from (Fixture * f, GstBuffer * buffer, const gchar * host, guint port)
{
  if (host != NULL) {
    GSocketAddress *address = g_inet_socket_address_new_from_string (host,
        port);

    gst_buffer_add_net_address_meta (buffer, address);
    g_object_unref (address);
  }
  fail_unless_equals_int (gst_harness_push (f->rtcp, buffer), GST_FLOW_OK);
  drain (f->rtcp);
}

/* Sends one packet; returns the number that it got. */
static guint16
send_one (Fixture * f, guint16 seq)
{
  GstBuffer *buffer;
  guint16 out = 0;

  push (f, SSRC, seq);
  while ((buffer = gst_harness_try_pull (f->rtp)) != NULL) {
    out = rtp_packet_seq (buffer);
    gst_buffer_unref (buffer);
  }
  advance (f, FRAME);
  return out;
}

GST_START_TEST (test_a_receiver_that_hides_its_losses_is_found_out)
{
  gchar *text = NULL;
  guint i;
  Fixture f;

  setup (&f);
  g_object_set (f.element, "skip-interval", 50, NULL);
  /* all that is sent is acknowledged, and what lies between, too */
  for (i = 0; i < 1000 && element_stat (f.element, "n-void") == 0; i++) {
    guint16 last = send_one (&f, i);

    if (i % 4 == 3)
      receive_from (&f, acknowledgements_new (last - 7, 8), "192.0.2.1", 5005);
  }
  fail_unless (element_stat (f.element, "n-skipped") >= 2);
  fail_unless_equals_int (element_stat (f.element, "n-void"), 1);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "never sent") != NULL, "%s", text);
  g_free (text);
  text = NULL;
  /* what it says now counts as silence, that halves and halves again */
  for (guint end = i + 500; i < end || (target (&f) > 0 && i < end + 1000); i++) {
    guint16 last = send_one (&f, i);

    if (i % 4 == 3)
      receive_from (&f, acknowledgements_new (last, 1), "192.0.2.1", 5005);
  }
  fail_unless_equals_int (target (&f), 0);
  fail_unless (element_stat (f.element, "n-refused") > 50);
  g_free (text);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_an_honest_receiver_is_believed_with_skips)
{
  Path path;

  path_setup (&path, 3);
  g_object_set (path.f.element, "skip-interval", 50, NULL);
  path_run (&path, 20 * GST_SECOND);
  fail_unless (element_stat (path.f.element, "n-skipped") > 20);
  fail_unless_equals_int (path.n_gaps, element_stat (path.f.element,
          "n-skipped"));
  fail_unless_equals_int (element_stat (path.f.element, "n-impossible"), 0);
  fail_unless_equals_int (element_stat (path.f.element, "n-lost"), 0);
  fail_unless (target (&path.f) >= 3 * STREAM_BPS);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_another_address_is_not_heard_while_the_first_speaks)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 500; i++) {
    guint16 last = send_one (&f, i);

    if (i % 4 != 3)
      continue;
    receive_from (&f, acknowledgements_new (last - 4, 3), "192.0.2.1", 5005);
    receive_from (&f, acknowledgements_new (last - 4, 5), "192.0.2.66", 5005);
    receive_from (&f, acknowledgements_new (last - 4, 5), "192.0.2.1", 6006);
  }
  fail_unless_equals_int (element_stat (f.element, "n-refused"), 250);
  /* two of five did not arrive; who comes second does not hide that */
  fail_unless (element_stat (f.element, "n-lost") > 50);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_without_addresses_the_ssrc_tells_who_speaks)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 100; i++) {
    guint16 last = send_one (&f, i);
    GstBuffer *other;
    GstMapInfo map;

    if (i % 4 != 3)
      continue;
    receive_from (&f, acknowledgements_new (last, 1), NULL, 0);
    other = acknowledgements_new (last, 1);
    gst_buffer_map (other, &map, GST_MAP_WRITE);
    map.data[7] ^= 1;
    gst_buffer_unmap (other, &map);
    receive_from (&f, other, NULL, 0);
  }
  fail_unless_equals_int (element_stat (f.element, "n-feedback"), 25);
  fail_unless_equals_int (element_stat (f.element, "n-refused"), 25);
  teardown (&f);
}

GST_END_TEST;

/* Who answers there is believed at once, and what was lost on the way to the other one
 * counts no more. */
GST_START_TEST (test_a_new_path_has_somebody_else_at_its_end)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 60; i++) {
    guint16 last = send_one (&f, i);

    if (i == 30)
      g_signal_emit_by_name (f.element, "change-path");
    if (i % 4 == 3)
      receive_from (&f, acknowledgements_new (last, 1), i < 30 ? "192.0.2.1" :
          "192.0.2.66", 5005);
  }
  fail_unless_equals_int (element_stat (f.element, "n-refused"), 0);
  fail_unless_equals_int (element_stat (f.element, "n-feedback"), 8);
  fail_unless (element_stat (f.element, "n-sent") < 30);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_a_report_about_what_was_never_sent_counts_for_nothing)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 1000; i++) {
    FmxReportBlock block = { SSRC, 0, 0, i, 0, 0, 0 };

    send_one (&f, i);
    if (i % 50 == 49)
      receive_from (&f, receiver_report_new (&block, 1), NULL, 0);
    block.ext_highest_seq = i + 30000;
    block.cumulative_lost = 29000;
    if (i % 50 == 25)
      receive_from (&f, receiver_report_new (&block, 1), NULL, 0);
  }
  fail_unless_equals_int (element_stat (f.element, "n-lost"), 0);
  fail_unless_equals_int (element_stat (f.element, "n-impossible"), 20);
  fail_unless (target (&f) >= STREAM_BPS);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_trust_suite (void)
{
  Suite *suite = suite_create ("tfrcrate-trust");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_receiver_that_hides_its_losses_is_found_out);
  tcase_add_test (tc, test_an_honest_receiver_is_believed_with_skips);
  tcase_add_test (tc, test_another_address_is_not_heard_while_the_first_speaks);
  tcase_add_test (tc, test_without_addresses_the_ssrc_tells_who_speaks);
  tcase_add_test (tc, test_a_new_path_has_somebody_else_at_its_end);
  tcase_add_test (tc,
      test_a_report_about_what_was_never_sent_counts_for_nothing);
  return suite;
}

GST_CHECK_MAIN (tfrcrate_trust);
