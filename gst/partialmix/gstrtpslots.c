/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-rtpslots
 * @title: rtpslots
 *
 * Gives each of any number of RTP streams one of a few places: K src pads, each
 * an RTP stream of one SSRC that never changes.  For receivers with a fixed
 * number of decoders, browsers above all, behind #GstPartialMix.
 *
 * A stream keeps its slot for as long as it sends.  In a slot, sequence numbers
 * and timestamps go on when another stream takes over, and the first CSRC says
 * whose stream it is; a mix keeps the CSRCs that it came with, its contributors.
 * Levels and other header extensions stay.
 *
 * More streams than slots cannot be sent: a `fairmix-max-streams` event tells
 * the mixer how many there are, and it mixes those that have no place.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 rtpslots name=s s.src_0 ! rtpopusdepay ! opusdec ! audiomixer name=m ! autoaudiosink s.src_1 ! rtpopusdepay ! opusdec ! m. funnel name=talkers ! s. audiotestsrc is-live=true wave=ticks freq=440 ! opusenc ! rtpopuspay ssrc=1 ! talkers. audiotestsrc is-live=true wave=ticks freq=660 ! opusenc ! rtpopuspay ssrc=2 ! talkers.
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtpslots.h"

#include <gst/rtp/rtp.h>
#include <string.h>

#include "common/gstfairmixevents.h"
#include "gst/common/gstfairmixlock.h"
#include "fairmix/select/fmx-slots.h"
#include "fairmix/wire/fmx-rtp-splice.h"

GST_DEBUG_CATEGORY_STATIC (gst_rtp_slots_debug);
#define GST_CAT_DEFAULT gst_rtp_slots_debug

#define MAX_SLOTS 64
#define RTP_FIXED_BYTES 12
#define CSRC_BYTES 4
#define MARKER 0x80
#define CC_MASK 0x0f
#define DEFAULT_CLOCK_RATE 48000        /* Opus', as long as no caps say it */
#define PACKET_TIME (20 * GST_MSECOND)  /* as long as no packet says its own */

enum
{
  PROP_0,
  PROP_STATS
};

/* One src pad.  A packet that is under way keeps its slot alive, also when the
 * pad is released meanwhile. */
typedef struct
{
  GstPad *pad;
  guint index;
  guint32 out_ssrc;
  /* with the lock */
  guint64 n_packets;
  guint64 n_changes;
  gboolean leaves;              /* its pad is being released */

  /* sink pad's thread only */
  FmxRtpSplice splice;
  GstClockTime last_pts;
  GstClockTime last_duration;
  GstClockTime ahead;           /* so much timestamps are of the packets' times */
  gboolean is_mix;              /* what is in it has named contributors */
  gboolean started;             /* stream-start was sent */
  gboolean segment_sent;
  GstCaps *caps;                /* that were sent: those of the sink pad */
} Slot;

struct _GstRtpSlots
{
  GstElement parent;

  GstPad *sinkpad;

  GstFairmixLock lock;
  /* State */
  FmxSlots slots;
  FmxSlot storage[MAX_SLOTS];
  Slot *slot[MAX_SLOTS];        /* NULL: not requested */
  guint64 n_refused;
  guint64 n_malformed;
  guint n_slots;                /* requested */
  guint told_n_slots;
  gboolean tell_again;          /* whoever sends may not have heard it */
  gboolean telling;             /* one thread at a time, so that order holds */

  /* sink pad's thread only */
  GstCaps *caps;
  guint clock_rate;
  GstSegment segment;
};

G_DEFINE_TYPE_WITH_CODE (GstRtpSlots, gst_rtp_slots, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_rtp_slots_debug, "rtpslots", 0,
        "RTP streams in a fixed number of slots"));
GST_ELEMENT_REGISTER_DEFINE (rtpslots, "rtpslots", GST_RANK_NONE,
    GST_TYPE_RTP_SLOTS);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

static void
slot_clear (gpointer data)
{
  Slot *slot = data;

  gst_clear_caps (&slot->caps);
  gst_object_unref (slot->pad);
}

