/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a voice stands for those who listen, while it goes into a mix and comes out. */
#define PATIENT_LEAD_US 5000    /* a voice that is later than that is played later, too */
#include "dpmcheck.h"

#define PERIOD_MS 500           /* alice says something, 200 ms long, each */
#define SAYS "audiotestsrc is-live=true wave=ticks freq=600 volume=0.5 " \
    "tick-interval=500000000 sine-periods-per-tick=120 " \
    "! audio/x-raw,rate=48000,channels=1 ! "
#define LOUD 3000
#define QUIET_SAMPLES 7200      /* before a word: 150 ms */
#define WORDS 3                 /* before and after which a change is heard of */
#define N_CHANGES 2

/* Where the words that somebody hears begin */
typedef struct
{
  Person *person;
  GMutex lock;
  guint n_quiet;
  gdouble begin_ms[WORDS];      /* the latest, within their period */
  guint n;
} Ear;

static void
note_words (GstElement * sink, GstBuffer * buffer, GstPad * pad, gpointer data)
{
  gdouble pts_ms = (gdouble) GST_BUFFER_PTS (buffer) / GST_MSECOND;
  Ear *ear = data;
  GstMapInfo map;
  const gint16 *x;

  gst_buffer_map (buffer, &map, GST_MAP_READ);
  x = (const gint16 *) map.data;
  g_mutex_lock (&ear->lock);
  for (guint i = 0; i < map.size / 4; i++) {
    gboolean loud = ABS (x[2 * i]) + ABS (x[2 * i + 1]) > LOUD;

    if (loud && ear->n_quiet >= QUIET_SAMPLES)
      ear->begin_ms[ear->n++ % WORDS] =
          fmod (pts_ms + i * 1e3 / RATE, PERIOD_MS);
    ear->n_quiet = loud ? 0 : ear->n_quiet + 1;
  }
  g_mutex_unlock (&ear->lock);
  gst_buffer_unmap (buffer, &map);
}

static void
ear_join (Ear * ear, Person * mixer, const gchar * properties)
{
  gchar *line = g_strdup_printf ("dpmclient name=dpm address=127.0.0.1 "
      "server=127.0.0.1:%u latency=60000000 %s" EARS,
      (guint) stat_of (mixer, "port"), properties);
  GstElement *sink;

  memset (ear, 0, sizeof *ear);
  g_mutex_init (&ear->lock);
  ear->person = person_new (line);
  sink = gst_bin_get_by_name (GST_BIN (ear->person->pipeline), "ears");
  g_signal_connect (sink, "handoff", G_CALLBACK (note_words), ear);
  gst_object_unref (sink);
  person_start (ear->person);
  g_free (line);
}

static void
ear_free (Ear * ear)
{
  person_free (ear->person);
  g_mutex_clear (&ear->lock);
}

/* from @a to @b, the short way round */
static gdouble
apart_ms (gdouble a, gdouble b)
{
  return remainder (b - a, PERIOD_MS);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gdouble *) a < *(const gdouble *) b ? -1 : 1;
}

static void
ear_wait_for_words (Ear * ear, guint n_words)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  gboolean all = FALSE;

  while (!all) {
    fail_if (patient_clock_now_us () > end, "nobody says anything");
    g_usleep (LOOK_US);
    g_mutex_lock (&ear->lock);
    all = ear->n >= n_words;
    g_mutex_unlock (&ear->lock);
  }
}

static void
wait_for_words (Ear * ears, guint n, guint n_words)
{
  for (guint i = 0; i < n; i++) {
    g_mutex_lock (&ears[i].lock);
    ears[i].n = 0;
    g_mutex_unlock (&ears[i].lock);
  }
  for (guint i = 0; i < n; i++)
    ear_wait_for_words (&ears[i], n_words);
}

/* Returns: where the latest words began, in the median */
static gdouble
ear_place (Ear * ear)
{
  gdouble first, from_first[WORDS];

  g_mutex_lock (&ear->lock);
  first = ear->begin_ms[0];
  for (guint i = 0; i < WORDS; i++)
    from_first[i] = apart_ms (first, ear->begin_ms[i]);
  g_mutex_unlock (&ear->lock);
  qsort (from_first, WORDS, sizeof from_first[0], compare);
  return first + from_first[WORDS / 2];
}

static Person *
talker_new (Person * mixer, const gchar * name, const gchar * source)
{
  gchar *line = g_strdup_printf ("%s dpmclient name=dpm address=127.0.0.1 "
      "server=127.0.0.1:%u display-name=%s", source,
      (guint) stat_of (mixer, "port"), name);
  Person *talker = person_start (person_new (line));

  g_free (line);
  return talker;
}

/* Those who talk: alice, and two who are mixed for all who take no more than two
 * streams */
typedef struct
{
  Person *alice, *bob, *carol;
} Talkers;

