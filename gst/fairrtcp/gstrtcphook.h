/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RTCP_HOOK_H__
#define __GST_RTCP_HOOK_H__

#include <gst/gst.h>
#include <gst/rtp/rtp.h>

#include "common/gstfairmixrtcp.h"

G_BEGIN_DECLS

#define GST_TYPE_RTCP_HOOK (gst_rtcp_hook_get_type ())
G_DECLARE_FINAL_TYPE (GstRtcpHook, gst_rtcp_hook, GST, RTCP_HOOK, GObject)

/**
 * GstRtcpHookReport:
 * @ssrc: who reports
 * @mtu: how long the compound may become, in bytes; for
 *     gst_fairmix_rtcp_add_app()
 * @n_sources: that the session knows, itself included
 * @is_extra: of gst_rtcp_hook_send_extra(), and not of the session
 */
typedef struct
{
  guint32 ssrc;
  gsize mtu;
  guint n_sources;
  gboolean is_extra;
} GstRtcpHookReport;

/**
 * GstRtcpHookFunc:
 * @owner: whose hook it is
 * @rtcp: a compound packet that the session is about to send: begins with a
 *     sender or receiver report, has no BYE; what it gains the session counts
 *     as its own, so its share of the bandwidth stays what it is
 * @report: of whom, in which session
 *
 * Called from the session's thread, with no lock held, once for each source of
 * the session and report.
 *
 * Returns: whether it must be sent even where [RFC4585] would suppress it
 */
typedef gboolean (*GstRtcpHookFunc) (GstElement * owner, GstRTCPBuffer * rtcp,
    const GstRtcpHookReport * report);

/**
 * GstRtcpHook:
 *
 * Lets an element write into the RTCP of a session that it has no pads on: that
 * of an rtpbin or rtpsession of the same pipeline, known by its name.
 *
 * It never keeps its owner or the session alive, and may be connected, disconnected
 * and asked from any thread.
 */

GstRtcpHook *gst_rtcp_hook_new (GstElement * owner, GstRtcpHookFunc func);

/**
 * gst_rtcp_hook_set_target:
 * @name: (nullable): of an rtpbin or rtpsession; %NULL or empty = none
 * @session: which one of the rtpbin's sessions
 *
 * What the next gst_rtcp_hook_connect() looks for; what is connected is
 * disconnected.
 */
void gst_rtcp_hook_set_target (GstRtcpHook * hook, const gchar * name,
    guint session);

/* One of both */
void gst_rtcp_hook_set_name (GstRtcpHook * hook, const gchar * name);
void gst_rtcp_hook_set_session (GstRtcpHook * hook, guint session);

/* Returns: (transfer full) (nullable): the name */
gchar *gst_rtcp_hook_dup_name (GstRtcpHook * hook);
guint gst_rtcp_hook_get_session (GstRtcpHook * hook);

/**
 * GstRtcpHookResult:
 * @GST_RTCP_HOOK_NONE: no target was set
 * @GST_RTCP_HOOK_CONNECTED: it is
 * @GST_RTCP_HOOK_WAITING: the rtpbin is there, but has no such session yet (it
 *     makes one when its first pad is requested): try again
 * @GST_RTCP_HOOK_NOT_FOUND: no element of this name in the pipeline
 * @GST_RTCP_HOOK_NO_SESSION: that element is neither an rtpbin nor an rtpsession
 */
typedef enum
{
  GST_RTCP_HOOK_NONE,
  GST_RTCP_HOOK_CONNECTED,
  GST_RTCP_HOOK_WAITING,
  GST_RTCP_HOOK_NOT_FOUND,
  GST_RTCP_HOOK_NO_SESSION
} GstRtcpHookResult;

/**
 * gst_rtcp_hook_install_properties:
 * @name_id: of the property `rtpbin`
 * @session_id: of `session`
 * @session_blurb: what the session is
 *
 * Installs both in the owner's class.
 */
void gst_rtcp_hook_install_properties (GObjectClass * klass, guint name_id,
    guint session_id, const gchar * session_blurb);

/* Finds the session, if that has not been done.  Cheap when it is connected, so
 * that it can be called with each packet; not from a #GstRtcpHookFunc. */
GstRtcpHookResult gst_rtcp_hook_connect (GstRtcpHook * hook);

/* No call begins after it; one that is under way ends when it does. */
void gst_rtcp_hook_disconnect (GstRtcpHook * hook);

/* The same as gst_rtcp_hook_connect(), and says what is wrong: a warning of the
 * owner where nobody will hear of it as no target was set, else an error message.
 * Returns: whether there is no error. */
gboolean gst_rtcp_hook_connect_or_complain (GstRtcpHook * hook);

/**
 * gst_rtcp_hook_send_early:
 * @max_delay: how long it may wait
 *
 * Asks the session for a report before its time ([RFC4585 3.5]).  A session that
 * is asked uses the profile AVPF from then on: to be called only where it does.
 *
 * Returns: whether there will be one
 */
gboolean gst_rtcp_hook_send_early (GstRtcpHook * hook, GstClockTime max_delay);

/**
 * gst_rtcp_hook_send_extra:
 * @ssrc: who reports; one that the session has sent a report of before
 *
 * Sends a report of its own at once where the session's go, on the near side of what
 * encrypts them: a receiver report without blocks, the CNAME, and what the owner's
 * #GstRtcpHookFunc adds.  The session knows nothing of it, and so reports as often as
 * before: for what is rare in the whole group.
 *
 * Returns: whether it was sent
 */
gboolean gst_rtcp_hook_send_extra (GstRtcpHook * hook, guint32 ssrc);

/**
 * gst_rtcp_hook_say_bye:
 *
 * Says BYE for who has reported last, in the same way: a session that only listens never
 * does.  Whoever has not reported, or is one of more than fifty, leaves in silence
 * ([RFC3550 6.3.7]).
 */
void gst_rtcp_hook_say_bye (GstRtcpHook * hook);

/* Returns: whether the session uses early feedback (AVPF, SAVPF) */
gboolean gst_rtcp_hook_is_avpf (GstRtcpHook * hook);

/**
 * gst_rtcp_hook_is_own:
 * @buffer: RTCP that came from the network
 *
 * Returns: whether it is what this session itself sent of late and the network
 *     brought back, as multicast does on one host.  A session that gets that
 *     takes it for a collision of SSRCs.
 */
gboolean gst_rtcp_hook_is_own (GstRtcpHook * hook, GstBuffer * buffer);

/**
 * gst_rtcp_hook_pass_eos:
 * @pad: of the owner; what it sends goes to the session
 * @eos: (transfer full): came there
 *
 * Passes on the end of RTP.  A session ends its RTCP with the BYE of its sources.  One
 * that has none, as nobody has sent and nothing has come, would never do so, and the
 * pipeline would wait for good: the end of its RTCP is told here.
 *
 * Returns: whether anybody took it
 */
gboolean gst_rtcp_hook_pass_eos (GstRtcpHook * hook, GstPad * pad,
    GstObject * parent, GstEvent * eos);

G_END_DECLS

#endif /* __GST_RTCP_HOOK_H__ */
