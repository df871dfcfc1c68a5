#!/bin/sh
# Instructions per packet (callgrind) of qmjitterbuffer and of the stock
# rtpjitterbuffer in the same harness, by the difference of two runs.
#
#   tests/experiments/jitter/cost.sh [BUILD-DIR]
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(cd "${1:-$top/build}" && pwd) || exit 2
bench=$build/tests/experiments/jitter/jitter-bench
few=2000 many=12000

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GST_PLUGIN_PATH_1_0="$build/gst/fairqueue"
export GST_REGISTRY_1_0="$work/registry.bin"
"$bench" --cost qmjitterbuffer 10 || exit 1     # makes the registry

# instructions ELEMENT N
instructions () {
  valgrind --tool=callgrind --callgrind-out-file="$work/out" \
    "$bench" --cost "$1" "$2" >"$work/log" 2>&1 || exit 1
  sed -n 's/^summary: //p' "$work/out"
}

# per_packet ELEMENT
per_packet () {
  echo $((($(instructions "$1" $many) - $(instructions "$1" $few)) \
    / (many - few)))
}

harness=$(per_packet identity)
stock=$(per_packet rtpjitterbuffer)
ours=$(per_packet qmjitterbuffer)
plain=$(per_packet 'qmjitterbuffer adaptation=false')
echo "instructions per packet, harness ($harness) included:"
for row in "rtpjitterbuffer $stock" "qmjitterbuffer $ours" \
  "qmjitterbuffer,adaptation=false $plain"; do
  # shellcheck disable=SC2086  # two words
  set -- $row
  printf '%-34s %6d  %s x stock; without harness %6d  %s x stock\n' "$1" "$2" \
    "$(awk "BEGIN { printf \"%.2f\", $2 / $stock }")" $(($2 - harness)) \
    "$(awk "BEGIN { printf \"%.2f\", ($2 - $harness) / ($stock - $harness) }")"
done
