/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a browser hears in its slots while voices go into the mix and come back: one
 * decoder for each slot, whoever is in it.  How it fills a gap is its own affair
 * (NetEQ fades over); a packet that overlaps the one before is thrown away. */

#include <math.h>
#include <opus.h>

#include "../gstfairmixcheck.h"
#include "mixrig.h"

#define N_SLOTS 3
#define N_TALKERS 3             /* so that the mix has to take somebody's slot */
#define AMPLITUDE 3000
#define N_CHANGES 12

static const gdouble tones[N_TALKERS] = { 300, 450, 700 };

typedef struct
{
  GstPad *pad;
  OpusDecoder *decoder;
  guint32 next_ts;
  gint16 last;                  /* sample */
  gdouble largest_step;
  guint n_packets, n_changes, n_overlaps;
} Slot;

static Slot slots[N_SLOTS];
static GstPad *into;

static void
hear (Slot * slot, GstRTPBuffer * rtp)
{
  const guint32 ts = gst_rtp_buffer_get_timestamp (rtp);
  gint16 samples[5760];
  gint n = opus_decode (slot->decoder, gst_rtp_buffer_get_payload (rtp),
      (opus_int32) gst_rtp_buffer_get_payload_len (rtp), samples, 5760, 0);
  gint i;

  fail_unless (n > 0);
  if (slot->n_packets++ > 0)
    slot->n_overlaps += (gint32) (ts - slot->next_ts) < 0;
  if (ts != slot->next_ts)
    slot->last = samples[0];
  for (i = 0; i < n; i++) {
    slot->largest_step = MAX (slot->largest_step,
        (gdouble) abs (samples[i] - slot->last));
    slot->last = samples[i];
  }
  slot->next_ts = ts + (guint32) n;
}

static GstFlowReturn
take_packet (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Slot *slot = gst_pad_get_element_private (pad);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  slot->n_changes += gst_rtp_buffer_get_marker (&rtp);
  hear (slot, &rtp);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstPadProbeReturn
pass_on (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  fail_unless_equals_int (gst_pad_push (into,
          gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (info))), GST_FLOW_OK);
  return GST_PAD_PROBE_OK;
}

static GstElement *
slots_new (Rig * rig)
{
  GstElement *element = gst_element_factory_make ("rtpslots", NULL);
  GstSegment segment;
  guint i;

  gst_element_set_clock (element, GST_CLOCK (rig->clock));
  for (i = 0; i < N_SLOTS; i++) {
    GstPad *src = gst_element_request_pad_simple (element, "src_%u");
    GstPad *pad = gst_pad_new (NULL, GST_PAD_SINK);

    slots[i] = (Slot) {
      .pad = pad,.decoder = opus_decoder_create (RIG_RATE, 1, NULL)
    };
    gst_pad_set_element_private (pad, &slots[i]);
    gst_pad_set_chain_function (pad, take_packet);
    gst_pad_set_active (pad, TRUE);
    fail_unless (gst_pad_link (src, pad) == GST_PAD_LINK_OK);
    gst_object_unref (src);
  }
  into = gst_pad_new ("src", GST_PAD_SRC);
  gst_pad_set_active (into, TRUE);
  fail_unless (gst_pad_link_full (into, element->sinkpads->data,
          GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK);
  gst_element_set_state (element, GST_STATE_PLAYING);
  gst_pad_push_event (into, gst_event_new_stream_start ("x"));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (into, gst_event_new_segment (&segment));
  return element;
}

/* Of all tones in one slot */
static gdouble
largest_step (void)
{
  gdouble step = 0.0;
  guint i;

  for (i = 0; i < N_TALKERS; i++)
    step += AMPLITUDE * 2.0 * G_PI * tones[i] / RIG_RATE;
  return step;
}

GST_START_TEST (test_a_slots_change_is_no_click)
{
  Rig *rig = rig_new (NULL);
  RigListener *listener = rig_listener (rig, "src_0", NULL);
  GstElement *element = slots_new (rig);
  guint n_changes = 0;
  guint i, k;

  for (i = 0; i < N_TALKERS; i++) {
    gchar *name = g_strdup_printf ("sink_%u", i + 1);

    rig_talker (rig, name, 100 + i, RIG_OPUS, tones[i], AMPLITUDE);
    g_free (name);
  }
  gst_pad_add_probe (listener->peer, GST_PAD_PROBE_TYPE_BUFFER, pass_on, NULL,
      NULL);
  rig_play (rig);
  for (k = 0; k < N_CHANGES; k++) {
    rig_set_target (listener, k % 2 == 0 ? 0 : 40000);
    rig_run (rig, 30 + k);
    fail_unless_equals_int (rig_pad_stat (listener, "n-mixed"),
        k % 2 == 0 ? 0 : N_TALKERS);
  }
  for (i = 0; i < N_SLOTS; i++) {
    n_changes += slots[i].n_changes;
    fail_unless_equals_int (slots[i].n_overlaps, 0);
    fail_unless (slots[i].n_packets > 100);
    fail_unless (slots[i].largest_step < 1.1 * largest_step (),
        "a step of %g in slot %u", slots[i].largest_step, i);
    opus_decoder_destroy (slots[i].decoder);
  }
  fail_unless (n_changes >= N_CHANGES);
  /* beyond the mix, and who comes back: nobody drives out one who speaks */
  fail_unless (n_changes <= N_CHANGES + 4, "%u changes", n_changes);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (into);
  for (i = 0; i < N_SLOTS; i++)
    gst_object_unref (slots[i].pad);
  rig_free (rig);
}

GST_END_TEST;

static Suite *
rtpslots_sound_suite (void)
{
  Suite *suite = suite_create ("rtpslots-sound");
  TCase *tc = tcase_create ("sound");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_slots_change_is_no_click);
  return suite;
}

GST_CHECK_MAIN (rtpslots_sound);
