/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-alslayers
 * @title: alslayers
 *
 * Plays the layers of a stream as one, in a receiver that #alsrtcp gives as many as
 * its path carries.
 *
 * With mode=add the layers' sounds are added up behind it: a side signal to the
 * middle, what is above 8 kHz to what is below.  It lies behind the jitter buffer of
 * each layer, and sets the buffers' times by their RTP timestamps, so that layers
 * meet to the sample.
 *
 * With mode=switch each layer holds the whole, and the highest that is heard
 * passes: the mix of all talkers, or the same talkers apart.
 *
 * ## A base and the side signal that makes it stereo
 * |[
 * gst-launch-1.0 alslayers name=join  udpsrc port=5004 caps=application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS ! rtpjitterbuffer ! join.sink_0  udpsrc port=5006 caps=application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS ! rtpjitterbuffer ! join.sink_1  audiomixer name=sum ! audioconvert ! autoaudiosink  join.src_0 ! rtpopusdepay ! opusdec ! audioconvert ! audio/x-raw,channels=2 ! sum.  join.src_1 ! rtpopusdepay ! opusdec ! audio/x-raw,channels=1 ! audioconvert mix-matrix="<<(float)1>,<(float)-1>>" ! audio/x-raw,channels=2 ! sum.
 * ]|
 *
 * Since: 0.1
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalslayers.h"

#include "gstpadpairs.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixoutbox.h"
#include "common/gstfairmixrtp.h"
#include "common/gstfairmixstats.h"
#include "common/gstfairmixtime.h"
#include "fairmix/als/fmx-als-join.h"

GST_DEBUG_CATEGORY_STATIC (gst_als_layers_debug);
#define GST_CAT_DEFAULT gst_als_layers_debug

#define MESSAGE_NAME "fairmix-layer"
#define STATS_NAME "application/x-fairmix-alslayers-stats"
#define DEFAULT_MODE MODE_ADD

typedef enum
{
  MODE_ADD,
  MODE_SWITCH
} Mode;

enum
{
  PROP_0,
  PROP_MODE,
  PROP_TOP,
  PROP_STATS
};

struct _GstAlsLayers
{
  GstElement parent;

  GstFairmixOutbox *outbox;     /* locks itself */

  GstFairmixLock lock;
  /* Properties */
  Mode mode;

  /* State */
  GstFairmixTime time;
  FmxAlsJoin join;
  guint32 base_ssrc;
  guint top;                    /* as last told */
  GstPad *src[FMX_ALS_MAX_LAYERS];      /* NULL: not requested */
  guint64 n_passed[FMX_ALS_MAX_LAYERS], n_dropped[FMX_ALS_MAX_LAYERS];
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS ("application/x-rtp"));

static GParamSpec *top_pspec;

G_DEFINE_FINAL_TYPE (GstAlsLayers, gst_als_layers, GST_TYPE_ELEMENT);
GST_ELEMENT_REGISTER_DEFINE (alslayers, "alslayers", GST_RANK_NONE,
    GST_TYPE_ALS_LAYERS);

