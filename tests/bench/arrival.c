/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How much later than the kernel rtpccfb would see a packet: eight streams over
 * loopback, a thread of udpsrc for each, without other work and with so many threads
 * that want all of the processors.
 *
 *   bench-arrival [--csv] [SECONDS]
 *
 * What udpsrc socket-timestamp=realtime says is the kernel's time, and the clock is read
 * where rtpccfb reads it.
 */
#include <gio/gio.h>
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>

#define N_STREAMS 8
#define SPACING_US 20000

static const guint loads[] = { 0, 1, 2, 4 };    /* threads for each processor */

typedef struct
{
  GMutex lock;
  GArray *late_us;              /* gdouble */
  guint n_unstamped;
} Seen;

static gint busy;               /* atomic */

static GstPadProbeReturn
note (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Seen *seen = user_data;
  GstElement *source = gst_pad_get_parent_element (pad);
  GstClock *clock = gst_element_get_clock (source);
  GstClockTime dts = GST_BUFFER_DTS (GST_PAD_PROBE_INFO_BUFFER (info));
  gdouble late_us;

  g_mutex_lock (&seen->lock);
  if (clock != NULL && GST_CLOCK_TIME_IS_VALID (dts)) {
    late_us = (gdouble) GST_CLOCK_DIFF (dts + gst_element_get_base_time (source),
        gst_clock_get_time (clock)) / GST_USECOND;
    g_array_append_val (seen->late_us, late_us);
  } else {
    seen->n_unstamped++;
  }
  g_mutex_unlock (&seen->lock);
  gst_clear_object (&clock);
  gst_object_unref (source);
  return GST_PAD_PROBE_OK;
}

static gpointer
be_busy (gpointer data)
{
  volatile guint n = 0;

  while (g_atomic_int_get (&busy))
    n++;
  return NULL;
}

static GstElement *
make_pipeline (Seen * seen, GSocketAddress * to[N_STREAMS])
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstElement *sources[N_STREAMS];
  guint i;

  for (i = 0; i < N_STREAMS; i++) {
    GstElement *source = sources[i] = gst_element_factory_make ("udpsrc", NULL);
    GstElement *sink = gst_element_factory_make ("fakesink", NULL);
    GstPad *pad = gst_element_get_static_pad (source, "src");

    g_object_set (source, "address", "127.0.0.1", "port", 0, NULL);
    gst_util_set_object_arg (G_OBJECT (source), "socket-timestamp", "realtime");
    g_object_set (sink, "sync", FALSE, "async", FALSE, NULL);
    gst_bin_add_many (GST_BIN (pipeline), source, sink, NULL);
    gst_element_link (source, sink);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note, seen, NULL);
    gst_object_unref (pad);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (i = 0; i < N_STREAMS; i++) {
    gint port;

    g_object_get (sources[i], "port", &port, NULL);
    to[i] = g_inet_socket_address_new_from_string ("127.0.0.1", (guint) port);
  }
  return pipeline;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
percentile_ms (const GArray * sorted, gdouble percent)
{
  return sorted->len == 0 ? 0.0 : g_array_index (sorted, gdouble,
      (guint) (percent / 100.0 * (sorted->len - 1))) / 1e3;
}

static void
print (guint load, Seen * seen, gboolean csv)
{
  g_array_sort (seen->late_us, compare);
  g_print (csv ? "%u,%u,%u,%.3f,%.3f,%.3f,%.3f\n"
      : "%11u %8u %10u %8.2f %8.2f %8.2f %8.2f\n", load, seen->late_us->len,
      seen->n_unstamped, percentile_ms (seen->late_us, 50),
      percentile_ms (seen->late_us, 95), percentile_ms (seen->late_us, 99),
      percentile_ms (seen->late_us, 100));
}

static void
measure (guint load, guint seconds, gboolean csv)
{
  const guint n_busy = load * g_get_num_processors ();
  Seen seen = { 0 };
  GSocketAddress *to[N_STREAMS];
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV4,
      G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  GThread **threads = g_new0 (GThread *, n_busy + 1);
  GstElement *pipeline;
  gchar packet[200] = { 0 };
  guint i, k;

  g_mutex_init (&seen.lock);
  seen.late_us = g_array_new (FALSE, FALSE, sizeof (gdouble));
  pipeline = make_pipeline (&seen, to);
  g_atomic_int_set (&busy, 1);
  for (i = 0; i < n_busy; i++)
    threads[i] = g_thread_new ("busy", be_busy, NULL);
  for (k = 0; k < seconds * G_USEC_PER_SEC / SPACING_US; k++) {
    for (i = 0; i < N_STREAMS; i++)
      g_socket_send_to (socket, to[i], packet, sizeof packet, NULL, NULL);
    g_usleep (SPACING_US);
  }
  g_atomic_int_set (&busy, 0);
  for (i = 0; i < n_busy; i++)
    g_thread_join (threads[i]);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  print (load, &seen, csv);

  for (i = 0; i < N_STREAMS; i++)
    g_object_unref (to[i]);
  gst_object_unref (pipeline);
  g_object_unref (socket);
  g_array_unref (seen.late_us);
  g_mutex_clear (&seen.lock);
  g_free (threads);
}

int
main (int argc, char *argv[])
{
  const gboolean csv = argc > 1 && strcmp (argv[1], "--csv") == 0;
  const guint seconds = argc > 1 + csv ? (guint) atoi (argv[1 + csv]) : 10;
  guint i;

  gst_init (NULL, NULL);
  g_print (csv ? "busy_threads_per_processor,packets,unstamped,median_ms,p95_ms,"
      "p99_ms,most_ms\n" : "busy/CPU      packets  unstamped   median     95 %%"
      "     99 %%     most  [ms later than the kernel]\n");
  for (i = 0; i < G_N_ELEMENTS (loads); i++)
    measure (loads[i], seconds, csv);
  return 0;
}
