/* SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixpause.h"

#include <string.h>

static gboolean
follows (const GstFairmixRtpHeader * last, const GstFairmixRtpHeader * header)
{
  return header->ssrc == last->ssrc
      && header->payload_type == last->payload_type
      && header->seq == (guint16) (last->seq + 1);
}

/* Whether @step is longer than from packet to packet.  Twice the same, one after the other,
 * is no pause, but longer packets. */
static gboolean
is_pause (GstFairmixPause * self, guint32 step)
{
  if (step == 0 || step > G_MAXINT32)   /* of one frame, or back */
    return FALSE;
  if (step > 2 * (guint64) self->step && step != self->paused) {
    self->paused = step;
    return TRUE;
  }
  self->step = step;
  self->paused = 0;
  return FALSE;
}

static GstBuffer *
last_again (GstFairmixPause * self)
{
  GstBuffer *buffer = gst_fairmix_rtp_padding_new (&self->last, 1);

  GST_BUFFER_PTS (buffer) = self->pts;
  GST_BUFFER_DTS (buffer) = self->dts;
  return buffer;
}

GstBuffer *
gst_fairmix_pause_note (GstFairmixPause * self, GstBuffer * buffer)
{
  GstFairmixRtpHeader header;
  GstBuffer *again = NULL;

  if (!gst_fairmix_rtp_header_read (buffer, &header))
    return NULL;
  if (header.ssrc != self->last.ssrc)
    self->step = self->paused = 0;      /* another stream */
  else if (self->known && follows (&self->last, &header)
      && is_pause (self, header.timestamp - self->last.timestamp))
    again = last_again (self);
  self->known = TRUE;
  self->last = header;
  self->pts = GST_BUFFER_PTS (buffer);
  self->dts = GST_BUFFER_DTS (buffer);
  return again;
}

/* Of packets that come at once the jitter buffer has not had the last one yet. */
void
gst_fairmix_pause_note_rest (GstFairmixPause * self, GstBufferList * list)
{
  GstBuffer *again;

  for (guint i = 1; i < gst_buffer_list_length (list); i++) {
    again = gst_fairmix_pause_note (self, gst_buffer_list_get (list, i));
    gst_clear_buffer (&again);
  }
}

void
gst_fairmix_pause_event (GstFairmixPause * self, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP
      || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    memset (self, 0, sizeof *self);
}

/* --- of an element that is used as it is --- */

typedef struct
{
  GstFairmixPause pause;
  GstPad *pad;                  /* not a reference: it has the probe */
  gboolean pushing;
} Watch;

static void
push_before (Watch * watch, GstBuffer * buffer)
{
  GstBuffer *again = gst_fairmix_pause_note (&watch->pause, buffer);

  if (again == NULL)
    return;
  watch->pushing = TRUE;
  gst_pad_chain (watch->pad, again);
  watch->pushing = FALSE;
}

static void
push_before_list (Watch * watch, GstBufferList * list)
{
  guint n = gst_buffer_list_length (list);

  if (n > 0)
    push_before (watch, gst_buffer_list_get (list, 0));
  gst_fairmix_pause_note_rest (&watch->pause, list);
}

static GstPadProbeReturn
on_data (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info, gpointer data)
{
  Watch *watch = data;

  if (watch->pushing)
    return GST_PAD_PROBE_OK;
  if ((info->type & GST_PAD_PROBE_TYPE_BUFFER) != 0)
    push_before (watch, GST_PAD_PROBE_INFO_BUFFER (info));
  else if ((info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST) != 0)
    push_before_list (watch, GST_PAD_PROBE_INFO_BUFFER_LIST (info));
  else
    gst_fairmix_pause_event (&watch->pause, GST_PAD_PROBE_INFO_EVENT (info));
  return GST_PAD_PROBE_OK;
}

void
gst_fairmix_pause_watch (GstElement * jitterbuffer)
{
  Watch *watch = g_new0 (Watch, 1);

  watch->pad = gst_element_get_static_pad (jitterbuffer, "sink");
  gst_pad_add_probe (watch->pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_BUFFER_LIST | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM
      | GST_PAD_PROBE_TYPE_EVENT_FLUSH, on_data, watch, g_free);
  gst_object_unref (watch->pad);
}
