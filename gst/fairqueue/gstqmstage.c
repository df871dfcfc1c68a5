/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmstage.h"
#include "gstqmadjust.h"
#include "gstqmproxy.h"
#include "common/gstfairmixpause.h"
#include "gstqmarrival.h"
#include "gstqmhold.h"
#include "gstqminner.h"
#include "gst/common/gstfairmixlock.h"

#define DROP_MESSAGES "post-drop-messages"

/* What the inner jitter buffer counted */
typedef struct
{
  guint64 n_late, n_duplicates;
} GstQmRefused;

/* What the inner one is set to; what steers it, or did, goes at once, and only what is
 * asked for goes in steps */
typedef struct
{
  GstQmTurn turn;
  GstQmInnerDelay delay;
} GstQmInner;

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
  gint tells_of_drops;          /* atomic: the inner one is to */
  gint turning;                 /* atomic: see gst_qm_stage_is_turning() */

  GstFairmixLock lock;
  GstQmPlayout playout;
  GstQmHold hold;
  gboolean steers;              /* the inner one was set to what steers it */
  gboolean moving;              /* a thread is setting it ... */
  gboolean moved_since;         /* ... and has to do so once more */
  gint percent;                 /* full, as is said last */
  GstMessage *to_say;           /* (nullable): that, not posted yet */
  gboolean saying;              /* a thread posts it, and what comes meanwhile */
};

static void gst_qm_stage_unlock_and_turn (GstQmStage * self, gboolean moved);

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

/* Whoever wants it to tell of drops, or not to, may do so meanwhile: the last word holds. */
static void
let_tell_of_drops (GstQmStage * self)
{
  gint wanted;

  do {
    wanted = g_atomic_int_get (&self->tells_of_drops);
    g_object_set (self->inner, DROP_MESSAGES, wanted, NULL);
  } while (wanted != g_atomic_int_get (&self->tells_of_drops));
}

/* The inner one learns that there was a pause; what it counts for that, and says, is not
 * to be seen. */
static void
gst_qm_stage_tell_of_pause (GstQmStage * self, GstBuffer * again)
{
  GstQmRefused before = { 0, 0 }, after = { 0, 0 };
  gboolean tells = g_atomic_int_get (&self->tells_of_drops);

  if (tells)
    g_object_set (self->inner, DROP_MESSAGES, FALSE, NULL);
  get_refused (self, &before);
  chain_inner (self, again);
  get_refused (self, &after);
  if (tells)
    let_tell_of_drops (self);
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
  else if (starts)
    gst_qm_stage_start (self);
  return done;
}

/* Where packets are buffered no query waits among them. */
static gboolean
gst_qm_stage_query_in (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  gboolean may, done;

  if (!GST_QUERY_IS_SERIALIZED (query))
    return gst_pad_query_default (pad, parent, query);
  gst_fairmix_lock_acquire (&self->lock);
  may = gst_qm_hold_ask (&self->hold);
  gst_fairmix_lock_release (&self->lock);
  if (!may)
    return FALSE;
  done = gst_pad_query_default (pad, parent, query);
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_hold_note_answer (&self->hold);
  gst_qm_stage_unlock_and_turn (self, FALSE);
  return done;
}

/* --- on the way out --- */

/* Returns: FALSE if it may go on holding packets back */
static gboolean
set_inner_in_turn (GstQmStage * self, const GstQmInner * to, gboolean at_once)
{
  guint before_ms = gst_qm_inner_get_latency (self->inner);
  gboolean ended;

  g_atomic_int_set (&self->turning, TRUE);
  ended = gst_qm_turn_begin (&to->turn, self->inner, self->inner_sink);
  gst_qm_inner_set_delay (self->inner, &to->delay, at_once || to->turn.ends);
  g_atomic_int_set (&self->turning, FALSE);
  gst_qm_turn_finish (&to->turn, self->inner);
  if (before_ms != to->delay.latency_ms)
    gst_element_post_message (self->inner,
        gst_message_new_latency (GST_OBJECT (self->inner)));
  return ended;
}

