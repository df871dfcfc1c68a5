#!/bin/sh
# A multicast group on one machine: a sender, five listeners, and a sixth one
# behind a narrow link, who joins and leaves.  Shows how the rate follows.
#
#   examples/multicast.sh [--seconds N] [--narrow BPS] [--out FOLDER]
#
# Each of them has a network of its own (a namespace) on one switch: nothing leaves
# this machine, and no rights are needed where users may make namespaces; else
# root.  N seconds (40) with five listeners, N with all six, N with five again.
# The narrow link carries 60000 bits per second (--narrow).  In FOLDER: the log of
# each program, and multicast.csv, of which docs/figures/multicast.py makes a
# picture.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
fmx_options "$top/examples/python/multicast.py" "$@"

fmx_in_namespaces "$top/examples/python/multicast.py" "$@"
