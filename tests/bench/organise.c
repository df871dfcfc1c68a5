/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Twelve who talk, four behind each of three links of 300 kbit/s: what changes if the
 * mixer couples the rates of each four, with weights of 1 to 4, or lets one of them mix
 * for the others.
 *
 *   organise [--csv] [--trace] [apart] [coupled] [organised] [SECONDS]
 *
 * A real dpmmixer, real dpmclients and their sockets, in one process, with a clock that
 * stands still where the machine does not keep up.  The links are in here: each has a
 * queue of 250 ms in either direction.  Who was sent to a mixer behind the same link reaches
 * it without that.  Two of each four are willing.  Numbers are of the last quarter; what
 * is missed is told of the time before anybody was asked, of the time in which some were
 * sent elsewhere, and of the time after that.
 */
#define WIDE_BPS 0              /* rates are what this is about */
#include "dpmbench.h"           /* first */

#include <poll.h>
#include <stdio.h>

#include "../check/elements/dpmrelay.h"

#define N_CLIENTS 12
#define N_LINKS 3
#define LINK_BPS 300000
#define QUEUE_MS 250
#define DELAY_MS 20
#define IP_UDP_BYTES 28
#define SECONDS 160
#define SPAN 480                /* 10 ms: tones are multiples of 100 Hz */
#define GONE_DB (TONE_DB - 12)
#define BEGIN_US (20 * G_USEC_PER_SEC)        /* rates have found their place */
#define MOVE_US (2 * G_USEC_PER_SEC)  /* what a move does is heard by then */
#define SECOND_US G_USEC_PER_SEC

/* --- links --------------------------------------------------------------- */

typedef struct
{
  guint client;
  gint64 due_us;
  gsize size;
  guint8 data[RELAY_BYTES];
} Datagram;

/* One direction of a link */
typedef struct
{
  GQueue queue;
  gint64 free_us;               /* when all that waits has been sent */
  guint64 n_bytes, n_dropped;
} Direction;

typedef struct
{
  GstDpmSocket front[N_CLIENTS], back[N_CLIENTS];
  FmxJoinAddress mixer, client[N_CLIENTS];
  Direction up[N_LINKS], down[N_LINKS];
  guint64 n_bytes[N_CLIENTS];   /* that came to each */
  GThread *thread;
  gint ends;
} Net;

static guint
link_of (guint client)
{
  return client % N_LINKS;
}

static void
enqueue (Direction * direction, Datagram * datagram, gint64 now_us)
{
  gint64 begin_us = MAX (now_us, direction->free_us);

  if (begin_us - now_us > QUEUE_MS * 1000) {
    direction->n_dropped++;
    g_free (datagram);
    return;
  }
  direction->free_us = begin_us + (gint64) (datagram->size + IP_UDP_BYTES) * 8
      * SECOND_US / LINK_BPS;
  datagram->due_us = direction->free_us + DELAY_MS * 1000;
  direction->n_bytes += datagram->size + IP_UDP_BYTES;
  g_queue_push_tail (&direction->queue, datagram);
}

static void
take_in (Net * net, guint client, gboolean up, gint64 now_us)
{
  for (;;) {
    Datagram *datagram = g_new (Datagram, 1);
    FmxJoinAddress from;

    datagram->client = client;
    datagram->size = gst_dpm_socket_receive (up ? &net->front[client] :
        &net->back[client], datagram->data, sizeof datagram->data, &from);
    if (datagram->size == 0) {
      g_free (datagram);
      return;
    }
    if (up)
      net->client[client] = from;
    enqueue (&(up ? net->up : net->down)[link_of (client)], datagram, now_us);
  }
}

static void
let_out (Net * net, Direction * direction, gboolean up, gint64 now_us)
{
  Datagram *datagram;

  while ((datagram = g_queue_peek_head (&direction->queue)) != NULL
      && datagram->due_us <= now_us) {
    g_queue_pop_head (&direction->queue);
    if (!up)
      net->n_bytes[datagram->client] += datagram->size + IP_UDP_BYTES;
    gst_dpm_socket_send (up ? &net->back[datagram->client] :
        &net->front[datagram->client], datagram->data, datagram->size,
        up ? &net->mixer : &net->client[datagram->client]);
    g_free (datagram);
  }
}

