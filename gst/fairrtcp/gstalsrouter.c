/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-alsrouter
 * @title: alsrouter
 *
 * A router of the Adaptive Load Service: in a relay, in front of a link, it
 * answers the senders that ask in their RTCP how much is fair.  It counts the
 * connections that pass, measures how full the link is, and cuts each request to
 * its share; all else passes untouched.
 *
 * What comes in on `sink_N` leaves on `src_N`; RTP and RTCP may share a pad or
 * have one each.  All pads are in front of the same link.  IP packets on `tap_N`
 * are counted and go nowhere: so TCP that crosses the same link has its share.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 alsrouter name=r bandwidth=1000000  udpsrc port=5004 ! r.sink_0  r.src_0 ! udpsink host=127.0.0.1 port=6004 sync=false async=false processing-deadline=0  udpsrc port=5005 ! r.sink_1  r.src_1 ! udpsink host=127.0.0.1 port=6005 sync=false async=false processing-deadline=0
 * ]|
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstalsrouter.h"

#include <gst/net/net.h>
#include <string.h>

#include "fairmix/als/fmx-als-router.h"
#include "fairmix/base/fmx-units.h"
#include "fairmix/wire/fmx-als-app.h"
#include "gstpadpairs.h"
#include "common/gstfairmixlock.h"
#include "common/gstfairmixstats.h"
#include "common/gstfairmixtime.h"

GST_DEBUG_CATEGORY_STATIC (gst_als_router_debug);
#define GST_CAT_DEFAULT gst_als_router_debug

#define MAX_PAIRS 64
#define N_PLACES (1 << 17)      /* some 30,000 connections a second */
#define MAX_WEIGHTS 64
#define LEAST_WEIGHT 0.01
#define MOST_WEIGHT 1000.0
#define DEFAULT_BANDWIDTH 1000000
#define DEFAULT_UTILISATION 0.9

/* [RFC5761 4] what of the second byte tells RTCP from RTP */
#define FIRST_RTCP_TYPE 192
#define LAST_RTCP_TYPE 223

/* 64 bits of FNV-1a: addresses, and not for secrets; the table is seeded */
#define FNV_BASIS G_GUINT64_CONSTANT (0xcbf29ce484222325)
#define FNV_PRIME G_GUINT64_CONSTANT (0x100000001b3)

enum
{
  PROP_0,
  PROP_BANDWIDTH,
  PROP_UTILISATION,
  PROP_RULE,
  PROP_WEIGHTS,
  PROP_STATS
};

struct _GstAlsRouter
{
  GstElement parent;

  GstFairmixLock lock;
  /* Properties */
  FmxAlsRouterParams params;
  gchar *weights_text;
  FmxAlsWeight weights[MAX_WEIGHTS];    /* of the last text that could be read */
  guint n_weights;
  gboolean weights_bad;

  /* State */
  GstFairmixTime time;
  FmxAlsRouter router;
  FmxAgingSlot *slots;          /* NULL: never ran, router is not to be asked */
  FmxAlsConnection *connections;
  GstPad *src[MAX_PAIRS];       /* NULL: not requested */
  guint64 n_packets, n_tapped, n_requests, n_cut;
};

G_DEFINE_TYPE_WITH_CODE (GstAlsRouter, gst_als_router, GST_TYPE_ELEMENT,
    GST_DEBUG_CATEGORY_INIT (gst_als_router_debug, "alsrouter", 0,
        "router of the Adaptive Load Service"));
GST_ELEMENT_REGISTER_DEFINE (alsrouter, "alsrouter", GST_RANK_NONE,
    GST_TYPE_ALS_ROUTER);

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src_%u",
    GST_PAD_SRC, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate tap_template = GST_STATIC_PAD_TEMPLATE ("tap_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS_ANY);

#define GST_TYPE_ALS_ROUTER_RULE (gst_als_router_rule_get_type ())
static GType
gst_als_router_rule_get_type (void)
{
  static const gchar *const nicks[] = { "equal", "max-min" };
  static const gchar *const blurbs[] = {
    "The paper's: bandwidth * utilisation / connections",
    "What connections leave that are limited elsewhere goes to the others; who "
        "asks sends nearly as much as who does not (TCP)",
  };
  static gsize type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_fairmix_enum_register ("GstAlsRouterRule",
            nicks, blurbs, G_N_ELEMENTS (nicks)));
  return type;
}

