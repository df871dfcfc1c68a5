/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A neighbour's packets: what is not genuine does not come in, whatever it is. */
#include "../gstfairmixcheck.h"
#include "gstdpmpeer.h"

#include <net/if.h>
#include <srtp2/srtp.h>

typedef struct
{
  GstDpmPeer *here, *there;
  GstPad *rtp, *rtcp;
} Pair;

static guint8 a_key[FMX_JOIN_SRTP_KEY_BYTES], b_key[FMX_JOIN_SRTP_KEY_BYTES];

static Pair
pair_new (void)
{
  Pair p;

  for (guint i = 0; i < sizeof a_key; i++) {
    a_key[i] = (guint8) i;
    b_key[i] = (guint8) (100 + i);
  }
  p.here = gst_dpm_peer_new (1, "here", 0, 0);
  p.there = gst_dpm_peer_new (2, "there", 0, 0);
  fail_unless (gst_dpm_peer_set_keys (p.here, a_key, b_key));
  fail_unless (gst_dpm_peer_set_keys (p.there, b_key, a_key));
  p.rtp = gst_pad_new ("rtp", GST_PAD_SRC);
  p.rtcp = gst_pad_new ("rtcp", GST_PAD_SRC);
  gst_dpm_peer_set_pads (p.there, p.rtp, p.rtcp);
  return p;
}

static void
pair_free (Pair * p)
{
  gst_dpm_peer_unref (p->here);
  gst_dpm_peer_unref (p->there);
  gst_object_unref (p->rtp);
  gst_object_unref (p->rtcp);
}

static gsize
sent (Pair * p, guint32 ssrc, guint16 seq, guint8 * data)
{
  GstBuffer *buffer = rtp_packet_new (ssrc, seq, 60);
  FmxJoinAddress to;
  gsize size = gst_dpm_peer_protect (p->here, buffer, FALSE, data, &to);

  gst_buffer_unref (buffer);
  return size;
}

/* Returns: whether it came in, on the right pad */
static gboolean
came (Pair * p, const guint8 * data, gsize size)
{
  guint8 copy[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  GstBuffer *buffer;
  GstPad *pad;

  memcpy (copy, data, size);
  buffer = gst_dpm_peer_receive (p->there, copy, size, &pad);
  if (buffer == NULL) {
    fail_unless (pad == NULL);
    return FALSE;
  }
  fail_unless (pad == (data[1] == 200 || data[1] == 201 ? p->rtcp : p->rtp));
  gst_object_unref (pad);
  gst_buffer_unref (buffer);
  return TRUE;
}

static GstDpmPeerStats
stats_of (GstDpmPeer * peer)
{
  GstDpmPeerStats stats;

  gst_dpm_peer_get_stats (peer, &stats);
  return stats;
}

GST_START_TEST (test_what_is_sent_comes_in_and_is_not_readable_on_the_way)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  guint8 plain[60];
  Pair p = pair_new ();
  gsize size;

  memset (plain, 0xff, sizeof plain);
  for (guint seq = 0; seq < 100; seq++) {
    size = sent (&p, 5, (guint16) (65500 + seq), data);
    fail_unless_equals_int (size, 12 + 60 + 16);
    fail_if (memcmp (data + 12, plain, 4) == 0);
    fail_unless (came (&p, data, size));
  }
  fail_unless_equals_uint64 (stats_of (p.there).n_received, 100);
  pair_free (&p);
}

GST_END_TEST;

/* A datagram may stand anywhere in somebody's memory. */
GST_START_TEST (test_packets_may_stand_at_any_address)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES + 8];
  guint8 report[8] = { 0x80, 201, 0, 1, 0, 0, 0, 5 };
  Pair p = pair_new ();
  FmxJoinAddress to;

  for (guint i = 0; i < 8; i++) {
    GstBuffer *rtp = rtp_packet_new (5, (guint16) i, 60);
    GstBuffer *rtcp = gst_buffer_new_memdup (report, sizeof report);
    GstBuffer *buffers[] = { rtp, rtcp };

    for (guint k = 0; k < 2; k++) {
      gsize size = gst_dpm_peer_protect (p.here, buffers[k], k == 1, data + i,
          &to);
      GstPad *pad;
      GstBuffer *buffer = gst_dpm_peer_receive (p.there, data + i, size, &pad);

      fail_unless (buffer != NULL && pad == (k == 1 ? p.rtcp : p.rtp));
      gst_object_unref (pad);
      gst_buffer_unref (buffer);
      gst_buffer_unref (buffers[k]);
    }
  }
  pair_free (&p);
}

GST_END_TEST;

