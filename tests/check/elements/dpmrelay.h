/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_RELAY_H__
#define __DPM_RELAY_H__

/* Somebody who sits between one client and a mixer: passes everything on, can
 * stop that, keeps what passed, and says things in the client's name. */

#include <gio/gio.h>
#include <gst/check/check.h>

#include "gstdpmsocket.h"

#define RELAY_KEEPS 256
#define RELAY_BYTES 1600

typedef struct
{
  gsize size;
  guint8 data[RELAY_BYTES];
} RelayPacket;

typedef struct
{
  GstDpmSocket front, back;
  GThread *thread;
  GCancellable *end;
  gint dead;

  /* with the lock */
  GMutex lock;
  FmxJoinAddress client, mixer;
  RelayPacket up[RELAY_KEEPS], down[RELAY_KEEPS];
  guint n_up, n_down;
} Relay;

static inline FmxJoinAddress
loopback (guint port)
{
  FmxJoinAddress address = { {[10] = 0xff,[11] = 0xff, 127, 0, 0, 1},
  (guint16) port, 0
  };

  return address;
}

static void
relay_pass (Relay * relay, gboolean up)
{
  RelayPacket packet;
  FmxJoinAddress from, to;

  while ((packet.size = gst_dpm_socket_receive (up ? &relay->front :
              &relay->back, packet.data, sizeof packet.data, &from)) > 0) {
    g_mutex_lock (&relay->lock);
    if (up) {
      relay->client = from;
      relay->up[relay->n_up++ % RELAY_KEEPS] = packet;
    } else {
      relay->down[relay->n_down++ % RELAY_KEEPS] = packet;
    }
    to = up ? relay->mixer : relay->client;
    g_mutex_unlock (&relay->lock);
    if (!g_atomic_int_get (&relay->dead))
      gst_dpm_socket_send (up ? &relay->back : &relay->front, packet.data,
          packet.size, &to);
  }
}

static gpointer
relay_run (gpointer data)
{
  Relay *relay = data;

  while (!g_cancellable_is_cancelled (relay->end)) {
    gst_dpm_socket_wait (&relay->front, 2000, relay->end);
    relay_pass (relay, TRUE);
    relay_pass (relay, FALSE);
  }
  return NULL;
}

static inline Relay *
relay_new (guint mixer_port)
{
  Relay *relay = g_new0 (Relay, 1);

  g_mutex_init (&relay->lock);
  relay->mixer = loopback (mixer_port);
  relay->end = g_cancellable_new ();
  fail_unless (gst_dpm_socket_open (&relay->front, "127.0.0.1", 0, NULL));
  fail_unless (gst_dpm_socket_open (&relay->back, "127.0.0.1", 0, NULL));
  relay->thread = g_thread_new ("relay", relay_run, relay);
  return relay;
}

static inline guint
relay_port (Relay * relay)
{
  return gst_dpm_socket_get_port (&relay->front);
}

static inline void
relay_free (Relay * relay)
{
  g_cancellable_cancel (relay->end);
  g_thread_join (relay->thread);
  gst_dpm_socket_close (&relay->front);
  gst_dpm_socket_close (&relay->back);
  g_object_unref (relay->end);
  g_mutex_clear (&relay->lock);
  g_free (relay);
}

/* From here on to another mixer. */
static inline void
relay_turn_to (Relay * relay, guint mixer_port)
{
  g_mutex_lock (&relay->lock);
  relay->mixer = loopback (mixer_port);
  g_mutex_unlock (&relay->lock);
}

/* From now on the client seems to be elsewhere. */
static inline void
relay_rebind (Relay * relay)
{
  GstDpmSocket other = { 0 }, old;

  fail_unless (gst_dpm_socket_open (&other, "127.0.0.1", 0, NULL));
  g_atomic_int_set (&relay->dead, TRUE);
  g_cancellable_cancel (relay->end);
  g_thread_join (relay->thread);
  old = relay->back;
  relay->back = other;
  gst_dpm_socket_close (&old);
  g_cancellable_reset (relay->end);
  g_atomic_int_set (&relay->dead, FALSE);
  relay->thread = g_thread_new ("relay", relay_run, relay);
}

/* Copies the latest packets whose first byte is @first, apart from the bits in
 * @mask, to @packets (RELAY_KEEPS).  Returns: how many */
static inline guint
relay_copy (Relay * relay, gboolean up, guint8 first, guint8 mask,
    RelayPacket * packets)
{
  guint n = 0;

  g_mutex_lock (&relay->lock);
  for (guint i = 0; i < RELAY_KEEPS; i++) {
    RelayPacket *packet = up ? &relay->up[i] : &relay->down[i];

    if (packet->size > 0 && (packet->data[0] & ~mask) == first)
      packets[n++] = *packet;
  }
  g_mutex_unlock (&relay->lock);
  return n;
}

/* In the client's name, as far as its address goes */
static inline void
relay_say (Relay * relay, const guint8 * data, gsize size)
{
  fail_unless (gst_dpm_socket_send (&relay->back, data, size, &relay->mixer));
}

#endif /* __DPM_RELAY_H__ */
