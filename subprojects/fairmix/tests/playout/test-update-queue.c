/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/playout/fmx-update-queue.h"

#define CAPACITY 8

/* items are strings: the key's letter and a number */
static const char *
serve_all (FmxUpdateQueue *queue)
{
  static char served[256];
  char *item;

  served[0] = '\0';
  while ((item = fmx_update_queue_pop (queue)) != NULL)
    strcat (strcat (served, served[0] ? " " : ""), item);
  return served;
}

static void
push_all (FmxUpdateQueue *queue, char **items)
{
  for (; *items; items++)
    fmx_update_queue_push (queue, (uint64_t) (*items)[0], *items);
}

static void
test_without_updates_it_is_a_fifo (void **state)
{
  FmxUpdateQueueEntry storage[CAPACITY];
  FmxUpdateQueue queue;
  char *items[] = { "a1", "b1", "c1", NULL };

  (void) state;
  fmx_update_queue_init (&queue, storage, CAPACITY, FMX_UPDATE_QUEUE_IN_PLACE);
  push_all (&queue, items);
  assert_int_equal (fmx_update_queue_length (&queue), 3);
  assert_string_equal (serve_all (&queue), "a1 b1 c1");
  assert_int_equal (fmx_update_queue_length (&queue), 0);
}

/* [nanoManipulator 3.2] */
static void
test_an_update_goes_to_the_tail_when_asked (void **state)
{
  FmxUpdateQueueEntry storage[CAPACITY];
  FmxUpdateQueue queue;
  char *items[] = { "a1", "b1", "c1", "a2", "b2", "b3", NULL };

  (void) state;
  fmx_update_queue_init (&queue, storage, CAPACITY,
      FMX_UPDATE_QUEUE_MOVE_TO_TAIL);
  push_all (&queue, items);
  assert_string_equal (serve_all (&queue), "c1 a2 b3");
}

static void
test_an_update_takes_the_place_when_asked (void **state)
{
  FmxUpdateQueueEntry storage[CAPACITY];
  FmxUpdateQueue queue;
  char *items[] = { "a1", "b1", "c1", "a2", "b2", "b3", NULL };

  (void) state;
  fmx_update_queue_init (&queue, storage, CAPACITY, FMX_UPDATE_QUEUE_IN_PLACE);
  push_all (&queue, items);
  assert_string_equal (serve_all (&queue), "a2 b3 c1");
}

static void
test_a_full_queue_gives_up_its_oldest (void **state)
{
  FmxUpdateQueueEntry storage[2];
  FmxUpdateQueue queue;

  (void) state;
  fmx_update_queue_init (&queue, storage, 2, FMX_UPDATE_QUEUE_IN_PLACE);
  assert_null (fmx_update_queue_push (&queue, 1, "a1"));
  assert_null (fmx_update_queue_push (&queue, 2, "b1"));
  assert_string_equal (fmx_update_queue_push (&queue, 3, "c1"), "a1");
  assert_string_equal (fmx_update_queue_push (&queue, 2, "b2"), "b1");
  assert_string_equal (serve_all (&queue), "b2 c1");
}

/* Against a plain array that does the same slowly */
static void
test_it_agrees_with_a_slow_one (void **state)
{
  static int numbers[20000];

  (void) state;
  for (int mode = 0; mode < 2; mode++) {
    FmxUpdateQueueEntry storage[16];
    FmxUpdateQueue queue;
    FmxRng rng;
    uint64_t keys[17];
    void *items[17];
    uint32_t n = 0;

    fmx_rng_init (&rng, 7);
    fmx_update_queue_init (&queue, storage, 16, (FmxUpdateQueueMode) mode);
    for (size_t i = 0; i < N_ELEMENTS (numbers); i++) {
      uint64_t key = UINT64_C (0x100000000) * (fmx_rng_next (&rng) % 24);
      void *gone = NULL;
      uint32_t at = 0;

      if (fmx_rng_next_unit (&rng) < 0.4) {
        void *first = n ? items[0] : NULL;

        assert_ptr_equal (fmx_update_queue_pop (&queue), first);
        if (n) {
          n--;
          memmove (keys, keys + 1, n * sizeof keys[0]);
          memmove (items, items + 1, n * sizeof items[0]);
        }
        continue;
      }
      while (at < n && keys[at] != key)
        at++;
      assert_int_equal (fmx_update_queue_contains (&queue, key), at < n);
      if (at < n) {
        gone = items[at];
        if (mode == FMX_UPDATE_QUEUE_MOVE_TO_TAIL) {
          n--;
          memmove (keys + at, keys + at + 1, (n - at) * sizeof keys[0]);
          memmove (items + at, items + at + 1, (n - at) * sizeof items[0]);
          at = n++;
        }
      } else if (n == 16) {
        gone = items[0];
        memmove (keys, keys + 1, 15 * sizeof keys[0]);
        memmove (items, items + 1, 15 * sizeof items[0]);
        at = 15;
      } else {
        at = n++;
      }
      keys[at] = key;
      items[at] = &numbers[i];
      assert_ptr_equal (fmx_update_queue_push (&queue, key, &numbers[i]), gone);
      assert_int_equal (fmx_update_queue_length (&queue), n);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_without_updates_it_is_a_fifo),
    cmocka_unit_test (test_an_update_goes_to_the_tail_when_asked),
    cmocka_unit_test (test_an_update_takes_the_place_when_asked),
    cmocka_unit_test (test_a_full_queue_gives_up_its_oldest),
    cmocka_unit_test (test_it_agrees_with_a_slow_one),
  };

  return cmocka_run_group_tests_name ("playout/update-queue", tests, NULL,
      NULL);
}