/* with the lock */
static GstQmInner
gst_qm_stage_take_inner (GstQmStage * self)
{
  const GstQmPlayoutSettings *settings = &self->playout.settings;
  const GstQmSteering *steering = &self->playout.steering;
  GstQmInner to;

  gst_qm_hold_take_turn (&self->hold, &to.turn);
  if (settings->active) {
    to.delay.latency_ms = (guint) (steering->cover / GST_MSECOND);
    to.delay.ts_offset = gst_qm_steering_ts_offset (steering);
    to.delay.step = 0;
  } else {
    to.delay.latency_ms = (guint) (settings->fixed_delay / GST_MSECOND);
    to.delay.ts_offset = settings->ts_offset;
    to.delay.step = settings->max_ts_offset_adjustment;
  }
  return to;
}

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
    GstQmInner to = gst_qm_stage_take_inner (self);
    gboolean at_once = self->steers || self->playout.settings.active;
    gboolean ended;

    self->steers = self->playout.settings.active;
    self->moving = TRUE;
    self->moved_since = FALSE;
    gst_fairmix_lock_release (&self->lock);
    ended = set_inner_in_turn (self, &to, at_once);
    gst_fairmix_lock_acquire (&self->lock);
    if (!ended)
      gst_qm_hold_flush (&self->hold);
    self->moving = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
}

/* Ends a piece with the lock, and sets the inner one if what holds has @moved, or if that
 * piece made a turn of its hold due. */
static void
gst_qm_stage_unlock_and_turn (GstQmStage * self, gboolean moved)
{
  gboolean turns = moved || gst_qm_hold_is_due (&self->hold);

  gst_fairmix_lock_release (&self->lock);
  if (turns)
    gst_qm_stage_move_inner (self);
}

/* The inner jitter buffer has just written its timestamps into @buffer: so may
 * we. */
static GstFlowReturn
gst_qm_stage_chain_out (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstQmStage *self = GST_PAD_ELEMENT_PRIVATE (pad);
  GstQmPassage p = { 0 };
  void (*changed) (gpointer);
  gpointer changed_data;

  if (!g_atomic_int_get (&self->active))
    return gst_pad_push (self->srcpad, buffer);
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_playout_pass (&self->playout, buffer, &p);
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
  offset = gst_qm_playout_get_shift (&self->playout);
  gst_fairmix_lock_release (&self->lock);
  if (offset == 0 || !GST_CLOCK_TIME_IS_VALID (timestamp))
    return event;
  event = gst_event_make_writable (event);
  gst_structure_set (gst_event_writable_structure (event), "timestamp",
      G_TYPE_UINT64, (guint64) MAX ((gint64) timestamp + offset, 0), NULL);
  return event;
}

/* Ends a piece with the lock, and posts how full it is: @message (transfer full).  What is
 * said last is what was so last: of threads that come together one posts for all, and
 * nobody waits, for who listens may call in here. */
static void
gst_qm_stage_unlock_and_say (GstQmStage * self, GstMessage * message,
    gint percent)
{
  GstMessage *outdated = self->to_say;

  self->percent = percent;
  self->to_say = message;
  while (self->to_say != NULL && !self->saying) {
    message = g_steal_pointer (&self->to_say);
    self->saying = TRUE;
    gst_fairmix_lock_release (&self->lock);
    gst_element_post_message (self->owner, message);
    gst_fairmix_lock_acquire (&self->lock);
    self->saying = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
  g_clear_pointer (&outdated, gst_message_unref);
}

/* Whoever was told to wait until it is full need not. */
static void
gst_qm_stage_end_hold (GstQmStage * self)
{
  GstMessage *message =
      gst_message_new_buffering (GST_OBJECT (self->owner), 100);

  gst_message_set_buffering_stats (message, GST_BUFFERING_LIVE, -1, -1, -1);
  gst_fairmix_lock_acquire (&self->lock);
  if (gst_qm_hold_end (&self->hold) && self->percent != 100) {
    gst_qm_stage_unlock_and_say (self, message, 100);
  } else {
    gst_fairmix_lock_release (&self->lock);
    gst_message_unref (message);
  }
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
      gst_qm_format_read_caps (&self->playout.format, caps);
      gst_fairmix_lock_release (&self->lock);
      break;
    case GST_EVENT_SEGMENT:
      gst_fairmix_lock_acquire (&self->lock);
      gst_qm_stage_copy_segment (event, &self->playout.line);
      gst_fairmix_lock_release (&self->lock);
      break;
    case GST_EVENT_FLUSH_STOP:
      gst_fairmix_lock_acquire (&self->lock);
      gst_qm_line_set (&self->playout.line, NULL);
      gst_qm_playout_forget (&self->playout);
      active = self->playout.settings.active;
      gst_fairmix_lock_release (&self->lock);
      if (active)
        gst_qm_stage_release_inner (self);
      break;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      if (gst_qm_turn_is_mark (event)) {
        gst_qm_stage_end_hold (self);
        gst_event_unref (event);
        return TRUE;
      }
      event = gst_qm_stage_shift_lost (self, event);
      break;
    default:
      break;
  }
  return gst_pad_event_default (pad, parent, event);
}

