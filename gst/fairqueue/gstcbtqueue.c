/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-cbtqueue
 * @title: cbtqueue
 *
 * One queue for several classes of traffic in front of a link that they share.
 * Each sink pad is a class.  Packets leave in the order in which they came, at
 * most #GstCbtQueue:bitrate; which of them are dropped is decided when they
 * come, by #GstCbtQueue:discipline:
 *
 * - `fifo`: those that find the queue full
 * - `red`: some of all, the more the longer the queue is (random early
 *   detection)
 * - `cbt`: class-based thresholds: pads of class `tcp` get RED; others are
 *   dropped while more than #GstCbtQueuePad:threshold of their own packets
 *   wait, on average.  So who does not answer to losses cannot take the link
 *   from who does.
 *
 * Packets that carry ECN in a #GstNetControlMessageMeta are marked where RED
 * would drop them.
 *
 * While a class loses more than 5 % of its packets for three seconds, an element
 * message `fairmix-queue-drops` says so, with `event` (`began` or `ended`),
 * `pad`, `class` and `share` (of the last second, 0 to 1).
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 cbtqueue name=q bitrate=1000000 sink_0::class=marked ! udpsink host=127.0.0.1 port=5008 udpsrc port=5006 ! q.sink_0 udpsrc port=5007 ! q.sink_1
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstcbtqueue.h"
#include "gstcbtqueueitems.h"
#include "gstcbtqueuepad.h"

#include "fairmix/base/fmx-units.h"
#include "gst/common/gstfairmixecn.h"
#include "gst/common/gstfairmixlock.h"
#include "gst/common/gstfairmixpads.h"
#include "gst/common/gstfairmixstats.h"
#include "gst/common/gstfairmixtime.h"

GST_DEBUG_CATEGORY_STATIC (gst_cbt_queue_debug);
#define GST_CAT_DEFAULT gst_cbt_queue_debug

#define DEFAULT_BITRATE 0
#define DEFAULT_MAX_SIZE_BUFFERS 120
#define DEFAULT_RED_WEIGHT 0.002
#define TYPICAL_BYTES 1500      /* of a packet, where only their number counts */
#define MAX_EVENTS 1000         /* of a pad; those of no consequence then go */
#define CATCH_UP (10 * FMX_MSECOND)     /* a busy machine may be late by */

enum
{
  PROP_0,
  PROP_BITRATE,
  PROP_DISCIPLINE,
  PROP_MAX_SIZE_BUFFERS,
  PROP_MAX_SIZE_BYTES,
  PROP_MAX_SIZE_TIME,
  PROP_OVERHEAD,
  PROP_SEED,
  PROP_STATS,
  PROP_RED                      /* four of them */
};

struct _GstCbtQueue
{
  GstElement parent;

  GstPad *srcpad;

  GstFairmixLock lock;
  GCond changed;
  /* Properties */
  guint bitrate;
  gint discipline;
  guint max_size_buffers, max_size_bytes, overhead, seed;
  guint64 max_size_time;
  GstCbtQueueRed red;

  /* State */
  FmxClassQueue queue;
  FmxRng rng;
  GstFairmixTime time;
  GQueue items;
  gdouble mean_bytes;           /* of a packet; 0: none yet */
  gboolean stopped;             /* the source pad is not active */
  guint n_flushing;             /* sink pads that flush */
  guint flush_number;
  GstCbtQueuePad *pushing;      /* whose packet or event left last */
  guint next_number;            /* of a pad that nobody named */
  GstFlowReturn flow;
  GstClockID wait_id;           /* while a packet is on the link */
  gdouble left_bits;            /* of it, at left_at */
  FmxTime left_at;
  FmxTime free_at;              /* the link was, or will be */
  GstCbtQueueKnown known;       /* downstream */
};

G_DEFINE_TYPE_WITH_CODE (GstCbtQueue, gst_cbt_queue, GST_TYPE_ELEMENT,
    G_IMPLEMENT_INTERFACE (GST_TYPE_CHILD_PROXY,
        gst_fairmix_pads_child_proxy_init);
    GST_DEBUG_CATEGORY_INIT (gst_cbt_queue_debug, "cbtqueue", 0,
        "queue with class-based thresholds"));
GST_ELEMENT_REGISTER_DEFINE (cbtqueue, "cbtqueue", GST_RANK_NONE,
    GST_TYPE_CBT_QUEUE);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* --- with the lock held --- */

/* Wakes whoever waits, for what changed */
static void
gst_cbt_queue_wake (GstCbtQueue * self)
{
  if (self->wait_id != NULL)
    gst_clock_id_unschedule (self->wait_id);
  g_cond_broadcast (&self->changed);
}

