/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* gccflow PLUGIN recv NEAR PORT
 * gccflow PLUGIN send FAR PORT SECONDS LEAST_BPS MOST_BPS
 * gccflow PLUGIN version
 *
 * A talker whose Opus bitrate is what rtpgccbwe estimates, and who hears them:
 * a peer (README.md).  Where that is more than an Opus stream can have, another
 * talker joins, and all have the same.  PLUGIN is the file that has the element,
 * or FILE:ESTIMATOR, one of the element's own (kalman, linear-regression).
 * Feedback comes every 100 ms: left alone, rtpsession sends TWCC with marked
 * packets, and audio has none. */
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define CAPS "application/x-rtp,media=audio,clock-rate=48000,payload=96," \
    "encoding-name=OPUS,extmap-1=http://www.ietf.org/id/" \
    "draft-holmer-rmcat-transport-wide-cc-extensions-01"
#define FEEDBACK_INTERVAL (100 * GST_MSECOND)
#define START_BPS 64000
#define MIN_OPUS_BPS 6000
#define MAX_OPUS_BPS 510000
#define MAX_OPUS_BYTES 1275
#define MAX_TALKERS 9

static GstElement *
parse (const gchar *format, ...)
{
  GError *error = NULL;
  GstElement *pipeline;
  gchar *text;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  pipeline = gst_parse_launch (text, &error);
  g_free (text);
  if (error != NULL) {
    g_printerr ("gccflow: %s\n", error->message);
    exit (1);
  }
  return pipeline;
}

static GstElement *
receiver (const gchar *near, int port)
{
  GstElement *pipeline = parse ("rtpsession name=session rtp-profile=avpf "
      "udpsrc port=%d caps=\"" CAPS "\" ! session.recv_rtp_sink "
      "session.recv_rtp_src ! fakesink sync=false async=false "
      "session.send_rtcp_src ! udpsink host=%s port=%d sync=false async=false",
      port, near, port + 2);
  GstElement *session = gst_bin_get_by_name (GST_BIN (pipeline), "session");
  GObject *internal;

  g_object_get (session, "internal-session", &internal, NULL);
  g_object_set (internal, "twcc-feedback-interval",
      (guint64) FEEDBACK_INTERVAL, NULL);
  g_object_unref (internal);
  gst_object_unref (session);
  return pipeline;
}

static void
set_talker (GstElement *pipeline, guint i, gint bps)
{
  gchar name[32];
  GstElement *encoder, *valve;

  g_snprintf (name, sizeof name, "encoder%u", i);
  encoder = gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_snprintf (name, sizeof name, "valve%u", i);
  valve = gst_bin_get_by_name (GST_BIN (pipeline), name);
  g_object_set (encoder, "bitrate", CLAMP (bps, MIN_OPUS_BPS, MAX_OPUS_BPS),
      NULL);
  g_object_set (valve, "drop", bps == 0, NULL);
  gst_object_unref (encoder);
  gst_object_unref (valve);
}

/* The estimate is of payload, which is what rtpsession tells of. */
static void
on_estimate (GstElement *gcc, GParamSpec *pspec, gpointer n_talkers)
{
  GstObject *pipeline = gst_object_get_parent (GST_OBJECT (gcc));
  guint n = GPOINTER_TO_UINT (n_talkers), talking;
  guint bps;

  (void) pspec;
  g_object_get (gcc, "estimated-bitrate", &bps, NULL);
  talking = CLAMP ((bps + MAX_OPUS_BPS - 1) / MAX_OPUS_BPS, 1, n);
  for (guint i = 0; i < n; i++)
    set_talker (GST_ELEMENT (pipeline), i,
        i < talking ? (gint) (bps / talking) : 0);
  gst_object_unref (pipeline);
}

static GstPlugin *
load (const gchar *file)
{
  GError *error = NULL;
  GstPlugin *plugin = gst_plugin_load_file (file, &error);

  if (plugin == NULL) {
    g_printerr ("gccflow: %s\n", error->message);
    exit (1);
  }
  return plugin;
}

