/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What people and strangers do to a meeting, all of it at once, for long.
 *
 *   meeting [--seconds=N] [--seed=N]
 *
 * A dpmmixer, a second one under it, and dpmclients on loopback: they join at
 * either of them, leave, are kicked, muted and given other rates.  The Database is
 * rewritten, statistics are read, and both ports get datagrams that mean nothing.
 *
 * Two people stay, one at each mixer: in any ten seconds the one must have heard the
 * other, of a clock that stands still where the machine does not keep up.  Nothing
 * may take longer than a minute.  Run it in a build with a sanitizer; the seed
 * repeats the sequence of what is done.
 */
#define PATIENT_WAITS
#include "../check/elements/dpmclock.h" /* first */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <stdlib.h>

#include "longrun.h"

#define MAX_GUESTS 5
#define STEP_US 50000
#define CHECK_US (10 * G_USEC_PER_SEC)
#define LOUD 500                /* of 32767; a voice has 6553 */

typedef struct
{
  GRand *rand;
  GstElement *mixers[2];        /* pipelines; the second one is under the first */
  guint ports[2];
  GstElement *talker, *witness; /* pipelines */
  GPtrArray *guests;            /* pipelines */
  GSocket *stranger;
  gchar *database;
  gint n_loud;                  /* atomic: samples that the witness heard */
  LongRun run;
  guint n_checks, n_joined;
} Meeting;

/* ------------------------------------------------------------------ people -- */

