/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "synth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"

#define LENGTH_S 300.0
#define INTERVAL_MS 20.0
#define LOST NAN

/* What a maker works with: it fills in the delays, in ms, in the order of
 * sending; packets do not overtake each other. */
typedef struct
{
  FmxRng rng;
  size_t n;
  double interval_ms;
  double *delay_ms;
} Synth;

static double
unit (Synth * s)
{
  return fmx_rng_next_unit (&s->rng);
}

static double
between (Synth * s, double least, double most)
{
  return least + (most - least) * unit (s);
}

/* Exponentially distributed */
static double
exponential (Synth * s, double mean)
{
  return -mean * log (1.0 - unit (s));
}

static bool
chance (Synth * s, double p)
{
  return unit (s) < p;
}

static double
sent_ms (const Synth * s, size_t i)
{
  return (double) i *s->interval_ms;
}

/* What is sent in @length_ms from now on arrives when that is over. */
static double
stall (double now, double *until, double starts, double length_ms)
{
  if (starts + length_ms > *until)
    *until = starts + length_ms;
  return *until > now ? *until - now : 0.0;
}

/* --- simple ones --- */

/* A stall of 60 to 260 ms every other second, on 3 ms of jitter */
static void
make_spikes (Synth * s)
{
  double until = 0.0, next = exponential (s, 2000.0);

  for (size_t i = 0; i < s->n; i++) {
    double now = sent_ms (s, i), held = 0.0;

    if (now >= next) {
      stall (now, &until, next, between (s, 60.0, 260.0));
      next += exponential (s, 2000.0);
    }
    held = until > now ? until - now : 0.0;
    s->delay_ms[i] = held + exponential (s, 3.0);
  }
}

/* Every 30 s or so another route, 0 to 100 ms longer than the shortest */
static void
make_route (Synth * s)
{
  double route = 20.0, until = 30e3;

  for (size_t i = 0; i < s->n; i++) {
    if (sent_ms (s, i) >= until) {
      route = between (s, 0.0, 100.0);
      until += between (s, 20e3, 40e3);
    }
    s->delay_ms[i] = route + exponential (s, 3.5);
  }
}

static void
make_skew (Synth * s, double ppm)
{
  for (size_t i = 0; i < s->n; i++)
    s->delay_ms[i] = sent_ms (s, i) * ppm * 1e-6 + exponential (s, 5.0)
        + (ppm < 0.0 ? LENGTH_S * 1e-3 * -ppm : 0.0);
}

static void
make_skew_p (Synth * s)
{
  make_skew (s, 200.0);
}

static void
make_skew_m (Synth * s)
{
  make_skew (s, -200.0);
}

/* Gilbert's channel: 4.7 % lost, 2.5 at a time */
static void
make_gilbert (Synth * s)
{
  const double bad_to_good = 0.4, loss = 0.047;
  bool bad = false;

  for (size_t i = 0; i < s->n; i++) {
    bad = bad ? !chance (s, bad_to_good) :
        chance (s, bad_to_good * loss / (1.0 - loss));
    s->delay_ms[i] = exponential (s, 9.0);
    if (bad)
      s->delay_ms[i] = LOST;
  }
}

/* Released every 100 ms, as by a radio that sleeps in between */
static void
make_agg100 (Synth * s)
{
  for (size_t i = 0; i < s->n; i++) {
    double now = sent_ms (s, i);

    s->delay_ms[i] = ceil (now / 100.0) * 100.0 - now + exponential (s, 1.0);
  }
}

/* A switch in between: 0.3 ms of jitter */
static void
make_lan (Synth * s)
{
  for (size_t i = 0; i < s->n; i++)
    s->delay_ms[i] = between (s, 0.0, 0.3);
}

/* --- Wi-Fi --- */

/* The stations of a cell take turns: who waits for longer than a turn has
 * several packets, and sends them as one (802.11n aggregation; a transmission
 * takes at most 5.5 ms).  A frame that fails is sent again, slower, up to a
 * stall of 20 to 80 ms, which come in flocks, because what disturbs stays for
 * a while; to look for other cells the radio leaves the channel for 100 ms
 * (SyncScan, INFOCOM 2005); in power save the cell keeps the packets until a
 * beacon, every 102.4 ms.
 *
 * The numbers are such that the delays of the busy cell have the percentiles
 * of a campus of 2,000 access points: 50 % below 3 ms, 90 % below 20 ms, 99 %
 * below 250 ms (Sui et al., "Characterizing and Improving WiFi Latency in
 * Large-Scale Operational Networks", MobiSys 2016). */
