/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_SERVERS_H__
#define __GST_DPM_SERVERS_H__

#include <gio/gio.h>

#include "fairmix/join/fmx-join-guard.h"

G_BEGIN_DECLS

/** GST_DPM_DEFAULT_PORT: of a server of which no port is said */
#define GST_DPM_DEFAULT_PORT 5004

/**
 * GstDpmServers:
 *
 * Where the mixer may be that somebody wants to join: one name after the other, and
 * of each all its addresses.  A name without a port may be that of a service (DNS
 * SRV, `_dpm._udp`); of its hosts the one that answers first is the first.
 */
typedef struct _GstDpmServers GstDpmServers;

/* @text: "host", "host:port", "[v6]:port", several with commas between them.
 * Returns: (nullable): NULL if one cannot be read */
GstDpmServers *gst_dpm_servers_new (const gchar * text, GError ** error);
void gst_dpm_servers_free (GstDpmServers * servers);

/* Returns: whether another mixer than the last one may be next */
gboolean gst_dpm_servers_have_choice (GstDpmServers * servers);

typedef enum
{
  GST_DPM_NEXT_NONE,            /* no name has an address now, or none but of who refused */
  GST_DPM_NEXT_FOUND,
  GST_DPM_NEXT_HOPELESS         /* all names have addresses, and all of these refused */
} GstDpmNext;

/* Blocks.  @address: (out): the next one, from the beginning after the last */
GstDpmNext gst_dpm_servers_next (GstDpmServers * servers,
    FmxJoinAddress * address, GCancellable * cancellable);

/* At the one that was given last nobody would ever let us in.  May be said again. */
void gst_dpm_servers_refused (GstDpmServers * servers);

G_END_DECLS

#endif /* __GST_DPM_SERVERS_H__ */
