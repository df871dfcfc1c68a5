/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_LISTENER_H__
#define __GST_PARTIAL_MIX_LISTENER_H__

#include <gst/gst.h>

#include "fairmix/adapt/fmx-adapt-streams.h"
#include "fairmix/base/fmx-rate-meter.h"
#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-places.h"

#include "gstpartialmixcodec.h"
#include "gstpartialmixdatabase.h"
#include "gstpartialmixlink.h"
#include "gstpartialmixpayloads.h"
#include "gstpartialmixset.h"
#include "gstpartialmixsettings.h"
#include "gstpartialmixstream.h"
#include "gstpartialmixtimes.h"

G_BEGIN_DECLS

#define GST_PARTIAL_MIX_NEIGHBOUR_AUTO (-1)

/* One mix that is made and encoded; the mixer's */
typedef struct _GstPartialMixSharedMix GstPartialMixSharedMix;

/**
 * GstPartialMixOutput:
 *
 * One mix as one listener receives it: an RTP stream of its own.
 */
typedef struct
{
  guint32 ssrc;
  guint32 former_ssrc;          /* before it was sent in another encoding, or 0 */
  guint16 seq;
  guint32 ts_base;
  gboolean silent;              /* nobody in it speaks */
  gboolean pending;             /* somebody did in the tick before */
  gboolean talking;             /* the packet before was sent */
  GstPartialMixSharedMix *shared;       /* mixing thread only */
  GstPartialMixFormat format;   /* as planned for this tick ... */
  GstCaps *caps;                /* ... and what describes it */
  guint n_names;                /* at most */
  guint8 time_id, level_id;     /* see #GstPartialMixPayloads */
  GstPartialMixTimes *times;    /* mixing thread only; NULL = nobody has asked for them */
  guint64 n_packets;
  guint64 n_bytes;              /* on the wire */
} GstPartialMixOutput;

/**
 * GstPartialMixGains:
 * @left: how loud a renderer plays a stream on this side, linear ...
 * @right: ... and on that one; 0, 0: it was not heard yet
 * @has_place: it has one of its own, @place
 * @is_mix: it is a mix, and has none
 * @pan: where it stands, -1 left ... 1 right, unless the Database says that
 */
typedef struct
{
  gfloat left, right;
  gboolean has_place;
  guint place;
  gboolean is_mix;
  gfloat pan;
} GstPartialMixGains;

/**
 * GstPartialMixListener:
 *
 * One neighbour as somebody who listens: what he takes and wants, what he is
 * given and how each stream reaches him.  It knows nothing of pads.
 */
typedef struct
{
  guint index;                  /* of its src pad */
  gboolean gone;                /* which is being released */

  /* what the application says; atomic */
  gint neighbour;
  guint target_bitrate;         /* 0 = unlimited */
  guint max_streams;            /* 0 = any number */

  /* what comes from downstream */
  gboolean event_seen;
  guint event_bitrate;          /* 0 = nothing */
  guint event_lasting;          /* of that, for streams that become separate */
  guint event_loss;             /* in percent, for which to provide ... */
  guint event_loss_from;        /* ... from this bitrate on */
  guint event_max_streams;      /* 0 = any number */

  /* what he takes */
  gboolean negotiated;          /* and that is something that we have */
  gboolean raw;
  GstCaps *raw_caps;            /* of the audio that is made, if raw */
  guint raw_channels;           /* that they say */
  gboolean accepts[GST_PARTIAL_MIX_N_ENCODINGS];
  GstPartialMixFormat mix_format;
  gboolean have_mix_format;

  GstPartialMixPayloads payloads;
  GstPartialMixFormat mix_out;  /* the mixes' format as it was given a number */
  gboolean has_mix_pt;
  guint8 mix_pt;                /* that number */

  /* selection */
  GArray *links;                /* of GstPartialMixLink, by stream slot */
  GstPartialMixSet *steady;     /* streams whose link is steady, as is known */
  gboolean has_infos;           /* the Database has entries for him alone: ... */
  GArray *infos;                /* ... GstPartialMixStreamInfo, by stream slot */
  gboolean dirty;               /* a decision is due */
  gboolean changing;            /* a change waits for the one before */
  FmxAdaptPlan plan;
  guint n_mixed;
  guint wish;                   /* the target for more, as was said downstream, ... */
  gboolean wish_due;            /* ... in this tick; mixing thread only */
  guint mix_bitrate_bps;        /* of the encoder */
  guint mix_loss;               /* in percent, for which it provides */
  guint n_names;                /* CSRCs at most: there is no room for more */
  guint64 n_selections;
  GstPartialMixOutput outputs[FMX_ADAPT_MAX_MIXES];
  guint n_outputs;              /* that were ever used */
  guint64 planned;              /* tick for which they are; mixing thread only */

  /* renderer */
  GArray *gains;                /* of GstPartialMixGains, by stream slot */
  FmxPlaces places;
  GstClockTime rendered;        /* up to this media time */
  /* ... mixing thread only */
  FmxLimiter *limiter;          /* NULL: he never took samples */
  guint limiter_channels;       /* that it was set up for, 0 = it was not */
  guint silent_frames;

  guint64 n_forwarded_packets, n_forwarded_bytes;
  FmxRateMeter meter_out;       /* mixes, too */
} GstPartialMixListener;

