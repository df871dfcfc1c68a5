/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* timing=tick: queue monitoring to the letter of the paper. */

#include "fairmix/base/fmx-rng.h"
#include "qmjitterbuffercheck.h"

#define N_PACKETS 1500
#define LITERAL "qmjitterbuffer timing=tick threshold=30 length=2 decay=1 " \
    "after-drop=kept max-delay=4000"

/* The paper's FIFO, tick by tick; [nanoManipulator 3.2] */
typedef struct
{
  guint count[64];              /* of position k at [k - 1] */
  guint queue[64];
  guint n;
} Fifo;

static void
fifo_arrival (Fifo * fifo, guint packet)
{
  gboolean exceeded = FALSE;

  for (guint k = 0; k < G_N_ELEMENTS (fifo->count); k++) {
    fifo->count[k] = k < fifo->n ? fifo->count[k] + 1 : 0;
    exceeded |= k + 1 >= 2 && fifo->count[k] > 30;
  }
  if (!exceeded)
    fifo->queue[fifo->n++] = packet;
}

/* @shown: when, of each packet; GST_CLOCK_TIME_NONE: never */
static void
show (const GstClockTime * arrivals, GstClockTime * shown)
{
  Fifo fifo = { {0}, {0}, 0 };
  guint next = 0;

  for (GstClockTime now = arrivals[0]; next < N_PACKETS || fifo.n > 0;
      now += PACKET) {
    for (; next < N_PACKETS && (arrivals[next] == GST_CLOCK_TIME_NONE
            || arrivals[next] <= now); next++) {
      shown[next] = GST_CLOCK_TIME_NONE;
      if (arrivals[next] != GST_CLOCK_TIME_NONE)
        fifo_arrival (&fifo, next);
    }
    if (fifo.n > 0) {
      shown[fifo.queue[0]] = now;
      memmove (fifo.queue, fifo.queue + 1, --fifo.n * sizeof (guint));
    }
  }
}

static void
make_arrivals (GstClockTime * arrivals)
{
  FmxRng rng;
  GstClockTime last = 0;

  fmx_rng_init (&rng, 3);
  for (guint n = 0; n < N_PACKETS; n++) {
    gdouble u = fmx_rng_next_unit (&rng);

    last = MAX (last, sent (n) + (GstClockTime) (u * u * u * u * 200 * MS));
    arrivals[n] = last;
    if (n > 0 && fmx_rng_next_unit (&rng) < 0.1)
      arrivals[n] = GST_CLOCK_TIME_NONE;
  }
}

/* What follows a loss comes out when the inner jitter buffer gives it up. */
static GstBuffer *
pull_after_timers (GstHarness * h)
{
  GstTestClock *clock = gst_harness_get_testclock (h);
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (h)) == NULL) {
    if (gst_test_clock_peek_id_count (clock) > 0)
      gst_harness_crank_single_clock_wait (h);
    else
      g_thread_yield ();
  }
  gst_object_unref (clock);
  return buffer;
}

GST_START_TEST (test_packets_are_played_when_the_papers_fifo_shows_them)
{
  static GstClockTime arrivals[N_PACKETS], shown[N_PACKETS];
  GstHarness *h = harness_new (LITERAL);
  guint n_dropped = 0;

  make_arrivals (arrivals);
  show (arrivals, shown);
  for (guint n = 0; n < N_PACKETS; n++) {
    GstBuffer *buffer;

    if (arrivals[n] == GST_CLOCK_TIME_NONE)
      continue;
    push (h, n, arrivals[n] - sent (n));
    if (shown[n] == GST_CLOCK_TIME_NONE) {
      n_dropped++;
      continue;
    }
    buffer = pull_after_timers (h);
    fail_unless_equals_int (number_of (buffer), n);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), shown[n]);
    gst_buffer_unref (buffer);
  }
  fail_unless (n_dropped > 5);
  fail_unless_equals_uint64 (stat_of (h, "qm-dropped"), n_dropped);
  fail_unless_equals_uint64 (stat_of (h, "qm-shrunk"), n_dropped);
  harness_free (h);
}

GST_END_TEST;

static Suite *
qmjitterbuffer_tick_suite (void)
{
  Suite *s = suite_create ("qmjitterbuffer-tick");
  TCase *tc = tcase_create ("tick");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_packets_are_played_when_the_papers_fifo_shows_them);
  return s;
}

GST_CHECK_MAIN (qmjitterbuffer_tick);