/* The library's parameters out of our properties */
static void
gst_cbt_queue_update (GstCbtQueue * self)
{
  guint64 limit = self->max_size_bytes;
  FmxClassQueueParams params;

  if (self->max_size_time > 0 && self->bitrate > 0) {
    guint64 bytes = MAX (gst_util_uint64_scale (self->max_size_time,
            self->bitrate, 8 * GST_SECOND), 1);

    limit = limit > 0 ? MIN (limit, bytes) : bytes;
  }
  params.discipline = self->discipline;
  params.limit_packets = self->max_size_buffers;
  params.limit_bytes = limit;
  params.average.weight = self->red.weight;
  params.average.packet_time = self->bitrate > 0 ?
      fmx_time_from_s (8.0 * self->mean_bytes / self->bitrate) : 0;
  gst_cbt_queue_red_params (&self->red, &params.red);
  fmx_class_queue_set_params (&self->queue, &params);
}

/* The longest that a packet may wait; none if that is not known */
static GstClockTime
gst_cbt_queue_max_delay (GstCbtQueue * self)
{
  guint64 bytes = G_MAXUINT64;

  if (self->bitrate == 0)
    return GST_CLOCK_TIME_NONE;
  if (self->queue.params.limit_bytes > 0)
    bytes = self->queue.params.limit_bytes;
  if (self->max_size_buffers > 0)
    bytes = MIN (bytes, (guint64) self->max_size_buffers * TYPICAL_BYTES);
  if (bytes == G_MAXUINT64)
    return GST_CLOCK_TIME_NONE;
  return gst_util_uint64_scale (bytes + TYPICAL_BYTES, 8 * GST_SECOND,
      self->bitrate);
}

static void
gst_cbt_queue_append (GstCbtQueue * self, GstCbtQueuePad * pad, gpointer object,
    const FmxQueuePacket * packet, FmxTime now)
{
  gst_cbt_queue_items_append (&self->items, pad, object, packet, now);
  g_cond_broadcast (&self->changed);
}

/* Throws away what waits, of @pad or of all */
static void
gst_cbt_queue_clear (GstCbtQueue * self, GstCbtQueuePad * only)
{
  gst_cbt_queue_items_clear (&self->items, &self->queue, only,
      gst_fairmix_time_now (&self->time));
  gst_cbt_queue_wake (self);
}

/* Waits until all of @pad has left; FALSE when flushing */
static gboolean
gst_cbt_queue_drain (GstCbtQueue * self, GstCbtQueuePad * pad)
{
  guint flush_number = self->flush_number;

  while (!self->stopped && !pad->inactive && self->flow == GST_FLOW_OK
      && flush_number == self->flush_number
      && (pad->n_items > 0 || self->pushing == pad))
    gst_fairmix_lock_wait (&self->lock, &self->changed);
  return !self->stopped && !pad->inactive && flush_number == self->flush_number;
}

/* --- the sink pads' threads --- */

/* Returns: whether @buffer was taken; then it is the queue's */
static gboolean
gst_cbt_queue_offer (GstCbtQueue * self, GstCbtQueuePad * pad,
    GstBuffer ** buffer, FmxDropWatchChange * change)
{
  FmxTime now = gst_fairmix_time_now (&self->time);
  FmxDropWatchParams watch_params;
  FmxQueueVerdict verdict;
  FmxQueuePacket packet;
  gsize bytes = gst_buffer_get_size (*buffer) + self->overhead;

  packet.bytes = (guint32) CLAMP (bytes, 1, G_MAXUINT32);
  packet.can_mark = gst_fairmix_ecn_get (*buffer) != 0;
  self->mean_bytes += (packet.bytes - self->mean_bytes)
      * (self->mean_bytes > 0.0 ? 1.0 / 64.0 : 1.0);
  gst_cbt_queue_update (self);
  gst_cbt_queue_pad_update (pad, self->queue.params.average.packet_time);
  verdict = fmx_class_queue_on_arrival (&self->queue, &pad->queue_class,
      &packet, &self->rng, now);
  fmx_drop_watch_params_default (&watch_params);
  *change = fmx_drop_watch_on_packet (&pad->watch, &watch_params,
      verdict == FMX_QUEUE_DROP, now);
  if (verdict == FMX_QUEUE_DROP) {
    GST_LOG_OBJECT (pad, "dropped %" GST_PTR_FORMAT, *buffer);
    return FALSE;
  }
  if (verdict == FMX_QUEUE_MARK && !gst_fairmix_ecn_mark (buffer))
    GST_INFO_OBJECT (pad, "cannot mark %" GST_PTR_FORMAT, *buffer);
  gst_cbt_queue_append (self, pad, *buffer, &packet, now);
  return TRUE;
}

