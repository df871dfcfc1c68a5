/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-qmjitterbuffer
 * @title: qmjitterbuffer
 *
 * A jitter buffer whose delay follows the path by queue monitoring: it grows
 * when a packet is late, and shrinks when the queue has stood longer than the
 * jitter asks for.  It takes the place of rtpjitterbuffer in rtpbin (signal
 * request-jitterbuffer, or the element qmrtpbin) and has its properties,
 * signals and pads.
 *
 * Inside is a stock rtpjitterbuffer, which puts packets in order, asks for
 * retransmissions and handles RTCP; behind it the playout stage moves
 * timestamps and marks each move with DISCONT and RESYNC.  The latency that is
 * reported stays constant: the delay is in the timestamps.
 *
 * With #GstQmJitterBuffer:adaptation off, with a mode other than slave, and
 * with #GstQmJitterBuffer:rfc7273-sync on, it is a plain rtpjitterbuffer.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=96" ! qmjitterbuffer ! rtpopusdepay ! opusdec ! autoaudiosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmjitterbuffer.h"

#include "gstqmproxy.h"
#include "gstqmtypes.h"
#include "gstqmstage.h"
#include "common/gstfairmixrtcp.h"

GST_DEBUG_CATEGORY_STATIC (gst_qm_jitter_buffer_debug);
#define GST_CAT_DEFAULT gst_qm_jitter_buffer_debug

/* 73 years, so that sums of it and of times stay numbers */
#define MAX_TS_OFFSET (G_MAXINT64 / 4)
#define DEFAULT_LATENCY_MS 200
#define DEFAULT_MAX_OFFSET (40 * GST_MSECOND)
#define MAX_DELAY_MS 4000

enum
{
  PROP_0,
  PROP_LATENCY,
  PROP_DROP_ON_LATENCY,
  PROP_TS_OFFSET,
  PROP_MODE,
  PROP_DO_RETRANSMISSION,
  PROP_RFC7273_SYNC,
  PROP_MAX_TS_OFFSET_ADJUSTMENT,
  PROP_STATS,
  PROP_ADAPTATION,
  PROP_THRESHOLD,
  PROP_THRESHOLD_TIME,
  PROP_LENGTH,
  PROP_DECAY,
  PROP_AFTER_DROP,
  PROP_MEMORY_TIME,
  PROP_MIN_DELAY,
  PROP_MAX_DELAY,
  PROP_TIMING,
  PROP_SHRINK,
  PROP_SYNC_GROUP,
  PROP_MAX_OFFSET,
  PROP_DELAY,
  PROP_PROXIED
};

enum
{
  SIGNAL_REQUEST_PT_MAP,
  SIGNAL_HANDLE_SYNC,
  SIGNAL_ON_NPT_STOP,
  SIGNAL_CLEAR_PT_MAP,
  SIGNAL_SET_ACTIVE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

struct _GstQmJitterBuffer
{
  GstBin parent;

  GstElement *inner;
  GstQmStage *stage;
  GstPad *sinkpad, *srcpad;

  /* Properties: under the object lock */
  GstQmPlayoutSettings settings;
  guint latency_ms;
  gboolean drop_on_latency;
  gint mode;
  gboolean rfc7273_sync;
  gboolean adaptation;
  guint threshold;
  gchar *sync_group;
  GstClockTime max_offset;
  gboolean applying;            /* a thread hands them over ... */
  gboolean set_since;           /* ... and has to do so once more */

  gint warned_of_rtcp;          /* atomic, as what follows */
  gint n_malformed_rtcp;
  gint sink_rtcp_is_taken;
};

G_DEFINE_TYPE_WITH_CODE (GstQmJitterBuffer, gst_qm_jitter_buffer,
    GST_TYPE_BIN,
    GST_DEBUG_CATEGORY_INIT (gst_qm_jitter_buffer_debug, "qmjitterbuffer", 0,
        "queue-monitoring jitter buffer"));
GST_ELEMENT_REGISTER_DEFINE (qmjitterbuffer, "qmjitterbuffer", GST_RANK_NONE,
    GST_TYPE_QM_JITTER_BUFFER);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate sink_rtcp_template =
GST_STATIC_PAD_TEMPLATE ("sink_rtcp",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtcp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));

/* --- settings --- */

/* with the object lock */
static gboolean
gst_qm_jitter_buffer_is_active (GstQmJitterBuffer * self)
{
  return self->adaptation && self->mode == GST_QM_MODE_SLAVE
      && !self->rfc7273_sync;
}

