/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fairmix/rate/fmx-report-turns.h"

#include <string.h>

void
fmx_report_turns_init (FmxReportTurns *turns)
{
  memset (turns, 0, sizeof *turns);
}

static FmxReportTurn *
find (FmxReportTurns *turns, uint32_t ssrc)
{
  for (unsigned i = 0; i < turns->n; i++)
    if (turns->turns[i].ssrc == ssrc)
      return &turns->turns[i];
  return NULL;
}

/* Who did not come in the round that is over is gone. */
static void
begin_round (FmxReportTurns *turns, uint32_t first)
{
  unsigned n = 0;

  for (unsigned i = 0; i < turns->n; i++) {
    FmxReportTurn turn = turns->turns[i];

    if (turn.seen != turns->round)
      continue;
    turn.before = turn.sent;
    turns->turns[n++] = turn;
  }
  turns->n = n;
  turns->first = first;
  turns->round++;
}

/* Returns: how many are before @mine; the first of the round is not */
static unsigned
rank (const FmxReportTurns *turns, const FmxReportTurn *mine)
{
  unsigned before = 0;

  for (unsigned i = 0; i < turns->n; i++) {
    const FmxReportTurn *other = &turns->turns[i];

    if (other->ssrc != turns->first && (other->before < mine->before
            || (other->before == mine->before && other < mine)))
      before++;
  }
  return before;
}

/* Returns: how many report beside the first of the round, one at the least */
static uint64_t
room (uint32_t wire_bytes, uint64_t bps)
{
  double reports = fmx_time_to_s (FMX_REPORT_TURNS_TIME) * (double) bps
      / (8.0 * wire_bytes);

  return reports < 2.0 ? 1 : (uint64_t) reports - 1;
}

static void
add (FmxReportTurns *turns, uint32_t ssrc)
{
  FmxReportTurn *turn = &turns->turns[turns->n];

  if (turns->n == FMX_REPORT_TURNS_STREAMS)
    return;
  turns->n++;
  turn->ssrc = ssrc;
  turn->seen = turn->sent = turn->before = turns->round;
}

bool
fmx_report_turns_take (FmxReportTurns *turns, uint32_t ssrc,
    uint32_t wire_bytes, uint64_t bps)
{
  FmxReportTurn *turn = find (turns, ssrc);

  if (turn == NULL) {
    add (turns, ssrc);
    return true;
  }
  if (turn->seen == turns->round) {
    begin_round (turns, ssrc);
    turn = find (turns, ssrc);
  }
  turn->seen = turns->round;
  if (ssrc != turns->first && rank (turns, turn) >= room (wire_bytes, bps))
    return false;
  turn->sent = turns->round;
  return true;
}
