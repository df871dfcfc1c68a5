/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmstage.h"
#include "fairmix/playout/fmx-interarrival.h"
#include "fairmix/playout/fmx-tick-queue.h"
#include "gstqmadjust.h"
#include "common/gstfairmixpause.h"
#include "gstqmarrival.h"
#include "gstqmdebug.h"
#include "gstqmstream.h"
#include "gst/common/gstfairmixlock.h"

#define GST_CAT_DEFAULT gst_qm_debug_category ()

#define WAIT_LESS (5 * GST_MSECOND)
#define COVER_STEP (100 * GST_MSECOND)
#define CHANGED_INTERVAL (500 * GST_MSECOND)
#define N_STATS_POSITIONS 8

/* What was done with the packets so far */
typedef struct
{
  FmxTime last_changed;
  GstClockTimeDiff offset;      /* our timestamps - the inner ones */
  GstClockTimeDiff ts_offset;   /* the part of lip-sync that is in them */
  gboolean discont;
  gboolean resync;
} Output;

/* One packet: what came in, and what is to be done with it */
typedef struct
{
  FmxPlayoutPacket packet;
  gboolean play;
  FmxTime playout;
  FmxTime inner_pts;            /* running time */
  GstEvent *event;
  GstMessage *message;
  gboolean inner_moved;         /* the inner one's settings are to follow */
  gboolean changed;
} Passage;

/* What the inner jitter buffer counted */
typedef struct
{
  guint64 n_late, n_duplicates;
} GstQmRefused;

/* How the inner jitter buffer is steered: it takes a packet that is later than
 * its latency for a new time line, so that is large (@cover); and it waits for
 * a missing packet for latency + ts-offset, which is our delay (@wait). */
typedef struct
{
  GstClockTime cover;
  GstClockTime wait;
} Steering;

struct _GstQmStage
{
  GstElement *owner;            /* has us, and the pads */
  GstPad *sinkpad, *srcpad;
  GstElement *inner;
  GstPad *inner_sink;
  GstPad *inner_peer;           /* takes what the inner one pushes */
  void (*changed) (gpointer user_data);
  gpointer changed_data;

  gint active;                  /* settings.active, without the lock */
  gint closed;                  /* the pads are, or are being closed */
  GstQmArrival arrival;
  GstFairmixPause pause;
  GstQmRefused again;           /* of what was only to tell of pauses */

  GstFairmixLock lock;
  /* Properties */
  GstQmStageSettings settings;
  GstClockTimeDiff offset_floor;

  /* State */
  GstQmLine line;
  GstQmFormat format;
  FmxPlayout playout;
  FmxInterarrival interarrival;
  FmxTickQueue tick_queue;
  GstQmStream stream;
  Output output;
  Steering steering;
  gboolean moving;              /* a thread is setting the inner one ... */
  gboolean moved_since;         /* ... and has to do so once more */
  guint64 n_shrunk;
  gboolean stretched;           /* somebody downstream stretches time */
};

/* --- on the way in --- */

static void
take_from (GstStructure * stats, const gchar * name, guint64 n)
{
  guint64 counted;

  if (n > 0 && gst_structure_get_uint64 (stats, name, &counted))
    gst_structure_set (stats, name, G_TYPE_UINT64, counted - MIN (n, counted),
        NULL);
}

static void
gst_qm_refused_take (GstStructure * stats, const GstQmRefused * refused)
{
  take_from (stats, "num-late", refused->n_late);
  take_from (stats, "num-duplicates", refused->n_duplicates);
}

static GstFlowReturn
chain_inner (GstQmStage * self, GstBuffer * buffer)
{
  return GST_PAD_CHAINFUNC (self->inner_sink) (self->inner_sink,
      GST_OBJECT_CAST (self->inner), buffer);
}

static void
get_refused (GstQmStage * self, GstQmRefused * refused)
{
  GstStructure *stats = NULL;

  g_object_get (self->inner, "stats", &stats, NULL);
  gst_structure_get (stats, "num-late", G_TYPE_UINT64, &refused->n_late,
      "num-duplicates", G_TYPE_UINT64, &refused->n_duplicates, NULL);
  gst_structure_free (stats);
}

