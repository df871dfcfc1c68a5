/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-rtpccfb
 * @title: rtpccfb
 *
 * Acknowledges RTP packets: it passes RTP through untouched, notes which
 * packets arrived when, and writes congestion control feedback (RFC 8888) to
 * `rtcp_src`.  A sender with #tfrcrate learns from it, packet by packet, what
 * was lost and how long the way is.
 *
 * It sits between the network and `rtpbin.recv_rtp_sink_\%u`; its feedback
 * joins rtpbin's own RTCP in a `funnel`.  Feedback takes at most 5 % of the
 * media's rate.  A `rtcp_src` that is not linked stops nothing.
 *
 * ## Example
 * |[
 * gst-launch-1.0 rtpbin name=rtp funnel name=rtcp \
 *     ! udpsink host=127.0.0.1 port=5007 sync=false async=false \
 *   udpsrc port=5004 caps="application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96" \
 *     ! rtpccfb name=fb ! rtp.recv_rtp_sink_0  fb.rtcp_src ! rtcp. \
 *   udpsrc port=5005 ! rtp.recv_rtcp_sink_0  rtp.send_rtcp_src_0 ! rtcp. \
 *   rtp. ! rtpopusdepay ! opusdec ! audioconvert ! autoaudiosink
 * ]|
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtpccfb.h"

#include "common/gstfairmixecn.h"
#include "common/gstfairmixfields.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixorigin.h"
#include "common/gstfairmixpads.h"
#include "common/gstfairmixrtcp.h"
#include "common/gstfairmixrtp.h"
#include "common/gstfairmixtimed.h"
#include "fairmix/wire/fmx-ccfb-collector.h"

GST_DEBUG_CATEGORY_STATIC (rtp_ccfb_debug);
#define GST_CAT_DEFAULT rtp_ccfb_debug

#define STATS_NAME "application/x-fairmix-rtpccfb-stats"

#define SSRC_RANDOM G_MAXUINT
#define DEFAULT_SSRC SSRC_RANDOM
#define DEFAULT_MAX_SSRCS 256
#define DEFAULT_MTU 1200
#define DEFAULT_ARRIVAL_FROM_DTS FALSE
#define DEFAULT_NTP_TIME_SOURCE GST_FAIRMIX_NTP_NTP

/* A DTS that is older is not when the packet arrived: the wall clock was set. */
#define OLDEST_DTS (1 * GST_SECOND)

#define TELL_EACH (10 * FMX_SECOND)     /* of SSRCs that two senders share */

enum
{
  PROP_0,
  PROP_SSRC,
  PROP_MIN_INTERVAL,
  PROP_MAX_INTERVAL,
  PROP_RATE_FRACTION,
  PROP_MAX_SSRCS,
  PROP_MTU,
  PROP_NTP_TIME_SOURCE,
  PROP_ARRIVAL_FROM_DTS,
  PROP_SHARE_THREAD,
  PROP_STATS,
  N_PROPERTIES
};

struct _GstRtpCcfb
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstPad *rtcp_srcpad;
  gint warned_of_rtcp;          /* atomic */

  /* Properties, with the object lock */
  guint ssrc;
  guint64 min_interval, max_interval;
  gdouble rate_fraction;
  guint max_ssrcs;
  guint mtu;
  GstFairmixNtpSource ntp_time_source;
  gboolean arrival_from_dts;

  /* State, with the lock */
  GstFairmixLock lock;
  GstFairmixTimed timed;
  guint32 own_ssrc;
  FmxCcfbCollector collector;
  FmxCcfbStream *streams;
  GstFairmixOrigins *origins;
  gboolean from_dts;            /* arrival_from_dts, as it was at the start */
  guint64 n_not_rtp;
  guint64 n_intruders;          /* packets of a second sender of an SSRC */
  gint64 shared_ssrc;           /* to tell of, -1 = none */
  FmxTime tell_from;            /* of the next one */
  gboolean need_events;         /* before what is pushed to rtcp_src */
  gboolean eos;                 /* was pushed there */
};

static GstStaticPadTemplate rtcp_src_template =
GST_STATIC_PAD_TEMPLATE ("rtcp_src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-rtcp"));

