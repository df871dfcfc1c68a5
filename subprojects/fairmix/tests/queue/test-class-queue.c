/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>

#include "fairmix/queue/fmx-class-queue.h"

static FmxClassStats
class_stats (const FmxQueueClass *object)
{
  FmxClassStats stats;

  fmx_queue_class_get_stats (object, &stats);
  return stats;
}

#define N_CLASSES 3u

/* What the queue keeps, kept by its caller: a ring of class numbers and sizes */
typedef struct
{
  FmxClassQueue queue;
  FmxQueueClass classes[N_CLASSES];
  FmxRng rng;
  unsigned first, n;
  unsigned owner[4096];
  FmxQueuePacket packets[4096];
} Scene;

static void
scene_init (Scene *scene, FmxDiscipline discipline, uint32_t limit_packets)
{
  FmxClassQueueParams params;
  FmxClassParams tcp, threshold;

  fmx_class_queue_params_default (&params);
  params.discipline = discipline;
  params.limit_packets = limit_packets;
  fmx_class_queue_init (&scene->queue, &params);
  fmx_class_params_default (&tcp, FMX_CLASS_RED);
  fmx_class_params_default (&threshold, FMX_CLASS_THRESHOLD);
  threshold.average.weight = 0.25;
  fmx_queue_class_init (&scene->classes[0], &tcp);
  fmx_queue_class_init (&scene->classes[1], &threshold);
  fmx_queue_class_init (&scene->classes[2], &threshold);
  fmx_rng_init (&scene->rng, 1);
  scene->first = scene->n = 0;
}

static FmxQueueVerdict
arrive (Scene *scene, unsigned klass, uint32_t bytes, FmxTime now)
{
  FmxQueuePacket packet = { bytes, false };
  FmxQueueVerdict verdict = fmx_class_queue_on_arrival (&scene->queue,
      &scene->classes[klass], &packet, &scene->rng, now);

  if (verdict != FMX_QUEUE_DROP) {
    unsigned at = (scene->first + scene->n++) % N_ELEMENTS (scene->owner);

    assert_true (scene->n < N_ELEMENTS (scene->owner));
    scene->owner[at] = klass;
    scene->packets[at] = packet;
  }
  return verdict;
}

/* Returns: whether a packet was there; its class is the return plus one */
static unsigned
depart (Scene *scene, FmxTime now)
{
  unsigned at = scene->first;

  if (scene->n == 0)
    return 0;
  fmx_class_queue_on_departure (&scene->queue,
      &scene->classes[scene->owner[at]], &scene->packets[at], now);
  scene->first = (at + 1) % N_ELEMENTS (scene->owner);
  scene->n--;
  return scene->owner[at] + 1;
}

static void
test_a_fifo_drops_what_finds_it_full (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, FMX_DISCIPLINE_FIFO, 3);
  for (unsigned i = 0; i < 3; i++)
    assert_int_equal (arrive (&scene, i, 100, 0), FMX_QUEUE_TAKE);
  assert_int_equal (arrive (&scene, 0, 100, 0), FMX_QUEUE_DROP);
  assert_int_equal (depart (&scene, 1), 1);
  assert_int_equal (arrive (&scene, 0, 100, 1), FMX_QUEUE_TAKE);
  assert_int_equal (fmx_class_queue_get_length (&scene.queue), 3);
  assert_int_equal (fmx_class_queue_get_bytes (&scene.queue), 300);
  assert_int_equal (class_stats (&scene.classes[0]).n_dropped_full, 1);
}

static void
test_bytes_are_limited_but_one_packet_always_fits (void **state)
{
  FmxClassQueueParams params;
  Scene scene;

  (void) state;
  scene_init (&scene, FMX_DISCIPLINE_FIFO, 0);
  params = scene.queue.params;
  params.limit_bytes = 1000;
  fmx_class_queue_set_params (&scene.queue, &params);
  assert_int_equal (arrive (&scene, 0, 5000, 0), FMX_QUEUE_TAKE);
  assert_int_equal (arrive (&scene, 0, 1, 0), FMX_QUEUE_DROP);
  assert_int_equal (depart (&scene, 1), 1);
  assert_int_equal (arrive (&scene, 0, 600, 1), FMX_QUEUE_TAKE);
  assert_int_equal (arrive (&scene, 0, 401, 1), FMX_QUEUE_DROP);
  assert_int_equal (arrive (&scene, 0, 400, 1), FMX_QUEUE_TAKE);
}

