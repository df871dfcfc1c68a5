/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launch-ecn.h"

#include <gio/gio.h>
#include <netinet/in.h>
#include <netinet/ip.h>

#include "common/gstfairmixtos.h"

#define ECT_0 2

/* GStreamer 1.22's udpsrc asks for the byte and drops it: what was read last in
 * the thread in which the buffer leaves. */
static _Thread_local gint last_tos = -1;

static GSocketControlMessage *(*deserialize) (gint level, gint type, gsize size,
    gpointer data);

static GSocketControlMessage *
note_tos (gint level, gint type, gsize size, gpointer data)
{
  GSocketControlMessage *message = deserialize (level, type, size, data);

  if (message != NULL)
    last_tos = *(const guint8 *) data;
  return message;
}

static GstPadProbeReturn
on_packet (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  (void) pad;
  (void) user_data;
  if (last_tos >= 0) {
    buffer = gst_buffer_make_writable (buffer);
    gst_fairmix_tos_attach (buffer, (guint8) last_tos);
    GST_PAD_PROBE_INFO_DATA (info) = buffer;
    last_tos = -1;
  }
  return GST_PAD_PROBE_OK;
}

static void
set_option (GstElement *element, gint option, gint value)
{
  GSocket *socket = NULL;
  GError *error = NULL;

  g_object_get (element, "used-socket", &socket, NULL);
  if (socket == NULL
      || !g_socket_set_option (socket, IPPROTO_IP, option, value, &error))
    g_printerr ("WARNING: %s takes no marks: %s\n", GST_OBJECT_NAME (element),
        error != NULL ? error->message : "no socket");
  g_clear_error (&error);
  g_clear_object (&socket);
}

static void
for_each (GstElement *pipeline, const gchar *factory, GFunc function)
{
  GstIterator *i = gst_bin_iterate_recurse (GST_BIN (pipeline));
  GValue item = G_VALUE_INIT;

  while (gst_iterator_next (i, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);
    GstElementFactory *made_by = gst_element_get_factory (element);

    if (made_by != NULL
        && g_strcmp0 (GST_OBJECT_NAME (made_by), factory) == 0)
      function (element, NULL);
    g_value_reset (&item);
  }
  gst_iterator_free (i);
}

static void
ask_for_tos (gpointer source, gpointer user_data)
{
  GstPad *pad = gst_element_get_static_pad (source, "src");

  (void) user_data;
  /* or it asks for no control messages at all */
  gst_util_set_object_arg (source, "socket-timestamp", "realtime");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_packet, NULL, NULL);
  gst_object_unref (pad);
}

static void
receive_tos (gpointer source, gpointer user_data)
{
  (void) user_data;
  set_option (source, IP_RECVTOS, 1);
}

static void
send_ect (gpointer sink, gpointer user_data)
{
  (void) user_data;
  set_option (sink, IP_TOS, ECT_0);
}

void
launch_ecn_prepare (GstElement *pipeline)
{
  GSocketControlMessageClass *klass =
      g_type_class_ref (gst_fairmix_tos_get_type ());

  deserialize = klass->deserialize;
  klass->deserialize = note_tos;        /* for good: the class is kept */
  for_each (pipeline, "udpsrc", ask_for_tos);
}

void
launch_ecn_start (GstElement *pipeline)
{
  for_each (pipeline, "udpsrc", receive_tos);
  for_each (pipeline, "udpsink", send_ect);
}
