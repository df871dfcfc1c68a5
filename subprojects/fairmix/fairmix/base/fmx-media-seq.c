/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-media-seq.h"

#include <string.h>

#include "fairmix/base/fmx-serial.h"

void
fmx_media_seq_init (FmxMediaSeq *numbers)
{
  memset (numbers, 0, sizeof *numbers);
}

uint16_t
fmx_media_seq_peek (const FmxMediaSeq *numbers, uint16_t seq)
{
  bool is_late = numbers->knows_late
      && fmx_serial_diff16 (seq, numbers->since) < 0
      && fmx_serial_diff16 (seq, numbers->late_since) >= 0;

  return (uint16_t) (seq - (is_late ? numbers->late_offset : numbers->offset));
}

/* What is older than what is known of before gets the present offset. */
static void
see (FmxMediaSeq *numbers, uint16_t seq)
{
  if (!numbers->started || fmx_serial_diff16 (seq, numbers->highest) > 0)
    numbers->highest = seq;
  numbers->started = true;
  if (fmx_serial_diff16 (numbers->highest, numbers->since)
      > FMX_MEDIA_SEQ_AGE)
    numbers->knows_late = false;
}

uint16_t
fmx_media_seq_pass (FmxMediaSeq *numbers, uint16_t seq)
{
  see (numbers, seq);
  return fmx_media_seq_peek (numbers, seq);
}

void
fmx_media_seq_leave_out (FmxMediaSeq *numbers, uint16_t seq)
{
  int32_t ahead = fmx_serial_diff16 (seq, numbers->highest);
  bool goes_on = numbers->knows_late && seq == numbers->since;

  if (!numbers->started || ahead <= 0 || ahead > FMX_MEDIA_SEQ_AHEAD)
    return;
  if (!goes_on) {
    numbers->late_offset = numbers->offset;
    numbers->late_since = numbers->knows_late ? numbers->since
        : (uint16_t) (seq - FMX_MEDIA_SEQ_AGE);
  }
  numbers->knows_late = true;
  numbers->offset++;
  numbers->since = (uint16_t) (seq + 1);
  see (numbers, seq);
}
