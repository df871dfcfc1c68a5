/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __QMSTRETCH_CHECK_H__
#define __QMSTRETCH_CHECK_H__

/* What the tests of qmstretch share: a voice that goes in, and what was made of
 * it. */

#include <math.h>

#include <gst/audio/audio.h>

#include "../gstfairmixcheck.h"

#define MS ((GstClockTimeDiff) GST_MSECOND)
#define PACKET (20 * MS)
#define START (10 * GST_SECOND)
#define ADJUST "fairmix-playout-adjust"
#define LAUNCH "qmstretch latency=20000000"

/* A talker, what was made of him, and when */
typedef struct
{
  GstHarness *h;
  GstAudioInfo info;
  guint64 n_in;                 /* frames */
  GstClockTime stamp;           /* of the next one */
  GArray *out;                  /* first channel, full scale is 1 */
  GstClockTime position;        /* end of what came out */
  GstClockTimeDiff latency;
  guint n_gaps, n_same;         /* in the output; buffers left as they were */
} Rig;

static inline void
rig_set_caps (Rig * rig, GstAudioFormat format, gint rate, gint channels)
{
  gst_audio_info_set_format (&rig->info, format, rate, channels, NULL);
  gst_harness_set_src_caps (rig->h, gst_audio_info_to_caps (&rig->info));
}

static inline void
rig_init_launch (Rig * rig, const gchar * launch, GstAudioFormat format,
    gint rate, gint channels)
{
  memset (rig, 0, sizeof *rig);
  rig->h = gst_harness_new_parse (launch);
  rig->stamp = START;
  rig->position = START;
  rig->out = g_array_new (FALSE, FALSE, sizeof (gfloat));
  rig_set_caps (rig, format, rate, channels);
  rig->latency = gst_harness_query_latency (rig->h);
}

static inline void
rig_init (Rig * rig)
{
  rig_init_launch (rig, LAUNCH, GST_AUDIO_FORMAT_S16, 48000, 1);
}

static inline void
rig_clear (Rig * rig)
{
  gst_harness_teardown (rig->h);
  g_array_unref (rig->out);
}

/* A voice of eight harmonics, its pitch gliding around 130 Hz, with a pause of
 * 60 ms each 400 ms */
static inline gfloat
voice (guint64 i, gint rate)
{
  gdouble t = (gdouble) i / rate, s = fmod (t, 0.4), y = 0.0;

  if (s >= 0.34)
    return 0.0f;
  for (gint k = 1; k <= 8; k++)
    y += sin (k * 2.0 * G_PI * (130.0 * t + 6.0 * sin (5.0 * t))) / k;
  return (gfloat) (0.25 * y * sin (G_PI * s / 0.34));
}

static inline GstBuffer *
make_buffer (Rig * rig)
{
  gint rate = rig->info.rate, channels = rig->info.channels;
  gsize n = rate / 50;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, n * rig->info.bpf, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < n * channels; i++) {
    gfloat x = voice (rig->n_in + i / channels, rate);

    if (rig->info.finfo->format == GST_AUDIO_FORMAT_S16)
      ((gint16 *) map.data)[i] = (gint16) lrintf (x * 32768.0f);
    else
      ((gfloat *) map.data)[i] = x;
  }
  gst_buffer_unmap (buffer, &map);
  rig->n_in += n;
  GST_BUFFER_PTS (buffer) = rig->stamp;
  GST_BUFFER_DURATION (buffer) = PACKET;
  rig->stamp += PACKET;
  return buffer;
}

/* Notes what came out; it follows on to the nanosecond, or to the rounding of
 * a frame's time. */
static inline void
collect (Rig * rig)
{
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (rig->h)) != NULL) {
    GstClockTimeDiff step = GST_CLOCK_DIFF (rig->position,
        GST_BUFFER_PTS (buffer));
    gsize n = gst_buffer_get_size (buffer) / rig->info.bpf;
    GstMapInfo map;

    if (ABS (step) > (GstClockTimeDiff) GST_SECOND / rig->info.rate) {
      rig->n_gaps++;
      fail_unless (GST_BUFFER_IS_DISCONT (buffer));
    } else {
      fail_if (rig->out->len > 0 && GST_BUFFER_IS_DISCONT (buffer));
    }
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    for (gsize i = 0; i < n * rig->info.channels; i += rig->info.channels) {
      gfloat x = rig->info.finfo->format == GST_AUDIO_FORMAT_S16 ?
          ((gint16 *) map.data)[i] / 32768.0f : ((gfloat *) map.data)[i];

      g_array_append_val (rig->out, x);
    }
    gst_buffer_unmap (buffer, &map);
    fail_unless (ABS (GST_CLOCK_DIFF (GST_BUFFER_DURATION (buffer),
                gst_util_uint64_scale_round (n, GST_SECOND,
                    rig->info.rate))) <= 1);
    rig->position = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
    gst_buffer_unref (buffer);
  }
}

static inline void
push_buffer (Rig * rig, GstBuffer * buffer)
{
  fail_unless_equals_int (gst_harness_push (rig->h, buffer), GST_FLOW_OK);
  collect (rig);
}

/* The next packet comes no later than at rig->stamp: until then what came out
 * must last, played with the latency that was promised. */
static inline void
push (Rig * rig, guint n_packets)
{
  for (guint i = 0; i < n_packets; i++) {
    push_buffer (rig, make_buffer (rig));
    fail_unless (GST_CLOCK_DIFF (rig->position, rig->stamp)
        <= rig->latency + (GstClockTimeDiff) GST_SECOND / rig->info.rate);
  }
}

static inline void
push_event (Rig * rig, GstClockTimeDiff adjustment)
{
  fail_unless (gst_harness_push_event (rig->h,
          gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new (ADJUST, "adjustment", G_TYPE_INT64, adjustment,
                  "delay", G_TYPE_UINT64, G_GUINT64_CONSTANT (0), NULL))));
}

/* From here on all is played @adjustment later. */
static inline void
adjust (Rig * rig, GstClockTimeDiff adjustment)
{
  push_event (rig, adjustment);
  rig->stamp += adjustment;
}

static inline gint64
debt (Rig * rig)
{
  GstElement *e = gst_harness_find_element (rig->h, "qmstretch");
  gint64 debt = (gint64) element_stat (e, "debt");

  gst_object_unref (e);
  return debt;
}

static inline void
push_until_done (Rig * rig)
{
  for (guint i = 0; debt (rig) != 0; i++) {
    fail_unless (i < 500);
    push (rig, 1);
  }
  push (rig, 1);
}

/* Returns: whether the next packet leaves as the very buffer it was */
static inline gboolean
passes_untouched (Rig * rig)
{
  GstBuffer *in = make_buffer (rig);
  GstClockTime pts = GST_BUFFER_PTS (in);
  GstMemory *memory = gst_buffer_peek_memory (in, 0);
  GstBuffer *out;
  gboolean same;

  fail_unless_equals_int (gst_harness_push (rig->h, in), GST_FLOW_OK);
  out = gst_harness_try_pull (rig->h);
  same = out != NULL && gst_buffer_peek_memory (out, 0) == memory
      && GST_BUFFER_PTS (out) == pts;
  if (out != NULL) {
    rig->position = GST_BUFFER_PTS (out) + GST_BUFFER_DURATION (out);
    gst_buffer_unref (out);
  }
  return same;
}

#endif /* __QMSTRETCH_CHECK_H__ */
