/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-alsrtcp
 * @title: alsrtcp
 *
 * Layers of one stream, each to a multicast group of its own, as large as the
 * paths of the receivers carry: those behind narrow links hold the base, the
 * others as many layers as fit.  Routers on the way (#alsrouter) tell what is
 * fair on their links, in the sender's ordinary RTCP; nobody has to try.
 *
 * RTP of layer N goes from `sink_N` to `src_N`, layer 0 is the base; the RTCP that
 * comes to the base's session from `rtcp_sink` to `rtcp_src`; all before rtpbin.
 * What the element has to say goes into the reports of #GstAlsRtcp:rtpbin.
 *
 * A sender tells each layer's rate with a custom event `fairmix-target-bitrate`
 * that travels upstream from its sink pad, and to the encoders that
 * #GstAlsRtcp:encoders names; with an element message `fairmix-rate-decision` per
 * decision.  A receiver starts and stops the sources that #GstAlsRtcp:sources names,
 * and posts `fairmix-layers`; with #GstAlsRtcp:relay for others, in a router.
 *
 * Where no router answers, a receiver's plain reports make its rate, by the rule of
 * #asmprtcp, and it holds the base.  A #tfrcrate behind `src_0` makes it instead.
 *
 * ## Sender of two layers
 * |[
 * gst-launch-1.0 rtpbin name=rtp alsrtcp name=als rtpbin=rtp address=239.1.2.0 port=5004 encoders=low,high audiotestsrc is-live=true ! audioconvert ! tee name=t t. ! queue ! opusenc name=low ! rtpopuspay ! als.sink_0 als.src_0 ! rtp.send_rtp_sink_0 t. ! queue ! opusenc name=high ! rtpopuspay ! als.sink_1 als.src_1 ! rtp.send_rtp_sink_1 rtp.send_rtp_src_0 ! udpsink host=239.1.2.0 port=5004 rtp.send_rtp_src_1 ! udpsink host=239.1.2.1 port=5006 rtp.send_rtcp_src_0 ! udpsink host=239.1.2.0 port=5005 sync=false async=false udpsrc address=239.1.2.0 port=5005 caps=application/x-rtcp ! als.rtcp_sink als.rtcp_src ! rtp.recv_rtcp_sink_0
 * ]|
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalsrtcp.h"

#include "gstalsalert.h"
#include "gstalspeers.h"
#include "gstalssettings.h"
#include "gstalssources.h"
#include "gstpadpairs.h"
#include "gstrtcphook.h"
#include "common/gstencodercontrol.h"
#include "common/gstfairmixevents.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixoutbox.h"
#include "common/gstfairmixpads.h"
#include "common/gstfairmixrtcp.h"
#include "common/gstfairmixrtp.h"
#include "common/gstfairmixstats.h"
#include "common/gstfairmixtimed.h"
#include "fairmix/adapt/fmx-adapt-encoder.h"
#include "fairmix/base/fmx-units.h"

GST_DEBUG_CATEGORY_STATIC (als_rtcp_debug);
#define GST_CAT_DEFAULT als_rtcp_debug

#define STATS_NAME "application/x-fairmix-alsrtcp-stats"
#define DECISION_NAME "fairmix-rate-decision"

#define MAX_LAYERS FMX_ALS_MAX_LAYERS

/* How long a return may wait that the sender should have at once */
#define EARLY_MAX_DELAY (100 * GST_MSECOND)

/* The properties: 0 is nobody's */
#define PROP_SETTINGS 1
#define PROP(name) (PROP_SETTINGS + GST_ALS_ ## name)

typedef struct
{
  GstEncoderControl encoder;    /* locks itself */

  /* with the lock */
  GstPad *sink, *src;           /* NULL: not requested */
  FmxAdaptEncoder adapt_encoder;
  guint target;
  gboolean tell_again, adjust_encoder;
} Layer;

struct _GstAlsRtcp
{
  GstElement parent;

  GstPad *rtcp_srcpad;

  GstAlsSettings settings;      /* with the object lock */
  gchar *encoders;              /* this, too */
  GstAlsSources sources;        /* locks itself */
  GstAlsAlert alert;            /* this, too */
  GstRtcpHook *hook;            /* so does this */
  GstFairmixOutbox *outbox;     /* and this */

  /* State, with the lock */
  GstFairmixLock lock;
  GstFairmixTimed timed;
  GstAlsReceivers *receivers;   /* as a sender */
  GstAlsStream *stream;         /* as a receiver */
  FmxEventSink sink;
  Layer layers[MAX_LAYERS];
  GstGroupCounts counts;
  gint warned_of_rtcp, warned_of_pads, base_unlinked;   /* atomic */

  /* to be told, with the lock */
  guint fallback;               /* told behind src_0; 0 = nothing */
  gboolean telling;             /* one thread at a time, so that order holds */
  guint target;                 /* of all layers */
  gboolean notify_held, hold_again, urgent;     /* as a receiver */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

static GParamSpec *target_bitrate_pspec, *layers_pspec;

G_DEFINE_FINAL_TYPE (GstAlsRtcp, gst_als_rtcp, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (alsrtcp, "alsrtcp", GST_RANK_NONE,
    GST_TYPE_ALS_RTCP);

/* with the lock: the one place where this element asks for the time */
static FmxTime
gst_als_rtcp_now (GstAlsRtcp * self)
{
  return gst_fairmix_timed_now (&self->timed);
}

/* with the lock: one more than the number of the highest sink pad */
static guint
gst_als_rtcp_n_layers (GstAlsRtcp * self)
{
  guint n = 1;

  for (guint i = 0; i < MAX_LAYERS; i++)
    if (self->layers[i].sink != NULL)
      n = i + 1;
  return n;
}

/* --- what the element tells --------------------------------------------- */

/* FmxEventSink.emit: called by the library, with the lock */
static void
gst_als_rtcp_on_event (void *user, const FmxEvent * event)
{
  GstAlsRtcp *self = user;
  GstStructure *decision = gst_fairmix_event_to_structure (DECISION_NAME,
      event);

  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, decision);
  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_element (GST_OBJECT (self), decision));
}

typedef struct
{
  guint layer;                  /* MAX_LAYERS: none of this one */
  GstPad *sink;                 /* nullable; a reference */
  gboolean tell_target;
  guint target;
  guint64 encoder_bitrate;
  gboolean notify_target, notify_held;
} News;

/* with the lock */
static void
gst_als_rtcp_take_layer_news (GstAlsRtcp * self, News * news)
{
  const FmxAlsSender *sender = gst_als_receivers_get_sender (self->receivers);
  guint n_layers = gst_als_rtcp_n_layers (self);

  for (guint i = 0; i < n_layers; i++) {
    Layer *layer = &self->layers[i];
    guint target = fmx_als_sender_get_rate_bps (sender, i);

    if (target == layer->target && !layer->tell_again && !layer->adjust_encoder)
      continue;
    news->layer = i;
    news->tell_target = target != layer->target || layer->tell_again;
    news->target = target;
    news->encoder_bitrate =
        MAX (fmx_adapt_encoder_bps (&layer->adapt_encoder, target), 1);
    if (layer->sink != NULL)
      news->sink = gst_object_ref (layer->sink);
    layer->target = target;
    layer->tell_again = layer->adjust_encoder = FALSE;
    return;
  }
}

/* with the lock: Returns: whether there is anything; of layers, one at a time */
static gboolean
gst_als_rtcp_take_news (GstAlsRtcp * self, News * news)
{
  guint target = 0;

  *news = (News) {
  .layer = MAX_LAYERS,.notify_held = self->notify_held};
  self->notify_held = FALSE;
  if (self->receivers != NULL) {
    gst_als_rtcp_take_layer_news (self, news);
    target = fmx_als_sender_get_total_bps (gst_als_receivers_get_sender
        (self->receivers));
  }
  news->notify_target = target != self->target;
  self->target = target;
  return news->layer < MAX_LAYERS || news->notify_target || news->notify_held;
}

/* Says what is new, without any lock.  If another thread is at it, that one
 * says this, too, so that the last word is the last one that was said. */
static void
gst_als_rtcp_tell (GstAlsRtcp * self)
{
  News news;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->telling) {
    self->telling = TRUE;
    while (gst_als_rtcp_take_news (self, &news)) {
      gst_fairmix_lock_release (&self->lock);
      if (news.notify_target)
        g_object_notify_by_pspec (G_OBJECT (self), target_bitrate_pspec);
      if (news.notify_held)
        g_object_notify_by_pspec (G_OBJECT (self), layers_pspec);
      if (news.tell_target && news.sink != NULL)
        gst_pad_push_event (news.sink,
            gst_fairmix_target_bitrate_event_new (news.target));
      if (news.layer < MAX_LAYERS)
        gst_encoder_control_set_bitrate (&self->layers[news.layer].encoder,
            GST_ELEMENT (self), news.encoder_bitrate);
      gst_clear_object (&news.sink);
      gst_fairmix_lock_acquire (&self->lock);
    }
    self->telling = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_outbox_post (self->outbox, GST_ELEMENT (self));
}

/* --- layers that a receiver holds --------------------------------------- */

/* with the lock */
static void
gst_als_rtcp_note_layers (GstAlsRtcp * self, FmxTime now)
{
  GstAlsStreamNews news;

  gst_als_stream_take_news (self->stream, &news, now);
  self->notify_held |= news.held_changed;
  self->hold_again |= news.held_changed || news.moved;
  self->urgent |= news.urgent;
  if (news.told != NULL) {
    GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, news.told);
    gst_fairmix_outbox_add (self->outbox,
        gst_message_new_element (GST_OBJECT (self), news.told));
  }
}

