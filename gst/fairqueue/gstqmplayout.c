/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmplayout.h"

#include "gstqmadjust.h"
#include "gstqmdebug.h"

#define GST_CAT_DEFAULT gst_qm_debug_category ()

#define WAIT_LESS (5 * GST_MSECOND)
#define COVER_STEP (100 * GST_MSECOND)
#define CHANGED_INTERVAL (500 * GST_MSECOND)
#define N_STATS_POSITIONS 8

static void
gst_qm_playout_reset (GstQmPlayout * self)
{
  FmxInterarrivalParams params;

  fmx_playout_reset (&self->playout);
  fmx_interarrival_params_default (&params);
  fmx_interarrival_init (&self->interarrival, &params);
  fmx_tick_queue_reset (&self->tick_queue);
  memset (&self->output, 0, sizeof self->output);
  self->output.ts_offset = self->settings.ts_offset;
}

void
gst_qm_playout_forget (GstQmPlayout * self)
{
  self->stream.known = FALSE;
  gst_qm_playout_reset (self);
}

/* Puts the packet on the time line of arrivals.  FALSE if that cannot be. */
static gboolean
gst_qm_playout_place (GstQmPlayout * self, GstBuffer * buffer, GstQmPassage * p)
{
  GstClockTime arrival = GST_BUFFER_OFFSET_END (buffer);

  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (arrival))
    arrival = gst_qm_arrival_now (self->owner);
  switch (gst_qm_stream_place (&self->stream, &self->format, buffer, arrival,
          MAX (self->steering.cover, self->steering.wait), &p->packet)) {
    case GST_QM_STREAM_UNKNOWN:
      return FALSE;
    case GST_QM_STREAM_NEW:
      gst_qm_playout_reset (self);
      break;
    case GST_QM_STREAM_GOES_ON:
      break;
  }
  return TRUE;
}

static const gchar *
gst_qm_playout_reason (FmxPlayoutReason reason)
{
  switch (reason) {
    case FMX_PLAYOUT_LATE:
      return "late";
    case FMX_PLAYOUT_STANDING_QUEUE:
      return "standing-queue";
    case FMX_PLAYOUT_SILENCE:
      return "silence";
    case FMX_PLAYOUT_MINIMUM:
      return "minimum";
    default:
      return "restart";
  }
}

/* Both delays are beyond the packets that are the fastest now: in a burst each
 * packet is faster than the one before it. */
static GstMessage *
gst_qm_playout_adaptation_message (GstQmPlayout * self,
    const FmxPlayoutDecision * decision, gboolean dropped)
{
  FmxDuration after = fmx_playout_get_delay (&self->playout);
  FmxDuration before = MAX (after - decision->adjusted, 0);

  return gst_message_new_element (GST_OBJECT (self->owner),
      gst_structure_new ("fairmix-playout-adaptation",
          "ssrc", G_TYPE_UINT, self->stream.ssrc,
          "before", G_TYPE_UINT64, (guint64) before,
          "after", G_TYPE_UINT64, (guint64) after,
          "reason", G_TYPE_STRING, gst_qm_playout_reason (decision->reason),
          "dropped", G_TYPE_BOOLEAN, dropped, NULL));
}

/* Streams of one group: not earlier than the floor, as seen from the inner
 * timestamps; streams with retransmission: not earlier than that takes. */
static void
gst_qm_playout_update_minimum (GstQmPlayout * self)
{
  const FmxPlayoutParams *params = &self->settings.playout;
  FmxDuration minimum = MAX (params->min_delay, self->stream.asked_delay);

  if (self->settings.retransmission)
    minimum = MAX (minimum, (FmxDuration) self->settings.fixed_delay);
  if (self->offset_floor > 0)
    minimum = MAX (minimum, fmx_playout_get_delay (&self->playout)
        + self->offset_floor - self->output.offset);
  fmx_playout_set_min_delay (&self->playout,
      CLAMP (minimum, 0, params->max_delay));
}

static gboolean
gst_qm_playout_is_shifting (const GstQmPlayout * self)
{
  return self->settings.shrink == GST_QM_SHRINK_SHIFT
      || (self->settings.shrink == GST_QM_SHRINK_AUTO && self->stretched);
}