/* with the object lock */
static void
gst_qm_jitter_buffer_read_settings (GstQmJitterBuffer * self,
    GstQmPlayoutSettings * settings)
{
  *settings = self->settings;
  settings->active = gst_qm_jitter_buffer_is_active (self);
  settings->fixed_delay = self->latency_ms * GST_MSECOND;
  settings->playout.max_delay =
      MAX (settings->playout.max_delay, settings->playout.min_delay);
  if (self->threshold > 0) {
    settings->playout.threshold = self->threshold;
    settings->playout.threshold_time = 0;
  }
}

static void
on_stage_changed (gpointer self)
{
  gst_qm_jitter_buffer_share_delay (self);
}

/* What else is handed over */
typedef struct
{
  gboolean drop_on_latency, rfc7273_sync, grouped;
  gint mode;
} Rest;

static void
gst_qm_jitter_buffer_hand_over (GstQmJitterBuffer * self,
    const GstQmPlayoutSettings * settings, const Rest * rest)
{
  GstQmPlayoutSettings old;

  gst_qm_stage_get_settings (self->stage, &old);
  g_object_set (self->inner, "drop-on-latency", rest->drop_on_latency,
      "do-retransmission", settings->retransmission, "rfc7273-sync",
      rest->rfc7273_sync, NULL);
  gst_qm_stage_set_mode (self->stage, rest->mode);
  gst_qm_stage_set_settings (self->stage, settings);
  gst_qm_stage_set_changed_callback (self->stage,
      rest->grouped ? on_stage_changed : NULL, self);
  if (!rest->grouped)
    gst_qm_stage_set_offset_floor (self->stage, 0);
  if (settings->active != old.active)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_latency (GST_OBJECT (self)));
}

/* Hands what was set to the two elements inside.  While the delay adapts, the
 * inner one's latency is the stage's business.  One thread at a time: what was
 * set last is handed over last. */
