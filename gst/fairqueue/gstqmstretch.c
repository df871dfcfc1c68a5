/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-qmstretch
 * @title: qmstretch
 *
 * Hides the changes of qmjitterbuffer's delay: where the delay shrank it takes
 * out whole pitch periods, where it grew it puts some in, until what is heard
 * is where the timestamps want it.  The pitch stays; what is not changed passes
 * to the bit.
 *
 * It stands behind the decoder.  The changes come as events
 * (`fairmix-playout-adjust`); any other jump of the timestamps passes as it is.  By
 * an event (`fairmix-playout-stretcher`) the jitter buffer knows that it need not
 * drop a packet to shrink (#GstQmJitterBuffer:shrink).
 *
 * Its latency is constant: audio may be late by #GstQmStretch:latency and is
 * still in time.  Growth up to that is hidden, what is more remains a gap.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 udpsrc port=5004 caps="application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=96" ! qmjitterbuffer do-lost=true ! rtpopusdepay ! opusdec plc=true ! qmstretch ! autoaudiosink
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmstretch.h"

#include <math.h>
#include <string.h>

#include <gst/audio/audio.h>

#include "fairmix/playout/fmx-stretch.h"
#include "gstqmadjust.h"

GST_DEBUG_CATEGORY_STATIC (gst_qm_stretch_debug);
#define GST_CAT_DEFAULT gst_qm_stretch_debug

#define DEFAULT_LATENCY 0
#define MAX_LATENCY (200 * GST_MSECOND)
#define MAX_ANNOUNCED (10 * GST_SECOND)
/* Timestamps may wander by this much while there is something to do. */
#define TOLERANCE (1 * GST_MSECOND)
/* Decoders may hand an event on before audio that is older, by up to this. */
#define EVENT_VALIDITY (200 * GST_MSECOND)

enum
{
  PROP_0,
  PROP_LATENCY,
  PROP_STATS
};

struct _GstQmStretch
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  /* Under the object lock */
  GstClockTime latency;
  FmxStretchStats stats;        /* copies of the library's */
  gint64 debt;

  /* State: of the streaming thread */
  GstAudioInfo info;
  GstSegment segment;
  FmxStretch stretch;
  gfloat *storage;
  gfloat *in, *out;             /* room for so many samples: */
  gsize in_samples, out_samples;
  GstClockTimeDiff hold;        /* the latency that is in force */
  GstClockTime expected;        /* timestamp of what comes in next */
  GstClockTime anchor;          /* position of what goes out next ... */
  guint64 n_since_anchor;       /* ... but for so many frames */
  gboolean discont;             /* what goes out next does not follow on */
  GstClockTimeDiff announced;   /* by events, and not yet seen */
  GstClockTimeDiff announced_for;       /* so much more audio */
};

G_DEFINE_TYPE_WITH_CODE (GstQmStretch, gst_qm_stretch, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_qm_stretch_debug, "qmstretch", 0,
        "time stretching for qmjitterbuffer"));
GST_ELEMENT_REGISTER_DEFINE (qmstretch, "qmstretch", GST_RANK_NONE,
    GST_TYPE_QM_STRETCH);

#define CAPS "audio/x-raw, format = (string) { " GST_AUDIO_NE (F32) ", " \
    GST_AUDIO_NE (S16) " }, rate = (int) [ 4000, 384000 ], " \
    "channels = (int) [ 1, 64 ], layout = (string) interleaved"

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (CAPS));

/* --- samples and times --- */

static gint64
gst_qm_stretch_to_frames (GstQmStretch * self, GstClockTimeDiff time)
{
  gint64 frames = gst_util_uint64_scale_round (ABS (time), self->info.rate,
      GST_SECOND);

  return time < 0 ? -frames : frames;
}

static GstClockTime
gst_qm_stretch_to_time (GstQmStretch * self, guint64 frames)
{
  return gst_util_uint64_scale_round (frames, GST_SECOND, self->info.rate);
}

static GstClockTimeDiff
gst_qm_stretch_debt (GstQmStretch * self)
{
  gint64 debt = fmx_stretch_debt (&self->stretch);
  GstClockTimeDiff time = gst_qm_stretch_to_time (self, ABS (debt));

  return debt < 0 ? -time : time;
}

