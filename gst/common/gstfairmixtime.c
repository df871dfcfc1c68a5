/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfairmixtime.h"

/* From 1900 to 1970 ([RFC3550 4]). */
#define NTP_UNIX_OFFSET (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

void
gst_fairmix_time_reset (GstFairmixTime * time)
{
  time->offset = 0;
  time->last = 0;
}

void
gst_fairmix_time_set_clock (GstFairmixTime * time, GstClock * clock)
{
  if (clock == time->clock)
    return;

  if (time->last != 0)
    gst_fairmix_time_now (time);
  gst_object_replace ((GstObject **) & time->clock, GST_OBJECT (clock));
  if (clock != NULL && time->last != 0)
    time->offset = GST_CLOCK_DIFF (gst_clock_get_time (clock), time->last);
}

FmxTime
gst_fairmix_time_now (GstFairmixTime * time)
{
  if (time->clock != NULL) {
    GstClockTimeDiff now =
        (GstClockTimeDiff) gst_clock_get_time (time->clock) + time->offset;

    if (now > (GstClockTimeDiff) time->last)
      time->last = (FmxTime) now;
  }
  return time->last;
}

GstClockTime
gst_fairmix_time_to_clock (const GstFairmixTime * time, FmxTime t)
{
  if (t == FMX_TIME_NONE)
    return GST_CLOCK_TIME_NONE;
  return (GstClockTime) MAX ((GstClockTimeDiff) t - time->offset, 0);
}

GType
gst_fairmix_ntp_source_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    {GST_FAIRMIX_NTP_NTP, "NTP time of the wall clock", "ntp"},
    {GST_FAIRMIX_NTP_UNIX, "UNIX time of the wall clock", "unix"},
    {GST_FAIRMIX_NTP_RUNNING_TIME, "Running time of the pipeline",
        "running-time"},
    {GST_FAIRMIX_NTP_CLOCK_TIME, "Time of the pipeline clock", "clock-time"},
    {0, NULL, NULL}
  };

  if (g_once_init_enter (&type)) {
    /* another plugin with its own copy of this code may have been first */
    GType known = g_type_from_name ("GstFairmixNtpSource");

    g_once_init_leave (&type, known != 0 ? known :
        g_enum_register_static ("GstFairmixNtpSource", values));
  }
  return type;
}

GParamSpec *
gst_fairmix_ntp_source_param_spec (void)
{
  return g_param_spec_enum ("ntp-time-source", "NTP Time Source",
      "Where the NTP times of this end's reports come from; as in the rtpbin of "
      "this session (for round-trip times)", GST_TYPE_FAIRMIX_NTP_SOURCE,
      GST_FAIRMIX_NTP_NTP, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING);
}

GstClockTime
gst_fairmix_ntp_time (GstElement * element, GstFairmixNtpSource source)
{
  GstClockTime time;

  switch (source) {
    case GST_FAIRMIX_NTP_UNIX:
      return (GstClockTime) g_get_real_time () * GST_USECOND;
    case GST_FAIRMIX_NTP_RUNNING_TIME:
      time = gst_element_get_current_running_time (element);
      return GST_CLOCK_TIME_IS_VALID (time) ? time : 0;
    case GST_FAIRMIX_NTP_CLOCK_TIME:
      time = gst_element_get_current_clock_time (element);
      return GST_CLOCK_TIME_IS_VALID (time) ? time : 0;
    case GST_FAIRMIX_NTP_NTP:
    default:
      return (GstClockTime) g_get_real_time () * GST_USECOND + NTP_UNIX_OFFSET;
  }
}

guint32
gst_fairmix_ntp_mid32 (GstElement * element, GstFairmixNtpSource source)
{
  return (guint32) gst_util_uint64_scale (gst_fairmix_ntp_time (element,
          source), 1 << 16, GST_SECOND);
}