static GstFlowReturn
gst_cbt_queue_chain (GstPad * gst_pad, GstObject * parent, GstBuffer * buffer)
{
  FmxDropWatchChange change = FMX_DROP_WATCH_NONE;
  GstCbtQueuePad *pad = GST_CBT_QUEUE_PAD (gst_pad);
  GstCbtQueue *self = GST_CBT_QUEUE (parent);
  gboolean taken = FALSE;
  GstFlowReturn flow;
  gdouble share;

  gst_fairmix_lock_acquire (&self->lock);
  flow = self->stopped || pad->inactive ? GST_FLOW_FLUSHING : self->flow;
  if (flow == GST_FLOW_OK)
    taken = gst_cbt_queue_offer (self, pad, &buffer, &change);
  share = fmx_drop_watch_get_share (&pad->watch);
  gst_fairmix_lock_release (&self->lock);
  if (!taken)
    gst_buffer_unref (buffer);
  if (change != FMX_DROP_WATCH_NONE)
    gst_cbt_queue_pad_post_drops (pad, GST_ELEMENT (self), change, share);
  return flow;
}

static void gst_cbt_queue_loop (gpointer user_data);

/* with the lock */
static void
gst_cbt_queue_go_on (GstCbtQueue * self)
{
  GST_OBJECT_LOCK (self->srcpad);
  if (GST_PAD_TASK (self->srcpad) != NULL && !self->stopped)
    gst_task_start (GST_PAD_TASK (self->srcpad));
  GST_OBJECT_UNLOCK (self->srcpad);
  g_cond_broadcast (&self->changed);
}

static void
gst_cbt_queue_flush_start (GstCbtQueue * self, GstCbtQueuePad * pad,
    GstEvent * event)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->n_flushing += !pad->flushing;
  pad->flushing = TRUE;
  self->flush_number++;
  gst_cbt_queue_clear (self, pad);
  gst_fairmix_lock_release (&self->lock);
  gst_pad_push_event (self->srcpad, event);
  /* nothing is on its way when the flush ends */
  gst_pad_pause_task (self->srcpad);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->n_flushing == 0)    /* the pad was released meanwhile */
    gst_cbt_queue_go_on (self);
  gst_fairmix_lock_release (&self->lock);
}

/* with the lock: @pad flushes no longer */
static void
gst_cbt_queue_end_flush (GstCbtQueue * self, GstCbtQueuePad * pad)
{
  if (!pad->flushing)
    return;
  pad->flushing = FALSE;
  if (--self->n_flushing > 0)
    return;
  self->flow = GST_FLOW_OK;
  gst_clear_event (&self->known.segment);       /* downstream forgot it */
  gst_cbt_queue_go_on (self);
}

/* What did not begin here, as where somebody who flushes was linked, ends here alone:
 * downstream, which takes what other pads bring, forgets nothing. */
static void
gst_cbt_queue_flush_stop (GstCbtQueue * self, GstCbtQueuePad * pad,
    GstEvent * event)
{
  gboolean began;

  gst_fairmix_lock_acquire (&self->lock);
  began = pad->flushing;
  gst_fairmix_lock_release (&self->lock);
  if (began)
    gst_pad_push_event (self->srcpad, event);
  else
    gst_event_unref (event);
  gst_fairmix_lock_acquire (&self->lock);
  gst_cbt_queue_clear (self, pad);
  pad->eos = FALSE;
  gst_clear_event (&pad->segment);
  if (began)                    /* the pad may have been opened anew meanwhile */
    gst_clear_event (&self->known.segment);
  gst_cbt_queue_end_flush (self, pad);
  gst_fairmix_lock_release (&self->lock);
}

static gboolean
gst_cbt_queue_sink_event (GstPad * gst_pad, GstObject * parent,
    GstEvent * event)
{
  GstCbtQueuePad *pad = GST_CBT_QUEUE_PAD (gst_pad);
  GstCbtQueue *self = GST_CBT_QUEUE (parent);
  gboolean taken;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      gst_cbt_queue_flush_start (self, pad, event);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      gst_cbt_queue_flush_stop (self, pad, event);
      return TRUE;
    default:
      break;
  }
  if (!GST_EVENT_IS_SERIALIZED (event))
    return gst_pad_push_event (self->srcpad, event);

  gst_fairmix_lock_acquire (&self->lock);
  taken = !self->stopped && !pad->inactive && (GST_EVENT_IS_STICKY (event)
      || pad->n_items < MAX_EVENTS);
  if (taken && self->flow == GST_FLOW_EOS && gst_cbt_queue_event_begins (event))
    self->flow = GST_FLOW_OK;
  if (taken)
    gst_cbt_queue_append (self, pad, event, NULL,
        gst_fairmix_time_now (&self->time));
  gst_fairmix_lock_release (&self->lock);
  if (!taken)
    gst_event_unref (event);
  return taken;
}

