/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What applications do with the pads of dpmmixer and dpmclient. */
#include "dpmcheck.h"

/* Waits until @mixer has made so many more mixes. */
static void
wait_for_mixes (Person * mixer, guint64 n)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  guint64 first = mixer_stat_of (mixer, "n-encoded");

  while (mixer_stat_of (mixer, "n-encoded") < first + n) {
    fail_if (patient_clock_now_us () > end, "no mixes any more");
    g_usleep (LOOK_US);
  }
}

/* An application holds back what is played where the mixer is, for longer than is kept for
 * it: the others go on hearing each other in their mix, and it goes on afterwards. */
GST_START_TEST (test_ears_that_block_silence_nobody_else)
{
  Person *mixer = person_start (person_new ("dpmmixer name=dpm "
          "address=127.0.0.1 port=0 max-bitrate=48000" EARS));
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");
  Person *carol = client_new (mixer, "carol", 990, "");
  GstPad *src = gst_element_get_static_pad (mixer->dpm, "src");
  gulong probe;

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (mixer, 660, TRUE);
  probe = gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BLOCK_DOWNSTREAM, NULL,
      NULL, NULL);
  wait_for_mixes (mixer, 1000); /* three for each 20 ms at the most */
  person_free (bob);
  wait_for_tone (alice, 660, FALSE);
  wait_for_tone (alice, 990, TRUE);
  gst_pad_remove_probe (src, probe);
  wait_for_tone (mixer, 660, FALSE);
  wait_for_tone (mixer, 990, TRUE);
  check_no_errors (mixer);
  gst_object_unref (src);
  person_free (alice);
  person_free (carol);
  person_free (mixer);
}

GST_END_TEST;

static Suite *
dpmpads_suite (void)
{
  Suite *s = suite_create ("dpmpads");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_ears_that_block_silence_nobody_else);
  return s;
}

GST_CHECK_MAIN (dpmpads);
