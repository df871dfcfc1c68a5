/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who is separate for a neighbour and who is mixed: the library ranks and
 * plans, this file asks it and carries the plan out. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstpartialmixselection.h"

#include "fairmix/adapt/fmx-adapt-mix.h"
#include "fairmix/adapt/fmx-adapt-protection.h"

/* for so many names a mix has room at least, where the target carries that */
#define MIN_NAMES 3
#define FIRST_DYNAMIC_PT 96
#define LAST_PT 127

/* What one selection works on; index = position in @streams. */
typedef struct
{
  GArray *streams;              /* of GstPartialMixStream pointers */
  GArray *select;               /* of FmxSelectStream */
  GArray *order;                /* of guint32 */
  GArray *assignment;           /* of gint32 */
} Selection;

/* ------------------------------------------------------ cost of the mix -- */

/* 0 for what has any bitrate */
static guint
constant_bitrate (const GstPartialMixFormat * format)
{
  switch (format->encoding) {
    case GST_PARTIAL_MIX_ENCODING_OPUS:
      return 0;
    case GST_PARTIAL_MIX_ENCODING_L16:
      return format->clock_rate * 16;
    default:
      return format->clock_rate * 8;
  }
}

static void
describe_mix (const GstPartialMixScene * scene,
    GstPartialMixListener * listener, guint n_names, FmxAdaptMix * mix)
{
  guint constant = constant_bitrate (&listener->mix_format);

  mix->min_bitrate_bps =
      constant != 0 ? constant : scene->settings->min_mix_bitrate;
  mix->max_bitrate_bps =
      constant != 0 ? constant : MAX (scene->settings->min_mix_bitrate,
      scene->settings->max_mix_bitrate);
  mix->packet_time = (FmxDuration) scene->settings->frame_duration;
  mix->n_contributors = n_names;
  mix->levels = scene->settings->csrc_level_ext_id != 0;
}

static void
cost_of_mix (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    guint n_names, guint64 target, FmxAdaptParams * params)
{
  FmxAdaptMix mix;

  params->headroom = scene->settings->headroom;
  params->lasting_bps = listener->event_seen ? listener->event_lasting : 0;
  params->max_streams = gst_partial_mix_listener_get_max_streams (listener);
  describe_mix (scene, listener, n_names, &mix);
  params->mix_max_bps = fmx_adapt_mix_wire_bps (&mix, mix.max_bitrate_bps);
  mix.n_contributors = MIN (n_names, MIN_NAMES);
  if (fmx_adapt_mix_wire_bps (&mix, mix.min_bitrate_bps) > target)
    mix.n_contributors = 0;
  params->mix_min_bps = fmx_adapt_mix_wire_bps (&mix, mix.min_bitrate_bps);
}

/* What the encoder gets, and how many names, of what the plan gives a mix. */
static void
share_mix (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    guint n_names)
{
  FmxAdaptMix mix;

  describe_mix (scene, listener, n_names, &mix);
  listener->n_names = mix.n_contributors = fmx_adapt_mix_n_names (&mix,
      listener->plan.mix_bps);
  listener->mix_bitrate_bps =
      fmx_adapt_mix_bitrate_bps (&mix, listener->plan.mix_bps);
  listener->mix_loss = listener->mix_bitrate_bps >=
      MAX (listener->event_loss_from, FMX_ADAPT_PROTECTION_FROM_BPS)
      ? listener->event_loss : 0;
}

/* --------------------------------------------------- format of the mix -- */

/* What a mix of constant rate costs without names, in bits/s on the wire. */
static guint
least_cost (const GstPartialMixScene * scene, GstPartialMixEncoding encoding)
{
  FmxAdaptMix mix = {.packet_time =
        (FmxDuration) scene->settings->frame_duration
  };
  GstPartialMixFormat format;

  gst_partial_mix_format_for_mix (&format, encoding, scene->settings->rate_hz,
      0);
  return fmx_adapt_mix_wire_bps (&mix, constant_bitrate (&format));
}

