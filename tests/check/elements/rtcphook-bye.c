/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What happens to a hook in the middle of its BYE, and what it takes for its own
 * (gst/fairrtcp/gstrtcphook.h) */
#include "../gstfairmixcheck.h"

#include "fairrtcp/gstrtcphook.h"

#define SSRC 0x1234u

static GstRtcpHook *hook;
static gint forgets;            /* who asks the session for names takes its own from the hook */

/* An RTP session: it has names, and says when it sends. */
typedef GObject FakeSession;
typedef GObjectClass FakeSessionClass;

static GType fake_session_get_type (void);
G_DEFINE_TYPE (FakeSession, fake_session, G_TYPE_OBJECT);

static void
fake_session_get_property (GObject * session, guint id, GValue * value,
    GParamSpec * spec)
{
  if (g_atomic_int_get (&forgets))
    gst_rtcp_hook_set_name (hook, NULL);
  g_value_take_boxed (value, gst_structure_new ("application/x-rtp-source-sdes",
          "cname", G_TYPE_STRING, "somebody", NULL));
}

static void
fake_session_class_init (FakeSessionClass * klass)
{
  klass->get_property = fake_session_get_property;
  g_object_class_install_property (klass, 1, g_param_spec_boxed ("sdes", "sdes",
          "names", GST_TYPE_STRUCTURE, G_PARAM_READABLE));
  g_signal_new ("on-sending-rtcp", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST,
      0, g_signal_accumulator_true_handled, NULL, NULL, G_TYPE_BOOLEAN, 2,
      GST_TYPE_BUFFER | G_SIGNAL_TYPE_STATIC_SCOPE, G_TYPE_BOOLEAN);
}

static void
fake_session_init (FakeSession * session)
{
}

/* An element with such a session, as rtpsession is one */
typedef struct
{
  GstElement parent;

  GObject *session;
  GstPad *rtcp;
} FakeElement;

typedef GstElementClass FakeElementClass;

static GType fake_element_get_type (void);
G_DEFINE_TYPE (FakeElement, fake_element, GST_TYPE_ELEMENT);

static void
fake_element_get_property (GObject * element, guint id, GValue * value,
    GParamSpec * spec)
{
  g_value_set_object (value, ((FakeElement *) element)->session);
}

static void
fake_element_finalize (GObject * object)
{
  g_object_unref (((FakeElement *) object)->session);
  G_OBJECT_CLASS (fake_element_parent_class)->finalize (object);
}

static void
fake_element_class_init (FakeElementClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = fake_element_get_property;
  object_class->finalize = fake_element_finalize;
  g_object_class_install_property (object_class, 1,
      g_param_spec_object ("internal-session", "session", "session",
          G_TYPE_OBJECT, G_PARAM_READABLE));
}

static void
fake_element_init (FakeElement * self)
{
  self->session = g_object_new (fake_session_get_type (), NULL);
  self->rtcp = gst_pad_new ("send_rtcp_src", GST_PAD_SRC);
  gst_element_add_pad (GST_ELEMENT (self), self->rtcp);
}

static gboolean
write_nothing (GstElement * owner, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report)
{
  return FALSE;
}

/* @jitter: in its block */
static GstBuffer *
receiver_report (guint32 jitter)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (1400);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, SSRC);
  gst_rtcp_packet_add_rb (&packet, 7, 128, 1000, 70000, jitter, 0x10000,
      0x8000);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

/* Returns: how many packets leave when @hook says goodbye */
static guint
n_byes (gboolean forget)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new ("top"));
  GstElement *owner = gst_element_factory_make ("identity", "owner");
  FakeElement *fake =
      g_object_new (fake_element_get_type (), "name", "rtp", NULL);
  GstBuffer *report = receiver_report (33);
  GstHarness *rtcp;
  GstSegment segment;
  gboolean urgent;
  guint n;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_bin_add_many (GST_BIN (bin), owner, fake, NULL);
  rtcp = gst_harness_new_with_element (GST_ELEMENT (fake), NULL,
      "send_rtcp_src");
  gst_harness_play (rtcp);
  gst_pad_set_active (fake->rtcp, TRUE);
  gst_pad_push_event (fake->rtcp, gst_event_new_stream_start ("rtcp"));
  gst_pad_push_event (fake->rtcp, gst_event_new_segment (&segment));
  hook = gst_rtcp_hook_new (owner, write_nothing);
  gst_rtcp_hook_set_target (hook, "rtp", 0);
  fail_unless_equals_int (gst_rtcp_hook_connect (hook),
      GST_RTCP_HOOK_CONNECTED);
  g_signal_emit_by_name (fake->session, "on-sending-rtcp", report, FALSE,
      &urgent);
  gst_buffer_unref (report);
  g_atomic_int_set (&forgets, forget);
  gst_rtcp_hook_say_bye (hook);
  g_atomic_int_set (&forgets, FALSE);
  n = gst_harness_buffers_in_queue (rtcp);
  gst_element_set_state (GST_ELEMENT (fake), GST_STATE_NULL);
  gst_bin_remove (GST_BIN (bin), GST_ELEMENT (fake));
  gst_harness_teardown (rtcp);
  g_clear_object (&hook);
  gst_object_unref (bin);
  return n;
}

GST_START_TEST (test_who_is_let_go_in_the_middle_of_a_bye_is_silent)
{
  fail_unless_equals_int (n_byes (FALSE), 1);
  fail_unless_equals_int (n_byes (TRUE), 0);
}

GST_END_TEST;

/* Whoever only listens has nothing but its blocks to be known by. */
GST_START_TEST (test_a_strangers_receiver_report_is_not_its_own)
{
  GstElement *bin = gst_object_ref_sink (gst_bin_new ("top"));
  GstElement *owner = gst_element_factory_make ("identity", "owner");
  FakeElement *fake =
      g_object_new (fake_element_get_type (), "name", "rtp", NULL);
  GstBuffer *own = receiver_report (33), *other = receiver_report (34);
  gboolean urgent;

  gst_bin_add_many (GST_BIN (bin), owner, fake, NULL);
  hook = gst_rtcp_hook_new (owner, write_nothing);
  gst_rtcp_hook_set_target (hook, "rtp", 0);
  gst_rtcp_hook_connect (hook);
  g_signal_emit_by_name (fake->session, "on-sending-rtcp", own, FALSE, &urgent);
  fail_unless (gst_rtcp_hook_is_own (hook, own));
  fail_if (gst_rtcp_hook_is_own (hook, other));
  gst_buffer_unref (other);
  gst_buffer_unref (own);
  g_clear_object (&hook);
  gst_object_unref (bin);
}

GST_END_TEST;

static Suite *
rtcphook_bye_suite (void)
{
  Suite *s = suite_create ("rtcphook-bye");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_who_is_let_go_in_the_middle_of_a_bye_is_silent);
  tcase_add_test (tc, test_a_strangers_receiver_report_is_not_its_own);
  return s;
}

GST_CHECK_MAIN (rtcphook_bye);
