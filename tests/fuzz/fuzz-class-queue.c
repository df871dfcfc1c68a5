/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exercises the queue module: any packets of any classes in any order, while
 * settings change.  Four bytes an operation, after eight of settings. */
#include <math.h>

#include "fairmix/queue/fmx-class-queue.h"
#include "fairmix/queue/fmx-drop-watch.h"
#include "fuzz.h"

static FmxClassStats
class_stats (const FmxQueueClass * object)
{
  FmxClassStats stats;

  fmx_queue_class_get_stats (object, &stats);
  return stats;
}

#define N_CLASSES 4u
#define MAX_WAITING 512u

typedef struct
{
  FmxClassQueue queue;
  FmxQueueClass classes[N_CLASSES];
  FmxRng rng;
  unsigned first, n;
  unsigned owner[MAX_WAITING];
  FmxQueuePacket packets[MAX_WAITING];
} Scene;

static FmxRedParams
red_from (Fuzz * fuzz)
{
  FmxRedParams red;
  uint32_t flags = fuzz_u8 (fuzz);

  red.min_packets = (1 + fuzz_u8 (fuzz)) / 8.0;
  red.max_packets = red.min_packets + (1 + fuzz_u8 (fuzz)) / 8.0;
  red.max_p = (1 + fuzz_u8 (fuzz)) / 256.0;
  red.gentle = (flags & 1) != 0;
  red.ecn = (flags & 2) != 0;
  return red;
}

static FmxQueueAverageParams
average_from (Fuzz * fuzz)
{
  FmxQueueAverageParams average;

  average.weight = (1 + fuzz_u8 (fuzz)) / 256.0;
  average.packet_time = fuzz_u8 (fuzz) * FMX_MSECOND / 16;
  return average;
}

static void
set_queue (Scene * scene, Fuzz * fuzz, int first)
{
  FmxClassQueueParams params;

  params.discipline = (FmxDiscipline) (fuzz_u8 (fuzz) % FMX_N_DISCIPLINES);
  params.limit_packets = 1 + fuzz_u8 (fuzz);
  params.limit_bytes = fuzz_u16 (fuzz);
  params.average = average_from (fuzz);
  params.red = red_from (fuzz);
  if (first)
    fmx_class_queue_init (&scene->queue, &params);
  else
    fmx_class_queue_set_params (&scene->queue, &params);
}

static void
set_class (Scene * scene, Fuzz * fuzz, unsigned i, int first)
{
  FmxClassParams params;

  params.rule = (FmxClassRule) (fuzz_u8 (fuzz) % 2);
  params.threshold_packets = fuzz_u8 (fuzz) / 16.0;
  params.average = average_from (fuzz);
  params.red = red_from (fuzz);
  if (first)
    fmx_queue_class_init (&scene->classes[i], &params);
  else
    fmx_queue_class_set_params (&scene->classes[i], &params);
}

static void
arrive (Scene * scene, Fuzz * fuzz, unsigned klass, FmxTime now)
{
  FmxQueuePacket packet;
  uint64_t n_marked = class_stats (&scene->classes[klass]).n_marked;
  FmxQueueVerdict verdict;

  packet.bytes = fuzz_u16 (fuzz) * (klass + 1);
  packet.can_mark = (packet.bytes & 1) != 0;
  verdict = fmx_class_queue_on_arrival (&scene->queue, &scene->classes[klass],
      &packet, &scene->rng, now);
  CHECK (verdict != FMX_QUEUE_MARK || packet.can_mark);
  CHECK (class_stats (&scene->classes[klass]).n_marked
      == n_marked + (verdict == FMX_QUEUE_MARK));
  if (verdict != FMX_QUEUE_DROP) {
    unsigned at = (scene->first + scene->n++) % MAX_WAITING;

    CHECK (scene->n <= MAX_WAITING);
    scene->owner[at] = klass;
    scene->packets[at] = packet;
  }
}

static void
depart (Scene * scene, FmxTime now)
{
  unsigned at = scene->first;

  if (scene->n == 0)
    return;
  fmx_class_queue_on_departure (&scene->queue,
      &scene->classes[scene->owner[at]], &scene->packets[at], now);
  scene->first = (at + 1) % MAX_WAITING;
  scene->n--;
}

static void
check (const Scene * scene)
{
  uint32_t n = 0;

  for (unsigned i = 0; i < N_CLASSES; i++) {
    FmxClassStats stats = class_stats (&scene->classes[i]);
    double average = fmx_queue_class_get_average (&scene->classes[i]);
    uint32_t waiting = fmx_queue_class_get_length (&scene->classes[i]);

    CHECK (isfinite (average) && average >= 0.0 && average <= 256.0);
    CHECK (stats.n_arrived == stats.n_departed + waiting + stats.n_cleared
        + stats.n_dropped_full + stats.n_dropped_early
        + stats.n_dropped_threshold);
    n += waiting;
  }
  CHECK (n == scene->n && n == fmx_class_queue_get_length (&scene->queue));
  CHECK (n <= 256);
  CHECK (n > 0 || fmx_class_queue_get_bytes (&scene->queue) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Fuzz fuzz = { data, size, 0 };
  FmxDropWatchParams watch_params;
  FmxDropWatch watch;
  FmxTime now = 0;
  Scene scene;

  scene.first = scene.n = 0;
  fmx_rng_init (&scene.rng, fuzz_u32 (&fuzz));
  set_queue (&scene, &fuzz, 1);
  for (unsigned i = 0; i < N_CLASSES; i++)
    set_class (&scene, &fuzz, i, 1);
  fmx_drop_watch_params_default (&watch_params);
  fmx_drop_watch_init (&watch);
  while (fuzz_more (&fuzz)) {
    uint32_t op = fuzz_u8 (&fuzz);
    unsigned klass = op >> 3 & 3;

    now += (FmxTime) fuzz_u8 (&fuzz) * 100 * FMX_USECOND;
    switch (op & 7) {
      case 0:
      case 1:
        depart (&scene, now);
        break;
      case 2:
        if (op >> 5 == 0)
          set_queue (&scene, &fuzz, 0);
        else if (op >> 5 == 1)
          set_class (&scene, &fuzz, klass, 0);
        else if (op >> 5 == 2)
          while (scene.n > 0)
            depart (&scene, now);
        else if (op >> 5 == 3)
          now += (FmxTime) fuzz_u32 (&fuzz) * FMX_MSECOND;
        break;
      default:
        arrive (&scene, &fuzz, klass, now);
        fmx_drop_watch_on_packet (&watch, &watch_params, op >> 7, now);
    }
    CHECK (fmx_drop_watch_get_share (&watch) >= 0.0
        && fmx_drop_watch_get_share (&watch) <= 1.0);
    check (&scene);
  }
  return 0;
}