static int
print_version (const gchar *file)
{
  GstPlugin *plugin = load (file);

  g_print ("%s %s\n", gst_plugin_get_package (plugin),
      gst_plugin_get_version (plugin));
  gst_object_unref (plugin);
  return 0;
}

static GstElement *
sender (const gchar *file, const gchar *estimator, char **words)
{
  GstPlugin *plugin = load (file);
  GstElement *pipeline, *gcc;
  GString *talkers = g_string_new (NULL);
  int port = atoi (words[1]);
  guint n = CLAMP ((atoi (words[4]) + MAX_OPUS_BPS - 1) / MAX_OPUS_BPS, 1,
      MAX_TALKERS);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (talkers, "audiotestsrc is-live=true "
        "samplesperbuffer=960 ! audio/x-raw,rate=48000,channels=2 ! "
        "opusenc name=encoder%u bitrate-type=cbr frame-size=20 "
        "max-payload-size=%d ! rtpopuspay ! " CAPS " ! valve name=valve%u ! "
        "funnel. ", i, MAX_OPUS_BYTES, i);
  pipeline = parse ("rtpsession name=session rtp-profile=avpf %s "
      "rtpfunnel name=funnel ! rtpgccbwe name=gcc min-bitrate=%s "
      "max-bitrate=%s ! session.send_rtp_sink "
      "session.send_rtp_src ! udpsink host=%s port=%d sync=false async=false "
      "session.send_rtcp_src ! udpsink host=%s port=%d sync=false async=false "
      "udpsrc port=%d caps=application/x-rtcp ! session.recv_rtcp_sink",
      talkers->str, words[3], words[4], words[0], port, words[0], port + 1,
      port + 2);
  g_string_free (talkers, TRUE);
  gcc = gst_bin_get_by_name (GST_BIN (pipeline), "gcc");
  if (estimator != NULL)
    gst_util_set_object_arg (G_OBJECT (gcc), "estimator", estimator);
  g_signal_connect (gcc, "notify::estimated-bitrate", G_CALLBACK (on_estimate),
      GUINT_TO_POINTER (n));
  g_object_set (gcc, "estimated-bitrate", START_BPS, NULL);
  on_estimate (gcc, NULL, GUINT_TO_POINTER (n));
  gst_object_unref (gcc);
  gst_object_unref (plugin);
  return pipeline;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer loop)
{
  GError *error = NULL;

  (void) bus;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("gccflow: %s\n", error->message);
    g_error_free (error);
    g_main_loop_quit (loop);
  }
  return G_SOURCE_CONTINUE;
}

static gboolean
on_end (gpointer loop)
{
  g_main_loop_quit (loop);
  return G_SOURCE_REMOVE;
}

int
main (int argc, char **argv)
{
  GMainLoop *loop;
  GstElement *pipeline;
  GstBus *bus;
  gchar **file;

  gst_init (NULL, NULL);
  file = g_strsplit (argc > 1 ? argv[1] : "", ":", 2);
  if (argc == 3 && strcmp (argv[2], "version") == 0)
    return print_version (file[0]);
  loop = g_main_loop_new (NULL, FALSE);
  if (argc == 5 && strcmp (argv[2], "recv") == 0) {
    pipeline = receiver (argv[3], atoi (argv[4]));
  } else if (argc == 8 && strcmp (argv[2], "send") == 0) {
    pipeline = sender (file[0], file[1], argv + 3);
    g_timeout_add ((guint) (atof (argv[5]) * 1000), on_end, loop);
  } else {
    g_printerr ("usage: gccflow PLUGIN recv NEAR PORT | gccflow PLUGIN send FAR"
        " PORT SECONDS LEAST_BPS MOST_BPS | gccflow PLUGIN version\n");
    return 2;
  }
  bus = gst_element_get_bus (pipeline);
  gst_bus_add_watch (bus, on_message, loop);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_main_loop_run (loop);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_main_loop_unref (loop);
  g_strfreev (file);
  return 0;
}
