#!/bin/sh
# Formats the C sources as GStreamer does (GNU indent, gst-indent's options).
#
#   tests/meta/format.sh [--check] [--since REVISION] [FILE.c...]
#                                                     default: every .c file
#
# What was committed with REVISION (HEAD) keeps its layout, which may have been set by
# hand.  --check changes nothing, names the lines that would change, and fails if there
# are any.  Headers are formatted by hand.
set -u
cd "$(dirname "$0")/../.." || exit 1
check="" since=HEAD
while :; do
  case ${1-} in
  --check) check=yes ;;
  --since) since=${2?} && shift ;;
  *) break ;;
  esac
  shift
done
if [ $# -eq 0 ]; then
  if git rev-parse --git-dir >/dev/null 2>&1; then
    # shellcheck disable=SC2046  # our file names have no spaces
    set -- $(git ls-files '*.c')
  else
    # shellcheck disable=SC2046
    set -- $(find gst subprojects/fairmix tests examples -name '*.c')
  fi
fi

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# What indent is not told to be a type looks like a product: `FmxTime * t`.
# GStreamer lives with that, and so do we, but not in the library: all of its types, so
# that a file looks the same whichever others are formatted with it.  A struct without
# `typedef` ends with a variable: `} sent;`.
types=$({
  find subprojects/fairmix -name '*.[ch]' -exec grep -hoE \
    '\bFmx[A-Z][A-Za-z0-9]*\b|\b[a-z0-9_]+_t\b|\bFILE\b' {} +
  find subprojects/fairmix -name '*.[ch]' -exec grep -hE \
    '^(\}|typedef .*) [A-Z][A-Za-z0-9]+;$' {} + |
    sed 's/.* \([A-Za-z0-9]*\);/\1/'
} | sort -u | sed 's/^/-T /')

format () {             # FROM TO TYPES
  # shellcheck disable=SC2086  # a list of options
  indent --braces-on-if-line --case-brace-indentation0 --case-indentation2 \
    --braces-after-struct-decl-line --line-length80 --no-tabs --cuddle-else \
    --dont-line-up-parentheses --continuation-indentation4 \
    --honour-newlines --tab-size8 --indent-level2 --leave-preprocessor-space \
    $3 "$1" -o "$2" 2>"$work/messages" || cat "$work/messages" >&2
}

bad=0
for file in "$@"; do
  case $file in subprojects/*) known=$types ;; *) known= ;; esac
  # the second pass settles what the first one moved
  format "$file" "$work/once.c" "$known" &&
    format "$work/once.c" "$work/twice.c" "$known"
  cmp -s "$file" "$work/twice.c" && continue
  "${PYTHON:-python3}" tests/meta/format-lines.py "$file" "$work/twice.c" "$since" \
    >"$work/merged.c" || exit 1
  if cmp -s "$file" "$work/merged.c"; then
    continue
  elif [ -n "$check" ]; then
    diff -u --label "$file" --label "$file (formatted)" "$file" "$work/merged.c"
    bad=$((bad + 1))
  else
    cat "$work/merged.c" >"$file"
    echo "formatted $file"
  fi
done
[ -z "$check" ] || echo "$# files, $bad not formatted"
[ $bad -eq 0 ]
