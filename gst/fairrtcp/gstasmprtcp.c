/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-asmprtcp
 * @title: asmprtcp
 *
 * One rate for a multicast group, fair to TCP on the path of its slowest
 * receiver, found in the group's ordinary RTCP.  Each receiver reckons what a TCP
 * would get on its path and tells that in its reports; the sender takes the
 * least.
 *
 * It sees RTP (`sink` to `src`) and the RTCP that comes (`rtcp_sink` to
 * `rtcp_src`), both before rtpbin.  What it has to say goes into the reports that
 * the session itself makes: #GstAsmpRtcp:rtpbin names it.
 *
 * As a sender its result is the property #GstAsmpRtcp:target-bitrate, a custom
 * event `fairmix-target-bitrate` that travels upstream (#partialmix obeys it), an
 * element message `fairmix-rate-decision` per decision, and the bitrate of the
 * encoder that #GstAsmpRtcp:encoder names.
 *
 * Receivers without this element count as well, by their plain reports.
 *
 * ## Sender
 * |[
 * gst-launch-1.0 rtpbin name=rtp autoaudiosrc ! audioconvert ! audioresample ! opusenc name=enc ! rtpopuspay ! asmprtcp name=cc role=sender rtpbin=rtp encoder=enc max-bitrate=160000 ! rtp.send_rtp_sink_0 rtp.send_rtp_src_0 ! udpsink host=239.1.2.3 port=5004 ttl-mc=8 rtp.send_rtcp_src_0 ! udpsink host=239.1.2.3 port=5005 ttl-mc=8 sync=false async=false udpsrc address=239.1.2.3 port=5005 caps=application/x-rtcp ! cc.rtcp_sink cc.rtcp_src ! rtp.recv_rtcp_sink_0
 * ]|
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstasmprtcp.h"

#include "gstasmppeers.h"
#include "gstasmpsettings.h"
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

GST_DEBUG_CATEGORY_STATIC (asmp_rtcp_debug);
#define GST_CAT_DEFAULT asmp_rtcp_debug

#define STATS_NAME "application/x-fairmix-asmprtcp-stats"
#define DECISION_NAME "fairmix-rate-decision"
#define PLAIN_NAME "fairmix-plain-receivers"

#define DEFAULT_CLOCK_RATE 48000
#define EARLY_MAX_DELAY (100 * GST_MSECOND)

enum
{
  PROP_0,
  PROP_SETTINGS,                /* the first of those in gstasmpsettings.h */
  PROP_RTPBIN = PROP_SETTINGS + GST_ASMP_N_SETTINGS,
  PROP_SESSION,
  PROP_ENCODER,
  PROP_TARGET_BITRATE,
  PROP_STATS
};

struct _GstAsmpRtcp
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstPad *rtcp_sinkpad, *rtcp_srcpad;

  GstAsmpSettings settings;     /* with the object lock */
  GstEncoderControl encoder;    /* locks itself */
  GstRtcpHook *hook;            /* so does this */
  GstFairmixOutbox *outbox;     /* and this */

  /* State, with the lock */
  GstFairmixLock lock;
  GstFairmixTimed timed;
  GstAsmpReceivers *receivers;  /* as a sender */
  GstAsmpStreams *streams;      /* as a receiver */
  FmxEventSink sink;
  FmxAdaptEncoder adapt_encoder;
  guint clock_rate;
  guint n_plain;                /* that was told */
  GstGroupCounts counts;
  gint warned_of_rtcp;          /* atomic */

  /* What is to be told, with the lock */
  gboolean telling;             /* one thread at a time, so that order holds */
  guint target;
  gboolean tell_again, adjust_encoder;
};


static GParamSpec *target_bitrate_pspec;

