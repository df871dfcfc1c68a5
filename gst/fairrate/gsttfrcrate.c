/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-tfrcrate
 * @title: tfrcrate
 *
 * Finds out how much a sender of RTP may send so that it is fair to TCP, for
 * all the streams (SSRCs) that pass together.  It sees each packet that leaves
 * (`sink` to `src`, before `rtpbin.send_rtp_sink_\%u`) and the RTCP that comes
 * back (`rtcp_sink` to `rtcp_src`, before `rtpbin.recv_rtcp_sink_\%u`): best
 * the per-packet feedback of #rtpccfb, else any receiver reports.
 *
 * The result is the property #GstTfrcRate:target-bitrate, a custom event
 * `fairmix-target-bitrate` that travels upstream (#partialmix obeys it), an
 * element message `fairmix-rate-decision` per decision, and the bitrate of
 * the encoder that #GstTfrcRate:encoder names.
 *
 * While the path carries nothing, media is dropped and one empty packet per
 * second probes it; sequence numbers stay continuous.
 *
 * ## Example
 * |[
 * gst-launch-1.0 rtpbin name=rtp \
 *   audiotestsrc is-live=true ! audioconvert ! opusenc name=enc ! rtpopuspay \
 *     ! tfrcrate name=cc encoder=enc max-bitrate=100000 ! rtp.send_rtp_sink_0 \
 *   rtp.send_rtp_src_0 ! udpsink host=127.0.0.1 port=5004 sync=false \
 *   rtp.send_rtcp_src_0 ! udpsink host=127.0.0.1 port=5005 sync=false async=false \
 *   udpsrc port=5007 caps=application/x-rtcp ! cc.rtcp_sink \
 *   cc.rtcp_src ! rtp.recv_rtcp_sink_0
 * ]|
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttfrcrate.h"

#include <math.h>

#include "gstrateparams.h"
#include "gstratestats.h"
#include "gstrtcpfeedback.h"
#include "gsttfrcratepass.h"
#include "gsttfrcratereports.h"
#include "gsttfrcratetell.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixpads.h"
#include "common/gstfairmixrtcp.h"
#include "common/gstfairmixrtp.h"
#include "fairmix/base/fmx-units.h"

#define GST_CAT_DEFAULT gst_tfrc_rate_debug

#define STATS_NAME "application/x-fairmix-tfrcrate-stats"

#define DEFAULT_ENCODER_FEC FALSE
#define DEFAULT_POLICY 0        /* the first of fmx_adapt_policy_classes */
#define DEFAULT_MAX_SSRCS 1024
#define DEFAULT_NTP_TIME_SOURCE GST_FAIRMIX_NTP_NTP

enum
{
  PROP_0,
  PROP_PARAMS,                  /* the first of those in gstrateparams.h */
  PROP_POLICY = PROP_PARAMS + GST_RATE_N_PARAMS,
  PROP_ENCODER,
  PROP_ENCODER_FEC,
  PROP_MAX_SSRCS,
  PROP_NTP_TIME_SOURCE,
  PROP_SHARE_THREAD,
  PROP_TWCC_EXT_ID,
  PROP_WEBRTCBIN,
  PROP_PACING,                  /* the first of those in gstpacing.h */
  PROP_LAST_PACING = PROP_PACING + GST_PACING_N_PARAMS - 1,
  PROP_TARGET_BITRATE,
  PROP_STATS
};


G_DEFINE_FINAL_TYPE (GstTfrcRate, gst_tfrc_rate, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (tfrcrate, "tfrcrate", GST_RANK_NONE,
    GST_TYPE_TFRC_RATE);

/* --- time --------------------------------------------------------------- */

static void
gst_tfrc_rate_complain (GstTfrcRate * self, const GstFeedbackWatch * watch)
{
  gchar *webrtcbin = gst_webrtc_tap_dup_name (self->tap);
  gchar *why = gst_webrtc_tap_why_not (self->tap);

  gst_feedback_watch_complain (watch, GST_ELEMENT (self),
      webrtcbin == NULL ? self->rtcp_sinkpad : NULL, why);
  g_free (why);
  g_free (webrtcbin);
}

static GstClockTime
gst_tfrc_rate_on_timeout (gpointer user_data, GstClockTime clock_time)
{
  GstTfrcRate *self = user_data;
  GstFeedbackWatch watch;
  gboolean complain, probe, waiting;
  GstClockTime deadline;
  FmxTime now;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->timed.started) {
    gst_fairmix_lock_release (&self->lock);
    return GST_CLOCK_TIME_NONE;
  }
  now = gst_tfrc_rate_now (self);
  fmx_rate_sender_on_timeout (self->sender, now);
  gst_tfrc_rate_follow (self, TRUE, now);
  complain = gst_feedback_watch_take_complaint (&self->watch, now);
  watch = self->watch;
  probe = fmx_rate_sender_has_probe (self->sender);
  /* whoever waits for it to drain has the stream, and pushes */
  waiting = self->drain_id == NULL && gst_pacing_due (&self->pacing) <= now;
  probe &= self->drain_id == NULL;
  gst_fairmix_lock_release (&self->lock);

  gst_tfrc_rate_tell (self);
  if (waiting)
    gst_tfrc_rate_push_waiting (self);
  if (probe)
    gst_tfrc_rate_push_probe (self);
  gst_webrtc_tap_check (self->tap);
  gst_tfrc_rate_find_webrtcbin (self);
  if (complain)
    gst_tfrc_rate_complain (self, &watch);

  gst_fairmix_lock_acquire (&self->lock);
  deadline = gst_tfrc_rate_deadline (self);
  gst_fairmix_lock_release (&self->lock);
  return MAX (deadline, clock_time + GST_MSECOND);
}

/* --- RTCP --------------------------------------------------------------- */

/* with the lock */
static void
gst_tfrc_rate_read_rtcp (GstTfrcRate * self, GstBuffer * buffer,
    guint32 ntp_mid32)
{
  FmxTime now = gst_tfrc_rate_now (self);
  FmxRateSenderStats before, after;

  fmx_rate_sender_get_stats (self->sender, &before, now);
  self->watch.n_rtcp++;
  if (!gst_rtcp_feedback_read (buffer, self->sender, &self->transport_wide,
          ntp_mid32, now)) {
    self->watch.n_malformed++;
    GST_DEBUG_OBJECT (self, "malformed RTCP: %" GST_PTR_FORMAT, buffer);
  }
  fmx_rate_sender_get_stats (self->sender, &after, now);
  if (after.n_feedback != before.n_feedback)
    gst_feedback_watch_on_feedback (&self->watch, after.feedback);
  self->protect_from = fmx_adapt_protection_on_loss (&self->protection,
      after.loss_fraction, now);
  self->feedback_void |= after.n_void != before.n_void;
  gst_tfrc_rate_follow (self, TRUE, now);
}

/* GstWebrtcTapFunc, and what comes to rtcp_sink */
static gboolean
gst_tfrc_rate_hear (GstElement * element, GstBuffer * buffer)
{
  GstTfrcRate *self = GST_TFRC_RATE (element);
  gboolean refused = gst_fairmix_rtcp_refuse (buffer, element,
      &self->warned_of_rtcp);
  GstFairmixNtpSource source;
  guint32 ntp_mid32;

  GST_OBJECT_LOCK (self);
  source = self->ntp_time_source;
  GST_OBJECT_UNLOCK (self);
  ntp_mid32 = gst_fairmix_ntp_mid32 (GST_ELEMENT (self), source);

  gst_fairmix_lock_acquire (&self->lock);
  if (refused) {
    self->watch.n_rtcp++;
    self->watch.n_malformed++;
    gst_fairmix_lock_release (&self->lock);
  } else if (self->timed.started) {
    gst_tfrc_rate_read_rtcp (self, buffer, ntp_mid32);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
  return !refused;
}

static GstFlowReturn
gst_tfrc_rate_rtcp_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstTfrcRate *self = GST_TFRC_RATE (parent);

  if (!gst_tfrc_rate_hear (GST_ELEMENT (self), buffer)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  return gst_fairmix_pads_push_rtcp (self->rtcp_srcpad, buffer);
}

/* --- element ------------------------------------------------------------ */

static void
gst_tfrc_rate_get_params (GstTfrcRate * self, FmxRateSenderParams * params)
{
  GST_OBJECT_LOCK (self);
  *params = self->params;
  GST_OBJECT_UNLOCK (self);

  gst_rate_params_normalize (params);
  params->sink = &self->sink;
}

static gboolean
gst_tfrc_rate_prepare (GstElement * element)
{
  gst_encoder_control_check (&GST_TFRC_RATE (element)->encoder, element);
  return TRUE;
}

/* with the lock */
static void
gst_tfrc_rate_start (GstElement * element)
{
  GstTfrcRate *self = GST_TFRC_RATE (element);
  FmxTime now = gst_tfrc_rate_now (self);
  FmxRateSenderParams params;
  guint max_ssrcs;

  gst_tfrc_rate_get_params (self, &params);
  GST_OBJECT_LOCK (self);
  max_ssrcs = self->max_ssrcs;
  GST_OBJECT_UNLOCK (self);
  self->sender = g_new (FmxRateSender, 1);
  params.seed = (guint64) g_random_int () << 32 | g_random_int ();
  fmx_rate_sender_init (self->sender, &params, now);
  gst_pacing_start (&self->pacing, now);
  gst_tfrc_rate_begin_policy (self);
  gst_tfrc_rate_follow (self, TRUE, now);
  fmx_adapt_encoder_init (&self->adapt_encoder);
  fmx_adapt_protection_init (&self->protection);
  self->protect_from = 0;
  self->encoder_bps = 0;
  self->seq_map = gst_rtp_seq_map_new (max_ssrcs);
  self->n_dropped = self->n_not_rtp = 0;
  gst_feedback_watch_init (&self->watch);
  self->tell_again = TRUE;
}

/* What was learned is of a path that is no more. */
static void
gst_tfrc_rate_change_path (GstTfrcRate * self)
{
  FmxRateSenderParams params;
  FmxTime now;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->timed.started) {
    gst_fairmix_lock_release (&self->lock);
    return;
  }
  now = gst_tfrc_rate_now (self);
  gst_tfrc_rate_get_params (self, &params);
  params.seed = (guint64) g_random_int () << 32 | g_random_int ();
  fmx_rate_sender_init (self->sender, &params, now);
  gst_tfrc_rate_begin_policy (self);
  gst_pacing_forget (&self->pacing);
  fmx_adapt_protection_init (&self->protection);
  self->protect_from = 0;
  gst_feedback_watch_init (&self->watch);
  gst_tfrc_rate_follow (self, TRUE, now);
  gst_tfrc_rate_unlock_and_tell (self);
}

/* What it has of what several over the same bottleneck have together. */
static void
gst_tfrc_rate_set_rate (GstTfrcRate * self, guint bitrate)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started && bitrate > 0) {
    FmxTime now = gst_tfrc_rate_now (self);

    fmx_rate_sender_set_bps (self->sender, bitrate, now);
    gst_tfrc_rate_follow (self, TRUE, now);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
}

