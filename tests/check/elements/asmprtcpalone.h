/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __ASMP_RTCP_ALONE_H__
#define __ASMP_RTCP_ALONE_H__

/* asmprtcp without sessions: packets and reports that a test makes up */

#include "../gstfairmixcheck.h"

#include "common/gstfairmixevents.h"
#include "common/gstfairmixrtcp.h"
#include "fairmix/wire/fmx-asmp-app.h"

#define SSRC 0x11111111u
#define LISTENER 0x22222222u
#define OTHER 0x33333333u
#define MTU 1400
#define RTT_MID32 6554u         /* 0.1 s */

typedef struct
{
  GstTestClock *clock;
  GstElement *element;
  GstBus *bus;
  GstHarness *rtp, *rtcp;
  guint16 seq;
} Fixture;

/* @bin: (nullable): where the element is to be */
static inline void
setup_in (Fixture * f, const gchar * role, GstElement * bin)
{
  f->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (100 * GST_SECOND));
  f->bus = gst_bus_new ();
  f->element = gst_element_factory_make ("asmprtcp", NULL);
  fail_unless (f->element != NULL);
  gst_object_ref_sink (f->element);
  gst_util_set_object_arg (G_OBJECT (f->element), "role", role);
  gst_util_set_object_arg (G_OBJECT (f->element), "ntp-time-source",
      "clock-time");
  g_object_set (f->element, "initial-bitrate", 500000, NULL);
  if (bin != NULL)
    gst_bin_add (GST_BIN (bin), f->element);
  gst_element_set_bus (f->element, f->bus);
  f->rtcp = gst_harness_new_with_element (f->element, "rtcp_sink", "rtcp_src");
  f->rtp = gst_harness_new_with_element (f->element, "sink", "src");
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  fail_unless (gst_element_set_state (f->element,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (f->rtcp, "application/x-rtcp");
  gst_harness_set_src_caps_str (f->rtp, RTP_CAPS_PCMU);
  f->seq = 0;
}

static inline void
setup (Fixture * f, const gchar * role)
{
  setup_in (f, role, NULL);
}

static inline void
teardown (Fixture * f)
{
  gst_element_set_state (f->element, GST_STATE_NULL);
  gst_harness_teardown (f->rtp);
  gst_harness_teardown (f->rtcp);
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->element);
  gst_object_unref (f->clock);
}

/* when the timer's thread has nothing left to say: one thread says it all */
static inline guint
target (Fixture * f)
{
  guint bitrate;

  gst_test_clock_wait_for_next_pending_id (f->clock, NULL);
  g_object_get (f->element, "target-bitrate", &bitrate, NULL);
  return bitrate;
}

static inline void
send_packets (Fixture * f, guint n)
{
  while (n-- > 0) {
    fail_unless_equals_int (gst_harness_push (f->rtp, rtp_packet_new (SSRC,
                f->seq++, 160)), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (f->rtp));
    gst_test_clock_advance_time (f->clock, FRAME);
  }
}

/* A report of @ssrc, with a rate beside it if there is one. */
static inline GstBuffer *
report_new (Fixture * f, guint32 ssrc, guint8 fraction,
    const FmxAsmpRate * rate)
{
  guint32 now = gst_util_uint64_scale (gst_clock_get_time (GST_CLOCK
          (f->clock)), 65536, GST_SECOND);
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  guint8 data[FMX_ASMP_RATE_BYTES];
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  gst_rtcp_packet_add_rb (&packet, SSRC, fraction, 0, f->seq, 0,
      now - RTT_MID32 - 65536, 65536);
  if (rate != NULL) {
    FmxRtcpApp app = { FMX_ASMP_APP_RATE, ssrc, {'A', 'S', 'M', 'P'}, data,
    fmx_asmp_rate_write (rate, data, sizeof data)
    };

    fail_unless (gst_fairmix_rtcp_add_app (&rtcp, &app, MTU));
  }
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

static inline GstBuffer *
bye_new (guint32 ssrc)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_BYE, &packet);
  gst_rtcp_packet_bye_add_ssrc (&packet, ssrc);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

/* pushes RTCP, which must come out as it went in */
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
push_rate (Fixture * f, guint32 ssrc, guint bps, gdouble loss)
{
  FmxAsmpRate rate = { SSRC, bps, FMX_SECOND / 10, loss, bps, TRUE, FALSE,
    TRUE
  };

  push_rtcp (f, report_new (f, ssrc, loss * 256, &rate));
}

#endif /* __ASMP_RTCP_ALONE_H__ */
