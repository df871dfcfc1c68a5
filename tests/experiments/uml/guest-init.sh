#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The first process of the private kernel: private places to write to, then
# the job, job.sh in the folder where the kernel was started.  The host's files
# are seen read-only; $OUT is that folder.  The exit status goes to
# $OUT/rc.
export PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt/home
export LC_ALL=C TMPDIR=/mnt/tmp XDG_RUNTIME_DIR=/mnt/tmp
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /run
mount -t tmpfs tmp /mnt
mount -t devtmpfs dev /dev 2>/dev/null
mkdir -p /run/netns /mnt/home /mnt/tmp /mnt/out
mount -t hostfs none /mnt/out -o /proc/self/cwd
ip link set lo up
# shellcheck source=/dev/null
[ -e /mnt/out/environment ] && . /mnt/out/environment
export OUT=/mnt/out
cd /mnt || exit 1
bash /mnt/out/job.sh >/mnt/out/stdout 2>/mnt/out/stderr </dev/null
echo $? >/mnt/out/rc
sync
halt -f -p