/* Of several that are coupled it is to have so many times an equal part. */
static void
gst_tfrc_rate_set_share (GstTfrcRate * self, gdouble share)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started && share > 0.0 && isfinite (share)) {
    FmxTime now = gst_tfrc_rate_now (self);

    fmx_rate_sender_set_share (self->sender, share, now);
    gst_tfrc_rate_follow (self, TRUE, now);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
}

/* One of them gives way to see whether the queue is their own. */
static void
gst_tfrc_rate_drain_too (GstTfrcRate * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started)
    fmx_rate_sender_drain_too (self->sender);
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_tfrc_rate_disconnect (GstElement * element)
{
  gst_webrtc_tap_disconnect (GST_TFRC_RATE (element)->tap);
}

/* with the lock */
static void
gst_tfrc_rate_stop (GstElement * element)
{
  GstTfrcRate *self = GST_TFRC_RATE (element);

  self->has_segment = FALSE;
  self->wanted = self->lasting_wanted = 0;
  self->tell_again = self->adjust_encoder = self->feedback_void = FALSE;
  g_clear_pointer (&self->sender, g_free);
  g_clear_pointer (&self->seq_map, gst_rtp_seq_map_free);
  gst_transport_wide_clear (&self->transport_wide);
  gst_pacing_start (&self->pacing, 0);
  self->pacing.caps_id = 0;
  g_queue_clear_full (&self->decisions, (GDestroyNotify) gst_structure_free);
}

