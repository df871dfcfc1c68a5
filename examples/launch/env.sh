# shellcheck shell=bash
# shellcheck disable=SC2034  # the variables are for the scripts that source this
# Sourced by the scripts here with their arguments: prints their help, lets
# gst-launch-1.0 find our elements (installed, in the environment that
# `meson devenv -C build` makes, or in the build directory $FMX_BUILD, default:
# build/), and checks what was typed.
fmx_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
fmx_build=${FMX_BUILD:-$fmx_top/build}

# Whether our elements are where GST_PLUGIN_PATH says; others' may be there, too.
fmx_has_ours () {
  local folder folders file
  IFS=: read -r -a folders <<<"${GST_PLUGIN_PATH-}"
  for folder in "${folders[@]}"; do
    for file in "$folder"/{,*/}libgst{partialmix,fairrate,fairqueue,fairrtcp,dpm}.so; do
      [ ! -e "$file" ] || return 0
    done
  done
  return 1
}

if [ -d "$fmx_build/gst" ] && ! fmx_has_ours; then
  for fmx_dir in "$fmx_build"/gst/*/; do
    GST_PLUGIN_PATH=${fmx_dir%/}${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  done
  export GST_PLUGIN_PATH
  export GST_REGISTRY="${GST_REGISTRY:-$fmx_build/registry.bin}"
fi

# Comes before the arguments of gst-launch-1.0, e.g. FLAGS=-m for messages.
FLAGS=${FLAGS-}

# What arrives: Opus, any number of streams (SSRCs), audio levels (RFC 6464).
RTP="application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS,payload=96,extmap-1=urn:ietf:params:rtp-hdrext:ssrc-audio-level"
RTCP="application/x-rtcp"

# What a mixer sends: the same, whatever the streams.
OPUS="application/x-rtp,media=audio,clock-rate=48000,encoding-name=OPUS"

# A branch behind `tee name=goodbye`, which has all RTCP of a sender.  At the end
# rtpsession sends its BYE from one thread and then asks whether RTP has ended in
# another.  If that thread has not come back yet, the end of RTCP is never told, and
# the pipeline never ends (GStreamer 1.22): so each RTCP packet takes a nap.
NAP=(goodbye. ! identity sleep-time=50000 ! fakesink sync=false async=false)

# fail TEXT...: says what is wrong, and ends the script.
fail () {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 2
}

# wrong TEXT...: the same for an argument.
wrong () {
  fail "$*
    $0 --help explains the arguments."
}

# check_arguments MOST ARGUMENT...
check_arguments () {
  [ $(($# - 1)) -le "$1" ] || wrong "more than $1 arguments"
}

# check_number WHAT VALUE LEAST MOST
check_number () {
  case $2 in
  *[!0-9]* | '' | 0?*) wrong "$1 is a number, not '$2'" ;;
  esac
  if [ ${#2} -gt 10 ] || [ "$2" -lt "$3" ] || [ "$2" -gt "$4" ]; then
    wrong "$1 is a number from $3 to $4, not $2"
  fi
}

# check_block PORT OFFSET...: the ports of our block that we will listen on.
check_block () {
  local block=$1 offset
  check_number "our own port" "$block" 1 65533
  shift
  for offset in "$@"; do
    if grep -qsE "^ *[0-9]+: [0-9A-F]+:$(printf %04X $((block + offset))) " \
      /proc/net/udp /proc/net/udp6; then
      wrong "UDP port $((block + offset)) is in use (by another ${0##*/}?)"
    fi
  done
}

# check_peer HOST:PORT
check_peer () {
  case $1 in
  \[*\]:*) ;;
  *:*:*) wrong "an IPv6 address stands in brackets, as in [::1]:5000, not $1" ;;
  ?*:*) ;;
  *) wrong "a port belongs to the host, as in 127.0.0.1:5000, not '$1'" ;;
  esac
  check_number "the port of $1" "${1##*:}" 1 65533
  [ -n "$(host "$1")" ] || wrong "unknown host in $1"
}

# check_group GROUP:PORT
check_group () {
  check_peer "$1"
  case $(host "$1") in
  22[4-9].* | 23[0-9].* | ff*:* | FF*:*) ;;
  *) wrong "${1%:*} is no multicast group: 224.0.0.0 to 239.255.255.255, or ff00::" ;;
  esac
}

