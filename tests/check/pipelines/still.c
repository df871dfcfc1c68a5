/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nobody runs while the clock stands still: neither in a loop nor to look
 * whether something has happened.  A laboratory's virtual time stands still as
 * long as somebody runs. */
#include "../gstfairmixcheck.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TALKER "audiotestsrc is-live=true samplesperbuffer=160 ! " \
    "audio/x-raw,rate=8000,channels=1 ! mulawenc ! rtppcmupay "
#define SINK "fakesink async=false sync="

/* All of our elements; the first neighbour hears a mix, the second listens. */
static const gchar *graph = "partialmix name=mix rate=8000 "
    TALKER "ssrc=1 ! mix.sink_0 "
    TALKER "ssrc=2 ! mix.sink_1 "
    "mix.src_2 ! application/x-rtp,encoding-name=PCMU ! tfrcrate ! rtpccfb ! "
    "updatequeue ! qmjitterbuffer ! rtppcmudepay ! mulawdec ! qmstretch ! "
    SINK "true "
    "mix.src_3 ! audio/x-raw,format=S16LE,channels=2 ! " SINK "true";

#define N_WAITS_MAX 1000        /* in a second of 50 packets, by all together */
#define LOOK_US (500 * G_TIME_SPAN_MILLISECOND) /* all get a turn in that */
#define N_LOOKS 40

static gchar *
read_task (const gchar * task, const gchar * file)
{
  gchar *path = g_build_filename ("/proc/self/task", task, file, NULL);
  gchar *text = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  g_free (path);
  return text;
}

/* How often a thread was put on a processor. */
static guint64
turns_of (const gchar * task)
{
  gchar *text = read_task (task, "status");
  gchar **lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  guint64 sum = 0;

  for (gchar ** line = lines; *line != NULL; line++)
    if (strstr (*line, "voluntary_ctxt_switches:") != NULL)
      sum += g_ascii_strtoull (strchr (*line, ':') + 1, NULL, 10);
  g_strfreev (lines);
  g_free (text);
  return sum;
}

/* The ticks that it spent there: behind the name stand the state and numbers,
 * of which the 11th and 12th are the times. */
static guint64
ticks_of (const gchar * task)
{
  gchar *text = read_task (task, "stat");
  const gchar *rest = text != NULL ? strrchr (text, ')') : NULL;
  gulong user = 0, system = 0;

  if (rest != NULL)
    sscanf (rest + 2, "%*c %*s %*s %*s %*s %*s %*s %*s %*s "
        "%*s %*s %lu %lu", &user, &system);
  g_free (text);
  return user + system;
}

/* Returns: (transfer full): that of all threads but this one, by number */
static GHashTable *
activity_new (void)
{
  GHashTable *activity = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
      g_free);
  GDir *tasks = g_dir_open ("/proc/self/task", 0, NULL);
  gchar *own = g_strdup_printf ("%d", (gint) getpid ());
  const gchar *task;

  while ((task = g_dir_read_name (tasks)) != NULL)
    if (g_strcmp0 (task, own) != 0) {
      guint64 *sum = g_new (guint64, 1);

      *sum = turns_of (task) + ticks_of (task);
      g_hash_table_insert (activity, g_strdup (task), sum);
    }
  g_free (own);
  g_dir_close (tasks);
  return activity;
}

/* Updates @activity.  Returns: whether anybody who is there has run since; of who has
 * ended nothing is known. */
static gboolean
somebody_ran (GHashTable ** activity)
{
  GHashTable *now = activity_new ();
  GHashTableIter iter;
  gpointer task, sum;
  gboolean ran = FALSE;

  g_hash_table_iter_init (&iter, now);
  while (g_hash_table_iter_next (&iter, &task, &sum)) {
    const guint64 *before = g_hash_table_lookup (*activity, task);

    ran |= before == NULL || *(guint64 *) sum > *before;
  }
  g_hash_table_unref (*activity);
  *activity = now;
  return ran;
}