static gpointer
net_run (gpointer data)
{
  struct pollfd ends[2 * N_CLIENTS];
  Net *net = data;

  for (guint i = 0; i < N_CLIENTS; i++) {
    ends[2 * i].fd = g_socket_get_fd (net->front[i].socket);
    ends[2 * i + 1].fd = g_socket_get_fd (net->back[i].socket);
    ends[2 * i].events = ends[2 * i + 1].events = POLLIN;
  }
  while (!g_atomic_int_get (&net->ends)) {
    gint64 now_us;

    poll (ends, G_N_ELEMENTS (ends), 1);
    now_us = patient_clock_now_us ();
    for (guint i = 0; i < N_CLIENTS; i++) {
      take_in (net, i, TRUE, now_us);
      take_in (net, i, FALSE, now_us);
    }
    for (guint i = 0; i < N_LINKS; i++) {
      let_out (net, &net->up[i], TRUE, now_us);
      let_out (net, &net->down[i], FALSE, now_us);
    }
  }
  return NULL;
}

static void
net_begin (Net * net, guint mixer_port)
{
  memset (net, 0, sizeof *net);
  net->mixer = loopback (mixer_port);
  for (guint i = 0; i < N_CLIENTS; i++) {
    g_assert (gst_dpm_socket_open (&net->front[i], "127.0.0.1", 0, NULL));
    g_assert (gst_dpm_socket_open (&net->back[i], "127.0.0.1", 0, NULL));
  }
  net->thread = g_thread_new ("net", net_run, net);
}

static void
net_end (Net * net)
{
  g_atomic_int_set (&net->ends, TRUE);
  g_thread_join (net->thread);
  for (guint i = 0; i < N_CLIENTS; i++) {
    gst_dpm_socket_close (&net->front[i]);
    gst_dpm_socket_close (&net->back[i]);
  }
  for (guint i = 0; i < N_LINKS; i++) {
    g_queue_clear_full (&net->up[i].queue, g_free);
    g_queue_clear_full (&net->down[i].queue, g_free);
  }
}

/* --- people -------------------------------------------------------------- */

typedef struct
{
  Net net;
  Person *mixer, *clients[N_CLIENTS];
  guint ssrcs[N_CLIENTS];
  guint64 n_packets[N_CLIENTS][N_CLIENTS];      /* of whom, at whom */
  guint64 n_bytes_before[N_CLIENTS];    /* the last quarter */
  gdouble target_bps[N_CLIENTS];        /* summed up */
  gdouble voices;               /* apart, at each; summed up */
  gdouble voices_of_late;       /* since the last row */
  guint n_looks;
} World;

static guint
tone_of (guint client)
{
  return 300 + 100 * client;
}

