/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Mixers above mixers: who hears whom, how loud, and how late.
 *
 *   tree [--csv] [chain | tree]
 *
 * Real dpmmixers and dpmclients on loopback, in one process, with a clock that
 * stands still where the machine does not keep up.  chain: five mixers in a row, a
 * client at each.  tree: a mixer, three under it, nine under those with three clients
 * each.  Each client says a tone of its own.  All at once first: each must hear each
 * other one once, as loud as it is; twice would be 6 dB more.  Then five of them, one after
 * the other: how long it takes from a mouth to the ears, by mixers on the way.
 */
#define WIDE_BPS 5000000        /* room for all voices, apart */
#include "dpmbench.h"           /* first */

#define MAX_MIXERS 13
#define MAX_CLIENTS 27
#define VOLUME 0.03
#define TOLERANCE_DB 2.0
#define SETTLED_S 60
#define WINDOW 480              /* 10 ms */
#define ONSET_DB (-45.0)
#define TURN_US (1500 * 1000)
#define N_TURNS 5
#define HEARD_US (250 * 1000)   /* between two looks who is heard */
#define NAP_US 4000             /* so long our own thread lets the clock go on */

typedef struct
{
  const gchar *name;
  guint n_mixers, n_clients;
  gint parents[MAX_MIXERS];     /* -1: none */
  guint homes[MAX_CLIENTS];     /* their mixers */
} Shape;

static const Shape shapes[] = {
  {"chain", 5, 5, {-1, 0, 1, 2, 3}, {0, 1, 2, 3, 4}},
  {"tree", 13, 27, {-1, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3},
      {4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9, 9, 9, 10, 10, 10, 11,
          11, 11, 12, 12, 12}},
};

typedef struct
{
  const Shape *shape;
  Person *mixers[MAX_MIXERS];
  Person *clients[MAX_CLIENTS];
} World;

static guint
tone_of (guint client)
{
  return 300 + 70 * client;
}

static guint
depth_of (const Shape * shape, gint mixer)
{
  guint depth = 0;

  for (; shape->parents[mixer] >= 0; mixer = shape->parents[mixer])
    depth++;
  return depth;
}

/* Returns: how many mixers are between two clients */
static guint
count_hops (const Shape * shape, guint from, guint to)
{
  gint a = (gint) shape->homes[from], b = (gint) shape->homes[to];
  guint n = 1;

  while (a != b) {
    gint *deeper = depth_of (shape, a) >= depth_of (shape, b) ? &a : &b;

    *deeper = shape->parents[*deeper];
    n++;
  }
  return n;
}

static void
world_begin (World * world, const Shape * shape)
{
  world->shape = shape;
  for (guint i = 0; i < shape->n_mixers; i++) {
    gchar *parent = shape->parents[i] < 0 ? g_strdup ("") :
        g_strdup_printf ("parent=127.0.0.1:%u",
        (guint) stat_of (world->mixers[shape->parents[i]], "port"));

    world->mixers[i] = mixer_new (parent);
    g_free (parent);
  }
  for (guint i = 0; i < shape->n_clients; i++) {
    gchar *line =
        g_strdup_printf ("audiotestsrc is-live=true volume=%s freq=%u "
        "! audio/x-raw,rate=48000,channels=1 ! dpmclient name=dpm "
        "server=127.0.0.1:%u display-name=client-%u" EARS,
        G_STRINGIFY (VOLUME), tone_of (i),
        (guint) stat_of (world->mixers[shape->homes[i]], "port"), i);

    world->clients[i] = person_start (person_new (line));
    g_free (line);
  }
}

static void
world_end (World * world)
{
  for (guint i = 0; i < world->shape->n_clients; i++)
    person_free (world->clients[i]);
  for (guint i = world->shape->n_mixers; i > 0; i--)
    person_free (world->mixers[i - 1]);
}

/* The clock stands still while this thread computes, and goes on while it sleeps. */
static void
sleep_until (gint64 time_us)
{
  while (patient_clock_now_us () < time_us)
    g_usleep (NAP_US);
}

/* Returns: how many others @to hears once, as loud as they are; @worst_db: how far the
 * worst is off */
static guint
count_heard (World * world, guint to, gdouble * worst_db)
{
  Person *person = world->clients[to];
  guint n = 0;

  *worst_db = 0;
  g_mutex_lock (&person->lock);
  for (guint from = 0; from < world->shape->n_clients; from++) {
    gdouble db = tone_db (person, tone_of (from)) - 20 * log10 (VOLUME);

    if (from == to)
      continue;
    n += fabs (db) < TOLERANCE_DB;
    *worst_db = fabs (db) > fabs (*worst_db) ? db : *worst_db;
  }
  g_mutex_unlock (&person->lock);
  return n;
}