static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE (GstRtpCcfb, gst_rtp_ccfb, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (rtpccfb, "rtpccfb", GST_RANK_NONE,
    GST_TYPE_RTP_CCFB);

/* with the lock: the one place where this element asks for the time */
static FmxTime
gst_rtp_ccfb_now (GstRtpCcfb * self)
{
  return gst_fairmix_timed_now (&self->timed);
}

/* --- RTP ---------------------------------------------------------------- */

/* with the lock.  Returns: how long before now, when it is seen, @buffer came out of the
 * network.  That is told by the pipeline's clock, which need not be the one that times
 * the network. */
static FmxDuration
gst_rtp_ccfb_waited (GstRtpCcfb * self, GstBuffer * buffer)
{
  GstClockTime seen;
  GstClockTimeDiff age;

  if (!self->from_dts || !GST_BUFFER_DTS_IS_VALID (buffer))
    return 0;
  seen = gst_element_get_current_running_time (GST_ELEMENT (self));
  if (!GST_CLOCK_TIME_IS_VALID (seen))
    return 0;
  age = GST_CLOCK_DIFF (GST_BUFFER_DTS (buffer), seen);
  return age < 0 || age > (GstClockTimeDiff) OLDEST_DTS ? 0 : age;
}

/* with the lock */
static void
gst_rtp_ccfb_note (GstRtpCcfb * self, GstBuffer * buffer, FmxTime now)
{
  GstFairmixRtpHeader header;
  FmxCcfbArrival arrival = { 0 };
  gboolean first;

  if (!gst_fairmix_rtp_header_read (buffer, &header)) {
    self->n_not_rtp++;
    GST_DEBUG_OBJECT (self, "not an RTP packet: %" GST_PTR_FORMAT, buffer);
    return;
  }

  /* rtpbin drops what they send; who is acknowledged takes their losses for his */
  if (gst_fairmix_origins_intrudes (self->origins, header.ssrc, buffer,
          (GstClockTime) now, &first)) {
    self->n_intruders++;
    if (first)
      self->shared_ssrc = header.ssrc;
    return;
  }

  arrival.ssrc = header.ssrc;
  arrival.seq = header.seq;
  arrival.wire_bytes = gst_fairmix_rtp_wire_bytes (buffer);
  arrival.ecn = gst_fairmix_ecn_get (buffer);
  arrival.waited = gst_rtp_ccfb_waited (self, buffer);
  fmx_ccfb_collector_on_packet (&self->collector, &arrival, now);
}

/* with the lock; returns when to wake up, on the clock */
static GstClockTime
gst_rtp_ccfb_deadline (GstRtpCcfb * self)
{
  return gst_fairmix_timed_to_clock (&self->timed,
      fmx_ccfb_collector_next_timeout (&self->collector));
}

/* with the lock.  Who floods shares as many as he likes: they are told of now and then.
 * Returns: an SSRC to tell of, -1 = none */
static gint64
gst_rtp_ccfb_take_shared (GstRtpCcfb * self, FmxTime now)
{
  gint64 ssrc = self->shared_ssrc;

  if (ssrc < 0 || now < self->tell_from)
    return -1;
  self->shared_ssrc = -1;
  self->tell_from = now + (FmxTime) TELL_EACH;
  return ssrc;
}

/* without the lock */
static void
gst_rtp_ccfb_warn (GstRtpCcfb * self, gint64 ssrc)
{
  if (ssrc >= 0)
    GST_ELEMENT_WARNING (self, STREAM, FAILED,
        ("Two senders use one SSRC, 0x%08x: the second one is not heard.",
            (guint) ssrc), ("Only the first is acknowledged, and rtpbin plays "
            "only him.  SSRCs are to be random; the second one may leave ssrc= "
            "out."));
}

static GstFlowReturn
gst_rtp_ccfb_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstRtpCcfb *self = GST_RTP_CCFB (parent);
  GstClockTime deadline = GST_CLOCK_TIME_NONE;
  gint64 shared = -1;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    FmxTime now = gst_rtp_ccfb_now (self);

    gst_rtp_ccfb_note (self, buffer, now);
    deadline = gst_rtp_ccfb_deadline (self);
    shared = gst_rtp_ccfb_take_shared (self, now);
  }
  gst_fairmix_lock_release (&self->lock);

  gst_rtp_ccfb_warn (self, shared);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  return gst_fairmix_rtcp_push_rtp (self->srcpad, buffer, GST_ELEMENT (self),
      &self->warned_of_rtcp);
}

