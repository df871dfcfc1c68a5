#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# asmprtcp in real pipelines, in a peer's place (tests/experiments/README.md):
#
#   run.py --runner netns asmp-norm --peer asmprtcp=tests/peers/asmprtcp.sh
#
# asmprtcp.sh recv NEAR PORT; asmprtcp.sh send FAR PORT SECONDS LEAST_BPS MOST_BPS:
# Opus in packets of 20 ms whose size is what the target leaves.  RTP to PORT at FAR,
# its RTCP to PORT + 1, the receiver's to PORT + 3.
set -eu

role=$1 host=$2 port=$3
caps='application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96'
sink="udpsink host=$host sync=false async=false"
bin='rtpbin name=rtp rtp-profile=avpf rtpsession0::bandwidth=500000
  rtpsession0::rtcp-min-interval=1000000000'

if [ "$role" = recv ]; then
  # shellcheck disable=SC2086  # they are several words
  exec gst-launch-1.0 -q $bin \
    udpsrc port="$port" caps="$caps" \
    ! asmprtcp name=cc role=receiver rtpbin=rtp ! rtp.recv_rtp_sink_0 \
    rtp. ! rtpopusdepay ! fakesink async=false sync=false \
    udpsrc port=$((port + 1)) caps=application/x-rtcp ! cc.rtcp_sink \
    cc.rtcp_src ! rtp.recv_rtcp_sink_0 \
    rtp.send_rtcp_src_0 ! $sink port=$((port + 3))
fi
# shellcheck disable=SC2086
exec timeout -s INT "$4" gst-launch-1.0 -q $bin \
  audiotestsrc is-live=true wave=white-noise samplesperbuffer=960 \
  ! audio/x-raw,rate=48000,channels=2 \
  ! opusenc name=enc bitrate-type=cbr bandwidth=fullband ! rtpopuspay pt=96 \
  ! asmprtcp name=cc role=sender rtpbin=rtp encoder=enc min-bitrate=16000 \
    max-bitrate="$6" ! rtp.send_rtp_sink_0 \
  rtp.send_rtp_src_0 ! $sink port="$port" \
  rtp.send_rtcp_src_0 ! $sink port=$((port + 1)) \
  udpsrc port=$((port + 3)) caps=application/x-rtcp ! cc.rtcp_sink \
  cc.rtcp_src ! rtp.recv_rtcp_sink_0
