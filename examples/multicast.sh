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

for tool in ip tc unshare python3 gst-launch-1.0; do
  command -v $tool >/dev/null ||
    { echo "$0 needs $tool: iproute2, util-linux, python3, GStreamer" >&2; exit 1; }
done
if unshare --user --map-root-user --net --mount true 2>/dev/null; then
  user="--user --map-root-user"
elif [ "$(id -u)" = 0 ]; then
  user=
else
  echo "Here only root may make networks: sudo $0 $*" >&2
  exit 1
fi
# shellcheck disable=SC2086  # two words or none
exec unshare $user --net --mount --pid --fork --kill-child \
  python3 "$top/examples/python/multicast.py" "$@"