static GstFlowReturn
gst_rtp_ccfb_chain_list (GstPad * pad, GstObject * parent, GstBufferList * list)
{
  GstRtpCcfb *self = GST_RTP_CCFB (parent);
  GstClockTime deadline = GST_CLOCK_TIME_NONE;
  guint n = gst_buffer_list_length (list);
  gint64 shared = -1;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    FmxTime now = gst_rtp_ccfb_now (self);

    for (guint i = 0; i < n; i++)
      gst_rtp_ccfb_note (self, gst_buffer_list_get (list, i), now);
    deadline = gst_rtp_ccfb_deadline (self);
    shared = gst_rtp_ccfb_take_shared (self, now);
  }
  gst_fairmix_lock_release (&self->lock);

  gst_rtp_ccfb_warn (self, shared);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  return gst_fairmix_rtcp_push_rtp_list (self->srcpad, list,
      GST_ELEMENT (self), &self->warned_of_rtcp);
}

/* --- feedback ----------------------------------------------------------- */

/* with the stream lock of rtcp_src */
static void
gst_rtp_ccfb_push_events (GstRtpCcfb * self)
{
  GstEvent *stream_start, *sink_stream_start;
  GstSegment segment;
  gboolean needed;
  GstCaps *caps;
  gchar *id;
  guint group;

  gst_fairmix_lock_acquire (&self->lock);
  needed = self->need_events;
  self->need_events = FALSE;
  gst_fairmix_lock_release (&self->lock);
  if (!needed)
    return;

  id = gst_pad_create_stream_id (self->rtcp_srcpad, GST_ELEMENT (self), "rtcp");
  stream_start = gst_event_new_stream_start (id);
  g_free (id);
  sink_stream_start =
      gst_pad_get_sticky_event (self->sinkpad, GST_EVENT_STREAM_START, 0);
  if (sink_stream_start == NULL
      || !gst_event_parse_group_id (sink_stream_start, &group))
    group = gst_util_group_id_next ();
  gst_clear_event (&sink_stream_start);
  gst_event_set_group_id (stream_start, group);
  gst_pad_push_event (self->rtcp_srcpad, stream_start);

  caps = gst_static_pad_template_get_caps (&rtcp_src_template);
  gst_pad_push_event (self->rtcp_srcpad, gst_event_new_caps (caps));
  gst_caps_unref (caps);

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (self->rtcp_srcpad, gst_event_new_segment (&segment));
}

/* Returns: the reports that are due now (or, at the end, all there is) */
static GstBufferList *
gst_rtp_ccfb_write (GstRtpCcfb * self, gboolean at_once)
{
  GstBufferList *reports = gst_buffer_list_new ();
  GstFairmixNtpSource source;
  guint32 ntp_mid32;
  FmxTime now;
  guint mtu;

  GST_OBJECT_LOCK (self);
  source = self->ntp_time_source;
  mtu = self->mtu;
  GST_OBJECT_UNLOCK (self);
  ntp_mid32 = gst_fairmix_ntp_mid32 (GST_ELEMENT (self), source);

  gst_fairmix_lock_acquire (&self->lock);
  now = gst_rtp_ccfb_now (self);
  if (self->timed.started && !self->eos && (at_once
          || fmx_ccfb_collector_next_timeout (&self->collector) <= now)) {
    for (;;) {
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, mtu, NULL);
      GstMapInfo map;
      gsize size;

      gst_buffer_map (buffer, &map, GST_MAP_WRITE);
      size = fmx_ccfb_collector_write (&self->collector, map.data, map.size,
          ntp_mid32, now);
      gst_buffer_unmap (buffer, &map);
      if (size == 0) {
        gst_buffer_unref (buffer);
        break;
      }
      gst_buffer_set_size (buffer, (gssize) size);
      gst_buffer_list_add (reports, buffer);
    }
  }
  gst_fairmix_lock_release (&self->lock);
  return reports;
}