static void
gst_qm_jitter_buffer_apply (GstQmJitterBuffer * self)
{
  if (self->inner == NULL)
    return;
  GST_OBJECT_LOCK (self);
  self->set_since = TRUE;
  while (self->set_since && !self->applying) {
    GstQmPlayoutSettings settings;
    Rest rest;

    gst_qm_jitter_buffer_read_settings (self, &settings);
    rest.drop_on_latency = self->drop_on_latency && !settings.active;
    rest.rfc7273_sync = self->rfc7273_sync;
    rest.grouped = self->sync_group != NULL;
    rest.mode = self->mode;
    self->applying = TRUE;
    self->set_since = FALSE;
    GST_OBJECT_UNLOCK (self);
    gst_qm_jitter_buffer_hand_over (self, &settings, &rest);
    GST_OBJECT_LOCK (self);
    self->applying = FALSE;
  }
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_qm_jitter_buffer_set_inner_property (GstQmJitterBuffer * self, guint id,
    const GValue * value)
{
  switch (id) {
    case PROP_LATENCY:
      self->latency_ms = g_value_get_uint (value);
      break;
    case PROP_DROP_ON_LATENCY:
      self->drop_on_latency = g_value_get_boolean (value);
      break;
    case PROP_TS_OFFSET:
      self->settings.ts_offset = CLAMP (g_value_get_int64 (value),
          -MAX_TS_OFFSET, MAX_TS_OFFSET);
      break;
    case PROP_DO_RETRANSMISSION:
      self->settings.retransmission = g_value_get_boolean (value);
      break;
    case PROP_MODE:
      self->mode = g_value_get_enum (value);
      break;
    case PROP_RFC7273_SYNC:
      self->rfc7273_sync = g_value_get_boolean (value);
      break;
    case PROP_MAX_TS_OFFSET_ADJUSTMENT:
      self->settings.max_ts_offset_adjustment = g_value_get_uint64 (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

static gboolean
gst_qm_jitter_buffer_set_own_property (GstQmJitterBuffer * self, guint id,
    const GValue * value)
{
  FmxPlayoutParams *playout = &self->settings.playout;

  switch (id) {
    case PROP_ADAPTATION:
      self->adaptation = g_value_get_boolean (value);
      break;
    case PROP_THRESHOLD:
      self->threshold = g_value_get_uint (value);
      break;
    case PROP_THRESHOLD_TIME:
      playout->threshold_time = g_value_get_uint (value) * FMX_MSECOND;
      break;
    case PROP_LENGTH:
      playout->length = g_value_get_uint (value);
      break;
    case PROP_DECAY:
      playout->decay = g_value_get_double (value);
      break;
    case PROP_AFTER_DROP:
      playout->after_drop = g_value_get_enum (value);
      break;
    case PROP_MEMORY_TIME:
      playout->memory = g_value_get_uint (value) * FMX_MSECOND;
      break;
    case PROP_MIN_DELAY:
      playout->min_delay = g_value_get_uint (value) * FMX_MSECOND;
      break;
    case PROP_MAX_DELAY:
      playout->max_delay = g_value_get_uint (value) * FMX_MSECOND;
      break;
    case PROP_TIMING:
      self->settings.timing = g_value_get_enum (value);
      break;
    case PROP_SHRINK:
      self->settings.shrink = g_value_get_enum (value);
      break;
    case PROP_SYNC_GROUP:
      g_free (self->sync_group);
      self->sync_group = g_value_dup_string (value);
      break;
    case PROP_MAX_OFFSET:
      self->max_offset = g_value_get_uint64 (value);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

static void
gst_qm_jitter_buffer_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (object);
  gboolean changed;
  guint old_latency_ms;

  if (self->inner == NULL)
    return;
  if (id >= PROP_PROXIED) {
    gst_qm_stage_set_inner_property (self->stage, value, pspec);
    return;
  }
  GST_OBJECT_LOCK (self);
  old_latency_ms = self->latency_ms;
  if (!gst_qm_jitter_buffer_set_inner_property (self, id, value)
      && !gst_qm_jitter_buffer_set_own_property (self, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  changed = old_latency_ms != self->latency_ms;
  GST_OBJECT_UNLOCK (self);

  gst_qm_jitter_buffer_apply (self);
  if (id == PROP_SYNC_GROUP || id == PROP_MAX_OFFSET
      || (id == PROP_LATENCY && changed))
    gst_qm_jitter_buffer_share_delay (self);
}

static GstStructure *
gst_qm_jitter_buffer_make_stats (GstQmJitterBuffer * self)
{
  GstStructure *stats = NULL;
  GstQmPlayoutSettings settings;

  g_object_get (self->inner, "stats", &stats, NULL);
  if (stats == NULL)
    stats = gst_structure_new_empty ("application/x-rtp-jitterbuffer-stats");
  gst_qm_stage_get_settings (self->stage, &settings);
  gst_structure_set (stats, "qm-active", G_TYPE_BOOLEAN, settings.active,
      "n-malformed-rtcp", G_TYPE_UINT64,
      (guint64) (guint) g_atomic_int_get (&self->n_malformed_rtcp), NULL);
  gst_qm_stage_add_stats (self->stage, stats);
  return stats;
}

static gboolean
gst_qm_jitter_buffer_get_inner_property (GstQmJitterBuffer * self, guint id,
    GValue * value)
{
  switch (id) {
    case PROP_LATENCY:
      g_value_set_uint (value, self->latency_ms);
      break;
    case PROP_DROP_ON_LATENCY:
      g_value_set_boolean (value, self->drop_on_latency);
      break;
    case PROP_TS_OFFSET:
      g_value_set_int64 (value, self->settings.ts_offset);
      break;
    case PROP_DO_RETRANSMISSION:
      g_value_set_boolean (value, self->settings.retransmission);
      break;
    case PROP_MODE:
      g_value_set_enum (value, self->mode);
      break;
    case PROP_RFC7273_SYNC:
      g_value_set_boolean (value, self->rfc7273_sync);
      break;
    case PROP_MAX_TS_OFFSET_ADJUSTMENT:
      g_value_set_uint64 (value, self->settings.max_ts_offset_adjustment);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

static gboolean
gst_qm_jitter_buffer_get_own_property (GstQmJitterBuffer * self, guint id,
    GValue * value)
{
  const FmxPlayoutParams *playout = &self->settings.playout;

  switch (id) {
    case PROP_ADAPTATION:
      g_value_set_boolean (value, self->adaptation);
      break;
    case PROP_THRESHOLD:
      g_value_set_uint (value, self->threshold);
      break;
    case PROP_THRESHOLD_TIME:
      g_value_set_uint (value, playout->threshold_time / FMX_MSECOND);
      break;
    case PROP_LENGTH:
      g_value_set_uint (value, playout->length);
      break;
    case PROP_DECAY:
      g_value_set_double (value, playout->decay);
      break;
    case PROP_AFTER_DROP:
      g_value_set_enum (value, playout->after_drop);
      break;
    case PROP_MEMORY_TIME:
      g_value_set_uint (value, playout->memory / FMX_MSECOND);
      break;
    case PROP_MIN_DELAY:
      g_value_set_uint (value, playout->min_delay / FMX_MSECOND);
      break;
    case PROP_MAX_DELAY:
      g_value_set_uint (value, playout->max_delay / FMX_MSECOND);
      break;
    case PROP_TIMING:
      g_value_set_enum (value, self->settings.timing);
      break;
    case PROP_SHRINK:
      g_value_set_enum (value, self->settings.shrink);
      break;
    case PROP_SYNC_GROUP:
      g_value_set_string (value, self->sync_group);
      break;
    case PROP_MAX_OFFSET:
      g_value_set_uint64 (value, self->max_offset);
      break;
    default:
      return FALSE;
  }
  return TRUE;
}

static void
gst_qm_jitter_buffer_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (object);
  gboolean known;

  if (self->inner == NULL)
    return;
  if (id >= PROP_PROXIED) {
    gst_qm_proxy_get (G_OBJECT (self->inner), value, pspec);
  } else if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_qm_jitter_buffer_make_stats (self));
  } else if (id == PROP_DELAY) {
    g_value_set_uint64 (value, gst_qm_stage_get_delay (self->stage));
  } else {
    GST_OBJECT_LOCK (self);
    known = gst_qm_jitter_buffer_get_inner_property (self, id, value)
        || gst_qm_jitter_buffer_get_own_property (self, id, value);
    GST_OBJECT_UNLOCK (self);
    if (!known)
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
}

/* --- signals --- */

static GstCaps *
on_request_pt_map (GstElement * inner, guint pt, GstQmJitterBuffer * self)
{
  GstCaps *caps = NULL;
  gint clock_rate;

  g_signal_emit (self, signals[SIGNAL_REQUEST_PT_MAP], 0, pt, &caps);
  if (caps != NULL && !gst_caps_is_empty (caps) && pt < 128
      && gst_structure_get_int (gst_caps_get_structure (caps, 0),
          "clock-rate", &clock_rate))
    gst_qm_stage_set_clock_rate (self->stage, pt, clock_rate);
  return caps;
}

static void
on_handle_sync (GstElement * inner, GstStructure * s, GstQmJitterBuffer * self)
{
  g_signal_emit (self, signals[SIGNAL_HANDLE_SYNC], 0, s);
}

static void
on_npt_stop (GstElement * inner, GstQmJitterBuffer * self)
{
  g_signal_emit (self, signals[SIGNAL_ON_NPT_STOP], 0);
}

static void
gst_qm_jitter_buffer_clear_pt_map (GstQmJitterBuffer * self)
{
  if (self->inner != NULL)
    g_signal_emit_by_name (self->inner, "clear-pt-map");
}

static guint64
gst_qm_jitter_buffer_set_active (GstQmJitterBuffer * self, gboolean active,
    guint64 offset)
{
  return self->inner != NULL ?
      gst_qm_stage_set_active (self->stage, active, offset) : 0;
}

/* --- groups --- */

static GList *
gst_qm_jitter_buffer_list_group (GstQmJitterBuffer * self, GstBin * parent,
    const gchar * group)
{
  GList *members = NULL;

  GST_OBJECT_LOCK (parent);
  for (GList * l = parent->children; l != NULL; l = l->next)
    if (GST_IS_QM_JITTER_BUFFER (l->data))
      members = g_list_prepend (members, gst_object_ref (l->data));
  GST_OBJECT_UNLOCK (parent);
  for (GList * l = members; l != NULL;) {
    GList *next = l->next;
    GstQmJitterBuffer *other = l->data;
    gboolean same;

    GST_OBJECT_LOCK (other);
    same = g_strcmp0 (other->sync_group, group) == 0;
    GST_OBJECT_UNLOCK (other);
    if (!same) {
      members = g_list_delete_link (members, l);
      gst_object_unref (other);
    }
    l = next;
  }
  return members;
}

void
gst_qm_jitter_buffer_share_delay (GstQmJitterBuffer * self)
{
  GstObject *parent = gst_object_get_parent (GST_OBJECT (self));
  GstClockTimeDiff need = 0;
  GList *members;
  gchar *group;

  GST_OBJECT_LOCK (self);
  group = g_strdup (self->sync_group);
  GST_OBJECT_UNLOCK (self);
  if (parent != NULL && group != NULL && GST_IS_BIN (parent)) {
    members = gst_qm_jitter_buffer_list_group (self, GST_BIN (parent), group);
    for (GList * l = members; l != NULL; l = l->next) {
      GstQmPlayoutOffsets offsets;

      gst_qm_stage_get_offsets (GST_QM_JITTER_BUFFER (l->data)->stage,
          &offsets);
      need = MAX (need, offsets.need);
    }
    for (GList * l = members; l != NULL; l = l->next) {
      GstQmJitterBuffer *other = l->data;
      GstClockTimeDiff max_offset;

      GST_OBJECT_LOCK (other);
      max_offset = MIN (other->max_offset, G_MAXINT64);
      GST_OBJECT_UNLOCK (other);
      gst_qm_stage_set_offset_floor (other->stage, need - max_offset);
    }
    g_list_free_full (members, gst_object_unref);
  }
  g_free (group);
  gst_clear_object (&parent);
}

/* --- bin --- */

static GstMessage *
gst_qm_jitter_buffer_copy_message (GstQmJitterBuffer * self,
    GstMessage * message)
{
  const GstStructure *s = gst_message_get_structure (message);
  GstMessage *copy = gst_message_new_custom (GST_MESSAGE_TYPE (message),
      GST_OBJECT (self), s != NULL ? gst_structure_copy (s) : NULL);

  gst_message_set_seqnum (copy, gst_message_get_seqnum (message));
  return copy;
}

/* A latency that follows the delay is nobody's business. */
static gboolean
gst_qm_jitter_buffer_keeps_quiet (GstQmJitterBuffer * self,
    GstMessage * message)
{
  gboolean active;

  GST_OBJECT_LOCK (self);
  active = gst_qm_jitter_buffer_is_active (self);
  GST_OBJECT_UNLOCK (self);
  return GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY
      && (active || gst_qm_stage_is_turning (self->stage));
}

/* What the parts say is said by the whole: rtpbin looks for the source of
 * BUFFERING among its jitter buffers. */
static void
gst_qm_jitter_buffer_handle_message (GstBin * bin, GstMessage * message)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (bin);

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_BUFFERING:
      gst_qm_stage_say_percent (self->stage,
          gst_qm_jitter_buffer_copy_message (self, message));
      gst_message_unref (message);
      return;
    case GST_MESSAGE_LATENCY:
    case GST_MESSAGE_ELEMENT:
      if (!gst_qm_jitter_buffer_keeps_quiet (self, message))
        gst_element_post_message (GST_ELEMENT (self),
            gst_qm_jitter_buffer_copy_message (self, message));
      gst_message_unref (message);
      return;
    default:
      GST_BIN_CLASS (gst_qm_jitter_buffer_parent_class)->handle_message (bin,
          message);
  }
}

/* Latency is the pipeline's to configure, also where there is none. */
static gboolean
gst_qm_jitter_buffer_do_latency (GstBin * bin)
{
  return TRUE;
}

static gboolean
is_sender_report (GstBuffer * buffer)
{
  guint8 type;

  return gst_buffer_extract (buffer, 1, &type, 1) == 1
      && type == GST_RTCP_TYPE_SR;
}

/* The rtpjitterbuffer of GStreamer 1.22 trusts the lengths of names, and unmaps twice
 * what has no sender report. */
static GstPadProbeReturn
gst_qm_jitter_buffer_check_rtcp (GstPad * pad, GstPadProbeInfo * info,
    gpointer user_data)
{
  GstQmJitterBuffer *self = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);

  (void) pad;
  if (!gst_fairmix_rtcp_refuse (buffer, GST_ELEMENT (self),
          &self->warned_of_rtcp))
    return is_sender_report (buffer) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
  g_atomic_int_inc (&self->n_malformed_rtcp);
  return GST_PAD_PROBE_DROP;
}

/* One by one: each is looked at above. */
static GstFlowReturn
gst_qm_jitter_buffer_chain_rtcp_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstFlowReturn flow = GST_FLOW_OK;

  (void) parent;
  for (guint i = 0; i < gst_buffer_list_length (list) && flow == GST_FLOW_OK;
      i++)
    flow = gst_pad_chain (pad, gst_buffer_ref (gst_buffer_list_get (list, i)));
  gst_buffer_list_unref (list);
  return flow;
}

static GstPad *
gst_qm_jitter_buffer_request_new_pad (GstElement * element,
    GstPadTemplate * templ, const gchar * name, const GstCaps * caps)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (element);
  GstPad *target, *pad;

  if (self->inner == NULL)
    return NULL;
  if (!g_atomic_int_compare_and_exchange (&self->sink_rtcp_is_taken, FALSE,
          TRUE)) {
    GST_WARNING_OBJECT (self, "sink_rtcp is taken");
    return NULL;
  }
  target = gst_element_request_pad_simple (self->inner, "sink_rtcp");
  if (target == NULL) {
    g_atomic_int_set (&self->sink_rtcp_is_taken, FALSE);
    return NULL;
  }
  pad = gst_ghost_pad_new_from_template ("sink_rtcp", target, templ);
  gst_object_unref (target);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER,
      gst_qm_jitter_buffer_check_rtcp, self, NULL);
  gst_pad_set_chain_list_function (pad, gst_qm_jitter_buffer_chain_rtcp_list);
  gst_pad_set_active (pad, TRUE);
  gst_element_add_pad (element, pad);
  return pad;
}

static void
gst_qm_jitter_buffer_release_pad (GstElement * element, GstPad * pad)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (element);
  GstPad *target = gst_ghost_pad_get_target (GST_GHOST_PAD (pad));

  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  if (target != NULL) {
    gst_element_release_request_pad (self->inner, target);
    gst_object_unref (target);
  }
  g_atomic_int_set (&self->sink_rtcp_is_taken, FALSE);
}