/* [nanoManipulator 4.2] threshold 2, weight 1/4, nobody departs.  The class's
 * average before each verdict: 0, 0.25 (finds 1), 0.6875 (2), 1.2656 (3),
 * 1.9492 (4), 2.7119 (5): the sixth is dropped, and all that follow, since
 * five wait; when they have left, zeros bring it below two again after two
 * more: 3.28 * 0.75 = 2.46, 1.85. */
static void
test_a_class_above_its_threshold_is_dropped (void **state)
{
  static const double averages[] = { 0.0, 0.25, 0.6875, 1.265625, 1.94921875,
    2.7119140625, 3.283935546875
  };
  Scene scene;

  (void) state;
  scene_init (&scene, FMX_DISCIPLINE_CBT, 0);
  for (unsigned i = 0; i < 7; i++) {
    assert_int_equal (arrive (&scene, 1, 100, i),
        i < 5 ? FMX_QUEUE_TAKE : FMX_QUEUE_DROP);
    assert_true (fabs (fmx_queue_class_get_average (&scene.classes[1])
            - averages[i]) < 1e-12);
  }
  /* the others do not notice: nothing is borrowed, nothing lent */
  assert_int_equal (arrive (&scene, 2, 100, 7), FMX_QUEUE_TAKE);
  assert_int_equal (arrive (&scene, 0, 100, 7), FMX_QUEUE_TAKE);
  while (depart (&scene, 8));
  assert_int_equal (arrive (&scene, 1, 100, 9), FMX_QUEUE_DROP);
  assert_int_equal (arrive (&scene, 1, 100, 9), FMX_QUEUE_TAKE);
  assert_int_equal (class_stats (&scene.classes[1]).n_dropped_threshold, 3);
}

static void
test_red_counts_all_packets_and_cbt_the_class_only (void **state)
{
  (void) state;
  for (int cbt = 0; cbt < 2; cbt++) {
    uint64_t n_early;
    Scene scene;

    scene_init (&scene, cbt ? FMX_DISCIPLINE_CBT : FMX_DISCIPLINE_RED, 100);
    for (unsigned i = 0; i < 20; i++)
      arrive (&scene, 2, 100, i);
    /* 20 of another class stand there, or those that CBT let in; one TCP
     * packet at a time comes and goes */
    for (unsigned i = 0; i < 5000; i++) {
      if (arrive (&scene, 0, 100, 100 + i) != FMX_QUEUE_DROP) {
        unsigned last = (scene.first + scene.n - 1) % N_ELEMENTS (scene.owner);

        fmx_class_queue_on_departure (&scene.queue, &scene.classes[0],
            &scene.packets[last], 100 + i);
        scene.n--;
      }
    }
    n_early = class_stats (&scene.classes[0]).n_dropped_early;
    if (cbt)
      assert_int_equal (n_early, 0);
    else
      assert_true (n_early > 1000);
  }
}

static void
test_what_is_cleared_is_forgotten_and_counted (void **state)
{
  Scene scene;

  (void) state;
  scene_init (&scene, FMX_DISCIPLINE_FIFO, 0);
  for (unsigned i = 0; i < 9; i++)
    arrive (&scene, i % 3, 100, i);
  fmx_class_queue_clear (&scene.queue, &scene.classes[1], 10);
  assert_int_equal (fmx_class_queue_get_length (&scene.queue), 6);
  assert_int_equal (fmx_class_queue_get_bytes (&scene.queue), 600);
  assert_int_equal (fmx_queue_class_get_length (&scene.classes[1]), 0);
  assert_int_equal (class_stats (&scene.classes[1]).n_cleared,
      3);
}

/* A blaster at twice the link's rate, one that needs 5 % of the link, and TCP
 * that fills the rest.  The blaster's average is held at its threshold of 2,
 * which arrivals see before they join: it has two to three of the packets that
 * wait, and of the link the share that these are of all that wait. */
