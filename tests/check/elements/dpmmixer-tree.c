/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Mixers that join mixers. */
#include "dpmcheck.h"
#include "dpmpause.h"
#include "dpmrelay.h"
#include "dpmresolver.h"

#include <glib/gstdio.h>
#include <gst/rtp/rtp.h>

static Person *
child_of (Person * parent, const gchar * properties)
{
  gchar *line = g_strdup_printf ("parent=127.0.0.1:%u %s",
      (guint) stat_of (parent, "port"), properties);
  Person *mixer = mixer_new (line);

  g_free (line);
  return mixer;
}

/* alice - root - middle - leaf - bob, and carol in the middle */
GST_START_TEST (test_voices_and_names_pass_through_a_chain_once)
{
  Person *root = mixer_new ("secret=sesame");
  Person *middle = child_of (root, "secret=sesame");
  Person *leaf = child_of (middle, "secret=sesame");
  Person *alice = client_new (root, "alice", 440, "secret=sesame");
  Person *bob = client_new (leaf, "bob", 660, "secret=sesame");
  Person *carol = client_new (middle, "carol", 990, "secret=sesame");

  expect_message (bob, "dpm-talk", "name", "alice");
  expect_message (alice, "dpm-talk", "name", "bob");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (bob, 990, TRUE);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  wait_for_tone (carol, 660, TRUE);
  wait_for_tone (carol, 990, FALSE);
  person_free (alice);
  wait_for_tone (bob, 440, FALSE);
  person_free (bob);
  person_free (carol);
  person_free (leaf);
  person_free (middle);
  person_free (root);
}

GST_END_TEST;

GST_START_TEST (test_without_the_secret_there_is_no_branch)
{
  Person *root = mixer_new ("secret=sesame");
  Person *branch = child_of (root, "secret=open");

  expect_message (branch, "dpm-session", "reason", "secret");
  expect_message (root, "dpm-neighbour", "reason", "secret");
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

/* Two that join each other at the same time: one of them gives way. */
GST_START_TEST (test_a_loop_is_refused)
{
  Person *a = mixer_new ("");
  Person *b = child_of (a, "");
  gchar *parent = g_strdup_printf ("127.0.0.1:%u", (guint) stat_of (b, "port"));
  Pause pause;
  gint64 end;

  expect_message (b, "dpm-session", "event", "joined");
  pause_begin (&pause, a, GST_STATE_READY);
  g_object_set (a->dpm, "parent", parent, NULL);
  pause_end (&pause);
  end = patient_clock_now_us () + PATIENCE_US;
  /* either one's JOIN is refused, or one finds itself below itself */
  while (TRUE) {
    GstBus *bus = gst_element_get_bus (a->pipeline);
    GstMessage *message = gst_bus_timed_pop_filtered (bus, 10 * GST_MSECOND,
        GST_MESSAGE_ELEMENT);
    gboolean loop = FALSE;

    gst_object_unref (bus);
    if (message == NULL) {
      bus = gst_element_get_bus (b->pipeline);
      message = gst_bus_timed_pop_filtered (bus, 10 * GST_MSECOND,
          GST_MESSAGE_ELEMENT);
      gst_object_unref (bus);
    }
    if (message != NULL) {
      loop = g_strcmp0 (gst_structure_get_string (gst_message_get_structure
              (message), "reason"), "loop") == 0;
      gst_message_unref (message);
    }
    if (loop)
      break;
    fail_if (patient_clock_now_us () > end, "nobody gives way");
  }
  person_free (a);
  person_free (b);
  g_free (parent);
}

GST_END_TEST;

/* The parent dies: those below go on talking, and it is joined again. */
GST_START_TEST (test_a_branch_lives_without_its_parent)
{
  Person *root = mixer_new ("");
  Person *branch = child_of (root, "");
  Person *alice = client_new (branch, "alice", 440, "");
  Person *bob = client_new (branch, "bob", 660, "");
  Person *carol = client_new (root, "carol", 990, "");
  Pause pause;

  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, TRUE);
  pause_begin (&pause, root, GST_STATE_NULL);
  expect_message (branch, "dpm-session", "event", "left");
  wait_for_tone (alice, 990, FALSE);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (bob, 440, TRUE);
  pause_end (&pause);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (branch);
  person_free (root);
}

GST_END_TEST;

/* An application may say of the parent, too, that it is to go somewhere.  It goes nowhere,
 * and is not there any more when that is forgotten. */
GST_START_TEST (test_a_parent_that_was_to_move_may_leave)
{
  Person *root = mixer_new ("");
  Person *branch = child_of (root, "");
  Person *alice = client_new (branch, "alice", 440, "");
  gint64 end;

  expect_message (branch, "dpm-session", "event", "joined");
  wait_for_stat (branch, "n-joined", 1);        /* it may have been the first to be told */
  /* the parent has the first number */
  g_signal_emit_by_name (branch->dpm, "move", 1, 2);
  person_free (root);
  expect_message (branch, "dpm-session", "event", "left");
  end = patient_clock_now_us () + G_USEC_PER_SEC;
  while (patient_clock_now_us () < end)
    g_usleep (LOOK_US);
  fail_unless_equals_uint64 (stat_of (branch, "n-neighbours"), 1);
  person_free (alice);
  person_free (branch);
}