/* What was told downstream is not known there any more. */
static void
slot_forget (Slot * slot)
{
  slot->started = slot->segment_sent = FALSE;
  gst_clear_caps (&slot->caps);
}

static void
slot_unref (gpointer slot)
{
  g_atomic_rc_box_release_full (slot, slot_clear);
}

/* -------------------------------------------------------------- packets -- */

/* What one packet becomes in its slot */
typedef struct
{
  guint32 ssrc;
  guint16 seq;
  guint32 timestamp;
  gboolean first;               /* of its stream in this slot */
  gboolean is_mix;
} Outgoing;

/* The packet with another header: with the talker as its CSRC, unless it is a
 * mix: that names its contributors, or nobody while nobody speaks.  Payload, metas
 * and times stay. */
static GstBuffer *
make_packet (GstBuffer * buffer, GstRTPBuffer * rtp, const Outgoing * out)
{
  guint header_bytes = gst_rtp_buffer_get_header_len (rtp);
  guint extra = out->is_mix ? 0 : CSRC_BYTES;
  GstBuffer *packet = gst_buffer_new_allocate (NULL, header_bytes + extra,
      NULL);
  GstMapInfo map;

  gst_buffer_map (packet, &map, GST_MAP_WRITE);
  gst_buffer_extract (buffer, 0, map.data, RTP_FIXED_BYTES);
  gst_buffer_extract (buffer, RTP_FIXED_BYTES,
      map.data + RTP_FIXED_BYTES + extra, header_bytes - RTP_FIXED_BYTES);
  if (!out->is_mix) {
    map.data[0] = (map.data[0] & (guint8) ~ CC_MASK) | 1;
    GST_WRITE_UINT32_BE (map.data + RTP_FIXED_BYTES,
        gst_rtp_buffer_get_ssrc (rtp));
  }
  if (out->first)
    map.data[1] |= MARKER;
  GST_WRITE_UINT16_BE (map.data + 2, out->seq);
  GST_WRITE_UINT32_BE (map.data + 4, out->timestamp);
  GST_WRITE_UINT32_BE (map.data + 8, out->ssrc);
  gst_buffer_unmap (packet, &map);

  gst_buffer_copy_into (packet, buffer,
      GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS
      | GST_BUFFER_COPY_META, 0, -1);
  gst_buffer_copy_into (packet, buffer, GST_BUFFER_COPY_MEMORY, header_bytes,
      -1);
  return packet;
}

/* The time from the latest packet in the slot to this one, in clock ticks.  A mix begins
 * before the voices in it have ended; a jitter buffer would throw its first packet away,
 * for it has played on to the end of theirs. */
static guint32
elapsed_ts (GstRtpSlots * self, Slot * slot, GstClockTime pts)
{
  GstClockTime elapsed = slot->last_duration;

  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (slot->last_pts)
      && pts > slot->last_pts) {
    GstClockTime passed = pts - slot->last_pts;

    elapsed = MAX (elapsed, passed - MIN (passed, slot->ahead));
    slot->ahead += elapsed;
    slot->ahead -= MIN (slot->ahead, passed);
  }
  return (guint32) gst_util_uint64_scale_int (elapsed, (gint) self->clock_rate,
      GST_SECOND);
}

/* Whether the packet is of the time line of the one before it in the slot */
static gboolean
goes_on (GstRtpSlots * self, Slot * slot, const Outgoing * out,
    GstClockTime pts)
{
  GstClockTime waited = 0;

  if (GST_CLOCK_TIME_IS_VALID (pts) && GST_CLOCK_TIME_IS_VALID (slot->last_pts)
      && pts > slot->last_pts)
    waited = pts - slot->last_pts;
  return fmx_rtp_splice_fits (&slot->splice, out->seq, out->timestamp,
      self->clock_rate, (FmxDuration) waited);
}

