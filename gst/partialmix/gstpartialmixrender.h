/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_RENDER_H__
#define __GST_PARTIAL_MIX_RENDER_H__

#include <gst/gst.h>

#include "gstpartialmixlistener.h"
#include "gstpartialmixmixer.h"
#include "gstpartialmixtable.h"

G_BEGIN_DECLS

/**
 * GstPartialMixRenderPlan:
 * @voices: who is heard, and from where
 * @caps: of the audio that is made
 * @channels: that they say
 *
 * What one listener who takes raw audio hears in this tick.  How many channels
 * that is may change while the tick is made: it goes out as it was planned, under
 * its own caps.
 */
typedef struct
{
  GArray *voices;
  GstCaps *caps;
  guint channels;
} GstPartialMixRenderPlan;

/* With the lock that guards @table and @listener */
GstPartialMixRenderPlan *gst_partial_mix_render_plan (GstPartialMixListener *
    listener, const GstPartialMixTable * table,
    const GstPartialMixFrame * frame);
void gst_partial_mix_render_plan_free (GstPartialMixRenderPlan * plan);

/* Mixing thread, without any lock.  @playout_delay: by how much the media time of
 * a sample lags its place.
 * Returns: (transfer full) (nullable): the audio; %NULL before the stream's
 *     beginning */
GstBuffer *gst_partial_mix_render_make (GstPartialMixListener * listener,
    const GstPartialMixRenderPlan * plan, const GstPartialMixFrame * frame,
    guint rate_hz, GstClockTime playout_delay);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_RENDER_H__ */
