#!/bin/sh
# A multicast group on one machine: a sender, five listeners, and a sixth one
# behind a narrow link, who joins and leaves.  Shows how the rate follows.
#
#   examples/multicast.sh [--seconds N] [--narrow BPS] [--out FOLDER]
#
# Installs what is missing (or says what), and builds.
#
# Each of them has a network of its own (a namespace) on one switch: nothing leaves
# this machine, and no rights are needed where users may make namespaces; else
# root.  N seconds (40) with five listeners, N with all six, N with five again: two
# minutes, and a line that tells each second what the target is.
# The narrow link carries 60000 bits per second (--narrow).  In FOLDER: the log of
# each program, and multicast.csv, of which docs/figures/multicast.py makes a
# picture.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
fmx_options "$top/examples/python/multicast.py" "$@"

build=${FMX_BUILD:-$top/build}
export FMX_BUILD="$build"
fmx_install build run || exit 1
fmx_say "building"
fmx_configure "$build" "$top" && ninja -C "$build" plugins || exit 1
fmx_in_namespaces "$top/examples/python/multicast.py" "$@"