G_DEFINE_FINAL_TYPE (GstAsmpRtcp, gst_asmp_rtcp, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (asmprtcp, "asmprtcp", GST_RANK_NONE,
    GST_TYPE_ASMP_RTCP);

/* with the lock: the one place where this element asks for the time */
static FmxTime
gst_asmp_rtcp_now (GstAsmpRtcp * self)
{
  return gst_fairmix_timed_now (&self->timed);
}

static GstAsmpSettings
gst_asmp_rtcp_get_settings (GstAsmpRtcp * self)
{
  GstAsmpSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  return settings;
}

/* --- what the element tells --------------------------------------------- */

/* FmxEventSink.emit: called by the library, with the lock */
static void
gst_asmp_rtcp_on_event (void *user, const FmxEvent * event)
{
  GstAsmpRtcp *self = user;
  GstStructure *decision = gst_fairmix_event_to_structure (DECISION_NAME,
      event);

  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, decision);
  gst_fairmix_outbox_add (self->outbox,
      gst_message_new_element (GST_OBJECT (self), decision));
}

/* with the lock */
static guint
gst_asmp_rtcp_wanted (GstAsmpRtcp * self)
{
  return self->receivers == NULL ? 0 : (guint) fmx_asmp_sender_target_bps
      (gst_asmp_receivers_get_sender (self->receivers));
}

/* with the lock: whoever has none of this is told of once, and that all have */
static void
gst_asmp_rtcp_note_plain (GstAsmpRtcp * self)
{
  FmxAsmpSenderStats stats;

  fmx_asmp_sender_get_stats (gst_asmp_receivers_get_sender (self->receivers),
      &stats);
  if ((stats.n_plain > 0) != (self->n_plain > 0))
    gst_fairmix_outbox_add (self->outbox,
        gst_message_new_element (GST_OBJECT (self),
            gst_structure_new (PLAIN_NAME, "n-plain", G_TYPE_UINT,
                stats.n_plain, "n-receivers", G_TYPE_UINT, stats.n_receivers,
                NULL)));
  self->n_plain = stats.n_plain;
}

typedef struct
{
  gboolean target_changed, tell_target;
  guint target;
  guint64 encoder_bitrate;      /* 0 = leave it */
} News;

/* with the lock */
static gboolean
gst_asmp_rtcp_take_news (GstAsmpRtcp * self, News * news)
{
  guint target = gst_asmp_rtcp_wanted (self);
  gboolean sends = self->receivers != NULL;

  news->target_changed = target != self->target;
  if (!news->target_changed && !(sends && (self->tell_again
              || self->adjust_encoder)))
    return FALSE;
  news->target = target;
  news->tell_target = sends && (news->target_changed || self->tell_again);
  news->encoder_bitrate = sends ?
      MAX (fmx_adapt_encoder_bps (&self->adapt_encoder, target), 1) : 0;
  self->target = target;
  self->tell_again = self->adjust_encoder = FALSE;
  return TRUE;
}

/* Says what is new, without any lock.  If another thread is at it, that one
 * says this, too, so that the last word is the last one that was said. */
static void
gst_asmp_rtcp_tell (GstAsmpRtcp * self)
{
  News news;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->telling) {
    self->telling = TRUE;
    while (gst_asmp_rtcp_take_news (self, &news)) {
      gst_fairmix_lock_release (&self->lock);
      if (news.target_changed)
        g_object_notify_by_pspec (G_OBJECT (self), target_bitrate_pspec);
      if (news.tell_target)
        gst_pad_push_event (self->sinkpad,
            gst_fairmix_target_bitrate_event_new (news.target));
      if (news.encoder_bitrate > 0)
        gst_encoder_control_set_bitrate (&self->encoder, GST_ELEMENT (self),
            news.encoder_bitrate);
      gst_fairmix_lock_acquire (&self->lock);
    }
    self->telling = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_outbox_post (self->outbox, GST_ELEMENT (self));
}

/* with the lock, which it gives back: wakes up in time, says what is new */
static void
gst_asmp_rtcp_unlock_and_tell (GstAsmpRtcp * self, const GstAsmpNews * news)
{
  GstClockTime deadline = gst_fairmix_timed_to_clock (&self->timed,
      news->timeout);

  if (self->receivers != NULL)
    gst_asmp_rtcp_note_plain (self);
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  gst_asmp_rtcp_tell (self);
  if (news->extra != 0)
    gst_rtcp_hook_send_extra (self->hook, news->extra);
  else if (news->early && gst_rtcp_hook_is_avpf (self->hook))
    gst_rtcp_hook_send_early (self->hook, EARLY_MAX_DELAY);
}