typedef struct
{
  double turn_ms;               /* mean time until it is our turn */
  double stalls_per_s[2];       /* while nothing disturbs, and while it does */
  double quiet_s, disturbed_s;  /* mean length of either */
  double scan_s;                /* mean time between two scans */
  double outage_s;              /* mean time between two outages */
  double outage_ms;             /* longest */
  double save_share;            /* of time in power save */
  double loss;                  /* after all retries, while disturbed */
} Cell;

typedef struct
{
  double until;                 /* nothing gets through */
  double turn;                  /* when it is our turn */
  double next_stall, next_scan, next_outage, next_weather;
  bool disturbed;
  bool saving;
} Radio;

static void
radio_weather (Synth * s, const Cell * cell, Radio * radio, double now)
{
  while (now >= radio->next_weather) {
    radio->disturbed = !radio->disturbed;
    radio->saving = chance (s, cell->save_share);
    radio->next_weather += exponential (s, 1e3 * (radio->disturbed ?
            cell->disturbed_s : cell->quiet_s));
    radio->next_stall = now
        + exponential (s, 1e3 / cell->stalls_per_s[radio->disturbed]);
  }
}

static void
radio_stalls (Synth * s, const Cell * cell, Radio * radio, double now)
{
  while (now >= radio->next_stall) {
    stall (now, &radio->until, radio->next_stall, between (s, 20.0, 80.0));
    radio->next_stall +=
        exponential (s, 1e3 / cell->stalls_per_s[radio->disturbed]);
  }
  while (now >= radio->next_scan) {
    stall (now, &radio->until, radio->next_scan, 100.0);
    radio->next_scan += exponential (s, 1e3 * cell->scan_s);
  }
  while (now >= radio->next_outage) {
    stall (now, &radio->until, radio->next_outage,
        between (s, 100.0, cell->outage_ms));
    radio->next_outage += exponential (s, 1e3 * cell->outage_s);
  }
}

static void
make_cell (Synth * s, const Cell * cell)
{
  Radio radio = {
    .next_stall = INFINITY,
    .next_scan = exponential (s, 1e3 * cell->scan_s),
    .next_outage = exponential (s, 1e3 * cell->outage_s),
    .disturbed = true,          /* the weather changes at once */
  };

  for (size_t i = 0; i < s->n; i++) {
    double now = sent_ms (s, i), out;

    radio_weather (s, cell, &radio, now);
    radio_stalls (s, cell, &radio, now);
    out = radio.until > now ? radio.until : now;
    if (radio.saving)
      out = ceil (out / 102.4) * 102.4;
    while (radio.turn < out)
      radio.turn += 0.3 + exponential (s, cell->turn_ms);
    s->delay_ms[i] = radio.turn - now;
    if (chance (s, radio.disturbed ? cell->loss : cell->loss / 10.0))
      s->delay_ms[i] = LOST;
  }
}

static void
make_wifi (Synth * s)
{
  static const Cell cell = {
    .turn_ms = 1.5,
    .stalls_per_s = {0.05, 1.0},
    .quiet_s = 30.0,.disturbed_s = 6.0,
    .scan_s = 30.0,
    .outage_s = 120.0,.outage_ms = 250.0,
    .loss = 0.005,
  };

  make_cell (s, &cell);
}

static void
make_wifi_busy (Synth * s)
{
  static const Cell cell = {
    .turn_ms = 3.5,
    .stalls_per_s = {0.4, 4.0},
    .quiet_s = 12.0,.disturbed_s = 6.0,
    .scan_s = 60.0,
    .outage_s = 10.0,.outage_ms = 600.0,
    .loss = 0.02,
  };

  make_cell (s, &cell);
}

static void
make_wifi_save (Synth * s)
{
  static const Cell cell = {
    .turn_ms = 1.5,
    .stalls_per_s = {0.1, 0.5},
    .quiet_s = 10.0,.disturbed_s = 5.0,
    .scan_s = 60.0,
    .outage_s = 120.0,.outage_ms = 250.0,
    .save_share = 0.4,
    .loss = 0.002,
  };

  make_cell (s, &cell);
}

/* --- LTE --- */

/* A cell's scheduler gives our bearer a rate that wanders, and somebody's
 * download fills its queue: slow swings of up to some 200 ms.  A block in ten
 * is sent again, 8 ms later; a hand-over every 20 s or so stops everything for
 * 50 to 200 ms. */
