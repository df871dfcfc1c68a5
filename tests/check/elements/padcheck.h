/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __PAD_CHECK_H__
#define __PAD_CHECK_H__

#include <gst/gst.h>

/* A test's own pad, linked with one of an element */
static inline void
free_pad (GstPad * pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  gst_pad_set_active (pad, FALSE);
  if (GST_PAD_IS_SRC (pad))
    gst_pad_unlink (pad, peer);
  else
    gst_pad_unlink (peer, pad);
  gst_object_unref (peer);
  gst_object_unref (pad);
}

#endif /* __PAD_CHECK_H__ */