/* In the timer's thread: starts and stops what receives the layers. */
static void
gst_als_rtcp_hold (GstAlsRtcp * self)
{
  FmxAlsLayer places[MAX_LAYERS];
  guint n_places = 0, n_held = 0;
  gboolean hold;

  gst_fairmix_lock_acquire (&self->lock);
  hold = self->hold_again && self->stream != NULL;
  self->hold_again = FALSE;
  if (hold) {
    n_held = gst_als_stream_get_held (self->stream);
    n_places = gst_als_stream_get_places (self->stream, places);
  }
  gst_fairmix_lock_release (&self->lock);
  if (hold)
    gst_als_sources_hold (&self->sources, GST_ELEMENT (self), n_held, places,
        n_places);
}

/* --- time --------------------------------------------------------------- */

/* with the lock: after anything that came */
static GstClockTime
gst_als_rtcp_next_timeout (GstAlsRtcp * self, FmxTime now)
{
  FmxTime next = now;

  if (self->receivers != NULL)
    next = gst_als_receivers_next_timeout (self->receivers);
  else if (!self->hold_again)
    next = gst_als_stream_next_timeout (self->stream, now);
  return gst_fairmix_timed_to_clock (&self->timed, next);
}

static GstClockTime
gst_als_rtcp_on_timeout (gpointer user_data, GstClockTime clock_time)
{
  GstAlsRtcp *self = user_data;
  GstClockTime deadline = GST_CLOCK_TIME_NONE;
  FmxTime now;

  gst_als_rtcp_hold (self);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    now = gst_als_rtcp_now (self);
    if (self->receivers != NULL)
      gst_als_receivers_on_timeout (self->receivers, now);
    else
      gst_als_rtcp_note_layers (self, now);
    deadline = gst_als_rtcp_next_timeout (self, now);
  }
  gst_fairmix_lock_release (&self->lock);
  gst_als_rtcp_tell (self);
  return deadline == GST_CLOCK_TIME_NONE ? deadline
      : MAX (deadline, clock_time + GST_MSECOND);
}

