/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* APP packets from the network: any bytes are refused or read within their
 * bounds; what was read can be written and reads the same again. */
#include <string.h>

#include "fairmix/wire/fmx-asmp-app.h"
#include "fairmix/wire/fmx-rtcp-app.h"
#include "fuzz.h"

static void
check_rate (const uint8_t * data, size_t size)
{
  uint8_t written[FMX_ASMP_RATE_BYTES], again[FMX_ASMP_RATE_BYTES];
  FmxAsmpRate rate;

  if (!fmx_asmp_rate_read (&rate, data, size))
    return;
  CHECK (rate.rtt >= 0);
  CHECK (rate.loss >= 0.0 && rate.loss < 1.0);
  CHECK (fmx_asmp_rate_write (&rate, written, sizeof written)
      == sizeof written);
  /* all that is not reserved */
  CHECK (written[0] == data[0] && written[1] == (data[1] & 0xe0));
  CHECK (memcmp (written + 4, data + 4, 8) == 0);
  CHECK (memcmp (written + 16, data + 16, 8) == 0);
  CHECK (fmx_asmp_rate_read (&rate, written, sizeof written));
  CHECK (fmx_asmp_rate_write (&rate, again, sizeof again) == sizeof again);
  CHECK (memcmp (written, again, sizeof written) == 0);
}

static void
check_rtt (const uint8_t * data, size_t size)
{
  uint8_t written[FMX_ASMP_RTT_BYTES (FMX_ASMP_MAX_RTTS)];
  FmxAsmpRtt rtts[FMX_ASMP_MAX_RTTS];
  FmxAsmpRttHeader header;

  if (!fmx_asmp_rtt_read (&header, data, size))
    return;
  CHECK (header.n_rtts <= FMX_ASMP_MAX_RTTS);
  for (unsigned i = 0; i < header.n_rtts; i++) {
    rtts[i] = fmx_asmp_rtt_get (data, i);
    CHECK (rtts[i].rtt >= 0);
  }
  CHECK (fmx_asmp_rtt_write (&header, rtts, written, sizeof written) <= size);
  CHECK (memcmp (written + 4, data + 4, 8) == 0);
  for (unsigned i = 0; i < header.n_rtts; i++) {
    FmxAsmpRtt again = fmx_asmp_rtt_get (written, i);

    CHECK (again.ssrc == rtts[i].ssrc);
    CHECK (again.rtt == rtts[i].rtt || rtts[i].rtt > 65535 * FMX_SECOND);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  static uint8_t written[4096];
  FmxRtcpApp app, again;
  size_t length;

  check_rate (data, size);
  check_rtt (data, size);
  if (!fmx_rtcp_app_read (&app, data, size) || app.size > 4000)
    return 0;
  check_rate (app.data, app.size);
  check_rtt (app.data, app.size);
  length = fmx_rtcp_app_write (&app, written, sizeof written);
  CHECK (length == FMX_RTCP_APP_HEADER_BYTES + app.size);
  CHECK (fmx_rtcp_app_read (&again, written, length));
  CHECK (again.subtype == app.subtype && again.ssrc == app.ssrc
      && again.size == app.size);
  CHECK (memcmp (again.data, app.data, app.size) == 0);
  return 0;
}
