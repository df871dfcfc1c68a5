/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The numbering of tfrcrate's packets (gst/fairrate/gstrtpseqmap.h) */
#include "../gstfairmixcheck.h"

#include "fairrate/gstrtpseqmap.h"

#define SSRC 7u
#define DROPPED (-1)

static gint
pass (GstRtpSeqMap * map, guint32 ssrc, guint16 seq)
{
  GstFairmixRtpHeader header = { ssrc, seq * 160u, seq, 0, 12 };

  return gst_rtp_seq_map_pass (map, &header, seq * FRAME) ? header.seq
      : DROPPED;
}

static void
drop (GstRtpSeqMap * map, guint32 ssrc, guint16 seq)
{
  GstFairmixRtpHeader header = { ssrc, seq * 160u, seq, 0, 12 };

  gst_rtp_seq_map_drop (map, &header, seq * FRAME);
}

static guint16
insert (GstRtpSeqMap * map)
{
  GstFairmixRtpHeader header;
  GstClockTime pts;

  fail_unless (gst_rtp_seq_map_insert (map, &header, &pts));
  return header.seq;
}

/* What goes in, what happens to it, what comes out. */
typedef enum
{ PASS, DROP, INSERT } Action;

typedef struct
{
  Action action;
  gint in;
  gint out;
} Step;

#define MAX_STEPS 12

static const struct
{
  const gchar *claim;
  Step steps[MAX_STEPS];
  guint n;
} tables[] = {
  {"untouched", {{PASS, 5, 5}, {PASS, 6, 6}, {PASS, 9, 9}}, 3},
  {"drops leave no gap",
        {{PASS, 5, 5}, {DROP, 6, 0}, {DROP, 7, 0}, {PASS, 8, 6},
          {PASS, 9, 7}}, 5},
  {"inserts leave no duplicate",
      {{PASS, 5, 5}, {INSERT, 0, 6}, {INSERT, 0, 7}, {PASS, 6, 8}}, 4},
  {"upstream's gap after drops stays",
      {{PASS, 5, 5}, {DROP, 6, 0}, {PASS, 9, 8}}, 3},
  {"upstream's gap among drops goes",
      {{PASS, 5, 5}, {DROP, 6, 0}, {DROP, 9, 0}, {PASS, 10, 6}}, 4},
  {"upstream's reordering stays",
        {{PASS, 5, 5}, {DROP, 6, 0}, {PASS, 8, 7}, {PASS, 7, 6},
          {PASS, 9, 8}}, 5},
  {"upstream's duplicate stays one",
      {{PASS, 5, 5}, {DROP, 6, 0}, {PASS, 7, 6}, {PASS, 7, 6}}, 4},
  {"late for its numbering",
        {{PASS, 5, 5}, {PASS, 7, 7}, {DROP, 8, 0}, {PASS, 6, DROPPED},
          {PASS, 9, 8}}, 5},
  {"late and dropped again",
      {{PASS, 5, 5}, {DROP, 7, 0}, {DROP, 6, 0}, {PASS, 8, 6}}, 4},
  {"wraps", {{PASS, 65535, 65535}, {DROP, 0, 0}, {PASS, 1, 0}}, 3},
  {"begins with a drop", {{DROP, 5, 0}, {PASS, 6, 5}, {PASS, 7, 6}}, 3},
  {"a new numbering upstream goes on",
        {{PASS, 5000, 5000}, {DROP, 5001, 0}, {PASS, 100, 99},
          {PASS, 101, 100}}, 4},
};

GST_START_TEST (test_numbers_are_as_in_the_table)
{
  for (guint t = 0; t < G_N_ELEMENTS (tables); t++) {
    GstRtpSeqMap *map = gst_rtp_seq_map_new (4);

    for (guint i = 0; i < tables[t].n; i++) {
      const Step *step = &tables[t].steps[i];
      gint out = 0;

      if (step->action == PASS)
        out = pass (map, SSRC, step->in);
      else if (step->action == DROP)
        drop (map, SSRC, step->in);
      else
        out = insert (map);
      fail_unless (out == step->out, "%s: step %u: %d, not %d",
          tables[t].claim, i, out, step->out);
    }
    gst_rtp_seq_map_free (map);
  }
}

GST_END_TEST;

/* Whatever is dropped and added, what leaves counts by one; over many wraps. */
GST_START_TEST (test_whatever_happens_the_numbers_go_up_by_one)
{
  GRand *rand = g_rand_new_with_seed (3550);
  GstRtpSeqMap *map = gst_rtp_seq_map_new (4);
  guint16 next_out = 1000;
  guint16 in = 1000;

  for (guint i = 0; i < 200000; i++) {
    switch (g_rand_int_range (rand, 0, 4)) {
      case 0:
        drop (map, SSRC, in++);
        break;
      case 1:
        if (i > 0) {
          fail_unless_equals_int (insert (map), next_out);
          next_out++;
        }
        break;
      default:
        fail_unless_equals_int (pass (map, SSRC, in++), next_out);
        next_out++;
        break;
    }
  }
  gst_rtp_seq_map_free (map);
  g_rand_free (rand);
}

GST_END_TEST;

GST_START_TEST (test_streams_do_not_disturb_each_other)
{
  GstRtpSeqMap *map = gst_rtp_seq_map_new (4);

  fail_unless_equals_int (pass (map, 1, 10), 10);
  fail_unless_equals_int (pass (map, 2, 20), 20);
  fail_if (gst_rtp_seq_map_is_active (map));
  drop (map, 1, 11);
  fail_unless (gst_rtp_seq_map_is_active (map));
  fail_unless_equals_int (pass (map, 2, 21), 21);
  fail_unless_equals_int (insert (map), 22);
  fail_unless_equals_int (pass (map, 1, 12), 11);
  fail_unless_equals_int (pass (map, 2, 22), 23);
  gst_rtp_seq_map_free (map);
}

GST_END_TEST;

GST_START_TEST (test_the_stream_that_was_silent_longest_is_forgotten)
{
  GstRtpSeqMap *map = gst_rtp_seq_map_new (2);

  pass (map, 1, 10);
  drop (map, 1, 11);
  drop (map, 2, 20);
  pass (map, 1, 12);
  pass (map, 3, 30);
  fail_unless_equals_int (pass (map, 1, 13), 12);
  fail_unless_equals_int (pass (map, 2, 21), 21);
  gst_rtp_seq_map_free (map);
}

GST_END_TEST;

static Suite *
rtpseqmap_suite (void)
{
  Suite *suite = suite_create ("rtpseqmap");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_numbers_are_as_in_the_table);
  tcase_add_test (tc, test_whatever_happens_the_numbers_go_up_by_one);
  tcase_add_test (tc, test_streams_do_not_disturb_each_other);
  tcase_add_test (tc, test_the_stream_that_was_silent_longest_is_forgotten);
  return suite;
}

GST_CHECK_MAIN (rtpseqmap);
