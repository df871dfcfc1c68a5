#!/bin/bash
# Listens to a multicast group, and tells the sender what this path carries.
#
#   examples/launch/multicast-receiver.sh [GROUP:PORT] [auto|fake|FILE.wav[+auto]]
#
# GROUP:PORT  as given to multicast-sender.sh            (239.1.2.3:5004)
# auto        plays; fake: throws away; FILE.wav: writes, FILE.wav+auto: both
#
# BITRATE=128000 is the most that is sent, the same for all of the group: RTCP of
# all together takes a twentieth of it.  INTERFACE=eth0 names the interface,
# TTL=8 how many routers reports may cross.  LATENCY=20 (ms) is how late a packet
# may be before its talker's delay grows.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 2 "$@"
group=${1:-239.1.2.3:5004}
check_group "$group"
play_to "${2:-auto}"
check_number BITRATE "${BITRATE:=128000}" 16000 10000000
check_number TTL "${TTL:=8}" 0 255
check_number LATENCY "${LATENCY:=20}" 0 10000
check_elements asmprtcp partialmix
address=$(host "$group")

# partialmix takes every stream that the rtpbin shows, one voice or a partial mix.
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  rtpbin name=in latency=20 max-ts-offset=1 rtp-profile=avpf \
    rtpsession0::bandwidth="$BITRATE" rtpsession0::rtcp-min-interval=1000000000 \
  udpsrc address="$address" port="$(port "$group")" caps="$RTP" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} \
  ! asmprtcp name=rate role=receiver rtpbin=in ! in.recv_rtp_sink_0 \
  udpsrc address="$address" port="$(port "$group" 1)" caps="$RTCP" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} ! rate.rtcp_sink \
  rate.rtcp_src ! tee name=said ! in.recv_rtcp_sink_0 said. ! mix.rtcp_sink_0 \
  in.send_rtcp_src_0 \
  ! udpsink host="$address" port="$(port "$group" 1)" ttl-mc="$TTL" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} sync=false async=false \
  partialmix name=mix rtpbin=in latency="${LATENCY}000000" \
  mix.src_1 ! audio/x-raw,rate=48000,channels=2 ! queue ! audioconvert ! "${sink[@]}"
