/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who pushes what where (gst/partialmix/gstpartialmixcouriers.h), and the batches
 * that they carry (gst/partialmix/gstpartialmixbatch.h); no element, no pad that
 * anything leaves. */
#include "../gstfairmixcheck.h"
#include "../gstfairmixgate.h"

#include "partialmix/gstpartialmixcouriers.h"

#define N 3                     /* neighbours */
/* fewer than may wait, so that none is dropped */
#define N_BATCHES 60
/* short enough to wait for, long enough for a machine that is busy */
#define PATIENCE (20 * GST_MSECOND)

typedef struct
{
  GstPartialMixDoor door;       /* first: it is what is found by it */
  GArray *got;                  /* of guint, the numbers of what was pushed */
  GThread *by;                  /* who pushed last */
  Gate *gate;                   /* where who pushes is held, or NULL */
} Neighbour;

static Neighbour neighbours[N];
static GPtrArray *pads;
static GstPartialMixCouriers *couriers;
/* of what the threads note */
static GMutex lock;
static GCond cond;
static guint n_slow, n_quick;

static void
push (GstPartialMixDoor * door, GstCaps * caps, GstMiniObject * data)
{
  Neighbour *neighbour = (Neighbour *) door;
  guint number = GST_IS_EVENT (data) ? 0
      : (guint) GST_BUFFER_PTS (GST_BUFFER (data));

  (void) caps;
  gst_mini_object_unref (data);
  if (neighbour->gate != NULL)
    gate_pass (neighbour->gate);
  g_mutex_lock (&lock);
  g_array_append_val (neighbour->got, number);
  neighbour->by = g_thread_self ();
  g_cond_broadcast (&cond);
  g_mutex_unlock (&lock);
}

static void
note_slow (gpointer user_data, GstPartialMixDoor * door, gboolean slow,
    guint64 n_dropped)
{
  (void) user_data;
  (void) door;
  (void) n_dropped;
  g_mutex_lock (&lock);
  n_slow += slow;
  n_quick += !slow;
  g_cond_broadcast (&cond);
  g_mutex_unlock (&lock);
}

static void
setup (void)
{
  pads = g_ptr_array_new_with_free_func (gst_object_unref);
  for (guint i = 0; i < N; i++) {
    GstPad *pad = gst_object_ref_sink (gst_pad_new (NULL, GST_PAD_SRC));

    g_ptr_array_add (pads, pad);
    gst_partial_mix_door_init (&neighbours[i].door, GST_OBJECT (pad));
    neighbours[i].got = g_array_new (FALSE, FALSE, sizeof (guint));
    neighbours[i].gate = NULL;
    neighbours[i].by = NULL;
  }
  n_slow = n_quick = 0;
  couriers = gst_partial_mix_couriers_new (push, note_slow, NULL);
  gst_partial_mix_couriers_start (couriers, PATIENCE);
}

static void
teardown (void)
{
  gst_partial_mix_couriers_stop (couriers);
  gst_partial_mix_couriers_free (couriers);
  for (guint i = 0; i < N; i++) {
    ASSERT_OBJECT_REFCOUNT (g_ptr_array_index (pads, i), "pad", 1);
    g_array_unref (neighbours[i].got);
  }
  g_ptr_array_unref (pads);
}

static GstMiniObject *
numbered (guint number)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = number;
  return GST_MINI_OBJECT (buffer);
}

/* Packet @number, to everybody from the @first neighbour to the @last. */
static void
deliver (guint first, guint last, guint number, gboolean alone)
{
  GstPartialMixBatch *batch = gst_partial_mix_batch_new (pads, 1);

  for (guint i = first; i <= last; i++)
    gst_partial_mix_batch_add (batch, &neighbours[i].door, NULL,
        numbered (number));
  gst_partial_mix_couriers_deliver (couriers, batch, alone);
}

/* Until a count is what it is to be, in bounded time */
static void
wait_until (const guint * count, guint n)
{
  gint64 end = g_get_monotonic_time () + GATE_PATIENCE_US;

  g_mutex_lock (&lock);
  while (*count < n)
    fail_unless (g_cond_wait_until (&cond, &lock, end), "%u of %u", *count, n);
  g_mutex_unlock (&lock);
}

static gboolean
is_trusted (void)
{
  gboolean trusted;

  g_mutex_lock (&lock);
  trusted = n_quick > 0;
  g_mutex_unlock (&lock);
  return trusted;
}

