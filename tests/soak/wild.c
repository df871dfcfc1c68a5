/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nobody does on purpose, to each of our elements.
 *
 *   wild [--seconds=N] [--seed=N] [ELEMENT...]
 *
 * Two threads push what may be RTP, events and queries into all pads that there are,
 * one sends events and queries the other way, and two are an application: they set
 * properties, act by signals, send events, ask for pads and release them, unlink,
 * stop and start, take the element and its rtpbin out and put them in again.  Each
 * element has its N seconds.  A critical or a warning ends it, and so does a thread
 * that waits for a minute.  The seed repeats what each thread does, not when.
 */
#include "../check/gstfairmixproperties.h"
#include "longrun.h"
#include "wildstream.h"

#define N_TALKERS 2
#define N_APPLICATIONS 2        /* threads of one */
#define FEWEST_PADS 2           /* that are never released */
#define MOST_PADS 24
#define FEW 6                   /* numbers that are often the same */
#define ASKED_FOR "wild-asked-for"
#define PAUSE_US 500
#define PATIENCE_US MINUTE_US

/* Elements of which each plugin has some */
static const gchar *const plugins[] = { "partialmix", "fairrate", "fairqueue",
  "fairrtcp", "dpm"
};

/* What would make it talk with somebody else than itself, or write files */
static const gchar *const left_alone[] = { "address", "alert-sink",
  "database-location", "name", "parent", "port", "server", "sources"
};

typedef struct
{
  LongRun *run;
  GstElement *pipeline, *element;
  GMutex application;           /* two of its threads do not give up the same thing */
  GMutex lock;
  GPtrArray *ours;              /* under it: GstPad, linked or not */
  gint stop;                    /* atomic */
} Wild;

typedef struct
{
  Wild *wild;
  GRand *rand;
  void (*act) (Wild * wild, GRand * rand);
  GThread *thread;
} Actor;

/* --- pads of ours ---------------------------------------------------------- */

/* Returns: (transfer full) (nullable): any pad of ours */
static GstPad *
pick_ours (Wild * wild, GRand * rand, GstPadDirection direction)
{
  GstPad *pad = NULL;

  g_mutex_lock (&wild->lock);
  if (wild->ours->len > 0)
    pad = gst_object_ref (g_ptr_array_index (wild->ours,
            g_rand_int_range (rand, 0, (gint) wild->ours->len)));
  g_mutex_unlock (&wild->lock);
  if (pad != NULL && direction != GST_PAD_UNKNOWN
      && GST_PAD_DIRECTION (pad) != direction)
    gst_clear_object (&pad);
  return pad;
}

static GstFlowReturn
chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  static const GstFlowReturn odd[] = { GST_FLOW_FLUSHING, GST_FLOW_EOS,
    GST_FLOW_NOT_LINKED, GST_FLOW_ERROR
  };
  gint any = g_random_int_range (0, 100);

  (void) pad;
  (void) parent;
  gst_buffer_unref (buffer);
  return any < (gint) G_N_ELEMENTS (odd) ? odd[any] : GST_FLOW_OK;
}

static gboolean
ignore_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  (void) pad;
  (void) parent;
  gst_event_unref (event);
  return TRUE;
}

/* GStreamer's own answer looks at caps that another thread may be replacing. */
static gboolean
answer_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCaps *filter;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      gst_query_set_caps_result (query, filter != NULL ? filter : GST_CAPS_ANY);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result (query, g_random_boolean ());
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