static void
make_lte (Synth * s)
{
  double queue = 20.0, target = 20.0, until = 0.0;
  double next_target = 0.0, next_handover = exponential (s, 20e3);

  for (size_t i = 0; i < s->n; i++) {
    double now = sent_ms (s, i), harq = 0.0;

    while (now >= next_target) {
      target = chance (s, 0.5) ? between (s, 0.0, 30.0) : exponential (s, 60.0);
      next_target += exponential (s, 1500.0);
    }
    if (now >= next_handover) {
      stall (now, &until, next_handover, between (s, 50.0, 200.0));
      next_handover += exponential (s, 20e3);
    }
    queue += (target - queue) * s->interval_ms / 300.0;
    while (chance (s, 0.1))
      harq += 8.0;
    s->delay_ms[i] = queue + harq + between (s, 0.0, 5.0)
        + (until > now ? until - now : 0.0);
    if (chance (s, 0.0005))
      s->delay_ms[i] = LOST;
  }
}

/* --- the nanoManipulator's network --- */

/* "a single 10 Mbps link", kept at 98 % by the responses of Web servers to
 * thousands of browsers: windows of 2, 4, 8, 8 ... packets, one a round trip,
 * into a queue of 80 packets; the microscope's 28 packets/s go through it,
 * and one in ten finds it full. */
#define LINK_BITS_PER_MS 10e3
#define QUEUE_PACKETS 80u
#define WEB_LOAD 1.15           /* offered: the queue drops the rest */
#define WEB_PACKETS 11.0        /* mean of a response */
#define WEB_BYTES 1130.0        /* mean of a packet */
#define WEB_RTT_MS 120.0
#define WEB_SPACING_MS 1.2      /* of 1500 bytes on a campus of 10 Mbit/s */
#define TIP_BYTES 100.0
#define WARM_UP_MS 10e3

