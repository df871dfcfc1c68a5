/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of an element that wakes up at deadlines
 * (gst/common/gstfairmixtimed.h). */

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>
#include <string.h>

#include "common/gstfairmixtimed.h"

typedef struct
{
  GstElement parent;

  GstFairmixLock lock;
  GstFairmixTimed timed;
  gboolean willing;             /* may start */
  GString *story;               /* with the lock */
  GstClockTime called;          /* this, too */
} Alarm;

typedef GstElementClass AlarmClass;

GType alarm_get_type (void);
G_DEFINE_TYPE (Alarm, alarm, GST_TYPE_ELEMENT);
#define ALARM(obj) ((Alarm *) (obj))

static gboolean
alarm_prepare (GstElement * element)
{
  g_string_append (ALARM (element)->story, "prepare ");
  return ALARM (element)->willing;
}

static void
alarm_start (GstElement * element)
{
  fail_if (g_mutex_trylock (&ALARM (element)->lock.mutex));
  g_string_append (ALARM (element)->story, "start ");
}

static void
alarm_disconnect (GstElement * element)
{
  g_string_append (ALARM (element)->story, "disconnect ");
}

static void
alarm_stop (GstElement * element)
{
  fail_if (g_mutex_trylock (&ALARM (element)->lock.mutex));
  fail_if (ALARM (element)->timed.started);
  g_string_append (ALARM (element)->story, "stop ");
}

/* every 10 ms */
static GstClockTime
alarm_on_timeout (gpointer user_data, GstClockTime now)
{
  Alarm *self = ALARM (user_data);
  GstClockTime next;

  gst_fairmix_lock_acquire (&self->lock);
  self->called = gst_fairmix_timed_now (&self->timed);
  next = gst_fairmix_timed_to_clock (&self->timed,
      self->called + 10 * GST_MSECOND);
  gst_fairmix_lock_release (&self->lock);
  return next;
}

static const GstFairmixTimedFuncs alarm_funcs = {
  .name = "alarm",
  .needs = "it rings",
  .prepare = alarm_prepare,
  .start = alarm_start,
  .disconnect = alarm_disconnect,
  .stop = alarm_stop,
  .on_timeout = alarm_on_timeout,
};

static GstStateChangeReturn
alarm_change_state (GstElement * element, GstStateChange transition)
{
  return gst_fairmix_timed_change_state (&ALARM (element)->timed, transition,
      alarm_parent_class);
}

static gboolean
alarm_set_clock (GstElement * element, GstClock * clock)
{
  return gst_fairmix_timed_set_clock (&ALARM (element)->timed, clock,
      alarm_parent_class);
}

static void
alarm_finalize (GObject * object)
{
  gst_fairmix_timed_clear (&ALARM (object)->timed);
  g_string_free (ALARM (object)->story, TRUE);
  gst_fairmix_lock_clear (&ALARM (object)->lock);
  G_OBJECT_CLASS (alarm_parent_class)->finalize (object);
}

static void
alarm_class_init (AlarmClass * klass)
{
  G_OBJECT_CLASS (klass)->finalize = alarm_finalize;
  klass->change_state = alarm_change_state;
  klass->set_clock = alarm_set_clock;
}

static void
alarm_init (Alarm * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->willing = TRUE;
  self->story = g_string_new (NULL);
  gst_fairmix_timed_init (&self->timed, &alarm_funcs, GST_ELEMENT (self),
      &self->lock);
}

/* @shares: the clock's thread with others */
static Alarm *
alarm_new (GstClock * clock, gboolean shares)
{
  Alarm *alarm = gst_object_ref_sink (g_object_new (alarm_get_type (), NULL));

  alarm->timed.shares_thread = shares;
  if (clock != NULL)
    gst_element_set_clock (GST_ELEMENT (alarm), clock);
  return alarm;
}

static void
alarm_free (Alarm * alarm)
{
  gst_element_set_state (GST_ELEMENT (alarm), GST_STATE_NULL);
  gst_object_unref (alarm);
}

/* Returns: what happened since the last call */
static gchar *
take_story (Alarm * alarm)
{
  gchar *story = g_strdup (alarm->story->str);

  g_string_truncate (alarm->story, 0);
  return story;
}

