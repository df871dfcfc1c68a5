/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixevents.h"

#define LASTING_FIELD "lasting-bitrate"
#define LOSS_FIELD "loss-percentage"
#define LOSS_FROM_FIELD "loss-from-bitrate"

/* All our events say one number, or others that belong to it. */
static GstEvent *
event_new (GstEventType type, const gchar * name, const gchar * field,
    guint value)
{
  return gst_event_new_custom (type,
      gst_structure_new (name, field, G_TYPE_UINT, value, NULL));
}

static gboolean
event_parse (GstEvent * event, GstEventType type, const gchar * name,
    const gchar * field, guint * value)
{
  return GST_EVENT_TYPE (event) == type
      && gst_event_has_name (event, name)
      && gst_structure_get_uint (gst_event_get_structure (event), field, value);
}

GstEvent *
gst_fairmix_target_bitrate_event_new (guint bitrate)
{
  return event_new (GST_EVENT_CUSTOM_UPSTREAM, GST_FAIRMIX_TARGET_BITRATE_EVENT,
      "bitrate", bitrate);
}

gboolean
gst_fairmix_target_bitrate_event_parse (GstEvent * event, guint * bitrate)
{
  return event_parse (event, GST_EVENT_CUSTOM_UPSTREAM,
      GST_FAIRMIX_TARGET_BITRATE_EVENT, "bitrate", bitrate);
}

void
gst_fairmix_target_bitrate_event_set_lasting (GstEvent * event, guint bitrate)
{
  gst_structure_set (gst_event_writable_structure (event), LASTING_FIELD,
      G_TYPE_UINT, bitrate, NULL);
}

guint
gst_fairmix_target_bitrate_event_get_lasting (GstEvent * event)
{
  guint bitrate = 0, lasting;

  gst_fairmix_target_bitrate_event_parse (event, &bitrate);
  if (!gst_structure_get_uint (gst_event_get_structure (event), LASTING_FIELD,
          &lasting))
    return bitrate;
  return MIN (lasting, bitrate);
}

void
gst_fairmix_target_bitrate_event_set_loss (GstEvent * event, guint percent,
    guint from_bitrate)
{
  gst_structure_set (gst_event_writable_structure (event), LOSS_FIELD,
      G_TYPE_UINT, percent, LOSS_FROM_FIELD, G_TYPE_UINT, from_bitrate, NULL);
}

guint
gst_fairmix_target_bitrate_event_get_loss (GstEvent * event,
    guint * from_bitrate)
{
  const GstStructure *structure = gst_event_get_structure (event);
  guint percent;

  if (!gst_structure_get_uint (structure, LOSS_FROM_FIELD, from_bitrate))
    *from_bitrate = 0;
  if (!gst_structure_get_uint (structure, LOSS_FIELD, &percent))
    return 0;
  return MIN (percent, 100);
}

GstEvent *
gst_fairmix_max_streams_event_new (guint max_streams)
{
  return event_new (GST_EVENT_CUSTOM_UPSTREAM, GST_FAIRMIX_MAX_STREAMS_EVENT,
      "max-streams", max_streams);
}

gboolean
gst_fairmix_max_streams_event_parse (GstEvent * event, guint * max_streams)
{
  return event_parse (event, GST_EVENT_CUSTOM_UPSTREAM,
      GST_FAIRMIX_MAX_STREAMS_EVENT, "max-streams", max_streams);
}

GstEvent *
gst_fairmix_wanted_bitrate_event_new (guint bitrate)
{
  return event_new (GST_EVENT_CUSTOM_DOWNSTREAM,
      GST_FAIRMIX_WANTED_BITRATE_EVENT, "bitrate", bitrate);
}

gboolean
gst_fairmix_wanted_bitrate_event_parse (GstEvent * event, guint * bitrate)
{
  return event_parse (event, GST_EVENT_CUSTOM_DOWNSTREAM,
      GST_FAIRMIX_WANTED_BITRATE_EVENT, "bitrate", bitrate);
}