GST_START_TEST (test_a_packet_that_was_touched_is_forged)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  Pair p = pair_new ();
  gsize size = sent (&p, 5, 1, data);

  for (gsize i = 0; i < size; i++) {
    data[i] ^= 4;
    fail_if (came (&p, data, size));
    data[i] ^= 4;
  }
  for (gsize n = 1; n < size; n++)
    fail_if (came (&p, data, n));
  fail_unless (came (&p, data, size));
  fail_unless_equals_uint64 (stats_of (p.there).n_received, 1);
  fail_unless (stats_of (p.there).n_forged > 2 * 60);
  pair_free (&p);
}

GST_END_TEST;

GST_START_TEST (test_a_packet_comes_in_once)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES], other[2000];
  Pair p = pair_new ();
  gsize size = sent (&p, 5, 1, data), n;

  fail_unless (came (&p, data, size));
  for (guint i = 0; i < 10; i++)
    fail_if (came (&p, data, size));
  for (guint i = 2; i < 3000; i++) {
    n = sent (&p, 5, (guint16) i, other);
    fail_unless (came (&p, other, n));
  }
  fail_if (came (&p, data, size));      /* long ago */
  fail_unless_equals_uint64 (stats_of (p.there).n_replayed, 11);
  pair_free (&p);
}

GST_END_TEST;

/* It has come through another one before; its numbers have begun anew meanwhile. */
GST_START_TEST (test_a_session_goes_on_with_who_takes_it)
{
  guint8 first[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES], data[2000];
  GstDpmPeer *before;
  Pair p = pair_new ();
  gsize size = sent (&p, 5, 65534, first), n;

  fail_unless (came (&p, first, size));
  for (guint seq = 65535; seq < 65540; seq++) {
    n = sent (&p, 5, (guint16) seq, data);
    fail_unless (came (&p, data, n));
  }
  before = p.there;
  p.there = gst_dpm_peer_new (2, "there", 0, 0);
  fail_unless (gst_dpm_peer_set_keys (p.there, a_key, b_key));
  gst_dpm_peer_set_pads (p.there, p.rtp, p.rtcp);
  gst_dpm_peer_take_session (p.there, before);
  fail_if (came (&p, first, size));
  fail_unless_equals_uint64 (stats_of (p.there).n_replayed, 1);
  n = sent (&p, 5, 4, data);
  fail_unless (came (&p, data, n));
  fail_unless_equals_uint64 (stats_of (p.there).n_forged, 0);
  gst_dpm_peer_unref (p.there);
  p.there = before;
  n = sent (&p, 5, 5, data);
  fail_if (came (&p, data, n));
  pair_free (&p);
}

GST_END_TEST;

/* Our own packets sent back to us, and those of another session */
GST_START_TEST (test_packets_of_the_other_direction_or_session_are_forged)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  GstBuffer *buffer = rtp_packet_new (5, 1, 60);
  Pair p = pair_new ();
  FmxJoinAddress to;
  gsize size = gst_dpm_peer_protect (p.there, buffer, FALSE, data, &to);

  fail_if (came (&p, data, size));
  size = sent (&p, 5, 1, data);
  a_key[0]++;
  fail_unless (gst_dpm_peer_set_keys (p.there, b_key, a_key));
  fail_unless (came (&p, data, size));
  b_key[0]++;
  fail_unless (gst_dpm_peer_set_keys (p.there, b_key, a_key));
  fail_if (came (&p, data, size));
  gst_dpm_peer_set_keys (p.there, NULL, NULL);
  fail_if (came (&p, data, size));
  gst_buffer_unref (buffer);
  pair_free (&p);
}

GST_END_TEST;

/* A number that was used is not used again for something else: that would be
 * the same key stream twice. */
GST_START_TEST (test_no_number_is_used_twice)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  Pair p = pair_new ();

  fail_unless (sent (&p, 5, 1, data) > 0);
  fail_unless_equals_int (sent (&p, 5, 1, data), 0);
  for (guint i = 2; i < 3000; i++)
    fail_unless (sent (&p, 5, (guint16) i, data) > 0);
  fail_unless_equals_int (sent (&p, 5, 1, data), 0);
  fail_unless_equals_uint64 (stats_of (p.here).n_protect_failed, 2);
  /* that harms nobody else */
  fail_unless (sent (&p, 5, 3000, data) > 0);
  fail_unless (sent (&p, 6, 1, data) > 0);
  pair_free (&p);
}

GST_END_TEST;

