/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* For how long a voice is not heard when a link becomes narrow and it goes into the
 * mix, in virtual time: what the mixer sends passes a queue as access networks have
 * it, and is played as it comes.  No machine's load counts, and nothing conceals. */

#include "mixrig.h"

#define N_TALKERS 3
#define NARROW_BPS 60000
#define QUEUE (300 * GST_MSECOND)
#define PACKET_TIME (20 * GST_MSECOND)
#define BEGIN_FRAMES 25         /* then the link is narrow ... */
#define END_FRAMES 60
#define TARGET_BPS 45000
#define PHASE (4 * GST_MSECOND)
#define UDP_BYTES 28

typedef struct
{
  GstClockTime sent;
  guint bytes;
  guint32 ssrc;
  guint voices;                 /* bit n: talker n is in it */
} Sent;

static GstPadProbeReturn
note_packet (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  Rig *rig = g_object_get_data (G_OBJECT (pad), "rig");
  Sent sent = {
    .sent = gst_clock_get_time (GST_CLOCK (rig->clock)),
    .bytes = (guint) gst_buffer_get_size (buffer) + UDP_BYTES,
  };
  guint i;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  sent.ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  for (i = 0; i < gst_rtp_buffer_get_csrc_count (&rtp); i++)
    sent.voices |= 1u << (gst_rtp_buffer_get_csrc (&rtp, (guint8) i) - 100);
  if (sent.voices == 0)
    sent.voices = 1u << (sent.ssrc - 100);
  gst_rtp_buffer_unmap (&rtp);
  g_array_append_val ((GArray *) user_data, sent);
  return GST_PAD_PROBE_OK;
}

/* All that is sent to somebody whose rate falls so many frames after his link became
 * narrow */
static GArray *
send_all (const gchar * properties, guint decision_frames)
{
  Rig *rig = rig_new (properties);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GArray *sent = g_array_new (FALSE, FALSE, sizeof (Sent));
  guint i;

  g_object_set_data (G_OBJECT (listener->peer), "rig", rig);
  gst_pad_add_probe (listener->peer, GST_PAD_PROBE_TYPE_BUFFER, note_packet,
      sent, NULL);
  for (i = 0; i < N_TALKERS; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i + 1);

    rig_talker (rig, name, 100 + i, RIG_OPUS, 300 + 150 * i, 3000);
    g_free (name);
  }
  rig_play (rig);
  rig_run (rig, BEGIN_FRAMES + decision_frames);
  fail_unless_equals_int (rig_pad_stat (listener, "n-separate"), N_TALKERS);
  rig_set_target (listener, TARGET_BPS);
  rig_run (rig, END_FRAMES);
  fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"), N_TALKERS);
  rig_free (rig);
  return sent;
}

/* Returns: the longest silence of any voice, in ms, where the link becomes narrow at
 * @narrow */
static guint
longest_silence (const GArray * sent, GstClockTime narrow)
{
  GHashTable *slots = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GstClockTime heard_until[N_TALKERS] = { 0, };
  GstClockTime free_at = 0, longest = 0;
  guint i, n;

  for (i = 0; i < sent->len; i++) {
    const Sent *packet = &g_array_index (sent, Sent, i);
    GstClockTime at = packet->sent, *end;

    if (at >= narrow) {
      GstClockTime takes = gst_util_uint64_scale_int (packet->bytes * 8,
          GST_SECOND, NARROW_BPS);

      at = MAX (at, free_at) + takes;
      if (at > packet->sent + QUEUE)
        continue;               /* there was no room */
      free_at = at;
    }
    end = g_hash_table_lookup (slots, GUINT_TO_POINTER (packet->ssrc));
    if (end == NULL) {
      end = g_new0 (GstClockTime, 1);
      g_hash_table_insert (slots, GUINT_TO_POINTER (packet->ssrc), end);
    }
    at = MAX (at, *end);
    *end = at + PACKET_TIME;
    for (n = 0; n < N_TALKERS; n++) {
      if ((packet->voices & 1u << n) == 0)
        continue;
      if (heard_until[n] > 0 && at > heard_until[n])
        longest = MAX (longest, at - heard_until[n]);
      heard_until[n] = MAX (heard_until[n], *end);
    }
  }
  g_hash_table_unref (slots);
  return (guint) (longest / GST_MSECOND);
}

/* The worst of all moments at which the link may become narrow between two packets */
static guint
worst_silence (const gchar * properties, guint decision_frames)
{
  GArray *sent = send_all (properties, decision_frames);
  guint worst = 0;
  GstClockTime phase;

  for (phase = 0; phase < PACKET_TIME; phase += PHASE)
    worst = MAX (worst, longest_silence (sent,
            BEGIN_FRAMES * PACKET_TIME + phase));
  g_array_unref (sent);
  return worst;
}

/* What waits in the queue at the decision is heard first, whatever is sent then: each
 * 20 ms that it comes later cost up to 27.  To play the last 60 ms of what was forwarded
 * again in the mix, which then begins earlier, changed none of these numbers. */
GST_START_TEST (test_a_voice_is_back_soon_after_its_link_became_narrow)
{
  static const struct
  {
    guint frames, most_ms;
  } decisions[] = { {5, 80}, {9, 131}, {13, 212} };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (decisions); i++) {
    guint ms = worst_silence ("latency=40000000", decisions[i].frames);

    fail_unless (ms > 0 && ms <= decisions[i].most_ms,
        "%u ms of silence where it is decided after %u ms", ms,
        decisions[i].frames * 20);
  }
}

GST_END_TEST;

static Suite *
partialmix_narrow_suite (void)
{
  Suite *suite = suite_create ("partialmix-narrow");
  TCase *tc = tcase_create ("narrow");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_voice_is_back_soon_after_its_link_became_narrow);
  return suite;
}

GST_CHECK_MAIN (partialmix_narrow);
