/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_ENCODER_CONTROL_H__
#define __GST_ENCODER_CONTROL_H__

#include <gst/gst.h>
#include "gstfairmixlock.h"

G_BEGIN_DECLS

/**
 * GstEncoderControl:
 *
 * Sets the bitrate of an encoder that is known by its name, wherever it is in
 * the owner's pipeline: the nearest one of that name, searched in the owner's
 * bin and what is in it, then upwards.  Another one that takes its place is driven
 * from then on.  Thread-safe.
 */
typedef struct
{
  /*< private >*/
  GstFairmixLock lock;
  gchar *name;
  GWeakRef encoder;
  guint percent;                /* of loss that it is to provide for */
  gboolean complained;
} GstEncoderControl;

void gst_encoder_control_init (GstEncoderControl * control);
void gst_encoder_control_clear (GstEncoderControl * control);

/* Returns: (transfer floating): the property `encoder` */
GParamSpec *gst_encoder_control_param_spec (void);

/* @name: (nullable): %NULL or empty = no encoder */
void gst_encoder_control_set_name (GstEncoderControl * control,
    const gchar * name);
gchar *gst_encoder_control_dup_name (GstEncoderControl * control);

/* Looks whether it is there; @owner posts a warning, once, if not. */
void gst_encoder_control_check (GstEncoderControl * control,
    GstElement * owner);

/**
 * gst_encoder_control_set_bitrate:
 * @owner: whose pipeline to search, and who posts a warning if there is no
 *     such element or it has no property `bitrate` that it can change now
 * @bitrate: in bits/s; clamped to the range of the property
 */
void gst_encoder_control_set_bitrate (GstEncoderControl * control,
    GstElement * owner, guint64 bitrate);

/**
 * gst_encoder_control_set_protection:
 * @percent: of the packets are lost; 0 = none
 *
 * Tells it to provide for that loss: `inband-fec` and `packet-loss-percentage`, as
 * opusenc has them.  An encoder that has not, or cannot
 * change them now, is left alone.
 */
void gst_encoder_control_set_protection (GstEncoderControl * control,
    GstElement * owner, guint percent);

G_END_DECLS

#endif /* __GST_ENCODER_CONTROL_H__ */