/* --- RTP ---------------------------------------------------------------- */

/* with the lock */
static void
gst_als_rtcp_look (GstAlsRtcp * self, guint index, GstBuffer * buffer,
    FmxTime now)
{
  Layer *layer = &self->layers[index];
  GstFairmixRtpHeader header;

  if (!gst_fairmix_rtp_header_read (buffer, &header)) {
    self->counts.n_not_rtp++;
    return;
  }
  if (self->receivers == NULL)
    return;
  if (index == 0)
    gst_als_receivers_on_sent (self->receivers, header.ssrc,
        gst_fairmix_rtp_wire_bytes (buffer), now);
  if (fmx_adapt_encoder_on_packet (&layer->adapt_encoder,
          header.header_bytes + FMX_IP_UDP_BYTES, now))
    layer->adjust_encoder = TRUE;
}

/* @buffer, or each of @list.  @sent: (out): whether the layer has a rate
 * Returns: (transfer full) (nullable): where they go */
static GstPad *
gst_als_rtcp_note_packets (GstAlsRtcp * self, guint index, GstBuffer * buffer,
    GstBufferList * list, gboolean * sent)
{
  guint n = list != NULL ? gst_buffer_list_length (list) : 1;
  Layer *layer = &self->layers[index];
  gboolean tell;
  GstPad *src;

  gst_rtcp_hook_connect (self->hook);   /* the session may be new */
  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; self->timed.started && i < n; i++)
    gst_als_rtcp_look (self, index, list != NULL
        ? gst_buffer_list_get (list, i) : buffer, gst_als_rtcp_now (self));
  tell = layer->adjust_encoder;
  src = layer->src != NULL ? gst_object_ref (layer->src) : NULL;
  *sent = self->receivers == NULL
      || gst_als_receivers_is_sent (self->receivers, index);
  gst_fairmix_lock_release (&self->lock);
  if (tell)
    gst_als_rtcp_tell (self);
  return src;
}

