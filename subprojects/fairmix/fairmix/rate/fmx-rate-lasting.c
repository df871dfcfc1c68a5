/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-rate-lasting.h"

#include <math.h>
#include <string.h>

#define PART (2 * FMX_SECOND)
#define SETTLED 3u              /* parts: 4 to 6 s */
#define DIPS 2u
#define WAIT_MIN (5 * FMX_SECOND)
#define WAIT_MAX (40 * FMX_SECOND)
#define FORGOTTEN (120 * FMX_SECOND)
#define LESS 0.95               /* the headroom of partialmix */
#define MORE 1.05
#define BRIEF (300 * FMX_MSECOND)
#define SELDOM (20 * FMX_SECOND)
#define STEP 2.0                /* more than any rate grows by at once */

void
fmx_rate_lasting_init (FmxRateLasting *lasting, FmxTime now)
{
  memset (lasting, 0, sizeof *lasting);
  lasting->begun = lasting->rose = now;
  lasting->wait = WAIT_MIN;
}

/* Returns: whether a part has begun */
static bool
begin_parts (FmxRateLasting *lasting, FmxTime now)
{
  FmxTime before = lasting->begun;

  for (unsigned n = 0; fmx_time_diff (now, lasting->begun) >= PART; n++) {
    if (n >= FMX_RATE_LASTING_PARTS)    /* none that was before is remembered */
      lasting->begun = now;
    else
      lasting->begun += (FmxTime) PART;
    lasting->part = (lasting->part + 1) % FMX_RATE_LASTING_PARTS;
    lasting->low_bps[lasting->part] = lasting->rate_bps;
  }
  return lasting->begun != before;
}

/* Returns: the lowest in the part that was @ago before this one, 0 = not known */
static double
low_bps (const FmxRateLasting *lasting, unsigned ago)
{
  return lasting->low_bps[(lasting->part + FMX_RATE_LASTING_PARTS - ago)
      % FMX_RATE_LASTING_PARTS];
}

/* How often the rate was below that; for how long does not count. */
static unsigned
count_dips (const FmxRateLasting *lasting, double bps)
{
  unsigned n = 0;
  bool below = false;

  for (unsigned i = 0; i < FMX_RATE_LASTING_PARTS && low_bps (lasting, i) > 0.0;
      i++) {
    bool dips = low_bps (lasting, i) < bps;

    n += dips && !below;
    below = dips;
  }
  return n;
}

static double
find_lasting (const FmxRateLasting *lasting)
{
  double most_bps = lasting->rate_bps, best_bps = 0.0;

  for (unsigned i = 0; i < SETTLED; i++)
    most_bps = fmin (most_bps, low_bps (lasting, i));
  for (unsigned i = 0; i < FMX_RATE_LASTING_PARTS; i++) {
    double bps = fmin (low_bps (lasting, i), most_bps);

    if (bps > best_bps && count_dips (lasting, bps) <= DIPS)
      best_bps = bps;
  }
  return best_bps;
}

static void
rise (FmxRateLasting *lasting, FmxTime now)
{
  FmxDuration since = fmx_time_diff (now, lasting->rose);
  double bps;

  if (since < lasting->wait)
    return;
  bps = find_lasting (lasting);
  if (bps <= MORE * lasting->lasts_bps)
    return;
  lasting->lasts_bps = bps;
  lasting->rose = now;
  lasting->wait = since > FORGOTTEN ? WAIT_MIN : 2 * lasting->wait;
  if (lasting->wait > WAIT_MAX)
    lasting->wait = WAIT_MAX;
}

/* Keeps what was, for a fall that may be taken back. */
static void
note_fall (FmxRateLasting *lasting, double bps, FmxTime now)
{
  if (bps * STEP >= lasting->rate_bps || (lasting->fall.from_bps > 0.0
          && fmx_time_diff (now, lasting->fall.time) < SELDOM))
    return;
  lasting->fall.time = now;
  lasting->fall.part = lasting->part;
  lasting->fall.from_bps = lasting->rate_bps;
  lasting->fall.lasted_bps = lasting->lasts_bps;
  lasting->fall.low_bps = lasting->low_bps[lasting->part];
  lasting->fall.had_fallen = lasting->has_fallen;
}

/* The rate is at once what it was: as if it had not fallen. */
static void
take_back (FmxRateLasting *lasting, double bps, FmxTime now)
{
  if (bps < LESS * lasting->fall.from_bps || bps <= STEP * lasting->rate_bps
      || fmx_time_diff (now, lasting->fall.time) > BRIEF)
    return;
  lasting->low_bps[lasting->part] = bps;
  lasting->low_bps[lasting->fall.part] = lasting->fall.low_bps > 0.0
      ? lasting->fall.low_bps : bps;
  lasting->lasts_bps = lasting->fall.lasted_bps;
  lasting->has_fallen = lasting->fall.had_fallen;
}

void
fmx_rate_lasting_on_rate (FmxRateLasting *lasting, double bps, FmxTime now)
{
  bool has_begun = begin_parts (lasting, now);
  double *low = &lasting->low_bps[lasting->part];

  if (bps <= 0.0)
    return;
  note_fall (lasting, bps, now);
  take_back (lasting, bps, now);
  *low = *low > 0.0 ? fmin (*low, bps) : bps;
  lasting->rate_bps = bps;
  if (bps < LESS * lasting->lasts_bps) {
    lasting->has_fallen = true;
    lasting->lasts_bps = bps;
  } else if (!lasting->has_fallen) {
    lasting->lasts_bps = fmax (bps, lasting->lasts_bps);
    lasting->rose = now;
  } else if (has_begun) {
    rise (lasting, now);
  }
}

/* What the rate was before says nothing of the path as it is: a part begins.  Who finds
 * more room while he waits, and more again, waits once. */
void
fmx_rate_lasting_on_wider (FmxRateLasting *lasting, FmxTime now)
{
  lasting->part = (lasting->part + 1) % FMX_RATE_LASTING_PARTS;
  lasting->low_bps[lasting->part] = lasting->rate_bps;
  lasting->begun = now;
  if (lasting->wait > WAIT_MIN)
    lasting->rose = now;
  lasting->wait = WAIT_MIN;
}

double
fmx_rate_lasting_bps (const FmxRateLasting *lasting)
{
  return fmin (lasting->lasts_bps, lasting->rate_bps);
}
