/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-qmrtpbin
 * @title: qmrtpbin
 *
 * Makes an rtpbin of the same pipeline use qmjitterbuffer for its streams.  It
 * has no pads and passes no data: it answers the signal request-jitterbuffer,
 * which a gst-launch line cannot.
 *
 * #GstQmRtpBin:rtpbin names the rtpbin, or a bin that has one inside (a
 * webrtcbin, an rtspsrc), also one that is made later; without it all rtpbins
 * of the pipeline are meant.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 rtpbin name=in udpsrc port=5004 caps="application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload=96" ! in.recv_rtp_sink_0 in. ! rtpopusdepay ! opusdec ! autoaudiosink qmrtpbin rtpbin=in jitterbuffer="jitterbuffer,max-delay=500"
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmrtpbin.h"

#include "gstqmjitterbuffer.h"
#include "gst/common/gstfairmixfields.h"
GST_DEBUG_CATEGORY_STATIC (gst_qm_rtp_bin_debug);
#define GST_CAT_DEFAULT gst_qm_rtp_bin_debug

#define SIGNAL "request-jitterbuffer"

enum
{
  PROP_0,
  PROP_RTPBIN,
  PROP_JITTERBUFFER,
  PROP_N_JITTERBUFFERS
};

struct _GstQmRtpBin
{
  GstElement parent;

  /* Properties: under the object lock */
  gchar *rtpbin;
  GstStructure *jitterbuffer;
  guint n_jitterbuffers;

  /* State: changed in state changes and, under the object lock, by
   * deep-element-added */
  GstBin *scope;
  gulong added_id;
  GList *connected;             /* of GWeakRef to rtpbins */
};

G_DEFINE_TYPE_WITH_CODE (GstQmRtpBin, gst_qm_rtp_bin, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_qm_rtp_bin_debug, "qmrtpbin", 0,
        "gives qmjitterbuffer to rtpbin"));
GST_ELEMENT_REGISTER_DEFINE (qmrtpbin, "qmrtpbin", GST_RANK_NONE,
    GST_TYPE_QM_RTP_BIN);

static gboolean
has_signal (gpointer object)
{
  return g_signal_lookup (SIGNAL, G_OBJECT_TYPE (object)) != 0;
}

/* Returns: NULL if nobody can set that */
static GParamSpec *
find_property (gpointer klass, const gchar * name)
{
  GParamSpec *spec = g_object_class_find_property (klass, name);

  return spec != NULL && (spec->flags & G_PARAM_WRITABLE) ? spec : NULL;
}

/* Whoever mistypes a property would be told by nobody. */
static gboolean
check_field (GQuark field, const GValue * value, gpointer self)
{
  gpointer klass = g_type_class_ref (GST_TYPE_QM_JITTER_BUFFER);
  const gchar *name = g_quark_to_string (field);

  if (find_property (klass, name) == NULL)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("qmjitterbuffer has no property \"%s\" that can be set.", name),
        ("property jitterbuffer: see gst-inspect-1.0 qmjitterbuffer"));
  g_type_class_unref (klass);
  return TRUE;
}

static void
gst_qm_rtp_bin_check (GstQmRtpBin * self)
{
  GstStructure *fields = NULL;

  GST_OBJECT_LOCK (self);
  if (self->jitterbuffer != NULL)
    fields = gst_structure_copy (self->jitterbuffer);
  GST_OBJECT_UNLOCK (self);
  if (fields == NULL)
    return;
  gst_structure_foreach (fields, check_field, self);
  gst_structure_free (fields);
}

static gboolean
set_field (GQuark field, const GValue * value, gpointer element)
{
  const gchar *name = g_quark_to_string (field);
  GParamSpec *spec = find_property (G_OBJECT_GET_CLASS (element), name);

  if (spec == NULL) {
    GST_WARNING_OBJECT (element, "no property \"%s\"", name);
  } else if (g_value_type_transformable (G_VALUE_TYPE (value),
          spec->value_type) && !G_VALUE_HOLDS_STRING (value)) {
    g_object_set_property (element, name, value);
  } else {
    gchar *text = G_VALUE_HOLDS_STRING (value) ?
        g_value_dup_string (value) : gst_value_serialize (value);

    gst_util_set_object_arg (element, name, text);
    g_free (text);
  }
  return TRUE;
}

