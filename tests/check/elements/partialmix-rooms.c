/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rooms of partialmix that know neither the element nor its pads: who is believed
 * to be who, payload types, the numbers of one link, who is in a mix, what a mix foretells,
 * settings.
 * The table and the selection are in partialmix-table.c, the voice in
 * partialmix-voice.c. */
#include "../gstfairmixcheck.h"

#include "partialmix/gstpartialmixforetold.h"
#include "partialmix/gstpartialmixidentity.h"
#include "partialmix/gstpartialmixlink.h"
#include "partialmix/gstpartialmixmembers.h"
#include "partialmix/gstpartialmixpayloads.h"
#include "partialmix/gstpartialmixsettings.h"

static const GstPartialMixFormat opus = {
  GST_PARTIAL_MIX_ENCODING_OPUS, 48000, 2, 96
};

static const GstPartialMixFormat l16 = {
  GST_PARTIAL_MIX_ENCODING_L16, 48000, 1, 96
};

static const GstPartialMixFormat pcmu = {
  GST_PARTIAL_MIX_ENCODING_PCMU, 8000, 1, 0
};

GST_START_TEST (test_the_first_name_is_believed_and_another_after_10_s)
{
  GstPartialMixIdentity identity = {.cname = NULL };
  GstClockTime now = GST_SECOND;

  fail_unless (gst_partial_mix_identity_claim (&identity, "ann", now));
  gst_partial_mix_identity_set_cname (&identity, "ann", FALSE);
  for (; now < 10 * GST_SECOND; now += GST_SECOND)
    fail_if (gst_partial_mix_identity_claim (&identity, "bob", now));
  /* a word of the first one, and it begins anew */
  gst_partial_mix_identity_claim (&identity, "ann", now);
  for (guint i = 0; i < 10; i++, now += GST_SECOND)
    fail_if (gst_partial_mix_identity_claim (&identity, "bob", now));
  fail_unless (gst_partial_mix_identity_claim (&identity, "bob", now));
  gst_partial_mix_identity_clear (&identity);
}

GST_END_TEST;

GST_START_TEST (test_what_the_application_says_no_report_changes)
{
  GstPartialMixIdentity identity = {.cname = NULL };

  gst_partial_mix_identity_set_cname (&identity, "ann", TRUE);
  for (guint i = 0; i < 60; i++)
    fail_if (gst_partial_mix_identity_claim (&identity, "bob", i * GST_SECOND));
  gst_partial_mix_identity_clear (&identity);
}

GST_END_TEST;

GST_START_TEST (test_a_bye_is_void_while_rtp_goes_on)
{
  GstPartialMixIdentity identity = {.cname = NULL };
  GstClockTime bye = 10 * GST_SECOND, wait = GST_PARTIAL_MIX_BYE_WAIT;

  identity.leaving = TRUE;
  identity.bye_at = bye;
  fail_unless_equals_int (gst_partial_mix_identity_check_bye (&identity,
          bye - 1, bye + wait / 2), GST_PARTIAL_MIX_STAYS);
  fail_unless_equals_int (gst_partial_mix_identity_check_bye (&identity,
          bye - 1, bye + 2 * wait), GST_PARTIAL_MIX_LEFT);
  identity.leaving = TRUE;
  identity.bye_at = bye;
  fail_unless_equals_int (gst_partial_mix_identity_check_bye (&identity,
          bye + wait, bye + 2 * wait), GST_PARTIAL_MIX_BYE_WAS_VOID);
}

GST_END_TEST;

