/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstrtcphook.h"

#include <string.h>

#include "common/gstfairmixlock.h"
#include "common/gstfairmixpads.h"

#define DEFAULT_MTU 1400
#define SMALLEST_MTU 128        /* a report and a CNAME */
/* In a larger session a BYE must wait its turn, or is left out [RFC3550 6.3.7]. */
#define MOST_WHO_SAY_BYE 50

/* A session with many sources sends one report after another for all of them;
 * what comes back does so within a round trip. */
#define N_SENT 256

/* What of a report tells it from all others: packet type, SSRC, and the NTP time of a
 * sender report, the first block of a receiver report. */
typedef struct
{
  guint8 bytes[32];
} Fingerprint;

struct _GstRtcpHook
{
  GObject parent;

  GWeakRef owner;
  GstRtcpHookFunc func;

  /* with the lock */
  GstFairmixLock lock;
  gchar *name;
  guint session_id;
  GWeakRef session;             /* the inner one, which is the rtpbin's to keep */
  Fingerprint sent[N_SENT];     /* a ring */
  guint n_sent;
};

G_DEFINE_FINAL_TYPE (GstRtcpHook, gst_rtcp_hook, G_TYPE_OBJECT);

/* Returns: FALSE if it does not begin with a report */
static gboolean
fingerprint (const guint8 * data, gsize size, Fingerprint * print)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;
  FmxRtcpReport report;

  memset (print, 0, sizeof *print);
  if (!fmx_rtcp_reader_init (&reader, data, size)
      || !fmx_rtcp_reader_next (&reader, &packet)
      || !fmx_rtcp_report_read (&report, &packet))
    return FALSE;
  memcpy (print->bytes, data, MIN (packet.bytes, sizeof print->bytes));
  return TRUE;
}

static guint32
fingerprint_ssrc (const Fingerprint * print)
{
  return GST_READ_UINT32_BE (print->bytes + 4);
}

static gboolean
has_bye (const guint8 * data, gsize size)
{
  FmxRtcpReader reader;
  FmxRtcpPacket packet;

  fmx_rtcp_reader_init (&reader, data, size);
  while (fmx_rtcp_reader_next (&reader, &packet))
    if (packet.type == FMX_RTCP_BYE)
      return TRUE;
  return FALSE;
}

static guint
session_number (GObject * session, const gchar * name, guint fallback)
{
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (session), name))
    g_object_get (session, name, &fallback, NULL);
  return fallback;
}

static GstRtcpHookReport
report_of (GObject * session, const Fingerprint * print)
{
  GstRtcpHookReport report = {
    .ssrc = fingerprint_ssrc (print),
    .mtu = MAX (session_number (session, "rtcp-mtu", DEFAULT_MTU),
        SMALLEST_MTU),
    .n_sources = session_number (session, "num-sources", 0),
  };

  return report;
}

/* What a session sends beside its reports, transport-wide feedback for one,
 * comes this way, too, and is left alone.  So is a BYE, which must be last. */
static gboolean
add_own (GObject * session, GstBuffer * buffer, gboolean is_extra,
    GstRtcpHook * hook)
{
  GstElement *owner = g_weak_ref_get (&hook->owner);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  gboolean urgent = FALSE;
  Fingerprint print;

  if (owner == NULL)
    return FALSE;
  if (gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp)) {
    if (fingerprint (rtcp.map.data, rtcp.map.size, &print)) {
      gst_fairmix_lock_acquire (&hook->lock);
      hook->sent[hook->n_sent++ % N_SENT] = print;
      gst_fairmix_lock_release (&hook->lock);
      if (!has_bye (rtcp.map.data, rtcp.map.size)) {
        GstRtcpHookReport report = report_of (session, &print);

        report.is_extra = is_extra;
        urgent = hook->func (owner, &rtcp, &report);
      }
    }
    gst_rtcp_buffer_unmap (&rtcp);
  }
  gst_object_unref (owner);
  return urgent;
}

static gboolean
on_sending_rtcp (GObject * session, GstBuffer * buffer, gboolean early,
    GstRtcpHook * hook)
{
  return add_own (session, buffer, FALSE, hook);
}

GstRtcpHook *
gst_rtcp_hook_new (GstElement * owner, GstRtcpHookFunc func)
{
  GstRtcpHook *hook = g_object_new (GST_TYPE_RTCP_HOOK, NULL);

  g_weak_ref_set (&hook->owner, owner);
  hook->func = func;
  return hook;
}