/* The inner one learns that there was a pause; what it counts for that is not to be
 * seen. */
static void
gst_qm_stage_tell_of_pause (GstQmStage * self, GstBuffer * again)
{
  GstQmRefused before = { 0, 0 }, after = { 0, 0 };

  get_refused (self, &before);
  chain_inner (self, again);
  get_refused (self, &after);
  gst_fairmix_lock_acquire (&self->lock);
  self->again.n_late += after.n_late - before.n_late;
  self->again.n_duplicates += after.n_duplicates - before.n_duplicates;
  gst_fairmix_lock_release (&self->lock);
}

/* The bin's pad is the only way into the inner one, opened after it and closed
 * before it, and flushes with it: its lock and its flags hold for both. */
static GstFlowReturn
gst_qm_stage_chain_in (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstQmStage *self = GST_PAD_ELEMENT_PRIVATE (pad);
  GstBuffer *again;

  if (g_atomic_int_get (&self->active)) {
    buffer = gst_qm_arrival_note (&self->arrival, self->owner, buffer);
    again = gst_fairmix_pause_note (&self->pause, buffer);
    if (again != NULL)
      gst_qm_stage_tell_of_pause (self, again);
  }
  return chain_inner (self, buffer);
}

static gboolean
note_arrival_of_listed (GstBuffer ** buffer, guint i, gpointer user_data)
{
  GstQmStage *self = user_data;

  *buffer = gst_qm_arrival_note (&self->arrival, self->owner, *buffer);
  return TRUE;
}

static GstFlowReturn
gst_qm_stage_chain_list_in (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstQmStage *self = gst_pad_get_element_private (pad);

  if (g_atomic_int_get (&self->active)) {
    GstBuffer *again = NULL;

    list = gst_buffer_list_make_writable (list);
    gst_buffer_list_foreach (list, note_arrival_of_listed, self);
    if (gst_buffer_list_length (list) > 0)
      again = gst_fairmix_pause_note (&self->pause,
          gst_buffer_list_get (list, 0));
    if (again != NULL)
      gst_qm_stage_tell_of_pause (self, again);
    gst_fairmix_pause_note_rest (&self->pause, list);
  }
  return gst_pad_chain_list (self->inner_sink, list);
}

static void
gst_qm_stage_copy_segment (GstEvent * event, GstQmLine * line)
{
  const GstSegment *segment;

  gst_event_parse_segment (event, &segment);
  gst_qm_line_set (line, segment);
}

/* The end of a flush starts the inner one's thread again, whatever its pads are:
 * whoever closes them would wait for that thread. */
static gboolean
gst_qm_stage_event_in (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  gboolean done, starts = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP;

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    gst_qm_stage_copy_segment (event, &self->arrival.line);
  gst_fairmix_pause_event (&self->pause, event);
  done = gst_pad_event_default (pad, parent, event);
  if (starts && g_atomic_int_get (&self->closed))
    gst_pad_send_event (self->inner_sink, gst_event_new_flush_start ());
  return done;
}

/* --- with the lock held --- */

static void
gst_qm_stage_reset (GstQmStage * self)
{
  FmxInterarrivalParams params;

  fmx_playout_reset (&self->playout);
  fmx_interarrival_params_default (&params);
  fmx_interarrival_init (&self->interarrival, &params);
  fmx_tick_queue_reset (&self->tick_queue);
  memset (&self->output, 0, sizeof self->output);
  self->output.ts_offset = self->settings.ts_offset;
}

static void
gst_qm_stage_forget (GstQmStage * self)
{
  self->stream.known = FALSE;
  gst_qm_stage_reset (self);
}

static GstClockTimeDiff
steering_ts_offset (const Steering * steering)
{
  return GST_CLOCK_DIFF (steering->cover, steering->wait);
}

