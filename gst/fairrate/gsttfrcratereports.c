/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttfrcratereports.h"

#include "fairmix/base/fmx-units.h"
#include "fairmix/wire/fmx-rtcp.h"

#define GST_CAT_DEFAULT gst_tfrc_rate_debug

/* Returns: whether there is nothing in it but a report and names: feedback and a BYE are
 * of now.  @ssrc: (out): whose it is */
static gboolean
may_wait (GstBuffer * buffer, guint32 * ssrc)
{
  gboolean first = TRUE, good;
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  FmxRtcpReport report;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  good = fmx_rtcp_reader_init (&reader, map.data, map.size);
  while (good && fmx_rtcp_reader_next (&reader, &packet)) {
    good = first ? fmx_rtcp_report_read (&report, &packet)
        : packet.type == FMX_RTCP_SDES;
    first = FALSE;
  }
  gst_buffer_unmap (buffer, &map);
  good = good && !first;
  *ssrc = good ? report.ssrc : 0;
  return good;
}

/* What is empty is not sent.  Returns: FALSE: it need not be sent at once */
static gboolean
on_sending_rtcp (GObject * session G_GNUC_UNUSED, GstBuffer * buffer,
    gboolean early, GstTfrcRate * self)
{
  gsize size = gst_buffer_get_size (buffer);
  gboolean goes;
  guint32 ssrc;

  if (early || !may_wait (buffer, &ssrc) || !gst_buffer_is_writable (buffer))
    return FALSE;
  gst_fairmix_lock_acquire (&self->lock);
  goes = fmx_report_turns_take (&self->report_turns, ssrc,
      (guint32) size + FMX_IP_UDP_BYTES, self->target);
  gst_fairmix_lock_release (&self->lock);
  if (!goes) {
    GST_LOG_OBJECT (self, "no report of %08x in this round", ssrc);
    gst_buffer_set_size (buffer, 0);
  }
  return FALSE;
}

/* Returns: (transfer full) (nullable): the inner session of what has @pad */
static GObject *
find_session (GstPad * pad)
{
  GstPad *inner = gst_object_ref (pad);
  GObject *session = NULL;
  GstElement *element;

  while (inner != NULL && GST_IS_GHOST_PAD (inner)) {
    GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD (inner));

    gst_object_unref (inner);
    inner = target;
  }
  element = inner != NULL ? gst_pad_get_parent_element (inner) : NULL;
  if (element != NULL
      && g_object_class_find_property (G_OBJECT_GET_CLASS (element),
          "internal-session") != NULL)
    g_object_get (element, "internal-session", &session, NULL);
  if (session != NULL
      && g_signal_lookup ("on-sending-rtcp", G_OBJECT_TYPE (session)) == 0)
    g_clear_object (&session);
  gst_clear_object (&element);
  gst_clear_object (&inner);
  return session;
}

static void
on_unlinked (GstPad * pad G_GNUC_UNUSED, GstPad * peer, GstTfrcRate * self)
{
  GObject *session = find_session (peer);

  if (session != NULL)
    g_signal_handlers_disconnect_by_func (session, on_sending_rtcp, self);
  g_clear_object (&session);
}

static void
on_linked (GstPad * pad, GstPad * peer, GstTfrcRate * self)
{
  GObject *session;

  on_unlinked (pad, peer, self);        /* it may be back */
  session = find_session (peer);
  gst_fairmix_lock_acquire (&self->lock);
  fmx_report_turns_init (&self->report_turns);
  gst_fairmix_lock_release (&self->lock);
  if (session != NULL)
    g_signal_connect_object (session, "on-sending-rtcp",
        G_CALLBACK (on_sending_rtcp), self, 0);
  g_clear_object (&session);
}

void
gst_tfrc_rate_watch_reports (GstTfrcRate * self)
{
  fmx_report_turns_init (&self->report_turns);
  g_signal_connect (self->srcpad, "linked", G_CALLBACK (on_linked), self);
  g_signal_connect (self->srcpad, "unlinked", G_CALLBACK (on_unlinked), self);
}