static gboolean
can_send (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    gint encoding)
{
  return encoding >= 0 && listener->accepts[encoding]
      && gst_partial_mix_encoding_takes_rate ((GstPartialMixEncoding) encoding,
      scene->settings->rate_hz);
}

/* Returns: a format that the neighbour's streams come in and that it takes, of
 * @encoding if any does; NULL if it takes none of theirs */
static const GstPartialMixFormat *
find_stream_format (const GstPartialMixScene * scene,
    GstPartialMixListener * listener, gint encoding)
{
  const GstPartialMixFormat *found = NULL;
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (scene->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (scene->table, i);

    if (stream == NULL || !gst_partial_mix_listener_hears (listener, stream)
        || !listener->accepts[stream->format.encoding])
      continue;
    if ((gint) stream->format.encoding == encoding)
      return &stream->format;
    if (found == NULL)
      found = &stream->format;
  }
  return found;
}

/* Of those with a constant rate: what the streams come in, if the target carries
 * that; else the cheapest, whether or not the target does. */
static GstPartialMixEncoding
choose_constant (const GstPartialMixScene * scene,
    GstPartialMixListener * listener, guint64 target)
{
  const gint present =
      listener->have_mix_format ? (gint) listener->mix_format.encoding : -1;
  const GstPartialMixFormat *wanted =
      find_stream_format (scene, listener, present);
  guint64 room = target;
  gint cheapest = -1;
  gint i;

  for (i = GST_PARTIAL_MIX_N_ENCODINGS - 1; i > GST_PARTIAL_MIX_ENCODING_OPUS;
      i--)
    if (can_send (scene, listener, i) && (cheapest < 0
            || least_cost (scene, i) <= least_cost (scene, cheapest)))
      cheapest = i;
  if (cheapest < 0)
    return GST_PARTIAL_MIX_ENCODING_OPUS;
  if (wanted == NULL || !can_send (scene, listener, (gint) wanted->encoding))
    return (GstPartialMixEncoding) cheapest;
  /* what is dearer than the present one must leave some room */
  if (target != FMX_TARGET_UNLIMITED && (gint) wanted->encoding != present)
    room -= (guint64) ((gdouble) target * scene->settings->headroom);
  if (least_cost (scene, wanted->encoding) <= room
      || least_cost (scene, wanted->encoding) == least_cost (scene, cheapest))
    return wanted->encoding;
  return (GstPartialMixEncoding) cheapest;
}

/* Whether the property says in what mixes are sent, the neighbour takes it, and
 * so does its path. */
static gboolean
is_wanted (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    guint64 target)
{
  const gint wanted = scene->settings->mix_encoding;

  if (wanted < 0 || !listener->accepts[wanted])
    return FALSE;
  if (wanted == GST_PARTIAL_MIX_ENCODING_OPUS || target == FMX_TARGET_UNLIMITED)
    return TRUE;
  /* what comes back must leave some room */
  if (listener->have_mix_format
      && (gint) listener->mix_format.encoding != wanted)
    target -= (guint64) ((gdouble) target * scene->settings->headroom);
  return least_cost (scene, (GstPartialMixEncoding) wanted) <= target;
}

static GstPartialMixEncoding
choose_encoding (const GstPartialMixScene * scene,
    GstPartialMixListener * listener, guint64 target)
{
  if (is_wanted (scene, listener, target))
    return (GstPartialMixEncoding) scene->settings->mix_encoding;
  if (can_send (scene, listener, GST_PARTIAL_MIX_ENCODING_OPUS))
    return GST_PARTIAL_MIX_ENCODING_OPUS;
  return choose_constant (scene, listener, target);
}