GST_START_TEST (test_a_claim_waits_for_rtp_from_the_same_place)
{
  const GstPartialMixPlace here = { 1, NULL }, there = { 2, NULL };
  GstPartialMixClaims *claims = gst_partial_mix_claims_new ();
  gchar *name;

  gst_partial_mix_claims_add (claims, 7, &here, "ann");
  fail_unless (gst_partial_mix_claims_take (claims, 7, &there) == NULL);
  fail_unless (gst_partial_mix_claims_take (claims, 8, &here) == NULL);
  name = gst_partial_mix_claims_take (claims, 7, &here);
  fail_unless_equals_string (name, "ann");
  g_free (name);
  fail_unless (gst_partial_mix_claims_take (claims, 7, &here) == NULL);
  /* however many are claimed, few wait */
  for (guint i = 0; i < 100000; i++)
    gst_partial_mix_claims_add (claims, i, &here, "mob");
  fail_unless (gst_partial_mix_claims_take (claims, 0, &here) == NULL);
  gst_partial_mix_claims_free (claims);
}

GST_END_TEST;

GST_START_TEST (test_a_payload_type_means_one_thing)
{
  GstPartialMixPayloads payloads;
  guint8 a, b, c;

  gst_partial_mix_payloads_init (&payloads, -1, 0);
  a = gst_partial_mix_payloads_take (&payloads, &opus, FALSE);
  b = gst_partial_mix_payloads_take (&payloads, &l16, FALSE);
  fail_unless_equals_int (a, 96);
  fail_unless (b > 96);
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &opus,
          FALSE), a);
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &pcmu,
          FALSE), 0);
  fail_if (gst_caps_is_equal (gst_partial_mix_payloads_caps (&payloads, a),
          gst_partial_mix_payloads_caps (&payloads, b)));
  /* one of two gives it back: it still means the same */
  gst_partial_mix_payloads_give (&payloads, a);
  c = gst_partial_mix_payloads_take (&payloads, &l16, FALSE);
  fail_unless_equals_int (c, b);
  /* both: it may mean something else */
  gst_partial_mix_payloads_give (&payloads, a);
  gst_partial_mix_payloads_give (&payloads, b);
  gst_partial_mix_payloads_give (&payloads, c);
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &l16,
          FALSE), 96);
  gst_partial_mix_payloads_clear (&payloads);
}

GST_END_TEST;

/* 10 is L16 in stereo at 44.1 kHz, whoever says what. */
GST_START_TEST (test_a_static_payload_type_means_nothing_else)
{
  GstPartialMixFormat mix = l16;
  GstPartialMixPayloads payloads;

  mix.pt = 10;
  gst_partial_mix_payloads_init (&payloads, -1, 0);
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &mix,
          TRUE), 96);
  mix.clock_rate = 44100;
  mix.channels = 2;
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &mix,
          FALSE), 10);
  gst_partial_mix_payloads_clear (&payloads);
}

GST_END_TEST;

GST_START_TEST (test_a_reserved_payload_type_is_the_mixes)
{
  GstPartialMixPayloads payloads;

  gst_partial_mix_payloads_init (&payloads, 96, 0);
  fail_unless (gst_partial_mix_payloads_take (&payloads, &opus, FALSE) != 96);
  fail_unless_equals_int (gst_partial_mix_payloads_take (&payloads, &opus,
          TRUE), 96);
  gst_partial_mix_payloads_clear (&payloads);
}

GST_END_TEST;

GST_START_TEST (test_a_link_numbers_on_after_a_stay_in_the_mix)
{
  GstPartialMixLink link;
  guint16 seq;

  gst_partial_mix_link_init (&link, FMX_HANDOVER_SEPARATE, 0, 0);
  for (guint i = 0; i < 3; i++) {
    seq = (guint16) (65534 + i);
    fail_unless (gst_partial_mix_link_number (&link, &seq));
    fail_unless_equals_int (seq, (guint16) (65534 + i));
  }
  gst_partial_mix_link_restart (&link);
  seq = 501;
  fail_unless (gst_partial_mix_link_number (&link, &seq));
  fail_unless_equals_int (seq, 1);
  /* overtaken by the first one: its number is gone */
  seq = 500;
  fail_if (gst_partial_mix_link_number (&link, &seq));
  seq = 503;
  fail_unless (gst_partial_mix_link_number (&link, &seq));
  fail_unless_equals_int (seq, 3);
  seq = 502;
  fail_unless (gst_partial_mix_link_number (&link, &seq));
  fail_unless_equals_int (seq, 2);
}

