/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The level that each packet of a voice tells of itself (RFC 6464) */
#include "../gstfairmixcheck.h"

#include <math.h>

#include <gst/audio/audio.h>

#include "fairmix/wire/fmx-audio-level.h"

#define MS 48                   /* samples */
#define CAPS "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved,rate=48000,channels=1"
#define LEVEL_ID 1
#define BUFFER (10 * MS)        /* as microphones give them */
#define WORD (100 * MS)
#define WORD_EACH (507 * MS)    /* no multiple of a buffer, nor of a packet */
#define N_WORDS 20
#define WORD_LEVEL 9            /* in -dBov, all of it */
#define LOUD 25                 /* with no less than a millisecond of it */
#define QUIET 90                /* the least noise that there is */

static gboolean
is_word (guint64 at)
{
  return at % WORD_EACH >= WORD_EACH - WORD;
}

static GstBuffer *
say (guint64 from)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2 * BUFFER, NULL);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint64 i = from; i < from + BUFFER; i++)
    ((gint16 *) map.data)[i - from] = is_word (i) ?
        (gint16) (16000 * sin (2 * G_PI * i / (2 * MS))) : i % 2 ? 1 : -1;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (from, GST_MSECOND, MS);
  GST_BUFFER_DURATION (buffer) = BUFFER / MS * GST_MSECOND;
  return buffer;
}

static guint8
told_level (GstBuffer * packet)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  gpointer data;
  guint size;
  guint8 level;
  bool voice;

  fail_unless (gst_rtp_buffer_map (packet, GST_MAP_READ, &rtp));
  fail_unless (gst_rtp_buffer_get_extension_onebyte_header (&rtp, LEVEL_ID, 0,
          &data, &size));
  fail_unless (fmx_audio_level_parse (data, size, &level, &voice));
  gst_rtp_buffer_unmap (&rtp);
  return level;
}

/* What a decoder makes of a packet begins at its time. */
static GstPadProbeReturn
check_packet (GstPad * pad, GstPadProbeInfo * info, gpointer n_loud)
{
  GstBuffer *packet = GST_PAD_PROBE_INFO_BUFFER (info);
  guint64 from = gst_util_uint64_scale_round (GST_BUFFER_PTS (packet), MS,
      GST_MSECOND);
  guint8 level = told_level (packet);
  guint word = 0, near = 0;

  for (guint64 i = from; i < from + 20 * MS; i++)
    word += is_word (i);
  for (guint64 i = from - MIN (from, BUFFER); i < from + 20 * MS + BUFFER; i++)
    near += is_word (i);
  if (word >= MS)
    fail_unless (level >= WORD_LEVEL && level <= LOUD,
        "-%u dBov with %g ms of a word", level, (gdouble) word / MS);
  if (near == 0)
    fail_unless_equals_int (level, QUIET);
  *(guint *) n_loud += word >= MS;
  return GST_PAD_PROBE_OK;
}

static void
watch (const GValue * item, gpointer n_loud)
{
  GstPad *pad = gst_element_get_static_pad (g_value_get_object (item), "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, check_packet, n_loud,
      NULL);
  gst_object_unref (pad);
}

GST_START_TEST (test_a_packet_is_as_loud_as_anything_in_it)
{
  GstElement *client = gst_element_factory_make ("dpmclient", NULL);
  guint n_loud = 0;
  GstIterator *pays;
  GstHarness *h;

  g_object_set (client, "server", "127.0.0.1:9", "address", "127.0.0.1", NULL);
  h = gst_harness_new_with_element (client, "sink", NULL);
  gst_harness_set_src_caps_str (h, CAPS);
  pays = gst_bin_iterate_all_by_element_factory_name (GST_BIN (client),
      "rtpopuspay");
  gst_iterator_foreach (pays, watch, &n_loud);
  gst_iterator_free (pays);
  for (guint64 at = 0; at < N_WORDS * WORD_EACH; at += BUFFER)
    fail_unless_equals_int (gst_harness_push (h, say (at)), GST_FLOW_OK);
  fail_unless (n_loud >= N_WORDS * 5, "%u", n_loud);
  gst_harness_teardown (h);
  gst_object_unref (client);
}

GST_END_TEST;

static Suite *
dpmclient_level_suite (void)
{
  Suite *suite = suite_create ("dpmclient-level");
  TCase *tc = tcase_create ("level");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_packet_is_as_loud_as_anything_in_it);
  return suite;
}

GST_CHECK_MAIN (dpmclient_level);
