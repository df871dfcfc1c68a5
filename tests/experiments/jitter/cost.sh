#!/bin/sh
# Instructions per packet (callgrind) of qmjitterbuffer and of rtpjitterbuffer.
#
#   tests/experiments/jitter/cost.sh [BUILD-DIR]
#
# The graph is a pad that pushes and a pad that takes, packet by packet, with
# the element between them or not.  What an element costs is what the graph
# costs more with it; two runs of different length take the start-up away.  The
# stock element in a plain bin, with ghost pads, shows what one pad more on the
# way in and one on the way out cost without doing anything.
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

# count ELEMENT N: leaves callgrind's output in $work/out
count () {
  valgrind --tool=callgrind --fair-sched=try \
    --callgrind-out-file="$work/out" "$bench" --cost "$1" "$2" \
    >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
}

# per_packet ELEMENT
per_packet () {
  count "$1" $few
  short=$(sed -n 's/^summary: //p' "$work/out")
  count "$1" $many
  echo $((($(sed -n 's/^summary: //p' "$work/out") - short) / (many - few)))
}

# share FUNCTION: of it and what it calls, in the last run
share () {
  callgrind_annotate --inclusive=yes "$work/out" |
    awk -v n=$many -v name=":$1 " '
      index($0, name) { gsub(",", "", $1); printf "%d", $1 / n; exit }'
}

# row NAME INSTRUCTIONS
row () {
  printf '%-34s %6d  %s x stock\n' "$1" $(($2 - nothing)) \
    "$(awk "BEGIN { printf \"%.2f\", ($2 - $nothing) / ($stock - $nothing) }")"
}

nothing=$(per_packet '')
stock=$(per_packet rtpjitterbuffer)
in_bin=$(per_packet '( rtpjitterbuffer )')
plain=$(per_packet 'qmjitterbuffer adaptation=false')
ours=$(per_packet qmjitterbuffer)
count qmjitterbuffer $many
library=$(share fmx_playout_on_packet)
echo "instructions per packet (the graph without an element: $nothing):"
row rtpjitterbuffer "$stock"
row 'rtpjitterbuffer in a plain bin' "$in_bin"
row 'qmjitterbuffer adaptation=false' "$plain"
row qmjitterbuffer "$ours"
echo "of qmjitterbuffer's: pads $((plain - stock)), playout stage \
$((ours - plain)), of which the library $library"