/* with the stream lock of rtcp_src */
static void
gst_rtp_ccfb_push_reports (GstRtpCcfb * self, gboolean at_once)
{
  GstBufferList *reports = gst_rtp_ccfb_write (self, at_once);
  guint n = gst_buffer_list_length (reports);

  if (n > 0)
    gst_rtp_ccfb_push_events (self);
  for (guint i = 0; i < n; i++) {
    GstFlowReturn ret = gst_pad_push (self->rtcp_srcpad,
        gst_buffer_ref (gst_buffer_list_get (reports, i)));

    GST_LOG_OBJECT (self, "report of %" G_GSIZE_FORMAT " bytes: %s",
        gst_buffer_get_size (gst_buffer_list_get (reports, i)),
        gst_flow_get_name (ret));
  }
  gst_buffer_list_unref (reports);
}

static GstClockTime
gst_rtp_ccfb_on_timeout (gpointer user_data, GstClockTime clock_time)
{
  GstRtpCcfb *self = user_data;
  GstClockTime deadline = GST_CLOCK_TIME_NONE;

  GST_PAD_STREAM_LOCK (self->rtcp_srcpad);
  gst_rtp_ccfb_push_reports (self, FALSE);
  GST_PAD_STREAM_UNLOCK (self->rtcp_srcpad);

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started)
    deadline = gst_rtp_ccfb_deadline (self);
  gst_fairmix_lock_release (&self->lock);
  return deadline;
}

static void
gst_rtp_ccfb_end (GstRtpCcfb * self)
{
  GST_PAD_STREAM_LOCK (self->rtcp_srcpad);
  gst_rtp_ccfb_push_reports (self, TRUE);
  gst_rtp_ccfb_push_events (self);
  gst_pad_push_event (self->rtcp_srcpad, gst_event_new_eos ());
  gst_fairmix_lock_acquire (&self->lock);
  self->eos = TRUE;
  gst_fairmix_lock_release (&self->lock);
  GST_PAD_STREAM_UNLOCK (self->rtcp_srcpad);
}

/* After EOS a new stream may come.  Without the stream lock of rtcp_src: whoever flushes
 * does not wait for a report that somebody there holds up, as sinks do in PAUSED. */
static void
gst_rtp_ccfb_begin (GstRtpCcfb * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->need_events |= self->eos;
  self->eos = FALSE;
  gst_fairmix_lock_release (&self->lock);
}

/* --- pads --------------------------------------------------------------- */

static gboolean
gst_rtp_ccfb_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstRtpCcfb *self = GST_RTP_CCFB (parent);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_EOS:
      gst_rtp_ccfb_end (self);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_FLUSH_STOP:
      gst_rtp_ccfb_begin (self);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_rtp_ccfb_rtcp_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    gst_query_set_latency (query, FALSE, 0, GST_CLOCK_TIME_NONE);
    return TRUE;
  }
  return gst_pad_query_default (pad, parent, query);
}

/* The latency of the RTP is none of the feedback's business. */
static gboolean
gst_rtp_ccfb_rtcp_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  gboolean ret = GST_EVENT_TYPE (event) == GST_EVENT_LATENCY;

  gst_event_unref (event);
  return ret;
}

/* Nothing that comes from upstream goes to rtcp_src. */
static GstIterator *
gst_rtp_ccfb_iterate_nothing (GstPad * pad, GstObject * parent)
{
  return NULL;
}

/* --- element ------------------------------------------------------------ */

static gboolean
gst_rtp_ccfb_prepare (GstElement * element)
{
  GstRtpCcfb *self = GST_RTP_CCFB (element);

  gst_fairmix_lock_acquire (&self->lock);
  self->need_events = TRUE;
  self->eos = FALSE;
  gst_fairmix_lock_release (&self->lock);
  return TRUE;
}

