/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixecn.h"

#include <gst/net/gstnetcontrolmessagemeta.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#define ECN_MASK 3
#define ECN_CE 3

/* The kernel gives the byte as one, takes it as an int, too. */
typedef union
{
  guint8 byte;
  gint number;
} Tos;

static gboolean
is_tos (GSocketControlMessage * message)
{
  gint level = g_socket_control_message_get_level (message);
  gint type = g_socket_control_message_get_msg_type (message);
  gsize size = g_socket_control_message_get_size (message);

  return ((level == IPPROTO_IP && type == IP_TOS)
      || (level == IPPROTO_IPV6 && type == IPV6_TCLASS))
      && (size == sizeof (guint8) || size == sizeof (gint));
}

static GstNetControlMessageMeta *
find_tos (GstBuffer * buffer)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_NET_CONTROL_MESSAGE_META_API_TYPE)) != NULL) {
    GstNetControlMessageMeta *control = (GstNetControlMessageMeta *) meta;

    if (is_tos (control->message))
      return control;
  }
  return NULL;
}

/* Returns: the size of what was read into @tos */
static gsize
read_tos (GSocketControlMessage * message, Tos * tos)
{
  gsize size = g_socket_control_message_get_size (message);

  memset (tos, 0, sizeof *tos);
  g_socket_control_message_serialize (message, tos);
  return size;
}

guint8
gst_fairmix_ecn_get (GstBuffer * buffer)
{
  GstNetControlMessageMeta *meta = find_tos (buffer);
  Tos tos;

  if (meta == NULL)
    return 0;
  return (read_tos (meta->message, &tos) == 1 ? tos.byte : tos.number)
      & ECN_MASK;
}

gboolean
gst_fairmix_ecn_mark (GstBuffer ** buffer)
{
  GstNetControlMessageMeta *meta = find_tos (*buffer);
  GSocketControlMessage *marked;
  gsize size;
  Tos tos;

  if (meta == NULL)
    return FALSE;
  size = read_tos (meta->message, &tos);
  if (size == 1)
    tos.byte |= ECN_CE;
  else
    tos.number |= ECN_CE;
  /* one of the same class, whichever that is */
  marked = g_socket_control_message_deserialize
      (g_socket_control_message_get_level (meta->message),
      g_socket_control_message_get_msg_type (meta->message), size, &tos);
  if (marked == NULL)
    return FALSE;
  *buffer = gst_buffer_make_writable (*buffer);
  gst_buffer_remove_meta (*buffer, (GstMeta *) find_tos (*buffer));
  gst_buffer_add_net_control_message_meta (*buffer, marked);
  g_object_unref (marked);
  return TRUE;
}