GST_END_TEST;

GST_START_TEST (test_the_same_members_have_the_same_key)
{
  GstPad *pad = gst_object_ref_sink (gst_pad_new ("sink_0", GST_PAD_SINK));
  GstPartialMixStream *streams[3];
  GstPartialMixMembers a, b;

  for (guint i = 0; i < 3; i++) {
    streams[i] = gst_partial_mix_stream_new (1 + i, pad, &opus, 48000);
    streams[i]->slot = i;
  }
  gst_partial_mix_members_init (&a);
  gst_partial_mix_members_init (&b);
  for (guint i = 0; i < 3; i++) {
    gst_partial_mix_members_add (&a, streams[i]);
    gst_partial_mix_members_add (&b, streams[2 - i]);
  }
  fail_unless (a.key == b.key);
  gst_partial_mix_members_remove (&a, streams[1]);
  fail_unless (a.key != b.key);
  fail_unless_equals_int (a.n, 2);
  fail_unless (gst_partial_mix_set_contains (b.slots, 1));
  fail_if (gst_partial_mix_set_contains (a.slots, 1));
  gst_partial_mix_members_copy (&b, &a);
  fail_unless (a.key == b.key && b.n == 2);
  gst_partial_mix_members_clear (&a);
  gst_partial_mix_members_clear (&b);
  for (guint i = 0; i < 3; i++)
    gst_partial_mix_stream_unref (streams[i]);
  gst_object_unref (pad);
}

GST_END_TEST;

/* Those of the element's own properties; none of any other number */
GST_START_TEST (test_a_setting_is_what_it_was_set_to)
{
  GstPartialMixSettings settings;
  GValue value = G_VALUE_INIT;
  guint id, n_known = 0;

  gst_partial_mix_settings_init (&settings);
  g_value_init (&value, G_TYPE_UINT64);
  for (id = 0; id < 1000; id++)
    if (id == 0 || id >= GST_PARTIAL_MIX_N_SETTINGS) {
      fail_if (gst_partial_mix_settings_get (&settings, id, &value));
      fail_if (gst_partial_mix_settings_set (&settings, id, &value));
      n_known++;
    }
  fail_unless (n_known > 900);
  fail_unless_equals_uint64 (settings.frame_duration, 20 * GST_MSECOND);
}

GST_END_TEST;

static void
foretell (GstPartialMixForetellings * all, guint32 ssrc, gboolean mixed,
    GstClockTime now)
{
  const GstPartialMixForetold told = {
    .time = {.ssrc = ssrc,.timestamp = ssrc + (guint32) now,.mixed = mixed},
    .at = (GstClockTimeDiff) now,
    .told_at = now,
  };

  gst_partial_mix_foretold_note (all, &told);
}

GST_START_TEST (test_what_was_foretold_is_kept_until_it_comes)
{
  GstPartialMixForetellings all = {.n = 0 };
  GstPartialMixForetold told;

  fail_if (gst_partial_mix_foretold_take (&all, 1, &told));
  foretell (&all, 1, TRUE, 10);
  foretell (&all, 2, FALSE, 20);
  foretell (&all, 2, FALSE, 30);
  foretell (&all, 1, FALSE, 40);        /* it has left the mix, and is on its way */
  gst_partial_mix_foretold_move (&all, -3);
  fail_unless (gst_partial_mix_foretold_take (&all, 1, &told));
  fail_unless (told.time.mixed);
  fail_unless_equals_int64 (told.at, 10 - 3);
  fail_unless_equals_uint64 (told.told_at, 40);
  fail_unless (gst_partial_mix_foretold_take (&all, 2, &told));
  fail_if (told.time.mixed);
  fail_unless_equals_int64 (told.at, 30 - 3);
  fail_if (gst_partial_mix_foretold_take (&all, 1, &told));
}

GST_END_TEST;

