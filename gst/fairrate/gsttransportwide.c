/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttransportwide.h"

#include "gstrtpextension.h"
#include "common/gstfairmixextmap.h"

/* What is handed on at a time: all that rtpsession tells of, 598 packets in 1400 bytes;
 * browsers tell of some 60 */
#define METRICS_AT_ONCE 1024

void
gst_transport_wide_clear (GstTransportWide * self)
{
  g_clear_pointer (&self->numbers, g_free);
  self->caps_id = 0;
  self->n_not_numbered = self->n_impossible = 0;
}

void
gst_transport_wide_set_id (GstTransportWide * self, guint id)
{
  self->chosen_id = (guint8) id;
}

guint
gst_transport_wide_get_id (const GstTransportWide * self)
{
  return self->chosen_id != 0 ? self->chosen_id : self->caps_id;
}

guint64
gst_transport_wide_n_not_numbered (const GstTransportWide * self)
{
  return self->n_not_numbered;
}

guint64
gst_transport_wide_n_impossible (const GstTransportWide * self)
{
  return self->n_impossible;
}

GstCaps *
gst_transport_wide_take_caps (GstTransportWide * self, GstCaps * caps)
{
  const gchar *name = gst_fairmix_extmap_find (caps, FMX_TWCC_URN,
      &self->caps_id);

  if (name == NULL)
    return gst_caps_ref (caps);
  caps = gst_caps_copy (caps);
  gst_structure_remove_field (gst_caps_get_structure (caps, 0), name);
  return caps;
}

static FmxTwccNumbers *
need_numbers (GstTransportWide * self)
{
  if (self->numbers == NULL) {
    self->numbers = g_new (FmxTwccNumbers, 1);
    fmx_twcc_numbers_init (self->numbers, (guint16) g_random_int ());
  }
  return self->numbers;
}

/* Somebody before us may have numbered it, for another path. */
GstBuffer *
gst_transport_wide_number (GstTransportWide * self, GstBuffer * buffer,
    GstFairmixRtpHeader * header)
{
  guint8 id = (guint8) gst_transport_wide_get_id (self);
  guint8 bytes[FMX_TWCC_EXTENSION_BYTES];
  gboolean written;
  guint16 number;

  if (id == 0)
    return buffer;
  number = fmx_twcc_numbers_give (need_numbers (self), header->ssrc,
      header->seq);
  bytes[0] = (guint8) (number >> 8);
  bytes[1] = (guint8) number;
  buffer = gst_rtp_extension_write (buffer, &header->header_bytes, id, bytes,
      sizeof bytes, &written);
  self->n_not_numbered += !written;
  return buffer;
}

void
gst_transport_wide_skip (GstTransportWide * self, guint32 ssrc, guint16 seq)
{
  if (gst_transport_wide_get_id (self) != 0)
    (void) fmx_twcc_numbers_give (need_numbers (self), ssrc, seq);
}

void
gst_transport_wide_read (GstTransportWide * self, const guint8 * packet,
    gsize size, FmxRateSender * sender, FmxTime now)
{
  FmxCcfbMetric metrics[METRICS_AT_ONCE];
  FmxTwccFeedback feedback;
  guint32 mid32;
  gsize n;

  if (self->numbers == NULL)
    return;                     /* about somebody else's */
  if (!fmx_twcc_numbers_read (self->numbers, &feedback, packet, size, &mid32)) {
    self->n_impossible++;
    return;
  }
  do {
    for (n = 0; n < METRICS_AT_ONCE && fmx_twcc_numbers_next (self->numbers,
            &feedback, &metrics[n]);)
      n++;
    if (n > 0)
      fmx_rate_sender_on_metrics (sender, metrics, n, mid32, now);
  } while (n == METRICS_AT_ONCE);
}
