/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a meeting costs who hosts it: `gst-launch-1.0 dpmmixer`, a process of its
 * own, and many clients of which some talk all the time, each heard by all others.
 * The clients are the join protocol, SRTP and acknowledgements, without audio:
 * nothing is mixed, because the paths have room for all.
 *
 *   meeting [--csv] [CLIENTS TALKERS]
 *
 * What counts is the mixer's CPU time for a packet that it delivers; how many it
 * delivers in a second depends on what else the machine does, these clients
 * included.  So that delays are the mixer's, it and the one client who measures them
 * go before all others, if root has started this.
 */
#define _GNU_SOURCE             /* SCHED_RESET_ON_FORK */
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "fairmix/wire/fmx-ccfb-collector.h"
#include "gstdpmport.h"

#define PORT "5994"
#define FRAME_US 20000
#define PAYLOAD_BYTES 80        /* Opus, 32 kbit/s */
#define WARM_UP_S 3
#define SECONDS 6
#define PATIENCE_S 30
#define MAX_TALKERS 64
#define FIRST_SSRC 1000
#define JOIN_SECONDS 1
#define MAX_JOINING 50          /* in that time */
#define TURNS 7

typedef struct
{
  guint number;
  GstDpmPort *port;
  GstDpmPeer *server;
  GstPad *rtp, *rtcp;
  gint joined;
  gboolean measures;            /* delays */
  gboolean urgent;              /* its thread is */

  GMutex lock;
  FmxCcfbCollector feedback;
  FmxCcfbStream streams[MAX_TALKERS];
  guint64 n_received;
  gint64 longest_us;            /* from a talker to here */
} Client;

static FmxTime
now_ns (void)
{
  return (FmxTime) g_get_monotonic_time () * 1000;
}

/* Nothing else on this machine comes before the calling thread, if it may say so; of
 * those that it makes, nothing is said. */
static void
be_urgent (void)
{
  struct sched_param param = {.sched_priority = 60 };

  sched_setscheduler (0, SCHED_RR | SCHED_RESET_ON_FORK, &param);
}

/* Returns: how long ago it was sent; what is mixed does not say */
static gint64
delay_us (GstRTPBuffer * rtp)
{
  const guint8 *payload = gst_rtp_buffer_get_payload (rtp);
  gint64 sent_us;

  if (gst_rtp_buffer_get_payload_len (rtp) != PAYLOAD_BYTES
      || gst_rtp_buffer_get_ssrc (rtp) - FIRST_SSRC >= MAX_TALKERS)
    return 0;
  memcpy (&sent_us, payload + 1, sizeof sent_us);
  return g_get_monotonic_time () - sent_us;
}

static GstFlowReturn
on_received (gpointer user, GstPad * pad, GstBuffer * buffer)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  Client *client = user;

  if (client->measures && !client->urgent)
    be_urgent ();
  client->urgent = client->measures;
  if (pad == client->rtp && gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp)) {
    FmxCcfbArrival arrival = { gst_rtp_buffer_get_ssrc (&rtp),
      gst_rtp_buffer_get_seq (&rtp), 0,
      (uint32_t) gst_buffer_get_size (buffer) + 28
    };

    g_mutex_lock (&client->lock);
    client->n_received++;
    if (client->measures)
      client->longest_us = MAX (client->longest_us, delay_us (&rtp));
    fmx_ccfb_collector_on_packet (&client->feedback, &arrival, now_ns ());
    g_mutex_unlock (&client->lock);
    gst_rtp_buffer_unmap (&rtp);
  }
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static void
on_tick (gpointer user, FmxTime now)
{
  Client *client = user;
  guint8 data[1200];
  gsize size;

  do {
    g_mutex_lock (&client->lock);
    size = fmx_ccfb_collector_write (&client->feedback, data, sizeof data,
        (uint32_t) (now_ns () * 65536 / GST_SECOND), now_ns ());
    g_mutex_unlock (&client->lock);
    if (size > 0) {
      GstBuffer *buffer = gst_buffer_new_memdup (data, size);

      gst_dpm_port_send (client->port, client->server, buffer, TRUE);
      gst_buffer_unref (buffer);
    }
  } while (size > 0);
}