/* with the lock */
static void
take_name (GstRtcpHook * hook, const gchar * name)
{
  if (g_strcmp0 (name, hook->name) == 0)
    return;
  g_free (hook->name);
  hook->name = name != NULL && name[0] != '\0' ? g_strdup (name) : NULL;
}

void
gst_rtcp_hook_set_target (GstRtcpHook * hook, const gchar * name, guint session)
{
  gst_rtcp_hook_disconnect (hook);
  gst_fairmix_lock_acquire (&hook->lock);
  take_name (hook, name);
  hook->session_id = session;
  gst_fairmix_lock_release (&hook->lock);
}

void
gst_rtcp_hook_set_name (GstRtcpHook * hook, const gchar * name)
{
  gst_rtcp_hook_disconnect (hook);
  gst_fairmix_lock_acquire (&hook->lock);
  take_name (hook, name);
  gst_fairmix_lock_release (&hook->lock);
}

void
gst_rtcp_hook_set_session (GstRtcpHook * hook, guint session)
{
  gst_rtcp_hook_disconnect (hook);
  gst_fairmix_lock_acquire (&hook->lock);
  hook->session_id = session;
  gst_fairmix_lock_release (&hook->lock);
}

gchar *
gst_rtcp_hook_dup_name (GstRtcpHook * hook)
{
  gchar *name;

  gst_fairmix_lock_acquire (&hook->lock);
  name = g_strdup (hook->name);
  gst_fairmix_lock_release (&hook->lock);
  return name;
}

guint
gst_rtcp_hook_get_session (GstRtcpHook * hook)
{
  guint session;

  gst_fairmix_lock_acquire (&hook->lock);
  session = hook->session_id;
  gst_fairmix_lock_release (&hook->lock);
  return session;
}

/* @name: NULL: another thread has just taken it away */
static GstElement *
find_element (GstRtcpHook * hook, const gchar * name)
{
  GstElement *owner = g_weak_ref_get (&hook->owner), *found = NULL;

  if (owner != NULL && name != NULL)
    found = gst_fairmix_find_element (owner, name);
  gst_clear_object (&owner);
  return found;
}

/* without the lock: rtpbin has one of its own */
static GstRtcpHookResult
find_session (GstRtcpHook * hook, const gchar * name, guint id,
    GObject ** session)
{
  GstElement *element = find_element (hook, name);
  GstRtcpHookResult result = GST_RTCP_HOOK_WAITING;

  *session = NULL;
  if (element == NULL)
    return GST_RTCP_HOOK_NOT_FOUND;
  if (g_signal_lookup ("get-internal-session", G_OBJECT_TYPE (element)) != 0)
    g_signal_emit_by_name (element, "get-internal-session", id, session);
  else if (g_object_class_find_property (G_OBJECT_GET_CLASS (element),
          "internal-session") != NULL)
    g_object_get (element, "internal-session", session, NULL);
  else
    result = GST_RTCP_HOOK_NO_SESSION;
  if (*session != NULL)
    result = g_signal_lookup ("on-sending-rtcp", G_OBJECT_TYPE (*session)) != 0
        ? GST_RTCP_HOOK_CONNECTED : GST_RTCP_HOOK_NO_SESSION;
  if (result == GST_RTCP_HOOK_NO_SESSION)
    g_clear_object (session);
  gst_object_unref (element);
  return result;
}

/* Takes @session, unless another thread was first or wants something else now. */
static void
take_session (GstRtcpHook * hook, const gchar * name, guint id,
    GObject * session)
{
  GObject *known;

  gst_fairmix_lock_acquire (&hook->lock);
  known = g_weak_ref_get (&hook->session);
  if (known == NULL && id == hook->session_id
      && g_strcmp0 (name, hook->name) == 0) {
    g_weak_ref_set (&hook->session, session);
    g_signal_connect_object (session, "on-sending-rtcp",
        G_CALLBACK (on_sending_rtcp), hook, 0);
  }
  gst_fairmix_lock_release (&hook->lock);
  g_clear_object (&known);
}

/* Returns: (transfer full) (nullable) */
static GObject *
get_session (GstRtcpHook * hook)
{
  GObject *session;

  gst_fairmix_lock_acquire (&hook->lock);
  session = g_weak_ref_get (&hook->session);
  gst_fairmix_lock_release (&hook->lock);
  return session;
}