static int
compare_times (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* Returns: how many packets come to the link, and when each does */
static size_t
make_web (Synth * s, double **at_ms)
{
  double gap_ms = WEB_PACKETS * WEB_BYTES * 8.0 / (WEB_LOAD * LINK_BITS_PER_MS);
  double end_ms = WARM_UP_MS + sent_ms (s, s->n);
  size_t most = (size_t) (2.0 * end_ms / gap_ms * WEB_PACKETS), n = 0;

  *at_ms = calloc (most, sizeof (double));
  for (double at = 0.0; at < end_ms; at += exponential (s, gap_ms)) {
    /* Pareto, 1.2, from 3 to 200 packets: 11 on average */
    double left = floor (fmin (200, 3.0 / pow (1.0 - unit (s), 1.0 / 1.2)));
    double window = 2.0;

    for (double t = at; left > 0.0; t += WEB_RTT_MS) {
      for (double k = 0.0; k < window && left > 0.0 && n < most; k++, left--)
        (*at_ms)[n++] = t + k * WEB_SPACING_MS;
      if (n == most)
        break;
      window = fmin (8, 2.0 * window);
    }
  }
  qsort (*at_ms, n, sizeof (double), compare_times);
  return n;
}

/* When each packet in the queue is through */
typedef struct
{
  double done_ms[QUEUE_PACKETS];
  unsigned first, n;
  double last_ms;
} Link;

/* Returns: when the packet is through; LOST if the queue is full */
static double
link_enqueue (Link * link, double bytes, double now)
{
  while (link->n > 0 && link->done_ms[link->first] <= now) {
    link->first = (link->first + 1) % QUEUE_PACKETS;
    link->n--;
  }
  if (link->n == QUEUE_PACKETS)
    return LOST;
  link->last_ms = fmax (link->last_ms, now) + bytes * 8.0 / LINK_BITS_PER_MS;
  link->done_ms[(link->first + link->n++) % QUEUE_PACKETS] = link->last_ms;
  return link->last_ms;
}

static void
make_table1 (Synth * s)
{
  double *web_ms;
  size_t n_web = make_web (s, &web_ms), next = 0;
  Link link = { 0 };

  for (size_t i = 0; i < s->n; i++) {
    double now = WARM_UP_MS + sent_ms (s, i);

    for (; next < n_web && web_ms[next] <= now; next++)
      link_enqueue (&link, chance (s, 0.6) ? 1500.0 : 576.0, web_ms[next]);
    s->delay_ms[i] = link_enqueue (&link, TIP_BYTES, now) - now;
  }
  free (web_ms);
}

/* --- all of them --- */

static const struct
{
  const char *name;
  const char *about;
  void (*make) (Synth * s);
  double interval_ms, length_s;
} synths[] = {
  {"syn_agg100", "released every 100 ms", make_agg100, INTERVAL_MS, LENGTH_S},
  {"syn_gilbert", "4.7 % lost, 2.5 at a time", make_gilbert, INTERVAL_MS,
      LENGTH_S},
  {"syn_lan", "0.3 ms of jitter", make_lan, INTERVAL_MS, LENGTH_S},
  {"syn_lte", "a queue that swings, hand-overs", make_lte, INTERVAL_MS,
      LENGTH_S},
  {"syn_route", "another route every 30 s", make_route, INTERVAL_MS, LENGTH_S},
  {"syn_skew_m", "the sender's clock is 200 ppm fast", make_skew_m,
      INTERVAL_MS, LENGTH_S},
  {"syn_skew_p", "the sender's clock is 200 ppm slow", make_skew_p,
      INTERVAL_MS, LENGTH_S},
  {"syn_spikes", "a stall of 60 to 260 ms every other second", make_spikes,
      INTERVAL_MS, LENGTH_S},
  {"syn_table1", "a link full of Web traffic, 28 packets/s, 10 % lost",
      make_table1, 1e3 / 28.0, 600.0},
  {"syn_wifi", "Wi-Fi at home", make_wifi, INTERVAL_MS, LENGTH_S},
  {"syn_wifi_busy", "Wi-Fi of a busy cell", make_wifi_busy, INTERVAL_MS,
      LENGTH_S},
  {"syn_wifi_save", "Wi-Fi with power save", make_wifi_save, INTERVAL_MS,
      LENGTH_S},
};

#define N_SYNTHS (sizeof synths / sizeof synths[0])

static void
to_trace (const Synth * s, Trace * trace)
{
  double least = INFINITY, last = 0.0;

  for (size_t i = 0; i < s->n; i++)
    if (s->delay_ms[i] < least) /* false for a lost one: NaN */
      least = s->delay_ms[i];
  trace->n_packets = s->n;
  trace->interval = (FmxDuration) llround (s->interval_ms * 1e6);
  trace->packets = calloc (s->n, sizeof (TracePacket));
  for (size_t i = 0; i < s->n; i++) {
    double at = sent_ms (s, i) + s->delay_ms[i] - least;

    trace->packets[i].send = (FmxTime) llround (sent_ms (s, i) * 1e6);
    trace->packets[i].arrival = FMX_TIME_NONE;
    if (isnan (at))
      continue;
    last = at > last ? at : last;
    trace->packets[i].arrival = (FmxTime) llround (last * 1e6);
    if (trace->packets[i].arrival < trace->packets[i].send)
      trace->packets[i].arrival = trace->packets[i].send;
  }
}

bool
synth_make_every (Trace * trace, const char *name, FmxDuration interval)
{
  const char *colon = strchr (name, ':');
  size_t length = colon ? (size_t) (colon - name) : strlen (name);
  uint64_t seed = colon ? strtoull (colon + 1, NULL, 10) : SYNTH_SEED;

  memset (trace, 0, sizeof *trace);
  for (size_t i = 0; i < N_SYNTHS; i++) {
    Synth s = {.interval_ms = synths[i].interval_ms };

    if (strlen (synths[i].name) != length
        || strncmp (synths[i].name, name, length) != 0)
      continue;
    if (interval > 0)
      s.interval_ms = (double) interval / 1e6;
    snprintf (trace->name, sizeof trace->name, "%s", name);
    fmx_rng_init (&s.rng, seed);
    s.n = (size_t) (1e3 * synths[i].length_s / s.interval_ms);
    s.delay_ms = calloc (s.n, sizeof (double));
    synths[i].make (&s);
    to_trace (&s, trace);
    free (s.delay_ms);
    return true;
  }
  return false;
}

bool
synth_make (Trace * trace, const char *name)
{
  return synth_make_every (trace, name, 0);
}

bool
trace_open (Trace * trace, const char *name)
{
  return strncmp (name, "syn_", 4) == 0 ? synth_make (trace, name) :
      trace_read (trace, name);
}

const char *
synth_name (size_t i)
{
  return i < N_SYNTHS ? synths[i].name : NULL;
}

const char *
synth_about (size_t i)
{
  return i < N_SYNTHS ? synths[i].about : NULL;
}
