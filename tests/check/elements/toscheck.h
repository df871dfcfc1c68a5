/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __TOS_CHECK_H__
#define __TOS_CHECK_H__

/* The byte of an IP header that has ECN in it, as a control message of a buffer */

#include <gst/net/gstnetcontrolmessagemeta.h>

#include "common/gstfairmixtos.h"

static inline guint8
tos_message_get (GstBuffer * buffer)
{
  GstNetControlMessageMeta *meta = (GstNetControlMessageMeta *)
      gst_buffer_get_meta (buffer, GST_NET_CONTROL_MESSAGE_META_API_TYPE);
  guint8 tos;

  fail_unless_equals_int (g_socket_control_message_get_size (meta->message),
      1);
  g_socket_control_message_serialize (meta->message, &tos);
  return tos;
}

#endif /* __TOS_CHECK_H__ */
