/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* rtcp_sink_%u: a copy of the RTCP that a neighbour sends.  It tells who is
 * behind an SSRC (SDES CNAME, for the Database) and who leaves (BYE), and is
 * believed as far as gstpartialmixidentity.h says. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#include <string.h>

#include "fairmix/wire/fmx-rtcp.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

GstPartialMixStream *
gst_partial_mix_find_stream (GstPartialMix * self, gint neighbour, guint32 ssrc)
{
  GList *l;

  for (l = self->sink_pads; l != NULL; l = l->next) {
    GstPartialMixStream *stream =
        g_hash_table_lookup (GST_PARTIAL_MIX_SINK_PAD_CAST (l->data)->streams,
        GUINT_TO_POINTER (ssrc));

    if (stream != NULL && stream->neighbour == neighbour)
      return stream;
  }
  return NULL;
}

/* with the lock */
static void
note_claim (GstPartialMix * self, guint32 ssrc, const gchar * cname,
    const GstPartialMixPlace * place, GstClockTime now)
{
  GstPartialMixStream *stream =
      gst_partial_mix_find_stream (self, place->neighbour, ssrc);

  if (stream == NULL)
    gst_partial_mix_claims_add (self->claims, ssrc, place, cname);
  else if (g_strcmp0 (stream->identity.cname, cname) == 0
      && gst_partial_mix_place_matches (&stream->identity.place, place))
    gst_partial_mix_identity_claim (&stream->identity, cname, now);
  else if (gst_partial_mix_place_matches (&stream->identity.place, place)
      && !gst_partial_mix_name_is_taken (self, &stream->identity.place, cname)
      && gst_partial_mix_identity_claim (&stream->identity, cname, now))
    gst_partial_mix_name_stream (self, stream, cname, FALSE);
  else
    self->counters.n_disbelieved++;
}

/* with the lock */
static void
note_cname (GstPartialMix * self, const FmxRtcpCname * told,
    const GstPartialMixPlace * place, GstClockTime now)
{
  gchar *cname;

  /* refuses zeros in it as well */
  if (told->name_bytes == 0 || !g_utf8_validate ((const gchar *) told->name,
          (gssize) told->name_bytes, NULL))
    return;
  cname = g_strndup ((const gchar *) told->name, told->name_bytes);
  note_claim (self, told->ssrc, cname, place, now);
  g_free (cname);
}

/* with the lock */
static void
note_bye (GstPartialMix * self, guint32 ssrc, const GstPartialMixPlace * place,
    GstClockTime now)
{
  GstPartialMixStream *stream =
      gst_partial_mix_find_stream (self, place->neighbour, ssrc);

  if (stream == NULL)
    return;
  if (!gst_partial_mix_place_matches (&stream->identity.place, place)) {
    self->counters.n_disbelieved++;
  } else if (!stream->identity.leaving) {
    stream->identity.leaving = TRUE;
    stream->identity.bye_at = now;
  }
}

/* with the lock */
static void
read_packet (GstPartialMix * self, const FmxRtcpPacket * packet,
    const GstPartialMixPlace * place, GstClockTime now)
{
  FmxRtcpCname cnames[FMX_RTCP_COUNT_MAX];
  guint32 ssrcs[FMX_RTCP_COUNT_MAX];
  gsize i, n;

  n = fmx_rtcp_sdes_cnames (packet, cnames);
  for (i = 0; i < n; i++)
    note_cname (self, &cnames[i], place, now);
  n = fmx_rtcp_bye_ssrcs (packet, ssrcs);
  for (i = 0; i < n; i++)
    note_bye (self, ssrcs[i], place, now);
}

GstFlowReturn
gst_partial_mix_rtcp_chain (GstPad * gpad, GstObject * parent,
    GstBuffer * buffer)
{
  GstPartialMix *self = GST_PARTIAL_MIX_CAST (parent);
  GstPartialMixSinkPad *pad = GST_PARTIAL_MIX_SINK_PAD_CAST (gpad);
  GstPartialMixPlace place = { gst_partial_mix_sink_pad_get_neighbour (pad),
    gst_partial_mix_buffer_host (buffer)
  };
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  GstClockTime now;
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    now = gst_partial_mix_lock_now (self);
    if (!fmx_rtcp_reader_init (&reader, map.data, map.size))
      self->n_malformed_rtcp++;
    while (fmx_rtcp_reader_next (&reader, &packet))
      read_packet (self, &packet, &place, now);
    GST_PARTIAL_MIX_UNLOCK (self);
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  gst_partial_mix_post_messages (self);
  return GST_FLOW_OK;
}