GstRtcpHookResult
gst_rtcp_hook_connect (GstRtcpHook * hook)
{
  GstRtcpHookResult result = GST_RTCP_HOOK_NONE;
  GObject *session = get_session (hook);
  gchar *name;
  guint id;

  if (session != NULL) {
    g_object_unref (session);
    return GST_RTCP_HOOK_CONNECTED;
  }
  gst_fairmix_lock_acquire (&hook->lock);
  id = hook->session_id;
  name = g_strdup (hook->name);
  gst_fairmix_lock_release (&hook->lock);

  if (name != NULL)
    result = find_session (hook, name, id, &session);
  if (session != NULL) {
    take_session (hook, name, id, session);
    g_object_unref (session);
  }
  g_free (name);
  return result;
}

gboolean
gst_rtcp_hook_connect_or_complain (GstRtcpHook * hook)
{
  GstRtcpHookResult result = gst_rtcp_hook_connect (hook);
  GstElement *owner = g_weak_ref_get (&hook->owner);
  gchar *name = gst_rtcp_hook_dup_name (hook);

  if (owner == NULL)
    result = GST_RTCP_HOOK_NONE;
  else if (result == GST_RTCP_HOOK_NONE)
    GST_ELEMENT_WARNING (owner, RESOURCE, SETTINGS,
        ("%s has no session to write into, so nobody will hear of it.",
            GST_OBJECT_NAME (owner)),
        ("property rtpbin: the name of the rtpbin or rtpsession whose RTCP "
            "this is"));
  else if (result == GST_RTCP_HOOK_NOT_FOUND)
    GST_ELEMENT_ERROR (owner, RESOURCE, NOT_FOUND,
        ("There is no rtpbin or rtpsession named \"%s\".", name),
        ("property rtpbin: give the rtpbin that name (name=%s)", name));
  else if (result == GST_RTCP_HOOK_NO_SESSION)
    GST_ELEMENT_ERROR (owner, RESOURCE, SETTINGS,
        ("Element \"%s\" is neither an rtpbin nor an rtpsession.", name),
        ("property rtpbin: it has no RTP session to write into"));
  g_free (name);
  gst_clear_object (&owner);
  return result != GST_RTCP_HOOK_NOT_FOUND
      && result != GST_RTCP_HOOK_NO_SESSION;
}

void
gst_rtcp_hook_install_properties (GObjectClass * klass, guint name_id,
    guint session_id, const gchar * session_blurb)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS
      | GST_PARAM_MUTABLE_READY;

  g_object_class_install_property (klass, name_id,
      g_param_spec_string ("rtpbin", "Rtpbin",
          "Name of the rtpbin or rtpsession, in the same pipeline, into whose "
          "reports this element writes", NULL, flags));
  g_object_class_install_property (klass, session_id,
      g_param_spec_uint ("session", "Session", session_blurb, 0, G_MAXUINT, 0,
          flags));
}

void
gst_rtcp_hook_disconnect (GstRtcpHook * hook)
{
  GObject *session;

  gst_fairmix_lock_acquire (&hook->lock);
  session = g_weak_ref_get (&hook->session);
  g_weak_ref_set (&hook->session, NULL);
  hook->n_sent = 0;
  memset (hook->sent, 0, sizeof hook->sent);
  gst_fairmix_lock_release (&hook->lock);
  if (session != NULL) {
    g_signal_handlers_disconnect_by_data (session, hook);
    g_object_unref (session);
  }
}

gboolean
gst_rtcp_hook_send_early (GstRtcpHook * hook, GstClockTime max_delay)
{
  GObject *session = get_session (hook);
  gboolean ret = FALSE;

  if (session != NULL) {
    g_signal_emit_by_name (session, "send-rtcp-full", max_delay, &ret);
    g_object_unref (session);
  }
  return ret;
}

static gboolean
has_said (GstPad * pad, GstEventType type)
{
  GstEvent *event = gst_pad_get_sticky_event (pad, type, 0);
  gboolean said = event != NULL;

  gst_clear_event (&event);
  return said;
}

/* Returns: (transfer full) (nullable): where the rtpsession's RTCP leaves, before a
 * request-rtcp-encoder of the rtpbin */
