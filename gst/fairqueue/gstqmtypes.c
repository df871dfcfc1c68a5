/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmtypes.h"

#include "gst/common/gstfairmixstats.h"

/* the values of rtpjitterbuffer's own type, which is not public */
GType
gst_qm_mode_get_type (void)
{
  static const GEnumValue values[] = {
    {GST_QM_MODE_NONE, "Only use RTP timestamps", "none"},
    {GST_QM_MODE_SLAVE, "Slave receiver to sender clock", "slave"},
    {GST_QM_MODE_BUFFER, "Do low/high watermark buffering", "buffer"},
    {GST_QM_MODE_SYNCED, "Synchronized sender and receiver clocks", "synced"},
    {0, NULL, NULL},
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type,
        g_enum_register_static ("GstQmJitterBufferMode", values));
  return type;
}

GType
gst_qm_after_drop_get_type (void)
{
  static const gchar *const nicks[] = { "shift", "kept", "reset" };
  static const gchar *const blurbs[] = {
    "The counts as they would be in a queue one shorter",
    "The counts stay",
    "The counts start again",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstQmAfterDrop",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

GType
gst_qm_timing_get_type (void)
{
  static const gchar *const nicks[] = { "rtp", "arrival", "tick" };
  static const gchar *const blurbs[] = {
    "RTP timestamps are sampling times",
    "They are not: play at the mean inter-arrival time",
    "They do not matter: a FIFO served once a packet time, to the letter of "
        "the queue-monitoring paper",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstQmTiming",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

GType
gst_qm_shrink_get_type (void)
{
  static const gchar *const nicks[] = { "auto", "drop", "shift" };
  static const gchar *const blurbs[] = {
    "As a time stretcher behind the decoder wants it, else drop",
    "Drop a packet",
    "Play all, earlier: for a time stretcher behind the decoder",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstQmShrink",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}
