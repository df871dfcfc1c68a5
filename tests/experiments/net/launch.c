/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* launch FLOW TABLE WORD...: gst-launch-1.0 -e WORD..., which also keeps a
 * table.
 *
 * TABLE is a senders.csv: what the element `rate` (tfrcrate) decides and what
 * the element `mix` (partialmix) then selects for the pad src_1, with the time
 * since $FMX_EPOCH_NS (nanoseconds of the wall clock); and a line per second.
 * Of an element `als` (alsrtcp) it has a line per second: a sender's rate of all layers
 * and, as sent_bps, of the base; a receiver's share, what came to the sinks `got0`,
 * `got1`, ... (launch-media.h) and the layers that it holds.
 * Of an element `asmp` (asmprtcp) as a sender, a line per second: its rate, the receivers
 * that it knows as `separate` and the rates that they told as `mixes`.
 * Where there is a sink `ear`, a line with the event `ear` has the time at which
 * the first sample is heard; when the pipeline's latency changes, another one.
 * With FMX_ECN in the environment packets take marks, and marks are read.
 * FMX_SET there changes properties in time, as launch_media_schedule() says; FMX_SENT
 * is a file by which a receiver gets what was lost, as launch-repair.h says.
 * SIGINT and SIGTERM end it cleanly; who listens to a group says BYE. */
#include "launch-ecn.h"
#include "launch-media.h"
#include "launch-repair.h"

#include <glib-unix.h>
#include <gst/base/gstbasesink.h>
#include <gst/gst.h>
#include <stdio.h>

/* A session says BYE within the half of RTCP's least interval and a half. */
#define SAYS_BYE_MS 10000

typedef struct
{
  const gchar *flow;
  FILE *table;
  gint64 epoch_us;
  GMainLoop *loop;
  GstElement *pipeline, *rate, *als, *asmp, *ear;
  _Atomic gint64 first_us;      /* when the first sample is due at @ear ... */
  GstClockTime latency;         /* ... but for this, as it was last told */
  guint separate, mixes;
  gdouble n_rates;              /* that asmprtcp was told so far */
  gint status;
} launch;

static gdouble
field (const GstStructure *s, const gchar *name)
{
  const GValue *v = s != NULL ? gst_structure_get_value (s, name) : NULL;
  GValue number = G_VALUE_INIT;

  g_value_init (&number, G_TYPE_DOUBLE);
  if (v == NULL || !g_value_transform (v, &number))
    return 0;
  return g_value_get_double (&number);
}

static void
write_line (launch *l, const gchar *event)
{
  GstStructure *s = NULL;

  if (l->rate != NULL)
    g_object_get (l->rate, "stats", &s, NULL);
  fprintf (l->table, "%.3f,%s,%s,%.0f,%.3f,%.6g,%.6g,%.0f,%u,%u\n",
      (double) (g_get_real_time () - l->epoch_us) / 1e6, l->flow, event,
      field (s, "target-bps"), field (s, "rtt") / 1e6,
      field (s, "loss-event-rate"), field (s, "loss-fraction"),
      field (s, "sent-bps"), l->separate, l->mixes);
  fflush (l->table);
  if (s != NULL)
    gst_structure_free (s);
}

/* What alsrtcp is told or tells, in the columns that fit best. */
static void
write_als_line (launch *l)
{
  const GValue *layers;
  GstStructure *s = NULL;
  gboolean sends;
  gdouble bps = launch_media_take_bps ();

  g_object_get (l->als, "stats", &s, "layers", &l->separate, NULL);
  sends = gst_structure_has_field (s, "receivers");
  layers = gst_structure_get_value (s, "layers");
  if (sends && GST_VALUE_HOLDS_ARRAY (layers)
      && gst_value_array_get_size (layers) > 0)
    bps = field (gst_value_get_structure (gst_value_array_get_value (layers,
                0)), "target-bitrate");
  fprintf (l->table, "%.3f,%s,,%.0f,0,0,0,%.0f,%u,0\n",
      (double) (g_get_real_time () - l->epoch_us) / 1e6, l->flow,
      field (s, sends ? "target-bitrate" : "share"), bps, l->separate);
  fflush (l->table);
  gst_structure_free (s);
}

static void
write_asmp_line (launch *l)
{
  GstStructure *s = NULL;

  g_object_get (l->asmp, "stats", &s, NULL);
  if (gst_structure_has_field (s, "receivers")) {
    fprintf (l->table, "%.3f,%s,,%.0f,%.3f,0,0,0,%.0f,%.0f\n",
        (double) (g_get_real_time () - l->epoch_us) / 1e6, l->flow,
        field (s, "target-bitrate"), field (s, "limiting-rtt") / 1e6,
        field (s, "n-receivers"), field (s, "n-rates") - l->n_rates);
    fflush (l->table);
    l->n_rates = field (s, "n-rates");
  }
  gst_structure_free (s);
}

/* When the first buffer is due, but for the latency of the pipeline. */
static GstPadProbeReturn
on_heard (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  launch *l = user_data;
  GstClock *clock = gst_element_get_clock (l->ear);
  GstClockTime plays = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info))
      + gst_element_get_base_time (l->ear);

  (void) pad;
  l->first_us = g_get_real_time ()
      + GST_CLOCK_DIFF (gst_clock_get_time (clock), plays) / 1000;
  gst_object_unref (clock);
  return GST_PAD_PROBE_REMOVE;
}

static void
listen_at_ear (launch *l)
{
  GstPad *pad;

  l->ear = gst_bin_get_by_name (GST_BIN (l->pipeline), "ear");
  l->latency = GST_CLOCK_TIME_NONE;
  if (l->ear == NULL)
    return;
  pad = gst_element_get_static_pad (l->ear, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_heard, l, NULL);
  gst_object_unref (pad);
}

