/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ASMP's two ends in any order of packets, reports, rates, lies and timeouts: the
 * target is within its bounds, what is known of receivers fits into its memory, what a
 * receiver tells is a rate, and timers move on. */
#include <math.h>
#include <string.h>

#include "fairmix/asmp/fmx-asmp-sender.h"
#include "fuzz.h"

#define MEDIA 1u
#define N_MAX 8u                /* receivers that there is room for */
#define N_SSRCS 16u
#define N_RTTS 4u
#define OWN 3u
#define MS FMX_MSECOND

static FmxAsmpSender sender;
static FmxAsmpReceiver receiver;
static uint64_t memory[N_MAX * FMX_ASMP_BYTES_PER_RECEIVER / 8 + 1];
static uint16_t next_seq;
static uint32_t next_ts;

static FmxAsmpSenderParams
choose_params (Fuzz * fuzz)
{
  FmxAsmpSenderParams params;
  uint32_t choice = fuzz_u8 (fuzz);

  fmx_asmp_sender_params_default (&params);
  params.algorithm = choice & 1 ? FMX_ASMP_PAPER : FMX_ASMP_FAIR;
  params.min_bps = choice & 2 ? 1 : 16000;
  params.max_bps = choice & 4 ? 20000 : UINT32_MAX;
  params.patience = choice & 8 ? 0 : params.patience;
  return params;
}

static void
init_receiver (FmxAsmpAlgorithm algorithm, bool rounds)
{
  FmxAsmpReceiverParams params;

  fmx_asmp_receiver_params_default (&params);
  params.algorithm = algorithm;
  params.rounds = rounds;
  fmx_asmp_receiver_init (&receiver, &params, MEDIA);
}

/* As it comes from the network: what can be read is right. */
static FmxAsmpRate
read_rate (Fuzz * fuzz)
{
  uint8_t data[FMX_ASMP_RATE_BYTES] = { FMX_ASMP_APP_VERSION };
  FmxAsmpRate rate;

  data[1] = (uint8_t) fuzz_u8 (fuzz);
  data[7] = MEDIA;
  for (unsigned i = 8; i < sizeof data; i++)
    data[i] = (uint8_t) fuzz_u8 (fuzz);
  CHECK (fmx_asmp_rate_read (&rate, data, sizeof data));
  return rate;
}

static void
report_to_sender (Fuzz * fuzz, FmxTime now)
{
  uint32_t ssrc = fuzz_u8 (fuzz) % N_SSRCS, what = fuzz_u8 (fuzz);
  FmxReportBlock block;
  FmxAsmpRate rate;

  memset (&block, 0, sizeof block);
  block.ssrc = MEDIA;
  block.fraction_lost = (uint8_t) fuzz_u8 (fuzz);
  block.ext_highest_seq = fuzz_u8 (fuzz);
  block.lsr = fuzz_u16 (fuzz);
  block.dlsr = fuzz_u16 (fuzz);
  if (what & 1)
    fmx_asmp_sender_on_report (&sender, ssrc, &block, fuzz_u32 (fuzz), now);
  if (what & 2) {
    rate = read_rate (fuzz);
    fmx_asmp_sender_on_rate (&sender, ssrc, &rate, now);
  } else if (what & 4) {
    fmx_asmp_sender_on_here (&sender, ssrc, now);
  } else {
    fmx_asmp_sender_on_no_rate (&sender, ssrc);
  }
}

static void
tell_receiver (Fuzz * fuzz, FmxTime now)
{
  uint8_t data[FMX_ASMP_RTT_BYTES (N_RTTS)];
  FmxAsmpRttHeader header;
  FmxAsmpRtt rtts[N_RTTS];
  size_t size;

  fmx_asmp_sender_take_rtts (&sender, &header, rtts, N_RTTS, now);
  CHECK (header.n_rtts <= N_RTTS);
  for (unsigned i = 0; i < header.n_rtts; i++) {
    CHECK (rtts[i].rtt > 0);
    rtts[i].ssrc = fuzz_u8 (fuzz) & 1 ? OWN : rtts[i].ssrc;
  }
  size = fmx_asmp_rtt_write (&header, rtts, data, sizeof data);
  CHECK (size == FMX_ASMP_RTT_BYTES (header.n_rtts));
  CHECK (fmx_asmp_rtt_read (&header, data, size));
  fmx_asmp_receiver_on_rtt (&receiver, OWN, &header, data);
}

