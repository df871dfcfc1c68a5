/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_TFRC_RATE_REPORTS_H__
#define __GST_TFRC_RATE_REPORTS_H__

/* The sender reports of the rtpsession that tfrcrate is linked to: it would send those of
 * all its streams at once. */

#include "gsttfrcratetell.h"

G_BEGIN_DECLS

/* Once, when the pads are there: from now on reports take turns in whatever rtpsession, in
 * an rtpbin or alone, the source pad is linked to. */
void gst_tfrc_rate_watch_reports (GstTfrcRate * self);

G_END_DECLS

#endif /* __GST_TFRC_RATE_REPORTS_H__ */
