/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one tick makes (gst/partialmix/gstpartialmixmixer.h). */
#include "partialmixmixercheck.h"

#define SETTLED 3               /* frames after which a limiter shows the sum */

static GPtrArray *all;

static void
setup_mixes (void)
{
  setup ();
  all = g_ptr_array_new ();
}

static void
teardown_mixes (void)
{
  teardown ();
  g_ptr_array_unref (all);
}

static void
listen (guint n)
{
  guint k;

  for (k = 0; k < n; k++)
    g_ptr_array_add (all, &listeners[k]);
}

/* One tick; @packets: what each listener gets of his first mix.  Returns: how many
 * mixes were encoded */
static guint
tick (GstBuffer * packets[N_LISTENERS])
{
  guint k, n;

  decode ();
  gst_partial_mix_mixer_plan (&mixer, &frame, &table, all);
  gst_partial_mix_mixer_run (&mixer, &frame);
  for (k = 0; k < N_LISTENERS; k++)
    packets[k] = listeners[k].n_outputs > 0
        && gst_partial_mix_mixer_serves (&mixer, &listeners[k])
        ? gst_partial_mix_mixer_make_packet (&mixer, &frame,
        &listeners[k].outputs[0]) : NULL;
  n = gst_partial_mix_mixer_finish (&mixer);
  frame.pos += N;
  return n;
}

static void
drop (GstBuffer * packets[N_LISTENERS])
{
  guint k;

  for (k = 0; k < N_LISTENERS; k++)
    gst_clear_buffer (&packets[k]);
}

static guint
ticks (guint n)
{
  GstBuffer *packets[N_LISTENERS];
  guint n_encoded = 0;

  while (n-- > 0) {
    n_encoded = tick (packets);
    drop (packets);
  }
  return n_encoded;
}

/* The last sample of a packet's payload */
static gint
last_sample (GstBuffer * packet)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint8 *payload;
  gint value;

  fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
  payload = gst_rtp_buffer_get_payload (&rtp);
  value = (gint16) GST_READ_UINT16_BE (payload + 2 * (N - 1));
  gst_rtp_buffer_unmap (&rtp);
  return value;
}

GST_START_TEST (test_each_listener_gets_the_sum_of_all_others)
{
  GstBuffer *packets[N_LISTENERS];
  guint k;

  listen (N_LISTENERS);
  ticks (SETTLED);
  fail_unless_equals_int (tick (packets), N_LISTENERS);
  fail_unless_equals_int (mixer.n_mixes, N_LISTENERS);
  for (k = 0; k < N_LISTENERS; k++)
    fail_unless_equals_int (last_sample (packets[k]), 7000 - values[k]);
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_who_is_raised_for_one_is_not_for_the_others)
{
  GstBuffer *packets[N_LISTENERS];

  listen (N_LISTENERS);
  listeners[0].has_infos = TRUE;
  g_array_set_size (listeners[0].infos, N_STREAMS);
  for (guint i = 0; i < N_STREAMS; i++)
    g_array_index (listeners[0].infos, GstPartialMixStreamInfo, i).gain =
        i == 2 ? 0.5f : 1.0f;
  ticks (SETTLED);
  tick (packets);
  fail_unless_equals_int (last_sample (packets[0]), 5000);
  fail_unless_equals_int (last_sample (packets[1]), 3000);
  drop (packets);
}

GST_END_TEST;

/* Two who are nobody's neighbours want the same. */
GST_START_TEST (test_the_same_is_made_once_and_sent_to_each)
{
  GstBuffer *packets[N_LISTENERS];
  guint k, i;

  listen (2);
  for (k = 0; k < 2; k++)
    for (i = 0; i < N_STREAMS; i++) {
      gst_partial_mix_link_init (link_of (k, i), FMX_HANDOVER_MIXED, 0, 0);
      gst_partial_mix_link_placed (link_of (k, i), streams[i], 0, 0);
    }
  ticks (SETTLED);
  fail_unless_equals_int (tick (packets), 1);
  fail_unless_equals_int (last_sample (packets[0]), 7000);
  fail_unless_equals_int (last_sample (packets[1]), 7000);
  fail_if (rtp_packet_ssrc (packets[0]) == rtp_packet_ssrc (packets[1]));
  drop (packets);

  /* one of them wants another bitrate: they part, and come together again */
  listeners[1].mix_bitrate_bps = 1;
  fail_unless_equals_int (ticks (1), 2);
  listeners[1].mix_bitrate_bps = 0;
  fail_unless_equals_int (ticks (20), 1);
}

