/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../gstfairmixcheck.h"
#include "toscheck.h"

/* A cbtqueue with some sink pads, in virtual time.  Packets of 125 bytes with
 * their headers: 10 ms each at 100 kbit/s. */
#define PACKET_BYTES 97
#define BITRATE 100000
#define PACKET_TIME (10 * GST_MSECOND)
#define MAX_PADS 3

typedef struct
{
  GstHarness *h[MAX_PADS];      /* h[0] has the source pad as well */
  GstElement *queue;
  GstTestClock *clock;
} Rig;

static void
rig_init (Rig * rig, guint n_pads)
{
  memset (rig, 0, sizeof *rig);
  rig->h[0] = gst_harness_new_with_padnames ("cbtqueue", "sink_0", "src");
  gst_harness_use_testclock (rig->h[0]);
  rig->clock = gst_harness_get_testclock (rig->h[0]);
  rig->queue = rig->h[0]->element;
  g_object_set (rig->queue, "seed", 1, "bitrate", BITRATE, NULL);
  for (guint i = 1; i < n_pads; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i);

    rig->h[i] = gst_harness_new_with_element (rig->queue, name, NULL);
    g_free (name);
  }
  for (guint i = 0; i < n_pads; i++)
    gst_harness_set_src_caps_str (rig->h[i], "application/x-test");
}

static void
rig_clear (Rig * rig)
{
  gst_object_unref (rig->clock);
  for (guint i = MAX_PADS; i-- > 0;)
    if (rig->h[i] != NULL)
      gst_harness_teardown (rig->h[i]);
}

static void
set_pad (Rig * rig, guint pad, const gchar * property, const gchar * value)
{
  gchar *name = g_strdup_printf ("sink_%u::%s", pad, property);
  GValue v = G_VALUE_INIT;
  GParamSpec *pspec;
  GObject *target;

  fail_unless (gst_child_proxy_lookup (GST_CHILD_PROXY (rig->queue), name,
          &target, &pspec));
  gst_util_set_object_arg (target, property, value);
  g_value_unset (&v);
  g_object_unref (target);
  g_free (name);
}

static guint64
pad_stat (Rig * rig, guint pad, const gchar * field)
{
  const GValue *classes;
  GstStructure *stats;
  guint64 n = 0;

  g_object_get (rig->queue, "stats", &stats, NULL);
  classes = gst_structure_get_value (stats, "classes");
  fail_unless (gst_structure_get_uint64 (gst_value_get_structure
          (gst_value_array_get_value (classes, pad)), field, &n));
  gst_structure_free (stats);
  return n;
}

static GstBuffer *
packet_new (guint pad, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, PACKET_BYTES, NULL);

  GST_BUFFER_OFFSET (buffer) = pad * 1000 + number;
  return buffer;
}

static void
push (Rig * rig, guint pad, guint number)
{
  fail_unless_equals_int (gst_harness_push (rig->h[pad], packet_new (pad,
              number)), GST_FLOW_OK);
}

/* Moves on to the end of the next packet, which must be @expected. */
static void
expect (Rig * rig, guint64 expected)
{
  GstBuffer *buffer;

  gst_test_clock_wait_for_next_pending_id (rig->clock, NULL);
  gst_test_clock_crank (rig->clock);
  buffer = gst_harness_pull (rig->h[0]);
  fail_unless (buffer != NULL);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (buffer), expected);
  gst_buffer_unref (buffer);
}

static GstClockTime
now (Rig * rig)
{
  return gst_clock_get_time (GST_CLOCK (rig->clock));
}

/* Lets the first packet get onto the link: then the queue is what waits. */
static void
push_first (Rig * rig, guint pad, guint number)
{
  push (rig, pad, number);
  gst_test_clock_wait_for_next_pending_id (rig->clock, NULL);
}

GST_START_TEST (test_packets_leave_in_order_at_the_bitrate)
{
  Rig rig;

  rig_init (&rig, 2);
  push_first (&rig, 0, 0);
  for (guint i = 1; i < 6; i++)
    push (&rig, i % 2, i);
  for (guint i = 0; i < 6; i++) {
    expect (&rig, i % 2 * 1000 + i);
    fail_unless_equals_uint64 (now (&rig), (i + 1) * PACKET_TIME);
  }
  /* after a pause the link is free at once */
  gst_test_clock_set_time (rig.clock, GST_SECOND);
  push (&rig, 0, 6);
  expect (&rig, 6);
  fail_unless_equals_uint64 (now (&rig), GST_SECOND + PACKET_TIME);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_a_new_bitrate_holds_for_the_rest_of_a_packet)
{
  Rig rig;

  rig_init (&rig, 1);
  push_first (&rig, 0, 0);
  gst_test_clock_set_time (rig.clock, PACKET_TIME / 2);
  g_object_set (rig.queue, "bitrate", BITRATE / 10, NULL);
  while (now (&rig) < PACKET_TIME / 2 + 5 * PACKET_TIME)
    clock_step (rig.clock, 0), g_thread_yield ();
  gst_buffer_unref (gst_harness_pull (rig.h[0]));
  fail_unless_equals_uint64 (now (&rig), PACKET_TIME / 2 + 5 * PACKET_TIME);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_what_finds_it_full_is_dropped)
{
  Rig rig;

  rig_init (&rig, 2);
  gst_util_set_object_arg (G_OBJECT (rig.queue), "discipline", "fifo");
  g_object_set (rig.queue, "max-size-buffers", 3, NULL);
  push_first (&rig, 0, 0);
  for (guint i = 1; i < 6; i++)
    push (&rig, 0, i);
  push (&rig, 1, 0);
  fail_unless_equals_uint64 (pad_stat (&rig, 0, "dropped-full"), 2);
  fail_unless_equals_uint64 (pad_stat (&rig, 1, "dropped-full"), 1);
  for (guint i = 0; i < 4; i++)
    expect (&rig, i);
  /* 40 ms: what may wait when the link takes 10 ms for each */
  g_object_set (rig.queue, "max-size-buffers", 0, "max-size-time",
      2 * PACKET_TIME, NULL);
  push_first (&rig, 0, 10);
  for (guint i = 11; i < 16; i++)
    push (&rig, 0, i);
  fail_unless_equals_uint64 (pad_stat (&rig, 0, "dropped-full"), 2 + 3);
  rig_clear (&rig);
}

