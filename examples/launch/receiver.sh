#!/bin/sh
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
# DATABASE=FILE names a file that places the talkers; without it they are
# spread evenly.  LATENCY=20 (ms) is how late a packet may be before its talker's
# delay grows; with 80 short queues on the way are not heard.
# Ports: examples/launch/README.md

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

local=${1:-5000}
peers=${2:-127.0.0.1:10000}
to=${3:-auto}

clients=
for peer in $(echo "$peers" | tr , ' '); do
  clients=$clients${clients:+,}$(host "$peer"):$(port "$peer" 2)
done

case $to in
auto) sink="autoaudiosink" ;;
fake) sink="fakesink" ;;
*) sink="audio/x-raw,format=S16LE ! tee name=both
  both. ! queue ! wavenc ! filesink location=${to%+auto} async=false"
  [ "$to" = "${to%+auto}" ] || sink="$sink both. ! queue ! autoaudiosink" ;;
esac

# rtpccfb acknowledges every packet (RFC 8888), beside rtpbin's own reports.
# The mixer takes every stream that the rtpbin shows, now or later, and evens out
# when they arrive; rtpbin waits for packets out of order alone (latency, in ms,
# which the sink adds) and shifts nothing (max-ts-offset, in ns).  They all come
# from neighbour 0 (session 0), so the listener must be another one: src_1.
# shellcheck disable=SC2086  # $sink and $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  rtpbin name=in latency=20 max-ts-offset=1 \
    rtpsession0::rtcp-min-interval=1000000000 \
  udpsrc port="$local" caps="$RTP" ! rtpccfb name=feedback ! in.recv_rtp_sink_0 \
  udpsrc port=$((local + 1)) caps=$RTCP ! tee name=said \
  ! in.recv_rtcp_sink_0 said. ! mix.rtcp_sink_0 \
  in.send_rtcp_src_0 ! reports. feedback.rtcp_src ! reports. \
  funnel name=reports \
  ! multiudpsink clients="$clients" sync=false async=false \
  partialmix name=mix rtpbin=in latency="${LATENCY:-20}000000" \
    ${DATABASE:+database-location="$DATABASE"} \
  mix.src_1 ! audio/x-raw,rate=48000,channels=2 ! queue ! audioconvert ! $sink
