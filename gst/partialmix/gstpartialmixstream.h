/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_STREAM_H__
#define __GST_PARTIAL_MIX_STREAM_H__

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

#include "fairmix/base/fmx-media-seq.h"
#include "fairmix/base/fmx-restart.h"
#include "fairmix/base/fmx-serial.h"
#include "fairmix/mix/fmx-handover.h"
#include "fairmix/mix/fmx-mix-key.h"
#include "fairmix/playout/fmx-alignment.h"
#include "fairmix/playout/fmx-playout.h"
#include "fairmix/select/fmx-select-activity.h"
#include "fairmix/select/fmx-stream-cost.h"
#include "fairmix/wire/fmx-audio-level.h"
#include "fairmix/wire/fmx-contributor-time.h"

#include "gstpartialmixcodec.h"
#include "gstpartialmixforetold.h"
#include "gstpartialmixidentity.h"
#include "gstpartialmixpath.h"
#include "gstpartialmixvoice.h"

G_BEGIN_DECLS

/* packets that wait for their playout, for one stream: 1.28 s of 20 ms */
#define GST_PARTIAL_MIX_MAX_QUEUE 64

/**
 * GstPartialMixStreamInfo:
 * @priority: see #FmxSelectStream
 * @group: name of its group, interned; NULL is none
 * @group_id: number of @group, 0 is none
 * @never_mix: see #FmxSelectStream
 * @mute: nobody hears it
 * @gain: linear, in the mixes
 * @pan: -1 left ... 1 right for a renderer; NAN: where there is room
 *
 * What the Database says of a stream.
 */
typedef struct
{
  gint priority;
  const gchar *group;
  guint group_id;
  gboolean never_mix;
  gboolean mute;
  gfloat gain;
  gfloat pan;
} GstPartialMixStreamInfo;

/**
 * GstPartialMixArrival:
 *
 * One incoming packet, as its header says.
 */
typedef struct
{
  GstBuffer *buffer;
  guint16 seq;                  /* among those with media */
  gboolean renumbered;          /* that is not what its header says */
  guint64 ext_seq;
  guint64 ext_ts;
  guint duration_ts;
  guint payload_size;
  guint wire_bytes;
  gboolean marker;
  gboolean silent;              /* DTX, or its level extension says so */
  gboolean unheard;             /* for a decoder alone */
  gint level;                   /* from the level extension, -1 if none */
} GstPartialMixArrival;

/**
 * GstPartialMixStream:
 *
 * One incoming SSRC.  Guarded by the element's lock, except what the mixing
 * thread owns.
 */
typedef struct
{
  gint refcount;
  gboolean removed;             /* from the table; somebody still holds it */
  guint slot;                   /* index into the pads' links */
  guint32 ssrc;                 /* as it came */
  guint32 out_ssrc;             /* as it leaves; another one after a collision */
  GstPad *pad;                  /* where it comes in; owned */
  gint neighbour;
  gint former_neighbour;        /* from whom it came until moved_at ... */
  GSocketAddress *former_source;        /* ... and from where, or NULL */
  GstClockTime moved_at;        /* 0: never */
  FmxMixKey key;                /* random: the mixes' identity is made of it */
  GstPartialMixFormat format;
  guint rate_hz;                /* the mix rate */

  /* arrival */
  FmxRestart restart;
  FmxMediaSeq media_seq;
  FmxSerial seq_serial;
  FmxSerial ts_serial;
  guint64 next_seq;             /* ext seq after the highest */
  guint64 next_ts;              /* ext ts after the latest packet ... */
  GstClockTime next_at;         /* ... and when the one with it is to come, running time */
  gboolean started;
  guint64 settled_ts;           /* from here on no link is after its packets */
  gboolean unsettled;           /* a link changed: settled_ts is not known */
  GstClockTime last_arrival;    /* running time */
  FmxStreamCost cost;
  guint wire_bps;               /* what it costs, at weighed_at */
  GstClockTime weighed_at;
  FmxStreamNews news;           /* what the last selection knew of it */
  gboolean has_level;           /* its packets carry RFC 6464 levels */
  FmxSelectActivity activity;
  guint8 level;                 /* of its activity, at weighed_at, -dBov */
  guint n_names;                /* it is a mix that names so many */
  guint64 n_packets;
  GstBuffer *recent[GST_PARTIAL_MIX_N_RECENT];  /* of those not decoded */
  guint n_recent;               /* at most */
  guint recent_next;

  /* Database */
  GstPartialMixIdentity identity;
  GSocketAddress *source;       /* of its RTP, NULL where buffers do not tell */
  GstPartialMixStreamInfo info;

  /* playout */
  GstPartialMixPath *path;      /* that it comes on; the table's */
  guint n_mixed;                /* links that want it in a mix */
  FmxPlayout *playout;          /* NULL: it was never mixed */
  FmxDuration min_delay;        /* that it begins with */
  guint64 anchor_ts;
  GstClockTime anchor_media;
  gboolean anchored;
  GstClockTime placed_at;       /* running time at which a packet last had a place */
  gboolean fresh;               /* nothing of before is to be played on */
  GQueue queue;                 /* of GstPartialMixPacket, by position */
  guint64 taken_seq;            /* ext seq of the last one taken from it, 0 = none */
  gint64 next_pos;              /* where the packet with next_ts would go */
  GstClockTimeDiff delay;
  guint64 n_late, n_shortened, n_decoded, n_concealed;

  FmxAlignment alignment;       /* with the mixes that it goes into ... */
  FmxMixKey told_by;            /* ... as this one told, or 0 */
  gboolean tells;               /* it is such a mix ... */
  FmxDuration moved;            /* ... whose playout came so much later with a packet */
  gint64 leaves_at;             /* where what came last ends in one that it is heard in */
  GstClockTime told_at;         /* that, running time */
  guint n_unheard;              /* packets since then */
  gboolean leads_in;            /* see #GstPartialMixVoice */
  GstPartialMixForetellings *foretells; /* of those who have not come so far, or NULL */
  GstPartialMixForetold foretold;       /* of it, before it came */

  struct
  {
    guint64 ext_seq;
    GstBuffer *buffer;
  } latest[GST_PARTIAL_MIX_N_RECENT + 1];       /* and those before it */

  gint told_level;              /* of the latest packet, -1: known already */
  GstClockTime told_duration;
  gdouble raise_db;             /* of the voice */
  GstPartialMixVoice voice;     /* mixing thread only */
} GstPartialMixStream;

