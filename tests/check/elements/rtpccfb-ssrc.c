/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two senders that use one SSRC */

#include "rtpccfbcheck.h"

#include <gst/net/gstnetaddressmeta.h>

#include "fairmix/wire/fmx-ccfb.h"

#define FIRST_SEQ 100
#define OTHER_SEQ 30000

static void
push_ssrc_from (Fixture * f, guint32 ssrc, guint port, guint16 seq)
{
  GstBuffer *packet = rtp_packet_new (ssrc, seq, 160);
  GSocketAddress *from = g_inet_socket_address_new_from_string ("192.0.2.1",
      port);

  gst_buffer_add_net_address_meta (packet, from);
  fail_unless_equals_int (gst_harness_push (f->rtp, packet), GST_FLOW_OK);
  g_object_unref (from);
}

static void
push_from (Fixture * f, guint port, guint16 seq)
{
  push_ssrc_from (f, SSRC, port, seq);
}

/* Returns: how many packets, of all reports until now, were acknowledged with a
 * number from @least on */
static guint
count_acknowledged (Fixture * f, guint16 least)
{
  guint n = 0;

  while (gst_harness_buffers_in_queue (f->rtcp) > 0) {
    GstBuffer *report = gst_harness_pull (f->rtcp);
    FmxCcfbReader reader;
    FmxCcfbMetric metric;
    GstMapInfo map;
    guint32 sender;

    gst_buffer_map (report, &map, GST_MAP_READ);
    fail_unless (fmx_ccfb_reader_init_packet (&reader, map.data, map.size,
            &sender));
    while (fmx_ccfb_reader_next (&reader, &metric))
      n += metric.received && metric.seq >= least;
    gst_buffer_unmap (report, &map);
    gst_buffer_unref (report);
  }
  return n;
}

static guint
count_warnings (GstBus * bus)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* 20 ms apart, the other one's half way between */
static void
talk (Fixture * f, guint from, guint until, gboolean first, gboolean other)
{
  for (guint i = from; i < until; i++) {
    clock_advance_to (f->clock, 1, GST_SECOND + i * 20 * GST_MSECOND);
    if (first)
      push_from (f, 5000, (guint16) (FIRST_SEQ + i));
    if (other)
      push_from (f, 6000, (guint16) (OTHER_SEQ + i));
  }
}

GST_START_TEST (test_of_two_with_one_ssrc_the_first_is_acknowledged)
{
  GstBus *bus = gst_bus_new ();
  Fixture f;

  setup (&f, TRUE);
  gst_element_set_bus (f.element, bus);
  talk (&f, 0, 50, TRUE, FALSE);
  fail_unless (count_acknowledged (&f, 0) > 40);
  fail_unless_equals_int (count_warnings (bus), 0);
  talk (&f, 50, 100, TRUE, TRUE);
  fail_unless_equals_int (count_acknowledged (&f, OTHER_SEQ), 0);
  fail_unless_equals_int (element_stat (f.element, "n-intruders"), 50);
  /* it is for rtpbin to drop them; and the application is told once */
  fail_unless_equals_int (gst_harness_buffers_in_queue (f.rtp), 150);
  fail_unless_equals_int (count_warnings (bus), 1);

  /* who has been alone for 2 s is the one */
  talk (&f, 100, 350, FALSE, TRUE);
  fail_unless (count_acknowledged (&f, OTHER_SEQ) > 100);
  gst_element_set_bus (f.element, NULL);
  gst_object_unref (bus);
  teardown (&f);
}

GST_END_TEST;

/* Of two that are known the first goes on, the second falls silent: a third is known in its
 * place, and nobody takes what the first has. */
GST_START_TEST (test_who_is_silent_makes_room)
{
  Fixture f;

  setup_with (&f, TRUE, "max-ssrcs", 2, NULL);
  push_ssrc_from (&f, SSRC, 5000, FIRST_SEQ);
  push_ssrc_from (&f, SSRC + 1, 5000, FIRST_SEQ);
  for (guint16 i = 1; i <= 30; i++) {
    clock_advance_to (f.clock, 1, GST_SECOND + i * 100 * GST_MSECOND);
    push_ssrc_from (&f, SSRC, 5000, FIRST_SEQ + i);
  }
  push_ssrc_from (&f, SSRC + 2, 5000, FIRST_SEQ);
  push_ssrc_from (&f, SSRC + 2, 6000, OTHER_SEQ);
  fail_unless_equals_int (element_stat (f.element, "n-intruders"), 1);
  push_ssrc_from (&f, SSRC, 6000, OTHER_SEQ);
  fail_unless_equals_int (element_stat (f.element, "n-intruders"), 2);
  /* there is no room for a fourth, whose packets all count */
  push_ssrc_from (&f, SSRC + 3, 5000, FIRST_SEQ);
  push_ssrc_from (&f, SSRC + 3, 6000, OTHER_SEQ);
  fail_unless_equals_int (element_stat (f.element, "n-intruders"), 2);
  teardown (&f);
}

GST_END_TEST;

/* Somebody sends each of many SSRCs from two ports: a bus that nobody reads does not fill
 * up with that. */
GST_START_TEST (test_a_flood_of_shared_ssrcs_is_told_of_now_and_then)
{
  GstBus *bus = gst_bus_new ();
  Fixture f;

  setup (&f, TRUE);
  gst_element_set_bus (f.element, bus);
  for (guint i = 0; i < 1999; i++) {
    clock_advance_to (f.clock, 1, GST_SECOND + i * 10 * GST_MSECOND);
    push_ssrc_from (&f, SSRC + i, 5000, FIRST_SEQ);
    push_ssrc_from (&f, SSRC + i, 6000, OTHER_SEQ);
  }
  fail_unless (element_stat (f.element, "n-intruders") > 1000);
  fail_unless_equals_int (count_warnings (bus), 2);
  gst_element_set_bus (f.element, NULL);
  gst_object_unref (bus);
  teardown (&f);
}

GST_END_TEST;

/* Whose address is not known is acknowledged as he comes. */
GST_START_TEST (test_without_addresses_all_are_acknowledged)
{
  Fixture f;

  setup (&f, TRUE);
  for (guint i = 0; i < 50; i++)
    push_at (&f, GST_SECOND + i * 20 * GST_MSECOND, SSRC,
        (guint16) (FIRST_SEQ + i));
  fail_unless (count_acknowledged (&f, 0) > 40);
  fail_unless_equals_int (element_stat (f.element, "n-intruders"), 0);
  teardown (&f);
}

GST_END_TEST;

static Suite *
rtpccfb_ssrc_suite (void)
{
  Suite *s = suite_create ("rtpccfb-ssrc");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_of_two_with_one_ssrc_the_first_is_acknowledged);
  tcase_add_test (tc, test_who_is_silent_makes_room);
  tcase_add_test (tc, test_a_flood_of_shared_ssrcs_is_told_of_now_and_then);
  tcase_add_test (tc, test_without_addresses_all_are_acknowledged);
  return s;
}

GST_CHECK_MAIN (rtpccfb_ssrc);