static void
begin_stream (GstPad * pad, GRand * rand)
{
  GstSegment segment;
  GstCaps *caps = wild_caps_new (rand);

  wild_segment_init (&segment, rand);
  gst_pad_push_event (pad, gst_event_new_stream_start ("wild"));
  gst_pad_push_event (pad, gst_event_new_caps (caps));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* Links a pad of ours to @pad of the element, and begins a stream there */
static void
attach (Wild * wild, GstPad * pad)
{
  GRand *rand = g_rand_new_with_seed (g_random_int ());
  gboolean is_sink = GST_PAD_DIRECTION (pad) == GST_PAD_SINK;
  GstPad *ours = gst_object_ref_sink (gst_pad_new (NULL, is_sink ? GST_PAD_SRC
          : GST_PAD_SINK));

  if (!is_sink) {
    gst_pad_set_chain_function (ours, chain);
    gst_pad_set_event_function (ours, ignore_event);
  }
  gst_pad_set_query_function (ours, answer_query);
  gst_pad_set_active (ours, TRUE);
  if (is_sink)
    gst_pad_link (ours, pad);
  else
    gst_pad_link (pad, ours);
  if (is_sink)
    begin_stream (ours, rand);
  g_rand_free (rand);
  g_mutex_lock (&wild->lock);
  g_ptr_array_add (wild->ours, ours);
  g_mutex_unlock (&wild->lock);
}

static void
on_pad_added (GstElement * element, GstPad * pad, gpointer user_data)
{
  (void) element;
  if (GST_PAD_DIRECTION (pad) == GST_PAD_SRC && !gst_pad_is_linked (pad))
    attach (user_data, pad);
}

/* Returns: (transfer full) (nullable): any pad of the element */
static GstPad *
pick_theirs (Wild * wild, GRand * rand)
{
  GstPad *pad;

  GST_OBJECT_LOCK (wild->element);
  pad = g_list_nth_data (wild->element->pads,
      (guint) g_rand_int_range (rand, 0,
          MAX (wild->element->numpads, (guint16) 1)));
  if (pad != NULL)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (wild->element);
  return pad;
}

/* --- what each thread does ------------------------------------------------- */

static void
push_something (GstPad * pad, GRand * rand)
{
  gdouble kind = g_rand_double (rand);

  if (kind < 0.02) {
    begin_stream (pad, rand);
  } else if (kind < 0.75) {
    gst_pad_push (pad, wild_buffer_new (rand));
  } else if (kind < 0.8) {
    GstBufferList *list = gst_buffer_list_new ();

    for (gint n = g_rand_int_range (rand, 0, 5); n > 0; n--)
      gst_buffer_list_add (list, wild_buffer_new (rand));
    gst_pad_push_list (pad, list);
  } else if (kind < 0.95) {
    GstEvent *event = wild_event_new (rand);
    gboolean flushed = GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP;

    gst_pad_push_event (pad, event);
    if (flushed)
      begin_stream (pad, rand);
  } else {
    GstQuery *query = wild_query_new (rand, TRUE);

    gst_pad_peer_query (pad, query);
    gst_query_unref (query);
  }
}

static void
talk (Wild * wild, GRand * rand)
{
  GstPad *pad = pick_ours (wild, rand, GST_PAD_SRC);

  if (pad == NULL)
    return;
  /* nobody flushes what another thread is flushing */
  if (GST_PAD_STREAM_TRYLOCK (pad)) {
    push_something (pad, rand);
    GST_PAD_STREAM_UNLOCK (pad);
  }
  gst_object_unref (pad);
}

static void
answer (Wild * wild, GRand * rand)
{
  GstPad *pad = pick_ours (wild, rand, GST_PAD_SINK);

  if (pad != NULL && g_rand_boolean (rand)) {
    gst_pad_push_event (pad, wild_upstream_event_new (rand));
  } else if (pad != NULL) {
    GstQuery *query = wild_query_new (rand, FALSE);

    gst_pad_peer_query (pad, query);
    gst_query_unref (query);
  }
  gst_clear_object (&pad);
  g_usleep (PAUSE_US);
}

static gboolean
is_left_alone (const GParamSpec * pspec)
{
  for (guint i = 0; i < G_N_ELEMENTS (left_alone); i++)
    if (g_str_equal (pspec->name, left_alone[i]))
      return TRUE;
  return !(pspec->flags & G_PARAM_WRITABLE)
      || (pspec->flags & G_PARAM_CONSTRUCT_ONLY);
}

static void
set_a_property (GObject * object, GRand * rand)
{
  guint n;
  GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (object), &n);
  GParamSpec *pspec = all[g_rand_int_range (rand, 0, (gint) n)];
  gdouble share = 1.5 * g_rand_double (rand);
  GValue value = G_VALUE_INIT;

  g_value_init (&value, pspec->value_type);
  if (G_IS_PARAM_SPEC_INT (pspec) && g_rand_boolean (rand))
    share = (g_rand_int_range (rand, 0, FEW) + 0.5) / G_MAXINT;
  if (!is_left_alone (pspec) && set_share (pspec, &value, MIN (share, 1.0)))
    g_object_set_property (object, pspec->name, &value);
  else if (pspec->flags & G_PARAM_READABLE)
    g_object_get_property (object, pspec->name, &value);
  g_value_unset (&value);
  g_free (all);
}

