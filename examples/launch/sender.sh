#!/bin/bash
# A talker: a sound file or the microphone, as Opus over RTP, at a rate that
# is fair to TCP.
#
#   examples/launch/sender.sh [FILE|mic|test] [HOST:PORT] [LOCAL-PORT]
#
# FILE        anything that GStreamer plays; mic: the microphone; test: ticks
# HOST:PORT   the port block of the mixer or receiver   (127.0.0.1:5000)
# LOCAL-PORT  our own port block, for its feedback      (10000)
#
# BITRATE=32000 is the most that Opus may take; tfrcrate lowers it when the
# path has less.  NAME= is what the others call us (RTCP CNAME).  SSRC= fixes the
# stream's number, random otherwise: of two with the same a receiver hears one.
# You will hear nothing here: start receiver.sh first.
# Control-C says goodbye to the others before it ends.
# Ports, IPv6: examples/launch/README.md

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 3 "$@"
from=${1:-test}
to=${2:-127.0.0.1:5000}
block=${3:-10000}
name=${NAME:-talker-$block}
bitrate=${BITRATE:-32000}

case $from in
mic) source=(autoaudiosrc) ;;
test) source=(audiotestsrc is-live=true wave=ticks) ;;
*)
  check_file "FILE, mic or test" "$from"
  source=(filesrc location="$(quoted "$from")" ! decodebin)
  ;;
esac
check_peer "$to"
check_block "$block" 2
check_number BITRATE "$bitrate" 6000 510000
[ -z "${SSRC-}" ] || check_number SSRC "$SSRC" 1 4294967295
check_elements tfrcrate

# 50 packets a second, each with IP, UDP, RTP and its header extension
headers=$((50 * 8 * (20 + 8 + 12 + 8)))

# clocksync paces a file's packets; the level goes into each packet's header
# (RFC 6464), so that a mixer knows who talks without decoding; silence is
# not sent (dtx).
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  "${source[@]}" ! audioconvert ! audioresample \
  ! audio/x-raw,rate=48000,channels=1 \
  ! level audio-level-meta=true post-messages=false \
  ! opusenc name=encoder bitrate="$bitrate" audio-type=voice \
    dtx=true \
  ! rtpopuspay pt=96 ${SSRC:+ssrc=$SSRC} \
  ! 'application/x-rtp,extmap-1=(string)<"",urn:ietf:params:rtp-hdrext:ssrc-audio-level,"vad=off">' \
  ! clocksync \
  ! tfrcrate name=rate encoder=encoder \
    max-bitrate=$((bitrate + headers)) initial-bitrate=$((bitrate + headers)) \
  ! rtp.send_rtp_sink \
  rtpsession name=rtp rtcp-sync-send-time=false rtcp-min-interval=1000000000 \
    sdes="$(quoted "application/x-rtp-source-sdes,cname=(string)$(quoted "$name")")" \
  rtp.send_rtp_src \
  ! udpsink host="$(host "$to")" port="$(port "$to")" sync=false \
  rtp.send_rtcp_src ! tee name=goodbye \
  ! udpsink host="$(host "$to")" port="$(port "$to" 1)" sync=false async=false \
  "${NAP[@]}" \
  udpsrc address="$(any_address "$to")" port=$((block + 2)) caps=$RTCP ! rate.rtcp_sink \
  rate.rtcp_src ! rtp.recv_rtcp_sink