static void
assert_story (Alarm * alarm, GstState state, const gchar * expected)
{
  gchar *story;

  fail_unless_equals_int (gst_element_set_state (GST_ELEMENT (alarm), state),
      GST_STATE_CHANGE_SUCCESS);
  story = take_story (alarm);
  fail_unless_equals_string (story, expected);
  g_free (story);
}

/* Returns: the time that the element saw when the clock shows @time */
static GstClockTime
ring (Alarm * alarm, GstTestClock * clock, GstClockTime time)
{
  GstClockTime called;

  gst_test_clock_wait_for_next_pending_id (clock, NULL);
  gst_test_clock_set_time (clock, time);
  fail_unless (gst_test_clock_crank (clock));
  /* the function has returned when the thread waits again */
  gst_test_clock_wait_for_next_pending_id (clock, NULL);
  gst_fairmix_lock_acquire (&alarm->lock);
  called = alarm->called;
  gst_fairmix_lock_release (&alarm->lock);
  return called;
}

GST_START_TEST (test_starts_once_and_stops_when_nobody_calls_any_more)
{
  GstClock *clock = gst_test_clock_new_with_start_time (GST_SECOND);
  Alarm *alarm = alarm_new (clock, __i__ == 1);

  assert_story (alarm, GST_STATE_PLAYING, "prepare start ");
  assert_story (alarm, GST_STATE_PAUSED, "");
  assert_story (alarm, GST_STATE_PLAYING, "");
  assert_story (alarm, GST_STATE_READY, "disconnect stop ");
  assert_story (alarm, GST_STATE_PLAYING, "prepare start ");
  alarm_free (alarm);
  gst_object_unref (clock);
}

GST_END_TEST;

GST_START_TEST (test_does_not_start_without_a_clock_or_unprepared)
{
  GstBus *bus = gst_bus_new ();
  Alarm *alarm = alarm_new (NULL, FALSE);
  GstMessage *message;
  GError *error;

  gst_element_set_bus (GST_ELEMENT (alarm), bus);
  fail_unless_equals_int (gst_element_set_state (GST_ELEMENT (alarm),
          GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless_equals_string (error->message, "alarm needs a clock: it rings.");
  fail_unless (g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_CLOCK));
  fail_if (alarm->timed.started);
  g_error_free (error);
  gst_message_unref (message);

  gst_element_set_state (GST_ELEMENT (alarm), GST_STATE_NULL);
  alarm->willing = FALSE;
  fail_unless_equals_int (gst_element_set_state (GST_ELEMENT (alarm),
          GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_bus_set_flushing (bus, TRUE);     /* what waits there holds the alarm */
  alarm_free (alarm);
  gst_object_unref (bus);
}

GST_END_TEST;

GST_START_TEST (test_another_clock_neither_turns_time_back_nor_leaps)
{
  GstClock *clock = gst_test_clock_new_with_start_time (GST_SECOND);
  GstClock *other = gst_test_clock_new_with_start_time (90 * GST_SECOND);
  Alarm *alarm = alarm_new (clock, __i__ == 1);

  assert_story (alarm, GST_STATE_PLAYING, "prepare start ");
  fail_unless_equals_uint64 (ring (alarm, GST_TEST_CLOCK (clock),
          GST_SECOND + 10 * GST_MSECOND), GST_SECOND + 10 * GST_MSECOND);
  gst_element_set_clock (GST_ELEMENT (alarm), other);
  fail_unless_equals_uint64 (ring (alarm, GST_TEST_CLOCK (other),
          90 * GST_SECOND + 10 * GST_MSECOND), GST_SECOND + 20 * GST_MSECOND);
  assert_story (alarm, GST_STATE_NULL, "disconnect stop ");
  alarm_free (alarm);
  gst_object_unref (clock);
  gst_object_unref (other);
}

GST_END_TEST;

/* A GstNtpClock does. */
GST_START_TEST (test_a_clock_may_count_from_1900)
{
  const GstClockTime start =
      G_GUINT64_CONSTANT (126) * 365 * 24 * 3600 * GST_SECOND;
  GstClock *clock = gst_test_clock_new_with_start_time (start);
  Alarm *alarm = alarm_new (clock, __i__ == 1);
  GstClockTime next = start;
  GstClockID id;

  assert_story (alarm, GST_STATE_PLAYING, "prepare start ");
  for (guint i = 0; i < 3; i++, next += 10 * GST_MSECOND) {
    if (i == 0 && __i__ == 0)   /* its own thread need not ask the clock for now */
      continue;
    gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), &id);
    fail_unless_equals_uint64 (gst_clock_id_get_time (id), next);
    gst_clock_id_unref (id);
    fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (clock)));
  }
  alarm_free (alarm);
  gst_object_unref (clock);
}