static void
test_a_threshold_bounds_a_blasters_share (void **state)
{
  const FmxDuration slot = FMX_MSECOND;
  double n_blaster = 0.0, n_all = 0.0, share;
  FmxClassStats blaster, marked;
  const uint64_t n_slots = 100000;
  FmxClassParams params;
  Scene scene;

  (void) state;
  scene_init (&scene, FMX_DISCIPLINE_CBT, 0);
  fmx_class_params_default (&params, FMX_CLASS_THRESHOLD);
  fmx_queue_class_set_params (&scene.classes[2], &params);
  for (uint64_t i = 0; i < n_slots; i++) {
    FmxTime now = i * (FmxTime) slot;

    arrive (&scene, 2, 1000, now);
    arrive (&scene, 2, 1000, now);
    if (i % 20 == 0)
      arrive (&scene, 1, 1000, now);
    /* as many as a window of TCP */
    while (fmx_queue_class_get_length (&scene.classes[0]) < 18
        && arrive (&scene, 0, 1000, now) != FMX_QUEUE_DROP);
    n_blaster += fmx_queue_class_get_length (&scene.classes[2]);
    n_all += fmx_class_queue_get_length (&scene.queue);
    depart (&scene, now);
  }
  fmx_queue_class_get_stats (&scene.classes[2], &blaster);
  fmx_queue_class_get_stats (&scene.classes[1], &marked);
  assert_int_equal (marked.n_dropped_threshold + marked.n_dropped_full, 0);
  assert_true (n_blaster > 1.5 * n_slots && n_blaster < 4.0 * n_slots);
  share = (double) blaster.n_departed / (double) n_slots;
  assert_true (fabs (share - n_blaster / n_all) < 0.02);
}

/* Any packets in any order: the queue's counts are those of a plain list. */
static void
test_counts_are_those_of_the_list (void **state)
{
  (void) state;
  for (uint64_t seed = 0; seed < 30; seed++) {
    Scene scene;
    FmxRng rng;

    fmx_rng_init (&rng, seed);
    scene_init (&scene, (FmxDiscipline) (seed % 3), 40);
    for (FmxTime now = 0; now < 20000; now++) {
      uint32_t n[N_CLASSES] = { 0 };
      uint64_t bytes = 0;

      if (fmx_rng_next (&rng) % 16 < 9)
        arrive (&scene, fmx_rng_next (&rng) % 3, fmx_rng_next (&rng) % 1500,
            now);
      else
        depart (&scene, now);
      if (now % 16 != 0)
        continue;
      for (unsigned i = 0; i < scene.n; i++) {
        unsigned at = (scene.first + i) % N_ELEMENTS (scene.owner);

        n[scene.owner[at]]++;
        bytes += scene.packets[at].bytes;
      }
      assert_int_equal (fmx_class_queue_get_length (&scene.queue), scene.n);
      assert_int_equal (fmx_class_queue_get_bytes (&scene.queue), bytes);
      assert_true (scene.n <= 40);
      for (unsigned i = 0; i < N_CLASSES; i++) {
        FmxClassStats stats;

        fmx_queue_class_get_stats (&scene.classes[i], &stats);
        assert_int_equal (fmx_queue_class_get_length (&scene.classes[i]), n[i]);
        assert_int_equal (stats.n_arrived, stats.n_departed + n[i]
            + stats.n_dropped_full + stats.n_dropped_early
            + stats.n_dropped_threshold);
        assert_true (fmx_queue_class_get_average (&scene.classes[i]) <= 40.0);
      }
      assert_true (fmx_class_queue_get_average (&scene.queue) <= 40.0);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_fifo_drops_what_finds_it_full),
    cmocka_unit_test (test_bytes_are_limited_but_one_packet_always_fits),
    cmocka_unit_test (test_a_class_above_its_threshold_is_dropped),
    cmocka_unit_test (test_red_counts_all_packets_and_cbt_the_class_only),
    cmocka_unit_test (test_what_is_cleared_is_forgotten_and_counted),
    cmocka_unit_test (test_a_threshold_bounds_a_blasters_share),
    cmocka_unit_test (test_counts_are_those_of_the_list),
  };

  return cmocka_run_group_tests_name ("queue/class-queue", tests, NULL, NULL);
}