/* with the lock */
static FmxTime
gst_asmp_rtcp_sender_timeout (GstAsmpRtcp * self)
{
  return fmx_asmp_sender_next_timeout (gst_asmp_receivers_get_sender
      (self->receivers));
}

/* A turn has been taken: the next one was fixed with it. */
static GstClockTime
gst_asmp_rtcp_next_turn (GstAsmpRtcp * self)
{
  GstClockTime deadline = GST_CLOCK_TIME_NONE;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started && self->streams != NULL)
    deadline = gst_fairmix_timed_to_clock (&self->timed,
        gst_asmp_streams_next_timeout (self->streams));
  gst_fairmix_lock_release (&self->lock);
  return deadline;
}

static GstClockTime
gst_asmp_rtcp_on_timeout (gpointer user_data, GstClockTime clock_time)
{
  GstAsmpRtcp *self = user_data;
  GstAsmpNews news = { FMX_TIME_NONE, FALSE, 0 };
  GstClockTime deadline;
  FmxTime now;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->timed.started) {
    gst_fairmix_lock_release (&self->lock);
    return GST_CLOCK_TIME_NONE;
  }
  now = gst_asmp_rtcp_now (self);
  if (self->receivers != NULL) {
    fmx_asmp_sender_on_timeout (gst_asmp_receivers_get_sender
        (self->receivers), now);
    news.timeout = gst_asmp_rtcp_sender_timeout (self);
  } else {
    gst_asmp_streams_on_timeout (self->streams, &news, now);
  }
  deadline = gst_fairmix_timed_to_clock (&self->timed, news.timeout);
  gst_asmp_rtcp_unlock_and_tell (self, &news);
  if (news.extra != 0)
    deadline = gst_asmp_rtcp_next_turn (self);
  return deadline == GST_CLOCK_TIME_NONE ? deadline
      : MAX (deadline, clock_time + GST_MSECOND);
}

/* --- RTP ---------------------------------------------------------------- */

/* with the lock */
static void
gst_asmp_rtcp_look (GstAsmpRtcp * self, GstBuffer * buffer, GstAsmpNews * news,
    FmxTime now)
{
  guint32 wire_bytes = gst_fairmix_rtp_wire_bytes (buffer);
  GstFairmixRtpHeader header;

  if (!gst_fairmix_rtp_header_read (buffer, &header)) {
    self->counts.n_not_rtp++;
    return;
  }
  if (self->receivers != NULL) {
    gst_asmp_receivers_on_sent (self->receivers, header.ssrc, wire_bytes, now);
    if (fmx_adapt_encoder_on_packet (&self->adapt_encoder,
            header.header_bytes + FMX_IP_UDP_BYTES, now))
      self->adjust_encoder = TRUE;
  } else {
    GstAsmpNews packet_news = { FMX_TIME_NONE, FALSE, 0 };

    gst_asmp_streams_on_packet (self->streams, &header, wire_bytes,
        &packet_news, now);
    news->early |= packet_news.early;
  }
}

/* The session may have been made since: its first pad was requested. */
static void
gst_asmp_rtcp_seek_session (GstAsmpRtcp * self)
{
  gst_rtcp_hook_connect (self->hook);
}

static void
gst_asmp_rtcp_unlock_after_packets (GstAsmpRtcp * self,
    const GstAsmpNews * news)
{
  gboolean tell = self->adjust_encoder;

  gst_fairmix_lock_release (&self->lock);
  if (tell)
    gst_asmp_rtcp_tell (self);
  if (news->early && gst_rtcp_hook_is_avpf (self->hook))
    gst_rtcp_hook_send_early (self->hook, EARLY_MAX_DELAY);
}

static GstFlowReturn
gst_asmp_rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (parent);
  GstAsmpNews news = { FMX_TIME_NONE, FALSE, 0 };

  gst_asmp_rtcp_seek_session (self);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started)
    gst_asmp_rtcp_look (self, buffer, &news, gst_asmp_rtcp_now (self));
  gst_asmp_rtcp_unlock_after_packets (self, &news);
  return gst_fairmix_rtcp_push_rtp (self->srcpad, buffer, GST_ELEMENT (self),
      &self->warned_of_rtcp);
}