/* Returns: whether the stream's next packet is for a decoder alone */
static gboolean
arrives_unheard (GstPartialMixStream * stream)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (2 * 960, 0, 0);
  GstPartialMixArrival arrival = {.buffer = buffer,.level = -1 };
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  fail_unless (gst_partial_mix_stream_arrive (stream, &arrival, &rtp, 60));
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (buffer);
  return arrival.unheard;
}

/* @anew: it begins anew before it is heard.  Returns: whether what comes first is for a
 * decoder alone */
static gboolean
comes_out (gboolean anew)
{
  const FmxContributorTime time = {.ssrc = 2,.timestamp = 0,.mixed = TRUE };
  GstPad *pad = gst_object_ref_sink (gst_pad_new ("sink_0", GST_PAD_SINK));
  GstPartialMixStream *mix = gst_partial_mix_stream_new (1, pad, &l16, 48000);
  GstPartialMixStream *voice = gst_partial_mix_stream_new (2, pad, &l16, 48000);
  gboolean unheard;

  gst_partial_mix_stream_foretell (mix, &time, 0, 40);
  gst_partial_mix_stream_come_out (voice, mix, 50);
  if (anew)
    gst_partial_mix_stream_flush (voice);
  unheard = arrives_unheard (voice);
  gst_partial_mix_stream_unref (mix);
  gst_partial_mix_stream_unref (voice);
  gst_object_unref (pad);
  return unheard;
}

GST_START_TEST (test_who_begins_anew_comes_out_of_no_mix)
{
  fail_unless (comes_out (FALSE));
  fail_if (comes_out (TRUE));
}

GST_END_TEST;

/* Whoever mixes may name as many as there are. */
GST_START_TEST (test_no_more_is_foretold_than_fits)
{
  GstPartialMixForetellings all = {.n = 0 };
  GstPartialMixForetold told;
  guint32 ssrc;

  for (ssrc = 1; ssrc <= GST_PARTIAL_MIX_MAX_FORETOLD; ssrc++)
    foretell (&all, ssrc, TRUE, ssrc);
  foretell (&all, 1, TRUE, 500);
  for (ssrc = 1000; ssrc < 1010; ssrc++)
    foretell (&all, ssrc, TRUE, ssrc);
  fail_unless_equals_int (all.n, GST_PARTIAL_MIX_MAX_FORETOLD);
  fail_unless (gst_partial_mix_foretold_take (&all, 1, &told));
  for (ssrc = 2; ssrc <= 11; ssrc++)
    fail_if (gst_partial_mix_foretold_take (&all, ssrc, &told));
  fail_unless (gst_partial_mix_foretold_take (&all, 12, &told));
  fail_unless (gst_partial_mix_foretold_take (&all, 1009, &told));
}

GST_END_TEST;

static Suite *
partialmix_rooms_suite (void)
{
  Suite *s = suite_create ("partialmix-rooms");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_the_first_name_is_believed_and_another_after_10_s);
  tcase_add_test (tc, test_what_the_application_says_no_report_changes);
  tcase_add_test (tc, test_a_bye_is_void_while_rtp_goes_on);
  tcase_add_test (tc, test_a_claim_waits_for_rtp_from_the_same_place);
  tcase_add_test (tc, test_a_payload_type_means_one_thing);
  tcase_add_test (tc, test_a_static_payload_type_means_nothing_else);
  tcase_add_test (tc, test_a_reserved_payload_type_is_the_mixes);
  tcase_add_test (tc, test_a_link_numbers_on_after_a_stay_in_the_mix);
  tcase_add_test (tc, test_the_same_members_have_the_same_key);
  tcase_add_test (tc, test_what_was_foretold_is_kept_until_it_comes);
  tcase_add_test (tc, test_who_begins_anew_comes_out_of_no_mix);
  tcase_add_test (tc, test_no_more_is_foretold_than_fits);
  tcase_add_test (tc, test_a_setting_is_what_it_was_set_to);
  return s;
}

GST_CHECK_MAIN (partialmix_rooms);
