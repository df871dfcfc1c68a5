/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_TIME_H__
#define __GST_FAIRMIX_TIME_H__

#include <gst/gst.h>

#include "fairmix/base/fmx-time.h"

G_BEGIN_DECLS

/**
 * GstFairmixTime:
 *
 * The time that an element hands to the library: its clock's, made
 * monotonic.  It goes on where it was when the clock is replaced, and stands
 * still while there is none.  To be used under the element's own lock.
 */
typedef struct
{
  /*< private >*/
  GstClock *clock;
  GstClockTimeDiff offset;      /* library time - clock time */
  FmxTime last;
} GstFairmixTime;

/* Starts at the clock's own time. */
void gst_fairmix_time_reset (GstFairmixTime * time);

/* @clock: (nullable): the element's clock, as its set_clock() gets it */
void gst_fairmix_time_set_clock (GstFairmixTime * time, GstClock * clock);

FmxTime gst_fairmix_time_now (GstFairmixTime * time);

/* Returns: when the clock shows that @t has come; none for %FMX_TIME_NONE */
GstClockTime gst_fairmix_time_to_clock (const GstFairmixTime * time,
    FmxTime t);

/**
 * GstFairmixNtpSource:
 * @GST_FAIRMIX_NTP_NTP: NTP time of the system's wall clock
 * @GST_FAIRMIX_NTP_UNIX: seconds since 1970 of the wall clock
 * @GST_FAIRMIX_NTP_RUNNING_TIME: the pipeline's running time
 * @GST_FAIRMIX_NTP_CLOCK_TIME: the pipeline clock's time
 *
 * Where the NTP times of RTCP come from; names and meaning as in the property
 * `ntp-time-source` of rtpbin, with which it must agree.
 */
typedef enum
{
  GST_FAIRMIX_NTP_NTP,
  GST_FAIRMIX_NTP_UNIX,
  GST_FAIRMIX_NTP_RUNNING_TIME,
  GST_FAIRMIX_NTP_CLOCK_TIME
} GstFairmixNtpSource;

#define GST_TYPE_FAIRMIX_NTP_SOURCE (gst_fairmix_ntp_source_get_type ())
GType gst_fairmix_ntp_source_get_type (void);

/* Returns: (transfer floating): the property `ntp-time-source` */
GParamSpec *gst_fairmix_ntp_source_param_spec (void);

/* Returns: the time now, in ns since the source's epoch */
GstClockTime gst_fairmix_ntp_time (GstElement * element,
    GstFairmixNtpSource source);

/* Returns: the middle 32 bits of the NTP time now, as RTCP writes LSR */
guint32 gst_fairmix_ntp_mid32 (GstElement * element,
    GstFairmixNtpSource source);

G_END_DECLS

#endif /* __GST_FAIRMIX_TIME_H__ */
