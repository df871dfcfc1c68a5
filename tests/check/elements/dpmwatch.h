/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_WATCH_H__
#define __DPM_WATCH_H__

/* Watches who makes elements and pads, links them, changes their states and asks
 * them for caps: not the thread that receives, and nobody who holds partialmix's
 * lock. */

#define GST_USE_UNSTABLE_API
#include <gst/check/check.h>
#include <gst/gsttracer.h>
#include <string.h>
#include <sys/prctl.h>

typedef enum
{
  WATCH_NEW,
  WATCH_PAD,
  WATCH_LINK,
  WATCH_STATE,
  WATCH_ASK,
  WATCH_KINDS
} WatchKind;

typedef GstTracer Watch;
typedef GstTracerClass WatchClass;

static GType watch_get_type (void);
G_DEFINE_TYPE (Watch, watch, GST_TYPE_TRACER);

static GstElement *watch_mixer; /* atomic: while it watches */
static gint watch_counts[WATCH_KINDS], watch_n_bad;

static void
watch_class_init (WatchClass * klass)
{
}

static void
watch_init (Watch * self)
{
}

/* @object: what is made, linked, ... */
static inline void
watch_note (WatchKind kind, gpointer object)
{
  GstElement *mixer = g_atomic_pointer_get (&watch_mixer);
  gchar thread[17] = "";
  guint64 latency;

  /* clients in the same process have such a thread as well */
  if (mixer == NULL || (kind != WATCH_NEW && !gst_object_has_as_ancestor
          (object, GST_OBJECT_PARENT (mixer))))
    return;
  g_atomic_int_inc (&watch_counts[kind]);
  prctl (PR_GET_NAME, thread);
  if (strcmp (thread, "dpm-receive") == 0)
    g_atomic_int_inc (&watch_n_bad);
  /* it takes the lock: who has it already stops here */
  g_object_get (mixer, "latency", &latency, NULL);
}

static void
watch_new (GObject * self, GstClockTime ts, GstElement * element)
{
  watch_note (WATCH_NEW, element);
}

static void
watch_pad (GObject * self, GstClockTime ts, GstElement * element, GstPad * pad)
{
  watch_note (WATCH_PAD, element);
}

static void
watch_link (GObject * self, GstClockTime ts, GstPad * src, GstPad * sink)
{
  watch_note (WATCH_LINK, src);
}

static void
watch_state (GObject * self, GstClockTime ts, GstElement * element,
    GstStateChange change)
{
  watch_note (WATCH_STATE, element);
}

static void
watch_query (GObject * self, GstClockTime ts, GstPad * pad, GstQuery * query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS)
    watch_note (WATCH_ASK, pad);
}

static inline void
watch_begin (GstElement * mixer)
{
  static GstTracer *tracer;

  if (tracer == NULL) {
    tracer = g_object_new (watch_get_type (), NULL);
    GST_OBJECT_FLAG_SET (tracer, GST_OBJECT_FLAG_MAY_BE_LEAKED);
    gst_tracing_register_hook (tracer, "element-new", G_CALLBACK (watch_new));
    gst_tracing_register_hook (tracer, "element-add-pad",
        G_CALLBACK (watch_pad));
    gst_tracing_register_hook (tracer, "pad-link-pre", G_CALLBACK (watch_link));
    gst_tracing_register_hook (tracer, "element-change-state-pre",
        G_CALLBACK (watch_state));
    gst_tracing_register_hook (tracer, "pad-query-pre",
        G_CALLBACK (watch_query));
  }
  g_atomic_pointer_set (&watch_mixer, mixer);
}

static inline void
watch_end (void)
{
  g_atomic_pointer_set (&watch_mixer, NULL);
}

static inline guint
watch_count (WatchKind kind)
{
  return (guint) g_atomic_int_get (&watch_counts[kind]);
}

/* Returns: what the thread that receives has done of it */
static inline guint
watch_count_bad (void)
{
  return (guint) g_atomic_int_get (&watch_n_bad);
}

#endif /* __DPM_WATCH_H__ */
