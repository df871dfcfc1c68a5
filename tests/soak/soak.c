/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What applications and peers do to partialmix, all of it at once, for long.
 *
 *   soak [--seconds=N] [--seed=N]
 *
 * Talkers send from threads of their own, join and leave under many SSRCs, flood,
 * flush, are unlinked and linked again, and release their pads.  Meanwhile
 * listeners come, go, block and get other targets; properties are set, streams
 * named and removed, statistics read, and the element is stopped and started.
 *
 * One talker and one listener stay out of it: every two seconds of PLAYING that
 * listener must have got that voice.  Nothing may take longer than a minute.
 * Run it in a build with a sanitizer; the seed repeats the sequence of what is
 * done, not the moments at which threads meet.
 */
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <stdlib.h>
#include <string.h>

#define PCMU_CAPS "application/x-rtp,media=audio,payload=0,clock-rate=8000," \
  "encoding-name=PCMU"
#define RAW_CAPS "audio/x-raw,format=S16LE,rate=48000,layout=interleaved"
#define N_TALKERS 4
#define MAX_LISTENERS 6
#define FRAME_BYTES 160
#define WITNESS_SSRC 0xcafe
#define FIRST_SSRC 100000
#define STEP_US 2000
#define CHECK_US (2 * G_USEC_PER_SEC)
#define MINUTE_US (60 * G_USEC_PER_SEC)

typedef struct
{
  GstPad *pad, *to;             /* ours, and the element's */
  gint hold;                    /* atomic: until then it blocks, in 10 ms */
  gint n_witness;               /* atomic: packets of the witness */
} Listener;

typedef struct _Soak Soak;

typedef struct
{
  Soak *soak;
  GThread *thread;
  GRand *rand;
  guint index;
  GstPad *pad, *to;
  guint32 ssrc;
  guint16 seq;
} Talker;

struct _Soak
{
  GstElement *pipeline, *mix;
  GRand *rand;
  gint stop;                    /* atomic */
  Talker talkers[N_TALKERS];
  GPtrArray *listeners;         /* the first one is the witness */
  gint progress;                /* atomic: steps done */
  guint n_checks;
};

/* --- talkers --------------------------------------------------------------- */

static GstBuffer *
make_packet (guint32 ssrc, guint16 seq)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (FRAME_BYTES, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, 0);
  gst_rtp_buffer_set_ssrc (&rtp, ssrc);
  gst_rtp_buffer_set_seq (&rtp, seq);
  gst_rtp_buffer_set_timestamp (&rtp, seq * FRAME_BYTES);
  memset (gst_rtp_buffer_get_payload (&rtp), seq & 1 ? 0x20 : 0xa0,
      FRAME_BYTES);
  gst_rtp_buffer_unmap (&rtp);
  return buffer;
}

static void
push_segment (GstPad * pad)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
}

static void
talker_open (Talker * talker)
{
  gchar *name = g_strdup_printf ("sink_%u", 10 + talker->index);
  GstCaps *caps = gst_caps_from_string (PCMU_CAPS);

  talker->pad = gst_pad_new (NULL, GST_PAD_SRC);
  talker->to = gst_element_request_pad_simple (talker->soak->mix, name);
  gst_pad_set_active (talker->pad, TRUE);
  gst_pad_link (talker->pad, talker->to);
  gst_pad_push_event (talker->pad, gst_event_new_stream_start (name));
  gst_pad_push_event (talker->pad, gst_event_new_caps (caps));
  push_segment (talker->pad);
  gst_caps_unref (caps);
  g_free (name);
}

static void
talker_close (Talker * talker)
{
  gst_pad_unlink (talker->pad, talker->to);
  gst_element_release_request_pad (talker->soak->mix, talker->to);
  gst_pad_set_active (talker->pad, FALSE);
  gst_object_unref (talker->to);
  gst_object_unref (talker->pad);
}

static void
talker_flood (Talker * talker)
{
  guint i;

  for (i = 0; i < 200; i++)
    gst_pad_push (talker->pad, make_packet (g_rand_int (talker->rand), 1));
}