static gboolean
gst_cbt_queue_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCbtQueue *self = GST_CBT_QUEUE (parent);
  gboolean go_on = TRUE;

  /* a pool downstream may be smaller than what waits here */
  if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION)
    return FALSE;
  if (GST_QUERY_IS_SERIALIZED (query)) {
    gst_fairmix_lock_acquire (&self->lock);
    go_on = gst_cbt_queue_drain (self, GST_CBT_QUEUE_PAD (pad));
    gst_fairmix_lock_release (&self->lock);
  }
  return go_on && gst_pad_query_default (pad, parent, query);
}

/* --- the source pad's thread --- */

/* Waits, with the lock, until the packet that is on the link has been sent.
 * Returns: FALSE if it was flushed meanwhile */
static gboolean
gst_cbt_queue_transmit (GstCbtQueue * self, const GstCbtQueueItem * item)
{
  FmxTime now = gst_fairmix_time_now (&self->time);
  guint flush_number = self->flush_number;

  self->left_bits = 8.0 * item->packet.bytes;
  self->left_at = MAX (self->free_at, item->arrival);
  if (fmx_time_diff (now, self->left_at) > CATCH_UP)
    self->left_at = now - CATCH_UP;

  while (!self->stopped && flush_number == self->flush_number) {
    FmxTime end = self->left_at;
    GstClock *clock;

    if (self->bitrate > 0)
      end += fmx_time_from_s (self->left_bits / self->bitrate);
    if (end <= gst_fairmix_time_now (&self->time)) {
      self->free_at = end;
      return TRUE;
    }
    clock = gst_object_ref (self->time.clock);
    self->wait_id = gst_clock_new_single_shot_id (clock,
        gst_fairmix_time_to_clock (&self->time, end));
    gst_fairmix_lock_release (&self->lock);
    gst_clock_id_wait (self->wait_id, NULL);
    gst_fairmix_lock_acquire (&self->lock);
    gst_clock_id_unref (self->wait_id);
    self->wait_id = NULL;
    gst_object_unref (clock);
  }
  return FALSE;
}

/* The link's rate changes while a packet is on it */
static void
gst_cbt_queue_set_bitrate (GstCbtQueue * self, guint bitrate)
{
  if (self->wait_id != NULL) {
    FmxTime now = gst_fairmix_time_now (&self->time);

    self->left_bits -= fmx_time_to_s (fmx_time_diff (now, self->left_at))
        * self->bitrate;
    self->left_bits = MAX (self->left_bits, 0.0);
    self->left_at = now;
  }
  self->bitrate = bitrate;
  gst_cbt_queue_wake (self);
}

/* Takes and gives back the lock */
static void
gst_cbt_queue_push_sticky (GstCbtQueue * self, GstCbtQueuePad * pad)
{
  GstEvent *events[GST_CBT_QUEUE_MAX_STICKY];
  guint n = gst_cbt_queue_known_update (&self->known, pad, events);

  gst_fairmix_lock_release (&self->lock);
  for (guint i = 0; i < n; i++)
    gst_pad_push_event (self->srcpad, events[i]);
  gst_fairmix_lock_acquire (&self->lock);
}

/* with the lock.  Returns: whether there is a pad and all have ended */
static gboolean
gst_cbt_queue_all_eos (GstCbtQueue * self)
{
  gboolean all = TRUE;

  GST_OBJECT_LOCK (self);
  for (GList * l = GST_ELEMENT (self)->sinkpads; l != NULL; l = l->next)
    all &= GST_CBT_QUEUE_PAD (l->data)->eos;
  all &= GST_ELEMENT (self)->sinkpads != NULL;
  GST_OBJECT_UNLOCK (self);
  return all;
}

/* with the lock.  Returns: the event, if it is to be pushed */
static GstEvent *
gst_cbt_queue_take_event (GstCbtQueue * self, GstCbtQueueItem * item)
{
  GstEvent *event = GST_EVENT (g_steal_pointer (&item->object));
  GstCbtQueuePad *pad = item->pad;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      pad->eos = FALSE;
      gst_event_take (&pad->stream_start, event);
      return NULL;
    case GST_EVENT_CAPS:
      gst_event_take (&pad->caps, event);
      return NULL;
    case GST_EVENT_SEGMENT:
      gst_event_take (&pad->segment, event);
      return NULL;
    case GST_EVENT_EOS:
      pad->eos = TRUE;
      if (gst_cbt_queue_all_eos (self))
        break;
      gst_event_unref (event);
      return NULL;
    default:
      break;
  }
  gst_cbt_queue_push_sticky (self, pad);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)  /* what may come yet begins anew */
    gst_cbt_queue_known_clear (&self->known);
  return event;
}

