/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_PORT_STATS_H__
#define __GST_DPM_PORT_STATS_H__

#include <gst/gst.h>

#include "fairmix/join/fmx-join-client.h"
#include "fairmix/join/fmx-join-mixer.h"

#include "gstdpmpeer.h"

G_BEGIN_DECLS

/* What the two ends of the join protocol counted, as fields of @s. */
void gst_dpm_stats_add_mixer (GstStructure * s,
    const FmxJoinMixerStats * stats);
void gst_dpm_stats_add_client (GstStructure * s,
    const FmxJoinClientStats * stats);

/* Returns: (transfer full): of a neighbour's packets */
GstStructure *gst_dpm_peer_to_structure (GstDpmPeer * peer);

G_END_DECLS

#endif /* __GST_DPM_PORT_STATS_H__ */
