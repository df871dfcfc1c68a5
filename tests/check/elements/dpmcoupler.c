/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What neighbours behind one bottleneck have of it: real tfrcrates, in virtual time, that
 * hear nothing, so that what they have is what they are told. */
#include "../gstfairmixcheck.h"
#include "gstdpmcoupler.h"

#define N 4u
#define ALONE G_MAXUINT

typedef struct
{
  GstTestClock *clock;
  GstElement *rates[N];
  GstDpmCoupled all[N];
  GstDpmCoupler *coupler;
} Room;

static guint
rate_of (Room * room, guint i)
{
  GstStructure *stats;
  guint64 bps = 0;

  g_object_get (room->rates[i], "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "target-bps", &bps);
  gst_structure_free (stats);
  return (guint) bps;
}

static void
room_setup (Room * room)
{
  memset (room, 0, sizeof *room);
  room->clock = GST_TEST_CLOCK (gst_test_clock_new ());
  room->coupler = gst_dpm_coupler_new (N);
  for (guint i = 0; i < N; i++) {
    room->rates[i] = gst_element_factory_make ("tfrcrate", NULL);
    gst_object_ref_sink (room->rates[i]);
    g_object_set (room->rates[i], "initial-bitrate", 100000, NULL);
    gst_element_set_clock (room->rates[i], GST_CLOCK (room->clock));
    gst_element_set_state (room->rates[i], GST_STATE_PLAYING);
    fail_unless_equals_int (rate_of (room, i), 100000);
    room->all[i] = (GstDpmCoupled) {
    room->rates[i], 0, 1.0 + i, 0.0, 1e6, 0};
  }
}

static void
room_teardown (Room * room)
{
  gst_dpm_coupler_free (room->coupler);
  for (guint i = 0; i < N; i++) {
    gst_element_set_state (room->rates[i], GST_STATE_NULL);
    gst_object_unref (room->rates[i]);
  }
  gst_object_unref (room->clock);
}

static guint
look (Room * room)
{
  for (guint i = 0; i < N; i++)
    room->all[i].target_bps = rate_of (room, i);
  return gst_dpm_coupler_share_out (room->coupler, room->all);
}

/* Each goes a part of the way at a time. */
static guint
settle (Room * room)
{
  guint n = 0;

  for (guint i = 0; i < 30; i++)
    n = look (room);
  return n;
}

static void
assert_rates (Room * room, guint a, guint b, guint c, guint d)
{
  guint expected[N] = { a, b, c, d };

  for (guint i = 0; i < N; i++)
    fail_unless (ABS ((gint) rate_of (room, i) - (gint) expected[i])
        < 0.02 * expected[i],
        "%u has %u, not %u", i, rate_of (room, i), expected[i]);
}

/* Returns: Jain's index of the rates by weights */
static gdouble
jain (Room * room)
{
  gdouble sum = 0.0, squares = 0.0;

  for (guint i = 0; i < N; i++) {
    gdouble share = rate_of (room, i) / room->all[i].weight;

    sum += share;
    squares += share * share;
  }
  return sum * sum / (N * squares);
}

/* Whatever each of them finds, together they have the sum, by weight. */
GST_START_TEST (test_those_behind_one_bottleneck_share_by_weight)
{
  Room room;
  GRand *rng = g_rand_new_with_seed (1);

  room_setup (&room);
  fail_unless (jain (&room) < 0.9);
  for (guint i = 0; i < 200; i++) {
    fail_unless_equals_int (settle (&room), N);
    fail_unless (jain (&room) >= 0.98);
    g_signal_emit_by_name (room.rates[g_rand_int_range (rng, 0, N)], "set-rate",
        (guint) g_rand_int_range (rng, 50000, 400000));
  }
  g_rand_free (rng);
  room_teardown (&room);
}

GST_END_TEST;

GST_START_TEST (test_the_sum_is_that_of_what_they_find)
{
  Room room;

  room_setup (&room);
  settle (&room);
  assert_rates (&room, 40000, 80000, 120000, 160000);
  g_signal_emit_by_name (room.rates[0], "set-rate", 60000u);
  g_signal_emit_by_name (room.rates[3], "set-rate", 80000u);
  settle (&room);
  assert_rates (&room, 34000, 68000, 102000, 136000);
  room_teardown (&room);
}

GST_END_TEST;

/* Peers come and go, and who is behind what is found out anew. */
/* What one gives up is not the others' at once: it would be more than they found, and
 * they would give it up as well. */
GST_START_TEST (test_nobody_has_at_once_what_another_gave_up)
{
  Room room;

  room_setup (&room);
  for (guint i = 0; i < N; i++)
    room.all[i].weight = 1.0;
  settle (&room);
  g_signal_emit_by_name (room.rates[0], "set-rate", 20000u);
  look (&room);
  assert_rates (&room, 44000, 92000, 92000, 92000);
  settle (&room);
  assert_rates (&room, 80000, 80000, 80000, 80000);
  room_teardown (&room);
}

GST_END_TEST;

GST_START_TEST (test_groups_change_and_members_come_and_go)
{
  Room room;

  room_setup (&room);
  room.all[0].group = ALONE;
  fail_unless_equals_int (settle (&room), 3);
  assert_rates (&room, 100000, 66667, 100000, 133333);
  /* two and two */
  room.all[0].group = 0;
  room.all[1].group = 0;
  room.all[2].group = room.all[3].group = 2;
  fail_unless_equals_int (settle (&room), 4);
  assert_rates (&room, 55556, 111111, 100000, 133333);
  /* one goes, with what it had, and another comes in its place */
  room.all[3].rate = NULL;
  gst_dpm_coupler_forget (room.coupler, 3);
  fail_unless_equals_int (settle (&room), 3);
  assert_rates (&room, 55556, 111111, 100000, 133333);
  g_signal_emit_by_name (room.rates[3], "change-path");
  room.all[3].rate = room.rates[3];
  fail_unless_equals_int (settle (&room), 4);
  assert_rates (&room, 55556, 111111, 85714, 114286);
  /* all behind one, by another name */
  for (guint i = 0; i < N; i++)
    room.all[i].group = 1;
  fail_unless_equals_int (settle (&room), 4);
  assert_rates (&room, 36667, 73333, 110000, 146667);
  room_teardown (&room);
}

GST_END_TEST;

GST_START_TEST (test_what_one_does_not_want_or_may_not_have_goes_to_the_others)
{
  Room room;

  room_setup (&room);
  room.all[3].sent_bps = 25000;
  settle (&room);
  assert_rates (&room, 58333, 116667, 175000, 50000);
  /* nor less than min-bitrate */
  g_object_set (room.rates[0], "min-bitrate", 80000, NULL);
  g_object_set (room.rates[2], "max-bitrate", 80000, NULL);
  room.all[3].sent_bps = 1e6;
  settle (&room);
  assert_rates (&room, 80000, 55556, 80000, 111111);
  room_teardown (&room);
}

GST_END_TEST;

/* A path that carries nothing has no rate to share, and an element that was stopped
 * meanwhile none to be told. */
GST_START_TEST (test_who_may_send_nothing_is_left_out)
{
  Room room;

  room_setup (&room);
  gst_element_set_state (room.rates[1], GST_STATE_NULL);
  room.all[0].target_bps = room.all[2].target_bps = room.all[3].target_bps =
      100000;
  room.all[1].target_bps = 0.0;
  fail_unless_equals_int (gst_dpm_coupler_share_out (room.coupler, room.all),
      3);
  room.all[1].target_bps = 100000;
  fail_unless_equals_int (gst_dpm_coupler_share_out (room.coupler, room.all),
      4);
  room_teardown (&room);
}

GST_END_TEST;

static void
count (GstElement * rate, gpointer n)
{
  ++*(guint *) n;
}

GST_START_TEST (test_those_behind_one_bottleneck_give_way_together)
{
  guint n[N] = { 0 };
  Room room;

  room_setup (&room);
  room.all[3].group = ALONE;
  for (guint i = 0; i < N; i++)
    g_signal_connect (room.rates[i], "drain-too", G_CALLBACK (count), &n[i]);
  look (&room);
  room.all[0].n_drains = room.all[3].n_drains = 1;
  look (&room);
  look (&room);
  for (guint i = 0; i < N; i++)
    fail_unless_equals_int (n[i], i == 1 || i == 2 ? 1 : 0);
  room_teardown (&room);
}

GST_END_TEST;

static void
note_rate (GstElement * rate, guint bps, gpointer noted_bps)
{
  *(guint *) noted_bps = bps;
}

/* Whoever has a larger share than can be said is not told a small one. */
GST_START_TEST (test_the_largest_share_is_the_largest_rate)
{
  guint bps = 0;
  Room room;

  room_setup (&room);
  g_signal_connect (room.rates[3], "set-rate", G_CALLBACK (note_rate), &bps);
  for (guint i = 0; i < N; i++)
    room.all[i].target_bps = room.all[i].sent_bps = 4e9;
  gst_dpm_coupler_share_out (room.coupler, room.all);
  fail_unless_equals_int64 (bps, G_MAXUINT);
  room_teardown (&room);
}

GST_END_TEST;

GST_START_TEST (test_weights_are_numbers_of_any_kind_by_name)
{
  GstStructure *weights = gst_structure_from_string
      ("weights,alice=2,bob=(double)0.5,carol=text,dave=-1,erin=1000000", NULL);

  fail_unless_equals_float (gst_dpm_coupler_weight (NULL, "alice"), 1.0);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, NULL), 1.0);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, "alice"), 2.0);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, "bob"), 0.5);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, "dave"), 0.01);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, "erin"), 100.0);
  fail_unless_equals_float (gst_dpm_coupler_weight (weights, "frank"), 1.0);
  gst_structure_free (weights);
}

