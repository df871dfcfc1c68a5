/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpacing.h"

#include "fairmix/wire/fmx-playout-delay.h"
#include "gstrtpextension.h"
#include "common/gstfairmixextmap.h"

#define URI "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

/* Receivers keep what they were told: it is said for a fifth of each second. */
#define TELL_EACH FMX_SECOND
#define TELL_FOR (200 * FMX_MSECOND)

#define PARAM_MAX_DELAY 0
#define PARAM_EXT_ID 1
#define MAX_DELAY_MS 60000

typedef struct
{
  GstMiniObject *object;
  guint32 wire_bytes;           /* 0 = an event */
} Item;

static void
item_free (gpointer data)
{
  Item *item = data;

  gst_mini_object_unref (item->object);
  g_free (item);
}

/* Unlinks @link.  Returns: (transfer full): what was there */
static GstMiniObject *
take (GstPacing * self, GList * link)
{
  Item *item = link->data;
  GstMiniObject *object = item->object;

  if (item->wire_bytes > 0) {
    fmx_pacer_on_unqueued (&self->pacer, item->wire_bytes);
    self->n_queued--;
  }
  g_free (item);
  g_queue_delete_link (&self->items, link);
  return object;
}

static void
append (GstPacing * self, GstMiniObject * object, guint32 wire_bytes)
{
  Item *item = g_new (Item, 1);

  item->object = object;
  item->wire_bytes = wire_bytes;
  g_queue_push_tail (&self->items, item);
}

static void
flush (GstPacing * self)
{
  gst_pacing_drop (self);
  g_queue_clear_full (&self->items, item_free);
}

void
gst_pacing_init (GstPacing * self)
{
  g_queue_init (&self->items);
  gst_pacing_start (self, 0);
}

void
gst_pacing_start (GstPacing * self, FmxTime now)
{
  flush (self);
  fmx_pacer_init (&self->pacer, now);
  fmx_needed_buffer_init (&self->needed);
  self->told = 0;
  self->told_since = FMX_TIME_NONE;
  self->n_late = 0;
}

void
gst_pacing_drop (GstPacing * self)
{
  GList *link, *next;

  for (link = self->items.head; link != NULL; link = next) {
    next = link->next;
    if (((const Item *) link->data)->wire_bytes > 0)
      gst_mini_object_unref (take (self, link));
  }
  self->flow = GST_FLOW_OK;
}

void
gst_pacing_forget (GstPacing * self)
{
  fmx_needed_buffer_init (&self->needed);
  self->told = 0;
}

gboolean
gst_pacing_is_on (const GstPacing * self)
{
  return self->max_delay > 0 || self->items.length > 0;
}

void
gst_pacing_read_caps (GstPacing * self, GstCaps * caps)
{
  gst_fairmix_extmap_find (caps, URI, &self->caps_id);
}

void
gst_pacing_on_rate (GstPacing * self, guint64 bps, FmxDuration rtt,
    guint n_backoffs, FmxTime now)
{
  FmxDuration delay;

  fmx_pacer_set_rate (&self->pacer, self->max_delay > 0 ? bps : 0, now);
  if (self->max_delay == 0)
    return;
  fmx_needed_buffer_on_rate (&self->needed, (gdouble) bps, rtt, now);
  delay = fmx_needed_buffer_delay (&self->needed, n_backoffs);
  delay = MIN (delay, self->max_delay);
  if (delay != self->told) {
    self->told = delay;
    self->told_since = now;
  }
}

void
gst_pacing_queue (GstPacing * self, GstBuffer * buffer)
{
  guint32 wire_bytes = gst_fairmix_rtp_wire_bytes (buffer);

  append (self, GST_MINI_OBJECT_CAST (buffer), wire_bytes);
  fmx_pacer_on_queued (&self->pacer, wire_bytes);
  self->n_queued++;
}

GstBuffer *
gst_pacing_take_late (GstPacing * self, FmxTime now)
{
  GList *link = self->items.head;

  if (self->n_queued <= 1
      || fmx_pacer_delay (&self->pacer, now) <= self->max_delay)
    return NULL;
  while (((Item *) link->data)->wire_bytes == 0)
    link = link->next;
  self->n_late++;
  return GST_BUFFER_CAST (take (self, link));
}

gboolean
gst_pacing_queue_event (GstPacing * self, GstEvent * event)
{
  if (self->items.length == 0)
    return FALSE;
  append (self, GST_MINI_OBJECT_CAST (event), 0);
  return TRUE;
}

GstMiniObject *
gst_pacing_pop (GstPacing * self, FmxTime now)
{
  return gst_pacing_due (self) <= now ? take (self, self->items.head) : NULL;
}

