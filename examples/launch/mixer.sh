#!/bin/bash
# A partial mixer: takes what its neighbours send, and sends each of them what
# the others sent - as many streams untouched as the path to that neighbour
# has room for beside TCP, the rest as one mix.
#
#   examples/launch/mixer.sh [PORT] [from=|to=]HOST:PORT...
#
# PORT        our own port block for neighbour 0 (5000); neighbour n: PORT+10n
# HOST:PORT   a neighbour's port block: a talker, a listener, another mixer.
#             from=HOST:PORT only sends to us, to=HOST:PORT only listens.
#             (127.0.0.1:10000 and 127.0.0.1:10010)
#
# DATABASE=FILE: priorities, groups, gains.  LATENCY=20 (ms) is how late a
# packet may be that has to be mixed; it grows by itself where that is not
# enough.  ALGORITHM=shortq|dpm|dpm-literal|tfrc|gaimd (shortq) finds
# the rate.  ALIGN=1 where all who listen have ALIGN=1 (receiver.sh).
# Ports, IPv6: examples/launch/README.md

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

block=${1:-5000}
shift $(($# > 0))
[ $# -gt 0 ] || set -- 127.0.0.1:10000 127.0.0.1:10010
check_number LATENCY "${LATENCY:=20}" 0 10000
[ -z "${DATABASE-}" ] || check_file DATABASE "$DATABASE"
case ${ALGORITHM-} in
'' | shortq | fairmix | dpm | dpm-literal | tfrc | gaimd) ;;
*) wrong "ALGORITHM is shortq, dpm, dpm-literal, tfrc or gaimd, not $ALGORITHM" ;;
esac
check_number "our own port" "$block" 1 $((65533 - 10 * ($# - 1)))
for peer in "$@"; do
  peer=${peer#from=}
  check_peer "${peer#to=}"
done
peers=("$@")
peers=("${peers[@]#from=}")
address=$(any_address "${peers[@]#to=}")

# Two rtpbins: one for both ways would be a loop in the graph.  In each, session
# n is neighbour n's.  The mixer takes every stream that the rtpbin `in` shows,
# now or later, and knows from the session whose it is.  It also reads what
# talkers say of themselves in RTCP: their names, and when they leave.  Sender
# reports tell the media's time, not the moment of sending.  max-ts-offset (ns):
# no lip sync, nothing is shifted.
graph=()
in_options=() out_options=()
session=0               # GStreamer counts them as they are made, in both rtpbins
neighbour=0

receive_from () {       # NEIGHBOUR PORT PEER
  check_block "$2" 0 1
  in_options+=("rtpsession$session::rtcp-min-interval=1000000000")
  session=$((session + 1))
  # shellcheck disable=SC2054,SC2206  # words of a graph
  graph+=(
    udpsrc address="$address" port="$2" caps="$RTP" ! rtpccfb name="feedback$1"
    ! "in.recv_rtp_sink_$1"
    udpsrc address="$address" port=$(($2 + 1)) caps="$RTCP" ! tee name="said$1"
    ! "in.recv_rtcp_sink_$1" "said$1." ! "mix.rtcp_sink_$1"
    "in.send_rtcp_src_$1" ! "reports$1." "feedback$1.rtcp_src" ! "reports$1."
    funnel name="reports$1"
    ! udpsink host="$(host "$3")" port="$(port "$3" 2)" sync=false async=false
  )
}

send_to () {            # NEIGHBOUR PORT PEER
  check_block "$2" 2
  out_options+=("rtpsession$session::rtcp-min-interval=1000000000")
  session=$((session + 1))
  # shellcheck disable=SC2054,SC2206  # words of a graph
  graph+=(
    "mix.src_$1" ! "$OPUS" ! tfrcrate name="rate$1" ${ALGORITHM:+algorithm="$ALGORITHM"}
    ! "out.send_rtp_sink_$1" "out.send_rtp_src_$1"
    ! udpsink host="$(host "$3")" port="$(port "$3")" sync=false async=false
    "out.send_rtcp_src_$1"
    ! udpsink host="$(host "$3")" port="$(port "$3" 1)" sync=false async=false
    udpsrc address="$address" port=$(($2 + 2)) caps="$RTCP" ! "rate$1.rtcp_sink"
    "rate$1.rtcp_src" ! "out.recv_rtcp_sink_$1"
  )
}

for peer in "$@"; do
  port=$((block + 10 * neighbour))
  case $peer in
  from=*) receive_from "$neighbour" "$port" "${peer#from=}" ;;
  to=*) send_to "$neighbour" "$port" "${peer#to=}" ;;
  *) receive_from "$neighbour" "$port" "$peer"; send_to "$neighbour" "$port" "$peer" ;;
  esac
  neighbour=$((neighbour + 1))
done
check_elements partialmix rtpccfb tfrcrate

# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 $FLAGS \
  rtpbin name=in latency="${LATENCY}" max-ts-offset=1 "${in_options[@]}" \
  rtpbin name=out rtcp-sync-send-time=false "${out_options[@]}" \
  partialmix name=mix rtpbin=in latency="${LATENCY}000000" \
    ${DATABASE:+database-location="$(quoted "$DATABASE")"} \
  "${graph[@]}"
