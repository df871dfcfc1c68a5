/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files of the element share: its times, and what it says. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

guint
gst_partial_mix_frame_samples (GstPartialMix * self)
{
  return (guint) gst_util_uint64_scale_int (self->settings.frame_duration,
      (gint) self->settings.rate_hz, GST_SECOND);
}

GstClockTime
gst_partial_mix_samples_to_time (GstPartialMix * self, guint64 samples)
{
  return gst_util_uint64_scale_int (samples, GST_SECOND,
      (gint) self->settings.rate_hz);
}

GstClockTime
gst_partial_mix_running_time (GstPartialMix * self)
{
  GstClock *clock = gst_element_get_clock (GST_ELEMENT_CAST (self));
  GstClockTime base = gst_element_get_base_time (GST_ELEMENT_CAST (self));
  GstClockTime now;

  if (clock == NULL)
    return GST_CLOCK_TIME_NONE;
  now = gst_clock_get_time (clock);
  gst_object_unref (clock);
  return now > base ? now - base : 0;
}

/* In a pause the clock goes on, but what is counted from the new base time afterwards
 * does not: what comes meanwhile must not be from the future then. */
GstClockTime
gst_partial_mix_lock_now (GstPartialMix * self)
{
  GstClockTime now = gst_partial_mix_running_time (self);

  GST_PARTIAL_MIX_LOCK (self);
  if (!self->running)
    return self->paused_at;
  return GST_CLOCK_TIME_IS_VALID (now) ? now : 0;
}

/* A tick mixes the samples that start at its own time; a packet that arrives
 * while it runs waits for the next. */
GstClockTime
gst_partial_mix_playout_delay (GstPartialMix * self)
{
  return self->settings.frame_duration + self->settings.latency;
}

void
gst_partial_mix_post_messages (GstPartialMix * self)
{
  gst_fairmix_lock_assert_none ();
  gst_fairmix_outbox_post (self->outbox, GST_ELEMENT_CAST (self));
}

/* takes @complaints, which may be NULL */
void
gst_partial_mix_tell_complaints (GstPartialMix * self, gchar * complaints)
{
  GError *error;

  if (complaints == NULL)
    return;
  error = g_error_new (GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "Something in the Database says nothing:\n%s", complaints);
  gst_fairmix_outbox_add (self->outbox, gst_message_new_warning
      (GST_OBJECT (self), error,
          "Sections are [default], [cname:NAME], [ssrc:NUMBER], each also as "
          "[neighbour NUMBER/...] for one listener; keys are priority, group, "
          "never-mix, mute, gain-db (-60 ... 18), pan (-1 ... 1)."));
  g_error_free (error);
  g_free (complaints);
}

void
gst_partial_mix_reselect (GstPartialMix * self,
    GstPartialMixListener * listener, const gchar * reason, GstClockTime now)
{
  const GstPartialMixScene scene = { &self->table, &self->settings,
    self->mix_pos
  };
  GstStructure *s;

  /* who is told late that it goes may have a wish still */
  if (listener->gone || !gst_partial_mix_select (listener, &scene, now))
    return;
  s = gst_partial_mix_selection_to_structure (listener, &self->table, reason);
  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, s);
  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_element (GST_OBJECT (self), s));
}