GST_END_TEST;

GST_START_TEST (test_packets_follow_each_other)
{
  GstBuffer *before[N_LISTENERS], *packets[N_LISTENERS];
  GstRTPBuffer a = GST_RTP_BUFFER_INIT, b = GST_RTP_BUFFER_INIT;

  listen (1);
  frame.pos = 100 * N;
  tick (before);
  tick (packets);
  gst_rtp_buffer_map (before[0], GST_MAP_READ, &a);
  gst_rtp_buffer_map (packets[0], GST_MAP_READ, &b);
  fail_unless (gst_rtp_buffer_get_marker (&a));
  fail_if (gst_rtp_buffer_get_marker (&b));
  fail_unless_equals_int ((guint16) (gst_rtp_buffer_get_seq (&b)
          - gst_rtp_buffer_get_seq (&a)), 1);
  fail_unless_equals_int (gst_rtp_buffer_get_timestamp (&b)
      - gst_rtp_buffer_get_timestamp (&a), N);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (packets[0])
      - GST_BUFFER_PTS (before[0]), 20 * GST_MSECOND);
  /* the loudest is named first */
  fail_unless_equals_int (gst_rtp_buffer_get_csrc_count (&b), 2);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&b, 0), 101);
  fail_unless_equals_int (gst_rtp_buffer_get_csrc (&b, 1), 102);
  gst_rtp_buffer_unmap (&a);
  gst_rtp_buffer_unmap (&b);
  drop (before);
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_when_nobody_speaks_nothing_is_sent)
{
  GstBuffer *packets[N_LISTENERS];
  guint i;

  listen (1);
  ticks (SETTLED);
  for (i = 0; i < N_STREAMS; i++)
    speaks[i] = i == 0;         /* to himself */
  /* what is concealed and what is hung on to is over by then */
  ticks (20);
  fail_unless_equals_int (tick (packets), 0);
  fail_unless (packets[0] == NULL);
  speaks[1] = TRUE;
  tick (packets);
  fail_unless (GST_BUFFER_FLAG_IS_SET (packets[0], GST_BUFFER_FLAG_MARKER));
  drop (packets);
}

GST_END_TEST;

GST_START_TEST (test_who_listens_no_more_gives_up_his_mix)
{
  guint32 ssrc;

  listen (1);
  ticks (2);
  ssrc = listeners[0].outputs[0].ssrc;
  fail_unless (gst_partial_mix_table_is_mix (&table, ssrc));
  g_ptr_array_set_size (all, 0);
  gst_partial_mix_mixer_release (&mixer, &listeners[0], &table);
  fail_if (gst_partial_mix_table_is_mix (&table, ssrc));
  fail_unless_equals_int (ticks (1), 0);
  fail_unless_equals_int (mixer.n_mixes, 0);
  fail_if (gst_partial_mix_mixer_serves (&mixer, &listeners[0]));
}

GST_END_TEST;

/* Its timestamps count in another clock; the one before may still come back. */
GST_START_TEST (test_a_mix_in_another_encoding_is_another_stream)
{
  guint32 ssrc;

  listen (1);
  ticks (2);
  ssrc = listeners[0].outputs[0].ssrc;
  gst_partial_mix_format_for_mix (&listeners[0].mix_format,
      GST_PARTIAL_MIX_ENCODING_PCMU, RATE, 0);
  fail_unless_equals_int (ticks (1), 1);
  fail_if (listeners[0].outputs[0].ssrc == ssrc);
  fail_unless (gst_partial_mix_table_is_mix (&table, ssrc));
}

GST_END_TEST;

static Suite *
partialmix_mixer_suite (void)
{
  Suite *suite = suite_create ("partialmix-mixer");
  TCase *tc;

  tc = tcase_create ("mixes");
  suite_add_tcase (suite, tc);
  tcase_add_checked_fixture (tc, setup_mixes, teardown_mixes);
  tcase_add_test (tc, test_each_listener_gets_the_sum_of_all_others);
  tcase_add_test (tc, test_who_is_raised_for_one_is_not_for_the_others);
  tcase_add_test (tc, test_the_same_is_made_once_and_sent_to_each);
  tcase_add_test (tc, test_packets_follow_each_other);
  tcase_add_test (tc, test_when_nobody_speaks_nothing_is_sent);
  tcase_add_test (tc, test_who_listens_no_more_gives_up_his_mix);
  tcase_add_test (tc, test_a_mix_in_another_encoding_is_another_stream);

  return suite;
}

GST_CHECK_MAIN (partialmix_mixer);
