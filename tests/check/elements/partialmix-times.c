/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a mix tells of where streams are in it. */

#include "fairmix/wire/fmx-contributor-time.h"

#include "mixrig.h"

#define SECOND 50               /* frames */

/* Of how many of @n talkers, all mixed, who come at once a listener is told in so many
 * frames, where the extension has number 2 for him */
static guint
count_told (guint n, guint n_frames)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0",
      "application/x-rtp,media=audio,extmap-2=(string)"
      FMX_CONTRIBUTOR_TIME_URN);
  GHashTable *told = g_hash_table_new (NULL, NULL);
  guint n_told;

  rig_talkers (rig, 1, n, RIG_L16);
  rig_set_target (listener, RIG_L16_MIX_BPS);
  rig_play (rig);
  rig_run (rig, n_frames);
  for (guint i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
    FmxContributorTime time;
    gpointer data;
    guint size;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ,
            &rtp));
    for (guint k = 0; gst_rtp_buffer_get_extension_onebyte_header (&rtp, 2, k,
            &data, &size); k++) {
      fail_unless (fmx_contributor_time_parse (data, size, &time));
      g_hash_table_add (told, GUINT_TO_POINTER (time.ssrc));
    }
    gst_rtp_buffer_unmap (&rtp);
  }
  n_told = g_hash_table_size (told);
  g_hash_table_unref (told);
  rig_free (rig);
  return n_told;
}

GST_START_TEST (test_the_number_that_a_listener_asks_for_means_what_he_says)
{
  fail_unless_equals_int (count_told (2, 2 * SECOND), 2);
}

GST_END_TEST;

/* Who leaves a mix before it told where he is would be heard elsewhere, and what was before
 * twice: four are told of in a packet, and the others next. */
GST_START_TEST (test_who_enters_a_mix_with_many_is_told_of_soon)
{
  fail_unless_equals_int (count_told (12, SECOND / 4), 12);
}

GST_END_TEST;

static Suite *
partialmix_times_suite (void)
{
  Suite *suite = suite_create ("partialmix-times");
  TCase *tc = tcase_create ("times");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc,
      test_the_number_that_a_listener_asks_for_means_what_he_says);
  tcase_add_test (tc, test_who_enters_a_mix_with_many_is_told_of_soon);
  return suite;
}

GST_CHECK_MAIN (partialmix_times);
