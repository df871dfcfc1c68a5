/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What applications and peers do to partialmix, all of it at once, for long.
 *
 *   soak [--seconds=N] [--seed=N]
 *
 * Talkers send from threads of their own, one by one and in lists, in one encoding
 * and in another, with RTCP that says anything.  They join and leave under many
 * SSRCs, flood, flush, are unlinked and linked again, and release their pads.
 * Meanwhile listeners come, go, are linked elsewhere, block, and want other rates
 * and formats; properties are set, the Database is rewritten, streams are named and
 * removed, statistics read, and the element is stopped and started.
 *
 * One talker and one listener stay out of it, and that listener must always get
 * that voice: how many packets of it went by without one is said at the end, and
 * 500 are too many, whatever else the machine has to do.  Nothing may stand still
 * for five minutes.
 * Run it in a build with a sanitizer; the seed repeats the sequence of what is
 * done, not the moments at which threads meet.
 */
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <gst/rtp/rtp.h>
#include <stdlib.h>
#include <string.h>

#include "longrun.h"

#define PCMU_CAPS "application/x-rtp,media=audio,payload=0,clock-rate=8000," \
  "encoding-name=PCMU"
#define OPUS_CAPS "application/x-rtp,media=audio,payload=96,clock-rate=48000," \
  "encoding-name=OPUS"
#define L16_CAPS "application/x-rtp,media=audio,payload=96,clock-rate=16000," \
  "encoding-name=L16,channels=1"
#define RAW_CAPS "audio/x-raw,format=S16LE,rate=48000,layout=interleaved"
#define N_TALKERS 4
#define MAX_LISTENERS 6
#define FRAME_BYTES 160
#define WITNESS_SSRC 0xcafe
#define FIRST_SSRC 100000
#define STEP_US 2000
#define MAX_UNHEARD 500
#define PATIENCE_US (5 * MINUTE_US)

typedef struct _Soak Soak;

typedef struct
{
  Soak *soak;
  GstPad *pad, *to;             /* ours, and the element's */
  gint hold;                    /* atomic: until then it blocks, in 10 ms */
  gint n_witness;               /* atomic: packets of the witness ... */
  gint said_then;               /* ... atomic: said when the latest came ... */
  gint n_unheard;               /* ... and the most said between two */
} Listener;

typedef struct
{
  Soak *soak;
  GThread *thread;
  GRand *rand;
  guint index;
  GstPad *pad, *to;
  GstPad *rtcp_pad, *rtcp_to;
  guint32 ssrc;
  guint16 seq;
  guint8 pt;                    /* 0 = PCMU, 96 = what the caps said last */
  guint start;                  /* of the pipeline, that it knows of */
} Talker;

struct _Soak
{
  GstElement *pipeline, *mix;
  GRand *rand;
  LongRun run;
  GRWLock starting;             /* talkers do not push in the meantime */
  guint n_starts;               /* under it */
  Talker talkers[N_TALKERS];
  GPtrArray *listeners;         /* the first one is the witness */
  gint n_said;                  /* atomic: packets of the witness */
  gchar *database;              /* a file */
};

/* --- talkers --------------------------------------------------------------- */

static GstBuffer *
make_packet (guint32 ssrc, guint16 seq, guint8 pt)
{
  GstBuffer *buffer = gst_rtp_buffer_new_allocate (FRAME_BYTES, 0, 0);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  gst_rtp_buffer_map (buffer, GST_MAP_READWRITE, &rtp);
  gst_rtp_buffer_set_payload_type (&rtp, pt);
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
push_caps (GstPad * pad, const gchar * text)
{
  GstCaps *caps = gst_caps_from_string (text);

  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_caps_unref (caps);
}

static void
push_first_events (GstPad * pad, const gchar * caps)
{
  gst_pad_push_event (pad, gst_event_new_stream_start (GST_PAD_NAME (pad)));
  push_caps (pad, caps);
  push_segment (pad);
}

/* Returns: a pad of ours that is linked to the one that it asks for */
static GstPad *
open_pad (Soak * soak, const gchar * template, guint number,
    const gchar * caps, GstPad ** to)
{
  gchar *name = g_strdup_printf (template, number);
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);

  *to = gst_element_request_pad_simple (soak->mix, name);
  gst_pad_set_active (pad, TRUE);
  gst_pad_link (pad, *to);
  push_first_events (pad, caps);
  g_free (name);
  return pad;
}

static void
close_pad (Soak * soak, GstPad * pad, GstPad * to)
{
  gst_pad_unlink (pad, to);
  gst_element_release_request_pad (soak->mix, to);
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (to);
  gst_object_unref (pad);
}

