/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../gstfairmixcheck.h"

#include "fairmix/base/fmx-units.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "common/gstfairmixevents.h"

#define SSRC 0x11111111u
#define PAYLOAD 160             /* G.711, 20 ms: 80 kbit/s on the wire */
#define STREAM_BPS 80000

/* --- tfrcrate alone ----------------------------------------------------- */

typedef struct
{
  GstTestClock *clock;
  guint n_waiters;
  GstElement *element;
  GstBus *bus;
  GstHarness *rtp;
  GstHarness *rtcp;
} Fixture;

static void
setup_element (Fixture * f)
{
  f->clock = GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));
  f->n_waiters = 1;
  f->bus = gst_bus_new ();
  f->element = gst_element_factory_make ("tfrcrate", NULL);
  fail_unless (f->element != NULL);
  gst_object_ref_sink (f->element);
}

static void
setup_harness (Fixture * f)
{
  gst_element_set_bus (f->element, f->bus);
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  g_object_set (f->element, "ntp-time-source", 3 /* clock-time */ , NULL);
  f->rtcp = gst_harness_new_with_element (f->element, "rtcp_sink", "rtcp_src");
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  f->rtp = gst_harness_new_with_element (f->element, "sink", "src");
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  fail_unless (gst_element_set_state (f->element,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (f->rtcp, "application/x-rtcp");
  gst_harness_set_src_caps_str (f->rtp, RTP_CAPS_PCMU);
  clock_wait_idle (f->clock, f->n_waiters);
}

static void
setup (Fixture * f)
{
  setup_element (f);
  setup_harness (f);
}

static void
teardown (Fixture * f)
{
  gst_harness_teardown (f->rtp);
  gst_harness_teardown (f->rtcp);
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->element);
  gst_object_unref (f->clock);
}

static GstClockTime
now (Fixture * f)
{
  return gst_clock_get_time (GST_CLOCK (f->clock));
}

static void
advance (Fixture * f, GstClockTime by)
{
  clock_advance_to (f->clock, f->n_waiters, now (f) + by);
}

static gdouble
stat (GstElement * element, const gchar * name)
{
  GValue as_double = G_VALUE_INIT;
  GstStructure *stats;
  gdouble n;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_has_field (stats, name), "no field %s", name);
  g_value_init (&as_double, G_TYPE_DOUBLE);
  fail_unless (g_value_transform (gst_structure_get_value (stats, name),
          &as_double));
  n = g_value_get_double (&as_double);
  gst_structure_free (stats);
  return n;
}

static gchar *
stat_string (GstElement * element, const gchar * name)
{
  GstStructure *stats;
  gchar *string;

  g_object_get (element, "stats", &stats, NULL);
  string = g_strdup (gst_structure_get_string (stats, name));
  gst_structure_free (stats);
  return string;
}

static void
assert_stat_string (GstElement * element, const gchar * name,
    const gchar * expected)
{
  gchar *string = stat_string (element, name);

  fail_unless_equals_string (string, expected);
  g_free (string);
}

static guint
target (Fixture * f)
{
  guint bitrate;

  g_object_get (f->element, "target-bitrate", &bitrate, NULL);
  return bitrate;
}

/* Returns: the bitrate of the last target event that went upstream; -1 if
 * there was none since the last call */
static gint64
last_target_event (Fixture * f)
{
  gint64 last = -1;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (f->rtp)) != NULL) {
    guint bitrate;

    if (gst_fairmix_target_bitrate_event_parse (event, &bitrate))
      last = bitrate;
    gst_event_unref (event);
  }
  return last;
}

static guint
drain (GstHarness * harness)
{
  GstBuffer *buffer;
  guint n = 0;

  while ((buffer = gst_harness_try_pull (harness)) != NULL) {
    gst_buffer_unref (buffer);
    n++;
  }
  return n;
}

static GstFlowReturn
push (Fixture * f, guint32 ssrc, guint16 seq)
{
  return gst_harness_push (f->rtp, rtp_packet_new (ssrc, seq, PAYLOAD));
}

/* Pops messages of @type; returns how many; @text: (out) (optional): of the
 * last one. */
static guint
pop_warnings (Fixture * f, gchar ** text)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (f->bus, GST_MESSAGE_WARNING)) != NULL) {
    GError *error;
    gchar *debug;

    gst_message_parse_warning (message, &error, &debug);
    if (text != NULL) {
      g_free (*text);
      *text = g_strdup_printf ("%s %s", error->message, debug);
    }
    g_error_free (error);
    g_free (debug);
    gst_message_unref (message);
    n++;
  }
  return n;
}

/* A receiver report, in the middle of a compound packet as they come. */
static GstBuffer *
receiver_report_new (const FmxReportBlock * blocks, guint n)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtcp_buffer_new (1400);
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  fail_unless (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet));
  gst_rtcp_packet_rr_set_ssrc (&packet, 0x33333333);
  for (guint i = 0; i < n; i++)
    fail_unless (gst_rtcp_packet_add_rb (&packet, blocks[i].ssrc,
            blocks[i].fraction_lost, blocks[i].cumulative_lost,
            blocks[i].ext_highest_seq, blocks[i].jitter_ts, blocks[i].lsr,
            blocks[i].dlsr));
  fail_unless (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_SDES, &packet));
  gst_rtcp_packet_sdes_add_item (&packet, 0x33333333);
  gst_rtcp_packet_sdes_add_entry (&packet, GST_RTCP_SDES_CNAME, 4,
      (const guint8 *) "ears");
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

GST_START_TEST (test_the_target_goes_upstream_and_again_to_a_new_stream)
{
  guint initial;
  Fixture f;

  setup (&f);
  g_object_get (f.element, "initial-bitrate", &initial, NULL);
  fail_unless_equals_int (last_target_event (&f), initial);
  fail_unless_equals_int (target (&f), initial);
  fail_unless_equals_int (last_target_event (&f), -1);

  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_stream_start ("new")));
  fail_unless_equals_int (last_target_event (&f), initial);

  g_object_set (f.element, "max-bitrate", initial / 2, NULL);
  fail_unless_equals_int (last_target_event (&f), initial / 2);
  fail_unless_equals_int (target (&f), initial / 2);
  teardown (&f);
}

