#!/bin/bash
# Streams in layers to multicast groups: listeners behind narrow links hear the
# base, the others as many layers more as the routers on their way have room for.
#
#   examples/launch/layered-sender.sh [FILE|mic|test|mix:PORT]
#                                     [GROUP:PORT] [HOST:PORT,...]
#
# FILE        anything that GStreamer plays; mic: the microphone; test: a tone on
#             the left, another on the right.  Layers: both channels as one, up to
#             8 kHz; what makes it stereo; what is above 8 kHz
# mix:PORT    the talkers (sender.sh) that send to our port block PORT.  Layers: the
#             mix of all; the same talkers, as many of them apart as have room
# GROUP:PORT  of the base: RTP to PORT, RTCP to PORT+1   (239.1.2.0:5004).  Each
#             further layer: the next address, the next even port
# HOST:PORT   with mix: the talkers' own port blocks     (127.0.0.1:10000)
#
# BITRATE=256000 is the most that all layers have together, in bits per second on
# the wire.  INTERFACE=eth0 names the interface, TTL=8 how many routers it may cross.
# ALERT=1: its requests carry IP's router-alert option, for routers that wait for it.
# FLAGS=-m shows each decision.
# You will hear nothing here: start layered-router.sh and layered-receiver.sh.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
from=${1:-test}
group=${2:-239.1.2.0:5004}
IFS=, read -r -a peers <<<"${3:-127.0.0.1:10000}"
check_number BITRATE "${BITRATE:=256000}" 16000 10000000
check_number TTL "${TTL:=8}" 0 255
check_number ALERT "${ALERT:=0}" 0 1
[ "$ALERT" != 0 ] || ALERT=
check_layers "$group" 3
udp=(ttl-mc="$TTL" ${INTERFACE:+multicast-iface="$INTERFACE"} sync=false async=false)

# shellcheck disable=SC2054  # commas of caps, here and below
case $from in
mic) source=(autoaudiosrc ! audioconvert) ;;
test)
  source=(audiotestsrc is-live=true freq=330 volume=0.2 ! audiopanorama panorama=-1
    ! both. audiotestsrc is-live=true freq=440 volume=0.2
    ! audiopanorama panorama=1 ! both. audiomixer name=both ! audioconvert)
  ;;
mix:*) check_block "${from#mix:}" 0 1 ;;
*)
  check_file "FILE, mic, test or mix:PORT" "$from"
  source=(filesrc location="$(quoted "$from")" ! decodebin ! audioconvert)
  ;;
esac

# encode LAYER NAME BANDWIDTH LEFT RIGHT WORD...: what makes a layer of the sound.
# All have one SSRC and the same timestamps (RFC 3550 8.3), by which a receiver joins
# them.
ssrc=$((RANDOM * 65536 + RANDOM * 2 + 1))
encode () {
  # shellcheck disable=SC2054
  media+=(sound. ! queue ! audioconvert mix-matrix="<<(float)$4,(float)$5>>"
    ! audio/x-raw,channels=1 "${@:6}" ! opusenc name="$2" bandwidth="$3"
    ! rtpopuspay pt=96 ssrc="$ssrc" timestamp-offset="$ssrc" ! clocksync
    ! "als.sink_$1")
}

session=0
encoders='' limits=''
if [ "${from#mix:}" = "$from" ]; then
  check_elements alsrtcp
  encoders=middle,side,air
  # Less than 20 kbit/s is headers, more than this nobody hears
  limits=0-64000,20000-64000,20000-40000
  # shellcheck disable=SC2054
  media=("${source[@]}" ! audioresample ! audio/x-raw,rate=48000,channels=2
    ! tee name=sound)
  encode 0 middle wideband 0.5 0.5
  encode 1 side auto 0.5 -0.5
  encode 2 air auto 0.5 0.5 ! audioconvert \
    ! audiowsinclimit mode=high-pass cutoff=8000 length=101 ! audioconvert
else
  session=1
  check_elements alsrtcp partialmix rtpccfb
  # A mix has all that it can use with 64 kbit/s; to hear two apart takes 80
  limits=0-64000,80000-10000000
  take_talkers "${from#mix:}" "${peers[@]}"
  media=("${talkers[@]}" src_1::max-streams=1
    mix.src_1 ! "$OPUS" ! als.sink_0
    mix.src_2 ! "$OPUS" ! als.sink_1)
fi
# Rates are what routers say (increase=0): speech gains nothing by trying for more.
layers=(als.src_0 ! out.send_rtp_sink_0 out.send_rtp_src_0
  ! udpsink host="$(layer_host "$group" 0)" port="$(port "$group")" "${udp[@]}")
for layer in 1 ${encoders:+2}; do
  layers+=("als.src_$layer" ! udpsink host="$(layer_host "$group" "$layer")"
    port="$(port "$group" $((2 * layer)))" "${udp[@]}")
done

# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  alsrtcp name=als rtpbin=out address="$(layer_host "$group" 0)" \
    port="$(port "$group")" initial-bitrate=32000 max-bitrate="$BITRATE" \
    increase=0 layer-limits="$limits" ${encoders:+encoders="$encoders"} \
    ${ALERT:+alert-sink=requests} \
  "${media[@]}" "${layers[@]}" \
  rtpbin name=out rtp-profile=avpf rtcp-sync-send-time=false \
    "rtpsession$session::bandwidth=$BITRATE" \
    "rtpsession$session::rtcp-min-interval=1000000000" \
  out.send_rtcp_src_0 ! tee name=goodbye \
  ! udpsink name=requests host="$(layer_host "$group" 0)" \
    port="$(port "$group" 1)" "${udp[@]}" \
  "${NAP[@]}" \
  udpsrc address="$(layer_host "$group" 0)" port="$(port "$group" 1)" caps="$RTCP" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} ! als.rtcp_sink \
  als.rtcp_src ! out.recv_rtcp_sink_0