static void
talker_flush (Talker * talker)
{
  gst_pad_push_event (talker->pad, gst_event_new_flush_start ());
  gst_pad_push_event (talker->pad, gst_event_new_flush_stop (TRUE));
  push_segment (talker->pad);
}

/* A new name, a new pad, another link: all that a talker may do. */
static void
talker_act (Talker * talker)
{
  switch (g_rand_int_range (talker->rand, 0, 200)) {
    case 0:
      talker_close (talker);
      talker_open (talker);
      break;
    case 1:
      gst_pad_unlink (talker->pad, talker->to);
      gst_pad_link (talker->pad, talker->to);
      push_segment (talker->pad);
      break;
    case 2:
      talker_flush (talker);
      break;
    case 3:
      talker_flood (talker);
      break;
    case 4:
    case 5:
    case 6:
      talker->ssrc = FIRST_SSRC + (guint) g_rand_int_range (talker->rand, 0,
          500);
      break;
    case 7:
      talker->seq = (guint16) g_rand_int (talker->rand);
      break;
    default:
      break;
  }
}

static gpointer
talk (gpointer data)
{
  Talker *talker = data;

  while (!g_atomic_int_get (&talker->soak->stop)) {
    /* the first one is the witness */
    if (talker->index > 0)
      talker_act (talker);
    gst_pad_push (talker->pad, make_packet (talker->ssrc, talker->seq++));
    g_usleep (talker->index > 0 ? 3000 : 20000);
  }
  return NULL;
}

/* --- listeners ------------------------------------------------------------- */

static GstFlowReturn
take (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Listener *listener = gst_pad_get_element_private (pad);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  (void) parent;
  while (g_atomic_int_get (&listener->hold) > 0
      && GST_PAD_IS_ACTIVE (pad)) {
    g_atomic_int_add (&listener->hold, -1);
    g_usleep (10000);
  }
  if (gst_buffer_get_size (buffer) < 1000
      && gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp)) {
    if (gst_rtp_buffer_get_ssrc (&rtp) == WITNESS_SSRC)
      g_atomic_int_inc (&listener->n_witness);
    gst_rtp_buffer_unmap (&rtp);
  }
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static Listener *
listener_new (Soak * soak, const gchar * name, const gchar * caps)
{
  Listener *listener = g_new0 (Listener, 1);
  GstPadTemplate *template = NULL;

  if (caps != NULL) {
    GstCaps *c = gst_caps_from_string (caps);

    template = gst_pad_template_new ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, c);
    gst_caps_unref (c);
    gst_object_ref_sink (template);
  }
  listener->pad = template != NULL ? gst_pad_new_from_template (template, NULL)
      : gst_pad_new (NULL, GST_PAD_SINK);
  gst_clear_object (&template);
  gst_pad_set_element_private (listener->pad, listener);
  g_object_set_data_full (G_OBJECT (listener->pad), "listener", listener,
      g_free);
  gst_pad_set_chain_function (listener->pad, take);
  gst_pad_set_active (listener->pad, TRUE);
  listener->to = gst_element_request_pad_simple (soak->mix, name);
  gst_pad_link (listener->to, listener->pad);
  g_ptr_array_add (soak->listeners, listener);
  return listener;
}

static void
listener_free (Soak * soak, Listener * listener)
{
  gst_pad_set_active (listener->pad, FALSE);
  gst_element_release_request_pad (soak->mix, listener->to);
  gst_object_unref (listener->to);
  gst_object_unref (listener->pad);
}

/* --- what the application does --------------------------------------------- */

static Listener *
any_listener (Soak * soak)
{
  guint n = soak->listeners->len;

  return n < 2 ? NULL : g_ptr_array_index (soak->listeners,
      (guint) g_rand_int_range (soak->rand, 1, (gint) n));
}

