/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "fmx-test.h"

#include "fairmix/wire/fmx-rtcp-app.h"

/* Drawn by hand after [RFC3550 6.7]. */
static const uint8_t drawn[] = {
  0x85, 204, 0x00, 0x04,        /* V=2, subtype 5, PT=204, 5 words */
  0x11, 0x22, 0x33, 0x44,       /* SSRC */
  'T', 'E', 'S', 'T',
  1, 2, 3, 4, 5, 6, 7, 8,
};

/* The same with eight bytes of padding. */
static const uint8_t padded[] = {
  0xa5, 204, 0x00, 0x06,
  0x11, 0x22, 0x33, 0x44,
  'T', 'E', 'S', 'T',
  1, 2, 3, 4, 5, 6, 7, 8,
  0, 0, 0, 0, 0, 0, 0, 8,
};

static void
assert_drawn (const FmxRtcpApp *app)
{
  assert_int_equal (app->subtype, 5);
  assert_int_equal (app->ssrc, 0x11223344);
  assert_true (fmx_rtcp_app_is (app, "TEST"));
  assert_false (fmx_rtcp_app_is (app, "TESt"));
  assert_int_equal (app->size, 8);
  assert_memory_equal (app->data, drawn + 12, 8);
}

static void
test_a_packet_drawn_by_hand_reads_as_meant (void **state)
{
  FmxRtcpApp app;

  (void) state;
  assert_true (fmx_rtcp_app_read (&app, drawn, sizeof drawn));
  assert_drawn (&app);
  assert_true (fmx_rtcp_app_read (&app, padded, sizeof padded));
  assert_drawn (&app);
}

static void
test_the_writer_makes_the_same_bytes (void **state)
{
  FmxRtcpApp app = { 5, 0x11223344, {'T', 'E', 'S', 'T'}, drawn + 12, 8 };
  uint8_t data[64];

  (void) state;
  for (size_t size = 0; size < sizeof data; size++) {
    memset (data, 0xa5, sizeof data);
    assert_int_equal (fmx_rtcp_app_write (&app, data, size),
        size < sizeof drawn ? 0 : sizeof drawn);
    for (size_t i = size < sizeof drawn ? 0 : sizeof drawn; i < sizeof data;
        i++)
      assert_int_equal (data[i], 0xa5);
  }
  assert_memory_equal (data, drawn, sizeof drawn);
  /* data that stands at its place already */
  app.data = data + FMX_RTCP_APP_HEADER_BYTES;
  memset (data, 0, FMX_RTCP_APP_HEADER_BYTES);
  assert_int_equal (fmx_rtcp_app_write (&app, data, sizeof data), sizeof drawn);
  assert_memory_equal (data, drawn, sizeof drawn);
}

static void
test_an_empty_packet_is_one (void **state)
{
  FmxRtcpApp app = { 31, 7, {'T', 'E', 'S', 'T'}, NULL, 0 }, again;
  uint8_t data[FMX_RTCP_APP_HEADER_BYTES];

  (void) state;
  assert_int_equal (fmx_rtcp_app_write (&app, data, sizeof data), sizeof data);
  assert_true (fmx_rtcp_app_read (&again, data, sizeof data));
  assert_int_equal (again.subtype, 31);
  assert_int_equal (again.size, 0);
}

static void
test_what_is_cut_short_or_no_app_packet_is_refused (void **state)
{
  uint8_t data[sizeof padded];
  FmxRtcpApp app;

  (void) state;
  for (size_t size = 0; size < sizeof drawn; size++)
    assert_false (fmx_rtcp_app_read (&app, drawn, size));
  for (unsigned type = 0; type < 256; type++) {
    memcpy (data, drawn, sizeof drawn);
    data[1] = (uint8_t) type;
    assert_true (fmx_rtcp_app_read (&app, data, sizeof drawn) == (type == 204));
  }
  for (unsigned length = 0; length < 2; length++) {
    memcpy (data, drawn, sizeof drawn);
    data[3] = (uint8_t) length; /* not even SSRC and name */
    assert_false (fmx_rtcp_app_read (&app, data, sizeof drawn));
  }
  for (unsigned padding = 0; padding < 256; padding++) {
    memcpy (data, padded, sizeof padded);
    data[sizeof padded - 1] = (uint8_t) padding;
    assert_true (fmx_rtcp_app_read (&app, data, sizeof padded)
        == (padding != 0 && padding % 4 == 0 && padding <= 16));
  }
  memcpy (data, drawn, sizeof drawn);
  data[0] = 0x45;               /* version 1 */
  assert_false (fmx_rtcp_app_read (&app, data, sizeof drawn));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_a_packet_drawn_by_hand_reads_as_meant),
    cmocka_unit_test (test_the_writer_makes_the_same_bytes),
    cmocka_unit_test (test_an_empty_packet_is_one),
    cmocka_unit_test (test_what_is_cut_short_or_no_app_packet_is_refused),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