/* with the lock */
static void
gst_rtp_ccfb_start (GstElement * element)
{
  GstRtpCcfb *self = GST_RTP_CCFB (element);
  FmxCcfbCollectorParams params;
  guint max_ssrcs;
  guint ssrc;

  GST_OBJECT_LOCK (self);
  fmx_ccfb_collector_params_default (&params);
  params.min_interval = (FmxDuration) self->min_interval;
  params.max_interval =
      (FmxDuration) MAX (self->min_interval, self->max_interval);
  params.rate_fraction = self->rate_fraction;
  max_ssrcs = self->max_ssrcs;
  ssrc = self->ssrc;
  self->from_dts = self->arrival_from_dts;
  GST_OBJECT_UNLOCK (self);

  self->own_ssrc = ssrc == SSRC_RANDOM ? g_random_int () : ssrc;
  params.sender_ssrc = self->own_ssrc;
  self->streams = g_new (FmxCcfbStream, max_ssrcs);
  fmx_ccfb_collector_init (&self->collector, &params, self->streams, max_ssrcs);
  self->origins = gst_fairmix_origins_new (max_ssrcs);
  self->n_not_rtp = self->n_intruders = 0;
  self->shared_ssrc = -1;
  self->tell_from = 0;
}

/* with the lock */
static void
gst_rtp_ccfb_stop (GstElement * element)
{
  g_clear_pointer (&GST_RTP_CCFB (element)->streams, g_free);
  g_clear_pointer (&GST_RTP_CCFB (element)->origins, gst_fairmix_origins_free);
}

static const GstFairmixTimedFuncs gst_rtp_ccfb_funcs = {
  .name = "rtpccfb",
  .needs = "arrival times come from it",
  .prepare = gst_rtp_ccfb_prepare,
  .start = gst_rtp_ccfb_start,
  .stop = gst_rtp_ccfb_stop,
  .on_timeout = gst_rtp_ccfb_on_timeout,
};

static GstStateChangeReturn
gst_rtp_ccfb_change_state (GstElement * element, GstStateChange transition)
{
  return gst_fairmix_timed_change_state (&GST_RTP_CCFB (element)->timed,
      transition, gst_rtp_ccfb_parent_class);
}

static gboolean
gst_rtp_ccfb_set_clock (GstElement * element, GstClock * clock)
{
  return gst_fairmix_timed_set_clock (&GST_RTP_CCFB (element)->timed, clock,
      gst_rtp_ccfb_parent_class);
}

static GstStructure *
gst_rtp_ccfb_create_stats (GstRtpCcfb * self)
{
  FmxCcfbCollectorStats stats = { 0 };
  GstStructure *s;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started)
    fmx_ccfb_collector_get_stats (&self->collector, &stats);
  s = gst_structure_new (STATS_NAME,
      "ssrc", G_TYPE_UINT, self->own_ssrc,
      "n-packets", G_TYPE_UINT64, stats.n_packets,
      "n-duplicates", G_TYPE_UINT64, stats.n_duplicates,
      "n-late", G_TYPE_UINT64, stats.n_late,
      "n-ignored", G_TYPE_UINT64, stats.n_ignored,
      "n-not-rtp", G_TYPE_UINT64, self->n_not_rtp,
      "n-intruders", G_TYPE_UINT64, self->n_intruders,
      "n-unreported", G_TYPE_UINT64, stats.n_unreported,
      "n-restarts", G_TYPE_UINT64, stats.n_restarts,
      "n-streams", G_TYPE_UINT, stats.n_streams,
      "n-evicted", G_TYPE_UINT64, stats.n_evicted,
      "n-reports", G_TYPE_UINT64, stats.n_reports,
      "n-urgent", G_TYPE_UINT64, stats.n_urgent,
      "report-bytes", G_TYPE_UINT64, stats.report_bytes,
      "media-bytes", G_TYPE_UINT64, stats.media_bytes, NULL);
  gst_fairmix_lock_release (&self->lock);
  return s;
}

