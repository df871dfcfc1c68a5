/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What forwarding costs from socket to socket, on loopback: 32 streams, 8
 * neighbours, through partialmix (one udpsrc, a udpsink for each neighbour),
 * through rtpfunnel (a udpsrc for each stream) and through a program that does
 * nothing but recvmmsg() and sendmmsg().  Each forwarder is a process of its
 * own; what counts is its CPU time for a packet that arrives.
 *
 *   sockets [--csv]
 *
 * On loopback a sender pays for the kernel's work at the receiver, too.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <gst/gst.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

#define N_STREAMS 32
#define N_NEIGHBOURS 8
#define BURSTS_PER_SECOND 125   /* a packet of each stream in each */
#define SECONDS 6
#define PACKET_BYTES 92
#define SOCKET_BYTES (4 << 20)
#define PATIENCE_US (1500 * 1000)       /* a busy machine may not run somebody */
#define CAPS "application/x-rtp,media=audio,payload=96,clock-rate=48000," \
  "encoding-name=OPUS"

/* The sockets that listen for what comes out, and who reads them. */
typedef struct
{
  int sockets[N_NEIGHBOURS];
  guint out_ports[N_NEIGHBOURS];
  guint in_ports[N_STREAMS];
  int sender;                   /* one for all: a stream comes from one port */
  GThread *reader;
  gint stop;
  volatile guint64 n_received;
} World;

/* --------------------------------------------------------------- sockets -- */

static struct sockaddr_in
address (guint port)
{
  struct sockaddr_in a = {
    .sin_family = AF_INET,
    .sin_port = htons ((guint16) port),
    .sin_addr.s_addr = htonl (INADDR_LOOPBACK),
  };

  return a;
}