static guint
ssrc_of (Person * client)
{
  GstIterator *all = gst_bin_iterate_recurse (GST_BIN (client->dpm));
  GValue item = G_VALUE_INIT;
  guint ssrc = 0;

  while (gst_iterator_next (all, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);

    if (g_str_has_prefix (GST_OBJECT_NAME (element), "rtpopuspay")) {
      GstStructure *stats;

      g_object_get (element, "stats", &stats, NULL);
      gst_structure_get_uint (stats, "ssrc", &ssrc);
      gst_structure_free (stats);
    }
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (all);
  return ssrc;
}

/* Returns: how many of the others' voices came to @to, apart, since the last call */
static guint
count_voices (World * world, guint to)
{
  GstElement *mix = gst_bin_get_by_name (GST_BIN (world->clients[to]->dpm),
      "mix");
  const GValue *streams;
  GstStructure *stats;
  guint n = 0;

  g_object_get (mix, "stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (guint i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (streams, i));
    guint64 n_packets = 0;
    guint ssrc = 0;

    gst_structure_get (s, "ssrc", G_TYPE_UINT, &ssrc, "n-packets",
        G_TYPE_UINT64, &n_packets, NULL);
    for (guint from = 0; from < N_CLIENTS; from++)
      if (from != to && ssrc == world->ssrcs[from]) {
        n += n_packets > world->n_packets[from][to] + 10;
        world->n_packets[from][to] = n_packets;
      }
  }
  gst_structure_free (stats);
  gst_object_unref (mix);
  return n;
}

/* --- what is heard ------------------------------------------------------- */

typedef enum
{
  BEFORE,                       /* nobody was asked yet */
  MOVING,
  AFTER,
  N_PHASES
} Phase;

/* What somebody misses of the others; but for the first two of the streaming thread */
typedef struct
{
  guint me;
  gint longest[N_PHASES][N_CLIENTS];    /* atomic; in spans */
  gint sum[SPAN];               /* of both ears */
  guint n;
  guint gap[N_CLIENTS];
} Ear;

static Ear ears[N_CLIENTS];

/* When somebody was asked or sent away, or went; 0: never */
static struct
{
  GMutex lock;
  gint64 begin_us, last_us, first_us;
} moves;

static void
moves_begin (gint64 now_us)
{
  g_mutex_lock (&moves.lock);
  moves.begin_us = now_us + BEGIN_US;
  moves.first_us = moves.last_us = 0;
  g_mutex_unlock (&moves.lock);
}

/* Returns: whether what is heard counts */
static gboolean
moves_phase (Phase * phase)
{
  gint64 now_us = patient_clock_now_us ();
  gboolean counts;

  g_mutex_lock (&moves.lock);
  counts = now_us >= moves.begin_us;
  *phase = moves.first_us == 0 ? BEFORE :
      now_us < moves.last_us + MOVE_US ? MOVING : AFTER;
  g_mutex_unlock (&moves.lock);
  return counts;
}

static GstBusSyncReply
on_message (GstBus * bus, GstMessage * message, gpointer data)
{
  if (gst_message_has_name (message, "dpm-topology")) {
    g_mutex_lock (&moves.lock);
    moves.last_us = patient_clock_now_us ();
    if (moves.first_us == 0)
      moves.first_us = moves.last_us;
    g_mutex_unlock (&moves.lock);
  }
  return GST_BUS_PASS;
}

static void
ear_look (Ear * ear)
{
  Phase phase;
  gboolean counts = moves_phase (&phase);

  for (guint from = 0; from < N_CLIENTS; from++) {
    gdouble w = 2 * G_PI * tone_of (from) / RATE, s1 = 0, s2 = 0, db;
    gint *longest = &ear->longest[phase][from];

    for (guint i = 0; i < SPAN; i++) {
      gdouble s = ear->sum[i] / 32768.0 + 2 * cos (w) * s1 - s2;

      s2 = s1;
      s1 = s;
    }
    db = 10 * log10 (1e-12 + (s1 * s1 + s2 * s2 - 2 * cos (w) * s1 * s2) * 4.0
        / SPAN / SPAN);
    ear->gap[from] = db < GONE_DB && counts ? ear->gap[from] + 1 : 0;
    if ((gint) ear->gap[from] > g_atomic_int_get (longest))
      g_atomic_int_set (longest, (gint) ear->gap[from]);
  }
}

static void
on_ear (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  Ear *ear = data;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (gsize i = 0; i < map.size / 4; i++) {
    gint16 both[2];

    memcpy (both, map.data + 4 * i, 4);
    ear->sum[ear->n++] = both[0] + both[1];
    if (ear->n == SPAN) {
      ear_look (ear);
      ear->n = 0;
    }
  }
  gst_buffer_unmap (buffer, &map);
}

static void
tell_gaps (const gchar * scene, Phase phase, const gchar * when)
{
  gchar *longest = g_strdup_printf ("the longest that one missed%s", when);
  gchar *pairs = g_strdup_printf ("... who missed over 20 ms%s", when);
  gint most = 0;
  guint n_pairs = 0;

  for (guint to = 0; to < N_CLIENTS; to++)
    for (guint from = 0; from < N_CLIENTS; from++)
      if (from != to) {
        gint gap = g_atomic_int_get (&ears[to].longest[phase][from]);

        most = MAX (most, gap);
        n_pairs += gap > 2;
      }
  bench_row ("organise", scene, longest, 10.0 * most, "ms");
  bench_row ("organise", scene, pairs, n_pairs, "of 132");
  g_free (pairs);
  g_free (longest);
}

/* Returns: how many are with one who mixes behind the same link; @n_wrong: behind another */
static guint
count_moved (World * world, guint * n_wrong)
{
  guint n = 0;

  *n_wrong = 0;
  for (guint i = N_CLIENTS / 2; i < N_CLIENTS; i++) {
    GstStructure *stats;
    const GValue *below;

    g_object_get (world->clients[i]->dpm, "stats", &stats, NULL);
    below = gst_structure_get_value (stats, "neighbours");
    for (guint k = 0; k < gst_value_array_get_size (below); k++) {
      const gchar *name = gst_structure_get_string (gst_value_get_structure
          (gst_value_array_get_value (below, k)), "name");
      guint other;

      if (name == NULL || sscanf (name, "client-%u", &other) != 1)
        continue;
      n += link_of (other) == link_of (i);
      *n_wrong += link_of (other) != link_of (i);
    }
    gst_structure_free (stats);
  }
  return n;
}

/* --- rates --------------------------------------------------------------- */

static guint
weight_of (guint client)
{
  return 1 + client / N_LINKS;
}

/* Adds what the mixer may send to each now. */
static void
add_targets (World * world)
{
  GstStructure *stats;
  const GValue *all;

  g_object_get (world->mixer->dpm, "stats", &stats, NULL);
  all = gst_structure_get_value (stats, "neighbours");
  for (guint i = 0; i < gst_value_array_get_size (all); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (all, i));
    const gchar *name = gst_structure_get_string (s, "name");
    GstStructure *rate = NULL;
    guint64 target_bps = 0;
    guint client;

    if (name == NULL || sscanf (name, "client-%u", &client) != 1
        || !gst_structure_get (s, "rate", GST_TYPE_STRUCTURE, &rate, NULL))
      continue;
    gst_structure_get_uint64 (rate, "target-bps", &target_bps);
    world->target_bps[client] += (gdouble) target_bps;
    gst_structure_free (rate);
  }
  gst_structure_free (stats);
}

