/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmstream.h"

#include "fairmix/wire/fmx-playout-delay.h"
#include "gstqmheader.h"
#include "gst/common/gstfairmixextmap.h"

#define DEFAULT_DURATION (20 * GST_MSECOND)
#define MOST_BACK GST_SECOND    /* beyond what is held back: more is no reordering */
#define MAX_DURATION (500 * GST_MSECOND)
#define QUIET_LEVEL 50          /* -dBov: [RFC6464] */
#define QUIET_BYTES 2           /* an Opus frame of DTX */
#define COMFORT_NOISE_PT 13     /* [RFC3389 5] */
#define DELAY_URI "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

/* --- caps --- */

void
gst_qm_format_read_caps (GstQmFormat * format, GstCaps * caps)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *media = gst_structure_get_string (s, "media");
  gint pt, clock_rate;

  format->is_audio = media == NULL || g_str_equal (media, "audio");
  if (gst_structure_get_int (s, "clock-rate", &clock_rate)) {
    if (gst_structure_get_int (s, "payload", &pt) && pt >= 0 && pt < 128)
      format->clock_rates[pt] = clock_rate;
    else
      for (guint i = 0; i < G_N_ELEMENTS (format->clock_rates); i++)
        format->clock_rates[i] = clock_rate;
  }
  gst_fairmix_extmap_find (caps, GST_FAIRMIX_LEVEL_URN, &format->level_id);
  gst_fairmix_extmap_find (caps, DELAY_URI, &format->delay_id);
}

/* --- packets --- */

/* Silence that nobody would miss: no speech in it, by what the packet says of
 * itself */
static gboolean
is_quiet (const GstQmFormat * format, GstBuffer * buffer,
    const GstQmHeader * header)
{
  gsize quiet_bytes = header->header_bytes + QUIET_BYTES;
  guint8 level;

  if (header->pt == COMFORT_NOISE_PT || (header->mapped_bytes <= quiet_bytes
          && gst_buffer_get_size (buffer) <= quiet_bytes))
    return TRUE;
  return format->level_id != 0
      && gst_qm_header_read_level (buffer, format->level_id, &level)
      && level >= QUIET_LEVEL;
}

/* What the sender asks for holds until it asks for something else. */
static void
gst_qm_stream_read_delay (GstQmStream * self, GstBuffer * buffer, guint id)
{
  guint8 bytes[FMX_PLAYOUT_DELAY_BYTES];
  guint size = gst_qm_header_read_extension (buffer, id, bytes, sizeof bytes);
  FmxDuration most;

  if (size > 0)
    fmx_playout_delay_parse (bytes, size, &self->asked_delay, &most);
}

static void
gst_qm_stream_start (GstQmStream * self, const GstQmHeader * header,
    GstClockTime arrival, gint clock_rate)
{
  memset (self, 0, sizeof *self);
  self->known = TRUE;
  self->ssrc = header->ssrc;
  self->clock_rate = clock_rate;
  self->seq = header->seq;
  self->ext_seq = G_MAXUINT16 + 1 + header->seq;
  self->timestamp = fmx_serial_extend32 (&self->timestamps, header->timestamp);
  self->first_timestamp = self->timestamp;
  self->now = arrival;
  self->first_media = self->now;
  self->media = self->now;
  self->gap_is_exact = TRUE;
  self->duration = DEFAULT_DURATION;
}

/* gst_util_uint64_scale_int() by GST_SECOND and the clock rate, in a fifth of
 * the instructions; wraps like a time */
static FmxDuration
gst_qm_stream_to_time (const GstQmStream * self, gint64 units)
{
  gint64 seconds = units / self->clock_rate;
  gint64 rest = units % self->clock_rate;

  return (FmxDuration) ((guint64) seconds * GST_SECOND
      + (guint64) (rest * GST_SECOND / self->clock_rate));
}

/* Most packets come as long after the one before as that one did: nothing is
 * divided, and the sum is what a division would say if the step is exact. */
static void
gst_qm_stream_step (GstQmStream * self, guint64 timestamp)
{
  gint64 units = (gint64) (timestamp - self->timestamp);

  self->timestamp = timestamp;
  if (units == self->units && self->gap_is_exact) {
    self->media += (guint64) self->gap;
    return;
  }
  if (units != self->units) {
    self->units = units;
    self->gap = gst_qm_stream_to_time (self, units);
    self->gap_is_exact = units % self->clock_rate * GST_SECOND
        % self->clock_rate == 0;
  }
  self->media = self->first_media
      + (guint64) gst_qm_stream_to_time (self,
      (gint64) (timestamp - self->first_timestamp));
}

/* Packets come in order: a number that is not higher is a new beginning. */
static void
gst_qm_stream_follow (GstQmStream * self, const GstQmHeader * header,
    GstClockTime arrival, FmxPlayoutPacket * packet)
{
  gint32 step = fmx_serial_diff16 (header->seq, self->seq);

  gst_qm_stream_step (self,
      fmx_serial_extend32 (&self->timestamps, header->timestamp));
  if (step == 1 && self->gap > 0 && self->gap <= MAX_DURATION)
    self->duration = self->gap;
  self->ext_seq += step > 0 ? step : 1;
  self->seq = header->seq;
  if (arrival > self->now)
    self->now = arrival;
  packet->talkspurt = header->marker && step > 0
      && self->gap > step * self->duration;
}

/* Of packets that are held back for one that is missing, that one came last.  If it came
 * long after them its arrival was stamped wrong, and time does not wait for that. */
static gboolean
was_ahead (const GstQmStream * self, GstClockTime arrival, GstClockTime held)
{
  return self->now > arrival && self->now - arrival > held + MOST_BACK;
}

GstQmStreamStep
gst_qm_stream_place (GstQmStream * self, const GstQmFormat * format,
    GstBuffer * buffer, GstClockTime arrival, GstClockTime held,
    FmxPlayoutPacket * packet)
{
  GstQmStreamStep step = GST_QM_STREAM_GOES_ON;
  GstQmHeader header;
  gint clock_rate;

  if (!gst_qm_header_read (&header, buffer))
    return GST_QM_STREAM_UNKNOWN;
  clock_rate = format->clock_rates[header.pt];
  if (clock_rate <= 0)
    return GST_QM_STREAM_UNKNOWN;
  packet->talkspurt = FALSE;
  if (!self->known || self->ssrc != header.ssrc
      || self->clock_rate != clock_rate || was_ahead (self, arrival, held)) {
    gst_qm_stream_start (self, &header, arrival, clock_rate);
    step = GST_QM_STREAM_NEW;
  } else {
    gst_qm_stream_follow (self, &header, arrival, packet);
  }
  packet->ext_seq = self->ext_seq;
  packet->media = self->media;
  packet->duration = self->duration;
  packet->quiet = is_quiet (format, buffer, &header);
  if (header.extended && format->delay_id != 0)
    gst_qm_stream_read_delay (self, buffer, format->delay_id);
  return step;
}
