/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a meeting costs who hosts it: `gst-launch-1.0 dpmmixer`, a process of its
 * own, and many clients of which some talk all the time, each heard by all others.
 * The clients are the join protocol, SRTP and acknowledgements, without audio:
 * nothing is mixed, because the paths have room for all.
 *
 *   meeting [--csv] [CLIENTS TALKERS [JOINING]]
 *
 * What counts is the mixer's CPU time for a packet that it delivers; how many it
 * delivers in a second depends on what else the machine does, these clients
 * included.  So that delays are the mixer's, all of this goes before all others, if root
 * has started it: who talks and who measures first, since nothing may hold their locks
 * and wait; then the mixer; then who only listens.  How long a thread waits that has
 * nothing to do but to wake up says what the machine itself adds.
 */
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
#define JOINING 50              /* in a second */
#define TURNS 7
#define WAKE_UP_US 1000

typedef enum
{
  LISTENS = 40,
  MIXES = 50,
  TALKS = 60
} Rank;

typedef struct
{
  guint number;
  GstDpmPort *port;
  GstDpmPeer *server;
  GstPad *rtp, *rtcp;
  gint joined;
  gboolean measures;            /* delays */

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

/* Before whom the calling thread, and those that it makes, come; if it may say so */
static void
set_rank (Rank rank)
{
  struct sched_param param = {.sched_priority = rank };

  sched_setscheduler (0, SCHED_RR, &param);
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

  if (pad == client->rtp && gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp)) {
    FmxCcfbArrival arrival = { gst_rtp_buffer_get_ssrc (&rtp),
      gst_rtp_buffer_get_seq (&rtp), 0,
      (uint32_t) gst_buffer_get_size (buffer) + 28, 0
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
client_new (guint number, gboolean measures, Rank rank)
{
  Client *client = g_new0 (Client, 1);
  FmxCcfbCollectorParams feedback;
  FmxJoinClientParams params;
  FmxJoinSecret secret = { 6, "sesame" };

  client->number = number;
  client->measures = measures;
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
  set_rank (rank);
  gst_dpm_port_start (client->port);
  set_rank (TALKS);
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
go_before_listeners (gpointer nothing)
{
  set_rank (MIXES);
}

static GPid
mixer_start (void)
{
  gchar *argv[] = { "gst-launch-1.0", "-q", "dpmmixer", "port=" PORT,
    "address=127.0.0.1", "secret=sesame", "max-clients=1000", NULL
  };
  GPid pid;

  if (!g_spawn_async (NULL, argv, NULL, G_SPAWN_SEARCH_PATH
          | G_SPAWN_DO_NOT_REAP_CHILD, go_before_listeners, NULL, &pid, NULL))
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

/* What the machine adds to delays: how late somebody wakes up who goes before all */
typedef struct
{
  GThread *thread;
  gint ends;                    /* atomic, as all that follows */
  gint longest_us;
} Alarm;

static gpointer
alarm_run (gpointer data)
{
  Alarm *alarm = data;

  while (!g_atomic_int_get (&alarm->ends)) {
    gint64 due_us = g_get_monotonic_time () + WAKE_UP_US;
    gint late_us;

    sleep_until (due_us);
    late_us = (gint) (g_get_monotonic_time () - due_us);
    if (late_us > g_atomic_int_get (&alarm->longest_us))
      g_atomic_int_set (&alarm->longest_us, late_us);
  }
  return NULL;
}

/* The longest that a packet took to the one who measures it, and that somebody was late
 * who only wakes up, since the last call */
typedef struct
{
  gdouble packet_ms, alarm_ms;
} Longest;

static Longest
take_longest (Client * client, Alarm * alarm)
{
  Longest longest;

  g_mutex_lock (&client->lock);
  longest.packet_ms = (gdouble) client->longest_us / 1000;
  client->longest_us = 0;
  g_mutex_unlock (&client->lock);
  longest.alarm_ms = (gdouble) g_atomic_int_get (&alarm->longest_us) / 1000;
  g_atomic_int_set (&alarm->longest_us, 0);
  return longest;
}

static Longest
longest_in_a_second (Client ** clients, guint n, guint n_talkers, guint16 * seq,
    Alarm * alarm)
{
  talk_for (clients, n_talkers, seq, G_USEC_PER_SEC / 2);
  take_longest (clients[n - 1], alarm);
  talk_for (clients, n_talkers, seq, G_USEC_PER_SEC);
  return take_longest (clients[n - 1], alarm);
}

static void
row_of_longest (const gchar * scene, const gchar * second,
    const Longest * turns)
{
  gdouble packets[TURNS], alarms[TURNS];
  gchar *measure = g_strdup_printf ("longest delay, %s", second);

  for (guint i = 0; i < TURNS; i++) {
    packets[i] = turns[i].packet_ms;
    alarms[i] = turns[i].alarm_ms;
  }
  bench_row ("meeting", scene, measure, bench_median (packets, TURNS), "ms");
  bench_row ("meeting", scene, "... of a wake-up", bench_median (alarms,
          TURNS), "ms");
  g_free (measure);
}

/* In turns: nobody joins for a second; @n_new join in a second, one after the other, and
 * each says something; they are there for a second; they go.  Medians */
static void
join_while_they_talk (Client ** clients, guint n, guint n_new,
    guint n_talkers, guint16 * seq, const gchar * scene)
{
  Longest before[TURNS], while_they_join[TURNS], with_them[TURNS];
  Alarm alarm = { 0 };

  alarm.thread = g_thread_new ("alarm", alarm_run, &alarm);
  for (guint turn = 0; turn < TURNS; turn++) {
    before[turn] = longest_in_a_second (clients, n, n_talkers, seq, &alarm);
    for (guint i = 0; i < n_new; i++) {
      clients[n + i] = client_new (n + i, FALSE, LISTENS);
      talk_for (clients, n_talkers, seq, G_USEC_PER_SEC / n_new);
      client_talk (clients[n + i], 0);
    }
    while_they_join[turn] = take_longest (clients[n - 1], &alarm);
    with_them[turn] = longest_in_a_second (clients, n, n_talkers, seq, &alarm);
    for (guint i = 0; i < n_new; i++)
      client_free (clients[n + i]);
  }
  g_atomic_int_set (&alarm.ends, TRUE);
  g_thread_join (alarm.thread);
  row_of_longest (scene, "nobody joins", before);
  row_of_longest (scene, "they join", while_they_join);
  row_of_longest (scene, "they are there", with_them);
}

static void
meeting (guint n, guint n_talkers, guint n_new)
{
  GPid mixer = mixer_start ();
  Client **clients = g_new0 (Client *, n + n_new);
  gdouble cpu_s, rss_kib, join_ms, due, delivered;
  guint64 received;
  guint16 seq = 0;
  gint64 begin;
  gchar scene[40];

  g_usleep (G_USEC_PER_SEC);
  rss_kib = mixer_status (mixer, "VmRSS:");
  begin = g_get_monotonic_time ();
  for (guint i = 0; i < n; i++)
    clients[i] = client_new (i, i == n - 1,
        i < n_talkers || i == n - 1 ? TALKS : LISTENS);
  join_ms = wait_for_all (clients, n, begin);
  talk_for (clients, n_talkers, &seq, WARM_UP_S * G_USEC_PER_SEC);
  received = count_received (clients, n);
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
  g_snprintf (scene, sizeof scene, "%u clients, %u join", n, n_new);
  join_while_they_talk (clients, n, n_new, n_talkers, &seq, scene);
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
  set_rank (TALKS);
  if (argc > 2) {
    meeting ((guint) CLAMP (atoi (argv[1]), 2, 1000),
        (guint) CLAMP (atoi (argv[2]), 1, MAX_TALKERS),
        argc > 3 ? (guint) CLAMP (atoi (argv[3]), 1, 500) : JOINING);
  } else {
    meeting (10, 8, 10);
    meeting (50, 8, JOINING);
    meeting (100, 8, JOINING);
  }
  return 0;
}
