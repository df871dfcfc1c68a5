/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstqmproxy.h"

/* One property of rtpjitterbuffer; @min, @max, @fallback are numbers of any
 * kind, @minor the GStreamer 1.x that brought it.  Where a version changed a
 * property, it has a row for each, the newest first. */
typedef struct
{
  const gchar *name;
  GType type;
  gdouble min, max, fallback;
  guint minor;
  const gchar *blurb;
} Property;

#define READ_ONLY 1000          /* added to @minor */

#define UINT_MAX_ ((gdouble) G_MAXUINT)
#define INT_MAX_ ((gdouble) G_MAXINT)

/* *INDENT-OFF* */
static const Property properties[] = {
  {"faststart-min-packets", G_TYPE_UINT, 0, UINT_MAX_, 0, 14,
      "Consecutive packets that start playout (0: after the latency; at once with adaptation)"},
  {"do-lost", G_TYPE_BOOLEAN, 0, 1, 0, 0,
      "Send an event downstream when a packet is lost"},
  {"post-drop-messages", G_TYPE_BOOLEAN, 0, 1, 0, 18,
      "Post an element message when a packet is dropped by the inner jitter buffer"},
  {"drop-messages-interval", G_TYPE_UINT, 0, UINT_MAX_, 200, 18,
      "Least time between two messages about dropped packets, in milliseconds"},
  {"percent", G_TYPE_INT, 0, 100, 0, READ_ONLY,
      "How full the buffer is, in percent (mode buffer)"},
  {"rtx-next-seqnum", G_TYPE_BOOLEAN, 0, 1, 1, 6,
      "Estimate when the next packet should arrive and schedule a retransmission request for it"},
  {"rtx-delay", G_TYPE_INT, -1, INT_MAX_, -1, 2,
      "Extra time to wait before asking for a retransmission, in milliseconds (-1 automatic)"},
  {"rtx-min-delay", G_TYPE_UINT, 0, UINT_MAX_, 0, 6,
      "Least time to wait before asking for a retransmission, in milliseconds"},
  {"rtx-delay-reorder", G_TYPE_INT, -1, INT_MAX_, 3, 2,
      "Ask for a retransmission after this much reordering, in packets (0 disables)"},
  {"rtx-retry-timeout", G_TYPE_INT, -1, INT_MAX_, -1, 2,
      "Ask again after this time, in milliseconds (-1 automatic)"},
  {"rtx-min-retry-timeout", G_TYPE_INT, -1, INT_MAX_, -1, 6,
      "Least time between two requests, in milliseconds (-1 automatic)"},
  {"rtx-retry-period", G_TYPE_INT, -1, INT_MAX_, -1, 2,
      "Try to get a retransmission for so long, in milliseconds (-1 automatic)"},
  {"rtx-max-retries", G_TYPE_INT, -1, INT_MAX_, -1, 6,
      "How often to ask for a retransmission (-1 no limit)"},
  {"rtx-deadline", G_TYPE_INT, -1, INT_MAX_, -1, 10,
      "Deadline of a request, in milliseconds (-1 automatic)"},
  {"rtx-stats-timeout", G_TYPE_UINT, 0, UINT_MAX_, 1000, 10,
      "How long a retransmission that came too late still counts in the statistics, in milliseconds"},
  {"max-dropout-time", G_TYPE_UINT, 0, INT_MAX_, 60000, 0,
      "Longest time of missing packets that is tolerated, in milliseconds"},
  {"max-misorder-time", G_TYPE_UINT, 0, UINT_MAX_, 2000, 0,
      "Longest time of misordered packets that is tolerated, in milliseconds"},
  {"max-rtcp-rtp-time-diff", G_TYPE_INT, -1, INT_MAX_, -1, 25,
      "How far the RTP time in RTCP sender reports may be ahead, in milliseconds (-1 disabled)"},
  {"max-rtcp-rtp-time-diff", G_TYPE_INT, -1, INT_MAX_, 1000, 8,
      "How far the RTP time in RTCP sender reports may be ahead, in milliseconds (-1 disabled)"},
  {"add-reference-timestamp-meta", G_TYPE_BOOLEAN, 0, 1, 0, 22,
      "Add a reference timestamp meta with the sender's clock to buffers"},
  {"sync-interval", G_TYPE_UINT, 0, UINT_MAX_, 0, 22,
      "Least time between two handle-sync, in milliseconds (0 = always)"},
  {"rfc7273-use-system-clock", G_TYPE_BOOLEAN, 0, 1, 0, 24,
      "Use the system clock as the RFC 7273 media clock"},
  {"rfc7273-reference-timestamp-meta-only", G_TYPE_BOOLEAN, 0, 1, 0, 24,
      "Only add reference timestamp metas, do not synchronize to the RFC 7273 clock"},
  {"min-sync-interval", G_TYPE_UINT, 0, UINT_MAX_, 15000, 26,
      "Least time between two handle-sync after the first, in milliseconds"},
};
/* *INDENT-ON* */

static GParamSpec *
make_pspec (const Property * p)
{
  GParamFlags flags = p->minor >= READ_ONLY ? G_PARAM_READABLE :
      G_PARAM_READWRITE;

  flags |= G_PARAM_STATIC_STRINGS;
  switch (p->type) {
    case G_TYPE_BOOLEAN:
      return g_param_spec_boolean (p->name, p->name, p->blurb,
          p->fallback != 0, flags);
    case G_TYPE_UINT:
      return g_param_spec_uint (p->name, p->name, p->blurb, (guint) p->min,
          (guint) p->max, (guint) p->fallback, flags);
    default:
      return g_param_spec_int (p->name, p->name, p->blurb, (gint) p->min,
          (gint) p->max, (gint) p->fallback, flags);
  }
}

void
gst_qm_proxy_install (GObjectClass * klass, guint first_id)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if (properties[i].minor % READ_ONLY <= minor
        && !g_object_class_find_property (klass, properties[i].name))
      g_object_class_install_property (klass, first_id + i,
          make_pspec (&properties[i]));
}

void
gst_qm_proxy_set (GObject * inner, const GValue * value, GParamSpec * pspec)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (inner), pspec->name))
    g_object_set_property (inner, pspec->name, value);
}

void
gst_qm_proxy_get (GObject * inner, GValue * value, GParamSpec * pspec)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (inner), pspec->name))
    g_object_get_property (inner, pspec->name, value);
}