static const GstFairmixTimedFuncs gst_tfrc_rate_funcs = {
  .name = "tfrcrate",
  .needs = "round-trip times come from it",
  .prepare = gst_tfrc_rate_prepare,
  .start = gst_tfrc_rate_start,
  .disconnect = gst_tfrc_rate_disconnect,
  .stop = gst_tfrc_rate_stop,
  .on_timeout = gst_tfrc_rate_on_timeout,
};

static GstStateChangeReturn
gst_tfrc_rate_change_state (GstElement * element, GstStateChange transition)
{
  GstTfrcRate *self = GST_TFRC_RATE (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED
      || transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_tfrc_rate_set_flushing (self,
        transition == GST_STATE_CHANGE_PAUSED_TO_READY);
  ret = gst_fairmix_timed_change_state (&self->timed, transition,
      gst_tfrc_rate_parent_class);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_tfrc_rate_tell (self);
  return ret;
}

static gboolean
gst_tfrc_rate_set_clock (GstElement * element, GstClock * clock)
{
  return gst_fairmix_timed_set_clock (&GST_TFRC_RATE (element)->timed, clock,
      gst_tfrc_rate_parent_class);
}

static GstStructure *
gst_tfrc_rate_create_stats (GstTfrcRate * self)
{
  FmxRateSenderStats stats = { 0 };
  FmxDelayShapeStats shape = { 0 };
  GstStructure *s;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    fmx_rate_sender_get_stats (self->sender, &stats, gst_tfrc_rate_now (self));
    fmx_rate_sender_get_delay_shape (self->sender, &shape);
  }
  stats.n_impossible += gst_transport_wide_n_impossible (&self->transport_wide);
  s = gst_rate_stats_to_structure (STATS_NAME, &stats);
  gst_rate_stats_add_shape (s, &shape);
  gst_structure_set (s,
      "target-bitrate", G_TYPE_UINT, self->target,
      "n-dropped", G_TYPE_UINT64, self->n_dropped,
      "n-not-rtp", G_TYPE_UINT64, self->n_not_rtp,
      "n-rtcp", G_TYPE_UINT64, self->watch.n_rtcp,
      "n-malformed-rtcp", G_TYPE_UINT64, self->watch.n_malformed,
      "twcc-ext-id", G_TYPE_UINT,
      gst_transport_wide_get_id (&self->transport_wide),
      "n-not-numbered", G_TYPE_UINT64,
      gst_transport_wide_n_not_numbered (&self->transport_wide), NULL);
  gst_pacing_add_stats (&self->pacing, s, self->timed.started
      ? gst_tfrc_rate_now (self) : 0);
  gst_fairmix_lock_release (&self->lock);
  return s;
}

