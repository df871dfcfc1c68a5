/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The streams that there are (gst/partialmix/gstpartialmixtable.h), and who of
 * them is separate for a listener (gst/partialmix/gstpartialmixselection.h); no
 * element, no thread, no clock. */
#include "../gstfairmixcheck.h"

#include "partialmix/gstpartialmixselection.h"
#include "partialmix/gstpartialmixtable.h"

#define RATE 48000
#define PACKET 200              /* bytes on the wire each 20 ms: 80 kbit/s */

static const GstPartialMixFormat opus = {
  GST_PARTIAL_MIX_ENCODING_OPUS, 48000, 2, 96
};

static GstPartialMixTable table;
static GstPartialMixListener listener;
static GstPartialMixSettings settings;
static GstPad *pad;
static GstClockTime now;

static void
setup (void)
{
  guint i;

  pad = gst_object_ref_sink (gst_pad_new ("sink_0", GST_PAD_SINK));
  gst_partial_mix_table_init (&table);
  gst_partial_mix_settings_init (&settings);
  gst_partial_mix_listener_init (&listener);
  gst_partial_mix_listener_start (&listener, &settings);
  listener.index = 9;
  listener.negotiated = TRUE;
  for (i = 0; i < GST_PARTIAL_MIX_N_ENCODINGS; i++)
    listener.accepts[i] = TRUE;
  now = 0;
}

static void
teardown (void)
{
  gst_partial_mix_listener_clear (&listener);
  gst_partial_mix_table_clear (&table);
  gst_object_unref (pad);
}

static GstPartialMixStream *
join (guint32 ssrc, gint neighbour)
{
  GstPartialMixStream *stream = gst_partial_mix_stream_new (ssrc, pad, &opus,
      RATE);

  stream->neighbour = neighbour;
  gst_partial_mix_table_add (&table, stream);
  gst_partial_mix_listener_init_link (&listener, stream, now);
  return stream;
}

static void
leave (GstPartialMixStream * stream)
{
  gst_partial_mix_stream_unref (gst_partial_mix_table_remove (&table, stream));
}

/* Everybody speaks for a second. */
static void
speak (void)
{
  const FmxStreamCostPacket packet = { PACKET, 20 * FMX_MSECOND, FALSE };
  guint i, k;

  for (k = 0; k < 50; k++, now += 20 * GST_MSECOND)
    for (i = 0; i < gst_partial_mix_table_n_slots (&table); i++) {
      GstPartialMixStream *stream = gst_partial_mix_table_at (&table, i);

      if (stream == NULL)
        continue;
      fmx_stream_cost_add (&stream->cost, &packet, now);
      fmx_select_activity_add (&stream->activity, 30, now);
      stream->has_level = TRUE;
    }
}

static gboolean
select_for (guint target_bitrate)
{
  const GstPartialMixScene scene = { &table, &settings, 0 };

  listener.target_bitrate = target_bitrate;
  return gst_partial_mix_select (&listener, &scene, now);
}

static guint
count (FmxHandoverWay way)
{
  guint i, n = 0;

  for (i = 0; i < gst_partial_mix_table_n_slots (&table); i++)
    n += gst_partial_mix_table_at (&table, i) != NULL
        && gst_partial_mix_listener_get_link (&listener,
        gst_partial_mix_table_at (&table, i))->handover.way == way;
  return n;
}

GST_START_TEST (test_a_slot_that_is_left_is_given_to_the_next)
{
  GstPartialMixStream *a = join (1, 0), *b = join (2, 0), *c;

  fail_unless_equals_int (a->slot, 0);
  fail_unless_equals_int (b->slot, 1);
  leave (a);
  fail_unless (gst_partial_mix_table_at (&table, 0) == NULL);
  fail_unless_equals_int (gst_partial_mix_table_n_streams (&table), 1);
  c = join (3, 0);
  fail_unless_equals_int (c->slot, 0);
  fail_unless_equals_int (gst_partial_mix_table_n_slots (&table), 2);
}

GST_END_TEST;

