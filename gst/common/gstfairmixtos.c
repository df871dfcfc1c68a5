/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixtos.h"

#include <gst/net/gstnetcontrolmessagemeta.h>
#include <netinet/in.h>
#include <netinet/ip.h>

typedef struct
{
  GSocketControlMessage parent;
  guint8 tos;
} GstFairmixTos;

typedef GSocketControlMessageClass GstFairmixTosClass;

G_DEFINE_TYPE (GstFairmixTos, gst_fairmix_tos, G_TYPE_SOCKET_CONTROL_MESSAGE);

static GSocketControlMessage *
gst_fairmix_tos_new (guint8 tos)
{
  GstFairmixTos *self = g_object_new (gst_fairmix_tos_get_type (), NULL);

  self->tos = tos;
  return G_SOCKET_CONTROL_MESSAGE (self);
}

static gint
gst_fairmix_tos_get_level (GSocketControlMessage * message)
{
  return IPPROTO_IP;
}

static gint
gst_fairmix_tos_get_msg_type (GSocketControlMessage * message)
{
  return IP_TOS;
}

static gsize
gst_fairmix_tos_get_size (GSocketControlMessage * message)
{
  return 1;
}

static void
gst_fairmix_tos_serialize (GSocketControlMessage * message, gpointer data)
{
  *(guint8 *) data = ((GstFairmixTos *) message)->tos;
}

static GSocketControlMessage *
gst_fairmix_tos_deserialize (gint level, gint type, gsize size, gpointer data)
{
  return level == IPPROTO_IP && type == IP_TOS && size == 1 ?
      gst_fairmix_tos_new (*(guint8 *) data) : NULL;
}

static void
gst_fairmix_tos_class_init (GstFairmixTosClass * klass)
{
  klass->get_level = gst_fairmix_tos_get_level;
  klass->get_type = gst_fairmix_tos_get_msg_type;
  klass->get_size = gst_fairmix_tos_get_size;
  klass->serialize = gst_fairmix_tos_serialize;
  klass->deserialize = gst_fairmix_tos_deserialize;
}

static void
gst_fairmix_tos_init (GstFairmixTos * self)
{
}

void
gst_fairmix_tos_attach (GstBuffer * buffer, guint8 tos)
{
  GSocketControlMessage *message = gst_fairmix_tos_new (tos);

  gst_buffer_add_net_control_message_meta (buffer, message);
  g_object_unref (message);
}
