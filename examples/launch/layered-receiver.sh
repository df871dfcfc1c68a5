#!/bin/bash
# Listens to as many layers of layered-sender.sh as this path carries.
#
#   examples/launch/layered-receiver.sh [GROUP:PORT] [auto|fake|FILE.wav[+auto]]
#                                       [sound|talkers]
#
# GROUP:PORT  as given to layered-sender.sh              (239.1.2.0:5004)
# auto        plays; fake: throws away; FILE.wav: writes, FILE.wav+auto: both
# sound       the sender plays a file or a microphone; talkers: it has mix:PORT
#             (sound)
#
# BITRATE=256000 is the most that is sent, the same for all of the group: RTCP of
# all together takes a twentieth of it.  INTERFACE=eth0 names the interface,
# TTL=8 how many routers reports may cross.  LATENCY=60 (ms) is how late a packet
# may be.  FLAGS=-m shows which layers are held.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
group=${1:-239.1.2.0:5004}
check_layers "$group" 3
play_to "${2:-auto}"
check_number BITRATE "${BITRATE:=256000}" 16000 10000000
check_number TTL "${TTL:=8}" 0 255
check_number LATENCY "${LATENCY:=60}" 0 10000
listen=(caps="$RTP" ${INTERFACE:+multicast-iface="$INTERFACE"})

# shellcheck disable=SC2054  # commas of caps
case ${3:-sound} in
sound)
  check_elements alsrtcp alslayers
  # Each layer through a jitter buffer and a decoder of its own; alslayers makes
  # them meet to the sample, so audiomixer is to forgive nothing.
  # left = middle + side, right = middle - side.
  n=3
  stereo=audio/x-raw,rate=48000,channels=2
  join=(alslayers name=join
    base.recv_rtp_src ! rtpjitterbuffer latency="$LATENCY" ! join.sink_0
    audiomixer name=sum alignment-threshold=1000000 discont-wait=0
    ! "$stereo" ! queue ! audioconvert ! "${sink[@]}")
  matrix=('<<(float)1>,<(float)1>>' '<<(float)1>,<(float)-1>>' '<<(float)1>,<(float)1>>')
  for layer in 0 1 2; do
    join+=("join.src_$layer" ! rtpopusdepay ! opusdec
      ! audio/x-raw,rate=48000,channels=1
      ! audioconvert mix-matrix="${matrix[layer]}" ! "$stereo" ! queue ! sum.)
  done
  to=(! rtpjitterbuffer latency="$LATENCY")
  rtcp=(! base.recv_rtcp_sink)
  ;;
talkers)
  check_elements alsrtcp alslayers partialmix
  # Either layer holds all talkers: the upper one is played if it comes.
  n=2
  join=(alslayers name=join mode=switch
    rtpbin name=in latency=20 max-ts-offset=1
    base.recv_rtp_src ! join.sink_0
    join.src_0 ! in.recv_rtp_sink_0 join.src_1 ! in.recv_rtp_sink_1
    partialmix name=mix rtpbin=in latency="${LATENCY}000000"
    mix.src_2 ! audio/x-raw,rate=48000,channels=2 ! queue ! audioconvert ! "${sink[@]}")
  to=()
  # Before anybody has spoken, the end of RTCP is the mixer's end.
  rtcp=(! tee name=said ! base.recv_rtcp_sink said. ! mix.rtcp_sink_0)
  ;;
*) wrong "sound or talkers, not '$3'" ;;
esac
upper=() sources=
for ((layer = 1; layer < n; layer++)); do
  sources=${sources:+$sources,}layer$layer
  upper+=(udpsrc name="layer$layer" address="$(layer_host "$group" "$layer")"
    port="$(port "$group" $((2 * layer)))" "${listen[@]}" "${to[@]}"
    ! "join.sink_$layer")
done

# Reports go to the group, and once more to PORT-1, where a layered-router.sh takes
# them back to the sender.
udp=(host="$(layer_host "$group" 0)" ttl-mc="$TTL" sync=false async=false
  ${INTERFACE:+multicast-iface="$INTERFACE"})
# In this order: rtpsession must have its sink pad before its src pad is linked.
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  rtpsession name=base rtp-profile=avpf bandwidth="$BITRATE" \
    rtcp-min-interval=1000000000 \
  alsrtcp name=als role=receiver rtpbin=base sources="$sources" \
    address="$(layer_host "$group" 0)" port="$(port "$group")" \
  udpsrc address="$(layer_host "$group" 0)" port="$(port "$group")" "${listen[@]}" \
  ! base.recv_rtp_sink \
  "${join[@]}" "${upper[@]}" \
  udpsrc address="$(layer_host "$group" 0)" port="$(port "$group" 1)" caps="$RTCP" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} ! als.rtcp_sink \
  als.rtcp_src "${rtcp[@]}" \
  base.send_rtcp_src ! tee name=reports \
  reports. ! udpsink port="$(port "$group" 1)" "${udp[@]}" \
  reports. ! udpsink port="$(port "$group" -1)" "${udp[@]}"