static void
gst_qm_stage_set_stretched (GstQmStage * self, gboolean stretched)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->playout.stretched = stretched;
  gst_fairmix_lock_release (&self->lock);
}

/* The inner one has taken the pipeline's latency for its own.  In mode buffer, even for a
 * moment, it fills up to that. */
static void
gst_qm_stage_note_latency (GstQmStage * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->moving)
    gst_qm_hold_flush (&self->hold);
  gst_qm_stage_unlock_and_turn (self, g_atomic_int_get (&self->active));
}

static gboolean
gst_qm_stage_event_up (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  gboolean is_latency = GST_EVENT_TYPE (event) == GST_EVENT_LATENCY;
  gboolean done;

  if (gst_qm_stretcher_event_is (event)) {
    gst_qm_stage_set_stretched (self, TRUE);
    gst_event_unref (event);
    return TRUE;
  }
  /* somebody else may be there now; who stretches says so again when it is needed */
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    gst_qm_stage_set_stretched (self, FALSE);
  done = gst_pad_event_default (pad, parent, event);
  if (is_latency)
    gst_qm_stage_note_latency (self);
  return done;
}

/* The delay is in the timestamps: nothing is added to the latency of what is
 * upstream, and nothing changes with the delay. */
static gboolean
gst_qm_stage_query_latency (GstQmStage * self, GstQuery * query)
{
  GstClockTime min;

  if (!gst_pad_peer_query (self->sinkpad, query))
    return FALSE;
  gst_query_parse_latency (query, NULL, &min, NULL);
  gst_query_set_latency (query, TRUE, min, GST_CLOCK_TIME_NONE);
  return TRUE;
}

/* The inner one says where its own last timestamp is. */
static void
gst_qm_stage_shift_position (GstQmStage * self, GstQuery * query)
{
  GstFormat format;
  gint64 position;

  gst_query_parse_position (query, &format, &position);
  if (format != GST_FORMAT_TIME || position < 0)
    return;
  gst_fairmix_lock_acquire (&self->lock);
  position += self->playout.output.moved;
  gst_fairmix_lock_release (&self->lock);
  gst_query_set_position (query, format, MAX (position, 0));
}

static gboolean
gst_qm_stage_query_up (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstQmStage *self = gst_pad_get_element_private (pad);
  gboolean active = g_atomic_int_get (&self->active);

  if (active && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    return gst_qm_stage_query_latency (self, query);
  if (!gst_pad_query_default (pad, parent, query))
    return FALSE;
  if (active && GST_QUERY_TYPE (query) == GST_QUERY_POSITION)
    gst_qm_stage_shift_position (self, query);
  return TRUE;
}

/* --- what qmjitterbuffer calls --- */

void
gst_qm_stage_release_inner (GstQmStage * self)
{
  const GstQmSteering none = { 0, 0 };

  gst_fairmix_lock_acquire (&self->lock);
  self->playout.steering = none;
  self->playout.stream.known = FALSE;
  gst_qm_stage_unlock_and_turn (self, TRUE);
}

void
gst_qm_stage_set_inner_property (GstQmStage * self, const GValue * value,
    GParamSpec * pspec)
{
  if (g_str_equal (pspec->name, DROP_MESSAGES))
    g_atomic_int_set (&self->tells_of_drops, g_value_get_boolean (value));
  gst_qm_proxy_set (G_OBJECT (self->inner), value, pspec);
}

void
gst_qm_stage_set_mode (GstQmStage * self, gint mode)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->hold.wanted = mode;
  gst_qm_stage_unlock_and_turn (self, FALSE);
}

guint64
gst_qm_stage_set_active (GstQmStage * self, gboolean active, guint64 offset)
{
  guint64 last = 0;

  g_signal_emit_by_name (self->inner, "set-active", active, offset, &last);
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_hold_set_active (&self->hold, active, offset);
  if (active)
    gst_qm_stage_unlock_and_turn (self, FALSE);
  else
    gst_fairmix_lock_release (&self->lock);
  return last;
}