static void
gst_rtp_ccfb_set_ssrc (GstRtpCcfb * self, guint ssrc)
{
  GST_OBJECT_LOCK (self);
  self->ssrc = ssrc;
  GST_OBJECT_UNLOCK (self);

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    self->own_ssrc = ssrc == SSRC_RANDOM ? g_random_int () : ssrc;
    fmx_ccfb_collector_set_sender_ssrc (&self->collector, self->own_ssrc);
  }
  gst_fairmix_lock_release (&self->lock);
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_SSRC, GstRtpCcfb, ssrc),
  GST_FAIRMIX_FIELD (PROP_MIN_INTERVAL, GstRtpCcfb, min_interval),
  GST_FAIRMIX_FIELD (PROP_MAX_INTERVAL, GstRtpCcfb, max_interval),
  GST_FAIRMIX_FIELD (PROP_RATE_FRACTION, GstRtpCcfb, rate_fraction),
  GST_FAIRMIX_FIELD (PROP_MAX_SSRCS, GstRtpCcfb, max_ssrcs),
  GST_FAIRMIX_FIELD (PROP_MTU, GstRtpCcfb, mtu),
  GST_FAIRMIX_FIELD (PROP_NTP_TIME_SOURCE, GstRtpCcfb, ntp_time_source),
  GST_FAIRMIX_FIELD (PROP_ARRIVAL_FROM_DTS, GstRtpCcfb, arrival_from_dts),
  GST_FAIRMIX_FIELD (PROP_SHARE_THREAD, GstRtpCcfb, timed.shares_thread),
};

static void
gst_rtp_ccfb_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  if (id == PROP_SSRC)
    gst_rtp_ccfb_set_ssrc (GST_RTP_CCFB (object), g_value_get_uint (value));
  else
    gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
        value, pspec);
}

static void
gst_rtp_ccfb_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  if (id == PROP_STATS)
    g_value_take_boxed (value, gst_rtp_ccfb_create_stats (GST_RTP_CCFB
            (object)));
  else
    gst_fairmix_fields_get_property (fields, G_N_ELEMENTS (fields), object, id,
        value, pspec);
}

static void
gst_rtp_ccfb_finalize (GObject * object)
{
  GstRtpCcfb *self = GST_RTP_CCFB (object);

  gst_fairmix_timed_clear (&self->timed);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_rtp_ccfb_parent_class)->finalize (object);
}

static void
gst_rtp_ccfb_install_properties (GObjectClass * gobject_class)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = rw | GST_PARAM_MUTABLE_READY;
  FmxCcfbCollectorParams defaults;

  fmx_ccfb_collector_params_default (&defaults);

  /**
   * GstRtpCcfb:ssrc:
   *
   * Who the feedback comes from; best the SSRC of the session's own RTCP.
   *
   * Since: 0.1
   */
  properties[PROP_SSRC] = g_param_spec_uint ("ssrc", "SSRC",
      "SSRC of the feedback's sender (4294967295 = random)",
      0, G_MAXUINT, DEFAULT_SSRC, rw | GST_PARAM_MUTABLE_PLAYING);
  /**
   * GstRtpCcfb:min-interval:
   *
   * Since: 0.1
   */
  properties[PROP_MIN_INTERVAL] = g_param_spec_uint64 ("min-interval",
      "Minimum Interval", "Shortest time between two reports, in nanoseconds",
      GST_MSECOND, 10 * GST_SECOND, (guint64) defaults.min_interval, ready);
  /**
   * GstRtpCcfb:max-interval:
   *
   * Since: 0.1
   */
  properties[PROP_MAX_INTERVAL] = g_param_spec_uint64 ("max-interval",
      "Maximum Interval", "An arrival is reported within this time, whatever "
      "rate-fraction allows, in nanoseconds",
      GST_MSECOND, 10 * GST_SECOND, (guint64) defaults.max_interval, ready);
  /**
   * GstRtpCcfb:rate-fraction:
   *
   * Since: 0.1
   */
  properties[PROP_RATE_FRACTION] = g_param_spec_double ("rate-fraction",
      "Rate Fraction", "What feedback may take of the media's rate, both on "
      "the wire (1 = as much again)",
      0.001, 1.0, defaults.rate_fraction, ready);
  /**
   * GstRtpCcfb:max-ssrcs:
   *
   * Since: 0.1
   */
  properties[PROP_MAX_SSRCS] = g_param_spec_uint ("max-ssrcs",
      "Maximum SSRCs", "Streams that are remembered at a time, 2.7 kB each; "
      "a new one takes the place of the one that was silent longest",
      1, 65536, DEFAULT_MAX_SSRCS, ready);
  /**
   * GstRtpCcfb:mtu:
   *
   * Since: 0.1
   */
  properties[PROP_MTU] = g_param_spec_uint ("mtu", "MTU",
      "Largest RTCP packet to write, in bytes",
      FMX_CCFB_MIN_PACKET_BYTES, 65507, DEFAULT_MTU,
      rw | GST_PARAM_MUTABLE_PLAYING);
  /**
   * GstRtpCcfb:ntp-time-source:
   *
   * Since: 0.1
   */
  properties[PROP_NTP_TIME_SOURCE] = gst_fairmix_ntp_source_param_spec ();
  /**
   * GstRtpCcfb:arrival-from-dts:
   *
   * Whether a packet arrived at its DTS, a running time of the last second, where
   * `udpsrc socket-timestamp=realtime` puts the kernel's time.
   *
   * Since: 0.1
   */
  properties[PROP_ARRIVAL_FROM_DTS] = g_param_spec_boolean ("arrival-from-dts",
      "Arrival From DTS", "Take a DTS of the last second as the arrival time: "
      "for udpsrc socket-timestamp=realtime", DEFAULT_ARRIVAL_FROM_DTS, ready);
  /**
   * GstRtpCcfb:share-thread:
   *
   * For very many of these elements in one process.
   *
   * Since: 0.1
   */
  properties[PROP_SHARE_THREAD] = gst_fairmix_timed_share_thread_param_spec ();
  /**
   * GstRtpCcfb:stats:
   *
   * `application/x-fairmix-rtpccfb-stats`, see the page of the element.
   *
   * Since: 0.1
   */
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Packets, reports and bytes since the element started",
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (gobject_class, N_PROPERTIES, properties);
}