static void
on_uplink (gpointer user, FmxJoinClientEvent event, FmxJoinReason reason,
    gboolean last)
{
  g_atomic_int_set (&((Client *) user)->joined,
      event == FMX_JOIN_CLIENT_JOINED);
}

static void
on_peer (gpointer user, GstDpmPeer * peer)
{
}

static void
on_left (gpointer user, GstDpmPeer * peer, FmxJoinReason reason)
{
}

static void
on_refused (gpointer user, const gchar * address, FmxJoinReason reason)
{
}

static const GstDpmPortCallbacks callbacks = {
  on_peer, on_left, on_refused, on_uplink, NULL, on_received, on_tick
};

static Client *
client_new (guint number)
{
  Client *client = g_new0 (Client, 1);
  FmxCcfbCollectorParams feedback;
  FmxJoinClientParams params;
  FmxJoinSecret secret = { 6, "sesame" };

  client->number = number;
  g_mutex_init (&client->lock);
  fmx_ccfb_collector_params_default (&feedback);
  feedback.sender_ssrc = 100000 + number;
  fmx_ccfb_collector_init (&client->feedback, &feedback, client->streams,
      MAX_TALKERS);
  fmx_join_client_params_default (&params);
  g_snprintf (params.name, sizeof params.name, "client-%u", number);
  client->port = gst_dpm_port_new (&callbacks, client);
  client->server = gst_dpm_port_connect (client->port, "127.0.0.1:" PORT,
      &params, &secret, NULL);
  client->rtp = gst_pad_new ("rtp", GST_PAD_SRC);
  client->rtcp = gst_pad_new ("rtcp", GST_PAD_SRC);
  gst_dpm_peer_set_pads (client->server, client->rtp, client->rtcp);
  if (!gst_dpm_port_open (client->port, "127.0.0.1", 0, NULL))
    g_error ("no port");
  gst_dpm_port_start (client->port);
  return client;
}

static void
client_free (Client * client)
{
  gst_dpm_port_free (client->port);
  gst_object_unref (client->rtp);
  gst_object_unref (client->rtcp);
  g_mutex_clear (&client->lock);
  g_free (client);
}

static void
client_talk (Client * client, guint16 seq)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (PAYLOAD_BYTES, 0, 0);
  gint64 now_us = g_get_monotonic_time ();
  guint8 *payload;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_ssrc (&rtp, FIRST_SSRC + client->number);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, seq * 960u);
  gst_rtp_buffer_set_payload_type (&rtp, 96);
  payload = gst_rtp_buffer_get_payload (&rtp);
  memset (payload, 0x78, PAYLOAD_BYTES);        /* Opus, 20 ms */
  memcpy (payload + 1, &now_us, sizeof now_us);
  gst_rtp_buffer_unmap (&rtp);
  gst_dpm_port_send (client->port, client->server, buffer, FALSE);
  gst_buffer_unref (buffer);
}

/* --- the mixer, as /proc has it ------------------------------------------- */

static void
go_first (gpointer nothing)
{
  struct sched_param param = {.sched_priority = 50 };

  sched_setscheduler (0, SCHED_RR, &param);
}

static GPid
mixer_start (void)
{
  gchar *argv[] = { "gst-launch-1.0", "-q", "dpmmixer", "port=" PORT,
    "address=127.0.0.1", "secret=sesame", "max-clients=1000", NULL
  };
  GPid pid;

  if (!g_spawn_async (NULL, argv, NULL, G_SPAWN_SEARCH_PATH
          | G_SPAWN_DO_NOT_REAP_CHILD, go_first, NULL, &pid, NULL))
    g_error ("no gst-launch-1.0");
  return pid;
}

