/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_PRIVATE_H__
#define __GST_PARTIAL_MIX_PRIVATE_H__

/* What the files of this plugin know of each other.
 *
 *   sink pads --> gstpartialmixforward.c --> src pads        (arriving thread)
 *                    |  packets of mixed streams
 *                    v
 *   gstpartialmixstream.c: playout queue
 *   gstpartialmixvoice.c: decoder                            (mixing thread)
 *                    |  one frame of samples for each stream
 *                    v
 *   gstpartialmixmixer.c: sum, limiter, encoder --> src pads
 *   gstpartialmixrender.c: placed in stereo   --> src pads
 *
 *   gstpartialmixselection.c says who is separate, for each src pad;
 *   gstpartialmixlink.c carries that out at a media timestamp.
 *
 * Locks, in the order in which a thread may take them:
 *
 *   a pad's stream lock        GStreamer's; orders the threads that push
 *   a pad's GST_OBJECT_LOCK    GStreamer's; held when it asks our pad to unlink
 *   the element's lock         guards all that is not marked otherwise
 *   a sink pad's name lock     guards the property cname
 *   the couriers' lock         guards who pushes where
 *
 * So under the element's lock nothing is called that takes a pad's object lock
 * (gst_pad_get_*, gst_pad_peer_*, gst_object_get_name, ...), and nothing that
 * takes long: no push, no post, no file, no caps query, no codec.  What a
 * property of a pad says is atomic.
 */

#include <gst/gst.h>
#include <gst/audio/audio.h>

#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/mix/fmx-handover.h"
#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-key.h"
#include "fairmix/wire/fmx-audio-level.h"
#include "gst/common/gstfairmixevents.h"
#include "gst/common/gstfairmixlock.h"
#include "gst/common/gstfairmixorigin.h"
#include "gst/common/gstfairmixoutbox.h"
#include "gst/common/gstfairmixtimer.h"

#include "gstpartialmix.h"
#include "gstpartialmixcodec.h"
#include "gstpartialmixcouriers.h"
#include "gstpartialmixdatabase.h"
#include "gstpartialmixdebug.h"
#include "gstpartialmixlistener.h"
#include "gstpartialmixmixer.h"
#include "gstpartialmixpayloads.h"
#include "gstpartialmixpush.h"
#include "gstpartialmixrender.h"
#include "gstpartialmixreasons.h"
#include "gstpartialmixselection.h"
#include "gstpartialmixsettings.h"
#include "gstpartialmixstream.h"
#include "gstpartialmixtable.h"

G_BEGIN_DECLS

#define GST_PARTIAL_MIX_NEIGHBOUR_AUTO (-1)
/* of the property successor: nobody, and whoever has the stream's CNAME */
#define GST_PARTIAL_MIX_NO_SUCCESSOR (-1)
#define GST_PARTIAL_MIX_NAMESAKE (-2)
#define GST_PARTIAL_MIX_SELECTIONS_PER_TICK 16
/* one among more costs as much as several */
#define GST_PARTIAL_MIX_STREAMS_PER_SELECTION 64

/* ----------------------------------------------------------------- pads -- */

#define GST_TYPE_PARTIAL_MIX_SINK_PAD (gst_partial_mix_sink_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstPartialMixSinkPad, gst_partial_mix_sink_pad, GST,
    PARTIAL_MIX_SINK_PAD, GstPad)

struct _GstPartialMixSinkPad
{
  GstPad parent;

