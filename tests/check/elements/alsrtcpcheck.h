/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __ALS_RTCP_CHECK_H__
#define __ALS_RTCP_CHECK_H__

/* alsrtcp without sessions: packets, returns and announcements that a test makes
 * up */

#include "../gstfairmixcheck.h"

#include "common/gstfairmixevents.h"
#include "common/gstfairmixrtcp.h"
#include "fairmix/wire/fmx-als-app.h"

#define SSRC 0x11111111u
#define LISTENER 0x22222222u
#define OTHER 0x33333333u
#define MTU 1400
#define RTT_MID32 6554u         /* 0.1 s */
#define N_LAYERS 3
#define INTERVAL (5 * GST_SECOND)

typedef struct
{
  GstTestClock *clock;
  GstElement *bin, *element;
  GstBus *bus;
  GstHarness *rtp[N_LAYERS], *rtcp;
  guint16 seq;
} Fixture;

/* @line: further properties, and other elements of the pipeline */
static inline void
setup (Fixture * f, const gchar * role, const gchar * line)
{
  gchar *text = g_strdup_printf ("alsrtcp name=als role=%s "
      "ntp-time-source=clock-time address=239.1.2.0 port=5004 increase=5000 %s",
      role, line);

  f->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (100 * GST_SECOND));
  f->bin = gst_object_ref_sink (gst_parse_bin_from_description (text, FALSE,
          NULL));
  g_free (text);
  f->element = gst_bin_get_by_name (GST_BIN (f->bin), "als");
  f->bus = gst_bus_new ();
  gst_element_set_bus (f->bin, f->bus);
  f->rtcp = gst_harness_new_with_element (f->element, "rtcp_sink", "rtcp_src");
  for (guint i = 0; i < N_LAYERS; i++) {
    gchar *sink = g_strdup_printf ("sink_%u", i);
    gchar *src = g_strdup_printf ("src_%u", i);

    f->rtp[i] = gst_harness_new_with_element (f->element, sink, src);
    g_free (sink);
    g_free (src);
  }
  gst_element_set_clock (f->bin, GST_CLOCK (f->clock));
  gst_element_set_state (f->bin, GST_STATE_NULL);
  fail_unless (gst_element_set_state (f->bin,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (f->rtcp, "application/x-rtcp");
  for (guint i = 0; i < N_LAYERS; i++)
    gst_harness_set_src_caps_str (f->rtp[i], RTP_CAPS_PCMU);
  /* the timer's thread, too, has said what it has to say of the start */
  clock_wait_idle (f->clock, 1);
  f->seq = 0;
}

static inline void
teardown (Fixture * f)
{
  gst_element_set_state (f->bin, GST_STATE_NULL);
  for (guint i = 0; i < N_LAYERS; i++)
    gst_harness_teardown (f->rtp[i]);
  gst_harness_teardown (f->rtcp);
  gst_element_set_bus (f->bin, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->element);
  gst_object_unref (f->bin);
  gst_object_unref (f->clock);
}

static inline void
send_from (Fixture * f, guint32 ssrc)
{
  fail_unless_equals_int (gst_harness_push (f->rtp[0], rtp_packet_new (ssrc,
              f->seq++, 160)), GST_FLOW_OK);
  gst_buffer_unref (gst_harness_pull (f->rtp[0]));
}

/* Begins a compound: the reports of @ssrc, about us if @fraction >= 0 */
static inline GstBuffer *
compound_new (Fixture * f, GstRTCPBuffer * rtcp, guint32 ssrc, gint fraction)
{
  guint32 now = gst_util_uint64_scale (gst_clock_get_time (GST_CLOCK
          (f->clock)), 65536, GST_SECOND);
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, rtcp);
  gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  if (fraction >= 0)
    gst_rtcp_packet_add_rb (&packet, SSRC, fraction, 0, f->seq, 0,
        now - RTT_MID32 - 65536, 65536);
  return buffer;
}

static inline void
add_app (GstRTCPBuffer * rtcp, guint8 subtype, guint32 ssrc,
    const guint8 * data, gsize size)
{
  FmxRtcpApp app = { subtype, ssrc, {'A', 'L', 'S', ' '}, data, size };

  fail_unless (gst_fairmix_rtcp_add_app (rtcp, &app, MTU));
}

static inline void
push_rtcp (Fixture * f, GstBuffer * buffer)
{
  GstBuffer *out;

  fail_unless_equals_int (gst_harness_push (f->rtcp, gst_buffer_ref (buffer)),
      GST_FLOW_OK);
  out = gst_harness_pull (f->rtcp);
  fail_unless (out == buffer);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
}

