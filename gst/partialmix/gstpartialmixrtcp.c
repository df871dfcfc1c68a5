/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rtcp_sink_%u: a copy of the RTCP that a neighbour sends.  It tells who is
 * behind an SSRC (SDES CNAME, for the Database) and who leaves (BYE). */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include <gst/rtp/rtp.h>

#define GST_CAT_DEFAULT gst_partial_mix_debug

/* names of senders of which no stream has come are kept as well, but not
 * without end */
#define MAX_CNAMES 4096

/* with the lock */
static void
name_streams (GstPartialMix * self, guint32 ssrc, const gchar * cname)
{
  guint i;

  for (i = 0; i < self->streams->len; i++) {
    GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

    if (stream == NULL || stream->ssrc != ssrc)
      continue;
    g_free (stream->cname);
    stream->cname = g_strdup (cname);
  }
  gst_partial_mix_apply_database (self);
}

/* with the lock */
static void
note_cname (GstPartialMix * self, guint32 ssrc, const guint8 * data,
    guint8 size)
{
  gchar *cname = g_strndup ((const gchar *) data, size);
  const gchar *known = g_hash_table_lookup (self->cnames,
      GUINT_TO_POINTER (ssrc));

  if (!g_utf8_validate (cname, -1, NULL) || g_strcmp0 (known, cname) == 0
      || (known == NULL && g_hash_table_size (self->cnames) >= MAX_CNAMES)) {
    g_free (cname);
    return;
  }
  name_streams (self, ssrc, cname);
  g_hash_table_insert (self->cnames, GUINT_TO_POINTER (ssrc), cname);
}

static void
read_sdes (GstPartialMix * self, GstRTCPPacket * packet)
{
  gboolean more = gst_rtcp_packet_sdes_first_item (packet);

  while (more) {
    guint32 ssrc = gst_rtcp_packet_sdes_get_ssrc (packet);
    gboolean entry = gst_rtcp_packet_sdes_first_entry (packet);

    while (entry) {
      GstRTCPSDESType type;
      guint8 size;
      guint8 *data;

      if (gst_rtcp_packet_sdes_get_entry (packet, &type, &size, &data)
          && type == GST_RTCP_SDES_CNAME)
        note_cname (self, ssrc, data, size);
      entry = gst_rtcp_packet_sdes_next_entry (packet);
    }
    more = gst_rtcp_packet_sdes_next_item (packet);
  }
}

static void
read_bye (GstPartialMix * self, GstPartialMixSinkPad * pad,
    GstRTCPPacket * packet)
{
  guint n = gst_rtcp_packet_bye_get_ssrc_count (packet);
  gint neighbour = gst_partial_mix_sink_pad_get_neighbour (pad);
  guint i, k;

  for (k = 0; k < n; k++) {
    guint32 ssrc = gst_rtcp_packet_bye_get_nth_ssrc (packet, k);

    for (i = 0; i < self->streams->len; i++) {
      GstPartialMixStream *stream = g_ptr_array_index (self->streams, i);

      if (stream != NULL && stream->ssrc == ssrc
          && stream->neighbour == neighbour)
        gst_partial_mix_remove_stream (self, stream, "bye");
    }
  }
}

GstFlowReturn
gst_partial_mix_rtcp_chain (GstPad * gpad, GstObject * parent,
    GstBuffer * buffer)
{
  GstPartialMix *self = GST_PARTIAL_MIX (parent);
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD (gpad);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  gboolean more;

  /* validates all lengths first */
  if (!gst_rtcp_buffer_validate_reduced (buffer)
      || !gst_rtcp_buffer_map (buffer, GST_MAP_READ, &rtcp)) {
    GST_PARTIAL_MIX_LOCK (self);
    self->n_malformed_rtcp++;
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }

  GST_PARTIAL_MIX_LOCK (self);
  more = gst_rtcp_buffer_get_first_packet (&rtcp, &packet);
  while (more) {
    GstRTCPType type = gst_rtcp_packet_get_type (&packet);

    if (type == GST_RTCP_TYPE_SDES)
      read_sdes (self, &packet);
    else if (type == GST_RTCP_TYPE_BYE)
      read_bye (self, pad, &packet);
    more = gst_rtcp_packet_move_to_next (&packet);
  }
  GST_PARTIAL_MIX_UNLOCK (self);

  gst_rtcp_buffer_unmap (&rtcp);
  gst_buffer_unref (buffer);
  gst_partial_mix_post_messages (self);
  return GST_FLOW_OK;
}