/* ---------------------------------------------------------- connections -- */

static guint64
hash_bytes (guint64 hash, const guint8 * bytes, gsize n)
{
  gsize i;

  for (i = 0; i < n; i++)
    hash = (hash ^ bytes[i]) * FNV_PRIME;
  return hash;
}

/* with the lock: the one place that reads the clock */
static FmxTime
now_of (GstAlsRouter * self)
{
  return gst_fairmix_time_now (&self->time);
}

/* Who sent it: the host, or where nobody tells that, the SSRC */
static guint64
connection_of (GstBuffer * buffer, const GstMapInfo * map, gboolean is_rtcp)
{
  GstNetAddressMeta *meta = gst_buffer_get_net_address_meta (buffer);
  GInetAddress *address;
  gsize ssrc_at = is_rtcp ? 4 : 8;

  if (meta != NULL && G_IS_INET_SOCKET_ADDRESS (meta->addr)) {
    address = g_inet_socket_address_get_address (G_INET_SOCKET_ADDRESS
        (meta->addr));
    return hash_bytes (FNV_BASIS, g_inet_address_to_bytes (address),
        g_inet_address_get_native_size (address));
  }
  if (map->size < ssrc_at + 4)
    return FNV_BASIS;
  return hash_bytes (FNV_BASIS, map->data + ssrc_at, 4);
}

/* ADDRESS=WEIGHT or SSRC=WEIGHT */
static gboolean
parse_weight (const gchar * text, FmxAlsWeight * weight)
{
  gchar **sides = g_strsplit (text, "=", 2), *end = NULL;
  GInetAddress *address = NULL;
  gboolean ok = g_strv_length (sides) == 2;
  guint64 number = 0;

  if (ok) {
    weight->weight = g_ascii_strtod (sides[1], &end);
    ok = end != sides[1] && *end == '\0' && weight->weight >= LEAST_WEIGHT
        && weight->weight <= MOST_WEIGHT;
  }
  if (ok && g_ascii_string_to_unsigned (sides[0], 10, 0, G_MAXUINT32, &number,
          NULL)) {
    guint32 ssrc = GUINT32_TO_BE ((guint32) number);

    weight->connection = hash_bytes (FNV_BASIS, (const guint8 *) &ssrc, 4);
  } else if (ok && (address = g_inet_address_new_from_string (sides[0]))) {
    weight->connection = hash_bytes (FNV_BASIS,
        g_inet_address_to_bytes (address),
        g_inet_address_get_native_size (address));
  } else {
    ok = FALSE;
  }
  g_clear_object (&address);
  g_strfreev (sides);
  return ok;
}

/* with the lock.  What cannot be read leaves the weights as they are. */
static void
set_weights (GstAlsRouter * self, const gchar * text)
{
  gchar **entries = g_strsplit (text != NULL ? text : "", ",", -1);
  guint n = g_strv_length (entries);
  FmxAlsWeight weights[MAX_WEIGHTS];

  self->weights_bad = n > MAX_WEIGHTS;
  for (guint i = 0; i < n && !self->weights_bad; i++)
    self->weights_bad = !parse_weight (entries[i], &weights[i]);
  g_strfreev (entries);
  g_free (self->weights_text);
  self->weights_text = g_strdup (text);
  if (self->weights_bad)
    return;
  if (n > 0)
    memcpy (self->weights, weights, n * sizeof weights[0]);
  self->n_weights = n;
  if (self->slots != NULL)
    fmx_als_router_set_weights (&self->router, self->weights, n);
}

/* Returns: whether the weights could be read */
static gboolean
check_weights (GstAlsRouter * self)
{
  gboolean bad;

  gst_fairmix_lock_acquire (&self->lock);
  bad = self->weights_bad;
  gst_fairmix_lock_release (&self->lock);
  if (bad)
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS,
        ("alsrouter cannot read its weights."),
        ("property weights: ADDRESS=WEIGHT,SSRC=WEIGHT,... of up to 64, from "
            "0.01 to 1000"));
  return !bad;
}