void
gst_qm_stage_say_percent (GstQmStage * self, GstMessage * message)
{
  gint percent;

  gst_message_parse_buffering (message, &percent);
  gst_fairmix_lock_acquire (&self->lock);
  if (gst_qm_hold_buffers (&self->hold)) {
    gst_qm_stage_unlock_and_say (self, message, percent);
  } else {
    gst_fairmix_lock_release (&self->lock);
    gst_message_unref (message);
  }
}

gboolean
gst_qm_stage_is_turning (GstQmStage * self)
{
  return g_atomic_int_get (&self->turning);
}

void
gst_qm_stage_open (GstQmStage * self)
{
  g_atomic_int_set (&self->closed, FALSE);
}

void
gst_qm_stage_start (GstQmStage * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_hold_flush (&self->hold);
  gst_qm_stage_unlock_and_turn (self, FALSE);
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
  gst_pad_stop_task (inner_src);        /* of a flush that ended meanwhile */
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
  gst_qm_line_set (&self->playout.line, NULL);
  gst_qm_arrival_init (&self->arrival);
  gst_qm_playout_forget (&self->playout);
  self->playout.stretched = FALSE;
  active = self->playout.settings.active;
  gst_fairmix_lock_release (&self->lock);
  if (active)
    gst_qm_stage_release_inner (self);
}

void
gst_qm_stage_get_settings (GstQmStage * self, GstQmPlayoutSettings * settings)
{
  gst_fairmix_lock_acquire (&self->lock);
  *settings = self->playout.settings;
  gst_fairmix_lock_release (&self->lock);
}

void
gst_qm_stage_set_settings (GstQmStage * self,
    const GstQmPlayoutSettings * settings)
{
  gboolean moved;

  gst_fairmix_lock_acquire (&self->lock);
  moved = !settings->active || !self->playout.settings.active;
  gst_qm_playout_set_settings (&self->playout, settings);
  g_atomic_int_set (&self->active, settings->active);
  gst_fairmix_lock_release (&self->lock);
  if (moved)
    gst_qm_stage_move_inner (self);
}

void
gst_qm_stage_set_clock_rate (GstQmStage * self, guint pt, gint clock_rate)
{
  g_return_if_fail (pt < G_N_ELEMENTS (self->playout.format.clock_rates));

  gst_fairmix_lock_acquire (&self->lock);
  self->playout.format.clock_rates[pt] = clock_rate;
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
gst_qm_stage_get_offsets (GstQmStage * self, GstQmPlayoutOffsets * offsets)
{
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_playout_get_offsets (&self->playout, offsets);
  gst_fairmix_lock_release (&self->lock);
}

void
gst_qm_stage_set_offset_floor (GstQmStage * self, GstClockTimeDiff floor)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->playout.offset_floor = floor;
  gst_fairmix_lock_release (&self->lock);
}

GstClockTime
gst_qm_stage_get_delay (GstQmStage * self)
{
  GstClockTime delay;

  gst_fairmix_lock_acquire (&self->lock);
  delay = gst_qm_playout_get_delay (&self->playout);
  gst_fairmix_lock_release (&self->lock);
  return delay;
}

void
gst_qm_stage_add_stats (GstQmStage * self, GstStructure * stats)
{
  gst_fairmix_lock_acquire (&self->lock);
  gst_qm_refused_take (stats, &self->again);
  gst_qm_playout_add_stats (&self->playout, stats);
  gst_fairmix_lock_release (&self->lock);
  gst_structure_set (stats, "qm-clocked", G_TYPE_UINT64,
      (guint64) (guint) g_atomic_int_get (&self->arrival.n_clocked), NULL);
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
  gst_pad_set_query_function (sinkpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_query_in));

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
  gst_pad_set_query_function (srcpad,
      GST_DEBUG_FUNCPTR (gst_qm_stage_query_up));
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
  gst_qm_playout_init (&self->playout, owner);
  gst_qm_arrival_init (&self->arrival);
  gst_qm_hold_init (&self->hold);
  self->percent = 100;
  gst_qm_stage_take_pads (self);
  return self;
}

void
gst_qm_stage_free (GstQmStage * self)
{
  gst_object_unref (self->inner_peer);
  gst_object_unref (self->inner_sink);
  gst_fairmix_lock_clear (&self->lock);
  g_clear_pointer (&self->to_say, gst_message_unref);
  g_free (self);
}