static void
tell_change (GstRtpSlots * self, const Slot * slot, guint32 ssrc)
{
  gst_element_post_message (GST_ELEMENT (self),
      gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("fairmix-slot", "slot", G_TYPE_UINT, slot->index,
              "ssrc", G_TYPE_UINT, ssrc, "out-ssrc", G_TYPE_UINT,
              slot->out_ssrc, NULL)));
}

static GstClockTime
running_time (GstRtpSlots * self, GstBuffer * buffer)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));

  if (!GST_CLOCK_TIME_IS_VALID (now))
    now = GST_BUFFER_PTS (buffer);
  return GST_CLOCK_TIME_IS_VALID (now) ? now : 0;
}

/* Returns: (transfer full): the slot of the packet's stream; NULL: there is none */
static Slot *
take_slot (GstRtpSlots * self, GstRTPBuffer * rtp, GstClockTime now,
    gboolean * changed)
{
  guint32 ssrc = gst_rtp_buffer_get_ssrc (rtp);
  guint n_csrcs = gst_rtp_buffer_get_csrc_count (rtp);
  Slot *slot = NULL;
  guint32 index;
  bool is_other;
  guint i;

  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < n_csrcs; i++)
    fmx_slots_note_mixed (&self->slots, gst_rtp_buffer_get_csrc (rtp,
            (guint8) i));
  index = fmx_slots_take (&self->slots, ssrc, &is_other, now);
  if (index != FMX_SLOTS_NONE) {
    slot = g_atomic_rc_box_acquire (self->slot[index]);
    slot->n_packets++;
    slot->n_changes += is_other;
  } else {
    self->n_refused++;
  }
  gst_fairmix_lock_release (&self->lock);
  *changed = is_other;
  return slot;
}

static void
push_events (GstRtpSlots * self, Slot * slot)
{
  GstPad *pad = slot->pad;

  if (!slot->started) {
    gchar *id = gst_pad_create_stream_id_printf (pad, GST_ELEMENT (self),
        "%08x", slot->out_ssrc);

    gst_pad_push_event (pad, gst_event_new_stream_start (id));
    g_free (id);
    slot->started = TRUE;
  }
  if (self->caps != NULL && slot->caps != self->caps) {
    GstCaps *caps = gst_caps_copy (self->caps);

    gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, slot->out_ssrc, NULL);
    gst_pad_push_event (pad, gst_event_new_caps (caps));
    gst_caps_unref (caps);
    gst_caps_replace (&slot->caps, self->caps);
  }
  if (!slot->segment_sent && self->segment.format != GST_FORMAT_UNDEFINED)
    slot->segment_sent = gst_pad_push_event (pad,
        gst_event_new_segment (&self->segment));
}

/* One slot that ends or flushes is not the end of the others. */
static GstFlowReturn
flow_of_all (GstFlowReturn flow)
{
  return flow < GST_FLOW_EOS ? flow : GST_FLOW_OK;
}

