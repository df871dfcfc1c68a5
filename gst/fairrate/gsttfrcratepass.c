/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gsttfrcratepass.h"

#include "common/gstfairmixevents.h"
#include "common/gstfairmixrtp.h"
#include "fairmix/base/fmx-units.h"

#define GST_CAT_DEFAULT gst_tfrc_rate_debug

#define PROBE_BYTES 4           /* of padding: one word, its last byte counts it */
#define HEADER_BYTES 40         /* IPv4, UDP, RTP */

/* with the lock; takes @buffer; returns what to push: the same, numbered */
static GstBuffer *
gst_tfrc_rate_sent (GstTfrcRate * self, GstBuffer * buffer,
    GstFairmixRtpHeader * header, FmxTime now)
{
  buffer = gst_pacing_tell (&self->pacing, buffer, header, now);
  buffer = gst_transport_wide_number (&self->transport_wide, buffer, header);
  fmx_rate_sender_on_sent (self->sender, header->ssrc, header->seq,
      gst_fairmix_rtp_wire_bytes (buffer), now);
  gst_feedback_watch_on_sent (&self->watch, now);
  return buffer;
}

/* with the lock; takes @buffer; returns what to push, NULL = nothing */
static GstBuffer *
gst_tfrc_rate_pass (GstTfrcRate * self, GstBuffer * buffer, FmxTime now)
{
  GstFairmixRtpHeader header;
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  gboolean may_send = fmx_rate_sender_may_send (self->sender);
  gboolean skip = FALSE;
  guint16 seq;

  if (!gst_fairmix_rtp_header_read (buffer, &header)) {
    self->n_not_rtp++;
    GST_DEBUG_OBJECT (self, "not an RTP packet: %" GST_PTR_FORMAT, buffer);
    return buffer;
  }

  seq = header.seq;
  if (!may_send)
    gst_rtp_seq_map_drop (self->seq_map, &header, pts);
  else
    skip = gst_rtp_seq_map_is_next (self->seq_map, &header)
        && fmx_rate_sender_take_skip (self->sender);
  if (skip)
    gst_rtp_seq_map_skip (self->seq_map, &header);
  if (!may_send || !gst_rtp_seq_map_pass (self->seq_map, &header, pts)) {
    self->n_dropped++;
    gst_buffer_unref (buffer);
    return NULL;
  }

  if (skip)
    gst_transport_wide_skip (&self->transport_wide, header.ssrc,
        (guint16) (header.seq - 1));
  if (header.seq != seq)
    buffer = gst_fairmix_rtp_set_seq (buffer, header.seq);
  buffer = gst_tfrc_rate_sent (self, buffer, &header, now);
  if (fmx_adapt_encoder_on_packet (&self->adapt_encoder,
          header.header_bytes + FMX_IP_UDP_BYTES, now))
    self->adjust_encoder = TRUE;
  return buffer;
}

void
gst_tfrc_rate_find_webrtcbin (GstTfrcRate * self)
{
  if (gst_webrtc_tap_wants (self->tap))
    gst_webrtc_tap_connect (self->tap);
}

/* Takes the extension for transport-wide numbers out of the caps: a session
 * that saw it there would write numbers of its own. */
static GstEvent *
gst_tfrc_rate_take_caps (GstTfrcRate * self, GstEvent * event)
{
  GstCaps *caps, *taken;

  gst_event_parse_caps (event, &caps);
  gst_fairmix_lock_acquire (&self->lock);
  taken = gst_transport_wide_take_caps (&self->transport_wide, caps);
  gst_pacing_read_caps (&self->pacing, caps);
  gst_fairmix_lock_release (&self->lock);
  if (taken != caps) {
    GstEvent *other = gst_event_new_caps (taken);

    gst_event_set_seqnum (other, gst_event_get_seqnum (event));
    gst_event_unref (event);
    event = other;
  }
  gst_caps_unref (taken);
  return event;
}