void gst_partial_mix_listener_init (GstPartialMixListener * listener);
void gst_partial_mix_listener_clear (GstPartialMixListener * listener);

/* Forgets which payload types were given out, and what he takes, which may depend on
 * @settings, for the next start. */
void gst_partial_mix_listener_start (GstPartialMixListener * listener,
    const GstPartialMixSettings * settings);

/* @asked: as for gst_partial_mix_payloads_ask() */
void gst_partial_mix_listener_ask (GstPartialMixListener * listener,
    const gint * asked, guint8 time_id);

/* Forgets what was sent when: time begins anew. */
void gst_partial_mix_listener_forget_rate (GstPartialMixListener * listener);

/* Forgets what came from downstream. */
void gst_partial_mix_listener_forget_events (GstPartialMixListener * listener);

/* All of that. */
void gst_partial_mix_listener_forget (GstPartialMixListener * listener);

gint gst_partial_mix_listener_get_neighbour (const GstPartialMixListener *
    listener);
/* In bits per second on the wire, or FMX_TARGET_UNLIMITED */
guint64 gst_partial_mix_listener_get_target (const GstPartialMixListener *
    listener);
/* 0 = any number */
guint gst_partial_mix_listener_get_max_streams (const GstPartialMixListener *
    listener);

/* Whether he hears @stream at all, separate or mixed. */
gboolean gst_partial_mix_listener_hears (const GstPartialMixListener *
    listener, const GstPartialMixStream * stream);

static inline GstPartialMixLink *
gst_partial_mix_listener_get_link (GstPartialMixListener * listener,
    const GstPartialMixStream * stream)
{
  if (stream->slot >= listener->links->len)
    g_array_set_size (listener->links, stream->slot + 1);
  return &g_array_index (listener->links, GstPartialMixLink, stream->slot);
}

/* What the Database says of @stream for this listener. */
const GstPartialMixStreamInfo *gst_partial_mix_listener_get_info (const
    GstPartialMixListener * listener, const GstPartialMixStream * stream);
/* How loud it is for this listener, relative to its frame. */
gfloat gst_partial_mix_listener_get_gain (const GstPartialMixListener *
    listener, const GstPartialMixStream * stream);

/* Looks up again whether the Database has entries for him alone. */
void gst_partial_mix_listener_look_up (GstPartialMixListener * listener,
    GstPartialMixDatabase * database);
/* The same, and if so, what it says of @stream. */
void gst_partial_mix_listener_look_up_stream (GstPartialMixListener *
    listener, GstPartialMixDatabase * database,
    const GstPartialMixStream * stream);

/* For a stream that comes or goes. */
void gst_partial_mix_listener_init_link (GstPartialMixListener * listener,
    const GstPartialMixStream * stream, GstClockTime now);
/* See gst_partial_mix_link_change(). */
gboolean gst_partial_mix_listener_change_link (GstPartialMixListener *
    listener, GstPartialMixStream * stream, FmxHandoverWay way, guint mix,
    gint64 mix_pos, GstClockTime now);

/* The payload type under which a stream's packets, or the mixes, leave. */
void gst_partial_mix_listener_take_pt (GstPartialMixListener * listener,
    GstPartialMixLink * link, const GstPartialMixFormat * format);

static inline guint8
gst_partial_mix_listener_pt (GstPartialMixListener * listener,
    GstPartialMixLink * link, const GstPartialMixFormat * format)
{
  if (!link->has_pt)
    gst_partial_mix_listener_take_pt (listener, link, format);
  return link->pt;
}

guint8 gst_partial_mix_listener_mix_pt (GstPartialMixListener * listener);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_LISTENER_H__ */
