#!/bin/bash
# Streams to a multicast group, at the rate that is fair to TCP on the path of its
# slowest listener: a sound file, the microphone, or a partial mix of talkers.
#
#   examples/launch/multicast-sender.sh [FILE|mic|test|noise|mix:PORT]
#                                       [GROUP:PORT] [HOST:PORT,...]
#
# FILE        anything that GStreamer plays; mic: the microphone; test: ticks;
#             noise: what takes all of the rate
# mix:PORT    the talkers (sender.sh) that send to our port block PORT: as many of
#             them separate as the rate carries, the rest as one mix
# GROUP:PORT  RTP goes to PORT, RTCP to PORT+1           (239.1.2.3:5004)
# HOST:PORT   with mix: the talkers' own port blocks     (127.0.0.1:10000)
#
# BITRATE=128000 is the most that is sent, in bits per second on the wire.
# INTERFACE=eth0 names the interface, TTL=8 how many routers it may cross.
# FLAGS=-m shows each decision, and which listener it was for.
# You will hear nothing here: start multicast-receiver.sh, as often as you like.
# Any other RTP receiver may listen in.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
from=${1:-test}
group=${2:-239.1.2.3:5004}
IFS=, read -r -a peers <<<"${3:-127.0.0.1:10000}"
check_number BITRATE "${BITRATE:=128000}" 16000 10000000
check_number TTL "${TTL:=8}" 0 255
check_group "$group"
udp=(host="$(host "$group")" ttl-mc="$TTL" ${INTERFACE:+multicast-iface="$INTERFACE"})

case $from in
mic) source=(autoaudiosrc) ;;
test) source=(audiotestsrc is-live=true wave=ticks) ;;
noise) source=(audiotestsrc is-live=true wave=pink-noise) ;;
mix:*) check_block "${from#mix:}" 0 1 ;;
*)
  check_file "FILE, mic, test, noise or mix:PORT" "$from"
  source=(filesrc location="$(quoted "$from")" ! decodebin)
  ;;
esac

# What goes to the group: one encoder that the rate drives, or partialmix, which
# obeys it by itself.  Talkers are answered as in receiver.sh; the group is another
# neighbour of the mixer, src_1.
session=0
if [ "${from#mix:}" = "$from" ]; then
  check_elements asmprtcp
  # shellcheck disable=SC2054  # commas of caps
  media=("${source[@]}" ! audioconvert ! audioresample
    ! audio/x-raw,rate=48000,channels=1
    ! opusenc name=encoder audio-type=voice ! rtpopuspay pt=96 ! clocksync)
else
  session=1
  check_elements asmprtcp partialmix rtpccfb
  take_talkers "${from#mix:}" "${peers[@]}"
  media=("${talkers[@]}" mix.src_1 ! "$OPUS")
fi

# AVPF: a listener reports a loss at once, within its share of the session's
# bandwidth (RFC 4585).
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  "${media[@]}" \
  ! asmprtcp name=rate role=sender rtpbin=out ${source:+encoder=encoder} \
    initial-bitrate=64000 max-bitrate="$BITRATE" \
  ! out.send_rtp_sink_0 \
  rtpbin name=out rtp-profile=avpf rtcp-sync-send-time=false \
    "rtpsession$session::bandwidth=$BITRATE" \
    "rtpsession$session::rtcp-min-interval=1000000000" \
  out.send_rtp_src_0 \
  ! udpsink "${udp[@]}" port="$(port "$group")" sync=false async=false \
  out.send_rtcp_src_0 ! tee name=goodbye \
  ! udpsink "${udp[@]}" port="$(port "$group" 1)" sync=false async=false \
  "${NAP[@]}" \
  udpsrc address="$(host "$group")" port="$(port "$group" 1)" caps="$RTCP" \
    ${INTERFACE:+multicast-iface="$INTERFACE"} ! rate.rtcp_sink \
  rate.rtcp_src ! out.recv_rtcp_sink_0