/* Serialized, but for those that come while what was before them still waits */
static gboolean
gst_tfrc_rate_forward_event (GstTfrcRate * self, GstEvent * event)
{
  GstEventType type = GST_EVENT_TYPE (event);
  gboolean ret;

  if (type == GST_EVENT_CAPS)
    event = gst_tfrc_rate_take_caps (self, event);
  ret = gst_pad_event_default (self->sinkpad, GST_OBJECT (self), event);

  gst_fairmix_lock_acquire (&self->lock);
  if (type == GST_EVENT_SEGMENT)
    self->has_segment = TRUE;
  else if (type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_EOS)
    self->has_segment = FALSE;
  if (type == GST_EVENT_EOS)
    gst_feedback_watch_on_end (&self->watch);
  /* whoever sends may be new, or was not reached until now */
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_CAPS
      || type == GST_EVENT_FLUSH_STOP)
    self->tell_again = self->timed.started;
  gst_fairmix_lock_release (&self->lock);

  gst_tfrc_rate_tell (self);
  return ret;
}

/* with the lock; returns what may leave of what waits: a buffer or an event */
static GstMiniObject *
gst_tfrc_rate_take_due (GstTfrcRate * self)
{
  FmxTime now = gst_tfrc_rate_now (self);
  GstMiniObject *object;

  while ((object = gst_pacing_pop (&self->pacing, now)) != NULL
      && GST_IS_BUFFER (object)) {
    GstBuffer *buffer = gst_tfrc_rate_pass (self, GST_BUFFER_CAST (object),
        now);

    if (buffer != NULL) {
      gst_pacing_on_sent (&self->pacing, gst_fairmix_rtp_wire_bytes (buffer),
          now);
      return GST_MINI_OBJECT_CAST (buffer);
    }
  }
  return object;
}

/* with the stream lock of the sink pad */
static void
gst_tfrc_rate_push_due (GstTfrcRate * self)
{
  GstMiniObject *object;
  GstFlowReturn flow;

  gst_fairmix_lock_acquire (&self->lock);
  while (self->timed.started
      && (object = gst_tfrc_rate_take_due (self)) != NULL) {
    gst_fairmix_lock_release (&self->lock);
    if (GST_IS_EVENT (object)) {
      gst_tfrc_rate_forward_event (self, GST_EVENT_CAST (object));
      flow = GST_FLOW_OK;
    } else {
      flow = gst_pad_push (self->srcpad, GST_BUFFER_CAST (object));
    }
    gst_fairmix_lock_acquire (&self->lock);
    gst_pacing_set_flow (&self->pacing, flow);
  }
  if (self->timed.started)
    gst_tfrc_rate_unlock_and_tell (self);
  else
    gst_fairmix_lock_release (&self->lock);
}

/* with the lock: what has no room in the queue leaves no gap in the numbers */
static void
gst_tfrc_rate_drop_late (GstTfrcRate * self, FmxTime now)
{
  GstFairmixRtpHeader header;
  GstBuffer *buffer;

  while ((buffer = gst_pacing_take_late (&self->pacing, now)) != NULL) {
    if (gst_fairmix_rtp_header_read (buffer, &header))
      gst_rtp_seq_map_drop (self->seq_map, &header, GST_BUFFER_PTS (buffer));
    gst_buffer_unref (buffer);
  }
}

/* with the lock, which it releases: packets are in the queue */
static GstFlowReturn
gst_tfrc_rate_go_on (GstTfrcRate * self, FmxTime now)
{
  GstFlowReturn flow;

  gst_tfrc_rate_drop_late (self, now);
  gst_tfrc_rate_follow (self, FALSE, now);
  gst_fairmix_lock_release (&self->lock);
  gst_tfrc_rate_push_due (self);
  gst_fairmix_lock_acquire (&self->lock);
  flow = gst_pacing_take_flow (&self->pacing);
  gst_fairmix_lock_release (&self->lock);
  return flow;
}

