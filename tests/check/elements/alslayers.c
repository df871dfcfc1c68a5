/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "floodcheck.h"

#define N_LAYERS 3
#define FRAME (20 * GST_MSECOND)
#define SAMPLES 160             /* of PCMU, in a frame */
#define SSRC 0x1234u

typedef struct
{
  GstElement *element;
  GstHarness *layers[N_LAYERS];
  GstTestClock *clock;
  GstBus *bus;
} Rig;

static void
rig_init (Rig * rig, const gchar * mode)
{
  rig->element = gst_element_factory_make ("alslayers", NULL);
  gst_util_set_object_arg (G_OBJECT (rig->element), "mode", mode);
  rig->bus = gst_bus_new ();
  gst_element_set_bus (rig->element, rig->bus);
  for (guint i = 0; i < N_LAYERS; i++) {
    gchar *sink = g_strdup_printf ("sink_%u", i);
    gchar *src = g_strdup_printf ("src_%u", i);

    rig->layers[i] = gst_harness_new_with_element (rig->element, sink, src);
    g_free (sink);
    g_free (src);
  }
  rig->clock = gst_harness_get_testclock (rig->layers[0]);
  for (guint i = 0; i < N_LAYERS; i++)
    gst_harness_set_src_caps_str (rig->layers[i], RTP_CAPS_PCMU);
}

static void
rig_clear (Rig * rig)
{
  for (guint i = 0; i < N_LAYERS; i++)
    gst_harness_teardown (rig->layers[i]);
  gst_element_set_bus (rig->element, NULL);
  gst_object_unref (rig->bus);
  gst_object_unref (rig->clock);
  gst_object_unref (rig->element);
}

/* Frame @n of a layer, played at @pts if nobody interferes.
 *
 * Returns: when it is played, GST_CLOCK_TIME_NONE if it is not */
static GstClockTime
push (Rig * rig, guint layer, guint32 ssrc, guint n, GstClockTime pts)
{
  GstBuffer *buffer = rtp_packet_new (ssrc, n, SAMPLES);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstClockTime played = GST_CLOCK_TIME_NONE;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_timestamp (&rtp, G_MAXUINT32 - 5 * SAMPLES + n * SAMPLES);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = pts;
  fail_unless_equals_int (gst_harness_push (rig->layers[layer], buffer),
      GST_FLOW_OK);
  buffer = gst_harness_try_pull (rig->layers[layer]);
  if (buffer != NULL) {
    played = GST_BUFFER_PTS (buffer);
    fail_unless_equals_int (rtp_packet_seq (buffer), n);
    gst_buffer_unref (buffer);
  }
  return played;
}

/* Each layer's jitter buffer has an idea of its own of when a frame is due. */
GST_START_TEST (test_layers_meet_to_the_sample)
{
  GstClockTime begin = GST_SECOND + 1234567;
  Rig rig;

  rig_init (&rig, "add");
  /* nobody knows yet */
  fail_if (GST_CLOCK_TIME_IS_VALID (push (&rig, 1, SSRC, 0, begin)));
  for (guint n = 0; n < 20; n++) {
    GstClockTime due = begin + n * FRAME;
    GstClockTime base = push (&rig, 0, SSRC, n, due + n % 3 * GST_MSECOND);

    fail_unless_equals_uint64 (base, due);
    fail_unless_equals_uint64 (push (&rig, 1, SSRC, n,
            due + 5 * GST_MSECOND), base);
    /* one that is a frame late */
    if (n > 0)
      fail_unless_equals_uint64 (push (&rig, 2, SSRC, n - 1, due),
          base - FRAME);
  }
  /* the base stalls, and goes on half a second later: so do all */
  begin += 500 * GST_MSECOND;
  for (guint n = 20; n < 25; n++) {
    fail_unless_equals_uint64 (push (&rig, 0, SSRC, n, begin + n * FRAME),
        begin + n * FRAME);
    fail_unless_equals_uint64 (push (&rig, 1, SSRC, n, begin), begin
        + n * FRAME);
  }
  /* who has timestamps of his own is played at no time, rather than hours later */
  fail_if (GST_CLOCK_TIME_IS_VALID (push (&rig, 1, SSRC + 7,
              25 + G_MAXUINT16 * 30, begin + 25 * FRAME)));
  /* another sender: other timestamps */
  fail_unless_equals_uint64 (push (&rig, 0, SSRC + 1, 27, begin + 30 * FRAME),
      begin + 30 * FRAME);
  rig_clear (&rig);
}

