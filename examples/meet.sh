#!/bin/sh
# Holds a meeting: six people, two mixers of which the second one is a branch of
# the first; one is behind a narrow link, one leaves, one comes late, one is killed
# and returns.
#
#   examples/meet.sh [--seconds N] [--out FOLDER] [--secret WORD]
#
# Installs what is missing (or says what), builds, makes the voices, and runs about
# half a minute.  Then: NAME.wav, what each of them heard; meet.png, who was heard by
# whom and when; a table.  Neither sound hardware nor root is needed, nor the
# network: all on loopback.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
fmx_options "$top/examples/python/meet.py" "$@"

build=${FMX_BUILD:-$top/build}
export FMX_BUILD="$build"

fmx_install build run party || exit 1
python=$(fmx_python) || exit 1
fmx_say "building"
fmx_configure "$build" "$top" && ninja -C "$build" plugins || exit 1
"$top/examples/voices.sh" "$build/voices"
fmx_say "six people, two mixers"
fmx_plugins "$build"
exec "$python" "$top/examples/python/meet.py" "$@"