static GstStateChangeReturn
gst_qm_jitter_buffer_change_state (GstElement * element,
    GstStateChange transition)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (element);
  GstStateChangeReturn ret;

  if (self->inner == NULL) {
    GST_ELEMENT_ERROR (self, CORE, MISSING_PLUGIN, (NULL),
        ("no element \"rtpjitterbuffer\": install gst-plugins-good"));
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_qm_stage_open (self->stage);
  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_qm_stage_set_playing (self->stage, FALSE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_qm_stage_close (self->stage);
  ret = GST_ELEMENT_CLASS (gst_qm_jitter_buffer_parent_class)->change_state
      (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    gst_qm_stage_stop (self->stage);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    gst_qm_stage_start (self->stage);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    gst_qm_stage_set_playing (self->stage, TRUE);
  return ret;
}

static void
gst_qm_jitter_buffer_dispose (GObject * object)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (object);

  if (self->stage != NULL)
    gst_qm_stage_set_changed_callback (self->stage, NULL, NULL);
  G_OBJECT_CLASS (gst_qm_jitter_buffer_parent_class)->dispose (object);
  gst_clear_object (&self->inner);
}

static void
gst_qm_jitter_buffer_finalize (GObject * object)
{
  GstQmJitterBuffer *self = GST_QM_JITTER_BUFFER (object);

  g_clear_pointer (&self->stage, gst_qm_stage_free);
  g_free (self->sync_group);
  G_OBJECT_CLASS (gst_qm_jitter_buffer_parent_class)->finalize (object);
}

static void
install_inner_properties (GObjectClass * klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_LATENCY,
      g_param_spec_uint ("latency", "latency",
          "Delay without adaptation, in milliseconds; with it, delay of what "
          "is not audio, and least delay with retransmission", 0, G_MAXUINT,
          DEFAULT_LATENCY_MS, rw));
  g_object_class_install_property (klass, PROP_DROP_ON_LATENCY,
      g_param_spec_boolean ("drop-on-latency", "drop-on-latency",
          "Never hold more than the latency (without adaptation; see max-delay)",
          FALSE, rw));
  g_object_class_install_property (klass, PROP_TS_OFFSET,
      g_param_spec_int64 ("ts-offset", "ts-offset",
          "Added to all timestamps, in nanoseconds (lip-sync)", G_MININT64,
          G_MAXINT64, 0, rw));
  g_object_class_install_property (klass, PROP_MODE,
      g_param_spec_enum ("mode", "mode",
          "Buffering algorithm of the inner jitter buffer; the delay adapts in "
          "mode slave only", GST_TYPE_QM_MODE, GST_QM_MODE_SLAVE, rw));
  g_object_class_install_property (klass, PROP_DO_RETRANSMISSION,
      g_param_spec_boolean ("do-retransmission", "do-retransmission",
          "Ask upstream for lost packets; the delay stays at latency at least",
          FALSE, rw));
  g_object_class_install_property (klass, PROP_RFC7273_SYNC,
      g_param_spec_boolean ("rfc7273-sync", "rfc7273-sync",
          "Synchronize to the RFC 7273 clock; the delay does not adapt then",
          FALSE, rw));
  g_object_class_install_property (klass, PROP_MAX_TS_OFFSET_ADJUSTMENT,
      g_param_spec_uint64 ("max-ts-offset-adjustment",
          "max-ts-offset-adjustment", "Most that ts-offset may move timestamps "
          "per packet, in nanoseconds (0 = no limit)", 0, G_MAXUINT64, 0, rw));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Statistics of rtpjitterbuffer, and of the playout (qm-...; times in "
          "nanoseconds)", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_monitor_properties (GObjectClass * klass, const FmxPlayoutParams * p)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_ADAPTATION,
      g_param_spec_boolean ("adaptation", "adaptation",
          "Let the delay follow the path; off: a plain rtpjitterbuffer", TRUE,
          rw));
  g_object_class_install_property (klass, PROP_THRESHOLD,
      g_param_spec_uint ("threshold", "threshold",
          "How long the queue may stand at its length before it is shortened, "
          "in packets (0: use threshold-time)", 0, G_MAXINT, 0, rw));
  g_object_class_install_property (klass, PROP_THRESHOLD_TIME,
      g_param_spec_uint ("threshold-time", "threshold-time",
          "How long the queue may stand at its length before it is shortened, "
          "in milliseconds: threshold for any packet rate", 1, 24 * 3600 * 1000,
          p->threshold_time / FMX_MSECOND, rw));
  g_object_class_install_property (klass, PROP_LENGTH,
      g_param_spec_uint ("length", "length",
          "How many packets must wait all the time for the queue to be too "
          "long; threshold says for how long", 1,
          FMX_QUEUE_MONITOR_POSITIONS, p->length, rw));
  g_object_class_install_property (klass, PROP_DECAY,
      g_param_spec_double ("decay", "decay",
          "A longer queue is shortened sooner: for each packet beyond length the "
          "threshold is divided by this", 1.0, 1000.0, p->decay, rw));
  g_object_class_install_property (klass, PROP_AFTER_DROP,
      g_param_spec_enum ("after-drop", "after-drop",
          "How the monitor goes on counting after the queue was shortened",
          GST_TYPE_QM_AFTER_DROP, p->after_drop, rw));
}

