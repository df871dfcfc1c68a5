/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __QMJITTERBUFFER_CHECK_H__
#define __QMJITTERBUFFER_CHECK_H__

/* What the tests of qmjitterbuffer share: a stream of packets that arrive late,
 * and when they are to be played. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/rtp/rtp.h>

#define MS GST_MSECOND
#define PACKET (20 * MS)
#define CLOCK_RATE 48000
#define UNITS 960               /* of the clock rate in a packet */
#define PT 96
#define SSRC 0xfa12d1e5
#define SEQ 65530               /* wraps soon */
#define FIRST_SENT (10 * GST_SECOND)
#define COMFORT_NOISE_PT 13     /* [RFC3389 5] */
#define LEVEL_URI "urn:ietf:params:rtp-hdrext:ssrc-audio-level"

#define CAPS "application/x-rtp, media=(string)audio, clock-rate=(int)48000, " \
    "encoding-name=(string)OPUS, payload=(int)96"

static inline GstBuffer *
make_packet (guint n)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (40, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, PT);
  gst_rtp_buffer_set_ssrc (&rtp, SSRC);
  gst_rtp_buffer_set_seq (&rtp, (guint16) (SEQ + n));
  gst_rtp_buffer_set_timestamp (&rtp, 4294960000u + n * UNITS);
  memset (gst_rtp_buffer_get_payload (&rtp), 0x55, 40);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static inline GstClockTime
sent (guint n)
{
  return FIRST_SENT + n * PACKET;
}

/* @buffer arrives @delay after packet @n was sent */
static inline void
push_late (GstHarness * h, GstBuffer * buffer, guint n, GstClockTimeDiff delay)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstClockTime arrival = sent (n) + delay;

  if (arrival > gst_clock_get_time (GST_CLOCK (clock)))
    gst_harness_set_time (h, arrival);
  gst_object_unref (clock);
  GST_BUFFER_PTS (buffer) = arrival;
  GST_BUFFER_DTS (buffer) = arrival;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

static inline void
push (GstHarness * h, guint n, GstClockTimeDiff delay)
{
  push_late (h, make_packet (n), n, delay);
}

static inline guint
number_of (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint n;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  n = (guint16) (gst_rtp_buffer_get_seq (&rtp) - SEQ);
  gst_rtp_buffer_unmap (&rtp);
  return n;
}

/* Takes packet @n; returns how much later than sent it is to be played */
static inline GstClockTimeDiff
pull (GstHarness * h, guint n)
{
  GstBuffer *buffer = gst_harness_pull (h);
  GstClockTime pts;

  fail_unless (buffer != NULL);
  fail_unless_equals_int (number_of (buffer), n & 0xffff);
  pts = GST_BUFFER_PTS (buffer);
  gst_buffer_unref (buffer);
  return GST_CLOCK_DIFF (sent (n), pts);
}

static inline GstClockTimeDiff
pass (GstHarness * h, guint n, GstClockTimeDiff delay)
{
  push (h, n, delay);
  return pull (h, n);
}

static inline GstHarness *
harness_new (const gchar * launch)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static inline void
harness_free (GstHarness * h)
{
  GstBus *bus = gst_element_get_bus (h->element);

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

static inline GstMessage *
pop_message (GstHarness * h, const gchar * name)
{
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message;

  while ((message = gst_bus_pop (bus)) != NULL) {
    if (gst_message_has_name (message, name))
      break;
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return message;
}

static inline guint64
stat_of (GstHarness * h, const gchar * field)
{
  GstElement *element =
      g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), "stats") ?
      gst_object_ref (h->element) :
      gst_harness_find_element (h, "qmjitterbuffer");
  GstStructure *stats;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &value), field);
  gst_structure_free (stats);
  gst_object_unref (element);
  return value;
}

/* As long as gst_harness_pull() waits, in microseconds */
#define PULL_US (60 * G_USEC_PER_SEC)

/* Takes packet @n, which comes though the clock stands still: whoever waits for a time
 * that is over is let go, as moving a test clock on does not.
 * Returns: how long it is */
static inline gsize
pull_due (GstHarness * h, guint n)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  gint64 end_us = g_get_monotonic_time () + PULL_US;
  GstBuffer *buffer;
  GstClockID id;
  gsize size;

  while ((buffer = gst_harness_try_pull (h)) == NULL) {
    id = gst_test_clock_process_next_clock_id (clock);
    if (id != NULL)
      gst_clock_id_unref (id);
    fail_if (g_get_monotonic_time () > end_us, "packet %u does not come", n);
    g_thread_yield ();
  }
  gst_object_unref (clock);
  fail_unless_equals_int (number_of (buffer), n & 0xffff);
  size = gst_buffer_get_size (buffer);
  gst_buffer_unref (buffer);
  return size;
}

/* Returns: whether it is decided what becomes of the first @n packets, which must not take
 * until @end_us on the monotonic clock */
static inline gboolean
is_decided (GstHarness * h, guint n, gint64 end_us)
{
  guint64 n_decided = stat_of (h, "qm-played") + stat_of (h, "qm-dropped")
      + stat_of (h, "qm-late");

  fail_if (n_decided < n && g_get_monotonic_time () > end_us,
      "%" G_GUINT64_FORMAT " of %u packets were heard of", n_decided, n);
  return n_decided >= n;
}

/* Waits until it is. */
static inline void
wait_decided (GstHarness * h, guint n)
{
  gint64 end_us = g_get_monotonic_time () + PULL_US;

  while (!is_decided (h, n, end_us))
    g_thread_yield ();
}

#endif /* __QMJITTERBUFFER_CHECK_H__ */