/* The parameters have changed.  They are read with the lock, so that who comes
 * last brings the latest. */
static void
gst_tfrc_rate_update_params (GstTfrcRate * self)
{
  FmxRateSenderParams params;

  gst_fairmix_lock_acquire (&self->lock);
  gst_tfrc_rate_get_params (self, &params);
  if (self->timed.started) {
    FmxTime now = gst_tfrc_rate_now (self);

    fmx_rate_sender_set_params (self->sender, &params, now);
    gst_tfrc_rate_follow (self, FALSE, now);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
}

/* with the lock, which it releases: policy, or what may wait, has changed */
static void
gst_tfrc_rate_update_policy (GstTfrcRate * self)
{
  if (self->timed.started) {
    gst_tfrc_rate_begin_policy (self);
    gst_tfrc_rate_follow (self, TRUE, gst_tfrc_rate_now (self));
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
}

static void
gst_tfrc_rate_set_policy (GstTfrcRate * self, const FmxAdaptPolicyClass * klass)
{
  gst_fairmix_lock_acquire (&self->lock);
  GST_OBJECT_LOCK (self);
  self->policy_params.klass = klass;
  GST_OBJECT_UNLOCK (self);
  gst_tfrc_rate_update_policy (self);
}

static gint
gst_tfrc_rate_get_policy (GstTfrcRate * self)
{
  const FmxAdaptPolicyClass *klass;

  GST_OBJECT_LOCK (self);
  klass = self->policy_params.klass;
  GST_OBJECT_UNLOCK (self);
  return gst_rate_params_policy_index (klass);
}

static void
gst_tfrc_rate_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstTfrcRate *self = GST_TFRC_RATE (object);

  switch (id) {
    case PROP_POLICY:
      gst_tfrc_rate_set_policy (self,
          fmx_adapt_policy_classes[g_value_get_enum (value)]);
      break;
    case PROP_ENCODER_FEC:
      gst_fairmix_lock_acquire (&self->lock);
      self->encoder_fec = g_value_get_boolean (value);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_ENCODER:
      gst_encoder_control_set_name (&self->encoder, g_value_get_string (value));
      gst_fairmix_lock_acquire (&self->lock);
      self->adjust_encoder = self->timed.started;
      gst_fairmix_lock_release (&self->lock);
      gst_tfrc_rate_tell (self);
      break;
    case PROP_MAX_SSRCS:
      GST_OBJECT_LOCK (self);
      self->max_ssrcs = g_value_get_uint (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_NTP_TIME_SOURCE:
      GST_OBJECT_LOCK (self);
      self->ntp_time_source = g_value_get_enum (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_SHARE_THREAD:
      GST_OBJECT_LOCK (self);
      self->timed.shares_thread = g_value_get_boolean (value);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_TWCC_EXT_ID:
      gst_fairmix_lock_acquire (&self->lock);
      gst_transport_wide_set_id (&self->transport_wide,
          g_value_get_uint (value));
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_PACING:
    case PROP_LAST_PACING:
      gst_fairmix_lock_acquire (&self->lock);
      gst_pacing_set (&self->pacing, id - PROP_PACING, value);
      gst_tfrc_rate_update_policy (self);
      break;
    case PROP_WEBRTCBIN:
      gst_webrtc_tap_set_name (self->tap, g_value_get_string (value));
      break;
    default:
      if (id < PROP_PARAMS || id >= PROP_PARAMS + GST_RATE_N_PARAMS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_rate_params_set (&self->params, id - PROP_PARAMS, value);
      GST_OBJECT_UNLOCK (self);
      gst_tfrc_rate_update_params (self);
      break;
  }
}

static void
gst_tfrc_rate_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstTfrcRate *self = GST_TFRC_RATE (object);

  switch (id) {
    case PROP_POLICY:
      g_value_set_enum (value, gst_tfrc_rate_get_policy (self));
      break;
    case PROP_ENCODER_FEC:
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_boolean (value, self->encoder_fec);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_ENCODER:
      g_value_take_string (value,
          gst_encoder_control_dup_name (&self->encoder));
      break;
    case PROP_MAX_SSRCS:
      GST_OBJECT_LOCK (self);
      g_value_set_uint (value, self->max_ssrcs);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_NTP_TIME_SOURCE:
      GST_OBJECT_LOCK (self);
      g_value_set_enum (value, self->ntp_time_source);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_SHARE_THREAD:
      GST_OBJECT_LOCK (self);
      g_value_set_boolean (value, self->timed.shares_thread);
      GST_OBJECT_UNLOCK (self);
      break;
    case PROP_TWCC_EXT_ID:
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_uint (value, self->transport_wide.chosen_id);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_PACING:
    case PROP_LAST_PACING:
      gst_fairmix_lock_acquire (&self->lock);
      gst_pacing_get (&self->pacing, id - PROP_PACING, value);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_WEBRTCBIN:
      g_value_take_string (value, gst_webrtc_tap_dup_name (self->tap));
      break;
    case PROP_TARGET_BITRATE:
      gst_fairmix_lock_acquire (&self->lock);
      g_value_set_uint (value, self->target);
      gst_fairmix_lock_release (&self->lock);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_tfrc_rate_create_stats (self));
      break;
    default:
      if (id < PROP_PARAMS || id >= PROP_PARAMS + GST_RATE_N_PARAMS) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
        break;
      }
      GST_OBJECT_LOCK (self);
      gst_rate_params_get (&self->params, id - PROP_PARAMS, value);
      GST_OBJECT_UNLOCK (self);
      break;
  }
}

static void
gst_tfrc_rate_finalize (GObject * object)
{
  GstTfrcRate *self = GST_TFRC_RATE (object);

  gst_fairmix_timed_clear (&self->timed);
  gst_encoder_control_clear (&self->encoder);
  gst_webrtc_tap_free (self->tap);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_tfrc_rate_parent_class)->finalize (object);
}

