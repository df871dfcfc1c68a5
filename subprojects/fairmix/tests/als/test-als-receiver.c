/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <string.h>

#include "fairmix/als/fmx-als-receiver.h"

static FmxAlsLayer
layer (uint32_t size_bps, uint8_t third, uint8_t last, uint16_t port)
{
  FmxAlsLayer l = {.size_bps = size_bps,.port = port };

  memset (l.address + 10, 0xff, 2);
  l.address[12] = 239;
  l.address[13] = 1;
  l.address[14] = third;
  l.address[15] = last;
  return l;
}

static void
ask (FmxAlsReceiver *receiver, uint32_t share_bps, FmxTime now)
{
  FmxAlsShare share = {.share_bps = share_bps,.answered = true,
    .utilisation = 0.7,.rate_bps = 5
  };

  fmx_als_receiver_on_request (receiver, &share, 42, now);
}

/* ALS 4.3: base 90, two layers of 70 kbit/s */
static void
test_layers_are_held_as_the_share_allows (void **state)
{
  const struct
  {
    uint32_t share_bps;
    unsigned n;
  } table[] = {
    {0, 1}, {89999, 1}, {90000, 1}, {159999, 1}, {160000, 2}, {180000, 2},
    {229999, 2}, {230000, 3}, {270000, 3}, {150000, 1}
  };
  FmxAlsLayer layers[3] =
      { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006),
    layer (70000, 2, 3, 5008)
  };
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), 1);
  assert_true (fmx_als_receiver_on_layers (&receiver, layers, 3, 0));
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), 1);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    ask (&receiver, table[i].share_bps, i);
    assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, i), table[i].n);
  }
  assert_int_equal (fmx_als_receiver_get_layer (&receiver, 2)->port, 5008);
  assert_null (fmx_als_receiver_get_layer (&receiver, 3));
}

static void
test_what_came_is_returned (void **state)
{
  FmxAlsReceiver receiver;
  FmxAlsShare share;

  (void) state;
  fmx_als_receiver_init (&receiver);
  assert_false (fmx_als_receiver_get_return (&receiver, &share, 0));
  ask (&receiver, 77000, 0);
  assert_true (fmx_als_receiver_get_return (&receiver, &share, FMX_SECOND));
  assert_int_equal (share.share_bps, 77000);
  assert_true (share.answered && share.utilisation == 0.7);
  assert_int_equal (share.media_ssrc, 42);
  assert_int_equal (share.rate_bps, 0);
  assert_false (fmx_als_receiver_get_return (&receiver, &share,
          FMX_ALS_RECEIVER_STALE));
}

static void
test_who_hears_nothing_any_more_leaves_the_upper_layers (void **state)
{
  FmxAlsLayer layers[2] = { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006)
  };
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  fmx_als_receiver_on_layers (&receiver, layers, 2, 0);
  ask (&receiver, 500000, FMX_SECOND);
  assert_int_equal (fmx_als_receiver_next_timeout (&receiver, FMX_SECOND),
      FMX_ALS_RECEIVER_STALE);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver,
          FMX_ALS_RECEIVER_STALE - 1), 2);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver,
          FMX_ALS_RECEIVER_STALE), 1);
  assert_int_equal (fmx_als_receiver_next_timeout (&receiver,
          FMX_ALS_RECEIVER_STALE), FMX_ALS_RECEIVER_STALE + FMX_SECOND);
  assert_true (fmx_als_receiver_next_timeout (&receiver,
          FMX_ALS_RECEIVER_STALE + FMX_SECOND) == FMX_TIME_NONE);
}

/* An announcement must not make anybody join what is not the sender's. */
static void
test_a_forged_announcement_is_refused_as_a_whole (void **state)
{
  FmxAlsLayer good[3] = { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006),
    layer (70000, 2, 3, 5008)
  };
  FmxAlsLayer bad[3];
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  assert_true (fmx_als_receiver_on_layers (&receiver, good, 3, 0));

  memcpy (bad, good, sizeof bad);
  bad[2] = layer (70000, 3, 3, 5008);   /* another network */
  assert_false (fmx_als_receiver_on_layers (&receiver, bad, 3, 0));
  bad[2] = bad[1];              /* the same group twice */
  assert_false (fmx_als_receiver_on_layers (&receiver, bad, 3, 0));
  bad[2] = good[2];
  bad[1].address[12] = 10;      /* a host, not a group */
  assert_false (fmx_als_receiver_on_layers (&receiver, bad, 3, 0));
  bad[1] = good[1];
  bad[0].port = 0;
  assert_false (fmx_als_receiver_on_layers (&receiver, bad, 3, 0));
  assert_false (fmx_als_receiver_on_layers (&receiver, good, 0, 0));

  assert_int_equal (fmx_als_receiver_get_n_refused (&receiver), 5);
  assert_int_equal (fmx_als_receiver_get_layer (&receiver, 2)->port, 5008);
}

/* A forger announces a whole network of his own: it is not where we listen. */
static void
test_an_announcement_of_another_base_is_refused (void **state)
{
  FmxAlsLayer good[2] = { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006)
  };
  FmxAlsLayer forged[2] = { layer (1, 9, 1, 5004), layer (1, 9, 2, 5006) };
  FmxAlsLayer other_port[2] = { layer (1, 2, 1, 5014), layer (1, 2, 2, 5006)
  };
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  fmx_als_receiver_set_base (&receiver, &good[0]);
  assert_false (fmx_als_receiver_on_layers (&receiver, forged, 2, 0));
  assert_false (fmx_als_receiver_on_layers (&receiver, other_port, 2, 0));
  assert_null (fmx_als_receiver_get_layer (&receiver, 0));
  assert_true (fmx_als_receiver_on_layers (&receiver, good, 2, 0));
  fmx_als_receiver_set_base (&receiver, NULL);
  assert_true (fmx_als_receiver_on_layers (&receiver, forged, 2, 0));
}

/* R_d is the sender's own wish then, and says nothing of the path. */
static void
test_a_share_that_no_router_answered_holds_the_base (void **state)
{
  FmxAlsLayer layers[2] = { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006)
  };
  FmxAlsShare wish = {.share_bps = 1000000 };
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  assert_true (fmx_als_receiver_on_layers (&receiver, layers, 2, 0));
  fmx_als_receiver_on_request (&receiver, &wish, 42, 0);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), 1);
  wish.answered = true;
  fmx_als_receiver_on_request (&receiver, &wish, 42, 0);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), 2);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_layers_are_held_as_the_share_allows),
    cmocka_unit_test (test_what_came_is_returned),
    cmocka_unit_test (test_who_hears_nothing_any_more_leaves_the_upper_layers),
    cmocka_unit_test (test_a_forged_announcement_is_refused_as_a_whole),
    cmocka_unit_test (test_an_announcement_of_another_base_is_refused),
    cmocka_unit_test (test_a_share_that_no_router_answered_holds_the_base),
  };

  return cmocka_run_group_tests_name ("als/receiver", tests, NULL, NULL);
}
