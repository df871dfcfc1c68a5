/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who leads claims a delivery, then looks whether somebody is at that neighbour. What
 * happens in between takes a machine that stands still just then; so this goes through
 * gst/partialmix/gstpartialmixcouriers.c step by step, in one thread. */
#include "../gstfairmixcheck.h"

#include "partialmix/gstpartialmixcouriers.c"

static GstPad *pad;
static GstPartialMixDoor door;
static GstPartialMixCouriers *couriers;
static Courier leader, other;
static GArray *got;             /* of guint, the numbers of what was pushed */

static void
push (GstPartialMixDoor * at, GstCaps * caps, GstMiniObject * data)
{
  guint number = (guint) GST_BUFFER_PTS (GST_BUFFER (data));

  (void) caps;
  fail_unless (at == &door);
  gst_mini_object_unref (data);
  g_array_append_val (got, number);
}

static void
note_slow (gpointer user_data, GstPartialMixDoor * at, gboolean slow,
    guint64 n_dropped)
{
  (void) user_data;
  (void) at;
  (void) slow;
  (void) n_dropped;
}

static void
setup (void)
{
  pad = gst_object_ref_sink (gst_pad_new (NULL, GST_PAD_SRC));
  gst_partial_mix_door_init (&door, GST_OBJECT (pad));
  couriers = gst_partial_mix_couriers_new (push, note_slow, NULL);
  couriers->patience_us = G_MAXINT64;
  leader = other = (Courier) {
  .couriers = couriers,.next = NOT_HIS};
  got = g_array_new (FALSE, FALSE, sizeof (guint));
}

static void
teardown (void)
{
  fail_unless_equals_int (g_atomic_int_get (&couriers->n_busy), 0);
  gst_partial_mix_couriers_free (couriers);
  ASSERT_OBJECT_REFCOUNT (pad, "pad", 1);
  gst_object_unref (pad);
  g_array_unref (got);
}

/* A list with one packet */
static GstPartialMixBatch *
batch_of (guint number)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);
  GstBuffer *buffer = gst_buffer_new ();
  GstPartialMixBatch *batch;

  g_ptr_array_add (pads, gst_object_ref (pad));
  GST_BUFFER_PTS (buffer) = number;
  batch = gst_partial_mix_batch_new (pads, 1);
  gst_partial_mix_batch_add (batch, &door, NULL, GST_MINI_OBJECT (buffer));
  g_ptr_array_unref (pads);
  g_atomic_int_inc (&couriers->n_busy);
  return batch;
}

/* The leader has claimed the only delivery of his list, and does not go on. */
static void
claim_and_stop (GstPartialMixBatch * batch)
{
  leader.work = (Batches) {
  batch, batch, batch->n};
  leader.leads = TRUE;
  g_atomic_int_set (&leader.next, 1);
  gst_fairmix_lock_acquire (&couriers->lock);
  couriers->leader = &leader;
  leave_leader (couriers);
  gst_fairmix_lock_release (&couriers->lock);
  fail_unless (couriers->leader == NULL);
  fail_if (leader.leads);
}

/* What comes after the claim */
static void
look (Courier * courier, GstPartialMixBatch * batch)
{
  push_or_put_down (courier, gst_partial_mix_batch_at (batch, 0));
  free_batches (couriers, batch, batch);
}

static void
serve (Courier * courier)
{
  gst_fairmix_lock_acquire (&couriers->lock);
  serve_door (courier);
  gst_fairmix_lock_release (&couriers->lock);
}

GST_START_TEST (test_who_is_left_behind_on_his_way_comes_first)
{
  GstPartialMixBatch *first = batch_of (1), *second = batch_of (2);

  claim_and_stop (first);
  look (&other, second);        /* of him who leads now */
  fail_unless_equals_int (got->len, 0);
  look (&leader, first);
  fail_unless_equals_int (got->len, 1);
  serve (&leader);
  fail_unless_equals_int (got->len, 2);
  fail_unless_equals_int (g_array_index (got, guint, 0), 1);
  fail_unless_equals_int (g_array_index (got, guint, 1), 2);
}

GST_END_TEST;

GST_START_TEST (test_who_is_left_behind_takes_nobodys_place)
{
  GstPartialMixBatch *batch = batch_of (1);

  gst_fairmix_lock_acquire (&couriers->lock);
  other.door = &door;
  gst_object_ref (pad);
  set_holder (&door, &other);
  gst_fairmix_lock_release (&couriers->lock);

  claim_and_stop (batch);
  fail_unless (door.holder == &other && leader.door == NULL);
  look (&leader, batch);
  fail_unless_equals_int (got->len, 0);
  serve (&other);
  fail_unless_equals_int (got->len, 1);
}

GST_END_TEST;

static Suite *
partialmix_couriers_steps_suite (void)
{
  Suite *suite = suite_create ("partialmix-couriers-steps");
  TCase *tc = tcase_create ("claim and look");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_who_is_left_behind_on_his_way_comes_first);
  tcase_add_test (tc, test_who_is_left_behind_takes_nobodys_place);
  return suite;
}

GST_CHECK_MAIN (partialmix_couriers_steps);
