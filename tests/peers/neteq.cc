/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speech over a trace, heard through libwebrtc's NetEQ in virtual time: what
 * jitter-speech is for our elements.
 *
 *   neteq SPEECH TRACE HEARD
 *
 * SPEECH and TRACE as of jitter-speech; HEARD is 48 kHz, 16 bits.  Prints the share of
 * the time that NetEQ made up.  Debian 12's libtgowt-dev has a libwebrtc with NetEQ in it
 * (2023); in this folder, with libtgowt-dev, libabsl-dev and libopus-dev:
 *
 *   (cd ../.. && gcc -c -Isubprojects/fairmix tests/experiments/jitter/{trace,synth}.c \
 *      subprojects/fairmix/fairmix/base/fmx-rng.c)
 *   g++ -std=c++20 -O2 -w -DWEBRTC_POSIX -DWEBRTC_LINUX -ffunction-sections \
 *      -I/usr/include/tg_owt -I../../subprojects/fairmix -I../experiments/jitter \
 *      -Wl,--gc-sections -o neteq neteq.cc ../../{trace,synth,fmx-rng}.o \
 *      -Wl,--start-group -ltg_owt /usr/lib/x86_64-linux-gnu/libabsl_*.a -Wl,--end-group \
 *      -lopus -lz */
#include <opus/opus.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "api/audio/audio_frame.h"
#include "api/audio_codecs/audio_decoder_factory_template.h"
#include "api/audio_codecs/opus/audio_decoder_opus.h"
#include "api/neteq/neteq.h"
#include "api/rtp_headers.h"
#include "modules/audio_coding/neteq/default_neteq_factory.h"
#include "system_wrappers/include/clock.h"

extern "C"
{
#include "synth.h"
}

static const int kRate = 16000, kPacketSamples = 320, kPayloadType = 96;
static const FmxDuration kPacket = 20 * FMX_MSECOND, kPull = 10 * FMX_MSECOND;
static const FmxDuration kTail = 5 * FMX_SECOND;

static std::vector<opus_int16> read_all (const char *path)
{
  std::vector<opus_int16> samples;
  FILE *file = fopen (path, "rb");
  opus_int16 some[4096];

  for (size_t n; file && (n = fread (some, 2, 4096, file)) > 0;)
    samples.insert (samples.end (), some, some + n);
  if (file)
    fclose (file);
  return samples;
}

int main (int argc, char **argv)
{
  Trace trace;
  std::vector<opus_int16> speech;

  if (argc != 4 || (speech = read_all (argv[1])).empty ()
      || !trace_open (&trace, argv[2])) {
    fprintf (stderr, "usage: %s SPEECH TRACE HEARD\n", argv[0]);
    return 2;
  }
  trace_resample (&trace, kPacket);
  size_t n = std::min (trace.n_packets, speech.size () / kPacketSamples);
  OpusEncoder *encoder =
      opus_encoder_create (kRate, 1, OPUS_APPLICATION_VOIP, nullptr);
  opus_encoder_ctl (encoder, OPUS_SET_BITRATE (32000));
  opus_encoder_ctl (encoder, OPUS_SET_VBR (0));
  opus_encoder_ctl (encoder, OPUS_SET_COMPLEXITY (10));

  webrtc::SimulatedClock clock (0);
  webrtc::NetEq::Config config;
  config.sample_rate_hz = 48000;
  auto neteq = webrtc::DefaultNetEqFactory ().CreateNetEq (config,
      webrtc::CreateAudioDecoderFactory<webrtc::AudioDecoderOpus> (), &clock);
  neteq->RegisterPayloadType (kPayloadType, {"opus", 48000, 2});

  FILE *heard = fopen (argv[3], "wb");
  size_t next = 0;
  uint64_t made_up = 0;
  FmxTime end = n * kPacket + kTail;
  for (FmxTime now = 0; now < end; now += kPull) {
    for (; next < n && (trace.packets[next].arrival == FMX_TIME_NONE
            || trace.packets[next].arrival <= now); next++) {
      unsigned char payload[1500];
      int size = opus_encode (encoder, &speech[next * kPacketSamples],
          kPacketSamples, payload, sizeof payload);
      webrtc::RTPHeader header;

      if (trace.packets[next].arrival == FMX_TIME_NONE)
        continue;
      clock.AdvanceTimeMicroseconds (std::max<int64_t> (0,
              (int64_t) trace.packets[next].arrival / 1000
              - clock.TimeInMicroseconds ()));
      header.sequenceNumber = (uint16_t) next;
      header.timestamp = (uint32_t) (next * 960);
      header.payloadType = kPayloadType;
      header.ssrc = 0x6a697474;
      neteq->InsertPacket (header,
          rtc::ArrayView<const uint8_t> (payload, (size_t) size));
    }
    clock.AdvanceTimeMicroseconds (std::max<int64_t> (0,
            (int64_t) now / 1000 - clock.TimeInMicroseconds ()));
    if (now <= n * kPacket)
      made_up = neteq->GetLifetimeStatistics ().concealed_samples;
    webrtc::AudioFrame frame;
    bool muted;
    neteq->GetAudio (&frame, &muted);
    std::vector<int16_t> mono (480);
    for (size_t k = 0; k < 480 && !frame.muted (); k++) {
      size_t at = k * frame.samples_per_channel_ / 480;
      mono[k] = frame.data ()[at * frame.num_channels_];
    }
    fwrite (mono.data (), 2, mono.size (), heard);
  }
  fclose (heard);
  printf ("%.5f\n", (double) made_up / (48e-6 * (double) (n * kPacket)));
  return 0;
}
