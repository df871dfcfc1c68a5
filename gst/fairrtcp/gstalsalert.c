/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalsalert.h"

#include <errno.h>
#include <gio/gio.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "common/gstfairmixpads.h"

void
gst_als_alert_init (GstAlsAlert * alert)
{
  gst_fairmix_lock_init (&alert->lock, GST_FAIRMIX_RANK_HELPER);
  alert->name = NULL;
  alert->complained = FALSE;
}

void
gst_als_alert_clear (GstAlsAlert * alert)
{
  g_free (alert->name);
  gst_fairmix_lock_clear (&alert->lock);
}

void
gst_als_alert_set_name (GstAlsAlert * alert, const gchar * name)
{
  gst_fairmix_lock_acquire (&alert->lock);
  g_free (alert->name);
  alert->name = name != NULL && name[0] != '\0' ? g_strdup (name) : NULL;
  alert->complained = FALSE;
  gst_fairmix_lock_release (&alert->lock);
}

gchar *
gst_als_alert_dup_name (GstAlsAlert * alert)
{
  gchar *name;

  gst_fairmix_lock_acquire (&alert->lock);
  name = g_strdup (alert->name);
  gst_fairmix_lock_release (&alert->lock);
  return name;
}

/* Returns: 0, or what the system says.  The checksum is none of what must be: where
 * it stays, a router has some more to do. */
static gint
mark (GSocket * socket)
{
  static const guint8 router_alert[] = { 0x94, 4, 0, 0 };       /* [RFC2113 2.1] */
  gint fd = g_socket_get_fd (socket);

  if (g_socket_get_family (socket) != G_SOCKET_FAMILY_IPV4)
    return EAFNOSUPPORT;
  if (setsockopt (fd, IPPROTO_IP, IP_OPTIONS, router_alert,
          sizeof router_alert) != 0)
    return errno;
#ifdef SO_NO_CHECK
  g_socket_set_option (socket, SOL_SOCKET, SO_NO_CHECK, 1, NULL);
#endif
  return 0;
}

/* Returns: 0, or why it cannot be */
static gint
mark_sink (GstElement * sink)
{
  GParamSpec *pspec = sink == NULL ? NULL
      : g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "used-socket");
  GSocket *socket = NULL;
  gint error = ENOENT;

  if (pspec != NULL && g_type_is_a (pspec->value_type, G_TYPE_SOCKET)) {
    g_object_get (sink, "used-socket", &socket, NULL);
    /* without one it has not begun yet */
    error = socket != NULL ? mark (socket) : 0;
  }
  g_clear_object (&socket);
  return error;
}

void
gst_als_alert_apply (GstAlsAlert * alert, GstElement * owner)
{
  gchar *name = gst_als_alert_dup_name (alert);
  GstElement *sink = NULL;
  gboolean again = TRUE;
  gint error;

  if (name == NULL)
    return;
  sink = gst_fairmix_find_element (owner, name);
  error = mark_sink (sink);
  if (error != 0) {
    gst_fairmix_lock_acquire (&alert->lock);
    again = alert->complained;
    alert->complained = TRUE;
    gst_fairmix_lock_release (&alert->lock);
  }
  if (!again)
    GST_ELEMENT_WARNING (owner, RESOURCE, SETTINGS,
        ("Routers are not alerted by \"%s\": %s.", name, g_strerror (error)),
        ("property alert-sink: the name of the udpsink (IPv4) of the RTCP"));
  gst_clear_object (&sink);
  g_free (name);
}