static void
gst_qm_playout_decide_by_monitor (GstQmPlayout * self, GstQmPassage * p)
{
  FmxPlayoutDecision decision;

  gst_qm_playout_update_minimum (self);
  decision =
      fmx_playout_on_packet (&self->playout, &p->packet, self->stream.now);
  p->play = decision.action == FMX_PLAYOUT_PLAY || decision.action == FMX_PLAYOUT_MISSED;       /* for the decoder's sake */
  p->playout = decision.playout;
  if (decision.action == FMX_PLAYOUT_DROP_MONITOR
      && gst_qm_playout_is_shifting (self)) {
    p->play = TRUE;             /* in the slot of the one before it */
    p->playout -= p->packet.duration;
  }
  self->n_shrunk += decision.adjusted < 0;
  if (decision.adjusted != 0) {
    GST_DEBUG_OBJECT (self->owner, "delay %" GST_STIME_FORMAT " by %"
        GST_STIME_FORMAT ": %s", GST_STIME_ARGS (decision.delay),
        GST_STIME_ARGS (decision.adjusted),
        gst_qm_playout_reason (decision.reason));
    p->message = gst_qm_playout_adaptation_message (self, &decision, !p->play);
    p->event = gst_qm_adjust_event_new (decision.adjusted,
        fmx_playout_get_delay (&self->playout));
    p->changed = TRUE;
  }
  if (decision.adjusted != 0 || decision.reason == FMX_PLAYOUT_RESTART)
    self->output.resync = TRUE;
}

/* Where time stamps say nothing, it need not be audio. */
static gboolean
gst_qm_playout_is_ticking (const GstQmPlayout * self)
{
  return self->settings.timing != GST_QM_TIMING_RTP
      && (self->settings.timing != GST_QM_TIMING_TICK || self->format.is_audio);
}

/* [nanoManipulator 3.2] "explicitly track the mean interarrival time from the
 * microscope and use that as the effective inter-frame time for queue playout" */
static FmxDuration
gst_qm_playout_tick_interval (GstQmPlayout * self, const GstQmPassage * p)
{
  if (self->settings.timing == GST_QM_TIMING_TICK)
    return p->packet.duration;
  fmx_interarrival_on_packet (&self->interarrival, self->stream.now);
  return MAX (fmx_interarrival_mean (&self->interarrival), FMX_USECOND);
}

/* The paper's FIFO: whatever the time stamps say */
static void
gst_qm_playout_decide_by_tick (GstQmPlayout * self, GstQmPassage * p)
{
  FmxTickQueueDecision decision =
      fmx_tick_queue_on_packet (&self->tick_queue, p->packet.ext_seq,
      gst_qm_playout_tick_interval (self, p), self->stream.now);

  p->play = decision.action == FMX_TICK_QUEUE_PLAY;
  self->n_shrunk += decision.action == FMX_TICK_QUEUE_DROP_MONITOR;
  p->playout = decision.tick;
  p->changed = !p->play || decision.after_gap;
  self->output.resync |= decision.after_gap;
}

/* of what is not audio */
static GstClockTimeDiff
gst_qm_playout_fixed_delay (const GstQmPlayout * self)
{
  return MAX ((GstClockTimeDiff) self->settings.fixed_delay,
      self->offset_floor);
}

static void
gst_qm_playout_decide (GstQmPlayout * self, GstQmPassage * p)
{
  GstQmOutput *out = &self->output;
  FmxTime now = self->stream.now;

  p->play = TRUE;
  if (gst_qm_playout_is_ticking (self)) {
    gst_qm_playout_decide_by_tick (self, p);
  } else if (!self->format.is_audio) {
    GstClockTimeDiff fixed = gst_qm_playout_fixed_delay (self);

    out->resync |= fixed != out->offset;
    p->playout = p->inner_pts + fixed;
  } else {
    gst_qm_playout_decide_by_monitor (self, p);
  }
  if (p->play)
    out->offset = GST_CLOCK_DIFF (p->inner_pts, p->playout);
  if (now - out->last_changed >= CHANGED_INTERVAL)
    p->changed = TRUE;
  if (p->changed)
    out->last_changed = now;
}

/* A gap is waited for until its slot comes: what conceals it must not be late.
 * The cover is no longer than the time that has passed: no negative times. */
static void
gst_qm_playout_steer (GstQmPlayout * self, GstQmPassage * p)
{
  GstQmSteering *now = &self->steering;
  GstClockTime wait = MAX (self->output.offset, 0);
  GstClockTime cover = self->settings.playout.max_delay;

  if (gst_qm_playout_is_ticking (self))
    wait = 0;                   /* what is lost does not keep its place */
  if (self->settings.retransmission) {
    wait = MAX (wait, self->settings.fixed_delay);
    cover = MAX (cover, self->settings.fixed_delay);
  }
  if (cover > now->cover)
    cover = MIN (cover, p->inner_pts / COVER_STEP * COVER_STEP);
  if (wait >= now->wait && wait - now->wait < WAIT_LESS)
    wait = now->wait;
  else
    wait = wait / GST_MSECOND * GST_MSECOND;
  p->inner_moved = wait != now->wait || cover > now->cover;
  now->wait = wait;
  now->cover = MAX (cover, now->cover);
}

