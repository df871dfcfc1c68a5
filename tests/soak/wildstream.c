/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wildstream.h"

#include <gst/rtp/rtp.h>
#include <string.h>

#define FRAME (20 * GST_MSECOND)
#define RTP_VERSION 0x80

#define PICK(rand, table) (table)[g_rand_int_range (rand, 0, G_N_ELEMENTS (table))]

static const gchar *const all_caps[] = {
  "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96",
  "application/x-rtp,media=audio,clock-rate=8000,encoding-name=PCMU,payload=0",
  "application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96,"
      "ssrc=(uint)7,extmap-1=urn:ietf:params:rtp-hdrext:ssrc-audio-level",
  "application/x-rtp,media=audio,clock-rate=1,payload=300,encoding-name=L16,"
      "channels=9000",
  "application/x-rtp,clock-rate=-1",
  "application/x-rtp",
  "application/x-rtcp",
  "audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved",
  "audio/x-raw,format=S16LE,rate=8000,channels=1,layout=interleaved",
  "audio/x-raw,format=F32LE,rate=1,channels=1,layout=interleaved",
  "video/x-raw,format=I420,width=8,height=8,framerate=30/1",
};

static const gchar *const downstream[] = {
  "GstRTPPacketLost,seqnum=(uint)3,timestamp=(guint64)5,duration=(guint64)20000000",
  "GstRTPPacketLost,seqnum=(string)x",
  "GstRTPRetransmissionRequest",
  "fairmix-target-bitrate,bitrate=(uint)0",
  "unknown",
};

static const gchar *const upstream[] = {
  "GstForceKeyUnit",
  "GstRTPCollision,ssrc=(uint)7",
  "RTPTWCCPackets",
  "fairmix-probe,bytes=(uint)0",
  "fairmix-target-bitrate",
  "fairmix-target-bitrate,bitrate=(uint)4294967295",
  "fairmix-target-bitrate,bitrate=(uint)64000,lasting=(uint)3",
  "fairmix-target-bitrate,bitrate=(int)-5",
  "fairmix-target-bitrate,bitrate=(string)x",
  "fairmix-wanted-bitrate,bitrate=(uint)4294967295",
};

static gboolean
chance (GRand * rand, gdouble probability)
{
  return g_rand_double (rand) < probability;
}

static guint64
any_uint64 (GRand * rand, guint bits)
{
  return ((guint64) g_rand_int (rand) << 32 | g_rand_int (rand)) >> (64 - bits);
}

static void
fill (GRand * rand, guint8 * data, gsize size)
{
  for (gsize i = 0; i < size; i++)
    data[i] = (guint8) g_rand_int (rand);
}

GstCaps *
wild_caps_new (GRand * rand)
{
  return gst_caps_from_string (PICK (rand, all_caps));
}

void
wild_segment_init (GstSegment * segment, GRand * rand)
{
  /* Stock elements in ours cannot bear one that runs backwards from no end. */
  gst_segment_init (segment, chance (rand, 0.7) ? GST_FORMAT_TIME
      : chance (rand, 0.5) ? GST_FORMAT_BYTES : GST_FORMAT_DEFAULT);
  if (chance (rand, 0.3)) {
    segment->start = any_uint64 (rand, 40);
    segment->time = any_uint64 (rand, 40);
    segment->base = any_uint64 (rand, 40);
  }
  if (chance (rand, 0.3))
    segment->rate = chance (rand, 0.5) ? 2.0 : 0.1;
  if (chance (rand, 0.1)) {
    segment->rate = -1.0;
    segment->stop = segment->start + GST_SECOND;
  }
}

/* Returns: what the header of RTP says of a payload of @size, mostly */
static gsize
write_rtp (GRand * rand, guint8 * data, gsize size)
{
  static const guint8 types[] = { 0, 96, 96, 96, 72, 127 };
  static gint n_sent = 0;
  guint n = (guint) g_atomic_int_add (&n_sent, 1);

  fill (rand, data, size);
  data[0] = RTP_VERSION | (chance (rand, 0.3) ? g_rand_int (rand) & 0x3f : 0);
  data[1] = PICK (rand, types) | (chance (rand, 0.1) ? 0x80 : 0);
  if (chance (rand, 0.9))
    GST_WRITE_UINT16_BE (data + 2, n);
  GST_WRITE_UINT32_BE (data + 4, n * 960);
  if (chance (rand, 0.8))
    GST_WRITE_UINT32_BE (data + 8, 7 + n % 4);
  return size;
}

/* Returns: the size of some packets of RTCP, of lengths that are mostly true */
static gsize
write_rtcp (GRand * rand, guint8 * data, gsize room)
{
  static const gchar *const names[] = { "ASMP", "ALS ", "ALSP", "DPM ",
    "gst_buffer_replace_all_memory (buffer, gst_memory_new_wrappedXX"
  };
  gsize size = 0;

  fill (rand, data, room);
  for (gint n = g_rand_int_range (rand, 1, 4); n > 0; n--) {
    guint words = (guint) g_rand_int_range (rand, 0, 13);

    data[size] = RTP_VERSION | (guint8) g_rand_int_range (rand, 0, 32);
    data[size + 1] = (guint8) g_rand_int_range (rand, GST_RTCP_TYPE_SR,
        GST_RTCP_TYPE_XR + 1);
    if (chance (rand, 0.9))
      GST_WRITE_UINT16_BE (data + size + 2, words);
    if (data[size + 1] == GST_RTCP_TYPE_APP && words > 1)
      memcpy (data + size + 8, PICK (rand, names), 4);
    size += 4 + 4 * words;
  }
  return size;
}

