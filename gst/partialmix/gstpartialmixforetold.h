/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_FORETOLD_H__
#define __GST_PARTIAL_MIX_FORETOLD_H__

#include <gst/gst.h>

#include "fairmix/wire/fmx-contributor-time.h"

G_BEGIN_DECLS

/* streams of which one mix may tell before they come */
#define GST_PARTIAL_MIX_MAX_FORETOLD 64

/**
 * GstPartialMixForetold:
 * @time: what a mix told of a stream that has not come beside it so far
 * @at: running time that the mix position has which goes with it
 * @told_at: running time; %GST_CLOCK_TIME_NONE: nothing was told
 */
typedef struct
{
  FmxContributorTime time;
  GstClockTimeDiff at;
  GstClockTime told_at;
} GstPartialMixForetold;

/**
 * GstPartialMixForetellings:
 *
 * Where voices stand in one mix that have been in it since it began: who comes out of it
 * for the first time stays there.  Of more than fit the one told of first is forgotten.
 */
typedef struct
{
  /*< private >*/
  GstPartialMixForetold told[GST_PARTIAL_MIX_MAX_FORETOLD];
  guint n;
} GstPartialMixForetellings;

/* Who was in the mix comes out of it, whatever is told of where it would be by then. */
void gst_partial_mix_foretold_note (GstPartialMixForetellings * all,
    const GstPartialMixForetold * told);

/* Returns: whether @ssrc was told of; then @told: (out) is that, and it is forgotten */
gboolean gst_partial_mix_foretold_take (GstPartialMixForetellings * all,
    guint32 ssrc, GstPartialMixForetold * told);

/* The mix is heard so much later from now on. */
void gst_partial_mix_foretold_move (GstPartialMixForetellings * all,
    GstClockTimeDiff by);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_FORETOLD_H__ */