static GstFlowReturn
gst_rtp_slots_chain (GstPad * sinkpad, GstObject * parent, GstBuffer * buffer)
{
  GstRtpSlots *self = GST_RTP_SLOTS (parent);
  GstClockTime now = running_time (self, buffer);
  GstRTPBuffer rtp = GST_RTP_BUFFER_INIT;
  GstFlowReturn flow = GST_FLOW_OK;
  Outgoing out;
  guint32 ssrc;
  Slot *slot;

  if (!gst_rtp_buffer_map (buffer,
          GST_MAP_READ | GST_RTP_BUFFER_MAP_FLAG_SKIP_PADDING, &rtp)) {
    gst_fairmix_lock_acquire (&self->lock);
    self->n_malformed++;
    gst_fairmix_lock_release (&self->lock);
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }
  ssrc = gst_rtp_buffer_get_ssrc (&rtp);
  slot = take_slot (self, &rtp, now, &out.first);
  if (slot != NULL) {
    GstBuffer *packet;

    out.ssrc = slot->out_ssrc;
    out.seq = gst_rtp_buffer_get_seq (&rtp);
    out.timestamp = gst_rtp_buffer_get_timestamp (&rtp);
    if (out.first || !goes_on (self, slot, &out, GST_BUFFER_PTS (buffer)))
      fmx_rtp_splice_begin (&slot->splice, out.seq, out.timestamp,
          elapsed_ts (self, slot, GST_BUFFER_PTS (buffer)));
    if (out.first) {
      tell_change (self, slot, ssrc);
      slot->is_mix = FALSE;
    }
    slot->is_mix = slot->is_mix || gst_rtp_buffer_get_csrc_count (&rtp) > 0;
    out.is_mix = slot->is_mix;
    fmx_rtp_splice_map (&slot->splice, &out.seq, &out.timestamp);
    slot->last_pts = GST_BUFFER_PTS (buffer);
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      slot->last_duration = GST_BUFFER_DURATION (buffer);
    packet = make_packet (buffer, &rtp, &out);
    push_events (self, slot);
    flow = flow_of_all (gst_pad_push (slot->pad, packet));
    slot_unref (slot);
  }
  gst_rtp_buffer_unmap (&rtp);
  gst_buffer_unref (buffer);
  return flow;
}

/* ---------------------------------------------------- events and queries -- */

/* Says upstream how many streams there are places for, if that is news.  While
 * another thread does that, or this one further down its stack, that one goes on. */
static void
tell_n_slots (GstRtpSlots * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  if (!self->telling) {
    self->telling = TRUE;
    while (self->tell_again || self->told_n_slots != self->n_slots) {
      guint n_slots = self->told_n_slots = self->n_slots;

      self->tell_again = FALSE;
      gst_fairmix_lock_release (&self->lock);
      /* 0 would mean any number; where there is no slot, one is the least */
      gst_pad_push_event (self->sinkpad,
          gst_fairmix_max_streams_event_new (MAX (n_slots, 1)));
      gst_fairmix_lock_acquire (&self->lock);
    }
    self->telling = FALSE;
  }
  gst_fairmix_lock_release (&self->lock);
}

/* Returns: (transfer full): the slots that there are */
static GPtrArray *
ref_slots (GstRtpSlots * self)
{
  GPtrArray *slots = g_ptr_array_new_with_free_func (slot_unref);
  guint i;

  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS; i++)
    if (self->slot[i] != NULL)
      g_ptr_array_add (slots, g_atomic_rc_box_acquire (self->slot[i]));
  gst_fairmix_lock_release (&self->lock);
  return slots;
}

/* Passes on what is of all slots, also of those where nothing came: after what describes
 * them. */
static gboolean
push_to_all (GstRtpSlots * self, GstEvent * event)
{
  gboolean is_end = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  GPtrArray *slots = ref_slots (self);
  gboolean any = FALSE;
  guint i;

  for (i = 0; i < slots->len; i++) {
    Slot *slot = g_ptr_array_index (slots, i);

    push_events (self, slot);
    any |= gst_pad_push_event (slot->pad, gst_event_ref (event));
    if (is_end)                 /* what may come yet begins anew */
      slot_forget (slot);
  }
  g_ptr_array_unref (slots);
  gst_event_unref (event);
  return any;
}

static void
restart_segments (GstRtpSlots * self)
{
  guint i;

  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS; i++)
    if (self->slot[i] != NULL)
      self->slot[i]->segment_sent = FALSE;
  gst_fairmix_lock_release (&self->lock);
}

static gboolean
gst_rtp_slots_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstRtpSlots *self = GST_RTP_SLOTS (parent);
  GstStructure *s;
  GstCaps *caps;
  gint rate;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_fairmix_lock_acquire (&self->lock);
      self->tell_again = TRUE;
      gst_fairmix_lock_release (&self->lock);
      tell_n_slots (self);
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_CAPS:
      gst_event_parse_caps (event, &caps);
      s = gst_caps_get_structure (caps, 0);
      self->clock_rate = gst_structure_get_int (s, "clock-rate", &rate)
          && rate > 0 ? (guint) rate : DEFAULT_CLOCK_RATE;
      gst_caps_replace (&self->caps, caps);
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment (event, &self->segment);
      restart_segments (self);
      gst_event_unref (event);
      return TRUE;
    case GST_EVENT_FLUSH_STOP:
      gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
      restart_segments (self);
      break;
    default:
      break;
  }
  if (GST_EVENT_IS_SERIALIZED (event)
      && GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    return push_to_all (self, event);
  return gst_pad_event_default (pad, parent, event);
}

