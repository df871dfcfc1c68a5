/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __DPM_CHECK_H__
#define __DPM_CHECK_H__

/* A meeting in one process, over real sockets on loopback, up to four times as fast as
 * real time, at a pace that this machine can keep.  The tests wait for what is to happen,
 * not for seconds. */

#ifndef PATIENT_SPEED
#define PATIENT_WAITS
#define PATIENT_SPEED 4
#endif
#include "dpmclock.h"           /* first */

#include <math.h>
#include <string.h>

#include <gst/check/check.h>

#define RATE 48000
#define HEARD_SAMPLES 4800      /* 100 ms: tones are multiples of 10 Hz */
/* On the clock of the pipelines.  A port sleeps in real time: who is missed after 5 s may
 * be so after PATIENT_SPEED times as many of the clock's. */
#define PATIENCE_US (15 * PATIENT_SPEED * G_USEC_PER_SEC)
#define LOOK_US (20 * 1000)     /* how long we sleep between two looks */

static GList *people;           /* those who are there, who came last first */

/* audiotestsrc volume=0.2 */
#define TONE_DB (-13.98)

typedef struct
{
  GstElement *pipeline;
  GstElement *dpm;

  /* with the lock: the latest audio, in stereo */
  GMutex lock;
  GCond cond;
  gint16 heard[HEARD_SAMPLES][2];
  guint n_heard;                /* since the beginning */
} Person;

static void
on_heard (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  Person *person = data;
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  g_mutex_lock (&person->lock);
  for (gsize i = 0; i < map.size / 4; i++)
    memcpy (person->heard[person->n_heard++ % HEARD_SAMPLES],
        map.data + 4 * i, 4);
  g_cond_signal (&person->cond);
  g_mutex_unlock (&person->lock);
  gst_buffer_unmap (buffer, &map);
}

/* with the lock; Goertzel.  Returns: how loud a tone of @hz is, in dB of a sine
 * of full scale, at both ears together */
static inline gdouble
tone_db (Person * person, guint hz)
{
  gdouble power = 1e-12, w = 2 * G_PI * hz / RATE;

  for (guint ear = 0; ear < 2; ear++) {
    gdouble s1 = 0, s2 = 0;

    for (guint i = 0; i < HEARD_SAMPLES; i++) {
      gdouble x = person->heard[(person->n_heard + i) % HEARD_SAMPLES][ear];
      gdouble s = x / 32768.0 + 2 * cos (w) * s1 - s2;

      s2 = s1;
      s1 = s;
    }
    power += (s1 * s1 + s2 * s2 - 2 * cos (w) * s1 * s2)
        * 4.0 / HEARD_SAMPLES / HEARD_SAMPLES;
  }
  return 10 * log10 (power);
}

#ifndef WIDE_BPS
#define WIDE_BPS 500000
#endif
#define WIDE_FIRST (1 << 7)       /* times as much: it bears seven halvings */

/* How much a path of loopback has room for depends on how busy the machine is.  One
 * acknowledgement that is late halves the rate; below the least rate, or where much is
 * lost, all would stop until a path that is probed has answered, for up to 9 s. */
static void
widen_paths (GstBin * bin, GstBin * sub_bin, GstElement * element, gpointer data)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  if (factory == NULL
      || g_strcmp0 (GST_OBJECT_NAME (factory), "tfrcrate") != 0)
    return;
  g_object_set (element, "loss-limit", 1.0, NULL);
  if (GPOINTER_TO_INT (data))   /* who mixes */
    g_object_set (element, "min-bitrate", WIDE_BPS, "initial-bitrate",
        WIDE_FIRST * WIDE_BPS, NULL);
}

/* @line: of gst-launch, with a dpmclient or dpmmixer "dpm", and perhaps a fakesink
 * "ears".  Unless who mixes has a "max-bitrate" there is room for all, apart. */
static inline Person *
person_new (const gchar * line)
{
  Person *person = g_new0 (Person, 1);
  GError *error = NULL;
  GstElement *ears;
  gboolean mixes;

  if (people == NULL)
    patient_clock_start ();
  people = g_list_prepend (people, person);
  g_mutex_init (&person->lock);
  g_cond_init (&person->cond);
  person->pipeline = gst_parse_launch (line, &error);
  fail_unless (error == NULL, "%s", error != NULL ? error->message : "");
  if (!GST_IS_PIPELINE (person->pipeline)) {    /* one element alone */
    GstElement *alone = person->pipeline;

    person->pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (person->pipeline), alone);
  }
  mixes = strstr (line, "dpmmixer") != NULL || strstr (line, "may-mix") != NULL;
  if (WIDE_BPS > 0 && strstr (line, "max-bitrate") == NULL)
    g_signal_connect (person->pipeline, "deep-element-added",
        G_CALLBACK (widen_paths), GINT_TO_POINTER (mixes));
  person->dpm = gst_bin_get_by_name (GST_BIN (person->pipeline), "dpm");
  ears = gst_bin_get_by_name (GST_BIN (person->pipeline), "ears");
  if (ears != NULL) {
    g_signal_connect (ears, "handoff", G_CALLBACK (on_heard), person);
    gst_object_unref (ears);
  }
  return person;
}