/* Whether two looks, a while of real time apart, ever find the same.  Real
 * time it must be: it is about who runs without any other time passing.  A
 * machine that is slow, or stalls, makes it kinder and never a failure. */
static gboolean
comes_to_rest (void)
{
  GHashTable *activity = activity_new ();
  gboolean ran = TRUE;

  for (guint i = 0; i < N_LOOKS && ran; i++) {
    g_usleep (LOOK_US);
    ran = somebody_ran (&activity);
  }
  g_hash_table_unref (activity);
  return !ran;
}

static GstElement *
start (GstTestClock * clock)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (graph, &error);

  fail_unless (error == NULL, "%s", error ? error->message : "");
  gst_pipeline_use_clock (GST_PIPELINE (pipeline), GST_CLOCK (clock));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

GST_START_TEST (test_nobody_runs_while_the_clock_stands_still)
{
  GstTestClock *clock = GST_TEST_CLOCK (gst_test_clock_new ());
  GstElement *pipeline = start (clock);
  GstBus *bus;

  for (guint second = 1; second <= 3; second++) {
    guint n_waits = 0;

    while (gst_clock_get_time (GST_CLOCK (clock)) < second * GST_SECOND) {
      clock_wait_due_within (clock, FRAME);     /* no talker is at work */
      fail_unless (gst_test_clock_crank (clock));
      fail_unless (++n_waits < N_WAITS_MAX, "too many waits in second %u",
          second);
    }
    GST_INFO ("%u waits in second %u", n_waits, second);
    fail_unless (comes_to_rest (), "somebody runs though no time passes");
  }
  bus = gst_element_get_bus (pipeline);
  fail_if (gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR) != NULL);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  gst_object_unref (clock);
}

GST_END_TEST;

/* The measure itself: who looks every few milliseconds is seen, and who never
 * rests, as soon as they have had a turn. */
typedef struct
{
  gint stop;
  gint n_turns;
} Busy;

static gpointer
poll_until (gpointer user_data)
{
  Busy *busy = user_data;

  while (!g_atomic_int_get (&busy->stop)) {
    g_usleep (5 * G_TIME_SPAN_MILLISECOND);
    g_atomic_int_inc (&busy->n_turns);
  }
  return NULL;
}

/* A turn is long enough for the coarse times in "stat". */
static gpointer
spin_until (gpointer user_data)
{
  Busy *busy = user_data;
  struct timespec used;

  while (!g_atomic_int_get (&busy->stop)) {
    clock_gettime (CLOCK_THREAD_CPUTIME_ID, &used);
    g_atomic_int_set (&busy->n_turns, (gint) (used.tv_sec * 20
            + used.tv_nsec / (50 * GST_MSECOND)));
  }
  return NULL;
}

GST_START_TEST (test_who_is_busy_is_seen)
{
  const GThreadFunc functions[] = { poll_until, spin_until };
  Busy busy = { FALSE, 0 };
  GThread *thread = g_thread_new ("busy", functions[__i__], &busy);

  for (guint i = 0; i < 10; i++) {
    GHashTable *activity = activity_new ();
    gint n_turns = g_atomic_int_get (&busy.n_turns);

    /* the first one may have begun before */
    while (g_atomic_int_get (&busy.n_turns) < n_turns + 2)
      g_usleep (G_TIME_SPAN_MILLISECOND);
    fail_unless (somebody_ran (&activity));
    g_hash_table_unref (activity);
  }
  g_atomic_int_set (&busy.stop, TRUE);
  g_thread_join (thread);
  fail_unless (comes_to_rest ());
}

GST_END_TEST;

static Suite *
still_suite (void)
{
  Suite *s = suite_create ("still");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_nobody_runs_while_the_clock_stands_still);
  tcase_add_loop_test (tc, test_who_is_busy_is_seen, 0, 2);
  return s;
}

GST_CHECK_MAIN (still);
