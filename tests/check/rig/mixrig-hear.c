/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the listeners of a rig heard and counted. */

#include "../gstfairmixcheck.h"
#include "mixrig.h"

#include <math.h>

#include <opus.h>

#include "fairmix/mix/fmx-g711.h"

typedef struct
{
  OpusDecoder *opus;
} Ear;

static void
ear_free (gpointer data)
{
  Ear *ear = data;

  if (ear->opus != NULL)
    opus_decoder_destroy (ear->opus);
  g_free (ear);
}

static guint
decode (GHashTable * ears, GstRTPBuffer * rtp, gint16 * out)
{
  gpointer key = GUINT_TO_POINTER (gst_rtp_buffer_get_ssrc (rtp));
  const guint8 *payload = gst_rtp_buffer_get_payload (rtp);
  guint size = gst_rtp_buffer_get_payload_len (rtp);
  Ear *ear = g_hash_table_lookup (ears, key);
  guint i;

  if (ear == NULL) {
    ear = g_new0 (Ear, 1);
    g_hash_table_insert (ears, key, ear);
  }
  switch (gst_rtp_buffer_get_payload_type (rtp)) {
    case 97:
      for (i = 0; i < size / 2; i++)
        out[i] = (gint16) GST_READ_UINT16_BE (payload + 2 * i);
      return size / 2;
    case 0:{
      gint16 narrow[RIG_FRAME];

      fmx_g711_ulaw_decode (narrow, payload, size);
      for (i = 0; i < size * 6; i++)
        out[i] = narrow[i / 6];
      return size * 6;
    }
    default:
      if (ear->opus == NULL)
        ear->opus = opus_decoder_create (RIG_RATE, 1, NULL);
      return (guint) opus_decode (ear->opus, payload, (opus_int32) size, out,
          5760, 0);
  }
}

gdouble *
rig_hear (Rig * rig, RigListener * listener, guint32 only)
{
  guint n_samples = rig->frame * RIG_FRAME;
  gdouble *heard = g_new0 (gdouble, n_samples);
  GHashTable *ears = g_hash_table_new_full (NULL, NULL, NULL, ear_free);
  gint16 samples[5760];
  guint i, k, n;

  for (i = 0; i < listener->buffers->len; i++) {
    GstBuffer *buffer = rig_nth (listener, i);
    guint64 at = gst_util_uint64_scale_int_round (GST_BUFFER_PTS (buffer),
        RIG_RATE, GST_SECOND);
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    fail_unless (gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp));
    if (only == 0 || gst_rtp_buffer_get_ssrc (&rtp) == only) {
      n = decode (ears, &rtp, samples);
      for (k = 0; k < n && at + k < n_samples; k++)
        heard[at + k] += samples[k];
    }
    gst_rtp_buffer_unmap (&rtp);
  }
  g_hash_table_unref (ears);
  return heard;
}

gdouble
rig_tone (const gdouble * samples, guint from, guint n, gdouble frequency)
{
  gdouble re = 0.0, im = 0.0;
  guint i;

  for (i = 0; i < n; i++) {
    gdouble phase = 2.0 * G_PI * frequency * (from + i) / RIG_RATE;

    re += samples[from + i] * cos (phase);
    im += samples[from + i] * sin (phase);
  }
  return 2.0 * sqrt (re * re + im * im) / n;
}

void
rig_assert_level (const gdouble * heard, guint from, guint n,
    gdouble frequency, gdouble amplitude, gdouble tolerance_db)
{
  gdouble db = 20.0 * log10 (rig_tone (heard, from, n, frequency) / amplitude);

  fail_unless (fabs (db) <= tolerance_db,
      "%g Hz at sample %u is off by %g dB", frequency, from, db);
}

gdouble
rig_largest_step (const gdouble * samples, guint from, guint n)
{
  gdouble largest = 0.0;
  guint i;

  for (i = 1; i < n; i++)
    largest = MAX (largest, fabs (samples[from + i] - samples[from + i - 1]));
  return largest;
}

/* -------------------------------------------------------------- counting -- */

GstBuffer *
rig_nth (RigListener * listener, guint i)
{
  return g_ptr_array_index (listener->buffers, i);
}

guint
rig_count_ssrcs (RigListener * listener, guint from)
{
  GHashTable *ssrcs = g_hash_table_new (NULL, NULL);
  guint n, i;

  for (i = from; i < listener->buffers->len; i++)
    g_hash_table_add (ssrcs,
        GUINT_TO_POINTER (rtp_packet_ssrc (rig_nth (listener, i))));
  n = g_hash_table_size (ssrcs);
  g_hash_table_unref (ssrcs);
  return n;
}

guint
rig_count_whole (RigListener * listener, guint32 ssrc, guint from)
{
  guint n = 0;
  guint16 last = 0;
  guint i;

  for (i = from; i < listener->buffers->len; i++) {
    GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

    fail_unless (gst_rtp_buffer_map (rig_nth (listener, i), GST_MAP_READ,
            &rtp));
    if (gst_rtp_buffer_get_ssrc (&rtp) == ssrc) {
      if (n++ > 0)
        fail_unless_equals_int (gst_rtp_buffer_get_seq (&rtp),
            (guint16) (last + 1));
      last = gst_rtp_buffer_get_seq (&rtp);
    }
    gst_rtp_buffer_unmap (&rtp);
  }
  return n;
}

guint
rig_count_packets (RigListener * listener, guint32 ssrc)
{
  guint n = 0;
  guint i;

  for (i = 0; i < listener->buffers->len; i++)
    n += rtp_packet_ssrc (rig_nth (listener, i)) == ssrc;
  return n;
}

guint64
rig_stat (Rig * rig, const gchar * field)
{
  return (guint64) element_stat (rig->mix, field);
}

GstStructure *
rig_pad_stats (RigListener * listener)
{
  GstStructure *stats;

  g_object_get (listener->peer, "stats", &stats, NULL);
  return stats;
}

guint
rig_pad_stat (RigListener * listener, const gchar * field)
{
  GstStructure *stats = rig_pad_stats (listener);
  guint value = 0;

  fail_unless (gst_structure_get_uint (stats, field, &value), "no field %s",
      field);
  gst_structure_free (stats);
  return value;
}

guint
rig_count_messages (Rig * rig, const gchar * name)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop (rig->bus)) != NULL) {
    n += gst_message_has_name (message, name);
    gst_message_unref (message);
  }
  return n;
}
