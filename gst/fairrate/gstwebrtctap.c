/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstwebrtctap.h"

#include "common/gstfairmixlock.h"
#include "common/gstfairmixpads.h"

/* The names that webrtcbin and rtpbin give to what is inside */
#define RTPBIN "rtpbin"
#define RTCP_PAD "recv_rtcp_sink_0"

/* What a probe holds on to: not the tap, which may be freed before it. */
typedef struct
{
  GWeakRef owner;
  GstWebrtcTapFunc func;
} Ear;

struct _GstWebrtcTap
{
  GWeakRef owner;
  GstWebrtcTapFunc func;
  gint wants;                   /* atomic */

  /* with the lock */
  GstFairmixLock lock;
  gchar *name;
  GstPad *pad;                  /* that is tapped */
  gulong probe;
};

static void
ear_free (gpointer data)
{
  Ear *ear = data;

  g_weak_ref_clear (&ear->owner);
  g_free (ear);
}

static Ear *
ear_new (GstWebrtcTap * tap)
{
  GstElement *owner = g_weak_ref_get (&tap->owner);
  Ear *ear = g_new0 (Ear, 1);

  g_weak_ref_init (&ear->owner, owner);
  ear->func = tap->func;
  gst_clear_object (&owner);
  return ear;
}

typedef struct
{
  Ear *ear;
  GstElement *owner;
} Listener;

/* GstBufferListFunc */
static gboolean
hear_one (GstBuffer ** buffer, guint idx, gpointer user_data)
{
  Listener *listener = user_data;

  (void) idx;
  if (!listener->ear->func (listener->owner, *buffer))
    gst_clear_buffer (buffer);
  return TRUE;
}

static GstPadProbeReturn
hear (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Ear *ear = user_data;
  GstElement *owner = g_weak_ref_get (&ear->owner);
  Listener listener = { ear, owner };
  GstPadProbeReturn ret = GST_PAD_PROBE_OK;
  GstBufferList *list;

  (void) pad;
  if (owner == NULL)
    return GST_PAD_PROBE_OK;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER) {
    if (!ear->func (owner, GST_PAD_PROBE_INFO_BUFFER (info)))
      ret = GST_PAD_PROBE_DROP;
  } else {
    list = gst_buffer_list_make_writable (GST_PAD_PROBE_INFO_BUFFER_LIST
        (info));
    GST_PAD_PROBE_INFO_DATA (info) = list;
    gst_buffer_list_foreach (list, hear_one, &listener);
  }
  gst_object_unref (owner);
  return ret;
}

GstWebrtcTap *
gst_webrtc_tap_new (GstElement * owner, GstWebrtcTapFunc func)
{
  GstWebrtcTap *tap = g_new0 (GstWebrtcTap, 1);

  gst_fairmix_lock_init (&tap->lock, GST_FAIRMIX_RANK_HELPER);
  g_weak_ref_init (&tap->owner, owner);
  tap->func = func;
  return tap;
}

void
gst_webrtc_tap_free (GstWebrtcTap * tap)
{
  gst_webrtc_tap_disconnect (tap);
  g_weak_ref_clear (&tap->owner);
  gst_fairmix_lock_clear (&tap->lock);
  g_free (tap->name);
  g_free (tap);
}

void
gst_webrtc_tap_set_name (GstWebrtcTap * tap, const gchar * name)
{
  gst_fairmix_lock_acquire (&tap->lock);
  g_free (tap->name);
  tap->name = name != NULL && name[0] != '\0' ? g_strdup (name) : NULL;
  gst_fairmix_lock_release (&tap->lock);
  /* after that: whoever connects meanwhile does not find the one before again */
  gst_webrtc_tap_disconnect (tap);
}

gchar *
gst_webrtc_tap_dup_name (GstWebrtcTap * tap)
{
  gchar *name;

  gst_fairmix_lock_acquire (&tap->lock);
  name = g_strdup (tap->name);
  gst_fairmix_lock_release (&tap->lock);
  return name;
}

/* The element itself where it is inside of the webrtcbin, else one beside it or
 * beside one of its parents */
static GstElement *
find_element (GstWebrtcTap * tap, const gchar * name)
{
  GstElement *owner = g_weak_ref_get (&tap->owner), *found = NULL;

  if (owner == NULL)
    return NULL;
  found = gst_fairmix_find_element (owner, name);
  gst_object_unref (owner);
  return found;
}

