/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_PUSH_H__
#define __GST_PARTIAL_MIX_PUSH_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstPartialMixFlow:
 *
 * What has left a pad so far.  Under the pad's stream lock, or before anybody
 * pushes.
 */
typedef struct
{
  /*< private >*/
  gboolean stream_sent, segment_sent;   /* that a stream and a segment begin */
  GstCaps *sent_caps;           /* the latest; see gstpartialmixpayloads.c */
  gint last;                    /* GstFlowReturn; read without the lock, atomic */
} GstPartialMixFlow;

void gst_partial_mix_flow_init (GstPartialMixFlow * flow);
/* A pad that was inactive has to say all again. */
void gst_partial_mix_flow_forget (GstPartialMixFlow * flow);

/* What the latest push returned; from any thread */
static inline GstFlowReturn
gst_partial_mix_flow_last (GstPartialMixFlow * flow)
{
  return (GstFlowReturn) g_atomic_int_get (&flow->last);
}

/* Takes @data, a buffer, a list or an event, which @caps describe.  It may be a
 * pad that the application has released: it has no parent then. */
GstFlowReturn gst_partial_mix_push (GstPad * pad, GstPartialMixFlow * flow,
    GstCaps * caps, GstMiniObject * data);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_PUSH_H__ */