GST_END_TEST;

static void
count_notify (GObject * object, GParamSpec * pspec, guint * n)
{
  guint bitrate;

  /* the property may be read from the handler */
  g_object_get (object, "target-bitrate", &bitrate, NULL);
  (*n)++;
}

GST_START_TEST (test_target_bitrate_notifies_once_a_change)
{
  guint n = 0;
  Fixture f;

  setup (&f);
  g_signal_connect (f.element, "notify::target-bitrate",
      G_CALLBACK (count_notify), &n);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  fail_unless_equals_int (n, 1);
  g_object_set (f.element, "max-bitrate", 40000, NULL);
  fail_unless_equals_int (n, 2);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_rtp_passes_untouched_while_nothing_is_dropped)
{
  GstBufferList *list = gst_buffer_list_new ();
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *buffer = rtp_packet_new (SSRC, i, PAYLOAD);

    gst_buffer_list_add (list, rtp_packet_new (SSRC + 1, i, PAYLOAD));
    gst_buffer_ref (buffer);
    fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
    fail_unless (gst_harness_pull (f.rtp) == buffer);
    gst_buffer_unref (buffer);
    gst_buffer_unref (buffer);
  }

  gst_buffer_list_ref (list);
  fail_unless_equals_int (gst_pad_push_list (f.rtp->srcpad, list), GST_FLOW_OK);
  for (guint i = 0; i < 5; i++) {
    GstBuffer *out = gst_harness_pull (f.rtp);

    fail_unless (out == gst_buffer_list_get (list, i));
    gst_buffer_unref (out);
  }
  gst_buffer_list_unref (list);
  fail_unless_equals_int (stat (f.element, "n-sent"), 10);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_receiver_reports_alone_tell_rtt_and_loss)
{
  const GstClockTime rtt = 90 * GST_MSECOND, hold = 250 * GST_MSECOND;
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 1500; i++) {
    fail_unless_equals_int (push (&f, SSRC, i), GST_FLOW_OK);
    drain (f.rtp);
    advance (&f, FRAME);
    if (i % 50 == 49) {
      GstClockTime sr = now (&f) - rtt - hold;
      FmxReportBlock block = { SSRC, 256 / 50, (i + 1) / 50, i, 0,
        (guint32) gst_util_uint64_scale (sr, 65536, GST_SECOND),
        (guint32) gst_util_uint64_scale (hold, 65536, GST_SECOND)
      };
      GstBuffer *report = receiver_report_new (&block, 1);

      fail_unless_equals_int (gst_harness_push (f.rtcp, report), GST_FLOW_OK);
      fail_unless (gst_harness_pull (f.rtcp) == report);
      gst_buffer_unref (report);
    }
  }
  assert_stat_string (f.element, "feedback", "report-blocks");
  fail_unless (ABS (stat (f.element, "rtt") - rtt) < GST_MSECOND,
      "rtt %f ns", stat (f.element, "rtt"));
  fail_unless (stat (f.element, "loss-event-rate") > 0.01
      && stat (f.element, "loss-event-rate") < 0.04, "p = %f",
      stat (f.element, "loss-event-rate"));
  fail_unless_equals_int (pop_warnings (&f, NULL), 0);
  teardown (&f);
}

GST_END_TEST;

/* --- tfrcrate, a path, rtpccfb ------------------------------------------ */

typedef struct
{
  GstBuffer *buffer;
  GstClockTime arrival;
} Flying;

typedef struct _Path Path;
struct _Path
{
  Fixture f;
  GstElement *receiver;
  GstHarness *media;
  GstHarness *feedback;

  GstClockTime forward, backward;       /* delays */
    gboolean (*drops) (Path * path, GstBuffer * packet);
  guint n_streams;
  guint16 next_seq[8];

  GQueue to_receiver, to_sender;        /* of Flying */
  guint n_packets;              /* that left the sender */
  guint n_dropped;              /* of those, on the path */
  guint n_probes;
  GstClockTime last_probe;
  gint64 last_seq[8];           /* that left, by stream; -1 = none */
  guint n_gaps;                 /* in these */
};

static gboolean
drop_nothing (Path * path, GstBuffer * packet)
{
  return FALSE;
}

static gboolean
drop_everything (Path * path, GstBuffer * packet)
{
  return TRUE;
}

static gboolean
drop_every_20th (Path * path, GstBuffer * packet)
{
  return path->n_packets % 20 == 0;
}