static GstFlowReturn
gst_asmp_rtcp_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (parent);
  GstAsmpNews news = { FMX_TIME_NONE, FALSE, 0 };

  gst_asmp_rtcp_seek_session (self);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    FmxTime now = gst_asmp_rtcp_now (self);

    for (guint i = 0; i < gst_buffer_list_length (list); i++)
      gst_asmp_rtcp_look (self, gst_buffer_list_get (list, i), &news, now);
  }
  gst_asmp_rtcp_unlock_after_packets (self, &news);
  return gst_fairmix_rtcp_push_rtp_list (self->srcpad, list,
      GST_ELEMENT (self), &self->warned_of_rtcp);
}

static void
gst_asmp_rtcp_take_caps (GstAsmpRtcp * self, GstCaps * caps)
{
  GstStructure *s = gst_caps_get_structure (caps, 0);
  gint clock_rate;

  if (!gst_structure_get_int (s, "clock-rate", &clock_rate) || clock_rate <= 0)
    return;
  gst_fairmix_lock_acquire (&self->lock);
  self->clock_rate = clock_rate;
  if (self->streams != NULL)
    gst_asmp_streams_set_clock_rate (self->streams, clock_rate);
  gst_fairmix_lock_release (&self->lock);
}

static gboolean
gst_asmp_rtcp_listens (GstAsmpRtcp * self)
{
  gboolean listens;

  gst_fairmix_lock_acquire (&self->lock);
  listens = self->streams != NULL;
  gst_fairmix_lock_release (&self->lock);
  return listens;
}

static gboolean
gst_asmp_rtcp_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (parent);
  GstEventType type = GST_EVENT_TYPE (event);
  gboolean ret;

  if (type == GST_EVENT_CAPS) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    gst_asmp_rtcp_take_caps (self, caps);
  }
  if (type == GST_EVENT_EOS) {
    if (gst_asmp_rtcp_listens (self))
      gst_rtcp_hook_say_bye (self->hook);
    return gst_rtcp_hook_pass_eos (self->hook, pad, parent, event);
  }
  ret = gst_pad_event_default (pad, parent, event);
  /* whoever sends may be new, or was not reached until now */
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_CAPS
      || type == GST_EVENT_FLUSH_STOP) {
    gst_fairmix_lock_acquire (&self->lock);
    self->tell_again = self->timed.started;
    gst_fairmix_lock_release (&self->lock);
    gst_asmp_rtcp_tell (self);
  }
  return ret;
}

/* --- RTCP --------------------------------------------------------------- */

/* with the lock */
static void
gst_asmp_rtcp_read (GstAsmpRtcp * self, GstBuffer * buffer,
    GstFairmixNtpSource source, GstAsmpNews * news)
{
  FmxTime now = gst_asmp_rtcp_now (self);
  gboolean ok;

  if (self->receivers != NULL) {
    ok = gst_asmp_receivers_on_rtcp (self->receivers, buffer,
        gst_fairmix_ntp_mid32 (GST_ELEMENT (self), source), now);
    news->timeout = gst_asmp_rtcp_sender_timeout (self);
  } else {
    ok = gst_asmp_streams_on_rtcp (self->streams, buffer,
        gst_fairmix_ntp_time (GST_ELEMENT (self), source), now);
  }
  gst_group_counts_rtcp (&self->counts, ok);
  if (!ok)
    GST_DEBUG_OBJECT (self, "malformed RTCP: %" GST_PTR_FORMAT, buffer);
}

