/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy-element.h"

#include <string.h>

#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>
#include <gst/rtp/gstrtpbuffer.h>

#define CLOCK_RATE 48000
#define PT 96
#define CAPS "application/x-rtp, media=(string)audio, clock-rate=(int)48000, " \
    "encoding-name=(string)OPUS, payload=(int)96"
#define SSRC 0x6a697474
#define FIRST_SEQ 65000         /* wraps soon */
#define PATIENCE (20 * G_TIME_SPAN_SECOND)

typedef struct
{
  const Trace *trace;
  const PolicyElementTap *tap;
  GstHarness *harness;
  GstTestClock *clock;
  GstPad *inner_src;
  gboolean *pushed;             /* packets that are in */
  size_t highest;               /* the last of them */
  gboolean any;
  GstClockTime latency;

  GMutex lock;
  GCond cond;
  size_t inner_next;            /* what the inner buffer puts out next */
  gboolean started;             /* it has put out anything at all */
  gboolean idle;
} Run;

/* The packet that a 16-bit number means, close to @near */
static size_t
extend (size_t near, guint16 seq)
{
  gint16 diff = (gint16) (seq - (guint16) (near + FIRST_SEQ));

  return diff < 0 && near < (size_t) -diff ? 0 : near + diff;
}

/* What leaves the stock buffer, be it alone or inside of ours: from it follows
 * what else has to come out before time may go on. */
static GstPadProbeReturn
on_inner (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info, gpointer user)
{
  Run *run = user;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  guint seq;

  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    if (!gst_rtp_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), GST_MAP_READ,
            &rtp))
      return GST_PAD_PROBE_OK;
    seq = gst_rtp_buffer_get_seq (&rtp);
    gst_rtp_buffer_unmap (&rtp);
  } else {
    const GstStructure *s =
        gst_event_get_structure (GST_PAD_PROBE_INFO_EVENT (info));

    if (s == NULL || !gst_structure_has_name (s, "GstRTPPacketLost")
        || !gst_structure_get_uint (s, "seqnum", &seq))
      return GST_PAD_PROBE_OK;
  }
  g_mutex_lock (&run->lock);
  run->inner_next = extend (run->inner_next, (guint16) seq) + 1;
  run->started = TRUE;
  g_cond_signal (&run->cond);
  g_mutex_unlock (&run->lock);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_outer (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info, gpointer user)
{
  Run *run = user;
  PolicyElementOutput output = {
    .buffer = GST_PAD_PROBE_INFO_BUFFER (info),
    .pushed = gst_clock_get_time (GST_CLOCK (run->clock)),
  };

  output.due = GST_BUFFER_PTS (output.buffer) + run->latency;
  g_mutex_lock (&run->lock);
  output.near = run->inner_next;
  g_mutex_unlock (&run->lock);
  run->tap->on_output (&output, run->tap->user_data);
  return GST_PAD_PROBE_DROP;
}

static GstBuffer *
make_packet (const Trace * trace, size_t i, GstBuffer * payload)
{
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (payload ? 0 : 20, 0, 0);

  gst_rtp_buffer_map (buffer, GST_MAP_WRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, PT);
  gst_rtp_buffer_set_ssrc (&rtp, SSRC);
  gst_rtp_buffer_set_seq (&rtp, (guint16) (FIRST_SEQ + i));
  gst_rtp_buffer_set_timestamp (&rtp, (guint32) gst_util_uint64_scale_round
      (trace->packets[i].send, CLOCK_RATE, GST_SECOND));
  if (payload == NULL)
    memset (gst_rtp_buffer_get_payload (&rtp), 0, 20);
  gst_rtp_buffer_unmap (&rtp);
  if (payload != NULL)
    buffer = gst_buffer_append (buffer, payload);
  /* in one piece, as the network hands it over */
  gst_buffer_replace_all_memory (buffer, gst_buffer_get_all_memory (buffer));
  GST_BUFFER_DTS (buffer) = trace->packets[i].arrival;
  GST_BUFFER_PTS (buffer) = trace->packets[i].arrival;
  return buffer;
}

static GstPadProbeReturn
on_idle (GstPad * pad G_GNUC_UNUSED,
    GstPadProbeInfo * info G_GNUC_UNUSED, gpointer user)
{
  Run *run = user;

  g_mutex_lock (&run->lock);
  run->idle = TRUE;
  g_cond_signal (&run->cond);
  g_mutex_unlock (&run->lock);
  return GST_PAD_PROBE_REMOVE;
}

/* Waits until what left the stock buffer has gone all the way. */
static void
wait_until_idle (Run * run)
{
  run->idle = FALSE;
  gst_pad_add_probe (run->inner_src, GST_PAD_PROBE_TYPE_IDLE, on_idle, run,
      NULL);
  g_mutex_lock (&run->lock);
  while (!run->idle)
    g_cond_wait (&run->cond, &run->lock);
  g_mutex_unlock (&run->lock);
}

/* Waits until nothing moves any more at this point of virtual time: what is
 * next in order has not been pushed, or the buffer waits for the clock. */
