/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttfrcratetell.h"

#include "common/gstfairmixevents.h"
#include "common/gstfairmixstats.h"

#define DECISION_NAME "fairmix-rate-decision"

GST_DEBUG_CATEGORY (gst_tfrc_rate_debug);
#define GST_CAT_DEFAULT gst_tfrc_rate_debug

FmxTime
gst_tfrc_rate_now (GstTfrcRate * self)
{
  return gst_fairmix_timed_now (&self->timed);
}

void
gst_tfrc_rate_on_event (void *user, const FmxEvent * event)
{
  GstTfrcRate *self = user;
  GstStructure *decision = gst_fairmix_event_to_structure (DECISION_NAME,
      event);

  GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, decision);
  g_queue_push_tail (&self->decisions, decision);
}

typedef struct
{
  gboolean target_changed;
  gboolean tell_target;
  guint target, lasting;
  guint protect_from;           /* encoders of this bitrate, 0 = none */
  guint64 encoder_bitrate;      /* 0 = leave it */
  gint protection;              /* in percent of loss, -1 = leave it */
  gboolean feedback_void;
  GstStructure *decision;
} News;

/* with the lock: what the encoder is to provide for */
static guint
gst_tfrc_rate_encoder_percent (GstTfrcRate * self)
{
  return self->encoder_fec
      ? fmx_adapt_protection_percent (self->protect_from,
      self->encoder_bps) : 0;
}

/* with the lock */
static gboolean
gst_tfrc_rate_has_news (GstTfrcRate * self)
{
  return self->tell_again || self->adjust_encoder || self->feedback_void
      || self->decisions.length > 0 || self->target != self->wanted
      || self->lasting != self->lasting_wanted
      || self->told_protect_from != self->protect_from
      || self->protected_percent != gst_tfrc_rate_encoder_percent (self);
}

/* with the lock */
static gboolean
gst_tfrc_rate_take_news (GstTfrcRate * self, News * news)
{
  guint target = self->wanted, percent;

  if (!gst_tfrc_rate_has_news (self))
    return FALSE;

  news->target = target;
  news->target_changed = target != self->target;
  news->lasting = self->lasting_wanted;
  news->tell_target = news->target_changed || self->tell_again
      || news->lasting != self->lasting
      || self->told_protect_from != self->protect_from;
  news->encoder_bitrate = 0;
  if (target > 0 && (news->tell_target || self->adjust_encoder))
    news->encoder_bitrate =
        MAX (fmx_adapt_encoder_bps (&self->adapt_encoder, target), 1);
  if (news->encoder_bitrate > 0)
    self->encoder_bps = news->encoder_bitrate;
  news->protect_from = self->told_protect_from = self->protect_from;
  percent = gst_tfrc_rate_encoder_percent (self);
  news->protection =
      self->protected_percent != percent ? (gint) percent : -1;
  self->protected_percent = percent;
  news->decision = g_queue_pop_head (&self->decisions);
  news->feedback_void = self->feedback_void;

  self->target = target;
  self->lasting = news->lasting;
  self->tell_again = FALSE;
  self->adjust_encoder = FALSE;
  self->feedback_void = FALSE;
  return TRUE;
}

static void
gst_tfrc_rate_send_target (GstTfrcRate * self, const News * news)
{
  GstEvent *event = gst_fairmix_target_bitrate_event_new (news->target);

  gst_fairmix_target_bitrate_event_set_lasting (event, news->lasting);
  gst_fairmix_target_bitrate_event_set_loss (event,
      fmx_adapt_protection_percent (news->protect_from, news->protect_from),
      news->protect_from);
  gst_pad_push_event (self->sinkpad, event);
}