static void
path_setup (Path * path, guint n_streams)
{
  memset (path, 0, sizeof *path);
  setup (&path->f);
  path->receiver = gst_element_factory_make ("rtpccfb", NULL);
  gst_element_set_clock (path->receiver, GST_CLOCK (path->f.clock));
  path->feedback =
      gst_harness_new_with_element (path->receiver, NULL, "rtcp_src");
  path->media = gst_harness_new_with_element (path->receiver, "sink", "src");
  gst_element_set_clock (path->receiver, GST_CLOCK (path->f.clock));
  fail_unless (gst_element_set_state (path->receiver,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (path->media, RTP_CAPS_PCMU);
  path->f.n_waiters = 2;
  path->forward = 40 * GST_MSECOND;
  path->backward = 30 * GST_MSECOND;
  path->drops = drop_nothing;
  path->n_streams = n_streams;
  for (guint i = 0; i < G_N_ELEMENTS (path->last_seq); i++)
    path->last_seq[i] = -1;
  g_queue_init (&path->to_receiver);
  g_queue_init (&path->to_sender);
}

static void
flying_free (gpointer data)
{
  Flying *flying = data;

  gst_buffer_unref (flying->buffer);
  g_free (flying);
}

static void
path_teardown (Path * path)
{
  g_queue_clear_full (&path->to_receiver, flying_free);
  g_queue_clear_full (&path->to_sender, flying_free);
  gst_harness_teardown (path->media);
  gst_harness_teardown (path->feedback);
  gst_object_unref (path->receiver);
  teardown (&path->f);
}

static void
fly (GQueue * queue, GstBuffer * buffer, GstClockTime arrival)
{
  Flying *flying = g_new (Flying, 1);

  flying->buffer = buffer;
  flying->arrival = arrival;
  g_queue_push_tail (queue, flying);
}

static void
land (GQueue * queue, GstHarness * where, GstClockTime time)
{
  while (!g_queue_is_empty (queue)
      && ((Flying *) g_queue_peek_head (queue))->arrival <= time) {
    Flying *flying = g_queue_pop_head (queue);

    fail_unless_equals_int (gst_harness_push (where, flying->buffer),
        GST_FLOW_OK);
    g_free (flying);
  }
}

static void
path_take_packet (Path * path, GstBuffer * packet, GstClockTime time)
{
  guint stream = rtp_packet_ssrc (packet) - SSRC;
  guint16 seq = rtp_packet_seq (packet);

  fail_unless (stream < G_N_ELEMENTS (path->last_seq));
  if (path->last_seq[stream] >= 0
      && seq != (guint16) (path->last_seq[stream] + 1))
    path->n_gaps++;
  path->last_seq[stream] = seq;
  if (rtp_packet_payload_bytes (packet) == 0) {
    path->n_probes++;
    path->last_probe = time;
  }
  path->n_packets++;
  if (path->drops (path, packet)) {
    path->n_dropped++;
    gst_buffer_unref (packet);
  } else {
    fly (&path->to_receiver, packet, time + path->forward);
  }
}

static void
path_step (Path * path, GstClockTime time)
{
  GstBuffer *buffer;

  clock_advance_to (path->f.clock, path->f.n_waiters, time);
  if (time % FRAME == 0)
    for (guint i = 0; i < path->n_streams; i++)
      fail_unless_equals_int (push (&path->f, SSRC + i, path->next_seq[i]++),
          GST_FLOW_OK);
  land (&path->to_receiver, path->media, time);
  land (&path->to_sender, path->f.rtcp, time);
  while ((buffer = gst_harness_try_pull (path->f.rtp)) != NULL)
    path_take_packet (path, buffer, time);
  while ((buffer = gst_harness_try_pull (path->feedback)) != NULL)
    fly (&path->to_sender, buffer, time + path->backward);
  drain (path->media);
  drain (path->f.rtcp);
}

static void
path_run (Path * path, GstClockTime duration)
{
  GstClockTime end = now (&path->f) + duration;

  while (now (&path->f) < end)
    path_step (path, now (&path->f) + GST_MSECOND);
}

static void
path_run_into_probing (Path * path)
{
  path_run (path, 5 * GST_SECOND);
  path->drops = drop_everything;
  path_run (path, 5 * GST_SECOND);
  assert_stat_string (path->f.element, "state", "probing");
}

GST_START_TEST (test_rtt_leaves_out_the_time_that_feedback_was_held)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  assert_stat_string (path.f.element, "feedback", "per-packet");
  assert_stat_string (path.f.element, "state", "sending");
  /* one voice is acknowledged every 100 ms or so; the path has 70 ms, the
   * path of the test steps of 1 ms, the wire of 1/1024 s */
  fail_unless (stat (path.receiver, "n-reports") < 70);
  fail_unless (stat (path.f.element, "rtt") >= 68 * GST_MSECOND
      && stat (path.f.element, "rtt") <= 75 * GST_MSECOND, "rtt %f ns",
      stat (path.f.element, "rtt"));
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_on_a_clean_path_the_target_leaves_room_for_more)
{
  Path path;

  path_setup (&path, 2);
  path_run (&path, 10 * GST_SECOND);
  fail_unless (target (&path.f) >= 3 * STREAM_BPS, "target %u",
      target (&path.f));
  fail_unless_equals_int (last_target_event (&path.f), target (&path.f));
  fail_unless_equals_int (stat (path.f.element, "n-lost"), 0);
  fail_unless_equals_int (stat (path.f.element, "n-dropped"), 0);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_each_loss_on_the_path_is_counted)
{
  gdouble lost;
  Path path;

  path_setup (&path, 2);
  path.drops = drop_every_20th;
  path_run (&path, 20 * GST_SECOND);
  path.drops = drop_nothing;
  path_run (&path, GST_SECOND);
  lost = stat (path.f.element, "n-lost");
  fail_unless (ABS (lost - path.n_dropped) <= 1, "%f of %u", lost,
      path.n_dropped);
  fail_unless (stat (path.f.element, "loss-event-rate") > 0.0);
  fail_unless (stat (path.f.element, "loss-fraction") < 0.1);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_total_loss_leads_to_probing_and_its_end_to_recovery)
{
  guint n_packets, n_probes;
  Path path;

  path_setup (&path, 3);
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (path.n_probes, 0);

  path.drops = drop_everything;
  path_run (&path, 5 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "probing");
  fail_unless_equals_int (target (&path.f), 0);
  fail_unless_equals_int (last_target_event (&path.f), 0);

  /* nothing but one probe a second */
  n_packets = path.n_packets;
  n_probes = path.n_probes;
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (path.n_packets - n_packets, 5);
  fail_unless_equals_int (path.n_probes - n_probes, 5);
  fail_unless (stat (path.f.element, "n-dropped") > 0);

  path.drops = drop_nothing;
  n_packets = path.n_packets;
  path_run (&path, 20 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  fail_unless (target (&path.f) > 0);
  fail_unless (path.n_packets - n_packets > 15 * 50 * path.n_streams,
      "%u packets", path.n_packets - n_packets);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_without_any_feedback_sending_ends)
{
  Path path;

  path_setup (&path, 1);
  path.drops = drop_everything;
  path_run (&path, 11 * GST_SECOND);
  assert_stat_string (path.f.element, "feedback", "none");
  fail_unless (target (&path.f) <= STREAM_BPS / 4);
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (target (&path.f), 0);
  path.n_packets = 0;
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (target (&path.f), 0);
  fail_unless (path.n_packets <= 10, "%u packets", path.n_packets);
  path_teardown (&path);
}

GST_END_TEST;


GST_START_TEST (test_every_algorithm_and_policy_works_and_can_be_changed)
{
  guint n_algorithms, n_policies;
  GEnumClass *classes[2];
  Path path;
  gint algorithm;

  path_setup (&path, 2);
  g_object_get (path.f.element, "algorithm", &algorithm, NULL);
  classes[0] = g_type_class_ref (g_type_from_name ("GstTfrcRateAlgorithm"));
  classes[1] = g_type_class_ref (g_type_from_name ("GstTfrcRatePolicy"));
  n_algorithms = classes[0]->n_values;
  n_policies = classes[1]->n_values;
  fail_unless (n_algorithms >= 3);
  fail_unless_equals_string (g_enum_get_value (classes[0],
          algorithm)->value_nick, "fairmix");
  fail_unless_equals_int (n_policies, 4);
  for (guint i = 0; i < n_algorithms * n_policies; i++) {
    g_object_set (path.f.element, "algorithm", i % n_algorithms,
        "policy", i / n_algorithms, NULL);
    path_run (&path, 4 * GST_SECOND);
    fail_unless (target (&path.f) >= 2 * STREAM_BPS, "%s, %s: %u",
        classes[0]->values[i % n_algorithms].value_nick,
        classes[1]->values[i / n_algorithms].value_nick, target (&path.f));
  }
  g_type_class_unref (classes[0]);
  g_type_class_unref (classes[1]);
  path_teardown (&path);
}

GST_END_TEST;

/* Target 0 says that nothing may be sent: no policy says so of its own. */
GST_START_TEST (test_no_policy_goes_below_the_minimum)
{
  Path path;

  path_setup (&path, 1);
  for (guint policy = 0; policy < 4; policy++) {
    g_object_set (path.f.element, "max-bitrate", 1, "min-bitrate", 1,
        "policy", policy, NULL);
    for (guint k = 0; k < 110; k++) {
      path_run (&path, 100 * GST_MSECOND);
      fail_unless_equals_int (target (&path.f), 1);
    }
  }
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_a_minimum_that_rises_stops_nothing)
{
  Path path;

  path_setup (&path, 1);
  g_object_set (path.f.element, "max-bitrate", 1, "min-bitrate", 1, NULL);
  path_run (&path, GST_SECOND);
  fail_unless_equals_int (target (&path.f), 1);
  g_object_set (path.f.element, "max-bitrate", 0, "min-bitrate", 60000, NULL);
  fail_unless_equals_int (target (&path.f), 60000);
  path_run (&path, GST_SECOND);
  fail_unless (target (&path.f) >= 60000);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_absurd_settings_do_no_harm)
{
  static const guint bitrates[] = { 1, 0, 80000, G_MAXUINT };
  Path path;

  path_setup (&path, 1);
  for (guint min = 0; min < G_N_ELEMENTS (bitrates); min++)
    for (guint max = 0; max < G_N_ELEMENTS (bitrates); max++) {
      g_object_set (path.f.element, "min-bitrate", MAX (bitrates[min], 1),
          "max-bitrate", bitrates[max], "loss-limit", 0.0,
          "rto-min", GST_MSECOND, "alpha", 0.0, "segment-size", 0, NULL);
      path_run (&path, 100 * GST_MSECOND);
      fail_unless (bitrates[max] == 0 || target (&path.f) <= bitrates[max]);
    }
  gst_element_set_state (path.f.element, GST_STATE_READY);
  g_object_set (path.f.element, "min-bitrate", 1000, "max-bitrate", 500,
      "initial-bitrate", 2000, NULL);
  gst_element_set_state (path.f.element, GST_STATE_PLAYING);
  clock_wait_idle (path.f.clock, 2);
  fail_unless_equals_int (target (&path.f), 500);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_probes_are_empty_packets_of_the_stream_last_seen)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *probe;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  do {
    clock_step (path.f.clock, 2);
    probe = gst_harness_try_pull (path.f.rtp);
  } while (probe == NULL);

  /* [RFC3550 5.1] valid, nothing but padding */
  fail_unless (gst_rtp_buffer_map (probe, GST_MAP_READ, &rtp));
  fail_unless (gst_rtp_buffer_get_padding (&rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp), 0);
  fail_unless_equals_int (gst_rtp_buffer_get_ssrc (&rtp), SSRC);
  fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), 0);
  fail_unless_equals_int (gst_rtp_buffer_get_seq (&rtp),
      (guint16) (path.last_seq[0] + 1));
  /* where the media is, not where it was when the last packet left */
  fail_unless_equals_int (gst_rtp_buffer_get_timestamp (&rtp),
      (path.next_seq[0] - 1) * FRAME_SAMPLES);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (probe),
      (path.next_seq[0] - 1) * FRAME);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (probe);
  path_teardown (&path);
}

