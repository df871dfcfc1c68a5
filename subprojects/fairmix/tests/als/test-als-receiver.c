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
    {229999, 2}, {230000, 3}, {270000, 3},
    /* what is held is kept until the share is a tenth less */
    {207001, 3}, {206999, 2}, {230000, 3}, {144001, 2}, {143999, 1}, {150000, 1}
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
test_a_share_that_changes_is_urgent_once (void **state)
{
  const struct
  {
    uint32_t share_bps;
    bool is_urgent;
  } table[] = {
    {100000, false}, {96000, false}, {90000, true}, {90000, false},
    {94000, false}, {200000, true}, {200000, false}, {100000, true},
  };
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    ask (&receiver, table[i].share_bps, i);
    assert_int_equal (fmx_als_receiver_take_urgent (&receiver),
        table[i].is_urgent);
    assert_false (fmx_als_receiver_take_urgent (&receiver));
  }
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
  bad[0] = good[0];
  bad[2].port = 65535;          /* its RTCP would be nowhere */
  assert_false (fmx_als_receiver_on_layers (&receiver, bad, 3, 0));

  assert_int_equal (fmx_als_receiver_get_n_refused (&receiver), 6);
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

static unsigned
held_at (const FmxAlsReceiver *receiver, double s)
{
  return fmx_als_receiver_get_n_layers (receiver, (FmxTime) (s * FMX_SECOND));
}

/* Reports each 5 s from one second to another, with this loss, and the sender's
 * beside them */
static void
lose (FmxAlsReceiver *receiver, double loss, double from_s, double until_s)
{
  const FmxAlsLayer layers[3] =
      { layer (50000, 2, 1, 5004), layer (50000, 2, 2, 5006),
    layer (50000, 2, 3, 5008)
  };

  for (double s = from_s; s < until_s; s += 5.0) {
    FmxTime now = (FmxTime) (s * FMX_SECOND);

    ask (receiver, 150000, now);
    fmx_als_receiver_on_layers (receiver, layers, 3, now);
    fmx_als_receiver_on_loss (receiver, loss, now);
  }
}

/* R_d says three layers; the link, of which no router knows, carries fewer. */
static void
test_lasting_loss_costs_the_top_layer (void **state)
{
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  lose (&receiver, 0.0, 0, 10);
  lose (&receiver, 0.3, 10, 20);        /* reports at 10, 15 s */
  assert_int_equal (held_at (&receiver, 19), 3);
  lose (&receiver, 0.3, 20, 25);
  assert_int_equal (held_at (&receiver, 20), 2);
  lose (&receiver, 0.3, 25, 40);        /* that was not enough */
  assert_int_equal (held_at (&receiver, 39), 1);
  lose (&receiver, 0.3, 40, 90);        /* and the base is held */
  assert_int_equal (held_at (&receiver, 90), 1);
  assert_int_equal (fmx_als_receiver_get_n_left (&receiver), 2);
}

static void
test_loss_that_passes_costs_nothing (void **state)
{
  FmxAlsReceiver receiver;

  (void) state;
  fmx_als_receiver_init (&receiver);
  for (int i = 0; i < 20; i++) {
    lose (&receiver, 0.3, 15 * i, 15 * i + 10);
    lose (&receiver, 0.04, 15 * i + 10, 15 * i + 15);
    assert_int_equal (held_at (&receiver, 15 * i + 14), 3);
  }
}

static void
test_a_layer_left_is_tried_again_later_and_later (void **state)
{
  FmxAlsReceiver receiver;
  double tried_s[4], left_s = 0.0;
  int n_tried = 0;

  (void) state;
  fmx_als_receiver_init (&receiver);
  lose (&receiver, 0.3, 0, 15);
  left_s = 10.0;
  assert_int_equal (held_at (&receiver, 10), 2);
  for (double s = 15; n_tried < 4; s += 5) {
    unsigned n = held_at (&receiver, s);

    lose (&receiver, n > 2 ? 0.3 : 0.0, s, s + 5);
    if (n > 2 && held_at (&receiver, s) == 2) {
      tried_s[n_tried++] = s - left_s;
      left_s = s;
    }
  }
  /* 30, 60, 120, 240 s, and 10 s until it is seen */
  for (int i = 0; i < 4; i++)
    assert_true (tried_s[i] >= (30 << i) + 10 && tried_s[i] <= (30 << i) + 20);
  /* The link is mended: it comes back, and for good */
  lose (&receiver, 0.0, left_s + 5, left_s + 1000);
  assert_int_equal (held_at (&receiver, left_s + 999), 3);
  assert_int_equal (fmx_als_receiver_next_timeout (&receiver,
          (FmxTime) ((left_s + 1000) * FMX_SECOND)) / FMX_SECOND,
      (FmxTime) (left_s + 995) + 50);
}

/* A share that allowed layers, but not to be held: no router had answered, or the layers
 * had not been heard of for long, so that the base was all there was.  Then one that does
 * not carry all of them does not let them be joined. */
static void
test_what_was_not_held_is_not_kept (void **state)
{
  FmxAlsLayer layers[2] = { layer (90000, 2, 1, 5004), layer (70000, 2, 2, 5006)
  };
  FmxAlsShare wish = {.share_bps = 1000000 };
  FmxAlsReceiver receiver;
  FmxTime now;

  (void) state;
  fmx_als_receiver_init (&receiver);
  fmx_als_receiver_on_layers (&receiver, layers, 2, 0);
  fmx_als_receiver_on_request (&receiver, &wish, 42, 0);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), 1);
  ask (&receiver, 150000, FMX_SECOND);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, FMX_SECOND), 1);

  ask (&receiver, 160000, FMX_SECOND);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, FMX_SECOND), 2);
  for (now = FMX_SECOND; now <= FMX_ALS_RECEIVER_STALE; now += FMX_SECOND)
    ask (&receiver, 150000, now);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, now), 1);
  fmx_als_receiver_on_layers (&receiver, layers, 2, now);
  assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, now), 1);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_layers_are_held_as_the_share_allows),
    cmocka_unit_test (test_what_came_is_returned),
    cmocka_unit_test (test_a_share_that_changes_is_urgent_once),
    cmocka_unit_test (test_who_hears_nothing_any_more_leaves_the_upper_layers),
    cmocka_unit_test (test_a_forged_announcement_is_refused_as_a_whole),
    cmocka_unit_test (test_an_announcement_of_another_base_is_refused),
    cmocka_unit_test (test_a_share_that_no_router_answered_holds_the_base),
    cmocka_unit_test (test_lasting_loss_costs_the_top_layer),
    cmocka_unit_test (test_loss_that_passes_costs_nothing),
    cmocka_unit_test (test_a_layer_left_is_tried_again_later_and_later),
    cmocka_unit_test (test_what_was_not_held_is_not_kept),
  };

  return cmocka_run_group_tests_name ("als/receiver", tests, NULL, NULL);
}