  guint index;
  gint neighbour;               /* property, atomic */
  gint successor;               /* property, atomic */
  gint session;                 /* of the rtpbin pad linked to it, atomic; -1 */
  GstFairmixLock name_lock;
  gchar *cname;                 /* property, under the name lock */
  GstSegment segment;
  gboolean segment_is_running_time;
  gint level_ext_id;            /* RFC 6464, 0 = none */
  gint csrc_level_ext_id;       /* RFC 6465, 0 = none */
  gint contributor_time_id;     /* header extension, 0 = none */
  GHashTable *formats;          /* pt -> GstPartialMixFormat */
  GHashTable *streams;          /* ssrc -> GstPartialMixStream, not owned */
  GHashTable *cnames;           /* ssrc -> cname, from caps */
  gboolean stale;               /* what caps said was of who was linked before */
  gboolean eos;
  GstPad *rtpbin_pad;           /* it was made for this one; to compare only */
  guint64 n_malformed, n_unknown;
};

static inline gint
gst_partial_mix_sink_pad_get_neighbour (GstPartialMixSinkPad * pad)
{
  gint neighbour = g_atomic_int_get (&pad->neighbour);
  gint session = g_atomic_int_get (&pad->session);

  if (neighbour != GST_PARTIAL_MIX_NEIGHBOUR_AUTO)
    return neighbour;
  return session >= 0 ? session : (gint) pad->index;
}

#define GST_TYPE_PARTIAL_MIX_SRC_PAD (gst_partial_mix_src_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstPartialMixSrcPad, gst_partial_mix_src_pad, GST,
    PARTIAL_MIX_SRC_PAD, GstPad)

struct _GstPartialMixSrcPad
{
  GstPad parent;

  GstPartialMixListener listener;       /* with the element's lock */
  gboolean asked;               /* what the peer takes */
  GWeakRef peer;                /* that it was linked to last */

  GstPartialMixFlow flow;       /* under the pad's stream lock */
  GstPartialMixDoor door;       /* the couriers' */
};

/* -------------------------------------------------------------- element -- */

typedef struct
{
  guint64 n_decoded;            /* frames that libopus and friends decoded */
  guint64 n_encoded;
  guint64 n_forwarded;          /* packets, counted once for each neighbour */
  guint64 n_refused;            /* packets of streams beyond max-streams */
  guint64 n_collisions;
  guint64 n_displaced;          /* streams that made room, see admit() */
  guint64 n_intruders;          /* packets of a second source of an SSRC */
  guint64 n_loops;
  guint64 n_disbelieved;        /* BYEs and names that RTCP told */
} GstPartialMixCounters;

struct _GstPartialMix
{
  GstElement parent;

  GstFairmixLock lock;

  /* Properties */
  GstPartialMixSettings wanted; /* as they were set */
  GstPartialMixSettings settings;       /* as they hold now */
  gboolean started;             /* READY to PAUSED: they are latched */
  gboolean warned_of_rate;
  gchar *rtpbin_name;

  /* State */
  GstElement *rtpbin;           /* from READY on; in state changes only */
  GHashTable *pad_names;        /* of all pads, also while they are made or released */
  GList *sink_pads;             /* owned by the element as pads */
  GPtrArray *src_pads;          /* held; replaced, never changed: who has it may
                                 * use it without the lock */
  GPtrArray *listeners;         /* of the src pads */
  guint next_sink, next_src;
  GstPartialMixTable table;
  guint selections_left;        /* that new streams may cause in this tick */
  guint seconds_to_itself;      /* so long each listener has heard of itself only */
  GstPartialMixDatabase *database;
  GstPartialMixCounters counters;
  GstPartialMixClaims *claims;  /* names of those who have not come */
  GstFairmixOutbox *outbox;     /* messages to post when the lock is gone */
  GPtrArray *released;          /* src pads whose mixes are to be given up */
  GPtrArray *given_up;          /* those that were; mixing thread only */
  gint64 eos_mix_pos;           /* when everything was said */
  gboolean ended;               /* it was, and nothing is to follow */
  guint64 n_malformed_gone, n_unknown_gone;     /* of released sink pads */
  guint64 n_malformed_rtcp;
  gboolean tells_times;         /* somebody ever wanted to be told */
  guint n_mixes;                /* that were made in the tick before */