static GstElement *
play (gchar * line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  if (!GST_IS_PIPELINE (pipeline)) {
    GstElement *alone = pipeline;

    pipeline = gst_pipeline_new (NULL);
    gst_bin_add (GST_BIN (pipeline), alone);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_free (line);
  return pipeline;
}

static void
leave (gpointer pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static GstElement *
open_mixer (Meeting * meeting, const gchar * parent, guint * port)
{
  GstElement *pipeline = play (g_strdup_printf ("dpmmixer name=dpm "
          "address=127.0.0.1 port=0 secret=soak display-name=mixer "
          "database-location=%s %s",
          meeting->database, parent));
  GstElement *dpm = gst_bin_get_by_name (GST_BIN (pipeline), "dpm");
  GstStructure *stats;

  g_object_get (dpm, "stats", &stats, NULL);
  if (!gst_structure_get_uint (stats, "port", port))
    g_error ("dpmmixer does not say its port");
  gst_structure_free (stats);
  gst_object_unref (dpm);
  return pipeline;
}

static GstElement *
join (Meeting * meeting, guint port, const gchar * source)
{
  return play (g_strdup_printf ("%s ! dpmclient name=dpm address=127.0.0.1 "
          "server=127.0.0.1:%u secret=soak display-name=p%u "
          "! audio/x-raw,format=S16LE,rate=48000,channels=2 "
          "! fakesink name=ears signal-handoffs=true sync=true async=false",
          source, port, meeting->n_joined++));
}

static void
on_heard (GstElement * ears, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  Meeting *meeting = data;
  GstMapInfo map;
  gsize i;
  gint n_loud = 0;

  (void) ears;
  (void) pad;
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  for (i = 0; i + 1 < map.size; i += 2)
    n_loud += ABS ((gint16) GST_READ_UINT16_LE (map.data + i)) > LOUD;
  gst_buffer_unmap (buffer, &map);
  g_atomic_int_add (&meeting->n_loud, n_loud);
}

/* ------------------------------------------------------------ what happens -- */

static GstElement *
any_guest (Meeting * meeting)
{
  guint n = meeting->guests->len;

  return n == 0 ? NULL : g_ptr_array_index (meeting->guests,
      (guint) g_rand_int_range (meeting->rand, 0, (gint) n));
}

/* Guests are silent: the witness is to hear the one who stays. */
static void
come_or_go (Meeting * meeting)
{
  GstElement *guest = any_guest (meeting);

  if (guest != NULL && (meeting->guests->len >= MAX_GUESTS
          || g_rand_boolean (meeting->rand)))
    g_ptr_array_remove (meeting->guests, guest);
  else
    g_ptr_array_add (meeting->guests, join (meeting,
            meeting->ports[g_rand_int_range (meeting->rand, 0, 2)],
            "audiotestsrc is-live=true wave=silence ! audio/x-raw,rate=48000"));
}

static void
set_property (Meeting * meeting)
{
  GstElement *guest = any_guest (meeting);
  GstElement *pipeline = guest != NULL && g_rand_boolean (meeting->rand)
      ? guest : meeting->mixers[g_rand_int_range (meeting->rand, 0, 2)];
  GstElement *dpm = gst_bin_get_by_name (GST_BIN (pipeline), "dpm");

  if (pipeline == guest)
    g_object_set (dpm, "mute", g_rand_boolean (meeting->rand), NULL);
  else
    g_object_set (dpm, "max-bitrate",
        g_rand_int_range (meeting->rand, 0, 2) * 200000, NULL);
  gst_object_unref (dpm);
}

static void
read_stats (Meeting * meeting)
{
  GstElement *guest = any_guest (meeting);
  GstElement *pipeline = guest != NULL && g_rand_boolean (meeting->rand)
      ? guest : meeting->mixers[g_rand_int_range (meeting->rand, 0, 2)];
  GstElement *dpm = gst_bin_get_by_name (GST_BIN (pipeline), "dpm");
  GstStructure *stats;

  g_object_get (dpm, "stats", &stats, NULL);
  gst_structure_free (stats);
  gst_object_unref (dpm);
}

/* Somebody at the first mixer who is a guest: not p0, who talks, nor the mixer. */
static void
kick (Meeting * meeting)
{
  GstElement *dpm = gst_bin_get_by_name (GST_BIN (meeting->mixers[0]), "dpm");
  GstStructure *stats;
  const GValue *all;
  guint i;

  g_object_get (dpm, "stats", &stats, NULL);
  all = gst_structure_get_value (stats, "neighbours");
  for (i = 0; i < gst_value_array_get_size (all); i++) {
    const GstStructure *one =
        gst_value_get_structure (gst_value_array_get_value (all, i));
    const gchar *name = gst_structure_get_string (one, "name");
    guint number;

    if (name != NULL && name[0] == 'p' && !g_str_equal (name, "p0")
        && gst_structure_get_uint (one, "neighbour", &number)) {
      g_signal_emit_by_name (dpm, "kick", number);
      break;
    }
  }
  gst_structure_free (stats);
  gst_object_unref (dpm);
}

static void
flood (Meeting * meeting)
{
  GInetAddress *host = g_inet_address_new_loopback (G_SOCKET_FAMILY_IPV4);
  GSocketAddress *to = g_inet_socket_address_new (host, (guint16)
      meeting->ports[g_rand_int_range (meeting->rand, 0, 2)]);
  gchar datagram[200];
  guint i, k;

  for (i = 0; i < 100; i++) {
    for (k = 0; k < sizeof datagram; k++)
      datagram[k] = (gchar) g_rand_int (meeting->rand);
    if (i & 1)
      datagram[0] = (gchar) 0x80;       /* looks like RTP */
    g_socket_send_to (meeting->stranger, to, datagram,
        (gsize) g_rand_int_range (meeting->rand, 1, sizeof datagram), NULL,
        NULL);
  }
  g_object_unref (to);
  g_object_unref (host);
}

static void
write_database (Meeting * meeting)
{
  gchar *text = g_strdup_printf ("[default]\ngain-db=%d\n[cname:p%d]\n"
      "priority=%d\nmute=%s\n", g_rand_int_range (meeting->rand, -6, 7),
      g_rand_int_range (meeting->rand, 2, 40),
      g_rand_int_range (meeting->rand, -5, 5),
      g_rand_boolean (meeting->rand) ? "true" : "false");

  g_file_set_contents (meeting->database, text, -1, NULL);
  g_free (text);
}

static void
act (Meeting * meeting)
{
  gint what = g_rand_int_range (meeting->rand, 0, 60);

  if (what < 4)
    come_or_go (meeting);
  else if (what < 8)
    set_property (meeting);
  else if (what < 12)
    read_stats (meeting);
  else if (what < 13)
    kick (meeting);
  else if (what < 14)
    flood (meeting);
  else if (what < 15)
    write_database (meeting);
}

/* ---------------------------------------------------------------- the whole -- */

static void
read_all_messages (Meeting * meeting)
{
  guint i;

  long_run_read_messages (meeting->mixers[0], FALSE);
  long_run_read_messages (meeting->mixers[1], FALSE);
  long_run_read_messages (meeting->talker, FALSE);
  long_run_read_messages (meeting->witness, FALSE);
  for (i = 0; i < meeting->guests->len; i++)
    long_run_read_messages (g_ptr_array_index (meeting->guests, i), TRUE);
}

static void
check_witness (Meeting * meeting)
{
  if (g_atomic_int_get (&meeting->n_loud) == 0)
    g_error ("a voice that nobody touched was not heard for ten seconds");
  g_atomic_int_set (&meeting->n_loud, 0);
  meeting->n_checks++;
}

static void
meeting_start (Meeting * meeting, guint seed)
{
  gchar *parent;
  GstElement *ears;

  meeting->rand = g_rand_new_with_seed (seed);
  meeting->guests = g_ptr_array_new_with_free_func (leave);
  meeting->stranger = g_socket_new (G_SOCKET_FAMILY_IPV4,
      G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_UDP, NULL);
  meeting->database = g_strdup_printf ("%s/meeting-%u.ini", g_get_tmp_dir (),
      g_random_int ());
  write_database (meeting);
  meeting->mixers[0] = open_mixer (meeting, "", &meeting->ports[0]);
  parent = g_strdup_printf ("parent=127.0.0.1:%u", meeting->ports[0]);
  meeting->mixers[1] = open_mixer (meeting, parent, &meeting->ports[1]);
  g_free (parent);
  meeting->talker = join (meeting, meeting->ports[0],
      "audiotestsrc is-live=true volume=0.2 ! audio/x-raw,rate=48000");
  meeting->witness = join (meeting, meeting->ports[1],
      "audiotestsrc is-live=true wave=silence ! audio/x-raw,rate=48000");
  ears = gst_bin_get_by_name (GST_BIN (meeting->witness), "ears");
  g_signal_connect (ears, "handoff", G_CALLBACK (on_heard), meeting);
  gst_object_unref (ears);
  long_run_watch (&meeting->run);
}

static void
meeting_stop (Meeting * meeting)
{
  g_ptr_array_unref (meeting->guests);
  leave (meeting->witness);
  leave (meeting->talker);
  leave (meeting->mixers[1]);
  leave (meeting->mixers[0]);
  g_atomic_int_set (&meeting->run.stop, TRUE);
  g_object_unref (meeting->stranger);
  g_rand_free (meeting->rand);
  g_unlink (meeting->database);
  g_free (meeting->database);
}

static void
meeting_run (Meeting * meeting, gint seconds)
{
  gint64 begun_us = patient_clock_now_us ();
  gint64 check_us = begun_us + CHECK_US, say_us = begun_us + MINUTE_US, now_us;

  while ((now_us = patient_clock_now_us ()) < begun_us
      + (gint64) seconds * G_USEC_PER_SEC) {
    act (meeting);
    read_all_messages (meeting);
    g_atomic_int_inc (&meeting->run.progress);
    g_usleep (STEP_US);
    if (now_us >= check_us) {
      check_witness (meeting);
      check_us = patient_clock_now_us () + CHECK_US;
    }
    if (now_us >= say_us) {
      g_print ("%" G_GINT64_FORMAT " s: %d steps, %u checks, %u joined\n",
          (now_us - begun_us) / G_USEC_PER_SEC, meeting->run.progress,
          meeting->n_checks, meeting->n_joined);
      say_us += MINUTE_US;
    }
  }
  if (now_us >= check_us)       /* the last act went on for so long */
    check_witness (meeting);
}

int
main (int argc, char **argv)
{
  static Meeting meeting = {    /* the watch may look at it at the end */
    .run = {.seconds = 15,.seed = 1,.patience_us = MINUTE_US}
  };

  if (!long_run_init (&meeting.run, &argc, &argv))
    return 2;
  patient_clock_start ();
  meeting_start (&meeting, (guint) meeting.run.seed);
  meeting_run (&meeting, meeting.run.seconds);
  meeting_stop (&meeting);
  patient_clock_stop ();
  g_print ("%d steps, %u joined, the voice was heard in all of %u checks\n",
      meeting.run.progress, meeting.n_joined, meeting.n_checks);
  return meeting.n_checks > 0 || meeting.run.seconds < 11 ? 0 : 1;
}
