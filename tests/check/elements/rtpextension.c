/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is written into the header of a packet (gst/fairrate/gstrtpextension.h) */
#include "../gstfairmixcheck.h"

#include "fairrate/gstrtpextension.h"

#define SSRC 7u
#define ID 3
#define HEADER_BYTES 12
#define PAYLOAD 20
#define LONGEST 65535           /* words of a header extension */

/* A packet whose header extension is @words of @profile, with @size bytes of @elements and
 * padding */
static GstBuffer *
packet_new (guint16 profile, guint words, const guint8 * elements, gsize size)
{
  GstBuffer *packet = rtp_packet_new (SSRC, 1, PAYLOAD);
  gsize before = HEADER_BYTES + 4 + 4 * (gsize) words;
  guint8 *bytes = g_malloc0 (before + PAYLOAD);

  gst_buffer_extract (packet, 0, bytes, HEADER_BYTES);
  bytes[0] |= 0x10;
  GST_WRITE_UINT16_BE (bytes + HEADER_BYTES, profile);
  GST_WRITE_UINT16_BE (bytes + HEADER_BYTES + 2, words);
  memcpy (bytes + HEADER_BYTES + 4, elements, size);
  gst_buffer_extract (packet, HEADER_BYTES, bytes + before, PAYLOAD);
  gst_buffer_unref (packet);
  return gst_buffer_new_wrapped (bytes, before + PAYLOAD);
}

/* What cannot be told stays as it was, and nobody thinks that it was told. */
static const struct
{
  guint16 profile;
  guint words;
  guint8 elements[4];
  gboolean written;
} rows[] = {
  {0xbede, 1, {0x10, 42}, TRUE},
  {0xbede, 1, {0x31, 1, 2}, TRUE},      /* that one, older */
  {0xbede, 1, {0x30, 1}, FALSE},        /* that one, shorter */
  {0xbede, 1, {0x32, 1, 2, 3}, FALSE},  /* that one, longer */
  {0xbede, 1, {0xf0, 1}, FALSE},        /* the end of the list */
  {0xbede, 1, {0x1f, 1, 2, 3}, FALSE},  /* 16 bytes, of which 3 are there */
  {0x1000, 1, {1, 1, 42}, TRUE},
  {0x1000, 1, {ID, 1, 42}, FALSE},
  {0x1000, 1, {1, 200, 42}, FALSE},
  {0xbede, LONGEST, {0x10, 42}, FALSE},
  {0x1234, 1, {0x10, 42}, FALSE},
};

GST_START_TEST (test_what_is_said_to_be_written_is_found)
{
  const guint8 said[] = { 0xab, 0xcd };
  GstBuffer *packet = packet_new (rows[__i__].profile, rows[__i__].words,
      rows[__i__].elements, 4);
  gsize size = gst_buffer_get_size (packet), n;
  guint header_bytes = (guint) size - PAYLOAD;
  gpointer before, after;
  guint8 found[2];
  gboolean written;

  gst_buffer_extract_dup (packet, 0, size, &before, &n);
  packet = gst_rtp_extension_write (packet, &header_bytes, ID, said,
      sizeof said, &written);
  fail_unless_equals_int (written, rows[__i__].written);
  fail_unless_equals_int (header_bytes, gst_buffer_get_size (packet) - PAYLOAD);
  fail_unless_equals_int (rtp_packet_payload_bytes (packet), PAYLOAD);
  if (written) {
    fail_unless (gst_rtp_extension_read (packet, ID, found, sizeof found));
    fail_unless (memcmp (found, said, sizeof said) == 0);
  } else {
    gst_buffer_extract_dup (packet, 0, size, &after, &n);
    fail_unless_equals_int (gst_buffer_get_size (packet), size);
    fail_unless (memcmp (before, after, size) == 0);
    g_free (after);
  }
  g_free (before);
  gst_buffer_unref (packet);
}

GST_END_TEST;

static Suite *
rtp_extension_suite (void)
{
  Suite *s = suite_create ("rtpextension");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_what_is_said_to_be_written_is_found, 0,
      G_N_ELEMENTS (rows));
  return s;
}

GST_CHECK_MAIN (rtp_extension);