/* Lip-sync moves in small steps if asked to. */
static GstClockTimeDiff
gst_qm_playout_step_ts_offset (GstQmPlayout * self)
{
  GstQmOutput *s = &self->output;
  GstClockTimeDiff step = self->settings.ts_offset - s->ts_offset;
  GstClockTime most = self->settings.max_ts_offset_adjustment;

  if (step == 0)
    return s->ts_offset;
  if (most > 0 && most <= G_MAXINT64)
    step = CLAMP (step, -(GstClockTimeDiff) most, (GstClockTimeDiff) most);
  s->ts_offset += step;
  s->resync = TRUE;
  return s->ts_offset;
}

static GstClockTime
gst_qm_playout_position (GstQmPlayout * self, GstClockTimeDiff running_time)
{
  return gst_qm_from_running_time (&self->line, MAX (running_time, 0));
}

static void
gst_qm_playout_stamp (GstQmPlayout * self, GstBuffer * buffer, GstQmPassage * p)
{
  GstQmOutput *s = &self->output;
  GstClockTimeDiff ts_offset = gst_qm_playout_step_ts_offset (self);
  GstClockTime pts = gst_qm_playout_position (self,
      (GstClockTimeDiff) p->playout + ts_offset);

  s->moved = GST_CLOCK_DIFF (GST_BUFFER_PTS (buffer), pts);
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_RESYNC);
  if (s->discont || s->resync) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_RESYNC);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  s->discont = FALSE;
  s->resync = FALSE;
}

void
gst_qm_playout_pass (GstQmPlayout * self, GstBuffer * buffer, GstQmPassage * p)
{
  p->play = TRUE;
  if (!self->settings.active || !GST_BUFFER_PTS_IS_VALID (buffer))
    return;
  p->inner_pts = gst_qm_to_running_time (&self->line, GST_BUFFER_PTS (buffer));
  if (!gst_qm_playout_place (self, buffer, p)
      || !GST_CLOCK_TIME_IS_VALID (p->inner_pts))
    return;

  p->inner_pts -= gst_qm_steering_ts_offset (&self->steering);
  gst_qm_playout_decide (self, p);
  if (p->play) {
    gst_qm_playout_steer (self, p);
    gst_qm_playout_stamp (self, buffer, p);
  } else {
    self->output.discont = TRUE;
  }
}

/* --- what holds --- */

static void
gst_qm_playout_set_monitor (GstQmPlayout * self,
    const FmxPlayoutParams * playout)
{
  FmxTickQueueParams params;

  params.monitor.threshold = playout->threshold;
  params.monitor.length = playout->length;
  params.monitor.decay = playout->decay;
  params.monitor.after_drop = playout->after_drop;
  params.threshold_time = playout->threshold_time;
  params.max_delay = MAX (playout->max_delay, 1);
  fmx_tick_queue_init (&self->tick_queue, &params);
  fmx_playout_init (&self->playout, playout);
  gst_qm_playout_reset (self);
}

static gboolean
same_monitor (const FmxPlayoutParams * a, const FmxPlayoutParams * b)
{
  return a->threshold == b->threshold && a->length == b->length
      && a->decay == b->decay && a->after_drop == b->after_drop
      && a->threshold_time == b->threshold_time && a->reserve == b->reserve
      && a->growth_step == b->growth_step && a->max_delay == b->max_delay
      && a->memory == b->memory;
}

void
gst_qm_playout_set_settings (GstQmPlayout * self,
    const GstQmPlayoutSettings * settings)
{
  const GstQmSteering none = { 0, 0 };

  if (!same_monitor (&settings->playout, &self->settings.playout)
      || settings->active != self->settings.active) {
    gst_qm_playout_set_monitor (self, &settings->playout);
    self->stream.known = FALSE;
  }
  if (settings->active && !self->settings.active)
    self->steering = none;
  self->settings = *settings;
}

void
gst_qm_playout_init (GstQmPlayout * self, GstElement * owner)
{
  self->owner = owner;
  fmx_playout_params_default (&self->settings.playout);
  self->format.is_audio = TRUE;
  gst_qm_line_set (&self->line, NULL);
  gst_qm_playout_set_monitor (self, &self->settings.playout);
}

