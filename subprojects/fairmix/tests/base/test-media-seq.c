/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test.h"

#include "fairmix/base/fmx-media-seq.h"
#include "fairmix/base/fmx-rng.h"

static FmxMediaSeq numbers;

static void
test_what_has_no_media_leaves_no_gap (void **state)
{
  (void) state;
  fmx_media_seq_init (&numbers);
  assert_int_equal (fmx_media_seq_pass (&numbers, 65533), 65533);
  fmx_media_seq_leave_out (&numbers, 65534);
  fmx_media_seq_leave_out (&numbers, 65535);
  fmx_media_seq_leave_out (&numbers, 0);
  assert_int_equal (fmx_media_seq_peek (&numbers, 1), 65534);
  assert_int_equal (fmx_media_seq_pass (&numbers, 1), 65534);
  assert_int_equal (fmx_media_seq_pass (&numbers, 2), 65535);
  assert_int_equal (fmx_media_seq_pass (&numbers, 2), 65535);
}

static void
test_a_loss_stays_a_gap (void **state)
{
  (void) state;
  fmx_media_seq_init (&numbers);
  assert_int_equal (fmx_media_seq_pass (&numbers, 10), 10);
  fmx_media_seq_leave_out (&numbers, 12);       /* 11 is lost, or late */
  assert_int_equal (fmx_media_seq_pass (&numbers, 13), 12);
  assert_int_equal (fmx_media_seq_pass (&numbers, 15), 14);
}

static void
test_what_is_late_has_the_number_that_it_would_have_had (void **state)
{
  (void) state;
  fmx_media_seq_init (&numbers);
  assert_int_equal (fmx_media_seq_pass (&numbers, 10), 10);
  fmx_media_seq_leave_out (&numbers, 12);
  fmx_media_seq_leave_out (&numbers, 13);
  assert_int_equal (fmx_media_seq_pass (&numbers, 14), 12);
  assert_int_equal (fmx_media_seq_pass (&numbers, 11), 11);
  fmx_media_seq_leave_out (&numbers, 16);
  assert_int_equal (fmx_media_seq_pass (&numbers, 17), 14);
  assert_int_equal (fmx_media_seq_pass (&numbers, 15), 13);
}

static void
test_a_lie_moves_nothing (void **state)
{
  (void) state;
  fmx_media_seq_init (&numbers);
  fmx_media_seq_leave_out (&numbers, 9);        /* before all media */
  assert_int_equal (fmx_media_seq_pass (&numbers, 10), 10);
  fmx_media_seq_leave_out (&numbers, 10);       /* it was there */
  fmx_media_seq_leave_out (&numbers, 11 + FMX_MEDIA_SEQ_AHEAD);
  fmx_media_seq_leave_out (&numbers, 40000);
  assert_int_equal (fmx_media_seq_pass (&numbers, 11), 11);
}

/* A tenth are trains of probes; media are lost, or up to five places late. */
static void
test_all_have_the_number_that_they_would_have_had (void **state)
{
  unsigned seq = 60000, media = 60000, late = 0, late_media = 0;
  FmxRng rng;

  (void) state;
  fmx_rng_init (&rng, 3);
  fmx_media_seq_init (&numbers);
  assert_int_equal (fmx_media_seq_pass (&numbers, (uint16_t) seq++), media++);
  for (unsigned n = 0; n < 200000; n++, seq++) {
    double chance = fmx_rng_next_unit (&rng);

    if (n % 100 < 10) {
      fmx_media_seq_leave_out (&numbers, (uint16_t) seq);
      continue;
    }
    if (chance < 0.05 && late == 0) {
      late = seq;
      late_media = media;
    } else if (chance >= 0.1) {
      assert_int_equal (fmx_media_seq_pass (&numbers, (uint16_t) seq),
          (uint16_t) media);
    }
    if (late != 0 && seq >= late + 5) {
      assert_int_equal (fmx_media_seq_pass (&numbers, (uint16_t) late),
          (uint16_t) late_media);
      late = 0;
    }
    media++;
  }
}

/* A rate that is filled up with padding: each second packet, and media that come @late places
 * late have passed many of them */
static void
fill (unsigned late)
{
  const unsigned begin = 65400;

  fmx_media_seq_init (&numbers);
  for (unsigned n = 0; n < 400; n++) {
    unsigned seq = begin + n;

    if (n % 2 == 1)
      fmx_media_seq_leave_out (&numbers, (uint16_t) seq);
    else if (n % 80 != 40)
      assert_int_equal (fmx_media_seq_pass (&numbers, (uint16_t) seq),
          (uint16_t) (begin + n / 2));
    if (n >= late && (n - late) % 80 == 40)
      assert_int_equal (fmx_media_seq_pass (&numbers, (uint16_t) (seq - late)),
          (uint16_t) (begin + (n - late) / 2));
  }
}

static void
test_who_is_passed_by_much_padding_has_his_number (void **state)
{
  (void) state;
  for (unsigned late = 1; late < FMX_MEDIA_SEQ_LATE; late++)
    fill (late);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_what_has_no_media_leaves_no_gap),
    cmocka_unit_test (test_a_loss_stays_a_gap),
    cmocka_unit_test (test_what_is_late_has_the_number_that_it_would_have_had),
    cmocka_unit_test (test_a_lie_moves_nothing),
    cmocka_unit_test (test_who_is_passed_by_much_padding_has_his_number),
    cmocka_unit_test (test_all_have_the_number_that_they_would_have_had),
  };

  return cmocka_run_group_tests_name ("base/media-seq", tests, NULL, NULL);
}
