/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writing into the RTCP of a session (gst/fairrtcp/gstrtcphook.h), and reading
 * what comes (gst/common/gstfairmixrtcp.h) */
#include "../gstfairmixcheck.h"

#include "fairrtcp/gstrtcphook.h"

#define SSRC 0x1234u
#define MTU 1400
#define SECONDS 60

static const guint8 payload[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* A session in a pipeline, the element that hooks into it, and what came. */
typedef struct
{
  GstTestClock *clock;
  GstElement *bin, *owner, *element;
  GstHarness *rtp, *rtcp;
  GstRtcpHook *hook;
  guint16 seq;
} Rig;

static gint n_calls;            /* atomic */
static gint n_sources;          /* atomic; that the hook was told of */
static gint app_words = sizeof payload / 4;     /* atomic; what is written */

static gboolean
write_app (GstElement * owner, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report)
{
  static const guint8 zeros[4 * MTU];
  guint words = g_atomic_int_get (&app_words);
  FmxRtcpApp app = { 5, report->ssrc, {'T', 'E', 'S', 'T'}, zeros, 4 * words };

  g_atomic_int_inc (&n_calls);
  if (words == sizeof payload / 4)
    app.data = payload;
  gst_fairmix_rtcp_add_app (rtcp, &app, report->mtu);
  g_atomic_int_set (&n_sources, report->n_sources);
  return FALSE;
}

static GstCaps *
answer_pt_map (GstElement * session, guint pt, gpointer user)
{
  return gst_caps_from_string (RTP_CAPS_PCMU);
}

static GstCaps *
answer_bin_pt_map (GstElement * rtpbin, guint session, guint pt, gpointer user)
{
  return gst_caps_from_string (RTP_CAPS_PCMU);
}

/* @suffix: of the pads' names, "_2" for session 2 of an rtpbin */
static void
rig_init (Rig * rig, const gchar * factory, const gchar * suffix)
{
  gchar *sink = g_strconcat ("send_rtp_sink", suffix, NULL);
  gchar *src = g_strconcat ("send_rtp_src", suffix, NULL);
  gchar *rtcp = g_strconcat ("send_rtcp_src", suffix, NULL);

  rig->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (10 * GST_SECOND));
  clock_use_for_sessions (rig->clock);
  rig->seq = 0;
  rig->bin = gst_object_ref_sink (gst_bin_new ("top"));
  rig->owner = gst_element_factory_make ("identity", "owner");
  rig->element = gst_element_factory_make (factory, "rtp");
  /* a harness configures no latency, without which 1.26 does not know when a
   * packet is sent, and makes no sender report */
  g_object_set (rig->element, "rtcp-sync-send-time", FALSE, NULL);
  gst_bin_add_many (GST_BIN (rig->bin), rig->owner, rig->element, NULL);
  g_signal_connect (rig->element, "request-pt-map", suffix[0] != '\0' ?
      G_CALLBACK (answer_bin_pt_map) : G_CALLBACK (answer_pt_map), NULL);
  rig->hook = gst_rtcp_hook_new (rig->owner, write_app);
  g_atomic_int_set (&n_calls, 0);
  g_atomic_int_set (&app_words, sizeof payload / 4);

  rig->rtp = gst_harness_new_with_element (rig->element, sink, src);
  rig->rtcp = gst_harness_new_with_element (rig->element, NULL, rtcp);
  gst_harness_set_src_caps_str (rig->rtp, RTP_CAPS_PCMU);
  gst_harness_play (rig->rtcp);
  g_free (sink);
  g_free (src);
  g_free (rtcp);
}

static void
rig_clear (Rig * rig)
{
  gst_element_set_state (rig->element, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (rig->bin), rig->element);
  gst_harness_teardown (rig->rtp);
  gst_harness_teardown (rig->rtcp);
  g_clear_object (&rig->hook);
  gst_object_unref (rig->bin);
  gst_system_clock_set_default (NULL);
  gst_object_unref (rig->clock);
}

/* Sends for some seconds.  Returns: the last report, the reports in all in
 * @n_reports. */
static GstBuffer *
rig_run (Rig * rig, guint seconds, guint * n_reports)
{
  GstBuffer *last = NULL, *buffer;

  *n_reports = 0;
  for (guint i = 0; i < seconds * 10; i++) {
    fail_unless_equals_int (gst_harness_push (rig->rtp, rtp_packet_new (SSRC,
                rig->seq++, 160)), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (rig->rtp));
    clock_advance_to (rig->clock, 1,
        gst_clock_get_time (GST_CLOCK (rig->clock)) + GST_SECOND / 10);
    while ((buffer = gst_harness_try_pull (rig->rtcp)) != NULL) {
      gst_clear_buffer (&last);
      last = buffer;
      (*n_reports)++;
    }
  }
  return last;
}