# check_layers GROUP:PORT N: N layers that begin there
check_layers () {
  local last address
  check_group "$1"
  address=$(host "$1")
  last=${address##*[.:]}
  case $address in
  *:*) last=$((16#${last:-0})) ;;
  esac
  if [ $((last + $2 - 1)) -gt 255 ]; then
    wrong "no room for $2 layers from $address on: choose one that ends in 0"
  fi
  check_number "the port of $1" "$(port "$1")" 2 $((65533 - 2 * $2))
}

# layer_host GROUP:PORT LAYER: the address of a layer
layer_host () {
  local address last
  address=$(host "$1")
  last=${address##*[.:]}
  case $address in
  *:*) printf '%s%x\n' "${address%"$last"}" $((16#${last:-0} + $2)) ;;
  *) echo "${address%"$last"}$((last + $2))" ;;
  esac
}

# check_file WHAT FILE
check_file () {
  { [ -f "$2" ] && [ -r "$2" ]; } || wrong "$1: there is no file $2"
}

# quoted TEXT: as gst-launch-1.0 has to be told it, whatever it has of spaces, quotes and
# backslashes
quoted () {
  local text=${1//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

# check_elements ELEMENT...
check_elements () {
  local element
  command -v gst-launch-1.0 >/dev/null ||
    fail "no gst-launch-1.0 here. Please run
    sudo $fmx_top/examples/install-deps.sh build run"
  for element in "$@"; do           # without a version it asks for GStreamer's own
    gst-inspect-1.0 --exists --atleast-version=0.1 "$element" || fail "no element $element here. Please build it:
    cd $fmx_top && meson setup build && meson compile -C build"
  done
}

# host HOST:PORT: the address, IPv4 where there is one; nothing if unknown
host () {
  local name=${1%:*} found
  name=${name#[}
  name=${name%]}
  if ! command -v getent >/dev/null; then
    echo "$name"
    return
  fi
  found=$(getent ahosts "$name" | cut -d ' ' -f 1)
  grep -F -m 1 . <<<"$found" || head -1 <<<"$found"
}

# port HOST:PORT [OFFSET]
port () {
  echo $((${1##*:} + ${2:-0}))
}

# any_address HOST:PORT...: what to listen on so that all of them reach us
any_address () {
  local peer
  for peer in "$@"; do
    case $(host "$peer") in
    *:*)
      echo ::           # takes IPv4, too
      return
      ;;
    esac
  done
  echo 0.0.0.0
}

# take_talkers PORT HOST:PORT...: sets the array `talkers`: what they send to our port
# block, answered as in receiver.sh, up to a partialmix called mix.  Properties of that
# and its src pads may follow.
take_talkers () {
  local block=$1 address peer feedback=()
  shift
  for peer in "$@"; do
    check_peer "$peer"
    feedback+=(to. ! udpsink host="$(host "$peer")" port="$(port "$peer" 2)"
      sync=false async=false)
  done
  address=$(any_address "$@")
  # shellcheck disable=SC2034  # used by who sources this
  talkers=(rtpbin name=in latency=20 max-ts-offset=1
      rtpsession0::rtcp-min-interval=1000000000
    udpsrc address="$address" port="$block" caps="$RTP" ! rtpccfb name=feedback
    ! in.recv_rtp_sink_0
    udpsrc address="$address" port=$((block + 1)) caps="$RTCP" ! tee name=said
    ! in.recv_rtcp_sink_0 said. ! mix.rtcp_sink_0
    in.send_rtcp_src_0 ! reports. feedback.rtcp_src ! reports.
    funnel name=reports ! tee name=to "${feedback[@]}"
    partialmix name=mix rtpbin=in latency=20000000)
}

# play_to auto|fake|FILE.wav[+auto]: sets the array `sink`
play_to () {
  local file=${1%+auto}
  case $1 in
  auto) sink=(autoaudiosink) ;;
  fake) sink=(fakesink sync=true) ;;
  *.wav | *.wav+auto)
    { [ -d "$(dirname "$file")" ] && [ -w "$(dirname "$file")" ]; } ||
      wrong "cannot write into the folder of $file"
    # shellcheck disable=SC2054  # commas of caps
    sink=(audio/x-raw,format=S16LE ! tee name=both
      both. ! queue ! wavenc ! filesink location="$(quoted "$file")" async=false)
    [ "$file" = "$1" ] || sink+=(both. ! queue ! autoaudiosink)
    ;;
  *) wrong "auto, fake or FILE.wav (nothing but WAV is written), not '$1'" ;;
  esac
}

# ALIGN=1, at a mixer and at those who listen to it: its mixes tell where voices are in them.
case ${ALIGN:=0} in
0) ;;
1)
  RTP=$RTP,extmap-3=urn:x-fairmix:rtp-hdrext:contributor-time
  OPUS=$OPUS,extmap-3=urn:x-fairmix:rtp-hdrext:contributor-time
  ;;
*) wrong "ALIGN is 0 or 1, not $ALIGN" ;;
esac

# shellcheck source=examples/prepare.sh
. "$fmx_top/examples/prepare.sh"
fmx_help "$@"
for fmx_argument in "$@"; do
  case $fmx_argument in
  -*) wrong "there is no option $fmx_argument" ;;
  esac
done