static GstElement *
on_request_jitterbuffer (GstElement * rtpbin, guint session, GstQmRtpBin * self)
{
  GstElement *element = gst_element_factory_make ("qmjitterbuffer", NULL);

  if (element == NULL)
    return NULL;                /* rtpbin makes a stock one */
  GST_DEBUG_OBJECT (self, "session %u of %" GST_PTR_FORMAT, session, rtpbin);
  GST_OBJECT_LOCK (self);
  self->n_jitterbuffers++;
  if (self->jitterbuffer != NULL)
    gst_structure_foreach (self->jitterbuffer, set_field, element);
  GST_OBJECT_UNLOCK (self);
  return element;
}

/* Forgets those that are there no more.  Returns: whether @rtpbin is served, which may
 * have been taken out and put in again */
static gboolean
gst_qm_rtp_bin_serves (GstQmRtpBin * self, GstElement * rtpbin)
{
  GList *there = NULL, *next;
  gboolean serves;

  GST_OBJECT_LOCK (self);
  for (GList * l = self->connected; l != NULL; l = next) {
    gpointer other = g_weak_ref_get (l->data);

    next = l->next;
    if (other != NULL) {
      there = g_list_prepend (there, other);
      continue;
    }
    g_weak_ref_clear (l->data);
    g_free (l->data);
    self->connected = g_list_delete_link (self->connected, l);
  }
  GST_OBJECT_UNLOCK (self);
  serves = g_list_find (there, rtpbin) != NULL;
  g_list_free_full (there, gst_object_unref);
  return serves;
}

static void
gst_qm_rtp_bin_connect (GstQmRtpBin * self, GstElement * rtpbin)
{
  GWeakRef *ref;

  if (gst_qm_rtp_bin_serves (self, rtpbin))
    return;
  GST_INFO_OBJECT (self, "serving %" GST_PTR_FORMAT, rtpbin);
  g_signal_connect_object (rtpbin, SIGNAL,
      G_CALLBACK (on_request_jitterbuffer), self, 0);
  ref = g_new (GWeakRef, 1);
  g_weak_ref_init (ref, rtpbin);
  GST_OBJECT_LOCK (self);
  self->connected = g_list_prepend (self->connected, ref);
  GST_OBJECT_UNLOCK (self);
}

static void
on_element_added (GstBin * bin, GstBin * parent, GstElement * element,
    GstQmRtpBin * self)
{
  if (has_signal (element))
    gst_qm_rtp_bin_connect (self, element);
}

static void
gst_qm_rtp_bin_connect_all (GstQmRtpBin * self, GstBin * bin)
{
  GstIterator *it = gst_bin_iterate_recurse (bin);
  GValue item = G_VALUE_INIT;
  GstIteratorResult result;

  while ((result = gst_iterator_next (it, &item)) == GST_ITERATOR_OK
      || result == GST_ITERATOR_RESYNC) {
    GstElement *element = g_value_get_object (&item);

    if (result == GST_ITERATOR_RESYNC)  /* somebody adds elements */
      gst_iterator_resync (it);
    else if (has_signal (element))
      gst_qm_rtp_bin_connect (self, element);
    g_value_reset (&item);
  }
  g_value_unset (&item);
  gst_iterator_free (it);
}

static GstBin *
find_top (GstElement * element)
{
  GstObject *top = gst_object_ref (GST_OBJECT (element));
  GstObject *parent;

  while ((parent = gst_object_get_parent (top)) != NULL) {
    gst_object_unref (top);
    top = parent;
  }
  if (GST_IS_BIN (top))
    return GST_BIN (top);
  gst_object_unref (top);
  return NULL;
}

static gboolean
gst_qm_rtp_bin_start (GstQmRtpBin * self)
{
  GstBin *top = find_top (GST_ELEMENT (self));
  GstElement *target = NULL;
  gchar *name;

  gst_qm_rtp_bin_check (self);
  GST_OBJECT_LOCK (self);
  name = g_strdup (self->rtpbin);
  GST_OBJECT_UNLOCK (self);
  if (top != NULL)
    target = name != NULL ? gst_bin_get_by_name (top, name) :
        GST_ELEMENT (gst_object_ref (top));
  gst_clear_object (&top);
  if (target == NULL || !(has_signal (target) || GST_IS_BIN (target))) {
    GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND,
        ("No rtpbin \"%s\" in the pipeline.", name != NULL ? name : ""),
        ("property rtpbin: the name of an rtpbin, or of a bin with one inside"));
    gst_clear_object (&target);
    g_free (name);
    return FALSE;
  }
  g_free (name);
  if (has_signal (target)) {
    gst_qm_rtp_bin_connect (self, target);
    gst_object_unref (target);
  } else {
    self->scope = GST_BIN (target);
    self->added_id = g_signal_connect_object (target, "deep-element-added",
        G_CALLBACK (on_element_added), self, 0);
    gst_qm_rtp_bin_connect_all (self, self->scope);
  }
  return TRUE;
}

