/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Header extension of a mix: where its contributors stand in it. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixtimes.h"

#include <string.h>

#include "fairmix/mix/fmx-handover.h"

/* Packets in a row that tell of who has entered: one may be lost, or two. */
#define TELL_ENTRY 3
/* The others: ten a second, and each once a second at most */
#define TURNS_A_SECOND 10
/* Most slots of a crowd are of those who are not heard here. */
#define LOOK_AT 16

void
gst_partial_mix_times_enter (GstPartialMixTimes * times, guint slot)
{
  guint i;

  for (i = 0; i < times->n_entered; i++)
    if (times->entered[i].slot == slot)
      return;
  if (times->n_entered == GST_PARTIAL_MIX_MAX_ENTERED)
    return;                     /* its turn comes */
  times->entered[times->n_entered++] = (GstPartialMixEntry) {
  slot, TELL_ENTRY};
}

/* Whose turn it is among @n_slots; G_MAXUINT: nobody's now */
static guint
take_turn (GstPartialMixTimes * times, guint n_slots, gint64 pos, guint rate_hz)
{
  if (times->turn < n_slots)
    return times->turn++;
  if (pos < times->round_began + (gint64) rate_hz)
    return G_MAXUINT;
  times->turn = 0;
  times->round_began = pos;
  return n_slots > 0 ? times->turn++ : G_MAXUINT;
}

static void
tell (GstPartialMixTimes * times, const GstPartialMixTime * time)
{
  times->told[times->n_told++] = *time;
}

/* Of many who entered at once each is told of once, then all again: who leaves soon is to be
 * known by then. */
static void
tell_entered (GstPartialMixTimes * times, GstPartialMixTimeFunc look_up,
    gpointer data)
{
  guint n = MIN (times->n_entered, GST_PARTIAL_MIX_MAX_TIMES);
  GstPartialMixTime time;

  for (; n > 0; n--) {
    GstPartialMixEntry entry = times->entered[0];

    times->n_entered--;
    memmove (times->entered, times->entered + 1,
        times->n_entered * sizeof entry);
    if (look_up (data, entry.slot, &time))
      tell (times, &time);
    if (--entry.left > 0)
      times->entered[times->n_entered++] = entry;
  }
}

void
gst_partial_mix_times_plan (GstPartialMixTimes * times, guint n_slots,
    gint64 pos, guint rate_hz, GstPartialMixTimeFunc look_up, gpointer data)
{
  GstPartialMixTime time;
  guint i, slot;

  times->n_told = 0;
  tell_entered (times, look_up, data);
  if (pos < times->turn_due || times->n_told == GST_PARTIAL_MIX_MAX_TIMES)
    return;
  for (i = 0; i < LOOK_AT; i++) {
    slot = take_turn (times, n_slots, pos, rate_hz);
    if (slot == G_MAXUINT)
      return;
    if (look_up (data, slot, &time)) {
      tell (times, &time);
      times->turn_due = pos + (gint64) rate_hz / TURNS_A_SECOND;
      return;
    }
  }
}

void
gst_partial_mix_times_write (const GstPartialMixTimes * times,
    GstRTPBuffer * rtp, guint8 id, gint64 pos, guint rate_hz)
{
  guint i;

  for (i = 0; i < times->n_told; i++) {
    const GstPartialMixTime *told = &times->told[i];
    guint8 data[FMX_CONTRIBUTOR_TIME_BYTES];
    FmxContributorTime time = {.ssrc = told->ssrc,.mixed = told->mixed };

    /* the other way round: which timestamp belongs to a position */
    time.timestamp = (guint32) fmx_media_position ((guint64) pos,
        (guint64) told->next_pos, (gint64) told->next_ts, rate_hz,
        told->clock_rate);
    fmx_contributor_time_write (data, sizeof data, &time);
    gst_rtp_buffer_add_extension_onebyte_header (rtp, id, data, sizeof data);
  }
}

guint
gst_partial_mix_times_read (GstRTPBuffer * rtp, guint8 id,
    FmxContributorTime * times)
{
  gpointer data;
  guint size, n = 0;

  while (n < GST_PARTIAL_MIX_MAX_TIMES
      && gst_rtp_buffer_get_extension_onebyte_header (rtp, id, n, &data, &size)
      && fmx_contributor_time_parse (data, size, &times[n]))
    n++;
  return n;
}