static gchar *
proc_read (GPid pid, const gchar * file)
{
  gchar *path = g_strdup_printf ("/proc/%d/%s", (int) pid, file);
  gchar *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  g_free (path);
  return text;
}

static gdouble
mixer_cpu_s (GPid pid)
{
  gchar *text = proc_read (pid, "stat");
  gchar **fields = g_strsplit (text != NULL ? strrchr (text, ')') : "", " ",
      -1);
  gdouble ticks = 0;

  if (g_strv_length (fields) > 13)
    ticks = g_ascii_strtod (fields[12], NULL) + g_ascii_strtod (fields[13],
        NULL);
  g_strfreev (fields);
  g_free (text);
  return ticks / (gdouble) sysconf (_SC_CLK_TCK);
}

static gdouble
mixer_status (GPid pid, const gchar * field)
{
  gchar *text = proc_read (pid, "status");
  const gchar *line = text != NULL ? strstr (text, field) : NULL;
  gdouble value = line != NULL ? g_ascii_strtod (line + strlen (field), NULL)
      : 0;

  g_free (text);
  return value;
}

/* --- a meeting -------------------------------------------------------------- */

static guint64
count_received (Client ** clients, guint n)
{
  guint64 sum = 0;

  for (guint i = 0; i < n; i++) {
    g_mutex_lock (&clients[i]->lock);
    sum += clients[i]->n_received;
    g_mutex_unlock (&clients[i]->lock);
  }
  return sum;
}

/* Returns: how long it took until all were in, in ms */
static gdouble
wait_for_all (Client ** clients, guint n, gint64 begin)
{
  for (guint i = 0; i < n; i++)
    while (!g_atomic_int_get (&clients[i]->joined)) {
      if (g_get_monotonic_time () - begin > PATIENCE_S * G_USEC_PER_SEC)
        g_error ("client %u is not in", i);
      g_usleep (1000);
    }
  return (gdouble) (g_get_monotonic_time () - begin) / 1000;
}

static void
sleep_until (gint64 time_us)
{
  gint64 left_us = time_us - g_get_monotonic_time ();

  if (left_us > 0)
    g_usleep ((gulong) left_us);
}

/* Nobody's frames end when somebody else's do. */
static void
talk_for (Client ** clients, guint n_talkers, guint16 * seq, gint64 duration_us)
{
  gint64 begin = g_get_monotonic_time ();

  for (gint64 t = 0; t < duration_us; t += FRAME_US) {
    for (guint i = 0; i < n_talkers; i++) {
      client_talk (clients[i], *seq);
      sleep_until (begin + t + FRAME_US * (i + 1) / n_talkers);
    }
    (*seq)++;
  }
}

/* Returns: the longest that a packet took to the one who measures it, since the last
 * call */
static gdouble
take_longest_ms (Client * client)
{
  gint64 longest_us;

  g_mutex_lock (&client->lock);
  longest_us = client->longest_us;
  client->longest_us = 0;
  g_mutex_unlock (&client->lock);
  return (gdouble) longest_us / 1000;
}

/* Returns: the longest that a packet took in a second of talk */
static gdouble
longest_in_a_second (Client ** clients, guint n, guint n_talkers, guint16 * seq)
{
  talk_for (clients, n_talkers, seq, G_USEC_PER_SEC / 2);
  take_longest_ms (clients[n - 1]);
  talk_for (clients, n_talkers, seq, JOIN_SECONDS * G_USEC_PER_SEC);
  return take_longest_ms (clients[n - 1]);
}

/* In turns: nobody joins; @n_new join in a second, one after the other, and each says
 * something; they are there; they go.  @delays_ms: the longest that a packet took in each
 * of the first three: medians */
