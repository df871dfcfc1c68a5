/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_TFRC_RATE_TELL_H__
#define __GST_TFRC_RATE_TELL_H__

/* What tfrcrate is, and how it tells what it decides: the target upstream and to
 * the encoder, each decision on the bus, in order and with no lock held. */

#include <gst/gst.h>

#include "common/gstencodercontrol.h"
#include "gstfeedbackwatch.h"
#include "gstpacing.h"
#include "gstrtpseqmap.h"
#include "gsttransportwide.h"
#include "gstwebrtctap.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixtimed.h"
#include "fairmix/adapt/fmx-adapt-encoder.h"
#include "fairmix/adapt/fmx-adapt-protection.h"
#include "fairmix/adapt/fmx-adapt-policy.h"
#include "fairmix/rate/fmx-rate-sender.h"
#include "fairmix/rate/fmx-report-turns.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfrc_rate_debug);

typedef struct _GstTfrcRate GstTfrcRate;

struct _GstTfrcRate
{
  GstElement parent;

  GstPad *sinkpad, *srcpad;
  GstPad *rtcp_sinkpad, *rtcp_srcpad;

  /* Properties, with the object lock */
  FmxRateSenderParams params;
  FmxAdaptPolicyParams policy_params;
  guint max_ssrcs;
  GstFairmixNtpSource ntp_time_source;

  GstEncoderControl encoder;    /* locks itself */
  GstWebrtcTap *tap;            /* so does this */

  /* State, with the lock */
  GstFairmixLock lock;
  GstFairmixTimed timed;
  FmxRateSender *sender;
  FmxEventSink sink;
  FmxAdaptPolicy policy;
  guint64 transmission_bps;     /* what the policy was told last */
  guint wanted;                 /* and what it made of it */
  guint lasting_wanted;         /* of that, what is not just tried */
  FmxAdaptEncoder adapt_encoder;
  FmxAdaptProtection protection;
  gboolean encoder_fec;         /* property */
  guint64 encoder_bps;          /* what the encoder was told, 0 = nothing */
  guint protect_from;           /* encoders of this bitrate, 0 = none */
  guint told_protect_from;      /* what was said of that upstream ... */
  guint protected_percent;      /* ... and to the encoder */
  GstRtpSeqMap *seq_map;
  GstTransportWide transport_wide;
  GstPacing pacing;
  GstClockID drain_id;          /* on which a query waits for what is paced */
  gboolean flushing;            /* nobody waits any more */
  FmxReportTurns report_turns;
  gboolean has_segment;         /* a probe may be pushed */
  guint64 n_dropped;            /* media, while probing */
  guint64 n_not_rtp;
  GstFeedbackWatch watch;
  gint warned_of_rtcp;          /* atomic */

  /* What is to be told, with the lock */
  gboolean telling;             /* one thread at a time, so that order holds */
  guint target;
  guint lasting;
  gboolean tell_again;
  gboolean adjust_encoder;
  gboolean feedback_void;
  GQueue decisions;             /* of GstStructure */
};

/* with the lock: the one place where this element asks for the time */
FmxTime gst_tfrc_rate_now (GstTfrcRate * self);

/* FmxEventSink.emit: called by the library, with the lock */
void gst_tfrc_rate_on_event (void *user, const FmxEvent * event);

/* with the lock, after each call of the library.  @tick: also if nothing has
 * changed: about once a round-trip time is what the policy asks for. */
void gst_tfrc_rate_follow (GstTfrcRate * self, gboolean tick, FmxTime now);

/* with the lock: what the policy shall be, by the properties; @self has started */
void gst_tfrc_rate_begin_policy (GstTfrcRate * self);

/* with the lock; returns when to wake up, on the clock */
GstClockTime gst_tfrc_rate_deadline (GstTfrcRate * self);

/* after that: wakes up in time, says what is new */
void gst_tfrc_rate_unlock_and_tell (GstTfrcRate * self);

/* Says what is new.  If another thread is at it, that one says this, too, so
 * that the last word that anybody hears is the last one that was said. */
void gst_tfrc_rate_tell (GstTfrcRate * self);

G_END_DECLS

#endif /* __GST_TFRC_RATE_TELL_H__ */
