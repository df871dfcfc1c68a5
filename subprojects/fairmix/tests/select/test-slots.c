/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-rng.h"
#include "fairmix/select/fmx-slots.h"

#define N 4
#define MS FMX_MSECOND

static FmxSlot storage[N];

static void
open_all (FmxSlots *slots)
{
  fmx_slots_init (slots, storage, N);
  for (uint32_t i = 0; i < N; i++)
    fmx_slots_open (slots, i);
}

/* Packets in a row: who sends when, and the slot that he gets. */
static void
test_who_gets_which_slot (void **state)
{
  const struct
  {
    int64_t at_ms;
    uint32_t ssrc;
    uint32_t slot;
    bool changed;
  } table[] = {
    {0, 1, 0, true},
    {0, 2, 1, true},
    {0, 3, 2, true},
    {20, 1, 0, false},
    {20, 2, 1, false},
    {40, 4, 3, true},
    {40, 1, 0, false},
    {40, 2, 1, false},
    {50, 5, FMX_SLOTS_NONE, true},      /* everybody else has just sent */
    {59, 5, FMX_SLOTS_NONE, true},
    {60, 5, 2, true},           /* the third has been silent for 60 ms */
    {80, 3, FMX_SLOTS_NONE, true},
    {90, 4, 3, false},
    {100, 3, 0, true},          /* silent since 40 ms, and first */
    {150, 2, 1, false},         /* a pause does not cost anybody his slot */
    {5000, 2, 1, false},        /* nor does a long one, if nobody came */
    {5000, 6, 2, true},         /* silent since 60 ms: longer than the others */
  };
  FmxSlots slots;

  (void) state;
  open_all (&slots);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    bool changed;

    assert_int_equal (fmx_slots_take (&slots, table[i].ssrc, &changed,
            (FmxTime) (table[i].at_ms * MS)), table[i].slot);
    assert_true (changed == table[i].changed);
  }
}

/* All voices go into a mix: it need not wait until their slots have been silent for long,
 * only until nothing of theirs is under way. */
static void
test_a_mix_has_a_slot_of_those_in_it_sooner (void **state)
{
  FmxSlots slots;
  bool changed;

  (void) state;
  open_all (&slots);
  for (uint32_t ssrc = 1; ssrc <= N; ssrc++)
    fmx_slots_take (&slots, ssrc, &changed, ssrc * MS);
  fmx_slots_note_mixed (&slots, 2);
  fmx_slots_note_mixed (&slots, 3);
  assert_int_equal (fmx_slots_take (&slots, 9, &changed, 21 * MS),
      FMX_SLOTS_NONE);
  fmx_slots_take (&slots, 2, &changed, 21 * MS);        /* by itself again */
  assert_int_equal (fmx_slots_take (&slots, 9, &changed, 22 * MS),
      FMX_SLOTS_NONE);
  assert_int_equal (fmx_slots_take (&slots, 9, &changed, 23 * MS), 2);
  fmx_slots_note_mixed (&slots, 77);    /* who has none */
}

static void
test_a_closed_slot_is_not_given_away (void **state)
{
  FmxSlots slots;
  bool changed;

  (void) state;
  fmx_slots_init (&slots, storage, N);
  assert_int_equal (fmx_slots_take (&slots, 1, &changed, 0), FMX_SLOTS_NONE);
  fmx_slots_open (&slots, 2);
  assert_int_equal (fmx_slots_take (&slots, 1, &changed, 0), 2);
  fmx_slots_open (&slots, 1);
  fmx_slots_close (&slots, 2);
  assert_int_equal (fmx_slots_take (&slots, 1, &changed, 0), 1);
  assert_true (changed);
}

static void
test_who_is_silent_is_not_said_to_be_there (void **state)
{
  FmxSlots slots;
  uint32_t ssrc;
  bool changed;

  (void) state;
  open_all (&slots);
  assert_false (fmx_slots_get (&slots, 0, &ssrc, 0));
  fmx_slots_take (&slots, 77, &changed, 0);
  assert_true (fmx_slots_get (&slots, 0, &ssrc, 299 * MS));
  assert_int_equal (ssrc, 77);
  assert_false (fmx_slots_get (&slots, 0, &ssrc, 300 * MS));
}

/* As many talkers as slots never lose a packet, however they come and go, as
 * long as one who leaves does so 60 ms before the next one comes. */
static void
test_no_more_talkers_than_slots_always_fit (void **state)
{
  FmxSlots slots;
  FmxRng rng;
  uint32_t talkers[N] = { 1, 2, 3, 4 }, next = 5;

  (void) state;
  fmx_rng_init (&rng, 17);
  open_all (&slots);
  for (FmxTime now = 0; now < 200 * FMX_SECOND; now += 20 * MS) {
    uint32_t held[N];

    if (now % (100 * MS) == 0)
      talkers[fmx_rng_next (&rng) % N] = next++;
    else if (now % (100 * MS) >= 60 * MS)
      for (uint32_t i = 0; i < N; i++) {
        bool changed;

        held[i] = fmx_slots_take (&slots, talkers[i], &changed, now);
        assert_true (held[i] != FMX_SLOTS_NONE);
        for (uint32_t k = 0; k < i; k++)
          assert_true (held[k] != held[i]);
      }
  }
}

/* Who came before is there no longer than if he had come now. */
static void
test_time_may_begin_anew (void **state)
{
  FmxSlots slots;
  uint32_t ssrc;
  bool changed;

  (void) state;
  open_all (&slots);
  for (uint32_t i = 0; i < N; i++)
    fmx_slots_take (&slots, 1 + i, &changed, 3600 * FMX_SECOND);
  assert_int_equal (fmx_slots_take (&slots, 77, &changed, 0), FMX_SLOTS_NONE);
  assert_int_not_equal (fmx_slots_take (&slots, 77, &changed,
          FMX_SLOTS_HURRY), FMX_SLOTS_NONE);
  assert_false (fmx_slots_get (&slots, N - 1, &ssrc, FMX_SLOTS_IDLE));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_who_gets_which_slot),
    cmocka_unit_test (test_a_mix_has_a_slot_of_those_in_it_sooner),
    cmocka_unit_test (test_a_closed_slot_is_not_given_away),
    cmocka_unit_test (test_who_is_silent_is_not_said_to_be_there),
    cmocka_unit_test (test_no_more_talkers_than_slots_always_fit),
    cmocka_unit_test (test_time_may_begin_anew),
  };

  return cmocka_run_group_tests_name ("select/slots", tests, NULL, NULL);
}