/* The timestamp of what goes out next */
static GstClockTime
gst_qm_stretch_position (GstQmStretch * self)
{
  return self->anchor + gst_qm_stretch_to_time (self, self->n_since_anchor);
}

static void
gst_qm_stretch_set_position (GstQmStretch * self, GstClockTime position)
{
  self->anchor = position;
  self->n_since_anchor = 0;
}

static gboolean
is_float (const GstAudioInfo * info)
{
  return GST_AUDIO_INFO_FORMAT (info) == GST_AUDIO_FORMAT_F32;
}

static void
widen (gfloat * out, const gint16 * in, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = in[i] / 32768.0f;
}

static void
narrow (gint16 * out, const gfloat * in, gsize n)
{
  for (gsize i = 0; i < n; i++)
    out[i] = (gint16) lrintf (CLAMP (in[i] * 32768.0f, -32768.0f, 32767.0f));
}

static gfloat *
make_room (gfloat ** samples, gsize * n_samples, gsize needed)
{
  if (*n_samples < needed) {
    *samples = g_renew (gfloat, *samples, needed);
    *n_samples = needed;
  }
  return *samples;
}

/* Returns: (transfer none): the @n frames of @map */
static const gfloat *
gst_qm_stretch_read (GstQmStretch * self, const GstMapInfo * map, gsize * n)
{
  gsize n_samples;

  *n = map->size / GST_AUDIO_INFO_BPF (&self->info);
  n_samples = *n * GST_AUDIO_INFO_CHANNELS (&self->info);
  if (is_float (&self->info))
    return (const gfloat *) map->data;
  widen (make_room (&self->in, &self->in_samples, n_samples),
      (const gint16 *) map->data, n_samples);
  return self->in;
}

/* Returns: (transfer none): where @n frames can go */
static gfloat *
gst_qm_stretch_room_for (GstQmStretch * self, gsize n)
{
  return make_room (&self->out, &self->out_samples,
      n * GST_AUDIO_INFO_CHANNELS (&self->info));
}

/* --- state --- */

static gboolean
gst_qm_stretch_is_active (GstQmStretch * self)
{
  return self->storage != NULL && self->segment.format == GST_FORMAT_TIME
      && self->segment.rate > 0.0;
}

static gboolean
gst_qm_stretch_is_idle (GstQmStretch * self)
{
  return fmx_stretch_debt (&self->stretch) == 0
      && fmx_stretch_held (&self->stretch) == 0;
}

