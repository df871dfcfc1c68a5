#!/bin/sh
# Plays a party: eight people talk at once, two partial mixers carry them over
# a link that narrows and widens, one listener hears all of them all the time.
#
#   examples/party.sh [--play] [--mic] [--seconds N] [--out FOLDER]
#
# Installs what is missing (or says what), builds, makes the voices, and runs
# about 40 s with a status line.  Then: party.wav to listen to, party.png to
# look at, a table.  --play plays it meanwhile, --mic adds you.
# Neither sound hardware nor root is needed, nor the network: all on loopback.
# Where the machine was too busy to play in real time, or half of the link was
# left unused, the table and the picture say so.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
fmx_options "$top/examples/python/party.py" "$@"

build=${FMX_BUILD:-$top/build}
export FMX_BUILD="$build"

fmx_install build run party || exit 1
python=$(fmx_python) || exit 1
fmx_say "building"
fmx_configure "$build" "$top" && ninja -C "$build" plugins || exit 1
"$top/examples/voices.sh" "$build/voices"
fmx_say "eight talkers - mixer - link - mixer - listener"
exec "$python" "$top/examples/python/party.py" "$@"
