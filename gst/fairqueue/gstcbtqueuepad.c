/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sink pad of cbtqueue: the class of its packets, and its rule; and the types
 * of cbtqueue's properties. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstcbtqueuepad.h"

#include "gst/common/gstfairmixstats.h"

typedef enum
{
  CLASS_TCP,
  CLASS_MARKED,
  CLASS_OTHER
} Class;

typedef enum
{
  RULE_AUTO,
  RULE_RED,
  RULE_THRESHOLD
} Rule;

#define DEFAULT_THRESHOLD_MARKED 8.0
#define DEFAULT_THRESHOLD_OTHER 2.0
#define DEFAULT_WEIGHT_RED 0.002
#define DEFAULT_WEIGHT_THRESHOLD 0.0625

enum
{
  PROP_0,
  PROP_CLASS,
  PROP_RULE,
  PROP_THRESHOLD,
  PROP_RED                      /* four of them */
};

G_DEFINE_TYPE (GstCbtQueuePad, gst_cbt_queue_pad, GST_TYPE_PAD);

static const gchar *const class_nicks[] = { "tcp", "marked", "other" };

GType
gst_cbt_queue_class_get_type (void)
{
  static const gchar *const blurbs[] = {
    "Traffic that answers to losses: RED",
    "Traffic that was promised its part of the link: a threshold of 8 packets",
    "All other traffic: a threshold of 2 packets"
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstCbtQueueClass",
            class_nicks, blurbs, G_N_ELEMENTS (blurbs)));
  return type;
}