/* @buffer or @list: (transfer full) (nullable) */
static GstFlowReturn
gst_als_rtcp_pass (GstPad * pad, GstAlsRtcp * self, GstBuffer * buffer,
    GstBufferList * list)
{
  guint index = gst_pad_pairs_index (pad);
  gboolean sent;
  GstPad *src = gst_als_rtcp_note_packets (self, index, buffer, list, &sent);
  GstFlowReturn flow = src != NULL ? GST_FLOW_OK : GST_FLOW_NOT_LINKED;

  gst_pad_pairs_catch_up (pad, src);
  if (src != NULL && sent) {
    flow = list != NULL ? gst_pad_push_list (src, list)
        : gst_pad_push (src, buffer);
  } else {
    g_clear_pointer (&buffer, gst_buffer_unref);
    g_clear_pointer (&list, gst_buffer_list_unref);
  }
  if (src == NULL)
    gst_pad_pairs_complain_of_rtcp (GST_ELEMENT (self), index,
        &self->warned_of_pads);
  gst_clear_object (&src);
  return flow;
}

static GstFlowReturn
gst_als_rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  return gst_als_rtcp_pass (pad, GST_ALS_RTCP (parent), buffer, NULL);
}

static GstFlowReturn
gst_als_rtcp_chain_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  return gst_als_rtcp_pass (pad, GST_ALS_RTCP (parent), NULL, list);
}

static gboolean
gst_als_rtcp_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstAlsRtcp *self = GST_ALS_RTCP (parent);
  GstEventType type = GST_EVENT_TYPE (event);
  gboolean ret;

  gst_pad_pairs_on_event (pad, parent, event);
  if (type == GST_EVENT_EOS && gst_pad_pairs_index (pad) == 0)
    return gst_rtcp_hook_pass_eos (self->hook, pad, parent, event);
  ret = gst_pad_event_default (pad, parent, event);
  /* whoever sends may be new, or was not reached until now */
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_CAPS
      || type == GST_EVENT_FLUSH_STOP) {
    gst_fairmix_lock_acquire (&self->lock);
    self->layers[gst_pad_pairs_index (pad)].tell_again = self->timed.started;
    gst_fairmix_lock_release (&self->lock);
    gst_als_rtcp_tell (self);
  }
  return ret;
}

/* GstPadUnlinkFunction of src_0: who told a fall-back is gone.  Under the pad's object lock
 * the element's must not be taken. */
static void
gst_als_rtcp_base_unlinked (GstPad * pad, GstObject * parent)
{
  g_atomic_int_set (&GST_ALS_RTCP (parent)->base_unlinked, TRUE);
}

/* with the lock; before it starts, too, as who is further down starts earlier.  @bps: what
 * was told; 0 = nothing was, but who told it may be gone */
static void
gst_als_rtcp_take_fallback (GstAlsRtcp * self, guint bps)
{
  gboolean gone = g_atomic_int_compare_and_exchange (&self->base_unlinked,
      TRUE, FALSE);

  if (bps == 0 && !gone)
    return;
  self->fallback = bps;
  if (self->receivers != NULL)
    gst_als_receivers_set_fallback (self->receivers, bps,
        gst_als_rtcp_now (self));
}

/* A target from further down is the fall-back of this element, which alone speaks upstream. */
static gboolean
gst_als_rtcp_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstAlsRtcp *self = GST_ALS_RTCP (parent);
  guint bitrate;

  if (!gst_fairmix_target_bitrate_event_parse (event, &bitrate))
    return gst_pad_event_default (pad, parent, event);
  gst_event_unref (event);
  gst_fairmix_lock_acquire (&self->lock);
  if (gst_pad_pairs_index (pad) == 0)
    gst_als_rtcp_take_fallback (self, MAX (bitrate, 1));
  gst_fairmix_lock_release (&self->lock);
  gst_als_rtcp_tell (self);
  return TRUE;
}

/* --- RTCP --------------------------------------------------------------- */

/* with the lock */
static void
gst_als_rtcp_read (GstAlsRtcp * self, GstBuffer * buffer, guint32 ntp_mid32,
    FmxTime now)
{
  gboolean ok;

  if (self->receivers != NULL) {
    gst_als_rtcp_take_fallback (self, 0);
    ok = gst_als_receivers_on_rtcp (self->receivers, buffer, ntp_mid32, now);
  } else {
    ok = gst_als_stream_on_rtcp (self->stream, buffer, now);
    gst_als_rtcp_note_layers (self, now);
  }
  gst_group_counts_rtcp (&self->counts, ok);
  if (!ok)
    GST_DEBUG_OBJECT (self, "malformed RTCP: %" GST_PTR_FORMAT, buffer);
}