static GstFlowReturn
gst_asmp_rtcp_rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (parent);
  GstFairmixNtpSource source = gst_asmp_rtcp_get_settings (self)
      .ntp_time_source;
  GstAsmpNews news = { FMX_TIME_NONE, FALSE, 0 };
  gboolean own = gst_rtcp_hook_is_own (self->hook, buffer);
  gboolean refused = gst_fairmix_rtcp_refuse (buffer, GST_ELEMENT (self),
      &self->warned_of_rtcp);

  gst_asmp_rtcp_seek_session (self);
  gst_fairmix_lock_acquire (&self->lock);
  self->counts.n_looped += own;
  if (refused)
    gst_group_counts_rtcp (&self->counts, FALSE);
  if (self->timed.started && !own && !refused) {
    gst_asmp_rtcp_read (self, buffer, source, &news);
    gst_asmp_rtcp_unlock_and_tell (self, &news);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
  if (own || refused) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  return gst_fairmix_pads_push_rtcp (self->rtcp_srcpad, buffer);
}

/* GstRtcpHookFunc: the session is about to send @rtcp */
static gboolean
gst_asmp_rtcp_on_sending (GstElement * owner, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (owner);
  GstAsmpNews news = { FMX_TIME_NONE, FALSE, 0 };

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    FmxTime now = gst_asmp_rtcp_now (self);

    if (self->receivers != NULL)
      gst_asmp_receivers_write (self->receivers, rtcp, report->ssrc,
          report->mtu, now);
    else
      gst_asmp_streams_write (self->streams, rtcp, report, &news, now);
    news.timeout = gst_fairmix_timed_to_clock (&self->timed, news.timeout);
  }
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_timed_reschedule (&self->timed, news.timeout);
  return FALSE;
}

/* --- pads --------------------------------------------------------------- */

/* --- element ------------------------------------------------------------ */

static FmxAsmpSenderParams
gst_asmp_rtcp_sender_params (GstAsmpRtcp * self)
{
  GstAsmpSettings settings = gst_asmp_rtcp_get_settings (self);
  FmxAsmpSenderParams params;

  fmx_asmp_sender_params_default (&params);
  params.algorithm = settings.algorithm;
  params.min_bps = settings.min_bitrate;
  params.max_bps = MAX (settings.max_bitrate, settings.min_bitrate);
  params.initial_bps = settings.initial_bitrate;
  params.sink = &self->sink;
  return params;
}

/* with the lock */
static void
gst_asmp_rtcp_make_peers (GstAsmpRtcp * self, const GstAsmpSettings * settings)
{
  if (settings->role == GST_GROUP_ROLE_SENDER) {
    FmxAsmpSenderParams params = gst_asmp_rtcp_sender_params (self);

    self->receivers = gst_asmp_receivers_new (&params, settings->max_receivers,
        g_random_int ());
  } else {
    FmxAsmpReceiverParams params;

    fmx_asmp_receiver_params_default (&params);
    params.algorithm = settings->algorithm;
    params.clock_rate_hz = self->clock_rate;
    params.rounds = settings->algorithm == FMX_ASMP_FAIR;
    self->streams = gst_asmp_streams_new (&params, g_random_int ());
  }
}

/* with the lock */
static void
gst_asmp_rtcp_start (GstElement * element)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (element);
  GstAsmpSettings settings = gst_asmp_rtcp_get_settings (self);

  gst_asmp_rtcp_make_peers (self, &settings);
  fmx_adapt_encoder_init (&self->adapt_encoder);
  self->n_plain = 0;
  self->counts = (GstGroupCounts) {
  0};
  self->tell_again = TRUE;
}

static void
gst_asmp_rtcp_disconnect (GstElement * element)
{
  gst_rtcp_hook_disconnect (GST_ASMP_RTCP (element)->hook);
}

/* with the lock */
static void
gst_asmp_rtcp_stop (GstElement * element)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (element);

  self->tell_again = self->adjust_encoder = FALSE;
  self->clock_rate = DEFAULT_CLOCK_RATE;
  g_clear_pointer (&self->receivers, gst_asmp_receivers_free);
  g_clear_pointer (&self->streams, gst_asmp_streams_free);
  gst_fairmix_outbox_clear (self->outbox);
}

/* Without a session to write into, the other side hears nothing of us. */
static gboolean
gst_asmp_rtcp_prepare (GstElement * element)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (element);

  gst_encoder_control_check (&self->encoder, element);
  return gst_rtcp_hook_connect_or_complain (self->hook);
}

