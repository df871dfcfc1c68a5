/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef RTP_SLOTS_RIG_H
#define RTP_SLOTS_RIG_H

/* An rtpslots in virtual time, talkers before it, and ears behind it */

#include "../gstfairmixcheck.h"

#define N_SLOTS 3
#define CAPS "application/x-rtp,media=audio,payload=96,clock-rate=48000," \
    "encoding-name=OPUS"
#define TICKS 960               /* 20 ms */

typedef struct
{
  GstHarness *in;
  GstHarness *out[N_SLOTS];
  GstTestClock *clock;
} Rig;

static void
rig_init (Rig * rig)
{
  GstElement *element = gst_element_factory_make ("rtpslots", NULL);
  guint i;

  rig->in = gst_harness_new_with_element (element, "sink", NULL);
  rig->clock = gst_harness_get_testclock (rig->in);
  for (i = 0; i < N_SLOTS; i++)
    rig->out[i] = gst_harness_new_with_element (element, NULL, "src_%u");
  gst_harness_set_src_caps_str (rig->in, CAPS);
  gst_object_unref (element);
}

static void
rig_clear (Rig * rig)
{
  guint i;

  for (i = 0; i < N_SLOTS; i++)
    gst_harness_teardown (rig->out[i]);
  gst_harness_teardown (rig->in);
  gst_object_unref (rig->clock);
}

/* What the talker says; @n_csrcs contributors: it is a mix */
static void
say (Rig * rig, guint32 ssrc, guint16 seq, guint n_csrcs)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (40, 0, (guint8) n_csrcs);
  guint8 level = 30, *payload;
  guint i;

  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp));
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, ssrc * 1000 + seq * TICKS);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  for (i = 0; i < n_csrcs; i++)
    gst_rtp_buffer_set_csrc (&rtp, (guint8) i, 1000 + i);
  gst_rtp_buffer_add_extension_onebyte_header (&rtp, 1, &level, 1);
  payload = gst_rtp_buffer_get_payload (&rtp);
  for (i = 0; i < 40; i++)
    payload[i] = (guint8) (ssrc + i);
  gst_rtp_buffer_unmap (&rtp);
  GST_BUFFER_PTS (buffer) = gst_clock_get_time (GST_CLOCK (rig->clock));
  fail_unless_equals_int (gst_harness_push (rig->in, buffer), GST_FLOW_OK);
}

static void
wait_ms (Rig * rig, guint ms)
{
  gst_test_clock_advance_time (rig->clock, ms * GST_MSECOND);
}

typedef struct
{
  guint32 ssrc, ts;
  guint16 seq;
  guint n_csrcs;
  guint32 csrc;
  guint8 level;
  gboolean marker;
  guint8 payload;               /* its first byte */
} Heard;

/* FALSE if nothing came */
static gboolean
hear (Rig * rig, guint slot, Heard * heard)
{
  GstBuffer *buffer = gst_harness_try_pull (rig->out[slot]);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gpointer level;
  guint size;

  if (buffer == NULL)
    return FALSE;
  fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
  heard->ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  heard->ts = gst_rtp_buffer_get_timestamp (&rtp);
  heard->seq = gst_rtp_buffer_get_seq (&rtp);
  heard->n_csrcs = gst_rtp_buffer_get_csrc_count (&rtp);
  heard->csrc = heard->n_csrcs > 0 ? gst_rtp_buffer_get_csrc (&rtp, 0) : 0;
  heard->marker = gst_rtp_buffer_get_marker (&rtp);
  fail_unless (gst_rtp_buffer_get_extension_onebyte_header (&rtp, 1, 0, &level,
          &size));
  heard->level = *(guint8 *) level;
  fail_unless_equals_int (gst_rtp_buffer_get_payload_len (&rtp), 40);
  heard->payload = *(guint8 *) gst_rtp_buffer_get_payload (&rtp);
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (buffer);
  return TRUE;
}

#endif /* RTP_SLOTS_RIG_H */