/* Returns: (transfer full) (nullable): a name that no pad has, or none at all */
static gchar *
name_of_a_pad (Wild * wild, GRand * rand, const GstPadTemplate * template)
{
  const gchar *number = strstr (template->name_template, "%u");
  gchar *name;
  GstPad *pad;

  if (number == NULL || g_rand_boolean (rand))
    return NULL;
  name = g_strdup_printf ("%.*s%d", (gint) (number - template->name_template),
      template->name_template, g_rand_int_range (rand, 0, FEW));
  pad = gst_element_get_static_pad (wild->element, name);
  if (pad != NULL)
    g_clear_pointer (&name, g_free);
  gst_clear_object (&pad);
  return name;
}

static void
ask_for_a_pad (Wild * wild, GRand * rand)
{
  gchar *name;
  GList *all = gst_element_get_pad_template_list (wild->element);
  GstPadTemplate *template = g_list_nth_data (all,
      g_rand_int (rand) % MAX (g_list_length (all), 1));
  GstPad *pad;

  if (template == NULL || template->presence != GST_PAD_REQUEST
      || wild->element->numpads > MOST_PADS)
    return;
  name = name_of_a_pad (wild, rand, template);
  pad = gst_element_request_pad (wild->element, template, name, NULL);
  g_free (name);
  if (pad == NULL)
    return;
  if (!gst_pad_is_linked (pad))
    attach (wild, pad);
  /* before it is somebody's nobody gives it up */
  g_object_set_data (G_OBJECT (pad), ASKED_FOR, wild);
  gst_object_unref (pad);
}

static void
release_a_pad (Wild * wild, GRand * rand)
{
  GstPad *pad = pick_theirs (wild, rand);
  GstPadTemplate *template = pad != NULL ? GST_PAD_PAD_TEMPLATE (pad) : NULL;

  g_mutex_lock (&wild->application);
  if (template != NULL && g_object_get_data (G_OBJECT (pad), ASKED_FOR) != NULL
      && wild->element->numpads > FEWEST_PADS
      && gst_object_has_as_parent (GST_OBJECT (pad),
          GST_OBJECT (wild->element)))
    gst_element_release_request_pad (wild->element, pad);
  g_mutex_unlock (&wild->application);
  gst_clear_object (&pad);
}

static void
unlink_a_pad (Wild * wild, GRand * rand)
{
  GstPad *pad = pick_ours (wild, rand, GST_PAD_UNKNOWN);
  GstPad *peer = pad != NULL ? gst_pad_get_peer (pad) : NULL;

  if (peer != NULL && GST_PAD_IS_SRC (pad))
    gst_pad_unlink (pad, peer);
  else if (peer != NULL)
    gst_pad_unlink (peer, pad);
  gst_clear_object (&peer);
  gst_clear_object (&pad);
}

static void
change_state (Wild * wild, GRand * rand)
{
  gst_element_set_state (wild->pipeline,
      (GstState) g_rand_int_range (rand, GST_STATE_NULL, GST_STATE_PLAYING));
  gst_element_set_state (wild->pipeline, GST_STATE_PLAYING);
}

/* A structure of what may be said of a stream */
static GstStructure *
structure_new (GRand * rand)
{
  static const gchar *const texts[] = { "x", "x,mute=(boolean)true",
    "x,gain-db=(double)-300,pan=(double)7", "x,neighbour=(int)1,mute=true",
    "x,priority=(int)-5,group=(string)a", "x,gain-db=(string)x"
  };

  return gst_structure_from_string (texts[g_rand_int_range (rand, 0,
              G_N_ELEMENTS (texts))], NULL);
}

