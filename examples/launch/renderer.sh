#!/bin/bash
# A stage: sound files talk at once, each from its own place between left and
# right.  No network: RTP goes straight into the renderer.
#
#   examples/launch/renderer.sh [auto|fake|FILE.wav[+auto]] [VOICE.wav...]
#
# Without voices: those that examples/voices.sh made.  DATABASE=FILE places
# them (default: stage.ini beside this script; edit it while it plays).
# The first voice is stream (SSRC) 1001, the second 1002, and so on.
# You will hear eight people, spread from left to right.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

play_to "${1:-auto}"
shift $(($# > 0))
shopt -s nullglob
[ $# -gt 0 ] || set -- "$fmx_build"/voices/*.wav
[ $# -gt 0 ] || wrong "no voices in $fmx_build/voices. Name sound files, or run
    $fmx_top/examples/voices.sh"
database=${DATABASE:-$(dirname "$0")/stage.ini}
check_file DATABASE "$database"

voices=()
number=0
for voice in "$@"; do
  check_file VOICE.wav "$voice"
  # shellcheck disable=SC2054,SC2206  # words of a graph
  voices+=(
    filesrc location="$(quoted "$voice")" ! decodebin ! audioconvert ! audioresample
    ! audio/x-raw,rate=48000,channels=1 ! opusenc audio-type=voice
    ! rtpopuspay pt=96 ssrc=$((1001 + number)) ! clocksync ! "mix.sink_$number"
  )
  number=$((number + 1))
done

check_elements partialmix

# A src pad with raw audio caps is a renderer.
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 -e $FLAGS \
  partialmix name=mix \
    database-location="$(quoted "$database")" \
  "${voices[@]}" \
  mix.src_$number ! audio/x-raw,rate=48000,channels=2 ! queue \
  ! audioconvert ! "${sink[@]}"