GST_END_TEST;

static void
flush (Rig * rig, guint layer)
{
  GstHarness *h = rig->layers[layer];
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

/* A flush begins running time anew: a frame that has the time of before would be waited
 * for as long as has been played.  Whichever layer is flushed first. */
GST_START_TEST (test_times_of_before_a_flush_are_forgotten)
{
  Rig rig;

  rig_init (&rig, "add");
  push (&rig, 0, SSRC, 0, GST_SECOND * 5);
  fail_unless_equals_uint64 (push (&rig, 1, SSRC, 0, 0), GST_SECOND * 5);
  flush (&rig, (guint) __i__);
  fail_if (GST_CLOCK_TIME_IS_VALID (push (&rig, 1, SSRC, 1, 0)));
  push (&rig, 0, SSRC, 2, __i__ == 0 ? 2 * FRAME : GST_SECOND * 5);
  flush (&rig, 1 - (guint) __i__);
  fail_if (GST_CLOCK_TIME_IS_VALID (push (&rig, 1, SSRC, 2, 0)));
  fail_unless_equals_uint64 (push (&rig, 0, SSRC, 3, 3 * FRAME), 3 * FRAME);
  fail_unless_equals_uint64 (push (&rig, 1, SSRC, 3, 0), 3 * FRAME);
  rig_clear (&rig);
}

GST_END_TEST;

/* One step of @ms: a frame of each layer that is sent */
static void
expect (Rig * rig, guint sent, guint played, GstClockTime wait)
{
  gst_test_clock_advance_time (rig->clock, wait);
  for (guint i = N_LAYERS; i-- > 0;)
    if (sent & 1u << i) {
      gboolean passed = GST_CLOCK_TIME_IS_VALID (push (rig, i, SSRC + i, 7, 5));

      fail_unless (passed == ((played & 1u << i) != 0), "layer %u", i);
    }
}

GST_START_TEST (test_one_layer_of_those_that_hold_the_whole_is_played)
{
  GstMessage *message;
  guint top;
  Rig rig;

  rig_init (&rig, "switch");
  expect (&rig, 1, 1, FRAME);
  expect (&rig, 3, 2, FRAME);   /* the second comes: from its first frame on */
  message = gst_bus_pop (rig.bus);
  while (message != NULL && !gst_message_has_name (message, "fairmix-layer")) {
    gst_message_unref (message);
    message = gst_bus_pop (rig.bus);
  }
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_uint (gst_message_get_structure (message),
          "top", &top) && top == 1);
  gst_message_unref (message);
  expect (&rig, 7, 4, FRAME);
  expect (&rig, 3, 0, FRAME);   /* the third is late, or lost */
  expect (&rig, 7, 4, FRAME);
  expect (&rig, 3, 2, 300 * GST_MSECOND);       /* and stops */
  expect (&rig, 1, 0, FRAME);
  expect (&rig, 1, 1, 300 * GST_MSECOND);       /* it was left */
  g_object_get (rig.element, "top", &top, NULL);
  fail_unless_equals_int (top, 0);
  rig_clear (&rig);
}

GST_END_TEST;

/* What is no RTP, on a port that anybody may send to, silences nobody. */
GST_START_TEST (test_noise_is_no_layer)
{
  GstBuffer *noise = gst_buffer_new_allocate (NULL, 20, NULL);
  Rig rig;

  rig_init (&rig, "switch");
  gst_buffer_memset (noise, 0, 0, 20);
  expect (&rig, 3, 2, FRAME);
  fail_unless_equals_int (gst_harness_push (rig.layers[2], noise), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (rig.layers[2]), 0);
  expect (&rig, 3, 2, FRAME);
  rig_clear (&rig);
}

GST_END_TEST;

typedef struct
{
  Rig *rig;
  guint n_tops, tops[4];
} Tops;

