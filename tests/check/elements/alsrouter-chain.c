/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The paper's chain of five routers (ALS 4.2, figures 5 and 6, table 1): seven
 * alsrtcp, each with its sessions, over four links of 1 Mbit/s with an alsrouter in
 * front of each, in virtual time. */
#include "alsrtcppads.h"

#define N_LINKS 4
#define N 7
#define STEP (100 * GST_MSECOND)
#define LINK_BPS 1e6
/* In front of each link.  With the paper's rule a rate may pass its share by 6 % until
 * the next reports, which come when chance will; if that were lost, the rate would halve. */
#define QUEUE_BYTES 125e3
#define HEADER_BYTES 40

/* which connections cross which link */
static const gboolean crosses[N_LINKS][N] = {
  {TRUE, TRUE, TRUE, FALSE, FALSE, FALSE, FALSE},
  {TRUE, TRUE, FALSE, TRUE, TRUE, FALSE, FALSE},
  {TRUE, FALSE, FALSE, FALSE, TRUE, TRUE, FALSE},
  {TRUE, FALSE, FALSE, FALSE, FALSE, FALSE, TRUE},
};

static const gdouble shares_bps[N] = {
  250e3, 250e3, 500e3, 250e3, 250e3, 500e3, 750e3
};

/* where C0 counts for two and C3 for half: as lib-als-als-chain fills the links */
static const gdouble weighted_bps[N] = {
  4e6 / 9, 2e6 / 9, 3e6 / 9, 1e6 / 9, 2e6 / 9, 3e6 / 9, 5e6 / 9
};

/* A sender or a receiver */
typedef struct
{
  GstElement *bin, *als;
  GstPad *rtp_in, *rtcp_in, *rtp_out, *rtcp_out;
  Outlet rtp, rtcp;
  gboolean awake;               /* its session had a packet */
} Member;

typedef struct
{
  GstElement *bin, *router;
  GstPad *in[N], *out[N];
  Outlet outlets[N];
  gdouble queue_bytes;
} Link;

typedef struct
{
  GstTestClock *clock;
  Member senders[N], receivers[N];
  Link links[N_LINKS];
  guint16 seq;
  gdouble mean_bps[N];
} Chain;

static void
play (Chain * chain, GstElement * bin)
{
  gst_pipeline_use_clock (GST_PIPELINE (bin), GST_CLOCK (chain->clock));
  gst_element_set_start_time (bin, GST_CLOCK_TIME_NONE);
  gst_element_set_base_time (bin, 0);
  fail_unless_equals_int (gst_element_set_state (bin, GST_STATE_PLAYING),
      GST_STATE_CHANGE_SUCCESS);
}

static void
member_init (Chain * chain, Member * member, gboolean sends,
    const gchar * session_settings, const gchar * settings)
{
  gchar *line = g_strdup_printf ("rtpsession name=rtp "
      "ntp-time-source=clock-time %s alsrtcp name=als rtpbin=rtp "
      "ntp-time-source=clock-time max-bitrate=1000000 role=%s %s "
      "als.rtcp_src ! rtp.recv_rtcp_sink  als.src_0 ! rtp.%s",
      session_settings, sends ? "sender" : "receiver", settings,
      sends ? "send_rtp_sink" : "recv_rtp_sink");
  GstElement *session;

  member->bin = gst_object_ref_sink (gst_parse_launch (line, NULL));
  g_free (line);
  member->als = element_of (member->bin, "als");
  session = element_of (member->bin, "rtp");
  gst_object_unref (any_pad (member->als, "sink_0"));
  member->rtp_out = pad_from (session, sends ? "send_rtp_src" : "recv_rtp_src",
      &member->rtp);
  member->rtcp_out = pad_from (session, "send_rtcp_src", &member->rtcp);
  gst_object_unref (session);
  play (chain, member->bin);
  member->rtp_in = pad_to (member->als, "sink_0", RTP_CAPS_PCMU);
  member->rtcp_in = pad_to (member->als, "rtcp_sink", "application/x-rtcp");
}

static void
link_init (Chain * chain, Link * link, const gchar * settings)
{
  gchar *line = g_strdup_printf ("alsrouter name=r bandwidth=%u %s "
      "identity name=unused", (guint) LINK_BPS, settings);

  link->bin = gst_object_ref_sink (gst_parse_launch (line, NULL));
  g_free (line);
  link->router = element_of (link->bin, "r");
  for (guint k = 0; k < N; k++) {
    gchar *name = g_strdup_printf ("src_%u", k);

    link->out[k] = pad_from (link->router, name, &link->outlets[k]);
    g_free (name);
  }
  play (chain, link->bin);
  for (guint k = 0; k < N; k++) {
    gchar *name = g_strdup_printf ("sink_%u", k);

    link->in[k] = pad_to (link->router, name, RTP_CAPS_PCMU);
    g_free (name);
  }
}

