/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The property rtpbin: takes every stream that an rtpbin of the same pipeline
 * shows, each on a sink pad of its own, before its first packet.
 *
 * rtpbin shows each stream from a thread of that stream, many at a time when
 * many talkers join.  gst-launch's all-pads link (`in. : mix.`) answers each
 * with "link any two pads that fit", and then threads take each other's pads:
 * docs/decisions/partialmix-0005-streams-of-a-named-rtpbin.md */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmix-private.h"
#include "common/gstfairmixpads.h"
#include "gstpartialmixpassage.h"

#define GST_CAT_DEFAULT gst_partial_mix_debug

static void
on_pad_added (GstElement * rtpbin, GstPad * pad, GstPartialMix * self)
{
  GstPad *sink;

  if (!g_str_has_prefix (GST_PAD_NAME (pad), "recv_rtp_src_")
      || gst_pad_is_linked (pad))
    return;
  sink = gst_element_request_pad_simple (GST_ELEMENT (self), "sink_%u");
  if (sink == NULL)
    return;

  GST_PARTIAL_MIX_LOCK (self);
  GST_PARTIAL_MIX_SINK_PAD_CAST (sink)->rtpbin_pad = pad;
  GST_PARTIAL_MIX_UNLOCK (self);
  if (gst_pad_link (pad, sink) != GST_PAD_LINK_OK) {
    GST_WARNING_OBJECT (self, "%" GST_PTR_FORMAT " cannot be linked", pad);
    gst_element_release_request_pad (GST_ELEMENT (self), sink);
  }
  gst_object_unref (sink);
}

/* Returns: (transfer full): a sink pad that was made for @pad of the rtpbin, or
 * for any of its pads if @pad is NULL */
static GstPad *
find_pad (GstPartialMix * self, GstPad * pad)
{
  GstPad *found = NULL;
  GList *l;

  GST_PARTIAL_MIX_LOCK (self);
  for (l = self->sink_pads; l != NULL && found == NULL; l = l->next) {
    GstPad *of = GST_PARTIAL_MIX_SINK_PAD_CAST (l->data)->rtpbin_pad;

    if (of != NULL && (pad == NULL || of == pad))
      found = gst_object_ref (l->data);
  }
  GST_PARTIAL_MIX_UNLOCK (self);
  return found;
}

static void
on_pad_removed (GstElement * rtpbin, GstPad * pad, GstPartialMix * self)
{
  GstPad *sink = find_pad (self, pad);

  if (sink != NULL) {
    gst_element_release_request_pad (GST_ELEMENT (self), sink);
    gst_object_unref (sink);
  }
}

/* Returns: (transfer floating) (nullable): what stands where the rtpbin would have a jitter
 * buffer.  Who has lost packets sent again needs the jitter buffer, which asks for them. */
static GstElement *
on_request_jitterbuffer (GstElement * rtpbin, guint session G_GNUC_UNUSED,
    GstPartialMix * self)
{
  gboolean retransmission = FALSE;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (rtpbin),
          "do-retransmission"))
    g_object_get (rtpbin, "do-retransmission", &retransmission, NULL);
  return retransmission ? NULL : g_object_new (GST_TYPE_PARTIAL_MIX_PASSAGE,
      NULL);
}

static gboolean
take_pad (GstElement * rtpbin, GstPad * pad, gpointer self)
{
  on_pad_added (rtpbin, pad, self);
  return TRUE;
}

gboolean
gst_partial_mix_rtpbin_connect (GstPartialMix * self)
{
  gboolean ok;
  gchar *name;

  GST_PARTIAL_MIX_LOCK (self);
  name = g_strdup (self->rtpbin_name);
  GST_PARTIAL_MIX_UNLOCK (self);
  if (name != NULL)
    self->rtpbin = gst_fairmix_find_element (GST_ELEMENT (self), name);

  if (self->rtpbin != NULL) {
    g_signal_connect_object (self->rtpbin, "pad-added",
        G_CALLBACK (on_pad_added), self, 0);
    g_signal_connect_object (self->rtpbin, "pad-removed",
        G_CALLBACK (on_pad_removed), self, 0);
    if (g_signal_lookup ("request-jitterbuffer", G_OBJECT_TYPE (self->rtpbin)))
      g_signal_connect_object (self->rtpbin, "request-jitterbuffer",
          G_CALLBACK (on_request_jitterbuffer), self, 0);
    gst_element_foreach_src_pad (self->rtpbin, take_pad, self);
  } else if (name != NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("There is no rtpbin named \"%s\".", name),
        ("property rtpbin: give the rtpbin that name (name=%s)", name));
  }
  ok = name == NULL || self->rtpbin != NULL;
  g_free (name);
  return ok;
}

void
gst_partial_mix_rtpbin_disconnect (GstPartialMix * self)
{
  GstPad *sink;

  if (self->rtpbin == NULL)
    return;
  g_signal_handlers_disconnect_by_data (self->rtpbin, self);
  gst_clear_object (&self->rtpbin);
  while ((sink = find_pad (self, NULL)) != NULL) {
    gst_element_release_request_pad (GST_ELEMENT (self), sink);
    gst_object_unref (sink);
  }
}
