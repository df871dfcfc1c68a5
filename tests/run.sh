#!/bin/sh
# Installs what the tests need (or says what is missing), builds, and runs
# every test of the tree:
#
#   1. everything, as built by default: library, elements, meta rules, examples
#   2. the library libfairmix alone, as its own project
#   3. library and elements again under AddressSanitizer and UBSan
#
#   tests/run.sh [--quick]        --quick: only the first
#
# The last line is `N passed, N failed`, counted over single test cases.
# $BUILD names another folder for the build directories than the source tree;
# $JOBS limits how much runs at once.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
# shellcheck source=scripts/common.sh
. "$top/scripts/common.sh"

out=${BUILD:-$top}
logs=
quick=
[ "${1-}" = --quick ] && quick=yes

# run LABEL DIR MESON-TEST-ARGUMENT...: one run of tests, noted for the tally.
run () {
  label=$1 dir=$2
  shift 2
  fmx_say "testing: $label"
  log=$dir/meson-logs/testlog-$(echo "$label" | tr -cs 'a-zA-Z0-9\n' -)
  rm -f "$log.json"
  meson test -C "$dir" --no-rebuild --logbase "$(basename "$log")" \
    --print-errorlogs ${JOBS:+--num-processes "$JOBS"} "$@"
  logs="$logs
$label=$log.json"
}

# build LABEL DIR MESON-SETUP-ARGUMENT...: a directory to run tests in.
build () {
  label=$1
  shift
  fmx_say "building: $label"
  fmx_build "$@" && return 0
  logs="$logs
$label=not built"
  return 1
}

fmx_install build run test || exit 1
PYTHON=$(fmx_python) || exit 1
export PYTHON

if build "tests" "$out/build"; then
  run "tests" "$out/build"
fi
if [ -z "$quick" ]; then
  if build "library alone" "$out/build-fairmix" subprojects/fairmix; then
    run "library alone" "$out/build-fairmix"
  fi
  if build "sanitizers" "$out/build-asan" -Db_lundef=false \
    -Db_sanitize=address,undefined -Dbenchmarks=disabled \
    -Dexamples=disabled; then
    export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
    export ASAN_OPTIONS="detect_odr_violation=0"
    export LSAN_OPTIONS="suppressions=$top/tests/lsan.supp:print_suppressions=0"
    run "sanitizers" "$out/build-asan" --no-suite meta
    unset UBSAN_OPTIONS ASAN_OPTIONS LSAN_OPTIONS
  fi
fi

fmx_say "summary"
IFS='
'
# shellcheck disable=SC2086  # one label=log per line
exec "$PYTHON" tests/tally.py $logs