/* @session, @sender, @router: settings, as in a launch line */
static void
chain_init (Chain * chain, const gchar * session, const gchar * sender,
    const gchar * router)
{
  memset (chain, 0, sizeof *chain);
  chain->clock =
      GST_TEST_CLOCK (gst_test_clock_new_with_start_time (1000 * GST_SECOND));
  clock_use_for_sessions (chain->clock);
  for (guint i = 0; i < N_LINKS; i++)
    link_init (chain, &chain->links[i], router);
  for (guint k = 0; k < N; k++) {
    member_init (chain, &chain->senders[k], TRUE, session, sender);
    member_init (chain, &chain->receivers[k], FALSE, session, "");
  }
}

static void
member_clear (Member * member)
{
  gst_element_set_state (member->bin, GST_STATE_NULL);
  free_pad (member->rtp_in);
  free_pad (member->rtcp_in);
  free_pad (member->rtp_out);
  free_pad (member->rtcp_out);
  outlet_clear (&member->rtp);
  outlet_clear (&member->rtcp);
  gst_object_unref (member->als);
  gst_object_unref (member->bin);
}

static void
chain_clear (Chain * chain)
{
  for (guint k = 0; k < N; k++) {
    member_clear (&chain->senders[k]);
    member_clear (&chain->receivers[k]);
  }
  for (guint i = 0; i < N_LINKS; i++) {
    Link *link = &chain->links[i];

    gst_element_set_state (link->bin, GST_STATE_NULL);
    for (guint k = 0; k < N; k++) {
      free_pad (link->in[k]);
      free_pad (link->out[k]);
      outlet_clear (&link->outlets[k]);
    }
    gst_object_unref (link->router);
    gst_object_unref (link->bin);
  }
  gst_system_clock_set_default (NULL);
  gst_object_unref (chain->clock);
}

/* Over all links of connection @k.  Returns: (transfer full) (nullable): what arrives */
static GstBuffer *
cross (Chain * chain, guint k, GstBuffer * buffer)
{
  for (guint i = 0; i < N_LINKS && buffer != NULL; i++) {
    Link *link = &chain->links[i];
    gdouble bytes = gst_buffer_get_size (buffer);

    if (!crosses[i][k])
      continue;
    fail_unless_equals_int (gst_pad_push (link->in[k], buffer), GST_FLOW_OK);
    buffer = pop_packet (&link->outlets[k]);
    fail_unless (buffer != NULL);
    if (link->queue_bytes + bytes > QUEUE_BYTES)
      gst_clear_buffer (&buffer);
    else
      link->queue_bytes += bytes;
  }
  return buffer;
}

static void
receive (Member * member, GstPad * pad, GstBuffer * buffer)
{
  if (buffer == NULL)
    return;
  fail_unless_equals_int (gst_pad_push (pad, buffer), GST_FLOW_OK);
  member->awake = TRUE;
}

static guint
target_of (Member * member)
{
  guint bps;

  g_object_get (member->als, "target-bitrate", &bps, NULL);
  return bps;
}

/* A packet of the size that the target gives, and the reports of both */
static void
carry (Chain * chain, guint k)
{
  Member *sender = &chain->senders[k], *receiver = &chain->receivers[k];
  gint bytes = target_of (sender) / 8.0 * STEP / GST_SECOND;
  GstBuffer *buffer;

  fail_unless_equals_int (gst_pad_push (sender->rtp_in,
          rtp_packet_new (0x1000 + k, chain->seq, bytes - HEADER_BYTES)),
      GST_FLOW_OK);
  sender->awake = TRUE;
  while ((buffer = pop_packet (&sender->rtp)) != NULL)
    receive (receiver, receiver->rtp_in, cross (chain, k, buffer));
  while ((buffer = pop_packet (&receiver->rtp)) != NULL)
    gst_buffer_unref (buffer);
  while ((buffer = pop_packet (&sender->rtcp)) != NULL)
    receive (receiver, receiver->rtcp_in, cross (chain, k, buffer));
  while ((buffer = pop_packet (&receiver->rtcp)) != NULL)
    receive (sender, sender->rtcp_in, buffer);
}

