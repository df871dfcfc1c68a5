/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_HALL_H__
#define __GST_DPM_HALL_H__

#include <gst/gst.h>

#include "common/gstfairmixlock.h"

#include "gstdpmnode.h"

G_BEGIN_DECLS

/**
 * GstDpmHall:
 *
 * The neighbours that a node mixes for, and the one above it: their elements, their
 * names, our own voice as one of them.
 */
typedef struct
{
  GstDpmNode *node;
  guint32 ssrc;                 /* of who says the names */
  gboolean is_near;             /* who joins was sent here by who is above */
  guint max_bitrate;            /* with the node's object lock; as of dpmmixer */

  /*< private >*/
  guint page;                   /* of names */
  GstFairmixLock lock;
  GPtrArray *neighbours;        /* of GstDpmNeighbour */
  GArray *moves;                /* of who was sent to others */
  gchar *voice_name;            /* (nullable): our own voice is among them */
} GstDpmHall;

typedef void (*GstDpmHallFunc) (GstDpmNeighbour * neighbour, gpointer user);

void gst_dpm_hall_init (GstDpmHall * hall, GstDpmNode * node);
void gst_dpm_hall_clear (GstDpmHall * hall);

/* As the functions of #GstDpmNodeClass; @peer: who is above */
void gst_dpm_hall_joined (GstDpmHall * hall, GstDpmPeer * peer);
void gst_dpm_hall_left (GstDpmHall * hall, GstDpmPeer * peer,
    FmxJoinReason reason);
void gst_dpm_hall_uplink (GstDpmHall * hall, FmxJoinClientEvent event,
    GstDpmPeer * peer);
/* @neighbour is about to be sent to @mixer, another one: what it says is heard all the
 * time, and what may be sent to it may go to @mixer when it has gone. */
void gst_dpm_hall_expect_move (GstDpmHall * hall, guint neighbour,
    guint mixer);
/* @mixer mixes no more: who went there may come back, by name. */
void gst_dpm_hall_expect_return (GstDpmHall * hall, GstDpmPeer * mixer);
/* Who joined has sent to @above over the same link as we do, and sends nothing there any
 * more: we may send so much more, as if it had sent as much as each of us here. */
void gst_dpm_hall_take_share (GstDpmHall * hall, GstDpmPeer * above);
/* 200 ms are over. */
void gst_dpm_hall_tick (GstDpmHall * hall);
/* @news: names that are new; else it is time to say some of all again */
void gst_dpm_hall_names (GstDpmHall * hall, gboolean news);
void gst_dpm_hall_add_stats (GstDpmHall * hall, GstStructure * stats);

/* @voice: (nullable): ours, from now on; @cname: (nullable): its name */
void gst_dpm_hall_set_voice (GstDpmHall * hall, const GstDpmVoice * voice,
    const gchar * cname);
/* ... and another name, if it is there */
void gst_dpm_hall_name_voice (GstDpmHall * hall, const gchar * cname);

/* Removes all neighbours. */
void gst_dpm_hall_empty (GstDpmHall * hall);

/* Returns: the least rate that anybody but @above has, in bit/s; 0: there is nobody */
guint64 gst_dpm_hall_get_least_bps (GstDpmHall * hall, GstDpmPeer * above);

/* with the hall's lock */
void gst_dpm_hall_foreach (GstDpmHall * hall, GstDpmHallFunc func,
    gpointer user);

G_END_DECLS

#endif /* __GST_DPM_HALL_H__ */
