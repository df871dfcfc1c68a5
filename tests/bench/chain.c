/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Five mixers in a row, and a TCP on each hop between them: what each hop has beside it.
 *
 *   chain [--csv] [--trace] [--acks-wait] [SECONDS]
 *
 * Real dpmmixers, dpmclients and sockets, in one process, with a clock that stands still
 * where the machine does not keep up; the links and the TCPs (CUBIC) are the library's
 * models, on the same clock.  Six at each mixer talk and do not listen, so more voices are
 * due on every hop, in each direction, than half of a link has room for.  Numbers are of the
 * second half.  --acks-wait: what a TCP's receiver says waits where ours does, in the queue of
 * the other direction; else in none.
 */
#define WIDE_BPS 0              /* rates are what this is about */
#include "dpmbench.h"           /* first */

#include <poll.h>
#include <stdio.h>

#include "../check/elements/dpmrelay.h"
#include "sim/fmx-sim-tcp.h"

#define N_MIXERS 5
#define N_HOPS (N_MIXERS - 1)
#define N_AT_EACH 6
#define N_CLIENTS (N_MIXERS * N_AT_EACH)
#define LINK_BPS 500000
#define QUEUE_MS 200
#define DELAY_MS 20
#define IP_UDP_BYTES 28
#define SECONDS 160
#define STEP_S 10               /* of a trace */
#define US FMX_USECOND
#define MEETING 0               /* flows of a link */
#define TCP 1
#define KEPT FMX_SIM_LINK_PACKETS

static gboolean acks_wait;

/* One direction of a hop: what waits there is in the link */
typedef struct
{
  FmxSimLink link;
  FmxSimTcp tcp;
  RelayPacket kept[KEPT];       /* by number, modulo */
  guint64 n_in;
  guint64 n_bytes;              /* of the meeting, that came out */
  gdouble allowed_bps;          /* summed up */
} Way;

typedef struct
{
  GstDpmSocket front, back;
  FmxJoinAddress child, parent;
  Way *up, *down;
} Hop;

typedef struct
{
  Hop hops[N_HOPS];             /* [i] is between mixers i and i + 1 */
  GThread *thread;
  gint ends;
} Net;

static Way *
way_new (guint64 seed)
{
  FmxSimLinkParams link = {.rate_bps = LINK_BPS,.queue_bytes =
        LINK_BPS / 8 * QUEUE_MS / 1000,.delay = DELAY_MS * FMX_MSECOND
  };
  FmxSimTcpParams tcp = {.kind = FMX_SIM_CUBIC,.back = DELAY_MS * FMX_MSECOND,
    .start = (FmxTime) (patient_clock_now_us () * US)
  };
  Way *way = g_new0 (Way, 1);

  fmx_sim_link_init (&way->link, &link, seed);
  fmx_sim_tcp_init (&way->tcp, &tcp, &way->link, TCP, seed);
  return way;
}

static void
take_in (Hop * hop, gboolean up, FmxTime now)
{
  Way *way = up ? hop->up : hop->down;

  for (;;) {
    RelayPacket *packet = &way->kept[way->n_in % KEPT];
    FmxJoinAddress from;
    FmxSimPacket p = {.flow = MEETING,.data = way->n_in,.sent = now };

    packet->size = gst_dpm_socket_receive (up ? &hop->front : &hop->back,
        packet->data, sizeof packet->data, &from);
    if (packet->size == 0)
      return;
    if (up)
      hop->child = from;
    p.wire_bytes = (guint32) packet->size + IP_UDP_BYTES;
    way->n_in += fmx_sim_link_send (&way->link, p, now);
  }
}

/* All that is due by @now, each at its time */
static void
let_out (Hop * hop, gboolean up, FmxTime now)
{
  Way *way = up ? hop->up : hop->down, *back = up ? hop->down : hop->up;
  FmxSimPacket p;
  FmxTime next;

  while ((next = fmx_time_min (fmx_sim_link_next (&way->link),
              fmx_sim_tcp_next (&way->tcp))) <= now) {
    while (fmx_sim_link_receive (&way->link, &p, next)) {
      RelayPacket *packet = &way->kept[p.data % KEPT];

      if (p.flow == TCP) {
        if (acks_wait)
          way->tcp.params.back = DELAY_MS * FMX_MSECOND
              + fmx_sim_link_queue_delay (&back->link, next);
        fmx_sim_tcp_on_arrival (&way->tcp, &p, next);
        continue;
      }
      way->n_bytes += p.wire_bytes;
      gst_dpm_socket_send (up ? &hop->back : &hop->front, packet->data,
          packet->size, up ? &hop->parent : &hop->child);
    }
    fmx_sim_tcp_run (&way->tcp, next);
  }
}

