/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_QM_PROXY_H__
#define __GST_QM_PROXY_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * gst_qm_proxy_install:
 * @first_id: property ids from here on are the proxied ones
 *
 * Gives @klass the properties of rtpjitterbuffer, with its defaults: those
 * that the running version of GStreamer has.  They are listed here, because a
 * class cannot ask a plugin that is not loaded yet.
 */
void gst_qm_proxy_install (GObjectClass * klass, guint first_id);

void gst_qm_proxy_set (GObject * inner, const GValue * value,
    GParamSpec * pspec);
void gst_qm_proxy_get (GObject * inner, GValue * value, GParamSpec * pspec);

G_END_DECLS

#endif /* __GST_QM_PROXY_H__ */