GstFlowReturn
gst_tfrc_rate_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstTfrcRate *self = (GstTfrcRate *) parent;

  gst_tfrc_rate_find_webrtcbin (self);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    FmxTime now = gst_tfrc_rate_now (self);

    if (gst_pacing_is_on (&self->pacing)) {
      gst_pacing_queue (&self->pacing, buffer);
      return gst_tfrc_rate_go_on (self, now);
    }
    buffer = gst_tfrc_rate_pass (self, buffer, now);
    gst_tfrc_rate_follow (self, FALSE, now);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
  return buffer != NULL ? gst_pad_push (self->srcpad, buffer) : GST_FLOW_OK;
}

typedef struct
{
  GstTfrcRate *self;
  FmxTime now;
} PassListData;

static gboolean
gst_tfrc_rate_pass_in_list (GstBuffer ** buffer, guint index, gpointer user)
{
  PassListData *data = user;

  *buffer = gst_tfrc_rate_pass (data->self, *buffer, data->now);
  return TRUE;
}

static gboolean
gst_tfrc_rate_queue_in_list (GstBuffer ** buffer, guint index, gpointer user)
{
  PassListData *data = user;

  gst_pacing_queue (&data->self->pacing, gst_buffer_ref (*buffer));
  return TRUE;
}

GstFlowReturn
gst_tfrc_rate_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstTfrcRate *self = (GstTfrcRate *) parent;

  gst_tfrc_rate_find_webrtcbin (self);
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    PassListData data = { self, gst_tfrc_rate_now (self) };

    if (gst_pacing_is_on (&self->pacing)) {
      gst_buffer_list_foreach (list, gst_tfrc_rate_queue_in_list, &data);
      gst_buffer_list_unref (list);
      return gst_tfrc_rate_go_on (self, data.now);
    }
    list = gst_buffer_list_make_writable (list);
    gst_buffer_list_foreach (list, gst_tfrc_rate_pass_in_list, &data);
    gst_tfrc_rate_follow (self, FALSE, data.now);
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }

  if (gst_buffer_list_length (list) > 0)
    return gst_pad_push_list (self->srcpad, list);
  gst_buffer_list_unref (list);
  return GST_FLOW_OK;
}

/* with the lock; returns a probe if one is due */
static GstBuffer *
gst_tfrc_rate_take_probe (GstTfrcRate * self)
{
  FmxTime now = gst_tfrc_rate_now (self);
  GstFairmixRtpHeader header;
  GstClockTime pts;
  GstBuffer *probe;

  if (!self->timed.started || !self->has_segment || self->flushing
      || !fmx_rate_sender_take_probe (self->sender, now)
      || !gst_rtp_seq_map_insert (self->seq_map, &header, &pts))
    return NULL;

  probe = gst_fairmix_rtp_padding_new (&header,
      fmx_rate_sender_may_send (self->sender)
      ? fmx_rate_sender_padding_bytes (self->sender) - HEADER_BYTES
      : PROBE_BYTES);
  GST_BUFFER_PTS (probe) = pts;
  return gst_tfrc_rate_sent (self, probe, &header, now);
}

void
gst_tfrc_rate_push_waiting (GstTfrcRate * self)
{
  GST_PAD_STREAM_LOCK (self->sinkpad);
  gst_tfrc_rate_push_due (self);
  GST_PAD_STREAM_UNLOCK (self->sinkpad);
}

/* A train of padding leaves at once, but nothing endless: where the rate is high the next
 * packet is due before this one has been pushed. */
void
gst_tfrc_rate_push_probe (GstTfrcRate * self)
{
  GstFlowReturn flow = GST_FLOW_OK;

  GST_PAD_STREAM_LOCK (self->sinkpad);
  for (guint i = 0; i < FMX_RATE_TRAIN_PACKETS && flow >= GST_FLOW_OK; i++) {
    GstBuffer *probe;

    gst_fairmix_lock_acquire (&self->lock);
    probe = gst_tfrc_rate_take_probe (self);
    gst_fairmix_lock_release (&self->lock);
    if (probe == NULL)
      break;
    GST_LOG_OBJECT (self, "probe %" GST_PTR_FORMAT, probe);
    flow = gst_pad_push (self->srcpad, probe);
  }
  GST_PAD_STREAM_UNLOCK (self->sinkpad);
}