static GstMemory *
memory_new (GstMemoryFlags flags, const guint8 * data, gsize size)
{
  gpointer copy = g_memdup2 (data, size);

  return gst_memory_new_wrapped (flags, copy, size, 0, size, copy, g_free);
}

/* Has it in two pieces, of which nobody may write to the first. */
static void
split (GstBuffer * buffer, const guint8 * data, gsize first, gsize size)
{
  gst_buffer_replace_all_memory (buffer, memory_new (GST_MEMORY_FLAG_READONLY,
          data, first));
  gst_buffer_append_memory (buffer, memory_new (0, data + first, size - first));
}

GstBuffer *
wild_buffer_new (GRand * rand)
{
  static const gsize sizes[] = { 0, 1, 3, 11, 12, 13, 22, 72, 320, 1200, 1920 };
  guint8 data[1920];
  gsize size = PICK (rand, sizes);
  GstBuffer *buffer;
  gdouble kind = g_rand_double (rand);

  if (kind < 0.6 && size >= 12)
    write_rtp (rand, data, size);
  else if (kind < 0.8)
    size = write_rtcp (rand, data, 200);
  else
    fill (rand, data, size);
  buffer = size > 0 ? gst_buffer_new_memdup (data, size) : gst_buffer_new ();
  if (size > 1 && chance (rand, 0.2))
    split (buffer, data, (gsize) g_rand_int_range (rand, 1, (gint) size), size);
  if (chance (rand, 0.7))
    GST_BUFFER_PTS (buffer) = any_uint64 (rand, chance (rand, 0.8) ? 34 : 62);
  if (chance (rand, 0.7))
    GST_BUFFER_DTS (buffer) = GST_BUFFER_PTS (buffer);
  if (chance (rand, 0.7))
    GST_BUFFER_DURATION (buffer) = chance (rand, 0.9) ? FRAME :
        any_uint64 (rand, 61);
  if (chance (rand, 0.2))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT << any_uint64 (rand,
            2));
  return buffer;
}

static GstEvent *
custom_new (GstEventType type, const gchar * text)
{
  return gst_event_new_custom (type, gst_structure_from_string (text, NULL));
}

GstEvent *
wild_event_new (GRand * rand)
{
  GstSegment segment;
  GstCaps *caps;
  GstEvent *event;

  switch (g_rand_int_range (rand, 0, 12)) {
    case 0:
      return gst_event_new_flush_start ();
    case 1:
      return gst_event_new_flush_stop (chance (rand, 0.5));
    case 2:
      return gst_event_new_eos ();
    case 3:
      wild_segment_init (&segment, rand);
      return gst_event_new_segment (&segment);
    case 4:
      caps = wild_caps_new (rand);
      event = gst_event_new_caps (caps);
      gst_caps_unref (caps);
      return event;
    case 5:
      return gst_event_new_gap (any_uint64 (rand, chance (rand, 0.8) ? 34 : 60),
          chance (rand, 0.5) ? FRAME : GST_CLOCK_TIME_NONE);
    case 6:
      return gst_event_new_stream_start (chance (rand, 0.5) ? "a" : "b");
    case 7:
      return gst_event_new_tag (gst_tag_list_new_empty ());
    case 8:
      return gst_event_new_segment_done (GST_FORMAT_TIME, 5);
    case 9:
      return custom_new (GST_EVENT_CUSTOM_DOWNSTREAM_OOB, "unknown");
    case 10:
      return custom_new (GST_EVENT_CUSTOM_BOTH, "fairmix-keep");
    default:
      return custom_new (GST_EVENT_CUSTOM_DOWNSTREAM, PICK (rand, downstream));
  }
}

GstEvent *
wild_upstream_event_new (GRand * rand)
{
  switch (g_rand_int_range (rand, 0, 7)) {
    case 0:
      return gst_event_new_seek (1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
          GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, 0);
    case 1:
      return gst_event_new_latency (any_uint64 (rand, chance (rand, 0.5) ? 30 :
              60));
    case 2:
      return gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, g_rand_double (rand) *
          5, 0, any_uint64 (rand, 50));
    case 3:
      return gst_event_new_reconfigure ();
    case 4:
      return gst_event_new_navigation (gst_structure_new_empty ("unknown"));
    default:
      return custom_new (GST_EVENT_CUSTOM_UPSTREAM, PICK (rand, upstream));
  }
}

GstQuery *
wild_query_new (GRand * rand, gboolean downstream)
{
  GstCaps *caps = wild_caps_new (rand);
  GstQuery *query;

  switch (g_rand_int_range (rand, 0, downstream ? 7 : 5)) {
    case 0:
      query = gst_query_new_latency ();
      break;
    case 1:
      query = gst_query_new_position (GST_FORMAT_TIME);
      break;
    case 2:
      query = gst_query_new_caps (chance (rand, 0.5) ? caps : NULL);
      break;
    case 3:
      query = gst_query_new_accept_caps (caps);
      break;
    case 4:
      query = gst_query_new_duration (GST_FORMAT_BYTES);
      break;
    case 5:
      query = gst_query_new_allocation (caps, TRUE);
      break;
    default:
      query = gst_query_new_drain ();
      break;
  }
  gst_caps_unref (caps);
  return query;
}