GST_END_TEST;

/* Who comes names himself, and a name that GLib has once made a field of stays. */
GST_START_TEST (test_nothing_is_kept_of_a_name_without_a_weight)
{
  GstStructure *weights = gst_structure_from_string ("weights,alice=2", NULL);
  gchar *name = g_strdup_printf ("nobody %08x", g_random_int ());

  fail_unless_equals_float (gst_dpm_coupler_weight (weights, name), 1.0);
  fail_unless_equals_int (g_quark_try_string (name), 0);
  g_free (name);
  gst_structure_free (weights);
}

GST_END_TEST;

static Suite *
dpmcoupler_suite (void)
{
  Suite *suite = suite_create ("dpmcoupler");
  TCase *tc = tcase_create ("coupler");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_those_behind_one_bottleneck_share_by_weight);
  tcase_add_test (tc, test_those_behind_one_bottleneck_give_way_together);
  tcase_add_test (tc, test_the_sum_is_that_of_what_they_find);
  tcase_add_test (tc, test_nobody_has_at_once_what_another_gave_up);
  tcase_add_test (tc, test_groups_change_and_members_come_and_go);
  tcase_add_test (tc,
      test_what_one_does_not_want_or_may_not_have_goes_to_the_others);
  tcase_add_test (tc, test_who_may_send_nothing_is_left_out);
  tcase_add_test (tc, test_the_largest_share_is_the_largest_rate);
  tcase_add_test (tc, test_weights_are_numbers_of_any_kind_by_name);
  tcase_add_test (tc, test_nothing_is_kept_of_a_name_without_a_weight);
  return suite;
}

GST_CHECK_MAIN (dpmcoupler);
