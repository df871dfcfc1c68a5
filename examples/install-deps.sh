#!/bin/sh
# Installs the Debian packages that the project needs, or says which ones are
# missing.  examples/party.sh and tests/run.sh do this by themselves.
#
#   examples/install-deps.sh [--list] [build] [run] [party] [web] [test] [figures]
#
# build and run are what it takes to build and use the elements; party is for
# examples/party.sh, web for examples/web.sh, test for tests/run.sh, figures for
# drawing docs/ anew.
# Without a group: build and run.  --list only prints the names.
top=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"

list=
if [ "${1-}" = --list ]; then
  list=yes
  shift
fi
[ $# -gt 0 ] || set -- build run
for group in "$@"; do fmx_packages "$group" >/dev/null || exit; done
if [ -n "$list" ]; then
  for group in "$@"; do fmx_packages "$group" || exit; done |
    xargs -n 1 | sort -u
else
  fmx_install "$@"
fi
