/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-updatequeue
 * @title: updatequeue
 *
 * A queue that holds at most one buffer for each key: a newer one replaces the
 * one that still waits, so that a slow consumer is served what is current, and
 * not what is long past.  For positions, states, sensor values.
 *
 * The key is #GstUpdateQueue:key-size bytes at #GstUpdateQueue:key-offset of
 * the buffer (of the payload, for RTP), or the RTP payload type.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 udpsrc port=5006 ! updatequeue key-offset=0 key-size=2 mode=in-place ! udpsink host=127.0.0.1 port=5008
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstupdatequeue.h"

#include "fairmix/playout/fmx-update-queue.h"
#include "gst/common/gstfairmixfields.h"
#include "gst/common/gstfairmixlock.h"
#include "gst/common/gstfairmixrtp.h"
#include "gst/common/gstfairmixstats.h"

GST_DEBUG_CATEGORY_STATIC (gst_update_queue_debug);
#define GST_CAT_DEFAULT gst_update_queue_debug

#define DEFAULT_MAX_SIZE 256
#define DEFAULT_KEY_SIZE 1
#define NO_KEY (G_GUINT64_CONSTANT (1) << 63)   /* and a number of its own */

typedef enum
{
  KEY_BYTES,
  KEY_PAYLOAD_TYPE
} Key;

enum
{
  PROP_0,
  PROP_KEY,
  PROP_KEY_OFFSET,
  PROP_KEY_SIZE,
  PROP_MODE,
  PROP_MAX_SIZE,
  PROP_STATS
};

struct _GstUpdateQueue
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;

  GstFairmixLock lock;
  GCond changed;                /* something came, went, or flushes */
  /* Properties */
  Key key;
  guint key_offset, key_size;
  FmxUpdateQueueMode mode;
  guint max_size;

  /* State */
  FmxUpdateQueue queue;
  FmxUpdateQueueEntry *entries;
  gboolean is_rtp;
  gboolean pushing;             /* a buffer that has left the queue */
  gboolean active;              /* the source pad */
  gboolean flushing;
  GstFlowReturn flow;
  guint64 n_in, n_pushed, n_replaced, n_overflowed;
};

G_DEFINE_TYPE_WITH_CODE (GstUpdateQueue, gst_update_queue, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_update_queue_debug, "updatequeue", 0,
        "queue with replacement by key"));
GST_ELEMENT_REGISTER_DEFINE (updatequeue, "updatequeue", GST_RANK_NONE,
    GST_TYPE_UPDATE_QUEUE);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

