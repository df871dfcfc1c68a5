/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a mix told of streams before they come out of it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixforetold.h"

static GstPartialMixForetold *
find (GstPartialMixForetellings * all, guint32 ssrc)
{
  guint i;

  for (i = 0; i < all->n; i++)
    if (all->told[i].time.ssrc == ssrc)
      return &all->told[i];
  return NULL;
}

static GstPartialMixForetold *
find_oldest (GstPartialMixForetellings * all)
{
  GstPartialMixForetold *oldest = &all->told[0];
  guint i;

  for (i = 1; i < all->n; i++)
    if (all->told[i].told_at < oldest->told_at)
      oldest = &all->told[i];
  return oldest;
}

void
gst_partial_mix_foretold_note (GstPartialMixForetellings * all,
    const GstPartialMixForetold * told)
{
  GstPartialMixForetold *place = find (all, told->time.ssrc);

  if (place != NULL && place->time.mixed && !told->time.mixed) {
    place->told_at = told->told_at;
    return;
  }
  if (place == NULL)
    place = all->n < GST_PARTIAL_MIX_MAX_FORETOLD ? &all->told[all->n++]
        : find_oldest (all);
  *place = *told;
}

gboolean
gst_partial_mix_foretold_take (GstPartialMixForetellings * all, guint32 ssrc,
    GstPartialMixForetold * told)
{
  GstPartialMixForetold *place = find (all, ssrc);

  if (place == NULL)
    return FALSE;
  *told = *place;
  *place = all->told[--all->n];
  return TRUE;
}

void
gst_partial_mix_foretold_move (GstPartialMixForetellings * all,
    GstClockTimeDiff by)
{
  guint i;

  for (i = 0; i < all->n; i++)
    all->told[i].at += by;
}