static void
gst_rtp_ccfb_class_init (GstRtpCcfbClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (rtp_ccfb_debug, "rtpccfb", 0,
      "RTP congestion control feedback (RFC 8888)");

  gobject_class->set_property = gst_rtp_ccfb_set_property;
  gobject_class->get_property = gst_rtp_ccfb_get_property;
  gobject_class->finalize = gst_rtp_ccfb_finalize;
  gst_rtp_ccfb_install_properties (gobject_class);

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_rtp_ccfb_change_state);
  element_class->set_clock = GST_DEBUG_FUNCPTR (gst_rtp_ccfb_set_clock);
  gst_fairmix_pads_install_rtp (element_class);
  gst_element_class_add_static_pad_template (element_class, &rtcp_src_template);
  gst_element_class_set_static_metadata (element_class,
      "RTP congestion control feedback", "Filter/Network/RTP",
      "Acknowledges RTP packets with RTCP feedback (RFC 8888)",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_FAIRMIX_NTP_SOURCE, 0);
}

static void
gst_rtp_ccfb_init (GstRtpCcfb * self)
{
  FmxCcfbCollectorParams defaults;

  self->sinkpad = gst_fairmix_pads_add_rtp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_chain),
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_chain_list),
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_sink_event), &self->srcpad);
  self->rtcp_srcpad =
      gst_pad_new_from_static_template (&rtcp_src_template, "rtcp_src");
  gst_pad_set_query_function (self->rtcp_srcpad,
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_rtcp_src_query));
  gst_pad_set_event_function (self->rtcp_srcpad,
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_rtcp_src_event));
  gst_pad_use_fixed_caps (self->rtcp_srcpad);

  gst_pad_set_iterate_internal_links_function (self->rtcp_srcpad,
      GST_DEBUG_FUNCPTR (gst_rtp_ccfb_iterate_nothing));

  gst_element_add_pad (GST_ELEMENT (self), self->rtcp_srcpad);

  fmx_ccfb_collector_params_default (&defaults);
  self->ssrc = DEFAULT_SSRC;
  self->min_interval = (guint64) defaults.min_interval;
  self->max_interval = (guint64) defaults.max_interval;
  self->rate_fraction = defaults.rate_fraction;
  self->max_ssrcs = DEFAULT_MAX_SSRCS;
  self->mtu = DEFAULT_MTU;
  self->ntp_time_source = DEFAULT_NTP_TIME_SOURCE;
  self->arrival_from_dts = DEFAULT_ARRIVAL_FROM_DTS;

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  gst_fairmix_timed_init (&self->timed, &gst_rtp_ccfb_funcs,
      GST_ELEMENT (self), &self->lock);
}