static GstPad *
get_inner_rtcp_pad (GstRtcpHook * hook)
{
  gchar *name = gst_rtcp_hook_dup_name (hook);
  GstElement *element = find_element (hook, name), *inner = NULL;
  GstPad *pad = NULL;

  if (element != NULL
      && g_signal_lookup ("get-session", G_OBJECT_TYPE (element)) != 0) {
    g_signal_emit_by_name (element, "get-session",
        gst_rtcp_hook_get_session (hook), &inner);
    gst_object_unref (element);
    element = inner;
  }
  if (element != NULL) {
    pad = gst_element_get_static_pad (element, "send_rtcp_src");
    gst_object_unref (element);
  }
  g_free (name);
  return pad;
}

static void
add_name (GObject * session, GstRTCPBuffer * rtcp, guint32 ssrc)
{
  GstStructure *sdes = NULL;
  const gchar *cname = NULL;
  GstRTCPPacket packet;

  g_object_get (session, "sdes", &sdes, NULL);
  if (sdes != NULL)
    cname = gst_structure_get_string (sdes, "cname");
  if (cname != NULL
      && gst_rtcp_buffer_add_packet (rtcp, GST_RTCP_TYPE_SDES, &packet)) {
    gst_rtcp_packet_sdes_add_item (&packet, ssrc);
    gst_rtcp_packet_sdes_add_entry (&packet, GST_RTCP_SDES_CNAME,
        MIN (strlen (cname), G_MAXUINT8), (const guint8 *) cname);
  }
  g_clear_pointer (&sdes, gst_structure_free);
}

/* Returns: (transfer full) */
static GstBuffer *
new_report (GObject * session, guint32 ssrc)
{
  GstBuffer *buffer = gst_rtcp_buffer_new (MAX (session_number (session,
              "rtcp-mtu", DEFAULT_MTU), SMALLEST_MTU));
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;

  gst_rtcp_buffer_map (buffer, GST_MAP_READWRITE, &rtcp);
  gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_RR, &packet);
  gst_rtcp_packet_rr_set_ssrc (&packet, ssrc);
  add_name (session, &rtcp, ssrc);
  gst_rtcp_buffer_unmap (&rtcp);
  return buffer;
}

/* @report: (transfer full) */
static gboolean
send_own (GstRtcpHook * hook, GObject * session, GstBuffer * report)
{
  GstPad *pad = get_inner_rtcp_pad (hook);
  gboolean sent = FALSE;

  if (pad != NULL && has_said (pad, GST_EVENT_SEGMENT)
      && !has_said (pad, GST_EVENT_EOS)) {
    add_own (session, report, TRUE, hook);
    sent = gst_pad_push (pad, report) == GST_FLOW_OK;
  } else {
    gst_buffer_unref (report);
  }
  gst_clear_object (&pad);
  return sent;
}

gboolean
gst_rtcp_hook_send_extra (GstRtcpHook * hook, guint32 ssrc)
{
  GObject *session = get_session (hook);
  gboolean sent = session != NULL
      && send_own (hook, session, new_report (session, ssrc));

  g_clear_object (&session);
  return sent;
}

void
gst_rtcp_hook_say_bye (GstRtcpHook * hook)
{
  GObject *session = get_session (hook);
  GstRTCPBuffer rtcp = GST_RTCP_BUFFER_INIT;
  GstRTCPPacket packet;
  GstBuffer *report;
  guint32 ssrc = 0;
  gboolean spoke;

  gst_fairmix_lock_acquire (&hook->lock);
  spoke = hook->n_sent > 0;
  if (spoke)
    ssrc = fingerprint_ssrc (&hook->sent[(hook->n_sent - 1) % N_SENT]);
  gst_fairmix_lock_release (&hook->lock);
  if (session != NULL && spoke
      && session_number (session, "num-sources", 0) <= MOST_WHO_SAY_BYE) {
    report = new_report (session, ssrc);
    gst_rtcp_buffer_map (report, GST_MAP_READWRITE, &rtcp);
    if (gst_rtcp_buffer_add_packet (&rtcp, GST_RTCP_TYPE_BYE, &packet))
      gst_rtcp_packet_bye_add_ssrc (&packet, ssrc);
    gst_rtcp_buffer_unmap (&rtcp);
    send_own (hook, session, report);
  }
  g_clear_object (&session);
}

