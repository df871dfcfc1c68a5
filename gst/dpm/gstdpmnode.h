/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_NODE_H__
#define __GST_DPM_NODE_H__

#include <gst/gst.h>

#include "gstdpmgraph.h"
#include "gstdpmport.h"
#include "gstdpmroster.h"

G_BEGIN_DECLS

/** GST_DPM_LOCAL: our own voice and ears as a neighbour of the mixer */
#define GST_DPM_LOCAL 0

#define GST_TYPE_DPM_NODE (gst_dpm_node_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstDpmNode, gst_dpm_node, GST, DPM_NODE, GstBin)

/**
 * GstDpmNodeClass:
 * @setup: READY to PAUSED: says what the port is for; posts an error if it fails
 * @teardown: PAUSED to READY: nobody is told anything any more
 * @joined, @left, @uplink: as in #GstDpmPortCallbacks; @uplink has told already
 * @mixes: as in #GstDpmPortCallbacks; @tick: likewise, after @names
 * @names: there are new names (@news), or it is time to say some again
 * @voice: our own voice is there, to be linked; %FALSE if that cannot be now
 * @add_stats: what else there is
 *
 * What dpmclient and dpmmixer have in common: a graph, a port, our own voice and
 * ears, messages.
 */
struct _GstDpmNodeClass
{
  GstBinClass parent_class;

  gboolean (*setup) (GstDpmNode * self, GstDpmPort * port);
  void (*teardown) (GstDpmNode * self);
  void (*joined) (GstDpmNode * self, GstDpmPeer * peer);
  void (*left) (GstDpmNode * self, GstDpmPeer * peer, FmxJoinReason reason);
  void (*uplink) (GstDpmNode * self, FmxJoinClientEvent event,
      FmxJoinReason reason, gboolean last);
  void (*mixes) (GstDpmNode * self, GstDpmPeer * peer,
      const FmxJoinMixing * mixing);
  void (*tick) (GstDpmNode * self, FmxTime now);
  void (*names) (GstDpmNode * self, gboolean news);
  gboolean (*voice) (GstDpmNode * self, const GstDpmVoice * voice);
  void (*add_stats) (GstDpmNode * self, GstStructure * stats);
};

GstDpmGraph *gst_dpm_node_get_graph (GstDpmNode * self);
/* Returns: (nullable): in the callbacks and in PAUSED and PLAYING */
GstDpmPort *gst_dpm_node_get_port (GstDpmNode * self);
GstDpmRoster *gst_dpm_node_get_roster (GstDpmNode * self);
/* Returns: whether somebody asked for the pad of our own voice, which may go at any
 * moment.  @voice: (out) (transfer full): gst_dpm_voice_unref() */
gboolean gst_dpm_node_get_voice (GstDpmNode * self, GstDpmVoice * voice);
/* Whether somebody asked for the pad of our voice (GST_PAD_SINK), or ears */
gboolean gst_dpm_node_has (GstDpmNode * self, GstPadDirection direction);
guint gst_dpm_node_get_bitrate (GstDpmNode * self);

/* @ends: our own voice ends what is sent.  No pipeline waits for that, until it is flagged
 * as a sink. */
void gst_dpm_node_set_ends (GstDpmNode * self, gboolean ends);

/* Returns: what to say of us to who is joined, of that which is the same for all */
guint gst_dpm_node_get_join_flags (GstDpmNode * self);

/* @secret: (out): as it is set now; wipe it */
void gst_dpm_node_get_secret (GstDpmNode * self, FmxJoinSecret * secret);

/* Sends a neighbour away, if it is there. */
void gst_dpm_node_kick (GstDpmNode * self, guint neighbour);

/* Asks a neighbour to mix, or not to any more; sends one to another. */
void gst_dpm_node_ask (GstDpmNode * self, guint neighbour, gboolean begin);
void gst_dpm_node_move (GstDpmNode * self, guint neighbour, guint mixer);

/* (transfer full) @structure: posts an element message */
void gst_dpm_node_tell (GstDpmNode * self, GstStructure * structure);

G_END_DECLS

#endif /* __GST_DPM_NODE_H__ */