static guint64
dropped (Neighbour * neighbour)
{
  gboolean slow;
  guint64 n;

  gst_partial_mix_couriers_get_stats (couriers, &neighbour->door, &slow, &n);
  return n;
}

static void
check_numbers (Neighbour * neighbour, guint from, guint n)
{
  fail_unless_equals_int (neighbour->got->len, n);
  for (guint k = 0; k < n; k++)
    fail_unless_equals_int (g_array_index (neighbour->got, guint, k), from + k);
}

/* Wherever in a batch he is who blocks, what others get is complete and in
 * order, and so is what he gets when he goes on. */
GST_START_TEST (test_others_get_all_in_order_while_one_blocks)
{
  Neighbour *held = &neighbours[__i__];
  gboolean slow;
  guint64 n;
  Gate gate;

  gate_init (&gate);
  held->gate = &gate;
  for (guint k = 0; k < N_BATCHES; k++)
    deliver (0, N - 1, k, FALSE);
  for (guint i = 0; i < N; i++)
    if (&neighbours[i] != held)
      wait_until (&neighbours[i].got->len, N_BATCHES);
  gst_partial_mix_couriers_get_stats (couriers, &held->door, &slow, &n);
  fail_unless (slow);
  fail_unless_equals_int (held->got->len, 0);
  gate_open (&gate);
  wait_until (&held->got->len, N_BATCHES);
  for (guint i = 0; i < N; i++)
    check_numbers (&neighbours[i], 0, N_BATCHES);
  gate_clear (&gate);
}

GST_END_TEST;

GST_START_TEST (test_all_may_block_at_once)
{
  Gate gates[N];

  for (guint i = 0; i < N; i++) {
    gate_init (&gates[i]);
    neighbours[i].gate = &gates[i];
  }
  for (guint k = 0; k < N_BATCHES; k++)
    deliver (0, N - 1, k, FALSE);
  wait_until (&n_slow, N);
  for (guint i = 0; i < N; i++)
    gate_open (&gates[i]);
  for (guint i = 0; i < N; i++) {
    wait_until (&neighbours[i].got->len, N_BATCHES);
    check_numbers (&neighbours[i], 0, N_BATCHES);
    gate_clear (&gates[i]);
  }
}

GST_END_TEST;

GST_START_TEST (test_the_oldest_gives_way_but_an_end_does_not)
{
  GstPartialMixBatch *end = gst_partial_mix_batch_new (pads, 0);
  const guint room = GST_PARTIAL_MIX_MAX_WAITING;
  Neighbour *held = &neighbours[0];
  Gate gate;

  gate_init (&gate);
  held->gate = &gate;
  deliver (0, 0, 1, FALSE);
  wait_until (&n_slow, 1);
  gst_partial_mix_batch_add (end, &held->door, NULL,
      GST_MINI_OBJECT (gst_event_new_eos ()));
  gst_partial_mix_couriers_deliver (couriers, end, FALSE);
  for (guint k = 0; k < room + 20; k++)
    deliver (0, 0, 100 + k, FALSE);
  /* who comes after them has seen them put down */
  deliver (1, 1, 0, FALSE);
  wait_until (&neighbours[1].got->len, 1);
  fail_unless_equals_uint64 (dropped (held), 21);
  gate_open (&gate);
  wait_until (&held->got->len, 1 + room);
  fail_unless_equals_int (g_array_index (held->got, guint, 0), 1);
  fail_unless_equals_int (g_array_index (held->got, guint, 1), 0);
  for (guint k = 2; k < 1 + room; k++)
    fail_unless_equals_int (g_array_index (held->got, guint, k), 119 + k);
  gate_clear (&gate);
}

GST_END_TEST;

GST_START_TEST (test_who_is_quick_for_long_is_trusted_again)
{
  Neighbour *held = &neighbours[0];
  guint k;
  Gate gate;

  gate_init (&gate);
  held->gate = &gate;
  deliver (0, 0, 0, FALSE);
  wait_until (&n_slow, 1);
  gate_open (&gate);
  /* one that was not quick begins the count anew */
  for (k = 1; k < 5000 && !is_trusted (); k++) {
    deliver (0, 0, k, FALSE);
    wait_until (&held->got->len, k + 1);
  }
  wait_until (&n_quick, 1);
  check_numbers (held, 0, k);
  gate_clear (&gate);
}

GST_END_TEST;

/* There is nobody to hold up: no thread is asked, unless something is still
 * under way. */