static GstFlowReturn
gst_als_rtcp_rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAlsRtcp *self = GST_ALS_RTCP (parent);
  GstFairmixNtpSource source;
  guint32 ntp_mid32;
  gboolean own = gst_rtcp_hook_is_own (self->hook, buffer), urgent;
  gboolean refused = gst_fairmix_rtcp_refuse (buffer, GST_ELEMENT (self),
      &self->warned_of_rtcp);
  GstClockTime deadline = GST_CLOCK_TIME_NONE;
  GstFlowReturn flow;

  GST_OBJECT_LOCK (self);
  source = self->settings.ntp_time_source;
  GST_OBJECT_UNLOCK (self);
  ntp_mid32 = gst_fairmix_ntp_mid32 (GST_ELEMENT (self), source);
  gst_rtcp_hook_connect (self->hook);
  gst_fairmix_lock_acquire (&self->lock);
  self->counts.n_looped += own;
  if (refused)
    gst_group_counts_rtcp (&self->counts, FALSE);
  if (self->timed.started && !own && !refused) {
    FmxTime now = gst_als_rtcp_now (self);

    gst_als_rtcp_read (self, buffer, ntp_mid32, now);
    deadline = gst_als_rtcp_next_timeout (self, now);
  }
  urgent = self->urgent;
  self->urgent = FALSE;
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  gst_als_rtcp_tell (self);
  if (own || refused) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  flow = gst_fairmix_pads_push_rtcp (self->rtcp_srcpad, buffer);
  if (urgent && gst_rtcp_hook_is_avpf (self->hook))
    gst_rtcp_hook_send_early (self->hook, EARLY_MAX_DELAY);
  return flow;
}

/* GstRtcpHookFunc: the session is about to send @rtcp */
static gboolean
gst_als_rtcp_on_sending (GstElement * owner, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report)
{
  GstAlsRtcp *self = GST_ALS_RTCP (owner);
  GstClockTime deadline = GST_CLOCK_TIME_NONE;
  FmxTime now;

  gst_als_alert_apply (&self->alert, owner);
  gst_fairmix_lock_acquire (&self->lock);
  now = gst_als_rtcp_now (self);
  if (self->receivers != NULL) {
    gst_als_receivers_write (self->receivers, rtcp, report->ssrc, report->mtu,
        now);
  } else if (self->stream != NULL) {
    gst_als_stream_write (self->stream, rtcp, report->ssrc, report->mtu, now);
    gst_als_rtcp_note_layers (self, now);
    deadline = gst_als_rtcp_next_timeout (self, now);
  }
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  return FALSE;
}

/* --- pads --------------------------------------------------------------- */

/* with the lock: layers came or went */
static void
gst_als_rtcp_update_n_layers (GstAlsRtcp * self)
{
  if (self->receivers != NULL)
    gst_als_receivers_set_n_layers (self->receivers,
        gst_als_rtcp_n_layers (self), gst_als_rtcp_now (self));
}

/* GstPadPairsFunc */
static void
gst_als_rtcp_setup_pad (GstElement * element, GstPad * pad,
    GstPadTemplate * templ, guint index)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);
  Layer *layer = &self->layers[index];

  GST_PAD_SET_PROXY_CAPS (pad);
  gst_pad_set_iterate_internal_links_function (pad,
      gst_pad_pairs_iterate_links);
  if (GST_PAD_IS_SINK (pad)) {
    GST_PAD_SET_PROXY_ALLOCATION (pad);
    gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_als_rtcp_chain));
    gst_pad_set_chain_list_function (pad,
        GST_DEBUG_FUNCPTR (gst_als_rtcp_chain_list));
    gst_pad_set_event_function (pad,
        GST_DEBUG_FUNCPTR (gst_als_rtcp_sink_event));
  } else {
    gst_pad_set_event_function (pad,
        GST_DEBUG_FUNCPTR (gst_als_rtcp_src_event));
    if (index == 0)
      gst_pad_set_unlink_function (pad, gst_als_rtcp_base_unlinked);
  }
  gst_fairmix_lock_acquire (&self->lock);
  if (GST_PAD_IS_SINK (pad)) {
    layer->sink = pad;
    fmx_adapt_encoder_init (&layer->adapt_encoder);
    gst_als_rtcp_update_n_layers (self);
  } else {
    layer->src = pad;
  }
  gst_fairmix_lock_release (&self->lock);
}