static void
install_delay_properties (GObjectClass * klass, const FmxPlayoutParams * p)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_MEMORY_TIME,
      g_param_spec_uint ("memory-time", "memory-time",
          "Half-life, in milliseconds, of what is remembered of stalls: whether "
          "a late packet is worth a longer delay, and a shorter one worth a "
          "packet (0: each late packet is waited for, each standing queue cut)",
          0, 24 * 3600 * 1000, p->memory / FMX_MSECOND, rw));
  g_object_class_install_property (klass, PROP_MIN_DELAY,
      g_param_spec_uint ("min-delay", "min-delay",
          "Least delay beyond the fastest packets, in milliseconds", 0,
          MAX_DELAY_MS, p->min_delay / FMX_MSECOND, rw));
  g_object_class_install_property (klass, PROP_MAX_DELAY,
      g_param_spec_uint ("max-delay", "max-delay",
          "Greatest delay beyond the fastest packets, in milliseconds; what is "
          "later is dropped", 0, MAX_DELAY_MS, p->max_delay / FMX_MSECOND, rw));
  g_object_class_install_property (klass, PROP_TIMING,
      g_param_spec_enum ("timing", "timing",
          "What says when a packet is to be played", GST_TYPE_QM_TIMING,
          GST_QM_TIMING_RTP, rw));
  g_object_class_install_property (klass, PROP_SHRINK,
      g_param_spec_enum ("shrink", "shrink",
          "How the delay becomes shorter", GST_TYPE_QM_SHRINK,
          GST_QM_SHRINK_AUTO, rw));
  g_object_class_install_property (klass, PROP_SYNC_GROUP,
      g_param_spec_string ("sync-group", "sync-group",
          "Jitter buffers of one bin with the same name here are played with "
          "the largest delay that one of them needs", NULL, rw));
  g_object_class_install_property (klass, PROP_MAX_OFFSET,
      g_param_spec_uint64 ("max-offset", "max-offset",
          "How much earlier than its sync-group this one may be played, in "
          "nanoseconds", 0, G_MAXUINT64, DEFAULT_MAX_OFFSET, rw));
  g_object_class_install_property (klass, PROP_DELAY,
      g_param_spec_uint64 ("delay", "delay",
          "Current delay beyond the fastest packets, in nanoseconds", 0,
          G_MAXUINT64, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
install_signals (GstQmJitterBufferClass * klass)
{
  GType type = G_TYPE_FROM_CLASS (klass);

  signals[SIGNAL_REQUEST_PT_MAP] = g_signal_new ("request-pt-map", type,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, GST_TYPE_CAPS, 1, G_TYPE_UINT);
  signals[SIGNAL_HANDLE_SYNC] = g_signal_new ("handle-sync", type,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1,
      GST_TYPE_STRUCTURE | G_SIGNAL_TYPE_STATIC_SCOPE);
  signals[SIGNAL_ON_NPT_STOP] = g_signal_new ("on-npt-stop", type,
      G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SIGNAL_CLEAR_PT_MAP] = g_signal_new_class_handler ("clear-pt-map",
      type, G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_qm_jitter_buffer_clear_pt_map), NULL, NULL, NULL,
      G_TYPE_NONE, 0);
  signals[SIGNAL_SET_ACTIVE] = g_signal_new_class_handler ("set-active", type,
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (gst_qm_jitter_buffer_set_active), NULL, NULL, NULL,
      G_TYPE_UINT64, 2, G_TYPE_BOOLEAN, G_TYPE_UINT64);
}

static void
gst_qm_jitter_buffer_class_init (GstQmJitterBufferClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  FmxPlayoutParams params;

  object_class->set_property = gst_qm_jitter_buffer_set_property;
  object_class->get_property = gst_qm_jitter_buffer_get_property;
  object_class->dispose = gst_qm_jitter_buffer_dispose;
  object_class->finalize = gst_qm_jitter_buffer_finalize;
  fmx_playout_params_default (&params);
  install_inner_properties (object_class);
  install_monitor_properties (object_class, &params);
  install_delay_properties (object_class, &params);
  gst_qm_proxy_install (object_class, PROP_PROXIED);
  install_signals (klass);

  element_class->request_new_pad =
      GST_DEBUG_FUNCPTR (gst_qm_jitter_buffer_request_new_pad);
  element_class->release_pad =
      GST_DEBUG_FUNCPTR (gst_qm_jitter_buffer_release_pad);
  element_class->change_state =
      GST_DEBUG_FUNCPTR (gst_qm_jitter_buffer_change_state);
  GST_BIN_CLASS (klass)->handle_message =
      GST_DEBUG_FUNCPTR (gst_qm_jitter_buffer_handle_message);
  GST_BIN_CLASS (klass)->do_latency =
      GST_DEBUG_FUNCPTR (gst_qm_jitter_buffer_do_latency);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class,
      &sink_rtcp_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Queue-monitoring RTP jitter buffer", "Filter/Network/RTP",
      "Orders RTP packets and plays them with a delay that follows the jitter",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_QM_MODE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_QM_AFTER_DROP, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_QM_TIMING, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_QM_SHRINK, 0);
}

