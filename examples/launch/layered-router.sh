#!/bin/bash
# A relay between two networks, in front of a link whose bandwidth is known: tells
# the sender and the listeners of layered-sender.sh what is fair on it, and passes
# on as many layers as it has room for.
#
#   examples/launch/layered-router.sh INTERFACE INTERFACE BPS [GROUP:PORT] [LAYERS]
#
# INTERFACE   on the sender's side, then on the listeners'
# BPS         of the link to the listeners, in bits per second on the wire
# GROUP:PORT  as given to layered-sender.sh              (239.1.2.0:5004)
# LAYERS      that the sender has at most, 1 to 8        (3)
#
# UTILISATION=0.9 is how full the link is to be.  TTL=8: how many routers follow.
# FLAGS=-m shows which layers pass.

# shellcheck source=examples/launch/env.sh
. "$(dirname "$0")/env.sh"

check_arguments 5 "$@"
[ $# -ge 3 ] || wrong "two interfaces, and the bandwidth behind the second one"
near=$1 far=$2 group=${4:-239.1.2.0:5004} layers=${5:-3}
for interface in "$near" "$far"; do
  [ -d "/sys/class/net/$interface" ] || wrong "there is no interface $interface"
done
check_number BPS "$3" 8000 4000000000
check_number LAYERS "$layers" 1 8
check_layers "$group" "$layers"
check_number TTL "${TTL:=8}" 0 255
[[ ${UTILISATION:=0.9} =~ ^(0\.(0[1-9]|[1-9])[0-9]*|1(\.0+)?)$ ]] ||
  wrong "UTILISATION is a number from 0.01 to 1, not $UTILISATION"
check_elements alsrtcp alsrouter

# What is sent on an interface must not come back from it: loop=false.  Only sources
# join groups.
from=(multicast-iface="$near" caps="$RTP")
sent=(ttl-mc="$TTL" loop=false auto-multicast=false sync=false async=false
  processing-deadline=0)
to=(multicast-iface="$far" "${sent[@]}")
back=(multicast-iface="$near" "${sent[@]}")
graph=() sources=
for ((layer = 0; layer < layers; layer++)); do
  address=$(layer_host "$group" "$layer") port=$(port "$group" $((2 * layer)))
  [ "$layer" = 0 ] || sources=${sources:+$sources,}layer$layer
  graph+=(udpsrc name="layer$layer" address="$address" port="$port" "${from[@]}"
    ! "router.sink_$layer" "router.src_$layer"
    ! udpsink host="$address" port="$port" "${to[@]}")
done

# RTCP passes alsrouter, which answers the sender's requests, and then alsrtcp, which
# reads the answer: it joins no layer that nobody behind could hold.  What listeners
# report goes back as it is, from a port of its own: of two sockets that listen
# to one port and group on two interfaces, Linux gives each packet to either.
base=$(layer_host "$group" 0) rtcp=$(port "$group" 1) reports=$(port "$group" -1)
# shellcheck disable=SC2086  # $FLAGS are several words
exec gst-launch-1.0 $FLAGS \
  alsrouter name=router bandwidth="$3" utilisation="$UTILISATION" \
  alsrtcp name=als role=receiver relay=true address="$base" port="$(port "$group")" \
    ${sources:+sources="$sources"} \
  "${graph[@]}" \
  udpsrc address="$base" port="$rtcp" caps="$RTCP" multicast-iface="$near" \
  ! "router.sink_$layers" "router.src_$layers" ! als.rtcp_sink \
  als.rtcp_src ! udpsink host="$base" port="$rtcp" "${to[@]}" \
  udpsrc address="$base" port="$reports" caps="$RTCP" multicast-iface="$far" \
  ! tee name=back back. ! udpsink host="$base" port="$rtcp" "${back[@]}" \
  back. ! udpsink host="$base" port="$reports" "${back[@]}"
