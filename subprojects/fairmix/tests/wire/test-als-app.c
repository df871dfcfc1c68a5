/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include <math.h>
#include <string.h>

#include "fairmix/base/fmx-rng.h"
#include "fairmix/wire/fmx-als-app.h"

/* Drawn by hand after the header's picture: 300 kbit/s, U = 0.75, answered */
static const uint8_t request[FMX_ALS_SHARE_BYTES] = {
  1, 0x80, 0x60, 0x00,
  0, 0x04, 0x93, 0xe0,
  0, 0x01, 0x86, 0xa0,
  0, 0, 0, 0
};

static void
test_a_request_reads_as_it_is_drawn (void **state)
{
  FmxAlsShare share;
  uint8_t data[FMX_ALS_SHARE_BYTES];

  (void) state;
  assert_true (fmx_als_share_read (&share, request, sizeof request));
  assert_int_equal (share.share_bps, 300000);
  assert_true (share.utilisation == 0.75);
  assert_true (share.answered);
  assert_int_equal (share.rate_bps, 100000);
  assert_int_equal (share.media_ssrc, 0);
  assert_int_equal (fmx_als_share_write (&share, data, sizeof data),
      sizeof data);
  assert_memory_equal (data, request, sizeof data);
}

static void
test_any_share_survives_the_way (void **state)
{
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 6);
  for (int i = 0; i < 10000; i++) {
    uint8_t data[FMX_ALS_SHARE_BYTES];
    FmxAlsShare out, in = {
      .share_bps = fmx_rng_next (&rng),
      .utilisation = 1.99 * fmx_rng_next_unit (&rng),
      .answered = fmx_rng_next (&rng) % 2,
      .rate_bps = fmx_rng_next (&rng),
      .media_ssrc = fmx_rng_next (&rng),
    };

    fmx_als_share_write (&in, data, sizeof data);
    assert_true (fmx_als_share_read (&out, data, sizeof data));
    assert_true (out.share_bps == in.share_bps && out.rate_bps == in.rate_bps
        && out.media_ssrc == in.media_ssrc && out.answered == in.answered);
    assert_true (fabs (out.utilisation - in.utilisation) <= 1.0 / 65536);
  }
}