/* As another layer's thread may while the first one's tells of the second layer */
static GstBusSyncReply
meanwhile (GstBus * bus G_GNUC_UNUSED, GstMessage * message, gpointer data)
{
  Tops *tops = data;
  guint top;

  if (!gst_message_has_name (message, "fairmix-layer"))
    return GST_BUS_PASS;
  gst_structure_get_uint (gst_message_get_structure (message), "top", &top);
  if (top == 1)
    expect (tops->rig, 1, 1, 300 * GST_MSECOND);
  tops->tops[tops->n_tops++ % G_N_ELEMENTS (tops->tops)] = top;
  return GST_BUS_PASS;
}

GST_START_TEST (test_the_last_word_on_the_top_layer_is_true)
{
  Rig rig;
  Tops tops = {.rig = &rig };

  rig_init (&rig, "switch");
  gst_bus_set_sync_handler (rig.bus, meanwhile, &tops, NULL);
  expect (&rig, 2, 2, FRAME);
  gst_bus_set_sync_handler (rig.bus, NULL, NULL, NULL);
  fail_unless_equals_int (tops.n_tops, 2);
  fail_unless_equals_int (tops.tops[0], 1);
  fail_unless_equals_int (tops.tops[1], 0);
  rig_clear (&rig);
}

GST_END_TEST;

/* Each time another layer is the highest. */
static void
change_top (gpointer user_data, guint i)
{
  guint layer = i % 2 == 0 ? 2 : 1;

  expect (user_data, layer, layer, 400 * GST_MSECOND);
}

GST_START_TEST (test_messages_that_nobody_hears_are_bounded_and_counted)
{
  Rig rig;
  Flood flood = {.say = change_top,.user_data = &rig };

  rig_init (&rig, "switch");
  assert_flood_is_bounded_and_counted (rig.element, rig.bus, &flood);
  rig_clear (&rig);
}

GST_END_TEST;

static void
note_top (GObject * element, GParamSpec * pspec G_GNUC_UNUSED, gpointer top)
{
  g_object_get (element, "top", (guint *) top, NULL);
}

/* Whoever binds to the top layer hears of that, too. */
GST_START_TEST (test_where_it_stops_no_layer_is_heard)
{
  guint top = 7;
  Rig rig;

  rig_init (&rig, "switch");
  g_signal_connect (rig.element, "notify::top", G_CALLBACK (note_top), &top);
  expect (&rig, 2, 2, FRAME);
  fail_unless_equals_int (top, 1);
  gst_element_set_state (rig.element, GST_STATE_READY);
  fail_unless_equals_int (top, 0);
  rig_clear (&rig);
}

GST_END_TEST;

/* The second layer was never held, the third is. */
GST_START_TEST (test_when_the_base_ends_all_is_over)
{
  GstEvent *event;
  Rig rig;

  rig_init (&rig, "add");
  push (&rig, 0, SSRC, 0, GST_SECOND);
  push (&rig, 2, SSRC, 0, GST_SECOND);
  gst_harness_push_event (rig.layers[0], gst_event_new_eos ());
  for (guint i = 0; i < N_LAYERS; i++) {
    gboolean ended = FALSE;

    while ((event = gst_harness_try_pull_event (rig.layers[i])) != NULL) {
      ended |= GST_EVENT_TYPE (event) == GST_EVENT_EOS;
      gst_event_unref (event);
    }
    fail_unless (ended, "layer %u", i);
  }
  rig_clear (&rig);
}

GST_END_TEST;

/* RTCP on the wrong pad, noise, no times, pads that go: nothing is lost but what
 * is not to be played */