GST_END_TEST;

/* After a time of probing numbers are written anew: in lists, too, without
 * touching what upstream still holds, with metas and flags. */
GST_START_TEST (test_renumbering_copies_and_keeps_lists_metas_and_flags)
{
  GstBufferList *list = gst_buffer_list_new ();
  GstCaps *reference = gst_caps_new_empty_simple ("timestamp/x-test");
  guint16 seq;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  seq = path.next_seq[0];

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = rtp_packet_new (SSRC, seq + i, PAYLOAD);

    gst_buffer_add_reference_timestamp_meta (buffer, reference, i, 0);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DROPPABLE);
    gst_buffer_list_add (list, buffer);
  }
  gst_buffer_list_ref (list);
  fail_unless_equals_int (gst_pad_push_list (path.f.rtp->srcpad, list),
      GST_FLOW_OK);
  fail_unless_equals_int (gst_buffer_list_length (list), 3);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *held = gst_buffer_list_get (list, i);
    GstBuffer *out = gst_harness_pull (path.f.rtp);
    GstReferenceTimestampMeta *meta =
        gst_buffer_get_reference_timestamp_meta (out, reference);

    fail_unless (out != held);
    fail_unless_equals_int (rtp_packet_seq (held), seq + i);
    fail_unless_equals_int (rtp_packet_seq (out),
        (guint16) (path.last_seq[0] + 1 + i));
    fail_unless (meta != NULL && meta->timestamp == i);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DROPPABLE));
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), (seq + i) * FRAME);
    gst_buffer_unref (out);
  }
  gst_buffer_list_unref (list);
  gst_caps_unref (reference);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_a_flush_while_probing_holds_the_probes_until_the_segment)
{
  GstSegment segment;
  guint n_probes;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);

  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_flush_stop (TRUE)));
  path.n_streams = 0;
  n_probes = path.n_probes;
  path_run (&path, 4 * GST_SECOND);
  fail_unless_equals_int (path.n_probes, n_probes);

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (path.f.rtp,
          gst_event_new_segment (&segment)));
  path.n_streams = 1;
  path_run (&path, 4 * GST_SECOND);
  fail_unless (path.n_probes > n_probes);
  fail_unless_equals_int (path.n_gaps, 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_after_eos_there_are_no_probes)
{
  guint n_probes;
  Path path;

  path_setup (&path, 1);
  path_run_into_probing (&path);
  fail_unless (gst_harness_push_event (path.f.rtp, gst_event_new_eos ()));
  path.n_streams = 0;
  n_probes = stat (path.f.element, "n-probes");
  path_run (&path, 5 * GST_SECOND);
  fail_unless_equals_int (stat (path.f.element, "n-probes"), n_probes);
  path_teardown (&path);
}

