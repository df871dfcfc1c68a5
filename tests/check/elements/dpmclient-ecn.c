/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ECN of what clients send, as a mixer's rtpccfb sees it. */
#include "dpmcheck.h"

#include "common/gstfairmixecn.h"

static gint n_packets, n_capable;       /* atomic */

static GstPadProbeReturn
count (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info,
    gpointer data G_GNUC_UNUSED)
{
  g_atomic_int_inc (&n_packets);
  if (gst_fairmix_ecn_get (GST_PAD_PROBE_INFO_BUFFER (info)) == 2)
    g_atomic_int_inc (&n_capable);
  return GST_PAD_PROBE_OK;
}

static void
on_element (GstBin * bin G_GNUC_UNUSED, GstBin * sub_bin G_GNUC_UNUSED,
    GstElement * element, gpointer data G_GNUC_UNUSED)
{
  GstPad *pad;

  if (!g_str_has_prefix (G_OBJECT_TYPE_NAME (element), "GstRtpCcfb"))
    return;
  pad = gst_element_get_static_pad (element, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count, NULL, NULL);
  gst_object_unref (pad);
}

static void
wait_for_ten (const gint * n)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;

  while (g_atomic_int_get (n) < 10) {
    fail_if (patient_clock_now_us () > end, "%d came", g_atomic_int_get (n));
    g_usleep (LOOK_US);
  }
}

GST_START_TEST (test_ecn_is_sent_by_who_is_asked_to)
{
  Person *mixer = mixer_new ("");
  Person *bob, *alice;

  n_packets = n_capable = 0;
  g_signal_connect (mixer->pipeline, "deep-element-added",
      G_CALLBACK (on_element), NULL);
  bob = client_new (mixer, "bob", 660, "");
  wait_for_ten (&n_packets);
  fail_unless_equals_int (g_atomic_int_get (&n_capable), 0);
  alice = client_new (mixer, "alice", 440, "ecn=true");
  wait_for_ten (&n_capable);
  wait_for_tone (bob, 440, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmclient_ecn_suite (void)
{
  Suite *suite = suite_create ("dpmclient-ecn");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_ecn_is_sent_by_who_is_asked_to);
  return suite;
}

GST_CHECK_MAIN (dpmclient_ecn);