GST_START_TEST (test_one_alone_is_served_at_once)
{
  Neighbour *only = &neighbours[0];
  Gate gate;

  deliver (0, 0, 0, TRUE);
  fail_unless_equals_int (only->got->len, 1);
  fail_unless (only->by == g_thread_self ());

  gate_init (&gate);
  only->gate = &gate;
  deliver (0, 0, 1, FALSE);
  gate_wait (&gate);
  deliver (0, 0, 2, TRUE);
  fail_unless_equals_int (only->got->len, 1);
  gate_open (&gate);
  wait_until (&only->got->len, 3);
  check_numbers (only, 0, 3);
  fail_if (only->by == g_thread_self ());
  gate_clear (&gate);
}

GST_END_TEST;

GST_START_TEST (test_without_patience_who_brings_it_pushes)
{
  gst_partial_mix_couriers_stop (couriers);
  gst_partial_mix_couriers_start (couriers, GST_CLOCK_TIME_NONE);
  deliver (0, N - 1, 0, FALSE);
  for (guint i = 0; i < N; i++) {
    check_numbers (&neighbours[i], 0, 1);
    fail_unless (neighbours[i].by == g_thread_self ());
  }
}

GST_END_TEST;

/* Two threads bring packets: the order of each is kept. */
#define MANY 2000

static gpointer
bring (gpointer first)
{
  for (guint k = 0; k < MANY; k++)
    deliver (0, N - 1, GPOINTER_TO_UINT (first) + k, FALSE);
  return NULL;
}

GST_START_TEST (test_the_order_of_each_who_brings_is_kept)
{
  GThread *other;

  /* nobody is to be found slow here, however busy the machine is */
  gst_partial_mix_couriers_stop (couriers);
  gst_partial_mix_couriers_start (couriers, 1000 * GST_SECOND);
  other = g_thread_new ("other", bring, GUINT_TO_POINTER (MANY));
  bring (GUINT_TO_POINTER (0));
  g_thread_join (other);
  gst_partial_mix_couriers_stop (couriers);
  for (guint i = 0; i < N; i++) {
    guint next[] = { 0, MANY };

    fail_unless_equals_int (neighbours[i].got->len, 2 * MANY);
    for (guint k = 0; k < 2 * MANY; k++) {
      guint number = g_array_index (neighbours[i].got, guint, k);

      fail_unless_equals_int (number, next[number / MANY]++);
    }
  }
}

GST_END_TEST;

GST_START_TEST (test_a_batch_holds_what_it_has_and_gives_up_the_rest)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCaps *caps = gst_caps_new_empty_simple ("application/x-rtp");
  GstPartialMixBatch *batch = gst_partial_mix_batch_new (pads, 0), *rest;

  for (guint i = 0; i < 50; i++)
    gst_partial_mix_batch_add (batch, &neighbours[i % N].door, caps,
        gst_mini_object_ref (GST_MINI_OBJECT (buffer)));
  ASSERT_CAPS_REFCOUNT (caps, "caps", 51);
  fail_unless (gst_partial_mix_batch_take_rest (batch, 50) == NULL);
  rest = gst_partial_mix_batch_take_rest (batch, 20);
  fail_unless_equals_int (rest->n, 30);
  for (guint i = 0; i < 30; i++)
    fail_unless (gst_partial_mix_batch_at (rest, i)->door
        == &neighbours[(20 + i) % N].door);
  batch->n = 20;
  gst_partial_mix_batch_free (batch);
  ASSERT_BUFFER_REFCOUNT (buffer, "buffer", 31);
  gst_partial_mix_batch_free (rest);
  ASSERT_BUFFER_REFCOUNT (buffer, "buffer", 1);
  ASSERT_CAPS_REFCOUNT (caps, "caps", 1);
  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
}

GST_END_TEST;

static Suite *
partialmix_couriers_suite (void)
{
  Suite *suite = suite_create ("partialmix-couriers");
  TCase *tc = tcase_create ("couriers");

  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_loop_test (tc, test_others_get_all_in_order_while_one_blocks, 0, N);
  tcase_add_test (tc, test_all_may_block_at_once);
  tcase_add_test (tc, test_the_oldest_gives_way_but_an_end_does_not);
  tcase_add_test (tc, test_who_is_quick_for_long_is_trusted_again);
  tcase_add_test (tc, test_one_alone_is_served_at_once);
  tcase_add_test (tc, test_without_patience_who_brings_it_pushes);
  tcase_add_test (tc, test_the_order_of_each_who_brings_is_kept);
  tcase_add_test (tc, test_a_batch_holds_what_it_has_and_gives_up_the_rest);
  return suite;
}

GST_CHECK_MAIN (partialmix_couriers);