GST_END_TEST;

/* --- what comes from the network ---------------------------------------- */

static const guint8 rr_one_block_missing[] = { 0x81, 201, 0, 1, 1, 2, 3, 4 };

static const guint8 sr_too_short[] = {
  0x80, 200, 0, 3, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0
};

static const guint8 rr_31_blocks_in_one[] = {
  0x9f, 201, 0, 7, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 0, 0, 0,
  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
};
static const guint8 length_beyond_end[] = { 0x80, 201, 0, 9, 1, 2, 3, 4 };
static const guint8 not_rtcp[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static const guint8 ccfb_no_timestamp[] = { 0x8b, 205, 0, 1, 1, 2, 3, 4 };

static const guint8 ccfb_65535_reports[] = {
  0x8b, 205, 0, 4, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 0, 0xff, 0xff,
  0, 0, 0, 0
};

static const guint8 ccfb_all_padding[] = {
  0xab, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 8
};

static const guint8 ccfb_too_much_padding[] = {
  0xab, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 252
};

static const guint8 good_rr_bad_ccfb[] = {
  0x80, 201, 0, 1, 1, 2, 3, 4, 0x8b, 205, 0, 1, 1, 2, 3, 4
};

static const guint8 ccfb_empty[] = {
  0x8b, 205, 0, 2, 1, 2, 3, 4, 0, 0, 0, 0
};
static const guint8 rr_empty[] = { 0x80, 201, 0, 1, 1, 2, 3, 4 };

static const guint8 nack[] = {
  0x81, 205, 0, 3, 1, 2, 3, 4, 0x11, 0x11, 0x11, 0x11, 0, 1, 0, 0
};

static const guint8 app[] = {
  0x80, 204, 0, 2, 1, 2, 3, 4, 'T', 'E', 'S', 'T'
};
static const guint8 reduced_bye[] = { 0x81, 203, 0, 1, 1, 2, 3, 4 };

GST_START_TEST (test_malformed_rtcp_is_counted_and_passes)
{
#define CASE(bytes, malformed) { #bytes, bytes, sizeof bytes, malformed }
  static const struct
  {
    const gchar *name;
    const guint8 *data;
    gsize size;
    gboolean malformed;
  } cases[] = {
    CASE (rr_one_block_missing, TRUE), CASE (sr_too_short, TRUE),
    CASE (rr_31_blocks_in_one, TRUE), CASE (length_beyond_end, TRUE),
    CASE (not_rtcp, TRUE), CASE (ccfb_no_timestamp, TRUE),
    CASE (ccfb_65535_reports, TRUE), CASE (ccfb_all_padding, TRUE),
    CASE (ccfb_too_much_padding, TRUE), CASE (good_rr_bad_ccfb, TRUE),
    CASE (ccfb_empty, FALSE), CASE (rr_empty, FALSE), CASE (nack, FALSE),
    CASE (app, FALSE), CASE (reduced_bye, FALSE),
  };
#undef CASE
  guint n_malformed = 0;
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5; i++)
    push (&f, SSRC, i);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *buffer = gst_buffer_new_memdup (cases[i].data, cases[i].size);

    n_malformed += cases[i].malformed;
    fail_unless_equals_int (gst_harness_push (f.rtcp, buffer), GST_FLOW_OK);
    fail_unless (gst_harness_pull (f.rtcp) == buffer);
    gst_buffer_unref (buffer);
    fail_unless (stat (f.element, "n-malformed-rtcp") == n_malformed, "%s",
        cases[i].name);
  }
  fail_unless_equals_int (stat (f.element, "n-rtcp"), G_N_ELEMENTS (cases));
  assert_stat_string (f.element, "feedback", "none");
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_random_rtcp_does_no_harm)
{
  GRand *rand = g_rand_new_with_seed (8888);
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 20000; i++) {
    guint8 bytes[64];
    gsize size = g_rand_int_range (rand, 1, sizeof bytes / 4) * 4;

    for (gsize b = 0; b < size; b++)
      bytes[b] = g_rand_int (rand);
    bytes[0] = 0x80 | (bytes[0] & 0x3f);        /* near enough to be read */
    bytes[1] = 200 + bytes[1] % 8;
    bytes[2] = 0;
    bytes[3] = size / 4 - 1;
    if (bytes[1] == 205)
      bytes[0] = (bytes[0] & 0xe0) | 11;
    if (i % 10 == 0) {
      push (&f, SSRC + i % 7, i / 10);
      drain (f.rtp);
    }
    gst_harness_push (f.rtcp, gst_buffer_new_memdup (bytes, size));
    drain (f.rtcp);
  }
  g_rand_free (rand);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_all_report_blocks_of_all_streams_count)
{
  FmxReportBlock blocks[31];
  Fixture f;

  setup (&f);
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++) {
    push (&f, SSRC + i, 10);
    blocks[i] = (FmxReportBlock) {
    SSRC + i, 0, 0, 10, 0, 0, 0};
  }
  gst_harness_push (f.rtcp, receiver_report_new (blocks,
          G_N_ELEMENTS (blocks)));
  fail_unless_equals_int (stat (f.element, "n-feedback"), 31);
  /* a foreign one does not */
  blocks[0].ssrc = 1;
  gst_harness_push (f.rtcp, receiver_report_new (blocks, 1));
  fail_unless_equals_int (stat (f.element, "n-feedback"), 31);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_thousands_of_ssrcs_take_bounded_memory)
{
  Fixture f;

  setup (&f);
  for (guint i = 0; i < 5000; i++) {
    fail_unless_equals_int (push (&f, i * 77, 1000 + i), GST_FLOW_OK);
    fail_unless_equals_int (drain (f.rtp), target (&f) > 0);
    if (i % 100 == 0)
      advance (&f, GST_MSECOND);
  }
  fail_unless (stat (f.element, "n-streams") <= 256);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_what_is_not_rtp_passes_uncounted)
{
  GstBuffer *buffer = gst_buffer_new_memdup (not_rtcp, sizeof not_rtcp);
  Fixture f;

  setup (&f);
  fail_unless_equals_int (gst_harness_push (f.rtp, buffer), GST_FLOW_OK);
  fail_unless (gst_harness_pull (f.rtp) == buffer);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (stat (f.element, "n-not-rtp"), 1);
  fail_unless_equals_int (stat (f.element, "n-sent"), 0);
  teardown (&f);
}