GST_START_TEST (test_an_ssrc_is_free_when_nobody_uses_it_any_more)
{
  GstPartialMixStream *a = join (1, 0), *b = join (1, 1);

  leave (a);
  fail_unless (gst_partial_mix_table_is_ssrc_used (&table, 1));
  leave (b);
  fail_if (gst_partial_mix_table_is_ssrc_used (&table, 1));
  gst_partial_mix_table_add_mix (&table, 5);
  fail_unless (gst_partial_mix_table_is_ssrc_used (&table, 5));
  fail_unless (gst_partial_mix_table_is_mix (&table, 5));
  gst_partial_mix_table_remove_mix (&table, 5);
  fail_if (gst_partial_mix_table_is_ssrc_used (&table, 5));
  fail_if (gst_partial_mix_table_is_ssrc_used (&table,
          gst_partial_mix_table_free_ssrc (&table)));
}

GST_END_TEST;

GST_START_TEST (test_crowds_are_counted_by_neighbour)
{
  GstPartialMixStream *least;
  gint neighbour = -1;
  guint i;

  for (i = 0; i < 5; i++)
    join (100 + i, 1)->last_arrival = 50 - i;
  least = join (1, 2);
  fail_unless_equals_int (gst_partial_mix_table_crowd (&table, 1), 5);
  fail_unless_equals_int (gst_partial_mix_table_crowd (&table, 3), 0);
  fail_unless_equals_int (gst_partial_mix_table_n_crowds (&table), 2);
  fail_unless_equals_int (gst_partial_mix_table_largest_crowd (&table,
          &neighbour), 5);
  fail_unless_equals_int (neighbour, 1);
  fail_unless_equals_int (gst_partial_mix_table_find_least (&table, 1)->ssrc,
      104);
  leave (least);
  fail_unless_equals_int (gst_partial_mix_table_n_crowds (&table), 1);
}

GST_END_TEST;

/* 5 x 80 kbit/s; the least mix takes some 30 */
GST_START_TEST (test_as_many_stay_separate_as_the_target_carries)
{
  const struct
  {
    guint target, separate, mixed, held;
  } table_of_targets[] = {
    {0, 5, 0, 0},               /* unlimited */
    {400000, 5, 0, 0},
    {399000, 4, 1, 0},
    {120000, 1, 4, 0},
    {40000, 0, 5, 0},
  };
  guint i;

  for (i = 0; i < 5; i++)
    join (1 + i, 0);
  for (i = 0; i < G_N_ELEMENTS (table_of_targets); i++) {
    speak ();
    select_for (table_of_targets[i].target);
    fail_unless (count (FMX_HANDOVER_SEPARATE) <= table_of_targets[i].separate);
    fail_unless (count (FMX_HANDOVER_SEPARATE) + 1
        >= table_of_targets[i].separate);
    fail_unless_equals_int (count (FMX_HANDOVER_SEPARATE)
        + count (FMX_HANDOVER_MIXED), 5);
    fail_unless_equals_int (count (FMX_HANDOVER_HELD),
        table_of_targets[i].held);
  }
}

GST_END_TEST;

GST_START_TEST (test_nobody_hears_himself)
{
  GstPartialMixStream *own = join (1, 9), *other = join (2, 0);

  speak ();
  fail_unless (select_for (0));
  fail_unless_equals_int (gst_partial_mix_listener_get_link (&listener,
          own)->handover.way, FMX_HANDOVER_NONE);
  fail_unless_equals_int (gst_partial_mix_listener_get_link (&listener,
          other)->handover.way, FMX_HANDOVER_SEPARATE);
  fail_unless_equals_int (gst_partial_mix_first_way (&listener, other),
      FMX_HANDOVER_SEPARATE);
}

GST_END_TEST;

GST_START_TEST (test_what_did_not_change_is_not_told)
{
  guint i;

  for (i = 0; i < 3; i++)
    join (1 + i, 0);
  speak ();
  fail_unless (select_for (200000));
  speak ();
  fail_if (select_for (200000));
  fail_unless_equals_int (listener.n_selections, 1);
}

GST_END_TEST;

static Suite *
partialmix_table_suite (void)
{
  Suite *s = suite_create ("partialmix-table");
  TCase *tc = tcase_create ("general");

  tcase_add_checked_fixture (tc, setup, teardown);
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_a_slot_that_is_left_is_given_to_the_next);
  tcase_add_test (tc, test_an_ssrc_is_free_when_nobody_uses_it_any_more);
  tcase_add_test (tc, test_crowds_are_counted_by_neighbour);
  tcase_add_test (tc, test_as_many_stay_separate_as_the_target_carries);
  tcase_add_test (tc, test_nobody_hears_himself);
  tcase_add_test (tc, test_what_did_not_change_is_not_told);
  return s;
}

GST_CHECK_MAIN (partialmix_table);
