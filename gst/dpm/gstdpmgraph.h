/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_GRAPH_H__
#define __GST_DPM_GRAPH_H__

#include <gst/gst.h>

#include "gstdpmends.h"

G_BEGIN_DECLS

/**
 * GstDpmGraph:
 *
 * What is the same in a mixer and in a client: a partialmix between the two
 * ends of a port.
 */
typedef struct
{
  GstBin *bin;
  GstElement *mixer;            /* partialmix */
  GstDpmSource *source;
  GstDpmSink *sink;
} GstDpmGraph;

/* Returns: whether partialmix is there */
gboolean gst_dpm_graph_init (GstDpmGraph * graph, GstBin * bin);
void gst_dpm_graph_clear (GstDpmGraph * graph);

/* @made: gets a reference to it.  Returns: (transfer none) (nullable): a new
 * element of the graph's bin; posts what is missing */
GstElement *gst_dpm_graph_make (GstDpmGraph * graph, const gchar * factory,
    GPtrArray * made);

/* Brings @elements into the state of the bin. */
void gst_dpm_graph_start (GPtrArray * elements);
/* (transfer full) @elements: stops them and takes them out of the bin */
void gst_dpm_graph_remove (GstDpmGraph * graph, GPtrArray * elements);
/* Returns: (transfer floating): an active ghost of a pad of @element */
GstPad *gst_dpm_graph_expose (GstElement * element, const gchar * pad,
    GstPadTemplate * template, const gchar * name);

/**
 * GstDpmNeighbour:
 *
 * The elements of one neighbour: rtpccfb, tfrcrate and what joins them to the
 * mixer.
 */
typedef struct _GstDpmNeighbour GstDpmNeighbour;

/**
 * GstDpmNeighbourParams:
 * @cname: (nullable): whose streams come from there, if they are one's
 * @voice: (nullable): what is sent there
 * @alone: nothing is sent but @voice; else what the mixer has
 * @encoder: (nullable): the name of the encoder of @voice
 * @max_bitrate: the most that is sent there, in bit/s
 * @initial_bitrate: ... before anything is known; 0: tfrcrate's own
 */
typedef struct
{
  const gchar *cname;
  GstElement *voice;
  gboolean alone;
  const gchar *encoder;
  guint max_bitrate;
  guint initial_bitrate;
} GstDpmNeighbourParams;

/* Builds and starts them; nothing of the others stops meanwhile. */
GstDpmNeighbour *gst_dpm_neighbour_new (GstDpmGraph * graph,
    GstDpmPeer * peer, const GstDpmNeighbourParams * params);

/* Stops and removes them. */
void gst_dpm_neighbour_free (GstDpmNeighbour * neighbour);

GstDpmPeer *gst_dpm_neighbour_get_peer (GstDpmNeighbour * neighbour);
const gchar *gst_dpm_neighbour_get_cname (GstDpmNeighbour * neighbour);

/* Returns: (transfer full) (nullable): where in the mixer its streams come in */
GstPad *gst_dpm_neighbour_get_sink (GstDpmNeighbour * neighbour);
/* Returns: (transfer full) (nullable): its tfrcrate */
GstElement *gst_dpm_neighbour_get_rate (GstDpmNeighbour * neighbour);
/* From now on it is somebody else, elsewhere. */
void gst_dpm_neighbour_change_path (GstDpmNeighbour * neighbour);
/* Returns: what may be sent there now, in bit/s; 0: not known.  @sent_bps: (out)
 * (nullable): what is sent */
guint64 gst_dpm_neighbour_get_target_bps (GstDpmNeighbour * neighbour,
    gdouble * sent_bps);
/* That is @bps from now on, if it is more. */
void gst_dpm_neighbour_raise (GstDpmNeighbour * neighbour, guint64 bps);
/* Adds "rate", what tfrcrate says, to @stats. */
void gst_dpm_neighbour_add_stats (GstDpmNeighbour * neighbour,
    GstStructure * stats);

/**
 * GstDpmVoice:
 *
 * Our own voice on its way: from raw audio of any kind to Opus in RTP.
 */
typedef struct
{
  GstElement *first, *last;
  GstElement *volume, *encoder;
} GstDpmVoice;

/* @made: gets a reference to each of its elements.  Returns: whether all are
 * there */
gboolean gst_dpm_voice_init (GstDpmVoice * voice, GstDpmGraph * graph,
    guint bitrate, GPtrArray * made);
/* @copy: (out): with a reference to each element */
void gst_dpm_voice_ref (const GstDpmVoice * voice, GstDpmVoice * copy);
void gst_dpm_voice_unref (GstDpmVoice * copy);

/* Returns: (nullable): the first element of those that play a src pad of the
 * mixer; @last has audio of any rate and channels */
GstElement *gst_dpm_graph_make_player (GstDpmGraph * graph,
    GstElement ** last, GPtrArray * made);

G_END_DECLS

#endif /* __GST_DPM_GRAPH_H__ */