/* Returns: Jain's index of the shares in their weights, the worst of the links */
static gdouble
worst_jain (const gdouble * rates)
{
  gdouble worst = 1.0;

  for (guint link = 0; link < N_LINKS; link++) {
    gdouble sum = 0, squares = 1e-9;
    guint n = 0;

    for (guint i = link; i < N_CLIENTS; i += N_LINKS, n++) {
      sum += rates[i] / weight_of (i);
      squares += rates[i] / weight_of (i) * rates[i] / weight_of (i);
    }
    worst = MIN (worst, sum * sum / n / squares);
  }
  return worst;
}

/* --- one meeting --------------------------------------------------------- */

typedef enum
{
  APART,
  COUPLED,
  ORGANISED
} Scene;

static gchar *
mixer_properties (Scene scene)
{
  GString *line = g_string_new ("max-bitrate=0");

  if (scene != APART)
    g_string_append (line, " self-organise=true");
  if (scene == COUPLED) {
    g_string_append (line, " weights=\"weights");
    for (guint i = 0; i < N_CLIENTS; i++)
      g_string_append_printf (line, ",client-%u=%u", i, weight_of (i));
    g_string_append (line, "\"");
  }
  return g_string_free (line, FALSE);
}

static void
world_begin (World * world, Scene scene)
{
  gchar *properties = mixer_properties (scene);
  GstBus *bus;

  memset (world, 0, sizeof *world);
  world->mixer = mixer_new (properties);
  g_free (properties);
  bus = gst_element_get_bus (world->mixer->pipeline);
  gst_bus_set_sync_handler (bus, on_message, NULL, NULL);
  gst_object_unref (bus);
  net_begin (&world->net, (guint) stat_of (world->mixer, "port"));
  for (guint i = 0; i < N_CLIENTS; i++) {
    gchar *name = g_strdup_printf ("client-%u", i);
    gboolean may_mix = scene != COUPLED && i >= N_CLIENTS / 2;
    GstElement *sink;

    world->clients[i] = client_make (gst_dpm_socket_get_port (&world->net.front
            [i]), name, tone_of (i), may_mix ? "may-mix=true" : "");
    sink = gst_bin_get_by_name (GST_BIN (world->clients[i]->pipeline), "ears");
    memset (&ears[i], 0, sizeof ears[i]);
    ears[i].me = i;
    g_signal_connect (sink, "handoff", G_CALLBACK (on_ear), &ears[i]);
    gst_object_unref (sink);
    person_start (world->clients[i]);
    world->ssrcs[i] = ssrc_of (world->clients[i]);
    g_free (name);
  }
}