#define GST_TYPE_ALS_LAYERS_MODE (gst_als_layers_mode_get_type ())
static GType
gst_als_layers_mode_get_type (void)
{
  static const gchar *const nicks[] = { "add", "switch" };
  static const gchar *const blurbs[] = {
    "All layers are played together: times follow the base's RTP timestamps",
    "Each layer holds the whole: the highest that is heard passes",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstAlsLayersMode",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

/* --- packets ------------------------------------------------------------ */

/* with the lock: Returns: whether it is to be played; @pts: (inout): when */
static gboolean
add (GstAlsLayers * self, guint layer, const GstFairmixRtpHeader * header,
    GstClockTime * pts)
{
  FmxTime time;

  if (layer > 0) {
    gboolean known = fmx_als_join_on_layer (&self->join, header->timestamp,
        GST_CLOCK_TIME_IS_VALID (*pts) ? *pts : FMX_TIME_NONE, &time);

    if (known)
      *pts = time;
    return known;
  }
  if (header->ssrc != self->base_ssrc)
    fmx_als_join_restart (&self->join);
  self->base_ssrc = header->ssrc;
  if (GST_CLOCK_TIME_IS_VALID (*pts))
    *pts = fmx_als_join_on_base (&self->join, header->timestamp, *pts);
  return TRUE;
}

/* with the lock */
static gboolean
is_played (GstAlsLayers * self, guint layer, GstBuffer * buffer,
    GstClockTime * pts)
{
  FmxTime now = gst_fairmix_time_now (&self->time);
  GstFairmixRtpHeader header;
  gboolean is_rtp = gst_fairmix_rtp_header_read (buffer, &header);
  gboolean played = TRUE;

  if (is_rtp)
    fmx_als_join_heard (&self->join, layer, now);
  if (self->mode == MODE_SWITCH)
    played = layer == fmx_als_join_get_top (&self->join, now);
  else if (is_rtp)
    played = add (self, layer, &header, pts);
  if (played)
    self->n_passed[layer]++;
  else
    self->n_dropped[layer]++;
  return played;
}

/* Says which layer is the highest, if that is another one: of several threads that find so,
 * the last one says the last word. */
static void
tell_top (GstAlsLayers * self)
{
  gboolean changed;
  guint top;

  gst_fairmix_lock_acquire (&self->lock);
  top = fmx_als_join_get_top (&self->join, gst_fairmix_time_now (&self->time));
  changed = top != self->top;
  self->top = top;
  if (changed)
    gst_fairmix_outbox_add (self->outbox,
        gst_message_new_element (GST_OBJECT (self),
            gst_structure_new (MESSAGE_NAME, "top", G_TYPE_UINT, top, NULL)));
  gst_fairmix_lock_release (&self->lock);
  gst_fairmix_outbox_post (self->outbox, GST_ELEMENT (self));
  if (changed)
    g_object_notify_by_pspec (G_OBJECT (self), top_pspec);
}

static GstBuffer *
set_time (GstBuffer * buffer, GstClockTime pts)
{
  if (GST_BUFFER_PTS (buffer) == pts)
    return buffer;
  buffer = gst_buffer_make_writable (buffer);
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DTS (buffer) = GST_CLOCK_TIME_NONE;
  return buffer;
}

static GstFlowReturn
gst_als_layers_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAlsLayers *self = GST_ALS_LAYERS (parent);
  guint layer = gst_pad_pairs_index (pad);
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  GstFlowReturn flow = GST_FLOW_NOT_LINKED;
  gboolean played;
  GstPad *src;

  gst_fairmix_lock_acquire (&self->lock);
  played = is_played (self, layer, buffer, &pts);
  src = self->src[layer] != NULL ? gst_object_ref (self->src[layer]) : NULL;
  gst_fairmix_lock_release (&self->lock);
  tell_top (self);
  gst_pad_pairs_catch_up (pad, src);
  if (src != NULL && played) {
    flow = gst_pad_push (src, set_time (buffer, pts));
  } else {
    flow = src != NULL ? GST_FLOW_OK : GST_FLOW_NOT_LINKED;
    gst_buffer_unref (buffer);
  }
  gst_clear_object (&src);
  return flow;
}

static gboolean
push_unless_eos (GstPad * base, GstEvent ** event, gpointer src)
{
  if (GST_EVENT_TYPE (*event) != GST_EVENT_EOS)
    gst_pad_push_event (src, gst_event_ref (*event));
  return TRUE;
}

/* The base has ended, so all is over: a layer that is not held would never say so. */
static void
end_others (GstAlsLayers * self, GstPad * base)
{
  for (guint i = 1; i < FMX_ALS_MAX_LAYERS; i++) {
    GstEvent *started;
    GstPad *src;

    gst_fairmix_lock_acquire (&self->lock);
    src = self->src[i] != NULL ? gst_object_ref (self->src[i]) : NULL;
    gst_fairmix_lock_release (&self->lock);
    if (src == NULL)
      continue;
    started = gst_pad_get_sticky_event (src, GST_EVENT_STREAM_START, 0);
    if (started == NULL)
      gst_pad_sticky_events_foreach (base, push_unless_eos, src);
    g_clear_pointer (&started, gst_event_unref);
    gst_pad_push_event (src, gst_event_new_eos ());
    gst_object_unref (src);
  }
}

static gboolean
gst_als_layers_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  GstAlsLayers *self = GST_ALS_LAYERS (parent);
  gboolean ended = GST_EVENT_TYPE (event) == GST_EVENT_EOS
      && gst_pad_pairs_index (pad) == 0;
  gboolean ret;
  gint rate;

  gst_pad_pairs_on_event (pad, parent, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS
      && gst_pad_pairs_index (pad) == 0) {
    GstCaps *caps;

    gst_event_parse_caps (event, &caps);
    if (gst_structure_get_int (gst_caps_get_structure (caps, 0), "clock-rate",
            &rate) && rate > 0) {
      gst_fairmix_lock_acquire (&self->lock);
      if ((guint32) rate != self->join.clock_rate_hz)
        fmx_als_join_init (&self->join, rate);
      gst_fairmix_lock_release (&self->lock);
    }
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    gst_fairmix_lock_acquire (&self->lock);
    fmx_als_join_restart (&self->join);
    gst_fairmix_lock_release (&self->lock);
  }
  ret = gst_pad_event_default (pad, parent, event);
  if (ended)
    end_others (self, pad);
  return ret;
}

