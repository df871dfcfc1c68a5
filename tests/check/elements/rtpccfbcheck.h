/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __RTPCCFB_CHECK_H__
#define __RTPCCFB_CHECK_H__

/* What the tests of rtpccfb share: the element between two harnesses, in
 * virtual time. */

#include "../gstfairmixcheck.h"

#define SSRC 0x11111111u
#define OWN_SSRC 0x22222222u

typedef struct
{
  GstTestClock *clock;
  GstElement *element;
  GstHarness *rtp;
  GstHarness *rtcp;             /* its output; NULL = not linked */
} Fixture;

static inline void
setup_with (Fixture * f, gboolean with_rtcp, const gchar * property, ...)
{
  va_list args;

  f->clock = GST_TEST_CLOCK (gst_test_clock_new_with_start_time (GST_SECOND));
  f->element = gst_element_factory_make ("rtpccfb", NULL);
  fail_unless (f->element != NULL);
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  g_object_set (f->element, "ssrc", OWN_SSRC, NULL);
  va_start (args, property);
  g_object_set_valist (G_OBJECT (f->element), property, args);
  va_end (args);
  f->rtcp = with_rtcp ?
      gst_harness_new_with_element (f->element, NULL, "rtcp_src") : NULL;
  f->rtp = gst_harness_new_with_element (f->element, "sink", "src");
  gst_element_set_clock (f->element, GST_CLOCK (f->clock));
  fail_unless (gst_element_set_state (f->element,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_SUCCESS);
  gst_harness_set_src_caps_str (f->rtp, RTP_CAPS_PCMU);
}

static inline void
setup (Fixture * f, gboolean with_rtcp)
{
  setup_with (f, with_rtcp, NULL);
}

static inline void
teardown (Fixture * f)
{
  if (f->rtcp != NULL)
    gst_harness_teardown (f->rtcp);
  gst_harness_teardown (f->rtp);
  gst_object_unref (f->element);
  gst_object_unref (f->clock);
}

static inline void
push_at (Fixture * f, GstClockTime time, guint32 ssrc, guint16 seq)
{
  clock_advance_to (f->clock, 1, time);
  fail_unless_equals_int (gst_harness_push (f->rtp,
          rtp_packet_new (ssrc, seq, 160)), GST_FLOW_OK);
}

#endif /* __RTPCCFB_CHECK_H__ */
