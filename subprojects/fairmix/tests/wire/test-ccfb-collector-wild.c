/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fmx-test-ccfb.h"

#include "fairmix/base/fmx-rng.h"

static Receiver receiver;

/* What of a wild network has been told: arrivals by SSRC and sequence number. */
#define WILD_STREAMS 20u

typedef struct
{
  double gap, jump, held, twice;        /* how likely each is, for a packet */
  FmxDuration repeat_interval;
} Wild;

static struct
{
  uint16_t next[WILD_STREAMS];
  uint8_t untold[WILD_STREAMS][65536];
  uint8_t told[WILD_STREAMS][65536];
  struct
  {
    bool there;
    uint32_t stream;
    uint16_t seq;
  } held[16];
} wild;

static void
wild_arrive (uint32_t stream, uint16_t seq, FmxTime now)
{
  if (wild.told[stream][seq] == 0)
    wild.untold[stream][seq] = 1;
  arrive (&receiver, stream, seq, 200, now);
}

static void
wild_report (FmxTime now, bool once)
{
  uint8_t data[MTU];
  size_t length;

  while ((length = fmx_ccfb_collector_write (&receiver.collector, data,
              sizeof data, 0, now)) > 0) {
    FmxCcfbReader reader;
    FmxCcfbMetric metric;

    assert_true (fmx_ccfb_reader_init_packet (&reader, data, length, NULL));
    while (fmx_ccfb_reader_next (&reader, &metric)) {
      if (!metric.received)
        continue;
      assert_true (metric.ssrc < WILD_STREAMS);
      assert_true (wild.untold[metric.ssrc][metric.seq]
          || wild.told[metric.ssrc][metric.seq]);
      if (once)
        assert_int_equal (wild.told[metric.ssrc][metric.seq], 0);
      wild.untold[metric.ssrc][metric.seq] = 0;
      wild.told[metric.ssrc][metric.seq] = 1;
    }
  }
}

/* Half the numbers away from @seq they may be used again. */
static void
wild_forget (uint32_t stream, uint16_t seq)
{
  uint16_t old = (uint16_t) (seq + 32768);

  assert_int_equal (wild.untold[stream][old], 0);
  wild.told[stream][old] = 0;
}

static void
wild_send (const Wild *load, FmxRng *rng, FmxTime now)
{
  uint32_t stream = fmx_rng_next (rng) % WILD_STREAMS;
  uint32_t slot = fmx_rng_next (rng) % N_ELEMENTS (wild.held);
  double dice = fmx_rng_next_unit (rng);
  uint16_t skip = 0;

  if (dice < load->jump)
    skip = (uint16_t) (600 + fmx_rng_next (rng) % 8000);
  else if (dice < load->jump + load->gap)
    skip = (uint16_t) (1 + fmx_rng_next (rng) % (dice < load->jump
            + load->gap / 10 ? 100 : 4));
  for (; skip > 0; skip--)
    wild_forget (stream, ++wild.next[stream]);
  wild_forget (stream, ++wild.next[stream]);

  if (fmx_rng_next_unit (rng) < load->held && !wild.held[slot].there) {
    wild.held[slot].there = true;
    wild.held[slot].stream = stream;
    wild.held[slot].seq = wild.next[stream];
  } else {
    wild_arrive (stream, wild.next[stream], now);
  }
  if (fmx_rng_next_unit (rng) < load->twice)
    wild_arrive (stream, wild.next[stream], now);
  slot = fmx_rng_next (rng) % N_ELEMENTS (wild.held);
  if (wild.held[slot].there && dice > 0.5) {
    wild.held[slot].there = false;
    wild_arrive (wild.held[slot].stream, wild.held[slot].seq, now);
  }
}

static void
run_wild (const Wild *load, uint64_t seed)
{
  FmxCcfbCollectorParams params;
  FmxTime now = START, due;
  FmxRng rng;

  fmx_rng_init (&rng, seed);
  fmx_ccfb_collector_params_default (&params);
  params.repeat_interval = load->repeat_interval;
  receiver_init (&receiver, &params);
  memset (&wild, 0, sizeof wild);
  for (uint32_t i = 0; i < WILD_STREAMS; i++)
    wild.next[i] = (uint16_t) fmx_rng_next (&rng);
  for (unsigned n = 0; n < 200000; n++) {
    now += fmx_rng_next (&rng) % (2 * FMX_MSECOND);
    while ((due = fmx_ccfb_collector_next_timeout (&receiver.collector)) <= now)
      wild_report (due, load->held + load->twice + load->repeat_interval == 0);
    wild_send (load, &rng, now);
  }
  while ((due = fmx_ccfb_collector_next_timeout (&receiver.collector))
      != FMX_TIME_NONE)
    wild_report (due, false);
  for (uint32_t i = 0; i < WILD_STREAMS; i++)
    for (uint32_t seq = 0; seq < 65536; seq++)
      if (wild.untold[i][seq])
        fail_msg ("seed %u: packet %u of stream %u was never told of",
            (unsigned) seed, seq, i);
}

/* Whatever is lost, late, doubled or wrapped, in whatever order: each arrival is
 * told, and once only where nothing is late or said twice on purpose. */
static void
test_every_arrival_is_told_on_any_network (void **state)
{
  static const Wild loads[] = {
    {0.0, 0.0, 0.0, 0.0, 0},
    {0.1, 0.0, 0.0, 0.0, 0},
    {0.1, 0.0, 0.05, 0.02, 0},
    {0.1, 0.0, 0.05, 0.02, 100 * FMX_MSECOND},
    {0.02, 0.001, 0.0, 0.0, 0},
  };

  (void) state;
  for (uint64_t i = 0; i < 2 * N_ELEMENTS (loads); i++)
    run_wild (&loads[i / 2], i);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_every_arrival_is_told_on_any_network),
  };

  return cmocka_run_group_tests_name ("wire/ccfb-collector-wild", tests, NULL, NULL);
}
