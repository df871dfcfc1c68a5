#!/bin/sh
# Runs GStreamer's own tests of rtpjitterbuffer and rtpbin, unmodified, with
# the stock element and with qmjitterbuffer in its place, and prints the score.
#
#   tests/peers/run-upstream-tests.sh CHECKOUT [BUILD-DIR]
#
# CHECKOUT is a source tree of GStreamer at the version that is installed
# (`gst-inspect-1.0 --version`); nothing is fetched and nothing of it is kept.
# BUILD-DIR is where this tree was built: build, unless given.
# Needs: cc, pkg-config, the development packages gstreamer-1.0,
# gstreamer-check-1.0 and gstreamer-rtp-1.0.
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
checkout=${1:-}
build=$(cd "${2:-$top/build}" 2>/dev/null && pwd) || build=
if [ -z "$checkout" ] || [ -z "$build" ]; then
  sed -n '2,12s/^# \{0,1\}//p' "$0"
  exit 2
fi
tests=$checkout/subprojects/gst-plugins-good/tests/check/elements
[ -d "$tests" ] || tests=$checkout/tests/check/elements
if [ ! -f "$tests/rtpjitterbuffer.c" ]; then
  echo "$0: no rtpjitterbuffer.c in $tests" >&2
  exit 2
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GST_REGISTRY="$work/registry.bin" GST_PLUGIN_PATH="$build/gst/fairqueue"
export CK_DEFAULT_TIMEOUT=60 G_DEBUG=

# shellcheck disable=SC2046  # flags are words
compile () {
  cc -rdynamic -O1 -w -o "$work/$1" "$tests/$1.c" "$here/upstream-shim.c" \
    $(pkg-config --cflags --libs gstreamer-check-1.0 gstreamer-rtp-1.0 \
      gstreamer-base-1.0 gstreamer-net-1.0) -ldl -lm
}

# one_score NAME KIND: from libcheck's "98%: Checks: 69, Failures: 0, Errors: 1"
one_score () {
  timeout 900 "$work/$1" >"$work/log" 2>&1
  sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\).*/\1 \2 \3/p' \
    "$work/log" | tail -1 | {
    read -r checks failures errors || checks=
    if [ -z "$checks" ]; then
      echo "no score"
    else
      echo "$((checks - failures - errors)) of $checks"
    fi
  }
  grep -E ':[EF]:' "$work/log" | sed 's/^.*:[EF]:/    /' >"$work/failed-$2"
}

# score NAME KIND: some of these tests depend on real time and fail on a busy
# machine now and then; so whatever does not pass is tried three times.
score () {
  for try in 1 2 3; do
    result=$(one_score "$1" "$2")
    [ -s "$work/failed-$2" ] || break
  done
  [ "$try" = 1 ] || result="$result (run $try)"
  echo "$result"
}

status=0
for name in rtpjitterbuffer rtpbin; do
  compile "$name" || exit 1
  unset REPLACE
  stock=$(score "$name" stock)
  export REPLACE='rtpjitterbuffer=qmjitterbuffer adaptation=false'
  ours=$(score "$name" ours)
  printf '%s.c: stock %s, qmjitterbuffer adaptation=false %s\n' \
    "$name" "$stock" "$ours"
  [ -s "$work/failed-stock" ] && echo '  failed, stock:' && cat "$work/failed-stock"
  [ -s "$work/failed-ours" ] && echo '  failed, ours:' && cat "$work/failed-ours"
  [ "${ours%% (*}" = "${stock%% (*}" ] || status=1
done
exit $status
