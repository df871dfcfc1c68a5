/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ALS_ALERT_H__
#define __GST_ALS_ALERT_H__

#include <gst/gst.h>

#include "common/gstfairmixlock.h"

G_BEGIN_DECLS

/**
 * GstAlsAlert:
 *
 * Has routers look at the RTCP that a udpsink sends: IP's router-alert option
 * [RFC2113], and no UDP checksum, so that who rewrites a request need not compute
 * one (ALS 3.2).  Thread-safe.
 */
typedef struct
{
  /*< private >*/
  GstFairmixLock lock;
  gchar *name;
  gboolean complained;
  GWeakRef marked;              /* the socket */
} GstAlsAlert;

void gst_als_alert_init (GstAlsAlert * alert);
void gst_als_alert_clear (GstAlsAlert * alert);

/* @name: (nullable): of the udpsink */
void gst_als_alert_set_name (GstAlsAlert * alert, const gchar * name);
gchar *gst_als_alert_dup_name (GstAlsAlert * alert);

/**
 * gst_als_alert_apply:
 * @owner: whose pipeline to search; posts a warning, once, if it cannot be
 *
 * To be called before each report, without locks: a sink that starts has a new
 * socket, and one that is not named any more does not alert.
 */
void gst_als_alert_apply (GstAlsAlert * alert, GstElement * owner);

G_END_DECLS

#endif /* __GST_ALS_ALERT_H__ */