/* without any lock, but from one thread at a time */
static void
gst_tfrc_rate_act (GstTfrcRate * self, News * news)
{
  if (news->target_changed)
    g_object_notify (G_OBJECT (self), "target-bitrate");
  if (news->tell_target)
    gst_tfrc_rate_send_target (self, news);
  if (news->encoder_bitrate > 0)
    gst_encoder_control_set_bitrate (&self->encoder, GST_ELEMENT (self),
        news->encoder_bitrate);
  if (news->protection >= 0)
    gst_encoder_control_set_protection (&self->encoder, GST_ELEMENT (self),
        (guint) news->protection);
  if (news->feedback_void)
    gst_feedback_watch_complain_of_lies (GST_ELEMENT (self));
  if (news->decision != NULL)
    gst_element_post_message (GST_ELEMENT (self),
        gst_message_new_element (GST_OBJECT (self), news->decision));
}

void
gst_tfrc_rate_tell (GstTfrcRate * self)
{
  News news;

  gst_fairmix_lock_acquire (&self->lock);
  if (!self->telling) {
    self->telling = TRUE;
    while (gst_tfrc_rate_take_news (self, &news)) {
      gst_fairmix_lock_release (&self->lock);
      gst_tfrc_rate_act (self, &news);
      gst_fairmix_lock_acquire (&self->lock);
    }
    self->telling = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
}

GstClockTime
gst_tfrc_rate_deadline (GstTfrcRate * self)
{
  return gst_fairmix_timed_to_clock (&self->timed,
      fmx_time_min (gst_pacing_due (&self->pacing),
          fmx_time_min (fmx_rate_sender_next_timeout (self->sender),
              gst_feedback_watch_deadline (&self->watch))));
}

void
gst_tfrc_rate_begin_policy (GstTfrcRate * self)
{
  FmxAdaptPolicyParams params;

  GST_OBJECT_LOCK (self);
  params = self->policy_params;
  GST_OBJECT_UNLOCK (self);
  /* what waits may be ahead of the rate, and half of what may wait is left for
   * back-offs while it is made good */
  params.within = self->pacing.max_delay == 0;
  if (!params.within)
    params.max_delay = self->pacing.max_delay / 2;
  fmx_adapt_policy_init (&self->policy, &params);
}

/* with the lock: the rate of what leaves */
static void
gst_tfrc_rate_pace (GstTfrcRate * self, guint64 bps, FmxTime now)
{
  FmxRateSenderStats stats = { 0 };

  if (!gst_pacing_is_on (&self->pacing))
    return;
  fmx_rate_sender_get_stats (self->sender, &stats, now);
  gst_pacing_on_rate (&self->pacing, bps, stats.rtt,
      self->policy.params.klass->n_backoffs, now);
  if (!self->policy.params.within)
    fmx_adapt_policy_set_backlog (&self->policy,
        fmx_pacer_queued_bytes (&self->pacing.pacer));
}

void
gst_tfrc_rate_follow (GstTfrcRate * self, gboolean tick, FmxTime now)
{
  guint64 bps = fmx_rate_sender_target_bps (self->sender), least;
  guint64 lasting = fmx_rate_sender_lasting_bps (self->sender);

  if (bps == self->transmission_bps && !tick) {
    self->lasting_wanted = MIN (lasting, self->wanted);
    return;
  }
  self->transmission_bps = bps;
  gst_tfrc_rate_pace (self, bps, now);
  GST_OBJECT_LOCK (self);
  least = MIN (self->params.min_bps, bps);
  GST_OBJECT_UNLOCK (self);
  self->wanted = CLAMP (fmx_adapt_policy_on_rate (&self->policy, bps, now),
      least, G_MAXUINT);
  self->lasting_wanted = MIN (lasting, self->wanted);
  fmx_rate_sender_set_media_bps (self->sender, self->wanted);
}

void
gst_tfrc_rate_unlock_and_tell (GstTfrcRate * self)
{
  GstClockTime deadline = gst_tfrc_rate_deadline (self);
  gboolean news = gst_tfrc_rate_has_news (self);

  if (self->drain_id != NULL)   /* what waits may be due sooner, or later */
    gst_clock_id_unschedule (self->drain_id);
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_timed_reschedule (&self->timed, deadline);
  if (news)
    gst_tfrc_rate_tell (self);
}