static void
world_end (World * world)
{
  for (guint i = 0; i < N_CLIENTS; i++)
    person_free (world->clients[i]);
  person_free (world->mixer);
  net_end (&world->net);
}

static void
tell_messages (World * world)
{
  GstBus *bus = gst_element_get_bus (world->mixer->pipeline);
  GstMessage *message;

  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL) {
    if (gst_message_has_name (message, "dpm-topology")) {
      gchar *text = gst_structure_to_string (gst_message_get_structure
          (message));

      g_printerr ("%5.1f %s\n", (gdouble) patient_clock_now_us () / SECOND_US,
          text);
      g_free (text);
    }
    gst_message_unref (message);
  }
  gst_object_unref (bus);
}

static void
trace_neighbours (World * world)
{
  GstStructure *stats;
  const GValue *all;
  const GstStructure *topology;

  g_object_get (world->mixer->dpm, "stats", &stats, NULL);
  topology = gst_value_get_structure (gst_structure_get_value (stats,
          "topology"));
  g_printerr ("%5.1f %s\n", (gdouble) patient_clock_now_us () / SECOND_US,
      gst_structure_to_string (topology));
  all = gst_structure_get_value (stats, "neighbours");
  for (guint i = 0; i < gst_value_array_get_size (all); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (all, i));
    GstStructure *rate = NULL, *shape = NULL;
    guint64 target = 0, interval = 0, n = 0;
    gint64 rtt = 0;
    gdouble mean = 0, sent = 0;
    gboolean has = FALSE;

    if (!gst_structure_get (s, "rate", GST_TYPE_STRUCTURE, &rate, NULL))
      continue;
    gst_structure_get (rate, "target-bps", G_TYPE_UINT64, &target, "rtt",
        G_TYPE_INT64, &rtt, "delay-shape", GST_TYPE_STRUCTURE, &shape,
        "sent-bps", G_TYPE_DOUBLE, &sent, NULL);
    gst_structure_get (shape, "interval", G_TYPE_UINT64, &interval,
        "n-intervals", G_TYPE_UINT64, &n, "mean-delay", G_TYPE_DOUBLE, &mean,
        "has-mean", G_TYPE_BOOLEAN, &has, NULL);
    g_printerr ("  %s target %" G_GUINT64_FORMAT " sent %.0f rtt %.0f ms "
        "interval %" G_GUINT64_FORMAT " (%" G_GUINT64_FORMAT
        ") mean %.1f ms%s\n", gst_structure_get_string (s, "name"), target,
        sent, (gdouble) rtt / 1e6, interval, n, 1e3 * mean, has ? "" : " -");
    gst_structure_free (rate);
    gst_structure_free (shape);
  }
  gst_structure_free (stats);
}

static void
sleep_until (gint64 time_us)
{
  while (patient_clock_now_us () < time_us)
    g_usleep (4000);
}

static void
count_bytes (World * world, guint64 * up, guint64 * down)
{
  *up = *down = 0;
  for (guint i = 0; i < N_LINKS; i++) {
    *up += world->net.up[i].n_bytes;
    *down += world->net.down[i].n_bytes;
  }
}

