/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __SRTP_CHECK_H__
#define __SRTP_CHECK_H__

/* The one key of srtpenc and srtpdec */

#include <gst/gst.h>

#define SRTP_KEY "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"

/* srtpdec's signal `request-key` */
static inline GstCaps *
srtp_key_caps (GstElement * dec, guint ssrc, gpointer user_data)
{
  return gst_caps_from_string ("application/x-srtp, "
      "srtp-key=(buffer)" SRTP_KEY ", srtp-cipher=(string)aes-128-icm, "
      "srtp-auth=(string)hmac-sha1-80, srtcp-cipher=(string)aes-128-icm, "
      "srtcp-auth=(string)hmac-sha1-80");
}

#endif /* __SRTP_CHECK_H__ */