static void
talk (Talkers * talkers, Person * mixer)
{
  talkers->alice = talker_new (mixer, "alice", SAYS);
  talkers->bob = talker_new (mixer, "bob", "audiotestsrc is-live=true "
      "volume=0.005 freq=330 ! audio/x-raw,rate=48000,channels=1 !");
  talkers->carol = talker_new (mixer, "carol", "audiotestsrc is-live=true "
      "volume=0.005 freq=470 ! audio/x-raw,rate=48000,channels=1 !");
}

static void
talkers_free (Talkers * talkers)
{
  person_free (talkers->alice);
  person_free (talkers->bob);
  person_free (talkers->carol);
}

static void
prefer_alice (Person * mixer)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;
  GstElement *mix = gst_bin_get_by_name (GST_BIN (mixer->dpm), "mix");
  GstStructure *s = gst_structure_new ("stream", "priority", G_TYPE_INT, 10,
      NULL);
  guint32 ssrc;

  while ((ssrc = ssrc_of_name (mixer, "alice")) == 0) {
    fail_if (patient_clock_now_us () > end, "alice does not come");
    g_usleep (LOOK_US);
  }
  g_signal_emit_by_name (mix, "set-stream", ssrc, s);
  gst_structure_free (s);
  gst_object_unref (mix);
}

static gboolean
set_max_streams (GstElement * mix, GstPad * pad, gpointer n)
{
  g_object_set (pad, "max-streams", *(guint *) n, NULL);
  return TRUE;
}

/* Alice is separate for all who listen if each gets two streams. */
static void
send_streams (Person * mixer, guint n)
{
  GstElement *mix = gst_bin_get_by_name (GST_BIN (mixer->dpm), "mix");

  gst_element_foreach_src_pad (mix, set_max_streams, &n);
  gst_object_unref (mix);
}

/* By how much a change moves alice at most, for each of @n who listen.  At the first one her
 * place in the mix is not known for sure. */
static void
change (Person * mixer, Ear * ears, guint n, gdouble * moves_ms)
{
  gdouble before[2] = { 0 }, now;

  for (guint k = 0; k <= N_CHANGES; k++) {
    send_streams (mixer, 2 - k % 2);
    wait_for_words (ears, n, 2);        /* what was said before, and the change */
    if (k > 0)
      wait_for_words (ears, n, WORDS);
    for (guint i = 0; k > 0 && i < n; i++) {
      now = ear_place (&ears[i]);
      GST_INFO ("%u, %u: %g ms", k, i, now);
      if (k > 1)
        moves_ms[i] = MAX (moves_ms[i], fabs (apart_ms (before[i], now)));
      before[i] = now;
    }
  }
}

GST_START_TEST (test_a_voice_stays_at_its_place_for_who_aligns)
{
  Person *mixer = mixer_new ("");
  gdouble moves_ms[2] = { 0 };
  Talkers talkers;
  static Ear ears[2];           /* who listens outlives a test that fails */

  talk (&talkers, mixer);
  ear_join (&ears[0], mixer, "align=true");
  ear_join (&ears[1], mixer, "");
  prefer_alice (mixer);
  wait_for_stat (mixer, "n-neighbours", 5);
  change (mixer, ears, 2, moves_ms);
  fail_unless (moves_ms[0] < 5.0, "%g ms", moves_ms[0]);
  fail_unless (moves_ms[1] > 20.0, "%g ms", moves_ms[1]);
  ear_free (&ears[0]);
  ear_free (&ears[1]);
  talkers_free (&talkers);
  person_free (mixer);
}

GST_END_TEST;

/* Where they talk alice is mixed or not; who listens joined the other mixer. */
static void
check_through (Person * talk_at, Person * listen_at)
{
  gdouble move_ms = 0;
  Talkers talkers;
  static Ear ear;

  talk (&talkers, talk_at);
  ear_join (&ear, listen_at, "align=true");
  prefer_alice (talk_at);
  change (talk_at, &ear, 1, &move_ms);
  fail_unless (move_ms < 5.0, "%g ms", move_ms);
  ear_free (&ear);
  talkers_free (&talkers);
}

static Person *
branch_new (Person * root)
{
  gchar *line = g_strdup_printf ("parent=127.0.0.1:%u align=true",
      (guint) stat_of (root, "port"));
  Person *branch = mixer_new (line);

  g_free (line);
  expect_message (branch, "dpm-session", "event", "joined");
  return branch;
}

GST_START_TEST (test_nor_does_it_move_where_the_mixer_above_mixes)
{
  Person *root = mixer_new (""), *branch = branch_new (root);

  check_through (root, branch);
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

GST_START_TEST (test_nor_where_a_branch_mixes)
{
  Person *root = mixer_new (""), *branch = branch_new (root);

  check_through (branch, root);
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

static Suite *
dpmmixer_align_suite (void)
{
  Suite *s = suite_create ("dpmmixer-align");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_a_voice_stays_at_its_place_for_who_aligns);
  tcase_add_test (tc, test_nor_does_it_move_where_the_mixer_above_mixes);
  tcase_add_test (tc, test_nor_where_a_branch_mixes);
  return s;
}

GST_CHECK_MAIN (dpmmixer_align);
