#!/bin/sh
# Instructions per packet (callgrind) of qmjitterbuffer and of rtpjitterbuffer.
#
#   tests/experiments/jitter/cost.sh [BUILD-DIR]
#
# The graph is a pad that pushes and a pad that takes, packet by packet, with
# the element between them or not.  What an element costs is what the graph
# costs more with it; two runs of different length take the start-up away.  Two
# rows show what it costs to be in the way of the packets, without doing anything
# to them: the stock element in a plain bin, with ghost pads, and with a probe on
# its source pad.
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

# count ELEMENT N [MODE]: leaves callgrind's output in $work/out
count () {
  valgrind --tool=callgrind --fair-sched=try \
    --callgrind-out-file="$work/out" "$bench" "${3:---cost}" "$1" "$2" \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# in_function FUNCTION: of it and what it calls, in the last run
in_function () {
  callgrind_annotate --inclusive=yes --threshold=100 "$work/out" |
    awk -v name=":$1 " 'index($0, name) { gsub(",", "", $1); print $1; exit }'
}

# in_all: but for waiting until the packet is out
in_all () {
  echo $(($(sed -n 's/^summary: //p' "$work/out")
    - $(in_function wait_for_packet)))
}

# per_packet ELEMENT [MODE]
per_packet () {
  count "$1" $few "${2:-}"
  short=$(in_all)
  count "$1" $many "${2:-}"
  echo $((($(in_all) - short) / (many - few)))
}

# row NAME INSTRUCTIONS
row () {
  printf '%-34s %6d  %s x stock\n' "$1" $(($2 - nothing)) \
    "$(awk "BEGIN { printf \"%.2f\", ($2 - $nothing) / ($stock - $nothing) }")"
}

nothing=$(per_packet '')
stock=$(per_packet rtpjitterbuffer)
in_bin=$(per_packet '( rtpjitterbuffer )')
with_probe=$(per_packet rtpjitterbuffer --cost-probe)
plain=$(per_packet 'qmjitterbuffer adaptation=false')
ours=$(per_packet qmjitterbuffer)
count qmjitterbuffer $many
library=$(($(in_function fmx_playout_on_packet) / many))
header=$(($(in_function gst_qm_header_read) / many))
echo "instructions per packet (the graph without an element: $nothing):"
row rtpjitterbuffer "$stock"
row 'rtpjitterbuffer in a plain bin' "$in_bin"
row 'rtpjitterbuffer with a pad probe' "$with_probe"
row 'qmjitterbuffer adaptation=false' "$plain"
row qmjitterbuffer "$ours"
echo "of qmjitterbuffer's: pads $((plain - stock)), playout stage \
$((ours - plain)), of which the library $library, reading the header $header"