static void
talker_open (Talker * talker)
{
  Soak *soak = talker->soak;

  talker->pad = open_pad (soak, "sink_%u", 10 + talker->index, PCMU_CAPS,
      &talker->to);
  talker->rtcp_pad = open_pad (soak, "rtcp_sink_%u", 10 + talker->index,
      "application/x-rtcp", &talker->rtcp_to);
  talker->pt = 0;
}

static void
talker_close (Talker * talker)
{
  close_pad (talker->soak, talker->pad, talker->to);
  close_pad (talker->soak, talker->rtcp_pad, talker->rtcp_to);
}

static void
talker_flood (Talker * talker)
{
  guint i;

  for (i = 0; i < 200; i++)
    gst_pad_push (talker->pad, make_packet (g_rand_int (talker->rand), 1,
            talker->pt));
}

/* A payload type that means something else from here on. */
static void
talker_change_caps (Talker * talker)
{
  push_caps (talker->pad, g_rand_boolean (talker->rand) ? OPUS_CAPS : L16_CAPS);
  talker->pt = g_rand_boolean (talker->rand) ? 96 : 0;
}

static void
talker_push_list (Talker * talker)
{
  GstBufferList *list = gst_buffer_list_new ();
  guint i;

  for (i = 0; i < 5; i++)
    gst_buffer_list_add (list, make_packet (talker->ssrc, talker->seq++,
            talker->pt));
  gst_pad_push_list (talker->pad, list);
}

/* SDES, BYE, or what is neither; of oneself and of others */
static void
talker_say_rtcp (Talker * talker)
{
  GRand *rand = talker->rand;
  guint32 ssrc = g_rand_boolean (rand) ? talker->ssrc : WITNESS_SSRC;
  guint8 sdes[] = { 0x81, 202, 0, 3, 0, 0, 0, 0, 1, 3, 'm', 'a', 'x', 0, 0, 0 };
  guint8 bye[] = { 0x81, 203, 0, 1, 0, 0, 0, 0 };
  guint8 *data = g_rand_boolean (rand) ? sdes : bye;
  gsize n = data == sdes ? sizeof sdes : sizeof bye;
  guint32 *at = (guint32 *) (gpointer) (data + 4);

  GST_WRITE_UINT32_BE (at, ssrc);
  if (g_rand_int_range (rand, 0, 4) == 0)
    n = (gsize) g_rand_int_range (rand, 1, (gint) n);
  if (g_rand_int_range (rand, 0, 4) == 0)
    data[g_rand_int_range (rand, 0, 8)] = (guint8) g_rand_int (rand);
  gst_pad_push (talker->rtcp_pad, gst_buffer_new_memdup (data, n));
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
    case 8:
      talker_change_caps (talker);
      break;
    case 9:
    case 10:
      talker_push_list (talker);
      break;
    case 11:
    case 12:
      talker_say_rtcp (talker);
      break;
    default:
      break;
  }
}

/* What a pad was told is gone when it was stopped. */
static void
talker_start (Talker * talker)
{
  if (talker->start == talker->soak->n_starts)
    return;
  talker->start = talker->soak->n_starts;
  push_first_events (talker->pad, PCMU_CAPS);
  push_first_events (talker->rtcp_pad, "application/x-rtcp");
  talker->pt = 0;
}

static gpointer
talk (gpointer data)
{
  Talker *talker = data;
  Soak *soak = talker->soak;
  GstFlowReturn flow;

  while (!g_atomic_int_get (&soak->run.stop)) {
    g_rw_lock_reader_lock (&soak->starting);
    talker_start (talker);
    /* the first one is the witness */
    if (talker->index > 0)
      talker_act (talker);
    flow = gst_pad_push (talker->pad, make_packet (talker->ssrc,
            talker->seq++, talker->pt));
    /* what is refused while the element stops was not said to anybody */
    if (talker->index == 0 && flow == GST_FLOW_OK)
      g_atomic_int_inc (&soak->n_said);
    g_rw_lock_reader_unlock (&soak->starting);
    g_usleep (talker->index > 0 ? 3000 : 20000);
  }
  return NULL;
}

/* --- listeners ------------------------------------------------------------- */

static void
hear_witness (Listener * listener)
{
  gint said = g_atomic_int_get (&listener->soak->n_said);
  gint unheard = said - g_atomic_int_get (&listener->said_then);

  g_atomic_int_inc (&listener->n_witness);
  g_atomic_int_set (&listener->said_then, said);
  if (unheard > g_atomic_int_get (&listener->n_unheard))
    g_atomic_int_set (&listener->n_unheard, unheard);
}

