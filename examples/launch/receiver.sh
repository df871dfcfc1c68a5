#!/bin/bash
# A listener: any number of talkers, each from its own place between left and
# right, through the loudspeakers or into a file.
#
#   examples/launch/receiver.sh [PORT] [HOST:PORT,...] [auto|fake|FILE.wav[+auto]]
#
# PORT        our own port block                        (5000)
# HOST:PORT   the port block of whoever sends to us     (127.0.0.1:10000);
#             several of them, with commas, where there is no mixer
# auto        plays; fake: throws away; FILE.wav: writes, FILE.wav+auto: both
#
# DATABASE=FILE names a file that places the talkers; without it each takes the
# next place that is free.  LATENCY=20 (ms) is how late a packet may be before its talker's
# delay grows; with 80 short queues on the way are not heard.  ALIGN=1, here and at the
# mixer: a voice that goes into a mix stays where it is; the others are as late as that.
# Ports, IPv6: examples/launch/README.md

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
block=${1:-5000}
IFS=, read -r -a peers <<<"${2:-127.0.0.1:10000}"

check_block "$block" 0 1
feedback=()
for peer in "${peers[@]}"; do
  check_peer "$peer"
  feedback+=(to. ! udpsink host="$(host "$peer")" port="$(port "$peer" 2)"
    sync=false async=false)
done
address=$(any_address "${peers[@]}")
play_to "${3:-auto}"
check_number LATENCY "${LATENCY:=20}" 0 10000
[ -z "${DATABASE-}" ] || check_file DATABASE "$DATABASE"
check_elements partialmix rtpccfb

# rtpccfb acknowledges every packet (RFC 8888), beside rtpbin's own reports.
# The mixer takes every stream that the rtpbin shows, now or later, and evens out
# when they arrive; so the rtpbin has no jitter buffers (latency counts for nothing)
# and shifts nothing (max-ts-offset, in ns).  They all come from neighbour 0
# (session 0), so the listener must be another one: src_1.
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  rtpbin name=in latency=20 max-ts-offset=1 \
    rtpsession0::rtcp-min-interval=1000000000 \
  udpsrc address="$address" port="$block" caps="$RTP" ! rtpccfb name=feedback \
  ! in.recv_rtp_sink_0 \
  udpsrc address="$address" port=$((block + 1)) caps=$RTCP ! tee name=said \
  ! in.recv_rtcp_sink_0 said. ! mix.rtcp_sink_0 \
  in.send_rtcp_src_0 ! reports. feedback.rtcp_src ! reports. \
  funnel name=reports ! tee name=to "${feedback[@]}" \
  partialmix name=mix rtpbin=in latency="${LATENCY}000000" align="$ALIGN" \
    ${DATABASE:+database-location="$(quoted "$DATABASE")"} \
  mix.src_1 ! audio/x-raw,rate=48000,channels=2 ! queue ! audioconvert ! "${sink[@]}"