/* ALS 3.1: R_d >= R_f: both fields are this router's; else neither */
static void
test_a_router_cuts_what_asks_for_more_than_is_fair (void **state)
{
  uint8_t data[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share = {.share_bps = 300000,.rate_bps = 5 };

  (void) state;
  fmx_als_share_write (&share, data, sizeof data);
  assert_false (fmx_als_request_cut (data, sizeof data, 300001.0, 0.4));
  fmx_als_share_read (&share, data, sizeof data);
  assert_true (share.answered && share.share_bps == 300000);
  assert_true (fmx_als_request_cut (data, sizeof data, 300000.0, 0.4));
  assert_true (fmx_als_request_cut (data, sizeof data, 90000.7, 0.9));
  assert_false (fmx_als_request_cut (data, sizeof data, 250000.0, 0.5));
  fmx_als_share_read (&share, data, sizeof data);
  assert_true (share.answered && share.share_bps == 90000);
  assert_true (fabs (share.utilisation - 0.9) < 0.0001);
  assert_int_equal (share.rate_bps, 5);
}

/* A sender report, a request, and what an SRTCP sender puts behind them */
static void
test_requests_are_cut_in_a_datagram_and_nothing_else_is_touched (void **state)
{
  enum
  { REPORT = 28, APP = 12 + FMX_ALS_SHARE_BYTES, TRAILER = 4 };
  static const uint8_t app[] =
      { 0x81, 204, 0, 6, 0, 0, 0, 7, 'A', 'L', 'S', ' ' };
  uint8_t data[REPORT + APP + TRAILER], copy[sizeof data];
  FmxAlsShare share = {.share_bps = 300000 };

  (void) state;
  memset (data, 0x5a, sizeof data);
  data[0] = 0x80;
  data[1] = 200;
  data[2] = 0;
  data[3] = REPORT / 4 - 1;
  memcpy (data + REPORT, app, sizeof app);
  fmx_als_share_write (&share, data + REPORT + 12, FMX_ALS_SHARE_BYTES);
  memcpy (copy, data, sizeof data);

  assert_int_equal (fmx_als_rtcp_cut (data, sizeof data, 90000.0, 0.5), 1);
  assert_int_equal (fmx_als_rtcp_count (data, sizeof data), 1);
  assert_memory_equal (data, copy, REPORT + 12);
  assert_memory_equal (data + REPORT + 12 + 8, copy + REPORT + 12 + 8,
      FMX_ALS_SHARE_BYTES - 8 + TRAILER);
  fmx_als_share_read (&share, data + REPORT + 12, FMX_ALS_SHARE_BYTES);
  assert_true (share.answered && share.share_bps == 90000);
  assert_int_equal (fmx_als_rtcp_cut (data, sizeof data, 95000.0, 0.5), 0);
  assert_int_equal (fmx_als_rtcp_count (data, sizeof data), 1);
  for (size_t size = 0; size < REPORT + APP; size++) {
    assert_int_equal (fmx_als_rtcp_cut (copy, size, 1.0, 0.5), 0);
    assert_int_equal (fmx_als_rtcp_count (copy, size), 0);
  }
}

/* The same with an authentication tag: of ten bytes, of four, or with a key's name */
static void
test_what_is_authenticated_is_left_alone (void **state)
{
  enum
  { APP = 12 + FMX_ALS_SHARE_BYTES, INDEX = 4, MOST_TAG = 16 };
  static const uint8_t app[] =
      { 0x81, 204, 0, 6, 0, 0, 0, 7, 'A', 'L', 'S', ' ' };
  uint8_t data[APP + INDEX + MOST_TAG] = { 0 }, copy[sizeof data];
  FmxAlsShare share = {.share_bps = 300000 };

  (void) state;
  memcpy (data, app, sizeof app);
  fmx_als_share_write (&share, data + 12, FMX_ALS_SHARE_BYTES);
  memcpy (copy, data, sizeof data);
  for (size_t tag = 1; tag <= MOST_TAG; tag++) {
    assert_int_equal (fmx_als_rtcp_count (data, APP + INDEX + tag), 0);
    assert_int_equal (fmx_als_rtcp_cut (data, APP + INDEX + tag, 1.0, 0.5), 0);
    assert_memory_equal (data, copy, sizeof data);
  }
  assert_int_equal (fmx_als_rtcp_cut (data, APP + INDEX, 1.0, 0.5), 1);
}

static void
test_values_out_of_range_are_cut (void **state)
{
  uint8_t data[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share = {.share_bps = UINT32_MAX,.utilisation = 7.0 };

  (void) state;
  fmx_als_share_write (&share, data, sizeof data);
  fmx_als_share_read (&share, data, sizeof data);
  assert_true (share.utilisation > 1.9 && share.utilisation < 2.0);
  share.utilisation = NAN;
  fmx_als_share_write (&share, data, sizeof data);
  fmx_als_share_read (&share, data, sizeof data);
  assert_true (share.utilisation == 0.0);
  assert_true (fmx_als_request_cut (data, sizeof data, -5.0, 0.5));
  fmx_als_share_read (&share, data, sizeof data);
  assert_int_equal (share.share_bps, 0);
}

static void
test_layers_survive_the_way_and_what_is_malformed_does_not (void **state)
{
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS], out[FMX_ALS_MAX_LAYERS];
  uint8_t data[FMX_ALS_LAYERS_BYTES (FMX_ALS_MAX_LAYERS)];

  (void) state;
  memset (layers, 0, sizeof layers);
  for (unsigned n = 1; n <= FMX_ALS_MAX_LAYERS; n++) {
    layers[n - 1].size_bps = 1000 * n;
    layers[n - 1].port = (uint16_t) (5002 + 2 * n);
    layers[n - 1].address[0] = 0xff;
    layers[n - 1].address[15] = (uint8_t) n;
    assert_int_equal (fmx_als_layers_write (layers, n, data, sizeof data),
        FMX_ALS_LAYERS_BYTES (n));
    assert_int_equal (fmx_als_layers_read (out, data, FMX_ALS_LAYERS_BYTES (n)),
        n);
    for (unsigned i = 0; i < n; i++)
      assert_true (out[i].size_bps == layers[i].size_bps
          && out[i].port == layers[i].port
          && memcmp (out[i].address, layers[i].address, 16) == 0);
    for (size_t size = 0; size < FMX_ALS_LAYERS_BYTES (n); size++)
      assert_int_equal (fmx_als_layers_read (out, data, size), 0);
  }
  data[1] = FMX_ALS_MAX_LAYERS + 1;
  assert_int_equal (fmx_als_layers_read (out, data, sizeof data), 0);
  data[1] = 1;
  data[0] = 2;
  assert_int_equal (fmx_als_layers_read (out, data, sizeof data), 0);
}

static void
test_a_group_is_told_from_a_host (void **state)
{
  const struct
  {
    uint8_t address[16];
    uint16_t port;
    bool group;
  } table[] = {
    {{[10] = 0xff, 0xff, 239, 1, 1, 1}, 5004, true},
    {{[10] = 0xff, 0xff, 224, 0, 0, 1}, 5004, true},
    {{[10] = 0xff, 0xff, 240, 0, 0, 1}, 5004, false},
    {{[10] = 0xff, 0xff, 192, 168, 1, 1}, 5004, false},
    {{[10] = 0xff, 0xff, 239, 1, 1, 1}, 0, false},
    {{0xff, 0x02,[15] = 1}, 5004, true},
    {{0x20, 0x01,[15] = 1}, 5004, false},
    {{0}, 5004, false},
  };

  (void) state;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    FmxAlsLayer layer = {.port = table[i].port };

    memcpy (layer.address, table[i].address, sizeof layer.address);
    assert_true (fmx_als_layer_is_multicast (&layer) == table[i].group);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_request_reads_as_it_is_drawn),
    cmocka_unit_test (test_any_share_survives_the_way),
    cmocka_unit_test (test_a_router_cuts_what_asks_for_more_than_is_fair),
    cmocka_unit_test
        (test_requests_are_cut_in_a_datagram_and_nothing_else_is_touched),
    cmocka_unit_test (test_what_is_authenticated_is_left_alone),
    cmocka_unit_test (test_values_out_of_range_are_cut),
    cmocka_unit_test
        (test_layers_survive_the_way_and_what_is_malformed_does_not),
    cmocka_unit_test (test_a_group_is_told_from_a_host),
  };

  return cmocka_run_group_tests_name ("wire/als-app", tests, NULL, NULL);
}
