/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_CHECK_H__
#define __GST_FAIRMIX_CHECK_H__

/* What several element tests need: RTP packets, and a test clock that is
 * moved on while the threads that wait on it keep up. */

#include <gst/check/check.h>
#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/rtp/rtp.h>

#define RTP_CAPS_PCMU "application/x-rtp,media=audio,payload=0," \
    "clock-rate=8000,encoding-name=PCMU"
#define FRAME (20 * GST_MSECOND)
#define FRAME_SAMPLES 160

static inline GstBuffer *
rtp_packet_new (guint32 ssrc, guint16 seq, guint payload_bytes)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (payload_bytes, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, seq * FRAME_SAMPLES);
  gst_rtp_buffer_set_payload_type (&rtp, 0);
  memset (gst_rtp_buffer_get_payload (&rtp), 0xff, payload_bytes);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = seq * FRAME;
  return buffer;
}

/* No RTP; what memory held before might be RTCP */
static inline GstBuffer *
no_rtp_new (gsize size)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, 0x80, size);
  return buffer;
}

static inline guint16
rtp_packet_seq (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint16 seq;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  seq = gst_rtp_buffer_get_seq (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return seq;
}

static inline guint32
rtp_packet_ssrc (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint32 ssrc;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return ssrc;
}

static inline guint
rtp_packet_payload_bytes (GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint bytes;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  bytes = gst_rtp_buffer_get_payload_len (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  return bytes;
}

/* Returns: how many warnings waited on the bus of @pipeline */
static inline guint
pipeline_warnings (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
    gst_message_unref (message);
    n++;
  }
  gst_object_unref (bus);
  return n;
}

/* A number of the "stats" of @element, one of ours, of whatever type. */
static inline gdouble
element_stat (GstElement * element, const gchar * field)
{
  gchar *name = g_strdup_printf ("application/x-fairmix-%s-stats",
      GST_OBJECT_NAME (gst_element_get_factory (element)));
  GValue as_double = G_VALUE_INIT;
  GstStructure *stats;
  gdouble n;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_name (stats), name);
  fail_unless (gst_structure_has_field (stats, field), "no field %s", field);
  g_value_init (&as_double, G_TYPE_DOUBLE);
  fail_unless (g_value_transform (gst_structure_get_value (stats, field),
          &as_double));
  n = g_value_get_double (&as_double);
  gst_structure_free (stats);
  g_free (name);
  return n;
}

/* It says what is missing, and does not start. */
static inline void
check_without_a_clock (const gchar * factory)
{
  GstElement *element = gst_element_factory_make (factory, NULL);
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

/* @clock is the system's from now on: sessions send their RTCP by it, at times that they
 * draw with GLib's numbers, which are the same in each run. */
static inline void
clock_use_for_sessions (GstTestClock * clock)
{
  gst_system_clock_set_default (GST_CLOCK (clock));
  g_random_set_seed (1);
}

/* Waits until @n_waiters threads (GstFairmixTimers) wait on @clock: all that
 * was due has happened then.  Returns: the earliest deadline. */
static inline GstClockTime
clock_wait_idle (GstTestClock * clock, guint n_waiters)
{
  GstClockTime next = GST_CLOCK_TIME_NONE;
  GList *ids = NULL;

  if (n_waiters == 0)
    return GST_CLOCK_TIME_NONE;
  gst_test_clock_wait_for_multiple_pending_ids (clock, n_waiters, &ids);
  for (GList * id = ids; id != NULL; id = id->next)
    next = MIN (next, gst_clock_id_get_time (id->data));
  g_list_free_full (ids, (GDestroyNotify) gst_clock_id_unref);
  return next;
}

/* Waits until somebody waits on @clock for no longer than @most.  Where one
 * thread always does so when it is not at work, @clock then does not run away
 * from it. */
static inline void
clock_wait_due_within (GstTestClock * clock, GstClockTime most)
{
  GstClockTime next = GST_CLOCK_TIME_NONE;

  while (next == GST_CLOCK_TIME_NONE
      || next > gst_clock_get_time (GST_CLOCK (clock)) + most) {
    GstClockID id = NULL;

    if (gst_test_clock_peek_next_pending_id (clock, &id))
      next = gst_clock_id_get_time (id);
    g_clear_pointer (&id, gst_clock_id_unref);
    g_thread_yield ();
  }
}

/* Moves @clock to the next deadline.  Returns: the time then. */
static inline GstClockTime
clock_step (GstTestClock * clock, guint n_waiters)
{
  clock_wait_idle (clock, n_waiters);
  gst_test_clock_crank (clock);
  clock_wait_idle (clock, n_waiters);
  return gst_clock_get_time (GST_CLOCK (clock));
}

/* Moves @clock to @time, with a stop at each deadline on the way. */
static inline void
clock_advance_to (GstTestClock * clock, guint n_waiters, GstClockTime time)
{
  while (clock_wait_idle (clock, n_waiters) <= time)
    gst_test_clock_crank (clock);
  if (gst_clock_get_time (GST_CLOCK (clock)) < time)
    gst_test_clock_set_time (clock, time);
}

#endif /* __GST_FAIRMIX_CHECK_H__ */
