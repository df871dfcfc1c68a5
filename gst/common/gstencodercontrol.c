/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstencodercontrol.h"

#include "gstfairmixpads.h"

#define PROPERTY "bitrate"

void
gst_encoder_control_init (GstEncoderControl * control)
{
  gst_fairmix_lock_init (&control->lock, GST_FAIRMIX_RANK_HELPER);
  g_weak_ref_init (&control->encoder, NULL);
  control->name = NULL;
  control->percent = 0;
  control->complained = FALSE;
}

void
gst_encoder_control_clear (GstEncoderControl * control)
{
  g_weak_ref_clear (&control->encoder);
  g_free (control->name);
  gst_fairmix_lock_clear (&control->lock);
}

GParamSpec *
gst_encoder_control_param_spec (void)
{
  return g_param_spec_string ("encoder", "Encoder",
      "Name of an encoder in the same pipeline whose property bitrate (in "
      "bits/s) follows the target, headers taken off", NULL,
      G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
}

void
gst_encoder_control_set_name (GstEncoderControl * control, const gchar * name)
{
  gst_fairmix_lock_acquire (&control->lock);
  g_free (control->name);
  control->name = name != NULL && name[0] != '\0' ? g_strdup (name) : NULL;
  g_weak_ref_set (&control->encoder, NULL);
  control->complained = FALSE;
  gst_fairmix_lock_release (&control->lock);
}

gchar *
gst_encoder_control_dup_name (GstEncoderControl * control)
{
  gchar *name;

  gst_fairmix_lock_acquire (&control->lock);
  name = g_strdup (control->name);
  gst_fairmix_lock_release (&control->lock);
  return name;
}

/* Some can be changed only before the element plays; many do not say. */
static gboolean
may_change_now (GstElement * encoder, const GParamSpec * pspec)
{
  GstState state;

  GST_OBJECT_LOCK (encoder);
  state = MAX (GST_STATE (encoder), GST_STATE_NEXT (encoder));
  GST_OBJECT_UNLOCK (encoder);
  if ((pspec->flags & GST_PARAM_MUTABLE_PLAYING) != 0)
    return TRUE;
  if ((pspec->flags & GST_PARAM_MUTABLE_PAUSED) != 0)
    return state <= GST_STATE_PAUSED;
  return (pspec->flags & GST_PARAM_MUTABLE_READY) == 0
      || state <= GST_STATE_READY;
}

/* Returns: (nullable): the property @name of @encoder if it can be set now */
static GParamSpec *
find_property (GstElement * encoder, const gchar * name)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (encoder), name);

  return pspec != NULL && (pspec->flags & G_PARAM_WRITABLE) != 0
      && (pspec->flags & G_PARAM_CONSTRUCT_ONLY) == 0
      && may_change_now (encoder, pspec) ? pspec : NULL;
}

static void
protect (GstElement * encoder, guint percent)
{
  GParamSpec *fec = find_property (encoder, "inband-fec");
  GParamSpec *loss = find_property (encoder, "packet-loss-percentage");

  if (fec != NULL && loss != NULL && G_IS_PARAM_SPEC_BOOLEAN (fec)
      && G_IS_PARAM_SPEC_INT (loss))
    g_object_set (encoder, "inband-fec", percent > 0,
        "packet-loss-percentage", (gint) percent, NULL);
}

/* Keeps an encoder that was found, unless another name was set meanwhile, and says
 * to it what was said to the one before. */
static void
gst_encoder_control_keep (GstEncoderControl * control, const gchar * name,
    GstElement * encoder)
{
  guint percent = 0;

  gst_fairmix_lock_acquire (&control->lock);
  if (g_strcmp0 (control->name, name) == 0) {
    g_weak_ref_set (&control->encoder, encoder);
    percent = control->percent;
  }
  gst_fairmix_lock_release (&control->lock);
  if (percent > 0)
    protect (encoder, percent);
}

/* Returns: (transfer full) (nullable): the encoder that was kept, as long as it is where
 * @owner is */
static GstElement *
gst_encoder_control_get_kept (GstEncoderControl * control, GstElement * owner)
{
  GstElement *encoder = g_weak_ref_get (&control->encoder);

  if (encoder != NULL && !gst_fairmix_is_beside (GST_OBJECT (owner),
          GST_OBJECT (encoder)))
    gst_clear_object (&encoder);
  return encoder;
}