static void
step (Chain * chain)
{
  GstClockTime now = gst_clock_get_time (GST_CLOCK (chain->clock));
  guint n_waiters = 0;

  chain->seq++;
  for (guint k = 0; k < N; k++)
    carry (chain, k);
  for (guint i = 0; i < N_LINKS; i++)
    chain->links[i].queue_bytes = MAX (0.0, chain->links[i].queue_bytes
        - LINK_BPS / 8.0 * STEP / GST_SECOND);
  for (guint k = 0; k < N; k++)
    n_waiters += 2 + chain->senders[k].awake + chain->receivers[k].awake;
  clock_advance_to (chain->clock, n_waiters, now + STEP);
}

/* Says it as als-chain does, too: write_als.py reads that.  chain->mean_bps is then
 * of the last quarter.
 * Returns: since when all are within @tolerance of their shares, in seconds */
static gdouble
settle (Chain * chain, const gchar * name, const gdouble * goal_bps,
    guint seconds, gdouble tolerance)
{
  gdouble settled = 0.0;
  guint n_steps = seconds * (GST_SECOND / STEP), n_last = n_steps / 4;

  for (guint i = 1; i <= n_steps; i++) {
    step (chain);
    for (guint k = 0; k < N; k++) {
      gdouble bps = target_of (&chain->senders[k]);

      chain->mean_bps[k] += i > n_steps - n_last ? bps / n_last : 0.0;
      if (ABS (bps / goal_bps[k] - 1.0) > tolerance)
        settled = (gdouble) i *STEP / GST_SECOND;
    }
  }
  g_print ("# %s: settled after %.0f s;", name, settled);
  for (guint k = 0; k < N; k++)
    g_print (" %.0f", chain->mean_bps[k] / 1000.0);
  g_print (" kbit/s\n");
  return settled;
}

static void
assert_means (Chain * chain, const gdouble * goal_bps, gdouble tolerance)
{
  for (guint k = 0; k < N; k++)
    fail_unless (ABS (chain->mean_bps[k] / goal_bps[k] - 1.0) < tolerance,
        "%u: %g", k, chain->mean_bps[k]);
}

/* RTCP takes some of it, which the library's test does not have. */
GST_START_TEST (test_with_our_routers_all_have_their_shares_in_half_a_minute)
{
  gdouble settled;
  Chain chain;

  chain_init (&chain, "rtp-profile=avpf rtcp-min-interval=1000000000 "
      "bandwidth=1000000", "adaptation-interval=1000000000 memory=3000000000",
      "utilisation=0.995");
  settled = settle (&chain, "max-min, 1 s, elements", shares_bps, 35, 0.015);
  fail_unless (settled < 30.0, "%g s", settled);
  assert_means (&chain, shares_bps, 0.015);
  chain_clear (&chain);
}

GST_END_TEST;

/* Where no addresses are told, SSRCs are who has a weight. */
GST_START_TEST (test_with_weights_all_have_as_many_shares)
{
  Chain chain;

  chain_init (&chain, "rtp-profile=avpf rtcp-min-interval=1000000000 "
      "bandwidth=1000000", "adaptation-interval=1000000000 memory=3000000000",
      "utilisation=0.995 weights=\"4096=2,4099=0.5\"");
  settle (&chain, "max-min, 1 s, C0 weighs 2, C3 1/2, elements", weighted_bps,
      35, 0.015);
  assert_means (&chain, weighted_bps, 0.015);
  chain_clear (&chain);
}

GST_END_TEST;

GST_START_TEST (test_with_the_papers_rule_all_come_near_their_shares)
{
  Chain chain;

  chain_init (&chain, "bandwidth=1000000", "memory=5000000000 increase=5000",
      "rule=equal");
  settle (&chain, "equal, 5 s, to 10 %, elements", shares_bps, 200, 0.1);
  /* RTCP's times are random, and so is how far each steps until the next report */
  assert_means (&chain, shares_bps, 0.15);
  chain_clear (&chain);
}

GST_END_TEST;

static Suite *
alsrouter_chain_suite (void)
{
  Suite *s = suite_create ("alsrouter-chain");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc,
      test_with_our_routers_all_have_their_shares_in_half_a_minute);
  tcase_add_test (tc, test_with_weights_all_have_as_many_shares);
  tcase_add_test (tc, test_with_the_papers_rule_all_come_near_their_shares);
  return s;
}

GST_CHECK_MAIN (alsrouter_chain);