static GstPad *
gst_als_rtcp_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * name, const GstCaps * caps)
{
  return gst_pad_pairs_request (element, templ, name, MAX_LAYERS,
      gst_als_rtcp_setup_pad);
}

static void
gst_als_rtcp_release_pad (GstElement * element, GstPad * pad)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);
  Layer *layer = &self->layers[gst_pad_pairs_index (pad)];

  gst_fairmix_lock_acquire (&self->lock);
  if (GST_PAD_IS_SINK (pad)) {
    layer->sink = NULL;
    layer->target = 0;
    gst_als_rtcp_update_n_layers (self);
  } else {
    layer->src = NULL;
  }
  gst_fairmix_lock_release (&self->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  gst_als_rtcp_tell (self);
}

/* --- element ------------------------------------------------------------ */

/* with the lock */
static void
gst_als_rtcp_make_peers (GstAlsRtcp * self, const GstAlsSettings * settings,
    const FmxAlsLayer * layers)
{
  FmxAlsSenderParams params;

  if (settings->role == GST_GROUP_ROLE_RECEIVER) {
    self->stream = gst_als_stream_new (layers);
    self->notify_held = TRUE;
    return;
  }
  gst_als_settings_to_params (settings, gst_als_rtcp_n_layers (self),
      &self->sink, &params);
  self->receivers = gst_als_receivers_new (&params, settings->max_receivers,
      ((guint64) g_random_int () << 32) | g_random_int (),
      gst_als_rtcp_now (self));
  gst_als_receivers_set_places (self->receivers, layers);
  gst_als_rtcp_take_fallback (self, 0);
  gst_als_receivers_set_fallback (self->receivers, self->fallback,
      gst_als_rtcp_now (self));
  for (guint i = 0; i < MAX_LAYERS; i++) {
    fmx_adapt_encoder_init (&self->layers[i].adapt_encoder);
    self->layers[i].tell_again = TRUE;
    self->layers[i].target = 0;
  }
}

static GstAlsSettings
gst_als_rtcp_dup_settings (GstAlsRtcp * self)
{
  GstAlsSettings settings;

  GST_OBJECT_LOCK (self);
  gst_als_settings_copy (&self->settings, &settings);
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* with the lock */
static void
gst_als_rtcp_start (GstElement * element)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);
  GstAlsSettings settings = gst_als_rtcp_dup_settings (self);
  FmxAlsLayer layers[MAX_LAYERS] = { 0 };
  gboolean placed = FALSE;

  /* as many as there is room for */
  for (guint n = MAX_LAYERS; !placed && n > 0 && settings.address != NULL; n--)
    placed = gst_als_layers_place (layers, n, settings.address, settings.port);

  self->counts = (GstGroupCounts) {
  0};
  gst_als_rtcp_make_peers (self, &settings, placed ? layers : NULL);
  gst_als_settings_clear (&settings);
}

static void
gst_als_rtcp_disconnect (GstElement * element)
{
  gst_rtcp_hook_disconnect (GST_ALS_RTCP (element)->hook);
}

/* with the lock */
static void
gst_als_rtcp_stop (GstElement * element)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);

  self->hold_again = self->urgent = FALSE;
  self->notify_held = self->stream != NULL;
  g_clear_pointer (&self->receivers, gst_als_receivers_free);
  g_clear_pointer (&self->stream, gst_als_stream_free);
  self->fallback = 0;
  gst_fairmix_outbox_clear (self->outbox);
}

static void
gst_als_rtcp_leave_all (GstAlsRtcp * self)
{
  GstAlsSettings settings = gst_als_rtcp_dup_settings (self);

  gst_als_settings_clear (&settings);
  if (settings.role == GST_GROUP_ROLE_RECEIVER)
    gst_als_sources_hold (&self->sources, GST_ELEMENT (self), 1, NULL, 0);
}

static gboolean
gst_als_rtcp_prepare (GstElement * element)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);
  GstAlsSettings settings = gst_als_rtcp_dup_settings (self);
  guint n_layers;
  gboolean ok, relay = settings.relay;

  gst_fairmix_lock_acquire (&self->lock);
  n_layers = gst_als_rtcp_n_layers (self);
  gst_fairmix_lock_release (&self->lock);
  for (guint i = 0; i < n_layers; i++)
    gst_encoder_control_check (&self->layers[i].encoder, GST_ELEMENT (self));
  ok = gst_als_settings_check (&settings, n_layers, GST_ELEMENT (self));
  gst_als_settings_clear (&settings);
  return ok && (relay || gst_rtcp_hook_connect_or_complain (self->hook));
}