static void
settle (Run * run)
{
  gint64 deadline = g_get_monotonic_time () + PATIENCE;

  g_mutex_lock (&run->lock);
  while (run->started ? run->inner_next <= run->highest : run->any) {
    gboolean waiting = gst_test_clock_peek_id_count (run->clock) > 0;

    if (waiting && (!run->started || !run->pushed[run->inner_next]))
      break;
    if (g_get_monotonic_time () > deadline)
      g_error ("%s: packet %" G_GSIZE_FORMAT " neither comes out nor waits",
          run->trace->name, run->inner_next);
    g_cond_wait_until (&run->cond, &run->lock, g_get_monotonic_time () + 50);
  }
  g_mutex_unlock (&run->lock);
  wait_until_idle (run);
}

/* Lets time pass up to @until, timer by timer */
static void
advance (Run * run, GstClockTime until)
{
  GstClockID id = NULL;

  while (gst_test_clock_peek_next_pending_id (run->clock, &id)) {
    GstClockTime time = gst_clock_id_get_time (id);

    gst_clock_id_unref (id);
    if (time > until)
      break;
    if (time > gst_clock_get_time (GST_CLOCK (run->clock)))
      gst_test_clock_set_time (run->clock, time);
    id = gst_test_clock_process_next_clock_id (run->clock);
    if (id)
      gst_clock_id_unref (id);
    settle (run);
  }
  gst_test_clock_set_time (run->clock, until);
}

/* The stock jitter buffer, however deep inside */
static GstElement *
find_inner (GstElement * bin)
{
  GstIterator *it = gst_bin_iterate_recurse (GST_BIN (bin));
  GValue item = G_VALUE_INIT;
  GstElement *found = NULL;

  while (found == NULL && gst_iterator_next (it, &item) == GST_ITERATOR_OK) {
    GstElement *element = g_value_get_object (&item);
    GstElementFactory *factory = gst_element_get_factory (element);

    if (factory != NULL
        && g_str_equal (GST_OBJECT_NAME (factory), "rtpjitterbuffer"))
      found = gst_object_ref (element);
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (it);
  return found;
}

static void
run_init (Run * run)
{
  GstElement *inner = NULL;
  GstPad *pad;

  run->harness = gst_harness_new_parse (run->tap->description);
  run->clock = gst_harness_get_testclock (run->harness);
  if (run->tap->sink_caps != NULL)
    gst_harness_set_sink_caps_str (run->harness, run->tap->sink_caps);
  gst_harness_set_src_caps_str (run->harness, CAPS);
  inner = find_inner (run->harness->element);
  g_object_set (inner, "do-lost", TRUE, NULL);
  run->inner_src = gst_element_get_static_pad (inner, "src");
  /* on its peer, because a pad is idle until its probes are done */
  pad = gst_pad_get_peer (run->inner_src);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
      | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_inner, run, NULL);
  gst_object_unref (pad);
  gst_object_unref (inner);
  gst_pad_add_probe (run->harness->sinkpad, GST_PAD_PROBE_TYPE_BUFFER,
      on_outer, run, NULL);
  run->latency = gst_harness_query_latency (run->harness);
}

void
policy_element_run (const Trace * trace, const PolicyElementTap * tap)
{
  Run run = {.trace = trace,.tap = tap };

  run.pushed = g_new0 (gboolean, trace->n_packets + 1);
  g_mutex_init (&run.lock);
  g_cond_init (&run.cond);
  run_init (&run);

  for (size_t i = 0; i < trace->n_packets; i++) {
    if (trace->packets[i].arrival == FMX_TIME_NONE)
      continue;
    advance (&run, trace->packets[i].arrival);
    g_mutex_lock (&run.lock);
    run.pushed[i] = TRUE;
    run.highest = i;
    run.any = TRUE;
    g_mutex_unlock (&run.lock);
    gst_harness_push (run.harness, make_packet (trace, i,
            tap->payload != NULL ? tap->payload (i, tap->user_data) : NULL));
    if (i > 0 && !run.pushed[i - 1])
      g_usleep (200);           /* its timer thread looks at the clock anew */
    settle (&run);
  }
  advance (&run, gst_clock_get_time (GST_CLOCK (run.clock)) + 10 * GST_SECOND);

  gst_object_unref (run.inner_src);
  gst_harness_teardown (run.harness);
  gst_object_unref (run.clock);
  g_mutex_clear (&run.lock);
  g_cond_clear (&run.cond);
  g_free (run.pushed);
}

/* --- packets in, packets out --- */

typedef struct
{
  const Trace *trace;
  Playout *playouts;
} Packets;

static void
note_playout (const PolicyElementOutput * output, void *user_data)
{
  Packets *packets = user_data;
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  size_t n;

  if (!gst_rtp_buffer_map (output->buffer, GST_MAP_READ, &rtp))
    return;
  n = extend (output->near, gst_rtp_buffer_get_seq (&rtp));
  if (n < packets->trace->n_packets) {
    packets->playouts[n].due = output->due;
    packets->playouts[n].pushed = output->pushed;
  }
  gst_rtp_buffer_unmap (&rtp);
}

