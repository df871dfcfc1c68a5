#!/bin/sh
# Installs the Debian packages that the project needs, or says which ones are
# missing.  examples/party.sh and tests/run.sh do this by themselves.
#
#   examples/install-deps.sh [--list] [build] [run] [party] [test]
#
# Without a group: all of them.  --list only prints the names.
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"

list=
if [ "${1-}" = --list ]; then
  list=yes
  shift
fi
[ $# -gt 0 ] || set -- build run party test
if [ -n "$list" ]; then
  for group in "$@"; do fmx_packages "$group" || exit; done |
    xargs -n 1 | sort -u
else
  fmx_install "$@"
fi