GST_END_TEST;

/* A parent is gone without a word: its child goes to the next one on its list, and
 * those below have been talking all the time. */
GST_START_TEST (test_a_branch_finds_another_parent)
{
  Person *first = mixer_new (""), *second = mixer_new ("");
  Relay *relay = relay_new ((guint) stat_of (first, "port"));
  gchar *parents = g_strdup_printf ("parent=127.0.0.1:%u,127.0.0.1:%u",
      relay_port (relay), (guint) stat_of (second, "port"));
  Person *branch = mixer_new (parents);
  Person *alice = client_new (branch, "alice", 440, "");
  Person *bob = client_new (branch, "bob", 660, "");
  Person *carol = client_new (second, "carol", 990, "");

  wait_for_stat (first, "n-neighbours", 1);
  wait_for_tone (alice, 660, TRUE);
  wait_for_tone (alice, 990, FALSE);
  g_atomic_int_set (&relay->dead, TRUE);
  expect_message (branch, "dpm-session", "reason", "timeout");
  wait_for_tone (bob, 440, TRUE);
  wait_for_tone (alice, 990, TRUE);
  wait_for_tone (carol, 440, TRUE);
  fail_unless_equals_uint64 (stat_of (branch, "n-left"), 0);
  fail_unless_equals_uint64 (stat_of (branch, "n-joined"), 2);
  g_free (parents);
  person_free (alice);
  person_free (bob);
  person_free (carol);
  person_free (branch);
  relay_free (relay);
  person_free (first);
  person_free (second);
}

GST_END_TEST;

/* --- priorities, names and contributors through two narrow mixers ---------- */

#define ROOM_BPS 100000         /* for one voice and a mix */
#define N_TALKERS 3

/* What the last mix that came to somebody had in it, and who came apart */
typedef struct
{
  GMutex lock;
  guint32 csrcs[2];
  guint n_csrcs;
  guint32 apart;                /* the latest */
} Arrivals;

static GstPadProbeReturn
note_arrival (GstPad * pad, GstPadProbeInfo * info, gpointer data)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  Arrivals *arrivals = data;

  if (!gst_rtp_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), GST_MAP_READ,
          &rtp))
    return GST_PAD_PROBE_OK;
  g_mutex_lock (&arrivals->lock);
  if (gst_rtp_buffer_get_csrc_count (&rtp) > 0) {
    arrivals->n_csrcs = gst_rtp_buffer_get_csrc_count (&rtp);
    for (guint i = 0; i < MIN (arrivals->n_csrcs, 2); i++)
      arrivals->csrcs[i] = gst_rtp_buffer_get_csrc (&rtp, (guint8) i);
  } else if (gst_rtp_buffer_get_payload_len (&rtp) > 0) {
    arrivals->apart = gst_rtp_buffer_get_ssrc (&rtp);
  }
  g_mutex_unlock (&arrivals->lock);
  gst_rtp_buffer_unmap (&rtp);
  return GST_PAD_PROBE_OK;
}

static void
watch_arrivals (GstBin * bin, GstBin * sub_bin, GstElement * element,
    gpointer data)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  GstPad *pad;

  if (factory == NULL || g_strcmp0 (GST_OBJECT_NAME (factory), "rtpccfb") != 0)
    return;
  pad = gst_element_get_static_pad (element, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, note_arrival, data, NULL);
  gst_object_unref (pad);
}

/* However busy the machine is, there is as much room as there is, and no more. */
static void
hold_path (GstBin * bin, GstBin * sub_bin, GstElement * element, gpointer data)
{
  GstElementFactory *factory = gst_element_get_factory (element);

  if (factory != NULL && g_strcmp0 (GST_OBJECT_NAME (factory), "tfrcrate") == 0)
    g_object_set (element, "min-bitrate", ROOM_BPS, NULL);
}

/* @parent: its port; 0: none */
static Person *
narrow_mixer (guint parent, const gchar * database)
{
  gchar *line = g_strdup_printf ("dpmmixer name=dpm address=127.0.0.1 port=0 "
      "max-bitrate=%u database-location=%s", ROOM_BPS, database);
  Person *mixer = person_new (line);
  gchar *above = g_strdup_printf ("127.0.0.1:%u", parent);

  if (parent > 0)
    g_object_set (mixer->dpm, "parent", above, NULL);
  g_signal_connect (mixer->pipeline, "deep-element-added",
      G_CALLBACK (hold_path), NULL);
  g_free (above);
  g_free (line);
  return person_start (mixer);
}

/* Returns: whether @apart comes apart, and the two others, by name, in a mix */
static gboolean
is_as_wanted (Arrivals * arrivals, Person * root, const gchar * apart,
    const gchar * a, const gchar * b)
{
  guint32 ssrc = ssrc_of_name (root, apart), mixed_a = ssrc_of_name (root, a);
  guint32 mixed_b = ssrc_of_name (root, b);
  gboolean good;

  g_mutex_lock (&arrivals->lock);
  good = ssrc != 0 && arrivals->apart == ssrc && arrivals->n_csrcs == 2
      && ((arrivals->csrcs[0] == mixed_a && arrivals->csrcs[1] == mixed_b)
      || (arrivals->csrcs[0] == mixed_b && arrivals->csrcs[1] == mixed_a));
  g_mutex_unlock (&arrivals->lock);
  return good;
}