static void
join_while_they_talk (Client ** clients, guint n, guint n_new,
    guint n_talkers, guint16 * seq, gdouble * delays_ms)
{
  gint64 step_us = JOIN_SECONDS * G_USEC_PER_SEC / MAX (1, n_new);
  gdouble delays[3][TURNS];

  for (guint turn = 0; turn < TURNS; turn++) {
    delays[0][turn] = longest_in_a_second (clients, n, n_talkers, seq);
    for (guint i = 0; i < n_new; i++) {
      clients[n + i] = client_new (n + i);
      talk_for (clients, n_talkers, seq, step_us);
      client_talk (clients[n + i], 0);
    }
    delays[1][turn] = take_longest_ms (clients[n - 1]);
    delays[2][turn] = longest_in_a_second (clients, n, n_talkers, seq);
    for (guint i = 0; i < n_new; i++)
      client_free (clients[n + i]);
  }
  for (guint i = 0; i < 3; i++)
    delays_ms[i] = bench_median (delays[i], TURNS);
}

static void
meeting (guint n, guint n_talkers)
{
  GPid mixer = mixer_start ();
  guint n_new = MIN (n, MAX_JOINING);
  Client **clients = g_new0 (Client *, n + n_new);
  gdouble cpu_s, rss_kib, join_ms, due, delivered, delays_ms[3];
  guint64 received;
  guint16 seq = 0;
  gint64 begin;
  gchar scene[40], joining[40];

  g_usleep (G_USEC_PER_SEC);
  rss_kib = mixer_status (mixer, "VmRSS:");
  begin = g_get_monotonic_time ();
  for (guint i = 0; i < n; i++)
    clients[i] = client_new (i);
  clients[n - 1]->measures = TRUE;
  join_ms = wait_for_all (clients, n, begin);
  talk_for (clients, n_talkers, &seq, WARM_UP_S * G_USEC_PER_SEC);
  received = count_received (clients, n);
  take_longest_ms (clients[n - 1]);
  cpu_s = mixer_cpu_s (mixer);
  talk_for (clients, n_talkers, &seq, SECONDS * G_USEC_PER_SEC);
  cpu_s = mixer_cpu_s (mixer) - cpu_s;
  delivered = (gdouble) (count_received (clients, n) - received);
  due = (gdouble) n_talkers *(n - 1) * SECONDS * 1e6 / FRAME_US;

  g_snprintf (scene, sizeof scene, "%u clients, %u talk", n, n_talkers);
  bench_row ("meeting", scene, "due", due / SECONDS, "packets/s");
  bench_row ("meeting", scene, "delivered", 100 * delivered / due, "%");
  bench_row ("meeting", scene, "CPU", 1e6 * cpu_s / MAX (1, delivered),
      "us/packet");
  bench_row ("meeting", scene, "CPU", 100 * cpu_s / SECONDS, "% of a core");
  bench_row ("meeting", scene, "threads", mixer_status (mixer, "Threads:"), "");
  bench_row ("meeting", scene, "memory",
      (mixer_status (mixer, "VmRSS:") - rss_kib) / n, "KiB/client");
  bench_row ("meeting", scene, "all are in after", join_ms, "ms");
  join_while_they_talk (clients, n, n_new, n_talkers, &seq, delays_ms);
  bench_row ("meeting", scene, "longest delay in a second", delays_ms[0], "ms");
  g_snprintf (joining, sizeof joining, "... in which %u more join", n_new);
  bench_row ("meeting", scene, joining, delays_ms[1], "ms");
  bench_row ("meeting", scene, "... in which they are there", delays_ms[2],
      "ms");
  for (guint i = 0; i < n; i++)
    client_free (clients[i]);
  g_free (clients);
  kill (mixer, SIGINT);
  g_usleep (G_USEC_PER_SEC);
  g_spawn_close_pid (mixer);
}

int
main (int argc, char **argv)
{
  bench_init (&argc, argv);
  gst_init (&argc, &argv);
  be_urgent ();
  if (argc > 2) {
    meeting ((guint) CLAMP (atoi (argv[1]), 2, 1000),
        (guint) CLAMP (atoi (argv[2]), 1, MAX_TALKERS));
  } else {
    meeting (10, 8);
    meeting (50, 8);
    meeting (100, 8);
  }
  return 0;
}
