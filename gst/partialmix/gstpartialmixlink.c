/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How one stream reaches one neighbour, and how that changes at a media
 * timestamp: packets before it go the old way, packets from it on the new
 * way, so that every sample is heard once. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define UNKNOWN GST_PARTIAL_MIX_POSITION_UNKNOWN

void
gst_partial_mix_link_init (GstPartialMixLink * link,
    GstPartialMixLinkMode mode, guint mix, GstClockTime now)
{
  *link = (GstPartialMixLink) {
    .mode = mode,
    .before = mode,
    .mix = (guint8) mix,
    .old_mix = (guint8) mix,
    .from = UNKNOWN,
    .until = UNKNOWN,
    .switch_pos = UNKNOWN,
    .since = now,
  };
}

gboolean
gst_partial_mix_link_forwards (const GstPartialMixLink * link, guint64 ext_ts)
{
  guint8 mode = ext_ts >= link->boundary_ts ? link->mode : link->before;

  return mode == GST_PARTIAL_MIX_LINK_SEPARATE;
}

void
gst_partial_mix_link_placed (GstPartialMixLink * link,
    GstPartialMixStream * stream, guint64 ext_ts, gint64 pos)
{
  guint64 start;

  if (link->mode != GST_PARTIAL_MIX_LINK_MIXED || link->from != UNKNOWN
      || ext_ts < link->boundary_ts)
    return;
  /* a stream that was not heard here before begins with this packet */
  start = link->boundary_ts > 0 ? link->boundary_ts : ext_ts;
  link->from = gst_partial_mix_stream_position (stream, start, ext_ts, pos);
  stream->unsettled = TRUE;
}

void
gst_partial_mix_link_restart (GstPartialMixLink * link)
{
  link->before = link->mode;
  link->boundary_ts = 0;
  link->rejoin = TRUE;
}

guint64
gst_partial_mix_link_settled_ts (const GstPartialMixLink * link)
{
  if (link->mode == GST_PARTIAL_MIX_LINK_SEPARATE)
    return G_MAXUINT64;
  if (link->mode == GST_PARTIAL_MIX_LINK_MIXED && link->from == UNKNOWN)
    return G_MAXUINT64;
  return link->before == GST_PARTIAL_MIX_LINK_SEPARATE ? link->boundary_ts : 0;
}

static void
enter_mix (GstPartialMixLink * link, GstPartialMixStream * stream, gint64 line)
{
  gboolean playing = stream->next_pos != UNKNOWN && stream->next_pos > line;

  if (stream->n_mixed == 0 && !playing) {
    stream->anchored = FALSE;
    stream->fresh = TRUE;
    stream->next_pos = UNKNOWN;
  }
  link->from = stream->n_mixed > 0 ? stream->next_pos : UNKNOWN;
  link->until = UNKNOWN;
  link->switch_pos = UNKNOWN;
  stream->n_mixed++;
}

static void
leave_mix (GstPartialMixLink * link, GstPartialMixStream * stream, gint64 line)
{
  stream->n_mixed--;
  link->until = stream->next_pos != UNKNOWN ? stream->next_pos : line;
}

gboolean
gst_partial_mix_link_change (GstPartialMixLink * link,
    GstPartialMixStream * stream, GstPartialMixLinkMode mode, guint mix,
    gint64 line, GstClockTime now)
{
  const GstPartialMixLinkMode mixed = GST_PARTIAL_MIX_LINK_MIXED;

  if (mode == link->mode) {
    if (mode == mixed && mix != link->mix) {
      if (link->switch_pos != UNKNOWN && link->switch_pos >= line)
        return FALSE;
      link->old_mix = link->mix;
      link->mix = (guint8) mix;
      link->switch_pos = line;
    }
    return TRUE;
  }

  stream->unsettled = TRUE;
  if (link->mode == mixed) {
    gboolean entered = link->from != UNKNOWN;

    leave_mix (link, stream, line);
    /* It was to enter a mix but no packet has come since: as if nothing had
     * been; packets before the boundary keep their way. */
    if (entered) {
      link->before = link->mode;
      link->boundary_ts = stream->next_ts;
    }
  } else {
    /* its last stay in a mix is still being played */
    if (mode == mixed && link->from != UNKNOWN && link->until > line)
      return FALSE;
    link->before = link->mode;
    link->boundary_ts = stream->next_ts;
    if (mode == mixed) {
      link->mix = link->old_mix = (guint8) mix;
      enter_mix (link, stream, line);
    }
  }

  if (mode == GST_PARTIAL_MIX_LINK_SEPARATE)
    link->rejoin = TRUE;
  link->mode = mode;
  link->since = now;
  return TRUE;
}

gboolean
gst_partial_mix_link_contributes (const GstPartialMixLink * link, guint mix,
    gint64 pos, guint n, guint ramp, FmxMixEnvelope * envelope)
{
  if (link->from == UNKNOWN)
    return FALSE;
  envelope->from = link->from;
  envelope->until = link->until;
  envelope->ramp = ramp;

  if (link->switch_pos != UNKNOWN && pos < link->switch_pos + ramp) {
    /* from one mix to another: they cross over in the first ramp */
    if (mix == link->mix)
      envelope->from = MAX (envelope->from, link->switch_pos);
    else if (mix == link->old_mix)
      envelope->until = MIN (envelope->until, link->switch_pos + ramp);
    else
      return FALSE;
  } else if (mix != link->mix) {
    return FALSE;
  }
  return envelope->from < pos + n && envelope->until > pos;
}

gboolean
gst_partial_mix_link_is_steady (const GstPartialMixLink * link, gint64 pos,
    guint ramp)
{
  return link->mode == GST_PARTIAL_MIX_LINK_MIXED && link->mix == 0
      && link->from != UNKNOWN && pos >= link->from + ramp
      && link->until == UNKNOWN && (link->switch_pos == UNKNOWN
      || pos >= link->switch_pos + ramp);
}

guint16
gst_partial_mix_link_next_seq (GstPartialMixLink * link, guint16 seq)
{
  guint16 out;

  if (link->rejoin && link->sent)
    link->seq_delta = (guint16) (link->last_seq + 1 - seq);
  link->rejoin = FALSE;
  out = (guint16) (seq + link->seq_delta);
  if (!link->sent || (gint16) (out - link->last_seq) > 0)
    link->last_seq = out;
  link->sent = TRUE;
  return out;
}