/* --- pads --------------------------------------------------------------- */

/* GstPadPairsFunc */
static void
setup_pad (GstElement * element, GstPad * pad, GstPadTemplate * templ,
    guint index)
{
  GstAlsLayers *self = GST_ALS_LAYERS (element);

  GST_PAD_SET_PROXY_CAPS (pad);
  gst_pad_set_iterate_internal_links_function (pad,
      gst_pad_pairs_iterate_links);
  if (GST_PAD_IS_SINK (pad)) {
    GST_PAD_SET_PROXY_ALLOCATION (pad);
    gst_pad_set_chain_function (pad, GST_DEBUG_FUNCPTR (gst_als_layers_chain));
    gst_pad_set_event_function (pad,
        GST_DEBUG_FUNCPTR (gst_als_layers_sink_event));
    return;
  }
  gst_fairmix_lock_acquire (&self->lock);
  self->src[index] = pad;
  gst_fairmix_lock_release (&self->lock);
}

static GstPad *
gst_als_layers_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * name, const GstCaps * caps)
{
  return gst_pad_pairs_request (element, templ, name, FMX_ALS_MAX_LAYERS,
      setup_pad);
}

static void
gst_als_layers_release_pad (GstElement * element, GstPad * pad)
{
  GstAlsLayers *self = GST_ALS_LAYERS (element);

  gst_fairmix_lock_acquire (&self->lock);
  if (GST_PAD_IS_SRC (pad))
    self->src[gst_pad_pairs_index (pad)] = NULL;
  gst_fairmix_lock_release (&self->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
}

/* --- element ------------------------------------------------------------ */

static void
begin_anew (GstAlsLayers * self)
{
  gst_fairmix_lock_acquire (&self->lock);
  fmx_als_join_init (&self->join, self->join.clock_rate_hz);
  gst_fairmix_lock_release (&self->lock);
  tell_top (self);
}

static GstStateChangeReturn
gst_als_layers_change_state (GstElement * element, GstStateChange transition)
{
  GstAlsLayers *self = GST_ALS_LAYERS (element);
  GstStateChangeReturn ret;

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    begin_anew (self);
  ret = GST_ELEMENT_CLASS (gst_als_layers_parent_class)->change_state (element,
      transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    begin_anew (self);
  return ret;
}

static gboolean
gst_als_layers_set_clock (GstElement * element, GstClock * clock)
{
  GstAlsLayers *self = GST_ALS_LAYERS (element);

  gst_fairmix_lock_acquire (&self->lock);
  gst_fairmix_time_set_clock (&self->time, clock);
  gst_fairmix_lock_release (&self->lock);
  return GST_ELEMENT_CLASS (gst_als_layers_parent_class)->set_clock (element,
      clock);
}

/* with the lock */
static GstStructure *
create_stats (GstAlsLayers * self)
{
  GstStructure *s = gst_structure_new (STATS_NAME,
      "top", G_TYPE_UINT, self->top,
      "n-anchors", G_TYPE_UINT64, fmx_als_join_get_n_anchors (&self->join),
      "n-messages-dropped", G_TYPE_UINT64,
      gst_fairmix_outbox_get_n_dropped (self->outbox), NULL);
  GValue list = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_ARRAY);
  for (guint i = 0; i < FMX_ALS_MAX_LAYERS; i++) {
    GValue item = G_VALUE_INIT;

    if (self->src[i] == NULL)
      continue;
    g_value_init (&item, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&item, gst_structure_new ("layer",
            "layer", G_TYPE_UINT, i,
            "n-passed", G_TYPE_UINT64, self->n_passed[i],
            "n-dropped", G_TYPE_UINT64, self->n_dropped[i], NULL));
    gst_value_array_append_and_take_value (&list, &item);
  }
  gst_structure_take_value (s, "layers", &list);
  return s;
}

static void
gst_als_layers_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstAlsLayers *self = GST_ALS_LAYERS (object);

  if (id != PROP_MODE) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  gst_fairmix_lock_acquire (&self->lock);
  self->mode = g_value_get_enum (value);
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_als_layers_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstAlsLayers *self = GST_ALS_LAYERS (object);

  gst_fairmix_lock_acquire (&self->lock);
  switch (id) {
    case PROP_MODE:
      g_value_set_enum (value, (gint) self->mode);
      break;
    case PROP_TOP:
      g_value_set_uint (value, self->top);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  gst_fairmix_lock_release (&self->lock);
}

static void
gst_als_layers_finalize (GObject * object)
{
  GstAlsLayers *self = GST_ALS_LAYERS (object);

  gst_fairmix_time_set_clock (&self->time, NULL);
  gst_fairmix_outbox_free (self->outbox);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_als_layers_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object_class)
{
  const GParamFlags readable = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (object_class, PROP_MODE,
      g_param_spec_enum ("mode", "Mode", "What layers are to each other",
          GST_TYPE_ALS_LAYERS_MODE, DEFAULT_MODE, G_PARAM_READWRITE
          | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  top_pspec = g_param_spec_uint ("top", "Top",
      "The highest layer of which packets came in the last 300 ms; 0 is the base; "
      "notifies, from streaming threads", 0, FMX_ALS_MAX_LAYERS - 1, 0,
      readable);
  g_object_class_install_property (object_class, PROP_TOP, top_pspec);
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "The top layer; how often times were made anew; packets of each layer "
          "that passed and that did not", GST_TYPE_STRUCTURE, readable));
}

static void
gst_als_layers_class_init (GstAlsLayersClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_als_layers_debug, "alslayers", 0,
      "layers played as one");

  object_class->set_property = gst_als_layers_set_property;
  object_class->get_property = gst_als_layers_get_property;
  object_class->finalize = gst_als_layers_finalize;
  install_properties (object_class);

  element_class->change_state = GST_DEBUG_FUNCPTR (gst_als_layers_change_state);
  element_class->set_clock = GST_DEBUG_FUNCPTR (gst_als_layers_set_clock);
  element_class->request_new_pad =
      GST_DEBUG_FUNCPTR (gst_als_layers_request_new_pad);
  element_class->release_pad = GST_DEBUG_FUNCPTR (gst_als_layers_release_pad);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class,
      "Layers played as one", "Filter/Network/RTP",
      "Lets the layers of a stream meet to the sample, or passes the highest",
      "The gst-fairmix developers");
  gst_type_mark_as_plugin_api (GST_TYPE_ALS_LAYERS_MODE, 0);
}

static void
gst_als_layers_init (GstAlsLayers * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  self->outbox = gst_fairmix_outbox_new ();
  self->mode = DEFAULT_MODE;
  fmx_als_join_init (&self->join, 0);
}
