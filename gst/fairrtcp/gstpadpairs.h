/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_PAD_PAIRS_H__
#define __GST_PAD_PAIRS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Request pads `sink_%u` and `src_%u`: what comes in on a sink pad leaves on the
 * src pad of the same number. */

/**
 * GstPadPairsFunc:
 * @pad: is about to be added to @element
 * @index: its number
 *
 * Gives the pad its functions, and notes it down.
 */
typedef void (*GstPadPairsFunc) (GstElement * element, GstPad * pad,
    GstPadTemplate * templ, guint index);

/**
 * gst_pad_pairs_request:
 * @name: (nullable): %NULL = the first number that is free
 * @n_max: numbers are below it
 *
 * For an element's request_new_pad().  A src pad begins with the sticky events
 * that have come on the sink pad of its number.
 *
 * Returns: (transfer none) (nullable): %NULL if there is none to be had
 */
GstPad *gst_pad_pairs_request (GstElement * element, GstPadTemplate * templ,
    const gchar * name, guint n_max, GstPadPairsFunc setup);

/**
 * gst_pad_pairs_catch_up:
 * @sink: in its streaming thread, when a packet has come
 * @src: (nullable): of the same number; nothing was pushed there yet
 *
 * An event that comes while a src pad is made may not find it yet, and not be kept by
 * the sink pad either.  It is told before what comes next.
 */
void gst_pad_pairs_catch_up (GstPad * sink, GstPad * src);

/* The same, from the sink pad's event function */
void gst_pad_pairs_on_event (GstPad * sink, GstObject * parent,
    GstEvent * event);

/* Returns: the number of a pad that gst_pad_pairs_request() made */
guint gst_pad_pairs_index (GstPad * pad);

/**
 * gst_pad_pairs_complain_of_rtcp:
 * @element: with pads `rtcp_sink` and `rtcp_src`, too; RTP comes to it, and nobody takes it
 * @index: of the sink pad
 * @complained: atomic: once
 *
 * A pad that has no name in gst-launch is the one that is there: that of RTCP.  Where it is
 * taken for that of RTP, an error says so.
 */
void gst_pad_pairs_complain_of_rtcp (GstElement * element, guint index,
    gint * complained);

/* GstPadIterIntLinkFunction: the pad of the same number on the other side */
GstIterator *gst_pad_pairs_iterate_links (GstPad * pad, GstObject * parent);

G_END_DECLS

#endif /* __GST_PAD_PAIRS_H__ */
