/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/mix/fmx-places.h"

#include <assert.h>
#include <string.h>

#define KEPT (60 * FMX_SECOND)  /* so long a place waits for who had it */
#define SPEAKS_DBOV 60u         /* who has less is louder, and speaks */
#define PAN_PER_S 0.4           /* a mix goes from the middle to 0.8 in 2 s */

/* The first two stand to the left and to the right, but are heard on both ears; each
 * pair that follows is as far as can be from those before. */
static const float pans[FMX_PLACES_MAX] = {
  -0.4f, 0.4f, -0.8f, 0.8f, -0.6f, 0.6f, -0.2f, 0.2f,
  -0.7f, 0.7f, -0.5f, 0.5f, -0.3f, 0.3f, -0.1f, 0.1f
};

void
fmx_places_init (FmxPlaces * places)
{
  memset (places, 0, sizeof *places);
}

bool
fmx_places_find (const FmxPlaces * places, uint32_t ssrc, uint32_t * place)
{
  for (uint32_t i = 0; i < FMX_PLACES_MAX; i++)
    if (places->places[i].used && places->places[i].ssrc == ssrc) {
      *place = i;
      return true;
    }
  return false;
}

static bool
is_kept (const FmxPlaces * places, uint32_t place, FmxTime now)
{
  return places->places[place].used
      && fmx_time_diff (now, places->places[place].left_at) < KEPT;
}

/* Whether a newcomer rather goes to @a than to @b, which comes before it */
static bool
is_better (const FmxPlaces * places, uint32_t a, uint32_t b, FmxTime now)
{
  if (places->places[a].n_here != places->places[b].n_here)
    return places->places[a].n_here < places->places[b].n_here;
  if (places->places[a].n_here > 0 || !is_kept (places, b, now))
    return false;
  return !is_kept (places, a, now)
      || places->places[a].left_at < places->places[b].left_at;
}

uint32_t
fmx_places_take (FmxPlaces * places, uint32_t ssrc, FmxTime now)
{
  uint32_t best = 0;

  if (!fmx_places_find (places, ssrc, &best)
      || places->places[best].n_here > 0) {
    best = 0;
    for (uint32_t i = 1; i < FMX_PLACES_MAX; i++)
      if (is_better (places, i, best, now))
        best = i;
  }
  places->places[best].ssrc = ssrc;
  places->places[best].used = true;
  places->places[best].n_here++;
  return best;
}

void
fmx_places_leave (FmxPlaces * places, uint32_t place, FmxTime now)
{
  assert (place < FMX_PLACES_MAX && places->places[place].n_here > 0);
  places->places[place].n_here--;
  places->places[place].left_at = now;
}

void
fmx_places_give_up (FmxPlaces * places, uint32_t place)
{
  fmx_places_leave (places, place, 0);
  places->places[place].used = places->places[place].n_here > 0;
}

float
fmx_places_pan (uint32_t place)
{
  assert (place < FMX_PLACES_MAX);
  return pans[place];
}

bool
fmx_places_goal (const FmxPlaces * places, const uint32_t *ssrcs,
    const uint8_t *levels, uint32_t n, float *pan)
{
  uint32_t least = SPEAKS_DBOV, loudest = n, place;

  for (uint32_t i = 0; levels != NULL && i < n; i++)
    if (levels[i] < least) {
      least = levels[i];
      loudest = i;
    }
  *pan = loudest < n && fmx_places_find (places, ssrcs[loudest], &place)
      ? fmx_places_pan (place) : 0.0f;
  return loudest < n || (levels == NULL && n > 0);
}

float
fmx_places_toward (float pan, float goal, FmxDuration elapsed)
{
  const float step = (float) (PAN_PER_S * fmx_time_to_s (elapsed));

  if (goal > pan + step)
    return pan + step;
  return goal < pan - step ? pan - step : goal;
}
