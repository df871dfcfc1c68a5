#!/bin/sh
# Sourced by the scripts of examples/ and tests/run.sh: their help, packages,
# interpreter, build.  POSIX sh; whoever installs or builds has the top of the
# source tree in $top.

# What to install on Debian 12 or newer, by purpose.  One list, used by both
# commands; `examples/install-deps.sh --list` prints it.
fmx_packages () {
  case $1 in
  # dpkg-dev tells meson where libraries go: without it that is lib64
  build) echo "gcc libc6-dev dpkg-dev meson ninja-build pkg-config python3
    libglib2.0-dev libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev
    libopus-dev libssl-dev libsrtp2-dev" ;;
  run) echo "gstreamer1.0-tools gstreamer1.0-plugins-base
    gstreamer1.0-plugins-good
    python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0
    python3-numpy" ;;
  party) echo "ffmpeg python3-cairo
    gstreamer1.0-alsa gstreamer1.0-pulseaudio
    asterisk-core-sounds-en-g722
    asterisk-core-sounds-fr-g722 asterisk-core-sounds-it-g722
    asterisk-core-sounds-ru-g722 asterisk-prompt-it-menardi-wav
    asterisk-prompt-fr-armelle asterisk-prompt-es-co
    pocketsphinx-testdata" ;;
  web) echo "openssl gstreamer1.0-plugins-bad gstreamer1.0-nice
    gir1.2-gst-plugins-bad-1.0 gir1.2-soup-3.0 gir1.2-nice-0.1" ;;
  figures) echo "python3-matplotlib" ;;
  test) echo "g++ git iproute2 iptables libcmocka-dev libspeexdsp-dev libns3-dev indent
    shellcheck pulseaudio python3-cairo python3-prometheus-client chromium openssl
    gstreamer1.0-plugins-bad gstreamer1.0-nice gir1.2-gst-plugins-bad-1.0
    gir1.2-soup-3.0 gir1.2-nice-0.1" ;;
  *) echo "unknown package group $1" >&2; return 2 ;;
  esac
}

fmx_say () {
  printf '== %s\n' "$*"
}

# fmx_help ARGUMENT...: if one of them asks for it, prints the comment that
# stands at the top of the script, and ends.
fmx_help () {
  for argument in "$@"; do
    case $argument in
    -h | --help)
      sed -n '2,/^\([^#]\|$\)/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    esac
  done
}

# fmx_options PROGRAM ARGUMENT...: refuses options that the program does not know,
# before anything is installed or built for it.
fmx_options () {
  program=$1
  shift
  for argument in "$@"; do
    case $argument in
    -*) grep -qF -e "'${argument%%=*}'" "$program" ||
      { fmx_say "there is no option $argument; see $0 --help" >&2; exit 2; } ;;
    esac
  done
}

# The packages of the given groups that are not installed here: for this machine's
# architecture, whatever others it has them for.
fmx_missing () {
  native=$(dpkg --print-architecture)
  for group in "$@"; do
    for package in $(fmx_packages "$group"); do
      dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
        grep -qx -e "$native installed" -e "all installed" || echo "$package"
    done
  done
}