static GstPad *
make_sink_pad (GstQmJitterBuffer * self)
{
  GstPadTemplate *templ = gst_static_pad_template_get (&sink_template);
  GstPad *target = self->inner != NULL ?
      gst_element_get_static_pad (self->inner, "sink") : NULL;
  GstPad *pad = target != NULL ?
      gst_ghost_pad_new_from_template ("sink", target, templ) :
      gst_ghost_pad_new_no_target_from_template ("sink", templ);

  gst_clear_object (&target);
  gst_object_unref (templ);
  return pad;
}

static void
gst_qm_jitter_buffer_init_inner (GstQmJitterBuffer * self)
{
  self->stage = gst_qm_stage_new (GST_ELEMENT (self), self->inner,
      self->sinkpad, self->srcpad);
  g_signal_connect (self->inner, "request-pt-map",
      G_CALLBACK (on_request_pt_map), self);
  g_signal_connect (self->inner, "handle-sync", G_CALLBACK (on_handle_sync),
      self);
  g_signal_connect (self->inner, "on-npt-stop", G_CALLBACK (on_npt_stop), self);
  gst_qm_stage_get_settings (self->stage, &self->settings);
}

static void
gst_qm_jitter_buffer_init (GstQmJitterBuffer * self)
{
  self->latency_ms = DEFAULT_LATENCY_MS;
  self->mode = GST_QM_MODE_SLAVE;
  self->adaptation = TRUE;
  self->max_offset = DEFAULT_MAX_OFFSET;
  self->inner = gst_element_factory_make ("rtpjitterbuffer", NULL);
  if (self->inner != NULL)
    gst_bin_add (GST_BIN (self), gst_object_ref (self->inner));
  self->sinkpad = make_sink_pad (self);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  if (self->inner != NULL)
    gst_qm_jitter_buffer_init_inner (self);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
  gst_qm_jitter_buffer_apply (self);
}