static inline Person *
person_start (Person * person)
{
  fail_if (gst_element_set_state (person->pipeline,
          GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
  return person;
}

static inline void
person_free (Person * person)
{
  gst_element_set_state (person->pipeline, GST_STATE_NULL);
  people = g_list_remove (people, person);
  if (people == NULL)
    patient_clock_stop ();
  gst_object_unref (person->dpm);
  gst_object_unref (person->pipeline);
  g_mutex_clear (&person->lock);
  g_cond_clear (&person->cond);
  g_free (person);
}

/* What a test that failed leaves behind would keep a process without forks from ending,
 * and from saying what failed. */
static inline void
everybody_leaves (void)
{
  while (people != NULL)
    person_free (people->data);
}

#define VOICE "audiotestsrc is-live=true volume=0.2 freq=%u " \
    "! audio/x-raw,rate=48000,channels=1 ! "
#define EARS " ! audio/x-raw,format=S16LE,rate=48000,channels=2 " \
    "! fakesink name=ears signal-handoffs=true sync=true async=false"

static inline guint64
stat_of (Person * person, const gchar * field)
{
  GValue as_number = G_VALUE_INIT;
  GstStructure *stats;
  guint64 n;

  g_object_get (person->dpm, "stats", &stats, NULL);
  g_value_init (&as_number, G_TYPE_UINT64);
  fail_unless (gst_structure_has_field (stats, field), "no %s", field);
  fail_unless (g_value_transform (gst_structure_get_value (stats, field),
          &as_number));
  n = g_value_get_uint64 (&as_number);
  gst_structure_free (stats);
  return n;
}

/* Returns: a number of the partialmix inside */
static inline guint64
mixer_stat_of (Person * person, const gchar * field)
{
  GstElement *mix = gst_bin_get_by_name (GST_BIN (person->dpm), "mix");
  GstStructure *stats;
  guint64 n = 0;

  g_object_get (mix, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, field, &n));
  gst_structure_free (stats);
  gst_object_unref (mix);
  return n;
}

/* Returns: the SSRC of who joined @mixer as @name; 0: there is none */
static inline guint32
ssrc_of_name (Person * mixer, const gchar * name)
{
  GstElement *mix = gst_bin_get_by_name (GST_BIN (mixer->dpm), "mix");
  const GValue *streams;
  GstStructure *stats;
  guint ssrc = 0;

  g_object_get (mix, "stream-stats", &stats, NULL);
  streams = gst_structure_get_value (stats, "streams");
  for (guint i = 0; i < gst_value_array_get_size (streams); i++) {
    const GstStructure *s =
        gst_value_get_structure (gst_value_array_get_value (streams, i));

    if (g_strcmp0 (gst_structure_get_string (s, "cname"), name) == 0)
      gst_structure_get_uint (s, "out-ssrc", &ssrc);
  }
  gst_structure_free (stats);
  gst_object_unref (mix);
  return ssrc;
}

/* Returns: a mixer that is open, on any port; @properties: of dpmmixer */
static inline Person *
mixer_new (const gchar * properties)
{
  gchar *line = g_strdup_printf ("dpmmixer name=dpm address=127.0.0.1 port=0 %s",
      properties);
  Person *mixer = person_start (person_new (line));

  g_free (line);
  return mixer;
}

static inline Person *
client_make (guint port, const gchar * name, guint hz, const gchar * properties)
{
  gchar *line = g_strdup_printf (VOICE "dpmclient name=dpm address=127.0.0.1 "
      "server=127.0.0.1:%u display-name=%s %s" EARS, hz, port, name,
      properties);
  Person *client = person_new (line);

  g_free (line);
  return client;
}

/* Says and hears a tone. */
static inline Person *
client_new (Person * mixer, const gchar * name, guint hz,
    const gchar * properties)
{
  return person_start (client_make ((guint) stat_of (mixer, "port"), name, hz,
          properties));
}

/* Returns: (transfer full): what a person reads, of the one or of a mixer */
static inline gchar *
person_name (Person * person)
{
  gchar *name = NULL;

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (person->dpm),
          "display-name") != NULL)
    g_object_get (person->dpm, "display-name", &name, NULL);
  return name != NULL ? name : gst_object_get_name (GST_OBJECT (person->dpm));
}

/* There are more of them the deeper a structure is. */
static inline void
drop_backslashes (gchar * text)
{
  gchar *to = text;

  for (; *text != 0; text++)
    if (*text != '\\')
      *to++ = *text;
  *to = 0;
}

