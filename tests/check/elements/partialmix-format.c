/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* In which format mixes are sent, and that it follows the target. */

#include "gst/common/gstfairmixevents.h"
#include "mixrig.h"

#define IP_UDP_BYTES 28
#define G711_ONLY "application/x-rtp,encoding-name=(string){PCMU,PCMA}," \
    "clock-rate=8000"
#define NO_OPUS "application/x-rtp,encoding-name=(string){PCMU,L16}"
#define G711_BPS ((160 + 40) * 8 * 50)

/* What arrived in packets from index @from on, in bits per second on the wire;
 * each of @n_frames frames lasts 20 ms. */
static guint
measure_bps (RigListener * listener, guint from, guint n_frames)
{
  guint64 bytes = 0;
  guint i;

  for (i = from; i < listener->buffers->len; i++)
    bytes += gst_buffer_get_size (rig_nth (listener, i)) + IP_UDP_BYTES;
  return (guint) (bytes * 8 * 50 / n_frames);
}

/* Runs for 2 s.  Returns: what came in the second half of it, in bits/s */
static guint
run_and_measure (Rig * rig, RigListener * listener)
{
  guint from;

  rig_run (rig, 50);
  from = listener->buffers->len;
  rig_run (rig, 50);
  return measure_bps (listener, from, 50);
}

/* The payload types are the talkers': 97 L16, 0 PCMU, and 96 nobody's. */
static void
check_pt (RigListener * listener, guint8 expected)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (rig_nth (listener,
              listener->buffers->len - 1), GST_MAP_READ, &rtp));
  fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp), expected);
  gst_rtp_buffer_unmap (&rtp);
}

/* The first talker's format says nothing of what the path carries. */
GST_START_TEST (test_a_mix_keeps_to_the_target_whatever_comes_in)
{
  const RigEncoding encodings[] = { RIG_L16, RIG_PCMU };
  const guint targets[] = { 40000, 64000 };
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint k, bps;

  rig_talkers (rig, 1, 3, encodings[__i__]);
  rig_play (rig);
  for (k = 0; k < G_N_ELEMENTS (targets); k++) {
    rig_set_target (listener, targets[k]);
    bps = run_and_measure (rig, listener);
    /* Opus may borrow from the next packet: at most one of 50 too much */
    fail_unless (bps <= targets[k] / 50 * 51 && bps > targets[k] / 2,
        "%u of %u", bps, targets[k]);
    check_pt (listener, 96);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Who takes nothing but G.711 gets it when its path carries that. */
GST_START_TEST (test_a_constant_rate_waits_for_a_target_that_carries_it)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", G711_ONLY);
  guint k;

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_talkers (rig, 3, 1, RIG_OPUS);
  rig_play (rig);
  for (k = 0; k < 2; k++) {
    rig_set_target (listener, G711_BPS - 1000);
    fail_unless_equals_int (run_and_measure (rig, listener), 0);
    rig_set_target (listener, G711_BPS + 20000);
    fail_unless (run_and_measure (rig, listener) >= G711_BPS);
    fail_unless (run_and_measure (rig, listener) <= G711_BPS + 20000);
    check_pt (listener, 0);
  }
  rig_free (rig);
}

GST_END_TEST;

/* Of what it takes, what the streams come in, as soon as the target allows
 * that.  A stream in another clock rate is another stream. */
GST_START_TEST (test_without_opus_the_format_follows_the_target)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NO_OPUS);
  guint before;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_play (rig);
  rig_set_target (listener, 100000);
  fail_unless (run_and_measure (rig, listener) <= 100000);
  check_pt (listener, 0);
  before = listener->buffers->len;

  rig_set_target (listener, RIG_L16_MIX_BPS * 5 / 4);
  fail_unless (run_and_measure (rig, listener) > 768000);
  check_pt (listener, 97);
  rig_set_target (listener, 100000);
  fail_unless (run_and_measure (rig, listener) <= 100000);
  check_pt (listener, 0);
  fail_unless_equals_int (rig_count_ssrcs (listener, before), 2);
  rig_free (rig);
}

GST_END_TEST;