/* Who hears all others at the same time is not looked at again. */
static void
measure_heard (World * world)
{
  guint n = world->shape->n_clients, heard[MAX_CLIENTS] = { 0 }, sum = 0;
  gint64 begin_us = patient_clock_now_us (), look_us = begin_us;
  gdouble worst_db[MAX_CLIENTS], worst = 0;

  while (sum < n * (n - 1) && look_us - begin_us < SETTLED_S * G_USEC_PER_SEC) {
    look_us += HEARD_US;
    sleep_until (look_us);
    sum = 0;
    for (guint to = 0; to < n; to++) {
      if (heard[to] < n - 1)
        heard[to] = count_heard (world, to, &worst_db[to]);
      sum += heard[to];
    }
  }
  for (guint to = 0; to < n; to++)
    worst = fabs (worst_db[to]) > fabs (worst) ? worst_db[to] : worst;
  bench_row ("tree", world->shape->name, "voices that are due", n * (n - 1),
      "");
  bench_row ("tree", world->shape->name, "... heard once", sum, "");
  bench_row ("tree", world->shape->name, "the worst is off by", worst, "dB");
  bench_row ("tree", world->shape->name, "all are heard after",
      (gdouble) (look_us - begin_us) / 1000, "ms");
}

/* with the lock.  Returns: whether the latest 10 ms have that tone */
static gboolean
hears_now (Person * person, guint hz)
{
  gdouble w = 2 * G_PI * hz / RATE, power = 1e-12;

  for (guint ear = 0; ear < 2; ear++) {
    gdouble s1 = 0, s2 = 0;

    for (guint i = 0; i < WINDOW; i++) {
      gdouble s = person->heard[(person->n_heard + HEARD_SAMPLES - WINDOW + i)
          % HEARD_SAMPLES][ear] / 32768.0 + 2 * cos (w) * s1 - s2;

      s2 = s1;
      s1 = s;
    }
    power += (s1 * s1 + s2 * s2 - 2 * cos (w) * s1 * s2) * 4.0 / WINDOW
        / WINDOW;
  }
  return 10 * log10 (power) > ONSET_DB;
}

/* One says something: when do the others hear it? @late_us: of each; -1: not */
static void
take_turn (World * world, guint from, gint64 * late_us)
{
  const Shape *shape = world->shape;
  gint64 begin_us = patient_clock_now_us (), now_us;

  for (guint to = 0; to < shape->n_clients; to++)
    late_us[to] = -1;
  g_object_set (world->clients[from]->dpm, "mute", FALSE, NULL);
  while ((now_us = patient_clock_now_us ()) - begin_us < TURN_US) {
    for (guint to = 0; to < shape->n_clients; to++) {
      Person *person = world->clients[to];

      g_mutex_lock (&person->lock);
      if (to != from && late_us[to] < 0 && hears_now (person, tone_of (from)))
        late_us[to] = now_us - begin_us;
      g_mutex_unlock (&person->lock);
    }
    g_usleep (NAP_US);
  }
  g_object_set (world->clients[from]->dpm, "mute", TRUE, NULL);
}

static void
measure_delay (World * world)
{
  const Shape *shape = world->shape;
  gdouble sum_ms[MAX_MIXERS] = { 0 };
  guint n[MAX_MIXERS] = { 0 }, n_missed = 0;

  for (guint i = 0; i < shape->n_clients; i++)
    g_object_set (world->clients[i]->dpm, "mute", TRUE, NULL);
  for (guint turn = 0; turn < N_TURNS; turn++) {
    guint from = turn * shape->n_clients / N_TURNS;
    gint64 late_us[MAX_CLIENTS];

    sleep_until (patient_clock_now_us () + TURN_US);    /* it is silent again */
    take_turn (world, from, late_us);
    for (guint to = 0; to < shape->n_clients; to++) {
      guint hops = count_hops (shape, from, to);

      if (to == from)
        continue;
      n_missed += late_us[to] < 0;
      if (late_us[to] >= 0) {
        sum_ms[hops] += (gdouble) late_us[to] / 1000;
        n[hops]++;
      }
    }
  }
  for (guint hops = 1; hops < MAX_MIXERS; hops++)
    if (n[hops] > 0) {
      gchar *what = g_strdup_printf ("mouth to ear, %u mixer%s", hops,
          hops > 1 ? "s" : "");

      bench_row ("tree", shape->name, what, sum_ms[hops] / n[hops], "ms");
      g_free (what);
    }
  bench_row ("tree", shape->name, "... not heard in time", n_missed, "");
}

int
main (int argc, char **argv)
{
  static World world;

  bench_init (&argc, argv);
  gst_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    if (argc > 1 && strcmp (argv[1], shapes[i].name) != 0)
      continue;
    world_begin (&world, &shapes[i]);
    measure_heard (&world);
    measure_delay (&world);
    world_end (&world);
  }
  return 0;
}