static GstFlowReturn
take (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  Listener *listener = gst_pad_get_element_private (pad);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;

  (void) parent;
  while (g_atomic_int_get (&listener->hold) > 0 && GST_PAD_IS_ACTIVE (pad)) {
    g_atomic_int_add (&listener->hold, -1);
    g_usleep (10000);
  }
  if (gst_buffer_get_size (buffer) < 1000
      && gst_rtp_buffer_map (buffer, GST_MAP_READ, &rtp)) {
    if (gst_rtp_buffer_get_ssrc (&rtp) == WITNESS_SSRC)
      hear_witness (listener);
    gst_rtp_buffer_unmap (&rtp);
  }
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static Listener *
listener_new (Soak * soak, const gchar * name, const gchar * caps)
{
  Listener *listener = g_new0 (Listener, 1);
  GstCaps *c = gst_caps_from_string (caps);
  GstPadTemplate *template;

  /* without one a pad takes nothing but what it was given first, and GStreamer
   * looks at those caps unprotected */
  template = gst_object_ref_sink (gst_pad_template_new ("sink", GST_PAD_SINK,
          GST_PAD_ALWAYS, c));
  listener->soak = soak;
  listener->pad = gst_pad_new_from_template (template, NULL);
  gst_object_unref (template);
  gst_caps_unref (c);
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

/* A moment without a link; or it takes something else from now on. */
static void
listener_relink (Listener * listener)
{
  gst_pad_unlink (listener->to, listener->pad);
  gst_pad_link (listener->to, listener->pad);
}

static void
listener_want (Soak * soak, Listener * listener)
{
  guint n = (guint) g_rand_int_range (soak->rand, 0, 400000);
  GstEvent *event;

  switch (g_rand_int_range (soak->rand, 0, 3)) {
    case 0:
      event = gst_event_new_reconfigure ();
      break;
    case 1:
      event = gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
          gst_structure_new ("fairmix-max-streams",
              "max-streams", G_TYPE_UINT, n % 8, NULL));
      break;
    default:
      event = gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM,
          gst_structure_new ("fairmix-target-bitrate",
              "bitrate", G_TYPE_UINT, n, NULL));
      break;
  }
  gst_pad_push_event (listener->pad, event);
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
  static const gchar *const caps[] = { "ANY", RAW_CAPS, PCMU_CAPS, OPUS_CAPS };
  Listener *listener = any_listener (soak);

  if (listener != NULL && (soak->listeners->len > MAX_LISTENERS
          || g_rand_boolean (soak->rand))) {
    g_ptr_array_remove (soak->listeners, listener);
    listener_free (soak, listener);
  } else {
    listener_new (soak, "src_%u", caps[g_rand_int_range (soak->rand, 0,
                G_N_ELEMENTS (caps))]);
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

/* What is latched is set as well: it holds from the next start on. */
static void
set_another_property (Soak * soak)
{
  static const guint rates[] = { 8000, 16000, 24000, 48000 };
  GRand *rand = soak->rand;

  switch (g_rand_int_range (rand, 0, 6)) {
    case 0:
      g_object_set (soak->mix, "rate", rates[g_rand_int_range (rand, 0, 4)],
          NULL);
      break;
    case 1:
      g_object_set (soak->mix, "ramp-duration", (guint64)
          g_rand_int_range (rand, 0, 11) * GST_MSECOND, NULL);
      break;
    case 2:
      g_object_set (soak->mix, "complexity", g_rand_int_range (rand, 0, 11),
          NULL);
      break;
    case 3:
      g_object_set (soak->mix, "threads", g_rand_int_range (rand, 0, 5), NULL);
      break;
    case 4:
      g_object_set (soak->mix, "mix-pt", g_rand_int_range (rand, 0, 129), NULL);
      break;
    default:
      g_object_set (soak->mix, "stream-timeout", (guint64)
          g_rand_int_range (rand, 1, 60) * GST_SECOND, NULL);
      break;
  }
}

/* It is read again once a second. */
static void
write_database (Soak * soak)
{
  static const gchar *const keys[] = { "priority", "group", "gain-db", "pan",
    "never-mix", "mute", "priorty", "[default]\nx"
  };
  GString *text = g_string_new ("[neighbour 0/default]\nmute=false\n");
  guint i;

  for (i = 0; i < 20; i++)
    g_string_append_printf (text, "[ssrc:%u]\n%s=%d\n", FIRST_SSRC
        + (guint) g_rand_int_range (soak->rand, 0, 500),
        keys[g_rand_int_range (soak->rand, 0, G_N_ELEMENTS (keys))],
        g_rand_int_range (soak->rand, -20, 20));
  g_file_set_contents (soak->database, text->str, -1, NULL);
  g_string_free (text, TRUE);
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
  if (g_rand_boolean (soak->rand)) {
    gst_element_set_state (soak->pipeline, GST_STATE_PAUSED);
    gst_element_set_state (soak->pipeline, GST_STATE_PLAYING);
    return;
  }
  gst_element_set_state (soak->pipeline, GST_STATE_READY);
  g_rw_lock_writer_lock (&soak->starting);
  gst_element_set_state (soak->pipeline, GST_STATE_PLAYING);
  soak->n_starts++;
  g_rw_lock_writer_unlock (&soak->starting);
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
  else if (what < 134)
    set_another_property (soak);
  else if (what < 135)
    write_database (soak);
  else if (what < 145 && listener != NULL)
    listener_relink (listener);
  else if (what < 155 && listener != NULL)
    listener_want (soak, listener);
}

/* --- the whole ------------------------------------------------------------- */

static Listener *
soak_witness (Soak * soak)
{
  return g_ptr_array_index (soak->listeners, 0);
}

static void
check_witness (Soak * soak)
{
  Listener *witness = soak_witness (soak);
  /* first what was heard: more may be said in between, and be heard soon */
  gint then = g_atomic_int_get (&witness->said_then);

  if (g_atomic_int_get (&soak->n_said) - then > MAX_UNHEARD
      && then == g_atomic_int_get (&witness->said_then))
    g_error ("a voice that nobody touched is not heard");
}

static void
soak_start (Soak * soak, guint seed)
{
  guint i;

  soak->rand = g_rand_new_with_seed (seed);
  soak->listeners = g_ptr_array_new ();
  soak->pipeline = gst_pipeline_new (NULL);
  soak->mix = gst_element_factory_make ("partialmix", NULL);
  soak->database = g_strdup_printf ("%s/soak-%u.ini", g_get_tmp_dir (),
      g_random_int ());
  write_database (soak);
  g_object_set (soak->mix, "database-location", soak->database, NULL);
  gst_bin_add (GST_BIN (soak->pipeline), soak->mix);
  listener_new (soak, "src_0", "ANY");
  for (i = 0; i < N_TALKERS; i++) {
    Talker *talker = &soak->talkers[i];

    *talker = (Talker) {
    .soak = soak,.index = i,.rand =
          g_rand_new_with_seed (seed + 1 + i),.ssrc =
          i == 0 ? WITNESS_SSRC : FIRST_SSRC + i};
    talker_open (talker);
  }
  gst_element_set_state (soak->pipeline, GST_STATE_PLAYING);
  for (i = 0; i < N_TALKERS; i++)
    soak->talkers[i].thread = g_thread_new ("talker", talk, &soak->talkers[i]);
  long_run_watch (&soak->run);
}

static void
soak_stop (Soak * soak)
{
  guint i;

  g_atomic_int_set (&soak->run.stop, TRUE);
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
  g_unlink (soak->database);
  g_free (soak->database);
}

static void
say_how_far (Soak * soak, gint64 begun_us)
{
  Listener *witness = soak_witness (soak);
  gint64 s = (g_get_monotonic_time () - begun_us) / G_USEC_PER_SEC;

  g_print ("%" G_GINT64_FORMAT " s: %d steps, %u listeners, the voice was "
      "heard %d times, %d packets of it not at a stretch\n", s,
      g_atomic_int_get (&soak->run.progress), soak->listeners->len,
      g_atomic_int_get (&witness->n_witness),
      g_atomic_int_get (&witness->n_unheard));
}

int
main (int argc, char **argv)
{
  static Soak soak = {          /* the watch may look at it at the end */
    .run = {.seconds = 10,.seed = 1,.patience_us = PATIENCE_US}
  };
  gint64 begun_us, say_us;
  gboolean heard;

  if (!long_run_init (&soak.run, &argc, &argv))
    return 2;
  soak_start (&soak, (guint) soak.run.seed);
  begun_us = g_get_monotonic_time ();
  say_us = begun_us + MINUTE_US;
  while (g_get_monotonic_time () < begun_us
      + (gint64) soak.run.seconds * G_USEC_PER_SEC) {
    act (&soak);
    long_run_read_messages (soak.pipeline, FALSE);
    check_witness (&soak);
    g_atomic_int_inc (&soak.run.progress);
    g_usleep (STEP_US);
    if (g_get_monotonic_time () >= say_us) {
      say_how_far (&soak, begun_us);
      say_us += MINUTE_US;
    }
  }
  say_how_far (&soak, begun_us);
  heard = g_atomic_int_get (&soak_witness (&soak)->n_witness) > 0;
  soak_stop (&soak);
  g_print ("done\n");
  return heard ? 0 : 1;
}
