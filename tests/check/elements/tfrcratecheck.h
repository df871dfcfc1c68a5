/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __TFRCRATE_CHECK_H__
#define __TFRCRATE_CHECK_H__

/* What the tests of tfrcrate share: the element alone, and with a path and an
 * rtpccfb behind it, in virtual time. */

#include "../gstfairmixcheck.h"

#include "fairmix/rate/fmx-rate-sender.h"
#include "common/gstfairmixevents.h"

#define SSRC 0x11111111u
#define PAYLOAD 160             /* G.711, 20 ms: 80 kbit/s on the wire */
#define STREAM_BPS 80000

typedef struct
{
  GstTestClock *clock;
  guint n_waiters;
  GstElement *element;
  GstBus *bus;
  GstHarness *rtp;
  GstHarness *rtcp;
} Fixture;

static inline void
setup_element (Fixture * f)
{
  f->clock = GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));
  f->n_waiters = 1;
  f->bus = gst_bus_new ();
  f->element = gst_element_factory_make ("tfrcrate", NULL);
  fail_unless (f->element != NULL);
  g_object_set (f->element, "skip-interval", 0, NULL);
  gst_object_ref_sink (f->element);
}

static inline void
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

static inline void
setup (Fixture * f)
{
  setup_element (f);
  setup_harness (f);
}

static inline void
teardown (Fixture * f)
{
  gst_harness_teardown (f->rtp);
  gst_harness_teardown (f->rtcp);
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->element);
  gst_object_unref (f->clock);
}

static inline GstClockTime
now (Fixture * f)
{
  return gst_clock_get_time (GST_CLOCK (f->clock));
}

static inline void
advance (Fixture * f, GstClockTime by)
{
  clock_advance_to (f->clock, f->n_waiters, now (f) + by);
}

static inline gchar *
stat_string (GstElement * element, const gchar * name)
{
  GstStructure *stats;
  gchar *string;

  g_object_get (element, "stats", &stats, NULL);
  string = g_strdup (gst_structure_get_string (stats, name));
  gst_structure_free (stats);
  return string;
}

static inline void
assert_stat_string (GstElement * element, const gchar * name,
    const gchar * expected)
{
  gchar *string = stat_string (element, name);

  fail_unless_equals_string (string, expected);
  g_free (string);
}

static inline guint
target (Fixture * f)
{
  guint bitrate;

  g_object_get (f->element, "target-bitrate", &bitrate, NULL);
  return bitrate;
}

/* Returns: the bitrate of the last target event that went upstream; -1 if
 * there was none since the last call */
static inline gint64
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

static inline guint
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

static inline GstFlowReturn
push (Fixture * f, guint32 ssrc, guint16 seq)
{
  return gst_harness_push (f->rtp, rtp_packet_new (ssrc, seq, PAYLOAD));
}

static inline void
push_burst (Fixture * f, guint16 first, guint n)
{
  for (guint i = 0; i < n; i++)
    push (f, SSRC, (guint16) (first + i));
}

/* Paced: 80 kbit/s: a packet each 20 ms */
static inline void
setup_slow (Fixture * f)
{
  setup_element (f);
  g_object_set (f->element, "max-pacing-delay", 1000, "initial-bitrate",
      STREAM_BPS, NULL);
  setup_harness (f);
}

/* Pops messages of @type; returns how many; @text: (out) (optional): of the
 * last one. */
static inline guint
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
static inline GstBuffer *
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

static inline gboolean
drop_nothing (Path * path, GstBuffer * packet)
{
  return FALSE;
}

static inline gboolean
drop_everything (Path * path, GstBuffer * packet)
{
  return TRUE;
}

/* @path->f was set up */
static inline void
path_setup_receiver (Path * path, guint n_streams)
{
  path->receiver = gst_element_factory_make ("rtpccfb", NULL);
  /* the machine's time would tell how busy it is */
  gst_util_set_object_arg (G_OBJECT (path->receiver), "ntp-time-source",
      "clock-time");
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

static inline void
path_setup (Path * path, guint n_streams)
{
  memset (path, 0, sizeof *path);
  setup (&path->f);
  path_setup_receiver (path, n_streams);
}

static inline void
flying_free (gpointer data)
{
  Flying *flying = data;

  gst_buffer_unref (flying->buffer);
  g_free (flying);
}

static inline void
path_teardown (Path * path)
{
  g_queue_clear_full (&path->to_receiver, flying_free);
  g_queue_clear_full (&path->to_sender, flying_free);
  gst_harness_teardown (path->media);
  gst_harness_teardown (path->feedback);
  gst_object_unref (path->receiver);
  teardown (&path->f);
}

static inline void
fly (GQueue * queue, GstBuffer * buffer, GstClockTime arrival)
{
  Flying *flying = g_new (Flying, 1);

  flying->buffer = buffer;
  flying->arrival = arrival;
  g_queue_push_tail (queue, flying);
}

static inline void
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

static inline void
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

static inline void
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

static inline void
path_run (Path * path, GstClockTime duration)
{
  GstClockTime end = now (&path->f) + duration;

  while (now (&path->f) < end)
    path_step (path, now (&path->f) + GST_MSECOND);
}

static inline void
path_run_into_probing (Path * path)
{
  path_run (path, 5 * GST_SECOND);
  path->drops = drop_everything;
  path_run (path, 5 * GST_SECOND);
  assert_stat_string (path->f.element, "state", "probing");
}

#endif /* __TFRCRATE_CHECK_H__ */
