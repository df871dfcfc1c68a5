/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One neighbour as somebody who listens. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixlistener.h"

#include <string.h>

#define RATE_WINDOW (1 * GST_SECOND)
#define MAX_RAMP_GAIN 8.0f      /* of fmx_mix_add_ramp(): 18 dB */
#define LAST_PT 127

void
gst_partial_mix_listener_init (GstPartialMixListener * listener)
{
  memset (listener, 0, sizeof *listener);
  listener->neighbour = GST_PARTIAL_MIX_NEIGHBOUR_AUTO;
  listener->links = g_array_new (FALSE, TRUE, sizeof (GstPartialMixLink));
  listener->steady = gst_partial_mix_set_new ();
  listener->gains = g_array_new (FALSE, TRUE, sizeof (GstPartialMixGains));
  fmx_places_init (&listener->places);
  listener->infos = g_array_new (FALSE, TRUE, sizeof (GstPartialMixStreamInfo));
  fmx_rate_meter_init (&listener->meter_out, RATE_WINDOW);
}

void
gst_partial_mix_listener_clear (GstPartialMixListener * listener)
{
  guint i;

  for (i = 0; i < FMX_ADAPT_MAX_MIXES; i++) {
    gst_clear_caps (&listener->outputs[i].caps);
    g_clear_pointer (&listener->outputs[i].times, g_free);
  }
  gst_partial_mix_payloads_clear (&listener->payloads);
  g_free (listener->limiter);
  g_array_unref (listener->links);
  g_array_unref (listener->steady);
  g_array_unref (listener->gains);
  g_array_unref (listener->infos);
  gst_clear_caps (&listener->raw_caps);
}

static void
forget_numbers (GstPartialMixListener * listener)
{
  guint i;

  for (i = 0; i < listener->links->len; i++)
    g_array_index (listener->links, GstPartialMixLink, i).has_pt = FALSE;
  listener->has_mix_pt = FALSE;
}

void
gst_partial_mix_listener_ask (GstPartialMixListener * listener,
    const gint * asked, guint8 time_id)
{
  if (gst_partial_mix_payloads_ask (&listener->payloads, asked, time_id))
    forget_numbers (listener);
}

void
gst_partial_mix_listener_start (GstPartialMixListener * listener,
    const GstPartialMixSettings * settings)
{
  listener->negotiated = listener->have_mix_format = FALSE;
  forget_numbers (listener);
  gst_partial_mix_payloads_clear (&listener->payloads);
  gst_partial_mix_payloads_init (&listener->payloads,
      settings->mix_pt <= LAST_PT ? (gint) settings->mix_pt : -1,
      settings->csrc_level_ext_id);
}

void
gst_partial_mix_listener_forget_rate (GstPartialMixListener * listener)
{
  fmx_rate_meter_init (&listener->meter_out, RATE_WINDOW);
}

void
gst_partial_mix_listener_forget_events (GstPartialMixListener * listener)
{
  listener->event_seen = FALSE;
  listener->event_loss = listener->event_loss_from = 0;
  listener->event_max_streams = 0;
  listener->dirty = TRUE;
}

void
gst_partial_mix_listener_forget (GstPartialMixListener * listener)
{
  gst_partial_mix_listener_forget_rate (listener);
  gst_partial_mix_listener_forget_events (listener);
  listener->limiter_channels = 0;
}

gint
gst_partial_mix_listener_get_neighbour (const GstPartialMixListener * listener)
{
  gint neighbour = g_atomic_int_get (&listener->neighbour);

  return neighbour >= 0 ? neighbour : (gint) listener->index;
}

guint64
gst_partial_mix_listener_get_target (const GstPartialMixListener * listener)
{
  guint property = (guint) g_atomic_int_get (&listener->target_bitrate);
  guint64 target = property > 0 ? property : FMX_TARGET_UNLIMITED;

  if (listener->event_seen)
    target = MIN (target, listener->event_bitrate);
  return target;
}

guint
gst_partial_mix_listener_get_max_streams (const GstPartialMixListener *
    listener)
{
  guint property = (guint) g_atomic_int_get (&listener->max_streams);

  if (listener->raw)
    return 0;
  if (property == 0 || listener->event_max_streams == 0)
    return MAX (property, listener->event_max_streams);
  return MIN (property, listener->event_max_streams);
}

/* -------------------------------------------------------------- streams -- */

gboolean
gst_partial_mix_listener_hears (const GstPartialMixListener * listener,
    const GstPartialMixStream * stream)
{
  return stream->neighbour != gst_partial_mix_listener_get_neighbour (listener)
      && !gst_partial_mix_listener_get_info (listener, stream)->mute;
}

