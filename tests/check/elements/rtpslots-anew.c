/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rtpslotsrig.h"

/* A talker who keeps the slot begins anew: with timestamps that are hours before, or
 * after, those that the receiver has played. */
GST_START_TEST (test_a_slot_goes_on_when_its_talker_begins_anew)
{
  const guint16 begins[] = { 10, 30000, 60000 };
  Heard before, after;
  Rig rig;

  rig_init (&rig);
  say (&rig, 100, 20000, 0);
  fail_unless (hear (&rig, 0, &before));
  for (guint i = 0; i < G_N_ELEMENTS (begins); i++) {
    for (guint k = 0; k < 3; k++) {
      wait_ms (&rig, 20);
      say (&rig, 100, (guint16) (begins[i] + k), 0);
      fail_unless (hear (&rig, 0, &after));
      fail_unless_equals_int (after.csrc, 100);
      fail_unless_equals_int ((guint16) (after.seq - before.seq), 1);
      fail_unless_equals_int (after.ts - before.ts, TICKS);
      before = after;
    }
  }
  rig_clear (&rig);
}

GST_END_TEST;

/* Neither a pause nor a stall is one. */
GST_START_TEST (test_a_slot_keeps_gaps_and_stalls)
{
  Heard begin, heard;
  Rig rig;

  rig_init (&rig);
  say (&rig, 100, 100, 0);
  fail_unless (hear (&rig, 0, &begin));
  wait_ms (&rig, 20 * 1000);
  say (&rig, 100, 1100, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int ((guint16) (heard.seq - begin.seq), 1000);
  fail_unless_equals_int (heard.ts - begin.ts, 1000 * TICKS);
  wait_ms (&rig, 5000);
  say (&rig, 100, 1101, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.ts - begin.ts, 1001 * TICKS);
  say (&rig, 100, 1099, 0);
  fail_unless (hear (&rig, 0, &heard));
  fail_unless_equals_int (heard.ts - begin.ts, 999 * TICKS);
  rig_clear (&rig);
}

GST_END_TEST;

static Suite *
rtpslots_anew_suite (void)
{
  Suite *suite = suite_create ("rtpslots-anew");
  TCase *tc = tcase_create ("anew");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_a_slot_goes_on_when_its_talker_begins_anew);
  tcase_add_test (tc, test_a_slot_keeps_gaps_and_stalls);
  return suite;
}

GST_CHECK_MAIN (rtpslots_anew);
