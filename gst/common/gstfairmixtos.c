/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GLib has a GIPTosMessage of its own from 2.88 on. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmtos.h"

#include <gst/net/gstnetcontrolmessagemeta.h>
#include <netinet/in.h>
#include <netinet/ip.h>

typedef struct
{
  GSocketControlMessage parent;
  guint8 tos;
} GstDpmTos;

typedef GSocketControlMessageClass GstDpmTosClass;

static GType gst_dpm_tos_get_type (void);

G_DEFINE_TYPE (GstDpmTos, gst_dpm_tos, G_TYPE_SOCKET_CONTROL_MESSAGE);

static GSocketControlMessage *
gst_dpm_tos_new (guint8 tos)
{
  GstDpmTos *self = g_object_new (gst_dpm_tos_get_type (), NULL);

  self->tos = tos;
  return G_SOCKET_CONTROL_MESSAGE (self);
}

static gint
gst_dpm_tos_get_level (GSocketControlMessage * message)
{
  return IPPROTO_IP;
}

static gint
gst_dpm_tos_get_msg_type (GSocketControlMessage * message)
{
  return IP_TOS;
}

static gsize
gst_dpm_tos_get_size (GSocketControlMessage * message)
{
  return 1;
}

static void
gst_dpm_tos_serialize (GSocketControlMessage * message, gpointer data)
{
  *(guint8 *) data = ((GstDpmTos *) message)->tos;
}

static GSocketControlMessage *
gst_dpm_tos_deserialize (gint level, gint type, gsize size, gpointer data)
{
  return level == IPPROTO_IP && type == IP_TOS && size == 1 ?
      gst_dpm_tos_new (*(guint8 *) data) : NULL;
}

static void
gst_dpm_tos_class_init (GstDpmTosClass * klass)
{
  klass->get_level = gst_dpm_tos_get_level;
  klass->get_type = gst_dpm_tos_get_msg_type;
  klass->get_size = gst_dpm_tos_get_size;
  klass->serialize = gst_dpm_tos_serialize;
  klass->deserialize = gst_dpm_tos_deserialize;
}

static void
gst_dpm_tos_init (GstDpmTos * self)
{
}

void
gst_dpm_tos_attach (GstBuffer * buffer, guint8 tos)
{
  GSocketControlMessage *message = gst_dpm_tos_new (tos);

  gst_buffer_add_net_control_message_meta (buffer, message);
  g_object_unref (message);
}