gboolean
gst_rtcp_hook_is_avpf (GstRtcpHook * hook)
{
  GObject *session = get_session (hook);
  GstRTPProfile profile = GST_RTP_PROFILE_UNKNOWN;

  if (session != NULL) {
    g_object_get (session, "rtp-profile", &profile, NULL);
    g_object_unref (session);
  }
  return profile == GST_RTP_PROFILE_AVPF || profile == GST_RTP_PROFILE_SAVPF;
}

gboolean
gst_rtcp_hook_is_own (GstRtcpHook * hook, GstBuffer * buffer)
{
  gboolean own = FALSE;
  Fingerprint print;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return FALSE;
  if (fingerprint (map.data, map.size, &print)) {
    gst_fairmix_lock_acquire (&hook->lock);
    for (guint i = 0; i < MIN (hook->n_sent, N_SENT) && !own; i++)
      own = memcmp (&hook->sent[i], &print, sizeof print) == 0;
    gst_fairmix_lock_release (&hook->lock);
  }
  gst_buffer_unmap (buffer, &map);
  return own;
}

static gboolean
has_own_source (GObject * session)
{
  const GValue *sources;
  gboolean own = FALSE;
  GstStructure *stats;

  g_object_get (session, "stats", &stats, NULL);
  sources = gst_structure_get_value (stats, "source-stats");
  if (sources != NULL) {
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS;   /* GstRtpSession has no other */
    GValueArray *array = g_value_get_boxed (sources);

    for (guint i = 0; i < array->n_values && !own; i++)
      gst_structure_get_boolean (g_value_get_boxed (g_value_array_get_nth
              (array, i)), "internal", &own);
    G_GNUC_END_IGNORE_DEPRECATIONS;
  }
  gst_structure_free (stats);
  return own;
}

/* Returns: (transfer full) (nullable): where the RTCP of the session leaves */
static GstPad *
get_rtcp_pad (GstRtcpHook * hook)
{
  gchar *name = gst_rtcp_hook_dup_name (hook);
  GstElement *element = find_element (hook, name);
  gchar *numbered = g_strdup_printf ("send_rtcp_src_%u",
      gst_rtcp_hook_get_session (hook));
  GstPad *pad = NULL;

  if (element != NULL) {
    pad = gst_element_get_static_pad (element, numbered);
    if (pad == NULL)
      pad = gst_element_get_static_pad (element, "send_rtcp_src");
    gst_object_unref (element);
  }
  g_free (numbered);
  g_free (name);
  return pad;
}

static void
end_rtcp (GstPad * pad)
{
  if (has_said (pad, GST_EVENT_EOS))
    return;
  if (!has_said (pad, GST_EVENT_STREAM_START)) {
    gchar *id = g_uuid_string_random ();
    GstSegment segment;

    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_pad_push_event (pad, gst_event_new_stream_start (id));
    gst_pad_push_event (pad, gst_event_new_segment (&segment));
    g_free (id);
  }
  gst_pad_push_event (pad, gst_event_new_eos ());
}

gboolean
gst_rtcp_hook_pass_eos (GstRtcpHook * hook, GstPad * pad, GstObject * parent,
    GstEvent * eos)
{
  GObject *session;
  GstPad *rtcp = NULL;
  gboolean ret;

  gst_rtcp_hook_connect (hook); /* the end may come before anything else does */
  session = get_session (hook);
  if (session != NULL && !has_own_source (session))
    rtcp = get_rtcp_pad (hook);
  ret = gst_pad_event_default (pad, parent, eos);
  if (rtcp != NULL) {
    end_rtcp (rtcp);
    gst_object_unref (rtcp);
  }
  g_clear_object (&session);
  return ret;
}

static void
gst_rtcp_hook_finalize (GObject * object)
{
  GstRtcpHook *hook = GST_RTCP_HOOK (object);

  gst_rtcp_hook_disconnect (hook);
  g_weak_ref_clear (&hook->owner);
  g_weak_ref_clear (&hook->session);
  g_free (hook->name);
  gst_fairmix_lock_clear (&hook->lock);
  G_OBJECT_CLASS (gst_rtcp_hook_parent_class)->finalize (object);
}

static void
gst_rtcp_hook_class_init (GstRtcpHookClass * klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_rtcp_hook_finalize;
}

static void
gst_rtcp_hook_init (GstRtcpHook * hook)
{
  g_weak_ref_init (&hook->owner, NULL);
  g_weak_ref_init (&hook->session, NULL);
  gst_fairmix_lock_init (&hook->lock, GST_FAIRMIX_RANK_HELPER);
}