GST_END_TEST;

/* The link takes one in 10 ms.  A blaster sends two in that time, the marked
 * class one in 100 ms; of 20 packets that wait on average some 18 are TCP's. */
static guint
blast (const gchar * discipline, guint * n_blaster)
{
  guint lost;
  Rig rig;

  rig_init (&rig, 3);
  gst_util_set_object_arg (G_OBJECT (rig.queue), "discipline", discipline);
  g_object_set (rig.queue, "max-size-buffers", 30, NULL);
  set_pad (&rig, 0, "class", "tcp");
  set_pad (&rig, 1, "class", "marked");
  push_first (&rig, 0, 0);
  for (guint i = 0; i < 2000; i++) {
    push (&rig, 2, i);
    if (i % 10 == 0)
      push (&rig, 1, i);
    push (&rig, 2, i);
    for (guint k = 0; k < 2 && element_stat (rig.queue, "level") < 18; k++)
      push (&rig, 0, i);
    gst_test_clock_wait_for_next_pending_id (rig.clock, NULL);
    gst_test_clock_crank (rig.clock);
    gst_buffer_unref (gst_harness_pull (rig.h[0]));
  }
  *n_blaster = (guint) pad_stat (&rig, 2, "out");
  lost = (guint) (pad_stat (&rig, 1, "dropped-full")
      + pad_stat (&rig, 1, "dropped-early")
      + pad_stat (&rig, 1, "dropped-threshold"));
  rig_clear (&rig);
  return lost;
}

GST_START_TEST (test_cbt_keeps_a_blaster_from_the_others)
{
  guint n_blaster;

  /* it takes all that TCP leaves, and the marked class loses its half */
  fail_unless (blast ("fifo", &n_blaster) > 60);
  fail_unless (n_blaster > 1500);
  fail_unless (blast ("red", &n_blaster) > 60);
  fail_unless (n_blaster > 1500);
  fail_unless_equals_int (blast ("cbt", &n_blaster), 0);
  fail_unless (n_blaster > 100 && n_blaster < 500, "%u", n_blaster);
}

GST_END_TEST;

static GstBuffer *
ecn_packet_new (guint8 tos)
{
  GstBuffer *buffer = packet_new (0, 0);

  gst_fairmix_tos_attach (buffer, tos);
  return buffer;
}

/* [RFC3168 5]: DSCP 46 and ECT(0), and the same without ECN */
GST_START_TEST (test_red_marks_packets_that_understand_it)
{
  guint n_marked = 0;
  Rig rig;

  rig_init (&rig, 1);
  set_pad (&rig, 0, "class", "tcp");
  set_pad (&rig, 0, "average-weight", "1");
  set_pad (&rig, 0, "red-max", "50");
  push_first (&rig, 0, 0);
  /* so many that every 20th is marked, at least */
  for (guint i = 0; i < 30; i++)
    gst_harness_push (rig.h[0], ecn_packet_new (0xba));
  for (guint i = 0; i < 300; i++) {
    GstBuffer *buffer;

    gst_harness_push (rig.h[0], ecn_packet_new (i < 150 ? 0xba : 0xb8));
    gst_test_clock_wait_for_next_pending_id (rig.clock, NULL);
    gst_test_clock_crank (rig.clock);
    buffer = gst_harness_pull (rig.h[0]);
    if (GST_BUFFER_OFFSET (buffer) == 0 && i > 20) {
      fail_unless (tos_message_get (buffer) == 0xba
          || tos_message_get (buffer) == 0xbb
          || tos_message_get (buffer) == 0xb8);
      n_marked += tos_message_get (buffer) == 0xbb;
    }
    gst_buffer_unref (buffer);
    if (i == 149)
      fail_unless_equals_uint64 (pad_stat (&rig, 0, "dropped-early"), 0);
  }
  fail_unless (n_marked > 0);
  fail_unless (pad_stat (&rig, 0, "marked") >= n_marked);
  fail_unless (pad_stat (&rig, 0, "dropped-early") > 0);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
cbtqueue_suite (void)
{
  Suite *s = suite_create ("cbtqueue");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_packets_leave_in_order_at_the_bitrate);
  tcase_add_test (tc, test_a_new_bitrate_holds_for_the_rest_of_a_packet);
  tcase_add_test (tc, test_what_finds_it_full_is_dropped);
  tcase_add_test (tc, test_cbt_keeps_a_blaster_from_the_others);
  tcase_add_test (tc, test_red_marks_packets_that_understand_it);
  return s;
}

GST_CHECK_MAIN (cbtqueue);