#define GST_TYPE_UPDATE_QUEUE_KEY (gst_update_queue_key_get_type ())
static GType
gst_update_queue_key_get_type (void)
{
  static const gchar *const nicks[] = { "bytes", "payload-type" };
  static const gchar *const blurbs[] = {
    "Bytes of the buffer, or of the RTP payload",
    "The RTP payload type",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstUpdateQueueKey",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

#define GST_TYPE_UPDATE_QUEUE_MODE (gst_update_queue_mode_get_type ())
static GType
gst_update_queue_mode_get_type (void)
{
  static const gchar *const nicks[] = { "move-to-tail", "in-place" };
  static const gchar *const blurbs[] = {
    "The newer one goes to the end of the queue",
    "It takes the place of the older one",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstUpdateQueueMode",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

/* --- with the lock held --- */

static void
gst_update_queue_clear (GstUpdateQueue * self)
{
  GstBuffer *buffer;

  while ((buffer = fmx_update_queue_pop (&self->queue)) != NULL)
    gst_buffer_unref (buffer);
  g_cond_broadcast (&self->changed);
}

static void
gst_update_queue_make (GstUpdateQueue * self)
{
  if (self->entries != NULL)
    gst_update_queue_clear (self);
  g_free (self->entries);
  self->entries = g_new (FmxUpdateQueueEntry, self->max_size);
  fmx_update_queue_init (&self->queue, self->entries, self->max_size,
      self->mode);
}

/* A buffer that is too short for its key has one of its own. */
static guint64
gst_update_queue_key_of (GstUpdateQueue * self, GstBuffer * buffer)
{
  GstFairmixRtpHeader header;
  gsize offset = self->key_offset;
  guint8 bytes[7];
  guint64 key = 0;

  if (self->is_rtp || self->key == KEY_PAYLOAD_TYPE) {
    if (!gst_fairmix_rtp_header_read (buffer, &header))
      return NO_KEY | self->n_in;
    if (self->key == KEY_PAYLOAD_TYPE)
      return header.payload_type;
    offset += header.header_bytes;
  }
  if (gst_buffer_extract (buffer, offset, bytes, self->key_size)
      != self->key_size)
    return NO_KEY | self->n_in;
  for (guint i = 0; i < self->key_size; i++)
    key = key << 8 | bytes[i];
  return key;
}

static void
gst_update_queue_insert (GstUpdateQueue * self, GstBuffer * buffer)
{
  guint64 key = gst_update_queue_key_of (self, buffer);
  gboolean known = fmx_update_queue_contains (&self->queue, key);
  GstBuffer *gone = fmx_update_queue_push (&self->queue, key, buffer);

  self->n_in++;
  if (gone != NULL) {
    if (known)
      self->n_replaced++;
    else
      self->n_overflowed++;
    GST_LOG_OBJECT (self, "%s %" GST_PTR_FORMAT,
        known ? "replaced" : "no room for", gone);
    gst_buffer_unref (gone);
  }
  g_cond_broadcast (&self->changed);
}

/* Waits until all that came before has gone; FALSE when flushing */
static gboolean
gst_update_queue_drain (GstUpdateQueue * self)
{
  while (!self->flushing && self->flow == GST_FLOW_OK
      && (self->pushing || fmx_update_queue_length (&self->queue) > 0))
    gst_fairmix_lock_wait (&self->lock, &self->changed);
  return !self->flushing;
}

/* --- the sink pad's thread --- */

static GstFlowReturn
gst_update_queue_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);
  GstFlowReturn flow;

  gst_fairmix_lock_acquire (&self->lock);
  flow = self->flushing ? GST_FLOW_FLUSHING : self->flow;
  if (flow == GST_FLOW_OK)
    gst_update_queue_insert (self, buffer);
  gst_fairmix_lock_release (&self->lock);
  if (flow != GST_FLOW_OK)
    gst_buffer_unref (buffer);
  return flow;
}

static void gst_update_queue_loop (gpointer user_data);

static void
gst_update_queue_flush (GstUpdateQueue * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->flushing = TRUE;
  gst_update_queue_clear (self);
  gst_fairmix_lock_release (&self->lock);
}

/* with the lock.  The task is made without it: the application hears of that, and may ask
 * for anything meanwhile. */
static void
gst_update_queue_start_task (GstUpdateQueue * self)
{
  GST_OBJECT_LOCK (self->srcpad);
  if (GST_PAD_TASK (self->srcpad) != NULL)
    gst_task_start (GST_PAD_TASK (self->srcpad));
  GST_OBJECT_UNLOCK (self->srcpad);
}

/* Unless the source pad has been closed meanwhile: nobody would end its task. */
static void
gst_update_queue_go_on (GstUpdateQueue * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->active) {
    self->flushing = FALSE;
    self->flow = GST_FLOW_OK;
    g_cond_broadcast (&self->changed);
    gst_update_queue_start_task (self);
  }
  gst_fairmix_lock_release (&self->lock);
}

/* with the lock: what made downstream refuse all is over */
static void
gst_update_queue_resume (GstUpdateQueue * self, GstFlowReturn refused)
{
  if (self->active && !self->flushing && self->flow == refused) {
    self->flow = GST_FLOW_OK;
    gst_update_queue_start_task (self);
  }
}

static gboolean
gst_update_queue_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);
  gboolean go_on = TRUE;
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_FLUSH_START:
      gst_pad_push_event (self->srcpad, event);
      gst_update_queue_flush (self);
      gst_pad_pause_task (self->srcpad);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      gst_pad_push_event (self->srcpad, event);
      gst_update_queue_go_on (self);
      return TRUE;
    default:
      break;
  }
  if (GST_EVENT_IS_SERIALIZED (event)) {
    gst_fairmix_lock_acquire (&self->lock);
    go_on = gst_update_queue_drain (self);
    if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
      gst_event_parse_caps (event, &caps);
      self->is_rtp = gst_structure_has_name (gst_caps_get_structure (caps, 0),
          "application/x-rtp");
    }
    /* whoever had enough of a stream or segment may want the next one */
    if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
        || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
      gst_update_queue_resume (self, GST_FLOW_EOS);
    gst_fairmix_lock_release (&self->lock);
  }
  if (!go_on && !GST_EVENT_IS_STICKY (event)) {
    gst_event_unref (event);
    return FALSE;
  }
  return gst_pad_push_event (self->srcpad, event);
}

