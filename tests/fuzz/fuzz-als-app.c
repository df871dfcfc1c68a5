/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ALS' APP packets from the network: any bytes are refused or read within their
 * bounds, say the same when they are written again, and can be cut in flight. */
#include <string.h>

#include "fairmix/als/fmx-als-receiver.h"
#include "fairmix/wire/fmx-als-app.h"
#include "fuzz.h"

#define MAX_BYTES 1024

static void
try_share (const uint8_t * data, size_t size)
{
  uint8_t copy[MAX_BYTES], written[FMX_ALS_SHARE_BYTES];
  FmxAlsShare share, again;

  if (!fmx_als_share_read (&share, data, size))
    return;
  CHECK (share.utilisation >= 0.0 && share.utilisation < 2.0);
  CHECK (fmx_als_share_write (&share, written, sizeof written)
      == sizeof written);
  CHECK (fmx_als_share_read (&again, written, sizeof written));
  CHECK (share.share_bps == again.share_bps
      && share.rate_bps == again.rate_bps
      && share.media_ssrc == again.media_ssrc
      && share.answered == again.answered
      && share.utilisation == again.utilisation);

  memcpy (copy, data, size);
  if (fmx_als_request_cut (copy, size, 90000.0, 0.9)) {
    CHECK (fmx_als_share_read (&again, copy, size));
    CHECK (again.answered && again.share_bps == 90000);
    CHECK (again.rate_bps == share.rate_bps);
    CHECK (memcmp (copy + 8, data + 8, size - 8) == 0);
  } else {
    CHECK (share.share_bps < 90000);
    CHECK (fmx_als_share_read (&again, copy, size) && again.answered);
    CHECK (copy[0] == data[0]);
    CHECK (memcmp (copy + 2, data + 2, size - 2) == 0);
  }
}

static void
try_layers (const uint8_t * data, size_t size)
{
  uint8_t written[FMX_ALS_LAYERS_BYTES (FMX_ALS_MAX_LAYERS)];
  FmxAlsLayer layers[FMX_ALS_MAX_LAYERS];
  FmxAlsReceiver receiver;
  unsigned n = fmx_als_layers_read (layers, data, size);

  CHECK (n <= FMX_ALS_MAX_LAYERS);
  if (n == 0)
    return;
  CHECK (fmx_als_layers_write (layers, n, written, sizeof written)
      == FMX_ALS_LAYERS_BYTES (n));
  fmx_als_receiver_init (&receiver);
  if (fmx_als_receiver_on_layers (&receiver, layers, n, 0))
    for (unsigned i = 0; i < n; i++)
      CHECK (fmx_als_layer_is_multicast (fmx_als_receiver_get_layer
              (&receiver, i)));
}

static void
try_datagram (const uint8_t * data, size_t size)
{
  uint8_t copy[MAX_BYTES];
  unsigned n_requests, n_cut;

  memcpy (copy, data, size);
  n_requests = fmx_als_rtcp_count (copy, size);
  n_cut = fmx_als_rtcp_cut (copy, size, 90000.0, 0.9);
  CHECK (n_cut <= n_requests);
  CHECK (n_requests > 0 || memcmp (copy, data, size) == 0);
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  if (size > MAX_BYTES)
    return 0;
  try_share (data, size);
  try_layers (data, size);
  try_datagram (data, size);
  return 0;
}