/* Source and destination of an IPv4 or IPv6 packet; FALSE if it is neither */
static gboolean
connection_of_ip (const GstMapInfo * map, guint64 * connection)
{
  guint8 version = map->size > 0 ? map->data[0] >> 4 : 0;

  if (version == 4 && map->size >= 20)
    *connection = hash_bytes (FNV_BASIS, map->data + 12, 8);
  else if (version == 6 && map->size >= 40)
    *connection = hash_bytes (FNV_BASIS, map->data + 8, 32);
  else
    return FALSE;
  return TRUE;
}

/* -------------------------------------------------------------- passing -- */

static gboolean
is_rtcp (const GstMapInfo * map)
{
  return map->size >= 8 && map->data[0] >> 6 == 2
      && map->data[1] >= FIRST_RTCP_TYPE && map->data[1] <= LAST_RTCP_TYPE;
}

/* RTP counts as its sender's connection, and so does a sender's RTCP, which asks;
 * listeners' RTCP fills the link a little, but needs no share of it.
 *
 * with the lock */
static void
count_packet (GstAlsRouter * self, gsize size, gboolean listens,
    guint64 connection, FmxTime now)
{
  guint wire_bytes = (guint) size + FMX_IP_UDP_BYTES;

  self->n_packets++;
  if (listens)
    fmx_als_router_on_bytes (&self->router, wire_bytes, now);
  else
    fmx_als_router_on_packet (&self->router, connection, wire_bytes, now);
}

/* The requests in it are cut. */
static GstBuffer *
answer (GstAlsRouter * self, GstBuffer * buffer, guint n_requests,
    gdouble share_bps, gdouble utilisation)
{
  GstMapInfo map;
  guint n_cut;

  buffer = gst_buffer_make_writable (buffer);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READWRITE))
    return buffer;
  n_cut = fmx_als_rtcp_cut (map.data, map.size, share_bps, utilisation);
  gst_buffer_unmap (buffer, &map);
  GST_DEBUG_OBJECT (self, "share %.0f bit/s, utilisation %.2f: %u of %u "
      "requests cut", share_bps, utilisation, n_cut, n_requests);
  gst_fairmix_lock_acquire (&self->lock);
  self->n_requests += n_requests;
  self->n_cut += n_cut;
  gst_fairmix_lock_release (&self->lock);
  return buffer;
}

/* with the lock: whoever is linked before it runs may send already */
static gboolean
is_running (GstAlsRouter * self)
{
  return self->slots != NULL;
}

/* Counts the packet, and cuts the requests in it.  Only they are written to. */
static GstBuffer *
handle_packet (GstAlsRouter * self, GstBuffer * buffer)
{
  gdouble share_bps = 0.0, utilisation = 0.0;
  guint64 connection;
  guint n_requests = 0;
  GstMapInfo map;
  gboolean rtcp;
  FmxTime now;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return buffer;
  rtcp = is_rtcp (&map);
  connection = connection_of (buffer, &map, rtcp);
  if (rtcp)
    n_requests = fmx_als_rtcp_count (map.data, map.size);
  gst_buffer_unmap (buffer, &map);

  gst_fairmix_lock_acquire (&self->lock);
  if (!is_running (self)) {
    gst_fairmix_lock_release (&self->lock);
    return buffer;
  }
  now = now_of (self);
  count_packet (self, gst_buffer_get_size (buffer), rtcp && n_requests == 0,
      connection, now);
  if (n_requests > 0) {
    fmx_als_router_on_request (&self->router, connection, now);
    share_bps =
        fmx_als_router_get_share_of_bps (&self->router, connection, now);
    utilisation = fmx_als_router_get_utilisation (&self->router, now);
  }
  gst_fairmix_lock_release (&self->lock);
  return n_requests == 0 ? buffer : answer (self, buffer, n_requests,
      share_bps, utilisation);
}