/* Puts the packet on the time line of arrivals.  FALSE if that cannot be. */
static gboolean
gst_qm_stage_place (GstQmStage * self, GstBuffer * buffer, Passage * p)
{
  GstClockTime arrival = GST_BUFFER_OFFSET_END (buffer);

  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET_NONE;
  if (!GST_CLOCK_TIME_IS_VALID (arrival))
    arrival = gst_qm_arrival_now (self->owner);
  switch (gst_qm_stream_place (&self->stream, &self->format, buffer, arrival,
          &p->packet)) {
    case GST_QM_STREAM_UNKNOWN:
      return FALSE;
    case GST_QM_STREAM_NEW:
      gst_qm_stage_reset (self);
      break;
    case GST_QM_STREAM_GOES_ON:
      break;
  }
  return TRUE;
}

static const gchar *
gst_qm_stage_reason (FmxPlayoutReason reason)
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
gst_qm_stage_adaptation_message (GstQmStage * self,
    const FmxPlayoutDecision * decision, gboolean dropped)
{
  FmxDuration after = fmx_playout_get_delay (&self->playout);
  FmxDuration before = MAX (after - decision->adjusted, 0);

  return gst_message_new_element (GST_OBJECT (self->owner),
      gst_structure_new ("fairmix-playout-adaptation",
          "ssrc", G_TYPE_UINT, self->stream.ssrc,
          "before", G_TYPE_UINT64, (guint64) before,
          "after", G_TYPE_UINT64, (guint64) after,
          "reason", G_TYPE_STRING, gst_qm_stage_reason (decision->reason),
          "dropped", G_TYPE_BOOLEAN, dropped, NULL));
}

/* Streams of one group: not earlier than the floor, as seen from the inner
 * timestamps; streams with retransmission: not earlier than that takes. */
static void
gst_qm_stage_update_minimum (GstQmStage * self)
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
gst_qm_stage_is_shifting (GstQmStage * self)
{
  return self->settings.shrink == GST_QM_SHRINK_SHIFT
      || (self->settings.shrink == GST_QM_SHRINK_AUTO && self->stretched);
}

static void
gst_qm_stage_decide_by_monitor (GstQmStage * self, Passage * p)
{
  FmxPlayoutDecision decision;

  gst_qm_stage_update_minimum (self);
  decision =
      fmx_playout_on_packet (&self->playout, &p->packet, self->stream.now);
  p->play = decision.action == FMX_PLAYOUT_PLAY || decision.action == FMX_PLAYOUT_MISSED;       /* for the decoder's sake */
  p->playout = decision.playout;
  if (decision.action == FMX_PLAYOUT_DROP_MONITOR
      && gst_qm_stage_is_shifting (self)) {
    p->play = TRUE;             /* in the slot of the one before it */
    p->playout -= p->packet.duration;
  }
  self->n_shrunk += decision.adjusted < 0;
  if (decision.adjusted != 0) {
    GST_DEBUG_OBJECT (self->owner, "delay %" GST_STIME_FORMAT " by %"
        GST_STIME_FORMAT ": %s", GST_STIME_ARGS (decision.delay),
        GST_STIME_ARGS (decision.adjusted),
        gst_qm_stage_reason (decision.reason));
    p->message = gst_qm_stage_adaptation_message (self, &decision, !p->play);
    p->event = gst_qm_adjust_event_new (decision.adjusted,
        fmx_playout_get_delay (&self->playout));
    p->changed = TRUE;
  }
  if (decision.adjusted != 0 || decision.reason == FMX_PLAYOUT_RESTART)
    self->output.resync = TRUE;
}

/* Where time stamps say nothing, it need not be audio. */
static gboolean
gst_qm_stage_is_ticking (GstQmStage * self)
{
  return self->settings.timing != GST_QM_TIMING_RTP
      && (self->settings.timing != GST_QM_TIMING_TICK || self->format.is_audio);
}

/* [nanoManipulator 3.2] "explicitly track the mean interarrival time from the
 * microscope and use that as the effective inter-frame time for queue playout" */
