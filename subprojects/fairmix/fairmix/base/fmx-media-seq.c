/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-media-seq.h"

#include <string.h>

#include "fairmix/base/fmx-serial.h"

void
fmx_media_seq_init (FmxMediaSeq *numbers)
{
  memset (numbers, 0, sizeof *numbers);
}

/* How many numbers behind @seq were left out, as far as is known */
static unsigned
n_left_out_behind (const FmxMediaSeq *numbers, uint16_t seq)
{
  int32_t late = fmx_serial_diff16 (numbers->highest, seq);
  uint64_t behind = numbers->left_out;
  unsigned n = 0;

  if (late <= 0)
    return 0;
  if (late < FMX_MEDIA_SEQ_LATE)
    behind &= (UINT64_C (1) << late) - 1;
  for (; behind != 0; behind &= behind - 1)
    n++;
  return n;
}

uint16_t
fmx_media_seq_peek (const FmxMediaSeq *numbers, uint16_t seq)
{
  return (uint16_t) (seq - numbers->offset + n_left_out_behind (numbers, seq));
}

static void
see (FmxMediaSeq *numbers, uint16_t seq)
{
  int32_t ahead = fmx_serial_diff16 (seq, numbers->highest);

  if (numbers->started && ahead <= 0)
    return;
  numbers->left_out = numbers->started && ahead < FMX_MEDIA_SEQ_LATE
      ? numbers->left_out << ahead : 0;
  numbers->highest = seq;
  numbers->started = true;
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

  if (!numbers->started || ahead <= 0 || ahead > FMX_MEDIA_SEQ_AHEAD)
    return;
  see (numbers, seq);
  numbers->left_out |= 1;
  numbers->offset++;
}
