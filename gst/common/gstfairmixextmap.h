/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_EXTMAP_H__
#define __GST_FAIRMIX_EXTMAP_H__

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_FAIRMIX_LEVEL_URN "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
#define GST_FAIRMIX_CSRC_LEVEL_URN "urn:ietf:params:rtp-hdrext:csrc-audio-level"
/**
 * gst_fairmix_extmap_find:
 * @caps: of RTP: their extmap may name header extensions, alone or between direction
 *     and attributes
 * @uri: name of one
 * @id: (out): its number, 1 ... 255, 0 = it is not named
 *
 * Returns: (nullable): the field of @caps that names it
 */
const gchar *gst_fairmix_extmap_find (GstCaps * caps, const gchar * uri,
    guint8 * id);

G_END_DECLS
#endif /* __GST_FAIRMIX_EXTMAP_H__ */
