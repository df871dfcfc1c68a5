/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties of our other elements and of their pads that are set while data flows;
 * those of partialmix are in partialmix-settings.c. */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "../gstfairmixproperties.h"

#define VOICE "audiotestsrc samplesperbuffer=160 ! " \
    "audio/x-raw,rate=8000,channels=1 ! "
#define RTP VOICE "mulawenc ! rtppcmupay ! "
/* how many buffers, and how long at most, pass after each setting */
#define N_BUFFERS 3
#define PATIENCE_US (5 * G_TIME_SPAN_MILLISECOND)
/* how long at most until something passes again */
#define RECOVERY_US (20 * G_TIME_SPAN_SECOND)

typedef struct
{
  GstElement *pipeline;
  GstElement *element;
  GMutex lock;
  GCond cond;
  guint64 n_buffers;
} Flow;

static GstPadProbeReturn
count_buffer (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user_data)
{
  Flow *flow = user_data;

  g_mutex_lock (&flow->lock);
  flow->n_buffers++;
  g_cond_signal (&flow->cond);
  g_mutex_unlock (&flow->lock);
  return GST_PAD_PROBE_OK;
}

/* Some settings let nothing pass, and some states: then not for long. */
static void
let_it_flow (gpointer data)
{
  Flow *flow = data;
  gint64 end = g_get_monotonic_time () + PATIENCE_US;
  guint64 n;

  if (GST_STATE (flow->pipeline) != GST_STATE_PLAYING)
    return;
  g_mutex_lock (&flow->lock);
  n = flow->n_buffers + N_BUFFERS;
  while (flow->n_buffers < n && g_cond_wait_until (&flow->cond, &flow->lock,
          end));
  g_mutex_unlock (&flow->lock);
}

/* Returns: how many properties element and pads have of their own */
static guint
walk_element (Flow * flow, GRand * rand)
{
  GPtrArray *pads = g_ptr_array_new_with_free_func (gst_object_unref);
  guint i, n = walk_properties (G_OBJECT (flow->element), rand, let_it_flow,
      flow);
  GList *l;

  for (l = flow->element->pads; l != NULL; l = l->next)
    g_ptr_array_add (pads, gst_object_ref (l->data));
  for (i = 0; i < pads->len; i++)
    n += walk_properties (g_ptr_array_index (pads, i), rand, let_it_flow, flow);
  g_ptr_array_unref (pads);
  return n;
}