/* without the lock; @pad: (out) (transfer full) (nullable) */
static GstWebrtcTapResult
find_pad (GstWebrtcTap * tap, const gchar * name, GstPad ** pad)
{
  GstElement *element = find_element (tap, name);
  GstElement *rtpbin = NULL;

  *pad = NULL;
  if (element == NULL)
    return GST_WEBRTC_TAP_NOT_FOUND;
  if (GST_IS_BIN (element))
    rtpbin = gst_bin_get_by_name (GST_BIN (element), RTPBIN);
  gst_object_unref (element);
  if (rtpbin == NULL)
    return GST_WEBRTC_TAP_NO_WEBRTCBIN;
  *pad = gst_element_get_static_pad (rtpbin, RTCP_PAD);
  gst_object_unref (rtpbin);
  return *pad != NULL ? GST_WEBRTC_TAP_CONNECTED : GST_WEBRTC_TAP_WAITING;
}

/* Taps @pad, unless another thread was first or wants something else now. */
static void
take_pad (GstWebrtcTap * tap, const gchar * name, GstPad * pad)
{
  gst_fairmix_lock_acquire (&tap->lock);
  if (tap->pad == NULL && g_strcmp0 (name, tap->name) == 0) {
    tap->pad = gst_object_ref (pad);
    tap->probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER
        | GST_PAD_PROBE_TYPE_BUFFER_LIST, hear, ear_new (tap), ear_free);
    g_atomic_int_set (&tap->wants, FALSE);
  }
  gst_fairmix_lock_release (&tap->lock);
}

GstWebrtcTapResult
gst_webrtc_tap_connect (GstWebrtcTap * tap)
{
  GstWebrtcTapResult result = GST_WEBRTC_TAP_NONE;
  GstPad *pad = NULL;
  gchar *name = NULL;

  gst_fairmix_lock_acquire (&tap->lock);
  if (tap->pad != NULL)
    result = GST_WEBRTC_TAP_CONNECTED;
  else
    name = g_strdup (tap->name);
  gst_fairmix_lock_release (&tap->lock);

  if (name != NULL)
    result = find_pad (tap, name, &pad);
  if (pad != NULL) {
    take_pad (tap, name, pad);
    gst_object_unref (pad);
  }
  g_free (name);
  return result;
}

gboolean
gst_webrtc_tap_wants (GstWebrtcTap * tap)
{
  return g_atomic_int_get (&tap->wants);
}

void
gst_webrtc_tap_disconnect (GstWebrtcTap * tap)
{
  GstPad *pad;
  gulong probe;

  gst_fairmix_lock_acquire (&tap->lock);
  pad = tap->pad;
  probe = tap->probe;
  tap->pad = NULL;
  tap->probe = 0;
  g_atomic_int_set (&tap->wants, tap->name != NULL);
  gst_fairmix_lock_release (&tap->lock);
  if (pad != NULL) {
    gst_pad_remove_probe (pad, probe);
    gst_object_unref (pad);
  }
}

void
gst_webrtc_tap_check (GstWebrtcTap * tap)
{
  GstElement *owner = g_weak_ref_get (&tap->owner);
  GstPad *pad;

  gst_fairmix_lock_acquire (&tap->lock);
  pad = tap->pad != NULL ? gst_object_ref (tap->pad) : NULL;
  gst_fairmix_lock_release (&tap->lock);
  if (owner != NULL && pad != NULL
      && !gst_fairmix_is_beside (GST_OBJECT (owner), GST_OBJECT (pad)))
    gst_webrtc_tap_disconnect (tap);
  gst_clear_object (&pad);
  gst_clear_object (&owner);
}

gchar *
gst_webrtc_tap_why_not (GstWebrtcTap * tap)
{
  gchar *name = gst_webrtc_tap_dup_name (tap), *why = NULL;

  switch (gst_webrtc_tap_connect (tap)) {
    case GST_WEBRTC_TAP_NOT_FOUND:
      why = g_strdup_printf ("there is no element named \"%s\" (property "
          "webrtcbin)", name);
      break;
    case GST_WEBRTC_TAP_NO_WEBRTCBIN:
      why = g_strdup_printf ("\"%s\" is no webrtcbin", name);
      break;
    case GST_WEBRTC_TAP_WAITING:
      why = g_strdup_printf ("\"%s\" has no connection yet", name);
      break;
    default:
      break;
  }
  g_free (name);
  return why;
}