/* @port: 0 = any; the one that it became */
static int
bind_socket (guint * port)
{
  struct sockaddr_in a = address (*port);
  socklen_t size = sizeof a;
  const struct timeval patience = {.tv_usec = 100000 };
  int bytes = SOCKET_BYTES;
  int fd = socket (AF_INET, SOCK_DGRAM, 0);

  g_assert_cmpint (bind (fd, (struct sockaddr *) &a, sizeof a), ==, 0);
  /* the second needs root; the first is cut at net.core.rmem_max */
  setsockopt (fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  setsockopt (fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  getsockname (fd, (struct sockaddr *) &a, &size);
  *port = ntohs (a.sin_port);
  return fd;
}

static gpointer
read_all (gpointer data)
{
  World *world = data;
  gchar packet[2048];
  guint idle = 0;

  while (!g_atomic_int_get (&world->stop) || idle < N_NEIGHBOURS) {
    idle = 0;
    for (guint i = 0; i < N_NEIGHBOURS; i++) {
      guint64 before = world->n_received;

      while (recv (world->sockets[i], packet, sizeof packet, MSG_DONTWAIT) > 0)
        world->n_received++;
      idle += world->n_received == before;
    }
    g_usleep (500);
  }
  return NULL;
}

static World *
world_new (void)
{
  World *world = g_new0 (World, 1);

  for (guint i = 0; i < N_NEIGHBOURS; i++)
    world->sockets[i] = bind_socket (&world->out_ports[i]);
  /* free ports: bound once and let go */
  for (guint i = 0; i < N_STREAMS; i++)
    close (bind_socket (&world->in_ports[i]));
  world->sender = socket (AF_INET, SOCK_DGRAM, 0);
  world->reader = g_thread_new ("reader", read_all, world);
  return world;
}

static void
world_free (World * world)
{
  g_atomic_int_set (&world->stop, 1);
  g_thread_join (world->reader);
  for (guint i = 0; i < N_NEIGHBOURS; i++)
    close (world->sockets[i]);
  close (world->sender);
  g_free (world);
}

/* -------------------------------------------------------------- children -- */

static void
forward_bare (const World * world)
{
  enum
  { BATCH = 32 };
  static guint8 data[BATCH][2048];
  struct sockaddr_in to[N_NEIGHBOURS];
  struct mmsghdr in[BATCH], out[N_NEIGHBOURS];
  struct iovec in_io[BATCH], out_io;
  guint port = world->in_ports[0];
  int from = bind_socket (&port);

  memset (in, 0, sizeof in);
  memset (out, 0, sizeof out);
  for (guint i = 0; i < BATCH; i++) {
    in_io[i] = (struct iovec) { data[i], sizeof data[i] };
    in[i].msg_hdr.msg_iov = &in_io[i];
    in[i].msg_hdr.msg_iovlen = 1;
  }
  for (guint i = 0; i < N_NEIGHBOURS; i++) {
    to[i] = address (world->out_ports[i]);
    out[i].msg_hdr.msg_name = &to[i];
    out[i].msg_hdr.msg_namelen = sizeof to[i];
    out[i].msg_hdr.msg_iov = &out_io;
    out[i].msg_hdr.msg_iovlen = 1;
  }
  for (;;) {
    int n = recvmmsg (from, in, BATCH, MSG_WAITFORONE, NULL);

    for (int i = 0; i < n; i++) {
      out_io = (struct iovec) { data[i], in[i].msg_len };
      sendmmsg (from, out, N_NEIGHBOURS, 0);
    }
  }
}

static gchar *
graph_of_partialmix (const World * world, const gchar * properties)
{
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "udpsrc port=%u buffer-size=%d caps=\"%s\" ! "
      "mix.sink_0 partialmix name=mix %s", world->in_ports[0], SOCKET_BYTES,
      CAPS, properties);
  for (guint i = 0; i < N_NEIGHBOURS; i++)
    g_string_append_printf (line, " mix.src_%u ! udpsink host=127.0.0.1 "
        "port=%u sync=false async=false", i + 1, world->out_ports[i]);
  return g_string_free (line, FALSE);
}

static gchar *
graph_of_rtpfunnel (const World * world)
{
  GString *line = g_string_new ("rtpfunnel name=funnel ! tee name=tee");

  for (guint i = 0; i < N_STREAMS; i++)
    g_string_append_printf (line, " udpsrc port=%u caps=\"%s,ssrc=(uint)%u\" "
        "! funnel.", world->in_ports[i], CAPS, i + 1);
  for (guint i = 0; i < N_NEIGHBOURS; i++)
    g_string_append_printf (line, " tee. ! udpsink host=127.0.0.1 port=%u "
        "sync=false async=false", world->out_ports[i]);
  return g_string_free (line, FALSE);
}

static void
forward_graph (gchar * line)
{
  GError *error = NULL;
  GstElement *pipeline;

  gst_init (NULL, NULL);
  pipeline = gst_parse_launch (line, &error);
  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (;;)
    pause ();
}

static void
forward_partialmix (const World * world)
{
  forward_graph (graph_of_partialmix (world, ""));
}

/* Without the thread that pushes */
static void
forward_arriving (const World * world)
{
  forward_graph (graph_of_partialmix (world,
          "push-timeout=18446744073709551615"));
}

static void
forward_rtpfunnel (const World * world)
{
  forward_graph (graph_of_rtpfunnel (world));
}

typedef struct
{
  const gchar *name;
  void (*run) (const World * world);    /* for ever */
  gboolean socket_for_each_stream;
} Forwarder;

static const Forwarder forwarders[] = {
  {"recvmmsg and sendmmsg", forward_bare, FALSE},
  {"partialmix", forward_partialmix, FALSE},
  {"partialmix, push-timeout=never", forward_arriving, FALSE},
  {"rtpfunnel", forward_rtpfunnel, TRUE},
};

/* ------------------------------------------------------------- measuring -- */

static void
send_burst (const World * world, gboolean spread, guint burst)
{
  guint8 packet[PACKET_BYTES] = { 0x80, 96 };

  GST_WRITE_UINT16_BE (packet + 2, (guint16) burst);
  GST_WRITE_UINT32_BE (packet + 4, burst * 192);
  packet[12] = 0x60;            /* Opus: hybrid, 20 ms, mono, one frame */
  for (guint i = 0; i < N_STREAMS; i++) {
    struct sockaddr_in to = address (world->in_ports[spread ? i : 0]);

    GST_WRITE_UINT32_BE (packet + 8, i + 1);
    sendto (world->sender, packet, sizeof packet, 0, (struct sockaddr *) &to,
        sizeof to);
  }
}

/* What is under way arrives: all of @due, or nothing more in @patience_us. */
static void
settle (const World * world, guint64 due, gulong patience_us)
{
  guint64 before;

  do {
    before = world->n_received;
    g_usleep (patience_us);
  } while (world->n_received != before && world->n_received < due);
}

static void
send_for (World * world, gboolean spread, guint n_bursts, guint * burst)
{
  struct timespec next;

  clock_gettime (CLOCK_MONOTONIC, &next);
  for (guint i = 0; i < n_bursts; i++) {
    send_burst (world, spread, (*burst)++);
    next.tv_nsec += 1000000000 / BURSTS_PER_SECOND;
    if (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    clock_nanosleep (CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
}

static gdouble
child_cpu_s (pid_t pid)
{
  struct timespec now = { 0, 0 };
  clockid_t clock;

  if (clock_getcpuclockid (pid, &clock) == 0)
    clock_gettime (clock, &now);
  return (gdouble) now.tv_sec + (gdouble) now.tv_nsec / 1e9;
}

/* Returns: CPU microseconds of the forwarder for each packet delivered */
static gdouble
measure (const Forwarder * forwarder, gdouble * delivered)
{
  World *world = world_new ();
  guint burst = 0, n_bursts = SECONDS * BURSTS_PER_SECOND;
  guint64 received;
  gdouble taken;
  pid_t pid = fork ();

  if (pid == 0) {
    forwarder->run (world);
    _exit (1);
  }
  /* until it has started and knows the streams */
  while (world->n_received == 0 && burst < 60 * BURSTS_PER_SECOND) {
    send_for (world, forwarder->socket_for_each_stream, 10, &burst);
    settle (world, G_MAXUINT64, 300 * 1000);
  }
  send_for (world, forwarder->socket_for_each_stream, BURSTS_PER_SECOND,
      &burst);
  settle (world, G_MAXUINT64, PATIENCE_US);
  received = world->n_received;
  taken = child_cpu_s (pid);
  send_for (world, forwarder->socket_for_each_stream, n_bursts, &burst);
  settle (world, received + (guint64) n_bursts * N_STREAMS * N_NEIGHBOURS,
      PATIENCE_US);
  taken = child_cpu_s (pid) - taken;
  received = world->n_received - received;
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  world_free (world);
  *delivered = (gdouble) received / n_bursts / N_STREAMS / N_NEIGHBOURS;
  return taken * 1e6 / (gdouble) MAX (received, 1);
}

int
main (int argc, char **argv)
{
  const gchar *scene = "32 streams to 8, sockets";

  bench_init (&argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (forwarders); i++) {
    const gchar *name = forwarders[i].name;
    gchar *rate = g_strdup_printf ("%s, packets out per core", name);
    gchar *share = g_strdup_printf ("%s, delivered", name);
    gdouble delivered, us = measure (&forwarders[i], &delivered);

    bench_row ("sockets", scene, name, us, "us");
    bench_row ("sockets", scene, rate, 1e3 / us, "k/s");
    bench_row ("sockets", scene, share, 100.0 * delivered, "%");
    g_free (rate);
    g_free (share);
  }
  return EXIT_SUCCESS;
}
