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
  g_weak_ref_init (&alert->marked, NULL);
}

void
gst_als_alert_clear (GstAlsAlert * alert)
{
  g_weak_ref_clear (&alert->marked);
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
mark (GSocket * socket, gboolean alerts)
{
  static const guint8 router_alert[] = { 0x94, 4, 0, 0 };       /* [RFC2113 2.1] */
  gint fd = g_socket_get_fd (socket);

  if (g_socket_get_family (socket) != G_SOCKET_FAMILY_IPV4)
    return EAFNOSUPPORT;
  if (setsockopt (fd, IPPROTO_IP, IP_OPTIONS, router_alert,
          alerts ? sizeof router_alert : 0) != 0)
    return errno;
#ifdef SO_NO_CHECK
  g_socket_set_option (socket, SOL_SOCKET, SO_NO_CHECK, alerts, NULL);
#endif
  return 0;
}

/* @socket: (out) (transfer full) (nullable): none where it has not begun yet
 * Returns: 0, or why there can be none */
static gint
get_socket (GstElement * sink, GSocket ** socket)
{
  GParamSpec *pspec = sink == NULL ? NULL
      : g_object_class_find_property (G_OBJECT_GET_CLASS (sink), "used-socket");

  if (pspec == NULL || !g_type_is_a (pspec->value_type, G_TYPE_SOCKET))
    return ENOENT;
  g_object_get (sink, "used-socket", socket, NULL);
  return 0;
}

/* Marks what @sink sends with, and nothing else any more. */
static gint
mark_sink (GstAlsAlert * alert, GstElement * sink)
{
  GSocket *before = g_weak_ref_get (&alert->marked), *socket = NULL;
  gint error = get_socket (sink, &socket);

  if (before != NULL && before != socket)
    mark (before, FALSE);
  if (socket != NULL)
    error = mark (socket, TRUE);
  if (before != socket)
    g_weak_ref_set (&alert->marked, socket);
  g_clear_object (&before);
  g_clear_object (&socket);
  return error;
}

static void
complain (GstAlsAlert * alert, GstElement * owner, const gchar * name,
    gint error)
{
  gboolean again;

  gst_fairmix_lock_acquire (&alert->lock);
  again = alert->complained;
  alert->complained = TRUE;
  gst_fairmix_lock_release (&alert->lock);
  if (!again)
    GST_ELEMENT_WARNING (owner, RESOURCE, SETTINGS,
        ("Routers are not alerted by \"%s\": %s.", name, g_strerror (error)),
        ("property alert-sink: the name of the udpsink (IPv4) of the RTCP"));
}

void
gst_als_alert_apply (GstAlsAlert * alert, GstElement * owner)
{
  gchar *name = gst_als_alert_dup_name (alert);
  GstElement *sink = name != NULL ? gst_fairmix_find_element (owner, name)
      : NULL;
  gint error = mark_sink (alert, sink);

  if (name != NULL && error != 0)
    complain (alert, owner, name, error);
  gst_clear_object (&sink);
  g_free (name);
}