GST_END_TEST;

/* --- the warning -------------------------------------------------------- */

GST_START_TEST (test_5_s_without_feedback_warn_once_and_say_what_to_wire)
{
  gchar *text = NULL;
  Path path;

  path_setup (&path, 1);
  path.drops = drop_everything;
  path_run (&path, 4900 * GST_MSECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_run (&path, 200 * GST_MSECOND);
  fail_unless_equals_int (pop_warnings (&path.f, &text), 1);
  fail_unless (strstr (text, "nothing has arrived at rtcp_sink") != NULL);
  fail_unless (strstr (text, "rtpccfb") != NULL);
  fail_unless (strstr (text, "recv_rtcp_sink_0") != NULL);
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  g_free (text);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_it_warns_again_when_feedback_came_and_stopped)
{
  gchar *text = NULL;
  Path path;

  path_setup (&path, 1);
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path.drops = drop_everything;
  path_run (&path, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, &text), 1);
  fail_unless (strstr (text, "says nothing") != NULL, "%s", text);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path.drops = drop_everything;
  path_run (&path, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 1);
  g_free (text);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_silence_is_no_reason_to_warn)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  path.n_streams = 0;
  path_run (&path, 30 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_nobody_need_answer_after_eos)
{
  Path path;

  path_setup (&path, 1);
  path_run (&path, 5 * GST_SECOND);
  path.drops = drop_everything;
  path_run (&path, 1 * GST_SECOND);
  path.n_streams = 0;
  fail_unless (gst_harness_push_event (path.f.rtp, gst_event_new_eos ()));
  path_run (&path, 20 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&path.f, NULL), 0);
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_an_unlinked_rtcp_sink_is_named)
{
  GstTestClock *clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  GstBus *bus = gst_bus_new ();
  Fixture f = { clock, 1, element, bus, NULL, NULL };
  gchar *text = NULL;

  gst_element_set_bus (element, bus);
  gst_element_set_clock (element, GST_CLOCK (clock));
  f.rtp = gst_harness_new_with_element (element, "sink", "src");
  gst_element_set_clock (element, GST_CLOCK (clock));
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (f.rtp, RTP_CAPS_PCMU);
  clock_wait_idle (clock, 1);
  push (&f, SSRC, 1);
  advance (&f, 6 * GST_SECOND);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "rtcp_sink is not linked") != NULL);
  g_free (text);
  gst_harness_teardown (f.rtp);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
  gst_object_unref (clock);
}

GST_END_TEST;

/* --- messages and the encoder ------------------------------------------- */

GST_START_TEST (test_each_decision_is_an_element_message)
{
  gboolean up = FALSE, probe = FALSE, resume = FALSE;
  GstMessage *message;
  Path path;

  path_setup (&path, 1);
  path_run (&path, 10 * GST_SECOND);
  path.drops = drop_everything;
  path_run (&path, 5 * GST_SECOND);
  path.drops = drop_nothing;
  path_run (&path, 10 * GST_SECOND);
  while ((message = gst_bus_pop_filtered (path.f.bus,
              GST_MESSAGE_ELEMENT)) != NULL) {
    const GstStructure *s = gst_message_get_structure (message);
    const gchar *reason = gst_structure_get_string (s, "reason");
    gdouble bps, rtt_ms, p, streams;

    fail_unless (gst_structure_has_name (s, "fairmix-rate-decision"));
    fail_unless (gst_structure_get (s, "target-bps", G_TYPE_DOUBLE, &bps,
            "rtt-ms", G_TYPE_DOUBLE, &rtt_ms, "loss-event-rate",
            G_TYPE_DOUBLE, &p, "streams", G_TYPE_DOUBLE, &streams, NULL));
    up |= g_str_equal (reason, "up") && rtt_ms >= 70.0;
    probe |= g_str_equal (reason, "probe") && bps == 0.0;
    resume |= g_str_equal (reason, "resume") && bps > 0.0;
    gst_message_unref (message);
  }
  fail_unless (up);
  fail_unless (probe);
  fail_unless (resume);
  path_teardown (&path);
}

GST_END_TEST;

/* Something with a bitrate, of a narrow range. */
typedef struct
{
  GstElement parent;
  gint bitrate;
} FakeEncoder;
typedef GstElementClass FakeEncoderClass;
static GType fake_encoder_get_type (void);
G_DEFINE_TYPE (FakeEncoder, fake_encoder, GST_TYPE_ELEMENT);

static void
fake_encoder_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  ((FakeEncoder *) object)->bitrate = g_value_get_int (value);
}

static void
fake_encoder_init (FakeEncoder * encoder)
{
}

static void
fake_encoder_class_init (FakeEncoderClass * klass)
{
  G_OBJECT_CLASS (klass)->set_property = fake_encoder_set_property;
  g_object_class_install_property (G_OBJECT_CLASS (klass), 1,
      g_param_spec_int ("bitrate", "Bitrate", "in bits/s", 6000, 50000, 6000,
          G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS));
}

/* Sets up a tfrcrate in a bin, with @encoder in it and @other beside it, or
 * with @encoder beside it. */
