#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# name.sh: the name of the program that build.sh makes on this machine: it
# changes with the recipe and with the kind of CPU.
# name.sh xstate: the size of this CPU's floating point state, in bytes.
set -eu

here=$(dirname "$(readlink -f "$0")")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat > "$tmp/xstate.c" <<'C'
#include <cpuid.h>
#include <stdio.h>
int
main (void)
{
  unsigned a, b, c, d;
  __cpuid_count (0xd, 0, a, b, c, d);
  printf ("%u\n", b);
  return 0;
}
C
gcc -o "$tmp/xstate" "$tmp/xstate.c"
xstate=$("$tmp/xstate")
if [ "${1:-}" = xstate ]; then
  echo "$xstate"
else
  recipe=$(cat "$here/build.sh" "$here/kernel.config" "$here/random.c.in" |
    sha256sum | cut -c1-8)
  echo "linux-$recipe-x$xstate"
fi