static void
come_or_go (Soak * soak)
{
  static const gchar *const caps[] = { NULL, RAW_CAPS, PCMU_CAPS };
  Listener *listener = any_listener (soak);

  if (listener != NULL && (soak->listeners->len > MAX_LISTENERS
          || g_rand_boolean (soak->rand))) {
    g_ptr_array_remove (soak->listeners, listener);
    listener_free (soak, listener);
  } else {
    listener_new (soak, "src_%u", caps[g_rand_int_range (soak->rand, 0, 3)]);
  }
}

static void
set_property (Soak * soak)
{
  switch (g_rand_int_range (soak->rand, 0, 6)) {
    case 0:
      g_object_set (soak->mix, "frame-duration", (guint64)
          g_rand_int_range (soak->rand, 10, 61) * GST_MSECOND, NULL);
      break;
    case 1:
      g_object_set (soak->mix, "latency", (guint64)
          g_rand_int_range (soak->rand, 0, 100) * GST_MSECOND, NULL);
      break;
    case 2:
      g_object_set (soak->mix, "silence-level",
          g_rand_int_range (soak->rand, 1, 128), NULL);
      break;
    case 3:
      g_object_set (soak->mix, "max-mix-bitrate",
          g_rand_int_range (soak->rand, 6000, 510000), NULL);
      break;
    case 4:
      g_object_set (soak->mix, "max-streams",
          g_rand_int_range (soak->rand, 50, 500), NULL);
      break;
    default:
      g_object_set (soak->mix, "mix-encoding",
          g_rand_int_range (soak->rand, -1, 4), NULL);
      break;
  }
}

static void
say_something (Soak * soak)
{
  guint ssrc = FIRST_SSRC + (guint) g_rand_int_range (soak->rand, 0, 500);
  GstStructure *values = gst_structure_new ("values",
      "mute", G_TYPE_BOOLEAN, g_rand_boolean (soak->rand),
      "priority", G_TYPE_INT, g_rand_int_range (soak->rand, -5, 5),
      "gain-db", G_TYPE_DOUBLE, g_rand_double_range (soak->rand, -70, 30),
      "pan", G_TYPE_DOUBLE, g_rand_double_range (soak->rand, -2, 2), NULL);

  if (g_rand_boolean (soak->rand))
    g_signal_emit_by_name (soak->mix, "set-stream", ssrc, values);
  else
    g_signal_emit_by_name (soak->mix, "remove-stream", ssrc);
  gst_structure_free (values);
}

static void
read_stats (Soak * soak)
{
  GstStructure *stats = NULL;

  g_object_get (soak->mix, "stats", &stats, NULL);
  gst_structure_free (stats);
}

static void
stop_and_start (Soak * soak)
{
  static const GstState states[] = { GST_STATE_PAUSED, GST_STATE_READY };

  gst_element_set_state (soak->pipeline,
      states[g_rand_int_range (soak->rand, 0, 2)]);
  gst_element_set_state (soak->pipeline, GST_STATE_PLAYING);
}

static void
act (Soak * soak)
{
  Listener *listener = any_listener (soak);
  gint what = g_rand_int_range (soak->rand, 0, 400);

  if (what < 20)
    come_or_go (soak);
  else if (what < 40)
    set_property (soak);
  else if (what < 60)
    say_something (soak);
  else if (what < 80)
    read_stats (soak);
  else if (what < 81)
    stop_and_start (soak);
  else if (what < 120 && listener != NULL)
    g_object_set (listener->to, "target-bitrate",
        g_rand_int_range (soak->rand, 0, 400000), NULL);
  else if (what < 124 && listener != NULL)
    g_atomic_int_set (&listener->hold, g_rand_int_range (soak->rand, 1, 40));
}

/* --- the whole ------------------------------------------------------------- */

