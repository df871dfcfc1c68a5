/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_RATE_STATS_H__
#define __GST_RATE_STATS_H__

#include <gst/gst.h>

#include "fairmix/rate/fmx-rate-sender.h"

G_BEGIN_DECLS

/**
 * gst_rate_stats_to_structure:
 * @name: of the structure
 *
 * Returns: (transfer full): all of @stats, under the library's names: rates
 *     in bits/s on the wire, times in nanoseconds
 */
GstStructure *gst_rate_stats_to_structure (const gchar * name,
    const FmxRateSenderStats * stats);

/* Adds "delay-shape": delays in seconds */
void gst_rate_stats_add_shape (GstStructure * stats,
    const FmxDelayShapeStats * shape);

G_END_DECLS

#endif /* __GST_RATE_STATS_H__ */
