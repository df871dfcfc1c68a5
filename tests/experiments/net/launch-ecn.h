/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LAUNCH_ECN_H
#define LAUNCH_ECN_H

/* ECN for the graphs of a laboratory, on IPv4: each udpsink sends ECT(0), and a
 * buffer of udpsrc has what its packet's header said. */

#include <gst/gst.h>

/* In NULL, and when sockets are open (PAUSED). */
void launch_ecn_prepare (GstElement *pipeline);
void launch_ecn_start (GstElement *pipeline);

#endif
