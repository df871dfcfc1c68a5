#!/bin/bash
# A plain RTP receiver whose jitter buffers follow the path by themselves:
# rtpbin with qmjitterbuffer, no mixer.
#
#   examples/launch/jitterbuffer.sh [PORT] [HOST:PORT] [auto|fake]
#
# PORT        our own port block                        (5000)
# HOST:PORT   the port block of the talker              (127.0.0.1:10000)
# auto        plays; fake: throws away
#
# FLAGS=-m shows each change of the delay (fairmix-playout-adaptation).
# Ports, IPv6: examples/launch/README.md

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
block=${1:-5000}
peer=${2:-127.0.0.1:10000}
case ${3:-auto} in
auto | fake) play_to "${3:-auto}" ;;
*) wrong "auto or fake, not '$3'" ;;
esac
check_block "$block" 0 1
check_peer "$peer"
address=$(any_address "$peer")
check_elements qmjitterbuffer rtpccfb

# qmrtpbin has no pads: it answers the signal request-jitterbuffer of the
# rtpbin that it names, and sets what its property jitterbuffer says: here that
# it plays nothing later than half a second.  It drops nothing to shorten the delay,
# because qmstretch says that it makes room.
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 $FLAGS \
  rtpbin name=in rtcp-sync=initial \
  qmrtpbin rtpbin=in jitterbuffer="jitterbuffer,max-delay=500" \
  udpsrc address="$address" port="$block" caps="$RTP" ! rtpccfb name=feedback \
  ! in.recv_rtp_sink_0 \
  udpsrc address="$address" port=$((block + 1)) caps=$RTCP ! in.recv_rtcp_sink_0 \
  in.send_rtcp_src_0 ! reports. feedback.rtcp_src ! reports. \
  funnel name=reports \
  ! udpsink host="$(host "$peer")" port="$(port "$peer" 2)" sync=false async=false \
  in. ! rtpopusdepay ! opusdec plc=true ! qmstretch ! audioconvert ! "${sink[@]}"