void
policy_element (const Trace * trace, const char *description,
    Playout * playouts)
{
  Packets packets = { trace, playouts };
  const PolicyElementTap tap = {
    .description = description,
    .on_output = note_playout,
    .user_data = &packets,
  };

  for (size_t i = 0; i < trace->n_packets; i++)
    playouts[i].due = FMX_TIME_NONE;
  policy_element_run (trace, &tap);
}

/* --- only fed --- */

/* Packets are made before and freed after: what malloc() takes depends on which
 * thread did what before. */
typedef struct
{
  GstBuffer **packets;
  gint n_out;
} Feed;

static GstFlowReturn
keep_packet (GstPad * pad, GstObject * parent G_GNUC_UNUSED, GstBuffer * buffer)
{
  Feed *feed = gst_pad_get_element_private (pad);

  feed->packets[feed->n_out] = buffer;
  g_atomic_int_inc (&feed->n_out);
  return GST_FLOW_OK;
}

/* Nothing but two pads, and the element between them, if there is one. */
static GstElement *
feed_link (GstPad * source, GstPad * sink, const char *description)
{
  GstElement *element = NULL;
  GstPad *in, *out;

  if (description[0] == '\0') {
    gst_pad_link (source, sink);
    return NULL;
  }
  element = gst_object_ref_sink (gst_parse_bin_from_description_full
      (description, TRUE, NULL, GST_PARSE_FLAG_NO_SINGLE_ELEMENT_BINS, NULL));
  in = gst_element_get_static_pad (element, "sink");
  out = gst_element_get_static_pad (element, "src");
  gst_pad_link (source, in);
  gst_pad_link (out, sink);
  gst_object_unref (in);
  gst_object_unref (out);
  return element;
}

static void
feed_start (GstPad * source, GstElement * element, GstClock * clock)
{
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstSegment segment;

  if (element != NULL) {
    gst_element_set_clock (element, clock);
    gst_element_set_base_time (element, 0);
    gst_element_set_state (element, GST_STATE_PLAYING);
  }
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source, gst_event_new_stream_start ("packets"));
  gst_pad_push_event (source, gst_event_new_caps (caps));
  gst_pad_push_event (source, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

static GstPadProbeReturn
let_pass (GstPad * pad G_GNUC_UNUSED, GstPadProbeInfo * info G_GNUC_UNUSED,
    gpointer user_data G_GNUC_UNUSED)
{
  return GST_PAD_PROBE_OK;
}

/* Instructions of this do not count: cost.sh takes them away by its name. */
static G_NO_INLINE void
wait_for_packet (const Feed * feed, gint n)
{
  while (g_atomic_int_get (&feed->n_out) <= n)
    g_thread_yield ();
}

/* The first one may be held. */
static void
let_first_go (const Feed * feed, GstTestClock * clock)
{
  GstClockID id;

  gst_test_clock_advance_time (clock, GST_SECOND);
  while (g_atomic_int_get (&feed->n_out) == 0) {
    id = gst_test_clock_process_next_clock_id (clock);
    if (id != NULL)
      gst_clock_id_unref (id);
    g_thread_yield ();
  }
}

void
policy_element_feed (const Trace * trace, const char *description,
    bool with_probe)
{
  GstPad *source = gst_pad_new ("source", GST_PAD_SRC);
  GstPad *sink = gst_pad_new ("sink", GST_PAD_SINK);
  GstClock *clock = gst_test_clock_new ();
  Feed feed = {.packets = g_new (GstBuffer *, trace->n_packets) };
  GstElement *element;

  for (size_t i = 0; i < trace->n_packets; i++)
    feed.packets[i] = make_packet (trace, i, NULL);
  gst_pad_set_chain_function (sink, keep_packet);
  gst_pad_set_element_private (sink, &feed);
  gst_pad_set_active (sink, TRUE);
  gst_pad_set_active (source, TRUE);
  element = feed_link (source, sink, description);
  if (with_probe) {
    GstPad *out = gst_pad_get_peer (sink);

    gst_pad_add_probe (out, GST_PAD_PROBE_TYPE_BUFFER, let_pass, NULL, NULL);
    gst_object_unref (out);
  }
  feed_start (source, element, clock);
  for (size_t i = 0; i < trace->n_packets; i++) {
    gst_test_clock_set_time (GST_TEST_CLOCK (clock), trace->packets[i].arrival);
    gst_pad_push (source, feed.packets[i]);
    if (i == 0)
      let_first_go (&feed, GST_TEST_CLOCK (clock));
    wait_for_packet (&feed, (gint) i);
  }
  gst_pad_set_active (source, FALSE);
  if (element != NULL) {
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
  }
  gst_pad_set_active (sink, FALSE);
  for (size_t i = 0; i < trace->n_packets; i++)
    gst_buffer_unref (feed.packets[i]);
  g_free (feed.packets);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (clock);
}
