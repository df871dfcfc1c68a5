/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_DPM_PORT_PRIVATE_H__
#define __GST_DPM_PORT_PRIVATE_H__

#include "gstdpmport.h"

#include "gstdpmcrypto.h"
#include "gstdpmsocket.h"
#include "common/gstfairmixlock.h"

G_BEGIN_DECLS

typedef enum
{
  GST_DPM_JOB_JOINED,
  GST_DPM_JOB_LEFT,
  GST_DPM_JOB_REFUSED,
  GST_DPM_JOB_UPLINK,
  GST_DPM_JOB_MIXES,
  GST_DPM_JOB_RESOLVE,
  GST_DPM_JOB_RESOLVE_LATER,
  GST_DPM_JOB_END
} GstDpmJobKind;

/* What the receiving thread has seen and the other one is to tell. */
typedef struct
{
  GstDpmJobKind kind;
  GstDpmPeer *peer;
  FmxJoinReason reason;
  FmxJoinClientEvent event;
  gboolean last;
  FmxJoinAddress address;
  FmxJoinMixing mixing;
} GstDpmJob;

/* The server that we join. */
typedef struct
{
  GstDpmServers *servers;       /* of the resolving thread */
  gboolean resolved;            /* with the lock */
  FmxJoinAddress address;
  GstDpmPeer *peer;
  GstDpmCrypto *crypto;         /* of @client */
  FmxJoinClient client;
  FmxJoinClientParams params;
  FmxJoinSecret secret;
  FmxJoinReason last_refusal;
  gboolean closed;              /* who is at @address would never let us in */
} GstDpmUplink;

/* Another mixer to which we were told to go: joined beside the session that we have,
 * which ends when something comes from there. */
typedef struct
{
  GstDpmUplink *uplink;               /* NULL: none */
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n_places, place;
  guint n_heard;                /* media packets from there */
  FmxTime patience;             /* until then something must have come */
} GstDpmMove;

/* Where a neighbour that mixes can be joined, as it says. */
typedef struct
{
  FmxJoinAddress places[FMX_JOIN_PLACES];
  guint n_places;
} GstDpmPlaces;

/* Somebody who wants in, and is let in when nothing else is to be done */
typedef struct
{
  FmxJoinAddress from;
  FmxTime at;
  gsize size;
  guint8 data[FMX_JOIN_MAX_BYTES];
} GstDpmKnock;

/* What the receiving thread sends while it is busy with one datagram, to be sent at
 * once. */
typedef struct
{
  GstDpmDatagram datagrams[GST_DPM_MAX_DATAGRAMS];
  GstDpmPeer *peers[GST_DPM_MAX_DATAGRAMS];
  guint n;
} GstDpmBatch;

struct _GstDpmPort
{
  const GstDpmPortCallbacks *callbacks;
  gpointer user;

  GstClock *clock;              /* the system's */
  GstDpmSocket socket;
  GCancellable *wake_up;        /* the receiver, also when it is to end */
  GCancellable *stopping;       /* the teller, when it is to end */
  GThread *receiver, *teller;
  GThread *batcher;             /* atomic: the receiver, while it fills the batch */
  GstDpmBatch *batch;                 /* (nullable): of the receiver */
  GstDpmKnock *knocks;          /* (nullable): of the receiver */
  guint first_knock, n_knocks;
  GThread *resolver;            /* of the teller */
  gint resolving;
  FmxTime resolve_at;           /* of the teller; 0: not planned */
  GAsyncQueue *jobs;
  gint running;

  /* with the lock */
  GstFairmixLock lock;
  gboolean serves;
  GstDpmCrypto crypto;
  FmxJoinMixer mixer;
  FmxJoinSession *sessions;
  GstDpmPeer **peers;           /* of the sessions */
  guint n_sessions;
  GHashTable *by_address;       /* FmxJoinAddress to GstDpmPeer */
  GstDpmUplink *uplink;
  GstDpmMove move;
  gboolean away;                /* we were sent to where we are, from @home */
  FmxJoinAddress home;
  guint64 n_moves, n_failed_moves;
  guint max_mixing;             /* may be asked to serve so many; 0: serves always */
  gboolean mixes;               /* was asked */
  guint64 least_bps;            /* that one has for whom we mix; 0: not known */
  GstDpmPlaces *places;               /* of the sessions */
  guint n_ticks;
  guint n_refusals;             /* told since the last tick */
  guint next_number;
  guint64 n_foreign;
  guint64 n_forgotten;          /* who knocked while too many did */
};

/* gstdpmportmixer.c: who comes to us; all but the first with the lock */
FmxTime gst_dpm_port_now (GstDpmPort * port);
GstDpmJob *gst_dpm_job_new (GstDpmJobKind kind, GstDpmPeer * peer,
    FmxJoinReason reason);
void gst_dpm_job_free (gpointer job);
/* @job: (transfer full): for the thread that tells */
void gst_dpm_port_tell (GstDpmPort * port, GstDpmJob * job);
/* Packets from @address are @peer's. */
void gst_dpm_port_table_add (GstDpmPort * port,
    const FmxJoinAddress * address, GstDpmPeer * peer);
void gst_dpm_port_table_remove (GstDpmPort * port, GstDpmPeer * peer);
/* Sends and tells what follows from @result. */
void gst_dpm_port_act_as_mixer (GstDpmPort * port,
    const FmxJoinMixerResult * result);
/* Returns: whether whoever tells has more to do than is good */
gboolean gst_dpm_port_is_behind (GstDpmPort * port);
/* @data: of who knocked; it waits, or is forgotten */
void gst_dpm_port_note_knock (GstDpmPort * port, const FmxJoinAddress * from,
    const guint8 * data, gsize size);
/* Lets the first one in who waits, if whoever tells is not behind. */
void gst_dpm_port_admit (GstDpmPort * port);
/* Returns: whether anybody may join us */
gboolean gst_dpm_port_is_open (GstDpmPort * port);

/* gstdpmportuplink.c: the server that we join; with the lock, but for free, the
 * two ticks and resolve */
void gst_dpm_uplink_free (GstDpmUplink * uplink);
void gst_dpm_uplink_act (GstDpmPort * port, FmxJoinClientResult * result,
    FmxTime now);
/* The same for the mixer to which we are on the way. */
void gst_dpm_move_act (GstDpmPort * port, FmxJoinClientResult * result,
    FmxTime now);
void gst_dpm_move_finish (GstDpmPort * port, FmxTime now);
void gst_dpm_mixing_set (GstDpmPort * port, gboolean begin);
/* Who asked hears now and then for how many we mix; who is below and need not be is
 * sent away again. */
void gst_dpm_mixing_tick (GstDpmPort * port);
/* In the thread that tells: when SRTP has hardly any room for SSRCs that it does not know,
 * we join anew, with other keys. */
void gst_dpm_uplink_tick (GstDpmPort * port);
/* In the thread that tells: asks for the server's address. */
void gst_dpm_uplink_resolve (GstDpmPort * port);

G_END_DECLS

#endif /* __GST_DPM_PORT_PRIVATE_H__ */
