/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_STREAM_H__
#define __GST_QM_STREAM_H__

#include <gst/gst.h>

#include "fairmix/base/fmx-serial.h"
#include "fairmix/playout/fmx-playout.h"

G_BEGIN_DECLS

/**
 * GstQmFormat:
 * @clock_rates: of each payload type; 0 = unknown
 * @level_id: of the header extension with the loudness; 0 = none
 * @delay_id: of the one with the delay that the sender asks for; 0 = none
 * @is_audio: what the caps say of the media
 */
typedef struct
{
  gint clock_rates[128];
  guint8 level_id;
  guint8 delay_id;
  gboolean is_audio;
} GstQmFormat;

/**
 * GstQmStream:
 * @known: a packet of it has been seen
 * @ssrc: of the stream
 * @duration: of a packet
 * @now: arrival of the last packet
 * @asked_delay: the least delay that the sender asked for
 *
 * A stream of RTP packets, in order, on the time line of their arrivals.
 */
typedef struct
{
  gboolean known;
  guint32 ssrc;
  FmxDuration duration;
  FmxTime now;
  FmxDuration asked_delay;

  /*< private >*/
  gint clock_rate;
  guint16 seq;
  guint64 ext_seq;
  FmxSerial timestamps;
  guint64 timestamp;            /* the last one, extended */
  FmxTime media;                /* the same as a time */
  gint64 units;                 /* of the clock rate, to it from the one before */
  FmxDuration gap;              /* the same as a time ... */
  gboolean gap_is_exact;        /* ... with nothing rounded off */
  guint64 first_timestamp;
  FmxTime first_media;
} GstQmStream;

typedef enum
{
  GST_QM_STREAM_UNKNOWN,        /* no RTP, or of unknown clock rate */
  GST_QM_STREAM_NEW,
  GST_QM_STREAM_GOES_ON
} GstQmStreamStep;

void gst_qm_format_read_caps (GstQmFormat * format, GstCaps * caps);

/**
 * gst_qm_stream_place:
 * @arrival: of @buffer, in running time
 * @held: for so long it may have been held back, for one that is missing before it
 * @packet: (out): what the playout has to know of it
 */
GstQmStreamStep gst_qm_stream_place (GstQmStream * stream,
    const GstQmFormat * format, GstBuffer * buffer, GstClockTime arrival,
    GstClockTime held, FmxPlayoutPacket * packet);

G_END_DECLS

#endif /* __GST_QM_STREAM_H__ */