/* Emits one of the action signals that the element has, or its parents. */
static void
act_on_it (Wild * wild, GRand * rand)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint));
  GValue values[4] = { G_VALUE_INIT }, result = G_VALUE_INIT;
  GSignalQuery signal;

  for (GType type = G_OBJECT_TYPE (wild->element); type != GST_TYPE_ELEMENT;
      type = g_type_parent (type)) {
    guint n, *of_type = g_signal_list_ids (type, &n);

    g_array_append_vals (ids, of_type, n);
    g_free (of_type);
  }
  if (ids->len > 0)
    g_signal_query (g_array_index (ids, guint, g_rand_int (rand) % ids->len),
        &signal);
  if (ids->len > 0 && (signal.signal_flags & G_SIGNAL_ACTION)
      && signal.n_params < G_N_ELEMENTS (values)) {
    g_value_init (&values[0], G_OBJECT_TYPE (wild->element));
    g_value_set_object (&values[0], wild->element);
    for (guint i = 0; i < signal.n_params; i++) {
      GValue *value = &values[1 + i];
      guint any = g_rand_int (rand) >> g_rand_int_range (rand, 0, 32);

      g_value_init (value, signal.param_types[i]);
      if (G_VALUE_HOLDS_UINT (value))
        g_value_set_uint (value, any);
      else if (G_VALUE_HOLDS_UINT64 (value))
        g_value_set_uint64 (value, any);
      else if (G_VALUE_HOLDS_DOUBLE (value))
        g_value_set_double (value, any / 3.0 - 1.0);
      else if (G_VALUE_HOLDS_BOOLEAN (value))
        g_value_set_boolean (value, any % 2);
      else if (value->g_type == GST_TYPE_STRUCTURE)
        g_value_take_boxed (value, structure_new (rand));
    }
    if (signal.return_type != G_TYPE_NONE)
      g_value_init (&result, signal.return_type);
    g_signal_emitv (values, signal.signal_id, 0, &result);
    for (guint i = 0; i <= signal.n_params; i++)
      g_value_unset (&values[i]);
    if (signal.return_type != G_TYPE_NONE)
      g_value_unset (&result);
  }
  g_array_unref (ids);
}

/* None for which it waits until a talker is done, which may wait itself for who flushes */
static void
send_event (Wild * wild, GRand * rand)
{
  GstEvent *event = g_rand_boolean (rand) ? wild_event_new (rand)
      : wild_upstream_event_new (rand);

  if (GST_EVENT_IS_SERIALIZED (event)
      || GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
    gst_event_unref (event);
  else
    gst_element_send_event (wild->element, event);
}

/* The element, or the rtpbin that it may look for, is taken out and put in again. */
static void
take_out (Wild * wild, GRand * rand)
{
  GstElement *other = gst_bin_get_by_name (GST_BIN (wild->pipeline),
      "rtpbin0");
  GstElement *element = g_rand_boolean (rand) ? wild->element : other;

  if (element == other) {
    gst_bin_remove (GST_BIN (wild->pipeline), other);
    gst_element_set_state (other, GST_STATE_NULL);
    element = gst_element_factory_make ("rtpbin", "rtpbin0");
  } else {
    gst_object_ref (element);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (wild->pipeline), element);
  }
  gst_bin_add (GST_BIN (wild->pipeline), element);
  gst_element_sync_state_with_parent (element);
  if (element == wild->element)
    gst_object_unref (element);
  gst_clear_object (&other);
}

static void
apply (Wild * wild, GRand * rand)
{
  GstPad *pad;

  switch (g_rand_int_range (rand, 0, 20)) {
    case 0:
    case 1:
      pad = pick_theirs (wild, rand);
      if (pad != NULL)
        set_a_property (G_OBJECT (pad), rand);
      gst_clear_object (&pad);
      break;
    case 2:
    case 3:
      ask_for_a_pad (wild, rand);
      break;
    case 4:
      release_a_pad (wild, rand);
      break;
    case 5:
      unlink_a_pad (wild, rand);
      break;
    case 6:
      change_state (wild, rand);
      break;
    case 7:
    case 8:
      act_on_it (wild, rand);
      break;
    case 9:
      send_event (wild, rand);
      break;
    case 10:
      if (g_rand_int_range (rand, 0, 4) == 0) {
        g_mutex_lock (&wild->application);
        take_out (wild, rand);
        g_mutex_unlock (&wild->application);
      }
      break;
    default:
      set_a_property (G_OBJECT (wild->element), rand);
  }
  long_run_read_messages (wild->pipeline, TRUE);
  g_atomic_int_inc (&wild->run->progress);
  g_usleep (4 * PAUSE_US);
}

/* --- an element ------------------------------------------------------------ */

static gpointer
act_until_stop (gpointer data)
{
  Actor *actor = data;

  while (!g_atomic_int_get (&actor->wild->stop))
    actor->act (actor->wild, actor->rand);
  return NULL;
}