GType
gst_cbt_queue_rule_get_type (void)
{
  static const gchar *const nicks[] = { "auto", "red", "threshold" };
  static const gchar *const blurbs[] = {
    "As the class has it",
    "RED, on the average of the class's own packets",
    "Dropped while the class's average is above the threshold",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstCbtQueueRule",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

GType
gst_cbt_queue_discipline_get_type (void)
{
  static const gchar *const blurbs[FMX_N_DISCIPLINES] = {
    "Drops what finds the queue full",
    "Random early detection, for all classes alike",
    "Class-based thresholds: each pad's rule",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        gst_fairmix_enum_register ("GstCbtQueueDiscipline",
            fmx_discipline_names, blurbs, FMX_N_DISCIPLINES));
  return type;
}

/* ------------------------------------------------------------------ RED -- */

gdouble *
gst_cbt_queue_red_field (GstCbtQueueRed * red, guint i)
{
  gdouble *const fields[] = { &red->min, &red->max, &red->probability,
    &red->weight
  };

  return fields[i];
}

void
gst_cbt_queue_red_init (GstCbtQueueRed * red, gdouble weight)
{
  FmxClassParams params;

  fmx_class_params_default (&params, FMX_CLASS_RED);
  red->min = params.red.min_packets;
  red->max = params.red.max_packets;
  red->probability = params.red.max_p;
  red->weight = weight;
}

void
gst_cbt_queue_red_params (const GstCbtQueueRed * red, FmxRedParams * params)
{
  params->min_packets = red->min;
  params->max_packets = MAX (red->max, red->min + 0.001);
  params->max_p = red->probability;
  params->gentle = TRUE;
  params->ecn = TRUE;
}

void
gst_cbt_queue_red_install (GObjectClass * klass, guint first_id,
    const gchar * of_what, gdouble weight)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_NAME
      | G_PARAM_STATIC_NICK | GST_PARAM_MUTABLE_PLAYING;
  GstCbtQueueRed red;
  gchar *blurb;

  gst_cbt_queue_red_init (&red, weight);
  blurb = g_strdup_printf ("RED: nothing is dropped while the average number "
      "of packets %s that wait is below", of_what);
  g_object_class_install_property (klass, first_id + GST_CBT_QUEUE_RED_MIN,
      g_param_spec_double ("red-min", "red-min", blurb, 0.001, 1e6, red.min,
          rw));
  g_free (blurb);
  blurb = g_strdup_printf ("RED: average number of packets %s that wait at "
      "which red-probability is reached; at twice that all are dropped; above "
      "red-min", of_what);
  g_object_class_install_property (klass, first_id + GST_CBT_QUEUE_RED_MAX,
      g_param_spec_double ("red-max", "red-max", blurb, 0.002, 1e6, red.max,
          rw));
  g_free (blurb);
  g_object_class_install_property (klass,
      first_id + GST_CBT_QUEUE_RED_PROBABILITY,
      g_param_spec_double ("red-probability", "red-probability",
          "RED: share of packets dropped (or marked, where they say that their "
          "transport understands that) at an average of red-max",
          0.0001, 1.0, red.probability, rw));
  g_object_class_install_property (klass, first_id + GST_CBT_QUEUE_RED_WEIGHT,
      g_param_spec_double ("average-weight", "average-weight",
          weight > 0.0 ? "Weight of the newest sample in the average; 0.002 "
          "follows over some 500 packets" :
          "Weight of the newest sample in the average of the class's packets "
          "that wait (0 = 0.002 with RED, 1/16 with a threshold)",
          weight > 0.0 ? 1e-6 : 0.0, 1.0, weight, rw));
}

/* --------------------------------------------------- what is known of it -- */

static gboolean
same_segment (GstEvent * a, GstEvent * b)
{
  const GstSegment *segment_a, *segment_b;

  if (a == NULL || b == NULL)
    return a == b;
  gst_event_parse_segment (a, &segment_a);
  gst_event_parse_segment (b, &segment_b);
  return gst_segment_is_equal (segment_a, segment_b);
}

void
gst_cbt_queue_known_clear (GstCbtQueueKnown * known)
{
  known->stream_start = FALSE;
  gst_caps_replace (&known->caps, NULL);
  gst_clear_event (&known->segment);
}

guint
gst_cbt_queue_known_update (GstCbtQueueKnown * known, GstCbtQueuePad * pad,
    GstEvent ** events)
{
  GstCaps *caps;
  guint n = 0;

  if (pad->stream_start != NULL && !known->stream_start) {
    events[n++] = gst_event_ref (pad->stream_start);
    known->stream_start = TRUE;
  }
  if (pad->caps != NULL) {
    gst_event_parse_caps (pad->caps, &caps);
    if (known->caps == NULL || !gst_caps_is_equal (caps, known->caps)) {
      gst_caps_replace (&known->caps, caps);
      events[n++] = gst_event_ref (pad->caps);
    }
  }
  if (pad->segment != NULL && !same_segment (pad->segment, known->segment)) {
    gst_event_replace (&known->segment, pad->segment);
    events[n++] = gst_event_ref (pad->segment);
  }
  return n;
}

void
gst_cbt_queue_pad_forget (GstCbtQueuePad * pad)
{
  gst_clear_event (&pad->stream_start);
  gst_clear_event (&pad->caps);
  gst_clear_event (&pad->segment);
}

/* ------------------------------------------------------------------ pad -- */

void
gst_cbt_queue_pad_update (GstCbtQueuePad * pad, FmxDuration packet_time)
{
  FmxClassParams params;
  gboolean is_red;

  GST_OBJECT_LOCK (pad);
  is_red = pad->rule == RULE_AUTO ? pad->klass == CLASS_TCP
      : pad->rule == RULE_RED;
  params.rule = is_red ? FMX_CLASS_RED : FMX_CLASS_THRESHOLD;
  params.average.weight = pad->red.weight > 0.0 ? pad->red.weight
      : is_red ? DEFAULT_WEIGHT_RED : DEFAULT_WEIGHT_THRESHOLD;
  params.average.packet_time = packet_time;
  gst_cbt_queue_red_params (&pad->red, &params.red);
  params.threshold_packets = pad->threshold >= 0.0 ? pad->threshold
      : pad->klass == CLASS_MARKED ? DEFAULT_THRESHOLD_MARKED
      : DEFAULT_THRESHOLD_OTHER;
  GST_OBJECT_UNLOCK (pad);
  fmx_queue_class_set_params (&pad->queue_class, &params);
}

const gchar *
gst_cbt_queue_pad_get_class_nick (GstCbtQueuePad * pad)
{
  gint klass;

  GST_OBJECT_LOCK (pad);
  klass = pad->klass;
  GST_OBJECT_UNLOCK (pad);
  return class_nicks[klass];
}

GstStructure *
gst_cbt_queue_pad_create_stats (GstCbtQueuePad * pad, const gchar * name)
{
  FmxClassStats stats;

  fmx_queue_class_get_stats (&pad->queue_class, &stats);
  return gst_structure_new (name,
      "class", G_TYPE_STRING, gst_cbt_queue_pad_get_class_nick (pad),
      "in", G_TYPE_UINT64, stats.n_arrived,
      "in-bytes", G_TYPE_UINT64, stats.arrived_bytes,
      "out", G_TYPE_UINT64, stats.n_departed,
      "out-bytes", G_TYPE_UINT64, stats.departed_bytes,
      "marked", G_TYPE_UINT64, stats.n_marked,
      "dropped-full", G_TYPE_UINT64, stats.n_dropped_full,
      "dropped-early", G_TYPE_UINT64, stats.n_dropped_early,
      "dropped-threshold", G_TYPE_UINT64, stats.n_dropped_threshold,
      "flushed", G_TYPE_UINT64, stats.n_cleared,
      "level", G_TYPE_UINT, fmx_queue_class_get_length (&pad->queue_class),
      "average", G_TYPE_DOUBLE,
      fmx_queue_class_get_average (&pad->queue_class), NULL);
}

void
gst_cbt_queue_pad_post_drops (GstCbtQueuePad * pad, GstElement * element,
    FmxDropWatchChange change, gdouble share)
{
  GstStructure *s = gst_structure_new ("fairmix-queue-drops",
      "event", G_TYPE_STRING,
      change == FMX_DROP_WATCH_BEGAN ? "began" : "ended",
      "pad", G_TYPE_STRING, GST_PAD_NAME (pad),
      "class", G_TYPE_STRING, gst_cbt_queue_pad_get_class_nick (pad),
      "share", G_TYPE_DOUBLE, share, NULL);

  GST_INFO_OBJECT (pad, "%" GST_PTR_FORMAT, s);
  gst_element_post_message (element,
      gst_message_new_element (GST_OBJECT (element), s));
}

static void
gst_cbt_queue_pad_set_property (GObject * object, guint id,
    const GValue * value, GParamSpec * pspec)
{
  GstCbtQueuePad *pad = GST_CBT_QUEUE_PAD (object);

  GST_OBJECT_LOCK (pad);
  switch (id) {
    case PROP_CLASS:
      pad->klass = g_value_get_enum (value);
      break;
    case PROP_RULE:
      pad->rule = g_value_get_enum (value);
      break;
    case PROP_THRESHOLD:
      pad->threshold = g_value_get_double (value);
      break;
    default:
      *gst_cbt_queue_red_field (&pad->red, id - PROP_RED) =
          g_value_get_double (value);
      break;
  }
  GST_OBJECT_UNLOCK (pad);
}

static void
gst_cbt_queue_pad_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstCbtQueuePad *pad = GST_CBT_QUEUE_PAD (object);

  GST_OBJECT_LOCK (pad);
  switch (id) {
    case PROP_CLASS:
      g_value_set_enum (value, pad->klass);
      break;
    case PROP_RULE:
      g_value_set_enum (value, pad->rule);
      break;
    case PROP_THRESHOLD:
      g_value_set_double (value, pad->threshold);
      break;
    default:
      g_value_set_double (value,
          *gst_cbt_queue_red_field (&pad->red, id - PROP_RED));
      break;
  }
  GST_OBJECT_UNLOCK (pad);
}