/* Forged SSRCs leave nothing behind; genuine ones have a limit. */
GST_START_TEST (test_a_flood_of_ssrcs_is_bounded)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  Pair p = pair_new ();
  gsize size = sent (&p, 5, 1, data);

  for (guint i = 0; i < 10000; i++) {
    data[10] = (guint8) (i >> 8);
    data[11] = (guint8) i;
    data[8] = 1;
    fail_if (came (&p, data, size));
  }
  fail_unless_equals_uint64 (stats_of (p.there).n_forged, 10000);
  for (guint i = 0; i < GST_DPM_MAX_SSRCS + 100; i++) {
    size = sent (&p, 100000 + i, 1, data);
    fail_unless (size > 0 ? came (&p, data, size) : i >= GST_DPM_MAX_SSRCS - 1);
  }
  fail_unless_equals_uint64 (stats_of (p.there).n_received,
      GST_DPM_MAX_SSRCS - 1);
  pair_free (&p);
}

GST_END_TEST;

GST_START_TEST (test_rtcp_is_protected_as_well)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  guint8 report[8] = { 0x80, 201, 0, 1, 0, 0, 0, 5 };
  GstBuffer *buffer = gst_buffer_new_memdup (report, sizeof report);
  Pair p = pair_new ();
  FmxJoinAddress to;
  gsize size = gst_dpm_peer_protect (p.here, buffer, TRUE, data, &to);

  fail_unless_equals_int (size, 8 + 16 + 4);
  data[6] ^= 1;
  fail_if (came (&p, data, size));
  data[6] ^= 1;
  fail_unless (came (&p, data, size));
  fail_if (came (&p, data, size));
  fail_unless_equals_uint64 (stats_of (p.there).n_replayed, 1);
  gst_buffer_unref (buffer);
  pair_free (&p);
}

GST_END_TEST;

GST_START_TEST (test_what_comes_before_its_elements_is_counted)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  Pair p = pair_new ();
  gsize size = sent (&p, 5, 1, data);
  GstBuffer *huge = rtp_packet_new (5, 2, 1500);
  FmxJoinAddress to;

  gst_dpm_peer_set_pads (p.there, NULL, NULL);
  fail_if (came (&p, data, size));
  fail_unless_equals_uint64 (stats_of (p.there).n_early, 1);
  fail_unless_equals_int (gst_dpm_peer_protect (p.here, huge, FALSE, data, &to),
      0);
  gst_buffer_unref (huge);
  pair_free (&p);
}

GST_END_TEST;

/* GStreamer's srtp plugin, or an application, has set libsrtp up before. */
GST_START_TEST (test_it_is_not_the_only_user_of_libsrtp)
{
  guint8 data[GST_DPM_MAX_PACKET_BYTES + GST_DPM_TRAILER_BYTES];
  Pair p;

  srtp_init ();
  p = pair_new ();
  fail_unless (came (&p, data, sent (&p, 5, 1, data)));
  pair_free (&p);
}

GST_END_TEST;

GST_START_TEST (test_addresses_read_as_people_write_them)
{
  FmxJoinAddress v4 = { {[10] = 0xff,[11] = 0xff, 192, 0, 2, 7}, 5004, 0 };
  FmxJoinAddress v6 = { {0x20, 1, 0xd, 0xb8,[15] = 1}, 5004, 0 };
  FmxJoinAddress near = { {0xfe, 0x80,[15] = 1}, 5004, if_nametoindex ("lo") };
  gchar *text = gst_dpm_address_to_string (&v4);

  fail_unless_equals_string (text, "192.0.2.7:5004");
  g_free (text);
  text = gst_dpm_address_to_string (&v6);
  fail_unless_equals_string (text, "[2001:db8::1]:5004");
  g_free (text);
  text = gst_dpm_address_to_string (&near);
  fail_unless_equals_string (text, "[fe80::1%lo]:5004");
  g_free (text);
}

GST_END_TEST;

static Suite *
dpmpeer_suite (void)
{
  Suite *s = suite_create ("dpmpeer");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc,
      test_what_is_sent_comes_in_and_is_not_readable_on_the_way);
  tcase_add_test (tc, test_packets_may_stand_at_any_address);
  tcase_add_test (tc, test_a_packet_that_was_touched_is_forged);
  tcase_add_test (tc, test_a_packet_comes_in_once);
  tcase_add_test (tc,
      test_packets_of_the_other_direction_or_session_are_forged);
  tcase_add_test (tc, test_a_session_goes_on_with_who_takes_it);
  tcase_add_test (tc, test_no_number_is_used_twice);
  tcase_add_test (tc, test_a_flood_of_ssrcs_is_bounded);
  tcase_add_test (tc, test_rtcp_is_protected_as_well);
  tcase_add_test (tc, test_what_comes_before_its_elements_is_counted);
  tcase_add_test (tc, test_it_is_not_the_only_user_of_libsrtp);
  tcase_add_test (tc, test_addresses_read_as_people_write_them);
  return s;
}

GST_CHECK_MAIN (dpmpeer);