/* Says what all who are there know, so that a failure that does not come again can be
 * understood. */
static inline void
people_tell (void)
{
  for (GList * l = people; l != NULL; l = l->next) {
    Person *person = l->data;
    gchar *name = person_name (person), *text;
    GstStructure *stats;
    gdouble square = 0;
    guint n_heard;

    g_mutex_lock (&person->lock);
    n_heard = person->n_heard;
    for (guint i = 0; i < HEARD_SAMPLES; i++)
      for (guint ear = 0; ear < 2; ear++)
        square += pow (person->heard[i][ear] / 32768.0, 2) / HEARD_SAMPLES;
    g_mutex_unlock (&person->lock);
    g_printerr ("%s: %u samples heard, the last %d of %.1f dB\n", name, n_heard,
        HEARD_SAMPLES, 10 * log10 (1e-12 + square));
    g_object_get (person->dpm, "stats", &stats, NULL);
    text = gst_structure_to_string (stats);
    drop_backslashes (text);
    g_printerr ("%s: %s\n", name, text);
    g_free (text);
    g_free (name);
    gst_structure_free (stats);
  }
}

/* Waits until @person hears a tone as loud as it was said, or not at all. */
#define wait_for_tone(person, hz, heard) \
    wait_for_tone_at (person, hz, heard, G_STRFUNC, __LINE__)

static inline void
wait_for_tone_at (Person * person, guint hz, gboolean heard,
    const gchar * function, gint line)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  gdouble db = 0;
  gboolean good = FALSE;

  g_mutex_lock (&person->lock);
  while (!good && patient_clock_now_us () < end) {
    g_cond_wait_until (&person->cond, &person->lock,
        g_get_monotonic_time () + LOOK_US);
    db = tone_db (person, hz);
    good = person->n_heard >= HEARD_SAMPLES
        && (heard ? fabs (db - TONE_DB) < 1.5 : db < -50);
  }
  g_mutex_unlock (&person->lock);
  if (!good) {
    gchar *name = person_name (person);

    g_printerr ("%s, line %d: %s and %u Hz\n", function, line, name, hz);
    people_tell ();
    fail ("%s, line %d: for %s the tone of %u Hz has %.1f dB", function, line,
        name, hz, db);
  }
}

/* Waits for an element message with that value.  Returns: (transfer full) */
static inline GstMessage *
wait_for_message (Person * person, const gchar * name, const gchar * field,
    const gchar * value)
{
  GstBus *bus = gst_element_get_bus (person->pipeline);
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  GstMessage *message = NULL;

  while (message == NULL && patient_clock_now_us () < end) {
    message = gst_bus_timed_pop_filtered (bus, LOOK_US * GST_USECOND,
        GST_MESSAGE_ELEMENT);
    if (message != NULL && (!gst_message_has_name (message, name)
            || g_strcmp0 (gst_structure_get_string
                (gst_message_get_structure (message), field), value) != 0))
      g_clear_pointer (&message, gst_message_unref);
  }
  gst_object_unref (bus);
  fail_unless (message != NULL, "no message %s %s=%s", name, field, value);
  return message;
}

static inline void
expect_message (Person * person, const gchar * name, const gchar * field,
    const gchar * value)
{
  gst_message_unref (wait_for_message (person, name, field, value));
}

/* Waits until @person's pipeline posts an error, or a warning, as @type says.
 * Returns: (transfer full) */
static inline GstMessage *
wait_for_complaint (Person * person, GstMessageType type)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  GstBus *bus = gst_element_get_bus (person->pipeline);
  GstMessage *message = NULL;

  while (message == NULL && patient_clock_now_us () < end)
    message = gst_bus_timed_pop_filtered (bus, LOOK_US * GST_USECOND, type);
  gst_object_unref (bus);
  fail_unless (message != NULL);
  return message;
}

/* It knows that all who are there have another secret. */
static inline void
expect_not_authorized (Person * person)
{
  GstMessage *message = wait_for_complaint (person, GST_MESSAGE_ERROR);
  GError *error = NULL;

  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR,
          GST_RESOURCE_ERROR_NOT_AUTHORIZED));
  g_error_free (error);
  gst_message_unref (message);
}

/* Waits until a number in the statistics is at least @least. */
static inline void
wait_for_stat (Person * person, const gchar * field, guint64 least)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;

  while (stat_of (person, field) < least) {
    fail_if (patient_clock_now_us () > end, "%s is %" G_GUINT64_FORMAT, field,
        stat_of (person, field));
    g_usleep (LOOK_US);
  }
}

static inline void
check_no_errors (Person * person)
{
  GstBus *bus = gst_element_get_bus (person->pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  fail_unless (message == NULL, "%s", message != NULL ?
      GST_OBJECT_NAME (GST_MESSAGE_SRC (message)) : "");
  gst_object_unref (bus);
}

#endif /* __DPM_CHECK_H__ */