static const GstFairmixTimedFuncs gst_als_rtcp_funcs = {
  .name = "alsrtcp",
  .needs = "adaptation points are moments of it",
  .prepare = gst_als_rtcp_prepare,
  .start = gst_als_rtcp_start,
  .disconnect = gst_als_rtcp_disconnect,
  .stop = gst_als_rtcp_stop,
  .on_timeout = gst_als_rtcp_on_timeout,
};

static GstStateChangeReturn
gst_als_rtcp_change_state (GstElement * element, GstStateChange transition)
{
  GstAlsRtcp *self = GST_ALS_RTCP (element);
  GstStateChangeReturn ret;

  /* once more, as they may be named in READY */
  if (transition == GST_STATE_CHANGE_NULL_TO_READY
      || transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_als_rtcp_leave_all (self);
  ret = gst_fairmix_timed_change_state (&self->timed, transition,
      gst_als_rtcp_parent_class);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    gst_als_rtcp_leave_all (self);
    gst_als_rtcp_tell (self);
  }
  return ret;
}

static gboolean
gst_als_rtcp_set_clock (GstElement * element, GstClock * clock)
{
  return gst_fairmix_timed_set_clock (&GST_ALS_RTCP (element)->timed, clock,
      gst_als_rtcp_parent_class);
}

static GstStructure *
gst_als_rtcp_create_stats (GstAlsRtcp * self)
{
  GstGroupRole role;
  GstStructure *s;

  GST_OBJECT_LOCK (self);
  role = self->settings.role;
  GST_OBJECT_UNLOCK (self);

  gst_fairmix_lock_acquire (&self->lock);
  if (self->receivers != NULL || self->stream != NULL)  /* what it is now */
    role = self->stream != NULL ? GST_GROUP_ROLE_RECEIVER
        : GST_GROUP_ROLE_SENDER;
  s = gst_group_stats_new (STATS_NAME, role, self->target, &self->counts,
      self->outbox);
  if (self->receivers != NULL)
    gst_als_receivers_add_stats (self->receivers, s,
        gst_als_rtcp_n_layers (self), gst_als_rtcp_now (self));
  else if (self->stream != NULL)
    gst_als_stream_add_stats (self->stream, s, gst_als_rtcp_now (self));
  gst_fairmix_lock_release (&self->lock);
  return s;
}

static void
gst_als_rtcp_update_limits (GstAlsRtcp * self)
{
  guint min_bps, max_bps;

  gst_fairmix_lock_acquire (&self->lock);
  GST_OBJECT_LOCK (self);
  min_bps = self->settings.min_bitrate;
  max_bps = MAX (self->settings.max_bitrate, min_bps);
  GST_OBJECT_UNLOCK (self);
  if (self->receivers != NULL)
    gst_als_receivers_set_limits (self->receivers, min_bps, max_bps,
        gst_als_rtcp_now (self));
  gst_fairmix_lock_release (&self->lock);
  gst_als_rtcp_tell (self);
}

static void
gst_als_rtcp_set_encoders (GstAlsRtcp * self, const gchar * text)
{
  gchar **names = g_strsplit (text != NULL ? text : "", ",", -1);
  guint n_names = g_strv_length (names);

  GST_OBJECT_LOCK (self);
  g_free (self->encoders);
  self->encoders = g_strdup (text);
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < MAX_LAYERS; i++)
    gst_encoder_control_set_name (&self->layers[i].encoder,
        i < n_names ? names[i] : NULL);
  g_strfreev (names);
  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < MAX_LAYERS; i++)
    self->layers[i].adjust_encoder = self->receivers != NULL;
  gst_fairmix_lock_release (&self->lock);
  gst_als_rtcp_tell (self);
}

static void
gst_als_rtcp_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstAlsRtcp *self = GST_ALS_RTCP (object);

  switch (id) {
    case PROP (RTPBIN):
      gst_rtcp_hook_set_name (self->hook, g_value_get_string (value));
      break;
    case PROP (SESSION):
      gst_rtcp_hook_set_session (self->hook, g_value_get_uint (value));
      break;
    case PROP (ENCODERS):
      gst_als_rtcp_set_encoders (self, g_value_get_string (value));
      break;
    case PROP (SOURCES):
      gst_als_sources_set_names (&self->sources, g_value_get_string (value));
      break;
    case PROP (ALERT_SINK):
      gst_als_alert_set_name (&self->alert, g_value_get_string (value));
      break;
    default:
      if (id < PROP_SETTINGS || id >= PROP_SETTINGS + GST_ALS_N_SETTINGS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_als_settings_set (&self->settings, id - PROP_SETTINGS, value);
      GST_OBJECT_UNLOCK (self);
      gst_als_rtcp_update_limits (self);
      break;
  }
}