GST_END_TEST;

/* Returns: how many threads have that name */
static guint
count_threads (const gchar * name)
{
  GDir *dir = g_dir_open ("/proc/self/task", 0, NULL);
  const gchar *thread;
  guint n = 0;

  fail_unless (dir != NULL);
  while ((thread = g_dir_read_name (dir)) != NULL) {
    gchar *path = g_strdup_printf ("/proc/self/task/%s/comm", thread);
    gchar *comm = NULL;

    if (g_file_get_contents (path, &comm, NULL, NULL))
      n += strcmp (g_strchomp (comm), name) == 0;
    g_free (comm);
    g_free (path);
  }
  g_dir_close (dir);
  return n;
}

GST_START_TEST (test_who_shares_has_no_thread_and_is_called_as_well)
{
  GstClock *clock = gst_test_clock_new_with_start_time (GST_SECOND);
  Alarm *alarms[10];

  for (guint i = 0; i < G_N_ELEMENTS (alarms); i++) {
    alarms[i] = alarm_new (clock, __i__ == 1);
    assert_story (alarms[i], GST_STATE_PLAYING, "prepare start ");
  }
  if (__i__ == 1)
    fail_unless_equals_int (count_threads ("alarm"), 0);
  for (guint i = 0; i < 1000; i++) {
    gst_test_clock_wait_for_multiple_pending_ids (GST_TEST_CLOCK (clock),
        G_N_ELEMENTS (alarms), NULL);
    fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (clock)));
  }
  for (guint i = 0; i < G_N_ELEMENTS (alarms); i++) {
    gst_element_set_state (GST_ELEMENT (alarms[i]), GST_STATE_NULL);
    fail_unless (alarms[i]->called >= GST_SECOND + 980 * GST_MSECOND);
    alarm_free (alarms[i]);
  }
  fail_unless (gst_test_clock_peek_id_count (GST_TEST_CLOCK (clock)) == 0);
  gst_object_unref (clock);
}

GST_END_TEST;

/* On a clock that runs by itself, and calls while it is being stopped */
GST_START_TEST (test_who_stops_is_not_called_any_more)
{
  GstClock *clock = gst_system_clock_obtain ();

  for (guint i = 0; i < 100; i++) {
    Alarm *alarm = alarm_new (clock, __i__ == 1);

    assert_story (alarm, GST_STATE_PLAYING, "prepare start ");
    gst_fairmix_timed_reschedule (&alarm->timed, 0);
    if (i % 3 == 0)
      g_thread_yield ();
    assert_story (alarm, GST_STATE_NULL, "disconnect stop ");
    alarm_free (alarm);
  }
  gst_object_unref (clock);
}

GST_END_TEST;

static Suite *
timed_suite (void)
{
  Suite *s = suite_create ("timed");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc,
      test_starts_once_and_stops_when_nobody_calls_any_more, 0, 2);
  tcase_add_test (tc, test_does_not_start_without_a_clock_or_unprepared);
  tcase_add_loop_test (tc, test_another_clock_neither_turns_time_back_nor_leaps,
      0, 2);
  tcase_add_loop_test (tc, test_a_clock_may_count_from_1900, 0, 2);
  tcase_add_loop_test (tc, test_who_shares_has_no_thread_and_is_called_as_well,
      0, 2);
  tcase_add_loop_test (tc, test_who_stops_is_not_called_any_more, 0, 2);
  return s;
}

GST_CHECK_MAIN (timed);