  gint unasked;                 /* atomic: a src pad is not negotiated */
  gboolean running;
  GstClockTime paused_at;       /* where running time stands as long as it is not */
  GstClockTime base_time;
  gint64 mix_pos;               /* first sample that has not been mixed */
  guint64 tick;

  GstPartialMixCouriers *couriers;

  /* mixing thread */
  GstFairmixTimer *timer;
  GstPartialMixMixer mixer;
};

/* Of what is known to be one: unlike GST_PARTIAL_MIX(), these do not need the
 * files that make the types. */
#define GST_PARTIAL_MIX_CAST(obj) ((GstPartialMix *) (obj))
#define GST_PARTIAL_MIX_SINK_PAD_CAST(obj) ((GstPartialMixSinkPad *) (obj))
#define GST_PARTIAL_MIX_SRC_PAD_CAST(obj) ((GstPartialMixSrcPad *) (obj))

#define GST_PARTIAL_MIX_LOCK(self) gst_fairmix_lock_acquire (&(self)->lock)
#define GST_PARTIAL_MIX_UNLOCK(self) gst_fairmix_lock_release (&(self)->lock)

/* gstpartialmixbase.c */
/* With the lock: selects for @listener, and says what changed. */
void gst_partial_mix_reselect (GstPartialMix * self,
    GstPartialMixListener * listener, const gchar * reason, GstClockTime now);
guint gst_partial_mix_frame_samples (GstPartialMix * self);
/* The one place that reads the clock: running time, NONE when there is none. */
GstClockTime gst_partial_mix_running_time (GstPartialMix * self);
/* Takes the lock.  Returns: running time, which stands still while it does not run */
GstClockTime gst_partial_mix_lock_now (GstPartialMix * self);
GstClockTime gst_partial_mix_samples_to_time (GstPartialMix * self,
    guint64 samples);
/* By how much the media time of a mixed sample lags its mix position. */
GstClockTime gst_partial_mix_playout_delay (GstPartialMix * self);
/* takes @complaints, which may be NULL */
void gst_partial_mix_tell_complaints (GstPartialMix * self, gchar * complaints);
/* Posts what was collected; without the lock. */
void gst_partial_mix_post_messages (GstPartialMix * self);

/* gstpartialmixpad.c */
/* Returns: a payload type that means something else from here on, or -1 */
void gst_partial_mix_sink_pad_set_segment (GstPartialMixSinkPad * pad,
    const GstSegment * segment);
gint gst_partial_mix_sink_pad_set_caps (GstPartialMixSinkPad * pad,
    GstCaps * caps);
void gst_partial_mix_src_pad_negotiate (GstPartialMixSrcPad * pad,
    GstPartialMix * self);
/* Forgets what was given out and what the peer takes, for the next start. */
void gst_partial_mix_src_pad_start (GstPartialMixSrcPad * pad,
    const GstPartialMixSettings * settings);

/* gstpartialmixstreams.c: the table of streams */
/* @buffer: the packet */
/* Returns: the stream that the packet may belong to, a new one if it is the
 * first; NULL if it is none's, or of a second source */
GstPartialMixStream *gst_partial_mix_lookup (GstPartialMix * self,
    GstPartialMixSinkPad * pad, GstBuffer * buffer, GstRTPBuffer * rtp,
    GstClockTime now);
/* @said: by the application or the caps; then who only claimed it loses it */
void gst_partial_mix_name_stream (GstPartialMix * self,
    GstPartialMixStream * stream, const gchar * cname, gboolean said);
/* Whether somebody who comes from elsewhere has the name. */
gboolean gst_partial_mix_name_is_taken (GstPartialMix * self,
    const GstPartialMixPlace * place, const gchar * cname);
void gst_partial_mix_check_rate (GstPartialMix * self,
    GstPartialMixEncoding encoding);
/* Flush, or another sender behind the same SSRC: goes on at its place. */
void gst_partial_mix_restart_stream (GstPartialMix * self,
    GstPartialMixStream * stream);
