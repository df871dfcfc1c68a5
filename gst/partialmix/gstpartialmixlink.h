/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_LINK_H__
#define __GST_PARTIAL_MIX_LINK_H__

#include <gst/gst.h>
#include <stdbool.h>

#include "fairmix/base/fmx-renumber.h"
#include "fairmix/mix/fmx-handover.h"

#include "gstpartialmixstream.h"

G_BEGIN_DECLS

/**
 * GstPartialMixLink:
 * @handover: how the stream gets there, from which timestamp on
 * @renumber: under which sequence numbers its packets leave
 * @rejoin: the next forwarded packet closes the gap in them
 * @pt: under which payload type its packets leave
 *
 * How one stream reaches one src pad.
 */
typedef struct
{
  FmxHandover handover;
  FmxRenumber renumber;
  bool rejoin;
  bool has_pt;
  guint8 pt;                    /* payload type out, if it has one */
} GstPartialMixLink;

/* Each neighbour has one for each stream, in an array that doubles. */
G_STATIC_ASSERT (sizeof (GstPartialMixLink) <= 64);

void gst_partial_mix_link_init (GstPartialMixLink * link, FmxHandoverWay way,
    guint mix, GstClockTime now);
/* The stream begins anew: what is known of its timestamps is void. */
void gst_partial_mix_link_restart (GstPartialMixLink * link);
/* The first packet of a stream that waited to enter a mix is placed. */
void gst_partial_mix_link_placed (GstPartialMixLink * link,
    GstPartialMixStream * stream, guint64 ext_ts, gint64 pos);
/* FALSE: the change before this one is not over; try again in a tick. */
gboolean gst_partial_mix_link_change (GstPartialMixLink * link,
    GstPartialMixStream * stream, FmxHandoverWay way, guint mix, gint64 mix_pos,
    GstClockTime now);
/* Whether the next packet that is forwarded is the first after a stay in a mix. */
static inline gboolean
gst_partial_mix_link_returns (const GstPartialMixLink * link)
{
  return link->rejoin && link->handover.before == FMX_HANDOVER_MIXED;
}

/* @seq: (inout): of a packet that is to be forwarded; gets its number there.
 * FALSE: it comes so late that its number was given away; it must be dropped. */
static inline gboolean
gst_partial_mix_link_number (GstPartialMixLink * link, guint16 * seq)
{
  if (link->rejoin)
    fmx_renumber_rejoin (&link->renumber, *seq);
  link->rejoin = FALSE;
  return fmx_renumber_pass (&link->renumber, seq);
}

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_LINK_H__ */
