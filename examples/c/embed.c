/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The mixer inside an application that prints its decisions.
 *
 *     meson devenv -C build examples/embed [SECONDS]
 *
 * Four talkers (test tones) come in as RTP; one neighbour listens.  Every two
 * seconds the application changes what the path to that neighbour may carry.
 * You will see which streams stay separate and which are mixed:
 *
 *     target 0 (no limit)
 *       src_4: 4 separate, 0 mixed (negotiated)
 *     target 120000 bit/s
 *       src_4: 2 separate, 2 mixed (target)
 */
#include <signal.h>
#include <stdlib.h>

#include <glib-unix.h>
#include <gst/gst.h>

#define N_TALKERS 4
#define STEP_SECONDS 2

static const guint targets_bps[] = { 0, 120000, 60000, 200000 };

typedef struct
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstPad *src_pad;              /* of the mixer, to our neighbour */
  guint step;
  gboolean failed;
} App;

/* What the mixer decided; one message for each change of a selection. */
static void
print_selection (const GstStructure * s)
{
  const gchar *pad = gst_structure_get_string (s, "pad");
  const gchar *reason = gst_structure_get_string (s, "reason");
  guint n_separate = 0, n_mixed = 0;

  gst_structure_get_uint (s, "n-separate", &n_separate);
  gst_structure_get_uint (s, "n-mixed", &n_mixed);
  g_print ("  %s: %u separate, %u mixed (%s)\n", pad, n_separate, n_mixed,
      reason);
}

static gboolean
on_message (GstBus * bus, GstMessage * message, gpointer user_data)
{
  App *app = user_data;
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name (message, "fairmix-selection"))
        print_selection (gst_message_get_structure (message));
      break;
    case GST_MESSAGE_LATENCY:  /* somebody came who needs more, or less */
      gst_bin_recalculate_latency (GST_BIN (app->pipeline));
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("%s\n", error->message);
      g_error_free (error);
      app->failed = TRUE;
      g_main_loop_quit (app->loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

/* Usually tfrcrate, further down, says what the path carries. */
static gboolean
on_step (gpointer user_data)
{
  App *app = user_data;
  guint bps = targets_bps[app->step++ % G_N_ELEMENTS (targets_bps)];

  if (bps == 0)
    g_print ("target 0 (no limit)\n");
  else
    g_print ("target %u bit/s\n", bps);
  g_object_set (app->src_pad, "target-bitrate", bps, NULL);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_end (gpointer user_data)
{
  g_main_loop_quit (((App *) user_data)->loop);
  return G_SOURCE_REMOVE;
}

/* A stream of RTP into the mixer's pad sink_N. */
static gboolean
add_talker (App * app, GstElement * mixer, guint n)
{
  g_autofree gchar *line =
      g_strdup_printf ("audiotestsrc is-live=true wave=ticks freq=%u "
      "! audio/x-raw,rate=48000,channels=1 ! opusenc bitrate=32000 "
      "! rtpopuspay pt=96 ssrc=%u", 300 + 100 * n, 1001 + n);
  g_autofree gchar *pad = g_strdup_printf ("sink_%u", n);
  GstElement *talker = gst_parse_bin_from_description (line, TRUE, NULL);

  if (talker == NULL)
    return FALSE;
  gst_bin_add (GST_BIN (app->pipeline), talker);
  return gst_element_link_pads (talker, "src", mixer, pad);
}

static gboolean
build (App * app)
{
  GstElement *mixer = gst_element_factory_make ("partialmix", NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL);

  if (mixer == NULL || sink == NULL)
    return FALSE;
  app->pipeline = gst_pipeline_new (NULL);
  g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (app->pipeline), mixer, sink, NULL);
  for (guint n = 0; n < N_TALKERS; n++) {
    if (!add_talker (app, mixer, n))
      return FALSE;
  }
  /* the neighbour that listens is none of those that talk */
  app->src_pad = gst_element_request_pad_simple (mixer, "src_4");
  return gst_element_link_pads (mixer, "src_4", sink, "sink");
}

int
main (int argc, char *argv[])
{
  App app = { NULL, };
  int seconds = argc > 1 ? atoi (argv[1]) : 8;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (seconds <= 0) {
    g_printerr ("usage: embed [SECONDS]\n");
    return 2;
  }
  if (!build (&app)) {
    g_printerr ("no partialmix here: run me in `meson devenv -C build`\n");
    return 1;
  }
  app.loop = g_main_loop_new (NULL, FALSE);
  bus = gst_element_get_bus (app.pipeline);
  gst_bus_add_watch (bus, on_message, &app);

  on_step (&app);
  g_timeout_add_seconds (STEP_SECONDS, on_step, &app);
  g_timeout_add_seconds ((guint) seconds, on_end, &app);
  g_unix_signal_add (SIGINT, on_end, &app);
  gst_element_set_state (app.pipeline, GST_STATE_PLAYING);
  g_main_loop_run (app.loop);
  gst_element_set_state (app.pipeline, GST_STATE_NULL);

  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_object_unref (app.src_pad);
  gst_object_unref (app.pipeline);
  g_main_loop_unref (app.loop);
  return app.failed ? 1 : 0;
}