static void
tell_ear (launch *l)
{
  GstClockTime latency;

  if (l->ear == NULL || l->first_us == 0)
    return;
  latency = gst_base_sink_get_latency (GST_BASE_SINK (l->ear));
  if (latency == l->latency)
    return;
  l->latency = latency;
  fprintf (l->table, "%.6f,%s,ear,0,0,0,0,0,0,0\n",
      (double) (l->first_us + (gint64) latency / 1000 - l->epoch_us) / 1e6,
      l->flow);
}

static gboolean
on_second (gpointer user_data)
{
  launch *l = user_data;

  if (l->als != NULL) {
    write_als_line (l);
    return G_SOURCE_CONTINUE;
  }
  if (l->asmp != NULL) {
    write_asmp_line (l);
    return G_SOURCE_CONTINUE;
  }
  tell_ear (l);
  write_line (l, "");
  return G_SOURCE_CONTINUE;
}

static void
on_element (launch *l, const GstStructure *s)
{
  if (l->als == NULL && l->asmp == NULL && gst_structure_has_name (s, "fairmix-rate-decision")) {
    const gchar *reason = gst_structure_get_string (s, "reason");

    write_line (l, reason != NULL ? reason : "");
  } else if (gst_structure_has_name (s, "fairmix-selection")
      && g_strcmp0 (gst_structure_get_string (s, "pad"), "src_1") == 0) {
    l->separate = (guint) field (s, "n-separate");
    l->mixes = (guint) field (s, "n-mixes");
    write_line (l, "plan");
  }
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  launch *l = user_data;
  GError *error = NULL;
  gchar *debug = NULL;

  (void) bus;
  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      on_element (l, gst_message_get_structure (message));
      break;
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency (GST_BIN (l->pipeline));
      break;
    case GST_MESSAGE_WARNING:
      gst_message_parse_warning (message, &error, &debug);
      fprintf (stderr, "WARNING: %s: %s\n", error->message, debug);
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, &debug);
      fprintf (stderr, "ERROR: %s: %s\n", error->message, debug);
      l->status = 1;
      g_main_loop_quit (l->loop);
      break;
    case GST_MESSAGE_EOS:
      g_main_loop_quit (l->loop);
      break;
    default:
      break;
  }
  g_clear_error (&error);
  g_free (debug);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_late (gpointer user_data)
{
  g_main_loop_quit (user_data);
  return G_SOURCE_REMOVE;
}

static gboolean
on_signal (gpointer user_data)
{
  launch *l = user_data;

  if (l->asmp == NULL) {
    g_main_loop_quit (l->loop);
    return G_SOURCE_CONTINUE;
  }
  gst_element_send_event (l->pipeline, gst_event_new_eos ());
  g_timeout_add (SAYS_BYE_MS, on_late, l->loop);
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  launch l = { 0 };
  const gchar *epoch = g_getenv ("FMX_EPOCH_NS");
  GError *error = NULL;
  GstBus *bus;

  if (argc < 4) {
    fprintf (stderr, "usage: launch FLOW TABLE WORD...\n");
    return 2;
  }
  gst_init (NULL, NULL);
  l.flow = argv[1];
  l.table = fopen (argv[2], "w");
  l.pipeline = gst_parse_launchv ((const gchar **) argv + 3, &error);
  if (l.table == NULL || l.pipeline == NULL) {
    fprintf (stderr, "launch: %s\n", error ? error->message : argv[2]);
    return 1;
  }
  if (error != NULL)
    fprintf (stderr, "WARNING: %s\n", error->message);
  fprintf (l.table, "t_s,flow,event,target_bps,rtt_ms,loss_event_rate,"
      "loss_fraction,sent_bps,separate,mixes\n");
  l.epoch_us = epoch != NULL ? g_ascii_strtoll (epoch, NULL, 10) / 1000
      : g_get_real_time ();
  l.rate = gst_bin_get_by_name (GST_BIN (l.pipeline), "rate");
  l.als = gst_bin_get_by_name (GST_BIN (l.pipeline), "als");
  l.asmp = gst_bin_get_by_name (GST_BIN (l.pipeline), "asmp");
  listen_at_ear (&l);
  launch_media_prepare (l.pipeline);
  launch_media_count (l.pipeline);
  if (g_getenv ("FMX_SET") != NULL)
    launch_media_schedule (l.pipeline, g_getenv ("FMX_SET"), l.epoch_us);
  if (g_getenv ("FMX_SENT") != NULL)
    launch_repair_prepare (l.pipeline, g_getenv ("FMX_SENT"));
  l.loop = g_main_loop_new (NULL, FALSE);
  bus = gst_element_get_bus (l.pipeline);
  gst_bus_add_watch (bus, on_message, &l);
  g_unix_signal_add (SIGINT, on_signal, &l);
  g_unix_signal_add (SIGTERM, on_signal, &l);
  g_timeout_add (1000, on_second, &l);
  if (g_getenv ("FMX_ECN") != NULL) {
    launch_ecn_prepare (l.pipeline);
    gst_element_set_state (l.pipeline, GST_STATE_PAUSED);
    launch_ecn_start (l.pipeline);
  }
  gst_element_set_state (l.pipeline, GST_STATE_PLAYING);
  g_main_loop_run (l.loop);
  launch_media_stop ();
  gst_element_set_state (l.pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_clear_object (&l.rate);
  gst_clear_object (&l.als);
  gst_clear_object (&l.asmp);
  gst_clear_object (&l.ear);
  gst_object_unref (l.pipeline);
  g_main_loop_unref (l.loop);
  fclose (l.table);
  return l.status;
}