static GstElement *
setup_pipeline (Fixture * f, GstElement * encoder, GstElement * other)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *bin = gst_bin_new (NULL);

  setup_element (f);
  gst_bin_add (GST_BIN (bin), f->element);
  if (other != NULL)
    gst_bin_add (GST_BIN (pipeline), other);
  gst_bin_add (GST_BIN (other != NULL ? bin : pipeline), encoder);
  gst_bin_add (GST_BIN (pipeline), bin);
  setup_harness (f);
  return pipeline;
}

static void
teardown_pipeline (Fixture * f, GstElement * pipeline)
{
  GstObject *bin = gst_object_get_parent (GST_OBJECT (f->element));

  gst_bin_remove (GST_BIN (bin), f->element);
  gst_object_unref (bin);
  gst_object_unref (pipeline);
  teardown (f);
}

GST_START_TEST (test_the_encoder_gets_the_target_less_the_headers)
{
  FakeEncoder *encoder = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Fixture f;

  pipeline = setup_pipeline (&f, GST_ELEMENT (encoder), NULL);
  g_object_set (f.element, "encoder", "enc", "max-bitrate", 60000, NULL);
  /* 40 bytes of headers every 20 ms are 16 kbit/s */
  fail_unless_equals_int (encoder->bitrate, 44000);
  g_object_set (f.element, "max-bitrate", 40000, NULL);
  fail_unless_equals_int (encoder->bitrate, 24000);
  /* packets of 10 ms: twice the headers */
  for (guint i = 0; i < 100; i++) {
    fail_unless_equals_int (push (&f, SSRC, i), GST_FLOW_OK);
    advance (&f, 10 * GST_MSECOND);
  }
  fail_unless (ABS (encoder->bitrate - 8000) < 3000, "%d", encoder->bitrate);
  /* clamped to the range of the property */
  g_object_set (f.element, "max-bitrate", 20001, NULL);
  fail_unless_equals_int (encoder->bitrate, 6000);
  fail_unless_equals_int (pop_warnings (&f, NULL), 0);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_of_two_encoders_of_one_name_the_nearer_one_is_driven)
{
  FakeEncoder *near = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  FakeEncoder *far = g_object_new (fake_encoder_get_type (), "name",
      "enc", NULL);
  GstElement *pipeline;
  Fixture f;

  pipeline = setup_pipeline (&f, GST_ELEMENT (near), GST_ELEMENT (far));
  g_object_set (f.element, "encoder", "enc", "max-bitrate", 60000, NULL);
  fail_unless_equals_int (near->bitrate, 44000);
  fail_unless_equals_int (far->bitrate, 0);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

GST_START_TEST (test_an_encoder_that_is_not_there_is_warned_of_once)
{
  GstElement *not_an_encoder = gst_bin_new ("box");
  GstElement *pipeline;
  gchar *text = NULL;
  Fixture f;

  pipeline = setup_pipeline (&f, not_an_encoder, NULL);
  g_object_set (f.element, "encoder", "typo", "max-bitrate", 60000, NULL);
  g_object_set (f.element, "max-bitrate", 50000, NULL);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "\"typo\"") != NULL);
  g_object_set (f.element, "encoder", "box", NULL);
  fail_unless_equals_int (pop_warnings (&f, &text), 1);
  fail_unless (strstr (text, "bitrate") != NULL);
  g_free (text);
  teardown_pipeline (&f, pipeline);
}

GST_END_TEST;

/* --- states and clocks -------------------------------------------------- */

GST_START_TEST (test_state_cycles_start_afresh)
{
  Path path;

  path_setup (&path, 1);
  for (guint i = 0; i < 4; i++) {
    path_run (&path, 3 * GST_SECOND);
    assert_stat_string (path.f.element, "state", "sending");
    gst_element_set_state (path.f.element, GST_STATE_PAUSED);
    gst_element_set_state (path.f.element, GST_STATE_PLAYING);
    assert_stat_string (path.f.element, "state", "sending");
    gst_element_set_state (path.f.element, GST_STATE_NULL);
    fail_unless_equals_int (stat (path.f.element, "n-sent"), 0);
    gst_element_set_state (path.f.element, GST_STATE_PLAYING);
    assert_stat_string (path.f.element, "state", "starting");
    gst_harness_set_src_caps_str (path.f.rtp, RTP_CAPS_PCMU);
    gst_harness_set_src_caps_str (path.f.rtcp, "application/x-rtcp");
    path.last_seq[0] = -1;
  }
  path_teardown (&path);
}

GST_END_TEST;

GST_START_TEST (test_without_a_clock_it_fails_with_an_error)
{
  GstElement *element = gst_element_factory_make ("tfrcrate", NULL);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;

  gst_element_set_bus (element, bus);
  fail_unless (gst_element_set_state (element,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_CLOCK));
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_END_TEST;

/* The new clock is an hour behind: for the library time goes on. */
GST_START_TEST (test_another_clock_changes_nothing)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  gdouble n_acked;
  Path path;

  path_setup (&path, 1);
  gst_test_clock_set_time (clock, GST_SECOND);
  path_run (&path, 5 * GST_SECOND);
  gst_test_clock_set_time (path.f.clock, now (&path.f));
  gst_element_set_clock (path.f.element, GST_CLOCK (clock));
  gst_element_set_clock (path.receiver, GST_CLOCK (clock));
  gst_object_unref (path.f.clock);
  path.f.clock = clock;
  /* what is in the air has times of the old clock */
  g_queue_clear_full (&path.to_receiver, flying_free);
  g_queue_clear_full (&path.to_sender, flying_free);
  n_acked = stat (path.f.element, "n-acked");
  path_run (&path, 3 * GST_SECOND);
  fail_unless (stat (path.f.element, "n-acked") > n_acked + 2 * 50);
  path_run (&path, 7 * GST_SECOND);
  assert_stat_string (path.f.element, "state", "sending");
  fail_unless (stat (path.f.element, "rtt") >= 68 * GST_MSECOND
      && stat (path.f.element, "rtt") <= 80 * GST_MSECOND);
  fail_unless (target (&path.f) > STREAM_BPS);
  path_teardown (&path);
}

GST_END_TEST;

/* Everything at once, on the system's clock; for the sanitizers. */
typedef struct
{
  Fixture *f;
  gint stop;
} Storm;

