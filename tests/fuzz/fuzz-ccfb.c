/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Feedback packets from the network: any bytes are refused or read within
 * their bounds; what was read can be written and reads the same again. */
#include <string.h>

#include "fairmix/wire/fmx-ccfb.h"
#include "fuzz.h"

#define MAX_BYTES 8192

/* Returns: the length of the packet that says the same */
static size_t
write_again (FmxCcfbReader reader, uint8_t * data, uint32_t sender)
{
  FmxCcfbWriter writer;
  FmxCcfbMetric metric;
  uint32_t timestamp = fmx_ccfb_reader_timestamp (&reader);
  uint32_t ssrc = 0;
  uint16_t next = 0;
  int n_blocks = 0;

  CHECK (fmx_ccfb_writer_init (&writer, data, MAX_BYTES, sender));
  while (fmx_ccfb_reader_next (&reader, &metric)) {
    if (n_blocks == 0 || metric.ssrc != ssrc || metric.seq != next) {
      CHECK (fmx_ccfb_writer_room (&writer) > 0);
      CHECK (fmx_ccfb_writer_begin_stream (&writer, metric.ssrc, metric.seq));
      n_blocks++;
    }
    ssrc = metric.ssrc;
    next = (uint16_t) (metric.seq + 1);
    CHECK (metric.ecn <= 3);
    CHECK (metric.arrival_offset >= 0
        || metric.arrival_offset == FMX_CCFB_ATO_UNKNOWN);
    CHECK (fmx_ccfb_writer_add (&writer, metric.received, metric.ecn,
            metric.arrival_offset));
  }
  return fmx_ccfb_writer_finish (&writer, timestamp);
}

static void
check_same (FmxCcfbReader a, FmxCcfbReader b)
{
  FmxCcfbMetric x, y;

  memset (&x, 0, sizeof x);
  memset (&y, 0, sizeof y);
  CHECK (fmx_ccfb_reader_timestamp (&a) == fmx_ccfb_reader_timestamp (&b));
  while (fmx_ccfb_reader_next (&a, &x)) {
    CHECK (fmx_ccfb_reader_next (&b, &y));
    CHECK (x.ssrc == y.ssrc && x.seq == y.seq && x.received == y.received
        && x.ecn == y.ecn && x.arrival_offset == y.arrival_offset);
  }
  CHECK (!fmx_ccfb_reader_next (&b, &y));
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  static uint8_t written[MAX_BYTES];
  FmxCcfbReader reader, again;
  uint32_t sender = 0, sender_again = 0;
  size_t length;

  if (size > MAX_BYTES / 2)
    return 0;
  if (fmx_ccfb_reader_init (&reader, data, size)) {
    length = write_again (reader, written, 1);
    CHECK (fmx_ccfb_reader_init (&again, written + 8, length - 8));
    check_same (reader, again);
  }
  if (fmx_ccfb_reader_init_packet (&reader, data, size, &sender)) {
    length = write_again (reader, written, sender);
    CHECK (fmx_ccfb_reader_init_packet (&again, written, length,
            &sender_again));
    CHECK (sender_again == sender);
    check_same (reader, again);
  }
  return 0;
}