/* A thread that waits for ever is what this is to find. */
static gpointer
watch (gpointer data)
{
  Soak *soak = data;
  gint64 since_us = g_get_monotonic_time ();
  gint seen = 0;

  while (!g_atomic_int_get (&soak->stop)) {
    gint progress = g_atomic_int_get (&soak->progress);

    if (progress != seen)
      since_us = g_get_monotonic_time ();
    else if (g_get_monotonic_time () - since_us > MINUTE_US)
      g_error ("nothing has happened for a minute");
    seen = progress;
    g_usleep (100000);
  }
  return NULL;
}

static void
check_witness (Soak * soak)
{
  Listener *witness = g_ptr_array_index (soak->listeners, 0);
  gint n = g_atomic_int_get (&witness->n_witness);

  g_atomic_int_set (&witness->n_witness, 0);
  if (n == 0)
    g_error ("a voice that nobody touched was not heard for two seconds");
  soak->n_checks++;
}

static void
soak_start (Soak * soak, guint seed)
{
  GThread *watcher;
  guint i;

  soak->rand = g_rand_new_with_seed (seed);
  soak->listeners = g_ptr_array_new ();
  soak->pipeline = gst_pipeline_new (NULL);
  soak->mix = gst_element_factory_make ("partialmix", NULL);
  g_object_set (soak->mix, "push-timeout", 20 * GST_MSECOND, NULL);
  gst_bin_add (GST_BIN (soak->pipeline), soak->mix);
  listener_new (soak, "src_0", NULL);
  for (i = 0; i < N_TALKERS; i++) {
    Talker *talker = &soak->talkers[i];

    *talker = (Talker) {
      .soak = soak,.index = i,.rand = g_rand_new_with_seed (seed + 1 + i),
          .ssrc = i == 0 ? WITNESS_SSRC : FIRST_SSRC + i
    };
    talker_open (talker);
  }
  gst_element_set_state (soak->pipeline, GST_STATE_PLAYING);
  for (i = 0; i < N_TALKERS; i++)
    soak->talkers[i].thread = g_thread_new ("talker", talk,
        &soak->talkers[i]);
  watcher = g_thread_new ("watch", watch, soak);
  g_thread_unref (watcher);
}

static void
soak_stop (Soak * soak)
{
  guint i;

  g_atomic_int_set (&soak->stop, TRUE);
  for (i = 0; i < N_TALKERS; i++) {
    g_thread_join (soak->talkers[i].thread);
    talker_close (&soak->talkers[i]);
    g_rand_free (soak->talkers[i].rand);
  }
  gst_element_set_state (soak->pipeline, GST_STATE_NULL);
  for (i = 0; i < soak->listeners->len; i++)
    listener_free (soak, g_ptr_array_index (soak->listeners, i));
  g_ptr_array_unref (soak->listeners);
  gst_object_unref (soak->pipeline);
  g_rand_free (soak->rand);
}

int
main (int argc, char **argv)
{
  gint seconds = 10, seed = 1;
  GOptionEntry entries[] = {
    {"seconds", 0, 0, G_OPTION_ARG_INT, &seconds, "how long", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "of what is done", "N"},
    {NULL, 0, 0, 0, NULL, NULL, NULL}
  };
  GOptionContext *context = g_option_context_new (NULL);
  static Soak soak;             /* the watch may look at it at the end */
  gint64 end_us, check_us;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, NULL) || seconds < 1)
    return 2;
  g_option_context_free (context);
  g_print ("seed %d, %d s\n", seed, seconds);

  soak_start (&soak, (guint) seed);
  end_us = g_get_monotonic_time () + seconds * G_USEC_PER_SEC;
  check_us = g_get_monotonic_time () + CHECK_US;
  while (g_get_monotonic_time () < end_us) {
    act (&soak);
    g_atomic_int_inc (&soak.progress);
    g_usleep (STEP_US);
    if (g_get_monotonic_time () >= check_us) {
      check_witness (&soak);
      check_us = g_get_monotonic_time () + CHECK_US;
    }
  }
  soak_stop (&soak);
  g_print ("%d steps, the voice was heard in all of %u checks\n",
      soak.progress, soak.n_checks);
  return soak.n_checks > 0 || seconds < 3 ? 0 : 1;
}
