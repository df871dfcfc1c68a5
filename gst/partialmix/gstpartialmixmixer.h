/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_MIXER_H__
#define __GST_PARTIAL_MIX_MIXER_H__

#include <gst/gst.h>

#include "fairmix/mix/fmx-limiter.h"
#include "fairmix/mix/fmx-mix-envelope.h"
#include "fairmix/mix/fmx-mix-key.h"
#include "fairmix/wire/fmx-audio-level.h"

#include "gstpartialmixcodec.h"
#include "gstpartialmixset.h"
#include "gstpartialmixstream.h"

G_BEGIN_DECLS

/**
 * GstPartialMixContribution:
 *
 * A stream in a mix, in one tick, whose gain is not 1 over the whole frame.
 */
typedef struct
{
  GstPartialMixStream *stream;
  FmxMixEnvelope envelope;
  gfloat gain;                  /* relative to the total's */
} GstPartialMixContribution;

/**
 * GstPartialMixCast:
 *
 * Who is heard in one mix, in one tick.
 */
typedef struct
{
  FmxMixKey key;                /* the same for the same cast */
  guint n_members;
  GstPartialMixSet *members;
  GArray *ramped;               /* of GstPartialMixContribution: of members */
} GstPartialMixCast;

void gst_partial_mix_cast_init (GstPartialMixCast * cast);
void gst_partial_mix_cast_clear (GstPartialMixCast * cast);

/**
 * GstPartialMixBus:
 *
 * One mix that is made and encoded, for as many listeners as need the very
 * same.  Mixing thread only.
 */
typedef struct _GstPartialMixBus
{
  GstPartialMixFormat format;
  guint bitrate_bps;
  FmxMixKey key;                /* of its contributions in this tick */
  FmxMixHistory history;
  guint64 tick;                 /* in which @key was set */
  guint n_users;
  GstPartialMixEncoder *encoder;
  FmxLimiter limiter;
  gboolean failed;
  gboolean unmade;              /* its encoder is still to be made ... */
  struct _GstPartialMixBus *parent;     /* ... like this one's, if any */

  GstPartialMixCast cast;
  GstMemory *payload;           /* what came of it in this tick */
  guint n_csrcs;
  guint32 csrcs[FMX_CSRC_MAX];
  guint8 levels[FMX_CSRC_MAX];
} GstPartialMixBus;

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_MIXER_H__ */