static void
gst_qm_stretch_publish (GstQmStretch * self)
{
  GST_OBJECT_LOCK (self);
  fmx_stretch_get_stats (&self->stretch, &self->stats);
  self->debt = gst_qm_stretch_debt (self);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_qm_stretch_reset (GstQmStretch * self)
{
  self->expected = GST_CLOCK_TIME_NONE;
  self->discont = FALSE;
  self->announced = 0;
  if (self->storage != NULL) {
    fmx_stretch_reset (&self->stretch);
    gst_qm_stretch_publish (self);
  }
}

static void
gst_qm_stretch_configure (GstQmStretch * self, const GstAudioInfo * info)
{
  FmxStretchParams params;

  fmx_stretch_params_default (&params, info->rate, info->channels);
  GST_OBJECT_LOCK (self);
  params.hold = self->latency;
  GST_OBJECT_UNLOCK (self);
  self->hold = params.hold;
  g_free (self->storage);
  self->info = *info;
  self->storage = g_new (gfloat, fmx_stretch_storage_samples (&params));
  fmx_stretch_init (&self->stretch, &params, self->storage);
  gst_qm_stretch_reset (self);
}

/* --- out --- */

static void
gst_qm_stretch_mark (GstQmStretch * self, GstBuffer * buffer)
{
  if (self->discont)
    GST_BUFFER_FLAG_SET (buffer,
        GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC);
  self->discont = FALSE;
}

/* Pushes the first @n frames that were put out. */
static GstFlowReturn
gst_qm_stretch_push (GstQmStretch * self, gsize n)
{
  GstBuffer *buffer;
  GstMapInfo map;

  if (n == 0)
    return GST_FLOW_OK;
  buffer = gst_buffer_new_allocate (NULL,
      n * GST_AUDIO_INFO_BPF (&self->info), NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  if (is_float (&self->info))
    memcpy (map.data, self->out, map.size);
  else
    narrow ((gint16 *) map.data, self->out,
        n * GST_AUDIO_INFO_CHANNELS (&self->info));
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = gst_qm_stretch_position (self);
  self->n_since_anchor += n;
  GST_BUFFER_DURATION (buffer) =
      gst_qm_stretch_position (self) - GST_BUFFER_PTS (buffer);
  gst_qm_stretch_mark (self, buffer);
  return gst_pad_push (self->srcpad, buffer);
}

static GstFlowReturn
gst_qm_stretch_drain (GstQmStretch * self)
{
  gsize held = self->storage != NULL ? fmx_stretch_held (&self->stretch) : 0;

  if (held == 0)
    return GST_FLOW_OK;
  fmx_stretch_drain (&self->stretch, gst_qm_stretch_room_for (self, held));
  return gst_qm_stretch_push (self, held);
}

/* Where nothing is to be done @buffer passes as it is. */
static GstFlowReturn
gst_qm_stretch_process (GstQmStretch * self, GstBuffer * buffer)
{
  gboolean idle = gst_qm_stretch_is_idle (self);
  const gfloat *in;
  GstMapInfo map;
  gsize n;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  in = gst_qm_stretch_read (self, &map, &n);
  if (idle)
    fmx_stretch_remember (&self->stretch, in, n);
  else
    n = fmx_stretch_process (&self->stretch, gst_qm_stretch_room_for (self,
            fmx_stretch_max_output (&self->stretch, n)), in, n);
  gst_buffer_unmap (buffer, &map);

  if (!idle) {
    gst_buffer_unref (buffer);
    gst_qm_stretch_publish (self);
    GST_LOG_OBJECT (self, "debt %" GST_STIME_FORMAT,
        GST_STIME_ARGS (self->debt));
    return gst_qm_stretch_push (self, n);
  }
  self->n_since_anchor += n;
  if (self->discont) {
    buffer = gst_buffer_make_writable (buffer);
    gst_qm_stretch_mark (self, buffer);
  }
  return gst_pad_push (self->srcpad, buffer);
}

/* --- in --- */

/* What comes next does not follow on: it starts at @wanted, or where what went
 * out already ends; the difference is the new debt. */
static GstFlowReturn
gst_qm_stretch_restart (GstQmStretch * self, GstClockTime wanted)
{
  GstFlowReturn flow = gst_qm_stretch_drain (self);
  GstClockTime end = gst_qm_stretch_position (self);
  GstClockTime start = MAX (end, wanted);

  fmx_stretch_restart (&self->stretch,
      gst_qm_stretch_to_frames (self, GST_CLOCK_DIFF (start, wanted)));
  gst_qm_stretch_set_position (self, start);
  gst_qm_stretch_publish (self);
  self->discont |= start != end;
  return flow;
}

/* Time goes back, and nobody said why: obeys. */
static GstFlowReturn
gst_qm_stretch_go_back (GstQmStretch * self, GstClockTime position)
{
  GstFlowReturn flow = gst_qm_stretch_drain (self);

  fmx_stretch_reset (&self->stretch);
  gst_qm_stretch_publish (self);
  gst_qm_stretch_set_position (self, position);
  self->discont = TRUE;
  return flow;
}

/* The part of @jump that was announced as a change of the delay */
static GstClockTimeDiff
gst_qm_stretch_take_announced (GstQmStretch * self, GstClockTimeDiff jump)
{
  GstClockTimeDiff part = self->announced < 0 ?
      CLAMP (jump, self->announced, 0) : CLAMP (jump, 0, self->announced);

  self->announced -= part;
  return part;
}

/* Finds out where audio that is stamped @pts is to go, and what is to be done
 * with it. */
static GstFlowReturn
gst_qm_stretch_place (GstQmStretch * self, GstClockTime pts)
{
  GstClockTimeDiff jump, change;
  gint64 frames;

  if (!GST_CLOCK_TIME_IS_VALID (self->expected)) {
    gst_qm_stretch_set_position (self, pts);
    return GST_FLOW_OK;
  }
  jump = GST_CLOCK_DIFF (self->expected, pts);
  change = gst_qm_stretch_take_announced (self, jump);
  frames = gst_qm_stretch_to_frames (self, change);
  if (frames == 0 && gst_qm_stretch_is_idle (self)) {
    gst_qm_stretch_set_position (self, pts);
    return GST_FLOW_OK;
  }
  if (frames != 0)
    GST_DEBUG_OBJECT (self, "delay changed by %" GST_STIME_FORMAT " at %"
        GST_TIME_FORMAT, GST_STIME_ARGS (change), GST_TIME_ARGS (pts));
  if (jump - change > TOLERANCE)        /* a gap, in which all is free */
    return gst_qm_stretch_restart (self, pts);
  if (change - jump > TOLERANCE)
    return gst_qm_stretch_go_back (self, pts);
  if (gst_qm_stretch_debt (self) + change > self->hold)
    return gst_qm_stretch_restart (self, pts);  /* it is too late */
  fmx_stretch_adjust (&self->stretch, frames);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_qm_stretch_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstQmStretch *self = GST_QM_STRETCH (parent);
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstClockTime duration;
  GstFlowReturn flow;

  if (!gst_qm_stretch_is_active (self))
    return gst_pad_push (self->srcpad, buffer);
  duration = gst_qm_stretch_to_time (self,
      gst_buffer_get_size (buffer) / GST_AUDIO_INFO_BPF (&self->info));
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    pts = self->expected;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return gst_pad_push (self->srcpad, buffer);
  flow = gst_qm_stretch_place (self, pts);
  self->expected = pts + duration;
  self->announced_for -= duration;
  if (self->announced_for <= 0)
    self->announced = 0;
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (buffer);
    return flow;
  }
  return gst_qm_stretch_process (self, buffer);
}

/* --- events --- */

/* The jitter buffer need not know where it is used.  It forgets us whenever something is
 * linked behind it, so we say so each time that we have something to do. */
static void
gst_qm_stretch_say_hello (GstQmStretch * self)
{
  if (gst_qm_stretch_is_active (self))
    gst_pad_push_event (self->sinkpad, gst_qm_stretcher_event_new ());
}

static void
gst_qm_stretch_announce (GstQmStretch * self, GstClockTimeDiff change)
{
  const GstClockTimeDiff most = MAX_ANNOUNCED;

  self->announced = CLAMP (self->announced + CLAMP (change, -most, most),
      -most, most);
  self->announced_for = EVENT_VALIDITY;
}

static gboolean
gst_qm_stretch_gap (GstQmStretch * self, GstEvent * event)
{
  GstClockTime pts, duration, end;

  gst_event_parse_gap (event, &pts, &duration);
  if (!gst_qm_stretch_is_active (self) || !GST_CLOCK_TIME_IS_VALID (pts))
    return gst_pad_push_event (self->srcpad, event);
  end = pts + (GST_CLOCK_TIME_IS_VALID (duration) ? duration : 0);
  if (gst_qm_stretch_is_idle (self)) {
    self->expected = end;
    gst_qm_stretch_set_position (self, end);
    return gst_pad_push_event (self->srcpad, event);
  }
  if (GST_CLOCK_DIFF (pts, self->expected) > TOLERANCE
      + MAX (-self->announced, 0)) {
    gst_qm_stretch_go_back (self, end);
    self->expected = end;
    return gst_pad_push_event (self->srcpad, event);
  }
  gst_event_unref (event);
  gst_qm_stretch_drain (self);
  pts = gst_qm_stretch_position (self);
  gst_qm_stretch_restart (self, end);
  self->expected = end;
  self->discont = FALSE;
  if (end <= pts)
    return TRUE;
  return gst_pad_push_event (self->srcpad, gst_event_new_gap (pts, end - pts));
}

static gboolean
gst_qm_stretch_caps (GstQmStretch * self, GstEvent * event)
{
  GstAudioInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  if (!gst_audio_info_from_caps (&info, caps)) {
    GST_WARNING_OBJECT (self, "no audio: %" GST_PTR_FORMAT, caps);
    gst_event_unref (event);
    return FALSE;
  }
  if (self->storage == NULL || !gst_audio_info_is_equal (&info, &self->info))
    gst_qm_stretch_configure (self, &info);
  gst_qm_stretch_say_hello (self);
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
gst_qm_stretch_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstQmStretch *self = GST_QM_STRETCH (parent);
  const GstSegment *segment;
  GstClockTimeDiff change;

  if (gst_qm_adjust_event_parse (event, &change)) {
    gst_qm_stretch_announce (self, change);
    gst_qm_stretch_say_hello (self);
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    return gst_qm_stretch_gap (self, event);
  if (GST_EVENT_IS_SERIALIZED (event)
      && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    gst_qm_stretch_drain (self);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      return gst_qm_stretch_caps (self, event);
    case GST_EVENT_SEGMENT:
      gst_event_parse_segment (event, &segment);
      if (!gst_segment_is_equal (segment, &self->segment))
        gst_qm_stretch_reset (self);
      gst_segment_copy_into (segment, &self->segment);
      gst_qm_stretch_say_hello (self);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_qm_stretch_reset (self);
      gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_EOS:
      gst_qm_stretch_reset (self);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_qm_stretch_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstQmStretch *self = GST_QM_STRETCH (parent);
  GstClockTime min, max, own;
  gboolean live;

  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return gst_pad_query_default (pad, parent, query);
  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  GST_OBJECT_LOCK (self);
  own = self->latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += own;
  gst_query_set_latency (query, live, min + own, max);
  return TRUE;
}

/* --- object --- */

static GstStructure *
gst_qm_stretch_make_stats (GstQmStretch * self)
{
  return gst_structure_new ("application/x-fairmix-qmstretch-stats",
      "inserted", G_TYPE_UINT64, self->stats.n_inserted,
      "removed", G_TYPE_UINT64, self->stats.n_removed,
      "joints", G_TYPE_UINT64, self->stats.n_joints,
      "cuts", G_TYPE_UINT64, self->stats.n_cuts,
      "debt", G_TYPE_INT64, self->debt, NULL);
}

static void
gst_qm_stretch_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstQmStretch *self = GST_QM_STRETCH (object);

  switch (id) {
    case PROP_LATENCY:
      GST_OBJECT_LOCK (self);
      self->latency = g_value_get_uint64 (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
}

static void
gst_qm_stretch_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstQmStretch *self = GST_QM_STRETCH (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_LATENCY:
      g_value_set_uint64 (value, self->latency);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_qm_stretch_make_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStateChangeReturn
gst_qm_stretch_change_state (GstElement * element, GstStateChange transition)
{
  GstQmStretch *self = GST_QM_STRETCH (element);
  GstStateChangeReturn result =
      GST_ELEMENT_CLASS (gst_qm_stretch_parent_class)->change_state (element,
      transition);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    g_clear_pointer (&self->storage, g_free);
    gst_qm_stretch_reset (self);
    gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  }
  return result;
}

static void
gst_qm_stretch_finalize (GObject * object)
{
  GstQmStretch *self = GST_QM_STRETCH (object);

  g_free (self->storage);
  g_free (self->in);
  g_free (self->out);
  G_OBJECT_CLASS (gst_qm_stretch_parent_class)->finalize (object);
}

static void
gst_qm_stretch_class_init (GstQmStretchClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_qm_stretch_set_property;
  object_class->get_property = gst_qm_stretch_get_property;
  object_class->finalize = gst_qm_stretch_finalize;
  g_object_class_install_property (object_class, PROP_LATENCY,
      g_param_spec_uint64 ("latency", "latency",
          "How much later audio may come and still be in time, in nanoseconds: "
          "growth of the delay by up to this is hidden", 0, MAX_LATENCY,
          DEFAULT_LATENCY, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Since the last change of the format: inserted and removed frames, "
          "joints and cuts where they were; debt, the time that is yet to be "
          "inserted (< 0: removed), in nanoseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  element_class->change_state = GST_DEBUG_FUNCPTR (gst_qm_stretch_change_state);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Time stretcher behind a jitter buffer", "Filter/Effect/Audio",
      "Stretches speech where qmjitterbuffer changed its delay",
      "The gst-fairmix developers");
}

static void
gst_qm_stretch_init (GstQmStretch * self)
{
  self->latency = DEFAULT_LATENCY;
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  gst_qm_stretch_reset (self);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stretch_chain));
  gst_pad_set_event_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stretch_sink_event));
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_query_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_qm_stretch_src_query));
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