static void
gst_als_rtcp_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstAlsRtcp *self = GST_ALS_RTCP (object);

  switch (id) {
    case PROP (RTPBIN):
      g_value_take_string (value, gst_rtcp_hook_dup_name (self->hook));
      break;
    case PROP (SESSION):
      g_value_set_uint (value, gst_rtcp_hook_get_session (self->hook));
      break;
    case PROP (ENCODERS):
      GST_OBJECT_LOCK (self);
      g_value_set_string (value, self->encoders);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP (SOURCES):
      g_value_take_string (value, gst_als_sources_dup_names (&self->sources));
      break;
    case PROP (ALERT_SINK):
      g_value_take_string (value, gst_als_alert_dup_name (&self->alert));
      break;
    case PROP (TARGET_BITRATE):
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_uint (value, self->target);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP (LAYERS):
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_uint (value, self->stream != NULL
          ? gst_als_stream_get_held (self->stream) : 0);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP (STATS):
      g_value_take_boxed (value, gst_als_rtcp_create_stats (self));
      break;
    default:
      if (id < PROP_SETTINGS || id >= PROP_SETTINGS + GST_ALS_N_SETTINGS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_als_settings_get (&self->settings, id - PROP_SETTINGS, value);
      GST_OBJECT_UNLOCK (self);
      break;
  }
}

static void
gst_als_rtcp_finalize (GObject * object)
{
  GstAlsRtcp *self = GST_ALS_RTCP (object);

  g_object_unref (self->hook);
  gst_fairmix_timed_clear (&self->timed);
  for (guint i = 0; i < MAX_LAYERS; i++)
    gst_encoder_control_clear (&self->layers[i].encoder);
  gst_als_sources_clear (&self->sources);
  gst_als_alert_clear (&self->alert);
  gst_als_settings_clear (&self->settings);
  g_free (self->encoders);
  gst_fairmix_outbox_free (self->outbox);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_als_rtcp_parent_class)->finalize (object);
}

static void
gst_als_rtcp_class_init (GstAlsRtcpClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (als_rtcp_debug, "alsrtcp", 0,
      "layers of a multicast stream");

  gobject_class->set_property = gst_als_rtcp_set_property;
  gobject_class->get_property = gst_als_rtcp_get_property;
  gobject_class->finalize = gst_als_rtcp_finalize;
  gst_als_settings_install (gobject_class, PROP_SETTINGS);
  target_bitrate_pspec = g_object_class_find_property (gobject_class,
      "target-bitrate");
  layers_pspec = g_object_class_find_property (gobject_class, "layers");

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_als_rtcp_change_state);
  element_class->set_clock = GST_DEBUG_FUNCPTR (gst_als_rtcp_set_clock);
  element_class->request_new_pad =
      GST_DEBUG_FUNCPTR (gst_als_rtcp_request_new_pad);
  element_class->release_pad = GST_DEBUG_FUNCPTR (gst_als_rtcp_release_pad);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_fairmix_pads_install_rtcp (element_class);
  gst_element_class_set_static_metadata (element_class,
      "Layers for unequal receivers", "Filter/Network/RTP",
      "Makes the layers of a multicast stream as large as the receivers' paths "
      "carry, and holds as many, with the help of routers",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_GROUP_ROLE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_FAIRMIX_NTP_SOURCE, 0);
}

static void
gst_als_rtcp_init (GstAlsRtcp * self)
{
  gst_fairmix_pads_add_rtcp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_als_rtcp_rtcp_chain), &self->rtcp_srcpad);

  gst_als_settings_default (&self->settings);
  for (guint i = 0; i < MAX_LAYERS; i++)
    gst_encoder_control_init (&self->layers[i].encoder);
  gst_als_sources_init (&self->sources);
  gst_als_alert_init (&self->alert);
  self->hook = gst_rtcp_hook_new (GST_ELEMENT (self), gst_als_rtcp_on_sending);
  self->outbox = gst_fairmix_outbox_new ();

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->sink.emit = gst_als_rtcp_on_event;
  self->sink.user = self;
  gst_fairmix_timed_init (&self->timed, &gst_als_rtcp_funcs,
      GST_ELEMENT (self), &self->lock);
}