static void
gst_cbt_queue_pad_finalize (GObject * object)
{
  gst_cbt_queue_pad_forget (GST_CBT_QUEUE_PAD (object));
  G_OBJECT_CLASS (gst_cbt_queue_pad_parent_class)->finalize (object);
}

static void
gst_cbt_queue_pad_class_init (GstCbtQueuePadClass * klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->set_property = gst_cbt_queue_pad_set_property;
  object_class->get_property = gst_cbt_queue_pad_get_property;
  object_class->finalize = gst_cbt_queue_pad_finalize;
  g_object_class_install_property (object_class, PROP_CLASS,
      g_param_spec_enum ("class", "class", "What comes in here",
          gst_cbt_queue_class_get_type (), CLASS_OTHER, rw));
  g_object_class_install_property (object_class, PROP_RULE,
      g_param_spec_enum ("rule", "rule",
          "Which of its packets are dropped, with discipline=cbt",
          gst_cbt_queue_rule_get_type (), RULE_AUTO, rw));
  g_object_class_install_property (object_class, PROP_THRESHOLD,
      g_param_spec_double ("threshold", "threshold",
          "Packets of the class that may wait on average; so many of all that "
          "wait is its share of the link (-1 = 8 if marked, else 2)",
          -1.0, 1e6, -1.0, rw));
  gst_cbt_queue_red_install (object_class, PROP_RED, "of the class", 0.0);
}

static void
gst_cbt_queue_pad_init (GstCbtQueuePad * pad)
{
  FmxClassParams params;

  pad->klass = CLASS_OTHER;
  pad->threshold = -1.0;
  gst_cbt_queue_red_init (&pad->red, 0.0);
  fmx_class_params_default (&params, FMX_CLASS_THRESHOLD);
  fmx_queue_class_init (&pad->queue_class, &params);
  fmx_drop_watch_init (&pad->watch);
}