/* Leaves it stopped. */
static void
act_all (Wild * wild)
{
  Actor actors[N_APPLICATIONS + 1 + N_TALKERS];

  for (guint i = 0; i < G_N_ELEMENTS (actors); i++) {
    actors[i] = (Actor) {
    .wild = wild,.rand =
          g_rand_new_with_seed ((guint32) wild->run->seed * 100 + i),.act =
          i < N_APPLICATIONS ? apply : i == N_APPLICATIONS ? answer : talk};
    actors[i].thread = g_thread_new ("wild", act_until_stop, &actors[i]);
  }
  g_usleep ((gulong) wild->run->seconds * G_USEC_PER_SEC);
  g_atomic_int_set (&wild->stop, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (actors); i++) {
    g_thread_join (actors[i].thread);
    g_rand_free (actors[i].rand);
    if (i == N_APPLICATIONS - 1)        /* some wait in it */
      gst_element_set_state (wild->pipeline, GST_STATE_NULL);
  }
}

/* The element finds its rtpbin, and nobody else. */
static void
keep_to_itself (GstElement * element)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);

  if (g_object_class_find_property (klass, "rtpbin") != NULL)
    g_object_set (element, "rtpbin", "rtpbin0", NULL);
  if (g_object_class_find_property (klass, "server") != NULL)
    g_object_set (element, "server", "127.0.0.1:9", NULL);
  if (g_object_class_find_property (klass, "may-mix") != NULL
      || g_object_class_find_property (klass, "max-clients") != NULL)
    g_object_set (element, "port", 0, NULL);
}

static void
be_wild_with (const gchar * name, LongRun * run)
{
  Wild wild = {.run = run,.pipeline = gst_pipeline_new (NULL),.ours =
        g_ptr_array_new_with_free_func (gst_object_unref)
  };
  GstElement *rtpbin = gst_element_factory_make ("rtpbin", "rtpbin0");

  g_print ("%s\n", name);
  g_mutex_init (&wild.lock);
  g_mutex_init (&wild.application);
  wild.element = gst_element_factory_make (name, NULL);
  keep_to_itself (wild.element);
  g_signal_connect (wild.element, "pad-added", G_CALLBACK (on_pad_added),
      &wild);
  gst_bin_add_many (GST_BIN (wild.pipeline), rtpbin, wild.element, NULL);
  for (GList * l = wild.element->pads; l != NULL; l = l->next)
    attach (&wild, l->data);
  gst_element_set_state (wild.pipeline, GST_STATE_PLAYING);
  act_all (&wild);
  gst_object_unref (wild.pipeline);
  g_ptr_array_unref (wild.ours);
  g_mutex_clear (&wild.lock);
  g_mutex_clear (&wild.application);
}

static void
be_wild_with_plugin (const gchar * plugin, LongRun * run)
{
  GList *all = gst_registry_get_feature_list_by_plugin (gst_registry_get (),
      plugin);

  if (all == NULL)
    g_error ("there is no plugin %s", plugin);
  for (GList * l = all; l != NULL; l = l->next)
    if (GST_IS_ELEMENT_FACTORY (l->data))
      be_wild_with (GST_OBJECT_NAME (l->data), run);
  gst_plugin_feature_list_free (all);
}

static void
ignore_warning (const gchar * domain, GLogLevelFlags level,
    const gchar * message, gpointer user_data)
{
  (void) domain;
  (void) level;
  (void) message;
  (void) user_data;
}

int
main (int argc, char **argv)
{
  static LongRun run = {.seconds = 1,.seed = 1,.patience_us = PATIENCE_US };

  if (!long_run_init (&run, &argc, &argv))
    return 2;
  /* it is GStreamer that warns of streams such as these */
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL);
  g_log_set_handler ("GStreamer", G_LOG_LEVEL_WARNING, ignore_warning, NULL);
  g_random_set_seed ((guint32) run.seed);
  long_run_watch (&run);
  for (gint i = 1; i < argc; i++)
    be_wild_with (argv[i], &run);
  for (guint i = 0; i < G_N_ELEMENTS (plugins) && argc < 2; i++)
    be_wild_with_plugin (plugins[i], &run);
  g_atomic_int_set (&run.stop, TRUE);
  g_print ("%d steps\ndone\n", g_atomic_int_get (&run.progress));
  return 0;
}
