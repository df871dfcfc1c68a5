#!/bin/sh
# Layers on one machine: a sender, a listener behind a wide link and one behind a
# narrow one, each link with a router.  Says who hears what.
#
#   examples/layers.sh [sound|talkers] [--seconds N] [--narrow BPS] [--out FOLDER]
#                      [--voices FOLDER]
#
# Installs what is missing (or says what), builds and makes the voices first, unless
# --voices says where some are.
#
# sound: two voices, left and right; the wide listener hears them there, the narrow one
# both in the middle.  talkers: three people at a mixer; the wide listener hears each
# from a place of their own, the narrow one all of them at once.  (sound)
#
# Each of them has a network of its own (a namespace): nothing leaves this machine,
# and no rights are needed where users may make namespaces; else root.  The narrow
# link carries 60000 bits per second (--narrow).  In FOLDER: what each listener
# heard (WAV), the log of each program.
#
# What it prints of a voice: how much of it is heard, how much louder on the left than
# on the right, and how like it is to what is heard up to 0.3 s before or after it: 0 dB
# would be the same voice twice.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"
fmx_options "$top/examples/python/layers.py" "$@"
case " $* " in
*" --voices"[\ =]*) ;;
*)
  build=${FMX_BUILD:-$top/build}
  export FMX_BUILD="$build"
  fmx_install build run party || exit 1
  fmx_say "building"
  fmx_configure "$build" "$top" && ninja -C "$build" plugins || exit 1
  "$top/examples/voices.sh" "$build/voices"
  ;;
esac
fmx_in_namespaces "$top/examples/python/layers.py" "$@"
