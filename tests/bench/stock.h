/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef STOCK_H
#define STOCK_H

/* Mix-minus with the elements that GStreamer comes with. */

#include <gst/gst.h>

G_BEGIN_DECLS

/* N x (rtpopusdepay, opusdec, tee), N x (audiomixer of the N - 1 others,
 * opusenc, rtpopuspay), as fast as it goes.  Returns: CPU seconds for
 * @n_frames of everybody's speech; *@set_up_s is how long it took until the
 * graph played. */
gdouble stock_run (guint n, guint n_frames, gdouble * set_up_s);

G_END_DECLS

#endif /* STOCK_H */
