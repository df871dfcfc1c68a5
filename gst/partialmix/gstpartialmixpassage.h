/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_PASSAGE_H__
#define __GST_PARTIAL_MIX_PASSAGE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/**
 * GstPartialMixPassage:
 *
 * Stands where rtpbin has a jitter buffer for each stream, and hands on what comes when
 * it comes.  Whoever plays a stream has a playout of their own, and who forwards it is
 * not to wait for what was lost: a jitter buffer does, and after a pause it takes the
 * pause for the time from packet to packet, so that one lost packet holds up the voice
 * for as long as three quarters of the pause.
 *
 * A stream that nobody takes any more ends no other stream of its session.
 */
#define GST_TYPE_PARTIAL_MIX_PASSAGE (gst_partial_mix_passage_get_type ())
G_DECLARE_FINAL_TYPE (GstPartialMixPassage, gst_partial_mix_passage, GST,
    PARTIAL_MIX_PASSAGE, GstElement)

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_PASSAGE_H__ */