/* --- what is told --- */

GstClockTimeDiff
gst_qm_playout_get_shift (const GstQmPlayout * self)
{
  return self->settings.active && self->stream.known ?
      self->output.offset + self->output.ts_offset
      - gst_qm_steering_ts_offset (&self->steering) : 0;
}

void
gst_qm_playout_get_offsets (const GstQmPlayout * self,
    GstQmPlayoutOffsets * offsets)
{
  offsets->offset = self->output.offset;
  if (!self->stream.known)
    offsets->need = 0;
  else if (!self->format.is_audio)
    offsets->need = (GstClockTimeDiff) self->settings.fixed_delay;
  else
    offsets->need = self->output.offset - fmx_playout_get_delay (&self->playout)
        + fmx_playout_get_need (&self->playout);
}

GstClockTime
gst_qm_playout_get_delay (const GstQmPlayout * self)
{
  if (!self->settings.active)   /* it is the inner one's */
    return self->settings.fixed_delay;
  if (gst_qm_playout_is_ticking (self))
    return MAX (self->output.offset, 0);
  if (!self->format.is_audio)
    return (GstClockTime) gst_qm_playout_fixed_delay (self);
  return fmx_playout_get_delay (&self->playout);
}

static void
append_uint64 (GValue * array, guint64 number)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_UINT64);
  g_value_set_uint64 (&value, number);
  gst_value_array_append_and_take_value (array, &value);
}

static const FmxQueueMonitor *
gst_qm_playout_get_monitor (const GstQmPlayout * self)
{
  return gst_qm_playout_is_ticking (self) ?
      fmx_tick_queue_get_monitor (&self->tick_queue) :
      fmx_playout_get_monitor (&self->playout);
}

static FmxPlayoutStats
gst_qm_playout_get_counters (const GstQmPlayout * self)
{
  FmxPlayoutStats counters;
  FmxTickQueueStats s;

  fmx_playout_get_stats (&self->playout, &counters);
  if (gst_qm_playout_is_ticking (self)) {
    fmx_tick_queue_get_stats (&self->tick_queue, &s);
    counters.n_played = s.n_played;
    counters.n_dropped = s.n_dropped;
    counters.n_late = s.n_full + s.n_old;
    counters.n_grown = s.n_gaps;
  }
  return counters;
}

void
gst_qm_playout_add_stats (const GstQmPlayout * self, GstStructure * stats)
{
  const FmxQueueMonitor *monitor;
  FmxPlayoutStats s;
  GValue counts = G_VALUE_INIT, thresholds = G_VALUE_INIT;

  gst_value_array_init (&counts, N_STATS_POSITIONS);
  gst_value_array_init (&thresholds, N_STATS_POSITIONS);
  monitor = gst_qm_playout_get_monitor (self);
  for (guint k = 1; k <= N_STATS_POSITIONS; k++) {
    append_uint64 (&counts, fmx_queue_monitor_count (monitor, k));
    append_uint64 (&thresholds, fmx_queue_monitor_threshold (monitor, k));
  }
  s = gst_qm_playout_get_counters (self);
  gst_structure_set (stats,
      "qm-delay", G_TYPE_UINT64, gst_qm_playout_get_delay (self),
      "qm-need", G_TYPE_UINT64,
      (guint64) fmx_playout_get_need (&self->playout),
      "qm-offset", G_TYPE_INT64, self->output.offset,
      "qm-played", G_TYPE_UINT64, s.n_played,
      "qm-shrunk", G_TYPE_UINT64, self->n_shrunk,
      "qm-dropped", G_TYPE_UINT64,
      gst_qm_playout_is_shifting (self) ? 0 : s.n_dropped,
      "qm-late", G_TYPE_UINT64, s.n_late,
      "qm-grown", G_TYPE_UINT64, s.n_grown,
      "qm-silence-jumps", G_TYPE_UINT64, s.n_jumps,
      "qm-restarts", G_TYPE_UINT64, s.n_restarts,
      "qm-rule-changes", G_TYPE_UINT64, s.n_rule_changes,
      "qm-asked-delay", G_TYPE_UINT64, self->stream.asked_delay,
      "qm-mean-interarrival", G_TYPE_UINT64,
      (guint64) fmx_interarrival_mean (&self->interarrival), NULL);
  gst_structure_take_value (stats, "qm-counts", &counts);
  gst_structure_take_value (stats, "qm-thresholds", &thresholds);
}