static void
count_app (gpointer user_data, const FmxRtcpApp * app)
{
  guint *n_apps = user_data;

  fail_unless (fmx_rtcp_app_is (app, "TEST"));
  fail_unless_equals_int (app->subtype, 5);
  fail_unless_equals_int (app->ssrc, SSRC);
  fail_unless_equals_int (app->size, sizeof payload);
  fail_unless_equals_int (memcmp (app->data, payload, sizeof payload), 0);
  (*n_apps)++;
}

static guint
n_apps_in (GstBuffer * buffer)
{
  const GstFairmixRtcpFuncs funcs = {.app = count_app };
  guint n_apps = 0;

  fail_unless (gst_fairmix_rtcp_read (buffer, &funcs, &n_apps));
  return n_apps;
}

static void
check_writes (const gchar * factory, const gchar * suffix, guint session)
{
  guint n_reports, n_before;
  GstBuffer *report;
  Rig rig;

  rig_init (&rig, factory, suffix);
  gst_rtcp_hook_set_target (rig.hook, "rtp", session);
  fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
      GST_RTCP_HOOK_CONNECTED);
  fail_unless (gst_rtcp_hook_connect_or_complain (rig.hook));
  report = rig_run (&rig, SECONDS, &n_reports);
  fail_unless (n_reports >= 5);
  fail_unless_equals_int (g_atomic_int_get (&n_calls), n_reports);
  fail_unless_equals_int (n_apps_in (report), 1);
  fail_unless_equals_int (g_atomic_int_get (&n_sources), 1);
  /* the same again, from the network */
  fail_unless (gst_rtcp_hook_is_own (rig.hook, report));
  gst_buffer_unref (report);

  gst_rtcp_hook_disconnect (rig.hook);
  n_before = g_atomic_int_get (&n_calls);
  report = rig_run (&rig, SECONDS, &n_reports);
  fail_unless (n_reports >= 5);
  fail_unless_equals_int (g_atomic_int_get (&n_calls), n_before);
  fail_unless_equals_int (n_apps_in (report), 0);
  fail_if (gst_rtcp_hook_is_own (rig.hook, report));
  gst_buffer_unref (report);
  rig_clear (&rig);
}

GST_START_TEST (test_an_app_packet_goes_into_each_report_of_an_rtpsession)
{
  check_writes ("rtpsession", "", 0);
}

GST_END_TEST;

GST_START_TEST (test_an_app_packet_goes_into_each_report_of_an_rtpbin)
{
  check_writes ("rtpbin", "_0", 0);
  check_writes ("rtpbin", "_2", 2);
}

GST_END_TEST;

GST_START_TEST (test_a_session_that_is_made_later_is_found_then)
{
  GstPad *pad;
  Rig rig;

  rig_init (&rig, "rtpbin", "_0");
  fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook), GST_RTCP_HOOK_NONE);
  gst_rtcp_hook_set_target (rig.hook, "rtp", 1);
  for (guint i = 0; i < 2; i++) {       /* without pads there is none, and then another */
    fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
        GST_RTCP_HOOK_WAITING);
    fail_unless (gst_rtcp_hook_connect_or_complain (rig.hook));
    pad = gst_element_request_pad_simple (rig.element, "recv_rtp_sink_1");
    fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
        GST_RTCP_HOOK_CONNECTED);
    gst_element_release_request_pad (rig.element, pad);
    gst_object_unref (pad);
  }
  rig_clear (&rig);
}

GST_END_TEST;

static void
check_complaint (const gchar * name, GstRtcpHookResult result, GQuark domain,
    gint code)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error;
  Rig rig;

  rig_init (&rig, "rtpbin", "_0");
  gst_element_set_bus (rig.owner, bus);
  gst_rtcp_hook_set_target (rig.hook, name, 0);
  fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook), result);
  fail_unless (gst_bus_pop (bus) == NULL);
  fail_if (gst_rtcp_hook_connect_or_complain (rig.hook));
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code));
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_bus (rig.owner, NULL);
  gst_object_unref (bus);
  rig_clear (&rig);
}

GST_START_TEST (test_a_wrong_name_is_an_error_that_says_so)
{
  check_complaint ("nobody", GST_RTCP_HOOK_NOT_FOUND, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_NOT_FOUND);
  check_complaint ("owner", GST_RTCP_HOOK_NO_SESSION, GST_RESOURCE_ERROR,
      GST_RESOURCE_ERROR_SETTINGS);
}