static inline void
push_return (Fixture * f, guint32 ssrc, guint share_bps, gdouble utilisation,
    guint8 fraction)
{
  FmxAlsShare share = {.share_bps = share_bps,.utilisation = utilisation,
    .answered = TRUE,.media_ssrc = SSRC
  };
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = compound_new (f, &rtcp, ssrc, fraction);
  guint8 data[FMX_ALS_SHARE_BYTES];

  fmx_als_share_write (&share, data, sizeof data);
  add_app (&rtcp, FMX_ALS_APP_RETURN, ssrc, data, sizeof data);
  gst_rtcp_buffer_unmap (&rtcp);
  push_rtcp (f, buffer);
}

static inline FmxAlsLayer
layer_at (guint size_bps, guint8 third, guint8 last, guint16 port)
{
  return (FmxAlsLayer) {
    .size_bps = size_bps,.address = {[10] = 0xff, 0xff, 239, 1, third, last
  },.port = port};
}

/* What a sender tells: R_d as routers left it, and its layers */
static inline GstBuffer *
announcement_new (Fixture * f, guint32 ssrc, guint share_bps,
    const FmxAlsLayer * layers, guint n)
{
  FmxAlsShare share = {.share_bps = share_bps,.answered = TRUE };
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = compound_new (f, &rtcp, ssrc, -1);
  guint8 data[FMX_ALS_LAYERS_BYTES (FMX_ALS_MAX_LAYERS)];

  fmx_als_share_write (&share, data, FMX_ALS_SHARE_BYTES);
  add_app (&rtcp, FMX_ALS_APP_REQUEST, ssrc, data, FMX_ALS_SHARE_BYTES);
  if (n > 0) {
    gsize size = fmx_als_layers_write (layers, n, data, sizeof data);

    add_app (&rtcp, FMX_ALS_APP_LAYERS, ssrc, data, size);
  }
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

static inline void
push_announcement (Fixture * f, guint32 ssrc, guint share_bps,
    const FmxAlsLayer * layers, guint n)
{
  push_rtcp (f, announcement_new (f, ssrc, share_bps, layers, n));
}

static inline void
push_bye (Fixture * f, guint32 ssrc)
{
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstBuffer *buffer = compound_new (f, &rtcp, ssrc, -1);
  GstRTCPPacket packet;

  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_BYE, &packet);
  gst_rtcp_packet_bye_add_ssrc (&packet, ssrc);
  gst_rtcp_buffer_unmap (&rtcp);
  push_rtcp (f, buffer);
}

static inline void
run (Fixture * f, GstClockTime duration)
{
  clock_advance_to (f->clock, 1, gst_clock_get_time (GST_CLOCK (f->clock))
      + duration);
}

/* The timer's thread has done what was to be done at once. */
static inline void
settle (Fixture * f)
{
  run (f, 10 * GST_MSECOND);
}

static inline gint64
last_target (GstHarness * h)
{
  gint64 last = -1;
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (h)) != NULL) {
    guint bitrate;

    if (gst_fairmix_target_bitrate_event_parse (event, &bitrate))
      last = bitrate;
    gst_event_unref (event);
  }
  return last;
}

static inline void
assert_targets (Fixture * f, gint64 base, gint64 second, gint64 third)
{
  gint64 targets[N_LAYERS] = { base, second, third };
  guint total, sum = 0;

  for (guint i = 0; i < N_LAYERS; i++) {
    gint64 last = last_target (f->rtp[i]);

    fail_unless (last == targets[i], "layer %u: %" G_GINT64_FORMAT, i, last);
    sum += MAX (last, 0);
  }
  g_object_get (f->element, "target-bitrate", &total, NULL);
  fail_unless (base < 0 || total == sum);
}

static inline guint
held (Fixture * f)
{
  guint n;

  g_object_get (f->element, "layers", &n, NULL);
  return n;
}

static inline GstStructure *
pop_message (Fixture * f, const gchar * name)
{
  GstStructure *found = NULL;
  GstMessage *message;

  while (found == NULL && (message = gst_bus_pop (f->bus)) != NULL) {
    if (gst_message_has_name (message, name))
      found = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return found;
}

static inline GstState
state_of (Fixture * f, const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (f->bin), name);
  GstState state = GST_STATE (element);

  gst_object_unref (element);
  return state;
}

#endif /* __ALS_RTCP_CHECK_H__ */
