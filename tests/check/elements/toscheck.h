/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __TOS_CHECK_H__
#define __TOS_CHECK_H__

/* The byte of an IP header that has ECN in it, as a control message of a buffer;
 * newer GLibs have one of their own. */

#include <gst/gst.h>
#include <gst/net/gstnetcontrolmessagemeta.h>
#include <netinet/in.h>
#include <netinet/ip.h>

typedef struct
{
  GSocketControlMessage parent;
  guint8 tos;
} TosMessage;

typedef GSocketControlMessageClass TosMessageClass;

GType tos_message_get_type (void);
G_DEFINE_TYPE (TosMessage, tos_message, G_TYPE_SOCKET_CONTROL_MESSAGE);

static gint
tos_level (GSocketControlMessage * message G_GNUC_UNUSED)
{
  return IPPROTO_IP;
}

static gint
tos_type (GSocketControlMessage * message G_GNUC_UNUSED)
{
  return IP_TOS;
}

static gsize
tos_size (GSocketControlMessage * message G_GNUC_UNUSED)
{
  return 1;
}

static void
tos_serialize (GSocketControlMessage * message, gpointer data)
{
  *(guint8 *) data = ((TosMessage *) message)->tos;
}

static GSocketControlMessage *
tos_deserialize (gint level, gint type, gsize size, gpointer data)
{
  TosMessage *message;

  if (level != IPPROTO_IP || type != IP_TOS || size != 1)
    return NULL;
  message = g_object_new (tos_message_get_type (), NULL);
  message->tos = *(guint8 *) data;
  return G_SOCKET_CONTROL_MESSAGE (message);
}

static void
tos_message_class_init (TosMessageClass * klass)
{
  klass->get_level = tos_level;
  klass->get_type = tos_type;
  klass->get_size = tos_size;
  klass->serialize = tos_serialize;
  klass->deserialize = tos_deserialize;
}

static void
tos_message_init (TosMessage * message G_GNUC_UNUSED)
{
}

static inline void
tos_message_attach (GstBuffer * buffer, guint8 tos)
{
  TosMessage *message = g_object_new (tos_message_get_type (), NULL);

  message->tos = tos;
  gst_buffer_add_net_control_message_meta (buffer,
      G_SOCKET_CONTROL_MESSAGE (message));
  g_object_unref (message);
}

static inline guint8
tos_message_get (GstBuffer * buffer)
{
  GstNetControlMessageMeta *meta = (GstNetControlMessageMeta *)
      gst_buffer_get_meta (buffer, GST_NET_CONTROL_MESSAGE_META_API_TYPE);

  return ((TosMessage *) meta->message)->tos;
}

#endif /* __TOS_CHECK_H__ */
