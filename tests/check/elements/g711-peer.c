/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libfairmix's G.711 beside GStreamer's own elements. */
#include <gst/audio/audio.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "fairmix/mix/fmx-g711.h"

/* Returns: (transfer full): what @factory makes of @data */
static GBytes *
convert (const gchar * factory, const gchar * src_caps, const gchar * sink_caps,
    gconstpointer data, gsize size)
{
  GstHarness *h = gst_harness_new (factory);
  GstBuffer *buffer;
  GstMapInfo map;
  GBytes *bytes;

  gst_harness_set_caps_str (h, src_caps, sink_caps);
  buffer = gst_buffer_new_memdup (data, size);
  GST_BUFFER_PTS (buffer) = 0;
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (buffer != NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  bytes = g_bytes_new (map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  return bytes;
}

#define N_SAMPLES 65536
#define FORMAT ",rate=8000,channels=1"
#define RAW_CAPS "audio/x-raw,format=" GST_AUDIO_NE (S16) \
    ",layout=interleaved" FORMAT

static gboolean
have (const gchar * factory)
{
  GstElementFactory *found = gst_element_factory_find (factory);

  if (found == NULL)
    g_print ("# there is no %s to compare with\n", factory);
  g_clear_pointer (&found, gst_object_unref);
  return found != NULL;
}

static void
compare_decoders (const gchar * factory, const gchar * caps,
    void (*decode) (int16_t *, const uint8_t *, size_t))
{
  guint8 codes[256];
  gint16 ours[256];
  GBytes *theirs;

  if (!have (factory))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    codes[i] = i;
  decode (ours, codes, G_N_ELEMENTS (codes));
  theirs = convert (factory, caps, RAW_CAPS, codes, sizeof codes);
  fail_unless_equals_int (g_bytes_get_size (theirs), sizeof ours);
  for (guint i = 0; i < G_N_ELEMENTS (codes); i++)
    fail_unless_equals_int (ours[i],
        ((const gint16 *) g_bytes_get_data (theirs, NULL))[i]);
  g_bytes_unref (theirs);
}

/* On a decision value either code is right: of a negative sample theirs may be
 * what ours is one step further from zero. */
static void
compare_encoders (const gchar * factory, const gchar * caps,
    void (*encode) (uint8_t *, const int16_t *, size_t))
{
  gint16 *samples = g_new (gint16, N_SAMPLES);
  guint8 *ours = g_new (guint8, N_SAMPLES);
  const guint8 *theirs;
  GBytes *bytes;
  guint n_other = 0;

  for (gint i = 0; i < N_SAMPLES; i++)
    samples[i] = i + G_MININT16;
  encode (ours, samples, N_SAMPLES);
  if (have (factory)) {
    bytes = convert (factory, RAW_CAPS, caps, samples, 2 * N_SAMPLES);
    fail_unless_equals_int (g_bytes_get_size (bytes), N_SAMPLES);
    theirs = g_bytes_get_data (bytes, NULL);
    for (guint i = 0; i < N_SAMPLES; i++) {
      if (ours[i] == theirs[i])
        continue;
      fail_unless (samples[i] < 0 && i > 0 && ours[i - 1] == theirs[i],
          "%d: ours %u, theirs %u", samples[i], ours[i], theirs[i]);
      n_other++;
    }
    fail_unless (n_other < 128, "%u other decisions", n_other);
    g_bytes_unref (bytes);
  }
  g_free (samples);
  g_free (ours);
}

GST_START_TEST (test_mu_law_is_gstreamers)
{
  compare_decoders ("mulawdec", "audio/x-mulaw" FORMAT, fmx_g711_ulaw_decode);
  compare_encoders ("mulawenc", "audio/x-mulaw" FORMAT, fmx_g711_ulaw_encode);
}

GST_END_TEST;

GST_START_TEST (test_a_law_is_gstreamers)
{
  compare_decoders ("alawdec", "audio/x-alaw" FORMAT, fmx_g711_alaw_decode);
  compare_encoders ("alawenc", "audio/x-alaw" FORMAT, fmx_g711_alaw_encode);
}

GST_END_TEST;

static Suite *
g711_peer_suite (void)
{
  Suite *suite = suite_create ("g711-peer");
  TCase *tcase = tcase_create ("all");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_mu_law_is_gstreamers);
  tcase_add_test (tcase, test_a_law_is_gstreamers);
  return suite;
}

GST_CHECK_MAIN (g711_peer);