/* with the lock.  Returns: the packet or event to be pushed, or NULL */
static gpointer
gst_cbt_queue_take (GstCbtQueue * self, GstCbtQueueItem * item)
{
  if (GST_IS_EVENT (item->object))
    return gst_cbt_queue_take_event (self, item);
  fmx_class_queue_on_departure (&self->queue, &item->pad->queue_class,
      &item->packet, gst_fairmix_time_now (&self->time));
  if (!gst_cbt_queue_transmit (self, item))
    return NULL;
  gst_cbt_queue_push_sticky (self, item->pad);
  return g_steal_pointer (&item->object);
}

/* with the lock: downstream returned @flow.  Returns: whether the task goes on */
static gboolean
gst_cbt_queue_note_flow (GstCbtQueue * self, GstFlowReturn flow)
{
  /* what a flush refused is no reason to stop */
  if (flow == GST_FLOW_FLUSHING && self->n_flushing > 0)
    flow = GST_FLOW_OK;
  /* who had enough of this may want what follows, and the end is told as any event */
  if (flow == GST_FLOW_EOS && gst_cbt_queue_items_skip (&self->items,
          &self->queue, gst_fairmix_time_now (&self->time)))
    flow = GST_FLOW_OK;
  if (flow != GST_FLOW_OK)
    self->flow = flow;
  /* as in a queue: who takes packets again, some day, takes those of that day */
  if (flow != GST_FLOW_OK && flow != GST_FLOW_EOS)
    gst_cbt_queue_items_clear_packets (&self->items, &self->queue,
        gst_fairmix_time_now (&self->time));
  return !self->stopped && self->n_flushing == 0
      && (flow == GST_FLOW_OK || flow == GST_FLOW_EOS);
}

static void
gst_cbt_queue_loop (gpointer user_data)
{
  GstCbtQueue *self = user_data;
  GstFlowReturn flow = GST_FLOW_OK;
  gboolean go_on, all_eos;
  gpointer object = NULL;
  GstCbtQueueItem *item = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  while (!self->stopped && self->n_flushing == 0
      && (item = g_queue_pop_head (&self->items)) == NULL)
    gst_fairmix_lock_wait (&self->lock, &self->changed);
  if (item != NULL) {
    item->pad->n_items--;
    self->pushing = item->pad;
    object = gst_cbt_queue_take (self, item);
  }
  gst_fairmix_lock_release (&self->lock);

  if (object != NULL && GST_IS_EVENT (object))
    gst_pad_push_event (self->srcpad, object);
  else if (object != NULL)
    flow = gst_pad_push (self->srcpad, object);

  gst_fairmix_lock_acquire (&self->lock);
  self->pushing = NULL;
  go_on = gst_cbt_queue_note_flow (self, flow);
  g_cond_broadcast (&self->changed);
  /* with the lock: the end of a flush starts it again */
  if (!go_on)
    gst_pad_pause_task (self->srcpad);
  all_eos = gst_cbt_queue_all_eos (self);
  gst_fairmix_lock_release (&self->lock);
  if (item != NULL)
    gst_cbt_queue_item_free (item);
  /* who sends is told that nobody is linked, and knows whether that matters */
  if (flow < GST_FLOW_EOS || (flow == GST_FLOW_NOT_LINKED && all_eos))
    GST_ELEMENT_FLOW_ERROR (self, flow);
}

/* Who is linked anew may take what nobody took before. */
static gboolean
gst_cbt_queue_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstCbtQueue *self = GST_CBT_QUEUE (parent);

  gst_fairmix_lock_acquire (&self->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE
      && self->flow == GST_FLOW_NOT_LINKED) {
    self->flow = GST_FLOW_OK;
    gst_cbt_queue_go_on (self);
  }
  gst_fairmix_lock_release (&self->lock);
  return gst_pad_event_default (pad, parent, event);
}

static gboolean
gst_cbt_queue_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCbtQueue *self = GST_CBT_QUEUE (parent);
  GstClockTime min, max, delay;
  gboolean live;

  if (!gst_pad_query_default (pad, parent, query))
    return FALSE;
  if (GST_QUERY_TYPE (query) != GST_QUERY_LATENCY)
    return TRUE;
  gst_query_parse_latency (query, &live, &min, &max);
  gst_fairmix_lock_acquire (&self->lock);
  delay = gst_cbt_queue_max_delay (self);
  gst_fairmix_lock_release (&self->lock);
  /* as a queue without bounds: what is held back here is nobody's plan */
  if (delay == GST_CLOCK_TIME_NONE)
    max = GST_CLOCK_TIME_NONE;
  else
    min += delay;
  if (max != GST_CLOCK_TIME_NONE)
    max += delay;
  gst_query_set_latency (query, live, min, max);
  return TRUE;
}

