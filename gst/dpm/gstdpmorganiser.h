/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_ORGANISER_H__
#define __GST_DPM_ORGANISER_H__

#include <gst/gst.h>

#include "gstdpmhall.h"

G_BEGIN_DECLS

/**
 * GstDpmOrganiser:
 *
 * Looks which neighbours of a hall are behind the same bottleneck, asks one of them to
 * mix for the others, and sends these there; until then, and if that does not pay, they
 * share out what the bottleneck has for them, by weight.  Posts `dpm-topology`.
 */
typedef struct _GstDpmOrganiser GstDpmOrganiser;

/* @hall: lives longer */
GstDpmOrganiser *gst_dpm_organiser_new (GstDpmHall * hall);
void gst_dpm_organiser_free (GstDpmOrganiser * organiser);

/* From one and the same thread: five times a second, @weights: (nullable): of neighbours
 * by name, as of dpmmixer; when something happens */
void gst_dpm_organiser_tick (GstDpmOrganiser * organiser,
    const GstStructure * weights, FmxTime now);
void gst_dpm_organiser_left (GstDpmOrganiser * organiser, GstDpmPeer * peer,
    FmxJoinReason reason);
void gst_dpm_organiser_mixes (GstDpmOrganiser * organiser, GstDpmPeer * peer,
    const FmxJoinMixing * mixing);
/* Five times a second: posts who mixes since, or no more. */
void gst_dpm_organiser_tell_mixing (GstDpmOrganiser * organiser);

/* Forgets all, when that thread is no more. */
void gst_dpm_organiser_reset (GstDpmOrganiser * organiser);

/* Adds "topology". */
void gst_dpm_organiser_add_stats (GstDpmOrganiser * organiser,
    GstStructure * stats);

G_END_DECLS

#endif /* __GST_DPM_ORGANISER_H__ */