static void
walk_states (Flow * flow)
{
  static const GstState states[] = { GST_STATE_NULL, GST_STATE_READY,
    GST_STATE_PAUSED, GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY,
    GST_STATE_PLAYING
  };
  GRand *rand = g_rand_new_with_seed (7);
  guint i;

  for (i = 0; i < G_N_ELEMENTS (states); i++) {
    fail_unless (gst_element_set_state (flow->pipeline, states[i])
        != GST_STATE_CHANGE_FAILURE);
    gst_element_get_state (flow->pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
    fail_unless (walk_element (flow, rand) > 0);
  }
  gst_element_set_state (flow->pipeline, GST_STATE_NULL);
  g_rand_free (rand);
}

static void
flow_init (Flow * flow, const gchar * line)
{
  GError *error = NULL;
  GstElement *sink;
  GstPad *pad;

  flow->pipeline = gst_parse_launch (line, &error);
  flow->n_buffers = 0;
  g_assert_no_error (error);
  g_mutex_init (&flow->lock);
  g_cond_init (&flow->cond);
  flow->element = gst_bin_get_by_name (GST_BIN (flow->pipeline), "element");
  sink = gst_bin_get_by_name (GST_BIN (flow->pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER |
      GST_PAD_PROBE_TYPE_BUFFER_LIST, count_buffer, flow, NULL);
  gst_object_unref (pad);
  gst_object_unref (sink);
}

static void
flow_clear (Flow * flow)
{
  gst_object_unref (flow->element);
  gst_object_unref (flow->pipeline);
  g_cond_clear (&flow->cond);
  g_mutex_clear (&flow->lock);
}

static const gchar *const lines[] = {
  RTP "tfrcrate name=element ! fakesink name=sink",
  RTP "rtpccfb name=element ! fakesink name=sink",
  RTP "qmjitterbuffer name=element ! fakesink name=sink",
  VOICE "qmstretch name=element ! fakesink name=sink",
  RTP "updatequeue name=element ! fakesink name=sink",
  RTP "fakesink name=sink rtpbin name=bin qmrtpbin name=element",
  RTP "cbtqueue name=element ! fakesink name=sink",
  RTP "asmprtcp name=element ! fakesink name=sink",
  RTP "alsrtcp name=element ! fakesink name=sink async=false",
  RTP "alslayers name=element ! fakesink name=sink",
  RTP "alsrouter name=element ! fakesink name=sink",
  /* not the usual port, at which somebody may be listening */
  VOICE "dpmmixer name=element port=0 ! fakesink name=sink",
  /* where nobody answers */
  VOICE "dpmclient name=element server=127.0.0.1:9 ! fakesink name=sink",
};

/* a sender of layers waits for its routers */
static gboolean
line_flows (const gchar * line)
{
  return strstr (line, "alsrtcp") == NULL;
}

GST_START_TEST (test_any_property_may_be_set_to_anything_in_any_state)
{
  Flow flow;

  flow_init (&flow, lines[__i__]);
  walk_states (&flow);
  fail_unless (flow.n_buffers > N_BUFFERS || !line_flows (lines[__i__]));
  flow_clear (&flow);
}

GST_END_TEST;

/* Something passes, however long that takes. */
static void
must_flow (Flow * flow, GObject * object, const gchar * name)
{
  gint64 end = g_get_monotonic_time () + RECOVERY_US;
  guint64 n;
  gboolean passes = TRUE;

  g_mutex_lock (&flow->lock);
  n = flow->n_buffers;
  while (flow->n_buffers == n && passes)
    passes = g_cond_wait_until (&flow->cond, &flow->lock, end);
  g_mutex_unlock (&flow->lock);
  fail_unless (passes, "nothing flows after %s of %s", name,
      G_OBJECT_TYPE_NAME (object));
}

static void
walk_extremes_of (Flow * flow, GObject * object, gboolean flows)
{
  guint n;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);

  for (guint i = 0; i < n; i++) {
    if (!is_walked (all[i]))
      continue;
    walk_extremes (object, all[i], let_it_flow, flow);
    if (flows)
      must_flow (flow, object, all[i]->name);
  }
  g_free (all);
}

/* What was wrong with a value is right again with the one before. */
GST_START_TEST (test_any_property_may_go_to_its_extremes_and_back)
{
  gboolean flows = line_flows (lines[__i__]);
  Flow flow;

  flow_init (&flow, lines[__i__]);
  gst_element_set_state (flow.pipeline, GST_STATE_PLAYING);
  gst_element_get_state (flow.pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  walk_extremes_of (&flow, G_OBJECT (flow.element), flows);
  for (GList * l = flow.element->pads; l != NULL; l = l->next)
    walk_extremes_of (&flow, l->data, flows);
  gst_element_set_state (flow.pipeline, GST_STATE_NULL);
  flow_clear (&flow);
}

GST_END_TEST;

static Suite *
properties_suite (void)
{
  Suite *suite = suite_create ("properties");
  TCase *tc = tcase_create ("any");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc,
      test_any_property_may_be_set_to_anything_in_any_state, 0,
      G_N_ELEMENTS (lines));
  tcase_add_loop_test (tc,
      test_any_property_may_go_to_its_extremes_and_back, 0,
      G_N_ELEMENTS (lines));
  return suite;
}

GST_CHECK_MAIN (properties);