static gboolean
gst_cbt_queue_src_activate_mode (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstCbtQueue *self = GST_CBT_QUEUE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  gst_fairmix_lock_acquire (&self->lock);
  self->stopped = !active;
  gst_cbt_queue_clear (self, NULL);
  if (active) {
    self->flow = GST_FLOW_OK;
    gst_cbt_queue_known_clear (&self->known);
    fmx_rng_init (&self->rng, self->seed != 0 ? self->seed : g_random_int ());
  }
  gst_fairmix_lock_release (&self->lock);
  if (active)
    return gst_pad_start_task (pad, gst_cbt_queue_loop, self, NULL);
  return gst_pad_stop_task (pad);
}

static gboolean
gst_cbt_queue_sink_activate_mode (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstCbtQueue *self = (GstCbtQueue *) parent;

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  if (parent == NULL)           /* new, nobody knows it */
    return TRUE;
  gst_fairmix_lock_acquire (&self->lock);
  GST_CBT_QUEUE_PAD (pad)->inactive = !active;
  if (active) {
    GST_CBT_QUEUE_PAD (pad)->eos = FALSE;
    gst_cbt_queue_pad_forget (GST_CBT_QUEUE_PAD (pad));
  } else {
    gst_cbt_queue_end_flush (self, GST_CBT_QUEUE_PAD (pad));
  }
  g_cond_broadcast (&self->changed);
  gst_fairmix_lock_release (&self->lock);
  return TRUE;
}

/* --- pads --- */

/* Returns: (transfer full): the name of a new pad; NULL if there is one of it */
static gchar *
gst_cbt_queue_pad_name (GstCbtQueue * self, const gchar * wish)
{
  gchar *name = g_strdup (wish);
  GstPad *pad;

  gst_fairmix_lock_acquire (&self->lock);
  while (name == NULL || (pad =
          gst_element_get_static_pad (GST_ELEMENT (self), name)) != NULL) {
    if (name != NULL) {
      gst_object_unref (pad);
      g_clear_pointer (&name, g_free);
      if (wish != NULL)
        break;
    }
    name = g_strdup_printf ("sink_%u", self->next_number++);
  }
  gst_fairmix_lock_release (&self->lock);
  return name;
}

static GstPad *
gst_cbt_queue_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * wish, const GstCaps * caps)
{
  gchar *name = gst_cbt_queue_pad_name (GST_CBT_QUEUE (element), wish);
  GstPad *pad;

  if (name == NULL) {
    GST_INFO_OBJECT (element, "there is a pad %s", wish);
    return NULL;
  }
  pad = g_object_new (GST_TYPE_CBT_QUEUE_PAD, "name", name, "direction",
      GST_PAD_SINK, "template", templ, NULL);
  g_free (name);
  gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_cbt_queue_chain));
  gst_pad_set_event_function (pad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_sink_event));
  gst_pad_set_query_function (pad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_sink_query));
  gst_pad_set_activatemode_function (pad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_sink_activate_mode));
  GST_PAD_SET_PROXY_CAPS (pad);
  if (GST_PAD_MODE (GST_CBT_QUEUE (element)->srcpad) == GST_PAD_MODE_PUSH)
    gst_pad_set_active (pad, TRUE);
  if (!gst_element_add_pad (element, pad))
    return NULL;
  gst_child_proxy_child_added (GST_CHILD_PROXY (element), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  return pad;
}

static void
gst_cbt_queue_release_pad (GstElement * element, GstPad * pad)
{
  GstCbtQueue *self = GST_CBT_QUEUE (element);
  gboolean ended, flushing;

  gst_fairmix_lock_acquire (&self->lock);
  flushing = GST_CBT_QUEUE_PAD (pad)->flushing;
  gst_fairmix_lock_release (&self->lock);
  if (flushing)                 /* nobody else would end it */
    gst_pad_push_event (self->srcpad, gst_event_new_flush_stop (TRUE));
  gst_pad_set_active (pad, FALSE);
  gst_child_proxy_child_removed (GST_CHILD_PROXY (element), G_OBJECT (pad),
      GST_PAD_NAME (pad));
  gst_fairmix_lock_acquire (&self->lock);
  gst_cbt_queue_clear (self, GST_CBT_QUEUE_PAD (pad));
  ended = !GST_CBT_QUEUE_PAD (pad)->eos;
  gst_fairmix_lock_release (&self->lock);
  gst_element_remove_pad (element, pad);

  /* the others may have waited for this one's end */
  gst_fairmix_lock_acquire (&self->lock);
  ended = ended && !self->stopped && gst_cbt_queue_all_eos (self);
  if (ended)
    gst_cbt_queue_known_clear (&self->known);
  gst_fairmix_lock_release (&self->lock);
  if (ended)
    gst_pad_push_event (self->srcpad, gst_event_new_eos ());
}

