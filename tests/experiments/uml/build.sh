#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# build.sh [FOLDER]: a private Linux in which time is virtual, for
# `run.py --runner uml`.  User-mode Linux 6.1 with time travel, netem, TBF, RED
# and every TCP, made of Debian's own linux-source-6.1 (a .deb of 139 MB).
#
# Needs gcc make bc flex bison xz-utils and an apt that has sources for Debian
# 12; no root.  About 2.5 minutes on two cores and 1.8 GB while it builds; what
# stays is one program of 6 MB in FOLDER
# (default ${XDG_CACHE_HOME:-~/.cache}/gst-fairmix/uml).
# It fits CPUs with the floating point state of the one that built it: the
# name says which, and another kind of CPU gets another program.
set -eu

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=examples/prepare.sh
. "$here/../../../examples/prepare.sh"
fmx_help "$@"
fmx_options "$0" "$@"

folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/gst-fairmix/uml}
mkdir -p "$folder"
folder=$(readlink -f "$folder")

for tool in gcc make bc flex bison xz dpkg apt-get; do
  if ! command -v $tool >/dev/null; then
    echo "build.sh: $tool is missing:" \
      "apt-get install gcc make bc flex bison xz-utils" >&2
    exit 1
  fi
done

program=$folder/$("$here/name.sh")
if [ -x "$program" ]; then
  echo "$program"
  exit 0
fi

work=$(mktemp -d "$folder/build.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

echo "build.sh: fetching the kernel's source" >&2
ls "$folder"/linux-source-6.1_*.deb >/dev/null 2>&1 ||
  (cd "$folder" && apt-get -qq download linux-source-6.1 2>/dev/null)
dpkg -x "$folder"/linux-source-6.1_*.deb x
tar xJf x/usr/src/linux-source-6.1.tar.xz
cd linux-source-6.1

# The size of a host's floating point state is compiled in, as 2696 longs...
size=$("$here/name.sh" xstate)
sed -i "s/DEFINE_LONGS(HOST_FP_SIZE, 2696)/DEFINE_LONGS(HOST_FP_SIZE, $size)/" \
  arch/x86/um/user-offsets.c
# ... and with UML_SEED in the environment the guest's random numbers come
# from it (splitmix64): the same job with the same seed is the same run.
cat "$here/random.c.in" >> arch/um/os-Linux/util.c
sed -i 's/return getrandom(buf, len, flags);/return seeded_random(buf, len, flags);/' \
  arch/um/os-Linux/util.c
sed -i 's/^ssize_t os_getrandom(void/static ssize_t seeded_random(void *buf, size_t len, unsigned int flags);\n&/' \
  arch/um/os-Linux/util.c

echo "build.sh: compiling (2 to 5 minutes)" >&2
make -s ARCH=um KCONFIG_ALLCONFIG="$here/kernel.config" allnoconfig \
  >config.log 2>&1
if ! make -s -j"$(nproc)" ARCH=um linux >build.log 2>&1; then
  tail -n 20 build.log >&2
  exit 1
fi
strip -o "$work/program" linux
mv "$work/program" "$program"
rm -f "$folder"/linux-source-6.1_*.deb
echo "$program"
