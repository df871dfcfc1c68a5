/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "asmp/fmx-test-asmp-sender.h"

static void
test_the_table_of_receivers_begins_with_the_limiting_one (void **state)
{
  FmxAsmpReceiverInfo infos[4];
  Rig rig;

  (void) state;
  rig_init (&rig, FMX_ASMP_FAIR, N_MAX);
  for (uint32_t i = 1; i <= 6; i++) {
    rig_rate (&rig, i, i == 4 ? 100000 : 400000);
    rig.now += FMX_SECOND;
  }
  assert_int_equal (fmx_asmp_sender_get_receivers (&rig.sender, infos, 4,
          rig.now), 4);
  assert_int_equal (infos[0].ssrc, 4);
  assert_int_equal (infos[1].ssrc, 1);
  assert_true (infos[1].silence == 6 * FMX_SECOND);
  assert_true (infos[0].counts && infos[0].has_asmp);
  assert_int_equal (infos[0].rate_bps, 100000);
  rig_clear (&rig);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_table_of_receivers_begins_with_the_limiting_one),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