void
gst_tfrc_rate_set_flushing (GstTfrcRate * self, gboolean flushing)
{
  gst_fairmix_lock_acquire (&self->lock);
  self->flushing = flushing;
  if (self->drain_id != NULL)
    gst_clock_id_unschedule (self->drain_id);
  gst_fairmix_lock_release (&self->lock);
}

/* with the lock, which it leaves meanwhile, until the next that waits is due, or that
 * may have changed.  Returns: %FALSE if no time passes */
static gboolean
gst_tfrc_rate_wait_due (GstTfrcRate * self)
{
  self->drain_id = gst_fairmix_timed_new_wait (&self->timed,
      gst_pacing_due (&self->pacing));
  if (self->drain_id == NULL)
    return FALSE;
  gst_fairmix_lock_release (&self->lock);
  gst_clock_id_wait (self->drain_id, NULL);
  gst_fairmix_lock_acquire (&self->lock);
  g_clear_pointer (&self->drain_id, gst_clock_id_unref);
  return TRUE;
}

/* With the stream lock of the sink pad, which whoever asks has: what waits leaves, each
 * at its time.  Returns: whether all of it has */
static gboolean
gst_tfrc_rate_drain (GstTfrcRate * self)
{
  gboolean goes_on = TRUE, drained;

  gst_fairmix_lock_acquire (&self->lock);
  while (goes_on && self->timed.started && !self->flushing
      && gst_pacing_due (&self->pacing) != FMX_TIME_NONE) {
    if (gst_pacing_due (&self->pacing) > gst_tfrc_rate_now (self))
      goes_on = gst_tfrc_rate_wait_due (self);
    gst_fairmix_lock_release (&self->lock);
    gst_tfrc_rate_push_due (self);
    gst_fairmix_lock_acquire (&self->lock);
  }
  drained = goes_on && !self->flushing;
  gst_fairmix_lock_release (&self->lock);
  return drained;
}

gboolean
gst_tfrc_rate_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  if (GST_QUERY_IS_SERIALIZED (query)
      && !gst_tfrc_rate_drain ((GstTfrcRate *) parent))
    return FALSE;
  return gst_pad_query_default (pad, parent, query);
}

/* No packet waits any more.  Events do not wait, either: what downstream is to know when
 * the flush is over is kept on the pad, which is flushing. */
static void
gst_tfrc_rate_flush (GstTfrcRate * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  gst_pacing_drop (&self->pacing);
  gst_fairmix_lock_release (&self->lock);
  gst_tfrc_rate_push_due (self);
}

/* More would be sent if the rate were @bitrate. */
static void
gst_tfrc_rate_want (GstTfrcRate * self, guint bitrate)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (self->timed.started) {
    fmx_rate_sender_set_wanted (self->sender, bitrate,
        gst_tfrc_rate_now (self));
    gst_tfrc_rate_unlock_and_tell (self);
  } else {
    gst_fairmix_lock_release (&self->lock);
  }
}

gboolean
gst_tfrc_rate_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstTfrcRate *self = (GstTfrcRate *) parent;
  gboolean waits = FALSE;
  guint bitrate;

  if (gst_fairmix_wanted_bitrate_event_parse (event, &bitrate)) {
    gst_tfrc_rate_want (self, bitrate);
    gst_event_unref (event);
    return TRUE;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START) {
    gst_tfrc_rate_set_flushing (self, TRUE);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    gst_tfrc_rate_set_flushing (self, FALSE);
    gst_tfrc_rate_flush (self);
  } else if (GST_EVENT_IS_SERIALIZED (event)) {
    gst_fairmix_lock_acquire (&self->lock);
    waits = gst_pacing_queue_event (&self->pacing, event);
    gst_fairmix_lock_release (&self->lock);
  }
  return waits || gst_tfrc_rate_forward_event (self, event);
}