/* What of caps says how a payload is written.  The rest is of one slot alone, as
 * SSRC and media line, and must not keep out what all slots can take. */
static GstCaps *
format_of (const GstCaps * caps)
{
  static const gchar *const fields[] = {
    "media", "payload", "clock-rate", "encoding-name"
  };
  GstCaps *formats = gst_caps_new_empty ();
  guint i, k;

  if (gst_caps_is_any (caps)) {
    gst_caps_unref (formats);
    return gst_caps_new_any ();
  }
  for (i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *s = gst_caps_get_structure (caps, i);
    GstStructure *format = gst_structure_new_empty (gst_structure_get_name (s));

    for (k = 0; k < G_N_ELEMENTS (fields); k++)
      if (gst_structure_has_field (s, fields[k]))
        gst_structure_set_value (format, fields[k],
            gst_structure_get_value (s, fields[k]));
    gst_caps_append_structure (formats, format);
  }
  return formats;
}

/* What all slots take */
static GstCaps *
query_caps (GstRtpSlots * self, GstPad * sinkpad, GstCaps * filter)
{
  GPtrArray *slots = ref_slots (self);
  GstCaps *caps = gst_pad_get_pad_template_caps (sinkpad);
  guint i;

  for (i = 0; i < slots->len; i++) {
    const Slot *slot = g_ptr_array_index (slots, i);
    GstCaps *peer = gst_pad_peer_query_caps (slot->pad, NULL);
    GstCaps *format = format_of (peer);
    GstCaps *common = gst_caps_intersect_full (format, caps,
        GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (format);
    gst_caps_unref (peer);
    gst_caps_unref (caps);
    caps = common;
  }
  g_ptr_array_unref (slots);
  if (filter != NULL) {
    GstCaps *common = gst_caps_intersect_full (filter, caps,
        GST_CAPS_INTERSECT_FIRST);

    gst_caps_unref (caps);
    caps = common;
  }
  return caps;
}

static gboolean
gst_rtp_slots_sink_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCaps *filter, *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_caps (query, &filter);
  caps = query_caps (GST_RTP_SLOTS (parent), pad, filter);
  gst_query_set_caps_result (query, caps);
  gst_caps_unref (caps);
  return TRUE;
}

static GstCaps *
slot_caps (GstRtpSlots * self, GstPad * srcpad)
{
  GstCaps *caps = gst_pad_get_current_caps (srcpad);
  guint i;

  if (caps != NULL)
    return caps;
  caps = gst_pad_get_pad_template_caps (srcpad);
  caps = gst_caps_make_writable (caps);
  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS; i++)
    if (self->slot[i] != NULL && self->slot[i]->pad == srcpad)
      gst_caps_set_simple (caps, "ssrc", G_TYPE_UINT, self->slot[i]->out_ssrc,
          NULL);
  gst_fairmix_lock_release (&self->lock);
  return caps;
}

/* A slot's SSRC is known before anything came: whoever offers it to the other
 * end (webrtcbin) must know it by then. */
static gboolean
gst_rtp_slots_src_query (GstPad * pad, GstObject * parent, GstQuery * query)
{
  GstCaps *filter, *caps, *answer;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return gst_pad_query_default (pad, parent, query);
  gst_query_parse_caps (query, &filter);
  caps = slot_caps (GST_RTP_SLOTS (parent), pad);
  answer = filter == NULL ? gst_caps_ref (caps)
      : gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, answer);
  gst_caps_unref (answer);
  gst_caps_unref (caps);
  return TRUE;
}