static void
gst_qm_rtp_bin_stop (GstQmRtpBin * self)
{
  GList *connected;

  if (self->scope != NULL) {
    g_signal_handler_disconnect (self->scope, self->added_id);
    gst_clear_object (&self->scope);
  }
  GST_OBJECT_LOCK (self);
  connected = self->connected;
  self->connected = NULL;
  GST_OBJECT_UNLOCK (self);
  for (GList * l = connected; l != NULL; l = l->next) {
    GObject *rtpbin = g_weak_ref_get (l->data);

    if (rtpbin != NULL) {
      g_signal_handlers_disconnect_by_func (rtpbin, on_request_jitterbuffer,
          self);
      g_object_unref (rtpbin);
    }
    g_weak_ref_clear (l->data);
    g_free (l->data);
  }
  g_list_free (connected);
}

static GstStateChangeReturn
gst_qm_rtp_bin_change_state (GstElement * element, GstStateChange transition)
{
  GstQmRtpBin *self = GST_QM_RTP_BIN (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_NULL_TO_READY
      && !gst_qm_rtp_bin_start (self))
    return GST_STATE_CHANGE_FAILURE;
  ret = GST_ELEMENT_CLASS (gst_qm_rtp_bin_parent_class)->change_state (element,
      transition);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL)
    gst_qm_rtp_bin_stop (self);
  return ret;
}

static const GstFairmixField fields[] = {
  GST_FAIRMIX_FIELD (PROP_RTPBIN, GstQmRtpBin, rtpbin),
  GST_FAIRMIX_FIELD (PROP_JITTERBUFFER, GstQmRtpBin, jitterbuffer),
  GST_FAIRMIX_FIELD (PROP_N_JITTERBUFFERS, GstQmRtpBin, n_jitterbuffers),
};

static void
gst_qm_rtp_bin_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_set_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
  if (id == PROP_JITTERBUFFER && GST_STATE (object) > GST_STATE_NULL)
    gst_qm_rtp_bin_check (GST_QM_RTP_BIN (object));
}

static void
gst_qm_rtp_bin_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  gst_fairmix_fields_get_property (fields, G_N_ELEMENTS (fields), object, id,
      value, pspec);
}

static void
gst_qm_rtp_bin_finalize (GObject * object)
{
  GstQmRtpBin *self = GST_QM_RTP_BIN (object);

  gst_qm_rtp_bin_stop (self);
  g_free (self->rtpbin);
  g_clear_pointer (&self->jitterbuffer, gst_structure_free);
  G_OBJECT_CLASS (gst_qm_rtp_bin_parent_class)->finalize (object);
}

static void
gst_qm_rtp_bin_class_init (GstQmRtpBinClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_qm_rtp_bin_set_property;
  object_class->get_property = gst_qm_rtp_bin_get_property;
  object_class->finalize = gst_qm_rtp_bin_finalize;
  g_object_class_install_property (object_class, PROP_RTPBIN,
      g_param_spec_string ("rtpbin", "rtpbin",
          "Name of the rtpbin, or of a bin with one inside; none: all of the "
          "pipeline", NULL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_READY));
  g_object_class_install_property (object_class, PROP_JITTERBUFFER,
      g_param_spec_boxed ("jitterbuffer", "jitterbuffer",
          "Properties for each qmjitterbuffer: a structure of any name, e.g. "
          "\"jitterbuffer,max-delay=500\"", GST_TYPE_STRUCTURE,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_N_JITTERBUFFERS,
      g_param_spec_uint ("n-jitterbuffers", "n-jitterbuffers",
          "How many were given away so far", 0, G_MAXUINT, 0,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_qm_rtp_bin_change_state);
  gst_element_class_set_static_metadata (element_class,
      "Queue-monitoring jitter buffers for rtpbin", "Generic/Network/RTP",
      "Makes an rtpbin of the same pipeline use qmjitterbuffer; has no pads",
      "The gst-fairmix developers");
}

static void
gst_qm_rtp_bin_init (GstQmRtpBin * self)
{
}
