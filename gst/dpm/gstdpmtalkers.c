/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmtalkers.h"

#include <string.h>
#include "common/gstfairmixlock.h"
#include "common/gstfairmixpause.h"

/* The neighbour for whom the mixer has them, and so many before it; no session has such a
 * number. */
#define NEIGHBOUR 2147483647
#define NEIGHBOURS 1024

/* What all pads share: the mixer's pad, and who chooses one of them. */
typedef struct
{
  GstPad *mixer_pad;
  GstElement *slots;
  GPtrArray *elements;          /* @slots */
  guint n_users;                /* with the lock */
} Stage;

/* One pad, and what decodes it. */
typedef struct
{
  Stage *stage;
  guint number;
  GstPad *ghost, *slot;
  GPtrArray *elements;
} Place;

/* Whoever makes, links or removes something may call the application, which may ask for
 * another pad, or wait for a thread that does: nobody has the lock meanwhile. */
struct _GstDpmTalkers
{
  GstDpmGraph *graph;
  gint n_stages;                /* atomic: there were so many */
  GstFairmixLock lock;
  guint64 taken;                /* a bit for each number */
  Stage *stage;                 /* (nullable): while it has users */
  GPtrArray *places;
};

GstDpmTalkers *
gst_dpm_talkers_new (GstDpmGraph * graph)
{
  GstDpmTalkers *self = g_new0 (GstDpmTalkers, 1);

  self->graph = graph;
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_HELPER);
  self->places = g_ptr_array_new_with_free_func (g_free);
  return self;
}

void
gst_dpm_talkers_free (GstDpmTalkers * self)
{
  for (guint i = 0; i < self->places->len; i++) {
    Place *place = g_ptr_array_index (self->places, i);

    gst_object_unref (place->slot);
    g_ptr_array_unref (place->elements);
  }
  if (self->stage != NULL) {
    gst_object_unref (self->stage->mixer_pad);
    g_ptr_array_unref (self->stage->elements);
    g_free (self->stage);
  }
  g_ptr_array_unref (self->places);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self);
}

/* --- what all share ------------------------------------------------------ */

static Stage *
stage_new (GstDpmTalkers * self)
{
  guint n = (guint) g_atomic_int_add (&self->n_stages, 1) % NEIGHBOURS;
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstElement *slots = gst_dpm_graph_make (self->graph, "rtpslots", elements);
  Stage *stage;
  GstPad *sink;
  gchar *name;

  if (slots == NULL) {
    g_ptr_array_unref (elements);
    return NULL;
  }
  stage = g_new0 (Stage, 1);
  stage->slots = slots;
  stage->elements = elements;
  gst_dpm_graph_start (elements);
  /* one that goes may still be there */
  name = g_strdup_printf ("src_%u", NEIGHBOUR - n);
  stage->mixer_pad = gst_element_request_pad_simple (self->graph->mixer, name);
  sink = gst_element_get_static_pad (slots, "sink");
  gst_pad_link (stage->mixer_pad, sink);
  gst_object_unref (sink);
  g_free (name);
  return stage;
}

static void
stage_free (GstDpmTalkers * self, Stage * stage)
{
  gst_element_release_request_pad (self->graph->mixer, stage->mixer_pad);
  gst_object_unref (stage->mixer_pad);
  gst_dpm_graph_remove (self->graph, stage->elements);
  g_free (stage);
}

/* Counts one more user.  @made: (inout) (nullable): is taken if there is none.  Returns:
 * (nullable): there is none, or no room */
static Stage *
stage_join (GstDpmTalkers * self, Stage ** made)
{
  Stage *stage;

  gst_fairmix_lock_acquire (&self->lock);
  if (self->stage == NULL)
    self->stage = g_steal_pointer (made);
  stage = self->stage;
  if (stage != NULL && stage->n_users == GST_DPM_MAX_TALKERS)
    stage = NULL;
  if (stage != NULL)
    stage->n_users++;
  gst_fairmix_lock_release (&self->lock);
  return stage;
}

static Stage *
stage_get (GstDpmTalkers * self)
{
  Stage *made = NULL, *stage = stage_join (self, &made);

  if (stage != NULL || gst_dpm_talkers_get_n (self) == GST_DPM_MAX_TALKERS)
    return stage;
  made = stage_new (self);
  if (made != NULL)
    stage = stage_join (self, &made);
  if (made != NULL)             /* somebody else was faster */
    stage_free (self, made);
  return stage;
}

static void
stage_leave (GstDpmTalkers * self, Stage * stage)
{
  gboolean last;

  gst_fairmix_lock_acquire (&self->lock);
  last = --stage->n_users == 0;
  if (last)
    self->stage = NULL;
  gst_fairmix_lock_release (&self->lock);
  if (last)
    stage_free (self, stage);
}

/* --- places -------------------------------------------------------------- */

static gboolean
is_taken (GstDpmTalkers * self, guint64 number)
{
  return (self->taken >> number & 1) != 0;
}

/* The number in @name, or the first that is free; GST_DPM_MAX_TALKERS if there is none.
 * It is taken before there is a pad, and until there is none: others may ask meanwhile. */