# Installs what is missing for the given groups, if we may; else says exactly
# what an administrator has to type, and fails.
fmx_install () {
  if ! command -v dpkg-query >/dev/null; then
    fmx_say "not a Debian system: needed are the equivalents of" >&2
    for group in "$@"; do fmx_packages "$group" >&2; done
    return 0
  fi
  missing=$(fmx_missing "$@" | sort -u | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" = 0 ]; then
    as_root="env"
  elif sudo -n true 2>/dev/null; then
    as_root="sudo env"
  else
    fmx_say "missing packages, and no right to install them; please run" >&2
    printf '    sudo apt-get install --no-install-recommends %s\n' \
      "$missing" >&2
    return 1
  fi
  $as_root apt-get -q update || return 1
  fmx_say "installing: $missing"
  # shellcheck disable=SC2086  # a list of words
  LC_ALL=C apt-get -q --assume-no --no-install-recommends install $missing |
    sed -n 's/^.* \([0-9]* newly installed\),.*/    \1/p; s/^Need to get/    &/p; s/^After this/    &/p'
  # shellcheck disable=SC2086  # a list of words
  $as_root DEBIAN_FRONTEND=noninteractive apt-get -q -y \
    --no-install-recommends install $missing
}

# fmx_unpack DIR PACKAGE PROGRAM: DIR/PROGRAM of a package that is not installed, for
# installing it would start a service.  Says so where that cannot be, and goes on.
fmx_unpack () {
  [ ! -x "$1/$3" ] || return 0
  mkdir -p "$1/root" || return 0
  (
    cd "$1" || exit 1
    # shellcheck disable=SC2046  # a word each
    apt-get -q download $(apt-get -s --no-install-recommends install "$2" |
      sed -n 's/^Inst \([^ ]*\) .*/\1/p') && for package in *.deb; do
      dpkg -x "$package" root || exit 1
    done
    libraries=$(find "$PWD/root" -name '*.so.*' -printf '%h\n' | sort -u | tr '\n' ':')
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" \
      "$PWD/root/usr/bin/$3" >"$3.part" && chmod +x "$3.part" && mv "$3.part" "$3"
  ) >"$1/unpack.log" 2>&1 || fmx_say "no $2 here: see $1/unpack.log"
}

# The Python that can `import gi`: Debian's own, wherever another python3
# stands first in PATH.
fmx_python () {
  for python in "${PYTHON-}" python3 /usr/bin/python3; do
    if [ -n "$python" ] &&
      "$python" -c 'import gi, numpy' >/dev/null 2>&1; then
      command -v "$python"
      return 0
    fi
  done
  fmx_say "no python3 here can import gi and numpy" >&2
  return 1
}

# fmx_in_namespaces PROGRAM.py ARGUMENT...: runs it where it may make networks, which
# go when it ends; then ends as it did.
fmx_in_namespaces () {
  for tool in ip tc unshare python3 gst-launch-1.0; do
    command -v $tool >/dev/null ||
      { fmx_say "$0 needs $tool; please run" >&2
        # shellcheck disable=SC2154  # top is of who sources this
        echo "    sudo $top/examples/install-deps.sh build run &&
    sudo apt-get install iproute2 util-linux" >&2
        exit 1; }
  done
  if unshare --user --map-root-user --net --mount true 2>/dev/null; then
    user="--user --map-root-user"
  elif [ "$(id -u)" = 0 ]; then
    user=
  else
    fmx_say "here only root may make networks: sudo $0" >&2
    exit 1
  fi
  python=$(fmx_python) || exit 1
  # unshare lets nobody end it before the program has ended, so who is told to end kills
  # it, and all in there with it.  Control-C is for the program, which a shell would have
  # ignore it behind a `&`.
  inside='' status=0
  trap '[ -z "$inside" ] || kill -KILL $inside; exit 143' HUP TERM
  trap : INT
  # shellcheck disable=SC2086  # two words or none
  env --default-signal=INT unshare $user --net --mount --pid --fork --kill-child \
    "$python" "$@" &
  inside=$!
  wait $inside || status=$?
  while kill -0 $inside 2>/dev/null; do
    status=0
    wait $inside || status=$?
  done
  exit $status
}

# fmx_configure DIR [MESON SETUP ARGUMENT...]: makes a build directory, once; again
# if somebody was interrupted at that.
# The first of the arguments may name another source directory than this one.
fmx_configure () {
  dir=$1
  shift
  [ ! -f "$dir/build.ninja" ] || return 0
  mkdir -p "$dir" || return 1
  rm -rf "$dir/meson-private"   # with that meson takes it for done
  if ! meson setup "$dir" "$@" >"$dir/setup.log" 2>&1; then
    cat "$dir/setup.log" >&2
    return 1
  fi
}

# fmx_plugins DIR: from now on GStreamer finds what is built there.
fmx_plugins () {
  for plugin in "$1"/gst/*/; do
    GST_PLUGIN_PATH=${plugin%/}${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  done
  export GST_PLUGIN_PATH GST_REGISTRY="$1/registry.bin"
}

# fmx_build DIR [MESON SETUP ARGUMENT...]: the same, and compiles it.
fmx_build () {
  fmx_configure "$@" && ninja -C "$1" ${JOBS:+-j "$JOBS"}
}