const GstPartialMixStreamInfo *
gst_partial_mix_listener_get_info (const GstPartialMixListener * listener,
    const GstPartialMixStream * stream)
{
  if (!listener->has_infos || stream->slot >= listener->infos->len)
    return &stream->info;
  return &g_array_index (listener->infos, GstPartialMixStreamInfo,
      stream->slot);
}

gfloat
gst_partial_mix_listener_get_gain (const GstPartialMixListener * listener,
    const GstPartialMixStream * stream)
{
  gfloat weight = (gfloat) MAX (1, stream->voice.weight);
  gfloat gain;

  if (!listener->has_infos || stream->voice.gain <= 0.0f)
    return 1.0f;
  gain = gst_partial_mix_listener_get_info (listener, stream)->gain
      / stream->voice.gain;
  return MIN (gain, MAX_RAMP_GAIN / weight);
}

void
gst_partial_mix_listener_look_up (GstPartialMixListener * listener,
    GstPartialMixDatabase * database)
{
  listener->has_infos = gst_partial_mix_database_has_listener (database,
      gst_partial_mix_listener_get_neighbour (listener));
}

void
gst_partial_mix_listener_look_up_stream (GstPartialMixListener * listener,
    GstPartialMixDatabase * database, const GstPartialMixStream * stream)
{
  GstPartialMixStreamInfo *info;

  gst_partial_mix_listener_look_up (listener, database);
  if (!listener->has_infos)
    return;
  if (stream->slot >= listener->infos->len)
    g_array_set_size (listener->infos, stream->slot + 1);
  info = &g_array_index (listener->infos, GstPartialMixStreamInfo,
      stream->slot);
  gst_partial_mix_database_lookup_for (database,
      gst_partial_mix_listener_get_neighbour (listener),
      stream->identity.cname, stream->ssrc, info);
  gst_partial_mix_set_remove (listener->steady, stream->slot);
}

static void
forget_gains (GstPartialMixListener * listener, GstPartialMixGains * gains)
{
  if (gains->has_place)
    fmx_places_leave (&listener->places, gains->place, listener->rendered);
  memset (gains, 0, sizeof *gains);
}

void
gst_partial_mix_listener_init_link (GstPartialMixListener * listener,
    const GstPartialMixStream * stream, GstClockTime now)
{
  GstPartialMixLink *link = gst_partial_mix_listener_get_link (listener,
      stream);

  if (link->has_pt)
    gst_partial_mix_payloads_give (&listener->payloads, link->pt);
  gst_partial_mix_set_remove (listener->steady, stream->slot);
  if (stream->slot < listener->gains->len)
    forget_gains (listener, &g_array_index (listener->gains,
            GstPartialMixGains, stream->slot));
  gst_partial_mix_link_init (link, FMX_HANDOVER_NONE, 0, now);
}

gboolean
gst_partial_mix_listener_change_link (GstPartialMixListener * listener,
    GstPartialMixStream * stream, FmxHandoverWay way, guint mix,
    gint64 mix_pos, GstClockTime now)
{
  GstPartialMixLink *link = gst_partial_mix_listener_get_link (listener,
      stream);

  if (way != link->handover.way || mix != link->handover.mix)
    gst_partial_mix_set_remove (listener->steady, stream->slot);
  return gst_partial_mix_link_change (link, stream, way, mix, mix_pos, now);
}

/* -------------------------------------------------------- payload types -- */

void
gst_partial_mix_listener_take_pt (GstPartialMixListener * listener,
    GstPartialMixLink * link, const GstPartialMixFormat * format)
{
  link->pt = gst_partial_mix_payloads_take (&listener->payloads, format, FALSE);
  link->has_pt = TRUE;
}

guint8
gst_partial_mix_listener_mix_pt (GstPartialMixListener * listener)
{
  const GstPartialMixFormat *format = &listener->mix_format;

  if (listener->has_mix_pt && format->pt == listener->mix_out.pt
      && gst_partial_mix_format_is_equal (format, &listener->mix_out))
    return listener->mix_pt;
  if (listener->has_mix_pt)
    gst_partial_mix_payloads_give (&listener->payloads, listener->mix_pt);
  listener->mix_out = *format;
  listener->mix_pt = gst_partial_mix_payloads_take (&listener->payloads,
      format, TRUE);
  listener->has_mix_pt = TRUE;
  return listener->mix_pt;
}