static void
gst_tfrc_rate_install_rtcp_properties (GObjectClass * gobject_class)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  /**
   * GstTfrcRate:ntp-time-source:
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_NTP_TIME_SOURCE,
      gst_fairmix_ntp_source_param_spec ());
  /**
   * GstTfrcRate:share-thread:
   *
   * For very many of these elements in one process.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_SHARE_THREAD,
      gst_fairmix_timed_share_thread_param_spec ());
  /**
   * GstTfrcRate:twcc-ext-id:
   *
   * Browsers acknowledge packets that carry this extension; with 0 it is
   * taken from an `extmap` in the caps, and nothing is written if there is none.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_TWCC_EXT_ID,
      g_param_spec_uint ("twcc-ext-id", "Transport-wide Extension ID",
          "RTP header extension to write transport-wide sequence numbers into, "
          "as it was negotiated (0 = as the caps say, or none)", 0, 255, 0,
          rw | GST_PARAM_MUTABLE_PLAYING));
  /**
   * GstTfrcRate:webrtcbin:
   *
   * The nearest element of this name, in the own bin first, then upwards; may be
   * added later.  Streams must be bundled.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_WEBRTCBIN,
      g_param_spec_string ("webrtcbin", "WebRTC bin",
          "Name of the webrtcbin that this element sends through: its RTCP is "
          "heard there, rtcp_sink need not be linked", NULL,
          rw | GST_PARAM_MUTABLE_PLAYING));
}

static void
gst_tfrc_rate_install_properties (GObjectClass * gobject_class)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  gst_rate_params_install (gobject_class, PROP_PARAMS);
  gst_tfrc_rate_install_rtcp_properties (gobject_class);
  gst_pacing_install (gobject_class, PROP_PACING);
  /**
   * GstTfrcRate:policy:
   *
   * What the media makes of a rate that rises and falls: `aggressive` follows
   * it, the others smooth it.  None is above it unless max-pacing-delay lets packets
   * wait: they do not leave faster than the algorithm allows.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_POLICY,
      g_param_spec_enum ("policy", "Policy",
          "How target-bitrate follows the rate that the algorithm allows",
          GST_TYPE_TFRC_RATE_POLICY, DEFAULT_POLICY,
          rw | GST_PARAM_MUTABLE_PLAYING));
  /**
   * GstTfrcRate:encoder:
   *
   * The nearest element of this name, searched in the own bin first, then
   * upwards.  One encoder for one stream on the pad.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_ENCODER,
      gst_encoder_control_param_spec ());
  /**
   * GstTfrcRate:encoder-fec:
   *
   * Only of use where receivers decode in-band FEC, as partialmix does.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_ENCODER_FEC,
      g_param_spec_boolean ("encoder-fec", "Encoder FEC",
          "Set inband-fec and packet-loss-percentage of the encoder from the loss "
          "that receivers report: off below 1 %", DEFAULT_ENCODER_FEC,
          rw | GST_PARAM_MUTABLE_PLAYING));
  /**
   * GstTfrcRate:max-ssrcs:
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_MAX_SSRCS,
      g_param_spec_uint ("max-ssrcs", "Maximum SSRCs",
          "Streams whose numbering is remembered at a time; a new one takes "
          "the place of the one that was silent longest",
          1, 65536, DEFAULT_MAX_SSRCS, rw | GST_PARAM_MUTABLE_READY));
  /**
   * GstTfrcRate:target-bitrate:
   *
   * Notifies, from any thread.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_TARGET_BITRATE,
      g_param_spec_uint ("target-bitrate", "Target Bitrate",
          "What may be sent, all streams together, in bits/s on the wire, IP "
          "and UDP headers included (0 = no media now)",
          0, G_MAXUINT, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  /**
   * GstTfrcRate:stats:
   *
   * `application/x-fairmix-tfrcrate-stats`, see the page of the element.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "State, rates in bits/s on the wire, round-trip times in "
          "nanoseconds, loss, counters", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_tfrc_rate_class_init (GstTfrcRateClass * klass)
{
  GObjectClass *gobject_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_tfrc_rate_debug, "tfrcrate", 0,
      "TCP-fair rate of an RTP sender");

  gobject_class->set_property = gst_tfrc_rate_set_property;
  gobject_class->get_property = gst_tfrc_rate_get_property;
  gobject_class->finalize = gst_tfrc_rate_finalize;
  gst_tfrc_rate_install_properties (gobject_class);
  /**
   * GstTfrcRate::change-path:
   *
   * From now on the packets go elsewhere: begins anew, at initial-bitrate, and believes
   * who answers there.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("change-path", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_tfrc_rate_change_path), NULL, NULL, NULL, G_TYPE_NONE, 0);
  /**
   * GstTfrcRate::set-rate:
   * @bitrate: in bits/s on the wire
   *
   * For who couples several over the same bottleneck (RFC 8699): the algorithm goes on
   * from here, within min-bitrate and max-bitrate.  Nothing while the path is probed.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("set-rate", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_tfrc_rate_set_rate),
      NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  /**
   * GstTfrcRate::set-share:
   * @share: times an equal part, > 0; 1 from the start, and after change-path
   *
   * For who couples several by weight: the algorithm goes on as if it had an equal part of
   * what they have together.  The rate stays what it is.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("set-share", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_tfrc_rate_set_share),
      NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_DOUBLE);
  /**
   * GstTfrcRate::drain-too:
   *
   * For who couples several: n-drains of another grew, which cut its rate to see whether
   * the queue is its own.  It is, and drains, only if all of them do.
   *
   * Since: 0.1
   */
  g_signal_new_class_handler ("drain-too", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_tfrc_rate_drain_too),
      NULL, NULL, NULL, G_TYPE_NONE, 0);

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_tfrc_rate_change_state);
  element_class->set_clock = GST_DEBUG_FUNCPTR (gst_tfrc_rate_set_clock);
  gst_fairmix_pads_install_rtp (element_class);
  gst_fairmix_pads_install_rtcp (element_class);
  gst_element_class_set_static_metadata (element_class,
      "TCP-fair RTP rate control", "Filter/Network/RTP",
      "Finds the rate at which RTP streams are fair to TCP",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_TFRC_RATE_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_TFRC_RATE_POLICY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_FAIRMIX_NTP_SOURCE, 0);
}

