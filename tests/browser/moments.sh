#!/bin/sh
# Makes examples/web/moments.png: the page at three moments of tests/browser/web.py, side by
# side, with 32 colours.
#
# usage: tests/browser/moments.sh [BUILD-ROOT]
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"

"$(fmx_python)" "$top/tests/browser/web.py" "$top" "${1:-$top/build}" "$folder"
set --
for moment in separate mixed again; do
  set -- "$@" -i "$folder/$moment.png"
done
ffmpeg -v error -y "$@" -filter_complex "[0][1][2]hstack=3,crop=iw:iw/3:0:0,
  scale=1260:420:flags=area,split[one][other];
  [one]palettegen=max_colors=32[colours];[other][colours]paletteuse=dither=none" \
  "$top/examples/web/moments.png"