static const GstFairmixTimedFuncs gst_asmp_rtcp_funcs = {
  .name = "asmprtcp",
  .needs = "round-trip times come from it",
  .prepare = gst_asmp_rtcp_prepare,
  .start = gst_asmp_rtcp_start,
  .disconnect = gst_asmp_rtcp_disconnect,
  .stop = gst_asmp_rtcp_stop,
  .on_timeout = gst_asmp_rtcp_on_timeout,
};

static GstStateChangeReturn
gst_asmp_rtcp_change_state (GstElement * element, GstStateChange transition)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (element);
  GstStateChangeReturn ret = gst_fairmix_timed_change_state (&self->timed,
      transition, gst_asmp_rtcp_parent_class);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_asmp_rtcp_tell (self);
  return ret;
}

static gboolean
gst_asmp_rtcp_set_clock (GstElement * element, GstClock * clock)
{
  return gst_fairmix_timed_set_clock (&GST_ASMP_RTCP (element)->timed, clock,
      gst_asmp_rtcp_parent_class);
}

static GstStructure *
gst_asmp_rtcp_create_stats (GstAsmpRtcp * self)
{
  GstGroupRole role = gst_asmp_rtcp_get_settings (self).role;
  GstStructure *s;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->receivers != NULL || self->streams != NULL) /* what it is now */
    role = self->streams != NULL ? GST_GROUP_ROLE_RECEIVER
        : GST_GROUP_ROLE_SENDER;
  s = gst_group_stats_new (STATS_NAME, role, self->target, &self->counts,
      self->outbox);
  if (self->receivers != NULL)
    gst_asmp_receivers_add_stats (self->receivers, s, gst_asmp_rtcp_now (self));
  else if (self->streams != NULL)
    gst_asmp_streams_add_stats (self->streams, s, gst_asmp_rtcp_now (self));
  gst_fairmix_lock_release (&self->lock);
  return s;
}

/* A sender's bounds have changed: the one thing that counts while it plays.  Who comes
 * last knows the last ones. */
static void
gst_asmp_rtcp_update_bounds (GstAsmpRtcp * self)
{
  FmxAsmpSenderParams wanted, params;

  gst_fairmix_lock_acquire (&self->lock);
  wanted = gst_asmp_rtcp_sender_params (self);
  if (self->receivers != NULL) {
    FmxAsmpSender *sender = gst_asmp_receivers_get_sender (self->receivers);

    fmx_asmp_sender_get_params (sender, &params);
    params.min_bps = wanted.min_bps;
    params.max_bps = wanted.max_bps;
    fmx_asmp_sender_set_params (sender, &params, gst_asmp_rtcp_now (self));
  }
  gst_fairmix_lock_release (&self->lock);
  gst_asmp_rtcp_tell (self);
}

static void
gst_asmp_rtcp_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (object);

  switch (id) {
    case PROP_RTPBIN:
      gst_rtcp_hook_set_name (self->hook, g_value_get_string (value));
      break;
    case PROP_SESSION:
      gst_rtcp_hook_set_session (self->hook, g_value_get_uint (value));
      break;
    case PROP_ENCODER:
      gst_encoder_control_set_name (&self->encoder, g_value_get_string (value));
      gst_fairmix_lock_acquire (&self->lock);
      self->adjust_encoder = self->timed.started;
      gst_fairmix_lock_release (&self->lock);
      gst_asmp_rtcp_tell (self);
      break;
    default:
      if (id < PROP_SETTINGS || id >= PROP_SETTINGS + GST_ASMP_N_SETTINGS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_asmp_settings_set (&self->settings, id - PROP_SETTINGS, value);
      GST_OBJECT_UNLOCK (self);
      gst_asmp_rtcp_update_bounds (self);
      break;
  }
}

static void
gst_asmp_rtcp_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (object);

  switch (id) {
    case PROP_RTPBIN:
      g_value_take_string (value, gst_rtcp_hook_dup_name (self->hook));
      break;
    case PROP_SESSION:
      g_value_set_uint (value, gst_rtcp_hook_get_session (self->hook));
      break;
    case PROP_ENCODER:
      g_value_take_string (value,
          gst_encoder_control_dup_name (&self->encoder));
      break;
    case PROP_TARGET_BITRATE:
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_uint (value, self->target);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_asmp_rtcp_create_stats (self));
      break;
    default:
      if (id < PROP_SETTINGS || id >= PROP_SETTINGS + GST_ASMP_N_SETTINGS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_asmp_settings_get (&self->settings, id - PROP_SETTINGS, value);
      GST_OBJECT_UNLOCK (self);
      break;
  }
}