static gpointer
net_run (gpointer data)
{
  struct pollfd ends[2 * N_HOPS];
  Net *net = data;

  for (guint i = 0; i < N_HOPS; i++) {
    ends[2 * i].fd = g_socket_get_fd (net->hops[i].front.socket);
    ends[2 * i + 1].fd = g_socket_get_fd (net->hops[i].back.socket);
    ends[2 * i].events = ends[2 * i + 1].events = POLLIN;
  }
  while (!g_atomic_int_get (&net->ends)) {
    FmxTime now;

    poll (ends, G_N_ELEMENTS (ends), 1);
    now = (FmxTime) (patient_clock_now_us () * US);
    for (guint i = 0; i < N_HOPS; i++)
      for (gboolean up = FALSE; up <= TRUE; up++) {
        let_out (&net->hops[i], up, now);
        take_in (&net->hops[i], up, now);
      }
  }
  return NULL;
}

/* Returns: the port by which the mixer below hop @i reaches that above it, at
 * @parent_port */
static guint
hop_begin (Hop * hop, guint i, guint parent_port)
{
  hop->parent = loopback (parent_port);
  g_assert (gst_dpm_socket_open (&hop->front, "127.0.0.1", 0, NULL));
  g_assert (gst_dpm_socket_open (&hop->back, "127.0.0.1", 0, NULL));
  hop->up = way_new (2 * i + 1);
  hop->down = way_new (2 * i + 2);
  return gst_dpm_socket_get_port (&hop->front);
}

static void
net_end (Net * net)
{
  g_atomic_int_set (&net->ends, TRUE);
  g_thread_join (net->thread);
  for (guint i = 0; i < N_HOPS; i++) {
    gst_dpm_socket_close (&net->hops[i].front);
    gst_dpm_socket_close (&net->hops[i].back);
    g_free (net->hops[i].up);
    g_free (net->hops[i].down);
  }
}

/* The sockets of a hop are there before its mixer is, and its thread after all are: a
 * mixer tries again until it is let in. */
static void
world_begin (Net * net, Person ** mixers, Person ** clients)
{
  for (guint i = 0; i < N_MIXERS; i++) {
    gchar *parent = i == 0 ? g_strdup ("max-bitrate=0") :
        g_strdup_printf ("max-bitrate=0 parent=127.0.0.1:%u",
        hop_begin (&net->hops[i - 1], i - 1,
            (guint) stat_of (mixers[i - 1], "port")));

    mixers[i] = mixer_new (parent);
    g_free (parent);
  }
  net->thread = g_thread_new ("net", net_run, net);
  for (guint i = 0; i < N_CLIENTS; i++) {
    gchar *line = g_strdup_printf ("audiotestsrc is-live=true volume=0.05 "
        "wave=pink-noise ! audio/x-raw,rate=48000,channels=1 ! dpmclient name=dpm "
        "server=127.0.0.1:%u display-name=client-%u",
        (guint) stat_of (mixers[i / N_AT_EACH], "port"), i);

    clients[i] = person_start (person_new (line));
    g_free (line);
  }
}

static void
sleep_until (gint64 time_us)
{
  while (patient_clock_now_us () < time_us)
    g_usleep (4000);
}

/* Returns: what @mixer may send to who is at @port */
static guint64
allowed_bps (Person * mixer, guint port)
{
  gchar *end = g_strdup_printf (":%u", port);
  guint64 target_bps = 0;
  GstStructure *stats;
  const GValue *all;

  g_object_get (mixer->dpm, "stats", &stats, NULL);
  all = gst_structure_get_value (stats, "neighbours");
  for (guint i = 0; i < gst_value_array_get_size (all); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (all, i));
    GstStructure *rate = NULL;

    if (g_str_has_suffix (gst_structure_get_string (s, "address"), end)
        && gst_structure_get (s, "rate", GST_TYPE_STRUCTURE, &rate, NULL)) {
      gst_structure_get_uint64 (rate, "target-bps", &target_bps);
      gst_structure_free (rate);
    }
  }
  gst_structure_free (stats);
  g_free (end);
  return target_bps;
}

