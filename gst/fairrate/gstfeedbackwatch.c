/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstfeedbackwatch.h"

/* So long after a packet that nothing was heard of: something is not wired.
 * Plain receiver reports come every 5 s, three may be lost ([RFC8083 4.1]). */
#define PATIENCE (5 * FMX_SECOND)
#define PATIENCE_WITH_REPORTS (15 * FMX_SECOND)

/* Who looks so late was paused, or the computer slept: what came meanwhile waits to be read */
#define LATE FMX_SECOND

void
gst_feedback_watch_init (GstFeedbackWatch * watch)
{
  watch->n_rtcp = 0;
  watch->n_malformed = 0;
  watch->unheard_since = FMX_TIME_NONE;
  watch->patience = PATIENCE;
  watch->complained = FALSE;
}

void
gst_feedback_watch_on_sent (GstFeedbackWatch * watch, FmxTime now)
{
  if (watch->unheard_since == FMX_TIME_NONE)
    watch->unheard_since = now;
}

void
gst_feedback_watch_on_feedback (GstFeedbackWatch * watch,
    FmxRateSenderFeedback kind)
{
  watch->unheard_since = FMX_TIME_NONE;
  watch->patience = kind == FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS ?
      PATIENCE_WITH_REPORTS : PATIENCE;
  watch->complained = FALSE;
}

void
gst_feedback_watch_on_end (GstFeedbackWatch * watch)
{
  watch->unheard_since = FMX_TIME_NONE;
}

FmxTime
gst_feedback_watch_deadline (const GstFeedbackWatch * watch)
{
  if (watch->unheard_since == FMX_TIME_NONE || watch->complained)
    return FMX_TIME_NONE;
  return watch->unheard_since + (FmxTime) watch->patience;
}

gboolean
gst_feedback_watch_take_complaint (GstFeedbackWatch * watch, FmxTime now)
{
  FmxTime deadline = gst_feedback_watch_deadline (watch);

  if (now < deadline)
    return FALSE;
  if (now - deadline > (FmxTime) LATE) {
    watch->unheard_since = now;
    return FALSE;
  }
  watch->complained = TRUE;
  return TRUE;
}

void
gst_feedback_watch_complain (const GstFeedbackWatch * watch,
    GstElement * element, GstPad * rtcp_sinkpad, const gchar * reason)
{
  const gchar *name = GST_OBJECT_NAME (element);
  const gchar *why;

  if (reason != NULL)
    why = reason;
  else if (rtcp_sinkpad == NULL && watch->n_rtcp == 0)
    why = "nothing has come to the webrtcbin: is it connected?";
  else if (rtcp_sinkpad != NULL && !gst_pad_is_linked (rtcp_sinkpad))
    why = "rtcp_sink is not linked";
  else if (watch->n_rtcp == 0)
    why = "nothing has arrived at rtcp_sink: the receiver must send its RTCP "
        "to the port that this end listens on";
  else if (watch->n_malformed == watch->n_rtcp)
    why = "nothing that arrived at rtcp_sink is RTCP that can be read: put "
        "srtpdec before it if it is encrypted";
  else
    why = "the RTCP that arrives says nothing (more) of the streams sent here";

  GST_ELEMENT_WARNING (element, RESOURCE, NOT_FOUND,
      ("No feedback from the receiver: %s.", why),
      ("Without feedback the rate cannot be known and media stops.  Wire the "
          "receiver's RTCP through this element: udpsrc port=PORT "
          "caps=application/x-rtcp ! %s.rtcp_sink  %s.rtcp_src ! "
          "RTPBIN.recv_rtcp_sink_0; at the receiver: udpsrc ... ! rtpccfb "
          "name=fb ! RTPBIN.recv_rtp_sink_0  funnel name=rtcp ! udpsink "
          "port=PORT sync=false async=false  fb.rtcp_src ! rtcp.  "
          "RTPBIN.send_rtcp_src_0 ! rtcp.", name, name));
}

void
gst_feedback_watch_complain_of_lies (GstElement * element)
{
  GST_ELEMENT_WARNING (element, RESOURCE, READ,
      ("A receiver claims to have got what was never sent: its feedback does "
          "not count any more."),
      ("It may hide what it loses, somebody may forge feedback in its name "
          "(SRTP prevents that), or another sender may use the same SSRCs."));
}