/* A second is over.  On a busy machine all of them take an hour: what is known is told. */
static void
look (World * world, const gchar * scene, guint s, guint seconds)
{
  gboolean counts = s > seconds * 3 / 4;
  guint eighth = seconds / 8;

  for (guint i = 0; i < N_CLIENTS; i++) {
    guint n = count_voices (world, i);

    world->voices += counts ? n : 0;
    world->voices_of_late += n;
  }
  if (s % eighth == 0) {
    gchar *measure = g_strdup_printf ("voices apart, until %u s", s);

    bench_row ("organise", scene, measure, world->voices_of_late / eighth
        / N_CLIENTS, "of 11");
    world->voices_of_late = 0;
    g_free (measure);
  }
  if (counts)
    add_targets (world);
  world->n_looks += counts;
}

static void
tell_shares (World * world, const gchar * scene)
{
  gdouble bytes[N_CLIENTS];

  for (guint i = 0; i < N_CLIENTS; i++)
    bytes[i] = (gdouble) (world->net.n_bytes[i] - world->n_bytes_before[i]);
  bench_row ("organise", scene, "Jain by 1:2:3:4, of what they may",
      worst_jain (world->target_bps), "");
  bench_row ("organise", scene, "... of what came", worst_jain (bytes), "");
}

static void
tell_moves (World * world, const gchar * scene, gint64 begin_us)
{
  guint n_wrong, n_moved = count_moved (world, &n_wrong);

  bench_row ("organise", scene, "moved", n_moved, "of 9");
  bench_row ("organise", scene, "... behind another link", n_wrong, "");
  if (n_moved > 0)
    bench_row ("organise", scene, "the last one moved after",
        (gdouble) (moves.last_us - begin_us) / SECOND_US, "s");
}

static void
meet (Scene which, guint seconds, gboolean trace)
{
  static const gchar *const scenes[] = { "all from outside",
    "all from outside, coupled", "one of each four mixes"
  };
  const gchar *scene = scenes[which];
  static World world;
  gint64 begin_us;
  guint64 up, down, up_before = 0, down_before = 0;

  world_begin (&world, which);
  begin_us = patient_clock_now_us ();
  moves_begin (begin_us);
  for (guint s = 1; s <= seconds; s++) {
    sleep_until (begin_us + s * SECOND_US);
    if (trace)
      tell_messages (&world);
    if (trace && s % 10 == 0)
      trace_neighbours (&world);
    look (&world, scene, s, seconds);
    if (s == seconds * 3 / 4) {
      count_bytes (&world, &up_before, &down_before);
      memcpy (world.n_bytes_before, world.net.n_bytes,
          sizeof world.n_bytes_before);
    }
  }
  count_bytes (&world, &up, &down);
  bench_row ("organise", scene, "voices apart", world.voices / world.n_looks
      / N_CLIENTS, "of 11");
  bench_row ("organise", scene, "down each link", (gdouble) (down - down_before)
      * 8 / (seconds - seconds * 3 / 4) / 1e3 / N_LINKS, "kbit/s");
  bench_row ("organise", scene, "up each link", (gdouble) (up - up_before)
      * 8 / (seconds - seconds * 3 / 4) / 1e3 / N_LINKS, "kbit/s");
  tell_gaps (scene, BEFORE, ", before");
  if (which == ORGANISED) {
    tell_gaps (scene, MOVING, ", while some move");
    tell_gaps (scene, AFTER, ", after");
    tell_moves (&world, scene, begin_us);
  } else {
    tell_shares (&world, scene);
  }
  world_end (&world);
}

int
main (int argc, char **argv)
{
  static const gchar *const names[] = { "apart", "coupled", "organised" };
  gboolean trace = FALSE, chosen[] = { FALSE, FALSE, FALSE }, any = FALSE;
  guint seconds = SECONDS;

  bench_init (&argc, argv);
  gst_init (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    gboolean is_name = FALSE;

    for (Scene scene = APART; scene <= ORGANISED; scene++)
      if (strcmp (argv[i], names[scene]) == 0)
        chosen[scene] = any = is_name = TRUE;
    if (strcmp (argv[i], "--trace") == 0)
      trace = TRUE;
    else if (!is_name)
      seconds = (guint) MAX (8, atoi (argv[i]));
  }
  for (Scene scene = APART; scene <= ORGANISED; scene++)
    if (!any || chosen[scene])
      meet (scene, seconds, trace);
  return 0;
}