static void
wait_for_arrivals (Arrivals * arrivals, Person * root, const gchar * apart,
    const gchar * a, const gchar * b)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;

  while (!is_as_wanted (arrivals, root, apart, a, b)) {
    fail_if (patient_clock_now_us () > end, "%s is not apart", apart);
    g_usleep (LOOK_US);
  }
}

/* Names come in RTCP, when they come. */
static void
wait_for_name (Person * person, Person * root, const gchar * name)
{
  gint64 end = patient_clock_now_us () + PATIENCE_US;

  while (ssrc_of_name (person, name) != ssrc_of_name (root, name)) {
    fail_if (patient_clock_now_us () > end, "%s has no such name", name);
    g_usleep (LOOK_US);
  }
}

/* Three talk to the root; a branch has room for one of them and a mix, and so has the
 * one who listens there.  The Database of both says who that one is. */
GST_START_TEST (test_priorities_names_and_contributors_reach_the_far_end)
{
  static const gchar *const names[] = { "alice", "bob", "carol" };
  static Arrivals arrivals;
  gchar *path = NULL;
  gint fd = g_file_open_tmp ("dpm-XXXXXX.ini", &path, NULL);
  Person *root, *branch, *dave, *people[N_TALKERS];
  gchar *line;

  fail_unless (g_file_set_contents (path, "[cname:carol]\npriority=10\n", -1,
          NULL));
  root = narrow_mixer (0, path);
  branch = narrow_mixer ((guint) stat_of (root, "port"), path);
  line = g_strdup_printf ("dpmclient name=dpm address=127.0.0.1 "
      "server=127.0.0.1:%u display-name=dave" EARS,
      (guint) stat_of (branch, "port"));
  for (guint i = 0; i < N_TALKERS; i++)
    people[i] = client_new (root, names[i], 440 + 220 * i, "");
  dave = person_new (line);
  g_signal_connect (dave->pipeline, "deep-element-added",
      G_CALLBACK (watch_arrivals), &arrivals);
  person_start (dave);
  wait_for_arrivals (&arrivals, root, "carol", "alice", "bob");
  wait_for_tone (dave, 440, TRUE);
  fail_unless (g_file_set_contents (path, "[cname:alice]\npriority=10\n", -1,
          NULL));
  wait_for_arrivals (&arrivals, root, "alice", "bob", "carol");
  wait_for_tone (dave, 880, TRUE);
  wait_for_name (dave, root, "alice");
  for (guint i = 0; i < N_TALKERS; i++)
    person_free (people[i]);
  person_free (dave);
  person_free (branch);
  person_free (root);
  g_close (fd, NULL);
  g_unlink (path);
  g_free (line);
  g_free (path);
}

GST_END_TEST;

static void
check_serves (Person * mixer)
{
  Person *alice = client_new (mixer, "alice", 440, "");
  Person *bob = client_new (mixer, "bob", 660, "");

  wait_for_tone (bob, 440, TRUE);
  person_free (alice);
  person_free (bob);
}

/* A parent's name that nobody knows is looked up again and again; meanwhile the mixer
 * serves others. */
GST_START_TEST (test_a_name_that_nobody_knows_holds_up_nobody)
{
  Person *mixer;

  resolver_install ();
  mixer = mixer_new ("parent=nobody.invalid");
  check_serves (mixer);
  expect_message (mixer, "dpm-session", "event", "no-answer");
  person_free (mixer);
  resolver_remove ();
}

GST_END_TEST;

/* Nor does a name server that does not answer, also not who stops. */
GST_START_TEST (test_a_name_that_takes_for_ever_holds_up_nobody)
{
  Person *mixer;

  resolver_install ();
  mixer = mixer_new ("parent=parent.slow");
  check_serves (mixer);
  person_free (mixer);
  resolver_remove ();
}

GST_END_TEST;

static Suite *
dpmmixer_tree_suite (void)
{
  Suite *s = suite_create ("dpmmixer-tree");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, NULL, everybody_leaves);
  tcase_add_test (tc, test_voices_and_names_pass_through_a_chain_once);
  tcase_add_test (tc, test_without_the_secret_there_is_no_branch);
  tcase_add_test (tc, test_a_loop_is_refused);
  tcase_add_test (tc, test_a_branch_lives_without_its_parent);
  tcase_add_test (tc, test_a_parent_that_was_to_move_may_leave);
  tcase_add_test (tc, test_a_branch_finds_another_parent);
  tcase_add_test (tc, test_priorities_names_and_contributors_reach_the_far_end);
  tcase_add_test (tc, test_a_name_that_nobody_knows_holds_up_nobody);
  tcase_add_test (tc, test_a_name_that_takes_for_ever_holds_up_nobody);
  return s;
}

GST_CHECK_MAIN (dpmmixer_tree);
