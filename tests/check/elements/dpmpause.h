/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_PAUSE_H__
#define __DPM_PAUSE_H__

/* A mixer that is down for a while, and comes back at its port.  What other tests open
 * meanwhile, at any port, must not be that one: they would have the mixer's clients, and it
 * could not come back. */

#include <gio/gio.h>

#include "dpmcheck.h"

typedef struct
{
  Person *mixer;
  guint port;
  GSocket *holder;              /* that nobody reads */
} Pause;

/* Returns: (nullable): if nobody has that port of the loopback */
static inline GSocket *
pause_take_port (guint port)
{
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_DATAGRAM,
      G_SOCKET_PROTOCOL_UDP, NULL);
  GSocketAddress *address =
      g_inet_socket_address_new_from_string ("127.0.0.1", port);

  if (!g_socket_bind (socket, address, FALSE, NULL))
    g_clear_object (&socket);
  g_object_unref (address);
  return socket;
}

/* @state: to which the mixer goes down */
static inline void
pause_begin (Pause * pause, Person * mixer, GstState state)
{
  pause->mixer = mixer;
  pause->port = (guint) stat_of (mixer, "port");
  gst_element_set_state (mixer->pipeline, state);
  pause->holder = pause_take_port (pause->port);
  fail_unless (pause->holder != NULL);
}

static inline void
pause_end (Pause * pause)
{
  fail_unless (pause_take_port (pause->port) == NULL);
  g_object_set (pause->mixer->dpm, "port", pause->port, NULL);
  g_socket_close (pause->holder, NULL);
  g_object_unref (pause->holder);
  person_start (pause->mixer);
}

#endif /* __DPM_PAUSE_H__ */