static void
send_packets (Fuzz * fuzz, FmxTime * now)
{
  uint32_t what = fuzz_u8 (fuzz), bytes = 40 + fuzz_u16 (fuzz) % 1461;

  if (what == 0xff) {           /* another stream under the same SSRC */
    next_seq = (uint16_t) fuzz_u16 (fuzz);
    next_ts = fuzz_u32 (fuzz);
  }
  for (uint32_t i = 0; i < what % 32; i++) {
    *now += 20 * MS;
    fmx_asmp_sender_on_sent (&sender, bytes, *now);
    if (i % 8 >= what / 32)     /* up to seven of eight are lost */
      fmx_asmp_receiver_on_packet (&receiver, next_seq, next_ts, bytes, *now);
    next_seq++;
    next_ts += 960;
  }
}

static void
report_of_receiver (Fuzz * fuzz, FmxTime now)
{
  uint32_t n_receivers = fuzz_u8 (fuzz);
  FmxAsmpRate rate;

  if (fmx_asmp_receiver_report (&receiver, &rate, now)) {
    CHECK (rate.media_ssrc == MEDIA);
    CHECK (rate.rtt >= 0 && rate.loss >= 0.0 && rate.loss <= 1.0);
    fmx_asmp_sender_on_rate (&sender, OWN, &rate, now);
  }
  fmx_asmp_receiver_schedule (&receiver, fuzz_u8 (fuzz) * 100 * MS,
      n_receivers, fuzz_u8 (fuzz) / 256.0, now);
}

static void
wait_and_wake (Fuzz * fuzz, FmxTime * now)
{
  *now += (FmxTime) (fuzz_u8 (fuzz) * 500 * MS);
  fmx_asmp_sender_on_timeout (&sender, *now);
  CHECK (fmx_asmp_sender_next_timeout (&sender) > *now);
  (void) fmx_asmp_receiver_on_timeout (&receiver, *now);
  CHECK (fmx_asmp_receiver_next_timeout (&receiver) > *now);
}

static void
check_invariants (FmxTime now)
{
  double target = fmx_asmp_sender_target_bps (&sender);
  FmxAsmpReceiverInfo infos[N_MAX + 1];
  FmxAsmpReceiverStats received;
  FmxAsmpSenderStats stats;

  fmx_asmp_sender_get_stats (&sender, &stats);
  CHECK (target >= sender.params.min_bps && target <= sender.params.max_bps);
  CHECK (stats.n_receivers <= N_MAX);
  CHECK (stats.n_plain + stats.n_ignored <= stats.n_receivers);
  CHECK (fmx_asmp_sender_get_receivers (&sender, infos, N_MAX + 1, now)
      == stats.n_receivers);
  fmx_asmp_receiver_get_stats (&receiver, &received, now);
  CHECK (isfinite (received.rate_bps) && received.rate_bps >= 0.0);
  CHECK (isfinite (received.received_bps) && received.received_bps >= 0.0);
  CHECK (received.loss >= 0.0 && received.loss <= 1.0);
  CHECK (received.rtt >= 0 && received.jitter >= 0);
}

static void
step (Fuzz * fuzz, FmxTime * now)
{
  FmxAsmpSenderParams params;
  FmxAsmpRate rate;

  switch (fuzz_u8 (fuzz) % 8) {
    case 0:
      report_to_sender (fuzz, *now);
      break;
    case 1:
      tell_receiver (fuzz, *now);
      break;
    case 2:
      report_of_receiver (fuzz, *now);
      break;
    case 3:
      rate = read_rate (fuzz);
      fmx_asmp_receiver_on_peer (&receiver, &rate, *now);
      break;
    case 4:
      fmx_asmp_receiver_on_sender_report (&receiver, fuzz_u32 (fuzz),
          (FmxTime) fuzz_u32 (fuzz) << 30, (FmxTime) fuzz_u32 (fuzz) << 30,
          *now);
      break;
    case 5:
      wait_and_wake (fuzz, now);
      break;
    case 6:
      if (fuzz_u8 (fuzz) % 2) {
        fmx_asmp_sender_on_bye (&sender, fuzz_u8 (fuzz) % N_SSRCS, *now);
      } else {
        params = choose_params (fuzz);
        params.algorithm = sender.params.algorithm;
        fmx_asmp_sender_set_params (&sender, &params, *now);
      }
      break;
    default:
      send_packets (fuzz, now);
      break;
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t * data, size_t size)
{
  Fuzz fuzz = { data, size, 0 };
  FmxAsmpSenderParams params = choose_params (&fuzz);
  FmxTime now = 1000 * (FmxTime) FMX_SECOND;

  next_seq = 65500;
  next_ts = UINT32_MAX - 5000;
  fmx_asmp_sender_init (&sender, &params, memory, N_MAX, 1);
  init_receiver (params.algorithm, fuzz_u8 (&fuzz) & 1);
  while (fuzz_more (&fuzz)) {
    step (&fuzz, &now);
    check_invariants (now);
  }
  return 0;
}
