/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* qmjitterbuffer in an application that has an rtpbin of its own.
 *
 *     meson devenv -C build examples/jitterbuffer [SECONDS]
 *
 * A talker (ticks) sends Opus over the loopback to an rtpbin; now and then a
 * packet takes longer.  You will see the playout delay follow it:
 *
 *     jitter buffer for session 0
 *       delay 16 -> 95 ms (late)
 *       delay 100 -> 105 ms (late)
 *       delay 105 -> 107 ms (late)
 *     played 913 packets, delay 107 ms, dropped 0
 */
#include <signal.h>
#include <stdlib.h>

#include <glib-unix.h>
#include <gst/gst.h>

#define PORT "17004"            /* on the loopback */

/* This is all that it takes. */
static GstElement *
on_request_jitterbuffer (GstElement * rtpbin, guint session, gpointer user_data)
{
  g_print ("jitter buffer for session %u\n", session);
  return gst_element_factory_make ("qmjitterbuffer", NULL);
}

/* Optional: the buffer is there, and may be looked after. */
static void
on_new_jitterbuffer (GstElement * rtpbin, GstElement * jitterbuffer,
    guint session, guint ssrc, gpointer user_data)
{
  GstElement **ours = user_data;

  g_object_set (jitterbuffer, "max-delay", 500, NULL);
  gst_object_replace ((GstObject **) ours, GST_OBJECT (jitterbuffer));
}

static void
on_pad_added (GstElement * rtpbin, GstPad * pad, gpointer user_data)
{
  GstElement *depay = user_data;
  GstPad *sink = gst_element_get_static_pad (depay, "sink");

  if (g_str_has_prefix (GST_PAD_NAME (pad), "recv_rtp_src_")
      && !gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
  gst_object_unref (sink);
}

/* The shaky network */
static GstPadProbeReturn
delay_some (GstPad * pad, GstPadProbeInfo * info, gpointer rand)
{
  if (g_rand_double (rand) < 0.02)
    g_usleep (g_rand_int_range (rand, 10000, 80000));
  return GST_PAD_PROBE_OK;
}

static void
shake (GstElement * network)
{
  GstPad *pad = gst_element_get_static_pad (network, "sink");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, delay_some,
      g_rand_new_with_seed (7), (GDestroyNotify) g_rand_free);
  gst_object_unref (pad);
}

/* One message for each change of the delay. */
static void
print_adaptation (const GstStructure * s)
{
  guint64 before = 0, after = 0;

  gst_structure_get_uint64 (s, "before", &before);
  gst_structure_get_uint64 (s, "after", &after);
  g_print ("  delay %u -> %u ms (%s)\n", (guint) (before / GST_MSECOND),
      (guint) (after / GST_MSECOND), gst_structure_get_string (s, "reason"));
}

static gboolean
on_message (GstBus * bus, GstMessage * message, gpointer user_data)
{
  GMainLoop *loop = user_data;
  GError *error = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
    case GST_MESSAGE_ELEMENT:
      if (gst_message_has_name (message, "fairmix-playout-adaptation"))
        print_adaptation (gst_message_get_structure (message));
      break;
    case GST_MESSAGE_ERROR:
      gst_message_parse_error (message, &error, NULL);
      g_printerr ("%s\n", error->message);
      g_error_free (error);
      g_main_loop_quit (loop);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

static guint64
print_stats (GstElement * jitterbuffer)
{
  GstStructure *stats = NULL;
  guint64 played = 0, dropped = 0, delay = 0;

  g_object_get (jitterbuffer, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "qm-played", &played);
  gst_structure_get_uint64 (stats, "qm-dropped", &dropped);
  gst_structure_get_uint64 (stats, "qm-delay", &delay);
  g_print ("played %" G_GUINT64_FORMAT " packets, delay %u ms, dropped %"
      G_GUINT64_FORMAT "\n", played, (guint) (delay / GST_MSECOND), dropped);
  gst_structure_free (stats);
  return played;
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
  int seconds = argc > 1 ? atoi (argv[1]) : 20;
  guint64 played = 0;
  GstElementFactory *factory;
  GError *error = NULL;
  GstElement *pipeline, *network, *rtpbin, *depay, *jitterbuffer = NULL;
  GMainLoop *loop;
  GstBus *bus;

  gst_init (&argc, &argv);
  if (seconds <= 0) {
    g_printerr ("usage: jitterbuffer [SECONDS]\n");
    return 2;
  }
  if (!(factory = gst_element_factory_find ("qmjitterbuffer"))) {
    g_printerr ("no qmjitterbuffer here: run me in `meson devenv -C build`\n");
    return 1;
  }
  gst_object_unref (factory);
  pipeline = gst_parse_launch ("rtpbin name=rtp "
      "audiotestsrc is-live=true wave=ticks ! opusenc ! rtpopuspay pt=96 "
      "! udpsink name=network host=127.0.0.1 port=" PORT
      " sync=false async=false "
      "udpsrc address=127.0.0.1 port=" PORT
      " caps=\"application/x-rtp,media=audio,"
      "clock-rate=48000,encoding-name=OPUS,payload=96\" "
      "! rtp.recv_rtp_sink_0 "
      "rtpopusdepay name=depay ! opusdec plc=true ! audioconvert ! fakesink "
      "sync=true", &error);
  if (pipeline == NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  network = gst_bin_get_by_name (GST_BIN (pipeline), "network");
  rtpbin = gst_bin_get_by_name (GST_BIN (pipeline), "rtp");
  depay = gst_bin_get_by_name (GST_BIN (pipeline), "depay");
  shake (network);
  g_signal_connect (rtpbin, "request-jitterbuffer",
      G_CALLBACK (on_request_jitterbuffer), NULL);
  g_signal_connect (rtpbin, "new-jitterbuffer",
      G_CALLBACK (on_new_jitterbuffer), &jitterbuffer);
  g_signal_connect (rtpbin, "pad-added", G_CALLBACK (on_pad_added), depay);

  loop = g_main_loop_new (NULL, FALSE);
  bus = gst_element_get_bus (pipeline);
  gst_bus_add_watch (bus, on_message, loop);
  g_timeout_add_seconds ((guint) seconds, on_end, loop);
  g_unix_signal_add (SIGINT, on_end, loop);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_main_loop_run (loop);

  if (jitterbuffer != NULL)
    played = print_stats (jitterbuffer);
  if (played == 0)
    g_printerr ("nothing was played: is UDP port " PORT " in use?\n");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  gst_clear_object (&jitterbuffer);
  gst_object_unref (depay);
  gst_object_unref (network);
  gst_object_unref (rtpbin);
  gst_object_unref (pipeline);
  g_main_loop_unref (loop);
  return played > 0 ? 0 : 1;
}
