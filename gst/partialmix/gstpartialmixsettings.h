/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_SETTINGS_H__
#define __GST_PARTIAL_MIX_SETTINGS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstPartialMixSettings:
 *
 * What the element's properties say.  Those with %GST_PARAM_MUTABLE_PLAYING
 * may change at any time; what the others say sizes something, and is copied
 * when the element starts.
 */
typedef struct
{
  guint rate_hz;
  GstClockTime frame_duration;
  GstClockTime latency;
  GstClockTime ramp_duration;
  GstClockTime stream_timeout;
  guint max_streams;
  gint mix_encoding;            /* -1 = automatic */
  guint mix_pt;
  guint max_mix_bitrate;
  guint min_mix_bitrate;
  gint complexity;
  gboolean mix_music;
  gint decoder_complexity;
  guint silence_level;
  guint voice_level;            /* -dBov, 0 = as they come */
  guint csrc_level_ext_id;
  gboolean align;
  gdouble headroom;
  guint n_threads;
  GstClockTime push_timeout;
} GstPartialMixSettings;

/* the first number for a property that is not one of these */
#define GST_PARTIAL_MIX_N_SETTINGS 32

void gst_partial_mix_settings_init (GstPartialMixSettings * settings);
void gst_partial_mix_settings_install (GObjectClass * klass);

/* FALSE: @id is none of these properties */
gboolean gst_partial_mix_settings_set (GstPartialMixSettings * settings,
    guint id, const GValue * value);
gboolean gst_partial_mix_settings_get (const GstPartialMixSettings * settings,
    guint id, GValue * value);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_SETTINGS_H__ */