static FmxDuration
gst_qm_stage_tick_interval (GstQmStage * self, const Passage * p)
{
  if (self->settings.timing == GST_QM_TIMING_TICK)
    return p->packet.duration;
  fmx_interarrival_on_packet (&self->interarrival, self->stream.now);
  return MAX (fmx_interarrival_mean (&self->interarrival), FMX_USECOND);
}

/* The paper's FIFO: whatever the time stamps say */
static void
gst_qm_stage_decide_by_tick (GstQmStage * self, Passage * p)
{
  FmxTickQueueDecision decision =
      fmx_tick_queue_on_packet (&self->tick_queue, p->packet.ext_seq,
      gst_qm_stage_tick_interval (self, p), self->stream.now);

  p->play = decision.action == FMX_TICK_QUEUE_PLAY;
  self->n_shrunk += decision.action == FMX_TICK_QUEUE_DROP_MONITOR;
  p->playout = decision.tick;
  p->changed = !p->play || decision.after_gap;
  self->output.resync |= decision.after_gap;
}

static void
gst_qm_stage_decide (GstQmStage * self, Passage * p)
{
  Output *out = &self->output;
  FmxTime now = self->stream.now;

  p->play = TRUE;
  if (gst_qm_stage_is_ticking (self)) {
    gst_qm_stage_decide_by_tick (self, p);
  } else if (!self->format.is_audio) {
    GstClockTimeDiff fixed = (GstClockTimeDiff) self->settings.fixed_delay;

    fixed = MAX (fixed, self->offset_floor);
    out->resync |= fixed != out->offset;
    p->playout = p->inner_pts + fixed;
  } else {
    gst_qm_stage_decide_by_monitor (self, p);
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
gst_qm_stage_steer (GstQmStage * self, Passage * p)
{
  Steering *now = &self->steering;
  GstClockTime wait = MAX (self->output.offset, 0);
  GstClockTime cover = self->settings.playout.max_delay;

  if (gst_qm_stage_is_ticking (self))
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
gst_qm_stage_step_ts_offset (GstQmStage * self)
{
  Output *s = &self->output;
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
gst_qm_stage_position (GstQmStage * self, GstClockTimeDiff running_time)
{
  return gst_qm_from_running_time (&self->line, MAX (running_time, 0));
}

static void
gst_qm_stage_stamp (GstQmStage * self, GstBuffer * buffer, Passage * p)
{
  Output *s = &self->output;
  GstClockTimeDiff ts_offset = gst_qm_stage_step_ts_offset (self);

  GST_BUFFER_PTS (buffer) = gst_qm_stage_position (self,
      (GstClockTimeDiff) p->playout + ts_offset);
  GST_BUFFER_FLAG_UNSET (buffer, GST_BUFFER_FLAG_RESYNC);
  if (s->discont || s->resync) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_RESYNC);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  }
  s->discont = FALSE;
  s->resync = FALSE;
}

/* Under the lock: what is to be done with @buffer, which is writable */
static void
gst_qm_stage_pass (GstQmStage * self, GstBuffer * buffer, Passage * p)
{
  p->play = TRUE;
  if (!self->settings.active || !GST_BUFFER_PTS_IS_VALID (buffer))
    return;
  p->inner_pts = gst_qm_to_running_time (&self->line, GST_BUFFER_PTS (buffer));
  if (!gst_qm_stage_place (self, buffer, p)
      || !GST_CLOCK_TIME_IS_VALID (p->inner_pts))
    return;

  p->inner_pts -= steering_ts_offset (&self->steering);
  gst_qm_stage_decide (self, p);
  if (p->play) {
    gst_qm_stage_steer (self, p);
    gst_qm_stage_stamp (self, buffer, p);
  } else {
    self->output.discont = TRUE;
  }
}

/* --- on the way out --- */

/* Sets the inner one to what holds now.  Threads that steer at the same time
 * must not overtake each other on the way there: one at a time sets it, and
 * sets it again if that was not the last word.  Who listens to the inner one
 * may call back in here, so that nobody waits. */
static void
gst_qm_stage_move_inner (GstQmStage * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->moved_since = TRUE;
  while (self->moved_since && !self->moving) {
    gboolean active = self->settings.active;
    GstClockTime latency = active ? self->steering.cover
        : self->settings.fixed_delay;
    GstClockTimeDiff ts_offset = active ? steering_ts_offset (&self->steering)
        : self->settings.ts_offset;

    self->moving = TRUE;
    self->moved_since = FALSE;
    gst_fairmix_lock_release (&self->lock);
    g_object_set (self->inner, "latency", (guint) (latency / GST_MSECOND),
        "ts-offset", ts_offset, NULL);
    gst_fairmix_lock_acquire (&self->lock);
    self->moving = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
}

/* The inner jitter buffer has just written its timestamps into @buffer: so may
 * we. */
static GstFlowReturn
gst_qm_stage_chain_out (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstQmStage *self = GST_PAD_ELEMENT_PRIVATE (pad);
  Passage p = { 0 };
  void (*changed) (gpointer);
  gpointer changed_data;

  if (!g_atomic_int_get (&self->active))
    return gst_pad_push (self->srcpad, buffer);
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_stage_pass (self, buffer, &p);
  changed = p.changed ? self->changed : NULL;
  changed_data = self->changed_data;
  gst_fairmix_lock_release (&self->lock);

  if (p.inner_moved)
    gst_qm_stage_move_inner (self);
  if (p.message != NULL)
    gst_element_post_message (self->owner, p.message);
  if (changed != NULL)
    changed (changed_data);
  if (p.event != NULL)
    gst_pad_push_event (self->srcpad, p.event);
  if (p.play)
    return gst_pad_push (self->srcpad, buffer);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* What is lost had a time of the inner jitter buffer: it gets one of ours. */
static GstEvent *
gst_qm_stage_shift_lost (GstQmStage * self, GstEvent * event)
{
  const GstStructure *s = gst_event_get_structure (event);
  GstClockTimeDiff offset;
  guint64 timestamp;

  if (s == NULL || !gst_structure_has_name (s, "GstRTPPacketLost")
      || !gst_structure_get_uint64 (s, "timestamp", &timestamp))
    return event;
  gst_fairmix_lock_acquire (&self->lock);
  offset = self->settings.active && self->stream.known ?
      self->output.offset + self->output.ts_offset
      - steering_ts_offset (&self->steering) : 0;
  gst_fairmix_lock_release (&self->lock);
  if (offset == 0 || !GST_CLOCK_TIME_IS_VALID (timestamp))
    return event;
  event = gst_event_make_writable (event);
  gst_structure_set (gst_event_writable_structure (event), "timestamp",
      G_TYPE_UINT64, (guint64) MAX ((gint64) timestamp + offset, 0), NULL);
  return event;
}

static gboolean
gst_qm_stage_event_out (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  GstCaps *caps;
  gboolean active;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      gst_fairmix_lock_acquire (&self->lock);
      gst_qm_format_read_caps (&self->format, caps);
      gst_fairmix_lock_release (&self->lock);
      break;
    case GST_EVENT_SEGMENT:
      gst_fairmix_lock_acquire (&self->lock);
      gst_qm_stage_copy_segment (event, &self->line);
      gst_fairmix_lock_release (&self->lock);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_fairmix_lock_acquire (&self->lock);
      gst_qm_line_set (&self->line, NULL);
      gst_qm_stage_forget (self);
      active = self->settings.active;
      gst_fairmix_lock_release (&self->lock);
      if (active)
        gst_qm_stage_release_inner (self);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      event = gst_qm_stage_shift_lost (self, event);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

/* The inner one takes the pipeline's latency for its own. */
static gboolean
gst_qm_stage_event_up (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  gboolean is_latency = GST_EVENT_TYPE (event) == GST_EVENT_LATENCY;
  gboolean done;

  if (gst_qm_stretcher_event_is (event)) {
    gst_fairmix_lock_acquire (&self->lock);
    self->stretched = TRUE;
    gst_fairmix_lock_release (&self->lock);
    gst_event_unref (event);
    return TRUE;
  }
  done = gst_pad_event_default (pad, parent, event);
  if (is_latency && g_atomic_int_get (&self->active))
    gst_qm_stage_move_inner (self);
  return done;
}

/* --- what qmjitterbuffer calls --- */

void
gst_qm_stage_release_inner (GstQmStage * self)
{
  const Steering none = { 0, 0 };

  gst_fairmix_lock_acquire (&self->lock);
  self->steering = none;
  self->stream.known = FALSE;
  gst_fairmix_lock_release (&self->lock);
  gst_qm_stage_move_inner (self);
}

void
gst_qm_stage_open (GstQmStage * self)
{
  g_atomic_int_set (&self->closed, FALSE);
}

/* From the far end on, so that none waits for another that waits downstream */
void
gst_qm_stage_close (GstQmStage * self)
{
  GstPad *inner_src = gst_pad_get_peer (self->inner_peer);

  g_atomic_int_set (&self->closed, TRUE);
  gst_pad_set_active (self->srcpad, FALSE);
  gst_pad_set_active (inner_src, FALSE);
  gst_pad_set_active (self->sinkpad, FALSE);
  gst_object_unref (inner_src);
}

void
gst_qm_stage_set_playing (GstQmStage * self, gboolean playing)
{
  g_atomic_int_set (&self->arrival.playing, playing);
}

void
gst_qm_stage_stop (GstQmStage * self)
{
  gboolean active;

  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_line_set (&self->line, NULL);
  gst_qm_arrival_init (&self->arrival);
  gst_qm_stage_forget (self);
  self->stretched = FALSE;
  active = self->settings.active;
  gst_fairmix_lock_release (&self->lock);
  if (active)
    gst_qm_stage_release_inner (self);
}

void
gst_qm_stage_get_settings (GstQmStage * self, GstQmStageSettings * settings)
{
  gst_fairmix_lock_acquire (&self->lock);
  *settings = self->settings;
  gst_fairmix_lock_release (&self->lock);
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

static void
gst_qm_stage_set_playout (GstQmStage * self, const FmxPlayoutParams * playout)
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
  gst_qm_stage_reset (self);
}

void
gst_qm_stage_set_settings (GstQmStage * self,
    const GstQmStageSettings * settings)
{
  const Steering none = { 0, 0 };
  gboolean moved;

  gst_fairmix_lock_acquire (&self->lock);
  if (!same_monitor (&settings->playout, &self->settings.playout)
      || settings->active != self->settings.active) {
    gst_qm_stage_set_playout (self, &settings->playout);
    self->stream.known = FALSE;
  }
  if (settings->active && !self->settings.active)
    self->steering = none;
  moved = !settings->active || !self->settings.active;
  self->settings = *settings;
  g_atomic_int_set (&self->active, settings->active);
  gst_fairmix_lock_release (&self->lock);
  if (moved)
    gst_qm_stage_move_inner (self);
}

void
gst_qm_stage_set_clock_rate (GstQmStage * self, guint pt, gint clock_rate)
{
  g_return_if_fail (pt < G_N_ELEMENTS (self->format.clock_rates));

  gst_fairmix_lock_acquire (&self->lock);
  self->format.clock_rates[pt] = clock_rate;
  gst_fairmix_lock_release (&self->lock);
}

void
gst_qm_stage_set_changed_callback (GstQmStage * self,
    void (*changed) (gpointer user_data), gpointer user_data)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->changed = changed;
  self->changed_data = user_data;
  gst_fairmix_lock_release (&self->lock);
}

void
gst_qm_stage_get_offsets (GstQmStage * self, GstQmStageOffsets * offsets)
{
  gst_fairmix_lock_acquire (&self->lock);
  offsets->offset = self->output.offset;
  if (!self->stream.known)
    offsets->need = 0;
  else if (!self->format.is_audio)
    offsets->need = (GstClockTimeDiff) self->settings.fixed_delay;
  else
    offsets->need = self->output.offset - fmx_playout_get_delay (&self->playout)
        + fmx_playout_get_need (&self->playout);
  gst_fairmix_lock_release (&self->lock);
}

void
gst_qm_stage_set_offset_floor (GstQmStage * self, GstClockTimeDiff floor)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->offset_floor = floor;
  gst_fairmix_lock_release (&self->lock);
}

static GstClockTime
gst_qm_stage_current_delay (GstQmStage * self)
{
  return gst_qm_stage_is_ticking (self) ? MAX (self->output.offset, 0) :
      fmx_playout_get_delay (&self->playout);
}

GstClockTime
gst_qm_stage_get_delay (GstQmStage * self)
{
  GstClockTime delay;

  gst_fairmix_lock_acquire (&self->lock);
  delay = gst_qm_stage_current_delay (self);
  gst_fairmix_lock_release (&self->lock);
  return delay;
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
gst_qm_stage_get_monitor (GstQmStage * self)
{
  return gst_qm_stage_is_ticking (self) ?
      fmx_tick_queue_get_monitor (&self->tick_queue) :
      fmx_playout_get_monitor (&self->playout);
}

static FmxPlayoutStats
gst_qm_stage_get_counters (GstQmStage * self)
{
  FmxPlayoutStats counters;
  FmxTickQueueStats s;

  fmx_playout_get_stats (&self->playout, &counters);
  if (gst_qm_stage_is_ticking (self)) {
    fmx_tick_queue_get_stats (&self->tick_queue, &s);
    counters.n_played = s.n_played;
    counters.n_dropped = s.n_dropped;
    counters.n_late = s.n_full + s.n_old;
    counters.n_grown = s.n_gaps;
  }
  return counters;
}

void
gst_qm_stage_add_stats (GstQmStage * self, GstStructure * stats)
{
  const FmxQueueMonitor *monitor;
  FmxPlayoutStats s;
  GValue counts = G_VALUE_INIT, thresholds = G_VALUE_INIT;

  gst_value_array_init (&counts, N_STATS_POSITIONS);
  gst_value_array_init (&thresholds, N_STATS_POSITIONS);
  gst_fairmix_lock_acquire (&self->lock);
  monitor = gst_qm_stage_get_monitor (self);
  for (guint k = 1; k <= N_STATS_POSITIONS; k++) {
    append_uint64 (&counts, fmx_queue_monitor_count (monitor, k));
    append_uint64 (&thresholds, fmx_queue_monitor_threshold (monitor, k));
  }
  s = gst_qm_stage_get_counters (self);
  gst_qm_refused_take (stats, &self->again);
  gst_structure_set (stats,
      "qm-delay", G_TYPE_UINT64, gst_qm_stage_current_delay (self),
      "qm-need", G_TYPE_UINT64,
      (guint64) fmx_playout_get_need (&self->playout),
      "qm-offset", G_TYPE_INT64, self->output.offset,
      "qm-played", G_TYPE_UINT64, s.n_played,
      "qm-shrunk", G_TYPE_UINT64, self->n_shrunk,
      "qm-dropped", G_TYPE_UINT64,
      gst_qm_stage_is_shifting (self) ? 0 : s.n_dropped,
      "qm-late", G_TYPE_UINT64, s.n_late,
      "qm-grown", G_TYPE_UINT64, s.n_grown,
      "qm-silence-jumps", G_TYPE_UINT64, s.n_jumps,
      "qm-restarts", G_TYPE_UINT64, s.n_restarts,
      "qm-rule-changes", G_TYPE_UINT64, s.n_rule_changes,
      "qm-asked-delay", G_TYPE_UINT64, self->stream.asked_delay,
      "qm-clocked", G_TYPE_UINT64,
      (guint64) (guint) g_atomic_int_get (&self->arrival.n_clocked),
      "qm-mean-interarrival", G_TYPE_UINT64,
      (guint64) fmx_interarrival_mean (&self->interarrival), NULL);
  gst_fairmix_lock_release (&self->lock);
  gst_structure_take_value (stats, "qm-counts", &counts);
  gst_structure_take_value (stats, "qm-thresholds", &thresholds);
}

/* --- object --- */

static GstIterator *
gst_qm_stage_iterate_links (GstPad * pad, GstObject * parent)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  GstIterator *links;
  GValue other = G_VALUE_INIT;

  g_value_init (&other, GST_TYPE_PAD);
  g_value_set_object (&other,
      pad == self->srcpad ? self->inner_peer : self->srcpad);
  links = gst_iterator_new_single (GST_TYPE_PAD, &other);
  g_value_unset (&other);
  return links;
}

static gboolean
gst_qm_stage_activate_src (GstPad * pad, GstObject * parent, GstPadMode mode,
    gboolean active)
{
  GstQmStage *self = gst_pad_get_element_private (pad);

  return gst_pad_activate_mode (self->inner_peer, mode, active);
}

/* Caps, queries and events pass between the source pad and the one that the
 * inner jitter buffer pushes to as they do in a ghost pad, whose inner pad has a
 * parent, to be referenced for each packet: 190 instructions more. */
static void
gst_qm_stage_proxy (GstQmStage * self, GstPad * pad)
{
  gst_pad_set_element_private (pad, self);
  gst_pad_set_iterate_internal_links_function (pad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_iterate_links));
  GST_PAD_SET_PROXY_CAPS (pad);
  GST_PAD_SET_PROXY_SCHEDULING (pad);
  GST_PAD_SET_PROXY_ALLOCATION (pad);
}

static void
gst_qm_stage_take_pads (GstQmStage * self)
{
  GstPad *sinkpad = self->sinkpad, *srcpad = self->srcpad;
  GstPad *inner_src = gst_element_get_static_pad (self->inner, "src");

  gst_pad_set_element_private (sinkpad, self);
  gst_pad_set_chain_function (sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_chain_in));
  gst_pad_set_chain_list_function (sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_chain_list_in));
  gst_pad_set_event_function (sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_event_in));

  gst_qm_stage_proxy (self, self->inner_peer);
  gst_pad_set_chain_function (self->inner_peer,
      GST_DEBUG_FUNCPTR (gst_qm_stage_chain_out));
  gst_pad_set_event_function (self->inner_peer,
      GST_DEBUG_FUNCPTR (gst_qm_stage_event_out));
  gst_pad_link_full (inner_src, self->inner_peer, GST_PAD_LINK_CHECK_NOTHING);
  gst_object_unref (inner_src);

  gst_qm_stage_proxy (self, srcpad);
  gst_pad_set_event_function (srcpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_event_up));
  gst_pad_set_activatemode_function (srcpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_activate_src));
}

GstQmStage *
gst_qm_stage_new (GstElement * owner, GstElement * inner, GstPad * sinkpad,
    GstPad * srcpad)
{
  GstQmStage *self = g_new0 (GstQmStage, 1);

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->owner = owner;
  self->inner = inner;
  self->inner_sink = gst_element_get_static_pad (inner, "sink");
  self->inner_peer = gst_object_ref_sink (gst_pad_new (NULL, GST_PAD_SINK));
  self->sinkpad = sinkpad;
  self->srcpad = srcpad;
  fmx_playout_params_default (&self->settings.playout);
  self->format.is_audio = TRUE;
  gst_qm_line_set (&self->line, NULL);
  gst_qm_arrival_init (&self->arrival);
  gst_qm_stage_set_playout (self, &self->settings.playout);
  gst_qm_stage_take_pads (self);
  return self;
}

void
gst_qm_stage_free (GstQmStage * self)
{
  gst_object_unref (self->inner_peer);
  gst_object_unref (self->inner_sink);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self);
}
