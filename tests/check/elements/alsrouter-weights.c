/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Senders that count for more than one, or for less, and a link that carries anything */
#include "../gstfairmixcheck.h"

#include <gst/net/net.h>
#include <string.h>

#include "fairmix/wire/fmx-als-app.h"

#define REPORT_BYTES 28
#define APP_BYTES (12 + FMX_ALS_SHARE_BYTES)

static GstHarness *
harness_new (const gchar * weights)
{
  GstElement *element = gst_element_factory_make ("alsrouter", NULL);
  GstHarness *h;

  g_object_set (element, "weights", weights, "rule", 0, NULL);
  h = gst_harness_new_with_element (element, "sink_0", "src_0");
  gst_harness_set_src_caps_str (h, "application/x-rtcp");
  gst_object_unref (element);
  return h;
}

/* What @address is told that wishes for all of the link */
static guint
ask (GstHarness * h, const gchar * address, guint8 ssrc)
{
  static const guint8 app[] =
      { 0x81, 204, 0, 6, 0, 0, 0, 7, 'A', 'L', 'S', ' ' };
  guint8 *data = g_malloc0 (REPORT_BYTES + APP_BYTES);
  guint8 told[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share = {.share_bps = 1000000 };
  GstBuffer *buffer;

  data[0] = 0x80;
  data[1] = 200;
  data[3] = REPORT_BYTES / 4 - 1;
  data[7] = ssrc;
  memcpy (data + REPORT_BYTES, app, sizeof app);
  fmx_als_share_write (&share, data + REPORT_BYTES + 12, FMX_ALS_SHARE_BYTES);
  buffer = gst_buffer_new_wrapped (data, REPORT_BYTES + APP_BYTES);
  if (address != NULL) {
    GSocketAddress *socket = g_inet_socket_address_new_from_string (address,
        5005);

    gst_buffer_add_net_address_meta (buffer, socket);
    g_object_unref (socket);
  }
  buffer = gst_harness_push_and_pull (h, buffer);
  gst_buffer_extract (buffer, REPORT_BYTES + 12, told, sizeof told);
  fail_unless (fmx_als_share_read (&share, told, sizeof told));
  gst_buffer_unref (buffer);
  return share.share_bps;
}

/* 0.9 of 1 Mbit/s for weights of 2, 0.5, 3 and 1 */
GST_START_TEST (test_shares_are_in_proportion_to_weights)
{
  GstHarness *h = harness_new ("10.0.0.1=2,2001:db8::1=0.5,7=3");

  ask (h, "10.0.0.1", 1);
  ask (h, "2001:db8::1", 2);
  ask (h, NULL, 7);
  fail_unless_equals_int (ask (h, "10.0.0.2", 4), 138461);
  fail_unless_equals_int (ask (h, NULL, 7), 415384);
  fail_unless_equals_int (ask (h, "2001:db8::1", 2), 69230);
  fail_unless_equals_int (ask (h, "10.0.0.1", 1), 276923);
  /* what cannot be read changes nothing */
  g_object_set (h->element, "weights", "10.0.0.1=much", NULL);
  fail_unless_equals_int (ask (h, "10.0.0.1", 1), 276923);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_weights_that_cannot_be_read_are_said)
{
  static const gchar *const texts[] = {
    "10.0.0.1", "10.0.0.1=", "=2", "10.0.0.1=0", "10.0.0.1=-1", "10.0.0.1=nan",
    "10.0.0.1=2x", "host=2", "10.0.0.1=2,", "10.0.0.1=1001",
  };

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    GstElement *element = gst_element_factory_make ("alsrouter", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;

    gst_element_set_bus (element, bus);
    g_object_set (element, "weights", texts[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s", texts[i]);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

GST_END_TEST;

GST_START_TEST (test_the_greatest_bandwidth_has_the_greatest_share)
{
  GstHarness *h = harness_new (NULL);

  g_object_set (h->element, "bandwidth", G_MAXUINT64, "utilisation", 1.0, NULL);
  fail_unless (element_stat (h->element, "share") == (gdouble) G_MAXUINT64);
  fail_unless_equals_int (ask (h, "10.0.0.1", 1), 1000000);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
alsrouter_weights_suite (void)
{
  Suite *s = suite_create ("alsrouter-weights");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_shares_are_in_proportion_to_weights);
  tcase_add_test (tc, test_weights_that_cannot_be_read_are_said);
  tcase_add_test (tc, test_the_greatest_bandwidth_has_the_greatest_share);
  return s;
}

GST_CHECK_MAIN (alsrouter_weights);
