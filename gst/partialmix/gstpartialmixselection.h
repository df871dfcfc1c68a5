/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PARTIAL_MIX_SELECTION_H__
#define __GST_PARTIAL_MIX_SELECTION_H__

#include <gst/gst.h>

#include "gstpartialmixlistener.h"
#include "gstpartialmixsettings.h"
#include "gstpartialmixstream.h"
#include "gstpartialmixtable.h"

G_BEGIN_DECLS

/**
 * GstPartialMixScene:
 * @mix_pos: the first sample that has not been mixed
 *
 * What a selection looks at besides its listener.
 */
typedef struct
{
  const GstPartialMixTable *table;
  const GstPartialMixSettings *settings;
  gint64 mix_pos;
} GstPartialMixScene;

/* Decides who is separate for @listener and who is mixed, in what format and at
 * which bitrate, and changes the streams' ways to him accordingly.
 * Returns: whether anybody's way changed */
gboolean gst_partial_mix_select (GstPartialMixListener * listener,
    const GstPartialMixScene * scene, GstClockTime now);

/* How a stream that has just come reaches @listener until he is selected for. */
FmxHandoverWay gst_partial_mix_first_way (const GstPartialMixListener *
    listener, const GstPartialMixStream * stream);

/* The message fairmix-selection */
GstStructure *gst_partial_mix_selection_to_structure (GstPartialMixListener *
    listener, const GstPartialMixTable * table, const gchar * reason);

G_END_DECLS

#endif /* __GST_PARTIAL_MIX_SELECTION_H__ */