/* Returns: (transfer full) (nullable) */
static GstPad *
ref_src (GstAlsRouter * self, GstPad * sink)
{
  GstPad *src;

  gst_fairmix_lock_acquire (&self->lock);
  src = self->src[gst_pad_pairs_index (sink)];
  if (src != NULL)
    gst_object_ref (src);
  gst_fairmix_lock_release (&self->lock);
  gst_pad_pairs_catch_up (sink, src);
  return src;
}

/* Takes @src and @data, a buffer or a list. */
static GstFlowReturn
push_data (GstPad * src, GstMiniObject * data)
{
  GstFlowReturn flow = GST_FLOW_NOT_LINKED;

  if (src == NULL) {
    gst_mini_object_unref (data);
    return flow;
  }
  if (GST_IS_BUFFER_LIST (data))
    flow = gst_pad_push_list (src, GST_BUFFER_LIST_CAST (data));
  else
    flow = gst_pad_push (src, GST_BUFFER_CAST (data));
  gst_object_unref (src);
  return flow;
}

static GstFlowReturn
gst_als_router_chain (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAlsRouter *self = GST_ALS_ROUTER (parent);
  GstPad *src = ref_src (self, pad);

  return push_data (src, GST_MINI_OBJECT_CAST (handle_packet (self, buffer)));
}

static gboolean
handle_of_list (GstBuffer ** buffer, guint index, gpointer self)
{
  *buffer = handle_packet (self, *buffer);
  return TRUE;
}

static GstFlowReturn
gst_als_router_chain_list (GstPad * pad, GstObject * parent,
    GstBufferList * list)
{
  GstAlsRouter *self = GST_ALS_ROUTER (parent);
  GstPad *src = ref_src (self, pad);

  list = gst_buffer_list_make_writable (list);
  gst_buffer_list_foreach (list, handle_of_list, self);
  return push_data (src, GST_MINI_OBJECT_CAST (list));
}

static gboolean
gst_als_router_sink_event (GstPad * pad, GstObject * parent, GstEvent * event)
{
  gst_pad_pairs_on_event (pad, parent, event);
  return gst_pad_event_default (pad, parent, event);
}

