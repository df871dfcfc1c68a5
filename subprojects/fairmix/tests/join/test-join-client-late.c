/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-join.h"

/* A client whose thread stood for seconds: all that was due is due at once. */

static Room room;
static Guest guest;

/* Returns: how often the client said @event when it was asked at @now */
static unsigned
count_at (FmxJoinClientEvent event, FmxTime now)
{
  FmxJoinClientResult result;
  unsigned n = 0;

  while (fmx_join_client_on_timeout (&guest.client, &result, now))
    n += result.event == event;
  return n;
}

static void
test_the_end_of_a_session_is_told_however_late (void **state)
{
  (void) state;
  for (unsigned s = 0; s < 12; s++) {
    FmxTime now;

    room_open (&room, "", 1);
    guest_init (&guest, "alice", "", 1, START);
    join (&room, &guest, START);
    now = run (&room, &guest, START + 10 * FMX_SECOND);
    /* nobody answers any more: it tries to join anew, and stands */
    now = run_alone (&guest, now + 3 * FMX_SECOND);
    assert_non_null (fmx_join_client_keys (&guest.client));
    now += (2 + s) * FMX_SECOND + 500 * FMX_MSECOND;
    assert_int_equal (count_at (FMX_JOIN_CLIENT_LEFT, now), 1);
    assert_null (fmx_join_client_keys (&guest.client));
    assert_int_equal (client_stats (&guest.client).n_lost, 1);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_the_end_of_a_session_is_told_however_late),
  };

  return cmocka_run_group_tests_name ("join/client-late", tests, NULL, NULL);
}
