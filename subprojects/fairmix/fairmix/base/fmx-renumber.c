/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/base/fmx-renumber.h"

#include <assert.h>
#include <string.h>

#include "fairmix/base/fmx-restart.h"
#include "fairmix/base/fmx-serial.h"

void
fmx_renumber_init (FmxRenumber *renumber)
{
  memset (renumber, 0, sizeof *renumber);
}

static void
see (FmxRenumber *renumber, uint16_t seq)
{
  if (!renumber->started) {
    renumber->started = true;
    renumber->highest = (uint16_t) (seq - 1);
  } else if (fmx_serial_diff16 (seq, renumber->highest)
      < -FMX_RESTART_MAX_MISORDER) {
    renumber->highest = (uint16_t) (seq - 1);
    renumber->since = seq;
  }
}

static void
shift (FmxRenumber *renumber, int32_t by)
{
  renumber->offset = (uint16_t) (renumber->offset + by);
  renumber->since = (uint16_t) (renumber->highest + 1);
  renumber->changed = true;
}

bool
fmx_renumber_pass_any (FmxRenumber *renumber, uint16_t *seq)
{
  see (renumber, *seq);
  if (fmx_serial_diff16 (*seq, renumber->highest) > 0) {
    renumber->highest = *seq;
    if ((uint16_t) (renumber->highest - renumber->since)
        > FMX_RENUMBER_MAX_AGE) {
      /* some way on, so that it need not move with each packet */
      renumber->since =
          (uint16_t) (renumber->highest - FMX_RENUMBER_MAX_AGE / 2);
    }
  } else if (renumber->changed && fmx_serial_diff16 (*seq, renumber->since) < 0) {
    return false;
  }
  *seq = (uint16_t) (*seq + renumber->offset);
  return true;
}

void
fmx_renumber_drop (FmxRenumber *renumber, uint16_t seq)
{
  int32_t ahead;

  see (renumber, seq);
  ahead = fmx_serial_diff16 (seq, renumber->highest);
  if (ahead <= 0)
    return;
  renumber->highest = seq;
  shift (renumber, -ahead);
}

uint16_t
fmx_renumber_insert (FmxRenumber *renumber)
{
  assert (renumber->started);
  shift (renumber, 1);
  return (uint16_t) (renumber->highest + renumber->offset);
}

void
fmx_renumber_rejoin (FmxRenumber *renumber, uint16_t seq)
{
  if (!renumber->started)
    return;
  renumber->offset = (uint16_t) (renumber->highest + renumber->offset + 1
      - seq);
  renumber->highest = (uint16_t) (seq - 1);
  renumber->since = seq;
  renumber->changed = true;
}

bool
fmx_renumber_is_next (const FmxRenumber *renumber, uint16_t seq)
{
  return renumber->started && seq == (uint16_t) (renumber->highest + 1);
}

bool
fmx_renumber_is_changed (const FmxRenumber *renumber)
{
  return renumber->changed;
}
