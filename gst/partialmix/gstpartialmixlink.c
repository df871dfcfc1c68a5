/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How one stream reaches one neighbour: what the stream knows of itself goes
 * into the hand-over at a media timestamp, and back. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixlink.h"

#include <string.h>

#define UNKNOWN FMX_POSITION_UNKNOWN
/* longer than any fade */
#define LEAD_IN_S 1

void
gst_partial_mix_link_init (GstPartialMixLink * link, FmxHandoverWay way,
    guint mix, GstClockTime now)
{
  memset (link, 0, sizeof *link);
  fmx_handover_init (&link->handover, way, mix, now);
}

void
gst_partial_mix_link_restart (GstPartialMixLink * link)
{
  fmx_handover_restart (&link->handover);
  link->rejoin = TRUE;
}

void
gst_partial_mix_link_placed (GstPartialMixLink * link,
    GstPartialMixStream * stream, guint64 ext_ts, gint64 pos)
{
  if (!fmx_handover_waits_for (&link->handover, ext_ts))
    return;
  /* what it leads in with fades in itself */
  if (stream->leads_in && ext_ts >= LEAD_IN_S * stream->format.clock_rate) {
    ext_ts -= LEAD_IN_S * stream->format.clock_rate;
    pos -= LEAD_IN_S * (gint64) stream->rate_hz;
  }
  fmx_handover_place (&link->handover, ext_ts, pos, stream->format.clock_rate,
      stream->rate_hz);
  stream->unsettled = TRUE;
}

/* Nobody hears it mixed, and nothing of a stay before is still to be played:
 * its playout begins anew. */
static void
begin_playout (GstPartialMixStream * stream, gint64 mix_pos)
{
  if (stream->n_mixed > 0
      || (stream->next_pos != UNKNOWN && stream->next_pos > mix_pos))
    return;
  stream->anchored = gst_partial_mix_stream_keeps_place (stream);
  gst_partial_mix_stream_warm_up (stream);
  stream->next_pos = UNKNOWN;
}

gboolean
gst_partial_mix_link_change (GstPartialMixLink * link,
    GstPartialMixStream * stream, FmxHandoverWay way, guint mix, gint64 mix_pos,
    GstClockTime now)
{
  const FmxHandoverPoint point = {
    .next_ts = stream->next_ts,
    .next_pos = stream->n_mixed > 0 ? stream->next_pos : UNKNOWN,
    .mix_pos = mix_pos,
  };
  guint8 before = link->handover.way;

  if (!fmx_handover_change (&link->handover, way, mix, &point, now))
    return FALSE;
  if (link->handover.way == before)
    return TRUE;

  stream->unsettled = TRUE;
  if (before == FMX_HANDOVER_MIXED) {
    stream->n_mixed--;
  } else if (way == FMX_HANDOVER_MIXED) {
    begin_playout (stream, mix_pos);
    stream->n_mixed++;
  }
  if (way == FMX_HANDOVER_SEPARATE)
    link->rejoin = TRUE;
  return TRUE;
}