GST_END_TEST;

GST_START_TEST (test_a_compound_never_grows_beyond_the_mtu)
{
  guint n_reports;
  GstBuffer *report;
  Rig rig;

  rig_init (&rig, "rtpsession", "");
  gst_rtcp_hook_set_target (rig.hook, "rtp", 0);
  gst_rtcp_hook_connect (rig.hook);
  g_atomic_int_set (&app_words, MTU / 4);
  report = rig_run (&rig, SECONDS, &n_reports);
  fail_unless (g_atomic_int_get (&n_calls) > 0);
  fail_unless_equals_int (n_apps_in (report), 0);
  fail_unless (gst_buffer_get_size (report) < 200);
  gst_buffer_unref (report);
  rig_clear (&rig);
}

GST_END_TEST;

GST_START_TEST (test_an_owner_or_a_session_that_is_gone_is_no_trouble)
{
  guint n_reports;
  GstBuffer *report;
  Rig rig;

  rig_init (&rig, "rtpsession", "");
  gst_rtcp_hook_set_target (rig.hook, "rtp", 0);
  gst_rtcp_hook_connect (rig.hook);
  gst_bin_remove (GST_BIN (rig.bin), rig.owner);        /* the last reference */
  report = rig_run (&rig, SECONDS, &n_reports);
  fail_unless (n_reports >= 5);
  fail_unless_equals_int (g_atomic_int_get (&n_calls), 0);
  gst_buffer_unref (report);
  fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
      GST_RTCP_HOOK_CONNECTED);
  gst_rtcp_hook_disconnect (rig.hook);
  fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
      GST_RTCP_HOOK_NOT_FOUND);
  rig_clear (&rig);
}

GST_END_TEST;

static GstBuffer *
receiver_report (guint32 ssrc)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MTU);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  gst_rtcp_packet_add_rb (&packet, SSRC, 128, 1000, 70000, 33, 0x10000, 0x8000);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

GST_START_TEST (test_only_what_this_session_sent_is_its_own)
{
  guint n_reports;
  GstBuffer *report, *other;
  GstMapInfo map;
  Rig rig;

  rig_init (&rig, "rtpsession", "");
  gst_rtcp_hook_set_target (rig.hook, "rtp", 0);
  gst_rtcp_hook_connect (rig.hook);
  report = rig_run (&rig, SECONDS, &n_reports);
  other = receiver_report (7);
  fail_if (gst_rtcp_hook_is_own (rig.hook, other));
  gst_buffer_unref (other);
  /* a stranger with our SSRC, whose clock shows another time */
  fail_unless (gst_rtcp_hook_is_own (rig.hook, report));
  report = gst_buffer_make_writable (report);
  gst_buffer_map (report, &map, GST_MAP_READWRITE);
  map.data[9] ^= 1;
  gst_buffer_unmap (report, &map);
  fail_if (gst_rtcp_hook_is_own (rig.hook, report));
  gst_buffer_unref (report);
  other = gst_buffer_new_allocate (NULL, 3, NULL);
  gst_buffer_memset (other, 0, 0x80, 3);
  fail_if (gst_rtcp_hook_is_own (rig.hook, other));
  gst_buffer_unref (other);
  rig_clear (&rig);
}

GST_END_TEST;

typedef struct
{
  guint n_sr, n_blocks, n_bye, n_app;
} Counts;

static void
on_sender_info (gpointer user_data, guint32 ssrc, guint64 ntp_time, guint32 rtp)
{
  ((Counts *) user_data)->n_sr++;
}

static void
on_report (gpointer user_data, guint32 reporter, const FmxReportBlock * block)
{
  ((Counts *) user_data)->n_blocks++;
  fail_unless_equals_int (reporter, 7);
  fail_unless_equals_int (block->ssrc, SSRC);
  fail_unless_equals_int (block->fraction_lost, 128);
  fail_unless_equals_int (block->ext_highest_seq, 70000);
  fail_unless_equals_int (block->lsr, 0x10000);
  fail_unless_equals_int (block->dlsr, 0x8000);
}

static void
on_bye (gpointer user_data, guint32 ssrc)
{
  ((Counts *) user_data)->n_bye++;
}

static void
on_app (gpointer user_data, const FmxRtcpApp * app)
{
  ((Counts *) user_data)->n_app++;
}

static const GstFairmixRtcpFuncs all_funcs = {
  .sender_info = on_sender_info,
  .report = on_report,
  .bye = on_bye,
  .app = on_app,
};