/* Whether streams of another encoding have it. */
static gboolean
is_pt_used (const GstPartialMixScene * scene, guint8 pt,
    GstPartialMixEncoding encoding)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (scene->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (scene->table, i);

    if (stream != NULL && stream->format.pt == pt
        && stream->format.encoding != encoding)
      return TRUE;
  }
  return FALSE;
}

static guint8
choose_pt (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    GstPartialMixEncoding encoding)
{
  const GstPartialMixFormat *same = find_stream_format (scene, listener,
      (gint) encoding);
  guint8 pt = FIRST_DYNAMIC_PT;

  if (scene->settings->mix_pt <= LAST_PT)
    return (guint8) scene->settings->mix_pt;
  if (encoding == GST_PARTIAL_MIX_ENCODING_PCMU)
    return 0;
  if (encoding == GST_PARTIAL_MIX_ENCODING_PCMA)
    return 8;
  if (listener->have_mix_format && listener->mix_format.encoding == encoding
      && !is_pt_used (scene, listener->mix_format.pt, encoding))
    return listener->mix_format.pt;
  if (same != NULL && same->encoding == encoding)
    return same->pt;
  while (pt < LAST_PT && is_pt_used (scene, pt, encoding))
    pt++;
  return pt;
}

/* In what the mix is sent: Opus, which fits any target, where the neighbour takes
 * it.  Streams and targets come and go, so that this is looked at again with
 * each selection. */
static void
choose_mix_format (const GstPartialMixScene * scene,
    GstPartialMixListener * listener)
{
  GstPartialMixEncoding encoding = choose_encoding (scene, listener,
      gst_partial_mix_listener_get_target (listener));
  guint8 pt = choose_pt (scene, listener, encoding);

  gst_partial_mix_format_for_mix (&listener->mix_format, encoding,
      scene->settings->rate_hz, pt);
  listener->have_mix_format = find_stream_format (scene, listener, -1) != NULL;
}

/* ------------------------------------------------------------ selecting -- */

static void
selection_init (Selection * selection, guint n)
{
  selection->streams = g_array_sized_new (FALSE, FALSE, sizeof (gpointer), n);
  selection->select = g_array_sized_new (FALSE, TRUE,
      sizeof (FmxSelectStream), n);
  selection->order = g_array_sized_new (FALSE, TRUE, sizeof (guint32), n);
  selection->assignment = g_array_sized_new (FALSE, TRUE, sizeof (gint32), n);
}

static void
selection_clear (Selection * selection)
{
  g_array_unref (selection->streams);
  g_array_unref (selection->select);
  g_array_unref (selection->order);
  g_array_unref (selection->assignment);
}

static void
describe (GstPartialMixListener * listener, GstPartialMixStream * stream,
    const GstPartialMixLink * link, FmxSelectStream * out)
{
  const GstPartialMixStreamInfo *info =
      gst_partial_mix_listener_get_info (listener, stream);

  out->priority = info->priority;
  out->group = listener->raw ? 0 : info->group_id;
  out->never_mix = info->never_mix && !listener->raw;
  out->must_mix = listener->raw || !listener->accepts[stream->format.encoding];
  out->separate = link->handover.way == FMX_HANDOVER_SEPARATE;
  out->level = stream->level;
  out->wire_bps = stream->wire_bps;
  out->since = link->handover.since;
  out->mix = link->handover.mix;
}

