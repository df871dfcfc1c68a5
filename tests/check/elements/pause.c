/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* An rtpjitterbuffer after a pause. */

#include "qmjitterbuffercheck.h"

#include "common/gstfairmixpause.h"

#define N_SPURT 50u
#define N_PAUSE 200u

/* Packet @n of talkspurts with pauses between them, all of one length */
static guint
slot_of (guint n)
{
  return n + n / N_SPURT * N_PAUSE;
}

static GstBuffer *
make_of_spurts (guint n)
{
  GstBuffer *buffer = make_packet (n);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint slot = slot_of (n);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + slot * UNITS);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = GST_BUFFER_DTS (buffer) = sent (slot);
  return buffer;
}

static void
push_of_spurts (GstHarness * h, guint n)
{
  gst_harness_set_time (h, sent (slot_of (n)));
  fail_unless_equals_int (gst_harness_push (h, make_of_spurts (n)),
      GST_FLOW_OK);
}

static GstHarness *
watched_new (void)
{
  GstHarness *h = gst_harness_new_parse ("rtpjitterbuffer latency=40");
  GstElement *element = gst_harness_find_element (h, "rtpjitterbuffer");

  gst_fairmix_pause_watch (element);
  gst_object_unref (element);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

GST_START_TEST (test_what_is_lost_after_a_pause_holds_up_none)
{
  GstHarness *h = watched_new ();
  guint lost = (1 + __i__ / 8) * N_SPURT + 1 + __i__ % 8, end = lost + 6, n;

  for (n = 0; n < end; n++)
    if (n != lost)
      push_of_spurts (h, n);
  for (n = 0; n < end; n++)
    if (n != lost)
      fail_unless_equals_int (pull_due (h, n), 12 + 40);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* What has not come yet cannot be said again: not by a header without its voice. */
GST_START_TEST (test_packets_of_a_list_come_as_they_are)
{
  GstHarness *h = watched_new ();
  GstBufferList *list = gst_buffer_list_new ();
  guint n;

  for (n = 0; n < N_SPURT - 1; n++)
    push_of_spurts (h, n);
  for (; n < N_SPURT + 3; n++)
    gst_buffer_list_add (list, make_of_spurts (n));
  fail_unless_equals_int (gst_pad_push_list (h->srcpad, list), GST_FLOW_OK);
  for (n = 0; n < N_SPURT + 3; n++)
    fail_unless_equals_int (pull_due (h, n), 12 + 40);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Packets of @units each, and every so often one after a pause
 * Returns: how often something was to come before one */
static guint
count_pauses (GstFairmixPause * pause, guint n_packets, guint32 units,
    guint every)
{
  static guint seq;
  static guint32 timestamp;
  guint n_pauses = 0;

  for (guint n = 0; n < n_packets; n++) {
    GstBuffer *buffer = make_packet (0), *again;
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    timestamp += every > 0 && n % every == every - 1 ? 48000 : units;
    gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
    gst_rtp_buffer_set_seq (&rtp, (guint16) seq++);
    gst_rtp_buffer_set_timestamp (&rtp, timestamp);
    gst_rtp_buffer_unmap (&rtp);
    again = gst_fairmix_pause_note (pause, buffer);
    n_pauses += again != NULL;
    gst_clear_buffer (&again);
    gst_buffer_unref (buffer);
  }
  return n_pauses;
}

GST_START_TEST (test_longer_packets_are_no_pauses)
{
  GstFairmixPause pause;

  memset (&pause, 0, sizeof pause);

  /* from what to what is not known of the first two */
  fail_unless_equals_int (count_pauses (&pause, 100, UNITS, 0), 1);
  /* as a talker's who sends something each second of silence */
  fail_unless_equals_int (count_pauses (&pause, 100, UNITS, 10), 10);
  fail_unless_equals_int (count_pauses (&pause, 100, 3 * UNITS, 0), 1);
  fail_unless_equals_int (count_pauses (&pause, 100, UNITS, 0), 0);
}

GST_END_TEST;

GST_START_TEST (test_no_rtp_is_no_pause)
{
  GstFairmixPause pause;

  memset (&pause, 0, sizeof pause);

  for (gsize size = 1; size < 64; size++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

    gst_buffer_memset (buffer, 0, size % 2 ? 0x00 : 0xff, size);
    fail_unless (gst_fairmix_pause_note (&pause, buffer) == NULL);
    gst_buffer_unref (buffer);
  }
}

GST_END_TEST;

static Suite *
pause_suite (void)
{
  Suite *suite = suite_create ("pause");
  TCase *tc = tcase_create ("pause");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_what_is_lost_after_a_pause_holds_up_none, 0,
      16);
  tcase_add_test (tc, test_packets_of_a_list_come_as_they_are);
  tcase_add_test (tc, test_longer_packets_are_no_pauses);
  tcase_add_test (tc, test_no_rtp_is_no_pause);
  return suite;
}

GST_CHECK_MAIN (pause);