static gboolean
gst_update_queue_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);
  gboolean go_on = TRUE;

  if (GST_QUERY_IS_SERIALIZED (query)) {
    gst_fairmix_lock_acquire (&self->lock);
    go_on = gst_update_queue_drain (self);
    gst_fairmix_lock_release (&self->lock);
  }
  return go_on && gst_pad_query_default (pad, parent, query);
}

/* --- the source pad's thread --- */

static void
gst_update_queue_loop (gpointer user_data)
{
  GstUpdateQueue *self = user_data;
  GstBuffer *buffer = NULL;
  GstFlowReturn flow;

  gst_fairmix_lock_acquire (&self->lock);
  while (!self->flushing
      && (buffer = fmx_update_queue_pop (&self->queue)) == NULL)
    gst_fairmix_lock_wait (&self->lock, &self->changed);
  self->pushing = buffer != NULL;
  gst_fairmix_lock_release (&self->lock);

  flow = buffer != NULL ?
      gst_pad_push (self->srcpad, buffer) : GST_FLOW_FLUSHING;

  gst_fairmix_lock_acquire (&self->lock);
  self->pushing = FALSE;
  if (flow == GST_FLOW_OK) {
    self->n_pushed++;
  } else {
    self->flow = flow;
    gst_update_queue_clear (self);
  }
  g_cond_broadcast (&self->changed);
  if (flow != GST_FLOW_OK) {
    GST_DEBUG_OBJECT (self, "pausing: %s", gst_flow_get_name (flow));
    gst_pad_pause_task (self->srcpad);  /* with the lock: a new link starts it again */
  }
  gst_fairmix_lock_release (&self->lock);
  if (flow < GST_FLOW_EOS)
    GST_ELEMENT_FLOW_ERROR (self, flow);
}

/* Who is linked anew may take what nobody took before. */
static gboolean
gst_update_queue_src_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);

  gst_fairmix_lock_acquire (&self->lock);
  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE)
    gst_update_queue_resume (self, GST_FLOW_NOT_LINKED);
  gst_fairmix_lock_release (&self->lock);
  return gst_pad_event_default (pad, parent, event);
}

/* What waits here may wait for ever, as in a queue that is not limited in time */
static gboolean
gst_update_queue_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstClockTime min;
  gboolean live;

  if (!gst_pad_query_default (pad, parent, query))
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    gst_query_parse_latency (query, &live, &min, NULL);
    gst_query_set_latency (query, live, min, GST_CLOCK_TIME_NONE);
  }
  return TRUE;
}

static gboolean
gst_update_queue_src_activate_mode (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  gst_fairmix_lock_acquire (&self->lock);
  self->active = active;
  gst_fairmix_lock_release (&self->lock);
  if (active) {
    gst_update_queue_go_on (self);
    return gst_pad_start_task (pad, gst_update_queue_loop, self, NULL);
  }
  gst_update_queue_flush (self);
  return gst_pad_stop_task (pad);
}

static gboolean
gst_update_queue_sink_activate_mode (GstPad * pad, GstObject * parent,
    GstPadMode mode, gboolean active)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (parent);

  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  gst_fairmix_lock_acquire (&self->lock);
  self->is_rtp = FALSE;         /* the pad's caps are gone, too */
  gst_fairmix_lock_release (&self->lock);
  if (active)
    gst_update_queue_go_on (self);
  else                          /* wakes who waits for the queue to drain */
    gst_update_queue_flush (self);
  return TRUE;
}