void
gst_pacing_on_sent (GstPacing * self, guint32 wire_bytes, FmxTime now)
{
  fmx_pacer_on_sent (&self->pacer, wire_bytes, now);
}

FmxTime
gst_pacing_due (const GstPacing * self)
{
  const GList *head = self->items.head;

  if (head == NULL)
    return FMX_TIME_NONE;
  return ((const Item *) head->data)->wire_bytes > 0
      ? fmx_pacer_due (&self->pacer) : 0;
}

void
gst_pacing_set_flow (GstPacing * self, GstFlowReturn flow)
{
  if (flow >= GST_FLOW_OK)
    return;
  gst_pacing_drop (self);
  self->flow = flow;
}

GstFlowReturn
gst_pacing_take_flow (GstPacing * self)
{
  GstFlowReturn flow = self->flow;

  self->flow = GST_FLOW_OK;
  return flow;
}

GstBuffer *
gst_pacing_tell (GstPacing * self, GstBuffer * buffer,
    GstFairmixRtpHeader * header, FmxTime now)
{
  guint8 id = self->chosen_id != 0 ? self->chosen_id : self->caps_id;
  FmxDuration least = 0, most = FMX_PLAYOUT_DELAY_MOST;
  guint8 bytes[FMX_PLAYOUT_DELAY_BYTES];
  gboolean written;

  if (id == 0 || self->told_since == FMX_TIME_NONE
      || fmx_time_diff (now, self->told_since) % TELL_EACH >= TELL_FOR)
    return buffer;
  if (gst_rtp_extension_read (buffer, id, bytes, sizeof bytes))
    fmx_playout_delay_parse (bytes, sizeof bytes, &least, &most);
  least = MAX (least, self->told);
  fmx_playout_delay_write (bytes, sizeof bytes, least, MAX (most, least));
  return gst_rtp_extension_write (buffer, &header->header_bytes, id, bytes,
      sizeof bytes, &written);
}

void
gst_pacing_add_stats (const GstPacing * self, GstStructure * stats, FmxTime now)
{
  FmxNeededBufferStats needed;

  fmx_needed_buffer_get_stats (&self->needed, &needed);
  gst_structure_set (stats,
      "pacing-bytes", G_TYPE_UINT64, fmx_pacer_queued_bytes (&self->pacer),
      "pacing-packets", G_TYPE_UINT, self->n_queued,
      "pacing-delay", G_TYPE_INT64, (gint64) fmx_pacer_delay (&self->pacer,
          now),
      "n-pacing-dropped", G_TYPE_UINT64, self->n_late,
      "n-sawteeth", G_TYPE_UINT64, needed.n_sawteeth,
      "sawtooth-beta", G_TYPE_DOUBLE, needed.beta,
      "sawtooth-increase-bps", G_TYPE_DOUBLE, needed.increase_bps,
      "sawtooth-bps", G_TYPE_DOUBLE, needed.rate_bps,
      "buffer-bytes", G_TYPE_DOUBLE, needed.bytes,
      "buffer-discrete-bytes", G_TYPE_DOUBLE, needed.discrete_bytes,
      "buffer-two-backoffs-bytes", G_TYPE_DOUBLE, needed.two_backoffs_bytes,
      "playout-delay", G_TYPE_INT64, (gint64) self->told, NULL);
}

void
gst_pacing_install (GObjectClass * klass, guint first_id)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, first_id + PARAM_MAX_DELAY,
      g_param_spec_uint ("max-pacing-delay", "Maximum Pacing Delay",
          "Packets beyond the allowed rate wait, for so many ms at most, then "
          "the oldest go; target-bitrate may be above that rate for as long as "
          "policy says (0 = nothing waits, target-bitrate is never above it)",
          0, MAX_DELAY_MS, 0, rw));
  g_object_class_install_property (klass, first_id + PARAM_EXT_ID,
      g_param_spec_uint ("playout-delay-ext-id", "Playout Delay Extension ID",
          "RTP header extension to tell receivers in how long they must delay "
          "playout for what waits here (0 = as the caps say, or none)",
          0, 255, 0, rw));
}

void
gst_pacing_set (GstPacing * self, guint param, const GValue * value)
{
  if (param == PARAM_EXT_ID) {
    self->chosen_id = (guint8) g_value_get_uint (value);
    return;
  }
  self->max_delay = g_value_get_uint (value) * FMX_MSECOND;
  if (self->max_delay == 0)
    gst_pacing_forget (self);   /* nothing waits */
}

void
gst_pacing_get (const GstPacing * self, guint param, GValue * value)
{
  g_value_set_uint (value, param == PARAM_MAX_DELAY
      ? (guint) (self->max_delay / FMX_MSECOND) : self->chosen_id);
}