static void
gst_tfrc_rate_add_pads (GstTfrcRate * self)
{
  self->sinkpad = gst_fairmix_pads_add_rtp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_tfrc_rate_chain),
      GST_DEBUG_FUNCPTR (gst_tfrc_rate_chain_list),
      GST_DEBUG_FUNCPTR (gst_tfrc_rate_sink_event), &self->srcpad);
  gst_pad_set_query_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_tfrc_rate_sink_query));
  self->rtcp_sinkpad = gst_fairmix_pads_add_rtcp (GST_ELEMENT (self),
      GST_DEBUG_FUNCPTR (gst_tfrc_rate_rtcp_chain), &self->rtcp_srcpad);
}

static void
gst_tfrc_rate_init (GstTfrcRate * self)
{
  gst_tfrc_rate_add_pads (self);

  gst_rate_params_default (&self->params);
  fmx_adapt_policy_params_default (&self->policy_params);
  self->policy_params.klass = fmx_adapt_policy_classes[DEFAULT_POLICY];
  self->max_ssrcs = DEFAULT_MAX_SSRCS;
  self->ntp_time_source = DEFAULT_NTP_TIME_SOURCE;
  gst_encoder_control_init (&self->encoder);
  self->tap = gst_webrtc_tap_new (GST_ELEMENT (self), gst_tfrc_rate_hear);

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  gst_tfrc_rate_watch_reports (self);
  gst_pacing_init (&self->pacing);
  g_queue_init (&self->decisions);
  self->sink.emit = gst_tfrc_rate_on_event;
  self->sink.user = self;
  gst_fairmix_timed_init (&self->timed, &gst_tfrc_rate_funcs,
      GST_ELEMENT (self), &self->lock);
}