/* --- object --- */

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_KEY, GstUpdateQueue, key),
  GST_FAIRMIX_FIELD (PROP_KEY_OFFSET, GstUpdateQueue, key_offset),
  GST_FAIRMIX_FIELD (PROP_KEY_SIZE, GstUpdateQueue, key_size),
  GST_FAIRMIX_FIELD (PROP_MODE, GstUpdateQueue, mode),
  GST_FAIRMIX_FIELD (PROP_MAX_SIZE, GstUpdateQueue, max_size),
};

static void
gst_update_queue_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (object);

  gst_fairmix_lock_acquire (&self->lock);
  if (!gst_fairmix_fields_set (fields, G_N_ELEMENTS (fields), self, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  else if (id == PROP_MODE || id == PROP_MAX_SIZE)
    gst_update_queue_make (self);
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_update_queue_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (object);

  gst_fairmix_lock_acquire (&self->lock);
  if (id == PROP_STATS)
    g_value_take_boxed (value,
        gst_structure_new ("application/x-fairmix-updatequeue-stats",
            "in", G_TYPE_UINT64, self->n_in,
            "pushed", G_TYPE_UINT64, self->n_pushed,
            "replaced", G_TYPE_UINT64, self->n_replaced,
            "overflowed", G_TYPE_UINT64, self->n_overflowed,
            "level", G_TYPE_UINT, fmx_update_queue_length (&self->queue),
            NULL));
  else if (!gst_fairmix_fields_get (fields, G_N_ELEMENTS (fields), self, id,
          value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_update_queue_finalize (GObject * object)
{
  GstUpdateQueue *self = GST_UPDATE_QUEUE (object);

  gst_update_queue_clear (self);
  g_free (self->entries);
  gst_fairmix_lock_clear (&self->lock);
  g_cond_clear (&self->changed);
  G_OBJECT_CLASS (gst_update_queue_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_KEY,
      g_param_spec_enum ("key", "key", "What tells buffers apart",
          GST_TYPE_UPDATE_QUEUE_KEY, KEY_BYTES,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_KEY_OFFSET,
      g_param_spec_uint ("key-offset", "key-offset",
          "Where the key begins, in bytes from the start of the buffer or of "
          "the RTP payload", 0, G_MAXUINT16, 0,
          rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_KEY_SIZE,
      g_param_spec_uint ("key-size", "key-size",
          "Length of the key, in bytes (0: all buffers have the same)", 0, 7,
          DEFAULT_KEY_SIZE, rw | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_MODE,
      g_param_spec_enum ("mode", "mode", "Where a newer buffer goes",
          GST_TYPE_UPDATE_QUEUE_MODE, FMX_UPDATE_QUEUE_MOVE_TO_TAIL,
          rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, PROP_MAX_SIZE,
      g_param_spec_uint ("max-size", "max-size",
          "Most buffers (keys) that wait; then the one that waited longest "
          "goes", 1, 1 << 20, DEFAULT_MAX_SIZE, rw | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Counts of buffers: in, pushed, replaced, overflowed, level",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_update_queue_class_init (GstUpdateQueueClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_update_queue_set_property;
  object_class->get_property = gst_update_queue_get_property;
  object_class->finalize = gst_update_queue_finalize;
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Update queue",
      "Generic", "Keeps the newest buffer of each key for a slow consumer",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_UPDATE_QUEUE_KEY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_UPDATE_QUEUE_MODE, 0);
}

static void
gst_update_queue_init (GstUpdateQueue * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  g_cond_init (&self->changed);
  self->key_size = DEFAULT_KEY_SIZE;
  self->max_size = DEFAULT_MAX_SIZE;
  self->flushing = TRUE;
  gst_update_queue_make (self);

  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_chain));
  gst_pad_set_event_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_sink_event));
  gst_pad_set_query_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_sink_query));
  gst_pad_set_activatemode_function (self->sinkpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_sink_activate_mode));
  GST_PAD_SET_PROXY_CAPS (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template (&src_template, "src");
  gst_pad_set_activatemode_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_src_activate_mode));
  gst_pad_set_event_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_src_event));
  gst_pad_set_query_function (self->srcpad,
      GST_DEBUG_FUNCPTR (gst_update_queue_src_query));
  GST_PAD_SET_PROXY_CAPS (self->srcpad);
  gst_element_add_pad (GST_ELEMENT (self), self->srcpad);
}