/* ----------------------------------------------------------------- pads -- */

/* The number in @name, or the first that is free; MAX_SLOTS if there is none */
static guint
choose_index (GstRtpSlots * self, const gchar * name)
{
  guint64 index = 0;

  if (name != NULL && g_str_has_prefix (name, "src_")
      && g_ascii_isdigit (name[4]))
    return g_ascii_string_to_unsigned (name + 4, 10, 0, MAX_SLOTS - 1, &index,
        NULL) && self->slot[index] == NULL ? (guint) index : MAX_SLOTS;
  while (index < MAX_SLOTS && self->slot[index] != NULL)
    index++;
  return (guint) index;
}

static Slot *
slot_new (guint index, GstPadTemplate * templ)
{
  Slot *slot = g_atomic_rc_box_new0 (Slot);
  gchar *name = g_strdup_printf ("src_%u", index);

  slot->pad = gst_object_ref_sink (gst_pad_new_from_template (templ, name));
  g_free (name);
  gst_pad_set_query_function (slot->pad, gst_rtp_slots_src_query);
  gst_pad_use_fixed_caps (slot->pad);
  slot->index = index;
  slot->out_ssrc = g_random_int ();
  slot->last_pts = GST_CLOCK_TIME_NONE;
  slot->last_duration = PACKET_TIME;
  fmx_rtp_splice_init (&slot->splice, (guint16) g_random_int (),
      g_random_int ());
  return slot;
}

static GstPad *
gst_rtp_slots_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * name, const GstCaps * caps)
{
  GstRtpSlots *self = GST_RTP_SLOTS (element);
  GstPad *pad = NULL;
  guint index;

  gst_fairmix_lock_acquire (&self->lock);
  index = choose_index (self, name);
  if (index < MAX_SLOTS) {
    self->slot[index] = slot_new (index, templ);
    pad = self->slot[index]->pad;
    /* before anybody can push on it */
    gst_pad_set_active (pad, TRUE);
    fmx_slots_open (&self->slots, index);
    self->n_slots++;
  }
  gst_fairmix_lock_release (&self->lock);
  if (pad == NULL) {
    GST_INFO_OBJECT (self, "there is no slot %s to be had; at most %u", name,
        MAX_SLOTS);
    return NULL;
  }
  gst_element_add_pad (element, pad);
  tell_n_slots (self);
  return pad;
}

static void
gst_rtp_slots_release_pad (GstElement * element, GstPad * pad)
{
  GstRtpSlots *self = GST_RTP_SLOTS (element);
  Slot *slot = NULL;
  guint i;

  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS && slot == NULL; i++)
    if (self->slot[i] != NULL && self->slot[i]->pad == pad
        && !self->slot[i]->leaves) {
      slot = self->slot[i];
      slot->leaves = TRUE;
      fmx_slots_close (&self->slots, i);
      self->n_slots--;
    }
  gst_fairmix_lock_release (&self->lock);
  if (slot == NULL)
    return;
  tell_n_slots (self);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
  /* nobody may have its number before it has gone */
  gst_fairmix_lock_acquire (&self->lock);
  self->slot[slot->index] = NULL;
  gst_fairmix_lock_release (&self->lock);
  slot_unref (slot);
}

/* -------------------------------------------------------------- element -- */