static guint
take_number (GstDpmTalkers * self, const gchar * name)
{
  guint64 number = 0;

  gst_fairmix_lock_acquire (&self->lock);
  if (name != NULL && g_str_has_prefix (name, "src_")
      && g_ascii_isdigit (name[strlen ("src_")])) {
    if (!g_ascii_string_to_unsigned (name + strlen ("src_"), 10, 0,
            GST_DPM_MAX_TALKERS - 1, &number, NULL)
        || is_taken (self, number))
      number = GST_DPM_MAX_TALKERS;
  } else {
    while (number < GST_DPM_MAX_TALKERS && is_taken (self, number))
      number++;
  }
  if (number < GST_DPM_MAX_TALKERS)
    self->taken |= G_GUINT64_CONSTANT (1) << number;
  gst_fairmix_lock_release (&self->lock);
  return (guint) number;
}

static void
give_number (GstDpmTalkers * self, guint number)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->taken &= ~(G_GUINT64_CONSTANT (1) << number);
  gst_fairmix_lock_release (&self->lock);
}

/* It may be set after the pad was asked for. */
static void
on_latency (GObject * mixer, GParamSpec * pspec G_GNUC_UNUSED,
    gpointer jitterbuffer)
{
  guint64 latency;

  g_object_get (mixer, "latency", &latency, NULL);
  g_object_set (jitterbuffer, "latency", (guint) (latency / GST_MSECOND), NULL);
}

/* Returns: (nullable): what makes audio of the RTP that @first gets */
static GstElement *
make_decoder (GstDpmTalkers * self, GstElement ** first, GPtrArray * made)
{
  static const gchar *const factories[] = { "rtpjitterbuffer", "rtpopusdepay",
    "opusdec", "audioconvert", "audioresample"
  };
  GstElement *last = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (factories); i++) {
    GstElement *element = gst_dpm_graph_make (self->graph, factories[i], made);

    if (element == NULL || (last != NULL && !gst_element_link (last, element)))
      return NULL;
    if (i == 0) {
      *first = element;
      gst_fairmix_pause_watch (element);
    }
    if (i == 2)
      g_object_set (element, "plc", TRUE, NULL);
    last = element;
  }
  g_object_set (*first, "do-lost", TRUE, NULL);
  g_signal_connect_object (self->graph->mixer, "notify::latency",
      G_CALLBACK (on_latency), *first, 0);
  on_latency (G_OBJECT (self->graph->mixer), NULL, *first);
  return last;
}

static Place *
place_new (GstDpmTalkers * self, Stage * stage, GstPadTemplate * template,
    guint number)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstElement *first = NULL, *last = make_decoder (self, &first, elements);
  gchar *name = g_strdup_printf ("src_%u", number);
  GstPad *slot = last != NULL ?
      gst_element_request_pad_simple (stage->slots, name) : NULL;
  Place *place;
  GstPad *sink;

  g_free (name);
  if (slot == NULL) {
    gst_dpm_graph_remove (self->graph, elements);
    return NULL;
  }
  place = g_new0 (Place, 1);
  place->stage = stage;
  place->number = number;
  place->slot = slot;
  place->elements = elements;
  place->ghost = gst_dpm_graph_expose (last, "src", template,
      GST_OBJECT_NAME (slot));
  gst_dpm_graph_start (elements);
  sink = gst_element_get_static_pad (first, "sink");
  gst_pad_link (slot, sink);
  gst_object_unref (sink);
  return place;
}

GstPad *
gst_dpm_talkers_request (GstDpmTalkers * self, GstPadTemplate * template,
    const gchar * name)
{
  guint number = take_number (self, name);
  Stage *stage;
  Place *place;

  if (number == GST_DPM_MAX_TALKERS)
    return NULL;
  stage = stage_get (self);
  place = stage != NULL ? place_new (self, stage, template, number) : NULL;
  if (place == NULL) {
    if (stage != NULL)
      stage_leave (self, stage);
    give_number (self, number);
    return NULL;
  }
  gst_fairmix_lock_acquire (&self->lock);
  g_ptr_array_add (self->places, place);
  gst_fairmix_lock_release (&self->lock);
  return place->ghost;
}

/* Returns: (transfer full) (nullable): no more in the table */
static Place *
take_place (GstDpmTalkers * self, GstPad * pad)
{
  Place *found = NULL;

  gst_fairmix_lock_acquire (&self->lock);
  for (guint i = 0; i < self->places->len && found == NULL; i++) {
    Place *place = g_ptr_array_index (self->places, i);

    if (place->ghost == pad)
      found = g_ptr_array_steal_index (self->places, i);
  }
  gst_fairmix_lock_release (&self->lock);
  return found;
}

gboolean
gst_dpm_talkers_release (GstDpmTalkers * self, GstPad * pad)
{
  Place *place = take_place (self, pad);

  if (place == NULL)
    return FALSE;
  gst_pad_set_active (pad, FALSE);
  gst_element_release_request_pad (place->stage->slots, place->slot);
  gst_object_unref (place->slot);
  gst_element_remove_pad (GST_ELEMENT (self->graph->bin), pad);
  give_number (self, place->number);
  gst_dpm_graph_remove (self->graph, place->elements);
  stage_leave (self, place->stage);
  g_free (place);
  return TRUE;
}

guint
gst_dpm_talkers_get_n (GstDpmTalkers * self)
{
  guint n;

  gst_fairmix_lock_acquire (&self->lock);
  n = self->places->len;
  gst_fairmix_lock_release (&self->lock);
  return n;
}