static GstFlowReturn
gst_als_router_tap (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstAlsRouter *self = GST_ALS_ROUTER (parent);
  guint64 connection;
  GstMapInfo map;

  if (gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    if (connection_of_ip (&map, &connection)) {
      gst_fairmix_lock_acquire (&self->lock);
      if (is_running (self)) {
        self->n_tapped++;
        fmx_als_router_on_packet (&self->router, connection,
            (guint32) map.size, now_of (self));
      }
      gst_fairmix_lock_release (&self->lock);
    }
    gst_buffer_unmap (buffer, &map);
  }
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

/* ----------------------------------------------------------------- pads -- */

/* Nothing that comes on a tap goes on, its events neither: the default is to send
 * them to all src pads. */
static GstIterator *
iterate_nothing (GstPad * pad, GstObject * parent)
{
  (void) pad;
  (void) parent;
  return NULL;
}

/* GstPadPairsFunc */
static void
setup_pad (GstElement * element, GstPad * pad, GstPadTemplate * templ,
    guint index)
{
  GstAlsRouter *self = GST_ALS_ROUTER (element);
  const gchar *name = GST_PAD_TEMPLATE_NAME_TEMPLATE (templ);

  if (g_str_has_prefix (name, "tap_")) {
    gst_pad_set_chain_function (pad, gst_als_router_tap);
    gst_pad_set_iterate_internal_links_function (pad, iterate_nothing);
    return;
  }
  gst_pad_set_iterate_internal_links_function (pad,
      gst_pad_pairs_iterate_links);
  GST_PAD_SET_PROXY_CAPS (pad);
  GST_PAD_SET_PROXY_ALLOCATION (pad);
  if (GST_PAD_IS_SINK (pad)) {
    gst_pad_set_chain_function (pad, gst_als_router_chain);
    gst_pad_set_chain_list_function (pad, gst_als_router_chain_list);
    gst_pad_set_event_function (pad, gst_als_router_sink_event);
    return;
  }
  gst_fairmix_lock_acquire (&self->lock);
  self->src[index] = pad;
  gst_fairmix_lock_release (&self->lock);
}

static GstPad *
gst_als_router_request_new_pad (GstElement * element, GstPadTemplate * templ,
    const gchar * name, const GstCaps * caps)
{
  return gst_pad_pairs_request (element, templ, name, MAX_PAIRS, setup_pad);
}

static void
gst_als_router_release_pad (GstElement * element, GstPad * pad)
{
  GstAlsRouter *self = GST_ALS_ROUTER (element);

  gst_fairmix_lock_acquire (&self->lock);
  if (GST_PAD_IS_SRC (pad))
    self->src[gst_pad_pairs_index (pad)] = NULL;
  gst_fairmix_lock_release (&self->lock);
  gst_pad_set_active (pad, FALSE);
  gst_element_remove_pad (element, pad);
}

/* -------------------------------------------------------------- element -- */

/* with the lock: begins, or forgets all connections */
static void
restart (GstAlsRouter * self)
{
  if (self->slots == NULL) {
    self->slots = g_new (FmxAgingSlot, N_PLACES);
    self->connections = g_new (FmxAlsConnection, N_PLACES);
  }
  fmx_als_router_init (&self->router, &self->params, self->slots,
      self->connections, N_PLACES,
      ((guint64) g_random_int () << 32) | g_random_int (), now_of (self));
  fmx_als_router_set_weights (&self->router, self->weights, self->n_weights);
}

static void
gst_als_router_set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  GstAlsRouter *self = GST_ALS_ROUTER (object);

  gst_fairmix_lock_acquire (&self->lock);
  switch (id) {
    case PROP_BANDWIDTH:
      self->params.bandwidth_bps = g_value_get_uint64 (value);
      if (self->slots != NULL)
        fmx_als_router_set_bandwidth (&self->router,
            self->params.bandwidth_bps);
      break;
    case PROP_UTILISATION:
      self->params.target_utilisation = g_value_get_double (value);
      if (self->slots != NULL)
        restart (self);
      break;
    case PROP_RULE:
      self->params.rule = (FmxAlsRouterRule) g_value_get_enum (value);
      if (self->slots != NULL)
        restart (self);
      break;
    case PROP_WEIGHTS:
      set_weights (self, g_value_get_string (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  gst_fairmix_lock_release (&self->lock);
}

/* A double has no number just below the greatest of these. */
static guint64
whole_bps (gdouble bps)
{
  return bps < (gdouble) G_MAXUINT64 ? (guint64) bps : G_MAXUINT64;
}

/* with the lock */
static GstStructure *
get_stats (GstAlsRouter * self)
{
  FmxTime now = now_of (self);
  gdouble share_bps = 0.0, utilisation = 0.0;
  guint n_connections = 0;

  if (self->slots != NULL) {
    n_connections = fmx_als_router_get_n_connections (&self->router, now);
    share_bps = fmx_als_router_get_share_bps (&self->router, now);
    utilisation = fmx_als_router_get_utilisation (&self->router, now);
  }
  return gst_structure_new ("application/x-fairmix-alsrouter-stats",
      "connections", G_TYPE_UINT, n_connections,
      "share", G_TYPE_UINT64, whole_bps (share_bps),
      "utilisation", G_TYPE_DOUBLE, utilisation,
      "packets", G_TYPE_UINT64, self->n_packets,
      "tapped", G_TYPE_UINT64, self->n_tapped,
      "requests", G_TYPE_UINT64, self->n_requests,
      "cut", G_TYPE_UINT64, self->n_cut, NULL);
}

static void
gst_als_router_get_property (GObject * object, guint id, GValue * value,
    GParamSpec * pspec)
{
  GstAlsRouter *self = GST_ALS_ROUTER (object);

  gst_fairmix_lock_acquire (&self->lock);
  switch (id) {
    case PROP_BANDWIDTH:
      g_value_set_uint64 (value, self->params.bandwidth_bps);
      break;
    case PROP_UTILISATION:
      g_value_set_double (value, self->params.target_utilisation);
      break;
    case PROP_RULE:
      g_value_set_enum (value, (gint) self->params.rule);
      break;
    case PROP_WEIGHTS:
      g_value_set_string (value, self->weights_text);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, get_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  gst_fairmix_lock_release (&self->lock);
}

static GstStateChangeReturn
gst_als_router_change_state (GstElement * element, GstStateChange transition)
{
  GstAlsRouter *self = GST_ALS_ROUTER (element);

  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    if (!check_weights (self))
      return GST_STATE_CHANGE_FAILURE;
    gst_fairmix_lock_acquire (&self->lock);
    restart (self);
    gst_fairmix_lock_release (&self->lock);
  }
  return GST_ELEMENT_CLASS (gst_als_router_parent_class)->change_state (element,
      transition);
}

static gboolean
gst_als_router_set_clock (GstElement * element, GstClock * clock)
{
  GstAlsRouter *self = GST_ALS_ROUTER (element);

  gst_fairmix_lock_acquire (&self->lock);
  gst_fairmix_time_set_clock (&self->time, clock);
  gst_fairmix_lock_release (&self->lock);
  return GST_ELEMENT_CLASS (gst_als_router_parent_class)->set_clock (element,
      clock);
}

static void
gst_als_router_finalize (GObject * object)
{
  GstAlsRouter *self = GST_ALS_ROUTER (object);

  gst_fairmix_time_set_clock (&self->time, NULL);

  g_free (self->weights_text);
  g_free (self->slots);
  g_free (self->connections);
  gst_fairmix_lock_clear (&self->lock);
  G_OBJECT_CLASS (gst_als_router_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass * object_class)
{
  g_object_class_install_property (object_class, PROP_BANDWIDTH,
      g_param_spec_uint64 ("bandwidth", "Bandwidth",
          "Of the link behind the src pads, in bits per second on the wire, "
          "IP and UDP headers included", 1, G_MAXUINT64, DEFAULT_BANDWIDTH,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_UTILISATION,
      g_param_spec_double ("utilisation", "Utilisation",
          "How full the link is to be, of its bandwidth (U_l)", 0.01, 1.0,
          DEFAULT_UTILISATION, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_RULE,
      g_param_spec_enum ("rule", "Rule", "How the share is found",
          GST_TYPE_ALS_ROUTER_RULE, FMX_ALS_ROUTER_MAX_MIN,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_WEIGHTS,
      g_param_spec_string ("weights", "Weights",
          "For how many a sender counts that does not count for one: "
          "ADDRESS=WEIGHT,... or, where nobody tells addresses, SSRC=WEIGHT; a "
          "text that cannot be read changes nothing while it runs", NULL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
          | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
          "What passed (application/x-fairmix-alsrouter-stats: connections in "
          "the last second, share in bits per second, measured utilisation, "
          "packets, tapped, requests, cut)", GST_TYPE_STRUCTURE,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

static void
gst_als_router_class_init (GstAlsRouterClass * klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  object_class->set_property = gst_als_router_set_property;
  object_class->get_property = gst_als_router_get_property;
  object_class->finalize = gst_als_router_finalize;
  install_properties (object_class);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_add_static_pad_template (element_class, &tap_template);
  gst_element_class_set_static_metadata (element_class,
      "Adaptive Load Service router", "Filter/Network/RTP",
      "Answers senders who ask in their RTCP how much of a link is fair",
      "The gst-fairmix developers");
  element_class->request_new_pad = gst_als_router_request_new_pad;
  element_class->release_pad = gst_als_router_release_pad;
  element_class->change_state = gst_als_router_change_state;
  element_class->set_clock = gst_als_router_set_clock;
  gst_type_mark_as_plugin_api (GST_TYPE_ALS_ROUTER_RULE, 0);
}

static void
gst_als_router_init (GstAlsRouter * self)
{
  gst_fairmix_lock_init (&self->lock, GST_FAIRMIX_RANK_ELEMENT);
  fmx_als_router_params_default (&self->params);
  self->params.bandwidth_bps = DEFAULT_BANDWIDTH;
  self->params.target_utilisation = DEFAULT_UTILISATION;
  self->params.rule = FMX_ALS_ROUTER_MAX_MIN;
}