static void
gst_encoder_control_complain (GstEncoderControl * control, GstElement * owner,
    const gchar * name, GstElement * encoder)
{
  gboolean again;

  gst_fairmix_lock_acquire (&control->lock);
  again = control->complained;
  control->complained = TRUE;
  gst_fairmix_lock_release (&control->lock);

  if (again)
    return;
  if (encoder == NULL)
    GST_ELEMENT_WARNING (owner, RESOURCE, NOT_FOUND,
        ("There is no element named \"%s\" whose bitrate could be set.", name),
        ("property encoder: give the encoder that name (name=%s)", name));
  else
    GST_ELEMENT_WARNING (owner, RESOURCE, SETTINGS,
        ("Element \"%s\" has no number \"" PROPERTY "\" to be set now.", name),
        ("property encoder: %s cannot be driven",
            G_OBJECT_TYPE_NAME (encoder)));
}

static gboolean
can_be_driven (GParamSpec * pspec)
{
  return pspec != NULL
      && (G_IS_PARAM_SPEC_INT (pspec) || G_IS_PARAM_SPEC_UINT (pspec)
      || G_IS_PARAM_SPEC_INT64 (pspec) || G_IS_PARAM_SPEC_UINT64 (pspec));
}

/* Returns: (transfer full): the encoder, with @pspec of its bitrate; NULL if
 * there is none, after a warning if there should be one */
static GstElement *
gst_encoder_control_get (GstEncoderControl * control, GstElement * owner,
    GParamSpec ** pspec)
{
  gchar *name = gst_encoder_control_dup_name (control);
  GstElement *encoder;
  gboolean found;

  if (name == NULL)
    return NULL;

  encoder = gst_encoder_control_get_kept (control, owner);
  found = encoder == NULL;
  if (found)
    encoder = gst_fairmix_find_element (owner, name);

  *pspec = encoder == NULL ? NULL : find_property (encoder, PROPERTY);
  if (can_be_driven (*pspec)) {
    if (found)
      gst_encoder_control_keep (control, name, encoder);
  } else {
    gst_encoder_control_complain (control, owner, name, encoder);
    gst_clear_object (&encoder);
  }
  g_free (name);
  return encoder;
}

void
gst_encoder_control_check (GstEncoderControl * control, GstElement * owner)
{
  GParamSpec *pspec;
  GstElement *encoder = gst_encoder_control_get (control, owner, &pspec);

  gst_clear_object (&encoder);
}

void
gst_encoder_control_set_bitrate (GstEncoderControl * control,
    GstElement * owner, guint64 bitrate)
{
  GParamSpec *pspec;
  GstElement *encoder = gst_encoder_control_get (control, owner, &pspec);

  if (encoder == NULL)
    return;

  if (G_IS_PARAM_SPEC_INT (pspec)) {
    GParamSpecInt *range = G_PARAM_SPEC_INT (pspec);

    bitrate = MIN (bitrate, G_MAXINT);
    g_object_set (encoder, PROPERTY,
        CLAMP ((gint) bitrate, range->minimum, range->maximum), NULL);
  } else if (G_IS_PARAM_SPEC_UINT (pspec)) {
    GParamSpecUInt *range = G_PARAM_SPEC_UINT (pspec);

    bitrate = MIN (bitrate, G_MAXUINT);
    g_object_set (encoder, PROPERTY,
        CLAMP ((guint) bitrate, range->minimum, range->maximum), NULL);
  } else if (G_IS_PARAM_SPEC_INT64 (pspec)) {
    GParamSpecInt64 *range = G_PARAM_SPEC_INT64 (pspec);

    bitrate = MIN (bitrate, G_MAXINT64);
    g_object_set (encoder, PROPERTY,
        CLAMP ((gint64) bitrate, range->minimum, range->maximum), NULL);
  } else {
    GParamSpecUInt64 *range = G_PARAM_SPEC_UINT64 (pspec);

    g_object_set (encoder, PROPERTY,
        CLAMP (bitrate, range->minimum, range->maximum), NULL);
  }
  gst_object_unref (encoder);
}

void
gst_encoder_control_set_protection (GstEncoderControl * control,
    GstElement * owner, guint percent)
{
  GParamSpec *pspec;
  GstElement *encoder;

  gst_fairmix_lock_acquire (&control->lock);
  control->percent = percent;
  gst_fairmix_lock_release (&control->lock);

  encoder = gst_encoder_control_get (control, owner, &pspec);
  if (encoder == NULL)
    return;
  protect (encoder, percent);
  gst_object_unref (encoder);
}
