#!/bin/sh
# shellcheck disable=SC2034  # the variables are for the scripts that source this
# Sourced by the scripts here: lets gst-launch-1.0 find our elements, either
# installed, or in the environment that `meson devenv -C build` makes, or in
# the build directory ($FMX_BUILD, default: build/).
fmx_top=$(cd "$(dirname "$0")/../.." && pwd)
fmx_build=${FMX_BUILD:-$fmx_top/build}

if [ -z "${GST_PLUGIN_PATH-}" ] && [ -d "$fmx_build/gst" ]; then
  for fmx_dir in "$fmx_build"/gst/*/; do
    GST_PLUGIN_PATH=${GST_PLUGIN_PATH:+$GST_PLUGIN_PATH:}${fmx_dir%/}
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

# host HOST:PORT and port HOST:PORT [OFFSET]
host () {
  echo "${1%:*}"
}

port () {
  echo $((${1##*:} + ${2:-0}))
}

if [ "${1-}" = --help ]; then
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
  exit 0
fi