static void
gather (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    Selection * selection, GstClockTime now)
{
  guint i;

  for (i = 0; i < gst_partial_mix_table_n_slots (scene->table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (scene->table, i);
    GstPartialMixLink *link;
    FmxSelectStream select = { 0, };

    if (stream == NULL)
      continue;
    link = gst_partial_mix_listener_get_link (listener, stream);
    gst_partial_mix_stream_weigh (stream, now);
    if (!gst_partial_mix_listener_hears (listener, stream)) {
      if (link->handover.way != FMX_HANDOVER_NONE)
        gst_partial_mix_listener_change_link (listener, stream,
            FMX_HANDOVER_NONE, 0, scene->mix_pos, now);
      continue;
    }
    describe (listener, stream, link, &select);
    g_array_append_val (selection->streams, stream);
    g_array_append_val (selection->select, select);
  }
  g_array_set_size (selection->order, selection->streams->len);
  g_array_set_size (selection->assignment, selection->streams->len);
}

/* Who could be named, if all were mixed, or of those who are. */
static guint
count_names (GstPartialMixListener * listener, Selection * selection,
    gboolean mixed)
{
  guint n = 0;
  guint i;

  for (i = 0; i < selection->streams->len && n < FMX_CSRC_MAX; i++) {
    GstPartialMixStream *stream = g_array_index (selection->streams,
        GstPartialMixStream *, i);

    if (!mixed
        || gst_partial_mix_listener_get_link (listener,
            stream)->handover.way == FMX_HANDOVER_MIXED)
      n += MAX (1, stream->n_names);
  }
  return MIN (n, FMX_CSRC_MAX);
}

static void
plan (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    Selection * selection, guint n_names, GstClockTime now)
{
  guint n = selection->streams->len;
  FmxSelectParams select_params;
  FmxAdaptParams adapt_params;
  guint64 target = listener->raw ? FMX_TARGET_UNLIMITED
      : gst_partial_mix_listener_get_target (listener);

  fmx_select_params_default (&select_params);
  cost_of_mix (scene, listener, n_names, target, &adapt_params);
  /* Less than the least mix of Opus cannot be sent: whether even that is too much
   * is for the rate controller to say, with 0.  What has a constant rate, which
   * may be many times the target, waits until that carries it. */
  if (target > 0 && constant_bitrate (&listener->mix_format) == 0)
    target = MAX (target, adapt_params.mix_min_bps);
  fmx_select_rank (&select_params,
      (const FmxSelectStream *) selection->select->data,
      (guint32 *) selection->order->data, n, now);
  fmx_adapt_plan_streams (&adapt_params, target,
      (const FmxSelectStream *) selection->select->data,
      (const guint32 *) selection->order->data,
      (gint32 *) selection->assignment->data, n, &listener->plan);
}

/* Returns: whether anybody's way changed */
static gboolean
carry_out (const GstPartialMixScene * scene, GstPartialMixListener * listener,
    Selection * selection, GstClockTime now)
{
  gboolean changed = FALSE;
  guint i;

  listener->changing = FALSE;
  listener->n_mixed = 0;
  for (i = 0; i < selection->streams->len; i++) {
    GstPartialMixStream *stream = g_array_index (selection->streams,
        GstPartialMixStream *, i);
    gint32 assigned = g_array_index (selection->assignment, gint32, i);
    GstPartialMixLink *link =
        gst_partial_mix_listener_get_link (listener, stream);
    FmxHandoverWay mode = FMX_HANDOVER_MIXED;
    guint before = link->handover.way, mix = link->handover.mix;

    if (assigned == FMX_ADAPT_SEPARATE)
      mode = FMX_HANDOVER_SEPARATE;
    else if (assigned == FMX_ADAPT_HELD)
      mode = FMX_HANDOVER_HELD;
    if (!gst_partial_mix_listener_change_link (listener, stream, mode,
            assigned >= 0 ? (guint) assigned : mix, scene->mix_pos, now))
      listener->changing = TRUE;
    changed |= link->handover.way != before
        || (link->handover.way == FMX_HANDOVER_MIXED
        && link->handover.mix != mix);
    listener->n_mixed += link->handover.way == FMX_HANDOVER_MIXED;
  }
  return changed;
}

gboolean
gst_partial_mix_select (GstPartialMixListener * listener,
    const GstPartialMixScene * scene, GstClockTime now)
{
  const gint encoding =
      listener->have_mix_format ? (gint) listener->mix_format.encoding : -1;
  Selection selection;
  gboolean changed;
  guint n_names;

  listener->dirty = FALSE;
  if (!listener->negotiated)
    return FALSE;
  choose_mix_format (scene, listener);

  selection_init (&selection, gst_partial_mix_table_n_streams (scene->table));
  gather (scene, listener, &selection, now);
  n_names = count_names (listener, &selection, FALSE);
  plan (scene, listener, &selection, n_names, now);
  changed = carry_out (scene, listener, &selection, now);
  changed |= listener->n_mixed > 0 && !listener->raw && encoding >= 0
      && encoding != (gint) listener->mix_format.encoding;
  share_mix (scene, listener, count_names (listener, &selection, TRUE));
  listener->n_selections += changed;
  selection_clear (&selection);
  return changed;
}

FmxHandoverWay
gst_partial_mix_first_way (const GstPartialMixListener * listener,
    const GstPartialMixStream * stream)
{
  guint64 target = gst_partial_mix_listener_get_target (listener);

  if (!listener->negotiated)
    return FMX_HANDOVER_NONE;
  if (target == 0)
    return FMX_HANDOVER_HELD;
  if (target == FMX_TARGET_UNLIMITED && !listener->raw
      && gst_partial_mix_listener_get_max_streams (listener) == 0
      && listener->accepts[stream->format.encoding])
    return FMX_HANDOVER_SEPARATE;
  return FMX_HANDOVER_MIXED;
}

/* -------------------------------------------------------------- telling -- */

static void
add_ssrcs (GstStructure * s, const gchar * field,
    GstPartialMixListener * listener, const GstPartialMixTable * table,
    FmxHandoverWay way)
{
  GValue array = G_VALUE_INIT;
  guint i;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (i = 0; i < gst_partial_mix_table_n_slots (table); i++) {
    GstPartialMixStream *stream = gst_partial_mix_table_at (table, i);
    GValue ssrc = G_VALUE_INIT;

    if (stream == NULL || gst_partial_mix_listener_get_link (listener,
            stream)->handover.way != way)
      continue;
    g_value_init (&ssrc, G_TYPE_UINT);
    g_value_set_uint (&ssrc, stream->out_ssrc);
    gst_value_array_append_and_take_value (&array, &ssrc);
  }
  gst_structure_take_value (s, field, &array);
}

GstStructure *
gst_partial_mix_selection_to_structure (GstPartialMixListener * listener,
    const GstPartialMixTable * table, const gchar * reason)
{
  guint64 target = gst_partial_mix_listener_get_target (listener);
  gchar *name = g_strdup_printf ("src_%u", listener->index);
  GstStructure *s = gst_structure_new ("fairmix-selection",
      "pad", G_TYPE_STRING, name,
      "neighbour", G_TYPE_INT,
      gst_partial_mix_listener_get_neighbour (listener),
      "reason", G_TYPE_STRING, reason,
      "target-bitrate", G_TYPE_UINT64,
      target == FMX_TARGET_UNLIMITED ? (guint64) 0 : target,
      "limited", G_TYPE_BOOLEAN, target != FMX_TARGET_UNLIMITED,
      "n-separate", G_TYPE_UINT, listener->plan.n_separate,
      "n-mixed", G_TYPE_UINT, listener->n_mixed,
      "n-mixes", G_TYPE_UINT, listener->plan.n_mixes,
      "mix-bitrate", G_TYPE_UINT, listener->mix_bitrate_bps, NULL);

  if (listener->n_mixed > 0 && !listener->raw)
    gst_structure_set (s, "mix-encoding", G_TYPE_STRING,
        gst_partial_mix_encoding_name (listener->mix_format.encoding), NULL);

  g_free (name);
  add_ssrcs (s, "separate", listener, table, FMX_HANDOVER_SEPARATE);
  add_ssrcs (s, "mixed", listener, table, FMX_HANDOVER_MIXED);
  add_ssrcs (s, "held", listener, table, FMX_HANDOVER_HELD);
  return s;
}
