/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch-media.h"

#include <string.h>

#define MAX_MEDIA 8
#define IP_UDP_BYTES 28
#define RTP_BYTES 12
#define FIRST_SSRC 0x5000u
#define PAYLOAD_TYPE 96
#define CLOCK_HZ 90000
#define LONGEST_NAP GST_SECOND  /* between two looks whether it is over */

typedef struct
{
  GstElement *source;
  GMutex lock;
  GCond changed;
  guint bps;                    /* 0: nothing is sent */
  gboolean stopped;
  guint wire_bytes;
  guint16 seq;
  GstClockTime due;             /* the packet before */
} Media;

typedef struct
{
  GstElement *element;
  gchar *property, *value;
} Setting;

static Media media[MAX_MEDIA];
static guint n_media;
static _Atomic guint64 got_bytes;
static gint64 counted_us;

static GstPadProbeReturn
on_event (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  const GstStructure *s =
      gst_event_get_structure (GST_PAD_PROBE_INFO_EVENT (info));
  Media *m = user_data;
  guint bps;

  (void) pad;
  if (s != NULL && gst_structure_has_name (s, "fairmix-target-bitrate")
      && gst_structure_get_uint (s, "bitrate", &bps)) {
    g_mutex_lock (&m->lock);
    m->bps = bps;
    g_cond_signal (&m->changed);
    g_mutex_unlock (&m->lock);
  }
  return GST_PAD_PROBE_OK;
}

static GstBuffer *
packet_new (Media *m, GstClockTime now)
{
  guint size = m->wire_bytes - IP_UDP_BYTES;
  guint8 *data = g_malloc0 (size);
  guint32 timestamp = (guint32) gst_util_uint64_scale (now, CLOCK_HZ,
      GST_SECOND);
  guint32 ssrc = FIRST_SSRC;    /* of all layers [RFC3550 8.3] */

  data[0] = 0x80;
  data[1] = PAYLOAD_TYPE;
  GST_WRITE_UINT16_BE (data + 2, m->seq);
  GST_WRITE_UINT32_BE (data + 4, timestamp);
  GST_WRITE_UINT32_BE (data + 8, ssrc);
  m->seq++;
  return gst_buffer_new_wrapped (data, size);
}

static void
nap_until (GstClock *clock, GstClockTime when)
{
  GstClockID id = gst_clock_new_single_shot_id (clock, when);

  gst_clock_id_wait (id, NULL);
  gst_clock_id_unref (id);
}

/* Returns: what it sends from now on; 0: it is over */
static guint
wait_for_rate (Media *m)
{
  guint bps;

  g_mutex_lock (&m->lock);
  while (m->bps == 0 && !m->stopped)
    g_cond_wait (&m->changed, &m->lock);
  bps = m->stopped ? 0 : m->bps;
  g_mutex_unlock (&m->lock);
  return bps;
}

/* In the source's own thread: one that waits for another costs two switches a packet. */
static void
on_need_data (GstElement *source, guint length, gpointer user_data)
{
  Media *m = user_data;
  GstClock *clock = gst_element_get_clock (source);
  GstClockTime now, interval;
  GstFlowReturn flow;
  guint bps = wait_for_rate (m);

  (void) length;
  if (bps > 0 && clock != NULL) {
    now = gst_clock_get_time (clock);
    interval = (GstClockTime) (m->wire_bytes * 8e9 / bps
        * g_random_double_range (0.9, 1.1));
    m->due += interval;
    if (m->due > now + LONGEST_NAP || m->due + LONGEST_NAP < now)
      m->due = now + MIN (interval, LONGEST_NAP);
    nap_until (clock, m->due);
    g_signal_emit_by_name (source, "push-buffer", packet_new (m, m->due),
        &flow);
  }
  if (clock != NULL)
    gst_object_unref (clock);
}

void
launch_media_prepare (GstElement *pipeline)
{
  for (n_media = 0; n_media < MAX_MEDIA; n_media++) {
    Media *m = &media[n_media];
    gchar *name = g_strdup_printf ("media%u", n_media);
    GstPad *pad;

    m->source = gst_bin_get_by_name (GST_BIN (pipeline), name);
    g_free (name);
    if (m->source == NULL)
      return;
    g_object_get (m->source, "blocksize", &m->wire_bytes, NULL);
    g_signal_connect (m->source, "need-data", G_CALLBACK (on_need_data), m);
    g_mutex_init (&m->lock);
    g_cond_init (&m->changed);
    pad = gst_element_get_static_pad (m->source, "src");
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, on_event, m,
        NULL);
    gst_object_unref (pad);
  }
}

void
launch_media_stop (void)
{
  for (guint i = 0; i < n_media; i++) {
    Media *m = &media[i];

    g_mutex_lock (&m->lock);
    m->stopped = TRUE;
    g_cond_signal (&m->changed);
    g_mutex_unlock (&m->lock);
    gst_object_unref (m->source);
  }
}

static GstPadProbeReturn
on_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  (void) pad;
  (void) user_data;
  got_bytes += gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info))
      + IP_UDP_BYTES;
  return GST_PAD_PROBE_OK;
}

void
launch_media_count (GstElement *pipeline)
{
  for (guint i = 0; i < MAX_MEDIA; i++) {
    gchar *name = g_strdup_printf ("got%u", i);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), name);

    if (sink != NULL) {
      GstPad *pad = gst_element_get_static_pad (sink, "sink");

      gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_arrival, NULL,
          NULL);
      gst_object_unref (pad);
      gst_object_unref (sink);
    }
    g_free (name);
  }
  counted_us = g_get_monotonic_time ();
}

gdouble
launch_media_take_bps (void)
{
  gint64 now = g_get_monotonic_time ();
  guint64 bytes = got_bytes;
  gdouble bps = (gdouble) bytes * 8e6 / (gdouble) MAX (now - counted_us, 1);

  got_bytes -= bytes;
  counted_us = now;
  return bps;
}

static gboolean
on_due (gpointer user_data)
{
  Setting *s = user_data;

  gst_util_set_object_arg (G_OBJECT (s->element), s->property, s->value);
  gst_object_unref (s->element);
  g_free (s->property);
  g_free (s->value);
  g_free (s);
  return G_SOURCE_REMOVE;
}

void
launch_media_schedule (GstElement *pipeline, const gchar *settings,
    gint64 epoch_us)
{
  gchar **all = g_strsplit (settings, ";", -1);

  for (gchar ** one = all; *one != NULL; one++) {
    gchar **word = g_strsplit (*one, ",", 4);

    if (g_strv_length (word) == 4) {
      Setting *s = g_new0 (Setting, 1);
      gint64 due_us = epoch_us + (gint64) (g_ascii_strtod (word[0], NULL)
          * 1e6) - g_get_real_time ();

      s->element = gst_bin_get_by_name (GST_BIN (pipeline), word[1]);
      g_assert (s->element != NULL);
      s->property = g_strdup (word[2]);
      s->value = g_strdup (word[3]);
      g_timeout_add ((guint) (MAX (due_us, 0) / 1000), on_due, s);
    }
    g_strfreev (word);
  }
  g_strfreev (all);
}
