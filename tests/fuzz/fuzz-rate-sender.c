/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rate sender in any order of packets, feedback, lies and timeouts: its
 * target is 0 or within bounds, its figures are shares and sums that add up,
 * and its timers move on. */
#include <math.h>
#include <string.h>

#include "fairmix/rate/fmx-rate-sender.h"
#include "fuzz.h"

#define N_SSRCS 4u
#define N_CLASSES 5u
#define MS FMX_MSECOND

static FmxRateSender sender;
static uint16_t next_seq[N_SSRCS];

static FmxRateSenderParams
choose_params (Fuzz * fuzz)
{
  FmxRateSenderParams params;
  uint32_t choice = fuzz_u8 (fuzz);

  fmx_rate_sender_params_default (&params);
  params.klass = fmx_rate_classes[choice % N_CLASSES];
  params.segment_bytes = (choice & 0x04) != 0 ? 0 : 1460;
  params.min_bps = (choice & 0x08) != 0 ? 1 : 20000;
  params.max_bps = (choice & 0x10) != 0 ? 100000 : 1000000000;
  params.loss_limit = (choice & 0x20) != 0 ? 0.01 : 0.0;
  params.circuit_breaker = (choice & 0x40) == 0;
  params.decision_interval_rtts = (choice & 0x80) != 0 ? 1.0 : 7.0;
  params.max_hold = (choice & 0x81) == 0x81 ? 0 : FMX_SECOND;
  return params;
}

static void
check_invariants (FmxTime now)
{
  uint64_t target = fmx_rate_sender_target_bps (&sender);
  FmxRateSenderStats stats;

  fmx_rate_sender_get_stats (&sender, &stats, now);
  CHECK (target == 0 || (target >= sender.params.min_bps
          && target <= sender.params.max_bps));
  CHECK (fmx_rate_sender_may_send (&sender) == (target > 0
          && !fmx_rate_hold_is_on (&sender.controller.hold)));
  CHECK (!fmx_rate_hold_is_on (&sender.controller.hold)
      || sender.params.max_hold > 0);
  CHECK (stats.target_bps == target);
  CHECK ((target > 0) == (stats.state == FMX_RATE_SENDER_STARTING
          || stats.state == FMX_RATE_SENDER_SENDING));
  CHECK (stats.loss_event_rate >= 0.0 && stats.loss_event_rate <= 1.0);
  CHECK (stats.loss_fraction >= 0.0 && stats.loss_fraction <= 1.0);
  CHECK (stats.loss_limit > 0.0 && stats.loss_limit <= 1.0);
  CHECK (stats.equation_bps >= 0.0 && isfinite (stats.equation_bps));
  CHECK (stats.receive_bps >= 0.0 && isfinite (stats.receive_bps));
  CHECK (stats.rtt >= 0 && stats.rtt <= FMX_RTT_MAX);
  CHECK (stats.rtt_min <= FMX_RTT_MAX && stats.rto > 0);
  CHECK (stats.n_streams <= FMX_STREAM_TABLE_STREAMS);
  CHECK (sender.params.klass != &fmx_rate_shortq
      || isfinite (sender.controller.state.shortq.queue.level_s));
  if (stats.feedback != FMX_RATE_SENDER_FEEDBACK_REPORT_BLOCKS)
    CHECK (stats.n_acked + stats.n_lost + stats.n_forgotten <= stats.n_sent
        || sender.report.number > 0);
  CHECK (fmx_sent_history_n_undecided (&sender.history)
      <= FMX_SENT_HISTORY_PACKETS);
}

static void
send_packets (Fuzz * fuzz, FmxTime * now)
{
  uint32_t what = fuzz_u8 (fuzz);
  uint32_t which = what % N_SSRCS;

  if (what == 0xff) {           /* whatever the caller makes up */
    uint32_t ssrc = fuzz_u32 (fuzz);
    uint16_t seq = (uint16_t) fuzz_u16 (fuzz);

    fmx_rate_sender_on_sent (&sender, ssrc, seq, fuzz_u16 (fuzz), *now);
    return;
  }
  for (uint32_t i = 0; i <= what / N_SSRCS; i++, *now += 5 * MS)
    fmx_rate_sender_on_sent (&sender, which, next_seq[which]++, 200, *now);
}