/* --- object --- */

static gboolean
gst_cbt_queue_set_clock (GstElement * element, GstClock * clock)
{
  GstCbtQueue *self = GST_CBT_QUEUE (element);

  if (clock != NULL) {          /* else the one so far, for who is in PAUSED */
    gst_fairmix_lock_acquire (&self->lock);
    gst_fairmix_time_set_clock (&self->time, clock);
    gst_cbt_queue_wake (self);
    gst_fairmix_lock_release (&self->lock);
  }
  return GST_ELEMENT_CLASS (gst_cbt_queue_parent_class)->set_clock (element,
      clock);
}

/* with the lock */
static GstStructure *
gst_cbt_queue_get_stats (GstCbtQueue * self)
{
  GstStructure *stats =
      gst_structure_new ("application/x-fairmix-cbtqueue-stats",
      "level", G_TYPE_UINT, fmx_class_queue_get_length (&self->queue),
      "level-bytes", G_TYPE_UINT64, fmx_class_queue_get_bytes (&self->queue),
      "average", G_TYPE_DOUBLE, fmx_class_queue_get_average (&self->queue),
      NULL);
  GValue classes = G_VALUE_INIT, value = G_VALUE_INIT;

  gst_value_array_init (&classes, 0);
  g_value_init (&value, GST_TYPE_STRUCTURE);
  GST_OBJECT_LOCK (self);
  for (GList * l = GST_ELEMENT (self)->sinkpads; l != NULL; l = l->next) {
    g_value_take_boxed (&value, gst_cbt_queue_pad_create_stats (l->data,
            GST_PAD_NAME (l->data)));
    gst_value_array_append_value (&classes, &value);
  }
  GST_OBJECT_UNLOCK (self);
  g_value_unset (&value);
  gst_structure_take_value (stats, "classes", &classes);
  return stats;
}

static void
gst_cbt_queue_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstCbtQueue *self = GST_CBT_QUEUE (object);
  GstClockTime before, after;

  gst_fairmix_lock_acquire (&self->lock);
  before = gst_cbt_queue_max_delay (self);
  switch (id) {
    case PROP_BITRATE:
      gst_cbt_queue_set_bitrate (self, g_value_get_uint (value));
      break;
    case PROP_DISCIPLINE:
      self->discipline = g_value_get_enum (value);
      break;
    case PROP_MAX_SIZE_BUFFERS:
      self->max_size_buffers = g_value_get_uint (value);
      break;
    case PROP_MAX_SIZE_BYTES:
      self->max_size_bytes = g_value_get_uint (value);
      break;
    case PROP_MAX_SIZE_TIME:
      self->max_size_time = g_value_get_uint64 (value);
      break;
    case PROP_OVERHEAD:
      self->overhead = g_value_get_uint (value);
      break;
    case PROP_SEED:
      self->seed = g_value_get_uint (value);
      break;
    default:
      *gst_cbt_queue_red_field (&self->red, id - PROP_RED) =
          g_value_get_double (value);
      break;
  }
  gst_cbt_queue_update (self);
  after = gst_cbt_queue_max_delay (self);
  gst_fairmix_lock_release (&self->lock);
  if (before != after)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_latency (GST_OBJECT (self)));
}