static void
gst_asmp_rtcp_finalize (GObject * object)
{
  GstAsmpRtcp *self = GST_ASMP_RTCP (object);

  g_object_unref (self->hook);
  gst_fairmix_timed_clear (&self->timed);
  gst_encoder_control_clear (&self->encoder);
  gst_fairmix_outbox_free (self->outbox);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_asmp_rtcp_parent_class)->finalize (object);
}

static void
gst_asmp_rtcp_install_properties (GObjectClass * gobject_class)
{
  gst_asmp_settings_install (gobject_class, PROP_SETTINGS);
  gst_rtcp_hook_install_properties (gobject_class, PROP_RTPBIN, PROP_SESSION,
      "Which session of the rtpbin");
  g_object_class_install_property (gobject_class, PROP_ENCODER,
      gst_encoder_control_param_spec ());
  target_bitrate_pspec = g_param_spec_uint ("target-bitrate",
      "Target Bitrate", "Sender: what may be sent, all streams together, in "
      "bits/s on the wire, IP and UDP headers included; notifies, from any "
      "thread", 0, G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property (gobject_class, PROP_TARGET_BITRATE,
      target_bitrate_pspec);
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "Sender: target, limiting receiver, counters, and a table of up to 64 "
          "receivers.  Receiver: rate, loss, round trip of each stream.  Rates in "
          "bits/s on the wire, times in nanoseconds", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_asmp_rtcp_class_init (GstAsmpRtcpClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (asmp_rtcp_debug, "asmprtcp", 0,
      "rate of a multicast group");

  gobject_class->set_property = gst_asmp_rtcp_set_property;
  gobject_class->get_property = gst_asmp_rtcp_get_property;
  gobject_class->finalize = gst_asmp_rtcp_finalize;
  gst_asmp_rtcp_install_properties (gobject_class);

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_asmp_rtcp_change_state);
  element_class->set_clock = GST_DEBUG_FUNCPTR (gst_asmp_rtcp_set_clock);
  gst_fairmix_pads_install_rtp (element_class);
  gst_fairmix_pads_install_rtcp (element_class);
  gst_element_class_set_static_metadata (element_class,
      "TCP-fair rate of a multicast group", "Filter/Network/RTP",
      "Finds one rate for all receivers of a multicast group, in plain RTCP",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_GROUP_ROLE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_ASMP_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_FAIRMIX_NTP_SOURCE, 0);
}

static void
gst_asmp_rtcp_add_pads (GstAsmpRtcp * self)
{
  self->sinkpad = gst_fairmix_pads_add_rtp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_asmp_rtcp_chain),
      GST_DEBUG_FUNCPTR (gst_asmp_rtcp_chain_list),
      GST_DEBUG_FUNCPTR (gst_asmp_rtcp_sink_event), &self->srcpad);
  self->rtcp_sinkpad = gst_fairmix_pads_add_rtcp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_asmp_rtcp_rtcp_chain), &self->rtcp_srcpad);
}

static void
gst_asmp_rtcp_init (GstAsmpRtcp * self)
{
  gst_asmp_rtcp_add_pads (self);

  gst_asmp_settings_default (&self->settings);
  self->clock_rate = DEFAULT_CLOCK_RATE;
  gst_encoder_control_init (&self->encoder);
  self->hook = gst_rtcp_hook_new (GST_ELEMENT (self), gst_asmp_rtcp_on_sending);
  self->outbox = gst_fairmix_outbox_new ();

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->sink.emit = gst_asmp_rtcp_on_event;
  self->sink.user = self;
  gst_fairmix_timed_init (&self->timed, &gst_asmp_rtcp_funcs,
      GST_ELEMENT (self), &self->lock);
}
