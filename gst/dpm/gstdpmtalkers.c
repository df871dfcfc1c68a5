/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstdpmtalkers.h"

#include <string.h>
#include "common/gstfairmixlock.h"
#include "common/gstfairmixpause.h"

/* The neighbour for whom the mixer has them; no session has that number. */
#define NEIGHBOUR 2147483647

/* One pad, and what decodes it. */
typedef struct
{
  GstPad *ghost, *slot;
  GPtrArray *elements;
} Place;

struct _GstDpmTalkers
{
  GstDpmGraph *graph;
  GstFairmixLock lock;
  GstPad *mixer_pad;
  GstElement *slots;
  GPtrArray *shared;            /* elements: @slots */
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
  g_clear_pointer (&self->shared, g_ptr_array_unref);
  gst_clear_object (&self->mixer_pad);
  g_ptr_array_unref (self->places);
  gst_fairmix_lock_clear (&self->lock);
  g_free (self);
}

/* with the lock */
static gboolean
begin (GstDpmTalkers * self)
{
  GstPad *sink;

  if (self->slots != NULL)
    return TRUE;
  self->shared = g_ptr_array_new_with_free_func (gst_object_unref);
  self->slots = gst_dpm_graph_make (self->graph, "rtpslots", self->shared);
  if (self->slots == NULL) {
    g_clear_pointer (&self->shared, g_ptr_array_unref);
    return FALSE;
  }
  gst_dpm_graph_start (self->shared);
  self->mixer_pad = gst_element_request_pad_simple (self->graph->mixer,
      "src_" G_STRINGIFY (NEIGHBOUR));
  sink = gst_element_get_static_pad (self->slots, "sink");
  gst_pad_link (self->mixer_pad, sink);
  gst_object_unref (sink);
  return TRUE;
}

/* with the lock: the last one has gone */
static void
end (GstDpmTalkers * self)
{
  gst_element_release_request_pad (self->graph->mixer, self->mixer_pad);
  gst_clear_object (&self->mixer_pad);
  gst_dpm_graph_remove (self->graph, g_steal_pointer (&self->shared));
  self->slots = NULL;
}

/* Returns: (nullable): what makes audio of the RTP that @first gets */
static GstElement *
make_decoder (GstDpmTalkers * self, GstElement ** first, GPtrArray * made)
{
  static const gchar *const factories[] = { "rtpjitterbuffer", "rtpopusdepay",
    "opusdec", "audioconvert", "audioresample"
  };
  GstElement *last = NULL;
  guint64 latency;

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
  g_object_get (self->graph->mixer, "latency", &latency, NULL);
  g_object_set (*first, "latency", (guint) (latency / GST_MSECOND),
      "do-lost", TRUE, NULL);
  return last;
}

/* with the lock */
static Place *
place_new (GstDpmTalkers * self, GstPadTemplate * template, const gchar * name)
{
  GPtrArray *elements = g_ptr_array_new_with_free_func (gst_object_unref);
  GstElement *first = NULL, *last = make_decoder (self, &first, elements);
  GstPad *slot = last != NULL ? gst_element_request_pad_simple (self->slots,
      name != NULL ? name : "src_%u") : NULL;
  Place *place;
  GstPad *sink;

  if (slot == NULL) {
    gst_dpm_graph_remove (self->graph, elements);
    return NULL;
  }
  place = g_new0 (Place, 1);
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
  Place *place = NULL;
  GstPad *pad = NULL;

  if (name != NULL && g_ascii_strtoull (name + strlen ("src_"), NULL, 10)
      >= GST_DPM_MAX_TALKERS)
    return NULL;
  gst_fairmix_lock_acquire (&self->lock);
  if (self->places->len < GST_DPM_MAX_TALKERS && begin (self))
    place = place_new (self, template, name);
  if (place != NULL) {
    pad = place->ghost;
    g_ptr_array_add (self->places, place);
  } else if (self->slots != NULL && self->places->len == 0) {
    end (self);
  }
  gst_fairmix_lock_release (&self->lock);
  return pad;
}

/* with the lock.  Returns: (transfer full) (nullable): no more in the table */
static Place *
take_place (GstDpmTalkers * self, GstPad * pad)
{
  for (guint i = 0; i < self->places->len; i++) {
    Place *place = g_ptr_array_index (self->places, i);

    if (place->ghost == pad)
      return g_ptr_array_steal_index (self->places, i);
  }
  return NULL;
}

gboolean
gst_dpm_talkers_release (GstDpmTalkers * self, GstPad * pad)
{
  Place *place;

  gst_fairmix_lock_acquire (&self->lock);
  place = take_place (self, pad);
  if (place != NULL) {
    gst_pad_set_active (pad, FALSE);
    gst_element_release_request_pad (self->slots, place->slot);
    gst_object_unref (place->slot);
    gst_element_remove_pad (GST_ELEMENT (self->graph->bin), pad);
    gst_dpm_graph_remove (self->graph, place->elements);
    g_free (place);
    if (self->places->len == 0)
      end (self);
  }
  gst_fairmix_lock_release (&self->lock);
  return place != NULL;
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