static void
add_allowed (Net * net, Person ** mixers)
{
  for (guint i = 0; i < N_HOPS; i++) {
    Hop *hop = &net->hops[i];

    hop->down->allowed_bps += (gdouble) allowed_bps (mixers[i],
        gst_dpm_socket_get_port (&hop->back));
    hop->up->allowed_bps += (gdouble) allowed_bps (mixers[i + 1],
        gst_dpm_socket_get_port (&hop->front));
  }
}

typedef struct
{
  guint64 meeting, tcp;
} Counts;

static Counts
count (const Way * way)
{
  return (Counts) {
  way->n_bytes, way->tcp.received_bytes};
}

static void
tell (const Way * way, guint hop, gboolean up, const Counts * from,
    gdouble seconds)
{
  Counts now = count (way), *to = &now;
  gdouble meeting = (gdouble) (to->meeting - from->meeting) * 8 / seconds / 1e3;
  gdouble tcp = (gdouble) (to->tcp - from->tcp) * 8 / seconds / 1e3;
  gchar *scene = g_strdup_printf ("hop %u, %s", hop + 1, up ? "up" : "down");

  bench_row ("chain", scene, "meeting", meeting, "kbit/s");
  bench_row ("chain", scene, "TCP", tcp, "kbit/s");
  bench_row ("chain", scene, "allowed", way->allowed_bps / seconds / 1e3,
      "kbit/s");
  bench_row ("chain", scene, "meeting / TCP", meeting / tcp, "");
  g_free (scene);
}

static void
take_counts (const Net * net, Counts counts[N_HOPS][2])
{
  for (guint i = 0; i < N_HOPS; i++) {
    counts[i][FALSE] = count (net->hops[i].down);
    counts[i][TRUE] = count (net->hops[i].up);
  }
}

static void
trace (guint s, Counts before[N_HOPS][2], Counts now[N_HOPS][2])
{
  g_printerr ("%3u s:", s);
  for (guint i = 0; i < N_HOPS; i++)
    for (gboolean up = FALSE; up <= TRUE; up++)
      g_printerr (" %3.0f/%3.0f", (gdouble) (now[i][up].meeting
              - before[i][up].meeting) * 8 / STEP_S / 1e3,
          (gdouble) (now[i][up].tcp - before[i][up].tcp) * 8 / STEP_S / 1e3);
  g_printerr ("\n");
}

int
main (int argc, char **argv)
{
  static Net net;
  Person *mixers[N_MIXERS], *clients[N_CLIENTS];
  Counts before[N_HOPS][2], now[N_HOPS][2], half[N_HOPS][2];
  gboolean traces = FALSE;
  guint seconds = SECONDS;
  gint64 begin_us;

  bench_init (&argc, argv);
  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--trace") == 0)
      traces = TRUE;
    else if (strcmp (argv[i], "--acks-wait") == 0)
      acks_wait = TRUE;
    else
      seconds = (guint) MAX (2 * STEP_S, atoi (argv[i]));
  world_begin (&net, mixers, clients);
  begin_us = patient_clock_now_us ();
  take_counts (&net, before);
  for (guint s = 1; s <= seconds; s++) {
    sleep_until (begin_us + s * G_USEC_PER_SEC);
    take_counts (&net, now);
    if (s > seconds / 2)
      add_allowed (&net, mixers);
    else
      memcpy (half, now, sizeof half);
    if (traces && s % STEP_S == 0) {
      trace (s, before, now);
      memcpy (before, now, sizeof before);
    }
  }
  for (guint i = 0; i < N_HOPS; i++) {
    tell (net.hops[i].down, i, FALSE, &half[i][FALSE], seconds - seconds / 2);
    tell (net.hops[i].up, i, TRUE, &half[i][TRUE], seconds - seconds / 2);
  }
  for (guint i = 0; i < N_CLIENTS; i++)
    person_free (clients[i]);
  for (guint i = N_MIXERS; i > 0; i--)
    person_free (mixers[i - 1]);
  net_end (&net);
  return 0;
}