void gst_partial_mix_remove_stream (GstPartialMix * self,
    GstPartialMixStream * stream, const gchar * reason);
void gst_partial_mix_remove_pad_streams (GstPartialMix * self,
    GstPad * pad, const gchar * reason);
void gst_partial_mix_remove_pt_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad, guint8 pt);
/* The streams of @pad are called as the application or the caps say now. */
void gst_partial_mix_rename_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad);
/* They come from the neighbour that it says now. */
void gst_partial_mix_readdress_streams (GstPartialMix * self,
    GstPartialMixSinkPad * pad, GstClockTime now);
void gst_partial_mix_expire_streams (GstPartialMix * self, GstClockTime now);
/* Looks up what the Database says to a listener alone. */
void gst_partial_mix_look_up_listener (GstPartialMix * self,
    GstPartialMixListener * listener);
void gst_partial_mix_apply_database (GstPartialMix * self);

/* Asks the peers of new src pads, or all that want it, what they take; without
 * the lock. */
void gst_partial_mix_negotiate (GstPartialMix * self);
/* The same in a thread that brings packets, as long as there is nobody whom a slow
 * answer would hold up: who joins later is asked by the mixing thread. */
void gst_partial_mix_negotiate_first (GstPartialMix * self);

/* gstpartialmixforward.c */
GstFlowReturn gst_partial_mix_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer);
GstFlowReturn gst_partial_mix_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list);

/* gstpartialmixevents.c */
gboolean gst_partial_mix_sink_event (GstPad * pad, GstObject * parent,
    GstEvent * event);
gboolean gst_partial_mix_rtcp_event (GstPad * pad, GstObject * parent,
    GstEvent * event);
gboolean gst_partial_mix_src_event (GstPad * pad, GstObject * parent,
    GstEvent * event);
gboolean gst_partial_mix_sink_query (GstPad * pad, GstObject * parent,
    GstQuery * query);
gboolean gst_partial_mix_src_query (GstPad * pad, GstObject * parent,
    GstQuery * query);
GstPadLinkReturn gst_partial_mix_sink_linked (GstPad * pad,
    GstObject * parent, GstPad * peer);
void gst_partial_mix_sink_unlinked (GstPad * pad, GstObject * parent);
GstPadLinkReturn gst_partial_mix_src_linked (GstPad * pad,
    GstObject * parent, GstPad * peer);
/* With the lock, when a sink pad has ended or gone: when all have, the mixing thread says
 * so after the last word.  Returns: whether they have */
gboolean gst_partial_mix_note_end (GstPartialMix * self);
gboolean gst_partial_mix_push_eos (GstPartialMix * self, GstEvent * event);

/* gstpartialmixrtpbin.c; FALSE: there is none of that name */
gboolean gst_partial_mix_rtpbin_connect (GstPartialMix * self);
void gst_partial_mix_rtpbin_disconnect (GstPartialMix * self);

/* gstpartialmixrtcp.c */
/* with the lock.  Returns: (nullable): who comes from @neighbour with @ssrc */
GstPartialMixStream *gst_partial_mix_find_stream (GstPartialMix * self,
    gint neighbour, guint32 ssrc);
GstFlowReturn gst_partial_mix_rtcp_chain (GstPad * pad, GstObject * parent,
    GstBuffer * buffer);

/* gstpartialmixtick.c; mixing thread */
GstClockTime gst_partial_mix_tick (gpointer user_data, GstClockTime now);

/* gstpartialmixstats.c */
GstStructure *gst_partial_mix_create_stats (GstPartialMix * self);
/* its "streams" alone: what listeners get costs much more */
GstStructure *gst_partial_mix_create_stream_stats (GstPartialMix * self);
GstStructure *gst_partial_mix_src_pad_create_stats (GstPartialMixSrcPad * pad,
    GstPartialMix * self);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_PRIVATE_H__ */
