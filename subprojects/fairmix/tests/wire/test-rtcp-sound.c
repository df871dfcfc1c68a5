/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "fmx-test.h"

#include "fairmix/wire/fmx-rtcp-sound.h"

/* in memory of just that length, so that a sanitizer sees who reads on */
static bool
is_sound (const uint8_t *data, size_t size)
{
  uint8_t *copy = malloc (size > 0 ? size : 1);
  bool sound;

  if (size > 0)
    memcpy (copy, data, size);
  sound = fmx_rtcp_is_sound (copy, size);
  free (copy);
  return sound;
}

#define BYTES(...) (const uint8_t[]) { __VA_ARGS__ }, \
    sizeof (const uint8_t[]) { __VA_ARGS__ }
#define SSRC(n) 0, 0, 0, n

static const struct
{
  const char *what;
  bool sound;
  const uint8_t *data;
  size_t size;
} cases[] = {
  {"nothing", false, NULL, 0},
  {"an empty report", true, BYTES (0x80, 201, 0, 1, SSRC (1))},
  {"a report without its block", false, BYTES (0x81, 201, 0, 1, SSRC (1))},
  {"a sender report without times", false, BYTES (0x80, 200, 0, 1, SSRC (1))},
  {"a name", true, BYTES (0x81, 202, 0, 2, SSRC (1), 1, 1, 'a', 0)},
  {"two names", true, BYTES (0x82, 202, 0, 5, SSRC (1), 1, 2, 'a', 'b', 0, 0,
            0, 0, SSRC (2), 1, 1, 'c', 0)},
  {"one name of two", false, BYTES (0x82, 202, 0, 2, SSRC (1), 1, 1, 'a', 0)},
  {"a name beyond the end", false, BYTES (0x81, 202, 0, 2, SSRC (1), 1, 200,
            'a', 0)},
  {"a name without its end", false, BYTES (0x81, 202, 0, 2, SSRC (1), 1, 2,
            'a', 'b')},
  {"a private item", true, BYTES (0x81, 202, 0, 3, SSRC (1), 8, 3, 1, 'p', 'v',
            0, 0, 0)},
  {"a private item without a prefix", true, BYTES (0x81, 202, 0, 3, SSRC (1),
            8, 2, 0, 'v', 0, 0, 0, 0)},
  {"a prefix longer than its item", false, BYTES (0x81, 202, 0, 3, SSRC (1), 8,
            3, 3, 'p', 'v', 0, 0, 0)},
  {"a private item of nothing", false, BYTES (0x81, 202, 0, 2, SSRC (1), 8, 0,
            0, 0)},
  {"a chunk that was not announced", false, BYTES (0x81, 202, 0, 4, SSRC (1),
            1, 1, 'a', 0, SSRC (2), 8, 200, 200, 0)},
  {"the same as padding", false, BYTES (0xa1, 202, 0, 5, SSRC (1), 1, 1, 'a',
            0, SSRC (2), 8, 200, 200, 0, 0, 0, 0, 12)},
  {"padding of zeros", true, BYTES (0xa1, 202, 0, 3, SSRC (1), 1, 1, 'a', 0,
            0, 0, 0, 4)},
  {"a goodbye", true, BYTES (0x81, 203, 0, 1, SSRC (1))},
  {"a goodbye with a reason", true, BYTES (0x81, 203, 0, 2, SSRC (1), 3, 'e',
            'n', 'd')},
  {"a reason beyond the end", false, BYTES (0x81, 203, 0, 2, SSRC (1), 4, 'e',
            'n', 'd')},
  {"a goodbye of two, one named", false, BYTES (0x82, 203, 0, 1, SSRC (1))},
  {"an application's", true, BYTES (0x80, 204, 0, 2, SSRC (1), 'T', 'E', 'S',
            'T')},
  {"an application's without a name", false, BYTES (0x80, 204, 0, 1, SSRC (1))},
  {"feedback", true, BYTES (0x81, 205, 0, 3, SSRC (1), SSRC (2), 0, 1, 0, 0)},
  {"feedback about nobody", false, BYTES (0x81, 205, 0, 1, SSRC (1))},
  {"a picture's feedback about nobody", false, BYTES (0x81, 206, 0, 1,
            SSRC (1))},
  {"transport-wide feedback", true, BYTES (0x8f, 205, 0, 5, SSRC (1), SSRC (2),
            0, 1, 0, 1, 0, 0, 0, 0, 0x20, 1, 9, 0)},
  {"a delta short", false, BYTES (0x8f, 205, 0, 5, SSRC (1), SSRC (2), 0, 1, 0,
            3, 0, 0, 0, 0, 0x20, 3, 9, 0)},
  {"congestion control feedback", true, BYTES (0x8b, 205, 0, 2, SSRC (1), 0, 0,
            0, 0)},
  {"the same without its time", false, BYTES (0x8b, 205, 0, 4, SSRC (1),
            SSRC (2), 0, 0, 0, 9, 0, 0, 0, 0)},
  {"an extended report", true, BYTES (0x80, 207, 0, 4, SSRC (1), 4, 0, 0, 2, 0,
            0, 0, 0, 0, 0, 0, 0)},
  {"a block beyond the end", false, BYTES (0x80, 207, 0, 2, SSRC (1), 4, 0, 0,
            2)},
  {"a type that nobody knows", true, BYTES (0x80, 222, 0, 1, 1, 2, 3, 4)},
  {"a sound packet and another", false, BYTES (0x80, 201, 0, 1, SSRC (1), 0x81,
            203, 0, 0)},
};

static void
test_each_packet_holds_what_it_announces (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (is_sound (cases[i].data, cases[i].size) != cases[i].sound)
      fail_msg ("%s", cases[i].what);
  }
}

static void
test_what_is_cut_off_is_not_sound (void **state)
{
  (void) state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    for (size_t size = 0; size < cases[i].size; size++) {
      /* but where the first of two packets ends */
      if (is_sound (cases[i].data, size) && size != 8)
        fail_msg ("%s, %zu bytes of it", cases[i].what, size);
    }
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_each_packet_holds_what_it_announces),
    cmocka_unit_test (test_what_is_cut_off_is_not_sound),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
