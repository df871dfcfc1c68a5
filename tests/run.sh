#!/bin/sh
# Installs what the tests need (or says what is missing), builds, and runs
# every test of the tree:
#
#   tests       meta rules, examples, experiments, as built by default
#   realtime    examples and experiments that take real time, some at once
#   alone       the library libfairmix as a project of its own, under
#               AddressSanitizer, LeakSanitizer and UBSan
#   memory      elements, pipelines, fuzz corpora under the same, and under
#               GStreamer's leaks tracer
#   threads     elements and pipelines under ThreadSanitizer
#
#   tests/run.sh [--quick]        --quick: everything once, as built by default
#
# The last line is `N passed, N failed`, counted over single test cases.
# $BUILD names another folder for the build directories than the source tree;
# $JOBS limits how much runs at once.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# shellcheck source=examples/prepare.sh
. "$top/examples/prepare.sh"
fmx_help "$@"

out=${BUILD:-$top}
logs=
quick=
case ${1-} in
'') ;;
--quick) quick=yes ;;
*)
  fmx_say "there is no option $1; see $0 --help" >&2
  exit 2
  ;;
esac

# run LABEL DIR MESON-TEST-ARGUMENT...: one run of tests, noted for the tally.
# It builds what these tests need; if that fails, nothing runs, and the tally
# counts that as a failure.
run () {
  label=$1 dir=$2
  shift 2
  fmx_say "$label"
  log=$dir/meson-logs/testlog-$label
  rm -f "$log.json"
  meson test -C "$dir" --logbase "testlog-$label" --print-errorlogs \
    --timeout-multiplier "$CK_TIMEOUT_MULTIPLIER" \
    --num-processes "${JOBS:-$at_once}" "$@"
  logs="$logs
$label=$log.json"
}

# a number that its new type cannot hold: undefined, and no part of UBSan's `undefined`
float_casts=-fsanitize=float-cast-overflow

# sanitizers LABEL WHICH [C-ARGUMENT]: configures a build directory of its own for
# these.  -O2 takes twice the time to build, and saves less of it in the tests; -g1 is
# enough to name a line.
sanitizers () {
  fmx_configure "$out/build-$1" -Db_sanitize="$2" -Db_lundef=false \
    -Doptimization=1 -Dc_args="-g1 ${3-}" \
    -Dtests=enabled -Dbenchmarks=disabled -Dexamples=disabled -Dns3=disabled
}

# suites_of LABEL: what runs with these sanitizers, a word each
suites_of () {
  case $1 in
  alone) echo lib ;;
  memory) echo elements pipelines fuzz ;;
  threads) echo elements pipelines ;;
  esac
}

# build_for DIR TARGETS-ARGUMENT...: makes what targets.py prints, as $idle says
build_for () {
  # shellcheck disable=SC2046  # one word per target
  ${idle-} ninja -C "$1" ${JOBS:+-j "$JOBS"} $("$PYTHON" tests/targets.py "$@")
}

# build_ahead: makes what later runs need, with the processors that tests which wait
# leave idle.  It takes nothing from them; what fails is made again, and told, where
# it is needed.
build_ahead () {
  {
    chrt --idle 0 sh -c : && idle="nice -n 19 chrt --idle 0" || idle="nice -n 19"
    for label in alone memory threads; do
      # shellcheck disable=SC2046  # one word per suite
      build_for "$out/build-$label" $(suites_of "$label")
    done
  } >"$out/build/ahead.log" 2>&1
}

# sanitize LABEL: the suites with these sanitizers, in their build directory.
sanitize () {
  label=$1
  set --
  for suite in $(suites_of "$label"); do
    set -- "$@" --suite "$suite"
  done
  # Scanning all plugins of the system inside an instrumented process finds
  # faults of the system; so gst-inspect does it, and one program adds our plugins
  # to the registry, while nothing is tested.
  mkdir -p "$out/build-$label/tests"
  GST_REGISTRY_1_0=$out/build-$label/tests/tests.registry \
    gst-inspect-1.0 >"$out/build-$label/warm-up.log" 2>&1
  ASAN_OPTIONS=detect_leaks=0 TSAN_OPTIONS=exitcode=0 GST_CHECKS=none \
    meson test -C "$out/build-$label" element-lock \
    --timeout-multiplier "$CK_TIMEOUT_MULTIPLIER" \
    >>"$out/build-$label/warm-up.log" 2>&1
  JOBS=${JOBS:-$((at_once + 1))} run "$label" "$out/build-$label" "$@"
}

# one more than there are processors: some tests wait
at_once=$(($(getconf _NPROCESSORS_ONLN) + 1))
# a busy machine, or a sanitizer, may be several times slower
export CK_TIMEOUT_MULTIPLIER=4

fmx_install build run test || exit 1
if ! command -v turnserver >/dev/null; then
  fmx_unpack "$out/build-turn" coturn turnserver
  PATH=$(cd "$out/build-turn" && pwd):$PATH
fi
PYTHON=$(fmx_python) || exit 1
export PYTHON

fmx_say "building"
fmx_configure "$out/build" -Dtests=enabled
# one that an example made has no tests, nor knows of them before it is made anew
[ -d "$out/build/tests/check" ] || {
  meson configure "$out/build" -Dtests=enabled
  ninja -C "$out/build" build.ninja
}
if [ -n "$quick" ]; then
  fmx_build "$out/build"
else
  build_for "$out/build" --default meta examples experiments
  fmx_configure "$out/build-alone" subprojects/fairmix \
    -Db_sanitize=address,undefined -Db_lundef=false -Dc_args=$float_casts
  sanitizers memory address,undefined $float_casts
  sanitizers threads thread
  build_ahead &
  ahead=$!
fi
if [ -n "$quick" ]; then
  run tests "$out/build" --no-suite realtime
else
  # the library, elements, pipelines and corpora come below, watched more closely
  run tests "$out/build" --no-suite realtime --no-suite lib \
    --no-suite elements --no-suite pipelines --no-suite fuzz
fi
# these wait more than they compute
run realtime "$out/build" --suite realtime

if [ -z "$quick" ]; then
  wait "$ahead"

  export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
  # The whole stack of each allocation takes half of the time; fast_unwind_on_malloc=0
  # has that of a leak.
  ASAN_OPTIONS="detect_odr_violation=0:malloc_context_size=8"
  # It guesses where thread-local memory of plugins ends from what lies before it,
  # and where it guesses wrong LeakSanitizer crashes.  The thread's own memory leads
  # there as well, so nothing is watched less.
  export ASAN_OPTIONS="$ASAN_OPTIONS:intercept_tls_get_addr=0"
  run alone "$out/build-alone"
  # A process of these has so much memory that it takes long to fork one for each
  # single case; what the first fault leaves out, the next run tells.
  export CK_FORK=no
  # a leak is a warning, and a warning ends the test
  GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 GST_DEBUG_NO_COLOR=1 sanitize memory

  export TSAN_OPTIONS="ignore_noninstrumented_modules=1:halt_on_error=1"
  # memory that one thread frees and another gets next looks like a race, where
  # GLib's own allocator hands it over
  export G_SLICE=always-malloc
  sanitize threads
fi

fmx_say "summary"
IFS='
'
# shellcheck disable=SC2086  # one label=log per line
exec "$PYTHON" tests/tally.py $logs