GST_START_TEST (test_what_cannot_be_understood_passes)
{
  GstSegment segment;
  GstPad *sink, *src;
  Rig rig;

  rig_init (&rig, "add");
  for (gsize size = 0; size < 12; size++) {
    fail_unless_equals_int (gst_harness_push (rig.layers[2], size == 0
            ? gst_buffer_new () : gst_buffer_new_allocate (NULL, size, NULL)),
        GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (rig.layers[2]));
  }
  fail_if (GST_CLOCK_TIME_IS_VALID (push (&rig, 0, SSRC, 0,
              GST_CLOCK_TIME_NONE)));
  sink = gst_element_request_pad_simple (rig.element, "sink_7");
  src = gst_element_request_pad_simple (rig.element, "src_7");
  gst_element_release_request_pad (rig.element, src);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_send_event (sink, gst_event_new_stream_start ("x"));
  gst_pad_send_event (sink, gst_event_new_segment (&segment));
  fail_unless_equals_int (gst_pad_chain (sink, rtp_packet_new (1, 0, 10)),
      GST_FLOW_NOT_LINKED);
  gst_element_release_request_pad (rig.element, sink);
  gst_object_unref (src);
  gst_object_unref (sink);
  /* and it may stop and start again */
  gst_element_set_state (rig.element, GST_STATE_READY);
  gst_element_set_state (rig.element, GST_STATE_PLAYING);
  rig_clear (&rig);
}

GST_END_TEST;

/* Who asks for a layer that there is not gets no other one. */
GST_START_TEST (test_a_number_beyond_all_layers_is_none)
{
  GstElement *element = gst_element_factory_make ("alslayers", NULL);

  fail_unless (gst_element_request_pad_simple (element, "sink_70") == NULL);
  fail_unless (gst_element_request_pad_simple (element, "src_4000000000")
      == NULL);
  gst_object_unref (element);
}

GST_END_TEST;

typedef struct
{
  GstElement *element;
  const gchar *name;
  GstPad *second;
  gboolean asked;
} Asker;

/* As a second thread may while the first one is at it */
static void
ask_once_more (GstPadTemplate * templ G_GNUC_UNUSED, GstPad * pad G_GNUC_UNUSED,
    gpointer user_data)
{
  Asker *asker = user_data;

  if (asker->asked)
    return;
  asker->asked = TRUE;
  asker->second = gst_element_request_pad_simple (asker->element, asker->name);
}

/* Who does not say which gets another one, who does gets none. */
GST_START_TEST (test_two_who_ask_at_a_time_get_no_pad_twice)
{
  const gchar *const names[] = { "sink_%u", "src_3" };
  GstElement *element = gst_element_factory_make ("alslayers", NULL);
  Asker asker = { element, names[__i__], NULL, FALSE };
  GstPadTemplate *templ = gst_element_get_pad_template (element,
      __i__ == 0 ? "sink_%u" : "src_%u");
  GstPad *first;

  g_signal_connect (templ, "pad-created", G_CALLBACK (ask_once_more), &asker);
  first = gst_element_request_pad_simple (element, asker.name);
  fail_unless (first != NULL && asker.asked && first != asker.second);
  fail_unless ((asker.second != NULL) == (__i__ == 0));
  g_signal_handlers_disconnect_by_data (templ, &asker);
  gst_element_release_request_pad (element, first);
  gst_object_unref (first);
  first = gst_element_request_pad_simple (element, asker.name);
  fail_unless (first != NULL);
  gst_object_unref (first);
  gst_clear_object (&asker.second);
  gst_object_unref (element);
}

GST_END_TEST;

static Suite *
alslayers_suite (void)
{
  Suite *s = suite_create ("alslayers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_layers_meet_to_the_sample);
  tcase_add_loop_test (tc, test_times_of_before_a_flush_are_forgotten, 0, 2);
  tcase_add_test (tc, test_one_layer_of_those_that_hold_the_whole_is_played);
  tcase_add_test (tc, test_noise_is_no_layer);
  tcase_add_test (tc, test_the_last_word_on_the_top_layer_is_true);
  tcase_add_test (tc, test_messages_that_nobody_hears_are_bounded_and_counted);
  tcase_add_test (tc, test_where_it_stops_no_layer_is_heard);
  tcase_add_test (tc, test_when_the_base_ends_all_is_over);
  tcase_add_test (tc, test_what_cannot_be_understood_passes);
  tcase_add_test (tc, test_a_number_beyond_all_layers_is_none);
  tcase_add_loop_test (tc, test_two_who_ask_at_a_time_get_no_pad_twice, 0, 2);
  return s;
}

GST_CHECK_MAIN (alslayers);