GstPartialMixStream *gst_partial_mix_stream_new (guint32 ssrc, GstPad * pad,
    const GstPartialMixFormat * format, guint rate_hz);
GstPartialMixStream *gst_partial_mix_stream_ref (GstPartialMixStream * stream);
void gst_partial_mix_stream_unref (GstPartialMixStream * stream);

/* The stream comes on @path (transfer full) from now on. */
void gst_partial_mix_stream_set_path (GstPartialMixStream * stream,
    GstPartialMixPath * path);

/* What the numbers of a packet of the stream say of it. */
FmxRestartVerdict gst_partial_mix_stream_check (GstPartialMixStream * stream,
    GstRTPBuffer * rtp, GstClockTime now);

/* Notes an arrival; FALSE if the packet is not to be used (malformed). */
gboolean gst_partial_mix_stream_arrive (GstPartialMixStream * stream,
    GstPartialMixArrival * arrival, GstRTPBuffer * rtp, GstClockTime now);

/* @stream comes for the first time: it stays where @mix told that it is, if it did. */
void gst_partial_mix_stream_come_out (GstPartialMixStream * stream,
    GstPartialMixStream * mix, GstClockTime now);

/* @mix tells of a stream that it does not come beside. */
void gst_partial_mix_stream_foretell (GstPartialMixStream * mix,
    const FmxContributorTime * time, gint64 pos, GstClockTime now);

/* Sets wire_bps: what it costs to forward, in bits per second on the wire;
 * once for all neighbours that ask at the same time. */
void gst_partial_mix_stream_weigh (GstPartialMixStream * stream,
    GstClockTime now);

/* The same of a new one, by the first packet, which has not arrived: who hears it, and
 * how, is decided before. */
void gst_partial_mix_stream_weigh_first (GstPartialMixStream * stream,
    GstBuffer * buffer, GstRTPBuffer * rtp, GstClockTime now);

/* Whether its cost or its level moved noticeably since this was last so. */
gboolean gst_partial_mix_stream_is_news (GstPartialMixStream * stream,
    GstClockTime now);

/* Puts a packet into the playout queue.  @media: running time of its first
 * sample; @mix_pos: of the first sample that has not been mixed. */
gboolean gst_partial_mix_stream_enqueue (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival, GstClockTime media, gint64 mix_pos,
    gint64 * pos);

/* Whether a stream that was mixed lately goes on in the place that it had. */
gboolean gst_partial_mix_stream_keeps_place (const GstPartialMixStream *
    stream);

/* Where the next packet of the stream is in the mixes, or would be.  Returns: FALSE if
 * none has come */
gboolean gst_partial_mix_stream_get_place (const GstPartialMixStream * stream,
    guint64 * next_ts, gint64 * next_pos);

/* @mix, which came in, tells where the stream is in it: at @pos, in samples of the mix
 * rate, at which that is played. */
void gst_partial_mix_stream_align (GstPartialMixStream * stream,
    GstPartialMixStream * mix, const FmxContributorTime * time, gint64 pos,
    GstClockTime now);

/* @mix has moved in time; if it told where the stream is in it that has, too. */
void gst_partial_mix_stream_move_with (GstPartialMixStream * stream,
    const GstPartialMixStream * mix);

/* Keeps the latest packets of a stream for those who are to hear it again. */
void gst_partial_mix_stream_keep_latest (GstPartialMixStream * stream,
    const GstPartialMixArrival * arrival);

/* Keeps the latest packets of a stream that nobody decodes. */
void gst_partial_mix_stream_keep_recent (GstPartialMixStream * stream,
    GstBuffer * buffer);

/* Its decoder begins anew with the latest packets, which are not to be heard. */
void gst_partial_mix_stream_warm_up (GstPartialMixStream * stream);

/* Mixing thread, with the lock: gives what is due before sample @end to the
 * voice. */
void gst_partial_mix_stream_take_due (GstPartialMixStream * stream, gint64 end);

/* Mixing thread, with the lock: what is not decoded is known by what its packets
 * say.  @voice_level: see #GstPartialMixVoice */
void gst_partial_mix_stream_note_told (GstPartialMixStream * stream,
    guint voice_level);

/* Forgets all that is under way. */
void gst_partial_mix_stream_flush (GstPartialMixStream * stream);

/* With the lock: the level of the voice's frame. */
void gst_partial_mix_stream_note_frame (GstPartialMixStream * stream,
    GstClockTime now);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_STREAM_H__ */