static void
send_feedback (Fuzz * fuzz, FmxTime now)
{
  FmxCcfbMetric metrics[64];
  uint32_t ssrc = fuzz_u8 (fuzz) % (N_SSRCS + 1);
  uint16_t seq = (uint16_t) (next_seq[ssrc % N_SSRCS] - fuzz_u8 (fuzz));
  uint32_t n = fuzz_u8 (fuzz) % 64, pattern = fuzz_u8 (fuzz);

  for (uint32_t i = 0; i < n; i++) {
    metrics[i].ssrc = ssrc;
    metrics[i].seq = (uint16_t) (seq + i);
    metrics[i].received = (pattern >> i % 8 & 1) != 0;
    metrics[i].ecn = (uint8_t) ((pattern & 0xf0) == 0xf0 ? 3 : 0);
    metrics[i].arrival_offset = pattern == 0xaa ? FMX_CCFB_ATO_UNKNOWN
        : (FmxDuration) (n - i) * MS;
  }
  fmx_rate_sender_on_metrics (&sender, metrics, n, fuzz_u16 (fuzz) << 8, now);
}

static void
send_bytes (Fuzz * fuzz, FmxTime now)
{
  size_t n = fuzz_u8 (fuzz);

  if (n > fuzz->size - fuzz->offset)
    n = fuzz->size - fuzz->offset;
  (void) fmx_rate_sender_on_ccfb (&sender, fuzz->data + fuzz->offset, n, now);
  fuzz->offset += n;
}

static void
send_report_block (Fuzz * fuzz, FmxTime now)
{
  FmxReportBlock block;

  memset (&block, 0, sizeof block);
  block.ssrc = fuzz_u8 (fuzz) % (N_SSRCS + 1);
  block.fraction_lost = (uint8_t) fuzz_u8 (fuzz);
  block.cumulative_lost = (int32_t) fuzz_u16 (fuzz) - 100;
  block.ext_highest_seq = fuzz_u32 (fuzz);
  block.lsr = fuzz_u32 (fuzz);
  block.dlsr = fuzz_u16 (fuzz);
  fmx_rate_sender_on_report_block (&sender, &block, fuzz_u32 (fuzz), now);
}

static void
wait_and_wake (Fuzz * fuzz, FmxTime * now)
{
  uint32_t what = fuzz_u8 (fuzz);
  FmxTime until = *now + (FmxTime) (what < 0xf0 ? what * 4 * MS
      : (what - 0xefu) * 20 * (FmxTime) FMX_SECOND);
  int n = 0;

  while (fmx_rate_sender_next_timeout (&sender) <= until) {
    FmxTime next = fmx_rate_sender_next_timeout (&sender);

    *now = next > *now ? next : *now;
    fmx_rate_sender_on_timeout (&sender, *now);
    CHECK (fmx_rate_sender_next_timeout (&sender) > *now);
    if (fmx_rate_sender_take_probe (&sender, *now))
      fmx_rate_sender_on_sent (&sender, 0, next_seq[0]++, 68, *now);
    if (++n > 1000)
      break;                    /* enough of it */
  }
  *now = until;
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Fuzz fuzz = { data, size, 0 };
  FmxRateSenderParams params = choose_params (&fuzz);
  FmxTime now = 1000 * (FmxTime) FMX_SECOND;

  memset (next_seq, 0xff, sizeof next_seq);
  CHECK (fmx_rate_sender_params_are_valid (&params));
  fmx_rate_sender_init (&sender, &params, now);
  if (data != NULL && size % 2 == 1)
    fmx_rate_sender_set_wanted (&sender, 1e3 * (double) size, now);
  while (fuzz_more (&fuzz)) {
    switch (fuzz_u8 (&fuzz) % 8) {
      case 0:
      case 1:
        send_packets (&fuzz, &now);
        break;
      case 2:
      case 3:
        send_feedback (&fuzz, now);
        break;
      case 4:
        send_bytes (&fuzz, now);
        break;
      case 5:
        send_report_block (&fuzz, now);
        break;
      case 6:
        params = choose_params (&fuzz);
        fmx_rate_sender_set_params (&sender, &params, now);
        break;
      default:
        wait_and_wake (&fuzz, &now);
        break;
    }
    check_invariants (now);
  }
  return 0;
}
