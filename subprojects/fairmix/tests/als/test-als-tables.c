/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paper's formulas against als_tables.py, which has them from its text. */
#include "fmx-test.h"

#include <math.h>

#include "als/fmx-test-als-tables.h"
#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/als/fmx-als-router.h"
#include "fairmix/als/fmx-als-sender.h"

#define PLACES 64

static FmxAgingSlot slots[PLACES];

static void
assert_near (double value, double expected, double most)
{
  assert_true (fabs (value - expected) <= most);
}

/* [ALS 3.3] Of each receiver AIR_i and r_i */
static void
check_report (FmxAlsSender *sender, const ReportRow *row, FmxTime now)
{
  const FmxAlsReport report = {.ssrc = row->receiver,
    .share_bps = row->share_bps,.utilisation = row->utilisation,
    .loss = row->loss,.answered = true
  };
  const FmxAlsSenderReceiver *receiver;

  fmx_als_sender_on_report (sender, &report, now);
  receiver = fmx_als_sender_get_receiver (sender, row->receiver);
  assert_near (receiver->increase_bps, row->increase_bps, 1e-3);
  assert_near (receiver->rate_bps, row->rate_bps, 1e-3);
}

/* [ALS 3.3, 3.4] The base is the least r_i, what is above is shared by the others; the
 * sizes that are told come of R_d in the same way.  In whole bits per second */
static void
check_point (const FmxAlsSender *sender, const PointRow *row)
{
  for (unsigned i = 0; i < 3; i++) {
    assert_near (fmx_als_sender_get_rate_bps (sender, i),
        i == 0 ? row->base_bps : row->upper_bps, 1.0);
    assert_near (fmx_als_sender_get_size_bps (sender, i),
        i == 0 ? row->base_size_bps : row->upper_size_bps, 1.0);
  }
}

static void
test_rates_and_layers_are_the_paper_s (void **state)
{
  static FmxAlsSenderReceiver receivers[PLACES];
  const ReportRow *row = report_rows, *end = row + N_ELEMENTS (report_rows);
  FmxAlsSenderParams params;
  FmxAlsSender sender;

  (void) state;
  fmx_als_sender_params_default (&params);
  fmx_als_sender_init (&sender, &params, slots, receivers, PLACES, 1, 0);
  for (unsigned point = 0; point < N_ELEMENTS (point_rows); point++) {
    FmxTime now = point * (FmxTime) params.interval + FMX_SECOND;

    for (; row < end && row->point == point; row++)
      check_report (&sender, row, now++);
    assert_true (fmx_als_sender_on_timeout (&sender,
            (point + 1) * (FmxTime) params.interval));
    check_point (&sender, &point_rows[point]);
  }
  assert_ptr_equal (row, end);
}

static FmxAlsLayer
layer (uint32_t size_bps, uint8_t last)
{
  FmxAlsLayer l = {.size_bps = size_bps,.port = 5004,
    .address = {[10] = 0xff,[11] = 0xff,[12] = 239,[13] = 1,[15] = last}
  };

  return l;
}

/* [ALS 3.4] As many layers as have no more than R_d together, and the basic one */
static void
test_layers_are_held_as_the_paper_says (void **state)
{
  (void) state;
  for (size_t i = 0; i < N_ELEMENTS (held_rows); i++) {
    const HeldRow *row = &held_rows[i];
    const FmxAlsLayer layers[3] = { layer (row->size0_bps, 1),
      layer (row->size1_bps, 2), layer (row->size2_bps, 3)
    };
    const FmxAlsShare share = {.share_bps = row->share_bps,.answered = true };
    FmxAlsReceiver receiver;

    fmx_als_receiver_init (&receiver);
    assert_true (fmx_als_receiver_on_layers (&receiver, layers, 3, 0));
    fmx_als_receiver_on_request (&receiver, &share, 42, 0);
    assert_int_equal (fmx_als_receiver_get_n_layers (&receiver, 0), row->n);
  }
}

/* [ALS 3.1] R_f = b U_l / n, of those that were there in the last second, and how much of
 * the link they used */
static void
test_a_router_s_share_is_the_paper_s (void **state)
{
  static FmxAlsConnection connections[PLACES];
  const PacketRow *row = packet_rows, *end = row + N_ELEMENTS (packet_rows);
  FmxAlsRouterParams params;
  FmxAlsRouter router;

  (void) state;
  fmx_als_router_params_default (&params);
  fmx_als_router_init (&router, &params, slots, connections, PLACES, 9, 0);
  for (unsigned second = 0; second < N_ELEMENTS (second_rows); second++) {
    const SecondRow *expected = &second_rows[second];
    FmxTime begin = second * (FmxTime) FMX_SECOND;

    for (; row < end && row->second == second; row++)
      for (unsigned twice = 0; twice < 2; twice++)
        fmx_als_router_on_packet (&router, row->connection, row->bytes,
            begin + row->connection);
    assert_near (fmx_als_router_get_share_bps (&router, begin + FMX_SECOND),
        expected->share_bps, 1e-3);
    assert_near (fmx_als_router_get_utilisation (&router, begin + FMX_SECOND),
        expected->utilisation, 1e-9);
    assert_int_equal (fmx_als_router_get_n_connections (&router,
            begin + FMX_SECOND), expected->n);
  }
  assert_ptr_equal (row, end);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_rates_and_layers_are_the_paper_s),
    cmocka_unit_test (test_layers_are_held_as_the_paper_says),
    cmocka_unit_test (test_a_router_s_share_is_the_paper_s),
  };

  return cmocka_run_group_tests_name ("als/tables", tests, NULL, NULL);
}