GST_START_TEST (test_what_is_cut_short_is_malformed_and_not_read)
{
  GstBuffer *whole = receiver_report (7);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  FmxRtcpApp app = { 1, 7, {'T', 'E', 'S', 'T'}, payload, sizeof payload };
  gsize size;

  gst_rtcp_buffer_map (whole, GST_MAP_READWRITE, &rtcp);
  fail_unless (gst_fairmix_rtcp_add_app (&rtcp, &app, MTU));
  gst_rtcp_buffer_unmap (&rtcp);
  size = gst_buffer_get_size (whole);
  fail_unless_equals_int (size, 32 + 12 + sizeof payload);
  for (gsize cut = 0; cut <= size; cut++) {
    GstBuffer *part = gst_buffer_copy_region (whole, GST_BUFFER_COPY_ALL, 0,
        cut);
    Counts counts = { 0 };
    gboolean ok = gst_fairmix_rtcp_read (part, &all_funcs, &counts);

    fail_unless (ok == (cut == 32 || cut == size), "%u bytes", (guint) cut);
    fail_unless_equals_int (counts.n_blocks, ok);
    fail_unless_equals_int (counts.n_app, ok && cut == size);
    gst_buffer_unref (part);
  }
  gst_buffer_unref (whole);
}

GST_END_TEST;

static gboolean
pass_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstRtcpHook *hook = gst_pad_get_element_private (pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    return gst_rtcp_hook_pass_eos (hook, pad, parent, event);
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
has_ended (GstHarness * harness)
{
  GstEvent *event;
  gboolean ended = FALSE;

  while ((event = gst_harness_try_pull_event (harness)) != NULL) {
    ended = ended || GST_EVENT_TYPE (event) == GST_EVENT_EOS;
    gst_event_unref (event);
  }
  return ended;
}

/* The owner of a hook passes on an end before anybody has sent. */
static void
check_the_end_of_silence (const gchar * factory, const gchar * suffix,
    gboolean connected)
{
  gchar *rtcp_sink = g_strconcat ("recv_rtcp_sink", suffix, NULL);
  GstPad *pad, *second;
  Rig rig;

  rig_init (&rig, factory, suffix);
  second = gst_element_request_pad_simple (rig.element, rtcp_sink);
  gst_rtcp_hook_set_target (rig.hook, "rtp", suffix[0] != '\0' ? 2 : 0);
  if (connected)
    fail_unless_equals_int (gst_rtcp_hook_connect (rig.hook),
        GST_RTCP_HOOK_CONNECTED);
  pad = gst_element_get_static_pad (rig.owner, "sink");
  gst_pad_set_element_private (pad, rig.hook);
  gst_pad_set_event_function (pad, pass_event);
  gst_element_set_state (rig.owner, GST_STATE_PLAYING);

  fail_if (has_ended (rig.rtcp));
  gst_pad_send_event (pad, gst_event_new_eos ());
  fail_unless (has_ended (rig.rtcp), "the end of RTCP was never told");

  gst_element_set_state (rig.owner, GST_STATE_NULL);
  gst_object_unref (pad);
  gst_object_unref (second);
  g_free (rtcp_sink);
  rig_clear (&rig);
}

GST_START_TEST (test_a_session_that_never_sent_ends_as_well)
{
  gboolean connected = __i__ == 0;      /* else the end comes first of all */

  check_the_end_of_silence ("rtpsession", "", connected);
  check_the_end_of_silence ("rtpbin", "_2", connected);
}

GST_END_TEST;

static Suite *
rtcphook_suite (void)
{
  Suite *s = suite_create ("rtcphook");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc,
      test_an_app_packet_goes_into_each_report_of_an_rtpsession);
  tcase_add_test (tc, test_an_app_packet_goes_into_each_report_of_an_rtpbin);
  tcase_add_test (tc, test_a_session_that_is_made_later_is_found_then);
  tcase_add_test (tc, test_a_wrong_name_is_an_error_that_says_so);
  tcase_add_test (tc, test_a_compound_never_grows_beyond_the_mtu);
  tcase_add_test (tc, test_an_owner_or_a_session_that_is_gone_is_no_trouble);
  tcase_add_test (tc, test_only_what_this_session_sent_is_its_own);
  tcase_add_loop_test (tc, test_a_session_that_never_sent_ends_as_well, 0, 2);
  tcase_add_test (tc, test_what_is_cut_short_is_malformed_and_not_read);
  return s;
}

GST_CHECK_MAIN (rtcphook);