/* Returns: in what the mixes are, as it was said last */
static gchar *
latest_encoding (Rig * rig)
{
  GstMessage *message;
  gchar *encoding = NULL;

  while ((message = gst_bus_pop_filtered (rig->bus, GST_MESSAGE_ELEMENT))) {
    const GstStructure *s = gst_message_get_structure (message);

    if (gst_structure_has_field (s, "mix-encoding")) {
      g_free (encoding);
      encoding = g_strdup (gst_structure_get_string (s, "mix-encoding"));
    }
    gst_message_unref (message);
  }
  return encoding;
}

static void
check_encoding (Rig * rig, const gchar * expected)
{
  gchar *encoding = latest_encoding (rig);

  fail_unless_equals_string (encoding, expected);
  g_free (encoding);
}

/* Whoever asks for L16 gets it as soon as the path carries it, and until then what
 * the path does carry: nothing leaves faster than it may. */
GST_START_TEST (test_what_the_property_asks_for_does_not_exceed_the_target)
{
  Rig *rig = rig_new ("mix-encoding=l16");
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint k;

  rig_talkers (rig, 1, 3, RIG_L16);
  rig_play (rig);
  for (k = 0; k < 2; k++) {
    rig_set_target (listener, 40000);
    fail_unless (run_and_measure (rig, listener) <= 40000);
    check_pt (listener, 96);
    check_encoding (rig, "OPUS");
    rig_set_target (listener, RIG_L16_MIX_BPS * 3 / 2);
    fail_unless (run_and_measure (rig, listener) > 768000);
    check_pt (listener, 97);
    check_encoding (rig, "L16");
  }
  gst_pad_push_event (listener->pad, gst_fairmix_target_bitrate_event_new (0));
  fail_unless_equals_int (run_and_measure (rig, listener), 0);
  rig_free (rig);
}

GST_END_TEST;

/* ... and nothing if it takes nothing else. */
GST_START_TEST (test_what_the_property_asks_for_is_held_where_nothing_else_fits)
{
  Rig *rig = rig_new ("mix-encoding=pcmu");
  RigListener *listener = rig_listener (rig, "src_0", G711_ONLY);

  rig_talkers (rig, 1, 2, RIG_PCMU);
  rig_play (rig);
  rig_set_target (listener, G711_BPS - 1000);
  fail_unless_equals_int (run_and_measure (rig, listener), 0);
  rig_set_target (listener, G711_BPS + 20000);
  fail_unless (run_and_measure (rig, listener) >= G711_BPS);
  rig_free (rig);
}

GST_END_TEST;

/* The first talker's payload type is 97, and not Opus. */
GST_START_TEST (test_a_mix_has_a_payload_type_of_its_own)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  guint i;

  rig_talkers (rig, 1, 2, RIG_L16);
  rig_play (rig);
  rig_set_target (listener, 40000);
  rig_run (rig, 50);
  fail_unless (listener->buffers->len > 40);
  for (i = 0; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ,
            &rtp));
    fail_unless_equals_int (gst_rtp_buffer_get_payload_type (&rtp),
        gst_rtp_buffer_get_payload_len (&rtp) > 1000 ? 97 : 96);
    gst_rtp_buffer_unmap (&rtp);
  }
  rig_free (rig);
}

GST_END_TEST;

static Suite *
partialmix_format_suite (void)
{
  Suite *suite = suite_create ("partialmix-format");
  TCase *tc;

  tc = tcase_create ("format");
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_a_mix_keeps_to_the_target_whatever_comes_in, 0,
      2);
  tcase_add_test (tc, test_a_constant_rate_waits_for_a_target_that_carries_it);
  tcase_add_test (tc, test_without_opus_the_format_follows_the_target);
  tcase_add_test (tc,
      test_what_the_property_asks_for_does_not_exceed_the_target);
  tcase_add_test (tc,
      test_what_the_property_asks_for_is_held_where_nothing_else_fits);
  tcase_add_test (tc, test_a_mix_has_a_payload_type_of_its_own);
  return suite;
}

GST_CHECK_MAIN (partialmix_format);