static void
gst_cbt_queue_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstCbtQueue *self = GST_CBT_QUEUE (object);

  gst_fairmix_lock_acquire (&self->lock);
  switch (id) {
    case PROP_BITRATE:
      g_value_set_uint (value, self->bitrate);
      break;
    case PROP_DISCIPLINE:
      g_value_set_enum (value, self->discipline);
      break;
    case PROP_MAX_SIZE_BUFFERS:
      g_value_set_uint (value, self->max_size_buffers);
      break;
    case PROP_MAX_SIZE_BYTES:
      g_value_set_uint (value, self->max_size_bytes);
      break;
    case PROP_MAX_SIZE_TIME:
      g_value_set_uint64 (value, self->max_size_time);
      break;
    case PROP_OVERHEAD:
      g_value_set_uint (value, self->overhead);
      break;
    case PROP_SEED:
      g_value_set_uint (value, self->seed);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, gst_cbt_queue_get_stats (self));
      break;
    default:
      g_value_set_double (value,
          *gst_cbt_queue_red_field (&self->red, id - PROP_RED));
      break;
  }
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_cbt_queue_finalize (GObject * object)
{
  GstCbtQueue *self = GST_CBT_QUEUE (object);

  gst_cbt_queue_clear (self, NULL);
  gst_fairmix_time_set_clock (&self->time, NULL);
  gst_cbt_queue_known_clear (&self->known);
  gst_fairmix_lock_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gst_cbt_queue_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_BITRATE,
      g_param_spec_uint ("bitrate", "bitrate",
          "Rate at which packets leave, in bits per second, overhead included "
          "(0 = as fast as downstream takes them)", 0, G_MAXUINT,
          DEFAULT_BITRATE, rw));
  g_object_class_install_property (klass, PROP_DISCIPLINE,
      g_param_spec_enum ("discipline", "discipline", "What is dropped",
          gst_cbt_queue_discipline_get_type (), FMX_DISCIPLINE_CBT, rw));
  g_object_class_install_property (klass, PROP_MAX_SIZE_BUFFERS,
      g_param_spec_uint ("max-size-buffers", "max-size-buffers",
          "Most packets that wait; those that find so many are dropped "
          "(0 = unlimited)", 0, G_MAXINT, DEFAULT_MAX_SIZE_BUFFERS, rw));
  g_object_class_install_property (klass, PROP_MAX_SIZE_BYTES,
      g_param_spec_uint ("max-size-bytes", "max-size-bytes",
          "Most bytes that wait, overhead included (0 = unlimited)", 0,
          G_MAXUINT, 0, rw));
  g_object_class_install_property (klass, PROP_MAX_SIZE_TIME,
      g_param_spec_uint64 ("max-size-time", "max-size-time",
          "Longest that a packet may have to wait for those before it, in ns; "
          "needs a bitrate (0 = unlimited)", 0, G_MAXUINT64 / 2, 0, rw));
  g_object_class_install_property (klass, PROP_OVERHEAD,
      g_param_spec_uint ("overhead", "overhead",
          "Bytes that each packet has on the link besides its own (IP and UDP "
          "headers)", 0, G_MAXUINT16, FMX_IP_UDP_BYTES, rw));
  g_object_class_install_property (klass, PROP_SEED,
      g_param_spec_uint ("seed", "seed",
          "Seed of RED's random numbers (0 = another one each time)", 0,
          G_MAXUINT, 0, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "level (packets), level-bytes, average (packets), and classes: for "
          "each pad in, out, in-bytes, out-bytes, marked, dropped-full, "
          "dropped-early, dropped-threshold, flushed, level, average",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  gst_cbt_queue_red_install (klass, PROP_RED, "of all classes (discipline=red)",
      DEFAULT_RED_WEIGHT);
}

static void
gst_cbt_queue_class_init (GstCbtQueueClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_cbt_queue_set_property;
  object_class->get_property = gst_cbt_queue_get_property;
  object_class->finalize = gst_cbt_queue_finalize;
  install_properties (object_class);
  element_class->request_new_pad = gst_cbt_queue_request_new_pad;
  element_class->release_pad = gst_cbt_queue_release_pad;
  element_class->set_clock = gst_cbt_queue_set_clock;
  gst_element_class_add_static_pad_template_with_gtype (element_class,
      &sink_template, GST_TYPE_CBT_QUEUE_PAD);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Queue with class-based thresholds", "Generic/Network",
      "One queue in front of a link that several classes of traffic share: "
      "FIFO, RED or class-based thresholds", "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_CBT_QUEUE_PAD, 0);
  gst_type_mark_as_plugin_api (gst_cbt_queue_discipline_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_cbt_queue_class_get_type (), 0);
  gst_type_mark_as_plugin_api (gst_cbt_queue_rule_get_type (), 0);
}

static void
gst_cbt_queue_init (GstCbtQueue * self)
{
  FmxClassQueueParams params;
  GstClock *clock = gst_system_clock_obtain ();

  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  g_cond_init (&self->changed);
  g_queue_init (&self->items);
  self->bitrate = DEFAULT_BITRATE;
  self->discipline = FMX_DISCIPLINE_CBT;
  self->max_size_buffers = DEFAULT_MAX_SIZE_BUFFERS;
  self->overhead = FMX_IP_UDP_BYTES;
  gst_cbt_queue_red_init (&self->red, DEFAULT_RED_WEIGHT);
  self->stopped = TRUE;
  /* until the pipeline gives us its own */
  gst_fairmix_time_set_clock (&self->time, clock);
  gst_object_unref (clock);
  fmx_class_queue_params_default (&params);
  fmx_class_queue_init (&self->queue, &params);
  gst_cbt_queue_update (self);

  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_activatemode_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_src_activate_mode));
  gst_pad_set_event_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_src_event));
  gst_pad_set_query_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_cbt_queue_src_query));
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