static GstStructure *
get_stats (GstRtpSlots * self)
{
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  GstStructure *stats = gst_structure_new_empty
      ("application/x-fairmix-rtpslots-stats");
  GValue list = G_VALUE_INIT;
  guint i;

  if (!GST_CLOCK_TIME_IS_VALID (now))
    now = 0;
  g_value_init (&list, GST_TYPE_LIST);
  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS; i++) {
    GValue value = G_VALUE_INIT;
    guint32 ssrc;
    gboolean taken;

    if (self->slot[i] == NULL)
      continue;
    taken = fmx_slots_get (&self->slots, i, &ssrc, now);
    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, gst_structure_new ("slot",
            "slot", G_TYPE_UINT, i, "taken", G_TYPE_BOOLEAN, taken,
            "ssrc", G_TYPE_UINT, ssrc,
            "out-ssrc", G_TYPE_UINT, self->slot[i]->out_ssrc,
            "packets", G_TYPE_UINT64, self->slot[i]->n_packets,
            "changes", G_TYPE_UINT64, self->slot[i]->n_changes, NULL));
    gst_value_list_append_and_take_value (&list, &value);
  }
  gst_structure_set (stats, "refused", G_TYPE_UINT64, self->n_refused,
      "malformed", G_TYPE_UINT64, self->n_malformed, NULL);
  gst_fairmix_lock_release (&self->lock);
  gst_structure_take_value (stats, "slots", &list);
  return stats;
}

static void
gst_rtp_slots_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  if (id == PROP_STATS)
    g_value_take_boxed (value, get_stats (GST_RTP_SLOTS (object)));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

/* Streams are forgotten; slots, their SSRCs and numbers stay. */
static GstStateChangeReturn
gst_rtp_slots_change_state (GstElement * element, GstStateChange transition)
{
  GstRtpSlots *self = GST_RTP_SLOTS (element);
  GstStateChangeReturn ret;
  guint i;

  ret = GST_ELEMENT_CLASS (gst_rtp_slots_parent_class)->change_state (element,
      transition);
  if (transition != GST_STATE_CHANGE_PAUSED_TO_READY)
    return ret;
  gst_fairmix_lock_acquire (&self->lock);
  for (i = 0; i < MAX_SLOTS; i++) {
    if (self->slot[i] == NULL || self->slot[i]->leaves)
      continue;
    fmx_slots_open (&self->slots, i);
    slot_forget (self->slot[i]);
    self->slot[i]->last_pts = GST_CLOCK_TIME_NONE;
    self->slot[i]->ahead = 0;
  }
  gst_fairmix_lock_release (&self->lock);
  gst_clear_caps (&self->caps);
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  return ret;
}

static void
gst_rtp_slots_finalize (GObject * object)
{
  GstRtpSlots *self = GST_RTP_SLOTS (object);
  guint i;

  for (i = 0; i < MAX_SLOTS; i++)
    g_clear_pointer (&self->slot[i], slot_unref);
  gst_clear_caps (&self->caps);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_rtp_slots_parent_class)->finalize (object);
}

static void
gst_rtp_slots_class_init (GstRtpSlotsClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->get_property = gst_rtp_slots_get_property;
  object_class->finalize = gst_rtp_slots_finalize;
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "What is where (application/x-fairmix-rtpslots-stats: slots, a list "
          "of slot, taken, ssrc, out-ssrc, packets, changes; refused: packets "
          "for which there was no slot; malformed)", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "RTP slots",
      "Filter/Network/RTP",
      "Gives each of many RTP streams one of a few places of fixed SSRC",
      "The gst-fairmix developers");
  element_class->request_new_pad = gst_rtp_slots_request_new_pad;
  element_class->release_pad = gst_rtp_slots_release_pad;
  element_class->change_state = gst_rtp_slots_change_state;
}

static void
gst_rtp_slots_init (GstRtpSlots * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  fmx_slots_init (&self->slots, self->storage, MAX_SLOTS);
  self->clock_rate = DEFAULT_CLOCK_RATE;
  gst_segment_init (&self->segment, GST_FORMAT_UNDEFINED);
  self->sinkpad = gst_pad_new_from_static_template (&sink_template, "sink");
  gst_pad_set_chain_function (self->sinkpad, gst_rtp_slots_chain);
  gst_pad_set_event_function (self->sinkpad, gst_rtp_slots_sink_event);
  gst_pad_set_query_function (self->sinkpad, gst_rtp_slots_sink_query);
  GST_PAD_SET_ACCEPT_INTERSECT (self->sinkpad);
  gst_element_add_pad (GST_ELEMENT (self), self->sinkpad);
}
