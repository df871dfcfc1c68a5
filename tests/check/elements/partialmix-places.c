/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A neighbour that can take so many streams and no more. */

#include "gst/common/gstfairmixevents.h"
#include "mixrig.h"

#define N_TALKERS 6
#define N_PLACES 4

static void
set_places (RigListener * listener, guint n)
{
  g_object_set (listener->peer, "max-streams", n, NULL);
}

/* Three are separate, and not a packet of theirs is missing; the fourth place has
 * the mix of the others; each is heard once, at its level. */
GST_START_TEST (test_six_talkers_in_four_places)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint from, i, n_whole = 0;
  gdouble *heard;

  set_places (listener, N_PLACES);
  rig_talkers (rig, 1, N_TALKERS, RIG_L16);
  rig_play (rig);
  rig_run (rig, 20);
  from = listener->buffers->len;
  rig_run (rig, 80);
  fail_unless_equals_int (rig_count_ssrcs (listener, from), N_PLACES);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), 3);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixes"), 1);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), 3);
  fail_unless_equals_int (rig_pad_stat (listener, "max-streams"), N_PLACES);
  for (i = 1; i <= N_TALKERS; i++)
    n_whole += rig_count_whole (listener, 100 + i, from) == 80;
  fail_unless_equals_int (n_whole, 3);
  heard = rig_hear (rig, listener, 0);
  for (i = 1; i <= N_TALKERS; i++)
    rig_assert_level (heard, 30 * RIG_FRAME, 60 * RIG_FRAME, 200 + 50 * i, 1000,
        0.1);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* While places come and go nobody is lost or doubled. */
GST_START_TEST (test_everybody_is_heard_whatever_the_places)
{
  static const guint places[] = { 4, 1, 6, 2, 0, 3, 7, 1 };
  const guint stay = 25;
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  gdouble *heard;
  guint i, k;

  rig_talkers (rig, 1, N_TALKERS, RIG_L16);
  rig_play (rig);
  for (k = 0; k < G_N_ELEMENTS (places); k++) {
    guint n = places[k];

    set_places (listener, n);
    rig_run (rig, stay);
    fail_unless_equals_int (rig_pad_stat (listener, "n-separate")
        + rig_pad_stat (listener, "n-mixes"), n == 0 ? N_TALKERS : MIN (n,
            N_TALKERS));
  }
  heard = rig_hear (rig, listener, 0);
  for (k = 0; k < G_N_ELEMENTS (places); k++)
    for (i = 1; i <= N_TALKERS; i++)
      rig_assert_level (heard, (k * stay + 5) * RIG_FRAME,
          (stay - 10) * RIG_FRAME, 200 + 50 * i, 1000, 0.1);
  g_free (heard);
  rig_free (rig);
}

GST_END_TEST;

/* Somebody downstream who has few places says so; the smaller number counts. */
GST_START_TEST (test_places_are_told_by_an_event)
{
  static const struct
  {
    guint property, event, expected;
  } rows[] = {
    {0, 3, 3}, {2, 3, 2}, {5, 3, 3}, {5, 0, 5}, {0, 0, N_TALKERS}
  };
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i;

  rig_talkers (rig, 1, N_TALKERS, RIG_PCMU);
  rig_play (rig);
  for (i = 0; i < G_N_ELEMENTS (rows); i++) {
    set_places (listener, rows[i].property);
    fail_unless (gst_pad_push_event (listener->pad,
            gst_fairmix_max_streams_event_new (rows[i].event)));
    rig_run (rig, 10);
    fail_unless_equals_int (rig_pad_stat (listener, "n-separate")
        + rig_pad_stat (listener, "n-mixes"), rows[i].expected);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Newcomers in a flood get no places that there are not. */
GST_START_TEST (test_a_flood_of_talkers_keeps_to_the_places)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  RigTalker *talker;
  guint from, i;

  set_places (listener, N_PLACES);
  rig_talkers (rig, 1, 1, RIG_PCMU);
  talker = g_ptr_array_index (rig->talkers, 0);
  rig_play (rig);
  rig_run (rig, 3);
  from = listener->buffers->len;
  for (i = 0; i < 200; i++) {
    talker->ssrc = 5000 + i;
    rig_send (rig, talker);
  }
  fail_unless (listener->buffers->len <= from + 20);
  rig_run (rig, 20);
  fail_unless (rig_count_ssrcs (listener, from + 50) <= N_PLACES);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_places_suite (void)
{
  Suite *suite = suite_create ("partialmix-places");
  TCase *tc;

  tc = tcase_create ("places");
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_six_talkers_in_four_places);
  tcase_add_test (tc, test_everybody_is_heard_whatever_the_places);
  tcase_add_test (tc, test_places_are_told_by_an_event);
  tcase_add_test (tc, test_a_flood_of_talkers_keeps_to_the_places);
  return suite;
}

GST_CHECK_MAIN (partialmix_places);