static gpointer
storm_media (gpointer user)
{
  Storm *storm = user;

  for (guint i = 0; !g_atomic_int_get (&storm->stop); i++) {
    gst_harness_push (storm->f->rtp, rtp_packet_new (SSRC + i % 3, i / 3,
            PAYLOAD));
    drain (storm->f->rtp);
    if (i % 50 == 0)
      gst_harness_push_event (storm->f->rtp,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("hello")));
  }
  return NULL;
}

static gpointer
storm_feedback (gpointer user)
{
  Storm *storm = user;

  for (guint i = 0; !g_atomic_int_get (&storm->stop); i++) {
    FmxReportBlock block = { SSRC + i % 3, i % 256, i, i, 0, 0, 0 };

    gst_harness_push (storm->f->rtcp, receiver_report_new (&block, 1));
    drain (storm->f->rtcp);
  }
  return NULL;
}

GST_START_TEST (test_threads_do_not_disturb_each_other)
{
  GThread *threads[2];
  Fixture f;
  Storm storm = { &f, FALSE };
  GstClock *clock = gst_system_clock_obtain ();

  setup (&f);
  gst_element_set_clock (f.element, clock);
  threads[0] = g_thread_new ("media", storm_media, &storm);
  threads[1] = g_thread_new ("feedback", storm_feedback, &storm);
  for (guint i = 0; i < 300; i++) {
    g_object_set (f.element, "algorithm", i % 3, "policy", i % 4,
        "max-bitrate", 10000 + i * 100, "encoder", i % 2 ? "nobody" : NULL,
        NULL);
    stat (f.element, "n-sent");
    target (&f);
    last_target_event (&f);
    pop_warnings (&f, NULL);
    gst_element_set_clock (f.element, i % 2 ? clock : GST_CLOCK (f.clock));
    if (i % 100 == 99) {
      gst_element_set_state (f.element, GST_STATE_PAUSED);
      gst_element_set_state (f.element, GST_STATE_PLAYING);
    }
  }
  g_atomic_int_set (&storm.stop, TRUE);
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);
  gst_object_unref (clock);
  teardown (&f);
}

GST_END_TEST;

GST_START_TEST (test_events_and_queries_keep_to_their_pair_of_pads)
{
  GstEvent *event;
  Fixture f;

  setup (&f);
  gst_harness_set_upstream_latency (f.rtp, 30 * GST_MSECOND);
  gst_harness_set_upstream_latency (f.rtcp, 50 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (f.rtp),
      30 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (f.rtcp),
      50 * GST_MSECOND);

  while ((event = gst_harness_try_pull_event (f.rtcp)) != NULL)
    gst_event_unref (event);
  while ((event = gst_harness_try_pull_event (f.rtp)) != NULL)
    gst_event_unref (event);
  fail_unless (gst_harness_push_event (f.rtp,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new_empty ("hello"))));
  event = gst_harness_try_pull_event (f.rtp);
  fail_unless (gst_event_has_name (event, "hello"));
  gst_event_unref (event);
  fail_unless (gst_harness_try_pull_event (f.rtcp) == NULL);
  teardown (&f);
}

GST_END_TEST;

static Suite *
tfrcrate_suite (void)
{
  Suite *suite = suite_create ("tfrcrate");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_the_target_goes_upstream_and_again_to_a_new_stream);
  tcase_add_test (tc, test_target_bitrate_notifies_once_a_change);
  tcase_add_test (tc, test_rtp_passes_untouched_while_nothing_is_dropped);
  tcase_add_test (tc, test_receiver_reports_alone_tell_rtt_and_loss);
  tcase_add_test (tc, test_rtt_leaves_out_the_time_that_feedback_was_held);
  tcase_add_test (tc, test_on_a_clean_path_the_target_leaves_room_for_more);
  tcase_add_test (tc, test_each_loss_on_the_path_is_counted);
  tcase_add_test (tc, test_total_loss_leads_to_probing_and_its_end_to_recovery);
  tcase_add_test (tc, test_without_any_feedback_sending_ends);
  tcase_add_test (tc, test_every_algorithm_and_policy_works_and_can_be_changed);
  tcase_add_test (tc, test_no_policy_goes_below_the_minimum);
  tcase_add_test (tc, test_a_minimum_that_rises_stops_nothing);
  tcase_add_test (tc, test_absurd_settings_do_no_harm);
  tcase_add_test (tc, test_probes_are_empty_packets_of_the_stream_last_seen);
  tcase_add_test (tc, test_renumbering_copies_and_keeps_lists_metas_and_flags);
  tcase_add_test (tc,
      test_a_flush_while_probing_holds_the_probes_until_the_segment);
  tcase_add_test (tc, test_after_eos_there_are_no_probes);
  tcase_add_test (tc, test_malformed_rtcp_is_counted_and_passes);
  tcase_add_test (tc, test_random_rtcp_does_no_harm);
  tcase_add_test (tc, test_all_report_blocks_of_all_streams_count);
  tcase_add_test (tc, test_thousands_of_ssrcs_take_bounded_memory);
  tcase_add_test (tc, test_what_is_not_rtp_passes_uncounted);
  tcase_add_test (tc, test_5_s_without_feedback_warn_once_and_say_what_to_wire);
  tcase_add_test (tc, test_it_warns_again_when_feedback_came_and_stopped);
  tcase_add_test (tc, test_silence_is_no_reason_to_warn);
  tcase_add_test (tc, test_nobody_need_answer_after_eos);
  tcase_add_test (tc, test_an_unlinked_rtcp_sink_is_named);
  tcase_add_test (tc, test_each_decision_is_an_element_message);
  tcase_add_test (tc, test_the_encoder_gets_the_target_less_the_headers);
  tcase_add_test (tc,
      test_of_two_encoders_of_one_name_the_nearer_one_is_driven);
  tcase_add_test (tc, test_an_encoder_that_is_not_there_is_warned_of_once);
  tcase_add_test (tc, test_state_cycles_start_afresh);
  tcase_add_test (tc, test_without_a_clock_it_fails_with_an_error);
  tcase_add_test (tc, test_another_clock_changes_nothing);
  tcase_add_test (tc, test_threads_do_not_disturb_each_other);
  tcase_add_test (tc, test_events_and_queries_keep_to_their_pair_of_pads);
  return suite;
}

GST_CHECK_MAIN (tfrcrate);
